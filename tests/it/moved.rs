//! Listed pages that redirect in crawls with a limit: they leave when it is known where that leads.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
    state::assert_adds_up,
};

/// Pages besides the start page.
const PAGES: usize = 40;

const OLD: &str = "Sat, 02 Nov 2019 08:49:37 GMT";

/// A site, and whether a wall stands before each of its pages, at an address of its own.
fn serve() -> (Site, Arc<AtomicBool>) {
    let has_wall = Arc::new(AtomicBool::new(false));
    let stands = Arc::clone(&has_wall);
    let site = Site::undated(move |request| {
        let target = request.target.as_str();
        let stands = stands.load(Ordering::SeqCst);
        if target == "/" {
            return Response::linking((0..PAGES).map(|number| format!("/p{number}")));
        }
        let number = |prefix: &str| -> Option<usize> { target.strip_prefix(prefix)?.parse().ok() };
        match (number("/p"), number("/wall/")) {
            (Some(number), _) if stands => Response::redirect(302, &format!("/wall/{number}")),
            (Some(number), _) => Response::html(format!(
                "<!doctype html><title>Page {number}</title><p>Text {}</p>",
                "of its own ".repeat(number + 1)
            ))
            .with("Last-Modified", OLD),
            (None, Some(_)) if stands => Response::html(
                "<!doctype html><title>Sign in</title><form><input type=password></form>",
            ),
            (None, _) => Response::status(404),
        }
    });
    (site, has_wall)
}

fn crawl_on(day: u32, bench: &Bench, site: &Site, options: &[&str]) -> Ran {
    let mut command = bench.command(&site.url("/"), options);
    command.env("ARPENT_CLOCK_AHEAD", format!("{}h", 24 * day));
    Ran::of(command)
}

#[test]
fn where_pages_lead_is_asked_next_so_that_a_wall_shows() {
    let (site, has_wall) = serve();
    let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "1"]);
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = bench.published();
    has_wall.store(true, Ordering::SeqCst);
    let limit = ["--max-pages", "20"];
    let summary = crawl_on(1, &bench, &site, &limit).expect_code(4).summary();
    assert_adds_up(&summary);
    assert_eq!(bench.published().differences(&before), [""; 0]);
}

#[test]
fn a_page_stays_while_it_is_not_known_where_it_leads() {
    let (site, has_wall) = serve();
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = bench.published();
    has_wall.store(true, Ordering::SeqCst);
    // One depth after the other: all pages come before what they lead to.
    let limit = ["--max-pages", "15", "--max-depth", "5"];
    for day in 1..=2 {
        let summary = crawl_on(day, &bench, &site, &limit)
            .expect_code(3)
            .summary();
        assert_adds_up(&summary);
        assert_eq!(summary["listed"], PAGES + 1, "{summary}");
        assert_eq!(summary["kept"]["kept-not-reached"], PAGES, "{summary}");
        assert_eq!(bench.published().differences(&before), [""; 0]);
    }
    // The site is itself again, and so are they.
    has_wall.store(false, Ordering::SeqCst);
    let mut code = 3;
    for day in 3..20 {
        let ran = crawl_on(day, &bench, &site, &limit);
        code = ran.code.unwrap_or(-1);
        assert_adds_up(&ran.summary());
        assert_eq!(bench.published().differences(&before), [""; 0], "day {day}");
        if code == 0 {
            break;
        }
    }
    assert_eq!(code, 0);
}
