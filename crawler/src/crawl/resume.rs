//! The memory of a crawl when a session begins: what the store knows of it, and which of its visits the current rules, or an
//! outage, ask for again. Works on the store alone, in pieces, so that it can run where blocking is allowed.

use std::{ops::ControlFlow, sync::Arc};

use super::{
    known::KnownBefore,
    outage,
    probe::Probed,
    rendering::RenderMemory,
    repetition::{self, KnownRepetition},
    requeue::requeue,
    unlinked,
    validators::ValidatorTrust,
};
use crate::{
    config::RepeatsConfig,
    crawl_state::{self, OpenCrawl},
    page::{Basis, CrawlId, Page, PageRecord, Reason, State},
    repeats::Repeats,
    seeds::{self, Document, OwnFiles},
    store::{
        Effect, Shown, Store, StoreError,
        names::{CRAWL_NOT_FOUND, CRAWL_RENDERED},
    },
    url_key::{Identity, UrlKey},
    verdict::Judge,
};

/// Name of the state's value with the fingerprint of the rules that the visits were judged by.
const RULES: &str = crate::store::names::CRAWL_RULES;

/// The data of a crawl when its loop begins.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) known: KnownBefore,
    pub(super) documents: Vec<Document>,
    pub(super) own: OwnFiles,
    pub(super) trust: ValidatorTrust,
    /// The texts of the pages of the crawl.
    pub(super) repetition: KnownRepetition,
    /// What is known of the pages that are rendered.
    pub(super) rendered: RenderMemory,
    /// Sessions of the crawl that ended because the site was down.
    pub(super) outages: u32,
    /// Pages that earlier crawls asked for; `None`: page rows do not count, because there are none or with `--fresh`.
    pub(super) earlier: Option<u64>,
    /// Bytes of the state.
    pub(super) state_bytes: u64,
}

/// Pages that the sessions of the crawl before the crawl `number` asked for.
fn pages_of_last_crawl(store: &Store, number: CrawlId) -> Result<u64, StoreError> {
    let mut sessions = store.sessions()?;
    sessions.retain(|session| session.crawl.is_some_and(|crawl| crawl != number));
    let last = sessions.last().and_then(|session| session.crawl);
    let of_last = sessions.iter().filter(|session| session.crawl == last);
    Ok(of_last.filter_map(|session| session.fetched).sum())
}

/// The highest place in the queue that a visit had; 0 when there is none.
fn last_sequence(store: &Store) -> Result<u64, StoreError> {
    let mut last = 0;
    store.each(None, Shown::Outline, &mut |rows| {
        last = last.max(rows.note()?.map_or(0, |note| note.sequence));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(last)
}

/// Returns whether a page is listed that was not visited in this crawl.
fn has_listed_page(store: &Store) -> Result<bool, StoreError> {
    Ok(!unlinked::unvisited(store, None, 1)?.is_empty())
}

/// Reads what the crawl of the site that begins at `start` knows. Visits that the current rules do not decide are queued again, when the rules are not those of
/// the last session.
pub(super) fn remember(
    store: &mut Store,
    start: &UrlKey,
    open: OpenCrawl,
    judge: &Judge,
    config: &RepeatsConfig,
    identity: &Arc<Identity>,
) -> Result<Memory, StoreError> {
    let mut next_sequence = 1;
    let mut outages = 0;
    if open.resumed {
        next_sequence += last_sequence(store)?;
        outages = outage::ask_again(store, open.number, &mut next_sequence)?;
        store.commit(&[Effect::EndWaits])?;
    }
    let rules = format!("{:016x}", judge.fingerprint());
    if store.value(RULES)?.as_ref() != Some(&rules) {
        if open.resumed {
            requeue(store, &mut next_sequence, |key, page, visit| {
                judge_again(judge, key, page, &visit.record) == Reason::Queued
            })?;
        }
        store.commit(&[Effect::value(RULES, Some(rules))])?;
    }
    let mut memory = Memory {
        known: KnownBefore {
            not_recorded: crawl_state::not_recorded(store)?,
            ..KnownBefore::default()
        },
        documents: seeds::take_up(store, open.number)?,
        own: OwnFiles::load(store)?,
        trust: ValidatorTrust::load(store)?,
        rendered: store.read_json(CRAWL_RENDERED)?.unwrap_or_default(),
        outages,
        state_bytes: store.bytes()?,
        // An imported set has rows before the first crawl.
        earlier: (!open.is_fresh && (open.number > 1 || has_listed_page(store)?))
            .then_some(pages_of_last_crawl(store, open.number)?),
        repetition: KnownRepetition {
            repeats: Repeats::new(config, identity),
            probed: (store.read_json::<Probed>(CRAWL_NOT_FOUND)?)
                .filter(|probed| probed.is_of(open.number)),
            seconds: repetition::changed_pages(store, start, open)?,
        },
    };
    let known = &mut memory.known;
    let needs_published =
        memory.earlier.is_some() && (config.close_patterns || judge.avoids_actions());
    store.each(None, Shown::Outline, &mut |rows| {
        let key = &rows.key;
        if needs_published && rows.is_listed()? {
            known.published.insert(key);
        }
        let Some(note) = rows.note()? else {
            return Ok(ControlFlow::Continue(()));
        };
        known.seen.insert(key);
        known.failed += u64::from(note.reason.state() == State::Failed);
        if note.is_orphan {
            known.orphans.insert(key);
        }
        if note.is_declared {
            known.named.insert(key);
        }
        if let Some(place) = note.place() {
            known.queued += 1;
            known.rounds.add_waiting(place);
            let distance = note.distance;
            let found_on = if distance > 0 { rows.found_on()? } else { None };
            known.ways.add(key, distance, found_on.as_ref());
        }
        Ok(ControlFlow::Continue(()))
    })?;
    repetition::remember(store, &mut memory.repetition.repeats, start, open)?;
    Ok(memory)
}

/// The verdict on a visit by the current rules, for a visit that a 304 decided by the facts of its page row.
fn judge_again(judge: &Judge, key: &UrlKey, page: Option<&Page>, visit: &PageRecord) -> Reason {
    match (&visit.basis, page) {
        (Basis::Confirmed, Some(page)) => {
            let confirmed = PageRecord {
                depth: visit.depth,
                basis: Basis::Confirmed,
                ..page.record.clone()
            };
            judge.again(key, &confirmed)
        }
        (Basis::Own | Basis::Confirmed | Basis::Kept(_) | Basis::NotReached, _) => {
            judge.again(key, visit)
        }
    }
}
