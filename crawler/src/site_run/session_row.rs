//! The row of a session in the state: written when the state is open, and again when it is known how the session ended. A row
//! that cannot be written is logged: it changes nothing of how the session ends.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;

use super::{CrawlFacts, SessionOutcome};
use crate::{
    clock::Clock,
    page::Reason,
    report::Report,
    store::{Effect, Store, StoreError, StoredSession},
};

/// Writes that a session began at `began`.
pub(super) fn begin(store: &mut Store, began: Timestamp) -> Result<(), StoreError> {
    let session = StoredSession {
        began,
        ..StoredSession::default()
    };
    store.commit(&[Effect::Session(Box::new(session))])
}

/// The row that is written when the session has ended.
pub(super) struct SessionEnd {
    pub(super) began: Timestamp,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) crawl: CrawlFacts,
}

impl SessionEnd {
    /// Writes that the session ended now with `outcome`, and what is known of it.
    pub(super) fn write(
        &self,
        store: &mut Store,
        outcome: SessionOutcome,
        report: Option<&Report>,
    ) {
        let crawl = &self.crawl;
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let disallowed = |report: &Report| {
            let count = report.excluded.get(Reason::RobotsDisallowed.code());
            count.copied().unwrap_or_default()
        };
        let session = StoredSession {
            began: self.began,
            ended: Some(self.clock.now()),
            outcome: Some(outcome.as_str().to_owned()),
            exit_code: Some(outcome.exit_code()),
            crawl: Some(crawl.number),
            known: report.map(Report::known),
            listed: report.map(|report| report.listed),
            excluded: report.map(Report::excluded_total),
            failed: report.map(Report::failed),
            queued: report.map(|report| report.queued),
            robots_disallowed: report.map(disallowed),
            fetched: Some(crawl.fetched),
            not_modified: Some(crawl.not_modified),
            bytes_in: Some(crawl.bytes_in),
            requests: Some(crawl.tally.requests),
            slowdowns: Some(crawl.tally.slowdowns),
            retry_afters: Some(crawl.tally.retry_afters),
            waited_ms: Some(milliseconds(crawl.tally.waited)),
            interval_ms: crawl.pace.map(milliseconds),
        };
        let written = store.commit(&[Effect::Session(Box::new(session))]);
        if let Err(error) = written {
            tracing::warn!(target: "store", "cannot write how the session ended: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_keep_their_rows_when_the_clock_goes_back() {
        let mut store = Store::in_memory().unwrap();
        for began in [100, 50, 60] {
            let began = Timestamp::from_second(began).unwrap();
            begin(&mut store, began).unwrap();
        }
        let sessions = store.sessions().unwrap().into_iter();
        let rows: Vec<_> = sessions.map(|session| session.began.as_second()).collect();
        assert_eq!(rows, [100, 50, 60]);
    }
}
