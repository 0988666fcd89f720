//! The effects of a commit as SQL. Runs inside a transaction that the caller commits or drops. A visit and the page row
//! that it was copied to share one row of `link`, which is removed with the last of them.

use std::sync::LazyLock;

use jiff::Timestamp;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};

use super::{
    Discovery, Effect, Finished, PageLinks, PageRow, QueuedUrl,
    columns::{self, ColumnGroup},
    links, outbox,
    values::{Binder, Sql},
};
use crate::{
    page::{
        ClosedPattern, Outcome, Page, Reason, Repeat, SitemapDate, State, TakenLinks, TextBlock,
        Visit,
    },
    url_key::UrlKey,
};

/// The columns of a visit.
pub(super) static VISIT: LazyLock<Vec<&str>> = LazyLock::new(with_links::<Visit>);

/// The columns of a page row.
pub(super) static PAGE: LazyLock<Vec<&str>> = LazyLock::new(with_links::<Page>);

fn with_links<R: ColumnGroup>() -> Vec<&'static str> {
    let mut names = columns::names::<R>();
    names.insert(0, "url");
    names.push("links");
    names
}

/// A visit that exists changes only to a smaller depth.
static DISCOVER: LazyLock<String> = LazyLock::new(|| {
    columns::insert("visit", &VISIT)
        + " ON CONFLICT (url) DO UPDATE SET depth = excluded.depth WHERE depth > excluded.depth"
});

/// A visit that exists retains how it was found first, a smaller depth, the date of a sitemap, and who names it.
static FINISH: LazyLock<String> = LazyLock::new(|| {
    let changes = VISIT.iter().filter_map(|name| match *name {
        "url" | "via" | "found_on" | "hops" | "is_orphan" | "is_declared" | "promotion" => None,
        "depth" => Some("depth = min(depth, excluded.depth)".to_owned()),
        name @ ("sitemap_lastmod" | "sitemap_is_file") => Some(format!(
            "{name} = iif(sitemap_lastmod IS NULL, excluded.{name}, {name})"
        )),
        name => Some(format!("{name} = excluded.{name}")),
    });
    format!(
        "{} ON CONFLICT (url) DO UPDATE SET {}",
        columns::insert("visit", &VISIT),
        changes.collect::<Vec<_>>().join(", "),
    )
});

static REQUEUE: LazyLock<String> = LazyLock::new(|| {
    let outcome = columns::names::<Outcome>();
    let answer = ["fetched_at", "basis", "links"].into_iter().chain(outcome);
    let answer = answer.map(|name| format!("{name} = NULL"));
    format!(
        "UPDATE visit SET sequence = ?2, hops = ?3, depth = min(depth, ?4), state = ?5, reason = ?6, attempts = 0, {} \
         WHERE url = ?1 AND state <> 'queued'",
        answer.collect::<Vec<_>>().join(", "),
    )
});

/// Without new links a page keeps those that it has.
static PUT_PAGE: LazyLock<String> = LazyLock::new(|| {
    let changing = PAGE
        .iter()
        .filter(|name| !matches!(**name, "url" | "links"));
    let changes = changing.map(|name| format!("{name} = excluded.{name}"));
    format!(
        "{} ON CONFLICT (url) DO UPDATE SET {}, links = ifnull(excluded.links, links)",
        columns::insert("page", &PAGE),
        changes.collect::<Vec<_>>().join(", "),
    )
});

/// The reason follows the mark where nothing else decides it.
static MARK: LazyLock<String> = LazyLock::new(|| {
    let codes = Repeat::REASONS.map(Reason::code).join("', '");
    format!(
        "UPDATE visit SET repeat = ?2,
           reason = iif(reason IN ('listed', '{codes}'), ?3, reason),
           state = iif(reason IN ('listed', '{codes}'), ?4, state)
         WHERE url = ?1"
    )
});

const PUT_LINKS: &str = "REPLACE INTO link (id, text_blocks, links) VALUES (?1, ?2, ?3)";

/// A page whose links were not taken again keeps those that it has.
const KEEP_LINKS: &str = "UPDATE link SET links = (SELECT links FROM link WHERE id = (SELECT links FROM page WHERE url = ?1))
  WHERE id = ?2 AND links IS NULL";

/// The id of the links that only the visit has.
const OWN_LINKS: &str = "SELECT links FROM visit WHERE url = ?1 AND links IS NOT NULL
  AND links IS NOT (SELECT links FROM page WHERE page.url = visit.url)";

/// Deleted rows leave room in the file that later ones take; the file itself does not shrink.
const CLEAR_VISITS: &str = "
DELETE FROM link WHERE id IN (
  SELECT links FROM visit WHERE links IS NOT NULL AND links IS NOT (SELECT links FROM page WHERE page.url = visit.url)
);
DELETE FROM visit;";

/// Applies `commit` in its order.
pub(super) fn apply(transaction: &Connection, commit: &[Effect]) -> rusqlite::Result<()> {
    let mut effects = Effects {
        transaction,
        discover: transaction.prepare_cached(&DISCOVER)?,
        finish: transaction.prepare_cached(&FINISH)?,
        put_page: transaction.prepare_cached(&PUT_PAGE)?,
        own_links: transaction.prepare_cached(OWN_LINKS)?,
        put_links: transaction.prepare_cached(PUT_LINKS)?,
    };
    commit.iter().try_for_each(|effect| effects.apply(effect))
}

struct Effects<'c> {
    transaction: &'c Connection,
    // These run for each row; to look them up each time costs as much, because their texts are long.
    discover: CachedStatement<'c>,
    finish: CachedStatement<'c>,
    put_page: CachedStatement<'c>,
    own_links: CachedStatement<'c>,
    put_links: CachedStatement<'c>,
}

impl Effects<'_> {
    fn run(&self, sql: &str, parameters: impl rusqlite::Params) -> rusqlite::Result<()> {
        let mut statement = self.transaction.prepare_cached(sql)?;
        statement.execute(parameters).map(drop)
    }

    fn apply(&mut self, effect: &Effect) -> rusqlite::Result<()> {
        match effect {
            Effect::Discover(discovery) => self.discover(discovery),
            Effect::Finish(finished) => self.finish(finished),
            Effect::Requeue(queued) => self.requeue(queued),
            Effect::Link(key) => self.run(
                "UPDATE visit SET is_orphan = NULL WHERE url = ?1 AND is_orphan = 1",
                [key.as_str()],
            ),
            Effect::Declare(key) => self.run(
                "UPDATE visit SET is_declared = 1 WHERE url = ?1",
                [key.as_str()],
            ),
            Effect::Shorten(key, distance) => self.run(
                "UPDATE visit SET distance = ?2 WHERE url = ?1 AND state = 'queued'",
                params![key.as_str(), distance],
            ),
            Effect::Date(key, SitemapDate { lastmod, is_of_file }) => self.run(
                "UPDATE visit SET sitemap_lastmod = ?2, sitemap_is_file = ?3
                 WHERE url = ?1 AND sitemap_lastmod IS NULL",
                params![key.as_str(), lastmod, Sql(is_of_file)],
            ),
            Effect::Mark(key, repeat) => {
                let reason = repeat.as_ref().map_or(Reason::Listed, Repeat::reason);
                self.run(
                    &MARK,
                    params![
                        key.as_str(),
                        Sql(repeat),
                        reason.code(),
                        reason.state().as_str(),
                    ],
                )
            }
            Effect::EndWaits => self.run(
                "UPDATE visit SET repeat = NULL, reason = ?2, state = ?3 WHERE repeat = ?1 AND reason = ?4",
                [
                    Repeat::WAITS,
                    Reason::Listed.code(),
                    State::Listed.as_str(),
                    Repeat::Waits.reason().code(),
                ],
            ),
            Effect::Forget(key) => self.run("DELETE FROM visit WHERE url = ?1", [key.as_str()]),
            Effect::ClearVisits => self.transaction.execute_batch(CLEAR_VISITS),
            Effect::Patterns(patterns) => self.put_patterns(patterns),
            Effect::Page(page) => self.put_page(page),
            Effect::ForgetPages(before) => self.forget_pages(*before),
            Effect::Value((name, Some(value))) => self.run(
                "REPLACE INTO meta (name, value) VALUES (?1, ?2)",
                [name, value],
            ),
            Effect::Value((name, None)) => self.run("DELETE FROM meta WHERE name = ?1", [name]),
            Effect::Outbox(step) => outbox::apply(self.transaction, step),
            Effect::Session(session) => super::sessions::put(self.transaction, session),
        }
    }

    fn discover(&mut self, discovery: &Discovery) -> rusqlite::Result<()> {
        let mut row = Binder::new(&mut self.discover);
        row.put(&discovery.key)?;
        discovery.visit().put(&mut row)?;
        row.skip(1);
        row.execute().map(drop)
    }

    fn finish(&mut self, finished: &Finished) -> rusqlite::Result<()> {
        let Finished { key, visit, links } = finished;
        let own = self.own_links(key)?;
        let facts = visit.record.facts();
        let blocks = facts.and_then(|facts| facts.text.as_ref());
        let blocks = blocks.map_or(&[][..], |text| &text.blocks);
        let links = if links.is_some() || !blocks.is_empty() {
            Some(self.put_links(own, key, links.as_ref(), blocks)?)
        } else {
            own.map(|own| self.drop_links(own)).transpose()?;
            None
        };
        let mut row = Binder::new(&mut self.finish);
        row.put(key)?;
        visit.put(&mut row)?;
        row.put(&links)?;
        row.execute().map(drop)
    }

    fn requeue(&mut self, queued: &QueuedUrl) -> rusqlite::Result<()> {
        if let Some(own) = self.own_links(&queued.key)? {
            self.drop_links(own)?;
        }
        self.run(
            &REQUEUE,
            params![
                queued.key.as_str(),
                queued.sequence,
                queued.hops,
                queued.depth,
                State::Queued.as_str(),
                Reason::Queued.code(),
            ],
        )
    }

    fn put_patterns(&self, patterns: &[ClosedPattern]) -> rusqlite::Result<()> {
        self.run("DELETE FROM pattern", [])?;
        let sql = columns::insert("pattern", &columns::names::<ClosedPattern>());
        let mut insert = self.transaction.prepare_cached(&sql)?;
        for pattern in patterns {
            let mut row = Binder::new(&mut insert);
            pattern.put(&mut row)?;
            row.execute()?;
        }
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
            PageLinks::OfFirstVisit | PageLinks::OfVisit => self.own_links(key)?,
        };
        if let Some(new_links) = new_links.filter(|_| *links == PageLinks::OfVisit) {
            self.run(KEEP_LINKS, params![key.as_str(), new_links])?;
            self.run(
                "DELETE FROM link WHERE id = (SELECT links FROM page WHERE url = ?1)",
                [key.as_str()],
            )?;
        }
        let mut row = Binder::new(&mut self.put_page);
        row.put(key)?;
        page.put(&mut row)?;
        row.put(&new_links)?;
        row.execute()?;
        if promotion.is_some() {
            self.run(
                "UPDATE visit SET promotion = ?2 WHERE url = ?1",
                params![key.as_str(), Sql(promotion)],
            )?;
        }
        Ok(())
    }

    fn forget_pages(&self, before: Timestamp) -> rusqlite::Result<()> {
        // Times compare as texts, but for fractions of their last second: that second stays.
        let text = outbox::whole_second(before).to_string();
        let before = text.trim_end_matches('Z');
        self.run(
            "DELETE FROM link WHERE id IN (
               SELECT page.links FROM page LEFT JOIN visit ON visit.url = page.url
               WHERE page.state <> 'listed' AND page.last_seen < ?1
                 AND page.links IS NOT visit.links AND page.links IS NOT NULL
             )",
            [before],
        )?;
        self.run(
            "DELETE FROM page WHERE state <> 'listed' AND last_seen < ?1",
            [before],
        )
    }

    /// The links that only the visit of `key` has.
    fn own_links(&mut self, key: &UrlKey) -> rusqlite::Result<Option<i64>> {
        self.own_links
            .query_row([key.as_str()], |row| row.get(0))
            .optional()
    }

    /// Stores links and blocks of text in the place of those with the id `own`, or under a new id; returns the id. Without links they
    /// were not taken.
    fn put_links(
        &mut self,
        own: Option<i64>,
        key: &UrlKey,
        links: Option<&TakenLinks>,
        blocks: &[TextBlock],
    ) -> rusqlite::Result<i64> {
        let links = links.map(|links| links::pack_taken(key, links));
        let blocks = (!blocks.is_empty()).then(|| TextBlock::pack(blocks));
        self.put_links.insert(params![own, blocks, links])
    }

    fn drop_links(&self, id: i64) -> rusqlite::Result<()> {
        self.run("DELETE FROM link WHERE id = ?1", [id])
    }
}
