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
    program::{Bench, Ran},
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
fn check(harm: impl FnOnce(&Bench), words: &[&str], is_damaged: bool) {
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
    assert_reported(&ran, words);
    assert_eq!(bench.published().differences(&before), [""; 0], "{ran:?}");
    let aside = set_aside(&bench);
    assert_eq!(aside.len(), usize::from(is_damaged), "{aside:?}");
    let told = ran.summary()["damaged_state"].clone();
    let expected = aside
        .first()
        .map(|path| path.to_string_lossy().into_owned());
    assert_eq!(told.as_str().map(str::to_owned), expected);

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

#[track_caller]
fn assert_reported(ran: &Ran, words: &[&str]) {
    for words in words {
        assert!(ran.stderr.contains(words), "{words:?} in {}", ran.stderr);
    }
}

/// Changes a database as arpent never does.
fn meddle(database: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(database).expect("a database");
    connection.execute_batch(sql).expect("SQL");
}

#[test]
fn a_state_with_a_bad_header_is_renamed_and_the_dates_come_from_the_set() {
    let harm = |bench: &Bench| {
        let file = state::file(bench);
        let mut bytes = fs::read(&file).expect("the state");
        bytes[..16].fill(b'x');
        fs::write(file, bytes).expect("the state can be written");
    };
    let words = [
        "is damaged, or is not a state of arpent",
        "arpent renamed it to ",
        "imported the published set: ",
    ];
    check(harm, &words, true);
}

#[test]
fn a_state_with_torn_pages_is_renamed_and_the_dates_come_from_the_set() {
    let harm = |bench: &Bench| {
        let file = state::file(bench);
        let mut bytes = fs::read(&file).expect("the state");
        let half = bytes.len() / 2 / 4_096 * 4_096;
        bytes[half..].fill(0xa5);
        fs::write(file, bytes).expect("the state can be written");
    };
    check(harm, &["is damaged", "arpent renamed it to "], true);
}

#[test]
fn damage_that_is_found_while_the_state_is_read_does_not_end_the_crawl() {
    let check = |sql: &str, words: &str| {
        let harm = |bench: &Bench| meddle(&state::file(bench), sql);
        check(harm, &[words, "arpent renamed it to "], true);
    };
    // Before the first request, during the crawl, and when the set is written.
    check("DROP TABLE link", "no such table: link");
    check(
        "UPDATE page SET status = 'two hundred' WHERE url LIKE '%/9'",
        "name: status",
    );
    check(
        "UPDATE page SET content_hash = 'x' WHERE url LIKE '%/9'",
        "unknown hash",
    );
}

/// The answer to a check of a database.
fn pragma(database: &Path, check: &str) -> String {
    let connection = rusqlite::Connection::open(database).expect("a database");
    let answer = connection.query_row(&format!("PRAGMA {check}(1)"), [], |row| row.get(0));
    answer.unwrap_or_else(|error| error.to_string())
}

/// Two pages that were written to each other's place: each is a good one, and the whole is none.
#[test]
fn a_state_whose_rows_are_out_of_order_is_renamed_when_it_ends_a_crawl() {
    const PAGE: usize = 4_096;
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
    check(harm, &words, true);
}

/// A file that somebody else changed is not evidence.
#[test]
fn dates_are_not_read_from_a_published_file_that_was_changed() {
    let (site, edition) = serve();
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &["--no-gzip"]).expect_code(0);
    edition.store(2, Ordering::SeqCst);
    bench.crawl(&site.url("/"), &["--no-gzip"]).expect_code(0);
    let part = bench.output().join("sitemap.pages.xml");
    let names = bench
        .published()
        .parts()
        .keys()
        .map(|name| (*name).to_owned())
        .collect::<Vec<_>>();
    let [name] = names.as_slice() else {
        panic!("{names:?} and {}", part.display())
    };
    let part = bench.output().join(name);
    let text = fs::read_to_string(&part).expect("the part");
    fs::write(
        &part,
        text.replace("</urlset>", "<!-- by hand --></urlset>"),
    )
    .expect("it can be written");
    fs::remove_dir_all(bench.state()).expect("the state");
    bench.crawl(&site.url("/"), &["--no-gzip"]).expect_code(0);
    assert_eq!(dates(&bench.published(), &site), BTreeMap::new());
}
