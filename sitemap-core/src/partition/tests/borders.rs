//! Borders at which a file comes and goes: thresholds, halves, bytes.

use super::super::{Layout, Part, PartId, Placement, Plan, Thresholds};
use super::{BOTH, Keys, SMALL, check, contents, files, fresh, keys, many, next, plan, several};

fn layout_of<const N: usize>(parts: [(&str, Option<&str>); N], raised: bool) -> Layout {
    let ids = parts.map(|(directory, prefix)| PartId {
        directory: directory.to_owned(),
        prefix: prefix.map(str::to_owned),
    });
    Layout::new(ids, raised)
}

#[test]
fn section_ends_below_half_of_its_threshold() {
    let site = |count| keys(["/x".to_owned()].into_iter().chain(many("/d/", count)));
    for placement in BOTH {
        assert_eq!(fresh(&site(99), placement).parts().len(), 1);
        let has = fresh(&site(100), placement);
        for (count, parts) in [(100, 2), (99, 2), (50, 2), (49, 1)] {
            let plan = next(&site(count), placement, &has);
            assert_eq!(plan.parts().len(), parts, "{count}");
        }
    }
}

#[test]
fn new_section_touches_two_files() {
    let pages = [("/a/", 300), ("/d/", 99), ("/x", 20)];
    let mut site = keys(pages.into_iter().flat_map(several));
    for placement in BOTH {
        let before = fresh(&site, placement);
        let old = contents(&before, &site);
        site.insert("/d/new".to_owned(), SMALL);
        let after = next(&site, placement, &before);
        let new = contents(&after, &site);
        site.remove("/d/new");
        let untouched = new
            .iter()
            .filter(|(name, keys)| old.get(*name) == Some(*keys))
            .count();
        assert_eq!((old.len(), new.len(), untouched), (2, 3, 1));
    }
}

#[test]
fn divided_directory_is_joined_at_half_a_file() {
    let site = |count| keys(many("/p/", count));
    let at = |count, previous: &Plan| next(&site(count), Placement::Root, previous);
    let whole = fresh(&site(10_000), Placement::Root);
    check(&whole, &[("sitemap.p.xml", 10_000)]);
    let divided = fresh(&site(12_000), Placement::Root);
    check(
        &divided,
        &[("sitemap.p.00_.xml", 10_000), ("sitemap.p.01_.xml", 2_000)],
    );
    assert_eq!(at(10_000, &divided).parts().len(), 1);
    let kept = at(10_500, &divided);
    check(
        &kept,
        &[("sitemap.p.00_.xml", 10_000), ("sitemap.p.01_.xml", 500)],
    );
    check(
        &at(10_499, &kept),
        &[("sitemap.p.0_.xml", 499), ("sitemap.p.00_.xml", 10_000)],
    );
    check(&at(9_000, &divided), &[("sitemap.p.00_.xml", 9_000)]);
    check(&at(5_000, &divided), &[("sitemap.p.xml", 5_000)]);
}

#[test]
fn key_that_moves_across_borders_moves_no_file() {
    let pages = [
        ("/d/", 100),
        ("/x", 9_500),
        ("/e/", 10_000),
        ("/e/1", 1_000),
    ];
    let mut site = keys(pages.into_iter().flat_map(several));
    for placement in BOTH {
        let mut layout = fresh(&site, placement).layout().clone();
        let mut changes = 0;
        for flip in 0..10 {
            for key in ["/d/000000", "/e/1000000", "/e/000000", "/x000000"] {
                if flip % 2 == 0 {
                    site.remove(key);
                } else {
                    site.insert(key.to_owned(), SMALL);
                }
            }
            let next = plan(&site, Thresholds::default(), placement, &layout);
            changes += usize::from(next.layout() != &layout);
            layout = next.layout().clone();
        }
        assert_eq!(changes, 0);
    }
}

/// Sections with 100 keys each, and one with `big` keys.
fn sections_beside(big: u64, sections: u64) -> Keys {
    let sections = (0..sections).flat_map(|section| many(&format!("/s{section:04}/"), 100));
    keys(sections.chain(many("/big/", big)))
}

#[test]
fn section_threshold_rises_above_a_thousand_sections() {
    let names =
        |plan: &Plan| -> Vec<String> { files(plan).into_iter().map(|(name, _)| name).collect() };
    let at = |sections, previous: &Plan| {
        next(&sections_beside(1_000, sections), Placement::Root, previous)
    };
    let sizes = |plan: &Plan| (plan.parts().len(), plan.layout().is_raised());

    let most = fresh(&sections_beside(1_000, 999), Placement::Root);
    assert_eq!(sizes(&most), (1_000, false));
    let raised = at(1_000, &most);
    assert!(raised.layout().is_raised());
    assert!(names(&raised).contains(&"sitemap.big.xml".to_owned()));
    assert!(
        !names(&raised)
            .iter()
            .any(|name| name.starts_with("sitemap.s0") && !name.ends_with("_.xml"))
    );
    let fresh = fresh(&sections_beside(1_000, 1_000), Placement::Root);
    assert_eq!(fresh.layout().parts(), raised.layout().parts());

    let still = at(500, &raised);
    assert!(still.layout().is_raised());
    let lowered = at(499, &still);
    assert_eq!(sizes(&lowered), (500, false));
    assert!(!at(500, &lowered).layout().is_raised());
}

#[test]
fn raised_threshold_keeps_a_section_to_its_half() {
    let layout = layout_of([("/big/", None)], true);
    for (count, has_file) in [(500, true), (499, false)] {
        let site = sections_beside(count, 1_000);
        let plan = plan(&site, Thresholds::default(), Placement::Root, &layout);
        let mut parts = plan.layout().parts().iter();
        let found = parts.any(|part| part.directory == "/big/");
        assert_eq!(found, has_file, "{count}");
    }
}

#[test]
fn heavy_keys_are_divided_by_bytes() {
    // Pages with 200 alternates each: 40 kB an entry.
    let heavy = |count| -> Keys {
        let keys = many("/shop/", count);
        keys.map(|key| (key, 40_000)).collect()
    };
    let plan = fresh(&heavy(600), Placement::Root);
    check(
        &plan,
        &[
            ("sitemap.shop.000_.xml", 200),
            ("sitemap.shop.0000_.xml", 100),
            ("sitemap.shop.0001_.xml", 100),
            ("sitemap.shop.0002_.xml", 100),
            ("sitemap.shop.0003_.xml", 100),
        ],
    );
    assert!(plan.parts().iter().all(|part| part.bytes() <= 10_000_000));
    let after = |count| next(&heavy(count), Placement::Root, &plan);
    assert_eq!(after(600), plan);
    // One page to and fro at the border does not put them together.
    assert_eq!(after(599).layout(), plan.layout());
    // At half a file they are.
    check(&after(125), &[("sitemap.shop.xml", 125)]);
}

#[test]
fn too_large_entry_is_alone_in_its_file() {
    let site = Keys::from([
        ("/a".to_owned(), SMALL),
        ("/b".to_owned(), 30_000_000),
        ("/c".to_owned(), SMALL),
    ]);
    check(
        &fresh(&site, Placement::Root),
        &[("sitemap-root.xml", 2), ("sitemap.b_.xml", 1)],
    );
}

#[test]
fn largest_aim_leaves_room_for_the_frame() {
    let largest = Thresholds {
        file_bytes: 52_428_800,
        ..Thresholds::default()
    };
    let site = Keys::from([("/a".to_owned(), 26_214_400), ("/b".to_owned(), 26_214_400)]);
    let plan = plan(&site, largest, Placement::Root, &Layout::default());
    assert_eq!(plan.parts().len(), 2);
}

#[test]
fn thresholds_have_ranges() {
    let check = |section, subsection, file_entries, file_bytes, expected: &str| {
        let thresholds = Thresholds {
            section,
            subsection,
            file_entries,
            file_bytes,
        };
        let error = thresholds.validate().err();
        let found = error.map_or(String::new(), |error| error.to_string());
        assert_eq!(found, expected);
    };
    assert_eq!(Thresholds::default().validate(), Ok(()));
    check(1, 1, 1, 1, "");
    check(1, 1, 50_000, 52_428_800, "");
    let entries = "file_entries is 50001: expected 1 to 50000";
    check(1, 1, 50_001, 1, entries);
    let bytes = "file_bytes is 52428801: expected 1 to 52428800";
    check(1, 1, 1, 52_428_801, bytes);
    let section = "section is 0: expected 1 to 18446744073709551615";
    check(0, 1, 1, 1, section);
    check(1, 0, 1, 1, &format!("sub{section}"));
}

/// Plans for 88 prefixes of one character with `each` keys; no part holds more than a file aims at.
#[track_caller]
fn check_fan(each: u64, bytes: u64, thresholds: Thresholds, previous: &Layout) -> Plan {
    let first = (b'!'..=b'~')
        .map(char::from)
        .filter(|first| !"/?#&=%".contains(*first));
    let keys = first.flat_map(|first| many(&format!("/{first}"), each));
    let site: Keys = keys.map(|key| (key, bytes)).collect();
    assert_eq!(site.len() as u64, 88 * each);
    let plan = plan(&site, thresholds, Placement::Root, previous);
    let fits = |part: &&Part| {
        part.entries() <= thresholds.file_entries && part.bytes() <= thresholds.file_bytes
    };
    assert_eq!(plan.parts().iter().filter(fits).count(), plan.parts().len());
    plan
}

#[test]
fn small_prefixes_leave_one_after_the_other() {
    let thresholds = Thresholds {
        subsection: 60,
        file_entries: 1_000,
        ..Thresholds::default()
    };
    let empty = Layout::default();
    check(
        &check_fan(11, SMALL, thresholds, &empty),
        &[("sitemap-root.xml", 968)],
    );
    let divided = check_fan(12, SMALL, thresholds, &empty);
    let expected = ["-root", "._21_", "._22_", "._24_", "._27_", "._28_"]
        .map(|name| format!("sitemap{name}.xml"));
    let found: Vec<String> = files(&divided).into_iter().map(|(name, _)| name).collect();
    assert_eq!(found, expected);
    assert_eq!(divided.parts()[0].entries(), 996);
}

#[test]
fn small_prefixes_with_many_bytes_leave() {
    let thresholds = Thresholds {
        subsection: 60,
        file_entries: 200,
        file_bytes: 10_000,
        ..Thresholds::default()
    };
    let plan = check_fan(1, 120, thresholds, &Layout::default());
    assert_eq!(plan.parts().len(), 1 + 5);
    assert_eq!(plan.parts()[0].bytes(), 9_960);
}

#[test]
fn prefix_keeps_its_file_to_half_its_threshold() {
    let thresholds = Thresholds {
        subsection: 8,
        file_entries: 1_000,
        ..Thresholds::default()
    };
    let at = |count, layout: &Layout| {
        let rest = (0..10).flat_map(|digit| many(&format!("/{digit}"), 200));
        let keys = keys(rest.chain(many("/z", count)));
        plan(&keys, thresholds, Placement::Root, layout)
    };
    let had_file = |plan: &Plan| files(plan).iter().any(|(name, _)| name == "sitemap.z_.xml");
    let first = at(8, &Layout::default());
    assert!(had_file(&first));
    assert!(!had_file(&at(7, &Layout::default())));
    assert!(had_file(&at(4, first.layout())));
    assert!(!had_file(&at(3, first.layout())));
}

#[test]
fn raised_threshold_spares_the_directories_below() {
    let thresholds = Thresholds {
        section: 2,
        subsection: 5,
        file_entries: 1_200,
        ..Thresholds::default()
    };
    let sections = (0..1_001).flat_map(|section| many(&format!("/s{section:04}/"), 2));
    let big = [("/big/a/", 700), ("/big/b/", 700)];
    let site = keys(big.into_iter().flat_map(several).chain(sections));
    let plan = plan(&site, thresholds, Placement::Root, &Layout::default());
    assert!(plan.layout().is_raised());
    let (big, rest): (Vec<_>, Vec<_>) = files(&plan)
        .into_iter()
        .partition(|(name, _)| name.starts_with("sitemap.big."));
    let expected = ["a", "b"].map(|it| (format!("sitemap.big.{it}.xml"), 700));
    assert_eq!(big, expected);
    assert!(
        rest.iter()
            .all(|(name, _)| name.starts_with("sitemap.s") && name.ends_with("_.xml")),
        "{rest:?}"
    );
}
