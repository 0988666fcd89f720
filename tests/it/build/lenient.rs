//! Defects of a list that cost nothing: the messages of `build`, and its exit code.

use std::time::SystemTime;

use jiff::{Timestamp, ToSpan as _, tz::TimeZone};

use super::{Builds, gzip};

const ENTRY: &str =
    "<url><loc>https://www.example.com/a</loc><lastmod>2024-05-17T09:30:00Z</lastmod></url>";

fn urlset(entries: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>"
    )
}

#[test]
fn passed_over_problems_cost_no_value() {
    let check = |content: Vec<u8>, printed: &str| {
        let builds = Builds::new();
        let list = builds.file("list.xml", content);
        let ran = builds.build(&["--strict", &list]).expect_code(0);
        assert_eq!(ran.summary()["input"]["values_left_out"], 0, "{printed}");
        assert!(
            ran.stderr.contains(&format!("value corrected: {printed}")),
            "{printed}: {}",
            ran.stderr
        );
        let lines = builds.lines();
        let (_, values) = lines.first_key_value().expect("an entry");
        assert!(values.starts_with("<lastmod>2024-05-17T"), "{values}");
    };
    check(
        urlset(&ENTRY.replace("/a<", "/?a=1&b=2<")).into(),
        "ampersand is not escaped",
    );
    check(
        urlset(&ENTRY.replace("00Z", "00")).into(),
        "time has no zone, read as UTC",
    );
    let text = urlset(ENTRY);
    let wide = text.encode_utf16().flat_map(u16::to_le_bytes);
    check(wide.collect(), "encoding is UTF-16LE");
    check(
        format!("Warning: x in <b>y.php</b>{}", urlset(ENTRY)).into(),
        "something stands before the XML declaration",
    );
}

#[test]
fn lost_values_are_reported_as_lost() {
    let builds = Builds::new();
    let list = builds.file("list.xml", urlset(&ENTRY.replace("2024", "24")));
    let ran = builds.build(&[&list]).expect_code(3);
    assert_eq!(ran.summary()["input"]["values_left_out"], 1);
    let list = builds.file(
        "list.rss",
        "<rss version=\"2.0\"><channel><item><link>https://www.example.com/b</link><pubDate>Mon, 02 Mar 2026 04:00:11 CEST</pubDate></item></channel></rss>",
    );
    let ran = builds.build(&[&list]).expect_code(3);
    assert_eq!(ran.summary()["input"]["values_left_out"], 1);
    assert!(!builds.lines()["/b"].contains("lastmod"));
}

#[test]
fn day_that_has_begun_somewhere_is_not_in_the_future() {
    let now = Timestamp::try_from(SystemTime::now()).expect("the clock is right");
    let day = |days: i64| {
        let date = now.to_zoned(TimeZone::UTC).date();
        date.checked_add(days.days()).expect("a date").to_string()
    };
    let builds = Builds::new();
    let (tomorrow, later) = (day(1), day(4));
    let list = builds.file(
        "list.csv",
        format!("url,lastmod\n/a,{tomorrow}\n/b,{later}\n"),
    );
    let ran = builds.build(&[&list]).expect_code(3);
    assert!(
        ran.stderr
            .contains(&format!("lastmod {later} is in the future")),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.summary()["input"]["values_left_out"], 1);
    assert!(builds.lines()["/a"].contains(&tomorrow));
}

#[test]
fn list_that_is_packed_too_often_or_cut_short_is_called_that() {
    let builds = Builds::new();
    for times in [3, 5] {
        let packed = (0..times).fold(b"/a\n/b\n".to_vec(), |bytes, _| gzip(&bytes));
        let list = builds.file("often.txt.gz", packed);
        let ran = builds.build(&[&list]);
        assert_ne!(ran.code, Some(0));
        assert!(
            ran.stderr.contains("compressed more than 2 times"),
            "{}",
            ran.stderr
        );
    }
    let lines: Vec<String> = (0..5_000).map(|number| format!("/{number}\n")).collect();
    let lines = lines.concat();
    let whole = gzip(lines.as_bytes());
    let list = builds.file("cut.gz", &whole[..whole.len() / 2]);
    let ran = builds.build(&[&list]);
    assert_ne!(ran.code, Some(0));
    assert!(ran.stderr.contains("behind line "), "{}", ran.stderr);
    assert!(!ran.stderr.contains("behind line 0"), "{}", ran.stderr);
}
