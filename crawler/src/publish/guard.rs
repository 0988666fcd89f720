//! May a run replace the published set? A pure judgement on plain numbers; it reads no store and no file.
//!
//! | objection | when |
//! | --- | --- |
//! | fewer | less than `min_listed_share` of the published set would be listed, and [`MIN_LOSS`] URLs fewer, those aside that redirect to another one of it each |
//! | gone | the same of what would be left without the pages that stay only because one 404 proves nothing |
//! | start | the start page has no content, or cannot be read, and so would leave the set |
//! | failing | more than `max_error_share` of the known URLs could not be fetched |
//! | alike | more than `max_alike_share` of the pages of the published set that answered show one sign, a third of that share since it was published; or, at the end of a first crawl in several parts, of all of its pages |
//! | grown | more than `max_growth` times as many URLs would be listed, and [`MIN_GROWTH`] more |
//!
//! What pages that are alike show together is in [`signs`]. What was so already when a set was published last, or
//! published with force, is how the site is. Nothing is refused for ever that a person has looked at once.
//!
//! A run that is not over came to a part of the pages only. It is judged by the share of all of the set, and what is less is
//! not believed before it is heard twice: see [`is_doubtful`] and the module `doubts`.

mod signs;

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{
    config::{GuardConfig, Share},
    page::{Reason, RunId},
};

pub use self::signs::Alike;
pub(super) use self::signs::{Group, Sign, Usual, is_usual};

/// URLs that a set must lose before that is refused: a small site loses a section in one edit.
const MIN_LOSS: u64 = 20;

/// URLs that a set must win before that is held.
const MIN_GROWTH: u64 = 1_000;

/// Pages that must be alike; fewer are one edit of a person, unless they are all there are, the start page aside. A few
/// that get one name are an edit even then: who has four pages gives all of them the title and heading of the company.
const MIN_ALIKE: u64 = 5;

/// Redirects of a start that are doubted when they lead to one page, or to pages that look the same.
const MIN_MERGED: u64 = 2;

/// Other pages that are when they are alike: fewer are one edit.
const MIN_DOUBTFUL: u64 = 3;

/// New pages that are alike, when sites have such sections too.
const NEARLY_ALL: Share = Share::millionths(900_000);

/// One of so many parts of `max_alike_share` has to be new: a wall rises in a few nights, or in one.
const FRESH_PARTS: u64 = 3;

/// Reasons that a refusal names at most.
const MAX_REASONS: usize = 3;

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
    /// Those that redirect to where nobody knows what stands.
    pub(super) open: u64,
    /// Those that stood in it under two addresses, of which one redirects to the other now, which is listed.
    pub(super) twins: u64,
    /// Why the start page is not listed any more, when it says nothing of why it should not be.
    pub(super) start: Option<Reason>,
    /// Those that this run does not know.
    pub(super) unknown: u64,
    /// The largest groups of each sign among those that said something, and those that moved.
    pub(super) groups: Vec<Group>,
}

/// What a run found beside the pages of the published set: how it goes on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Young {
    /// Pages that would be listed and are not in the set; with those of it that said something in this run, when an earlier
    /// one published them, and so they were asked for again.
    pub(super) pages: u64,
    /// The largest groups of each sign among them.
    pub(super) groups: Vec<Group>,
    /// The set that stands is of this very run, from its first page on: nothing of the site was asked for twice.
    pub(super) is_first: bool,
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
    pub(super) looked_at: u64,
    /// URLs that were listed when every known URL was decided last, or that a person let through: what crawls that end at
    /// a limit take out piece by piece is counted from there.
    #[serde(default)]
    pub(super) whole: u64,
    /// The run that all of the set is of, as it began with nothing; 0: several are.
    #[serde(default)]
    pub(super) only_run: RunId,
    /// Shares of the listed pages that have something in common, by [`Usual::word`], and of the published and moved
    /// ones that redirect to the same, by [`Group::name`].
    pub(super) alike: BTreeMap<String, Share>,
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
    /// Whether every known URL was decided.
    pub(super) is_complete: bool,
    pub(super) old: OldSet,
    pub(super) young: Young,
    /// What is remembered of the set that stands; nothing where nobody looked when it was published.
    pub(super) last: Remembered,
}

/// Of which pages some are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Those of the published set that said something in this run.
    Answered,
    /// All of the published set, of which the run did not come to some.
    Published,
    /// Those that were not published before.
    New,
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
        /// Of so many; of redirects, with those that left the set earlier.
        of: u64,
        /// One of them; of redirects, where they lead.
        example: String,
        /// Of which pages `of` is the number.
        whose: Whose,
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
    Fewer {
        /// Of so many pages: those of the published set, or of the last set of all pages.
        of: u64,
    },
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
            Self::Alike { alike, .. } => alike.code(),
            Self::Failing { .. } => "failing",
            Self::Start { .. } => "start-page",
            Self::Fewer { .. } => "fewer-urls",
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
        begun_alike(figures, config),
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
    let before = baseline(figures).saturating_sub(looked_at);
    if are_too_few(figures.listed, before, config) {
        Some(Objection::Fewer { of: before })
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
    let are_few = matches!(refusal.objections[..], [Objection::Fewer { .. }]);
    are_few && !are_too_few(with_all, baseline(figures), config)
}

/// Pages that the site had: those of the published set, each once, as one that moved while a crawl ended at a limit stands
/// in it under both addresses; or, for a crawl that ends at a limit, those of the last set of all pages, of which such crawls
/// may have taken some out already.
fn baseline(figures: &Figures) -> u64 {
    let pages = figures.before.saturating_sub(figures.old.twins);
    if figures.is_complete {
        pages
    } else {
        pages.max(figures.last.whole)
    }
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

/// The largest group that is too large; the one that says most, of several.
fn alike(figures: &Figures, config: &GuardConfig) -> Option<Objection> {
    let old = &figures.old;
    let groups = old.groups.iter();
    // Of a run that is not over, what is less is doubted, and what is missing may be well.
    let of = if figures.is_complete {
        old.heard
    } else {
        old.pages
    };
    let last = &figures.last;
    let groups = groups.filter(|group| is_too_large(group, old, of, last, config, MIN_ALIKE));
    let group = groups.min_by_key(|group| (group.sign.alike(), std::cmp::Reverse(group.pages)))?;
    Some(Objection::Alike {
        alike: group.sign.alike(),
        pages: group.pages,
        of: with_moved(group, old, of),
        example: group.example.clone(),
        whose: if figures.is_complete {
            Whose::Answered
        } else {
            Whose::Published
        },
    })
}

/// The same sign on so many of the pages of a first crawl that was gone on with until nothing was left: the site may have
/// been itself when it began only. The next run asks again for what is published.
fn begun_alike(figures: &Figures, config: &GuardConfig) -> Option<Objection> {
    let Figures { old, young, .. } = figures;
    let is_over_all =
        |group: &&Group| Share::of(group.pages, old.heard + young.pages) > config.max_alike_share;
    let groups = young.groups.iter();
    let last = &figures.last;
    let groups = groups.filter(|group| are_too_many(group, young, last, config, MIN_ALIKE));
    let group = groups
        .filter(is_over_all)
        .max_by_key(|group| group.pages)
        .filter(|_| figures.is_complete && young.is_first)?;
    Some(Objection::Alike {
        alike: group.sign.alike(),
        pages: group.pages,
        of: young.pages,
        example: group.example.clone(),
        whose: Whose::New,
    })
}

/// Whether a group among the pages of the set that one start heard may be a wall, though they are not enough to tell that from an
/// edit, or from a section of the site that is like that. `old` is what that start heard.
pub(super) fn is_doubtful(
    group: &Group,
    old: &OldSet,
    last: &Remembered,
    config: &GuardConfig,
) -> bool {
    let is_too_large = |min| is_too_large(group, old, old.heard, last, config, min);
    match group.sign {
        // Whatever redirected there before is not of the set any more.
        Sign::Target | Sign::Moved => {
            group.pages >= MIN_MERGED && Share::of(group.pages, old.heard) > config.max_alike_share
        }
        // Of several that redirect to where nobody knows what stands, the end of one may be known.
        Sign::Each if old.open > 0 => is_too_large(1),
        Sign::Each => is_too_large(MIN_MERGED),
        Sign::Content
        | Sign::Words
        | Sign::Replaced
        | Sign::Text
        | Sign::FormTitle
        | Sign::FormHeading
        | Sign::FormText
        | Sign::FormShort
        | Sign::Heading
        | Sign::Opening => is_too_large(MIN_DOUBTFUL),
    }
}

/// The same of a group among the new pages that it heard.
pub(super) fn is_doubtful_of_new(
    group: &Group,
    young: &Young,
    last: &Remembered,
    config: &GuardConfig,
) -> bool {
    are_too_many(group, young, last, config, MIN_DOUBTFUL)
}

/// Whether a group among the pages that are new is one that a site seldom has, and this one had not.
fn are_too_many(
    group: &Group,
    young: &Young,
    last: &Remembered,
    config: &GuardConfig,
    min: u64,
) -> bool {
    let allowed = if needs_no_second(group.sign) {
        config.max_alike_share
    } else {
        NEARLY_ALL.max(config.max_alike_share)
    };
    group.pages >= min
        && last.looked_at > 0
        && last.share_of(group) <= config.max_alike_share
        && Share::of(group.fresh * FRESH_PARTS, young.pages) > config.max_alike_share
        && Share::of(group.pages, young.pages) > allowed
}

/// Whether a sign says something of pages that nobody knew: many of a section may have one title and heading.
fn needs_no_second(sign: Sign) -> bool {
    sign.needs_no_memory() || sign.alike() == Alike::Form
}

/// So many pages of a group: of redirects, those with them that a wall which grows by a few pages each night has taken
/// out of the set already.
fn with_moved(group: &Group, old: &OldSet, pages: u64) -> u64 {
    match group.sign.alike() {
        Alike::Target | Alike::Targets => pages + old.moved,
        Alike::Content | Alike::Text | Alike::Form | Alike::Title => pages,
    }
}

/// So many pages: what stands at addresses of their own has to be known.
fn known_ends(group: &Group, old: &OldSet, pages: u64) -> u64 {
    if group.sign == Sign::Each {
        pages.saturating_sub(old.open)
    } else {
        pages
    }
}

/// Whether a group of at least `min` pages, or of all, is one that no honest site shows among `of` pages.
fn is_too_large(
    group: &Group,
    old: &OldSet,
    of: u64,
    last: &Remembered,
    config: &GuardConfig,
    min: u64,
) -> bool {
    let pages = with_moved(group, old, old.pages);
    let heard = known_ends(group, old, with_moved(group, old, of));
    let are_two_merged = group.sign == Sign::Moved && group.pages == 2;
    let is_a_rename = group.sign.alike() == Alike::Title;
    let are_all = group.pages > 1 && group.pages + 1 >= pages && !are_two_merged && !is_a_rename;
    let before = last.share_of(group);
    let share = Share::of(group.pages, heard);
    // A crawl may come first, or only, to pages that were alike all the time; those of which a few are, by chance, are
    // not among the pages that go.
    let is_chance = group.sign.redirects().is_some()
        && before <= config.max_alike_share
        && before < Share::of(MIN_ALIKE, pages);
    let are_more = is_chance || Share::of(group.pages, pages) > before;
    // What says what it said is how the site is; a few more each night are its own doing.
    let are_fresh = Share::of(group.fresh * FRESH_PARTS, heard) > config.max_alike_share;
    (group.pages >= min || are_all)
        && (last.looked_at > 0 || group.sign.needs_no_memory())
        && are_more
        && are_fresh
        && is_over(share, before, config.max_alike_share)
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
        Ok(())
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
                whose,
            } => {
                let (pages, of) = (Grouped(*pages), Grouped(*of));
                let which = match whose {
                    Whose::New => "pages that would be new",
                    Whose::Answered => "pages in it that answered now",
                    Whose::Published => "pages in it",
                };
                write!(
                    f,
                    "{pages} of {of} {which} {} (a login wall, a parked domain, maintenance, \"not found\" with status \
                     200?)",
                    alike.with(example)
                )
            }
            Objection::Failing { failing, known } => write!(
                f,
                "{} of {} known URLs could not be fetched",
                Grouped(*failing),
                Grouped(*known)
            ),
            Objection::Fewer { of } => {
                let loss = of.saturating_sub(self.now);
                let percent = Share::of(loss, *of).percent();
                let now = Grouped(self.now);
                write!(f, "this crawl would list only {now} (-{percent} %)")?;
                if *of > self.before {
                    write!(
                        f,
                        " of the {} before crawls that ended at a limit",
                        Grouped(*of)
                    )?;
                }
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
pub(super) struct Grouped(pub(super) u64);

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
