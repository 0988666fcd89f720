//! The sessions of a site: one row each, written when it begins and again when it ends.

use jiff::Timestamp;
use rusqlite::Connection;
use serde::Serialize;

use super::{
    columns::{self, ColumnGroup as _},
    values::Binder,
};
use crate::page::CrawlId;

/// Rows that are stored at most: three years of a session a day. The oldest leave.
const MAX_SESSIONS: u32 = 1_000;

/// A session: one start of the program on a site. What was not known when it ended is missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StoredSession {
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

/// Writes the row of a session: a new one when it begins, the newest when it has ended. The oldest leave. Times do not decide: a
/// clock may go back.
pub(super) fn put(transaction: &Connection, session: &StoredSession) -> rusqlite::Result<()> {
    let newest = "SELECT max(id) FROM session";
    let mut id: Option<i64> = None;
    if session.ended.is_some() {
        id = transaction.query_row(newest, [], |row| row.get(0))?;
    }
    let mut names = columns::names::<StoredSession>();
    names.insert(0, "id");
    let sql = columns::insert("session", &names).replacen("INSERT", "REPLACE", 1);
    let mut statement = transaction.prepare_cached(&sql)?;
    let mut row = Binder::new(&mut statement);
    // Without an id the row gets the next one.
    row.put(&id)?;
    session.put(&mut row)?;
    row.execute()?;
    let oldest = format!("DELETE FROM session WHERE id <= ({newest}) - {MAX_SESSIONS}");
    transaction.execute(&oldest, []).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Effect, Store};

    #[test]
    fn oldest_sessions_leave() {
        let mut store = Store::in_memory().unwrap();
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let mut put = |session: &StoredSession| {
            let effect = Effect::Session(Box::new(session.clone()));
            store.commit(&[effect]).unwrap();
            store.sessions().unwrap()
        };
        let begun = StoredSession {
            began: now,
            ..StoredSession::default()
        };
        assert_eq!(put(&begun), std::slice::from_ref(&begun));
        let mut whole = StoredSession {
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
        assert_eq!(put(&whole), std::slice::from_ref(&whole));
        for number in 2..=u64::from(MAX_SESSIONS) + 1 {
            put(&begun);
            whole.known = Some(number);
            put(&whole);
        }
        let sessions = store.sessions().unwrap();
        let first = sessions[0].known;
        assert_eq!((sessions.len(), first), (MAX_SESSIONS as usize, Some(2)));
    }
}
