//! What the rules of now say of a URL: scope, robots.txt and depth before it is fetched, the verdict
//! after. One value for the loop and for the work of taking up a run, which may happen elsewhere.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;

use crate::{
    clock::Clock,
    config::{Config, Extensions, ScopeConfig, ScopeWidth},
    fetch::Validators,
    page::{Basis, BodyKind, Kept, Outcome, PageRecord, Reason, State},
    robots::Rules,
    scope::{Judgement, Scope},
    store::{Earlier, EarlierAnswer, QueuedUrl},
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
    keep_failing: Duration,
    /// See [`crate::page::PageFacts::read_as`].
    read_as: u64,
    clock: Arc<dyn Clock>,
    /// Text that changes when the settings do.
    settings: Arc<str>,
}

impl Judge {
    /// The rules of `config` for the site of `scope`, and those of its robots.txt.
    /// `read_as` is the fingerprint of how its pages are read now.
    pub(super) fn new(
        config: &Config,
        scope: Scope,
        robots: Rules,
        read_as: u64,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let max_depth = config.limits.max_depth;
        let keep_failing = config.removal.keep_failing;
        let (ignore, extensions) = (config.ignore, config.publish.extensions);
        let settings = settings_text(config).into();
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
            keep_failing,
            read_as,
            clock,
            settings,
        }
    }

    /// The same rules where the clock of this machine says nothing: no page has failed too long.
    pub(super) fn without_clock(self) -> Self {
        let keep_failing = if self.keep_failing.is_zero() {
            Duration::ZERO
        } else {
            Duration::MAX
        };
        Self {
            keep_failing,
            ..self
        }
    }

    /// What our clock shows now.
    pub(super) fn our_time(&self) -> Timestamp {
        self.clock.now()
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

    /// The URL of the directory that the crawl is of.
    pub(super) fn place(&self) -> String {
        self.scope.place()
    }

    /// Whether an `exclude` rule keeps a URL from being fetched, also outside the directory of the crawl.
    pub(super) fn excludes(&self, url: &UrlKey) -> bool {
        self.scope.excludes(url)
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
        verdict::judge(url, outcome, &self.scope, &self.policy, self.our_time())
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
            (Some(Outcome::Answered(facts)), Reason::Queued)
                if self.misses(&EarlierAnswer::of(facts)) =>
            {
                Reason::Queued
            }
            (Some(outcome @ Outcome::Answered(_)), Reason::Queued)
                if let Basis::Kept(kept) = &record.basis =>
            {
                self.of_kept(url, outcome, kept)
            }
            (Some(outcome @ (Outcome::Answered(_) | Outcome::NoAnswer { .. })), Reason::Queued) => {
                self.after_fetch(url, outcome).reason
            }
            // What an input says needs no request.
            (Some(outcome @ Outcome::Given(_)), _) => self.after_fetch(url, outcome).reason,
            (Some(_) | None, before) => before,
        }
    }

    /// Whether a page that was listed and waits is listed by its earlier answer, `good`, when the run ends here.
    pub(super) fn stays_unreached(&self, waiting: &QueuedUrl, good: &Outcome) -> bool {
        let QueuedUrl { key, depth, .. } = waiting;
        let Some(earlier) = waiting.earlier.as_ref().filter(|known| known.was_listed) else {
            return false;
        };
        let has_failed_too_long = earlier.failing_since.is_some_and(|since| {
            let kept = Kept {
                reason: Reason::NetworkError,
                since,
                gone_since: earlier.gone_since,
                error: String::new(),
            };
            verdict::expires(&kept, self.keep_failing, self.our_time())
        });
        !has_failed_too_long
            && self.before_fetch(key, *depth) == Some(Reason::Queued)
            && self.after_fetch(key, good).reason.state() == State::Listed
    }

    /// Whether the answer was read without looking for what is asked for now.
    fn misses(&self, answer: &EarlierAnswer) -> bool {
        let Extensions { images, hreflang } = self.extensions;
        answer.status == 200 && (images && !answer.has_images || hreflang && !answer.has_alternates)
    }

    /// How pages are read now.
    pub(super) fn read_as(&self) -> u64 {
        self.read_as
    }

    /// Why a page stays listed although the last attempt came to `reason`; `None` when it does not, or
    /// was not listed.
    pub(super) fn stays(
        &self,
        outcome: &Outcome,
        reason: Reason,
        earlier: &Earlier,
    ) -> Option<Kept> {
        verdict::stays(outcome, reason, earlier, self.keep_failing, self.our_time())
    }

    /// What a page is that is judged by its last good answer.
    pub(super) fn of_kept(&self, url: &UrlKey, good: &Outcome, kept: &Kept) -> Reason {
        match self.after_fetch(url, good).reason {
            reason if reason.state() != State::Listed => reason,
            _ if verdict::expires(kept, self.keep_failing, self.our_time()) => kept.reason,
            _ => kept.listed_as(),
        }
    }

    /// What a page can be asked with so that a 304 says all there is to know; `None` when nothing less
    /// than the whole answer will do.
    pub(super) fn validators(&self, answer: &EarlierAnswer) -> Option<Validators> {
        let is_whole = match answer.kind {
            BodyKind::Page => answer.is_complete && answer.content_hash.is_some(),
            // Its body is never read.
            BodyKind::Document => true,
            BodyKind::Other => false,
        };
        let stands = answer.status == 200
            && is_whole
            && answer.read_as == self.read_as
            // A 304 need not repeat a header, so a noindex that is gone from one would not be noticed.
            && !answer.robots_by_header
            && !self.misses(answer);
        let validators = Validators {
            // A star would match whatever there is.
            etag: answer.etag.clone().filter(|etag| etag != "*"),
            last_modified: answer
                .last_modified
                .filter(|time| is_settled(*time, answer.date)),
        };
        (stands && !validators.is_empty()).then_some(validators)
    }

    /// Changes when the rules about known URLs do.
    pub(super) fn fingerprint(&self) -> u64 {
        let text = format!("{} {:?}", self.settings, self.robots);
        xxhash_rust::xxh3::xxh3_64(text.as_bytes())
    }
}

/// The settings that decide a verdict, by name: what was judged under another text is judged again, without a request.
fn settings_text(config: &Config) -> String {
    let ScopeConfig {
        width,
        include,
        exclude,
        follow_only,
        list_only,
        take_nofollow_links,
    } = &config.scope;
    let width = match width {
        ScopeWidth::Directory => "directory",
        ScopeWidth::Origin => "origin",
    };
    let ignored: Vec<&str> = config.ignore.words().collect();
    let Extensions { images, hreflang } = config.publish.extensions;
    format!(
        "1 width={width} include={include:?} exclude={exclude:?} follow_only={follow_only:?} list_only={list_only:?} \
         nofollow={take_nofollow_links} max_depth={:?} ignore={ignored:?} images={images} hreflang={hreflang} \
         keep_failing_ms={}",
        config.limits.max_depth,
        config.removal.keep_failing.as_millis(),
    )
}

/// Whether a page that changes after an answer is sure to get a later `Last-Modified`: within the second
/// of the answer it would not (RFC 9110 section 8.8.2.2).
fn is_settled(last_modified: Timestamp, date: Option<Timestamp>) -> bool {
    date.is_none_or(|date| last_modified.as_second() < date.as_second())
}
