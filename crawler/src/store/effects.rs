//! One commit as SQL. Runs inside a transaction that the caller commits or drops. A visit and the page row
//! that it was copied to share one row of `link`, which is removed with the last of them.

use std::sync::LazyLock;

use jiff::Timestamp;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};

use super::{
    Commit, Discovery, Finished, PageLinks, PageRow, QueuedUrl,
    columns::{self, Attempt, Origin, Published, Queue},
    links::Encoder,
    outbox, patterns,
    record::unwritable,
    values::{Binder, Sql},
};
use crate::{
    page::{Reason, Repeat, State, TakenLinks},
    url_key::UrlKey,
};

/// A visit that exists changes only to a smaller depth.
static DISCOVER: LazyLock<String> = LazyLock::new(|| {
    let groups = [Origin::COLUMNS, Attempt::COLUMNS, Queue::COLUMNS];
    columns::insert("visit", &groups)
        + " ON CONFLICT (url) DO UPDATE SET depth = excluded.depth WHERE depth > excluded.depth"
});

/// A visit that exists retains how it was found first, a smaller depth, and the date of a sitemap.
static FINISH: LazyLock<String> = LazyLock::new(|| {
    let groups = [Origin::COLUMNS, Attempt::COLUMNS, Queue::COLUMNS];
    let changing = groups[..2].iter().copied().flatten();
    let changes = changing.filter_map(|column| match column.name {
        "via" | "found_on" => None,
        "depth" => Some("depth = min(depth, excluded.depth)".to_owned()),
        name @ ("sitemap_lastmod" | "sitemap_is_file") => Some(format!(
            "{name} = iif(sitemap_lastmod IS NULL, excluded.{name}, {name})"
        )),
        name => Some(format!("{name} = excluded.{name}")),
    });
    format!(
        "{} ON CONFLICT (url) DO UPDATE SET {}, sequence = excluded.sequence, distance = excluded.distance, novelty = excluded.novelty, \
         led_to = excluded.led_to, links = excluded.links",
        columns::insert("visit", &groups),
        changes.collect::<Vec<_>>().join(", "),
    )
});

static REQUEUE: LazyLock<String> = LazyLock::new(|| {
    let answer = Attempt::COLUMNS.iter();
    let answer = answer.map(|column| format!("{} = NULL", column.name));
    format!(
        "UPDATE visit SET sequence = ?2, hops = ?3, depth = min(depth, ?4), state = ?5, reason = ?6, attempts = 0, \
         links = NULL, {} WHERE url = ?1 AND state <> 'queued'",
        answer.collect::<Vec<_>>().join(", "),
    )
});

/// Without new links a page keeps those that it has.
static PUT_PAGE: LazyLock<String> = LazyLock::new(|| {
    let groups = [Origin::COLUMNS, Attempt::COLUMNS, Published::COLUMNS];
    let changing = groups.iter().copied().flatten();
    let changes = changing.map(|column| format!("{0} = excluded.{0}", column.name));
    format!(
        "{} ON CONFLICT (url) DO UPDATE SET {}, links = ifnull(excluded.links, links)",
        columns::insert("page", &groups),
        changes.collect::<Vec<_>>().join(", "),
    )
});

/// The id of the links that only the visit has.
const OWN_LINKS: &str = "SELECT links FROM visit WHERE url = ?1 AND links IS NOT NULL
  AND links IS NOT (SELECT links FROM page WHERE page.url = visit.url)";

/// Applies all effects of `commit`.
pub(super) fn apply(transaction: &Connection, commit: &Commit) -> rusqlite::Result<()> {
    let mut effects = Effects {
        transaction,
        encoder: Encoder::new(),
        discover: transaction.prepare_cached(&DISCOVER)?,
        finish: transaction.prepare_cached(&FINISH)?,
        put_page: transaction.prepare_cached(&PUT_PAGE)?,
        own_links: transaction.prepare_cached(OWN_LINKS)?,
        put_links: transaction.prepare_cached("REPLACE INTO link (id, links) VALUES (?1, ?2)")?,
    };
    if commit.clears_visits {
        clear_visits(transaction)?;
    }
    if let Some(patterns) = &commit.patterns {
        patterns::put(transaction, patterns)?;
    }
    for discovery in &commit.discovered {
        effects.discover(discovery)?;
    }
    for finished in &commit.finished {
        effects.finish(finished)?;
    }
    for queued in &commit.requeued {
        effects.requeue(queued)?;
    }
    for key in &commit.linked {
        effects
            .sql("UPDATE visit SET is_orphan = NULL WHERE url = ?1 AND is_orphan = 1")?
            .execute([key.as_str()])?;
    }
    for key in &commit.named {
        effects
            .sql("UPDATE visit SET is_declared = 1 WHERE url = ?1")?
            .execute([key.as_str()])?;
    }
    for (key, distance) in &commit.nearer {
        effects
            .sql("UPDATE visit SET distance = ?2 WHERE url = ?1 AND state = 'queued'")?
            .execute(params![key.as_str(), distance])?;
    }
    if commit.ends_waits {
        effects
            .sql(
                "UPDATE visit SET repeat = NULL, reason = ?2, state = ?3
                  WHERE repeat = ?1 AND reason = ?4",
            )?
            .execute([
                Repeat::WAITS,
                Reason::Listed.code(),
                State::Listed.as_str(),
                Repeat::Waits.reason().code(),
            ])?;
    }
    for (key, repeat) in &commit.repeats {
        effects.mark(key, repeat.as_ref())?;
    }
    for key in &commit.forgotten {
        effects
            .sql("DELETE FROM visit WHERE url = ?1")?
            .execute(params![key.as_str()])?;
    }
    for (key, date) in &commit.dated {
        effects
            .sql(
                "UPDATE visit SET sitemap_lastmod = ?2, sitemap_is_file = ?3
                 WHERE url = ?1 AND sitemap_lastmod IS NULL",
            )?
            .execute(params![key.as_str(), date.lastmod, Sql(&date.is_of_file)])?;
    }
    for page in &commit.pages {
        effects.put_page(page)?;
    }
    for (name, value) in &commit.values {
        effects.set_value(name, value.as_deref())?;
    }
    for step in &commit.outbox {
        outbox::apply(transaction, step)?;
    }
    if let Some(before) = commit.forgets_before {
        forget(transaction, before)?;
    }
    Ok(())
}

struct Effects<'c> {
    transaction: &'c Connection,
    encoder: Encoder,
    // These run for each row; to look them up each time costs as much, because their texts are long.
    discover: CachedStatement<'c>,
    finish: CachedStatement<'c>,
    put_page: CachedStatement<'c>,
    own_links: CachedStatement<'c>,
    put_links: CachedStatement<'c>,
}

impl<'c> Effects<'c> {
    fn sql(&self, sql: &str) -> rusqlite::Result<CachedStatement<'c>> {
        self.transaction.prepare_cached(sql)
    }

    fn discover(&mut self, discovery: &Discovery) -> rusqlite::Result<()> {
        let mut row = Binder::new(&mut self.discover);
        row.put(&discovery.key)?;
        Origin {
            state: discovery.reason.state(),
            reason: discovery.reason,
            depth: discovery.depth,
            via: discovery.via,
            found_on: discovery.found_on.clone(),
            attempts: 0,
            sitemap_lastmod: None,
            sitemap_is_file: false,
        }
        .put(&mut row)?;
        let attempt = match discovery.reason {
            Reason::Queued => Attempt::default(),
            verdict => Attempt::of_verdict(verdict),
        };
        attempt.put(&mut row)?;
        Queue {
            sequence: discovery.sequence,
            hops: discovery.hops,
            is_orphan: discovery.via.is_seed(),
            distance: discovery.distance,
            novelty: None,
            led_to: 0,
            is_declared: discovery.via.is_declared(),
            promotion: None,
        }
        .put(&mut row)?;
        row.put(&None::<i64>)?;
        row.execute().map(drop)
    }

    fn finish(&mut self, finished: &Finished) -> rusqlite::Result<()> {
        let Finished {
            key,
            sequence,
            record,
            reading,
            links,
        } = finished;
        let own = self.own_links(key)?;
        let links = match (links, own) {
            (Some(links), own) => Some(self.put_links(own, key, links)?),
            (None, Some(own)) => {
                self.drop_links(own)?;
                None
            }
            (None, None) => None,
        };
        let attempt = Attempt::of(key, record, &mut self.encoder).map_err(unwritable)?;
        let mut row = Binder::new(&mut self.finish);
        row.put(key)?;
        Origin::of(record).put(&mut row)?;
        attempt.put(&mut row)?;
        Queue {
            sequence: *sequence,
            hops: 0,
            is_orphan: false,
            distance: reading.distance,
            novelty: reading.novelty,
            led_to: reading.led_to,
            is_declared: false,
            promotion: None,
        }
        .put(&mut row)?;
        row.put(&links)?;
        row.execute().map(drop)
    }

    /// Marks what a visit repeats; the reason follows the mark where nothing else decides it.
    fn mark(&mut self, key: &UrlKey, repeat: Option<&Repeat>) -> rusqlite::Result<()> {
        let reason = repeat.map_or(Reason::Listed, Repeat::reason);
        let codes = Repeat::REASONS.map(Reason::code).join("', '");
        let sql = format!(
            "UPDATE visit SET repeat = ?2,
               reason = iif(reason IN ('listed', '{codes}'), ?3, reason),
               state = iif(reason IN ('listed', '{codes}'), ?4, state)
             WHERE url = ?1"
        );
        self.sql(&sql)?.execute(params![
            key.as_str(),
            repeat.map(Repeat::text),
            reason.code(),
            reason.state().as_str(),
        ])?;
        Ok(())
    }

    fn requeue(&mut self, queued: &QueuedUrl) -> rusqlite::Result<()> {
        if let Some(own) = self.own_links(&queued.key)? {
            self.drop_links(own)?;
        }
        self.sql(&REQUEUE)?.execute(params![
            queued.key.as_str(),
            queued.sequence,
            queued.hops,
            queued.depth,
            State::Queued.as_str(),
            Reason::Queued.code(),
        ])?;
        Ok(())
    }

    fn put_page(&mut self, written: &PageRow) -> rusqlite::Result<()> {
        let PageRow {
            key,
            page,
            links,
            promotion,
        } = written;
        let new_links = match links {
            PageLinks::Own => None,
            PageLinks::OfVisit => self.own_links(key)?,
        };
        if new_links.is_some() {
            self.sql("DELETE FROM link WHERE id = (SELECT links FROM page WHERE url = ?1)")?
                .execute([key.as_str()])?;
        }
        let attempt = Attempt::of(key, &page.record, &mut self.encoder).map_err(unwritable)?;
        let mut row = Binder::new(&mut self.put_page);
        row.put(key)?;
        Origin::of(&page.record).put(&mut row)?;
        attempt.put(&mut row)?;
        Published::of(page).put(&mut row)?;
        row.put(&new_links)?;
        row.execute()?;
        if promotion.is_some() {
            self.sql("UPDATE visit SET promotion = ?2 WHERE url = ?1")?
                .execute(params![key.as_str(), Sql(promotion)])?;
        }
        Ok(())
    }

    /// The links that only the visit of `key` has.
    fn own_links(&mut self, key: &UrlKey) -> rusqlite::Result<Option<i64>> {
        self.own_links
            .query_row([key.as_str()], |row| row.get(0))
            .optional()
    }

    /// Stores links in the place of those with the id `own`, or under a new id; returns the id.
    fn put_links(
        &mut self,
        own: Option<i64>,
        key: &UrlKey,
        links: &TakenLinks,
    ) -> rusqlite::Result<i64> {
        let bytes = self.encoder.encode_taken(key, links).map_err(unwritable)?;
        self.put_links.insert(params![own, bytes])
    }

    fn drop_links(&self, id: i64) -> rusqlite::Result<()> {
        self.sql("DELETE FROM link WHERE id = ?1")?
            .execute([id])
            .map(drop)
    }

    fn set_value(&self, name: &str, value: Option<&str>) -> rusqlite::Result<()> {
        match value {
            Some(value) => self
                .sql("REPLACE INTO meta (name, value) VALUES (?1, ?2)")?
                .execute([name, value]),
            None => self
                .sql("DELETE FROM meta WHERE name = ?1")?
                .execute([name]),
        }
        .map(drop)
    }
}

/// Deleted rows leave room in the file that later ones take; the file itself does not shrink.
fn clear_visits(transaction: &Connection) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "DELETE FROM link WHERE id IN (
           SELECT visit.links FROM visit LEFT JOIN page ON page.url = visit.url
           WHERE visit.links IS NOT page.links AND visit.links IS NOT NULL
         );
         DELETE FROM visit;",
    )
}

fn forget(transaction: &Connection, before: Timestamp) -> rusqlite::Result<()> {
    // Times compare as texts, but for fractions of their last second: that second stays.
    let text = outbox::whole_second(before).to_string();
    let before = text.trim_end_matches('Z');
    transaction.execute(
        "DELETE FROM link WHERE id IN (
           SELECT page.links FROM page LEFT JOIN visit ON visit.url = page.url
           WHERE page.state <> 'listed' AND page.last_seen < ?1
             AND page.links IS NOT visit.links AND page.links IS NOT NULL
         )",
        [before],
    )?;
    transaction.execute(
        "DELETE FROM page WHERE state <> 'listed' AND last_seen < ?1",
        [before],
    )?;
    Ok(())
}
