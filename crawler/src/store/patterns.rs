//! The rows of closed patterns.

use rusqlite::{Connection, params};

use super::values::Columns;
use crate::page::ClosedPattern;

/// Closes a pattern.
pub(super) fn close(transaction: &Connection, pattern: &ClosedPattern) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO pattern (name, kind, pages, new, example) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, pages = excluded.pages, new = excluded.new,
               example = excluded.example, is_open = NULL",
        )?
        .execute(params![
            pattern.name,
            pattern.kind.as_str(),
            pattern.pages,
            pattern.new,
            pattern.example.as_str(),
        ])
        .map(drop)
}

/// Opens a pattern for the crawl under way.
pub(super) fn open(transaction: &Connection, name: &str) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE pattern SET is_open = 1 WHERE name = ?1")?
        .execute([name])
        .map(drop)
}

/// The patterns of the crawl under way are published.
pub(super) fn promote(transaction: &Connection) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "DELETE FROM pattern WHERE is_open = 1; UPDATE pattern SET is_published = 1;",
    )
}

/// The crawl under way is dropped with its patterns.
pub(super) fn drop_unpublished(transaction: &Connection) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "DELETE FROM pattern WHERE is_published IS NULL; UPDATE pattern SET is_open = NULL;",
    )
}

/// See [`Store::patterns`](super::Store::patterns).
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<(ClosedPattern, bool)>> {
    let mut statement = connection.prepare_cached(
        "SELECT name, kind, pages, new, example, is_published FROM pattern WHERE is_open IS NULL ORDER BY name",
    )?;
    let rows = statement.query_map([], |row| {
        let mut columns = Columns::new(row);
        let pattern = ClosedPattern {
            name: columns.get()?,
            kind: columns.get()?,
            pages: columns.get()?,
            new: columns.get()?,
            example: columns.get()?,
        };
        Ok((pattern, columns.get()?))
    })?;
    rows.collect()
}
