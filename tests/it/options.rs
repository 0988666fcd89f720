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
            "/files/clip.mp4",
            "/private/page",
        ]),
        "/blog/" => Response::linking(["/", "/blog/one", "/blog/two"]),
        "/files/clip.mp4" => Response {
            headers: vec![("Content-Type".to_owned(), "video/mp4".to_owned())],
            ..Response::html("clip")
        },
        _ => Response::linking(["/"]),
    })
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
fn headers_and_credentials_go_to_one_origin() {
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
    let agent = concat!("arpent/", env!("CARGO_PKG_VERSION"));
    assert_eq!(header(&site.log(), "user-agent"), only(agent));
}

#[test]
fn user_agent_chooses_the_robots_group() {
    let site = site();
    let bench = Bench::new();
    let agent = "Other-Bot/2.0 (test)";
    bench
        .crawl(&site.url("/"), &["--user-agent", agent])
        .expect_code(0);
    assert_eq!(header(&site.log(), "user-agent"), only(agent));
    // The group of this bot forbids the blog only, and the group of `*` does not apply.
    assert_eq!(
        bench.published().urls(),
        ["/", "/private/page", "/shop/hats?size=2", "/shop/shoes"].map(|path| site.url(path))
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
        for name in ["http_proxy", "https_proxy", "all_proxy"] {
            command.env(name, &proxy);
            command.env(name.to_uppercase(), &proxy);
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
