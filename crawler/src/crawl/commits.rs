//! The commits of the loop: the effects that came together, the store that writes them on a blocking task and answers
//! questions on the way. One commit at a time; nothing here knows what the effects mean.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    bytes::{EFFECT_BYTES, bytes_of, bytes_of_facts},
    rendering::Unrendered,
    revalidation::{NotModified, Rereads},
    unlinked::PortionAfter,
};
use crate::{
    frontier::QueueQuery,
    page::SitemapDate,
    store::{Discovery, Effect, Finished, MetaValue, QueuedUrl, Store, StoreError},
    url_key::UrlKey,
};

/// Effects are stored at least this often; a crash costs no more than this.
pub const COMMIT_INTERVAL: Duration = Duration::from_millis(500);

/// A store that has written a commit.
pub(super) struct Committed {
    store: Store,
    /// Bytes of the store now, and what it answered.
    result: Result<(u64, Answers), StoreError>,
}

/// The answer of a store with a commit.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) refill: Option<(QueueQuery, Vec<QueuedUrl>)>,
    /// Pages that answered 304, as their page rows know them.
    pub(super) rereads: Rereads,
    /// Listed pages without a visit.
    pub(super) unvisited: Option<Vec<(UrlKey, u32)>>,
    /// Pages that were not rendered.
    pub(super) unrendered: Option<Unrendered>,
}

/// The question to a store with a commit.
pub(super) struct Questions {
    pub(super) wanted: Option<QueueQuery>,
    pub(super) not_modified: Vec<NotModified>,
    pub(super) unvisited: Option<PortionAfter>,
    pub(super) unrendered: Option<PortionAfter>,
}

impl Questions {
    /// Stores `commit`, and reads the answers.
    fn commit_and_answer(
        self,
        store: &mut Store,
        commit: &[Effect],
    ) -> Result<(u64, Answers), StoreError> {
        if !commit.is_empty() {
            store.commit(commit)?;
        }
        store.at_once(|store| self.answer(store))
    }

    fn answer(self, store: &Store) -> Result<(u64, Answers), StoreError> {
        let mut answers = Answers::default();
        if let Some(wanted) = self.wanted {
            let urls = store.queued(wanted.after, wanted.limit)?;
            answers.refill = Some((wanted, urls));
        }
        answers.rereads = Rereads::read(self.not_modified, store)?;
        if let Some(portion) = self.unvisited {
            answers.unvisited = Some(portion.unvisited(store)?);
        }
        if let Some(portion) = self.unrendered {
            answers.unrendered = Some(Unrendered::read(&portion, store)?);
        }
        Ok((store.bytes()?, answers))
    }
}

/// The effects of the next commit, in the order in which they are applied: a visit is there before anything changes it.
#[derive(Default)]
struct NextCommit {
    discovered: Vec<Effect>,
    finished: Vec<Effect>,
    others: Vec<Effect>,
}

/// The store, and what is to be written to it next.
pub(super) struct Commits {
    /// `None` while a task has it.
    store: Option<Store>,
    next: NextCommit,
    /// Memory of the URLs and facts of the next commit.
    next_bytes: usize,
    /// Memory of the commit under way.
    away_bytes: usize,
    last: Instant,
    /// Bytes of the state after the last commit.
    state_bytes: u64,
}

impl Commits {
    /// Commits to `store`, which takes `state_bytes`.
    pub(super) fn new(store: Store, state_bytes: u64) -> Self {
        Self {
            store: Some(store),
            next: NextCommit::default(),
            next_bytes: 0,
            away_bytes: 0,
            last: Instant::now(),
            state_bytes,
        }
    }

    /// Adds a URL that was found.
    pub(super) fn discover(&mut self, discovery: Discovery) {
        self.next_bytes += bytes_of([&discovery.key]);
        self.next.discovered.push(Effect::Discover(discovery));
    }

    /// Adds the end of the work on a URL.
    pub(super) fn finish(&mut self, finished: Finished) {
        self.next_bytes += size_of::<Finished>() + bytes_of([&finished.key]);
        self.next_bytes += finished
            .links
            .as_ref()
            .map_or(0, |links| bytes_of(&links.urls) + links.texts.bytes());
        let facts = finished.visit.record.facts();
        self.next_bytes += facts.map_or(0, bytes_of_facts);
        let finished = Effect::Finish(Box::new(finished));
        self.next.finished.push(finished);
    }

    /// Adds an orphan that a page turned out to lead to.
    pub(super) fn link(&mut self, url: UrlKey) {
        self.next.others.push(Effect::Link(url));
    }

    /// Adds a shorter way from new text to a URL that waits.
    pub(super) fn shorten(&mut self, url: UrlKey, distance: u16) {
        self.next.others.push(Effect::Shorten(url, distance));
    }

    /// Adds a URL that a sitemap of the site, or a list of the user's, names.
    pub(super) fn name(&mut self, url: UrlKey) {
        self.next.others.push(Effect::Declare(url));
    }

    /// Adds the last change of a page that a sitemap states.
    pub(super) fn date(&mut self, url: UrlKey, date: SitemapDate) {
        self.next.others.push(Effect::Date(url, date));
    }

    /// Adds what documents come to.
    pub(super) fn extend(&mut self, effects: Vec<Effect>) {
        self.next.others.extend(effects);
    }

    /// Adds a named value.
    pub(super) fn set(&mut self, value: MetaValue) {
        self.next.others.push(Effect::Value(value));
    }

    fn effects(&self) -> usize {
        let NextCommit {
            discovered,
            finished,
            others,
        } = &self.next;
        discovered.len() + finished.len() + others.len()
    }

    /// Returns whether everything is stored that was added.
    pub(super) fn is_empty(&self) -> bool {
        self.effects() == 0
    }

    /// Memory of the next commit.
    pub(super) fn next_bytes(&self) -> usize {
        self.next_bytes + self.effects() * EFFECT_BYTES
    }

    /// Memory of all that is not in the state yet.
    pub(super) fn held_bytes(&self) -> usize {
        self.next_bytes() + self.away_bytes
    }

    /// Bytes of the state after the last commit.
    pub(super) fn state_bytes(&self) -> u64 {
        self.state_bytes
    }

    /// Returns whether the store can take a commit.
    pub(super) fn is_home(&self) -> bool {
        self.store.is_some()
    }

    /// When the next commit is due, if there is anything to store.
    pub(super) fn due(&self) -> Instant {
        self.last + COMMIT_INTERVAL
    }

    /// Sends the store off with all effects and with `questions`: what is to be done where blocking is allowed, if the store
    /// is at home.
    pub(super) fn send(
        &mut self,
        questions: Questions,
        now: Instant,
    ) -> Option<impl FnOnce() -> Committed + Send + use<>> {
        let mut store = self.store.take()?;
        self.away_bytes = self.next_bytes();
        self.next_bytes = 0;
        let NextCommit {
            discovered: mut commit,
            finished,
            others,
        } = std::mem::take(&mut self.next);
        commit.extend(finished);
        commit.extend(others);
        self.last = now;
        Some(move || {
            let result = questions.commit_and_answer(&mut store, &commit);
            Committed { store, result }
        })
    }

    /// Takes the store back; gives what it answered.
    ///
    /// # Errors
    /// The store failed.
    pub(super) fn take_back(&mut self, committed: Committed) -> Result<Answers, StoreError> {
        self.store = Some(committed.store);
        self.away_bytes = 0;
        let (state_bytes, answers) = committed.result?;
        self.state_bytes = state_bytes;
        Ok(answers)
    }

    /// The store, when it is at home.
    pub(super) fn into_store(self) -> Option<Store> {
        self.store
    }
}
