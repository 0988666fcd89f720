//! The explanation of a URL: the data of the state on it, the reason why it is listed or not, and advice. Reads the state and the
//! published files, and judges by the rules that a publish without a crawl would use. Only [`Question::request_live`] sends requests.

mod evidence;
mod found;
mod live;
mod published_file;
mod view;

#[cfg(test)]
mod tests;

use std::{ops::ControlFlow, sync::Arc};

use jiff::Timestamp;
use serde::Serialize;

pub use self::{
    evidence::{LastmodStory, StatedDate},
    found::FoundStep,
    live::{LiveHop, LiveStory},
};
use crate::{
    client::ConnectError,
    clock::Clock,
    config::Config,
    crawl_state,
    outcome::SessionOutcome,
    page::{
        Basis, Canonical, ClosedPattern, Page, PageFacts, PageRecord, Reason, RenderedContent,
        Repeat, State, Visit,
    },
    repeats::pattern_of,
    robots::Rules,
    scope::{Judgement, Scope, ScopeError},
    site::Site,
    store::{Shown, Store, StoreError},
    url_key::UrlKey,
};

/// Copies of a page that are named.
const MAX_COPIES: usize = 3;

/// Redirects that are followed.
const MAX_HOPS: usize = 20;

/// A question about the URLs of one site.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it holds a clock")]
pub struct Question<'a> {
    /// The state of the site.
    pub store: &'a Store,
    /// The site.
    pub site: &'a Site,
    /// The settings.
    pub config: &'a Config,
    /// Wall time.
    pub clock: &'a Arc<dyn Clock>,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum WhyError {
    /// The state cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A setting contradicts the site.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// A setting of the network cannot be used.
    #[error(transparent)]
    Network(#[from] ConnectError),
    /// The work was stopped.
    #[error("stopped before the URL answered")]
    Stopped,
}

impl WhyError {
    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        match self {
            Self::Store(error) => error.outcome(),
            Self::Scope(_) => SessionOutcome::Settings,
            Self::Network(error) => error.outcome(),
            Self::Stopped => SessionOutcome::Interrupted,
        }
    }
}

/// The data on a URL.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UrlExplanation {
    /// Version of this form: 1.
    pub version: u32,
    /// The URL in its normal form.
    pub url: String,
    /// URL of the site's directory.
    pub site: String,
    /// The state ([`State`]); `unknown` when no crawl met it.
    pub state: &'static str,
    /// The code of its reason ([`Reason::code`]); of an unknown URL the one that it would have, if any.
    pub reason: Option<&'static str>,
    /// Why, in one sentence.
    pub why: String,
    /// Advice on it, if anything.
    pub advice: Option<String>,
    /// How it was found: the pages from the start URL down to it.
    pub found: Vec<FoundStep>,
    /// The last answer, or why there was none.
    pub answer: Option<LastAnswer>,
    /// The redirects that it leads through, the URL itself first.
    pub redirects: Vec<RedirectStep>,
    /// The rule of robots.txt for it.
    pub robots: RobotsLine,
    /// The scope of the crawl, and the rule that decided.
    pub scope: ScopeRule,
    /// The directives for robots in the page and its headers.
    pub directives: Vec<&'static str>,
    /// The canonical URL of the page, and what became of that.
    pub canonical: Option<NamedUrl>,
    /// The URL that it is the same page as, and what became of that.
    pub duplicate_of: Option<NamedUrl>,
    /// The first listed pages with the same bytes, if it is listed itself.
    pub copies: Vec<String>,
    /// The pattern that it is in.
    pub pattern: Option<PatternStory>,
    /// The `lastmod`, and the dates that were stated for it.
    pub lastmod: Option<LastmodStory>,
    /// The published sitemap that lists it.
    pub file: Option<String>,
    /// Since when it is known.
    pub history: Option<KnownSince>,
    /// The findings of a crawl that is not published, because it is under way, stopped or refused.
    pub under_way: Option<UnderWay>,
    /// The current answer; `None`: it was not to be asked for.
    pub live: Option<LiveStory>,
}

/// The last answer to a request for a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastAnswer {
    /// HTTP status; `None`: no answer came.
    pub status: Option<u16>,
    /// The error of the last attempt, when it had no answer, or none that counts.
    pub error: Option<String>,
    /// Media type.
    pub content_type: Option<String>,
    /// Decoded bytes that were read.
    pub bytes: u64,
    /// Title of the page.
    pub title: Option<String>,
    /// End of the last attempt.
    pub fetched_at: Option<Timestamp>,
    /// Tries of it.
    pub attempts: u32,
    /// The outcome is an earlier answer, which a 304 confirmed.
    pub is_confirmed: bool,
    /// What a browser shows of the page, beside its HTML; `None`: it was not rendered.
    pub rendered: Option<RenderedContent>,
}

/// A step of a chain of redirects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RedirectStep {
    /// The URL.
    pub url: String,
    /// The status; `None`: not known.
    pub status: Option<u16>,
    /// The code of its reason; `None`: the crawls do not know it.
    pub reason: Option<&'static str>,
}

/// Another URL that a page names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedUrl {
    /// The URL.
    pub url: String,
    /// The code of its reason; `None`: the crawls do not know it.
    pub reason: Option<&'static str>,
}

/// The rule of robots.txt for a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RobotsLine {
    /// The file was read by the last crawl.
    pub is_read: bool,
    /// The URL may be fetched.
    pub allowed: bool,
    /// The line that decides; `None`: no line matches.
    pub line: Option<String>,
    /// The number in the file, from 1.
    pub number: Option<usize>,
    /// The `User-agent` of the group that counts.
    pub group: Option<String>,
}

/// The judgement of the scope on a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScopeRule {
    /// `inside`, `outside`, `excluded`, `follow-only` or `list-only`.
    pub judgement: &'static str,
    /// The setting that decides, `scope` for origin and directory.
    pub setting: &'static str,
    /// The rule, or the URL of the directory.
    pub rule: Option<String>,
}

/// A place that was cut, or a parameter that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PatternStory {
    /// The name, as `/agenda?` or `?visit=`.
    pub name: String,
    /// Place or parameter.
    pub kind: &'static str,
    /// Pages of it that were asked for.
    pub requested: u64,
    /// Requested pages that are not listed because of it.
    pub left_out: u64,
    /// URLs of it that were not asked for.
    pub not_requested: u64,
    /// One of these URLs.
    pub example: String,
}

/// Since when a URL is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KnownSince {
    /// The first publish that knew it.
    pub first_seen: Timestamp,
    /// The last one.
    pub last_seen: Timestamp,
    /// The first attempt that failed since its last good answer.
    pub failing_since: Option<Timestamp>,
    /// The first 404 or 410 since then.
    pub gone_since: Option<Timestamp>,
    /// The first fetch of its present content.
    pub content_since: Option<Timestamp>,
}

/// The data on a URL of a crawl that is not published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnderWay {
    /// The code of its reason.
    pub reason: &'static str,
    /// The reason for people.
    pub why: &'static str,
}

/// The rows of one URL.
struct UrlRows {
    page: Option<Page>,
    visit: Option<Visit>,
}

impl UrlRows {
    fn read(store: &Store, url: &UrlKey) -> Result<Self, StoreError> {
        let (mut page, visit) = store.rows(url)?;
        if let Some(page) = &mut page {
            page.settle_reach(crawl_state::published_in_part(store)?);
        }
        Ok(Self { page, visit })
    }

    /// The published record, or else the record of the crawl under way.
    fn record(&self) -> Option<&PageRecord> {
        let published = self.page.as_ref().map(|page| &page.record);
        published.or(self.visit.as_ref().map(|visit| &visit.record))
    }
}

impl Question<'_> {
    /// The first published URLs whose pages have the bytes of the page `url`.
    fn copies(&self, url: &UrlKey, facts: Option<&PageFacts>) -> Result<Vec<String>, StoreError> {
        let mut copies = Vec::new();
        let Some(hash) = facts
            .filter(|facts| facts.shown.is_none())
            .and_then(|facts| facts.body_hash)
        else {
            return Ok(copies);
        };
        self.store.each(None, Shown::Outline, &mut |rows| {
            if rows.page_body_hash()? == Some(hash) && rows.is_listed()? && rows.key != *url {
                copies.push(rows.key.to_string());
            }
            Ok(if copies.len() < MAX_COPIES {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        Ok(copies)
    }

    /// The explanation of `url`.
    ///
    /// # Errors
    /// The state cannot be read, or a setting contradicts the site.
    pub fn explain(&self, url: &UrlKey) -> Result<UrlExplanation, WhyError> {
        let known = crawl_state::rules_at_rest(self.store)?;
        let judge = known.judge(self.config, self.site, self.clock)?;
        let robots = known.robots;
        let rows = UrlRows::read(self.store, url)?;
        let record = rows.record();
        let scope = self.scope_of(url)?;
        let robots = robots_line(robots.as_ref(), url);
        let (state, reason, why) = if let Some(PageRecord { reason, .. }) = record {
            let why = reason.text().to_owned();
            (reason.state().as_str(), Some(*reason), why)
        } else {
            let reason = judge.before_fetch(url, 0);
            let reason = reason.filter(|reason| *reason != Reason::Queued);
            ("unknown", reason, self.why_unknown(url, reason)?)
        };
        let facts = record.and_then(PageRecord::facts);
        let repeat = facts.and_then(|facts| facts.repeat.as_ref());
        let pattern = pattern_of(url, &self.store.patterns()?).map(PatternStory::of);
        let advice = match (record, reason) {
            (Some(_), Some(reason)) => reason.advice(),
            (_, reason) => Some(advice_on_unknown(
                scope.judgement,
                url.is_on(&self.site.origin),
                reason,
            )),
        };
        let is_listed = record.is_some_and(|record| record.reason.state() == State::Listed);
        let is_published = is_listed && rows.page.is_some();
        Ok(UrlExplanation {
            version: 1,
            url: url.to_string(),
            site: self.site.url(),
            state,
            reason: reason.map(Reason::code),
            why,
            advice: advice.map(str::to_owned),
            found: found::path_to(self.store, url, record)?,
            answer: record.and_then(LastAnswer::of),
            redirects: self.redirects(url, record)?,
            robots,
            scope,
            directives: facts.map(directives).unwrap_or_default(),
            canonical: match facts.map(|facts| &facts.canonical) {
                Some(Canonical::Other(other)) => Some(self.other(other)?),
                _ => None,
            },
            duplicate_of: match repeat {
                Some(Repeat::DuplicateOf(other)) => Some(self.other(other)?),
                _ => None,
            },
            copies: if is_published {
                self.copies(url, facts)?
            } else {
                Vec::new()
            },
            pattern,
            lastmod: if is_listed {
                evidence::evidence_of(self.store, url, rows.page.as_ref(), record)?
            } else {
                None
            },
            file: if is_published {
                published_file::holding(self.store, self.site, url)?
            } else {
                None
            },
            history: rows.page.as_ref().map(KnownSince::of),
            under_way: match (&rows.page, &rows.visit) {
                (Some(page), Some(visit)) => Some(visit.record.reason)
                    .filter(|reason| *reason != page.record.reason && visit.promotion.is_none())
                    .map(UnderWay::of),
                (None, Some(visit)) => Some(UnderWay::of(visit.record.reason)),
                (_, None) => None,
            },
            live: None,
        })
    }

    fn scope_of(&self, url: &UrlKey) -> Result<ScopeRule, WhyError> {
        let scope = Scope::new(self.site, &self.config.scope)?;
        let explanation = scope.explain(url);
        Ok(ScopeRule {
            judgement: match explanation.judgement {
                Judgement::Outside => "outside",
                Judgement::Excluded(_) => "excluded",
                Judgement::FollowOnly => "follow-only",
                Judgement::ListOnly => "list-only",
                Judgement::Inside => "inside",
            },
            setting: explanation.setting,
            rule: explanation.rule,
        })
    }

    /// The reason why no crawl found a URL, in one sentence.
    fn why_unknown(&self, url: &UrlKey, reason: Option<Reason>) -> Result<String, StoreError> {
        if let Some(reason) = reason {
            return Ok(format!(
                "no crawl found this URL, and it would be left out: {}",
                reason.text()
            ));
        }
        if !url.is_on(&self.site.origin) {
            return Ok(format!(
                "this URL is not on the host of the site {}",
                self.site.url()
            ));
        }
        if !self.site.contains(url) {
            return Ok(format!(
                "this URL is outside of the directory of the crawl, {}",
                self.site.url()
            ));
        }
        let why = "no page, sitemap, feed or list of the last crawl leads to this URL (links with nofollow do not count)";
        let not_recorded = crawl_state::not_recorded(self.store)?;
        if not_recorded == 0 {
            return Ok(why.to_owned());
        }
        Ok(format!(
            "{why}; {not_recorded} links were not recorded, because a bound was reached"
        ))
    }

    fn other(&self, url: &UrlKey) -> Result<NamedUrl, StoreError> {
        let rows = UrlRows::read(self.store, url)?;
        Ok(NamedUrl {
            url: url.to_string(),
            reason: rows.record().map(|record| record.reason.code()),
        })
    }

    /// The chain of redirects from `url` on; empty when it does not redirect.
    fn redirects(
        &self,
        url: &UrlKey,
        record: Option<&PageRecord>,
    ) -> Result<Vec<RedirectStep>, StoreError> {
        let mut chain: Vec<RedirectStep> = Vec::new();
        let mut next = Some((url.clone(), record.cloned()));
        while let Some((url, record)) = next.take() {
            let is_known = chain.iter().any(|step| step.url == url.as_str());
            let facts = record.as_ref().and_then(PageRecord::facts);
            let target = facts.and_then(target_of).cloned();
            if chain.is_empty() && target.is_none() {
                return Ok(chain);
            }
            chain.push(RedirectStep {
                url: url.to_string(),
                status: facts.map(|facts| facts.status),
                reason: record.as_ref().map(|record| record.reason.code()),
            });
            if let Some(target) = target.filter(|_| !is_known && chain.len() < MAX_HOPS) {
                let record = UrlRows::read(self.store, &target)?.record().cloned();
                next = Some((target, record));
            }
        }
        Ok(chain)
    }
}

/// The advice for a URL that no crawl found.
fn advice_on_unknown(judgement: &str, is_on_host: bool, reason: Option<Reason>) -> &'static str {
    match (judgement, reason) {
        ("outside", _) if is_on_host => {
            "crawl it by itself with arpent crawl and this URL, or the whole host with --scope origin"
        }
        ("outside", _) => "crawl it by itself with arpent crawl and this URL",
        (_, Some(reason)) => reason.advice().unwrap_or("link to it from a listed page"),
        _ => {
            "link to it from a listed page, without nofollow, or name it in a sitemap of the site or in a list (--seeds FILE)"
        }
    }
}

/// The URL to which an answer sends its readers at once.
fn target_of(facts: &PageFacts) -> Option<&UrlKey> {
    let refresh = facts.refresh.as_ref();
    let refresh = refresh.filter(|refresh| refresh.delay_seconds == 0);
    facts
        .location
        .as_ref()
        .or(refresh.map(|refresh| &refresh.target))
}

fn robots_line(rules: Option<&Rules>, url: &UrlKey) -> RobotsLine {
    let decision = rules.map(|rules| rules.decide(url.path_and_query()));
    RobotsLine {
        is_read: rules.is_some(),
        allowed: decision.is_none_or(|decision| decision.allowed),
        line: decision.and_then(|decision| {
            let name = if decision.allowed {
                "Allow"
            } else {
                "Disallow"
            };
            Some(format!("{name}: {}", decision.pattern?))
        }),
        number: decision.and_then(|decision| decision.line),
        group: rules.map(|rules| rules.group().to_owned()),
    }
}

fn directives(facts: &PageFacts) -> Vec<&'static str> {
    let said = facts.directives;
    [
        (said.noindex, "noindex"),
        (said.nofollow, "nofollow"),
        (said.noimageindex, "noimageindex"),
        (said.unavailable_after.is_some(), "unavailable_after"),
        (facts.robots_by_header, "by the header X-Robots-Tag"),
    ]
    .into_iter()
    .filter_map(|(is_said, name)| is_said.then_some(name))
    .collect()
}

impl LastAnswer {
    fn of(record: &PageRecord) -> Option<Self> {
        let facts = record.facts();
        let error = record.error().map(str::to_owned);
        if facts.is_none() && error.is_none() {
            return None;
        }
        Some(Self {
            status: facts.map(|facts| facts.status),
            error,
            content_type: facts.and_then(|facts| facts.content_type.clone()),
            bytes: facts.map_or(0, |facts| facts.body_bytes),
            title: facts.and_then(|facts| facts.title.clone()),
            rendered: facts.and_then(|facts| facts.shown),
            fetched_at: record.fetched_at,
            attempts: record.attempts,
            is_confirmed: record.basis == Basis::Confirmed,
        })
    }
}

impl PatternStory {
    fn of(pattern: &ClosedPattern) -> Self {
        Self {
            name: pattern.name.clone(),
            kind: pattern.kind.as_str(),
            requested: pattern.requested,
            left_out: pattern.left_out,
            not_requested: pattern.not_requested,
            example: pattern.example.to_string(),
        }
    }
}

impl KnownSince {
    fn of(page: &Page) -> Self {
        let since = page.dates.as_ref().and_then(|dates| dates.since_seconds);
        Self {
            first_seen: page.first_seen,
            last_seen: page.last_seen,
            failing_since: page.record.failing_since,
            gone_since: page.record.gone_since,
            content_since: since.and_then(|seconds| Timestamp::from_second(seconds).ok()),
        }
    }
}

impl UnderWay {
    fn of(reason: Reason) -> Self {
        Self {
            reason: reason.code(),
            why: reason.text(),
        }
    }
}
