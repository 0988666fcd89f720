//! What a publish changed, and which URLs engines are still to be told of: the words of the store for it.
//!
//! ```text
//! publish: Stage, Stage, ... -> Take, in the commit of the manifest -> outbox
//! notify:  outbox -> an engine has it -> Told
//! ```
//!
//! What is staged counts only when it is taken, so a publish of any size is noticed in bounded memory, and
//! a crash neither loses a change nor tells it twice.

use jiff::{SignedDuration, Timestamp};

use super::undo::UndoStep;
use crate::url_key::UrlKey;

/// URLs that wait to be told at most: a hundred requests of `IndexNow`. Beyond it those whose news are the
/// oldest leave untold; engines have had the longest time to find them by the `lastmod` of the sitemaps.
pub const MAX_OUTBOX: u64 = 1_000_000;

/// The same URL is not told again earlier than this: what the FAQ of `IndexNow` advises for a page that is
/// edited often (<https://www.indexnow.org/faq>).
pub const RESEND_GAP: SignedDuration = SignedDuration::from_mins(10);

/// What became of a URL from one published set to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UrlChange {
    /// Listed, and was not.
    Added,
    /// Listed before and now, with another `lastmod` or content.
    Changed,
    /// Listed no more.
    Removed,
}

impl UrlChange {
    /// The word for it in the state and for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }

    /// The reverse of [`UrlChange::as_str`].
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Added, Self::Changed, Self::Removed]
            .into_iter()
            .find(|change| change.as_str() == word)
    }
}

/// Half of the hash of a page's content: enough to see that it is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentMark {
    /// Version of what was hashed; marks of two versions say nothing about each other.
    pub version: u32,
    /// The lower 64 bits of the hash.
    pub hash: u64,
}

/// Name of the state's value that says that engines are told of the site: whatever changes from then on waits for
/// them.
pub const TELLS_ENGINES: &str = super::names::NOTIFY_ADOPTED;

/// What becomes of the changes that a publish found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tell {
    /// Nobody is told of them.
    Nobody,
    /// They wait in the place of what waited, if there are any: engines are not told of the site yet, and of what
    /// was before they begin they never are (<https://www.indexnow.org/faq>: what changed since then).
    Newest,
    /// They wait, too.
    All,
}

/// What is remembered of a URL of the published set, to see whether the next one says something else.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Its `lastmod` as published.
    pub lastmod: Option<String>,
    /// Its content, where it was read.
    pub content: Option<ContentMark>,
}

/// One URL that is not as it was in the set before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The URL as readers see it.
    pub key: UrlKey,
    /// What became of it; `None`: nothing that is told, only what is remembered changes.
    pub change: Option<UrlChange>,
    /// What is remembered of it from now on; `None` when it is not listed.
    pub listing: Option<Listing>,
}

/// A URL that an engine is to be told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The URL as readers see it.
    pub key: UrlKey,
    /// What became of it last.
    pub change: UrlChange,
    /// Since when, whole seconds.
    pub since: Timestamp,
    /// How often an engine refused a request with it.
    pub tries: u32,
}

impl Waiting {
    /// Its place in the order of [`Store::outbox`](super::Store::outbox).
    pub fn place(&self) -> (u32, UrlKey) {
        (self.tries, self.key.clone())
    }
}

/// A change of what is remembered of the published set, or of what waits to be told. Those of one commit
/// are applied in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutboxStep {
    /// Puts differences aside until they are taken; of a URL the last counts.
    Stage(Vec<Difference>),
    /// Forgets what was staged.
    Unstage,
    /// What is staged becomes true: it is remembered of the published set and, if it is to be told, waits.
    /// Earlier news of the same URL are replaced; the oldest beyond [`MAX_OUTBOX`] leave.
    Take {
        /// Since when it is so.
        since: Timestamp,
        /// Whether it waits to be told.
        tell: Tell,
    },
    /// What can be gone back to. Its place among the others counts.
    Undo(UndoStep),
    /// Nothing waits any more.
    Forget,
    /// Every URL of the published set waits to be told, as added unless there are news of it already.
    TellAll {
        /// Since when.
        since: Timestamp,
    },
    /// Puts URLs back that waited in another store.
    Put(Vec<Waiting>),
    /// An engine has these: they leave, and are not told again before [`RESEND_GAP`].
    Told {
        /// Which URLs.
        urls: Vec<UrlKey>,
        /// When.
        at: Timestamp,
    },
    /// An engine refused these: they stay, behind those that were refused less often.
    Tried(Vec<UrlKey>),
    /// An engine will not have these: they leave untold, until there are news of them again.
    GiveUp(Vec<UrlKey>),
}

/// The time without fractions of a second, as it is kept.
pub(crate) fn whole_second(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// What was told later than this rests at `time`.
pub(crate) fn gap_before(time: Timestamp) -> Timestamp {
    whole_second(time)
        .checked_sub(RESEND_GAP)
        .unwrap_or(Timestamp::MIN)
}
