//! [`Problem`]: what the strict reading finds beyond what the reader says.

use crate::{
    LastMod, Loc,
    read::{Rule, Severity},
};

/// What can be wrong with a document that can be read, or with a set of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// More entries than the protocol allows.
    #[error("file has more than {limit} entries")]
    TooManyEntries {
        /// How many are allowed.
        limit: u64,
    },
    /// More bytes than the protocol allows, after decompression.
    #[error("file has more than {limit} bytes uncompressed")]
    TooManyBytes {
        /// How many are allowed.
        limit: u64,
    },
    /// A list over the limits, which has to be divided; told beside [`TooManyEntries`](Self::TooManyEntries) or
    /// [`TooManyBytes`](Self::TooManyBytes).
    #[error("{amount} {unit} need at least {sitemaps} sitemaps, and an index that lists them")]
    NeedsSeveral {
        /// How much there is.
        amount: u64,
        /// Of what: of that which needs more sitemaps.
        unit: &'static str,
        /// How many sitemaps have room for it.
        sitemaps: u64,
    },
    /// A URL of another scheme than the sitemap, or than the first entry when its place is not known.
    #[error("URL has another scheme than {expected}")]
    Scheme {
        /// The origin that was expected.
        expected: String,
        /// What would allow it.
        missing: Option<ProofLine>,
    },
    /// A URL of another host.
    #[error("URL is of another host than {expected}")]
    Host {
        /// The origin that was expected.
        expected: String,
        /// What would allow it.
        missing: Option<ProofLine>,
    },
    /// A URL of another port.
    #[error("URL has another port than {expected}")]
    Port {
        /// The origin that was expected.
        expected: String,
        /// What would allow it.
        missing: Option<ProofLine>,
    },
    /// Hosts that differ in nothing but `www.`; told once per document, beside [`Host`](Self::Host).
    #[error("{found} and {expected} differ in \"www.\" only, but are two hosts")]
    OnlyWww {
        /// The origin that was expected.
        expected: String,
        /// The origin of the URL.
        found: String,
    },
    /// A URL outside of the directory of the sitemap.
    #[error("URL is outside of {directory}, the directory of the sitemap")]
    OutOfScope {
        /// What the sitemap covers.
        directory: String,
        /// The directory that would cover both.
        covering: String,
    },
    /// URLs that search engines drop because they may not be listed where they are; told once per document.
    #[error("{}", dropped(*count, *of))]
    Dropped {
        /// How many.
        count: u64,
        /// How many URLs there are.
        of: u64,
    },
    /// A URL outside of the directory of its sitemap that the index of that sitemap could list, if it were a sitemap; told once per
    /// sitemap.
    #[error("index {index} covers this URL, but its sitemap is judged at its own place")]
    OnlyIndexCovers {
        /// Where the index is.
        index: Loc,
    },
    /// A URL outside of the directory of its sitemap that another sitemap could list; told once per sitemap.
    #[error("sitemap {sitemap} covers this URL at its place")]
    OtherCovers {
        /// The name of the other sitemap.
        sitemap: String,
    },
    /// A sitemap that lists URLs of another host, of which nothing is known that allows it; told once per host.
    #[error("nothing proves that this sitemap may list URLs of {origin}")]
    Unproven {
        /// Whose URLs they are.
        origin: String,
        /// What would allow it.
        line: ProofLine,
        /// Whether it lists nothing else.
        is_alone: bool,
    },
    /// The sitemap lists URLs of another host, whose robots.txt points to it.
    #[error("URLs of {origin} are allowed here: {robots} points to this sitemap")]
    Proven {
        /// Whose URLs they are.
        origin: String,
        /// The robots.txt that proves it.
        robots: Loc,
    },
    /// A sitemap that lists the URLs of several hosts, each of which points to it.
    #[error("sitemap lists URLs of {first} and of another host")]
    SecondHost {
        /// The origin of the entries before.
        first: String,
    },
    /// An index that lists a sitemap of another origin, without proof.
    #[error("sitemap is not on {expected}, the site of its index")]
    ChildElsewhere {
        /// The origin of the index.
        expected: String,
        /// What would allow it.
        missing: Option<ProofLine>,
    },
    /// An index that lists a sitemap outside of its directory, which Google refuses.
    #[error("sitemap is outside of {directory}, the directory of its index")]
    ChildAbove {
        /// The directory of the index.
        directory: String,
    },
    /// A sitemap that is not in the root directory.
    #[error("sitemap is in {directory} and can list no URL outside of it")]
    NotAtRoot {
        /// Its directory.
        directory: String,
    },
    /// A sitemap that was reached through a redirect from another directory or origin.
    #[error("sitemap was reached by a redirect from {requested}; what counts is its final place")]
    Moved {
        /// Where it was asked for.
        requested: Loc,
    },
    /// A date in the future.
    #[error("date {date} lies in the future")]
    Future {
        /// The date, as it stands there.
        date: String,
    },
    /// A date before there was a web.
    #[error("date {date} is older than the web")]
    Ancient {
        /// The date, as it stands there.
        date: String,
    },
    /// Every page is said to have changed at nearly the same time.
    #[error(
        "all {count} pages are said to have changed within ten minutes, the last at {lastmod}: perhaps a deploy"
    )]
    AllAtOnce {
        /// How many there are.
        count: u64,
        /// The latest of them.
        lastmod: LastMod,
    },
    /// Every sitemap of an index is said to have changed just now.
    #[error("all {count} sitemaps are said to have changed at {lastmod}, when the index was made")]
    IndexAllNow {
        /// How many there are.
        count: u64,
        /// The value of all of them.
        lastmod: LastMod,
    },
    /// An index that does not say of many of its sitemaps when they changed.
    #[error("{}", undated(*count, *of))]
    Undated {
        /// How many.
        count: u64,
        /// How many sitemaps it lists.
        of: u64,
    },
    /// An index that robots.txt does not name although it names another one of the same site.
    #[error("{robots} names another index of this site, but not this one")]
    UnnamedIndex {
        /// The robots.txt.
        robots: Loc,
        /// Where the index is.
        index: Loc,
    },
    /// Every page is said to change all the time.
    #[error("all {count} pages are said to change always or hourly")]
    AllBusy {
        /// How many there are.
        count: u64,
    },
    /// Every page has the same priority.
    #[error("all {count} pages have the same priority")]
    EqualPriorities {
        /// How many there are.
        count: u64,
    },
    /// A URL that the same document lists before.
    #[error("URL is listed before, in line {line}")]
    Duplicate {
        /// Where.
        line: u64,
    },
    /// A URL that another document lists with other metadata.
    #[error("URL is listed with other metadata in {other}")]
    DuplicateElsewhere {
        /// The name of the other document.
        other: String,
    },
    /// An index that lists itself.
    #[error("index lists itself")]
    ListsItself,
    /// An index that lists an index.
    #[error("index lists the index {child}")]
    NestedIndex {
        /// The name of the other index.
        child: String,
    },
    /// An index that leads back to itself through others.
    #[error("index lists the index {child}, which leads back to it")]
    Cycle {
        /// The name of the other index.
        child: String,
    },
    /// A sitemap that an index lists, but that cannot be had.
    #[error("listed sitemap cannot be read: {why}")]
    ChildMissing {
        /// Why.
        why: String,
    },
    /// A sitemap that no index lists, although there is one.
    #[error("sitemap is listed by no index")]
    Unlisted,
    /// Several sitemaps, and no index.
    #[error("{}, but no index that lists them", count_of_site(*.count, .site.as_ref()))]
    NoIndex {
        /// How many there are.
        count: usize,
        /// Of which site they are, if there are several: an index lists sitemaps of one (R37).
        site: Option<Site>,
    },
    /// There is nothing but feeds.
    #[error("there are only feeds, and no sitemap of all URLs")]
    OnlyFeeds,
    /// A sitemap that robots.txt names although an index does.
    #[error("robots.txt names {sitemap}, which the index {index} lists already")]
    BesideIndex {
        /// The robots.txt.
        robots: Loc,
        /// The sitemap.
        sitemap: Loc,
        /// The index.
        index: String,
    },
    /// A `Sitemap:` line that is no absolute URL.
    #[error("line \"Sitemap: {value}\" has no absolute URL")]
    RelativeSitemapLine {
        /// What the line has.
        value: String,
    },
    /// A URL that robots.txt disallows.
    #[error("URL is disallowed by robots.txt")]
    Blocked,
    /// A page that says `noindex`.
    #[error("page says noindex")]
    NoIndexPage,
    /// A page that answers with a redirect.
    #[error("URL redirects to {target}")]
    Redirects {
        /// Where to.
        target: String,
    },
    /// A page that does not answer with 200.
    #[error("URL answers with status {status}")]
    Status {
        /// The status.
        status: u16,
    },
    /// The server says that the page changed after its `lastmod`.
    #[error("server says that the page changed later, at {last_modified}")]
    ChangedLater {
        /// The `Last-Modified` header.
        last_modified: LastMod,
    },
    /// A page that has another canonical address.
    #[error("page says that its canonical address is {target}")]
    CanonicalElsewhere {
        /// Which one.
        target: String,
    },
    /// A page of which there was no answer at all.
    #[error("URL does not answer: {why}")]
    NoAnswer {
        /// Why.
        why: String,
    },
    /// A sitemap that cannot be had.
    #[error("sitemap cannot be read: {why}")]
    Unavailable {
        /// Why.
        why: String,
    },
    /// A sitemap that robots.txt keeps from being read.
    #[error("sitemap is disallowed by robots.txt")]
    SitemapBlocked,
    /// A sitemap of a host whose robots.txt cannot be read, which keeps crawlers from everything there.
    #[error("sitemap may not be read: {why}")]
    RobotsUnreachable {
        /// What the robots.txt answers.
        why: String,
        /// An index lists it.
        is_child: bool,
    },
    /// A sitemap that was not asked for, which says nothing about it.
    #[error("sitemap was not read: {why}")]
    NotAsked {
        /// Why.
        why: String,
        /// What to do to have it asked for.
        help: String,
        /// An index lists it.
        is_child: bool,
    },
    /// A sitemap that redirects to another one that is listed, or named, as well.
    #[error("sitemap redirects to {place}, which is checked by itself")]
    CheckedElsewhere {
        /// Where it ends.
        place: Loc,
        /// An index lists it.
        is_child: bool,
    },
    /// Sitemaps of an index that are more than one check reads.
    #[error("{count} sitemaps from here on are not read: one check reads at most {limit}")]
    NotFollowed {
        /// How many there are.
        count: u64,
        /// How many are read.
        limit: usize,
    },
    /// A document that was not sent to its end.
    #[error("answer ended before the end that was announced, or took too long")]
    CutShort,
    /// A document of which only the beginning was read.
    #[error("file is too large: only its first {limit} bytes were read")]
    NotReadFurther {
        /// How many.
        limit: u64,
    },
    /// So many entries that reading ended.
    #[error("only the first {limit} entries are read, and nothing behind them")]
    EntriesNotRead {
        /// How many.
        limit: u64,
    },
    /// So many bytes that reading ended.
    #[error("only the first {limit} bytes are read, uncompressed, and nothing behind them")]
    BytesNotRead {
        /// How many.
        limit: u64,
    },
    /// A content coding that cannot be undone.
    #[error("Content-Encoding cannot be undone: {coding}")]
    Undecodable {
        /// What is wrong with it.
        coding: String,
    },
    /// A content coding that is announced and not there.
    #[error("Content-Encoding says that the answer is compressed, but it is not")]
    CodingMissing,
    /// A media type that does not fit the document.
    #[error("{}, expected {expected}", type_found(found.as_deref()))]
    ContentType {
        /// The header; `None` when there is none.
        found: Option<String>,
        /// What it should be.
        expected: &'static str,
    },
    /// A header that names another encoding than UTF-8.
    #[error("Content-Type says that the encoding is {charset}")]
    HeaderCharset {
        /// Which one.
        charset: String,
    },
    /// A compressed file that is not called so.
    #[error("file is compressed, but its name does not end in .gz")]
    NotNamedGzip,
    /// A file that is called compressed and is not.
    #[error("name ends in .gz, but the file is not compressed")]
    NamedGzip,
    /// The server says that a sitemap changed after the `lastmod` that its index has for it.
    #[error("server says that the sitemap changed at {last_modified}, its index says {lastmod}")]
    FileChangedLater {
        /// The `lastmod` in the index.
        lastmod: LastMod,
        /// The `Last-Modified` header.
        last_modified: LastMod,
    },
    /// An article that is no news any more.
    #[error("article of {published} is older than two days")]
    OldNews {
        /// Its date.
        published: LastMod,
    },
    /// The picture that stands for a film is the page with the film.
    #[error("<video:thumbnail_loc> of \"{title}\" is the page itself")]
    ThumbnailIsPage {
        /// The title of the film.
        title: Box<str>,
    },
    /// A picture of a page is the page.
    #[error("<image:loc> is the page itself")]
    ImageIsPage,
    /// A page with versions that is not one of them.
    #[error("page is not among its own versions")]
    NoSelfLink,
    /// A version that does not point back.
    #[error("version {href} does not link back")]
    NoReturnLink {
        /// The version.
        href: Box<str>,
    },
    /// A version that is not listed.
    #[error("version {href} is no entry of the sitemaps that were checked")]
    VersionNotListed {
        /// The version.
        href: Box<str>,
    },
    /// More than can be compared.
    #[error("only the first {limit} {what} are compared with each other")]
    NotCompared {
        /// How many are.
        limit: usize,
        /// Of what.
        what: &'static str,
    },
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
    /// What it would have to name: the sitemap, or the first of the indexes that lead to it.
    pub sitemap: Loc,
}

impl std::fmt::Display for ProofLine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { robots, sitemap } = self;
        write!(formatter, "add the line \"Sitemap: {sitemap}\" to {robots}")
    }
}

impl Problem {
    /// The rule it breaks, in a urlset.
    pub(super) fn rule(&self) -> Rule {
        Rule(match self {
            Self::HeaderCharset { .. } | Self::ContentType { .. } => 2,
            Self::CutShort => 1,
            Self::Redirects { .. }
            | Self::Status { .. }
            | Self::NoAnswer { .. }
            | Self::CanonicalElsewhere { .. } => 10,
            Self::Future { .. } | Self::Ancient { .. } | Self::AllAtOnce { .. } => 14,
            Self::ChangedLater { .. } => 15,
            Self::AllBusy { .. } => 17,
            Self::EqualPriorities { .. } => 19,
            Self::Duplicate { .. } | Self::DuplicateElsewhere { .. } | Self::NotCompared { .. } => {
                26
            }
            Self::TooManyEntries { .. } | Self::EntriesNotRead { .. } => 27,
            Self::TooManyBytes { .. } | Self::NotReadFurther { .. } | Self::BytesNotRead { .. } => {
                28
            }
            Self::Undecodable { .. }
            | Self::CodingMissing
            | Self::NotNamedGzip
            | Self::NamedGzip => 29,
            Self::NeedsSeveral { .. } => 30,
            Self::Unlisted | Self::NoIndex { .. } => 31,
            Self::UnnamedIndex { .. } => 34,
            Self::ChildElsewhere { .. } | Self::ChildAbove { .. } => 37,
            Self::ListsItself
            | Self::NestedIndex { .. }
            | Self::Cycle { .. }
            | Self::ChildMissing { .. }
            | Self::RobotsUnreachable { is_child: true, .. }
            | Self::NotFollowed { .. }
            | Self::NotAsked { is_child: true, .. }
            | Self::CheckedElsewhere { is_child: true, .. } => 40,
            Self::IndexAllNow { .. } | Self::FileChangedLater { .. } => 41,
            Self::Undated { .. } => 43,
            Self::OnlyIndexCovers { .. } => 44,
            Self::OnlyFeeds => 48,
            Self::OutOfScope { .. } | Self::Moved { .. } => 58,
            Self::Scheme { .. } => 59,
            Self::Host { .. } | Self::OnlyWww { .. } => 60,
            Self::Dropped { .. } => 61,
            Self::NotAtRoot { .. } => 62,
            Self::OtherCovers { .. } => 63,
            Self::Port { .. } => 64,
            Self::Unproven { .. } => 65,
            Self::SecondHost { .. } => 66,
            Self::Proven { .. } => 67,
            Self::OldNews { .. }
            | Self::ThumbnailIsPage { .. }
            | Self::ImageIsPage
            | Self::NoSelfLink
            | Self::NoReturnLink { .. }
            | Self::VersionNotListed { .. } => 71,
            Self::Unavailable { .. }
            | Self::RobotsUnreachable {
                is_child: false, ..
            }
            | Self::NotAsked {
                is_child: false, ..
            }
            | Self::CheckedElsewhere {
                is_child: false, ..
            } => 72,
            Self::RelativeSitemapLine { .. } => 73,
            Self::BesideIndex { .. } => 75,
            Self::Blocked | Self::SitemapBlocked | Self::NoIndexPage => 79,
        })
    }

    /// How much it matters.
    pub(super) fn severity(&self) -> Severity {
        match self {
            Self::TooManyEntries { .. }
            | Self::TooManyBytes { .. }
            | Self::Scheme { .. }
            | Self::Host { .. }
            | Self::Port { .. }
            | Self::OutOfScope { .. }
            | Self::SecondHost { .. }
            | Self::ChildElsewhere { .. }
            | Self::ListsItself
            | Self::NestedIndex { .. }
            | Self::Cycle { .. }
            | Self::ChildMissing { .. }
            | Self::Unavailable { .. }
            | Self::SitemapBlocked
            | Self::RobotsUnreachable { .. }
            | Self::ThumbnailIsPage { .. }
            | Self::CutShort
            | Self::NotReadFurther { .. }
            | Self::Undecodable { .. } => Severity::Error,
            Self::ChildAbove { .. }
            | Self::Moved { .. }
            | Self::Future { .. }
            | Self::Ancient { .. }
            | Self::IndexAllNow { .. }
            | Self::OldNews { .. }
            | Self::ImageIsPage
            | Self::NotAsked { .. }
            | Self::CheckedElsewhere { .. }
            | Self::EntriesNotRead { .. }
            | Self::BytesNotRead { .. }
            | Self::NotFollowed { .. }
            | Self::NoSelfLink
            | Self::NoReturnLink { .. }
            | Self::Duplicate { .. }
            | Self::DuplicateElsewhere { .. }
            | Self::RelativeSitemapLine { .. }
            | Self::Blocked
            | Self::NoIndexPage
            | Self::Redirects { .. }
            | Self::Status { .. }
            | Self::NoAnswer { .. }
            | Self::CanonicalElsewhere { .. }
            | Self::HeaderCharset { .. }
            | Self::CodingMissing => Severity::Warning,
            Self::NeedsSeveral { .. }
            | Self::UnnamedIndex { .. }
            | Self::Undated { .. }
            | Self::OnlyIndexCovers { .. }
            | Self::Dropped { .. }
            | Self::OtherCovers { .. }
            | Self::Unproven { .. }
            | Self::OnlyWww { .. }
            | Self::Proven { .. }
            | Self::NotAtRoot { .. }
            | Self::AllAtOnce { .. }
            | Self::AllBusy { .. }
            | Self::EqualPriorities { .. }
            | Self::Unlisted
            | Self::NoIndex { .. }
            | Self::OnlyFeeds
            | Self::BesideIndex { .. }
            | Self::ChangedLater { .. }
            | Self::FileChangedLater { .. }
            | Self::ContentType { .. }
            | Self::NotNamedGzip
            | Self::NamedGzip
            | Self::VersionNotListed { .. }
            | Self::NotCompared { .. } => Severity::Note,
        }
    }

    /// How to mend it, where more can be said than the rule does.
    pub(super) fn help(&self, place: Option<&Loc>) -> Option<String> {
        match (self, place) {
            (Self::ChildMissing { .. }, _) => {
                Some("publish the sitemap, or take it out of the index".to_owned())
            }
            (Self::Status { .. } | Self::NoAnswer { .. }, _) => {
                Some("list only URLs that answer with 200".to_owned())
            }
            (Self::CanonicalElsewhere { .. }, _) => {
                Some("list the canonical address instead of this one".to_owned())
            }
            (Self::Unavailable { .. }, _) => Some(
                "serve the sitemap there with status 200, or name the address at which it is served"
                    .to_owned(),
            ),
            (Self::RobotsUnreachable { .. }, _) => Some(
                "let robots.txt answer with 200, or with 404 if there is none: until then crawlers read nothing of its host"
                    .to_owned(),
            ),
            (Self::NotAsked { help, .. }, _) => Some(help.clone()),
            (Self::CheckedElsewhere { .. }, _) => Some(
                "name only the address at which the sitemap is served".to_owned(),
            ),
            (Self::NotFollowed { .. }, _) => {
                Some("check the sitemaps or indexes that are left by themselves".to_owned())
            }
            (Self::ThumbnailIsPage { .. }, _) => {
                Some("write the address of a picture of the film".to_owned())
            }
            (Self::ImageIsPage, _) => {
                Some("write the address of the picture, not of the page that shows it".to_owned())
            }
            (Self::SitemapBlocked, _) => {
                Some("allow the sitemap in robots.txt, or nobody reads it".to_owned())
            }
            (Self::CutShort, _) => Some(
                "see that the server sends the whole file, as long as Content-Length says".to_owned(),
            ),
            (Self::Undecodable { .. } | Self::CodingMissing, _) => Some(
                "compress with gzip and say so in Content-Encoding, or send the file as it is"
                    .to_owned(),
            ),
            (Self::ContentType { expected, .. }, _) => {
                Some(format!("send the header \"Content-Type: {expected}\""))
            }
            (Self::HeaderCharset { .. }, _) => {
                Some("leave charset out of Content-Type, or write charset=UTF-8".to_owned())
            }
            (Self::NotNamedGzip | Self::NamedGzip, _) => Some(
                "let the name of a compressed file end in .gz, and no other; readers look at the bytes"
                    .to_owned(),
            ),
            (Self::NotCompared { .. }, _) => {
                Some("check parts of the set by themselves to find what is left".to_owned())
            }
            (Self::OldNews { .. }, _) => Some(
                "take <news:news> out of the entry when the article is two days old".to_owned(),
            ),
            (Self::NoSelfLink, _) => Some(
                "list the page itself among its versions, with its own language".to_owned(),
            ),
            (Self::NoReturnLink { .. }, _) => Some(
                "list all versions in the entry of each of them; links that are not returned are ignored"
                    .to_owned(),
            ),
            (Self::VersionNotListed { .. }, _) => Some(
                "list the version in a sitemap too, if it is a page of this site".to_owned(),
            ),
            (Self::NoIndexPage, _) => {
                Some("take the page out of the sitemap, or its noindex out of the page".to_owned())
            }
            (Self::Blocked, _) => {
                Some("take the URL out of the sitemap, or allow it in robots.txt".to_owned())
            }
            (_, _) => self.help_about_place(place),
        }
    }

    /// The same where what is wrong is where a document is, or what it lists there.
    fn help_about_place(&self, place: Option<&Loc>) -> Option<String> {
        match (self, place) {
            (Self::OutOfScope { covering, .. }, _) => Some(format!(
                "move the sitemap to {covering} or above, or list the URL in a sitemap there"
            )),
            (Self::Host { missing: Some(_), .. }, _) => Some(
                "list the URL in a sitemap of its own host, or let the robots.txt of that host name this one (R65)"
                    .to_owned(),
            ),
            (Self::Unproven { line, is_alone: true, .. }, _) => Some(line.to_string()),
            (Self::Unproven { line, is_alone: false, .. }, _) => Some(format!(
                "{line}, and list the URLs of no other host in this sitemap (R66)"
            )),
            (Self::UnnamedIndex { robots, index }, _) => {
                let line = ProofLine { robots: robots.to_string(), sitemap: index.clone() };
                Some(line.to_string())
            }
            (Self::OnlyIndexCovers { index }, _) => Some(format!(
                "move the sitemap to {} beside its index, or list the URL in a sitemap there", index.directory()
            )),
            (Self::OtherCovers { sitemap }, _) => Some(format!(
                "move the URL to {sitemap}, with the others that belong there"
            )),
            (Self::Scheme { missing: Some(missing), .. }, _) => Some(format!(
                "list http and https addresses in sitemaps of their own, best only one of the two, or {missing}"
            )),
            (Self::Port { missing: Some(missing), .. }, _) => Some(format!(
                "write the port of the sitemap's own address into the URL, or none if that has none, or {missing}"
            )),
            (Self::ChildElsewhere { missing: Some(missing), .. }, _) => Some(format!(
                "list sitemaps of the same scheme, host and port, or {missing}"
            )),
            (Self::Proven { .. }, _) => Some(
                "keep the line: the sitemap is valid as long as that robots.txt has it".to_owned(),
            ),
            (Self::Moved { .. }, Some(place)) => Some(format!(
                "name {place} in robots.txt and indexes, or serve the sitemap where it is asked for"
            )),
            (_, _) => None,
        }
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
