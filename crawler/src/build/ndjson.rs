//! NDJSON: one JSON object per line, with the names of the protocol as keys.

use std::{collections::BTreeSet, io::BufRead};

use serde_json::{Map, Value};
use sitemap_core::read::{LineError, Lines, ListError};

use super::{
    BuildError,
    draft::{Draft, Field},
    quoted,
    rows::{EntryRows, InputRow},
};

/// Longest object in bytes: a thousand images of 2,047 characters, and room.
pub(super) const MAX_OBJECT_BYTES: usize = 4 * 1024 * 1024;

/// Names of unknown keys that are kept to be reported.
const MAX_UNUSED: usize = 20;

/// The rows of an NDJSON list.
pub(super) struct NdjsonRows<R> {
    lines: Lines<R>,
    /// Keys that nothing is known of, as far as they are kept.
    unused: Vec<String>,
    /// Names that own elements ask for.
    wanted: BTreeSet<String>,
}

impl<R: BufRead> NdjsonRows<R> {
    pub(super) fn new(lines: Lines<R>, wanted: &BTreeSet<String>) -> Self {
        Self {
            lines,
            unused: Vec::new(),
            wanted: wanted.clone(),
        }
    }
}

impl<R: BufRead + Send> EntryRows for NdjsonRows<R> {
    fn next(&mut self, name: &str) -> Result<Option<InputRow>, BuildError> {
        loop {
            let line = self
                .lines
                .next()
                .map(|line| line.map(|line| line.map(|_| ())));
            let read = self.lines.number();
            let line =
                line.map_err(|error| BuildError::of_list(name, read, ListError::Io(error)))?;
            let Some(readable) = line else {
                return Ok(None);
            };
            let text = self.lines.lossy();
            let said = match readable {
                Err(error @ LineError::TooLong { .. }) => Err(error.to_string()),
                // A comment may be in any encoding.
                _ if is_silent(text.trim()) => continue,
                Err(error) => Err(error.to_string()),
                Ok(()) => object(text.trim())
                    .and_then(|object| draft(&object, &self.wanted, &mut self.unused)),
            };
            let line = self.lines.number();
            return Ok(Some(InputRow { line, said }));
        }
    }

    fn bytes(&self) -> u64 {
        self.lines.bytes()
    }

    fn has_trailing_bytes(&self) -> bool {
        self.lines.has_trailing_bytes()
    }

    fn unused_columns(&self) -> &[String] {
        &self.unused
    }
}

fn object(line: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(format!(
            "expected one JSON object per line, found {}",
            quoted(line)
        )),
        Err(error) => {
            // The library counts lines within the line.
            let problem = error.to_string();
            let problem = problem.split(" at line ").next().unwrap_or_default();
            let column = error.column();
            Err(format!(
                "expected one JSON object per line: {problem} in column {column} of {}",
                quoted(line)
            ))
        }
    }
}

fn draft(
    object: &Map<String, Value>,
    wanted: &BTreeSet<String>,
    unused: &mut Vec<String>,
) -> Result<Draft, String> {
    let mut draft = Draft::default();
    let mut named_as: Option<&str> = None;
    for (key, value) in object {
        let Some(field) = Field::named(key, wanted) else {
            if unused.len() < MAX_UNUSED && !unused.contains(key) {
                unused.push(key.clone());
            }
            continue;
        };
        if field == Field::Loc
            && !value.is_null()
            && let Some(other) = named_as.replace(key)
        {
            return Err(format!(
                "a URL as {other} and as {key}, expected one of them"
            ));
        }
        match value {
            Value::Null => {}
            value if let Field::Extension(name) = field => extend(&mut draft, name, value),
            Value::String(text) => draft.set(&field, text),
            Value::Number(number) if matches!(field, Field::Priority | Field::Own(_)) => {
                draft.set(&field, &number.to_string());
            }
            Value::Bool(flag) if matches!(field, Field::Own(_)) => {
                draft.set(&field, &flag.to_string());
            }
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                draft.problems.push(format!(
                    "{key}: expected text, found {}",
                    quoted(&value.to_string())
                ));
            }
        }
    }
    Ok(draft)
}

/// Adds a value, or each of a list.
fn extend(draft: &mut Draft, name: &str, value: &Value) {
    match value {
        Value::Array(values) => values
            .iter()
            .for_each(|value| draft.add(name, value.clone())),
        single => draft.add(name, single.clone()),
    }
}

/// Returns whether a trimmed line is blank or a comment.
pub(super) fn is_silent(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(u64, Result<Draft, String>)> {
        let mut rows = NdjsonRows::new(Lines::new(text.as_bytes()), &BTreeSet::new());
        let mut read = Vec::new();
        while let Some(row) = rows.next("x").unwrap() {
            read.push((row.line, row.said));
        }
        read
    }

    #[test]
    fn values_may_be_texts_or_numbers() {
        let rows = read(concat!(
            "{\"loc\":\"/a\",\"priority\":0.8,\"changefreq\":\"Daily\"}\n",
            "\n",
            "{\"url\":\"/b\",\"lastmod\":\"2026-01-02\",\"priority\":\"1\",\"changefreq\":null}\n",
        ));
        let [(1, Ok(first)), (3, Ok(second))] = &rows[..] else {
            panic!("{rows:?}");
        };
        assert_eq!(first.loc, "/a");
        assert_eq!(
            first.supplied.texts()[1..3],
            [Some("daily".to_owned()), Some("0.8".to_owned())]
        );
        assert_eq!(second.supplied.texts()[0].as_deref(), Some("2026-01-02"));
        assert_eq!(second.supplied.texts()[1], None);
        assert!(first.problems.is_empty() && second.problems.is_empty());
    }

    #[test]
    fn line_without_object_is_left_out() {
        let rows = read("[\n{\"loc\":\"/a\"},\n\"/b\"\n{\"loc\":\"/c\"}\n");
        let ok: Vec<bool> = rows.iter().map(|(_, said)| said.is_ok()).collect();
        assert_eq!(ok, [false, false, false, true]);
        for (_, said) in &rows[..3] {
            let problem = said.as_ref().unwrap_err();
            assert!(
                problem.starts_with("expected one JSON object per line"),
                "{problem}"
            );
        }
    }

    #[test]
    fn comments_and_second_urls_are_no_entries() {
        let rows = read(concat!(
            "# of yesterday\n",
            "{\"loc\":\"/a\",\"url\":null}\n",
            "{\"loc\":\"/a\",\"url\":\"/b\"}\n",
        ));
        let [(2, Ok(first)), (3, Err(problem))] = &rows[..] else {
            panic!("{rows:?}");
        };
        assert_eq!(first.loc, "/a");
        assert_eq!(problem, "a URL as loc and as url, expected one of them");
    }

    #[test]
    fn value_of_wrong_kind_is_left_out() {
        let rows = read("{\"loc\":\"/a\",\"lastmod\":[1],\"priority\":7}");
        let [(1, Ok(draft))] = &rows[..] else {
            panic!("{rows:?}");
        };
        assert_eq!(draft.supplied.texts(), [const { None }; 4]);
        assert_eq!(draft.problems.len(), 2, "{:?}", draft.problems);
    }
}
