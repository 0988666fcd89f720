//! `arpent why`: the state on one URL.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

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

/// The result for `url`.
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

/// A crawl with one try for each page.
fn crawl_once(bench: &Bench, site: &Site) -> Ran {
    let mut command = bench.command(&site.url("/"), &[]);
    command.env("ARPENT_MAX_TRIES", "1");
    Ran::of(command)
}

#[test]
fn why_shows_origin_and_deciding_rule() {
    let bench = Bench::new();
    let site = many_kinds();
    crawl_once(&bench, &site).expect_code(3);
    let requests = site.log().len();
    let check = |path: &str, reason: &str| {
        let explanation = explained(&bench, &site.url(path));
        assert_eq!(explanation["reason"], reason, "{path}: {explanation}");
        assert_ne!(explanation["state"], "unknown");
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
    assert_eq!(private["robots"]["number"], 2);
    assert_eq!(private["robots"]["group"], "*");
    let text = why(&bench, &[&site.url("/private/x")])
        .expect_code(0)
        .stdout;
    assert!(
        text.contains("disallowed by \"Disallow: /private\" (line 2, User-agent: *)"),
        "{text}"
    );
    assert_eq!(private["live"], Value::Null);
    assert_eq!(
        check("/hidden", "noindex")["directives"],
        serde_json::json!(["noindex"])
    );
    let other = check("/other", "canonical-broken");
    assert_eq!(other["canonical"]["reason"], "gone");
    // URLs that no crawl found.
    let unknown = explained(&bench, &site.url("/private/y"));
    assert_eq!(unknown["state"], "unknown");
    assert_eq!(unknown["reason"], "robots-disallowed");
    let unlinked = explained(&bench, &site.url("/unlinked"));
    assert_eq!(unlinked["reason"], Value::Null);
    assert!(unlinked["advice"].as_str().unwrap().contains("link to it"));
    let elsewhere = "http://elsewhere.example/";
    let ran = why(&bench, &[elsewhere]).expect_code(2);
    assert!(
        ran.stderr.contains("in no site that was crawled"),
        "{}",
        ran.stderr
    );
    let ran = why(&bench, &["--site", &site.url("/"), elsewhere]).expect_code(0);
    assert!(
        ran.stdout.contains("not on the host of the site"),
        "{}",
        ran.stdout
    );
    assert_eq!(site.log().len(), requests, "nothing is requested");
}

#[test]
fn live_answers_are_compared_with_the_state() {
    let bench = Bench::new();
    let changed = Arc::new(AtomicBool::new(false));
    let is_changed = Arc::clone(&changed);
    let site = Site::start(move |request| {
        let is_changed = is_changed.load(Ordering::SeqCst);
        match request.target.as_str() {
            "/robots.txt" if is_changed => Response::text(
                "User-agent: other\nDisallow: /\n\nUser-agent: arpent\nDisallow: /closed\n",
            ),
            "/robots.txt" => Response::text(""),
            "/" => {
                Response::linking(["/same", "/now-hidden", "/now-moved", "/now-gone", "/closed"])
            }
            "/now-hidden" if is_changed => {
                Response::html("<title>b</title>other words").with("X-Robots-Tag", "noindex")
            }
            "/now-moved" if is_changed => Response::redirect(301, "/hop?utm_source=x"),
            "/hop" => Response::redirect(302, "/same"),
            "/now-gone" if is_changed => Response::status(404),
            "/loop" => Response::redirect(302, "/loop2"),
            "/loop2" => Response::redirect(302, "/loop"),
            "/away" => Response::redirect(302, "http://elsewhere.example/"),
            "/named" => Response::html("<link rel=canonical href=/same>x").with("ETag", "\"1\""),
            _ => Response::html(format!("<title>a</title>{}", request.target)),
        }
    });
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    changed.store(true, Ordering::SeqCst);
    site.clear_log();
    let live = |path: &str| {
        let ran = why(
            &bench,
            &["--live", "--rate", "unlimited", "--json", &site.url(path)],
        );
        let explanation: Value = serde_json::from_str(&ran.expect_code(0).stdout).unwrap();
        explanation["live"].clone()
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let same = live("/same");
    assert_eq!(same["reason"], "listed");
    assert_eq!(same["differs"], Value::Null);
    assert_eq!(same["is_content_changed"], false);
    assert_eq!(site.pages(), ["/same"]);
    let hidden = live("/now-hidden");
    assert_eq!(hidden["reason"], "noindex");
    assert_eq!(hidden["hops"][0]["headers"]["x-robots-tag"], "noindex");
    assert_eq!(hidden["is_content_changed"], true);
    let differs = text(&hidden["differs"]);
    assert!(
        differs.contains("listed; by this answer alone it is noindex"),
        "{differs}"
    );
    let moved = live("/now-moved");
    let hops = moved["hops"].as_array().unwrap();
    let hops: Vec<_> = hops.iter().map(|hop| text(&hop["url"])).collect();
    assert_eq!(
        hops,
        ["/now-moved", "/hop", "/same"].map(|path| site.url(path))
    );
    assert_eq!(moved["reason"], "redirected");
    assert_eq!(moved["hops"][0]["headers"]["location"], "/hop?utm_source=x");
    assert_eq!(live("/now-gone")["reason"], "gone");
    assert_eq!(live("/loop")["reason"], "redirect-loop");
    let away = live("/away");
    assert_eq!(away["reason"], "redirected-out-of-scope");
    assert!(text(&away["not_requested"]).contains("outside of the crawl"));
    let named = live("/named");
    assert_eq!(named["reason"], "canonical-elsewhere");
    assert_eq!(named["hops"][0]["canonical"], site.url("/same"));
    assert_eq!(named["hops"][0]["headers"]["etag"], "\"1\"");
    assert!(text(&named["differs"]).starts_with("no crawl found this URL; "));
    site.clear_log();
    let closed = live("/closed");
    assert_eq!(closed["reason"], "robots-disallowed");
    assert_eq!(closed["robots"]["number"], 5);
    assert_eq!(closed["robots"]["group"], "arpent");
    assert_eq!(site.pages(), Vec::<String>::new());
    let ran = why(&bench, &["--live", &site.url("/closed")]).expect_code(0);
    for line in [
        "not asked   ",
        "robots.txt  disallowed by \"Disallow: /closed\" (line 5, User-agent: arpent)",
        "now, by this answer alone: blocked by robots.txt (robots-disallowed)",
        "changed     the state has the answer of ",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
}

#[test]
fn live_needs_no_state() {
    let bench = Bench::new();
    let site = many_kinds();
    why(&bench, &[&site.url("/moved")]).expect_code(2);
    let ran = why(
        &bench,
        &["--live", "--rate", "unlimited", &site.url("/moved")],
    )
    .expect_code(0);
    for line in [
        format!("answer      {}: 301 (redirected)", site.url("/moved")),
        "      location: /moved2".to_owned(),
        format!("answer      {}: 200 (listed)", site.url("/c")),
        "now, by this answer alone: page with redirect to another URL (redirected)".to_owned(),
    ] {
        assert!(ran.stdout.contains(&line), "{line}: {}", ran.stdout);
    }
    assert_eq!(site.pages(), ["/moved", "/moved2", "/c"]);
    let ran = why(
        &bench,
        &["--live", "--site", &site.url("/"), &site.url("/a")],
    )
    .expect_code(2);
    assert!(
        ran.stderr.contains("there is no state of the site"),
        "{}",
        ran.stderr
    );
}

#[test]
fn why_reads_a_locked_state() {
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

#[test]
fn unreadable_state_is_an_error_with_live_too() {
    let bench = Bench::new();
    let site = Site::of_two_pages();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let state = std::fs::read_dir(bench.state())
        .unwrap()
        .map(|file| file.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "db"))
        .unwrap();
    std::fs::write(state, "damaged").unwrap();
    site.clear_log();
    let ran = why(&bench, &["--live", "--rate", "unlimited", &site.url("/")]).expect_code(4);
    assert!(ran.stderr.contains(".db"), "{}", ran.stderr);
    assert_eq!(site.pages(), [""; 0]);
}
