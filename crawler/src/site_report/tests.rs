use super::*;

#[test]
fn a_section_is_a_first_level_directory() {
    let check = |path: &str, section: &str| {
        let url = UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap();
        assert_eq!(url.first_directory(), section);
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
        attempts: 1,
        ..PageRecord::new(Reason::Listed, 0, crate::page::Via::Start)
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
