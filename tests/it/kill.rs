//! `kill -9` at any instant, then the same command again, gives the set of an uninterrupted crawl, and
//! readers of the output find a complete set at any time.

mod pages;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::Path,
    thread,
    time::{Duration, SystemTime},
};

use crawler::{site_run::COMMIT_INTERVAL, testing::sample};

use self::pages::{NEW_PAGES, PAGES, Pages};
use crate::support::{
    observer::Observer,
    program::{Bench, Ran, Running},
    published::Published,
    random::Random,
};

/// Requests in flight ([`Bench::new`]).
const CONCURRENCY: usize = 32;

/// Of how many kills a sample has one.
const OF_KILLS: usize = 4;

/// Highest number of attempts at a kill that came after the wanted step.
const MAX_ATTEMPTS: usize = 100;

/// Time between two looks at the progress of the program, so that the program has the cores; no result depends on it.
const PAUSE: Duration = Duration::from_micros(100);

/// The manifest's copy in the output.
const MANIFEST: &str = ".arpent-manifest.json";

/// The folder of temporary files in the output.
const TEMPORARY: &str = ".arpent-tmp";

/// The instant of a kill.
#[derive(Debug, Clone, Copy)]
enum When {
    /// This many pages were requested that had not been requested before.
    Pages(usize),
    /// This long after the last request.
    After(Duration),
    /// This many temporary files or more are there, and no new part.
    Written(usize),
    /// This many new parts or more are there, and the index is the old one.
    Moved(usize),
    /// The index is new, the manifest is the old one.
    Indexed,
    /// The manifest is new.
    Recorded,
}

/// The progress of a publish as readers see it.
#[derive(Debug, Clone, Copy)]
struct Progress {
    temporary: usize,
    parts: usize,
    index: bool,
    manifest: bool,
}

/// One edition of the site, crawled by a program that is killed again and again.
struct Chain<'a> {
    bench: &'a Bench,
    pages: &'a Pages,
    url: &'a str,
    all_pages: usize,
    observer: &'a Observer,
    /// The output before the edition was crawled.
    before: BTreeMap<String, SystemTime>,
    starts: usize,
    /// Requests of sessions whose kill missed its instant: they are undone.
    missed: usize,
}

impl Chain<'_> {
    #[expect(clippy::print_stderr, reason = "where a kill hit is worth reading")]
    fn kill(&mut self, when: When) {
        let kept = tempfile::tempdir().expect("a temporary folder");
        let places = [
            (kept.path().join("state"), self.bench.state()),
            (kept.path().join("out"), self.bench.output()),
        ];
        let known = self.pages.asked().pages();
        for attempt in 1..=MAX_ATTEMPTS {
            for (kept, place) in &places {
                copy(place, kept);
            }
            let requests = self.pages.asked().requests;
            let mut running = self.bench.spawn(self.url, &[]);
            self.starts += 1;
            let is_reached = self.wait_for(when, known, requests, &mut running);
            let is_killed = running.kill();
            let progress = self.progress();
            let is_hit = match when {
                When::Pages(_) | When::After(_) => true,
                When::Written(_) => progress.parts == 0,
                When::Moved(_) => !progress.index,
                When::Indexed => !progress.manifest,
                When::Recorded => progress.manifest,
            };
            if is_reached && is_killed && is_hit {
                eprintln!("killed at {when:?}, attempt {attempt}: {progress:?}");
                return;
            }
            // What this session asked for is undone with it.
            self.missed += self.pages.asked().requests - requests;
            self.observer.unseen(|| {
                for (kept, place) in &places {
                    drop(fs::remove_dir_all(place));
                    if kept.exists() {
                        fs::rename(kept, place).expect("the kept folder moves back");
                    }
                }
            });
        }
        panic!("{MAX_ATTEMPTS} kills did not hit {when:?}");
    }

    /// Waits for the instant; returns whether it came before the end of the program.
    fn wait_for(&self, when: When, known: usize, requests: usize, running: &mut Running) -> bool {
        loop {
            let is_reached = match when {
                When::Pages(more) => {
                    self.pages.asked().pages() >= (known + more).min(self.all_pages - CONCURRENCY)
                }
                When::After(silence) => {
                    let asked = self.pages.asked();
                    asked.pages() >= self.all_pages
                        && asked.requests > requests
                        && asked.silence() >= silence
                }
                When::Written(count) => self.progress().temporary >= count,
                When::Moved(count) => self.progress().parts >= count,
                When::Indexed => self.progress().index,
                When::Recorded => self.progress().manifest,
            };
            if is_reached {
                return true;
            }
            if running.has_ended() {
                return false;
            }
            thread::sleep(PAUSE);
        }
    }

    fn progress(&self) -> Progress {
        let output = self.bench.output();
        let now = times(&output);
        let is_new = |name: &str| now.get(name) != self.before.get(name);
        let names = now.keys().filter(|name| name.strip_suffix(".gz").is_some());
        Progress {
            temporary: fs::read_dir(output.join(TEMPORARY)).map_or(0, Iterator::count),
            parts: names.filter(|name| is_new(name)).count(),
            index: is_new("sitemap.xml"),
            manifest: is_new(MANIFEST),
        }
    }
}

/// The files right in a folder with their modification times.
fn times(folder: &Path) -> BTreeMap<String, SystemTime> {
    let listing = fs::read_dir(folder).into_iter().flatten().flatten();
    listing
        .filter_map(|entry| {
            let modified = entry.metadata().ok()?.modified().ok()?;
            Some((entry.file_name().to_string_lossy().into_owned(), modified))
        })
        .collect()
}

/// Copies a folder with all times; one that does not exist leaves nothing.
pub(crate) fn copy(from: &Path, to: &Path) {
    drop(fs::remove_dir_all(to));
    let Ok(listing) = fs::read_dir(from) else {
        return;
    };
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in listing.flatten() {
        let to = to.join(entry.file_name());
        let metadata = entry.metadata().expect("what was listed exists");
        if metadata.is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).expect("a file can be copied");
            let file = File::options().write(true).open(&to);
            file.and_then(|file| file.set_modified(metadata.modified()?))
                .expect("a time can be set");
        }
    }
}

/// Fails unless the parts are equal in every byte and the indexes differ in write times only.
#[track_caller]
pub(crate) fn check_equal(killed: &Published, uninterrupted: &Published) {
    let names = |set: &Published| set.files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(killed), names(uninterrupted));
    for (name, file) in &uninterrupted.files {
        let other = &killed.files[name];
        if file.is_index {
            assert_eq!(
                without_times(&other.xml),
                without_times(&file.xml),
                "{name}"
            );
        } else {
            assert!(other.raw == file.raw, "{name} differs");
        }
    }
}

/// The text of an index with its write times left out.
fn without_times(xml: &str) -> String {
    let mut text = String::new();
    for (number, piece) in xml.split("<lastmod>").enumerate() {
        match (number, piece.split_once("</lastmod>")) {
            (1.., Some((_, rest))) => text.push_str(rest),
            (_, _) => text.push_str(piece),
        }
    }
    text
}

/// Crawls an edition without a kill; returns the time from the first to the last request, and from there to
/// the end.
fn crawl(bench: &Bench, pages: &Pages, url: &str) -> (Ran, Duration, Duration) {
    pages.forget();
    let ran = bench.crawl(url, &[]).expect_code(0);
    let asked = pages.asked();
    (ran, asked.duration(), asked.silence())
}

/// Kills of the first edition, which has no published set before it; the amounts are chosen at random.
fn first_kills(random: &mut Random, tail: Duration) -> Vec<When> {
    let mut kills: Vec<When> = (0..8)
        .map(|_| When::Pages(1 + random.below(1_000)))
        .collect();
    kills.push(When::After(share(random, tail / 3)));
    kills.push(When::Written(1 + random.below(15)));
    kills.push(When::Written(15 + random.below(20)));
    kills.push(When::Moved(1 + random.below(10)));
    kills.push(When::After(share(random, tail)));
    kills.push(When::Indexed);
    kills
}

/// Kills of the second edition, over the set of the first.
fn second_kills(random: &mut Random, tail: Duration) -> Vec<When> {
    vec![
        When::Pages(1 + random.below(4_000)),
        When::After(share(random, tail / 3)),
        When::Written(1 + random.below(5)),
        When::Moved(1 + random.below(5)),
        When::Indexed,
        When::Recorded,
    ]
}

/// A time up to `whole`, at random.
fn share(random: &mut Random, whole: Duration) -> Duration {
    let thousandths = u32::try_from(random.below(1_000)).expect("below 1,000");
    whole * thousandths / 1_000
}

fn millis(time: Duration) -> usize {
    usize::try_from(time.as_millis()).expect("a test is no longer than that")
}

#[test]
#[expect(clippy::print_stderr, reason = "what was measured is worth reading")]
fn a_killed_crawl_gives_the_uninterrupted_set() {
    let (pages, site) = Pages::serve();
    let url = site.url("/");
    let (uninterrupted, killed) = (Bench::new(), Bench::new());
    let observers = [&uninterrupted, &killed].map(|bench| Observer::watch(&bench.output(), &url));
    let mut random = Random(20);
    let mut kills = 0;
    for (edition, all_pages) in [(1, PAGES), (2, PAGES + NEW_PAGES)] {
        let (ran, crawled, tail) = crawl(&uninterrupted, &pages, &url);
        assert_eq!(pages.asked().pages(), all_pages);
        let listed = ran.summary()["listed"].clone();

        pages.forget();
        let mut chain = Chain {
            bench: &killed,
            pages: &pages,
            url: &url,
            all_pages,
            observer: &observers[1],
            before: times(&killed.output()),
            starts: 1,
            missed: 0,
        };
        let plan = match edition {
            1 => first_kills(&mut random, tail),
            _ => second_kills(&mut random, tail),
        };
        kills += plan.len();
        for when in sample(plan, OF_KILLS) {
            chain.kill(when);
        }
        let (starts, missed) = (chain.starts, chain.missed);
        let ran = killed.crawl(&url, &[]).expect_code(0);
        assert_eq!(ran.summary()["listed"], listed);
        check_equal(&killed.published(), &uninterrupted.published());

        let window = all_pages * millis(COMMIT_INTERVAL) / millis(crawled) + 1;
        // Each session requests the start page, to identify the site. After the index has its name the crawl counts as
        // ended: the session after that kill completes the publish and begins a new crawl.
        let most = 2 * all_pages + starts * (CONCURRENCY + window + 1);
        let requests = pages.asked().requests - missed;
        eprintln!(
            "edition {edition}: {all_pages} pages in {crawled:?}, {tail:?} to publish; {starts} starts asked for {requests} pages, at most {most} (commit window {window})"
        );
        assert!(requests <= most, "{requests} requests, at most {most}");
        pages.next_edition();
        site.clear_log();
    }
    assert_eq!(kills, 20);
    for observer in observers {
        let seen = observer.finish();
        eprintln!("{seen:?}");
        assert!(seen.indexes >= 2, "{seen:?}");
    }
}
