//! Settings of a daemon that shares the sites of a catalogue with others, and their readers.

use std::{fmt, ops::RangeInclusive, path::Path, time::Duration};

use super::{
    is_storage,
    value::{Read, Value, Wrong, duration, optional_text},
};

/// Settings of the workers of a fleet.
#[derive(Clone)]
pub(crate) struct Fleet {
    /// URL of the database with the sites; it may have a password.
    pub(crate) catalogue: Option<String>,
    /// URL of the object storage with the states, without a last slash.
    pub(crate) storage: Option<String>,
    /// Time after which another worker may take over the sites of a worker that does not answer.
    pub(crate) lease_time: Duration,
    /// Time between two copies of the state of a site that is crawled.
    pub(crate) checkpoint_interval: Duration,
}

impl Default for Fleet {
    fn default() -> Self {
        Self {
            catalogue: None,
            storage: None,
            lease_time: Duration::from_secs(60),
            checkpoint_interval: Duration::from_secs(5 * 60),
        }
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet")
            .field("storage", &self.storage)
            .field("lease_time", &self.lease_time)
            .field("checkpoint_interval", &self.checkpoint_interval)
            .finish_non_exhaustive()
    }
}

/// The URL of a database; empty: none. It may have a password, so it is not repeated.
pub(super) fn catalogue(value: &Value) -> Read<Option<String>> {
    const EXPECTED: &str = "expected the URL of a database, postgres://USER@HOST/DATABASE";
    let Value::Text(text) = value else {
        return Err(Wrong::new(EXPECTED));
    };
    let schemes = ["postgres://", "postgresql://"];
    let is_url = schemes.iter().any(|scheme| text.starts_with(scheme));
    match text.as_str() {
        "" => Ok(None),
        url if is_url && !url.contains(char::is_control) => Ok(Some(url.to_owned())),
        _ => Err(Wrong::new(EXPECTED)),
    }
}

/// The URL of object storage; empty: none.
pub(super) fn storage(value: &Value) -> Read<Option<String>> {
    const EXPECTED: &str =
        "a bucket as s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX";
    let Some(url) = optional_text(value, EXPECTED)? else {
        return Ok(None);
    };
    if !is_storage(Path::new(&url)) || url.contains(['?', '#', '@']) {
        return Err(Wrong::found(EXPECTED, value));
    }
    if !cfg!(feature = "cloud") {
        return Err(Wrong::new(
            "this arpent was built without object storage; expected a package, or a build with --features catalogue",
        ));
    }
    Ok(Some(url.trim_end_matches('/').to_owned()))
}

/// Time of a lease. Below two seconds a heartbeat that is late would lose it.
pub(super) fn lease_time(value: &Value) -> Read<Duration> {
    within(value, 2..=60 * 60, "a duration from 2s to 1h")
}

/// Time between two checkpoints.
pub(super) fn checkpoint_interval(value: &Value) -> Read<Duration> {
    within(value, 1..=24 * 60 * 60, "a duration from 1s to 24h")
}

/// A duration within a range of seconds.
fn within(value: &Value, seconds: RangeInclusive<u64>, range_text: &str) -> Read<Duration> {
    let range = Duration::from_secs(*seconds.start())..=Duration::from_secs(*seconds.end());
    let found = duration(value)?;
    if range.contains(&found) {
        Ok(found)
    } else {
        Err(Wrong::found(range_text, value))
    }
}
