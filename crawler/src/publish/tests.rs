//! Publishing from a store in memory into a temporary folder.

mod crash;
mod formats;

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use jiff::{Timestamp, ToSpan as _};
use tempfile::TempDir;

use super::{
    fault::Fault,
    manifest::{Dropped, Manifest},
    *,
};
use crate::{
    config::{IndexMode, Layout},
    page::{BodyEnd, BodyKind, ContentHash, Outcome, PageFacts, PageRecord, Reason, Via},
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
        }
    }

    /// A new run that found these pages, each with the version of its content.
    fn crawl(&mut self, pages: &BTreeMap<String, u64>) {
        self.run = runs::open(&mut self.store, "", self.now, self.now)
            .unwrap()
            .number;
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
                last_modified: Some(
                    time("2026-01-01T00:00:00Z") + (i64::try_from(*version).unwrap()).seconds(),
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
                outcome: Some(Outcome::Answered(Box::new(facts))),
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
fn a_foreign_file_is_not_touched_unless_forced_and_then_kept() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    fs::create_dir_all(&bench.config.output).unwrap();
    fs::write(bench.config.output.join("sitemap.xml"), "foreign").unwrap();
    let error = bench.publish().unwrap_err();
    assert!(
        matches!(&error, PublishError::Foreign(path) if path.ends_with("sitemap.xml")),
        "{error}"
    );
    assert_eq!(bench.files().len(), 1, "nothing of the new set is visible");
    assert_eq!(bench.read("sitemap.xml"), "foreign");
    bench.config.force = true;
    bench.crawl(&shop());
    bench.publish().unwrap();
    assert_eq!(bench.read("sitemap.xml.bak-20260302T040011Z"), "foreign");
    assert!(bench.read("sitemap.xml").contains("sitemapindex"));
}

#[test]
fn a_file_written_by_hand_into_another_output_is_foreign() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    bench.config.output = bench.folder.path().join("other");
    fs::create_dir_all(&bench.config.output).unwrap();
    fs::write(bench.config.output.join("sitemap.xml"), "by hand").unwrap();
    bench.crawl(&shop());
    assert!(matches!(bench.publish(), Err(PublishError::Foreign(_))));
    assert_eq!(bench.read("sitemap.xml"), "by hand");
    // Nor does what an interrupted publish was about to write elsewhere make it ours.
    bench.config.output = bench.folder.path().join("third");
    fs::create_dir_all(&bench.config.output).unwrap();
    fs::write(bench.config.output.join("sitemap.xml"), "by hand").unwrap();
    let first = bench.folder.path().join("first");
    let out = std::mem::replace(&mut bench.config.output, first);
    bench.publish_to_a_full_disk();
    bench.config.output = out;
    assert!(matches!(bench.publish(), Err(PublishError::Foreign(_))));
    assert_eq!(bench.read("sitemap.xml"), "by hand");
}

#[test]
fn an_output_that_was_moved_is_known_by_its_copy_of_the_manifest() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    let before = bench.files();
    let moved = bench.folder.path().join("moved");
    fs::rename(&bench.config.output, &moved).unwrap();
    bench.config.output = moved;
    bench.wait(1);
    bench.crawl(&shop());
    assert_eq!(changed(&bench.publish().unwrap()), [""; 0]);
    assert_eq!(bench.files(), before);
    bench.wait(1);
    let mut pages = shop();
    pages.insert("/blog/7".into(), 2);
    bench.crawl(&pages);
    let published = bench.publish().unwrap();
    assert_eq!(changed(&published), ["sitemap.xml", "sitemap.blog.xml.gz"]);
    assert_eq!(bench.files().len(), 4, "no backup of what is ours");
}

#[test]
fn a_file_of_ours_that_somebody_replaced_is_kept_and_written_again() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    fs::write(bench.config.output.join("sitemap.xml"), "by hand").unwrap();
    bench.crawl(&shop());
    bench.publish().unwrap();
    assert_eq!(bench.read("sitemap.xml.bak-20260302T040011Z"), "by hand");
    assert!(bench.read("sitemap.xml").contains("sitemapindex"));
}

#[test]
fn files_of_an_interrupted_publish_that_are_not_needed_leave_after_their_grace() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish_to_a_full_disk();
    assert_eq!(bench.files().len(), 4);
    bench.config.gzip = false;
    bench.wait(1);
    bench.publish().unwrap();
    assert_eq!(bench.files().len(), 7, "the old parts have their grace");
    bench.wait(24);
    bench.crawl(&shop());
    bench.publish().unwrap();
    let names: Vec<String> = bench.files().into_keys().collect();
    let plain = [
        "sitemap-root.xml",
        "sitemap.blog.xml",
        "sitemap.docs.xml",
        "sitemap.xml",
    ];
    assert_eq!(names, plain);
}

#[test]
fn a_manifest_that_names_files_outside_of_the_output_is_not_believed() {
    fn check(name: &str, expected: bool) {
        let mut manifest = Manifest::new("site", "/out", time("2026-03-02T04:00:11Z"));
        manifest.dropped.push(Dropped {
            name: name.to_owned(),
            file_sha256: String::new(),
            since: manifest.published,
        });
        let read = Manifest::read(&manifest.to_text(), "site");
        assert_eq!(read.is_some(), expected, "{name}");
    }
    check("sitemap.xml", true);
    check("a:b/c d/sitemap.xml", true);
    check("../sitemap.xml", false);
    check("a/../../b", false);
    check("/etc/passwd", false);
    check("", false);
}

#[test]
fn a_backup_never_takes_the_place_of_another_and_leaves_no_gap() {
    let mut bench = Bench::new("/");
    bench.config.force = true;
    bench.crawl(&shop());
    fs::create_dir_all(&bench.config.output).unwrap();
    let index = bench.config.output.join("sitemap.xml");
    fs::write(&index, "by hand").unwrap();
    // Backed up and noted, then the first part cannot be put in its place.
    fault::after(3, Fault::Always);
    bench.publish().unwrap_err();
    assert!(fault::end());
    assert_eq!(bench.read("sitemap.xml"), "by hand");
    assert_eq!(bench.read("sitemap.xml.bak-20260302T040011Z"), "by hand");
    assert!(!bench.config.output.join(".arpent-tmp").exists());
    fs::remove_file(&index).unwrap();
    fs::write(&index, "by hand again").unwrap();
    bench.publish().unwrap();
    let backup = "sitemap.xml.bak-20260302T040011Z";
    assert_eq!(bench.read(backup), "by hand");
    assert_eq!(bench.read(&format!("{backup}.2")), "by hand again");
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_a_link_is_refused_even_by_force() {
    let mut bench = Bench::new("/");
    bench.config.layout = Layout::InPlace;
    bench.config.force = true;
    bench.crawl(&shop());
    let target = bench.folder.path().join("content");
    fs::create_dir_all(&target).unwrap();
    fs::create_dir_all(&bench.config.output).unwrap();
    let link = bench.config.output.join("blog");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let error = bench.publish().unwrap_err();
    assert!(
        matches!(&error, PublishError::Astray(path) if *path == link),
        "{error}"
    );
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
    assert!(!bench.config.output.join("sitemap.xml").exists());
    fs::remove_file(&link).unwrap();
    bench.publish().unwrap();
    // A part that is dropped and stands behind a link by now is not ours to remove.
    fs::rename(&link, target.join("blog")).unwrap();
    std::os::unix::fs::symlink(target.join("blog"), &link).unwrap();
    let mut pages = shop();
    pages.retain(|path, _| !path.starts_with("/blog/"));
    for hours in [1, 25] {
        bench.wait(hours);
        bench.crawl(&pages);
        bench.publish().unwrap();
    }
    assert!(target.join("blog/sitemap.xml.gz").exists());
}

#[test]
fn new_folders_are_synced_up_to_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("out");
    let output = Folder::open(&root).unwrap();
    let names = ["a/b/sitemap.xml.gz", "a/c/sitemap.xml.gz", "sitemap.xml"];
    let expected = ["a/c", "a/b", "a", ""].map(|path| root.join(path));
    assert_eq!(output.folders_of(names.into_iter()), expected);
}

#[test]
fn what_fails_once_the_new_index_is_in_place_is_a_problem_and_no_error() {
    // The note (two steps), three parts and the index; then the manifest's copy, the end of the note.
    for (steps, is_published) in [(5, false), (6, true), (8, true)] {
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
fn an_output_that_another_run_holds_is_busy() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    let held = Folder::open(&bench.config.output).unwrap();
    assert!(matches!(bench.publish(), Err(PublishError::Busy(_))));
    drop(held);
    bench.publish().unwrap();
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
fn small_sites_may_do_without_an_index() {
    let mut bench = Bench::new("/");
    bench.config.index = IndexMode::Auto;
    bench.crawl(&shop());
    let published = bench.publish().unwrap();
    assert_eq!(published.files.len(), 1);
    assert_eq!(published.sitemap_urls, ["https://shop.example/sitemap.xml"]);
    let xml = bench.read("sitemap.xml");
    assert_eq!(xml.matches("<loc>").count(), 273);
    assert!(xml.contains("<urlset"));
}

#[test]
fn parts_stand_in_the_directories_they_list() {
    let mut bench = Bench::new("/");
    bench.config.layout = Layout::InPlace;
    bench.crawl(&shop());
    let published = bench.publish().unwrap();
    let names: Vec<&str> = published
        .files
        .iter()
        .map(|file| file.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "sitemap.xml",
            "sitemap-root.xml.gz",
            "blog/sitemap.xml.gz",
            "docs/sitemap.xml.gz"
        ]
    );
    assert_eq!(
        published.files[2].url,
        "https://shop.example/blog/sitemap.xml.gz"
    );
}

#[test]
fn an_output_served_from_above_the_scope_keeps_files_in_their_place() {
    let mut bench = Bench::new("/docs/");
    bench.config.layout = Layout::InPlace;
    bench.config.public_url = Some("https://shop.example/".into());
    bench.crawl(
        &(0..150)
            .map(|number| (format!("/docs/api%20v1/{number}"), 1))
            .collect(),
    );
    let published = bench.publish().unwrap();
    assert_eq!(published.files[1].name, "docs/api v1/sitemap.xml.gz");
    assert_eq!(
        published.files[1].url,
        "https://shop.example/docs/api%20v1/sitemap.xml.gz"
    );
}

#[test]
fn a_public_url_that_does_not_cover_the_scope_is_refused() {
    let mut bench = Bench::new("/docs/");
    bench.config.public_url = Some("https://shop.example/blog/".into());
    bench.crawl(&BTreeMap::from([("/docs/a".into(), 1)]));
    let error = bench.publish().unwrap_err();
    assert!(matches!(error, PublishError::Settings(_)), "{error}");
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
fn more_files_than_an_index_may_name_give_several_indexes() {
    let mut bench = Bench::new("/");
    bench.config.index_entries = 2;
    bench.crawl(&shop());
    let published = bench.publish().unwrap();
    assert_eq!(
        published.sitemap_urls,
        [
            "https://shop.example/sitemap.xml",
            "https://shop.example/sitemap-2.xml"
        ]
    );
    let named: usize = ["sitemap.xml", "sitemap-2.xml"]
        .map(|name| bench.read(name).matches("<loc>").count())
        .iter()
        .sum();
    assert_eq!(named, 3);
}

#[test]
fn a_sitemap_does_not_take_the_place_of_a_page() {
    let mut bench = Bench::new("/");
    let mut pages = shop();
    pages.insert("/sitemap.xml".into(), 1);
    bench.crawl(&pages);
    let error = bench.publish().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("https://shop.example/sitemap.xml"),
        "{error}"
    );
    assert_eq!(bench.files().len(), 0);
}

#[test]
fn plain_parts_have_plain_names() {
    let mut bench = Bench::new("/");
    bench.config.gzip = false;
    bench.crawl(&shop());
    bench.publish().unwrap();
    assert_eq!(bench.read("sitemap.blog.xml").matches("<loc>").count(), 150);
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

#[test]
fn a_lost_state_finds_its_files_by_the_copy_of_the_manifest() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    let before = bench.files();
    bench.store = MemoryStore::default();
    bench.wait(24);
    bench.crawl(&shop());
    assert_eq!(changed(&bench.publish().unwrap()), [""; 0]);
    assert_eq!(bench.files(), before);
}

#[test]
fn a_file_that_was_damaged_or_removed_is_written_again() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    let before = bench.files();
    fs::write(bench.config.output.join("sitemap.blog.xml.gz"), "damaged").unwrap();
    fs::remove_file(bench.config.output.join("sitemap.docs.xml.gz")).unwrap();
    bench.wait(24);
    bench.crawl(&shop());
    bench.publish().unwrap();
    for name in ["sitemap.blog.xml.gz", "sitemap.docs.xml.gz"] {
        assert_eq!(bench.files()[name].0, before[name].0);
    }
}

#[cfg(unix)]
#[test]
fn a_link_under_a_final_name_is_replaced_not_followed() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    let target = bench.folder.path().join("precious");
    fs::write(&target, "precious").unwrap();
    let name = bench.config.output.join("sitemap.blog.xml.gz");
    fs::remove_file(&name).unwrap();
    std::os::unix::fs::symlink(&target, &name).unwrap();
    bench.crawl(&shop());
    bench.publish().unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    assert!(fs::symlink_metadata(&name).unwrap().is_file());
}
