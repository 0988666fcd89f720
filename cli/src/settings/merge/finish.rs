//! Result of the layers for each command: its settings, or all their problems.

use std::{borrow::Cow, path::Path};

use crawler::{
    driver::{SessionSettings, has_user_info},
    schedule::{Schedule, ScheduleError},
    url_key::{Identity, UrlKey},
};
use jiff::tz::TimeZone;

use super::super::{
    BuildSettings, Environment, Settings, SettingsError,
    problem::{Origin, Problem},
    request::with_scheme,
};
use super::{Among, Draft, Merge, default_state_folder, problems_in_order};

impl Merge {
    /// The settings of the crawl of one site `among` others, or their problems, in no order.
    pub(in crate::settings) fn finish_site(
        mut self,
        start: &UrlKey,
        among: Among<'_>,
        environment: &Environment,
    ) -> Result<Settings, Vec<Problem>> {
        self.check_together(std::slice::from_ref(start), among);
        self.settings(vec![start.clone()], among, environment)
    }

    /// Settings of a program that crawls the chosen sites; conflicts of values are checked for each.
    pub(in crate::settings) fn finish_shared(
        mut self,
        among: Among<'_>,
        environment: &Environment,
    ) -> Result<Settings, Vec<Problem>> {
        // Each site may have one of its own.
        self.settle_state(environment);
        self.settings(among.chosen.to_vec(), among, environment)
    }

    /// Schedule of the site `name`; `None` without a setting, or with an invalid one.
    pub(in crate::settings) fn schedule(&mut self, name: &str) -> Option<Schedule> {
        let expression = self.draft.schedule.clone()?;
        let zone = self
            .draft
            .settings
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
                self.misfit(setting, error.to_string());
                None
            }
        }
    }

    /// The settings of a build, when they have no problems.
    pub(in crate::settings) fn finish_build(
        mut self,
        environment: &Environment,
    ) -> Result<BuildSettings, SettingsError> {
        let base = self.draft.base_url.take();
        if base.is_none() && self.has_no_problem_of("base_url") {
            self.misfit(
                "base_url",
                "not set; expected --base-url URL, the directory of the site",
            );
        }
        let base = self.keys("base_url", base.into_iter().collect());
        let inputs = std::mem::take(&mut self.draft.inputs);
        if inputs.is_empty() && self.has_no_problem_of("inputs") {
            self.misfit(
                "inputs",
                "no input; expected a file, a folder, or - for standard input",
            );
        }
        if inputs.iter().filter(|input| *input == "-").count() > 1 {
            self.misfit("inputs", "standard input (-) can be read only once");
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
    pub(in crate::settings) fn finish_check(
        mut self,
        starts: Vec<String>,
        environment: &Environment,
    ) -> Result<Settings, SettingsError> {
        let config = &mut self.draft.config;
        config.identity = config.identity.verbatim();
        config.written_as = None;
        config.publish.public_url = None;
        self.draft.settings.seeds.clear();
        let urls = self.keys("urls", starts);
        // The folder stores the `Retry-After` of hosts; a check works without it.
        self.settle_state(environment);
        let among = Among::alone(&urls);
        self.check_together(&urls, among);
        self.settings(urls.clone(), among, environment)
            .map_err(problems_in_order)
    }

    /// Notifications are about the published set, whose settings are known from its state.
    pub(in crate::settings) fn for_notifying(&mut self) {
        self.draft.config.written_as = None;
        self.draft.config.publish.public_url = None;
        self.draft.settings.seeds.clear();
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
            self.misfit(
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
        settings.state_options = state_options(&state_origin, &settings);
        settings.warnings = self.warnings;
        Ok(settings)
    }

    /// A file is in the place of a folder.
    fn check_folders(&mut self) {
        let folders = [
            ("output", self.draft.settings.output.clone()),
            ("state", self.draft.state.clone()),
        ];
        for (setting, folder) in folders {
            if let Some(folder) = folder.filter(|folder| folder.is_file()) {
                let folder = folder.display();
                self.misfit(
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
                Err(message) => self.misfit(setting, message),
            }
        }
        urls
    }

    /// Warns that a typed URL has no scheme.
    pub(in crate::settings) fn note_missing_scheme(&mut self, typed: &str) {
        if let Cow::Owned(url) = with_scheme(typed) {
            let warning = format!("{typed} has no scheme; arpent uses {url}");
            self.warnings.push(warning);
        }
    }

    /// No site was named.
    pub(in crate::settings) fn misses_sites(&mut self, expected: &str) {
        if self.has_no_problem_of("urls") {
            self.misfit("urls", format!("no site; {expected}"));
        }
    }

    /// The URL `text` as the key of a start URL.
    ///
    /// # Errors
    /// It is invalid; the message has the reason.
    pub(in crate::settings) fn start_of(&self, text: &str) -> Result<UrlKey, String> {
        start_of(text, &self.draft.config.identity)
    }
}

/// The options with which another command finds the states of these settings, each with a space before it.
fn state_options(origin: &Origin, settings: &Settings) -> String {
    match origin {
        Origin::Flag(_) | Origin::Variable(_) => format!(" --state {}", settings.state.display()),
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
pub(in crate::settings) fn start_of(text: &str, identity: &Identity) -> Result<UrlKey, String> {
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
