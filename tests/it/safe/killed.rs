//! SIGKILL at every system call, or a sample of them, by which a publish changes a disk: the files that a reader finds then, and the set after
//! the same command.

mod tracing;

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use crawler::testing::sample;
use tempfile::TempDir;

use self::tracing::{is_able, record};
use crate::{
    kill::{check_equal, copy},
    support::{
        observer::Observer,
        program::Ran,
        published::Published,
        site::{Response, Site},
    },
};

/// Number of folders in which kills are tried at the same time.
const PLACES: usize = 2;

/// A folder with an output and a state, by their canonical paths.
struct Place {
    _folder: TempDir,
    path: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = fs::canonicalize(folder.path()).expect("it exists");
        Self {
            _folder: folder,
            path,
        }
    }

    fn output(&self) -> PathBuf {
        self.path.join("out")
    }

    fn state(&self) -> PathBuf {
        self.path.join("state")
    }

    /// The program with output and state here, which gives small sections separate files.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arpent"));
        command
            .env_clear()
            .env("HOME", &self.path)
            .env("TMPDIR", &self.path)
            .env("ARPENT_MIN_SECTION", "5")
            .current_dir(&self.path)
            .stdin(Stdio::null())
            .args(arguments)
            .args(["--json", "--output"])
            .arg(self.output())
            .arg("--state")
            .arg(self.state());
        command
    }

    /// Replaces state and output by those of `other`.
    fn become_like(&self, other: &Self) {
        for (from, to) in [
            (other.output(), self.output()),
            (other.state(), self.state()),
        ] {
            copy(&from, &to);
        }
    }

    /// Every file of the output, hidden ones included.
    fn names(&self) -> BTreeSet<String> {
        let listing = fs::read_dir(self.output()).expect("the output");
        listing
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect()
    }
}

/// The findings of `arpent check` in the files that readers find now, if there are any.
#[track_caller]
fn check_files(output: &Path, context: &str) {
    if !output.join("sitemap.xml").exists() {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_arpent"));
    command.arg("check").arg(output).env_clear();
    let ran = Ran::of(command);
    assert_eq!(ran.code, Some(0), "{context}: {}{}", ran.stdout, ran.stderr);
}

/// Of how many calls one is tried, unless all of them are.
const OF_CALLS: usize = 8;

/// Runs a command over the set of `before`, kills it at each of its calls, or at a sample of them, and compares the set after the same
/// command with that of an uninterrupted one. Returns the number of calls. `arguments` depend on the place.
fn kill_everywhere(
    before: &Place,
    root: &str,
    arguments: &(dyn Fn(&Place) -> Vec<String> + Sync),
    folders: &[&str],
    check_state: &(dyn Fn(&Place, &str) + Sync),
) -> usize {
    let command = |place: &Place| {
        let arguments = arguments(place);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        place.command(&arguments)
    };
    let uninterrupted = Place::new();
    uninterrupted.become_like(before);
    Ran::of(command(&uninterrupted)).expect_code(0);
    let expected = Published::read(&uninterrupted.output());
    let recorded = Place::new();
    recorded.become_like(before);
    let calls = record(&command(&recorded), &recorded.path, folders);
    let taken: Vec<_> = sample(&calls, OF_CALLS).collect();

    let next = AtomicUsize::new(0);
    let work = || {
        let place = Place::new();
        while let Some(call) = taken.get(next.fetch_add(1, Ordering::SeqCst)) {
            let context = format!("killed at {call}");
            let prepare = || {
                place.become_like(before);
                Observer::watch(&place.output(), root)
            };
            let look = |reader: Observer| {
                // The last look of the reader is at the files that the killed command left.
                reader.finish();
                check_files(&place.output(), &context);
            };
            let is_hit = call.kill(|| command(&place), &place.path, prepare, look);
            assert!(is_hit, "{context}: no kill came there");

            let reader = Observer::watch(&place.output(), root);
            let ran = Ran::of(command(&place));
            assert_eq!(ran.code, Some(0), "{context}: {}{}", ran.stdout, ran.stderr);
            reader.finish();
            check_equal(&Published::read(&place.output()), &expected);
            assert_eq!(place.names(), uninterrupted.names(), "{context}");
            check_state(&place, &context);
        }
    };
    thread::scope(|scope| {
        for _ in 0..PLACES {
            scope.spawn(work);
        }
    });
    calls.len()
}

/// The list of an edition. In the second one a section is new, one is too small for a separate file, one has a changed
/// page, and one is unchanged.
fn list(edition: usize) -> String {
    let mut list = "loc,lastmod\n".to_owned();
    let sections: [(&str, usize); 4] = match edition {
        1 => [("alike", 6), ("changed", 6), ("leaving", 6), ("few", 2)],
        _ => [("alike", 6), ("changed", 6), ("leaving", 2), ("new", 6)],
    };
    for (section, count) in sections {
        for page in 0..count {
            let day = if section == "changed" && page == 3 {
                edition
            } else {
                9
            };
            writeln!(
                list,
                "https://www.example.com/{section}/{page},2026-05-0{day}"
            )
            .expect("a string grows");
        }
    }
    list
}

/// Builds of the lists, one after the other.
struct Builds {
    lists: Place,
    /// The folder after the first build.
    before: Place,
}

impl Builds {
    const ROOT: &str = "https://www.example.com/";

    fn new() -> Self {
        let builds = Self {
            lists: Place::new(),
            before: Place::new(),
        };
        for edition in [1, 2] {
            let path = builds.lists.path.join(format!("{edition}.csv"));
            fs::write(path, list(edition)).expect("a list");
        }
        let first = builds.arguments(1);
        let first: Vec<&str> = first.iter().map(String::as_str).collect();
        Ran::of(builds.before.command(&first)).expect_code(0);
        builds
    }

    fn arguments(&self, edition: usize) -> Vec<String> {
        let list = self.lists.path.join(format!("{edition}.csv"));
        let list = list.to_string_lossy().into_owned();
        ["build", "--base-url", Self::ROOT, &list]
            .map(str::to_owned)
            .to_vec()
    }

    fn state(&self) -> PathBuf {
        self.before.state().join("https_www.example.com.build.db")
    }

    /// Kills the second build at each call that changes one of these folders.
    fn kill(&self, folders: &[&str], check_state: &(dyn Fn(&Place, &str) + Sync)) -> usize {
        let arguments = |_: &Place| self.arguments(2);
        kill_everywhere(&self.before, Self::ROOT, &arguments, folders, check_state)
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "the number of kills is worth reading")]
fn a_build_killed_anywhere_leaves_whole_sets() {
    if !is_able() {
        return;
    }
    let builds = Builds::new();
    let kills = builds.kill(&["out", "state"], &|_, _| {});
    eprintln!("{kills} calls: kills over a set");
    assert!(kills > 80, "{kills}");
    // The first set, too: the index may be missing, but is never incomplete.
    let arguments = |_: &Place| builds.arguments(1);
    let nothing = Place::new();
    let kills = kill_everywhere(&nothing, Builds::ROOT, &arguments, &["out"], &|_, _| {});
    eprintln!("{kills} calls: kills before the first set");
    assert!(kills > 20, "{kills}");
}

/// At every instant the damaged state is there, as it was found, and after the end there is one renamed copy of it.
#[test]
#[expect(clippy::print_stderr, reason = "the number of kills is worth reading")]
fn killing_the_renaming_of_states_loses_nothing() {
    if !is_able() {
        return;
    }
    let builds = Builds::new();
    let mut damaged = fs::read(builds.state()).expect("the state");
    let half = damaged.len() / 2;
    damaged[half..].fill(0xa5);
    fs::write(builds.state(), &damaged).expect("it can be written");
    let kills = builds.kill(&["state"], &|place, context| {
        let listing = fs::read_dir(place.state()).expect("the state").flatten();
        let aside: Vec<_> = listing
            .map(|entry| entry.path())
            .filter(|path| path.to_string_lossy().contains(".corrupt-"))
            .filter(|path| !path.to_string_lossy().ends_with("-shm"))
            .filter(|path| fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0))
            .collect();
        assert_eq!(aside.len(), 1, "{context}: {aside:?}");
        assert!(fs::read(&aside[0]).expect("a file") == damaged, "{context}");
    });
    eprintln!("{kills} calls: kills while a state is set aside");
    assert!(kills > 50, "{kills}");
}

/// A site whose second edition has a new section, and few pages of another one.
fn serve() -> (Site, &'static AtomicUsize) {
    static EDITION: AtomicUsize = AtomicUsize::new(1);
    let site = Site::start(move |request| {
        let edition = EDITION.load(Ordering::SeqCst);
        let pages = |section: &str, count: usize| {
            (0..count)
                .map(|page| format!("/{section}/{page}"))
                .collect::<Vec<_>>()
        };
        let mut all = [pages("alike", 6), pages("few", 2)].concat();
        all.extend(pages("leaving", if edition == 1 { 6 } else { 1 }));
        all.extend(pages("new", if edition == 1 { 0 } else { 6 }));
        let modified = "Thu, 01 Jan 2026 10:00:00 GMT";
        match request.target.as_str() {
            // The start page changes, and would have the time of the crawl, which differs in the two sets.
            "/" => Response::linking(all).with("X-Robots-Tag", "noindex"),
            target if all.iter().any(|page| page == target) => {
                let body = format!("<!doctype html><title>{target}</title><p>A page.");
                Response::html(body).with("Last-Modified", modified)
            }
            target if target.starts_with("/leaving/") => Response::status(410),
            _ => Response::status(404),
        }
    });
    (site, &EDITION)
}

#[test]
#[expect(clippy::print_stderr, reason = "the number of kills is worth reading")]
fn a_publish_killed_anywhere_is_completed_later() {
    if !is_able() {
        return;
    }
    let (site, edition) = serve();
    let url = site.url("/");
    let arguments = ["crawl", &url, "--rate", "unlimited", "--discover", "links"];
    let before = Place::new();
    Ran::of(before.command(&arguments)).expect_code(0);
    edition.store(2, Ordering::SeqCst);
    // A file that no set had before: until the publish is settled, only the state names it as a file of arpent.
    let arguments = [&arguments[..], &["--format", "xml,rss"]].concat();
    let arguments = |_: &Place| arguments.iter().map(ToString::to_string).collect();
    let kills = kill_everywhere(&before, &url, &arguments, &["out"], &|_, _| {});
    eprintln!("{kills} calls: kills of a crawl");
    assert!(kills > 20, "{kills}");
}
