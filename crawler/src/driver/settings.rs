//! Settings of the sessions of a site, and the places of its files that follow from them.

use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use jiff::tz::TimeZone;

use crate::{
    config::Config,
    publish::check_output,
    schedule::Schedule,
    site::{Site, settle_so_far},
    site_run::{Places, SessionError},
    summary::CommandOptions,
    url_key::{HostKey, Identity, UrlKey},
};

/// URLs of object storage begin so.
const STORAGES: [&str; 3] = ["s3://", "gs://", "az://"];

/// Returns whether `output` is a URL of object storage, not a folder.
pub fn is_storage(output: &Path) -> bool {
    let text = output.to_str().unwrap_or_default();
    STORAGES.iter().any(|scheme| text.starts_with(scheme))
}

/// Placeholder in a public URL for the name of the site.
pub const SITE_PLACE: &str = "{site}";

/// Placeholder in a public URL for the host of the site.
pub const HOST_PLACE: &str = "{host}";

/// A site and its settings.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "the program fills it in")]
pub struct SiteSettings {
    /// The name in messages and in a timetable; names are unique.
    pub name: String,
    /// Start of its crawl.
    pub start: UrlKey,
    /// Schedule of its crawls.
    pub schedule: Option<Schedule>,
    /// The settings.
    pub settings: Arc<SessionSettings>,
}

impl SiteSettings {
    /// The site as far as it is known before its start URL was requested: a redirect may still change its origin.
    pub fn foreseen(&self) -> Site {
        let config = &self.settings.config;
        let site = settle_so_far(&self.start, &[], config.scope.width);
        match &config.written_as {
            Some(original) => site.clone().standing_for(original).unwrap_or(site),
            None => site,
        }
    }

    /// The host that its requests go to; with and without `www.` it is the same, because the one redirects to the
    /// other.
    pub fn host(&self) -> HostKey {
        let host = self.start.host_str();
        HostKey::new(host.strip_prefix("www.").unwrap_or(host))
    }
}

/// Settings of a session.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent settings, each a switch of its own"
)]
#[expect(clippy::exhaustive_structs, reason = "the program fills it in")]
pub struct SessionSettings {
    /// Settings of the crawl and of the set. Output folder, credential origins and start host are filled in per site.
    pub config: Config,
    /// The URLs that the work starts from, none twice: exactly one for the crawl of a site.
    pub urls: Vec<UrlKey>,
    /// Folder of the sets, or URL of object storage; `None`: `sitemaps/<site>`.
    pub output: Option<PathBuf>,
    /// The output is meant for other sites too, so each gets a folder with its name in it.
    pub is_output_shared: bool,
    /// The public URL is meant for other sites too, so it gets the site's name.
    pub is_public_url_shared: bool,
    /// The setting of the public URL and the place where it is written, for messages.
    pub public_url_name: String,
    /// Folder of the states.
    pub state: PathBuf,
    /// Options for other commands.
    pub options: CommandOptions,
    /// Files with URLs to crawl too; `-` is standard input.
    pub seeds: Vec<String>,
    /// Forget the state.
    pub fresh: bool,
    /// Write no sitemaps.
    pub dry_run: bool,
    /// The time zone of its schedule, and of times for people; `None`: UTC.
    pub time_zone: Option<TimeZone>,
    /// Variables of the environment that hooks do not inherit.
    pub withheld: Vec<String>,
}

impl SessionSettings {
    /// The folder that the set of a site is written to; `site_name` is the name in the file system of
    /// the site that it is written as.
    pub fn output_of(&self, site_name: &str) -> PathBuf {
        let place = self.place_of(site_name);
        if is_storage(&place) {
            // The set is complete here before it is sent.
            return self.staged_of(site_name);
        }
        place
    }

    /// The folder of a set that readers get from object storage.
    pub fn staged_of(&self, site_name: &str) -> PathBuf {
        self.state.join(format!("{site_name}.set"))
    }

    /// The URL of the object storage that the set is sent to; `None`: readers get the folder.
    pub fn storage_of(&self, site_name: &str) -> Option<String> {
        let place = self.place_of(site_name);
        is_storage(&place).then(|| place.display().to_string())
    }

    /// Where readers get the set: a folder, or the URL of object storage.
    pub fn place_of(&self, site_name: &str) -> PathBuf {
        match &self.output {
            Some(place) if self.is_output_shared => place.join(site_name),
            Some(place) => place.clone(),
            None => Path::new("sitemaps").join(site_name),
        }
    }

    /// The state file of `site`, named after the crawled site, not after the public one.
    pub fn state_of(&self, site: &Site) -> PathBuf {
        self.state.join(format!("{}.db", site.name()))
    }

    /// The state file of the builds of `site`.
    pub fn build_state_of(&self, site: &Site) -> PathBuf {
        self.state.join(format!("{}.build.db", site.name()))
    }

    /// The file with the result of the last session of `site`.
    pub fn last_session_of(&self, site: &Site) -> PathBuf {
        self.state.join(format!("{}.last.json", site.name()))
    }

    /// The folder for copies of the sets of `site` that were published last.
    pub fn generations_of(&self, site: &Site) -> PathBuf {
        self.state.join(format!("{}.generations", site.name()))
    }

    /// The URL of the directory where the set of `site` will be served, in the form of the library. A sitemap may only list what
    /// is below its own directory, unless it is of another origin, whose robots.txt then has to name it (sitemaps.org protocol,
    /// "Sitemap file location").
    ///
    /// # Errors
    /// The directory is of the origin that the site is written as and does not cover it.
    pub fn public_url_of(&self, site: &Site) -> Result<Option<String>, SessionError> {
        let Some(template) = &self.config.publish.public_url else {
            return Ok(None);
        };
        let site = site.written();
        let problem =
            |message| SessionError::Settings(format!("{}: {message}", self.public_url_name));
        let public_url =
            public_url_of(template, &site, self.is_public_url_shared).ok_or_else(|| {
                problem(format!(
                    "{template} is not a URL for {}; use {{site}} in the path",
                    site.url()
                ))
            })?;
        if public_url.is_on(&site.origin) && !site.directory.starts_with(public_url.path()) {
            return Err(problem(format!(
                "a sitemap in {public_url} may not list {own}, because a sitemap lists only URLs in its own directory (R58); \
                 expected {own}, a directory above it, or another host whose sitemaps {origin}/robots.txt names",
                own = site.url(),
                origin = site.origin,
            )));
        }
        Ok(Some(public_url.to_string()))
    }

    /// The places of the files of `site`.
    ///
    /// # Errors
    /// See [`SessionSettings::public_url_of`].
    pub fn places_of(&self, site: &Site) -> Result<Places, SessionError> {
        let written = site.written().name();
        Ok(Places {
            state: Some(self.state_of(site)),
            output: self.output_of(&written),
            storage: self.storage_of(&written),
            generations: Some(self.generations_of(site)),
            public_url: self.public_url_of(site)?,
        })
    }

    /// Checks that the set of `site` can be written to its place and served from there.
    ///
    /// # Errors
    /// The set cannot be written, or not served from there.
    pub fn check_site(&self, site: &Site) -> Result<(), SessionError> {
        self.public_url_of(site)?;
        if !self.dry_run {
            let output = self.output_of(&site.written().name());
            check_output(&output, &self.config.publish)?;
        }
        Ok(())
    }
}

/// The public URL `template` of `site`, which is one of several if `is_one_of_several`: then the site's name is
/// added, unless there is a place for name or host. `None` when the host makes no URL in its place.
fn public_url_of(template: &str, site: &Site, is_one_of_several: bool) -> Option<UrlKey> {
    let has_place = [SITE_PLACE, HOST_PLACE]
        .iter()
        .any(|place| template.contains(place));
    let name = if is_one_of_several && !has_place {
        format!("{template}{SITE_PLACE}/")
    } else {
        template.to_owned()
    };
    directory(
        &name
            .replace(SITE_PLACE, &site.name())
            .replace(HOST_PLACE, &site.origin.host),
    )
}

/// The directory that `text` is the URL of, with or without its last slash.
pub fn directory(text: &str) -> Option<UrlKey> {
    if text.contains(['?', '#']) || has_user_info(text) {
        return None;
    }
    let identity = Identity::default();
    let url = identity.parse(text).ok()?;
    if url.as_str().ends_with('/') {
        return Some(url);
    }
    identity.parse(&format!("{url}/")).ok()
}

/// Returns whether the authority of a URL holds a user name or password.
pub fn has_user_info(url: &str) -> bool {
    let authority = url.split_once("//").map_or(url, |(_, rest)| rest);
    authority
        .split(['/', '?', '#', '\\'])
        .next()
        .is_some_and(|authority| authority.contains('@'))
}

/// The path by which the file system knows `path`, as far as it exists: absolute, without links and detours.
pub fn settled(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut settled = PathBuf::new();
    for component in absolute.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                settled.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                settled.push(component);
                if let Ok(real) = settled.canonicalize() {
                    settled = real;
                }
            }
        }
    }
    settled
}
