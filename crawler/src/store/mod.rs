//! What is known, durably. One commit is all or nothing; discovered URLs are put only if absent in
//! this run; pages come back in key order. A store holds one site. It never decides order or
//! verdicts, and no SQL type, path or transaction leaks out of it.
//!
//! Two implementations: [`sqlite::SqliteStore`] and, as the model in tests, `memory::MemoryStore`.

pub mod doubt;
#[cfg(any(test, feature = "testing"))]
pub mod memory;
pub(crate) mod names;
pub mod outbox;
pub mod sqlite;
pub mod undo;

mod chunks;
mod earlier;
mod error;

#[cfg(test)]
mod conformance;

use std::{collections::BTreeMap, ops::ControlFlow};

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

pub(crate) use self::chunks::change_in_chunks;
pub use self::doubt::Doubt;
pub use self::earlier::{Earlier, EarlierAnswer, orders};
pub(crate) use self::error::with_causes;
pub use self::error::{StoreError, StoreErrorKind};
use self::outbox::{Difference, Listing, OutboxStep, Waiting};
use crate::{
    page::{
        ContentHash, DateSource, Given, LanguageVersion, PageFacts, PageRecord, Reason, RunId,
        SitemapDate, State, Via,
    },
    url_key::UrlKey,
};

/// A URL found in this run, not known in it before.
#[derive(Debug, Clone, PartialEq)]
pub struct Discovery {
    /// Which URL.
    pub key: UrlKey,
    /// Its place in the queue, unique in the run and growing in the order of discovery.
    pub sequence: u64,
    /// Hops from the start URL.
    pub depth: u32,
    /// Redirects in a row that led here.
    pub hops: u8,
    /// How it was found.
    pub via: Via,
    /// On which page, or in which document.
    pub found_on: Option<UrlKey>,
    /// [`Reason::Queued`], or a verdict that needs no request.
    pub reason: Reason,
}

/// The end of the work on one URL.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Which URL.
    pub key: UrlKey,
    /// Its place in the queue, which it leaves.
    pub sequence: u64,
    /// What is known now.
    pub record: PageRecord,
    /// The links that were taken from it, for a later 304; `None` leaves stored ones alone.
    pub links: Option<Vec<UrlKey>>,
}

/// A batch of effects: all or nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Commit {
    /// The run these effects belong to.
    pub run: RunId,
    /// Inserted when the key is unknown or known from an earlier run only; otherwise ignored, but
    /// for a smaller depth, which is kept. An inserted URL enters the queue when its reason is
    /// [`Reason::Queued`]; with any other reason its outcome is
    /// [`Outcome::NotFetched`](crate::page::Outcome::NotFetched). Of the facts of an earlier run
    /// only [`Store::earlier_facts`] and [`Store::links`] tell from then on.
    pub discovered: Vec<Discovery>,
    /// Applied after the discoveries of the same commit. The record replaces the stored one; but of one
    /// of the same run, how the URL was found first and a smaller depth are kept.
    pub finished: Vec<Finished>,
    /// URLs of this run that are fetched after all, or again (settings or robots.txt changed before a run
    /// was resumed): back to [`Reason::Queued`], with the sequence given. Of one whose answer is put off
    /// ([`Store::rejudge`]) what was known before it counts again.
    /// Applied after the finished ones. A URL that this run does not know, or that waits already, is left out.
    pub requeued: Vec<QueuedUrl>,
    /// Orphans that a page turned out to lead to: no orphans any more. Applied after the discoveries.
    pub linked: Vec<UrlKey>,
    /// What sitemaps of the site say of the last change of URLs that this run knows. Applied after the
    /// finished ones; the first of a run counts.
    pub dated: Vec<(UrlKey, SitemapDate)>,
    /// Copies of sitemaps to keep in the place of older ones (or, with `None`, to drop).
    pub kept: Vec<(UrlKey, Option<KeptDocument>)>,
    /// What is doubted of URLs (or, with `None`, no more).
    pub doubts: Vec<(UrlKey, Option<Doubt>)>,
    /// Named values to set (or, with `None`, to remove).
    pub values: Vec<(String, Option<String>)>,
    /// What changes of the published set that is remembered, and of what engines are to be told.
    pub outbox: Vec<OutboxStep>,
    /// What is not needed any more. Applied last.
    pub forgotten: Option<Forgotten>,
}

/// What a store forgets, so that it grows with the site as it is and not with all that the site ever was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forgotten {
    /// A URL that no run from this one on has found, with all that is known of it and its links; but not one that is listed, or was
    /// when a run found it again that came to no decision, and none in the queue.
    pub before: RunId,
    /// What the ledger has of a URL that is not known, and was seen last before this time.
    pub seen_before: Timestamp,
}

/// A URL waiting in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedUrl {
    /// Its place in the queue.
    pub sequence: u64,
    /// Which URL.
    pub key: UrlKey,
    /// Hops from the start URL.
    pub depth: u32,
    /// Redirects in a row that led here.
    pub hops: u8,
    /// What was known of it before; `None`: nothing that matters. Only [`Store::queued`] tells; where a
    /// URL is put into the queue it is not looked at.
    pub earlier: Option<Box<Earlier>>,
}

/// A sitemap as it was read, kept for the runs whose index says that it did not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDocument {
    /// What the index said of its last change, word for word.
    pub lastmod: String,
    /// When it was asked for.
    pub read_at: Timestamp,
    /// SHA-256 of its bytes, hex.
    pub sha256: String,
    /// Its bytes, packed ([`crate::seeds::pack`]).
    pub body: Vec<u8>,
}

/// What is known of a [`KeptDocument`] without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptNote {
    /// [`KeptDocument::lastmod`].
    pub lastmod: String,
    /// [`KeptDocument::read_at`].
    pub read_at: Timestamp,
    /// Bytes of [`KeptDocument::body`].
    pub bytes: u64,
}

impl KeptDocument {
    /// What is known of the document, without its body.
    pub fn note(&self) -> KeptNote {
        KeptNote {
            lastmod: self.lastmod.clone(),
            read_at: self.read_at,
            bytes: self.body.len() as u64,
        }
    }
}

/// What the ledger remembers of a page's `lastmod`: once published, it moves only with the content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerEntry {
    /// Hash of the content that `lastmod` belongs to, with its algorithm's version.
    pub content_hash: u128,
    /// Version of the hash algorithm.
    pub hash_version: u32,
    /// The published value, W3C date-time.
    pub lastmod: Option<String>,
    /// The `Last-Modified` header last seen with this content, seconds since 1970.
    pub last_modified_seconds: Option<i64>,
    /// Where [`LedgerEntry::lastmod`] came from.
    pub source: Option<DateSource>,
    /// When this content was fetched first, seconds since 1970.
    pub since_seconds: Option<i64>,
    /// When it was fetched last, seconds since 1970.
    pub seen_seconds: Option<i64>,
    /// What was stated with it when it was fetched last.
    pub stated: LedgerDates,
}

impl LedgerEntry {
    /// The content of the page of `record` when it is not what is `known` of it.
    pub(crate) fn other_content(known: Option<&Self>, record: &PageRecord) -> Option<ContentHash> {
        let content = record.facts()?.content_hash?;
        let is_known = known.is_some_and(|known| {
            known.hash_version == ContentHash::VERSION && ContentHash(known.content_hash) == content
        });
        (!is_known).then_some(content)
    }
}

/// The dates that were stated when a page was fetched last: one that moves while the content does not is not
/// believed, and one that did not move tells nothing of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerDates {
    /// By structured data.
    pub json_ld: Option<String>,
    /// By a meta or microdata.
    pub meta: Option<String>,
    /// By a sitemap of the site.
    pub sitemap: Option<String>,
    /// By a `time` element.
    pub time_element: Option<String>,
}

/// One URL of an input of the user's.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenUrl {
    /// Which URL.
    pub key: UrlKey,
    /// What is said of it.
    pub given: Given,
    /// Whether it is listed, and why not: the same for each time that the URL is given.
    pub reason: Reason,
}

/// What an input gives next.
#[derive(Debug, Clone, PartialEq)]
pub enum Giving {
    /// A URL, in any order, any number of times.
    Url(GivenUrl),
    /// Nothing more.
    End,
    /// Nothing more, and nothing of what was given shall stay.
    GiveUp,
}

/// How much [`Store::give`] took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gave {
    /// Different URLs that the run did not know.
    pub urls: u64,
    /// How often a URL was given that had been given before, or that the run knew.
    pub repeated: u64,
}

/// Gives one URL after the other.
pub type NextGiven<'a> = dyn FnMut() -> Giving + 'a;

/// What a run knows of a page that another one names as its version in another language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Version {
    /// Nothing.
    Unknown,
    /// It is not listed.
    Unlisted,
    /// It is listed, and names the same versions as the other page, itself and the other one included or not.
    Alike,
    /// It is listed, and names these; none, where nobody looked for them.
    Other(Vec<LanguageVersion>),
}

/// A verdict that changed after the crawl (chains, loops, changed settings).
pub type Rejudged = (UrlKey, Reason);

/// Receives records with the ledger's memory of them one by one; says whether to go on.
pub type VisitPage<'a> =
    dyn FnMut(&UrlKey, PageRecord, Option<LedgerEntry>) -> ControlFlow<()> + 'a;

/// The memory of one site.
pub trait Store: Send {
    /// Applies `commit`, durably when this returns: it survives the end of the process, however
    /// that comes. What a loss of power may take is up to the implementation, but never a part of
    /// a commit.
    ///
    /// # Errors
    /// Nothing of the commit was applied.
    fn commit(&mut self, commit: &Commit) -> Result<(), StoreError>;

    /// Takes what inputs of the user's say of URLs, as finished work of run `run`, all or nothing. Of a
    /// URL that is given several times what has the smallest [`Given::rank`] counts, whatever the order.
    /// A URL that this run knows already stays as it is. Made for millions of URLs in no order, in
    /// bounded memory.
    ///
    /// # Errors
    /// Nothing was taken.
    fn give(&mut self, run: RunId, next: &mut NextGiven<'_>) -> Result<Gave, StoreError>;

    /// Starts run `run`: empties the queue and forgets the orphans. Records of earlier runs stay until they are found
    /// again; but what was decided since a set was published last ([`outbox::OutboxStep::Take`]) is as if the work on it
    /// had not ended: the answers and links from before count again.
    ///
    /// # Errors
    /// The old run stands.
    fn begin_run(&mut self, run: RunId) -> Result<(), StoreError>;

    /// The first `limit` queued URLs behind `after` (a sequence number; `None` = from the start), each
    /// with what was known of it before.
    ///
    /// # Errors
    /// The store cannot be read.
    fn queued(&self, after: Option<u64>, limit: usize) -> Result<Vec<QueuedUrl>, StoreError>;

    /// Number of URLs in the queue.
    ///
    /// # Errors
    /// The store cannot be read.
    fn queue_len(&self) -> Result<u64, StoreError>;

    /// Bytes that the store takes, without the room of what was forgotten.
    ///
    /// # Errors
    /// The store cannot be read.
    fn bytes(&self) -> Result<u64, StoreError>;

    /// The highest sequence number ever given in this run, to whatever kind of discovery; 0 when none was.
    ///
    /// # Errors
    /// The store cannot be read.
    fn last_sequence(&self) -> Result<u64, StoreError>;

    /// The record of `key`, of whatever run.
    ///
    /// # Errors
    /// The store cannot be read.
    fn page(&self, key: &UrlKey) -> Result<Option<PageRecord>, StoreError>;

    /// What run `run` knows of each of `targets`, which the page `of` names as its versions in other languages, in
    /// their order. Of pages that say the same, which is what such pages mostly do, the lists are compared and not read.
    ///
    /// # Errors
    /// The store cannot be read.
    fn versions(
        &self,
        run: RunId,
        of: &UrlKey,
        targets: &[&UrlKey],
    ) -> Result<Vec<Version>, StoreError>;

    /// The last answer of `key` that counts no more, because the URL was found again in a later run
    /// (or requeued) and the work on it has not ended: what a conditional request asks with, and what
    /// a 304 confirms. Its links are empty ([`Store::links`] has them).
    ///
    /// # Errors
    /// The store cannot be read.
    fn earlier_facts(&self, key: &UrlKey) -> Result<Option<PageFacts>, StoreError>;

    /// The last answer of `key` that a run would know of that begins now: that from before what
    /// [`Store::begin_run`] takes back. Its links are empty.
    ///
    /// # Errors
    /// The store cannot be read.
    fn facts_before(&self, key: &UrlKey) -> Result<Option<PageFacts>, StoreError>;

    /// URLs that are known from runs before `run` only and that were listed when they were known last,
    /// with their depth: nothing of `run` has led to them so far. What a run decided counts once its set was
    /// published ([`outbox::OutboxStep::Take`]); of one that was refused, what was before it does. At most `limit`, behind `after` in an
    /// order of the store's own, in which a longer walk meets each once.
    ///
    /// # Errors
    /// The store cannot be read.
    fn left_behind(
        &self,
        run: RunId,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, u32)>, StoreError>;

    /// URLs that were listed and that run `run` found to redirect since its set was published last, or earlier where that was
    /// put off ([`Store::rejudge`]), each with what was known of it before; in portions like those of
    /// [`Store::left_behind`]. Their places in the queue say nothing: they do not wait.
    ///
    /// # Errors
    /// The store cannot be read.
    fn moved(
        &self,
        run: RunId,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<QueuedUrl>, StoreError>;

    /// The record of `key` as its own answer has it, when what that comes to is put off ([`Store::rejudge`]).
    ///
    /// # Errors
    /// The store cannot be read.
    fn put_off(&self, key: &UrlKey) -> Result<Option<PageRecord>, StoreError>;

    /// What is doubted of `key`, of whatever run.
    ///
    /// # Errors
    /// The store cannot be read.
    fn doubt(&self, key: &UrlKey) -> Result<Option<Doubt>, StoreError>;

    /// The first `limit` doubts behind `after`, each with its URL, in the order of their texts.
    ///
    /// # Errors
    /// The store cannot be read.
    fn doubts(
        &self,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, Doubt)>, StoreError>;

    /// URLs of run `run` whose records count by an earlier answer that a 304 confirmed
    /// ([`Basis::Confirmed`](crate::page::Basis::Confirmed)), with their depth; in portions like
    /// those of [`Store::left_behind`].
    ///
    /// # Errors
    /// The store cannot be read.
    fn confirmed(
        &self,
        run: RunId,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, u32)>, StoreError>;

    /// Visits the records of run `run` in key order, from `from` (included) on. The visitor may
    /// read the store.
    ///
    /// # Errors
    /// The store cannot be read.
    fn visit_pages(
        &self,
        run: RunId,
        from: Option<&UrlKey>,
        visit: &mut dyn FnMut(&UrlKey, PageRecord) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Visits the same records in the same order, each with the ledger's memory of it: cheaper than
    /// [`Store::ledger`] for each. Where a page does not say what it said by the ledger, but what it said by a set that
    /// was taken back ([`undo::UndoStep::StepBack`]), that is remembered of it.
    ///
    /// # Errors
    /// The store cannot be read.
    fn visit_pages_with_ledger(
        &self,
        run: RunId,
        from: Option<&UrlKey>,
        visit: &mut VisitPage<'_>,
    ) -> Result<(), StoreError>;

    /// Visits the keys of run `run` with their reasons, in no special order; cheaper than
    /// [`Store::visit_pages`].
    ///
    /// # Errors
    /// The store cannot be read.
    fn visit_keys(
        &self,
        run: RunId,
        visit: &mut dyn FnMut(&UrlKey, Reason),
    ) -> Result<(), StoreError>;

    /// Visits the orphans of the run, in no special order: the URLs that a sitemap, a feed or a list led
    /// to first ([`Via::is_seed`]) and no page since ([`Commit::linked`]).
    ///
    /// # Errors
    /// The store cannot be read.
    fn visit_orphans(&self, visit: &mut dyn FnMut(&UrlKey)) -> Result<(), StoreError>;

    /// Number of orphans of the run.
    ///
    /// # Errors
    /// The store cannot be read.
    fn orphan_count(&self) -> Result<u64, StoreError>;

    /// The links kept of `key`.
    ///
    /// # Errors
    /// The store cannot be read.
    fn links(&self, key: &UrlKey) -> Result<Option<Vec<UrlKey>>, StoreError>;

    /// Known URLs of run `run` by reason.
    ///
    /// # Errors
    /// The store cannot be read.
    fn counts(&self, run: RunId) -> Result<BTreeMap<Reason, u64>, StoreError>;

    /// Stores changed verdicts. Facts and the queue stay as they are; unknown URLs are left out. A URL that waits
    /// counts by its earlier answer while its verdict is [`Reason::KeptNotReached`], and so does one that was listed and that an
    /// answer of a run decided whose set is not published: what it comes to is put off. That answer counts again with another
    /// verdict; when another run begins first, it is as if it had not been.
    ///
    /// # Errors
    /// None of them was stored.
    fn rejudge(&mut self, verdicts: &[Rejudged]) -> Result<(), StoreError>;

    /// The ledger's memory of `key`.
    ///
    /// # Errors
    /// The store cannot be read.
    fn ledger(&self, key: &UrlKey) -> Result<Option<LedgerEntry>, StoreError>;

    /// Stores ledger entries.
    ///
    /// # Errors
    /// None of them was stored.
    fn set_ledger(&mut self, entries: &[(UrlKey, LedgerEntry)]) -> Result<(), StoreError>;

    /// Visits the whole ledger in key order.
    ///
    /// # Errors
    /// The store cannot be read.
    fn visit_ledger(&self, visit: &mut dyn FnMut(&UrlKey, LedgerEntry)) -> Result<(), StoreError>;

    /// The copy that is kept of the sitemap `key`, of whatever run.
    ///
    /// # Errors
    /// The store cannot be read.
    fn kept(&self, key: &UrlKey) -> Result<Option<KeptDocument>, StoreError>;

    /// Visits what is known of all copies that are kept, in no special order; their bodies are not read.
    ///
    /// # Errors
    /// The store cannot be read.
    fn visit_kept(&self, visit: &mut dyn FnMut(&UrlKey, KeptNote)) -> Result<(), StoreError>;

    /// The first `limit` URLs of the published set behind `after`, in key order, with what is remembered of
    /// them.
    ///
    /// # Errors
    /// The store cannot be read.
    fn published(
        &self,
        after: Option<&UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, Listing)>, StoreError>;

    /// The first `limit` differences behind `after` that are staged and not taken, in key order.
    ///
    /// # Errors
    /// The store cannot be read.
    fn staged(&self, after: Option<&UrlKey>, limit: usize) -> Result<Vec<Difference>, StoreError>;

    /// The first `limit` URLs behind the place `after` that engines are to be told of and may be at `now`:
    /// those that were refused least often first, then in the order of their texts. A URL that was told less than
    /// [`outbox::RESEND_GAP`] ago is left out.
    ///
    /// # Errors
    /// The store cannot be read.
    fn outbox(
        &self,
        after: Option<&(u32, UrlKey)>,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Waiting>, StoreError>;

    /// Number of URLs that engines are to be told of, now or later.
    ///
    /// # Errors
    /// The store cannot be read.
    fn outbox_len(&self) -> Result<u64, StoreError>;

    /// A named value (see the modules that own them for the names).
    ///
    /// # Errors
    /// The store cannot be read.
    fn value(&self, name: &str) -> Result<Option<String>, StoreError>;
}

/// Adds counts by reason up to counts by state.
pub fn by_state(counts: &BTreeMap<Reason, u64>) -> BTreeMap<State, u64> {
    let mut states = BTreeMap::new();
    for (reason, count) in counts {
        *states.entry(reason.state()).or_default() += count;
    }
    states
}

/// A hash as manifests and kept documents have it: 64 hexadecimal digits.
pub(crate) fn hex(hash: Sha256) -> String {
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}
