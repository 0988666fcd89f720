//! Copies of sitemaps, as rows.

use rusqlite::{Connection, OptionalExtension};

use super::{CachedNote, CachedSitemap, values::Columns};
use crate::url_key::UrlKey;

/// The copy of the sitemap `key`.
pub(super) fn one(
    connection: &Connection,
    key: &UrlKey,
) -> rusqlite::Result<Option<CachedSitemap>> {
    let sql = "SELECT lastmod, read_at, sha256, body FROM sitemap WHERE url = ?1";
    let sitemap = connection.query_row(sql, [key.as_str()], |row| {
        let mut columns = Columns::new(row);
        Ok(CachedSitemap {
            lastmod: columns.get()?,
            read_at: columns.get()?,
            sha256: columns.get()?,
            body: columns.get()?,
        })
    });
    sitemap.optional()
}

/// The data on each copy.
pub(super) fn each(
    connection: &Connection,
    show: &mut dyn FnMut(&UrlKey, CachedNote),
) -> rusqlite::Result<()> {
    // The length of a blob is before it.
    let mut statement =
        connection.prepare("SELECT url, lastmod, read_at, length(body) FROM sitemap")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut columns = Columns::new(row);
        let key: UrlKey = columns.get()?;
        let note = CachedNote {
            lastmod: columns.get()?,
            read_at: columns.get()?,
            bytes: columns.get()?,
        };
        show(&key, note);
    }
    Ok(())
}
