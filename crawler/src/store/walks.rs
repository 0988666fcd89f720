//! Walks over the rows of the state in the order of keys, and of the queue.

use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension as _, Row, Rows, params};

use super::{
    EachUrl, QueuedUrl, Size, StoredLinks, VisitNote,
    columns::{self, Attempt, Origin, Published, Queue},
    ranges,
    record::{read_earlier, read_links, read_page, read_visit},
    values::Columns,
};
use crate::{page::Reason, url_key::UrlKey};

/// Columns of [`read_page`]; a condition follows.
static PAGES: LazyLock<String> = LazyLock::new(|| {
    let groups = [Origin::COLUMNS, Attempt::COLUMNS, Published::COLUMNS];
    format!("SELECT url, {} FROM page ", columns::list("", &groups))
});

/// Columns of [`read_visit`]; a condition follows.
static VISITS: LazyLock<String> = LazyLock::new(|| {
    let groups = [Origin::COLUMNS, Attempt::COLUMNS, Queue::COLUMNS];
    format!("SELECT url, {} FROM visit ", columns::list("", &groups))
});

/// A page row.
pub(super) static PAGE: LazyLock<String> = LazyLock::new(|| [&PAGES, OF_ONE].concat());

/// A visit.
pub(super) static VISIT: LazyLock<String> = LazyLock::new(|| [&VISITS, OF_ONE].concat());

/// The queued URLs, with the answer of its page row, but for the lists that may be long.
static QUEUED: LazyLock<String> = LazyLock::new(|| {
    let columns = Attempt::COLUMNS.iter().map(|column| match column.name {
        list @ ("images" | "alternates") => format!("iif(page.{list} IS NULL, NULL, x'')"),
        "feeds" => "NULL".to_owned(),
        name => format!("page.{name}"),
    });
    format!(
        "SELECT visit.sequence, visit.url, visit.depth, visit.hops, visit.distance, iif(page.state = 'listed', 1, NULL), {}
         FROM visit LEFT JOIN page ON page.url = visit.url
         WHERE visit.state = 'queued' AND visit.sequence > ?1 ORDER BY visit.sequence LIMIT ?2",
        columns.collect::<Vec<_>>().join(", "),
    )
});

const OF_ONE: &str = "WHERE url = ?1";

/// A walk in the order of the keys of one origin.
const IN_ORDER: &str = "WHERE url >= ?1 AND url < ?2 ORDER BY url";

/// See [`Store::each`](super::Store::each).
pub(super) fn each(
    connection: &Connection,
    from: Option<&UrlKey>,
    show: &mut EachUrl<'_>,
) -> rusqlite::Result<()> {
    let mut pages = connection.prepare_cached(&[&PAGES, IN_ORDER].concat())?;
    let mut visits = connection.prepare_cached(&[&VISITS, IN_ORDER].concat())?;
    for range in ranges::of_origins(connection, from)? {
        let mut pages = pages.query([&range.start, &range.end])?;
        let mut visits = visits.query([&range.start, &range.end])?;
        let mut page = next(&mut pages, read_page)?;
        let mut visit = next(&mut visits, read_visit)?;
        loop {
            let key = match (&page, &visit) {
                (None, None) => break,
                (Some((key, _)), None) | (None, Some((key, _))) => key.clone(),
                // Within one origin keys are ordered as their texts are.
                (Some((page, _)), Some((visit, _))) if page.as_str() <= visit.as_str() => {
                    page.clone()
                }
                (Some(_), Some((visit, _))) => visit.clone(),
            };
            let of_page = page.take_if(|(of, _)| *of == key);
            let of_visit = visit.take_if(|(of, _)| *of == key);
            if of_page.is_some() {
                page = next(&mut pages, read_page)?;
            }
            if of_visit.is_some() {
                visit = next(&mut visits, read_visit)?;
            }
            let of_page = of_page.map(|(_, page)| page);
            let of_visit = of_visit.map(|(_, visit)| visit);
            if show(&key, of_page, of_visit).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn next<T>(
    rows: &mut Rows<'_>,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    rows.next()?.map(read).transpose()
}

/// See [`Store::links`](super::Store::links).
pub(super) fn links(
    connection: &Connection,
    page: &UrlKey,
) -> rusqlite::Result<(StoredLinks, Vec<UrlKey>)> {
    // `SQLite` would prepare a join with `link` again for each URL.
    let mut statement = connection.prepare_cached(
        "SELECT (SELECT links FROM link WHERE id = page.links), feeds FROM page WHERE url = ?1",
    )?;
    let links = statement.query_row([page.as_str()], |row| read_links(row, page));
    Ok(links.optional()?.unwrap_or_default())
}

/// See [`Store::visit_links`](super::Store::visit_links).
pub(super) fn visit_links(connection: &Connection, url: &UrlKey) -> rusqlite::Result<StoredLinks> {
    let mut statement = connection.prepare_cached(
        "SELECT (SELECT links FROM link WHERE id = visit.links), feeds FROM visit WHERE url = ?1",
    )?;
    let links = statement.query_row([url.as_str()], |row| read_links(row, url));
    Ok(links.optional()?.unwrap_or_default().0)
}

/// See [`Store::queued`](super::Store::queued).
pub(super) fn queued(
    connection: &Connection,
    after: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Vec<QueuedUrl>> {
    let after = after.map_or(-1, |after| i64::try_from(after).unwrap_or(i64::MAX));
    let mut statement = connection.prepare_cached(&QUEUED)?;
    let rows = statement.query_map(params![after, row_limit(limit)], |row| {
        let mut columns = Columns::new(row);
        let sequence = columns.get()?;
        let key = columns.get()?;
        let (depth, hops) = (columns.get()?, columns.get()?);
        let distance = columns.get()?;
        let earlier = read_earlier(&mut columns, &key)?;
        Ok(QueuedUrl {
            sequence,
            key,
            depth,
            hops,
            distance,
            earlier,
        })
    })?;
    rows.collect()
}

/// See [`Store::unvisited`](super::Store::unvisited).
pub(super) fn unvisited(
    connection: &Connection,
    after: Option<&UrlKey>,
    limit: usize,
) -> rusqlite::Result<Vec<(UrlKey, u32)>> {
    let mut statement = connection.prepare_cached(
        "SELECT url, depth FROM page
         WHERE url >= ?1 AND url < ?2 AND url IS NOT ?3 AND state = 'listed'
           AND NOT EXISTS (SELECT 1 FROM visit WHERE visit.url = page.url)
         ORDER BY url LIMIT ?4",
    )?;
    let mut found = Vec::new();
    for range in ranges::of_origins(connection, after)? {
        let limit = row_limit(limit - found.len());
        let after = after.map(UrlKey::as_str);
        let mut rows = statement.query(params![range.start, range.end, after, limit])?;
        while let Some(row) = rows.next()? {
            let mut columns = Columns::new(row);
            found.push((columns.get()?, columns.get()?));
        }
    }
    Ok(found)
}

/// See [`Store::each_visit`](super::Store::each_visit).
pub(super) fn each_visit(
    connection: &Connection,
    show: &mut dyn FnMut(&UrlKey, VisitNote),
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare("SELECT url, reason, is_orphan, is_declared, sequence, distance, iif(distance > 0 AND state = 'queued', found_on, NULL) FROM visit")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut columns = Columns::new(row);
        let key: UrlKey = columns.get()?;
        let note = VisitNote {
            reason: columns.get()?,
            is_orphan: columns.get()?,
            is_declared: columns.get()?,
            place: columns.get()?,
            distance: columns.get()?,
            finder: columns
                .get::<Option<UrlKey>>()?
                .map(|url| url.fingerprint()),
        };
        let place = note.place.filter(|_| note.reason == Reason::Queued);
        show(&key, VisitNote { place, ..note });
    }
    Ok(())
}

/// See [`Store::each_listed_visit`](super::Store::each_listed_visit).
pub(super) fn each_listed_visit(
    connection: &Connection,
    show: &mut dyn FnMut(&UrlKey),
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "WITH RECURSIVE needed(url) AS (
           SELECT url FROM visit WHERE state = 'listed'
           UNION SELECT visit.found_on FROM needed JOIN visit ON visit.url = needed.url WHERE visit.found_on IS NOT NULL)
         SELECT url FROM needed",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        show(&Columns::new(row).get()?);
    }
    Ok(())
}

/// See [`Store::copies_of`](super::Store::copies_of).
pub(super) fn copies_of(
    connection: &Connection,
    url: &UrlKey,
    most: u32,
) -> rusqlite::Result<Vec<UrlKey>> {
    let mut statement = connection.prepare(
        "SELECT copy.url FROM page JOIN page AS copy ON copy.body_hash = page.body_hash
         WHERE page.url = ?1 AND copy.url <> ?1 AND copy.state = 'listed' ORDER BY copy.url LIMIT ?2",
    )?;
    let rows = statement.query_map((url.as_str(), most), |row| Columns::new(row).get())?;
    rows.collect()
}

/// See [`Store::each_reason`](super::Store::each_reason).
pub(super) fn each_reason(
    connection: &Connection,
    of_pages: bool,
    show: &mut dyn FnMut(&UrlKey, Reason),
) -> rusqlite::Result<()> {
    let sql = if of_pages {
        "SELECT url, reason FROM page"
    } else {
        "SELECT url, reason FROM visit WHERE promotion IS NULL"
    };
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut columns = Columns::new(row);
        let key: UrlKey = columns.get()?;
        show(&key, columns.get()?);
    }
    Ok(())
}

/// See [`Store::bytes`](super::Store::bytes).
pub(super) fn bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached(
        "SELECT (page_count - freelist_count) * page_size
         FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
    )?;
    statement.query_row([], |row| row.get(0))
}

/// See [`Store::size`](super::Store::size).
pub(super) fn size(connection: &Connection) -> rusqlite::Result<Size> {
    let bytes = bytes(connection)?;
    let sql = "SELECT count(*), count(iif(state = 'queued', 1, NULL)), ifnull(max(sequence), 0) FROM visit";
    connection.query_row(sql, [], |row| {
        let mut columns = Columns::new(row);
        Ok(Size {
            bytes,
            visits: columns.get()?,
            queued: columns.get()?,
            last_sequence: columns.get()?,
        })
    })
}

fn row_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
