//! What was known of pages before a run decided about them that is not published yet. A run that is refused, or
//! given up, leaves nothing behind by which later ones ask or judge: the site was not itself.

use rusqlite::{Connection, Statement, params};

use super::{
    SqliteStore, page_columns, put_off,
    record::{self, Stored, select_records},
    undo::no_undo_has_links_of,
};
use crate::{
    page::{Basis, ContentHash, Outcome, PageFacts, PageRecord, State},
    store::StoreError,
    url_key::UrlKey,
};

/// Stores the links of a page, in the place of those that it has, unless these are put aside.
pub(super) const SET_LINKS: &str = "REPLACE INTO outlinks (id, links) VALUES (
  (SELECT outlinks FROM page WHERE url = ?1 AND outlinks IS NOT (SELECT outlinks FROM stood WHERE url = ?1)
     AND NOT EXISTS (SELECT 1 FROM undo_page WHERE undo_page.url = ?1 AND undo_page.outlinks = page.outlinks)), ?2
)";

/// A page that is listed as it was, with the same content and the same validators, needs no second row: most do not change.
fn put() -> String {
    format!(
        "INSERT OR IGNORE INTO stood ({}) SELECT {} FROM page
         WHERE url = ?1 AND run = ?2
           AND NOT (?3 AND (state = 'listed' OR listed_before IS 1) AND content_hash IS NOT NULL AND content_hash IS ?4 AND etag IS ?5 AND last_modified IS ?6)",
        page_columns::all(),
        page_columns::of("page")
    )
}

/// Puts pages aside.
pub(super) struct Aside<'c> {
    put: Statement<'c>,
}

impl<'c> Aside<'c> {
    /// `None` where no set was published before, so that there is nothing to go back to.
    pub(super) fn new(
        transaction: &'c Connection,
        published: i64,
    ) -> rusqlite::Result<Option<Self>> {
        if published == i64::MAX {
            return Ok(None);
        }
        let put = transaction.prepare(&put())?;
        Ok(Some(Self { put }))
    }

    /// Puts aside what is known of the page `key`, which `record` takes the place of. The first counts.
    pub(super) fn put(&mut self, key: &UrlKey, record: &PageRecord) -> rusqlite::Result<()> {
        let facts = record.facts();
        // What fails, or is gone, since when counts from runs that are published only.
        let is_kept = matches!(record.basis, Basis::Kept(_));
        let is_listed = record.reason.state() == State::Listed && !is_kept;
        self.put.execute(params![
            key.as_str(),
            record.run,
            is_listed,
            facts
                .and_then(|facts| facts.content_hash)
                .map(|ContentHash(hash)| record::hash_text(hash)),
            facts.and_then(|facts| facts.etag.as_deref()),
            facts
                .and_then(|facts| facts.last_modified)
                .map(record::time_text),
        ])?;
        Ok(())
    }
}

/// A set was published: what its run decided is what is known.
pub(super) fn forget(transaction: &Connection) -> rusqlite::Result<()> {
    transaction.execute_batch(concat!(
        "DELETE FROM outlinks WHERE id IN (
           SELECT stood.outlinks FROM stood LEFT JOIN page ON page.url = stood.url
           WHERE stood.outlinks IS NOT page.outlinks AND ",
        no_undo_has_links_of!("stood"),
        ");
         DELETE FROM stood;",
    ))
}

/// Another run begins: what was decided since the last publish counts no more.
pub(super) fn take_back(transaction: &Connection) -> rusqlite::Result<()> {
    transaction.execute_batch(concat!(
        "DELETE FROM page WHERE (SELECT published_run FROM run) = 0 AND run > 0 AND listed_before IS NOT 1;
         DELETE FROM undo_page WHERE (SELECT published_run FROM run) = 0;
         DELETE FROM outlinks WHERE (SELECT published_run FROM run) = 0 AND id NOT IN (
           SELECT outlinks FROM page WHERE outlinks IS NOT NULL UNION SELECT outlinks FROM stood WHERE outlinks IS NOT NULL
         );
         DELETE FROM outlinks WHERE id IN (
           SELECT page.outlinks FROM stood JOIN page ON page.url = stood.url AND page.run >= stood.run
           WHERE page.outlinks IS NOT stood.outlinks AND ",
        no_undo_has_links_of!("page"),
        ");",
    ))?;
    let restore = format!(
        "REPLACE INTO page ({}) SELECT {} FROM stood JOIN page ON page.url = stood.url AND page.run >= stood.run",
        page_columns::all(),
        page_columns::of("stood")
    );
    transaction.execute(&restore, [])?;
    forget(transaction)?;
    put_off::restore(transaction)
}

/// See [`Store::facts_before`](crate::store::Store::facts_before).
pub(super) fn before(store: &SqliteStore, key: &UrlKey) -> Result<Option<PageFacts>, StoreError> {
    let is_forgotten = "SELECT published_run IS 0 AND page.run > 0 AND listed_before IS NOT 1
                        FROM page CROSS JOIN run WHERE url = ?1";
    let is_forgotten = store.row(is_forgotten, [key.as_str()], |row| row.get(0))?;
    let page = store.stored(key)?;
    let Some(page) = page.filter(|_| is_forgotten != Some(true)) else {
        return Ok(None);
    };
    // What stands put aside has the columns of a page.
    let sql = concat!(
        "WITH page AS (SELECT * FROM stood) ",
        select_records!("WHERE url = ?1")
    );
    let stood = store.row(sql, [key.as_str()], Stored::read)?;
    let stood = stood.filter(|stood| stood.record.run <= page.record.run);
    let Stored {
        record, earlier, ..
    } = stood.unwrap_or(page);
    Ok(match record.outcome {
        Some(Outcome::Answered(facts)) => Some(*facts),
        Some(Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Given(_)) | None => {
            earlier
        }
    })
}

/// See [`UndoStep::Disown`](crate::store::undo::UndoStep::Disown).
pub(super) fn disown(transaction: &Connection) -> rusqlite::Result<()> {
    transaction
        .execute(
            "UPDATE run SET published_run = 0 WHERE published_run IS NULL",
            [],
        )
        .map(drop)
}
