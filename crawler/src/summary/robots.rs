//! The lines that robots.txt should have so that search engines find the set, and those that it has.

use serde::Serialize;

use crate::{
    robots::Rules,
    site::Site,
    url_key::{Identity, Origin, UrlKey},
    view::Section,
};

/// A line that robots.txt should have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct SitemapLine {
    /// URL of the robots.txt.
    url: String,
    /// The line.
    line: String,
    /// Without the line engines do not accept the set, because it is not of the site's own origin.
    required: bool,
    /// Whether this session saw the line there; `null` when it did not read that file, or was not shown it.
    present: Option<bool>,
}

impl SitemapLine {
    /// The URL of the sitemap that the line names.
    pub(super) fn sitemap(&self) -> Option<&str> {
        self.line.strip_prefix("Sitemap: ")
    }
}

/// The robots.txt of the site that the set is of, as far as a session has seen it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RobotsFile {
    origin: Origin,
    /// The sitemaps it names; `None` when it was not read, or is not shown to us.
    sitemaps: Option<Vec<String>>,
}

impl RobotsFile {
    /// The file of `site`, which a crawl read as `robots`. The file of the site that a crawled one is written as is not read.
    pub fn of(site: &Site, robots: Option<&Rules>) -> Self {
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

    /// The file of `site`, when nothing was fetched.
    pub fn unread(site: &Site) -> Self {
        Self {
            origin: site.written().origin,
            sitemaps: None,
        }
    }

    /// The line for the sitemap at `url`.
    pub(super) fn line_for(&self, url: &str) -> SitemapLine {
        let identity = Identity::default();
        let key = identity.parse(url).ok();
        let names = |named: &String| key.is_some() && identity.parse(named).ok() == key;
        SitemapLine {
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

impl SitemapLine {
    /// Returns whether engines do not accept the set without the line, and it was not seen.
    pub(super) fn is_missing(&self) -> bool {
        self.required && self.present != Some(true)
    }
}

/// Adds the lines to a view.
pub(super) fn add_to<'l>(all: impl Iterator<Item = &'l SitemapLine>, section: &mut Section) {
    for robots in all {
        let url = &robots.url;
        let title = match (robots.present, robots.required) {
            (Some(true), _) => format!("{url} has the line:"),
            (Some(false), false) => "for robots.txt:".to_owned(),
            (None, false) => format!("for {url} (not read):"),
            (Some(false), true) => format!(
                "{url} needs this line, or engines do not accept sitemaps that are served elsewhere:"
            ),
            (None, true) => format!(
                "{url} (not read) needs this line, or engines do not accept sitemaps that are served elsewhere:"
            ),
        };
        let last = section.rows.last_mut();
        match last.filter(|row| *row.cells == [title.as_str().into()]) {
            Some(row) => row.below.push(robots.line.clone()),
            None => section.line(title).below.push(robots.line.clone()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{publish::Published, summary::Summary};

    /// The file of `www.example.com`, with these sitemaps.
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
    fn missing_line_of_robots_txt_is_named() {
        fn check(sitemap: &str, seen: Option<&[&str]>, expected: &str) {
            let mut summary = Summary::new("https://www.example.com/");
            let published = Published {
                sitemap_urls: vec![sitemap.to_owned()],
                ..Published::default()
            };
            summary.set_published(&published, &robots_file(seen));
            let view = summary.view();
            let row = &view.sections[0].rows[0];
            assert_eq!(row.cells[0].text(), expected);
            assert_eq!(row.below, [format!("Sitemap: {sitemap}")]);
        }
        let own = "https://www.example.com/sitemap.xml";
        let robots = "https://www.example.com/robots.txt";
        check(own, Some(&[]), "for robots.txt:");
        check(own, Some(&[own]), &format!("{robots} has the line:"));
        check(
            own,
            Some(&["HTTPS://www.Example.com:443/sitemap.xml"]),
            &format!("{robots} has the line:"),
        );
        check(
            own,
            None,
            "for https://www.example.com/robots.txt (not read):",
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
