//! Does "not modified" mean that a page did not change? A cache that answers 304 to everything would
//! hide every change for ever, so one page in a hundred is asked for as a whole, another one each run.
//! Where its content did change, the server is asked again with the validators from before: a 304 is
//! then a lie, and nobody has to guess. Pure; the engine asks the questions.
//!
//! # How much a lie costs
//! A sample stands for a hundred pages, and hidden changes are the worst that can happen to a sitemap, so
//! one proven lie is enough for the first-level directory of the page (or for the pages right in the
//! root): no page there is asked conditionally until the server has told the truth again. The
//! whole site loses that when lies were proven in two directories and outnumber the truths
//! found in the same run: one odd page, or one odd application below a directory, does not
//! cost all others their 304s.
//!
//! Two more things are proof: a 304 to a request without validators, and several pages in a row that had to be asked
//! for as a whole because conditional requests were refused, failed (5xx), or answered for another `ETag`. A failure counts
//! only when the page answers as soon as it is asked for as a whole, and no conditional request of its directory was
//! answered meanwhile: a server that fails for a moment fails whoever asks.
//!
//! # How it is forgiven
//! Pages that are asked for as a whole hide nothing, so whoever was caught is tested without risk: of
//! pages that changed, a few per run are asked with the old validators too. After
//! [`TRUTHS_TO_FORGIVE`] truths in a row in later runs than that of the lie they count again.

use std::collections::BTreeMap;

use crate::{
    page::RunId,
    store::{Store, StoreError},
    url_key::UrlKey,
};

/// Pages among which one is asked for as a whole although it could be asked conditionally. A change that
/// a lying server hides is then found within as many runs at the latest.
const SAMPLE: u64 = 100;

/// Changed pages of one directory that are asked with their old validators in one run: enough
/// to catch a liar, and next to nothing when a whole site was changed.
const MAX_TESTS: u32 = 10;

/// Truths in a row after which a lie is forgiven.
const TRUTHS_TO_FORGIVE: u32 = 5;

/// Pages of a directory in a row that are asked for as a whole because the server had no answer to a conditional
/// request, and that it then has; after that nobody asks conditionally there. One may be an accident.
const MAX_IN_VAIN: u32 = 3;

/// As many pages in a row where the last such request failed: as many as are out at once by default may fail at once by accident.
const MAX_FAILED_IN_VAIN: u32 = 5;

/// Directories that are kept apart; with more, all of them count as the site.
const MAX_DIRECTORIES: usize = 1_000;

/// Name of the state's value with what was found. Lines of words: `liar`, the run of the lie, the truths
/// since then, the directory (`*` is the site); and for a run that is killed, `tests`, the run, the tests
/// begun in it, the lies and the truths among them, the directory.
const HONESTY: &str = crate::store::names::VALIDATORS_HONESTY;

/// The site as a whole, as a directory.
const SITE: &str = "*";

/// Whether run `run` asks for `url` as a whole to see whether the server tells the truth. Each page's turn
/// comes once in a hundred runs.
pub(super) fn is_sample(url: &UrlKey, run: RunId) -> bool {
    (url.fingerprint() % SAMPLE + run % SAMPLE).is_multiple_of(SAMPLE)
}

/// What is known of the truth of "not modified".
#[derive(Debug, Default)]
pub(in crate::engine) struct Honesty {
    run: RunId,
    liars: BTreeMap<String, Liar>,
    tests: BTreeMap<String, Tests>,
    /// Pages of each directory that were asked in vain since the last one that was not, in this start of the run.
    in_vain: BTreeMap<String, u32>,
    /// Conditional requests for pages of each directory that were answered, in this start of the run.
    answers: BTreeMap<String, u64>,
}

/// Why a page is asked for as a whole after it was asked conditionally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// The server has another answer to such a request than to others.
    Refused,
    /// It failed (5xx), when so many such requests for pages of the directory had been answered.
    Failed {
        /// See [`Honesty::answers`].
        answers: u64,
    },
}

/// A directory that was caught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Liar {
    caught_in: RunId,
    truths: u32,
}

/// What was asked of a directory in this run.
#[derive(Debug, Clone, Copy, Default)]
struct Tests {
    begun: u32,
    lies: u32,
    truths: u32,
}

/// What a test changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finding {
    /// Nothing.
    Nothing,
    /// "Not modified" means nothing any more in this directory; `None`: on the site.
    Caught(Option<String>),
    /// It counts again.
    Forgiven(Option<String>),
}

impl Honesty {
    /// What earlier runs, and run `run` so far, have found.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(in crate::engine) fn load(store: &dyn Store, run: RunId) -> Result<Self, StoreError> {
        let mut honesty = Self {
            run,
            ..Self::default()
        };
        for line in store.value(HONESTY)?.unwrap_or_default().lines() {
            // A line that cannot be read is damage, and one of a test that has to be made again.
            if honesty.read(line).is_none() {
                tracing::warn!(target: "engine", "a line of the state's value {HONESTY} cannot be read: {line:?}");
            }
        }
        Ok(honesty)
    }

    fn read(&mut self, line: &str) -> Option<()> {
        if let Some(rest) = line.strip_prefix("liar ") {
            let mut words = rest.splitn(3, ' ');
            let caught_in = words.next()?.parse().ok()?;
            let truths = words.next()?.parse().ok()?;
            let liar = Liar { caught_in, truths };
            self.liars.insert(words.next()?.to_owned(), liar);
        } else {
            let mut words = line.strip_prefix("tests ")?.splitn(5, ' ');
            let run: RunId = words.next()?.parse().ok()?;
            let mut count = || words.next()?.parse().ok();
            let tests = Tests {
                begun: count()?,
                lies: count()?,
                truths: count()?,
            };
            if run == self.run {
                self.tests.insert(words.next()?.to_owned(), tests);
            }
        }
        Some(())
    }

    /// The value that keeps it, with its name.
    pub(super) fn value(&self) -> (String, Option<String>) {
        let liar = |(directory, liar): (&String, &Liar)| {
            format!("liar {} {} {directory}", liar.caught_in, liar.truths)
        };
        let run = self.run;
        let tests = |(directory, tests): (&String, &Tests)| {
            let Tests {
                begun,
                lies,
                truths,
            } = tests;
            format!("tests {run} {begun} {lies} {truths} {directory}")
        };
        let lines = self.liars.iter().map(liar);
        let lines: Vec<String> = lines.chain(self.tests.iter().map(tests)).collect();
        (
            HONESTY.to_owned(),
            (!lines.is_empty()).then(|| lines.join("\n")),
        )
    }

    /// Whether "not modified" is believed of `url`.
    pub(super) fn believes(&self, url: &UrlKey) -> bool {
        self.liars.is_empty()
            || !self.liars.contains_key(SITE) && !self.liars.contains_key(directory(url))
    }

    /// Whether nobody was caught.
    pub(super) fn is_spotless(&self) -> bool {
        self.liars.is_empty()
    }

    /// A conditional request for `url` was answered.
    pub(super) fn answered(&mut self, url: &UrlKey) {
        let directory = directory(url);
        if !self.in_vain.is_empty() {
            self.in_vain.remove(directory);
        }
        if let Some(count) = self.answers.get_mut(directory) {
            *count += 1;
        } else if self.answers.len() < MAX_DIRECTORIES {
            self.answers.insert(directory.to_owned(), 1);
        }
    }

    /// How many conditional requests for pages of the directory of `url` were answered.
    pub(super) fn answers(&self, url: &UrlKey) -> u64 {
        self.answers.get(directory(url)).copied().unwrap_or(0)
    }

    /// A conditional request for `url` was not answered, because of `doubt`, and one for the whole page was; whether that
    /// was one too many.
    pub(super) fn asked_in_vain(&mut self, url: &UrlKey, doubt: Doubt) -> bool {
        let most = match doubt {
            Doubt::Refused => MAX_IN_VAIN,
            // Others were answered since: it was an accident.
            Doubt::Failed { answers } if answers != self.answers(url) => return false,
            Doubt::Failed { .. } => MAX_FAILED_IN_VAIN,
        };
        let directory = directory(url);
        let is_known = self.in_vain.contains_key(directory);
        if !is_known && self.in_vain.len() >= MAX_DIRECTORIES {
            return false;
        }
        let count = self.in_vain.entry(directory.to_owned()).or_default();
        *count = count.saturating_add(1);
        *count >= most
    }

    /// Whether the changed page `url` is to be asked with its old validators; if so, that is noted.
    pub(super) fn begin_test(&mut self, url: &UrlKey) -> bool {
        let directory = self.place_of(url);
        let liars = [directory.as_str(), SITE];
        let mut liars = liars.iter().filter_map(|name| self.liars.get(*name));
        if liars.any(|liar| liar.caught_in == self.run) {
            // Nothing more can be learned of it in this run.
            return false;
        }
        let tests = self.tests.entry(directory).or_default();
        let is_wanted = tests.begun < MAX_TESTS;
        tests.begun += u32::from(is_wanted);
        is_wanted
    }

    /// The answer to that: whether the changed page was "not modified".
    pub(super) fn end_test(&mut self, url: &UrlKey, is_lie: bool) -> Finding {
        let directory = self.place_of(url);
        let tests = self.tests.entry(directory.clone()).or_default();
        if !is_lie {
            tests.truths = tests.truths.saturating_add(1);
            return self.forgive(&directory);
        }
        tests.lies = tests.lies.saturating_add(1);
        let of_site = self.tests.values();
        let lies: u64 = of_site.clone().map(|tests| u64::from(tests.lies)).sum();
        let truths: u64 = of_site.clone().map(|tests| u64::from(tests.truths)).sum();
        let liars = of_site.filter(|tests| tests.lies > 0).count();
        let caught = Liar {
            caught_in: self.run,
            truths: 0,
        };
        let is_site = directory == SITE || liars >= 2 && lies > truths;
        let is_new = self.liars.insert(directory.clone(), caught).is_none();
        match self.liars.get_mut(SITE) {
            Some(site) => {
                *site = caught;
                if directory == SITE && is_new {
                    Finding::Caught(None)
                } else {
                    Finding::Nothing
                }
            }
            None if is_site => {
                self.liars.insert(SITE.to_owned(), caught);
                Finding::Caught(None)
            }
            None if is_new => Finding::Caught(Some(directory)),
            None => Finding::Nothing,
        }
    }

    /// Counts a truth of `directory`; it may be one too many to be called a liar.
    fn forgive(&mut self, directory: &str) -> Finding {
        let run = self.run;
        let mut finding = Finding::Nothing;
        for name in [directory, SITE] {
            let Some(liar) = self.liars.get_mut(name).filter(|liar| liar.caught_in < run) else {
                continue;
            };
            liar.truths = liar.truths.saturating_add(1);
            if liar.truths >= TRUTHS_TO_FORGIVE {
                self.liars.remove(name);
                finding = Finding::Forgiven((name != SITE).then(|| name.to_owned()));
            }
        }
        finding
    }

    /// What `url` is counted under.
    fn place_of(&self, url: &UrlKey) -> String {
        let directory = directory(url);
        let is_known = self.tests.contains_key(directory) || self.liars.contains_key(directory);
        if is_known || self.tests.len() + self.liars.len() < MAX_DIRECTORIES {
            directory.to_owned()
        } else {
            SITE.to_owned()
        }
    }
}

/// The first-level directory of a page; `/` for one right in the root.
fn directory(url: &UrlKey) -> &str {
    let path = url.path();
    let below = path.strip_prefix('/').unwrap_or(path);
    match below.split_once('/') {
        Some((segment, _)) => path.split_at(segment.len() + 2).0,
        None => "/",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Commit, memory::MemoryStore};

    fn url(path: &str) -> UrlKey {
        UrlKey::from_normalised(&format!("https://site.example{path}")).unwrap()
    }

    fn in_run(run: RunId) -> Honesty {
        Honesty {
            run,
            ..Honesty::default()
        }
    }

    #[test]
    fn each_page_is_a_sample_once_in_a_hundred_runs() {
        for number in 0..200 {
            let url = url(&format!("/{number}"));
            let runs = (1..=100).filter(|run| is_sample(&url, *run)).count();
            assert_eq!(runs, 1);
        }
        let samples = (0..10_000)
            .filter(|number| is_sample(&url(&format!("/page/{number}")), 7))
            .count();
        assert!((50..=150).contains(&samples), "{samples}");
    }

    #[test]
    fn one_lie_costs_a_directory() {
        let mut honesty = in_run(2);
        assert!(honesty.believes(&url("/blog/a")));
        let caught = Finding::Caught(Some("/blog/".to_owned()));
        assert_eq!(honesty.end_test(&url("/blog/a"), true), caught);
        assert_eq!(honesty.end_test(&url("/blog/b"), true), Finding::Nothing);
        assert!(!honesty.believes(&url("/blog/2026/x")));
        assert!(honesty.believes(&url("/blog")));
        assert!(honesty.believes(&url("/docs/")));
    }

    #[test]
    fn lies_in_two_directories_cost_the_site_unless_most_of_it_is_honest() {
        let mut honesty = in_run(2);
        honesty.end_test(&url("/a/1"), true);
        assert_eq!(honesty.end_test(&url("/b"), true), Finding::Caught(None));
        assert!(!honesty.believes(&url("/c/1")));

        let mut honesty = in_run(2);
        for path in ["/c/1", "/c/2", "/d/1"] {
            assert_eq!(honesty.end_test(&url(path), false), Finding::Nothing);
        }
        honesty.end_test(&url("/a/1"), true);
        let caught = Finding::Caught(Some("/".to_owned()));
        assert_eq!(honesty.end_test(&url("/b"), true), caught);
        assert!(honesty.believes(&url("/c/1")));
    }

    #[test]
    fn truths_of_later_runs_are_an_excuse() {
        let mut honesty = in_run(2);
        honesty.end_test(&url("/a/1"), true);
        for number in 0..2 * TRUTHS_TO_FORGIVE {
            let url = url(&format!("/a/{number}"));
            assert_eq!(honesty.end_test(&url, false), Finding::Nothing);
        }
        let mut store = MemoryStore::default();
        let commit = |honesty: &Honesty| Commit {
            values: vec![honesty.value()],
            ..Commit::default()
        };
        // A lie forgets the truths before it.
        honesty.end_test(&url("/a/1"), true);
        store.commit(&commit(&honesty)).unwrap();
        let mut honesty = Honesty::load(&store, 3).unwrap();
        assert!(!honesty.believes(&url("/a/1")));
        for _ in 1..TRUTHS_TO_FORGIVE {
            assert_eq!(honesty.end_test(&url("/a/1"), false), Finding::Nothing);
        }
        let forgiven = Finding::Forgiven(Some("/a/".to_owned()));
        assert_eq!(honesty.end_test(&url("/a/1"), false), forgiven);
        assert!(honesty.is_spotless());
        store.commit(&commit(&honesty)).unwrap();
        assert!(Honesty::load(&store, 4).unwrap().is_spotless());
    }

    #[test]
    fn a_value_that_is_damaged_is_read_as_far_as_it_goes() {
        let most = u32::MAX;
        let text = format!(
            "liar 1 {most} /a/\nliar x\n\ntests 3 {most} {most} {most} /b/\ntests 3 {most} {most} {most} /c/\nnonsense"
        );
        let mut store = MemoryStore::default();
        let values = vec![(HONESTY.to_owned(), Some(text))];
        let commit = Commit {
            values,
            ..Commit::default()
        };
        store.commit(&commit).unwrap();
        let mut honesty = Honesty::load(&store, 3).unwrap();
        assert!(!honesty.believes(&url("/a/1")));
        assert!(!honesty.begin_test(&url("/b/1")));
        honesty.end_test(&url("/b/1"), false);
        honesty.end_test(&url("/b/1"), true);
        let forgiven = Finding::Forgiven(Some("/a/".to_owned()));
        assert_eq!(honesty.end_test(&url("/a/1"), false), forgiven);
    }

    #[test]
    fn a_directory_is_tested_a_few_times_per_run() {
        let mut honesty = in_run(2);
        let begun = |honesty: &mut Honesty, directory: &str| {
            let urls = (0..50).map(|number| url(&format!("/{directory}/{number}")));
            urls.filter(|url| honesty.begin_test(url)).count()
        };
        assert_eq!(begun(&mut honesty, "a"), MAX_TESTS as usize);
        assert_eq!(begun(&mut honesty, "b"), MAX_TESTS as usize);
        honesty.end_test(&url("/c/1"), true);
        assert_eq!(begun(&mut honesty, "c"), 0, "it is caught already");
    }

    #[test]
    fn pages_that_are_asked_in_vain_are_counted_by_directory_and_in_a_row() {
        let mut honesty = in_run(2);
        let [a, b] = [url("/a/1"), url("/b/1")];
        for _ in 1..MAX_IN_VAIN {
            assert!(!honesty.asked_in_vain(&a, Doubt::Refused));
            assert!(!honesty.asked_in_vain(&b, Doubt::Refused));
        }
        honesty.answered(&b);
        assert!(honesty.asked_in_vain(&a, Doubt::Refused));
        assert!(!honesty.asked_in_vain(&b, Doubt::Refused));
        for number in 0..3 * MAX_DIRECTORIES {
            let url = url(&format!("/{number}/"));
            honesty.asked_in_vain(&url, Doubt::Refused);
            honesty.answered(&url);
        }
        assert!(honesty.in_vain.len() <= MAX_DIRECTORIES);
        assert!(honesty.answers.len() <= MAX_DIRECTORIES);
    }

    #[test]
    fn failures_count_when_nothing_was_answered_since() {
        let mut honesty = in_run(2);
        let page = url("/a/1");
        let failed = Doubt::Failed {
            answers: honesty.answers(&page),
        };
        for _ in 1..MAX_FAILED_IN_VAIN {
            assert!(!honesty.asked_in_vain(&page, failed));
        }
        honesty.answered(&url("/b/1"));
        assert!(honesty.asked_in_vain(&page, failed));
        honesty.answered(&page);
        for _ in 0..2 * MAX_FAILED_IN_VAIN {
            assert!(!honesty.asked_in_vain(&page, failed), "an accident");
        }
    }

    #[test]
    fn the_memory_for_directories_is_bounded() {
        let mut honesty = in_run(2);
        for number in 0..3 * MAX_DIRECTORIES {
            honesty.end_test(&url(&format!("/{number}/")), true);
        }
        assert!(honesty.tests.len() + honesty.liars.len() <= 2 * MAX_DIRECTORIES + 2);
        assert!(!honesty.believes(&url("/other/")));
    }
}
