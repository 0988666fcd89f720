//! The data on one site, durably: one `SQLite` file, opened by one process at a time. One commit is all or nothing;
//! URLs come back in key order. It never decides order or verdicts, and no SQL type or transaction leaks out of it.
//!
//! | table | one row per | written with |
//! | --- | --- | --- |
//! | `page` | URL that a published crawl decided | [`Effect::Page`], by publishing only |
//! | `visit` | URL of the crawl under way | [`Effect::Discover`], [`Effect::Finish`] |
//! | `link` | links of a page or visit | with its page or visit |
//! | `pattern` | place that was cut, parameter that was left out | [`Effect::Patterns`] |
//! | `session` | session of a crawl | [`Effect::Session`] |
//! | `outbox` | change that engines are to be notified of | [`Effect::Outbox`] |
//! | `meta` | named value | [`Effect::Value`] |
//!
//! People may read the file with any tool, even while a crawl runs:
//! `sqlite3 state.db "select url from page where reason = 'noindex'"`. The file itself describes its
//! tables and columns (`.schema`).
//!
//! # Costs
//! Memory: 8 MiB of pages of the file, whatever the size of the site. Disk: about 0.8 KB for a row with
//! 20 links, and 0.2 KB for one that leads nowhere; while a crawl is under way each URL has two. The space of removed
//! rows is used again (the file does not shrink). [`Store::each`] reads every row, about a second for a million
//! URLs of which a few columns are asked for, and [`Store::open_sound`] reads the whole file: they are for the start and the end
//! of a session. An index for them would hold every URL once more.

pub(crate) mod names;
pub mod outbox;

mod columns;
mod earlier;
mod effects;
mod error;
mod files;
mod links;
mod lists;
mod opening;
mod peek;
mod ranges;
mod schema;
mod sessions;
#[cfg(feature = "fleet")]
mod snapshot;
mod spool;
mod supplied;
mod texts;
mod values;
mod walks;

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};
use serde::{Serialize, de::DeserializeOwned};

pub use self::earlier::Earlier;
pub use self::error::with_causes;
pub use self::error::{StoreError, StoreErrorKind};
pub use self::files::{files_of, forget, held_since, set_aside};
pub use self::links::{LinkReader, StoredLinks};
pub use self::opening::{Damaged, Sound};
use self::outbox::{Outbox, OutboxStep};
pub(crate) use self::schema::find_damage;
pub use self::sessions::StoredSession;
#[cfg(feature = "fleet")]
pub use self::snapshot::restore_snapshot;
pub use self::spool::{EachSpooled, Merge, SpooledValues, UrlSpool};
pub use self::texts::Texts;
pub use self::walks::{ListsOf, PageLists, Shown, StoredRows, VisitNote};
use crate::{
    machine::Lock,
    page::{
        Canonical, ClosedPattern, Outcome, Page, PageRecord, PageText, Promotion, Reading, Reason,
        Repeat, SitemapDate, Supplied, TakenLinks, Via, Visit,
    },
    url_key::UrlKey,
};

/// A URL found in this crawl, not known in it before.
#[derive(Debug, Clone, PartialEq)]
pub struct Discovery {
    /// The URL.
    pub key: UrlKey,
    /// The place in the queue ([`crate::frontier::Rounds`]), unique among the URLs that wait; 0: it never waits.
    pub sequence: u64,
    /// Hops from the start URL.
    pub depth: u32,
    /// Redirects in a row that led here.
    pub hops: u8,
    /// How it was found.
    pub via: Via,
    /// On which page, or in which document.
    pub found_on: Option<UrlKey>,
    /// [`Reason::Queued`], or a verdict that needs no request.
    pub reason: Reason,
    /// Pages in a row that said nothing new, on the shortest way to it.
    pub distance: u16,
}

impl Discovery {
    /// The visit that begins with it.
    pub fn visit(&self) -> Visit {
        let outcome = (self.reason != Reason::Queued).then_some(Outcome::NotFetched(self.reason));
        let record = PageRecord {
            found_on: self.found_on.clone(),
            outcome,
            ..PageRecord::new(self.reason, self.depth, self.via)
        };
        let reading = Reading {
            distance: self.distance,
            ..Reading::default()
        };
        Visit {
            hops: self.hops,
            is_orphan: self.via.is_seed(),
            is_declared: self.via.is_declared(),
            ..Visit::finished(self.sequence, record, reading)
        }
    }
}

/// The end of the work on one URL.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// The URL.
    pub key: UrlKey,
    /// The current data. Links of its facts are not stored from here.
    pub visit: Visit,
    /// The links that were taken from it; `None`: it has none of its own (no answer, or a 304, whose page row has them).
    pub links: Option<TakenLinks>,
}

/// A row of `page` to write.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRow {
    /// The URL.
    pub key: UrlKey,
    /// The new content of the row.
    pub page: Page,
    /// The answer whose links the page has from now on.
    pub links: PageLinks,
    /// Marks the visit of the URL as copied to its page row.
    pub promotion: Option<Promotion>,
}

/// The answer whose links a written page row has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageLinks {
    /// The links it had.
    Own,
    /// Those of the visit, which is the first of the URL.
    OfFirstVisit,
    /// The links of the visit, where it has some.
    OfVisit,
}

/// A change of the state. Those of one commit are applied in their order, all or none.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// A visit, inserted where there is none of the URL; of one that there is a smaller depth is stored. A URL whose reason is
    /// [`Reason::Queued`] waits; one with any other has the outcome [`Outcome::NotFetched`]. One that a seed led to
    /// ([`Via::is_seed`]) is an orphan.
    Discover(Discovery),
    /// The record of a visit is replaced; but how the URL was found first, a smaller depth and the date of a sitemap stay, and
    /// so do who names it and the mark of a promotion.
    Finish(Box<Finished>),
    /// A visit is fetched after all, or again: it waits with the sequence given, and its answer goes. A URL without a visit, or
    /// one that waits already, is left out.
    Requeue(QueuedUrl),
    /// A page turned out to lead to an orphan.
    Link(UrlKey),
    /// A sitemap of the site, or a list of the user's, names a visit.
    Declare(UrlKey),
    /// A shorter way was found to a visit that waits.
    Shorten(UrlKey, u16),
    /// The last change of a visit that a sitemap of the site states; the first of a crawl counts.
    Date(UrlKey, SitemapDate),
    /// The repetition of a visit, in the light of the whole crawl.
    Mark(UrlKey, Option<Repeat>),
    /// Visits that wait because a bound ended the last session ([`Repeat::Waits`]) are decided as they were.
    EndWaits,
    /// The visit of a URL that is as if it had never been found goes.
    Forget(UrlKey),
    /// All visits go, with the links that no page row has.
    ClearVisits,
    /// The patterns of a crawl, in the place of all others.
    Patterns(Vec<ClosedPattern>),
    /// A row of `page`: by publishing only.
    Page(Box<PageRow>),
    /// Unlisted page rows that no publish met since this time go, with their links.
    ForgetPages(Timestamp),
    /// A named value is set, or removed.
    Value(MetaValue),
    /// Changes that engines are to be notified of.
    Outbox(OutboxStep),
    /// The row of a session: a new one when it begins, the newest when it has ended.
    Session(Box<StoredSession>),
}

impl Effect {
    /// Sets or removes the value `name`.
    pub fn value(name: &str, value: Option<String>) -> Self {
        Self::Value((name.to_owned(), value))
    }

    /// Sets or removes named values.
    pub fn values(values: impl IntoIterator<Item = MetaValue>) -> Vec<Self> {
        values.into_iter().map(Self::Value).collect()
    }
}

/// A name and a value of the state; with `None` it is removed.
pub type MetaValue = (String, Option<String>);

/// A URL waiting in the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedUrl {
    /// The place in the queue.
    pub sequence: u64,
    /// The URL.
    pub key: UrlKey,
    /// Hops from the start URL.
    pub depth: u32,
    /// Redirects in a row that led here.
    pub hops: u8,
    /// Pages in a row that said nothing new, on the shortest way to it.
    pub distance: u16,
    /// The data of its page row; `None`: no data that matters. Only [`Store::queued`] fills it in; where a URL is put into
    /// the queue it is not looked at.
    pub earlier: Option<Box<Earlier>>,
}

/// One URL of an input of the user's.
#[derive(Debug, Clone, PartialEq)]
pub struct SuppliedUrl {
    /// The URL.
    pub key: UrlKey,
    /// The data.
    pub supplied: Supplied,
    /// The reason, listed or not: the same for each time that the URL is given.
    pub reason: Reason,
}

/// The next item of an input.
#[derive(Debug, Clone, PartialEq)]
pub enum InputBatch {
    /// A URL, in any order, any number of times.
    Url(SuppliedUrl),
    /// Nothing more.
    End,
    /// Nothing more, and nothing of what was given shall stay.
    GiveUp,
}

/// How much [`Store::take_supplied`] took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InputCounts {
    /// Different URLs that the crawl did not know.
    pub urls: u64,
    /// How often a URL was given that had been given before, or that the crawl knew.
    pub repeated: u64,
}

/// Gives one URL after the other.
pub type NextSupplied<'a> = dyn FnMut() -> InputBatch + 'a;

/// The text of a visit, as it is compared with that of others.
#[derive(Debug, Clone, PartialEq)]
pub struct VisitText {
    /// The URL.
    pub key: UrlKey,
    /// The text, of its page row when the page answered 304.
    pub text: PageText,
    /// The stored reason.
    pub reason: Reason,
    /// The stored mark.
    pub repeat: Option<Repeat>,
    /// The part in the growth of the site.
    pub reading: Reading,
    /// The page, or the document, on which it was found first.
    pub found_on: Option<UrlKey>,
    /// A sitemap of the site, or a list of the user's, names it.
    pub is_declared: bool,
    /// The published set lists it.
    pub is_published: bool,
    /// The page had this text in the last crawl already.
    pub is_unchanged: bool,
    /// The canonical links.
    pub canonical: Option<Canonical>,
}

/// Receives texts of visits.
pub type EachText<'a> = dyn FnMut(VisitText) + 'a;

/// Receives the rows of a URL, of which one is there at least; returns whether to go on.
pub type EachUrl<'a> = dyn FnMut(&StoredRows<'_>) -> Result<ControlFlow<()>, StoreError> + 'a;

/// The action of a store in place of a commit, on demand of a test.
#[cfg(any(test, feature = "testing"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The write fails, like one whose disk is full.
    NoSpace,
    /// The write panics with "a bug of the store".
    Panic,
}

/// The memory of one site.
///
/// Dropping it ends the use of the file and gives its lock back. Nothing is lost when that does not
/// happen: what was committed is in the file.
///
/// ```
/// use crawler::store::Store;
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(&folder.path().join("https_example.com.db"))?;
/// assert!(store.queued(None, 1)?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store {
    // Before the lock: fields are dropped in this order.
    connection: Connection,
    /// `None`: somebody else holds it, or it is only looked into, or it has no file.
    _lock: Option<Lock>,
    path: PathBuf,
    /// A transaction is open that is never committed.
    is_rehearsal: bool,
    /// Commits that succeed before each further one fails.
    #[cfg(any(test, feature = "testing"))]
    fault: Option<(usize, Fault)>,
}

impl Store {
    /// A store on `connection`.
    fn with(connection: Connection, lock: Option<Lock>, path: PathBuf) -> Self {
        Self {
            connection,
            _lock: lock,
            path,
            is_rehearsal: false,
            #[cfg(any(test, feature = "testing"))]
            fault: None,
        }
    }

    /// The folder for files that are needed for a time: that of the state; of a state without a file, as `SQLite` chooses it.
    pub fn folder(&self) -> PathBuf {
        let large = Path::new("/var/tmp");
        match self.path.parent() {
            Some(folder) if folder.is_absolute() => folder.to_owned(),
            _ if std::env::var_os("TMPDIR").is_none() && large.is_dir() => large.to_owned(),
            _ => std::env::temp_dir(),
        }
    }

    /// The same store, which takes `commits` commits; each further one ends in `fault`.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn failing_after(self, commits: usize, fault: Fault) -> Self {
        Self {
            fault: Some((commits, fault)),
            ..self
        }
    }

    /// Counts a commit; fails in its place when a test wants that.
    #[cfg(any(test, feature = "testing"))]
    fn meet_fault(&mut self) -> Result<(), StoreError> {
        let Some((left, fault)) = &mut self.fault else {
            return Ok(());
        };
        if let Some(fewer) = left.checked_sub(1) {
            *left = fewer;
            return Ok(());
        }
        match fault {
            Fault::Panic => panic!("a bug of the store"),
            Fault::NoSpace => {
                let message = format!("cannot write to the state {}", self.path.display());
                let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
                Err(StoreError::of_io(message, full))
            }
        }
    }

    /// Runs `queries`.
    fn read<T>(
        &self,
        queries: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        queries(&self.connection).map_err(|error| error::failure("read", &self.path, error))
    }

    /// Runs `effects` in a transaction: all or nothing.
    fn write<T>(
        &mut self,
        effects: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let connection = &mut self.connection;
        let run = || {
            if self.is_rehearsal {
                let savepoint = connection.savepoint()?;
                let done = effects(&savepoint)?;
                savepoint.commit()?;
                return Ok(done);
            }
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = effects(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        run().map_err(|error| error::failure("write to", &self.path, error))
    }

    /// Applies `commit`, durably when this returns: it survives the end of the process, however that comes. A loss of power
    /// may take the last commits, but never a part of one.
    ///
    /// # Errors
    /// Nothing of the commit was applied.
    pub fn commit(&mut self, commit: &[Effect]) -> Result<(), StoreError> {
        #[cfg(any(test, feature = "testing"))]
        self.meet_fault()?;
        self.write(|transaction| effects::apply(transaction, commit))
    }

    /// Gives memory back: from now on rows are read and written in the order of their keys.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn lower_cache(&self) -> Result<(), StoreError> {
        self.read(schema::lower_cache)
    }

    /// Takes the data of inputs of the user on URLs, as finished visits, all or nothing. Of a URL that is given several times
    /// the newest change counts, then the most text, then the first in the order of the texts, whatever the order of inputs. Made for millions of URLs in no order, in
    /// bounded memory.
    ///
    /// # Errors
    /// Nothing was taken.
    pub fn take_supplied(
        &mut self,
        next: &mut NextSupplied<'_>,
    ) -> Result<InputCounts, StoreError> {
        self.write(|transaction| supplied::store_urls(transaction, next))
    }

    /// The page row and the visit of `key`.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn rows(&self, key: &UrlKey) -> Result<(Option<Page>, Option<Visit>), StoreError> {
        self.read(|connection| walks::rows(connection, key))
    }

    /// The lists of a row of `key`: of a page row what a 304 leads to.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn lists(&self, key: &UrlKey, of: ListsOf) -> Result<PageLists, StoreError> {
        self.read(|connection| walks::lists(connection, key, of))
    }

    /// Reads all that `questions` reads from one state of the file, with one lock for all reads.
    ///
    /// # Errors
    /// The store cannot be read; `questions` failed.
    pub fn at_once<T>(
        &self,
        questions: impl FnOnce(&Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.is_rehearsal {
            return questions(self);
        }
        let failed = |error| error::failure("read", &self.path, error);
        let transaction = self.connection.unchecked_transaction().map_err(failed)?;
        let answers = questions(self)?;
        transaction.commit().map_err(failed)?;
        Ok(answers)
    }

    /// The first `limit` waiting URLs after the sequence `after` (`None`: from the start), each with the data of its page row:
    /// fills the frontier.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn queued(&self, after: Option<u64>, limit: usize) -> Result<Vec<QueuedUrl>, StoreError> {
        self.read(|connection| walks::queued(connection, after, limit))
    }

    /// Shows the text of each visit that answered well, in the order of the queue, or only of those whose text others have too,
    /// one text after the other.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn each_text(&self, which: Texts, show: &mut EachText<'_>) -> Result<(), StoreError> {
        self.read(|connection| texts::each(connection, which, show))
    }

    /// Shows every URL that has a page row or a visit, in key order from `from` (included) on. `show` may read the store.
    ///
    /// # Errors
    /// The store cannot be read; `show` failed.
    pub fn each(
        &self,
        from: Option<&UrlKey>,
        shown: Shown,
        show: &mut EachUrl<'_>,
    ) -> Result<(), StoreError> {
        walks::each(&self.connection, &self.path, from, shown, show)
    }

    /// The sessions, the oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn sessions(&self) -> Result<Vec<StoredSession>, StoreError> {
        self.read(|connection| walks::all(connection, "session", "id"))
    }

    /// The patterns of the crawl whose last session ended last, by their names.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn patterns(&self) -> Result<Vec<ClosedPattern>, StoreError> {
        self.read(|connection| walks::all(connection, "pattern", "name"))
    }

    /// Of the URLs that engines are to be notified of, the first `limit` after the place `after` that may be at `now`: those
    /// that were refused least often first, then in the order of their texts. A URL that was sent less than
    /// [`outbox::RESEND_GAP`] ago is left out.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn outbox(
        &self,
        after: Option<&(u32, UrlKey)>,
        limit: usize,
        now: Timestamp,
    ) -> Result<Outbox, StoreError> {
        self.read(|connection| outbox::read(connection, after, limit, now))
    }

    /// A named value (see `names`).
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn value(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
            statement.query_row([name], |row| row.get(0)).optional()
        })
    }

    /// A named value that [`json_value`] made; `None` also where it cannot be read as one.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn read_json<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, StoreError> {
        let text = self.value(name)?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Bytes of the file, without the space of removed rows. Reads no rows.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn bytes(&self) -> Result<u64, StoreError> {
        self.read(walks::bytes)
    }
}

/// A named value as JSON.
pub(crate) fn json_value(name: &str, value: &impl Serialize) -> MetaValue {
    let text = serde_json::to_string(value).expect("texts, numbers and times are always JSON");
    (name.to_owned(), Some(text))
}

#[cfg(test)]
pub(crate) mod tests;
