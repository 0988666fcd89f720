//! Whose `Last-Modified` is believed: hosts and first-level directories that often answered with the time
//! of the request, or whose values moved while the content did not, are not.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    page::RunId,
    store::{Store, StoreError},
    url_key::UrlKey,
};

/// `run` and the run that decided it; then directories that are not trusted, one per line; `*` is the
/// host as a whole.
pub(super) const DISTRUSTED: &str = "lastmod.distrusted";

/// Begins the line of [`DISTRUSTED`] that names the run; a directory begins with a slash.
const RUN_LINE: &str = "run ";

/// First-level directories that get statistics of their own; the others count for the host only.
const MAX_DIRECTORIES: usize = 10_000;

/// A share of pages above this makes a directory distrusted ...
const DISTRUST_PERCENT: u64 = 20;

/// ... and one below this lets it be trusted again.
const TRUST_PERCENT: u64 = 10;

/// The path of the first-level directory of `key`, if it is in one.
fn first_directory(key: &UrlKey) -> Option<&str> {
    let path = key.path();
    let below = path.strip_prefix('/')?;
    let (segment, _) = below.split_once('/')?;
    Some(path.split_at(segment.len() + 2).0)
}

/// How often `Last-Modified` was not to be believed.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    host: Count,
    directories: BTreeMap<String, Count>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    pages: u64,
    now: u64,
    moved: u64,
}

impl Count {
    fn add(&mut self, now: bool, moved: bool) {
        self.pages += 1;
        self.now += u64::from(now);
        self.moved += u64::from(moved);
    }

    fn is_above(self, percent: u64) -> bool {
        self.now.max(self.moved) * 100 > self.pages * percent
    }
}

impl Statistics {
    pub(super) fn add(&mut self, key: &UrlKey, now: bool, moved: bool) {
        self.host.add(now, moved);
        let Some(directory) = first_directory(key) else {
            return;
        };
        if let Some(count) = self.directories.get_mut(directory) {
            count.add(now, moved);
        } else if self.directories.len() < MAX_DIRECTORIES {
            let mut count = Count::default();
            count.add(now, moved);
            self.directories.insert(directory.to_owned(), count);
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

/// Whose `Last-Modified` is not used as evidence, remembered between runs so that a share at the
/// border does not flip back and forth.
///
/// Within one run trust only shrinks. A publish that is done again after it was interrupted finds the
/// dates that moved already in the ledger, so that they do not look moved any more; it must not come to
/// another decision for that.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Trust {
    /// The run that decided it, if it is one of this state.
    run: Option<RunId>,
    host_is_distrusted: bool,
    directories: BTreeSet<String>,
}

impl Trust {
    pub(super) fn read(store: &dyn Store) -> Result<Self, StoreError> {
        let mut trust = Self::default();
        for line in store.value(DISTRUSTED)?.unwrap_or_default().lines() {
            if let Some(run) = line.strip_prefix(RUN_LINE) {
                trust.run = run.parse().ok();
            } else if line == "*" {
                trust.host_is_distrusted = true;
            } else {
                trust.directories.insert(line.to_owned());
            }
        }
        Ok(trust)
    }

    /// `None` when everybody is trusted: then there is nothing that the run could not change.
    pub(super) fn to_text(&self) -> Option<String> {
        if !self.host_is_distrusted && self.directories.is_empty() {
            return None;
        }
        let run = self.run.map(|run| format!("{RUN_LINE}{run}"));
        let host = self.host_is_distrusted.then_some("*");
        let lines: Vec<&str> = run
            .as_deref()
            .into_iter()
            .chain(host)
            .chain(self.directories.iter().map(String::as_str))
            .collect();
        Some(lines.join("\n"))
    }

    /// Takes the statistics of `run` in; whether anything changed.
    pub(super) fn update(&mut self, run: RunId, statistics: &Statistics) -> bool {
        let limit = |was_distrusted| {
            if was_distrusted {
                TRUST_PERCENT
            } else {
                DISTRUST_PERCENT
            }
        };
        let mut new = Self {
            run: Some(run),
            host_is_distrusted: statistics.host.is_above(limit(self.host_is_distrusted)),
            directories: statistics
                .directories
                .iter()
                .filter(|(directory, count)| {
                    count.is_above(limit(self.directories.contains(*directory)))
                })
                .map(|(directory, _)| directory.clone())
                .collect(),
        };
        if self.run == Some(run) {
            new.host_is_distrusted |= self.host_is_distrusted;
            new.directories.extend(self.directories.iter().cloned());
        }
        let changed = new.to_text() != self.to_text();
        *self = new;
        changed
    }

    pub(super) fn trusts(&self, key: &UrlKey) -> bool {
        !self.host_is_distrusted
            && !first_directory(key).is_some_and(|directory| self.directories.contains(directory))
    }
}
