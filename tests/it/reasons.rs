//! Reasons that only a second crawl or a rollback can cause: the summary, the report and `why` agree on them, too. The reasons of
//! a first crawl are tested in `verdicts` and `traps`.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crawler::page::Reason;

use crate::support::{
    agreement::{assert_agree, explained_urls},
    program::{Bench, Ran},
    site::{Response, Site},
};

/// A site whose page `/a` is gone, whose page `/b` fails and which has a further page `/d`, when `is_later` is set.
fn site(is_later: &Arc<AtomicBool>) -> Site {
    let is_later = Arc::clone(is_later);
    Site::start(move |request| {
        let is_later = is_later.load(Ordering::SeqCst);
        match request.target.as_str() {
            "/" if is_later => Response::linking(["/a", "/b", "/c", "/d"]),
            "/" => Response::linking(["/a", "/b", "/c"]),
            "/a" if is_later => Response::status(404),
            "/b" if is_later => Response::status(503),
            "/a" | "/b" | "/c" => Response::html(format!("<title>{}</title>", request.target)),
            "/d" if is_later => Response::html("<title>new</title>"),
            _ => Response::status(404),
        }
    })
}

#[test]
fn pages_that_stay_listed_have_their_reason_everywhere() {
    let is_later = Arc::new(AtomicBool::new(false));
    let (bench, site) = (Bench::new(), site(&is_later));
    let url = site.url("/");
    bench.crawl(&url, &[]).expect_code(0);
    is_later.store(true, Ordering::SeqCst);
    let mut command = bench.command(&url, &["--max-pages", "3"]);
    command.env("ARPENT_MAX_TRIES", "1");
    let limited = Ran::of(command).expect_code(3);
    let reasons = assert_agree(&bench, &url, &limited.summary());
    for kept in [Reason::GoneOnce, Reason::Unreachable, Reason::NotReached] {
        assert!(reasons.contains(&kept), "{kept:?}: {reasons:?}");
    }
}

#[test]
fn pages_that_a_rollback_removes_have_their_reason() {
    let is_later = Arc::new(AtomicBool::new(true));
    let (bench, site) = (Bench::new(), site(&is_later));
    let url = site.url("/");
    is_later.store(false, Ordering::SeqCst);
    bench.crawl(&url, &[]).expect_code(0);
    is_later.store(true, Ordering::SeqCst);
    drop(bench.crawl(&url, &[]));
    let mut command = bench.program();
    command.args(["publish", &url, "--rollback"]);
    command.arg("--output").arg(bench.output());
    command.arg("--state").arg(bench.state());
    drop(Ran::of(command).expect_code(0));
    let urls = explained_urls(&bench, &url);
    assert_eq!(urls[&Reason::NotInSet], [site.url("/d")]);
}
