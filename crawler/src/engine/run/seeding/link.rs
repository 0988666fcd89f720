//! Documents and pages: a feed that a page names or is, and a document that a page links to. What is one is no
//! page; what turns out to be none is a page like any other.

use super::{Run, named_by, url_of};
use crate::{
    engine::{
        download,
        run::page_sink::{Found, Wanted},
    },
    page::{BodyEnd, Reason, SitemapDate},
    seeds::{Claim, Document, DocumentKind, DocumentState, MAX_FEEDS, SeedProblem},
    url_key::UrlKey,
};

impl Run<'_> {
    /// Takes note of a feed that a page names; `depth` is that of the page.
    pub(in crate::engine::run) fn offer_feed(&mut self, url: &UrlKey, page: &UrlKey, depth: u32) {
        if !self.reads_feed(url) || self.seeding.known.contains(url) {
            return;
        }
        if self.excludes(url) {
            self.seeding.excluded.insert(url);
            return;
        }
        // It was asked for, or will be, as the page that something links to: one request is enough to find
        // out that it is a feed (`adopt`).
        if self.known.contains(url)
            && self.rules.judge().before_fetch(url, depth + 1) == Some(Reason::Queued)
        {
            return;
        }
        if self.seeding.feeds.count >= MAX_FEEDS {
            self.seeding.feeds.left_out.insert(url);
            return;
        }
        self.seeding.feeds.count += 1;
        let mut document = named_by(url, DocumentKind::Feed, page);
        document.depth = depth + 1;
        self.add_url(url, document);
    }

    /// What is wanted of the answer to the request for the page `url`, if it is no page.
    pub(in crate::engine::run) fn wanted_at(&self, url: &UrlKey) -> Wanted {
        if self.seeding.is_document(url) {
            Wanted::Documents
        } else if self.reads_feed(url) && self.seeding.feeds.count < MAX_FEEDS {
            Wanted::Feeds
        } else {
            Wanted::Nothing
        }
    }

    fn reads_feed(&self, url: &UrlKey) -> bool {
        self.seeding.discover.feeds && url.is_on(&self.context.site.origin)
    }

    /// The document that was found where a page was asked for, when it is one that the run reads.
    pub(in crate::engine::run) fn wanted_of(
        &mut self,
        url: &UrlKey,
        found: Found,
    ) -> Option<(Box<download::Document>, DocumentKind)> {
        let kind = found.kind?;
        if !self.seeding.is_document(url) {
            if !kind.is_feed() || !self.reads_feed(url) {
                return None;
            }
            if self.seeding.feeds.count >= MAX_FEEDS {
                self.seeding.feeds.left_out.insert(url);
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

    /// A document was asked for as the page that something links to: it is one of the run, and what arrived is read
    /// when its turn comes. `depth` is that of the page.
    pub(in crate::engine::run) fn adopt(
        &mut self,
        found: Box<download::Document>,
        kind: DocumentKind,
        url: &UrlKey,
        depth: u32,
    ) {
        if self.seeding.orphans.remove(url) {
            // Only known URLs are orphans.
            self.commits.link(url.clone());
        }
        if let Some(number) = self.seeding.number_of(url) {
            // It was taken for none, or did not answer.
            self.read_after_all(number);
        } else if !self.seeding.is_document(url) {
            self.seeding.feeds.count += usize::from(kind == DocumentKind::Feed);
            self.add_url(url, Document::new(url.as_str(), kind, depth));
        }
        self.hand_over_body(url, found);
    }

    /// Lets a document that failed be read.
    fn read_after_all(&mut self, number: usize) {
        let count = self.seeding.documents.len();
        let document = &mut self.seeding.documents[number];
        match document.state {
            DocumentState::Failed | DocumentState::Absent => {}
            DocumentState::Waiting | DocumentState::Read | DocumentState::Own => return,
        }
        document.state = DocumentState::Waiting;
        (document.problem, document.detail) = (None, None);
        self.commits.put(number, document, count);
        self.seeding.waiting.push_back(number);
    }

    /// Keeps what arrived of the document at `url` until its turn comes, if that is all of it.
    pub(super) fn hand_over_body(&mut self, url: &UrlKey, found: Box<download::Document>) {
        let number = self.seeding.number_of(url);
        if let Some(number) = number.filter(|number| self.seeding.waiting.contains(number))
            && found.end == BodyEnd::Complete
        {
            self.seeding.reading.bodies.insert(number, found);
        }
    }

    /// Something leads to the document at `url` as to a page: that is no page, unless the document turns out to be
    /// none.
    pub(in crate::engine::run) fn claim_document(&mut self, url: &UrlKey, claim: Claim) {
        let Some(number) = self.seeding.number_of(url) else {
            // A document was found there behind a redirect.
            return;
        };
        let count = self.seeding.documents.len();
        let document = &mut self.seeding.documents[number];
        match &mut document.claim {
            None => document.claim = Some(claim),
            // How it was found first is what counts of a page, too.
            Some(known) if claim.is_linked && !known.is_linked => known.is_linked = true,
            Some(_) => return,
        }
        self.commits.put(number, document, count);
        if document.problem.is_some_and(SeedProblem::may_be_page)
            && document.state != DocumentState::Waiting
        {
            self.hand_to_pages(number);
        }
    }

    /// Takes note of what a sitemap says of the last change of `url`.
    pub(super) fn date_page(&mut self, url: UrlKey, date: SitemapDate) {
        let number = self.seeding.number_of(&url);
        let Some(number) = number.filter(|_| !self.known.contains(&url)) else {
            self.commits.date(url, date);
            return;
        };
        let count = self.seeding.documents.len();
        let document = &mut self.seeding.documents[number];
        if let Some(claim) = &mut document.claim
            && claim.date.as_ref() != Some(&date)
        {
            claim.date = Some(date);
            self.commits.put(number, document, count);
        }
    }

    /// What was taken for a document, and may be none, is a page like any other, if something leads to it as to
    /// one.
    pub(super) fn hand_to_pages(&mut self, number: usize) {
        let document = &self.seeding.documents[number];
        let (Some(claim), Some(url)) = (document.claim.clone(), url_of(document)) else {
            return;
        };
        let Claim {
            via,
            found_on,
            depth,
            hops,
            is_linked,
            date,
        } = claim;
        let found_on = found_on.and_then(|page| UrlKey::from_normalised(&page).ok());
        if self.known.contains(&url)
            || !self.discover_page(&url, via, found_on.as_ref(), depth, hops, false)
        {
            return;
        }
        if via.is_seed() {
            if is_linked {
                self.commits.link(url.clone());
            } else {
                self.seeding.orphans.insert(&url);
            }
        }
        if let Some(date) = date {
            self.commits.date(url, date);
        }
    }

    /// A page leads to `target`: if only documents had named it so far, it is no orphan any more.
    pub(in crate::engine::run) fn link_orphan(&mut self, target: &UrlKey, page: &UrlKey) {
        if target != page && self.seeding.orphans.remove(target) {
            self.commits.link(target.clone());
        }
    }
}
