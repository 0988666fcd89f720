//! May a run replace the published set? A pure judgement on plain numbers; it reads no store and no file.
//!
//! | objection | when |
//! | --- | --- |
//! | fewer | less than `min_listed_share` of the published set would be listed, and [`MIN_LOSS`] URLs fewer |
//! | failing | more than `max_error_share` of the known URLs could not be fetched |
//! | alike | more than `max_alike_share` of the pages of the published set are now one content, one text, one form that asks for a password, or redirect to one URL |
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

/// Pages that must be alike; fewer are one edit of a person, unless they are all there are.
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
    /// They ask for a password under the same title.
    Form,
}

impl Alike {
    /// The word for it in the state.
    fn word(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Content => "content",
            Self::Text => "text",
            Self::Form => "form",
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
    /// Those that this run does not know.
    pub(super) unknown: u64,
    /// The largest groups of each kind among those that said something.
    pub(super) groups: Vec<Group>,
}

/// How the site was when it was published last; kept in the state.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Remembered {
    /// Every known URL was decided.
    pub(super) is_complete: bool,
    /// Share of the known URLs that could not be fetched.
    pub(super) failing: Share,
    /// Shares of the listed pages that are alike, by [`Group::name`].
    pub(super) alike: BTreeMap<String, Share>,
}

impl Group {
    /// What a group is remembered as. Of contents only the share of the largest group counts: where many pages are
    /// the same, byte for byte, as the shells of applications are, each new version makes another group.
    pub(super) fn name(&self) -> String {
        match self.alike {
            Alike::Content => self.alike.word().to_owned(),
            Alike::Target | Alike::Text | Alike::Form => {
                format!("{}:{:016x}", self.alike.word(), self.key)
            }
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
    /// `None`: a set was published by an arpent that did not look.
    pub(super) last: Option<Remembered>,
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
        /// Pages of the published set that said something in this run.
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
    /// Too few would be listed.
    Fewer,
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
            },
            Self::Failing { .. } => "failing",
            Self::Fewer => "fewer-urls",
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

fn fewer(figures: &Figures, config: &GuardConfig) -> Option<Objection> {
    let loss = figures.before.saturating_sub(figures.listed);
    let share = Share::of(figures.listed, figures.before);
    (share < config.min_listed_share && loss >= MIN_LOSS).then_some(Objection::Fewer)
}

fn failing(figures: &Figures, config: &GuardConfig) -> Option<Objection> {
    let before = figures.last.as_ref()?.failing;
    let share = Share::of(figures.failing, figures.known);
    is_over(share, before, config.max_error_share).then_some(Objection::Failing {
        failing: figures.failing,
        known: figures.known,
    })
}

/// The largest group that is too large; the kind that says most, of several.
fn alike(figures: &Figures, config: &GuardConfig) -> Option<Objection> {
    let last = figures.last.as_ref()?;
    let OldSet { pages, heard, .. } = figures.old;
    let is_too_large = |group: &&Group| {
        let are_all = group.pages == pages && pages > 1;
        let before = last.alike.get(&group.name()).copied().unwrap_or_default();
        let share = Share::of(group.pages, heard);
        (group.pages >= MIN_ALIKE || are_all) && is_over(share, before, config.max_alike_share)
    };
    let groups = figures.old.groups.iter().filter(is_too_large);
    let group = groups.min_by_key(|group| (group.alike, std::cmp::Reverse(group.pages)))?;
    Some(Objection::Alike {
        alike: group.alike,
        pages: group.pages,
        of: heard,
        example: group.example.clone(),
    })
}

fn grown(figures: &Figures, config: &GuardConfig) -> Option<Objection> {
    let factor = config.max_growth?;
    let was_complete = figures.last.as_ref()?.is_complete;
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
