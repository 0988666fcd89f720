//! The durable store: one `SQLite` file for one site, opened by one process at a time. A commit is a
//! transaction. The only room that knows `SQLite`; none of its types leaves it.
//!
//! People may read the file with any tool, even while a crawl runs:
//! `sqlite3 state.db "select url from page where reason = 'noindex'"`. What the tables hold stands in
//! the file itself (`.schema`).
//!
//! # What it costs
//! Memory: 16 MiB of pages of the file, whatever the size of the site. Disk: about 0.8 KB per URL with
//! 20 links, and 0.2 KB for one that leads nowhere. A site whose URLs come and go does not make it grow
//! without end: what no run finds is forgotten after one month, at the latest after two
//! ([`crate::runs::forget`]), so that the URLs of two months and the listed ones are in it, and the room
//! of the others is used again (the file does not shrink). Of pages whose content changed with the last two published
//! sets, or that left or joined these, what was known before is in it too. [`Store::counts`], [`Store::visit_keys`] and
//! [`Store::queue_len`] read every row, about a second for a million URLs, and so does
//! [`SqliteStore::open_sound`]: they are for the start and the end of a run. An index for them would
//! hold every URL once more and make each commit write to one more place for each URL.

mod aside;
mod columns;
mod doubt;
mod effects;
mod files;
mod given;
mod kept;
mod ledger;
mod links;
mod opening;
mod outbox;
mod page_columns;
mod peek;
mod put_off;
mod ranges;
mod record;
mod schema;
mod undo;

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, TransactionBehavior, params};

pub use self::opening::{Damaged, Sound};
use self::{
    columns::Columns,
    ledger::{ledger_entry, optional_ledger_entry},
    opening::absolute,
    put_off::PutOff,
    record::{EARLIER, Stored, read_earlier, select_records},
    undo::Undone,
};
use crate::{
    machine::{Lock, free_bytes},
    page::{PageFacts, PageRecord, Reason, RunId, State},
    store::{
        Commit, Doubt, Gave, KeptDocument, KeptNote, LedgerEntry, NextGiven, QueuedUrl, Rejudged,
        Store, StoreError, StoreErrorKind, Version, VisitPage,
        outbox::{Difference, Listing, Waiting},
    },
    url_key::UrlKey,
};

/// The memory of one site in a file.
///
/// Dropping it ends the use of the file and gives its lock back. Nothing is lost when that does not
/// happen: what was committed is in the file.
///
/// ```
/// use crawler::store::{Store, sqlite::SqliteStore};
///
/// let folder = tempfile::tempdir()?;
/// let store = SqliteStore::open(&folder.path().join("https_example.com.db"))?;
/// assert_eq!(store.queue_len()?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SqliteStore {
    // Before the lock: fields are dropped in this order.
    connection: Connection,
    /// `None`: somebody else holds it, or it is only looked into.
    _lock: Option<Lock>,
    path: PathBuf,
    /// A transaction is open that is never committed.
    is_rehearsal: bool,
}

impl SqliteStore {
    /// Runs `queries`.
    fn read<T>(
        &self,
        queries: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        queries(&self.connection).map_err(|error| failure("read", &self.path, error))
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
        run().map_err(|error| failure("write to", &self.path, error))
    }

    /// The only row of `sql`, if there is one.
    fn row<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        self.read(|connection| connection.query_row(sql, parameters, read).optional())
    }

    /// URLs with their depth, by a query for a run that gives at most `limit` behind `after`.
    fn portion(
        &self,
        sql: &'static str,
        run: RunId,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, u32)>, StoreError> {
        let after = after.map_or("", UrlKey::as_str);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(|connection| {
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map(params![after, run, limit], |row| {
                let mut columns = Columns::new(row);
                Ok((columns.key()?, columns.get()?))
            })?;
            rows.collect()
        })
    }

    fn stored(&self, key: &UrlKey) -> Result<Option<Stored>, StoreError> {
        self.read(|connection| {
            let sql = select_records!("WHERE url = ?1");
            let stored = connection.query_row(sql, [key.as_str()], Stored::read);
            let stored = stored.optional()?;
            stored
                .map(|stored| put_off::counting(connection, stored))
                .transpose()
        })
    }
}

/// Since when a run, or another program, holds the state `path`; `None` when nobody does, or that cannot be known.
/// Nothing is opened or changed, so it can be asked at any time.
pub fn held_since(path: &Path) -> Option<Timestamp> {
    files::held_since(path)
}

/// Renames the state `path` to `<name>.old-<timestamp>`, with the files that belong to it, and says
/// where it is now; `None` when there is no state. Nothing is ever replaced: `.2` and so on is added
/// to a name that is taken. `timestamp` must be fit for a file name. The state can still be opened
/// there.
///
/// # Errors
/// [`StoreErrorKind::Busy`]: a run holds it. [`StoreErrorKind::Io`]: it cannot be renamed.
pub fn set_aside(path: &Path, timestamp: &str) -> Result<Option<PathBuf>, StoreError> {
    files::set_aside(path, timestamp)
}

/// The files of the state `path`, without its lock: itself, what `SQLite` keeps beside it, and states that were set aside
/// in its place. None when it was never there.
///
/// # Errors
/// [`StoreErrorKind::Io`]: its folder cannot be read.
pub fn files_of(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    files::files_of(path)
}

/// Removes the state `path` with all of its files ([`files_of`]) and its lock, and calls `also` while nobody else can
/// work with it.
///
/// # Errors
/// [`StoreErrorKind::Busy`]: a run holds it. [`StoreErrorKind::Io`]: a file cannot be removed. `also` failed; what is left
/// is removed when it is forgotten again.
pub fn forget(
    path: &Path,
    also: impl FnOnce() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    files::forget(path, also)
}

/// Translates what `SQLite` says about the state `path`.
fn failure(action: &str, path: &Path, error: rusqlite::Error) -> StoreError {
    let kind = match &error {
        rusqlite::Error::SqliteFailure(failure, _)
        | rusqlite::Error::SqlInputError { error: failure, .. } => {
            match failure.code {
                // `Unknown` is an error in SQL; as ours is fixed, the tables are not what they should be.
                ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::TypeMismatch
                | ErrorCode::Unknown => StoreErrorKind::Corrupt,
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreErrorKind::Busy,
                // Also what cannot be opened: the file itself was, so that it is one beside it.
                _ => StoreErrorKind::Io,
            }
        }
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..) => StoreErrorKind::Corrupt,
        _ => StoreErrorKind::Io,
    };
    let is_full = error.sqlite_error_code() == Some(ErrorCode::DiskFull);
    let free = path.parent().filter(|_| is_full).and_then(free_bytes);
    let path = path.display();
    let message = match kind {
        StoreErrorKind::Corrupt => format!("{path} is damaged or no state of arpent"),
        StoreErrorKind::Busy => format!("the state {path} is in use by another program"),
        StoreErrorKind::Open | StoreErrorKind::Version | StoreErrorKind::Io => {
            format!("cannot {action} the state {path}")
        }
    };
    let message = match free {
        Some(free) => format!("{message} ({free} bytes are free on its disk)"),
        None => message,
    };
    StoreError::new(kind, message).with_source(error)
}

impl Store for SqliteStore {
    fn commit(&mut self, commit: &Commit) -> Result<(), StoreError> {
        self.write(|transaction| effects::apply(transaction, commit))
    }

    fn give(&mut self, run: RunId, next: &mut NextGiven<'_>) -> Result<Gave, StoreError> {
        self.write(|transaction| given::take(transaction, run, next))
    }

    fn begin_run(&mut self, run: RunId) -> Result<(), StoreError> {
        self.write(|transaction| {
            aside::take_back(transaction)?;
            transaction.execute("DELETE FROM queue", [])?;
            transaction.execute("DELETE FROM orphan", [])?;
            transaction.execute(
                "INSERT INTO run (id, run, last_sequence) VALUES (1, ?1, 0)
                 ON CONFLICT (id) DO UPDATE SET run = excluded.run, last_sequence = 0",
                [run],
            )?;
            Ok(())
        })
    }

    fn queued(&self, after: Option<u64>, limit: usize) -> Result<Vec<QueuedUrl>, StoreError> {
        // A cross join keeps the order of the tables: from the queue to the pages.
        let sql = format!(
            "SELECT queue.sequence, queue.url, page.depth, queue.hops, {EARLIER}
             FROM queue CROSS JOIN page ON page.url = queue.url
             WHERE queue.sequence > ?1 ORDER BY queue.sequence LIMIT ?2"
        );
        self.read(|connection| {
            let after = after.map_or(-1, |after| i64::try_from(after).unwrap_or(i64::MAX));
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut statement = connection.prepare(&sql)?;
            let rows = statement.query_map(params![after, limit], |row| {
                let mut columns = Columns::new(row);
                Ok(QueuedUrl {
                    sequence: columns.get()?,
                    key: columns.key()?,
                    depth: columns.get()?,
                    hops: columns.get()?,
                    earlier: read_earlier(&mut columns)?,
                })
            })?;
            rows.collect()
        })
    }

    fn queue_len(&self) -> Result<u64, StoreError> {
        Ok(self
            .row("SELECT count(*) FROM queue", [], |row| row.get(0))?
            .unwrap_or_default())
    }

    fn bytes(&self) -> Result<u64, StoreError> {
        let sql = "SELECT (page_count - freelist_count) * page_size
                   FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
        Ok(self.row(sql, [], |row| row.get(0))?.unwrap_or_default())
    }

    fn last_sequence(&self) -> Result<u64, StoreError> {
        Ok(self
            .row("SELECT last_sequence FROM run", [], |row| row.get(0))?
            .unwrap_or_default())
    }

    fn page(&self, key: &UrlKey) -> Result<Option<PageRecord>, StoreError> {
        Ok(self.stored(key)?.map(|stored| stored.record))
    }

    fn versions(
        &self,
        run: RunId,
        of: &UrlKey,
        targets: &[&UrlKey],
    ) -> Result<Vec<Version>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT page.state, CASE
                   WHEN page.reason = ?3 AND page.answer_run = page.run AND put_off.url IS NOT NULL THEN put_off.alternates
                   WHEN page.answer_run = page.run OR page.reason = ?3 AND page.error IS NULL AND page.not_fetched IS NULL
                     THEN page.alternates
                 END
                 FROM page LEFT JOIN put_off ON put_off.url = page.url AND put_off.run = page.run
                 WHERE page.url = ?1 AND page.run = ?2",
            )?;
            let waiting = Reason::KeptNotReached.code();
            let own: Option<Vec<u8>> = statement
                .query_row(params![of.as_str(), run, waiting], |row| row.get(1))
                .optional()?
                .flatten();
            let versions = targets.iter().map(|target| {
                let read = |row: &Row<'_>| {
                    let mut columns = Columns::new(row);
                    if columns.word("state", State::from_word)? != State::Listed {
                        return Ok(Version::Unlisted);
                    }
                    let is_comparable = ranges::origin(of) == ranges::origin(target);
                    let versions = columns.optional_bytes(|bytes| {
                        if is_comparable && own.as_deref() == Some(bytes) {
                            return Ok(Version::Alike);
                        }
                        links::decode_versions(target, bytes).map(Version::Other)
                    })?;
                    Ok(versions.unwrap_or_else(|| Version::Other(Vec::new())))
                };
                let version = statement
                    .query_row(params![target.as_str(), run, waiting], read)
                    .optional()?;
                Ok(version.unwrap_or(Version::Unknown))
            });
            versions.collect()
        })
    }

    fn earlier_facts(&self, key: &UrlKey) -> Result<Option<PageFacts>, StoreError> {
        Ok(self.stored(key)?.and_then(|stored| stored.earlier))
    }

    fn facts_before(&self, key: &UrlKey) -> Result<Option<PageFacts>, StoreError> {
        aside::before(self, key)
    }

    fn left_behind(
        &self,
        run: RunId,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, u32)>, StoreError> {
        let sql = "SELECT url, depth FROM page
                   WHERE url > ?1 AND run < ?2
                     AND iif(
                       state = 'queued' OR run > (SELECT ifnull(max(published_run), 9223372036854775807) FROM run),
                       listed_before = 1,
                       state = 'listed'
                     )
                   ORDER BY url LIMIT ?3";
        self.portion(sql, run, after, limit)
    }

    fn moved(
        &self,
        run: RunId,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<QueuedUrl>, StoreError> {
        self.read(|connection| put_off::moved(connection, run, after, limit))
    }

    fn put_off(&self, key: &UrlKey) -> Result<Option<PageRecord>, StoreError> {
        let sql = select_records!("WHERE url = ?1");
        let stored = self.row(sql, [key.as_str()], Stored::read)?;
        let Some(stored) = stored else {
            return Ok(None);
        };
        let before = self.read(|connection| put_off::before(connection, &stored))?;
        Ok(before.map(|_| stored.record))
    }

    fn doubt(&self, key: &UrlKey) -> Result<Option<Doubt>, StoreError> {
        self.read(|connection| doubt::of(connection, key))
    }

    fn doubts(
        &self,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, Doubt)>, StoreError> {
        self.read(|connection| doubt::portion(connection, after, limit))
    }

    fn confirmed(
        &self,
        run: RunId,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, u32)>, StoreError> {
        let sql = "SELECT url, depth FROM page
                   WHERE url > ?1 AND run = ?2 AND answer_run = run AND confirmed = 1
                   ORDER BY url LIMIT ?3";
        self.portion(sql, run, after, limit)
    }

    fn visit_pages(
        &self,
        run: RunId,
        from: Option<&UrlKey>,
        visit: &mut dyn FnMut(&UrlKey, PageRecord) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare(select_records!(
                "WHERE url >= ?1 AND url < ?2 AND run = ?3 ORDER BY url"
            ))?;
            for range in ranges::of_origins(connection, "page", from)? {
                let mut rows = statement.query(params![range.start, range.end, run])?;
                while let Some(row) = rows.next()? {
                    let stored = put_off::counting(connection, Stored::read(row)?)?;
                    if visit(&stored.key, stored.record).is_break() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        })
    }

    fn visit_pages_with_ledger(
        &self,
        run: RunId,
        from: Option<&UrlKey>,
        visit: &mut VisitPage<'_>,
    ) -> Result<(), StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare(select_records!(
                ", ledger.content_hash, ledger.hash_version, lastmod, last_modified_seconds, source, since_seconds, seen_seconds, json_ld, meta, sitemap, time_element",
                "page LEFT JOIN ledger ON ledger.url = page.url ",
                "WHERE page.url >= ?1 AND page.url < ?2 AND run = ?3 ORDER BY page.url"
            ))?;
            let mut undone = Undone::new(connection)?;
            for range in ranges::of_origins(connection, "page", from)? {
                let mut rows = statement.query(params![range.start, range.end, run])?;
                while let Some(row) = rows.next()? {
                    let mut columns = Columns::new(row);
                    let stored = Stored::read_columns(&mut columns)?;
                    let stored = put_off::counting(connection, stored)?;
                    let mut ledger = optional_ledger_entry(&mut columns)?;
                    if undone.is_any()
                        && let Some(content) =
                            LedgerEntry::other_content(ledger.as_ref(), &stored.record)
                    {
                        ledger = undone.entry(&stored.key, content)?.or(ledger);
                    }
                    if visit(&stored.key, stored.record, ledger).is_break() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        })
    }

    fn visit_keys(
        &self,
        run: RunId,
        visit: &mut dyn FnMut(&UrlKey, Reason),
    ) -> Result<(), StoreError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare("SELECT url, reason FROM page WHERE run = ?1")?;
            let mut rows = statement.query([run])?;
            while let Some(row) = rows.next()? {
                let mut columns = Columns::new(row);
                visit(&columns.key()?, columns.word("reason", Reason::from_code)?);
            }
            Ok(())
        })
    }

    fn visit_orphans(&self, visit: &mut dyn FnMut(&UrlKey)) -> Result<(), StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare("SELECT url FROM orphan")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                visit(&Columns::new(row).key()?);
            }
            Ok(())
        })
    }

    fn orphan_count(&self) -> Result<u64, StoreError> {
        Ok(self
            .row("SELECT count(*) FROM orphan", [], |row| row.get(0))?
            .unwrap_or_default())
    }

    fn links(&self, key: &UrlKey) -> Result<Option<Vec<UrlKey>>, StoreError> {
        self.row(
            "SELECT links FROM outlinks WHERE id = (SELECT outlinks FROM page WHERE url = ?1)",
            [key.as_str()],
            |row| Columns::new(row).bytes(|bytes| links::decode(key, bytes)),
        )
    }

    fn counts(&self, run: RunId) -> Result<BTreeMap<Reason, u64>, StoreError> {
        // Counted here: SQL would sort all rows by reason first.
        self.read(|connection| {
            let mut counts = BTreeMap::new();
            let mut statement = connection.prepare("SELECT reason FROM page WHERE run = ?1")?;
            let mut rows = statement.query([run])?;
            while let Some(row) = rows.next()? {
                let reason = Columns::new(row).word("reason", Reason::from_code)?;
                *counts.entry(reason).or_default() += 1;
            }
            Ok(counts)
        })
    }

    fn rejudge(&mut self, verdicts: &[Rejudged]) -> Result<(), StoreError> {
        self.write(|transaction| {
            let mut update =
                transaction.prepare("UPDATE page SET state = ?2, reason = ?3 WHERE url = ?1")?;
            let mut put_off = PutOff::new(transaction)?;
            for (key, reason) in verdicts {
                update.execute([key.as_str(), reason.state().as_str(), reason.code()])?;
                if *reason == Reason::KeptNotReached {
                    put_off.put(key)?;
                }
            }
            Ok(())
        })
    }

    fn ledger(&self, key: &UrlKey) -> Result<Option<LedgerEntry>, StoreError> {
        self.read(|connection| ledger::of_page(connection, key))
    }

    fn set_ledger(&mut self, entries: &[(UrlKey, LedgerEntry)]) -> Result<(), StoreError> {
        self.write(|transaction| ledger::set(transaction, entries))
    }

    fn visit_ledger(&self, visit: &mut dyn FnMut(&UrlKey, LedgerEntry)) -> Result<(), StoreError> {
        self.read(|connection| ledger::visit(connection, visit))
    }

    fn kept(&self, key: &UrlKey) -> Result<Option<KeptDocument>, StoreError> {
        self.read(|connection| kept::document(connection, key))
    }

    fn visit_kept(&self, visit: &mut dyn FnMut(&UrlKey, KeptNote)) -> Result<(), StoreError> {
        self.read(|connection| kept::visit(connection, visit))
    }

    fn published(
        &self,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, Listing)>, StoreError> {
        self.read(|connection| outbox::published(connection, after, limit))
    }

    fn staged(&self, after: Option<&UrlKey>, limit: usize) -> Result<Vec<Difference>, StoreError> {
        self.read(|connection| outbox::staged(connection, after, limit))
    }

    fn outbox(
        &self,
        after: Option<&(u32, UrlKey)>,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Waiting>, StoreError> {
        self.read(|connection| outbox::waiting(connection, after, limit, now))
    }

    fn outbox_len(&self) -> Result<u64, StoreError> {
        self.read(outbox::len)
    }

    fn value(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.row("SELECT value FROM value WHERE name = ?1", [name], |row| {
            row.get(0)
        })
    }
}

#[cfg(test)]
mod tests;
