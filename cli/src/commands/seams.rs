//! Where the real network and the real state are made: the only place of the program that names them.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crawler::{
    IS_FOR_TESTS,
    clock::{Clock, SystemClock},
    config::FetchConfig,
    fetch::{FetchError, FetchErrorKind, http::HttpFetch},
    holds::{Holds, HoldsError},
    publish::{Recalled, carry_over, recall, recall_dates, salvage},
    site::Site,
    store::{
        Store, StoreError,
        sqlite::{self, Damaged, Sound, SqliteStore, held_since},
    },
};
use jiff::{SignedDuration, Timestamp};

use crate::{
    human,
    output::Output,
    settings::{Environment, duration},
};

/// The clock of the machine; for tests of what takes days, as far ahead of it as the variable
/// `ARPENT_CLOCK_AHEAD` says, or behind it when that begins with a minus. A program that was not built for tests does
/// not know the variable.
pub(super) fn clock(environment: &Environment) -> Arc<dyn Clock> {
    let shift = environment.get("ARPENT_CLOCK_AHEAD");
    let shift = shift.filter(|_| IS_FOR_TESTS).and_then(|text| {
        let (text, is_behind) = match text.strip_prefix('-') {
            Some(text) => (text, true),
            None => (text.as_str(), false),
        };
        let shift = SignedDuration::try_from(duration(text)?).ok()?;
        Some(if is_behind { -shift } else { shift })
    });
    match shift {
        Some(shift) => Arc::new(ShiftedClock(shift)),
        None => Arc::new(SystemClock),
    }
}

/// A clock that shows another time than that of the machine.
#[derive(Debug)]
struct ShiftedClock(SignedDuration);

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        let now = SystemClock.now();
        now.checked_add(self.0).unwrap_or(now)
    }
}

/// The door to the network.
///
/// # Errors
/// A setting cannot be used, e.g. the file of certificate authorities.
pub(super) fn network(config: &FetchConfig) -> Result<Arc<HttpFetch>, FetchError> {
    Ok(Arc::new(HttpFetch::new(config)?))
}

/// What hosts asked to wait for, in the folder `state`; remembered by this start of the program alone where there is no
/// such folder.
pub(super) fn holds(state: &Path) -> Holds {
    if state.as_os_str().is_empty() {
        Holds::default()
    } else {
        Holds::in_file(&state.join("retry-after"))
    }
}

/// Where nobody knows which hosts asked to wait, no request may be made.
pub(super) fn held(error: HoldsError) -> FetchError {
    FetchError::new(
        FetchErrorKind::Forbidden,
        "not requested, because nobody knows which hosts asked to wait",
    )
    .with_source(error)
}

/// The state `path` of one site, begun when there is none.
///
/// # Errors
/// See [`StoreError`].
pub(super) fn state(path: &Path) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(SqliteStore::open(path)?))
}

/// Shows the state `path` of one site to `look`, if there is one that can be read, and touches nothing. What is wrong
/// with it is told by whoever opens it.
pub(super) fn peek(path: &Path, look: &mut dyn FnMut(&dyn Store)) {
    match SqliteStore::peek(path) {
        Ok(Some(store)) => look(&store),
        Ok(None) => {}
        Err(error) => tracing::debug!(target: "store", "{error}"),
    }
}

/// The existing state `path`, to see what would come of work on it: nothing that is written stays.
///
/// # Errors
/// See [`StoreError`].
pub(super) fn rehearsed_state(path: &Path) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(SqliteStore::rehearse(path)?))
}

/// The files of the state `path`, and of those that were set aside in its place.
///
/// # Errors
/// See [`StoreError`].
pub(super) fn files_of(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    sqlite::files_of(path)
}

/// Removes them, and what `also` removes, while nobody else works with the state.
///
/// # Errors
/// See [`StoreError`]; or `also` failed.
pub(super) fn forget(
    path: &Path,
    also: impl FnOnce() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    sqlite::forget(path, also)
}

/// Since when somebody works with the state `path`; `None`: nobody does.
pub(super) fn busy_since(path: &Path) -> Option<Timestamp> {
    held_since(path)
}

/// The state of a site that is about to be crawled.
pub(super) struct Opened {
    /// It, or what took its place.
    pub(super) store: Box<dyn Store>,
    /// What was found damaged and is set aside.
    pub(super) damaged: Option<Damaged>,
    /// What a state that knew of no published set, or of an older one, read back from it.
    pub(super) recalled: Recalled,
}

impl Opened {
    /// Tells of a state that was damaged, or knew nothing of the set that stands.
    pub(super) fn tell(&self, site: &Site, output: &Output) {
        let Recalled {
            files,
            pages,
            dates,
            was_outdated,
        } = self.recalled;
        let recalled = (files > 0).then(|| {
            format!(
                "the published set is read back: {} in {}, with dates of {}",
                human::count(pages, "page"),
                human::count(files, "file"),
                human::count(dates, "page")
            )
        });
        let site = site.url();
        if let Some(damaged) = &self.damaged {
            let recalled = recalled.map_or_else(String::new, |recalled| format!("; {recalled}"));
            output.error(&format!(
                "{site}: {}; it is kept as {}, and a new one begins{recalled}",
                damaged.problem,
                damaged.aside.display()
            ));
        } else if let Some(recalled) = recalled {
            let what = if was_outdated {
                "the state is older than the published set (is it a copy, or of another user?); what its crawls found counts no more"
            } else {
                "the state knows of no set"
            };
            output.warn(&format!("{site}: {what}; {recalled}"));
        }
    }
}

/// The state of a site that is to be crawled: all of it is looked at, and when it is damaged (as `damage` may say already) it is set
/// aside and one takes its place that knows what the published set in `output` and the damaged one tell.
///
/// # Errors
/// See [`StoreError`].
pub(super) fn sound_state(
    path: &Path,
    now: Timestamp,
    damage: Option<&str>,
    (site, output): (&Site, &Path),
) -> Result<Opened, StoreError> {
    let mut recalled = Recalled::default();
    let opened = SqliteStore::open_sound(path, &file_time(now), damage, |old, new| {
        recalled = salvage(old, new, site, output)?;
        Ok(())
    })?;
    let Sound { store, damaged } = opened;
    let mut store: Box<dyn Store> = Box::new(store);
    if damaged.is_none() {
        recalled = recall(&mut *store, site, output)?;
    }
    Ok(Opened {
        store,
        damaged,
        recalled,
    })
}

/// A time as a part of the name of a file.
fn file_time(now: Timestamp) -> String {
    now.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// The state of a site that is to be crawled as if for the first time: an existing state is set aside, and the new one knows of it only what the
/// published set needs to stay true. Killed at any instant, it leaves the one or the other.
///
/// # Errors
/// See [`StoreError`].
pub(super) fn fresh_state(
    path: &Path,
    now: Timestamp,
    (site, output): (&Site, &Path),
) -> Result<Opened, StoreError> {
    let store =
        SqliteStore::open_anew(path, &file_time(now), |old, new| carry_over(old, new, now))?;
    let mut store: Box<dyn Store> = Box::new(store);
    let recalled = recall_dates(&mut *store, site, output)?;
    Ok(Opened {
        store,
        damaged: None,
        recalled,
    })
}
