//! Kept sets, and the way back to one of them.

use super::*;
use crate::{
    config::{EntryRule, Format},
    store::{
        Commit,
        outbox::{Listing, UrlChange},
    },
};

/// Name of the state's value with the list of sets.
const SETS: &str = "publish.generations";

impl Bench {
    /// A site in `/`, of which copies are kept.
    fn keeping() -> Self {
        let mut bench = Self::new("/");
        bench.config.generations = Some(bench.folder.path().join("kept"));
        bench
    }

    fn kept(&self) -> &Path {
        self.config.generations.as_deref().unwrap()
    }

    /// Crawls and publishes these pages, an hour later.
    fn edition(&mut self, pages: &BTreeMap<String, u64>) -> Published {
        self.wait(1);
        self.crawl(pages);
        self.publish().unwrap()
    }

    /// Goes back by one set, an hour later.
    fn back(&mut self) -> Result<Published, PublishError> {
        self.wait(1);
        self.back_as(false)
    }

    fn back_as(&mut self, dry_run: bool) -> Result<Published, PublishError> {
        let request = PublishRequest {
            site: &self.site,
            run: self.run,
            config: &self.config,
            robots: None,
            partial: false,
            doubted: None,
            dry_run,
            now: self.now,
            is_stopped: &|| false,
        };
        roll_back(&mut self.store, &request, 1)
    }

    /// Changes the list of sets in the state.
    fn edit_list(&mut self, edit: impl FnOnce(String) -> String) {
        let text = self.store.value(SETS).unwrap().unwrap();
        let values = vec![(SETS.to_owned(), Some(edit(text)))];
        let commit = Commit {
            values,
            ..Commit::default()
        };
        self.store.commit(&commit).unwrap();
    }

    /// What is remembered of the published set.
    fn remembered(&self) -> Vec<(String, Listing)> {
        let published = self.store.published(None, usize::MAX).unwrap();
        let listings = published.into_iter();
        listings
            .map(|(key, listing)| (key.path().to_owned(), listing))
            .collect()
    }

    /// Names of the copies.
    fn copies(&self) -> Vec<String> {
        let copies = fs::read_dir(self.kept()).unwrap();
        let copies = copies.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut copies: Vec<String> = copies.collect();
        copies.sort_unstable();
        copies
    }
}

/// Adds `number` pages below `directory`.
fn add(pages: &mut BTreeMap<String, u64>, directory: &str, number: usize) {
    pages.extend((0..number).map(|number| (format!("{directory}{number:05}"), 1)));
}

fn without_notes(list: &str) -> String {
    let mut list = list.to_owned();
    for kind in ["urlset", "news", "text", "feed", "index"] {
        list = list.replace(&format!(r#","content":"{kind}""#), "");
    }
    assert!(!list.contains(r#""content":""#), "{list}");
    list
}

/// Sections lie within each other and within directories, one is called like news, and more URLs come and go than are
/// in memory at once.
fn check_journal(formats: &[Format], edit: impl FnOnce(&str) -> String) {
    let mut bench = Bench::keeping();
    bench.config.formats = formats.iter().copied().collect();
    bench.config.sections = [("*room*", "newsroom"), ("*7*", "sevens")]
        .map(|(pages, name)| EntryRule {
            pages: pages.to_owned(),
            value: name.parse().unwrap(),
        })
        .to_vec();
    let mut first = shop();
    add(&mut first, "/room/", 200);
    add(&mut first, "/a/", 6_000);
    let mut second = first.clone();
    second.retain(|path, _| !path.starts_with("/a/") && path != "/room/00003");
    add(&mut second, "/z/", 5_000);
    second.insert("/about".to_owned(), 2);
    bench.edition(&first);
    let after_first = bench.remembered();
    bench.edition(&second);
    bench.edit_list(|list| edit(&list));

    let published = bench.back().unwrap();
    assert_eq!(published.problems, [""; 0]);
    assert_eq!(published.listed, first.len() as u64);
    let expected = Journal {
        added: 6_001,
        changed: 0,
        removed: 5_000,
        is_first: false,
    };
    assert_eq!(published.journal, expected);
    // Whatever the files say of dates and contents.
    assert_eq!(bench.remembered(), after_first);
    let waiting = bench
        .store
        .outbox(None, usize::MAX, Timestamp::MAX)
        .unwrap();
    let count = |change| waiting.iter().filter(|url| url.change == change).count();
    assert_eq!(
        (count(UrlChange::Added), count(UrlChange::Removed)),
        (6_001, 5_000)
    );
    let rooms = waiting
        .iter()
        .filter(|url| url.key.path().contains("/room"));
    assert_eq!(rooms.count(), 1);
}

#[test]
fn a_rollback_tells_of_urls_that_come_and_go_and_of_no_others() {
    check_journal(&[Format::Xml], str::to_owned);
}

#[test]
fn a_list_that_does_not_say_what_is_in_the_files_is_decided_by_what_is_in_them() {
    check_journal(&[Format::Xml, Format::Text, Format::Rss], without_notes);
    check_journal(&[Format::Text, Format::Atom], without_notes);
}

/// The records that the next run asks by, and what is known of dates, are those of the restored set.
#[test]
fn what_was_known_with_a_set_comes_back_with_it() {
    let mut bench = Bench::keeping();
    let mut pages = shop();
    bench.edition(&pages);
    let known = |bench: &Bench| {
        let mut ledger = Vec::new();
        let mut add = |key: &UrlKey, entry: LedgerEntry| {
            let says = (entry.content_hash, entry.lastmod);
            ledger.push((key.clone(), says));
        };
        bench.store.visit_ledger(&mut add).unwrap();
        let value = |name: &str| bench.store.value(name).unwrap();
        (ledger, bench.remembered(), value(RUN))
    };
    let (first, first_run) = (known(&bench), bench.run);
    // A night that says the same is no further set.
    bench.edition(&pages);
    pages.insert("/blog/7".to_owned(), 2);
    bench.edition(&pages);
    let (second, second_run) = (known(&bench), bench.run);
    pages.insert("/blog/7".to_owned(), 3);
    pages.remove("/blog/8");
    bench.edition(&pages);
    assert_eq!(bench.back().unwrap().problems, [""; 0]);
    assert_eq!(known(&bench), second);
    let seven = key("/blog/7");
    let said = |bench: &Bench| {
        let facts = bench.store.facts_before(&seven).unwrap();
        facts.and_then(|facts| facts.content_hash)
    };
    assert_eq!(said(&bench), Some(ContentHash(2)));
    assert_eq!(bench.back().unwrap().problems, [""; 0]);
    let (ledger, remembered, run) = known(&bench);
    assert_eq!((ledger, remembered), (first.0, first.1));
    assert_eq!(run, Some((first_run + 1).to_string()));
    assert!(second_run > first_run + 1);
    assert_eq!(said(&bench), Some(ContentHash(1)));
    // What was said meanwhile is known still, with its date.
    bench.wait(1);
    pages.insert("/blog/7".to_owned(), 2);
    bench.crawl(&pages);
    let mut dates = Vec::new();
    let visit = &mut |key: &UrlKey, _, known: Option<LedgerEntry>| {
        dates.extend(known.filter(|_| *key == seven));
        std::ops::ControlFlow::Continue(())
    };
    let run = bench.run;
    bench
        .store
        .visit_pages_with_ledger(run, None, visit)
        .unwrap();
    let dates: Vec<_> = dates.into_iter().map(|known| known.lastmod).collect();
    assert_eq!(dates, [Some("2026-01-01T00:00:02Z".to_owned())]);
}

#[test]
fn a_rollback_ends_the_run_that_goes_on() {
    let mut bench = Bench::keeping();
    bench.edition(&shop());
    let mut pages = shop();
    pages.insert("/blog/7".to_owned(), 2);
    bench.edition(&pages);
    let run = runs::open(&mut bench.store, "", bench.now).unwrap();
    assert!(runs::next(&bench.store, "").unwrap().resumed);
    bench.back_as(true).unwrap();
    assert!(runs::next(&bench.store, "").unwrap().resumed);
    bench.back().unwrap();
    let next = runs::next(&bench.store, "").unwrap();
    assert_eq!((next.number, next.resumed), (run.number + 1, false));
}

#[test]
fn a_set_that_a_lost_state_published_comes_back_without_records() {
    let mut bench = Bench::keeping();
    let mut pages = shop();
    bench.edition(&pages);
    let mut fresh = MemoryStore::default();
    carry_over(&bench.store, &mut fresh, bench.now).unwrap();
    (bench.store, bench.run) = (fresh, 0);
    pages.insert("/blog/7".to_owned(), 2);
    bench.edition(&pages);
    assert!(has_records(&bench.store).unwrap());
    bench.back().unwrap();
    assert!(!has_records(&bench.store).unwrap());
    let known = bench.store.facts_before(&key("/blog/7")).unwrap();
    assert_eq!(known, None);
    let ledger = bench.store.ledger(&key("/blog/7")).unwrap().unwrap();
    assert_eq!(ledger.content_hash, 1);
}

#[test]
fn a_set_is_restored_where_it_stands() {
    let check = |edit: &dyn Fn(&mut Bench), expected: Option<&str>| {
        let mut bench = Bench::keeping();
        bench.edition(&shop());
        let mut pages = shop();
        pages.insert("/blog/7".to_owned(), 2);
        bench.edition(&pages);
        edit(&mut bench);
        for dry_run in [true, false] {
            let files = bench.files();
            let list = bench.store.value(SETS).unwrap();
            let result = bench.back_as(dry_run);
            let Some(expected) = expected else {
                assert_eq!(result.unwrap().problems, [""; 0]);
                continue;
            };
            let error = result.unwrap_err();
            assert!(matches!(error, PublishError::Settings(_)), "{error}");
            let error = error.to_string();
            assert!(error.starts_with("rollback: "), "{error}");
            assert!(error.contains(expected), "{expected} in {error}");
            assert_eq!(bench.files(), files);
            assert_eq!(bench.store.value(SETS).unwrap(), list);
        }
    };
    let elsewhere = |bench: &mut Bench| {
        bench.config.output = bench.folder.path().join("other");
    };
    check(&|_| {}, None);
    check(&elsewhere, Some("expected it in the output "));
    let of_another = |bench: &mut Bench| {
        bench.site.directory = "/shop/".to_owned();
    };
    check(
        &of_another,
        Some("the set that stands is of https_shop.example"),
    );
    let with_another_set = |bench: &mut Bench| {
        let mut other = Bench::new("/");
        other.config.output = bench.folder.path().join("other");
        other.crawl(&shop());
        other.publish().unwrap();
        elsewhere(bench);
    };
    check(&with_another_set, Some("expected it in the output "));
    // It moved, with all that is in it.
    let moved = |bench: &mut Bench| {
        let old = bench.config.output.clone();
        elsewhere(bench);
        fs::rename(old, &bench.config.output).unwrap();
    };
    check(&moved, None);
    let nothing = |bench: &mut Bench| {
        bench.store = MemoryStore::default();
    };
    check(&nothing, Some("knows of no published set"));
    let damaged = |bench: &mut Bench| {
        let values = vec![(
            "publish.manifest".to_owned(),
            Some("{\"site\": ".to_owned()),
        )];
        let commit = Commit {
            values,
            ..Commit::default()
        };
        bench.store.commit(&commit).unwrap();
    };
    check(&damaged, Some("knows of the published set is damaged: "));
}

#[test]
fn a_rollback_ends_as_any_publish() {
    let mut bench = Bench::keeping();
    bench.edition(&shop());
    let mut pages = shop();
    pages.insert("/blog/new".to_owned(), 1);
    bench.edition(&pages);
    #[cfg(unix)]
    {
        bench.config.file_mode = Some(0o640);
    }
    let published = bench.back().unwrap();
    assert_eq!(published.problems, [""; 0]);
    assert_eq!(changed(&published), ["sitemap.xml", "sitemap.blog.xml.gz"]);
    #[cfg(unix)]
    for name in bench.files().keys() {
        use std::os::unix::fs::PermissionsExt as _;
        let metadata = fs::metadata(bench.config.output.join(name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o640, "{name}");
    }
    let stands = standing(&bench.store).unwrap().unwrap();
    assert_eq!(stands.sitemaps, ["https://shop.example/sitemap.xml"]);
    assert_eq!(kept_sets(&bench.store).unwrap(), []);
    bench.wait(1);
    bench.crawl(&shop());
    assert_eq!(changed(&bench.publish().unwrap()), [""; 0]);
}

#[test]
fn copies_that_cannot_be_kept_stop_no_record() {
    let mut bench = Bench::keeping();
    bench.edition(&shop());
    let copies = bench.kept().to_owned();
    fs::remove_dir_all(&copies).unwrap();
    fs::write(&copies, "in the way").unwrap();
    let mut pages = shop();
    pages.insert("/blog/new".to_owned(), 1);
    let published = bench.edition(&pages);
    assert_eq!(published.problems.len(), 1, "{:?}", published.problems);
    assert!(
        published.problems[0].contains("kept"),
        "{:?}",
        published.problems
    );
    assert_eq!(published.journal.added, 1);
    assert_eq!(bench.remembered().len(), pages.len());
    assert!(!bench.config.output.join(previous::INTENT).exists());
    // The set that stands is none of those that are kept.
    assert_eq!(kept_sets(&bench.store).unwrap().len(), 1);
    fs::remove_file(&copies).unwrap();
    pages.insert("/blog/newer".to_owned(), 1);
    assert_eq!(bench.edition(&pages).problems, [""; 0]);
    let error = bench.back().unwrap_err().to_string();
    assert!(
        error.contains("the copy of sitemap.blog.xml.gz is missing"),
        "{error}"
    );
    assert_eq!(bench.remembered().len(), pages.len());
}

#[test]
fn what_is_not_a_copy_is_left_alone_and_is_no_problem() {
    let mut bench = Bench::keeping();
    fs::create_dir_all(bench.kept().join("note")).unwrap();
    fs::write(bench.kept().join("README"), "mine").unwrap();
    let mut pages = shop();
    let mut most = 0;
    for version in 1..=6 {
        pages.insert("/blog/7".to_owned(), version);
        assert_eq!(bench.edition(&pages).problems, [""; 0]);
        most = most.max(bench.copies().len());
    }
    // Two parts that never change, three times the other; indexes are written anew.
    assert_eq!(bench.copies().len(), 2 + 5);
    assert_eq!(most, 2 + 5);
    assert_eq!(bench.back().unwrap().problems, [""; 0]);
    assert_eq!(bench.copies().len(), 2 + 4);
    assert!(bench.kept().join("note").is_dir());
    assert_eq!(fs::read(bench.kept().join("README")).unwrap(), b"mine");
}

#[test]
fn a_list_that_cannot_be_read_is_told_and_set_aside_with_its_copies() {
    let mut bench = Bench::keeping();
    let mut pages = shop();
    bench.edition(&pages);
    pages.insert("/blog/7".to_owned(), 2);
    bench.edition(&pages);
    let copies = bench.copies();
    let newer = |list: String| list.replace(r#""version":1"#, r#""version":9"#);
    bench.edit_list(newer);
    let unreadable = bench.store.value(SETS).unwrap();
    let files = bench.files();
    let error = bench.back().unwrap_err().to_string();
    assert!(
        error.starts_with("rollback: the list of the sets"),
        "{error}"
    );
    kept_sets(&bench.store).unwrap_err();
    assert_eq!(bench.files(), files);
    assert_eq!(bench.store.value(SETS).unwrap(), unreadable);

    pages.insert("/blog/7".to_owned(), 3);
    let published = bench.edition(&pages);
    assert_eq!(published.problems, [""; 0]);
    let is_told = |published: &Published| {
        let mut notes = published.notes.iter();
        notes.any(|note| note.text.contains("publish.generations.aside.1"))
    };
    assert!(is_told(&published), "{:?}", published.notes);
    let aside = bench.store.value("publish.generations.aside.1").unwrap();
    assert_eq!(aside, unreadable);
    pages.insert("/blog/7".to_owned(), 4);
    assert!(!is_told(&bench.edition(&pages)));
    let left = bench.copies();
    assert!(copies.iter().all(|copy| left.contains(copy)), "{left:?}");
    assert_eq!(kept_sets(&bench.store).unwrap().len(), 1);
    assert_eq!(bench.back().unwrap().problems, [""; 0]);
    assert_eq!(changed(&bench.edition(&pages)).len(), 2);

    // A fresh state forgets neither.
    let mut fresh = MemoryStore::default();
    carry_over(&bench.store, &mut fresh, bench.now).unwrap();
    assert_eq!(kept_sets(&fresh).unwrap(), kept_sets(&bench.store).unwrap());
    bench.store = fresh;
    pages.insert("/blog/7".to_owned(), 5);
    bench.edition(&pages);
    let left = bench.copies();
    assert!(copies.iter().all(|copy| left.contains(copy)), "{left:?}");
}

#[test]
fn a_set_of_which_a_part_is_missing_is_not_restored() {
    let check = |edit: &dyn Fn(&mut Bench), expected: &str| {
        let mut bench = Bench::keeping();
        bench.edition(&shop());
        let mut pages = shop();
        pages.retain(|path, _| !path.starts_with("/docs/"));
        bench.edition(&pages);
        let files = bench.files();
        edit(&mut bench);
        for dry_run in [true, false] {
            let error = bench.back_as(dry_run).unwrap_err().to_string();
            assert!(error.starts_with("rollback: "), "{error}");
            assert!(error.contains(expected), "{expected} in {error}");
            assert_eq!(bench.files(), files);
            assert_eq!(bench.remembered().len(), pages.len());
        }
    };
    let member = r#""members":["sitemap-root.xml.gz","#;
    let rename = |bench: &mut Bench| {
        bench.edit_list(|list| {
            assert!(list.contains(member), "{list}");
            list.replace(member, r#""members":["sitemap-lost.xml.gz","#)
        });
    };
    check(
        &rename,
        "the index sitemap.xml names sitemap-lost.xml.gz, of which nothing is kept",
    );
    let unnamed = |bench: &mut Bench| {
        bench.edit_list(|list| without_notes(&list).replace("\"members\"", "\"were_members\""));
    };
    check(&unnamed, "is missing beside the state");
}

#[test]
fn entries_that_cannot_be_read_are_an_error_that_names_the_file() {
    let bench = Bench::keeping();
    let folder = Folder::open(&bench.config.output, Rights::default()).unwrap();
    let urlset = |entries: &str| {
        format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>")
    };
    let entry = |loc: &str| format!("<url><loc>{loc}</loc></url>");
    let good = entry("https://shop.example/a");
    let check = |text: &str, is_fine: bool| {
        let name = "sitemap.xml";
        fs::write(folder.path(name), text).unwrap();
        let record = manifest::FileRecord {
            name: name.to_owned(),
            sha256: String::new(),
            file_sha256: String::new(),
            entries: 2,
            bytes: 0,
            lastmod: bench.now,
        };
        let built = file::BuiltFile {
            address: place::Address {
                name: name.to_owned(),
                url: "https://shop.example/sitemap.xml".to_owned(),
            },
            role: files::Role::Entrance,
            kind: files::FileKind::UrlSet,
            members: Vec::new(),
            made: file::Made {
                record,
                changed: true,
                temporary: None,
            },
        };
        let request = PublishRequest {
            site: &bench.site,
            run: 0,
            config: &bench.config,
            robots: None,
            partial: false,
            doubted: None,
            dry_run: false,
            now: bench.now,
            is_stopped: &|| false,
        };
        let mut store = MemoryStore::default();
        match super::super::generations::stage(&mut store, &request, &folder, &[built]) {
            Ok(journal) => assert!(is_fine && journal.added == 2, "{text}"),
            Err(error) => {
                assert!(!is_fine, "{text}: {error}");
                assert!(error.to_string().contains(name), "{error}");
            }
        }
    };
    let second = entry("https://shop.example/b");
    check(&urlset(&format!("{good}{second}")), true);
    check(&urlset(&good), false);
    check(&urlset(&format!("{good}{}", entry("no URL"))), false);
    let whole = urlset(&format!("{good}{second}"));
    check(whole.trim_end_matches("</url></urlset>"), false);
}
