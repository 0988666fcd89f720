//! Whether the server tells the truth about what is not modified: pages that changed are asked with their old
//! validators, whole answers are looked at for what they say of conditional ones, and what follows is said, kept and
//! done ([`Honesty`](crate::engine::honesty::Honesty) counts). Never decides a page.

use jiff::Timestamp;
use tracing::Instrument as _;

use super::{EFFECT_BYTES, Walk, bytes_of_facts};
use crate::{
    engine::{
        Ending,
        door::Answered,
        honesty::Finding,
        run::{Done, Run},
    },
    fetch::{BodySink, BodyWish, ResponseHead, Validators},
    frontier::Lease,
    notes::Note,
    page::{BodyEnd, Outcome, PageFacts},
    store::{EarlierAnswer, Store, StoreError, orders},
    url_key::UrlKey,
};

/// Name of the state's value with the test of the start page that has not ended: its URL, its
/// `Last-Modified` in seconds or `-`, and its `ETag` or nothing, a line each.
pub(super) const START_TEST: &str = crate::store::names::VALIDATORS_START_TEST;

pub(super) fn start_test_text(url: &UrlKey, validators: &Validators) -> String {
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
pub(in crate::engine::run) fn open_start_test(
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

/// A changed page, and what was said of it before.
pub(super) struct Test {
    pub(super) page: Tested,
    pub(super) validators: Validators,
}

/// A page that was answered.
pub(super) enum Tested {
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

    /// Memory that the page takes while it waits.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Leased(_, _, Outcome::Answered(facts)) => bytes_of_facts(facts),
            Self::Leased(..) => EFFECT_BYTES,
            // It is decided, and nothing of it is held.
            Self::Start(_) => 0,
        }
    }
}

/// What became of a [`Test`].
#[derive(Debug, Default)]
pub(in crate::engine::run) struct TestEnd {
    /// `None`: nobody knows.
    status: Option<u16>,
    wire_bytes: u64,
}

/// Takes the head only.
pub(in crate::engine::run) struct Unread;

impl BodySink for Unread {
    fn head(&mut self, _: &ResponseHead) -> BodyWish {
        BodyWish::Stop
    }

    fn chunk(&mut self, _: &[u8]) -> BodyWish {
        BodyWish::Stop
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
pub(super) fn says_of_changes(status: u16) -> bool {
    matches!(status, 200 | 301..=304 | 307 | 308 | 404 | 410)
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

impl Run<'_> {
    /// Notes what the answer to a request for the whole page `url` says of conditional ones.
    pub(super) fn watch_whole(&mut self, url: &UrlKey, outcome: &Outcome) {
        let doubt = self.recrawl.doubted.remove(url);
        let Outcome::Answered(facts) = outcome else {
            return;
        };
        let lie = match facts.status {
            // Nobody asked whether it was modified.
            304 => Lie::Unasked,
            200 => match doubt {
                Some(doubt) if self.recrawl.honesty.asked_in_vain(url, doubt) => Lie::NoAnswer,
                Some(_) | None => return,
            },
            _ => return,
        };
        if self.recrawl.honesty.begin_test(url) {
            self.hold_to(url, Some(lie));
        }
    }

    /// What the server is to be asked about a page that is not what it was.
    pub(super) fn test_of(
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
    pub(in crate::engine::run) fn dispatch_test(&mut self) {
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
    pub(in crate::engine::run) fn take_test(&mut self, end: &TestEnd) {
        let Some((_, Test { page, .. })) = self.recrawl.testing.take() else {
            return;
        };
        self.recrawl.held = self.recrawl.held.saturating_sub(page.bytes());
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
                self.say(Note::not_modified_distrusted(url, &lie, &place).naming(url));
                self.recrawl.confirmed = Walk::Behind(None);
            }
            Finding::Forgiven(directory) => {
                let place = place(directory.as_deref());
                self.say(Note::not_modified_trusted(&place).naming(url));
            }
        }
    }
}
