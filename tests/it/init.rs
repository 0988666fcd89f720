//! `arpent init`: what it finds, what it writes, and what it leaves alone.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{
    has_program,
    nginx::Nginx,
    program::{Bench, Ran, run_tool},
    site::{Response, Site},
};

fn init(bench: &Bench, url: &str, options: &[&str]) -> Ran {
    let mut command = bench.program();
    command.args(["init", url, "--rate", "unlimited"]);
    command.args(options);
    Ran::of(command)
}

/// The facts that `arpent init` found, as JSON.
#[track_caller]
fn found(bench: &Bench, url: &str, options: &[&str]) -> Value {
    let options = [options, &["--json"]].concat();
    let ran = init(bench, url, &options).expect_code(0);
    serde_json::from_str(&ran.stdout).expect("one object")
}

/// The table of the site in the written settings.
fn settings(bench: &Bench) -> toml::Table {
    let text = fs::read_to_string(bench.path().join("arpent.toml")).expect("it was written");
    let file: toml::Table = text.parse().expect("it is TOML");
    file["site"][0].as_table().expect("a table").clone()
}

fn has_note(found: &Value, code: &str) -> bool {
    let notes = found["notes"].as_array().expect("notes");
    notes.iter().any(|note| note["code"] == code)
}

/// A site of 30 pages with a sitemap of them.
fn plain_site() -> Site {
    Site::start(|request| {
        let page = request.target.strip_prefix("/page/");
        let host = &request.headers["host"];
        match request.target.as_str() {
            "/robots.txt" => Response::text(format!(
                "User-agent: *\nDisallow: /private\nSitemap: http://{host}/map.xml\n"
            )),
            "/map.xml" => {
                let url = |number| format!("<url><loc>http://{host}/page/{number}</loc></url>");
                let urls = (0..30).map(url).collect::<Vec<_>>().concat();
                let xmlns = "http://www.sitemaps.org/schemas/sitemap/0.9";
                Response::text(format!("<urlset xmlns=\"{xmlns}\">{urls}</urlset>"))
                    .with("Content-Type", "application/xml")
            }
            "/" => Response::linking(["/page/0", "/page/1", "/private/x"]),
            _ if page.is_some() => Response::html("<title>a page</title><a href=/>home</a>"),
            _ => Response::status(404),
        }
    })
}

#[test]
fn plain_site_is_measured_and_files_are_written() {
    let bench = Bench::new();
    let site = plain_site();
    let found = found(&bench, &site.url("/"), &["--contact", "me@example.com"]);
    assert_eq!(found["site"], site.url("/"));
    assert_eq!(found["robots"]["status"], 200);
    assert_eq!(found["robots"]["rules"][1], "Disallow: /private");
    assert_eq!(found["robots"]["sitemaps"][0], site.url("/map.xml"));
    assert_eq!(found["links"], 2);
    assert_eq!(found["next"], "arpent crawl -c arpent.toml");
    let line = format!("Sitemap: {}", site.url("/sitemap.xml"));
    assert_eq!(found["robots_line"], line);
    let unit = format!("arpent-127.0.0.1_{}", site.port());
    let [service, timer] = ["service", "timer"].map(|kind| format!("{unit}.{kind}"));
    let files = ["arpent.toml", "arpent-nginx.conf", &service, &timer];
    let written = files.map(|file| bench.path().join(file).display().to_string());
    assert_eq!(found["written"], serde_json::json!(written));
    let settings = settings(&bench);
    assert_eq!(settings["url"].as_str(), Some(site.url("/").as_str()));
    let folder = sitemaps(&bench, &site);
    assert_eq!(settings["output"]["output"].as_str(), folder.to_str());
    let public_url = settings["output"]["public_url"].as_str();
    assert_eq!(public_url, Some(site.url("/").as_str()));
    assert_eq!(settings["politeness"]["rate"].as_str(), Some("unlimited"));
    let contact = settings["requests"]["contact"].as_str();
    assert_eq!(contact, Some("me@example.com"));
    let agent = &site.log()[0].headers["user-agent"];
    assert!(agent.ends_with("(+me@example.com)"), "{agent}");
    let asked: Vec<String> = site.log().into_iter().map(|seen| seen.target).collect();
    assert_eq!(asked, ["/robots.txt", "/"]);
}

/// The folder that a crawl of the site writes to without settings.
fn sitemaps(bench: &Bench, site: &Site) -> PathBuf {
    let name = format!("http_127.0.0.1_{}", site.port());
    bench.path().join("sitemaps").join(name)
}

#[test]
fn the_written_settings_crawl_the_site() {
    let bench = Bench::new();
    let site = plain_site();
    init(&bench, &site.url("/"), &[]).expect_code(0);
    let mut command = bench.program();
    command.args(["crawl", "-c", "arpent.toml"]);
    Ran::of(command).expect_code(0);
    assert!(sitemaps(&bench, &site).join("sitemap.xml").is_file());
    // What the crawl found is not asked for again.
    site.clear_log();
    let found = found(&bench, &site.url("/"), &["--force"]);
    assert_eq!(site.log().len(), 0);
    assert_eq!(
        (&found["crawl"]["known"], &found["links"]),
        (&32.into(), &Value::Null)
    );
    assert_eq!(found["robots"]["rules"][1], "Disallow: /private");
}

#[test]
fn the_report_ends_with_what_to_do() {
    let bench = Bench::new();
    let site = plain_site();
    let options = ["-o", "new", "--server", "apache", "--schedule", "cron"];
    let ran = init(&bench, &site.url("/"), &options).expect_code(0);
    let line = format!("robots.txt: Sitemap: {}", site.url("/sitemap.xml"));
    for text in ["2 links to pages of the site", "arpent crawl -c", &line] {
        assert!(ran.stdout.contains(text), "{text}: {}", ran.stdout);
    }
    let read = |name: &str| fs::read_to_string(bench.path().join("new").join(name));
    let crontab = read("arpent.crontab").expect("it was written");
    assert!(crontab.contains("\n30 2 * * * \"/"), "{crontab}");
    let apache = read("arpent-apache.conf").expect("it was written");
    assert!(apache.contains("ForceType application/gzip"), "{apache}");
}

#[test]
fn a_start_url_that_redirects_names_the_site() {
    let bench = Bench::new();
    let site = Site::allowing(|request| match request.headers["host"].split(':').next() {
        Some("www.site.test") if request.target == "/" => Response::redirect(302, "/en/"),
        Some("www.site.test") => Response::linking(["/en/a"]),
        _ => Response::redirect(
            301,
            &format!("http://www.{}{}", request.headers["host"], request.target),
        ),
    });
    let port = site.port();
    let [apex, www] = ["site.test", "www.site.test"].map(|host| format!("{host}:{port}"));
    let resolve = [&apex, &www].map(|host| format!("{host}:127.0.0.1"));
    let options = ["--resolve", &resolve[0], "--resolve", &resolve[1]];
    let found = found(&bench, &format!("http://{apex}/"), &options);
    assert_eq!(found["site"], format!("http://{www}/"));
    assert_eq!(found["start"], format!("http://{www}/"));
    let statuses: Vec<_> = found["hops"].as_array().unwrap().iter().collect();
    let statuses: Vec<_> = statuses.iter().map(|hop| hop["status"].clone()).collect();
    assert_eq!(statuses, [301, 302, 200]);
    assert_eq!(found["hops"][0]["redirects_to"], format!("http://{www}/"));
    let settings = settings(&bench);
    assert_eq!(
        settings["requests"]["resolve"].as_array().map(Vec::len),
        Some(2)
    );
}

#[test]
fn password_is_used_and_not_written() {
    let bench = Bench::new();
    let site = Site::allowing(|request| match request.headers.get("authorization") {
        Some(_) => Response::linking(["/a"]),
        None => Response::status(401),
    });
    let mut command = bench.program();
    command.args(["init", &site.url("/"), "--rate", "unlimited"]);
    command.env("ARPENT_BASIC_AUTH", "user:secret");
    Ran::of(command).expect_code(0);
    let text = fs::read_to_string(bench.path().join("arpent.toml")).unwrap();
    assert!(text.contains("basic_auth"), "{text}");
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn headers_that_are_not_secret_are_written() {
    #[track_caller]
    fn check(headers: &[&str], variable: &str, expected: &[&str], has_comment: bool) {
        let (bench, site) = (Bench::new(), plain_site());
        let mut command = bench.program();
        command.args(["init", &site.url("/"), "--rate", "unlimited"]);
        command.args(headers.iter().flat_map(|header| ["--header", header]));
        if !variable.is_empty() {
            command.env("ARPENT_HEADER", variable);
        }
        Ran::of(command).expect_code(0);
        let text = fs::read_to_string(bench.path().join("arpent.toml")).unwrap();
        let written: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with("header"))
            .collect();
        assert_eq!(written, expected, "{text}");
        assert_eq!(text.contains("# header = ["), has_comment, "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
    let french = r#"header = ["Accept-Language: fr"]"#;
    check(&["Accept-Language: fr"], "", &[french], false);
    let with_secrets = [
        "Accept-Language: fr",
        "Cookie: hunter2",
        "AUTHORIZATION : hunter2",
        "Proxy-Authorization:hunter2",
    ];
    check(&with_secrets, "", &[french], true);
    // A variable may hold a secret under any name.
    check(&[], "X-Key: hunter2", &[], true);
    check(&[], "", &[], false);
}

#[test]
fn a_password_of_the_proxy_is_not_written() {
    let bench = Bench::new();
    let site = Site::start(|_| Response::html("<title>a page</title><p>text"));
    let mut command = bench.program();
    command.args(["init", &site.url("/"), "--rate", "unlimited"]);
    let address = site.url("").replace("//", "//me:hunter2@");
    command.env("ARPENT_PROXY", address);
    Ran::of(command).expect_code(0);
    let text = fs::read_to_string(bench.path().join("arpent.toml")).unwrap();
    assert!(
        text.contains("# proxy = { file") && !text.contains("hunter2"),
        "{text}"
    );
}

#[test]
fn a_typed_state_is_read_and_written() {
    let (bench, site) = (Bench::new(), plain_site());
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let requests = site.log().len();
    let state = bench.state().display().to_string();
    let ran = init(&bench, &site.url("/"), &["--state", &state]).expect_code(0);
    for words in ["last crawl", "robots.txt, if it is not there: Sitemap: "] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert_eq!(site.log().len(), requests, "the state is enough");
    let text = fs::read_to_string(bench.path().join("arpent.toml")).expect("it was written");
    let file: toml::Table = text.parse().expect("it is TOML");
    assert_eq!(file["output"]["state"].as_str(), Some(&*state));
}

#[test]
fn unit_has_the_site_in_its_name() {
    let bench = Bench::new();
    let site = Site::allowing(|_| Response::html("<title>a page</title><p>text<a href=b>b</a>"));
    let found = found(&bench, &site.url("/a%20b/c+d/"), &[]);
    let unit = format!("arpent-127.0.0.1_{}_a-20b-c-2bd", site.port());
    let path = |kind: &str| bench.path().join(format!("{unit}.{kind}"));
    for kind in ["service", "timer"] {
        assert!(path(kind).is_file(), "{found}");
        if has_program("systemd-analyze") {
            let path = path(kind).display().to_string();
            run_tool("systemd-analyze", ["verify", "--man=no", &path]);
        }
    }
}

#[test]
fn the_guide_shows_the_parts_for_servers() {
    let guide = include_str!("../../cli/guide/serving.md");
    for server in ["nginx", "apache"] {
        let (bench, site) = (Bench::new(), plain_site());
        init(&bench, &site.url("/"), &["--server", server]).expect_code(0);
        let path = bench.path().join(format!("arpent-{server}.conf"));
        let folder = sitemaps(&bench, &site).display().to_string();
        let part = fs::read_to_string(path).expect("it was written");
        let part = part
            .replace(&folder, "/srv/sitemaps/https_www.example.com")
            .replace(&site.url("/"), "https://www.example.com/")
            .replace("127.0.0.1", "www.example.com");
        let block = format!("```{server}\n{part}```\n");
        assert!(
            guide.contains(&block),
            "the guide needs this block:\n{block}"
        );
    }
}

#[test]
fn particular_start_pages_are_noted() {
    #[track_caller]
    fn check(body: &'static str, code: &str) {
        let bench = Bench::new();
        let site = Site::allowing(move |request| match request.target.as_str() {
            "/" => Response::html(body),
            _ => Response::status(404),
        });
        let found = found(&bench, &site.url("/"), &[]);
        assert!(has_note(&found, code), "{found}");
    }
    check(
        "<!doctype html><title>x</title><div id=app></div><script src=/app.js></script>",
        "start-needs-javascript",
    );
    check(
        "<!doctype html><title>x</title><form><input type=password></form><a href=/a>a</a>",
        "start-asks-for-password",
    );
    check(
        "<!doctype html><meta name=robots content=noindex><p>text<a href=/a>a</a>",
        "start-noindex",
    );
}

#[test]
fn a_cookie_gate_is_passed_and_noted() {
    let bench = Bench::new();
    let site = Site::allowing(|request| match request.headers.get("cookie") {
        Some(_) => Response::linking(["/a"]),
        None => Response::redirect(302, &request.target).with("Set-Cookie", "seen=1; Path=/"),
    });
    let found = found(&bench, &site.url("/"), &[]);
    assert!(has_note(&found, "start-needs-cookies"), "{found}");
}

#[test]
fn crawl_delay_is_obeyed_and_reported() {
    let bench = Bench::new();
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: arpent\nCrawl-delay: 0.2\n"),
        "/" => Response::linking(["/a", "/b"]),
        "/sitemap.xml" => Response::status(404),
        _ => Response::html("<title>a page</title>"),
    });
    let began = Instant::now();
    let found = found(&bench, &site.url("/"), &[]);
    assert!(began.elapsed() >= Duration::from_millis(195));
    assert_eq!(found["robots"]["crawl_delay_s"], 0.2);
    assert_eq!(found["robots"]["rules"][0], "User-agent: arpent");
    let text = fs::read_to_string(bench.path().join("arpent.toml")).unwrap();
    assert!(text.contains("0.2 s between two requests"), "{text}");
    let log = site.log();
    for pair in log.windows(2) {
        let gap = pair[1].begun - pair[0].ended.expect("it was answered");
        assert!(gap >= Duration::from_millis(195), "{gap:?}");
    }
}

#[test]
fn unusable_site_is_an_error_with_its_cause() {
    let disallowed = Site::start(|_| Response::text("User-agent: *\nDisallow: /\n"));
    let closed = Site::allowing(|_| Response::status(401));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    for (url, causes) in [
        (&silent, ["refused", "check that"]),
        (&disallowed.url("/"), ["disallowed", "disallowed"]),
        (&closed.url("/"), ["answered 401", "ARPENT_BASIC_AUTH"]),
    ] {
        let bench = Bench::new();
        let ran = init(&bench, url, &[]).expect_code(5);
        let places = causes.map(|cause| ran.stderr.find(cause));
        assert!(places[0].is_some(), "{}", ran.stderr);
        assert!(places[0] <= places[1], "{}", ran.stderr);
        assert!(!bench.path().join("arpent.toml").exists(), "{url}");
    }
    assert_eq!(disallowed.pages(), Vec::<String>::new());
}

#[test]
fn a_file_that_exists_is_not_replaced() {
    let bench = Bench::new();
    let site = plain_site();
    let path = bench.path().join("arpent-nginx.conf");
    fs::write(&path, "mine").unwrap();
    let ran = init(&bench, &site.url("/"), &[]).expect_code(4);
    assert!(ran.stderr.contains("--force"), "{}", ran.stderr);
    assert_eq!(site.log().len(), 0, "nothing is requested");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    assert!(!bench.path().join("arpent.toml").exists());
    init(&bench, &site.url("/"), &["--force"]).expect_code(0);
    assert!(fs::read_to_string(&path).unwrap().contains("location"));
}

#[test]
fn nginx_serves_a_set_with_the_written_part() {
    if !has_program("nginx") {
        return;
    }
    let bench = Bench::new();
    let site = Site::of_two_pages();
    init(&bench, &site.url("/"), &[]).expect_code(0);
    let folder = sitemaps(&bench, &site);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("sitemap.xml"), "<urlset/>").unwrap();
    fs::write(folder.join("sitemap-root.xml.gz"), "packed").unwrap();
    fs::write(folder.join("other.gz"), "packed").unwrap();
    let written = bench.path().join("arpent-nginx.conf");
    let nginx = Nginx::start(|place| server_with(place.http, &written));
    let head = |path: &str| head_of(nginx.place().http, path);
    let index = head("/sitemap.xml");
    assert!(index.contains("content-type: application/xml"), "{index}");
    let packed = head("/sitemap-root.xml.gz");
    assert!(
        packed.contains("content-type: application/gzip"),
        "{packed}"
    );
    assert!(!packed.contains("content-encoding"), "{packed}");
    assert!(head("/other.gz").contains(" 404 "));
}

/// A server that compresses everything, with this part of its configuration.
fn server_with(port: u16, written: &Path) -> String {
    format!(
        "server {{ listen 127.0.0.1:{port}; gzip on; gzip_min_length 1; gzip_types *; root /nonexistent; include \"{}\"; }}\n",
        written.display()
    )
}

/// The head of an answer to a client that can unpack gzip, in lower case.
fn head_of(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    let answer = String::from_utf8_lossy(&answer).to_ascii_lowercase();
    answer
        .split("\r\n\r\n")
        .next()
        .unwrap_or_default()
        .to_owned()
}
