//! Whose dates are believed. `Last-Modified` of hosts and first-level directories that often answered with the time
//! of the request, or whose values moved while the content did not, is not; neither is what else is stated there
//! (structured data, metas, sitemaps, `time` elements), if it moved so, is mostly one and the same instant, or mostly
//! an instant of the day of the crawl, or the date of the sitemap file. Where most of it says no more than the day of the
//! crawl, that is doubtful, however few pages there are, and not used before another day confirms it: a template may
//! print the day of every request.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sitemap_core::LastMod;

use crate::{
    page::{DateSource, RunId},
    store::{Store, StoreError},
    url_key::UrlKey,
};

/// `run` and the run that decided it; then directories that are not trusted, one per line; `*` is the
/// host as a whole. For another source than `Last-Modified` its word and a space stand before it.
pub(super) const DISTRUSTED: &str = crate::store::names::LASTMOD_DISTRUSTED;

/// Begins the line of [`DISTRUSTED`] that names the run; a directory begins with a slash.
const RUN_LINE: &str = "run ";

/// First-level directories that get statistics of their own; the others count for the host only.
const MAX_DIRECTORIES: usize = 10_000;

/// A share of pages above this makes a directory distrusted ...
const DISTRUST_PERCENT: u64 = 20;

/// ... and one below this lets it be trusted again.
const TRUST_PERCENT: u64 = 10;

/// Distrust begins above this where values are one instant, or the day of the crawl ...
const DISTRUST_ALIKE_PERCENT: u64 = 50;

/// ... and back.
const TRUST_ALIKE_PERCENT: u64 = 25;

/// Dates that are stated in a directory before they are tested for being alike, or of the time of the crawl. Of fewer, only
/// those that move without the content tell anything.
const MIN_SAMPLES: u64 = 20;

/// Dates that are stated in a directory before most of them being the day of the crawl is doubtful: two pages may well
/// have changed on that day. Where it is the whole host that states it, one is enough.
const MIN_DOUBTED: u64 = 3;

/// A share of dates that are the day of the crawl above this is doubtful.
const DOUBT_PERCENT: u64 = 50;

/// Different instants that are counted at once. An instant that more than half of the pages state is never missed, and
/// counted at most a thirty-third too low.
const MAX_INSTANTS: usize = 32;

/// The family of a whole host.
const HOST: &str = "*";

/// The path of the first-level directory of `key`, if it is in one.
fn first_directory(key: &UrlKey) -> Option<&str> {
    let path = key.path();
    let below = path.strip_prefix('/')?;
    let (segment, _) = below.split_once('/')?;
    Some(path.split_at(segment.len() + 2).0)
}

/// How often the dates of each source were not to be believed.
#[derive(Debug, Default)]
pub(super) struct Statistics {
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
    /// Those that were read.
    pages: u64,
    /// Those that were not, because they are what they were or could not be fetched.
    unread: u64,
    /// The time of the request on its day, or that of the sitemap file.
    now: u64,
    moved: u64,
    /// Those that moved to a time at which the content was what it is.
    claimed: u64,
    /// Those that state a date, and say the same as when they were read, or were read now; ...
    dated: u64,
    /// ... and those among them whose date may be the day of the crawl.
    today: u64,
    /// How often each instant is stated; by Misra and Gries, "Finding repeated elements" (1982).
    instants: Vec<(i64, u64)>,
}

impl Count {
    fn add(&mut self, sample: Sample) {
        self.pages += 1;
        self.now += u64::from(sample.now);
        self.moved += u64::from(sample.moved != Moved::No);
        self.claimed += u64::from(sample.moved == Moved::ToLater);
        let Some(instant) = sample.instant else {
            return;
        };
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

    /// Whether a source is not to be believed.
    fn is_bad(&self, source: DateSource, was_bad: bool) -> bool {
        let (percent, alike_percent) = if was_bad {
            (TRUST_PERCENT, TRUST_ALIKE_PERCENT)
        } else {
            (DISTRUST_PERCENT, DISTRUST_ALIKE_PERCENT)
        };
        let all = self.pages + self.unread;
        if source != DateSource::Header && all < MIN_SAMPLES {
            // One page may be saved anew as it is; a template does it to all of them. An earlier date may be a
            // correction. A page that was not read because it is what it was states what it stated.
            return self.claimed * 100 > all * alike_percent;
        }
        if was_bad && self.unread > 0 && self.pages < MIN_SAMPLES {
            // Hardly anybody knows what is stated now.
            return true;
        }
        // A page that is what it was has not stated anything else; that does not make up for what was wrong before.
        let pages = if was_bad { self.pages } else { all };
        let is_above = |count: u64, percent| count * 100 > pages * percent;
        if source == DateSource::Header {
            return is_above(self.now.max(self.moved), percent);
        }
        let alike = self.instants.iter().map(|(_, count)| *count).max();
        (was_bad || self.pages >= MIN_SAMPLES)
            && (is_above(self.moved, percent)
                || is_above(self.now.max(alike.unwrap_or_default()), alike_percent))
    }

    /// Whether the dates that are the day of the crawl may be those of a template that says so every day.
    fn is_doubtful(&self, family: &str) -> bool {
        (family == HOST || self.dated >= MIN_DOUBTED)
            && self.today * 100 > self.dated * DOUBT_PERCENT
    }
}

/// Whether a date moved while the content did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    /// It did not, or the content did too, or nobody knows.
    No,
    /// To a time before this content was seen first.
    ToEarlier,
    /// To a time at which this content had been seen already.
    ToLater,
}

/// What one page tells of a source.
#[derive(Debug, Clone, Copy)]
struct Sample {
    now: bool,
    moved: Moved,
    instant: Option<i64>,
}

impl Statistics {
    /// Counts a page, whether or not it has the header.
    pub(super) fn add_header(&mut self, key: &UrlKey, now: bool, moved: Moved) {
        let instant = None;
        let sample = Sample {
            now,
            moved,
            instant,
        };
        self.add(DateSource::Header, key, sample);
    }

    /// Counts a date that is stated now, whether or not the page was read for it; `is_today` says that it may be the
    /// day of the crawl.
    pub(super) fn add_dated(&mut self, source: DateSource, key: &UrlKey, is_today: bool) {
        self.change(source, key, |count| {
            count.dated += 1;
            count.today += u64::from(is_today);
        });
    }

    /// Counts a date that is stated; `now` says that it is the time of the crawl, or of the sitemap file.
    pub(super) fn add_stated(
        &mut self,
        source: DateSource,
        key: &UrlKey,
        value: &LastMod,
        now: bool,
        moved: Moved,
    ) {
        // Many pages may have changed on one day.
        let instant = value
            .as_str()
            .contains('T')
            .then(|| value.latest_instant().as_second());
        let sample = Sample {
            now,
            moved,
            instant,
        };
        self.add(source, key, sample);
    }

    /// Counts a page that was not read, of which `source` stated something before.
    pub(super) fn add_unread(&mut self, source: DateSource, key: &UrlKey) {
        self.change(source, key, |count| count.unread += 1);
    }

    fn add(&mut self, source: DateSource, key: &UrlKey, sample: Sample) {
        self.change(source, key, |count| count.add(sample));
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

/// Whom the state of a site does not trust, as a value for its fresh state, whose runs are others.
///
/// # Errors
/// The store failed.
pub(crate) fn distrusted(store: &dyn Store) -> Result<(String, Option<String>), StoreError> {
    let trust = Trust {
        run: None,
        ..Trust::read(store)?
    };
    Ok((DISTRUSTED.to_owned(), trust.to_text()))
}

/// The value that [`distrusted`] gave with this text.
pub(crate) fn distrusted_value(text: Option<String>) -> (String, Option<String>) {
    (DISTRUSTED.to_owned(), text)
}

/// Whose dates are not used as evidence, remembered between runs so that a share at the border does not flip
/// back and forth.
///
/// Within one run trust only shrinks. A publish that is done again after it was interrupted finds the
/// dates that moved already in the ledger, so that they do not look moved any more; it must not come to
/// another decision for that.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Trust {
    /// The run that decided it, if it is one of this state.
    run: Option<RunId>,
    /// Sources with a directory, or [`HOST`].
    bad: BTreeSet<(DateSource, String)>,
    /// Sources, with a directory or [`HOST`], of which one day is not believed in this run: the next one, on another day,
    /// knows better. Not remembered.
    doubted: BTreeSet<(DateSource, String)>,
}

impl Trust {
    pub(super) fn read(store: &dyn Store) -> Result<Self, StoreError> {
        let mut trust = Self::default();
        for line in store.value(DISTRUSTED)?.unwrap_or_default().lines() {
            if let Some(run) = line.strip_prefix(RUN_LINE) {
                trust.run = run.parse().ok();
                continue;
            }
            let stated = line
                .split_once(' ')
                .and_then(|(word, family)| Some((DateSource::from_word(word)?, family)));
            let (source, family) = stated.unwrap_or((DateSource::Header, line));
            trust.bad.insert((source, family.to_owned()));
        }
        Ok(trust)
    }

    /// `None` when everybody is trusted: then there is nothing that the run could not change.
    pub(super) fn to_text(&self) -> Option<String> {
        if self.bad.is_empty() {
            return None;
        }
        let run = self.run.map(|run| format!("{RUN_LINE}{run}"));
        let families = self.bad.iter().map(|(source, family)| match source {
            DateSource::Header => family.clone(),
            source => format!("{} {family}", source.as_str()),
        });
        let lines: Vec<String> = run.into_iter().chain(families).collect();
        Some(lines.join("\n"))
    }

    /// Takes the statistics of `run` in; whether anything changed.
    pub(super) fn update(&mut self, run: RunId, statistics: &Statistics) -> bool {
        let mut new = Self {
            run: Some(run),
            ..Self::default()
        };
        for (&source, families) in &statistics.of {
            let host = std::iter::once((HOST, &families.host));
            let directories = families
                .directories
                .iter()
                .map(|(directory, count)| (directory.as_str(), count));
            for (family, count) in host.chain(directories) {
                let is_doubtful = count.is_doubtful(family);
                let family = (source, family.to_owned());
                if is_doubtful {
                    new.doubted.insert(family.clone());
                }
                if count.is_bad(source, self.bad.contains(&family)) {
                    new.bad.insert(family);
                }
            }
        }
        if self.run == Some(run) {
            new.bad.extend(self.bad.iter().cloned());
        }
        let changed = new.to_text() != self.to_text();
        *self = new;
        changed
    }

    /// Whether what `source` says of `key` is used.
    pub(super) fn trusts(&self, source: DateSource, key: &UrlKey) -> bool {
        if self.bad.is_empty() {
            return true;
        }
        !holds(&self.bad, source, key)
    }

    /// Whether `source` may say of every page, and so of `key`, that it is of the day of the crawl.
    pub(super) fn doubts(&self, source: DateSource, key: &UrlKey) -> bool {
        !self.doubted.is_empty() && holds(&self.doubted, source, key)
    }
}

/// Whether the host of `key`, or its directory, is among `families` with `source`.
fn holds(families: &BTreeSet<(DateSource, String)>, source: DateSource, key: &UrlKey) -> bool {
    let is_in = |family: &str| families.contains(&(source, family.to_owned()));
    is_in(HOST) || first_directory(key).is_some_and(is_in)
}
