//! The steps of the loop for documents: sitemaps, feeds and lists are read beside the pages, and what they name is queued.

use super::{CrawlLoop, Event, page_steps::GIVEN_UP};
use crate::{
    client::DownloadedDocument,
    crawl::{
        documents::{DocumentEnd, NamingDocument},
        known::FoundUrl,
    },
    page::{Reason, Via},
    robots::Rules,
    seeds::{Batch, DocumentKind, SeedList},
    url_key::UrlKey,
};

impl CrawlLoop<'_> {
    /// Finds the documents that robots.txt and the user name, as far as the crawl does not know them.
    pub(in crate::crawl) fn begin_documents(&mut self, robots: &Rules, lists: Vec<SeedList>) {
        let identity = self.context.gate.identity.verbatim();
        let excludes = &mut |url: &UrlKey| self.hints.excludes(self.rules.judge(), url);
        let note = self.documents.begin(robots, lists, &identity, excludes);
        self.report(note);
    }

    /// Starts work on the next document when none is being read and no page comes first.
    pub(super) fn dispatch_document(&mut self, page_waits: bool) {
        self.collect();
        if self.end.ending.is_some() || self.trouble.is_asking() {
            return;
        }
        while let Some(number) = self.documents.next(page_waits) {
            self.start_document(number);
        }
    }

    fn start_document(&mut self, number: usize) {
        let gate = &self.context.gate;
        if self.documents.is_beyond(number) {
            self.documents.leave_unread(number);
            // What it names is missing: the crawl is partial.
            self.known.leave_out(1);
            return;
        }
        let url = self.documents.url_to_request(number);
        let is_given_up =
            |url: &UrlKey| self.is_of_host(url) && self.frontier.is_document_given_up(url);
        if url.as_ref().is_some_and(is_given_up) {
            self.documents.give_up(number, GIVEN_UP);
            return;
        }
        let work = self
            .documents
            .start(number, &gate.identity, self.context.shutdown);
        if let Some(work) = work {
            self.spawn(async move { Box::new(work.await) }, Event::Document);
        }
    }

    fn is_of_host(&self, url: &UrlKey) -> bool {
        url.host() == self.context.host
    }

    /// Judges the entries of the document that is being read.
    pub(super) fn take_batch(&mut self, batch: Batch) {
        let Some(source) = self.documents.source(batch.is_feed) else {
            return;
        };
        for key in &batch.pages {
            self.take_entry(&source, key);
        }
        if source.via == Via::Sitemap {
            for (key, date) in batch.dates {
                if self.known.contains(&key) {
                    self.commits.date(key, date);
                }
            }
        }
        for child in &batch.documents {
            let excludes = &mut |url: &UrlKey| self.hints.excludes(self.rules.judge(), url);
            self.documents.add_child(source.number, child, excludes);
        }
    }

    fn take_entry(&mut self, source: &NamingDocument, key: &UrlKey) {
        let is_known = self.known.contains(key);
        if source.via.is_declared() && self.known.name(key) && is_known {
            self.commits.name(key.clone());
        }
        if is_known {
            self.known.find_again(key, 0);
            return;
        }
        let found = FoundUrl {
            found_on: source.url.as_ref(),
            ..FoundUrl::new(key, source.via, source.depth)
        };
        if self.discover_unknown(found) {
            if self.documents.is_found(key) {
                self.commits.link(key.clone());
            } else {
                self.known.add_orphan(key);
            }
        } else if !self.rules.judge().is_inside(key) {
            self.documents.count_outside(source.number, key);
        }
    }

    /// Takes the end of the work on a document.
    pub(super) fn take_document_end(&mut self, end: DocumentEnd) {
        while let Some(batch) = self.documents.left_batch() {
            self.take_batch(batch);
        }
        let url = self.documents.source(false).and_then(|source| source.url);
        if let Some(url) = url.filter(|url| self.is_of_host(url)) {
            match end.answer() {
                Some(Ok(())) => self.frontier.answered(&url),
                Some(Err(cause)) => {
                    self.frontier.failed(&url);
                    self.trouble.take_document(url, cause);
                }
                None => {}
            }
        }
        let after = self.documents.take_end(end, self.rules.judge());
        if let Some(page) = self.documents.take_held() {
            self.frontier.give_back(page);
        }
        self.end.counts.bytes_in += after.wire_bytes;
        if let Some(closed) = after.closed {
            self.host_closed(closed);
        }
    }

    /// Reads what was asked for as the page `url`, as a document of the crawl; `depth` is that of the page.
    pub(super) fn add_answered(
        &mut self,
        document: Box<DownloadedDocument>,
        kind: DocumentKind,
        url: &UrlKey,
        depth: u32,
    ) {
        self.link_orphan(url);
        self.documents.add_answered(document, kind, url, depth);
    }

    /// What only documents had named is no orphan.
    pub(super) fn link_orphan(&mut self, url: &UrlKey) {
        if self.known.remove_orphan(url) {
            self.commits.link(url.clone());
        }
    }

    /// Takes note of the feeds that a page names.
    pub(super) fn offer_feeds(&mut self, feeds: &[UrlKey], page: &UrlKey, depth: u32) {
        for feed in feeds {
            let judge = self.rules.judge();
            let is_page = self.known.contains(feed)
                && judge.before_fetch(feed, depth + 1) == Some(Reason::Queued);
            let excludes = &mut |url: &UrlKey| self.hints.excludes(judge, url);
            self.documents
                .offer_feed(feed, page, depth, is_page, excludes);
        }
    }
}
