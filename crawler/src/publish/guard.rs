//! May a run replace the published set? A pure judgement on plain numbers; it reads no store and no file.
//!
//! | objection | when |
//! | --- | --- |
//! | fewer | less than `min_listed_share` of the published set would be listed, and [`MIN_LOSS`] URLs fewer |
//! | gone | the same of what would be left without the pages that stay only because one 404 proves nothing |
//! | start | the start page has no content, or cannot be read, and so would leave the set |
//! | failing | more than `max_error_share` of the known URLs could not be fetched |
//! | alike | more than `max_alike_share` of the pages of the published set changed and are now one content, one text, under one title, a form that asks for a password, or redirect to one URL; each by itself or where it redirects to |
//! | grown | more than `max_growth` times as many URLs would be listed, and [`MIN_GROWTH`] more |
//!
//! What was so already when a set was published last, or published with force, is how the site is: shares are
//! compared with those of then. Nothing is refused for ever that a person has looked at once.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{
    config::{GuardConfig, Share},
    page::Reason,
};

/// URLs that a set must lose before that is refused: a small site loses a section in one edit.
const MIN_LOSS: u64 = 20;

/// URLs that a set must win before that is held.
const MIN_GROWTH: u64 = 1_000;

/// Pages that must be alike; fewer are one edit of a person, unless they are all there are, the start page aside.
const MIN_ALIKE: u64 = 5;

/// Reasons that a refusal names at most.
const MAX_REASONS: usize = 3;

/// In what pages are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alike {
    /// They redirect to the same URL, its query aside.
    Target,
    /// What they say is the same.
    Content,
    /// What they say differs in few words.
    Text,
    /// They ask for a password.
    Form,
    /// They have the same title, numbers and addresses aside.
    Title,
}

impl Alike {
    /// The word for it in the state.
    fn word(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Content => "content",
            Self::Text => "text",
            Self::Form => "form",
            Self::Title => "title",
        }
    }
}

/// Pages that are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) alike: Alike,
    /// What they share, as a fingerprint.
    pub(super) key: u64,
    pub(super) pages: u64,
    /// One of them; of redirects, where they lead.
    pub(super) example: String,
}

/// What became of the pages of the published set in a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct OldSet {
    /// All of them.
    pub(super) pages: u64,
    /// Those that said something in this run.
    pub(super) heard: u64,
    /// Those that are not listed any more, by reason.
    pub(super) lost: BTreeMap<Reason, u64>,
    /// Those that are listed only because one answer 404 proves nothing.
    pub(super) gone_once: u64,
    /// Those that are not listed any more because they answered 404 again.
    pub(super) gone_again: u64,
    /// Pages that left an earlier set, and redirect.
    pub(super) moved: u64,
    /// Why the start page is not listed any more, when it says nothing of why it should not be.
    pub(super) start: Option<Reason>,
    /// Those that this run does not know.
    pub(super) unknown: u64,
    /// The largest groups of each kind among those that said something else than when they were published.
    pub(super) groups: Vec<Group>,
}

/// How the site was when it was published last; kept in the state.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Remembered {
    /// Every known URL was decided.
    pub(super) is_complete: bool,
    /// Share of the known URLs that could not be fetched.
    pub(super) failing: Share,
    /// Pages that were published although they had answered 404, once.
    #[serde(default)]
    pub(super) gone_once: u64,
    /// Listed pages that were looked at for what they share; none of a set that was built from lists.
    #[serde(default)]
    pub(super) seen: u64,
    /// Shares of the listed pages that are alike, the largest by [`Group::name`].
    pub(super) alike: BTreeMap<String, Share>,
}

impl Group {
    /// What a group is remembered as. Of what pages say only the share of the largest group counts: where many are
    /// the same, as the shells of applications are, have nearly the same text, or one title, each edit makes another
    /// group.
    pub(super) fn name(&self) -> String {
        match self.alike {
            Alike::Content | Alike::Text | Alike::Title => self.alike.word().to_owned(),
            Alike::Target | Alike::Form => format!("{}:{:016x}", self.alike.word(), self.key),
        }
    }
}

/// What a run is judged by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Figures {
    /// URLs in the published set; 0: there is none.
    pub(super) before: u64,
    /// URLs that would be listed.
    pub(super) listed: u64,
    /// Known URLs.
    pub(super) known: u64,
    /// Those of them that could not be fetched, listed all the same or not.
    pub(super) failing: u64,
    pub(super) old: OldSet,
    /// What is remembered of the set that stands; nothing where nobody looked when it was published.
    pub(super) last: Remembered,
}

/// One thing that speaks against a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objection {
    /// Too many pages of the published set are alike now.
    Alike {
        /// In what.
        alike: Alike,
        /// How many are.
        pages: u64,
        /// Pages of the published set that said something in this run; of redirects, with those that left earlier.
        of: u64,
        /// One of them; of redirects, where they lead.
        example: String,
    },
    /// Too many URLs could not be fetched.
    Failing {
        /// How many.
        failing: u64,
        /// Of how many known ones.
        known: u64,
    },
    /// The start page would leave without having said so.
    Start {
        /// What is wrong with it.
        reason: Reason,
    },
    /// Too few would be listed.
    Fewer,
    /// Too few would be listed if the pages were gone that answered 404 for the first time.
    Gone {
        /// How many did.
        pages: u64,
    },
    /// So many more would be listed that they may not be pages of the site's own.
    Grown {
        /// The factor that was passed.
        factor: u32,
    },
}

impl Objection {
    /// A stable word for it, for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Alike { alike, .. } => match alike {
                Alike::Target => "one-redirect-target",
                Alike::Content => "one-content",
                Alike::Text => "one-text",
                Alike::Form => "login-form",
                Alike::Title => "one-title",
            },
            Self::Failing { .. } => "failing",
            Self::Start { .. } => "start-page",
            Self::Fewer => "fewer-urls",
            Self::Gone { .. } => "gone",
            Self::Grown { .. } => "many-more-urls",
        }
    }
}

/// Why the published set was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// URLs in the published set.
    pub before: u64,
    /// URLs that would have been listed.
    pub now: u64,
    /// What speaks against it; at least one.
    pub objections: Vec<Objection>,
    /// How many URLs of the published set would have left it, by the words for why; the most first.
    pub lost: Vec<(u64, &'static str)>,
}

/// Judges a run. `None`: it may publish.
pub(super) fn judge(figures: &Figures, config: &GuardConfig) -> Option<Refusal> {
    if figures.before == 0 {
        return None;
    }
    let objections: Vec<Objection> = [
        start(figures, config),
        alike(figures, config),
        failing(figures, config),
        fewer(figures, config),
        grown(figures, config),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!objections.is_empty()).then(|| Refusal {
        before: figures.before,
        now: figures.listed,
        objections,
        lost: lost(&figures.old),
    })
}

/// What is wrong with the start page is a failure; where all may fail, it may too.
fn start(figures: &Figures, config: &GuardConfig) -> Option<Objection> {
    let reason = figures.old.start?;
    (config.max_error_share < Share::ALL).then_some(Objection::Start { reason })
}

fn fewer(figures: &Figures, config: &GuardConfig) -> Option<Objection> {
    let pages = figures.old.gone_once;
    // So many that only a person can have let them through: that these may be gone was looked at then.
    let looked_at = Some(figures.last.gone_once).filter(|pages| *pages >= MIN_LOSS);
    let looked_at = looked_at.map_or(0, |pages| pages.min(figures.old.gone_again));
    let before = figures.before.saturating_sub(looked_at);
    if are_too_few(figures.listed, before, config) {
        Some(Objection::Fewer)
    } else if are_too_few(figures.listed.saturating_sub(pages), before, config) {
        Some(Objection::Gone { pages })
    } else {
        None
    }
}

/// Whether nothing speaks against a run but that it did not come to all pages: what waits to be fetched, or was not met,
/// would make up for what is missing.
pub(super) fn is_for_want_of_time(
    refusal: &Refusal,
    figures: &Figures,
    config: &GuardConfig,
) -> bool {
    let waiting = figures.old.lost.get(&Reason::Queued).copied();
    let with_all = figures.listed + waiting.unwrap_or_default() + figures.old.unknown;
    let are_few = refusal.objections == [Objection::Fewer];
    are_few && !are_too_few(with_all, figures.before, config)
}

fn are_too_few(listed: u64, before: u64, config: &GuardConfig) -> bool {
    let loss = before.saturating_sub(listed);
    Share::of(listed, before) < config.min_listed_share && loss >= MIN_LOSS
}

fn failing(figures: &Figures, config: &GuardConfig) -> Option<Objection> {
    let before = figures.last.failing;
    let share = Share::of(figures.failing, figures.known);
    is_over(share, before, config.max_error_share).then_some(Objection::Failing {
        failing: figures.failing,
        known: figures.known,
    })
}

/// The largest group that is too large; the kind that says most, of several.
fn alike(figures: &Figures, config: &GuardConfig) -> Option<Objection> {
    // A wall that grows by a few pages each night has taken those before out of the set already.
    let of = |alike: Alike, pages: u64| match alike {
        Alike::Target => pages + figures.old.moved,
        Alike::Content | Alike::Text | Alike::Form | Alike::Title => pages,
    };
    let is_too_large = |group: &&Group| {
        let pages = of(group.alike, figures.old.pages);
        let heard = of(group.alike, figures.old.heard);
        let are_all = group.pages > 1 && group.pages + 1 >= pages;
        let known = figures.last.alike.get(&group.name());
        let before = known.copied().unwrap_or_default();
        let share = Share::of(group.pages, heard);
        // A crawl may come first, or only, to pages that were alike all the time.
        let are_more = Share::of(group.pages, pages) > before;
        (group.pages >= MIN_ALIKE || are_all)
            && are_more
            && is_over(share, before, config.max_alike_share)
    };
    let groups = figures.old.groups.iter().filter(is_too_large);
    let group = groups.min_by_key(|group| (group.alike, std::cmp::Reverse(group.pages)))?;
    Some(Objection::Alike {
        alike: group.alike,
        pages: group.pages,
        of: of(group.alike, figures.old.heard),
        example: group.example.clone(),
    })
}

fn grown(figures: &Figures, config: &GuardConfig) -> Option<Objection> {
    let factor = config.max_growth?;
    let was_complete = figures.last.is_complete;
    let is_more = figures.listed > figures.before.saturating_mul(u64::from(factor))
        && figures.listed - figures.before > MIN_GROWTH;
    (was_complete && is_more).then_some(Objection::Grown { factor })
}

/// Whether a share is larger than it may be: than `allowed`; where it was larger already, than `allowed` of what
/// was left.
fn is_over(now: Share, before: Share, allowed: Share) -> bool {
    let limit = if before <= allowed {
        allowed
    } else {
        before.with(allowed)
    };
    now > limit
}

fn lost(old: &OldSet) -> Vec<(u64, &'static str)> {
    let known = old
        .lost
        .iter()
        .map(|(reason, count)| (*count, reason.text()));
    let unknown = (old.unknown > 0).then_some((old.unknown, "nothing led to them"));
    let mut lost: Vec<_> = known.chain(unknown).collect();
    lost.sort_by_key(|(count, text)| (std::cmp::Reverse(*count), *text));
    lost.truncate(MAX_REASONS);
    lost
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kept the old set of {} URLs: ", Grouped(self.before))?;
        for (position, objection) in self.objections.iter().enumerate() {
            if position > 0 {
                f.write_str("; ")?;
            }
            self.write_objection(objection, f)?;
        }
        f.write_str("; publish anyway with --force")
    }
}

impl Refusal {
    fn write_objection(&self, objection: &Objection, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match objection {
            Objection::Alike {
                alike,
                pages,
                of,
                example,
            } => {
                let (pages, of) = (Grouped(*pages), Grouped(*of));
                write!(f, "{pages} of {of} pages in it that answered now ")?;
                match alike {
                    Alike::Target => write!(f, "redirect to {example}")?,
                    Alike::Content => write!(f, "say the same, as {example} does")?,
                    Alike::Text => write!(f, "say nearly the same, as {example} does")?,
                    Alike::Form => write!(f, "ask for a password, as {example} does")?,
                    Alike::Title => write!(f, "have the same title, that of {example}")?,
                }
                f.write_str(
                    " (a login wall, a parked domain, maintenance, \"not found\" with status 200?)",
                )
            }
            Objection::Failing { failing, known } => write!(
                f,
                "{} of {} known URLs could not be fetched",
                Grouped(*failing),
                Grouped(*known)
            ),
            Objection::Fewer => {
                let loss = self.before.saturating_sub(self.now);
                let percent = Share::of(loss, self.before).percent();
                let now = Grouped(self.now);
                write!(f, "this crawl would list only {now} (-{percent} %)")?;
                for (position, (count, text)) in self.lost.iter().enumerate() {
                    f.write_str(if position == 0 { ", without " } else { ", " })?;
                    write!(f, "{} ({text})", Grouped(*count))?;
                }
                Ok(())
            }
            Objection::Start { reason } => write!(f, "the start page: {}", reason.text()),
            Objection::Gone { pages } => {
                write!(f, "{} pages in it answer 404 now", Grouped(*pages))
            }
            Objection::Grown { factor } => write!(
                f,
                "this crawl would list {}, more than {factor} times as many: pages without end, or pages that are not \
                 yours?",
                Grouped(self.now)
            ),
        }
    }
}

/// A number with a comma between groups of three digits.
struct Grouped(u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (position, digit) in digits.chars().enumerate() {
            if position > 0 && (digits.len() - position).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
