//! Cookies that a site sets: no page is judged by those of another one, and a site that needs them is crawled all the same.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};

use crate::support::{
    program::Bench,
    site::{Request, Response, Seen, Site},
};

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

/// A site that answers only requests with its cookie, and sends others to `gate`; a session lasts for so many pages.
fn gated(gate: &'static str, pages_of_session: usize) -> Site {
    let left = Arc::new(AtomicUsize::new(0));
    Site::start(move |request| {
        let target = request.target.as_str();
        let lead_back =
            || Response::redirect(302, "/").with("Set-Cookie", "id=1; Path=/; HttpOnly");
        if target == "/robots.txt" {
            return Response::status(404);
        }
        if target == gate && gate != "/" {
            left.store(pages_of_session, Ordering::SeqCst);
            return lead_back();
        }
        let one_less = |left: usize| left.checked_sub(1);
        if cookies(request).contains("id=1")
            && left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
                .is_ok()
        {
            return if target == "/" {
                start_page()
            } else {
                page(request)
            };
        }
        match gate {
            "/" => {
                left.store(pages_of_session, Ordering::SeqCst);
                Response::redirect(302, target).with("Set-Cookie", "id=1; Path=/")
            }
            gate => Response::redirect(302, gate),
        }
    })
}

#[test]
fn a_site_whose_start_page_needs_its_cookies_gets_them_with_every_request() {
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
fn a_session_that_ends_is_begun_again_and_a_crawl_goes_on_with_a_new_one() {
    for gate in ["/", "/check"] {
        let bench = Bench::with_options(IN_TURN);
        let site = gated(gate, 5);
        let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
        assert_eq!(summary["listed"], PAGES + 1, "{gate}: {summary}");
        assert_eq!(summary["excluded"], json!({}));
        let set = bench.published().urls();
        // The same in sessions of three pages.
        let bench = Bench::with_options(IN_TURN);
        let site = gated(gate, 5);
        loop {
            let ran = bench.crawl(&site.url("/"), &["--max-pages", "3"]);
            if ran.code == Some(0) {
                break;
            }
            ran.expect_code(3);
        }
        assert_eq!(bench.published().urls().len(), set.len(), "{gate}");
    }
}

#[test]
fn a_session_that_cannot_be_begun_again_is_not_asked_for_more_than_three_times() {
    let bench = Bench::with_options(IN_TURN);
    let is_open = Arc::new(AtomicUsize::new(3));
    let site = Site::start(move |request| {
        let one_less = |left: usize| left.checked_sub(1);
        match request.target.as_str() {
            "/robots.txt" => Response::status(404),
            "/check" => Response::redirect(302, "/").with("Set-Cookie", "id=1"),
            target
                if cookies(request).contains("id=1")
                    && (target == "/"
                        || is_open
                            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
                            .is_ok()) =>
            {
                if target == "/" {
                    start_page()
                } else {
                    page(request)
                }
            }
            _ => Response::redirect(302, "/check"),
        }
    });
    let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
    assert_eq!(summary["listed"], 4, "{summary}");
    let asked = |path: &str| site.log().iter().filter(|seen| seen.target == path).count();
    // At the begin, three times for pages in vain, and as a page that redirects lead to.
    assert_eq!(asked("/check"), 5);
    // What is left out is said.
    let wall = note(&summary, "pages-behind-wall").expect("there is a note");
    assert_eq!(wall["count"], PAGES - 3);
}

#[test]
fn cookies_of_a_page_change_no_other_page() {
    // The first page sets a cookie, with which the other pages would be others.
    let others: [fn(&Request) -> Response; 5] = [
        |request| Response::redirect(302, &format!("/de{}", request.target)),
        |_| Response::html("<link rel=canonical href=/p0><p>Gel\u{f6}scht"),
        |_| Response::status(404),
        |_| Response::html("<meta name=robots content=noindex>"),
        |_| Response::redirect(302, "https://m.example.com/"),
    ];
    for other in others {
        let bench = Bench::with_options(IN_TURN);
        let site = Site::start(move |request| match request.target.as_str() {
            "/robots.txt" => Response::status(404),
            "/" => start_page().with("Set-Cookie", "seen=1"),
            "/p0" => page(request).with("Set-Cookie", "lang=de; Path=/"),
            _ if !cookies(request).is_empty() => other(request),
            _ => page(request),
        });
        let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
        assert_eq!(summary["listed"], PAGES + 1, "{summary}");
        assert!(site.log().iter().all(|seen| sent(seen).is_empty()));
    }
}

#[test]
fn a_start_page_that_redirects_with_a_cookie_is_judged_without_it() {
    let bench = Bench::new();
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::status(404),
        "/" => Response::redirect(302, "/en/").with("Set-Cookie", "lang=en; Path=/"),
        "/en/" if cookies(request).is_empty() => Response::linking(["/en/a", "/en/b"]),
        _ if cookies(request).is_empty() => page(request),
        _ => Response::html("<p>Welcome back"),
    });
    let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
    assert_eq!(summary["listed"], 3, "{summary}");
    assert_eq!(summary["notes"], json!([]));
    let with_cookie = site.log().into_iter().filter(|seen| !sent(seen).is_empty());
    assert_eq!(with_cookie.count(), 1, "the start page, on the way to it");
}

#[test]
fn pages_behind_a_wall_are_said() {
    let bench = Bench::new();
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::status(404),
        "/" => Response::linking((0..PAGES).map(|number| format!("/p{number}"))),
        target if target.starts_with("/login") => {
            Response::html("<form><input type=password name=p></form>").with("Set-Cookie", "id=1")
        }
        "/p0" => Response::redirect(302, "/p0").with("Set-Cookie", "id=1"),
        "/p1" => Response::status(403).with("Set-Cookie", "id=1"),
        "/p2" => page(request),
        target => Response::redirect(302, &format!("/login?next={target}")),
    });
    let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
    assert_eq!(summary["excluded"]["needs-cookie"], 2, "{summary}");
    let wall = note(&summary, "pages-behind-wall").expect("there is a note");
    assert_eq!(
        (&wall["count"], &wall["example"]),
        (&json!(PAGES - 3), &json!(site.url("/login")))
    );
}

#[test]
fn one_jar_for_the_crawl_on_request() {
    let bench = Bench::with_options(IN_TURN);
    let settings = bench.settings("requests.cookies = \"session\"\n");
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::status(404),
        "/" => start_page(),
        target if !cookies(request).contains("seen=1") => {
            Response::redirect(302, target).with("Set-Cookie", "seen=1; Path=/")
        }
        _ => page(request),
    });
    let ran = bench.crawl(&site.url("/"), &["--config", &settings]);
    assert_eq!(ran.expect_code(0).summary()["listed"], PAGES + 1);
    assert_eq!(site.pages().len(), PAGES + 2);
}

#[test]
fn cookies_that_the_server_refuses_are_forgotten() {
    let bench = Bench::with_options(IN_TURN);
    let settings = bench.settings("requests.cookies = \"session\"\n");
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::status(404),
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
    let ran = bench.crawl(&site.url("/"), &["--config", &settings]);
    assert_eq!(ran.expect_code(0).summary()["listed"], PAGES + 1);
    let longest = site.log().iter().map(|seen| sent(seen).len()).max();
    assert!(longest.is_some_and(|bytes| (3_000..=4_096).contains(&bytes)));
}

#[test]
fn documents_behind_a_gate_are_read() {
    let bench = Bench::new().discovering();
    let settings = bench.settings("requests.cookies = \"session\"\n");
    let site = Site::start(|request| {
        let origin = format!("http://{}", request.headers["host"]);
        match request.target.as_str() {
            "/robots.txt" => Response::text(format!("Sitemap: {origin}/map.xml")),
            "/map.xml" if !cookies(request).contains("seen=1") => {
                Response::redirect(302, "/map.xml").with("Set-Cookie", "seen=1; Path=/map.xml")
            }
            "/map.xml" => Response::text(format!(
                "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{origin}/found</loc></url></urlset>"
            )),
            "/" | "/found" => Response::html("<title>a page</title>"),
            _ => Response::status(404),
        }
    });
    let ran = bench.crawl(&site.url("/"), &["--config", &settings]);
    assert_eq!(ran.expect_code(0).summary()["listed"], 2);
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
fn a_header_of_the_settings_replaces_cookies_of_the_site() {
    let bench = Bench::new();
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::status(404),
        _ if !cookies(request).contains("seen=1") => Response::status(403),
        "/" => Response::linking(["/a", "/b"]).with("Set-Cookie", "seen=2"),
        "/a" => Response::redirect(302, "/a").with("Set-Cookie", "a=2"),
        _ => page(request),
    });
    let header = ["--header", "Cookie: seen=1"];
    let summary = bench
        .crawl(&site.url("/"), &header)
        .expect_code(0)
        .summary();
    assert_eq!(summary["listed"], 2);
    assert_eq!(summary["excluded"]["needs-cookie"], 1);
    assert!(site.log().iter().skip(1).all(|seen| sent(seen) == "seen=1"));
}

#[test]
fn with_a_session_of_the_user_no_link_is_followed_that_changes_something() {
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
        let count = actions
            .iter()
            .filter(|path| asked.iter().any(|asked| asked == *path))
            .count();
        (count, summary)
    };
    for (options, settings) in [
        (&["--header", "Cookie: id=1"][..], ""),
        (&["--header", "Authorization: Basic eDp5"], ""),
        (&[], "requests.cookies = \"session\"\n"),
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
    let bench = Bench::with_options(IN_TURN);
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::status(404),
        _ if cookies(request).is_empty() => {
            Response::status(403).with("Set-Cookie", "id=1; Path=/")
        }
        "/" => start_page(),
        "/p2" => Response::status(400),
        _ => page(request),
    });
    let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
    assert_eq!(summary["listed"], PAGES, "{summary}");
    let asked = site.log().into_iter().filter(|seen| seen.target == "/p2");
    assert_eq!(
        asked.map(|seen| sent(&seen).to_owned()).collect::<Vec<_>>(),
        ["id=1", ""]
    );
}

#[test]
fn a_session_that_the_start_page_shows_by_its_redirect_is_begun_again() {
    let bench = Bench::with_options(IN_TURN);
    let left = Arc::new(AtomicUsize::new(0));
    let site = Site::start(move |request| {
        let one_less = |left: usize| left.checked_sub(1);
        match request.target.as_str() {
            "/robots.txt" => Response::status(404),
            "/" => {
                left.store(5, Ordering::SeqCst);
                Response::redirect(302, "/home").with("Set-Cookie", "id=1; Path=/")
            }
            _ if cookies(request).is_empty()
                || left
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
                    .is_err() =>
            {
                Response::redirect(302, "/")
            }
            "/home" => start_page(),
            _ => page(request),
        }
    });
    let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
    assert_eq!(summary["listed"], PAGES + 1, "{summary}");
}

#[test]
fn cookies_on_the_way_do_not_decide() {
    let bench = Bench::with_options(IN_TURN);
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::status(404),
        "/" => Response::redirect(302, "/welcome").with("Set-Cookie", "seen=1; Path=/"),
        "/welcome" if !cookies(request).is_empty() => Response::redirect(302, "/home"),
        "/home" if cookies(request).is_empty() => start_page(),
        "/home" => Response::html("Welcome back"),
        _ => page(request),
    });
    let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
    assert_eq!(summary["listed"], PAGES + 2, "{summary}");
    assert_eq!(summary["notes"], json!([]));
}

#[test]
fn a_start_page_that_fails_without_cookies_needs_none() {
    let bench = Bench::with_options(IN_TURN);
    let settings = bench.settings("limits.max_tries = 1\n");
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::status(404),
        "/" => Response::redirect(302, "/home").with("Set-Cookie", "lang=de; Path=/"),
        "/home" if cookies(request).is_empty() => Response::status(503),
        "/home" => start_page(),
        _ if cookies(request).is_empty() => page(request),
        _ => Response::redirect(302, "/de/"),
    });
    let ran = bench.crawl(&site.url("/"), &["--config", &settings]);
    let summary = ran.expect_code(0).summary();
    assert_eq!(summary["listed"], PAGES + 1, "{summary}");
}
