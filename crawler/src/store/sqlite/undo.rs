//! The undo log of the published sets that can be restored: what was known before each of them, as far as it made that
//! another. Going back behind a set is as if it had been refused: what its runs decided is put aside again, and the next
//! run takes it back ([`super::aside`]).
//!
//! What did not change from one set to the next is not in it, so that it grows with what changes on a site.

use rusqlite::{Connection, OptionalExtension as _, Statement, params};

use super::record::hash_text;
use crate::{
    page::{ContentHash, RunId},
    store::{
        LedgerEntry,
        undo::{EVERY_SET, SetNumber},
    },
    url_key::UrlKey,
};

/// The tables; a file without them gets them. Each has the columns of the table that it is of.
pub(super) const TABLES: &str = r"
-- What was known of pages before the set set_number was published, of those that it knows otherwise.
CREATE TABLE IF NOT EXISTS undo_page AS SELECT 0 AS set_number, * FROM page WHERE 0;
CREATE UNIQUE INDEX IF NOT EXISTS undo_page_url ON undo_page (url, set_number);

-- The same of the ledger,
CREATE TABLE IF NOT EXISTS undo_ledger AS SELECT 0 AS set_number, * FROM ledger WHERE 0;
CREATE UNIQUE INDEX IF NOT EXISTS undo_ledger_url ON undo_ledger (url, set_number);

-- ... and of the published set.
CREATE TABLE IF NOT EXISTS undo_published AS SELECT 0 AS set_number, * FROM published WHERE 0;
CREATE UNIQUE INDEX IF NOT EXISTS undo_published_url ON undo_published (url, set_number);

-- What the ledger knew by sets that were taken back, for pages that turn out to say still what they said then.
CREATE TABLE IF NOT EXISTS undone_ledger AS SELECT * FROM ledger WHERE 0;
CREATE UNIQUE INDEX IF NOT EXISTS undone_ledger_url ON undone_ledger (url, content_hash, hash_version);
";

/// A condition: no set that can be restored has the links of the row `table`.
macro_rules! no_undo_has_links_of {
    ($table:literal) => {
        concat!(
            "NOT EXISTS (SELECT 1 FROM undo_page AS undo WHERE undo.url = ",
            $table,
            ".url AND undo.outlinks = ",
            $table,
            ".outlinks)"
        )
    };
}
pub(super) use no_undo_has_links_of;

/// See [`UndoStep::KeepBefore`](crate::store::undo::UndoStep::KeepBefore).
pub(super) fn keep_before(transaction: &Connection, set: SetNumber) -> rusqlite::Result<()> {
    let columns = columns(transaction, "page")?;
    // A page that is listed with the content of before is known by its newer answer as well; and one that never was
    // listed, by one that is the same.
    let sql = format!(
        "INSERT OR IGNORE INTO undo_page (set_number, {columns}) SELECT ?1, {columns} FROM stood
         WHERE NOT EXISTS (
           SELECT 1 FROM page
           WHERE page.url = stood.url AND page.answer_run = page.run AND page.kept IS NULL
             AND page.content_hash IS stood.content_hash
             AND iif(
               page.state = 'listed',
               page.content_hash IS NOT NULL,
               stood.state <> 'listed' AND stood.listed_before IS NOT 1 AND page.status IS stood.status
                 AND page.etag IS stood.etag AND page.last_modified IS stood.last_modified
                 AND page.location IS stood.location
             )
         )"
    );
    transaction.execute(&sql, [set])?;
    // Of a URL that has one already the first counts.
    transaction.execute(
        concat!(
            "DELETE FROM outlinks WHERE id IN (
               SELECT stood.outlinks FROM stood JOIN undo_page ON undo_page.url = stood.url AND set_number = ?1
               WHERE NOT EXISTS (SELECT 1 FROM page WHERE page.url = stood.url AND page.outlinks = stood.outlinks)
                 AND ",
            no_undo_has_links_of!("stood"),
            ")"
        ),
        [set],
    )?;
    transaction.execute(
        "DELETE FROM stood WHERE EXISTS (
           SELECT 1 FROM undo_page WHERE undo_page.url = stood.url AND set_number = ?1
         )",
        [set],
    )?;
    transaction.execute(
        "INSERT OR IGNORE INTO undo_published (set_number, url, lastmod, content, hash_version)
         SELECT ?1, published.url, published.lastmod, published.content, published.hash_version
         FROM staged CROSS JOIN published ON published.url = staged.url",
        [set],
    )?;
    transaction.execute("UPDATE run SET kept_set = ?1", [set])?;
    Ok(())
}

/// See [`UndoStep::ForgetBefore`](crate::store::undo::UndoStep::ForgetBefore).
pub(super) fn forget_before(transaction: &Connection, until: SetNumber) -> rusqlite::Result<()> {
    drop_pages(transaction, 0, until)?;
    for table in ["undo_ledger", "undo_published"] {
        let sql = format!("DELETE FROM {table} WHERE set_number <= ?1");
        transaction.execute(&sql, [until])?;
    }
    Ok(())
}

/// See [`UndoStep::StepBack`](crate::store::undo::UndoStep::StepBack).
pub(super) fn step_back(
    transaction: &Connection,
    to: SetNumber,
    run: Option<RunId>,
) -> rusqlite::Result<()> {
    restore_pages(transaction, to)?;
    restore_ledger(transaction, to)?;
    transaction.execute(
        "UPDATE published SET (lastmod, content, hash_version) = (
           SELECT lastmod, content, hash_version FROM undo_published
           WHERE undo_published.url = published.url AND set_number > ?1 ORDER BY set_number LIMIT 1
         )
         WHERE url IN (SELECT url FROM undo_published WHERE set_number > ?1)",
        [to],
    )?;
    transaction.execute("DELETE FROM undo_published WHERE set_number > ?1", [to])?;
    transaction.execute(
        "UPDATE run SET published_run = ifnull(?1, published_run)",
        [run],
    )?;
    Ok(())
}

/// See [`UndoStep::ForgetRuns`](crate::store::undo::UndoStep::ForgetRuns).
pub(super) fn forget_runs(transaction: &Connection) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "DELETE FROM page; DELETE FROM queue; DELETE FROM orphan; DELETE FROM outlinks; DELETE FROM stood;
         DELETE FROM put_off; DELETE FROM doubt; DELETE FROM undo_page; DELETE FROM undo_ledger; DELETE FROM undo_published;
         DELETE FROM undone_ledger; DELETE FROM published; DELETE FROM staged;
         UPDATE run SET last_sequence = 0, published_run = NULL, kept_set = NULL;",
    )
}

/// Puts the records aside again that the sets behind `to` took the place of. Of a URL the oldest counts.
fn restore_pages(transaction: &Connection, to: SetNumber) -> rusqlite::Result<()> {
    let columns = columns(transaction, "page")?;
    // What is put aside already is newer than any set.
    let aside = format!(
        "INSERT OR IGNORE INTO undo_page (set_number, {columns}) SELECT ?1, {columns} FROM stood"
    );
    transaction.execute(&aside, [EVERY_SET])?;
    transaction.execute("DELETE FROM stood", [])?;
    let oldest_last = format!(
        "REPLACE INTO stood ({columns}) SELECT {columns} FROM undo_page
         WHERE set_number > ?1 ORDER BY set_number DESC"
    );
    transaction.execute(&oldest_last, [to])?;
    drop_pages(transaction, to.saturating_add(1), EVERY_SET)
}

/// Removes the records of the sets `from` to `until`, and the links that nothing else has.
fn drop_pages(transaction: &Connection, from: SetNumber, until: SetNumber) -> rusqlite::Result<()> {
    transaction.execute(
        "DELETE FROM outlinks WHERE id IN (
           SELECT outlinks FROM undo_page AS old WHERE set_number BETWEEN ?1 AND ?2
             AND NOT EXISTS (SELECT 1 FROM page WHERE page.url = old.url AND page.outlinks = old.outlinks)
             AND NOT EXISTS (SELECT 1 FROM stood WHERE stood.url = old.url AND stood.outlinks = old.outlinks)
             AND NOT EXISTS (
               SELECT 1 FROM undo_page AS other
               WHERE other.url = old.url AND other.outlinks = old.outlinks AND other.set_number NOT BETWEEN ?1 AND ?2
             )
         )",
        [from, until],
    )?;
    transaction.execute(
        "DELETE FROM undo_page WHERE set_number BETWEEN ?1 AND ?2",
        [from, until],
    )?;
    Ok(())
}

/// Makes the ledger what it was before the sets behind `to`, and remembers what it was by them.
fn restore_ledger(transaction: &Connection, to: SetNumber) -> rusqlite::Result<()> {
    let columns = columns(transaction, "ledger")?;
    for sql in [
        format!(
            "REPLACE INTO undone_ledger ({columns}) SELECT {columns} FROM undo_ledger
             WHERE set_number > ?1 ORDER BY set_number"
        ),
        format!(
            "REPLACE INTO undone_ledger ({columns}) SELECT {columns} FROM ledger
             WHERE url IN (SELECT url FROM undo_ledger WHERE set_number > ?1)"
        ),
        format!(
            "REPLACE INTO ledger ({columns}) SELECT {columns} FROM undo_ledger
             WHERE set_number > ?1 ORDER BY set_number DESC"
        ),
        "DELETE FROM undo_ledger WHERE set_number > ?1".to_owned(),
    ] {
        transaction.execute(&sql, [to])?;
    }
    Ok(())
}

/// Keeps what the ledger knows before an entry takes its place.
pub(super) struct LedgerUndo<'c> {
    /// The set that stands; `None`: none that can be restored.
    set: Option<SetNumber>,
    keep: Statement<'c>,
    settle: Statement<'c>,
}

impl<'c> LedgerUndo<'c> {
    pub(super) fn new(transaction: &'c Connection) -> rusqlite::Result<Self> {
        let set: Option<Option<SetNumber>> = transaction
            .query_row("SELECT kept_set FROM run", [], |row| row.get(0))
            .optional()?;
        let columns = columns(transaction, "ledger")?;
        Ok(Self {
            set: set.flatten(),
            keep: transaction.prepare(&format!(
                "INSERT OR IGNORE INTO undo_ledger (set_number, {columns}) SELECT ?1, {columns} FROM ledger
                 WHERE url = ?2 AND (content_hash <> ?3 OR hash_version <> ?4 OR lastmod IS NOT ?5)"
            ))?,
            settle: transaction.prepare("DELETE FROM undone_ledger WHERE url = ?1")?,
        })
    }

    /// Before `entry` becomes what is known of `key`: from then on nothing is open about its content.
    pub(super) fn keep(&mut self, key: &UrlKey, entry: &LedgerEntry) -> rusqlite::Result<()> {
        self.settle.execute([key.as_str()])?;
        if let Some(set) = self.set {
            self.keep.execute(params![
                set,
                key.as_str(),
                hash_text(entry.content_hash),
                entry.hash_version,
                entry.lastmod,
            ])?;
        }
        Ok(())
    }
}

/// A page whose content is not what the ledger knows of it may say what it said by a set that was taken back.
pub(super) struct Undone<'c> {
    /// Gives the columns of an entry; `None`: there is nothing to look for.
    find: Option<Statement<'c>>,
}

impl<'c> Undone<'c> {
    pub(super) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let is_any =
            connection.query_row("SELECT EXISTS (SELECT 1 FROM undone_ledger)", [], |row| {
                row.get::<_, bool>(0)
            })?;
        let find = is_any.then(|| {
            connection.prepare(
                "SELECT content_hash, hash_version, lastmod, last_modified_seconds, source,
                   since_seconds, seen_seconds, json_ld, meta, sitemap, time_element
                 FROM undone_ledger WHERE url = ?1 AND content_hash = ?2 AND hash_version = ?3",
            )
        });
        Ok(Self {
            find: find.transpose()?,
        })
    }

    /// Whether there are any, for any page.
    pub(super) fn is_any(&self) -> bool {
        self.find.is_some()
    }

    /// What was known of `key` with this content.
    pub(super) fn entry(
        &mut self,
        key: &UrlKey,
        ContentHash(hash): ContentHash,
    ) -> rusqlite::Result<Option<LedgerEntry>> {
        let Some(find) = &mut self.find else {
            return Ok(None);
        };
        let parameters = params![key.as_str(), hash_text(hash), ContentHash::VERSION];
        find.query_row(parameters, |row| {
            super::ledger_entry(&mut super::Columns::new(row))
        })
        .optional()
    }
}

/// The names of the columns of `table`, separated by commas. Columns that were added to a file later stand behind the
/// others, in each table for itself, so they are always named.
fn columns(connection: &Connection, table: &str) -> rusqlite::Result<String> {
    connection.query_row(
        "SELECT group_concat(name, ', ') FROM pragma_table_info(?1)",
        [table],
        |row| row.get(0),
    )
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use crate::{
        page::{ContentHash, Outcome, Reason},
        store::{
            Commit, Finished, Store,
            conformance::{discovery, finished, record},
            outbox::{OutboxStep, Tell},
            sqlite::SqliteStore,
            undo::UndoStep,
        },
    };

    /// Links that nobody has, and those that two URLs have.
    fn strays(store: &SqliteStore) -> (i64, i64) {
        let all = "SELECT url, outlinks FROM page UNION SELECT url, outlinks FROM stood
                   UNION SELECT url, outlinks FROM undo_page";
        let count = |sql: &str| {
            let number = store.connection.query_row(sql, [], |row| row.get(0));
            number.unwrap()
        };
        (
            count(&format!(
                "SELECT count(*) FROM outlinks
                 WHERE id NOT IN (SELECT outlinks FROM ({all}) WHERE outlinks IS NOT NULL)"
            )),
            count(&format!(
                "SELECT count(*) FROM (SELECT outlinks FROM ({all}) WHERE outlinks IS NOT NULL
                 GROUP BY outlinks HAVING count(DISTINCT url) > 1)"
            )),
        )
    }

    fn steps(store: &mut SqliteStore, run: u64, outbox: Vec<OutboxStep>) {
        let commit = Commit {
            run,
            outbox,
            ..Commit::default()
        };
        store.commit(&commit).unwrap();
    }

    #[test]
    fn links_stay_as_long_as_something_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(&folder.path().join("a.db")).unwrap();
        let mut set = 0;
        for run in 1..=60_u64 {
            store.begin_run(run).unwrap();
            assert_eq!(strays(&store), (0, 0), "begin of run {run}");
            let mut commit = Commit {
                run,
                ..Commit::default()
            };
            for page in 0..7_u64 {
                let found = discovery(&format!("/{page}"), page + 1);
                // Some change in each run, some seldom, and some with nothing but their links.
                let mark = run / (1 + page % 4);
                let reason = match (run + page) % 5 {
                    0 => Reason::Gone,
                    _ => Reason::Listed,
                };
                let mut record = record(run, reason);
                if let Some(Outcome::Answered(facts)) = &mut record.outcome {
                    facts.content_hash = Some(ContentHash(mark.into()));
                    facts.etag = None;
                }
                let link = discovery(&format!("/to/{run}"), 0).key;
                let links = ((run + page) % 3 > 0).then(|| vec![link]);
                commit.finished.push(Finished {
                    links,
                    ..finished(&found, record)
                });
                commit.discovered.push(found);
            }
            store.commit(&commit).unwrap();
            assert_eq!(strays(&store), (0, 0), "run {run}");
            // Some runs are refused, some sets are the same as before.
            if run % 7 != 3 {
                set += u64::from(run % 4 > 0);
                let take = OutboxStep::Take {
                    since: Timestamp::UNIX_EPOCH,
                    tell: Tell::Nobody,
                };
                let forget = OutboxStep::Undo(UndoStep::ForgetBefore(set.saturating_sub(2)));
                let keep = OutboxStep::Undo(UndoStep::KeepBefore(set));
                steps(&mut store, run, vec![forget, keep, take]);
                assert_eq!(strays(&store), (0, 0), "set {set}");
            }
            if run % 5 == 4 {
                let to = set - 1 - run % 2;
                steps(
                    &mut store,
                    0,
                    vec![OutboxStep::Undo(UndoStep::StepBack { to, run: None })],
                );
                assert_eq!(strays(&store), (0, 0), "back to {to}");
            }
        }
        let kept = "SELECT count(*) FROM undo_page WHERE set_number <= ?1";
        let kept: i64 = store
            .connection
            .query_row(kept, [set - 2], |row| row.get(0))
            .unwrap();
        assert_eq!(kept, 0);
    }
}
