//! Servers without end: bodies, heads, redirects, links and calendars. Every run ends, with bounded
//! results, and says what it met.

use std::{
    collections::BTreeMap,
    io::Write as _,
    time::{Duration, Instant},
};

use crawler::page::Reason;
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

use crate::support::{
    program::Bench,
    site::{Response, Site},
    state::{assert_adds_up, number, reasons, records},
};

/// Everything that can last is short, and nothing makes the host pause.
const SHORT: &str = "
max_body_bytes = 100000
max_tries = 1
failures_before_pause = 1000
head_timeout = \"2s\"
idle_timeout = \"1s\"
total_timeout = \"3s\"
";

/// A site whose start page links to these.
fn site_of(pages: Vec<(&'static str, Response)>) -> Site {
    let start = Response::linking(pages.iter().map(|(path, _)| path));
    let answers: BTreeMap<String, Response> = pages
        .into_iter()
        .map(|(path, answer)| (path.to_owned(), answer))
        .collect();
    Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => start.clone(),
        path => answers
            .get(path)
            .cloned()
            .unwrap_or_else(|| Response::status(404)),
    })
}

fn crawl(site: &Site, settings: &str, options: &[&str], code: i32) -> (Bench, Value) {
    let bench = Bench::new();
    let config = bench.settings(settings);
    let all = [&["--config", &config], options].concat();
    let summary = bench
        .crawl(&site.url("/"), &all)
        .expect_code(code)
        .summary();
    assert_adds_up(&summary);
    (bench, summary)
}

fn link(target: &str) -> String {
    format!("<a href=\"{target}\">a link</a>\n")
}

#[test]
fn a_body_over_the_cap_ends_there() {
    let endless = Response::html(link("/").repeat(500)).repeated(usize::MAX, Duration::ZERO);
    let announced = Response::html("x".repeat(100_001));
    let site = site_of(vec![("/announced", announced), ("/endless", endless)]);
    let (bench, summary) = crawl(&site, SHORT, &[], 0);
    let reasons = reasons(&bench);
    assert_eq!(reasons["/announced"], Reason::TooLarge);
    assert_eq!(reasons["/endless"], Reason::TooLarge);
    // What is on its way when the cap is reached is a few buffers.
    assert!(number(&summary, "bytes_in") < 2_000_000, "{summary}");
    assert_eq!(bench.published().urls(), [site.url("/")]);
}

#[test]
fn a_body_that_trickles_or_stands_still_is_cut_short() {
    // Always something new before the silence is too long, but never an end.
    let trickle = Response::html(link("/")).repeated(usize::MAX, Duration::from_millis(50));
    // One piece, and then nothing.
    let silence = Response::html(link("/")).repeated(2, Duration::ZERO);
    let silence = Response {
        repeats: Some((2, Duration::from_secs(20))),
        ..silence
    };
    let site = site_of(vec![
        ("/trickle", trickle),
        ("/silence", silence),
        ("/good", Response::linking(["/"])),
    ]);
    let began = Instant::now();
    let (bench, _) = crawl(&site, SHORT, &[], 3);
    let found = reasons(&bench);
    assert_eq!(found["/trickle"], Reason::CutShort);
    assert_eq!(found["/silence"], Reason::CutShort);
    assert_eq!(bench.published().urls(), [site.url("/"), site.url("/good")]);
    // It was the total time that ended the trickle: no silence was long enough.
    assert!(began.elapsed() >= Duration::from_secs(3));
    assert!(
        records(&bench)["/trickle"]
            .facts()
            .expect("it answered")
            .body_bytes
            > 0
    );
}

#[test]
fn a_head_that_does_not_come_is_a_network_error() {
    let stalled = Response {
        stalls_in_head: true,
        ..Response::html("")
    };
    let late = Response::linking(["/"]).after(Duration::from_secs(20));
    let site = site_of(vec![
        ("/stalled", stalled),
        ("/late", late),
        ("/good", Response::linking(["/"])),
    ]);
    let (bench, summary) = crawl(&site, SHORT, &[], 3);
    let reasons = reasons(&bench);
    assert_eq!(reasons["/stalled"], Reason::NetworkError);
    assert_eq!(reasons["/late"], Reason::NetworkError);
    assert_eq!(number(&summary, "failed"), 2);
    assert_eq!(bench.published().urls(), [site.url("/"), site.url("/good")]);
}

#[test]
fn a_head_without_end_is_a_network_error() {
    let huge = Response::linking(["/"]).with("X-Huge", &"x".repeat(2_000_000));
    let many = (0..5_000).fold(Response::linking(["/"]), |answer, number| {
        answer.with(&format!("X-{number}"), "1")
    });
    let site = site_of(vec![("/huge", huge), ("/many", many)]);
    let (bench, _) = crawl(&site, SHORT, &[], 3);
    let reasons = reasons(&bench);
    assert_eq!(reasons["/huge"], Reason::NetworkError);
    assert_eq!(reasons["/many"], Reason::NetworkError);
}

#[test]
fn a_gzip_bomb_ends_at_the_cap() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let zeros = vec![0; 1_000_000];
    for _ in 0..50 {
        encoder.write_all(&zeros).expect("written to memory");
    }
    let body = encoder.finish().expect("written to memory");
    let bomb = Response {
        body,
        ..Response::html("")
    }
    .with("Content-Encoding", "gzip");
    let site = site_of(vec![("/bomb", bomb), ("/good", Response::linking(["/"]))]);
    let (bench, _) = crawl(&site, "", &[], 0);
    assert_eq!(reasons(&bench)["/bomb"], Reason::TooLarge);
    let decoded = records(&bench)["/bomb"]
        .facts()
        .expect("it answered")
        .body_bytes;
    assert!(decoded <= 15 * 1024 * 1024, "{decoded}");
    assert_eq!(bench.published().urls(), [site.url("/"), site.url("/good")]);
}

#[test]
fn redirects_without_end_are_followed_ten_times() {
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking(["/hop?0", "/loop/a"]),
        "/loop/a" => Response::redirect(301, "/loop/b"),
        "/loop/b" => Response::redirect(301, "/loop/c"),
        "/loop/c" => Response::redirect(301, "/loop/a"),
        hop => {
            let number: u64 = hop["/hop?".len()..].parse().expect("a number");
            Response::redirect(302, &format!("/hop?{}", number + 1))
        }
    });
    let (bench, summary) = crawl(&site, "", &[], 0);
    let hops = site
        .pages()
        .into_iter()
        .filter(|page| page.starts_with("/hop"))
        .count();
    assert_eq!(hops, 11);
    assert_eq!(number(&summary, "known"), 1 + 11 + 3);
    let reasons = reasons(&bench);
    assert_eq!(reasons["/hop?0"], Reason::TooManyRedirects);
    for path in ["/loop/a", "/loop/b", "/loop/c"] {
        assert_eq!(reasons[path], Reason::RedirectLoop);
    }
}

#[test]
fn robots_txt_that_redirects_without_end_allows_all() {
    let site = Site::start(|request| match request.target.as_str() {
        "/" => Response::linking(["/page"]),
        "/page" => Response::linking(["/"]),
        robots => Response::redirect(301, &format!("{robots}x")),
    });
    crawl(&site, "", &[], 0);
    let robots = site
        .log()
        .iter()
        .filter(|seen| seen.target.starts_with("/robots"))
        .count();
    // Five redirects are followed (RFC 9309 section 2.3.1.2).
    assert_eq!(robots, 6);
}

#[test]
fn of_sixty_thousand_links_on_one_page_fifty_thousand_are_taken() {
    let links: String = (0..60_000)
        .map(|number| link(&format!("/file/{number}")))
        .collect();
    let site = Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::html(links.clone()),
        _ => Response::status(404),
    });
    let (bench, summary) = crawl(
        &site,
        "max_parse_time = \"10m\"",
        &["--list-only", "/file/*"],
        3,
    );
    assert_eq!(number(&summary, "listed"), 50_001);
    assert_eq!(number(&summary, "not_recorded"), 10_000);
    assert_eq!(site.pages(), ["/"]);
    let published = bench.published();
    assert_eq!(published.urls().len(), 50_001);
    assert!(
        published
            .parts()
            .values()
            .all(|part| part.entries.len() <= 50_000)
    );
    let warnings = records(&bench)["/"].facts().expect("it answered").warnings;
    assert!(warnings.links_cut, "{warnings:?}");
}

#[test]
fn a_calendar_without_end_stops_at_max_pages() {
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking(["/calendar?day=1"]),
        day => {
            let day: u64 = day["/calendar?day=".len()..].parse().expect("a number");
            Response::linking([day + 1, day + 2].map(|day| format!("/calendar?day={day}")))
        }
    });
    let (bench, summary) = crawl(&site, "", &["--max-pages", "50"], 3);
    assert_eq!(number(&summary, "fetched"), 50);
    assert_eq!(site.pages().len(), 50);
    assert_eq!(bench.published().urls().len(), 50);
    assert!((1..=50).contains(&number(&summary, "queued")), "{summary}");
    assert_eq!(summary["outcome"], "partial");
}

#[test]
fn a_calendar_without_end_stops_at_max_depth() {
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking(["/calendar?day=1"]),
        day => {
            let day: u64 = day["/calendar?day=".len()..].parse().expect("a number");
            Response::linking([format!("/calendar?day={}", day + 1)])
        }
    });
    let (_, summary) = crawl(&site, "", &["--max-depth", "7"], 0);
    assert_eq!(number(&summary, "listed"), 8);
    assert_eq!(summary["excluded"]["too-deep"], 1);
}

#[test]
fn a_robots_txt_without_end_is_read_to_its_limit() {
    let line = "Disallow: /closed-by-the-first-lines/\n# filler\n";
    let site = Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(format!("User-agent: *\n{}", line.repeat(100)))
            .repeated(usize::MAX, Duration::ZERO),
        "/" => Response::linking(["/closed-by-the-first-lines/a", "/open"]),
        _ => Response::linking(["/"]),
    });
    let (_, summary) = crawl(&site, "", &[], 0);
    assert_eq!(summary["excluded"]["robots-disallowed"], 1, "{summary}");
    assert_eq!(number(&summary, "listed"), 2);
}

/// Each page has a hundred links of 1,800 bytes of its own, to pages that are like it.
fn site_of_long_links() -> Site {
    Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        path => {
            // A page is called by the way that leads there, which is cut before it is too long.
            let way = path
                .trim_start_matches('/')
                .split('/')
                .next()
                .unwrap_or_default();
            let filler = "f".repeat(1_700);
            let links = (0..100).map(|number| link(&format!("/{way}.{number}/{filler}")));
            Response::html(links.collect::<String>())
        }
    })
}

#[test]
fn long_links_are_left_out_beyond_each_bound() {
    let site = site_of_long_links();
    let check = |settings: &str, known: std::ops::RangeInclusive<u64>| {
        let settings = format!("max_pages = 30\n{settings}");
        let (_, summary) = crawl(&site, &settings, &[], 3);
        assert!(
            number(&summary, "not_recorded") > 0,
            "{settings}: {summary}"
        );
        assert!(
            known.contains(&number(&summary, "known")),
            "{settings}: {summary}"
        );
        assert_eq!(summary["outcome"], "partial");
    };
    // Thirty pages of five links each, and the start page.
    check("max_link_bytes = \"9 KiB\"", 100..=151);
    check("max_known_urls = 70", 70..=70);
    // A URL takes about four times its bytes; the state is looked at after each round of pending work.
    check(
        "max_state_bytes = \"2 MiB\"\nmax_pending_bytes = \"1 MiB\"",
        100..=2_500,
    );
}

#[test]
fn bounds_hold_in_the_next_start_and_take_nothing_that_is_published() {
    let site = site_of_long_links();
    let bench = Bench::new();
    let config = bench.settings("max_pages = 20\nmax_known_urls = 40");
    let run = |options: &[&str], code: i32| {
        let options = [&["--config", config.as_str()], options].concat();
        let summary = bench
            .crawl(&site.url("/"), &options)
            .expect_code(code)
            .summary();
        assert_adds_up(&summary);
        summary
    };
    let first = run(&[], 3);
    assert_eq!(
        (number(&first, "known"), number(&first, "queued")),
        (40, 20)
    );
    let second = run(&[], 3);
    assert_eq!(
        (number(&second, "known"), number(&second, "queued")),
        (40, 0)
    );
    assert_eq!(number(&second, "listed"), 40);
    assert!(number(&second, "not_recorded") > number(&first, "not_recorded"));
    let published = bench.published().urls().len();
    // A smaller bound in another crawl.
    bench.settings("max_pages = 100\nmax_known_urls = 5");
    let third = run(&[], 3);
    assert_eq!(number(&third, "listed"), 40, "{third}");
    assert_eq!(bench.published().urls().len(), published);
}
