//! A site that fails or shows other pages: its published set stays, byte for byte, until the site recovers.

mod walls;

use std::{
    fs,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use crate::support::{
    program::{Bench, Ran},
    published::Published,
    random::Random,
    site::{Request, Response, Site},
    state::number,
};

/// Pages besides the start page.
const PAGES: usize = 45;

/// The condition of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Well,
    /// Connections are closed.
    Dead,
    /// All pages but the start page answer with this status.
    PagesAnswer(u16),
    /// Every page redirects to one form, with its own address in the query.
    LoginRedirect,
    /// The same, on a host of its own.
    LoginElsewhere,
    /// Every page is that form.
    LoginForm,
    /// The first five pages are gone.
    FiveGone,
    /// The first five pages fail.
    FiveFail,
    /// All pages but the start page ask to be left alone for two hours.
    Busy,
    /// The start page has no content.
    EmptyStart,
    /// These pages are left of [`PAGES`], and nothing links to the others, which are gone.
    Left(usize),
    DisallowsAll,
    DisallowsAllButTheStart,
    RobotsFails,
}

/// A site, and what is published of it.
struct World {
    bench: Bench,
    site: Site,
    mode: Arc<Mutex<Mode>>,
    settings: String,
}

/// One try for each request, and hosts that fail do not pause.
const QUICK: &str = "limits.max_tries = 1\ntesting.retry_delays = [\"0s\"]\ntesting.failures_before_pause = 10000\n[notify]\n\
                     hook_command = 'echo $ARPENT_EVENT $ARPENT_OUTCOME $ARPENT_EXIT_CODE >> hooks; cat > summary'\n";

impl World {
    fn new() -> Self {
        Self::with_settings(QUICK)
    }

    fn with_settings(settings: &str) -> Self {
        let bench = Bench::new();
        let mode = Arc::new(Mutex::new(Mode::Well));
        let now = Arc::clone(&mode);
        let site = Site::undated(move |request| {
            let mode = *now.lock().unwrap_or_else(PoisonError::into_inner);
            answer(mode, request)
        });
        let settings = bench.settings(settings);
        Self {
            bench,
            site,
            mode,
            settings,
        }
    }

    fn is(&self, mode: Mode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    fn crawl(&self, options: &[&str]) -> Ran {
        self.crawl_later("0s", options)
    }

    fn crawl_later(&self, ahead: &str, options: &[&str]) -> Ran {
        let options = [&["--config", self.settings.as_str()], options].concat();
        self.bench.crawl_ahead(ahead, &self.site.url("/"), &options)
    }

    /// Crawls the site in good condition; returns the published set.
    fn publish(&self) -> Published {
        self.crawl(&[]).expect_code(0);
        let published = self.bench.published();
        assert_eq!(published.entries().len(), PAGES + 1);
        published
    }

    #[track_caller]
    fn assert_unchanged(&self, before: &Published) {
        let changed = self.bench.published().differences(before);
        assert_eq!(changed, [] as [String; 0]);
    }

    /// The line that the hook wrote last.
    fn last_hook(&self) -> String {
        let hooks = fs::read_to_string(self.bench.path().join("hooks")).unwrap_or_default();
        hooks.lines().last().unwrap_or_default().to_owned()
    }

    /// Checks a crawl that must not change the set; returns its summary.
    #[track_caller]
    fn expect_unchanged(&self, before: &Published, code: i32, reported: &str) -> Value {
        let ran = self.crawl(&[]).expect_code(code);
        self.assert_unchanged(before);
        assert!(ran.stderr.contains(reported), "{reported}: {}", ran.stderr);
        let summary = ran.summary();
        let message = summary["message"].as_str().unwrap_or_default();
        assert!(message.contains(reported), "{reported}: {summary}");
        let (event, outcome) = match code {
            4 => ("refused", "refused"),
            _ => ("failed", "unreachable"),
        };
        assert_eq!(summary["outcome"], outcome);
        assert_eq!(self.last_hook(), format!("{event} {outcome} {code}"));
        let hooked = fs::read_to_string(self.bench.path().join("summary")).expect("a summary");
        let hooked: Value = serde_json::from_str(&hooked).expect("JSON");
        assert_eq!(hooked["message"], summary["message"]);
        summary
    }
}

fn path(number: usize) -> String {
    format!("/s{}/page-{number}", number % 3)
}

/// `count` words, other ones for each seed.
fn words(seed: u64, count: usize) -> String {
    let mut random = Random(seed);
    let words: Vec<String> = (0..count).map(|_| random.word()).collect();
    words.join(" ")
}

fn page(number: usize) -> String {
    let words = words(number as u64, 40);
    let words: Vec<&str> = words.split(' ').collect();
    format!(
        "<title>{} {}</title><main><h1>{0}</h1><p>{}</p></main>",
        words[0],
        words[1],
        words.join(" ")
    )
}

fn start(pages: usize) -> String {
    let links: Vec<String> = (0..pages)
        .map(|number| format!("<li><a href=\"{0}\">{0}</a>", path(number)))
        .collect();
    let links = links.concat();
    format!("<title>The front page</title><h1>All there is to know of turnips</h1><ul>{links}</ul>")
}

fn answer(mode: Mode, request: &Request) -> Response {
    let target = request.target.as_str();
    let is_start = target == "/";
    if target == "/robots.txt" {
        return match mode {
            Mode::DisallowsAll => Response::text("User-agent: *\nDisallow: /\n"),
            Mode::DisallowsAllButTheStart => {
                Response::text("User-agent: *\nAllow: /$\nDisallow: /\n")
            }
            Mode::RobotsFails => Response::status(503),
            Mode::Dead => Response::dropped(),
            _ => Response::status(404),
        };
    }
    let token = Random(target.len() as u64 * 31 + request.earlier as u64).next();
    let login = || {
        Response::html(format!(
            "<title>Sign in</title><h1>Please sign in to go on</h1><form action=\"/session?to={target}\">\
             <input type=hidden name=csrf value={token:x}><input name=user><input type=\"password\" name=word>\
             <button>Sign in</button></form>"
        ))
    };
    let well = |pages: usize| {
        if is_start {
            return Response::html(start(pages));
        }
        let number = (0..pages).find(|number| path(*number) == target);
        number.map_or(Response::status(410), |number| Response::html(page(number)))
    };
    match mode {
        Mode::PagesAnswer(status) if !is_start => Response::status(status),
        Mode::Dead => Response::dropped(),
        Mode::LoginRedirect if target.starts_with("/login") => login(),
        Mode::LoginRedirect => Response::redirect(302, &format!("/login?next={target}")),
        Mode::LoginElsewhere => {
            Response::redirect(302, &format!("http://login.test/?next={target}"))
        }
        Mode::LoginForm => login(),
        Mode::FiveGone if (0..5).any(|gone| path(gone) == target) => Response::status(410),
        Mode::FiveFail if (0..5).any(|failing| path(failing) == target) => Response::status(503),
        Mode::Busy if (0..PAGES).any(|number| path(number) == target) => {
            Response::status(429).with("Retry-After", "7200")
        }
        Mode::EmptyStart if is_start => Response::html(""),
        Mode::Left(pages) => well(pages),
        Mode::Well
        | Mode::EmptyStart
        | Mode::FiveGone
        | Mode::FiveFail
        | Mode::Busy
        | Mode::PagesAnswer(_)
        | Mode::DisallowsAll
        | Mode::DisallowsAllButTheStart
        | Mode::RobotsFails => well(PAGES),
    }
}

fn objections(summary: &Value) -> Vec<&str> {
    let list = summary["guard"]["objections"].as_array();
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Ways in which a site fails, with the exit code, a part of the message, and the objections.
/// Other failures are rows of `crawl/tests/changes/deaths.rs`.
const DYING: &[(Mode, i32, &str, &[&str])] = &[
    (Mode::Dead, 5, "robots.txt", &[]),
    (Mode::PagesAnswer(503), 4, "failed", &["failing"]),
    (Mode::PagesAnswer(410), 4, "", &["fewer-urls"]),
    // The forms are copies by query, so that one of them is left.
    (Mode::LoginRedirect, 4, "", &["alike"]),
    (Mode::LoginElsewhere, 5, "login.test", &[]),
    (Mode::LoginForm, 4, "", &["alike"]),
    (Mode::EmptyStart, 5, "content", &[]),
    (Mode::Left(PAGES / 2), 4, "23", &["fewer-urls"]),
    (Mode::DisallowsAll, 5, "is disallowed by", &[]),
    (Mode::DisallowsAllButTheStart, 4, "", &["fewer-urls"]),
    (Mode::RobotsFails, 5, "robots.txt", &[]),
];

#[test]
fn a_failing_site_keeps_its_set() {
    let world = World::new();
    let before = world.publish();
    for &(mode, code, reported, expected) in DYING {
        world.is(mode);
        let summary = world.expect_unchanged(&before, code, reported);
        assert_eq!(objections(&summary), expected, "{mode:?}: {summary}");
        if code == 4 {
            assert_eq!(summary["guard"]["published"], 46);
        }
        // The same in the next night.
        world.expect_unchanged(&before, code, reported);
        world.is(Mode::Well);
        let summary = world.crawl(&[]).expect_code(0).summary();
        assert_eq!(summary["outcome"], "unchanged", "{mode:?}: {summary}");
        world.assert_unchanged(&before);
    }
    world.is(Mode::Left(PAGES * 85 / 100));
    let summary = world.crawl(&[]).expect_code(0).summary();
    assert_eq!(
        (&summary["outcome"], number(&summary, "listed")),
        (&"published".into(), 39)
    );
    assert_eq!(world.bench.published().entries().len(), 39);
    assert_eq!(world.last_hook(), "published published 0");
}

#[test]
fn the_guard_compares_with_a_forced_set() {
    let world = World::new();
    let before = world.publish();
    // The text of the summary names the objection.
    world.is(Mode::LoginRedirect);
    let url = world.site.url("/");
    let mut command = world.bench.program();
    command
        .args(["crawl", &url, "--output", "out", "--state", "state"])
        .args(["--rate", "unlimited", "--discover=links"]);
    let text = Ran::of(command).expect_code(4).stdout;
    let (first, rest) = text.split_once('\n').unwrap_or_default();
    let kept = "refused, the published sitemaps stay (46 URLs)";
    assert!(first.contains(kept), "{text}");
    let objection = "46 of 46 pages have one title and ask for a password";
    assert!(
        rest.starts_with("  alike ") && rest.contains(objection),
        "{text}"
    );
    world.is(Mode::LoginForm);
    world.expect_unchanged(&before, 4, "--force");
    let ran = world.crawl(&["--dry-run"]).expect_code(4);
    assert_eq!(ran.summary()["guard"]["would_list"], 46);
    let summary = world.crawl(&["--force"]).expect_code(0).summary();
    assert_eq!(summary["outcome"], "published");
    assert!(summary.get("guard").is_none() && summary.get("message").is_none());
    // The forced set is now the one to compare with.
    world.crawl(&[]).expect_code(0);
    world.is(Mode::Well);
    world.crawl(&[]).expect_code(0);
}

#[test]
fn the_guard_refuses_at_the_second_404() {
    let world = World::new();
    let before = world.publish();
    world.is(Mode::PagesAnswer(404));
    // A tenth of the set or more: nobody has to find out by the second crawl.
    let summary = world.crawl(&[]).expect_code(3).summary();
    assert_eq!(summary["notes"][0]["code"], "gone-at-once");
    assert_eq!(summary["retained"]["gone-once"], PAGES);
    world.assert_unchanged(&before);
    let ran = world.crawl_later("2h", &[]).expect_code(4);
    assert_eq!(objections(&ran.summary()), ["fewer-urls"]);
    world.assert_unchanged(&before);
    let summary = world
        .crawl_later("3h", &["--force"])
        .expect_code(0)
        .summary();
    assert_eq!(number(&summary, "listed"), 1);
}

#[test]
fn the_guard_is_as_strict_as_its_settings() {
    let strict =
        "guard.min_listed_share = 0.99\nguard.max_error_share = 0.9\nguard.max_growth = 2\n";
    let world = World::with_settings(&format!("{strict}{QUICK}"));
    world.publish();
    // URLs that rules of the user remove are not lost.
    let rules = ["--exclude", "/s1/*", "--exclude", "/s2/*"];
    let summary = world.crawl(&rules).expect_code(0).summary();
    assert_eq!(number(&summary, "listed"), 16);
    world.publish();
    world.is(Mode::Left(PAGES - 20));
    let summary = world.crawl(&[]).expect_code(4).summary();
    assert_eq!(objections(&summary), ["fewer-urls"]);
    let loose = "guard.min_listed_share = 0\nguard.max_error_share = 1\nguard.max_alike_share = 1.0\nguard.max_growth = \"unlimited\"\n";
    world.bench.settings(&format!("{loose}{QUICK}"));
    world.is(Mode::LoginRedirect);
    world.crawl(&[]).expect_code(0);
    for wrong in [
        "guard.min_listed_share = 1.1",
        "guard.max_error_share = \"half\"",
        "guard.max_alike_share = -1",
        "guard.max_growth = 0",
    ] {
        world.bench.settings(wrong);
        let ran = world.crawl(&[]).expect_code(2);
        let name = wrong.split(['.', ' ']).nth(1).unwrap_or_default();
        assert!(ran.stderr.contains(name), "{}", ran.stderr);
    }
}

#[test]
fn unrequested_pages_stay_over_a_long_pause() {
    let mut world = World::new();
    // One page after the other: otherwise all pages in flight would be refused.
    world.bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "1"]);
    world.settings = world.bench.settings(QUICK);
    let before = world.publish();
    world.is(Mode::Busy);
    let summary = world.crawl(&[]).expect_code(3).summary();
    assert_eq!(
        (number(&summary, "listed"), number(&summary, "failed")),
        (46, 0)
    );
    let kept = number(&summary["retained"], "not-reached");
    let failed = number(&summary["retained"], "unreachable");
    assert!(kept >= PAGES as u64 - 20, "{summary}");
    world.assert_unchanged(&before);
    world.is(Mode::Well);
    let summary = world.crawl_later("3h", &[]).expect_code(0).summary();
    assert_eq!(
        (&summary["outcome"], number(&summary, "fetched")),
        (&"unchanged".into(), kept + failed)
    );
}

#[test]
fn answers_of_a_refused_crawl_do_not_count() {
    let gone = Mode::PagesAnswer(410);
    for mode in [Mode::LoginRedirect, Mode::LoginForm, gone] {
        let world = World::new();
        let before = world.publish();
        world.is(mode);
        world.expect_unchanged(&before, 4, "");
        world.expect_unchanged(&before, 4, "");
        // Those that fail are listed as they were published, and so are those that are not reached.
        world.is(Mode::FiveFail);
        for options in [&["--max-pages", "20"][..], &[]] {
            let summary = world.crawl(options).expect_code(3).summary();
            let listed = world.bench.published().entries();
            assert_eq!(listed, before.entries(), "{mode:?} {options:?}: {summary}");
        }
        world.assert_unchanged(&before);
        world.is(Mode::Well);
        world.publish();
    }
}
