//! The pages that changed last, for the feeds: chosen in the judging pass, in memory that a setting bounds.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

use jiff::Timestamp;
use sitemap_core::{LastMod, UrlEntry};

use crate::{
    config::{Format, PublishConfig},
    export::Listed,
    notes::Note,
};

/// The newest pages so far.
#[derive(Debug)]
pub(super) struct Recent {
    /// 0 when no feed is asked for.
    most: usize,
    /// The oldest of them is the first to leave.
    pages: BinaryHeap<Reverse<RecentPage>>,
}

/// A page that a feed may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecentPage {
    changed: Timestamp,
    /// With a `lastmod`.
    pub(super) entry: UrlEntry,
    /// The title.
    pub(super) title: Option<String>,
}

impl Recent {
    /// Nothing yet.
    pub(super) fn new(config: &PublishConfig) -> Self {
        let feeds = [Format::Rss, Format::Atom];
        let has_feed = feeds.iter().any(|feed| config.formats.contains(feed));
        let most = usize::try_from(config.feed_entries).unwrap_or(usize::MAX);
        Self {
            most: if has_feed { most } else { 0 },
            pages: BinaryHeap::new(),
        }
    }

    /// Takes a page in, if it is among the newest. A page without a `lastmod` never is.
    pub(super) fn offer(&mut self, listed: &Listed) {
        let Some(lastmod) = listed.entry.lastmod.as_ref().filter(|_| self.most > 0) else {
            return;
        };
        let changed = as_in_a_feed(lastmod);
        let oldest = self.pages.peek().map(|Reverse(oldest)| oldest.changed);
        let is_full = self.pages.len() >= self.most;
        // Pages come in the order of their URLs, and of two that changed at once the first one counts.
        if is_full && oldest.is_some_and(|oldest| changed <= oldest) {
            return;
        }
        if is_full {
            self.pages.pop();
        }
        // A feed has no images or versions, with which an entry may take megabytes.
        let mut entry = UrlEntry::new(listed.entry.loc.clone());
        entry.lastmod = Some(lastmod.clone());
        self.pages.push(Reverse(RecentPage {
            changed,
            entry,
            title: listed.title.clone(),
        }));
    }

    /// The newest pages, the newest first.
    pub(super) fn newest_first(&self) -> Vec<&RecentPage> {
        let mut pages: Vec<&RecentPage> = self.pages.iter().map(|Reverse(page)| page).collect();
        pages.sort_unstable_by(|one, other| other.cmp(one));
        pages
    }

    /// When the newest of them changed.
    pub(super) fn newest(&self) -> Option<Timestamp> {
        self.pages.iter().map(|Reverse(page)| page.changed).max()
    }

    /// Returns whether a feed would have an entry.
    pub(super) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The note on a feed that is missing because it would be empty.
    pub(super) fn note(&self) -> Option<Note> {
        (self.most > 0 && self.is_empty()).then(Note::feed_empty)
    }
}

/// The instant that a feed gives for a date: a day begins at midnight in UTC.
fn as_in_a_feed(lastmod: &LastMod) -> Timestamp {
    let midnight = format!("{lastmod}T00:00:00Z");
    // A time has one already.
    LastMod::parse(&midnight).map_or(lastmod.latest_instant(), |lastmod| lastmod.latest_instant())
}

impl Ord for RecentPage {
    /// By time; of two that changed at once, the one with the smaller URL counts as newer.
    fn cmp(&self, other: &Self) -> Ordering {
        let url = |page: &Self| Reverse(page.entry.loc.as_str().to_owned());
        self.changed
            .cmp(&other.changed)
            .then_with(|| url(self).cmp(&url(other)))
    }
}

impl PartialOrd for RecentPage {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sitemap_core::{Loc, extension::Element};

    use super::*;
    use crate::{export::ExtensionCounts, url_key::UrlKey};

    fn config(most: u64, formats: &[Format]) -> PublishConfig {
        PublishConfig {
            formats: formats.iter().copied().collect::<BTreeSet<_>>(),
            feed_entries: most,
            ..PublishConfig::default()
        }
    }

    fn listed(path: &str, lastmod: Option<&str>) -> Listed {
        let url = format!("https://example.com{path}");
        let key = UrlKey::from_normalised(&url).unwrap();
        let mut entry = UrlEntry::new(Loc::parse(&url).unwrap());
        entry.lastmod = lastmod.map(|lastmod| LastMod::parse(lastmod).unwrap());
        Listed {
            written: key.clone(),
            key,
            entry,
            title: Some(path.to_owned()),
            source: None,
            extensions: ExtensionCounts::default(),
            news: None,
        }
    }

    /// Offers pages in the order of their URLs, and compares the paths that are left.
    fn check(config: &PublishConfig, pages: &[(&str, Option<&str>)], expected: &[&str]) {
        let mut recent = Recent::new(config);
        for (path, lastmod) in pages {
            recent.offer(&listed(path, *lastmod));
        }
        let newest: Vec<&str> = recent
            .newest_first()
            .into_iter()
            .map(|page| page.title.as_deref().unwrap())
            .collect();
        assert_eq!(newest, expected, "{pages:?}");
        let is_told = config.formats.contains(&Format::Rss) && expected.is_empty();
        assert_eq!(recent.note().is_some(), is_told, "{pages:?}");
    }

    #[test]
    fn the_newest_pages_are_kept_newest_first() {
        let feed = config(3, &[Format::Xml, Format::Rss]);
        check(&feed, &[], &[]);
        check(&feed, &[("/a", None), ("/b", None)], &[]);
        check(
            &feed,
            &[
                ("/a", Some("2026-01-02")),
                ("/b", None),
                ("/c", Some("2026-01-05T10:00:00Z")),
                ("/d", Some("2026-01-01")),
                ("/e", Some("2026-01-04")),
                ("/f", Some("2026-01-03")),
            ],
            &["/c", "/e", "/f"],
        );
        // A day begins at midnight, and an offset is none of the order of texts.
        check(
            &feed,
            &[
                ("/a", Some("2026-01-02T00:30:00+02:00")),
                ("/b", Some("2026-01-01T23:00:00Z")),
                ("/c", Some("2026-01-02")),
                ("/d", Some("2026-01-01")),
            ],
            &["/c", "/b", "/a"],
        );
        // Of a common change the first URLs count.
        let (same, older) = (Some("2026-01-01"), Some("2025-01-01"));
        check(
            &config(2, &[Format::Xml, Format::Rss]),
            &[("/a", same), ("/b", same), ("/c", same), ("/d", older)],
            &["/a", "/b"],
        );
        // Without a feed nothing is kept.
        check(&config(2, &[Format::Xml]), &[("/a", same)], &[]);
    }

    #[test]
    fn row_keeps_only_what_a_feed_needs() {
        let mut page = listed("/", Some("2026-01-01"));
        let plain = page.entry.clone();
        let image = Element::image(&plain.loc);
        page.entry.extensions.add(image).unwrap();
        let mut recent = Recent::new(&config(2, &[Format::Xml, Format::Atom]));
        recent.offer(&page);
        assert_eq!(recent.newest_first()[0].entry, plain);
    }
}
