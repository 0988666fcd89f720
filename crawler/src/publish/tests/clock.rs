//! Publishes of a machine whose clock and that of the host are apart, or whose clock jumps.

use super::*;

/// The data of the index on each of its files: its name, and whether there is a date.
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

fn has_clock_note(published: &Published) -> bool {
    let mut notes = published.notes.iter();
    notes.any(|note| note.code == "clocks-apart")
}

#[test]
fn no_date_moves_while_clocks_differ() {
    let mut bench = Bench::new("/");
    let right = bench.now;
    bench.host_now = Some(right);
    assert!(!has_clock_note(&bench.edition(0, &shop())));
    let before = bench.files();
    let index = dated(&bench);
    assert!(index.len() > 1 && index.values().all(|dated| *dated));
    for now in ["1980-01-01T00:00:00Z", "2031-01-01T00:00:00Z"] {
        bench.now = time(now);
        let published = bench.edition(0, &shop());
        assert!(has_clock_note(&published));
        assert_eq!(changed(&published), [""; 0], "{now}");
        assert!(bench.files() == before, "{now}");
    }

    // What changes has no date, neither the page nor its file.
    let mut pages = shop();
    *pages.values_mut().next().unwrap() += 1;
    let published = bench.edition(0, &pages);
    let parts = changed(&published);
    for (name, dated) in dated(&bench) {
        assert_ne!(dated, parts.contains(&name.as_str()), "{name}");
    }
    let dates = |published: &Published| published.sources.values().sum::<u64>();
    assert_eq!(dates(&published), published.listed - 1);

    // It has one when the clocks agree.
    bench.now = right;
    bench.wait(1);
    bench.host_now = Some(bench.now);
    let published = bench.edition(0, &pages);
    assert!(!has_clock_note(&published));
    assert_eq!(dates(&published), published.listed);
    assert!(dated(&bench).values().all(|dated| *dated));
}

#[test]
fn future_date_is_dropped_without_a_host_clock() {
    let mut bench = Bench::new("/");
    let right = bench.now;
    bench.now = time("2031-01-01T00:00:00Z");
    bench.edition(0, &shop());
    let ahead = bench.files();
    assert!(dated(&bench).values().all(|dated| *dated));

    bench.now = right;
    let published = bench.edition(0, &shop());
    assert_eq!(changed(&published), ["sitemap.xml"]);
    assert!(dated(&bench).values().all(|dated| !dated));
    let files = bench.files();
    let same = files
        .iter()
        .filter(|(name, file)| ahead.get(*name) == Some(*file));
    assert!(
        same.count() >= dated(&bench).len(),
        "the parts are as they were"
    );
}
