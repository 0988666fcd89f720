//! Publishing from a store in memory into a temporary folder.

mod clock;
mod crash;
mod foreign;
mod formats;
mod generations;
mod import;
mod journal;
mod layout;
mod left_out;
mod promote;

use std::{collections::BTreeMap, fs, ops::ControlFlow, path::Path, sync::Arc};

use jiff::{Timestamp, ToSpan as _};
use tempfile::TempDir;

use super::{
    fault::PublishFault,
    manifest::{Dropped, Manifest},
    *,
};
use crate::{
    clock::SystemClock,
    config::Config,
    config::{GuardConfig, IndexMode, Layout},
    page::{
        Basis, BodyEnd, BodyKind, ContentHash, Outcome, PageFacts, PageRecord, Reason, State, Via,
    },
    scope::Scope,
    store::{Discovery, Finished, Store},
    url_key::{Identity, UrlKey},
};

struct Bench {
    folder: TempDir,
    store: Store,
    config: PublishConfig,
    site: Site,
    judge: Judge,
    is_drained: bool,
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
            store: Store::in_memory().unwrap(),
            config,
            judge: judge_of(&site, &Config::default()),
            site,
            is_drained: true,
            now,
            host_now: None,
        }
    }

    /// A site whose crawl may leave its directory.
    fn wide(directory: &str) -> Self {
        let mut bench = Self::new(directory);
        let mut site = bench.site.clone();
        "/".clone_into(&mut site.directory);
        bench.judge = judge_of(&site, &Config::default());
        bench
    }

    /// A new crawl that found these pages, each with the version of its content, and the others gone.
    fn crawl(&mut self, pages: &BTreeMap<String, u64>) {
        let host = self.host_now.unwrap_or(self.now);
        crawl_state::set_phase(&mut self.store, Phase::Finished).unwrap();
        crawl_state::open(&mut self.store, "", host, false).unwrap();
        crawl_state::note_clocks(&mut self.store, self.now, host).unwrap();
        self.visit(pages);
        let gone = self.store.unvisited(None, usize::MAX / 2).unwrap();
        let gone = gone.into_iter().enumerate().map(|(number, (key, _))| {
            let facts = PageFacts {
                status: 410,
                ..PageFacts::default()
            };
            (key, 1_000_000 + number as u64, facts)
        });
        self.finish(gone.collect());
    }

    /// These pages answer in the crawl under way.
    fn visit(&mut self, pages: &BTreeMap<String, u64>) {
        let mut found = Vec::new();
        for (number, (path, version)) in pages.iter().enumerate() {
            let sequence = number as u64 + 1;
            let facts = PageFacts {
                status: 200,
                kind: BodyKind::Page,
                end: BodyEnd::Complete,
                body_bytes: 100,
                content_hash: Some(ContentHash(u128::from(*version))),
                // As a page rule has it, so that the tests decide when a page changed.
                selected_lastmod: Some(
                    (time("2026-01-01T00:00:00Z") + (i64::try_from(*version).unwrap()).seconds())
                        .to_string(),
                ),
                ..PageFacts::default()
            };
            found.push((key(path), sequence, facts));
        }
        self.finish(found);
    }

    fn finish(&mut self, found: Vec<(UrlKey, u64, PageFacts)>) {
        let mut commit = Commit::default();
        for (key, sequence, facts) in found {
            let outcome = Outcome::Answered(Box::new(facts));
            let reason = self.judge.after_fetch(&key, &outcome).reason;
            commit.discovered.push(Discovery {
                distance: 0,
                key: key.clone(),
                sequence,
                depth: 1,
                hops: 0,
                via: Via::Link,
                found_on: None,
                reason: Reason::Queued,
            });
            let record = PageRecord {
                reason,
                depth: 1,
                via: Via::Link,
                found_on: None,
                attempts: 1,
                fetched_at: Some(self.now),
                sitemap_lastmod: None,
                outcome: Some(outcome),
                basis: Basis::Own,
            };
            commit.finished.push(Finished {
                reading: crate::page::Reading::default(),
                key,
                sequence,
                record,
                links: None,
            });
        }
        self.store.commit(&commit).unwrap();
    }

    fn publish(&mut self) -> Result<Published, PublishError> {
        self.publish_as(false)
    }

    fn publish_as(&mut self, dry_run: bool) -> Result<Published, PublishError> {
        if !dry_run {
            self.settle()?;
        }
        let request = PublishRequest {
            site: &self.site,
            judge: &self.judge,
            mode: Mode::of(&self.store, self.config.force).unwrap(),
            is_drained: self.is_drained,
            config: &self.config,
            robots: None,
            dry_run,
            now: self.now,
            is_stopped: &|| false,
        };
        publish(&mut self.store, &request).result
    }

    fn settle(&mut self) -> Result<Settled, PublishError> {
        let request = PublishRequest {
            site: &self.site,
            judge: &self.judge,
            mode: Mode::AtRest,
            is_drained: false,
            config: &self.config,
            robots: None,
            dry_run: false,
            now: self.now,
            is_stopped: &|| false,
        };
        settle_pending(&mut self.store, &request)
    }

    fn roll_back(&mut self, dry_run: bool) -> Result<Published, PublishError> {
        if !dry_run {
            self.settle()?;
        }
        let request = PublishRequest {
            site: &self.site,
            judge: &self.judge,
            mode: Mode::AtRest,
            is_drained: false,
            config: &self.config,
            robots: None,
            dry_run,
            now: self.now,
            is_stopped: &|| false,
        };
        roll_back(&mut self.store, &request, 1)
    }

    /// The listed page rows, by path.
    fn listed(&self) -> BTreeMap<String, crate::page::Page> {
        let mut listed = BTreeMap::new();
        self.store
            .each(None, &mut |key, page, _| {
                let page = page.filter(|page| page.record.reason.state() == State::Listed);
                listed.extend(page.map(|page| (key.path_and_query().to_owned(), page)));
                ControlFlow::Continue(())
            })
            .unwrap();
        listed
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

fn judge_of(site: &Site, config: &Config) -> Judge {
    let scope = Scope::new(site, &config.scope).unwrap();
    Judge::new(config, scope, Rules::default(), 0, Arc::new(SystemClock))
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
fn unchanged_set_is_not_touched() {
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
fn changed_page_rewrites_its_part_and_the_index() {
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
fn a_wish_to_stop_publishes_nothing_until_the_first_file_is_about_to_appear() {
    let mut stops = 0;
    for polls in 0.. {
        let mut bench = Bench::new("/");
        bench.crawl(&shop());
        let asked = std::cell::Cell::new(0);
        let request = PublishRequest {
            site: &bench.site,
            judge: &bench.judge,
            mode: Mode::Crawl,
            is_drained: true,
            config: &bench.config,
            robots: None,
            dry_run: false,
            now: bench.now,
            is_stopped: &|| asked.replace(asked.get() + 1) == polls,
        };
        match publish(&mut bench.store, &request).result {
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
    assert!(stops >= 5, "asked between files: {stops}");
}

#[test]
fn empty_set_is_refused_and_old_set_stays() {
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
fn a_dry_run_tells_what_would_change_and_writes_nothing() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    let published = bench.publish_as(true).unwrap();
    assert_eq!(changed(&published).len(), 4);
    assert!(!bench.config.output.exists());
    bench.publish().unwrap();
    let before = bench.files();
    let mut pages = shop();
    pages.insert("/blog/new".into(), 1);
    bench.crawl(&pages);
    let published = bench.publish_as(true).unwrap();
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
    let config = PublishConfig::default();
    check_output(folder.path(), &config).unwrap();
    check_output(&folder.path().join("a/b/c"), &config).unwrap();
    assert_eq!(names(), 0);
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    for taken in [file.clone(), file.join("below/it")] {
        let error = check_output(&taken, &config).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("failed to create {}", taken.display())
        );
    }
    assert_eq!(names(), 1);
    assert!(!is_published(folder.path()));
}
