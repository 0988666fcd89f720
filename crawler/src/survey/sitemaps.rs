//! The site's own sitemaps: how many URLs they list.

use std::{collections::VecDeque, ops::ControlFlow};

use serde::Serialize;

use super::{Surveyor, UrlAnswer, turn_to};
use crate::{
    client::StartError,
    seeds::{Batch, MAX_UNPACKED_BYTES, read},
    url_key::UrlKey,
};

/// Sitemaps and indexes that are read at most.
const MAX_SITEMAPS: usize = 10;

/// Sitemaps that may wait: what an index of the protocol may list.
const MAX_WAITING: usize = 50_000;

/// The answer of a sitemap of the site.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SitemapAnswer {
    /// The answer.
    #[serde(flatten)]
    pub answer: UrlAnswer,
    /// URLs of the site that it lists.
    pub urls: u64,
    /// URLs of other sites, or outside of the crawled directory.
    pub elsewhere: u64,
    /// It is an index.
    pub is_index: bool,
}

impl Surveyor<'_, '_> {
    /// Reads the sitemaps that robots.txt names, or `/sitemap.xml`. Returns also how many were not requested.
    pub(super) fn sitemaps(
        &mut self,
        named: &[String],
    ) -> Result<(Vec<SitemapAnswer>, u64), StartError> {
        let usual = [format!("{}/sitemap.xml", self.site.origin)];
        let named = if named.is_empty() { &usual } else { named };
        let named = named.iter().map(|url| self.config.identity.parse(url));
        let mut waiting: VecDeque<UrlKey> = named.flatten().take(MAX_WAITING).collect();
        let mut answers: Vec<SitemapAnswer> = Vec::new();
        while answers.len() < MAX_SITEMAPS
            && !self.limit.is_reached()
            && let Some(url) = waiting.pop_front()
        {
            if answers.iter().all(|known| known.answer.url != url.as_str()) {
                answers.push(self.sitemap(&url, &mut waiting)?);
            }
        }
        Ok((answers, waiting.len() as u64))
    }

    /// Reads one of them; what an index names is put into the queue.
    fn sitemap(
        &mut self,
        url: &UrlKey,
        waiting: &mut VecDeque<UrlKey>,
    ) -> Result<SitemapAnswer, StartError> {
        turn_to(self.progress, url);
        let mut sitemap = SitemapAnswer::default();
        sitemap.answer.url = url.to_string();
        let shutdown = &self.network.shutdown;
        let document = self.network.wait(self.downloader.download(url, shutdown))?;
        let opened = document.map_err(|error| error.to_string());
        let opened = opened.and_then(|document| {
            sitemap.answer.status = Some(document.status);
            let place = document.url.clone();
            let body = document.into_body().map_err(|error| error.to_string());
            Ok((place, body?))
        });
        let (place, body) = match opened {
            Ok(opened) if sitemap.answer.status == Some(200) => opened,
            opened => {
                sitemap.answer.error = opened.err();
                return Ok(sitemap);
            }
        };
        let config = self.config;
        let identity = &config.identity;
        let mut take = |batch: Batch| {
            for page in &batch.pages {
                if self.see(page) {
                    sitemap.urls += 1;
                } else {
                    sitemap.elsewhere += 1;
                }
            }
            waiting.extend(batch.documents.into_iter().map(|named| named.url));
            waiting.truncate(MAX_WAITING);
            ControlFlow::Continue(())
        };
        let reading = read(body, MAX_UNPACKED_BYTES, Some(&place), identity, &mut take);
        sitemap.is_index = reading.is_index;
        sitemap.answer.error = reading.problem.map(|(_, words)| words);
        self.progress.figures().documents += 1;
        self.progress.figures().entries += sitemap.urls;
        Ok(sitemap)
    }
}
