//! Decides whether a crawl may replace the published set. A pure function on counts; it reads no store and no file.
//!
//! | objection | when |
//! | --- | --- |
//! | `start-page` | the start URL has no 200 with content after its redirects |
//! | `fewer-urls` | less than `min_listed_share` of the published URLs and at least [`MIN_LOSS`] fewer, or under half of at least [`MIN_SMALL`]; what the user's own rules remove is not counted as lost |
//! | `many-more-urls` | more than `max_growth` times as many, and at least [`MIN_GROWTH`] more, than a complete crawl published |
//! | `failing` | more than `max_error_share`, and at least [`MIN_FAILING`], of the URLs asked for in this crawl failed |
//! | `alike` | more than `max_alike_share`, and at least [`MIN_ALIKE`], of the published pages that answered now share a sign, and fewer did when they were published |
//! | `alike`, nothing published yet | more than half of what would be listed, and at least [`MIN_FIRST_ALIKE`] pages that no sitemap of the site names, have one text but for times and ids, or one title and a password field |
//! | `script-shell`, nothing published yet | the start page is filled by scripts, and nothing else would be listed |
//!
//! "Published" is the set that was published when the crawl began, also after sessions of the crawl published another one.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    config::{GuardConfig, Share},
    human,
    notes::grouped,
    page::{ContentHash, CrawlId, Mark, PageFacts, Promotion, Reason},
    url_key::UrlKey,
};

/// URLs that a set must lose before that is refused: a small site loses a section in one edit.
const MIN_LOSS: u64 = 20;

/// Published URLs of which half must stay, however few they are.
const MIN_SMALL: u64 = 5;

/// URLs by which a set must grow before that is refused.
const MIN_GROWTH: u64 = 1_000;

/// URLs that must fail before a set is refused.
const MIN_FAILING: u64 = 20;

/// Pages that must be alike: fewer are one edit.
const MIN_ALIKE: u64 = 5;

/// The same where nothing is published yet, and the crawl can be compared with nothing.
const MIN_FIRST_ALIKE: u64 = 20;

/// Groups that are counted at once. A group that has more than a thousandth of the pages is never missed, and counted at
/// most by a thousandth of the pages too low (Misra and Gries, "Finding repeated elements", 1982).
const MAX_GROUPS: usize = 1_000;

/// The number of reasons that a refusal names at most.
const MAX_REASONS: usize = 3;

/// The counts that the guard compares with, as the state has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Baseline {
    /// The number of a crawl.
    pub(super) crawl: CrawlId,
    /// URLs that were published when it began.
    pub(super) published: u64,
    /// URLs that the last complete crawl published.
    pub(super) complete: Option<u64>,
}

/// The sign that alike pages share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alike {
    /// The pages redirect to one URL, its query aside.
    Target,
    /// The pages have one main-content hash.
    Content,
    /// The pages have one title and ask for a password.
    Login,
}

impl Alike {
    /// The sign as the end of a sentence about the pages.
    fn text(self) -> &'static str {
        match self {
            Self::Target => "redirect to one URL",
            Self::Content => "have the same content",
            Self::Login => "have one title and ask for a password",
        }
    }
}

/// The signs of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Signs {
    content: Option<u64>,
    /// The title of a page that asks for a password.
    login: Option<u64>,
    target: Option<u64>,
}

impl Signs {
    /// The signs of an answer; of an answer that redirects, `end` is the page at the end of the redirects.
    pub(super) fn of(facts: &PageFacts, end: Option<&PageFacts>) -> Self {
        let of = |facts: &PageFacts| {
            let title = facts.title.as_deref().unwrap_or_default();
            Self {
                content: facts.content_as_shown().map(mark),
                login: (facts.warnings.password_field).then(|| xxh3_64(title.as_bytes())),
                target: None,
            }
        };
        let target = facts.location.as_ref().map(UrlKey::as_str);
        Self {
            target: target.map(hash_of_target),
            ..of(end.unwrap_or(facts))
        }
    }

    /// The signs of a page that is listed for the first time: its whole text, since pages that differ in numbers are pages.
    pub(super) fn of_first(facts: &PageFacts) -> Self {
        Self {
            content: facts.text.as_ref().map(|text| text.alike),
            ..Self::of(facts, None)
        }
    }

    /// The signs that a promoted page had when the crawl began.
    pub(super) fn when_promoted(promotion: &Promotion) -> Self {
        let title = promotion.title.as_deref().unwrap_or_default();
        Self {
            content: promotion.content,
            login: (promotion.has_password).then(|| xxh3_64(title.as_bytes())),
            target: promotion.target.as_deref().map(hash_of_target),
        }
    }

    fn each(&self) -> [(Alike, Option<u64>); 3] {
        [
            (Alike::Target, self.target),
            (Alike::Content, self.content),
            (Alike::Login, self.login),
        ]
    }
}

/// The lower half of a content hash.
pub(super) fn mark(ContentHash(hash): ContentHash) -> u64 {
    u64::try_from(hash & u128::from(u64::MAX)).unwrap_or_default()
}

fn hash_of_target(url: &str) -> u64 {
    xxh3_64(url.split('?').next().unwrap_or(url).as_bytes())
}

/// The number of pages that share a value, in bounded memory.
#[derive(Debug, Default)]
struct Groups {
    /// By value: the number of pages, and one of them.
    of: HashMap<u64, (u64, String)>,
}

impl Groups {
    fn add(&mut self, sign: u64, example: &str) {
        if let Some((count, _)) = self.of.get_mut(&sign) {
            *count += 1;
        } else if self.of.len() < MAX_GROUPS {
            self.of.insert(sign, (1, example.to_owned()));
        } else {
            self.of.retain(|_, (count, _)| {
                *count -= 1;
                *count > 0
            });
        }
    }

    fn largest(&self) -> Option<(u64, &str)> {
        let groups = self.of.values();
        let largest = groups.max_by_key(|(count, example)| (*count, std::cmp::Reverse(example)));
        largest.map(|(count, example)| (*count, &**example))
    }
}

/// The numbers of the guard, counted in a pass over the view.
#[derive(Debug, Default)]
pub(super) struct GuardCounts {
    /// URLs that would be listed.
    pub(super) listed: u64,
    /// URLs that were asked for in this crawl.
    pub(super) asked: u64,
    /// Number of them that failed.
    pub(super) failed: u64,
    /// Number of the others that answered 400 or 431: the server refuses the requests as they are.
    pub(super) refused: u64,
    /// `true` when the start URL has a 200 with content; `None`: it was not requested.
    pub(super) has_start: Option<bool>,
    /// Published URLs that are not listed any more, by reason.
    pub(super) lost: BTreeMap<Reason, u64>,
    /// Published pages that answered.
    answered: u64,
    now: BTreeMap<Alike, Groups>,
    then: BTreeMap<Alike, Groups>,
    /// Signs of pages that are listed for the first time and that no sitemap of the site names.
    first: BTreeMap<Alike, Groups>,
    /// The start page is filled by scripts.
    pub(super) has_shell_start: bool,
}

impl GuardCounts {
    /// Counts an answer of a published page.
    pub(super) fn answered(&mut self, url: &str, now: &Signs, then: &Signs) {
        self.answered += 1;
        for (groups, signs) in [(&mut self.now, now), (&mut self.then, then)] {
            for (alike, sign) in signs.each() {
                if let Some(sign) = sign {
                    groups.entry(alike).or_default().add(sign, url);
                }
            }
        }
    }

    /// Counts a page that is listed for the first time and that no sitemap of the site names.
    pub(super) fn first_listed(&mut self, url: &str, signs: &Signs) {
        for (alike, sign) in signs.each() {
            if let Some(sign) = sign {
                self.first.entry(alike).or_default().add(sign, url);
            }
        }
    }

    /// Counts a published URL that is not listed any more.
    pub(super) fn lost(&mut self, reason: Reason) {
        *self.lost.entry(reason).or_default() += 1;
    }

    fn removed_by_rules(&self) -> u64 {
        let lost = self.lost.iter();
        let own = lost.filter(|(reason, _)| reason.has(Mark::UserRule));
        own.map(|(_, count)| count).sum()
    }
}

/// An objection to a crawl; see the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objection {
    /// The start URL has no 200 with content.
    StartPage,
    /// Too few would be listed.
    FewerUrls {
        /// Published URLs, without those that the user's own rules remove.
        of: u64,
    },
    /// Too many would be listed.
    ManyMoreUrls {
        /// URLs that the last complete crawl published.
        complete: u64,
    },
    /// Too many URLs failed.
    Failing {
        /// URLs that failed.
        failed: u64,
        /// URLs that were asked for.
        asked: u64,
    },
    /// Too many published pages share a sign now.
    Alike {
        /// The sign.
        alike: Alike,
        /// Pages that share it.
        pages: u64,
        /// Published pages that answered; where nothing was published, the pages that would be listed.
        of: u64,
        /// One of them.
        example: String,
    },
    /// The start page is filled by scripts, and nothing else would be listed.
    ScriptShell,
}

impl Objection {
    /// The stable code, for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::StartPage => "start-page",
            Self::FewerUrls { .. } => "fewer-urls",
            Self::ManyMoreUrls { .. } => "many-more-urls",
            Self::Failing { .. } => "failing",
            Self::Alike { .. } => "alike",
            Self::ScriptShell => "script-shell",
        }
    }
}

/// The refusal of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// URLs that were published when the crawl began.
    pub before: u64,
    /// URLs that would have been listed.
    pub now: u64,
    /// The objections, at least one.
    pub objections: Vec<Objection>,
    /// The number of published URLs that would have left the set, by reason; the largest first.
    pub lost: Vec<(u64, &'static str)>,
}

/// Judges a crawl. `None`: it may publish.
pub(super) fn judge(
    counts: &GuardCounts,
    baseline: &Baseline,
    config: &GuardConfig,
) -> Option<Refusal> {
    let objections: Vec<Objection> = [
        (counts.has_start == Some(false)).then_some(Objection::StartPage),
        fewer(counts, baseline, config),
        many_more(counts, baseline, config),
        failing(counts, baseline, config),
        alike(counts, config),
        first_alike(counts, baseline, config),
        script_shell(counts, baseline, config),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut lost: Vec<_> = counts.lost.iter().collect();
    lost.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let lost = lost.into_iter().take(MAX_REASONS);
    (!objections.is_empty()).then(|| Refusal {
        before: baseline.published,
        now: counts.listed,
        objections,
        lost: lost
            .map(|(reason, count)| (*count, reason.text()))
            .collect(),
    })
}

fn fewer(counts: &GuardCounts, baseline: &Baseline, config: &GuardConfig) -> Option<Objection> {
    let of = baseline.published.saturating_sub(counts.removed_by_rules());
    let loss = of.saturating_sub(counts.listed);
    let share = Share::of(counts.listed, of);
    let are_few = share < config.min_listed_share && loss >= MIN_LOSS;
    let are_half = config.min_listed_share > Share::NONE
        && of >= MIN_SMALL
        && counts.listed.saturating_mul(2) < of;
    (are_few || are_half).then_some(Objection::FewerUrls { of })
}

fn many_more(counts: &GuardCounts, baseline: &Baseline, config: &GuardConfig) -> Option<Objection> {
    let complete = baseline.complete.filter(|complete| *complete > 0)?;
    let most = complete.saturating_mul(u64::from(config.max_growth?));
    let is_over = counts.listed > most && counts.listed - complete >= MIN_GROWTH;
    is_over.then_some(Objection::ManyMoreUrls { complete })
}

/// In a first crawl also nine tenths of answers that refuse the requests are too many.
fn failing(counts: &GuardCounts, baseline: &Baseline, config: &GuardConfig) -> Option<Objection> {
    let GuardCounts { failed, asked, .. } = *counts;
    let is_over = Share::of(failed, asked) > config.max_error_share && failed >= MIN_FAILING;
    let troubled = failed + counts.refused;
    let is_refused = baseline.published == 0
        && config.max_error_share < Share::ALL
        && troubled >= MIN_FAILING
        && troubled.saturating_mul(10) >= asked.saturating_mul(9);
    let failed = if is_over { failed } else { troubled };
    (is_over || is_refused).then_some(Objection::Failing { failed, asked })
}

/// The largest group that is too large.
fn alike(counts: &GuardCounts, config: &GuardConfig) -> Option<Objection> {
    let of = counts.answered;
    let groups = counts.now.iter().filter_map(|(alike, groups)| {
        let (pages, example) = groups.largest()?;
        let before = counts.then.get(alike).and_then(Groups::largest);
        let is_over = Share::of(pages, of) > config.max_alike_share
            && pages >= MIN_ALIKE
            && before.is_none_or(|(before, _)| before < pages);
        is_over.then(|| Objection::Alike {
            alike: *alike,
            pages,
            of,
            example: example.to_owned(),
        })
    });
    groups.max_by_key(|objection| match objection {
        Objection::Alike { pages, .. } => *pages,
        _ => 0,
    })
}

/// The largest group of a first crawl, when it is too large.
fn first_alike(
    counts: &GuardCounts,
    baseline: &Baseline,
    config: &GuardConfig,
) -> Option<Objection> {
    if baseline.published > 0 || config.max_alike_share == Share::ALL {
        return None;
    }
    let of = counts.listed;
    let groups = counts.first.iter().filter_map(|(alike, groups)| {
        let (pages, example) = groups.largest()?;
        (pages >= MIN_FIRST_ALIKE && pages * 2 > of).then_some((*alike, pages, example))
    });
    let (alike, pages, example) = groups.max_by_key(|(_, pages, _)| *pages)?;
    Some(Objection::Alike {
        alike,
        pages,
        of,
        example: example.to_owned(),
    })
}

fn script_shell(
    counts: &GuardCounts,
    baseline: &Baseline,
    config: &GuardConfig,
) -> Option<Objection> {
    let is_first = baseline.published == 0 && config.max_alike_share != Share::ALL;
    (is_first && counts.has_shell_start && counts.listed == 1).then_some(Objection::ScriptShell)
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.before == 0 {
            f.write_str("published nothing: ")?;
        } else {
            let before = grouped(self.before);
            write!(f, "kept the published set of {before} URLs: ")?;
        }
        let objections: Vec<String> = self.lines().map(|(_, text)| text).collect();
        f.write_str(&objections.join("; "))
    }
}

impl Refusal {
    /// The objections: the code of each, and what it is about.
    pub fn lines(&self) -> impl Iterator<Item = (&'static str, String)> {
        let objections = self.objections.iter();
        objections.map(|objection| (objection.code(), self.text_of(objection)))
    }

    fn text_of(&self, objection: &Objection) -> String {
        let now = human::count(self.now, "URL");
        match objection {
            Objection::StartPage => {
                "the start URL does not answer 200 with a page that has content; check the start URL in a browser"
                    .to_owned()
            }
            Objection::FewerUrls { of } => {
                let percent = Share::of(of.saturating_sub(self.now), *of).percent();
                let lost = self.lost.iter();
                let lost = lost.map(|(count, text)| format!("; {} {text}", grouped(*count)));
                let lost: String = lost.collect();
                format!("{now} instead of {} (-{percent}%){lost}", grouped(*of))
            }
            Objection::ManyMoreUrls { complete } => {
                let complete = grouped(*complete);
                format!("{now}, {complete} in the last complete crawl")
            }
            Objection::Failing { failed, asked } => {
                let (failed, asked) = (grouped(*failed), grouped(*asked));
                format!("{failed} of {asked} requested URLs failed")
            }
            Objection::ScriptShell => {
                "the start page is rendered by JavaScript, and no other page was found; --render auto runs its scripts, where there is a Chromium; \
                 list the pages by --seeds FILE with --list-only '/**', or build a sitemap of the list: arpent build FILE --base-url URL"
                    .to_owned()
            }
            Objection::Alike {
                alike,
                pages,
                of,
                example,
            } => {
                let (pages, of, text) = (grouped(*pages), grouped(*of), alike.text());
                let guess = if self.before == 0 {
                    "a login page, a placeholder, or one page for all URLs?"
                } else {
                    "a login page, a parked domain, maintenance, or \"not found\" with status 200?"
                };
                format!("{pages} of {of} pages {text}, e.g. {example}: {guess}")
            }
        }
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests;
