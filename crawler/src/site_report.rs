//! The data of the crawls of a site on all its URLs, as rows: sessions, places that were cut, the links that lead to broken or redirected
//! URLs with the pages that hold them, each URL with its reason, and the statements of pages that contradict each other. Reads the state
//! alone, in three passes and 12 bytes of memory a URL; never prints, judges or writes.

mod conflicts;
mod known;
mod outline;
mod rows;
mod view;

#[cfg(test)]
mod tests;

use std::{cmp::Reverse, collections::BTreeMap, ops::ControlFlow};

use self::{
    conflicts::{Contents, Versions},
    known::KnownReasons,
    outline::MAX_EXAMPLES,
};
pub use self::{
    outline::{
        ConflictOutline, DuplicateOutline, ReasonOutline, ReportOutline, SectionOutline,
        TargetOutline,
    },
    rows::{
        ConflictKind, ConflictRow, LinkRow, PatternRow, REPORT_VERSION, ReportHead, ReportRow,
        UnpublishedReason, UrlRow,
    },
};
use crate::{
    crawl_state,
    outcome::SessionOutcome,
    page::{Mark, Page, PageRecord, Reason},
    site::Site,
    store::{LinkReader, ListsOf, Shown, Store, StoreError, StoredLinks, VisitNote},
    url_key::UrlKey,
};

/// Why a report ended before its last row.
#[derive(Debug, thiserror::Error)]
pub enum ReportError<E> {
    /// The state cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The caller did not take a row.
    #[error("{0}")]
    Refused(E),
}

/// Shows all rows of a site: the head, the sessions, the closed patterns, the links in the order of the pages that hold them, the
/// URLs in the order of keys, each with its conflicts after it. Of a site that was never published the rows are those of the
/// crawl under way.
///
/// # Errors
/// The state cannot be read, or `show` fails.
pub fn each_row<E>(
    store: &Store,
    site: &Site,
    show: &mut dyn FnMut(ReportRow) -> Result<(), E>,
) -> Result<(), ReportError<E>> {
    let mut show = |row| show(row).map_err(ReportError::Refused);
    let is_published = crawl_state::has_pages(store)?;
    let sessions = store.sessions()?;
    let last = sessions
        .last()
        .and_then(|session| session.outcome.as_deref());
    let is_in_set = last
        .and_then(SessionOutcome::from_code)
        .is_some_and(SessionOutcome::is_good);
    show(ReportRow::Report(ReportHead {
        version: REPORT_VERSION,
        site: site.url(),
        is_published,
        unpublished: if is_published && !is_in_set {
            unpublished(store)?
        } else {
            Vec::new()
        },
    }))?;
    for session in sessions {
        show(ReportRow::Session(Box::new(session)))?;
    }
    let patterns = store.patterns()?;
    for pattern in &patterns {
        show(ReportRow::Pattern(PatternRow::of(pattern)))?;
    }
    let mut known = KnownReasons::default();
    store.each(None, Shown::Outline, &mut |rows| {
        let reason = if is_published {
            rows.page_reason()?
        } else {
            rows.note()?.map(|note| note.reason)
        };
        if let Some(reason) = reason.filter(|reason| *reason != Reason::SeedDocument) {
            known.add(rows.key.fingerprint(), reason);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    known.sort();
    let (mut versions, mut contents) = (Versions::default(), Contents::default());
    let mut reader = LinkReader::default();
    walk(store, is_published, &mut |url, _, record| {
        versions.add_page(url, record);
        contents.add_page(record);
        let of = if is_published {
            ListsOf::Page
        } else {
            ListsOf::Visit
        };
        let links = store.lists(url, of)?.links;
        each_link(url, record, links, &mut known, &mut reader, &mut show)
    })?;
    walk(store, is_published, &mut |url, page, record| {
        let linked_from = known.linked_from(url.fingerprint());
        let row = UrlRow::of(url, page, record, &patterns, linked_from);
        show(ReportRow::Url(Box::new(row)))?;
        let show = &mut |conflict| show(ReportRow::Conflict(conflict));
        conflicts::each(url, record, &known, &versions, &mut contents, show)
    })
}

/// The URLs of the crawl that is not published, by reason.
fn unpublished(store: &Store) -> Result<Vec<UnpublishedReason>, StoreError> {
    let mut reasons: BTreeMap<Reason, ReasonOutline> = BTreeMap::new();
    store.each(None, Shown::Outline, &mut |rows| {
        if let Some(VisitNote { reason, .. }) = rows.note()?
            && reason != Reason::SeedDocument
            && !rows.is_promoted()?
        {
            let outline = reasons.entry(reason).or_default();
            outline.add(rows.key.as_str(), MAX_EXAMPLES);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let mut reasons: Vec<_> = reasons
        .into_iter()
        .map(|(reason, urls)| UnpublishedReason {
            state: reason.state().as_str(),
            reason: reason.code(),
            count: urls.count,
            examples: urls.examples,
        })
        .collect();
    reasons.sort_by_key(|reason| Reverse(reason.count));
    Ok(reasons)
}

/// Counts the links of a page, and shows those to broken and redirected URLs.
fn each_link<E>(
    url: &UrlKey,
    record: &PageRecord,
    links: StoredLinks,
    known: &mut KnownReasons,
    reader: &mut LinkReader,
    show: &mut dyn FnMut(ReportRow) -> Result<(), ReportError<E>>,
) -> Result<(), ReportError<E>> {
    // Where a redirect leads is not a link.
    if record.facts().is_none_or(|facts| facts.location.is_some()) {
        return Ok(());
    }
    let own = url.fingerprint();
    let mut wanted = Vec::new();
    let is_wanted = |target| {
        let reason = if target == own {
            known.reason(target)
        } else {
            known.link(target)
        };
        reason.is_some_and(|reason| reason.has(Mark::Broken) || reason.has(Mark::Redirect))
    };
    reader.each_where(links, is_wanted, |target, text| {
        wanted.push((target, text.to_owned()));
    })?;
    for (target, text) in wanted {
        let Some(reason) = known.reason(target.fingerprint()) else {
            continue;
        };
        show(ReportRow::Link(LinkRow {
            page: url.to_string(),
            target: target.to_string(),
            text: Some(text).filter(|text| !text.is_empty()),
            reason: reason.code(),
            is_redirect: reason.has(Mark::Redirect),
        }))?;
    }
    Ok(())
}

/// Receives a URL with its published row, if it has one, and the record that counts.
pub(crate) type EachRecord<'f, E> =
    dyn FnMut(&UrlKey, Option<&Page>, &PageRecord) -> Result<(), ReportError<E>> + 'f;

/// Shows the rows that count.
pub(crate) fn walk<E>(
    store: &Store,
    is_published: bool,
    show: &mut EachRecord<'_, E>,
) -> Result<(), ReportError<E>> {
    let mut result = Ok(());
    let in_part = crawl_state::published_in_part(store)?;
    store.each(None, Shown::Whole, &mut |rows| {
        let (mut page, visit) = (rows.page()?, rows.visit()?);
        if let Some(page) = &mut page {
            page.settle_reach(in_part);
        }
        let visited = visit.as_ref().map(|visit| &visit.record);
        let record = if is_published {
            // A URL that waits is known although nothing of it is published.
            let waiting = visited.filter(|record| record.reason == Reason::Queued);
            page.as_ref().map(|page| &page.record).or(waiting)
        } else {
            visited
        };
        // Sitemaps and feeds are not known URLs.
        if let Some(record) = record.filter(|record| record.reason != Reason::SeedDocument) {
            result = show(&rows.key, page.as_ref(), record);
        }
        Ok(if result.is_err() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    result
}
