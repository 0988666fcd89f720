//! A state that is damaged or lost: it is renamed and reported, and the set and its dates stay.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::support::{
    program::Bench,
    published::Published,
    site::{Response, Site},
    state,
};

/// A site whose pages state no dates and change by editions: in the second one page, in the third another.
fn serve() -> (Site, Arc<AtomicUsize>) {
    let edition = Arc::new(AtomicUsize::new(1));
    let current = Arc::clone(&edition);
    let site = Site::start(move |request| {
        let edition = current.load(Ordering::SeqCst);
        let text = match request.target.as_str() {
            "/" => return Response::linking((1..=30).map(|number| format!("/page/{number}"))),
            "/page/7" if edition >= 2 => "It is another one.",
            "/page/8" if edition >= 3 => "This one, too.",
            target if target.starts_with("/page/") => "It is what it was.",
            _ => return Response::status(404),
        };
        let title = &request.target;
        Response::html(format!("<!doctype html><title>{title}</title><p>{text}"))
    });
    (site, edition)
}

/// The dates of the pages that have one, by path.
fn dates(published: &Published, site: &Site) -> BTreeMap<String, String> {
    let dates = published.dates(&site.origin()).into_iter();
    dates
        .filter_map(|(path, lastmod)| Some((path, lastmod?)))
        .collect()
}

/// The damaged states beside the new one, without their logs.
fn set_aside(bench: &Bench) -> Vec<PathBuf> {
    let entries = fs::read_dir(bench.state()).expect("the state's folder");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().contains(".db.corrupt-"))
        .filter(|path| path.to_string_lossy().ends_with('Z'))
        .collect();
    files.sort();
    files
}

/// Two crawls, so that `/page/7` has the date of the second; then something happens to the state, and the site
/// is crawled again without a change, and then with one.
fn check(harm: impl FnOnce(&Bench), words: &[&str]) {
    let (site, edition) = serve();
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    edition.store(2, Ordering::SeqCst);
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let before = bench.published();
    let known = dates(&before, &site);
    assert_eq!(known.keys().collect::<Vec<_>>(), ["/page/7"]);

    harm(&bench);
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(0);
    for words in words {
        assert!(ran.stderr.contains(words), "{words:?} in {}", ran.stderr);
    }
    assert_eq!(bench.published().differences(&before), [""; 0], "{ran:?}");
    let aside = set_aside(&bench);
    let [renamed] = &aside[..] else {
        panic!("{aside:?}");
    };
    let reported = ran.summary()["damaged_state"].clone();
    assert_eq!(reported, *renamed.to_string_lossy());

    let ran = bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert_eq!(ran.summary()["damaged_state"], serde_json::Value::Null);
    assert_eq!(bench.published().differences(&before), [""; 0], "{ran:?}");
    edition.store(3, Ordering::SeqCst);
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let now = dates(&bench.published(), &site);
    assert_eq!(now.keys().collect::<Vec<_>>(), ["/page/7", "/page/8"]);
    assert_eq!(now["/page/7"], known["/page/7"]);
    assert_eq!(set_aside(&bench), aside, "nothing of it is ever deleted");
}

/// The same after a change of the bytes of the state.
fn check_bytes(change: impl FnOnce(&mut Vec<u8>), words: &[&str]) {
    let harm = |bench: &Bench| {
        let file = state::file(bench);
        let mut bytes = fs::read(&file).expect("the state");
        change(&mut bytes);
        fs::write(file, bytes).expect("the state can be written");
    };
    check(harm, words);
}

#[test]
fn a_damaged_state_is_renamed_and_dates_stay() {
    let words = [
        "is damaged, or is not a state of arpent",
        "arpent renamed it to ",
        "imported the published set: ",
    ];
    check_bytes(|bytes| bytes[..16].fill(b'x'), &words);
    let torn = |bytes: &mut Vec<u8>| {
        let half = bytes.len() / 2 / 4_096 * 4_096;
        bytes[half..].fill(0xa5);
    };
    check_bytes(torn, &["is damaged", "arpent renamed it to "]);
}

#[test]
fn damage_found_while_reading_ends_no_crawl() {
    // Before the first request, during the crawl, and when the set is written.
    for (sql, words) in [
        ("DROP TABLE link", "no such table: link"),
        (
            "UPDATE page SET status = 'two hundred' WHERE url LIKE '%/9'",
            "name: status",
        ),
        (
            "UPDATE page SET content_hash = 'x' WHERE url LIKE '%/9'",
            "unknown hash",
        ),
    ] {
        let harm = |bench: &Bench| {
            let connection = rusqlite::Connection::open(state::file(bench));
            let connection = connection.expect("a database");
            connection.execute_batch(sql).expect("SQL");
        };
        check(harm, &[words, "arpent renamed it to "]);
    }
}

/// The answer to a check of a database.
fn pragma(database: &Path, check: &str) -> String {
    let connection = rusqlite::Connection::open(database).expect("a database");
    let answer = connection.query_row(&format!("PRAGMA {check}(1)"), [], |row| row.get(0));
    answer.unwrap_or_else(|error| error.to_string())
}

/// Two pages that were written to each other's place: each is a good one, and the whole is none.
#[test]
fn unsorted_rows_are_found_after_a_crawl() {
    const PAGE: usize = 8_192;
    let harm = |bench: &Bench| {
        let file = state::file(bench);
        let whole = fs::read(&file).expect("the state");
        let pages = whole.len() / PAGE;
        let pairs =
            (1..pages).flat_map(|first| (first + 1..pages).map(move |other| (first, other)));
        let is_unnoticed = |&(first, other): &(usize, usize)| {
            let mut bytes = whole.clone();
            let (left, right) = bytes.split_at_mut(other * PAGE);
            left[first * PAGE..][..PAGE].swap_with_slice(&mut right[..PAGE]);
            fs::write(&file, bytes).expect("the state can be written");
            pragma(&file, "quick_check") == "ok"
                && pragma(&file, "integrity_check").contains("not in PRIMARY KEY order for page")
        };
        assert!(pairs.clone().any(|pair| is_unnoticed(&pair)));
    };
    let words = ["row not in PRIMARY KEY order", "arpent renamed it to "];
    check(harm, &words);
}

/// A file that somebody else changed is not evidence.
#[test]
fn a_changed_published_file_gives_no_dates() {
    let (site, edition) = serve();
    let bench = Bench::new();
    let crawl = || bench.crawl(&site.url("/"), &["--no-gzip"]).expect_code(0);
    crawl();
    edition.store(2, Ordering::SeqCst);
    crawl();
    let published = bench.published();
    let parts = published.parts();
    let part = bench.output().join(parts.keys().next().expect("a part"));
    let text = fs::read_to_string(&part).expect("the part");
    let changed = text.replace("</urlset>", "<!-- by hand --></urlset>");
    fs::write(&part, changed).expect("it can be written");
    fs::remove_dir_all(bench.state()).expect("the state");
    crawl();
    assert_eq!(dates(&bench.published(), &site), BTreeMap::new());
}
