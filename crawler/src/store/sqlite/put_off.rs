//! What was known of listed pages whose answers do not count yet, because nobody knows where they lead, or they are doubted: they
//! are listed by it, and their own answers wait. It is taken from what stands aside ([`super::aside`]), stays over publishes of the same run, and
//! counts again when another run begins.

use std::cmp::Ordering;

use rusqlite::{Connection, OptionalExtension as _, Statement, params};

use super::{
    columns::Columns,
    page_columns,
    record::{EARLIER, Stored, read_earlier, select_records},
    undo::no_undo_has_links_of,
};
use crate::{
    page::{Reason, RunId},
    store::QueuedUrl,
    url_key::UrlKey,
};

/// Puts off what pages come to.
pub(super) struct PutOff<'c> {
    take: Statement<'c>,
    bare: Statement<'c>,
}

impl<'c> PutOff<'c> {
    pub(super) fn new(transaction: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            take: transaction.prepare(&format!(
                "INSERT OR IGNORE INTO put_off ({}) SELECT {} FROM stood JOIN page ON page.url = stood.url
                 WHERE stood.url = ?1 AND stood.run = page.run AND stood.listed_before = 1 AND page.answer_run = page.run",
                page_columns::all(),
                page_columns::of("stood")
            ))?,
            bare: transaction
                .prepare("UPDATE put_off SET outlinks = NULL, read_as = NULL WHERE url = ?1")?,
        })
    }

    /// Puts off the page `key`, if it was listed before. It is asked for as a whole when its redirect is forgotten, so
    /// that no links have to be kept for it.
    pub(super) fn put(&mut self, key: &UrlKey) -> rusqlite::Result<()> {
        if self.take.execute([key.as_str()])? > 0 {
            self.bare.execute([key.as_str()])?;
        }
        Ok(())
    }
}

/// A set was published: of pages that are decided nothing is put off any more.
pub(super) fn settle(transaction: &Connection) -> rusqlite::Result<()> {
    transaction
        .execute(
            "DELETE FROM put_off WHERE NOT EXISTS (
               SELECT 1 FROM page WHERE page.url = put_off.url AND page.run = put_off.run
                 AND page.answer_run = page.run AND page.reason = ?1
             )",
            [Reason::KeptNotReached.code()],
        )
        .map(drop)
}

/// The page `key` of run `run` is to wait again: what was known before counts, if it is put off. With which verdict it
/// stands meanwhile does not matter.
pub(super) fn take_back(
    transaction: &Connection,
    key: &UrlKey,
    run: RunId,
) -> rusqlite::Result<()> {
    let waiting = Reason::KeptNotReached.code();
    transaction.execute(
        concat!(
            "DELETE FROM outlinks WHERE id IN (
               SELECT page.outlinks FROM put_off JOIN page ON page.url = put_off.url AND page.run = put_off.run
               WHERE page.url = ?1 AND page.run = ?2 AND page.answer_run = page.run AND page.reason = ?3 AND ",
            no_undo_has_links_of!("page"),
            ")"
        ),
        params![key.as_str(), run, waiting],
    )?;
    let take = format!(
        "REPLACE INTO page ({})
         SELECT {} FROM put_off JOIN page ON page.url = put_off.url AND page.run = put_off.run
         WHERE page.url = ?1 AND page.run = ?2 AND page.answer_run = page.run AND page.reason = ?3",
        page_columns::all(),
        page_columns::of("put_off")
    );
    let taken = transaction.execute(&take, params![key.as_str(), run, waiting])?;
    if taken > 0 {
        transaction.execute("DELETE FROM put_off WHERE url = ?1", [key.as_str()])?;
        transaction.execute(
            "UPDATE page SET reason = ?2 WHERE url = ?1",
            [key.as_str(), waiting],
        )?;
    }
    Ok(())
}

/// Another run begins: what was put off is as if it had not been answered.
pub(super) fn restore(transaction: &Connection) -> rusqlite::Result<()> {
    transaction.execute_batch(concat!(
        "DELETE FROM outlinks WHERE id IN (
           SELECT page.outlinks FROM put_off JOIN page ON page.url = put_off.url AND page.run = put_off.run
           WHERE ",
        no_undo_has_links_of!("page"),
        ")"
    ))?;
    let restore = format!(
        "REPLACE INTO page ({}) SELECT {} FROM put_off JOIN page ON page.url = put_off.url AND page.run = put_off.run",
        page_columns::all(),
        page_columns::of("put_off")
    );
    transaction.execute(&restore, [])?;
    transaction.execute("DELETE FROM put_off", []).map(drop)
}

/// What was known before of the page of a row, if what that comes to is put off.
pub(super) fn before(connection: &Connection, stored: &Stored) -> rusqlite::Result<Option<Stored>> {
    if stored.record.reason != Reason::KeptNotReached || !stored.has_own_answer {
        return Ok(None);
    }
    let sql = select_records!(
        "",
        "put_off AS page ",
        "WHERE page.url = ?1 AND page.run = ?2"
    );
    let parameters = params![stored.key.as_str(), stored.record.run];
    connection
        .query_row(sql, parameters, Stored::read)
        .optional()
}

/// The row as it counts: that of a page which is put off by what was known before.
pub(super) fn counting(connection: &Connection, stored: Stored) -> rusqlite::Result<Stored> {
    Ok(match before(connection, &stored)? {
        None => stored,
        Some(before) => {
            let facts = before.earlier.or_else(|| before.record.facts().cloned());
            let (failing_since, gone_since) = (before.failing_since, before.gone_since);
            let record = stored.record.put_off(facts, failing_since, gone_since);
            Stored { record, ..stored }
        }
    })
}

/// See [`Store::moved`](crate::store::Store::moved).
pub(super) fn moved(
    connection: &Connection,
    run: RunId,
    after: Option<&UrlKey>,
    limit: usize,
) -> rusqlite::Result<Vec<QueuedUrl>> {
    // What was put off once counts, whatever was put aside since.
    let mut put_off = of(connection, "put_off", run, after, limit)?.into_iter();
    let mut stood = of(connection, "stood", run, after, limit)?.into_iter();
    let (mut one, mut other) = (put_off.next(), stood.next());
    let mut moved = Vec::new();
    while moved.len() < limit {
        let order = match (&one, &other) {
            (Some(one), Some(other)) => one.key.as_str().cmp(other.key.as_str()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => break,
        };
        if order == Ordering::Greater {
            moved.extend(std::mem::replace(&mut other, stood.next()));
            continue;
        }
        if order == Ordering::Equal {
            other = stood.next();
        }
        moved.extend(std::mem::replace(&mut one, put_off.next()));
    }
    Ok(moved)
}

/// Those of which `table` has what was known before.
fn of(
    connection: &Connection,
    table: &'static str,
    run: RunId,
    after: Option<&UrlKey>,
    limit: usize,
) -> rusqlite::Result<Vec<QueuedUrl>> {
    // A cross join keeps the order of the tables: from the few to the many.
    let sql = format!(
        "SELECT page.url, page.depth, {EARLIER}
         FROM {table} AS page CROSS JOIN main.page AS now ON now.url = page.url
         WHERE page.url > ?1 AND now.run = ?2 AND page.run = now.run AND now.answer_run = now.run
           AND page.listed_before = 1 AND now.reason IN (?3, ?4, ?5)
         ORDER BY page.url LIMIT ?6"
    );
    let mut statement = connection.prepare(&sql)?;
    let parameters = params![
        after.map_or("", UrlKey::as_str),
        run,
        Reason::Redirected.code(),
        Reason::RefreshRedirect.code(),
        Reason::KeptNotReached.code(),
        i64::try_from(limit).unwrap_or(i64::MAX),
    ];
    let rows = statement.query_map(parameters, |row| {
        let mut columns = Columns::new(row);
        Ok(QueuedUrl {
            sequence: 0,
            key: columns.key()?,
            depth: columns.get()?,
            hops: 0,
            earlier: read_earlier(&mut columns)?,
        })
    })?;
    rows.collect()
}
