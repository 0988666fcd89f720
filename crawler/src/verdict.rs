//! The verdict on a page, and the links that are followed: the decision table as pure functions of stored
//! facts: the same facts under the same settings give the same verdict, during the crawl and whenever
//! they are judged again.
//!
//! [`judge`] decides from one page alone, right after it was read. [`settle_canonicals`] decides what depends on
//! other pages (redirect loops, canonical targets that cannot be listed), once they are known;
//! it does not depend on the order in which they became known. Nothing here fetches, stores or queues.
//!
//! The table follows Google Search Central ("Robots meta tag", "Redirects", "How to specify a canonical
//! URL", "HTTP status codes") and RFC 9110; a sitemap holds canonical, indexable URLs that answer 200.

mod at_rest;
mod fingerprint;
mod judge;
mod merge;
mod removal;

#[cfg(test)]
mod tests;

use jiff::Timestamp;

use crate::{
    page::{
        BodyEnd, BodyKind, Canonical, Mark, Outcome, PageFacts, PageRecord, Reason, Repeat, State,
        Via, Warnings,
    },
    scope::{Judgement, Scope},
    url_key::{UrlKey, has_presumed_parameters, is_alike},
};

pub(crate) use self::at_rest::RulesAtRest;
pub(crate) use self::fingerprint::{identity_of, read_as};
pub use self::judge::Judge;
pub use self::merge::{Lookup, Merged, MergedBy, Merging, Mode, Rows};
pub use self::removal::{GONE_AGAIN_AFTER, Stays, stays};

/// Hops of a redirect chain, or of a chain of canonical links, that are followed: Google gives up
/// after the tenth redirect.
pub const MAX_HOPS: usize = 10;

/// The statements of a page that count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// `noindex` and `unavailable_after` do not keep a page out. Default: they do.
    pub ignore_noindex: bool,
    /// No canonical link counts. Default: all do.
    pub ignore_canonical: bool,
    /// Pages that have no new text are listed, all but copies by query. Default: they are not.
    pub ignore_repeats: bool,
}

/// The links that are taken from a page into the crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// Nothing.
    Nothing,
    /// The target to which the page sends its readers: redirect, meta refresh, canonical link.
    TargetOnly,
    /// That, and its links.
    All,
}

/// The decision on one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Why the page is in its state; [`Reason::state`] is the state.
    pub reason: Reason,
    /// The links that are taken from it.
    pub follow: Follow,
    /// Warnings, which are not part of the decision.
    pub warnings: Warnings,
}

/// A page in outline, as [`settle_canonicals`] needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSummary {
    /// The reason in its record, settled or not.
    pub reason: Reason,
    /// The page that it leads to instead of being listed: the target of its redirect, meta refresh or canonical link.
    pub next: Option<UrlKey>,
    /// The target was asked for and answered.
    pub is_answered: bool,
    /// The answer sets a cookie.
    pub sets_cookie: bool,
}

/// Judges the last attempt at `key`. A page that a 304 confirms is judged by the facts of the earlier answer.
///
/// The first row that matches decides: the user's scope rules, status, body, kind of content, immediate
/// meta refresh, follow-only and page rules, noindex, `unavailable_after`, canonical link, what the page repeats.
pub fn judge(
    key: &UrlKey,
    outcome: &Outcome,
    scope: &Scope,
    policy: &Policy,
    now: Timestamp,
) -> Verdict {
    let without_links = |reason| Verdict {
        reason,
        follow: Follow::Nothing,
        warnings: Warnings::default(),
    };
    let standing = scope.judge(key);
    match standing {
        // Settings may have changed since the URL became known.
        Judgement::Outside => return without_links(Reason::ExcludedByRule),
        Judgement::Excluded(reason) => return without_links(reason),
        // Not even the user's rule lists what robots.txt disallows.
        Judgement::ListOnly if *outcome == Outcome::NotFetched(Reason::RobotsDisallowed) => {}
        Judgement::ListOnly => return without_links(Reason::ListOnly),
        Judgement::FollowOnly | Judgement::Inside => {}
    }
    match outcome {
        // A rule that is gone no longer decides anything.
        Outcome::NotFetched(Reason::ExcludedByRule | Reason::ListOnly) => {
            without_links(Reason::Queued)
        }
        // A page that is listed as it was published is judged by no rule.
        Outcome::NotFetched(Reason::NotReached) if standing == Judgement::FollowOnly => {
            without_links(Reason::FollowOnly)
        }
        Outcome::NotFetched(reason @ (Reason::PatternClosed | Reason::DuplicateOf))
            if policy.ignore_repeats =>
        {
            // What is left out of URLs from the start is no pattern.
            let is_short = *reason == Reason::DuplicateOf && has_presumed_parameters(key);
            without_links(if is_short { *reason } else { Reason::Queued })
        }
        Outcome::NotFetched(reason) => without_links(*reason),
        Outcome::NoAnswer { .. } => without_links(Reason::NetworkError),
        Outcome::Supplied(_) => without_links(match standing {
            Judgement::FollowOnly => Reason::FollowOnly,
            Judgement::Outside
            | Judgement::Excluded(_)
            | Judgement::ListOnly
            | Judgement::Inside => Reason::FromInput,
        }),
        Outcome::Answered(facts) => {
            let page = Answer {
                key,
                facts,
                standing,
                scope,
                policy,
                now,
            };
            let (reason, follow) = page.decide();
            let mut warnings = facts.warnings;
            warnings.conflicting_canonicals |= facts.canonical == Canonical::Conflicting;
            Verdict {
                reason,
                follow,
                warnings,
            }
        }
    }
}

/// The URLs that `follow` takes from a page, with the way in which they were found. Scope is judged by the caller.
pub fn targets(
    facts: &PageFacts,
    follow: Follow,
    ignores_nofollow: bool,
) -> impl Iterator<Item = (&UrlKey, Via, &str)> {
    let canonical = facts.canonical.other();
    let sent_to = [
        facts
            .location
            .as_ref()
            .map(|target| (target, Via::Redirect, "")),
        facts
            .refresh
            .as_ref()
            .map(|refresh| (&refresh.target, Via::Refresh, "")),
        canonical.map(|target| (target, Via::Canonical, "")),
    ];
    let links = facts
        .links
        .iter()
        .enumerate()
        .filter(move |(_, link)| ignores_nofollow || !link.nofollow)
        .map(|(number, link)| (&link.target, link.via, facts.link_texts.get(number)));
    let (takes_targets, takes_links) = match follow {
        Follow::Nothing => (false, false),
        Follow::TargetOnly => (true, false),
        Follow::All => (true, true),
    };
    let sent_to = sent_to.into_iter().flatten().filter(move |_| takes_targets);
    sent_to.chain(links.filter(move |_| takes_links))
}

/// The reason of a page in the light of other pages, when it is another than that of `record`: loops and chains of redirects,
/// loops and dead ends of canonical links. `lookup` returns the outline of a URL; a chain has at most [`MAX_HOPS`]
/// pages, and the redirects of each canonical link as many.
///
/// A page that leads into a loop counts as part of it. Of a canonical chain that ends at a listed page, that page alone is
/// listed. [`Reason::Listed`]: the page is its own canonical URL, because the redirects of its canonical link end at it, or
/// because the link differs from it in spelling alone and did not answer.
pub fn settle_canonicals(
    key: &UrlKey,
    record: &PageRecord,
    lookup: &mut dyn FnMut(&UrlKey) -> Option<PageSummary>,
) -> Option<Reason> {
    let brief = PageSummary::of(record);
    // Without a target it is no chain.
    let chain = Chain::of(brief.reason).filter(|_| brief.next.is_some())?;
    let end = chain.end(key, brief, lookup);
    let reason = match (chain, end) {
        (Chain::Redirects, ChainEnd::Loop { sets_cookie: true }) => Reason::NeedsCookie,
        (Chain::Redirects, ChainEnd::Loop { .. }) => Reason::RedirectLoop,
        (Chain::Redirects, ChainEnd::TooLong) => Reason::TooManyRedirects,
        (Chain::Redirects, ChainEnd::Unknown | ChainEnd::At(_) | ChainEnd::Own(_)) => {
            Reason::Redirected
        }
        (Chain::Canonicals, ChainEnd::Own(page)) if page == *key => Reason::Listed,
        (Chain::Canonicals, ChainEnd::Loop { .. }) => Reason::CanonicalLoop,
        (Chain::Canonicals, ChainEnd::TooLong) => Reason::CanonicalBroken,
        (Chain::Canonicals, ChainEnd::Unknown | ChainEnd::Own(_)) => Reason::CanonicalElsewhere,
        (Chain::Canonicals, ChainEnd::At(target)) => match target.state() {
            State::Listed | State::Queued => Reason::CanonicalElsewhere,
            State::Excluded | State::Failed => Reason::CanonicalBroken,
        },
    };
    (reason != record.reason).then_some(reason)
}

/// The page that a page leads to instead of being listed.
fn target_of(record: &PageRecord) -> Option<&UrlKey> {
    if record.reason.has(Mark::ByCanonical) {
        record.facts()?.canonical.other()
    } else {
        record.redirect_target()
    }
}

impl PageSummary {
    /// The brief of a stored record.
    pub fn of(record: &PageRecord) -> Self {
        Self {
            reason: record.reason,
            next: target_of(record).cloned(),
            is_answered: matches!(record.outcome, Some(Outcome::Answered(_))),
            sets_cookie: (record.facts()).is_some_and(|facts| facts.warnings.sets_cookie),
        }
    }

    fn is_redirect(&self) -> bool {
        self.reason.has(Mark::ByLocation) || self.reason.has(Mark::ByRefresh)
    }
}

/// An answer and everything it is judged by.
struct Answer<'a> {
    key: &'a UrlKey,
    facts: &'a PageFacts,
    standing: Judgement,
    scope: &'a Scope,
    policy: &'a Policy,
    now: Timestamp,
}

impl Answer<'_> {
    fn decide(&self) -> (Reason, Follow) {
        self.by_status()
            .or_else(|| self.by_body())
            .or_else(|| self.by_refresh())
            .unwrap_or_else(|| {
                (
                    self.by_rules()
                        .or_else(|| self.by_directives())
                        .or_else(|| self.by_canonical())
                        .or_else(|| self.by_repeat())
                        .unwrap_or(Reason::Listed),
                    self.follow(),
                )
            })
    }

    /// `None` for 200.
    fn by_status(&self) -> Option<(Reason, Follow)> {
        let reason = match self.facts.status {
            200 => return None,
            300..=303 | 307 | 308 => return Some(self.by_location()),
            // Not modified, but nothing is stored: the request was not conditional.
            100..=199 | 204 | 205 | 304 => Reason::Empty,
            201..=299 => Reason::OtherSuccess,
            // 305 and 306 must not be followed (RFC 9110 sections 15.4.6 and 15.4.7), others have no meaning.
            305..=399 => Reason::BadRedirect,
            _ if self.facts.warnings.challenge => Reason::Blocked,
            404 | 410 => Reason::Gone,
            400 | 403 if self.facts.warnings.sets_cookie => Reason::NeedsCookie,
            400..=428 | 430..=499 => Reason::ClientError,
            // An invalid status counts as 5xx (RFC 9110 section 15).
            0..=99 | 429 | 500.. => Reason::ServerError,
        };
        Some((reason, Follow::Nothing))
    }

    fn by_location(&self) -> (Reason, Follow) {
        match &self.facts.location {
            None => (Reason::BadRedirect, Follow::Nothing),
            Some(target) if target == self.key && self.facts.warnings.sets_cookie => {
                (Reason::NeedsCookie, Follow::Nothing)
            }
            Some(target) if target == self.key => (Reason::RedirectLoop, Follow::Nothing),
            Some(target) if !self.scope.contains(target) => {
                (Reason::RedirectedOutOfScope, Follow::Nothing)
            }
            Some(_) => (Reason::Redirected, Follow::TargetOnly),
        }
    }

    /// `None` for a page or document that can be judged by its facts.
    fn by_body(&self) -> Option<(Reason, Follow)> {
        match (&self.facts.end, self.facts.kind) {
            // The links that were read before the page broke off count.
            (BodyEnd::TooLarge, _) => Some((Reason::TooLarge, self.follow())),
            (BodyEnd::CutShort, _) => Some((Reason::CutShort, self.follow())),
            (BodyEnd::Undecodable(_), _) => Some((Reason::Undecodable, Follow::Nothing)),
            (BodyEnd::Complete, _) if self.facts.body_bytes == 0 => {
                Some((Reason::Empty, Follow::Nothing))
            }
            (BodyEnd::Complete | BodyEnd::Skipped, BodyKind::Other) => {
                Some((Reason::NotAPage, Follow::Nothing))
            }
            (BodyEnd::Skipped, BodyKind::Page) => Some((Reason::Unparsable, Follow::Nothing)),
            // After the cut there may be a noindex, or another canonical URL.
            (BodyEnd::Complete, BodyKind::Page) if self.facts.warnings.parse_cut => {
                Some((Reason::Unparsable, self.follow()))
            }
            (BodyEnd::Complete, BodyKind::Page)
            | (BodyEnd::Complete | BodyEnd::Skipped, BodyKind::Document) => None,
        }
    }

    /// A meta refresh at once to another URL is a permanent redirect, a later one a temporary one that
    /// leaves the page in place (Google Search Central, "Redirects").
    fn by_refresh(&self) -> Option<(Reason, Follow)> {
        let refresh = self
            .facts
            .refresh
            .as_ref()
            .filter(|refresh| refresh.target != *self.key)?;
        (refresh.delay_seconds == 0).then_some((Reason::RefreshRedirect, Follow::TargetOnly))
    }

    /// The user's rules for pages that were read.
    fn by_rules(&self) -> Option<Reason> {
        match self.standing {
            Judgement::FollowOnly => Some(Reason::FollowOnly),
            Judgement::Outside
            | Judgement::Excluded(_)
            | Judgement::ListOnly
            | Judgement::Inside => self.facts.excluded_by_page_rule.then_some(Reason::PageRule),
        }
    }

    fn by_directives(&self) -> Option<Reason> {
        let directives = self.facts.directives;
        if self.policy.ignore_noindex {
            None
        } else if directives.noindex {
            Some(if self.other_canonical().is_some() {
                Reason::NoindexAndCanonical
            } else {
                Reason::Noindex
            })
        } else {
            directives
                .unavailable_after
                .filter(|end| *end <= self.now)
                .map(|_| Reason::UnavailableAfter)
        }
    }

    fn by_canonical(&self) -> Option<Reason> {
        let target = self.other_canonical()?;
        Some(if self.scope.contains(target) {
            Reason::CanonicalElsewhere
        } else {
            Reason::CanonicalForeign
        })
    }

    /// A page that other pages make superfluous.
    fn by_repeat(&self) -> Option<Reason> {
        match self.facts.repeat.as_ref()? {
            Repeat::DuplicateOf(_) => Some(Reason::DuplicateOf),
            _ if self.policy.ignore_repeats => None,
            Repeat::NothingNew => Some(Reason::NothingNew),
            Repeat::NotFound => Some(Reason::NotFoundPage),
            // The next session judges it by all that was read by then.
            Repeat::Waits => Some(Reason::Queued),
        }
    }

    /// The canonical URL when it is another one and counts.
    fn other_canonical(&self) -> Option<&UrlKey> {
        let target = self.facts.canonical.other()?;
        (target != self.key && !self.policy.ignore_canonical).then_some(target)
    }

    /// `nofollow` is about links; the target of a redirect is not a link. Documents are not read for links,
    /// but a `Link` header may name their canonical URL.
    fn follow(&self) -> Follow {
        let is_end = matches!(self.facts.repeat, Some(Repeat::NotFound));
        match self.facts.kind {
            _ if is_end && !self.policy.ignore_repeats => Follow::TargetOnly,
            BodyKind::Page if !self.facts.directives.nofollow => Follow::All,
            BodyKind::Page | BodyKind::Document | BodyKind::Other => Follow::TargetOnly,
        }
    }
}

/// Pages that point to another page instead of being listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chain {
    Redirects,
    Canonicals,
}

/// How a chain ends.
enum ChainEnd {
    /// The chain comes back to a page it went through.
    Loop {
        /// A page on the way sets a cookie.
        sets_cookie: bool,
    },
    /// The chain goes on after [`MAX_HOPS`].
    TooLong,
    /// At a page that is not known.
    Unknown,
    /// At a page that is decided for this reason.
    At(Reason),
    /// At this page, whose canonical link means the page itself.
    Own(UrlKey),
}

impl Chain {
    /// The chain that a page with this reason belongs to. A reason that [`settle_canonicals`] returned counts as the one that it was given,
    /// so that the order in which pages are settled does not matter.
    fn of(reason: Reason) -> Option<Self> {
        if reason.has(Mark::ByLocation) {
            Some(Self::Redirects)
        } else if reason.has(Mark::ByCanonical) {
            Some(Self::Canonicals)
        } else {
            None
        }
    }

    fn end(
        self,
        key: &UrlKey,
        brief: PageSummary,
        lookup: &mut dyn FnMut(&UrlKey) -> Option<PageSummary>,
    ) -> ChainEnd {
        let mut seen = Vec::new();
        let mut page = key.clone();
        let mut sets_cookie = brief.sets_cookie;
        let mut current = brief;
        for _ in 0..MAX_HOPS {
            let Some(next) = current.next else {
                return ChainEnd::Unknown;
            };
            let brief = lookup(&next);
            if self == Self::Canonicals && leads_back(&page, &next, brief.as_ref(), lookup) {
                return ChainEnd::Own(page);
            }
            seen.push(page);
            if seen.contains(&next) {
                return ChainEnd::Loop { sets_cookie };
            }
            let Some(brief) = brief else {
                return ChainEnd::Unknown;
            };
            if Self::of(brief.reason) != Some(self) {
                return ChainEnd::At(brief.reason);
            }
            page = next;
            sets_cookie |= brief.sets_cookie;
            current = brief;
        }
        ChainEnd::TooLong
    }
}

/// Returns whether the redirects of `target` end at `page`, or may: it is the same but for its spelling, and did not answer.
fn leads_back(
    page: &UrlKey,
    target: &UrlKey,
    brief: Option<&PageSummary>,
    lookup: &mut dyn FnMut(&UrlKey) -> Option<PageSummary>,
) -> bool {
    let mut at = target.clone();
    let mut brief = brief.cloned();
    for _ in 0..MAX_HOPS {
        let Some(hop) = brief.filter(|hop| hop.is_answered) else {
            return is_alike(page, &at);
        };
        let Some(next) = hop.next.clone().filter(|_| hop.is_redirect()) else {
            return false;
        };
        if next == *page {
            return true;
        }
        brief = lookup(&next);
        at = next;
    }
    false
}
