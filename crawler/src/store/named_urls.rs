//! URLs as sitemaps, feeds and access logs name them, in a temporary file that goes with its value. Memory and disk: see
//! [`EntryPairs`](super::EntryPairs).

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{
    StoreError,
    entry_pairs::{failed, temporary},
};

const TABLE: &str = "CREATE TABLE named (url TEXT PRIMARY KEY, sitemap INTEGER, feed INTEGER,
  answered INTEGER NOT NULL DEFAULT 0, missing INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;";

/// A source that names a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBy {
    /// A sitemap, by its number.
    Sitemap(u32),
    /// A feed, by its number.
    Feed(u32),
    /// A request in an access log that was answered 200.
    Answered,
    /// A request in an access log that was answered 404 or 410.
    Missing,
}

/// A URL with the sources that name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedRow<'a> {
    /// The URL.
    pub url: &'a str,
    /// Number of the first sitemap that lists it.
    pub sitemap: Option<u32>,
    /// Number of the first feed that lists it.
    pub feed: Option<u32>,
    /// Requests that were answered 200.
    pub answered: u64,
    /// Requests that were answered 404 or 410.
    pub missing: u64,
}

/// Receives URLs, and returns whether to go on.
pub type EachNamed<'a> = dyn FnMut(NamedRow<'_>) -> Result<(), StoreError> + 'a;

/// URLs with the sources that name them.
#[derive(Debug)]
pub struct NamedUrls {
    connection: Connection,
}

impl NamedUrls {
    /// No URLs yet.
    ///
    /// # Errors
    /// There is no room for the temporary file.
    pub fn new() -> Result<Self, StoreError> {
        let connection = temporary(TABLE).map_err(failed)?;
        Ok(Self { connection })
    }

    /// Adds a source of a URL.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub fn add(&mut self, url: &str, by: NamedBy) -> Result<(), StoreError> {
        let (sql, value) = match by {
            NamedBy::Sitemap(number) => (
                "INSERT INTO named (url, sitemap) VALUES (?1, ?2)
                 ON CONFLICT (url) DO UPDATE SET sitemap = ifnull(sitemap, ?2)",
                number,
            ),
            NamedBy::Feed(number) => (
                "INSERT INTO named (url, feed) VALUES (?1, ?2)
                 ON CONFLICT (url) DO UPDATE SET feed = ifnull(feed, ?2)",
                number,
            ),
            NamedBy::Answered => (
                "INSERT INTO named (url, answered) VALUES (?1, ?2)
                 ON CONFLICT (url) DO UPDATE SET answered = answered + ?2",
                1,
            ),
            NamedBy::Missing => (
                "INSERT INTO named (url, missing) VALUES (?1, ?2)
                 ON CONFLICT (url) DO UPDATE SET missing = missing + ?2",
                1,
            ),
        };
        let added = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut add| add.execute((url, value)));
        added.map(drop).map_err(failed)
    }

    /// Returns whether a sitemap lists a URL.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn is_in_sitemap(&self, url: &str) -> Result<bool, StoreError> {
        let sql = "SELECT sitemap IS NOT NULL FROM named WHERE url = ?1";
        let found = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut find| find.query_row([url], |row| row.get(0)).optional());
        found.map(Option::unwrap_or_default).map_err(failed)
    }

    /// Visits all URLs in the order of their bytes.
    ///
    /// # Errors
    /// The temporary file cannot be read, or `visit` fails.
    pub fn each(&self, visit: &mut EachNamed<'_>) -> Result<(), StoreError> {
        let sql = "SELECT url, sitemap, feed, answered, missing FROM named ORDER BY url";
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let mut rows = statement.query(()).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            visit(read(row).map_err(failed)?)?;
        }
        Ok(())
    }
}

fn read<'r>(row: &'r Row<'_>) -> rusqlite::Result<NamedRow<'r>> {
    Ok(NamedRow {
        url: row.get_ref(0)?.as_str()?,
        sitemap: row.get(1)?,
        feed: row.get(2)?,
        answered: row.get(3)?,
        missing: row.get(4)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_sitemap_and_feed_of_a_url_count() {
        let mut named = NamedUrls::new().unwrap();
        for by in [NamedBy::Answered, NamedBy::Feed(1), NamedBy::Feed(2)] {
            named.add("/b", by).unwrap();
        }
        for by in [NamedBy::Sitemap(3), NamedBy::Sitemap(0), NamedBy::Missing] {
            named.add("/a", by).unwrap();
            named.add("/a", NamedBy::Missing).unwrap();
        }
        let mut seen = Vec::new();
        let mut visit = |url: NamedRow<'_>| {
            let sources = (url.sitemap, url.feed, url.answered, url.missing);
            seen.push((url.url.to_owned(), sources));
            Ok(())
        };
        named.each(&mut visit).unwrap();
        let expected = [
            ("/a".to_owned(), (Some(3), None, 0, 4)),
            ("/b".to_owned(), (None, Some(1), 1, 0)),
        ];
        assert_eq!(seen, expected);
        let is_in_sitemap = |url| named.is_in_sitemap(url).unwrap();
        assert_eq!(["/a", "/b", "/c"].map(is_in_sitemap), [true, false, false]);
    }
}
