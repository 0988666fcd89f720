//! `paused.json`: the sites that the daemon leaves alone. `arpent pause` writes it beside the states while the daemon reads it.

use std::{collections::BTreeMap, io, path::Path};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    human,
    machine::{json_file, private},
};

/// The file in the folder of the states.
const NAME: &str = "paused.json";

/// Largest file that is read, in bytes: a pause takes some hundred.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The pauses, by the names of sites.
pub type Pauses = BTreeMap<String, Pause>;

/// A site is left alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the program fills it in")]
pub struct Pause {
    /// Its begin.
    pub since: Timestamp,
    /// Its end; `None`: it lasts until somebody resumes the site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Why, in the words of whoever paused the site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Pause {
    /// Returns whether it has ended by itself.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    /// The pause in words.
    pub fn text(&self) -> String {
        let until = self
            .until
            .map(|until| format!(" until {}", human::minute(until)));
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}"));
        format!(
            "paused{}{}",
            until.unwrap_or_default(),
            reason.unwrap_or_default()
        )
    }
}

/// The pauses in the folder `state` that have not ended.
///
/// # Errors
/// They cannot be read.
pub fn read_pauses(state: &Path, now: Timestamp) -> io::Result<Pauses> {
    let pauses = json_file::read::<Pauses>(&state.join(NAME), MAX_BYTES)?;
    let mut pauses = pauses.unwrap_or_default();
    pauses.retain(|_, pause| !pause.is_over(now));
    Ok(pauses)
}

/// Writes the pauses in the folder `state` as `edit` leaves them.
///
/// # Errors
/// They cannot be read or written.
pub fn change_pauses(
    state: &Path,
    now: Timestamp,
    edit: impl FnOnce(&mut Pauses),
) -> io::Result<()> {
    let path = state.join(NAME);
    let _lock = json_file::lock(&path)?;
    let mut pauses = read_pauses(state, now)?;
    edit(&mut pauses);
    json_file::write(&path, &pauses)?;
    // The daemon reads what root wrote.
    private::give_to_owner_of(state, &[&path, &path.with_extension("lock")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_end_by_themselves() {
        let folder = tempfile::tempdir().unwrap();
        let at = |second| Timestamp::from_second(second).unwrap();
        let names = |now| -> Vec<String> {
            let pauses = read_pauses(folder.path(), now).unwrap();
            pauses.into_keys().collect()
        };
        assert_eq!(names(at(0)), Vec::<String>::new());
        for (name, until) in [("a", Some(10)), ("b", None)] {
            let pause = Pause {
                until: until.map(at),
                ..Pause::default()
            };
            change_pauses(folder.path(), at(0), |pauses| {
                pauses.insert(name.to_owned(), pause);
            })
            .unwrap();
        }
        assert_eq!(names(at(9)), ["a", "b"]);
        assert_eq!(names(at(10)), ["b"]);
        change_pauses(folder.path(), at(10), Pauses::clear).unwrap();
        assert_eq!(names(at(0)), Vec::<String>::new());
    }

    #[test]
    fn text_of_a_pause_has_end_and_reason() {
        let pause = |until: Option<&str>, reason: Option<&str>| {
            let pause = Pause {
                since: Timestamp::UNIX_EPOCH,
                until: until.map(|until| until.parse().unwrap()),
                reason: reason.map(str::to_owned),
            };
            pause.text()
        };
        assert_eq!(pause(None, None), "paused");
        assert_eq!(
            pause(Some("2026-12-24T00:00:00Z"), Some("a move")),
            "paused until 2026-12-24 00:00Z: a move"
        );
    }
}
