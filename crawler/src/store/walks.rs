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
    page::{Page, PageFacts, Reason, State, TextBlock, Visit},
    url_key::UrlKey,
};

/// The rows of one URL in a walk ([`Store::each`](super::Store::each)).
#[derive(Debug)]
pub struct StoredRows<'r> {
    /// The URL.
    pub key: UrlKey,
    page: Option<&'r SqlRow<'r>>,
    visit: Option<&'r SqlRow<'r>>,
    shown: Shown,
    connection: &'r Connection,
    path: &'r Path,
}

/// What a walk reads of each row. The rest is there too, by a query for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The columns that [`StoredRows`] returns by themselves: a fifth of the time.
    Outline,
    /// All columns.
    Whole,
}

/// The first columns of the rows of `page`, in the order of [`PAGE_REASON`] and [`PAGE_BODY_HASH`].
const PAGE_OUTLINE: [&str; 3] = ["url", "reason", "body_hash"];
const PAGE_REASON: usize = 1;
const PAGE_BODY_HASH: usize = 2;

/// The first columns of the rows of `visit`: those of a [`VisitNote`] come first.
const VISIT_OUTLINE: [&str; 8] = [
    "url",
    "reason",
    "is_orphan",
    "is_declared",
    "sequence",
    "distance",
    "found_on",
    "promotion",
];
const FOUND_ON: usize = 6;
const PROMOTION: usize = 7;

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

/// What is stored of a page beside its row, and the feeds that it names.
#[derive(Debug, Default)]
pub struct PageLists {
    /// The links that were taken from it.
    pub links: StoredLinks,
    /// The feeds.
    pub feeds: Vec<UrlKey>,
    /// The blocks of its text.
    pub blocks: Vec<TextBlock>,
}

/// Whose lists are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListsOf {
    /// Those of the page row.
    Page,
    /// Those of the visit.
    Visit,
}

impl StoredRows<'_> {
    /// The page row.
    ///
    /// # Errors
    /// The row is damaged, as for the other columns.
    pub fn page(&self) -> Result<Option<Page>, StoreError> {
        self.whole(self.page, PAGE_OUTLINE.len(), &ONE_PAGE)
    }

    /// The visit.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn visit(&self) -> Result<Option<Visit>, StoreError> {
        self.whole(self.visit, VISIT_OUTLINE.len(), &ONE_VISIT)
    }

    /// The reason of the page row.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn page_reason(&self) -> Result<Option<Reason>, StoreError> {
        self.read(self.page, |row| column(row, PAGE_REASON))
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
        let hash = self.read(self.page, |row| column(row, PAGE_BODY_HASH))?;
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
            let mut columns = Columns::new(row);
            columns.skip(1);
            Ok(VisitNote {
                reason: columns.get()?,
                is_orphan: columns.get()?,
                is_declared: columns.get()?,
                sequence: columns.get()?,
                distance: columns.get()?,
            })
        })
    }

    /// The page, or the document, on which the URL of the visit was found first.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn found_on(&self) -> Result<Option<UrlKey>, StoreError> {
        let found_on = self.read(self.visit, |row| column(row, FOUND_ON))?;
        Ok(found_on.flatten())
    }

    /// Returns whether the visit was copied to its page row.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn is_promoted(&self) -> Result<bool, StoreError> {
        let is_null = |row: &SqlRow<'_>| Ok(row.get_ref(PROMOTION)? == ValueRef::Null);
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

    /// Reads a whole row, of which the walk has `skipped` columns of the outline before it, or the outline alone.
    fn whole<R: ColumnGroup>(
        &self,
        row: Option<&SqlRow<'_>>,
        skipped: usize,
        select: &str,
    ) -> Result<Option<R>, StoreError> {
        let read = self.read(row, |row| match self.shown {
            Shown::Whole => read_row(row, skipped).map(Some),
            Shown::Outline => one(self.connection, select, &self.key),
        });
        read.map(Option::flatten)
    }
}

fn column<T: Value>(row: &SqlRow<'_>, place: usize) -> rusqlite::Result<T> {
    let mut columns = Columns::new(row);
    columns.skip(place);
    columns.get()
}

/// The columns after the first `skipped`.
fn read_row<R: ColumnGroup>(row: &SqlRow<'_>, skipped: usize) -> rusqlite::Result<R> {
    let mut columns = Columns::new(row);
    columns.skip(skipped);
    R::get(&mut columns)
}

static ONE_PAGE: LazyLock<String> = LazyLock::new(|| select("page", &PAGE) + OF_ONE);

static ONE_VISIT: LazyLock<String> = LazyLock::new(|| select("visit", &VISIT) + OF_ONE);

/// Pages and visits as a walk reads them.
fn walks(shown: Shown) -> [String; 2] {
    let of = |table, outline: &[&'static str], all: &[&'static str]| {
        let rest = all.iter().skip(1).filter(|_| shown == Shown::Whole);
        let names: Vec<&str> = outline.iter().chain(rest).copied().collect();
        select(table, &names) + IN_ORDER
    };
    [
        of("page", &PAGE_OUTLINE, &PAGE),
        of("visit", &VISIT_OUTLINE, &VISIT),
    ]
}

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
    shown: Shown,
    show: &mut EachUrl<'_>,
) -> Result<(), StoreError> {
    let failed = |error| error::failure("read", path, error);
    let [pages, visits] = walks(shown);
    let mut pages = connection.prepare_cached(&pages).map_err(failed)?;
    let mut visits = connection.prepare_cached(&visits).map_err(failed)?;
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
                shown,
                connection,
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
        one(connection, &ONE_PAGE, key)?,
        one(connection, &ONE_VISIT, key)?,
    ))
}

fn one<R: ColumnGroup>(
    connection: &Connection,
    select: &str,
    key: &UrlKey,
) -> rusqlite::Result<Option<R>> {
    let mut statement = connection.prepare_cached(select)?;
    let row = statement.query_row([key.as_str()], |row| read_row(row, 1));
    row.optional()
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

/// See [`Store::lists`](super::Store::lists).
pub(super) fn lists(
    connection: &Connection,
    key: &UrlKey,
    of: ListsOf,
) -> rusqlite::Result<PageLists> {
    let sql = match of {
        ListsOf::Page => {
            "SELECT link.links, feeds, text_blocks FROM page LEFT JOIN link ON link.id = page.links WHERE url = ?1"
        }
        ListsOf::Visit => {
            "SELECT link.links, feeds, text_blocks FROM visit LEFT JOIN link ON link.id = visit.links WHERE url = ?1"
        }
    };
    let mut statement = connection.prepare_cached(sql)?;
    let lists = statement.query_row([key.as_str()], |row| {
        let packed = row.get_ref(0)?.as_blob_or_null()?.unwrap_or_default();
        let (feeds, blocks): (Option<_>, Option<_>) = (column(row, 1)?, column(row, 2)?);
        Ok(PageLists {
            links: StoredLinks::new(key, packed),
            feeds: feeds.unwrap_or_default(),
            blocks: blocks.unwrap_or_default(),
        })
    });
    Ok(lists.optional()?.unwrap_or_default())
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
