//! How a new set of files becomes visible at once. Reads the store, writes the output folder; never
//! touches the network.
//!
//! ```text
//! export: last judgement -> one counting scan -> plan (scope tree, previous layout)
//!   -> guard -> file by file: hash; when changed, write a temporary file, check it with our reader
//!   -> keep what is not ours -> note what is about to appear -> rename the parts, then the index
//!   -> remove what was dropped long ago -> manifest -> ledger
//! ```
//!
//! At every instant each file that the index names exists and is complete, and the index never states
//! a `lastmod` later than the file's. A crash between two steps leaves the old set, or the new parts
//! under the old index; the next publish goes on from there. A file whose entries did not change keeps
//! its name, its bytes, its modification time and its `lastmod` in the index.

#[cfg(test)]
mod fault;
mod files;
mod folder;
mod manifest;
mod previous;

#[cfg(test)]
mod tests;

use std::{collections::HashSet, fmt, path::PathBuf};

use jiff::Timestamp;
use sitemap_core::partition::{Counter, Layout as PartLayout, Placement, Plan, Thresholds};

use self::{
    files::{Files, PlannedFile},
    folder::{Folder, Temporary},
    manifest::{Dropped, FileRecord, Manifest},
    previous::{Contents, INTENT, Previous, Standing, intent_text},
};
use crate::{
    config::{Layout, PublishConfig},
    export::Export,
    page::RunId,
    site::Site,
    store::{Commit, Store, StoreError},
};

/// Name of the state's value with the manifest.
const MANIFEST: &str = "publish.manifest";

/// The manifest's copy in the output.
const MANIFEST_COPY: &str = ".arpent-manifest.json";

/// Ledger entries that are copied at once.
const LEDGER_BATCH: usize = 1_000;

/// What to publish.
#[derive(Clone)]
pub struct PublishRequest<'a> {
    /// Which site.
    pub site: &'a Site,
    /// Which run's records.
    pub run: RunId,
    /// Where and how.
    pub config: &'a PublishConfig,
    /// The run is not complete (limits, failures): the guard then forbids listing fewer URLs than before.
    pub partial: bool,
    /// Plan and count, write nothing.
    pub dry_run: bool,
    /// The time of this publish.
    pub now: Timestamp,
    /// Asked from time to time: whether to give up, which leaves the old set as it is. Not asked any
    /// more from when the first file of the new set is about to become visible.
    pub is_stopped: &'a dyn Fn() -> bool,
}

impl fmt::Debug for PublishRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishRequest")
            .field("site", &self.site)
            .field("run", &self.run)
            .field("config", &self.config)
            .field("partial", &self.partial)
            .field("dry_run", &self.dry_run)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
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
    /// Written by this publish; otherwise it stands untouched.
    pub changed: bool,
}

/// A set that now stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Published {
    /// Index (or indexes) first, then the parts in order.
    pub files: Vec<PublishedFile>,
    /// URLs of the indexes (or of the only urlset): one `Sitemap:` line each.
    pub sitemap_urls: Vec<String>,
    /// Listed URLs.
    pub listed: u64,
    /// Listed pages that have the same content, byte for byte, as another listed page.
    pub duplicates: u64,
    /// Files that left the index by this publish; they leave the disk after their grace.
    pub dropped: Vec<String>,
    /// What failed after the set was in place, each a fragment with its causes: what is to be
    /// remembered of it, or removed. The next publish does it again.
    pub problems: Vec<String>,
}

/// Why nothing was published. The old set stands.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// No URL can be listed.
    #[error("nothing to list: no URL of this crawl may stand in a sitemap")]
    Empty,
    /// A partial crawl would list fewer URLs than the published set.
    #[error(
        "this partial crawl would list {now} URLs, the published set lists {before}; --force publishes anyway"
    )]
    Shrunk {
        /// URLs in the published set.
        before: u64,
        /// URLs this crawl would list.
        now: u64,
    },
    /// A file that is not arpent's stands under a name that is needed.
    #[error("{} is not a file of arpent and stands in the way; --force replaces it and keeps a backup", .0.display())]
    Foreign(PathBuf),
    /// A folder on the way to a file is a link, or no folder: what is behind it is not ours.
    #[error("{} must be a folder of the output itself, where a sitemap belongs; remove it or use another layout or output", .0.display())]
    Astray(PathBuf),
    /// Another run holds the output.
    #[error("another run is publishing to {}", .0.display())]
    Busy(PathBuf),
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
    /// A written file did not pass our own check: a bug, the old set stands.
    #[error("the file {name} did not pass the check before publishing: {problem}")]
    Check {
        /// Which file.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// [`PublishRequest::is_stopped`] said so.
    #[error("stopped before anything was published")]
    Stopped,
    /// The settings cannot be satisfied.
    #[error("{0}")]
    Settings(String),
    /// The store failed.
    #[error("failed to read the state of this site")]
    Store(#[from] StoreError),
}

/// Publishes the listed URLs of a run: see the module.
///
/// # Errors
/// The old set stands; see [`PublishError`]. Once the new index is in place there are no errors, only
/// [`Published::problems`].
pub fn publish(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
) -> Result<Published, PublishError> {
    if request.dry_run {
        return Ok(NewSet::build(store, request, None)?.published);
    }
    let mut folder = Folder::open(&request.config.output)?;
    let result = replace(store, request, &mut folder);
    let cleared = folder.clear_temporary();
    // What made a publish fail is more important than what it left behind.
    let mut published = result?;
    published.problems.extend(problem(cleared));
    Ok(published)
}

/// Puts the new set in the place of the old one.
fn replace(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    folder: &mut Folder,
) -> Result<Published, PublishError> {
    let set = NewSet::build(store, request, Some(folder))?;
    let changed = set.changed();
    go_on(request)?;
    make_way(request, folder, &set, &changed)?;
    let mut problems = install(folder, &changed)?;
    // From here on readers see the new set, whatever fails.
    if problems.is_empty() {
        let manifest = remove_dropped(request, folder, set.manifest, &mut problems);
        let recorded = record(store, request, folder, &set.previous, &manifest);
        problems.extend(problem(recorded));
        let remembered = set.export.remember(store).map_err(PublishError::Store);
        problems.extend(problem(remembered));
    }
    Ok(Published {
        problems,
        ..set.published
    })
}

/// The old set stands, nothing of the new one is visible: the last place where a wish to stop counts.
fn go_on(request: &PublishRequest<'_>) -> Result<(), PublishError> {
    if (request.is_stopped)() {
        Err(PublishError::Stopped)
    } else {
        Ok(())
    }
}

/// What went wrong, in words, with its causes.
fn problem(result: Result<(), PublishError>) -> Option<String> {
    let error = result.err()?;
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    Some(text)
}

/// Copies to the fresh state of a site what the published set needs to stay true: the manifest, and
/// what the ledger knows of `lastmod`.
///
/// # Errors
/// A store failed.
pub fn carry_over(old: &dyn Store, new: &mut dyn Store) -> Result<(), StoreError> {
    let manifest = (MANIFEST.to_owned(), old.value(MANIFEST)?);
    let values = vec![manifest, crate::export::distrusted(old)?];
    new.commit(&Commit {
        values,
        ..Commit::default()
    })?;
    let mut batch = Vec::with_capacity(LEDGER_BATCH);
    let mut copied = Ok(());
    old.visit_ledger(&mut |key, entry| {
        // A walk over the ledger cannot be ended; after a failure nothing more is kept of it.
        if copied.is_ok() {
            batch.push((key.clone(), entry));
        }
        if batch.len() == LEDGER_BATCH {
            copied = new.set_ledger(&batch);
            batch.clear();
        }
    })?;
    copied?;
    new.set_ledger(&batch)
}

/// The new set, built and not visible yet.
struct NewSet {
    export: Export,
    previous: Previous,
    /// What an interrupted publish put in place.
    intended: Contents,
    built: Vec<BuiltFile>,
    manifest: Manifest,
    published: Published,
}

impl NewSet {
    /// Plans and builds everything; without a folder nothing is written.
    fn build(
        store: &mut dyn Store,
        request: &PublishRequest<'_>,
        mut folder: Option<&mut Folder>,
    ) -> Result<Self, PublishError> {
        let export = Export::prepare(store, request.run, request.now)?;
        go_on(request)?;
        let previous = Previous::read(store, request)?;
        let plan = plan(store, request, &export, &previous.manifest)?;
        let listed = plan
            .parts()
            .iter()
            .map(sitemap_core::partition::Part::entries)
            .sum();
        guard(request, &previous.manifest, listed)?;
        let files = Files {
            store,
            export: &export,
            request,
            plan: &plan,
            previous: &previous,
        };
        let built = files.build(folder.as_deref_mut())?;
        let intended = match folder {
            Some(folder) => previous.intended(folder)?,
            None => Contents::new(),
        };
        Ok(Self {
            manifest: next_manifest(request, &previous, &intended, &plan, &built, listed),
            published: summarise(&built, &previous.manifest, listed, export.duplicates()),
            export,
            previous,
            intended,
            built,
        })
    }

    /// The files that have to be written.
    fn changed(&self) -> Vec<(&FileRecord, &Temporary)> {
        self.built
            .iter()
            .filter_map(|file| Some((&file.record, file.temporary.as_ref()?)))
            .collect()
    }
}

/// One file of the new set: what it is, and its temporary when it has to be written.
#[derive(Debug)]
struct BuiltFile {
    planned: PlannedFile,
    record: FileRecord,
    changed: bool,
    temporary: Option<Temporary>,
}

/// Counts all entries in one scan and divides them into files.
fn plan(
    store: &dyn Store,
    request: &PublishRequest<'_>,
    export: &Export,
    previous: &Manifest,
) -> Result<Plan, PublishError> {
    let PublishConfig {
        min_section,
        min_subsection,
        file_entries,
        file_bytes,
        ..
    } = *request.config;
    let thresholds = Thresholds {
        section: min_section,
        subsection: min_subsection,
        file_entries,
        file_bytes,
    };
    let placement = match request.config.layout {
        Layout::Root => Placement::Root,
        Layout::InPlace => Placement::InPlace,
    };
    let layout: PartLayout = previous.layout.parse().unwrap_or_default();
    let settings =
        |error: sitemap_core::partition::PartitionError| PublishError::Settings(error.to_string());
    let mut counter =
        Counter::new(&request.site.directory, thresholds, placement, &layout).map_err(settings)?;
    export.visit::<PublishError>(store, None, &mut |key, entry| {
        counter
            .push(key.path_and_query(), entry.written_len())
            .map_err(|error| PublishError::Check {
                name: "the partition".to_owned(),
                problem: error.to_string(),
            })?;
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    Ok(counter.finish())
}

/// Refuses an empty set, and a partial crawl that would list fewer URLs than are published.
fn guard(
    request: &PublishRequest<'_>,
    previous: &Manifest,
    listed: u64,
) -> Result<(), PublishError> {
    if listed == 0 {
        return Err(PublishError::Empty);
    }
    if request.partial && listed < previous.listed && !request.config.force {
        return Err(PublishError::Shrunk {
            before: previous.listed,
            now: listed,
        });
    }
    Ok(())
}

fn next_manifest(
    request: &PublishRequest<'_>,
    previous: &Previous,
    intended: &Contents,
    plan: &Plan,
    built: &[BuiltFile],
    listed: u64,
) -> Manifest {
    let known = &previous.manifest;
    let mut manifest = Manifest::new(&known.site, &known.output, request.now);
    manifest.listed = listed;
    manifest.layout = plan.layout().to_string();
    manifest.files = built.iter().map(|file| file.record.clone()).collect();
    let named = names(built);
    manifest.dropped = previous.dropped(intended, |name| named.contains(name), request.now);
    let unchanged = manifest.files == known.files && manifest.dropped == known.dropped;
    if unchanged && manifest.layout == known.layout {
        manifest.published = known.published;
    }
    manifest
}

fn names(built: &[BuiltFile]) -> HashSet<&str> {
    built.iter().map(|file| file.record.name.as_str()).collect()
}

fn summarise(built: &[BuiltFile], previous: &Manifest, listed: u64, duplicates: u64) -> Published {
    let files = built
        .iter()
        .map(|file| PublishedFile {
            name: file.record.name.clone(),
            url: file.planned.url.clone(),
            entries: file.record.entries,
            bytes: file.record.bytes,
            changed: file.changed,
        })
        .collect();
    let sitemap_urls = built
        .iter()
        .filter(|file| file.planned.is_entrance())
        .map(|file| file.planned.url.clone())
        .collect();
    let named = names(built);
    let dropped = previous
        .files
        .iter()
        .filter(|file| !named.contains(file.name.as_str()))
        .map(|file| file.name.clone())
        .collect();
    Published {
        files,
        sitemap_urls,
        listed,
        duplicates,
        dropped,
        problems: Vec::new(),
    }
}

/// Makes sure that nothing that is not ours is lost where a file is about to appear, and notes what is
/// about to appear as ours.
fn make_way(
    request: &PublishRequest<'_>,
    folder: &Folder,
    set: &NewSet,
    changed: &[(&FileRecord, &Temporary)],
) -> Result<(), PublishError> {
    if changed.is_empty() {
        return Ok(());
    }
    let mut kept = Vec::new();
    for (record, _) in changed {
        match set.previous.standing(&record.name, folder)? {
            Standing::Ours => {}
            Standing::Foreign if !request.config.force => {
                return Err(PublishError::Foreign(folder.path(&record.name)));
            }
            Standing::Foreign | Standing::Altered => kept.push(&record.name),
        }
    }
    for name in kept {
        let backup = folder.back_up(name, request.now)?;
        tracing::warn!(
            target: "publish",
            "{} was not as arpent left it; kept as {}",
            folder.path(name).display(),
            backup.display()
        );
    }
    let new = changed
        .iter()
        .map(|(record, _)| (record.name.as_str(), record.file_sha256.as_str()));
    let old = set
        .intended
        .iter()
        .map(|(name, hash)| (name.as_str(), hash.as_str()));
    folder.write(INTENT, intent_text(old.chain(new)).as_bytes(), request.now)
}

/// Parts first, then the indexes. The first index is the commit point: what fails behind it is no
/// error but a problem of the set that now stands.
fn install(
    folder: &Folder,
    changed: &[(&FileRecord, &Temporary)],
) -> Result<Vec<String>, PublishError> {
    let (entrances, parts): (Vec<_>, Vec<_>) = changed
        .iter()
        .partition(|(record, _)| files::is_entrance_name(&record.name));
    for (record, temporary) in &parts {
        folder.install(temporary, &record.name)?;
    }
    folder.sync_folders(parts.iter().map(|(record, _)| record.name.as_str()))?;
    let Some(((first, temporary), others)) = entrances.split_first() else {
        return Ok(Vec::new());
    };
    folder.install(temporary, &first.name)?;
    let installed = others
        .iter()
        .map(|(record, temporary)| folder.install(temporary, &record.name));
    let mut problems: Vec<String> = installed.filter_map(problem).collect();
    let names = entrances.iter().map(|(record, _)| record.name.as_str());
    problems.extend(problem(folder.sync_folders(names)));
    Ok(problems)
}

/// Stores the manifest in the state, and its copy in the output when it changed.
fn record(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    previous: &Previous,
    manifest: &Manifest,
) -> Result<(), PublishError> {
    let text = manifest.to_text();
    store.commit(&Commit {
        run: request.run,
        values: vec![(MANIFEST.to_owned(), Some(text.clone()))],
        ..Commit::default()
    })?;
    if !previous.copy_says(&text) {
        folder.write(MANIFEST_COPY, text.as_bytes(), request.now)?;
    }
    folder.remove(INTENT)
}

/// Removes files that left the index longer ago than the grace, unless somebody changed them; the
/// manifest then knows them no more.
fn remove_dropped(
    request: &PublishRequest<'_>,
    folder: &Folder,
    mut manifest: Manifest,
    problems: &mut Vec<String>,
) -> Manifest {
    let grace =
        jiff::SignedDuration::try_from(request.config.grace).unwrap_or(jiff::SignedDuration::MAX);
    let remove = |dropped: &Dropped| {
        if folder.hash(&dropped.name)?.as_ref() == Some(&dropped.file_sha256) {
            folder.remove(&dropped.name)?;
            folder.remove_empty_folders(&dropped.name);
        }
        Ok(())
    };
    manifest.dropped.retain(|dropped| {
        let is_due = request.now.duration_since(dropped.since) >= grace;
        let problem = if is_due {
            problem(remove(dropped))
        } else {
            None
        };
        let stays = !is_due || problem.is_some();
        problems.extend(problem);
        stays
    });
    manifest
}
