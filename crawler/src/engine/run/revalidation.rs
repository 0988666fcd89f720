//! Conditional requests: with which validators a page is asked, pages that answered 304 and wait for what their page row
//! knows, and tests of the server with the old validators of pages that changed. Decides no page.

use std::collections::VecDeque;

use tokio::task::Id;
use tracing::Instrument as _;

use super::{
    Event, Run,
    bounds::{bytes_of, bytes_of_facts},
    decide::Work,
};
use crate::{
    engine::{
        Ending,
        door::{Door, Unread},
        validators::{Trust, TrustChange, has_changed, is_enough, is_sample},
    },
    fetch::Validators,
    frontier::Lease,
    notes::Note,
    page::{PageFacts, RunId},
    store::{Store, StoreError},
    url_key::UrlKey,
    verdict::Judge,
};

/// Pages that wait for the store at most; then no new request is sent.
const MAX_WAITING: usize = 4_096;

/// Memory of the facts and links that one trip brings back, give or take those of one page.
const MAX_READ_BYTES: usize = 8 << 20;

/// Pages at most that wait for a test of the server; further ones are not tested.
const MAX_TESTS: usize = 100;

/// Conditional requests of a crawl.
pub(super) struct Revalidation {
    crawl: RunId,
    trust: Trust,
    /// No validators are sent.
    is_off: bool,
    waiting: Vec<NotModified>,
    /// Pages that the store is reading.
    away: usize,
    /// Memory of the waiting pages, and of those that the store is reading.
    held_bytes: usize,
    tests: VecDeque<(UrlKey, Validators)>,
    /// The task of the test that is out, and its URL.
    testing: Option<(Id, UrlKey)>,
}

/// A page that answered 304.
pub(super) struct NotModified {
    lease: Lease,
    tries: u32,
    answer: Box<PageFacts>,
}

/// A page that answered 304, with its page row's facts and links.
pub(super) struct Reread {
    page: NotModified,
    facts: Option<PageFacts>,
    links: Vec<UrlKey>,
}

/// What a trip of the store brings back for pages that answered 304.
#[derive(Default)]
pub(super) struct Rereads {
    read: Vec<Reread>,
    /// There was no room for these.
    left: Vec<NotModified>,
}

impl Rereads {
    /// Reads what `store` knows of `pages`.
    pub(super) fn read(pages: Vec<NotModified>, store: &Store) -> Result<Self, StoreError> {
        let mut rereads = Self::default();
        let mut bytes_left = MAX_READ_BYTES;
        for page in pages {
            if bytes_left == 0 {
                rereads.left.push(page);
                continue;
            }
            let url = page.lease.url();
            let row = store.page(url)?;
            let facts = row.and_then(|row| row.record.facts().cloned());
            let links = store.links(url)?.unwrap_or_default();
            let taken = bytes_of(&links) + facts.as_ref().map_or(0, bytes_of_facts);
            bytes_left = bytes_left.saturating_sub(taken);
            rereads.read.push(Reread { page, facts, links });
        }
        Ok(rereads)
    }
}

/// The end of a test: the status, if there was an answer, and its bytes.
#[derive(Debug, Default)]
pub(super) struct TestEnd {
    status: Option<u16>,
    wire_bytes: u64,
}

impl Revalidation {
    /// Conditional requests of the crawl `crawl`, unless they are off.
    pub(super) fn new(crawl: RunId, trust: Trust, is_off: bool) -> Self {
        Self {
            crawl,
            trust,
            is_off,
            waiting: Vec::new(),
            away: 0,
            held_bytes: 0,
            tests: VecDeque::new(),
            testing: None,
        }
    }

    /// What a page is asked with; `None`: for the whole page.
    pub(super) fn validators_for(&self, lease: &Lease, judge: &Judge) -> Option<Validators> {
        let answer = lease.earlier()?.answer.as_ref()?;
        let is_asked = !self.is_off
            && self.trust.is_given()
            // A request that failed with validators is sent again without them.
            && lease.earlier_tries() == 0
            && !is_sample(lease.url(), self.crawl);
        is_asked.then(|| judge.validators(answer))?
    }

    /// Lets a page that answered 304 wait for its page row; gives the lease back when 304 is not trusted any more.
    pub(super) fn confirm(
        &mut self,
        lease: Lease,
        tries: u32,
        answer: Box<PageFacts>,
    ) -> Option<Lease> {
        if !self.trust.is_given() {
            return Some(lease);
        }
        self.held_bytes += bytes_of_facts(&answer);
        self.waiting.push(NotModified {
            lease,
            tries,
            answer,
        });
        None
    }

    /// Takes the answer to a request for a whole page: a sample that changed is to be tested.
    pub(super) fn take_whole(&mut self, lease: &Lease, facts: &PageFacts, judge: &Judge) {
        let url = lease.url();
        if self.is_off || !is_sample(url, self.crawl) || self.tests.len() >= MAX_TESTS {
            return;
        }
        let answer = lease.earlier().and_then(|earlier| earlier.answer.as_ref());
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

    /// Whether no further page may wait.
    pub(super) fn is_full(&self) -> bool {
        self.waiting() >= MAX_WAITING
    }

    /// Memory of the pages that wait.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// The pages that the store is asked for now.
    pub(super) fn ask(&mut self) -> Vec<NotModified> {
        let pages = std::mem::take(&mut self.waiting);
        self.away = pages.len();
        pages
    }

    /// Takes back what the store did not read.
    fn take_left(&mut self, left: Vec<NotModified>) {
        self.away = 0;
        self.waiting.extend(left);
        let answers = self.waiting.iter();
        self.held_bytes = answers.map(|page| bytes_of_facts(&page.answer)).sum();
    }

    /// Whether a test is out or waits.
    pub(super) fn is_testing(&self) -> bool {
        !self.tests.is_empty() || self.testing.is_some()
    }

    /// Whether the task `id` is a test.
    pub(super) fn is_test(&self, id: Id) -> bool {
        self.testing.as_ref().is_some_and(|(task, _)| *task == id)
    }
}

async fn test(door: Door, url: UrlKey, validators: Validators, run: super::Shutdown) -> TestEnd {
    let asked = door.ask_with(&url, Some(&validators), &run.stop, || Unread);
    match asked.await {
        Ok(answered) => answered.result.map_or_else(
            |_| TestEnd::default(),
            |fetched| TestEnd {
                status: Some(fetched.head.status),
                wire_bytes: fetched.wire_bytes,
            },
        ),
        Err(_) => TestEnd::default(),
    }
}

impl Run<'_> {
    /// Sends the next test, one at a time.
    pub(super) fn dispatch_test(&mut self) {
        let may_ask = !matches!(self.end.ending, Some(Ending::SiteDown | Ending::Stopped));
        if !may_ask || self.revalidation.testing.is_some() {
            return;
        }
        if let Some((url, validators)) = self.revalidation.tests.pop_front() {
            let work = test(
                self.context.door.clone(),
                url.clone(),
                validators,
                self.context.shutdown.clone(),
            );
            let work = async move { Event::Test(work.await) };
            let task = self.tasks.spawn(work.in_current_span());
            self.revalidation.testing = Some((task.id(), url));
        }
    }

    /// Takes the end of a test.
    pub(super) fn take_test(&mut self, end: &TestEnd) {
        self.counts.bytes_in += end.wire_bytes;
        let (Some((_, url)), Some(status)) = (self.revalidation.testing.take(), end.status) else {
            return;
        };
        let before = self.revalidation.trust;
        let change = self.revalidation.trust.take(status);
        if self.revalidation.trust != before {
            self.commits.set(self.revalidation.trust.value());
        }
        match change {
            Some(TrustChange::Lost) => {
                let what = "changed, and the server calls it not modified (304)";
                let note = Note::not_modified_distrusted(&url, &what, &"on this site");
                self.say(note.naming(&url));
            }
            Some(TrustChange::Regained) => self.say(Note::not_modified_trusted(&"on this site")),
            None => {}
        }
    }

    /// Decides the pages that answered 304 and of which the store told.
    pub(super) fn take_rereads(&mut self, rereads: Rereads) {
        self.revalidation.take_left(rereads.left);
        for Reread { page, facts, links } in rereads.read {
            let NotModified {
                lease,
                tries,
                answer,
            } = page;
            let Some(facts) = facts.filter(|facts| is_enough(&answer, facts)) else {
                self.frontier.retry_soon(lease, tokio::time::Instant::now());
                continue;
            };
            let work = Work::of(&lease, tries);
            self.frontier.finish(lease);
            self.counts.fetched += 1;
            self.counts.not_modified += 1;
            self.decide_confirmed(&work, facts, links, answer);
        }
    }
}
