//! `arpent publish`: a set from the state, and the restoration of an earlier set.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::support::{
    program::{Bench, Ran},
    published::Published,
    site::{Response, Site},
    state::number,
};

/// Pages of each of the three sections, each of which gets a file of its own.
const PAGES: usize = 15;

/// The edition that has the first section only.
const HALF_GONE: usize = 100;

/// The edition in which every page but the first has the same text.
const NOTHING_HERE: usize = 101;

/// The edition in which every page but the first, which links to all of them, is gone.
const GONE: usize = 102;

/// A site whose edition the test sets.
struct World {
    bench: Bench,
    site: Site,
    edition: Arc<AtomicUsize>,
    settings: String,
    /// Commands so far: each is run a minute later than the one before.
    commands: AtomicUsize,
}

impl World {
    fn new() -> Self {
        let bench = Bench::new();
        let edition = Arc::new(AtomicUsize::new(1));
        let now = Arc::clone(&edition);
        let site = Site::undated(move |request| page(&request.target, now.load(Ordering::SeqCst)));
        let settings = bench.settings("output.min_section = 5\nlimits.max_tries = 1\n");
        Self {
            bench,
            site,
            edition,
            settings,
            commands: AtomicUsize::new(0),
        }
    }

    /// The time by which the clock of the next command is ahead.
    fn ahead(&self) -> String {
        format!("{}m", self.commands.fetch_add(1, Ordering::SeqCst))
    }

    fn is(&self, edition: usize) {
        self.edition.store(edition, Ordering::SeqCst);
    }

    fn crawl(&self, options: &[&str]) -> Ran {
        let options = [&["--config", self.settings.as_str()], options].concat();
        self.bench
            .crawl_ahead(&self.ahead(), &self.site.url("/"), &options)
    }

    /// Publishes this edition.
    fn publish_edition(&self, edition: usize) -> Published {
        self.is(edition);
        self.crawl(&[]).expect_code(0);
        self.bench.published()
    }

    fn command(&self, options: &[&str]) -> Command {
        self.command_to(&self.bench.output(), options)
    }

    /// The same with another output.
    fn command_to(&self, output: &Path, options: &[&str]) -> Command {
        let mut command = self.bench.program();
        command
            .env("ARPENT_CLOCK_AHEAD", self.ahead())
            .args(["publish", &self.site.url("/"), "--json"])
            .args(["--config", &self.settings])
            .arg("--output")
            .arg(output)
            .arg("--state")
            .arg(self.bench.state())
            .args(options);
        command
    }

    /// `arpent publish` with these options.
    fn publish(&self, options: &[&str]) -> Ran {
        self.site.clear_log();
        let ran = Ran::of(self.command(options));
        assert_eq!(self.site.pages(), [] as [String; 0], "nothing is asked for");
        ran
    }

    #[track_caller]
    fn assert_unchanged(&self, before: &Published) {
        let changed = self.bench.published().differences(before);
        assert_eq!(changed, [] as [String; 0]);
    }

    /// The folder of the copies.
    fn copies_folder(&self) -> PathBuf {
        let folders = fs::read_dir(self.bench.state()).expect("there is a state");
        let mut folders = folders
            .map(|entry| entry.expect("the folder can be read").path())
            .filter(|path| path.is_dir());
        let folder = folders.next().expect("there are copies");
        assert!(folder.to_string_lossy().ends_with(".generations"));
        folder
    }
}

/// In each edition a page of the second section changes, and the third section loses one.
fn page(target: &str, edition: usize) -> Response {
    let edition = match (edition, target) {
        (NOTHING_HERE | GONE, "/") => 1,
        (NOTHING_HERE, _) => {
            return Response::html("<title>Nothing here</title>There is nothing here.");
        }
        (GONE, _) => return Response::status(410),
        (edition, _) => edition,
    };
    let all = (0..3).flat_map(|section| (0..PAGES).map(move |number| (section, number)));
    let path = |section: usize, number: usize| format!("/s{section}/p{number}");
    let mut left = all.filter(|&(section, number)| match section {
        0 => true,
        1 => edition < HALF_GONE,
        _ => number >= edition && edition < HALF_GONE,
    });
    if target == "/" {
        let links =
            left.map(|(section, number)| format!("<a href={}>x</a>", path(section, number)));
        return Response::html(links.collect::<Vec<_>>().concat());
    }
    match left.find(|&(section, number)| path(section, number) == target) {
        Some((1, 3)) => Response::html(format!("<title>x</title>edition number {edition} of it")),
        Some(_) => Response::html(format!("<title>{target}</title>text of {target}")),
        None => Response::status(410),
    }
}

/// The content of each part.
fn parts(published: &Published) -> BTreeMap<String, Vec<u8>> {
    let parts = published.parts().into_iter();
    parts
        .map(|(name, file)| (name.to_owned(), file.raw.clone()))
        .collect()
}

/// Fails unless every file that the index names is there, with a time in the index that is not later than that of the file.
#[track_caller]
fn assert_whole(published: &Published) {
    let index = &published.files["sitemap.xml"];
    assert!(index.is_index);
    for (loc, lastmod) in &index.entries {
        let name = loc.rsplit('/').next().expect("a name");
        let file = published.files.get(name);
        let file = file.unwrap_or_else(|| panic!("the index names {name}, which is not there"));
        assert!(!file.entries.is_empty(), "{name}");
        let stated: jiff::Timestamp = lastmod
            .as_deref()
            .and_then(|text| text.parse().ok())
            .expect("a time");
        let modified = jiff::Timestamp::try_from(file.modified).expect("a time");
        assert!(stated <= modified, "{name}: {stated} > {modified}");
    }
}

#[test]
fn a_rollback_restores_the_set_before() {
    let world = World::new();
    let first = world.publish_edition(1);
    let second = world.publish_edition(2);
    let shown = world.publish(&["--rollback", "--dry-run"]).expect_code(0);
    assert_eq!(shown.summary()["outcome"], "dry-run");
    world.assert_unchanged(&second);

    let summary = world.publish(&["--rollback"]).expect_code(0).summary();
    assert_eq!(
        (&summary["outcome"], number(&summary, "listed")),
        (&"published".into(), 45)
    );
    let changed = summary["files"].as_array().expect("files").iter();
    let changed = changed.filter(|file| file["changed"] == true).count();
    assert_eq!(changed, 4, "the index, and all parts but one: {summary}");
    let restored = world.bench.published();
    assert_eq!(parts(&restored), parts(&first));
    assert_whole(&restored);
    // For readers the files are new, and the index has the new time.
    let dates = |published: &Published| published.files["sitemap.xml"].entries.clone();
    let same = dates(&restored);
    let same = same.iter().filter(|entry| dates(&second).contains(entry));
    assert_eq!(same.count(), 1);

    // The guard compares with what was restored, and the crawl publishes what it finds.
    let again = world.publish_edition(2);
    assert_eq!(again.urls(), second.urls());
    assert_whole(&again);
    // Only the first set is left to be restored.
    world.publish(&["--rollback"]).expect_code(0);
    assert_eq!(parts(&world.bench.published()), parts(&first));
    let ran = world.publish(&["--rollback"]).expect_code(2);
    assert!(
        ran.stderr
            .contains("rollback: there is nothing to restore: no earlier set is archived"),
        "{}",
        ran.stderr
    );
    assert_eq!(parts(&world.bench.published()), parts(&first));
}

#[test]
fn unchanged_pages_keep_their_dates_over_a_rollback() {
    let world = World::new();
    world.publish_edition(1);
    let second = world.publish_edition(2);
    for forced in [NOTHING_HERE, GONE, HALF_GONE] {
        world.is(forced);
        world.crawl(&["--force"]).expect_code(0);
        assert_ne!(parts(&world.bench.published()), parts(&second));
        world.publish(&["--rollback"]).expect_code(0);
        // One page differs from the one that was published first.
        let again = world.publish_edition(2);
        assert_eq!(parts(&again), parts(&second), "after {forced}");
    }
    world.is(NOTHING_HERE);
    world.crawl(&["--force"]).expect_code(0);
    // Back to before this edition as well: a crawl has seen its change, so the change keeps its date.
    world.publish(&["--rollback=2"]).expect_code(0);
    assert_ne!(parts(&world.bench.published()), parts(&second));
    let again = world.publish_edition(2);
    assert_eq!(again.urls(), second.urls());
    // Later changes have the date of the crawl that saw them.
    let third = world.publish_edition(3);
    let (old, new) = (again.entries(), third.entries());
    let moved: Vec<_> = new
        .iter()
        .filter(|(url, date)| old.get(*url) != Some(date))
        .collect();
    // The start page links to one page less.
    assert_eq!(moved.len(), 2, "{moved:?}");
    assert!(
        moved.iter().all(|(url, date)| **date > old[*url]),
        "{moved:?}"
    );
}

#[test]
fn a_continued_crawl_does_not_undo_a_rollback() {
    let world = World::new();
    let whole = world.publish_edition(1);
    world.is(GONE);
    let limit = ["--max-pages", "12"];
    world
        .crawl(&[&limit[..], &["--force"]].concat())
        .expect_code(3);
    let fewer = world.bench.published().entries().len();
    assert!(fewer < whole.entries().len() - 5, "{fewer}");
    world.publish(&["--rollback"]).expect_code(0);
    assert_eq!(parts(&world.bench.published()), parts(&whole));
    world.is(1);
    for night in 1..=5 {
        let summary = world.crawl(&limit).summary();
        assert_eq!(summary["failed"], 0, "{summary}");
        assert_eq!(
            parts(&world.bench.published()),
            parts(&whole),
            "night {night}"
        );
    }
}

#[test]
fn a_rollback_of_another_set_is_an_error() {
    let world = World::new();
    world.publish_edition(1);
    let second = world.publish_edition(2);
    let other = world.bench.path().join("other");
    let check = |output: &Path, options: &[&str], expected: &str| {
        for dry_run in [&["--dry-run"][..], &[]] {
            let options = [&["--rollback"], options, dry_run].concat();
            let ran = Ran::of(world.command_to(output, &options)).expect_code(2);
            assert!(ran.stderr.contains(expected), "{}", ran.stderr);
            assert_eq!(ran.summary()["outcome"], "settings");
            world.assert_unchanged(&second);
            assert!(!other.exists());
        }
    };
    check(&other, &[], "expected it in the output");
    let original = ["--publish-as", "https://www.example.com/"];
    check(
        &world.bench.output(),
        &original,
        "the published set is of http_127.0.0.1",
    );
    // The set is found in the folder that it was moved to.
    fs::rename(world.bench.output(), &other).expect("it can be moved");
    Ran::of(world.command_to(&other, &["--rollback"])).expect_code(0);
    assert!(!world.bench.output().exists());
}

#[test]
fn the_state_is_published_under_the_current_settings() {
    let world = World::new();
    let ran = world.publish(&[]).expect_code(2);
    assert!(
        ran.stderr.contains("there is no state of the site"),
        "{}",
        ran.stderr
    );
    let whole = world.publish_edition(1);
    let summary = world.publish(&[]).expect_code(0).summary();
    assert_eq!(summary["outcome"], "unchanged");
    world.assert_unchanged(&whole);

    let exclude = ["--exclude", "/s0/p1*"];
    let shown = world.publish(&[&exclude[..], &["--dry-run"]].concat());
    let summary = shown.expect_code(0).summary();
    assert_eq!(number(&summary, "listed"), 39);
    world.assert_unchanged(&whole);
    let summary = world.publish(&exclude).expect_code(0).summary();
    assert_eq!(summary["excluded"]["excluded-by-rule"], 6);
    assert_eq!(world.bench.published().entries().len(), 39);
    // Without the rule they are listed again: their answers are stored.
    let summary = world.publish(&[]).expect_code(0).summary();
    assert_eq!(number(&summary, "listed"), 45);
    assert_eq!(parts(&world.bench.published()), parts(&whole));
    world.crawl(&[]).expect_code(0);
    assert_eq!(parts(&world.bench.published()), parts(&whole));
    let whole = world.bench.published();
    // A refused crawl is published with `--force` only.
    world.is(HALF_GONE);
    world.crawl(&[]).expect_code(4);
    world.assert_unchanged(&whole);
    let summary = world.publish(&[]).expect_code(0).summary();
    assert_eq!(summary["outcome"], "unchanged");
    let summary = world.publish(&["--force"]).expect_code(0).summary();
    assert_eq!(number(&summary, "listed"), 16);
    // The index, the start page, and the section that is left; the other files stay for `grace`.
    let files = summary["files"].as_array().expect("files");
    assert_eq!(files.len(), 3);
    world.publish(&["--rollback"]).expect_code(0);
    assert_eq!(parts(&world.bench.published()), parts(&whole));
}

#[test]
fn a_lasting_problem_stops_no_later_crawl() {
    let world = World::new();
    for edition in 1..=2 {
        world.publish_edition(edition);
    }
    let folder = world.copies_folder();
    fs::remove_dir_all(&folder).expect("the copies can be removed");
    fs::write(&folder, "no folder").expect("a file");
    for edition in 3..=4 {
        world.is(edition);
        let ran = world.crawl(&[]).expect_code(3);
        assert!(ran.stderr.contains("failed to create"), "{}", ran.stderr);
        let summary = ran.summary();
        assert_eq!(summary["outcome"], "published", "{summary}");
        assert_eq!(number(&summary, "listed"), 46 - edition as u64);
        assert_whole(&world.bench.published());
    }
    fs::remove_file(&folder).expect("the file can be removed");
    world.publish_edition(5);
}
