//! The summary as a line of a log: a sentence for people, and the line of JSON cut to what a log can take.

use serde_json::{Map, Value};

use super::{Summary, outcome::text};
use crate::human;

/// Files of the set that a line of a log names; programs that collect logs cut lines of more than some 48 kB.
const MAX_FILES: usize = 100;

impl Summary {
    /// How the session ended, with the numbers that matter, as one line.
    pub(crate) fn line(&self) -> String {
        let ending = text(self.outcome);
        if self.known == 0 && self.fetched == 0 {
            return ending.to_owned();
        }
        format!(
            "{ending}: {} listed of {} known, {} fetched in {}",
            human::number(self.listed),
            human::count(self.known, "URL"),
            human::count(self.fetched, "page"),
            human::duration(self.duration()),
        )
    }

    /// What `--json` prints; of a large set the first files only, and how many more there are.
    pub(crate) fn log_value(&self) -> Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Some(files) = value.get_mut("files").and_then(Value::as_array_mut)
            && files.len() > MAX_FILES
        {
            let more = files.len() - MAX_FILES;
            files.truncate(MAX_FILES);
            value["more_files"] = more.into();
        }
        value
    }

    /// The summary as fields of a line of the log.
    pub(crate) fn log_fields(&self) -> Map<String, Value> {
        [("summary".to_owned(), self.log_value())]
            .into_iter()
            .collect()
    }
}
