//! [`Draft`]: one entry while its elements come in, and the problems of its values.

use super::{MAX_VALUE_BYTES, Position, Problem};
use crate::{
    ChangeFreq, LastMod, LastModError, Loc, LocError, Priority, UrlEntry,
    limits::MIN_LOC_CHARACTERS,
    loc::{Rawness, has_ascii_host, rawness},
};

/// The elements of an entry, in the order of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tag {
    Loc,
    LastMod,
    ChangeFreq,
    Priority,
}

impl Tag {
    pub(super) fn of(name: &str) -> Option<Self> {
        [Self::Loc, Self::LastMod, Self::ChangeFreq, Self::Priority]
            .into_iter()
            .find(|tag| tag.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Loc => "loc",
            Self::LastMod => "lastmod",
            Self::ChangeFreq => "changefreq",
            Self::Priority => "priority",
        }
    }
}

/// The text of one element, references resolved.
#[derive(Debug)]
pub(super) struct ElementText {
    content: String,
    /// More came than is kept.
    is_too_long: bool,
    /// The first reference to an entity that is not defined.
    undefined_entity: Option<String>,
    /// Malformed bytes were replaced by U+FFFD.
    is_malformed: bool,
    /// Start of the element.
    position: Position,
}

impl ElementText {
    pub(super) fn new() -> Self {
        Self {
            content: String::new(),
            is_too_long: false,
            undefined_entity: None,
            is_malformed: false,
            position: Position::START,
        }
    }

    /// Forgets the text of the last element.
    pub(super) fn begin(&mut self, position: Position) {
        self.content.clear();
        self.is_too_long = false;
        self.undefined_entity = None;
        self.is_malformed = false;
        self.position = position;
    }

    pub(super) fn push(&mut self, text: &str) {
        if self.content.len() + text.len() > MAX_VALUE_BYTES {
            self.is_too_long = true;
        } else {
            self.content.push_str(text);
        }
    }

    pub(super) fn set_undefined_entity(&mut self, name: String) {
        self.undefined_entity.get_or_insert(name);
    }

    pub(super) fn set_malformed(&mut self) {
        self.is_malformed = true;
    }

    /// Returns whether the text is blank so far.
    pub(super) fn is_blank(&self) -> bool {
        !self.is_too_long && self.content.trim().is_empty()
    }

    /// The text without white space around it, unless it is not to be used.
    pub(super) fn value(&self, name: &'static str) -> Result<&str, Problem> {
        // XML knows four kinds of white space, people who paste URLs more of them.
        self.usable(name).map(str::trim)
    }

    /// The text, unless it is not to be used; `name` is the element's.
    pub(super) fn usable(&self, name: &'static str) -> Result<&str, Problem> {
        if self.is_too_long {
            return Err(Problem::ValueTooLong { name });
        }
        if let Some(name) = self.undefined_entity.clone() {
            return Err(Problem::UndefinedEntity { name });
        }
        if self.is_malformed {
            return Err(Problem::NotUtf8);
        }
        Ok(&self.content)
    }

    pub(super) fn position(&self) -> Position {
        self.position
    }
}

/// An entry in the making.
#[derive(Debug)]
pub(super) struct Draft {
    position: Position,
    /// Start of the URL and of the date, each once it came.
    pub(super) loc_position: Option<Position>,
    pub(super) lastmod_position: Option<Position>,
    loc: Option<Loc>,
    lastmod: Option<LastMod>,
    changefreq: Option<ChangeFreq>,
    priority: Option<Priority>,
    /// The elements that came, by their place in the schema.
    seen: [bool; 4],
    /// The latest element in the order of the schema.
    latest: Option<Tag>,
    /// An element of another namespace came, after which no element of the protocol is allowed.
    pub(super) has_extension: bool,
    /// Reason why the entry cannot be used: the first reason counts.
    lost: Option<(Problem, Position)>,
}

impl Draft {
    pub(super) fn new(position: Position) -> Self {
        Self {
            position,
            loc_position: None,
            lastmod_position: None,
            loc: None,
            lastmod: None,
            changefreq: None,
            priority: None,
            seen: [false; 4],
            latest: None,
            has_extension: false,
            lost: None,
        }
    }

    /// Start of the entry.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// Returns whether `tag` follows something that must follow it.
    pub(super) fn is_out_of_order(&mut self, tag: Tag) -> bool {
        let is_late = self.has_extension || self.latest > Some(tag);
        self.latest = self.latest.max(Some(tag));
        is_late
    }

    /// Returns whether `tag` has come before.
    pub(super) fn has(&self, tag: Tag) -> bool {
        self.seen[tag as usize]
    }

    /// Returns whether `tag` has come before; it has from now on.
    pub(super) fn repeats(&mut self, tag: Tag) -> bool {
        std::mem::replace(&mut self.seen[tag as usize], true)
    }

    /// Gives the entry up.
    pub(super) fn lose(&mut self, problem: Problem, position: Position) {
        self.lost.get_or_insert((problem, position));
    }

    /// Takes in the text of an element, and returns the problems with which the entry can still be used.
    pub(super) fn set(&mut self, tag: Tag, text: &ElementText) -> Vec<Problem> {
        let mut problems = Vec::new();
        let value = match text.value(tag.name()) {
            Ok(value) => value,
            Err(problem) => {
                match tag {
                    Tag::Loc => self.lose(problem, text.position),
                    Tag::LastMod | Tag::ChangeFreq | Tag::Priority => problems.push(problem),
                }
                return problems;
            }
        };
        if value.len() < text.content.len() && !value.is_empty() {
            problems.push(Problem::Padded { name: tag.name() });
        }
        match tag {
            Tag::Loc => problems.extend(self.set_loc(value, text.position)),
            Tag::LastMod => {
                self.lastmod_position = Some(text.position);
                self.lastmod = read_lastmod(value, &mut problems);
            }
            Tag::ChangeFreq => self.changefreq = read_changefreq(value, &mut problems),
            Tag::Priority => match Priority::parse(value) {
                Ok(priority) => self.priority = Some(priority),
                Err(error) => problems.push(Problem::Priority(error)),
            },
        }
        problems
    }

    /// Takes in the URL, and returns the problems with which it can still be used.
    pub(super) fn set_loc(&mut self, value: &str, position: Position) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.loc_position = Some(position);
        match read_loc(value, &mut problems) {
            Ok(loc) => {
                if loc.as_str().len() < MIN_LOC_CHARACTERS {
                    problems.push(Problem::LocShort);
                }
                self.loc = Some(loc);
            }
            Err(error) => self.lose(Problem::Loc(error), position),
        }
        problems
    }

    pub(super) fn set_lastmod(&mut self, lastmod: LastMod) {
        self.lastmod = Some(lastmod);
    }

    /// Returns whether the entry could be used as it is now.
    pub(super) fn is_usable(&self) -> bool {
        self.loc.is_some() && self.lost.is_none()
    }

    /// The entry, or why it cannot be used.
    pub(super) fn finish(&mut self) -> Result<UrlEntry, (Problem, Position)> {
        if let Some(lost) = self.lost.take() {
            return Err(lost);
        }
        let Some(loc) = self.loc.take() else {
            return Err((Problem::NoLoc, self.position));
        };
        let mut entry = UrlEntry::new(loc);
        entry.lastmod = self.lastmod.take();
        entry.changefreq = self.changefreq;
        entry.priority = self.priority;
        Ok(entry)
    }
}

/// Reads a URL, and adds the problems of its spelling.
pub(super) fn read_loc(value: &str, problems: &mut Vec<Problem>) -> Result<Loc, LocError> {
    let loc = Loc::parse(value)?;
    if loc.as_str() != value {
        let has_raw_host = !has_ascii_host(value);
        if has_raw_host {
            problems.push(Problem::HostNotAscii);
        }
        match rawness(value) {
            Rawness::Forbidden if value.contains(char::is_control) => {
                problems.push(Problem::LocBroken);
            }
            Rawness::Forbidden => problems.push(Problem::LocNotEncoded),
            Rawness::NotAscii => problems.push(Problem::LocNotAscii),
            Rawness::None if has_raw_host => {}
            Rawness::None => problems.push(Problem::LocNotNormal {
                normal: loc.normalised().into_owned(),
            }),
        }
    } else if loc.has_needless_escapes() {
        problems.push(Problem::NeedlessEscapes {
            normal: loc.normalised().into_owned(),
        });
    }
    if has_encoded_entity(value) {
        problems.push(Problem::EncodedEntity);
    }
    if value.contains("&amp;") {
        problems.push(Problem::EscapedTwice);
    }
    Ok(loc)
}

/// Returns whether a URL has an entity of XML in which the `&` is percent-encoded, and perhaps the `;` (R25).
fn has_encoded_entity(url: &str) -> bool {
    url.match_indices("%26").any(|(start, _)| {
        let name = &url[start + 3..];
        ["amp", "apos", "quot", "lt", "gt"].iter().any(|entity| {
            name.strip_prefix(entity)
                .is_some_and(|end| [";", "%3B", "%3b"].iter().any(|form| end.starts_with(form)))
        })
    })
}

/// Reads a date, and adds its problems.
pub(super) fn read_lastmod(value: &str, problems: &mut Vec<Problem>) -> Option<LastMod> {
    let (lastmod, problem) = match LastMod::parse(value) {
        Ok(lastmod) => return Some(lastmod),
        Err(LastModError::ZoneMissing) => match LastMod::parse(&format!("{value}Z")) {
            Ok(lastmod) => (Some(lastmod), Problem::ZoneAssumed),
            // A time of minutes has no zone to be W3C date-time either.
            Err(_) => (None, Problem::LastMod(LastModError::ZoneMissing)),
        },
        Err(error) => (None, Problem::LastMod(error)),
    };
    problems.push(problem);
    lastmod
}

fn read_changefreq(value: &str, problems: &mut Vec<Problem>) -> Option<ChangeFreq> {
    match ChangeFreq::parse(value) {
        Ok(changefreq) => Some(changefreq),
        Err(error) => {
            let lower_case = ChangeFreq::parse(&value.to_ascii_lowercase()).ok();
            problems.push(if lower_case.is_some() {
                Problem::ChangeFreqCase
            } else {
                Problem::ChangeFreq(error)
            });
            lower_case
        }
    }
}
