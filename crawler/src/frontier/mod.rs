//! The order of the queue: a window in memory over the store's queue, URLs waiting for another try, and
//! the leases that are out. First tries come first, then the URLs of directories that fail (`directories`), then other tries.
//!
//! A URL is leased at most once at a time, and a lease ends in exactly one commit, in another try,
//! or in nothing (crash: the URL is still queued in the store). The frontier knows nothing of hosts
//! and clocks; it takes the time as an argument.
//!
//! URLs wait in the order of their places ([`Rounds`]), and none of a level is leased while one of a lower level is out: what is new
//! on a page, and how far its links are from that, depends on the pages before it. The window has all that wait up to the last place
//! that entered it, so no URL can be in it twice: a discovery enters directly when its place is among them, or nothing waits in the
//! store. Where URLs may have earlier answers none enters directly, because only the store has their validators: their places come
//! after the window, which has one level at a time.

mod directories;
mod rounds;
mod seen;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use tokio::time::Instant;

use self::{directories::Directories, rounds::level_of};
pub use self::{rounds::Rounds, seen::SeenUrls};
use crate::{
    store::{Earlier, QueuedUrl},
    url_key::UrlKey,
};

/// URLs in the window at most. At up to 2 KiB each, and in a re-crawl usually 1 KiB of facts, this bounds it to a few megabytes.
pub const WINDOW_URLS: usize = 4_096;

/// URLs of failing directories at most that wait after all others, and other tries that wait after first tries. Beyond
/// it they keep their places. At up to 2 KiB each this bounds either to 32 MiB; what was known of their answers is dropped, and
/// the whole page is asked for.
const MAX_BEHIND: usize = 16_384;

/// The one running attempt at a URL. It must come back by [`Frontier::finish`], [`Frontier::retry`],
/// [`Frontier::retry_soon`] or [`Frontier::give_back`].
#[must_use]
#[derive(Debug, PartialEq)]
pub struct Lease {
    waiting: WaitingUrl,
    from: Line,
}

/// The queue in which a URL waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Window,
    /// For another try before first tries, from this instant.
    Soon(Instant),
    /// For another try after all first tries, from this instant.
    Later(Instant),
    /// After the URLs of directories that do not fail.
    Aside,
}

impl Lease {
    /// The URL.
    pub fn url(&self) -> &UrlKey {
        &self.waiting.url.key
    }

    /// The place in the queue.
    pub fn sequence(&self) -> u64 {
        self.waiting.url.sequence
    }

    /// Hops from the start URL.
    pub fn depth(&self) -> u32 {
        self.waiting.url.depth
    }

    /// Redirects followed in a row to get here.
    pub fn hops(&self) -> u8 {
        self.waiting.url.hops
    }

    /// Pages in a row that said nothing new, on the shortest way to it.
    pub fn distance(&self) -> u16 {
        self.waiting.url.distance
    }

    /// A shorter way to it was found.
    pub fn set_distance(&mut self, distance: u16) {
        self.waiting.url.distance = distance;
    }

    /// The data on it from before.
    pub fn earlier(&self) -> Option<&Earlier> {
        self.waiting.url.earlier.as_deref()
    }

    /// The same, to take its answer.
    pub fn earlier_mut(&mut self) -> Option<&mut Earlier> {
        self.waiting.url.earlier.as_deref_mut()
    }

    /// The form in which the URL is requested, when it is not its own.
    pub fn written(&self) -> Option<&Arc<str>> {
        self.waiting.written.as_ref()
    }

    /// Returns whether it is requested without cookies, which the server refused.
    pub fn is_without_cookies(&self) -> bool {
        self.waiting.is_without_cookies
    }

    /// Tries before this one.
    pub fn earlier_tries(&self) -> u32 {
        self.waiting.tries
    }
}

#[derive(Debug, Clone, PartialEq)]
struct WaitingUrl {
    url: QueuedUrl,
    tries: u32,
    /// See [`Lease::written`].
    written: Option<Arc<str>>,
    /// See [`Lease::is_without_cookies`].
    is_without_cookies: bool,
}

impl WaitingUrl {
    fn new(url: QueuedUrl) -> Self {
        Self {
            url,
            tries: 0,
            written: None,
            is_without_cookies: false,
        }
    }

    /// Without what was known of its answer.
    fn without_answer(mut self) -> Self {
        if let Some(earlier) = &mut self.url.earlier {
            earlier.answer = None;
        }
        self
    }
}

/// The next offer of the frontier.
#[derive(Debug)]
pub enum Next {
    /// This URL.
    Lease(Lease),
    /// Nothing before this instant: only later tries are waiting.
    WaitUntil(Instant),
    /// Nothing until a lease comes back or the store has been asked.
    Nothing,
}

/// The order of work of one crawl.
#[derive(Debug)]
pub struct Frontier {
    /// First tries, by their places.
    window: BTreeMap<u64, WaitingUrl>,
    /// Other tries that come before first tries, by due time; the sequence number makes keys unique.
    soon: BTreeMap<(Instant, u64), WaitingUrl>,
    /// Other tries that come after all first tries, likewise.
    later: BTreeMap<(Instant, u64), WaitingUrl>,
    directories: Directories,
    /// First tries below failing directories.
    aside: VecDeque<WaitingUrl>,
    /// Leases out by level; where depths are exact, other tries and what waits aside too.
    outstanding: BTreeMap<u64, usize>,
    /// The last place that entered the window.
    entered: Option<u64>,
    /// The last place that was leased; before the first, the one after which places are given.
    leased: u64,
    /// The store has, or will have after the next commit, URLs after `entered`.
    more_in_store: bool,
    /// The first place of the discoveries that passed the window since the last commit was taken.
    passed_by: Option<u64>,
    /// The store has nothing more of the level that is under way.
    level_has_ended: bool,
    /// A level has ended only when none of it is left to be tried again, so that depths are the fewest hops.
    level_by_level: bool,
    entry: WindowEntry,
}

/// How discoveries enter the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WindowEntry {
    /// At once, while nothing waits in the store.
    Direct,
    /// By way of the store only.
    ThroughStore,
}

impl Frontier {
    /// A frontier over a store whose queue may hold URLs. With `level_by_level` a URL is not leased before other tries of lower
    /// levels are over: the price of exact depths.
    pub fn new(level_by_level: bool) -> Self {
        Self {
            window: BTreeMap::new(),
            soon: BTreeMap::new(),
            later: BTreeMap::new(),
            directories: Directories::default(),
            aside: VecDeque::new(),
            outstanding: BTreeMap::new(),
            entered: None,
            leased: 0,
            more_in_store: true,
            passed_by: None,
            level_has_ended: false,
            level_by_level,
            entry: WindowEntry::Direct,
        }
    }

    /// For a site that has earlier answers: every URL comes with what the store knows of it.
    #[must_use]
    pub fn through_store(self) -> Self {
        Self {
            entry: WindowEntry::ThroughStore,
            ..self
        }
    }

    /// For a queue whose first URL waits at this place.
    #[must_use]
    pub fn from_place(self, first: u64) -> Self {
        Self {
            leased: first.saturating_sub(1),
            ..self
        }
    }

    /// The place after which those of discoveries come.
    pub fn place(&self) -> u64 {
        match self.entry {
            WindowEntry::Direct => self.leased,
            WindowEntry::ThroughStore => self.entered.unwrap_or(self.leased),
        }
    }

    /// Takes note of a URL that was just discovered and will be in the next commit.
    pub fn offer(&mut self, url: QueuedUrl) {
        let place = url.sequence;
        let is_last = self.entered.is_none_or(|entered| entered < place);
        if self.entry == WindowEntry::Direct
            && (!is_last || !self.more_in_store && self.window.len() < WINDOW_URLS)
        {
            self.entered = self.entered.max(Some(place));
            self.window.insert(place, WaitingUrl::new(url));
        } else {
            self.more_in_store = true;
            self.level_has_ended &= level_of(place) > self.level();
            let first = self.passed_by.unwrap_or(place);
            self.passed_by = Some(first.min(place));
        }
    }

    /// After which place the store should be asked for more, if it should. Must not be called while it is being asked: what
    /// does not fit into the window leaves it for the store.
    pub fn wants(&mut self) -> Option<QueueQuery> {
        if self.window.len() > WINDOW_URLS
            && let Some((&first, _)) = self.window.iter().nth(WINDOW_URLS)
        {
            self.window.split_off(&first);
            self.entered = self.window.last_key_value().map(|(&place, _)| place);
            self.more_in_store = true;
        }
        (self.may_ask() && self.window.len() <= WINDOW_URLS / 2).then(|| QueueQuery {
            after: self.entered,
            limit: WINDOW_URLS - self.window.len(),
        })
    }

    /// Returns whether nothing is left to lease while the store has more.
    pub fn is_starving(&self) -> bool {
        self.window.is_empty() && self.may_ask()
    }

    /// Returns whether the store has more that may enter the window.
    fn may_ask(&self) -> bool {
        self.more_in_store && (!self.level_has_ended || self.outstanding.is_empty())
    }

    /// The level that is under way.
    fn level(&self) -> u64 {
        level_of(self.place())
    }

    /// Must be called when a commit is handed to the store together with the question of
    /// [`Frontier::wants`].
    pub fn asked(&mut self) {
        self.passed_by = None;
    }

    /// Takes the store's answer to [`Frontier::wants`].
    pub fn refill(&mut self, wanted: &QueueQuery, urls: Vec<QueuedUrl>) {
        debug_assert_eq!(
            wanted.after, self.entered,
            "the window changed while the store was asked"
        );
        if urls.len() < wanted.limit && self.passed_by.is_none() {
            self.more_in_store = false;
        }
        // A discovery that the store did not know of yet must not be left behind.
        let is_next = |url: &QueuedUrl| self.passed_by.is_none_or(|first| url.sequence < first);
        let last = self.last_level(&urls);
        self.level_has_ended = false;
        for url in urls.into_iter().take_while(is_next) {
            if level_of(url.sequence) > last {
                self.level_has_ended = true;
                self.more_in_store = true;
                break;
            }
            self.entered = Some(url.sequence);
            let waiting = WaitingUrl::new(url);
            self.window.insert(waiting.url.sequence, waiting);
        }
    }

    /// The last level that may enter the window now, of `urls` from the store.
    fn last_level(&self, urls: &[QueuedUrl]) -> u64 {
        if self.entry == WindowEntry::Direct {
            return u64::MAX;
        }
        let is_over = self.window.is_empty() && self.outstanding.is_empty();
        let next = urls.first().filter(|_| is_over);
        next.map_or(self.level(), |url| level_of(url.sequence))
    }

    /// The next URL to work on.
    pub fn lease(&mut self, now: Instant) -> Next {
        let is_crowded = self.later.len() >= MAX_BEHIND;
        if let Some(lease) = self.lease_due(now, is_crowded) {
            return Next::Lease(lease);
        }
        while !self.must_wait()
            && let Some((place, waiting)) = self.window.pop_first()
        {
            self.leased = self.leased.max(place);
            self.go_out(place);
            if self.directories.is_failing(&waiting.url.key) && self.aside.len() < MAX_BEHIND {
                self.set_aside(place);
                self.aside.push_back(waiting.without_answer());
                continue;
            }
            let from = Line::Window;
            return Next::Lease(Lease { waiting, from });
        }
        // The next level waits for the leases that are out alone: nothing is tried again before it.
        let has_first_tries = !self.window.is_empty() || self.more_in_store;
        if self.is_starving() || !self.level_by_level && has_first_tries {
            return Next::Nothing;
        }
        if let Some(waiting) = self.aside.pop_front() {
            let from = Line::Aside;
            self.take_up(waiting.url.sequence);
            return Next::Lease(Lease { waiting, from });
        }
        self.lease_another_try(now)
    }

    /// The next URL to try again, where no first try may begin.
    pub fn lease_another_try(&mut self, now: Instant) -> Next {
        match (self.lease_due(now, true), self.next_try()) {
            (Some(lease), _) => Next::Lease(lease),
            (None, Some(due)) => Next::WaitUntil(due),
            (None, None) => Next::Nothing,
        }
    }

    /// The next URL that is to be tried again by now; one that comes after first tries only `with_later`.
    fn lease_due(&mut self, now: Instant, with_later: bool) -> Option<Lease> {
        let mut due = Self::due(&mut self.soon, now, Line::Soon);
        if due.is_none() && with_later {
            due = Self::due(&mut self.later, now, Line::Later);
        }
        if let Some(lease) = &due {
            self.take_up(lease.sequence());
        }
        due
    }

    fn due(
        tries: &mut BTreeMap<(Instant, u64), WaitingUrl>,
        now: Instant,
        from: fn(Instant) -> Line,
    ) -> Option<Lease> {
        let entry = tries.first_entry().filter(|entry| entry.key().0 <= now)?;
        let from = from(entry.key().0);
        let waiting = entry.remove();
        Some(Lease { waiting, from })
    }

    /// Returns whether something of a lower level has to be finished before the window goes on.
    fn must_wait(&self) -> bool {
        let lowest = self.outstanding.first_key_value();
        let first = self.window.first_key_value();
        lowest
            .zip(first)
            .is_some_and(|((lowest, _), (&first, _))| *lowest < level_of(first))
    }

    /// The URL is decided, or stays in the queue of the store until [`Frontier::rewind`].
    pub fn finish(&mut self, lease: Lease) {
        let Lease { waiting, from: _ } = lease;
        self.close_place(waiting.url.sequence);
    }

    /// Begins again with the first URL that waits in the store. Nothing may wait here, and no lease be out.
    pub fn rewind(&mut self) {
        self.entered = None;
        self.more_in_store = true;
        self.level_has_ended = false;
        self.passed_by = None;
    }

    /// Another try after all first tries, not before `due`.
    pub fn retry(&mut self, lease: Lease, due: Instant) {
        self.set_aside(lease.sequence());
        let mut waiting = lease.waiting.without_answer();
        waiting.tries += 1;
        self.later.insert((due, waiting.url.sequence), waiting);
    }

    /// Another try before any first try, not before `due`.
    pub fn retry_soon(&mut self, lease: Lease, due: Instant) {
        self.set_aside(lease.sequence());
        let mut waiting = lease.waiting;
        waiting.tries += 1;
        self.soon.insert((due, waiting.url.sequence), waiting);
    }

    /// A URL that was decided is to be asked for once more, before any first try.
    pub fn offer_again(&mut self, url: QueuedUrl, due: Instant) {
        let waiting = WaitingUrl {
            tries: 1,
            ..WaitingUrl::new(url)
        };
        let place = waiting.url.sequence;
        if self.level_by_level {
            self.go_out(place);
        }
        self.soon.insert((due, place), waiting);
    }

    /// The same, in another form of writing.
    pub fn retry_as(&mut self, mut lease: Lease, written: Arc<str>, due: Instant) {
        lease.waiting.written = Some(written);
        self.retry_soon(lease, due);
    }

    /// The same, without cookies.
    pub fn retry_without_cookies(&mut self, mut lease: Lease, due: Instant) {
        lease.waiting.is_without_cookies = true;
        self.retry_soon(lease, due);
    }

    /// The lease was not used: the URL is first in its line again.
    pub fn give_back(&mut self, lease: Lease) {
        let Lease { waiting, from } = lease;
        let sequence = waiting.url.sequence;
        match from {
            Line::Window => {
                self.close_place(sequence);
                self.window.insert(sequence, waiting);
                return;
            }
            Line::Soon(due) => {
                self.soon.insert((due, sequence), waiting);
            }
            Line::Later(due) => {
                self.later.insert((due, sequence), waiting);
            }
            Line::Aside => self.aside.push_front(waiting),
        }
        self.set_aside(sequence);
    }

    /// A first try of `url` failed. Returns whether that is the fault of its directory: it fails, and other URLs wait.
    pub fn failed(&mut self, url: &UrlKey) -> bool {
        let others_wait = !self.window.is_empty() || self.more_in_store;
        self.directories.failed(url) && others_wait && self.aside.len() < MAX_BEHIND
    }

    /// `url` was answered well.
    pub fn answered(&mut self, url: &UrlKey) {
        self.directories.answered(url);
    }

    /// Gives up the directories that fail, since the host is well; returns how many there are.
    pub fn give_up_failing(&mut self) -> usize {
        self.directories.give_up_failing()
    }

    /// Gives up the first-level directories of these URLs, as far as they are in one; returns their names.
    pub fn give_up_of(&mut self, urls: &[UrlKey]) -> Vec<String> {
        self.directories.give_up_of(urls)
    }

    /// Gives up whatever waits.
    pub fn give_up_all(&mut self) {
        self.directories.give_up_all();
    }

    /// Returns whether the directory of `url` was given up.
    pub fn is_given_up(&self, url: &UrlKey) -> bool {
        self.directories.is_given_up(url)
    }

    /// The same of a sitemap or feed; those in no directory are read on.
    pub fn is_document_given_up(&self, url: &UrlKey) -> bool {
        self.directories.is_document_given_up(url)
    }

    /// URLs that wait for another try.
    pub fn tries_waiting(&self) -> usize {
        self.soon.len() + self.later.len()
    }

    /// When the next of them is due.
    pub fn next_try(&self) -> Option<Instant> {
        let first = |tries: &BTreeMap<(Instant, u64), WaitingUrl>| {
            tries.first_key_value().map(|(&(due, _), _)| due)
        };
        first(&self.soon)
            .into_iter()
            .chain(first(&self.later))
            .min()
    }

    /// Returns whether nothing waits here or in the store. Leases may still be out.
    pub fn is_empty(&self) -> bool {
        self.window.is_empty()
            && self.tries_waiting() == 0
            && self.aside.is_empty()
            && !self.more_in_store
    }

    /// The URL at this place waits for another try, or aside.
    fn set_aside(&mut self, place: u64) {
        if !self.level_by_level {
            self.close_place(place);
        }
    }

    /// A URL that was put back is leased again.
    fn take_up(&mut self, place: u64) {
        if !self.level_by_level {
            self.go_out(place);
        }
    }

    fn go_out(&mut self, place: u64) {
        *self.outstanding.entry(level_of(place)).or_default() += 1;
    }

    fn close_place(&mut self, place: u64) {
        let level = level_of(place);
        if let Some(count) = self.outstanding.get_mut(&level) {
            *count -= 1;
            if *count == 0 {
                self.outstanding.remove(&level);
            }
        }
    }
}

/// A question to the store's queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueQuery {
    /// After this place.
    pub after: Option<u64>,
    /// At most this many.
    pub limit: usize,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn url(sequence: u64, depth: u32) -> QueuedUrl {
        let key = UrlKey::from_normalised(&format!("https://h.example/{sequence}")).unwrap();
        QueuedUrl {
            sequence,
            key,
            depth,
            hops: 0,
            distance: 0,
            earlier: None,
        }
    }

    fn drained(frontier: &mut Frontier) -> Vec<u64> {
        let now = Instant::now();
        let mut order = Vec::new();
        while let Next::Lease(lease) = frontier.lease(now) {
            order.push(lease.sequence());
            frontier.finish(lease);
        }
        order
    }

    /// Asks the store, which answers with `urls`.
    #[track_caller]
    fn ask_store(frontier: &mut Frontier, urls: Vec<QueuedUrl>) {
        let wanted = frontier.wants().unwrap();
        frontier.asked();
        frontier.refill(&wanted, urls);
    }

    /// The lease of a URL that waits.
    #[track_caller]
    fn leased(frontier: &mut Frontier, now: Instant) -> Lease {
        match frontier.lease(now) {
            Next::Lease(lease) => lease,
            other => panic!("no URL waits: {other:?}"),
        }
    }

    fn fresh(level_by_level: bool) -> Frontier {
        let mut frontier = Frontier::new(level_by_level);
        ask_store(&mut frontier, Vec::new());
        frontier
    }

    #[tokio::test(start_paused = true)]
    async fn urls_beyond_the_window_come_back_once() {
        let mut frontier = fresh(false);
        let total = WINDOW_URLS as u64 * 3;
        (1..=total).for_each(|sequence| frontier.offer(url(sequence, 0)));
        let mut order = Vec::new();
        while !frontier.is_empty() {
            order.extend(drained(&mut frontier));
            if let Some(wanted) = frontier.wants() {
                frontier.asked();
                let behind = wanted.after.unwrap_or_default();
                let urls = (behind + 1..=total)
                    .take(wanted.limit)
                    .map(|sequence| url(sequence, 0))
                    .collect();
                frontier.refill(&wanted, urls);
            }
        }
        assert_eq!(order, (1..=total).collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn a_discovery_during_the_question_is_not_forgotten() {
        let mut frontier = Frontier::new(false);
        let wanted = frontier.wants().unwrap();
        frontier.asked();
        frontier.offer(url(1, 0));
        frontier.refill(&wanted, Vec::new());
        assert!(!frontier.is_empty());
        ask_store(&mut frontier, vec![url(1, 0)]);
        assert_eq!(drained(&mut frontier), [1]);
        assert!(frontier.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn discoveries_are_merged_with_answers_of_the_store() {
        let mut frontier = fresh(false);
        frontier.offer(url(10, 0));
        // Beyond the window, so that the store is asked.
        frontier.more_in_store = true;
        let wanted = frontier.wants().unwrap();
        frontier.asked();
        frontier.offer(url(5, 0));
        frontier.offer(url(25, 0));
        frontier.refill(&wanted, vec![url(20, 0), url(30, 0)]);
        assert_eq!(drained(&mut frontier), [5, 10, 20]);
        let wanted = frontier.wants().unwrap();
        assert_eq!(wanted.after, Some(20));
        frontier.asked();
        frontier.refill(&wanted, vec![url(25, 0), url(30, 0)]);
        assert_eq!(drained(&mut frontier), [25, 30]);
        assert!(frontier.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn urls_beyond_the_window_are_read_again() {
        let mut frontier = fresh(false);
        let most = WINDOW_URLS as u64;
        (0..most).for_each(|number| frontier.offer(url(2 * number + 2, 0)));
        frontier.offer(url(3, 0));
        assert_eq!(frontier.wants(), None);
        assert_eq!(frontier.entered, Some(2 * most - 2));
        let mut order = drained(&mut frontier);
        ask_store(&mut frontier, vec![url(2 * most, 0)]);
        order.extend(drained(&mut frontier));
        assert_eq!(order.len() as u64, most + 1);
        assert!(order.is_sorted() && frontier.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn with_earlier_answers_the_store_is_asked() {
        let mut frontier = fresh(false).through_store();
        frontier.offer(url(1, 0));
        assert_eq!(drained(&mut frontier), [0_u64; 0]);
        assert!(frontier.is_starving() && !frontier.is_empty());
        let wanted = frontier.wants().unwrap();
        frontier.asked();
        let earlier = Earlier {
            was_listed: true,
            ..Earlier::default()
        };
        let known = QueuedUrl {
            earlier: Some(Box::new(earlier.clone())),
            ..url(1, 0)
        };
        frontier.refill(&wanted, vec![known]);
        let lease = leased(&mut frontier, Instant::now());
        assert_eq!(lease.earlier(), Some(&earlier));
        frontier.finish(lease);
        assert!(frontier.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn another_try_waits_and_counts() {
        let mut frontier = fresh(false);
        frontier.offer(url(1, 0));
        let now = Instant::now();
        let due = now + Duration::from_secs(5);
        let lease = leased(&mut frontier, now);
        frontier.retry(lease, due);
        assert!(matches!(frontier.lease(now), Next::WaitUntil(at) if at == due));
        let lease = leased(&mut frontier, due);
        assert_eq!(lease.earlier_tries(), 1);
        frontier.finish(lease);
        assert!(frontier.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn level_by_level_holds_back_deeper_urls() {
        for level_by_level in [false, true] {
            let mut frontier = fresh(level_by_level);
            let deeper = 1 << 40;
            frontier.offer(url(1, 1));
            frontier.offer(url(deeper, 2));
            let now = Instant::now();
            let first = leased(&mut frontier, now);
            assert!(matches!(frontier.lease(now), Next::Nothing));
            // Another try holds them back where depths have to be exact.
            let due = now + Duration::from_secs(5);
            frontier.retry(first, due);
            let next = frontier.lease(now);
            assert_eq!(matches!(&next, Next::Lease(_)), !level_by_level);
            if let Next::Lease(lease) = next {
                assert_eq!(lease.sequence(), deeper);
                frontier.finish(lease);
            }
            let first = leased(&mut frontier, due);
            frontier.finish(first);
            assert_eq!(drained(&mut frontier).len(), usize::from(level_by_level));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn urls_set_aside_come_after_the_last_level() {
        let place = |level: u64, number: u64| level << 40 | number;
        let below = |sequence: u64, directory: &str| {
            let key = format!("https://h.example/{directory}/{sequence}");
            QueuedUrl {
                key: UrlKey::from_normalised(&key).unwrap(),
                ..url(sequence, 0)
            }
        };
        for is_known in [false, true] {
            let mut frontier = fresh(false);
            (100..110).for_each(|number| {
                frontier.failed(&below(number, "hanging").key);
            });
            let urls = [
                below(1, "hanging"),
                below(2, "hanging"),
                below(3, "good"),
                below(place(1, 4), "good"),
            ];
            if is_known {
                frontier = frontier.through_store();
            }
            for url in urls.clone() {
                frontier.offer(url);
            }
            let mut out = Vec::new();
            let mut order = Vec::new();
            let now = Instant::now();
            for _ in 0..20 {
                if let Some(wanted) = frontier.wants() {
                    frontier.asked();
                    let after = wanted.after.unwrap_or_default();
                    let more = urls.iter().filter(|url| url.sequence > after);
                    frontier.refill(&wanted, more.cloned().collect());
                }
                // Two at once.
                while out.len() < 2
                    && let Next::Lease(lease) = frontier.lease(now)
                {
                    order.push(lease.sequence());
                    out.push(lease);
                }
                if !out.is_empty() {
                    frontier.finish(out.remove(0));
                }
            }
            assert_eq!(order, [3, place(1, 4), 1, 2], "{is_known}");
            assert!(frontier.is_empty());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn with_earlier_answers_levels_enter_in_turn() {
        let mut frontier = fresh(false).through_store();
        let deeper = 1 << 40;
        frontier.offer(url(1, 0));
        frontier.offer(url(deeper, 0));
        ask_store(&mut frontier, vec![url(1, 0), url(deeper, 0)]);
        let now = Instant::now();
        let first = leased(&mut frontier, now);
        assert_eq!(frontier.wants(), None);
        assert!(matches!(frontier.lease(now), Next::Nothing));
        // Found on the first.
        frontier.offer(url(2, 0));
        let wanted = frontier.wants().unwrap();
        frontier.asked();
        frontier.finish(first);
        frontier.refill(&wanted, vec![url(2, 0), url(deeper, 0)]);
        assert_eq!(drained(&mut frontier), [2]);
        ask_store(&mut frontier, vec![url(deeper, 0)]);
        assert_eq!(drained(&mut frontier), [deeper]);
        assert!(frontier.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_given_back_is_next() {
        let mut frontier = fresh(false);
        (1..=3).for_each(|sequence| frontier.offer(url(sequence, 0)));
        let lease = leased(&mut frontier, Instant::now());
        frontier.give_back(lease);
        assert_eq!(drained(&mut frontier), [1, 2, 3]);
    }
}
