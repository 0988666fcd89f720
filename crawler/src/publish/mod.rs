//! Publishing: a new set of files becomes visible at once. Reads the store, writes the output folder; never
//! touches the network.
//!
//! ```text
//! pass 1: judge and count every URL of the merged view, try and write every entry -> plan (scope tree, previous layout) -> guard
//!   -> file by file: the entries that were written, and their hash; a temporary file, checked with our reader, where they changed
//!   -> back up what is not ours, archive the old set -> note in the state what is pending
//!   -> rename the parts, then the index -> manifest -> pass 2: promote: page rows, and what engines are to be notified of
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
mod entries;
mod entry_check;
mod error;
#[cfg(test)]
mod fault;
mod file;
mod files;
mod folder;
mod generations;
mod guard;
mod import;
mod index;
mod install;
mod journal;
mod manifest;
mod output_lock;
mod overview;
mod pending;
mod permissions;
mod place;
mod previous;
mod promote;
mod published_set;
mod recent;
mod remarks;
mod retained;
mod sections;
mod set;
mod settle;
mod unnotified;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fs, path::Path};

use jiff::Timestamp;

use self::{
    census::{Census, Numbers},
    content::Builder,
    entries::{EntryWriter, WrittenEntries},
    files::PlannedSet,
    folder::{Folder, canonical},
    generations::Restored,
    guard::Baseline,
    manifest::Manifest,
    permissions::Rights,
    previous::Previous,
    sections::Sections,
    set::ReadySet,
    settle::Replacement,
};
use crate::{
    config::PublishConfig,
    crawl_state::{self, Phase},
    export::{EntryRules, Export, ExtensionCounts, MergedView},
    notes::Note,
    page::{CrawlId, DateSource, Reason},
    report::{Report, SetChanges},
    robots::Rules,
    site::Site,
    store::{Effect, MetaValue, Store, StoreError, json_value, with_causes},
    verdict::{Judge, Mode},
};

pub use self::{
    disk::check_disk,
    error::PublishError,
    guard::{Alike, Objection, Refusal},
    import::{Imported, import_set, needs_import},
    journal::Journal,
    output_lock::OutputLock,
    published_set::{
        Placed, PublishedContent, PublishedContents, PublishedSet, place_file, published_contents,
        published_set, take_back,
    },
    retained::{RetainedFile, RetainedSet, published_files, retained_files, retained_sets},
    settle::{Settled, settle_pending},
    unnotified::{Unnotified, hooks_know, note_unnotified, unnotified},
};

/// Name of the state's value with the manifest.
const MANIFEST: &str = crate::store::names::PUBLISH_MANIFEST;

/// Name of the state's value with what the guard compares with.
const BASELINE: &str = crate::store::names::PUBLISH_GUARD;

/// The manifest's copy in the output.
const MANIFEST_COPY: &str = crate::config::MANIFEST_FILE;

/// The input of a publish.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "nobody prints it")]
pub struct PublishRequest<'a> {
    /// The site.
    pub site: &'a Site,
    /// The current rules.
    pub judge: &'a Judge,
    /// The rows of the state that count ([`Mode::of`]).
    pub mode: Mode,
    /// The crawl has no URL left to ask for: it is over when it is published.
    pub is_drained: bool,
    /// The settings of publishing.
    pub config: &'a PublishConfig,
    /// The site's robots.txt, which images of the site may be disallowed by; `None`: all may be named.
    pub robots: Option<&'a Rules>,
    /// Plan and count, make nothing visible.
    pub dry_run: bool,
    /// The time of this publish.
    pub now: Timestamp,
    /// Returns whether to stop, which leaves the published set as it is. Called from time to time until the first file of the new
    /// set is about to become visible.
    pub is_stopped: &'a dyn Fn() -> bool,
}

/// The result of a publish.
#[derive(Debug)]
pub struct Publishing {
    /// The URLs of the view by state and reason, published or not; `None`: they could not be counted.
    pub report: Option<Report>,
    /// The new published set, or why there is none.
    pub result: Result<Published, PublishError>,
}

/// A file of the published set.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PublishedFile {
    /// Path relative to the output, `/` between folders.
    pub name: String,
    /// URL it will be served at.
    #[serde(skip)]
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
    /// Differences from the set before, as its readers see them; `None`: no state knows that set.
    pub changes: Option<SetChanges>,
    /// Notes for the user.
    pub notes: Vec<Note>,
    /// The failures after the set was in place, each a fragment with its causes: values that
    /// could not be stored, files that could not be removed. The next publish does it again.
    pub problems: Vec<String>,
}

impl Published {
    /// Returns whether a file was written, or left the index.
    pub fn has_changed(&self) -> bool {
        !self.dropped.is_empty() || self.files.iter().any(|file| file.changed)
    }
}

/// Publishes the listed URLs of the merged view: see the module. The state has to be settled before ([`settle_pending`]). A
/// crawl that the guard refuses is over, and its visits do not count any more.
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
        && let Err(error) = crawl_state::set_phase(store, Phase::Refused)
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
    store.lower_cache()?;
    let previous = Previous::read(store, request)?;
    let moved = moved_from(store, request)?;
    let folder = store.folder();
    let (judged, entries) = Judged::new(store, request, &previous.manifest, Some(&folder))?;
    let Numbers {
        reasons, orphans, ..
    } = &judged.census.numbers;
    let mut reasons = reasons.clone();
    if request.mode == Mode::AtRest {
        // No crawl is under way that could have reached them.
        let imported = reasons.counts.remove(&Reason::NotReached);
        *reasons.counts.entry(Reason::Listed).or_default() += imported.unwrap_or_default();
    }
    *report = Some(Report {
        partial_above: request.config.guard.partial_above,
        ..Report::of(store, &reasons, *orphans)?
    });
    let baseline = judged.guard(store, request, &previous.manifest)?;
    let mut published = put_out(store, request, |store, request, folder| {
        let view = MergedView::new(store, request.judge, request.mode, request.now);
        let census = &judged.census;
        let builder = Builder {
            view: &view,
            request,
            census,
            entries: &entries,
            previous: &previous,
        };
        let built = builder.build(PlannedSet::new(request, census)?, folder)?;
        drop(entries);
        let mut set = ReadySet::assemble(
            request,
            previous,
            built,
            census.listed,
            census.plan.layout().to_string(),
        );
        let numbers = &census.numbers;
        let published = &mut set.published;
        published.journal = Journal {
            is_first: judged.is_first,
            ..numbers.journal
        };
        let changes = Some(numbers.changes.clone());
        published.changes = changes.filter(|_| request.config.remembers);
        published.duplicates = numbers.duplicates;
        published.sources.clone_from(&numbers.sources);
        published.extensions = numbers.extensions.clone();
        published.notes.clone_from(&census.notes);
        let mut values = vec![json_value(BASELINE, &baseline)];
        values.extend(judged.distrusted.clone());
        Ok(Replacement {
            set,
            export: Some(&judged.export),
            earlier: None,
            crawl: judged.crawl,
            values,
            is_first: judged.is_first,
        })
    })?;
    published.notes.extend(moved);
    if let Some((ours, host)) = crawl_state::clocks_apart(store)? {
        let [ours, host] = [ours, host].map(|time| format!("{time:.0}"));
        published.notes.push(Note::clocks_apart(&ours, &host));
    }
    Ok(published)
}

/// A note if the last set was published to another folder, which still has it.
fn moved_from(store: &Store, request: &PublishRequest<'_>) -> Result<Option<Note>, StoreError> {
    // Readers get the set from object storage, wherever the folder is.
    if request.config.storage.is_some() {
        return Ok(None);
    }
    let (last, new) = (published_set(store)?, canonical(&request.config.output));
    let old = last.map(|set| set.output);
    let old = old.filter(|old| *old != new && is_published(Path::new(old)));
    Ok(old.map(|old| {
        if request.dry_run {
            Note::output_would_move(&old, &new)
        } else {
            Note::output_moved(&old, &new)
        }
    }))
}

/// Publishes the set again that was published `back` publishes before the current one, from 1 on, and reads it back. The state
/// has to be settled before ([`settle_pending`]). Page rows that agree with the set stay, URLs that are not in it are not listed
/// any more, and all visits are deleted. Files that differ from the published ones get the current time: for readers they
/// change.
///
/// # Errors
/// See [`PublishError`]; the published set stays. [`PublishError::Settings`]: there is no such set, a part of it is missing,
/// or it is a set of another site.
pub fn roll_back(
    store: &mut Store,
    request: &PublishRequest<'_>,
    back: usize,
) -> Result<Published, PublishError> {
    let restored = Restored::find(store, request, back)?;
    put_out(store, request, |store, request, folder| {
        let previous = Previous::read(store, request)?;
        let built = restored.build(request, &previous, folder)?;
        let (listed, layout) = restored.outline();
        let set = ReadySet::assemble(request, previous, built, listed, layout);
        Ok(Replacement {
            set,
            export: None,
            earlier: Some(restored.earlier),
            crawl: restored.generation.crawl,
            values: Vec::new(),
            is_first: false,
        })
    })
}

/// A view, judged.
struct Judged {
    export: Export,
    census: Census,
    crawl: CrawlId,
    is_first: bool,
    /// The value with the distrusted sources of dates, when it changed.
    distrusted: Option<MetaValue>,
}

impl Judged {
    /// Judges the view, and writes its entries in a folder, if there is one.
    fn new(
        store: &Store,
        request: &PublishRequest<'_>,
        previous: &Manifest,
        folder: Option<&Path>,
    ) -> Result<(Self, WrittenEntries), PublishError> {
        let rules = EntryRules::new(&request.config.entries)
            .map_err(|error| PublishError::Settings(error.to_string()))?;
        let mut export = Export::new(store, request.site.stand_in.as_ref(), request.now)?
            .with_file_dates(request.config.lastmod)
            .with_rules(rules)
            .with_extensions(request.config.extensions, request.robots.cloned());
        let sections = Sections::new(request)?;
        let view = MergedView::new(store, request.judge, request.mode, request.now);
        let crawl = crawl_state::number(store)?;
        let mut entries = EntryWriter::new(folder);
        let take_census = |export: &mut Export, entries: &mut EntryWriter| {
            Census::take_census(&view, request, export, &sections, previous, entries)
        };
        let mut census = take_census(&mut export, &mut entries)?;
        let distrusted = export.judge_dates(crawl, &census.numbers.dates);
        if distrusted.is_some() {
            // With another trust pages have other dates.
            entries = EntryWriter::new(folder);
            census = take_census(&mut export, &mut entries)?;
        }
        let recorded = previous::recorded(store, &request.site.written().name())?;
        let judged = Self {
            is_first: recorded.is_none_or(|manifest| manifest.set_id.is_empty()),
            export,
            census,
            crawl,
            distrusted,
        };
        Ok((judged, entries.finish()?))
    }

    /// Asks the guard. Returns what it compares with next time.
    fn guard(
        &self,
        store: &Store,
        request: &PublishRequest<'_>,
        previous: &Manifest,
    ) -> Result<Baseline, PublishError> {
        let numbers = &self.census.numbers;
        let known: Baseline = store.read_json(BASELINE)?.unwrap_or_default();
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

/// Puts out the set that `build` builds, or only reports it; without a folder `build` writes nothing.
fn put_out<'r>(
    store: &mut Store,
    request: &PublishRequest<'_>,
    build: impl FnOnce(
        &Store,
        &PublishRequest<'_>,
        Option<&mut Folder>,
    ) -> Result<Replacement<'r>, PublishError>,
) -> Result<Published, PublishError> {
    let output = &request.config.output;
    if request.dry_run {
        let Replacement { set, .. } = build(store, request, None)?;
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
        .and_then(|replacement| settle::replace(store, request, &folder, replacement))
        .map_err(explained);
    let cleared = folder.clear_temporary();
    // The error of the publish matters more than that of the cleaning up.
    let mut published = result?;
    published.problems.extend(problem(cleared));
    Ok(published)
}

/// Commits a step of a publish.
fn commit(store: &mut Store, commit: &[Effect]) -> Result<(), StoreError> {
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

/// Checks that a set can be written to the folder `output`, with the rights of the settings, so that a crawl is not begun for
/// nothing. Leaves everything as it is, also a folder that is missing.
///
/// # Errors
/// [`PublishError::Io`]: it is not a folder, or cannot be written to; [`PublishError::Settings`]: there is no such group, or
/// there are no such rights on this system.
pub fn check_output(output: &Path, config: &PublishConfig) -> Result<(), PublishError> {
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

/// Returns whether the folder `output` has a published set.
pub fn is_published(output: &Path) -> bool {
    fs::symlink_metadata(output.join(MANIFEST_COPY)).is_ok_and(|found| found.is_file())
}
