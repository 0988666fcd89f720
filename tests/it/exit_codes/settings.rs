//! 2: wrong settings, reported before anything is requested or written.

use std::fs::{self};

use super::{assert_outcome, site_of};
use crate::support::program::Bench;

#[test]
fn wrong_settings_request_and_write_nothing() {
    let site = site_of(1);
    let bench = Bench::with_options([]);
    let config = bench.settings("# comment\n\nlimits.max_pages = -1\n");
    let ran = bench.crawl(&site.url("/"), &["--config", &config]);
    let ran = ran.expect_code(2);
    assert_eq!(
        ran.stderr,
        "error: config.toml:3: max_pages: expected a whole number, 1 or more, found -1\n"
    );
    assert_eq!(ran.stdout, "");
    assert!(site.log().is_empty());
    assert!(!bench.state().exists() && !bench.output().exists());
}

#[test]
fn public_url_must_cover_the_site() {
    let site = site_of(1);
    let bench = Bench::new();
    let public_url = site.url("/sitemaps/");
    let ran = bench
        .crawl(&site.url("/"), &["--public-url", &public_url])
        .expect_code(2);
    let origin = site.origin();
    // It is reported after the site is known, so the line is one of the log.
    let (time, line) = ran.stderr.split_once(' ').expect("a time");
    assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
    assert_eq!(
        line,
        format!(
            "error: --public-url: a sitemap in {origin}/sitemaps/ may not list {origin}/, because a sitemap lists only URLs in its own directory (R58); \
             expected {origin}/, a directory above it, or another host whose sitemaps {origin}/robots.txt names\n"
        )
    );
    assert_outcome(&ran, "settings");
}

#[test]
fn state_of_a_newer_version_is_unchanged() {
    let site = site_of(1);
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let file = crate::support::state::file(&bench);
    // The schema's version is a number in the header of the file (SQLite file format, offset 60).
    let mut bytes = fs::read(&file).expect("the state can be read");
    bytes[60..64].copy_from_slice(&1_000_u32.to_be_bytes());
    fs::write(&file, &bytes).expect("the state can be written");
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(2);
    assert!(ran.stderr.contains("newer"), "{}", ran.stderr);
    assert_eq!(fs::read(&file).expect("the state can be read"), bytes);
}
