//! `arpent daemon` and `arpent status` as a service manager and a health check see them, logs for programs, and the
//! files that are shipped for servers. The times of the schedules are tested beside the loop, with a clock that can be set.

mod shipped;

use std::{
    collections::BTreeSet,
    fs,
    os::unix::net::UnixDatagram,
    process::Command,
    sync::mpsc,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::support::{
    program::{Bench, Ran, Running},
    published::Published,
    site::{Response, Site},
};

/// The settings of all sites of a test: no delays, and only links are followed.
pub(crate) const SHARED: &str = r#"
politeness.rate = "unlimited"
politeness.concurrency = 1
discovery.discover = ["links"]
output.output = "out"
output.state = "state"
limits.max_tries = 1
"#;

/// Time between two looks at whether a daemon is still there.
const LOOK: Duration = Duration::from_millis(100);

/// A schedule whose last time was months ago, and whose next is months ahead.
pub(crate) const YEARLY: &str = "0 0 1 1 *";

/// A table of the site `name` at `url` with a schedule.
pub(crate) fn table(name: &str, url: &str, schedule: &str) -> String {
    format!("\n[[site]]\nname = \"{name}\"\nurl = \"{url}\"\nschedule = \"{schedule}\"\n")
}

/// A command of arpent in the folder of `bench`, with nothing from the environment.
fn arpent(bench: &Bench, arguments: &[&str]) -> Command {
    let mut command = bench.program();
    command.args(arguments);
    command
}

/// A daemon by the settings `file`.
pub(crate) fn daemon(bench: &Bench, file: &str) -> Command {
    let config = bench.settings(file);
    arpent(bench, &["daemon", "--config", &config])
}

/// Writes the file of an earlier daemon on sites that have a [`YEARLY`] schedule and were never crawled: they are due.
pub(crate) fn make_due(bench: &Bench, names: &[&str]) {
    let past = json!({"schedule": format!("{YEARLY} UTC"), "since": "2020-06-01T00:00:00Z"});
    let sites: serde_json::Map<_, _> = names
        .iter()
        .map(|name| ((*name).to_owned(), past.clone()))
        .collect();
    let kept = json!({"version": 1, "sites": sites});
    fs::create_dir_all(bench.state()).expect("created");
    fs::write(bench.state().join("schedule.json"), kept.to_string()).expect("written");
}

/// The stored data on the schedule of a site.
#[track_caller]
fn schedule_of(bench: &Bench, name: &str) -> Value {
    let text = fs::read(bench.state().join("schedule.json")).expect("it is there");
    let kept: Value = serde_json::from_slice(&text).expect("it is JSON");
    kept["sites"][name].clone()
}

/// A service manager that receives the notifications of a daemon.
struct Manager {
    socket: UnixDatagram,
    received: String,
}

impl Manager {
    /// Starts a daemon with the socket of a service manager.
    fn start(bench: &Bench, mut command: Command) -> (Self, Running) {
        let path = bench.path().join("notify");
        drop(fs::remove_file(&path));
        let socket = UnixDatagram::bind(&path).expect("a socket");
        socket.set_read_timeout(Some(LOOK)).expect("it can be set");
        command.env("NOTIFY_SOCKET", &path);
        let manager = Self {
            socket,
            received: String::new(),
        };
        (manager, Running::of(command))
    }

    /// Waits for a line of the daemon that begins so, and drops the lines before it.
    #[track_caller]
    fn wait_for(&mut self, daemon: &mut Running, beginning: &str) -> String {
        loop {
            let lines: Vec<&str> = self.received.lines().collect();
            if let Some(at) = lines.iter().position(|line| line.starts_with(beginning)) {
                let line = lines[at].to_owned();
                self.received = lines[at + 1..].join("\n");
                self.received.push('\n');
                return line;
            }
            let mut bytes = [0; 4_096];
            let Ok(length) = self.socket.recv(&mut bytes) else {
                assert!(!daemon.has_ended(), "it ended without {beginning:?}");
                continue;
            };
            self.received += &String::from_utf8_lossy(&bytes[..length]);
            self.received.push('\n');
        }
    }
}

/// Stops a daemon as a service manager does.
#[track_caller]
pub(crate) fn stop(daemon: Running) -> Ran {
    daemon.signal("TERM");
    daemon.wait().expect_code(143)
}

/// The lines of a log of JSON, each with what every line has.
#[track_caller]
fn log(ran: &Ran) -> Vec<Value> {
    let lines = ran.stderr.lines().map(|line| {
        let line: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for name in ["time", "level", "target", "message"] {
            assert!(line[name].is_string(), "{name}: {line}");
        }
        line
    });
    lines.collect()
}

/// The line at the end of the only session of a site.
#[track_caller]
fn end_of<'l>(log: &'l [Value], name: &str) -> &'l Value {
    let is_end = |line: &&Value| line["site"] == name && line["fields"]["summary"].is_object();
    let ends: Vec<_> = log.iter().filter(is_end).collect();
    assert_eq!(ends.len(), 1, "sessions of {name}: {log:?}");
    ends[0]
}

#[test]
fn a_missed_crawl_is_made_up_once() {
    let bench = Bench::new();
    let (good, gone) = (
        Site::of_two_pages(),
        Site::allowing(|_| Response::status(404)),
    );
    let file = [
        SHARED,
        &table("good", &good.url("/"), YEARLY),
        "[site.notify]\nhook_command = \"cat > published.json; echo $ARPENT_EVENT > event\"\n",
        &table("gone", &gone.url("/"), YEARLY),
        "[site.notify]\nhook_command = \"echo $ARPENT_EVENT $ARPENT_EXIT_CODE > failed\"\n",
    ]
    .concat();
    make_due(&bench, &["good", "gone"]);
    let mut command = daemon(&bench, &file);
    command
        .args(["--log-format", "json"])
        .env("WATCHDOG_USEC", "60000000");
    let (mut manager, mut running) = Manager::start(&bench, command);
    manager.wait_for(&mut running, "READY=1");
    manager.wait_for(&mut running, "WATCHDOG=1");
    // Both sites are on one host: one after the other, and one that fails stops no other.
    manager.wait_for(&mut running, "STATUS=next gone at ");
    running.signal("TERM");
    manager.wait_for(&mut running, "STOPPING=1");
    let ran = running.wait().expect_code(143);
    assert_eq!(ran.stdout, "");

    let log = log(&ran);
    let end = end_of(&log, "good");
    assert_eq!(end["level"], "info");
    assert_eq!(end["fields"]["exit_code"], 0);
    assert_eq!(end["fields"]["summary"]["outcome"], "published");
    assert_eq!(end["fields"]["summary"]["listed"], 2);
    let failed = end_of(&log, "gone");
    assert_eq!(failed["level"], "error");
    assert_eq!(failed["fields"]["exit_code"], 5);
    // Every line of a site names the site.
    let sites = log.iter().filter_map(|line| line["site"].as_str());
    let sites: BTreeSet<_> = sites.collect();
    assert_eq!(sites, ["gone", "good"].into());
    let began = log
        .iter()
        .find(|line| line["site"] == "good" && line["fields"]["missed"].is_u64())
        .expect("its begin is reported");
    assert!(began["fields"]["missed"].as_u64() >= Some(5), "{began}");

    let set = bench
        .output()
        .join(format!("http_127.0.0.1_{}", good.port()));
    assert_eq!(Published::read(&set).urls().len(), 2);
    let read = |name: &str| fs::read_to_string(bench.path().join(name)).expect("the hook ran");
    assert_eq!(read("event").trim(), "published");
    let summary: Value = serde_json::from_str(&read("published.json")).expect("JSON");
    assert_eq!(summary, end["fields"]["summary"]);
    assert_eq!(read("failed").trim(), "failed 5");

    // No crawl is due any more.
    assert!(schedule_of(&bench, "good")["served"].is_string());
    let asked = good.log().len();
    let (mut manager, mut running) = Manager::start(&bench, daemon(&bench, &file));
    manager.wait_for(&mut running, "STATUS=next ");
    running.signal("INT");
    running.wait().expect_code(130);
    assert_eq!(good.log().len(), asked);
}

/// Sets the clock of the daemon so that a minute begins soon after it is there.
fn begin_before_a_minute(command: &mut Command) {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("a time")
        .as_secs();
    command.env("ARPENT_CLOCK_AHEAD", format!("{}s", 60 + 56 - now % 60));
}

#[test]
fn a_reload_ignores_wrong_settings() {
    let bench = Bench::new();
    let (first, second) = (Site::of_two_pages(), Site::of_two_pages());
    let file = format!("{SHARED}{}", table("first", &first.url("/"), YEARLY));
    let mut command = daemon(&bench, &file);
    begin_before_a_minute(&mut command);
    let (mut manager, mut running) = Manager::start(&bench, command);
    manager.wait_for(&mut running, "READY=1");

    bench.settings(&format!("{file}rats = 1\n"));
    running.signal("HUP");
    let time = {
        manager.wait_for(&mut running, "RELOADING=1");
        manager.wait_for(&mut running, "MONOTONIC_USEC=")
    };
    let (_, time) = time.split_once('=').expect("a value");
    assert!(time.parse::<u64>().is_ok_and(|time| time > 0), "{time}");
    manager.wait_for(&mut running, "READY=1");
    running.wait_until_it_prints("config.toml:13: rats: ");
    running.wait_until_it_prints("the current settings stay\n");

    let added = table("second", &second.url("/"), "* * * * *");
    bench.settings(&format!("{file}{added}"));
    running.signal("HUP");
    running.wait_until_it_prints("settings read again: 2 sites with a schedule; new: second\n");
    running.wait_until_it_prints("second: published: 2 listed of 2 URLs known");
    stop(running);
    assert_eq!(second.pages(), ["/", "/a"]);
    assert_eq!(first.log().len(), 0);
}

#[test]
fn a_stopped_crawl_continues_at_next_start() {
    let bench = Bench::new();
    let (asked, is_asked) = mpsc::channel();
    let site = Site::allowing(
        move |request| match (request.target.as_str(), request.earlier) {
            ("/", _) => Response::linking(["/a", "/b", "/c"]),
            ("/b", 0) => {
                asked.send(()).expect("the test waits");
                Response {
                    stalls_in_head: true,
                    ..Response::html("")
                }
            }
            _ => Response::html("<title>page</title>"),
        },
    );
    let file = [
        "run.stop_timeout = \"1m\"",
        SHARED,
        &table("docs", &site.url("/"), YEARLY),
    ]
    .concat();
    make_due(&bench, &["docs"]);
    let (mut manager, mut running) = Manager::start(&bench, daemon(&bench, &file));
    is_asked.recv().expect("the page is asked for");
    manager.wait_for(&mut running, "STATUS=crawling docs");
    let status = || {
        let ran = Ran::of(arpent(
            &bench,
            &["status", "--config", "config.toml", "--json"],
        ));
        sites_of(&ran.expect_code(0)).remove(0)
    };
    let seen = status();
    assert!(seen["running_since"].is_string(), "{seen}");
    assert_eq!(seen["next"], Value::Null);
    running.signal("TERM");
    manager.wait_for(&mut running, "STATUS=stopping docs");
    // The request in flight is not waited for.
    running.signal("TERM");
    running.wait_until_it_prints("docs: interrupted, nothing published");
    running.wait().expect_code(143);
    assert!(!bench.output().exists());
    assert_eq!(schedule_of(&bench, "docs")["served"], Value::Null);
    let seen = status();
    assert_eq!(seen["running_since"], Value::Null);
    assert!(seen["next"].is_string(), "it is due: {seen}");
    let last = fs::read(
        bench
            .state()
            .join(format!("http_127.0.0.1_{}.last.json", site.port())),
    );
    let last: Value = serde_json::from_slice(&last.expect("noted")).expect("JSON");
    assert_eq!(last["exit_code"], 143);

    let (mut manager, mut running) = Manager::start(&bench, daemon(&bench, &file));
    running.wait_until_it_prints("docs: continuing the unfinished crawl");
    manager.wait_for(&mut running, "STATUS=next docs");
    stop(running);
    let set = Published::read(&bench.output());
    assert_eq!(set.urls().len(), 4);
    // Known pages were not requested again, except the start page, which identifies the site.
    let mut pages = site.pages();
    pages.sort();
    assert_eq!(pages, ["/", "/", "/a", "/b", "/b", "/c"]);
}

#[test]
fn a_killed_daemon_makes_up_its_crawl() {
    let bench = Bench::new();
    let (asked, is_asked) = mpsc::channel();
    let site = Site::allowing(
        move |request| match (request.target.as_str(), request.earlier) {
            ("/", 0) => {
                asked.send(()).expect("the test waits");
                Response::linking(["/a"]).after(Duration::from_secs(3_600))
            }
            ("/", _) => Response::linking(["/a"]),
            _ => Response::html("<title>a</title>"),
        },
    );
    let file = format!("{SHARED}{}", table("docs", &site.url("/"), YEARLY));
    make_due(&bench, &["docs"]);
    let running = Running::of(daemon(&bench, &file));
    is_asked.recv().expect("the run is under way");
    // A state has one daemon.
    let second = Ran::of(daemon(&bench, &file)).expect_code(6);
    let expected = format!(
        "error: another daemon uses the state state: process {} on ",
        running.id()
    );
    assert!(second.stderr.starts_with(&expected), "{}", second.stderr);
    // The kernel releases the lock of a killed process.
    assert!(running.kill());
    let (mut manager, mut running) = Manager::start(&bench, daemon(&bench, &file));
    manager.wait_for(&mut running, "STATUS=next docs");
    stop(running);
    assert_eq!(Published::read(&bench.output()).urls().len(), 2);
}

#[test]
fn a_bug_ends_the_session_only() {
    let bench = Bench::new();
    let site = Site::of_two_pages();
    let file = format!("{SHARED}{}", table("docs", &site.url("/"), YEARLY));
    make_due(&bench, &["docs"]);
    let mut command = daemon(&bench, &file);
    command
        .arg("--log-format=json")
        .env("ARPENT_FAULT", "panic-in-crawl");
    let (mut manager, mut running) = Manager::start(&bench, command);
    manager.wait_for(&mut running, "STATUS=next docs");
    let ran = stop(running);
    let log = log(&ran);
    let end = end_of(&log, "docs");
    assert_eq!(end["fields"]["exit_code"], 70);
    assert_eq!(end["fields"]["summary"]["outcome"], "internal");
    // The crawl counts as done: a repetition would do the same again.
    assert!(schedule_of(&bench, "docs")["served"].is_string());
}

#[test]
fn a_daemon_without_schedules_is_refused() {
    fn check(file: &str, expected: &[&str]) {
        let bench = Bench::new();
        let ran = Ran::of(daemon(&bench, file)).expect_code(2);
        for part in expected {
            assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
        }
        assert!(!bench.state().exists());
    }
    check(
        &format!("{SHARED}[[site]]\nurl = \"https://example.com/\"\n"),
        &[
            "error: schedule: no site has a schedule",
            "schedule = \"30 2 * * *\"",
        ],
    );
    check(SHARED, &["no site"]);
}

#[test]
fn a_damaged_schedule_file_is_renamed() {
    let bench = Bench::new();
    let site = Site::of_two_pages();
    let file = format!("{SHARED}{}", table("docs", &site.url("/"), YEARLY));
    fs::create_dir_all(bench.state()).expect("created");
    let path = bench.state().join("schedule.json");
    fs::write(&path, "{\"version\":1,\"sites\":{\"do").expect("written");
    let (mut manager, mut running) = Manager::start(&bench, daemon(&bench, &file));
    running.wait_until_it_prints("state/schedule.json is damaged (");
    running.wait_until_it_prints("arpent renamed it to state/schedule.json.corrupt-");
    manager.wait_for(&mut running, "STATUS=next docs");
    stop(running);
    assert!(schedule_of(&bench, "docs")["since"].is_string());

    fs::write(&path, "{\"version\":7}").expect("written");
    let ran = Ran::of(daemon(&bench, &file)).expect_code(2);
    let newer = "written by a newer arpent";
    assert!(ran.stderr.contains(newer), "{}", ran.stderr);
    let text = fs::read_to_string(&path).expect("it is there");
    assert_eq!(text, "{\"version\":7}");
}

#[test]
fn a_crawl_has_a_log_of_json() {
    let bench = Bench::new();
    let site = Site::of_two_pages();
    let ran = bench
        .crawl(&site.url("/"), &["--log-format", "json", "-vv"])
        .expect_code(0);
    assert_eq!(ran.summary()["outcome"], "published");
    let log = log(&ran);
    let name = format!("http_127.0.0.1_{}", site.port());
    // The lines of the modules in the tasks of a session name its site.
    let targets = ["crawl", "fetch", "arpent"];
    for line in &log {
        if targets.iter().any(|target| line["target"] == *target) {
            assert_eq!(line["site"], *name, "{line}");
        }
    }
    for target in ["crawl", "arpent"] {
        let is_there = log.iter().any(|line| line["target"] == target);
        assert!(is_there, "{target}: {}", ran.stderr);
    }
    let decided = log.iter().find(|line| line["message"] == "decided");
    let decided = decided.expect("the verdicts are logged at this level");
    assert_eq!(decided["level"], "debug");
    assert_eq!(decided["fields"]["reason"], "listed");
    assert!(decided["fields"]["url"].is_string());

    // Problems of the settings are JSON, too.
    let mut command = bench.command(&site.url("/"), &["--max-depth", "deep"]);
    command.env("ARPENT_LOG_FORMAT", "json");
    let ran = Ran::of(command).expect_code(2);
    let [line] = &self::log(&ran)[..] else {
        panic!("{}", ran.stderr);
    };
    assert_eq!(line["level"], "error");
    let message = line["message"].as_str().expect("text");
    assert!(message.starts_with("--max-depth: "), "{message}");
}

/// The sites in the result of `arpent status --json`.
#[track_caller]
fn sites_of(ran: &Ran) -> Vec<Value> {
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert!(document["now"].is_string());
    document["sites"].as_array().expect("a list").clone()
}

#[test]
fn status_shows_what_is_known_of_each_site() {
    let bench = Bench::new();
    let (good, gone) = (
        Site::of_two_pages(),
        Site::allowing(|_| Response::status(404)),
    );
    let file = [
        SHARED,
        &table("good", &good.url("/"), YEARLY),
        // `status` does not need the secrets.
        "requests.basic_auth = { variable = \"SECRET\" }\n",
        &table("gone", &gone.url("/"), ""),
        &table("new", &gone.url("/new/"), ""),
    ]
    .concat();
    let config = bench.settings(&file);
    let urls = [good.url("/"), gone.url("/")];
    let mut crawl = arpent(&bench, &["crawl", "--config", &config, &urls[0], &urls[1]]);
    crawl.env("SECRET", "user:pass");
    Ran::of(crawl).expect_code(5);

    let status = |arguments: &[&str]| Ran::of(arpent(&bench, &[&["status"], arguments].concat()));
    let with_config = ["--config", config.as_str()];
    let sites = sites_of(&status(&[&with_config[..], &["--json"]].concat()).expect_code(0));
    for (name, expected) in [
        ("name", json!(["good", "gone", "new"])),
        ("outcome", json!(["published", "unreachable", null])),
        ("exit_code", json!([0, 5, null])),
    ] {
        let found: Vec<_> = sites.iter().map(|site| site[name].clone()).collect();
        assert_eq!(Value::from(found), expected, "{name}");
    }
    let (first, second) = (&sites[0], &sites[1]);
    assert_eq!(first["start"], good.url("/"));
    assert_eq!(first["schedule"], format!("{YEARLY} UTC"));
    assert_eq!(first["listed"], 2);
    assert_eq!(first["last_good"], first["ended"]);
    assert_eq!(first["next"], Value::Null, "no daemon knows it");
    let message = second["message"].as_str().expect("text");
    assert!(message.contains("404"), "{message}");
    assert_eq!(second["last_good"], Value::Null);

    // The same as a table, and the next step of the daemon.
    make_due(&bench, &["good"]);
    let ran = status(&with_config).expect_code(0);
    let lines: Vec<_> = ran.stdout.lines().collect();
    for (line, words) in [
        (0, "Site  Last session"),
        (1, "good  published"),
        (1, "due since 20"),
        (2, "gone  unreachable"),
        (3, "answered 404"),
        (4, "new   - "),
    ] {
        assert!(lines[line].contains(words), "{words}: {}", ran.stdout);
    }
    assert_eq!(ran.stderr, "no arpent daemon runs with this state\n");

    // Without settings: all sites that have a state.
    let ran = status(&["--state", "state", "--json"]).expect_code(0);
    let names: Vec<_> = sites_of(&ran)
        .iter()
        .map(|site| site["name"].clone())
        .collect();
    // A site without a state was never crawled.
    assert_eq!(names, [format!("http_127.0.0.1_{}", good.port())]);
    let ran = status(&["--state", "nowhere"]).expect_code(0);
    assert!(ran.stderr.contains("no site was crawled"), "{}", ran.stderr);
    status(&["--max-age", "old"]).expect_code(2);
}
