//! The merged view of one URL: its place in a publish, from the page row, the visit of the crawl under way and the current
//! rules. A pure function of the rows of the URL and of those that it leads to; the order in which URLs are looked at makes
//! no difference.
//!
//! | visit | page row | what counts |
//! | --- | --- | --- |
//! | decided | any | the visit, judged by the current rules |
//! | decided, but no sure evidence | listed | the page row by its last good answer, until the evidence is sure |
//! | waits, or there is none | listed | the page row, if the current rules list it |
//! | waits | unlisted or none | nothing is decided |
//! | leads to a URL that waits | listed | the page row |
//! | leads to a URL that failed | listed | the page row, for as long as a page that fails stays |

use jiff::Timestamp;

use super::{
    Judge, MAX_HOPS, PageSummary,
    removal::{self, Stays},
    settle_canonicals, target_of,
};
use crate::{
    page::{Basis, Canonical, Kept, Outcome, Page, PageRecord, Reason, State, Visit},
    url_key::UrlKey,
};

/// The rows that a view is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The page rows: no crawl counts.
    AtRest,
    /// The visits, and the listed page rows that the crawl has not decided.
    Crawl,
    /// The visits alone (`--fresh`, lists and folders).
    Fresh,
}

/// The rows of one URL.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// The page row.
    pub page: Option<Page>,
    /// The visit.
    pub visit: Option<Visit>,
}

/// One URL in the merged view.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The reason with the facts that it is decided by.
    pub record: PageRecord,
    /// The row that counts.
    pub merged_by: MergedBy,
}

/// The row by which a URL has its place in the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergedBy {
    /// The visit decides; at rest the page row does.
    Decided,
    /// The page row stays listed, because the visit is not sure evidence.
    Kept,
    /// The page row counts, because the crawl has not decided the URL.
    NotReached,
    /// Nothing is decided.
    Waits,
}

/// The rules of a view.
#[derive(Debug, Clone, Copy)]
pub struct Merging<'a> {
    /// The current rules.
    pub judge: &'a Judge,
    /// The rows that count.
    pub mode: Mode,
}

/// The state of the end of the chain that a URL begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChainTarget {
    Waits,
    Failed,
    Decided,
}

/// Reads the rows of a URL.
pub type Lookup<'l, E> = dyn FnMut(&UrlKey) -> Result<Rows, E> + 'l;

impl Merging<'_> {
    /// The place of `key` in the view; `None`: the view does not have it. `lookup` reads the rows of the URLs that it leads to,
    /// at most [`MAX_HOPS`] at a time.
    ///
    /// # Errors
    /// The errors of `lookup`.
    pub fn merge<E>(
        self,
        key: &UrlKey,
        rows: &Rows,
        lookup: &mut Lookup<'_, E>,
    ) -> Result<Option<Merged>, E> {
        let Some(mut merged) = self.own(key, rows) else {
            return Ok(None);
        };
        if merged.merged_by != MergedBy::Decided || target_of(&merged.record).is_none() {
            return Ok(Some(merged));
        }
        if let Some(reason) = self.settled(key, &merged.record, lookup)? {
            merged.record.reason = reason;
        }
        let Some((page, visit)) = self.listed(rows).zip(rows.visit.as_ref()) else {
            return Ok(Some(merged));
        };
        if let Some(kept) = self.without_proof(key, page, visit, &merged.record) {
            return Ok(Some(kept));
        }
        Ok(Some(match self.target(&merged.record, lookup)? {
            ChainTarget::Decided => merged,
            ChainTarget::Waits => self.not_reached(key, page).unwrap_or(merged),
            ChainTarget::Failed => {
                let failing_since = page.record.failing_since;
                let stays = Stays {
                    kept: Kept {
                        reason: merged.record.reason,
                        error: "leads to a page that could not be fetched".to_owned(),
                    },
                    failing_since: failing_since.unwrap_or_else(|| self.ended(visit)),
                    gone_since: page.record.gone_since,
                };
                let is_over = stays.expires(self.judge.keep_failing(), self.ended(visit));
                let stays = (!is_over).then_some(stays);
                stays
                    .and_then(|stays| self.kept(key, page, visit, stays))
                    .unwrap_or(merged)
            }
        }))
    }

    /// The page row, if it is listed and counts beside the visit.
    fn listed(self, rows: &Rows) -> Option<&Page> {
        let page = rows.page.as_ref()?;
        (self.mode == Mode::Crawl && page.record.reason.state() == State::Listed).then_some(page)
    }

    /// The place of a URL by its own rows, without its targets.
    fn own(self, key: &UrlKey, rows: &Rows) -> Option<Merged> {
        let visit = match (self.mode, &rows.visit) {
            (Mode::AtRest, _) => return Some(self.at_rest(key, rows.page.as_ref()?)),
            (Mode::Crawl, None) => return self.not_reached(key, rows.page.as_ref()?),
            (Mode::Fresh, None) => return None,
            (Mode::Crawl | Mode::Fresh, Some(visit)) => visit,
        };
        let mut record = confirmed(visit, rows.page.as_ref());
        record.reason = self.judge.in_view(key, &record);
        let page = self.listed(rows);
        if record.reason == Reason::Queued {
            let kept = page.and_then(|page| self.not_reached(key, page));
            return Some(kept.unwrap_or_else(|| merged(record, MergedBy::Waits)));
        }
        let kept = page.and_then(|page| self.without_proof(key, page, visit, &record));
        Some(kept.unwrap_or_else(|| merged(record, MergedBy::Decided)))
    }

    fn at_rest(self, key: &UrlKey, page: &Page) -> Merged {
        let mut record = page.record.clone();
        if record.reason != Reason::NotInSet {
            let reason = self.judge.in_view(key, &record);
            if reason != Reason::Queued {
                record.reason = reason;
            }
        }
        merged(record, MergedBy::Decided)
    }

    /// The page row of a URL that the crawl has not reached; `None` where it is not listed.
    fn not_reached(self, key: &UrlKey, page: &Page) -> Option<Merged> {
        if page.record.reason.state() != State::Listed {
            return None;
        }
        let mut record = page.record.clone();
        let reason = self.judge.in_view(key, &record);
        if matches!(reason.state(), State::Excluded | State::Failed) {
            record.reason = reason;
            return Some(merged(record, MergedBy::Decided));
        }
        record.reason = Reason::NotReached;
        record.basis = Basis::NotReached;
        Some(merged(record, MergedBy::NotReached))
    }

    /// The listed page row, where the visit is not a proof that the page has to leave.
    fn without_proof(
        self,
        key: &UrlKey,
        page: &Page,
        visit: &Visit,
        record: &PageRecord,
    ) -> Option<Merged> {
        if record.reason.state() == State::Listed {
            return None;
        }
        let not_fetched = Outcome::NotFetched(record.reason);
        let stays = removal::stays(
            record.outcome.as_ref().unwrap_or(&not_fetched),
            record.reason,
            page.record.failing_since,
            page.record.gone_since,
            self.judge.keep_failing(),
            self.ended(visit),
        )?;
        self.kept(key, page, visit, stays)
    }

    /// The listed page row by its last good answer; `None` when the current rules do not list that.
    fn kept(self, key: &UrlKey, page: &Page, visit: &Visit, stays: Stays) -> Option<Merged> {
        let good = page.record.outcome.clone().unwrap_or(Outcome::PUBLISHED);
        let reason = self.judge.of_good(key, &good, stays.kept.listed_as());
        if reason.state() != State::Listed {
            return None;
        }
        let record = PageRecord {
            reason,
            outcome: Some(good),
            basis: Basis::Kept(stays.kept),
            failing_since: Some(stays.failing_since),
            gone_since: stays.gone_since,
            ..visit.record.clone()
        };
        Some(merged(record, MergedBy::Kept))
    }

    /// When the attempt of the visit ended.
    fn ended(self, visit: &Visit) -> Timestamp {
        let ended = visit.record.fetched_at;
        ended.unwrap_or_else(|| self.judge.our_time())
    }

    /// The reason in the light of the chain that the URL is the beginning of, if that is another one.
    fn settled<E>(
        self,
        key: &UrlKey,
        record: &PageRecord,
        lookup: &mut Lookup<'_, E>,
    ) -> Result<Option<Reason>, E> {
        let mut failure = None;
        let settled = settle_canonicals(key, record, &mut |target| match lookup(target) {
            Ok(rows) => Some(PageSummary::of(&self.own(target, &rows)?.record)),
            Err(error) => {
                failure = Some(error);
                None
            }
        });
        match failure {
            Some(error) => Err(error),
            None => Ok(settled.map(|reason| match reason {
                Reason::Listed => self.as_own_canonical(key, record),
                reason => reason,
            })),
        }
    }

    /// The reason of a page whose canonical link means the page itself.
    fn as_own_canonical(self, key: &UrlKey, record: &PageRecord) -> Reason {
        let mut record = record.clone();
        if let Some(Outcome::Answered(facts)) = &mut record.outcome {
            facts.canonical = Canonical::Itself;
        }
        self.judge.in_view(key, &record)
    }

    /// The state of the end of the chain that the record begins.
    fn target<E>(self, record: &PageRecord, lookup: &mut Lookup<'_, E>) -> Result<ChainTarget, E> {
        let mut next = target_of(record).cloned();
        for _ in 0..MAX_HOPS {
            let Some(key) = next else { break };
            let Some(end) = self.own(&key, &lookup(&key)?) else {
                break;
            };
            match end.merged_by {
                MergedBy::Waits | MergedBy::NotReached => return Ok(ChainTarget::Waits),
                MergedBy::Kept => return Ok(ChainTarget::Failed),
                MergedBy::Decided => {}
            }
            let record = end.record;
            if removal::is_not_evidence(record.outcome.as_ref(), record.reason) {
                return Ok(ChainTarget::Failed);
            }
            next = target_of(&record).cloned();
        }
        Ok(ChainTarget::Decided)
    }
}

fn merged(record: PageRecord, merged_by: MergedBy) -> Merged {
    Merged { record, merged_by }
}

/// The record of the visit; of a visit answered 304, with the facts that it confirms.
fn confirmed(visit: &Visit, page: Option<&Page>) -> PageRecord {
    let mut record = visit.record.clone();
    if let (Basis::Confirmed, Some(Outcome::Answered(answer)), Some(facts)) = (
        &record.basis,
        &record.outcome,
        page.and_then(|page| page.record.facts()),
    ) {
        let facts = facts.clone().confirmed_by(answer);
        record.outcome = Some(Outcome::Answered(Box::new(facts)));
    }
    record
}
