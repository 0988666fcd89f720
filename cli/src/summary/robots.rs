//! The lines that robots.txt should have so that search engines find the set, and those that it has.

use crawler::{
    robots::Rules,
    site::Site,
    url_key::{Identity, Origin, UrlKey},
};
use serde::Serialize;

/// One line that robots.txt should have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct RobotsLine {
    /// URL of the robots.txt.
    url: String,
    /// The line.
    line: String,
    /// Without the line engines do not accept the set, because it is not of the site's own origin.
    required: bool,
    /// Whether this session saw the line there; `null` when it did not read that file, or was not shown it.
    present: Option<bool>,
}

impl RobotsLine {
    /// The URL of the sitemap that the line names.
    pub(super) fn sitemap(&self) -> Option<&str> {
        self.line.strip_prefix("Sitemap: ")
    }
}

/// The robots.txt of the site that the set is of, as far as a session has seen it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RobotsFile {
    origin: Origin,
    /// The sitemaps it names; `None` when it was not read, or is not shown to us.
    sitemaps: Option<Vec<String>>,
}

impl RobotsFile {
    /// That of `site`, which a crawl read as `robots`. The file of the site that a crawled one is written as is not read.
    pub(crate) fn of(site: &Site, robots: Option<&Rules>) -> Self {
        let origin = site.written().origin;
        let is_of_site = origin == site.origin;
        let robots = robots.filter(|robots| is_of_site && !robots.is_hidden());
        Self {
            origin,
            sitemaps: robots.map(|robots| {
                let robots_url = UrlKey::from_normalised(&format!("{}/robots.txt", site.origin));
                let urls = robots_url.map(|url| robots.sitemap_urls(&url.to_url()));
                urls.unwrap_or_default()
                    .into_iter()
                    .map(String::from)
                    .collect()
            }),
        }
    }

    /// That of `site`, when nothing was fetched.
    pub(crate) fn unread(site: &Site) -> Self {
        Self {
            origin: site.written().origin,
            sitemaps: None,
        }
    }

    /// The line for the sitemap at `url`.
    pub(super) fn line_for(&self, url: &str) -> RobotsLine {
        let identity = Identity::default();
        let key = identity.parse(url).ok();
        let names = |named: &String| key.is_some() && identity.parse(named).ok() == key;
        RobotsLine {
            url: format!("{}/robots.txt", self.origin),
            line: format!("Sitemap: {url}"),
            required: key.as_ref().is_some_and(|key| !key.is_on(&self.origin)),
            present: self
                .sitemaps
                .as_ref()
                .map(|sitemaps| sitemaps.iter().any(names)),
        }
    }
}

/// Adds the lines to the text.
pub(super) fn add_lines(all: &[RobotsLine], lines: &mut Vec<String>) {
    let mut title = String::new();
    for robots in all {
        let url = &robots.url;
        let own_title = match (robots.present, robots.required) {
            (Some(true), _) => format!("  {url} has the line:"),
            (Some(false), false) => "  for robots.txt:".to_owned(),
            (None, false) => format!("  for {url} (not read):"),
            (Some(false), true) => format!(
                "  {url} needs this line, or engines do not accept sitemaps that are served elsewhere:"
            ),
            (None, true) => format!(
                "  {url} (not read) needs this line, or engines do not accept sitemaps that are served elsewhere:"
            ),
        };
        if own_title != title {
            title = own_title;
            lines.push(title.clone());
        }
        lines.push(format!("    {}", robots.line));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crawler::publish::Published;

    use super::*;
    use crate::summary::Summary;

    /// That of `www.example.com`, with these sitemaps.
    pub(in crate::summary) fn robots_file(sitemaps: Option<&[&str]>) -> RobotsFile {
        let start = Identity::default()
            .parse("https://www.example.com/")
            .unwrap();
        RobotsFile {
            origin: start.origin(),
            sitemaps: sitemaps.map(|urls| urls.iter().copied().map(str::to_owned).collect()),
        }
    }

    #[test]
    fn what_robots_txt_lacks_is_told_by_how_much_it_matters() {
        fn check(sitemap: &str, seen: Option<&[&str]>, expected: &str) {
            let mut summary = Summary::new("https://www.example.com/");
            let published = Published {
                sitemap_urls: vec![sitemap.to_owned()],
                ..Published::default()
            };
            summary.set_published(&published, &robots_file(seen));
            let lines = summary.text();
            assert_eq!(
                lines[1..],
                [expected.to_owned(), format!("    Sitemap: {sitemap}")]
            );
        }
        let own = "https://www.example.com/sitemap.xml";
        let robots = "  https://www.example.com/robots.txt";
        check(own, Some(&[]), "  for robots.txt:");
        check(own, Some(&[own]), &format!("{robots} has the line:"));
        check(
            own,
            Some(&["HTTPS://www.Example.com:443/sitemap.xml"]),
            &format!("{robots} has the line:"),
        );
        check(
            own,
            None,
            "  for https://www.example.com/robots.txt (not read):",
        );
        for foreign in [
            "https://maps.example.net/sitemap.xml",
            "http://www.example.com/sitemap.xml",
            "https://www.example.com:8443/sitemap.xml",
        ] {
            let needs =
                "needs this line, or engines do not accept sitemaps that are served elsewhere:";
            check(foreign, Some(&[own]), &format!("{robots} {needs}"));
            check(foreign, None, &format!("{robots} (not read) {needs}"));
            check(
                foreign,
                Some(&[own, foreign]),
                &format!("{robots} has the line:"),
            );
        }
    }
}
