//! From what was written to what is meant: flags win over variables of the environment, these over
//! the settings file, this over the defaults. Every value remembers where it came from, and all
//! problems are reported at once. What the values do is the business of [`crawler`].

mod file;
mod merge;
mod notify;
mod output;
mod problem;
mod request;
pub(crate) mod table;
mod tables;
mod units;
pub(crate) mod value;

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use crawler::{config::Config, site::Site, url_key::UrlKey};

pub(crate) use self::{file::MAX_FILE_BYTES, problem::SettingsError, units::duration};
use self::{
    file::SettingsFile,
    merge::Merge,
    problem::{Origin, Problem},
    request::public_url_of,
    value::Value,
};
use crate::args::{BuildArgs, CheckArgs, CrawlArgs, NotifyArgs};

/// What is printed on stdout at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum SummaryFormat {
    /// For people.
    #[default]
    Text,
    /// One line of JSON per site.
    Json,
}

/// The variables of the environment, read once by `main`.
pub(crate) type Environment = BTreeMap<String, String>;

/// Everything `arpent crawl` needs to know, checked.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The sites, each by the URL its crawl starts from; at least one, none twice.
    pub(crate) urls: Vec<UrlKey>,
    /// For the library. Output folder, credential origins and start host are filled in per site.
    pub(crate) config: Config,
    /// Where the sets are written; `None`: `sitemaps/<site>`.
    pub(crate) output: Option<PathBuf>,
    /// Where the states are kept.
    pub(crate) state: PathBuf,
    /// Files with URLs to crawl too; `-` is standard input.
    pub(crate) seeds: Vec<String>,
    /// Forget what is known.
    pub(crate) fresh: bool,
    /// Write no sitemaps.
    pub(crate) dry_run: bool,
    /// What goes to stdout.
    pub(crate) summary: SummaryFormat,
    /// Nothing but errors on stderr.
    pub(crate) quiet: bool,
    /// How much more goes to stderr: 0 to 3 levels.
    pub(crate) verbose: u32,
    /// What the user should know about the settings, each a sentence.
    pub(crate) warnings: Vec<String>,
    /// Where the public URL came from, for a problem that only shows when the site is known.
    public_url_origin: Origin,
}

/// Everything `arpent build` needs to know, checked.
#[derive(Debug, Clone)]
pub(crate) struct BuildSettings {
    /// What it has in common with a crawl; its only URL is the base URL.
    pub(crate) common: Settings,
    /// Files and folders; `-` is standard input. At least one.
    pub(crate) inputs: Vec<String>,
    /// When what is known is kept in [`Settings::state`].
    pub(crate) state: KeptState,
}

/// When a build keeps what it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptState {
    /// The user named a place for it.
    Always,
    /// When a folder is read: `lastmod` of a page whose content did not change stays.
    OfFolders,
    /// There is no place for it.
    Never,
}

/// The variable that names the settings file when `--config` is not given.
const CONFIG_VARIABLE: &str = "ARPENT_CONFIG";

impl Settings {
    /// Merges what was typed with the environment, the settings file and the defaults. `read_file`
    /// reads the settings file; everything else is given.
    ///
    /// # Errors
    /// The file cannot be read, or anything in any of the layers makes no sense; all problems at once.
    pub(crate) fn load(
        args: &CrawlArgs,
        environment: &Environment,
        read_file: impl FnOnce(&Path) -> io::Result<String>,
    ) -> Result<Self, SettingsError> {
        layers(args.config.as_deref(), args.typed(), environment, read_file)?.finish(environment)
    }
}

impl Settings {
    /// The same for `arpent check`, which begins at the URLs `starts`.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub(crate) fn load_check(
        args: &CheckArgs,
        starts: Vec<String>,
        environment: &Environment,
        read_file: impl FnOnce(&Path) -> io::Result<String>,
    ) -> Result<Self, SettingsError> {
        layers(args.config.as_deref(), args.typed(), environment, read_file)?
            .finish_check(starts, environment)
    }
}

impl Settings {
    /// The same for `arpent notify`.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub(crate) fn load_notify(
        args: &NotifyArgs,
        environment: &Environment,
        read_file: impl FnOnce(&Path) -> io::Result<String>,
    ) -> Result<Self, SettingsError> {
        layers(args.config.as_deref(), args.typed(), environment, read_file)?
            .finish_notify(environment)
    }
}

impl BuildSettings {
    /// The same for `arpent build`.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub(crate) fn load(
        args: &BuildArgs,
        environment: &Environment,
        read_file: impl FnOnce(&Path) -> io::Result<String>,
    ) -> Result<Self, SettingsError> {
        layers(args.config.as_deref(), args.typed(), environment, read_file)?
            .finish_build(environment)
    }
}

/// Everything that was written anywhere, on top of each other.
fn layers(
    config: Option<&Path>,
    typed: Vec<(&'static str, Value)>,
    environment: &Environment,
    read_file: impl FnOnce(&Path) -> io::Result<String>,
) -> Result<Merge, SettingsError> {
    let mut merge = Merge::default();
    let config_variable = environment
        .get(CONFIG_VARIABLE)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    if let Some(path) = config.or(config_variable.as_deref()) {
        let text = read_file(path).map_err(|source| SettingsError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        merge.file(SettingsFile::parse(path, &text));
    }
    merge.environment(environment);
    for (name, value) in typed {
        merge.value(name, &value, Origin::flag(name));
    }
    Ok(merge)
}

impl Settings {
    /// The folder that the set of a site is written to; `site_name` is the name in the file system of
    /// the site that it is written as.
    pub(crate) fn output_of(&self, site_name: &str) -> PathBuf {
        match &self.output {
            Some(folder) if self.urls.len() == 1 => folder.clone(),
            Some(folder) => folder.join(site_name),
            None => Path::new("sitemaps").join(site_name),
        }
    }

    /// The file that holds what is known of `site`: named after what is crawled, whatever it is written as.
    pub(crate) fn state_of(&self, site: &Site) -> PathBuf {
        self.state.join(format!("{}.db", site.name()))
    }

    /// The URL of the directory where the set of `site` will be served, as the library wants it. A
    /// sitemap may only list what is below its own directory, unless it is of another origin, whose
    /// robots.txt then has to name it (sitemaps.org protocol, "Sitemap file location").
    ///
    /// # Errors
    /// The directory is of the origin that the site is written as and does not cover it.
    pub(crate) fn public_url_of(&self, site: &Site) -> Result<Option<String>, SettingsError> {
        let Some(template) = &self.config.publish.public_url else {
            return Ok(None);
        };
        let site = site.written();
        let problem = |message| {
            SettingsError::Problems(vec![Problem {
                origin: self.public_url_origin.clone(),
                setting: "public_url".to_owned(),
                message,
            }])
        };
        let public_url = public_url_of(template, &site, self.urls.len() > 1).ok_or_else(|| {
            problem(format!(
                "{template} is no URL for {}; use {{site}} in the path",
                site.url()
            ))
        })?;
        if public_url.is_on(&site.origin) && !site.directory.starts_with(public_url.path()) {
            return Err(problem(format!(
                "a sitemap in {public_url} may not list {own}, because it lists only what is in its own directory (R58); \
                 expected {own}, a directory above it, or another host that {origin}/robots.txt names",
                own = site.url(),
                origin = site.origin,
            )));
        }
        Ok(Some(public_url.to_string()))
    }
}
