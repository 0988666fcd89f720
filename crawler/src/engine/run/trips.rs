//! The trips of the store: when it leaves the loop with the effects that came together, what it is asked on the way, and
//! what it brings back. One trip at a time; nothing is written but by one, and nothing here knows what the effects mean.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    Done, Run,
    recrawl::{Answers, MAX_RECALLS},
};
use crate::{
    frontier::Wanted,
    store::{Commit, KeptDocument, QueuedUrl, Store, StoreError},
    url_key::UrlKey,
};

/// Effects are stored at least this often; a crash costs no more than this.
pub const COMMIT_INTERVAL: Duration = Duration::from_millis(500);

/// ... and as soon as this part of [`max_pending_bytes`](crate::config::LimitsConfig::max_pending_bytes) has come
/// together.
const COMMIT_PART: usize = 4;

/// The URLs that wait at these places.
fn waiting_at(store: &dyn Store, places: &[u64]) -> Result<Vec<QueuedUrl>, StoreError> {
    let mut waiting = Vec::new();
    for place in places {
        let found = store.queued(place.checked_sub(1), 1)?;
        waiting.extend(found.into_iter().filter(|url| url.sequence == *place));
    }
    Ok(waiting)
}

pub(super) struct Trip {
    pub(super) store: Box<dyn Store>,
    /// Bytes of the store now.
    pub(super) result: Result<u64, StoreError>,
    pub(super) refill: Option<(Wanted, Vec<QueuedUrl>)>,
    /// Those that come next.
    pub(super) hurried: Vec<QueuedUrl>,
    /// The document that [`Seeding`] asked for a copy of, and the copy, if there is one.
    pub(super) kept: Option<(UrlKey, Option<KeptDocument>)>,
    /// What [`Recrawl`] asked for.
    pub(super) earlier: Answers,
}

impl Run<'_> {
    pub(super) fn pending_effects(&self) -> usize {
        let Commit {
            run: _,
            discovered,
            finished,
            requeued,
            linked,
            dated,
            kept,
            doubts,
            values,
            outbox,
            forgotten,
        } = &self.pending;
        let effects = [
            discovered.len(),
            finished.len(),
            requeued.len(),
            linked.len(),
            dated.len(),
            kept.len(),
            doubts.len(),
            values.len(),
            outbox.len(),
            usize::from(forgotten.is_some()),
        ];
        effects.iter().sum()
    }

    /// Sends the store on a trip when it is at home and there is a reason to.
    pub(super) fn trip(&mut self, now: Instant) {
        self.note_not_recorded();
        let effects = self.pending_effects();
        let is_much = self.pending_bytes() >= self.config.limits.max_pending_bytes / COMMIT_PART;
        let wanted = if self.ending.is_none() {
            self.frontier.wants()
        } else {
            None
        };
        let idle = self.out.is_empty();
        let due = now >= self.last_trip + COMMIT_INTERVAL;
        let waits = effects > 0 || self.recrawl.recalls();
        let worth_it = is_much
            || self.recrawl.recalled() >= MAX_RECALLS
            || waits && (due || idle)
            || self.wants_kept()
            || self.wants_walk()
            || self.frontier.is_hurried()
            || wanted
                .as_ref()
                .is_some_and(|_| due || self.frontier.is_starving());
        if !worth_it {
            return;
        }
        let Some(mut store) = self.store.take() else {
            return;
        };
        let next = Commit {
            run: self.number,
            ..Commit::default()
        };
        self.bounds.in_commit = self.pending_bytes();
        self.bounds.pending = 0;
        let commit = std::mem::replace(&mut self.pending, next);
        if wanted.is_some() {
            self.frontier.asked();
        }
        let hurried = self.frontier.take_hurried();
        let copy_of = self.ask_for_kept();
        let questions = self.questions();
        self.last_trip = now;
        let task = self.tasks.spawn_blocking(move || {
            let mut result = if effects == 0 {
                Ok(())
            } else {
                store.commit(&commit)
            };
            drop(commit);
            let mut refill = None;
            if let (Ok(()), Some(wanted)) = (&result, wanted) {
                match store.queued(wanted.after, wanted.limit) {
                    Ok(urls) => refill = Some((wanted, urls)),
                    Err(error) => result = Err(error),
                }
            }
            let mut next = Vec::new();
            if result.is_ok() {
                match waiting_at(&*store, &hurried) {
                    Ok(urls) => next = urls,
                    Err(error) => result = Err(error),
                }
            }
            let mut kept = None;
            if let (Ok(()), Some(url)) = (&result, copy_of) {
                match store.kept(&url) {
                    Ok(copy) => kept = Some((url, copy)),
                    Err(error) => result = Err(error),
                }
            }
            let mut earlier = Answers::default();
            if result.is_ok() {
                match questions.ask(&*store) {
                    Ok(answers) => earlier = answers,
                    Err(error) => result = Err(error),
                }
            }
            let result = result.and_then(|()| store.bytes());
            Done::Trip(Trip {
                store,
                result,
                refill,
                hurried: next,
                kept,
                earlier,
            })
        });
        self.trip_task = Some(task.id());
    }
}
