//! Telling others of what was published, to engines and hooks on loopback.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value;

use crate::support::{
    program::{Bench, Ran},
    site::{Response, Seen, Site},
};

/// A site whose pages change on demand, served with what the program writes into its output, and an engine
/// on a host of its own, so that each waits for itself.
struct World {
    bench: Bench,
    site: Site,
    engine: Site,
    edition: Arc<AtomicUsize>,
    /// What the engine answers.
    status: Arc<AtomicUsize>,
    settings: String,
}

/// The first lines of every settings file: one try for each request.
const ONE_TRY: &str = "max_tries = 1\nretry_delays = [\"0s\"]\n";

impl World {
    fn new() -> Self {
        Self::with_settings(ONE_TRY, "")
    }

    /// A world whose settings begin with `top`, and have `notify` in their table.
    fn with_settings(top: &str, notify: &str) -> Self {
        let bench = Bench::new();
        let edition = Arc::new(AtomicUsize::new(1));
        let status = Arc::new(AtomicUsize::new(200));
        let site = {
            let (edition, output) = (Arc::clone(&edition), bench.output());
            Site::start(move |request| {
                page(&request.target, edition.load(Ordering::SeqCst), &output)
            })
        };
        let engine = {
            let status = Arc::clone(&status);
            Site::start(move |request| match status.load(Ordering::SeqCst) {
                // Says nothing for as long as anybody waits.
                0 => Response {
                    stalls_in_head: true,
                    ..Response::html("")
                },
                1 => Response::dropped(),
                // The second time it is well.
                2 if request.earlier == 0 => Response::status(503),
                2 => Response::status(200),
                3 => Response::status(429).with("Retry-After", "3600"),
                status => Response::status(u16::try_from(status).expect("a status")),
            })
        };
        let port = engine.port();
        let text = format!(
            "{top}resolve = [\"engine.test:{port}:127.0.0.1\"]\n[notify]\n\
             indexnow_endpoint = \"http://engine.test:{port}/indexnow\"\n{notify}"
        );
        let settings = bench.settings(&text);
        Self {
            bench,
            site,
            engine,
            edition,
            status,
            settings,
        }
    }

    fn answers(&self, status: usize) {
        self.status.store(status, Ordering::SeqCst);
    }

    fn changes(&self) {
        self.edition.fetch_add(1, Ordering::SeqCst);
    }

    fn crawl(&self, options: &[&str]) -> Ran {
        self.bench.crawl(
            &self.site.url("/"),
            &[&["--config", self.settings.as_str()], options].concat(),
        )
    }

    /// Crawls a site that changed, and tells the engine.
    fn tell(&self) -> Ran {
        self.crawl(&["--indexnow"])
    }

    /// `arpent notify` with these options.
    fn notify(&self, options: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arpent"));
        command
            .env_clear()
            .current_dir(self.bench.path())
            .stdin(Stdio::null())
            .arg("notify")
            .arg(self.site.url("/"))
            .arg("--state")
            .arg(self.bench.state())
            .args(["--config", &self.settings, "--rate", "unlimited"])
            .args(options);
        Ran::of(command)
    }

    /// The requests that the engine saw since the last call.
    fn requests(&self) -> Vec<Seen> {
        let log = self.engine.log();
        self.engine.clear_log();
        log
    }

    /// The paths in each request that the engine saw since the last call.
    fn told(&self) -> Vec<Vec<String>> {
        let requests = self.requests().into_iter();
        requests
            .map(|seen| {
                assert_eq!(seen.target, "/indexnow");
                assert_eq!(
                    seen.headers["content-type"],
                    "application/json; charset=utf-8"
                );
                let body: Value = serde_json::from_str(&seen.body).expect("JSON");
                let origin = self.site.origin();
                assert_eq!(
                    format!("http://{}", body["host"].as_str().expect("a host")),
                    origin
                );
                let urls = body["urlList"].as_array().expect("a list").iter();
                urls.map(|url| url.as_str().expect("a URL").replacen(&origin, "", 1))
                    .collect()
            })
            .collect()
    }

    /// The key, by its file in the output.
    fn key(&self) -> String {
        let names = fs::read_dir(self.bench.output()).expect("an output");
        let names = names.map(|entry| {
            let name = entry.expect("the folder can be read").file_name();
            name.into_string().expect("a name in UTF-8")
        });
        let mut keys: Vec<String> = names
            .filter_map(|name| name.strip_suffix(".txt").map(str::to_owned))
            .collect();
        assert_eq!(keys.len(), 1, "{keys:?}");
        keys.remove(0)
    }
}

/// A page of an edition: `/changes` says another thing in each, `/number` is there in that one only.
fn page(target: &str, edition: usize, output: &Path) -> Response {
    let own = format!("/{edition}");
    match target {
        "/" => Response::linking(["/changes", "/stays", own.as_str()]),
        "/changes" => Response::html(format!("<title>{edition}</title>")),
        "/stays" => Response::html("<title>always</title>"),
        target if target == own => Response::html("<title>new</title>"),
        // Nothing else of the output is served: the program must not see its own sitemaps.
        target => match fs::read_to_string(output.join(&target[1..])) {
            Ok(key) if target.len() > 20 => Response::text(key),
            Ok(_) | Err(_) if target.len() == 2 => Response::status(410),
            Ok(_) | Err(_) => Response::status(404),
        },
    }
}

/// What a second edition is not as the first: paths of changed, added and removed pages.
const SECOND: [&str; 4] = ["/", "/1", "/2", "/changes"];

#[test]
fn what_changed_is_told_once_and_nothing_at_first() {
    let world = World::new();
    world.tell().expect_code(0);
    assert_eq!(world.told(), Vec::<Vec<String>>::new());
    // Nothing changed, nothing is sent.
    world.tell().expect_code(0);
    assert_eq!(world.told(), Vec::<Vec<String>>::new());
    world.changes();
    let ran = world.tell().expect_code(0);
    assert_eq!(world.told(), [SECOND]);
    let told = &ran.summary()["notified"][0];
    assert_eq!(
        (&told["channel"], &told["told"]),
        (&"indexnow".into(), &4.into())
    );
    // Its file is asked for before, and holds it.
    let key = world.key();
    let file = format!("/{key}.txt");
    assert!(world.site.pages().contains(&file));
    world.tell().expect_code(0);
    assert_eq!(world.told(), Vec::<Vec<String>>::new());
    // A publish does not mind the file, and the file stays.
    world.changes();
    world.crawl(&[]).expect_code(0);
    assert_eq!(world.key(), key);
}

#[test]
fn engines_are_told_of_what_changes_since_they_are_told_at_all() {
    let world = World::new();
    for _ in 0..3 {
        world.crawl(&[]).expect_code(0);
        world.changes();
    }
    world.crawl(&[]).expect_code(0);
    // What was noted before is old, however much of it there is.
    world.tell().expect_code(0);
    assert_eq!(world.told(), Vec::<Vec<String>>::new());
    world.changes();
    world.tell().expect_code(0);
    assert_eq!(world.told(), [["/", "/4", "/5", "/changes"]]);
    // From then on also what changed in runs that tell nobody, but not the same URLs twice in ten minutes.
    for _ in 0..2 {
        world.changes();
        world.crawl(&[]).expect_code(0);
    }
    world.notify(&["--indexnow"]).expect_code(0);
    assert_eq!(world.told(), [["/6", "/7"]]);
}

#[test]
fn the_newest_changes_alone_wait_where_nobody_is_told() {
    let world = World::new();
    for _ in 0..4 {
        world.crawl(&[]).expect_code(0);
        world.changes();
    }
    let ran = world.notify(&[]).expect_code(0);
    assert!(
        ran.stdout.contains("4 URLs noted as changed"),
        "{}",
        ran.stdout
    );
    // Whoever asks for it by hand tells of them.
    world.notify(&["--indexnow"]).expect_code(0);
    assert_eq!(world.told(), [["/", "/3", "/4", "/changes"]]);
}

#[test]
fn a_robots_txt_behind_a_password_is_read_with_it() {
    let site =
        Site::start(
            |request| match (request.headers.get("authorization"), &*request.target) {
                (None, _) => Response::status(401),
                (Some(_), "/robots.txt") => {
                    Response::text("User-agent: *\nSitemap: /sitemap.xml\n")
                }
                (Some(_), "/") => Response::html("<title>a page</title>"),
                (Some(_), _) => Response::status(404),
            },
        );
    let bench = Bench::new();
    let settings = bench.settings(&format!("{ONE_TRY}basic_auth = \"user:password\"\n"));
    bench
        .crawl(&site.url("/"), &["--config", &settings])
        .expect_code(0);
    let notify = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arpent"));
        command
            .env_clear()
            .current_dir(bench.path())
            .stdin(Stdio::null())
            .args(["notify", &site.url("/"), "--rate", "unlimited"])
            .arg("--state")
            .arg(bench.state())
            .args(options);
        Ran::of(command)
    };
    let ran = notify(&["--config", &settings]).expect_code(0);
    assert!(
        ran.stdout.contains("robots.txt lacks the line"),
        "{}",
        ran.stdout
    );
    // Who may not read it does not know.
    let ran = notify(&[]).expect_code(3);
    assert!(
        ran.stdout.contains("robots.txt should have the line"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr.contains("whether it has them is not known")
            && ran.stderr.contains("answered 401"),
        "{}",
        ran.stderr
    );
}

#[test]
fn every_status_of_the_engine_has_its_meaning() {
    let world = World::new();
    world.tell().expect_code(0);
    world.changes();
    let all = &SECOND[..];
    for (status, expected, sent) in [
        (403, "answered 403: it does not find the key in", all),
        (429, "answered 429 to each of 1 tries", all),
        (500, "answered 500", all),
        (503, "answered 503", all),
        (302, "is indexnow_endpoint right?", all),
        (1, "engine.test", all),
        (400, "badly formed", all),
        // What was refused goes out in halves.
        (
            422,
            "answered 422: these URLs are not of the host",
            &SECOND[..2],
        ),
    ] {
        world.answers(status);
        // The crawl itself went well.
        let ran = world.tell().expect_code(0);
        assert!(ran.stderr.contains(expected), "{status}: {}", ran.stderr);
        assert!(!ran.stderr.contains(&world.key()), "{}", ran.stderr);
        assert_eq!(world.told(), [sent], "{status}");
        assert_eq!(ran.summary()["notified"][0]["waiting"], 4, "{status}");
    }
    world.answers(202);
    let ran = world.tell().expect_code(0);
    assert_eq!(world.told(), [["/2"], ["/changes"], ["/"], ["/1"]]);
    assert!(
        ran.stderr
            .contains("will check the key of 4 URLs later (202)")
    );
    assert_eq!(ran.summary()["notified"][0]["waiting"], 0);
}

#[test]
fn a_passing_failure_is_tried_again_and_a_long_wait_is_kept() {
    let world = World::with_settings("retry_delays = [\"0s\"]\n", "");
    world.tell().expect_code(0);
    world.changes();
    world.answers(2);
    world.tell().expect_code(0);
    assert_eq!(world.told(), [SECOND, SECOND]);
    world.changes();
    world.answers(3);
    let ran = world.tell().expect_code(0);
    assert_eq!(world.requests().len(), 1);
    assert!(
        ran.stderr
            .contains("engine.test gets no further request now: it asked to wait")
    );
    // Also by the next start.
    world.answers(200);
    world.tell().expect_code(0);
    assert_eq!(world.requests().len(), 0);
}

#[test]
fn killed_before_the_answer_is_noted_the_urls_are_told_again() {
    let world = World::new();
    world.tell().expect_code(0);
    world.changes();
    world.answers(0);
    let mut running = world.bench.spawn(
        &world.site.url("/"),
        &["--config", &world.settings, "--indexnow"],
    );
    while world.engine.log().is_empty() {
        assert!(!running.has_ended());
        std::thread::yield_now();
    }
    assert!(running.kill());
    assert_eq!(world.told(), [SECOND]);
    world.answers(200);
    world.tell().expect_code(0);
    assert_eq!(world.told(), [SECOND]);
    world.tell().expect_code(0);
    assert_eq!(world.told(), Vec::<Vec<String>>::new());
}

#[test]
fn the_directory_of_the_key_file_limits_what_is_sent() {
    let world = World::new();
    world.crawl(&[]).expect_code(0);
    world.changes();
    world.crawl(&[]).expect_code(0);
    let key = "my-own-key-of-this-site";
    fs::write(world.bench.path().join("key"), key).unwrap();
    // Served by the site, in the folder that the pages are not in.
    let folder = world.bench.output().join("only-here");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("a-name-that-is-long.txt"), format!("{key}\n")).unwrap();
    let location = world.site.url("/only-here/a-name-that-is-long.txt");
    let options = [
        "--indexnow",
        "--indexnow-key-file",
        "key",
        "--indexnow-key-location",
        &location,
    ];
    let ran = world.notify(&options).expect_code(3);
    assert!(
        ran.stderr
            .contains("4 of the URLs are outside of the directory of the key's file")
    );
    assert_eq!(world.told(), Vec::<Vec<String>>::new());
    fs::write(world.bench.output().join("a-name-that-is-long.txt"), key).unwrap();
    let location = world.site.url("/a-name-that-is-long.txt");
    let options = [
        "--indexnow",
        "--indexnow-key-file",
        "key",
        "--indexnow-key-location",
        &location,
    ];
    world.notify(&options).expect_code(0);
    assert_eq!(world.told(), [SECOND]);
}

#[test]
fn a_key_on_another_host_is_told_of_before_anything_is_asked_for() {
    let world = World::new();
    let check = |notify: &str, options: &[&str], expected: Option<&str>| {
        world.bench.settings(&format!("{ONE_TRY}{notify}"));
        let ran = world.crawl(options);
        let found = ran.stderr.contains("config.toml:");
        assert_eq!(found, expected.is_some(), "{notify}: {}", ran.stderr);
        if let Some(expected) = expected {
            let ran = ran.expect_code(2);
            let own = world.site.origin().replace("http://", "");
            let expected = expected.replace("SITE", &own);
            assert!(ran.stderr.contains(&expected), "{notify}: {}", ran.stderr);
            assert!(!ran.stderr.contains("secret-key"), "{}", ran.stderr);
            assert_eq!(world.site.pages(), [] as [String; 0]);
        }
        world.site.clear_log();
    };
    let elsewhere = "[notify]\nindexnow = true\nindexnow_key_location = \"https://other.example/secret-key.txt\"\n";
    let why = "it is on other.example, where no file proves the key for SITE; expected the URL of a file on SITE";
    check(elsewhere, &[], Some(why));
    // Another port is another host, as IndexNow has it.
    let port = "[notify]\nindexnow_key_location = \"http://127.0.0.1:1/secret-key.txt\"\n";
    check(port, &["--dry-run"], Some("it is on 127.0.0.1:1, where"));
    // What counts is the host that the set is written for.
    check(elsewhere, &["--as", "https://www.other.example/"], None);
    let own = format!(
        "[notify]\nindexnow_key_location = \"{}\"\n",
        world.site.url("/k.txt")
    );
    check(&own, &[], None);
    check(
        &own,
        &["--as", "https://other.example/"],
        Some("where no file proves the key for other.example"),
    );
}

#[test]
fn without_the_key_served_nothing_is_sent() {
    let world = World::new();
    world.tell().expect_code(0);
    world.changes();
    let location = world.site.url("/not-there.txt");
    // Nothing was noted yet.
    let ran = world
        .notify(&["--indexnow", "--indexnow-key-location", &location])
        .expect_code(0);
    assert!(ran.stdout.contains("robots.txt"), "{}", ran.stdout);
    world.crawl(&[]).expect_code(0);
    let ran = world
        .notify(&["--indexnow", "--indexnow-key-location", &location])
        .expect_code(3);
    assert!(
        ran.stderr.contains("/not-there.txt answered 404"),
        "{}",
        ran.stderr
    );
    assert_eq!(world.requests().len(), 0);
}

#[test]
fn a_ping_is_encoded_as_in_the_protocol_and_sent_again_until_it_is_received() {
    let world = World::with_settings("retry_delays = [\"0s\"]\n", "");
    let template = format!(
        "http://engine.test:{}/ping?sitemap={{sitemap}}&key=secret-of-ours",
        world.engine.port()
    );
    let sitemap = world.site.url("/sitemap.xml");
    let encoded = sitemap.replace(':', "%3A").replace('/', "%2F");
    let target = format!("/ping?sitemap={encoded}&key=secret-of-ours");
    let targets = || -> Vec<String> {
        let requests = world.requests().into_iter();
        requests.map(|seen| seen.target).collect()
    };
    world.answers(2);
    let ran = world.crawl(&["--ping", &template, "-vvv"]).expect_code(0);
    // 503 first, then 200: one index, one request that was received.
    assert_eq!(targets(), [target.as_str(), &target]);
    assert!(!ran.stderr.contains("secret-of-ours"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("secret-of-ours"), "{}", ran.stdout);
    // Nothing changed, nothing is sent.
    world.crawl(&["--ping", &template]).expect_code(0);
    assert_eq!(targets(), Vec::<String>::new());
    for (status, requests) in [(200, 1), (404, 1), (410, 1), (400, 3), (302, 3)] {
        world.answers(status);
        let ran = world.notify(&["--ping", &template]);
        let code = if status == 200 { 0 } else { 3 };
        let ran = ran.expect_code(code);
        assert_eq!(targets(), vec![target.clone(); requests], "{status}");
        assert!(!ran.stderr.contains("secret-of-ours"), "{}", ran.stderr);
    }
}

#[test]
fn an_engine_that_did_not_answer_is_asked_again_by_the_next_run() {
    let world = World::new();
    let template = format!(
        "http://engine.test:{}/ping?sitemap={{sitemap}}",
        world.engine.port()
    );
    let check = |status: usize, requests: usize| {
        world.answers(status);
        world.crawl(&["--ping", &template]).expect_code(0);
        assert_eq!(world.requests().len(), requests, "{status}");
    };
    // The set is published once; what is no last word is asked for again.
    check(500, 1);
    check(1, 1);
    check(200, 1);
    check(200, 0);
    world.changes();
    check(503, 1);
    check(410, 1);
    check(200, 0);
}

#[test]
fn killed_before_others_are_told_the_next_run_tells_them() {
    let world = World::new();
    let template = format!(
        "http://engine.test:{}/ping?sitemap={{sitemap}}",
        world.engine.port()
    );
    let hook = "echo $ARPENT_EVENT $ARPENT_OUTCOME >> called";
    let called = || fs::read_to_string(world.bench.path().join("called")).unwrap_or_default();
    world.answers(0);
    let options = [
        "--config",
        &world.settings,
        "--ping",
        &template,
        "--hook-shell",
        hook,
    ];
    let mut running = world.bench.spawn(&world.site.url("/"), &options);
    while world.engine.log().is_empty() {
        assert!(!running.has_ended());
        std::thread::yield_now();
    }
    assert!(running.kill());
    let set = world.bench.published();
    assert_eq!((set.urls().len(), called().as_str()), (4, ""));
    world.requests();
    world.answers(200);
    let tell = || world.crawl(&options[2..]).expect_code(0);
    tell();
    assert_eq!(world.requests().len(), 1);
    assert_eq!(called(), "published unchanged\n");
    tell();
    assert_eq!(world.requests().len(), 0);
    assert_eq!(called(), "published unchanged\n");
}

#[test]
fn keys_are_in_no_log() {
    let world = World::new();
    world.crawl(&["--indexnow", "-vvv"]).expect_code(0);
    world.changes();
    for status in [403, 200] {
        world.answers(status);
        let ran = world.crawl(&["--indexnow", "-vvv"]).expect_code(0);
        assert_eq!(world.told(), [SECOND]);
        let key = world.key();
        assert!(!ran.stderr.contains(&key), "{}", ran.stderr);
        assert!(!ran.stdout.contains(&key), "{}", ran.stdout);
        assert!(
            !fs::read_to_string(world.bench.output().join(".arpent-manifest.json"))
                .unwrap()
                .contains(&key)
        );
    }
}

#[test]
fn by_hand_it_says_where_and_what_without_asking_anybody() {
    let world = World::new();
    let ran = world.notify(&["--list"]).expect_code(2);
    assert!(
        ran.stderr.contains("there is no state of it in"),
        "{}",
        ran.stderr
    );
    world.crawl(&[]).expect_code(0);
    world.changes();
    world.crawl(&[]).expect_code(0);
    world.site.clear_log();
    let ran = world.notify(&["--list"]).expect_code(0);
    let sitemap = world.site.url("/sitemap.xml");
    for line in [
        "Google Search Console",
        "Bing Webmaster Tools",
        "Yandex Webmaster",
        "Naver Search Advisor",
        "Seznam Webmaster",
        &format!("paste: {sitemap}"),
        &format!("Sitemap: {sitemap}"),
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let ran = world.notify(&["--dry-run", "--indexnow"]).expect_code(0);
    for line in [
        "IndexNow would be told of 4 URLs",
        "removed",
        "added",
        "changed",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let options = ["--dry-run", "--indexnow", "--submit-all"];
    let ran = world.notify(&options).expect_code(0);
    assert!(
        ran.stdout.contains("all 4 URLs of the set would be told"),
        "{}",
        ran.stdout
    );
    assert_eq!((world.site.log().len(), world.requests().len()), (0, 0));
    let ran = world.notify(&["--submit-all"]).expect_code(2);
    assert!(ran.stderr.contains("--indexnow"), "{}", ran.stderr);
    let ran = world.notify(&["--submit-all", "--indexnow"]).expect_code(0);
    assert_eq!(world.told(), [["/", "/1", "/2", "/changes", "/stays"]]);
    assert!(ran.stdout.contains("lacks the line"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("5 URLs told to http://engine.test"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_robots_file_gets_its_line_and_nothing_else() {
    let world = World::new();
    let path = world.bench.path().join("robots.txt");
    fs::write(&path, "User-agent: *\r\nDisallow: /private").unwrap();
    world.crawl(&["--robots-file", "robots.txt"]).expect_code(0);
    let sitemap = world.site.url("/sitemap.xml");
    let expected = format!("User-agent: *\r\nDisallow: /private\r\nSitemap: {sitemap}\r\n");
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    let written = fs::metadata(&path).unwrap().modified().unwrap();
    world.changes();
    world.crawl(&["--robots-file", "robots.txt"]).expect_code(0);
    world
        .notify(&["--robots-file", "robots.txt"])
        .expect_code(0);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written);
    // One that cannot be written changes nothing of the crawl.
    let ran = world
        .crawl(&["--robots-file", "missing/robots.txt"])
        .expect_code(0);
    assert!(ran.stderr.contains("missing/robots.txt"), "{}", ran.stderr);
    world
        .notify(&["--robots-file", "missing/robots.txt"])
        .expect_code(3);
}

/// Runs of hooks by their event: what the program noted of each.
fn noted(file: &Path) -> Vec<(String, Value)> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .map(|line| {
            let (event, summary) = line.split_once('\t').expect("an event and a summary");
            let summary = serde_json::from_str(summary).expect("a summary");
            (event.to_owned(), summary)
        })
        .collect()
}

#[test]
fn hooks_are_called_when_it_went_well_and_when_it_did_not() {
    let hook = Site::start(|_| Response::status(204));
    let state = Arc::new(AtomicUsize::new(200));
    let bench = Bench::new();
    let site = {
        let state = Arc::clone(&state);
        Site::start(move |request| match state.load(Ordering::SeqCst) {
            200 if request.target == "/" => Response::linking(["/a"]),
            200 => Response::html("<title>a</title>"),
            1 => Response::html("<meta name=robots content=noindex>"),
            _ => Response::status(503),
        })
    };
    let settings = bench.settings(&format!(
        "{ONE_TRY}resolve = [\"hook.test:{port}:127.0.0.1\"]\n[notify]\n\
         hook_url = [\"http://hook.test:{port}/secret-path\"]\n\
         hook_command = [\"sh\", \"-c\", '''printf '%s\\t' \"$ARPENT_EVENT\" >> \"$0\"; cat >> \"$0\"; echo >> \"$0\"''', \"noted\"]\n",
        port = hook.port()
    ));
    let crawl = |code: i32| {
        let ran = bench.crawl(&site.url("/"), &["--config", &settings, "-vvv"]);
        let ran = ran.expect_code(code);
        assert!(!ran.stderr.contains("secret-path"), "{}", ran.stderr);
        ran
    };
    let published = crawl(0).summary();
    crawl(0);
    state.store(1, Ordering::SeqCst);
    crawl(4);
    state.store(503, Ordering::SeqCst);
    crawl(5);
    let noted = noted(&bench.path().join("noted"));
    let events: Vec<&str> = noted.iter().map(|(event, _)| event.as_str()).collect();
    // A run that changed nothing is no news.
    assert_eq!(events, ["published", "refused", "failed"]);
    assert_eq!(noted[0].1, published);
    assert_eq!(noted[1].1["outcome"], "refused");
    assert_eq!(noted[2].1["outcome"], "unreachable");
    let got: Vec<Value> = hook
        .log()
        .iter()
        .map(|seen| serde_json::from_str(&seen.body).expect("JSON"))
        .collect();
    let events: Vec<&Value> = got.iter().map(|body| &body["event"]).collect();
    assert_eq!(events, ["published", "refused", "failed"]);
    assert_eq!(got[0]["summary"], published);
}

#[test]
fn a_hook_inherits_no_secret() {
    let site = Site::start(|_| Response::html("<title>a page</title>"));
    let bench = Bench::new();
    let settings = bench.settings(
        "header = [{ variable = \"OF_THE_HEADER\" }]\n[notify]\nhook_shell = \"env > seen\"\n",
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_arpent"));
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").expect("a path"))
        .env("LANG", "C.UTF-8")
        .env("OF_THE_HEADER", "X-Key: secret-one")
        .env("ARPENT_BASIC_AUTH", "user:secret-two")
        .env("CREDENTIALS_DIRECTORY", "/run/secret-three")
        .current_dir(bench.path())
        .stdin(Stdio::null())
        .args(["crawl", &site.url("/"), "--config", &settings, "--output"])
        .arg(bench.output())
        .arg("--state")
        .arg(bench.state());
    Ran::of(command).expect_code(0);
    let seen = fs::read_to_string(bench.path().join("seen")).expect("it was called");
    assert!(!seen.contains("secret-"), "{seen}");
    for line in [
        "LANG=C.UTF-8",
        "ARPENT_EVENT=published",
        "ARPENT_EXIT_CODE=0",
    ] {
        assert!(seen.lines().any(|known| known == line), "{line}: {seen}");
    }
}

#[test]
fn a_hook_that_failed_is_called_until_it_knows_of_the_set() {
    let is_down = Arc::new(AtomicUsize::new(0));
    let site = {
        let is_down = Arc::clone(&is_down);
        Site::start(move |_| match is_down.load(Ordering::SeqCst) {
            0 => Response::html("<title>a page</title>"),
            _ => Response::status(503),
        })
    };
    let bench = Bench::new();
    let settings = bench.settings(ONE_TRY);
    let hook = "echo $ARPENT_EVENT $ARPENT_OUTCOME >> called; test -e well";
    let crawl = |code: i32| {
        let options = ["--config", &settings, "--hook-shell", hook];
        bench.crawl(&site.url("/"), &options).expect_code(code)
    };
    let ran = crawl(0);
    assert!(
        ran.stderr.contains("hook_shell ended with"),
        "{}",
        ran.stderr
    );
    crawl(0);
    fs::write(bench.path().join("well"), "").expect("written");
    // What it is called for in between is not the news of the set.
    is_down.store(1, Ordering::SeqCst);
    crawl(5);
    is_down.store(0, Ordering::SeqCst);
    crawl(0);
    crawl(0);
    let called = fs::read_to_string(bench.path().join("called")).expect("it was called");
    let called: Vec<&str> = called.lines().collect();
    assert_eq!(
        called,
        [
            "published published",
            "published unchanged",
            "failed unreachable",
            "published unchanged"
        ]
    );
}

#[test]
fn a_hook_that_fails_is_a_warning() {
    let site = Site::start(|_| Response::html("<title>a page</title>"));
    let bench = Bench::new();
    let hook = "echo the reason is here; exit 9";
    let ran = bench
        .crawl(&site.url("/"), &["--hook-shell", hook])
        .expect_code(0);
    assert_eq!(ran.summary()["outcome"], "published");
    assert!(
        ran.stderr
            .contains("hook_shell ended with exit status: 9: the reason is here")
    );
    // Only what was asked for.
    let bench = Bench::new();
    let settings =
        bench.settings("[notify]\nhook_events = [\"refused\"]\nhook_shell = \"touch called\"\n");
    let ran = bench.crawl(&site.url("/"), &["--config", &settings]);
    assert_eq!(ran.expect_code(0).summary()["outcome"], "published");
    assert!(!bench.path().join("called").exists());
    let bench = Bench::new();
    // A dry run calls nobody.
    let options = ["--hook-shell", "touch called", "--dry-run"];
    bench.crawl(&site.url("/"), &options).expect_code(0);
    assert!(!bench.path().join("called").exists());
}

#[test]
fn settings_of_who_is_told_stand_in_their_table() {
    let site = Site::start(|_| Response::html("<title>a page</title>"));
    let bench = Bench::new();
    let check = |text: &str, expected: &str| {
        let settings = bench.settings(text);
        let ran = bench
            .crawl(&site.url("/"), &["--config", &settings])
            .expect_code(2);
        assert!(ran.stderr.contains(expected), "{text}: {}", ran.stderr);
    };
    check("indexnow = true", "expected in the table [notify]");
    check("[notify]\nrate = 5", "not a setting of [notify]");
    check("[notify]\nindexnw = true", "did you mean indexnow?");
    check(
        "[notify]\nping = [\"https://engine.example/\"]",
        "expected {sitemap}",
    );
    check(
        "[notify]\nhook_url = [\"secret\"]",
        "expected an http or https URL",
    );
    check(
        "[notify]\nhook_events = [\"unchanged\"]",
        "found \"unchanged\"",
    );
}
