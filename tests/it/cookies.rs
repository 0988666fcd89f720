//! Gates that set a cookie and lead back to themselves.

use crate::support::{
    program::Bench,
    site::{Request, Response, Site},
};

/// The cookies of a request.
fn cookies(request: &Request) -> &str {
    request.headers.get("cookie").map_or("", String::as_str)
}

/// A site that answers only requests with its cookie; `/a` also wants a second one.
fn gated() -> Site {
    Site::start(|request| {
        let target = request.target.as_str();
        let gate = |cookie: &str| Response::redirect(302, target).with("Set-Cookie", cookie);
        match target {
            "/robots.txt" => Response::status(404),
            _ if !cookies(request).contains("seen=1") => gate("seen=1; Path=/; HttpOnly"),
            "/a" if !cookies(request).contains("a=2") => gate("a=2; Path=/a"),
            "/" => Response::linking(["/a", "/b"]),
            "/a" | "/b" => Response::html("<title>a page</title>"),
            _ => Response::status(404),
        }
    })
}

#[test]
fn a_gate_that_sets_a_cookie_lets_the_crawl_in() {
    let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "1"]);
    let site = gated();
    let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
    assert_eq!(summary["listed"], 3);
    assert_eq!(summary["notes"], serde_json::json!([]));
    // Each gate is met once, and no page is asked for more often than twice.
    let mut asked = site.pages();
    asked.sort_unstable();
    assert_eq!(asked, ["/", "/", "/a", "/a", "/b"]);
}

#[test]
fn documents_behind_a_gate_are_read() {
    let bench = Bench::new().discovering();
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
    let summary = bench.crawl(&site.url("/"), &[]).expect_code(0).summary();
    assert_eq!(summary["listed"], 2);
}

#[test]
fn without_cookies_the_gate_stays_closed() {
    let bench = Bench::new();
    let site = gated();
    let settings = bench.settings("requests.cookies = false\n");
    let ran = bench.crawl(&site.url("/"), &["--config", &settings]);
    let summary = ran.expect_code(5).summary();
    assert_eq!(summary["notes"][0]["code"], "start-wants-cookies");
    assert_eq!(site.pages(), ["/"]);
}

#[test]
fn a_header_of_the_settings_replaces_cookies_of_the_site() {
    let bench = Bench::new();
    let site = gated();
    let header = ["--header", "Cookie: seen=1"];
    let summary = bench
        .crawl(&site.url("/"), &header)
        .expect_code(0)
        .summary();
    // The cookie of /a is not stored.
    assert_eq!(summary["listed"], 2);
    assert_eq!(summary["excluded"]["redirect-loop"], 1);
    let seen = site.log().into_iter().filter(|seen| seen.target == "/a");
    assert_eq!(seen.count(), 1);
}
