//! The settings file: TOML with flat keys, a table for who is told, and tables for page rules and namespaces. It finds names, values and
//! lines, and every problem of the file at once; what a value means is decided by the table of settings.

use std::{borrow::Cow, ops::Range, path::Path, sync::Arc};

use crawler::config::PageRule;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    problem::{Origin, Problem, nearest},
    table::{SETTINGS, Setting},
    tables::{NAMESPACE, NamespaceTable, PAGE_RULE},
    value::{Item, Value},
};

/// Largest settings file, in bytes: a mistaken path should not fill the memory.
pub(crate) const MAX_FILE_BYTES: usize = 1024 * 1024;

/// What a settings file says.
#[derive(Debug, Default)]
pub(crate) struct SettingsFile {
    /// Values by setting name, with their line.
    pub(crate) values: Vec<(&'static str, Value, Origin)>,
    /// The page rules, each with its line.
    pub(crate) page_rules: Vec<(PageRule, Origin)>,
    /// The own namespaces.
    pub(crate) namespaces: Vec<NamespaceTable>,
    /// Everything that is wrong with the file as a file.
    pub(crate) problems: Vec<Problem>,
}

impl SettingsFile {
    /// Reads `text`, the contents of `path`.
    pub(crate) fn parse(path: &Path, text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let place = Place {
            path: path.into(),
            breaks: breaks.map(|(position, _)| position).collect(),
        };
        let mut file = Self::default();
        if text.len() > MAX_FILE_BYTES {
            file.problems.push(place.problem(
                &(0..0),
                "",
                "larger than 1 MiB: this is no settings file",
            ));
            return file;
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            file.problems.push(place.problem(
                &error.span().unwrap_or(0..0),
                "",
                &one_line(error.message()),
            ));
        }
        // What a broken line left behind would only be reported twice.
        if !file.problems.is_empty() {
            return file;
        }
        for (key, value) in table.get_ref() {
            let name: &str = key.get_ref();
            if name == PAGE_RULE {
                file.page_rules = place.page_rules(value, &mut file.problems);
            } else if name == NAMESPACE {
                file.namespaces = place.namespaces(value, &mut file.problems);
            } else if let (NOTIFY, Some(table)) = (name, value.get_ref().as_table()) {
                for (key, value) in table {
                    file.take(&place, key, value, true);
                }
            } else {
                file.take(&place, key, value, false);
            }
        }
        file.values.sort_by_key(|(_, _, origin)| line_of(origin));
        file.problems
            .sort_by_key(|problem| line_of(&problem.origin));
        file
    }

    /// Takes one key, of the file itself or of its table `[notify]`.
    fn take(
        &mut self,
        place: &Place,
        key: &Spanned<Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        is_in_notify: bool,
    ) {
        let name: &str = key.get_ref();
        let known = SETTINGS.iter().find(|setting| setting.name == name);
        match known {
            Some(setting) if setting.is_in_notify == is_in_notify => {
                let origin = place.origin(&key.span());
                self.values.push((setting.name, place.value(value), origin));
            }
            Some(setting) => {
                let message = if setting.is_in_notify {
                    "expected in the table [notify]"
                } else {
                    "not a setting of [notify]; write it above all tables"
                };
                self.problems
                    .push(place.problem(&key.span(), name, message));
            }
            None => {
                let own = |setting: &&Setting| setting.is_in_notify == is_in_notify;
                let tables: &[&str] = if is_in_notify {
                    &[]
                } else {
                    &[PAGE_RULE, NAMESPACE, NOTIFY]
                };
                let known = SETTINGS.iter().filter(own).map(|setting| setting.name);
                let known = known.chain(tables.iter().copied());
                self.problems.push(place.unknown(key, "setting", known));
            }
        }
    }
}

/// The key of the table that says who is told.
const NOTIFY: &str = "notify";

/// Where in which file.
pub(super) struct Place {
    path: Arc<Path>,
    /// Where the line breaks are, in order.
    breaks: Vec<usize>,
}

impl Place {
    fn line(&self, span: &Range<usize>) -> usize {
        1 + self
            .breaks
            .partition_point(|position| *position < span.start)
    }

    pub(super) fn origin(&self, span: &Range<usize>) -> Origin {
        Origin::File {
            path: Arc::clone(&self.path),
            line: self.line(span),
        }
    }

    pub(super) fn problem(&self, span: &Range<usize>, setting: &str, message: &str) -> Problem {
        Problem {
            origin: self.origin(span),
            setting: setting.to_owned(),
            message: message.to_owned(),
        }
    }

    pub(super) fn unknown<'k>(
        &self,
        key: &Spanned<impl AsRef<str>>,
        what: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) -> Problem {
        let name = key.get_ref().as_ref();
        let message = match nearest(name, known) {
            Some(nearest) => format!("no such {what}; did you mean {nearest}?"),
            None => format!("no such {what}"),
        };
        self.problem(&key.span(), name, &message)
    }

    pub(super) fn value(&self, value: &Spanned<DeValue<'_>>) -> Value {
        match value.get_ref() {
            DeValue::String(text) => Value::Text(text.clone().into_owned()),
            DeValue::Integer(number) => Value::Bare(number.to_string()),
            DeValue::Float(number) => Value::Bare(number.to_string()),
            DeValue::Boolean(truth) => Value::Bare(truth.to_string()),
            DeValue::Datetime(date) => Value::Bare(date.to_string()),
            DeValue::Array(items) => Value::List(
                items
                    .iter()
                    .map(|item| Item {
                        value: self.value(item),
                        line: Some(self.line(&item.span())),
                    })
                    .collect(),
            ),
            DeValue::Table(_) => Value::Table,
        }
    }
}

/// The parser's words as one fragment.
fn one_line(message: &str) -> String {
    message.lines().collect::<Vec<_>>().join("; ")
}

fn line_of(origin: &Origin) -> usize {
    match origin {
        Origin::File { line, .. } => *line,
        Origin::Default | Origin::Variable(_) | Origin::Flag(_) => 0,
    }
}
