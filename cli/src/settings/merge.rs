//! The layers of settings put on top of each other, the lowest first, and what only shows when all
//! of them are there: values that do not fit each other.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use crawler::{
    config::{Config, Credentials, EntryConfig, Namespace, NamespaceElement, ParseConfig},
    export::EntryRules,
    parse::PageReader,
    pattern::Pattern,
    site::settle_so_far,
    url_key::{Identity, UrlKey},
};

use super::{
    BuildSettings, CONFIG_VARIABLE, Environment, KeptState, Settings, SettingsError, SummaryFormat,
    file::SettingsFile,
    problem::{Origin, Problem, nearest},
    request::{has_user_info, is_one_for_a_host, is_secret_header},
    table::{SETTINGS, Setting},
    tables::{NAMESPACE, NamespaceTable},
    value::{Item, Value, Wrong},
};

/// Settings while they are put together.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(super) urls: Vec<String>,
    pub(super) base_url: Option<String>,
    pub(super) inputs: Vec<String>,
    pub(super) config: Config,
    pub(super) output: Option<PathBuf>,
    pub(super) state: Option<PathBuf>,
    pub(super) seeds: Vec<String>,
    pub(super) user_agent: Option<String>,
    pub(super) contact: Option<String>,
    pub(super) basic_auth: Option<Credentials>,
    pub(super) bearer_token: Option<Credentials>,
    pub(super) fresh: bool,
    pub(super) dry_run: bool,
    pub(super) summary: SummaryFormat,
    pub(super) quiet: bool,
    pub(super) verbose: u32,
}

/// The layers so far, the lowest first: each value replaces what was there.
#[derive(Debug, Default)]
pub(super) struct Merge {
    draft: Draft,
    origins: BTreeMap<&'static str, Origin>,
    problems: Vec<Problem>,
    warnings: Vec<String>,
}

/// Prefix of the variables that are settings.
const VARIABLE_PREFIX: &str = "ARPENT_";

/// Settings that are meant for one site: a variable that somebody set and forgot must not reach others.
const NOT_FROM_VARIABLES: [&str; 1] = ["ignore"];

/// Variables that a hook gets: when it starts the program again, they are no slips.
const HOOK_VARIABLES: [&str; 5] = ["event", "site", "outcome", "exit_code", "sitemaps_dir"];

impl Merge {
    /// Puts the settings file on top.
    pub(super) fn file(&mut self, file: SettingsFile) {
        self.problems.extend(file.problems);
        for (name, value, origin) in file.values {
            self.value(name, &value, origin);
        }
        for (rule, origin) in file.page_rules {
            let alone = ParseConfig {
                page_rules: vec![rule.clone()],
                ..ParseConfig::default()
            };
            match PageReader::new(&alone) {
                Ok(_) => self.draft.config.parse.page_rules.push(rule),
                Err(error) => self.wrong("page_rule", origin, Wrong::new(error.problem)),
            }
        }
        self.namespaces(file.namespaces);
    }

    /// Takes the own namespaces of the file; each problem gets the line of its table.
    fn namespaces(&mut self, tables: Vec<NamespaceTable>) {
        let mut taken = EntryConfig::default();
        for NamespaceTable {
            namespace,
            origin,
            elements,
        } in tables
        {
            let alone = |element: Option<&NamespaceElement>| EntryConfig {
                namespaces: vec![Namespace {
                    elements: element.cloned().into_iter().collect(),
                    ..namespace.clone()
                }],
                ..EntryConfig::default()
            };
            if let Some(problem) = problem_of_namespaces(&alone(None)) {
                self.wrong(NAMESPACE, origin, Wrong::new(problem));
                continue;
            }
            let mut is_good = true;
            for (element, origin) in namespace.elements.iter().zip(elements) {
                if let Some(problem) = problem_of_namespaces(&alone(Some(element))) {
                    self.wrong(NAMESPACE, origin, Wrong::new(problem));
                    is_good = false;
                }
            }
            taken.namespaces.push(namespace);
            if let Some(problem) = problem_of_namespaces(&taken).filter(|_| is_good) {
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
            let names = SETTINGS.iter().map(|setting| setting.name);
            match SETTINGS
                .iter()
                .find(|setting| is_capital && setting.name == name)
            {
                Some(setting) if NOT_FROM_VARIABLES.contains(&setting.name) => {
                    if !text.trim_ascii().is_empty() {
                        let wrong = Wrong::new(format!(
                            "not taken from the environment, where it would hold for every site; give --{name}, or write it into the site's settings file"
                        ));
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
                            "the variable {variable} is no setting and is ignored; did you mean {VARIABLE_PREFIX}{nearest}?"
                        ));
                    }
                }
            }
        }
    }

    /// Puts one value on top.
    pub(super) fn value(&mut self, name: &'static str, value: &Value, origin: Origin) {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
            return;
        };
        match (setting.read)(&mut self.draft, value) {
            Ok(()) => {
                self.origins.insert(name, origin);
            }
            Err(wrong) => self.wrong(name, origin, wrong),
        }
    }

    fn wrong(&mut self, name: &str, origin: Origin, wrong: Wrong) {
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

    fn origin(&self, name: &str) -> Origin {
        self.origins.get(name).cloned().unwrap_or_default()
    }

    /// A problem of a value that was read well but does not fit the others.
    fn misfit(&mut self, name: &str, message: impl Into<String>) {
        self.wrong(name, self.origin(name), Wrong::new(message));
    }

    /// The settings of a crawl, when nothing is wrong with them.
    pub(super) fn finish(mut self, environment: &Environment) -> Result<Settings, SettingsError> {
        let urls = self.urls();
        self.settings(urls, environment)
    }

    /// The settings of a build, when nothing is wrong with them.
    pub(super) fn finish_build(
        mut self,
        environment: &Environment,
    ) -> Result<BuildSettings, SettingsError> {
        let base = self.base();
        let inputs = std::mem::take(&mut self.draft.inputs);
        if inputs.is_empty() && self.has_no_problem_of("inputs") {
            self.misfit(
                "inputs",
                "nothing to build from: name a file, a folder, or - for standard input",
            );
        }
        if inputs.iter().filter(|input| *input == "-").count() > 1 {
            self.misfit("inputs", "standard input (-) can be read once");
        }
        let is_state_given = self.draft.state.is_some();
        let state = self
            .draft
            .state
            .take()
            .or_else(|| default_state_folder(environment));
        let has_state = state.is_some();
        // A build can do without.
        self.draft.state = Some(state.unwrap_or_default());
        let common = self.settings(base, environment)?;
        Ok(BuildSettings {
            state: match (is_state_given, has_state) {
                (true, _) => KeptState::Always,
                (false, true) => KeptState::OfFolders,
                (false, false) => KeptState::Never,
            },
            common,
            inputs,
        })
    }

    /// The settings of a check that begins at `starts`, when nothing is wrong with them. What they say of
    /// the crawl of a site means nothing here.
    pub(super) fn finish_check(
        mut self,
        starts: Vec<String>,
        environment: &Environment,
    ) -> Result<Settings, SettingsError> {
        let config = &mut self.draft.config;
        config.identity = config.identity.verbatim();
        config.written_as = None;
        config.publish.public_url = None;
        self.draft.seeds.clear();
        self.draft.urls = starts;
        let urls = self.urls();
        let state = self.draft.state.take();
        // There is one for what hosts asked to wait for; a check can do without.
        let state = state.or_else(|| default_state_folder(environment));
        self.draft.state = Some(state.unwrap_or_default());
        self.settings(urls, environment)
    }

    /// The settings of telling others of what stands, when nothing is wrong with them. How the set was made
    /// is known from its state.
    pub(super) fn finish_notify(
        mut self,
        environment: &Environment,
    ) -> Result<Settings, SettingsError> {
        self.draft.config.written_as = None;
        self.draft.config.publish.public_url = None;
        self.draft.seeds.clear();
        let urls = self.urls();
        self.settings(urls, environment)
    }

    fn settings(
        mut self,
        urls: Vec<UrlKey>,
        environment: &Environment,
    ) -> Result<Settings, SettingsError> {
        self.check_together(&urls);
        self.check_globs();
        self.warn_of_typed_secrets();
        let state = self
            .draft
            .state
            .take()
            .or_else(|| default_state_folder(environment));
        if state.is_none() {
            self.misfit(
                "state",
                "no home directory to keep the state in; give --state DIR",
            );
        }
        let (Some(state), true) = (state, self.problems.is_empty()) else {
            // As one reads: the file from its first line on, then what lies on top of it.
            self.problems
                .sort_by_key(|problem| problem.origin.position());
            return Err(SettingsError::Problems(self.problems));
        };
        let public_url_origin = self.origin("public_url");
        let Draft {
            mut config,
            user_agent,
            contact,
            basic_auth,
            bearer_token,
            ..
        } = self.draft;
        if let Some(user_agent) = user_agent {
            config.fetch.user_agent = user_agent;
        } else if let Some(contact) = contact {
            config.fetch.user_agent = format!("{} (+{contact})", config.fetch.user_agent);
        }
        config.fetch.credentials = basic_auth.or(bearer_token);
        Ok(Settings {
            urls,
            config,
            output: self.draft.output,
            state,
            seeds: self.draft.seeds,
            fresh: self.draft.fresh,
            dry_run: self.draft.dry_run,
            summary: self.draft.summary,
            quiet: self.draft.quiet,
            verbose: self.draft.verbose,
            warnings: self.warnings,
            public_url_origin,
        })
    }

    fn has_no_problem_of(&self, setting: &str) -> bool {
        !self
            .problems
            .iter()
            .any(|problem| problem.setting == setting || problem.setting.is_empty())
    }

    /// The base URL of a build, the only URL it has.
    fn base(&mut self) -> Vec<UrlKey> {
        let Some(base) = self.draft.base_url.take() else {
            if self.has_no_problem_of("base_url") {
                self.misfit(
                    "base_url",
                    "expected --base-url URL: the directory of the site that the sitemaps are for",
                );
            }
            return Vec::new();
        };
        match start_url(&self.draft.config.identity, &base) {
            Ok(base) => vec![base],
            Err(message) => {
                self.misfit("base_url", message);
                Vec::new()
            }
        }
    }

    /// The start URLs as keys, none twice.
    fn urls(&mut self) -> Vec<UrlKey> {
        let texts = std::mem::take(&mut self.draft.urls);
        if texts.is_empty()
            && !self
                .problems
                .iter()
                .any(|problem| problem.setting == "urls" || problem.setting.is_empty())
        {
            self.misfit(
                "urls",
                "no site to crawl: name at least one URL, or urls in the settings file",
            );
        }
        let mut urls: Vec<UrlKey> = Vec::with_capacity(texts.len());
        for text in texts {
            if has_user_info(&text) {
                self.misfit(
                    "urls",
                    "a URL with a user name or password; put it into basic_auth in the settings file, or ARPENT_BASIC_AUTH",
                );
                continue;
            }
            match start_url(&self.draft.config.identity, &text) {
                Ok(url) if urls.contains(&url) => {}
                Ok(url) => urls.push(url),
                Err(message) => self.misfit("urls", message),
            }
        }
        urls
    }

    /// Values that make sense alone, but not with each other.
    fn check_together(&mut self, urls: &[UrlKey]) {
        let politeness = &self.draft.config.politeness;
        if politeness.max_pause < politeness.pause {
            self.misfit("max_pause", "shorter than pause");
        }
        if self.draft.basic_auth.is_some() && self.draft.bearer_token.is_some() {
            self.misfit(
                "bearer_token",
                "a request carries either this or basic_auth, not both",
            );
        }
        self.check_places(urls);
        if !self.draft.seeds.is_empty() && !self.draft.config.discover.list {
            self.misfit(
                "seeds",
                "these lists would not be read: discover does not name list",
            );
        }
        let discover = &self.draft.config.discover;
        if self.draft.seeds.is_empty()
            && discover.list
            && !(discover.links || discover.sitemaps || discover.feeds)
        {
            self.misfit(
                "discover",
                "only lists are to be read, but seeds names none",
            );
        }
        let several_origins = urls
            .windows(2)
            .any(|pair| pair[0].origin() != pair[1].origin());
        let notify = &self.draft.config.notify;
        let of_one_site = [
            ("robots_file", notify.robots_file.is_some()),
            (
                "indexnow_key_location",
                notify.indexnow_key_location.is_some(),
            ),
        ];
        for (name, _) in of_one_site
            .into_iter()
            .filter(|(_, given)| *given && several_origins)
        {
            self.misfit(
                name,
                "one file cannot be that of several sites; give it for one site at a time",
            );
        }
        let credentials = [
            ("basic_auth", self.draft.basic_auth.is_some()),
            ("bearer_token", self.draft.bearer_token.is_some()),
            (
                "header",
                self.draft
                    .config
                    .fetch
                    .headers
                    .iter()
                    .any(|(name, _)| is_secret_header(name)),
            ),
        ];
        for (name, _) in credentials
            .into_iter()
            .filter(|(_, given)| *given && several_origins)
        {
            self.misfit(
                name,
                "each of several sites would be sent these credentials; crawl one site at a time",
            );
        }
    }

    /// Where the sites are served, and what they are written as.
    fn check_places(&mut self, urls: &[UrlKey]) {
        let public_url = self.draft.config.publish.public_url.as_deref();
        let mut hosts = BTreeSet::new();
        let shared = urls.iter().find(|url| !hosts.insert(url.host()));
        if let Some(url) = shared.filter(|_| public_url.is_some_and(is_one_for_a_host)) {
            self.misfit(
                "public_url",
                format!(
                    "several sites are on the host {}, and one directory cannot serve the sitemaps of two; use {{site}} in the place of {{host}}",
                    url.host()
                ),
            );
        }
        let Some(written_as) = self.draft.config.written_as.clone() else {
            return;
        };
        if urls.len() > 1 {
            self.misfit(
                "as",
                "one directory cannot be what several sites are written as; crawl one site at a time",
            );
        } else if let Some(start) = urls.first()
            && let Err(error) =
                settle_so_far(start, &[], self.draft.config.scope.width).standing_for(&written_as)
        {
            self.misfit("as", error.to_string());
        }
    }

    /// Every glob alone, so that all that are wrong are told.
    fn check_globs(&mut self) {
        let Config { scope, publish, .. } = &self.draft.config;
        let scoped = [
            ("include", &scope.include),
            ("exclude", &scope.exclude),
            ("follow_only", &scope.follow_only),
            ("list_only", &scope.list_only),
        ];
        let scoped = scoped
            .into_iter()
            .flat_map(|(name, globs)| globs.iter().map(move |glob| (name, glob)));
        let changefreq = publish.entries.changefreq.iter();
        let priority = publish.entries.priority.iter();
        let wrong: Vec<_> = changefreq
            .map(|rule| ("changefreq", &rule.pages))
            .chain(priority.map(|rule| ("priority", &rule.pages)))
            .chain(scoped)
            .filter_map(|(name, glob)| {
                let problem = Pattern::parse(glob).err()?;
                Some((name, format!("\"{glob}\" {problem}")))
            })
            .collect();
        for (name, message) in wrong {
            self.misfit(name, message);
        }
    }

    fn warn_of_typed_secrets(&mut self) {
        let headers = &self.draft.config.fetch.headers;
        let secret = headers.iter().find(|(name, _)| is_secret_header(name));
        if let (Some((name, _)), Origin::Flag(_)) = (secret, self.origin("header")) {
            self.warnings.push(format!(
                "everyone on this machine can see the header {name} in the process list; \
                 put it into the settings file or the variable ARPENT_HEADER"
            ));
        }
        let proxy_secret = self
            .draft
            .config
            .fetch
            .proxy
            .as_deref()
            .is_some_and(has_user_info);
        if let (true, Origin::Flag(_)) = (proxy_secret, self.origin("proxy")) {
            self.warnings.push(
                "everyone on this machine can see the proxy's password in the process list; \
                 put it into the settings file or the variable ARPENT_PROXY"
                    .to_owned(),
            );
        }
    }
}

/// What is wrong with the namespaces and their selectors.
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
fn variable_value(setting: &Setting, text: &str) -> Value {
    if !setting.is_list {
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

fn start_url(identity: &Identity, text: &str) -> Result<UrlKey, String> {
    identity.parse(text).map_err(|error| {
        let hint = if text.contains("://") {
            ""
        } else {
            "; expected one that begins with http:// or https://"
        };
        format!("{error}: \"{text}\"{hint}")
    })
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
