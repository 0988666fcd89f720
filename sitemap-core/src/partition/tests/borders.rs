//! Borders at which a file comes and goes: thresholds, halves, bytes.

use super::super::{Layout, Part, PartId, Placement, Plan, Thresholds};
use super::{BOTH, Keys, SMALL, check, contents, files, fresh, keys, many, plan};

fn layout_of<const N: usize>(parts: [(&str, Option<&str>); N], raised: bool) -> Layout {
    let ids = parts.map(|(directory, prefix)| PartId {
        directory: directory.to_owned(),
        prefix: prefix.map(str::to_owned),
    });
    Layout::new(ids, raised)
}

#[test]
fn a_section_comes_at_its_threshold_and_goes_below_half_of_it() {
    let site = |count| keys(["/x".to_owned()].into_iter().chain(many("/d/", count)));
    for placement in BOTH {
        let at =
            |count, layout: &Layout| plan(&site(count), Thresholds::default(), placement, layout);
        let empty = Layout::default();
        assert_eq!(at(99, &empty).parts().len(), 1);
        let has = at(100, &empty);
        assert_eq!(has.parts().len(), 2);
        assert_eq!(at(99, has.layout()).parts().len(), 2);
        assert_eq!(at(50, has.layout()).parts().len(), 2);
        assert_eq!(at(49, has.layout()).parts().len(), 1);
    }
}

#[test]
fn a_new_section_touches_itself_and_the_file_its_pages_were_in() {
    let mut site = keys(
        many("/a/", 300)
            .chain(many("/d/", 99))
            .chain(many("/x", 20)),
    );
    for placement in BOTH {
        let before = fresh(&site, placement);
        let old = contents(&before, &site);
        site.insert("/d/new".to_owned(), SMALL);
        let after = plan(&site, Thresholds::default(), placement, before.layout());
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
fn a_divided_directory_is_put_together_at_half_a_file() {
    let site = |count| keys(many("/p/", count));
    let at =
        |count, layout: &Layout| plan(&site(count), Thresholds::default(), Placement::Root, layout);
    let empty = Layout::default();
    check(&at(10_000, &empty), &[("sitemap.p.xml", 10_000)]);
    let divided = at(12_000, &empty);
    check(
        &divided,
        &[("sitemap.p.00_.xml", 10_000), ("sitemap.p.01_.xml", 2_000)],
    );
    assert_eq!(at(10_000, divided.layout()).parts().len(), 1);
    let kept = at(10_500, divided.layout());
    check(
        &kept,
        &[("sitemap.p.00_.xml", 10_000), ("sitemap.p.01_.xml", 500)],
    );
    check(
        &at(10_499, kept.layout()),
        &[("sitemap.p.0_.xml", 499), ("sitemap.p.00_.xml", 10_000)],
    );
    check(
        &at(9_000, divided.layout()),
        &[("sitemap.p.00_.xml", 9_000)],
    );
    check(&at(5_000, divided.layout()), &[("sitemap.p.xml", 5_000)]);
}

#[test]
fn key_that_moves_across_borders_moves_no_file() {
    let mut site = keys(
        many("/d/", 100)
            .chain(many("/x", 9_500))
            .chain(many("/e/", 10_000)),
    );
    site.extend(keys(many("/e/1", 1_000)));
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

#[test]
fn the_section_threshold_rises_with_more_than_a_thousand_sections_and_falls_at_half() {
    let site = |sections: u64| -> Keys {
        let sections = (0..sections).flat_map(|section| many(&format!("/s{section:04}/"), 100));
        keys(sections.chain(many("/big/", 1_000)))
    };
    let at = |sections, layout: &Layout| {
        plan(
            &site(sections),
            Thresholds::default(),
            Placement::Root,
            layout,
        )
    };
    let names =
        |plan: &Plan| -> Vec<String> { files(plan).into_iter().map(|(name, _)| name).collect() };

    let most = at(999, &Layout::default());
    assert_eq!(
        (most.parts().len(), most.layout().is_raised()),
        (1_000, false)
    );
    let raised = at(1_000, most.layout());
    assert!(raised.layout().is_raised());
    assert!(names(&raised).contains(&"sitemap.big.xml".to_owned()));
    assert!(
        !names(&raised)
            .iter()
            .any(|name| name.starts_with("sitemap.s0") && !name.ends_with("_.xml"))
    );
    let fresh = at(1_000, &Layout::default());
    assert_eq!(fresh.layout().parts(), raised.layout().parts());

    let still = at(500, raised.layout());
    assert!(still.layout().is_raised());
    let lowered = at(499, still.layout());
    assert_eq!(
        (lowered.parts().len(), lowered.layout().is_raised()),
        (500, false)
    );
    assert!(!at(500, lowered.layout()).layout().is_raised());
}

#[test]
fn a_raised_threshold_keeps_a_section_with_a_file_down_to_half_of_it() {
    let site = |count| {
        let sections = (0..1_000).flat_map(|section| many(&format!("/s{section:04}/"), 100));
        keys(sections.chain(many("/big/", count)))
    };
    let layout = layout_of([("/big/", None)], true);
    let has_file = |count| {
        let plan = plan(
            &site(count),
            Thresholds::default(),
            Placement::Root,
            &layout,
        );
        plan.layout()
            .parts()
            .iter()
            .any(|part| part.directory == "/big/")
    };
    assert!(has_file(500));
    assert!(!has_file(499));
}

#[test]
fn few_keys_with_many_bytes_are_divided_by_bytes() {
    // Pages with 200 alternates each: 40 kB an entry.
    let heavy: Keys = many("/shop/", 600).map(|key| (key, 40_000)).collect();
    let plan = fresh(&heavy, Placement::Root);
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
    let again = super::plan(
        &heavy,
        Thresholds::default(),
        Placement::Root,
        plan.layout(),
    );
    assert_eq!(again, plan);
    // One page to and fro at the border does not put them together.
    let fewer: Keys = many("/shop/", 599).map(|key| (key, 40_000)).collect();
    let after = super::plan(
        &fewer,
        Thresholds::default(),
        Placement::Root,
        plan.layout(),
    );
    assert_eq!(after.layout(), plan.layout());
    // At half a file they are.
    let half: Keys = many("/shop/", 125).map(|key| (key, 40_000)).collect();
    check(
        &super::plan(&half, Thresholds::default(), Placement::Root, plan.layout()),
        &[("sitemap.shop.xml", 125)],
    );
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
fn the_frame_of_a_file_fits_beside_the_largest_aim() {
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
    let default = Thresholds::default();
    let check = |thresholds: Thresholds, expected: Option<&str>| {
        assert_eq!(
            thresholds
                .validate()
                .err()
                .map(|error| error.to_string())
                .as_deref(),
            expected
        );
    };
    check(default, None);
    check(
        Thresholds {
            section: 1,
            subsection: 1,
            file_entries: 1,
            file_bytes: 1,
        },
        None,
    );
    check(
        Thresholds {
            file_entries: 50_000,
            file_bytes: 52_428_800,
            ..default
        },
        None,
    );
    check(
        Thresholds {
            file_entries: 50_001,
            ..default
        },
        Some("file_entries is 50001: expected 1 to 50000"),
    );
    check(
        Thresholds {
            file_bytes: 52_428_801,
            ..default
        },
        Some("file_bytes is 52428801: expected 1 to 52428800"),
    );
    check(
        Thresholds {
            section: 0,
            ..default
        },
        Some("section is 0: expected 1 to 18446744073709551615"),
    );
    check(
        Thresholds {
            subsection: 0,
            ..default
        },
        Some("subsection is 0: expected 1 to 18446744073709551615"),
    );
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
fn small_prefixes_leave_one_after_the_other_until_the_rest_fits() {
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
fn small_prefixes_with_many_bytes_leave_until_the_rest_fits() {
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
fn a_prefix_that_had_a_file_keeps_it_down_to_half_its_threshold() {
    let thresholds = Thresholds {
        subsection: 8,
        file_entries: 1_000,
        ..Thresholds::default()
    };
    let at = |count, layout: &Layout| {
        let rest = (0..10).flat_map(|digit| many(&format!("/{digit}"), 200));
        plan(
            &keys(rest.chain(many("/z", count))),
            thresholds,
            Placement::Root,
            layout,
        )
    };
    let had_file = |plan: &Plan| files(plan).iter().any(|(name, _)| name == "sitemap.z_.xml");
    let first = at(8, &Layout::default());
    assert!(had_file(&first));
    assert!(!had_file(&at(7, &Layout::default())));
    assert!(had_file(&at(4, first.layout())));
    assert!(!had_file(&at(3, first.layout())));
}

#[test]
fn a_raised_section_threshold_leaves_the_directories_below_alone() {
    let thresholds = Thresholds {
        section: 2,
        subsection: 5,
        file_entries: 1_200,
        ..Thresholds::default()
    };
    let sections = (0..1_001).flat_map(|section| many(&format!("/s{section:04}/"), 2));
    let site = keys(
        many("/big/a/", 700)
            .chain(many("/big/b/", 700))
            .chain(sections),
    );
    let plan = plan(&site, thresholds, Placement::Root, &Layout::default());
    assert!(plan.layout().is_raised());
    let (big, rest): (Vec<_>, Vec<_>) = files(&plan)
        .into_iter()
        .partition(|(name, _)| name.starts_with("sitemap.big."));
    assert_eq!(
        big,
        [
            ("sitemap.big.a.xml".to_owned(), 700),
            ("sitemap.big.b.xml".to_owned(), 700)
        ]
    );
    assert!(
        rest.iter()
            .all(|(name, _)| name.starts_with("sitemap.s") && name.ends_with("_.xml")),
        "{rest:?}"
    );
}
