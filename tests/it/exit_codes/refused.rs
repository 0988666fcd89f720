//! 4: the published set stays as it was.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{assert_nothing_published, assert_outcome, site_of, starting_with};
use crate::support::{
    program::Bench,
    site::{Response, Site},
    state::number,
};

#[test]
fn empty_set_is_refused() {
    let noindex = || Response::html("<meta name=robots content=noindex>");
    let site = starting_with(noindex());
    let bench = Bench::new();
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(4);
    assert_outcome(&ran, "refused");
    assert!(ran.stderr.contains("nothing to list"), "{}", ran.stderr);
    assert_nothing_published(&bench);

    // `--force` writes no empty sitemap either: the protocol requires at least one entry.
    bench.crawl(&site.url("/"), &["--force"]).expect_code(4);
    assert_nothing_published(&bench);
}

#[test]
fn foreign_file_is_refused_before_any_request() {
    let site = site_of(2);
    let bench = Bench::new();
    fs::create_dir_all(bench.output()).expect("created");
    let path = bench.output().join("sitemap.xml");
    let feed = bench.output().join("sitemap-recent.rss");
    fs::write(&feed, "mine").expect("written");
    for options in [&["--format", "xml,rss"][..], &[], &["--dry-run"]] {
        if !options.contains(&"--format") {
            fs::write(&path, "mine").expect("written");
        }
        let ran = bench.crawl(&site.url("/"), options).expect_code(4);
        assert_outcome(&ran, "refused");
        assert!(
            ran.stderr.contains("is not a file that arpent published"),
            "{}",
            ran.stderr
        );
    }
    assert!(site.log().is_empty(), "{:?}", site.log());
    assert_eq!(fs::read_to_string(&path).expect("read"), "mine");
    bench
        .crawl(&site.url("/"), &["--force", "--dry-run"])
        .expect_code(0);
    bench.crawl(&site.url("/"), &["--force"]).expect_code(0);
    assert_eq!(bench.published().urls().len(), 3);
    let backups: Vec<String> = fs::read_dir(bench.output())
        .expect("listed")
        .map(|entry| {
            entry
                .expect("listed")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .filter(|name| name.starts_with("sitemap.xml.bak-"))
        .collect();
    assert_eq!(backups.len(), 1, "{backups:?}");
    assert_eq!(
        fs::read_to_string(bench.output().join(&backups[0])).expect("read"),
        "mine"
    );
}

#[test]
fn output_that_became_unwritable_is_refused() {
    let bench = Bench::new();
    let output = bench.output();
    let site = Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking(["/page/0", "/page/1"]),
        _ => {
            // The folder is removed while the site is crawled.
            drop(fs::remove_dir_all(&output));
            drop(fs::write(&output, "a file"));
            Response::linking(["/"])
        }
    });
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(4);
    assert_outcome(&ran, "refused");
    assert!(ran.stderr.contains("failed to create"), "{}", ran.stderr);
    let asked = site.pages().len();

    // The crawl is stored: the next session publishes its result.
    fs::remove_file(bench.output()).expect("removed");
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert_eq!(bench.published().urls().len(), 3);
    let again = site.pages().split_off(asked);
    assert_eq!(again, ["/"], "only the start page is asked for again");
}

#[test]
fn a_site_that_goes_down_is_refused() {
    let is_down = Arc::new(AtomicBool::new(false));
    let down = Arc::clone(&is_down);
    let site = Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking((0..20).map(|number| format!("/page-{number}"))),
        _ if down.load(Ordering::SeqCst) => Response::status(503),
        own => Response::linking(["/", own]),
    });
    let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "1"]);
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = bench.published();
    is_down.store(true, Ordering::SeqCst);
    let config = bench.settings(
        "limits.max_tries = 1\ntesting.failures_before_pause = 2\ntesting.pause = \"50ms\"\ntesting.max_pause = \"100ms\"\ntesting.max_pauses = 2\n",
    );
    let ran = bench
        .crawl(&site.url("/"), &["--config", &config])
        .expect_code(4);
    assert_outcome(&ran, "refused");
    assert!(ran.stderr.contains("the site went down"), "{}", ran.stderr);
    assert!(number(&ran.summary(), "queued") > 0);
    assert_eq!(bench.published().differences(&before), [] as [String; 0]);
}
