//! Rows of `page` to records and back. A row that no record could have made is an error, which
//! becomes [`StoreErrorKind::Corrupt`](crate::store::StoreErrorKind::Corrupt); nothing is guessed.

use std::{collections::BTreeMap, io};

use jiff::Timestamp;
use rusqlite::{Row, Statement, types::Null};
use sitemap_core::{ChangeFreq, LastMod, Loc, Priority, extension::Extensions};

use super::{
    columns::{Binder, ColumnError, Columns},
    links::{self, Encoder},
    page_columns::{ANSWER, PARAMETERS, WITH_ANSWER, WITH_INPUT},
};
use crate::{
    page::{
        Basis, BodyEnd, BodyKind, Canonical, ContentHash, Directives, Given, Kept, Outcome,
        PageFacts, PageRecord, Reason, Refresh, SitemapDate, StatedDates, Via, Warnings,
        extensions_from_json,
    },
    store::{Earlier, EarlierAnswer, orders},
    url_key::UrlKey,
};

/// The columns of [`Stored::read`], in its order; then further ones, and the tables, of which one is called `page`;
/// a condition follows.
macro_rules! select_records {
    ($condition:literal) => {
        select_records!("", "page ", $condition)
    };
    ($more:literal, $tables:literal, $condition:literal) => {
        concat!(
            "SELECT page.url, run, reason, depth, via, found_on, attempts, fetched_at, not_fetched, error, ",
            "given_lastmod, given_changefreq, given_priority, given_extensions, ",
            "confirmed, kept, failing_since, gone_since, sitemap_lastmod, sitemap_is_file, ",
            "answer_run, status, content_type, kind, body_end, body_bytes, page.content_hash, ",
            "page.hash_version, last_modified, date, etag, noindex, nofollow, noimageindex, unavailable_after, ",
            "canonical_is, canonical, refresh_delay, refresh_url, location, selected_lastmod, ",
            "excluded_by_page_rule, warnings, title, images, alternates, selected_values, feeds, ",
            "robots_by_header, read_as, body_hash, json_ld_modified, meta_modified, time_modified, ",
            "published, likeness",
            $more,
            " FROM ",
            $tables,
            $condition
        )
    };
}
pub(super) use select_records;

/// A row of `page`.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) key: UrlKey,
    pub(super) record: PageRecord,
    /// An answer that does not count.
    pub(super) earlier: Option<PageFacts>,
    /// The record counts by the answer of its own run.
    pub(super) has_own_answer: bool,
    pub(super) failing_since: Option<Timestamp>,
    pub(super) gone_since: Option<Timestamp>,
}

/// The lists of a page's facts in their stored form.
#[derive(Debug, Default)]
pub(super) struct Packed {
    images: Option<Vec<u8>>,
    alternates: Option<Vec<u8>>,
    feeds: Option<Vec<u8>>,
}

impl Packed {
    /// Those of the record of `page`.
    ///
    /// # Errors
    /// None is known: the bytes go to memory.
    pub(super) fn new(
        encoder: &mut Encoder,
        page: &UrlKey,
        record: &PageRecord,
    ) -> io::Result<Self> {
        let Some(facts) = record.facts() else {
            return Ok(Self::default());
        };
        let images = facts.images.as_ref();
        let alternates = facts.alternates.as_ref();
        Ok(Self {
            images: images
                .map(|images| encoder.encode(page, images))
                .transpose()?,
            alternates: alternates
                .map(|versions| encoder.encode_versions(page, versions))
                .transpose()?,
            feeds: (!facts.feeds.is_empty())
                .then(|| encoder.encode(page, &facts.feeds))
                .transpose()?,
        })
    }
}

/// Binds a record to [`replace`](super::page_columns::replace); `outlinks` is the id of its new links.
pub(super) fn put(
    statement: &mut Statement<'_>,
    key: &UrlKey,
    record: &PageRecord,
    packed: &Packed,
    outlinks: Option<i64>,
) -> rusqlite::Result<()> {
    let mut row = Binder::new(statement);
    row.put(key.as_str())?;
    row.put(record.run)?;
    row.put(record.reason.state().as_str())?;
    row.put(record.reason.code())?;
    row.put(record.depth)?;
    row.put(record.via.as_str())?;
    row.put(record.found_on.as_ref().map(UrlKey::as_str))?;
    row.put(record.attempts)?;
    row.put(record.fetched_at.map(time_text))?;
    let (not_fetched, error, facts) = match &record.outcome {
        None => (None, None, None),
        Some(Outcome::NotFetched(reason)) => {
            let kept = kept_of(record).map(|kept| kept.error.as_str());
            (Some(reason.code()), kept, None)
        }
        Some(Outcome::NoAnswer { error }) => (None, Some(error.as_str()), None),
        Some(Outcome::Answered(facts)) => {
            let kept = kept_of(record).map(|kept| kept.error.as_str());
            (None, kept, Some(facts))
        }
        Some(Outcome::Given(_)) => (Some(GIVEN), None, None),
    };
    row.put(not_fetched)?;
    row.put(error)?;
    row.put(outlinks)?;
    match facts {
        Some(facts) => {
            row.put(record.run)?;
            put_facts(&mut row, facts, packed)?;
        }
        None => {
            while row.position() < WITH_ANSWER {
                row.put(Null)?;
            }
        }
    }
    match &record.outcome {
        Some(Outcome::Given(given)) => {
            for text in given.texts() {
                row.put(text)?;
            }
        }
        Some(Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Answered(_)) | None => {
            while row.position() < WITH_INPUT {
                row.put(Null)?;
            }
        }
    }
    row.flag(record.basis == Basis::Confirmed)?;
    let kept = kept_of(record);
    row.put(kept.map(|kept| kept.reason.code()))?;
    row.put(kept.map(|kept| time_text(kept.since)))?;
    row.put(kept.and_then(|kept| kept.gone_since).map(time_text))?;
    let stated = record.sitemap_lastmod.as_ref();
    row.put(stated.map(|date| date.lastmod.as_str()))?;
    row.flag(stated.is_some_and(|date| date.is_of_file))?;
    debug_assert_eq!(row.position(), PARAMETERS);
    Ok(())
}

/// Why the record counts by an answer that is not the last one.
fn kept_of(record: &PageRecord) -> Option<&Kept> {
    match &record.basis {
        Basis::Kept(kept) => Some(kept),
        Basis::Own | Basis::Confirmed => None,
    }
}

fn put_facts(row: &mut Binder<'_, '_>, facts: &PageFacts, packed: &Packed) -> rusqlite::Result<()> {
    row.put(facts.status)?;
    row.put(&facts.content_type)?;
    row.put(match facts.kind {
        BodyKind::Page => Some("page"),
        BodyKind::Document => Some("document"),
        BodyKind::Other => None,
    })?;
    match &facts.end {
        BodyEnd::Complete => row.put("complete")?,
        BodyEnd::Skipped => row.put(Null)?,
        BodyEnd::TooLarge => row.put("too-large")?,
        BodyEnd::CutShort => row.put("cut-short")?,
        BodyEnd::Undecodable(coding) => row.put(format!("{UNDECODABLE}{coding}"))?,
    }
    row.put(facts.body_bytes)?;
    row.put(facts.content_hash.map(|ContentHash(hash)| hash_text(hash)))?;
    row.put(facts.content_hash.map(|_| ContentHash::VERSION))?;
    row.put(facts.last_modified.map(time_text))?;
    row.put(facts.date.map(time_text))?;
    row.put(&facts.etag)?;
    row.flag(facts.directives.noindex)?;
    row.flag(facts.directives.nofollow)?;
    row.flag(facts.directives.noimageindex)?;
    row.put(facts.directives.unavailable_after.map(time_text))?;
    let (canonical_is, canonical) = match &facts.canonical {
        Canonical::Absent => (None, None),
        Canonical::Itself => (Some("itself"), None),
        Canonical::Other(key) => (Some("other"), Some(key.as_str())),
        Canonical::Conflicting => (Some("conflicting"), None),
    };
    row.put(canonical_is)?;
    row.put(canonical)?;
    row.put(facts.refresh.as_ref().map(|refresh| refresh.delay_seconds))?;
    row.put(
        facts
            .refresh
            .as_ref()
            .map(|refresh| refresh.target.as_str()),
    )?;
    row.put(facts.location.as_ref().map(UrlKey::as_str))?;
    row.put(&facts.selected_lastmod)?;
    row.flag(facts.excluded_by_page_rule)?;
    let warnings = facts.warnings.codes().collect::<Vec<_>>().join(",");
    row.put((!warnings.is_empty()).then_some(warnings))?;
    row.put(&facts.title)?;
    row.put(&packed.images)?;
    row.put(&packed.alternates)?;
    row.put(values_text(&facts.selected_values))?;
    row.put(&packed.feeds)?;
    row.flag(facts.robots_by_header)?;
    row.put((facts.read_as != 0).then(|| format!("{:016x}", facts.read_as)))?;
    row.put(facts.body_hash.map(hash_text))?;
    row.put(&facts.dates.json_ld)?;
    row.put(&facts.dates.meta)?;
    row.put(&facts.dates.time_element)?;
    row.put(&facts.dates.published)?;
    row.put(facts.likeness.map(|likeness| format!("{likeness:016x}")))
}

/// What stands in `not_fetched` for [`Outcome::Given`]; no reason has this code.
pub(super) const GIVEN: &str = "input";

/// What stands in `not_fetched`.
enum NotFetched {
    Because(Reason),
    Given,
}

impl NotFetched {
    fn from_word(word: &str) -> Option<Self> {
        match word {
            GIVEN => Some(Self::Given),
            _ => Reason::from_code(word).map(Self::Because),
        }
    }
}

/// Begins the text of [`BodyEnd::Undecodable`].
const UNDECODABLE: &str = "undecodable: ";

impl Stored {
    /// Reads a row of [`select_records`].
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Self::read_columns(&mut Columns::new(row))
    }

    /// Reads them; what follows is left.
    pub(super) fn read_columns(columns: &mut Columns<'_, '_>) -> rusqlite::Result<Self> {
        let key = columns.key()?;
        let run = columns.get()?;
        let reason = columns.word("reason", Reason::from_code)?;
        let depth = columns.get()?;
        let via = columns.word("via", Via::from_word)?;
        let found_on = columns.optional_key()?;
        let attempts = columns.get()?;
        let fetched_at = columns.time()?;
        let not_fetched = columns.optional_word("not_fetched", NotFetched::from_word)?;
        let error: Option<String> = columns.get()?;
        let given = read_given(columns)?;
        let is_confirmed = columns.flag()?;
        let kept = columns.optional_word("kept", Reason::from_code)?;
        let (failing_since, gone_since) = (columns.time()?, columns.time()?);
        let sitemap_lastmod: Option<String> = columns.get()?;
        let is_of_file = columns.flag()?;
        let sitemap_lastmod = sitemap_lastmod.map(|lastmod| SitemapDate {
            lastmod,
            is_of_file,
        });
        let answer_run: Option<i64> = columns.get()?;
        let facts = if answer_run.is_some() {
            Some(read_facts(&key, columns)?)
        } else {
            columns.skip(ANSWER.len() - 1);
            None
        };
        let counts = answer_run.is_some_and(|answer_run| u64::try_from(answer_run) == Ok(run));
        let is_published = matches!(
            not_fetched,
            Some(NotFetched::Because(Reason::KeptNotReached))
        );
        let mut basis = Basis::Own;
        if counts && is_confirmed {
            basis = Basis::Confirmed;
        } else if (counts || is_published)
            && let Some(reason) = kept
        {
            basis = Basis::Kept(Kept {
                reason,
                since: failing_since.ok_or_else(|| {
                    columns.failure(ColumnError::Missing {
                        what: "failing_since",
                    })
                })?,
                gone_since,
                error: error.clone().unwrap_or_default(),
            });
        }
        let (outcome, earlier) = match (facts, error, not_fetched) {
            (Some(facts), _, _) if counts => (Some(Outcome::Answered(Box::new(facts))), None),
            (earlier, _, Some(NotFetched::Because(reason))) => {
                (Some(Outcome::NotFetched(reason)), earlier)
            }
            (earlier, _, Some(NotFetched::Given)) => {
                (Some(Outcome::Given(Box::new(given))), earlier)
            }
            (earlier, Some(error), None) => (Some(Outcome::NoAnswer { error }), earlier),
            (earlier, None, None) => (None, earlier),
        };
        let record = PageRecord {
            run,
            reason,
            depth,
            via,
            found_on,
            attempts,
            fetched_at,
            sitemap_lastmod,
            outcome,
            basis,
        };
        let record = record.listed_by(earlier.as_ref(), failing_since, gone_since);
        Ok(Self {
            key,
            record,
            earlier,
            has_own_answer: counts,
            failing_since,
            gone_since,
        })
    }
}

fn read_given(columns: &mut Columns<'_, '_>) -> rusqlite::Result<Given> {
    let lastmod = columns.optional_word("given_lastmod", |text| LastMod::parse(text).ok())?;
    let changefreq =
        columns.optional_word("given_changefreq", |text| ChangeFreq::parse(text).ok())?;
    let priority = columns.optional_word("given_priority", |text| Priority::parse(text).ok())?;
    let (extensions, fields) = columns
        .optional_word("given_extensions", extensions_from_text)?
        .unwrap_or_default();
    Ok(Given {
        lastmod,
        changefreq,
        priority,
        extensions,
        fields,
    })
}

/// The extensions and fields that [`Given::texts`] wrote: all of them, or it is no such text.
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

fn read_facts(page: &UrlKey, columns: &mut Columns<'_, '_>) -> rusqlite::Result<PageFacts> {
    let hash_of_body;
    // Fields are read in the order of the columns.
    let mut facts = PageFacts {
        status: columns.get()?,
        content_type: columns.get()?,
        kind: read_kind(columns)?,
        end: read_end(columns)?,
        body_bytes: columns.get()?,
        content_hash: {
            let (hash, of_body) = read_hash(columns)?;
            hash_of_body = of_body;
            hash
        },
        last_modified: columns.time()?,
        date: columns.time()?,
        etag: columns.get()?,
        directives: Directives {
            noindex: columns.flag()?,
            nofollow: columns.flag()?,
            noimageindex: columns.flag()?,
            unavailable_after: columns.time()?,
        },
        canonical: read_canonical(columns)?,
        refresh: {
            let delay: Option<u32> = columns.get()?;
            let target = columns.optional_key()?;
            match (delay, target) {
                (Some(delay_seconds), Some(target)) => Some(Refresh {
                    delay_seconds,
                    target,
                }),
                (None, None) => None,
                (Some(_), None) | (None, Some(_)) => {
                    return Err(columns.failure(ColumnError::Half { what: "refresh" }));
                }
            }
        },
        location: columns.optional_key()?,
        selected_lastmod: columns.get()?,
        excluded_by_page_rule: columns.flag()?,
        links: Vec::new(),
        links_left_out: 0,
        warnings: columns
            .optional_word("warnings", |codes| {
                Some(Warnings::from_codes(codes.split(',')))
            })?
            .unwrap_or_default(),
        title: columns.get()?,
        images: columns.optional_bytes(|bytes| links::decode(page, bytes))?,
        alternates: columns.optional_bytes(|bytes| links::decode_versions(page, bytes))?,
        selected_values: columns
            .optional_word("selected_values", |text| serde_json::from_str(text).ok())?
            .unwrap_or_default(),
        feeds: columns
            .optional_bytes(|bytes| links::decode(page, bytes))?
            .unwrap_or_default(),
        robots_by_header: columns.flag()?,
        read_as: read_as(columns)?,
        body_hash: columns.optional_word("body_hash", hash_from_text)?,
        dates: StatedDates {
            json_ld: columns.get()?,
            meta: columns.get()?,
            time_element: columns.get()?,
            published: columns.get()?,
        },
        likeness: columns.optional_word("likeness", |text| u64::from_str_radix(text, 16).ok())?,
    };
    facts.body_hash = facts.body_hash.or(hash_of_body);
    Ok(facts)
}

/// The columns of [`read_earlier`], in its order.
pub(super) const EARLIER: &str = "
  page.listed_before, page.failing_since, page.gone_since,
  page.answer_run IS NOT NULL AND page.answer_run <> page.run, page.status, page.kind, page.body_end,
  page.content_hash, page.hash_version, page.noindex, page.nofollow, page.canonical_is,
  page.canonical, page.last_modified, page.date, page.etag, page.robots_by_header, page.read_as, page.images IS NOT NULL, page.alternates IS NOT NULL";

/// What was known of a URL that waits.
pub(super) fn read_earlier(
    columns: &mut Columns<'_, '_>,
) -> rusqlite::Result<Option<Box<Earlier>>> {
    let mut earlier = Earlier {
        was_listed: columns.flag()?,
        failing_since: columns.time()?,
        gone_since: columns.time()?,
        answer: None,
    };
    if columns.flag()? {
        earlier.answer = Some(EarlierAnswer {
            status: columns.get()?,
            kind: read_kind(columns)?,
            is_complete: read_end(columns)? == BodyEnd::Complete,
            content_hash: read_hash(columns)?.0,
            orders: {
                let directives = Directives {
                    noindex: columns.flag()?,
                    nofollow: columns.flag()?,
                    ..Directives::default()
                };
                orders(directives, &read_canonical(columns)?)
            },
            last_modified: columns.time()?,
            date: columns.time()?,
            etag: columns.get()?,
            robots_by_header: columns.flag()?,
            read_as: read_as(columns)?,
            has_images: columns.flag()?,
            has_alternates: columns.flag()?,
        });
    }
    Ok(earlier.if_any())
}

fn read_kind(columns: &mut Columns<'_, '_>) -> rusqlite::Result<BodyKind> {
    let kind = columns.optional_word("kind", |word| match word {
        "page" => Some(BodyKind::Page),
        "document" => Some(BodyKind::Document),
        _ => None,
    })?;
    Ok(kind.unwrap_or(BodyKind::Other))
}

fn read_end(columns: &mut Columns<'_, '_>) -> rusqlite::Result<BodyEnd> {
    let end = columns.optional_word("body_end", |word| match word {
        "complete" => Some(BodyEnd::Complete),
        "too-large" => Some(BodyEnd::TooLarge),
        "cut-short" => Some(BodyEnd::CutShort),
        _ => word
            .strip_prefix(UNDECODABLE)
            .map(|coding| BodyEnd::Undecodable(coding.to_owned())),
    })?;
    Ok(end.unwrap_or(BodyEnd::Skipped))
}

/// The hash of the content, and that of the body where an earlier version wrote it in this place.
fn read_hash(
    columns: &mut Columns<'_, '_>,
) -> rusqlite::Result<(Option<ContentHash>, Option<u128>)> {
    let hash = columns.optional_word("content_hash", hash_from_text)?;
    let version: Option<u32> = columns.get()?;
    // The hash of another algorithm tells nothing about whether the content changed.
    Ok(match version {
        Some(ContentHash::VERSION) => (hash.map(ContentHash), None),
        Some(ContentHash::OF_BODY) => (None, hash),
        Some(_) | None => (None, None),
    })
}

fn read_as(columns: &mut Columns<'_, '_>) -> rusqlite::Result<u64> {
    let fingerprint =
        columns.optional_word("read_as", |text| u64::from_str_radix(text, 16).ok())?;
    Ok(fingerprint.unwrap_or_default())
}

fn read_canonical(columns: &mut Columns<'_, '_>) -> rusqlite::Result<Canonical> {
    let is: Option<String> = columns.get()?;
    let other = columns.optional_key()?;
    match (is.as_deref(), other) {
        (None, None) => Ok(Canonical::Absent),
        (Some("itself"), None) => Ok(Canonical::Itself),
        (Some("conflicting"), None) => Ok(Canonical::Conflicting),
        (Some("other"), Some(key)) => Ok(Canonical::Other(key)),
        (Some("other"), None) | (None, Some(_)) => {
            Err(columns.failure(ColumnError::Half { what: "canonical" }))
        }
        (Some(word), _) => Err(columns.failure(ColumnError::Word {
            what: "canonical_is",
            word: word.to_owned(),
        })),
    }
}

/// Values by name as a JSON object; nothing when there are none.
fn values_text(values: &BTreeMap<String, String>) -> Option<String> {
    let text = || serde_json::to_string(values).expect("strings are always JSON");
    (!values.is_empty()).then(text)
}

/// RFC 3339 in UTC, with as many digits of the second as the time has: it reads back as it was.
pub(super) fn time_text(time: Timestamp) -> String {
    time.to_string()
}

/// A 128-bit hash in hexadecimal.
pub(super) fn hash_text(hash: u128) -> String {
    format!("{hash:032x}")
}

/// The hash that [`hash_text`] wrote.
pub(super) fn hash_from_text(text: &str) -> Option<u128> {
    (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok())?
}
