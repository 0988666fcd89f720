//! Sites without end, and copies. A URL is as far from new text as pages in a row said nothing new on the shortest way to it. What is
//! far waits, and where far pages lead on and on, nothing far is asked for. Text orders and bounds; in a site that ends no page is
//! left out because of it, but for copies.
//!
//! | rule | where |
//! | --- | --- |
//! | A page has something new when half of its text is on no simpler page before it | `blocks` |
//! | A place in which pages without new text lead on without end is cut | `growth` |
//! | A parameter whose pages are copies is left out | `parameters`, `presumed` |
//! | The page that the site sends for URLs that do not exist is not a page | `not_found` |
//!
//! Nothing here fetches or stores: the crawl asks before it sends a request, and shows each page that it read.

mod blocks;
mod crowd;
mod growth;
mod not_found;
mod parameters;
mod places;
mod presumed;

#[cfg(test)]
mod tests;

pub use self::crowd::{Crowd, CrowdedPlace};
use self::{
    blocks::BlockTable,
    growth::Growth,
    not_found::NotFoundText,
    parameters::{Compared, Parameters},
    presumed::Presumed,
};
use std::sync::Arc;

use crate::{
    config::RepeatsConfig,
    page::{ClosedPattern, PageText, PatternKind, Repeat, TextBlock, TextNovelty},
    url_key::{Identity, UrlKey},
};

/// The texts of the pages of a crawl, and what follows from it for its URLs.
#[derive(Debug)]
pub struct Repeats {
    is_on: bool,
    blocks: BlockTable,
    growth: Growth,
    parameters: Parameters,
    presumed: Presumed,
    not_found: NotFoundText,
}

/// The decision on a URL before it is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passage {
    /// The URL may be asked for.
    Open,
    /// The URL changes something on the server.
    Action,
    /// The URL is in a place that is cut.
    Cut,
    /// The URL is a copy of this URL, which has a parameter less.
    CopyOf(UrlKey),
}

/// A page that was read.
#[derive(Debug)]
pub struct ReadPage<'a> {
    /// The URL.
    pub url: &'a UrlKey,
    /// The text.
    pub text: &'a PageText,
    /// What [`Repeats::read`] returned.
    pub novelty: TextNovelty,
    /// The page can be listed.
    pub is_listed: bool,
    /// The page calls itself canonical.
    pub is_canonical: bool,
    /// Nothing was left to ask for but URLs that are looked at again.
    pub is_end: bool,
}

/// A place that may go on without end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrowingPlace {
    /// The name.
    pub name: String,
    /// URLs that pages without new text led to there, as they are counted.
    pub led_to: u64,
    /// The number beyond which the place is cut.
    pub limit: u64,
}

/// A place that a person should look at while a crawl goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchedPlace {
    /// It may go on without end.
    Growing(GrowingPlace),
    /// It holds most of the URLs that were found last.
    Crowded(CrowdedPlace),
}

/// The pattern in `patterns` that `url` is in: a parameter comes before its places, the narrowest first.
pub fn pattern_of<'a>(url: &UrlKey, patterns: &'a [ClosedPattern]) -> Option<&'a ClosedPattern> {
    let parameters = places::parameters(url).into_iter();
    let mut names: Vec<String> = parameters.map(|name| format!("?{name}=")).collect();
    names.extend(places::names(url));
    let of_name = |name: &String| patterns.iter().find(|pattern| pattern.name == *name);
    names.iter().find_map(of_name)
}

/// A glob for the setting `exclude` that matches the URLs of the place `name`; `None`: the place is the site.
pub(crate) fn exclude_of(name: &str) -> Option<String> {
    places::exclude_of(name)
}

/// How many parameters a URL has.
pub(crate) fn count_parameters(url: &UrlKey) -> usize {
    places::count_parameters(url)
}

impl Repeats {
    /// Nothing is known yet. The parameters that `identity` leaves out by default are asked for in a sample.
    pub fn new(config: &RepeatsConfig, identity: &Arc<Identity>) -> Self {
        let memory = config.max_block_memory;
        Self {
            is_on: config.close_patterns,
            blocks: BlockTable::new(memory / 2),
            growth: Growth::default(),
            parameters: Parameters::new(memory / 4),
            presumed: Presumed::of(identity, config.close_patterns),
            not_found: NotFoundText::default(),
        }
    }

    /// The URL without parameters that are known to be without effect; `None`: it has none.
    pub fn short_form(&self, url: &UrlKey) -> Option<UrlKey> {
        self.presumed.short_form(url)
    }

    /// Takes a URL that a link of the page with the fingerprint `page` leads to, and that has such parameters: it is `short` without
    /// them. Returns whether it is recorded as it is written.
    pub fn find_written(&mut self, url: &UrlKey, short: &UrlKey, page: Option<u64>) -> bool {
        self.presumed.find(url, short, page)
    }

    /// All URLs with such parameters that the store has were taken: they are recorded, however many they are.
    pub fn end_find_written(&mut self) {
        self.presumed.end_find();
    }

    /// A page that is to be asked for a second time.
    pub fn next_second(&mut self) -> Option<UrlKey> {
        self.presumed.next_wanted()
    }

    /// Takes the end of a second request for a page: the hash of its text; `None`: there was no answer, which is no evidence that
    /// it differs. Returns how many URLs, which may be pages, were not recorded.
    pub fn take_second(&mut self, url: &UrlKey, whole: Option<u64>) -> u32 {
        let differs = whole.is_some_and(|whole| !self.parameters.has_text(url, whole));
        self.presumed.take_second(url, differs)
    }

    /// Takes an answer without text that a URL with such parameters got: it can be listed or not, while all other pages were read or not.
    /// Returns how many URLs, which may be pages then, were not recorded.
    pub fn take_other(&mut self, url: &UrlKey, is_listed: bool, is_end: bool) -> u32 {
        self.presumed.short_form(url).map_or(0, |short| {
            let is_content = is_end && !self.parameters.was_read(&short);
            self.presumed
                .record_answer(url, &short, is_listed, is_content)
        })
    }

    /// Returns whether the rules are on.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Takes a pattern of the last crawl: a parameter stays left out, and a place is cut sooner.
    pub fn remember(&mut self, pattern: &ClosedPattern) {
        match pattern.kind {
            _ if !self.is_on => {}
            PatternKind::Parameter => self.parameters.remember(&pattern.name),
            PatternKind::Place => self.growth.remember(&pattern.name),
        }
    }

    /// The decision on `url` at this distance, which is neither published nor named by a sitemap or a list. When nothing else is left
    /// to ask for, the page without a parameter has been read, or is not a page, and the URL is asked for as it is.
    pub fn passage(&self, url: &UrlKey, distance: u16, is_end: bool) -> Passage {
        if let Some(short) = self.presumed.short_form(url) {
            let is_page = is_end.then(|| self.parameters.was_read(&short));
            if !self.presumed.is_asked(url, &short, is_page) {
                return Passage::CopyOf(short);
            }
        }
        if !self.is_on {
            return Passage::Open;
        }
        if let Some(shorter) = self.parameters.copy_of(url)
            && (!is_end || self.parameters.was_read(&shorter))
        {
            return Passage::CopyOf(shorter);
        }
        if distance > 0 && self.growth.cut_of(url).is_some() {
            return Passage::Cut;
        }
        Passage::Open
    }

    /// The repetition of a page by itself.
    pub fn mark(&self, text: &PageText) -> Option<Repeat> {
        (self.is_on && self.not_found.is_like(text)).then_some(Repeat::NotFound)
    }

    /// Takes the text of a page that was read; returns what is new in it.
    pub fn read(&mut self, url: &UrlKey, text: &PageText) -> TextNovelty {
        if !self.is_on {
            return TextNovelty::New;
        }
        self.blocks.take_alone(url.fingerprint(), text);
        let is_copy = self.growth.is_copy(url, text);
        if self.blocks.add_page(text, places::count_parameters(url)) {
            TextNovelty::New
        } else if is_copy {
            TextNovelty::Copy
        } else {
            TextNovelty::Nothing
        }
    }

    /// Takes a page that was read by [`Repeats::read`], with the URLs that it led to first, published ones included. Returns how many URLs,
    /// which may be pages because of it, were not recorded.
    pub fn add_page(&mut self, page: &ReadPage<'_>, found: &[&UrlKey]) -> u32 {
        let (url, whole) = (page.url, page.text.whole);
        if page.is_listed && self.is_on {
            self.growth.list(url);
            self.compare(page, found);
        }
        if page.is_listed {
            self.parameters.read(url, whole);
            self.presumed.compare_early(url, whole);
        }
        self.presumed.short_form(url).map_or(0, |short| {
            let of_short = self.parameters.text_of(&short);
            if page.is_listed {
                self.presumed.compare(url, &short, whole, of_short);
            }
            let is_content = of_short.is_none() && page.is_end;
            (self.presumed).record_answer(url, &short, page.is_listed, is_content)
        })
    }

    /// Compares a page with those without one of its parameters. One that calls itself canonical is no copy.
    fn compare(&mut self, page: &ReadPage<'_>, found: &[&UrlKey]) {
        let (url, text) = (page.url, page.text);
        let leads_without = |name: &str| {
            let mut found = found.iter();
            found.any(|url| !places::parameters(url).contains(&name))
        };
        let blocks = &self.blocks;
        self.parameters
            .add_page(url, text.whole, |name, shorter, is_same| {
                let leads_on = leads_without(name);
                let is_near =
                    is_same || blocks.is_on_page(shorter.fingerprint(), text) == Some(true);
                Compared {
                    is_same: is_same && !leads_on,
                    is_near,
                    is_content: leads_on
                        || page.is_canonical
                        || page.novelty == TextNovelty::New && !is_near,
                }
            });
    }

    /// Takes a page without new text at this distance, and how many unknown URLs it led to; published ones do not count.
    pub fn count(&mut self, url: &UrlKey, distance: u16, led_to: u32) {
        self.growth.add_page(url, distance, led_to);
    }

    /// Takes off what the page with this half of a fingerprint led to: a page that was found first on it has new text, or is a copy of a
    /// version.
    pub fn refund(&mut self, finder: u32) {
        self.growth.refund(finder);
    }

    /// The place that grows most, once a fifth of what cuts a place was counted there.
    pub fn growing(&self) -> Option<&GrowingPlace> {
        self.growth.growing()
    }

    /// Takes a page that a link of the start page led to.
    pub fn take_reference(&mut self, text: &PageText) {
        self.not_found.take_reference(text);
    }

    /// Takes the text of the start page.
    pub fn take_start(&mut self, text: &PageText) {
        self.not_found.take_start(text);
    }

    /// Takes the texts of answers to URLs that cannot exist, which are 200, or 404.
    pub fn take_not_found(&mut self, answers: [PageText; 3], are_found: bool) {
        self.not_found.take_answers(answers, are_found);
    }

    /// Returns whether a page that was read is the one for URLs that do not exist.
    pub fn is_not_found(&self, text: &PageText) -> bool {
        self.is_on && self.not_found.is_like_at_end(text)
    }

    /// Returns whether a place may be cut.
    pub fn has_cut(&self) -> bool {
        self.growth.has_cut()
    }

    /// The name of the narrowest place of `url` that is cut.
    pub fn place_of(&self, url: &UrlKey) -> Option<String> {
        self.growth.cut_of(url).filter(|_| self.is_on)
    }

    /// The name of the place that is cut in which a page at this distance has to have text of its own. On a site that is cut as a whole
    /// pages at distance 0 need none.
    pub fn cut_of(&self, url: &UrlKey, distance: u16) -> Option<String> {
        let name = self.growth.cut_of(url).filter(|_| self.is_on)?;
        (distance > 0 || name != "/*").then_some(name)
    }

    /// The URL, which can be listed, that a page which was read is a copy of, but for a fifth of its text.
    pub fn near_copy_of(&self, url: &UrlKey, text: &PageText) -> Option<UrlKey> {
        let short = self.presumed.short_form(url);
        if let Some(short) = &short
            && self.presumed.are_content(url, short)
        {
            return None;
        }
        let shorter = short.or_else(|| self.parameters.without_left_out(url))?;
        let is_near = self.blocks.is_on_page(shorter.fingerprint(), text);
        let is_copy = is_near == Some(true) && self.parameters.was_read(&shorter);
        (self.is_on && is_copy).then_some(shorter)
    }

    /// The name of the parameter of `url` that is left out, as `?name=`.
    pub fn left_out_of(&self, url: &UrlKey) -> Option<String> {
        let short = self.presumed.short_form(url);
        let name = short.map(|short| format!("?{}=", presumed::name_of(url, &short)));
        name.or_else(|| self.parameters.left_out_of(url))
            .filter(|_| self.is_on)
    }

    /// The blocks of a page that are compared, but for the frame of the site.
    pub fn compared<'a>(&'a self, text: &'a PageText) -> impl Iterator<Item = &'a TextBlock> {
        self.blocks.without_frame(text)
    }
}
