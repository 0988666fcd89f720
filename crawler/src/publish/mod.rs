//! How a new set of files becomes visible at once. Reads the store, writes the output folder; never
//! touches the network.
//!
//! ```text
//! export: last judgement -> one counting scan, in which every entry is tried -> plan (scope tree, previous layout)
//!   -> guard -> file by file: hash; when changed, write a temporary file, check it with our reader
//!   -> keep what is not ours -> note what is about to appear -> rename the parts, then the index
//!   -> remove what was dropped long ago -> manifest, with what engines are to be told of -> ledger
//! ```
//!
//! A set that was kept ([`roll_back`]) comes from its copies instead, and goes the same way from the files on.
//!
//! At every instant each file that the index names exists and is complete, and the index never states
//! a `lastmod` later than the file's. A crash between two steps leaves the old set, or the new parts
//! under the old index; the next publish goes on from there. A file whose entries did not change keeps
//! its name, its bytes, its modification time and its `lastmod` in the index.

mod census;
mod content;
mod disk;
mod doubts;
#[cfg(test)]
mod fault;
mod file;
mod files;
mod folder;
mod generations;
mod guard;
mod hold;
mod index;
mod install;
mod journal;
mod manifest;
mod own;
mod place;
mod previous;
mod recent;
mod rights;
mod salvage;
mod sections;
mod set;
mod survey;
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

use self::{folder::Folder, manifest::Manifest, rights::Rights, set::ReadySet};
use crate::{
    config::PublishConfig,
    export::{self, ExtensionCounts},
    notes::Note,
    page::{DateSource, RunId},
    robots::Rules,
    runs,
    seeds::OwnFiles,
    site::Site,
    store::{
        Commit, LedgerEntry, Store, StoreError, outbox::OutboxStep, undo::UndoStep, with_causes,
    },
    url_key::UrlKey,
};

pub use self::{
    disk::check_disk,
    doubts::{Doubted, Doubts, Finding, Told},
    generations::{KEPT_SETS, KeptSet, kept_sets, roll_back},
    guard::{Alike, Objection, Refusal, Whose},
    hold::OutputHold,
    journal::Journal,
    own::{Placed, Standing, place_file, standing, take_back},
    salvage::{Recalled, recall, recall_dates, salvage},
    untold::{Untold, hooks_know, note_untold, untold},
};

/// Name of the state's value with the manifest.
const MANIFEST: &str = crate::store::names::PUBLISH_MANIFEST;

/// Name of the state's value with the run that was published last; 0: the published set was read back from its files. A
/// fresh state does not take it over.
const RUN: &str = crate::store::names::PUBLISH_RUN;

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
    /// The site's robots.txt, which images of the site may be disallowed by; `None`: all may be named.
    pub robots: Option<&'a Rules>,
    /// The run is not complete (limits, failures): the guard then forbids listing fewer URLs than before.
    pub partial: bool,
    /// What is not believed of what the run heard; `None`: all is.
    pub doubted: Option<&'a Doubted>,
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
            .field("robots", &self.robots)
            .field("partial", &self.partial)
            .field("doubted", &self.doubted)
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
    /// Entries with a `lastmod`, by where it came from.
    pub sources: BTreeMap<DateSource, u64>,
    /// What became of the extensions that were asked for.
    pub extensions: ExtensionCounts,
    /// Files that left the index by this publish; they leave the disk after their grace.
    pub dropped: Vec<String>,
    /// What became of the URLs of the set before.
    pub journal: Journal,
    /// What the user should know of the set.
    pub notes: Vec<Note>,
    /// What failed after the set was in place, each a fragment with its causes: what is to be
    /// remembered of it, or removed. The next publish does it again.
    pub problems: Vec<String>,
}

/// Why nothing was published. The old set stands.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// No URL can be listed.
    #[error("nothing to list: no known URL may stand in a sitemap")]
    Empty,
    /// A partial crawl would list fewer URLs than the published set.
    #[error("a partial set would list {now} URLs, the published set lists {before}")]
    Shrunk {
        /// URLs in the published set.
        before: u64,
        /// URLs this crawl would list.
        now: u64,
    },
    /// Nothing that the crawl heard is believed: see [`Doubted`]. The run is not over.
    #[error("nothing that this crawl heard is believed yet: {0}")]
    Doubted(String),
    /// The guard keeps the published set.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// A file that is not arpent's stands under a name that is needed.
    #[error("{} is not a file of arpent for this site and stands in the way", .0.display())]
    Foreign(PathBuf),
    /// A folder on the way to a file is a link, or no folder: what is behind it is not ours.
    #[error("{} must be a folder of the output itself, where a sitemap belongs; remove it or use another layout or output", .0.display())]
    Astray(PathBuf),
    /// Another run holds the output.
    #[error("another run is publishing to {}, which is in use by {holder}", output.display())]
    Busy {
        /// Which folder.
        output: PathBuf,
        /// Who holds it, as far as that is known.
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
    /// The set that stands is newer than the one that the state knows: another state published it.
    #[error(
        "the set in {} is newer than the state of the site, because another state published it; expected a crawl, which \
         reads it back first",
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
    /// A written file did not pass our own check: a bug, because every entry was tried before. The old set stands.
    #[error(
        "the file {name} did not pass the check before publishing: {problem}; this is a bug of arpent, please report it"
    )]
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
    put_out(store, request, ReadySet::of_run)
}

/// Puts out the set that `build` builds, or only tells of it; without a folder `build` writes nothing.
fn put_out(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    build: impl FnOnce(
        &mut dyn Store,
        &PublishRequest<'_>,
        Option<&mut Folder>,
    ) -> Result<ReadySet, PublishError>,
) -> Result<Published, PublishError> {
    let mut published = if request.dry_run {
        let set = build(store, request, None)?;
        let folder = Folder::at(&request.config.output, Rights::default());
        let names = set.built.iter().map(|file| file.address.name.as_str());
        install::in_the_way(request, &folder, &set.previous, names)?;
        set.published
    } else {
        let output = &request.config.output;
        if !request.config.force {
            disk::check_mount(store, output)?;
        }
        let explained = |error| disk::explained(error, output);
        let rights = Rights::of(request.config)?;
        let mut folder = Folder::open(output, rights).map_err(explained)?;
        let result = build(store, request, Some(&mut folder))
            .and_then(|set| install::replace(store, request, &folder, set))
            .map_err(explained);
        let cleared = folder.clear_temporary();
        // What made a publish fail is more important than what it left behind.
        let mut published = result?;
        published.problems.extend(problem(cleared));
        published
    };
    if let Some((ours, host)) = runs::clocks_apart(store)? {
        let [ours, host] = [ours, host].map(|time| format!("{time:.0}"));
        published.notes.push(Note::clocks_apart(&ours, &host));
    }
    Ok(published)
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
    result.err().map(|error| with_causes(&error))
}

/// Whether a set can be written to the folder `output`, so that a crawl is not begun for nothing. Leaves
/// everything as it is, also a folder that is missing.
///
/// # Errors
/// [`PublishError::Io`]: it is no folder, or nothing can be written to it.
pub fn check_output(output: &Path) -> Result<(), PublishError> {
    folder::probe(output, Rights::default())
}

/// Whether a set can be written to `output` ([`check_output`]), and whether files there can have the rights that the settings ask for.
///
/// # Errors
/// As [`check_output`]; [`PublishError::Settings`]: there is no such group, or there are no such rights on this system.
pub fn check_output_for(output: &Path, config: &PublishConfig) -> Result<(), PublishError> {
    folder::probe(output, Rights::of(config)?)
}

/// Refuses a file of others in the output under a name that every set of `site` has, so that a crawl is not begun
/// for nothing. `store`: the state of the site, if there is one. Parts get their names from the pages, so that those are
/// looked at when the set is published.
///
/// # Errors
/// [`PublishError::Foreign`], unless `config` says that it may be replaced; the store failed.
pub fn check_names(
    store: Option<&dyn Store>,
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

/// Whether the folder `output` holds a published set.
pub fn is_published(output: &Path) -> bool {
    fs::symlink_metadata(output.join(MANIFEST_COPY)).is_ok_and(|found| found.is_file())
}

/// Whether the state has the records behind the published set: a run that does not come to its end lists what it
/// did not reach by them. Without them a partial crawl must not take the place of a larger set.
///
/// # Errors
/// The store cannot be read.
pub fn has_records(store: &dyn Store) -> Result<bool, StoreError> {
    Ok(store.value(RUN)?.is_some())
}

/// To be called for a run that was refused before it is finished: when no set was ever published from this state, which
/// is new in the place of one that was lost, later runs begin as if it had found nothing.
///
/// # Errors
/// The store failed.
pub fn disown(store: &mut dyn Store, run: RunId) -> Result<(), StoreError> {
    if has_records(store)? {
        return Ok(());
    }
    store.commit(&Commit {
        run,
        outbox: vec![OutboxStep::Undo(UndoStep::Disown)],
        ..Commit::default()
    })
}

/// Remembers as ours what the manifest in the folder `output` names, so that a crawl knows our own
/// sitemaps on the site also when the state that published them is lost. A folder without a manifest of
/// this site changes nothing.
///
/// # Errors
/// The store failed.
pub fn recall_own_files(
    store: &mut dyn Store,
    site: &Site,
    output: &Path,
) -> Result<(), StoreError> {
    let copied = folder::read_text(&output.join(MANIFEST_COPY), previous::MAX_MANIFEST_BYTES);
    let Some(manifest) = copied.and_then(|text| Manifest::read(&text, &site.written().name()))
    else {
        return Ok(());
    };
    let values: Vec<_> = own_files(store, &manifest)?.into_iter().collect();
    if values.is_empty() {
        return Ok(());
    }
    store.commit(&Commit {
        values,
        ..Commit::default()
    })
}

/// The value that remembers the files of `manifest` as ours, when it has new ones.
fn own_files(
    store: &dyn Store,
    manifest: &Manifest,
) -> Result<Option<(String, Option<String>)>, StoreError> {
    let mut own = OwnFiles::load(store)?;
    let mut has_new = false;
    for hash in manifest.hashes() {
        has_new |= own.add(hash);
    }
    Ok(has_new.then(|| own.value()))
}

/// Copies to the fresh state of a site what the published set needs to stay true: the manifest, and
/// what the ledger knows of `lastmod`; but not of URLs that no run found for [`runs::FORGOTTEN_AFTER`], because a state
/// that is begun anew again and again never comes to [`runs::forget`] them.
///
/// # Errors
/// A store failed.
pub fn carry_over(old: &dyn Store, new: &mut dyn Store, now: Timestamp) -> Result<(), StoreError> {
    carry_values(old, new)?;
    carry_journal(old, new)?;
    let seen_before = now
        .checked_sub(runs::FORGOTTEN_AFTER)
        .unwrap_or(Timestamp::MIN);
    carry_ledger_of(old, new, &|key, entry| {
        let is_old = entry
            .seen_seconds
            .is_some_and(|seen| seen < seen_before.as_second());
        Ok(!is_old || old.page(key)?.is_some())
    })
}

/// The values of [`carry_over`].
fn carry_values(old: &dyn Store, new: &mut dyn Store) -> Result<(), StoreError> {
    let manifest = (MANIFEST.to_owned(), old.value(MANIFEST)?);
    // Where a set stands, what runs decide counts from their first publish on.
    let has_set = manifest.1.is_some();
    let disown = has_set.then_some(OutboxStep::Undo(UndoStep::Disown));
    let own = OwnFiles::load(old)?.value();
    let trust = export::distrusted(old)?;
    let mut values = vec![manifest, own, trust, survey::carried(old)?];
    values.extend(own::values(old)?);
    values.extend(generations::carried(old)?);
    values.push(untold::carried(old)?);
    new.commit(&Commit {
        values,
        outbox: disown.into_iter().collect(),
        ..Commit::default()
    })
}

/// What [`carry_over`] takes over of the set before and of what waits to be told.
fn carry_journal(old: &dyn Store, new: &mut dyn Store) -> Result<(), StoreError> {
    let values = journal::carry_over(old, new)?.into_iter().collect();
    new.commit(&Commit {
        values,
        ..Commit::default()
    })
}

/// The ledger of [`carry_over`].
fn carry_ledger(old: &dyn Store, new: &mut dyn Store) -> Result<(), StoreError> {
    carry_ledger_of(old, new, &|_, _| Ok(true))
}

/// Copies the ledger of the URLs that `is_kept` says it of.
fn carry_ledger_of(
    old: &dyn Store,
    new: &mut dyn Store,
    is_kept: &dyn Fn(&UrlKey, &LedgerEntry) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    let mut batch = Vec::with_capacity(LEDGER_BATCH);
    let mut copied = Ok(());
    let visited = old.visit_ledger(&mut |key, entry| {
        // A walk over the ledger cannot be ended; after a failure nothing more is kept of it.
        if copied.is_ok() {
            match is_kept(key, &entry) {
                Ok(true) => batch.push((key.clone(), entry)),
                Ok(false) => {}
                Err(error) => copied = Err(error),
            }
        }
        if copied.is_ok() && batch.len() == LEDGER_BATCH {
            copied = new.set_ledger(&batch);
            batch.clear();
        }
    });
    copied?;
    // What was read before a failure is true.
    new.set_ledger(&batch)?;
    visited
}
