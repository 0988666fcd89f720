//! `schedule.json`: the crawls that were done by the schedules, stored beside the states between starts of the daemon. `arpent
//! status` reads it while the daemon writes it.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{machine::json_file, schedule::ScheduleState};

/// The file in the folder of the states.
const NAME: &str = "schedule.json";

/// The format that is written.
const VERSION: u64 = 1;

/// Largest file that is read, in bytes: a site takes some 200.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The past of the schedule of each site, by its name.
pub type ScheduleStates = BTreeMap<String, ScheduleState>;

/// The stored record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "it is a stored form")]
pub struct ScheduleRecord {
    /// The past of each schedule.
    pub sites: ScheduleStates,
    /// The sessions that were under way when it was written, by the names of their sites, and when they began. True
    /// while the daemon that wrote it is there.
    #[serde(default)]
    pub running: BTreeMap<String, Timestamp>,
    /// When the set of a site is to be published again without a crawl, by the name of the site.
    #[serde(default)]
    pub publish_at: BTreeMap<String, Timestamp>,
    /// When the set of a site is looked at where it is served, by the name of the site.
    #[serde(default)]
    pub look_at: BTreeMap<String, Timestamp>,
}

/// The file in the folder `state`.
pub fn file_in(state: &Path) -> PathBuf {
    state.join(NAME)
}

/// The record in the folder `state`; an empty one when no daemon ever ran there.
///
/// # Errors
/// - [`io::ErrorKind::Unsupported`]: a newer arpent wrote it.
/// - [`io::ErrorKind::InvalidData`]: it is damaged.
/// - Others: the system refused.
pub fn read(state: &Path) -> io::Result<ScheduleRecord> {
    let path = file_in(state);
    let damaged = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let value = match json_file::read::<Value>(&path, MAX_BYTES) {
        Ok(None) => return Ok(ScheduleRecord::default()),
        Ok(Some(value)) => value,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(damaged(error)),
        Err(error) => return Err(error),
    };
    if let Some(version) = value["version"]
        .as_u64()
        .filter(|version| *version > VERSION)
    {
        let problem = format!(
            "it was written by a newer arpent (format {version}, this arpent reads {VERSION}); use the newer arpent, or another state"
        );
        return Err(io::Error::new(io::ErrorKind::Unsupported, problem));
    }
    serde_json::from_value(value).map_err(|error| damaged(error.into()))
}

/// Writes `kept` to the folder `state`, in the place of the earlier record.
///
/// # Errors
/// It cannot be written.
pub(super) fn write(state: &Path, kept: &ScheduleRecord) -> io::Result<()> {
    let mut contents = serde_json::to_value(kept)?;
    contents["version"] = VERSION.into();
    json_file::write(&file_in(state), &contents)
}

/// Renames a damaged file, never deletes it; returns the new path.
///
/// # Errors
/// It cannot be renamed.
pub fn set_aside(damaged: &Path, now: Timestamp) -> io::Result<PathBuf> {
    let aside = damaged.with_extension(now.strftime("json.corrupt-%Y%m%dT%H%M%SZ").to_string());
    fs::rename(damaged, &aside)?;
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_record_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), ScheduleRecord::default());
        let past = |served: Option<&str>| ScheduleState {
            schedule: "30 2 * * * Europe/Paris".to_owned(),
            since: Timestamp::UNIX_EPOCH,
            served: served.map(|time| time.parse().unwrap()),
        };
        let pasts: ScheduleStates = [
            ("shop".to_owned(), past(Some("2026-06-01T00:30:00Z"))),
            ("docs".to_owned(), past(None)),
        ]
        .into();
        let kept = ScheduleRecord {
            sites: pasts,
            running: [("shop".to_owned(), Timestamp::UNIX_EPOCH)].into(),
            publish_at: BTreeMap::from([("a".to_owned(), Timestamp::UNIX_EPOCH)]),
            look_at: BTreeMap::from([("b".to_owned(), Timestamp::UNIX_EPOCH)]),
        };
        write(folder.path(), &kept).unwrap();
        assert_eq!(read(folder.path()).unwrap(), kept);
    }

    #[test]
    fn unusable_files_are_distinguished() {
        fn check(text: &str, expected: &str) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(NAME);
            fs::write(&path, text).unwrap();
            let error = read(folder.path()).unwrap_err();
            let error = format!("{:?}: {error}", error.kind());
            assert!(error.starts_with(expected), "{text}: {error}");
            let aside = set_aside(&path, Timestamp::UNIX_EPOCH).unwrap();
            assert_eq!(
                aside,
                folder.path().join("schedule.json.corrupt-19700101T000000Z")
            );
            assert_eq!(fs::read_to_string(aside).unwrap(), text);
            assert_eq!(read(folder.path()).unwrap(), ScheduleRecord::default());
        }
        check("", "InvalidData: EOF");
        check("{\"version\": 1, \"sites\": {\"a\": 7}}", "InvalidData: ");
        check("{\"version\":1,\"sit", "InvalidData: ");
        check("[]", "InvalidData: ");
        check(
            "{\"version\": 2, \"other\": true}",
            "Unsupported: it was written by a newer arpent (format 2, this arpent reads 1)",
        );
    }
}
