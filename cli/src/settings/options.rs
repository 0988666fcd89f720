//! The option of a setting as a row of the table describes it, and settings that were typed.

use std::path::PathBuf;

use super::value::{Item, Value};

/// Commands, a bit for each.
pub(crate) type Commands = u32;

pub(crate) const INIT: Commands = 1;
pub(crate) const CRAWL: Commands = 1 << 1;
pub(crate) const BUILD: Commands = 1 << 2;
pub(crate) const CHECK: Commands = 1 << 3;
pub(crate) const AUDIT: Commands = 1 << 4;
pub(crate) const DIFF: Commands = 1 << 5;
pub(crate) const NOTIFY: Commands = 1 << 6;
pub(crate) const DAEMON: Commands = 1 << 7;
pub(crate) const CATALOGUE: Commands = 1 << 8;
/// `arpent catalogue add`, whose settings file is that of `catalogue`.
pub(crate) const ADD: Commands = 1 << 9;
pub(crate) const STATUS: Commands = 1 << 10;
pub(crate) const REPORT: Commands = 1 << 11;
pub(crate) const WHY: Commands = 1 << 12;
pub(crate) const PUBLISH: Commands = 1 << 13;
pub(crate) const FORGET: Commands = 1 << 14;
/// `arpent pause` and `arpent resume`.
pub(crate) const PAUSE: Commands = 1 << 15;

pub(crate) const PAGE: Commands = 1 << 16;

/// Commands that write a set.
pub(super) const SETS: Commands = CRAWL | BUILD | PUBLISH;

/// Commands that notify others of a set.
pub(super) const NOTIFIED: Commands = CRAWL | PUBLISH | NOTIFY;

/// Commands that send requests by themselves.
pub(super) const REQUESTS: Commands = INIT | CRAWL | CHECK | AUDIT | DIFF | NOTIFY | WHY;

/// Commands that use states.
pub(super) const STATES: Commands = SETS
    | INIT
    | CHECK
    | AUDIT
    | DIFF
    | NOTIFY
    | DAEMON
    | STATUS
    | REPORT
    | WHY
    | FORGET
    | PAUSE
    | PAGE;

/// The value of an option that is counted.
pub(crate) const COUNTED: &str = "+";

/// The option of a setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SettingOption {
    /// The commands that have it.
    pub(crate) commands: Commands,
    /// The name of its value; empty: a switch; [`COUNTED`]: how often it is there.
    pub(crate) value: &'static str,
    /// One line.
    pub(crate) help: &'static str,
    /// A letter.
    pub(crate) short: Option<char>,
    /// The commands of which only the long help has it.
    pub(crate) rare_in: Commands,
}

/// An option of `commands` with a value, and its help.
pub(super) const fn option(
    commands: Commands,
    value: &'static str,
    help: &'static str,
) -> SettingOption {
    SettingOption {
        commands,
        value,
        help,
        short: None,
        rare_in: 0,
    }
}

impl SettingOption {
    /// With a letter.
    pub(super) const fn short(self, letter: char) -> Self {
        Self {
            short: Some(letter),
            ..self
        }
    }

    /// Only in the long help.
    pub(super) const fn rare(self) -> Self {
        self.rare_in(Commands::MAX)
    }

    /// Only in the long help of these commands.
    pub(super) const fn rare_in(self, commands: Commands) -> Self {
        Self {
            rare_in: commands,
            ..self
        }
    }
}

/// What was typed: the settings file, and settings by their names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Typed {
    /// Path of the settings file.
    pub(crate) config: Option<PathBuf>,
    pub(crate) values: Vec<(&'static str, Value)>,
}

impl Typed {
    /// The settings file alone.
    #[cfg(any(test, feature = "catalogue"))]
    pub(crate) fn of_file(path: &std::path::Path) -> Self {
        Self {
            config: Some(path.to_owned()),
            ..Self::default()
        }
    }

    /// The same with a setting of one value, if there is one.
    pub(crate) fn with(&self, name: &'static str, value: Option<&String>) -> Self {
        let mut typed = self.clone();
        let value = value.cloned().map(Value::Text);
        typed.values.extend(value.map(|value| (name, value)));
        typed
    }

    /// The same with a setting of several values, unless there are none.
    pub(crate) fn with_all(&self, name: &'static str, values: &[String]) -> Self {
        let mut typed = self.clone();
        if !values.is_empty() {
            let items = values.iter().cloned().map(Value::Text).map(Item::new);
            typed.values.push((name, Value::List(items.collect())));
        }
        typed
    }

    /// The values of a setting that has several.
    pub(crate) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let values = self.values.iter().filter(move |(typed, _)| *typed == name);
        let items = values.flat_map(|(_, value)| match value {
            Value::List(items) => &items[..],
            Value::Text(_) | Value::Bare(_) | Value::Table(_) => &[],
        });
        items.filter_map(|item| match &item.value {
            Value::Text(text) => Some(&**text),
            Value::List(_) | Value::Bare(_) | Value::Table(_) => None,
        })
    }

    /// Returns whether a switch was typed.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.iter().any(|(typed, _)| *typed == name)
    }
}
