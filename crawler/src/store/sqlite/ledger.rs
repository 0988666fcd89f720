//! The dates of pages and what they rest on, as rows.

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    columns::Columns,
    ranges,
    record::{hash_from_text, hash_text},
    undo::LedgerUndo,
};
use crate::{
    page::DateSource,
    store::{LedgerDates, LedgerEntry},
    url_key::UrlKey,
};

/// What is known of the dates of the page `key`.
pub(super) fn of_page(
    connection: &Connection,
    key: &UrlKey,
) -> rusqlite::Result<Option<LedgerEntry>> {
    let sql = "SELECT content_hash, hash_version, lastmod, last_modified_seconds, source,
                 since_seconds, seen_seconds, json_ld, meta, sitemap, time_element
               FROM ledger WHERE url = ?1";
    let entry = connection.query_row(sql, [key.as_str()], |row| {
        ledger_entry(&mut Columns::new(row))
    });
    entry.optional()
}

/// Replaces what is known of these pages.
pub(super) fn set(
    transaction: &Connection,
    entries: &[(UrlKey, LedgerEntry)],
) -> rusqlite::Result<()> {
    let mut replace = transaction.prepare(
        "REPLACE INTO ledger (url, content_hash, hash_version, lastmod, last_modified_seconds,
           source, since_seconds, seen_seconds, json_ld, meta, sitemap, time_element)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?;
    let mut undo = LedgerUndo::new(transaction)?;
    for (key, entry) in entries {
        undo.keep(key, entry)?;
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
}

/// Each entry, in the order of the URLs of each origin.
pub(super) fn visit(
    connection: &Connection,
    visit: &mut dyn FnMut(&UrlKey, LedgerEntry),
) -> rusqlite::Result<()> {
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
}

/// The entry of a page that may have none: then its columns are empty, of which one never is.
pub(super) fn optional_ledger_entry(
    columns: &mut Columns<'_, '_>,
) -> rusqlite::Result<Option<LedgerEntry>> {
    let hash = columns.optional_word("content_hash", hash_from_text)?;
    let Some(content_hash) = hash else {
        return Ok(None);
    };
    rest_of_ledger_entry(content_hash, columns).map(Some)
}

pub(super) fn ledger_entry(columns: &mut Columns<'_, '_>) -> rusqlite::Result<LedgerEntry> {
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
