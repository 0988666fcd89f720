//! The sites of one start of the program, each with the settings that hold for it: those of its table over those
//! of all, variables and options over both. No two of them may write to the same place.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fmt, io,
    num::NonZeroU32,
    path::{Path, PathBuf},
    sync::Arc,
};

use crawler::{
    config::ScopeWidth,
    site::settle_so_far,
    url_key::{Identity, UrlKey},
};

use super::{
    Environment, FileText, Layers, Settings, SettingsError, SiteSettings, Typed,
    file::{MAX_FILE_BYTES, SiteTable},
    is_storage,
    merge::{Among, Merge, problems_in_order, start_of},
    problem::{Origin, Problem},
    settled,
    table::setting_of,
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
    /// Crawling the sites of a catalogue: those of the file are left out.
    Worker,
    /// Storing the settings of sites in a catalogue: secrets are not read, because they are elsewhere.
    #[cfg(feature = "catalogue")]
    Store,
    /// Notifying others of the published set.
    Notify,
    /// Showing or removing their state: there may be none, and secrets are not read, because another user may crawl.
    Look,
    /// Asking a crawled site something: there may be none.
    Ask,
}

impl CrawlSettings {
    /// Merges what was typed for a command for sites with the environment, the settings file and the defaults. `read_file` reads the settings file and files with secrets; everything else is passed in.
    ///
    /// # Errors
    /// The file cannot be read, or anything in any of the layers makes no sense for any of the sites; all problems
    /// at once.
    pub(crate) fn load(
        purpose: Purpose,
        typed: Typed,
        environment: &Environment,
        read_file: impl Fn(&Path) -> io::Result<FileText>,
    ) -> Result<Self, SettingsError> {
        let mut layers = Layers::read(typed, MAX_FILE_BYTES, environment, &read_file)?;
        if purpose == Purpose::Worker {
            return Self::of_worker(&layers);
        }
        if purpose == Purpose::Look {
            layers.forget_secrets();
        }
        let settings = Self::merged(purpose, &layers)?;
        if purpose == Purpose::Daemon {
            settings.fit_for_daemon()?;
        }
        Ok(settings)
    }

    /// Settings of a program whose sites are those of a catalogue.
    fn of_worker(layers: &Layers<'_>) -> Result<Self, SettingsError> {
        let mut shared = layers.shared();
        let urls = std::mem::take(&mut shared.draft.urls);
        if !urls.is_empty() || !layers.file.sites.is_empty() {
            shared.warnings.push(
                "the sites of the settings are not crawled, because this daemon crawls those of the catalogue; arpent catalogue \
                 import FILE adds them there"
                    .to_owned(),
            );
        }
        let max_sites = shared.draft.max_sites;
        let shared = shared.finish_shared(Among::alone(&[]), layers.secret_sources.environment);
        Ok(Self {
            sites: Vec::new(),
            shared: shared.map_err(problems_in_order)?,
            max_sites: sites_at_once(max_sites),
        })
    }

    /// # Errors
    /// No site has a schedule.
    fn fit_for_daemon(&self) -> Result<(), SettingsError> {
        if self.sites.iter().all(|site| site.schedule.is_none()) {
            return Err(SettingsError::Problems(vec![Problem {
                origin: Origin::Default,
                setting: "schedule".to_owned(),
                message: "no site has a schedule, so the daemon has nothing to do; expected, for example, \
                          schedule = \"30 2 * * *\" (each night at 02:30), above all tables or in the table of a site"
                    .to_owned(),
            }]));
        }
        Ok(())
    }

    pub(super) fn merged(purpose: Purpose, layers: &Layers<'_>) -> Result<Self, SettingsError> {
        let mut shared = layers.shared();
        let Chosen { drafts, named } = choose(layers, &mut shared, purpose);
        let chosen: Vec<_> = drafts.iter().map(|draft| draft.start.clone()).collect();
        let among = Among::new(&chosen, &named);
        let withheld = layers.withheld();
        let max_sites = shared.draft.max_sites;
        let mut warnings = std::mem::take(&mut shared.warnings);
        let mut problems = std::mem::take(&mut shared.problems);
        let mut sites = Vec::with_capacity(drafts.len());
        for draft in drafts {
            match draft.resolve(layers, purpose, among, &withheld) {
                Ok(mut resolved) => {
                    warnings.append(&mut resolved.warnings);
                    sites.push(resolved);
                }
                Err(mut found) => problems.append(&mut found),
            }
        }
        problems.extend(collisions(&sites));
        match shared.finish_shared(among, layers.secret_sources.environment) {
            Err(mut found) => problems.append(&mut found),
            Ok(mut shared) if problems.is_empty() => {
                warnings.append(&mut shared.warnings);
                shared.warnings = none_twice(warnings);
                let sites = sites.into_iter().map(|resolved| Arc::new(resolved.site));
                return Ok(Self {
                    sites: sites.collect(),
                    shared,
                    max_sites: sites_at_once(max_sites),
                });
            }
            Ok(_) => {}
        }
        Err(problems_in_order(problems))
    }
}

fn sites_at_once(max_sites: Option<NonZeroU32>) -> usize {
    let max_sites = max_sites.unwrap_or(MAX_SITES).get();
    usize::try_from(max_sites).unwrap_or(usize::MAX)
}

/// The warnings, each once.
pub(super) fn none_twice(mut warnings: Vec<String>) -> Vec<String> {
    let mut known = HashSet::new();
    warnings.retain(|warning| known.insert(warning.clone()));
    warnings
}

/// A site whose settings are to be put together.
pub(super) struct SiteDraft<'l> {
    pub(super) start: UrlKey,
    pub(super) name: Option<String>,
    /// Place of its URL.
    origin: Origin,
    /// The table in the file.
    pub(super) table: Option<&'l SiteTable>,
    /// By which its start URL was read, where the table has settings for that.
    identity: Option<Identity>,
    /// The width of its scope, where the table has it.
    width: Option<ScopeWidth>,
    /// The site was typed, and the file has no site for it.
    is_typed: bool,
    /// The places of the file are those of its sites, and this is none of them.
    is_beside: bool,
}

/// A site with its settings, and where it is named.
pub(super) struct Resolved {
    pub(super) site: SiteSettings,
    pub(super) warnings: Vec<String>,
    origin: Origin,
}

/// The sites of one start of the program.
pub(super) struct Chosen<'l> {
    /// The chosen sites.
    pub(super) drafts: Vec<SiteDraft<'l>>,
    /// Starts of these, and of the sites of the file that were not chosen.
    pub(super) named: Vec<UrlKey>,
}

/// The sites that are to be crawled: those of the file that were typed and new ones for URLs that it does not have, otherwise those of the
/// file. What is wrong with a URL is among the problems of `shared`.
pub(super) fn choose<'l>(
    layers: &'l Layers<'_>,
    shared: &mut Merge,
    purpose: Purpose,
) -> Chosen<'l> {
    let origin = shared.origin("urls");
    let is_selection = matches!(origin, Origin::Flag(_) | Origin::Variable(_));
    let texts = std::mem::take(&mut shared.draft.urls);
    if texts.is_empty()
        && layers.file.sites.is_empty()
        && layers.file.problems.is_empty()
        && !matches!(purpose, Purpose::Look | Purpose::Ask)
    {
        shared.misses_sites(match purpose {
            Purpose::Daemon => "expected urls or [[site]] in a settings file (--config FILE)",
            #[cfg(feature = "catalogue")]
            Purpose::Store => "expected urls or [[site]] in the file",
            _ => "expected a URL on the command line, or urls in a settings file (--config FILE)",
        });
    }
    let of_file = sites_of_file(layers, shared, is_selection);
    let mut named: Vec<UrlKey> = of_file.iter().map(|draft| draft.start.clone()).collect();
    let drafts = if is_selection {
        let selects_sites = matches!(purpose, Purpose::Crawl | Purpose::Notify);
        selected(&texts, of_file, selects_sites, shared)
    } else {
        of_file
    };
    let mut known: BTreeSet<UrlKey> = named.iter().cloned().collect();
    let starts = drafts.iter().map(|draft| &draft.start);
    named.extend(
        starts
            .filter(|start| known.insert((*start).clone()))
            .cloned(),
    );
    Chosen { drafts, named }
}

/// The sites of the file: those of the URLs above its tables, each with its table if it has one, and the other tables. Of URLs that are hidden by typed
/// ones no problem is reported.
fn sites_of_file<'l>(
    layers: &'l Layers<'_>,
    shared: &mut Merge,
    is_hidden: bool,
) -> Vec<SiteDraft<'l>> {
    let mut tables: Vec<SiteDraft<'_>> = Vec::new();
    for table in &layers.file.sites {
        match draft_of(table, layers, shared) {
            Ok(draft) => tables.push(draft),
            Err(problem) => shared.problems.push(problem),
        }
    }
    let of_tables: BTreeSet<UrlKey> = tables.iter().map(|draft| draft.start.clone()).collect();
    let mut known = BTreeSet::new();
    let mut merge = Merge::default();
    let values = layers.file.shared.values.iter();
    for written in values.filter(|written| written.name == "urls") {
        // Their problems are reported where they count.
        merge.value(written.name, &written.value, written.origin.clone());
    }
    let origin = merge.origin("urls");
    let mut sites = Vec::new();
    for text in std::mem::take(&mut merge.draft.urls) {
        if !is_hidden {
            shared.note_missing_scheme(&text);
        }
        match shared.start_of(&text) {
            Ok(start) if of_tables.contains(&start) => {
                sites.extend(tables.extract_if(.., |table| table.start == start));
            }
            Ok(start) if known.insert(start.clone()) => {
                sites.push(SiteDraft::of_url(start, &origin));
            }
            Err(message) if !is_hidden => shared.add_wrong("urls", message),
            Ok(_) | Err(_) => {}
        }
    }
    sites.append(&mut tables);
    sites
}

/// The sites that the typed `texts` mean: those of the file that match best, else new ones. If a URL `selects_sites`, one of the file
/// matches that covers it.
fn selected<'l>(
    texts: &[String],
    mut of_file: Vec<SiteDraft<'l>>,
    selects_sites: bool,
    shared: &mut Merge,
) -> Vec<SiteDraft<'l>> {
    let origin = shared.origin("urls");
    let has_sites = !of_file.is_empty();
    let width = shared.draft.config.scope.width;
    let mut drafts: Vec<SiteDraft<'_>> = Vec::new();
    for text in texts {
        shared.note_missing_scheme(text);
        let start = match shared.start_of(text) {
            Ok(start) => start,
            Err(message) => {
                shared.add_wrong("urls", message);
                continue;
            }
        };
        let rank = |draft: &SiteDraft<'_>| {
            let identity = draft.identity.as_ref();
            let typed = identity.and_then(|identity| start_of(text, identity).ok());
            draft.rank(typed.as_ref().unwrap_or(&start), width, selects_sites)
        };
        let best_of = |drafts: &[SiteDraft<'_>]| drafts.iter().filter_map(rank).max();
        let (chosen, best) = (best_of(&drafts), best_of(&of_file));
        if chosen.is_some() && chosen >= best {
            continue;
        }
        if best.is_none() {
            // A typed URL that the file does not have is another site: the output of the file's site is not its output.
            drafts.push(SiteDraft {
                is_typed: true,
                is_beside: has_sites,
                ..SiteDraft::of_url(start, &origin)
            });
            continue;
        }
        // One URL may be that of several sites, each written to a place of its own.
        let is_meant = |draft: &SiteDraft<'_>| rank(draft) == best;
        let (mut meant, others): (Vec<_>, Vec<_>) = of_file.into_iter().partition(is_meant);
        of_file = others;
        if let Some(other) = meant.iter().find(|draft| draft.start != start)
            && selects_sites
        {
            shared.warnings.push(format!(
                "{start} is in the site {} of the settings file, which is crawled as a whole",
                other.start
            ));
        }
        drafts.append(&mut meant);
    }
    drafts
}

fn draft_of<'l>(
    table: &'l SiteTable,
    layers: &Layers<'_>,
    shared: &Merge,
) -> Result<SiteDraft<'l>, Problem> {
    let own = || table.section.values.iter().map(|own| own.name);
    let is_of_identity = |name| setting_of(name).is_some_and(|row| row.table == "identity");
    let (has_identity, has_scope) = (own().any(is_of_identity), own().any(|name| name == "scope"));
    let config = (has_identity || has_scope).then(|| {
        let section = layers.file.section_of(Some(table));
        layers.merge_without_secrets(section).draft.config
    });
    let width = config.as_ref().map(|config| config.scope.width);
    let identity = config
        .map(|config| config.identity)
        .filter(|_| has_identity);
    let start = match &identity {
        Some(identity) => start_of(&table.url, identity),
        None => shared.start_of(&table.url),
    };
    let start = start.map_err(|message| Problem {
        origin: table.origin.clone(),
        setting: "url".to_owned(),
        message,
    })?;
    Ok(SiteDraft {
        start,
        name: table.name.clone(),
        origin: table.origin.clone(),
        table: Some(table),
        identity,
        width,
        is_typed: false,
        is_beside: false,
    })
}

impl SiteDraft<'_> {
    /// A site with the settings of all.
    fn of_url(start: UrlKey, origin: &Origin) -> Self {
        Self {
            start,
            name: None,
            origin: origin.clone(),
            table: None,
            identity: None,
            width: None,
            is_typed: false,
            is_beside: false,
        }
    }

    /// How well the site matches a URL: by its start URL before all, else, if it may be `selected` so, by the directory that it covers,
    /// and a table better than a URL; `None`: not at all.
    fn rank(&self, url: &UrlKey, width: ScopeWidth, selected: bool) -> Option<(usize, bool)> {
        let is_table = self.table.is_some();
        if self.start == *url {
            return Some((usize::MAX, is_table));
        }
        if !selected || self.is_typed || !url.is_on(&self.start.origin()) {
            return None;
        }
        let site = settle_so_far(&self.start, &[], self.width.unwrap_or(width));
        site.contains(url)
            .then_some((site.directory.len(), is_table))
    }

    /// The settings of the site, or their problems.
    pub(super) fn resolve(
        self,
        layers: &Layers<'_>,
        purpose: Purpose,
        among: Among<'_>,
        withheld: &[String],
    ) -> Result<Resolved, Vec<Problem>> {
        let Self {
            start,
            name,
            origin,
            table,
            is_beside,
            ..
        } = self;
        let mut merge = layers.merge(layers.file.section_of(table));
        if is_beside {
            merge.leave_out_places_of_others(&start);
        }
        if purpose == Purpose::Notify {
            merge.for_notifying();
        }
        let width = merge.draft.config.scope.width;
        let name = name.unwrap_or_else(|| settle_so_far(&start, &[], width).name());
        let schedule = merge.schedule(&name);
        let mut settings = merge.finish_site(&start, among, layers.secret_sources.environment)?;
        let warnings = std::mem::take(&mut settings.warnings);
        settings.session.withheld = withheld.to_vec();
        Ok(Resolved {
            site: SiteSettings {
                name,
                start,
                schedule,
                settings: Arc::new(settings.session),
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
