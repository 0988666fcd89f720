//! The changes of a publish, URL by URL; no crash loses or doubles them.

use super::*;
use crate::store::outbox::{NOTIFIES_ENGINES, UrlChange};

/// Paths that wait to be sent, each with its change.
fn waiting(store: &Store) -> Vec<(String, UrlChange)> {
    let outbox = store.outbox(None, usize::MAX, Timestamp::MAX).unwrap();
    outbox
        .waiting
        .into_iter()
        .map(|url| (url.key.path().to_owned(), url.change))
        .collect()
}

fn named(changes: &[(&str, UrlChange)]) -> Vec<(String, UrlChange)> {
    let owned = changes
        .iter()
        .map(|(path, change)| ((*path).to_owned(), *change));
    owned.collect()
}

/// Engines are notified of the site.
pub(super) fn adopt(store: &mut Store) {
    let value = (NOTIFIES_ENGINES.to_owned(), Some("1".to_owned()));
    commit(store, |commit| commit.values = vec![value]);
}

/// A site of three pages, and its next edition.
fn editions() -> [BTreeMap<String, u64>; 2] {
    let pages = |pages: &[(&str, u64)]| {
        let pages = pages
            .iter()
            .map(|(path, version)| ((*path).to_owned(), *version));
        pages.collect()
    };
    [
        pages(&[("/", 1), ("/changes", 1), ("/goes", 1), ("/stays", 1)]),
        pages(&[("/", 1), ("/changes", 2), ("/comes", 1), ("/stays", 1)]),
    ]
}

const NEWS: [(&str, UrlChange); 3] = [
    ("/changes", UrlChange::Changed),
    ("/comes", UrlChange::Added),
    ("/goes", UrlChange::Removed),
];

#[test]
fn journal_reports_changes_after_the_first_publish() {
    let [first, second] = editions();
    let mut bench = Bench::new("/");
    bench.crawl(&first);
    adopt(&mut bench.store);
    let journal = bench.publish().unwrap().journal;
    assert!(journal.is_first);
    assert_eq!((journal.added, journal.news()), (4, 0));
    assert_eq!(waiting(&bench.store), []);
    let journal = bench.edition(1, &second).journal;
    let expected = Journal {
        added: 1,
        changed: 1,
        removed: 1,
        is_first: false,
    };
    assert_eq!(journal, expected);
    assert_eq!(waiting(&bench.store), named(&NEWS));
    assert_eq!(bench.edition(1, &second).journal, Journal::default());
    assert_eq!(waiting(&bench.store), named(&NEWS));
    // Back as it was: the later news count.
    assert_eq!(bench.edition(1, &first).journal.news(), 3);
    let expected = [
        ("/changes", UrlChange::Changed),
        ("/comes", UrlChange::Removed),
        ("/goes", UrlChange::Added),
    ];
    assert_eq!(waiting(&bench.store), named(&expected));
}

#[test]
fn forgotten_rows_leave_unchanged_files() {
    let [first, second] = editions();
    let mut bench = Bench::new("/");
    bench.config.remembers = false;
    let mut stood = Vec::new();
    // Each time with a store that knows nothing.
    for pages in [&first, &first, &second] {
        bench.store = Store::in_memory().unwrap();
        bench.crawl(pages);
        bench.config.force = true;
        let published = bench.publish().unwrap();
        assert_eq!(published.problems, [] as [String; 0]);
        assert_eq!(bench.listed().len(), 0);
        assert_eq!(bench.store.value(MANIFEST).unwrap(), None);
        stood.push(bench.files());
        bench.wait(1);
    }
    assert!(stood[0] == stood[1]);
    assert!(stood[1] != stood[2]);
}

#[test]
fn many_differences_are_found_in_pieces() {
    let numbered = |range: std::ops::Range<u32>, version| -> BTreeMap<String, u64> {
        range
            .map(|number| (format!("/{number:06}"), version))
            .collect()
    };
    let mut bench = Bench::new("/");
    adopt(&mut bench.store);
    bench.edition(0, &numbered(0..10_000, 1));
    bench.wait(1);
    // Longer runs of removed, of changed and of added URLs than are in memory at once.
    let mut pages = numbered(5_000..10_000, 2);
    pages.extend(numbered(10_000..20_000, 1));
    pages.insert("/".to_owned(), 1);
    let journal = bench.edition(0, &pages).journal;
    let counts = (journal.added, journal.changed, journal.removed);
    assert_eq!(counts, (10_001, 5_000, 5_000));
    assert_eq!(bench.store.outbox_len(), 20_001);
    let journal = bench.edition(1, &numbered(0..1, 1)).journal;
    assert_eq!((journal.added, journal.removed), (1, 15_001));
}
