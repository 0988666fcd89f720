//! Sites without end, and copies. A URL is as far from new text as pages in a row said nothing new on the shortest way to it. What is
//! far waits, and where far pages lead on and on, nothing far is asked for. Text orders and bounds; no page leaves a site that ends
//! because of it.
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
mod growth;
mod not_found;
mod parameters;
mod places;
mod presumed;

#[cfg(test)]
mod tests;

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
    page::{ClosedPattern, PageText, PatternKind, Repeat, Said, TextBlock},
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
    /// It may be asked for.
    Open,
    /// It is in a place that is cut.
    Cut,
    /// It is a copy of this URL, which has a parameter less.
    CopyOf(UrlKey),
}

/// A place that may go on without end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrowingPlace {
    /// Its name.
    pub name: String,
    /// URLs that pages without new text led to there, as they are counted.
    pub led_to: u64,
    /// The number beyond which the place is cut.
    pub limit: u64,
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
    /// Nothing is known yet.
    pub fn new(config: &RepeatsConfig) -> Self {
        let memory = config.max_block_memory;
        Self {
            is_on: config.close_patterns,
            blocks: BlockTable::new(memory / 2),
            growth: Growth::default(),
            parameters: Parameters::new(memory / 4),
            presumed: Presumed::default(),
            not_found: NotFoundText::default(),
        }
    }

    /// Takes the identity of the crawl, whose default parameters are left out, but for a sample.
    #[must_use]
    pub fn presuming(self, identity: &Arc<Identity>) -> Self {
        Self {
            presumed: if self.is_on {
                Presumed::of(identity)
            } else {
                Presumed::default()
            },
            ..self
        }
    }

    /// The URL without parameters that are known to be without effect; `None`: it has none.
    pub fn short_form(&self, url: &UrlKey) -> Option<UrlKey> {
        self.presumed.short_form(url)
    }

    /// Takes a URL that a link leads to, and that has such parameters: it is `short` without them. Returns whether it is recorded.
    pub fn find_written(&mut self, url: &UrlKey, short: &UrlKey) -> bool {
        self.is_on && self.presumed.find(url, short)
    }

    /// Takes an answer that is not a page.
    pub fn fail(&mut self, url: &UrlKey) {
        if self.presumed.short_form(url).is_some() {
            self.presumed.fail(url);
        }
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
        if !self.is_on {
            return Passage::Open;
        }
        if let Some(short) = self.presumed.short_form(url) {
            let is_page = is_end.then(|| self.parameters.was_read(&short));
            if !self.presumed.is_asked(url, &short, is_page) {
                return Passage::CopyOf(short);
            }
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
    pub fn read(&mut self, url: &UrlKey, text: &PageText) -> Said {
        if !self.is_on {
            return Said::New;
        }
        self.blocks.take_alone(url.fingerprint(), text);
        let is_copy = self.growth.is_copy(url, text);
        if self.blocks.take(text, places::count_parameters(url)) {
            Said::New
        } else if is_copy {
            Said::Copy
        } else {
            Said::Nothing
        }
    }

    /// Takes a page that was read by [`Repeats::read`], at this distance, first found on the page `finder`, and what it led to.
    pub fn take(
        &mut self,
        (url, text): (&UrlKey, &PageText),
        said: Said,
        (distance, finder): (u16, Option<u64>),
        unknown: &[&UrlKey],
    ) {
        if !self.is_on {
            return;
        }
        let leads_without = |name: &str| {
            let mut unknown = unknown.iter();
            unknown.any(|url| !places::parameters(url).contains(&name))
        };
        let blocks = &self.blocks;
        if let Some(short) = self.presumed.short_form(url) {
            let is_near = blocks.is_on_page(short.fingerprint(), text);
            let is_same = self.parameters.has_text(&short, text.whole);
            self.presumed
                .take(url, &short, is_near == Some(false) && !is_same);
        }
        self.parameters
            .take(url, text.whole, |name, shorter, is_same| {
                let leads_on = leads_without(name);
                let is_near = blocks.is_on_page(shorter.fingerprint(), text) == Some(true);
                Compared {
                    is_same: is_same && !leads_on,
                    is_near: is_same || is_near,
                    is_content: leads_on || said == Said::New && !is_same && !is_near,
                }
            });
        self.count(url, said, (distance, finder), unknown.len());
    }

    /// Takes the distance of a page and how many unknown URLs it led to, of a page of an earlier session.
    pub fn count(
        &mut self,
        url: &UrlKey,
        said: Said,
        (distance, finder): (u16, Option<u64>),
        led_to: usize,
    ) {
        if said == Said::Nothing {
            let led_to = u32::try_from(led_to).unwrap_or(u32::MAX);
            self.growth.take(url, distance, led_to);
        } else if let Some(finder) = finder {
            self.growth.refund(finder);
        }
    }

    /// The place that grows most, once a fifth of what cuts a place was counted there.
    pub fn growing(&self) -> Option<&GrowingPlace> {
        self.growth.growing()
    }

    /// Takes a page that can be listed.
    pub fn list(&mut self, url: &UrlKey) {
        if self.is_on {
            self.growth.list(url);
        }
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

    /// The URL that a page which was read is a copy of, but for a fifth of its text, and the parameter that makes copies.
    pub fn near_copy_of(&self, url: &UrlKey, text: &PageText) -> Option<UrlKey> {
        let short = self.presumed.short_form(url);
        let shorter = short.or_else(|| self.parameters.without_left_out(url))?;
        let is_near = self.blocks.is_on_page(shorter.fingerprint(), text);
        (self.is_on && is_near == Some(true)).then_some(shorter)
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
