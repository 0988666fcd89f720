//! What becomes of a URL: judged, its links followed, all of it added to the next commit. Nothing here
//! waits or starts work.

use super::Run;
use crate::{
    engine::start::Hop,
    frontier::Lease,
    page::{Outcome, PageFacts, PageRecord, Reason, State, Via},
    store::{Discovery, Finished, QueuedUrl},
    url_key::UrlKey,
    verdict::{self, Follow, MAX_HOPS, Verdict},
};

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
            if self.judge.is_inside(&url) && !self.seen.contains(&url) {
                let via = if found_on.is_none() || position == last && known.is_empty() {
                    Via::Start
                } else {
                    Via::Redirect
                };
                let sequence = self.note(&url, Reason::Queued, 0, 0, via, found_on.as_ref());
                known.push((sequence, hop));
            }
            found_on = Some(url);
        }
        for (sequence, hop) in known {
            self.fetched += 1;
            let outcome = Outcome::Answered(Box::new(hop.facts));
            self.decide(&hop.url, sequence, 0, 0, hop.attempts, outcome);
        }
    }

    pub(super) fn decide_unfetched(&mut self, lease: Lease, reason: Reason) {
        let (url, sequence, depth, hops) = (
            lease.url().clone(),
            lease.sequence(),
            lease.depth(),
            lease.hops(),
        );
        let tries = lease.earlier_tries();
        self.frontier.finish(lease);
        self.decide(
            &url,
            sequence,
            depth,
            hops,
            tries,
            Outcome::NotFetched(reason),
        );
    }

    /// Judges one URL, follows what may be followed, and adds it all to the next commit.
    pub(super) fn decide(
        &mut self,
        url: &UrlKey,
        sequence: u64,
        depth: u32,
        hops: u8,
        attempts: u32,
        mut outcome: Outcome,
    ) {
        let now = self.door.clock.now();
        let verdict = self.judge.after_fetch(url, &outcome);
        let links = match &mut outcome {
            Outcome::Answered(facts) => {
                self.watch_for_shells(url, facts);
                Some(self.follow(url, facts, verdict, depth, hops))
            }
            Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Given(_) => None,
        };
        self.queued = self.queued.saturating_sub(1);
        self.failed += u64::from(verdict.reason.state() == State::Failed);
        self.not_modified +=
            u64::from(matches!(&outcome, Outcome::Answered(facts) if facts.status == 304));
        let fetched_at = (!matches!(outcome, Outcome::NotFetched(_))).then_some(now);
        tracing::debug!(target: "engine", %url, reason = verdict.reason.code(), "decided");
        let record = PageRecord {
            run: self.number,
            reason: verdict.reason,
            depth,
            via: Via::Link,
            found_on: None,
            attempts,
            fetched_at,
            outcome: Some(outcome),
        };
        self.pending_links += links.as_ref().map_or(0, Vec::len);
        self.pending_links += record.facts().map_or(0, lists_of);
        self.pending.finished.push(Finished {
            key: url.clone(),
            sequence,
            record,
            links,
        });
    }

    /// Discovers what the verdict takes from a page; returns the URLs in scope, and leaves no links in
    /// the facts, which go to the store.
    pub(super) fn follow(
        &mut self,
        url: &UrlKey,
        facts: &mut PageFacts,
        verdict: Verdict,
        depth: u32,
        hops: u8,
    ) -> Vec<UrlKey> {
        let take_nofollow_links = self.config.scope.take_nofollow_links;
        let takes_links = self.config.discover.links;
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
                | Via::List => 0,
            };
            if self.discover(target, via, url, depth + 1, hops) {
                taken.push(target.clone());
            }
        }
        if verdict.follow == Follow::All {
            for feed in &facts.feeds {
                self.offer_feed(feed, url, depth);
            }
        }
        facts.links = Vec::new();
        facts.feeds = Vec::new();
        taken
    }

    /// Notes a URL found on a page, if it is in scope; whether it is.
    pub(super) fn discover(
        &mut self,
        target: &UrlKey,
        via: Via,
        found_on: &UrlKey,
        depth: u32,
        hops: u8,
    ) -> bool {
        if self.seen.contains(target) {
            self.link_orphan(target, found_on);
            return true;
        }
        if self.seeding.is_document(target) {
            self.link_document(target, found_on, depth);
            return self.seen.contains(target);
        }
        self.discover_page(target, via, found_on, depth, hops)
    }

    /// Notes a URL that is no document and that the run does not know yet, if it is in scope; whether it is.
    pub(super) fn discover_page(
        &mut self,
        target: &UrlKey,
        via: Via,
        found_on: &UrlKey,
        depth: u32,
        hops: u8,
    ) -> bool {
        if self.seen.contains(target) {
            return true;
        }
        let Some(reason) = self.judge.before_fetch(target, depth) else {
            self.links_out_of_scope += 1;
            return false;
        };
        let sequence = self.note(target, reason, depth, hops, via, Some(found_on));
        if reason == Reason::Queued {
            self.frontier.offer(QueuedUrl {
                sequence,
                key: target.clone(),
                depth,
                hops,
            });
        }
        true
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
        self.seen.insert(key);
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.queued += u64::from(reason == Reason::Queued);
        let found_on = found_on.cloned();
        self.pending.discovered.push(Discovery {
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

    pub(super) fn watch_for_shells(&mut self, url: &UrlKey, facts: &PageFacts) {
        if !facts.warnings.script_shell {
            return;
        }
        self.shells += 1;
        if *url == self.site.start {
            self.start_is_shell = true;
            self.say(format!(
                "{url} has no links and hardly any text, but scripts: it looks like a page that is rendered by JavaScript, \
                 which arpent does not run. Pages that are reached by scripts only will be missing"
            ));
        }
    }

    pub(super) fn conclude(&mut self) {
        if self.shells > 0 && !self.start_is_shell {
            let (shells, pages) = (self.shells, self.fetched);
            self.say(format!(
                "{shells} of {pages} pages have no links and hardly any text, but scripts: they look rendered by JavaScript, \
                 which arpent does not run"
            ));
        }
    }
}

/// How many images and languages the facts of a page hold.
fn lists_of(facts: &PageFacts) -> usize {
    let images = facts.images.as_ref().map_or(0, Vec::len);
    images + facts.alternates.as_ref().map_or(0, Vec::len)
}
