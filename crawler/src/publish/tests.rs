//! Publishing from a store in memory into a temporary folder.

mod clock;
mod crash;
mod foreign;
mod formats;
mod generations;
mod journal;
mod layout;
mod left_out;

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use jiff::{Timestamp, ToSpan as _};
use tempfile::TempDir;

use super::{
    fault::Fault,
    manifest::{Dropped, Manifest},
    *,
};
use crate::{
    config::{GuardConfig, IndexMode, Layout},
    page::{Basis, BodyEnd, BodyKind, ContentHash, Outcome, PageFacts, PageRecord, Reason, Via},
    runs,
    store::{Discovery, Finished, memory::MemoryStore},
    testing::FailingStore,
    url_key::{Identity, UrlKey},
};

struct Bench {
    folder: TempDir,
    store: MemoryStore,
    config: PublishConfig,
    site: Site,
    run: RunId,
    now: Timestamp,
    /// The clock of the host; `None`: as this machine's.
    host_now: Option<Timestamp>,
}

impl Bench {
    fn new(directory: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let start = key(directory);
        let site = Site {
            origin: start.origin(),
            directory: directory.to_owned(),
            start,
            stand_in: None,
        };
        let config = PublishConfig {
            output: folder.path().join("out"),
            guard: GuardConfig::OFF,
            ..PublishConfig::default()
        };
        let now = time("2026-03-02T04:00:11Z");
        Self {
            folder,
            store: MemoryStore::default(),
            config,
            site,
            run: 0,
            now,
            host_now: None,
        }
    }

    /// A new run that found these pages, each with the version of its content.
    fn crawl(&mut self, pages: &BTreeMap<String, u64>) {
        let host = self.host_now.unwrap_or(self.now);
        self.run = runs::open(&mut self.store, "", host).unwrap().number;
        runs::note_clocks(&mut self.store, self.run, self.now, host).unwrap();
        let mut commit = Commit {
            run: self.run,
            ..Commit::default()
        };
        for (number, (path, version)) in pages.iter().enumerate() {
            let sequence = number as u64 + 1;
            let facts = PageFacts {
                status: 200,
                kind: BodyKind::Page,
                end: BodyEnd::Complete,
                body_bytes: 100,
                content_hash: Some(ContentHash(u128::from(*version))),
                // As a page rule has it, so that the tests say when a page changed.
                selected_lastmod: Some(
                    (time("2026-01-01T00:00:00Z") + (i64::try_from(*version).unwrap()).seconds())
                        .to_string(),
                ),
                ..PageFacts::default()
            };
            let discovery = Discovery {
                key: key(path),
                sequence,
                depth: 1,
                hops: 0,
                via: Via::Link,
                found_on: None,
                reason: Reason::Queued,
            };
            let record = PageRecord {
                run: self.run,
                reason: Reason::Listed,
                depth: 1,
                via: Via::Link,
                found_on: None,
                attempts: 1,
                fetched_at: Some(self.now),
                sitemap_lastmod: None,
                outcome: Some(Outcome::Answered(Box::new(facts))),
                basis: Basis::Own,
            };
            commit.discovered.push(discovery);
            commit.finished.push(Finished {
                key: key(path),
                sequence,
                record,
                links: None,
            });
        }
        self.store.commit(&commit).unwrap();
    }

    fn publish(&mut self) -> Result<Published, PublishError> {
        self.publish_as(false, false)
    }

    fn publish_as(&mut self, partial: bool, dry_run: bool) -> Result<Published, PublishError> {
        let request = PublishRequest {
            site: &self.site,
            run: self.run,
            config: &self.config,
            robots: None,
            partial,
            doubted: None,
            dry_run,
            now: self.now,
            is_stopped: &|| false,
        };
        let published = publish(&mut self.store, &request);
        runs::finish(&mut self.store, self.run).unwrap();
        published
    }

    /// Publishes until the new set is in place, but not recorded.
    fn publish_to_a_full_disk(&mut self) {
        let mut failing = FailingStore::new(self.store.snapshot(), 0);
        let request = PublishRequest {
            site: &self.site,
            run: self.run,
            config: &self.config,
            robots: None,
            partial: false,
            doubted: None,
            dry_run: false,
            now: self.now,
            is_stopped: &|| false,
        };
        let published = publish(&mut failing, &request).unwrap();
        assert!(!published.problems.is_empty());
        self.store = failing.into_inner();
    }

    fn wait(&mut self, hours: i64) {
        self.now += hours.hours();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.config.output.join(name)).unwrap()
    }

    /// The visible files by name, with content and modification time.
    fn files(&self) -> BTreeMap<String, (Vec<u8>, std::time::SystemTime)> {
        let mut files = BTreeMap::new();
        collect(&self.config.output, "", &mut files);
        files
    }
}

fn collect(
    folder: &Path,
    prefix: &str,
    files: &mut BTreeMap<String, (Vec<u8>, std::time::SystemTime)>,
) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if name.starts_with('.') {
            continue;
        }
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else {
            let modified = entry.metadata().unwrap().modified().unwrap();
            files.insert(name, (fs::read(entry.path()).unwrap(), modified));
        }
    }
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn key(path: &str) -> UrlKey {
    Identity::default()
        .parse(&format!("https://shop.example{path}"))
        .unwrap()
}

/// A site with a few root pages and two directories that are big enough for files of their own.
fn shop() -> BTreeMap<String, u64> {
    let root = ["/", "/about", "/small/1"].map(str::to_owned);
    let blog = (0..150).map(|number| format!("/blog/{number}"));
    let docs = (0..120).map(|number| format!("/docs/{number}"));
    root.into_iter()
        .chain(blog)
        .chain(docs)
        .map(|path| (path, 1))
        .collect()
}

fn changed(published: &Published) -> Vec<&str> {
    published
        .files
        .iter()
        .filter(|file| file.changed)
        .map(|file| file.name.as_str())
        .collect()
}

#[test]
fn a_first_publish_writes_the_parts_and_their_index() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    let published = bench.publish().unwrap();
    assert_eq!(
        changed(&published),
        [
            "sitemap.xml",
            "sitemap-root.xml.gz",
            "sitemap.blog.xml.gz",
            "sitemap.docs.xml.gz"
        ]
    );
    assert_eq!(published.listed, 273);
    assert_eq!(published.sitemap_urls, ["https://shop.example/sitemap.xml"]);
    let entries: Vec<u64> = published.files.iter().map(|file| file.entries).collect();
    assert_eq!(entries, [3, 3, 150, 120]);
    let index = bench.read("sitemap.xml");
    assert!(
        index.contains("<loc>https://shop.example/sitemap.blog.xml.gz</loc>"),
        "{index}"
    );
    assert_eq!(
        index
            .matches("<lastmod>2026-03-02T04:00:11Z</lastmod>")
            .count(),
        3,
        "{index}"
    );
    let names: Vec<String> = bench.files().into_keys().collect();
    assert_eq!(
        names,
        [
            "sitemap-root.xml.gz",
            "sitemap.blog.xml.gz",
            "sitemap.docs.xml.gz",
            "sitemap.xml"
        ]
    );
}

#[test]
fn nothing_changed_means_nothing_touched() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    let before = bench.files();
    let manifest = bench.read(MANIFEST_COPY);
    bench.wait(24);
    bench.crawl(&shop());
    let published = bench.publish().unwrap();
    assert_eq!(changed(&published), [""; 0]);
    assert_eq!(bench.files(), before);
    assert_eq!(bench.read(MANIFEST_COPY), manifest);
}

#[test]
fn one_changed_page_rewrites_its_part_and_the_index() {
    let mut bench = Bench::new("/");
    let mut pages = shop();
    bench.crawl(&pages);
    bench.publish().unwrap();
    let before = bench.files();
    bench.wait(24);
    pages.insert("/blog/7".into(), 2);
    bench.crawl(&pages);
    let published = bench.publish().unwrap();
    assert_eq!(changed(&published), ["sitemap.xml", "sitemap.blog.xml.gz"]);
    let index = bench.read("sitemap.xml");
    assert_eq!(index.matches("2026-03-02T04:00:11Z").count(), 2, "{index}");
    assert_eq!(index.matches("2026-03-03T04:00:11Z").count(), 1, "{index}");
    let after = bench.files();
    assert_eq!(after["sitemap.docs.xml.gz"], before["sitemap.docs.xml.gz"]);
    let modified = Timestamp::try_from(after["sitemap.blog.xml.gz"].1).unwrap();
    assert_eq!(modified, time("2026-03-03T04:00:11Z"));
}

#[test]
fn a_dropped_part_leaves_the_index_at_once_and_the_disk_after_its_grace() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    let mut pages = shop();
    pages.retain(|path, _| !path.starts_with("/docs/"));
    bench.wait(1);
    bench.crawl(&pages);
    let published = bench.publish().unwrap();
    assert_eq!(published.dropped, ["sitemap.docs.xml.gz"]);
    assert!(!bench.read("sitemap.xml").contains("docs"));
    assert!(bench.files().contains_key("sitemap.docs.xml.gz"));
    bench.wait(23);
    bench.crawl(&pages);
    bench.publish().unwrap();
    assert!(
        bench.files().contains_key("sitemap.docs.xml.gz"),
        "a reader of the old index may still come"
    );
    bench.wait(1);
    bench.crawl(&pages);
    bench.publish().unwrap();
    assert!(!bench.files().contains_key("sitemap.docs.xml.gz"));
}

#[test]
fn a_dropped_part_that_somebody_changed_is_not_removed() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    let mut pages = shop();
    pages.retain(|path, _| !path.starts_with("/docs/"));
    bench.crawl(&pages);
    bench.publish().unwrap();
    fs::write(bench.config.output.join("sitemap.docs.xml.gz"), "mine now").unwrap();
    bench.wait(48);
    bench.crawl(&pages);
    bench.publish().unwrap();
    assert_eq!(bench.read("sitemap.docs.xml.gz"), "mine now");
}

#[test]
fn new_folders_are_synced_up_to_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("out");
    let output = Folder::open(&root, Rights::default()).unwrap();
    let names = ["a/b/sitemap.xml.gz", "a/c/sitemap.xml.gz", "sitemap.xml"];
    let expected = ["a/c", "a/b", "a", ""].map(|path| root.join(path));
    assert_eq!(output.folders_of(names.into_iter()), expected);
}

#[test]
fn what_fails_once_the_new_index_is_in_place_is_a_problem_and_no_error() {
    // Four temporary files, the note (two steps), three parts and the index; then the manifest's copy, the end of the
    // note.
    for (steps, is_published) in [(9, false), (10, true), (12, true)] {
        let mut bench = Bench::new("/");
        bench.crawl(&shop());
        fault::after(steps, Fault::Always);
        let result = bench.publish();
        assert!(fault::end(), "{steps} steps");
        assert_eq!(
            bench.config.output.join("sitemap.xml").exists(),
            is_published
        );
        match result {
            Ok(published) => {
                assert!(is_published, "{steps} steps");
                let [problem] = published.problems.try_into().unwrap();
                assert!(
                    problem.starts_with("failed to change ") && problem.contains(".arpent-"),
                    "{problem}"
                );
                assert!(problem.contains(": no storage space"), "{problem}");
            }
            Err(error) => assert!(!is_published, "{steps} steps: {error}"),
        }
        let published = bench.publish().unwrap();
        assert_eq!(published.problems, [""; 0]);
        assert_eq!(bench.files().len(), 4);
    }
}

#[test]
fn a_dropped_part_that_cannot_be_removed_is_tried_again() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    let mut pages = shop();
    pages.retain(|path, _| !path.starts_with("/docs/"));
    bench.crawl(&pages);
    bench.publish().unwrap();
    bench.wait(25);
    bench.crawl(&pages);
    fault::after(0, Fault::Once);
    let published = bench.publish().unwrap();
    assert!(fault::end());
    assert_eq!(published.problems.len(), 1, "{published:?}");
    assert!(bench.files().contains_key("sitemap.docs.xml.gz"));
    bench.publish().unwrap();
    assert!(!bench.files().contains_key("sitemap.docs.xml.gz"));
}

#[test]
fn a_wish_to_stop_publishes_nothing_until_the_first_file_is_about_to_appear() {
    let mut stops = 0;
    for polls in 0.. {
        let mut bench = Bench::new("/");
        bench.crawl(&shop());
        let asked = std::cell::Cell::new(0);
        let request = PublishRequest {
            site: &bench.site,
            run: bench.run,
            config: &bench.config,
            robots: None,
            partial: false,
            doubted: None,
            dry_run: false,
            now: bench.now,
            is_stopped: &|| asked.replace(asked.get() + 1) == polls,
        };
        match publish(&mut bench.store, &request) {
            Err(PublishError::Stopped) => stops += 1,
            result => {
                assert_eq!(result.unwrap().listed, 273);
                assert_eq!(asked.get(), polls, "all questions were answered with no");
                break;
            }
        }
        assert_eq!(bench.files().len(), 0, "asked {polls} times before");
        assert!(!bench.config.output.join(".arpent-tmp").exists());
        assert_eq!(bench.publish().unwrap().listed, 273);
    }
    assert!(stops >= 6, "asked between files: {stops}");
}

#[test]
fn nothing_to_list_is_refused_and_the_old_set_stands() {
    let mut bench = Bench::new("/");
    bench.crawl(&BTreeMap::new());
    assert!(matches!(bench.publish(), Err(PublishError::Empty)));
    bench.crawl(&shop());
    bench.publish().unwrap();
    let before = bench.files();
    bench.crawl(&BTreeMap::new());
    assert!(matches!(bench.publish(), Err(PublishError::Empty)));
    assert_eq!(bench.files(), before);
}

#[test]
fn a_partial_crawl_may_not_shrink_the_set() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench
        .publish_as(true, false)
        .expect("a first crawl with failures publishes");
    let before = bench.files();
    let mut pages = shop();
    pages.remove("/about");
    bench.crawl(&pages);
    let error = bench.publish_as(true, false).unwrap_err();
    assert!(
        matches!(
            error,
            PublishError::Shrunk {
                before: 273,
                now: 272
            }
        ),
        "{error}"
    );
    assert_eq!(bench.files(), before);
    bench.config.force = true;
    assert_eq!(bench.publish_as(true, false).unwrap().listed, 272);
    bench.config.force = false;
    pages.remove("/small/1");
    bench.crawl(&pages);
    assert_eq!(bench.publish().unwrap().listed, 271, "a complete crawl may");
}

#[test]
fn a_dry_run_tells_what_would_change_and_writes_nothing() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    let published = bench.publish_as(false, true).unwrap();
    assert_eq!(changed(&published).len(), 4);
    assert!(!bench.config.output.exists());
    bench.publish().unwrap();
    let before = bench.files();
    let mut pages = shop();
    pages.insert("/blog/new".into(), 1);
    bench.crawl(&pages);
    let published = bench.publish_as(false, true).unwrap();
    assert_eq!(changed(&published), ["sitemap.xml", "sitemap.blog.xml.gz"]);
    assert_eq!(bench.files(), before);
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    fs::write(bench.folder.path().join("file"), "").unwrap();
    bench.config.output = bench.folder.path().join("file/out");
    let error = bench.publish().unwrap_err();
    assert!(error.to_string().contains("file/out"), "{error}");
}

#[test]
fn whether_an_output_can_be_written_shows_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let names = || fs::read_dir(folder.path()).unwrap().count();
    check_output(folder.path()).unwrap();
    check_output(&folder.path().join("a/b/c")).unwrap();
    assert_eq!(names(), 0);
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    for taken in [file.clone(), file.join("below/it")] {
        let error = check_output(&taken).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("failed to create {}", taken.display())
        );
    }
    assert_eq!(names(), 1);
    assert!(!is_published(folder.path()));
}

#[test]
fn a_publish_that_stops_anywhere_can_be_repeated() {
    for commits in 0..8 {
        let mut bench = Bench::new("/");
        bench.crawl(&shop());
        let mut failing = FailingStore::new(bench.store.snapshot(), commits);
        let request = PublishRequest {
            site: &bench.site,
            run: bench.run,
            config: &bench.config,
            robots: None,
            partial: false,
            doubted: None,
            dry_run: false,
            now: bench.now,
            is_stopped: &|| false,
        };
        let first = publish(&mut failing, &request);
        bench.store = failing.into_inner();
        bench.now += Duration::from_secs(60);
        let published = bench
            .publish()
            .unwrap_or_else(|error| panic!("after {commits} commits: {error}"));
        assert_eq!(published.listed, 273);
        assert_eq!(bench.files().len(), 4, "after {commits} commits: {first:?}");
    }
}
