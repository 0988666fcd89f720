//! `arpent daemon --metrics` as Prometheus and a health check see it, and the alert rules that are shipped.

use std::{
    collections::BTreeSet,
    fs,
    io::{ErrorKind, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Command,
    sync::{Mutex, mpsc},
    time::{Duration, SystemTime},
};

use crate::{
    daemon::{SHARED, YEARLY, daemon, make_due, stop, table},
    support::{
        has_program,
        program::{Bench, Ran, Running, run_tool},
        site::{Response, Site},
    },
};

/// Far beyond the time that a connection may take.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// A daemon that answers requests for metrics.
struct Watched {
    daemon: Running,
    address: String,
}

impl Watched {
    fn start(mut command: Command) -> Self {
        command.args(["--metrics", "127.0.0.1:0"]);
        let mut daemon = Running::of(command);
        let line = daemon.line_after("metrics: http://");
        let address = line.strip_suffix("/metrics").expect("a URL").to_owned();
        Self { daemon, address }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        let timeout = Some(READ_TIMEOUT);
        stream.set_read_timeout(timeout).expect("it can be set");
        stream
    }

    /// The status and the body of the answer to a request with this first line.
    #[track_caller]
    fn ask(&self, line: &str) -> (String, String) {
        let mut stream = self.connect();
        let request = format!("{line}\r\nHost: {}\r\nAccept: */*\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).expect("a status");
        assert!(head.contains("\r\nConnection: close"), "{head}");
        let length = format!("\r\nContent-Length: {}\r\n", body.len());
        assert!(head.contains(&length), "{head}");
        (status.to_owned(), body.to_owned())
    }

    #[track_caller]
    fn check(&self, path: &str, expected: &str) {
        let (status, body) = self.ask(&format!("GET {path} HTTP/1.1"));
        assert_eq!(status, expected, "{path}: {body}");
    }

    #[track_caller]
    fn metrics(&self) -> Scrape {
        let (status, body) = self.ask("GET /metrics HTTP/1.1");
        assert_eq!(status, "200", "{body}");
        assert!(body.ends_with("# EOF\n"), "{body}");
        Scrape(body)
    }
}

/// The metrics at one time.
struct Scrape(String);

impl Scrape {
    /// The value of a metric with its labels.
    fn get(&self, name: &str) -> Option<f64> {
        let mut lines = self.0.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.map(|value| value.parse().expect("a number"))
    }

    #[track_caller]
    fn check(&self, expected: &[(&str, f64)]) {
        for (name, value) in expected {
            assert_eq!(self.get(name), Some(*value), "{name}: {}", self.0);
        }
    }

    /// The names of all metrics.
    fn names(&self) -> BTreeSet<String> {
        let lines = self.0.lines();
        let types = lines.filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
        types
            .map(|(name, kind)| match kind {
                "counter" => format!("{name}_total"),
                _ => name.to_owned(),
            })
            .collect()
    }
}

/// Checks that the alert rules, the dashboard and the guide have the names of the metrics.
#[track_caller]
fn check_documents(shown: &BTreeSet<String>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("it is there");
    let named = |text: &str| -> BTreeSet<String> {
        let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
        let words = text.split(|c| !is_part(c));
        let words = words.filter(|word| word.starts_with("arpent_"));
        words.map(str::to_owned).collect()
    };
    for (file, most) in [("config/alerts.yml", 2), ("config/grafana.json", 8)] {
        let named = named(&read(file));
        assert!(named.len() > most, "{named:?}");
        assert!(named.is_subset(shown), "{file}: {named:?} of {shown:?}");
    }
    let page = read("cli/guide/deployment.md");
    let (_, section) = page.split_once("\n## Metrics\n").expect("a section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut documented = named(section);
    // Only a set that was submitted has them.
    documented.retain(|name| !name.contains("_google_"));
    assert_eq!(documented, *shown);
}

const LAST_PUBLISH: &str = "arpent_site_last_publish_timestamp_seconds{site=\"docs\"}";

#[test]
fn a_crawl_is_counted_during_and_after() {
    let bench = Bench::new().reading_back();
    let (asked, is_asked) = mpsc::channel();
    let (release, is_released) = mpsc::channel::<()>();
    let is_released = Mutex::new(is_released);
    let site = Site::allowing(move |request| match request.target.as_str() {
        "/" => Response::linking(["/a", "/gone"]),
        "/a" => {
            asked.send(()).expect("the test waits");
            let released = is_released.lock().expect("nothing panicked");
            released.recv().expect("the test goes on");
            Response::html("<title>a</title>")
        }
        _ => Response::status(404),
    });
    let file = format!("{SHARED}{}", table("docs", &site.url("/"), YEARLY));
    make_due(&bench, &["docs"]);
    let mut watched = Watched::start(daemon(&bench, &file));
    is_asked.recv().expect("the page is asked for");
    let before = watched.metrics();
    before.check(&[
        ("arpent_sites_scheduled", 1.0),
        ("arpent_sites_running", 1.0),
        ("arpent_requests_in_flight", 1.0),
        ("arpent_sessions_total{outcome=\"published\"}", 0.0),
        ("arpent_sessions_total{outcome=\"refused\"}", 0.0),
        // robots.txt and the start page.
        ("arpent_answers_total{status=\"2xx\"}", 2.0),
        ("arpent_answers_total{status=\"none\"}", 0.0),
        ("arpent_politeness_waits_seconds_total", 0.0),
    ]);
    assert_eq!(before.get(LAST_PUBLISH), None);
    watched.check("/healthz", "200");
    watched.check("/readyz", "200");
    watched.check("/", "404");
    assert_eq!(watched.ask("POST /metrics HTTP/1.1").0, "405");

    release.send(()).expect("the site waits");
    watched.daemon.wait_until_it_prints("docs: published");
    let after = watched.metrics();
    after.check(&[
        ("arpent_sites_running", 0.0),
        ("arpent_requests_in_flight", 0.0),
        ("arpent_queued_urls", 0.0),
        ("arpent_pages_total", 3.0),
        ("arpent_answers_total{status=\"2xx\"}", 3.0),
        ("arpent_answers_total{status=\"4xx\"}", 1.0),
        ("arpent_sessions_total{outcome=\"published\"}", 1.0),
    ]);
    assert!(after.get("arpent_received_bytes_total") > Some(100.0));
    let time = after.get(LAST_PUBLISH).expect("it was published");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let age = now.expect("a time").as_secs_f64() - time;
    assert!((0.0..3_600.0).contains(&age), "{age}");
    // The set is nowhere served.
    assert_eq!(after.get("arpent_site_served{site=\"docs\"}"), Some(0.0));
    check_documents(&after.names());
    stop(watched.daemon);

    // The next daemon knows when the site was published.
    let watched = Watched::start(daemon(&bench, &file));
    let later = watched.metrics();
    later.check(&[("arpent_sessions_total{outcome=\"published\"}", 0.0)]);
    assert!(later.get(LAST_PUBLISH) <= Some(time), "{}", later.0);
    assert!(later.get(LAST_PUBLISH) > Some(time - 3_600.0));
    stop(watched.daemon);
}

#[test]
fn a_stopping_daemon_is_not_ready() {
    let bench = Bench::new();
    let (asked, is_asked) = mpsc::channel();
    let site = Site::allowing(move |request| {
        if request.target == "/" {
            return Response::linking(["/a"]);
        }
        asked.send(()).expect("the test waits");
        Response {
            stalls_in_head: true,
            ..Response::html("")
        }
    });
    let table = table("docs", &site.url("/"), YEARLY);
    let file = format!("run.stop_timeout = \"1m\"{SHARED}{table}");
    make_due(&bench, &["docs"]);
    let mut watched = Watched::start(daemon(&bench, &file));
    is_asked.recv().expect("the page is asked for");
    // A reload takes the sites of the new settings.
    let config = fs::read_to_string(bench.path().join("config.toml")).expect("it is there");
    bench.settings(&config.replace("\"docs\"", "\"manual\""));
    watched.daemon.signal("HUP");
    watched
        .daemon
        .wait_until_it_prints("new: manual; gone: docs");
    watched.metrics().check(&[
        ("arpent_sites_scheduled", 1.0),
        ("arpent_sites_running", 1.0),
    ]);

    watched.daemon.signal("TERM");
    watched.daemon.wait_until_it_prints("stopping within");
    watched.check("/healthz", "200");
    watched.check("/readyz", "503");
    watched.check("/metrics", "200");
    stop(watched.daemon);
}

#[test]
fn clients_that_misbehave_block_no_others() {
    let bench = Bench::new();
    let file = format!("{SHARED}{}", table("docs", "http://docs.test/", YEARLY));
    let watched = Watched::start(daemon(&bench, &file));
    let silent: Vec<TcpStream> = (0..15).map(|_| watched.connect()).collect();
    watched.check("/healthz", "200");
    for mut stream in silent {
        stream.set_nonblocking(true).expect("it can be set");
        let error = stream.read(&mut [0]).expect_err("it is open");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    }
    // More than there are places: those in the way are closed after two seconds.
    let mut silent: Vec<TcpStream> = (0..20).map(|_| watched.connect()).collect();
    watched.check("/healthz", "200");
    let read = silent[0].read(&mut [0]);
    assert_eq!(read.expect("it is closed"), 0);

    let mut stream = watched.connect();
    let head = format!("GET /metrics HTTP/1.1\r\nCookie: {}", "x".repeat(10 * 1024));
    // The connection may be closed before all of it was sent or read.
    drop(stream.write_all(head.as_bytes()));
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer));
    let answer = String::from_utf8_lossy(&answer);
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431 "),
        "{answer}"
    );
    watched.check("/healthz", "200");
    stop(watched.daemon);
}

#[test]
fn an_unusable_address_is_wrong_usage() {
    let bench = Bench::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let file = format!("{SHARED}{}", table("docs", "http://docs.test/", YEARLY));
    let check = |address: &str, expected: &str| {
        let mut command = daemon(&bench, &file);
        command.args(["--metrics", address]);
        let ran = Ran::of(command).expect_code(2);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    };
    check(
        &address,
        &format!("failed to listen on {address} for metrics: "),
    );
    check(
        "localhost",
        "--metrics: expected an IP address with a port such as \"127.0.0.1:9464\", found \"localhost\"",
    );
}

#[test]
fn prometheus_takes_the_alert_rules() {
    if !has_program("promtool") {
        return;
    }
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/alerts.yml");
    run_tool("promtool", ["check", "rules", "--lint-fatal", rules]);
}
