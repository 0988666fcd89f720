//! Taking up a run: what is known of it, and what the rules of now say of that. Works on the store
//! alone, in pieces, so that it can run where blocking is allowed.

use super::{
    moved, outage,
    recrawl::{open_start_test, was_start},
};
use crate::{
    engine::{honesty::Honesty, judge::Judge, start::last_answer},
    fetch::Validators,
    frontier::Seen,
    page::{Outcome, PageRecord, Reason, RunId, State, Via},
    robots::Rules,
    runs::{self, OpenRun},
    seeds::{self, Document, KeptDocuments, OwnFiles},
    store::{
        Commit, Discovery, EarlierAnswer, QueuedUrl, Rejudged, Store, StoreError, change_in_chunks,
    },
    url_key::UrlKey,
};

/// Name of the state's value with the fingerprint of the rules that the known URLs were judged by.
const RULES: &str = crate::store::names::RUN_RULES;

/// Name of the state's value with what robots.txt of the site said when it was read last ([`Rules::to_text`]).
const ROBOTS: &str = crate::store::names::RUN_ROBOTS;

/// Notes what robots.txt of the site says, for those who publish again without asking it.
pub(in crate::engine) fn note_robots(
    store: &mut dyn Store,
    run: RunId,
    robots: &Rules,
) -> Result<(), StoreError> {
    let (name, text) = robots_value(robots);
    if store.value(&name)? == text {
        return Ok(());
    }
    store.commit(&Commit {
        run,
        values: vec![(name, text)],
        ..Commit::default()
    })
}

/// The value that notes it.
pub(super) fn robots_value(robots: &Rules) -> (String, Option<String>) {
    (ROBOTS.to_owned(), Some(robots.to_text()))
}

/// What [`note_robots`] noted last; `None` when it never did.
pub(in crate::engine) fn noted_robots(store: &dyn Store) -> Result<Option<Rules>, StoreError> {
    Ok(store.value(ROBOTS)?.map(|text| Rules::from_text(&text)))
}

/// What a run knows when its loop begins.
#[derive(Debug, Default)]
pub(in crate::engine) struct Memory {
    pub(super) seen: Seen,
    pub(super) queued: u64,
    pub(super) failed: u64,
    pub(super) next_sequence: u64,
    pub(super) documents: Vec<Document>,
    pub(super) orphans: Seen,
    pub(super) own: OwnFiles,
    pub(super) kept: KeptDocuments,
    pub(super) honesty: Honesty,
    /// What those pages answered in earlier runs that were asked before the store was open.
    pub(super) answers: Vec<(UrlKey, EarlierAnswer)>,
    /// The test of the start page, when it was begun and not ended.
    pub(super) start_test: Option<(UrlKey, Validators)>,
    /// Starts of the run that ended because the site was down.
    pub(super) outages: u32,
    /// Whether anything may be known from before the run.
    pub(super) has_earlier: bool,
    /// Bytes of the state.
    pub(super) state_bytes: u64,
    /// Links that the run did not record so far.
    pub(super) not_recorded: u64,
}

/// Reads what run `run` knows. When the rules are not those that it was judged by, judges it again:
/// what must not be listed any more is not, and what may be fetched after all is queued. `asked` are
/// the pages that were asked already.
pub(in crate::engine) fn remember(
    store: &mut dyn Store,
    open: OpenRun,
    judge: &Judge,
    asked: &[UrlKey],
) -> Result<Memory, StoreError> {
    let run = open.number;
    let mut next_sequence = store.last_sequence()? + 1;
    let mut outages = 0;
    if open.resumed {
        wait_again(store)?;
        moved::ask_again(store, run, &mut next_sequence)?;
        outages = outage::ask_again(store, run, &mut next_sequence)?;
    }
    let rules = format!("{:016x}", judge.fingerprint());
    if store.value(RULES)?.as_ref() != Some(&rules) {
        judge_again(store, run, judge, &mut next_sequence)?;
        store.commit(&Commit {
            run,
            values: vec![(RULES.to_owned(), Some(rules))],
            ..Commit::default()
        })?;
    }
    let mut memory = Memory {
        next_sequence,
        queued: store.queue_len()?,
        documents: seeds::take_up(store, run)?,
        own: OwnFiles::load(store)?,
        kept: KeptDocuments::load(store)?,
        honesty: Honesty::load(store, run)?,
        outages,
        state_bytes: store.bytes()?,
        not_recorded: runs::not_recorded(store)?,
        // The first run knows what is published when another state published it.
        has_earlier: run > 1 || !store.left_behind(run, None, 1)?.is_empty(),
        ..Memory::default()
    };
    if open.resumed {
        memory.start_test = open_start_test(store)?;
    }
    for url in asked {
        if let Some(record) = store.page(url)?.filter(|record| record.run < run) {
            let answer = last_answer(store, url, &record)?;
            memory
                .answers
                .extend(answer.map(|facts| (url.clone(), EarlierAnswer::of(&facts))));
        }
    }
    store.visit_keys(run, &mut |key, reason| {
        memory.seen.insert(key);
        memory.failed += u64::from(reason.state() == State::Failed);
    })?;
    store.visit_orphans(&mut |key| {
        memory.orphans.insert(key);
    })?;
    Ok(memory)
}

/// URLs of the queue, or left behind, that are looked at between two writes.
const PORTION: usize = 2_048;

/// Lists the pages of earlier runs that run `run`, which ends before everything was decided, did not come to, each
/// as its last good answer had it, or as it was published where none is known; and those that redirect to what it did not
/// come to. They wait all the same: the next start goes on with them ([`remember`]).
pub(in crate::engine) fn keep_unreached(
    store: &mut dyn Store,
    run: RunId,
    judge: &Judge,
) -> Result<(), StoreError> {
    let mut next_sequence = store.last_sequence()? + 1;
    let mut after = None;
    loop {
        let portion = store.left_behind(run, after.as_ref(), PORTION)?;
        let Some((last, _)) = portion.last() else {
            break;
        };
        after = Some(last.clone());
        let mut discovered = Vec::with_capacity(portion.len());
        for (key, depth) in portion {
            let Some(reason) = judge.before_fetch(&key, depth) else {
                continue;
            };
            // A crawl that comes to its end decides whether anything else leads to an earlier start.
            let via = if was_start(store, &key)? {
                Via::Start
            } else {
                Via::Earlier
            };
            discovered.push(Discovery {
                key,
                sequence: next_sequence,
                depth,
                hops: 0,
                via,
                found_on: None,
                reason,
            });
            next_sequence += 1;
        }
        store.commit(&Commit {
            run,
            discovered,
            ..Commit::default()
        })?;
    }
    rejudge_queue(store, |store, waiting| {
        let good = store.earlier_facts(&waiting.key)?;
        let good = good.map_or(Outcome::PUBLISHED, |facts| {
            Outcome::Answered(Box::new(facts))
        });
        let stays = judge.stays_unreached(waiting, &good);
        Ok(stays.then_some(Reason::KeptNotReached))
    })?;
    moved::put_off(store, run, judge)
}

/// Judges what run `run` knows by the rules of now, without asking anybody: what robots.txt said of a URL stays said.
/// Says how many URLs would have to be fetched for a verdict; they stay as they are. The next crawl judges again.
pub(in crate::engine) fn judge_stored(
    store: &mut dyn Store,
    run: RunId,
    judge: &Judge,
) -> Result<u64, StoreError> {
    let mut unfetched = 0;
    let look = |_: &dyn Store, key: &UrlKey, record: PageRecord, _, judged: &mut Vec<Rejudged>| {
        let is_open = match record.reason {
            Reason::Queued | Reason::RobotsDisallowed | Reason::RobotsUnreachable => false,
            reason => reason != Reason::SeedDocument,
        };
        if !is_open {
            return Ok(());
        }
        let reason = judge.again(key, &record);
        if reason == Reason::Queued {
            unfetched += 1;
        } else if reason != record.reason {
            judged.push((key.clone(), reason));
        }
        Ok(())
    };
    change_in_chunks(store, run, look, |store, judged: Vec<Rejudged>| {
        if judged.is_empty() {
            return Ok(());
        }
        store.rejudge(&judged)
    })?;
    store.commit(&Commit {
        run,
        values: vec![(RULES.to_owned(), None)],
        ..Commit::default()
    })?;
    Ok(unfetched)
}

/// Undoes [`keep_unreached`]: what waits is not decided.
fn wait_again(store: &mut dyn Store) -> Result<(), StoreError> {
    rejudge_queue(store, |_, waiting| {
        let was_listed = waiting
            .earlier
            .as_ref()
            .is_some_and(|known| known.was_listed);
        Ok(was_listed.then_some(Reason::Queued))
    })
}

/// Gives URLs of the queue another verdict, and leaves them there.
fn rejudge_queue(
    store: &mut dyn Store,
    judge: impl Fn(&dyn Store, &QueuedUrl) -> Result<Option<Reason>, StoreError>,
) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let portion = store.queued(after, PORTION)?;
        let Some(last) = portion.last() else {
            return Ok(());
        };
        after = Some(last.sequence);
        let mut rejudged: Vec<Rejudged> = Vec::new();
        for waiting in portion {
            let reason = judge(store, &waiting)?;
            rejudged.extend(reason.map(|reason| (waiting.key, reason)));
        }
        if !rejudged.is_empty() {
            store.rejudge(&rejudged)?;
        }
    }
}

/// What some records came to.
#[derive(Default)]
struct Judged {
    rejudged: Vec<Rejudged>,
    requeued: Vec<QueuedUrl>,
}

fn judge_again(
    store: &mut dyn Store,
    run: RunId,
    judge: &Judge,
    next_sequence: &mut u64,
) -> Result<(), StoreError> {
    let look = |_: &dyn Store, key: &UrlKey, record: PageRecord, _, judged: &mut Judged| {
        if record.reason == Reason::Queued {
            return Ok(());
        }
        let reason = judge.again(key, &record);
        if reason == Reason::Queued {
            judged.requeued.push(QueuedUrl {
                sequence: *next_sequence,
                key: key.clone(),
                depth: record.depth,
                hops: 0,
                earlier: None,
            });
            *next_sequence += 1;
        } else if reason != record.reason {
            judged.rejudged.push((key.clone(), reason));
        }
        Ok(())
    };
    change_in_chunks(store, run, look, |store, judged| {
        if !judged.rejudged.is_empty() {
            store.rejudge(&judged.rejudged)?;
        }
        if judged.requeued.is_empty() {
            return Ok(());
        }
        store.commit(&Commit {
            run,
            requeued: judged.requeued,
            ..Commit::default()
        })
    })
}
