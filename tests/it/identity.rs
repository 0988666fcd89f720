//! The site of a URL: the one that its redirects lead to. Every command finds it by the start URL of its crawl, and
//! `arpent forget` removes its data.

use std::{
    fs,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::Value;

use crate::support::{
    program::{Bench, Ran},
    published::Published,
    site::{Response, Site},
};

/// A host whose name without `www.` leads to the one with it.
struct World {
    site: Site,
    bench: Bench,
    /// `true` while the host redirects.
    redirects: Arc<AtomicBool>,
    /// `true` while every page answers 404.
    is_empty: Arc<AtomicBool>,
}

impl World {
    fn new() -> Self {
        let [redirects, is_empty] = [true, false].map(|on| Arc::new(AtomicBool::new(on)));
        let (redirected, emptied) = (Arc::clone(&redirects), Arc::clone(&is_empty));
        let site = Site::start(move |request| {
            let target = request.target.as_str();
            if target == "/robots.txt" || emptied.load(Ordering::SeqCst) {
                return Response::status(404);
            }
            let host = request.headers.get("host").map_or("", String::as_str);
            if host.starts_with("one.test:") && redirected.load(Ordering::SeqCst) {
                return Response::redirect(301, &format!("http://www.{host}{target}"));
            }
            match target {
                "/" => Response::linking(["/a", "/b"]),
                "/blog" => Response::redirect(302, "/blog/"),
                "/blog/" => Response::linking(["/blog/post"]),
                "/a" | "/b" | "/?mistyped" | "/blog/post" => {
                    Response::html(format!("<title>{target}</title>the text of {target}"))
                }
                _ => Response::status(404),
            }
        });
        Self {
            site,
            bench: Bench::new(),
            redirects,
            is_empty,
        }
    }

    /// The URL of `path` on `host`.
    fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.site.port())
    }

    /// The name of the site that is all of `host`.
    fn name(&self, host: &str) -> String {
        format!("http_{host}_{}", self.site.port())
    }

    fn resolved(&self) -> [String; 3] {
        ["one.test", "www.one.test", "two.test"]
            .map(|host| format!("{host}:{}:127.0.0.1", self.site.port()))
    }

    /// `arpent` with these arguments, and with the state of the bench.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bench.program();
        command.args(arguments).args(["--state", "state"]);
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments))
    }

    fn crawl(&self, url: &str, options: &[&str]) -> Ran {
        let mut command = self.command(&["crawl", url]);
        command.args(["--discover=links", "--rate=unlimited", "--json"]);
        for resolved in self.resolved() {
            command.args(["--resolve", &resolved]);
        }
        command.args(options);
        Ran::of(command)
    }

    fn publish(&self, url: &str, options: &[&str]) -> Ran {
        self.run(&[&["publish", url, "--json"], options].concat())
    }

    /// The rows of `arpent status` by the name of the site.
    #[track_caller]
    fn status(&self, options: &[&str]) -> Vec<(String, Value)> {
        let ran = self.run(&[&["status", "--json"], options].concat());
        let document: Value = serde_json::from_str(&ran.expect_code(0).stdout).expect("it is JSON");
        let sites = document["sites"].as_array().expect("a list");
        let name = |site: &Value| site["name"].as_str().expect("a name").to_owned();
        sites
            .iter()
            .map(|site| (name(site), site.clone()))
            .collect()
    }

    #[track_caller]
    fn assert_status(&self, expected: &[(String, &str)]) {
        let status = self.status(&[]).into_iter();
        let found: Vec<_> = status
            .map(|(name, site)| (name, site["outcome"].as_str().unwrap_or("").to_owned()))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, outcome)| (name.clone(), (*outcome).to_owned()))
            .collect();
        assert_eq!(found, expected);
    }

    /// The names in the folder of the states.
    fn states(&self) -> Vec<String> {
        let entries = fs::read_dir(self.bench.state()).expect("there are states");
        let names = entries.map(|entry| entry.expect("it can be read").file_name());
        let mut names: Vec<_> = names
            .map(|name| name.into_string().expect("UTF-8"))
            // The lock of an output is not the site's.
            .filter(|name| !name.starts_with("output-"))
            .collect();
        names.sort();
        names
    }
}

#[test]
fn a_site_is_found_by_both_its_urls() {
    let world = World::new();
    let (typed, own) = (world.url("one.test", "/"), world.url("www.one.test", "/"));
    let name = world.name("www.one.test");
    world.crawl(&typed, &[]).expect_code(0);
    let set = world.bench.path().join("sitemaps").join(&name);
    assert_eq!(Published::read(&set).urls().len(), 3);
    let foreign = world.name("one.test");
    let states = world.states();
    assert!(
        !states.iter().any(|file| file.starts_with(&foreign)),
        "{states:?}"
    );
    for url in [&typed, &own] {
        let summary = world
            .publish(url, &["--exclude", "/a"])
            .expect_code(0)
            .summary();
        assert_eq!(summary["site"], own.as_str());
        assert_eq!(Published::read(&set).urls().len(), 2);
        world.publish(url, &["--rollback"]).expect_code(0);
        assert_eq!(Published::read(&set).urls().len(), 3);
        let listed = world.run(&["notify", url, "--list"]).expect_code(0).stdout;
        assert!(listed.contains(&format!("{own}sitemap.xml")), "{listed}");
    }
    world.assert_status(&[(name.clone(), "published")]);
    let config = world.bench.settings(&format!("urls = [\"{typed}\"]\n"));
    let shown = world.status(&["--config", &config]);
    assert_eq!(shown.len(), 1);
    assert_eq!((&shown[0].0, &shown[0].1["exit_code"]), (&name, &0.into()));
}

#[test]
fn failures_and_urls_follow_the_newest_crawl() {
    let world = World::new();
    let typed = world.url("one.test", "/");
    let crawl = |is_empty: bool, code: i32| {
        world.is_empty.store(is_empty, Ordering::SeqCst);
        world.crawl(&typed, &[]).expect_code(code);
    };
    crawl(true, 5);
    // A host that was never crawled is not among the sites.
    world.assert_status(&[]);
    let leads_to = |host: &str| {
        crawl(false, 0);
        let summary = world.publish(&typed, &[]).expect_code(0).summary();
        assert_eq!(summary["site"], world.url(host, "/"));
    };
    leads_to("www.one.test");
    crawl(true, 5);
    world.assert_status(&[(world.name("www.one.test"), "unreachable")]);
    assert!(world.status(&[])[0].1["last_good"].is_string());
    world.redirects.store(false, Ordering::SeqCst);
    leads_to("one.test");
}

#[test]
fn two_urls_of_one_site_are_an_error() {
    let world = World::new();
    let urls = ["one.test", "www.one.test"].map(|host| world.url(host, "/"));
    let resolved = world.resolved();
    let config = world.bench.settings(&format!(
        "urls = {urls:?}\npoliteness.rate = \"unlimited\"\ndiscovery.discover = [\"links\"]\nrequests.resolve = {resolved:?}\n"
    ));
    for command in ["crawl", "publish"] {
        let ran = world.run(&[command, "--config", &config]).expect_code(2);
        let ([typed, own], stderr) = (&urls, ran.stderr);
        let error = format!("{own} leads to the site {own}, which writes to ");
        let already = format!("where {typed} already writes");
        assert!(
            stderr.contains(&error) && stderr.contains(&already),
            "{stderr}"
        );
        // The first crawl of the two was correct.
        let name = world.name("www.one.test");
        let outcome = ["published", "unchanged"][usize::from(command == "publish")];
        world.assert_status(&[(name, outcome)]);
    }
}

#[test]
fn forget_removes_the_data_of_one_site() {
    let world = World::new();
    let (typed, other) = (world.url("one.test", "/"), world.url("two.test", "/"));
    let name = world.name("www.one.test");
    world.crawl(&other, &[]).expect_code(0);
    let others = world.states();
    world.crawl(&typed, &[]).expect_code(0);
    world.publish(&typed, &["--exclude", "/a"]).expect_code(0);
    world.crawl(&typed, &["--fresh"]).expect_code(0);
    let waits = world.bench.state().join("retry-after");
    fs::write(&waits, "h.example\t2999-01-01T00:00:00Z\n").expect("it can be written");
    let of_builds = world.bench.state().join(format!("{name}.build.db"));
    fs::write(of_builds, "").expect("it can be written");
    let set = world.bench.path().join("sitemaps").join(&name);
    let published = Published::read(&set);

    let before = world.states();
    let dry = world.run(&["forget", &typed, "--dry-run"]).expect_code(0);
    let dry = dry.stdout;
    assert_eq!(world.states(), before);
    let files = [".db", ".build.db", ".generations", ".last.json"];
    let files = files.map(|file| format!("state/{name}{file}\n"));
    for what in files.into_iter().chain([format!("the name {typed} of ")]) {
        assert!(dry.contains(&format!("would be removed: {what}")), "{dry}");
    }

    let as_json = ["forget", &typed, "--dry-run", "--json"];
    let ran = world.run(&as_json).expect_code(0);
    let removed: Value = serde_json::from_str(&ran.stdout).expect("one JSON object");
    assert_eq!(removed["version"], 1);
    assert_eq!(removed["dry_run"], true);
    assert_eq!(removed["names"], serde_json::json!([typed]));
    let files = removed["files"].as_array().expect("a list");
    assert_eq!(files.len() + 1, dry.lines().count());

    let ran = world.run(&["forget", &typed]).expect_code(0);
    assert_eq!(ran.stdout, dry.replace("would be removed", "removed"));
    let mut expected = others;
    expected.extend(["names.json", "names.lock", "retry-after"].map(str::to_owned));
    assert_eq!(world.states(), expected);
    assert_eq!(
        Published::read(&set).differences(&published),
        [] as [String; 0]
    );
    world.assert_status(&[(world.name("two.test"), "published")]);
    world.publish(&typed, &[]).expect_code(2);

    for (url, why) in [
        (&typed, "there is no data of the site in state"),
        (
            &world.url("two.test", "/a"),
            &format!("arpent forget {other} "),
        ),
    ] {
        let ran = world.run(&["forget", url]).expect_code(2);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
    assert_eq!(world.states(), expected);
    world.run(&["forget", &other]).expect_code(0);
    world.assert_status(&[]);
}
