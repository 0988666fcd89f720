//! What a run owes to those before it: pages are asked with the validators of their last answer, a 304
//! is decided from what the store knows, pages that fail are listed by their last good answer, and URLs
//! that nothing leads to any more are asked as well. The store is asked in batches, on the trips that the
//! loop sends it on anyway.
//!
//! ```text
//! 304, or a failure of a listed page -> waits -> trip: facts and links -> decided like any other
//! a sample that changed              -> waits -> asked with its old validators -> decided like any other
//! frontier drained                   -> trip: listed before, not found -> queued (via "earlier")
//! a changed page is "not modified"   -> trip: confirmed in this run    -> queued again, asked as a whole
//! no answer to a conditional request -> asked as a whole -> decided like any other
//! ```

use std::collections::{HashSet, VecDeque};

use jiff::Timestamp;
use tokio::{task::Id, time::Instant};
use tracing::Instrument as _;

use super::{
    Done, Run,
    decide::{Work, lists_of},
};
use crate::{
    engine::{
        Ending,
        door::Answered,
        honesty::{Finding, Honesty, is_sample},
        signal,
    },
    fetch::{BodySink, BodyWish, FetchError, FetchErrorKind, Fetched, ResponseHead, Validators},
    frontier::Lease,
    page::{Basis, BodyEnd, Canonical, Kept, Outcome, PageFacts, Reason, RunId, Via},
    store::{EarlierAnswer, QueuedUrl, Store, StoreError, orders},
    url_key::UrlKey,
};

/// Pages that wait for what the store knows of them at most; then no new request is sent.
pub(super) const MAX_RECALLS: usize = 4_096;

/// Links, images and languages that one trip brings back at most, give or take those of one page.
const MAX_RECALLED_LINKS: usize = 262_144;

/// URLs that one trip brings back of those that are asked again at most.
const WALK_URLS: usize = 2_048;

/// Name of the state's value with the test of the start page that has not ended: its URL, its
/// `Last-Modified` in seconds or `-`, and its `ETag` or nothing, a line each.
const START_TEST: &str = "validators.start_test";

fn start_test_text(url: &UrlKey, validators: &Validators) -> String {
    let time = validators
        .last_modified
        .map_or_else(|| "-".to_owned(), |time| time.as_second().to_string());
    let etag = validators.etag.as_deref().unwrap_or_default();
    format!("{url}\n{time}\n{etag}")
}

/// The test of the start page that an earlier start of this run did not bring to its end.
///
/// # Errors
/// The store cannot be read.
pub(super) fn open_start_test(
    store: &dyn Store,
) -> Result<Option<(UrlKey, Validators)>, StoreError> {
    let text = store.value(START_TEST)?.unwrap_or_default();
    let mut lines = text.splitn(3, '\n');
    let mut read = || {
        let url = UrlKey::from_normalised(lines.next()?).ok()?;
        let time = lines.next()?.parse().ok();
        let etag = lines.next().filter(|etag| !etag.is_empty());
        let validators = Validators {
            etag: etag.map(str::to_owned),
            last_modified: time.and_then(|seconds| Timestamp::from_second(seconds).ok()),
        };
        Some((url, validators))
    };
    Ok(read())
}

/// The part of a run that earlier ones have a say in.
pub(super) struct Recrawl {
    honesty: Honesty,
    /// What the pages that were asked before the loop answered in earlier runs.
    start_answers: Vec<(UrlKey, EarlierAnswer)>,
    recalls: Vec<Recall>,
    /// Recalls that are on a trip.
    away: usize,
    /// Changed pages that are to be asked with their old validators; [`Honesty`] bounds them. They are
    /// decided afterwards, so that a run that is killed meanwhile asks again. The start page is decided at
    /// once, because everything begins with it; its test is kept in the state ([`START_TEST`]).
    tests: VecDeque<Test>,
    testing: Option<(Id, Test)>,
    /// Pages that wait for being asked as a whole, because a conditional request had no answer; the frontier holds
    /// each of them too.
    doubted: HashSet<UrlKey>,
    /// URLs that were listed and that nothing led to.
    left_behind: Walk,
    /// Pages that were confirmed before it was known that this means nothing.
    confirmed: Walk,
}

/// A walk over URLs of the store, a portion at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Walk {
    /// Behind this URL, or from the start.
    Behind(Option<UrlKey>),
    /// A portion is on its way.
    Away,
    Over,
}

/// What a walk asks for next: URLs behind this one, or from the start.
struct Portion {
    after: Option<UrlKey>,
}

impl Walk {
    fn is_over(&self) -> bool {
        *self == Self::Over
    }

    /// Where the next portion begins, which is on its way from now on.
    fn next(&mut self) -> Option<Portion> {
        match std::mem::replace(self, Self::Away) {
            Self::Behind(after) => Some(Portion { after }),
            other => {
                *self = other;
                None
            }
        }
    }

    /// The portion that arrived, of at most [`WALK_URLS`]. A walk that was begun anew meanwhile stays so.
    fn arrived(&mut self, portion: &[(UrlKey, u32)]) {
        if *self == Self::Away {
            *self = match portion.last() {
                Some((last, _)) if portion.len() >= WALK_URLS => Self::Behind(Some(last.clone())),
                Some(_) | None => Self::Over,
            };
        }
    }
}

/// A page that is decided by an earlier answer, which the store is to bring.
pub(super) struct Recall {
    lease: Lease,
    tries: u32,
    why: Why,
}

enum Why {
    /// This 304 says that it still stands.
    Confirmed(Box<PageFacts>),
    /// The last attempt says nothing against it.
    Kept(Outcome, Kept),
}

/// A changed page, and what was said of it before.
struct Test {
    page: Tested,
    validators: Validators,
}

/// A page that was answered.
enum Tested {
    /// The start page, before the loop.
    Start(UrlKey),
    /// Any other.
    Leased(Lease, u32, Outcome),
}

impl Tested {
    fn url(&self) -> &UrlKey {
        match self {
            Self::Start(url) => url,
            Self::Leased(lease, ..) => lease.url(),
        }
    }
}

/// What became of a [`Test`].
#[derive(Debug, Default)]
pub(super) struct TestEnd {
    /// `None`: nobody knows.
    status: Option<u16>,
    wire_bytes: u64,
}

/// What the store is asked on a trip.
pub(super) struct Questions {
    run: RunId,
    recalls: Vec<Recall>,
    left_behind: Option<Portion>,
    confirmed: Option<Portion>,
}

/// What it answers.
#[derive(Default)]
pub(super) struct Answers {
    recalled: Vec<Recalled>,
    /// There was no room for these.
    unasked: Vec<Recall>,
    left_behind: Option<Vec<(UrlKey, u32)>>,
    confirmed: Option<Vec<(UrlKey, u32)>>,
}

/// A page with its earlier answer, if there is one, and the links of that.
struct Recalled {
    recall: Recall,
    facts: Option<PageFacts>,
    links: Vec<UrlKey>,
}

impl Questions {
    /// Reads the answers from `store`.
    pub(super) fn ask(self, store: &dyn Store) -> Result<Answers, StoreError> {
        let mut answers = Answers::default();
        let mut links_left = MAX_RECALLED_LINKS;
        for recall in self.recalls {
            if links_left == 0 {
                answers.unasked.push(recall);
                continue;
            }
            let facts = store.earlier_facts(recall.lease.url())?;
            let links = store.links(recall.lease.url())?.unwrap_or_default();
            let taken = links.len() + facts.as_ref().map_or(0, lists_of);
            links_left = links_left.saturating_sub(taken);
            answers.recalled.push(Recalled {
                recall,
                facts,
                links,
            });
        }
        if let Some(Portion { after }) = &self.left_behind {
            answers.left_behind = Some(store.left_behind(self.run, after.as_ref(), WALK_URLS)?);
        }
        if let Some(Portion { after }) = &self.confirmed {
            answers.confirmed = Some(store.confirmed(self.run, after.as_ref(), WALK_URLS)?);
        }
        Ok(answers)
    }
}

impl Recrawl {
    /// Begins with what run `run` knows. A run that was begun before may have been stopped between a
    /// lie and its correction.
    pub(super) fn new(
        run: RunId,
        is_resumed: bool,
        honesty: Honesty,
        start_answers: Vec<(UrlKey, EarlierAnswer)>,
        start_test: Option<(UrlKey, Validators)>,
    ) -> Self {
        let walk_if = |is_needed| {
            if is_needed {
                Walk::Behind(None)
            } else {
                Walk::Over
            }
        };
        Self {
            start_answers,
            recalls: Vec::new(),
            away: 0,
            tests: start_test
                .map(|(url, validators)| Test {
                    page: Tested::Start(url),
                    validators,
                })
                .into_iter()
                .collect(),
            testing: None,
            doubted: HashSet::new(),
            left_behind: walk_if(run > 1),
            confirmed: walk_if(is_resumed && !honesty.is_spotless()),
            honesty,
        }
    }

    /// Pages that wait for the store, or for its answer.
    pub(super) fn recalled(&self) -> usize {
        self.recalls.len() + self.away
    }

    /// Whether there are any.
    pub(super) fn recalls(&self) -> bool {
        self.recalled() > 0
    }

    /// Whether nothing is under way here.
    pub(super) fn is_idle(&self) -> bool {
        !self.recalls() && !self.is_testing() && self.confirmed.is_over()
    }

    /// Whether everything was asked that earlier runs leave to be asked.
    pub(super) fn is_over(&self) -> bool {
        self.left_behind.is_over() && self.confirmed.is_over()
    }

    /// A conditional request was answered as it should be.
    pub(super) fn answered(&mut self, url: &UrlKey) {
        self.honesty.answered(url);
    }

    /// Whether changed pages wait for their test.
    pub(super) fn is_testing(&self) -> bool {
        !self.tests.is_empty() || self.testing.is_some()
    }

    /// Whether the task `id` tests validators.
    pub(super) fn is_test(&self, id: Id) -> bool {
        self.testing.as_ref().is_some_and(|(task, _)| *task == id)
    }
}

/// Takes the head only.
struct Unread;

impl BodySink for Unread {
    fn head(&mut self, _: &ResponseHead) -> BodyWish {
        BodyWish::Stop
    }

    fn chunk(&mut self, _: &[u8]) -> BodyWish {
        BodyWish::Stop
    }
}

impl Run<'_> {
    /// What a page is asked with; `None`: as if it were new.
    pub(super) fn validators_for(&self, lease: &Lease) -> Option<Validators> {
        let answer = lease.earlier()?.answer.as_ref()?;
        let validators = self.judge.validators(answer)?;
        let url = lease.url();
        // What came to nothing once is not asked in the same way again.
        let is_asked = lease.earlier_tries() == 0
            && self.recrawl.honesty.believes(url)
            && !is_sample(url, self.number);
        is_asked.then_some(validators)
    }

    /// A conditional request was answered 304.
    pub(super) fn take_not_modified(&mut self, lease: Lease, tries: u32, answer: Box<PageFacts>) {
        if !self.recrawl.honesty.believes(lease.url()) {
            // It was found out while this was under way.
            self.frontier.give_back(lease);
            return;
        }
        self.recrawl.answered(lease.url());
        self.fetched += 1;
        self.not_modified += 1;
        let why = Why::Confirmed(answer);
        self.recrawl.recalls.push(Recall { lease, tries, why });
    }

    /// A conditional request had no answer that says whether the page changed: it is asked for as a whole, as if
    /// nothing were known of it.
    pub(super) fn ask_whole(&mut self, lease: Lease) {
        tracing::debug!(target: "engine", url = %lease.url(), "no answer to a conditional request");
        self.recrawl.doubted.insert(lease.url().clone());
        self.frontier.retry(lease, Instant::now());
    }

    /// Notes what the answer to a request for the whole page `url` says of conditional ones.
    fn watch_whole(&mut self, url: &UrlKey, outcome: &Outcome) {
        let was_doubted = self.recrawl.doubted.remove(url);
        let Outcome::Answered(facts) = outcome else {
            return;
        };
        let lie = match facts.status {
            // Nobody asked whether it was modified.
            304 => Lie::Unasked,
            200 if was_doubted && self.recrawl.honesty.asked_in_vain(url) => Lie::NoAnswer,
            _ => return,
        };
        if self.recrawl.honesty.begin_test(url) {
            self.hold_to(url, Some(lie));
        }
    }

    /// Lets a page that stays listed in spite of `outcome` wait for its last good answer; gives back what
    /// is decided at once.
    pub(super) fn recall_if_kept(
        &mut self,
        lease: Lease,
        tries: u32,
        outcome: Outcome,
    ) -> Option<(Lease, Outcome)> {
        let earlier = lease.earlier().filter(|earlier| earlier.answer.is_some());
        let kept = earlier.and_then(|earlier| {
            let reason = self.judge.after_fetch(lease.url(), &outcome).reason;
            self.judge.stays(&outcome, reason, earlier)
        });
        let Some(kept) = kept else {
            return Some((lease, outcome));
        };
        let why = Why::Kept(outcome, kept);
        self.recrawl.recalls.push(Recall { lease, tries, why });
        None
    }

    /// Whether the store is wanted for a walk, and may be asked.
    pub(super) fn wants_walk(&self) -> bool {
        self.ending.is_none()
            && (matches!(self.recrawl.confirmed, Walk::Behind(_)) || self.wants_left_behind())
    }

    /// Whether nothing more will lead to those that are left behind, and all that did is stored.
    fn wants_left_behind(&self) -> bool {
        matches!(self.recrawl.left_behind, Walk::Behind(_))
            && self.pending_effects() == 0
            && self.frontier_is_drained()
    }

    /// What the store is to be asked now.
    pub(super) fn questions(&mut self) -> Questions {
        let may_walk = self.ending.is_none();
        // The question goes out with a commit, so what was decided until now is stored when it is asked.
        let wants_left_behind = may_walk && self.wants_left_behind();
        let recalls = std::mem::take(&mut self.recrawl.recalls);
        self.recrawl.away = recalls.len();
        Questions {
            run: self.number,
            recalls,
            left_behind: wants_left_behind
                .then(|| self.recrawl.left_behind.next())
                .flatten(),
            confirmed: may_walk.then(|| self.recrawl.confirmed.next()).flatten(),
        }
    }

    /// Takes what the store brought.
    pub(super) fn take_answers(&mut self, answers: Answers) {
        self.recrawl.away = 0;
        self.recrawl.recalls.extend(answers.unasked);
        for recalled in answers.recalled {
            self.take_recalled(recalled);
        }
        if let Some(portion) = answers.left_behind {
            self.recrawl.left_behind.arrived(&portion);
            for (url, depth) in portion {
                self.ask_left_behind(&url, depth);
            }
        }
        if let Some(portion) = answers.confirmed {
            self.recrawl.confirmed.arrived(&portion);
            for (url, depth) in portion {
                self.ask_again(url, depth);
            }
        }
    }

    fn take_recalled(&mut self, recalled: Recalled) {
        let Recalled {
            recall: Recall { lease, tries, why },
            facts,
            links,
        } = recalled;
        if let Why::Confirmed(answer) = &why {
            let is_believed = self.recrawl.honesty.believes(lease.url());
            let is_enough = facts.as_ref().is_some_and(|facts| says_all(answer, facts));
            if !is_believed || !is_enough {
                self.fetched -= 1;
                self.not_modified -= 1;
                if is_believed {
                    self.ask_whole(lease);
                } else {
                    self.frontier.give_back(lease);
                }
                return;
            }
        }
        let work = Work::of(&lease, tries);
        self.frontier.finish(lease);
        match (why, facts) {
            (Why::Confirmed(answer), Some(facts)) => {
                let facts = facts.confirmed_by(&answer);
                self.decide_by_earlier(&work, facts, links, Basis::Confirmed);
            }
            (Why::Kept(_, kept), Some(facts)) => {
                self.decide_by_earlier(&work, facts, links, Basis::Kept(kept));
            }
            (Why::Confirmed(answer), None) => self.decide(&work, Outcome::Answered(answer)),
            // The queue knew of an answer that the page does not have: it is judged without.
            (Why::Kept(outcome, _), None) => self.decide(&work, outcome),
        }
    }

    /// Nothing of this run led to `url`, which was listed; that does not mean that it is gone.
    fn ask_left_behind(&mut self, url: &UrlKey, depth: u32) {
        if self.seen.contains(url) {
            return;
        }
        let Some(reason) = self.judge.before_fetch(url, depth) else {
            return;
        };
        let sequence = self.note(url, reason, depth, 0, Via::Earlier, None);
        if reason == Reason::Queued {
            self.frontier.offer(QueuedUrl {
                sequence,
                key: url.clone(),
                depth,
                hops: 0,
                earlier: None,
            });
        }
    }

    /// `url` was confirmed by an answer that may mean nothing.
    fn ask_again(&mut self, url: UrlKey, depth: u32) {
        if self.recrawl.honesty.believes(&url) {
            return;
        }
        let queued = QueuedUrl {
            sequence: self.next_sequence,
            key: url,
            depth,
            hops: 0,
            earlier: None,
        };
        self.next_sequence += 1;
        self.queued += 1;
        self.frontier.offer(queued.clone());
        self.pending.requeued.push(queued);
    }

    /// Decides a page that was answered before the loop began.
    pub(super) fn end_start(&mut self, work: &Work, facts: PageFacts) {
        let answers = &mut self.recrawl.start_answers;
        let position = answers.iter().position(|(asked, _)| *asked == work.url);
        let answer = position.map(|position| answers.swap_remove(position).1);
        let validators = answer.and_then(|answer| self.test_of(&work.url, &facts, &answer));
        if let Some(validators) = validators {
            let value = start_test_text(&work.url, &validators);
            self.pending
                .values
                .push((START_TEST.to_owned(), Some(value)));
            let page = Tested::Start(work.url.clone());
            self.recrawl.tests.push_back(Test { page, validators });
        }
        self.decide(work, Outcome::Answered(Box::new(facts)));
    }

    /// Ends the work on a page that was asked for as a whole.
    pub(super) fn end_whole(&mut self, lease: Lease, tries: u32, outcome: Outcome) {
        self.watch_whole(lease.url(), &outcome);
        let earlier = lease.earlier().and_then(|earlier| earlier.answer.as_ref());
        let validators = match (earlier, &outcome) {
            (Some(answer), Outcome::Answered(facts)) => {
                let answer = answer.clone();
                self.test_of(lease.url(), facts, &answer)
            }
            (Some(_) | None, _) => None,
        };
        match validators {
            Some(validators) => {
                let page = Tested::Leased(lease, tries, outcome);
                self.recrawl.tests.push_back(Test { page, validators });
            }
            None => self.end_work(lease, tries, outcome),
        }
    }

    /// What the server is to be asked about a page that is not what it was.
    fn test_of(
        &mut self,
        url: &UrlKey,
        facts: &PageFacts,
        answer: &EarlierAnswer,
    ) -> Option<Validators> {
        let validators = self.judge.validators(answer)?;
        let is_tested = has_changed(facts, answer) && self.recrawl.honesty.begin_test(url);
        is_tested.then_some(validators)
    }

    /// Asks for the next changed page with its old validators, one at a time.
    pub(super) fn dispatch_test(&mut self) {
        let may_ask = match self.ending {
            // What was begun is brought to its end.
            None | Some(Ending::Drained | Ending::LimitReached | Ending::Deferred) => true,
            Some(Ending::SiteDown | Ending::Stopped) => false,
        };
        if !may_ask || self.recrawl.testing.is_some() {
            return;
        }
        let Some(test) = self.recrawl.tests.pop_front() else {
            return;
        };
        let (door, stop) = (self.door.clone(), self.shutdown.stop.clone());
        let (url, validators) = (test.page.url().clone(), test.validators.clone());
        let work = async move {
            let answered = door
                .ask_with(&url, Some(&validators), &stop, || Unread)
                .await;
            Done::Test(match answered {
                Ok(Answered {
                    result: Ok(fetched),
                    ..
                }) => TestEnd {
                    status: Some(fetched.head.status),
                    wire_bytes: fetched.wire_bytes,
                },
                Ok(_) | Err(_) => TestEnd::default(),
            })
        };
        let task = self.tasks.spawn(work.in_current_span());
        self.recrawl.testing = Some((task.id(), test));
    }

    /// Takes the end of a test; the page is decided now, unless the run stops: then it still waits, and so
    /// does its test.
    pub(super) fn take_test(&mut self, end: &TestEnd) {
        let Some((_, Test { page, .. })) = self.recrawl.testing.take() else {
            return;
        };
        self.bytes_in += end.wire_bytes;
        if end.status.is_none() && self.shutdown.is_stopping() {
            return;
        }
        self.judge_server(page.url(), end.status);
        match page {
            Tested::Start(_) => self.pending.values.push((START_TEST.to_owned(), None)),
            Tested::Leased(lease, tries, outcome) => self.end_work(lease, tries, outcome),
        }
    }

    /// What the answer to the old validators of the changed page `url` says of the server.
    fn judge_server(&mut self, url: &UrlKey, status: Option<u16>) {
        match status {
            Some(304) => self.hold_to(url, Some(Lie::Changed)),
            Some(status) if says_of_changes(status) => self.hold_to(url, None),
            Some(_) | None => {}
        }
    }

    /// Takes a lie of the server about `url`, or the truth, and says what follows.
    fn hold_to(&mut self, url: &UrlKey, lie: Option<Lie>) {
        let finding = self.recrawl.honesty.end_test(url, lie.is_some());
        let value = self.recrawl.honesty.value();
        self.pending.values.push(value);
        match finding {
            Finding::Nothing => {}
            Finding::Caught(directory) => {
                let place = place(directory.as_deref());
                let lie = lie.map_or("", Lie::text);
                self.say(format!(
                    "{url} {lie}: that is not believed any more {place}. \
                     What it confirmed there in this run is asked for again as a whole, and so are all pages there in the next runs"
                ));
                self.recrawl.confirmed = Walk::Behind(None);
            }
            Finding::Forgiven(directory) => {
                let place = place(directory.as_deref());
                self.say(format!(
                    "the server tells the truth about what is not modified (304) again: it is believed {place}"
                ));
            }
        }
    }
}

/// What shows that the answers to conditional requests mean nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lie {
    /// A page that changed was not modified.
    Changed,
    /// A page was not modified although nobody asked.
    Unasked,
    /// Only whoever asks for whole pages gets answers.
    NoAnswer,
}

impl Lie {
    fn text(self) -> &'static str {
        match self {
            Self::Changed => "changed, and the server calls it not modified (304)",
            Self::Unasked => "was asked for as a whole, and the server calls it not modified (304)",
            Self::NoAnswer => {
                "is answered when it is asked for as a whole, and others before it, but not when the server is asked \
                 whether it changed"
            }
        }
    }
}

/// Whether a status tells if a page changed: it was modified, it was not, or it is not there any more.
fn says_of_changes(status: u16) -> bool {
    matches!(status, 200 | 301..=304 | 307 | 308 | 404 | 410)
}

/// Whether this is an answer to a request with `validators`: servers refuse such requests, or have nothing else to say
/// of a page than that they fail, while the page itself is fine.
pub(super) fn is_answer_to(
    validators: &Validators,
    result: &Result<(Fetched, Box<PageFacts>), FetchError>,
) -> bool {
    match result {
        Ok((_, facts)) if facts.status == 304 => !validators.are_not_of(facts.etag.as_deref()),
        Ok((_, facts)) => says_of_changes(facts.status) || signal::is_passing_status(facts.status),
        // An answer 304 with a body is one that cannot be read.
        Err(error) => error.kind() != FetchErrorKind::Protocol,
    }
}

/// Whether an answer 304 leaves nothing open about a page of which `facts` are known: it may name another canonical
/// URL, and nobody knows whether that takes the place of the other one.
fn says_all(answer: &PageFacts, facts: &PageFacts) -> bool {
    answer.canonical == Canonical::Absent
        || facts.canonical == Canonical::Absent
        || answer.canonical == facts.canonical
}

fn place(directory: Option<&str>) -> String {
    match directory {
        None => "on this site".to_owned(),
        Some("/") => "of the pages right in the root".to_owned(),
        Some(directory) => format!("below {directory}"),
    }
}

/// Whether a page does not say what it said, as far as both are known. What stands around its content does not count:
/// it may differ in each answer.
fn has_changed(facts: &PageFacts, answer: &EarlierAnswer) -> bool {
    match facts.status {
        200 => {
            let is_known = facts.end == BodyEnd::Complete && answer.content_hash.is_some();
            let is_same = facts.content_hash == answer.content_hash
                && orders(facts.directives, &facts.canonical) == answer.orders;
            is_known && !is_same
        }
        301..=303 | 307 | 308 | 404 | 410 => true,
        _ => false,
    }
}
