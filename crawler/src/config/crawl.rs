//! Settings for the limits and the scope of a crawl, and for directives of the site that it ignores.

use std::time::Duration;

/// The limits of one session. Reaching a page or time limit makes the session partial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitsConfig {
    /// Finished page requests without retries in one start of the program. Default 1,000,000.
    pub max_pages: u64,
    /// Wall time of one start. Default 24 h.
    pub max_time: Duration,
    /// Fewest hops from the start URL; deeper URLs are known but not fetched. Default: no limit.
    pub max_depth: Option<u32>,
    /// Known URLs of one crawl, over all its sessions; further ones are counted and not recorded. Default 10,000,000.
    pub max_known_urls: u64,
    /// Bytes that the state may have for further URLs to be recorded. Default 4 GiB.
    pub max_state_bytes: u64,
    /// Memory for what was found and is not in the state yet; while more waits no page is asked for. Default 8 MiB.
    pub max_pending_bytes: usize,
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
            max_known_urls: 10_000_000,
            max_state_bytes: 4 << 30,
            max_pending_bytes: 8 << 20,
            max_tries: 3,
            retry_delays: vec![Duration::from_secs(1), Duration::from_secs(5)],
        }
    }
}

/// The scope of the crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScopeWidth {
    /// The directory of the start URL and everything below it.
    #[default]
    Directory,
    /// The whole origin.
    Origin,
}

/// The URLs that belong to the crawl.
///
/// Patterns are globs: `*` represents any characters (slashes too), `?` one character,
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
    /// Links that log out, delete and the like are followed although requests carry credentials or cookies of the user. Default no.
    pub follow_actions: bool,
}

/// The directives of a site that are ignored: for one's own site only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent wishes, each a word of one setting"
)]
pub struct IgnoreConfig {
    /// URLs that robots.txt disallows are fetched and listed, and a robots.txt that cannot be read stops nothing. Its
    /// `Crawl-delay` and its `Sitemap` lines count all the same. Default: no.
    pub robots: bool,
    /// `noindex`, the noindex part of `none`, and `unavailable_after` keep no page out, in meta elements and in
    /// headers. Default: no.
    pub noindex: bool,
    /// A canonical link to another URL keeps no page out; where it leads is looked at as any link is. Default: no.
    pub canonical: bool,
    /// Links marked `nofollow`, `ugc` or `sponsored` are followed. The `nofollow` of a whole page counts. Default: no.
    pub nofollow: bool,
    /// `Retry-After` is not obeyed, neither that of an answer nor one remembered of an earlier session. Default: no.
    pub retry_after: bool,
}

impl IgnoreConfig {
    /// The words for what is ignored, as the setting has them.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        [
            (self.robots, "robots"),
            (self.noindex, "noindex"),
            (self.canonical, "canonical"),
            (self.nofollow, "nofollow"),
            (self.retry_after, "retry-after"),
        ]
        .into_iter()
        .filter_map(|(is_ignored, word)| is_ignored.then_some(word))
    }
}

/// How a crawl ends on a site without end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepeatsConfig {
    /// Parts of the site that go on without end are cut, parameters that only make copies are left out, and the page that represents
    /// every URL that does not exist is neither listed nor followed. Default: yes.
    pub close_patterns: bool,
    /// Three URLs that cannot exist are asked for in each crawl, to know the site's page for them. Default: yes.
    pub not_found_probe: bool,
    /// Memory of the text by which pages are compared. When more is needed a part of the text is compared. Default 16 MiB.
    pub max_block_memory: usize,
}

impl Default for RepeatsConfig {
    fn default() -> Self {
        Self {
            close_patterns: true,
            not_found_probe: true,
            max_block_memory: 16 << 20,
        }
    }
}

/// The conditions that take a page out of the set that an earlier crawl listed.
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

/// The sources of URLs. Default: from everywhere.
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
