//! How documents are asked for: under the clocks of their host, as what they are, in bounded memory.

use std::{
    fs,
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::Value;

use super::{atom, bench, crawl, gzipped, index, pages, site, urlset};
use crate::support::{
    program::Bench,
    site::{Response, Seen},
    state::number,
};

#[test]
fn documents_keep_the_delay_of_their_host() {
    let site = site(|request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!("Sitemap: {origin}/index.xml\n")),
            "/" => Response::html("<link rel=alternate type=application/atom+xml href=/feed>"),
            "/index.xml" => index((1..=3).map(|number| format!("{origin}/{number}.xml"))),
            "/1.xml" => urlset(pages(origin, "one", 4)),
            "/2.xml" if request.earlier == 0 => Response::status(503),
            "/2.xml" => Response::redirect(301, "/two.xml"),
            "/two.xml" => urlset(pages(origin, "two", 4)),
            "/feed" => atom(pages(origin, "feed", 1)),
            _ => return None,
        })
    });
    let bench = Bench::with_options(["--delay", "40ms"]).discovering();
    let config = bench.settings("retry_delays = [\"10ms\"]\n");
    crawl(&bench, &site, &["--config", &config]);
    let log = site.log();
    let paths: Vec<&str> = log.iter().map(|seen| seen.target.as_str()).collect();
    for document in [
        "/index.xml",
        "/1.xml",
        "/2.xml",
        "/two.xml",
        "/3.xml",
        "/feed",
    ] {
        assert!(paths.contains(&document), "{document}: {paths:?}");
    }
    for pair in log.windows(2) {
        let ended = pair[0].ended.expect("it was answered");
        assert!(
            pair[1].begun >= ended + Duration::from_millis(40),
            "{} came too close to {}",
            pair[1].target,
            pair[0].target
        );
    }
}

#[test]
fn retry_after_on_a_sitemap_holds_the_whole_host() {
    let site = site(|request, origin| {
        (request.target == "/sitemap.xml").then(|| match request.earlier {
            0 => Response::status(503).with("Retry-After", "1"),
            _ => urlset(pages(origin, "map", 20)),
        })
    });
    let bench = bench();
    assert_eq!(number(&crawl(&bench, &site, &[]), "listed"), 21);
    let log = site.log();
    let refusal = log.iter().find(|seen| seen.status == 503).unwrap();
    let until = refusal.ended.unwrap() + Duration::from_secs(1);
    let inside = |seen: &&Seen| seen.begun > refusal.ended.unwrap() && seen.begun < until;
    assert_eq!(log.iter().find(inside).map(|seen| &seen.target), None);
}

/// The most memory that a process had so far, in KiB.
#[cfg(target_os = "linux")]
fn peak_kib(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A sitemap of a million URLs, each of which would be fetched, then a small one: when that is asked for,
/// the large one was read to its end.
#[cfg(target_os = "linux")]
#[test]
fn a_sitemap_of_a_million_urls_costs_no_memory_of_its_size() {
    const URLS: usize = 1_000_000;
    let process: Arc<Mutex<Option<u32>>> = Arc::default();
    let peak: Arc<Mutex<Option<u64>>> = Arc::default();
    let (asked_of, noted) = (Arc::clone(&process), Arc::clone(&peak));
    let site = site(move |request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!(
                "Sitemap: {origin}/large.xml.gz\nSitemap: {origin}/small.xml\n"
            )),
            "/large.xml.gz" => gzipped(&urlset(pages(origin, "a-name-of-some-length", URLS))),
            "/small.xml" => {
                let id = *asked_of.lock().unwrap();
                *noted.lock().unwrap() = id.and_then(peak_kib);
                urlset(pages(origin, "small", 1))
            }
            _ => return None,
        })
    });
    let bench = bench();
    let config = bench.settings("head_timeout = \"10m\"\ntotal_timeout = \"10m\"\n");
    let options = ["--config", config.as_str(), "--exclude", "/p/a-name*"];
    let mut command = bench.command(&site.url("/"), &options);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    *process.lock().unwrap() = Some(child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let summary: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(number(&summary, "known"), URLS as u64 + 2);
    assert_eq!(number(&summary, "listed"), 2);
    let peak = peak
        .lock()
        .unwrap()
        .expect("the small sitemap was asked for");
    assert!(peak < 256 * 1_024, "{peak} KiB");
}

#[test]
fn each_kind_of_file_is_asked_for_as_what_it_is() {
    let site = site(|request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!("Sitemap: {origin}/map.xml\n")),
            "/" => Response::html("<link rel=alternate type=application/atom+xml href=/feed>"),
            "/map.xml" => urlset(pages(origin, "map", 1)),
            "/feed" => atom(pages(origin, "feed", 1)),
            _ => return None,
        })
    });
    crawl(&bench(), &site, &[]);
    let log = site.log();
    let accepted = |target: &str| -> &str {
        let seen = log.iter().find(|seen| seen.target == target).unwrap();
        &seen.headers["accept"]
    };
    assert!(accepted("/p/map-0").starts_with("text/html,"));
    assert!(accepted("/robots.txt").starts_with("text/plain,"));
    for document in ["/map.xml", "/feed"] {
        let types = accepted(document);
        assert!(types.starts_with("application/xml,"), "{types}");
        assert!(!types.contains("html"), "{types}");
        assert!(types.contains("application/atom+xml"), "{types}");
    }
}
