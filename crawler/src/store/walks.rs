//! Walks over the rows of the state in the order of keys, and of the queue.

use std::{ops::Range, path::Path, sync::LazyLock};

use rusqlite::{
    Connection, OptionalExtension as _, Row as SqlRow, Rows, Statement,
    fallible_streaming_iterator::FallibleStreamingIterator as _, params, types::ValueRef,
};

use super::{
    EachUrl, Earlier, QueuedUrl, StoreError, StoredLinks,
    columns::{self, ColumnGroup},
    effects::{PAGE, VISIT},
    error, ranges,
    values::{Columns, Value},
};
use crate::{
    page::{Page, PageFacts, Reason, State, Visit},
    url_key::UrlKey,
};

/// The rows of one URL in a walk ([`Store::each`](super::Store::each)).
#[derive(Debug)]
pub struct StoredRows<'r> {
    /// The URL.
    pub key: UrlKey,
    page: Option<&'r SqlRow<'r>>,
    visit: Option<&'r SqlRow<'r>>,
    path: &'r Path,
}

/// A visit in outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisitNote {
    /// The stored reason.
    pub reason: Reason,
    /// See [`Visit::is_orphan`].
    pub is_orphan: bool,
    /// See [`Visit::is_declared`].
    pub is_declared: bool,
    /// The place in the queue, also of a visit that waits no more.
    pub sequence: u64,
    /// Pages in a row that said nothing new, on the shortest way to it.
    pub distance: u16,
}

impl VisitNote {
    /// The place in the queue, while it waits.
    pub fn place(&self) -> Option<u64> {
        (self.reason == Reason::Queued).then_some(self.sequence)
    }
}

/// Whose links are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinksOf {
    /// Those of the page row.
    Page,
    /// Those of the visit.
    Visit,
}

/// The columns of [`StoredRows`] that are read by themselves, by their positions in the rows.
struct Positions {
    page_reason: usize,
    page_body_hash: usize,
    reason: usize,
    is_orphan: usize,
    is_declared: usize,
    sequence: usize,
    distance: usize,
    found_on: usize,
    promotion: usize,
}

static POSITIONS: LazyLock<Positions> = LazyLock::new(|| {
    let place = |names: &[&str], name| names.iter().position(|it| *it == name).unwrap_or_default();
    Positions {
        page_reason: place(&PAGE, "reason"),
        page_body_hash: place(&PAGE, "body_hash"),
        reason: place(&VISIT, "reason"),
        is_orphan: place(&VISIT, "is_orphan"),
        is_declared: place(&VISIT, "is_declared"),
        sequence: place(&VISIT, "sequence"),
        distance: place(&VISIT, "distance"),
        found_on: place(&VISIT, "found_on"),
        promotion: place(&VISIT, "promotion"),
    }
});

impl StoredRows<'_> {
    /// The page row.
    ///
    /// # Errors
    /// The row is damaged, as for the other columns.
    pub fn page(&self) -> Result<Option<Page>, StoreError> {
        self.read(self.page, read_row)
    }

    /// The visit.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn visit(&self) -> Result<Option<Visit>, StoreError> {
        self.read(self.visit, read_row)
    }

    /// The reason of the page row.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn page_reason(&self) -> Result<Option<Reason>, StoreError> {
        self.read(self.page, |row| column(row, POSITIONS.page_reason))
    }

    /// Returns whether the page is in the published set.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn is_listed(&self) -> Result<bool, StoreError> {
        let reason = self.page_reason()?;
        Ok(reason.is_some_and(|reason| reason.state() == State::Listed))
    }

    /// The hash of the body of the page row, as far as one is known.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn page_body_hash(&self) -> Result<Option<u128>, StoreError> {
        let hash = self.read(self.page, |row| column(row, POSITIONS.page_body_hash))?;
        Ok(hash.flatten())
    }

    /// Returns whether there is a visit.
    pub fn has_visit(&self) -> bool {
        self.visit.is_some()
    }

    /// The visit in outline.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn note(&self) -> Result<Option<VisitNote>, StoreError> {
        self.read(self.visit, |row| {
            Ok(VisitNote {
                reason: column(row, POSITIONS.reason)?,
                is_orphan: column(row, POSITIONS.is_orphan)?,
                is_declared: column(row, POSITIONS.is_declared)?,
                sequence: column(row, POSITIONS.sequence)?,
                distance: column(row, POSITIONS.distance)?,
            })
        })
    }

    /// The page, or the document, on which the URL of the visit was found first.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn found_on(&self) -> Result<Option<UrlKey>, StoreError> {
        let found_on = self.read(self.visit, |row| column(row, POSITIONS.found_on))?;
        Ok(found_on.flatten())
    }

    /// Returns whether the visit was copied to its page row.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn is_promoted(&self) -> Result<bool, StoreError> {
        let is_null = |row: &SqlRow<'_>| Ok(row.get_ref(POSITIONS.promotion)? == ValueRef::Null);
        Ok(self.read(self.visit, is_null)? == Some(false))
    }

    fn read<T>(
        &self,
        row: Option<&SqlRow<'_>>,
        read: impl FnOnce(&SqlRow<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let read = row.map(read).transpose();
        read.map_err(|error| error::failure("read", self.path, error))
    }
}

fn column<T: Value>(row: &SqlRow<'_>, place: usize) -> rusqlite::Result<T> {
    let mut columns = Columns::new(row);
    columns.skip(place);
    columns.get()
}

/// The columns after the URL.
fn read_row<R: ColumnGroup>(row: &SqlRow<'_>) -> rusqlite::Result<R> {
    let mut columns = Columns::new(row);
    columns.skip(1);
    R::get(&mut columns)
}

static PAGES: LazyLock<String> = LazyLock::new(|| select("page", &PAGE));

static VISITS: LazyLock<String> = LazyLock::new(|| select("visit", &VISIT));

fn select(table: &str, names: &[&str]) -> String {
    format!("SELECT {} FROM {table} ", columns::list("", names))
}

/// The queued URLs, with the answer of its page row, but for the lists that may be long.
static QUEUED: LazyLock<String> = LazyLock::new(|| {
    let names = columns::names::<PageFacts>();
    let facts = names.iter().map(|name| match *name {
        list @ ("images" | "alternates" | "feeds") => {
            format!("iif(page.{list} IS NULL, NULL, x'')")
        }
        name => format!("page.{name}"),
    });
    format!(
        "SELECT visit.sequence, visit.url, visit.depth, visit.hops, visit.distance, iif(page.state = 'listed', 1, NULL), {}
         FROM visit LEFT JOIN page ON page.url = visit.url
         WHERE visit.state = 'queued' AND visit.sequence > ?1 ORDER BY visit.sequence LIMIT ?2",
        facts.collect::<Vec<_>>().join(", "),
    )
});

const OF_ONE: &str = "WHERE url = ?1";

/// A walk in the order of the keys of one origin.
const IN_ORDER: &str = "WHERE url >= ?1 AND url < ?2 ORDER BY url";

/// See [`Store::each`](super::Store::each).
pub(super) fn each(
    connection: &Connection,
    path: &Path,
    from: Option<&UrlKey>,
    show: &mut EachUrl<'_>,
) -> Result<(), StoreError> {
    let failed = |error| error::failure("read", path, error);
    let prepare = |select: &str| connection.prepare_cached(&[select, IN_ORDER].concat());
    let mut pages = prepare(&PAGES).map_err(failed)?;
    let mut visits = prepare(&VISITS).map_err(failed)?;
    for range in ranges::of_origins(connection, from).map_err(failed)? {
        let mut pages = begin(&mut pages, &range).map_err(failed)?;
        let mut visits = begin(&mut visits, &range).map_err(failed)?;
        loop {
            let (page, visit) = (pages.get(), visits.get());
            let (of_page, of_visit) = (url_of(page), url_of(visit));
            // Within one origin keys are ordered as their texts are; no URL is the greatest.
            let order = match (of_page.map_err(failed)?, of_visit.map_err(failed)?) {
                (None, None) => break,
                (Some(page), Some(visit)) => page.cmp(visit),
                (page, visit) => visit.is_some().cmp(&page.is_some()),
            };
            let page = page.filter(|_| order.is_le());
            let visit = visit.filter(|_| order.is_ge());
            let key = page.or(visit).map(|row| column(row, 0));
            let Some(key) = key.transpose().map_err(failed)? else {
                break;
            };
            let rows = StoredRows {
                key,
                page,
                visit,
                path,
            };
            if show(&rows)?.is_break() {
                return Ok(());
            }
            if order.is_le() {
                pages.advance().map_err(failed)?;
            }
            if order.is_ge() {
                visits.advance().map_err(failed)?;
            }
        }
    }
    Ok(())
}

/// Runs a walk over a range, and goes to its first row.
fn begin<'s>(
    statement: &'s mut Statement<'_>,
    range: &Range<String>,
) -> rusqlite::Result<Rows<'s>> {
    let mut rows = statement.query([&range.start, &range.end])?;
    rows.advance()?;
    Ok(rows)
}

fn url_of<'r>(row: Option<&'r SqlRow<'_>>) -> rusqlite::Result<Option<&'r str>> {
    let url = row.map(|row| Ok(row.get_ref(0)?.as_str()?));
    url.transpose()
}

/// See [`Store::rows`](super::Store::rows).
pub(super) fn rows(
    connection: &Connection,
    key: &UrlKey,
) -> rusqlite::Result<(Option<Page>, Option<Visit>)> {
    Ok((
        one(connection, &PAGES, key)?,
        one(connection, &VISITS, key)?,
    ))
}

fn one<R: ColumnGroup>(
    connection: &Connection,
    select: &str,
    key: &UrlKey,
) -> rusqlite::Result<Option<R>> {
    let mut statement = connection.prepare_cached(&[select, OF_ONE].concat())?;
    statement.query_row([key.as_str()], read_row).optional()
}

/// All rows of a small `table`, by the column `order`.
pub(super) fn all<R: ColumnGroup>(
    connection: &Connection,
    table: &str,
    order: &str,
) -> rusqlite::Result<Vec<R>> {
    let sql = select(table, &columns::names::<R>()) + "ORDER BY " + order;
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([], |row| R::get(&mut Columns::new(row)))?;
    rows.collect()
}

/// See [`Store::links`](super::Store::links).
pub(super) fn links(
    connection: &Connection,
    key: &UrlKey,
    of: LinksOf,
) -> rusqlite::Result<(StoredLinks, Vec<UrlKey>)> {
    // `SQLite` would prepare a join with `link` again for each URL.
    let sql = match of {
        LinksOf::Page => {
            "SELECT (SELECT links FROM link WHERE id = page.links), feeds FROM page WHERE url = ?1"
        }
        LinksOf::Visit => {
            "SELECT (SELECT links FROM link WHERE id = visit.links), feeds FROM visit WHERE url = ?1"
        }
    };
    let links = connection
        .prepare_cached(sql)?
        .query_row([key.as_str()], |row| {
            let packed = row.get_ref(0)?.as_blob_or_null()?.unwrap_or_default();
            let feeds: Option<Vec<UrlKey>> = column(row, 1)?;
            Ok((StoredLinks::new(key, packed), feeds.unwrap_or_default()))
        });
    Ok(links.optional()?.unwrap_or_default())
}

/// See [`Store::queued`](super::Store::queued).
pub(super) fn queued(
    connection: &Connection,
    after: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Vec<QueuedUrl>> {
    let after = after.map_or(-1, |after| i64::try_from(after).unwrap_or(i64::MAX));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(&QUEUED)?;
    let rows = statement.query_map(params![after, limit], |row| {
        let mut columns = Columns::new(row);
        Ok(QueuedUrl {
            sequence: columns.get()?,
            key: columns.get()?,
            depth: columns.get()?,
            hops: columns.get()?,
            distance: columns.get()?,
            earlier: Earlier::read(&mut columns)?,
        })
    })?;
    rows.collect()
}

impl Earlier {
    /// Whether the page row is listed, and its facts.
    fn read(columns: &mut Columns<'_, '_>) -> rusqlite::Result<Option<Box<Self>>> {
        let was_listed = columns.get()?;
        let answer: Option<Box<PageFacts>> = ColumnGroup::get(columns)?;
        let is_known = was_listed || answer.is_some();
        Ok(is_known.then(|| Box::new(Self { was_listed, answer })))
    }
}

/// See [`Store::bytes`](super::Store::bytes).
pub(super) fn bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached(
        "SELECT (page_count - freelist_count) * page_size
         FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
    )?;
    statement.query_row([], |row| row.get(0))
}
