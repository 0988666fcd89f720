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
    site_run::Opened,
    store::{self, Store, StoreError, held_since},
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
pub(super) fn state(path: &Path) -> Result<Store, StoreError> {
    Store::open(path)
}

/// Shows the state `path` of one site to `look`, if there is one that can be read, and touches nothing. What is wrong
/// with it is told by whoever opens it.
pub(super) fn peek(path: &Path, look: &mut dyn FnMut(&Store)) {
    match Store::peek(path) {
        Ok(Some(store)) => look(&store),
        Ok(None) => {}
        Err(error) => tracing::debug!(target: "store", "{error}"),
    }
}

/// The files of the state `path`, and of those that were set aside in its place.
///
/// # Errors
/// See [`StoreError`].
pub(super) fn files_of(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    store::files_of(path)
}

/// Removes them, and what `also` removes, while nobody else works with the state.
///
/// # Errors
/// See [`StoreError`]; or `also` failed.
pub(super) fn forget(
    path: &Path,
    also: impl FnOnce() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    store::forget(path, also)
}

/// Since when somebody works with the state `path`; `None`: nobody does.
pub(super) fn busy_since(path: &Path) -> Option<Timestamp> {
    held_since(path)
}

/// Prints what opening the state of the site at `url` found: a state that was damaged, or that did not know the published set.
pub(super) fn report_opened(opened: &Opened, url: &str, output: &Output) {
    let imported = opened.imported.as_ref().map(|imported| {
        format!(
            "the published set is read back: {} in {}",
            human::count(imported.pages, "page"),
            human::count(imported.files, "file"),
        )
    });
    match (&opened.damaged, imported) {
        (Some(damaged), imported) => {
            let imported = imported.map_or_else(String::new, |imported| format!("; {imported}"));
            output.error(&format!(
                "{url}: {}; it is kept as {}, and a new one begins{imported}",
                damaged.problem,
                damaged.aside.display()
            ));
        }
        (None, Some(imported)) => output.warn(&format!(
            "{url}: the state does not know the published set, or is older (is it a copy, or of another user?); {imported}"
        )),
        (None, None) => {}
    }
    for warning in &opened.warnings {
        output.warn(&format!("{url}: {warning}"));
    }
}
