//! `arpent page` as browsers and programs see it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

#[cfg(all(target_os = "linux", feature = "catalogue"))]
use crate::support::postgres::Postgres;
use crate::support::{
    json_schema,
    program::{Bench, Ran, Running},
    site::{Response, Site},
};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A page that is running.
struct Shown {
    /// `None`: its end was awaited.
    running: Option<Running>,
    address: String,
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.kill();
        }
    }
}

/// An answer.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    #[track_caller]
    fn header(&self, name: &str) -> &str {
        let start = format!("{name}: ");
        let line = self.head.lines().find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("no {name} in {}", self.head))
    }
}

impl Shown {
    fn start(bench: &Bench, settings: &str) -> Self {
        let config = bench.settings(settings);
        let mut command = bench.program();
        command
            .args([
                "page",
                "--page",
                "127.0.0.1:0",
                "--config",
                &config,
                "--state",
            ])
            .arg(bench.state());
        Self::of(command)
    }

    fn of(command: Command) -> Self {
        let mut running = Running::of(command);
        let line = running.line_after("page: http://");
        let address = line.trim_end_matches('/').to_owned();
        Self {
            running: Some(running),
            address,
        }
    }

    /// Ends it by a signal.
    fn end(mut self) {
        let running = self.running.take().expect("it runs");
        running.signal("TERM");
        running.wait().expect_code(143);
    }

    /// Sends a request with further header lines and a body.
    #[track_caller]
    fn send(&self, line: &str, headers: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("it can be set");
        let host = if headers.contains("Host:") {
            String::new()
        } else {
            format!("Host: {}\r\n", self.address)
        };
        let request = format!(
            "{line} HTTP/1.1\r\n{host}{headers}Connection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Answer {
            status: status.expect("a status"),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    #[track_caller]
    fn get(&self, path: &str, cookie: &str) -> Answer {
        let cookie = match cookie {
            "" => String::new(),
            cookie => format!("Cookie: {cookie}\r\n"),
        };
        self.send(&format!("GET {path}"), &cookie, "")
    }

    /// Logs in; returns the cookie.
    #[track_caller]
    fn log_in(&self) -> String {
        let answer = self.send("POST /login", "", &format!("token={TOKEN}"));
        assert_eq!(answer.status, 303);
        let cookie = answer.header("set-cookie");
        assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
        cookie.split(';').next().expect("a pair").to_owned()
    }

    /// The token of the form at this path.
    #[track_caller]
    fn token_of(&self, path: &str, cookie: &str) -> String {
        let form = self.get(path, cookie).body;
        let (_, rest) = form.rsplit_once("name=\"token\" value=\"").expect("a form");
        rest.split('"').next().expect("a value").to_owned()
    }
}

/// A site whose titles and paths are markup.
fn hostile() -> Site {
    Site::allowing(|request| match request.target.as_str() {
        "/" => Response::html(
            "<title>Start</title><a href='/%22%3E%3Cscript%3Ealert(1)%3C/script%3E'>&lt;img src=x onerror=alert(1)></a><a href=/gone>\
             &lt;script>alert(2)&lt;/script></a>",
        ),
        "/gone" => Response::status(404),
        target => Response::html(format!(
            "<title>&lt;script>alert(3)</title>the page {target}"
        )),
    })
}

/// A place with a crawled site, its name, and settings with a token.
fn crawled(site: &Site) -> (Bench, String, String) {
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let token = bench.path().join("token");
    fs::write(&token, TOKEN).expect("the token can be written");
    let settings = format!("run.page_token_file = \"{}\"\n", token.display());
    (bench, format!("http_127.0.0.1_{}", site.port()), settings)
}

#[test]
fn sites_reports_and_reasons_are_shown() {
    let site = hostile();
    let (bench, name, _) = crawled(&site);
    let page = Shown::start(&bench, "");
    let sites = page.get("/", "");
    assert_eq!(sites.status, 200);
    assert!(sites.body.contains(&site.url("/")), "{}", sites.body);
    assert!(sites.body.contains("published"), "{}", sites.body);
    for name in [
        "content-security-policy",
        "x-frame-options",
        "x-content-type-options",
    ] {
        sites.header(name);
    }
    assert!(
        !sites
            .header("content-security-policy")
            .contains("script-src 'unsafe")
    );
    let report = page.get(&format!("/site/{name}"), "").body;
    for text in ["URLs by reason", "/gone", "alert(2)"] {
        assert!(report.contains(text), "{text}: {report}");
    }
    let asked = format!("/site/{name}/why?url={}", site.url("/gone"));
    let why = page.get(&asked, "").body;
    assert!(why.contains("404"), "{why}");
    for body in [&sites.body, &report, &why] {
        for markup in ["<script>alert", "<img src=x", "onerror=alert(1)>"] {
            assert!(!body.contains(markup), "{markup}: {body}");
        }
    }
    for text in ["aria-label=\"1 session, 0 not good\"", "Published sets"] {
        let bodies = [&sites.body, &report];
        assert!(bodies.iter().any(|body| body.contains(text)), "{text}");
    }
    assert!(
        !page
            .get(&format!("/site/{name}?live="), "")
            .body
            .contains("URLs by reason")
    );
    let filtered = page.get("/?name=nothing-has-this-name", "").body;
    assert!(
        filtered.contains("0 sites") && !filtered.contains(&site.url("/")),
        "{filtered}"
    );
    let status = page.get("/status.json", "").body;
    let schema = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/schema/status.schema.json");
    json_schema::assert_valid(schema, &status);
    let feed = page.get("/events.atom", "").body;
    assert!(
        feed.contains("<feed xmlns") && feed.contains(&site.url("/")),
        "{feed}"
    );
    let badge = page.get(&format!("/badge/{name}.svg"), "");
    assert_eq!(badge.header("content-type"), "image/svg+xml");
    assert!(badge.body.contains(">published<"), "{}", badge.body);
    page.get("/nothing", "").header("content-security-policy");
    for missing in [
        "/nothing",
        "/site/nothing",
        "/badge/nothing.svg",
        &format!("/badge/{name}"),
    ] {
        assert_eq!(page.get(missing, "").status, 404, "{missing}");
    }
    page.end();
}

#[test]
fn nothing_is_started_without_the_token() {
    let site = hostile();
    let (bench, name, settings) = crawled(&site);
    let settings = format!("urls = [{:?}]\n{settings}", site.url("/"));
    let page = Shown::start(&bench, &settings);
    for path in [
        "/",
        "/status.json",
        "/events.atom",
        &format!("/site/{name}"),
    ] {
        assert_eq!(page.get(path, "").header("location"), "/login", "{path}");
    }
    site.clear_log();
    let path = format!("/site/{name}/do/crawl");
    let cookie = page.log_in();
    let token = page.token_of(&path, &cookie);
    let logged_in = format!("Cookie: {cookie}\r\n");
    let foreign = format!("{logged_in}Sec-Fetch-Site: cross-site\r\n");
    let right = format!("token={TOKEN}");
    let rebound = format!("Host: evil.example\r\nCookie: {cookie}\r\n");
    let form = format!("token={token}");
    let line = format!("POST {path}");
    let other = format!("POST /site/{name}/do/pause");
    // Without a login, or with a wrong one, the form to log in comes. A token has to be right, and of this form.
    let attempts = [
        (line.as_str(), "", form.as_str(), 303),
        (&line, "Cookie: arpent-login=0\r\n", &form, 303),
        (&line, &logged_in, "token=0", 403),
        (&line, &logged_in, "", 403),
        (&other, &logged_in, &form, 403),
        (&line, &rebound, &form, 421),
        (&line, &foreign, &form, 403),
        ("POST /login", "Sec-Fetch-Site: cross-site\r\n", &right, 403),
        ("POST /", &logged_in, &form, 405),
        ("GET /", "Host: evil.example\r\n", "", 421),
    ];
    for (line, headers, body, status) in attempts {
        assert_eq!(
            page.send(line, headers, body).status,
            status,
            "{line} {headers} {body}"
        );
    }
    assert_eq!(page.get(&path, "").header("location"), "/login");
    for _ in 0..5 {
        assert_eq!(page.send("POST /login", "", "token=wrong").status, 403);
    }
    assert_eq!(
        page.send("POST /login", "", &format!("token={TOKEN}"))
            .status,
        429
    );
    assert_eq!(site.pages(), [""; 0]);
    // With all of it the site is crawled.
    assert_eq!(page.send(&line, &logged_in, &form).status, 303);
    let until = Instant::now() + Duration::from_secs(60);
    while !page
        .get(&format!("/site/{name}"), &cookie)
        .body
        .contains("exit code 0")
    {
        assert!(
            Instant::now() < until,
            "{}",
            page.get(&format!("/site/{name}"), &cookie).body
        );
        thread::sleep(Duration::from_millis(100));
    }
    assert!(site.pages().len() >= 3, "{:?}", site.pages());
    let logout = page.token_of("/", &cookie);
    assert_eq!(
        page.send("POST /logout", &logged_in, &format!("token={logout}"))
            .status,
        303
    );
    assert_eq!(page.get("/", &cookie).header("location"), "/login");
}

#[test]
fn a_page_without_a_token_is_read_only_and_for_this_machine() {
    let site = Site::of_two_pages();
    let (bench, name, _) = crawled(&site);
    let page = Shown::start(&bench, "");
    assert!(page.get("/", "").body.contains("Read only"));
    assert_eq!(page.send("POST /login", "", "token=").status, 403);
    assert_eq!(
        page.send(&format!("POST /site/{name}/do/crawl"), "", "token=")
            .status,
        403
    );
    let mut open = bench.program();
    open.args(["page", "--page", "0.0.0.0:0", "--state"])
        .arg(bench.state());
    let ran = Ran::of(open).expect_code(2);
    assert!(
        ran.stderr.contains("needs page_token_file"),
        "{}",
        ran.stderr
    );
}

#[test]
fn earlier_sets_are_compared_and_restored() {
    let grown = Arc::new(AtomicBool::new(false));
    let has_grown = Arc::clone(&grown);
    let site = Site::allowing(move |request| match request.target.as_str() {
        "/" if has_grown.load(Ordering::Relaxed) => Response::linking(["/a", "/2"]),
        "/" => Response::linking(["/a"]),
        target => Response::html(format!("<title>{target}</title>the page {target}")),
    });
    let (bench, name, settings) = crawled(&site);
    grown.store(true, Ordering::Relaxed);
    bench
        .crawl(&site.url("/"), &["--exclude", "/nothing/*"])
        .expect_code(0);
    let page = Shown::start(&bench, &format!("urls = [{:?}]\n{settings}", site.url("/")));
    let cookie = page.log_in();
    let report = page.get(&format!("/site/{name}"), &cookie).body;
    assert!(report.contains(&format!("/site/{name}/set/1")), "{report}");
    assert!(report.contains("Notes of the last session"), "{report}");
    assert!(report.contains("/nothing/*"), "{report}");
    let compared = page.get(&format!("/site/{name}/set/1"), &cookie).body;
    assert!(
        compared.contains(&format!("- {}", site.url("/2"))),
        "{compared}"
    );
    let missing = page.get(&format!("/site/{name}/set/9"), &cookie).body;
    assert!(
        missing.contains("there is no set 9 publishes ago"),
        "{missing}"
    );
    let path = format!("/site/{name}/do/rollback");
    let form = page.get(&path, &cookie).body;
    assert!(form.contains("instead of that with 3 URLs"), "{form}");
    // Somebody saw another set.
    let token = page.token_of(&path, &cookie);
    let headers = format!("Cookie: {cookie}\r\n");
    let body = format!("token={token}&value=1&seen=2026-01-01T00:00:00Z");
    let answer = page.send(&format!("POST {path}"), &headers, &body);
    assert_eq!(answer.status, 422);
    assert!(answer.body.contains("Choose again"), "{}", answer.body);
    let pause = format!("/site/{name}/do/pause");
    let token = page.token_of(&pause, &cookie);
    let body = format!("token={token}&value=monday");
    let answer = page.send(&format!("POST {pause}"), &headers, &body);
    assert!(
        answer.body.contains("expected a time such as"),
        "{}",
        answer.body
    );
}

#[test]
fn changes_are_streamed() {
    let site = Site::of_two_pages();
    let (bench, ..) = crawled(&site);
    let page = Shown::start(&bench, "");
    let mut stream = TcpStream::connect(&page.address).expect("it listens");
    let request = format!("GET /changes HTTP/1.1\r\nHost: {}\r\n\r\n", page.address);
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut next = || {
        lines
            .find(|line| line.starts_with("id: "))
            .expect("an event")
    };
    let first = next();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert_ne!(next(), first);
}

#[cfg(all(target_os = "linux", feature = "catalogue"))]
#[test]
fn a_fleet_is_shown_from_its_catalogue() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let bench = Bench::new();
    let settings = bench.settings("urls = [\"https://a.example/\", \"https://b.example/\"]\noutput.output = \"s3://bucket/sets\"\n");
    for line in [&["init"][..], &["import", &settings]] {
        let mut command = bench.program();
        command
            .arg("catalogue")
            .args(line)
            .env("ARPENT_CATALOGUE", postgres.url());
        Ran::of(command).expect_code(0);
    }
    let mut command = bench.program();
    command
        .args(["page", "--page", "127.0.0.1:0"])
        .env("ARPENT_CATALOGUE", postgres.url());
    let page = Shown::of(command);
    let sites = page.get("/", "").body;
    assert!(
        sites.contains("a.example") && sites.contains("b.example"),
        "{sites}"
    );
    let rest = page.get("/?name=a.example", "").body;
    assert!(
        !rest.contains(">a.example<") && rest.contains("b.example"),
        "{rest}"
    );
    let status = page.get("/status.json", "").body;
    assert!(status.contains("workers"), "{status}");
}

#[test]
fn a_daemon_has_the_page_too() {
    let site = Site::of_two_pages();
    let (bench, ..) = crawled(&site);
    let settings = format!("urls = [{:?}]\nschedule = \"0 0 1 1 *\"\n", site.url("/"));
    let config = bench.settings(&settings);
    let mut command = bench.program();
    command
        .args([
            "daemon",
            "--page",
            "127.0.0.1:0",
            "--config",
            &config,
            "--state",
        ])
        .arg(bench.state());
    let page = Shown::of(command);
    let sites = page.get("/", "").body;
    assert!(
        sites.contains(&site.url("/")) && !sites.contains("No daemon"),
        "{sites}"
    );
    page.end();
}
