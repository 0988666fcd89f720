//! Detection of pages that have no new text, and of URLs that need not be requested because of that. A crawl of a site without
//! end ends by itself this way, and lists the other pages.
//!
//! | rule | where |
//! | --- | --- |
//! | A query parameter or a directory whose pages have no new text is closed | `patterns` |
//! | A parameter whose pages are copies is left out | `copies` |
//! | The page that the site sends for URLs that do not exist is not a page | `not_found` |
//! | The same page below itself ends there | `nested` |
//!
//! A page is new when at least half of its text is on no page read before (`blocks`), the frame of the site left out. Nothing
//! here fetches or stores: the crawl asks before it sends a request, and shows each page that it read.

mod blocks;
mod copies;
mod nested;
mod not_found;
mod patterns;
mod places;

#[cfg(test)]
mod tests;

pub use self::nested::NestedGroup;
use self::{
    blocks::BlockTable,
    copies::CopyingParameters,
    nested::NestedTexts,
    not_found::NotFoundText,
    patterns::Patterns,
    places::{LEVELS, UrlPlaces},
};
use crate::{
    config::RepeatsConfig,
    page::{ClosedPattern, PageText, PatternKind, Repeat, TextBlock},
    url_key::UrlKey,
};

/// The texts of the pages of a crawl, and what follows from it for its URLs.
#[derive(Debug)]
pub struct Repeats {
    is_on: bool,
    max_per_directory: u64,
    blocks: BlockTable,
    patterns: Patterns,
    copies: CopyingParameters,
    nested: NestedTexts,
    not_found: NotFoundText,
}

/// The decision on a URL before it is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passage {
    /// It may be asked for.
    Open,
    /// Its pattern is closed.
    Closed,
    /// It is a copy of this URL, which has a parameter less.
    CopyOf(UrlKey),
}

/// Patterns that changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatternChanges {
    /// Those that are closed from now on.
    pub closed: Vec<ClosedPattern>,
    /// The names of those that an earlier crawl closed, and that are open again.
    pub opened: Vec<String>,
}

/// The text of a page that no page had before.
#[derive(Debug, Clone, Copy, Default)]
pub struct Novelty {
    /// Of a page with a query: among the pages of its path with one of its parameters, or on the site when it is the first of
    /// them. `None`: it has too little text of its own to decide.
    of_query: Option<bool>,
    /// Its parameters without which the page has most of the same text, by their numbers.
    without: u16,
    /// Of a page without a query: in each of its directories.
    of_directories: [Option<bool>; LEVELS],
}

impl Novelty {
    /// Returns whether a URL that is found on the page counts as one that leads on.
    pub fn is_repeat(&self) -> bool {
        let deepest = self.of_directories.iter().flatten().next_back();
        deepest.or(self.of_query.as_ref()) == Some(&false)
    }
}

/// For each directory of `url`, whether its page leads on: to one of the URLs in it that were unknown, or because the page that
/// led to it had no new text.
pub fn leads_on(url: &UrlKey, after_repeat: bool, unknown: &[&UrlKey]) -> [bool; LEVELS] {
    if after_repeat {
        return [true; LEVELS];
    }
    UrlPlaces::of(url).shared_with(unknown.iter().copied())
}

/// The closed pattern that `url` is in; the parameters of a URL come before its directories.
pub fn closing_pattern<'a>(
    url: &UrlKey,
    patterns: &'a [ClosedPattern],
) -> Option<&'a ClosedPattern> {
    let names = UrlPlaces::of(url).pattern_names(url);
    let of_name = |name: &String| patterns.iter().find(|pattern| pattern.name == *name);
    names.iter().find_map(of_name)
}

impl Repeats {
    /// Nothing is known yet.
    pub fn new(config: &RepeatsConfig) -> Self {
        let memory = config.max_block_memory;
        Self {
            is_on: config.close_patterns,
            max_per_directory: config.max_per_directory,
            blocks: BlockTable::new(memory / 2),
            patterns: Patterns::default(),
            copies: CopyingParameters::new(memory / 4),
            nested: NestedTexts::new(memory / 4),
            not_found: NotFoundText::default(),
        }
    }

    /// Closes a pattern that an earlier session of the crawl closed, or an earlier crawl: then a few URLs of it are asked for
    /// all the same.
    pub fn remember(&mut self, closed: &ClosedPattern, is_earlier_crawl: bool) {
        match closed.kind {
            _ if !self.is_on => {}
            PatternKind::Copies | PatternKind::Capitals => {
                self.copies.remember(closed, is_earlier_crawl);
            }
            PatternKind::Parameter | PatternKind::Directory => {
                self.patterns.remember(closed, is_earlier_crawl);
            }
        }
    }

    /// The decision on `url`, which is neither published nor named by a sitemap or a list.
    pub fn passage(&mut self, url: &UrlKey) -> Passage {
        if let Some(shorter) = self.copies.without_copies(url) {
            return Passage::CopyOf(shorter);
        }
        if self.is_on
            && (self.patterns.is_closed(&UrlPlaces::of(url)) || self.copies.is_other_spelling(url))
        {
            Passage::Closed
        } else {
            Passage::Open
        }
    }

    /// The URL that `url` is a copy of, for a link that is found. Takes none of the samples.
    pub fn copy_of(&self, url: &UrlKey) -> Option<UrlKey> {
        self.copies.copy_of(url)
    }

    /// Counts a URL that is to be asked for; whether its directory has room for it.
    pub fn has_room(&mut self, url: &UrlKey) -> bool {
        !self.is_on
            || self
                .patterns
                .count_url(&UrlPlaces::of(url), self.max_per_directory)
    }

    /// The repetition of a page by itself, whatever its pattern.
    pub fn mark(&mut self, url: &UrlKey, text: &PageText) -> Option<Repeat> {
        if !self.is_on {
            return None;
        }
        if self.not_found.is_like(text) {
            return Some(Repeat::NotFound);
        }
        self.nested.is_nested(url, text).then_some(Repeat::Nested)
    }

    /// The text of a page that was not read so far.
    pub fn novelty(&self, url: &UrlKey, text: &PageText) -> Novelty {
        let places = UrlPlaces::of(url);
        let mut novelty = Novelty::default();
        if let Some(path) = places.path {
            let is_new = |place| self.blocks.is_new(place, path, text);
            let mut of_query = None;
            for place in self.patterns.compared(&places) {
                let place = if self.blocks.has_pages(place) {
                    place
                } else {
                    blocks::SITE
                };
                of_query = of_query.max(is_new(place));
            }
            novelty.of_query = of_query;
            for (number, name) in places.parameters.iter().enumerate() {
                let shorter = copies::without(url, |other| other == name);
                let is_on = |shorter: &UrlKey| self.blocks.is_on_page(shorter.fingerprint(), text);
                novelty.without |= u16::from(shorter.as_ref().is_some_and(is_on)) << number;
            }
            if novelty.without != 0 {
                novelty.of_query = Some(false);
            }
        } else {
            for (level, directory) in places.directories.iter().enumerate() {
                novelty.of_directories[level] = self.blocks.is_new(*directory, *directory, text);
            }
        }
        novelty
    }

    /// Takes a page that was read, whose `novelty` was asked before. `leads_on` has for each of its directories whether the page
    /// led to an unknown URL in it, or was found on a page that had no new text. Gives the patterns that change by it.
    pub fn take(
        &mut self,
        url: &UrlKey,
        text: &PageText,
        novelty: Novelty,
        leads_on: [bool; LEVELS],
    ) -> PatternChanges {
        let places = UrlPlaces::of(url);
        let compared = self.patterns.compared(&places);
        let of_page = if places.path.is_some() {
            &compared
        } else {
            &places.directories
        };
        self.blocks.take(places.path.iter().chain(of_page), text);
        self.blocks.take_alone(url.fingerprint(), text);
        self.nested.take(url, text);
        let mut changes = PatternChanges::default();
        if self.is_on {
            changes = self.copies.take(url, &places, text);
            let of_patterns = self.patterns.take(url, &places, novelty, leads_on);
            changes.closed.extend(of_patterns.closed);
            changes.opened.extend(of_patterns.opened);
        }
        changes
    }

    /// Takes an answer that leads to another URL; one that is known already has no new text for the parameters of `url`.
    pub fn take_redirect(&mut self, url: &UrlKey, is_new: bool) -> PatternChanges {
        if !self.is_on {
            return PatternChanges::default();
        }
        let novelty = Novelty {
            of_query: Some(is_new),
            ..Novelty::default()
        };
        self.patterns
            .take(url, &UrlPlaces::of(url), novelty, [false; LEVELS])
    }

    /// Takes a page that a link of the start page led to.
    pub fn take_reference(&mut self, text: &PageText) {
        self.not_found.take_reference(text);
    }

    /// Takes the text of the start page.
    pub fn take_start(&mut self, text: &PageText) {
        self.not_found.take_start(text);
    }

    /// Takes the answers to URLs that cannot exist, when they are pages.
    pub fn take_not_found(&mut self, answers: [PageText; 3]) {
        self.not_found.take_answers(answers);
    }

    /// Returns whether pages are left out that have no new text.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Returns whether a page that was read is the one for URLs that do not exist.
    pub fn is_not_found(&self, text: &PageText) -> bool {
        self.is_on && self.not_found.is_like_at_end(text)
    }

    /// Returns whether a page that was read is in a closed pattern: a page with a query by its parameters, another one by its
    /// directories.
    pub fn is_in_closed(&self, url: &UrlKey) -> bool {
        self.is_on && self.patterns.is_in_closed(&UrlPlaces::of(url))
    }

    /// The blocks of a page that are compared, but for the frame of the site.
    pub fn compared<'a>(&'a self, text: &'a PageText) -> impl Iterator<Item = &'a TextBlock> {
        self.blocks.without_frame(text)
    }
}
