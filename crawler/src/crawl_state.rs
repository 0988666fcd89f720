//! The crawl of a site that is under way: begun and not finished. An open crawl goes on with the next session; one that is
//! finished or refused is followed by a new one. Kept in the store's named values.

use std::ops::ControlFlow;

use jiff::{SignedDuration, Timestamp};

use crate::{
    client::names::KnownNames,
    page::CrawlId,
    robots::Rules,
    store::{
        Effect, MetaValue, Shown, Store, StoreError, StoreErrorKind, StoredSession, json_value,
    },
    verdict::RulesAtRest,
};

/// Number of the newest crawl.
const NUMBER: &str = crate::store::names::CRAWL_NUMBER;
/// A word of [`Phase`].
const STATE: &str = crate::store::names::CRAWL_STATE;
/// Fingerprint of the settings that decide which URLs are known: another one begins a new crawl.
const IDENTITY: &str = crate::store::names::CRAWL_IDENTITY;
/// The first `Date` that the host sent in the crawl, or our own clock when it sent none (RFC 3339).
const HOST_DATE: &str = crate::store::names::CRAWL_HOST_DATE;
/// The kind of network that the start host was on: `public`, `private`, `loopback` ...
const NETWORK: &str = crate::store::names::CRAWL_NETWORK;
/// The times that this machine's clock and the host's showed in a session in which they were apart (RFC 3339, a blank between).
const CLOCKS: &str = crate::store::names::CRAWL_CLOCKS;
/// Present when the crawl sends no validators and looks at its own visits alone.
const FRESH: &str = crate::store::names::CRAWL_FRESH;

/// The rules of robots.txt of the site when it was read last ([`Rules::to_text`]).
const ROBOTS: &str = crate::store::names::CRAWL_ROBOTS;

/// See [`KnownNames`].
const NAMES: &str = crate::store::names::CRAWL_NAMES;

/// Present when nothing is left to request.
const DRAINED: &str = crate::store::names::CRAWL_DRAINED;

/// See [`not_recorded`].
pub(crate) const NOT_RECORDED: &str = crate::store::names::CRAWL_NOT_RECORDED;

/// Clocks that are less apart agree: a host that states its local time is no further off, nor is a cache.
const MAX_APART: SignedDuration = SignedDuration::from_hours(24);

/// An unlisted URL that no crawl meets for so long is forgotten: when it comes back in that time, its last answer and the
/// history of its `lastmod` are still known. As long as a page that only fails stays listed.
pub const FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(30 * 24);

/// More crawls than any site will ever have, one a second for a century; a larger number is damage.
const MAX_CRAWLS: CrawlId = 1 << 32;

/// How far the newest crawl is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The next session goes on with it.
    Open,
    /// The crawl was published, or none was begun: visits that are still there do not count.
    Finished,
    /// The guard refused it. Its visits are outside of the merged view until somebody publishes them with force; the next
    /// crawl begins by deleting them.
    Refused,
}

impl Phase {
    fn code(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Open => "open",
            Self::Refused => "refused",
        }
    }
}

/// The crawl that a session works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenCrawl {
    /// The number.
    pub number: CrawlId,
    /// `true` if it was begun by an earlier session.
    pub resumed: bool,
    /// `true` if it is one of `--fresh`.
    pub is_fresh: bool,
}

/// Goes on with the open crawl, or begins a new one, which deletes the visits of the last. `identity` is the fingerprint of
/// the settings that decide which URLs are known; `host_date` the host's clock now; `fresh` begins a new crawl in any case.
///
/// # Errors
/// The store failed, or holds values that cannot be read.
pub fn open(
    store: &mut Store,
    identity: &str,
    host_date: Timestamp,
    fresh: bool,
) -> Result<OpenCrawl, StoreError> {
    let next = next(store, identity, fresh)?;
    if next.resumed {
        note_drained(store, false)?;
        return Ok(next);
    }
    let number = next.number;
    let values = [
        (NUMBER, Some(number.to_string())),
        (STATE, Some(Phase::Open.code().to_owned())),
        (IDENTITY, Some(identity.to_owned())),
        (HOST_DATE, Some(host_date.to_string())),
        (FRESH, fresh.then(|| "1".to_owned())),
        (DRAINED, None),
        (CLOCKS, None),
        (NOT_RECORDED, None),
    ];
    let values = values.map(|(name, value)| (name.to_owned(), value));
    let mut effects = Effect::values(values);
    effects.push(Effect::ClearVisits);
    store.commit(&effects)?;
    Ok(next)
}

/// The crawl that [`open`] would go on with or begin.
///
/// # Errors
/// The store cannot be read, or holds values that cannot be.
pub fn next(store: &Store, identity: &str, fresh: bool) -> Result<OpenCrawl, StoreError> {
    let number = number(store)?;
    let is_open = phase(store)? == Phase::Open && !fresh;
    let resumed = is_open && store.value(IDENTITY)?.as_deref() == Some(identity);
    Ok(OpenCrawl {
        number: if resumed { number } else { number + 1 },
        resumed,
        is_fresh: if resumed { is_fresh(store)? } else { fresh },
    })
}

/// How far the newest crawl is.
///
/// # Errors
/// The store cannot be read, or holds a value that cannot be.
pub fn phase(store: &Store) -> Result<Phase, StoreError> {
    match store.value(STATE)?.as_deref() {
        Some("open") => Ok(Phase::Open),
        None | Some("finished") => Ok(Phase::Finished),
        Some("refused") => Ok(Phase::Refused),
        Some(text) => Err(corrupt(STATE, text)),
    }
}

/// The value with the phase of the newest crawl.
pub(crate) fn phase_value(phase: Phase) -> MetaValue {
    (STATE.to_owned(), Some(phase.code().to_owned()))
}

/// Notes how far the newest crawl is.
///
/// # Errors
/// The store failed.
pub fn set_phase(store: &mut Store, phase: Phase) -> Result<(), StoreError> {
    store.commit(&[Effect::Value(phase_value(phase))])
}

/// Returns whether the newest crawl is one of `--fresh`.
///
/// # Errors
/// The store cannot be read.
pub fn is_fresh(store: &Store) -> Result<bool, StoreError> {
    Ok(store.value(FRESH)?.is_some())
}

/// Notes whether anything is left to ask for in the newest crawl.
///
/// # Errors
/// The store failed.
pub fn note_drained(store: &mut Store, is_drained: bool) -> Result<(), StoreError> {
    store.commit(&[Effect::value(DRAINED, is_drained.then(|| "1".to_owned()))])
}

/// Returns whether the last session of the newest crawl left nothing to ask for.
///
/// # Errors
/// The store cannot be read.
pub fn is_drained(store: &Store) -> Result<bool, StoreError> {
    Ok(store.value(DRAINED)?.is_some())
}

/// The number of the crawl under way, when a session of it published what it had found; `None`: published rows are those of
/// the crawl before it.
///
/// # Errors
/// The state cannot be read, or its content makes no sense.
pub fn published_in_part(store: &Store) -> Result<Option<CrawlId>, StoreError> {
    let number = number(store)?;
    let is_open = phase(store)? == Phase::Open;
    let is_published =
        |session: &StoredSession| session.crawl == Some(number) && session.exit_code == Some(3);
    Ok((is_open && store.sessions()?.iter().any(is_published)).then_some(number))
}

/// Returns whether a set was published, or imported.
///
/// # Errors
/// The store cannot be read.
pub fn has_pages(store: &Store) -> Result<bool, StoreError> {
    let mut found = false;
    store.each(None, Shown::Outline, &mut |rows| {
        found = rows.page_reason()?.is_some();
        Ok(if found {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    Ok(found)
}

/// The number of the newest crawl; 0 before the first.
///
/// # Errors
/// The store cannot be read, or holds a number that cannot be.
pub fn number(store: &Store) -> Result<CrawlId, StoreError> {
    let Some(text) = store.value(NUMBER)? else {
        return Ok(0);
    };
    let number = text
        .parse()
        .map_err(|error: std::num::ParseIntError| corrupt(NUMBER, &text).with_source(error))?;
    if number > MAX_CRAWLS {
        return Err(corrupt(NUMBER, &text));
    }
    Ok(number)
}

/// Notes on what kind of network the start host is: `public`, `private`, `loopback` and the like.
///
/// # Errors
/// The store failed.
pub fn note_network(store: &mut Store, network: &str) -> Result<(), StoreError> {
    store.commit(&[Effect::value(NETWORK, Some(network.to_owned()))])
}

/// Returns whether the start host was on the public network in the last crawl.
///
/// # Errors
/// The store cannot be read.
pub fn was_public(store: &Store) -> Result<bool, StoreError> {
    Ok(store.value(NETWORK)?.as_deref() == Some("public"))
}

/// Notes, if they are apart, that this machine's clock shows `ours` and the host's `host`; returns whether they are. It counts
/// for the whole crawl: a page may have been fetched in another session of it.
///
/// # Errors
/// The store failed.
pub fn note_clocks(
    store: &mut Store,
    ours: Timestamp,
    host: Timestamp,
) -> Result<bool, StoreError> {
    let are_apart = host.duration_since(ours).abs() > MAX_APART;
    if are_apart {
        store.commit(&[Effect::value(CLOCKS, Some(format!("{ours} {host}")))])?;
    }
    Ok(are_apart)
}

/// The times that this machine's clock and the host's showed in the newest crawl, if they were more than a day apart: then neither
/// shows when something happened.
///
/// # Errors
/// The store failed, or holds a value that cannot be read.
pub fn clocks_apart(store: &Store) -> Result<Option<(Timestamp, Timestamp)>, StoreError> {
    let Some(text) = store.value(CLOCKS)? else {
        return Ok(None);
    };
    let clocks = text
        .split_once(' ')
        .and_then(|(ours, host)| Some((ours.parse().ok()?, host.parse().ok()?)));
    clocks.map(Some).ok_or_else(|| corrupt(CLOCKS, &text))
}

/// What the site is judged by without asking it.
///
/// # Errors
/// The store failed, or holds a value that cannot be read.
pub(crate) fn rules_at_rest(store: &Store) -> Result<RulesAtRest, StoreError> {
    Ok(RulesAtRest {
        robots: store.value(ROBOTS)?.map(|text| Rules::from_text(&text)),
        are_clocks_apart: clocks_apart(store)?.is_some(),
    })
}

/// The other spellings of the origin of the site that answered.
///
/// # Errors
/// The store cannot be read.
pub(crate) fn names(store: &Store) -> Result<KnownNames, StoreError> {
    Ok(store.read_json(NAMES)?.unwrap_or_default())
}

/// Stores them.
///
/// # Errors
/// The store failed.
pub(crate) fn note_names(store: &mut Store, names: &KnownNames) -> Result<(), StoreError> {
    if self::names(store)? == *names {
        return Ok(());
    }
    store.commit(&[Effect::Value(json_value(NAMES, names))])
}

/// Stores the rules of robots.txt of the site, for [`rules_at_rest`].
pub(crate) fn note_robots(store: &mut Store, robots: &Rules) -> Result<(), StoreError> {
    let (name, text) = robots_value(robots);
    if store.value(&name)? == text {
        return Ok(());
    }
    store.commit(&[Effect::Value((name, text))])
}

/// The value that [`note_robots`] stores.
pub(crate) fn robots_value(robots: &Rules) -> MetaValue {
    (ROBOTS.to_owned(), Some(robots.to_text()))
}

/// How many links the newest crawl did not record, because a bound was reached.
///
/// # Errors
/// The store failed, or holds a value that cannot be read.
pub fn not_recorded(store: &Store) -> Result<u64, StoreError> {
    let Some(text) = store.value(NOT_RECORDED)? else {
        return Ok(0);
    };
    text.parse()
        .map_err(|error: std::num::ParseIntError| corrupt(NOT_RECORDED, &text).with_source(error))
}

/// The host's clock when the crawl began: a `Last-Modified` that is not earlier counts as "now".
///
/// # Errors
/// The store failed, or holds a value that cannot be read.
pub fn host_date(store: &Store) -> Result<Option<Timestamp>, StoreError> {
    let Some(text) = store.value(HOST_DATE)? else {
        return Ok(None);
    };
    text.parse()
        .map(Some)
        .map_err(|error: jiff::Error| corrupt(HOST_DATE, &text).with_source(error))
}

fn corrupt(name: &str, text: &str) -> StoreError {
    StoreError::new(
        StoreErrorKind::Corrupt,
        format!("the state's value {name} cannot be read: {text:?}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_a_day_apart_are_noted() {
        let now: Timestamp = "2026-01-01T02:00:00Z".parse().unwrap();
        let check = |hours: i64, expected: bool| {
            let mut store = Store::in_memory().unwrap();
            let host = now + SignedDuration::from_hours(hours);
            open(&mut store, "", host, false).unwrap();
            assert_eq!(note_clocks(&mut store, now, host).unwrap(), expected);
            // A later session of the crawl in which they agree makes no difference.
            assert!(!note_clocks(&mut store, now, now).unwrap());
            let noted = expected.then_some((now, host));
            assert_eq!(clocks_apart(&store).unwrap(), noted, "{hours}");
            set_phase(&mut store, Phase::Finished).unwrap();
            open(&mut store, "", now, false).unwrap();
            assert_eq!(clocks_apart(&store).unwrap(), None, "{hours}");
        };
        check(0, false);
        check(24, false);
        check(-24, false);
        check(25, true);
        check(-25, true);
    }

    #[test]
    fn only_equal_settings_continue_an_open_crawl() {
        let mut store = Store::in_memory().unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let mut check = |identity: &str, fresh, number, resumed, is_fresh| {
            let found = open(&mut store, identity, now, fresh).unwrap();
            let expected = OpenCrawl {
                number,
                resumed,
                is_fresh,
            };
            assert_eq!(found, expected);
        };
        check("a", false, 1, false, false);
        check("a", false, 1, true, false);
        check("b", false, 2, false, false);
        check("b", true, 3, false, true);
        check("b", false, 3, true, true);
        set_phase(&mut store, Phase::Refused).unwrap();
        assert_eq!(open(&mut store, "b", now, false).unwrap().number, 4);
        assert!(!is_fresh(&store).unwrap());
    }

    #[test]
    fn a_value_that_cannot_be_is_damage() {
        for value in ["", "-1", &u64::MAX.to_string()] {
            let mut store = Store::in_memory().unwrap();
            store
                .commit(&[Effect::value(NUMBER, Some(value.to_owned()))])
                .unwrap();
            let error = open(&mut store, "", Timestamp::UNIX_EPOCH, false).unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{value}");
        }
    }
}
