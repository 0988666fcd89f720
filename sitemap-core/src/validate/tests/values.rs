//! Tests of all entries of a document together: dates, frequencies and priorities without information, and the limits of the
//! protocol.

use super::*;

/// Findings of a document, with their messages.
fn findings_of(text: &str) -> Vec<String> {
    let findings = findings_alone(text);
    let findings = findings.iter();
    findings
        .map(|finding| format!("{} {}", short(finding), finding.message))
        .collect()
}

/// A urlset with one entry for each of these contents, each in a line of its own.
fn entries(contents: &[&str]) -> String {
    let entries = contents
        .iter()
        .enumerate()
        .map(|(number, content)| format!("<url><loc>https://h.ex/{number}</loc>{content}</url>\n"));
    urlset(entries.collect::<String>().trim_end())
}

#[test]
fn pages_that_changed_at_once_are_a_note() {
    let check = |dates: &[&str], latest: Option<&str>| {
        let contents: Vec<String> = dates
            .iter()
            .map(|date| format!("<lastmod>{date}</lastmod>"))
            .collect();
        let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
        let count = dates.len();
        let expected = latest.map(|latest| {
            format!("note R14:3 all {count} pages have dates within ten minutes, the last is {latest}: perhaps a deploy")
        });
        let found = findings_of(&entries(&contents));
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{dates:?}");
    };
    let (first, last) = ("2026-02-01T10:00:00Z", "2026-02-01T10:10:00Z");
    check(&[first, first, first], Some(first));
    check(&[first, last], Some(last));
    check(&[last, first], Some(last));
    check(&[first], None);
    check(&[first, "2026-02-01T10:10:01Z"], None);
    // One of them at another time, or only by its day.
    check(&[first, "2026-01-01T10:00:00Z", last], None);
    check(&[first, "2026-02-20T10:00:00Z", last], None);
    check(&[first, "2026-02-01", last], None);
    // Many pages may have changed on one day.
    check(&["2026-02-01", "2026-02-01"], None);
}

#[test]
fn values_that_all_pages_share_are_reported() {
    let check = |contents: &[&str], expected: &[&str]| {
        assert_eq!(findings_of(&entries(contents)), expected);
    };
    let busy = "note R17:3 all 2 pages have the frequency always or hourly";
    let (always, hourly) = (
        "<changefreq>always</changefreq>",
        "<changefreq>hourly</changefreq>",
    );
    check(&[always, hourly], &[busy]);
    check(&[always, "<changefreq>daily</changefreq>"], &[]);
    check(&[always, ""], &[]);
    check(&[always], &[]);
    let (half, most) = ("<priority>0.5</priority>", "<priority>0.9</priority>");
    check(
        &[most, most],
        &["note R19:3 all 2 pages have the same priority"],
    );
    check(
        &[half, half, half],
        &["note R19:3 all 3 pages have the same priority"],
    );
    check(&[half, most], &[]);
    check(&[most, most, half], &[]);
    check(&[half, most, most], &[]);
    check(&[half, ""], &[]);
    check(&["", half, half], &[]);
    check(&["", ""], &[]);
}

#[test]
fn dates_that_cannot_be_true_are_reported() {
    let check = |date: &str, expected: &[&str]| {
        let content = format!("<lastmod>{date}</lastmod>");
        assert_eq!(findings_of(&entries(&[&content])), expected, "{date}");
    };
    // It is noon; elsewhere the day has begun already.
    check("2026-03-03", &[]);
    check("2026-03-03T11:59:00Z", &[]);
    check("2026-03-03T12:00:00Z", &[]);
    check(
        "2026-03-03T12:00:01Z",
        &["warning R14:3 date 2026-03-03T12:00:01Z is in the future"],
    );
    check(
        "2026-03-04",
        &["warning R14:3 date 2026-03-04 is in the future"],
    );
    check("1990-01-01", &[]);
    check(
        "1989-12-31",
        &["warning R14:3 date 1989-12-31 is older than the web"],
    );
}

#[test]
fn limits_are_reported_once_and_reading_goes_on() {
    let lines = |count: usize| {
        let lines = (0..count).map(|number| format!("https://h.ex/{number}\n"));
        lines.collect::<String>()
    };
    assert_eq!(findings_of(&lines(50_000)), Vec::<String>::new());
    assert_eq!(
        findings_of(&lines(50_100)),
        [
            "error R52:50001 file has more than 50000 entries",
            "note R30 50100 URLs need at least 2 sitemaps, and an index that lists them",
        ]
    );
    let found = findings_of(&lines(100_001));
    let needed = "note R30 100001 URLs need at least 3 sitemaps, and an index that lists them";
    assert_eq!(found[1..], [needed]);
    // Comments fill a sitemap up to the limit, to the byte.
    let comment = format!("<!--{}-->", "x".repeat(200_000));
    let many = comment.repeat(52_428_800 / comment.len() - 1);
    let full = |after: &str| {
        let entries = format!("<url><loc>https://h.ex/a</loc></url>{after}\n{many}");
        let rest = 52_428_800 - urlset(&entries).len();
        urlset(&(entries + &" ".repeat(rest)))
    };
    let file = full("");
    assert_eq!(file.len(), 52_428_800);
    assert_eq!(findings_of(&file), Vec::<String>::new());
    let file = full("").replace(
        "</urlset>",
        " <url><loc>/b</loc></url><url><loc>/c</loc></url></urlset>",
    );
    let not_absolute = "URL is not absolute, expected http:// or https:// and a host";
    assert_eq!(
        findings_of(&file),
        [
            "error R28:5 file has more than 52428800 bytes uncompressed",
            &format!("error R9:5 {not_absolute}"),
            &format!("error R9:5 {not_absolute}"),
            "note R30 52428849 bytes need at least 2 sitemaps, and an index that lists them",
        ]
    );
    // A single entry stays in one file of any size; an index is divided into indexes (R32).
    let file = full("").replace("</urlset>", "  </urlset>");
    let too_large = "error R28:6 file has more than 52428800 bytes uncompressed";
    assert_eq!(findings_of(&file), [too_large]);
    let children = vec!["https://h.ex/a.xml"; 50_001];
    let found = findings_of(&index(&children));
    assert!(found.iter().any(|finding| finding.contains("R32")));
    assert!(!found.iter().any(|finding| finding.contains("R30")));
}

#[test]
fn many_sitemaps_without_a_date_are_reported_once() {
    let check = |dates: &[(&str, usize)], expected: &[&str]| {
        let dates = dates.iter();
        let dates: Vec<&str> = dates
            .flat_map(|(date, count)| std::iter::repeat_n(*date, *count))
            .collect();
        let children = dates.iter().enumerate().map(|(number, date)| {
            format!("<sitemap><loc>https://h.ex/{number}.xml</loc>{date}</sitemap>\n")
        });
        let children: String = children.collect();
        let text = format!(
            "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{children}</sitemapindex>"
        );
        let mut found = findings_of(&text);
        found.retain(|finding| finding.contains("R43"));
        assert_eq!(found, expected, "{dates:?}");
    };
    let (dated, vague) = (
        "<lastmod>2026-01-02</lastmod>",
        "<lastmod>2026-01</lastmod>",
    );
    let wrong = "<lastmod>yesterday</lastmod>";
    let again = "a lastmod that can be read: consumers have to fetch";
    check(&[("", 9)], &[]);
    let none =
        format!("note R43:2 none of the 10 sitemaps has {again} all of them again each time");
    check(&[("", 10)], &[&none]);
    check(&[(wrong, 10)], &[&none]);
    check(&[(dated, 10)], &[]);
    check(&[(vague, 10)], &[&none]);
    check(&[(dated, 90), ("", 9)], &[]);
    // Where they are not allowed, this is reported instead.
    let child = "<sitemap><loc>https://h.ex/a.xml</loc></sitemap>\n";
    let found = findings_of(&urlset(&child.repeat(20)));
    assert!(found.iter().any(|finding| finding.contains("R36")));
    assert!(!found.iter().any(|finding| finding.contains("R43")));
    let some = format!("note R43:92 10 of 100 sitemaps do not have {again} these again each time");
    check(&[(dated, 90), ("", 10)], &[&some]);
}

#[test]
fn end_of_reading_is_distinguished_from_the_limit() {
    let check = |limits: Limits, expected: &str| {
        let mut options = Options::new(NOW.parse().unwrap());
        options.limits = limits;
        let lines: Vec<String> = (0..50_020)
            .map(|number| format!("https://h.ex/{number}?{}\n", "x".repeat(1_050)))
            .collect();
        let file = lines.concat();
        let mut found = Vec::new();
        let mut sink =
            |finding: Finding| found.push(format!("{} {}", short(&finding), finding.message));
        let report = check_alone(&mut Validator::new(options), &file, &mut sink);
        assert!(!report.is_complete);
        let ends: Vec<&String> = found
            .iter()
            .filter(|found| found.contains("only the first"))
            .collect();
        assert_eq!(ends.len(), 1, "{found:#?}");
        assert!(
            ends[0].starts_with("warning R52:") && ends[0].contains(expected),
            "{found:#?}"
        );
        assert!(
            found
                .iter()
                .all(|found| !found.contains("50010 entries") || found == ends[0])
        );
    };
    let Limits { entries, bytes } = Limits::PROTOCOL;
    let more = 2 * bytes;
    check(
        Limits {
            entries: entries + 10,
            bytes: more,
        },
        "first 50010 entries",
    );
    check(
        Limits {
            entries: 2 * entries,
            bytes: bytes + 100_000,
        },
        "first 52528800 bytes",
    );
}
