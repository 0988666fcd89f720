//! What a run owes to those before it: pages are asked with the validators of their last answer, a 304
//! is decided from what the store knows, pages that fail are listed by their last good answer, and URLs
//! that nothing leads to any more are asked as well (`walk`). The store is asked in batches, on the trips that the
//! loop sends it on anyway. Whether a 304 is believed is found out in `trial`; what a page comes to is never decided here.
//!
//! ```text
//! 304, or a failure of a listed page -> waits -> trip: facts and links -> decided like any other
//! a sample that changed              -> waits -> asked with its old validators -> decided like any other
//! frontier drained                   -> trip: listed before, not found -> queued (via "earlier"), unless only an
//!                                       earlier start led to it
//! a changed page is "not modified"   -> trip: confirmed in this run    -> queued again, asked as a whole
//! no answer to a conditional request -> asked as a whole -> decided like any other
//! ```

mod trial;
mod walk;

use std::collections::{HashMap, VecDeque};

use tokio::{task::Id, time::Instant};

use self::{
    trial::{START_TEST, Test, Tested, says_of_changes, start_test_text},
    walk::{Portion, WALK_URLS, Walk},
};
pub(super) use self::{
    trial::{TestEnd, Unread, open_start_test},
    walk::was_start,
};
use super::{
    Run,
    bounds::{EFFECT_BYTES, bytes_of, bytes_of_facts},
    decide::Work,
};
use crate::{
    engine::{
        honesty::{Doubt, Honesty, is_sample},
        start::{Manner, Standing},
    },
    fetch::{FetchError, FetchErrorKind, Fetched, Validators},
    frontier::Lease,
    page::{Basis, Canonical, Kept, Outcome, PageFacts, RunId},
    store::{EarlierAnswer, Store, StoreError},
    url_key::UrlKey,
};

/// Pages that wait for what the store knows of them at most; then no new request is sent. What they say counts
/// besides ([`Recrawl::held`]).
pub(super) const MAX_RECALLS: usize = 4_096;

/// Memory of the links, images and languages that one trip brings back, give or take those of one page.
const MAX_RECALLED_BYTES: usize = 8 << 20;

/// The part of a run that earlier ones have a say in.
pub(super) struct Recrawl {
    honesty: Honesty,
    /// What the pages that were asked before the loop answered in earlier runs.
    start_answers: Vec<(UrlKey, EarlierAnswer)>,
    recalls: Vec<Recall>,
    /// Recalls that are on a trip.
    away: usize,
    /// Changed pages that are to be asked with their old validators; [`Honesty`] bounds how many, and `held` what
    /// they say. They are decided afterwards, so that a run that is killed meanwhile asks again. The start page is decided at
    /// once, because everything begins with it; its test is kept in the state ([`START_TEST`]).
    tests: VecDeque<Test>,
    testing: Option<(Id, Test)>,
    /// Memory of the pages that were answered and wait for the store or for their test.
    held: usize,
    /// Pages that wait for being asked as a whole, because a conditional request had no answer; the frontier holds
    /// each of them too.
    doubted: HashMap<UrlKey, Doubt>,
    /// URLs that were listed and that nothing led to.
    left_behind: Walk,
    /// Pages that were confirmed before it was known that this means nothing.
    confirmed: Walk,
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

impl Why {
    /// Memory that the page takes while it waits.
    fn bytes(&self) -> usize {
        match self {
            Self::Confirmed(answer) => bytes_of_facts(answer),
            Self::Kept(Outcome::Answered(facts), _) => bytes_of_facts(facts),
            Self::Kept(
                Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Given(_),
                _,
            ) => EFFECT_BYTES,
        }
    }
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
    /// With their depth, and whether nothing but the start of an earlier run led there.
    left_behind: Option<Vec<(UrlKey, u32, bool)>>,
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
        let mut bytes_left = MAX_RECALLED_BYTES;
        for recall in self.recalls {
            if bytes_left == 0 {
                answers.unasked.push(recall);
                continue;
            }
            let facts = store.earlier_facts(recall.lease.url())?;
            let links = store.links(recall.lease.url())?.unwrap_or_default();
            let taken = bytes_of(&links) + facts.as_ref().map_or(0, bytes_of_facts);
            bytes_left = bytes_left.saturating_sub(taken);
            answers.recalled.push(Recalled {
                recall,
                facts,
                links,
            });
        }
        if let Some(Portion { after }) = &self.left_behind {
            let portion = store.left_behind(self.run, after.as_ref(), WALK_URLS)?;
            let portion = portion.into_iter().map(|(url, depth)| {
                let was_start = was_start(store, &url)?;
                Ok((url, depth, was_start))
            });
            answers.left_behind = Some(portion.collect::<Result<_, StoreError>>()?);
        }
        if let Some(Portion { after }) = &self.confirmed {
            answers.confirmed = Some(store.confirmed(self.run, after.as_ref(), WALK_URLS)?);
        }
        Ok(answers)
    }
}

impl Recrawl {
    /// Begins with what a run knows; `has_earlier` is whether there may be anything from before it. A run that was begun
    /// before may have been stopped between a lie and its correction.
    pub(super) fn new(
        has_earlier: bool,
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
            held: 0,
            doubted: HashMap::new(),
            left_behind: walk_if(has_earlier),
            confirmed: walk_if(is_resumed && !honesty.is_spotless()),
            honesty,
        }
    }

    /// Pages that wait for the store, or for its answer.
    pub(super) fn recalled(&self) -> usize {
        self.recalls.len() + self.away
    }

    /// Memory of the pages that were answered and are not decided: it counts as that of those does that wait for the
    /// store.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Lets a page wait for what the store knows of it.
    fn recall(&mut self, lease: Lease, tries: u32, why: Why) {
        self.held += why.bytes();
        self.recalls.push(Recall { lease, tries, why });
    }

    /// Lets a changed page wait for its test.
    fn test(&mut self, page: Tested, validators: Validators) {
        self.held += page.bytes();
        self.tests.push_back(Test { page, validators });
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
        self.recrawl.recall(lease, tries, Why::Confirmed(answer));
    }

    /// A conditional request had no answer that says whether the page changed: it is asked for as a whole, as if
    /// nothing were known of it.
    pub(super) fn ask_whole(&mut self, lease: Lease, doubt: Doubt) {
        tracing::debug!(target: "engine", url = %lease.url(), "no answer to a conditional request");
        self.recrawl.doubted.insert(lease.url().clone(), doubt);
        self.frontier.retry_soon(lease, Instant::now());
    }

    /// Why an `answer` to a conditional request for `url` is none.
    pub(super) fn doubt_by(&self, url: &UrlKey, answer: &FetchedFacts) -> Doubt {
        let answers = self.recrawl.honesty.answers(url);
        if is_server_error(answer) {
            Doubt::Failed { answers }
        } else {
            Doubt::Refused
        }
    }

    /// Notes what a passing failure, after which `url` is asked for as a whole, says of conditional requests:
    /// `is_conditional` is whether it was one. Who fails whoever asks says nothing.
    pub(super) fn watch_failure(
        &mut self,
        url: &UrlKey,
        is_conditional: bool,
        answer: &FetchedFacts,
    ) {
        if is_conditional && is_server_error(answer) {
            let answers = self.recrawl.honesty.answers(url);
            let doubt = Doubt::Failed { answers };
            self.recrawl.doubted.insert(url.clone(), doubt);
        } else {
            self.recrawl.doubted.remove(url);
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
        let kept = lease.earlier().and_then(|earlier| {
            let reason = self.judge.after_fetch(lease.url(), &outcome).reason;
            self.judge.stays(&outcome, reason, earlier)
        });
        let Some(kept) = kept else {
            return Some((lease, outcome));
        };
        self.recrawl.recall(lease, tries, Why::Kept(outcome, kept));
        None
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
            let last = portion.last().map(|(url, ..)| url);
            self.recrawl.left_behind.arrived(last, portion.len());
            for (url, depth, was_start) in portion {
                // Somebody typed it once, perhaps by mistake: that it answers says nothing.
                if !was_start {
                    self.ask_left_behind(&url, depth);
                }
            }
        }
        if let Some(portion) = answers.confirmed {
            let last = portion.last().map(|(url, _)| url);
            self.recrawl.confirmed.arrived(last, portion.len());
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
        self.recrawl.held = self.recrawl.held.saturating_sub(why.bytes());
        if let Why::Confirmed(answer) = &why {
            let is_believed = self.recrawl.honesty.believes(lease.url());
            let is_enough = facts.as_ref().is_some_and(|facts| says_all(answer, facts));
            if !is_believed || !is_enough {
                self.fetched = self.fetched.saturating_sub(1);
                self.not_modified = self.not_modified.saturating_sub(1);
                if is_believed {
                    self.ask_whole(lease, Doubt::Refused);
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
            (Why::Kept(outcome, kept), None) => self.decide_by_published(&work, outcome, kept),
        }
    }

    /// Decides a page that was answered before the loop began, `manner` being how it was asked for.
    pub(super) fn end_start(&mut self, work: &Work, facts: PageFacts, manner: &Manner) {
        let answers = &mut self.recrawl.start_answers;
        let position = answers.iter().position(|(asked, _)| *asked == work.url);
        let answer = position.map(|position| answers.swap_remove(position).1);
        let outcome = Outcome::Answered(Box::new(facts));
        match manner {
            // It was asked with its old validators, and said what it says.
            Manner::Conditionally(_) => {
                self.recrawl.answered(&work.url);
                self.decide(work, outcome);
                return;
            }
            Manner::InVain(doubt) => {
                self.recrawl.doubted.insert(work.url.clone(), *doubt);
            }
            Manner::Whole => {}
        }
        self.watch_whole(&work.url, &outcome);
        let validators = match (answer, &outcome) {
            (Some(answer), Outcome::Answered(facts)) => self.test_of(&work.url, facts, &answer),
            (Some(_) | None, _) => None,
        };
        if let Some(validators) = validators {
            let value = start_test_text(&work.url, &validators);
            self.pending
                .values
                .push((START_TEST.to_owned(), Some(value)));
            let page = Tested::Start(work.url.clone());
            self.recrawl.test(page, validators);
        }
        self.decide(work, outcome);
    }

    /// Decides a page that answered before the loop began that it is what it was.
    pub(super) fn end_standing(&mut self, work: &Work, standing: Standing, answer: &PageFacts) {
        self.recrawl.answered(&work.url);
        self.not_modified += 1;
        let Standing { facts, links } = standing;
        let facts = facts.confirmed_by(answer);
        self.decide_by_earlier(work, facts, links, Basis::Confirmed);
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
                self.recrawl.test(page, validators);
            }
            None => self.end_work(lease, tries, outcome),
        }
    }
}

/// An answer and what it says, or why there is none.
pub(in crate::engine) type FetchedFacts = Result<(Fetched, Box<PageFacts>), FetchError>;

/// Whether the server says that it is its own fault.
pub(in crate::engine) fn is_server_error(answer: &FetchedFacts) -> bool {
    matches!(answer, Ok((_, facts)) if matches!(facts.status, 500..=599))
}

/// Whether this is an answer to a request with `validators`: servers refuse such requests, or have nothing else to say
/// of a page than that they fail, while the page itself is fine.
pub(in crate::engine) fn is_answer_to(
    validators: &Validators,
    url: &UrlKey,
    result: &FetchedFacts,
) -> bool {
    match result {
        Ok((_, facts)) if facts.status == 304 => !validators.are_not_of(facts.etag.as_deref()),
        // It leads to where the question came from, which says nothing of the page.
        Ok((_, facts)) if leads_to_itself(url, facts) => false,
        // Who asks to wait is not asked in another way.
        Ok((_, facts)) => says_of_changes(facts.status) || matches!(facts.status, 408 | 429),
        // An answer 304 with a body is one that cannot be read.
        Err(error) => error.kind() != FetchErrorKind::Protocol,
    }
}

fn leads_to_itself(url: &UrlKey, facts: &PageFacts) -> bool {
    (300..400).contains(&facts.status) && facts.location.as_ref() == Some(url)
}

/// Whether an answer 304 leaves nothing open about a page of which `facts` are known: it may name another canonical
/// URL, and nobody knows whether that takes the place of the other one.
pub(in crate::engine) fn says_all(answer: &PageFacts, facts: &PageFacts) -> bool {
    answer.canonical == Canonical::Absent
        || facts.canonical == Canonical::Absent
        || answer.canonical == facts.canonical
}
