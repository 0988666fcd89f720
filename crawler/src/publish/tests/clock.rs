//! Publishes of a machine whose clock is not set, or jumps.

use super::*;

/// What the index says of each of its files: its name, and whether there is a date.
fn dated(bench: &Bench) -> BTreeMap<String, bool> {
    let index = fs::read_to_string(bench.config.output.join("sitemap.xml")).unwrap();
    let entries = index.split("<sitemap>").skip(1);
    entries
        .map(|entry| {
            let loc = entry.split_once("<loc>").unwrap().1;
            let name = loc.split_once("</loc>").unwrap().0.rsplit('/').next();
            (name.unwrap().to_owned(), entry.contains("<lastmod>"))
        })
        .collect()
}

fn says_so(published: &Published) -> bool {
    let mut notes = published.notes.iter();
    notes.any(|note| note.text.contains("the clock of this machine says 19"))
}

#[test]
fn a_clock_that_is_not_set_dates_nothing() {
    let mut bench = Bench::new("/");
    bench.now = time("1970-01-02T03:04:05Z");
    bench.crawl(&shop());
    let published = bench.publish().unwrap();
    assert!(says_so(&published), "{:?}", published.notes);
    assert_eq!(published.sources, BTreeMap::new());
    let index = dated(&bench);
    assert!(
        index.len() > 1 && index.values().all(|dated| !dated),
        "{index:?}"
    );

    // When it is set what it should have said is said.
    bench.now = time("2026-03-02T04:00:11Z");
    bench.crawl(&shop());
    let published = bench.publish().unwrap();
    assert_eq!(published.notes, []);
    let count: u64 = published.sources.values().sum();
    assert_eq!(count, published.listed);
    assert!(dated(&bench).values().all(|dated| *dated));
}

#[test]
fn a_clock_that_was_put_back_moves_no_date() {
    let mut bench = Bench::new("/");
    bench.host_now = Some(bench.now);
    bench.crawl(&shop());
    bench.publish().unwrap();
    let before = bench.files();
    let index = dated(&bench);
    for now in [
        "1980-01-01T00:00:00Z",
        "2025-01-01T00:00:00Z",
        "2031-01-01T00:00:00Z",
    ] {
        bench.now = time(now);
        bench.crawl(&shop());
        let published = bench.publish().unwrap();
        assert_eq!(says_so(&published), now.starts_with("19"));
        assert_eq!(changed(&published), [""; 0], "{now}");
        assert!(bench.files() == before, "{now}");
        assert_eq!(dated(&bench), index, "{now}");
    }
}

#[test]
fn a_time_that_is_still_to_come_when_the_clock_is_right_again_is_stated_no_more() {
    let mut bench = Bench::new("/");
    let right = bench.now;
    bench.host_now = Some(right);
    bench.now = time("2031-01-01T00:00:00Z");
    bench.crawl(&shop());
    bench.publish().unwrap();
    let ahead = bench.files();
    assert!(dated(&bench).values().all(|dated| *dated));

    bench.now = right;
    bench.wait(1);
    bench.host_now = Some(bench.now);
    bench.crawl(&shop());
    let published = bench.publish().unwrap();
    let unchanged = |bench: &Bench| {
        let same = bench.files().into_iter();
        same.filter(|(name, file)| ahead.get(name) == Some(file))
            .count()
    };
    assert!(changed(&published).contains(&"sitemap.xml"));
    assert!(
        dated(&bench).values().all(|dated| !dated),
        "{:?}",
        dated(&bench)
    );
    assert!(
        unchanged(&bench) >= dated(&bench).len(),
        "the parts are as they were"
    );

    // What changes now has the time of now, and the others none for ever.
    bench.now = time("2031-06-01T00:00:00Z");
    bench.host_now = Some(bench.now);
    let mut pages = shop();
    *pages.values_mut().next().unwrap() += 1;
    bench.crawl(&pages);
    let published = bench.publish().unwrap();
    let index = dated(&bench);
    let parts = changed(&published);
    assert!(index.values().any(|dated| *dated) && index.values().any(|dated| !dated));
    for (name, dated) in index {
        assert_eq!(dated, parts.contains(&name.as_str()), "{name}");
    }
}

#[test]
fn what_changes_while_the_clock_is_put_back_is_later_than_what_it_replaces() {
    let mut bench = Bench::new("/");
    bench.host_now = Some(bench.now);
    bench.crawl(&shop());
    bench.publish().unwrap();
    let lastmod = |bench: &Bench| {
        let index = fs::read_to_string(bench.config.output.join("sitemap.xml")).unwrap();
        let dates = index.split("<lastmod>").skip(1);
        let dates = dates.map(|rest| rest.split_once("</lastmod>").unwrap().0.to_owned());
        dates.max().unwrap()
    };
    let before = lastmod(&bench);
    for now in ["2025-01-01T00:00:00Z", "1980-01-01T00:00:00Z"] {
        bench.now = time(now);
        let mut pages = shop();
        pages.insert(format!("/blog/new-in-{now}").replace(':', "-"), 1);
        bench.crawl(&pages);
        let published = bench.publish().unwrap();
        assert!(!changed(&published).is_empty());
        assert!(lastmod(&bench) > before, "{now}");
    }
}
