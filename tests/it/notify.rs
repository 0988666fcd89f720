//! Notifications of engines and hooks on loopback.

mod engines;
mod google;
mod hooks;
mod messages;
mod robots_lines;
mod served;

use std::{
    fs,
    path::Path,
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

/// A site whose pages change on demand, served with the files of the output, and an engine on another host, so that
/// each has its own clocks.
struct World {
    bench: Bench,
    site: Site,
    engine: Site,
    edition: Arc<AtomicUsize>,
    /// The status that the engine answers.
    status: Arc<AtomicUsize>,
    settings: String,
}

/// The first lines of every settings file: one try for each request.
const ONE_TRY: &str = "limits.max_tries = 1\ntesting.retry_delays = [\"0s\"]\n";

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
                // It does not answer.
                0 => Response {
                    stalls_in_head: true,
                    ..Response::html("")
                },
                1 => Response::dropped(),
                // The second request succeeds.
                2 if request.earlier == 0 => Response::status(503),
                2 => Response::status(200),
                status => Response::status(u16::try_from(status).expect("a status")),
            })
        };
        let port = engine.port();
        let text = format!(
            "{top}requests.resolve = [\"engine.test:{port}:127.0.0.1\"]\n[notify]\n\
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

    /// The value of `--ping` for the engine.
    fn ping_template(&self) -> String {
        let port = self.engine.port();
        format!("http://engine.test:{port}/ping?sitemap={{sitemap}}")
    }

    /// Crawls a site that changed, and notifies the engine.
    fn submit(&self) -> Ran {
        self.crawl(&["--indexnow"])
    }

    /// `arpent notify` with these options.
    fn notify(&self, options: &[&str]) -> Ran {
        let mut command = self.bench.program();
        command
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
    fn submitted(&self) -> Vec<Vec<String>> {
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

/// A page of an edition: `/changes` has another text in each, and `/number` exists in edition `number` only.
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

/// The differences of the second edition from the first: paths of changed, added and removed pages.
const SECOND: [&str; 4] = ["/", "/1", "/2", "/changes"];

#[test]
fn pings_are_encoded_and_sent_until_received() {
    let world = World::with_settings("testing.retry_delays = [\"0s\"]\n", "");
    let template = world.ping_template() + "&key=secret-of-ours";
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
fn next_session_pings_engines_without_an_answer() {
    let world = World::new();
    let template = world.ping_template();
    let check = |status: usize, requests: usize| {
        world.answers(status);
        world.crawl(&["--ping", &template]).expect_code(0);
        assert_eq!(world.requests().len(), requests, "{status}");
    };
    // The set is published once; an answer that is not final is requested again.
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
fn next_session_notifies_after_a_kill() {
    let world = World::new();
    let template = world.ping_template();
    let hook = "echo $ARPENT_EVENT $ARPENT_OUTCOME >> called";
    let called = || fs::read_to_string(world.bench.path().join("called")).unwrap_or_default();
    world.answers(0);
    let options = [
        "--config",
        &world.settings,
        "--ping",
        &template,
        "--hook-command",
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
    let crawl = || world.crawl(&options[2..]).expect_code(0);
    crawl();
    assert_eq!(world.requests().len(), 1);
    assert_eq!(called(), "published unchanged\n");
    crawl();
    assert_eq!(world.requests().len(), 0);
    assert_eq!(called(), "published unchanged\n");
}

#[test]
fn lists_and_dry_runs_send_no_request() {
    let world = World::new();
    let ran = world.notify(&["--list"]).expect_code(2);
    assert!(
        ran.stderr.contains("there is no state of the site in"),
        "{}",
        ran.stderr
    );
    world.crawl(&[]).expect_code(0);
    world.changes();
    world.crawl(&[]).expect_code(0);
    world.site.clear_log();
    let ran = world.notify(&["--list"]).expect_code(0);
    let sitemap = world.site.url("/sitemap.xml");
    let text = format!("paste: {sitemap}");
    for line in ["Bing Webmaster Tools", "Yandex Webmaster", &text] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let as_json = |options: &[&str]| -> Value {
        let ran = world.notify(&[&["--json"], options].concat());
        serde_json::from_str(&ran.expect_code(0).stdout).expect("one JSON object")
    };
    let list = as_json(&["--list"]);
    assert_eq!(
        (&list["version"], &list["site"]),
        (&1.into(), &world.site.url("/").into())
    );
    assert_eq!(list["sitemaps"], serde_json::json!([sitemap]));
    assert_eq!(list["engines"][0]["name"], "Google Search Console");
    let dry = as_json(&["--dry-run", "--indexnow"]);
    let line = format!("Sitemap: {sitemap}");
    let lines = serde_json::json!([{"line": line, "present": null}]);
    assert_eq!(
        (&dry["robots_txt"], &dry["dry_run"]),
        (&lines, &true.into())
    );
    assert_eq!(
        (&dry["waiting"], &dry["problems"]),
        (&4.into(), &serde_json::json!([]))
    );
    assert_eq!(dry["notices"][0], "IndexNow would be notified of 4 URLs");
    let ran = world.notify(&["--dry-run", "--indexnow"]).expect_code(0);
    for line in [
        "IndexNow would be notified of 4 URLs",
        "removed",
        "added",
        "changed",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let options = ["--dry-run", "--indexnow", "--all"];
    let ran = world.notify(&options).expect_code(0);
    assert!(
        ran.stdout.contains("all 4 URLs of the set would be sent"),
        "{}",
        ran.stdout
    );
    assert_eq!((world.site.log().len(), world.requests().len()), (0, 0));
    let ran = world.notify(&["--all"]).expect_code(2);
    assert!(ran.stderr.contains("--indexnow"), "{}", ran.stderr);
    let ran = world.notify(&["--all", "--indexnow"]).expect_code(0);
    assert_eq!(world.submitted(), [["/", "/1", "/2", "/changes", "/stays"]]);
    let sent = as_json(&["--indexnow"]);
    assert_eq!(sent["robots_txt"][0]["present"], false);
    assert_eq!(sent["notified"], serde_json::json!([]));
    assert!(ran.stdout.contains("lacks the line"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("5 URLs sent to http://engine.test"),
        "{}",
        ran.stdout
    );
}
