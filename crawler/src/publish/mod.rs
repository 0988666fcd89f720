//! Publishing: a new set of files becomes visible at once. Reads the store, writes the output folder; never
//! touches the network.
//!
//! ```text
//! pass 1: judge and count every URL of the merged view, try every entry -> plan (scope tree, previous layout) -> guard
//!   -> pass 2: file by file: write a temporary file and hash it; drop it when nothing changed, else check it with our reader
//!   -> back up what is not ours, archive the old set -> note in the state what is pending
//!   -> rename the parts, then the index -> manifest -> promote: page rows, and what engines are to be notified of
//! ```
//!
//! A set that is restored ([`roll_back`]) comes from its copies instead, and is read back ([`import_set`]) where a crawl is
//! promoted.
//!
//! At every instant each file that the index names exists and is complete, and the index never states
//! a `lastmod` later than the file's. A crash between two steps leaves the old set, or the new parts
//! under the old index; [`settle_pending`] goes on from there. A file whose entries did not change keeps
//! its name, its bytes, its modification time and its `lastmod` in the index.

mod census;
mod content;
mod disk;
#[cfg(test)]
mod fault;
mod file;
mod files;
mod folder;
mod generations;
mod guard;
mod hold;
mod import;
mod index;
mod install;
mod journal;
mod manifest;
mod own;
mod pending;
mod place;
mod previous;
mod promote;
mod recent;
mod rights;
mod sections;
mod set;
mod trial;
mod untold;

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
};

use jiff::Timestamp;

use self::{
    census::{Census, Numbers},
    content::Builder,
    files::PlannedSet,
    folder::{Folder, canonical},
    generations::Restored,
    guard::Baseline,
    manifest::Manifest,
    pending::{Kind, Pending},
    previous::Previous,
    promote::Promoting,
    rights::Rights,
    sections::Sections,
    set::ReadySet,
};
use crate::{
    config::PublishConfig,
    export::{EntryRules, Export, ExtensionCounts, View},
    notes::Note,
    page::{DateSource, Reason, RunId},
    report::Report,
    robots::Rules,
    runs::{self, Phase},
    seeds::OwnFiles,
    site::Site,
    store::{Commit, MetaValue, Store, StoreError, with_causes},
    verdict::{Judge, Mode},
};

pub use self::{
    disk::check_disk,
    generations::{KEPT_SETS, KeptSet, kept_sets},
    guard::{Alike, Objection, Refusal},
    hold::OutputHold,
    import::{Imported, import_set, needs_import},
    journal::Journal,
    own::{Placed, Standing, place_file, standing, take_back},
    untold::{Untold, hooks_know, note_untold, untold},
};

/// Name of the state's value with the manifest.
const MANIFEST: &str = crate::store::names::PUBLISH_MANIFEST;

/// Name of the state's value with what the guard compares with.
const BASELINE: &str = crate::store::names::PUBLISH_GUARD;

/// The manifest's copy in the output.
const MANIFEST_COPY: &str = ".arpent-manifest.json";

/// What to publish.
#[derive(Clone)]
pub struct PublishRequest<'a> {
    /// The site.
    pub site: &'a Site,
    /// The current rules.
    pub judge: &'a Judge,
    /// Which rows of the state count ([`Mode::of`]).
    pub mode: Mode,
    /// The crawl has no URL left to ask for: it is over when it is published.
    pub is_drained: bool,
    /// The settings of publishing.
    pub config: &'a PublishConfig,
    /// The site's robots.txt, which images of the site may be disallowed by; `None`: all may be named.
    pub robots: Option<&'a Rules>,
    /// Plan and count, write nothing.
    pub dry_run: bool,
    /// The time of this publish.
    pub now: Timestamp,
    /// Whether to stop, which leaves the published set as it is. Called from time to time until the first file of the new
    /// set is about to become visible.
    pub is_stopped: &'a dyn Fn() -> bool,
}

impl fmt::Debug for PublishRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishRequest")
            .field("site", &self.site)
            .field("mode", &self.mode)
            .field("is_drained", &self.is_drained)
            .field("config", &self.config)
            .field("dry_run", &self.dry_run)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

/// The result of a publish.
#[derive(Debug)]
pub struct Publishing {
    /// The URLs of the view by state and reason, published or not; `None`: they could not be counted.
    pub report: Option<Report>,
    /// The new published set, or why there is none.
    pub result: Result<Published, PublishError>,
}

/// What settling an interrupted publish came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// No publish was interrupted.
    Nothing,
    /// All its files were in place: manifest and page rows follow its set now.
    Completed,
    /// Some of its files were not in place: manifest and page rows are still those of the set before it.
    GivenUp,
}

/// One file of the published set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedFile {
    /// Path relative to the output, `/` between folders.
    pub name: String,
    /// URL it will be served at.
    pub url: String,
    /// Entries in it.
    pub entries: u64,
    /// Uncompressed bytes.
    pub bytes: u64,
    /// Written by this publish; otherwise untouched.
    pub changed: bool,
}

/// A set that was published.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Published {
    /// Index (or indexes) first, then the parts in order.
    pub files: Vec<PublishedFile>,
    /// URLs of the indexes (or of the only urlset): one `Sitemap:` line each.
    pub sitemap_urls: Vec<String>,
    /// Listed URLs.
    pub listed: u64,
    /// Listed pages whose body is the same, byte for byte, as that of another listed page.
    pub duplicates: u64,
    /// Entries with a `lastmod`, by source.
    pub sources: BTreeMap<DateSource, u64>,
    /// Counts of the extensions that the settings ask for.
    pub extensions: ExtensionCounts,
    /// Files that left the index by this publish; they leave the disk after their grace.
    pub dropped: Vec<String>,
    /// Changes from the set before.
    pub journal: Journal,
    /// Notes for the user.
    pub notes: Vec<Note>,
    /// What failed after the set was in place, each a fragment with its causes: values that
    /// could not be stored, files that could not be removed. The next publish does it again.
    pub problems: Vec<String>,
}

impl Published {
    /// Whether a file was written, or left the index.
    pub fn has_changed(&self) -> bool {
        !self.dropped.is_empty() || self.files.iter().any(|file| file.changed)
    }
}

/// Why nothing was published. The published set stays as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// No URL can be listed.
    #[error("nothing to list: no known URL may stand in a sitemap")]
    Empty,
    /// The guard refuses the new set.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// A file that is not arpent's has a name that is needed.
    #[error("{} is not a file of arpent for this site and stands in the way", .0.display())]
    Foreign(PathBuf),
    /// A folder on the way to a file is a link, or not a folder: its target is not ours.
    #[error("{} must be a folder of the output itself, where a sitemap belongs; remove it or use another layout or output", .0.display())]
    Astray(PathBuf),
    /// Another session has the lock of the output.
    #[error("another run is publishing to {}, which is in use by {holder}", output.display())]
    Busy {
        /// Which folder.
        output: PathBuf,
        /// The process that has it, as far as that is known.
        holder: String,
    },
    /// The disk that the last set was written to is not there.
    #[error(
        "nothing is mounted at {}, where the disk with the published set {} was; expected it to be mounted",
        mount.display(), output.display()
    )]
    Unmounted {
        /// Which folder.
        output: PathBuf,
        /// The folder at which its disk was mounted.
        mount: PathBuf,
    },
    /// The set in the output is not the one of the manifest in the state: another state published it.
    #[error(
        "the set in {} is not the one that the state of the site knows, because another state published it; expected a \
         crawl, which reads it back first",
        output.display()
    )]
    Outdated {
        /// Which folder.
        output: PathBuf,
    },
    /// There is no room for the new files; those that were written are removed again.
    #[error(
        "no room in {}: {free} bytes are free there beside {written} bytes of new files, when writing {} failed: {reason}",
        output.display(), path.display()
    )]
    NoRoom {
        /// Which folder.
        output: PathBuf,
        /// Bytes of the new files that were written so far.
        written: u64,
        /// Bytes that could still be written then.
        free: u64,
        /// Which file could not be written.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// Reading or writing a file failed.
    #[error("failed to {action} {}", path.display())]
    Io {
        /// What was tried, e.g. `write`.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: std::io::Error,
    },
    /// A written file did not pass our own check: a bug, because every entry was tried before.
    #[error(
        "the file {name} did not pass the check before publishing: {problem}; this is a bug of arpent, please report it"
    )]
    Check {
        /// Which file.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// [`PublishRequest::is_stopped`] returned true.
    #[error("stopped before anything was published")]
    Stopped,
    /// The settings cannot be satisfied.
    #[error("{0}")]
    Settings(String),
    /// The store failed.
    #[error("failed to read the state of this site")]
    Store(#[from] StoreError),
}

/// Publishes the listed URLs of the merged view: see the module. A crawl that the guard refuses is over, and its visits do
/// not count any more.
pub fn publish(store: &mut Store, request: &PublishRequest<'_>) -> Publishing {
    let mut report = None;
    let mut result = publish_view(store, request, &mut report);
    let is_refused = match &result {
        Err(PublishError::Refused(_)) => true,
        // A crawl that is over would come to the same again.
        Err(PublishError::Empty | PublishError::Check { .. }) => request.is_drained,
        Ok(_) | Err(_) => false,
    };
    if is_refused
        && request.mode != Mode::AtRest
        && !request.dry_run
        && let Err(error) = runs::set_phase(store, Phase::Refused)
    {
        result = Err(error.into());
    }
    Publishing { report, result }
}

fn publish_view(
    store: &mut Store,
    request: &PublishRequest<'_>,
    report: &mut Option<Report>,
) -> Result<Published, PublishError> {
    settle_pending(store, request)?;
    let previous = Previous::read(store, request)?;
    let judged = Judged::new(store, request, &previous.manifest)?;
    let Numbers {
        reasons, orphans, ..
    } = &judged.census.numbers;
    let mut reasons = reasons.clone();
    if request.mode == Mode::AtRest {
        // No crawl is under way that could have reached them.
        let imported = reasons.remove(&Reason::KeptNotReached);
        *reasons.entry(Reason::Listed).or_default() += imported.unwrap_or_default();
    }
    *report = Some(Report::of(store, &reasons, *orphans)?);
    let baseline = judged.guard(store, request, &previous.manifest)?;
    let mut published = put_out(store, request, |store, request, folder| {
        let view = View::new(store, request.judge, request.mode, request.now);
        let census = &judged.census;
        let builder = Builder {
            view: &view,
            export: &judged.export,
            request,
            census,
            sections: &judged.sections,
            previous: &previous,
        };
        let built = builder.build(PlannedSet::new(request, census)?, folder)?;
        let outline = (census.listed, census.plan.layout().to_string());
        let mut set = ReadySet::assemble(request, previous, built, outline);
        let numbers = &census.numbers;
        let published = &mut set.published;
        published.journal = Journal {
            is_first: judged.is_first,
            ..numbers.journal
        };
        published.duplicates = numbers.duplicates;
        published.sources.clone_from(&numbers.sources);
        published.extensions = numbers.extensions.clone();
        published.notes.clone_from(&census.notes);
        let mut values = vec![baseline.value()];
        values.extend(judged.distrusted.clone());
        Ok(Ready {
            set,
            follow: Follow::Promote(&judged.export),
            crawl: judged.crawl,
            values,
            is_first: judged.is_first,
        })
    })?;
    if let Some((ours, host)) = runs::clocks_apart(store)? {
        let [ours, host] = [ours, host].map(|time| format!("{time:.0}"));
        published.notes.push(Note::clocks_apart(&ours, &host));
    }
    Ok(published)
}

/// Publishes the set again that was published `back` publishes before the current one, from 1 on, and reads it back: page
/// rows that agree with it stay, URLs that are not in it are not listed any more, and all visits are deleted. Files that differ
/// from the published ones get the current time: for readers they change.
///
/// # Errors
/// See [`PublishError`]; the published set stays. [`PublishError::Settings`]: there is no such set, a part of it is missing,
/// or it is a set of another site.
pub fn roll_back(
    store: &mut Store,
    request: &PublishRequest<'_>,
    back: usize,
) -> Result<Published, PublishError> {
    settle_pending(store, request)?;
    let restored = Restored::find(store, request, back)?;
    put_out(store, request, |store, request, folder| {
        let previous = Previous::read(store, request)?;
        let built = restored.build(request, &previous, folder)?;
        let set = ReadySet::assemble(request, previous, built, restored.outline());
        let crawl = restored.crawl();
        Ok(Ready {
            set,
            follow: Follow::Import(Box::new(restored)),
            crawl,
            values: Vec::new(),
            is_first: false,
        })
    })
}

/// Settles an interrupted publish, if there is one: when all its files are in place, manifest and page rows follow; otherwise
/// the files that are in place are noted as ours, and the set before it counts. Every command that works with the state calls
/// this first. The view is judged by the rules of `request`; the time and the rows that count are those of the interrupted
/// publish. A set that was made by other rules is read back from its files.
///
/// # Errors
/// The store failed, or the output cannot be written.
pub fn settle_pending(
    store: &mut Store,
    request: &PublishRequest<'_>,
) -> Result<Settled, PublishError> {
    let Some(pending) = Pending::read(store)? else {
        return Ok(Settled::Nothing);
    };
    if request.dry_run {
        return Ok(Settled::Nothing);
    }
    let output = PathBuf::from(&pending.output);
    let folder = Folder::at(&output, Rights::like(&output.join(MANIFEST_COPY)));
    let site = request.site.written().name();
    if !pending.is_in_place(&folder) {
        let mut manifest = previous::recorded(store, &site)?
            .filter(|manifest| manifest.output == pending.output)
            .or_else(|| previous::copied(&site, &output))
            .unwrap_or_else(|| Manifest::new(&site, &pending.output, pending.at));
        manifest.output.clone_from(&pending.output);
        manifest.dropped.extend(pending.in_place(&folder));
        store.commit(&Commit {
            values: vec![
                (MANIFEST.to_owned(), Some(manifest.to_text())),
                Pending::none(),
            ],
            ..Commit::default()
        })?;
        return Ok(Settled::GivenUp);
    }
    // What an interrupted publish left behind is removed.
    let folder = Folder::open(&output, Rights::like(&output.join(MANIFEST_COPY)))?;
    let config = PublishConfig {
        output,
        ..request.config.clone()
    };
    let request = PublishRequest {
        config: &config,
        mode: pending.mode,
        is_drained: pending.is_drained,
        now: pending.at,
        ..request.clone()
    };
    let failed = if pending.kind == Kind::Crawl && pending.rules == rules_of(&request) {
        let previous = previous::recorded(store, &site)?;
        let previous = previous.unwrap_or_else(|| Manifest::new(&site, "", pending.at));
        let judged = Judged::new(store, &request, &previous)?;
        let promote = Follow::Promote(&judged.export);
        follow(store, &request, &folder, &pending, &promote)?
    } else {
        follow(store, &request, &folder, &pending, &Follow::ReadBack)?
    };
    if let Some(failed) = failed {
        tracing::warn!(target: "publish", "{failed}");
    }
    folder.clear_temporary()?;
    Ok(Settled::Completed)
}

/// A view, judged.
struct Judged {
    export: Export,
    census: Census,
    sections: Sections,
    crawl: RunId,
    is_first: bool,
    /// The value with the distrusted sources of dates, when it changed.
    distrusted: Option<MetaValue>,
}

impl Judged {
    fn new(
        store: &Store,
        request: &PublishRequest<'_>,
        previous: &Manifest,
    ) -> Result<Self, PublishError> {
        let rules = EntryRules::new(&request.config.entries)
            .map_err(|error| PublishError::Settings(error.to_string()))?;
        let mut export = Export::new(store, request.site.stand_in.as_ref(), request.now)?
            .with_file_dates(request.config.lastmod)
            .with_rules(rules)
            .with_extensions(request.config.extensions, request.robots.cloned());
        let sections = Sections::new(request)?;
        let view = View::new(store, request.judge, request.mode, request.now);
        let crawl = runs::number(store)?;
        let mut census = Census::take(&view, request, &mut export, &sections, previous)?;
        let distrusted = export.judge_dates(crawl, &census.numbers.dates);
        if distrusted.is_some() {
            // With another trust pages have other dates.
            census = Census::take(&view, request, &mut export, &sections, previous)?;
        }
        let recorded = previous::recorded(store, &request.site.written().name())?;
        Ok(Self {
            is_first: recorded.is_none_or(|manifest| manifest.set_id.is_empty()),
            export,
            census,
            sections,
            crawl,
            distrusted,
        })
    }

    /// Asks the guard. Returns what it compares with next time.
    fn guard(
        &self,
        store: &Store,
        request: &PublishRequest<'_>,
        previous: &Manifest,
    ) -> Result<Baseline, PublishError> {
        let numbers = &self.census.numbers;
        let known = store.value(BASELINE)?;
        let known: Option<Baseline> = known.and_then(|text| serde_json::from_str(&text).ok());
        let known = known.unwrap_or_default();
        let is_same_crawl = known.crawl == self.crawl && request.mode != Mode::AtRest;
        let baseline = Baseline {
            crawl: self.crawl,
            published: if is_same_crawl {
                known.published
            } else {
                previous.listed
            },
            complete: known.complete,
        };
        if self.census.listed == 0 {
            return Err(PublishError::Empty);
        }
        let refusal = guard::judge(&numbers.guard, &baseline, &request.config.guard);
        if let Some(refusal) = refusal.filter(|_| !request.config.force) {
            return Err(PublishError::Refused(Box::new(refusal)));
        }
        if request.mode == Mode::AtRest {
            return Ok(known);
        }
        let is_complete = request.is_drained.then_some(self.census.listed);
        Ok(Baseline {
            published: baseline.published.saturating_sub(numbers.removed_unvisited),
            complete: is_complete.or(baseline.complete),
            ..baseline
        })
    }
}

impl Baseline {
    fn value(&self) -> MetaValue {
        let text = serde_json::to_string(self).expect("numbers are always JSON");
        (BASELINE.to_owned(), Some(text))
    }
}

/// What the page rows follow when the files are in place.
enum Follow<'a> {
    /// The view.
    Promote(&'a Export),
    /// The files, which are those of an archived set.
    Import(Box<Restored>),
    /// The files.
    ReadBack,
}

/// A set that is about to be put out.
struct Ready<'a> {
    set: ReadySet,
    follow: Follow<'a>,
    /// The crawl that it is of.
    crawl: RunId,
    /// Values of the state that go with it.
    values: Vec<MetaValue>,
    is_first: bool,
}

/// Puts out the set that `build` builds, or only reports it; without a folder `build` writes nothing.
fn put_out<'r>(
    store: &mut Store,
    request: &PublishRequest<'_>,
    build: impl FnOnce(
        &Store,
        &PublishRequest<'_>,
        Option<&mut Folder>,
    ) -> Result<Ready<'r>, PublishError>,
) -> Result<Published, PublishError> {
    let output = &request.config.output;
    if request.dry_run {
        let Ready { set, .. } = build(store, request, None)?;
        let folder = Folder::at(output, Rights::default());
        let names = set.built.iter().map(|file| file.address.name.as_str());
        install::in_the_way(request, &folder, &set.previous, names)?;
        return Ok(set.published);
    }
    if !request.config.force {
        disk::check_mount(store, output)?;
    }
    let explained = |error| disk::explained(error, output);
    let rights = Rights::of(request.config)?;
    let mut folder = Folder::open(output, rights).map_err(explained)?;
    let result = build(store, request, Some(&mut folder))
        .and_then(|ready| replace(store, request, &folder, ready))
        .map_err(explained);
    let cleared = folder.clear_temporary();
    // The error of the publish matters more than that of the cleaning up.
    let mut published = result?;
    published.problems.extend(problem(cleared));
    Ok(published)
}

/// Replaces the published set.
fn replace(
    store: &mut Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    ready: Ready<'_>,
) -> Result<Published, PublishError> {
    let set = ready.set;
    let (backups, mut problems) = install::make_way(request, folder, &set)?;
    let standing = Standing::of(request, &set.published);
    let earlier = match &ready.follow {
        Follow::Import(restored) => Some(restored.earlier.clone()),
        Follow::Promote(_) | Follow::ReadBack => None,
    };
    let new = (&set, &standing);
    let (archived, failed) =
        generations::archive(store, request, folder, new, ready.crawl, earlier)?;
    problems.extend(failed);
    let kind = match &ready.follow {
        Follow::Promote(_) => Kind::Crawl,
        Follow::Import(_) | Follow::ReadBack => Kind::Import,
    };
    let output = canonical(&request.config.output);
    let files = set.manifest.files.iter();
    let mut pending = Pending {
        is_first: ready.is_first,
        is_drained: request.is_drained,
        rules: rules_of(request),
        copy: set.manifest.copy_text(),
        ..Pending::of(kind, request.now, output, request.mode)
    }
    .with_files(files.map(|file| (file.name.as_str(), file.file_sha256.as_str())));
    pending.values = ready.values;
    pending.values.extend(archived);
    pending.values.extend([
        (MANIFEST.to_owned(), Some(set.manifest.to_text())),
        standing.value(),
        disk::mount(&request.config.output),
    ]);
    let untold = untold::value_for(&set.previous.manifest, &set.manifest);
    pending.values.extend(untold);
    pending.values.extend(own_files(store, &set.manifest)?);
    if request.config.remembers {
        pending.write(store)?;
    }
    problems.extend(install::install(folder, &set.changes())?);
    // From here on the set is visible, whatever fails.
    problems.extend(install::give_rights(folder, &set.manifest));
    if request.config.grace.is_zero() {
        let dropped = set.manifest.dropped.iter();
        problems.extend(install::remove_dropped(folder, &set, dropped));
    }
    let follows = pending.is_in_place(folder);
    if follows {
        match follow(store, request, folder, &pending, &ready.follow) {
            Ok(failed) => problems.extend(failed),
            Err(error) => problems.extend(problem(Err(error))),
        }
        problems.extend(problem(generations::sweep(store, request)));
    }
    let mut published = set.published;
    published.notes.extend(backups);
    published.problems = problems;
    Ok(published)
}

/// Makes the state follow the files, which are all in place.
fn follow(
    store: &mut Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    pending: &Pending,
    follow: &Follow<'_>,
) -> Result<Option<String>, PublishError> {
    let path = folder.path(MANIFEST_COPY);
    let known = folder::read_text(&path, previous::MAX_MANIFEST_BYTES);
    let copied = if known.as_ref() == Some(&pending.copy) {
        Ok(())
    } else {
        folder.write(MANIFEST_COPY, pending.copy.as_bytes(), pending.at)
    };
    let failed = problem(copied);
    if !request.config.remembers {
        return Ok(failed);
    }
    let values = Commit {
        values: pending.values.clone(),
        ..Commit::default()
    };
    commit(store, &values)?;
    match follow {
        Follow::Promote(export) => {
            let promoting = Promoting {
                judge: request.judge,
                export,
                mode: pending.mode,
                crawl: runs::number(store)?,
                at: pending.at,
            };
            promoting.promote(store, pending)?;
        }
        Follow::Import(_) | Follow::ReadBack => {
            let output = Path::new(&pending.output);
            let notifies = !pending.is_first;
            import::read_back(store, request.site, output, pending.at, notifies)?;
        }
    }
    Ok(failed)
}

/// Commits a step of a publish.
fn commit(store: &mut Store, commit: &Commit) -> Result<(), StoreError> {
    #[cfg(test)]
    fault::pass().map_err(|error| {
        StoreError::new(
            crate::store::StoreErrorKind::Io,
            "the state cannot be written".to_owned(),
        )
        .with_source(error)
    })?;
    store.commit(commit)
}

/// Fingerprint of the rules that decide which URLs are listed, and with which dates.
fn rules_of(request: &PublishRequest<'_>) -> u64 {
    let PublishConfig {
        lastmod,
        extensions,
        ..
    } = request.config;
    let text = format!("{} {lastmod:?} {extensions:?}", request.judge.fingerprint());
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

/// Stops a publish of which no file is visible yet, if that is asked for.
fn go_on(request: &PublishRequest<'_>) -> Result<(), PublishError> {
    if (request.is_stopped)() {
        Err(PublishError::Stopped)
    } else {
        Ok(())
    }
}

/// The error as text, with its causes.
fn problem(result: Result<(), PublishError>) -> Option<String> {
    result.err().map(|error| with_causes(&error))
}

/// Whether a set can be written to the folder `output`, so that a crawl is not begun for nothing. Leaves
/// everything as it is, also a folder that is missing.
///
/// # Errors
/// [`PublishError::Io`]: it is not a folder, or cannot be written to.
pub fn check_output(output: &Path) -> Result<(), PublishError> {
    folder::probe(output, Rights::default())
}

/// Whether a set can be written to `output` ([`check_output`]), and whether files there can have the rights of the settings.
///
/// # Errors
/// As [`check_output`]; [`PublishError::Settings`]: there is no such group, or there are no such rights on this system.
pub fn check_output_for(output: &Path, config: &PublishConfig) -> Result<(), PublishError> {
    folder::probe(output, Rights::of(config)?)
}

/// Refuses a file of others in the output under a name that every set of `site` has, so that a crawl is not begun
/// for nothing. `store`: the state of the site, if there is one. The names of parts come from the pages, so that they
/// are checked when the set is published.
///
/// # Errors
/// [`PublishError::Foreign`], unless `force` is on; the store failed.
pub fn check_names(
    store: Option<&Store>,
    site: &Site,
    config: &PublishConfig,
) -> Result<(), PublishError> {
    let own = previous::own_names(store, &site.written().name(), &config.output)?;
    let folder = Folder::at(&config.output, Rights::default());
    let mut names = files::certain_names(config).into_iter();
    match names.find(|name| folder.exists(name) && !own.contains(name)) {
        Some(name) if !config.force => Err(PublishError::Foreign(folder.path(&name))),
        Some(_) | None => Ok(()),
    }
}

/// Whether the folder `output` has a published set.
pub fn is_published(output: &Path) -> bool {
    fs::symlink_metadata(output.join(MANIFEST_COPY)).is_ok_and(|found| found.is_file())
}

/// The manifest as a value that notes the new files as ours, if there are any.
fn own_files(store: &Store, manifest: &Manifest) -> Result<Option<MetaValue>, StoreError> {
    let mut own = OwnFiles::load(store)?;
    let mut has_new = false;
    for hash in manifest.hashes() {
        has_new |= own.add(hash);
    }
    Ok(has_new.then(|| own.value()))
}
