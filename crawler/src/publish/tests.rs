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

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

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
    page::{ContentHash, Outcome, PageFacts, PageRecord, Reason, State},
    scope::Scope,
    store::{
        Discovery, Store,
        tests::fixture::{
            Commit, answered, commit, empty_answer, finished, queued_at, unfetched, whole_page,
        },
    },
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

    /// A site that is published with the pages of [`shop`].
    fn published() -> Self {
        let mut bench = Self::new("/");
        bench.edition(0, &shop());
        bench
    }

    /// Crawls and publishes these pages, `hours` later.
    fn edition(&mut self, hours: i64, pages: &BTreeMap<String, u64>) -> Published {
        self.wait(hours);
        self.crawl(pages);
        self.publish().unwrap()
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
        let gone = self.store.unvisited();
        let gone = gone
            .into_iter()
            .enumerate()
            .map(|(number, (key, _))| (key, 1_000_000 + number as u64, empty_answer(410)));
        self.finish(gone.collect());
    }

    /// These pages answer in the crawl under way.
    fn visit(&mut self, pages: &BTreeMap<String, u64>) {
        let mut found = Vec::new();
        for (number, (path, version)) in pages.iter().enumerate() {
            let sequence = number as u64 + 1;
            let facts = PageFacts {
                content_hash: Some(ContentHash(u128::from(*version))),
                // As a page rule has it, so that the tests decide when a page changed.
                selected_lastmod: Some(
                    (time("2026-01-01T00:00:00Z") + (i64::try_from(*version).unwrap()).seconds())
                        .to_string(),
                ),
                ..whole_page()
            };
            found.push((key(path), sequence, facts));
        }
        self.finish(found);
    }

    fn finish(&mut self, found: Vec<(UrlKey, u64, PageFacts)>) {
        let mut commit = Commit::default();
        for (key, sequence, facts) in found {
            let mut record = answered(facts);
            let outcome = record.outcome.as_ref().unwrap();
            record.reason = self.judge.after_fetch(&key, outcome).reason;
            record.fetched_at = Some(self.now);
            let found = queued_at(sequence, key);
            commit.finished.push(finished(&found, record));
            commit.discovered.push(found);
        }
        self.store.commit(&commit.effects()).unwrap();
    }

    fn publish(&mut self) -> Result<Published, PublishError> {
        self.publish_as(false)
    }

    fn publish_as(&mut self, dry_run: bool) -> Result<Published, PublishError> {
        if !dry_run {
            self.settle()?;
        }
        let mode = Mode::of(&self.store, self.config.force).unwrap();
        let is_drained = self.is_drained;
        self.request(mode, is_drained, dry_run, |store, request| {
            publish(store, request).result
        })
    }

    fn settle(&mut self) -> Result<Settled, PublishError> {
        self.request(Mode::AtRest, false, false, settle_pending)
    }

    fn roll_back(&mut self, dry_run: bool) -> Result<Published, PublishError> {
        if !dry_run {
            self.settle()?;
        }
        self.request(Mode::AtRest, false, dry_run, |store, request| {
            roll_back(store, request, 1)
        })
    }

    /// Answers a request with the settings of the bench.
    fn request<T>(
        &mut self,
        mode: Mode,
        is_drained: bool,
        dry_run: bool,
        answer: impl FnOnce(&mut Store, &PublishRequest<'_>) -> T,
    ) -> T {
        let request = PublishRequest {
            site: &self.site,
            judge: &self.judge,
            mode,
            is_drained,
            config: &self.config,
            robots: None,
            dry_run,
            now: self.now,
            is_stopped: &|| false,
        };
        answer(&mut self.store, &request)
    }

    /// The listed page rows, by path.
    fn listed(&self) -> BTreeMap<String, crate::page::Page> {
        let rows = self.store.rows_from(None).into_iter();
        rows.filter_map(|(key, page, _)| Some((key.path_and_query().to_owned(), page?)))
            .filter(|(_, page)| page.record.reason.state() == State::Listed)
            .collect()
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
fn changed_page_rewrites_its_part_and_the_index() {
    let mut bench = Bench::new("/");
    let mut pages = shop();
    bench.edition(0, &pages);
    let before = bench.files();
    bench.wait(24);
    pages.insert("/blog/7".into(), 2);
    let published = bench.edition(0, &pages);
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
fn dropped_part_is_removed_after_its_grace() {
    let mut bench = Bench::published();
    let mut pages = shop();
    pages.retain(|path, _| !path.starts_with("/docs/") && !path.starts_with("/blog/"));
    let parts = ["sitemap.blog.xml.gz", "sitemap.docs.xml.gz"];
    let published = bench.edition(1, &pages);
    assert_eq!(published.dropped, parts);
    let index = bench.read("sitemap.xml");
    assert!(!index.contains("docs") && !index.contains("blog"));
    fs::write(bench.config.output.join(parts[0]), "changed by hand").unwrap();
    // A reader of the old index may come until the grace is over.
    for (hours, is_there) in [(23, true), (1, false)] {
        bench.edition(hours, &pages);
        assert_eq!(bench.read(parts[0]), "changed by hand");
        assert_eq!(bench.files().contains_key(parts[1]), is_there, "{hours} h");
    }
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
fn stop_before_the_first_file_publishes_nothing() {
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
    bench.edition(0, &shop());
    let before = bench.files();
    bench.crawl(&BTreeMap::new());
    assert!(matches!(bench.publish(), Err(PublishError::Empty)));
    assert_eq!(bench.files(), before);
}

#[test]
fn dry_run_reports_changes_and_writes_nothing() {
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
fn output_check_leaves_no_trace() {
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
