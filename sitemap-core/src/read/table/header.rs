//! [`Header`]: a line that names a column of URLs, and whether the rows behind it show that it is a header line indeed.
//!
//! A name is no proof: a relative URL may be called `page,1.html`. What counts besides are the rows: as many fields, and URLs in the
//! column.

use std::{borrow::Cow, ops::Range};

use super::{
    Columns, DELIMITERS, Field, Fields, Table, UrlColumn, headless::has_blank, is_address,
};
use crate::read::text::has_web_scheme;

/// Columns of a table; a header line with more is none.
pub(super) const MAX_COLUMNS: usize = 1_000;

/// The columns that a line names, if it names one of URLs.
#[derive(Debug)]
pub(super) struct Names {
    /// `None` when it has one column.
    pub(super) delimiter: Option<char>,
    columns: usize,
    /// Those of URLs, and how sure their names are.
    known: Vec<(usize, UrlColumn)>,
}

impl Names {
    pub(super) fn of(line: &str, delimiter: char) -> Option<Self> {
        let names: Vec<Field<'_>> = Fields::new(line, Some(delimiter))
            .take(MAX_COLUMNS + 1)
            .collect();
        let is_sound = names
            .iter()
            .all(|name| name.sound().is_some_and(|name| !is_address(name)));
        if !is_sound || names.len() > MAX_COLUMNS {
            return None;
        }
        let known: Vec<(usize, UrlColumn)> = names
            .iter()
            .enumerate()
            .filter_map(|(column, name)| Some((column, UrlColumn::named(name.text())?)))
            .collect();
        (!known.is_empty()).then_some(Self {
            delimiter: (names.len() > 1).then_some(delimiter),
            columns: names.len(),
            known,
        })
    }
}

/// A column whose name says that URLs stand in it.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    column: usize,
    certainty: UrlColumn,
    /// In how many of the first rows it has one.
    urls: usize,
}

impl Candidate {
    /// Its place among others, the best first: what is called so with certainty loses to no other name; of the other names those count
    /// that have URLs, and of these the surest.
    fn rank(&self) -> (bool, bool, UrlColumn) {
        let is_doubtful = self.certainty != UrlColumn::Certain;
        (is_doubtful, self.urls == 0, self.certainty)
    }
}

/// A line that names a column of URLs.
pub(super) struct Header<'a> {
    lines: Range<usize>,
    text: Cow<'a, str>,
    /// `None` when it has one column.
    delimiter: Option<char>,
    columns: usize,
    /// The column of URLs; others may have as good a claim.
    url: Candidate,
    is_one_of_many: bool,
    /// The first records behind it.
    rows: Vec<Cow<'a, str>>,
}

impl<'a> Header<'a> {
    /// The header line of these lines, which names these columns, and the first records behind it.
    pub(super) fn new(
        text: Cow<'a, str>,
        lines: Range<usize>,
        names: Names,
        mut rows: Vec<Cow<'a, str>>,
    ) -> Option<Self> {
        let delimiter = names.delimiter;
        rows.retain(|row| !are_same_names(&text, row, delimiter));
        let value = |row: &'_ Cow<'a, str>, column| {
            let field = Fields::new(row, delimiter).nth(column);
            field.and_then(Field::sound).map(str::to_owned)
        };
        let candidates = names.known.into_iter().map(|(column, certainty)| {
            let urls = rows
                .iter()
                .filter(|row| value(row, column).is_some_and(|value| is_url_of(certainty, &value)));
            Candidate {
                column,
                certainty,
                urls: urls.count(),
            }
        });
        let candidates: Vec<Candidate> = candidates.collect();
        let url = candidates.iter().min_by_key(|it| it.rank()).copied()?;
        let is_one_of_many = candidates.iter().any(|other| {
            other.column != url.column
                && other.rank() == url.rank()
                // It does not matter which is taken while they say the same.
                && (url.urls == 0
                    || rows
                        .iter()
                        .any(|row| value(row, other.column) != value(row, url.column)))
        });
        Some(Self {
            lines,
            text,
            delimiter,
            columns: names.columns,
            url,
            is_one_of_many,
            rows,
        })
    }

    /// Whether it makes more of its line than another one does: a surer column, or as sure a one of more columns, whose other names may
    /// be empty.
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        let order = self.url.rank().cmp(&other.url.rank());
        order.then(other.columns.cmp(&self.columns)).is_lt()
    }

    /// Its lines, and where the URLs of the table stand; `Err` with its first line if that is in doubt.
    pub(super) fn columns(self) -> Result<(Range<usize>, Columns), usize> {
        if self.is_one_of_many {
            return Err(self.lines.start);
        }
        let columns = Columns::of(Table {
            has_header: true,
            delimiter: self.delimiter,
            count: self.columns,
            url: self.url.column,
            certainty: self.url.certainty,
        });
        Ok((self.lines, columns))
    }

    /// Whether it is a header line as the first line of a file.
    pub(super) fn is_likely_first(&self) -> bool {
        let next = self.rows.first();
        match (self.url.certainty, self.delimiter) {
            (UrlColumn::Certain, _) => true,
            (_, Some(_)) => {
                let has_marks = has_marks_of_url(&self.text);
                self.rows_have_columns() && (self.url.urls > 0 || !has_marks)
            }
            // Alone, such a name may be a relative URL itself.
            (certainty, None) => next.is_some_and(|next| is_url_of(certainty, next.trim())),
        }
    }

    /// Whether it is a header line behind lines that say something else.
    pub(super) fn is_likely_behind<'l>(&self, mut before: impl Iterator<Item = &'l str>) -> bool {
        let is_before_url = || {
            let next = self.rows.first();
            next.is_some_and(|next| begins_with_web_scheme(next))
        };
        match (self.url.certainty, self.delimiter) {
            (UrlColumn::Certain, Some(_)) => self.rows_have_columns(),
            (UrlColumn::Likely | UrlColumn::Possible, Some(_)) => {
                self.url.urls > 0 && self.rows_have_columns()
            }
            (UrlColumn::Certain, None) => is_before_url(),
            (UrlColumn::Likely, None) => {
                let are_words = before.all(|line| line.trim().contains(char::is_whitespace));
                are_words && is_before_url()
            }
            (UrlColumn::Possible, None) => false,
        }
    }

    /// Whether the next line has the name itself where its URL should be: both are relative URLs of a list.
    pub(super) fn is_like_next(&self) -> bool {
        let value = |line| {
            let field = Fields::new(line, self.delimiter).nth(self.url.column);
            field.map(Field::text)
        };
        let next = self.rows.first();
        next.is_some_and(|next| value(next) == value(&self.text))
    }

    /// Whether most of the next lines have several fields, and no more than it has, as far as there are any. A field that nobody closes
    /// may have the others in it.
    fn rows_have_columns(&self) -> bool {
        let is_open = |row: &str| Fields::new(row, self.delimiter).any(Field::is_open);
        let rows = self.rows.iter().filter(|row| !is_open(row));
        let counts: Vec<(usize, usize)> = rows.map(|row| fields_of(row, self.delimiter)).collect();
        let has_columns = |(all, filled): (usize, usize)| all > 1 && filled <= self.columns;
        let is_most = |count: usize| count * 2 >= counts.len();
        let are_whole = || {
            let whole = counts.iter().filter(|(all, _)| *all == self.columns);
            is_most(whole.count())
        };
        is_most(counts.iter().filter(|it| has_columns(**it)).count())
            && (!self.is_like_title() || are_whole())
    }

    /// Whether it could be the title of a list, in whose URLs delimiters stand: words with a comma, that a blank follows, and none in
    /// the next line.
    fn is_like_title(&self) -> bool {
        let has_blank = |line: &str| {
            self.delimiter
                .is_some_and(|delimiter| has_blank_behind(line, delimiter))
        };
        has_blank(&self.text) && self.rows.first().is_some_and(|next| !has_blank(next))
    }
}

/// Whether two lines name the same columns, whatever their case, with quotation marks or without. Programs add empty fields at the end.
pub(super) fn are_same_names(one: &str, other: &str, delimiter: Option<char>) -> bool {
    let mut one = Fields::new(one, delimiter).map(Field::text);
    let mut other = Fields::new(other, delimiter).map(Field::text);
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (one, other) => {
                let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
                if !one.eq_ignore_ascii_case(other) {
                    return false;
                }
            }
        }
    }
}

/// The table that goes on behind `line` where that is a header line again, which names the columns in another order, or others: the URL
/// of the `next` record has to stand in the column that it names.
pub(super) fn other_columns(columns: Columns, line: &str, next: &str) -> Option<Columns> {
    let table = columns.table.filter(|table| table.has_header)?;
    let names = Names::of(line, table.delimiter?)?;
    let [(url, certainty)] = names.known[..] else {
        return None;
    };
    let further = Columns::of(Table {
        delimiter: names.delimiter,
        count: names.columns,
        url,
        certainty,
        ..table
    });
    let is_other = url != table.url || names.columns != table.count;
    let is_as_sure = certainty <= table.certainty;
    let is_shown = further.has_address(next) && (url == table.url || !columns.has_address(next));
    (is_other && is_as_sure && is_shown).then_some(further)
}

/// Whether a line names a column of URLs among others.
pub(super) fn names_url_column(line: &str) -> bool {
    DELIMITERS.into_iter().any(|delimiter| {
        let mut names = Fields::new(line, Some(delimiter)).take(MAX_COLUMNS);
        names.any(|name| UrlColumn::named(name.text()).is_some())
    })
}

/// Whether a line that begins like a comment may be a header line: its first column is called `#`, as that of a rank.
pub(super) fn begins_with_rank(line: &str) -> bool {
    DELIMITERS.into_iter().any(|delimiter| {
        let mut names = Fields::new(line, Some(delimiter)).take(MAX_COLUMNS);
        names.next().is_some_and(|name| name.text() == "#")
            && names.any(|name| UrlColumn::named(name.text()).is_some())
    })
}

/// How many fields a record has, and how many of them if those at its end do not count that are empty.
fn fields_of(record: &str, delimiter: Option<char>) -> (usize, usize) {
    let (mut all, mut filled) = (0, 0);
    for field in Fields::new(record, delimiter) {
        all += 1;
        if !field.text().is_empty() {
            filled = all;
        }
    }
    (all, filled)
}

/// Whether a blank stands behind a delimiter, as behind the comma of a sentence; what is quoted does not count.
pub(super) fn has_blank_behind(line: &str, delimiter: char) -> bool {
    let (mut is_quoted, mut is_behind) = (false, false);
    line.chars().any(|character| {
        is_quoted ^= character == '"';
        let has_blank = is_behind && character == ' ';
        is_behind = character == delimiter && !is_quoted;
        has_blank
    })
}

/// Whether a value is a URL in a column of such a name.
fn is_url_of(certainty: UrlColumn, value: &str) -> bool {
    let value = value.trim_matches(['"', '\'']);
    is_address(value) || (certainty < UrlColumn::Possible && has_marks_of_url(value))
}

/// Whether a text has what relative URLs have, and names of columns seldom: no blank, but a path, a query or the ending of a file.
pub(super) fn has_marks_of_url(text: &str) -> bool {
    let mut behind_dots = text.split('.').skip(1);
    !text.contains(char::is_whitespace)
        && (text.contains(['/', '=', '?'])
            || behind_dots.any(|part| part.starts_with(|next: char| next.is_ascii_alphanumeric())))
}

/// Whether one of the fields is no part of a URL that has delimiters in it: it is empty or quoted, or has a blank, or is a number, a
/// share, a date or a further URL.
pub(super) fn has_value_of_column(mut fields: Fields<'_>) -> bool {
    let is_number = |text: &str| {
        let mut bytes = text.trim_end_matches('%').bytes();
        text.contains(|digit: char| digit.is_ascii_digit())
            && bytes.all(|byte| byte.is_ascii_digit() || b"+-.:/$".contains(&byte))
    };
    let mut urls = 0;
    fields.any(|field| {
        let text = field.text();
        urls += usize::from(is_address(text));
        text.is_empty() || field.is_quoted() || has_blank(text) || is_number(text) || urls > 1
    })
}

pub(super) fn begins_with_address(line: &str) -> bool {
    is_address(line.trim_start_matches(|first: char| first.is_whitespace() || first == '"'))
}

pub(super) fn begins_with_web_scheme(line: &str) -> bool {
    has_web_scheme(line.trim_start_matches(|first: char| first.is_whitespace() || first == '"'))
}

/// Whether a record that is no URL itself has an absolute one behind a delimiter, and not in its query.
pub(super) fn has_url_in_column(record: &str) -> bool {
    DELIMITERS.into_iter().any(|delimiter| {
        let mut fields = Fields::new(record, Some(delimiter)).map(Field::sound);
        let is_other = |first: &str| !is_address(first) && !first.contains('?');
        fields.next().flatten().is_some_and(is_other)
            && fields
                .map_while(|field| {
                    let field = field.unwrap_or_default();
                    (!field.contains('?') || has_web_scheme(field)).then_some(field)
                })
                .any(has_web_scheme)
    })
}
