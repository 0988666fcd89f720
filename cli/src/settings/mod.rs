//! Reads and merges the settings: flags win over variables of the environment, these over the settings file, this over the
//! defaults. Every value remembers where it came from, and all problems are reported at once. Their effects belong to
//! [`crawler`].

#[cfg(feature = "catalogue")]
mod catalogue;
mod default_file;
mod draft;
mod file;
mod fleet;
mod merge;
mod notify;
pub(crate) mod options;
mod output;
mod problem;
mod request;
mod secret;
mod sites;
pub(crate) mod table;
mod tables;
mod units;
pub(crate) mod value;

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

pub(crate) use crawler::driver::{SiteSettings, directory, has_user_info, is_storage, settled};
use crawler::{driver::SessionSettings, site::Site};

#[cfg(feature = "catalogue")]
pub(crate) use self::catalogue::{MAX_SITES_FILE_BYTES, StoredSites, fleet_places, site_of_text};
pub(crate) use self::{
    default_file::default_file,
    file::MAX_FILE_BYTES,
    options::Typed,
    problem::SettingsError,
    request::{DIRECTORY_FORM, contact, is_secret_header, with_scheme},
    secret::FileText,
    sites::{CrawlSettings, Purpose},
    units::duration,
};
use self::{
    file::{Section, SettingsFile},
    fleet::Fleet,
    merge::{Merge, VARIABLE_PREFIX},
    problem::Origin,
    secret::{CREDENTIALS_VARIABLE, SecretSources, add_variables_of},
    table::{SETTINGS, Special},
    value::Value,
};

/// Format of the log on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl LogFormat {
    /// Format of the log that options and variables ask for, before anything is checked: an unknown word means text.
    pub(crate) fn of_log(typed: &Typed, environment: &Environment) -> Self {
        let mut typed = typed.values.iter();
        let typed = typed.find(|(name, _)| *name == "log_format");
        let is_json = match typed {
            Some((_, value)) => *value == Value::Text("json".to_owned()),
            None => environment
                .get("ARPENT_LOG_FORMAT")
                .is_some_and(|word| word == "json"),
        };
        if is_json { Self::Json } else { Self::Text }
    }
}

/// The variables of the environment, read once by `main`.
pub(crate) type Environment = BTreeMap<String, String>;

/// Everything a command needs to know, checked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// Settings of sessions.
    pub(crate) session: SessionSettings,
    /// The result on stdout is JSON.
    pub(crate) json: bool,
    /// Nothing but errors on stderr.
    pub(crate) quiet: bool,
    /// Additional levels of the log on stderr: 0 to 3.
    pub(crate) verbose: u32,
    /// Format of stderr.
    pub(crate) log_format: LogFormat,
    /// The longest that a daemon takes to stop.
    pub(crate) stop_timeout: StopTimeout,
    /// Where a daemon answers requests for metrics.
    pub(crate) metrics: Option<SocketAddr>,
    /// The page in a browser.
    pub(crate) page: PageSettings,
    /// The sites that a daemon shares with others.
    pub(crate) fleet: Fleet,
    /// The settings file, when it was found without being named.
    pub(crate) found_file: Option<PathBuf>,
    /// Warnings about the settings, each a sentence.
    pub(crate) warnings: Vec<String>,
}

/// Everything `arpent build` needs to know, checked.
#[derive(Debug, Clone)]
pub(crate) struct BuildSettings {
    /// The part in common with a crawl; its only URL is the base URL.
    pub(crate) common: Settings,
    /// Files and folders; `-` is standard input. At least one.
    pub(crate) inputs: Vec<String>,
    /// The state is stored in [`SessionSettings::state`]: the user named that folder, or an input is a folder, in which the `lastmod` of
    /// a page stays while its content does not change.
    pub(crate) stores_state: bool,
}

/// The page in a browser.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageSettings {
    /// Where it is.
    pub(crate) address: Option<SocketAddr>,
    /// The file with the token of those who may start commands.
    pub(crate) token_file: Option<PathBuf>,
}

/// Time that a daemon may take to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StopTimeout(pub(crate) Duration);

impl Default for StopTimeout {
    /// Below the ten seconds that container engines grant.
    fn default() -> Self {
        Self(Duration::from_secs(9))
    }
}

/// The variable that names the settings file when `--config` is not given.
const CONFIG_VARIABLE: &str = "ARPENT_CONFIG";

/// Name of a settings file in one of the usual places.
const FILE_NAME: &str = "arpent.toml";

/// Files of which the first that exists has the settings, when none is named: in the current folder, in the configuration folder
/// of the user (XDG Base Directory Specification), in `/etc`.
fn usual_places(environment: &Environment) -> Vec<PathBuf> {
    let folder = |name: &str| environment.get(name).filter(|path| !path.is_empty());
    let of_user = if cfg!(windows) {
        folder("APPDATA").map(PathBuf::from)
    } else {
        let of_home = || folder("HOME").map(|home| Path::new(home).join(".config"));
        folder("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(of_home)
    };
    let mut places = vec![PathBuf::from(FILE_NAME)];
    places.extend(of_user.map(|folder| folder.join("arpent").join(FILE_NAME)));
    if cfg!(unix) {
        places.push(Path::new("/etc/arpent").join(FILE_NAME));
    }
    places
}

impl Settings {
    /// The settings of a command that crawls no site and begins at the URLs `starts`: those that the settings file has for all
    /// sites.
    ///
    /// # Errors
    /// As [`CrawlSettings::load`].
    pub(crate) fn load_check(
        typed: Typed,
        starts: Vec<String>,
        environment: &Environment,
        read_file: impl Fn(&Path) -> io::Result<FileText>,
    ) -> Result<Self, SettingsError> {
        Layers::read(typed, MAX_FILE_BYTES, environment, &read_file)?
            .shared()
            .finish_check(starts, environment)
    }
}

impl BuildSettings {
    /// The state file of the build of `site`: not that of a crawl, whose visits would be lost; `None`: nothing is stored.
    pub(crate) fn state_of(&self, site: &Site) -> Option<PathBuf> {
        self.stores_state
            .then(|| self.common.session.build_state_of(site))
    }

    /// The settings of `arpent build`: those that the file has for all sites.
    ///
    /// # Errors
    /// As [`CrawlSettings::load`].
    pub(crate) fn load(
        typed: Typed,
        environment: &Environment,
        read_file: impl Fn(&Path) -> io::Result<FileText>,
    ) -> Result<Self, SettingsError> {
        Layers::read(typed, MAX_FILE_BYTES, environment, &read_file)?
            .shared()
            .finish_build(environment)
    }
}

/// Everything that was written anywhere, the lowest layer first.
struct Layers<'w> {
    file: SettingsFile,
    secret_sources: SecretSources<'w>,
    /// Variables that are settings.
    variables: &'w Environment,
    typed: Vec<(&'static str, Value)>,
    /// The file, when it was looked for in the usual places.
    found: Option<PathBuf>,
    /// The file that was named.
    named: Option<PathBuf>,
    /// Warnings about the file as a whole.
    warnings: Vec<String>,
}

impl<'w> Layers<'w> {
    /// Reads the settings file, if there is one; the named one may be as large as the number beside it.
    fn read(
        Typed { config, values }: Typed,
        max_bytes: usize,
        environment: &'w Environment,
        read_file: &'w dyn Fn(&Path) -> io::Result<FileText>,
    ) -> Result<Self, SettingsError> {
        let mut layers = Self {
            file: SettingsFile::default(),
            secret_sources: SecretSources {
                environment,
                read_file,
                hides_secrets: false,
            },
            variables: environment,
            typed: values,
            found: None,
            named: None,
            warnings: Vec::new(),
        };
        let config_variable = environment
            .get(CONFIG_VARIABLE)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from);
        let named = config.or(config_variable);
        let is_named = named.is_some();
        layers.named.clone_from(&named);
        let places = named.map_or_else(|| usual_places(environment), |path| vec![path]);
        for path in &places {
            let found = match read_file(path) {
                Ok(found) => found,
                Err(error) if !is_named && error.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => {
                    let path = path.clone();
                    return Err(SettingsError::Unreadable { path, source });
                }
            };
            if !is_named {
                layers.found = Some(path.clone());
            }
            layers.file = SettingsFile::parse(path, &found.text, max_bytes);
            if let Some(secret) = layers.file.first_secret().filter(|_| found.is_open_to_all) {
                layers.warnings.push(format!(
                    "every user of this machine can read the secret {1} in {0}; run chmod o-r {0}, or write the secret into another file: {1} = {{ file = \"...\" }}",
                    path.display(),
                    secret.name
                ));
            }
            break;
        }
        Ok(layers)
    }

    /// Leaves out the secrets of the file, and their problems.
    fn forget_secrets(&mut self) {
        let file = &mut self.file;
        let own = file.sites.iter_mut().map(|site| &mut site.section);
        for section in std::iter::once(&mut file.shared).chain(own) {
            section.values.retain(|written| {
                let setting = SETTINGS.iter().find(|setting| setting.name == written.name);
                setting.is_none_or(|setting| !setting.is(Special::Secret))
            });
        }
        self.warnings.clear();
    }

    /// Variables that called programs do not inherit: settings, because each may be a secret, and those named as the place of a
    /// secret by any site.
    fn withheld(&self) -> Vec<String> {
        let own = self.file.sites.iter().map(|site| &site.section);
        let values = std::iter::once(&self.file.shared)
            .chain(own)
            .flat_map(|section| &section.values);
        let mut names = BTreeSet::from([CREDENTIALS_VARIABLE.to_owned()]);
        for written in values {
            add_variables_of(&written.value, &mut names);
        }
        let settings = SETTINGS.iter().map(|setting| setting.name);
        names
            .extend(settings.map(|name| format!("{VARIABLE_PREFIX}{}", name.to_ascii_uppercase())));
        let others = self.secret_sources.environment.keys();
        names.extend(
            others
                .filter(|name| name.starts_with(VARIABLE_PREFIX))
                .cloned(),
        );
        names.into_iter().collect()
    }

    /// Settings of all sites, with the problems of the file.
    fn shared(&self) -> Merge {
        let mut merge = self.merge(self.file.shared.clone());
        merge.problems.extend_from_slice(&self.file.problems);
        merge.warnings.splice(0..0, self.warnings.iter().cloned());
        merge.draft.settings.found_file.clone_from(&self.found);
        merge
    }

    /// A section of the file with the layers above it.
    fn merge(&self, section: Section) -> Merge {
        self.merge_in(&self.secret_sources, section)
    }

    /// The same without a secret.
    fn merge_without_secrets(&self, section: Section) -> Merge {
        let secret_sources = SecretSources {
            hides_secrets: true,
            ..self.secret_sources
        };
        self.merge_in(&secret_sources, section)
    }

    fn merge_in(&self, secret_sources: &SecretSources<'_>, section: Section) -> Merge {
        let mut merge = Merge::default();
        merge.section(section, secret_sources);
        merge.environment(self.variables);
        for (name, value) in &self.typed {
            merge.value(name, value, Origin::flag(name));
        }
        merge.note_options(&self.typed, self.named.as_deref());
        merge
    }
}
