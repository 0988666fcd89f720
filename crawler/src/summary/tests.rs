//! The whole line of JSON, and the whole view.

use std::collections::BTreeMap;

use super::{robots::tests::robots_file, *};
use crate::{
    export::{KindCounts, LeftOut},
    page::{DateSource, Reason},
    publish::{Journal, PublishedFile},
    report::SetChanges,
    seeds::{Document, DocumentKind, Outside, RuleTally, SeedProblem, Tally},
};

/// The view as lines.
fn lines_of(summary: &Summary) -> Vec<String> {
    let view = summary.view();
    let mut lines = vec![view.title];
    for row in view.sections.iter().flat_map(|section| &section.rows) {
        lines.push(format!("  {}", row.cells[0].text()));
        lines.extend(row.below.iter().map(|line| format!("    {line}")));
        if row.more > 0 {
            lines.push(format!("    and {} more", crate::human::number(row.more)));
        }
    }
    lines
}

fn summary() -> Summary {
    let mut summary = Summary::new("https://www.example.com/docs");
    summary.site = "https://www.example.com/docs/".to_owned();
    let mut news = Document::new("https://www.example.com/news.xml", DocumentKind::Sitemap, 1)
        .with_problem(SeedProblem::Gone, "status 404");
    news.named_by = Some("https://www.example.com/robots.txt".to_owned());
    let mut report = Report::from_counts(&BTreeMap::from([
        (Reason::Listed, 1_200),
        (Reason::ListOnly, 31),
        (Reason::Unreachable, 2),
        (Reason::GoneOnce, 1),
        (Reason::Noindex, 150),
        (Reason::Gone, 50),
        (Reason::CanonicalElsewhere, 50),
        (Reason::TooDeep, 0),
        (Reason::ServerError, 2),
        (Reason::NetworkError, 1),
        (Reason::Queued, 7),
    ]));
    let examples = [("gone", "/old"), ("server-error", "/broken")];
    report.examples = examples
        .map(|(code, path)| (code, vec![format!("https://www.example.com/docs{path}")]))
        .into();
    report.orphans = 2;
    report.seeds = Tally {
        read: 3,
        with_problems: 1,
        problems: vec![news],
        ..Tally::default()
    };
    summary.set_report(report);
    summary.work.fetched = 1_400;
    summary.work.not_modified = 100;
    summary.work.bytes_in = 12_900_000;
    summary.surroundings.resumed = true;
    summary.set_duration(Duration::from_micros(123_456_789));
    summary.surroundings.output = Some(PathBuf::from("sitemaps/https_www.example.com_docs"));
    summary.outcome = SessionOutcome::Partial;
    let published = Published {
        files: vec![
            PublishedFile {
                name: "sitemap.xml".to_owned(),
                url: "https://www.example.com/docs/sitemap.xml".to_owned(),
                entries: 1,
                bytes: 300,
                changed: true,
            },
            PublishedFile {
                name: "sitemap-root.xml.gz".to_owned(),
                url: "https://www.example.com/docs/sitemap-root.xml.gz".to_owned(),
                entries: 1_234,
                bytes: 98_765,
                changed: false,
            },
        ],
        sitemap_urls: vec!["https://www.example.com/docs/sitemap.xml".to_owned()],
        listed: 1_234,
        duplicates: 0,
        sources: BTreeMap::from([(DateSource::Header, 200), (DateSource::JsonLd, 1_000)]),
        dropped: vec!["sitemap.old.xml.gz".to_owned()],
        extensions: ExtensionCounts::default(),
        journal: Journal::default(),
        changes: Some(SetChanges::default()),
        notes: Vec::new(),
        problems: Vec::new(),
    };
    summary.set_published(&published, &robots_file(Some(&[])));
    summary.surroundings.state = Some(PathBuf::from("state/https_www.example.com_docs.db"));
    summary.surroundings.stopped_by = Some("max_pages = 1400 was reached".to_owned());
    summary.notes.push(Note::feed_empty().naming(&"/a"));
    summary
}

#[test]
fn json_line_has_exactly_the_promised_keys() {
    assert_eq!(
        summary().json(),
        concat!(
            r#"{"version":1,"site":"https://www.example.com/docs/","outcome":"partial","known":1494,"listed":1234,"#,
            r#""excluded":{"canonical-elsewhere":50,"gone":50,"noindex":150},"failed":3,"queued":7,"not_recorded":0,"#,
            r#""cut":[],"orphans":2,"seeds":{"read":3,"published_by_arpent":0,"waiting":0,"#,
            r#""with_problems":1,"problems":[{"name":"https://www.example.com/news.xml","problem":"gone","#,
            r#""detail":"status 404","named_by":"https://www.example.com/robots.txt"}],"entries":[]},"#,
            r#""retained":{"gone-once":1,"unreachable":2},"fetched":1400,"not_modified":100,"duration_s":123.457,"#,
            r#""bytes_in":12900000,"files":["#,
            r#"{"name":"sitemap.xml","entries":1,"bytes":300,"changed":true},"#,
            r#"{"name":"sitemap-root.xml.gz","entries":1234,"bytes":98765,"changed":false}],"#,
            r#""changes":{"added":{"count":0,"first":[]},"removed":{"count":0,"first":[]},"lastmod_moved":{"count":0,"first":[]}},"#,
            r#""lastmod":{"header":200,"json-ld":1000},"robots_txt":[{"url":"https://www.example.com/robots.txt","#,
            r#""line":"Sitemap: https://www.example.com/docs/sitemap.xml","required":false,"present":false}],"#,
            r#""publish_as":null,"ignored":[],"notes":["#,
            r#"{"code":"feed-empty","count":1,"example":"/a","text":"no page has a lastmod, so there is no feed of recent "#,
            r#"changes: a feed lists pages with the time of their change"}]}"#
        )
    );
}

#[test]
fn entry_problems_have_a_line_for_each_rule() {
    let mut summary = summary();
    let mut report = Report::default();
    for number in 0..12 {
        let tally = RuleTally {
            count: 1_000 + number,
            documents: 1 + number,
            document: "https://www.example.com/a.xml".to_owned(),
            example: format!("line 2, byte 7: no date (R{number})"),
        };
        report.seeds.entries.insert(format!("R{number}"), tally);
    }
    summary.set_report(report);
    let text = lines_of(&summary);
    let place = text
        .iter()
        .position(|line| line.contains("wrong in entries"))
        .unwrap();
    let told = &text[place..place + 12];
    assert_eq!(
        told[0],
        "  12,066 things wrong in entries of sitemaps, feeds and lists; what can be used of them was used:"
    );
    assert_eq!(
        told[1],
        "    1,011 R11 in 12 files, e.g. https://www.example.com/a.xml, line 2, byte 7: no date (R11)"
    );
    assert_eq!(told[11], "    and 2 more");
}

#[test]
fn scope_advice_is_given_where_it_helps() {
    let text = |example: &str| {
        let mut list = Document::new("urls.txt", DocumentKind::List, 1);
        list.entries = 3;
        list.outside = Some(Outside {
            count: 2,
            example: example.to_owned(),
        });
        let mut summary = summary();
        let seeds = Tally {
            outside: 2,
            outside_in: vec![list],
            ..Tally::default()
        };
        summary.set_report(Report {
            seeds,
            ..Report::default()
        });
        lines_of(&summary).join("\n")
    };
    let outside = "2 URLs of sitemaps, feeds and lists outside the site, not taken";
    let near = text("https://www.example.com/blog/a");
    let advice = format!("{outside} (--scope origin takes those on its host):");
    assert!(near.contains(&advice), "{near}");
    let far = text("https://elsewhere.example/docs/a");
    assert!(far.contains(&format!("{outside}:")), "{far}");
}

#[test]
fn requested_extensions_are_reported() {
    let mut summary = summary();
    summary.set.files.clear();
    let images = KindCounts {
        pages: 2,
        written: 1_001,
        pages_cut: 1,
        pages_not_read: 3,
        ..KindCounts::default()
    };
    let left_out = [(LeftOut::OtherHost, 4), (LeftOut::NoReturnLink, 12)];
    let published = Published {
        extensions: ExtensionCounts {
            images: Some(images),
            hreflang: Some(KindCounts {
                left_out: left_out.into(),
                ..KindCounts::default()
            }),
            ..ExtensionCounts::default()
        },
        ..Published::default()
    };
    summary.set_published(&published, &robots_file(None));
    let json = summary.json();
    let (_, json) = json.split_once(r#""extensions":"#).unwrap();
    let (json, _) = json.split_once(r#","robots_txt""#).unwrap();
    assert_eq!(
        json,
        concat!(
            r#"{"images":{"pages":2,"written":1001,"left_out":{},"pages_cut":1,"pages_not_read":3},"#,
            r#""hreflang":{"pages":0,"written":0,"left_out":{"other-host":4,"no-return-link":12},"#,
            r#""pages_cut":0,"pages_not_read":0}}"#
        )
    );
    let expected = "
  1,001 images in the entries of 2 pages
  1 page with more images than are taken
  3 pages read before images were asked for: the next crawl takes them
  0 language links in the entries of 0 pages
  16 language links left out:
    12  without a link back (no-return-link)
     4  on another host, where the link back cannot be checked (other-host)
";
    let text = lines_of(&summary).join("\n");
    assert!(text.contains(expected), "{text}");
}

#[test]
fn builds_report_what_they_read() {
    let text_of = |loaded: Loaded| {
        let mut summary = summary();
        summary.set_loaded(&loaded);
        (lines_of(&summary).join("\n"), summary.json())
    };
    for (entries, files, expected) in [
        (0, 0, "0 entries"),
        (1, 0, "1 entry"),
        (0, 1, "1 file"),
        (2, 0, "2 entries"),
        (1, 3, "1 entry and 3 files"),
    ] {
        let (text, _) = text_of(Loaded {
            entries,
            files,
            ..Loaded::default()
        });
        let expected = format!(" known; {expected} read in ");
        assert!(text.contains(&expected), "{expected}: {text}");
    }
    let (text, json) = text_of(Loaded {
        entries: 1_500,
        left_out: 1,
        values_left_out: 2,
        outside: 1,
        repeated: 3,
        bytes: 12_345,
        ..Loaded::default()
    });
    let input = concat!(
        r#""bytes_in":12345,"input":{"entries":1500,"files":0,"repeated":3,"outside":1,"#,
        r#""left_out":1,"values_left_out":2}"#
    );
    assert!(json.contains(input), "{json}");
    for words in [
        "1,234 listed of 1,494 URLs known; 1,500 entries read in 2 min 3 s (12.1 KiB)\n",
        "  3 entries that repeat the URL of another, of which the better one counts\n",
        "  1 entry outside the site, not listed\n",
        "  1 line that cannot be used, left out\n",
        "  2 values that cannot be used, left out\n",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(!text.contains("pages fetched"), "{text}");
}

#[test]
fn text_view_has_every_part() {
    let expected = "\
https://www.example.com/docs/: published, but partial
  1,234 listed of 1,494 URLs known; 1,400 pages fetched in 2 min 3 s (100 not modified, 12.3 MiB)
  this session continued the crawl
  3 listed with the data of an earlier answer:
    2  no usable answer this time, still listed with the data of the last good one (unreachable)
    1  one 404, still listed: a second one after an hour or more removes it (gone-once)
  250 left out:
    150  noindex
     50  alternate, canonical is another URL (canonical-elsewhere)
     50  not found, 404 or 410 (gone)
           https://www.example.com/docs/old
  3 failed:
    2  server error, 5xx or 429 (server-error)
         https://www.example.com/docs/broken
    1  network error, time-out, or not requested after others failed (network-error)
  7 not reached
  max_pages = 1400 was reached
  2 URLs listed, only in sitemaps, feeds or lists: no page leads there
  1 sitemap, feed or list with a problem:
    https://www.example.com/news.xml does not exist (status 404), named by https://www.example.com/robots.txt
  1,200 of 1,234 with lastmod: 1,000 from JSON-LD, 200 from Last-Modified
  2 files in sitemaps/https_www.example.com_docs: 1 written, 1 unchanged, 1 dropped
    sitemap.xml          1 entry, written
    sitemap-root.xml.gz  1,234 entries, unchanged
  copy the files to https://www.example.com/docs/, unless the folder is served there
  for robots.txt:
    Sitemap: https://www.example.com/docs/sitemap.xml
  state in state/https_www.example.com_docs.db
  what was left out, and broken links:
    arpent report https://www.example.com/docs/
  NOTE: no page has a lastmod, so there is no feed of recent changes: a feed lists pages with the time of their change";
    assert_eq!(lines_of(&summary()).join("\n"), expected);
}

#[test]
fn an_unchanged_set_has_one_line_of_what_was_left_out() {
    let mut summary = summary();
    summary.outcome = SessionOutcome::Unchanged;
    let lines = lines_of(&summary);
    let left_out = "  250 left out: 150 noindex, 50 canonical-elsewhere, 50 gone";
    assert!(lines.iter().any(|line| line == left_out), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("arpent report")));
}

#[test]
fn a_refused_crawl_names_the_command_that_publishes_it() {
    let mut summary = summary();
    summary.outcome = SessionOutcome::Refused;
    summary.guard = Some(GuardLine::default());
    for (options, command) in [
        (Some(" --exclude /a"), "--exclude /a --force publishes"),
        (None, "with the same options and --force publishes"),
    ] {
        summary.surroundings.options.publish = options.map(str::to_owned);
        let lines = lines_of(&summary);
        let command =
            format!("  arpent publish https://www.example.com/docs/ {command} it all the same");
        assert!(lines.contains(&command), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("arpent report")));
    }
}

#[test]
fn a_failed_site_has_a_summary_too() {
    let mut summary = Summary::new("https://example.com/");
    summary.outcome = SessionOutcome::Unreachable;
    assert_eq!(
        lines_of(&summary),
        ["https://example.com/: could not be crawled"]
    );
    assert_eq!(
        summary.json(),
        concat!(
            r#"{"version":1,"site":"https://example.com/","outcome":"unreachable","known":0,"listed":0,"excluded":{},"#,
            r#""failed":0,"queued":0,"not_recorded":0,"cut":[],"orphans":0,"seeds":{"read":0,"#,
            r#""published_by_arpent":0,"waiting":0,"with_problems":0,"problems":[],"entries":[]},"retained":{},"#,
            r#""fetched":0,"not_modified":0,"duration_s":0.0,"bytes_in":0,"files":[],"lastmod":{},"robots_txt":[],"#,
            r#""publish_as":null,"ignored":[],"notes":[]}"#
        )
    );
}

#[test]
fn old_sitemaps_are_mentioned_where_they_exist() {
    fn check(has_old_set: bool, expected: &str) {
        let mut summary = Summary::new("https://example.com/");
        summary.outcome = SessionOutcome::Refused;
        summary.surroundings.has_old_set = has_old_set;
        assert_eq!(
            lines_of(&summary),
            [format!("https://example.com/: {expected}")]
        );
    }
    check(true, "refused, the published sitemaps stay");
    check(false, "refused, nothing is published");
}

#[test]
fn orphans_are_worded_otherwise_without_links() {
    let mut config = Config::default();
    config.discover.links = false;
    let mut summary = summary();
    summary.set_asked(&config);
    let told = "  2 URLs listed, only in sitemaps, feeds or lists: links were not followed";
    assert!(lines_of(&summary).contains(&told.to_owned()));
}

#[test]
fn text_names_twenty_files() {
    let mut summary = summary();
    let mut file = summary.set.files[1].clone();
    file.changed = true;
    summary.set.files = vec![file; 1_020];
    let text = lines_of(&summary);
    assert_eq!(
        text.iter().filter(|line| line.contains("entries")).count(),
        20
    );
    assert!(text.contains(&"    and 1,000 more".to_owned()), "{text:?}");
}

#[test]
fn unrecorded_links_make_a_session_partial() {
    let mut summary = summary();
    let mut report = Report::from_counts(&BTreeMap::from([(Reason::Listed, 10)]));
    report.not_recorded = 1_234;
    summary.set_report(report);
    assert!(summary.is_partial());
    let told = "  1,234 links left out (not-recorded): beyond max_links or 2 MiB of a page, max_known_urls or max_state_bytes";
    assert!(
        lines_of(&summary).contains(&told.to_owned()),
        "{:?}",
        lines_of(&summary)
    );
    assert!(summary.json().contains(r#""not_recorded":1234,"#));
}

#[test]
fn failures_make_a_session_partial() {
    fn check(reason: Reason, expected: bool) {
        let mut summary = Summary::new("x");
        summary.set_report(Report::from_counts(&BTreeMap::from([
            (Reason::Listed, 10),
            (reason, 1),
        ])));
        assert_eq!(summary.is_partial(), expected, "{reason:?}");
    }
    for reason in Reason::ALL.iter().copied() {
        let expected = matches!(
            reason,
            Reason::Queued
                | Reason::NetworkError
                | Reason::Undecodable
                | Reason::Unparsable
                | Reason::ServerError
                | Reason::Blocked
                | Reason::InternalError
                | Reason::CutShort
                | Reason::Unreachable
                | Reason::NotReached
        );
        check(reason, expected);
    }
}
