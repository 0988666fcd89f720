//! Documents of any size, in bounded memory.

use std::{
    fs,
    sync::{Arc, Mutex},
};

use super::{bench, gzipped, pages, site, urlset};
use crate::support::{site::Response, state::number};

/// The most memory that a process had so far, in KiB.
#[cfg(target_os = "linux")]
fn peak_kib(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A sitemap of many URLs, each of which would be fetched, then a small one: when that is asked for,
/// the large one was read to its end.
#[cfg(target_os = "linux")]
#[test]
fn a_long_sitemap_is_read_in_bounded_memory() {
    const URLS: usize = 200_000;
    /// An empty crawl has 43 MiB, this one less than 100; a hundred and fifty bytes for each URL would be above.
    const PEAK_KIB: u64 = 128 * 1_024;
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
    let config = bench.settings("requests.timeout = \"10m\"\n");
    let options = ["--config", config.as_str(), "--exclude", "/p/a-name*"];
    let running = bench.spawn(&site.url("/"), &options);
    *process.lock().unwrap() = Some(running.id());
    let summary = running.wait().expect_code(0).summary();
    assert_eq!(number(&summary, "known"), URLS as u64 + 2);
    assert_eq!(number(&summary, "listed"), 2);
    let peak = peak
        .lock()
        .unwrap()
        .expect("the small sitemap was asked for");
    assert!(peak < PEAK_KIB, "{peak} KiB");
}
