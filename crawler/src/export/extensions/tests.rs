//! Images and language versions of entries, from records in a store in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    sync::Arc,
};

use proptest::{collection::vec, prelude::*, sample::select};

use super::*;
use crate::{
    clock::SystemClock,
    config::{Config, ScopeWidth},
    crawl_state,
    export::Export,
    page::{Directives, LanguageVersion, Reason, Warnings},
    scope::Scope,
    site,
    store::{
        Store,
        tests::fixture::{answered, visited, whole_page},
    },
    verdict::{Judge, Mode},
};

const ALL: Extensions = Extensions {
    images: true,
    hreflang: true,
    news: true,
    video: true,
};

const ORIGIN: &str = "https://h.example";

fn key(url: &str) -> UrlKey {
    let url = if url.starts_with('/') {
        [ORIGIN, url].concat()
    } else {
        url.to_owned()
    };
    UrlKey::from_normalised(&url).unwrap()
}

fn short(url: &str) -> &str {
    url.strip_prefix(ORIGIN).unwrap_or(url)
}

fn page() -> PageFacts {
    PageFacts {
        images: Some(Vec::new()),
        alternates: Some(Vec::new()),
        videos: Some(Vec::new()),
        news: Some(Vec::new()),
        ..whole_page()
    }
}

/// A page with versions, written as `en=/en de=/de`.
fn versions(text: &str) -> PageFacts {
    let versions = text.split_ascii_whitespace().map(|version| {
        let (code, target) = version.split_once('=').unwrap();
        LanguageVersion::new(code, key(target))
    });
    PageFacts {
        alternates: Some(versions.collect()),
        ..page()
    }
}

fn images(urls: &[&str]) -> PageFacts {
    PageFacts {
        images: Some(urls.iter().map(|url| key(url)).collect()),
        ..page()
    }
}

/// The entries that have extensions, as text, and what was counted.
fn export(
    pages: impl IntoIterator<Item = (UrlKey, Reason, PageFacts)>,
    wanted: Extensions,
    robots: Option<Rules>,
) -> (BTreeMap<String, String>, ExtensionCounts) {
    let mut store = Store::in_memory().unwrap();
    let now = "2026-03-01T12:00:00Z".parse().unwrap();
    crawl_state::open(&mut store, "", now, false).unwrap();
    let records = pages.into_iter().map(|(key, reason, mut facts)| {
        facts.directives.noindex |= reason == Reason::Noindex;
        let record = PageRecord {
            reason,
            ..answered(facts)
        };
        (key, record)
    });
    store.commit(&visited(1, records).effects()).unwrap();
    let site = site::site_of_redirects(&key("/"), &[], ScopeWidth::Directory).unwrap();
    let scope = Scope::new(&site, &Config::default().scope).unwrap();
    let clock = Arc::new(SystemClock);
    let judge = Judge::new(&Config::default(), scope, Rules::default(), 0, clock);
    let view = MergedView::new(&store, &judge, Mode::Crawl, now);
    let export = Export::new(&store, None, now)
        .unwrap()
        .with_extensions(wanted, robots);
    let mut entries = BTreeMap::new();
    let mut counts = ExtensionCounts::default();
    view.each::<StoreError>(None, &mut |key, _, merged| {
        let Some(listed) = export.listed(&view, key, &merged.unwrap(), None)? else {
            return Ok(ControlFlow::Continue(()));
        };
        counts.merge(&listed.extensions);
        let extensions = &listed.entry.extensions;
        let images = extensions
            .images()
            .iter()
            .map(|image| short(image.get("loc").unwrap()).to_owned());
        let alternates = extensions
            .alternates()
            .iter()
            .map(|alternate| format!("{}={}", alternate.hreflang, short(alternate.href.as_str())));
        let said: Vec<_> = images.chain(alternates).collect();
        if !said.is_empty() {
            entries.insert(short(listed.key.as_str()).to_owned(), said.join(" "));
        }
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    (entries, counts)
}

/// Checks the versions that the entries of pages have, and those that they do not have.
#[track_caller]
fn check(pages: &[(&str, &str)], expected: &[(&str, &str)], left_out: &[(LeftOut, u64)]) {
    let records = pages.iter().map(|(url, text)| {
        // Of pages that are not listed, `!` is in front.
        let (url, reason) = match url.strip_prefix('!') {
            Some(url) => (url, Reason::Noindex),
            None => (*url, Reason::Listed),
        };
        let mut facts = versions(text);
        facts.directives.noindex = reason == Reason::Noindex;
        (key(url), reason, facts)
    });
    let (entries, counts) = export(records, ALL, None);
    let expected: BTreeMap<_, _> = expected
        .iter()
        .map(|(url, said)| ((*url).to_owned(), (*said).to_owned()))
        .collect();
    assert_eq!(entries, expected, "{pages:?}");
    let counts = counts.hreflang.unwrap();
    assert_eq!(
        counts.left_out,
        left_out.iter().copied().collect(),
        "{pages:?}"
    );
    let written: usize = entries.values().map(|said| said.split(' ').count()).sum();
    assert_eq!(
        (counts.pages, counts.written),
        (entries.len() as u64, written as u64)
    );
}

#[test]
fn redirected_version_is_its_target() {
    let listed = |url, text| (key(url), Reason::Listed, versions(text));
    let redirected = |url, target| {
        let facts = PageFacts {
            status: 301,
            location: Some(key(target)),
            ..PageFacts::default()
        };
        (key(url), Reason::Redirected, facts)
    };
    let check = |pages: Vec<(UrlKey, Reason, PageFacts)>, expected: &str| {
        let (entries, counts) = export(pages, ALL, None);
        let expected = ["/de/", "/en/"].map(|url| (url.to_owned(), expected.to_owned()));
        assert_eq!(entries, BTreeMap::from(expected));
        assert_eq!(counts.hreflang.unwrap().left_out, BTreeMap::default());
    };
    let all = "en=/en de=/de x-default=/en";
    let pages = vec![
        listed("/en/", all),
        redirected("/en", "/en/"),
        listed("/de/", all),
        redirected("/de", "/de/index"),
        redirected("/de/index", "/de/"),
    ];
    check(pages, "de=/de/ en=/en/ x-default=/en/");
    // One of them names the other by a redirect, and is named directly.
    let pages = vec![
        listed("/en/", "en=/en/ de=/de/"),
        redirected("/en", "/en/"),
        listed("/de/", "en=/en de=/de/"),
    ];
    check(pages, "de=/de/ en=/en/");
}

#[test]
fn mutual_versions_are_written_with_the_page() {
    let all = "en=/en de=/de x-default=/en";
    check(
        &[("/en", all), ("/de", all)],
        &[
            ("/de", "de=/de en=/en x-default=/en"),
            ("/en", "de=/de en=/en x-default=/en"),
        ],
        &[],
    );
    // In the usual spelling, and in the order of the codes.
    let all = "zh-hant-tw=/tw en-gb=/gb";
    let said = "en-GB=/gb zh-Hant-TW=/tw";
    check(
        &[("/tw", all), ("/gb", all)],
        &[("/gb", said), ("/tw", said)],
        &[],
    );
}

#[test]
fn page_takes_the_code_its_versions_state() {
    check(
        &[("/en", "de=/de"), ("/de", "en=/en")],
        &[("/de", "de=/de en=/en"), ("/en", "de=/de en=/en")],
        &[],
    );
    check(
        &[
            ("/en", "de=/de fr=/fr"),
            ("/de", "en=/en"),
            ("/fr", "en-GB=/en"),
        ],
        &[
            ("/de", "de=/de en=/en"),
            ("/en", "de=/de en=/en en-GB=/en fr=/fr"),
            ("/fr", "en-GB=/en fr=/fr"),
        ],
        &[],
    );
}

#[test]
fn links_that_are_not_returned_are_left_out() {
    check(&[("/en", "en=/en x-default=/en"), ("/de", "")], &[], &[]);
    check(
        &[
            ("/en", "en=/en de=/de fr=/fr x-default=/fr"),
            ("/de", "en=/en de=/de"),
            ("/fr", "fr=/fr de=/de"),
        ],
        &[("/de", "de=/de en=/en"), ("/en", "de=/de en=/en")],
        &[(LeftOut::NoReturnLink, 3)],
    );
}

#[test]
fn links_to_unlisted_pages_are_left_out() {
    let all = "en=/en de=/de fr=https://fr.example/ it=http://h.example/it es=/es";
    check(
        &[("/en", all), ("!/de", all)],
        &[],
        &[
            (LeftOut::NotListed, 1),
            (LeftOut::OtherHost, 2),
            (LeftOut::NotCrawled, 1),
        ],
    );
}

#[test]
fn codes_must_be_languages() {
    let all = "en=/en en-uk=/gb de_DE=/de eng=/en =/x xx=/xx";
    check(
        &[("/en", all), ("/gb", all), ("/de", "")],
        &[],
        &[(LeftOut::InvalidCode, 10), (LeftOut::NoReturnLink, 1)],
    );
}

#[test]
fn contradictions_are_left_out() {
    // One code for two pages.
    check(
        &[
            ("/en", "en=/en de=/de de=/at de=/ch"),
            ("/de", "en=/en de=/de"),
            ("/at", ""),
            ("/ch", ""),
        ],
        &[],
        &[(LeftOut::ConflictingCode, 3), (LeftOut::NoReturnLink, 1)],
    );
    // The version calls itself something else, but for x-default, which it need not repeat.
    check(
        &[
            ("/en", "en=/en fr=/de x-default=/de"),
            ("/de", "en=/en de=/de"),
        ],
        &[("/de", "de=/de en=/en"), ("/en", "en=/en x-default=/de")],
        &[(LeftOut::ConflictingCode, 1)],
    );
    // It calls another page by that name.
    check(
        &[("/en", "en=/en de=/de"), ("/de", "en=/en de=/at")],
        &[],
        &[(LeftOut::ConflictingCode, 2), (LeftOut::NotCrawled, 1)],
    );
    check(
        &[
            ("/en", "en=/en x-default=/de"),
            ("/de", "en=/en x-default=/en"),
        ],
        &[],
        &[(LeftOut::ConflictingCode, 3)],
    );
}

#[test]
fn a_link_is_written_as_its_page_is() {
    // A sitemap writes an apostrophe percent-encoded or not: entry and link alike.
    let all = "en=/en'x de=/de'x";
    let (entries, _) = export(
        [
            (key("/en'x"), Reason::Listed, versions(all)),
            (key("/de'x"), Reason::Listed, versions(all)),
        ],
        ALL,
        None,
    );
    let written = Loc::parse("https://h.example/de'x").unwrap();
    assert!(
        entries["/en'x"].contains(&format!("de={}", short(written.as_str()))),
        "{entries:?}"
    );
}

#[test]
fn images_are_written_in_order_without_the_page() {
    let check = |page: &str, found: &[&str], expected: Option<&str>| {
        let (entries, counts) = export([(key(page), Reason::Listed, images(found))], ALL, None);
        assert_eq!(entries.get(page).map(String::as_str), expected, "{page}");
        let counts = counts.images.unwrap();
        let written = expected.map_or(0, |images| images.split(' ').count());
        let pages = u64::from(expected.is_some());
        assert_eq!((counts.pages, counts.written), (pages, written as u64));
        assert!(counts.left_out.is_empty(), "{counts:?}");
    };
    check(
        "/a",
        &["/b.png", "https://cdn.example/a.png", "/a.png"],
        Some("/b.png https://cdn.example/a.png /a.png"),
    );
    check("/a", &["/a"], None);
    check("/a", &["/b", "/a", "/a?b"], Some("/b /a?b"));
    check("/~a?b", &["/%7Ea?b", "/~a"], Some("/~a"));
}

#[test]
fn images_closed_to_search_engines_are_left_out() {
    let robots = Rules::parse(b"User-agent: *\nDisallow: /private/\n", "arpent");
    let forbidden = PageFacts {
        directives: Directives {
            noimageindex: true,
            ..Directives::default()
        },
        ..images(&["/c.png", "/d.png"])
    };
    let (entries, counts) = export(
        [
            (
                key("/a"),
                Reason::Listed,
                images(&[
                    "/private/a.png",
                    "/b.png",
                    "https://cdn.example/private/a.png",
                ]),
            ),
            (key("/b"), Reason::Listed, forbidden),
            (key("/c"), Reason::Noindex, images(&["/c.png"])),
        ],
        ALL,
        Some(robots),
    );
    assert_eq!(entries.len(), 1);
    assert_eq!(entries["/a"], "/b.png https://cdn.example/private/a.png");
    let left_out = BTreeMap::from([(LeftOut::Noimageindex, 2), (LeftOut::RobotsDisallowed, 1)]);
    assert_eq!(counts.images.unwrap().left_out, left_out);
}

#[test]
fn images_of_too_large_entries_are_left_out() {
    let long = |number: usize| format!("https://cdn.example/{number}?{}", "&".repeat(2_000));
    let urls: Vec<String> = (0..1_000).map(long).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let (entries, counts) = export([(key("/a"), Reason::Listed, images(&urls))], ALL, None);
    let counts = counts.images.unwrap();
    assert_eq!(
        counts.written + counts.left_out[&LeftOut::Unwritable],
        1_000
    );
    assert!(counts.written > 100, "{counts:?}");
    assert_eq!(entries["/a"].split(' ').count() as u64, counts.written);
}

#[test]
fn cut_and_unread_elements_are_counted() {
    let cut = PageFacts {
        warnings: Warnings {
            images_cut: true,
            alternates_cut: true,
            ..Warnings::default()
        },
        ..page()
    };
    let earlier = PageFacts {
        images: None,
        alternates: None,
        ..page()
    };
    let (_, counts) = export(
        [
            (key("/a"), Reason::Listed, cut),
            (key("/b"), Reason::Listed, earlier),
        ],
        ALL,
        None,
    );
    for counts in [counts.images, counts.hreflang] {
        let counts = counts.unwrap();
        assert_eq!((counts.pages_cut, counts.pages_not_read), (1, 1));
    }
}

#[test]
fn unwanted_extensions_are_not_written() {
    let all = "en=/en de=/de";
    let facts = || PageFacts {
        images: Some(vec![key("/a.png")]),
        ..versions(all)
    };
    let pages = || {
        [
            (key("/en"), Reason::Listed, facts()),
            (key("/de"), Reason::Listed, facts()),
        ]
    };
    let (entries, counts) = export(pages(), Extensions::default(), None);
    assert_eq!((entries.len(), counts), (0, ExtensionCounts::default()));
    let only_images = Extensions {
        images: true,
        ..Extensions::default()
    };
    let (entries, counts) = export(pages(), only_images, None);
    assert_eq!(entries["/en"], "/a.png");
    assert_eq!(counts.hreflang, None);
}

/// A page of a random site: whether it is listed, and its versions.
fn random_page() -> impl Strategy<Value = (bool, Vec<(&'static str, usize)>)> {
    let codes = vec!["en", "de", "fr", "en-GB", "x-default", "xx"];
    (
        prop::bool::weighted(0.9),
        vec((select(codes), 0..5_usize), 0..6),
    )
}

proptest! {
    /// Whatever pages state, entries name each other or not at all, and themselves.
    #[test]
    fn both_ends_come_to_the_same(pages in vec(random_page(), 1..5)) {
        let url = |number: usize| format!("/{number}");
        let records = pages.iter().enumerate().map(|(number, (is_listed, said))| {
            let said: Vec<String> = said.iter().map(|(code, target)| format!("{code}=/{target}")).collect();
            let reason = if *is_listed { Reason::Listed } else { Reason::Noindex };
            let mut facts = versions(&said.join(" "));
            facts.directives.noindex = !is_listed;
            (key(&url(number)), reason, facts)
        });
        let (entries, counts) = export(records, ALL, None);
        let targets = |entry: &str| -> BTreeSet<String> {
            let versions = entry.split(' ').map(|version| version.split_once('=').unwrap());
            versions.map(|(_, target)| target.to_owned()).collect()
        };
        for (own, entry) in &entries {
            let codes: Vec<_> = entry.split(' ').map(|version| version.split_once('=').unwrap().0).collect();
            let distinct: BTreeSet<_> = codes.iter().collect();
            prop_assert_eq!(distinct.len(), codes.len(), "{}", entry);
            prop_assert!(!codes.contains(&"xx"));
            let named = targets(entry);
            prop_assert!(named.contains(own) && named.len() > 1, "{own}: {entry}");
            for target in &named {
                let back = entries.get(target).map(|entry| targets(entry));
                prop_assert!(back.is_some_and(|back| back.contains(own)), "{own}: {entry}");
            }
        }
        // Every version that is stated of another page is written or counted.
        let counts = counts.hreflang.unwrap_or_default();
        let claimed: usize = pages
            .iter()
            .enumerate()
            .filter(|(_, (is_listed, _))| *is_listed)
            .map(|(number, (_, said))| {
                let distinct: BTreeSet<_> = said.iter().collect();
                distinct.into_iter().filter(|(_, target)| *target != number).count()
            })
            .sum();
        let written: usize = entries
            .iter()
            .map(|(own, entry)| entry.split(' ').filter(|version| version.split_once('=').unwrap().1 != own).count())
            .sum();
        let left_out: u64 = counts.left_out.values().sum();
        prop_assert!(written as u64 + left_out >= claimed as u64, "{entries:?} {counts:?}");
    }
}
