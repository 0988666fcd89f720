//! Rules of robots.txt ([RFC 9309](https://www.rfc-editor.org/rfc/rfc9309)): reads the file for one product token and judges URLs
//! by it. It never fetches, and only reports an unreachable file. Any bytes have a result, at a bounded cost.
//!
//! ```text
//! answer -> RobotsSink (at most 500 KiB) -> judge_answer -> Rules -> allows(path and query)
//! ```
//!
//! The `robotstxt` crate splits lines into keys and values (its grammar knows the usual typos); groups,
//! precedence and matching are ours. Where Google's parser differs from the RFC, the RFC is followed:
//! escaped unreserved characters equal the plain ones, and `/robots.txt` itself is always allowed.

mod body;
mod matcher;
mod parse;

#[cfg(test)]
mod tests;

use std::{collections::HashSet, time::Duration};

use url::Url;

use crate::page::BodyEnd;

pub use self::body::{MAX_ROBOTS_BYTES, RobotsSink, cut};

use self::matcher::Matcher;

/// Redirects that are followed to a robots.txt, across hosts too; after more there is no file ([RFC 9309 section
/// 2.3.1.2](https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1.2)).
pub const MAX_REDIRECTS: u32 = 5;

/// The longest `Crawl-delay` that a crawl obeys; a longer one ends it, since no site is crawled at that pace.
pub const MAX_CRAWL_DELAY: Duration = Duration::from_secs(60 * 60);

/// The product token when a `User-Agent` has none.
const DEFAULT_TOKEN: &str = "arpent";

/// The part of a robots.txt that is meant for one product token.
///
/// ```
/// use crawler::robots::Rules;
///
/// let rules = Rules::parse(b"User-agent: *\nDisallow: /private\nAllow: /private/open$\n", "arpent");
/// assert!(rules.allows("/"));
/// assert!(!rules.allows("/private/page?id=1"));
/// assert!(rules.allows("/private/open"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Rules {
    matcher: Matcher,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
    /// The status of an answer without a file.
    refusal: Option<u16>,
    /// Product token of our group; `None`: that for all agents counts.
    agent: Option<Box<str>>,
}

/// Meaning of the answer to a request for robots.txt ([RFC 9309 section
/// 2.3.1](https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1)).
#[derive(Debug, Clone)]
pub enum RobotsAnswer {
    /// The rules hold.
    Rules(Rules),
    /// There is no such file: everything is allowed.
    AllowAll,
    /// The file cannot be read now: nothing is allowed.
    Unreachable,
}

/// Result for a URL, with the rule that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision<'a> {
    /// The verdict.
    pub allowed: bool,
    /// Line of the deciding rule, counted from 1; `None` when no rule matches.
    pub line: Option<usize>,
    /// The pattern on that line; bytes outside ASCII are percent-encoded.
    pub pattern: Option<&'a str>,
}

/// Judges the answer to a request for robots.txt for `agent` (a product token, see [`agent_token`]).
///
/// `status` is `None` when no answer came (DNS, connection, TLS, time-out), `end` is how the body ended.
/// Redirects are the caller's to follow; a 3xx that is passed here is one too many, or leads nowhere.
///
/// | answer | meaning |
/// | --- | --- |
/// | 2xx with a whole body, or as much as is read of one | its rules |
/// | 2xx whose body broke off or cannot be decoded | unreachable |
/// | 3xx | allow all |
/// | 429 | unreachable (Google Search Central) |
/// | other 4xx, 401 and 403 too | allow all |
/// | 5xx, anything else, no answer | unreachable |
pub fn judge_answer(status: Option<u16>, end: &BodyEnd, body: &[u8], agent: &str) -> RobotsAnswer {
    match status {
        Some(200..=299) => match end {
            BodyEnd::Complete | BodyEnd::Skipped | BodyEnd::TooLarge => {
                RobotsAnswer::Rules(Rules::parse(body, agent))
            }
            BodyEnd::CutShort | BodyEnd::Undecodable(_) => RobotsAnswer::Unreachable,
        },
        Some(429) => RobotsAnswer::Unreachable,
        Some(300..=499) => RobotsAnswer::AllowAll,
        Some(_) | None => RobotsAnswer::Unreachable,
    }
}

/// The product token of a `User-Agent`: its leading letters, `-` and `_`; `arpent` when there are none
/// ([RFC 9309 section 2.2.1](https://www.rfc-editor.org/rfc/rfc9309#section-2.2.1)).
///
/// ```
/// assert_eq!(crawler::robots::agent_token("arpent/1.0 (+https://example.com)"), "arpent");
/// ```
pub fn agent_token(user_agent: &str) -> String {
    let token = parse::leading_token(user_agent);
    if token.is_empty() {
        DEFAULT_TOKEN.to_owned()
    } else {
        token.to_owned()
    }
}

impl Rules {
    /// Reads the rules for `agent`, a product token (see [`agent_token`]), compared without case. A version after a `/` is
    /// ignored.
    ///
    /// Only the first lines of a body over [`MAX_ROBOTS_BYTES`] count. A line that is not a directive is skipped, so that an HTML
    /// page gives no rules rather than an error.
    pub fn parse(body: &[u8], agent: &str) -> Self {
        parse::rules(cut(body), agent)
    }

    /// Rules that allow everything.
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// The result of an answer with `status` that has no valid file ([`RobotsAnswer::AllowAll`]): everything is allowed. Only 404
    /// and 410 prove that there is no file.
    pub(crate) fn of_refusal(status: u16) -> Self {
        Self {
            refusal: Some(status),
            ..Self::default()
        }
    }

    /// The same rules as a robots.txt of their group alone, each on its line, for later use. `Sitemap` lines and `Crawl-delay` are left
    /// out.
    pub(crate) fn to_text(&self) -> String {
        let mut text = format!("User-agent: {}\n", self.group());
        let mut written = 1;
        for (line, is_allow, pattern) in self.matcher.lines() {
            while written + 1 < line {
                text.push('\n');
                written += 1;
            }
            text += if is_allow { "Allow: " } else { "Disallow: " };
            text += pattern;
            text.push('\n');
            written += 1;
        }
        text
    }

    /// Reads what [`Rules::to_text`] wrote, which may be longer than a fetched file, because characters outside of ASCII are
    /// escaped.
    pub(crate) fn from_text(text: &str) -> Self {
        let first = text.lines().next().unwrap_or_default();
        let group = first.strip_prefix("User-agent: ").unwrap_or_default();
        parse::rules(text.as_bytes(), parse::leading_token(group))
    }

    /// The `User-agent` of the group that counts.
    pub fn group(&self) -> &str {
        self.agent.as_deref().unwrap_or("*")
    }

    /// Returns whether there may be a file that is not served to arpent (401, 403, a broken redirect): then everything is
    /// allowed, but its `Sitemap` lines are unknown.
    pub fn is_hidden(&self) -> bool {
        self.refusal
            .is_some_and(|status| !matches!(status, 404 | 410))
    }

    /// The status of the answer when it has no file to obey, such as 404.
    pub fn refusal(&self) -> Option<u16> {
        self.refusal
    }

    /// Returns whether a URL may be fetched: `path_and_query` is that of the normalised URL that is really requested. An empty
    /// one means `/`; a fragment is ignored.
    pub fn allows(&self, path_and_query: &str) -> bool {
        self.decide(path_and_query).allowed
    }

    /// Returns whether a URL may be fetched, with the rule that decided: the longest pattern that matches, an `Allow` among
    /// equals ([RFC 9309 section 2.2.2](https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2)).
    pub fn decide(&self, path_and_query: &str) -> Decision<'_> {
        match self.matcher.deciding_rule(path_and_query) {
            Some(rule) => Decision {
                allowed: rule.is_allow(),
                line: Some(rule.line()),
                pattern: Some(rule.pattern()),
            },
            None => Decision {
                allowed: true,
                line: None,
                pattern: None,
            },
        }
    }

    /// The largest `Crawl-delay` of our groups. The directive is not in the RFC and has no upper bound here; zero has no effect.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The values of all `Sitemap` lines of any group, without repetitions, in order.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// The `Sitemap` lines as absolute http(s) URLs, without repetitions, in order. A relative value,
    /// which the [sitemap protocol](https://www.sitemaps.org/protocol.html#submit_robots) forbids, is
    /// resolved against `robots_url`, the URL of the file.
    pub fn sitemap_urls(&self, robots_url: &Url) -> Vec<Url> {
        let mut seen = HashSet::new();
        self.sitemaps
            .iter()
            .filter_map(|value| robots_url.join(value).ok())
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .filter(|url| seen.insert(url.clone()))
            .collect()
    }
}
