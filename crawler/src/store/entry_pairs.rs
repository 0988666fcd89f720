//! Entries of two sets side by side, in a temporary file that goes with its value. Memory: 64 MiB of pages of the file,
//! whatever the size of the sets. Disk: the URLs of both sets, each once, and their dates.

use std::path::PathBuf;

use rusqlite::Connection;

use super::{StoreError, error::failure};

/// Pages of the file in memory, in KiB; a negative number of pages means KiB
/// (<https://www.sqlite.org/pragma.html#pragma_cache_size>).
const CACHE_KIB: i64 = 64 * 1024;

const TABLE: &str =
    "CREATE TABLE entry (url TEXT PRIMARY KEY, first TEXT, second TEXT) STRICT, WITHOUT ROWID;";

/// One of the two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetSide {
    /// The first, which is the older one.
    First,
    /// The second.
    Second,
}

/// A URL of one set or of both. A `lastmod` is its text, empty where the entry has none; `None`: not in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryPair<'a> {
    /// The URL.
    pub url: &'a str,
    /// The `lastmod` in the first set.
    pub first: Option<&'a str>,
    /// The `lastmod` in the second set.
    pub second: Option<&'a str>,
}

/// The entries of two sets.
#[derive(Debug)]
pub struct EntryPairs {
    connection: Connection,
}

impl EntryPairs {
    /// No entries yet.
    ///
    /// # Errors
    /// There is no room for the temporary file.
    pub fn new() -> Result<Self, StoreError> {
        let connection = temporary(TABLE).map_err(failed)?;
        Ok(Self { connection })
    }

    /// Adds an entry of a set. Of a URL that a set has twice the greater `lastmod` counts, as text.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn add(
        &mut self,
        side: SetSide,
        url: &str,
        lastmod: Option<&str>,
    ) -> Result<(), StoreError> {
        let sql = match side {
            SetSide::First => {
                "INSERT INTO entry (url, first) VALUES (?1, ?2)
                 ON CONFLICT (url) DO UPDATE SET first = max(coalesce(first, ''), excluded.first)"
            }
            SetSide::Second => {
                "INSERT INTO entry (url, second) VALUES (?1, ?2)
                 ON CONFLICT (url) DO UPDATE SET second = max(coalesce(second, ''), excluded.second)"
            }
        };
        let added = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut add| add.execute((url, lastmod.unwrap_or_default())));
        added.map(drop).map_err(failed)
    }

    /// Visits all URLs in the order of their bytes.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn each(&self, visit: &mut dyn FnMut(EntryPair<'_>)) -> Result<(), StoreError> {
        let mut walk = || {
            let sql = "SELECT url, first, second FROM entry ORDER BY url";
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query(())?;
            while let Some(row) = rows.next()? {
                visit(EntryPair {
                    url: row.get_ref(0)?.as_str()?,
                    first: row.get_ref(1)?.as_str_or_null()?,
                    second: row.get_ref(2)?.as_str_or_null()?,
                });
            }
            rusqlite::Result::Ok(())
        };
        walk().map_err(failed)
    }
}

/// A database in a temporary file, with a table that `sql` creates, in a transaction that never ends.
pub(super) fn temporary(sql: &str) -> rusqlite::Result<Connection> {
    let connection = Connection::open("")?;
    // A file that goes with the process needs no way back.
    connection.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.execute_batch(sql)?;
    connection.execute_batch("BEGIN")?;
    Ok(connection)
}

pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    failure("use", &PathBuf::from("temporary file"), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_ordered_with_dates_of_both_sets() {
        let mut pairs = EntryPairs::new().unwrap();
        pairs.add(SetSide::Second, "/b", None).unwrap();
        pairs.add(SetSide::First, "/c", Some("2026-01-01")).unwrap();
        pairs.add(SetSide::First, "/b", Some("2026-01-01")).unwrap();
        pairs.add(SetSide::First, "/a", Some("2026-01-02")).unwrap();
        pairs.add(SetSide::First, "/a", None).unwrap();
        pairs
            .add(SetSide::Second, "/a", Some("2026-01-01"))
            .unwrap();
        pairs
            .add(SetSide::Second, "/a", Some("2026-01-03"))
            .unwrap();
        let mut seen = Vec::new();
        let mut visit = |pair: EntryPair<'_>| {
            let [first, second] = [pair.first, pair.second].map(|date| date.map(str::to_owned));
            seen.push((pair.url.to_owned(), first, second));
        };
        pairs.each(&mut visit).unwrap();
        let date = |text: &str| Some(text.to_owned());
        assert_eq!(
            seen,
            [
                ("/a".to_owned(), date("2026-01-02"), date("2026-01-03")),
                ("/b".to_owned(), date("2026-01-01"), date("")),
                ("/c".to_owned(), date("2026-01-01"), None),
            ]
        );
    }
}
