//! Where the real network and the real state are made: the only place of the program that names them.

use std::{path::Path, sync::Arc, time::Duration};

use crawler::{
    clock::{Clock, SystemClock},
    config::FetchConfig,
    fetch::{Fetch, FetchError, http::HttpFetch},
    publish::carry_over,
    store::{Store, StoreError, sqlite::SqliteStore},
};
use jiff::Timestamp;

use crate::settings::{Environment, duration};

/// The clock of the machine; for tests of what takes days, as far ahead of it as the variable
/// `ARPENT_CLOCK_AHEAD` says.
pub(super) fn clock(environment: &Environment) -> Arc<dyn Clock> {
    match environment
        .get("ARPENT_CLOCK_AHEAD")
        .map(|text| duration(text))
    {
        Some(Some(ahead)) => Arc::new(ClockAhead(ahead)),
        Some(None) | None => Arc::new(SystemClock),
    }
}

/// A clock that shows a later time than that of the machine.
#[derive(Debug)]
struct ClockAhead(Duration);

impl Clock for ClockAhead {
    fn now(&self) -> Timestamp {
        let now = SystemClock.now();
        now.checked_add(self.0).unwrap_or(now)
    }
}

/// The door to the network.
///
/// # Errors
/// A setting cannot be used, e.g. the file of certificate authorities.
pub(super) fn network(config: &FetchConfig) -> Result<Arc<dyn Fetch>, FetchError> {
    Ok(Arc::new(HttpFetch::new(config)?))
}

/// The state `path` of one site, begun when there is none.
///
/// # Errors
/// See [`StoreError`].
pub(super) fn state(path: &Path) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(SqliteStore::open(path)?))
}

/// The same for `--fresh`: an existing state is set aside, and the new one knows of it only what the
/// published set needs to stay true. Killed at any instant, it leaves the one or the other.
///
/// # Errors
/// See [`StoreError`].
pub(super) fn fresh_state(path: &Path, now: Timestamp) -> Result<Box<dyn Store>, StoreError> {
    let timestamp = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    Ok(Box::new(SqliteStore::open_anew(
        path, &timestamp, carry_over,
    )?))
}
