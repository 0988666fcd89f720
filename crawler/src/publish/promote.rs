//! Promotion: what a published crawl decided is copied to the page rows, in batches. It may be done again: a row that was
//! written is not written a second time, and neither is its change for engines.

use std::ops::ControlFlow;

use jiff::Timestamp;

use super::{commit, guard::mark, journal::change_of, pending::Pending};
use crate::{
    crawl_state::{self, Phase},
    export::{Export, MergedView},
    page::{
        Basis, CrawlId, LedgerEntry, Outcome, Page, PageFacts, PageRecord, Promotion, Reason, State,
    },
    store::{
        Effect, PageLinks, PageRow, Store, StoreError,
        outbox::{NOTIFIES_ENGINES, OutboxStep, UrlChange},
    },
    url_key::UrlKey,
    verdict::{Judge, Merged, MergedBy, Mode, Rows},
};

/// Rows of one batch. Tests interrupt a publish between two batches of a small site.
const BATCH: usize = if cfg!(test) { 15 } else { 1_000 };

/// The data that is promoted.
pub(super) struct Promoting<'a> {
    pub(super) judge: &'a Judge,
    pub(super) export: &'a Export,
    pub(super) mode: Mode,
    pub(super) crawl: CrawlId,
    pub(super) at: Timestamp,
    /// The crawl has drained: its visits are deleted at the end, so that none of them is marked.
    pub(super) is_drained: bool,
}

/// The new page row of a URL, and the change that engines are to be notified of.
struct Step {
    row: PageRow,
    change: Option<UrlChange>,
}

impl Promoting<'_> {
    /// Promotes the whole view; the last batch clears `pending`.
    ///
    /// # Errors
    /// The store failed; the batches before stay promoted.
    pub(super) fn promote(&self, store: &mut Store, pending: &Pending) -> Result<(), StoreError> {
        // Before engines are notified of the site the changes of the last publish wait alone: what was before they never get
        // (<https://www.indexnow.org/faq>).
        let notifies = !pending.is_first;
        if notifies && store.value(NOTIFIES_ENGINES)?.is_none() {
            commit(store, &[Effect::Outbox(OutboxStep::Forget)])?;
        }
        let forgotten = self.at.checked_sub(crawl_state::FORGOTTEN_AFTER).ok();
        let forgotten = forgotten.filter(|_| self.clears_visits());
        let mut has_forgotten = false;
        let mut from = None;
        loop {
            let mut steps = Vec::new();
            let mut next = None;
            let view = MergedView::new(store, self.judge, self.mode, self.at);
            view.each::<StoreError>(from.as_ref(), &mut |key, rows, merged| {
                if steps.len() == BATCH {
                    next = Some(key.clone());
                    return Ok(ControlFlow::Break(()));
                }
                has_forgotten |= rows.page.as_ref().is_some_and(|page| {
                    let is_unlisted = page.record.reason.state() != State::Listed;
                    is_unlisted && forgotten.is_some_and(|before| page.last_seen < before)
                });
                steps.extend(self.step(&view, key, rows, merged)?);
                Ok(ControlFlow::Continue(()))
            })?;
            let changes = steps.iter().filter_map(|step| {
                let written = self.export.written(&step.row.key)?;
                Some((written, step.change.filter(|_| notifies)?))
            });
            let changes: Vec<_> = changes.collect();
            let rows = steps.into_iter();
            let mut batch: Vec<_> = rows.map(|step| Effect::Page(Box::new(step.row))).collect();
            if notifies {
                let since = self.at;
                batch.push(Effect::Outbox(OutboxStep::Add { changes, since }));
            }
            commit(store, &batch)?;
            from = next;
            if from.is_none() {
                // A look at each row, which is spared where there is no such.
                let forgotten = forgotten.filter(|_| has_forgotten);
                return commit(store, &self.end(forgotten));
            }
        }
    }

    fn clears_visits(&self) -> bool {
        self.is_drained && self.mode != Mode::AtRest
    }

    /// The last commit of a promotion, which forgets page rows that were not seen since then.
    fn end(&self, forgotten: Option<Timestamp>) -> Vec<Effect> {
        let mut effects = Effect::values([Pending::none()]);
        if self.mode != Mode::AtRest {
            let phase = if self.is_drained {
                Phase::Finished
            } else {
                Phase::Open
            };
            effects.push(Effect::Value(crawl_state::phase_value(phase)));
        }
        if self.clears_visits() {
            effects.push(Effect::ClearVisits);
            effects.extend(forgotten.map(Effect::ForgetPages));
        }
        effects
    }

    /// The step of one URL; `None`: its row stays as it is.
    fn step(
        &self,
        view: &MergedView<'_>,
        key: &UrlKey,
        rows: &Rows,
        merged: Option<Merged>,
    ) -> Result<Option<Step>, StoreError> {
        let before = rows.page.as_ref();
        let decided = merged.filter(|merged| merged.merged_by != MergedBy::Waits);
        let Some(merged) = decided.or_else(|| left_out(before)) else {
            return Ok(None);
        };
        let is_visit = match merged.merged_by {
            MergedBy::Waits | MergedBy::NotReached => false,
            MergedBy::Decided | MergedBy::Kept => self.mode != Mode::AtRest,
        };
        let visit = rows.visit.as_ref().filter(|_| is_visit);
        let known = before.and_then(|page| page.dates.as_ref());
        let listed = self.export.listed(view, key, &merged, known)?;
        let change = change_of(
            before,
            listed.as_ref().map(|listed| (&merged.record, listed)),
        );
        let dates = match &listed {
            Some(listed) => self.export.dates(key, &merged.record, known, listed),
            None => known.cloned(),
        };
        let page = self.page(key, before, visit.is_some(), merged, dates);
        // An unlisted row is written in each publish that meets it, so that it is not forgotten.
        let is_written = |before: &Page| match visit {
            Some(_) if self.clears_visits() => listed.is_some() || before.last_seen == self.at,
            Some(visit) => visit.promotion.is_some(),
            None => true,
        };
        if before.is_some_and(|before| is_written(before) && says_the_same(before, &page)) {
            return Ok(None);
        }
        let is_own = |record: &PageRecord| record.basis == Basis::Own;
        let links = match &page.record.outcome {
            Some(Outcome::Answered(_))
                if is_own(&page.record) && visit.is_some_and(|visit| is_own(&visit.record)) =>
            {
                before.map_or(PageLinks::OfFirstVisit, |_| PageLinks::OfVisit)
            }
            _ => PageLinks::Own,
        };
        let marked = visit.filter(|_| !self.clears_visits());
        let promotion = marked.map(|visit| match &visit.promotion {
            Some(known) => known.clone(),
            None => before.map(promotion_of).unwrap_or_default(),
        });
        Ok(Some(Step {
            row: PageRow {
                key: key.clone(),
                page,
                links,
                promotion,
            },
            change,
        }))
    }

    fn page(
        &self,
        key: &UrlKey,
        before: Option<&Page>,
        is_visit: bool,
        merged: Merged,
        dates: Option<LedgerEntry>,
    ) -> Page {
        let mut record = merged.record;
        if merged.merged_by == MergedBy::NotReached
            && let Some(before) = before
        {
            // The crawl has found out nothing of the page.
            record = before.record.clone();
        }
        record.reason = self.export.reason(key, record.reason);
        Page {
            record,
            crawl: match before {
                Some(before) if !is_visit => before.crawl,
                Some(_) | None => Some(self.crawl),
            },
            first_seen: before.map_or(self.at, |before| before.first_seen),
            last_seen: self.at,
            dates,
        }
    }
}

/// A published URL that the view does not have: it leaves.
fn left_out(before: Option<&Page>) -> Option<Merged> {
    let page = before.filter(|page| page.record.reason.state() == State::Listed)?;
    Some(Merged {
        record: PageRecord {
            reason: Reason::NotInSet,
            ..page.record.clone()
        },
        merged_by: MergedBy::Decided,
    })
}

fn says_the_same(before: &Page, now: &Page) -> bool {
    let Page {
        record,
        crawl: _,
        first_seen,
        last_seen: _,
        dates,
    } = now;
    before.record == *record && before.first_seen == *first_seen && before.dates == *dates
}

/// The values of a page row that the guard needs, for a row that is replaced.
fn promotion_of(before: &Page) -> Promotion {
    let facts = before.record.facts();
    let target = facts.and_then(|facts| facts.location.as_ref());
    Promotion {
        was_listed: before.record.reason.state() == State::Listed,
        content: facts.and_then(PageFacts::content_as_shown).map(mark),
        title: facts.and_then(|facts| facts.title.clone()),
        has_password: facts.is_some_and(|facts| facts.warnings.password_field),
        target: target.map(ToString::to_string),
    }
}
