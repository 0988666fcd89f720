//! `arpent why`: what the state knows of one URL.

use serde_json::Value;

use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
};

fn why(bench: &Bench, arguments: &[&str]) -> Ran {
    let mut command = bench.program();
    command
        .arg("why")
        .arg("--state")
        .arg(bench.state())
        .args(arguments);
    Ran::of(command)
}

/// What is known of `url`.
#[track_caller]
fn explained(bench: &Bench, url: &str) -> Value {
    let ran = why(bench, &["--json", url]).expect_code(0);
    serde_json::from_str(&ran.stdout).expect("one object")
}

/// A site with a page of many kinds.
fn many_kinds() -> Site {
    Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /private\n"),
        "/" => Response::linking([
            "/a",
            "/gone",
            "/moved",
            "/private/x",
            "/hidden",
            "/other",
            "/missing.png",
            "/broken",
        ]),
        "/a" => Response::html(
            "<title>A &lt;b&gt;</title><meta property=\"article:modified_time\" content=\"2020-02-03\"><a href=/b>b</a>",
        ),
        "/b" | "/c" => Response::html("<title>a page</title>"),
        "/moved" => Response::redirect(301, "/moved2"),
        "/moved2" => Response::redirect(302, "/c"),
        "/hidden" => Response::html("<meta name=robots content=noindex>"),
        "/other" => Response::html("<link rel=canonical href=/gone>"),
        "/missing.png" => Response::text("").with("Content-Type", "image/png"),
        "/broken" => Response::status(503),
        _ => Response::status(404),
    })
}

/// A crawl that asks once for each page.
fn crawl_once(bench: &Bench, site: &Site) -> Ran {
    let mut command = bench.command(&site.url("/"), &[]);
    command.env("ARPENT_MAX_TRIES", "1");
    Ran::of(command)
}

#[test]
fn it_says_how_a_url_was_found_and_which_rule_decided() {
    let bench = Bench::new();
    let site = many_kinds();
    crawl_once(&bench, &site).expect_code(3);
    let requests = site.log().len();
    let check = |path: &str, reason: &str| {
        let explanation = explained(&bench, &site.url(path));
        assert_eq!(explanation["reason"], reason, "{path}: {explanation}");
        assert_eq!(explanation["is_known"], true);
        explanation
    };
    let listed = check("/b", "listed");
    let steps = listed["found"].as_array().unwrap();
    let urls: Vec<_> = steps
        .iter()
        .map(|step| step["url"].as_str().unwrap())
        .collect();
    assert_eq!(urls, [site.url("/"), site.url("/a"), site.url("/b")]);
    assert!(listed["file"].as_str().unwrap().contains("sitemap"));
    let dated = check("/a", "listed");
    assert_eq!(dated["lastmod"]["value"], "2020-02-03");
    assert_eq!(dated["lastmod"]["evidence"][0]["is_used"], true);
    check("/gone", "gone");
    check("/broken", "server-error");
    check("/missing.png", "not-a-page");
    let moved = check("/moved", "redirected");
    let chain = moved["redirects"].as_array().unwrap();
    let statuses: Vec<_> = chain.iter().map(|step| step["status"].clone()).collect();
    assert_eq!(statuses, [301, 302, 200]);
    assert_eq!(chain[2]["reason"], "listed");
    let private = check("/private/x", "robots-disallowed");
    assert_eq!(private["robots"]["line"], "Disallow: /private");
    assert_eq!(
        check("/hidden", "noindex")["directives"],
        serde_json::json!(["noindex"])
    );
    let other = check("/other", "canonical-broken");
    assert_eq!(other["canonical"]["reason"], "gone");
    assert_eq!(site.log().len(), requests, "nothing is requested");
}

#[test]
fn it_says_why_a_url_is_not_known() {
    let bench = Bench::new();
    let site = many_kinds();
    crawl_once(&bench, &site).expect_code(3);
    let unknown = explained(&bench, &site.url("/private/y"));
    assert_eq!(unknown["state"], "unknown");
    assert_eq!(unknown["reason"], "robots-disallowed");
    let unlinked = explained(&bench, &site.url("/unlinked"));
    assert_eq!(unlinked["reason"], Value::Null);
    assert!(unlinked["advice"].as_str().unwrap().contains("link to it"));
    let elsewhere = "http://elsewhere.example/";
    let ran = why(&bench, &[elsewhere]).expect_code(2);
    assert!(ran.stderr.contains("no crawled site"), "{}", ran.stderr);
    let ran = why(&bench, &["--site", &site.url("/"), elsewhere]).expect_code(0);
    assert!(
        ran.stdout.contains("not on the host of the site"),
        "{}",
        ran.stdout
    );
}

#[test]
fn it_reads_the_state_while_a_crawl_holds_it() {
    let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "1"]);
    let site = Site::allowing(|request| match request.target.as_str() {
        "/" => Response::linking(["/a", "/slow"]),
        "/slow" => Response::html("slow").after(std::time::Duration::from_secs(20)),
        _ => Response::html("<title>a page</title>"),
    });
    let mut running = bench.spawn(&site.url("/"), &[]);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(15);
    let explanation = loop {
        let ran = why(&bench, &["--json", &site.url("/a")]);
        if let Ok(explanation) = serde_json::from_str::<Value>(&ran.stdout)
            && explanation["answer"] != Value::Null
        {
            break explanation;
        }
        assert!(std::time::Instant::now() < deadline, "{}", ran.stderr);
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    assert!(!running.has_ended());
    assert_eq!(explanation["under_way"]["reason"], "listed");
    assert_eq!(explanation["file"], Value::Null);
    running.kill();
}
