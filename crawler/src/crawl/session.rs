//! A site whose start page answers only with cookies may end that session in the middle of a crawl: its pages then redirect as
//! the start page does without cookies. The start page is asked again for new ones, and then the page: once for each page, and
//! no more after [`MAX_IN_VAIN`] pages in a row that redirect all the same.

use std::collections::HashSet;

use crate::{client::start::CookieChain, frontier::Lease, page::PageFacts, url_key::UrlKey};

/// Pages in a row that new cookies did not help.
const MAX_IN_VAIN: u32 = 3;

/// The session of a crawl on a site that needs cookies.
#[derive(Default)]
pub(super) struct CookieSession {
    /// `None`: the site needs none.
    chain: Option<CookieChain>,
    /// Pages that wait for new cookies.
    waiting: Vec<Lease>,
    /// Fingerprints of pages that are asked again with new cookies.
    again: HashSet<u64>,
    in_vain: u32,
    is_renewing: bool,
}

impl CookieSession {
    pub(super) fn new(chain: Option<CookieChain>) -> Self {
        Self {
            chain,
            ..Self::default()
        }
    }

    /// Returns whether the answer shows that the session ended, and the page is to be asked again with new cookies.
    pub(super) fn is_over(&mut self, url: &UrlKey, facts: &PageFacts) -> bool {
        let Some(chain) = &self.chain else {
            return false;
        };
        let target = facts.location.as_ref();
        let is_over = target.is_some_and(|target| chain.has_redirect(url, target));
        if self.again.remove(&url.fingerprint()) {
            self.in_vain = if is_over { self.in_vain + 1 } else { 0 };
            return false;
        }
        is_over && self.in_vain < MAX_IN_VAIN
    }

    /// Lets a page wait for new cookies; the chain to ask, unless it is being asked.
    pub(super) fn wait(&mut self, lease: Lease) -> Option<CookieChain> {
        self.again.insert(lease.url().fingerprint());
        self.waiting.push(lease);
        let is_renewing = std::mem::replace(&mut self.is_renewing, true);
        self.chain.clone().filter(|_| !is_renewing)
    }

    /// Returns whether new cookies are awaited.
    pub(super) fn is_renewing(&self) -> bool {
        self.is_renewing
    }

    /// New cookies are there: the pages that waited for them.
    pub(super) fn renewed(&mut self) -> Vec<Lease> {
        self.is_renewing = false;
        std::mem::take(&mut self.waiting)
    }
}
