//! Plain, validated settings: one struct per room, `Default` gives the documented defaults. Where
//! values come from (flags, environment, files) is the business of the program around this library.
//!
//! A default that is stated in a doc comment here, in `Default` and in `config/default.toml` is the
//! same in all three; a test compares the last two.

use std::{
    collections::BTreeSet, net::IpAddr, num::NonZeroU32, path::PathBuf, sync::Arc, time::Duration,
};

use serde::{Deserialize, Serialize};

pub use sitemap_core::{
    ChangeFreq, Priority,
    partition::{MAX_SECTIONS, SectionName},
};
use sitemap_core::{Loc, extension::OwnNamespace};

use crate::url_key::{Identity, Origin, UrlKey};

/// Everything one crawl of one site needs to know.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Where the crawl may go, and what it costs at most.
    pub limits: LimitsConfig,
    /// Which URLs belong to it.
    pub scope: ScopeConfig,
    /// URL of the directory that the site is written as: for a staging copy, the production site. Nothing
    /// is requested there. Default: the site is written as what it is.
    pub written_as: Option<UrlKey>,
    /// What the site says and is not listened to.
    pub ignore: IgnoreConfig,
    /// What takes a listed page out of the set.
    pub removal: RemovalConfig,
    /// Where URLs come from.
    pub discover: DiscoverConfig,
    /// When two URLs are the same.
    pub identity: Identity,
    /// How the host is spared.
    pub politeness: PolitenessConfig,
    /// How requests are sent.
    pub fetch: FetchConfig,
    /// How pages are read.
    pub parse: ParseConfig,
    /// Where and how the result is written.
    pub publish: PublishConfig,
    /// How inputs are read that a set is built from.
    pub build: BuildConfig,
    /// Who is told of what was published.
    pub notify: NotifyConfig,
}

/// How far one run goes. Reaching a page or time limit makes the run partial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitsConfig {
    /// Finished page requests without retries in one start of the program. Default 1,000,000.
    pub max_pages: u64,
    /// Wall time of one start. Default 24 h.
    pub max_time: Duration,
    /// Fewest hops from the start URL; deeper URLs are known but not fetched. Default: no limit.
    pub max_depth: Option<u32>,
    /// Tries per URL, the first included. Default 3.
    pub max_tries: u32,
    /// Waits before the second, third ... try; the last one repeats. Default 1 s, 5 s; jitter of up to a quarter is added.
    pub retry_delays: Vec<Duration>,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            max_pages: 1_000_000,
            max_time: Duration::from_secs(24 * 60 * 60),
            max_depth: None,
            max_tries: 3,
            retry_delays: vec![Duration::from_secs(1), Duration::from_secs(5)],
        }
    }
}

/// What the crawl is allowed to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScopeWidth {
    /// The directory of the start URL and everything below it.
    #[default]
    Directory,
    /// The whole origin.
    Origin,
}

/// Which URLs belong to the crawl.
///
/// Patterns are globs: `*` stands for any run of characters (slashes too), `?` for one character,
/// `[...]` and `{a,b}` as usual. A pattern that begins with `http://` or `https://` is compared with
/// the whole URL, any other with path and query. The whole text must match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScopeConfig {
    /// Default: the directory of the start URL.
    pub width: ScopeWidth,
    /// When not empty, only URLs that match one of these are fetched and listed (the start URL is always fetched).
    pub include: Vec<String>,
    /// Neither fetched nor listed.
    pub exclude: Vec<String>,
    /// Fetched for their links, not listed.
    pub follow_only: Vec<String>,
    /// Listed, not fetched.
    pub list_only: Vec<String>,
    /// Links marked `nofollow`, `ugc` or `sponsored` are taken as well. Default: no.
    pub take_nofollow_links: bool,
}

/// What a site says to crawlers and engines, and is ignored: for one's own site only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IgnoreConfig {
    /// What robots.txt disallows is fetched and listed, and a robots.txt that cannot be read stops nothing. Its
    /// `Crawl-delay` and its `Sitemap` lines count all the same. Default: no.
    pub robots: bool,
    /// `noindex`, the noindex part of `none`, and `unavailable_after` keep no page out, in meta elements and in
    /// headers. `nofollow` is another matter and counts. Default: no.
    pub noindex: bool,
    /// A canonical link to another URL keeps no page out; where it leads is looked at as any link is. Default: no.
    pub canonical: bool,
}

impl IgnoreConfig {
    /// The words for what is ignored, as the setting has them.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        [
            (self.robots, "robots"),
            (self.noindex, "noindex"),
            (self.canonical, "canonical"),
        ]
        .into_iter()
        .filter_map(|(is_ignored, word)| is_ignored.then_some(word))
    }
}

/// What takes a page out of the set that an earlier run listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemovalConfig {
    /// How long a page stays listed that cannot be fetched (network, 5xx, 401, 403, a body cut short), counted
    /// from the first failure; 0: it does not. Default 30 days.
    pub keep_failing: Duration,
}

impl Default for RemovalConfig {
    fn default() -> Self {
        Self {
            keep_failing: Duration::from_secs(30 * 24 * 60 * 60),
        }
    }
}

/// Where URLs come from. Default: from everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent sources, each a word of one setting"
)]
pub struct DiscoverConfig {
    /// Links on pages. Redirects and canonical links are followed without it too, because what they lead
    /// to is part of what a page is.
    pub links: bool,
    /// The sitemaps that robots.txt names, or `/sitemap.xml` when it names none.
    pub sitemaps: bool,
    /// RSS and Atom feeds of the site that its pages name.
    pub feeds: bool,
    /// Lists that the user gives.
    pub list: bool,
}

impl DiscoverConfig {
    /// Nothing but links on pages.
    pub const LINKS: Self = Self {
        links: true,
        sitemaps: false,
        feeds: false,
        list: false,
    };
}

impl Default for DiscoverConfig {
    fn default() -> Self {
        Self {
            links: true,
            sitemaps: true,
            feeds: true,
            list: true,
        }
    }
}

/// Starts per second and host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// At most this many, spaced evenly.
    PerSecond(f64),
    /// No spacing: for one's own machines.
    Unlimited,
}

/// How a host is spared. All of it holds per host; the host's own wishes make it slower, never faster.
#[derive(Debug, Clone, PartialEq)]
pub struct PolitenessConfig {
    /// Default 10 per second.
    pub rate: Rate,
    /// Requests in flight to one host. Default 4, at least 1.
    pub concurrency: NonZeroU32,
    /// When set: one request at a time, this long after the end of the last answer. Default none.
    /// The larger of this and robots.txt's `Crawl-delay` holds.
    pub delay: Option<Duration>,
    /// A `Retry-After` beyond this ends the work on the host for this run. Default 120 s.
    pub max_retry_after: Duration,
    /// Requests in flight in the whole process. Default 64.
    pub max_in_flight: NonZeroU32,
    /// Failures of the host in a row that make it pause. Default 10.
    pub failures_before_pause: u32,
    /// First pause; doubles each time. Default 60 s.
    pub pause: Duration,
    /// Longest pause. Default 600 s.
    pub max_pause: Duration,
    /// Pauses after which the host counts as down. Default 3.
    pub max_pauses: u32,
}

impl Default for PolitenessConfig {
    fn default() -> Self {
        Self {
            rate: Rate::PerSecond(10.0),
            concurrency: NonZeroU32::new(4).expect("4 is not 0"),
            delay: None,
            max_retry_after: Duration::from_secs(120),
            max_in_flight: NonZeroU32::new(64).expect("64 is not 0"),
            failures_before_pause: 10,
            pause: Duration::from_secs(60),
            max_pause: Duration::from_secs(600),
            max_pauses: 3,
        }
    }
}

/// Text that is never shown: its `Debug` is `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps `text`.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// Credentials for the start origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// `Authorization: Basic`.
    Basic {
        /// User name.
        user: String,
        /// Password.
        password: Secret,
    },
    /// `Authorization: Bearer`.
    Bearer(Secret),
}

/// `--resolve HOST:PORT:ADDRESS`: connect to `address` instead of asking the resolver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolve {
    /// Host name, lower case.
    pub host: String,
    /// Port in the URL that this is for.
    pub port: u16,
    /// Where to connect.
    pub address: IpAddr,
}

/// How requests are sent.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchConfig {
    /// `User-Agent`. Default `arpent/<version>`. Its leading product token selects the robots.txt group.
    pub user_agent: String,
    /// Extra request headers, sent to [`FetchConfig::credential_origins`] only.
    pub headers: Vec<(String, Secret)>,
    /// Credentials, sent to [`FetchConfig::credential_origins`] only.
    pub credentials: Option<Credentials>,
    /// The start origin, and its https twin. Filled in when the start URL is known.
    pub credential_origins: Vec<Origin>,
    /// Proxy URL (`http://`, `https://`). Proxies of the environment are never used.
    pub proxy: Option<String>,
    /// PEM file with further trusted certificate authorities.
    pub ca_file: Option<PathBuf>,
    /// Fixed addresses for names.
    pub resolve: Vec<Resolve>,
    /// The host of the start URL: the class of its addresses decides which addresses may be contacted.
    pub start_host: String,
    /// DNS lookup. Default 10 s.
    pub dns_timeout: Duration,
    /// TCP connect and TLS handshake together. Default 10 s.
    pub connect_timeout: Duration,
    /// From sending the request to the complete head. Default 30 s.
    pub head_timeout: Duration,
    /// Silence inside a body. Default 15 s.
    pub idle_timeout: Duration,
    /// One whole request. Default 60 s.
    pub total_timeout: Duration,
    /// Decoded bytes, and wire bytes, of one body. Default 15 MiB.
    pub max_body_bytes: u64,
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self {
            user_agent: concat!("arpent/", env!("CARGO_PKG_VERSION")).to_owned(),
            headers: Vec::new(),
            credentials: None,
            credential_origins: Vec::new(),
            proxy: None,
            ca_file: None,
            resolve: Vec::new(),
            start_host: String::new(),
            dns_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(10),
            head_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(15),
            total_timeout: Duration::from_secs(60),
            max_body_bytes: 15 * 1024 * 1024,
        }
    }
}

/// A rule for pages whose HTML matches a CSS selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRule {
    /// Glob on path and query (see [`ScopeConfig`]); `*` for every page.
    pub pages: String,
    /// CSS selector.
    pub selector: String,
    /// What a match means.
    pub action: PageAction,
}

/// What a matching [`PageRule`] does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageAction {
    /// The page is not listed.
    Exclude,
    /// The page's `lastmod` is read from the first match: from this attribute, or from its text.
    Lastmod {
        /// Attribute name; `None` reads the text.
        attribute: Option<String>,
    },
    /// The first match, this attribute of it or its text, is kept for own elements ([`ElementValue::Selected`]).
    /// Of several rules for the same name the first with a value wins.
    Select {
        /// What it is kept as: prefix and name of the element, e.g. `shop:price`.
        name: String,
        /// Attribute name; `None` reads the text.
        attribute: Option<String>,
    },
}

/// How pages are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseConfig {
    /// Meta names, and `X-Robots-Tag` tokens, whose directives are obeyed. Default `robots`, `googlebot`.
    pub robots_names: Vec<String>,
    /// Content types that are listed although they are not HTML. Default: PDF, PostScript, RTF, EPUB,
    /// Microsoft Office and `OpenDocument` files.
    pub document_types: Vec<String>,
    /// Links taken from one page. Default 50,000.
    pub max_links: usize,
    /// CPU time for one page, measured between chunks. Default 5 s.
    pub max_parse_time: Duration,
    /// Rules by CSS selector. Default none.
    pub page_rules: Vec<PageRule>,
}

impl Default for ParseConfig {
    fn default() -> Self {
        Self {
            robots_names: ["robots", "googlebot"].map(str::to_owned).to_vec(),
            document_types: [
                "application/pdf",
                "application/postscript",
                "application/rtf",
                "application/epub+zip",
                "application/msword",
                "application/vnd.ms-excel",
                "application/vnd.ms-powerpoint",
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                "application/vnd.openxmlformats-officedocument.presentationml.presentation",
                "application/vnd.oasis.opendocument.text",
                "application/vnd.oasis.opendocument.spreadsheet",
                "application/vnd.oasis.opendocument.presentation",
            ]
            .map(str::to_owned)
            .to_vec(),
            max_links: 50_000,
            max_parse_time: Duration::from_secs(5),
            page_rules: Vec::new(),
        }
    }
}

/// The format of a list of URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputFormat {
    /// One URL per line.
    Text,
    /// A header line that names columns, then one URL per record (RFC 4180).
    Csv,
    /// One JSON object per line.
    Ndjson,
    /// A sitemap or feed in any format that is read.
    Sitemap,
}

/// What the times of files say about pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileDates {
    /// When a page changed, unless most files were written at once.
    #[default]
    Mtime,
    /// Nothing.
    None,
}

/// At which URL a host serves `about.html` of a folder. `index.html` is always its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HtmlSuffix {
    /// At `/about` when the page names that as its canonical URL, otherwise at `/about.html`.
    #[default]
    Auto,
    /// At `/about.html`.
    Keep,
    /// At `/about`, unless there is a file of that name too.
    Drop,
}

/// How inputs are read that a set is built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BuildConfig {
    /// The format of every list. Default: found out from its first bytes.
    pub format: Option<InputFormat>,
    /// Whether the time of a file is evidence of a change. Default: it is when it is plausible.
    pub lastmod: FileDates,
    /// Whether `.html` stands in the URLs of a folder's pages. Default: unless a page says otherwise.
    pub html_suffix: HtmlSuffix,
    /// Publish nothing when a line or a value of an input cannot be used. Default no: it is left out.
    pub strict: bool,
}

/// What entries say besides `loc` and `lastmod`, taken from the pages themselves. Default: nothing. What
/// is not asked for is neither looked for nor stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extensions {
    /// The images of each page (`image:image`).
    pub images: bool,
    /// The versions of each page in other languages (`xhtml:link` with `hreflang`).
    pub hreflang: bool,
}

/// Where the files of the set stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// Every file in the root of the output.
    #[default]
    Root,
    /// Each file inside the directory it lists.
    InPlace,
}

/// When there is an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IndexMode {
    /// Always.
    #[default]
    Always,
    /// Not when the whole site is within one file's aim: then `sitemap.xml` is the only urlset.
    Auto,
}

/// A format of the protocol that a published set can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// XML sitemaps.
    Xml,
    /// Lists of URLs alone.
    Text,
    /// A feed of recent changes, RSS 2.0.
    Rss,
    /// A feed of recent changes, Atom 1.0.
    Atom,
}

/// A value for the entries of some pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryRule<T> {
    /// Glob on path and query (see [`ScopeConfig`]); `*` for every page.
    pub pages: String,
    /// What they get.
    pub value: T,
}

/// What entries say besides where a page is and when it changed. Of several rules for the same thing
/// the first that fits decides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntryConfig {
    /// How often pages are likely to change. Default none: search engines hardly look at it.
    pub changefreq: Vec<EntryRule<ChangeFreq>>,
    /// How important pages are among those of the site. Default none, which means 0.5.
    pub priority: Vec<EntryRule<Priority>>,
    /// Own namespaces, with the elements that entries get of them. Default none.
    pub namespaces: Vec<Namespace>,
}

/// A namespace that is not the protocol's (<https://www.sitemaps.org/protocol.html#extending>).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// What stands for it in files: a letter or `_`, then letters, digits, `-`, `.` and `_`.
    pub prefix: String,
    /// Its address: an absolute URI that is not that of a known extension.
    pub uri: String,
    /// URL of its schema, for [`PublishConfig::schema_location`].
    pub schema: Option<String>,
    /// Its elements, in the order in which entries have them. At most [`MAX_ELEMENTS`] in all namespaces.
    pub elements: Vec<NamespaceElement>,
}

/// Own elements that may be defined at most: with the longest values an entry then has less than 1 MB.
pub const MAX_ELEMENTS: usize = 100;

/// An element of a [`Namespace`]. Of several with the same name the first that fits and has a value counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceElement {
    /// Its name without prefix.
    pub name: String,
    /// Which entries have it: glob on path and query (see [`ScopeConfig`]); `*` for every page.
    pub pages: String,
    /// What stands in it.
    pub value: ElementValue,
}

/// What stands in an own element. Without a value there is no element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementValue {
    /// The same text everywhere.
    Constant(String),
    /// What the page has where a CSS selector matches first.
    Selected {
        /// CSS selector.
        selector: String,
        /// Attribute name; `None` reads the text.
        attribute: Option<String>,
    },
    /// The field of this name in the input that an entry was made from.
    Field(String),
}

impl Namespace {
    /// As files declare it.
    ///
    /// # Errors
    /// What is wrong with its prefix, its address or the URL of its schema.
    pub fn to_own(&self) -> Result<OwnNamespace, String> {
        let own = OwnNamespace::new(&self.prefix, &self.uri).map_err(|error| error.to_string())?;
        let Some(schema) = &self.schema else {
            return Ok(own);
        };
        let schema = Loc::parse(schema).map_err(|error| format!("schema {schema}: {error}"))?;
        Ok(own.with_schema(schema))
    }
}

impl EntryConfig {
    /// The page rules that select the values of own elements; they belong to [`ParseConfig::page_rules`].
    pub fn page_rules(&self) -> Vec<PageRule> {
        let mut rules = Vec::new();
        for namespace in &self.namespaces {
            for element in &namespace.elements {
                if let ElementValue::Selected {
                    selector,
                    attribute,
                } = &element.value
                {
                    rules.push(PageRule {
                        pages: element.pages.clone(),
                        selector: selector.clone(),
                        action: PageAction::Select {
                            name: format!("{}:{}", namespace.prefix, element.name),
                            attribute: attribute.clone(),
                        },
                    });
                }
            }
        }
        rules
    }
}

/// A part of a whole, from 0 to 1, in millionths.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Share(u32);

impl Share {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// All of it.
    pub const ALL: Self = Self(1_000_000);

    /// So many millionths, all of it at most.
    pub const fn millionths(millionths: u32) -> Self {
        if millionths > Self::ALL.0 {
            Self::ALL
        } else {
            Self(millionths)
        }
    }

    /// `part` of `whole`, rounded down; of nothing it is nothing.
    pub fn of(part: u64, whole: u64) -> Self {
        let millionths = u128::from(part) * u128::from(Self::ALL.0);
        let share = millionths.checked_div(u128::from(whole));
        Self::millionths(u32::try_from(share.unwrap_or_default()).unwrap_or(u32::MAX))
    }

    /// This share, and `other` of what is left.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let left = u64::from(Self::ALL.0.saturating_sub(self.0));
        let more = left * u64::from(other.0) / u64::from(Self::ALL.0);
        Self::millionths(
            self.0
                .saturating_add(u32::try_from(more).unwrap_or(u32::MAX)),
        )
    }

    /// In percent, rounded.
    pub fn percent(self) -> u32 {
        self.0.saturating_add(5_000) / 10_000
    }
}

/// When the published set is kept in spite of a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardConfig {
    /// The least share of the published set that a new one lists, unless fewer than 20 URLs are missing. Pages that
    /// answer 404 for the first time are listed all the same, but count as missing here. Default 0.8.
    pub min_listed_share: Share,
    /// The largest share of the known URLs that cannot be fetched. What fails stays listed for a while anyhow
    /// ([`RemovalConfig::keep_failing`]), so less would only hold back the news of the others; of a site that
    /// mostly fails even what answers says little. Default 0.5.
    pub max_error_share: Share,
    /// The largest share of the pages of the published set that changed and are one content, nearly one text, pages
    /// with one title, forms that ask for a password, or redirect to one URL or to such pages. Fewer than five do
    /// not count, unless they are all but the start page. Default 0.3.
    pub max_alike_share: Share,
    /// How many times as many URLs a new set lists at most, unless it is not 1,000 more. `None`: as many as there
    /// are. Default 5.
    pub max_growth: Option<u32>,
}

impl GuardConfig {
    /// Nothing speaks against a set.
    pub const OFF: Self = Self {
        min_listed_share: Share::NONE,
        max_error_share: Share::ALL,
        max_alike_share: Share::ALL,
        max_growth: None,
    };
}

impl Default for GuardConfig {
    fn default() -> Self {
        Self {
            min_listed_share: Share::millionths(800_000),
            max_error_share: Share::millionths(500_000),
            max_alike_share: Share::millionths(300_000),
            max_growth: Some(5),
        }
    }
}

/// Where and how the result is written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct PublishConfig {
    /// The folder the set is written to.
    pub output: PathBuf,
    /// URL of the directory where the output will be served, ending in `/`. `None`: the scope's directory.
    pub public_url: Option<String>,
    /// Default root.
    pub layout: Layout,
    /// Default always.
    pub index: IndexMode,
    /// Parts are gzipped. Default yes.
    pub gzip: bool,
    /// Pages that get files of their own under a name, whatever directories they lie in: the first that fits decides. A section
    /// is one file, `sitemap-shop.xml.gz`, until it outgrows its aim. In place it stands in the directory that its globs
    /// share. At most [`MAX_SECTIONS`] names. Default none.
    pub sections: Vec<EntryRule<SectionName>>,
    /// Entries from which a first-level directory gets its own file. Default 100.
    pub min_section: u64,
    /// The same for deeper directories. Default 1,000.
    pub min_subsection: u64,
    /// Entries that a file aims at. Default 10,000, at most 50,000.
    pub file_entries: u64,
    /// Uncompressed bytes that a file aims at. Default 10 MB, at most 52,428,800.
    pub file_bytes: u64,
    /// Files one index names at most. Default 50,000, the protocol's limit.
    pub index_entries: u64,
    /// Which formats. Feeds list recent changes only, so XML or text must be among them. Default XML.
    pub formats: BTreeSet<Format>,
    /// Pages in a feed at most, from 1 to 50,000. Default 500.
    pub feed_entries: u64,
    /// Files say where their schemas are (`xsi:schemaLocation`): search engines ignore it, some validators
    /// ask for it. Default no.
    pub schema_location: bool,
    /// What entries say besides URL and date. Default nothing.
    pub entries: EntryConfig,
    /// How long a dropped part stays on disk after it left the index. Default 24 h.
    pub grace: Duration,
    /// What is taken from the pages for their entries. Default nothing.
    pub extensions: Extensions,
    /// The folder for copies of the sets that were published last; `None`: none are kept. Filled in per site.
    pub generations: Option<PathBuf>,
    /// When the published set is kept.
    pub guard: GuardConfig,
    /// Publish in spite of the guard, and replace foreign files after a backup. Default no.
    pub force: bool,
    /// Rights of the published files, from 0o400 to 0o777; folders that are made for them can also be gone
    /// through by whom may read them. `None`: by the umask of the process.
    pub file_mode: Option<u32>,
    /// Group of the published files, and of folders that are made for them. `None`: that of the process.
    pub file_group: Option<FileGroup>,
    /// What is published is remembered in the store, so that the next publish knows what changes and which dates stay. Default
    /// yes; a store that is thrown away afterwards needs none of it. No setting of a user.
    pub remembers: bool,
}

/// A group of users of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileGroup {
    /// By its name in `/etc/group`.
    Name(String),
    /// By its number.
    Number(u32),
}

impl Default for PublishConfig {
    fn default() -> Self {
        Self {
            output: PathBuf::new(),
            public_url: None,
            layout: Layout::default(),
            index: IndexMode::default(),
            gzip: true,
            sections: Vec::new(),
            min_section: 100,
            min_subsection: 1_000,
            file_entries: 10_000,
            file_bytes: 10_000_000,
            index_entries: 50_000,
            formats: BTreeSet::from([Format::Xml]),
            feed_entries: 500,
            schema_location: false,
            entries: EntryConfig::default(),
            grace: Duration::from_secs(24 * 60 * 60),
            extensions: Extensions::default(),
            generations: None,
            guard: GuardConfig::default(),
            force: false,
            file_mode: None,
            file_group: None,
            remembers: true,
        }
    }
}

/// Where engines take the news of changed URLs unless the settings name another: it passes them on to all
/// that take part (<https://www.indexnow.org/faq>).
pub const INDEXNOW_ENDPOINT: &str = "https://api.indexnow.org/indexnow";

/// What a hook is called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookEvent {
    /// A new set stands.
    Published,
    /// A set was not published; the old one stands.
    Refused,
    /// The site could not be crawled, or the work on it ended by a failure.
    Failed,
}

impl HookEvent {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Published, Self::Refused, Self::Failed];

    /// The word for it: in settings, in `ARPENT_EVENT`, in what a webhook gets.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// Who is told of what was published. Default: nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifyConfig {
    /// Changed URLs are sent to an engine of `IndexNow`. Default no.
    pub indexnow: bool,
    /// Where to. Default [`INDEXNOW_ENDPOINT`].
    pub indexnow_endpoint: String,
    /// The file that holds the key. Default: a key is made and kept in the state.
    pub indexnow_key_file: Option<PathBuf>,
    /// URL of the file on the site that proves the key; its directory limits what may be sent. Default: the
    /// key's file in the output, which is written there.
    pub indexnow_key_location: Option<String>,
    /// URLs to ask for when something was published, with `{sitemap}` in the place of the encoded URL of each
    /// index. They may hold keys. Default none: the large engines take no such requests any more.
    pub ping: Vec<Secret>,
    /// The robots.txt that gets the `Sitemap` lines it lacks. Default none.
    pub robots_file: Option<PathBuf>,
    /// A program with its arguments that is called after a run. Default none.
    pub hook_command: Vec<String>,
    /// A command line for `sh -c` that is called after a run. Default none.
    pub hook_shell: Option<String>,
    /// URLs that get a POST with JSON after a run. They may hold keys. Default none.
    pub hook_url: Vec<Secret>,
    /// What hooks are called for. Default everything.
    pub hook_events: BTreeSet<HookEvent>,
    /// How long a hook's program may run. Default 60 s.
    pub hook_timeout: Duration,
}

impl NotifyConfig {
    /// Whether anything is called after a run.
    pub fn has_hooks(&self) -> bool {
        !self.hook_command.is_empty() || self.hook_shell.is_some() || !self.hook_url.is_empty()
    }
}

impl Default for NotifyConfig {
    fn default() -> Self {
        Self {
            indexnow: false,
            indexnow_endpoint: INDEXNOW_ENDPOINT.to_owned(),
            indexnow_key_file: None,
            indexnow_key_location: None,
            ping: Vec::new(),
            robots_file: None,
            hook_command: Vec::new(),
            hook_shell: None,
            hook_url: Vec::new(),
            hook_events: HookEvent::ALL.into(),
            hook_timeout: Duration::from_secs(60),
        }
    }
}
