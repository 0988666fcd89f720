//! May a run replace the published set? A pure judgement on plain numbers; it reads no store and no file.
//!
//! | objection | when |
//! | --- | --- |
//! | fewer | less than `min_listed_share` of the published set would be listed, and [`MIN_LOSS`] URLs fewer, those aside that redirect to another one of it each |
//! | gone | the same of what would be left without the pages that stay only because one 404 proves nothing |
//! | start | the start page has no content, or cannot be read, and so would leave the set |
//! | failing | more than `max_error_share` of the known URLs could not be fetched |
//! | alike | more than `max_alike_share` of the pages of the published set that answered show one sign, a third of that share since it was published |
//! | grown | more than `max_growth` times as many URLs would be listed, and [`MIN_GROWTH`] more |
//!
//! A wall makes pages alike that were not. Each sign is one that honest sites do not show, or that two must show
//! together; where the site is like that anyway, the share of then is what is allowed. Pages count by themselves, or by
//! what stands where they redirect to.
//!
//! | sign | the pages ... | usual on sites where before as many ... |
//! | --- | --- | --- |
//! | target | redirect to one URL; to one without its query, where nobody knows what stands there | did |
//! | query | redirect to one path with queries, under which one title and nearly one text stand | did, or had one title or text |
//! | content | say the same, title, images and links included | did |
//! | words | have the same words and images, numbers and what repeats their URL or title aside | had, or nearly one text |
//! | text | have one title and nearly one text | had one title, or nearly one text |
//! | heading | have one title and one heading | had one title, or one heading |
//! | opening | have one title, no heading, and the same first words | had one title, or these |
//! | form | ask for a password, and share title, heading or text with others, or say next to nothing | asked, or shared, or said so |
//!
//! What was so already when a set was published last, or published with force, is how the site is. Nothing is refused
//! for ever that a person has looked at once. Of a set that was built from lists nobody knows how it was: then only
//! targets, content and text count.

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

/// Redirects to one page that make a run wait for more pages.
const MIN_MERGED: u64 = 2;

/// One of so many parts of `max_alike_share` has to be new: a wall rises in a few nights, or in one.
const FRESH_PARTS: u64 = 3;

/// Reasons that a refusal names at most.
const MAX_REASONS: usize = 3;

/// In what pages are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alike {
    /// They redirect to the same URL, or to pages under one path that look the same.
    Target,
    /// What they say is the same.
    Content,
    /// What they say differs in few words, or in what repeats their URL or title.
    Text,
    /// They ask for a password, and are alike or say little beside it.
    Form,
    /// They have the same title, and begin alike.
    Title,
}

/// What pages show together that are no pages of the site's own: see the table above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Sign {
    Target,
    /// They redirect for good to one page, which does not ask for a password: a few are merged by that.
    Moved,
    Query,
    Content,
    Words,
    Text,
    FormTitle,
    FormHeading,
    FormText,
    FormShort,
    Heading,
    Opening,
}

/// What the pages of a site may have in common all the time: as many as have the same one, unless it says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Usual {
    Content,
    Words,
    /// Nearly one text, generously counted.
    Text,
    /// All that share nearly their text with another one.
    Texts,
    Title,
    /// All that share their title with another one.
    Titles,
    Heading,
    /// All that share their heading with another one.
    Headings,
    Opening,
    /// All that ask for a password.
    Form,
    /// All that say next to nothing.
    Short,
}

/// Whether this is a name of [`Remembered::alike`] that says how the pages are, of however many kinds; redirects have a name
/// for each target.
pub(super) fn is_usual(name: &str) -> bool {
    !name.contains(':')
}

impl Usual {
    /// The word for it in the state.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Words => "words",
            Self::Text => "text",
            Self::Texts => "texts",
            Self::Title => "title",
            Self::Titles => "titles",
            Self::Heading => "heading",
            Self::Headings => "headings",
            Self::Opening => "opening",
            Self::Form => "form",
            Self::Short => "short",
        }
    }
}

impl Sign {
    fn alike(self) -> Alike {
        match self {
            Self::Target | Self::Moved | Self::Query => Alike::Target,
            Self::Content => Alike::Content,
            Self::Words | Self::Text => Alike::Text,
            Self::FormTitle | Self::FormHeading | Self::FormText | Self::FormShort => Alike::Form,
            Self::Heading | Self::Opening => Alike::Title,
        }
    }

    /// Where one of these was usual, the sign is none.
    fn usual(self) -> &'static [Usual] {
        match self {
            Self::Target | Self::Moved => &[],
            Self::Content => &[Usual::Content],
            Self::Words => &[Usual::Words, Usual::Text],
            Self::Query | Self::Text => &[Usual::Title, Usual::Text],
            Self::FormTitle => &[Usual::Form, Usual::Titles],
            Self::FormHeading => &[Usual::Form, Usual::Headings],
            Self::FormText => &[Usual::Form, Usual::Text, Usual::Texts],
            Self::FormShort => &[Usual::Form, Usual::Short],
            Self::Heading => &[Usual::Title, Usual::Heading],
            Self::Opening => &[Usual::Title, Usual::Opening],
        }
    }

    /// What it is remembered as with a key; what redirects is not listed, so that it is never usual among listed pages.
    fn redirects(self) -> Option<&'static str> {
        match self {
            Self::Target => Some("target"),
            Self::Moved => Some("moved"),
            Self::Query => Some("query"),
            Self::Content
            | Self::Words
            | Self::Text
            | Self::FormTitle
            | Self::FormHeading
            | Self::FormText
            | Self::FormShort
            | Self::Heading
            | Self::Opening => None,
        }
    }

    /// Whether it says something of a site of which nobody knows how it was.
    fn needs_no_memory(self) -> bool {
        match self {
            Self::Target | Self::Moved | Self::Query | Self::Content | Self::Text => true,
            Self::Words
            | Self::FormTitle
            | Self::FormHeading
            | Self::FormText
            | Self::FormShort
            | Self::Heading
            | Self::Opening => false,
        }
    }
}

/// Pages that show a sign together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) sign: Sign,
    /// What they share, as a fingerprint.
    pub(super) key: u64,
    pub(super) pages: u64,
    /// Those of them that were other pages when they were published.
    pub(super) fresh: u64,
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
    /// Those that stood in it under two addresses, of which one redirects to the other now, which is listed.
    pub(super) twins: u64,
    /// Why the start page is not listed any more, when it says nothing of why it should not be.
    pub(super) start: Option<Reason>,
    /// Those that this run does not know.
    pub(super) unknown: u64,
    /// The largest groups of each sign among those that said something, and those that moved.
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
    pub(super) looked_at: u64,
    /// URLs that were listed when every known URL was decided last, or that a person let through: what crawls that end at
    /// a limit take out piece by piece is counted from there.
    #[serde(default)]
    pub(super) whole: u64,
    /// Shares of the listed pages that have something in common, by [`Usual::word`], and of the published and moved
    /// ones that redirect to the same, by [`Group::name`].
    pub(super) alike: BTreeMap<String, Share>,
}

impl Group {
    /// What a group of redirects is remembered as; `None`: it is none.
    pub(super) fn name(&self) -> Option<String> {
        let word = self.sign.redirects()?;
        Some(format!("{word}:{:016x}", self.key))
    }
}

impl Remembered {
    /// The share of pages that a group may have had before.
    fn share_of(&self, group: &Group) -> Share {
        let usual = group.sign.usual().iter();
        let usual = usual.filter_map(|usual| self.alike.get(usual.word()));
        let own = group.name().and_then(|name| self.alike.get(&name));
        usual.chain(own).max().copied().unwrap_or_default()
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
    let before = baseline(figures).saturating_sub(looked_at);
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
    are_few && !are_too_few(with_all, baseline(figures), config)
}

/// Pages that the site had: those of the published set, each once, as one that moved while a crawl ended at a limit stands
/// in it under both addresses; or those of the last set of all pages, of which crawls that end at a limit may have taken
/// some out already.
fn baseline(figures: &Figures) -> u64 {
    let pages = figures.before.saturating_sub(figures.old.twins);
    pages.max(figures.last.whole)
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
    let groups = groups.filter(|group| is_too_large(group, figures, config, MIN_ALIKE));
    let group = groups.min_by_key(|group| (group.sign.alike(), std::cmp::Reverse(group.pages)))?;
    Some(Objection::Alike {
        alike: group.sign.alike(),
        pages: group.pages,
        of: with_moved(group, old, old.heard),
        example: group.example.clone(),
    })
}

/// Whether too many of the few pages that a run came to redirect to one page, though they are not enough to tell a wall from
/// an edit: more of them will tell.
pub(super) fn is_too_early(figures: &Figures, config: &GuardConfig) -> bool {
    let mut redirects = figures.old.groups.iter();
    figures.before > 0
        && redirects.any(|group| {
            group.sign.redirects().is_some() && is_too_large(group, figures, config, MIN_MERGED)
        })
}

/// So many pages of a group: of redirects, those with them that a wall which grows by a few pages each night has taken
/// out of the set already.
fn with_moved(group: &Group, old: &OldSet, pages: u64) -> u64 {
    match group.sign.alike() {
        Alike::Target => pages + old.moved,
        Alike::Content | Alike::Text | Alike::Form | Alike::Title => pages,
    }
}

/// Whether a group of at least `min` pages, or of all, is one that no honest site shows.
fn is_too_large(group: &Group, figures: &Figures, config: &GuardConfig, min: u64) -> bool {
    let (old, last) = (&figures.old, &figures.last);
    let pages = with_moved(group, old, old.pages);
    let heard = with_moved(group, old, old.heard);
    let are_two_merged = group.sign == Sign::Moved && group.pages == 2;
    let are_all = group.pages > 1 && group.pages + 1 >= pages && !are_two_merged;
    let before = last.share_of(group);
    let share = Share::of(group.pages, heard);
    // A crawl may come first, or only, to pages that were alike all the time.
    let are_more = Share::of(group.pages, pages) > before;
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
            } => {
                let (pages, of) = (Grouped(*pages), Grouped(*of));
                write!(f, "{pages} of {of} pages in it that answered now ")?;
                match alike {
                    Alike::Target => write!(f, "redirect to {example}")?,
                    Alike::Content => write!(f, "say the same, as {example} does")?,
                    Alike::Text => write!(f, "say nearly the same, as {example} does")?,
                    Alike::Form => write!(
                        f,
                        "ask for a password and are alike or short, as {example} is"
                    )?,
                    Alike::Title => {
                        write!(f, "have the same title and begin alike, as {example} does")?;
                    }
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
