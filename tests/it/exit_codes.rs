//! How `arpent crawl` ends, and what stands afterwards: every exit code, by what really leads to it.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use crate::support::{
    program::{Bench, Ran},
    published::Published,
    site::{Response, Site},
    state::{assert_adds_up, number},
};

/// Failures end soon.
const QUICK: &str = "max_tries = 2\nretry_delays = [\"10ms\"]\n";

/// A site of `count` pages behind its start page.
fn site_of(count: usize) -> Site {
    Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking((0..count).map(|number| format!("/page/{number}"))),
        _ => Response::linking(["/"]),
    })
}

/// A site whose start page is answered like this.
fn starting_with(answer: Response) -> Site {
    Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => answer.clone(),
        _ => Response::linking(["/"]),
    })
}

#[track_caller]
fn assert_outcome(ran: &Ran, outcome: &str) {
    let summary = ran.summary();
    assert_eq!(summary["outcome"], outcome, "{summary}");
    assert_adds_up(&summary);
}

/// Nothing is published, and nothing was before.
#[track_caller]
fn assert_nothing_published(bench: &Bench) {
    assert_eq!(
        bench.published().files.keys().collect::<Vec<_>>(),
        [] as [&String; 0]
    );
}

// ----- 0 -----

#[test]
fn published_and_unchanged_are_success() {
    let site = site_of(3);
    let bench = Bench::new();
    assert_outcome(
        &bench.crawl(&site.url("/"), &[]).expect_code(0),
        "published",
    );
    let before = bench.published();
    assert_eq!(before.urls().len(), 4);
    assert_outcome(
        &bench.crawl(&site.url("/"), &[]).expect_code(0),
        "unchanged",
    );
    assert_eq!(bench.published().differences(&before), [] as [String; 0]);
}

// ----- 2 -----

/// Wrong settings: exactly this on stderr, nothing on stdout, no request, nothing written.
#[track_caller]
fn check_settings(file: &str, options: &[&str], expected: &str) {
    let site = site_of(1);
    let bench = Bench::with_options([]);
    let config = bench.settings(file);
    let mut all = vec!["--config", &config];
    all.extend(options);
    let ran = bench.crawl(&site.url("/"), &all).expect_code(2);
    assert_eq!(ran.stderr, expected);
    assert_eq!(ran.stdout, "");
    assert!(site.log().is_empty());
    assert!(!bench.state().exists() && !bench.output().exists());
}

#[test]
fn wrong_settings_name_the_setting_its_place_and_what_was_expected() {
    check_settings(
        "",
        &["--rate", "0"],
        "error: --rate: expected a number above 0 per second or \"unlimited\", found \"0\"\n",
    );
    check_settings(
        "# comment\n\nmax_pages = -1\n",
        &[],
        "error: config.toml:3: max_pages: expected a whole number, 1 or more, found -1\n",
    );
    check_settings(
        "retry_delays = [\"1s\",\n  \"soon\"]\n",
        &[],
        "error: config.toml:2: retry_delays: expected a duration such as \"500ms\", \"2s\", \"1m\" or \"24h\", found \"soon\"\n",
    );
    check_settings(
        "excludes = [\"/a\"]\n",
        &[],
        "error: config.toml:1: excludes: no such setting; did you mean exclude?\n",
    );
    check_settings(
        "",
        &["--exclude", "private/*"],
        "error: --exclude: \"private/*\" can never match: it must begin with `/`, `*`, `http://` or `https://`\n",
    );
    check_settings(
        "",
        &["--scope", "host"],
        "error: --scope: expected \"dir\" or \"origin\", found \"host\"\n",
    );
    check_settings(
        "",
        &["--header", "Range: bytes=0-1"],
        "error: --header: the header Range is set by arpent itself\n",
    );
    check_settings(
        "[[page_rule]]\nselector = \"p[\"\naction = \"exclude\"\n",
        &[],
        "error: config.toml:1: page_rule: \"p[\" is not a CSS selector: Unexpected EOL\n",
    );
}

#[test]
fn a_public_url_that_does_not_cover_the_site_is_wrong() {
    let site = site_of(1);
    let bench = Bench::new();
    let public_url = site.url("/sitemaps/");
    let ran = bench
        .crawl(&site.url("/"), &["--public-url", &public_url])
        .expect_code(2);
    let origin = site.origin();
    assert_eq!(
        ran.stderr,
        format!(
            "error: --public-url: a sitemap in {origin}/sitemaps/ may not list {origin}/, because it lists only what is in its own directory (R58); \
             expected {origin}/, a directory above it, or another host that {origin}/robots.txt names\n"
        )
    );
    assert_outcome(&ran, "settings");
}

#[test]
fn a_state_of_a_newer_arpent_is_not_touched() {
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

// ----- 3 -----

#[test]
fn failures_limits_and_deferrals_make_a_partial_set() {
    let failing = |answer: Response| {
        Site::start(move |request| match request.target.as_str() {
            "/robots.txt" => Response::text(""),
            "/" => Response::linking(["/good", "/bad"]),
            "/bad" => answer.clone(),
            _ => Response::linking(["/"]),
        })
    };
    let bad = [
        Response::status(500),
        Response::status(429),
        Response::dropped(),
        Response {
            announced: Some(5_000),
            ..Response::linking(["/"])
        },
    ];
    for answer in bad {
        let site = failing(answer);
        let bench = Bench::new();
        let config = bench.settings(QUICK);
        let ran = bench
            .crawl(&site.url("/"), &["--config", &config])
            .expect_code(3);
        assert_outcome(&ran, "partial");
        assert_eq!(bench.published().urls(), [site.url("/"), site.url("/good")]);
    }
    // A page that is gone is no failure.
    let site = failing(Response::status(404));
    Bench::new().crawl(&site.url("/"), &[]).expect_code(0);

    let site = site_of(10);
    let bench = Bench::new();
    let ran = bench
        .crawl(&site.url("/"), &["--max-pages", "4"])
        .expect_code(3);
    assert_outcome(&ran, "partial");
    assert_eq!(number(&ran.summary(), "fetched"), 4);
    assert_eq!(number(&ran.summary(), "queued"), 7);
    assert_eq!(bench.published().urls().len(), 4);
    // The same command later goes on.
    bench
        .crawl(&site.url("/"), &["--max-pages", "4"])
        .expect_code(3);
    bench
        .crawl(&site.url("/"), &["--max-pages", "4"])
        .expect_code(0);
    assert_eq!(bench.published().urls().len(), 11);

    let site = failing(Response::status(503).with("Retry-After", "600"));
    let bench = Bench::new();
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(3);
    assert_outcome(&ran, "partial");
    assert_eq!(number(&ran.summary(), "queued"), 1);
}

#[test]
fn max_time_makes_a_partial_set() {
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking((0..1_000).map(|number| format!("/page/{number}"))),
        _ => Response::linking(["/"]).after(Duration::from_millis(50)),
    });
    let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "2"]);
    let ran = bench
        .crawl(&site.url("/"), &["--max-time", "1s"])
        .expect_code(3);
    assert_outcome(&ran, "partial");
    assert!(number(&ran.summary(), "queued") > 0);
}

// ----- 4 -----

#[test]
fn nothing_to_list_is_refused() {
    let noindex = || Response::html("<meta name=robots content=noindex>");
    let site = starting_with(noindex());
    let bench = Bench::new();
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(4);
    assert_outcome(&ran, "refused");
    assert!(ran.stderr.contains("nothing to list"), "{}", ran.stderr);
    assert_nothing_published(&bench);

    // `--force` makes no empty sitemap either: the protocol wants at least one entry.
    bench.crawl(&site.url("/"), &["--force"]).expect_code(4);
    assert_nothing_published(&bench);
}

#[test]
fn a_partial_crawl_that_lists_less_is_refused_unless_forced() {
    let is_failing = Arc::new(AtomicBool::new(false));
    let failing = Arc::clone(&is_failing);
    let site = Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking(["/a", "/b"]),
        "/b" if failing.load(Ordering::SeqCst) => Response::status(500),
        _ => Response::linking(["/"]),
    });
    let bench = Bench::new();
    let config = bench.settings(QUICK);
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = bench.published();
    is_failing.store(true, Ordering::SeqCst);
    // By its last good answer the page stays where it is.
    let ran = bench
        .crawl(&site.url("/"), &["--config", &config])
        .expect_code(3);
    assert_outcome(&ran, "partial");
    assert_eq!(bench.published().differences(&before), [] as [String; 0]);
    // Nothing is known of one.
    let ran = bench
        .crawl(&site.url("/"), &["--config", &config, "--fresh"])
        .expect_code(4);
    assert_outcome(&ran, "refused");
    assert!(
        ran.stderr
            .contains("would list 2 URLs, the published set lists 3"),
        "{}",
        ran.stderr
    );
    assert_eq!(bench.published().differences(&before), [] as [String; 0]);
    bench
        .crawl(&site.url("/"), &["--config", &config, "--force"])
        .expect_code(3);
    assert_eq!(bench.published().urls().len(), 2);
}

#[test]
fn a_foreign_file_in_the_way_is_refused_unless_forced() {
    let site = site_of(2);
    let bench = Bench::new();
    fs::create_dir_all(bench.output()).expect("created");
    let path = bench.output().join("sitemap.xml");
    fs::write(&path, "mine").expect("written");
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(4);
    assert_outcome(&ran, "refused");
    assert!(
        ran.stderr.contains("is not a file of arpent"),
        "{}",
        ran.stderr
    );
    assert_eq!(fs::read_to_string(&path).expect("read"), "mine");
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
fn an_output_that_cannot_be_written_is_refused_before_the_crawl() {
    let site = site_of(2);
    let bench = Bench::new();
    // A file where the folder should be: that stops everyone, root too.
    fs::write(bench.output(), "a file").expect("written");
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(4);
    assert_outcome(&ran, "refused");
    assert!(ran.stderr.contains("failed to create"), "{}", ran.stderr);
    assert_eq!(site.pages(), ["/"], "it shows before the site is crawled");
    bench.crawl(&site.url("/"), &["--dry-run"]).expect_code(0);
}

#[test]
fn an_output_that_cannot_be_written_any_more_is_refused() {
    let bench = Bench::new();
    let output = bench.output();
    let site = Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking(["/page/0", "/page/1"]),
        _ => {
            // The folder is taken away while the site is crawled.
            drop(fs::remove_dir_all(&output));
            drop(fs::write(&output, "a file"));
            Response::linking(["/"])
        }
    });
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(4);
    assert_outcome(&ran, "refused");
    assert!(ran.stderr.contains("failed to create"), "{}", ran.stderr);
    let asked = site.pages().len();

    // The crawl was not for nothing: the next start publishes what is known.
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
        "/" => Response::linking((0..20).map(|number| format!("/page/{number}"))),
        _ if down.load(Ordering::SeqCst) => Response::status(503),
        _ => Response::linking(["/"]),
    });
    let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "1"]);
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = bench.published();
    is_down.store(true, Ordering::SeqCst);
    let config = bench.settings(
        "max_tries = 1\nfailures_before_pause = 2\npause = \"50ms\"\nmax_pause = \"100ms\"\nmax_pauses = 2\n",
    );
    let ran = bench
        .crawl(&site.url("/"), &["--config", &config])
        .expect_code(4);
    assert_outcome(&ran, "refused");
    assert!(ran.stderr.contains("the site went down"), "{}", ran.stderr);
    assert!(number(&ran.summary(), "queued") > 0);
    assert_eq!(bench.published().differences(&before), [] as [String; 0]);
}

// ----- 5 -----

/// No crawl: nothing is published, and stderr says why.
#[track_caller]
fn check_no_crawl(url: &str, options: &[&str], reason: &str) {
    let bench = Bench::new();
    let config = bench.settings(QUICK);
    let all = [&["--config", &config], options].concat();
    let ran = bench.crawl(url, &all).expect_code(5);
    assert_outcome(&ran, "unreachable");
    assert!(
        ran.stderr.contains(reason),
        "expected {reason:?} in {}",
        ran.stderr
    );
    assert_nothing_published(&bench);
}

#[test]
fn a_start_page_that_does_not_answer_200_is_no_crawl() {
    for status in [404, 410, 403, 500, 503, 204] {
        let site = starting_with(Response::status(status));
        check_no_crawl(&site.url("/"), &[], &format!("answered {status}"));
    }
    let site = starting_with(Response::dropped());
    check_no_crawl(&site.url("/"), &[], "cannot be fetched");
    let site = starting_with(Response::redirect(302, "/"));
    check_no_crawl(&site.url("/"), &[], "redirects in a loop");
    let site = starting_with(Response::status(302));
    check_no_crawl(&site.url("/"), &[], "without a usable Location");
}

#[test]
fn a_host_that_cannot_be_reached_is_no_crawl() {
    // A port that was free a moment ago.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    check_no_crawl(&format!("http://{address}/"), &[], "cannot connect to");
    // RFC 6761 section 6.4: this name never resolves.
    check_no_crawl("http://site.invalid/", &[], "cannot resolve site.invalid");
}

#[test]
fn a_start_page_that_leads_elsewhere_is_no_crawl() {
    let site = starting_with(Response::redirect(301, "http://other.invalid/"));
    check_no_crawl(
        &site.url("/"),
        &[],
        "redirects to another host: http://other.invalid/",
    );
    let site = Site::start(|request| match request.target.as_str() {
        "/docs/" => Response::redirect(301, "/new/"),
        _ => Response::linking(["/"]),
    });
    check_no_crawl(
        &site.url("/docs/"),
        &[],
        "redirects out of its own directory",
    );
}

#[test]
fn a_robots_txt_that_cannot_be_read_or_forbids_the_start_is_no_crawl() {
    let with_robots = |answer: Response| {
        Site::start(move |request| match request.target.as_str() {
            "/robots.txt" => answer.clone(),
            _ => Response::linking(["/"]),
        })
    };
    for answer in [
        Response::status(503),
        Response::status(429),
        Response::dropped(),
    ] {
        let site = with_robots(answer);
        check_no_crawl(&site.url("/"), &[], "robots.txt of");
        assert!(site.pages().is_empty());
    }
    let site = with_robots(Response::text("User-agent: *\nDisallow: /\n"));
    check_no_crawl(&site.url("/"), &[], "is disallowed by");
    assert!(site.pages().is_empty());
}

// ----- 6 -----

/// A site that keeps its first page waiting until told.
fn waiting_site() -> (Site, Arc<AtomicBool>) {
    let may_answer = Arc::new(AtomicBool::new(false));
    let answer = Arc::clone(&may_answer);
    let site = Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking(["/slow"]),
        _ => {
            while !answer.load(Ordering::SeqCst) {
                thread::yield_now();
                thread::park_timeout(Duration::from_millis(5));
            }
            Response::linking(["/"])
        }
    });
    (site, may_answer)
}

/// Waits until the site was asked for `target`.
fn wait_for(site: &Site, target: &str) {
    while !site.log().iter().any(|seen| seen.target == target) {
        thread::park_timeout(Duration::from_millis(5));
    }
}

#[test]
fn a_state_that_another_run_holds_is_busy() {
    let (site, may_answer) = waiting_site();
    let bench = Bench::new();
    let first = bench.spawn(&site.url("/"), &[]);
    wait_for(&site, "/slow");
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(6);
    assert_outcome(&ran, "busy");
    assert!(ran.stderr.contains("process "), "{}", ran.stderr);
    may_answer.store(true, Ordering::SeqCst);
    first.wait().expect_code(0);
    assert_eq!(bench.published().urls().len(), 2);
}

#[test]
fn an_output_that_another_run_holds_is_busy() {
    let site = site_of(1);
    let bench = Bench::new();
    fs::create_dir_all(bench.output()).expect("created");
    let lock = File::create(bench.output().join(".arpent.lock")).expect("created");
    lock.lock().expect("locked");
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(6);
    assert_outcome(&ran, "busy");
    assert!(
        ran.stderr.contains("another run is publishing"),
        "{}",
        ran.stderr
    );
    drop(lock);
    bench.crawl(&site.url("/"), &[]).expect_code(0);
}

#[test]
fn nobody_is_asked_when_it_is_not_known_who_asked_to_wait() {
    let site = site_of(3);
    let bench = Bench::new();
    let file = bench.state().join("retry-after");
    fs::create_dir_all(bench.state()).expect("created");
    let check = || {
        let ran = bench.crawl(&site.url("/"), &[]).expect_code(4);
        assert_outcome(&ran, "refused");
        assert!(ran.stderr.contains("retry-after"), "{}", ran.stderr);
        assert_eq!(site.log().len(), 0);
        assert_nothing_published(&bench);
    };
    // A folder is no file that can be read.
    fs::create_dir(&file).expect("created");
    check();
    fs::remove_dir(&file).expect("removed");
    for damaged in ["\0\0\0", "site.example\tsoon\n"] {
        fs::write(&file, damaged).expect("written");
        check();
    }
    fs::remove_file(&file).expect("removed");
    bench.crawl(&site.url("/"), &[]).expect_code(0);
}

// ----- 70 -----

#[test]
fn a_bug_while_publishing_is_told_and_costs_nothing() {
    let site = site_of(3);
    let bench = Bench::new();
    let mut command = bench.command(&site.url("/"), &[]);
    command.env("ARPENT_FAULT", "panic-in-publish");
    let ran = Ran::of(command).expect_code(70);
    assert_outcome(&ran, "internal");
    assert!(ran.stderr.contains("please report it"), "{}", ran.stderr);
    assert_nothing_published(&bench);
    let asked = site.pages().len();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert_eq!(bench.published().urls().len(), 4);
    assert_eq!(
        site.pages().split_off(asked),
        ["/"],
        "only the start page is asked for again"
    );
}

#[test]
fn a_bug_while_opening_the_state_is_told_and_costs_nothing() {
    let site = site_of(3);
    let bench = Bench::new();
    let mut command = bench.command(&site.url("/"), &[]);
    command.env("ARPENT_FAULT", "panic-in-opening");
    let ran = Ran::of(command).expect_code(70);
    assert_outcome(&ran, "internal");
    assert!(ran.stderr.contains("please report it"), "{}", ran.stderr);
    assert_nothing_published(&bench);
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert_eq!(bench.published().urls().len(), 4);
}

// ----- 130 and 143 -----

/// Pages of a binary tree. While it `lingers`, the pages behind the sixtieth take their time, so that the
/// crawl can be interrupted in the middle.
fn tree(size: usize, lingers: &Arc<AtomicBool>) -> Site {
    let lingers = Arc::clone(lingers);
    Site::start(move |request| {
        let number: usize = match request.target.as_str() {
            "/robots.txt" => return Response::text(""),
            "/" => 1,
            path => path["/page/".len()..].parse().expect("a number"),
        };
        let children = [number * 2, number * 2 + 1]
            .into_iter()
            .filter(|child| *child <= size);
        let page = Response::linking(children.map(|child| format!("/page/{child}")))
            .with("Last-Modified", "Sat, 02 Nov 2019 08:49:37 GMT");
        if number > 60 && lingers.load(Ordering::SeqCst) {
            page.after(Duration::from_millis(250))
        } else {
            page
        }
    })
}

fn parts(published: &Published, site: &Site) -> BTreeMap<String, String> {
    let parts = published.parts().into_iter();
    parts
        .map(|(name, file)| (name.to_owned(), file.xml.replace(&site.origin(), "")))
        .collect()
}

#[test]
fn a_signal_keeps_the_progress_and_the_next_start_goes_on() {
    let pages = 150;
    let quick = tree(pages, &Arc::new(AtomicBool::new(false)));
    let uninterrupted = Bench::new();
    uninterrupted.crawl(&quick.url("/"), &[]).expect_code(0);
    let expected = parts(&uninterrupted.published(), &quick);
    assert_eq!(uninterrupted.published().urls().len(), pages);

    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let lingers = Arc::new(AtomicBool::new(true));
        let site = tree(pages, &lingers);
        let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "2"]);
        let running = bench.spawn(&site.url("/"), &[]);
        wait_for(&site, "/page/61");
        running.signal(signal);
        let ran = running.wait().expect_code(code);
        assert_outcome(&ran, "interrupted");
        assert!(number(&ran.summary(), "queued") > 0, "{}", ran.stdout);
        assert_nothing_published(&bench);
        let first = site.pages();

        lingers.store(false, Ordering::SeqCst);
        bench.crawl(&site.url("/"), &[]).expect_code(0);
        assert_eq!(parts(&bench.published(), &site), expected);
        let second = site.pages().split_off(first.len());
        let again: Vec<&String> = second.iter().filter(|page| first.contains(page)).collect();
        assert_eq!(again, ["/"], "what was finished is not asked for again");
    }
}

#[test]
fn a_second_signal_does_not_wait_for_answers() {
    let (site, may_answer) = waiting_site();
    let bench = Bench::new();
    let mut running = bench.spawn(&site.url("/"), &[]);
    wait_for(&site, "/slow");
    running.signal("TERM");
    running.wait_until_it_says("stopping: no new requests");
    assert!(
        !running.has_ended(),
        "the first signal lets the answer come"
    );
    running.signal("INT");
    // The page never answers; only the second signal can end this.
    running.wait().expect_code(143);
    assert!(!may_answer.swap(true, Ordering::SeqCst));
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert_eq!(bench.published().urls().len(), 2);
}

#[test]
fn without_a_terminal_nothing_hangs_up() {
    let (site, may_answer) = waiting_site();
    let bench = Bench::new();
    let mut running = bench.spawn(&site.url("/"), &[]);
    wait_for(&site, "/slow");
    running.signal("HUP");
    // Signals are taken in their order where they are taken at all: this one comes after it.
    running.signal("TERM");
    running.wait_until_it_says("stopping: no new requests");
    may_answer.store(true, Ordering::SeqCst);
    running.wait().expect_code(143);
}

// ----- Several sites -----

#[test]
fn the_worst_of_several_sites_counts_and_none_stops_the_others() {
    let good = site_of(1);
    let gone = starting_with(Response::status(404));
    let empty = starting_with(Response::html("<meta name=robots content=noindex>"));
    let partial = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking(["/bad"]),
        _ => Response::status(500),
    });
    let check = |sites: &[&Site], code: i32, outcomes: &[&str]| {
        let bench = Bench::new();
        let config = bench.settings(QUICK);
        let urls: Vec<String> = sites.iter().map(|site| site.url("/")).collect();
        let mut options = vec!["--config", config.as_str()];
        options.extend(urls[1..].iter().map(String::as_str));
        let ran = bench.crawl(&urls[0], &options).expect_code(code);
        let summaries = ran.summaries();
        let found: Vec<&str> = summaries
            .iter()
            .map(|summary| summary["outcome"].as_str().expect("a word"))
            .collect();
        assert_eq!(found, outcomes);
        let told: Vec<&str> = summaries
            .iter()
            .map(|summary| summary["site"].as_str().expect("a URL"))
            .collect();
        assert_eq!(told, urls);
        bench
    };
    let bench = check(&[&good, &partial], 3, &["published", "partial"]);
    // Each site has its own folder.
    for (site, count) in [(&good, 2), (&partial, 1)] {
        let folder = bench
            .output()
            .join(format!("http_127.0.0.1_{}", site.port()));
        assert_eq!(Published::read(&folder).urls().len(), count);
    }
    check(
        &[&partial, &empty, &good],
        4,
        &["partial", "refused", "published"],
    );
    check(
        &[&gone, &good, &empty],
        5,
        &["unreachable", "published", "refused"],
    );

    // A signal ends all of them.
    let (never_done, _) = waiting_site();
    let bench = Bench::new();
    let mut running = bench.spawn(&gone.url("/"), &[&never_done.url("/"), &good.url("/")]);
    wait_for(&never_done, "/slow");
    running.signal("INT");
    running.wait_until_it_says("stopping: no new requests");
    running.signal("INT");
    let ran = running.wait().expect_code(130);
    let outcomes: Vec<_> = ran
        .summaries()
        .iter()
        .map(|summary| summary["outcome"].to_string())
        .collect();
    assert_eq!(
        outcomes,
        ["\"unreachable\"", "\"interrupted\"", "\"interrupted\""]
    );
}

#[test]
fn a_folder_without_permission_is_refused_to_those_it_is_closed_to() {
    let site = site_of(1);
    let bench = Bench::new();
    fs::create_dir_all(bench.output()).expect("created");
    fs::set_permissions(bench.output(), fs::Permissions::from_mode(0o555)).expect("closed");
    let is_closed = File::create(bench.output().join("probe")).is_err();
    // Nothing is closed to root.
    bench
        .crawl(&site.url("/"), &[])
        .expect_code(if is_closed { 4 } else { 0 });
    fs::set_permissions(bench.output(), fs::Permissions::from_mode(0o755)).expect("opened");
}

#[test]
fn a_closed_standard_output_is_no_crash() {
    let site = site_of(1);
    let bench = Bench::new();
    let mut command: Command = bench.command(&site.url("/"), &[]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("started");
    drop(child.stdout.take());
    let status = child.wait().expect("ended");
    assert_eq!(status.code(), Some(0));
    assert_eq!(bench.published().urls().len(), 2);
}

#[test]
fn a_run_that_was_stopped_before_the_site_was_known_is_interrupted() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let site = Site::start(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        Response::status(503).with("Retry-After", "30")
    });
    let bench = Bench::new();
    let running = bench.spawn(&site.url("/"), &[]);
    wait_for(&site, "/robots.txt");
    running.signal("INT");
    let ran = running.wait().expect_code(130);
    assert_outcome(&ran, "interrupted");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}
