//! Conditional requests: with which validators a page is asked, pages that answered 304 and wait for their stored links, and
//! tests of the server with the old validators of pages that changed. Decides no page.

use std::collections::{HashSet, VecDeque};

use tokio_util::sync::CancellationToken;

use super::{
    bytes::bytes_of_facts,
    validators::{
        TrustChange, ValidatorTrust, has_changed, is_enough, is_redirect_turn, is_sample,
    },
};
use crate::{
    client::{
        gate::{Gate, Unread},
        signal,
    },
    fetch::{FetchError, Fetched, Request, Validators},
    frontier::Lease,
    notes::Note,
    page::{CrawlId, PageFacts},
    store::{ListsOf, MetaValue, PageLists, Store, StoreError, StoredLinks},
    url_key::UrlKey,
    verdict::Judge,
};

/// Pages that wait for the store at most; then no new request is sent. What they lead to is not known before.
const MAX_WAITING: usize = 256;

/// Memory of the links that one commit brings back, give or take those of one page.
const MAX_READ_BYTES: usize = 4 << 20;

/// Pages at most that wait for a test of the server; further ones are not tested.
const MAX_TESTS: usize = 100;

/// Conditional requests of a crawl.
pub(super) struct Revalidation {
    crawl: CrawlId,
    trust: ValidatorTrust,
    /// No validators are sent.
    is_off: bool,
    waiting: Vec<NotModified>,
    /// Pages that the store is reading.
    away: usize,
    /// Memory of the waiting pages, and of those that the store is reading.
    held_bytes: usize,
    tests: VecDeque<(UrlKey, Validators)>,
    /// The URL of the test that is out.
    testing: Option<UrlKey>,
    /// Fingerprints of redirects on the way from the canonical links of pages that did not change.
    resting: HashSet<u64>,
}

/// A page that answered 304.
pub(super) struct NotModified {
    lease: Lease,
    /// The answer of its page row.
    known: Box<PageFacts>,
    answer: Box<PageFacts>,
}

/// A page that answered 304, with the links of its page row.
pub(super) struct Reread {
    pub(super) lease: Lease,
    /// The answer of its page row.
    pub(super) known: Box<PageFacts>,
    pub(super) answer: Box<PageFacts>,
    pub(super) links: StoredLinks,
}

/// The next step for a page that answered 304.
pub(super) enum AfterNotModified {
    /// The page waits for its stored links.
    Waits,
    /// A 304 is not trusted any more.
    Distrusted(Lease),
    /// The stored answer is not enough to decide it.
    NotEnough(Lease),
}

/// The answer of the store for pages that answered 304.
#[derive(Default)]
pub(super) struct Rereads {
    read: Vec<Reread>,
    /// There was no room for these.
    left: Vec<NotModified>,
}

impl NotModified {
    fn bytes(&self) -> usize {
        bytes_of_facts(&self.known) + bytes_of_facts(&self.answer)
    }
}

impl Rereads {
    /// Reads the links that `store` has of `pages`.
    pub(super) fn read(pages: Vec<NotModified>, store: &Store) -> Result<Self, StoreError> {
        let mut rereads = Self::default();
        let mut bytes_left = MAX_READ_BYTES;
        for page in pages {
            if bytes_left == 0 {
                rereads.left.push(page);
                continue;
            }
            let NotModified {
                lease,
                mut known,
                answer,
            } = page;
            let PageLists {
                links,
                feeds,
                blocks,
            } = store.lists(lease.url(), ListsOf::Page)?;
            known.feeds = feeds;
            if let Some(text) = &mut known.text {
                text.blocks = blocks;
            }
            bytes_left = bytes_left.saturating_sub(links.bytes());
            rereads.read.push(Reread {
                lease,
                known,
                answer,
                links,
            });
        }
        Ok(rereads)
    }
}

/// The end of a test: the status, if there was an answer, and its bytes.
#[derive(Debug, Default)]
pub(super) struct TestEnd {
    pub(super) status: Option<u16>,
    pub(super) wire_bytes: u64,
}

impl Revalidation {
    /// Conditional requests of the crawl `crawl`, unless they are off.
    pub(super) fn new(crawl: CrawlId, trust: ValidatorTrust, is_off: bool) -> Self {
        Self {
            crawl,
            trust,
            is_off,
            waiting: Vec::new(),
            away: 0,
            held_bytes: 0,
            tests: VecDeque::new(),
            testing: None,
            resting: HashSet::new(),
        }
    }

    /// Takes note that a page that did not change names `url` as canonical, or that the redirects from there lead to it.
    pub(super) fn rest(&mut self, url: &UrlKey) {
        if !self.is_off && !is_redirect_turn(url, self.crawl) {
            self.resting.insert(url.fingerprint());
        }
    }

    /// The last answer of a redirect that is not asked for in this crawl.
    pub(super) fn take_resting(&self, lease: &mut Lease) -> Option<Box<PageFacts>> {
        if !self.resting.contains(&lease.url().fingerprint()) {
            return None;
        }
        let is_redirect = |answer: &mut Box<PageFacts>| answer.location.is_some();
        lease.earlier_mut()?.answer.take_if(is_redirect)
    }

    /// The validators that a page is requested with; `None`: for the whole page.
    pub(super) fn validators_for(&self, lease: &Lease, judge: &Judge) -> Option<Validators> {
        let answer = lease.earlier()?.answer.as_deref()?;
        // It redirected to its other writing, which has the page.
        let leads_on = lease.earlier_tries() == 1 && lease.written().is_some();
        let is_asked = !self.is_off
            && self.trust.is_given()
            // A request that failed with validators is sent again without them.
            && (lease.earlier_tries() == 0 || leads_on)
            && !is_sample(lease.url(), self.crawl);
        is_asked.then(|| judge.validators(answer))?
    }

    /// Lets a page that answered 304 wait for its stored links, if the answer decides it.
    pub(super) fn confirm(&mut self, mut lease: Lease, answer: Box<PageFacts>) -> AfterNotModified {
        if !self.trust.is_given() {
            return AfterNotModified::Distrusted(lease);
        }
        let known = lease.earlier_mut().map(|earlier| &mut earlier.answer);
        let known = known.and_then(|known| known.take_if(|known| is_enough(&answer, known)));
        let Some(known) = known else {
            return AfterNotModified::NotEnough(lease);
        };
        let page = NotModified {
            lease,
            known,
            answer,
        };
        self.held_bytes += page.bytes();
        self.waiting.push(page);
        AfterNotModified::Waits
    }

    /// Takes the answer to a request for a whole page: a sample that changed is to be tested.
    pub(super) fn take_whole(&mut self, lease: &Lease, facts: &PageFacts, judge: &Judge) {
        let url = lease.url();
        if self.is_off || !is_sample(url, self.crawl) || self.tests.len() >= MAX_TESTS {
            return;
        }
        let answer = lease
            .earlier()
            .and_then(|earlier| earlier.answer.as_deref());
        if let Some(answer) = answer.filter(|answer| has_changed(facts, answer))
            && let Some(validators) = judge.validators(answer)
        {
            self.tests.push_back((url.clone(), validators));
        }
    }

    /// Pages that wait for the store, or for its answer.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len() + self.away
    }

    /// Returns whether no further page may wait.
    pub(super) fn is_full(&self) -> bool {
        self.waiting() >= MAX_WAITING
    }

    /// Memory of the pages that wait.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// The pages that the store is asked for now.
    pub(super) fn next_pages(&mut self) -> Vec<NotModified> {
        let pages = std::mem::take(&mut self.waiting);
        self.away = pages.len();
        pages
    }

    /// Takes what the store brought; gives the pages that it read.
    pub(super) fn take_read(&mut self, rereads: Rereads) -> Vec<Reread> {
        self.away = 0;
        self.waiting.extend(rereads.left);
        self.held_bytes = self.waiting.iter().map(NotModified::bytes).sum();
        rereads.read
    }

    /// The test that is to be sent now, one at a time.
    pub(super) fn next_test(&mut self) -> Option<(UrlKey, Validators)> {
        if self.testing.is_some() {
            return None;
        }
        let test = self.tests.pop_front()?;
        self.testing = Some(test.0.clone());
        Some(test)
    }

    /// Takes the status that ended a test, if it was answered: the value for the next commit when trust is another now, and
    /// what the user should know.
    pub(super) fn take_test(&mut self, status: Option<u16>) -> (Option<MetaValue>, Option<Note>) {
        let (Some(url), Some(status)) = (self.testing.take(), status) else {
            return (None, None);
        };
        let before = self.trust;
        let note = self.trust.record_status(status).map(|change| match change {
            TrustChange::Lost => Note::not_modified_distrusted(&url).naming(&url),
            TrustChange::Regained => Note::not_modified_trusted(),
        });
        let value = (self.trust != before).then(|| self.trust.value());
        (value, note)
    }

    /// Returns whether a test is out or waits.
    pub(super) fn is_testing(&self) -> bool {
        !self.tests.is_empty() || self.testing.is_some()
    }
}

/// Sends a test.
pub(super) async fn test(
    gate: Gate,
    url: UrlKey,
    validators: Validators,
    stop: CancellationToken,
) -> TestEnd {
    let request = Request {
        validators: Some(validators),
        ..Request::get(&url, gate.max_body_bytes)
    };
    let is_final = |asked: &Result<Fetched, FetchError>| !signal::is_passing(asked);
    let asked = gate.ask_until(&request, &stop, || Unread, is_final).await;
    let fetched = asked.ok().and_then(|answered| answered.result.ok());
    fetched.map_or_else(TestEnd::default, |fetched| TestEnd {
        status: Some(fetched.head.status),
        wire_bytes: fetched.wire_bytes,
    })
}
