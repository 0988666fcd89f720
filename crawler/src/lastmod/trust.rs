//! Trust in the sources of dates. A source (`Last-Modified`, structured data, metas, sitemaps) is distrusted on
//! a host or in a first-level directory where more than a fifth of its dates are wrong: not earlier than the start of the
//! crawl, moved while the content did not, or the date of the sitemap file. Where most pages have one instant, a source other
//! than `Last-Modified` is distrusted too. Distrust ends after as many crawls with right dates as there were with wrong ones.

use std::collections::{BTreeMap, HashMap};

use sitemap_core::LastMod;

use super::evidence::is_instant;
use crate::{
    page::{CrawlId, DateSource},
    url_key::UrlKey,
};

/// Begins the line of the text form with the number of the crawl; the other lines begin with a source.
const RUN_LINE: &str = "run ";

/// First-level directories that get statistics of their own; the others count for the host only.
const MAX_DIRECTORIES: usize = 10_000;

/// A crawl with a share of wrong dates above the first one, in percent, is a wrong one; below the second it is a right one.
const WRONG_PERCENT: [u64; 2] = [20, 10];

/// The same for the share of the most frequent instant, and for wrong dates where fewer than [`MIN_SAMPLES`] are stated.
const MOST_PERCENT: [u64; 2] = [50, 25];

/// Dates that a source other than `Last-Modified` states before a fifth of them counts.
const MIN_SAMPLES: u64 = 20;

/// Wrong crawls that are counted: a site that was wrong for years is right after ten crawls.
const MAX_WRONG: u32 = 10;

/// Different instants that are counted at once. An instant that more than half of the pages state is never missed, and
/// counted at most a thirty-third too low.
const MAX_INSTANTS: usize = 32;

/// The family of a whole host.
const HOST: &str = "*";

/// The path of the first-level directory of `key`, if it is in one.
pub(super) fn first_directory(key: &UrlKey) -> Option<&str> {
    Some(key.first_directory()).filter(|directory| *directory != "/")
}

/// How often the dates of each source were wrong.
#[derive(Debug, Default)]
pub(crate) struct Statistics {
    of: BTreeMap<DateSource, Families>,
}

/// A host and its first-level directories.
#[derive(Debug, Default)]
struct Families {
    host: Count,
    directories: HashMap<String, Count>,
}

#[derive(Debug, Default, Clone)]
struct Count {
    /// Dates that were read in this crawl.
    read: u64,
    /// Dates of pages that were not read, because they did not change or could not be fetched.
    unread: u64,
    wrong: u64,
    /// How often each instant is stated; by Misra and Gries, "Finding repeated elements" (1982).
    instants: Vec<(i64, u64)>,
}

impl Count {
    fn add_instant(&mut self, instant: i64) {
        if let Some((_, count)) = self.instants.iter_mut().find(|(it, _)| *it == instant) {
            *count += 1;
        } else if self.instants.len() < MAX_INSTANTS {
            self.instants.push((instant, 1));
        } else {
            self.instants.retain_mut(|(_, count)| {
                *count -= 1;
                *count > 0
            });
        }
    }

    /// The number of wrong crawls that are to be made up for, of which there were `before`.
    fn wrong_crawls(&self, source: DateSource, before: u32) -> u32 {
        // A page that was not read has stated no other date, but does not restore trust either.
        let seen = if before > 0 {
            self.read
        } else {
            self.read + self.unread
        };
        if self.is_above(source, seen, 0) {
            (before + 1).min(MAX_WRONG)
        } else if before > 0 && (seen == 0 || self.is_above(source, seen, 1)) {
            before
        } else {
            before.saturating_sub(1)
        }
    }

    /// Returns whether more of `all` dates are wrong than the share number `limit` allows.
    fn is_above(&self, source: DateSource, all: u64, limit: usize) -> bool {
        let is_above = |count: u64, all: u64, percent: [u64; 2]| count * 100 > all * percent[limit];
        if source != DateSource::Header && all < MIN_SAMPLES {
            // One page may be saved again unchanged; a template moves the dates of all pages.
            return is_above(self.wrong, all, MOST_PERCENT);
        }
        let alike = self.instants.iter().map(|(_, count)| *count).max();
        let is_alike =
            source != DateSource::Header && is_above(alike.unwrap_or_default(), all, MOST_PERCENT);
        is_above(self.wrong, all, WRONG_PERCENT) || is_alike
    }
}

impl Statistics {
    /// Counts a date that was read in this crawl.
    pub(super) fn add(
        &mut self,
        source: DateSource,
        key: &UrlKey,
        value: &LastMod,
        is_wrong: bool,
    ) {
        // Many pages may have changed on one day.
        let instant = is_instant(value).then(|| value.latest_instant().as_second());
        self.change(source, key, |count| {
            count.read += 1;
            count.wrong += u64::from(is_wrong);
            if let Some(instant) = instant {
                count.add_instant(instant);
            }
        });
    }

    /// Counts a date of a page that was not read.
    pub(super) fn add_unread(&mut self, source: DateSource, key: &UrlKey) {
        self.change(source, key, |count| count.unread += 1);
    }

    /// Changes the counts that `key` belongs to.
    fn change(&mut self, source: DateSource, key: &UrlKey, change: impl Fn(&mut Count)) {
        let families = self.of.entry(source).or_default();
        change(&mut families.host);
        let Some(directory) = first_directory(key) else {
            return;
        };
        if let Some(count) = families.directories.get_mut(directory) {
            change(count);
        } else if families.directories.len() < MAX_DIRECTORIES {
            let mut count = Count::default();
            change(&mut count);
            families.directories.insert(directory.to_owned(), count);
        }
    }
}

/// The distrusted sources, stored between crawls so that a share at the border does not change the trust back and forth.
///
/// Within one crawl trust only shrinks. A publish that is done again after it was interrupted finds the moved
/// dates in the history already, so that they do not count as moved any more; it must come to the same decision.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DateTrust {
    /// The crawl that decided it.
    run: Option<CrawlId>,
    /// Sources with a directory, or [`HOST`], and how many wrong crawls are to be made up for.
    bad: BTreeMap<(DateSource, String), u32>,
}

impl DateTrust {
    /// Reads the text form: `run` and the number of the crawl that decided it; then on each line a source, a number of
    /// wrong crawls, and a directory, or `*` for the host as a whole.
    pub(crate) fn parse(text: &str) -> Self {
        let mut trust = Self::default();
        for line in text.lines() {
            if let Some(run) = line.strip_prefix(RUN_LINE) {
                trust.run = run.parse().ok();
            } else if let Some((word, rest)) = line.split_once(' ')
                && let Some((count, family)) = rest.split_once(' ')
                && let (Some(source), Ok(count)) = (DateSource::from_code(word), count.parse())
            {
                trust.bad.insert((source, family.to_owned()), count);
            }
        }
        trust
    }

    /// The text form; `None` when all sources are trusted.
    pub(crate) fn to_text(&self) -> Option<String> {
        if self.bad.is_empty() {
            return None;
        }
        let run = self.run.map(|run| format!("{RUN_LINE}{run}"));
        let families = self.bad.iter();
        let families = families
            .map(|((source, family), count)| format!("{} {count} {family}", source.as_str()));
        let lines: Vec<String> = run.into_iter().chain(families).collect();
        Some(lines.join("\n"))
    }

    /// Takes the statistics of the crawl `run` in; returns whether the trust changed.
    pub(crate) fn update(&mut self, run: CrawlId, statistics: &Statistics) -> bool {
        let is_again = self.run == Some(run);
        let mut bad = BTreeMap::new();
        for (&source, families) in &statistics.of {
            let directories = families.directories.iter();
            let directories = directories.map(|(directory, count)| (directory.as_str(), count));
            for (family, count) in directories.chain([(HOST, &families.host)]) {
                let family = (source, family.to_owned());
                let before = self.bad.get(&family).copied().unwrap_or_default();
                let wrong = count.wrong_crawls(source, before);
                if wrong > 0 && !(is_again && before > 0) {
                    bad.insert(family, wrong);
                }
            }
        }
        if is_again {
            bad.append(&mut self.bad.clone());
        }
        let run = Some(run);
        let new = Self { run, bad };
        let changed = new.to_text() != self.to_text();
        *self = new;
        changed
    }

    /// Returns whether the dates of `source` for `key` are trusted.
    pub(crate) fn trusts(&self, source: DateSource, key: &UrlKey) -> bool {
        let is_bad = |family: &str| self.bad.contains_key(&(source, family.to_owned()));
        self.bad.is_empty() || !is_bad(HOST) && !first_directory(key).is_some_and(is_bad)
    }
}
