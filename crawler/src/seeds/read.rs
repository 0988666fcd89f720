//! The URLs that a document names: batches of URLs and of further documents, in bounded memory.
//! Reading blocks, and waits where its batches are taken.

use std::{
    io::{self, BufRead},
    ops::ControlFlow,
};

use jiff::Timestamp;
use sitemap_core::{
    IndexEntry, LastMod, Limits, Loc,
    read::{Item, Kind, Problem, ReadError, ReadFinding, Reader},
};

use super::{EntryTroubles, SeedProblem, UNUSABLE};
use crate::{
    page::SitemapDate,
    url_key::{Identity, UrlKey},
};

/// The most bytes that are read of one document once it is unpacked: four times what the protocol allows
/// ([`super::SeedList`]s have a limit of their own), because many a sitemap is larger than it should be.
pub const MAX_UNPACKED_BYTES: u64 = 4 * 52_428_800;

/// The rule for compressed lists of lines.
const GZIP_OF_TEXT: &str = "R56";

/// In the place of a rule: a row of a table that is left out, because it is of no page.
const NO_PAGE: &str = "no-page";

/// Entries of one [`Batch`].
const BATCH_ENTRIES: usize = 1_000;

/// Some entries of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Pages.
    pub pages: Vec<UrlKey>,
    /// The last change of pages that a sitemap states; feeds and lists state none.
    pub dates: Vec<(UrlKey, SitemapDate)>,
    /// Further documents.
    pub documents: Vec<IndexedDocument>,
    /// The entries are entries of an RSS or Atom feed, whatever the document was expected to be.
    pub is_feed: bool,
}

/// A document that an index names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedDocument {
    /// The place.
    pub url: UrlKey,
    /// The data of the index on it.
    pub entry: IndexEntry,
}

impl Batch {
    /// Marks the dates that are the date of the file itself: the same second, or for a day the same day in UTC.
    pub fn mark_dates_of(&mut self, file: Timestamp) {
        let instant = LastMod::from_timestamp(file);
        let day = instant.as_str().get(..10).unwrap_or_default();
        for (_, date) in &mut self.dates {
            let stated = LastMod::parse(&date.lastmod);
            date.is_of_file = date.lastmod == day
                || stated.is_ok_and(|stated| {
                    stated.as_str().contains('T')
                        && stated.latest_instant().as_second() == file.as_second()
                });
        }
    }

    fn len(&self) -> usize {
        self.pages.len() + self.documents.len()
    }
}

/// How the reading of a document went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentReading {
    /// Entries, usable or not.
    pub entries: u64,
    /// Bytes that were read of it, unpacked.
    pub bytes: u64,
    /// Defects of entries that were read or left out.
    pub findings: u64,
    /// The entries that were left out or read in spite of a defect, by rule, as far as it is more than worth knowing.
    pub troubles: EntryTroubles,
    /// Why it ended early, and the same in words.
    pub problem: Option<(SeedProblem, String)>,
}

/// Reads `body`, at most `max_bytes` of it once it is unpacked, and hands its entries to `take` in
/// batches, until that breaks. URLs become keys by `identity`; relative links of a feed are
/// resolved against `place`, its URL.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use crawler::{seeds::{MAX_UNPACKED_BYTES, read}, url_key::Identity};
///
/// let body = b"<urlset><url><loc>https://example.com/a</loc></url><url><loc>/b</loc></url></urlset>";
/// let mut found = Vec::new();
/// let reading = read(&body[..], MAX_UNPACKED_BYTES, None, &Identity::default(), &mut |batch| {
///     found.extend(batch.pages);
///     ControlFlow::Continue(())
/// });
/// assert_eq!(found[0].as_str(), "https://example.com/a");
/// assert_eq!((reading.entries, reading.problem), (2, None));
/// ```
pub fn read(
    body: impl BufRead,
    max_bytes: u64,
    place: Option<&UrlKey>,
    identity: &Identity,
    take: &mut dyn FnMut(Batch) -> ControlFlow<()>,
) -> DocumentReading {
    let verbatim = identity.verbatim();
    let limits = Limits {
        entries: u64::MAX,
        bytes: max_bytes,
    };
    let mut reader = Reader::new(body, limits);
    if let Some(place) = place.and_then(|place| Loc::parse(place.as_str()).ok()) {
        reader = reader.at(&place);
    }
    let mut is_of_use = false;
    let mut reading = DocumentReading::default();
    let mut batch = Batch::default();
    while let Some(item) = reader.next() {
        match item {
            Ok(Item::Url(entry)) => match identity.parse(entry.loc.as_str()) {
                Ok(key) => {
                    is_of_use = true;
                    if let Some(lastmod) = entry.lastmod {
                        let date = SitemapDate {
                            lastmod: lastmod.as_str().to_owned(),
                            is_of_file: false,
                        };
                        batch.dates.push((key.clone(), date));
                    }
                    batch.pages.push(key);
                }
                Err(error) => reading.note_unusable(|| format!("{}: {error}", entry.loc)),
            },
            Ok(Item::Sitemap(entry)) => match verbatim.parse(entry.loc.as_str()) {
                Ok(url) => batch.documents.push(IndexedDocument { url, entry }),
                Err(error) => reading.note_unusable(|| format!("{}: {error}", entry.loc)),
            },
            Err(error) if error.is_fatal() => {
                let is_nothing = reader.kind().is_none();
                reading.problem = Some((problem_of(&error, is_nothing), in_words(&error)));
            }
            Err(ReadError::Entry(finding) | ReadError::File(finding)) => reading.note(&finding),
            Err(error) => reading.note_unusable(|| error.to_string()),
        }
        batch.is_feed = matches!(reader.kind(), Some(Kind::Rss | Kind::Atom));
        if batch.is_feed {
            batch.dates.clear();
        }
        for finding in reader.take_findings() {
            reading.note(&finding);
        }
        if batch.len() >= BATCH_ENTRIES && take(std::mem::take(&mut batch)).is_break() {
            reading.bytes = reader.bytes();
            return reading;
        }
    }
    for finding in reader.take_findings() {
        reading.note(&finding);
    }
    (reading.entries, reading.bytes) = (reader.entries(), reader.bytes());
    // Any text can be taken for lines, none of which is a URL.
    if reader.kind() == Some(Kind::Text) && !is_of_use && reading.problem.is_none() {
        let first = reading.troubles.first();
        let first = first.map(|trouble| trouble.example.clone());
        reading.problem = Some((SeedProblem::NotASitemap, first.unwrap_or_default()));
    }
    if let Some((SeedProblem::NotASitemap, _)) = reading.problem {
        // It has no entries that something could be wrong with.
        reading.troubles = EntryTroubles::default();
    }
    if batch.len() > 0 && take(batch).is_break() {
        return reading;
    }
    reading
}

impl DocumentReading {
    fn note(&mut self, finding: &ReadFinding) {
        self.findings += 1;
        self.troubles.add_finding(finding);
    }

    /// Notes an entry, or a line, that is not a URL which could be asked for.
    pub(super) fn note_unusable(&mut self, words: impl FnOnce() -> String) {
        self.findings += 1;
        self.troubles.add(UNUSABLE, words);
    }

    /// Notes what is after the end of a compressed list of lines and is left out, as the reader of sitemaps does.
    pub(super) fn note_trailing_bytes(&mut self) {
        self.findings += 1;
        self.troubles
            .add(GZIP_OF_TEXT, || Problem::TrailingBytes.to_string());
    }

    /// Notes rows of a list that are left out, because they are stated to be of none.
    pub(super) fn note_left_out(&mut self, rows: u64) {
        self.findings += rows;
        for _ in 0..rows {
            self.troubles.add(NO_PAGE, || {
                "the row has another status than 200, is not indexable, or has another media type than pages".to_owned()
            });
        }
    }

    /// The reading of something that could not be opened.
    pub(super) fn failed(error: &io::Error) -> Self {
        Self {
            problem: Some((SeedProblem::Io, error.to_string())),
            ..Self::default()
        }
    }
}

fn in_words(error: &ReadError) -> String {
    match error {
        ReadError::Io(cause) => cause.to_string(),
        other => other.to_string(),
    }
}

fn problem_of(error: &ReadError, is_nothing: bool) -> SeedProblem {
    match error {
        ReadError::Io(_) => SeedProblem::Io,
        ReadError::Entry(finding) | ReadError::File(finding) => match finding.problem {
            Problem::TooManyBytes { .. } => SeedProblem::TooLarge,
            Problem::Truncated => SeedProblem::Truncated,
            _ if is_nothing => SeedProblem::NotASitemap,
            _ => SeedProblem::Damaged,
        },
        _ => SeedProblem::Damaged,
    }
}
