//! Taking up a run: what is known of it, and what the rules of now say of that. Works on the store
//! alone, in pieces, so that it can run where blocking is allowed.

use super::recrawl::open_start_test;
use crate::{
    engine::{honesty::Honesty, judge::Judge},
    fetch::Validators,
    frontier::Seen,
    page::{PageRecord, Reason, RunId, State},
    runs::OpenRun,
    seeds::{self, Document, KeptDocuments, OwnFiles},
    store::{Commit, EarlierAnswer, QueuedUrl, Rejudged, Store, StoreError, change_in_chunks},
    url_key::UrlKey,
};

/// Name of the state's value with the fingerprint of the rules that the known URLs were judged by.
const RULES: &str = "run.rules";

/// What a run knows when its loop begins.
#[derive(Debug, Default)]
pub(in crate::engine) struct Memory {
    pub(super) seen: Seen,
    pub(super) queued: u64,
    pub(super) failed: u64,
    pub(super) next_sequence: u64,
    pub(super) documents: Vec<Document>,
    pub(super) orphans: Seen,
    pub(super) own: OwnFiles,
    pub(super) kept: KeptDocuments,
    pub(super) honesty: Honesty,
    /// What those pages answered in earlier runs that were asked before the store was open.
    pub(super) answers: Vec<(UrlKey, EarlierAnswer)>,
    /// The test of the start page, when it was begun and not ended.
    pub(super) start_test: Option<(UrlKey, Validators)>,
}

/// Reads what run `run` knows. When the rules are not those that it was judged by, judges it again:
/// what must not be listed any more is not, and what may be fetched after all is queued. `asked` are
/// the pages that were asked already.
pub(in crate::engine) fn remember(
    store: &mut dyn Store,
    open: OpenRun,
    judge: &Judge,
    asked: &[UrlKey],
) -> Result<Memory, StoreError> {
    let run = open.number;
    let mut next_sequence = store.last_sequence()? + 1;
    let rules = format!("{:016x}", judge.fingerprint());
    if store.value(RULES)?.as_ref() != Some(&rules) {
        judge_again(store, run, judge, &mut next_sequence)?;
        store.commit(&Commit {
            run,
            values: vec![(RULES.to_owned(), Some(rules))],
            ..Commit::default()
        })?;
    }
    let mut memory = Memory {
        next_sequence,
        queued: store.queue_len()?,
        documents: seeds::take_up(store, run)?,
        own: OwnFiles::load(store)?,
        kept: KeptDocuments::load(store)?,
        honesty: Honesty::load(store, run)?,
        ..Memory::default()
    };
    if open.resumed {
        memory.start_test = open_start_test(store)?;
    }
    for url in asked {
        if let Some(record) = store.page(url)?.filter(|record| record.run < run) {
            let answer = match record.facts() {
                Some(facts) => Some(EarlierAnswer::of(facts)),
                None => store.earlier_facts(url)?.as_ref().map(EarlierAnswer::of),
            };
            memory
                .answers
                .extend(answer.map(|answer| (url.clone(), answer)));
        }
    }
    store.visit_keys(run, &mut |key, reason| {
        memory.seen.insert(key);
        memory.failed += u64::from(reason.state() == State::Failed);
    })?;
    store.visit_orphans(&mut |key| {
        memory.orphans.insert(key);
    })?;
    Ok(memory)
}

/// What some records came to.
#[derive(Default)]
struct Judged {
    rejudged: Vec<Rejudged>,
    requeued: Vec<QueuedUrl>,
}

fn judge_again(
    store: &mut dyn Store,
    run: RunId,
    judge: &Judge,
    next_sequence: &mut u64,
) -> Result<(), StoreError> {
    let look = |_: &dyn Store, key: &UrlKey, record: PageRecord, _, judged: &mut Judged| {
        if record.reason == Reason::Queued {
            return Ok(());
        }
        let reason = judge.again(key, &record);
        if reason == Reason::Queued {
            judged.requeued.push(QueuedUrl {
                sequence: *next_sequence,
                key: key.clone(),
                depth: record.depth,
                hops: 0,
                earlier: None,
            });
            *next_sequence += 1;
        } else if reason != record.reason {
            judged.rejudged.push((key.clone(), reason));
        }
        Ok(())
    };
    change_in_chunks(store, run, look, |store, judged| {
        if !judged.rejudged.is_empty() {
            store.rejudge(&judged.rejudged)?;
        }
        if judged.requeued.is_empty() {
            return Ok(());
        }
        store.commit(&Commit {
            run,
            requeued: judged.requeued,
            ..Commit::default()
        })
    })
}
