//! What the rules of now say of a URL: scope, robots.txt and depth before it is fetched, the verdict
//! after. One value for the loop and for the work of taking up a run, which may happen elsewhere.

use std::sync::Arc;

use crate::{
    clock::Clock,
    config::{Config, Extensions},
    page::{Outcome, PageFacts, PageRecord, Reason},
    robots::Rules,
    scope::{Judgement, Scope},
    url_key::UrlKey,
    verdict::{self, CanonicalPolicy, Policy, Verdict},
};

/// The rules of a run.
#[derive(Clone)]
pub(super) struct Judge {
    scope: Scope,
    robots: Rules,
    ignores_robots: bool,
    policy: Policy,
    max_depth: Option<u32>,
    extensions: Extensions,
    clock: Arc<dyn Clock>,
    /// Text that changes when the settings do.
    settings: Arc<str>,
}

impl Judge {
    /// The rules of `config` for the site of `scope`, and those of its robots.txt.
    pub(super) fn new(config: &Config, scope: Scope, robots: Rules, clock: Arc<dyn Clock>) -> Self {
        let max_depth = config.limits.max_depth;
        let (ignore, extensions) = (config.ignore, config.publish.extensions);
        let settings = format!("{:?} {max_depth:?} {ignore:?} {extensions:?}", config.scope).into();
        Self {
            scope,
            robots,
            ignores_robots: ignore.robots,
            policy: Policy {
                ignore_noindex: ignore.noindex,
                canonicals: if ignore.canonical {
                    CanonicalPolicy::Ignore
                } else {
                    CanonicalPolicy::Obey
                },
            },
            max_depth,
            extensions,
            clock,
            settings,
        }
    }

    /// The same rules with another robots.txt.
    pub(super) fn with_robots(&self, robots: Rules) -> Self {
        Self {
            robots,
            ..self.clone()
        }
    }

    /// What robots.txt says.
    pub(super) fn robots(&self) -> &Rules {
        &self.robots
    }

    /// Whether a URL may be fetched, and so listed.
    fn allows(&self, url: &UrlKey) -> bool {
        self.ignores_robots || self.robots.allows(url.path_and_query())
    }

    /// Whether a URL is of the crawl at all.
    pub(super) fn is_inside(&self, url: &UrlKey) -> bool {
        self.scope.judge(url) != Judgement::Outside
    }

    /// What is decided about a URL before it is fetched: [`Reason::Queued`] when it may be, `None`
    /// when it is out of scope or robots.txt itself.
    pub(super) fn before_fetch(&self, url: &UrlKey, depth: u32) -> Option<Reason> {
        // It was read before anything else, and is no page.
        if url.path() == "/robots.txt" {
            return None;
        }
        let reason = match self.scope.judge(url) {
            Judgement::Outside => return None,
            Judgement::Excluded(reason) => reason,
            // No rule of the user lists what robots.txt disallows.
            Judgement::ListOnly | Judgement::Inside | Judgement::FollowOnly
                if !self.allows(url) =>
            {
                Reason::RobotsDisallowed
            }
            Judgement::ListOnly => Reason::ListOnly,
            Judgement::Inside | Judgement::FollowOnly => {
                if self.max_depth.is_some_and(|max_depth| depth > max_depth) {
                    Reason::TooDeep
                } else {
                    Reason::Queued
                }
            }
        };
        Some(reason)
    }

    /// The verdict on an attempt that has ended.
    pub(super) fn after_fetch(&self, url: &UrlKey, outcome: &Outcome) -> Verdict {
        verdict::judge(
            url,
            outcome,
            None,
            &self.scope,
            &self.policy,
            self.clock.now(),
        )
    }

    /// What a decided URL is under the rules of now: by its stored facts where there are some,
    /// [`Reason::Queued`] when it has to be fetched, or fetched again because nobody asked for what is now wanted of
    /// it.
    pub(super) fn again(&self, url: &UrlKey, record: &PageRecord) -> Reason {
        if record.reason == Reason::SeedDocument {
            // What it names was read, and is judged for itself.
            return record.reason;
        }
        let before = self
            .before_fetch(url, record.depth)
            .unwrap_or(Reason::ExcludedByRule);
        match (&record.outcome, before) {
            (Some(Outcome::Answered(facts)), Reason::Queued) if self.misses(facts) => {
                Reason::Queued
            }
            (Some(outcome @ (Outcome::Answered(_) | Outcome::NoAnswer { .. })), Reason::Queued) => {
                self.after_fetch(url, outcome).reason
            }
            // What an input says needs no request.
            (Some(outcome @ Outcome::Given(_)), _) => self.after_fetch(url, outcome).reason,
            (Some(_) | None, before) => before,
        }
    }

    /// Whether the answer was read without looking for what is asked for now.
    fn misses(&self, facts: &PageFacts) -> bool {
        let Extensions { images, hreflang } = self.extensions;
        facts.status == 200
            && (images && facts.images.is_none() || hreflang && facts.alternates.is_none())
    }

    /// Changes when the rules about known URLs do.
    pub(super) fn fingerprint(&self) -> u64 {
        let text = format!("{} {:?}", self.settings, self.robots);
        xxhash_rust::xxh3::xxh3_64(text.as_bytes())
    }
}
