//! The URLs that a crawl knows: which, how many wait, the place of the next one in the queue, and what the bounds leave
//! out. A published URL, and one that waits already, never leaves because of a bound; neither does the target of a
//! redirect from a published URL.

use super::ways::Ways;
use crate::{
    config::LimitsConfig,
    crawl_state::NOT_RECORDED,
    frontier::{Rounds, SeenUrls},
    notes::Note,
    page::{Reason, Via},
    repeats::{Crowd, CrowdedPlace},
    store::{Discovery, MetaValue},
    url_key::UrlKey,
    verdict::Judge,
};

/// The URLs of a crawl.
pub(super) struct KnownUrls {
    seen: SeenUrls,
    /// URLs that no page has led to so far.
    orphans: SeenUrls,
    /// URLs that sitemaps of the site, and lists of the user's, name.
    named: SeenUrls,
    rounds: Rounds,
    /// URLs that the published set lists.
    in_set: SeenUrls,
    ways: Ways,
    /// URLs waiting or in flight.
    waiting: u64,
    /// URLs given up after their tries.
    failed: u64,
    /// URLs at most.
    max_urls: u64,
    /// URLs and links that were not recorded in this crawl.
    not_recorded: u64,
    /// How many of them the state, or the next commit, knows.
    noted: u64,
    /// A note named the bound that is reached.
    is_bound_reported: bool,
    crowd: Crowd,
}

/// What a crawl knows of its URLs when a session begins.
#[derive(Debug, Default)]
pub(super) struct KnownBefore {
    pub(super) seen: SeenUrls,
    /// URLs that no page or document led to.
    pub(super) orphans: SeenUrls,
    /// URLs that sitemaps of the site, and lists of the user's, name.
    pub(super) named: SeenUrls,
    /// URLs that the published set lists; none where page rows do not count.
    pub(super) published: SeenUrls,
    /// The places of the URLs that wait.
    pub(super) rounds: Rounds,
    /// The ways to URLs that wait at a distance from new text.
    pub(super) ways: Ways,
    pub(super) queued: u64,
    pub(super) failed: u64,
    /// Links that the crawl did not record so far.
    pub(super) not_recorded: u64,
}

/// A URL that something leads to.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundUrl<'a> {
    pub(super) key: &'a UrlKey,
    pub(super) via: Via,
    /// The text of the link.
    pub(super) text: &'a str,
    pub(super) found_on: Option<&'a UrlKey>,
    pub(super) depth: u32,
    pub(super) hops: u8,
    /// The bounds do not count for it.
    pub(super) is_owed: bool,
    /// Pages in a row that said nothing new, on this way to it.
    pub(super) distance: u16,
}

impl<'a> FoundUrl<'a> {
    /// A URL that no page or document is known to lead to.
    pub(super) fn new(key: &'a UrlKey, via: Via, depth: u32) -> Self {
        Self {
            key,
            via,
            text: "",
            found_on: None,
            depth,
            hops: 0,
            is_owed: false,
            distance: 0,
        }
    }
}

/// The kind of a URL that was found.
pub(super) enum Discovered {
    /// Known already.
    Known,
    /// None of the crawl.
    OutOfScope,
    /// Not recorded, because a bound is reached; the note names it the first time.
    LeftOut(Option<Note>),
    /// New.
    New(Discovery),
}

impl KnownUrls {
    /// Begins with what the crawl knew when the session began.
    pub(super) fn new(known: KnownBefore, limits: &LimitsConfig) -> Self {
        Self {
            seen: known.seen,
            orphans: known.orphans,
            named: known.named,
            in_set: known.published,
            rounds: known.rounds,
            ways: known.ways,
            waiting: known.queued,
            failed: known.failed,
            max_urls: limits.max_known_urls,
            not_recorded: known.not_recorded,
            noted: known.not_recorded,
            is_bound_reported: false,
            crowd: Crowd::default(),
        }
    }

    /// Returns whether the crawl knows `url`.
    pub(super) fn contains(&self, url: &UrlKey) -> bool {
        self.seen.contains(url)
    }

    /// Returns whether a page that leads to the URL with this fingerprint is news: the URL is not known, no page led to it so far, or only
    /// pages without new text did.
    pub(super) fn is_news(&self, fingerprint: u64) -> bool {
        !self.seen.contains_fingerprint(fingerprint)
            || self.orphans.contains_fingerprint(fingerprint)
            || self.ways.may_be_shorter(fingerprint)
    }

    /// Takes a URL that something leads to, while a document may have been found there and the state may be full; `place` is that of
    /// the queue.
    pub(super) fn find(
        &mut self,
        found: FoundUrl<'_>,
        place: u64,
        judge: &Judge,
        is_document: bool,
        is_state_full: bool,
    ) -> Discovered {
        if self.contains(found.key) {
            return Discovered::Known;
        }
        let Some(reason) = judge.before_fetch(found.key, found.depth) else {
            return Discovered::OutOfScope;
        };
        let bound = if self.len() >= self.max_urls {
            Some("max_known_urls")
        } else {
            is_state_full.then_some("max_state_bytes")
        };
        if let Some(setting) = bound.filter(|_| !found.is_owed) {
            self.not_recorded += 1;
            let is_declared = std::mem::replace(&mut self.is_bound_reported, true);
            let note = (!is_declared).then(|| Note::bound_reached(&setting).naming(found.key));
            return Discovered::LeftOut(note);
        }
        let reason = match reason {
            Reason::Queued if is_document => Reason::SeedDocument,
            reason => reason,
        };
        Discovered::New(self.add(found, place, reason))
    }

    /// Adds a URL that is `reason` by the rules, and gives it a place in the queue after `place`, if it waits.
    pub(super) fn add(&mut self, found: FoundUrl<'_>, place: u64, reason: Reason) -> Discovery {
        self.seen.insert(found.key);
        let sequence = match reason {
            Reason::Queued => {
                self.waiting += 1;
                // What a sitemap or a list names is there on purpose.
                if found.via == Via::Link {
                    self.crowd.add(found.key);
                }
                self.ways.add(found.key, found.distance, found.found_on);
                self.rounds
                    .place(found.key, found.depth, found.distance, place)
            }
            _ => 0,
        };
        Discovery {
            key: found.key.clone(),
            sequence,
            depth: found.depth,
            hops: found.hops,
            via: found.via,
            found_on: found.found_on.cloned(),
            reason,
            distance: found.distance,
        }
    }

    /// Takes note that a sitemap of the site, or a list of the user's, names `url`; whether that is new.
    pub(super) fn name(&mut self, url: &UrlKey) -> bool {
        self.named.insert(url)
    }

    /// Returns whether a sitemap of the site, or a list of the user's, names `url`.
    pub(super) fn is_declared(&self, url: &UrlKey) -> bool {
        self.named.contains(url)
    }

    /// Takes another way to a known URL; returns whether it waits, and this way is shorter.
    pub(super) fn find_again(&mut self, url: &UrlKey, distance: u16) -> bool {
        self.ways.find_again(url, distance)
    }

    /// The distance of a URL that waits, which was `stored`.
    pub(super) fn distance(&self, url: &UrlKey, stored: u16) -> u16 {
        self.ways.of(url).map_or(stored, |way| way.distance)
    }

    /// The page on which a URL at a distance was found first, by half of its fingerprint.
    pub(super) fn finder(&self, url: &UrlKey) -> Option<u32> {
        let way = self.ways.of(url)?;
        Some(way.finder).filter(|finder| *finder != 0)
    }

    /// Returns whether the published set lists `url`.
    pub(super) fn is_published(&self, url: &UrlKey) -> bool {
        self.in_set.contains(url)
    }

    /// Takes note that a URL that was decided waits once more.
    pub(super) fn wait_again(&mut self) {
        self.waiting += 1;
    }

    /// Takes note that a URL does not wait any more.
    pub(super) fn decide(&mut self, url: &UrlKey, is_failed: bool) {
        self.ways.end(url);
        self.waiting = self.waiting.saturating_sub(1);
        self.failed += u64::from(is_failed);
    }

    /// Takes note that no page leads to `url`.
    pub(super) fn add_orphan(&mut self, url: &UrlKey) {
        self.orphans.insert(url);
    }

    /// Takes note that a page leads to `url`, or that it is none; whether it was an orphan.
    pub(super) fn remove_orphan(&mut self, url: &UrlKey) -> bool {
        self.orphans.remove(url)
    }

    /// Counts links of a page that its reader left out.
    pub(super) fn leave_out(&mut self, links: u64) {
        self.not_recorded += links;
    }

    /// URLs and links that were not recorded in this crawl.
    pub(super) fn not_recorded(&self) -> u64 {
        self.not_recorded
    }

    /// The number of links that were not recorded, for the next commit, when it changed.
    pub(super) fn note_not_recorded(&mut self) -> Option<MetaValue> {
        let count = self.not_recorded;
        let is_new = std::mem::replace(&mut self.noted, count) != count;
        is_new.then(|| (NOT_RECORDED.to_owned(), Some(count.to_string())))
    }

    /// Known URLs.
    pub(super) fn len(&self) -> u64 {
        self.seen.len() as u64
    }

    /// URLs waiting or in flight.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// The place that most of the URLs found last are in.
    pub(super) fn crowded(&self) -> Option<&CrowdedPlace> {
        self.crowd.crowded(self.waiting)
    }

    /// URLs given up after their tries.
    pub(super) fn failed(&self) -> u64 {
        self.failed
    }
}
