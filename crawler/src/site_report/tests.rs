use super::{globs::exclude_of, rows::section_of, *};
use crate::pattern::Pattern;

#[test]
fn the_exclude_of_a_pattern_matches_its_urls_and_no_others() {
    let check = |name: &str, inside: &[&str], outside: &[&str]| {
        let glob = exclude_of(name);
        let pattern = Pattern::parse(&glob).unwrap_or_else(|problem| panic!("{glob} {problem}"));
        let matches = |path: &&&str| {
            let url = format!("https://h.example{path}");
            pattern.matches(&UrlKey::from_normalised(&url).unwrap())
        };
        assert_eq!(
            inside.iter().filter(matches).count(),
            inside.len(),
            "{glob}"
        );
        assert_eq!(outside.iter().filter(matches).count(), 0, "{glob}");
    };
    check(
        "/agenda?month=",
        &["/agenda?month=3", "/agenda?a=1&month=3"],
        &["/agenda", "/agenda?xmonth=3", "/agenda/a?month=1"],
    );
    check(
        "?print=",
        &["/a/b?print=1", "/?x=1&print=2"],
        &["/print=1", "/a?xprint=1"],
    );
    check("?*=", &["/a?x"], &["/a"]);
    check("/g/", &["/g/a", "/g/a/b"], &["/ga", "/x/g/a"]);
    check("/g/*/", &["/g/a/b"], &["/h/a/b"]);
    check("/a[1]?m=", &["/a[1]?m=1"], &["/a1?m=1"]);
}

#[test]
fn a_section_is_a_first_level_directory() {
    let check = |path: &str, section: &str| {
        let url = UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap();
        assert_eq!(section_of(&url), section);
    };
    check("/", "/");
    check("/a", "/");
    check("/a/", "/a/");
    check("/a/b/c?d=/e", "/a/");
}

#[test]
fn durations_are_written_with_two_digits() {
    let mut outline = ReportOutline::default();
    assert_eq!(outline.duration_ms(50), None);
    let url = UrlKey::from_normalised("https://h.example/").unwrap();
    let record = PageRecord {
        reason: Reason::Listed,
        depth: 0,
        via: crate::page::Via::Start,
        found_on: None,
        attempts: 1,
        fetched_at: None,
        sitemap_lastmod: None,
        outcome: None,
        basis: crate::page::Basis::Own,
    };
    let row = UrlRow::of(&url, None, &record, &[], 0);
    for duration in 1..=1_000 {
        outline.add(&ReportRow::Url(Box::new(UrlRow {
            duration_ms: Some(duration),
            ..row.clone()
        })));
    }
    let shares = [50, 90, 99, 100].map(|percent| outline.duration_ms(percent));
    assert_eq!(shares, [500, 900, 990, 1_000].map(Some));
    assert_eq!(outline.slow.len(), 10);
    assert_eq!(outline.slow[0].0, 1_000);
    assert_eq!(outline.requests, 1_000);
}
