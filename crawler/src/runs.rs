//! Which run of a site is open: begun and not finished. An open run is resumed by the next start;
//! a finished one is followed by a new run. Kept in the store's named values.

use jiff::Timestamp;

use crate::{
    page::RunId,
    store::{Commit, Store, StoreError, StoreErrorKind},
};

/// Number of the newest run.
const NUMBER: &str = "run.number";
/// `open` or `finished`.
const STATE: &str = "run.state";
/// Fingerprint of the settings that decide which URLs are known: another one starts a new run.
const IDENTITY: &str = "run.identity";
/// The first `Date` that the host sent in the run, or our own clock when it sent none (RFC 3339).
const HOST_DATE: &str = "run.host_date";
/// When the run began (RFC 3339).
const STARTED: &str = "run.started";

/// The run a start of the program works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenRun {
    /// Its number.
    pub number: RunId,
    /// Whether it was begun by an earlier start.
    pub resumed: bool,
}

/// Resumes the open run, or begins a new one. `identity` is the fingerprint of the settings that
/// decide which URLs are known; `host_date` the host's clock now.
///
/// # Errors
/// The store failed, or holds values that cannot be read.
pub fn open(
    store: &mut dyn Store,
    identity: &str,
    host_date: Timestamp,
    now: Timestamp,
) -> Result<OpenRun, StoreError> {
    let number = number(store)?;
    let is_open = store.value(STATE)?.as_deref() == Some("open");
    if is_open && store.value(IDENTITY)?.as_deref() == Some(identity) {
        return Ok(OpenRun {
            number,
            resumed: true,
        });
    }
    let number = number + 1;
    store.begin_run(number)?;
    let values = [
        (NUMBER, number.to_string()),
        (STATE, "open".to_owned()),
        (IDENTITY, identity.to_owned()),
        (HOST_DATE, host_date.to_string()),
        (STARTED, now.to_string()),
    ];
    let values = values
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Some(value)))
        .collect();
    store.commit(&Commit {
        run: number,
        values,
        ..Commit::default()
    })?;
    Ok(OpenRun {
        number,
        resumed: false,
    })
}

/// Marks run `number` as finished: its result was published, or refused for good.
///
/// # Errors
/// The store failed; the run stays open.
pub fn finish(store: &mut dyn Store, number: RunId) -> Result<(), StoreError> {
    let values = vec![(STATE.to_owned(), Some("finished".to_owned()))];
    store.commit(&Commit {
        run: number,
        values,
        ..Commit::default()
    })
}

/// The host's clock when the run began: a `Last-Modified` that is not earlier counts as "now".
///
/// # Errors
/// The store failed, or holds a value that cannot be read.
pub fn host_date(store: &dyn Store) -> Result<Option<Timestamp>, StoreError> {
    let Some(text) = store.value(HOST_DATE)? else {
        return Ok(None);
    };
    text.parse()
        .map(Some)
        .map_err(|error: jiff::Error| corrupt(HOST_DATE, &text).with_source(error))
}

fn number(store: &dyn Store) -> Result<RunId, StoreError> {
    let Some(text) = store.value(NUMBER)? else {
        return Ok(0);
    };
    text.parse()
        .map_err(|error: std::num::ParseIntError| corrupt(NUMBER, &text).with_source(error))
}

fn corrupt(name: &str, text: &str) -> StoreError {
    StoreError::new(
        StoreErrorKind::Corrupt,
        format!("the state's value {name} cannot be read: {text:?}"),
    )
}
