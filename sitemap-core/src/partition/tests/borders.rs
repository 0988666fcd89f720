//! Borders at which a file comes and goes: thresholds, halves, bytes.

use super::super::{Layout, PartId, Placement, Plan, Thresholds};
use super::{BOTH, Keys, check, files, fresh, keys, many, next, plan, several};

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
