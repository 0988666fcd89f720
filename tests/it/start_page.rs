//! The start page: fetched whole in each crawl, before it is known which state it belongs to.

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
};

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
        assert_eq!(asked(&site, "/"), [(false, 404)]);
        assert!(state_files(&bench.state()) == before);
    }
}
