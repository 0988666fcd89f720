//! Plain, validated settings: one struct per module, `Default` gives the documented defaults. The program
//! around this library reads the values from flags, environment and files.
//!
//! A default that is stated in a doc comment here, in `Default` and in `config/default.toml` is the
//! same in all three; a test compares the last two.

mod build;
mod crawl;
mod entries;
mod fetch;
mod guard;
mod notify;
mod parse;
mod publish;
mod render;

pub use sitemap_core::{
    ChangeFreq, Priority,
    partition::{MAX_SECTIONS, SectionName},
};

pub use self::build::{BuildConfig, HtmlSuffix, InputFormat};
pub use self::crawl::{
    DiscoverConfig, IgnoreConfig, LimitsConfig, RemovalConfig, RepeatsConfig, ScopeConfig,
    ScopeWidth,
};
pub use self::entries::{
    ElementValue, EntryConfig, EntryRule, Extensions, MAX_ELEMENTS, Namespace, NamespaceElement,
};
pub use self::fetch::{
    CookieUse, Credentials, FetchConfig, PolitenessConfig, Rate, Resolve, Secret,
};
pub use self::guard::{GuardConfig, Share};
pub use self::notify::{
    GOOGLE_ENDPOINT, GoogleConfig, HookEvent, INDEXNOW_ENDPOINT, MessageConfig, NotifyConfig,
};
pub use self::parse::{PageAction, PageRule, ParseConfig};
pub use self::publish::{
    FileDates, FileGroup, Format, IndexMode, Layout, MANIFEST_FILE, ObjectField, ObjectHeader,
    ObjectRule, PublishConfig,
};
pub use self::render::{RenderConfig, RenderMode};
use crate::url_key::{Identity, UrlKey};

/// Everything one crawl of one site needs to know.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The scope and the limits of the crawl.
    pub limits: LimitsConfig,
    /// Begins a new crawl that sends no validators and looks at its own visits alone. Default: no.
    pub fresh: bool,
    /// The URLs that belong to the crawl.
    pub scope: ScopeConfig,
    /// URL of the directory that the site is written as: for a staging copy, the production site. Nothing
    /// is requested there. Default: the site is written as what it is.
    pub written_as: Option<UrlKey>,
    /// The directives of the site that are ignored.
    pub ignore: IgnoreConfig,
    /// The limits that end a crawl on a site without end.
    pub repeats: RepeatsConfig,
    /// The conditions that take a listed page out of the set.
    pub removal: RemovalConfig,
    /// The sources of URLs.
    pub discover: DiscoverConfig,
    /// When two URLs are the same.
    pub identity: Identity,
    /// How the host is spared.
    pub politeness: PolitenessConfig,
    /// How requests are sent.
    pub fetch: FetchConfig,
    /// How pages are read.
    pub parse: ParseConfig,
    /// The place and form of the result.
    pub publish: PublishConfig,
    /// How inputs are read that a set is built from.
    pub build: BuildConfig,
    /// Who is notified of what was published.
    pub notify: NotifyConfig,
}
