//! The sites of one start of the program, each with the settings that hold for it: those of its table over those
//! of all, variables and options over both. No two of them may write to the same place.

use std::{
    collections::BTreeMap,
    fmt, io,
    num::NonZeroU32,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use crawler::{
    schedule::Schedule,
    site::{Site, settle_so_far},
    url_key::{HostKey, UrlKey},
};

use super::{
    Environment, FileText, Layers, Settings, SettingsError, Typed,
    file::SiteTable,
    merge::{Among, Merge, problems_in_order},
    output::is_storage,
    problem::{Origin, Problem},
};

/// Sites that are crawled at the same time by default.
const MAX_SITES: NonZeroU32 = NonZeroU32::new(4).expect("4 is not 0");

/// Everything `arpent crawl` needs to know, checked.
#[derive(Debug, Clone)]
pub(crate) struct CrawlSettings {
    /// The sites in the order in which they are written, none twice; at least one, except for commands about a crawled site ([`Purpose::Look`], [`Purpose::Ask`]).
    pub(crate) sites: Vec<Arc<SiteSettings>>,
    /// Settings of the program as a whole, and of hosts without a site.
    pub(crate) shared: Settings,
    /// Sites that are crawled at the same time, at most.
    pub(crate) max_sites: usize,
}

/// Purpose of the settings of sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Crawling and publishing.
    Crawl,
    /// The same by schedules: one site at least has one.
    Daemon,
    /// Notifying others of the published set.
    Notify,
    /// Showing or removing their state: there may be none, and secrets are not read, because another user may crawl.
    Look,
    /// Asking a crawled site something: there may be none.
    Ask,
}

/// One site and its settings.
#[derive(Debug, Clone)]
pub(crate) struct SiteSettings {
    /// Its name in messages and in a timetable; names are unique.
    pub(crate) name: String,
    /// Start of its crawl.
    pub(crate) start: UrlKey,
    /// Schedule of its crawls.
    pub(crate) schedule: Option<Schedule>,
    /// Its settings.
    pub(crate) settings: Arc<Settings>,
}

impl CrawlSettings {
    /// Merges the arguments of a command for sites (the path of its settings file, and its options) with the environment, the
    /// settings file and the defaults. `read_file` reads the settings file and files with secrets; everything else is passed in.
    ///
    /// # Errors
    /// The file cannot be read, or anything in any of the layers makes no sense for any of the sites; all problems
    /// at once.
    pub(crate) fn load(
        purpose: Purpose,
        (config, typed): (Option<&Path>, Typed),
        environment: &Environment,
        read_file: impl Fn(&Path) -> io::Result<FileText>,
    ) -> Result<Self, SettingsError> {
        let mut settings = Self::merged(purpose, config, typed, environment, &read_file)?;
        if purpose == Purpose::Daemon {
            settings.fit_for_daemon()?;
        }
        Ok(settings)
    }

    /// # Errors
    /// No site has a schedule.
    fn fit_for_daemon(&mut self) -> Result<(), SettingsError> {
        let scheduled = || self.sites.iter().filter(|site| site.schedule.is_some());
        if scheduled().next().is_none() {
            return Err(SettingsError::Problems(vec![Problem {
                origin: Origin::Default,
                setting: "schedule".to_owned(),
                message: "no site has a schedule, so the daemon has nothing to do; expected, for example, \
                          schedule = \"30 2 * * *\" (each night at 02:30), above all tables or in the table of a site"
                    .to_owned(),
            }]));
        }
        for site in scheduled() {
            let is_forced = site.settings.config.publish.force;
            for (setting, is_on) in [("fresh", site.settings.fresh), ("force", is_forced)] {
                if is_on {
                    self.shared.warnings.push(format!(
                        "{}: {setting} is meant for one session, but the daemon applies it to every session",
                        site.name
                    ));
                }
            }
        }
        Ok(())
    }

    fn merged(
        purpose: Purpose,
        config: Option<&Path>,
        typed: Typed,
        environment: &Environment,
        read_file: &dyn Fn(&Path) -> io::Result<FileText>,
    ) -> Result<Self, SettingsError> {
        let mut layers = Layers::read(config, typed, environment, read_file)?;
        if purpose == Purpose::Look {
            layers.forget_secrets();
        }
        let mut shared = layers.shared();
        let Chosen { mut drafts, named } = choose(&layers, &mut shared, purpose);
        let chosen: Vec<_> = drafts.iter().map(|draft| draft.start.clone()).collect();
        let among = Among {
            chosen: &chosen,
            named: &named,
        };
        for draft in &mut drafts {
            draft.merge.check_key_location(&draft.start, among);
            if purpose == Purpose::Notify {
                draft.merge.for_notifying();
            }
        }
        let withheld = layers.withheld();
        let max_sites = shared.draft.max_sites.unwrap_or(MAX_SITES);
        let mut warnings = std::mem::take(&mut shared.warnings);
        let mut problems = std::mem::take(&mut shared.problems);
        let mut sites = Vec::with_capacity(drafts.len());
        for draft in drafts {
            match draft.resolve(among, environment, &withheld) {
                Ok(mut resolved) => {
                    warnings.append(&mut resolved.warnings);
                    sites.push(resolved);
                }
                Err(mut found) => problems.append(&mut found),
            }
        }
        problems.extend(collisions(&sites));
        match shared.finish_shared(among, environment) {
            Err(mut found) => problems.append(&mut found),
            Ok(mut shared) if problems.is_empty() => {
                warnings.append(&mut shared.warnings);
                let mut reported: Vec<String> = Vec::with_capacity(warnings.len());
                for warning in warnings {
                    if !reported.contains(&warning) {
                        reported.push(warning);
                    }
                }
                shared.warnings = reported;
                let sites = sites.into_iter().map(|resolved| Arc::new(resolved.site));
                return Ok(Self {
                    sites: sites.collect(),
                    shared,
                    max_sites: usize::try_from(max_sites.get()).unwrap_or(usize::MAX),
                });
            }
            Ok(_) => {}
        }
        Err(problems_in_order(problems))
    }
}

impl SiteSettings {
    /// The site as far as it is known before its start URL was requested: a redirect may still change its origin.
    pub(super) fn foreseen(&self) -> Site {
        foreseen(&self.start, &self.settings)
    }

    /// The host that its requests go to; with and without `www.` it is the same, because the one redirects to the
    /// other.
    pub(crate) fn host(&self) -> HostKey {
        let host = self.start.host_str();
        HostKey::new(host.strip_prefix("www.").unwrap_or(host))
    }
}

fn foreseen(start: &UrlKey, settings: &Settings) -> Site {
    let site = settle_so_far(start, &[], settings.config.scope.width);
    match &settings.config.written_as {
        Some(original) => site.clone().standing_for(original).unwrap_or(site),
        None => site,
    }
}

/// A site whose settings are being put together.
struct SiteDraft {
    start: UrlKey,
    name: Option<String>,
    /// Place of its URL.
    origin: Origin,
    merge: Merge,
}

/// A site with its settings, and where it is named.
struct Resolved {
    site: SiteSettings,
    warnings: Vec<String>,
    origin: Origin,
}

/// The sites of one start of the program.
struct Chosen {
    /// The chosen sites.
    drafts: Vec<SiteDraft>,
    /// Starts of these, and of the sites of the file that were not chosen.
    named: Vec<UrlKey>,
}

/// The sites that are to be crawled: those that were typed (each with its table, if it has one), otherwise those
/// of the file. What is wrong with a URL is among the problems of `shared`.
fn choose(layers: &Layers<'_>, shared: &mut Merge, purpose: Purpose) -> Chosen {
    let mut tables: Vec<SiteDraft> = Vec::new();
    for table in &layers.file.sites {
        match draft_of(table, layers) {
            Ok(draft) => tables.push(draft),
            Err(problem) => shared.problems.push(problem),
        }
    }
    let mut named: Vec<UrlKey> = tables.iter().map(|draft| draft.start.clone()).collect();
    let mut written = written_urls(layers, shared);
    written.retain(|url| !named.contains(url));
    // A typed URL that the file does not have is another site: the output of the file's site is not its output.
    named.extend(written);
    let origin = shared.origin("urls");
    let is_selection = matches!(origin, Origin::Flag(_) | Origin::Variable(_));
    let mut drafts: Vec<SiteDraft> = Vec::new();
    let texts = std::mem::take(&mut shared.draft.urls);
    if texts.is_empty()
        && layers.file.sites.is_empty()
        && !matches!(purpose, Purpose::Look | Purpose::Ask)
    {
        shared.misses_sites(match purpose {
            Purpose::Daemon => "expected urls or [[site]] in a settings file (--config FILE)",
            _ => "expected a URL on the command line, or urls in a settings file (--config FILE)",
        });
    }
    for text in texts {
        shared.note_missing_scheme(&text);
        let is_meant = |draft: &SiteDraft| draft.merge.start_of(&text).as_ref() == Ok(&draft.start);
        if drafts.iter().any(is_meant) {
            continue;
        }
        if tables.iter().any(is_meant) {
            // One URL may be that of several sites, each written to a place of its own.
            let (mut meant, others) = tables.into_iter().partition(is_meant);
            drafts.append(&mut meant);
            tables = others;
            continue;
        }
        match shared.start_of(&text) {
            Ok(start) => drafts.push(SiteDraft {
                start,
                name: None,
                origin: origin.clone(),
                merge: layers.merge(layers.file.section_of(None)),
            }),
            Err(message) => shared.misfit("urls", message),
        }
    }
    if !is_selection {
        drafts.append(&mut tables);
    }
    for draft in &drafts {
        if !named.contains(&draft.start) {
            named.push(draft.start.clone());
        }
    }
    Chosen { drafts, named }
}

/// The start URLs above the tables of the file, none twice, also when others were typed.
fn written_urls(layers: &Layers<'_>, shared: &Merge) -> Vec<UrlKey> {
    let mut merge = Merge::default();
    let values = layers.file.shared.values.iter();
    for written in values.filter(|written| written.name == "urls") {
        // Their problems are reported where they count.
        merge.value(written.name, &written.value, written.origin.clone());
    }
    let mut urls: Vec<UrlKey> = Vec::new();
    for text in merge.draft.urls {
        if let Ok(url) = shared.start_of(&text)
            && !urls.contains(&url)
        {
            urls.push(url);
        }
    }
    urls
}

fn draft_of(table: &SiteTable, layers: &Layers<'_>) -> Result<SiteDraft, Problem> {
    let merge = layers.merge(layers.file.section_of(Some(table)));
    let start = merge.start_of(&table.url).map_err(|message| Problem {
        origin: table.origin.clone(),
        setting: "url".to_owned(),
        message,
    })?;
    Ok(SiteDraft {
        start,
        name: table.name.clone(),
        origin: table.origin.clone(),
        merge,
    })
}

impl SiteDraft {
    fn resolve(
        self,
        among: Among<'_>,
        environment: &Environment,
        withheld: &[String],
    ) -> Result<Resolved, Vec<Problem>> {
        let Self {
            start,
            name,
            origin,
            mut merge,
        } = self;
        let width = merge.draft.config.scope.width;
        let name = name.unwrap_or_else(|| settle_so_far(&start, &[], width).name());
        let schedule = merge.schedule(&name);
        let mut settings = merge.finish_site(&start, among, environment)?;
        let warnings = std::mem::take(&mut settings.warnings);
        settings.withheld = withheld.to_vec();
        Ok(Resolved {
            site: SiteSettings {
                name,
                start,
                schedule,
                settings: Arc::new(settings),
            },
            warnings,
            origin,
        })
    }
}

/// Every pair of sites that would get into each other's way, with the first thing that they have in common. What is meant for
/// all sites is not wrong by itself: the site is.
fn collisions(sites: &[Resolved]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut owners: BTreeMap<(&str, PathBuf), &Resolved> = BTreeMap::new();
    let states = sites.iter().map(|resolved| {
        let folder = settled(&resolved.site.settings.state);
        (folder, resolved)
    });
    // Of several the first is named.
    let states: BTreeMap<PathBuf, &Resolved> = states.rev().collect();
    for resolved in sites {
        let settings = &resolved.site.settings;
        let site = resolved.site.foreseen();
        let place = settings.place_of(&site.written().name());
        let output = if is_storage(&place) {
            place
        } else {
            settled(&place)
        };
        let public_url = settings.public_url_of(&site).ok().flatten();
        let claims = [
            ("state", Some(settled(&settings.state_of(&site)))),
            ("output", Some(output.clone())),
            ("public_url", public_url.map(PathBuf::from)),
            ("name", Some(PathBuf::from(&resolved.site.name))),
        ];
        let mut problem = |setting: &str, message| {
            problems.push(Problem {
                origin: resolved.origin.clone(),
                setting: setting.to_owned(),
                message,
            });
        };
        let mut is_first = true;
        for (setting, claim) in claims {
            let Some(claim) = claim else { continue };
            let place = claim.display().to_string();
            let other = *owners.entry((setting, claim)).or_insert(resolved);
            if !std::ptr::eq(other, resolved) && std::mem::take(&mut is_first) {
                let message = format!(
                    "{place} is used by {resolved} and by {other}; expected a different value for each site, and each site once"
                );
                problem(setting, message);
            }
        }
        // What is in an output is for everybody.
        if let Some(keeper) = states.get(&output) {
            let message = format!(
                "{} is the output of {resolved}, and contains the state of {keeper}; expected a folder that contains \
                 only files that are served",
                output.display()
            );
            problem("output", message);
        }
    }
    problems
}

impl fmt::Display for Resolved {
    /// The site and where it is named.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.site.start.fmt(f)?;
        match &self.origin {
            Origin::File { line, .. } => write!(f, " (line {line})"),
            Origin::Default | Origin::Variable(_) | Origin::Flag(_) => Ok(()),
        }
    }
}

/// The path by which the file system knows `path`, as far as it exists: absolute, without links and detours.
pub(crate) fn settled(path: &Path) -> PathBuf {
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
