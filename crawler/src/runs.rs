//! Which run of a site is open: begun and not finished. An open run is resumed by the next start;
//! a finished one is followed by a new run. Kept in the store's named values.

use jiff::{SignedDuration, Timestamp};

use crate::{
    page::RunId,
    store::{Commit, Forgotten, Store, StoreError, StoreErrorKind},
};

/// Number of the newest run.
const NUMBER: &str = crate::store::names::RUN_NUMBER;
/// `open` or `finished`.
const STATE: &str = crate::store::names::RUN_STATE;
/// Fingerprint of the settings that decide which URLs are known: another one starts a new run.
const IDENTITY: &str = crate::store::names::RUN_IDENTITY;
/// The first `Date` that the host sent in the run, or our own clock when it sent none (RFC 3339).
const HOST_DATE: &str = crate::store::names::RUN_HOST_DATE;

/// The kind of network that the start host was on: `public`, `private`, `loopback` ...
const NETWORK: &str = crate::store::names::RUN_NETWORK;

/// What this machine's clock and the host's showed in a start of the run in which they were apart (RFC 3339, a blank between).
const CLOCKS: &str = crate::store::names::RUN_CLOCKS;

/// See [`not_recorded`].
pub(crate) const NOT_RECORDED: &str = crate::store::names::RUN_NOT_RECORDED;

/// Clocks that are less apart agree: a host that states its local time is no further off, nor is a cache.
const MAX_APART: SignedDuration = SignedDuration::from_hours(24);

/// The number of a run, and when those of its starts began that nobody has judged by themselves (RFC 3339), with blanks between.
const STARTS: &str = crate::store::names::RUN_STARTS;

/// Starts that are remembered apart; the oldest are one from then on. A run that is stopped again and again is one of days.
const MAX_STARTS: usize = 4;

/// A finished run, and when it was finished: what no later run found is forgotten some time after.
const FORGET_MARK: &str = crate::store::names::RUN_FORGET;

/// So long a URL is remembered that no run finds any more, unless it is listed: when it comes back in that time, its
/// last answer and the history of its `lastmod` are still known. As long as a page that only fails keeps its place.
pub const FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(30 * 24);

/// More runs than any site will ever have, one a second for a century; a larger number is damage.
const MAX_RUNS: RunId = 1 << 32;

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
) -> Result<OpenRun, StoreError> {
    let next = next(store, identity)?;
    if next.resumed {
        return Ok(next);
    }
    let number = next.number;
    store.begin_run(number)?;
    let values = [
        (NUMBER, number.to_string()),
        (STATE, "open".to_owned()),
        (IDENTITY, identity.to_owned()),
        (HOST_DATE, host_date.to_string()),
    ];
    let values = values
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Some(value)))
        .chain([(CLOCKS.to_owned(), None), (NOT_RECORDED.to_owned(), None)])
        .collect();
    store.commit(&Commit {
        run: number,
        values,
        ..Commit::default()
    })?;
    Ok(next)
}

/// Notes on what kind of network the start host is: `public`, `private`, `loopback` and the like.
///
/// # Errors
/// The store failed.
pub fn note_network(store: &mut dyn Store, network: &str) -> Result<(), StoreError> {
    store.commit(&Commit {
        values: vec![(NETWORK.to_owned(), Some(network.to_owned()))],
        ..Commit::default()
    })
}

/// Whether the start host was on the public network in the last crawl.
///
/// # Errors
/// The store cannot be read.
pub fn was_public(store: &dyn Store) -> Result<bool, StoreError> {
    Ok(store.value(NETWORK)?.as_deref() == Some("public"))
}

/// Notes, if they are apart, that this machine's clock shows `ours` and the host's `host` in run `number`; says whether they
/// are. It counts for the whole run: a page may have been fetched in another start of it.
///
/// # Errors
/// The store failed.
pub fn note_clocks(
    store: &mut dyn Store,
    number: RunId,
    ours: Timestamp,
    host: Timestamp,
) -> Result<bool, StoreError> {
    let are_apart = host.duration_since(ours).abs() > MAX_APART;
    if are_apart {
        store.commit(&Commit {
            run: number,
            values: vec![(CLOCKS.to_owned(), Some(format!("{ours} {host}")))],
            ..Commit::default()
        })?;
    }
    Ok(are_apart)
}

/// What this machine's clock and the host's showed in the newest run, if they were more than a day apart: then neither says
/// when something happened.
///
/// # Errors
/// The store failed, or holds a value that cannot be read.
pub fn clocks_apart(store: &dyn Store) -> Result<Option<(Timestamp, Timestamp)>, StoreError> {
    let Some(text) = store.value(CLOCKS)? else {
        return Ok(None);
    };
    let clocks = text
        .split_once(' ')
        .and_then(|(ours, host)| Some((ours.parse().ok()?, host.parse().ok()?)));
    clocks.map(Some).ok_or_else(|| corrupt(CLOCKS, &text))
}

/// The run that [`open`] would resume or begin; nothing changes.
///
/// # Errors
/// The store failed, or holds values that cannot be read.
pub fn next(store: &dyn Store, identity: &str) -> Result<OpenRun, StoreError> {
    let number = number(store)?;
    let is_open = store.value(STATE)?.as_deref() == Some("open");
    let resumed = is_open && store.value(IDENTITY)?.as_deref() == Some(identity);
    Ok(OpenRun {
        number: if resumed { number } else { number + 1 },
        resumed,
    })
}

/// Notes that a start of the program begins at `now` to work on run `number`.
///
/// # Errors
/// The store failed.
pub fn note_start(store: &mut dyn Store, number: RunId, now: Timestamp) -> Result<(), StoreError> {
    let mut starts = unjudged_starts(&*store, number)?;
    starts.push(now);
    if starts.len() > MAX_STARTS {
        starts.remove(1);
    }
    let starts = starts.iter().map(|start| format!(" {start}"));
    let text = format!("{number}{}", starts.collect::<String>());
    store.commit(&Commit {
        run: number,
        values: vec![(STARTS.to_owned(), Some(text))],
        ..Commit::default()
    })
}

/// When the starts of run `number` began whose answers nobody has judged by themselves, in their order.
///
/// # Errors
/// The store cannot be read.
pub fn unjudged_starts(store: &dyn Store, number: RunId) -> Result<Vec<Timestamp>, StoreError> {
    let text = store.value(STARTS)?.unwrap_or_default();
    let mut words = text.split(' ');
    if words.next().and_then(|word| word.parse().ok()) != Some(number) {
        return Ok(Vec::new());
    }
    // What is damaged is no time.
    Ok(words.filter_map(|word| word.parse().ok()).collect())
}

/// The value that says that all of them are judged.
pub(crate) fn judged() -> (String, Option<String>) {
    (STARTS.to_owned(), None)
}

/// Marks run `number` as finished: its result was published, or refused for good.
///
/// # Errors
/// The store failed; the run stays open.
pub fn finish(store: &mut dyn Store, number: RunId) -> Result<(), StoreError> {
    let values = vec![finished()];
    store.commit(&Commit {
        run: number,
        values,
        ..Commit::default()
    })
}

/// The value that marks the newest run as finished.
pub(crate) fn finished() -> (String, Option<String>) {
    (STATE.to_owned(), Some("finished".to_owned()))
}

/// How many links the newest run did not record so far, because a bound of the settings was reached.
///
/// # Errors
/// The store cannot be read.
pub fn not_recorded(store: &dyn Store) -> Result<u64, StoreError> {
    let count = store.value(NOT_RECORDED)?;
    Ok(count
        .and_then(|count| count.parse().ok())
        .unwrap_or_default())
}

/// The number of the newest run; `None` before the first.
///
/// # Errors
/// The store failed, or holds a value that cannot be read.
pub fn newest(store: &dyn Store) -> Result<Option<RunId>, StoreError> {
    Ok(Some(number(store)?).filter(|number| *number > 0))
}

/// Forgets what no run has found for [`FORGOTTEN_AFTER`], once in that time; to be called when run `number` is finished. What
/// is forgotten was then found last at most twice as long ago, so that the store grows with the site as it was in that time.
/// A clock that was set back begins the time anew.
///
/// # Errors
/// The store failed, or holds a value that cannot be read; nothing is forgotten.
pub fn forget(store: &mut dyn Store, number: RunId, now: Timestamp) -> Result<(), StoreError> {
    let mark = match store.value(FORGET_MARK)? {
        Some(text) => Some(Mark::parse(&text).ok_or_else(|| corrupt(FORGET_MARK, &text))?),
        None => None,
    };
    let mark = mark.filter(|mark| mark.at <= now);
    if mark.is_some_and(|mark| now.duration_since(mark.at) < FORGOTTEN_AFTER) {
        return Ok(());
    }
    let next = Mark {
        run: number,
        at: now,
    };
    store.commit(&Commit {
        run: number,
        values: vec![(FORGET_MARK.to_owned(), Some(next.to_text()))],
        forgotten: mark.map(|mark| Forgotten {
            before: number.min(mark.run + 1),
            seen_before: mark.at,
        }),
        ..Commit::default()
    })
}

/// A run that was finished, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    run: RunId,
    at: Timestamp,
}

impl Mark {
    fn to_text(self) -> String {
        format!("{} {}", self.run, self.at)
    }

    fn parse(text: &str) -> Option<Self> {
        let (run, at) = text.split_once(' ')?;
        Some(Self {
            run: run.parse().ok().filter(|run| *run <= MAX_RUNS)?,
            at: at.parse().ok()?,
        })
    }
}

/// The host's clock when the run began: a `Last-Modified` that is not earlier counts as "now".
///
/// # Errors
/// The store failed, or holds a value that cannot be read.
pub fn host_date(store: &dyn Store) -> Result<Option<Timestamp>, StoreError> {
    time(store, HOST_DATE)
}

fn time(store: &dyn Store, name: &'static str) -> Result<Option<Timestamp>, StoreError> {
    let Some(text) = store.value(name)? else {
        return Ok(None);
    };
    text.parse()
        .map(Some)
        .map_err(|error: jiff::Error| corrupt(name, &text).with_source(error))
}

fn number(store: &dyn Store) -> Result<RunId, StoreError> {
    let Some(text) = store.value(NUMBER)? else {
        return Ok(0);
    };
    let number = text
        .parse()
        .map_err(|error: std::num::ParseIntError| corrupt(NUMBER, &text).with_source(error))?;
    if number > MAX_RUNS {
        return Err(corrupt(NUMBER, &text));
    }
    Ok(number)
}

fn corrupt(name: &str, text: &str) -> StoreError {
    StoreError::new(
        StoreErrorKind::Corrupt,
        format!("the state's value {name} cannot be read: {text:?}"),
    )
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;

    use super::*;
    use crate::{
        page::{Reason, Via},
        store::{Discovery, memory::MemoryStore},
        url_key::UrlKey,
    };

    fn found(path: &str, sequence: u64) -> Discovery {
        Discovery {
            key: UrlKey::from_normalised(&format!("https://example.com{path}")).unwrap(),
            sequence,
            depth: 1,
            hops: 0,
            via: Via::Link,
            found_on: None,
            reason: Reason::RobotsDisallowed,
        }
    }

    #[test]
    fn what_is_not_found_for_a_month_is_forgotten_before_the_second_is_over() {
        let begin: Timestamp = "2026-01-01T02:00:00Z".parse().unwrap();
        let mut store = MemoryStore::default();
        let mut known = Vec::new();
        // Found on the first night, until the tenth, every night.
        for night in 0..75_i64 {
            let now = begin + (24 * night).hours();
            let run = open(&mut store, "", now).unwrap().number;
            let mut discovered = vec![found("/always", 3)];
            discovered.extend((night == 0).then(|| found("/once", 1)));
            discovered.extend((night < 10).then(|| found("/ten", 2)));
            store
                .commit(&Commit {
                    run,
                    discovered,
                    ..Commit::default()
                })
                .unwrap();
            finish(&mut store, run).unwrap();
            forget(&mut store, run, now).unwrap();
            // A second time changes nothing.
            forget(&mut store, run, now).unwrap();
            let is_known = |path: &str| store.page(&found(path, 0).key).unwrap().is_some();
            known.push(["/once", "/ten", "/always"].map(is_known));
        }
        let last = |at: usize| known.iter().rposition(|known| known[at]).unwrap();
        assert_eq!([last(0), last(1), last(2)], [29, 59, 74]);
    }

    #[test]
    fn a_clock_that_jumps_forgets_nothing_that_the_last_runs_found() {
        let begin: Timestamp = "2026-01-01T02:00:00Z".parse().unwrap();
        let mut store = MemoryStore::default();
        let mut crawl = |now: Timestamp, path: &str| {
            let run = open(&mut store, "", now).unwrap().number;
            store
                .commit(&Commit {
                    run,
                    discovered: vec![found(path, 1)],
                    ..Commit::default()
                })
                .unwrap();
            finish(&mut store, run).unwrap();
            forget(&mut store, run, now).unwrap();
            ["/a", "/b", "/c"].map(|path| store.page(&found(path, 0).key).unwrap().is_some())
        };
        crawl(begin, "/a");
        // Years ahead: the run of the mark is that before this one.
        assert_eq!(crawl(begin + 50_000.hours(), "/b"), [false, true, false]);
        // And back again: the time begins anew.
        assert_eq!(crawl(begin + 24.hours(), "/c"), [false, true, true]);
        assert_eq!(crawl(begin + 48.hours(), "/c"), [false, true, true]);
    }

    #[test]
    fn clocks_that_are_more_than_a_day_apart_are_noted_for_the_run() {
        let now: Timestamp = "2026-01-01T02:00:00Z".parse().unwrap();
        let check = |hours: i64, expected: bool| {
            let mut store = MemoryStore::default();
            let host = now + hours.hours();
            let run = open(&mut store, "", host).unwrap().number;
            assert_eq!(note_clocks(&mut store, run, now, host).unwrap(), expected);
            // A later start of the run in which they agree makes no difference.
            assert!(!note_clocks(&mut store, run, now, now).unwrap());
            let noted = expected.then_some((now, host));
            assert_eq!(clocks_apart(&store).unwrap(), noted, "{hours}");
            finish(&mut store, run).unwrap();
            open(&mut store, "", now).unwrap();
            assert_eq!(clocks_apart(&store).unwrap(), None, "{hours}");
        };
        check(0, false);
        check(24, false);
        check(-24, false);
        check(25, true);
        check(-25, true);
    }

    #[test]
    fn a_value_that_cannot_be_is_damage() {
        let now = Timestamp::UNIX_EPOCH;
        let with = |name: &str, value: &str| {
            let mut store = MemoryStore::default();
            let values = vec![(name.to_owned(), Some(value.to_owned()))];
            store
                .commit(&Commit {
                    values,
                    ..Commit::default()
                })
                .unwrap();
            store
        };
        let most = u64::MAX.to_string();
        for mark in ["7", "x 2026-01-01T00:00:00Z", &format!("{most} {now}")] {
            let error = forget(&mut with(FORGET_MARK, mark), 1, now).unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{mark}");
        }
        for number in ["", "-1", &most] {
            let mut store = with(NUMBER, number);
            let error = open(&mut store, "", now).unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{number}");
            newest(&store).unwrap_err();
        }
    }
}
