//! One commit as SQL: its discoveries, its finished and requeued URLs, its values. Runs inside a
//! transaction that the caller commits or drops.

use rusqlite::{Connection, OptionalExtension as _, Statement, params};

use super::{
    aside::{self, Aside},
    doubt,
    links::Encoder,
    outbox, page_columns, put_off,
    record::{self, Packed},
};
use crate::{
    page::{Reason, RunId},
    store::{Commit, Discovery, Finished, Forgotten, KeptDocument, QueuedUrl},
    url_key::UrlKey,
};

/// Applies all effects of `commit`.
pub(super) fn apply(transaction: &Connection, commit: &Commit) -> rusqlite::Result<()> {
    let mut effects = Effects::new(transaction, commit.run)?;
    for discovery in &commit.discovered {
        effects.discover(discovery)?;
    }
    for finished in &commit.finished {
        effects.finish(finished)?;
    }
    for queued in &commit.requeued {
        effects.requeue(queued)?;
    }
    transaction.execute(
        "INSERT INTO run (id, run, last_sequence) VALUES (1, ?1, ?2)
         ON CONFLICT (id) DO UPDATE SET
           run = max(run, excluded.run), last_sequence = max(last_sequence, excluded.last_sequence)",
        [commit.run, effects.last_sequence],
    )?;
    for key in &commit.linked {
        effects.unorphan.execute([key.as_str()])?;
    }
    for (key, date) in &commit.dated {
        effects.date.execute(params![
            key.as_str(),
            commit.run,
            date.lastmod,
            date.is_of_file.then_some(1)
        ])?;
    }
    for (key, document) in &commit.kept {
        keep(transaction, key, document.as_ref())?;
    }
    for (key, doubt) in &commit.doubts {
        doubt::set(transaction, key, doubt.as_ref())?;
    }
    for (name, value) in &commit.values {
        set_value(transaction, name, value.as_deref())?;
    }
    for step in &commit.outbox {
        outbox::apply(transaction, step, commit.run)?;
    }
    if let Some(forgotten) = &commit.forgotten {
        forget(transaction, forgotten)?;
    }
    Ok(())
}

/// The last run whose set was published. What later ones decided takes no page out of the set, and puts none into
/// it; of a file that does not know, every decision counts.
pub(super) fn published_run(connection: &Connection) -> rusqlite::Result<i64> {
    let sql = "SELECT published_run FROM run";
    let run: Option<Option<i64>> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
    Ok(run.flatten().unwrap_or(i64::MAX))
}

/// The statements of a commit, prepared once for all of its effects.
struct Effects<'c> {
    transaction: &'c Connection,
    run: RunId,
    /// See [`published_run`].
    published: i64,
    last_sequence: u64,
    insert: Statement<'c>,
    lower_depth: Statement<'c>,
    enqueue: Statement<'c>,
    dequeue: Statement<'c>,
    replace: Statement<'c>,
    set_links: Statement<'c>,
    requeue: Statement<'c>,
    orphan: Statement<'c>,
    unorphan: Statement<'c>,
    date: Statement<'c>,
    aside: Option<Aside<'c>>,
    encoder: Encoder,
}

impl<'c> Effects<'c> {
    fn new(transaction: &'c Connection, run: RunId) -> rusqlite::Result<Self> {
        let published = published_run(transaction)?;
        Ok(Self {
            transaction,
            run,
            published,
            last_sequence: 0,
            insert: transaction.prepare(
                "INSERT INTO page (url, run, state, reason, depth, via, found_on, not_fetched)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (url) DO UPDATE SET
                   run = excluded.run, state = excluded.state, reason = excluded.reason,
                   depth = excluded.depth, via = excluded.via, found_on = excluded.found_on,
                   attempts = 0, fetched_at = NULL, not_fetched = excluded.not_fetched, error = NULL, kept = NULL,
                   listed_before = iif(page.state = 'queued' OR page.run > ?9, page.listed_before, page.state = 'listed'),
                   given_lastmod = NULL, given_changefreq = NULL, given_priority = NULL, given_extensions = NULL,
                   sitemap_lastmod = NULL, sitemap_is_file = NULL
                 WHERE page.run < excluded.run",
            )?,
            lower_depth: transaction
                .prepare("UPDATE page SET depth = ?2 WHERE url = ?1 AND depth > ?2")?,
            enqueue: transaction
                .prepare("INSERT INTO queue (sequence, url, hops) VALUES (?1, ?2, ?3)")?,
            dequeue: transaction.prepare("DELETE FROM queue WHERE sequence = ?1")?,
            replace: transaction.prepare(&page_columns::replace())?,
            set_links: transaction.prepare(aside::SET_LINKS)?,
            requeue: transaction.prepare(
                "UPDATE page SET
                   state = ?3, reason = ?4, depth = min(depth, ?5), attempts = 0, fetched_at = NULL,
                   not_fetched = NULL, error = NULL,
                   listed_before = CASE
                     -- What it was decided to be since the last publish does not count yet.
                     WHEN EXISTS (SELECT 1 FROM stood WHERE stood.url = page.url AND stood.run = page.run)
                       THEN (SELECT stood.listed_before FROM stood WHERE stood.url = page.url)
                     WHEN state = 'queued' OR run > ?6 THEN listed_before
                     ELSE state = 'listed'
                   END,
                   given_lastmod = NULL, given_changefreq = NULL, given_priority = NULL, given_extensions = NULL, answer_run = iif(answer_run IS NULL, NULL, -1)
                 WHERE url = ?1 AND run = ?2 AND reason <> ?4",
            )?,
            orphan: transaction.prepare("INSERT OR IGNORE INTO orphan (url) VALUES (?1)")?,
            unorphan: transaction.prepare("DELETE FROM orphan WHERE url = ?1")?,
            date: transaction.prepare(
                "UPDATE page SET sitemap_lastmod = ?3, sitemap_is_file = ?4
                 WHERE url = ?1 AND run = ?2 AND sitemap_lastmod IS NULL",
            )?,
            aside: Aside::new(transaction, published)?,
            encoder: Encoder::new(),
        })
    }

    fn discover(&mut self, discovery: &Discovery) -> rusqlite::Result<()> {
        self.last_sequence = self.last_sequence.max(discovery.sequence);
        let is_queued = discovery.reason == Reason::Queued;
        let key = discovery.key.as_str();
        let inserted = self.insert.execute(params![
            key,
            self.run,
            discovery.reason.state().as_str(),
            discovery.reason.code(),
            discovery.depth,
            discovery.via.as_str(),
            discovery.found_on.as_ref().map(UrlKey::as_str),
            (!is_queued).then(|| discovery.reason.code()),
            self.published,
        ])?;
        if inserted == 0 {
            self.lower_depth.execute(params![key, discovery.depth])?;
        } else if is_queued {
            self.enqueue
                .execute(params![discovery.sequence, key, discovery.hops])?;
        }
        if inserted > 0 && discovery.via.is_seed() {
            self.orphan.execute([key])?;
        }
        Ok(())
    }

    fn finish(&mut self, finished: &Finished) -> rusqlite::Result<()> {
        self.last_sequence = self.last_sequence.max(finished.sequence);
        self.dequeue.execute([finished.sequence])?;
        if let Some(aside) = &mut self.aside {
            aside.put(&finished.key, &finished.record)?;
        }
        let outlinks = match &finished.links {
            Some(links) => Some(self.put_links(&finished.key, links)?),
            None => None,
        };
        let packed = Packed::new(&mut self.encoder, &finished.key, &finished.record)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        record::put(
            &mut self.replace,
            &finished.key,
            &finished.record,
            &packed,
            outlinks,
        )?;
        self.replace.raw_execute()?;
        Ok(())
    }

    /// Stores the links of `key` in the place of older ones; says under which id.
    fn put_links(&mut self, key: &UrlKey, links: &[UrlKey]) -> rusqlite::Result<i64> {
        let bytes = self
            .encoder
            .encode(key, links)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        self.set_links.insert(params![key.as_str(), bytes])
    }

    fn requeue(&mut self, queued: &QueuedUrl) -> rusqlite::Result<()> {
        self.last_sequence = self.last_sequence.max(queued.sequence);
        let key = queued.key.as_str();
        put_off::take_back(self.transaction, &queued.key, self.run)?;
        let reason = Reason::Queued;
        let changed = self.requeue.execute(params![
            key,
            self.run,
            reason.state().as_str(),
            reason.code(),
            queued.depth,
            self.published,
        ])?;
        if changed > 0 {
            self.enqueue
                .execute(params![queued.sequence, key, queued.hops])?;
        }
        Ok(())
    }
}

fn keep(
    transaction: &Connection,
    key: &UrlKey,
    document: Option<&KeptDocument>,
) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare(match document {
        Some(_) => {
            "REPLACE INTO kept (url, lastmod, read_at, sha256, body) VALUES (?1, ?2, ?3, ?4, ?5)"
        }
        None => "DELETE FROM kept WHERE url = ?1",
    })?;
    match document {
        Some(document) => statement.execute(params![
            key.as_str(),
            document.lastmod,
            document.read_at.to_string(),
            document.sha256,
            document.body,
        ])?,
        None => statement.execute([key.as_str()])?,
    };
    Ok(())
}

/// Deleted rows leave room in the file that later ones take; the file itself does not shrink.
fn forget(transaction: &Connection, forgotten: &Forgotten) -> rusqlite::Result<()> {
    const PAGES: &str = "(SELECT url FROM page
      WHERE run < ?1 AND state <> 'listed' AND NOT (state = 'queued' AND listed_before IS 1)
        AND url NOT IN (SELECT url FROM queue))";
    for sql in [
        format!(
            "DELETE FROM outlinks WHERE id IN (SELECT outlinks FROM stood WHERE url IN {PAGES})"
        ),
        format!("DELETE FROM stood WHERE url IN {PAGES}"),
        format!("DELETE FROM put_off WHERE url IN {PAGES}"),
        format!(
            "DELETE FROM outlinks WHERE id IN (SELECT outlinks FROM undo_page WHERE url IN {PAGES})"
        ),
        format!("DELETE FROM undo_page WHERE url IN {PAGES}"),
        format!(
            "DELETE FROM outlinks WHERE id IN (SELECT outlinks FROM page WHERE url IN {PAGES})"
        ),
        format!("DELETE FROM page WHERE url IN {PAGES}"),
    ] {
        transaction.execute(&sql, [forgotten.before])?;
    }
    transaction.execute(
        "DELETE FROM doubt WHERE url NOT IN (SELECT url FROM page)",
        [],
    )?;
    transaction.execute(
        "DELETE FROM ledger WHERE coalesce(seen_seconds, 0) < ?1 AND url NOT IN (SELECT url FROM page)",
        [forgotten.seen_before.as_second()],
    )?;
    transaction.execute(
        "DELETE FROM undone_ledger WHERE url NOT IN (SELECT url FROM ledger)",
        [],
    )?;
    Ok(())
}

fn set_value(transaction: &Connection, name: &str, value: Option<&str>) -> rusqlite::Result<()> {
    match value {
        Some(value) => transaction.execute(
            "REPLACE INTO value (name, value) VALUES (?1, ?2)",
            [name, value],
        )?,
        None => transaction.execute("DELETE FROM value WHERE name = ?1", [name])?,
    };
    Ok(())
}
