//! Records and commits for the tests of this room and of those above it.

use crate::{
    page::{Basis, BodyEnd, BodyKind, Outcome, PageFacts, PageRecord, Reading, Reason, Via},
    store::{Commit, Discovery, Finished, Store},
    url_key::UrlKey,
};

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
    PageRecord {
        reason,
        depth: 1,
        via: Via::Link,
        found_on: None,
        attempts: 0,
        fetched_at: None,
        sitemap_lastmod: None,
        outcome: None,
        basis: Basis::Own,
    }
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
        reading: Reading::default(),
        key: found.key.clone(),
        sequence: found.sequence,
        record,
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
    store.commit(&commit).unwrap();
}
