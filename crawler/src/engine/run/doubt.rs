//! Answers that are not believed yet ([`Doubts`] says which). A page that is published is listed as it was, as one is whose
//! redirect says nothing yet ([`super::moved`]), and the start that goes on with the run asks for it again; a new one waits in
//! the queue. Happens when a start has ended, on the store alone.

use crate::{
    config::GuardConfig,
    engine::judge::Judge,
    page::{Basis, PageRecord, Reason, RunId},
    publish::{Doubted, Doubts, Finding, Told},
    runs,
    site::Site,
    store::{Commit, Doubt, Earlier, QueuedUrl, Store, StoreError, change_in_chunks, doubt},
    url_key::UrlKey,
};

/// What came of it.
#[derive(Debug, Default)]
pub(in crate::engine) struct PutOff {
    /// What is doubted.
    pub(in crate::engine) doubted: Option<Doubted>,
    /// Nothing is left to the run but what another one has to ask for.
    pub(in crate::engine) is_over: bool,
}

/// Pages of which what was said does not count, or counts from now on.
#[derive(Debug, Default)]
struct Found {
    published: Vec<Published>,
    /// New ones, with their depths.
    new: Vec<New>,
    believed: Vec<UrlKey>,
}

/// A page of the set of which what was said is doubted.
#[derive(Debug)]
struct Published {
    key: UrlKey,
    /// The verdict that it has by that.
    reason: Reason,
    depth: u32,
    doubt: Doubt,
}

/// A page that waits, its depth, and what is doubted of it.
type New = (UrlKey, u32, Doubt);

/// What is doubted of a page; `None`: nothing any more.
type Noted = (UrlKey, Option<Doubt>);

/// Puts off what is doubted of the answers of run `run`. Without a guard nothing is: all of it was heard in one start, and is
/// judged as a whole, or somebody takes it as it is.
pub(in crate::engine) fn put_off(
    store: &mut dyn Store,
    site: &Site,
    run: RunId,
    judge: &Judge,
    guard: Option<&GuardConfig>,
) -> Result<PutOff, StoreError> {
    let mut values = vec![runs::judged()];
    let mut done = PutOff::default();
    if let Some(guard) = guard {
        let starts = runs::unjudged_starts(store, run)?;
        let now = judge.our_time();
        if let Some(mut doubts) = Doubts::of(store, site, run, guard, &starts, now)? {
            store.commit(&Commit {
                run,
                values: vec![doubts.beginning()],
                ..Commit::default()
            })?;
            let told = put_off_pages(store, run, judge, &mut doubts)?;
            done.is_over = doubts.are_for_another_run(store)?;
            done.doubted = doubts.told(&told);
            values.extend(doubts.end());
        }
    } else {
        doubt::forget_all(store, run)?;
    }
    // A start that is killed before this is judged by the next one.
    store.commit(&Commit {
        run,
        values,
        ..Commit::default()
    })?;
    Ok(done)
}

fn put_off_pages(
    store: &mut dyn Store,
    run: RunId,
    judge: &Judge,
    doubts: &mut Doubts<'_>,
) -> Result<Told, StoreError> {
    let mut next_sequence = store.last_sequence()? + 1;
    let mut told = Told::default();
    let look = |store: &dyn Store, key: &UrlKey, record: PageRecord, _, found: &mut Found| {
        let key = key.clone();
        match doubts.look(store, &key, &record)? {
            Some(Finding::Doubted {
                doubt,
                is_published: true,
            }) => found.published.push(Published {
                key,
                reason: record.reason,
                depth: record.depth,
                doubt,
            }),
            Some(Finding::Doubted {
                doubt,
                is_published: false,
            }) => found.new.push((key, record.depth, doubt)),
            Some(Finding::Believed) => found.believed.push(key),
            None => {}
        }
        Ok(())
    };
    let write = |store: &mut dyn Store, mut found: Found| {
        let mut commit = Commit {
            run,
            ..Commit::default()
        };
        let forgotten = found.believed.into_iter().map(|key| (key, None));
        commit.doubts.extend(forgotten);
        let (kept, unknown) = keep(store, judge, found.published)?;
        for (key, doubt) in kept {
            if let Some(doubt) = &doubt {
                told.add(doubt, true);
            }
            commit.doubts.push((key, doubt));
        }
        found.new.extend(unknown);
        for (key, depth, doubt) in found.new {
            commit.requeued.push(QueuedUrl {
                sequence: next_sequence,
                key: key.clone(),
                depth,
                hops: 0,
                earlier: None,
            });
            next_sequence += 1;
            told.add(&doubt, false);
            commit.doubts.push((key, Some(doubt)));
        }
        if commit.doubts.is_empty() {
            return Ok(());
        }
        // Only now: a page that is not put off yet must not pass for one that is.
        store.commit(&commit)
    };
    change_in_chunks(store, run, look, write)?;
    Ok(told)
}

/// Lists published pages as they were, as long as the rules of `judge` have them listed; says what is doubted of each from
/// then on. Those of which nobody knows how they were, because the state was begun anew, have to wait as new ones do.
fn keep(
    store: &mut dyn Store,
    judge: &Judge,
    pages: Vec<Published>,
) -> Result<(Vec<Noted>, Vec<New>), StoreError> {
    if pages.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let kept = pages
        .iter()
        .map(|page| (page.key.clone(), Reason::KeptNotReached));
    store.rejudge(&kept.collect::<Vec<_>>())?;
    let (mut noted, mut unknown) = (Vec::with_capacity(pages.len()), Vec::new());
    let mut decided = Vec::new();
    for page in pages {
        match before(store, judge, &page.key)? {
            Before::Listed => noted.push((page.key, Some(page.doubt))),
            Before::Excluded => {
                decided.push((page.key.clone(), page.reason));
                noted.push((page.key, None));
            }
            Before::Unknown => {
                decided.push((page.key.clone(), page.reason));
                unknown.push((page.key, page.depth, page.doubt));
            }
        }
    }
    if !decided.is_empty() {
        store.rejudge(&decided)?;
    }
    Ok((noted, unknown))
}

/// What a page that was put off comes to by what was known before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Listed,
    /// The rules of now do not have it listed.
    Excluded,
    /// Nothing was known.
    Unknown,
}

fn before(store: &dyn Store, judge: &Judge, key: &UrlKey) -> Result<Before, StoreError> {
    if store.put_off(key)?.is_none() {
        return Ok(Before::Unknown);
    }
    let Some(record) = store.page(key)? else {
        return Ok(Before::Unknown);
    };
    let (Some(good), Basis::Kept(kept)) = (&record.outcome, &record.basis) else {
        return Ok(Before::Unknown);
    };
    let earlier = Earlier {
        was_listed: true,
        failing_since: kept.failing_since(),
        gone_since: kept.gone_since,
        answer: None,
    };
    let waiting = QueuedUrl {
        sequence: 0,
        key: key.clone(),
        depth: record.depth,
        hops: 0,
        earlier: Some(Box::new(earlier)),
    };
    Ok(if judge.stays_unreached(&waiting, good) {
        Before::Listed
    } else {
        Before::Excluded
    })
}
