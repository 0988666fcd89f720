//! Documents and pages: a feed that a page names or is, and a document that a page links to. A link leads to a page like any other,
//! unless it is known by then that a document is there.

use sitemap_core::read::Kind;

use super::{Documents, Excludes, named_by};
use crate::{
    client::{
        DownloadedDocument,
        page_sink::{Found, WantedBody},
    },
    page::BodyEnd,
    seeds::{Document, DocumentKind, DocumentState, MAX_FEEDS, SeedProblem},
    url_key::UrlKey,
};

/// Documents that were asked for as pages and wait to be read; others are asked for again in their turn.
const MAX_BODIES: usize = 16;

impl Documents {
    /// Takes note of a feed that a page names; `depth` is that of the page. With `is_page` it was asked for, or will be, as
    /// the page that something links to: one request is enough to find out that it is a feed ([`Documents::add_answered`]).
    pub(in crate::crawl) fn offer_feed(
        &mut self,
        url: &UrlKey,
        page: &UrlKey,
        depth: u32,
        is_page: bool,
        excludes: Excludes<'_>,
    ) {
        if !self.reads_feed(url) || self.known.contains(url) {
            return;
        }
        if excludes(url) {
            self.excluded.insert(url);
            return;
        }
        if is_page {
            return;
        }
        if self.feeds.count >= MAX_FEEDS {
            self.feeds.left_out.insert(url);
        } else {
            self.feeds.count += 1;
            let mut document = named_by(url, DocumentKind::Feed, page);
            document.depth = depth + 1;
            self.add_url(url, document);
        }
    }

    /// The part that is wanted of the answer to the request for the page `url`, if it is not a page.
    pub(in crate::crawl) fn wanted_at(&self, url: &UrlKey) -> WantedBody {
        if self.is_document(url) {
            WantedBody::Documents
        } else if self.reads_feed(url) && self.feeds.count < MAX_FEEDS {
            WantedBody::Feeds
        } else {
            WantedBody::Nothing
        }
    }

    fn reads_feed(&self, url: &UrlKey) -> bool {
        self.discover.feeds && url.is_on(&self.origin)
    }

    /// The document that was found where a page was asked for, when it is one that the crawl reads.
    pub(in crate::crawl) fn wanted_of(
        &mut self,
        url: &UrlKey,
        found: Found,
    ) -> Option<(Box<DownloadedDocument>, DocumentKind)> {
        let is_document = self.is_document(url);
        // The type of what something names as a sitemap may be that of a list.
        let kind = found.kind.or(is_document.then_some(Kind::Text))?;
        if !is_document {
            if !kind.is_feed() || !self.reads_feed(url) {
                return None;
            }
            if self.feeds.count >= MAX_FEEDS {
                self.feeds.left_out.insert(url);
                return None;
            }
        }
        let kind = if kind.is_feed() {
            DocumentKind::Feed
        } else {
            DocumentKind::Sitemap
        };
        Some((found.document?, kind))
    }

    /// A document was asked for as the page that something links to: it is one of the crawl, and what arrived is read
    /// when no page comes first. `depth` is that of the page.
    pub(in crate::crawl) fn add_answered(
        &mut self,
        found: Box<DownloadedDocument>,
        kind: DocumentKind,
        url: &UrlKey,
        depth: u32,
    ) {
        if let Some(number) = self.number_of(url) {
            // It was taken for none, or did not answer.
            self.read_after_all(number);
        } else if !self.is_document(url) {
            self.feeds.count += usize::from(kind == DocumentKind::Feed);
            self.add_url(url, Document::new(url.as_str(), kind, depth));
        }
        self.hand_over_body(url, found);
    }

    /// Lets a document that failed be read.
    fn read_after_all(&mut self, number: usize) {
        let document = &mut self.all[number];
        match document.state {
            DocumentState::Failed if document.problem == Some(SeedProblem::TooMany) => return,
            DocumentState::Failed | DocumentState::Absent => {}
            DocumentState::Waiting | DocumentState::Read | DocumentState::Own => return,
        }
        document.state = DocumentState::Waiting;
        (document.problem, document.detail) = (None, None);
        self.put(number);
        self.waiting.push_back(number);
    }

    /// Keeps what arrived of the document at `url` until it is read, if that is all of it.
    pub(super) fn hand_over_body(&mut self, url: &UrlKey, found: Box<DownloadedDocument>) {
        let number = self.number_of(url);
        if let Some(number) = number.filter(|number| self.waiting.contains(number))
            && found.end == BodyEnd::Complete
            && self.reading.bodies.len() < MAX_BODIES
        {
            self.reading.bodies.insert(number, found);
        }
    }
}
