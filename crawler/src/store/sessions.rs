//! The sessions of a site: one row each, written when it begins and again when it ends.

use jiff::Timestamp;
use rusqlite::{Connection, params};
use serde::Serialize;

use super::{
    Store, StoreError,
    values::{Columns, Sql},
};
use crate::page::CrawlId;

/// Rows that are stored at most: three years of a session a day. The oldest leave.
const MAX_SESSIONS: u32 = 1_000;

/// A session: one start of the program on a site. What was not known when it ended is missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StoredSession {
    /// The number; later sessions have larger ones.
    #[serde(skip)]
    pub id: i64,
    /// When it began.
    pub began: Timestamp,
    /// When it ended; `None`: it was killed, or goes on.
    pub ended: Option<Timestamp>,
    /// The word for how it ended ([`SessionOutcome`](crate::site_run::SessionOutcome)).
    pub outcome: Option<String>,
    /// The exit code of a program that ran this session alone.
    pub exit_code: Option<u8>,
    /// The crawl that it was a session of.
    pub crawl: Option<CrawlId>,
    /// Known URLs: the sum of the next four.
    pub known: Option<u64>,
    /// Listed URLs.
    pub listed: Option<u64>,
    /// URLs that were left out.
    pub excluded: Option<u64>,
    /// URLs that failed.
    pub failed: Option<u64>,
    /// URLs that are not decided.
    pub queued: Option<u64>,
    /// URLs that robots.txt disallows, among those left out.
    pub robots_disallowed: Option<u64>,
    /// Finished page requests, retries not counted.
    pub fetched: Option<u64>,
    /// Answers 304.
    pub not_modified: Option<u64>,
    /// Bytes received.
    pub bytes_in: Option<u64>,
    /// Requests to the host of whatever kind: pages, robots.txt, sitemaps, further tries.
    pub requests: Option<u64>,
    /// How often the pace was halved.
    pub slowdowns: Option<u64>,
    /// Answers whose `Retry-After` was obeyed.
    pub retry_afters: Option<u64>,
    /// Milliseconds in which no request could start, because of these and of pauses after failures.
    pub waited_ms: Option<u64>,
    /// Milliseconds from one request to the next at the pace of the end.
    pub interval_ms: Option<u64>,
}

impl Store {
    /// Writes that a session of a crawl began at `now`; returns the number of its row.
    ///
    /// # Errors
    /// Nothing was written.
    pub fn begin_session(&mut self, now: Timestamp) -> Result<i64, StoreError> {
        self.write(|transaction| begin(transaction, now))
    }

    /// Writes what a session came to.
    ///
    /// # Errors
    /// Nothing was written.
    pub fn end_session(&mut self, session: &StoredSession) -> Result<(), StoreError> {
        self.write(|transaction| put(transaction, session))
    }

    /// The sessions, the oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn sessions(&self) -> Result<Vec<StoredSession>, StoreError> {
        self.read(all)
    }
}

/// The table.
pub(super) const TABLE: &str = "
CREATE TABLE session (
  -- One row for each session of a crawl that opened the state, the newest 1,000.
  id INTEGER PRIMARY KEY,
  began TEXT NOT NULL,
  ended TEXT,                         -- NULL: it was killed, or goes on; nothing below is known
  outcome TEXT,                       -- as in the summary
  exit_code INTEGER,
  crawl INTEGER,                      -- number of the crawl that it was a session of
  known INTEGER,                      -- URLs; the sum of the next four; NULL: not counted
  listed INTEGER,
  excluded INTEGER,
  failed INTEGER,
  queued INTEGER,
  robots_disallowed INTEGER,          -- among the excluded
  fetched INTEGER,                    -- pages, further tries not counted
  not_modified INTEGER,               -- among them: 304
  bytes_in INTEGER,
  requests INTEGER,                   -- to the host, of whatever kind
  slowdowns INTEGER,                  -- how often the pace was halved
  retry_afters INTEGER,               -- answers whose Retry-After was obeyed
  waited_ms INTEGER,                  -- in which no request could start, because of these and of pauses after failures
  interval_ms INTEGER                 -- from one request to the next at the end
);
";

/// Writes that a session began at `now`; returns its number.
fn begin(transaction: &Connection, now: Timestamp) -> rusqlite::Result<i64> {
    let id = transaction
        .prepare_cached("INSERT INTO session (began) VALUES (?1)")?
        .insert(params![Sql(&now)])?;
    transaction
        .prepare_cached("DELETE FROM session WHERE id <= ?1 - ?2")?
        .execute(params![id, MAX_SESSIONS])?;
    Ok(id)
}

/// Writes the row of a session again.
fn put(transaction: &Connection, session: &StoredSession) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "REPLACE INTO session (id, began, ended, outcome, exit_code, crawl, known, listed, excluded, failed, queued,
               robots_disallowed, fetched, not_modified, bytes_in, requests, slowdowns, retry_afters, waited_ms, interval_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
        )?
        .execute(params![
            session.id,
            Sql(&session.began),
            Sql(&session.ended),
            session.outcome,
            session.exit_code,
            session.crawl,
            session.known,
            session.listed,
            session.excluded,
            session.failed,
            session.queued,
            session.robots_disallowed,
            session.fetched,
            session.not_modified,
            session.bytes_in,
            session.requests,
            session.slowdowns,
            session.retry_afters,
            session.waited_ms,
            session.interval_ms,
        ])
        .map(drop)
}

/// All sessions, the oldest first.
fn all(connection: &Connection) -> rusqlite::Result<Vec<StoredSession>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, began, ended, outcome, exit_code, crawl, known, listed, excluded, failed, queued, robots_disallowed,
           fetched, not_modified, bytes_in, requests, slowdowns, retry_afters, waited_ms, interval_ms FROM session ORDER BY id",
    )?;
    let rows = statement.query_map([], |row| {
        let mut columns = Columns::new(row);
        // Fields are read in the order of the columns.
        Ok(StoredSession {
            id: columns.get()?,
            began: columns.get()?,
            ended: columns.get()?,
            outcome: columns.get()?,
            exit_code: columns.get()?,
            crawl: columns.get()?,
            known: columns.get()?,
            listed: columns.get()?,
            excluded: columns.get()?,
            failed: columns.get()?,
            queued: columns.get()?,
            robots_disallowed: columns.get()?,
            fetched: columns.get()?,
            not_modified: columns.get()?,
            bytes_in: columns.get()?,
            requests: columns.get()?,
            slowdowns: columns.get()?,
            retry_afters: columns.get()?,
            waited_ms: columns.get()?,
            interval_ms: columns.get()?,
        })
    })?;
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_sessions_leave() {
        let mut store = Store::in_memory().unwrap();
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let first = store.begin_session(now).unwrap();
        let begun = store.sessions().unwrap();
        assert_eq!(
            (begun.len(), begun[0].began, begun[0].ended),
            (1, now, None)
        );
        let whole = StoredSession {
            id: first,
            began: now,
            ended: Some(now),
            outcome: Some("published".to_owned()),
            exit_code: Some(0),
            crawl: Some(1),
            known: Some(2),
            listed: Some(3),
            excluded: Some(4),
            failed: Some(5),
            queued: Some(6),
            robots_disallowed: Some(7),
            fetched: Some(8),
            not_modified: Some(9),
            bytes_in: Some(10),
            requests: Some(11),
            slowdowns: Some(12),
            retry_afters: Some(13),
            waited_ms: Some(14),
            interval_ms: Some(15),
        };
        store.end_session(&whole).unwrap();
        assert_eq!(store.sessions().unwrap(), [whole]);
        for _ in 0..MAX_SESSIONS {
            store.begin_session(now).unwrap();
        }
        let sessions = store.sessions().unwrap();
        assert_eq!(
            (sessions.len(), sessions[0].id),
            (MAX_SESSIONS as usize, first + 1)
        );
    }
}
