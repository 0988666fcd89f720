//! Archived sets, and the restoration of one of them.

use super::*;
use crate::{publish::generations::restorable, store::outbox::UrlChange};

impl Bench {
    /// A site in `/`, of which copies are archived.
    fn archiving() -> Self {
        let mut bench = Self::new("/");
        bench.config.generations = Some(bench.folder.path().join("archive"));
        bench
    }

    fn restorable(&self) -> Vec<u64> {
        let sets = restorable(&self.store).unwrap();
        let sets = sets.iter().rev();
        sets.map(|set| set.manifest.listed).collect()
    }

    fn waiting(&self, change: UrlChange) -> usize {
        let outbox = self.store.outbox(None, 1 << 20, Timestamp::MAX).unwrap();
        outbox
            .waiting
            .iter()
            .filter(|url| url.change == change)
            .count()
    }
}

fn pages(number: u64) -> BTreeMap<String, u64> {
    (0..number).map(|page| (format!("/{page:03}"), 1)).collect()
}

#[test]
fn rollback_restores_files_and_state() {
    let mut bench = Bench::archiving();
    journal::adopt(&mut bench.store);
    let first = shop();
    bench.edition(1, &first);
    let (files, listed) = (bench.files(), bench.listed());
    let mut second = first.clone();
    second.retain(|path, _| !path.starts_with("/docs/"));
    second.insert("/new".to_owned(), 1);
    second.insert("/about".to_owned(), 2);
    bench.edition(1, &second);
    bench.wait(1);
    let published = bench.roll_back(false).unwrap();
    assert_eq!(published.problems, [""; 0]);
    assert_eq!(published.listed, 273);
    for (name, (bytes, _)) in &bench.files() {
        // The index names when its files changed.
        assert!(name == "sitemap.xml" || *bytes == files[name].0, "{name}");
    }
    let now = bench.listed();
    assert!(now.keys().eq(listed.keys()));
    for (path, page) in &now {
        let (dates, before) = (page.dates.as_ref(), listed[path].dates.as_ref());
        let lastmod = |dates: &crate::page::LedgerEntry| dates.lastmod.clone();
        assert_eq!(dates.map(lastmod), before.map(lastmod), "{path}");
        // Of a page that was not in the set before, or with another date, nothing else is known.
        let is_whole = page.record.facts().is_some();
        assert_eq!(
            is_whole,
            path != "/about" && !path.starts_with("/docs/"),
            "{path}"
        );
    }
    let gone = bench.store.page(&key("/new")).unwrap();
    assert_eq!(gone.record.reason, Reason::NotInSet);
    assert_eq!(bench.waiting(UrlChange::Added), 120);
    assert_eq!(bench.waiting(UrlChange::Removed), 1);
    assert_eq!(bench.restorable(), [0; 0]);
    // Nothing is found out at rest, and the next crawl goes on from there.
    assert_eq!(changed(&bench.publish().unwrap()), [""; 0]);
    bench.edition(1, &second);
    assert_eq!(bench.listed().len(), second.len());
}

#[test]
fn last_three_sets_can_be_restored() {
    let mut bench = Bench::archiving();
    // A set that changes nothing is not archived.
    for number in [10, 11, 12, 13, 14, 15, 15, 15] {
        bench.edition(1, &pages(number));
    }
    assert_eq!(bench.restorable(), [14, 13, 12]);
    // Sessions of one crawl.
    bench.is_drained = false;
    bench.edition(1, &pages(16));
    for number in 17..22 {
        bench.wait(1);
        bench.visit(&pages(number));
        bench.publish().unwrap();
    }
    assert_eq!(bench.restorable(), [20, 19, 18, 15]);
    let copies = fs::read_dir(bench.config.generations.as_ref().unwrap()).unwrap();
    assert_eq!(copies.count(), 4, "one file each");
}

#[test]
fn missing_file_is_an_error_and_set_stays() {
    let mut bench = Bench::archiving();
    bench.edition(1, &shop());
    assert!(matches!(
        bench.roll_back(false),
        Err(PublishError::Settings(_))
    ));
    bench.edition(1, &pages(200));
    let (before, listed) = (bench.files(), bench.listed());
    assert_eq!(bench.roll_back(true).unwrap().listed, 273);
    assert!(
        bench.files() == before && bench.listed() == listed,
        "a dry run"
    );
    let archive = bench.config.generations.clone().unwrap();
    for copy in fs::read_dir(&archive).unwrap() {
        fs::write(copy.unwrap().path(), "damaged").unwrap();
    }
    let error = bench.roll_back(false).unwrap_err().to_string();
    assert!(error.contains("is not the copy of"), "{error}");
    fs::remove_dir_all(&archive).unwrap();
    let error = bench.roll_back(true).unwrap_err().to_string();
    assert!(error.contains("is missing beside the state"), "{error}");
    assert_eq!(bench.files(), before);
}

#[test]
fn set_of_another_state_is_no_earlier_one() {
    let mut bench = Bench::archiving();
    bench.edition(1, &pages(10));
    bench.edition(1, &pages(11));
    // Another state publishes to the same folder.
    let mut other = Bench::new("/");
    other.config.output.clone_from(&bench.config.output);
    other.now = bench.now;
    other.wait(1);
    let output = &bench.config.output;
    import_set(&mut other.store, &other.site, output, other.now).unwrap();
    other.crawl(&pages(5));
    other.publish().unwrap();
    bench.now = other.now;
    bench.wait(1);
    assert!(needs_import(&bench.store, &bench.site, &bench.config.output).unwrap());
    import_set(
        &mut bench.store,
        &bench.site,
        &bench.config.output,
        bench.now,
    )
    .unwrap();
    assert_eq!(bench.listed().len(), 5);
    assert_eq!(bench.restorable(), [11, 10]);
    // No copies were made of the set that was replaced.
    let before = bench.files();
    let error = bench.roll_back(false).unwrap_err().to_string();
    assert!(error.contains("is missing beside the state"), "{error}");
    assert_eq!(bench.files(), before);
}
