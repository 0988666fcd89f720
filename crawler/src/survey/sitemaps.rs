//! The site's own sitemaps: how many URLs they list.

use std::{
    collections::{HashSet, VecDeque},
    ops::ControlFlow,
};

use serde::Serialize;

use super::{SurveyedRobots, Surveyor, turn_to};
use crate::{
    check::Stopped,
    crawl::CrawlError,
    seeds::{MAX_UNPACKED_BYTES, read},
    url_key::UrlKey,
};

/// Sitemaps and indexes that are read at most.
const MAX_SITEMAPS: usize = 10;

/// Sitemaps that may wait: what an index of the protocol may list.
const MAX_WAITING: usize = 50_000;

/// URLs of a sitemap that the sample of pages is chosen from.
const MAX_CANDIDATES: usize = 1_000;

/// What a sitemap of the site answered.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SitemapAnswer {
    /// The URL.
    pub url: String,
    /// HTTP status; `None`: no answer came.
    pub status: Option<u16>,
    /// URLs of the site that it lists.
    pub urls: u64,
    /// URLs of other sites, or outside of the crawled directory.
    pub elsewhere: u64,
    /// It is an index.
    pub is_index: bool,
    /// Why it could not be read.
    pub error: Option<String>,
}

/// What the sitemaps list.
#[derive(Debug, Default)]
pub(super) struct ListedUrls {
    pub(super) answers: Vec<SitemapAnswer>,
    /// Sitemaps that were not asked for.
    pub(super) unread: u64,
    /// Some of the listed URLs.
    pub(super) some: Vec<UrlKey>,
}

impl Surveyor<'_, '_> {
    /// Reads the sitemaps that robots.txt names, or `/sitemap.xml`.
    pub(super) fn sitemaps(&mut self, robots: &SurveyedRobots) -> Result<ListedUrls, CrawlError> {
        let usual = format!("{}/sitemap.xml", self.site.origin);
        let named = match &robots.sitemaps[..] {
            [] => std::slice::from_ref(&usual),
            named => named,
        };
        let identity = &self.config.identity;
        let named = named.iter().filter_map(|url| identity.parse(url).ok());
        let mut waiting: VecDeque<UrlKey> = named.take(MAX_WAITING).collect();
        let mut asked: HashSet<UrlKey> = HashSet::new();
        let mut listed = ListedUrls::default();
        while let Some(url) = waiting.pop_front() {
            if !asked.insert(url.clone()) {
                continue;
            }
            if listed.answers.len() >= MAX_SITEMAPS || self.limit.is_reached() {
                listed.unread += 1;
                continue;
            }
            let answer = self.sitemap(&url, &mut listed.some, &mut waiting)?;
            listed.answers.push(answer);
        }
        Ok(listed)
    }

    /// Reads one of them; what an index names is put into the queue.
    fn sitemap(
        &self,
        url: &UrlKey,
        some: &mut Vec<UrlKey>,
        waiting: &mut VecDeque<UrlKey>,
    ) -> Result<SitemapAnswer, CrawlError> {
        turn_to(self.progress, url);
        let mut answer = SitemapAnswer {
            url: url.to_string(),
            ..SitemapAnswer::default()
        };
        let document = self.downloader.download(url, &self.network.shutdown);
        let document = self.network.wait(document);
        let document = match document.map_err(|Stopped| CrawlError::Stopped)? {
            Ok(document) => document,
            Err(error) => {
                answer.error = Some(error.to_string());
                return Ok(answer);
            }
        };
        answer.status = Some(document.status);
        let place = document.url.clone();
        let body = match document.into_body() {
            Ok(body) if answer.status == Some(200) => body,
            Ok(_) => return Ok(answer),
            Err(error) => {
                answer.error = Some(error.to_string());
                return Ok(answer);
            }
        };
        let mut candidates = 0;
        let mut take = |batch: crate::seeds::Batch| {
            for page in batch.pages {
                if !self.site.contains(&page) {
                    answer.elsewhere += 1;
                    continue;
                }
                answer.urls += 1;
                if candidates < MAX_CANDIDATES {
                    candidates += 1;
                    some.push(page);
                }
            }
            let room = MAX_WAITING.saturating_sub(waiting.len());
            waiting.extend(
                batch
                    .documents
                    .into_iter()
                    .map(|named| named.url)
                    .take(room),
            );
            if self.network.shutdown.is_stopping() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let identity = &self.config.identity;
        let reading = read(body, MAX_UNPACKED_BYTES, Some(&place), identity, &mut take);
        answer.is_index = reading.is_index;
        answer.error = reading.problem.map(|(_, words)| words);
        let mut figures = self.progress.figures();
        figures.documents += 1;
        figures.entries += answer.urls;
        drop(figures);
        Ok(answer)
    }
}
