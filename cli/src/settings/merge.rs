//! The layers of settings put on top of each other, the lowest first; the settings of each command that result, or all their
//! problems.

mod fit;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crawler::{
    config::{EntryConfig, Namespace, ParseConfig},
    driver::{SessionSettings, has_user_info},
    export::EntryRules,
    parse::PageReader,
    schedule::{Schedule, ScheduleError},
    url_key::{Identity, UrlKey},
};
use jiff::tz::TimeZone;

pub(super) use self::fit::Among;
use super::{
    BuildSettings, CONFIG_VARIABLE, Environment, Settings, SettingsError,
    draft::Draft,
    file::Section,
    options::PUBLISH,
    problem::{Origin, Problem, nearest},
    request::with_scheme,
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
    pub(super) fn section(&mut self, section: Section, secret_sources: &SecretSources<'_>) {
        for written in section.values {
            let Some(setting) = setting_of(written.name) else {
                continue;
            };
            let value = if setting.is(Special::Secret) {
                secret_sources.reveal(setting.name, &written.value, &mut self.warnings)
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
    pub(super) fn add_wrong(&mut self, name: &str, message: impl Into<String>) {
        self.wrong(name, self.origin(name), Wrong::new(message));
    }

    /// The settings of the crawl of one site `among` others, or their problems, in no order.
    pub(super) fn finish_site(
        mut self,
        start: &UrlKey,
        among: Among<'_>,
        environment: &Environment,
    ) -> Result<Settings, Vec<Problem>> {
        self.check_together(std::slice::from_ref(start), among);
        self.settings(vec![start.clone()], among, environment)
    }

    /// Settings of a program that crawls the chosen sites; conflicts of values are checked for each.
    pub(super) fn finish_shared(
        mut self,
        among: Among<'_>,
        environment: &Environment,
    ) -> Result<Settings, Vec<Problem>> {
        // Each site may have one of its own.
        self.settle_state(environment);
        self.settings(among.chosen.to_vec(), among, environment)
    }

    /// Schedule of the site `name`; `None` without a setting, or with an invalid one.
    pub(super) fn schedule(&mut self, name: &str) -> Option<Schedule> {
        let expression = self.draft.schedule.clone()?;
        let zone = self
            .draft
            .settings
            .session
            .time_zone
            .clone()
            .unwrap_or(TimeZone::UTC);
        match Schedule::new(&expression, zone, self.draft.jitter, name) {
            Ok(schedule) => Some(schedule),
            Err(error) => {
                let setting = match error {
                    ScheduleError::Zone(_) => "time_zone",
                    _ => "schedule",
                };
                self.add_wrong(setting, error.to_string());
                None
            }
        }
    }

    /// The settings of a build, when they have no problems.
    pub(super) fn finish_build(
        mut self,
        environment: &Environment,
    ) -> Result<BuildSettings, SettingsError> {
        let base = self.draft.base_url.take();
        if base.is_none() && self.has_no_problem_of("base_url") {
            self.add_wrong(
                "base_url",
                "not set; expected --base-url URL, the directory of the site",
            );
        }
        let base = self.keys("base_url", base.into_iter().collect());
        let inputs = std::mem::take(&mut self.draft.inputs);
        if inputs.is_empty() && self.has_no_problem_of("inputs") {
            self.add_wrong(
                "inputs",
                "no input; expected a file, a folder, or - for standard input",
            );
        }
        if inputs.iter().filter(|input| *input == "-").count() > 1 {
            self.add_wrong("inputs", "standard input (-) can be read only once");
        }
        let is_state_given = self.draft.state.is_some();
        // A build can do without.
        let has_state = self.settle_state(environment);
        let among = Among::alone(&base);
        self.check_together(&base, among);
        let common = self
            .settings(base.clone(), among, environment)
            .map_err(problems_in_order)?;
        let has_folder = || inputs.iter().any(|input| Path::new(input).is_dir());
        Ok(BuildSettings {
            stores_state: is_state_given || has_state && has_folder(),
            common,
            inputs,
        })
    }

    /// The settings of a check that begins at `starts`, when they have no problems. Settings of the crawl of a site are ignored
    /// here.
    pub(super) fn finish_check(
        mut self,
        starts: Vec<String>,
        environment: &Environment,
    ) -> Result<Settings, SettingsError> {
        let config = &mut self.draft.config;
        config.identity = config.identity.verbatim();
        config.written_as = None;
        config.publish.public_url = None;
        self.draft.settings.session.seeds.clear();
        let urls = self.keys("urls", starts);
        // The folder stores the `Retry-After` of hosts; a check works without it.
        self.settle_state(environment);
        let among = Among::alone(&urls);
        self.check_together(&urls, among);
        self.settings(urls.clone(), among, environment)
            .map_err(problems_in_order)
    }

    /// Takes note of what was typed, as far as it decides what a set has and where it is, and of the settings file that was named.
    pub(super) fn note_options(&mut self, typed: &[(&'static str, Value)], file: Option<&Path>) {
        let words = |value: &Value| match value {
            Value::List(items) => items.iter().map(|item| item.value.clone()).collect(),
            value => vec![value.clone()],
        };
        let file = file.map(|file| format!(" --config {}", in_shell(&file.to_string_lossy())));
        let mut options: Vec<String> = file.into_iter().collect();
        for (name, value) in typed {
            let words = words(value);
            // Then the output is that of all sites.
            if *name == "urls" && words.len() > 1 {
                return;
            }
            let is_of_set = setting_of(name).is_some_and(|setting| {
                let option = setting.option;
                option.is_some_and(|option| option.commands & PUBLISH != 0)
                    && matches!(setting.table, "output" | "scope")
            });
            if !is_of_set {
                continue;
            }
            let name = name.replace('_', "-");
            options.extend(words.into_iter().map(|word| match word {
                Value::Text(text) if text.starts_with('-') => {
                    format!(" --{name}={}", in_shell(&text))
                }
                Value::Text(text) => format!(" --{name} {}", in_shell(&text)),
                _ => format!(" --{name}"),
            }));
        }
        self.draft.settings.session.options.publish = Some(options.concat());
    }

    /// Notifications are about the published set, whose settings are known from its state.
    pub(super) fn for_notifying(&mut self) {
        self.draft.config.written_as = None;
        self.draft.config.publish.public_url = None;
        self.draft.settings.session.seeds.clear();
    }

    /// Makes sure that there is a state folder; an empty one without a place for it, and then `false`.
    fn settle_state(&mut self, environment: &Environment) -> bool {
        let state = self.draft.state.take();
        let state = state.or_else(|| default_state_folder(environment));
        let is_found = state.is_some();
        self.draft.state = Some(state.unwrap_or_default());
        is_found
    }

    pub(super) fn settings(
        mut self,
        urls: Vec<UrlKey>,
        among: Among<'_>,
        environment: &Environment,
    ) -> Result<Settings, Vec<Problem>> {
        self.check_globs();
        self.warn_of_typed_secrets();
        if self.draft.state.is_none() && !self.settle_state(environment) {
            self.add_wrong(
                "state",
                "there is no home directory for the state; expected --state DIR",
            );
        }
        self.check_folders();
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let public_url_name = self.origin("public_url").named("public_url");
        let state_origin = self.origin("state");
        let is_shared = |name| !self.own.contains(name) && among.share(&self.origin(name));
        let (is_output_shared, is_public_url_shared) =
            (is_shared("output"), is_shared("public_url"));
        let Draft {
            mut config,
            user_agent,
            contact,
            basic_auth,
            bearer_token,
            timeout,
            state,
            mut settings,
            ..
        } = self.draft;
        if let Some(user_agent) = user_agent {
            config.fetch.user_agent = user_agent;
        } else if let Some(contact) = contact {
            config.fetch.user_agent = format!("{} (+{contact})", config.fetch.user_agent);
        }
        config.fetch.credentials = basic_auth.or(bearer_token);
        if let Some(timeout) = timeout {
            config.fetch.set_timeout(timeout);
        }
        settings.session = SessionSettings {
            urls,
            config,
            time_zone: Some(settings.session.time_zone.unwrap_or(TimeZone::UTC)),
            is_output_shared,
            is_public_url_shared,
            public_url_name,
            state: state.unwrap_or_default(),
            ..settings.session
        };
        settings.session.options.states = state_options(&state_origin, &settings);
        settings.warnings = self.warnings;
        Ok(settings)
    }

    /// A file is in the place of a folder.
    fn check_folders(&mut self) {
        let folders = [
            ("output", self.draft.settings.session.output.clone()),
            ("state", self.draft.state.clone()),
        ];
        for (setting, folder) in folders {
            if let Some(folder) = folder.filter(|folder| folder.is_file()) {
                let folder = folder.display();
                self.add_wrong(
                    setting,
                    format!("{folder} is a file; expected a folder, which may be a new one"),
                );
            }
        }
    }

    /// The values of `setting` as keys of start URLs, none twice; those that are none are problems.
    fn keys(&mut self, setting: &str, texts: Vec<String>) -> Vec<UrlKey> {
        let mut urls: Vec<UrlKey> = Vec::with_capacity(texts.len());
        for text in texts {
            self.note_missing_scheme(&text);
            match self.start_of(&text) {
                Ok(url) if urls.contains(&url) => {}
                Ok(url) => urls.push(url),
                Err(message) => self.add_wrong(setting, message),
            }
        }
        urls
    }

    /// Warns that a typed URL has no scheme.
    pub(super) fn note_missing_scheme(&mut self, typed: &str) {
        if let Cow::Owned(url) = with_scheme(typed) {
            let warning = format!("{typed} has no scheme; arpent uses {url}");
            self.warnings.push(warning);
        }
    }

    /// No site was named.
    pub(super) fn misses_sites(&mut self, expected: &str) {
        if self.has_no_problem_of("urls") {
            self.add_wrong("urls", format!("no site; {expected}"));
        }
    }

    /// The URL `text` as the key of a start URL.
    ///
    /// # Errors
    /// The value is invalid; the message has the reason.
    pub(super) fn start_of(&self, text: &str) -> Result<UrlKey, String> {
        start_of(text, &self.draft.config.identity)
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

/// Problem of the namespaces.
fn problem_of_namespaces(config: &EntryConfig) -> Option<String> {
    EntryRules::new(config).err().map(|error| error.problem)
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

/// A word as a shell takes it.
fn in_shell(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-:=,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
}

/// The options with which another command finds the states of these settings, each with a space before it.
fn state_options(origin: &Origin, settings: &Settings) -> String {
    match origin {
        Origin::Flag(_) | Origin::Variable(_) => {
            format!(" --state {}", settings.session.state.display())
        }
        Origin::File { path, .. } if settings.found_file.is_none() => {
            format!(" --config {}", path.display())
        }
        Origin::File { .. } | Origin::Default => String::new(),
    }
}

/// The URL `text` as the key of a start URL.
///
/// # Errors
/// It is invalid; the message has the reason.
pub(super) fn start_of(text: &str, identity: &Identity) -> Result<UrlKey, String> {
    if has_user_info(text) {
        return Err(
            "the URL has a user name or password; write it into basic_auth in the settings file, or into ARPENT_BASIC_AUTH"
                .to_owned(),
        );
    }
    identity.parse(&with_scheme(text)).map_err(|error| {
        let has_scheme = ["http://", "https://"].iter().any(|s| text.starts_with(s));
        let hint = if has_scheme {
            ""
        } else {
            "; expected a URL that begins with http:// or https://"
        };
        format!("{error}: \"{text}\"{hint}")
    })
}
