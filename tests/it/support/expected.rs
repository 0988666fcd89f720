//! The lists in `tests/data/expected_failures`: the rows of a conformance table that fail, with reasons. A list may only
//! shrink: a row that passes, or that no table has any more, must be removed. Besides, what the conformance tests need to read
//! rows.

use std::{collections::BTreeMap, fmt::Debug};

use serde_json::Value;

/// Result of a row, with the reason of a failure.
pub type Judgement = Result<(), String>;

/// Fails with both values when they differ.
pub fn same<T: PartialEq + Debug>(found: &T, wanted: &T) -> Judgement {
    if found == wanted {
        Ok(())
    } else {
        Err(format!("{found:?} instead of {wanted:?}"))
    }
}

/// The text in a field of a row.
#[track_caller]
pub fn text<'v>(row: &'v Value, field: &str) -> &'v str {
    row[field]
        .as_str()
        .unwrap_or_else(|| panic!("no {field} in {row}"))
}

/// The values of a list; none of what is no list.
pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The rows that are expected to fail, during the test of a table.
pub struct ExpectedFailures<'l> {
    /// Reasons of the rows that were not judged yet.
    reasons: BTreeMap<&'l str, &'l str>,
    rows: usize,
    problems: Vec<String>,
}

impl<'l> ExpectedFailures<'l> {
    /// A list: in each line the id of a row, a tab, and the reason.
    pub fn new(list: &'l str) -> Self {
        Self::of_table(list, "")
    }

    /// The rows of a list whose ids begin with `prefix`.
    pub fn of_table(list: &'l str, prefix: &str) -> Self {
        let split = |line: &'l str| {
            line.split_once('\t')
                .unwrap_or_else(|| panic!("no reason: {line}"))
        };
        let lines = list.lines().filter(|line| line.starts_with(prefix));
        Self {
            reasons: lines.map(split).collect(),
            rows: 0,
            problems: Vec::new(),
        }
    }

    /// Judges the result of a row: it must pass, or be on the list and fail.
    pub fn judge(&mut self, id: &str, result: Judgement) {
        self.rows += 1;
        match (result, self.reasons.remove(id)) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Err(problem), None) => self.problems.push(format!("{id}: {problem}")),
            (Ok(()), Some(reason)) => {
                let problem = format!("{id}: passes, take it off the list ({reason})");
                self.problems.push(problem);
            }
        }
    }

    /// Fails when a row had another result, or when there were fewer than `min_rows`; returns the number of rows.
    #[track_caller]
    pub fn finish(mut self, min_rows: usize) -> usize {
        let missing = self.reasons.keys();
        self.problems
            .extend(missing.map(|id| format!("{id}: listed, but in no table")));
        assert!(
            self.problems.is_empty(),
            "{} of {} rows:\n{}",
            self.problems.len(),
            self.rows,
            self.problems.join("\n")
        );
        assert!(self.rows >= min_rows, "only {} rows were found", self.rows);
        self.rows
    }
}
