//! Records and commits for the tests of this room and of those above it.

use std::ops::ControlFlow;

use jiff::Timestamp;

use crate::{
    page::{
        BodyEnd, BodyKind, Outcome, Page, PageFacts, PageRecord, Reading, Reason, SitemapDate,
        State, Via, Visit,
    },
    store::{
        Discovery, Effect, Finished, MetaValue, PageRow, QueuedUrl, Shown, Store,
        outbox::OutboxStep,
    },
    url_key::UrlKey,
};

/// The effects of a commit by their kinds, in the order in which they are applied.
#[derive(Debug, Clone, Default)]
pub(crate) struct Commit {
    pub(crate) clears_visits: bool,
    pub(crate) discovered: Vec<Discovery>,
    pub(crate) finished: Vec<Finished>,
    pub(crate) requeued: Vec<QueuedUrl>,
    pub(crate) linked: Vec<UrlKey>,
    pub(crate) dated: Vec<(UrlKey, SitemapDate)>,
    pub(crate) pages: Vec<PageRow>,
    pub(crate) values: Vec<MetaValue>,
    pub(crate) outbox: Vec<OutboxStep>,
    pub(crate) forgets_before: Option<Timestamp>,
}

impl Commit {
    pub(crate) fn effects(self) -> Vec<Effect> {
        let first = self.clears_visits.then_some(Effect::ClearVisits);
        let finished = self.finished.into_iter().map(Box::new);
        let pages = self.pages.into_iter().map(Box::new);
        let dated = self.dated.into_iter();
        first
            .into_iter()
            .chain(self.discovered.into_iter().map(Effect::Discover))
            .chain(finished.map(Effect::Finish))
            .chain(self.requeued.into_iter().map(Effect::Requeue))
            .chain(self.linked.into_iter().map(Effect::Link))
            .chain(dated.map(|(key, date)| Effect::Date(key, date)))
            .chain(pages.map(Effect::Page))
            .chain(Effect::values(self.values))
            .chain(self.outbox.into_iter().map(Effect::Outbox))
            .chain(self.forgets_before.map(Effect::ForgetPages))
            .collect()
    }
}

impl Store {
    pub(crate) fn page(&self, key: &UrlKey) -> Option<Page> {
        self.rows(key).unwrap().0
    }

    pub(crate) fn visit(&self, key: &UrlKey) -> Option<Visit> {
        self.rows(key).unwrap().1
    }

    pub(crate) fn outbox_len(&self) -> u64 {
        self.outbox(None, 0, Timestamp::MAX).unwrap().total
    }

    /// The listed pages that have no visit, with their rows.
    pub(crate) fn unvisited(&self) -> Vec<(UrlKey, Page)> {
        let rows = self.rows_from(None).into_iter();
        rows.filter(|(_, _, visit)| visit.is_none())
            .filter_map(|(key, page, _)| Some((key, page?)))
            .filter(|(_, page)| page.record.reason.state() == State::Listed)
            .collect()
    }

    pub(crate) fn rows_from(
        &self,
        from: Option<&UrlKey>,
    ) -> Vec<(UrlKey, Option<Page>, Option<Visit>)> {
        let mut all = Vec::new();
        let walked = self.each(from, Shown::Whole, &mut |rows| {
            all.push((rows.key.clone(), rows.page()?, rows.visit()?));
            Ok(ControlFlow::Continue(()))
        });
        walked.unwrap();
        all
    }
}

/// A URL that a link names and that waits at a place of the queue.
pub(crate) fn queued_at(sequence: u64, key: UrlKey) -> Discovery {
    Discovery {
        distance: 0,
        key,
        sequence,
        depth: 1,
        hops: 0,
        via: Via::Link,
        found_on: None,
        reason: Reason::Queued,
    }
}

/// A record without an attempt, of a URL that a link names.
pub(crate) fn unfetched(reason: Reason) -> PageRecord {
    PageRecord::new(reason, 1, Via::Link)
}

/// A record of a listed page that answered with these facts.
pub(crate) fn answered(facts: PageFacts) -> PageRecord {
    PageRecord {
        attempts: 1,
        outcome: Some(Outcome::Answered(Box::new(facts))),
        ..unfetched(Reason::Listed)
    }
}

/// The facts of a page whose whole content is known.
pub(crate) fn whole_page() -> PageFacts {
    PageFacts {
        status: 200,
        kind: BodyKind::Page,
        end: BodyEnd::Complete,
        body_bytes: 100,
        ..PageFacts::default()
    }
}

/// The facts of an answer without a body.
pub(crate) fn empty_answer(status: u16) -> PageFacts {
    PageFacts {
        status,
        ..PageFacts::default()
    }
}

/// The end of the work on `found`, without links.
pub(crate) fn finished(found: &Discovery, record: PageRecord) -> Finished {
    Finished {
        key: found.key.clone(),
        visit: Visit::finished(found.sequence, record, Reading::default()),
        links: None,
    }
}

/// A commit of URLs that are found and finished, at the places from `first` on.
pub(crate) fn visited(
    first: u64,
    visits: impl IntoIterator<Item = (UrlKey, PageRecord)>,
) -> Commit {
    let mut commit = Commit::default();
    for (sequence, (key, record)) in (first..).zip(visits) {
        let found = queued_at(sequence, key);
        commit.finished.push(finished(&found, record));
        commit.discovered.push(found);
    }
    commit
}

/// Commits what `fill` puts into an empty commit.
#[track_caller]
pub(crate) fn commit(store: &mut Store, fill: impl FnOnce(&mut Commit)) {
    let mut commit = Commit::default();
    fill(&mut commit);
    store.commit(&commit.effects()).unwrap();
}
