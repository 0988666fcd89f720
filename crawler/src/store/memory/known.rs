//! What is known of one URL, and what it is to the next run.

use jiff::Timestamp;

use crate::{
    page::{Basis, Outcome, PageFacts, PageRecord, RunId, State},
    store::{Earlier, EarlierAnswer},
};

/// What is known of one URL.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) record: PageRecord,
    /// The answer of an earlier run, while there is none in the record's run.
    pub(super) earlier: Option<PageFacts>,
    pub(super) history: History,
}

/// What was before the record, as far as it matters for it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct History {
    pub(super) was_listed: bool,
    pub(super) failing_since: Option<Timestamp>,
    pub(super) gone_since: Option<Timestamp>,
}

impl Known {
    /// What it is to a run that finds the URL again, when run `published` was published last.
    pub(super) fn history(&self, published: Option<RunId>) -> History {
        let is_unpublished = published.is_some_and(|published| self.record.run > published);
        let was_listed = match self.record.reason.state() {
            // It did not come to a decision.
            State::Queued => self.history.was_listed,
            // ... or to one that does not count yet.
            State::Listed | State::Excluded | State::Failed if is_unpublished => {
                self.history.was_listed
            }
            State::Listed => true,
            State::Excluded | State::Failed => false,
        };
        match &self.record.basis {
            Basis::Kept(kept) => History {
                was_listed,
                failing_since: Some(kept.since),
                gone_since: kept.gone_since,
            },
            Basis::Own | Basis::Confirmed => History {
                was_listed,
                ..self.history
            },
        }
    }

    /// The record as it counts.
    pub(super) fn counting(&self) -> PageRecord {
        let History {
            failing_since,
            gone_since,
            ..
        } = self.history;
        let record = self.record.clone();
        record.listed_by(self.earlier.as_ref(), failing_since, gone_since)
    }

    /// What the queue tells of it.
    pub(super) fn outlines(&self) -> Option<Box<Earlier>> {
        let History {
            was_listed,
            failing_since,
            gone_since,
        } = self.history;
        Earlier {
            was_listed,
            failing_since,
            gone_since,
            answer: self.earlier.as_ref().map(EarlierAnswer::of),
        }
        .if_any()
    }

    /// Whether `record` lists the page as it was listed, with the same content and the same validators.
    pub(super) fn is_said_again_by(&self, record: &PageRecord) -> bool {
        let before = match &self.record.outcome {
            Some(Outcome::Answered(facts)) => Some(&**facts),
            Some(Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Given(_)) | None => {
                self.earlier.as_ref()
            }
        };
        let is_kept = matches!(record.basis, Basis::Kept(_));
        let was_listed = self.history.was_listed || self.record.reason.state() == State::Listed;
        record.reason.state() == State::Listed
            && !is_kept
            && was_listed
            && record.facts().zip(before).is_some_and(|(now, before)| {
                before.content_hash.is_some()
                    && now.content_hash == before.content_hash
                    && now.etag == before.etag
                    && now.last_modified == before.last_modified
            })
    }

    /// The last answer, whatever its run.
    pub(super) fn into_facts(self) -> Option<PageFacts> {
        match self.record.outcome {
            Some(Outcome::Answered(facts)) => Some(*facts),
            Some(Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Given(_)) | None => {
                self.earlier
            }
        }
    }
}
