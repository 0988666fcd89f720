//! What every store must do, whatever it keeps its contents in. Each implementation runs all of it
//! with [`conformance_tests`]; a new one is done when it passes. The random part compares a store
//! with the one in memory, which is simple enough to be believed.

mod arbitrary;
pub(super) mod doubt;
pub(super) mod earlier;
pub(super) mod found;
pub(super) mod given;
pub(super) mod kept;
pub(super) mod model;
pub(super) mod outbox;
pub(super) mod put_off;
pub(super) mod records;
pub(super) mod undo;
pub(super) mod waiting;
pub(super) mod walks;

use std::ops::ControlFlow;

use jiff::Timestamp;

use crate::{
    page::{Basis, Outcome, PageFacts, PageRecord, Reason, RunId, Via},
    store::{
        Commit, Discovery, Finished, QueuedUrl, Store,
        outbox::{OutboxStep, Tell},
    },
    url_key::UrlKey,
};

/// A store under test, which can be closed and opened again.
pub(super) trait Bench {
    /// An empty store.
    fn new() -> Self;
    /// The store.
    fn store(&mut self) -> &mut dyn Store;
    /// Closes the store and opens it again.
    fn reopen(&mut self);
    /// Opens what a process killed now would leave behind.
    fn crash(&mut self);
}

/// Makes one test of each check, for the bench of one store.
macro_rules! conformance_tests {
    ($bench:ty) => {
        $crate::store::conformance::conformance_tests! { $bench:
            found:
                a_discovered_url_is_put_once
                a_smaller_depth_is_kept
                a_verdict_without_a_request_does_not_wait
                a_url_of_an_earlier_run_is_put_again
                an_answer_of_an_earlier_run_stays_until_the_work_ends
                a_discovery_of_an_older_run_changes_nothing
                an_orphan_is_one_until_a_page_leads_to_it
                a_new_run_has_no_orphans;
            earlier:
                the_queue_tells_what_was_known_before
                what_failed_is_remembered_until_a_good_answer
                an_abandoned_run_forgets_nothing
                what_was_listed_and_is_not_found_is_left_behind
                confirmed_answers_are_found_until_they_are_asked_again
                what_is_not_published_is_forgotten_by_the_next_run
                of_what_was_never_published_nothing_stays;
            waiting:
                a_finished_url_leaves_the_queue
                a_requeued_url_waits_again
                a_url_that_waits_or_is_unknown_is_not_requeued
                what_says_the_same_again_before_it_is_published_was_not_listed
                a_new_run_has_an_empty_queue_and_keeps_the_records
                the_last_sequence_outlives_the_queue
                the_queue_comes_in_pages;
            records:
                a_finished_record_replaces_what_was_known
                a_finished_record_keeps_a_smaller_depth_of_its_run
                links_stay_until_new_ones_come
                links_in_the_facts_are_not_part_of_the_record
                a_changed_verdict_leaves_the_facts
                values_are_set_and_removed
                a_refused_commit_leaves_nothing_behind
                a_crash_keeps_every_commit
                what_no_run_found_lately_is_forgotten_unless_it_is_listed
                the_ledger_forgets_what_is_unknown_and_was_not_seen_lately;
            walks:
                pages_come_in_key_order_from_the_one_asked_for
                the_walk_over_pages_can_be_stopped
                a_visitor_may_read_the_store
                pages_come_with_their_ledger_entries
                keys_and_counts_are_those_of_the_run
                the_ledger_comes_in_key_order;
            given:
                a_given_url_is_finished_work_of_its_run
                of_several_the_best_counts_whatever_the_order
                what_this_run_knows_already_stays
                nothing_stays_of_what_was_given_up;
            kept:
                a_kept_document_comes_back_until_it_is_dropped
                a_kept_document_outlives_its_run
                a_refused_commit_keeps_the_older_copy;
            outbox:
                what_is_staged_counts_when_it_is_taken
                until_engines_are_told_only_the_newest_wait
                later_news_replace_earlier_ones
                a_told_url_leaves_and_rests
                a_refused_commit_takes_nothing;
            put_off:
                a_listed_page_that_is_put_off_counts_by_what_was_known
                what_was_put_off_is_asked_again_as_if_it_had_not_been
                what_was_listed_before_the_first_run_outlives_refused_ones;
            doubt:
                a_doubt_outlives_its_run_until_it_is_forgotten
                a_doubt_is_forgotten_with_its_page;
            undo:
                a_set_is_taken_back_as_if_it_had_been_refused
                what_runs_found_is_forgotten_and_the_ledger_stays
                what_was_taken_back_can_be_published_all_the_same
                one_of_several_sets_is_gone_back_to
                a_run_that_goes_on_is_taken_back_to_where_it_was_published
                behind_what_is_forgotten_nobody_goes_back
                of_sets_of_another_store_no_record_stays
                a_page_has_the_date_of_what_it_says_after_a_step_back
                what_is_remembered_of_the_published_set_comes_back;
            model:
                every_record_comes_back_as_it_was
                the_store_does_what_its_model_does;
        }
    };
    ($bench:ty: $($topic:ident: $($check:ident)*;)*) => {
        $($(
            #[test]
            fn $check() {
                $crate::store::conformance::$topic::$check::<$bench>();
            }
        )*)*
    };
}
pub(super) use conformance_tests;

/// A key by its text.
pub(super) fn key(text: &str) -> UrlKey {
    UrlKey::from_normalised(text).unwrap()
}

/// A discovery of `path` on example.com that will be fetched.
pub(super) fn discovery(path: &str, sequence: u64) -> Discovery {
    Discovery {
        key: key(&format!("https://example.com{path}")),
        sequence,
        depth: 1,
        hops: 0,
        via: Via::Link,
        found_on: Some(key("https://example.com/")),
        reason: Reason::Queued,
    }
}

/// An answered record.
pub(super) fn record(run: RunId, reason: Reason) -> PageRecord {
    let facts = PageFacts {
        status: 200,
        etag: Some(format!("\"{run}\"")),
        title: Some(format!("in run {run}")),
        ..PageFacts::default()
    };
    PageRecord {
        run,
        reason,
        depth: 1,
        via: Via::Link,
        found_on: Some(key("https://example.com/")),
        attempts: 1,
        fetched_at: Some("2026-05-01T10:00:00.25Z".parse().unwrap()),
        sitemap_lastmod: None,
        outcome: Some(Outcome::Answered(Box::new(facts))),
        basis: Basis::Own,
    }
}

/// The end of the work on `discovery`.
pub(super) fn finished(discovery: &Discovery, record: PageRecord) -> Finished {
    Finished {
        key: discovery.key.clone(),
        sequence: discovery.sequence,
        record,
        links: None,
    }
}

/// What a publish that tells nobody ends with.
const TAKE: OutboxStep = OutboxStep::Take {
    since: Timestamp::UNIX_EPOCH,
    tell: Tell::Nobody,
};

/// Takes these steps, in one commit.
fn steps(store: &mut dyn Store, run: RunId, outbox: Vec<OutboxStep>) {
    store
        .commit(&Commit {
            run,
            outbox,
            ..Commit::default()
        })
        .unwrap();
}

/// Marks the set of run `run` as published.
fn publish(store: &mut dyn Store, run: RunId) {
    steps(store, run, vec![TAKE]);
}

fn discover(store: &mut dyn Store, run: RunId, discovered: &[Discovery]) {
    store
        .commit(&Commit {
            run,
            discovered: discovered.to_vec(),
            ..Commit::default()
        })
        .unwrap();
}

fn finish(store: &mut dyn Store, run: RunId, finished: Finished) {
    store
        .commit(&Commit {
            run,
            finished: vec![finished],
            ..Commit::default()
        })
        .unwrap();
}

fn requeue(store: &mut dyn Store, run: RunId, discovery: &Discovery, sequence: u64, depth: u32) {
    let requeued = vec![QueuedUrl {
        sequence,
        key: discovery.key.clone(),
        depth,
        hops: 3,
        earlier: None,
    }];
    store
        .commit(&Commit {
            run,
            requeued,
            ..Commit::default()
        })
        .unwrap();
}

fn page(store: &dyn Store, discovery: &Discovery) -> PageRecord {
    store
        .page(&discovery.key)
        .unwrap()
        .expect("the URL is known")
}

fn queue(store: &dyn Store) -> Vec<(u64, UrlKey)> {
    let queued = store.queued(None, usize::MAX).unwrap();
    assert_eq!(store.queue_len().unwrap(), queued.len() as u64);
    queued
        .into_iter()
        .map(|queued| (queued.sequence, queued.key))
        .collect()
}

fn walk(store: &dyn Store, run: RunId, from: Option<&UrlKey>) -> Vec<UrlKey> {
    let mut keys = Vec::new();
    store
        .visit_pages(run, from, &mut |key, record| {
            assert_eq!(record.run, run);
            keys.push(key.clone());
            ControlFlow::Continue(())
        })
        .unwrap();
    keys
}
