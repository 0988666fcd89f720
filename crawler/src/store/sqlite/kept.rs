//! Sitemaps that are kept whole, as rows.

use rusqlite::{Connection, OptionalExtension};

use super::columns::Columns;
use crate::{
    store::{KeptDocument, KeptNote},
    url_key::UrlKey,
};

/// The sitemap that is kept of `key`.
pub(super) fn document(
    connection: &Connection,
    key: &UrlKey,
) -> rusqlite::Result<Option<KeptDocument>> {
    let sql = "SELECT lastmod, read_at, sha256, body FROM kept WHERE url = ?1";
    let document = connection.query_row(sql, [key.as_str()], |row| {
        let mut columns = Columns::new(row);
        Ok(KeptDocument {
            lastmod: columns.get()?,
            read_at: columns.needed_time("read_at")?,
            sha256: columns.get()?,
            body: columns.get()?,
        })
    });
    document.optional()
}

/// A note of each sitemap that is kept.
pub(super) fn visit(
    connection: &Connection,
    visit: &mut dyn FnMut(&UrlKey, KeptNote),
) -> rusqlite::Result<()> {
    // The length of a blob stands before it.
    let mut statement =
        connection.prepare("SELECT url, lastmod, read_at, length(body) FROM kept")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut columns = Columns::new(row);
        let key = columns.key()?;
        let note = KeptNote {
            lastmod: columns.get()?,
            read_at: columns.needed_time("read_at")?,
            bytes: columns.get()?,
        };
        visit(&key, note);
    }
    Ok(())
}
