//! What becomes of a URL: judged, its links followed, all of it added to the next commit. Nothing here
//! waits or starts work.

use super::{Run, bounds::bytes_of_facts, page_sink::Found};
use crate::{
    engine::start::Hop,
    frontier::Lease,
    page::{Basis, Link, Outcome, PageFacts, PageRecord, Reason, State, Via},
    seeds::Claim,
    store::{Discovery, Finished, QueuedUrl},
    url_key::UrlKey,
    verdict::{self, Follow, MAX_HOPS, Verdict},
};

/// A URL whose work has ended, and where it stood.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) url: UrlKey,
    pub(super) sequence: u64,
    pub(super) depth: u32,
    pub(super) hops: u8,
    /// Requests that were made.
    pub(super) tries: u32,
    /// It was listed before.
    pub(super) was_listed: bool,
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
        }
    }
}

impl Run<'_> {
    /// Uses the answers that led from the typed URL to the site, as far as the run does not know them:
    /// the first pages of a new run.
    pub(in crate::engine) fn seed(&mut self, hops: Vec<Hop>) {
        // All of them are known before the first is judged: otherwise its redirect would be a discovery,
        // and the page behind it would be asked for again.
        let last = hops.len().saturating_sub(1);
        let mut known = Vec::with_capacity(hops.len());
        let mut found_on: Option<UrlKey> = None;
        for (position, hop) in hops.into_iter().enumerate() {
            let url = hop.url.clone();
            if self.rules.judge().is_inside(&url) && !self.known.contains(&url) {
                let via = if found_on.is_none() || position == last && known.is_empty() {
                    Via::Start
                } else {
                    Via::Redirect
                };
                let sequence = self.note(&url, Reason::Queued, 0, 0, via, found_on.as_ref());
                known.push((sequence, hop));
            } else if url == self.context.site.start {
                self.watch(&url, &hop.facts);
            }
            found_on = Some(url);
        }
        for (sequence, mut hop) in known {
            let work = Work {
                url: hop.url,
                sequence,
                depth: 0,
                hops: 0,
                tries: hop.attempts,
                was_listed: false,
            };
            let outcome = Outcome::Answered(Box::new(hop.facts.clone()));
            let found = hop.found.take();
            if self.rules.judge().after_fetch(&work.url, &outcome).reason == Reason::NotAPage
                && let Some(Found {
                    kind,
                    document: Some(document),
                }) = found
            {
                self.begin_with_document(&work.url, document);
                if kind.is_some() {
                    self.decide(&work, Outcome::NotFetched(Reason::SeedDocument));
                    continue;
                }
            }
            self.counts.fetched += 1;
            hop.facts.read_as = self.rules.judge().read_as();
            self.decide(&work, Outcome::Answered(Box::new(hop.facts)));
        }
    }

    /// Decides a URL that is not fetched (any more).
    pub(super) fn decide_unfetched(&mut self, lease: Lease, reason: Reason) {
        let tries = lease.earlier_tries();
        self.end_work(lease, tries, Outcome::NotFetched(reason));
    }

    /// Judges one URL, follows what may be followed, and adds it all to the next commit.
    pub(super) fn decide(&mut self, work: &Work, mut outcome: Outcome) {
        let verdict = self.rules.judge().after_fetch(&work.url, &outcome);
        let links = match &mut outcome {
            Outcome::Answered(facts) => {
                self.bounds.answered(bytes_of_facts(facts));
                self.watch(&work.url, facts);
                let taken = self.follow(work, facts, verdict);
                (!self.is_state_full()).then_some(taken)
            }
            Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Given(_) => None,
        };
        self.conclude_work(work, verdict.reason, outcome, Basis::Own, links);
    }

    /// Judges one URL that answered 304 by `facts`, those of its page row, and follows `links`, which were taken from it.
    pub(super) fn decide_confirmed(
        &mut self,
        work: &Work,
        facts: PageFacts,
        links: Vec<UrlKey>,
        answer: Box<PageFacts>,
    ) {
        let mut facts = facts.confirmed_by(&answer);
        // How each link was found is not stored; that it may be followed is, or it would not be among them.
        let link = |target| Link {
            target,
            via: Via::Link,
            nofollow: false,
        };
        facts.links = links.into_iter().map(link).collect();
        let confirmed = Outcome::Answered(Box::new(facts));
        let verdict = self.rules.judge().after_fetch(&work.url, &confirmed);
        if let Outcome::Answered(mut facts) = confirmed {
            self.watch(&work.url, &facts);
            self.follow(work, &mut facts, verdict);
        }
        let outcome = Outcome::Answered(answer);
        self.conclude_work(work, verdict.reason, outcome, Basis::Confirmed, None);
    }

    /// Adds what became of a URL to the next commit.
    fn conclude_work(
        &mut self,
        work: &Work,
        reason: Reason,
        outcome: Outcome,
        basis: Basis,
        links: Option<Vec<UrlKey>>,
    ) {
        let now = self.context.door.clock.now();
        self.known.decide(reason.state() == State::Failed);
        let is_fetched = !matches!(outcome, Outcome::NotFetched(_));
        let fetched_at = is_fetched.then_some(now);
        tracing::debug!(target: "engine", url = %work.url, reason = reason.code(), "decided");
        let record = PageRecord {
            reason,
            depth: work.depth,
            via: Via::Link,
            found_on: None,
            attempts: work.tries,
            fetched_at,
            sitemap_lastmod: None,
            outcome: Some(outcome),
            basis,
        };
        self.commits.finish(Finished {
            key: work.url.clone(),
            sequence: work.sequence,
            record,
            links,
        });
    }

    /// Discovers what the verdict takes from a page; returns the URLs in scope, and leaves no links in
    /// the facts, which go to the store.
    pub(super) fn follow(
        &mut self,
        work: &Work,
        facts: &mut PageFacts,
        verdict: Verdict,
    ) -> Vec<UrlKey> {
        let Work {
            url, depth, hops, ..
        } = work;
        let (depth, hops) = (*depth, *hops);
        let not_recorded = self.bounds.not_recorded;
        if verdict.follow == Follow::All && self.context.config.discover.links {
            self.bounds.not_recorded += facts.links_left_out;
        }
        facts.links_left_out = 0;
        let take_nofollow_links = self.context.config.scope.take_nofollow_links;
        let takes_links = self.context.config.discover.links;
        let mut taken = Vec::new();
        for (target, via) in verdict::targets(facts, verdict.follow, take_nofollow_links) {
            let hops = match via {
                Via::Link | Via::Alternate if !takes_links => continue,
                Via::Redirect if usize::from(hops) >= MAX_HOPS => continue,
                Via::Redirect => hops + 1,
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
            // A page that is listed leaves only when it is known what takes its place.
            let is_owed =
                work.was_listed && matches!(via, Via::Redirect | Via::Refresh | Via::Canonical);
            if self.discover(target, via, url, depth + 1, hops, is_owed) {
                taken.push(target.clone());
            }
        }
        if self.bounds.not_recorded > not_recorded || self.is_state_full() {
            // Its links are not all in the state, so that a later 304 would not say where it leads.
            facts.read_as = 0;
        }
        if verdict.follow == Follow::All {
            for feed in &facts.feeds {
                self.offer_feed(feed, url, depth);
            }
        }
        facts.links = Vec::new();
        taken
    }

    /// Notes a URL found on a page, if it is in scope and within the bounds, which do not count where it `is_owed`; whether
    /// it is.
    pub(super) fn discover(
        &mut self,
        target: &UrlKey,
        via: Via,
        found_on: &UrlKey,
        depth: u32,
        hops: u8,
        is_owed: bool,
    ) -> bool {
        if self.known.contains(target) {
            self.link_orphan(target, found_on);
            return true;
        }
        if self.seeding.is_document(target) {
            let claim = Claim {
                via,
                found_on: Some(found_on.as_str().to_owned()),
                depth,
                hops,
                is_linked: true,
                date: None,
            };
            self.claim_document(target, claim);
            // A later run that takes this page as it is has to know the link: then there may be a page.
            return self.rules.judge().is_inside(target);
        }
        self.discover_page(target, via, Some(found_on), depth, hops, is_owed)
    }

    /// Notes a URL that is no document and that the run does not know yet, as [`Run::discover`] does.
    pub(super) fn discover_page(
        &mut self,
        target: &UrlKey,
        via: Via,
        found_on: Option<&UrlKey>,
        depth: u32,
        hops: u8,
        is_owed: bool,
    ) -> bool {
        if self.known.contains(target) {
            return true;
        }
        let Some(reason) = self.rules.judge().before_fetch(target, depth) else {
            self.counts.links_out_of_scope += 1;
            return false;
        };
        if !is_owed && self.leaves_out() {
            return false;
        }
        self.hints.find(target, reason);
        let sequence = self.note(target, reason, depth, hops, via, found_on);
        if reason == Reason::Queued {
            self.offer(sequence, target.clone(), depth, hops);
        }
        true
    }

    /// Hands a URL that was just noted to the frontier.
    pub(super) fn offer(&mut self, sequence: u64, key: UrlKey, depth: u32, hops: u8) {
        self.frontier.offer(QueuedUrl {
            sequence,
            key,
            depth,
            hops,
            earlier: None,
        });
    }

    /// Adds a discovery to the next commit.
    pub(super) fn note(
        &mut self,
        key: &UrlKey,
        reason: Reason,
        depth: u32,
        hops: u8,
        via: Via,
        found_on: Option<&UrlKey>,
    ) -> u64 {
        self.hints.see(key);
        let sequence = self.known.add(key, reason == Reason::Queued);
        let found_on = found_on.cloned();
        self.commits.discover(Discovery {
            key: key.clone(),
            sequence,
            depth,
            hops,
            via,
            found_on,
            reason,
        });
        sequence
    }
}
