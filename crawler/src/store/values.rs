//! Values of our types as values of the file and back, and parameters and columns one after the other, so that no code
//! counts positions. A value in a form that arpent never writes is an error, which becomes
//! [`StoreErrorKind::Corrupt`](super::StoreErrorKind::Corrupt). Knows no table.

use std::{convert::Infallible, time::Duration};

use jiff::{Timestamp, civil::DateTime, tz::Offset};
use rusqlite::{
    Row, Statement, ToSql,
    types::{
        FromSql, FromSqlError, FromSqlResult, Null, ToSqlOutput, Type, Value as SqlValue, ValueRef,
    },
};
use sitemap_core::{ChangeFreq, LastMod, Priority};

use super::lists;
use crate::{
    page::{
        Basis, BodyEnd, BodyKind, Canonical, ContentHash, DateSource, Kept, LanguageVersion,
        PatternKind, Promotion, Reason, Refresh, Repeat, State, StatedElement, TextBlock,
        TextNovelty, Via, Warnings,
    },
    url_key::UrlKey,
};

/// The content of a column of the file.
pub(super) trait Value: Sized {
    /// The value as the file has it.
    fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>>;

    /// The value that was written.
    fn read(value: ValueRef<'_>) -> FromSqlResult<Self>;

    /// The value that was written; `None`: it means nothing to this version.
    fn read_some(value: ValueRef<'_>) -> FromSqlResult<Option<Self>> {
        Self::read(value).map(Some)
    }
}

/// Text that nothing of ours is written as.
#[derive(Debug, thiserror::Error)]
#[error("unknown {what} `{text}`")]
struct Unknown {
    what: &'static str,
    text: String,
}

/// `text` is not a word for `what`.
pub(super) fn unknown(what: &'static str, text: &str) -> FromSqlError {
    let text = text.to_owned();
    FromSqlError::other(Unknown { what, text })
}

/// Nothing is `NULL`.
impl<T: Value> Value for Option<T> {
    fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.as_ref()
            .map_or_else(|| Ok(ToSqlOutput::from(Null)), Value::write)
    }

    fn read(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Null => Ok(None),
            value => T::read_some(value),
        }
    }
}

/// A flag is 1 or `NULL`.
impl Value for bool {
    fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(if *self {
            ToSqlOutput::from(1)
        } else {
            ToSqlOutput::from(Null)
        })
    }

    fn read(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(value.as_i64_or_null()? == Some(1))
    }
}

macro_rules! as_they_are {
    ($($type:ty)*) => {$(
        impl Value for $type {
            fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                ToSql::to_sql(self)
            }

            fn read(value: ValueRef<'_>) -> FromSqlResult<Self> {
                FromSql::column_result(value)
            }
        }
    )*};
}

as_they_are! { u8 u16 u32 i64 String }

/// The words of types; `null` is the value of which the file has nothing.
macro_rules! texts {
    ($($type:ty $(, null $null:expr)?, $what:literal: $value:ident => $written:expr, $text:ident => $read:expr;)*) => {$(
        impl Value for $type {
            fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                $(if *self == $null {
                    return Ok(ToSqlOutput::from(Null));
                })?
                let $value = self;
                Ok(ToSqlOutput::from($written))
            }

            fn read(value: ValueRef<'_>) -> FromSqlResult<Self> {
                $(if value == ValueRef::Null {
                    return Ok($null);
                })?
                let $text = value.as_str()?;
                $read.ok_or_else(|| unknown($what, $text))
            }
        }
    )*};
}

pub(super) use texts;

texts! {
    UrlKey, "URL": key => key.as_str(), text => Self::from_normalised(text).ok();
    // RFC 3339 in UTC, with as many digits of the second as the time has.
    Timestamp, "time": time => time.to_string(), text => plain_time(text.as_bytes()).or_else(|| text.parse().ok());
    State, "state": state => state.as_str(), text => Self::from_code(text);
    Reason, "reason": reason => reason.code(), text => Self::from_code(text);
    Via, "via": via => via.as_str(), text => Self::from_code(text);
    DateSource, "source": source => source.as_str(), text => Self::from_code(text);
    OutcomeWord, "outcome": outcome => match outcome {
        Self::NotFetched(reason) => reason.code(),
        Self::NoAnswer => NO_ANSWER,
        Self::Supplied => SUPPLIED,
        Self::Answered => ANSWERED,
    }, text => match text {
        NO_ANSWER => Some(Self::NoAnswer),
        SUPPLIED => Some(Self::Supplied),
        ANSWERED => Some(Self::Answered),
        _ => Reason::from_code(text).map(Self::NotFetched),
    };
    Basis, null Self::Own, "basis": basis => match basis {
        Self::Own | Self::NotReached => String::new(),
        Self::Confirmed => CONFIRMED.to_owned(),
        Self::Kept(kept) => format!("{} {}", kept.reason.code(), kept.error),
    }, text => if text.is_empty() {
        Some(Self::NotReached)
    } else if text == CONFIRMED {
        Some(Self::Confirmed)
    } else {
        text.split_once(' ').and_then(|(reason, error)| Some(Self::Kept(Kept {
            reason: Reason::from_code(reason)?,
            error: error.to_owned(),
        })))
    };
    u128, "hash": hash => format!("{hash:032x}"), text => hex_128(text);
    BodyKind, null Self::Other, "kind": kind => kind.as_str(), text => Self::from_code(text);
    BodyEnd, null Self::Skipped, "body_end": end => match end {
        Self::Complete => "complete".to_owned(),
        Self::Skipped => String::new(),
        Self::TooLarge => "too-large".to_owned(),
        Self::CutShort => "cut-short".to_owned(),
        Self::Undecodable(coding) => format!("{UNDECODABLE}{coding}"),
    }, text => match text {
        "complete" => Some(Self::Complete),
        "too-large" => Some(Self::TooLarge),
        "cut-short" => Some(Self::CutShort),
        _ => text.strip_prefix(UNDECODABLE).map(|coding| Self::Undecodable(coding.to_owned())),
    };
    Canonical, null Self::Absent, "canonical": canonical => match canonical {
        Self::Absent => "",
        Self::Itself => "itself",
        Self::Conflicting => "conflicting",
        Self::Other(key) => key.as_str(),
    }, text => match text {
        "itself" => Some(Self::Itself),
        "conflicting" => Some(Self::Conflicting),
        _ => UrlKey::from_normalised(text).ok().map(Self::Other),
    };
    Refresh, "refresh": refresh => format!("{} {}", refresh.delay_seconds, refresh.target), text => {
        text.split_once(' ').and_then(|(delay, target)| Some(Self {
            delay_seconds: delay.parse().ok()?,
            target: UrlKey::from_normalised(target).ok()?,
        }))
    };
    PatternKind, "kind": kind => kind.as_str(), text => Self::from_code(text);
    Repeat, "repeat": repeat => repeat.text(), text => Self::from_text(text);
    TextNovelty, "novelty": novelty => novelty.as_str(), text => Self::from_code(text);
    Warnings, null Self::default(), "warnings": warnings => warnings.codes().collect::<Vec<_>>().join(","),
        text => Some(Self::from_codes(text.split(',')));
    LastMod, "lastmod": lastmod => lastmod.to_string(), text => Self::parse(text).ok();
    ChangeFreq, "changefreq": changefreq => changefreq.to_string(), text => Self::parse(text).ok();
    Priority, "priority": priority => priority.to_string(), text => Self::parse(text).ok();
    Vec<StatedElement>, "elements": elements => json(elements), text => serde_json::from_str(text).ok();
    Promotion, "promotion": promotion => json(promotion), text => serde_json::from_str(text).ok();
}

/// How an attempt ended, in a word.
#[derive(Debug, Clone, Copy)]
pub(super) enum OutcomeWord {
    /// No request was made, for this reason.
    NotFetched(Reason),
    NoAnswer,
    /// An input of the user has the values for the sitemap.
    Supplied,
    Answered,
}

// No reason has one of these codes.
const ANSWERED: &str = "answered";
const NO_ANSWER: &str = "no-answer";
const SUPPLIED: &str = "input";

/// The text of [`Basis::Confirmed`].
pub(super) const CONFIRMED: &str = "confirmed";

/// Begins the text of [`BodyEnd::Undecodable`].
const UNDECODABLE: &str = "undecodable: ";

/// The hash of another algorithm is not evidence of whether the content changed: it is not read.
impl Value for ContentHash {
    fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(format!(
            "{}:{:032x}",
            Self::VERSION,
            self.0
        )))
    }

    fn read(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::read_some(value)?.ok_or(FromSqlError::InvalidType)
    }

    fn read_some(value: ValueRef<'_>) -> FromSqlResult<Option<Self>> {
        let text = value.as_str()?;
        let parts = text.split_once(':');
        let parts = parts.and_then(|(version, hash)| Some((version.parse().ok()?, hex_128(hash)?)));
        let (version, hash): (u32, u128) = parts.ok_or_else(|| unknown("hash", text))?;
        Ok((version == Self::VERSION).then_some(Self(hash)))
    }
}

/// A hash may have the highest bit; a count never does.
impl Value for u64 {
    fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.cast_signed()))
    }

    fn read(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(value.as_i64()?.cast_unsigned())
    }
}

/// Whole milliseconds.
impl Value for Duration {
    fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let milliseconds = u32::try_from(self.as_millis()).unwrap_or(u32::MAX);
        Ok(ToSqlOutput::from(milliseconds))
    }

    fn read(value: ValueRef<'_>) -> FromSqlResult<Self> {
        u32::read(value).map(|milliseconds| Self::from_millis(milliseconds.into()))
    }
}

macro_rules! packed {
    ($($type:ty: $value:ident => $pack:expr, $bytes:ident => $unpack:expr;)*) => {$(
        impl Value for $type {
            fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                let $value = self;
                Ok(ToSqlOutput::from($pack))
            }

            fn read(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let $bytes = value.as_blob()?;
                $unpack.map_err(FromSqlError::other)
            }
        }
    )*};
}

packed! {
    Vec<TextBlock>: blocks => TextBlock::pack(blocks), bytes => Ok::<_, Infallible>(TextBlock::unpack(bytes));
    Vec<UrlKey>: links => lists::pack(links), bytes => lists::unpack(bytes);
    Vec<LanguageVersion>: versions => lists::pack_versions(versions), bytes => lists::unpack_versions(bytes);
}

/// A time as it is written here, in a quarter of the time that a parser of all forms takes; `None` leaves it to that.
fn plain_time(text: &[u8]) -> Option<Timestamp> {
    let (clock, rest) = text.split_first_chunk::<19>()?;
    let number = |from: usize, to: usize| {
        let mut digits = clock[from..to].iter();
        digits.try_fold(0_i16, |number, digit| {
            let value = digit.checked_sub(b'0').filter(|value| *value < 10)?;
            Some(number * 10 + i16::from(value))
        })
    };
    let small = |from: usize| number(from, from + 2).and_then(|number| i8::try_from(number).ok());
    let marks = [clock[4], clock[7], clock[10], clock[13], clock[16]];
    let fraction = match rest {
        [b'Z'] => 0,
        [b'.', digits @ .., b'Z']
            if (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) =>
        {
            let zeros = [b'0'; 9];
            let digits = digits.iter().chain(&zeros[digits.len()..]);
            digits.fold(0, |number, digit| number * 10 + i32::from(digit - b'0'))
        }
        _ => return None,
    };
    if marks != *b"--T::" {
        return None;
    }
    let (month, day) = (small(5)?, small(8)?);
    let time = DateTime::new(
        number(0, 4)?,
        month,
        day,
        small(11)?,
        small(14)?,
        small(17)?,
        fraction,
    );
    Offset::UTC.to_timestamp(time.ok()?).ok()
}

fn hex_128(text: &str) -> Option<u128> {
    let (high, low) = text.split_at_checked(16)?;
    Some(u128::from(hex_64(high)?) << 64 | u128::from(hex_64(low)?))
}

fn hex_64(text: &str) -> Option<u64> {
    (text.len() == 16).then(|| u64::from_str_radix(text, 16).ok())?
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("texts and flags are always JSON")
}

/// Binds one parameter after the other.
pub(super) struct Binder<'a, 'c> {
    statement: &'a mut Statement<'c>,
    position: usize,
}

impl<'a, 'c> Binder<'a, 'c> {
    /// Begins with the first parameter of `statement`, all of which are `NULL` then.
    pub(super) fn new(statement: &'a mut Statement<'c>) -> Self {
        statement.clear_bindings();
        Self {
            statement,
            position: 0,
        }
    }

    /// Binds the next parameter.
    pub(super) fn put<T: Value>(&mut self, value: &T) -> rusqlite::Result<()> {
        self.position += 1;
        // Most columns of a row are `NULL`.
        match value.write()? {
            ToSqlOutput::Borrowed(ValueRef::Null) | ToSqlOutput::Owned(SqlValue::Null) => Ok(()),
            value => self.statement.raw_bind_parameter(self.position, value),
        }
    }

    /// Leaves the next parameters `NULL`.
    pub(super) fn skip(&mut self, count: usize) {
        self.position += count;
    }

    /// Runs the statement, all of whose parameters are bound.
    pub(super) fn execute(self) -> rusqlite::Result<usize> {
        debug_assert_eq!(self.position, self.statement.parameter_count());
        self.statement.raw_execute()
    }
}

/// Reads one column after the other.
pub(super) struct Columns<'a, 'r> {
    row: &'a Row<'r>,
    position: usize,
}

impl<'a, 'r> Columns<'a, 'r> {
    /// Begins with the first column of `row`.
    pub(super) fn new(row: &'a Row<'r>) -> Self {
        Self { row, position: 0 }
    }

    /// Returns whether the next column is `NULL`.
    pub(super) fn is_null(&self) -> rusqlite::Result<bool> {
        Ok(self.row.get_ref(self.position)? == ValueRef::Null)
    }

    /// Leaves out the next columns.
    pub(super) fn skip(&mut self, count: usize) {
        self.position += count;
    }

    /// The next column.
    pub(super) fn get<T: Value>(&mut self) -> rusqlite::Result<T> {
        let position = self.position;
        self.position += 1;
        let FromColumn(value) = self.row.get(position)?;
        Ok(value)
    }
}

/// A failure to understand a row.
pub(super) fn failure(error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error))
}

/// A value of ours as a parameter.
pub(super) struct Sql<'a, T>(pub(super) &'a T);

impl<T: Value> ToSql for Sql<'_, T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.write()
    }
}

struct FromColumn<T>(T);

impl<T: Value> FromSql for FromColumn<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        T::read(value).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_by_the_parser() {
        for text in [
            "2026-12-01T02:41:19Z",
            "1970-01-01T00:00:00.5Z",
            "2024-02-29T23:59:59.123456789Z",
            "0001-01-01T00:00:00Z",
        ] {
            let parsed: Timestamp = text.parse().unwrap();
            assert_eq!(plain_time(text.as_bytes()), Some(parsed), "{text}");
            assert_eq!(parsed.to_string(), text);
        }
        for other in [
            "2023-02-29T00:00:00Z",
            "2026-12-01T02:41:19+01:00",
            "2026-12-01 02:41:19Z",
            "2026-12-01T24:00:00Z",
            "2026-12-01T02:41:19.Z",
            "2026-12-0aT02:41:19Z",
            "",
        ] {
            let read = plain_time(other.as_bytes());
            assert!(read.is_none() || read == other.parse().ok(), "{other}");
        }
    }
}
