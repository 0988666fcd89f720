//! Sites without end: a garden with traps that is served by a script of the folder `ARPENT_SHARED`. Each crawl ends by itself,
//! lists every ordinary page, and at most [`MAX_LISTED`] pages of a trap.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use crawler::page::Reason;
use serde_json::Value;

use crate::support::{
    self,
    agreement::assert_agree,
    program::{Bench, CLOSES_PATTERNS, Ran},
    site::{Response, Site},
    state::number,
};

/// Pages of one trap that may be listed.
const MAX_LISTED: usize = 5;

/// Highest number of requests for one trap.
const MAX_REQUESTS: u64 = 500;

/// The script that serves the garden; it ends with the value.
struct Garden {
    script: Child,
    origin: String,
}

impl Garden {
    /// The garden with the traps of `profile`; `None` after a note that the test is skipped.
    fn start(profile: &str) -> Option<Self> {
        let script = support::shared()?.join("traps/server.py");
        if !support::has_program("python3") {
            return None;
        }
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        drop(listener);
        let mut script = Command::new("python3")
            .arg(script)
            .args([&port.to_string(), "--profile", profile])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 can be started");
        let output = script.stdout.take().expect("it is piped");
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        assert!(read.is_ok_and(|bytes| bytes > 0), "the garden is open");
        let origin = format!("http://127.0.0.1:{port}");
        Some(Self { script, origin })
    }

    /// What the script reports of itself under `name`.
    fn ask(&self, name: &str) -> Value {
        let address = self.origin.trim_start_matches("http://");
        let mut stream = std::net::TcpStream::connect(address).expect("the garden is open");
        let request =
            format!("GET /{name} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        std::io::Write::write_all(&mut stream, request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).expect("it answers");
        let (_, body) = answer.split_once("\r\n\r\n").expect("it has a body");
        serde_json::from_str(body).expect("it is JSON")
    }
}

impl Drop for Garden {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

/// Crawls `url` with the defaults.
fn crawl(bench: &Bench, url: &str) -> Ran {
    let mut command = bench.command(url, &[]);
    command.env_remove(CLOSES_PATTERNS);
    Ran::of(command)
}

#[test]
fn a_crawl_of_an_endless_site_ends_and_lists_its_ordinary_pages() {
    let profiles = [
        "none",
        "calendar",
        "session-id",
        "facets",
        "nesting",
        "soft-404",
        "all",
    ];
    for profile in profiles {
        let Some(garden) = Garden::start(profile) else {
            return;
        };
        let bench = Bench::new();
        let ran = crawl(&bench, &garden.origin).expect_code(0);
        let reasons = assert_agree(&bench, &garden.origin, &ran.summary());
        if profile == "all" {
            let repeats = [
                Reason::PatternClosed,
                Reason::NothingNew,
                Reason::NotFoundPage,
                Reason::Nested,
                Reason::DuplicateOf,
            ];
            assert!(
                repeats.iter().all(|reason| reasons.contains(reason)),
                "{reasons:?}"
            );
        }
        let listed: BTreeSet<String> = bench.published().entries().into_keys().collect();
        let truth = garden.ask("__truth");
        let truth: BTreeSet<String> = truth
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|url| url.as_str().map(str::to_owned))
            .collect();
        let missing: Vec<_> = truth.difference(&listed).collect();
        assert_eq!(missing, [""; 0], "{profile}");
        let traps = if profile == "all" { 5 } else { 1 };
        let wrong: Vec<_> = listed.difference(&truth).collect();
        assert!(wrong.len() <= MAX_LISTED * traps, "{profile}: {wrong:?}");
        let stats = garden.ask("__stats");
        let kinds = stats["by_kind"].as_object().expect("kinds");
        for (kind, requests) in kinds.iter().filter(|(kind, _)| *kind != "honest") {
            let requests = requests.as_u64().unwrap_or(u64::MAX);
            assert!(requests <= MAX_REQUESTS, "{profile}: {kind} {requests}");
        }
    }
}

#[test]
fn a_closed_pattern_stays_closed_in_the_next_crawl_but_for_a_sample() {
    let site = Site::allowing(|request| {
        let menu = "<a href='/'>start</a> <a href='/agenda?month=1'>agenda</a>";
        match request.target.split_once("?month=") {
            Some((_, month)) => {
                let month: u32 = month.parse().unwrap_or_default();
                Response::html(format!(
                    "{menu}<p>Month {month}: nothing is planned.</p><a href='/agenda?month={}'>next</a>",
                    month + 1
                ))
            }
            None if request.target == "/" => Response::html(format!("{menu}<p>Welcome.</p>")),
            None => Response::status(404),
        }
    });
    let bench = Bench::new();
    let is_month = |target: &String| target.contains("month=");
    let first = crawl(&bench, &site.origin()).expect_code(0);
    let asked = site
        .pages()
        .iter()
        .filter(|target| is_month(target))
        .count();
    assert!((50..=60).contains(&asked), "{asked}");
    assert!(number(&first.summary()["excluded"], "pattern-closed") > 0);
    site.clear_log();
    crawl(&bench, &site.origin()).expect_code(0);
    let again = site
        .pages()
        .iter()
        .filter(|target| is_month(target))
        .count();
    assert!(again <= 10, "{again}");
}

#[test]
fn copies_by_query_are_listed_once() {
    let site = Site::allowing(|request| match request.target.split('?').next() {
        Some("/") => Response::html(
            "<a href='/a'>one</a> <a href='/a?view=wide'>the same</a> <a href='/a?page=2'>other</a>",
        ),
        Some("/a") if request.target.contains("page=2") => Response::html("<p>The rest.</p>"),
        Some("/a") => Response::html("<p>The beginning.</p>"),
        _ => Response::status(404),
    });
    let bench = Bench::new();
    let ran = crawl(&bench, &site.origin()).expect_code(0);
    let listed: Vec<String> = bench.published().entries().into_keys().collect();
    assert_eq!(listed, ["/", "/a", "/a?page=2"].map(|path| site.url(path)));
    assert_eq!(number(&ran.summary()["excluded"], "duplicate-of"), 1);
}

#[test]
fn a_first_crawl_of_a_login_form_at_all_urls_is_refused() {
    let site = Site::allowing(|request| {
        if request.target == "/" {
            let link = |page| format!("<a href='/page/{page}'>{page}</a>");
            let links = (0..30).map(link).collect::<Vec<_>>().join(" ");
            return Response::html(format!("<title>Start</title><p>Welcome to all.</p>{links}"));
        }
        if !request.target.starts_with("/page/") {
            return Response::status(404);
        }
        Response::html(
            "<title>Log in</title><form><input type='password'></form><p>Please log in.</p>",
        )
    });
    let bench = Bench::new();
    let ran = crawl(&bench, &site.origin()).expect_code(4);
    assert!(
        ran.stderr.contains("have one title and ask for a password"),
        "{}",
        ran.stderr
    );
    assert!(bench.published().files.is_empty());
}
