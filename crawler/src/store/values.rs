//! Values of our types as values of the file and back, and parameters and columns one after the other, so that no code
//! counts positions. A value in a form that arpent never writes is an error, which becomes
//! [`StoreErrorKind::Corrupt`](super::StoreErrorKind::Corrupt). Knows no table.

use std::{collections::BTreeMap, ops::Range};

use jiff::Timestamp;
use rusqlite::{
    Row, Statement, ToSql,
    types::{
        FromSql, FromSqlError, FromSqlResult, Null, ToSqlOutput, Type, Value as SqlValue, ValueRef,
    },
};
use sitemap_core::{ChangeFreq, LastMod, Priority};

use crate::{
    page::{
        BodyEnd, BodyKind, Canonical, DateSource, PatternKind, Promotion, Reason, Refresh, Repeat,
        State, StatedElement, TextNovelty, Via, Warnings,
    },
    url_key::UrlKey,
};

/// The content of a column of the file.
pub(super) trait Value: Sized {
    /// The value as the file has it.
    fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>>;

    /// The value that was written.
    fn read(value: ValueRef<'_>) -> FromSqlResult<Self>;
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
            value => T::read(value).map(Some),
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

as_they_are! { u8 u16 u32 u64 i64 String Vec<u8> }

macro_rules! texts {
    ($($type:ty, $what:literal: $value:ident => $written:expr, $text:ident => $read:expr;)*) => {$(
        impl Value for $type {
            fn write(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                let $value = self;
                Ok(ToSqlOutput::from($written))
            }

            fn read(value: ValueRef<'_>) -> FromSqlResult<Self> {
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
    Timestamp, "time": time => time.to_string(), text => text.parse().ok();
    State, "state": state => state.as_str(), text => Self::from_code(text);
    Reason, "reason": reason => reason.code(), text => Self::from_code(text);
    Via, "via": via => via.as_str(), text => Self::from_code(text);
    DateSource, "source": source => source.as_str(), text => Self::from_code(text);
    NotFetched, "not_fetched": not_fetched => not_fetched.word(), text => Self::from_code(text);
    Hex128, "hash": hash => format!("{:032x}", hash.0), text => hex_128(text).map(Self);
    Hex64, "fingerprint": print => format!("{:016x}", print.0), text => hex_64(text).map(Self);
    BodyKind, "kind": kind => kind.as_str(), text => Self::from_code(text);
    BodyEnd, "body_end": end => match end {
        Self::Complete => "complete".to_owned(),
        Self::Skipped => "skipped".to_owned(),
        Self::TooLarge => "too-large".to_owned(),
        Self::CutShort => "cut-short".to_owned(),
        Self::Undecodable(coding) => format!("{UNDECODABLE}{coding}"),
    }, text => match text {
        "complete" => Some(Self::Complete),
        "skipped" => Some(Self::Skipped),
        "too-large" => Some(Self::TooLarge),
        "cut-short" => Some(Self::CutShort),
        _ => text.strip_prefix(UNDECODABLE).map(|coding| Self::Undecodable(coding.to_owned())),
    };
    Canonical, "canonical": canonical => match canonical {
        Self::Absent => "absent",
        Self::Itself => "itself",
        Self::Conflicting => "conflicting",
        Self::Other(key) => key.as_str(),
    }, text => match text {
        "absent" => Some(Self::Absent),
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
    Warnings, "warnings": warnings => warnings.codes().collect::<Vec<_>>().join(","),
        text => Some(Self::from_codes(text.split(',')));
    LastMod, "lastmod": lastmod => lastmod.to_string(), text => Self::parse(text).ok();
    ChangeFreq, "changefreq": changefreq => changefreq.to_string(), text => Self::parse(text).ok();
    Priority, "priority": priority => priority.to_string(), text => Self::parse(text).ok();
    BTreeMap<String, String>, "values": values => json(values), text => serde_json::from_str(text).ok();
    Vec<StatedElement>, "elements": elements => json(elements), text => serde_json::from_str(text).ok();
    Promotion, "promotion": promotion => json(promotion), text => serde_json::from_str(text).ok();
}

/// A hash of 128 bits, hexadecimal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hex128(pub(super) u128);

/// A fingerprint of 64 bits, hexadecimal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hex64(pub(super) u64);

/// Why there was no request.
#[derive(Debug, Clone, Copy)]
pub(super) enum NotFetched {
    /// A verdict needed none.
    Because(Reason),
    /// An input of the user has the values for the sitemap.
    Supplied,
}

/// [`NotFetched::Supplied`]; no reason has this code.
const GIVEN: &str = "input";

/// Begins the text of [`BodyEnd::Undecodable`].
const UNDECODABLE: &str = "undecodable: ";

impl NotFetched {
    fn word(self) -> &'static str {
        match self {
            Self::Because(reason) => reason.code(),
            Self::Supplied => GIVEN,
        }
    }

    fn from_code(word: &str) -> Option<Self> {
        match word {
            GIVEN => Some(Self::Supplied),
            _ => Reason::from_code(word).map(Self::Because),
        }
    }
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
    /// Columns that are known to be `NULL`.
    nulls: Range<usize>,
}

impl<'a, 'r> Columns<'a, 'r> {
    /// Begins with the first column of `row`.
    pub(super) fn new(row: &'a Row<'r>) -> Self {
        Self {
            row,
            position: 0,
            nulls: 0..0,
        }
    }

    /// Does not look at the `count` columns from `place` on, counted from the next, when the one before them is `NULL`: they
    /// all are then.
    pub(super) fn nulls_after(&mut self, place: usize, count: usize) -> rusqlite::Result<()> {
        let first = self.position + place;
        if self.row.get_ref(first - 1)? == ValueRef::Null {
            self.nulls = first..first + count;
        }
        Ok(())
    }

    /// The next column.
    pub(super) fn get<T: Value>(&mut self) -> rusqlite::Result<T> {
        let position = self.position;
        self.position += 1;
        if self.nulls.contains(&position) {
            return T::read(ValueRef::Null).map_err(|error| {
                rusqlite::Error::FromSqlConversionFailure(position, Type::Null, Box::new(error))
            });
        }
        let FromColumn(value) = self.row.get(position)?;
        Ok(value)
    }
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
