//! Pages that are asked for a second time in one crawl, to see whether their answers differ from themselves: the page without parameters
//! that may be content, and a sample of the pages that changed.
//!
//! Of the pages that changed, [`OF_DIRECTORY`] in each first-level directory are asked for again when nothing else is left, and up to
//! [`AT_LEAST`] in all, those with the smallest hashes, so that the order of the answers does not matter. Where half of the answers of a
//! directory differ, a change there dates nothing ([`Restless`]).

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use tokio_util::sync::CancellationToken;

use super::probe::AsPage;
use crate::{
    client::gate::Gate,
    lastmod::Restless,
    page::ContentHash,
    parse::{PageParser, PageReader},
    store::MetaValue,
    url_key::UrlKey,
};

/// Pages that changed of which the second answer is looked at, in each first-level directory.
const OF_DIRECTORY: usize = 3;

/// The same in all, where directories have more.
const AT_LEAST: usize = 20;

/// Directories of which pages are asked for again.
const MAX_DIRECTORIES: usize = 100;

/// The second requests of a crawl.
#[derive(Debug)]
pub(super) struct SecondLooks {
    /// Pages that changed, by the directory and then by the hash of the URL: the first [`AT_LEAST`] of each.
    changed: BTreeMap<String, BTreeMap<u64, (UrlKey, ContentHash)>>,
    /// Pages that are to be requested, once they were chosen.
    chosen: Option<VecDeque<(UrlKey, ContentHash)>>,
    /// What is out.
    out: Option<SecondLook>,
    /// Second answers by directory: how many, and how many that differ.
    answers: BTreeMap<String, (usize, usize)>,
    restless: Restless,
}

/// A second request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SecondLook {
    /// The URL of a page without parameters that may be content.
    Short(UrlKey),
    /// The URL of a page that changed, and its content in the first answer.
    Changed(UrlKey, ContentHash),
}

/// The answer to a second request; `None`: there was no page.
#[derive(Debug, Default)]
pub(super) struct SecondAnswer {
    /// The hashes of the text, and of the content.
    pub(super) hashes: Option<(u64, ContentHash)>,
    pub(super) wire_bytes: u64,
}

impl SecondLooks {
    /// None yet; `restless` is what earlier crawls found.
    pub(super) fn new(restless: Restless) -> Self {
        Self {
            changed: BTreeMap::new(),
            chosen: None,
            out: None,
            answers: BTreeMap::new(),
            restless,
        }
    }

    /// Takes a page that can be listed and changed.
    pub(super) fn change(&mut self, url: &UrlKey, content: ContentHash) {
        let directory = Restless::directory_of(url);
        let pages = self.changed.entry(directory.to_owned()).or_default();
        pages.insert(url.fingerprint(), (url.clone(), content));
        if pages.len() > AT_LEAST {
            pages.pop_last();
        }
        if self.changed.len() > MAX_DIRECTORIES {
            self.changed.pop_last();
        }
    }

    /// No time is left: no further page that changed is looked at.
    pub(super) fn drop_changed(&mut self) {
        self.changed.clear();
        self.chosen = None;
    }

    /// The next request, if none is out: for `short`, or else for a page that changed when nothing else `is_left`.
    pub(super) fn next(
        &mut self,
        short: impl FnOnce() -> Option<UrlKey>,
        is_left: bool,
    ) -> Option<SecondLook> {
        if self.out.is_some() {
            return None;
        }
        let look = match short() {
            Some(short) => SecondLook::Short(short),
            None if is_left => return None,
            None => {
                let chosen = self.chosen.get_or_insert_with(|| choose(&self.changed));
                let (url, content) = chosen.pop_front()?;
                SecondLook::Changed(url, content)
            }
        };
        self.out = Some(look.clone());
        Some(look)
    }

    /// The request that was out, which has ended.
    pub(super) fn end(&mut self) -> Option<SecondLook> {
        self.out.take()
    }

    /// Takes the second answer of a page that changed; the value for the next commit.
    pub(super) fn take_changed(
        &mut self,
        url: &UrlKey,
        first: ContentHash,
        second: ContentHash,
    ) -> MetaValue {
        let directory = Restless::directory_of(url);
        let (count, differing) = self.answers.entry(directory.to_owned()).or_default();
        *count += 1;
        *differing += usize::from(first != second);
        let is_restless = *differing * 2 >= *count;
        self.restless.set(directory, is_restless);
        self.restless.value()
    }

    /// Returns whether a request is out, or is to be sent before the crawl ends.
    pub(super) fn is_asking(&self) -> bool {
        let is_chosen = |chosen: &VecDeque<_>| chosen.is_empty();
        self.out.is_some()
            || !self
                .chosen
                .as_ref()
                .map_or(self.changed.is_empty(), is_chosen)
    }

    /// Returns whether the answer of a page without parameters is awaited, by which others are decided.
    pub(super) fn is_comparing(&self) -> bool {
        matches!(self.out, Some(SecondLook::Short(_)))
    }
}

/// The pages that are asked for again.
fn choose(
    changed: &BTreeMap<String, BTreeMap<u64, (UrlKey, ContentHash)>>,
) -> VecDeque<(UrlKey, ContentHash)> {
    let mut chosen = VecDeque::new();
    for round in 0..AT_LEAST {
        for pages in changed.values() {
            if let Some(page) = pages.values().nth(round)
                && (round < OF_DIRECTORY || chosen.len() < AT_LEAST)
            {
                chosen.push_back(page.clone());
            }
        }
    }
    chosen
}

/// Sends a second request.
pub(super) async fn request_again(
    gate: Gate,
    reader: Arc<PageReader>,
    look: SecondLook,
    stop: CancellationToken,
) -> SecondAnswer {
    let (SecondLook::Short(url) | SecondLook::Changed(url, _)) = look;
    let sink = || AsPage(PageParser::new(&url, &gate.identity, &reader));
    let Ok(asked) = gate.request(&url, &stop, sink).await else {
        return SecondAnswer::default();
    };
    let Ok(fetched) = asked.result else {
        return SecondAnswer::default();
    };
    let facts = asked.receiver.0.finish(&fetched);
    let hashes = || Some((facts.text.as_ref()?.whole, facts.content_hash?));
    SecondAnswer {
        hashes: (fetched.head.status == 200).then(hashes).flatten(),
        wire_bytes: fetched.wire_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> UrlKey {
        UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap()
    }

    #[test]
    fn requests_per_directory_and_in_all_are_bounded() {
        let chosen = |pages: &[(&str, usize)], is_reversed: bool| {
            let mut looks = SecondLooks::new(Restless::default());
            let pages = pages.iter().flat_map(|(directory, count)| {
                (0..*count).map(move |number| url(&format!("{directory}{number}")))
            });
            let mut pages: Vec<UrlKey> = pages.collect();
            if is_reversed {
                pages.reverse();
            }
            for page in &pages {
                looks.change(page, ContentHash(1));
            }
            let mut asked = Vec::new();
            assert_eq!(looks.next(|| None, true), None);
            while let Some(SecondLook::Changed(url, _)) = looks.next(|| None, false) {
                assert!(looks.is_asking());
                looks.end();
                asked.push(url);
            }
            assert!(!looks.is_asking());
            asked
        };
        for (pages, count) in [
            (&[("/", 2)][..], 2),
            (&[("/a/", 100)][..], 20),
            (&[("/a/", 100), ("/b/", 1)][..], 20),
            (&[("/a/", 9), ("/b/", 9), ("/c/", 9), ("/d/", 9)][..], 20),
        ] {
            let asked = chosen(pages, false);
            assert_eq!(asked.len(), count);
            assert_eq!(asked, chosen(pages, true));
            for (directory, of_it) in pages {
                let asked = asked.iter().filter(|url| url.path().starts_with(directory));
                assert!(asked.count() >= (*of_it).min(3));
            }
        }
        let many: Vec<String> = (0..30).map(|number| format!("/{number}/")).collect();
        let many: Vec<(&str, usize)> = many.iter().map(|name| (&**name, 9)).collect();
        assert_eq!(chosen(&many, false).len(), 90);
    }

    #[test]
    fn half_of_the_answers_make_a_directory_restless() {
        let mut looks = SecondLooks::new(Restless::default());
        let (first, second) = (ContentHash(1), ContentHash(2));
        let mut take = |path: &str, second| looks.take_changed(&url(path), first, second).1;
        assert_eq!(take("/a/1", first), None);
        assert_eq!(take("/a/2", second).as_deref(), Some("/a/"));
        assert_eq!(take("/1", second).as_deref(), Some("/\n/a/"));
        assert_eq!(take("/a/3", first).as_deref(), Some("/"));
    }
}
