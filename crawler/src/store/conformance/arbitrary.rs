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
use sitemap_core::{
    ChangeFreq, LastMod, Loc, Priority,
    extension::{Element, Extension, Extensions},
};

use super::key;
use crate::{
    page::{
        Basis, BodyEnd, BodyKind, Canonical, ContentHash, DateSource, Directives, Given, Kept,
        LanguageVersion, Outcome, PageFacts, PageRecord, Reason, Refresh, RunId, SitemapDate,
        StatedDates, Via, Warnings,
    },
    store::{
        Commit, Discovery, Doubt, Finished, Forgotten, GivenUrl, KeptDocument, LedgerDates,
        LedgerEntry, QueuedUrl, Rejudged,
        outbox::{ContentMark, Difference, Listing, OutboxStep, Tell, UrlChange, Waiting},
        undo::UndoStep,
    },
    url_key::UrlKey,
};

/// The runs that random work belongs to.
pub(super) const RUNS: RangeInclusive<RunId> = 1..=3;

/// The names of random values.
pub(super) const NAMES: [&str; 2] = ["run-state", "site"];

/// What random news are a little older or younger than.
pub(super) const NOW: Timestamp = Timestamp::constant(1_772_366_400, 0);

/// One thing done to a store.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Commit(Box<Commit>),
    BeginRun(RunId),
    Rejudge(Vec<Rejudged>),
    SetLedger(Vec<(UrlKey, LedgerEntry)>),
    Give(RunId, Vec<GivenUrl>),
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
        12 => commit().prop_map(|commit| Step::Commit(Box::new(commit))),
        1 => RUNS.prop_map(Step::BeginRun),
        1 => vec((select(keys()), reason()), 0..4).prop_map(Step::Rejudge),
        1 => vec((select(keys()), Just(Reason::KeptNotReached)), 0..4).prop_map(Step::Rejudge),
        1 => vec((select(keys()), ledger_entry()), 0..4).prop_map(Step::SetLedger),
        1 => (RUNS, vec(given_url(), 0..6)).prop_map(|(run, urls)| Step::Give(run, urls)),
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
        vec(select(keys()), 0..2),
        vec((select(keys()), sitemap_date()), 0..3),
        vec((select(keys()), option::of(kept())), 0..2),
        values,
        (
            vec(outbox_step(), 0..3),
            option::weighted(0.2, forgotten()),
            vec((select(keys()), option::of(doubt())), 0..2),
        ),
    )
        .prop_map(
            |(run, discovered, mut finished, requeued, linked, dated, kept, values, rest)| {
                let (outbox, forgotten, doubts) = rest;
                for finished in &mut finished {
                    finished.record.run = run;
                }
                Commit {
                    run,
                    discovered,
                    finished,
                    requeued,
                    linked,
                    dated,
                    kept,
                    doubts,
                    values,
                    outbox,
                    forgotten,
                }
            },
        )
}

fn doubt() -> impl Strategy<Value = Doubt> {
    (RUNS, time(), any::<u64>(), any::<String>(), any::<u32>()).prop_map(
        |(run, at, key, example, times)| Doubt {
            run,
            at,
            sign: "content".to_owned(),
            key,
            example,
            times,
        },
    )
}

fn forgotten() -> impl Strategy<Value = Forgotten> {
    (RUNS, any::<i32>()).prop_map(|(before, seconds)| Forgotten {
        before,
        seen_before: Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(i64::from(seconds)),
    })
}

/// A time of one hour, so that what was told is recent, or was.
fn recent() -> impl Strategy<Value = Timestamp> {
    (0..3_600_000_i64).prop_map(|millis| NOW + jiff::SignedDuration::from_millis(millis))
}

fn change() -> impl Strategy<Value = UrlChange> {
    select(vec![
        UrlChange::Added,
        UrlChange::Changed,
        UrlChange::Removed,
    ])
}

fn listing() -> impl Strategy<Value = Listing> {
    let content = (any::<u32>(), any::<u64>());
    let content = content.prop_map(|(version, hash)| ContentMark { version, hash });
    (option::of(".{0,8}"), option::of(content))
        .prop_map(|(lastmod, content)| Listing { lastmod, content })
}

fn undo_step() -> impl Strategy<Value = UndoStep> {
    prop_oneof![
        1 => Just(UndoStep::Disown),
        1 => Just(UndoStep::ForgetRuns),
        2 => (1..6_u64).prop_map(UndoStep::KeepBefore),
        1 => (0..6_u64).prop_map(UndoStep::ForgetBefore),
        1 => (0..6_u64, option::of(0..6_u64)).prop_map(|(to, run)| UndoStep::StepBack { to, run }),
    ]
}

fn outbox_step() -> impl Strategy<Value = OutboxStep> {
    let difference = (select(keys()), option::of(change()), option::of(listing()));
    let difference = difference.prop_map(|(key, change, listing)| Difference {
        key,
        change,
        listing,
    });
    let waiting = (select(keys()), change(), recent(), 0..3_u32);
    let waiting = waiting.prop_map(|(key, change, since, tries)| Waiting {
        key,
        change,
        since,
        tries,
    });
    prop_oneof![
        4 => vec(difference, 0..5).prop_map(OutboxStep::Stage),
        1 => Just(OutboxStep::Unstage),
        3 => (recent(), select(vec![Tell::Nobody, Tell::Newest, Tell::All]))
            .prop_map(|(since, tell)| OutboxStep::Take { since, tell }),
        1 => Just(OutboxStep::Forget),
        5 => undo_step().prop_map(OutboxStep::Undo),
        1 => recent().prop_map(|since| OutboxStep::TellAll { since }),
        1 => vec(waiting, 0..4).prop_map(OutboxStep::Put),
        2 => (vec(select(keys()), 0..4), recent())
            .prop_map(|(urls, at)| OutboxStep::Told { urls, at }),
        1 => vec(select(keys()), 0..4).prop_map(OutboxStep::Tried),
        1 => vec(select(keys()), 0..4).prop_map(OutboxStep::GiveUp),
    ]
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
        earlier: None,
    })
}

fn kept() -> impl Strategy<Value = KeptDocument> {
    (".{0,25}", time(), "[0-9a-f]{64}", vec(any::<u8>(), 0..40)).prop_map(
        |(lastmod, read_at, sha256, body)| KeptDocument {
            lastmod,
            read_at,
            sha256,
            body,
        },
    )
}

fn ledger_entry() -> impl Strategy<Value = LedgerEntry> {
    let date = || option::of(".{0,25}");
    let content = (any::<u128>(), any::<u32>(), date(), any::<Option<i64>>());
    let times = (
        option::of(select(DateSource::ALL.to_vec())),
        any::<Option<i64>>(),
        any::<Option<i64>>(),
    );
    (content, times, (date(), date(), date(), date())).prop_map(
        |(
            (content_hash, hash_version, lastmod, last_modified_seconds),
            (source, since_seconds, seen_seconds),
            (json_ld, meta, sitemap, time_element),
        )| LedgerEntry {
            content_hash,
            hash_version,
            lastmod,
            last_modified_seconds,
            source,
            since_seconds,
            seen_seconds,
            stated: LedgerDates {
                json_ld,
                meta,
                sitemap,
                time_element,
            },
        },
    )
}

fn sitemap_date() -> impl Strategy<Value = SitemapDate> {
    (".{0,25}", any::<bool>()).prop_map(|(lastmod, is_of_file)| SitemapDate {
        lastmod,
        is_of_file,
    })
}

/// The links of a page.
pub(super) fn links() -> impl Strategy<Value = Option<Vec<UrlKey>>> {
    option::of(vec(url(), 0..8))
}

/// A record with any outcome.
pub(super) fn record() -> impl Strategy<Value = PageRecord> {
    let depth = prop_oneof![0..4_u32, any::<u32>()];
    let found = (RUNS, reason(), depth, via(), option::of(url()));
    let seen = (option::of(time()), option::of(sitemap_date()));
    (found, any::<u32>(), seen, outcome_with_basis()).prop_map(
        |(
            (run, reason, depth, via, found_on),
            attempts,
            (fetched_at, sitemap_lastmod),
            (outcome, basis),
        )| PageRecord {
            run,
            reason,
            depth,
            via,
            found_on,
            attempts,
            fetched_at,
            sitemap_lastmod,
            outcome,
            basis,
        },
    )
}

/// Only an answer can be an earlier one; and a page that is only known from the published set can be kept.
fn outcome_with_basis() -> impl Strategy<Value = (Option<Outcome>, Basis)> {
    (outcome(), basis()).prop_map(|(outcome, basis)| match outcome {
        Some(Outcome::Answered(_)) => (outcome, basis),
        Some(Outcome::NotFetched(Reason::KeptNotReached)) if basis != Basis::Confirmed => {
            (outcome, basis)
        }
        outcome => (outcome, Basis::Own),
    })
}

fn basis() -> impl Strategy<Value = Basis> {
    let kept = (reason(), time(), option::of(time()), any::<String>());
    prop_oneof![
        2 => Just(Basis::Own),
        1 => Just(Basis::Confirmed),
        1 => kept.prop_map(|(reason, since, gone_since, error)| Basis::Kept(Kept {
            reason,
            since,
            gone_since,
            error,
        })),
    ]
}

fn outcome() -> impl Strategy<Value = Option<Outcome>> {
    prop_oneof![
        1 => Just(None),
        1 => reason().prop_map(|reason| Some(Outcome::NotFetched(reason))),
        1 => Just(Some(Outcome::PUBLISHED)),
        1 => any::<String>().prop_map(|error| Some(Outcome::NoAnswer { error })),
        1 => given().prop_map(|given| Some(Outcome::Given(Box::new(given)))),
        5 => facts().prop_map(|facts| Some(Outcome::Answered(Box::new(facts)))),
    ]
}

pub(super) fn given() -> impl Strategy<Value = Given> {
    let dates = [
        "2026-02-07",
        "2026-02-07T23:59:59Z",
        "2026-02-07T10:00:00.5+02:00",
    ];
    let lastmod = select(dates.map(|date| LastMod::parse(date).unwrap()).to_vec());
    (
        option::of(lastmod),
        option::of(select(ChangeFreq::ALL.to_vec())),
        option::of(0..=10_u8),
        extensions(),
        btree_map("[a-z]{1,3}", any::<String>(), 0..3),
    )
        .prop_map(|(lastmod, changefreq, tenths, extensions, fields)| Given {
            lastmod,
            changefreq,
            priority: tenths.map(|tenths| Priority::from_tenths(tenths).unwrap()),
            extensions,
            fields,
        })
}

/// Extensions with texts that a stored form has to escape. What each kind comes to as text has its own
/// tests.
fn extensions() -> impl Strategy<Value = Extensions> {
    let title = option::of("[ -~]{0,8}[\"&<\\\\é]");
    (0..3_usize, title).prop_map(|(images, title)| {
        let mut extensions = Extensions::default();
        for number in 0..images {
            let loc = Loc::parse(&format!("https://cdn.example/?a=1&b={number}")).unwrap();
            extensions.add(Element::image(&loc)).unwrap();
        }
        if let Some(title) = title {
            let values = [
                ("name", "x"),
                ("language", "en"),
                ("publication_date", "2026-02-07"),
                ("title", title.as_str()),
            ];
            let news = Element::of(Extension::News, values).unwrap();
            extensions.add(news).unwrap();
        }
        extensions
    })
}

fn given_url() -> impl Strategy<Value = GivenUrl> {
    // The reason of a URL is that of its key.
    (select(keys()), given()).prop_map(|(key, given)| GivenUrl {
        reason: if key.path() == "/" {
            Reason::Given
        } else {
            Reason::ExcludedByRule
        },
        key,
        given,
    })
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
    let dates = (option::of(any::<u128>()), (text(), text(), text(), text()));
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
        (
            vec(url(), 0..3),
            any::<bool>(),
            any::<u64>(),
            option::of(any::<u64>()),
        ),
    );
    let all = (body, times, said, rules, extensions, dates);
    all.prop_map(|(body, times, said, rules, extensions, dates)| {
        let (body_hash, (json_ld, meta, time_element, published)) = dates;
        let (images, alternates, selected_values, read) = extensions;
        let (feeds, robots_by_header, read_as, likeness) = read;
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
            body_hash,
            likeness,
            dates: StatedDates {
                json_ld,
                meta,
                time_element,
                published,
            },
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
            links_left_out: 0,
            images,
            alternates,
            selected_values,
            feeds,
            warnings,
            title,
            robots_by_header,
            read_as,
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
        Via::Input,
        Via::File,
        Via::Sitemap,
        Via::Feed,
        Via::List,
        Via::Earlier,
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
    any::<[bool; 13]>().prop_map(
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
            password_field,
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
            password_field,
        },
    )
}
