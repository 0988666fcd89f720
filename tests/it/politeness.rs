//! Politeness by the log of the site, with the times of its own clock.
//!
//! Each rule has one function that reads a log and reports every breach. It must report none when the
//! rule is on, and some when the rule is switched off; and the rule must have had an effect at least once.
//! Times have lower bounds only: a loaded machine makes requests later, never earlier.

use std::time::{Duration, Instant, SystemTime};

use crate::support::{
    oracle,
    program::{Bench, Ran},
    site::{Request, Response, Seen, Site},
    state::assert_adds_up,
};

/// The time by which a request may arrive too early by the clock of the site: the request before it may have waited for a
/// thread of a busy machine before its arrival was recorded.
const ARRIVAL: Duration = Duration::from_millis(400);

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Paths of `count` pages.
fn paths(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("/page/{number}")).collect()
}

/// A site of `count` pages and a start page that links to them; `answer` may change an answer.
fn site_of(
    count: usize,
    answer: impl Fn(&Request, Response) -> Response + Send + Sync + 'static,
) -> Site {
    Site::start(move |request| {
        let usual = match request.target.as_str() {
            "/robots.txt" => Response::text(""),
            "/" => Response::linking(paths(count)),
            own => Response::linking(["/", own]),
        };
        answer(request, usual)
    })
}

fn slow(delay: Duration) -> impl Fn(&Request, Response) -> Response + Send + Sync + 'static {
    move |_, response| response.after(delay)
}

// ----- The breaches of each rule in a log, as text. -----

/// Requests that began before the answer for robots.txt.
fn asked_before_robots(log: &[Seen]) -> Vec<String> {
    let answered = log
        .iter()
        .find(|seen| seen.target == "/robots.txt")
        .and_then(|seen| seen.ended);
    log.iter()
        .filter(|seen| seen.target != "/robots.txt")
        .filter(|seen| answered.is_none_or(|answered| seen.begun < answered))
        .map(|seen| format!("{} was asked for before robots.txt", seen.target))
        .collect()
}

/// Requests below `prefix`.
fn asked_below(log: &[Seen], prefix: &str) -> Vec<String> {
    log.iter()
        .filter(|seen| seen.target.starts_with(prefix))
        .map(|seen| format!("{} was asked for", seen.target))
        .collect()
}

/// Times at which more requests were in flight than allowed.
fn too_many_in_flight(log: &[Seen], allowed: usize) -> Vec<String> {
    log.iter()
        .filter(|seen| seen.in_flight > allowed)
        .map(|seen| format!("{} was number {} in flight", seen.target, seen.in_flight))
        .collect()
}

/// Spans of time in which more requests began than one per `interval`.
fn too_many_per_second(log: &[Seen], interval: Duration) -> Vec<String> {
    let mut breaches = Vec::new();
    for (first, one) in log.iter().enumerate() {
        for (last, other) in log.iter().enumerate().skip(first + 1) {
            let starts = u32::try_from(last - first).expect("logs are short");
            let took = other.begun.saturating_duration_since(one.begun);
            if took + ARRIVAL < interval * starts {
                breaches.push(format!(
                    "{starts} more requests within {took:?} of {}",
                    one.target
                ));
            }
        }
    }
    breaches
}

/// Requests that began earlier than `delay` after the end of the last answer.
///
/// Exact: the site records the end of an answer before it sends the last byte.
fn too_close_to_the_last_answer(log: &[Seen], delay: Duration) -> Vec<String> {
    let pairs = log.iter().zip(log.iter().skip(1));
    pairs
        .filter(|(before, after)| before.ended.is_none_or(|ended| after.begun < ended + delay))
        .map(|(before, after)| format!("{} came too close to {}", after.target, before.target))
        .collect()
}

/// Requests that began between an answer with one of these statuses and the end of the pause that it asks for.
/// Requests that were in flight when the answer came do not count.
fn inside_a_pause(log: &[Seen], pause_of: impl Fn(&Seen) -> Option<Duration>) -> Vec<String> {
    let mut breaches = Vec::new();
    for refusal in log {
        let (Some(pause), Some(ended)) = (pause_of(refusal), refusal.ended) else {
            continue;
        };
        let inside = log
            .iter()
            .filter(|seen| seen.begun > ended && seen.begun < ended + pause);
        breaches.extend(inside.map(|seen| {
            format!(
                "{} came {:?} after {} had asked for a pause",
                seen.target,
                seen.begun - ended,
                refusal.target
            )
        }));
    }
    breaches
}

/// The pause that an answer of the log asked for, as seconds or as a date.
fn retry_after(seen: &Seen) -> Option<Duration> {
    let (_, value) = seen.sent.iter().find(|(name, _)| name == "Retry-After")?;
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(value).expect("seconds or a date");
    let ended = seen.ended?;
    let ended_at = SystemTime::now() - Instant::now().saturating_duration_since(ended);
    Some(until.duration_since(ended_at).unwrap_or_default())
}

#[track_caller]
fn assert_none(breaches: &[String]) {
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[track_caller]
fn assert_broken(breaches: &[String]) {
    assert!(
        !breaches.is_empty(),
        "the witness did not notice that the rule was off"
    );
}

// ----- robots.txt -----

#[test]
fn redirects_wait_for_robots_of_their_target() {
    let target = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /b\n"),
        _ => Response::linking(["/a", "/b"]),
    });
    let landing = target.url("/landing");
    // The names differ only by `www.`, so a start URL may lead from one to the other.
    let landing = landing.replace("127.0.0.1", "www.site.test");
    let start = Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /nothing\n"),
        _ => Response::redirect(301, &landing),
    });
    let url = start.url("/").replace("127.0.0.1", "site.test");
    let resolve = [
        format!("site.test:{}:127.0.0.1", start.port()),
        format!("www.site.test:{}:127.0.0.1", target.port()),
    ];
    let options = ["--resolve", &resolve[0], "--resolve", &resolve[1]];
    // Another port is another site: the start URL is refused, but only after its target was looked at.
    let ran = Bench::new().crawl(&url, &options).expect_code(5);
    assert!(
        ran.stderr.contains("redirects to another port"),
        "{}",
        ran.stderr
    );
    assert_none(&asked_before_robots(&start.log()));
    assert_none(&asked_before_robots(&target.log()));
    assert_eq!(start.pages(), ["/"]);
    assert_eq!(target.pages(), ["/landing"]);
}

#[test]
fn robots_txt_is_read_first_and_obeyed() {
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => {
            Response::text("User-agent: *\nDisallow: /closed/\n").after(milliseconds(50))
        }
        "/" => Response::linking(["/open", "/closed/page", "/moved", "/refresh", "/named"]),
        "/moved" => Response::redirect(301, "/closed/moved"),
        "/refresh" => Response::html("<meta http-equiv=refresh content='0; url=/closed/refresh'>"),
        "/named" => Response::html("<link rel=canonical href=/closed/canonical>"),
        _ => Response::linking(["/closed/deeper"]),
    });
    let ran = Bench::new().crawl(&site.url("/"), &[]).expect_code(0);
    let (log, summary) = (site.log(), ran.summary());
    assert_adds_up(&summary);
    assert_none(&asked_before_robots(&log));
    assert_none(&asked_below(&log, "/closed/"));
    // A link, a redirect, a refresh, a canonical link and a link on a page: the rule bound five times.
    assert_eq!(summary["excluded"]["robots-disallowed"], 5, "{summary}");

    // A crawler that ignores robots.txt.
    site.clear_log();
    oracle::crawl(&site.url("/"));
    assert_broken(&asked_before_robots(&site.log()));
    assert_broken(&asked_below(&site.log(), "/closed/"));
}

// ----- Requests in flight, rate and delay -----

#[test]
fn never_more_requests_are_in_flight_than_set() {
    let crawl = |concurrency: &str| {
        let site = site_of(30, slow(milliseconds(80)));
        let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", concurrency]);
        bench.crawl(&site.url("/"), &[]).expect_code(0);
        site.log()
    };
    let log = crawl("3");
    assert_eq!(log.len(), 32);
    assert_none(&too_many_in_flight(&log, 3));
    assert!(
        log.iter().any(|seen| seen.in_flight == 3),
        "the rule never bound"
    );
    assert_broken(&too_many_in_flight(&crawl("32"), 3));
}

#[test]
fn redirects_and_retries_keep_rate_and_delay() {
    let crawl = |options: &[&str]| {
        let site = Site::start(|request| match (request.target.as_str(), request.earlier) {
            ("/robots.txt", 0) => Response::status(503),
            ("/robots.txt", _) => Response::redirect(301, "/real-robots.txt"),
            ("/real-robots.txt", _) => Response::text(""),
            ("/", 0) => Response::status(500),
            ("/", _) => Response::redirect(302, "/start"),
            ("/start", _) => Response::linking((0..10).map(|number| format!("/moved/{number}"))),
            // Dropped connections slow the host down, which is not the subject here.
            (path, 0) if path.starts_with("/landed/") => Response::status(408),
            (path, _) => match path.strip_prefix("/moved/") {
                Some(number) => Response::redirect(301, &format!("/landed/{number}")),
                None => Response::linking(["/"]),
            },
        });
        let bench = Bench::with_options(["--concurrency", "32"]);
        let config = bench.settings("testing.retry_delays = [\"10ms\"]");
        let options = [&["--config", &config], options].concat();
        bench.crawl(&site.url("/"), &options).expect_code(0);
        let log = site.log();
        // Three for robots.txt and for the start page; ten pages with a redirect and a second try.
        assert_eq!(log.len(), 3 + 3 + 10 + 20, "{options:?}");
        log
    };
    let interval = milliseconds(50);
    assert_none(&too_many_per_second(&crawl(&["--rate", "20"]), interval));
    let delayed = crawl(&["--rate", "unlimited", "--delay", "50ms"]);
    assert_none(&too_close_to_the_last_answer(&delayed, interval));

    let hasty = crawl(&["--rate", "unlimited"]);
    assert_broken(&too_many_per_second(&hasty, interval));
    assert_broken(&too_close_to_the_last_answer(&hasty, interval));
}

// ----- Retry-After -----

/// A site that answers the first request for `path` by `refuse`.
fn refusing(path: &'static str, refuse: impl Fn() -> Response + Send + Sync + 'static) -> Site {
    site_of(4, move |request, usual| {
        if request.target == path && request.earlier == 0 {
            refuse()
        } else {
            usual
        }
    })
}

fn in_two_seconds() -> String {
    httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(2))
}

/// Crawls with short pauses between tries.
#[track_caller]
fn crawl(bench: &Bench, site: &Site, code: i32) -> Ran {
    let config = bench.settings("testing.retry_delays = [\"10ms\"]");
    let ran = bench.crawl(&site.url("/"), &["--config", &config]);
    ran.expect_code(code)
}

#[track_caller]
fn check_retry_after(path: &'static str, refuse: impl Fn() -> Response + Send + Sync + 'static) {
    let site = refusing(path, refuse);
    let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "1"]);
    crawl(&bench, &site, 0);
    let log = site.log();
    // robots.txt, start page, four pages, and the one that was refused once more.
    assert_eq!(log.len(), 7, "{log:?}");
    assert_none(&inside_a_pause(&log, retry_after));
    let refused = log
        .iter()
        .position(|seen| seen.status >= 400)
        .expect("one was refused");
    assert!(retry_after(&log[refused]) > Some(Duration::ZERO));
    assert!(refused + 1 < log.len(), "nothing waited");
    assert_eq!(bench.published().urls().len(), 5);
}

/// A pause in seconds and until a date, with both statuses, on each kind of request.
#[test]
fn retry_after_is_kept_for_every_request() {
    let in_a_second = || Response::status(429).with("Retry-After", "1");
    check_retry_after("/page/1", in_a_second);
    check_retry_after("/", in_a_second);
    check_retry_after("/robots.txt", || {
        Response::status(503).with("Retry-After", &in_two_seconds())
    });

    // A crawler that does not wait.
    let site = refusing("/page/1", || Response::status(503));
    let bench = Bench::new();
    crawl(&bench, &site, 0);
    let pause = Duration::from_secs(1);
    let is_asked = |seen: &Seen| (seen.status == 503).then_some(pause);
    assert_broken(&inside_a_pause(&site.log(), is_asked));
}

#[test]
fn retry_after_of_robots_delays_the_next_session() {
    let site = refusing("/robots.txt", || {
        Response::status(503).with("Retry-After", "5")
    });
    let bench = Bench::new();
    let patient = bench.settings("");
    std::fs::write(
        bench.path().join("impatient.toml"),
        "politeness.max_retry_after = 1",
    )
    .expect("written");
    let options = ["--config", "impatient.toml"];
    bench.crawl(&site.url("/"), &options).expect_code(5);
    bench.crawl(&site.url("/"), &options).expect_code(5);
    assert_eq!(site.log().len(), 1);
    bench
        .crawl(&site.url("/"), &["--config", &patient])
        .expect_code(0);
    assert_none(&inside_a_pause(&site.log(), retry_after));
}

#[test]
fn a_retry_after_outlives_a_stopped_session() {
    let site = refusing("/robots.txt", || {
        Response::status(429).with("Retry-After", "4")
    });
    let bench = Bench::new();
    let mut running = bench.spawn(&site.url("/"), &["-vv"]);
    running.wait_until_it_prints("another try");
    running.signal("INT");
    running.wait().expect_code(130);
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert_none(&inside_a_pause(&site.log(), retry_after));
}

// ----- Several sites -----

#[test]
fn sites_on_one_host_share_its_clocks() {
    let delay = milliseconds(250);
    let [one, other] = [20, 20].map(|delay| site_of(1, slow(milliseconds(delay))));
    let bench = Bench::new();
    let options = [&other.url("/"), "--delay", "250ms"];
    bench.crawl(&one.url("/"), &options).expect_code(0);
    let mut log = [one.log(), other.log()].concat();
    log.sort_by_key(|seen| seen.begun);
    assert_eq!(log.len(), 6);
    assert_none(&too_close_to_the_last_answer(&log, delay));
}
