//! Documents and pages: a feed that a page names or is, and a document that a page links to. What is one is no
//! page; what turns out to be none is a page like any other.

use super::{Run, named_by, url_of};
use crate::{
    engine::download,
    page::{BodyEnd, Reason, Via},
    seeds::{self, Document, DocumentKind, DocumentState, MAX_FEEDS, SeedProblem},
    url_key::UrlKey,
};

impl Run<'_> {
    /// Takes note of a feed that a page names; `depth` is that of the page.
    pub(in crate::engine::run) fn offer_feed(&mut self, url: &UrlKey, page: &UrlKey, depth: u32) {
        if !self.seeding.discover.feeds
            || !url.is_on(&self.site.origin)
            || self.seeding.known.contains(url)
        {
            return;
        }
        // It was asked for, or will be, as the page that something links to: one request is enough to find
        // out that it is a feed (`adopt_feed`).
        if self.seen.contains(url)
            && self.judge.before_fetch(url, depth + 1) == Some(Reason::Queued)
        {
            return;
        }
        if self.seeding.feeds >= MAX_FEEDS {
            self.seeding.known.insert(url);
            self.seeding.feeds_left_out += 1;
            return;
        }
        self.seeding.feeds += 1;
        let mut document = named_by(url, DocumentKind::Feed, page);
        document.depth = depth + 1;
        self.add_url(url, document);
    }

    /// Whether the answer to the request for the page `url` is wanted as a feed.
    pub(in crate::engine::run) fn wants_feed(&self, url: &UrlKey) -> bool {
        self.seeding.discover.feeds
            && url.is_on(&self.site.origin)
            && (self.seeding.feeds < MAX_FEEDS || self.seeding.known.contains(url))
    }

    /// A feed was asked for as the page that something links to: it is a document of the run, and what
    /// arrived is read when its turn comes. `depth` is that of the page.
    pub(in crate::engine::run) fn adopt_feed(
        &mut self,
        feed: download::Document,
        url: &UrlKey,
        depth: u32,
    ) {
        if self.seeding.orphans.remove(url) {
            // Only known URLs are orphans.
            self.pending.linked.push(url.clone());
        }
        if self.seeding.known.contains(url) {
            return;
        }
        self.seeding.feeds += 1;
        let number = self.seeding.documents.len();
        let document = Document::new(url.as_str(), DocumentKind::Feed, depth);
        self.add_url(url, document);
        if self.seeding.documents.len() > number && feed.end == BodyEnd::Complete {
            self.seeding.bodies.insert(number, Box::new(feed));
        }
    }

    /// A page links to a document, at `depth`: that is no page, unless the document turns out to be none.
    pub(in crate::engine::run) fn link_document(
        &mut self,
        url: &UrlKey,
        page: &UrlKey,
        depth: u32,
    ) {
        if !self.seeding.linked.insert(url) {
            return;
        }
        let name = url.as_str();
        let count = self.seeding.documents.len();
        let Some(number) = self.seeding.numbers.get(name).copied() else {
            // A document was found there behind a redirect.
            return;
        };
        let document = &mut self.seeding.documents[number];
        document.linked_from = Some((page.as_str().to_owned(), depth));
        seeds::put(&mut self.pending, number, document, count);
        if document.problem.is_some_and(SeedProblem::denies_document)
            && document.state != DocumentState::Waiting
        {
            self.hand_to_pages(number);
        }
    }

    /// What was taken for a document, and is none, is a page like any other, if one links to it.
    pub(super) fn hand_to_pages(&mut self, number: usize) {
        let document = &self.seeding.documents[number];
        let Some((page, depth)) = document.linked_from.clone() else {
            return;
        };
        if let (Some(url), Ok(page)) = (url_of(document), UrlKey::from_normalised(&page)) {
            self.discover_page(&url, Via::Link, &page, depth, 0);
        }
    }

    /// A page leads to `target`: if only documents had named it so far, it is no orphan any more.
    pub(in crate::engine::run) fn link_orphan(&mut self, target: &UrlKey, page: &UrlKey) {
        if target != page && self.seeding.orphans.remove(target) {
            self.pending.linked.push(target.clone());
        }
    }
}
