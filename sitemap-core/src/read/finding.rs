//! What can be wrong with a file: [`Problem`], the [`Rule`] it breaks, and where it was found.

use std::{fmt, io};

use super::{Kind, MAX_DEPTH, MAX_GZIP_MEMBERS, MAX_TOKEN_BYTES, MAX_VALUE_BYTES};
use crate::{ChangeFreqError, LastModError, LocError, PriorityError, limits::NAMESPACE};

/// A rule of the protocol by its number, as listed in `RULES.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule(pub u8);

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "R{}", self.0)
    }
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Allowed, but worth knowing.
    Note,
    /// The text of the protocol and its schemas disagree, or consumers may stumble.
    Warning,
    /// Against the protocol.
    Error,
}

/// A place in a file, after decompression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u64,
    /// Bytes before it, from 0.
    pub offset: u64,
}

impl Position {
    pub(super) const START: Self = Self { line: 1, offset: 0 };
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, byte {}", self.line, self.offset)
    }
}

/// One thing that is not as the protocol wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What is wrong.
    pub problem: Problem,
    /// Where it begins.
    pub position: Position,
    /// The kind of the file, if it was known by then.
    pub kind: Option<Kind>,
}

impl Finding {
    /// The rule it breaks; several rules have a number of their own for an index.
    pub fn rule(&self) -> Rule {
        let rule = self.problem.rule();
        match self.kind {
            Some(Kind::Index) => rule_in_index(rule),
            Some(Kind::UrlSet) | None => rule,
        }
    }

    /// How much it matters.
    pub fn severity(&self) -> Severity {
        self.problem.severity()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}: {} ({})",
            self.position,
            self.problem,
            self.rule()
        )
    }
}

impl std::error::Error for Finding {}

/// Why [`Reader`](super::Reader) did not yield an entry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// One entry is left out; reading goes on with the next.
    #[error(transparent)]
    Entry(Finding),
    /// Reading ends here; the entries before it stand.
    #[error(transparent)]
    File(Finding),
    /// The input failed; reading ends here.
    #[error("read sitemap")]
    Io(#[source] io::Error),
}

impl ReadError {
    /// Whether the reader is at its end.
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Entry(_) => false,
            Self::File(_) | Self::Io(_) => true,
        }
    }
}

/// The `minLength` of a `<loc>` in both schemas.
pub(super) const MIN_SCHEMA_CHARACTERS: usize = 12;

/// What can be wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The bytes are no well-formed XML from here on.
    #[error("not well-formed: {detail}")]
    NotWellFormed {
        /// What the parser says.
        detail: String,
    },
    /// Something that well-formed XML forbids, but that can be read over.
    #[error("not well-formed: {what}")]
    IllFormed {
        /// What it is.
        what: &'static str,
    },
    /// The file ends before its root element does.
    #[error("file ends before its root element is closed")]
    Truncated,
    /// There is nothing but white space.
    #[error("file is blank, expected <urlset> or <sitemapindex>")]
    Blank,
    /// It does not begin with markup.
    #[error("file does not begin with markup, expected XML")]
    NotXml,
    /// There is white space or a comment before the XML declaration.
    #[error("XML declaration is not at the beginning of the file")]
    LateDeclaration,
    /// A document type declaration, which no sitemap needs; nothing in it is looked at.
    #[error("file has a DOCTYPE, expected none")]
    Doctype,
    /// Elements stand too deep in each other.
    #[error("elements are nested deeper than {MAX_DEPTH}")]
    TooDeep,
    /// A tag, a comment or a stretch of text without end.
    #[error("tag, comment or text is longer than {MAX_TOKEN_BYTES} bytes")]
    TokenTooLong,
    /// A byte order mark; harmless in UTF-8.
    #[error("file begins with a byte order mark")]
    ByteOrderMark,
    /// Another encoding is declared. The bytes are read as UTF-8 nevertheless.
    #[error("declared encoding is {declared}, expected UTF-8")]
    DeclaredEncoding {
        /// The name in the declaration.
        declared: String,
    },
    /// The bytes are not UTF-8.
    #[error("file is not in UTF-8")]
    NotUtf8,
    /// An `&` that begins no reference; it is read as it stands.
    #[error("ampersand is not escaped, expected &amp;")]
    BareAmpersand,
    /// The root element is neither of the two.
    #[error("root element is <{name}>, expected <urlset> or <sitemapindex>")]
    Root {
        /// Its name without prefix.
        name: String,
    },
    /// Something stands behind the root element.
    #[error("something follows the root element")]
    AfterRoot,
    /// The root element is in another namespace or in none; elements are taken by their names.
    #[error("namespace is {}, expected {NAMESPACE}", .found.as_deref().unwrap_or("missing"))]
    Namespace {
        /// The namespace, if there is one.
        found: Option<String>,
    },
    /// An element of the sitemap namespace where the protocol has none; it is skipped.
    #[error("unknown element <{name}>")]
    UnknownElement {
        /// Its name without prefix.
        name: String,
    },
    /// An attribute where the schema has none.
    #[error("unknown attribute {name}")]
    UnknownAttribute {
        /// Its name with prefix.
        name: String,
    },
    /// Text between elements.
    #[error("text outside of an element for text")]
    StrayText,
    /// An entry without a URL.
    #[error("entry has no <loc>")]
    NoLoc,
    /// An entry with several URLs.
    #[error("entry has more than one <loc>")]
    ManyLocs,
    /// An element that an entry may have once stands there again; the first one counts.
    #[error("entry has more than one <{name}>")]
    Repeated {
        /// Its name.
        name: &'static str,
    },
    /// The elements of an entry are not in the order of the schema.
    #[error(
        "<{name}> is out of order, expected loc, lastmod, changefreq, priority, then extensions"
    )]
    Order {
        /// The element that comes too late.
        name: &'static str,
    },
    /// A `<loc>` that is no URL.
    #[error("{0}")]
    Loc(LocError),
    /// White space around the text of an element; it is left out.
    #[error("<{name}> has white space around its text")]
    Padded {
        /// The element.
        name: &'static str,
    },
    /// A URL with a character that RFC 3986 forbids, or a broken escape; both are encoded.
    #[error("URL has a character that must be percent-encoded")]
    LocNotEncoded,
    /// A URL with raw characters beyond ASCII; they are encoded as UTF-8.
    #[error("URL has characters beyond ASCII that are not percent-encoded")]
    LocNotAscii,
    /// A URL that means the same as its normal form, but is not it.
    #[error("URL is not in its normal form {normal}")]
    LocNotNormal {
        /// What it is read as.
        normal: String,
    },
    /// A URL of fewer characters than the schema asks for; the text of the protocol has no such bound.
    #[error("URL has fewer than {MIN_SCHEMA_CHARACTERS} characters, which the schema refuses")]
    LocShort,
    /// A URL that was escaped twice, by its looks.
    #[error("URL seems to be escaped twice")]
    EscapedTwice,
    /// A `<lastmod>` that is no date; it is left out.
    #[error("{0}")]
    LastMod(LastModError),
    /// A time without a zone; it is read as UTC.
    #[error("time has no zone, read as UTC")]
    ZoneAssumed,
    /// A `<changefreq>` that is none; it is left out.
    #[error("{0}")]
    ChangeFreq(ChangeFreqError),
    /// A `<changefreq>` that is not in lower case.
    #[error("change frequency is not in lower case")]
    ChangeFreqCase,
    /// A `<priority>` that is none; it is left out.
    #[error("{0}")]
    Priority(PriorityError),
    /// A control character, or another that XML 1.0 forbids.
    #[error("character that XML 1.0 forbids")]
    ForbiddenCharacter,
    /// A reference to an entity that XML does not define; the value with it is left out.
    #[error("entity &{name}; is not defined")]
    UndefinedEntity {
        /// Its name.
        name: String,
    },
    /// The text of an element is too long; it is left out.
    #[error("<{name}> has more than {MAX_VALUE_BYTES} bytes of text")]
    ValueTooLong {
        /// The element.
        name: &'static str,
    },
    /// More entries than allowed.
    #[error("file has more than {limit} entries")]
    TooManyEntries {
        /// How many are allowed.
        limit: u64,
    },
    /// More bytes than allowed, after decompression.
    #[error("file has more than {limit} bytes uncompressed")]
    TooManyBytes {
        /// How many are allowed.
        limit: u64,
    },
    /// Something that is not compressed follows the compressed bytes; it is not read.
    #[error("other bytes follow the gzip stream")]
    TrailingBytes,
    /// The compressed bytes are damaged or cut short.
    #[error("gzip stream is damaged: {detail}")]
    Gzip {
        /// What the decompressor says.
        detail: String,
    },
    /// A gzip file in a gzip file; it is read.
    #[error("file is compressed twice")]
    NestedGzip,
    /// A gzip file of very many pieces.
    #[error("gzip file has more than {MAX_GZIP_MEMBERS} members")]
    TooManyMembers,
    /// A zip archive.
    #[error("file is a zip archive, expected gzip or no compression")]
    Zip,
    /// An entry of the other kind of file.
    #[error("<{name}> stands in a file of the other kind")]
    WrongEntry {
        /// Its name.
        name: &'static str,
    },
    /// An element that only a page has, in an index.
    #[error("<{name}> stands in an index")]
    NotInIndex {
        /// Its name.
        name: &'static str,
    },
    /// The file has no entry. The schemas forbid it, the text of the protocol does not.
    #[error("file has no entries")]
    NoEntries,
    /// A prefix that no declaration binds to a namespace.
    #[error("prefix {prefix} is not declared")]
    UndeclaredPrefix {
        /// The prefix.
        prefix: String,
    },
    /// An element of another namespace; it is skipped.
    #[error("extension <{name}>")]
    Extension {
        /// Its name without prefix.
        name: String,
    },
}

impl Problem {
    /// The rule for a urlset.
    fn rule(&self) -> Rule {
        Rule(match self {
            Self::NotWellFormed { .. }
            | Self::IllFormed { .. }
            | Self::Truncated
            | Self::NotXml
            | Self::LateDeclaration
            | Self::Doctype
            | Self::TooDeep
            | Self::TokenTooLong
            | Self::ValueTooLong { .. } => 1,
            Self::ByteOrderMark | Self::DeclaredEncoding { .. } | Self::NotUtf8 => 2,
            Self::BareAmpersand => 3,
            Self::Blank | Self::Root { .. } | Self::AfterRoot => 4,
            Self::Namespace { .. } => 5,
            Self::UnknownElement { .. } | Self::UnknownAttribute { .. } | Self::StrayText => 6,
            Self::NoLoc | Self::ManyLocs => 7,
            Self::Repeated { .. } | Self::Order { .. } => 8,
            Self::Loc(error) => rule_of_loc(error),
            Self::Padded { name } if *name == "loc" => 12,
            Self::Padded { name } if *name == "changefreq" => 16,
            Self::Padded { name } if *name == "priority" => 18,
            Self::Padded { .. } | Self::LastMod(_) | Self::ZoneAssumed => 13,
            Self::ChangeFreq(_) | Self::ChangeFreqCase => 16,
            Self::Priority(_) => 18,
            Self::EscapedTwice => 20,
            Self::ForbiddenCharacter => 21,
            Self::UndefinedEntity { .. } => 22,
            Self::LocNotAscii => 23,
            Self::LocNotEncoded => 24,
            Self::LocNotNormal { .. } => 26,
            Self::TooManyEntries { .. } => 27,
            Self::TooManyBytes { .. } => 28,
            Self::Gzip { .. }
            | Self::TrailingBytes
            | Self::NestedGzip
            | Self::TooManyMembers
            | Self::Zip => 29,
            Self::WrongEntry { .. } | Self::NotInIndex { .. } => 36,
            Self::NoEntries | Self::LocShort => 68,
            Self::UndeclaredPrefix { .. } => 70,
            Self::Extension { .. } => 71,
        })
    }

    fn severity(&self) -> Severity {
        match self {
            Self::ByteOrderMark | Self::LocNotNormal { .. } | Self::Extension { .. } => {
                Severity::Note
            }
            Self::Namespace { found } if found.as_deref() == Some(HISTORIC_NAMESPACE) => {
                Severity::Warning
            }
            // The schema allows 2,048 characters, one more than the text of the protocol. Of dates it allows less: no
            // precision but the day and the second, and no offset above 14 hours.
            Self::Loc(LocError::TooLong { characters: 2_048 } | LocError::UserInfo)
            | Self::LastMod(LastModError::Precision | LastModError::ZoneRange)
            | Self::LateDeclaration
            | Self::UnknownElement { .. }
            | Self::UnknownAttribute { .. }
            | Self::StrayText
            | Self::Order { .. }
            | Self::Padded { .. }
            | Self::LocNotAscii
            | Self::LocShort
            | Self::EscapedTwice
            | Self::ChangeFreqCase
            | Self::TrailingBytes
            | Self::NestedGzip
            | Self::NoEntries => Severity::Warning,
            Self::NotWellFormed { .. }
            | Self::IllFormed { .. }
            | Self::Truncated
            | Self::Blank
            | Self::NotXml
            | Self::Doctype
            | Self::TooDeep
            | Self::TokenTooLong
            | Self::DeclaredEncoding { .. }
            | Self::NotUtf8
            | Self::BareAmpersand
            | Self::Root { .. }
            | Self::AfterRoot
            | Self::Namespace { .. }
            | Self::NoLoc
            | Self::ManyLocs
            | Self::Repeated { .. }
            | Self::Loc(_)
            | Self::LocNotEncoded
            | Self::LastMod(_)
            | Self::ZoneAssumed
            | Self::ChangeFreq(_)
            | Self::Priority(_)
            | Self::ForbiddenCharacter
            | Self::UndefinedEntity { .. }
            | Self::ValueTooLong { .. }
            | Self::TooManyEntries { .. }
            | Self::TooManyBytes { .. }
            | Self::Gzip { .. }
            | Self::TooManyMembers
            | Self::Zip
            | Self::WrongEntry { .. }
            | Self::NotInIndex { .. }
            | Self::UndeclaredPrefix { .. } => Severity::Error,
        }
    }
}

/// The namespace of the protocol before it was given to sitemaps.org, in 2006.
const HISTORIC_NAMESPACE: &str = "http://www.google.com/schemas/sitemap/0.84";

fn rule_of_loc(error: &LocError) -> u8 {
    match error {
        LocError::Empty => 7,
        LocError::Padded => 12,
        LocError::NotAbsolute | LocError::Host | LocError::Port | LocError::UserInfo => 9,
        LocError::TooLong { .. } => 11,
    }
}

/// The number of the same rule for an index.
fn rule_in_index(rule: Rule) -> Rule {
    Rule(match rule.0 {
        2 => 38,
        3 => 39,
        4 | 5 => 35,
        6..=8 => 36,
        13 => 42,
        27 => 32,
        28 | 29 => 33,
        other => other,
    })
}
