//! The format of the state file: its tables, how a file is known to be one of ours, and the
//! settings of a connection. It never touches rows.
//!
//! People may open the file with any `SQLite` tool, also while a crawl is under way; the comments between the
//! columns are kept in the file, so `.schema` explains it. There are no `STRICT` tables, which tools
//! from before 2021 cannot open.

use std::{fs, path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, TransactionBehavior, config::DbConfig};

use super::{
    StoreError, StoreErrorKind, StoredSession,
    columns::definitions,
    error::{failure, with_causes},
    files::{io_failure, with_suffix},
};
use crate::page::{ClosedPattern, Page, Visit};

/// Version of the format, kept as `user_version`. From the first release on it grows with every change that an older arpent
/// could not read.
const FORMAT: i32 = 1;

/// Marks a file as a state of arpent (`application_id`): the letters `arpt`.
const APPLICATION_ID: i32 = 0x6172_7074;

/// Bytes per page of the file. A row of up to a quarter of it needs no page of its own beside it, and with the blocks of its text a
/// row has 1 KiB and more: with 4 KiB a crawl by 304 takes a fifth more CPU.
const PAGE_BYTES: u32 = 8_192;

/// Memory for pages of the file, in KiB. Pages that are not in it are read from the memory of the system.
const CACHE_KIB: i64 = 8 * 1_024;

/// The same for walks in the order of keys, in KiB.
const CACHE_OF_WALKS_KIB: i64 = 2 * 1_024;

/// Pages of the file in the write-ahead log that start a checkpoint: 64 MiB. Pages that change often
/// are written to the file once per checkpoint, so a larger log spares writes.
const CHECKPOINT_PAGES: i64 = 8_192;

/// Prepared statements that are stored for the next use: more than there are.
const STATEMENTS: usize = 64;

/// How long a commit waits for a person's tool that is writing to the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The tables. Text is compared byte by byte (`BINARY`), so that URLs of one origin come in the
/// order in which sitemaps are written.
fn tables() -> String {
    let (page, visit) = (definitions::<Page>(","), definitions::<Visit>(","));
    let (pattern, session) = (
        definitions::<ClosedPattern>(""),
        definitions::<StoredSession>(""),
    );
    format!(
        "
CREATE TABLE page (
  -- One row for each URL that a published crawl decided, or that an imported set lists.
  url TEXT NOT NULL PRIMARY KEY,
{page}  links INTEGER                          -- id in link of the links that were taken from it
) WITHOUT ROWID;

CREATE TABLE visit (
  -- One row for each URL of the crawl under way.
  url TEXT NOT NULL PRIMARY KEY,
{visit}  links INTEGER                          -- id in link, that of its page row once it was copied there
) WITHOUT ROWID;

CREATE UNIQUE INDEX visit_queue ON visit (sequence) WHERE state = 'queued';

CREATE TABLE pattern (
  -- Places that go on without end, and parameters that make copies.
{pattern}) WITHOUT ROWID;

CREATE TABLE session (
  -- One row for each session of a crawl that opened the state, the newest 1,000.
  id INTEGER PRIMARY KEY,
{session});
{OTHERS}"
    )
}

const OTHERS: &str = "
CREATE TABLE link (
  -- What was taken from each page. Numbered, so that new ones are written after each other.
  id INTEGER PRIMARY KEY,
  text_blocks BLOB,                   -- hashes of the blocks of its text, 7 bytes each: hash, hash of numbers, length; at most 64
  links BLOB                          -- zlib: one URL per line, with a tab and the text of the link where it has one; a line that begins with / is on the page's own origin; NULL: there was no room
);

CREATE TABLE outbox (
  -- The URLs that engines are to be notified of, until one has them.
  url TEXT NOT NULL PRIMARY KEY,
  change TEXT,                        -- added, changed or removed; NULL: an engine has it, and it rests
  since TEXT NOT NULL,
  tries INTEGER NOT NULL,             -- requests with it that were refused
  sent_at TEXT                        -- when an engine got it last
) WITHOUT ROWID;

CREATE TABLE meta (
  -- Named values.
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE VIEW listed AS
  -- The published set; lastmod as published, and where that came from.
  SELECT url, reason, depth, found_on, fetched_at, lastmod, source, last_modified, selected_lastmod, title
  FROM page WHERE state = 'listed';

CREATE VIEW summary AS
  -- How many URLs are known as of the last publish, by state and reason.
  SELECT state, reason, count(*) AS urls FROM page GROUP BY state, reason;
";

/// How much is asked of a file before it is worked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenCheck {
    /// The file is marked as a state; damage is found where it is read.
    Trust,
    /// All of it is looked at.
    Check,
    /// Nothing: what can be read of it is read, and it stays as it is.
    Salvage,
}

/// A new state that no other program sees. What does not fit into [`CACHE_KIB`] waits in a temporary file.
pub(super) fn temporary() -> rusqlite::Result<Connection> {
    let mut connection = Connection::open("")?;
    // A rollback needs no file.
    connection.pragma_update_and_check(None, "journal_mode", "MEMORY", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    protect(&connection)?;
    create(&mut connection)?;
    Ok(connection)
}

/// Opens the existing file `path`, which may be empty, and makes sure that it is a state that this
/// version can work with. A file that is anything else is not changed.
pub(super) fn open(path: &Path, care: OpenCheck) -> Result<Connection, StoreError> {
    let map = |error| failure("open", path, error);
    let has_log = fs::metadata(with_suffix(path, "-wal")).is_ok_and(|log| log.len() > 0);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(map)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(map)?;
    // A damaged file, and its log, are to be found as they were.
    keep_log(&connection, true).map_err(map)?;
    let identity = FileIdentity::read(&connection).map_err(map)?;
    identity.check(path)?;
    if !has_log {
        check_length(path, identity.page_bytes)?;
    }
    if care == OpenCheck::Salvage {
        protect(&connection).map_err(map)?;
        return Ok(connection);
    }
    let mode = configure(&connection, identity.is_empty).map_err(map)?;
    if mode != "wal" {
        return Err(StoreError::new(
            StoreErrorKind::Open,
            format!(
                "cannot write a write-ahead log beside {}; use a folder on a local disk",
                path.display()
            ),
        ));
    }
    if identity.is_empty {
        create(&mut connection).map_err(map)?;
    } else if care == OpenCheck::Check {
        check_pages(&connection, path, "quick_check")?;
    }
    keep_log(&connection, false).map_err(map)?;
    Ok(connection)
}

/// Opens the existing file `path` for one reader beside the process that may write to it.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    let map = |error| failure("open", path, error);
    // A reader of a file with a log writes to the index of the log.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(map)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(map)?;
    keep_log(&connection, true).map_err(map)?;
    expect_ours(&connection, path)?;
    let query_only = "PRAGMA query_only = ON; BEGIN";
    connection.execute_batch(query_only).map_err(map)?;
    Ok(connection)
}

/// Makes sure that what `connection` reads is a state that this version can work with, and reads it with care.
pub(super) fn expect_ours(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let map = |error| failure("open", path, error);
    FileIdentity::read(connection).map_err(map)?.check(path)?;
    protect(connection).map_err(map)
}

/// Returns whether the log stays as it is when the connection is closed, and with it the file.
fn keep_log(connection: &Connection, keep: bool) -> rusqlite::Result<()> {
    let setting = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(setting, keep).map(drop)
}

/// The damage that a look at every row and every entry of an index of the state `path` finds (`PRAGMA integrity_check`);
/// several times as slow as [`OpenCheck::Check`].
pub(crate) fn find_damage(path: &Path) -> Option<String> {
    let found = open(path, OpenCheck::Salvage)
        .and_then(|connection| check_pages(&connection, path, "integrity_check"));
    let error = found.err()?;
    (error.kind() == StoreErrorKind::Corrupt).then(|| with_causes(&error))
}

/// Looks at every page of the file (`PRAGMA quick_check`, or the `check` that is named): what no reading of a state may
/// notice, such as a page that was written half. Reads about 1 GB a second when the file is in memory.
fn check_pages(connection: &Connection, path: &Path, check: &str) -> Result<(), StoreError> {
    let found: String = connection
        .query_row(&format!("PRAGMA {check}(1)"), [], |row| row.get(0))
        .map_err(|error| failure("check", path, error))?;
    if found == "ok" {
        return Ok(());
    }
    // The first line names the database, of which there is one.
    let what = found.lines().last().unwrap_or_default().to_owned();
    Err(StoreError::new(
        StoreErrorKind::Corrupt,
        format!("the state {} is damaged: {what}", path.display()),
    ))
}

/// The statements of a file about itself.
struct FileIdentity {
    application_id: i32,
    format: i32,
    is_empty: bool,
    page_bytes: u64,
}

impl FileIdentity {
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i32>(0));
        Ok(Self {
            application_id: number("PRAGMA application_id")?,
            format: number("PRAGMA user_version")?,
            is_empty: number("SELECT count(*) FROM sqlite_schema")? == 0,
            page_bytes: connection.query_row("PRAGMA page_size", [], |row| row.get(0))?,
        })
    }

    /// Returns whether this version can work with it.
    fn check(&self, path: &Path) -> Result<(), StoreError> {
        let path = path.display();
        match (self.application_id, self.format) {
            (APPLICATION_ID, FORMAT) => Ok(()),
            (0, 0) if self.is_empty => Ok(()),
            (APPLICATION_ID, newer) if newer > FORMAT => Err(StoreError::new(
                StoreErrorKind::Version,
                format!(
                    "the state {path} has format {newer}, written by a newer arpent; this one reads format {FORMAT}: \
                     use the newer one, or another folder for the state"
                ),
            )),
            (APPLICATION_ID, other) => Err(StoreError::new(
                StoreErrorKind::Corrupt,
                format!(
                    "the state {path} is damaged: it has the format {other}, which does not exist"
                ),
            )),
            _ => Err(StoreError::new(
                StoreErrorKind::Corrupt,
                format!("{path} is a database of another program, not a state of arpent"),
            )),
        }
    }
}

/// Refuses a file that ends within a page: `SQLite` notices missing pages, and fills a cut one with
/// zeros. Only sure where no log is left to complete the file.
fn check_length(path: &Path, page_bytes: u64) -> Result<(), StoreError> {
    let length = match fs::metadata(path) {
        Ok(file) => file.len(),
        Err(error) => return Err(io_failure("open", path, error)),
    };
    if length.is_multiple_of(page_bytes) {
        return Ok(());
    }
    Err(StoreError::new(
        StoreErrorKind::Corrupt,
        format!("the state {} is damaged: it is cut short", path.display()),
    ))
}

/// Settings that last as long as the connection, and those that only a new file takes. Returns which
/// kind of journal the file got.
fn configure(connection: &Connection, is_new: bool) -> rusqlite::Result<String> {
    if is_new {
        connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    }
    // A write-ahead log: people can read while a crawl writes.
    let mode = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    // No sync per commit: a commit survives the end of the process, and a loss of power takes at most
    // the last commits, those that the system had not written out yet; never a part of one.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(
        None,
        "journal_size_limit",
        CHECKPOINT_PAGES * i64::from(PAGE_BYTES),
    )?;
    protect(connection)?;
    Ok(mode)
}

/// Settings that are good for every file, whatever is in it. They change nothing of it.
fn protect(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    // An I/O error on a mapped file would kill the process.
    connection.pragma_update(None, "mmap_size", 0)?;
    // Damage is found where it is read, and a doctored file runs no code of its own.
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // Else a join is prepared again for each value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}

/// Lowers the cache to what a walk in the order of keys needs, and gives the rest back. A sorter takes as much again.
pub(super) fn lower_cache(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "cache_size", -CACHE_OF_WALKS_KIB)?;
    connection.execute_batch("PRAGMA shrink_memory")
}

/// Makes the tables, all or nothing.
fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(&tables())?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_has_the_schema() {
        let page = format!(
            "# Schema of the state\n\nThe state of a site is one SQLite file, `SITE.db`; a crawl may go on while you read the file. Its format has the \
             version {FORMAT} (`pragma user_version`).\n\n```sql{}```\n",
            tables()
        );
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/guide/state-schema.md");
        crate::testing::assert_guide(path, &page);
    }
}
