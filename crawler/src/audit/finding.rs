//! The findings of an audit: their kinds, with code, severity and advice, and the groups in which they are counted.

use std::cmp::Reverse;

use sitemap_core::read::Severity;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $severity:ident, $title:literal, $help:literal;)*) => {
        /// Kind of a finding. The codes are stable: baselines and scripts use them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum AuditKind { $($(#[$doc])* $name,)* }

        impl AuditKind {
            /// Every kind, in the order in which they are shown.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable code.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// How bad it is.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }

            /// The defect, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }

            /// The advice.
            pub fn help(self) -> &'static str {
                match self { $(Self::$name => $help,)* }
            }
        }
    };
}

kinds! {
    /// 404, 410, or the page for URLs that do not exist.
    SitemapDead = "sitemap-dead", Error, "a sitemap lists a page that does not exist",
        "take it out of the sitemap; if the page moved, redirect its URL and list the new one";
    /// Another answer than 200, or none.
    SitemapFailing = "sitemap-failing", Error, "a sitemap lists a page that does not answer 200",
        "repair the page, or take it out of the sitemap";
    /// A redirect, or a refresh at once.
    SitemapRedirect = "sitemap-redirect", Error, "a sitemap lists a URL that redirects",
        "list the URL that it leads to";
    /// The page has noindex.
    SitemapNoindex = "sitemap-noindex", Error, "a sitemap lists a page that has noindex",
        "take it out of the sitemap, or the noindex out of the page";
    /// The page names another canonical URL.
    SitemapCanonical = "sitemap-canonical", Error, "a sitemap lists a page that names another canonical URL",
        "list the canonical URL";
    /// robots.txt forbids it.
    SitemapRobots = "sitemap-robots", Error, "a sitemap lists a URL that robots.txt disallows",
        "take it out of the sitemap, or allow it in robots.txt";
    /// The crawl did not meet it.
    SitemapUnknown = "sitemap-unknown", Warning, "a sitemap lists a URL that the crawl does not know",
        "crawl again, with sitemaps among the sources of URLs (discover); a URL outside of the crawled directory needs a wider scope, and one of another host belongs in a sitemap of that host";
    /// No page links to it.
    SitemapOrphan = "sitemap-orphan", Warning, "a sitemap lists a page that no page links to",
        "link to it, or take it out of the sitemap if visitors should not find it";
    /// The crawl leaves it out for another reason.
    SitemapLeftOut = "sitemap-left-out", Note, "a sitemap lists a URL that the crawl leaves out",
        "run `arpent why URL` for the reason";
    /// As in a sitemap.
    FeedDead = "feed-dead", Warning, "a feed lists a page that does not exist",
        "take it out of the feed, or redirect its URL";
    /// As in a sitemap.
    FeedFailing = "feed-failing", Warning, "a feed lists a page that does not answer 200",
        "repair the page, or take it out of the feed";
    /// As in a sitemap.
    FeedRedirect = "feed-redirect", Warning, "a feed lists a URL that redirects",
        "list the URL that it leads to";
    /// As in a sitemap.
    FeedNoindex = "feed-noindex", Warning, "a feed lists a page that has noindex",
        "take it out of the feed, or the noindex out of the page";
    /// As in a sitemap.
    FeedCanonical = "feed-canonical", Warning, "a feed lists a page that names another canonical URL",
        "list the canonical URL";
    /// As in a sitemap.
    FeedRobots = "feed-robots", Warning, "a feed lists a URL that robots.txt disallows",
        "take it out of the feed, or allow it in robots.txt";
    /// As in a sitemap, inside of the crawled directory.
    FeedUnknown = "feed-unknown", Warning, "a feed lists a URL that the crawl does not know",
        "crawl again, with feeds among the sources of URLs (discover)";
    /// The crawl lists it, and no sitemap of the site does.
    NotInSitemap = "not-in-sitemap", Warning, "the crawl lists a page that is in no sitemap",
        "add it to a sitemap, or let arpent publish the sitemaps";
    /// Answered 200 in a log, and the crawl did not meet it.
    LogUnknown = "log-unknown", Warning, "the access log has a page that the crawl does not know",
        "link to it, or list it in a sitemap; a page that should not be found needs noindex or a redirect";
    /// Often answered 404 or 410 in a log.
    LogDead = "log-dead", Warning, "the access log has a page that is often asked for and does not exist",
        "redirect it to the page that replaces it, and correct the links to it";
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFinding {
    /// The kind.
    pub kind: AuditKind,
    /// The URL it is about.
    pub url: String,
    /// The sitemap or feed that names the URL.
    pub named_by: Option<String>,
    /// The message: a fragment of a sentence without a full stop.
    pub message: String,
    /// Requests in the logs, of a finding that is about them.
    pub requests: u64,
}

/// The findings of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditGroup {
    /// The kind of the findings.
    pub kind: AuditKind,
    /// All of them.
    pub count: u64,
    /// Findings that are shown: the first in the order of URLs, or those with the most requests.
    pub shown: Vec<AuditFinding>,
}

/// Findings by their kind, in bounded memory.
#[derive(Debug)]
pub(super) struct AuditGroups {
    max_shown: usize,
    groups: Vec<AuditGroup>,
}

impl AuditGroups {
    /// No findings yet; of one kind `max_shown` are kept.
    pub(super) fn new(max_shown: usize) -> Self {
        let groups = AuditKind::ALL.iter().map(|kind| AuditGroup {
            kind: *kind,
            count: 0,
            shown: Vec::new(),
        });
        Self {
            max_shown,
            groups: groups.collect(),
        }
    }

    pub(super) fn add(&mut self, finding: AuditFinding) {
        let group = &mut self.groups[finding.kind as usize];
        group.count += 1;
        if group.shown.len() < self.max_shown {
            group.shown.push(finding);
        } else if finding.requests > 0 {
            group.shown.push(finding);
            if group.shown.len() >= self.max_shown.saturating_mul(2) {
                keep_most_requested(group, self.max_shown);
            }
        }
    }

    /// The kinds that were found.
    pub(super) fn finish(mut self) -> Vec<AuditGroup> {
        self.groups.retain(|group| group.count > 0);
        for group in &mut self.groups {
            keep_most_requested(group, self.max_shown);
        }
        self.groups
    }
}

/// Findings without requests stay in their order.
fn keep_most_requested(group: &mut AuditGroup, most: usize) {
    group.shown.sort_by_key(|finding| Reverse(finding.requests));
    group.shown.truncate(most);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn finding(kind: AuditKind, url: &str, requests: u64) -> AuditFinding {
        AuditFinding {
            kind,
            url: url.to_owned(),
            named_by: None,
            message: String::new(),
            requests,
        }
    }

    #[test]
    fn first_or_most_requested_findings_are_kept() {
        let mut groups = AuditGroups::new(2);
        for number in 0..100 {
            let url = format!("/{number:02}");
            groups.add(finding(AuditKind::SitemapDead, &url, 0));
            groups.add(finding(AuditKind::LogDead, &url, number % 50 + 1));
        }
        let groups = groups.finish();
        let shown: Vec<Vec<&str>> = groups
            .iter()
            .map(|group| group.shown.iter().map(|found| &*found.url).collect())
            .collect();
        assert_eq!(shown, [["/00", "/01"], ["/49", "/99"]]);
        assert!(groups.iter().all(|group| group.count == 100));
    }

    #[test]
    fn codes_are_different_and_kinds_are_in_order() {
        let codes: BTreeSet<_> = AuditKind::ALL.iter().map(|kind| kind.code()).collect();
        assert_eq!(codes.len(), AuditKind::ALL.len());
        for (place, kind) in AuditKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, place);
        }
    }
}
