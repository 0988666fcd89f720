//! Random records, visits and pages: each comes back as it was written.

use std::time::Duration;

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

use super::*;
use crate::page::{
    BodyEnd, BodyKind, Canonical, ContentHash, DateSource, Directives, Kept, LanguageVersion,
    LedgerDates, LedgerEntry, LinkTexts, Refresh, RenderedContent, SitemapDate, StatedDates,
    StatedElement, Supplied, TakenLinks, TextBlock, Warnings,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_record_comes_back_as_it_was(
        record in record(),
        links in option::of(vec(url(), 0..8)),
        page in page(),
        promotion in promotion(),
    ) {
        let mut store = Store::in_memory().unwrap();
        let key = keys().remove(4);
        let (mut record, mut page) = (record, page);
        let blocks = without_blocks(&mut record);
        without_blocks(&mut page.record);
        let visit = Visit {
            promotion: Some(promotion.clone()),
            ..Visit::finished(7, record, Reading::default())
        };
        let finished = Finished {
            links: links.clone().map(TakenLinks::from),
            ..finished(&queued_at(7, key.clone()), with_blocks(visit.record.clone(), &blocks))
        };
        commit(&mut store, |commit| commit.finished = vec![finished]);
        let row = PageRow {
            key: key.clone(),
            page: page.clone(),
            links: PageLinks::OfVisit,
            promotion: Some(promotion),
        };
        commit(&mut store, |commit| commit.pages = vec![row]);
        prop_assert_eq!(store.visit(&key), Some(visit.clone()));
        prop_assert_eq!(store.page(&key), Some(page.clone()));
        prop_assert_eq!(links_of(&store, &key), links.clone());
        prop_assert_eq!(&store.lists(&key, ListsOf::Page).unwrap().blocks, &blocks);
        prop_assert_eq!(rows(&store, None), [(key.clone(), Some(page), Some(visit))]);
        commit(&mut store, |commit| commit.clears_visits = true);
        prop_assert_eq!(store.visit(&key), None);
        prop_assert_eq!(links_of(&store, &key), links);
    }
}

/// Takes the blocks of text of a record, which its row does not have.
fn without_blocks(record: &mut PageRecord) -> Vec<TextBlock> {
    match &mut record.outcome {
        Some(Outcome::Answered(facts)) => {
            let text = facts.text.as_mut();
            text.map_or_else(Vec::new, |text| std::mem::take(&mut text.blocks))
        }
        Some(_) | None => Vec::new(),
    }
}

fn with_blocks(mut record: PageRecord, blocks: &[TextBlock]) -> PageRecord {
    if let Some(Outcome::Answered(facts)) = &mut record.outcome
        && let Some(text) = &mut facts.text
    {
        text.blocks = blocks.to_vec();
    }
    record
}

fn promotion() -> impl Strategy<Value = Promotion> {
    (
        any::<bool>(),
        any::<Option<u64>>(),
        text(),
        any::<bool>(),
        text(),
    )
        .prop_map(
            |(was_listed, content, title, has_password, target)| Promotion {
                was_listed,
                content,
                title,
                has_password,
                target,
            },
        )
}

fn page() -> impl Strategy<Value = Page> {
    let times = (time(), time(), option::of(time()), option::of(time()));
    let kept = option::of((reason(), any::<String>()));
    let dates = option::of(ledger_entry());
    (record(), option::of(0..1_000_u64), times, kept, dates).prop_map(
        |(mut record, crawl, (first_seen, last_seen, failing_since, gone_since), kept, dates)| {
            if let Some((reason, error)) = kept {
                record.basis = Basis::Kept(Kept { reason, error });
            }
            (record.failing_since, record.gone_since) = (failing_since, gone_since);
            Page {
                record,
                crawl,
                first_seen,
                last_seen,
                dates,
            }
        },
    )
}

/// The URLs of random work, of several origins.
fn keys() -> Vec<UrlKey> {
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

fn ledger_entry() -> impl Strategy<Value = LedgerEntry> {
    let date = || option::of(".{0,25}");
    let content = (any::<u128>(), any::<u32>(), date(), any::<Option<i64>>());
    let times = (
        option::of(select(DateSource::ALL.to_vec())),
        any::<Option<i64>>(),
        any::<Option<i64>>(),
    );
    (content, times, (date(), date(), date())).prop_map(
        |(
            (content_hash, hash_version, lastmod, last_modified_seconds),
            (source, since_seconds, seen_seconds),
            (json_ld, meta, sitemap),
        )| LedgerEntry {
            content_hash,
            hash_version,
            shown_hash: since_seconds.map(|_| ContentHash(!content_hash)),
            is_shown_steady: hash_version.is_multiple_of(2),
            lastmod,
            last_modified_seconds,
            source,
            since_seconds,
            seen_seconds,
            stated: LedgerDates {
                json_ld,
                meta,
                sitemap,
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

/// A record with any outcome.
fn record() -> impl Strategy<Value = PageRecord> {
    let depth = prop_oneof![0..4_u32, any::<u32>()];
    let found = (reason(), depth, via(), option::of(url()));
    let seen = (option::of(time()), option::of(sitemap_date()));
    let outcome = (outcome(), select(vec![Basis::Own, Basis::Confirmed]));
    (found, any::<u32>(), seen, outcome).prop_map(
        |(
            (reason, depth, via, found_on),
            attempts,
            (fetched_at, sitemap_lastmod),
            (outcome, basis),
        )| PageRecord {
            reason,
            depth,
            via,
            found_on,
            attempts,
            fetched_at,
            sitemap_lastmod,
            outcome,
            basis,
            failing_since: None,
            gone_since: None,
        },
    )
}

fn outcome() -> impl Strategy<Value = Option<Outcome>> {
    prop_oneof![
        1 => Just(None),
        1 => reason().prop_map(|reason| Some(Outcome::NotFetched(reason))),
        1 => Just(Some(Outcome::PUBLISHED)),
        1 => any::<String>().prop_map(|error| Some(Outcome::NoAnswer { error })),
        1 => supplied().prop_map(|supplied| Some(Outcome::Supplied(Box::new(supplied)))),
        5 => facts().prop_map(|facts| Some(Outcome::Answered(Box::new(facts)))),
    ]
}

fn supplied() -> impl Strategy<Value = Supplied> {
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
        .prop_map(
            |(lastmod, changefreq, tenths, extensions, fields)| Supplied {
                lastmod,
                changefreq,
                priority: tenths.map(|tenths| Priority::from_tenths(tenths).unwrap()),
                extensions,
                fields,
            },
        )
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

fn facts() -> impl Strategy<Value = PageFacts> {
    let body = (
        any::<u16>(),
        text(),
        kind(),
        end(),
        0..=u64::MAX >> 1,
        option::of(any::<u128>()),
    );
    let dates = (option::of(any::<u128>()), (text(), text(), text()));
    let times = (option::of(time()), option::of(time()), text());
    let novelty = (
        directives(),
        canonical(),
        option::of(refresh()),
        option::of(url()),
    );
    let rules = (text(), any::<bool>(), warnings(), text());
    let extensions = (
        option::of(vec(url(), 0..4)),
        option::of(vec(version(), 0..4)),
        (
            option::of(vec(element(), 0..3)),
            option::of(vec(element(), 0..2)),
        ),
        (vec(url(), 0..3), any::<bool>(), any::<Option<u64>>()),
    );
    let all = (body, times, novelty, rules, extensions, dates);
    all.prop_map(|(body, times, novelty, rules, extensions, dates)| {
        let (body_hash, (json_ld, meta, published)) = dates;
        let (images, alternates, (videos, news), read) = extensions;
        let (feeds, robots_by_header, read_as) = read;
        let (status, content_type, kind, end, body_bytes, hash) = body;
        let (last_modified, date, etag) = times;
        let (directives, canonical, refresh, location) = novelty;
        let (selected_lastmod, excluded_by_page_rule, warnings, title) = rules;
        PageFacts {
            text: hash.map(|hash| {
                Box::new(PageText {
                    whole: body_bytes,
                    alike: !body_bytes,
                    blocks: TextBlock::unpack(&hash.to_le_bytes()[..7]),
                })
            }),
            repeat: excluded_by_page_rule.then_some(Repeat::NothingNew),
            status,
            content_type,
            kind,
            end,
            body_bytes,
            duration: status
                .is_multiple_of(2)
                .then(|| Duration::from_millis(body_bytes % 100_000)),
            content_hash: hash.map(ContentHash),
            shown: body_hash.map(|hash| RenderedContent {
                hash: ContentHash(!hash),
                html_links: u32::from(status),
                links: 7,
                html_text: 8,
                text: u32::MAX,
            }),
            body_hash,
            dates: StatedDates {
                json_ld,
                meta,
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
            link_texts: LinkTexts::default(),
            links_left_out: 0,
            images,
            alternates,
            videos,
            news,
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

fn element() -> impl Strategy<Value = StatedElement> {
    btree_map("[a-z_]{1,8}", "\\PC{0,8}", 0..3)
}

fn warnings() -> impl Strategy<Value = Warnings> {
    any::<[bool; 23]>().prop_map(|flags| {
        let mut flags = flags.into_iter();
        let mut flag = || flags.next().unwrap();
        Warnings {
            links_cut: flag(),
            script_shell: flag(),
            empty_root: flag(),
            rendered: flag(),
            script_content: flag(),
            script_data: flag(),
            render_failed: flag(),
            hash_routes: flag(),
            soft_404: flag(),
            bad_canonical: flag(),
            conflicting_canonicals: flag(),
            canonical_by_scheme: flag(),
            canonical_by_host: flag(),
            sniffed: flag(),
            parse_cut: flag(),
            page_rule_skipped: flag(),
            bad_unavailable_after: flag(),
            images_cut: flag(),
            alternates_cut: flag(),
            videos_cut: flag(),
            password_field: flag(),
            sets_cookie: flag(),
            challenge: flag(),
        }
    })
}
