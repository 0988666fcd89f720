//! Random records and random work for a store: few URLs and few runs, so that everything meets
//! everything, and sequence numbers that are unique, as the contract demands.

use std::ops::RangeInclusive;

use jiff::Timestamp;
use proptest::{
    collection::{btree_map, vec},
    option,
    prelude::*,
    sample::select,
};

use super::key;
use crate::{
    page::{
        BodyEnd, BodyKind, Canonical, ContentHash, Directives, LanguageVersion, Outcome, PageFacts,
        PageRecord, Reason, Refresh, RunId, Via, Warnings,
    },
    store::{Commit, Discovery, Finished, LedgerEntry, QueuedUrl, Rejudged},
    url_key::UrlKey,
};

/// The runs that random work belongs to.
pub(super) const RUNS: RangeInclusive<RunId> = 1..=3;

/// The names of random values.
pub(super) const NAMES: [&str; 2] = ["run-state", "site"];

/// One thing done to a store.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Commit(Commit),
    BeginRun(RunId),
    Rejudge(Vec<Rejudged>),
    SetLedger(Vec<(UrlKey, LedgerEntry)>),
    Reopen,
    Crash,
}

/// The URLs of random work, of several origins.
pub(super) fn keys() -> Vec<UrlKey> {
    [
        "http://example.com/",
        "https://example.com/",
        "https://example.com/a",
        "https://example.com/a-b",
        "https://example.com/a/b?c=/d",
        "https://example.com//",
        "https://example.com.au/",
        "https://example.com:8443/a",
    ]
    .map(key)
    .to_vec()
}

/// Work on a store, with unique sequence numbers that grow.
pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => commit().prop_map(Step::Commit),
        1 => RUNS.prop_map(Step::BeginRun),
        1 => vec((select(keys()), reason()), 0..4).prop_map(Step::Rejudge),
        1 => vec((select(keys()), ledger_entry()), 0..4).prop_map(Step::SetLedger),
        1 => Just(Step::Reopen),
        1 => Just(Step::Crash),
    ];
    vec(step, 1..20).prop_map(number)
}

/// Gives each discovery and each requeued URL a sequence number of its own. Those of finished URLs
/// stay random: they hit and miss what was given.
fn number(mut steps: Vec<Step>) -> Vec<Step> {
    let mut last = 0;
    for step in &mut steps {
        if let Step::Commit(commit) = step {
            let discovered = commit
                .discovered
                .iter_mut()
                .map(|discovery| &mut discovery.sequence);
            let requeued = commit
                .requeued
                .iter_mut()
                .map(|queued| &mut queued.sequence);
            for sequence in discovered.chain(requeued) {
                last += 1;
                *sequence = last;
            }
        }
    }
    steps
}

fn commit() -> impl Strategy<Value = Commit> {
    let values = vec(
        (
            select(NAMES.map(str::to_owned).to_vec()),
            option::of(".{0,8}"),
        ),
        0..3,
    );
    (
        RUNS,
        vec(discovery(), 0..6),
        vec(finished(), 0..4),
        vec(queued(), 0..2),
        values,
    )
        .prop_map(|(run, discovered, mut finished, requeued, values)| {
            for finished in &mut finished {
                finished.record.run = run;
            }
            Commit {
                run,
                discovered,
                finished,
                requeued,
                values,
            }
        })
}

fn discovery() -> impl Strategy<Value = Discovery> {
    let reason = prop_oneof![3 => Just(Reason::Queued), 1 => reason()];
    (
        select(keys()),
        0..4_u32,
        any::<u8>(),
        via(),
        option::of(select(keys())),
        reason,
    )
        .prop_map(|(key, depth, hops, via, found_on, reason)| Discovery {
            key,
            sequence: 0,
            depth,
            hops,
            via,
            found_on,
            reason,
        })
}

fn finished() -> impl Strategy<Value = Finished> {
    (select(keys()), 0..20_u64, record(), links()).prop_map(|(key, sequence, record, links)| {
        Finished {
            key,
            sequence,
            record,
            links,
        }
    })
}

fn queued() -> impl Strategy<Value = QueuedUrl> {
    (select(keys()), 0..4_u32, any::<u8>()).prop_map(|(key, depth, hops)| QueuedUrl {
        sequence: 0,
        key,
        depth,
        hops,
    })
}

fn ledger_entry() -> impl Strategy<Value = LedgerEntry> {
    (
        any::<u128>(),
        any::<u32>(),
        option::of(".{0,25}"),
        any::<Option<i64>>(),
    )
        .prop_map(
            |(content_hash, hash_version, lastmod, last_modified_seconds)| LedgerEntry {
                content_hash,
                hash_version,
                lastmod,
                last_modified_seconds,
            },
        )
}

/// The links of a page.
pub(super) fn links() -> impl Strategy<Value = Option<Vec<UrlKey>>> {
    option::of(vec(url(), 0..8))
}

/// A record with any outcome.
pub(super) fn record() -> impl Strategy<Value = PageRecord> {
    let depth = prop_oneof![0..4_u32, any::<u32>()];
    let found = (RUNS, reason(), depth, via(), option::of(url()));
    (found, any::<u32>(), option::of(time()), outcome()).prop_map(
        |((run, reason, depth, via, found_on), attempts, fetched_at, outcome)| PageRecord {
            run,
            reason,
            depth,
            via,
            found_on,
            attempts,
            fetched_at,
            outcome,
        },
    )
}

fn outcome() -> impl Strategy<Value = Option<Outcome>> {
    prop_oneof![
        1 => Just(None),
        1 => reason().prop_map(|reason| Some(Outcome::NotFetched(reason))),
        1 => any::<String>().prop_map(|error| Some(Outcome::NoAnswer { error })),
        5 => facts().prop_map(|facts| Some(Outcome::Answered(Box::new(facts)))),
    ]
}

fn facts() -> impl Strategy<Value = PageFacts> {
    let body = (
        any::<u16>(),
        text(),
        kind(),
        end(),
        0..=u64::MAX >> 1,
        option::of(any::<u128>()),
    );
    let times = (option::of(time()), option::of(time()), text());
    let said = (
        directives(),
        canonical(),
        option::of(refresh()),
        option::of(url()),
    );
    let rules = (text(), any::<bool>(), warnings(), text());
    let extensions = (
        option::of(vec(url(), 0..4)),
        option::of(vec(version(), 0..4)),
        btree_map("[a-z:]{1,8}", "\\PC{0,8}", 0..3),
    );
    (body, times, said, rules, extensions).prop_map(|(body, times, said, rules, extensions)| {
        let (images, alternates, selected_values) = extensions;
        let (status, content_type, kind, end, body_bytes, hash) = body;
        let (last_modified, date, etag) = times;
        let (directives, canonical, refresh, location) = said;
        let (selected_lastmod, excluded_by_page_rule, warnings, title) = rules;
        PageFacts {
            status,
            content_type,
            kind,
            end,
            body_bytes,
            content_hash: hash.map(ContentHash),
            last_modified,
            date,
            etag,
            directives,
            canonical,
            refresh,
            location,
            selected_lastmod,
            excluded_by_page_rule,
            links: Vec::new(),
            images,
            alternates,
            selected_values,
            warnings,
            title,
        }
    })
}

fn reason() -> impl Strategy<Value = Reason> {
    select(Reason::ALL)
}

fn via() -> impl Strategy<Value = Via> {
    select(vec![
        Via::Start,
        Via::Link,
        Via::Redirect,
        Via::Refresh,
        Via::Canonical,
        Via::Alternate,
    ])
}

fn version() -> impl Strategy<Value = LanguageVersion> {
    (any::<String>(), url()).prop_map(|(code, target)| LanguageVersion::new(&code, target))
}

fn text() -> impl Strategy<Value = Option<String>> {
    option::of(any::<String>())
}

fn url() -> impl Strategy<Value = UrlKey> {
    prop_oneof![
        select(keys()),
        "https?://[a-z]{1,8}\\.example(:8[0-9]{3})?/[!-~&&[^#]]{0,40}".prop_map(|text| key(&text)),
    ]
}

/// Any time, with and without a fraction of a second.
fn time() -> impl Strategy<Value = Timestamp> {
    let seconds = Timestamp::MIN.as_second() + 1..Timestamp::MAX.as_second();
    let nanoseconds = prop_oneof![Just(0), 0..1_000_000_000, Just(999_999_999)];
    (seconds, nanoseconds)
        .prop_map(|(seconds, nanoseconds)| Timestamp::new(seconds, nanoseconds).unwrap())
}

fn kind() -> impl Strategy<Value = BodyKind> {
    select(vec![BodyKind::Page, BodyKind::Document, BodyKind::Other])
}

fn end() -> impl Strategy<Value = BodyEnd> {
    prop_oneof![
        select(vec![
            BodyEnd::Complete,
            BodyEnd::Skipped,
            BodyEnd::TooLarge,
            BodyEnd::CutShort
        ]),
        any::<String>().prop_map(BodyEnd::Undecodable),
    ]
}

fn directives() -> impl Strategy<Value = Directives> {
    (any::<[bool; 3]>(), option::of(time())).prop_map(
        |([noindex, nofollow, noimageindex], unavailable_after)| Directives {
            noindex,
            nofollow,
            unavailable_after,
            noimageindex,
        },
    )
}

fn canonical() -> impl Strategy<Value = Canonical> {
    prop_oneof![
        select(vec![
            Canonical::Absent,
            Canonical::Itself,
            Canonical::Conflicting
        ]),
        url().prop_map(Canonical::Other),
    ]
}

fn refresh() -> impl Strategy<Value = Refresh> {
    (any::<u32>(), url()).prop_map(|(delay_seconds, target)| Refresh {
        delay_seconds,
        target,
    })
}

fn warnings() -> impl Strategy<Value = Warnings> {
    any::<[bool; 12]>().prop_map(
        |[
            links_cut,
            script_shell,
            soft_404,
            bad_canonical,
            sniffed,
            parse_cut,
            page_rule_skipped,
            bad_unavailable_after,
            conflicting_canonicals,
            images_cut,
            alternates_cut,
            long_selected_value,
        ]| Warnings {
            links_cut,
            script_shell,
            soft_404,
            bad_canonical,
            conflicting_canonicals,
            sniffed,
            parse_cut,
            page_rule_skipped,
            bad_unavailable_after,
            images_cut,
            alternates_cut,
            long_selected_value,
        },
    )
}
