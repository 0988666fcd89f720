//! Values as they were written, and the reader of each kind. A reader checks its value, nothing else; every refusal names the
//! expected and the found form.

use std::{fmt, num::NonZeroU32, ops::RangeInclusive, path::PathBuf, time::Duration};

use super::units;

/// A value as written, in any layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Text: typed, from a variable, or between quotes in the file.
    Text(String),
    /// A number, truth value or date of the file, as written there.
    Bare(String),
    /// A list.
    List(Vec<Item>),
    /// A table of the file: where a secret is kept, or there should be none.
    Table(Vec<(String, Value)>),
}

/// A value of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// The value.
    pub(crate) value: Value,
    /// The line in the file, when it came from one.
    pub(crate) line: Option<usize>,
}

impl Item {
    /// A value outside of a file.
    pub(crate) fn new(value: Value) -> Self {
        Self { value, line: None }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Bare(text) => f.write_str(text),
            Self::List(_) => f.write_str("a list"),
            Self::Table(_) => f.write_str("a table"),
        }
    }
}

/// A value that a setting cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The problem: a fragment that follows the setting's name.
    pub(crate) message: String,
    /// The line of the file, when it is known better than that of the whole value.
    pub(crate) line: Option<usize>,
}

impl Wrong {
    /// A fragment that follows the setting's name.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            line: None,
        }
    }

    /// The common case: something else was expected.
    pub(crate) fn found(expected: impl fmt::Display, found: &Value) -> Self {
        Self::new(format!("expected {expected}, found {found}"))
    }
}

/// The result of reading one value.
pub(crate) type Read<T> = Result<T, Wrong>;

/// Text between quotes (or typed), without a control character.
pub(crate) fn text<'a>(value: &'a Value, expected: &str) -> Read<&'a str> {
    match value {
        Value::Text(text) if !text.chars().any(char::is_control) => Ok(text),
        Value::Text(_) | Value::Bare(_) | Value::List(_) | Value::Table(_) => {
            Err(Wrong::found(expected, value))
        }
    }
}

/// Text; empty text means that the setting is not set.
pub(crate) fn optional_text(value: &Value, expected: &str) -> Read<Option<String>> {
    Ok(Some(text(value, expected)?)
        .filter(|text| !text.is_empty())
        .map(str::to_owned))
}

/// A path; empty text means that the setting is not set.
pub(crate) fn optional_path(value: &Value) -> Read<Option<PathBuf>> {
    Ok(optional_text(value, "a path")?.map(PathBuf::from))
}

/// `true` or `false`.
pub(crate) fn switch(value: &Value) -> Read<bool> {
    match scalar(value) {
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        Some(_) | None => Err(Wrong::found("true or false", value)),
    }
}

/// A whole number within `range`.
pub(crate) fn count(value: &Value, range: RangeInclusive<u64>) -> Read<u64> {
    let number = scalar(value).and_then(whole_number);
    number
        .filter(|number| range.contains(number))
        .ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            match *most {
                u64::MAX => Wrong::found(format_args!("a whole number, {least} or more"), value),
                _ => Wrong::found(format_args!("a whole number from {least} to {most}"), value),
            }
        })
}

/// A whole number in `range`, which is within 32 bits.
pub(crate) fn small_count(value: &Value, range: RangeInclusive<u32>) -> Read<u32> {
    let number = count(value, u64::from(*range.start())..=u64::from(*range.end()))?;
    Ok(u32::try_from(number).expect("the range ends within 32 bits"))
}

/// A whole number from 1 to `most`.
pub(crate) fn non_zero(value: &Value, most: u32) -> Read<NonZeroU32> {
    let number = small_count(value, 1..=most)?;
    Ok(NonZeroU32::new(number).expect("the range begins at 1"))
}

/// A whole number, or `unlimited`.
pub(crate) fn count_or_unlimited(value: &Value) -> Read<Option<u32>> {
    let wrong = || Wrong::found(r#"a whole number or "unlimited""#, value);
    match scalar(value) {
        Some("unlimited") => Ok(None),
        Some(text) => whole_number(text)
            .and_then(|number| u32::try_from(number).ok())
            .map(Some)
            .ok_or_else(wrong),
        None => Err(wrong()),
    }
}

/// A duration.
pub(crate) fn duration(value: &Value) -> Read<Duration> {
    let duration = scalar(value).and_then(units::duration);
    duration.ok_or_else(|| Wrong::found(units::DURATION_FORM, value))
}

/// A duration longer than nothing.
pub(crate) fn time_out(value: &Value) -> Read<Duration> {
    let least = Duration::from_millis(1);
    match duration(value)? {
        duration if duration < least => {
            Err(Wrong::found(format_args!("at least {least:?}"), value))
        }
        duration => Ok(duration),
    }
}

/// A size in bytes within `range`; `range_text` is for messages.
pub(crate) fn size(value: &Value, range: RangeInclusive<u64>, range_text: &str) -> Read<u64> {
    let bytes = scalar(value)
        .and_then(units::size)
        .ok_or_else(|| Wrong::found(units::SIZE_FORM, value))?;
    if range.contains(&bytes) {
        Ok(bytes)
    } else {
        Err(Wrong::found(range_text, value))
    }
}

/// One of a few words.
pub(crate) fn word<T: Copy>(value: &Value, words: &[(&str, T)]) -> Read<T> {
    let found = scalar(value).and_then(|text| words.iter().find(|(word, _)| *word == text));
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let quoted = words.iter().map(|(word, _)| format!("\"{word}\""));
        let mut quoted: Vec<String> = quoted.collect();
        let last = quoted.pop().unwrap_or_default();
        let expected = match quoted.join(", ") {
            others if others.is_empty() => last,
            others => format!("{others} or {last}"),
        };
        Wrong::found(expected, value)
    })
}

/// Words of a list, several in one text divided by commas.
pub(crate) fn words<T: Copy>(value: &Value, words: &[(&str, T)]) -> Read<Vec<T>> {
    let found = list(value, |item| {
        let text = text(item, "a word")?.split(',');
        text.map(|part| word(&Value::Text(part.trim().to_owned()), words))
            .collect::<Read<Vec<_>>>()
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// The change that a word makes.
type Change<C> = fn(&mut C);

/// The same, where each word changes `config`.
pub(crate) fn switches<C>(value: &Value, mut config: C, words: &[(&str, Change<C>)]) -> Read<C> {
    for change in self::words(value, words)? {
        change(&mut config);
    }
    Ok(config)
}

/// A list, each of its values read by `read`. A value of a variable is one value per line.
pub(crate) fn list<T>(value: &Value, read: impl Fn(&Value) -> Read<T>) -> Read<Vec<T>> {
    let Value::List(items) = value else {
        return Err(Wrong::found("a list", value));
    };
    items
        .iter()
        .map(|item| {
            read(&item.value).map_err(|wrong| Wrong {
                line: wrong.line.or(item.line),
                ..wrong
            })
        })
        .collect()
}

/// Text that is not empty.
pub(crate) fn filled(value: &Value, expected: &str) -> Read<String> {
    match text(value, expected)? {
        "" => Err(Wrong::found(expected, value)),
        text => Ok(text.to_owned()),
    }
}

/// Source of a number or word: text, or the bare value of the file.
fn scalar(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) | Value::Bare(text) => Some(text.trim_ascii()),
        Value::List(_) | Value::Table(_) => None,
    }
}

fn whole_number(text: &str) -> Option<u64> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())?
}
