//! What can be wrong with a file: [`Problem`], the [`Rule`] it breaks, and where it was found.

use std::{fmt, io};

use super::{
    ExtensionProblem, Kind, MAX_DEPTH, MAX_GZIP_MEMBERS, MAX_RECORD_BYTES, MAX_TOKEN_BYTES,
    MAX_VALUE_BYTES, names, schema_location::SchemaLocationError,
};
use crate::{ChangeFreqError, LastModError, LocError, PriorityError, limits::NAMESPACE};

/// A rule of the protocol by its number, as listed in `RULES.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule(pub u8);

impl Rule {
    /// The rule that says the same of this kind of file, where it has a number of its own.
    pub(crate) fn for_kind(self, kind: Option<Kind>) -> Self {
        match kind {
            Some(Kind::Index) => rule_in_index(self),
            Some(Kind::Text) => rule_in_text(self),
            Some(Kind::Rss | Kind::Atom) => rule_in_feed(self),
            Some(Kind::UrlSet) | None => self,
        }
    }
}

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

/// What says that something is wrong, where the text of the protocol and its schemas disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A rule of the text: of sitemaps.org, of what it refers to, or of the owner of an extension. The schema may say the same.
    Rule,
    /// Only the schema refuses it (R68); the text is silent or allows it.
    Schema,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Rule => "rule",
            Self::Schema => "schema",
        })
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
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
        self.problem.rule().for_kind(self.kind)
    }

    /// How much it matters to who reads on. The strict reading takes some of it for worse: see [`crate::validate`].
    pub fn severity(&self) -> Severity {
        match (&self.problem, self.kind) {
            // XML allows it, the rules for text files do not (R53).
            (Problem::ByteOrderMark, Some(Kind::Text)) => Severity::Warning,
            (problem, _) => problem.severity(),
        }
    }

    /// Whether a value was left out because of it. What else is wrong was forgiven: the value is there, read as it was meant.
    pub fn costs_value(&self) -> bool {
        match &self.problem {
            Problem::OfExtension(problem) => problem.costs_value(),
            problem => matches!(
                problem,
                Problem::LastMod(_)
                    | Problem::ChangeFreq(_)
                    | Problem::Priority(_)
                    | Problem::PubDate
                    | Problem::Repeated { .. }
                    | Problem::ValueTooLong { .. }
                    | Problem::UndefinedEntity { .. }
                    | Problem::NotUtf8
            ),
        }
    }

    /// Whether a rule of the text is broken, or the schema alone refuses it.
    pub fn source(&self) -> Source {
        self.problem.source()
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
    /// It does not begin with markup, and there is no URL near its beginning.
    #[error("file is neither XML nor a list of URLs")]
    NotXml,
    /// A web page in place of a sitemap: often the page for what does not exist, with the status of one that does.
    #[error("file is a web page (HTML), expected a sitemap")]
    Html,
    /// There is white space or a comment before the XML declaration.
    #[error("XML declaration is not at the beginning of the file")]
    LateDeclaration,
    /// A document type declaration, which no sitemap needs; nothing in it is looked at.
    #[error("file has a DOCTYPE, expected none")]
    Doctype,
    /// Elements stand too deep in each other.
    #[error("elements are nested deeper than {MAX_DEPTH}")]
    TooDeep,
    /// A tag or a document type that is longer than any that means something; good XML perhaps, but more than is read.
    #[error("tag is longer than {MAX_TOKEN_BYTES} bytes, which is more than is read")]
    TokenTooLong,
    /// A byte order mark; harmless in UTF-8.
    #[error("file begins with a byte order mark")]
    ByteOrderMark,
    /// Another encoding is declared, but it is not the real one, or not known. The bytes are read as UTF-8.
    #[error("declared encoding is {declared}, expected UTF-8")]
    DeclaredEncoding {
        /// The name in the declaration.
        declared: String,
    },
    /// The file is in another encoding, by its declaration or its first bytes; it is decoded.
    #[error("encoding is {}, expected UTF-8", encoding_read(declared.as_deref(), found))]
    Encoding {
        /// The name in the XML declaration, if it decided.
        declared: Option<String>,
        /// The name of the encoding in the [Encoding Standard](https://encoding.spec.whatwg.org/#names-and-labels).
        found: &'static str,
    },
    /// Bytes that mean nothing in the encoding of the file. Each is read as U+FFFD, but a value with one is left out.
    #[error("bytes mean nothing in the encoding of the file")]
    NotUtf8,
    /// Four bytes for each character, which nobody reads.
    #[error("encoding is UTF-32, expected UTF-8")]
    Utf32,
    /// An `&` that begins no reference; it is read as it stands.
    #[error("ampersand is not escaped, expected &amp;")]
    BareAmpersand,
    /// The root element is that of no sitemap and no feed.
    #[error("root element is <{name}>, expected <urlset> or <sitemapindex>")]
    Root {
        /// Its name without prefix.
        name: String,
    },
    /// Something stands before the XML declaration that is no markup of a sitemap, such as the warning of a program; it is skipped.
    #[error(
        "something stands before the XML declaration, expected it at the beginning of the file"
    )]
    BeforeDeclaration,
    /// The name of an element is in another case than the protocol has it; the element is taken. Told once for each name.
    #[error("element is <{found}>, expected <{expected}>: case counts")]
    NameCase {
        /// Its name as it stands in the file, without prefix.
        found: String,
        /// Its name in the protocol.
        expected: &'static str,
    },
    /// Something stands behind the root element. Another root element is read as well.
    #[error("something follows the root element")]
    AfterRoot,
    /// The root element is in another namespace or in none, or an element in it is that should be in the same; elements are taken by
    /// their names.
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
    /// An element of the protocol in one that has none of its name. An entry in an entry is read nevertheless, and the text of what
    /// stands in a `<loc>`.
    #[error("<{name}> stands in <{parent}>")]
    Misplaced {
        /// Its name.
        name: &'static str,
        /// The element that it is in.
        parent: &'static str,
    },
    /// An entry in an element that is skipped, or in one of an extension: it is left out with it.
    #[error("<{name}> stands in an element that can have none, and is left out with it")]
    LostEntry {
        /// Its name.
        name: &'static str,
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
    /// A URL directly in the root element; it is skipped.
    #[error("<loc> stands outside of an entry, expected <url> or <sitemap> around it")]
    LocOutsideEntry,
    /// An item of a feed without an address.
    #[error("item has no <link>")]
    NoLink,
    /// The address of an entry stands in it as text; it is taken.
    #[error("entry has its URL as text, expected <loc>")]
    LocMissing,
    /// An entry with several URLs. Each is read as an entry of its own, with the values that follow it.
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
    /// White space around the text of an element, or around the URL in a line; it is left out.
    #[error("{} has white space around its text", if *.name == "line" { "line".to_owned() } else { format!("<{name}>") })]
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
    /// A URL with a line break, a tab or another control character inside; it is encoded.
    #[error("URL has a line break, a tab or a control character inside")]
    LocBroken,
    /// A host in the letters of its language; it is read as its A-label.
    #[error("host is not in ASCII, expected its xn-- form")]
    HostNotAscii,
    /// A URL that means the same as its normal form, but is not it.
    #[error("URL is not in its normal form {normal}")]
    LocNotNormal {
        /// What it is read as.
        normal: String,
    },
    /// A URL with escapes of characters that stand for themselves (RFC 3986 section 2.3); written without them it is the same URL.
    #[error("URL has escapes that it does not need, its normal form is {normal}")]
    NeedlessEscapes {
        /// What it is compared as.
        normal: String,
    },
    /// A URL of fewer characters than the schema asks for; the text of the protocol has no such bound.
    #[error("URL has fewer than {MIN_SCHEMA_CHARACTERS} characters, which the schema refuses")]
    LocShort,
    /// A quotation mark, an apostrophe or a `>` that stands raw in a value: good XML, but the protocol asks for an entity. Told
    /// once per file.
    #[error("character {character} is not escaped, expected {}", entity_of(*.character))]
    RawCharacter {
        /// The character.
        character: char,
    },
    /// An `xsi:schemaLocation` that does not name the schema of this kind of file.
    #[error("{0}")]
    SchemaLocation(SchemaLocationError),
    /// A URL that was escaped twice, by its looks.
    #[error("URL seems to be escaped twice")]
    EscapedTwice,
    /// A URL with an entity whose `&` is percent-encoded, by its looks: entities were written first.
    #[error("URL has an entity that is percent-encoded")]
    EncodedEntity,
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
    /// A reference to an entity of HTML, which XML does not define; it is resolved.
    #[error("entity &{name}; is one of HTML, not of XML")]
    HtmlEntity {
        /// Its name.
        name: String,
    },
    /// A reference to an entity that XML does not define; the value with it is left out.
    #[error("entity &{name}; is not defined")]
    UndefinedEntity {
        /// Its name.
        name: String,
    },
    /// The text of an element, or a line, is too long; it is left out.
    #[error("{}", too_long(name))]
    ValueTooLong {
        /// The element, or `line` for a line of a text file.
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
    /// Something is wrong with an extension that search engines read, or with an own namespace.
    #[error(transparent)]
    OfExtension(ExtensionProblem),
    /// An element of a namespace that is not known; it is skipped. Only the first one is told.
    #[error("extension <{name}>")]
    Extension {
        /// Its name without prefix.
        name: String,
    },
    /// An element of another namespace in an index, whose schema has a place for none; it is skipped. Only the first one is told.
    #[error("extension <{name}> stands in an index")]
    ExtensionInIndex {
        /// Its name without prefix.
        name: String,
    },
    /// RSS 1.0 or 0.90, which the protocol does not know; it is read.
    #[error("feed is RSS 1.0, expected RSS 2.0 or Atom")]
    Rss10,
    /// An RSS feed of another version than 2.0, which is the one the protocol knows; it is read.
    #[error("feed is RSS {}, expected RSS 2.0 or Atom", .found.as_deref().unwrap_or("without a version"))]
    RssVersion {
        /// The version, if it says one.
        found: Option<String>,
    },
    /// An Atom feed in another namespace than those of 1.0 and 0.3, or in none; elements are taken by their names.
    #[error("namespace is {}, expected http://www.w3.org/2005/Atom", .found.as_deref().unwrap_or("missing"))]
    AtomNamespace {
        /// The namespace, if there is one.
        found: Option<String>,
    },
    /// A relative link in a feed; it is resolved.
    #[error("link is relative, expected {resolved}")]
    RelativeLink {
        /// What it is read as.
        resolved: String,
    },
    /// An item of RSS without `<link>`; its `<guid>` is taken.
    #[error("item has no <link>, its <guid> is taken")]
    GuidAsLink,
    /// A `<pubDate>` that is no date; it is left out.
    #[error("not an RFC 822 date, expected one such as Mon, 02 Mar 2026 04:00:11 GMT")]
    PubDate,
    /// A `<pubDate>` that is not quite as it should be: another zone or comma, a name written out, a wrong day of the week; it is read.
    #[error("date is not as RFC 822 wants it, expected one such as Mon, 02 Mar 2026 04:00:11 GMT")]
    PubDateNear,
    /// A `<pubDate>` in the form of other formats; it is read.
    #[error("date is in W3C form, expected RFC 822 such as Mon, 02 Mar 2026 04:00:11 GMT")]
    PubDateForm,
    /// A date of Atom 1.0 that is short of time, seconds or upper case; it is read as far as it says something.
    #[error("date is not as RFC 3339 wants it, expected one such as 2026-03-02T04:00:11Z")]
    AtomDateForm,
    /// Blank lines in a text file.
    #[error("line is blank")]
    BlankLine,
    /// The first line of a text file is no URL; it is left out.
    #[error("first line is not a URL, expected no header")]
    Header,
    /// The last line of a text file is no URL; it is left out.
    #[error("last line is not a URL, expected no footer")]
    Footer,
    /// A comment in a text file; it is left out.
    #[error("line is a comment, expected a URL")]
    TextComment,
    /// A line of a text file has more columns than the one of the URL, which is taken.
    #[error("line has more than a URL in it")]
    Columns,
    /// A text file is a table; nothing in it is taken for a URL.
    #[error("this is the header line of a table, expected a file with one URL per line")]
    Table,
    /// A line of a text file is a URL, but looks like one with more columns; it is taken as it stands.
    #[error(
        "line may have more than a URL in it: what stands behind a comma looks like a date, a frequency or a priority"
    )]
    Commas,
}

impl Problem {
    /// The rule for a urlset.
    fn rule(&self) -> Rule {
        self.judgement().0
    }

    fn severity(&self) -> Severity {
        self.judgement().1
    }

    /// The rule for a urlset, and how much it matters.
    fn judgement(&self) -> (Rule, Severity) {
        use Severity::{Error, Note, Warning};
        let (rule, severity) = match self {
            Self::OfExtension(problem) => return (problem.rule(), problem.severity()),
            Self::LateDeclaration => (1, Warning),
            Self::NotWellFormed { .. }
            | Self::IllFormed { .. }
            | Self::Truncated
            | Self::NotXml
            | Self::BeforeDeclaration
            | Self::Doctype
            | Self::TooDeep
            | Self::TokenTooLong
            | Self::ValueTooLong { .. } => (1, Error),
            Self::ByteOrderMark => (2, Note),
            Self::DeclaredEncoding { .. } | Self::Encoding { .. } | Self::NotUtf8 | Self::Utf32 => {
                (2, Error)
            }
            Self::BareAmpersand => (3, Error),
            Self::Blank | Self::Html | Self::Root { .. } | Self::AfterRoot => (4, Error),
            Self::NameCase { expected, .. } if names::is_root(expected) => (4, Error),
            Self::Namespace { found } if found.as_deref() == Some(HISTORIC_NAMESPACE) => {
                (5, Warning)
            }
            Self::Namespace { .. } => (5, Error),
            Self::UnknownElement { .. } | Self::UnknownAttribute { .. } | Self::StrayText => {
                (6, Warning)
            }
            Self::NameCase { .. }
            | Self::LocOutsideEntry
            | Self::Misplaced { .. }
            | Self::LostEntry { .. } => (6, Error),
            Self::NoLoc | Self::NoLink | Self::LocMissing | Self::ManyLocs => (7, Error),
            Self::Order { .. } => (8, Warning),
            Self::Repeated { .. } => (8, Error),
            // The schema allows 2,048 characters, one more than the text of the protocol.
            Self::Loc(error @ (LocError::TooLong { characters: 2_048 } | LocError::UserInfo)) => {
                (rule_of_loc(error), Warning)
            }
            Self::Loc(error) => (rule_of_loc(error), Error),
            Self::Padded { name } => (rule_of_padded(name), Warning),
            Self::LocBroken => (12, Error),
            // The schema allows less than the text: no precision but the day and the second, and no offset above 14 hours.
            Self::LastMod(LastModError::Precision | LastModError::ZoneRange) => (13, Warning),
            Self::LastMod(_) | Self::ZoneAssumed => (13, Error),
            Self::ChangeFreqCase => (16, Warning),
            Self::ChangeFreq(_) => (16, Error),
            Self::Priority(_) => (18, Error),
            Self::RawCharacter { .. } => (20, Note),
            Self::EscapedTwice => (20, Warning),
            Self::ForbiddenCharacter => (21, Error),
            Self::HtmlEntity { .. } | Self::UndefinedEntity { .. } => (22, Error),
            Self::LocNotAscii => (23, Warning),
            Self::HostNotAscii => (24, Note),
            Self::LocNotEncoded => (24, Error),
            Self::EncodedEntity => (25, Warning),
            Self::LocNotNormal { .. } | Self::NeedlessEscapes { .. } => (26, Note),
            Self::TooManyEntries { .. } => (27, Error),
            Self::TooManyBytes { .. } => (28, Error),
            Self::TrailingBytes | Self::NestedGzip => (29, Warning),
            Self::Gzip { .. } | Self::TooManyMembers | Self::Zip => (29, Error),
            Self::WrongEntry { .. } | Self::NotInIndex { .. } => (36, Error),
            Self::Rss10 | Self::RssVersion { .. } => (45, Note),
            Self::AtomNamespace { .. } => (45, Error),
            Self::RelativeLink { .. } | Self::GuidAsLink => (46, Warning),
            Self::PubDateNear => (47, Warning),
            Self::PubDate | Self::PubDateForm | Self::AtomDateForm => (47, Error),
            Self::BlankLine => (50, Warning),
            Self::Commas => (54, Warning),
            Self::TextComment | Self::Columns | Self::Table => (54, Error),
            Self::Header | Self::Footer => (55, Error),
            Self::NoEntries | Self::LocShort => (68, Warning),
            Self::SchemaLocation(_) => (69, Warning),
            Self::UndeclaredPrefix { .. } => (70, Error),
            Self::Extension { .. } => (71, Note),
            Self::ExtensionInIndex { .. } => (71, Warning),
        };
        (Rule(rule), severity)
    }

    /// Whether the schema alone refuses it; everything else breaks a rule that is written down.
    fn source(&self) -> Source {
        if let Self::OfExtension(problem) = self {
            return problem.source();
        }
        let is_schema = matches!(
            self,
            Self::UnknownElement { .. }
                | Self::UnknownAttribute { .. }
                | Self::StrayText
                | Self::Order { .. }
                | Self::LastMod(LastModError::Precision | LastModError::ZoneRange)
                | Self::LocShort
                | Self::NoEntries
                | Self::Extension { .. }
                | Self::ExtensionInIndex { .. }
        );
        if is_schema {
            Source::Schema
        } else {
            Source::Rule
        }
    }
}

/// The namespace of the protocol before it was given to sitemaps.org, in 2006.
const HISTORIC_NAMESPACE: &str = "http://www.google.com/schemas/sitemap/0.84";

/// An encoding by its declared name and the one it is read by, which differ where the web took one for the other.
fn encoding_read(declared: Option<&str>, found: &str) -> String {
    match declared {
        Some(declared) if !declared.eq_ignore_ascii_case(found) => {
            format!("{declared} (read as {found})")
        }
        Some(_) | None => found.to_owned(),
    }
}

/// What the protocol writes for a character (R20).
fn too_long(name: &str) -> String {
    if name == "line" {
        format!("line has more than {} KiB", MAX_RECORD_BYTES / 1024)
    } else {
        format!("<{name}> has more than {MAX_VALUE_BYTES} bytes of text")
    }
}

fn entity_of(character: char) -> &'static str {
    match character {
        '"' => "&quot;",
        '\'' => "&apos;",
        '>' => "&gt;",
        _ => "an entity",
    }
}

fn rule_of_padded(name: &str) -> u8 {
    match name {
        "line" => 54,
        "loc" => 12,
        "changefreq" => 16,
        "priority" => 18,
        _ => 13,
    }
}

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

/// The number of the same rule for a text file.
fn rule_in_text(rule: Rule) -> Rule {
    Rule(match rule.0 {
        2 => 53,
        1 | 7 | 9 => 51,
        12 | 21 => 54,
        27 | 28 => 52,
        29 => 56,
        58 => 57,
        other => other,
    })
}

/// The number of the same rule for a feed.
fn rule_in_feed(rule: Rule) -> Rule {
    Rule(match rule.0 {
        6 => 45,
        7 | 9 | 12 => 46,
        13 => 47,
        58 => 49,
        other => other,
    })
}
