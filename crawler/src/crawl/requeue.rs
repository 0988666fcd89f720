//! Decided visits that are queued again when a session begins. Works on the store alone, a portion at a time.

use std::ops::ControlFlow;

use crate::{
    page::{Page, Reason, Visit},
    store::{Effect, QueuedUrl, Shown, Store, StoreError},
    url_key::UrlKey,
};

/// Visits that are queued again with one write at most.
const PORTION: usize = 2_048;

/// Queues decided visits that are `wanted` again, after `next_sequence`; returns how many.
pub(super) fn requeue(
    store: &mut Store,
    next_sequence: &mut u64,
    mut wanted: impl FnMut(&UrlKey, Option<&Page>, &Visit) -> bool,
) -> Result<u64, StoreError> {
    let mut from: Option<UrlKey> = None;
    let mut count = 0;
    loop {
        let mut requeued = Vec::new();
        let mut next = None;
        store.each(from.as_ref(), Shown::Whole, &mut |rows| {
            if requeued.len() >= PORTION {
                next = Some(rows.key.clone());
                return Ok(ControlFlow::Break(()));
            }
            if let Some(visit) = rows.visit()?
                && visit.record.reason != Reason::Queued
                && wanted(&rows.key, rows.page()?.as_ref(), &visit)
            {
                requeued.push(Effect::Requeue(QueuedUrl {
                    sequence: *next_sequence,
                    key: rows.key.clone(),
                    depth: visit.record.depth,
                    hops: visit.hops,
                    distance: 0,
                    earlier: None,
                }));
                *next_sequence += 1;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        count += requeued.len() as u64;
        if !requeued.is_empty() {
            store.commit(&requeued)?;
        }
        match next {
            Some(next) => from = Some(next),
            None => return Ok(count),
        }
    }
}
