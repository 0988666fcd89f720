//! [`Problem`]: the table of all defects of a document or a set of them, with rule, severity, source, text and help. A new problem
//! is one row there and one place where it is found.

mod rule;

pub use rule::{Rule, Severity, Source};

use std::fmt;

use super::{
    Kind, MAX_DEPTH, MAX_GZIP_MEMBERS, MAX_RECORD_BYTES, MAX_TOKEN_BYTES, MAX_VALUE_BYTES,
    names::is_root_name, schema_location::SchemaLocationError,
};
use crate::{
    ChangeFreqError, LastMod, LastModError, Loc, LocError, PriorityError,
    extension::{
        Extension, ExtensionError, MAX_ENTRY_BYTES, MAX_NEWS_PER_FILE, MAX_TEXT_CHARACTERS,
        TextError, ValueProblem,
    },
    limits::{MIN_LOC_CHARACTERS, NAMESPACE},
};

/// Each row is a problem with its fields: the rule that it breaks in a urlset, its severity, `Schema` where the schema alone
/// refuses it, and its text. Help is added where more can be advised than by the rule.
macro_rules! problems {
    ($(
        $(#[$doc:meta])*
        $name:ident $({ $($field:ident: $type:ty),+ })? $(($($inner:ty),+))? = $rule:literal $severity:ident $($source:ident)?,
            $text:literal $([$($argument:tt)+])? $(=> $help:literal)?;
    )*) => {
        /// Defects of a document, or of a set of them.
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        #[non_exhaustive]
        pub enum Problem {
            $(
                $(#[$doc])*
                #[error($text $(, $($argument)+)?)]
                $name $({ $(#[doc = "The value that the text shows in its place."] $field: $type),+ })? $(($($inner),+))?,
            )*
        }

        /// Rule and severity of each row.
        #[cfg(test)]
        pub(crate) const ROWS: &[(u8, Severity)] = &[$(($rule, Severity::$severity)),*];

        impl Problem {
            /// Rule, severity and source of its row.
            fn row(&self) -> (u8, Severity, Source) {
                match self {
                    $(Self::$name { .. } => ($rule, Severity::$severity, source_of_row!($($source)?)),)*
                }
            }

            /// The help of its row.
            fn usual_help(&self) -> Option<&'static str> {
                match self {
                    $(Self::$name { .. } => help_of_row!($($help)?),)*
                }
            }
        }
    };
}

macro_rules! source_of_row {
    () => {
        Source::Rule
    };
    ($source:ident) => {
        Source::$source
    };
}

macro_rules! help_of_row {
    () => {
        None
    };
    ($help:literal) => {
        Some($help)
    };
}

problems! {
    /// The bytes are not well-formed XML from here on.
    NotWellFormed { detail: String } = 1 Error, "not well-formed: {detail}";
    /// Something that well-formed XML forbids, but that can be read over.
    IllFormed { what: &'static str } = 1 Error, "not well-formed: {what}";
    /// The file ends before its root element does.
    Truncated = 1 Error, "file ends before its root element is closed";
    /// The file has only white space.
    Blank = 4 Error, "file is blank, expected <urlset> or <sitemapindex>";
    /// The file does not begin with markup, and there is no URL near its beginning.
    NotXml = 1 Error, "file is neither XML nor a list of URLs";
    /// A web page in place of a sitemap: often the page for a missing URL, with status 200.
    Html = 4 Error, "file is a web page (HTML), expected a sitemap";
    /// There is white space or a comment before the XML declaration.
    LateDeclaration = 1 Warning, "XML declaration is not at the beginning of the file";
    /// A document type declaration, which no sitemap needs; it is skipped.
    Doctype = 1 Error, "file has a DOCTYPE, expected none";
    /// Elements are nested too deep.
    TooDeep = 1 Error, "elements are nested deeper than {MAX_DEPTH}";
    /// A tag, text or comment that is longer than any that means something; good XML perhaps, but more than is read.
    TokenTooLong = 1 Error, "tag, text or comment is longer than {MAX_TOKEN_BYTES} bytes, which is more than is read";
    /// A byte order mark; harmless in UTF-8.
    ByteOrderMark = 2 Note, "file begins with a byte order mark";
    /// Another encoding is declared, but it is not the real one, or not known. The bytes are read as UTF-8.
    DeclaredEncoding { declared: String } = 2 Error, "declared encoding is {declared}, expected UTF-8";
    /// The file is in another encoding, by its declaration or its first bytes; it is decoded.
    Encoding { declared: Option<String>, found: &'static str } = 2 Error, "encoding is {}, expected UTF-8" [encoding_read(declared.as_deref(), found)];
    /// Bytes that mean nothing in the encoding of the file. Each is read as U+FFFD, but a value with one is left out.
    NotUtf8 = 2 Error, "bytes mean nothing in the encoding of the file";
    /// Four bytes for each character, which no reader supports.
    Utf32 = 2 Error, "encoding is UTF-32, expected UTF-8";
    /// An `&` that does not begin a reference; it is read as it is.
    BareAmpersand = 3 Error, "ampersand is not escaped, expected &amp;";
    /// The root element belongs neither to a sitemap nor to a feed.
    Root { name: String } = 4 Error, "root element is <{name}>, expected <urlset> or <sitemapindex>";
    /// Something before the XML declaration that is not markup of a sitemap, such as a PHP warning; it is skipped.
    BeforeDeclaration = 1 Error, "something is before the XML declaration, expected it at the beginning of the file";
    /// The name of an element is in another case than the protocol has it; the element is taken. Reported once for each name.
    NameCase { found: String, expected: &'static str } = 6 Error, "element is <{found}>, expected <{expected}>: case counts";
    /// Something follows the root element. Another root element is read as well.
    AfterRoot = 4 Error, "something follows the root element";
    /// The root element is in another namespace or in none, or an element in it is that should be in the same; elements are taken by
    /// their names.
    Namespace { found: Option<String> } = 5 Error, "namespace is {}, expected {NAMESPACE}" [.found.as_deref().unwrap_or("missing")];
    /// An element of the sitemap namespace that the protocol does not define; it is skipped.
    UnknownElement { name: String } = 6 Warning Schema, "unknown element <{name}>";
    /// An element of the protocol in the wrong parent. An entry in an entry is read nevertheless, and so is the text of an
    /// element in a `<loc>`.
    Misplaced { name: &'static str, parent: &'static str } = 6 Error, "<{name}> is not allowed in <{parent}>";
    /// An entry in an element that is skipped, or in one of an extension: it is left out with it.
    LostEntry { name: &'static str } = 6 Error, "<{name}> is in an element that may not contain it, and is left out with that element";
    /// An attribute that the schema does not allow.
    UnknownAttribute { name: String } = 6 Warning Schema, "unknown attribute {name}";
    /// Text between elements.
    StrayText = 6 Warning Schema, "text outside of an element for text";
    /// An entry without a URL.
    NoLoc = 7 Error, "entry has no <loc>";
    /// A URL directly in the root element; it is skipped.
    LocOutsideEntry = 6 Error, "<loc> is outside of an entry, expected <url> or <sitemap> around it";
    /// An item of a feed without an address.
    NoLink = 7 Error, "item has no <link>";
    /// The URL of an entry is text in it; it is read.
    LocMissing = 7 Error, "entry has its URL as text, expected <loc>";
    /// An entry with several URLs. Each is read as an entry of its own, with the values that follow it.
    ManyLocs = 7 Error, "entry has more than one <loc>";
    /// An element that an entry may have once is repeated; the first one counts.
    Repeated { name: &'static str } = 8 Error, "entry has more than one <{name}>";
    /// The elements of an entry are not in the order of the schema.
    Order { name: &'static str } = 8 Warning Schema, "<{name}> is out of order, expected loc, lastmod, changefreq, priority, then extensions";
    /// A `<loc>` that is not a URL.
    Loc(LocError) = 9 Error, "{0}";
    /// White space around the text of an element, or around the URL in a line; it is left out.
    Padded { name: &'static str } = 12 Warning, "{} has white space around its text" [if *.name == "line" { "line".to_owned() } else { format!("<{name}>") }];
    /// A URL with a character that RFC 3986 forbids, or a broken escape; both are encoded.
    LocNotEncoded = 24 Error, "URL has a character that must be percent-encoded";
    /// A URL with raw characters beyond ASCII; they are encoded as UTF-8.
    LocNotAscii = 23 Warning, "URL has characters beyond ASCII that are not percent-encoded";
    /// A URL with a line break, a tab or another control character inside; it is encoded.
    LocBroken = 12 Error, "URL has a line break, a tab or a control character inside";
    /// A host in the letters of its language; it is read as its A-label.
    HostNotAscii = 24 Note, "host is not in ASCII, expected its xn-- form";
    /// A URL that means the same as its normal form, but is not it.
    LocNotNormal { normal: String } = 26 Note, "URL is not in its normal form {normal}";
    /// A URL with escapes of characters that represent themselves (RFC 3986 section 2.3); written without them it is the same URL.
    NeedlessEscapes { normal: String } = 26 Note, "URL has escapes that it does not need, its normal form is {normal}";
    /// A URL of fewer characters than the schema asks for; the text of the protocol has no such bound.
    LocShort = 68 Warning Schema, "URL has fewer than {MIN_LOC_CHARACTERS} characters, which the schema refuses";
    /// An unescaped quotation mark, apostrophe or `>` in a value: well-formed XML, but the protocol requires an entity. It is
    /// reported once per file.
    RawCharacter { character: char } = 20 Note, "character {character} is not escaped, expected {}" [entity_of(*.character)];
    /// An `xsi:schemaLocation` that does not name the schema of this kind of file.
    SchemaLocation(SchemaLocationError) = 69 Warning, "{0}";
    /// A URL that was escaped twice, by its looks.
    EscapedTwice = 20 Warning, "URL seems to be escaped twice";
    /// A URL with an entity whose `&` is percent-encoded; apparently entities were written before percent-encoding.
    EncodedEntity = 25 Warning, "URL has an entity that is percent-encoded";
    /// A `<lastmod>` that is not a date; it is left out.
    LastMod(LastModError) = 13 Error, "{0}";
    /// A time without a zone; it is read as UTC.
    ZoneAssumed = 13 Error, "time has no zone, read as UTC";
    /// A `<changefreq>` with an unknown value; it is left out.
    ChangeFreq(ChangeFreqError) = 16 Error, "{0}";
    /// A `<changefreq>` that is not in lower case.
    ChangeFreqCase = 16 Warning, "change frequency is not in lower case";
    /// A `<priority>` that is not a priority; it is left out.
    Priority(PriorityError) = 18 Error, "{0}";
    /// A control character, or another that XML 1.0 forbids.
    ForbiddenCharacter = 21 Error, "character that XML 1.0 forbids";
    /// A reference to an entity of HTML, which XML does not define; it is resolved.
    HtmlEntity { name: String } = 22 Error, "entity &{name}; is one of HTML, not of XML";
    /// A reference to an entity that XML does not define; the value with it is left out.
    UndefinedEntity { name: String } = 22 Error, "entity &{name}; is not defined";
    /// The text of an element, or a line, is too long; it is left out.
    ValueTooLong { name: &'static str } = 1 Error, "{}" [too_long(name)];
    /// More entries than allowed.
    TooManyEntries { limit: u64 } = 27 Error, "file has more than {limit} entries";
    /// More bytes than allowed, after decompression.
    TooManyBytes { limit: u64 } = 28 Error, "file has more than {limit} bytes uncompressed";
    /// Something that is not compressed follows the compressed bytes; it is not read.
    TrailingBytes = 29 Warning, "other bytes follow the gzip stream";
    /// The compressed bytes are damaged or cut short.
    Gzip { detail: String } = 29 Error, "gzip stream is damaged: {detail}";
    /// A gzip file in a gzip file; it is read.
    NestedGzip = 29 Warning, "file is compressed twice";
    /// A gzip file of very many pieces.
    TooManyMembers = 29 Error, "gzip file has more than {MAX_GZIP_MEMBERS} members";
    /// A zip archive.
    Zip = 29 Error, "file is a zip archive, expected gzip or no compression";
    /// An entry of the other kind of file.
    WrongEntry { name: &'static str } = 36 Error, "<{name}> is in a file of the other kind";
    /// An element that only a page has, in an index.
    NotInIndex { name: &'static str } = 36 Error, "<{name}> is not allowed in an index";
    /// The file has no entry. The schemas forbid it, the text of the protocol does not.
    NoEntries = 68 Warning Schema, "file has no entries";
    /// A prefix that no declaration binds to a namespace.
    UndeclaredPrefix { prefix: String } = 70 Error, "prefix {prefix} is not declared";

    // Extensions, as far as they can be read.
    /// The namespace of an extension is not spelled as it should be; reported once for each extension.
    ExtensionNamespace { found: String, extension: Extension } = 71 Error, "namespace is {found}, expected {}" [.extension.namespace()];
    /// A namespace is declared below the root; reported once.
    DeclaredBelowRoot = 70 Note, "namespace is declared below the root element";
    /// An element that search engines dropped, or that only its schema defines; reported once for each.
    Retired { name: &'static str } = 71 Note, "<{name}> is not read by search engines any more, leave it out";
    /// An element that the extension does not have; it is skipped.
    UnknownPart { name: String, parent: &'static str } = 71 Warning Schema, "unknown element <{name}> in <{parent}>";
    /// An element in the root element, beside the entries; it is skipped.
    OutsideEntry { name: String } = 71 Warning, "<{name}> is outside of <url>, where it is ignored";
    /// An attribute that the element does not have.
    UnknownPartAttribute { name: String, element: &'static str } = 71 Warning Schema, "unknown attribute {name} of <{element}>";
    /// The elements are not in the order of their schema.
    PartOrder { name: &'static str } = 71 Warning Schema, "<{name}> is out of the order of its schema";
    /// An element that may occur once is repeated; the first one counts.
    RepeatedPart { name: &'static str } = 71 Error, "more than one <{name}>";
    /// There are more elements of a kind than allowed; the first ones count.
    TooManyParts { name: &'static str, limit: usize } = 71 Error, "more than {limit} <{name}>";
    /// An element lacks a required part; it is left out.
    MissingPart { what: &'static str, element: &'static str } = 71 Error, "<{element}> has no {what}";
    /// A value cannot be used; it is left out.
    PartValue { name: &'static str, problem: ValueProblem } = 71 Error, "{name}: {problem}";
    /// A time without a zone; it is read as UTC.
    PartZoneAssumed { name: &'static str } = 71 Error, "{name}: time has no zone, read as UTC";
    /// White space around a value that is not free text; it is left out.
    PartPadded { name: &'static str } = 71 Warning, "{name} has white space around its value";
    /// Something contradicts the entry, or there is too much of it; it is left out.
    RefusedPart(ExtensionError) = 71 Error, "{0}";
    /// The entry has more than a reader takes; the rest of its extensions is left out.
    ExtensionsTooLarge = 71 Warning, "extensions of the entry have more than {MAX_ENTRY_BYTES} bytes";
    /// The file has more articles than allowed; reported once.
    TooManyNews = 71 Error, "file has more than {MAX_NEWS_PER_FILE} <news:news>";

    /// An element of a namespace that is not known; it is skipped. Only the first is reported.
    Extension { name: String } = 71 Note Schema, "extension <{name}>";
    /// An element of another namespace in an index, whose schema allows none; it is skipped. Only the first is reported.
    ExtensionInIndex { name: String } = 71 Warning Schema, "extension <{name}> is not allowed in an index";
    /// RSS 1.0 or 0.90, which the protocol does not know; it is read.
    Rss10 = 45 Note, "feed is RSS 1.0, expected RSS 2.0 or Atom";
    /// An RSS feed of another version than 2.0, the version of the protocol; it is read.
    RssVersion { found: Option<String> } = 45 Note, "feed is RSS {}, expected RSS 2.0 or Atom" [.found.as_deref().unwrap_or("without a version")];
    /// An Atom feed in another namespace than those of 1.0 and 0.3, or in none; elements are taken by their names.
    AtomNamespace { found: Option<String> } = 45 Error, "namespace is {}, expected http://www.w3.org/2005/Atom" [.found.as_deref().unwrap_or("missing")];
    /// A relative link in a feed; it is resolved.
    RelativeLink { resolved: String } = 46 Warning, "link is relative, expected {resolved}";
    /// An item of RSS without `<link>`; its `<guid>` is taken.
    GuidAsLink = 46 Warning, "item has no <link>, its <guid> is taken";
    /// A `<pubDate>` that is not a date; it is left out.
    PubDate = 47 Error, "not an RFC 822 date, expected one such as Mon, 02 Mar 2026 04:00:11 GMT";
    /// A `<pubDate>` that is not quite as it should be: another zone or comma, a name written out, a wrong day of the week; it is read.
    PubDateNear = 47 Warning, "date is not as RFC 822 wants it, expected one such as Mon, 02 Mar 2026 04:00:11 GMT";
    /// A `<pubDate>` in the form of other formats; it is read.
    PubDateForm = 47 Error, "date is in W3C form, expected RFC 822 such as Mon, 02 Mar 2026 04:00:11 GMT";
    /// A date of Atom 1.0 without time or seconds, or in lower case; it is read as far as possible.
    AtomDateForm = 47 Error, "date is not as RFC 3339 wants it, expected one such as 2026-03-02T04:00:11Z";
    /// Blank lines in a text file.
    BlankLine = 50 Warning, "line is blank";
    /// The first line of a text file is not a URL; it is left out.
    Header = 55 Error, "first line is not a URL, expected no header";
    /// The last line of a text file is not a URL; it is left out.
    Footer = 55 Error, "last line is not a URL, expected no footer";
    /// A comment in a text file; it is left out.
    TextComment = 54 Error, "line is a comment, expected a URL";
    /// A line of a text file has more columns than the one of the URL, which is taken.
    Columns = 54 Error, "line has more than a URL in it";
    /// A text file is a table; no URL is read from it.
    Table = 54 Error, "this is the header line of a table, expected a file with one URL per line";
    /// A line of a text file is a URL, but looks like one with more columns; it is taken as it is.
    Commas = 54 Warning, "line may have more than a URL in it: the text after a comma looks like a date, a frequency or a priority";

    // Problems that only the strict reading finds.
    /// A list over the limits, which has to be divided; reported beside [`TooManyEntries`](Self::TooManyEntries) or
    /// [`TooManyBytes`](Self::TooManyBytes).
    NeedsSeveral { amount: u64, unit: &'static str, sitemaps: u64 } = 30 Note, "{amount} {unit} need at least {sitemaps} sitemaps, and an index that lists them";
    /// A URL of another scheme than the sitemap, or than the first entry when its place is not known.
    Scheme { expected: String, missing: Option<ProofLine> } = 59 Error, "URL has another scheme than {expected}";
    /// A URL of another host.
    Host { expected: String, missing: Option<ProofLine> } = 60 Error, "URL is of another host than {expected}";
    /// A URL of another port.
    Port { expected: String, missing: Option<ProofLine> } = 64 Error, "URL has another port than {expected}";
    /// Hosts that differ only in `www.`; reported once per document, beside [`Host`](Self::Host).
    OnlyWww { expected: String, found: String } = 60 Note, "{found} and {expected} differ in \"www.\" only, but are two hosts";
    /// A URL outside of the directory of the sitemap.
    OutOfScope { directory: String, covering: String } = 58 Error, "URL is outside of {directory}, the directory of the sitemap";
    /// URLs that search engines drop because they may not be listed where they are; reported once per document.
    Dropped { count: u64, of: u64 } = 61 Note, "{}" [dropped(*count, *of)];
    /// A sitemap that lists URLs of another host, without a known proof that allows it; reported once per host.
    Unproven { origin: String, line: ProofLine, is_alone: bool } = 65 Note, "nothing proves that this sitemap may list URLs of {origin}";
    /// The sitemap lists URLs of another host, whose robots.txt points to it.
    Proven { origin: String, robots: Loc } = 67 Note, "URLs of {origin} are allowed here: {robots} points to this sitemap"
        => "keep the line: the sitemap is valid as long as that robots.txt has it";
    /// A sitemap that lists the URLs of several hosts, each of which points to it.
    SecondHost { first: String } = 66 Error, "sitemap lists URLs of {first} and of another host";
    /// An index that lists a sitemap of another origin, without proof.
    ChildElsewhere { expected: String, missing: Option<ProofLine> } = 37 Error, "sitemap is not on {expected}, the site of its index";
    /// An index that lists a sitemap outside of its directory, which Google refuses.
    ChildAbove { directory: String } = 37 Warning, "sitemap is outside of {directory}, the directory of its index";
    /// A sitemap that is not in the root directory.
    NotAtRoot { directory: String } = 62 Note, "sitemap is in {directory} and can list no URL outside of it";
    /// A sitemap that was reached through a redirect from another directory or origin.
    Moved { requested: Loc } = 58 Warning, "sitemap was reached by a redirect from {requested}; what counts is its final place";
    /// A date in the future.
    Future { date: String } = 14 Warning, "date {date} is in the future";
    /// A date before there was a web.
    Ancient { date: String } = 14 Warning, "date {date} is older than the web";
    /// The `lastmod` of all pages is nearly the same time.
    AllAtOnce { count: u64, lastmod: LastMod } = 14 Note, "all {count} pages have dates within ten minutes, the last is {lastmod}: perhaps a deploy";
    /// An index with many sitemaps that lack a `lastmod`.
    Undated { count: u64, of: u64 } = 43 Note, "{}" [undated(*count, *of)];
    /// An index that robots.txt does not name although it names another one of the same site.
    UnnamedIndex { robots: Loc, index: Loc } = 34 Note, "{robots} names another index of this site, but not this one";
    /// The `changefreq` of all pages is "always" or "hourly".
    AllBusy { count: u64 } = 17 Note, "all {count} pages have the frequency always or hourly";
    /// Every page has the same priority.
    EqualPriorities { count: u64 } = 19 Note, "all {count} pages have the same priority";
    /// A URL that the same document lists before.
    Duplicate { line: u64 } = 26 Warning, "URL is listed before, in line {line}";
    /// A URL that another document lists with other metadata.
    DuplicateElsewhere { other: String } = 26 Warning, "URL is listed with other metadata in {other}";
    /// An index that lists itself.
    ListsItself = 40 Error, "index lists itself";
    /// An index that lists an index.
    NestedIndex { child: String } = 40 Error, "index lists the index {child}";
    /// An index that leads back to itself through others.
    Cycle { child: String } = 40 Error, "index lists the index {child}, which leads back to it";
    /// A sitemap that an index lists, but that cannot be had.
    ChildMissing { why: String } = 40 Error, "listed sitemap cannot be read: {why}"
        => "publish the sitemap, or take it out of the index";
    /// A sitemap that no index lists, although there is one.
    Unlisted = 31 Note, "sitemap is listed by no index";
    /// Several sitemaps, and no index.
    NoIndex { count: usize, site: Option<Site> } = 31 Note, "{}, but no index that lists them" [count_of_site(*.count, .site.as_ref())];
    /// The site has only feeds.
    OnlyFeeds = 48 Note, "there are only feeds, and no sitemap of all URLs";
    /// A sitemap that robots.txt names although an index does.
    BesideIndex { robots: Loc, sitemap: Loc, index: String } = 75 Note, "robots.txt names {sitemap}, which the index {index} lists already";
    /// A `Sitemap:` line that is not an absolute URL.
    RelativeSitemapLine { value: String } = 73 Warning, "line \"Sitemap: {value}\" has no absolute URL";
    /// A URL that robots.txt disallows.
    Blocked = 79 Warning, "URL is disallowed by robots.txt"
        => "take the URL out of the sitemap, or allow it in robots.txt";
    /// A page with `noindex`.
    NoIndexPage = 79 Error, "page has noindex"
        => "take the page out of the sitemap, or its noindex out of the page";
    /// A page that answers with a redirect.
    Redirects { target: String } = 10 Error, "URL redirects to {target}";
    /// A page that does not answer with 200.
    Status { status: u16 } = 10 Error, "URL answers with status {status}"
        => "list only URLs that answer with 200";
    /// The `Last-Modified` of the server is later than the `lastmod` of the page.
    ChangedLater { last_modified: LastMod } = 15 Note, "server reports a later change of the page, at {last_modified}";
    /// A page that has another canonical address.
    CanonicalElsewhere { target: String } = 10 Warning, "page names the canonical address {target}"
        => "list the canonical address instead of this one";
    /// A page without an answer.
    NoAnswer { why: String } = 10 Warning, "URL does not answer: {why}"
        => "list only URLs that answer with 200";
    /// A sitemap that cannot be had.
    Unavailable { why: String } = 72 Error, "sitemap cannot be read: {why}"
        => "serve the sitemap there with status 200, or name the address at which it is served";
    /// A sitemap that robots.txt disallows.
    SitemapBlocked = 79 Error, "sitemap is disallowed by robots.txt"
        => "allow the sitemap in robots.txt, or it is not read";
    /// A sitemap of a host whose robots.txt cannot be read; crawlers then request nothing from it.
    RobotsUnreachable { why: String, is_child: bool } = 72 Error, "sitemap may not be read: {why}"
        => "let robots.txt answer with 200, or with 404 if the host has none: until then crawlers fetch nothing from the host";
    /// A sitemap that was not requested, so it was not checked.
    NotAsked { why: String, help: String, is_child: bool } = 72 Warning, "sitemap was not read: {why}";
    /// A sitemap that redirects to another one that is listed, or named, as well.
    CheckedElsewhere { place: Loc, is_child: bool } = 72 Warning, "sitemap redirects to {place}, which is checked by itself"
        => "name only the address at which the sitemap is served";
    /// Sitemaps of an index that are more than one check reads.
    NotFollowed { count: u64, limit: usize } = 40 Warning, "{count} sitemaps from here on are not read: one check reads at most {limit}"
        => "check the sitemaps or indexes that are left by themselves";
    /// A document that was not sent to its end.
    CutShort = 1 Error, "answer ended before the end that was announced, or took too long"
        => "configure the server to send the whole file, with the length in Content-Length";
    /// A document of which only the beginning was read.
    NotReadFurther { limit: u64 } = 28 Error, "file is too large: only its first {limit} bytes were read";
    /// So many entries that reading ended.
    EntriesNotRead { limit: u64 } = 27 Warning, "only the first {limit} entries are read, and nothing after them";
    /// So many bytes that reading ended.
    BytesNotRead { limit: u64 } = 28 Warning, "only the first {limit} bytes are read, uncompressed, and nothing after them";
    /// A content coding that cannot be undone.
    Undecodable { coding: String } = 29 Error, "Content-Encoding cannot be undone: {coding}"
        => "compress with gzip and declare it in Content-Encoding, or send the file as it is";
    /// A content coding that is announced and not there.
    CodingMissing = 29 Warning, "Content-Encoding announces a compressed answer, but it is not compressed"
        => "compress with gzip and declare it in Content-Encoding, or send the file as it is";
    /// A media type that does not match the document.
    ContentType { found: Option<String>, expected: &'static str } = 2 Note, "{}, expected {expected}" [type_found(found.as_deref())];
    /// A header that names another encoding than UTF-8.
    HeaderCharset { charset: String } = 2 Warning, "Content-Type declares the encoding {charset}"
        => "leave charset out of Content-Type, or write charset=UTF-8";
    /// A compressed file that is not called so.
    NotNamedGzip = 29 Note, "file is compressed, but its name does not end in .gz"
        => "let the name of a compressed file end in .gz, and no other; readers look at the bytes";
    /// A file that is called compressed and is not.
    NamedGzip = 29 Note, "name ends in .gz, but the file is not compressed"
        => "let the name of a compressed file end in .gz, and no other; readers look at the bytes";
    /// The `Last-Modified` of a sitemap is later than its `lastmod` in the index.
    FileChangedLater { lastmod: LastMod, last_modified: LastMod } = 41 Note, "server reports a change of the sitemap at {last_modified}, its index lists {lastmod}";
    /// An article that is too old to be news.
    OldNews { published: LastMod } = 71 Warning, "article of {published} is older than two days"
        => "take <news:news> out of the entry when the article is two days old";
    /// The thumbnail of a video is the page with the video.
    ThumbnailIsPage { title: Box<str> } = 71 Error, "<video:thumbnail_loc> of \"{title}\" is the page itself"
        => "write the address of an image of the video";
    /// An image of a page is the page.
    ImageIsPage = 71 Warning, "<image:loc> is the page itself"
        => "write the address of the picture, not of the page that shows it";
    /// A page with versions that is not one of them.
    NoSelfLink = 71 Warning, "page is not among its own versions"
        => "list the page itself among its versions, with its own language";
    /// A version that does not point back.
    NoReturnLink { href: Box<str> } = 71 Warning, "version {href} does not link back"
        => "list all versions in the entry of each of them; links that are not returned are ignored";
    /// A version that is not listed.
    VersionNotListed { href: Box<str> } = 71 Note, "version {href} is not an entry of the checked sitemaps"
        => "list the version in a sitemap too, if it is a page of this site";
    /// More than can be compared.
    NotCompared { limit: usize, what: &'static str } = 26 Note, "only the first {limit} {what} are compared with each other"
        => "check parts of the set by themselves to find what is left";
}

impl Problem {
    /// The rule it breaks in a urlset.
    pub(crate) fn rule(&self) -> Rule {
        Rule(self.judgement().0)
    }

    /// Severity to a reader that goes on.
    pub(crate) fn severity(&self) -> Severity {
        self.judgement().1
    }

    /// The same in a document of this kind.
    pub(crate) fn severity_in(&self, kind: Option<Kind>) -> Severity {
        match (self, kind) {
            // XML allows it, the rules for text files do not (R53).
            (Self::ByteOrderMark, Some(Kind::Text)) => Severity::Warning,
            (problem, _) => problem.severity(),
        }
    }

    /// Returns whether the schema alone refuses it; everything else breaks a rule that is written down.
    pub(crate) fn source(&self) -> Source {
        self.judgement().2
    }

    /// The judgement of its row, or by its values where these decide.
    fn judgement(&self) -> (u8, Severity, Source) {
        use Severity::{Error, Warning};
        let (rule, severity, source) = self.row();
        match self {
            Self::NameCase { expected, .. } if is_root_name(expected) => (4, severity, source),
            Self::Namespace { found } if found.as_deref() == Some(HISTORIC_NAMESPACE) => {
                (rule, Warning, source)
            }
            // The schema allows 2,048 characters, one more than the text of the protocol.
            Self::Loc(error @ (LocError::TooLong { characters: 2_048 } | LocError::UserInfo)) => {
                (rule_of_loc(error), Warning, source)
            }
            Self::Loc(error) => (rule_of_loc(error), Error, source),
            Self::Padded { name } => (rule_of_padded(name), severity, source),
            // The schema allows less than the text: no precision but the day and the second, and no offset above 14 hours.
            Self::LastMod(LastModError::Precision | LastModError::ZoneRange) => {
                (rule, Warning, Source::Schema)
            }
            Self::MissingPart { element, .. } if is_retired(element) => {
                (rule, Warning, Source::Schema)
            }
            Self::PartValue { name, problem } => {
                (rule, severity_of(problem, name), source_of(problem, name))
            }
            // Of versions, videos and custom elements the protocol allows any number; the bound is ours.
            Self::RefusedPart(ExtensionError::TooMany { what, .. }) if *what != "image:image" => {
                (rule, Warning, source)
            }
            Self::RobotsUnreachable { is_child: true, .. }
            | Self::NotAsked { is_child: true, .. }
            | Self::CheckedElsewhere { is_child: true, .. } => (40, severity, source),
            _ => (rule, severity, source),
        }
    }

    /// Returns whether a value or an element was left out because of it. After every other problem the value is there, read as it
    /// was meant.
    pub(crate) fn costs_value(&self) -> bool {
        match self {
            Self::MissingPart { element, .. } => !is_retired(element),
            problem => matches!(
                problem,
                Self::LastMod(_)
                    | Self::ChangeFreq(_)
                    | Self::Priority(_)
                    | Self::PubDate
                    | Self::Repeated { .. }
                    | Self::ValueTooLong { .. }
                    | Self::UndefinedEntity { .. }
                    | Self::NotUtf8
                    | Self::RepeatedPart { .. }
                    | Self::TooManyParts { .. }
                    | Self::PartValue { .. }
                    | Self::RefusedPart(_)
                    | Self::ExtensionsTooLarge
                    | Self::OutsideEntry { .. }
            ),
        }
    }

    /// Help for the document at `place`, where more can be advised than by the rule.
    pub(crate) fn help(&self, place: Option<&Loc>) -> Option<String> {
        Some(match (self, place) {
            (Self::NotAsked { help, .. }, _) => help.clone(),
            (Self::ContentType { expected, .. }, _) => {
                format!("send the header \"Content-Type: {expected}\"")
            }
            (Self::OutOfScope { covering, .. }, _) => format!(
                "move the sitemap to {covering} or above, or list the URL in a sitemap there"
            ),
            (Self::Host { missing: Some(_), .. }, _) => {
                "list the URL in a sitemap of its own host, or let the robots.txt of that host name this one (R65)"
                    .to_owned()
            }
            (Self::Unproven { line, is_alone: true, .. }, _) => line.to_string(),
            (Self::Unproven { line, is_alone: false, .. }, _) => {
                format!("{line}, and list the URLs of no other host in this sitemap (R66)")
            }
            (Self::UnnamedIndex { robots, index }, _) => {
                let (robots, sitemap) = (robots.to_string(), index.clone());
                ProofLine { robots, sitemap }.to_string()
            }
            (Self::Scheme { missing: Some(missing), .. }, _) => format!(
                "list http and https addresses in sitemaps of their own, best only one of the two, or {missing}"
            ),
            (Self::Port { missing: Some(missing), .. }, _) => format!(
                "write the port of the sitemap's own address into the URL, or none if that has none, or {missing}"
            ),
            (Self::ChildElsewhere { missing: Some(missing), .. }, _) => {
                format!("list sitemaps of the same scheme, host and port, or {missing}")
            }
            (Self::Moved { .. }, Some(place)) => format!(
                "name {place} in robots.txt and indexes, or serve the sitemap where it is asked for"
            ),
            (problem, _) => problem.usual_help()?.to_owned(),
        })
    }
}

/// A site that has sitemaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The robots.txt that names them.
    pub robots: Loc,
    /// The scheme, host and port of the sitemaps.
    pub origin: Box<str>,
}

/// The line of a robots.txt that would prove that a sitemap may list the URLs of another origin (R65).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofLine {
    /// The robots.txt that would have to have it.
    pub robots: String,
    /// The target it would have to name: the sitemap, or the first of the indexes that lead to it.
    pub sitemap: Loc,
}

impl fmt::Display for ProofLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { robots, sitemap } = self;
        write!(formatter, "add the line \"Sitemap: {sitemap}\" to {robots}")
    }
}

/// The namespace of the protocol before sitemaps.org took it over in 2006.
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

fn too_long(name: &str) -> String {
    if name == "line" {
        format!("line has more than {} KiB", MAX_RECORD_BYTES / 1024)
    } else {
        format!("<{name}> has more than {MAX_VALUE_BYTES} bytes of text")
    }
}

/// The entity of the protocol for a character (R20).
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

/// Returns whether an element is retired, so that only its schema restricts it.
fn is_retired(element: &str) -> bool {
    matches!(element, "video:tvshow" | "video:id")
}

fn severity_of(problem: &ValueProblem, name: &str) -> Severity {
    // No rule bounds these; they are only too long for us.
    let is_own_bound = match problem {
        ValueProblem::Text(TextError::TooLong { limit, .. }) => {
            *limit == MAX_TEXT_CHARACTERS && name != "video:description"
        }
        problem => matches!(
            problem,
            ValueProblem::Loc(LocError::TooLong { .. } | LocError::UserInfo)
                | ValueProblem::LargeCount
        ),
    };
    if is_own_bound || source_of(problem, name) == Source::Schema {
        Severity::Warning
    } else {
        Severity::Error
    }
}

/// Only the schema limits the length of a title of a video, and it allows fewer dates than the text.
fn source_of(problem: &ValueProblem, name: &str) -> Source {
    let is_schema = match problem {
        ValueProblem::Text(TextError::TooLong { .. }) => name == "video:title",
        problem => matches!(
            problem,
            ValueProblem::Date(LastModError::Precision | LastModError::ZoneRange)
        ),
    };
    if is_schema {
        Source::Schema
    } else {
        Source::Rule
    }
}
/// The beginning of the message about sitemaps without an index.
fn count_of_site(count: usize, site: Option<&Site>) -> String {
    match site {
        Some(Site { robots, origin }) => format!("{robots} names {count} sitemaps of {origin}"),
        None => format!("there are {count} sitemaps"),
    }
}

/// The message about URLs that are dropped.
fn dropped(count: u64, of: u64) -> String {
    match (count, of) {
        (_, 1) => "the only URL is dropped by search engines".to_owned(),
        (count, of) if count == of => format!("all {of} URLs are dropped by search engines"),
        (1, of) => format!("1 of {of} URLs is dropped by search engines; the others count"),
        (count, of) => {
            format!("{count} of {of} URLs are dropped by search engines; the others count")
        }
    }
}

/// The message about sitemaps without a date.
fn undated(count: u64, of: u64) -> String {
    let (which, them) = if count == of {
        (format!("none of the {of} sitemaps has"), "all of them")
    } else {
        (format!("{count} of {of} sitemaps do not have"), "these")
    };
    format!("{which} a lastmod that can be read: consumers have to fetch {them} again each time")
}

/// The beginning of the message about a media type.
fn type_found(found: Option<&str>) -> String {
    found.map_or_else(
        || "there is no Content-Type".to_owned(),
        |found| format!("Content-Type is \"{found}\""),
    )
}
