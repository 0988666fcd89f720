//! The sitemaps and feeds of an audit: those that the site names itself, fetched under the clocks and the robots.txt of each host, or
//! others that the user names.

use super::{Audit, AuditError, AuditedSite, FEED, SITEMAP};
use crate::{
    check::Stopped,
    seeds::{DocumentKind, MAX_FEEDS, MAX_ROBOTS_SITEMAPS, documents},
    sitemap_set::{SetEntry, SetError, SetPlace, SetReading},
    store::{ListsOf, Merge, StoreError},
    url_key::UrlKey,
};

impl Audit<'_, '_> {
    /// Reads the sitemaps that robots.txt of the site names, or `/sitemap.xml`, and the feeds that the last crawl read or the start
    /// page names. What cannot be read is among [`AuditOutcome::unread`](super::AuditOutcome::unread).
    ///
    /// # Errors
    /// robots.txt cannot be read, the work was stopped, or the temporary file failed; without a log, there is no sitemap.
    pub fn own_sources(&mut self) -> Result<(), AuditError> {
        let named = self.named_sitemaps()?;
        let is_guess = named.is_empty();
        let usual = format!("{}/sitemap.xml", self.of.site.origin);
        let usual = self.network.identity.parse(&usual).ok();
        let mut why_none = None;
        for url in named.into_iter().chain(usual.filter(|_| is_guess)) {
            self.source(url.as_str(), &SetPlace::Url(url.clone()))?;
            if is_guess && self.documents.names.is_empty() {
                // Nothing names it.
                why_none = self.outcome.unread.pop();
            }
        }
        for url in self.feeds()? {
            self.source(url.as_str(), &SetPlace::Url(url.clone()))?;
        }
        match why_none {
            Some(why) if self.outcome.documents == 0 && self.outcome.logs.lines == 0 => {
                Err(SetError::Unreadable {
                    set: self.of.site.url(),
                    reason: format!("its robots.txt names no sitemap, and {why}"),
                }
                .into())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Reads a sitemap, a feed, or a set of sitemaps, as [`SetReading`] does. One that cannot be read is among
    /// [`AuditOutcome::unread`](super::AuditOutcome::unread), and what was read of it before counts.
    ///
    /// # Errors
    /// The work was stopped, the network cannot be used, or the temporary file failed.
    pub fn source(&mut self, name: &str, place: &SetPlace) -> Result<(), AuditError> {
        let (of, named, documents) = (self.of, &mut self.named, &mut self.documents);
        let mut left_out = 0;
        let mut take = |SetEntry {
                            document,
                            kind,
                            entry,
                        }: SetEntry<'_>|
         -> Result<(), StoreError> {
            let Ok(key) = of.config.identity.parse(entry.loc.as_str()) else {
                left_out += 1;
                return Ok(());
            };
            let key = of.site.crawled_key(&key).unwrap_or(key);
            let number = documents.of(document);
            let by = if kind.is_feed() { FEED } else { SITEMAP };
            named.add_number(key.as_str(), by, number, Merge::Least)
        };
        let reading = SetReading::new(&mut self.network, &self.progress, &mut take);
        match reading.with_listed_feeds().read(name, place) {
            Ok(outline) => {
                self.outcome.documents += outline.sitemaps;
                self.outcome.left_out += outline.left_out + left_out;
            }
            Err(SetError::Unreadable { reason, .. }) => self.outcome.unread.push(reason),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// The `Sitemap:` lines of the site's robots.txt.
    fn named_sitemaps(&mut self) -> Result<Vec<UrlKey>, AuditError> {
        let origin = &self.of.site.origin;
        let downloader = (self.network.connect)(origin).map_err(SetError::Network)?;
        let shutdown = self.network.shutdown.clone();
        let answer = self.network.wait(downloader.robots(origin, &shutdown));
        let rules = answer.map_err(|Stopped| SetError::Stopped)?;
        let rules = rules.map_err(|error| SetError::Unreadable {
            set: self.of.site.url(),
            reason: error.to_string(),
        })?;
        let identity = &self.network.identity;
        let Ok(place) = identity.parse(&format!("{origin}/robots.txt")) else {
            return Ok(Vec::new());
        };
        let lines = rules.sitemaps().iter().take(MAX_ROBOTS_SITEMAPS);
        let urls = lines.filter_map(|line| {
            identity
                .resolve(&place.to_url(), line, encoding_rs::UTF_8)
                .ok()
        });
        Ok(urls.collect())
    }

    fn feeds(&self) -> Result<Vec<UrlKey>, StoreError> {
        let AuditedSite { store, site, .. } = self.of;
        let mut feeds = store.lists(&site.start, ListsOf::Page)?.feeds;
        for document in documents(store)? {
            if document.kind == DocumentKind::Feed
                && let Ok(url) = UrlKey::from_normalised(&document.name)
                && !feeds.contains(&url)
            {
                feeds.push(url);
            }
        }
        feeds.truncate(MAX_FEEDS);
        Ok(feeds)
    }
}
