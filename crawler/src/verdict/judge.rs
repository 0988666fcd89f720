//! The current rules applied to a URL: scope, robots.txt and depth before it is fetched, the verdict after. The crawl loop, a
//! session that goes on with a crawl, and publishing share one value.

use std::{fmt, sync::Arc, time::Duration};

use jiff::Timestamp;

use super::{Policy, Verdict, judge};
use crate::{
    clock::Clock,
    config::{Config, Extensions, ScopeConfig, ScopeWidth},
    fetch::Validators,
    page::{Basis, BodyEnd, BodyKind, Outcome, PageFacts, PageRecord, Reason, State},
    robots::Rules,
    scope::{Judgement, Scope},
    url_key::{UrlKey, is_action},
};

/// The rules of a crawl: scope, robots.txt, policy and limits.
#[derive(Clone)]
pub struct Judge {
    scope: Scope,
    robots: Rules,
    ignores_robots: bool,
    policy: Policy,
    max_depth: Option<u32>,
    extensions: Extensions,
    keep_failing: Duration,
    /// Links that change something on the server are not followed.
    avoids_actions: bool,
    /// See [`crate::page::PageFacts::read_as`].
    read_as: u64,
    clock: Arc<dyn Clock>,
    /// Text that changes when the settings do.
    settings: Arc<str>,
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Judge {
    /// The rules of `config` for the site of `scope`, and those of its robots.txt.
    /// `read_as` is the fingerprint of the settings by which pages are read.
    pub(crate) fn new(
        config: &Config,
        scope: Scope,
        robots: Rules,
        read_as: u64,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let max_depth = config.limits.max_depth;
        let keep_failing = config.removal.keep_failing;
        let avoids_actions = config.fetch.carries_session() && !config.scope.follow_actions;
        let (ignore, extensions) = (config.ignore, config.publish.extensions);
        let settings = settings_text(config).into();
        Self {
            scope,
            robots,
            ignores_robots: ignore.robots,
            policy: Policy {
                ignore_noindex: ignore.noindex,
                ignore_canonical: ignore.canonical,
                ignore_repeats: !config.repeats.close_patterns,
            },
            max_depth,
            extensions,
            keep_failing,
            avoids_actions,
            read_as,
            clock,
            settings,
        }
    }

    /// The same rules where the clock of this machine is wrong: no page has failed too long.
    pub(crate) fn without_clock(self) -> Self {
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

    /// The same rules at one instant: verdicts do not change while a set is made.
    pub(crate) fn at(&self, now: Timestamp) -> Self {
        Self {
            clock: Arc::new(StoppedClock(now)),
            ..self.clone()
        }
    }

    /// The time for which a page that only fails stays listed.
    pub(crate) fn keep_failing(&self) -> Duration {
        self.keep_failing
    }

    /// The time of our clock.
    pub(crate) fn our_time(&self) -> Timestamp {
        self.clock.now()
    }

    /// The same rules with another robots.txt.
    pub(crate) fn with_robots(&self, robots: Rules) -> Self {
        Self {
            robots,
            ..self.clone()
        }
    }

    /// Returns whether links that change something on the server are not followed.
    pub(crate) fn avoids_actions(&self) -> bool {
        self.avoids_actions
    }

    /// Returns whether a URL is such a link.
    pub(crate) fn avoids(&self, url: &UrlKey) -> bool {
        self.avoids_actions && is_action(url)
    }

    /// Returns whether canonical links count.
    pub(crate) fn takes_canonicals(&self) -> bool {
        !self.policy.ignore_canonical
    }

    /// The rules of robots.txt.
    pub(crate) fn robots(&self) -> &Rules {
        &self.robots
    }

    /// Returns whether a URL may be fetched, and so listed.
    fn allows(&self, url: &UrlKey) -> bool {
        self.ignores_robots || self.robots.allows(url.path_and_query())
    }

    /// Returns whether robots.txt allows a URL in this form of writing.
    pub(crate) fn allows_written(&self, written: &str) -> bool {
        let url = url::Url::parse(written);
        let path_and_query = |url: url::Url| {
            let query = url.query().map(|query| format!("?{query}"));
            format!("{}{}", url.path(), query.unwrap_or_default())
        };
        self.ignores_robots || url.is_ok_and(|url| self.robots.allows(&path_and_query(url)))
    }

    /// Returns whether a URL is in the scope of the crawl.
    pub(crate) fn is_inside(&self, url: &UrlKey) -> bool {
        self.scope.judge(url) != Judgement::Outside
    }

    /// Returns whether a URL that nothing leads to may be asked for.
    pub(crate) fn may_be_asked(&self, url: &UrlKey) -> bool {
        self.before_fetch(url, 0) == Some(Reason::Queued)
    }

    /// The URL of the crawled directory.
    pub(crate) fn place(&self) -> String {
        self.scope.place()
    }

    /// Returns whether an `exclude` rule keeps a URL from being fetched, also outside the directory of the crawl.
    pub(crate) fn excludes(&self, url: &UrlKey) -> bool {
        self.scope.excludes(url)
    }

    /// The reason of a URL before it is fetched: [`Reason::Queued`] when it may be, `None`
    /// when it is out of scope or robots.txt itself.
    pub(crate) fn before_fetch(&self, url: &UrlKey, depth: u32) -> Option<Reason> {
        // It was read before anything else, and is not a page.
        if url.path() == "/robots.txt" {
            return None;
        }
        let reason = match self.scope.judge(url) {
            Judgement::Outside => return None,
            Judgement::Excluded(reason) => reason,
            _ if url.is_cut() => Reason::Unwritable,
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
    pub(crate) fn after_fetch(&self, url: &UrlKey, outcome: &Outcome) -> Verdict {
        judge(url, outcome, &self.scope, &self.policy, self.our_time())
    }

    /// The reason of a decided URL under the current rules: by its stored facts where there are some, [`Reason::Queued`] when it
    /// has to be fetched, or fetched again because the settings now ask for extensions that were not read.
    pub(crate) fn again(&self, url: &UrlKey, record: &PageRecord) -> Reason {
        let reason = self.in_view(url, record);
        let has_to_be_read = match (&record.outcome, reason.state()) {
            (Some(Outcome::Answered(facts)), State::Listed) => self.misses(facts),
            (Some(Outcome::NotFetched(_)), State::Failed) => true,
            (_, _) => false,
        };
        if has_to_be_read {
            Reason::Queued
        } else {
            reason
        }
    }

    /// The reason of a decided URL under the current rules, by its stored facts, also where extensions that the settings now ask
    /// for were not read; [`Reason::Queued`] when nothing is known.
    pub(crate) fn in_view(&self, url: &UrlKey, record: &PageRecord) -> Reason {
        if record.reason == Reason::SeedDocument {
            // The URLs that it names are judged for themselves.
            return record.reason;
        }
        let before = self
            .before_fetch(url, record.depth)
            .unwrap_or(Reason::ExcludedByRule);
        match (&record.outcome, &record.basis, before) {
            (Some(outcome @ Outcome::Supplied(_)), Basis::Own, _)
                if record.reason != Reason::NotReached =>
            {
                // A URL of an input needs no request.
                self.after_fetch(url, outcome).reason
            }
            (Some(outcome), Basis::Kept(kept), Reason::Queued) => {
                self.of_good(url, outcome, kept.listed_as())
            }
            (Some(outcome), Basis::NotReached, Reason::Queued) => {
                self.of_good(url, outcome, Reason::NotReached)
            }
            // A URL that an imported set names.
            (
                Some(outcome @ (Outcome::NotFetched(Reason::NotReached) | Outcome::Supplied(_))),
                _,
                Reason::Queued,
            ) => match self.after_fetch(url, outcome).reason {
                Reason::FromInput => Reason::NotReached,
                reason => reason,
            },
            (
                Some(
                    outcome @ (Outcome::Answered(_)
                    | Outcome::NoAnswer { .. }
                    | Outcome::NotFetched(Reason::PatternClosed | Reason::DuplicateOf)),
                ),
                _,
                Reason::Queued,
            ) => self.after_fetch(url, outcome).reason,
            (Some(Outcome::NotFetched(reason @ Reason::ActionLink)), _, Reason::Queued)
                if self.avoids(url) =>
            {
                *reason
            }
            (Some(Outcome::NotFetched(reason)), _, Reason::Queued)
                if reason.state() == State::Failed =>
            {
                *reason
            }
            (Some(_) | None, _, before) => before,
        }
    }

    /// Returns whether the answer was read without extensions that the settings ask for now.
    fn misses(&self, answer: &PageFacts) -> bool {
        let Extensions {
            images,
            hreflang,
            news,
            video,
        } = self.extensions;
        let misses = images && answer.images.is_none()
            || hreflang && answer.alternates.is_none()
            || news && answer.news.is_none()
            || video && answer.videos.is_none();
        answer.status == 200 && misses
    }

    /// The fingerprint of the settings by which pages are read.
    pub(crate) fn read_as(&self) -> u64 {
        self.read_as
    }

    /// The reason of a page that is judged by its last good answer, which stays `listed_as`. The time for which it stays
    /// counts at its attempts.
    pub(crate) fn of_good(&self, url: &UrlKey, good: &Outcome, listed_as: Reason) -> Reason {
        match self.after_fetch(url, good).reason {
            reason if reason.state() != State::Listed => reason,
            _ => listed_as,
        }
    }

    /// The validators with which a page is asked for; `None` when the whole answer is needed.
    pub(crate) fn validators(&self, answer: &PageFacts) -> Option<Validators> {
        let is_whole = match answer.kind {
            BodyKind::Page => answer.end == BodyEnd::Complete && answer.content_hash.is_some(),
            // Its body is never read.
            BodyKind::Document => true,
            BodyKind::Other => false,
        };
        let may_be_confirmed = answer.status == 200
            && is_whole
            && answer.read_as == Some(self.read_as)
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
        (may_be_confirmed && !validators.is_empty()).then_some(validators)
    }

    /// The fingerprint of the rules for known URLs.
    pub(crate) fn fingerprint(&self) -> u64 {
        let text = format!("{} {:?}", self.settings, self.robots);
        xxhash_rust::xxh3::xxh3_64(text.as_bytes())
    }
}

/// A clock that always shows the same time.
struct StoppedClock(Timestamp);

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// The settings that decide a verdict, by name: URLs that were judged under another text are judged again, without a request.
fn settings_text(config: &Config) -> String {
    let ScopeConfig {
        width,
        include,
        exclude,
        follow_only,
        list_only,
        follow_actions,
    } = &config.scope;
    let width = match width {
        ScopeWidth::Directory => "directory",
        ScopeWidth::Origin => "origin",
    };
    let ignored: Vec<&str> = config.ignore.words().collect();
    let Extensions {
        images,
        hreflang,
        news,
        video,
    } = config.publish.extensions;
    format!(
        "1 width={width} include={include:?} exclude={exclude:?} follow_only={follow_only:?} list_only={list_only:?} \
         max_depth={:?} ignore={ignored:?} images={images} hreflang={hreflang} news={news} video={video} \
         close_patterns={} keep_failing_ms={} avoids_actions={}",
        config.limits.max_depth,
        config.repeats.close_patterns,
        config.removal.keep_failing.as_millis(),
        config.fetch.carries_session() && !follow_actions,
    )
}

/// Returns whether a page that changes after an answer is sure to get a later `Last-Modified`: within the second
/// of the answer it would not (RFC 9110 section 8.8.2.2).
fn is_settled(last_modified: Timestamp, date: Option<Timestamp>) -> bool {
    date.is_none_or(|date| last_modified.as_second() < date.as_second())
}
