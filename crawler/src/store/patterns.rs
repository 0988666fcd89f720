//! The rows of patterns.

use rusqlite::{Connection, params};

use super::values::Columns;
use crate::page::ClosedPattern;

/// Stores the patterns of a crawl in the place of all others.
pub(super) fn put(transaction: &Connection, patterns: &[ClosedPattern]) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM pattern", [])?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO pattern (name, crawl, kind, requested, left_out, not_requested, example, exclude)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for pattern in patterns {
        insert.execute(params![
            pattern.name,
            pattern.crawl,
            pattern.kind.as_str(),
            pattern.requested,
            pattern.left_out,
            pattern.not_requested,
            pattern.example.as_str(),
            pattern.exclude,
        ])?;
    }
    Ok(())
}

/// See [`Store::patterns`](super::Store::patterns).
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<ClosedPattern>> {
    let mut statement = connection.prepare_cached(
        "SELECT name, crawl, kind, requested, left_out, not_requested, example, exclude FROM pattern ORDER BY name",
    )?;
    let rows = statement.query_map([], |row| {
        let mut columns = Columns::new(row);
        Ok(ClosedPattern {
            name: columns.get()?,
            crawl: columns.get()?,
            kind: columns.get()?,
            requested: columns.get()?,
            left_out: columns.get()?,
            not_requested: columns.get()?,
            example: columns.get()?,
            exclude: columns.get()?,
        })
    })?;
    rows.collect()
}
