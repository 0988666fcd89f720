//! Records to the columns of a row and back. A row that no record could have made is an error; nothing is guessed.

use std::{collections::BTreeMap, io, time::Duration};

use rusqlite::{Row, types::Type};
use sitemap_core::{Loc, extension::Extensions};

use super::{
    columns::{Attempt, Origin, Published, Queue},
    earlier::Earlier,
    links::{self, Encoder, StoredLinks},
    values::{Columns, Hex64, Hex128, NotFetched},
};
use crate::{
    page::{
        Basis, BodyEnd, BodyKind, Canonical, ContentHash, Directives, Kept, LedgerDates,
        LedgerEntry, LinkTexts, Outcome, Page, PageFacts, PageRecord, PageText, Reason,
        SitemapDate, StatedDates, Supplied, Visit, extensions_from_json,
    },
    url_key::UrlKey,
};

/// Why columns that can be read make no record.
#[derive(Debug, thiserror::Error)]
enum RowError {
    #[error("unknown supplied_extensions `{0}`")]
    Extensions(String),
    #[error("there is a dated_hash without its version")]
    NoVersion,
}

/// A failure to understand a row.
fn failure(error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error))
}

/// A failure to make a row.
pub(super) fn unwritable(error: io::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into())
}

/// A row of `url, Origin, Attempt, Published`.
pub(super) fn read_page(row: &Row<'_>) -> rusqlite::Result<(UrlKey, Page)> {
    let mut columns = Columns::new(row);
    let key = columns.get()?;
    let found = Origin::read(&mut columns)?;
    let attempt = Attempt::of_row(&mut columns)?;
    let published = Published::read(&mut columns)?;
    let record = record(&key, found, attempt)?;
    let page = page(record, published)?;
    Ok((key, page))
}

/// A row of `url, Origin, Attempt, Queue`.
pub(super) fn read_visit(row: &Row<'_>) -> rusqlite::Result<(UrlKey, Visit)> {
    let mut columns = Columns::new(row);
    let key = columns.get()?;
    let found = Origin::read(&mut columns)?;
    let attempt = Attempt::of_row(&mut columns)?;
    let queue = Queue::read(&mut columns)?;
    let visit = Visit {
        record: record(&key, found, attempt)?,
        sequence: queue.sequence,
        hops: queue.hops,
        is_orphan: queue.is_orphan,
        promotion: queue.promotion,
    };
    Ok((key, visit))
}

/// Columns of a page row: whether it is listed, and `Attempt`. `None`: it is not listed, and had no answer.
pub(super) fn read_earlier(
    columns: &mut Columns<'_, '_>,
    key: &UrlKey,
) -> rusqlite::Result<Option<Box<Earlier>>> {
    let was_listed = columns.get()?;
    let attempt = Attempt::of_row(columns)?;
    let answer = match attempt.status {
        Some(status) => Some(Box::new(attempt.into_facts(status, key)?)),
        None => None,
    };
    Ok((was_listed || answer.is_some()).then(|| Box::new(Earlier { was_listed, answer })))
}

/// A row of links and feeds.
pub(super) fn read_links(
    row: &Row<'_>,
    page: &UrlKey,
) -> rusqlite::Result<(StoredLinks, Vec<UrlKey>)> {
    let list = |at| -> rusqlite::Result<&[u8]> {
        Ok(row.get_ref(at)?.as_blob_or_null()?.unwrap_or_default())
    };
    let feeds = links::decode(page, list(1)?).map_err(failure)?;
    Ok((StoredLinks::new(page, list(0)?), feeds))
}

impl Origin {
    pub(super) fn of(record: &PageRecord) -> Self {
        let stated = record.sitemap_lastmod.as_ref();
        Self {
            state: record.reason.state(),
            reason: record.reason,
            depth: record.depth,
            via: record.via,
            found_on: record.found_on.clone(),
            attempts: record.attempts,
            sitemap_lastmod: stated.map(|date| date.lastmod.clone()),
            sitemap_is_file: stated.is_some_and(|date| date.is_of_file),
        }
    }
}

impl Attempt {
    /// # Errors
    /// None is known: lists are packed in memory.
    pub(super) fn of(key: &UrlKey, record: &PageRecord, encoder: &mut Encoder) -> io::Result<Self> {
        let mut attempt = match &record.outcome {
            None => Self::default(),
            Some(Outcome::NotFetched(reason)) => Self::of_verdict(*reason),
            Some(Outcome::NoAnswer { error }) => Self {
                error: Some(error.clone()),
                ..Self::default()
            },
            Some(Outcome::Answered(facts)) => Self::of_facts(key, facts, encoder)?,
            Some(Outcome::Supplied(supplied)) => Self::of_supplied(supplied),
        };
        attempt.fetched_at = record.fetched_at;
        attempt.confirmed = record.basis == Basis::Confirmed;
        Ok(attempt)
    }

    /// There was no request.
    pub(super) fn of_verdict(reason: Reason) -> Self {
        Self {
            not_fetched: Some(NotFetched::Because(reason)),
            ..Self::default()
        }
    }

    fn of_supplied(supplied: &Supplied) -> Self {
        let [.., supplied_extensions] = supplied.texts();
        Self {
            not_fetched: Some(NotFetched::Supplied),
            supplied_lastmod: supplied.lastmod.clone(),
            supplied_changefreq: supplied.changefreq,
            supplied_priority: supplied.priority,
            supplied_extensions,
            ..Self::default()
        }
    }

    fn of_facts(key: &UrlKey, facts: &PageFacts, encoder: &mut Encoder) -> io::Result<Self> {
        let facts = facts.clone();
        Ok(Self {
            status: Some(facts.status),
            content_type: facts.content_type,
            kind: Some(facts.kind).filter(|kind| *kind != BodyKind::Other),
            body_end: Some(facts.end).filter(|end| *end != BodyEnd::Skipped),
            body_bytes: Some(facts.body_bytes),
            duration_ms: facts
                .duration
                .map(|duration| u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)),
            content_hash: facts.content_hash.map(|ContentHash(hash)| Hex128(hash)),
            hash_version: facts.content_hash.map(|_| ContentHash::VERSION),
            text_hash: facts.text.as_ref().map(|text| text.whole.cast_signed()),
            text_alike: facts.text.as_ref().map(|text| text.alike.cast_signed()),
            text_blocks: facts.text.as_ref().map(|text| text.stored_blocks()),
            repeat: facts.repeat,
            body_hash: facts.body_hash.map(Hex128),
            last_modified: facts.last_modified,
            date: facts.date,
            etag: facts.etag,
            noindex: facts.directives.noindex,
            nofollow: facts.directives.nofollow,
            noimageindex: facts.directives.noimageindex,
            unavailable_after: facts.directives.unavailable_after,
            robots_by_header: facts.robots_by_header,
            canonical: Some(facts.canonical).filter(|canonical| *canonical != Canonical::Absent),
            refresh: facts.refresh,
            location: facts.location,
            selected_lastmod: facts.selected_lastmod,
            selected_values: Some(facts.selected_values).filter(|values| !values.is_empty()),
            excluded_by_page_rule: facts.excluded_by_page_rule,
            json_ld_modified: facts.dates.json_ld,
            meta_modified: facts.dates.meta,
            time_modified: facts.dates.time_element,
            published: facts.dates.published,
            title: facts.title,
            images: facts
                .images
                .map(|images| encoder.encode(key, &images))
                .transpose()?,
            alternates: facts
                .alternates
                .map(|versions| encoder.encode_versions(key, &versions))
                .transpose()?,
            videos: facts.videos,
            news: facts.news,
            feeds: (!facts.feeds.is_empty())
                .then(|| encoder.encode(key, &facts.feeds))
                .transpose()?,
            read_as: (facts.read_as != 0).then_some(Hex64(facts.read_as)),
            warnings: Some(facts.warnings).filter(|warnings| warnings.codes().next().is_some()),
            ..Self::default()
        })
    }

    /// The hash of another algorithm is not evidence of whether the content changed.
    fn known_hash(&self) -> Option<ContentHash> {
        let hash = self.content_hash.map(|Hex128(hash)| ContentHash(hash));
        hash.filter(|_| self.hash_version == Some(ContentHash::VERSION))
    }

    fn directives(&self) -> Directives {
        Directives {
            noindex: self.noindex,
            nofollow: self.nofollow,
            unavailable_after: self.unavailable_after,
            noimageindex: self.noimageindex,
        }
    }

    fn into_facts(self, status: u16, page: &UrlKey) -> rusqlite::Result<PageFacts> {
        let content_hash = self.known_hash();
        let directives = self.directives();
        let links_of = |bytes: Vec<u8>| links::decode(page, &bytes).map_err(failure);
        let versions_of = |bytes: Vec<u8>| links::decode_versions(page, &bytes).map_err(failure);
        Ok(PageFacts {
            status,
            content_type: self.content_type,
            kind: self.kind.unwrap_or_default(),
            end: self.body_end.unwrap_or_default(),
            body_bytes: self.body_bytes.unwrap_or_default(),
            duration: self
                .duration_ms
                .map(|milliseconds| Duration::from_millis(milliseconds.into())),
            content_hash,
            text: self.text_hash.map(|hash| {
                let blocks = self.text_blocks.unwrap_or_default();
                let alike = self.text_alike.unwrap_or_default().cast_unsigned();
                Box::new(PageText::from_stored(hash.cast_unsigned(), alike, &blocks))
            }),
            repeat: self.repeat,
            body_hash: self.body_hash.map(|Hex128(hash)| hash),
            dates: StatedDates {
                json_ld: self.json_ld_modified,
                meta: self.meta_modified,
                time_element: self.time_modified,
                published: self.published,
            },
            last_modified: self.last_modified,
            date: self.date,
            etag: self.etag,
            directives,
            robots_by_header: self.robots_by_header,
            canonical: self.canonical.unwrap_or_default(),
            refresh: self.refresh,
            location: self.location,
            selected_lastmod: self.selected_lastmod,
            selected_values: self.selected_values.unwrap_or_default(),
            excluded_by_page_rule: self.excluded_by_page_rule,
            links: Vec::new(),
            link_texts: LinkTexts::default(),
            links_left_out: 0,
            images: self.images.map(links_of).transpose()?,
            alternates: self.alternates.map(versions_of).transpose()?,
            videos: self.videos,
            news: self.news,
            feeds: self.feeds.map(links_of).transpose()?.unwrap_or_default(),
            warnings: self.warnings.unwrap_or_default(),
            title: self.title,
            read_as: self.read_as.map_or(0, |Hex64(fingerprint)| fingerprint),
        })
    }

    fn into_outcome(self, page: &UrlKey) -> rusqlite::Result<Option<Outcome>> {
        if let Some(status) = self.status {
            let facts = self.into_facts(status, page)?;
            return Ok(Some(Outcome::Answered(Box::new(facts))));
        }
        match self.not_fetched {
            Some(NotFetched::Because(reason)) => return Ok(Some(Outcome::NotFetched(reason))),
            Some(NotFetched::Supplied) => {}
            None => return Ok(self.error.map(|error| Outcome::NoAnswer { error })),
        }
        let (extensions, fields) = match self.supplied_extensions {
            Some(text) => extensions_from_text(&text)
                .ok_or_else(|| failure(RowError::Extensions(text.clone())))?,
            None => Default::default(),
        };
        Ok(Some(Outcome::Supplied(Box::new(Supplied {
            lastmod: self.supplied_lastmod,
            changefreq: self.supplied_changefreq,
            priority: self.supplied_priority,
            extensions,
            fields,
        }))))
    }
}

fn record(key: &UrlKey, found: Origin, attempt: Attempt) -> rusqlite::Result<PageRecord> {
    Ok(PageRecord {
        reason: found.reason,
        depth: found.depth,
        via: found.via,
        found_on: found.found_on,
        attempts: found.attempts,
        sitemap_lastmod: found.sitemap_lastmod.map(|lastmod| SitemapDate {
            lastmod,
            is_of_file: found.sitemap_is_file,
        }),
        fetched_at: attempt.fetched_at,
        basis: if attempt.confirmed {
            Basis::Confirmed
        } else {
            Basis::Own
        },
        outcome: attempt.into_outcome(key)?,
    })
}

impl Published {
    /// When attempts began to fail is written once: a page that is kept counts by the same times.
    pub(super) fn of(page: &Page) -> Self {
        let kept = match &page.record.basis {
            Basis::Kept(kept) => Some(kept),
            Basis::Own | Basis::Confirmed => None,
        };
        let dates = page.dates.clone();
        let is_known = dates.is_some();
        let dates = dates.unwrap_or_default();
        Self {
            crawl: page.crawl,
            first_seen: page.first_seen,
            last_seen: page.last_seen,
            kept: kept.map(|kept| kept.reason),
            kept_error: kept.map(|kept| kept.error.clone()),
            failing_since: page.failing_since.or(kept.and_then(Kept::failing_since)),
            gone_since: page.gone_since.or(kept.and_then(|kept| kept.gone_since)),
            lastmod: dates.lastmod,
            source: dates.source,
            dated_hash: is_known.then_some(Hex128(dates.content_hash)),
            dated_hash_version: is_known.then_some(dates.hash_version),
            last_modified_seconds: dates.last_modified_seconds,
            since_seconds: dates.since_seconds,
            seen_seconds: dates.seen_seconds,
            stated_json_ld: dates.stated.json_ld,
            stated_meta: dates.stated.meta,
            stated_sitemap: dates.stated.sitemap,
            stated_time_element: dates.stated.time_element,
        }
    }
}

fn page(mut record: PageRecord, published: Published) -> rusqlite::Result<Page> {
    if let Some(reason) = published.kept {
        record.basis = Basis::Kept(Kept {
            reason,
            since: published.failing_since.unwrap_or_default(),
            gone_since: published.gone_since,
            error: published.kept_error.unwrap_or_default(),
        });
    }
    let dates = match (published.dated_hash, published.dated_hash_version) {
        (None, _) => None,
        (Some(_), None) => return Err(failure(RowError::NoVersion)),
        (Some(Hex128(content_hash)), Some(hash_version)) => Some(LedgerEntry {
            content_hash,
            hash_version,
            lastmod: published.lastmod,
            last_modified_seconds: published.last_modified_seconds,
            source: published.source,
            since_seconds: published.since_seconds,
            seen_seconds: published.seen_seconds,
            stated: LedgerDates {
                json_ld: published.stated_json_ld,
                meta: published.stated_meta,
                sitemap: published.stated_sitemap,
                time_element: published.stated_time_element,
            },
        }),
    };
    Ok(Page {
        record,
        crawl: published.crawl,
        first_seen: published.first_seen,
        last_seen: published.last_seen,
        failing_since: published.failing_since,
        gone_since: published.gone_since,
        dates,
    })
}

/// The extensions and fields that [`Supplied::texts`] wrote: all of them, or it is not such a text.
fn extensions_from_text(text: &str) -> Option<(Extensions, BTreeMap<String, String>)> {
    let mut object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
    let fields = match object.remove("fields") {
        Some(fields) => serde_json::from_value(fields).ok()?,
        None => BTreeMap::new(),
    };
    let resolve = |text: &str| Loc::parse(text).map_err(|error| error.to_string());
    let (extensions, errors) = extensions_from_json(&object, &resolve);
    errors.is_empty().then_some((extensions, fields))
}
