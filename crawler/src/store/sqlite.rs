//! The durable store: one `SQLite` file for one site, opened by one process at a time. A commit is a
//! transaction. The only room that knows `SQLite`; none of its types leaves it.
//!
//! People may read the file with any tool, even while a crawl runs:
//! `sqlite3 state.db "select url from page where reason = 'noindex'"`. What the tables hold stands in
//! the file itself (`.schema`).
//!
//! # What it costs
//! Memory: 64 MiB of pages of the file, whatever the size of the site. Disk: about 0.8 KB per URL with
//! 20 links, and 0.2 KB for one that leads nowhere. A site whose URLs come and go does not make it grow
//! without end: what no run finds is forgotten after one month, at the latest after two
//! ([`crate::runs::forget`]), so that the URLs of two months and the listed ones are in it, and the room
//! of the others is used again (the file does not shrink). [`Store::counts`], [`Store::visit_keys`] and
//! [`Store::queue_len`] read every row, about a second for a million URLs, and so does
//! [`SqliteStore::open_sound`]: they are for the start and the end of a run. An index for them would
//! hold every URL once more and make each commit write to one more place for each URL.

mod aside;
mod columns;
mod effects;
mod files;
mod given;
mod links;
mod outbox;
mod peek;
mod ranges;
mod record;
mod schema;

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, TransactionBehavior, params};

use self::{
    columns::Columns,
    record::{EARLIER, Stored, hash_from_text, hash_text, read_earlier, select_records},
    schema::Care,
};
use crate::{
    machine::{Lock, free_bytes, is_remote},
    page::{DateSource, PageFacts, PageRecord, Reason, RunId, State},
    store::{
        Commit, Gave, KeptDocument, KeptNote, LedgerDates, LedgerEntry, NextGiven, QueuedUrl,
        Rejudged, Store, StoreError, StoreErrorKind, Version, VisitPage,
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

/// A state that was looked at as a whole before it was opened.
#[derive(Debug)]
pub struct Sound {
    /// It, or the new one in its place.
    pub store: SqliteStore,
    /// What was in its place and is set aside.
    pub damaged: Option<Damaged>,
}

/// A damaged state, or a file that is none of arpent, that is set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// Where it is now.
    pub aside: PathBuf,
    /// What is wrong with it, a fragment that names it as it was.
    pub problem: String,
}

impl SqliteStore {
    /// Opens the state `path`, or begins one, and locks it for as long as the store lives. Folders
    /// that have to be made, and the file, are for their owner alone.
    ///
    /// # Errors
    /// - [`StoreErrorKind::Busy`]: another process (or store) holds it; the message names it.
    /// - [`StoreErrorKind::Version`]: a newer arpent wrote it.
    /// - [`StoreErrorKind::Corrupt`]: it is damaged, or no state of arpent. It is left as it is.
    /// - [`StoreErrorKind::Open`]: there can be no such file; [`StoreErrorKind::Io`]: it cannot be opened or created now.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let path = absolute(path)?;
        files::create_folder(&path)?;
        let lock = files::lock(&path)?;
        files::end_replacement(&path, &lock)?;
        Self::open_held(path, lock, Care::Trust)
    }

    /// Opens the state `path`, which must exist, to see what would come of work on it: what is written shows in what
    /// is read, and nothing of it stays when the store is dropped, or the process ends. Meanwhile no other program can
    /// write to the file. What does not fit into memory waits in the log beside the file, which goes with the store.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn rehearse(path: &Path) -> Result<Self, StoreError> {
        let mut store = Self::open(path)?;
        store
            .connection
            .execute_batch("BEGIN IMMEDIATE")
            .map_err(|error| failure("open", &store.path, error))?;
        store.is_rehearsal = true;
        Ok(store)
    }

    /// Opens a state anew: what is at `path` is set aside as by [`set_aside`], and the new state knows
    /// of it only what `carry_over(old, new)` copies. However that ends, by a failure or by the end of
    /// the process, either the old state or the whole new one is at `path` (or is put there when it is
    /// opened next). Of a state that is damaged is carried over what can be read.
    ///
    /// # Errors
    /// As [`SqliteStore::open`], but for damage; `carry_over` failed. The old state stands.
    pub fn open_anew(
        path: &Path,
        timestamp: &str,
        carry_over: impl FnOnce(&dyn Store, &mut dyn Store) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let path = absolute(path)?;
        files::create_folder(&path)?;
        let mut lock = files::lock(&path)?;
        files::end_replacement(&path, &lock)?;
        if files::exists(&path)? {
            let carry = |old: Option<&dyn Store>, new: &mut dyn Store| match old {
                Some(old) => carry_over(old, new),
                None => Ok(()),
            };
            (lock, _) = replace(&path, lock, &files::old(timestamp), Care::Trust, carry)?;
        }
        Self::open_held(path, lock, Care::Trust)
    }

    /// Opens a state for a long time, or begins one: all of an existing one is looked at first, about a
    /// second for a million URLs. One that is damaged, or none of arpent, is set aside as
    /// `<name>.corrupt-<timestamp>`, as it is and never deleted, and a new one takes its place, which
    /// knows what `salvage(old, new)` copies; `old` is `None` when nothing of it can be read. What
    /// it cannot read of it is no failure; `salvage` has to expect it. As with
    /// [`SqliteStore::open_anew`], at every instant either the damaged state or the whole new one is there.
    ///
    /// `damage` says what was found while the state was read, which a look at it alone may not show.
    ///
    /// # Errors
    /// As [`SqliteStore::open`], but for damage; `salvage` failed, or the state cannot be set aside.
    pub fn open_sound(
        path: &Path,
        timestamp: &str,
        damage: Option<&str>,
        salvage: impl FnOnce(Option<&dyn Store>, &mut dyn Store) -> Result<(), StoreError>,
    ) -> Result<Sound, StoreError> {
        let path = absolute(path)?;
        files::create_folder(&path)?;
        let lock = files::lock(&path)?;
        if path.parent().is_some_and(is_remote) {
            tracing::warn!(
                target: "store",
                "the state {} is on the disk of another machine: SQLite may lose what it writes there, and whether \
                 another run is noticed is up to that machine; a folder on a local disk is safe",
                path.display()
            );
        }
        files::end_replacement(&path, &lock)?;
        files::create_file(&path)?;
        let problem = match (damage, schema::open(&path, Care::Check)) {
            (None, Ok(connection)) => {
                let store = Self {
                    connection,
                    _lock: Some(lock),
                    path,
                    is_rehearsal: false,
                };
                return Ok(Sound {
                    store,
                    damaged: None,
                });
            }
            (None, Err(error)) if error.kind() == StoreErrorKind::Corrupt => in_full(&error),
            (Some(damage), Err(error)) if error.kind() == StoreErrorKind::Corrupt => {
                tracing::debug!(target: "store", "{error}");
                damage.to_owned()
            }
            (_, Err(error)) => return Err(error),
            (Some(damage), Ok(_)) => damage.to_owned(),
        };
        let suffix = files::corrupt(timestamp);
        let (lock, aside) = replace(&path, lock, &suffix, Care::Salvage, salvage)?;
        let store = Self::open_held(path, lock, Care::Trust)?;
        let damaged = Some(Damaged { aside, problem });
        Ok(Sound { store, damaged })
    }

    fn open_held(path: PathBuf, lock: Lock, care: Care) -> Result<Self, StoreError> {
        files::create_file(&path)?;
        let connection = schema::open(&path, care)?;
        Ok(Self {
            connection,
            _lock: Some(lock),
            path,
            is_rehearsal: false,
        })
    }

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
        self.row(
            select_records!("WHERE url = ?1"),
            [key.as_str()],
            Stored::read,
        )
    }
}

/// Makes a new state beside the one at `path`, which exists, fills it by `carry`, and puts it in the place of that
/// one, which is set aside under its name with `suffix`. Says where that is.
///
/// # Errors
/// The old state stands.
fn replace(
    path: &Path,
    lock: Lock,
    suffix: &str,
    care: Care,
    carry: impl FnOnce(Option<&dyn Store>, &mut dyn Store) -> Result<(), StoreError>,
) -> Result<(Lock, PathBuf), StoreError> {
    let mut new = SqliteStore::open(&files::next_of(path))?;
    let carried = match schema::open(path, care) {
        Ok(connection) => {
            // The lock is held on, also when this is closed.
            let old = SqliteStore {
                connection,
                _lock: None,
                path: path.to_owned(),
                is_rehearsal: false,
            };
            carry(Some(&old), &mut new)
        }
        Err(error) if error.kind() == StoreErrorKind::Corrupt => {
            tracing::debug!(target: "store", "{error}");
            carry(None, &mut new)
        }
        Err(error) => Err(error),
    };
    match carried {
        Err(error) if error.kind() == StoreErrorKind::Corrupt => {
            tracing::warn!(target: "store", "{error}; what it knew is lost");
        }
        carried => carried?,
    }
    // Closed, it is one file, and all of it is on the disk.
    drop(new);
    let aside = files::set_aside_locked(path, suffix, &lock)?;
    files::put_in_place(path, &lock)?;
    Ok((lock, aside))
}

/// The words of an error with its causes.
fn in_full(error: &StoreError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// To `SQLite` some relative names mean something else than a file.
fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|error| files::io_failure("open", path, error))
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
                "SELECT state, iif(
                   answer_run = run OR reason = ?3 AND error IS NULL AND not_fetched IS NULL, alternates, NULL
                 ) FROM page WHERE url = ?1 AND run = ?2",
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
                    let stored = Stored::read(row)?;
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
                "LEFT JOIN ledger ON ledger.url = page.url ",
                "WHERE page.url >= ?1 AND page.url < ?2 AND run = ?3 ORDER BY page.url"
            ))?;
            for range in ranges::of_origins(connection, "page", from)? {
                let mut rows = statement.query(params![range.start, range.end, run])?;
                while let Some(row) = rows.next()? {
                    let mut columns = Columns::new(row);
                    let stored = Stored::read_columns(&mut columns)?;
                    let ledger = optional_ledger_entry(&mut columns)?;
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
            for (key, reason) in verdicts {
                update.execute([key.as_str(), reason.state().as_str(), reason.code()])?;
            }
            Ok(())
        })
    }

    fn ledger(&self, key: &UrlKey) -> Result<Option<LedgerEntry>, StoreError> {
        let sql = "SELECT content_hash, hash_version, lastmod, last_modified_seconds, source,
                     since_seconds, seen_seconds, json_ld, meta, sitemap, time_element
                   FROM ledger WHERE url = ?1";
        self.row(sql, [key.as_str()], |row| {
            ledger_entry(&mut Columns::new(row))
        })
    }

    fn set_ledger(&mut self, entries: &[(UrlKey, LedgerEntry)]) -> Result<(), StoreError> {
        self.write(|transaction| {
            let mut replace = transaction.prepare(
                "REPLACE INTO ledger (url, content_hash, hash_version, lastmod, last_modified_seconds,
                   source, since_seconds, seen_seconds, json_ld, meta, sitemap, time_element)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?;
            for (key, entry) in entries {
                replace.execute(params![
                    key.as_str(),
                    hash_text(entry.content_hash),
                    entry.hash_version,
                    entry.lastmod,
                    entry.last_modified_seconds,
                    entry.source.map(DateSource::as_str),
                    entry.since_seconds,
                    entry.seen_seconds,
                    entry.stated.json_ld,
                    entry.stated.meta,
                    entry.stated.sitemap,
                    entry.stated.time_element,
                ])?;
            }
            Ok(())
        })
    }

    fn visit_ledger(&self, visit: &mut dyn FnMut(&UrlKey, LedgerEntry)) -> Result<(), StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT url, content_hash, hash_version, lastmod, last_modified_seconds, source,
                   since_seconds, seen_seconds, json_ld, meta, sitemap, time_element
                 FROM ledger WHERE url >= ?1 AND url < ?2 ORDER BY url",
            )?;
            for range in ranges::of_origins(connection, "ledger", None)? {
                let mut rows = statement.query([range.start, range.end])?;
                while let Some(row) = rows.next()? {
                    let mut columns = Columns::new(row);
                    visit(&columns.key()?, ledger_entry(&mut columns)?);
                }
            }
            Ok(())
        })
    }

    fn kept(&self, key: &UrlKey) -> Result<Option<KeptDocument>, StoreError> {
        let sql = "SELECT lastmod, read_at, sha256, body FROM kept WHERE url = ?1";
        self.row(sql, [key.as_str()], |row| {
            let mut columns = Columns::new(row);
            Ok(KeptDocument {
                lastmod: columns.get()?,
                read_at: columns.needed_time("read_at")?,
                sha256: columns.get()?,
                body: columns.get()?,
            })
        })
    }

    fn visit_kept(&self, visit: &mut dyn FnMut(&UrlKey, KeptNote)) -> Result<(), StoreError> {
        self.read(|connection| {
            // The length of a blob stands before it.
            let mut statement =
                connection.prepare("SELECT url, lastmod, read_at, length(body) FROM kept")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let mut columns = Columns::new(row);
                let key = columns.key()?;
                let note = KeptNote {
                    lastmod: columns.get()?,
                    read_at: columns.needed_time("read_at")?,
                    bytes: columns.get()?,
                };
                visit(&key, note);
            }
            Ok(())
        })
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

/// The entry of a page that may have none: then its columns are empty, of which one never is.
fn optional_ledger_entry(columns: &mut Columns<'_, '_>) -> rusqlite::Result<Option<LedgerEntry>> {
    let hash = columns.optional_word("content_hash", hash_from_text)?;
    let Some(content_hash) = hash else {
        return Ok(None);
    };
    rest_of_ledger_entry(content_hash, columns).map(Some)
}

fn ledger_entry(columns: &mut Columns<'_, '_>) -> rusqlite::Result<LedgerEntry> {
    let content_hash = columns.word("content_hash", hash_from_text)?;
    rest_of_ledger_entry(content_hash, columns)
}

fn rest_of_ledger_entry(
    content_hash: u128,
    columns: &mut Columns<'_, '_>,
) -> rusqlite::Result<LedgerEntry> {
    Ok(LedgerEntry {
        content_hash,
        hash_version: columns.get()?,
        lastmod: columns.get()?,
        last_modified_seconds: columns.get()?,
        source: columns.optional_word("source", DateSource::from_word)?,
        since_seconds: columns.get()?,
        seen_seconds: columns.get()?,
        stated: LedgerDates {
            json_ld: columns.get()?,
            meta: columns.get()?,
            sitemap: columns.get()?,
            time_element: columns.get()?,
        },
    })
}

#[cfg(test)]
mod tests;
