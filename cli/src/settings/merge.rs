//! The layers of settings put on top of each other, the lowest first, and the problems that need all of them: values that
//! conflict.

mod draft;
mod finish;
mod fit;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use crawler::{
    config::{EntryConfig, Namespace, ParseConfig},
    export::EntryRules,
    parse::PageReader,
};

pub(crate) use self::draft::Draft;
pub(super) use self::{finish::start_of, fit::Among};
use super::{
    CONFIG_VARIABLE, Environment, SettingsError,
    file::Section,
    problem::{Origin, Problem, nearest},
    secret::SecretSources,
    table::{SETTINGS, Setting, Special, setting_of},
    tables::NAMESPACE,
    value::{Item, Value, Wrong},
};

/// The layers so far, the lowest first: each value replaces the one below.
#[derive(Debug, Default)]
pub(super) struct Merge {
    pub(super) draft: Draft,
    origins: BTreeMap<&'static str, Origin>,
    /// Settings whose value is in the table of the site: they apply to it alone.
    own: BTreeSet<&'static str>,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<String>,
}

/// Prefix of the variables that are settings.
pub(super) const VARIABLE_PREFIX: &str = "ARPENT_";

/// Variables that a hook gets: when it starts the program again, they are not mistakes.
const HOOK_VARIABLES: [&str; 5] = ["event", "site", "outcome", "exit_code", "sitemaps_dir"];

impl Merge {
    /// Adds the layer of a settings file.
    pub(super) fn section(&mut self, section: Section, world: &SecretSources<'_>) {
        for written in section.values {
            let Some(setting) = setting_of(written.name) else {
                continue;
            };
            let value = if setting.is(Special::Secret) {
                world.reveal(setting.name, &written.value, &mut self.warnings)
            } else {
                Ok(written.value)
            };
            match value {
                Ok(value) => {
                    self.value(written.name, &value, written.origin);
                    if written.is_own {
                        self.own.insert(written.name);
                    }
                }
                Err(wrong) => self.wrong(written.name, written.origin, wrong),
            }
        }
        for (rule, origin) in section.page_rules {
            let alone = ParseConfig {
                page_rules: vec![rule.clone()],
                ..ParseConfig::default()
            };
            match PageReader::new(&alone) {
                Ok(_) => self.draft.config.parse.page_rules.push(rule),
                Err(error) => self.wrong("page_rule", origin, Wrong::new(error.problem)),
            }
        }
        self.namespaces(section.namespaces);
    }

    /// Takes the custom namespaces of the file.
    fn namespaces(&mut self, namespaces: Vec<(Namespace, Origin)>) {
        let mut taken = EntryConfig::default();
        for (namespace, origin) in namespaces {
            taken.namespaces.push(namespace);
            if let Some(problem) = problem_of_namespaces(&taken) {
                self.wrong(NAMESPACE, origin, Wrong::new(problem));
                taken.namespaces.pop();
            }
        }
        let config = &mut self.draft.config;
        config.parse.page_rules.extend(taken.page_rules());
        config.publish.entries.namespaces = taken.namespaces;
    }

    /// Puts the variables of the environment on top.
    pub(super) fn environment(&mut self, environment: &Environment) {
        for (variable, text) in environment {
            let Some(name) = variable.strip_prefix(VARIABLE_PREFIX) else {
                continue;
            };
            let is_capital = name == name.to_ascii_uppercase();
            let name = name.to_ascii_lowercase();
            let names = SETTINGS.iter().filter(|setting| setting.is_in_files());
            let names = names.map(|setting| setting.name);
            match setting_of(&name).filter(|_| is_capital) {
                Some(setting) if setting.is(Special::NoVariable) || setting.is(Special::Option) => {
                    if !text.trim_ascii().is_empty() {
                        let option = name.replace('_', "-");
                        let wrong = Wrong::new(if setting.is(Special::Option) {
                            format!(
                                "not read from the environment, because it is for one start of arpent; use the option --{option}"
                            )
                        } else {
                            format!(
                                "not read from the environment, because it would apply to every site; use --{option}, or the settings file of the site"
                            )
                        });
                        self.wrong(setting.name, Origin::Variable(variable.clone()), wrong);
                    }
                }
                Some(setting) => {
                    let value = variable_value(setting, text);
                    self.value(setting.name, &value, Origin::Variable(variable.clone()));
                }
                // Others may use the prefix for their own ends, so only a likely slip is worth a word.
                None => {
                    if let Some(nearest) = nearest(&name, names).filter(|_| {
                        variable != CONFIG_VARIABLE && !HOOK_VARIABLES.contains(&name.as_str())
                    }) {
                        let nearest = nearest.to_ascii_uppercase();
                        self.warnings.push(format!(
                            "the variable {variable} is ignored, because there is no such setting; did you mean {VARIABLE_PREFIX}{nearest}?"
                        ));
                    }
                }
            }
        }
    }

    /// Puts one value on top.
    pub(super) fn value(&mut self, name: &'static str, value: &Value, origin: Origin) {
        let Some(setting) = setting_of(name) else {
            return;
        };
        match (setting.read)(&mut self.draft, value) {
            Ok(()) => {
                self.own.remove(name);
                self.origins.insert(name, origin);
            }
            Err(wrong) => self.wrong(name, origin, wrong),
        }
    }

    pub(super) fn wrong(&mut self, name: &str, origin: Origin, wrong: Wrong) {
        let origin = match (origin, wrong.line) {
            (Origin::File { path, .. }, Some(line)) => Origin::File { path, line },
            (origin, _) => origin,
        };
        self.problems.push(Problem {
            origin,
            setting: name.to_owned(),
            message: wrong.message,
        });
    }

    pub(super) fn origin(&self, name: &str) -> Origin {
        self.origins.get(name).cloned().unwrap_or_default()
    }

    /// A problem of a value that is valid alone, but not together with other values.
    pub(super) fn misfit(&mut self, name: &str, message: impl Into<String>) {
        self.wrong(name, self.origin(name), Wrong::new(message));
    }

    fn has_no_problem_of(&self, setting: &str) -> bool {
        !self
            .problems
            .iter()
            .any(|problem| problem.setting == setting || problem.setting.is_empty())
    }
}

/// Problems as one reads: the file from its first line on, then the layers above. A problem of several sites is reported once.
pub(super) fn problems_in_order(mut problems: Vec<Problem>) -> SettingsError {
    problems.sort_by_key(|problem| problem.origin.position());
    let mut reported: Vec<Problem> = Vec::with_capacity(problems.len());
    for problem in problems {
        let here = problem.origin.position();
        let mut beside = reported
            .iter()
            .rev()
            .take_while(|known| known.origin.position() == here);
        if !beside.any(|known| *known == problem) {
            reported.push(problem);
        }
    }
    SettingsError::Problems(reported)
}

/// Problem of the namespaces and their selectors.
fn problem_of_namespaces(config: &EntryConfig) -> Option<String> {
    let entries = EntryRules::new(config).err().map(|error| error.problem);
    entries.or_else(|| {
        let parse = ParseConfig {
            page_rules: config.page_rules(),
            ..ParseConfig::default()
        };
        PageReader::new(&parse).err().map(|error| error.problem)
    })
}

/// The text of a variable as a value: lists hold one value per line.
pub(super) fn variable_value(setting: &Setting, text: &str) -> Value {
    if !setting.is(Special::List) {
        return Value::Text(text.to_owned());
    }
    let lines = text
        .lines()
        .map(str::trim_ascii)
        .filter(|line| !line.is_empty());
    Value::List(
        lines
            .map(|line| Item::new(Value::Text(line.to_owned())))
            .collect(),
    )
}

/// `arpent/` in the platform's folder for state: `$XDG_STATE_HOME` or `~/.local/state` (XDG Base
/// Directory Specification), `~/Library/Application Support` on macOS, `%LOCALAPPDATA%` on Windows.
pub(super) fn default_state_folder(environment: &Environment) -> Option<PathBuf> {
    let absolute = |name: &str| {
        environment
            .get(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = if cfg!(windows) {
        absolute("LOCALAPPDATA")?
    } else if cfg!(target_os = "macos") {
        absolute("HOME")?.join("Library/Application Support")
    } else {
        absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?
    };
    Some(base.join("arpent"))
}
