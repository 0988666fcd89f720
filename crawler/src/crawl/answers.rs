//! The result of a URL by its answer: how its work ends in the store, and the URLs that it leads to. Pure.

use jiff::Timestamp;

use super::known::FoundUrl;
use crate::{
    config::Config,
    frontier::Lease,
    page::{
        Basis, ContentHash, Outcome, PageFacts, PageRecord, Reading, Reason, TakenLinks, Via, Visit,
    },
    store::Finished,
    url_key::UrlKey,
    verdict::{self, Follow, MAX_HOPS},
};

/// A URL whose work has ended, and its place in the queue.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) url: UrlKey,
    pub(super) sequence: u64,
    pub(super) depth: u32,
    pub(super) hops: u8,
    /// Requests that were made.
    pub(super) tries: u32,
    /// The page was listed before.
    pub(super) was_listed: bool,
    /// The page is as it was when it was listed before, or when it last redirected to such a page.
    pub(super) is_unchanged: bool,
    /// The content, where that is another one than that of its last answer.
    pub(super) changed_to: Option<ContentHash>,
    /// Pages in a row that said nothing new, on the shortest way to it.
    pub(super) distance: u16,
    /// The page was read before in this session.
    pub(super) is_again: bool,
}

impl Work {
    /// The end of what `lease` was for.
    pub(super) fn of(lease: &Lease, tries: u32) -> Self {
        Self {
            url: lease.url().clone(),
            sequence: lease.sequence(),
            depth: lease.depth(),
            hops: lease.hops(),
            tries,
            was_listed: lease.earlier().is_some_and(|earlier| earlier.was_listed),
            is_unchanged: false,
            changed_to: None,
            distance: lease.distance(),
            is_again: false,
        }
    }

    /// What is known of it before its answer is read.
    pub(super) fn reading(&self) -> Reading {
        Reading {
            distance: self.distance,
            ..Reading::default()
        }
    }

    /// The end of it for the store, at `now`.
    pub(super) fn finished(
        &self,
        reason: Reason,
        outcome: Outcome,
        basis: Basis,
        links: Option<TakenLinks>,
        reading: Reading,
        now: Timestamp,
    ) -> Finished {
        let is_fetched = self.tries > 0 && !matches!(outcome, Outcome::NotFetched(_));
        let record = PageRecord {
            attempts: self.tries,
            fetched_at: is_fetched.then_some(now),
            outcome: Some(outcome),
            basis,
            ..PageRecord::new(reason, self.depth, Via::Link)
        };
        Finished {
            key: self.url.clone(),
            visit: Visit::finished(self.sequence, record, reading),
            links,
        }
    }

    /// The URLs that a page leads to, as far as they are followed.
    pub(super) fn leads_to<'a>(
        &'a self,
        facts: &'a PageFacts,
        follow: Follow,
        config: &'a Config,
        distance: u16,
    ) -> impl Iterator<Item = FoundUrl<'a>> {
        let ignores_nofollow = config.ignore.nofollow;
        let targets = verdict::targets(facts, follow, ignores_nofollow);
        targets.filter_map(move |(key, via, text)| {
            let hops = match via {
                Via::Link | Via::Alternate if !config.discover.links => return None,
                Via::Redirect if usize::from(self.hops) >= MAX_HOPS => return None,
                Via::Redirect => self.hops + 1,
                Via::Start
                | Via::Link
                | Via::Refresh
                | Via::Canonical
                | Via::Alternate
                | Via::Input
                | Via::File
                | Via::Sitemap
                | Via::Feed
                | Via::List
                | Via::Earlier => 0,
            };
            let takes_its_place = matches!(via, Via::Redirect | Via::Refresh | Via::Canonical);
            let is_owed = self.was_listed && takes_its_place;
            Some(FoundUrl {
                key,
                via,
                text,
                found_on: Some(&self.url),
                depth: self.depth + 1,
                hops,
                // A page that is listed leaves only when it is known what takes its place.
                is_owed,
                distance: if is_owed { 0 } else { distance },
            })
        })
    }
}
