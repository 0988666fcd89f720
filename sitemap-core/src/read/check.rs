//! [`check()`]: whether a file is exactly as it should be, before anyone else can read it.

use std::io::{self, BufRead};

use super::{Finding, Item, Kind, Position, Problem, ReadError, Reader};
use crate::{FileSummary, Limits, Loc, extension::OwnNamespace};

/// What a file has to be.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Expectation<'a> {
    /// What kind of file it is.
    pub kind: Kind,
    /// Where it will be published; decides what it may list (R58).
    pub location: &'a Loc,
    /// The most it may hold; the maximum of the protocol by default.
    pub limits: Limits,
    /// How many entries it holds; any number by default.
    pub entries: Option<u64>,
    /// How its entries are ordered; anyhow by default.
    pub order: Order,
    /// The namespaces besides the known ones that its entries may use; none by default.
    pub own_namespaces: &'a [OwnNamespace],
}

/// How the entries of a file are ordered.
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
            own_namespaces: &[],
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
    Finding(Finding),
    /// It is another kind of file.
    #[error("file is {}, expected {}", .found.described(), .expected.described())]
    Kind {
        /// What was expected.
        expected: Kind,
        /// What the file is.
        found: Kind,
    },
    /// It lists a URL outside of its directory (R58 to R60, R64).
    #[error("{position}: {loc} is outside of {directory}, the directory of the sitemap (R58)")]
    OutOfScope {
        /// The URL.
        loc: Loc,
        /// What the file covers.
        directory: String,
        /// Where the entry begins.
        position: Position,
    },
    /// An index lists itself (R40).
    #[error("{position}: index lists itself (R40)")]
    ListsItself {
        /// Where the entry begins.
        position: Position,
    },
    /// A URL stands there again (R26).
    #[error("{position}: {loc} is listed twice (R26)")]
    Duplicate {
        /// The URL.
        loc: Loc,
        /// Where the second entry begins.
        position: Position,
    },
    /// A URL is smaller than the one before.
    #[error("{position}: {loc} stands behind {previous}, expected ascending URLs")]
    OutOfOrder {
        /// The URL.
        loc: Loc,
        /// The one before.
        previous: Loc,
        /// Where the entry begins.
        position: Position,
    },
    /// The file has more or fewer entries than expected.
    #[error("file has {found} entries, expected {expected}")]
    Entries {
        /// What was expected.
        expected: u64,
        /// What the file has.
        found: u64,
    },
}

/// Reads a whole file, compressed or not, and says what it holds, if it is as expected and as strict as our own.
///
/// It passes when it is well-formed, has the right root and namespace, breaks no limit, and each entry has an absolute URL in its
/// normal form within the scope of `location`, and values that both the text of the protocol and its schemas accept. Anything a
/// [`Reader`] would report, however slight, is an error here, but for [`Problem::LocShort`], [`Problem::Commas`],
/// [`Problem::EscapedTwice`], [`Problem::EncodedEntity`] and [`Problem::NeedlessEscapes`], which are about the page and not about how it was written. The summary is the one the writer gave, so
/// the two can be compared.
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
    let mut reader =
        Reader::new(input, expectation.limits).with_own_namespaces(expectation.own_namespaces);
    let mut summary = FileSummary::default();
    let mut previous: Option<Loc> = None;
    loop {
        let item = reader.next().transpose().map_err(|error| match error {
            ReadError::Entry(finding) | ReadError::File(finding) => CheckError::Finding(finding),
            ReadError::Io(error) => CheckError::Io(error),
        });
        // What the file is comes first: everything else would be said about the wrong thing.
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

/// A page such as `http://nas/` exists and is listed, although the schema has no room for its URL, and so does one whose URL looks
/// like a row of a table, or has an `&amp;` of its own because a link to it was escaped twice, or escapes that it does not need.
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
