//! [`LastMod`]: the date or instant of the last change, with the precision it was stated in.
//!
//! Of the W3C date-time profiles (<https://www.w3.org/TR/NOTE-datetime>) only two can exist, because the schema of the protocol
//! accepts no others: a date, and a date with time, seconds and zone. Nothing is invented: a date never becomes an instant, a
//! fraction keeps its digits. There is no clock here.

use std::fmt;

use jiff::{
    Timestamp,
    civil::{Date, DateTime, Time},
    tz::Offset,
};

/// Digits of a fraction of a second that count: the resolution of an instant here.
const NANOSECOND_DIGITS: usize = 9;

/// Digits of a fraction of a second. The note and the schema ask for one or more; no clock has as many, and a value stays short.
const MAX_FRACTION_DIGITS: usize = 32;

/// The largest distance from UTC that the schema accepts (XML Schema part 2, section 3.2.7.3), in minutes.
const MAX_OFFSET_MINUTES: i32 = 14 * 60;

/// Time of a last change: `2005-01-01` or `2004-12-23T18:00:15.5+01:00` (R13).
///
/// The text is kept as it was parsed. Two values are equal when their texts are; to compare in time, use
/// [`latest_instant`](Self::latest_instant).
///
/// ```
/// use sitemap_core::LastMod;
///
/// let day = LastMod::parse("2024-02-29")?;
/// let instant = LastMod::parse("2024-02-29T12:00:00+01:00")?;
/// assert!(day.latest_instant() > instant.latest_instant());
/// assert!(LastMod::parse("2024-02-30").is_err());
/// # Ok::<(), sitemap_core::LastModError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct LastMod {
    text: Box<str>,
    latest: Timestamp,
}

/// Reason why a text is not a [`LastMod`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LastModError {
    /// The text is empty.
    #[error("date is empty")]
    Empty,
    /// White space is around the value.
    #[error("date has white space around it, trim it first")]
    Padded,
    /// A year, a month, or a time without seconds: W3C date-time, but refused by the schema of the protocol.
    #[error(
        "date has a precision that the sitemap schema refuses, expected YYYY-MM-DD or seconds and a zone"
    )]
    Precision,
    /// A time without a zone: accepted by the schema, but no W3C date-time.
    #[error("time has no zone, expected Z or an offset such as +01:00")]
    ZoneMissing,
    /// A date without a time, but with a zone: accepted by the schema, but no W3C date-time.
    #[error("date without time has a zone")]
    ZoneWithoutTime,
    /// An offset of more than 14 hours, which the schema refuses.
    #[error("offset from UTC is more than 14:00")]
    ZoneRange,
    /// A month, day, hour, minute or second that does not exist, or the year 0000.
    #[error("date or time does not exist")]
    Range,
    /// Anything else.
    #[error("not a W3C date-time, expected YYYY-MM-DD or YYYY-MM-DDThh:mm:ss and a zone")]
    Shape,
}

impl LastMod {
    /// Checks a text: `YYYY-MM-DD`, or `YYYY-MM-DDThh:mm:ss`, a fraction if need be, and `Z` or `±hh:mm`.
    ///
    /// # Errors
    /// [`LastModError`] names the rule of the W3C note or of the schema that the text breaks.
    pub fn parse(text: &str) -> Result<Self, LastModError> {
        let latest = match parse_form(text)? {
            LastModForm::Date(date) => end_of(date),
            LastModForm::Instant { local, offset } => {
                offset.to_timestamp(local).unwrap_or(clamped(local))
            }
        };
        Ok(Self {
            text: text.into(),
            latest,
        })
    }

    /// The whole second that `instant` falls into, in UTC: `2026-03-02T04:00:11Z`.
    ///
    /// The years 0001 to 9999 can be written; an instant before them becomes their first second.
    pub fn from_timestamp(instant: Timestamp) -> Self {
        let local = Offset::UTC.to_datetime(instant);
        let first = Date::constant(1, 1, 1).to_datetime(Time::midnight());
        // Leaving out the fraction of civil time rounds down, also before 1970.
        let local = if local < first {
            first
        } else {
            local
                .date()
                .at(local.hour(), local.minute(), local.second(), 0)
        };
        Self {
            text: local.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into(),
            latest: Offset::UTC.to_timestamp(local).unwrap_or(clamped(local)),
        }
    }

    /// The value as it is in a file.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The earliest instant that the value can mean, in UTC: a date counts as its first instant.
    pub fn earliest_instant(&self) -> Timestamp {
        let first = Self::parse(&format!("{}T00:00:00Z", self.text));
        first.map_or(self.latest, |first| first.latest)
    }

    /// The latest instant that the value can mean: a date counts as its last instant, in UTC.
    ///
    /// A query for "changed since" this date finds everything that changed on that day (R43).
    pub fn latest_instant(&self) -> Timestamp {
        self.latest
    }
}

impl fmt::Display for LastMod {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Debug for LastMod {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LastMod({})", self.text)
    }
}

/// The two forms that both the note and the schema accept.
enum LastModForm {
    Date(Date),
    Instant { local: DateTime, offset: Offset },
}

fn parse_form(text: &str) -> Result<LastModForm, LastModError> {
    if text.is_empty() {
        return Err(LastModError::Empty);
    }
    if text.trim_ascii().len() < text.len() {
        return Err(LastModError::Padded);
    }
    let mut rest = Digits(text.as_bytes());
    let year = rest.number(4)?;
    let mut month = 1;
    let mut day = None;
    if rest.accept(b'-') {
        month = rest.number(2)?;
        if rest.accept(b'-') {
            day = Some(rest.number(2)?);
        }
    }
    if year == 0 {
        return Err(LastModError::Range);
    }
    let date = civil_date(year, month, day.unwrap_or(1))?;
    if rest.is_empty() {
        return day
            .map(|_| LastModForm::Date(date))
            .ok_or(LastModError::Precision);
    }
    if day.is_none() {
        return Err(LastModError::Shape);
    }
    if !rest.accept(b'T') {
        // A date with a zone has the shape of a date with a valid zone after it.
        return Err(match parse_zone(&mut rest) {
            Ok(_) if rest.is_empty() => LastModError::ZoneWithoutTime,
            Ok(_) | Err(_) => LastModError::Shape,
        });
    }
    let (time, has_seconds) = parse_time(&mut rest)?;
    if rest.is_empty() {
        return Err(LastModError::ZoneMissing);
    }
    let minutes = parse_zone(&mut rest)?;
    if !rest.is_empty() {
        return Err(LastModError::Shape);
    }
    if !has_seconds {
        return Err(LastModError::Precision);
    }
    if minutes.abs() > MAX_OFFSET_MINUTES {
        return Err(LastModError::ZoneRange);
    }
    Ok(LastModForm::Instant {
        local: date.to_datetime(time),
        offset: Offset::from_seconds(minutes * 60).map_err(|_| LastModError::ZoneRange)?,
    })
}

/// Reads `hh:mm`, `hh:mm:ss` or `hh:mm:ss.s`, and whether the seconds are there.
fn parse_time(rest: &mut Digits<'_>) -> Result<(Time, bool), LastModError> {
    let hour = rest.number(2)?;
    if !rest.accept(b':') {
        return Err(LastModError::Shape);
    }
    let minute = rest.number(2)?;
    let has_seconds = rest.accept(b':');
    let second = if has_seconds { rest.number(2)? } else { 0 };
    let nanosecond = if has_seconds && rest.accept(b'.') {
        rest.fraction()?
    } else {
        0
    };
    let narrow = |number: u16| i8::try_from(number).map_err(|_| LastModError::Range);
    let time = Time::new(narrow(hour)?, narrow(minute)?, narrow(second)?, nanosecond)
        .map_err(|_| LastModError::Range)?;
    Ok((time, has_seconds))
}

/// Reads `Z` or `±hh:mm`, as minutes east of UTC.
fn parse_zone(rest: &mut Digits<'_>) -> Result<i32, LastModError> {
    if rest.accept(b'Z') {
        return Ok(0);
    }
    let sign = if rest.accept(b'+') {
        1
    } else if rest.accept(b'-') {
        -1
    } else {
        return Err(LastModError::Shape);
    };
    let hours = rest.number(2)?;
    if !rest.accept(b':') {
        return Err(LastModError::Shape);
    }
    let minutes = rest.number(2)?;
    if hours > 23 || minutes > 59 {
        return Err(LastModError::Range);
    }
    Ok(sign * i32::from(hours * 60 + minutes))
}

fn civil_date(year: u16, month: u16, day: u16) -> Result<Date, LastModError> {
    let narrow = |number: u16| i8::try_from(number).map_err(|_| LastModError::Range);
    let year = i16::try_from(year).map_err(|_| LastModError::Range)?;
    Date::new(year, narrow(month)?, narrow(day)?).map_err(|_| LastModError::Range)
}

/// The last instant of a day, in UTC.
fn end_of(date: Date) -> Timestamp {
    let local = date.to_datetime(Time::MAX);
    Offset::UTC.to_timestamp(local).unwrap_or(clamped(local))
}

/// The nearest instant for a local time at the ends of the calendar, which instants do not reach.
fn clamped(local: DateTime) -> Timestamp {
    if local.year() > 0 {
        Timestamp::MAX
    } else {
        Timestamp::MIN
    }
}

/// The rest of the text, read field by field.
struct Digits<'a>(&'a [u8]);

impl Digits<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn accept(&mut self, byte: u8) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if *first == byte => {
                self.0 = rest;
                true
            }
            Some(_) | None => false,
        }
    }

    /// A field of exactly `width` (at most four) digits.
    fn number(&mut self, width: usize) -> Result<u16, LastModError> {
        let (field, rest) = self.0.split_at_checked(width).ok_or(LastModError::Shape)?;
        if !field.iter().all(u8::is_ascii_digit) {
            return Err(LastModError::Shape);
        }
        self.0 = rest;
        Ok(field
            .iter()
            .fold(0, |number, digit| number * 10 + u16::from(digit - b'0')))
    }

    /// The digits after the point as nanoseconds; finer digits are ignored.
    fn fraction(&mut self) -> Result<i32, LastModError> {
        let width = self
            .0
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if !(1..=MAX_FRACTION_DIGITS).contains(&width) {
            return Err(LastModError::Shape);
        }
        let (field, rest) = self.0.split_at(width);
        self.0 = rest;
        let mut nanoseconds = 0;
        for position in 0..NANOSECOND_DIGITS {
            nanoseconds = nanoseconds * 10
                + field
                    .get(position)
                    .map_or(0, |digit| i32::from(digit - b'0'));
        }
        Ok(nanoseconds)
    }
}

#[cfg(test)]
mod tests;
