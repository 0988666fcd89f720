//! Whole sites: their files, the keys of each, their indexes, and refused input.

use std::num::NonZeroUsize;

use super::super::{Layout, Part, PartitionError, Placement, Plan, Suffix, Thresholds};
use super::{BOTH, Keys, SMALL, check, contents, counter_of, fresh, keys, many, plan, plan_below};

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
fn large_sections_of_a_small_site_have_files() {
    let pages = "/ /about /p /blog /tiny/1 /search?in=/blog/1".split(' ');
    let pages = pages.map(str::to_owned).chain(many("/blog/", 100));
    let site = keys(pages.chain(many("/news/", 99)));
    for (placement, blog) in BOTH
        .into_iter()
        .zip(["sitemap.blog.xml", "blog/sitemap.xml"])
    {
        check(
            &fresh(&site, placement),
            &[("sitemap-root.xml", 105), (blog, 100)],
        );
    }
}

#[test]
fn shop_is_divided_by_directories_and_characters() {
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
    let after = super::next(&next, Placement::Root, &plan);
    assert_eq!(after.layout(), plan.layout());
    let (before, after) = (contents(&plan, &shop), contents(&after, &next));
    let changed: Vec<_> = after
        .keys()
        .filter(|name| before[*name] != after[*name])
        .collect();
    assert_eq!(changed, ["sitemap.blog.xml.gz", "sitemap.p.10_.xml.gz"]);
}

#[test]
fn key_has_a_greatest_length() {
    let longest = format!("/{}", "x".repeat(2_046));
    let mut counter = counter_of("/").unwrap();
    let error = counter.push(&format!("{longest}x"), SMALL).unwrap_err();
    assert!(
        matches!(error, PartitionError::KeyTooLong { bytes: 2_048, .. }),
        "{error}"
    );
    counter.push(&longest, SMALL).unwrap();
    check(&counter.finish(), &[("sitemap-root.xml", 1)]);
}

#[test]
fn base_below_the_root_has_relative_names() {
    let site = keys(many("/docs/v1/", 10).chain(many("/docs/v1/api/", 100)));
    for (placement, api) in BOTH.into_iter().zip(["sitemap.api.xml", "api/sitemap.xml"]) {
        let (thresholds, layout) = (Thresholds::default(), Layout::default());
        let plan = plan_below("/docs/v1/", &site, thresholds, placement, &layout);
        check(&plan, &[("sitemap-root.xml", 10), (api, 100)]);
        assert_eq!(plan.base(), "/docs/v1/");
        assert_eq!(plan.part_of("/docs/v2/x"), None);
    }
}

#[test]
fn refused_key_is_named_and_changes_nothing() {
    let mut counter = counter_of("/a/").unwrap();
    counter.push("/a/m", SMALL).unwrap();
    let mut refused = |key: &str, expected: &str| {
        let error = counter.push(key, SMALL).unwrap_err().to_string();
        assert_eq!(error, format!("key {key:?} {expected}"));
    };
    for key in ["/a/m", "/a/b"] {
        let order = "follows \"/a/m\": expected ascending order of bytes and no key twice";
        refused(key, order);
    }
    for key in ["/b/m", "/a", "/a/é", "/a/z z", "/a/z\n"] {
        let outside = "is not below /a/: expected printable ASCII that begins with the base";
        refused(key, outside);
    }
    counter.push("/a/n", SMALL).unwrap();
    check(&counter.finish(), &[("sitemap-root.xml", 2)]);

    assert_eq!(
        counter_of("/a").unwrap_err().to_string(),
        "base \"/a\" is not a directory: expected printable ASCII without a query, `/` at both ends"
    );
    for base in ["", "a/", "/a?/", "/é/", "/#/"] {
        let found = counter_of(base);
        assert!(matches!(found, Err(PartitionError::Base { .. })), "{base}");
    }
}

#[test]
fn uncounted_key_belongs_to_the_part_around_it() {
    let site = keys(many("/", 10).chain(many("/blog/", 200)));
    let plan = fresh(&site, Placement::Root);
    for (key, name) in [
        ("/blog/new", "sitemap.blog.xml"),
        ("/blog", "sitemap-root.xml"),
        ("/blog0", "sitemap-root.xml"),
        ("/zzz", "sitemap-root.xml"),
    ] {
        assert_eq!(plan.part_of(key).unwrap().path(Suffix::Xml), name, "{key}");
    }
    assert_eq!(plan.part_of("elsewhere"), None);
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
    for (section, count) in [("/", 1), ("/a/", 3), ("/b/", 1), ("/c/", 4), ("/d/", 1)] {
        let inside = |part: &&Part| {
            part.scope().starts_with(section) && (section != "/" || part.scope() == "/")
        };
        let found = plan.parts().iter().filter(inside).count();
        assert_eq!(found, count, "{section}");
    }
    let check = |most: usize, borders: &[usize]| {
        let indexes = plan.indexes(NonZeroUsize::new(most).unwrap());
        let parts: Vec<_> = indexes.iter().map(|index| index.parts.clone()).collect();
        let expected: Vec<_> = borders.windows(2).map(|it| it[0]..it[1]).collect();
        assert_eq!(parts, expected, "{most}");
        let numbered = (2..).map(|number| format!("sitemap-{number}.xml"));
        let names = ["sitemap.xml".to_owned()].into_iter().chain(numbered);
        assert!(names.zip(indexes).all(|(name, index)| name == index.name));
    };
    check(50_000, &[0, 10]);
    check(10, &[0, 10]);
    check(9, &[0, 9, 10]);
    check(8, &[0, 5, 10]);
    check(4, &[0, 4, 5, 9, 10]);
    // A section with more parts than one index may name is cut inside.
    check(3, &[0, 1, 4, 5, 8, 10]);
}
