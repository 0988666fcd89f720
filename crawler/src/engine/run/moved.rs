//! Listed pages that redirect to a URL which the run did not come to. Only where a redirect ends tells what it says: a page
//! that leads to its own new place has moved, and one that leads to a wall, as all others do, has not. So where they lead
//! is asked for next; a run that ends before it knows lists them as they were, and the start that goes on with it asks for
//! them again, behind what they lead to.

use super::{Run, decide::Work};
use crate::{
    engine::judge::Judge,
    page::{Outcome, PageRecord, Reason, RunId},
    store::{Commit, QueuedUrl, Rejudged, Store, StoreError},
    url_key::UrlKey,
    verdict::MAX_HOPS,
};

/// Pages that are looked at between two writes.
const PORTION: usize = 2_048;

impl Run<'_> {
    /// Lets the URL with the place `target`, which `work` led to first, come next if it is where a listed page redirects to,
    /// by way of others or not.
    pub(super) fn hurry_after(&mut self, work: &Work, reason: Reason, target: u64) {
        let is_redirect = matches!(reason, Reason::Redirected | Reason::RefreshRedirect);
        if is_redirect && (work.was_listed || self.frontier.came_forward(work.sequence)) {
            self.frontier.hurry(target);
        }
    }
}

/// Puts off what the listed pages of run `run` come to whose redirects end at a URL that waits, as long as the rules of
/// `judge` have them listed.
pub(super) fn put_off(store: &mut dyn Store, run: RunId, judge: &Judge) -> Result<(), StoreError> {
    in_portions(store, run, |store, portion| {
        let mut open = Vec::new();
        for page in portion {
            if let Some(record) = store.page(&page.key)?
                && is_open(store, run, &record)?
            {
                open.push((page, record.reason));
            }
        }
        let kept = open
            .iter()
            .map(|(page, _)| (page.key.clone(), Reason::KeptNotReached));
        rejudge(store, &kept.collect::<Vec<_>>())?;
        let mut decided = Vec::new();
        for (page, reason) in open {
            let good = store.page(&page.key)?.and_then(|record| record.outcome);
            if !good.is_some_and(|good| judge.stays_unreached(&page, &good)) {
                decided.push((page.key, reason));
            }
        }
        rejudge(store, &decided)
    })
}

/// Queues them behind `next_sequence`, as what they are without that answer: where they lead is asked for before, and by
/// then the site may be itself again.
pub(super) fn ask_again(
    store: &mut dyn Store,
    run: RunId,
    next_sequence: &mut u64,
) -> Result<(), StoreError> {
    in_portions(store, run, |store, portion| {
        let mut requeued = Vec::new();
        for page in portion {
            let record = store.page(&page.key)?;
            if record.is_some_and(|record| record.reason == Reason::KeptNotReached) {
                requeued.push(QueuedUrl {
                    sequence: *next_sequence,
                    ..page
                });
                *next_sequence += 1;
            }
        }
        if requeued.is_empty() {
            return Ok(());
        }
        store.commit(&Commit {
            run,
            requeued,
            ..Commit::default()
        })
    })
}

fn in_portions(
    store: &mut dyn Store,
    run: RunId,
    mut change: impl FnMut(&mut dyn Store, Vec<QueuedUrl>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut after: Option<UrlKey> = None;
    loop {
        let portion = store.moved(run, after.as_ref(), PORTION)?;
        let Some(last) = portion.last() else {
            return Ok(());
        };
        after = Some(last.key.clone());
        change(store, portion)?;
    }
}

fn rejudge(store: &mut dyn Store, verdicts: &[Rejudged]) -> Result<(), StoreError> {
    if verdicts.is_empty() {
        return Ok(());
    }
    store.rejudge(verdicts)
}

/// Whether a page redirects, and the end of that waits.
fn is_open(store: &dyn Store, run: RunId, page: &PageRecord) -> Result<bool, StoreError> {
    let mut target = target_of(page);
    for _ in 0..MAX_HOPS {
        let Some(url) = target else { break };
        let next = store.page(&url)?.filter(|next| next.run == run);
        let Some(next) = next else { break };
        if matches!(next.reason, Reason::Queued | Reason::KeptNotReached) {
            return Ok(true);
        }
        target = target_of(&next);
    }
    Ok(false)
}

/// Where a page that redirects leads.
fn target_of(page: &PageRecord) -> Option<UrlKey> {
    let Some(Outcome::Answered(facts)) = &page.outcome else {
        return None;
    };
    let refresh = facts.refresh.as_ref().map(|refresh| &refresh.target);
    let target = if page.reason == Reason::Redirected {
        facts.location.as_ref()
    } else {
        refresh.filter(|_| page.reason == Reason::RefreshRedirect)
    };
    target.cloned()
}
