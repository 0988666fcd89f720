//! URLs that changed from one published set to the next, and that engines are to be notified of. Publishing adds them
//! beside the page rows that changed; an engine that accepts one removes it. A URL has one row, the newest.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{
    Connection, params,
    types::{FromSqlResult, ToSqlOutput, ValueRef},
};

use super::values::{Columns, Sql, Value, texts, unknown};
use crate::{page::words, url_key::UrlKey};

/// URLs that wait for a notification at most: a hundred requests of `IndexNow`. Beyond it those whose news are the
/// oldest leave untold; engines have had the longest time to find them by the `lastmod` of the sitemaps.
pub const MAX_OUTBOX: u64 = 1_000_000;

/// The same URL is not sent again earlier than this: what the FAQ of `IndexNow` advises for a page that is
/// edited often (<https://www.indexnow.org/faq>).
pub const RESEND_GAP: SignedDuration = SignedDuration::from_mins(10);

words! {
    /// The change of a URL from one published set to the next.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum UrlChange {
        /// Listed, and was not.
        Added = "added",
        /// Listed before and now, with another `lastmod` or content.
        Changed = "changed",
        /// Listed no more.
        Removed = "removed",
    }
}

texts! {
    UrlChange, "change": change => change.as_str(), text => Self::from_code(text);
}

/// Name of the state's value that marks that engines are notified of the site: whatever changes from then on waits for
/// them.
pub const NOTIFIES_ENGINES: &str = super::names::NOTIFY_ENGINES;

/// A URL that an engine is to be notified of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The URL as readers see it.
    pub key: UrlKey,
    /// The last change.
    pub change: UrlChange,
    /// Since when, whole seconds.
    pub since: Timestamp,
    /// How often an engine refused a request with it.
    pub tries: u32,
}

impl Waiting {
    /// The place in the order of [`Store::outbox`](super::Store::outbox).
    pub fn place(&self) -> (u32, UrlKey) {
        (self.tries, self.key.clone())
    }
}

/// What waits to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outbox {
    /// Number of URLs that engines are to be notified of, at once or later.
    pub total: u64,
    /// Those that may be sent now, as many as were asked for.
    pub waiting: Vec<Waiting>,
}

/// A change of what waits to be sent. Those of one commit are applied in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutboxStep {
    /// URLs changed. Earlier changes of the same URL are replaced; the oldest beyond [`MAX_OUTBOX`] leave.
    Add {
        /// The URLs, as readers see them, and what became of them.
        changes: Vec<(UrlKey, UrlChange)>,
        /// Since when.
        since: Timestamp,
    },
    /// Nothing waits any more.
    Forget,
    /// An engine has these: they leave, and are not sent again before [`RESEND_GAP`].
    Sent {
        /// The URLs.
        urls: Vec<UrlKey>,
        /// When.
        at: Timestamp,
    },
    /// An engine refused these: they stay, after those that were refused less often.
    Tried(Vec<UrlKey>),
    /// An engine will not have these: they leave unsent, until they change again.
    GiveUp(Vec<UrlKey>),
}

/// The time without fractions of a second, as it is stored: such times compare as texts.
pub(super) fn whole_second(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// A URL that was sent later than this rests at `time`.
fn gap_before(time: Timestamp) -> Timestamp {
    let gap = whole_second(time).checked_sub(RESEND_GAP);
    gap.unwrap_or(Timestamp::MIN)
}

/// Applies one step of a commit.
pub(super) fn apply(transaction: &Connection, step: &OutboxStep) -> rusqlite::Result<()> {
    match step {
        OutboxStep::Add { changes, since } => {
            let mut add = transaction.prepare_cached(
                "INSERT INTO outbox (url, change, since, tries) VALUES (?1, ?2, ?3, 0)
                 ON CONFLICT (url) DO UPDATE SET change = excluded.change, since = excluded.since, tries = 0",
            )?;
            let since = whole_second(*since);
            for (key, change) in changes {
                add.execute(params![key.as_str(), Sql(change), Sql(&since)])?;
            }
            bound(transaction, MAX_OUTBOX)
        }
        OutboxStep::Forget => transaction
            .execute_batch(
                "DELETE FROM outbox WHERE sent_at IS NULL;
                 UPDATE outbox SET change = NULL WHERE change IS NOT NULL;",
            )
            .map(drop),
        OutboxStep::Sent { urls, at } => {
            let mut told = transaction.prepare_cached(
                "INSERT INTO outbox (url, since, tries, sent_at) VALUES (?1, ?2, 0, ?2)
                 ON CONFLICT (url) DO UPDATE SET change = NULL, sent_at = excluded.sent_at",
            )?;
            for key in urls {
                told.execute(params![key.as_str(), Sql(&whole_second(*at))])?;
            }
            let past = gap_before(*at);
            transaction.execute(
                "DELETE FROM outbox WHERE change IS NULL AND sent_at <= ?1",
                [Sql(&past)],
            )?;
            Ok(())
        }
        OutboxStep::Tried(urls) => {
            let mut tried =
                transaction.prepare_cached("UPDATE outbox SET tries = tries + 1 WHERE url = ?1")?;
            for key in urls {
                tried.execute([key.as_str()])?;
            }
            Ok(())
        }
        OutboxStep::GiveUp(urls) => {
            let mut give_up =
                transaction.prepare_cached("UPDATE outbox SET change = NULL WHERE url = ?1")?;
            for key in urls {
                give_up.execute([key.as_str()])?;
            }
            transaction.execute(
                "DELETE FROM outbox WHERE change IS NULL AND sent_at IS NULL",
                [],
            )?;
            Ok(())
        }
    }
}

/// Lets the oldest go beyond `most`.
pub(super) fn bound(transaction: &Connection, most: u64) -> rusqlite::Result<()> {
    let waiting = len(transaction)?;
    if waiting > most {
        transaction.execute(
            "DELETE FROM outbox WHERE url IN (
               SELECT url FROM outbox WHERE change IS NOT NULL ORDER BY since, url LIMIT ?1
             )",
            [waiting - most],
        )?;
    }
    Ok(())
}

fn len(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM outbox WHERE change IS NOT NULL";
    connection.query_row(sql, [], |row| row.get(0))
}

/// See [`Store::outbox`](super::Store::outbox).
pub(super) fn read(
    connection: &Connection,
    after: Option<&(u32, UrlKey)>,
    limit: usize,
    now: Timestamp,
) -> rusqlite::Result<Outbox> {
    let mut statement = connection.prepare_cached(
        "SELECT url, change, since, tries FROM outbox
         WHERE change IS NOT NULL AND (sent_at IS NULL OR sent_at <= ?1 OR sent_at > ?2)
           AND (tries > ?3 OR (tries = ?3 AND url > ?4))
         ORDER BY tries, url LIMIT ?5",
    )?;
    let (tries, url) = after.map_or((-1, ""), |(tries, key)| (i64::from(*tries), key.as_str()));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let (past, now) = (gap_before(now), whole_second(now));
    let rows = statement.query_map(params![Sql(&past), Sql(&now), tries, url, limit], |row| {
        let mut columns = Columns::new(row);
        Ok(Waiting {
            key: columns.get()?,
            change: columns.get()?,
            since: columns.get()?,
            tries: columns.get()?,
        })
    })?;
    Ok(Outbox {
        total: len(connection)?,
        waiting: rows.collect::<Result<_, _>>()?,
    })
}
