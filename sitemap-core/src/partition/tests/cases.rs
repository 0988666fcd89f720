//! Whole sites: their files, the keys of each, their indexes, and refused input.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use super::super::{Counter, Layout, Part, PartitionError, Placement, Plan, Suffix, Thresholds};
use super::{BOTH, Keys, Random, SMALL, check, contents, fresh, keys, many, plan, plan_below};

#[track_caller]
fn check_ranges(plan: &Plan, name: &str, expected: &[(&str, &str)]) {
    let part = plan
        .parts()
        .iter()
        .find(|part| part.path(Suffix::Xml) == name)
        .unwrap();
    let found: Vec<(&str, &str)> = part
        .ranges()
        .iter()
        .map(|range| (range.start.as_str(), range.end.as_str()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn no_key_makes_no_file_and_no_index() {
    for placement in BOTH {
        let plan = fresh(&Keys::new(), placement);
        check(&plan, &[]);
        assert!(plan.layout().is_empty());
        assert_eq!(plan.indexes(NonZeroUsize::MIN), []);
        assert_eq!(plan.part_of("/"), None);
    }
}

#[test]
fn a_small_site_has_one_file_for_the_root_and_one_for_each_large_section() {
    let mut site = keys([
        "/",
        "/about",
        "/p",
        "/blog",
        "/tiny/1",
        "/search?in=/blog/1",
    ]);
    site.extend(keys(many("/blog/", 100)));
    site.extend(keys(many("/news/", 99)));
    check(
        &fresh(&site, Placement::Root),
        &[("sitemap-root.xml", 105), ("sitemap.blog.xml", 100)],
    );
    check(
        &fresh(&site, Placement::InPlace),
        &[("sitemap-root.xml", 105), ("blog/sitemap.xml", 100)],
    );
}

#[test]
fn a_shop_is_divided_by_directories_and_then_by_characters() {
    let mut shop = keys(["/", "/about", "/catalog"]);
    for year in ["2024", "2025"] {
        shop.extend(keys(many(&format!("/blog/{year}/"), 5_200)));
    }
    shop.extend(keys(many("/blog/2026/", 30)));
    shop.extend(keys(
        (0..30_010).map(|number| format!("/p/{}", 1_000_000 + number)),
    ));
    let plan = fresh(&shop, Placement::Root);
    check(
        &plan,
        &[
            ("sitemap-root.xml", 3),
            ("sitemap.blog.xml", 30),
            ("sitemap.blog.2024.xml", 5_200),
            ("sitemap.blog.2025.xml", 5_200),
            ("sitemap.p.10_.xml", 10),
            ("sitemap.p.100_.xml", 10_000),
            ("sitemap.p.101_.xml", 10_000),
            ("sitemap.p.102_.xml", 10_000),
        ],
    );
    check_ranges(
        &plan,
        "sitemap-root.xml",
        &[("/", "/blog/"), ("/blog0", "/p/10"), ("/p/11", "0")],
    );
    check_ranges(
        &plan,
        "sitemap.blog.xml",
        &[
            ("/blog/", "/blog/2024/"),
            ("/blog/20240", "/blog/2025/"),
            ("/blog/20250", "/blog0"),
        ],
    );
    check_ranges(
        &plan,
        "sitemap.p.10_.xml",
        &[("/p/10", "/p/100"), ("/p/103", "/p/11")],
    );
    check_ranges(&plan, "sitemap.p.101_.xml", &[("/p/101", "/p/102")]);

    // The next day 20 products and a post are new: two files change, and no file comes or goes.
    let mut next = shop.clone();
    next.insert("/blog/2026/new".to_owned(), SMALL);
    next.extend(keys(
        (0..20).map(|number| format!("/p/{}", 1_030_010 + number)),
    ));
    let after = super::plan(&next, Thresholds::default(), Placement::Root, plan.layout());
    assert_eq!(after.layout(), plan.layout());
    let (before, after) = (contents(&plan, &shop), contents(&after, &next));
    let changed: Vec<_> = after
        .keys()
        .filter(|name| before[*name] != after[*name])
        .collect();
    assert_eq!(changed, ["sitemap.blog.xml.gz", "sitemap.p.10_.xml.gz"]);
}

#[test]
fn sixty_thousand_keys_after_one_long_prefix() {
    let prefix = format!("/p/{}", "long-".repeat(20));
    let site = keys(many(&prefix, 60_000));
    for placement in BOTH {
        let plan = fresh(&site, placement);
        assert_eq!(plan.parts().len(), 6);
        assert!(plan.parts().iter().all(|part| part.entries() == 10_000));
        assert!(
            plan.parts()
                .iter()
                .all(|part| part.scope().starts_with(&prefix))
        );
        assert_eq!(
            contents(&plan, &site).values().map(Vec::len).sum::<usize>(),
            60_000
        );
    }
}

#[test]
fn a_key_of_the_greatest_length_is_counted_and_a_longer_one_is_not() {
    let longest = format!("/{}", "x".repeat(2_046));
    let site = keys([longest.clone()]);
    check(&fresh(&site, Placement::Root), &[("sitemap-root.xml", 1)]);

    let mut counter = Counter::new(
        "/",
        Thresholds::default(),
        Placement::Root,
        &Layout::default(),
    )
    .unwrap();
    let error = counter.push(&format!("{longest}x"), SMALL).unwrap_err();
    assert!(
        matches!(error, PartitionError::KeyTooLong { bytes: 2_048, .. }),
        "{error}"
    );
}

#[test]
fn a_base_below_the_root_has_the_root_file_and_the_relative_names() {
    let site = keys(many("/docs/v1/", 10).chain(many("/docs/v1/api/", 100)));
    let at = |placement| {
        plan_below(
            "/docs/v1/",
            &site,
            Thresholds::default(),
            placement,
            &Layout::default(),
        )
    };
    check(
        &at(Placement::Root),
        &[("sitemap-root.xml", 10), ("sitemap.api.xml", 100)],
    );
    let plan = at(Placement::InPlace);
    check(&plan, &[("sitemap-root.xml", 10), ("api/sitemap.xml", 100)]);
    assert_eq!(plan.base(), "/docs/v1/");
    assert_eq!(plan.part_of("/docs/v2/x"), None);
}

#[test]
fn the_order_in_which_keys_were_found_does_not_matter() {
    let random = &mut Random(7);
    let mut found: Vec<String> = (0..3_000).map(|_| random.key()).collect();
    let thresholds = Thresholds {
        section: 5,
        subsection: 20,
        file_entries: 100,
        ..Thresholds::default()
    };
    let expected = plan(
        &keys(found.clone()),
        thresholds,
        Placement::Root,
        &Layout::default(),
    );
    assert!(expected.parts().len() > 20);
    for _ in 0..3 {
        for at in (1..found.len()).rev() {
            found.swap(at, random.below(at + 1));
        }
        let mut sorted = found.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let mut counter =
            Counter::new("/", thresholds, Placement::Root, &Layout::default()).unwrap();
        for key in &sorted {
            counter.push(key, SMALL).unwrap();
        }
        assert_eq!(counter.finish(), expected);
    }
}

#[test]
fn refused_namespace_is_named_and_changes_nothing() {
    let mut counter = Counter::new(
        "/a/",
        Thresholds::default(),
        Placement::Root,
        &Layout::default(),
    )
    .unwrap();
    counter.push("/a/m", SMALL).unwrap();
    let mut refused = |key: &str, expected: &str| {
        assert_eq!(counter.push(key, SMALL).unwrap_err().to_string(), expected);
    };
    refused(
        "/a/m",
        "key \"/a/m\" follows \"/a/m\": expected ascending order of bytes and no key twice",
    );
    refused(
        "/a/b",
        "key \"/a/b\" follows \"/a/m\": expected ascending order of bytes and no key twice",
    );
    refused(
        "/b/m",
        "key \"/b/m\" is not below /a/: expected printable ASCII that begins with the base",
    );
    refused(
        "/a",
        "key \"/a\" is not below /a/: expected printable ASCII that begins with the base",
    );
    refused(
        "/a/é",
        "key \"/a/é\" is not below /a/: expected printable ASCII that begins with the base",
    );
    refused(
        "/a/z z",
        "key \"/a/z z\" is not below /a/: expected printable ASCII that begins with the base",
    );
    refused(
        "/a/z\n",
        "key \"/a/z\\n\" is not below /a/: expected printable ASCII that begins with the base",
    );
    counter.push("/a/n", SMALL).unwrap();
    check(&counter.finish(), &[("sitemap-root.xml", 2)]);

    let base = |base: &str| {
        Counter::new(
            base,
            Thresholds::default(),
            Placement::Root,
            &Layout::default(),
        )
        .unwrap_err()
    };
    assert_eq!(
        base("/a").to_string(),
        "base \"/a\" is not a directory: expected printable ASCII without a query, `/` at both ends"
    );
    for text in ["", "a/", "/a?/", "/é/", "/#/"] {
        assert!(matches!(base(text), PartitionError::Base { .. }), "{text}");
    }
}

#[test]
fn a_key_that_was_not_counted_belongs_to_the_part_around_it() {
    let site = keys(many("/", 10).chain(many("/blog/", 200)));
    let plan = fresh(&site, Placement::Root);
    let name = |key: &str| plan.part_of(key).map(|part| part.path(Suffix::Xml));
    assert_eq!(name("/blog/new"), Some("sitemap.blog.xml".to_owned()));
    assert_eq!(name("/blog"), Some("sitemap-root.xml".to_owned()));
    assert_eq!(name("/blog0"), Some("sitemap-root.xml".to_owned()));
    assert_eq!(name("/zzz"), Some("sitemap-root.xml".to_owned()));
    assert_eq!(name("elsewhere"), None);
}

#[test]
fn several_indexes_are_cut_between_sections() {
    let thresholds = Thresholds {
        section: 2,
        subsection: 2,
        file_entries: 3,
        ..Thresholds::default()
    };
    let mut site = keys(["/"]);
    for (section, pages) in [("a", 6), ("b", 2), ("c", 8), ("d", 2)] {
        let pages = (0..pages).map(|page| format!("/{section}/{}/{}", page / 2, page % 2));
        site.extend(keys(pages));
    }
    let plan = plan(&site, thresholds, Placement::Root, &Layout::default());
    let sections: BTreeMap<&str, usize> =
        [("/", 1), ("/a/", 3), ("/b/", 1), ("/c/", 4), ("/d/", 1)].into();
    for (section, count) in sections {
        let inside = |part: &&Part| {
            part.scope().starts_with(section) && (section != "/" || part.scope() == "/")
        };
        assert_eq!(
            plan.parts().iter().filter(inside).count(),
            count,
            "{section}"
        );
    }
    let indexes = |most: usize| -> Vec<(String, usize, usize)> {
        let indexes = plan.indexes(NonZeroUsize::new(most).unwrap());
        indexes
            .into_iter()
            .map(|index| (index.name, index.parts.start, index.parts.end))
            .collect()
    };
    let check = |most, expected: &[(&str, usize, usize)]| {
        let found = indexes(most);
        let found: Vec<_> = found
            .iter()
            .map(|(name, from, to)| (name.as_str(), *from, *to))
            .collect();
        assert_eq!(found, expected, "{most}");
    };
    check(50_000, &[("sitemap.xml", 0, 10)]);
    check(10, &[("sitemap.xml", 0, 10)]);
    check(9, &[("sitemap.xml", 0, 9), ("sitemap-2.xml", 9, 10)]);
    check(8, &[("sitemap.xml", 0, 5), ("sitemap-2.xml", 5, 10)]);
    check(
        4,
        &[
            ("sitemap.xml", 0, 4),
            ("sitemap-2.xml", 4, 5),
            ("sitemap-3.xml", 5, 9),
            ("sitemap-4.xml", 9, 10),
        ],
    );
    // A section with more parts than one index may name is cut inside.
    check(
        3,
        &[
            ("sitemap.xml", 0, 1),
            ("sitemap-2.xml", 1, 4),
            ("sitemap-3.xml", 4, 5),
            ("sitemap-4.xml", 5, 8),
            ("sitemap-5.xml", 8, 10),
        ],
    );
}
