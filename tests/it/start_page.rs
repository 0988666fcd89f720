//! The start page of further crawls: it is asked whether it changed before it is certain which state it belongs to, and
//! that state is only looked at.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::support::{
    program::Bench,
    site::{Request, Response, Seen, Site},
    state,
};

const PAGES: [&str; 3] = ["/en/", "/en/a", "/en/b"];

/// A page that is what it was when it still has its `ETag`.
fn tagged(request: &Request, page: Response) -> Response {
    let tag = format!("\"{}\"", page.body.len());
    let answer = if request.headers.get("if-none-match") == Some(&tag) {
        Response {
            body: Vec::new(),
            headers: Vec::new(),
            ..Response::status(304)
        }
    } else {
        page
    };
    answer.with("ETag", &tag)
}

/// A site whose root redirects to an entry page with links to two others.
fn serve() -> Site {
    Site::start(|request| match request.target.as_str() {
        "/" => Response::redirect(302, "/en/"),
        "/en/" => tagged(request, Response::linking(["/en/a", "/en/b"])),
        "/en/a" | "/en/b" => tagged(request, Response::linking(["/en/"])),
        _ => Response::status(404),
    })
}

fn is_conditional(seen: &Seen) -> bool {
    seen.headers.contains_key("if-none-match")
}

/// How `target` was asked for since the log was cleared, and answered.
fn asked(site: &Site, target: &str) -> Vec<(bool, u16)> {
    let log = site.log();
    let seen = log.iter().filter(|seen| seen.target == target);
    seen.map(|seen| (is_conditional(seen), seen.status))
        .collect()
}

/// The files of a state, with their bytes.
fn state_files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(listing) = fs::read_dir(folder) else {
        return BTreeMap::new();
    };
    let files = listing.map(|entry| entry.expect("the folder can be read"));
    files
        .map(|file| (file.file_name().into_string().expect("UTF-8"), file.path()))
        // The one in which its last holder stands is none of them.
        .filter(|(name, path)| {
            name.contains(".db") && path.extension().is_none_or(|end| end != "lock")
        })
        .map(|(name, path)| (name, fs::read(path).expect("a file")))
        .collect()
}

#[test]
fn a_start_page_that_redirects_sends_no_body_while_it_is_what_it_was() {
    let site = serve();
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = bench.published();
    assert_eq!(before.urls(), PAGES.map(|path| site.url(path)));
    // Another URL of the same site is asked in the same way.
    for start in ["/", "/en/a"] {
        let nights = [0, 1].map(|_| {
            site.clear_log();
            let ran = bench.crawl(&site.url(start), &["--scope", "origin"]);
            assert_eq!(ran.expect_code(0).summary()["outcome"], "unchanged");
            assert_eq!(bench.published().differences(&before), [""; 0]);
            let landed = if start == "/" { "/en/" } else { start };
            (asked(&site, "/"), asked(&site, landed))
        });
        for (root, landed) in &nights {
            assert!(matches!(landed[..], [(true, 304) | (false, 200)]));
            assert!(root.iter().all(|asked| *asked == (false, 302)));
        }
        // At most one of two nights is its turn to be asked for as a whole.
        assert!(nights.iter().any(|(_, landed)| *landed == [(true, 304)]));
    }
    site.clear_log();
    bench.crawl(&site.url("/"), &["--fresh"]).expect_code(0);
    assert_eq!(
        site.log()
            .iter()
            .filter(|seen| is_conditional(seen))
            .count(),
        0
    );
}

#[test]
fn a_look_into_a_state_leaves_nothing_behind() {
    let is_down = Arc::new(AtomicBool::new(true));
    let down = Arc::clone(&is_down);
    let site = Site::start(move |request| match request.target.as_str() {
        "/" if down.load(Ordering::SeqCst) => Response::status(404),
        "/" => tagged(request, Response::linking(["/a"])),
        "/a" => tagged(request, Response::linking(["/"])),
        _ => Response::status(404),
    });
    let bench = Bench::new();
    // There is no state, and there will be none.
    bench.crawl(&site.url("/"), &[]).expect_code(5);
    assert_eq!(state_files(&bench.state()), BTreeMap::new());
    is_down.store(false, Ordering::SeqCst);
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = state_files(&bench.state());
    assert_eq!(before.len(), 1, "{:?}", before.keys());
    is_down.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        site.clear_log();
        bench.crawl(&site.url("/"), &[]).expect_code(5);
        // An error to a conditional request decides nothing.
        let asked = asked(&site, "/");
        assert!(
            matches!(asked[..], [(false, 404)] | [(true, 404), (false, 404)]),
            "{asked:?}"
        );
        assert!(state_files(&bench.state()) == before);
    }
}

#[test]
fn a_304_of_the_start_page_counts_for_nothing_in_a_state_that_is_damaged() {
    let site = Site::start(|request| match request.target.as_str() {
        "/" => {
            let links = (0..300).map(|number| format!("/page/{number}"));
            tagged(request, Response::linking(links))
        }
        target if target.starts_with("/page/") => tagged(request, Response::linking(["/"])),
        _ => Response::status(404),
    });
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = bench.published();
    // The start page can still be read: what is wrong stands in the rows of other pages.
    let file = state::file(&bench);
    let mut bytes = fs::read(&file).expect("the state");
    let last = b"/page/299";
    let places = (0..bytes.len() - last.len()).filter(|at| bytes[*at..].starts_with(last));
    for place in places.collect::<Vec<_>>() {
        let begin = place / 4_096 * 4_096;
        bytes[begin..begin + 8].fill(0xff);
    }
    fs::write(&file, bytes).expect("the state can be written");
    site.clear_log();
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert!(ran.summary()["damaged_state"].is_string(), "{ran:?}");
    assert_eq!(ran.summary()["not_modified"], 0);
    assert_eq!(asked(&site, "/").last(), Some(&(false, 200)));
    assert_eq!(bench.published().differences(&before), [""; 0]);
}

#[test]
fn a_start_page_that_fails_by_being_asked_whether_it_changed_is_asked_for_as_a_whole() {
    for status in [404, 410, 403, 412, 204, 301] {
        let site = Site::start(move |request| match request.target.as_str() {
            // With 301 it leads to itself.
            "/" if request.headers.contains_key("if-none-match") => Response::redirect(status, "/"),
            "/" => tagged(request, Response::linking(["/a", "/b"])),
            "/a" | "/b" => tagged(request, Response::linking(["/"])),
            _ => Response::status(404),
        });
        let bench = Bench::new();
        bench.crawl(&site.url("/"), &[]).expect_code(0);
        let before = bench.published();
        let mut is_asked = false;
        for _ in 0..2 {
            site.clear_log();
            let ran = bench.crawl(&site.url("/"), &[]).expect_code(0);
            assert_eq!(ran.summary()["outcome"], "unchanged", "{status}");
            assert_eq!(bench.published().differences(&before), [""; 0]);
            let asked = asked(&site, "/");
            assert_eq!(asked.last(), Some(&(false, 200)), "{status}");
            is_asked |= asked.first() == Some(&(true, status));
        }
        assert!(is_asked, "{status}");
    }
}

/// What a crawl decides that is refused, or only tried out, is no answer to go on from: the next one asks for the start
/// page with what was known before it.
#[test]
fn after_a_crawl_that_does_not_count_the_start_page_is_asked_with_what_counts() {
    let is_other = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&is_other);
    let site = Site::start(move |request| match request.target.as_str() {
        "/" if other.load(Ordering::SeqCst) => {
            tagged(request, Response::linking((0..2).map(|_| "/p/0")))
        }
        "/" => tagged(
            request,
            Response::linking((0..30).map(|page| format!("/p/{page}"))),
        ),
        target if target.starts_with("/p/") => tagged(request, Response::linking(["/", target])),
        _ => Response::status(404),
    });
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = bench.published();
    let ask = |options: &[&str], code: i32| {
        site.clear_log();
        bench.crawl(&site.url("/"), options).expect_code(code);
        asked(&site, "/")
    };
    let changed = [(true, 200)];
    let tested = [(true, 200), (true, 200)];
    // One of the sample, that changed.
    let sampled = [(false, 200), (true, 200)];
    let unchanged = [(true, 304)];
    let as_whole = [(false, 200)];
    let check = |asked: &[(bool, u16)], is_other: bool| {
        let expected: &[&[(bool, u16)]] = if is_other {
            &[&changed, &tested, &sampled, &as_whole]
        } else {
            &[&unchanged, &as_whole]
        };
        assert!(expected.contains(&asked), "{asked:?}");
    };
    let mut conditional = 0;
    for _ in 0..3 {
        is_other.store(true, Ordering::SeqCst);
        for options in [&["--dry-run"][..], &["--dry-run", "--max-pages", "2"]] {
            let code = if options.len() > 1 { 3 } else { 0 };
            check(&ask(options, code), true);
        }
        is_other.store(false, Ordering::SeqCst);
        let asked = ask(&[], 0);
        check(&asked, false);
        conditional += usize::from(asked[0].0);
        assert_eq!(bench.published().differences(&before), [""; 0]);
    }
    assert!(conditional > 1);
}
