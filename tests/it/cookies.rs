//! Cookies that a site sets: no page is judged by those of another one, and a site that needs them is crawled all the same.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::support::{
    program::Bench,
    site::{Request, Response, Seen, Site},
};

/// A setting: one jar of cookies for the crawl.
const SESSION: &str = "requests.cookies = \"session\"\n";

/// Pages of a site beside its start page.
const PAGES: usize = 12;

/// One request after the other.
const IN_TURN: [&str; 4] = ["--rate", "unlimited", "--concurrency", "1"];

/// The cookies of a request.
fn cookies(request: &Request) -> &str {
    request.headers.get("cookie").map_or("", String::as_str)
}

/// The cookies of a request in the log of a site.
fn sent(seen: &Seen) -> &str {
    seen.headers.get("cookie").map_or("", String::as_str)
}

fn start_page() -> Response {
    Response::linking((0..PAGES).map(|number| format!("/p{number}")))
}

fn page(request: &Request) -> Response {
    Response::html(format!(
        "<title>{0}</title><p>The text of {0}.",
        request.target
    ))
}

fn note<'a>(summary: &'a Value, code: &str) -> Option<&'a Value> {
    let notes = summary["notes"].as_array().expect("notes are a list");
    notes.iter().find(|note| note["code"] == code)
}

/// Crawls a site that allows everything, one request after the other, with these settings.
#[track_caller]
fn crawled(
    settings: &str,
    answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
) -> (Site, Value) {
    let (bench, site) = (Bench::with_options(IN_TURN), Site::allowing(answer));
    let config = bench.settings(settings);
    let ran = bench.crawl(&site.url("/"), &["--config", &config]);
    let summary = ran.expect_code(0).summary();
    (site, summary)
}

/// Takes one of those that are left; `false`: none is.
fn take_one(left: &AtomicUsize) -> bool {
    let one_less = |left: usize| left.checked_sub(1);
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
        .is_ok()
}

/// A site that answers only requests with its cookie, and sends others to `gate`; a session lasts for so many pages.
fn gated(gate: &'static str, pages_of_session: usize) -> Site {
    let left = AtomicUsize::new(0);
    Site::allowing(move |request| {
        let target = request.target.as_str();
        let begin = |to: &str| {
            left.store(pages_of_session, Ordering::SeqCst);
            Response::redirect(302, to).with("Set-Cookie", "id=1; Path=/; HttpOnly")
        };
        if target == gate && gate != "/" {
            return begin("/");
        }
        match (cookies(request).contains("id=1") && take_one(&left), target) {
            (true, "/") => start_page(),
            (true, _) => page(request),
            (false, _) if gate == "/" => begin(target),
            (false, _) => Response::redirect(302, gate),
        }
    })
}

/// A site whose start page begins a session of five pages and leads to `/home`.
fn welcoming() -> Site {
    let left = AtomicUsize::new(0);
    Site::allowing(move |request| match request.target.as_str() {
        "/" => {
            left.store(5, Ordering::SeqCst);
            Response::redirect(302, "/home").with("Set-Cookie", "id=1; Path=/")
        }
        _ if cookies(request).is_empty() || !take_one(&left) => Response::redirect(302, "/"),
        "/home" => start_page(),
        _ => page(request),
    })
}

#[test]
fn needed_cookies_are_sent_with_every_request() {
    for gate in ["/", "/check"] {
        let bench = Bench::with_options(IN_TURN);
        let site = gated(gate, usize::MAX);
        let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
        assert_eq!(summary["listed"], PAGES + 1, "{gate}");
        assert!(note(&summary, "start-needs-cookies").is_some(), "{summary}");
        let log = site.log();
        let pages = log.iter().filter(|seen| seen.target.starts_with("/p"));
        assert!(pages.clone().all(|seen| sent(seen) == "id=1"));
        assert_eq!(pages.count(), PAGES, "each page is requested once");
        let robots = log.iter().find(|seen| seen.target == "/robots.txt");
        assert_eq!(robots.map(sent), Some(""));
    }
}

#[test]
fn an_ended_session_is_begun_again() {
    for (name, site) in [
        ("start page", gated("/", 5)),
        ("gate", gated("/check", 5)),
        ("redirect of the start page", welcoming()),
    ] {
        let bench = Bench::with_options(IN_TURN);
        let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
        assert_eq!(summary["listed"], PAGES + 1, "{name}: {summary}");
    }
    // The same in crawls of three pages.
    for gate in ["/", "/check"] {
        let (bench, site) = (Bench::with_options(IN_TURN), gated(gate, 5));
        loop {
            let ran = bench.crawl(&site.url("/"), &["--max-pages", "3"]);
            if ran.code == Some(0) {
                break;
            }
            ran.expect_code(3);
        }
        assert_eq!(bench.published().urls().len(), PAGES + 1, "{gate}");
    }
}

#[test]
fn a_lost_session_is_begun_three_times() {
    let left = AtomicUsize::new(3);
    let (site, summary) = crawled("", move |request| match request.target.as_str() {
        "/check" => Response::redirect(302, "/").with("Set-Cookie", "id=1"),
        "/" if cookies(request).contains("id=1") => start_page(),
        _ if cookies(request).contains("id=1") && take_one(&left) => page(request),
        _ => Response::redirect(302, "/check"),
    });
    assert_eq!(summary["listed"], 4, "{summary}");
    let asked = |path: &str| site.log().iter().filter(|seen| seen.target == path).count();
    // At the begin, three times for pages in vain, and as a page that redirects lead to.
    assert_eq!(asked("/check"), 5);
    // The pages left out are reported.
    let wall = note(&summary, "pages-behind-wall").expect("there is a note");
    assert_eq!(wall["count"], PAGES - 3);
}

#[test]
fn start_pages_that_need_no_cookies_get_none() {
    /// A page that is another one with a cookie.
    fn any_page(request: &Request) -> Response {
        if cookies(request).is_empty() {
            page(request)
        } else {
            Response::redirect(302, "/de/")
        }
    }
    let with_cookie =
        |target: &str| Response::redirect(302, target).with("Set-Cookie", "lang=en; Path=/");
    let direct = move |request: &Request| match request.target.as_str() {
        "/" => with_cookie("/en/"),
        "/en/" if cookies(request).is_empty() => start_page(),
        "/en/" => Response::html("Welcome back"),
        _ => any_page(request),
    };
    let on_the_way = move |request: &Request| match request.target.as_str() {
        "/" => with_cookie("/welcome"),
        "/welcome" if !cookies(request).is_empty() => Response::redirect(302, "/home"),
        "/home" if cookies(request).is_empty() => start_page(),
        "/home" => Response::html("Welcome back"),
        _ => any_page(request),
    };
    let failing = move |request: &Request| match request.target.as_str() {
        "/" => with_cookie("/home"),
        "/home" if cookies(request).is_empty() => Response::status(503),
        "/home" => start_page(),
        _ => any_page(request),
    };
    let one_try = "limits.max_tries = 1\n";
    for (name, listed, (site, summary)) in [
        ("redirect", PAGES + 1, crawled("", direct)),
        ("two redirects", PAGES + 2, crawled("", on_the_way)),
        ("failing without", PAGES + 1, crawled(one_try, failing)),
    ] {
        assert_eq!(summary["listed"], listed, "{name}: {summary}");
        let needs = note(&summary, "start-needs-cookies");
        assert_eq!(needs, None, "{name}");
        let log = site.log().into_iter();
        let mut pages = log.filter(|seen| seen.target.starts_with("/p"));
        assert!(pages.all(|seen| sent(&seen).is_empty()), "{name}");
    }
}

#[test]
fn pages_with_a_wall_are_reported() {
    let (site, summary) = crawled("", |request| match request.target.as_str() {
        "/" => start_page(),
        target if target.starts_with("/login") => {
            Response::html("<form><input type=password name=p></form>").with("Set-Cookie", "id=1")
        }
        "/p0" => Response::redirect(302, "/p0").with("Set-Cookie", "id=1"),
        "/p1" => Response::status(403).with("Set-Cookie", "id=1"),
        "/p2" => page(request),
        target => Response::redirect(302, &format!("/login?next={target}")),
    });
    assert_eq!(summary["excluded"]["needs-cookie"], 2, "{summary}");
    let wall = note(&summary, "pages-behind-wall").expect("there is a note");
    assert_eq!(
        (&wall["count"], &wall["example"]),
        (&json!(PAGES - 3), &json!(site.url("/login")))
    );
}

/// Pages and documents: each sitemap and each page wants a cookie.
#[test]
fn one_jar_for_the_crawl_on_request() {
    let bench = Bench::with_options(IN_TURN).discovering();
    let settings = bench.settings(SESSION);
    let site = Site::start(|request| {
        let origin = format!("http://{}", request.headers["host"]);
        let wants = |cookie: &str| !cookies(request).contains(cookie);
        match request.target.as_str() {
            "/robots.txt" => Response::text(format!("Sitemap: {origin}/map.xml")),
            "/map.xml" if wants("map=1") => {
                Response::redirect(302, "/map.xml").with("Set-Cookie", "map=1; Path=/map.xml")
            }
            "/map.xml" => Response::text(format!(
                "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{origin}/found</loc></url></urlset>"
            )),
            "/" => start_page(),
            target if target.starts_with("/p") && wants("seen=1") => {
                Response::redirect(302, target).with("Set-Cookie", "seen=1; Path=/")
            }
            _ => page(request),
        }
    });
    let ran = bench.crawl(&site.url("/"), &["--config", &settings]);
    assert_eq!(ran.expect_code(0).summary()["listed"], PAGES + 2);
    let pages = site.pages().into_iter();
    let pages = pages.filter(|target| target.starts_with("/p")).count();
    assert_eq!(pages, PAGES + 1, "the first page is requested twice");
}

#[test]
fn refused_cookies_are_forgotten() {
    let (site, summary) = crawled(SESSION, |request| match request.target.as_str() {
        _ if cookies(request).len() > 2_000 => Response::status(400),
        "/" => start_page(),
        "/p3" => {
            let big = |name: &str| format!("{name}={}; Path=/", "x".repeat(3_000));
            page(request)
                .with("Set-Cookie", &big("a"))
                .with("Set-Cookie", &big("b"))
        }
        _ => page(request),
    });
    assert_eq!(summary["listed"], PAGES + 1);
    let longest = site.log().iter().map(|seen| sent(seen).len()).max();
    assert!(longest.is_some_and(|bytes| (3_000..=4_096).contains(&bytes)));
}

#[test]
fn without_cookies_the_gate_stays_closed() {
    let bench = Bench::new();
    let site = gated("/", usize::MAX);
    let settings = bench.settings("requests.cookies = \"none\"\n");
    let ran = bench.crawl(&site.url("/"), &["--config", &settings]);
    let summary = ran.expect_code(5).summary();
    assert_eq!(summary["notes"][0]["code"], "start-wants-cookies");
    assert_eq!(site.pages(), ["/"]);
}

#[test]
fn action_links_are_not_followed_within_a_session() {
    let site = || {
        Site::start(|request| {
            let origin = format!("http://{}", request.headers["host"]);
            match request.target.as_str() {
                "/robots.txt" => Response::text(format!("Sitemap: {origin}/map.xml")),
                "/map.xml" => Response::text(format!(
                    "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{origin}/docs/delete</loc></url></urlset>"
                )),
                "/" => Response::linking(["/a", "/logout", "/a?action=trash", "/docs/delete"]),
                _ => page(request),
            }
        })
    };
    let actions = ["/logout", "/a?action=trash"];
    let crawl = |options: &[&str], settings: &str| {
        let (site, bench) = (site(), Bench::new().discovering());
        let settings = bench.settings(settings);
        let options = [&["--config", &settings], options].concat();
        let summary = bench
            .crawl(&site.url("/"), &options)
            .expect_code(0)
            .summary();
        let asked = site.pages();
        let is_asked = |path: &&&str| asked.iter().any(|asked| asked == **path);
        (actions.iter().filter(is_asked).count(), summary)
    };
    for (options, settings) in [
        (&["--header", "Cookie: id=1"][..], ""),
        (&["--header", "Authorization: Basic eDp5"], ""),
        (&[], SESSION),
        (&[], "requests.basic_auth = \"x:y\"\n"),
    ] {
        let (asked, summary) = crawl(options, settings);
        assert_eq!(
            (asked, &summary["excluded"]["action-link"]),
            (0, &json!(2)),
            "{settings}"
        );
        // What a sitemap names is requested.
        assert_eq!(summary["listed"], 3, "{summary}");
    }
    for (options, settings) in [
        (&[][..], ""),
        (&["--header", "Accept-Language: de"], ""),
        (
            &["--header", "Cookie: id=1"],
            "scope.follow_actions = true\n",
        ),
    ] {
        let (asked, summary) = crawl(options, settings);
        assert_eq!((asked, &summary["listed"]), (2, &json!(5)), "{settings}");
    }
}

#[test]
fn answer_400_keeps_cookies_of_other_pages() {
    let (site, summary) = crawled("", |request| match request.target.as_str() {
        _ if cookies(request).is_empty() => {
            Response::status(403).with("Set-Cookie", "id=1; Path=/")
        }
        "/" => start_page(),
        "/p2" => Response::status(400),
        _ => page(request),
    });
    assert_eq!(summary["listed"], PAGES, "{summary}");
    let asked = site.log().into_iter().filter(|seen| seen.target == "/p2");
    assert_eq!(
        asked.map(|seen| sent(&seen).to_owned()).collect::<Vec<_>>(),
        ["id=1", ""]
    );
}
