//! Millions of URLs in no order, put into the table in its order. One row after the other would touch
//! every page of the file again and again; so they are gathered in a table of their own, which only
//! grows at its end, and `SQLite` sorts them on the disk, in bounded memory.

use rusqlite::{Connection, Statement, params};

use super::record::GIVEN;
use crate::{
    page::{Given, RunId, Via},
    store::{Gave, GivenUrl, Giving, NextGiven},
};

/// Memory for pages of the file from when URLs are taken on, in KiB. It is also what is sorted at once
/// before it goes to the disk. What follows are walks in order, which need no more.
const CACHE_KIB: i64 = 16 * 1_024;

/// The columns of a URL, and behind them the two that decide which of several counts: those without a
/// date come last, as they do in [`Given::rank`](crate::page::Given::rank).
const GATHER: &str = "
CREATE TEMP TABLE gathered (
  url TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
  given_lastmod TEXT, given_changefreq TEXT, given_priority TEXT, given_extensions TEXT,
  changed INTEGER, weight INTEGER NOT NULL
)";

const ADD: &str = "INSERT INTO gathered VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// Of several rows of one URL the first is put; what comes behind it changes nothing.
const SETTLE: &str = "
INSERT INTO page (
  url, run, state, reason, depth, via, not_fetched, given_lastmod, given_changefreq, given_priority,
  given_extensions
)
SELECT url, ?1, state, reason, 0, ?2, ?3, given_lastmod, given_changefreq, given_priority,
  given_extensions
FROM gathered WHERE true
ORDER BY url, changed DESC NULLS LAST, weight DESC, given_lastmod, given_changefreq, given_priority,
  given_extensions
ON CONFLICT (url) DO UPDATE SET
  run = excluded.run, state = excluded.state, reason = excluded.reason, depth = excluded.depth,
  via = excluded.via, found_on = NULL, attempts = 0, fetched_at = NULL,
  not_fetched = excluded.not_fetched, error = NULL, given_lastmod = excluded.given_lastmod,
  given_changefreq = excluded.given_changefreq, given_priority = excluded.given_priority,
  given_extensions = excluded.given_extensions, sitemap_lastmod = NULL, sitemap_is_file = NULL
WHERE page.run < excluded.run";

/// Takes everything that `next` gives. Runs inside a transaction that the caller commits or drops.
pub(super) fn take(
    transaction: &Connection,
    run: RunId,
    next: &mut NextGiven<'_>,
) -> rusqlite::Result<Gave> {
    transaction.pragma_update(None, "cache_size", -CACHE_KIB)?;
    transaction.execute_batch(GATHER)?;
    let Some(total) = gather(transaction, next)? else {
        transaction.execute_batch("DROP TABLE gathered")?;
        return Ok(Gave::default());
    };
    let counted = "SELECT count(*) FROM page WHERE run = ?1";
    let count = || transaction.query_row(counted, [run], |row| row.get::<_, u64>(0));
    let before = count()?;
    transaction.execute(SETTLE, params![run, Via::Input.as_str(), GIVEN])?;
    let urls = count()? - before;
    transaction.execute_batch("DROP TABLE gathered")?;
    transaction.execute(
        "INSERT INTO run (id, run, last_sequence) VALUES (1, ?1, 0)
         ON CONFLICT (id) DO UPDATE SET run = max(run, excluded.run)",
        [run],
    )?;
    Ok(Gave {
        urls,
        repeated: total - urls,
    })
}

/// Puts the URLs down as they come; their number, or `None` when all is to be forgotten.
fn gather(transaction: &Connection, next: &mut NextGiven<'_>) -> rusqlite::Result<Option<u64>> {
    let mut add = transaction.prepare(ADD)?;
    let mut total = 0;
    loop {
        match next() {
            Giving::Url(url) => put(&mut add, &url)?,
            Giving::End => return Ok(Some(total)),
            Giving::GiveUp => return Ok(None),
        }
        total += 1;
    }
}

fn put(add: &mut Statement<'_>, url: &GivenUrl) -> rusqlite::Result<()> {
    let texts = url.given.texts();
    let weight = i64::try_from(Given::weight(&texts)).unwrap_or(i64::MAX);
    let [lastmod, changefreq, priority, extensions] = texts;
    add.execute(params![
        url.key.as_str(),
        url.reason.state().as_str(),
        url.reason.code(),
        lastmod,
        changefreq,
        priority,
        extensions,
        url.given.changed_second(),
        weight,
    ])?;
    Ok(())
}
