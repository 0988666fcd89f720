//! The layers of settings put on top of each other, the lowest first, and what only shows when all
//! of them are there: values that do not fit each other.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU32,
    path::PathBuf,
    time::Duration,
};

use crawler::{
    config::{
        Config, Credentials, EntryConfig, Namespace, NamespaceElement, ParseConfig, ScopeWidth,
    },
    export::EntryRules,
    parse::PageReader,
    pattern::Pattern,
    schedule::{Schedule, ScheduleError},
    site::settle_so_far,
    url_key::{Identity, UrlKey},
};
use jiff::tz::TimeZone;

use super::{
    BuildSettings, CONFIG_VARIABLE, Environment, KeptState, LogFormat, Settings, SettingsError,
    SummaryFormat,
    file::Section,
    problem::{Origin, Problem, nearest},
    request::{has_user_info, is_one_for_a_host, is_secret_header},
    secret::World,
    table::{SETTINGS, Setting},
    tables::{NAMESPACE, NamespaceTable},
    value::{Item, Value, Wrong},
};

/// Settings while they are put together.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(super) urls: Vec<String>,
    pub(super) max_sites: Option<NonZeroU32>,
    pub(super) schedule: Option<String>,
    pub(super) time_zone: Option<TimeZone>,
    pub(super) jitter: Duration,
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
    pub(super) log: LogFormat,
    pub(super) stop_timeout: StopTimeout,
}

/// How long a daemon may take to stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct StopTimeout(pub(super) Duration);

impl Default for StopTimeout {
    /// Below what service managers and container engines grant when they are told to (45 s in `config/`).
    fn default() -> Self {
        Self(Duration::from_secs(30))
    }
}

/// The layers so far, the lowest first: each value replaces what was there.
#[derive(Debug, Default)]
pub(super) struct Merge {
    pub(super) draft: Draft,
    origins: BTreeMap<&'static str, Origin>,
    /// Settings whose value stands in the table of the site: they are meant for it alone.
    own: BTreeSet<&'static str>,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<String>,
}

/// The sites that a value can be meant for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Among<'s> {
    /// The sites of this start of the program: what is typed is meant for these.
    pub(super) chosen: &'s [UrlKey],
    /// These and all that the settings file names: what is written is meant for these whichever are chosen, so
    /// that a site has one place.
    pub(super) named: &'s [UrlKey],
}

impl<'s> Among<'s> {
    /// Those of a settings file without sites of its own.
    fn alone(urls: &'s [UrlKey]) -> Self {
        Self {
            chosen: urls,
            named: urls,
        }
    }

    /// Those that a value from `origin` is meant for.
    fn meant_by(self, origin: &Origin) -> &'s [UrlKey] {
        match origin {
            Origin::Flag(_) => self.chosen,
            Origin::Default | Origin::File { .. } | Origin::Variable(_) => self.named,
        }
    }
}

/// Prefix of the variables that are settings.
pub(super) const VARIABLE_PREFIX: &str = "ARPENT_";

/// Settings that are meant for one site: a variable that somebody set and forgot must not reach others.
const NOT_FROM_VARIABLES: [&str; 1] = ["ignore"];

/// Variables that a hook gets: when it starts the program again, they are no slips.
const HOOK_VARIABLES: [&str; 5] = ["event", "site", "outcome", "exit_code", "sitemaps_dir"];

impl Merge {
    /// Puts what a settings file says on top.
    pub(super) fn section(&mut self, section: Section, world: &World<'_>) {
        for written in section.values {
            let Some(setting) = setting_of(written.name) else {
                continue;
            };
            let value = if setting.is_secret {
                world.reveal(&written.value, &mut self.warnings)
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

    /// Where the table of the site has its own value for `name`, if it has one that counts.
    pub(super) fn own_origin(&self, name: &str) -> Option<Origin> {
        self.own.contains(name).then(|| self.origin(name))
    }

    /// A problem of a value that was read well but does not fit the others.
    pub(super) fn misfit(&mut self, name: &str, message: impl Into<String>) {
        self.wrong(name, self.origin(name), Wrong::new(message));
    }

    /// The settings of the crawl of one site `among` others, when nothing is wrong with them; otherwise what is,
    /// in no order.
    pub(super) fn finish_site(
        mut self,
        start: &UrlKey,
        among: Among<'_>,
        environment: &Environment,
    ) -> Result<Settings, Vec<Problem>> {
        self.check_together(std::slice::from_ref(start), among);
        self.settings(vec![start.clone()], among, environment)
    }

    /// What holds for a program that crawls the chosen sites; whether values fit each other is asked for each.
    pub(super) fn finish_shared(
        mut self,
        among: Among<'_>,
        environment: &Environment,
    ) -> Result<Settings, Vec<Problem>> {
        // Each site may have one of its own.
        let state = self.draft.state.take();
        let state = state.or_else(|| default_state_folder(environment));
        self.draft.state = Some(state.unwrap_or_default());
        self.settings(among.chosen.to_vec(), among, environment)
    }

    /// When the site `name` is crawled; `None` when nobody said, or what was said is no schedule.
    pub(super) fn schedule(&mut self, name: &str) -> Option<Schedule> {
        let expression = self.draft.schedule.clone()?;
        let zone = self.draft.time_zone.clone().unwrap_or(TimeZone::UTC);
        match Schedule::new(&expression, zone, self.draft.jitter, name) {
            Ok(schedule) => Some(schedule),
            Err(error) => {
                let setting = match error {
                    ScheduleError::Zone(_) => "time_zone",
                    _ => "schedule",
                };
                self.misfit(setting, error.to_string());
                None
            }
        }
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
        let among = Among::alone(&base);
        self.check_together(&base, among);
        let common = self
            .settings(base.clone(), among, environment)
            .map_err(problems_in_order)?;
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
        let among = Among::alone(&urls);
        self.check_together(&urls, among);
        self.settings(urls.clone(), among, environment)
            .map_err(problems_in_order)
    }

    /// The key's file proves the key for the URLs of its own host alone, which a redirect from `start` changes at most
    /// by its `www.`. One location for the sites of several origins (`has_one_origin` is false) is a problem of its own.
    pub(super) fn check_key_location(&mut self, start: &UrlKey, has_one_origin: bool) {
        const SETTING: &str = "indexnow_key_location";
        let config = &self.draft.config;
        let Some(location) = config.notify.indexnow_key_location.as_deref() else {
            return;
        };
        if !has_one_origin && !self.own.contains(SETTING) {
            return;
        }
        let site = config.written_as.as_ref().unwrap_or(start);
        // Only what is a URL was taken.
        let Ok(location) = Identity::default().parse(location) else {
            return;
        };
        let (site, location) = (authority(site), authority(&location));
        let bare = |authority: &str| authority.trim_start_matches("www.").to_owned();
        if bare(&site) != bare(&location) {
            self.misfit(
                SETTING,
                format!("it is on {location}, where no file proves the key for {site}; expected the URL of a file on {site} that holds it"),
            );
        }
    }

    /// What others are told of is what stands: how the set was made is known from its state.
    pub(super) fn for_telling(&mut self) {
        self.draft.config.written_as = None;
        self.draft.config.publish.public_url = None;
        self.draft.seeds.clear();
    }

    fn settings(
        mut self,
        urls: Vec<UrlKey>,
        among: Among<'_>,
        environment: &Environment,
    ) -> Result<Settings, Vec<Problem>> {
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
            return Err(self.problems);
        };
        let public_url_origin = self.origin("public_url");
        let is_shared =
            |name| !self.own.contains(name) && among.meant_by(&self.origin(name)).len() > 1;
        let (is_output_shared, is_public_url_shared) =
            (is_shared("output"), is_shared("public_url"));
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
            log: self.draft.log,
            stop_timeout: self.draft.stop_timeout.0,
            warnings: self.warnings,
            withheld: Vec::new(),
            is_output_shared,
            is_public_url_shared,
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

    /// The start URLs as keys, none twice, at least one.
    fn urls(&mut self) -> Vec<UrlKey> {
        let texts = std::mem::take(&mut self.draft.urls);
        if texts.is_empty() {
            self.misses_sites();
        }
        let mut urls: Vec<UrlKey> = Vec::with_capacity(texts.len());
        for text in texts {
            match self.start_of(&text) {
                Ok(url) if urls.contains(&url) => {}
                Ok(url) => urls.push(url),
                Err(message) => self.misfit("urls", message),
            }
        }
        urls
    }

    /// Nobody named a site.
    pub(super) fn misses_sites(&mut self) {
        if self.has_no_problem_of("urls") {
            self.misfit(
                "urls",
                "no site to crawl: name at least one URL, or urls in the settings file",
            );
        }
    }

    /// The URL `text` as the key of a start URL.
    ///
    /// # Errors
    /// It is none; the message says why.
    pub(super) fn start_of(&self, text: &str) -> Result<UrlKey, String> {
        if has_user_info(text) {
            return Err(
                "a URL with a user name or password; put it into basic_auth in the settings file, or ARPENT_BASIC_AUTH"
                    .to_owned(),
            );
        }
        start_url(&self.draft.config.identity, text)
    }

    /// Values that make sense alone, but not with each other: for the sites `urls` `among` others.
    fn check_together(&mut self, urls: &[UrlKey], among: Among<'_>) {
        let all = among.chosen;
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
        self.check_places(urls, among);
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
        let several_origins = all
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
            .filter(|(name, given)| *given && several_origins && !self.own.contains(name))
            .collect::<Vec<_>>()
        {
            self.misfit(
                name,
                "one file cannot be that of several sites; write it into [site.notify] of the one it is for",
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
            .filter(|(name, given)| *given && several_origins && !self.own.contains(name))
            .collect::<Vec<_>>()
        {
            self.misfit(
                name,
                "each of several sites would be sent these credentials; write them into the table [[site]] of the one they are for",
            );
        }
    }

    /// Where the sites are served, and what they are written as.
    fn check_places(&mut self, urls: &[UrlKey], among: Among<'_>) {
        let public_url = self.draft.config.publish.public_url.as_deref();
        let public_url = public_url.filter(|_| !self.own.contains("public_url"));
        let mut hosts = BTreeSet::new();
        let served = among.meant_by(&self.origin("public_url"));
        let shared = served.iter().find(|url| !hosts.insert(url.host()));
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
        if among.chosen.len() > 1 && !self.own.contains("as") {
            self.misfit(
                "as",
                "one directory cannot be what several sites are written as; write it into the table [[site]] of the one it is for",
            );
        } else if let Some(start) = urls.first()
            && self.draft.config.scope.width == ScopeWidth::Origin
            && start.to_directory().path() != "/"
        {
            // The directory of the scope stands for the other one: nobody who names a start in a directory means the root.
            let directory = start.to_directory();
            let root = format!("{}/", start.origin());
            self.misfit(
                "as",
                format!(
                    "the directory of the start URL, {directory}, is what stands for {written_as}, and the scope is all of {root}; \
                     leave the scope at \"dir\", or start at {root} and name the directory that it stands for"
                ),
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
        let sections = publish.sections.iter();
        let wrong: Vec<_> = changefreq
            .map(|rule| ("changefreq", &rule.pages))
            .chain(priority.map(|rule| ("priority", &rule.pages)))
            .chain(sections.map(|rule| ("sections", &rule.pages)))
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

/// Host, and port where it is not the scheme's default: http and https may mix.
fn authority(url: &UrlKey) -> String {
    let origin = url.origin().to_string();
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    authority.unwrap_or(&origin).to_owned()
}

/// The row of the table that is called `name`.
fn setting_of(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

/// Problems as one reads: the file from its first line on, then what lies on top of it. What is shared by
/// several sites is told once.
pub(super) fn problems_in_order(mut problems: Vec<Problem>) -> SettingsError {
    problems.sort_by_key(|problem| problem.origin.position());
    let mut told: Vec<Problem> = Vec::with_capacity(problems.len());
    for problem in problems {
        let here = problem.origin.position();
        let mut beside = told
            .iter()
            .rev()
            .take_while(|known| known.origin.position() == here);
        if !beside.any(|known| *known == problem) {
            told.push(problem);
        }
    }
    SettingsError::Problems(told)
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
