//! Values of URLs that come in no order, in a temporary file that goes with its value. Memory: 64 MiB of pages of the file,
//! whatever the number of URLs. Disk: each URL once for each kind of value.

use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension as _, types::Value};

use super::{StoreError, error::failure};

/// Pages of the file in memory, in KiB; a negative number of pages means KiB
/// (<https://www.sqlite.org/pragma.html#pragma_cache_size>).
const CACHE_KIB: i64 = 64 * 1024;

/// A file that goes with the process needs no way back, and is one transaction that never ends.
const BEGIN: &str = "
CREATE TABLE spool (url TEXT, kind INTEGER, value, PRIMARY KEY (url, kind)) WITHOUT ROWID;
BEGIN;";

/// What several values of one kind come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// The least number.
    Least,
    /// The sum of the numbers.
    Sum,
}

/// URLs with values.
#[derive(Debug)]
pub struct UrlSpool {
    connection: Connection,
}

/// The values of a URL, each with its kind as the caller numbers it.
#[derive(Debug, Default)]
pub struct SpooledValues(Vec<(u8, Value)>);

impl SpooledValues {
    /// Returns the number of a kind.
    pub fn number(&self, kind: u8) -> Option<u64> {
        match self.of(kind)? {
            Value::Integer(number) => Some(number.unsigned_abs()),
            _ => None,
        }
    }

    /// Returns the text of a kind.
    pub fn text(&self, kind: u8) -> Option<&str> {
        match self.of(kind)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn of(&self, kind: u8) -> Option<&Value> {
        let mut values = self.0.iter();
        values.find(|(it, _)| *it == kind).map(|(_, value)| value)
    }
}

/// Receives a URL with its values, of which one is there at least.
pub type EachSpooled<'a> = dyn FnMut(&str, &SpooledValues) -> Result<(), StoreError> + 'a;

impl UrlSpool {
    /// No URLs yet.
    ///
    /// # Errors
    /// There is no room for the temporary file.
    pub fn new() -> Result<Self, StoreError> {
        let open = || {
            let connection = Connection::open("")?;
            connection.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", "OFF")?;
            connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
            connection.execute_batch(BEGIN)?;
            Ok(connection)
        };
        let connection = open().map_err(failed)?;
        Ok(Self { connection })
    }

    /// Adds a number of a URL.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn add_number(
        &mut self,
        url: &str,
        kind: u8,
        number: u64,
        merge: Merge,
    ) -> Result<(), StoreError> {
        let sql = match merge {
            Merge::Least => {
                "INSERT INTO spool VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET value = min(value, ?3)"
            }
            Merge::Sum => {
                "INSERT INTO spool VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET value = value + ?3"
            }
        };
        let add = self.connection.prepare_cached(sql);
        let added = add.and_then(|mut add| add.execute((url, kind, number)));
        added.map(drop).map_err(failed)
    }

    /// Adds a text of a URL. Of several the greatest counts.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn add_text(&mut self, url: &str, kind: u8, text: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO spool VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET value = max(value, ?3)";
        let add = self.connection.prepare_cached(sql);
        let added = add.and_then(|mut add| add.execute((url, kind, text)));
        added.map(drop).map_err(failed)
    }

    /// Returns whether a URL has a value of a kind.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn has(&self, url: &str, kind: u8) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM spool WHERE url = ?1 AND kind = ?2";
        let find = self.connection.prepare_cached(sql);
        let found = find.and_then(|mut find| find.query_row((url, kind), |_| Ok(())).optional());
        found.map(|found| found.is_some()).map_err(failed)
    }

    /// Visits all URLs in the order of their bytes.
    ///
    /// # Errors
    /// The temporary file cannot be read, or `visit` fails.
    pub fn each(&self, visit: &mut EachSpooled<'_>) -> Result<(), StoreError> {
        let sql = "SELECT kind, value, url FROM spool ORDER BY url, kind";
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let mut rows = statement.query(()).map_err(failed)?;
        let (mut url, mut values) = (String::new(), SpooledValues::default());
        while let Some(row) = rows.next().map_err(failed)? {
            let next = row.get_ref(2).map_err(failed)?;
            let next = next.as_str().map_err(|error| failed(error.into()))?;
            if next != url {
                if !values.0.is_empty() {
                    visit(&url, &values)?;
                }
                next.clone_into(&mut url);
                values.0.clear();
            }
            let value = || Ok((row.get(0)?, row.get(1)?));
            values.0.push(value().map_err(failed)?);
        }
        if !values.0.is_empty() {
            visit(&url, &values)?;
        }
        Ok(())
    }
}

fn failed(error: rusqlite::Error) -> StoreError {
    failure("use", &PathBuf::from("temporary file"), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_come_in_order_with_their_values() {
        let mut spool = UrlSpool::new().unwrap();
        for (url, kind, number, merge) in [
            ("/b", 2, 1, Merge::Sum),
            ("/b", 1, 7, Merge::Least),
            ("/b", 1, 9, Merge::Least),
            ("/a", 1, 3, Merge::Least),
            ("/a", 1, 0, Merge::Least),
            ("/b", 2, 1, Merge::Sum),
        ] {
            spool.add_number(url, kind, number, merge).unwrap();
        }
        for text in ["2026-01-01", "2026-01-03", ""] {
            spool.add_text("/a", 0, text).unwrap();
        }
        let mut seen = Vec::new();
        let mut visit = |url: &str, values: &SpooledValues| {
            let text = values.text(0).map(str::to_owned);
            seen.push((url.to_owned(), text, [1, 2].map(|kind| values.number(kind))));
            Ok(())
        };
        spool.each(&mut visit).unwrap();
        let date = Some("2026-01-03".to_owned());
        let expected = [
            ("/a".to_owned(), date, [Some(0), None]),
            ("/b".to_owned(), None, [Some(7), Some(2)]),
        ];
        assert_eq!(seen, expected);
        let has = |url| spool.has(url, 2).unwrap();
        assert_eq!(["/a", "/b", "/c"].map(has), [false, true, false]);
    }
}
