//! Millions of URLs in no order, put into `visit` in its order. One row after the other would touch every page of the
//! file again and again; so they are gathered in a table of their own, which only grows at its end, and `SQLite` sorts
//! them on the disk, in bounded memory.

use rusqlite::{Connection, params};

use super::{
    InputBatch, InputCounts, NextSupplied, SuppliedUrl,
    values::{OutcomeWord, Sql},
};
use crate::page::{Supplied, Via};

/// The columns of a URL, and after them the two that decide which of several counts: those without a date come last.
const GATHER: &str = "
CREATE TEMP TABLE gathered (
  url TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
  supplied_lastmod TEXT, supplied_changefreq TEXT, supplied_priority TEXT, supplied_extensions TEXT,
  changed INTEGER, weight INTEGER NOT NULL
)";

const ADD: &str = "INSERT INTO gathered VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// The first of several rows of one URL is put; further rows change nothing.
const SETTLE: &str = "
INSERT INTO visit (
  url, state, reason, depth, via, attempts, outcome, supplied_lastmod, supplied_changefreq, supplied_priority,
  supplied_extensions, sequence, hops, distance, led_to
)
SELECT url, state, reason, 0, ?1, 0, ?2, supplied_lastmod, supplied_changefreq, supplied_priority, supplied_extensions, 0, 0, 0, 0
FROM gathered WHERE true
ORDER BY url, changed DESC NULLS LAST, weight DESC, supplied_lastmod, supplied_changefreq, supplied_priority,
  supplied_extensions
ON CONFLICT (url) DO NOTHING";

/// Takes everything that `next` gives. Runs inside a transaction that the caller commits or drops.
pub(super) fn store_urls(
    transaction: &Connection,
    next: &mut NextSupplied<'_>,
) -> rusqlite::Result<InputCounts> {
    transaction.execute_batch(GATHER)?;
    let mut gave = InputCounts::default();
    if let Some(total) = gather(transaction, next)? {
        let parameters = params![Sql(&Via::Input), Sql(&OutcomeWord::Supplied)];
        gave.urls = transaction.execute(SETTLE, parameters)? as u64;
        gave.repeated = total - gave.urls;
    }
    transaction.execute_batch("DROP TABLE gathered")?;
    Ok(gave)
}

/// Puts the URLs down as they come; their number, or `None` when all is to be forgotten.
fn gather(transaction: &Connection, next: &mut NextSupplied<'_>) -> rusqlite::Result<Option<u64>> {
    let mut add = transaction.prepare(ADD)?;
    let mut total = 0;
    loop {
        let SuppliedUrl {
            key,
            supplied,
            reason,
        } = match next() {
            InputBatch::Url(url) => url,
            InputBatch::End => return Ok(Some(total)),
            InputBatch::GiveUp => return Ok(None),
        };
        let texts = supplied.texts();
        let weight = i64::try_from(Supplied::weight(&texts)).unwrap_or(i64::MAX);
        let [lastmod, changefreq, priority, extensions] = texts;
        add.execute(params![
            key.as_str(),
            reason.state().as_str(),
            reason.code(),
            lastmod,
            changefreq,
            priority,
            extensions,
            supplied.changed_second(),
            weight,
        ])?;
        total += 1;
    }
}
