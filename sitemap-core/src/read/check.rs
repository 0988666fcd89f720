//! [`check()`]: whether a file is exactly as it should be, before anyone else can read it.

use std::io::{self, BufRead};

use super::{Item, Kind, Position, Problem, ReadError, ReadFinding, Reader};
use crate::{FileSummary, Limits, Loc, extension::CustomNamespace};

/// Expected properties of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Expectation<'a> {
    /// Kind of the file.
    pub kind: Kind,
    /// The URL where it will be published; decides which URLs it may list (R58).
    pub location: &'a Loc,
    /// The most it may hold; the maximum of the protocol by default.
    pub limits: Limits,
    /// Number of its entries; any by default.
    pub entries: Option<u64>,
    /// Order of its entries; any by default.
    pub order: Order,
    /// The namespaces besides the known ones that its entries may use; none by default.
    pub custom_namespaces: &'a [CustomNamespace],
}

/// Order of the entries of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Anyhow; of duplicates, only neighbours are found.
    #[default]
    Any,
    /// By the bytes of their URLs, each one larger than the one before; so there are no duplicates.
    Ascending,
}

impl<'a> Expectation<'a> {
    /// A file of this kind at this place, within the limits of the protocol.
    pub fn new(kind: Kind, location: &'a Loc) -> Self {
        Self {
            kind,
            location,
            limits: Limits::PROTOCOL,
            entries: None,
            order: Order::Any,
            custom_namespaces: &[],
        }
    }
}

/// The first thing in a file that is not as it should be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The input failed.
    #[error("read sitemap to check it")]
    Io(#[source] io::Error),
    /// The file breaks a rule of the protocol, or is not in the form in which it would be written here.
    #[error(transparent)]
    Finding(ReadFinding),
    /// The document is another kind of file.
    #[error("file is {}, expected {}", .found.described(), .expected.described())]
    Kind {
        /// The expected kind.
        expected: Kind,
        /// The kind of the file.
        found: Kind,
    },
    /// The document lists a URL outside of its directory (R58 to R60, R64).
    #[error("{position}: {loc} is outside of {directory}, the directory of the sitemap (R58)")]
    OutOfScope {
        /// The URL.
        loc: Loc,
        /// The directory that the file covers.
        directory: String,
        /// Position of the entry.
        position: Position,
    },
    /// An index lists itself (R40).
    #[error("{position}: index lists itself (R40)")]
    ListsItself {
        /// Position of the entry.
        position: Position,
    },
    /// A URL is repeated (R26).
    #[error("{position}: {loc} is listed twice (R26)")]
    Duplicate {
        /// The URL.
        loc: Loc,
        /// Position of the second entry.
        position: Position,
    },
    /// A URL is smaller than the one before.
    #[error("{position}: {loc} follows {previous}, expected ascending URLs")]
    OutOfOrder {
        /// The URL.
        loc: Loc,
        /// The one before.
        previous: Loc,
        /// Position of the entry.
        position: Position,
    },
    /// The file has more or fewer entries than expected.
    #[error("file has {found} entries, expected {expected}")]
    Entries {
        /// The expected number.
        expected: u64,
        /// The number in the file.
        found: u64,
    },
}

/// Reads a whole file, compressed or not, and returns its summary, if it is as expected and as strict as the files of the writer.
///
/// A file passes when it is well-formed, has the right root and namespace, breaks no limit, and each entry has an absolute URL in its
/// normal form within the scope of `location`, and valid values. Valid means that both the text of the protocol and its schemas
/// accept the value. Any finding of a [`Reader`], however slight, is an error here. The exceptions concern the page and not the
/// way the file was written: [`Problem::LocShort`], [`Problem::Commas`], [`Problem::EscapedTwice`], [`Problem::EncodedEntity`]
/// and [`Problem::NeedlessEscapes`]. The summary is comparable with that of the writer.
///
/// ```
/// use sitemap_core::{Limits, Loc, UrlEntry, UrlSetWriter, read::{Expectation, Kind, check}};
///
/// let mut writer = UrlSetWriter::new(Vec::new(), Limits::default())?;
/// let _ = writer.push(&UrlEntry::new(Loc::parse("https://example.com/catalog/")?))?;
/// let (file, written) = writer.finish()?;
///
/// let place = Loc::parse("https://example.com/catalog/sitemap.xml")?;
/// assert_eq!(check(&file[..], &Expectation::new(Kind::UrlSet, &place))?, written);
/// let elsewhere = Loc::parse("https://example.com/blog/sitemap.xml")?;
/// assert!(check(&file[..], &Expectation::new(Kind::UrlSet, &elsewhere)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CheckError`] names the first thing that is wrong; [`CheckError::Io`] when the input failed.
pub fn check(
    input: impl BufRead,
    expectation: &Expectation<'_>,
) -> Result<FileSummary, CheckError> {
    let mut reader = Reader::new(input, expectation.limits)
        .with_custom_namespaces(expectation.custom_namespaces);
    let mut summary = FileSummary::default();
    let mut previous: Option<Loc> = None;
    loop {
        let item = reader.next().transpose().map_err(|error| match error {
            ReadError::Entry(finding) | ReadError::File(finding) => CheckError::Finding(finding),
            ReadError::Io(error) => CheckError::Io(error),
        });
        // The kind of the file comes first: other findings would concern the wrong kind.
        if let Some(found) = reader.kind()
            && found != expectation.kind
        {
            return Err(CheckError::Kind {
                expected: expectation.kind,
                found,
            });
        }
        let mut findings = reader.take_findings().into_iter();
        if let Some(finding) = findings.find(|finding| !is_about_the_page(&finding.problem)) {
            return Err(CheckError::Finding(finding));
        }
        let (loc, lastmod) = match item? {
            None => break,
            Some(Item::Url(entry)) => (entry.loc, entry.lastmod),
            Some(Item::Sitemap(entry)) => (entry.loc, entry.lastmod),
        };
        check_loc(
            &loc,
            previous.as_ref(),
            expectation,
            reader.entry_position(),
        )?;
        summary.count(lastmod.as_ref());
        previous = Some(loc);
    }
    summary.bytes = reader.bytes();
    match expectation.entries {
        Some(expected) if expected != summary.entries => Err(CheckError::Entries {
            expected,
            found: summary.entries,
        }),
        Some(_) | None => Ok(summary),
    }
}

/// A page such as `http://nas/` exists and is listed, although its URL is too short for the schema. So are pages whose URLs look
/// like a row of a table, have an `&amp;` because a link was escaped twice, or have needless escapes.
fn is_about_the_page(problem: &Problem) -> bool {
    matches!(
        problem,
        Problem::LocShort
            | Problem::Commas
            | Problem::EscapedTwice
            | Problem::EncodedEntity
            | Problem::NeedlessEscapes { .. }
    )
}

fn check_loc(
    loc: &Loc,
    previous: Option<&Loc>,
    expectation: &Expectation<'_>,
    position: Position,
) -> Result<(), CheckError> {
    if !expectation.location.may_list(loc) {
        return Err(CheckError::OutOfScope {
            loc: loc.clone(),
            directory: expectation.location.directory().to_owned(),
            position,
        });
    }
    if expectation.kind == Kind::Index && loc == expectation.location {
        return Err(CheckError::ListsItself { position });
    }
    let Some(previous) = previous else {
        return Ok(());
    };
    if loc == previous {
        return Err(CheckError::Duplicate {
            loc: loc.clone(),
            position,
        });
    }
    if expectation.order == Order::Ascending && loc < previous {
        return Err(CheckError::OutOfOrder {
            loc: loc.clone(),
            previous: previous.clone(),
            position,
        });
    }
    Ok(())
}
