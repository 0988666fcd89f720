//! The published set, what a publish found to be different, and the outbox, as rows.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::{aside, columns::Columns, put_off, ranges, undo};
use crate::{
    page::RunId,
    store::{
        outbox::{
            ContentMark, Difference, Listing, MAX_OUTBOX, OutboxStep, Tell, UrlChange, Waiting,
            gap_before, whole_second,
        },
        undo::UndoStep,
    },
    url_key::UrlKey,
};

/// The tables; a file without them gets them.
pub(super) const TABLES: &str = r"
CREATE TABLE IF NOT EXISTS published (
  -- The URLs of the published set, as readers see them, and what tells whether one changes.
  url TEXT NOT NULL PRIMARY KEY,
  lastmod TEXT,                       -- as published
  content INTEGER,                    -- lower half of the hash of the page, signed
  hash_version INTEGER                -- what was hashed
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS staged (
  -- What a publish that is under way found to be different. Empty in between.
  url TEXT NOT NULL PRIMARY KEY,
  change TEXT,                        -- as in outbox; NULL: nothing to tell
  is_listed INTEGER NOT NULL,
  lastmod TEXT,
  content INTEGER,
  hash_version INTEGER
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS outbox (
  -- The URLs that engines are to be told of, until one has them.
  url TEXT NOT NULL PRIMARY KEY,
  change TEXT NOT NULL,               -- added, changed or removed
  since TEXT NOT NULL,
  tries INTEGER NOT NULL              -- requests with it that were refused
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS told (
  -- When engines were told of a URL, for the minutes in which they are not told again.
  url TEXT NOT NULL PRIMARY KEY,
  at TEXT NOT NULL
) WITHOUT ROWID;
";

/// Applies one step of a commit of run `run`.
pub(super) fn apply(
    transaction: &Connection,
    step: &OutboxStep,
    run: RunId,
) -> rusqlite::Result<()> {
    match step {
        OutboxStep::Stage(differences) => stage(transaction, differences),
        OutboxStep::Unstage => transaction.execute("DELETE FROM staged", []).map(drop),
        OutboxStep::Take { since, tell } => {
            if run > 0 {
                transaction.execute("UPDATE run SET published_run = ?1", [run])?;
                aside::forget(transaction)?;
                put_off::settle(transaction)?;
            }
            take(transaction, *since, *tell)
        }
        OutboxStep::Undo(UndoStep::KeepBefore(set)) => undo::keep_before(transaction, *set),
        OutboxStep::Undo(UndoStep::ForgetBefore(until)) => undo::forget_before(transaction, *until),
        OutboxStep::Undo(UndoStep::StepBack { to, run }) => undo::step_back(transaction, *to, *run),
        OutboxStep::Undo(UndoStep::Disown) => aside::disown(transaction),
        OutboxStep::Undo(UndoStep::ForgetRuns) => undo::forget_runs(transaction),
        OutboxStep::Forget => transaction.execute("DELETE FROM outbox", []).map(drop),
        OutboxStep::TellAll { since } => {
            transaction.execute(
                "INSERT OR IGNORE INTO outbox (url, change, since, tries) SELECT url, ?1, ?2, 0 FROM published",
                [UrlChange::Added.as_str(), &time_text(*since)],
            )?;
            bound(transaction, MAX_OUTBOX)
        }
        OutboxStep::Put(waiting) => {
            let mut put = transaction.prepare(
                "REPLACE INTO outbox (url, change, since, tries) VALUES (?1, ?2, ?3, ?4)",
            )?;
            for url in waiting {
                put.execute(params![
                    url.key.as_str(),
                    url.change.as_str(),
                    time_text(url.since),
                    url.tries
                ])?;
            }
            bound(transaction, MAX_OUTBOX)
        }
        OutboxStep::Told { urls, at } => told(transaction, urls, *at),
        OutboxStep::Tried(urls) => {
            let mut tried =
                transaction.prepare("UPDATE outbox SET tries = tries + 1 WHERE url = ?1")?;
            for key in urls {
                tried.execute([key.as_str()])?;
            }
            Ok(())
        }
        OutboxStep::GiveUp(urls) => {
            let mut leave = transaction.prepare("DELETE FROM outbox WHERE url = ?1")?;
            for key in urls {
                leave.execute([key.as_str()])?;
            }
            Ok(())
        }
    }
}

fn stage(transaction: &Connection, differences: &[Difference]) -> rusqlite::Result<()> {
    let mut put = transaction.prepare(
        "REPLACE INTO staged (url, change, is_listed, lastmod, content, hash_version)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for difference in differences {
        let listing = difference.listing.as_ref();
        let content = listing.and_then(|listing| listing.content);
        put.execute(params![
            difference.key.as_str(),
            difference.change.map(UrlChange::as_str),
            listing.is_some(),
            listing.and_then(|listing| listing.lastmod.as_deref()),
            content.map(|content| content.hash.cast_signed()),
            content.map(|content| content.version),
        ])?;
    }
    Ok(())
}

fn take(transaction: &Connection, since: Timestamp, tell: Tell) -> rusqlite::Result<()> {
    transaction.execute(
        "DELETE FROM published WHERE url IN (SELECT url FROM staged WHERE NOT is_listed)",
        [],
    )?;
    transaction.execute(
        "REPLACE INTO published (url, lastmod, content, hash_version)
         SELECT url, lastmod, content, hash_version FROM staged WHERE is_listed",
        [],
    )?;
    if tell == Tell::Newest {
        transaction.execute(
            "DELETE FROM outbox WHERE EXISTS (SELECT 1 FROM staged WHERE change IS NOT NULL)",
            [],
        )?;
    }
    if tell != Tell::Nobody {
        transaction.execute(
            "REPLACE INTO outbox (url, change, since, tries)
             SELECT url, change, ?1, 0 FROM staged WHERE change IS NOT NULL",
            [time_text(since)],
        )?;
        bound(transaction, MAX_OUTBOX)?;
    }
    transaction.execute("DELETE FROM staged", [])?;
    Ok(())
}

fn told(transaction: &Connection, urls: &[UrlKey], at: Timestamp) -> rusqlite::Result<()> {
    let mut leave = transaction.prepare("DELETE FROM outbox WHERE url = ?1")?;
    let mut note = transaction.prepare("REPLACE INTO told (url, at) VALUES (?1, ?2)")?;
    let text = time_text(at);
    for key in urls {
        leave.execute([key.as_str()])?;
        note.execute([key.as_str(), &text])?;
    }
    let past = time_text(gap_before(at));
    transaction.execute("DELETE FROM told WHERE at <= ?1", [past])?;
    Ok(())
}

/// Lets the oldest go beyond `most`.
fn bound(transaction: &Connection, most: u64) -> rusqlite::Result<()> {
    let waiting = len(transaction)?;
    if waiting > most {
        transaction.execute(
            "DELETE FROM outbox WHERE url IN (SELECT url FROM outbox ORDER BY since, url LIMIT ?1)",
            [waiting - most],
        )?;
    }
    Ok(())
}

/// URLs that wait.
pub(super) fn len(connection: &Connection) -> rusqlite::Result<u64> {
    connection.query_row("SELECT count(*) FROM outbox", [], |row| row.get(0))
}

/// The first `limit` URLs of the published set behind `after`, in key order.
pub(super) fn published(
    connection: &Connection,
    after: Option<&UrlKey>,
    limit: usize,
) -> rusqlite::Result<Vec<(UrlKey, Listing)>> {
    let found = behind(connection, "published", "NULL, 1", after, limit)?;
    let listings = found
        .into_iter()
        .map(|found| (found.key, found.listing.unwrap_or_default()));
    Ok(listings.collect())
}

/// The first `limit` differences that are staged behind `after`, in key order.
pub(super) fn staged(
    connection: &Connection,
    after: Option<&UrlKey>,
    limit: usize,
) -> rusqlite::Result<Vec<Difference>> {
    behind(connection, "staged", "change, is_listed", after, limit)
}

/// The first `limit` rows of `table` behind `after`, in key order; `state` are the columns that say what became of
/// a URL, and whether it is listed.
fn behind(
    connection: &Connection,
    table: &'static str,
    state: &'static str,
    after: Option<&UrlKey>,
    limit: usize,
) -> rusqlite::Result<Vec<Difference>> {
    let mut found = Vec::new();
    let mut statement = connection.prepare(&format!(
        "SELECT url, {state}, lastmod, content, hash_version FROM {table}
         WHERE url >= ?1 AND url < ?2 ORDER BY url LIMIT ?3",
    ))?;
    for range in ranges::of_origins(connection, table, after)? {
        // One more: the first may be the one that was found last.
        let wanted = i64::try_from(limit - found.len())
            .unwrap_or(i64::MAX)
            .saturating_add(1);
        let mut rows = statement.query(params![range.start, range.end, wanted])?;
        while let Some(row) = rows.next()?
            && found.len() < limit
        {
            let mut columns = Columns::new(row);
            let key = columns.key()?;
            if after == Some(&key) {
                continue;
            }
            let change = columns.optional_word("change", UrlChange::from_word)?;
            let is_listed: bool = columns.get()?;
            let lastmod = columns.get()?;
            let (hash, version) = (columns.get::<Option<i64>>()?, columns.get::<Option<u32>>()?);
            let content = hash.zip(version).map(|(hash, version)| ContentMark {
                version,
                hash: hash.cast_unsigned(),
            });
            let listing = is_listed.then_some(Listing { lastmod, content });
            found.push(Difference {
                key,
                change,
                listing,
            });
        }
        if found.len() >= limit {
            break;
        }
    }
    Ok(found)
}

/// The first `limit` URLs that wait behind `after` and may be told at `now`.
pub(super) fn waiting(
    connection: &Connection,
    after: Option<&(u32, UrlKey)>,
    limit: usize,
    now: Timestamp,
) -> rusqlite::Result<Vec<Waiting>> {
    let mut statement = connection.prepare(
        "SELECT outbox.url, change, since, tries FROM outbox LEFT JOIN told ON told.url = outbox.url
         WHERE (told.at IS NULL OR told.at <= ?1 OR told.at > ?2)
           AND (tries > ?3 OR (tries = ?3 AND outbox.url > ?4))
         ORDER BY tries, outbox.url LIMIT ?5",
    )?;
    let (tries, url) = after.map_or((-1, ""), |(tries, key)| (i64::from(*tries), key.as_str()));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let past = time_text(gap_before(now));
    let rows = statement.query_map(params![past, time_text(now), tries, url, limit], |row| {
        let mut columns = Columns::new(row);
        Ok(Waiting {
            key: columns.key()?,
            change: columns.word("change", UrlChange::from_word)?,
            since: columns.needed_time("since")?,
            tries: columns.get()?,
        })
    })?;
    rows.collect()
}

/// Without fractions of a second times compare as texts.
fn time_text(time: Timestamp) -> String {
    whole_second(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_bound_the_oldest_leave() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(TABLES).unwrap();
        let url = |path: &str, since: &str| Waiting {
            key: UrlKey::from_normalised(&format!("https://example.com{path}")).unwrap(),
            change: UrlChange::Changed,
            since: since.parse().unwrap(),
            tries: 0,
        };
        let transaction = connection.transaction().unwrap();
        let waiting_urls = vec![
            url("/c", "2026-03-01T12:00:00Z"),
            url("/b", "2026-03-01T12:00:01Z"),
            url("/a", "2026-03-01T12:00:00.9Z"),
        ];
        apply(&transaction, &OutboxStep::Put(waiting_urls), 1).unwrap();
        bound(&transaction, 2).unwrap();
        let now = "2026-03-01T13:00:00Z".parse().unwrap();
        let left = waiting(&transaction, None, 10, now).unwrap();
        let left: Vec<&str> = left.iter().map(|url| url.key.path()).collect();
        assert_eq!(left, ["/b", "/c"]);
    }
}
