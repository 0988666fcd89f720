//! Options of `arpent crawl` that change what is fetched, sent, listed or stored.

use std::{
    collections::BTreeSet,
    io::Read as _,
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use crate::support::{
    program::{Bench, Ran},
    site::{Response, Seen, Site},
    state::{assert_adds_up, number},
};

/// A small site with a shop, a blog and files, all linked from `/`, which is linked from everywhere.
fn site() -> Site {
    Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text(
            "User-agent: *\nDisallow: /private/\n\nUser-agent: other-bot\nDisallow: /blog/\n",
        ),
        "/" => Response::linking([
            "/shop/shoes",
            "/shop/hats?size=2",
            "/blog/",
            "/files/film.mp4",
            "/private/page",
        ]),
        "/blog/" => Response::linking(["/", "/blog/one", "/blog/two"]),
        "/files/film.mp4" => Response {
            headers: vec![("Content-Type".to_owned(), "video/mp4".to_owned())],
            ..Response::html("film")
        },
        _ => Response::linking(["/"]),
    })
}

const ALL: [&str; 6] = [
    "/",
    "/blog/",
    "/blog/one",
    "/blog/two",
    "/shop/hats?size=2",
    "/shop/shoes",
];

/// Crawls and compares the listed and the requested pages.
#[track_caller]
fn check(start: &str, options: &[&str], listed: &[&str], asked: &[&str]) {
    let site = site();
    let bench = Bench::new();
    let ran = bench.crawl(&site.url(start), options).expect_code(0);
    assert_adds_up(&ran.summary());
    let urls = bench.published().urls();
    let paths: Vec<String> = urls
        .iter()
        .map(|url| url.replace(&site.origin(), ""))
        .collect();
    assert_eq!(paths, listed);
    let asked: BTreeSet<String> = asked.iter().map(|&path| path.to_owned()).collect();
    assert_eq!(site.pages().into_iter().collect::<BTreeSet<_>>(), asked);
}

#[test]
fn the_whole_site_is_crawled_by_default() {
    let asked = [&ALL[..], &["/files/film.mp4"]].concat();
    check("/", &[], &ALL, &asked);
}

#[test]
fn include_and_exclude_narrow_the_crawl() {
    let blog = ["/blog/", "/blog/one", "/blog/two"];
    // The start page is fetched for its links under any rules.
    check(
        "/",
        &["--include", "/blog/*"],
        &blog,
        &[&["/"], &blog[..]].concat(),
    );
    let shop = ["/shop/hats?size=2", "/shop/shoes"];
    check(
        "/",
        &[
            "--include",
            "/blog/*",
            "--include",
            "/shop/*",
            "--exclude",
            "*[?]*",
        ],
        &["/blog/", "/blog/one", "/blog/two", "/shop/shoes"],
        &["/", "/blog/", "/blog/one", "/blog/two", "/shop/shoes"],
    );
    check(
        "/",
        &["--exclude", "/blog/*", "--exclude", "/files/*"],
        &["/", shop[0], shop[1]],
        &["/", shop[0], shop[1]],
    );
}

#[test]
fn follow_only_pages_are_fetched_and_list_only_pages_are_listed() {
    let asked = [&ALL[..], &["/files/film.mp4"]].concat();
    check(
        "/",
        &["--follow-only", "/blog/"],
        &[&ALL[..1], &ALL[2..]].concat(),
        &asked,
    );
    check(
        "/",
        &["--list-only", "/files/*"],
        &[
            "/",
            "/blog/",
            "/blog/one",
            "/blog/two",
            "/files/film.mp4",
            "/shop/hats?size=2",
            "/shop/shoes",
        ],
        &ALL,
    );
}

#[test]
fn the_scope_is_the_directory_of_the_start_url_unless_widened() {
    let blog = ["/blog/", "/blog/one", "/blog/two"];
    check("/blog/", &[], &blog, &blog);
    let asked = [&ALL[..], &["/files/film.mp4"]].concat();
    check("/blog/", &["--scope", "origin"], &ALL, &asked);
}

#[test]
fn max_depth_is_the_fewest_hops() {
    check("/", &["--max-depth", "0"], &["/"], &["/"]);
    let near = ["/", "/blog/", "/shop/hats?size=2", "/shop/shoes"];
    check(
        "/",
        &["--max-depth", "1"],
        &near,
        &[&near[..], &["/files/film.mp4"]].concat(),
    );
}

#[test]
fn a_dry_run_writes_nothing_to_the_output() {
    let site = site();
    let bench = Bench::new();
    let ran = bench.crawl(&site.url("/"), &["--dry-run"]).expect_code(0);
    let summary = ran.summary();
    assert_eq!(summary["outcome"], "dry-run");
    assert_eq!(number(&summary, "listed"), 6);
    let files = summary["files"].as_array().expect("a list");
    assert!(
        files.iter().any(|file| file["name"] == "sitemap.xml"),
        "{summary}"
    );
    assert!(!bench.output().exists());
}

/// The values of a header in a log; `None` where it is missing.
fn header(log: &[Seen], name: &str) -> BTreeSet<Option<String>> {
    log.iter()
        .map(|seen| seen.headers.get(name).cloned())
        .collect()
}

fn only(value: &str) -> BTreeSet<Option<String>> {
    BTreeSet::from([Some(value.to_owned())])
}

#[test]
fn headers_and_credentials_go_to_the_start_origin_only() {
    // The robots.txt of the site redirects to another origin; no other request goes there.
    let other = Site::start(|_| Response::text("User-agent: *\nDisallow: /closed/\n"));
    let robots = other.url("/robots.txt");
    let site = Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::redirect(302, &robots),
        "/" => Response::linking(["/a", "/closed/b"]),
        _ => Response::linking(["/"]),
    });
    let bench = Bench::new();
    let mut command = bench.command(
        &site.url("/"),
        &[
            "--header",
            "X-Preview: yes",
            "--header",
            "Accept-Language: fr",
        ],
    );
    command.env("ARPENT_BASIC_AUTH", "user:pass word");
    let ran = Ran::of(command).expect_code(0);
    assert_eq!(ran.summary()["excluded"]["robots-disallowed"], 1);
    assert_eq!(header(&site.log(), "x-preview"), only("yes"));
    assert_eq!(header(&site.log(), "accept-language"), only("fr"));
    assert_eq!(
        header(&site.log(), "authorization"),
        only("Basic dXNlcjpwYXNzIHdvcmQ=")
    );
    let nothing = BTreeSet::from([None]);
    assert_eq!(other.log().len(), 1);
    for name in [
        "x-preview",
        "accept-language",
        "authorization",
        "referer",
        "cookie",
    ] {
        assert_eq!(header(&other.log(), name), nothing);
    }
    // Secrets are not printed.
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("pass word"));

    site.clear_log();
    let bench = Bench::new();
    let mut command = bench.command(&site.url("/"), &[]);
    command.env("ARPENT_BEARER_TOKEN", "abc.def");
    Ran::of(command).expect_code(0);
    assert_eq!(header(&site.log(), "authorization"), only("Bearer abc.def"));
}

#[test]
fn the_user_agent_chooses_the_group_of_robots_txt() {
    let by_default = site();
    Bench::new().crawl(&by_default.url("/"), &[]).expect_code(0);
    assert_eq!(
        header(&by_default.log(), "user-agent"),
        only(concat!("arpent/", env!("CARGO_PKG_VERSION")))
    );

    let site = site();
    let bench = Bench::new();
    bench
        .crawl(&site.url("/"), &["--user-agent", "Other-Bot/2.0 (test)"])
        .expect_code(0);
    assert_eq!(
        header(&site.log(), "user-agent"),
        only("Other-Bot/2.0 (test)")
    );
    // Its own group forbids the blog only, and the group of `*` does not apply.
    assert_eq!(
        bench.published().urls(),
        ["/", "/private/page", "/shop/hats?size=2", "/shop/shoes"].map(|path| site.url(path))
    );

    let site = Site::start(|_| Response::linking(["/"]));
    let bench = Bench::new();
    let config = bench.settings("requests.contact = \"https://example.com/bot\"");
    bench
        .crawl(&site.url("/"), &["--config", &config])
        .expect_code(0);
    let expected = concat!(
        "arpent/",
        env!("CARGO_PKG_VERSION"),
        " (+https://example.com/bot)"
    );
    assert_eq!(header(&site.log(), "user-agent"), only(expected));
}

#[test]
fn the_public_url_is_where_the_index_says_the_parts_are() {
    let site = site();
    let bench = Bench::new();
    let options = ["--public-url", "https://cdn.example.com/maps"];
    bench.crawl(&site.url("/"), &options).expect_code(0);
    let published = bench.published();
    let index = &published.files["sitemap.xml"];
    assert!(index.is_index);
    assert!(!index.entries.is_empty());
    for (url, _) in &index.entries {
        let name = url
            .strip_prefix("https://cdn.example.com/maps/")
            .unwrap_or_else(|| panic!("{url}"));
        assert!(published.files.contains_key(name), "{name}");
    }
    assert_eq!(published.urls().len(), 6);

    let bench = Bench::new();
    bench
        .crawl(&site.url("/blog/"), &["--public-url", &site.url("/")])
        .expect_code(0);
    assert!(
        bench.published().files["sitemap.xml"].entries[0]
            .0
            .starts_with(&site.url("/sitemap"))
    );
}

#[test]
fn proxies_of_the_environment_are_ignored() {
    // A proxy that records whether it got a connection.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let proxy = format!("http://{}", listener.local_addr().expect("an address"));
    let was_asked = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&was_asked);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            asked.store(true, Ordering::SeqCst);
            drop(stream.read(&mut [0; 1_024]));
        }
    });
    let site = site();
    let run = |options: &[&str]| {
        let bench = Bench::new();
        let mut command = bench.command(&site.url("/"), options);
        for name in [
            "http_proxy",
            "HTTP_PROXY",
            "https_proxy",
            "HTTPS_PROXY",
            "all_proxy",
            "ALL_PROXY",
        ] {
            command.env(name, &proxy);
        }
        Ran::of(command)
    };
    run(&[]).expect_code(0);
    assert!(!was_asked.load(Ordering::SeqCst));

    // A proxy of the settings is used, so the record works.
    let pages = site.pages().len();
    run(&["--proxy", &proxy]).expect_code(5);
    assert!(was_asked.load(Ordering::SeqCst));
    assert_eq!(site.pages().len(), pages);
}
