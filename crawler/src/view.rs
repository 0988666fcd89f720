//! The result of a command as people read it: a title, and sections of rows. A query makes a [`View`]; one printer makes text of
//! it, and another a part of a page.

use std::borrow::Cow;

use serde::Serialize;
use sitemap_core::read::Severity;

use crate::human;

/// Examples and other rows of a section that a view has at most; the others are counted.
pub const MAX_ROWS: usize = 100;

/// How much a line matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// As everything.
    #[default]
    Plain,
    /// To be seen first.
    Strong,
    /// A note, or advice.
    Note,
    /// Something that the user should look at.
    Warning,
    /// A failure.
    Error,
}

/// The result of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct View {
    /// The first line; empty: there is none.
    pub title: String,
    /// The parts, in their order. One without rows is not shown.
    pub sections: Vec<Section>,
}

/// Rows that belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Section {
    /// The name in a page: kebab-case.
    pub name: &'static str,
    /// The first line; empty: its rows follow what is before it.
    pub title: String,
    /// Names of the columns; none: the rows are lines, or facts of a name and a value.
    pub heads: &'static [&'static str],
    /// The rows.
    pub rows: Vec<Row>,
    /// Number of rows that were left out after these.
    pub more: u64,
    /// A page draws bars for the first column of numbers.
    pub has_bars: bool,
    /// A page draws these numbers over time, one curve each.
    pub curves: Vec<Curve>,
}

/// Numbers over time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Curve {
    /// The name of the values.
    pub name: &'static str,
    /// Seconds since 1970 and values, the oldest first.
    pub points: Vec<(i64, u64)>,
}

/// A row: a line of text, or cells below the names of their columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The cells.
    pub cells: Vec<Cell>,
    /// How much it matters.
    pub tone: Tone,
    /// Lines that belong to it, such as examples.
    pub below: Vec<String>,
    /// Number of such lines that were left out.
    pub more: u64,
}

/// A value in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A text; a URL is a link in a page.
    Text(String),
    /// A number.
    Number(u64),
    /// There is no value.
    Absent,
}

impl Tone {
    /// The tone of a finding.
    pub fn of(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Note => Self::Note,
        }
    }
}

impl View {
    /// A view without sections.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            sections: Vec::new(),
        }
    }

    /// Adds a section, and returns it.
    pub fn section(&mut self, name: &'static str, title: impl Into<String>) -> &mut Section {
        let section = Section {
            name,
            title: title.into(),
            ..Section::default()
        };
        let place = self.sections.len();
        self.sections.push(section);
        &mut self.sections[place]
    }
}

impl Section {
    /// Gives the columns their names.
    pub fn heads(&mut self, heads: &'static [&'static str]) -> &mut Self {
        self.heads = heads;
        self
    }

    /// Adds a line of text, and returns its row.
    pub fn line(&mut self, text: impl Into<String>) -> &mut Row {
        self.row([Cell::Text(text.into())])
    }

    /// Adds a row, and returns it.
    pub fn row(&mut self, cells: impl Into<Vec<Cell>>) -> &mut Row {
        let row = Row {
            cells: cells.into(),
            ..Row::default()
        };
        let place = self.rows.len();
        self.rows.push(row);
        &mut self.rows[place]
    }

    /// Adds the name and the value of a fact, if there is one.
    pub fn fact(&mut self, name: &str, value: Option<impl Into<Cell>>) {
        if let Some(value) = value {
            self.row([name.into(), value.into()]);
        }
    }

    /// Adds a row for each of `items`, of which those after the first `most` are counted.
    pub fn rows<T>(
        &mut self,
        most: usize,
        items: impl ExactSizeIterator<Item = T>,
        mut add: impl FnMut(&mut Self, T),
    ) {
        self.more += items.len().saturating_sub(most) as u64;
        for item in items.take(most) {
            add(self, item);
        }
    }
}

impl Row {
    /// Adds lines below the row; `count` is the number of all, of which these are the first.
    pub fn below(&mut self, lines: impl IntoIterator<Item = impl Into<String>>, count: u64) {
        self.below.extend(lines.into_iter().map(Into::into));
        self.more = count.saturating_sub(self.below.len() as u64);
    }

    /// Sets how much the row matters.
    pub fn toned(&mut self, tone: Tone) -> &mut Self {
        self.tone = tone;
        self
    }
}

impl Cell {
    /// The value as text; `-` where there is none.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => text.into(),
            Self::Number(number) => human::number(*number).into(),
            Self::Absent => "-".into(),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}
