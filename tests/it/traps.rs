//! Sites without end, and sites that look so: those that scripts in the folder `ARPENT_SHARED` serve. Each crawl ends by itself, lists
//! every ordinary page, and at most [`MAX_LISTED`] pages of a trap.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crawler::{page::Reason, testing::is_in_sample};
use serde_json::Value;

use crate::support::{
    self,
    agreement::assert_agree,
    program::{Bench, CLOSES_PATTERNS, Ran, Running},
    random::Random,
    site::{Request, Response, Site},
    state::number,
};

/// Pages of one trap that may be listed.
const MAX_LISTED: usize = 40;

/// Highest number of requests for one trap.
const MAX_REQUESTS: u64 = 5_000;

/// A script that serves a site; it ends with the value.
struct Script {
    script: Child,
    origin: String,
}

impl Script {
    /// Runs a script of the folder `ARPENT_SHARED`, whose answers have an `ETag`; `None` after a note that the test is skipped.
    fn start(path: &str, arguments: &[&str]) -> Option<Self> {
        let script = support::shared()?.join(path);
        if !support::has_program("python3") {
            return None;
        }
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        drop(listener);
        let mut script = Command::new("python3")
            .arg("-B")
            .arg(script)
            .arg(port.to_string())
            .args(arguments)
            .env("ETAG", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 can be started");
        let output = script.stdout.take().expect("it is piped");
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        assert!(read.is_ok_and(|bytes| bytes > 0), "the site is open");
        let origin = format!("http://127.0.0.1:{port}");
        Some(Self { script, origin })
    }

    /// The garden with the traps of `profile`.
    fn garden(profile: &str) -> Option<Self> {
        Self::start("traps/server.py", &["--profile", profile])
    }

    /// A site of the zoo.
    fn zoo(name: &str) -> Option<Self> {
        Self::start("zoo/zoo.py", &[name])
    }

    /// What the script reports of itself under `name`.
    fn ask(&self, name: &str) -> Value {
        let address = self.origin.trim_start_matches("http://");
        let mut stream = std::net::TcpStream::connect(address).expect("the site is open");
        let request =
            format!("GET /{name} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        std::io::Write::write_all(&mut stream, request.as_bytes()).expect("it reads");
        let mut head = String::new();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        while reader.read_line(&mut head).is_ok_and(|bytes| bytes > 2) {
            let line = head.lines().next_back().unwrap_or_default();
            if let Some((_, value)) = line.split_once("Content-Length: ") {
                length = value.parse().expect("a number");
            }
        }
        let mut body = vec![0; length];
        std::io::Read::read_exact(&mut reader, &mut body).expect("it answers");
        serde_json::from_slice(&body).expect("it is JSON")
    }

    /// The URLs that must be listed.
    fn truth(&self) -> BTreeSet<String> {
        let truth = self.ask("__truth");
        let urls = truth.as_array().expect("a list").iter();
        let urls = urls.filter_map(Value::as_str);
        let absolute = |url: &str| match url.strip_prefix('/') {
            Some(path) => format!("{}/{path}", self.origin),
            None => url.to_owned(),
        };
        urls.map(absolute).collect()
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

/// Crawls `url` with the defaults and these options.
fn crawl(bench: &Bench, url: &str, options: &[&str]) -> Ran {
    let mut command = bench.command(url, options);
    command.env_remove(CLOSES_PATTERNS);
    Ran::of(command)
}

/// The URLs of the published set.
fn listed(bench: &Bench) -> BTreeSet<String> {
    bench.published().entries().into_keys().collect()
}

/// Fails unless the exit code of a crawl shows whether more than a tenth of the set may be missing.
#[track_caller]
fn check_code(ran: &Ran) {
    let summary = ran.summary();
    let places = summary["cut"].as_array().expect("a list");
    let missing = places
        .iter()
        .map(|place| number(place, "left_out") + number(place, "not_requested"));
    let missing: u64 = missing.map(|missing| missing.max(1_000)).sum();
    let expected = if missing > number(&summary, "listed") / 10 {
        3
    } else {
        0
    };
    assert_eq!(ran.code, Some(expected), "{summary}\n{}", ran.stderr);
}

#[test]
fn endless_sites_end_and_are_listed() {
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
        let Some(garden) = Script::garden(profile) else {
            return;
        };
        let bench = Bench::new();
        let ran = crawl(&bench, &garden.origin, &[]);
        check_code(&ran);
        let reasons = assert_agree(&bench, &garden.origin, &ran.summary());
        if profile == "all" {
            let repeats = [
                Reason::PatternClosed,
                Reason::NothingNew,
                Reason::NotFoundPage,
            ];
            assert!(
                repeats.iter().all(|reason| reasons.contains(reason)),
                "{reasons:?}"
            );
        }
        let (truth, found) = (garden.truth(), listed(&bench));
        let missing: Vec<_> = truth.difference(&found).collect();
        assert_eq!(missing, [""; 0], "{profile}");
        let traps = if profile == "all" { 5 } else { 1 };
        let wrong: Vec<_> = found.difference(&truth).collect();
        assert!(wrong.len() <= MAX_LISTED * traps, "{profile}: {wrong:?}");
        let stats = garden.ask("__stats");
        let kinds = stats["by_kind"].as_object().expect("kinds");
        for (kind, requests) in kinds.iter().filter(|(kind, _)| *kind != "honest") {
            let requests = requests.as_u64().unwrap_or(u64::MAX);
            assert!(requests <= MAX_REQUESTS, "{profile}: {kind} {requests}");
        }
    }
}

/// Sites of the zoo by the number of pages of their endless part that may be listed.
const ZOO: [(usize, &str); 4] = [
    (
        0,
        "h_shop h_archive400 h_forum h_gallery h_blog h_numbers h_events h_glossary h_languages h_versions12 \
         h_versions40 h_stubs h_pipermail h2_partlists h2_phonebook h2_bugs h2_bible h2_timetable h2_multishop \
         h2_deeptree h4_secondpages h4_forumpages",
    ),
    (
        MAX_LISTED,
        "t_emptypages t_pathfilter t_tiles t_back t_soft404dir t_teasers t_range t_crumbs t_redirect",
    ),
    // First of their kind, and copies under other paths.
    (100, "t_compare"),
    (170, "t_pathsession"),
];

/// Sites of the zoo in a sample: one in so many.
const OF_ZOO: usize = 6;

#[test]
fn sites_of_the_zoo_are_listed_whole() {
    let sites = ZOO.into_iter().flat_map(|(may_be_listed, names)| {
        let names = names.split(' ');
        names.map(move |name| (name, may_be_listed))
    });
    for (number, (name, may_be_listed)) in sites.enumerate() {
        if !is_in_sample(number, OF_ZOO) {
            continue;
        }
        let Some(site) = Script::zoo(name) else {
            return;
        };
        let bench = Bench::new();
        check_code(&crawl(&bench, &site.origin, &[]));
        let (truth, first) = (site.truth(), listed(&bench));
        let missing: Vec<_> = truth.difference(&first).collect();
        assert_eq!(missing, [""; 0], "{name}");
        let extra: Vec<_> = first.difference(&truth).collect();
        assert!(extra.len() <= may_be_listed, "{name}: {extra:?}");
        let requests = || site.ask("__stats")["trap"].as_u64().unwrap_or_default();
        let of_first = requests();
        assert!(of_first <= MAX_REQUESTS, "{name}: {of_first}");
        // Answered by 304.
        crawl(&bench, &site.origin, &[]);
        let second = listed(&bench);
        let difference = first.symmetric_difference(&second).count();
        let may_differ = if may_be_listed > 0 { 10 } else { 0 };
        assert!(difference <= may_differ, "{name}: {difference}");
        let of_second = requests() - of_first;
        let most = match name {
            // Their pages say something new, and what those lead to is always asked for.
            "t_compare" => of_first,
            "t_crumbs" => of_first / 2,
            _ => of_first.max(400) / 4,
        };
        assert!(of_second <= most, "{name}: {of_second} after {of_first}");
    }
}

/// Pages of the blog without its calendar: a list, an article, a stub and a tag of each number, and the start page.
const OF_BLOG: usize = 1 + 30 + 300 + 300 + 40;

/// Returns whether a page is one of the calendar of the blog.
fn is_month(url: &str) -> bool {
    url.contains("/calendar/")
}

/// The listed pages of the blog, without its calendar.
fn listed_of_blog(bench: &Bench) -> BTreeSet<String> {
    let mut set = listed(bench);
    set.retain(|url| !is_month(url));
    set
}

/// A blog whose tags, months and pages of lists repeat its articles, and a calendar without end.
fn blog(request: &Request, calendar: bool) -> Response {
    let mut random = Random(request.target.len() as u64);
    let sentence = |number: usize| {
        let mut random = Random(7 + number as u64);
        let words = (0..12).map(|_| random.word()).collect::<Vec<_>>();
        format!("{}.", words.join(" "))
    };
    let link = |path: String| format!("<p><a href='{path}'>{path}</a></p>");
    let (path, last) = request.target.rsplit_once('/').unwrap_or_default();
    let number: usize = last.parse().unwrap_or_default();
    let mut body = String::new();
    match path {
        "" if last.is_empty() => {
            body += &sentence(1_000);
            body += &link("/list/0".to_owned());
            if calendar {
                body += &link("/calendar/0".to_owned());
            }
        }
        "/list" if number < 30 => {
            for article in number * 10..number * 10 + 10 {
                body += &link(format!("/article/{article}"));
                body += &sentence(article);
            }
            if number < 29 {
                body += &link(format!("/list/{}", number + 1));
            }
        }
        "/article" if number < 300 => {
            body += &(0..3)
                .map(|part| sentence(number + part * 2_000))
                .collect::<String>();
            body += &link(format!("/stub/{number}"));
            body += &link(format!("/tag/{}", number % 40));
        }
        "/stub" if number < 300 => body += "No use of this text is known.",
        "/tag" if number < 40 => {
            for article in (number..300).step_by(40) {
                body += &link(format!("/article/{article}"));
                body += &sentence(article);
            }
        }
        "/calendar" if calendar => {
            body += "Nothing is planned.";
            body += &link(format!("/calendar/{}", number + 1));
            body += &link(format!("/calendar/{}", number + 12));
        }
        _ => return Response::status(404),
    }
    let delay = Duration::from_micros(random.below(2_000) as u64);
    Response::html(format!("<!doctype html><title>{last}</title>{body}")).after(delay)
}

#[test]
fn the_order_of_answers_does_not_matter() {
    for calendar in [false, true] {
        let site = Site::allowing(move |request| blog(request, calendar));
        let mut sets = Vec::new();
        for connections in ["1", "4", "16"] {
            let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", connections]);
            let ran = crawl(&bench, &site.origin(), &[]);
            check_code(&ran);
            assert_eq!(ran.summary()["cut"][0]["name"].is_string(), calendar);
            sets.push(listed_of_blog(&bench));
            assert_eq!(sets[0].len(), OF_BLOG);
        }
        assert!(sets.array_windows().all(|[one, other]| one == other));
    }
}

#[test]
fn a_crawl_killed_in_traps_lists_the_same() {
    let site = Site::allowing(|request| blog(request, true));
    let whole = Bench::new();
    check_code(&crawl(&whole, &site.origin(), &[]));
    let killed = Bench::new();
    let mut random = Random(31);
    for _ in 0..5 {
        let asked = site.pages().len() + 50 + random.below(300);
        let mut command = killed.command(&site.origin(), &[]);
        command.env_remove(CLOSES_PATTERNS);
        let mut running = Running::of(command);
        while site.pages().len() < asked && !running.has_ended() {
            std::thread::sleep(Duration::from_millis(1));
        }
        running.kill();
    }
    check_code(&crawl(&killed, &site.origin(), &[]));
    assert_eq!(listed_of_blog(&killed), listed_of_blog(&whole));
    let difference = listed(&killed)
        .symmetric_difference(&listed(&whole))
        .count();
    assert!(difference <= 10, "{difference}");
}

#[test]
fn a_limit_within_a_trap_lists_few_months() {
    let site = Site::allowing(|request| blog(request, true));
    let bench = Bench::new();
    crawl(&bench, &site.origin(), &["--max-pages", "900"]).expect_code(3);
    let mut months = listed(&bench);
    months.retain(|url| is_month(url));
    assert!(months.len() <= 10, "{months:?}");
    // A limit beyond the cut, and then none: what one crawl lists.
    crawl(&bench, &site.origin(), &["--max-pages", "900"]).expect_code(3);
    check_code(&crawl(&bench, &site.origin(), &[]));
    let whole = Bench::new();
    check_code(&crawl(&whole, &site.origin(), &[]));
    assert_eq!(listed_of_blog(&bench), listed_of_blog(&whole));
    let (one, other) = (listed(&bench), listed(&whole));
    assert!(one.symmetric_difference(&other).count() <= 10);
}

#[test]
fn a_cut_place_is_reported_first() {
    let site = Site::allowing(|request| blog(request, true));
    let bench = Bench::new();
    let mut command = bench.program();
    command.args(["crawl", &site.origin(), "--rate", "unlimited"]);
    command.env_remove(CLOSES_PATTERNS);
    let ran = Ran::of(command).expect_code(3);
    let mut lines = ran.stdout.lines().chain(ran.stderr.lines());
    let second = lines.nth(1).unwrap_or_default();
    assert!(
        second.contains("pages may be missing: /calendar/ goes on without end"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // The rule that is proposed ends the place, and takes no listed page.
    let notes = ran.stdout.clone() + &ran.stderr;
    assert!(notes.contains("close_patterns = false"), "{notes}");
    let ran = crawl(&bench, &site.origin(), &["--exclude", "/calendar/[0-9]*"]);
    assert_eq!(ran.summary()["cut"].as_array().map(Vec::len), Some(0));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(listed_of_blog(&bench).len(), OF_BLOG);
}

#[test]
fn copies_by_query_are_listed_once() {
    let site = Site::allowing(|request| match request.target.split('?').next() {
        Some("/") => Response::html(
            "<a href='/a'>one</a> <a href='/a?view=wide'>the same</a> <a href='/a?page=2'>other</a>",
        ),
        Some("/a") if request.target.contains("page=2") => Response::html("<p>The rest.</p>"),
        Some("/a") => Response::html(format!(
            "<p>The beginning.</p>{}",
            "<p>Words.</p>".repeat(20)
        )),
        _ => Response::status(404),
    });
    let bench = Bench::new();
    let ran = crawl(&bench, &site.origin(), &[]).expect_code(0);
    let listed: Vec<String> = bench.published().entries().into_keys().collect();
    assert_eq!(listed, ["/", "/a", "/a?page=2"].map(|path| site.url(path)));
    assert_eq!(number(&ran.summary()["excluded"], "duplicate-of"), 1);
}
