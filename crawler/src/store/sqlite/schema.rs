//! The format of the state file: its tables, how a file is known to be one of ours, and the
//! settings of a connection. It never touches rows.
//!
//! People may open the file with any `SQLite` tool, also while a crawl runs; the comments between the
//! columns are kept in the file, so `.schema` explains it. There are no `STRICT` tables, which tools
//! from before 2021 cannot open.

use std::{fs, path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, TransactionBehavior, config::DbConfig};

use super::{
    failure,
    files::{io_failure, with_suffix},
    outbox, undo,
};
use crate::store::{StoreError, StoreErrorKind};

/// Version of the format, kept as `user_version`. It grows with every change that an older arpent
/// could not read.
const FORMAT: i32 = 1;

/// Marks a file as a state of arpent (`application_id`): the letters `arpt`.
const APPLICATION_ID: i32 = 0x6172_7074;

/// Bytes per page of the file, the default of `SQLite`. Measured at 300,000 URLs found in no order:
/// with 8 KiB, 1.4 times as many bytes were written, at the same size of the file and speed of scans.
const PAGE_BYTES: u32 = 4_096;

/// Memory for pages of the file, in KiB. Pages that are not in it are read from the memory of the system.
const CACHE_KIB: i64 = 16 * 1_024;

/// Pages of the file in the write-ahead log that start a checkpoint: 64 MiB. Pages that change often
/// are written to the file once per checkpoint, so a larger log spares writes.
const CHECKPOINT_PAGES: i64 = 16_384;

/// How long a commit waits for a person's tool that is writing to the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The tables. Text is compared byte by byte (`BINARY`), so that URLs of one origin come in the
/// order in which sitemaps are written.
const TABLES: &str = r"
CREATE TABLE page (
  -- One row for each known URL.
  url TEXT NOT NULL PRIMARY KEY,
  run INTEGER NOT NULL,               -- number of the run that found it last
  state TEXT NOT NULL,                -- queued, listed, excluded or failed
  reason TEXT NOT NULL,               -- why; the codes of the report
  depth INTEGER NOT NULL,             -- fewest hops from the start URL
  via TEXT NOT NULL,                  -- how it was found: start, link, redirect, refresh, canonical, alternate, input, file, sitemap, feed, list, earlier
  found_on TEXT,                      -- on which page, or in which sitemap or feed
  attempts INTEGER NOT NULL DEFAULT 0,
  fetched_at TEXT,                    -- end of the last attempt; all times are UTC
  not_fetched TEXT,                   -- reason code, when no request was made; 'input': an input says what follows
  given_lastmod TEXT,
  given_changefreq TEXT,
  given_priority TEXT,
  given_extensions TEXT,              -- JSON: images, videos, news, alternates, own, fields
  error TEXT,                         -- what went wrong, when no answer came or the page is kept
  outlinks INTEGER,                   -- id of the links that were taken from it, in whatever run
  -- The answer. It counts when answer_run = run; otherwise it is an older one, kept for a conditional request.
  answer_run INTEGER,                 -- run of the answer; -1 once the URL was put back into the queue; NULL: no answer
  status INTEGER,
  content_type TEXT,
  kind TEXT,                          -- page or document; NULL: anything else
  body_end TEXT,                      -- complete, too-large, cut-short, 'undecodable: ...'; NULL: not read
  body_bytes INTEGER,                 -- decoded
  content_hash TEXT,                  -- XXH3, 128 bits, hexadecimal
  hash_version INTEGER,               -- what was hashed; 1: the decoded body; 2, 3: what the page says (see its docs)
  last_modified TEXT,
  date TEXT,                          -- the server's clock
  etag TEXT,
  noindex INTEGER,                    -- 1 or NULL, like the other flags
  nofollow INTEGER,
  noimageindex INTEGER,
  unavailable_after TEXT,
  canonical_is TEXT,                  -- itself, other or conflicting; NULL: absent
  canonical TEXT,                     -- the other URL
  refresh_delay INTEGER,              -- seconds
  refresh_url TEXT,
  location TEXT,                      -- target of a redirect
  selected_lastmod TEXT,              -- date that a page rule found
  excluded_by_page_rule INTEGER,
  warnings TEXT,                      -- codes, separated by commas
  title TEXT,
  images BLOB,                        -- as outlinks.links; NULL: not looked for
  alternates BLOB,                    -- versions in other languages: the same, each URL behind its code and a space
  selected_values TEXT,               -- values for own elements, a JSON object by name
  feeds BLOB,                         -- feeds that it names; as outlinks.links
  robots_by_header INTEGER,           -- noindex and the like came with a header
  read_as TEXT,                       -- fingerprint of the settings that it was read with, hexadecimal
  -- What the answer is to the last attempt.
  confirmed INTEGER,                  -- 1: older, but confirmed by a 304 in this run
  kept TEXT,                          -- it is the last good one; what the page would be without it (a reason code)
  failing_since TEXT,                 -- first failed attempt since the last good answer
  gone_since TEXT,                    -- first 404 since then
  listed_before INTEGER,              -- 1: it was listed when it was found again, by a run that was published
  body_hash TEXT,                     -- XXH3, 128 bits, hexadecimal, of the decoded body
  json_ld_modified TEXT,              -- dates that the page states, as precise as it does: in structured data,
  meta_modified TEXT,                 -- in a meta or microdata,
  time_modified TEXT,                 -- in a time element that is called the date of an update;
  published TEXT,                     -- the earliest date of publication
  sitemap_lastmod TEXT,               -- what a sitemap of the site says in this run
  sitemap_is_file INTEGER,            -- 1: that is the date of the sitemap file itself
  likeness TEXT                       -- fingerprint that pages share whose text differs in few words, hexadecimal
) WITHOUT ROWID;

CREATE TABLE queue (
  -- The URLs that wait, in order. Their depth is that of their page.
  sequence INTEGER PRIMARY KEY,       -- order of discovery
  url TEXT NOT NULL,
  hops INTEGER NOT NULL               -- redirects in a row that led there
);

CREATE TABLE outlinks (
  -- The links that were taken from each page. Numbered, so that new ones are written behind each other.
  id INTEGER PRIMARY KEY,
  links BLOB NOT NULL                 -- zlib: one URL per line; a line that begins with / is on the page's own origin
);

CREATE TABLE ledger (
  -- The lastmod of each page, which moves only with its content.
  url TEXT NOT NULL PRIMARY KEY,
  content_hash TEXT NOT NULL,         -- as in page; with hash_version 1000 that of the ETag of a document
  hash_version INTEGER NOT NULL,
  lastmod TEXT,                       -- as published
  last_modified_seconds INTEGER,      -- last Last-Modified with this content, seconds since 1970
  source TEXT,                        -- where lastmod came from: rule, history, json-ld, meta, sitemap, header, time-element
  since_seconds INTEGER,              -- when this content was fetched first and last, seconds since 1970
  seen_seconds INTEGER,
  json_ld TEXT,                       -- the dates that were stated when it was fetched last
  meta TEXT,
  sitemap TEXT,
  time_element TEXT
) WITHOUT ROWID;

CREATE TABLE value (
  -- Named values.
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE run (
  -- One row: the run that was worked on last.
  id INTEGER PRIMARY KEY CHECK (id = 1),
  run INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL,     -- highest number ever given in its queue
  published_run INTEGER,              -- the last run whose set was published; what later ones decided does not count yet; 0: none was, and nothing does
  kept_set INTEGER                    -- number of the set that was published last, if it is one of those that are kept
);

CREATE VIEW summary AS
  -- How many URLs the last run knows, by state and reason.
  SELECT state, reason, count(*) AS urls
  FROM page WHERE run = (SELECT run FROM run) GROUP BY state, reason;
";

/// What the last run lists, with the dates that were published and where these came from.
const LISTED: &str = "
DROP VIEW IF EXISTS listed;
CREATE VIEW listed AS
  -- What the last run lists; lastmod as it was published last, and where that came from.
  SELECT page.url, reason, depth, found_on, fetched_at, ledger.lastmod, ledger.source, last_modified, selected_lastmod, title
  FROM page LEFT JOIN ledger ON ledger.url = page.url
  WHERE state = 'listed' AND run = (SELECT run FROM run);
";

/// Columns of `page` that the first files do not have. They are added to such a file; an older arpent goes on
/// writing it and leaves them empty.
const LATER_COLUMNS: [(&str, &str); 24] = [
    ("noimageindex", "INTEGER"),
    ("images", "BLOB"),
    ("alternates", "BLOB"),
    ("selected_values", "TEXT"),
    ("given_lastmod", "TEXT"),
    ("given_changefreq", "TEXT"),
    ("given_priority", "TEXT"),
    ("given_extensions", "TEXT"),
    ("feeds", "BLOB"),
    ("robots_by_header", "INTEGER"),
    ("read_as", "TEXT"),
    ("confirmed", "INTEGER"),
    ("kept", "TEXT"),
    ("failing_since", "TEXT"),
    ("gone_since", "TEXT"),
    ("listed_before", "INTEGER"),
    ("body_hash", "TEXT"),
    ("json_ld_modified", "TEXT"),
    ("meta_modified", "TEXT"),
    ("time_modified", "TEXT"),
    ("published", "TEXT"),
    ("sitemap_lastmod", "TEXT"),
    ("sitemap_is_file", "INTEGER"),
    ("likeness", "TEXT"),
];

/// Columns of `ledger` that came later.
const LATER_LEDGER_COLUMNS: [(&str, &str); 7] = [
    ("source", "TEXT"),
    ("since_seconds", "INTEGER"),
    ("seen_seconds", "INTEGER"),
    ("json_ld", "TEXT"),
    ("meta", "TEXT"),
    ("sitemap", "TEXT"),
    ("time_element", "TEXT"),
];

/// Columns of `run` that came later.
const LATER_RUN_COLUMNS: [(&str, &str); 2] =
    [("published_run", "INTEGER"), ("kept_set", "INTEGER")];

/// Tables that came later; a file without them gets them, and an older arpent does not mind them.
const LATER_TABLES: &str = r"
CREATE TABLE IF NOT EXISTS orphan (
  -- The URLs of the last run that a sitemap, a feed or a list names and no page leads to.
  url TEXT NOT NULL PRIMARY KEY
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS kept (
  -- Sitemaps as they were read, for the runs whose index says that they did not change.
  url TEXT NOT NULL PRIMARY KEY,
  lastmod TEXT NOT NULL,              -- as the index has it
  read_at TEXT NOT NULL,              -- when it was asked for
  sha256 TEXT NOT NULL,               -- of the bytes that were read, hexadecimal
  body BLOB NOT NULL                  -- zlib: these bytes
);

-- What was known of pages before a run that is not published yet decided about them; it counts again when
-- another run begins.
CREATE TABLE IF NOT EXISTS stood AS SELECT * FROM page WHERE 0;
CREATE UNIQUE INDEX IF NOT EXISTS stood_url ON stood (url);

-- What was known of pages whose answers do not count yet: they are listed by it meanwhile.
CREATE TABLE IF NOT EXISTS put_off AS SELECT * FROM page WHERE 0;
CREATE UNIQUE INDEX IF NOT EXISTS put_off_url ON put_off (url);

CREATE TABLE IF NOT EXISTS doubt (
  -- URLs whose last answer is not believed until a later start hears the same: many pages said it at once.
  url TEXT NOT NULL PRIMARY KEY,
  run INTEGER NOT NULL,               -- number of the run that heard it last
  since TEXT NOT NULL,                -- end of the start that heard it first
  sign TEXT NOT NULL,                 -- in what these pages are alike
  shared TEXT NOT NULL,               -- what they share: a fingerprint, hexadecimal
  example TEXT NOT NULL,              -- one of them, or where they lead
  times INTEGER NOT NULL              -- how many starts heard it
) WITHOUT ROWID;
";

/// How much is asked of a file before it is worked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Care {
    /// It says that it is a state; damage is found where it is read.
    Trust,
    /// All of it is looked at.
    Check,
    /// Nothing: what can be read of it is read, and it stays as it is.
    Salvage,
}

/// Opens the existing file `path`, which may be empty, and makes sure that it is a state that this
/// version can work with. A file that is anything else is not changed.
pub(super) fn open(path: &Path, care: Care) -> Result<Connection, StoreError> {
    let map = |error| failure("open", path, error);
    let has_log = fs::metadata(with_suffix(path, "-wal")).is_ok_and(|log| log.len() > 0);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(map)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(map)?;
    // A damaged file, and its log, are to be found as they were.
    keep_log(&connection, true).map_err(map)?;
    let identity = Identity::read(&connection).map_err(map)?;
    identity.check(path)?;
    if !has_log {
        check_length(path, identity.page_bytes)?;
    }
    if care == Care::Salvage {
        protect(&connection).map_err(map)?;
        return Ok(connection);
    }
    let mode = configure(&connection, identity.is_empty).map_err(map)?;
    if mode != "wal" {
        return Err(StoreError::new(
            StoreErrorKind::Open,
            format!(
                "cannot keep a write-ahead log beside {}; a folder on a local disk can",
                path.display()
            ),
        ));
    }
    if identity.is_empty {
        create(&mut connection).map_err(map)?;
    } else {
        if care == Care::Check {
            check_pages(&connection, path)?;
        }
        upgrade(&mut connection).map_err(map)?;
    }
    keep_log(&connection, false).map_err(map)?;
    Ok(connection)
}

/// Makes sure that what `connection` reads is a state that this version can work with, and reads it with care.
pub(super) fn expect_ours(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let map = |error| failure("open", path, error);
    Identity::read(connection).map_err(map)?.check(path)?;
    protect(connection).map_err(map)
}

/// Whether the log stays as it is when the connection is closed, and with it the file.
fn keep_log(connection: &Connection, keep: bool) -> rusqlite::Result<()> {
    let setting = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(setting, keep).map(drop)
}

/// Looks at every page of the file (`PRAGMA quick_check`): what no reading of a state may notice, such as
/// a page that was written half. Reads about 1 GB a second when the file is in memory.
fn check_pages(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let found: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|error| failure("check", path, error))?;
    if found == "ok" {
        return Ok(());
    }
    // The first line says in which database, of which there is one.
    let what = found.lines().last().unwrap_or_default().to_owned();
    Err(StoreError::new(
        StoreErrorKind::Corrupt,
        format!("the state {} is damaged: {what}", path.display()),
    ))
}

/// What a file says of itself.
struct Identity {
    application_id: i32,
    format: i32,
    is_empty: bool,
    page_bytes: u64,
}

impl Identity {
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i32>(0));
        Ok(Self {
            application_id: number("PRAGMA application_id")?,
            format: number("PRAGMA user_version")?,
            is_empty: number("SELECT count(*) FROM sqlite_schema")? == 0,
            page_bytes: connection.query_row("PRAGMA page_size", [], |row| row.get(0))?,
        })
    }

    /// Whether this version can work with it.
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
                format!("the state {path} is damaged: there is no format {other}"),
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

/// Settings that last as long as the connection, and those that only a new file takes. Says which
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
    connection.pragma_update(None, "trusted_schema", false)
}

/// Makes the tables, all or nothing.
fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLES)?;
    transaction.execute_batch(LATER_TABLES)?;
    transaction.execute_batch(outbox::TABLES)?;
    transaction.execute_batch(undo::TABLES)?;
    transaction.execute_batch(LISTED)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()
}

/// Adds what is missing of [`LATER_COLUMNS`], [`LATER_LEDGER_COLUMNS`], [`LATER_RUN_COLUMNS`] and the later tables, all or
/// nothing.
fn upgrade(connection: &mut Connection) -> rusqlite::Result<()> {
    let known = "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2";
    let has_table = "SELECT 1 FROM pragma_table_info(?1)";
    let mut missing = Vec::new();
    // A table that is missing is made with all columns.
    let tables = [
        ("page", &LATER_COLUMNS[..]),
        ("stood", &LATER_COLUMNS[..]),
        ("put_off", &LATER_COLUMNS[..]),
        ("undo_page", &LATER_COLUMNS[..]),
        ("ledger", &LATER_LEDGER_COLUMNS[..]),
        ("undo_ledger", &LATER_LEDGER_COLUMNS[..]),
        ("undone_ledger", &LATER_LEDGER_COLUMNS[..]),
        ("run", &LATER_RUN_COLUMNS[..]),
    ];
    for (table, columns) in tables {
        if !connection.prepare(has_table)?.exists([table])? {
            continue;
        }
        for (name, kind) in columns {
            if !connection.prepare(known)?.exists([table, name])? {
                missing.push(format!("ALTER TABLE {table} ADD COLUMN {name} {kind};"));
            }
        }
    }
    let transaction = connection.transaction()?;
    if !missing.is_empty() {
        transaction.execute_batch(&missing.concat())?;
        transaction.execute_batch(LISTED)?;
    }
    // Where they exist already nothing is written, so that no other program is waited for.
    transaction.execute_batch(LATER_TABLES)?;
    transaction.execute_batch(outbox::TABLES)?;
    transaction.execute_batch(undo::TABLES)?;
    transaction.commit()
}
