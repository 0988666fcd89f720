//! The sets that were published last, kept as copies of their files beside the state, and the way back to one of
//! them. A copy is named by the SHA-256 of its content, so what did not change from one set to the next is kept
//! once. The list of the sets stands in the state, and changes in the commit that records a publish.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, BufReader, Write as _},
    path::{Path, PathBuf},
};

use jiff::{Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sitemap_core::{
    IndexEntry, LastMod, Limits, Loc,
    read::{self, Item, Reader},
    write::{IndexWriter, Push, SchemaLocation},
};

use super::{
    Journal, PublishError, PublishRequest, Published, PublishedFile, Standing, disk,
    files::{Content, Role},
    folder::{Folder, Temporary, failed, hash_file, sync_folder},
    go_on,
    guard::Remembered,
    install::{self, Record},
    manifest::{FileRecord, Manifest, hex},
    previous::{Contents, Previous},
    problem,
    rights::Rights,
    set::{Change, NewSet},
};
use crate::{
    store::{
        Commit, Store,
        outbox::{Difference, Listing, OutboxStep, UrlChange},
    },
    url_key::UrlKey,
};

/// Published sets that are kept, the one that stands included.
pub const KEPT_SETS: usize = 3;

/// Name of the state's value with the list of sets, the oldest first.
const SETS: &str = "publish.generations";

/// URLs that are compared with what is remembered of the published set at once.
const CHUNK: usize = 4_096;

/// One published set.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Generation {
    manifest: Manifest,
    standing: Standing,
    remembered: Remembered,
    /// What the manifest does not say of its files, in their order.
    files: Vec<Kept>,
}

/// What has to be known of a file to publish it again.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    url: String,
    /// It becomes visible after all others.
    is_entrance: bool,
    /// Of an index: the names of the files that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    members: Option<Vec<String>>,
}

/// A set that was published and is still kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSet {
    /// When it was published.
    pub published: Timestamp,
    /// URLs in it.
    pub listed: u64,
}

impl Generation {
    fn of(set: &NewSet, manifest: &Manifest, standing: &Standing) -> Self {
        let built = &set.built;
        let is_index = |content: &Content| matches!(content, Content::Index(_));
        let first_part = built
            .iter()
            .take_while(|file| is_index(&file.planned.content))
            .count();
        let name = |member: &usize| Some(built.get(first_part + member)?.record.name.clone());
        let files = built.iter().map(|file| Kept {
            url: file.planned.address.url.clone(),
            is_entrance: file.planned.role == Role::Entrance,
            members: match &file.planned.content {
                Content::Index(members) => Some(members.iter().filter_map(name).collect()),
                Content::UrlSet(_) | Content::News(_) | Content::Text(_) | Content::Feed(_) => None,
            },
        });
        Self {
            files: files.collect(),
            manifest: manifest.clone(),
            standing: standing.clone(),
            remembered: set.remembered.clone(),
        }
    }

    /// Whether the files say the same. Indexes need not: they also say when files were written.
    fn has_files_of(&self, manifest: &Manifest) -> bool {
        let ours = &self.manifest.files;
        let is_index = |place: usize| {
            let file = self.files.get(place);
            file.is_some_and(|file| file.members.is_some())
        };
        ours.len() == manifest.files.len()
            && ours
                .iter()
                .zip(&manifest.files)
                .enumerate()
                .all(|(place, (our, other))| {
                    our.name == other.name
                        && (our.file_sha256 == other.file_sha256 || is_index(place))
                })
    }
}

/// The list as the state has it. One that cannot be read is of another version: nothing is kept then.
fn read_sets(store: &dyn Store) -> Result<Vec<Generation>, PublishError> {
    let text = store.value(SETS)?.unwrap_or_default();
    Ok(serde_json::from_str(&text).unwrap_or_default())
}

fn value(sets: &[Generation]) -> (String, Option<String>) {
    let text = serde_json::to_string(sets).expect("strings, numbers and times are always JSON");
    (SETS.to_owned(), Some(text))
}

/// The sets that are kept besides the one that stands, the newest first.
///
/// # Errors
/// The store cannot be read.
pub fn kept_sets(store: &dyn Store) -> Result<Vec<KeptSet>, PublishError> {
    let mut sets = read_sets(store)?;
    sets.pop();
    let sets = sets.iter().rev().map(|set| KeptSet {
        published: set.manifest.published,
        listed: set.manifest.listed,
    });
    Ok(sets.collect())
}

/// Copies what is new of the set that now stands, and returns the value that lists it, for the commit that records
/// it.
pub(super) fn keep(
    store: &dyn Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    set: &NewSet,
    (manifest, standing): (&Manifest, &Standing),
) -> Result<Option<(String, Option<String>)>, PublishError> {
    let Some(place) = &request.config.generations else {
        return Ok(None);
    };
    let place = Place::open(place)?;
    for file in &manifest.files {
        place.take(&folder.path(&file.name), &file.file_sha256)?;
    }
    place.sync()?;
    let mut sets = read_sets(store)?;
    if sets.last().is_some_and(|last| last.has_files_of(manifest)) {
        sets.pop();
    }
    sets.push(Generation::of(set, manifest, standing));
    let surplus = sets.len().saturating_sub(KEPT_SETS);
    sets.drain(..surplus);
    Ok(Some(value(&sets)))
}

/// Removes the copies that no listed set has any more.
pub(super) fn sweep(store: &dyn Store, request: &PublishRequest<'_>) -> Result<(), PublishError> {
    let Some(path) = request
        .config
        .generations
        .as_ref()
        .filter(|path| path.is_dir())
    else {
        return Ok(());
    };
    let sets = read_sets(store)?;
    let files = sets.iter().flat_map(|set| &set.manifest.files);
    let named: HashSet<&str> = files.map(|file| file.file_sha256.as_str()).collect();
    for entry in fs::read_dir(path).map_err(failed("read", path))? {
        let entry = entry.map_err(failed("read", path))?;
        let is_named = entry
            .file_name()
            .to_str()
            .is_some_and(|name| named.contains(name));
        if !is_named {
            let path = entry.path();
            fs::remove_file(&path).map_err(failed("remove", &path))?;
        }
    }
    Ok(())
}

/// The folder with the copies.
struct Place {
    path: PathBuf,
}

impl Place {
    fn open(path: &Path) -> Result<Self, PublishError> {
        fs::create_dir_all(path).map_err(failed("create", path))?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Copies the file `from`, whose SHA-256 is `hash`, unless there is such a copy. A file that somebody changed
    /// meanwhile is none of the set.
    fn take(&self, from: &Path, hash: &str) -> Result<(), PublishError> {
        let path = self.path.join(hash);
        if path.is_file() {
            return Ok(());
        }
        let new = self.path.join(format!("{hash}.new"));
        let copy = || -> io::Result<()> {
            let mut source = File::open(from)?;
            let mut copy = File::create(&new)?;
            io::copy(&mut source, &mut copy)?;
            copy.sync_all()
        };
        copy().map_err(failed("copy", from))?;
        if hash_file(&new).map_err(failed("read", &new))? == hash {
            fs::rename(&new, &path).map_err(failed("create", &path))
        } else {
            fs::remove_file(&new).map_err(failed("remove", &new))
        }
    }

    fn sync(&self) -> Result<(), PublishError> {
        sync_folder(&self.path).map_err(failed("sync", &self.path))
    }
}

/// A file of the set that is restored.
struct Restored {
    record: FileRecord,
    url: String,
    role: Role,
    /// `None`: it stands as it is.
    temporary: Option<Temporary>,
    changed: bool,
}

/// Publishes the set again that stood `back` publishes ago, from 1 on, and forgets those behind it. Its files get the
/// time of now where they are not those that stand: for readers they change. Then it is as after any publish: what the
/// guard compares with, and what is remembered for engines, are those of the restored set.
///
/// # Errors
/// The set that stood still does; see [`PublishError`]. [`PublishError::Settings`]: there is no such set.
pub fn roll_back(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    back: usize,
) -> Result<Published, PublishError> {
    let previous = Previous::read(store, request)?;
    let mut sets = read_sets(store)?;
    if sets
        .last()
        .is_some_and(|last| last.has_files_of(&previous.manifest))
    {
        sets.pop();
    }
    let kept = sets.len();
    let place = kept.checked_sub(back).filter(|_| back > 0);
    let Some(generation) = place.and_then(|place| sets.get(place)).cloned() else {
        return Err(PublishError::Settings(format!(
            "rollback: {back} sets back there is none; kept are {kept} besides the one that stands"
        )));
    };
    sets.truncate(kept + 1 - back);
    let output = &request.config.output;
    let explained = |error| disk::explained(error, output);
    let mut folder = if request.dry_run {
        None
    } else {
        if !request.config.force {
            disk::check_mount(store, output)?;
        }
        let rights = Rights::of(request.config)?;
        Some(Folder::open(output, rights).map_err(explained)?)
    };
    let restored = restore(request, &previous, &generation, folder.as_mut());
    let result = restored.and_then(|restored| match &folder {
        None => Ok(summary(&previous, &generation, &restored)),
        Some(folder) => put_in_place(
            store,
            request,
            folder,
            (&previous, &generation, sets),
            &restored,
        ),
    });
    let cleared = folder.map_or(Ok(()), |folder| folder.clear_temporary());
    let mut published = result.map_err(explained)?;
    published.problems.extend(problem(cleared));
    Ok(published)
}

/// Writes a temporary for every file that does not stand as the set has it: parts first, as their index says when
/// they changed.
fn restore(
    request: &PublishRequest<'_>,
    previous: &Previous,
    generation: &Generation,
    mut folder: Option<&mut Folder>,
) -> Result<Vec<Restored>, PublishError> {
    let all = || generation.manifest.files.iter().zip(&generation.files);
    let mut parts = Vec::new();
    for (record, kept) in all().filter(|(_, kept)| kept.members.is_none()) {
        go_on(request)?;
        parts.push(restore_file(
            request,
            previous,
            (record, kept),
            folder.as_deref_mut(),
        )?);
    }
    let mut restored = Vec::with_capacity(generation.files.len());
    for (record, kept) in all() {
        if let Some(members) = &kept.members {
            let members: Vec<&Restored> = members
                .iter()
                .filter_map(|name| parts.iter().find(|part| part.record.name == *name))
                .collect();
            let index = (record, kept, members.as_slice());
            restored.push(restore_index(
                request,
                previous,
                index,
                folder.as_deref_mut(),
            )?);
        }
    }
    restored.extend(parts);
    Ok(restored)
}

/// The time of a change now, as for any publish: later than the recorded one.
fn changed_at(request: &PublishRequest<'_>, known: Option<&FileRecord>) -> Timestamp {
    let now = Timestamp::from_second(request.now.as_second()).unwrap_or(request.now);
    known.map_or(now, |known| now.max(known.lastmod + 1.second()))
}

fn restore_file(
    request: &PublishRequest<'_>,
    previous: &Previous,
    (record, kept): (&FileRecord, &Kept),
    folder: Option<&mut Folder>,
) -> Result<Restored, PublishError> {
    let known = previous.file(&record.name);
    let on_disk = match &folder {
        Some(folder) => {
            if let Some(path) = folder.astray(&record.name) {
                return Err(PublishError::Astray(path));
            }
            folder.hash(&record.name)?
        }
        None => known.map(|known| known.file_sha256.clone()),
    };
    let changed_at = changed_at(request, known);
    let done = |lastmod, temporary, changed| Restored {
        record: FileRecord {
            lastmod,
            ..record.clone()
        },
        url: kept.url.clone(),
        role: role_of(kept),
        temporary,
        changed,
    };
    if on_disk.as_ref() == Some(&record.file_sha256) {
        let since = known
            .filter(|known| known.file_sha256 == record.file_sha256)
            .map(|known| known.lastmod)
            .or_else(|| folder.and_then(|folder| folder.modified(&record.name)));
        return Ok(done(since.unwrap_or(changed_at), None, false));
    }
    let copy = request.config.generations.as_ref();
    let copy = copy.map(|place| place.join(&record.file_sha256));
    let copy = copy.filter(|path| path.is_file()).ok_or_else(|| {
        PublishError::Settings(format!(
            "rollback: the copy of {} is missing beside the state",
            record.name
        ))
    })?;
    let Some(folder) = folder else {
        return Ok(done(changed_at, None, true));
    };
    let (path, mut file) = folder.create_temporary()?;
    let mut source = File::open(&copy).map_err(failed("read", &copy))?;
    io::copy(&mut source, &mut file).map_err(failed("write", &path))?;
    let temporary = Folder::finish_temporary(path, &file, changed_at)?;
    if temporary.file_sha256 != record.file_sha256 {
        return Err(PublishError::Settings(format!(
            "rollback: {} is not the copy of {} that it was",
            copy.display(),
            record.name
        )));
    }
    Ok(done(changed_at, Some(temporary), true))
}

/// An index names when its files changed, so it is written anew.
fn restore_index(
    request: &PublishRequest<'_>,
    previous: &Previous,
    (record, kept, members): (&FileRecord, &Kept, &[&Restored]),
    folder: Option<&mut Folder>,
) -> Result<Restored, PublishError> {
    let broken = |problem: String| PublishError::Check {
        name: record.name.clone(),
        problem,
    };
    let location = if request.config.schema_location {
        SchemaLocation::Written
    } else {
        SchemaLocation::Omitted
    };
    let text = Vec::new();
    let mut writer = IndexWriter::with_schema_location(text, Limits::PROTOCOL, location)
        .map_err(|error| broken(error.to_string()))?;
    for member in members {
        let loc = Loc::parse(&member.url).map_err(|error| broken(error.to_string()))?;
        let lastmod = LastMod::from_timestamp(member.record.lastmod);
        let entry = IndexEntry::new(loc).with_lastmod(lastmod);
        match writer
            .push(&entry)
            .map_err(|error| broken(error.to_string()))?
        {
            Push::Written => {}
            Push::Full => return Err(broken("it names more than the protocol allows".to_owned())),
        }
    }
    let (text, summary) = writer.finish().map_err(|error| broken(error.to_string()))?;
    let url = Loc::parse(&kept.url).map_err(|error| broken(error.to_string()))?;
    let mut expectation = read::Expectation::new(read::Kind::Index, &url);
    expectation.entries = Some(summary.entries);
    read::check(text.as_slice(), &expectation).map_err(|error| broken(error.to_string()))?;
    let mut hash = Sha256::new();
    hash.update(&text);
    let sha256 = hex(hash);
    let known = previous.file(&record.name);
    let on_disk = match &folder {
        Some(folder) => folder.hash(&record.name)?,
        None => known.map(|known| known.file_sha256.clone()),
    };
    let changed_at = changed_at(request, known);
    let changed = on_disk.as_ref() != Some(&sha256);
    let lastmod = known.map(|known| known.lastmod).filter(|_| !changed);
    let temporary = match folder.filter(|_| changed) {
        None => None,
        Some(folder) => {
            let (path, mut file) = folder.create_temporary()?;
            file.write_all(&text).map_err(failed("write", &path))?;
            Some(Folder::finish_temporary(path, &file, changed_at)?)
        }
    };
    Ok(Restored {
        record: FileRecord {
            name: record.name.clone(),
            file_sha256: sha256.clone(),
            sha256,
            entries: summary.entries,
            bytes: summary.bytes,
            lastmod: lastmod.unwrap_or(changed_at),
        },
        url: kept.url.clone(),
        role: Role::Entrance,
        temporary,
        changed,
    })
}

fn role_of(kept: &Kept) -> Role {
    if kept.is_entrance {
        Role::Entrance
    } else {
        Role::Part
    }
}

/// The moment of change, and what is remembered of it.
fn put_in_place(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    (previous, generation, mut sets): (&Previous, &Generation, Vec<Generation>),
    restored: &[Restored],
) -> Result<Published, PublishError> {
    let changes: Vec<Change<'_>> = restored
        .iter()
        .filter_map(|file| {
            Some(Change {
                record: &file.record,
                role: file.role,
                temporary: file.temporary.as_ref()?,
            })
        })
        .collect();
    let intended: Contents = previous.intended(folder)?;
    go_on(request)?;
    let backups = install::make_way(request, folder, (previous, &intended), &changes)?;
    let mut problems = install::install(folder, &changes)?;
    let mut published = summary(previous, generation, restored);
    if problems.is_empty() {
        let mut manifest = Manifest::new(
            &previous.manifest.site,
            &previous.manifest.output,
            request.now,
        );
        manifest.listed = generation.manifest.listed;
        manifest.layout.clone_from(&generation.manifest.layout);
        manifest.files = restored.iter().map(|file| file.record.clone()).collect();
        let is_named = |name: &str| restored.iter().any(|file| file.record.name == name);
        manifest.dropped = previous.dropped(&intended, is_named, request.now);
        let manifest = install::remove_dropped(request, folder, manifest, &mut problems);
        let recorded = stage(store, request, restored, folder).and_then(|journal| {
            let files = restored.iter().map(|file| Kept {
                url: file.url.clone(),
                is_entrance: file.role == Role::Entrance,
                members: generation
                    .manifest
                    .files
                    .iter()
                    .zip(&generation.files)
                    .find(|(record, _)| record.name == file.record.name)
                    .and_then(|(_, kept)| kept.members.clone()),
            });
            sets.pop();
            sets.push(Generation {
                files: files.collect(),
                manifest: manifest.clone(),
                ..generation.clone()
            });
            // The index is another file than it was.
            if let Some(place) = &request.config.generations {
                let place = Place::open(place)?;
                for file in &manifest.files {
                    place.take(&folder.path(&file.name), &file.file_sha256)?;
                }
                place.sync()?;
            }
            let record = Record {
                manifest: &manifest,
                standing: &generation.standing,
                remembered: &generation.remembered,
                generations: Some(value(&sets)),
                run: None,
            };
            install::record(store, request, folder, previous, record)?;
            sweep(store, request)?;
            Ok(journal)
        });
        match recorded {
            Ok(journal) => published.journal = journal,
            Err(error) => problems.extend(problem(Err(error))),
        }
    }
    published.notices.extend(backups);
    published.problems = problems;
    Ok(published)
}

fn summary(previous: &Previous, generation: &Generation, restored: &[Restored]) -> Published {
    let files = restored.iter().map(|file| PublishedFile {
        name: file.record.name.clone(),
        url: file.url.clone(),
        entries: file.record.entries,
        bytes: file.record.bytes,
        changed: file.changed,
    });
    let is_named = |name: &str| restored.iter().any(|file| file.record.name == name);
    let dropped = previous.manifest.files.iter().map(|file| &file.name);
    Published {
        files: files.collect(),
        sitemap_urls: generation.standing.sitemaps.clone(),
        listed: generation.manifest.listed,
        dropped: dropped.filter(|name| !is_named(name)).cloned().collect(),
        ..Published::default()
    }
}

/// Stages what is remembered of the published set from now on: the entries of the restored files. What they say of a
/// content is not known, so only URLs that come and go are news.
fn stage(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    restored: &[Restored],
    folder: &Folder,
) -> Result<Journal, PublishError> {
    let commit = |store: &mut dyn Store, step| {
        store.commit(&Commit {
            run: request.run,
            outbox: vec![step],
            ..Commit::default()
        })
    };
    commit(store, OutboxStep::Unstage)?;
    let mut before = HashSet::new();
    walk(store, |key| {
        before.insert(key.fingerprint());
    })?;
    let mut journal = Journal::default();
    let mut now_listed = HashSet::new();
    let mut found = Vec::new();
    for file in restored
        .iter()
        .filter(|file| lists_pages(&file.record.name, restored))
    {
        let path = folder.path(&file.record.name);
        let open = File::open(&path).map_err(failed("read", &path))?;
        let reader = Reader::new(BufReader::new(open), Limits::PROTOCOL);
        for item in reader {
            let Ok(Item::Url(entry)) = item else { continue };
            let Ok(key) = UrlKey::from_normalised(entry.loc.as_str()) else {
                continue;
            };
            let is_new = !before.contains(&key.fingerprint());
            if !now_listed.insert(key.fingerprint()) {
                continue;
            }
            journal.added += u64::from(is_new);
            found.push(Difference {
                key,
                change: is_new.then_some(UrlChange::Added),
                listing: Some(Listing {
                    lastmod: entry.lastmod.as_ref().map(ToString::to_string),
                    content: None,
                }),
            });
            if found.len() >= CHUNK {
                commit(store, OutboxStep::Stage(std::mem::take(&mut found)))?;
            }
        }
    }
    let mut removed = Vec::new();
    walk(store, |key| {
        if !now_listed.contains(&key.fingerprint()) {
            removed.push(key.clone());
        }
    })?;
    journal.removed = removed.len() as u64;
    found.extend(removed.into_iter().map(|key| Difference {
        key,
        change: Some(UrlChange::Removed),
        listing: None,
    }));
    commit(store, OutboxStep::Stage(found))?;
    Ok(journal)
}

/// Whether the file is one of those that list every page once: XML, or text where there is no XML.
fn lists_pages(name: &str, restored: &[Restored]) -> bool {
    let is = |name: &str, ends: [&str; 2]| ends.iter().any(|end| name.ends_with(end));
    let is_xml = |name: &str| is(name, [".xml", ".xml.gz"]) && !name.starts_with("sitemap-news");
    let has_xml_parts = restored
        .iter()
        .any(|file| is_xml(&file.record.name) && file.role != Role::Entrance);
    if has_xml_parts || !is(name, [".txt", ".txt.gz"]) {
        is_xml(name)
    } else {
        true
    }
}

/// Visits the published URLs that are remembered.
fn walk(store: &dyn Store, mut visit: impl FnMut(&UrlKey)) -> Result<(), PublishError> {
    let mut after = None;
    loop {
        let portion = store.published(after.as_ref(), CHUNK)?;
        let Some((last, _)) = portion.last() else {
            return Ok(());
        };
        after = Some(last.clone());
        for (key, _) in &portion {
            visit(key);
        }
    }
}
