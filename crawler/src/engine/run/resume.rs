//! Taking up a run: what is known of it, and what the rules of now say of that. Works on the store
//! alone, in pieces, so that it can run where blocking is allowed.

use std::ops::ControlFlow;

use crate::{
    engine::judge::Judge,
    frontier::Seen,
    page::{Reason, RunId, State},
    store::{Commit, QueuedUrl, Rejudged, Store, StoreError},
    url_key::UrlKey,
};

/// Name of the state's value with the fingerprint of the rules that the known URLs were judged by.
const RULES: &str = "run.rules";

/// Records judged again between two writes.
const CHUNK: usize = 8_192;

/// What a run knows when its loop begins.
#[derive(Debug, Default)]
pub(in crate::engine) struct Memory {
    pub(super) seen: Seen,
    pub(super) queued: u64,
    pub(super) failed: u64,
    pub(super) next_sequence: u64,
}

/// Reads what run `run` knows. When the rules are not those that it was judged by, judges it again:
/// what must not be listed any more is not, and what may be fetched after all is queued.
pub(in crate::engine) fn remember(
    store: &mut dyn Store,
    run: RunId,
    judge: &Judge,
) -> Result<Memory, StoreError> {
    let mut next_sequence = store.last_sequence()? + 1;
    let rules = format!("{:016x}", judge.fingerprint());
    if store.value(RULES)?.as_ref() != Some(&rules) {
        let mut from = None;
        loop {
            let Judged {
                rejudged,
                requeued,
                next,
            } = judge_chunk(store, run, judge, from.as_ref(), &mut next_sequence)?;
            if !rejudged.is_empty() {
                store.rejudge(&rejudged)?;
            }
            if !requeued.is_empty() {
                store.commit(&Commit {
                    run,
                    requeued,
                    ..Commit::default()
                })?;
            }
            match next {
                Some(key) => from = Some(key),
                None => break,
            }
        }
        store.commit(&Commit {
            run,
            values: vec![(RULES.to_owned(), Some(rules))],
            ..Commit::default()
        })?;
    }
    let mut memory = Memory {
        next_sequence,
        queued: store.queue_len()?,
        ..Memory::default()
    };
    store.visit_keys(run, &mut |key, reason| {
        memory.seen.insert(key);
        memory.failed += u64::from(reason.state() == State::Failed);
    })?;
    Ok(memory)
}

/// What one chunk of records came to.
#[derive(Default)]
struct Judged {
    rejudged: Vec<Rejudged>,
    requeued: Vec<QueuedUrl>,
    /// Where to go on.
    next: Option<UrlKey>,
}

fn judge_chunk(
    store: &dyn Store,
    run: RunId,
    judge: &Judge,
    from: Option<&UrlKey>,
    next_sequence: &mut u64,
) -> Result<Judged, StoreError> {
    let mut judged = Judged::default();
    let mut left = CHUNK;
    store.visit_pages(run, from, &mut |key, record| {
        if left == 0 {
            judged.next = Some(key.clone());
            return ControlFlow::Break(());
        }
        left -= 1;
        if record.reason == Reason::Queued {
            return ControlFlow::Continue(());
        }
        let reason = judge.again(key, &record);
        if reason == Reason::Queued {
            judged.requeued.push(QueuedUrl {
                sequence: *next_sequence,
                key: key.clone(),
                depth: record.depth,
                hops: 0,
            });
            *next_sequence += 1;
        } else if reason != record.reason {
            judged.rejudged.push((key.clone(), reason));
        }
        ControlFlow::Continue(())
    })?;
    Ok(judged)
}
