//! Reads a published set back into the page rows: one that the state does not know, because the state is lost or older, or
//! because `build` or somebody else made the set; and a set that was restored.
//!
//! When an entry and its row agree, the row stays. Otherwise the row has the `lastmod` and the extensions of the entry, and
//! loses hash and validators, which belong to another content. Rows that are not in the set are not listed any more.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    io::BufReader,
    ops::ControlFlow,
    path::Path,
};

use jiff::Timestamp;
use sitemap_core::{
    Limits, UrlEntry,
    read::{Item, Kind, Reader},
};

use super::{
    commit,
    folder::{canonical, hash_file},
    manifest::Manifest,
    pending::Pending,
    previous,
};
use crate::{
    crawl_state::{self, Phase},
    machine::open_regular,
    page::{DateSource, LedgerEntry, Outcome, Page, PageRecord, Reason, State, Supplied, Via},
    report::{SetChange, SetChanges},
    seeds::OwnFiles,
    site::Site,
    store::{
        Effect, MetaValue, PageLinks, PageRow, Shown, Store, StoreError,
        outbox::{NOTIFIES_ENGINES, OutboxStep, UrlChange},
    },
    url_key::UrlKey,
};

/// Rows of one commit. Tests interrupt an import between two commits of a small site.
const BATCH: usize = if cfg!(test) { 15 } else { 1_000 };

/// The depth of a page that nothing led to: no limit of depth keeps it out.
const DEPTH: u32 = 0;

/// Counts of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Sitemaps that were read.
    pub files: u64,
    /// URLs in them.
    pub pages: u64,
    /// Imported pages whose values differ from the state.
    pub changed: u64,
    /// URLs that the state had as listed and that are not in the set.
    pub removed: u64,
    /// Files that are missing, or not as they were published. Then no URL counts as not in the set.
    pub unreadable: u64,
    /// Differences between what the state had as listed and the set.
    pub changes: SetChanges,
}

/// Returns whether the set in the folder `output` is one of `site` that the state neither published nor read back.
///
/// # Errors
/// The store cannot be read.
pub fn needs_import(store: &Store, site: &Site, output: &Path) -> Result<bool, StoreError> {
    let unknown = previous::unknown_set(store, &site.written().name(), output)?;
    Ok(unknown.is_some())
}

/// Reads the set in the folder `output` back, if it is one of `site`. Deletes all visits; the next crawl is a new one. Engines
/// are notified of nothing.
///
/// # Errors
/// The store failed. A file that cannot be read is left out.
pub fn import_set(
    store: &mut Store,
    site: &Site,
    output: &Path,
    now: Timestamp,
) -> Result<Imported, StoreError> {
    let Some(mut manifest) = previous::copied(&site.written().name(), output) else {
        return Ok(Imported::default());
    };
    manifest.output = canonical(output);
    read_back(store, site, &manifest, now, false)
}

/// Reads back the set of this manifest; engines are notified of what changes when it `notifies`.
pub(super) fn read_back(
    store: &mut Store,
    site: &Site,
    manifest: &Manifest,
    now: Timestamp,
    notifies: bool,
) -> Result<Imported, StoreError> {
    let mut import = SetImport {
        notifies: notifies && store.value(NOTIFIES_ENGINES)?.is_some(),
        store,
        site,
        now,
        imported: Imported::default(),
        seen: HashSet::new(),
        rows: Vec::new(),
        changes: Vec::new(),
    };
    import.read(manifest)?;
    import.leave_out_others()?;
    let SetImport {
        store, imported, ..
    } = import;
    let mut values = vec![
        manifest.value(),
        crawl_state::phase_value(Phase::Finished),
        Pending::none(),
    ];
    values.extend(own_files(store, manifest)?);
    let mut end = Effect::values(values);
    end.push(Effect::ClearVisits);
    commit(store, &end)?;
    Ok(imported)
}

/// The value that notes the new files of a set as ours, if there are any.
pub(super) fn own_files(
    store: &Store,
    manifest: &Manifest,
) -> Result<Option<MetaValue>, StoreError> {
    let mut own = OwnFiles::load(store)?;
    let mut has_new = false;
    for hash in manifest.hashes() {
        has_new |= own.add(hash);
    }
    Ok(has_new.then(|| own.value()))
}

/// A set that is read back.
struct SetImport<'a> {
    store: &'a mut Store,
    site: &'a Site,
    now: Timestamp,
    notifies: bool,
    imported: Imported,
    /// Fingerprints of the URLs of the set: 16 bytes each.
    seen: HashSet<u64>,
    rows: Vec<Effect>,
    changes: Vec<(UrlKey, UrlChange)>,
}

/// Result of reading a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileRead {
    /// The entries were taken.
    Entries,
    /// A list without dates: the sitemaps have the same URLs with dates.
    List,
    /// An index or a feed: the sitemaps have the same URLs.
    Nothing,
    /// The file is missing, or not as it was published.
    Unreadable,
}

impl SetImport<'_> {
    fn read(&mut self, manifest: &Manifest) -> Result<(), StoreError> {
        let output = Path::new(&manifest.output);
        let files: BTreeMap<_, _> = manifest
            .files
            .iter()
            .map(|file| (output.join(&file.name), file.file_sha256.as_str()))
            .collect();
        let mut lists = Vec::new();
        let mut has_sitemaps = false;
        for (path, hash) in &files {
            match self.read_file(path, hash, Kind::UrlSet)? {
                FileRead::Entries => has_sitemaps = true,
                FileRead::List => lists.push((path, hash)),
                FileRead::Nothing => {}
                FileRead::Unreadable => self.imported.unreadable += 1,
            }
        }
        for (path, hash) in lists.into_iter().filter(|_| !has_sitemaps) {
            self.read_file(path, hash, Kind::Text)?;
        }
        self.write()
    }

    /// Reads the file `path`, whose SHA-256 has to be `hash`, if it is of this kind.
    fn read_file(&mut self, path: &Path, hash: &str, wanted: Kind) -> Result<FileRead, StoreError> {
        let is_file = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
        if !is_file || !hash_file(path).is_ok_and(|found| found == hash) {
            return Ok(FileRead::Unreadable);
        }
        let Ok(file) = open_regular(path) else {
            return Ok(FileRead::Unreadable);
        };
        // A list is read a second time.
        self.imported.files += u64::from(wanted == Kind::UrlSet);
        let mut reader = Reader::new(BufReader::new(file), Limits::PROTOCOL);
        while let Some(item) = reader.next() {
            let Ok(item) = item else {
                return Ok(FileRead::Unreadable);
            };
            // A feed states dates in another form.
            let kind = reader.kind();
            let (Item::Url(entry), true) = (item, kind == Some(wanted)) else {
                break;
            };
            self.take_entry(entry, wanted)?;
        }
        Ok(match reader.kind() {
            Some(kind) if kind == wanted => FileRead::Entries,
            Some(Kind::Text) => FileRead::List,
            Some(_) | None => FileRead::Nothing,
        })
    }

    /// Takes the entry of a page from a file of this kind.
    fn take_entry(&mut self, entry: UrlEntry, kind: Kind) -> Result<(), StoreError> {
        let Ok(written) = UrlKey::from_normalised(entry.loc.as_str()) else {
            return Ok(());
        };
        let Some(key) = self.site.crawled_key(&written) else {
            return Ok(());
        };
        // An article is in two files.
        if !self.seen.insert(key.fingerprint()) {
            return Ok(());
        }
        self.imported.pages += 1;
        let lastmod = entry.lastmod.as_ref().map(ToString::to_string);
        let (before, _) = self.store.rows(&key)?;
        let listed = before
            .as_ref()
            .filter(|page| page.record.reason.state() == State::Listed);
        let known = listed.map(|page| {
            let dates = page.dates.as_ref();
            dates.and_then(|dates| dates.lastmod.as_ref())
        });
        let (change, set_change) = match known {
            // A list has no dates.
            Some(_) if kind == Kind::Text => return Ok(()),
            Some(known) if known == lastmod.as_ref() => return Ok(()),
            // The page is the same; only its entry is another.
            Some(_) => (None, SetChange::LastmodMoved),
            None => (Some(UrlChange::Added), SetChange::Added),
        };
        self.note_change(set_change, &written);
        let page = self.page(before.as_ref(), entry, lastmod);
        self.imported.changed += 1;
        self.push(key, page, change)
    }

    /// The page row of an entry.
    fn page(&self, before: Option<&Page>, entry: UrlEntry, lastmod: Option<String>) -> Page {
        let supplied = Supplied {
            changefreq: entry.changefreq,
            priority: entry.priority,
            extensions: entry.extensions,
            ..Supplied::default()
        };
        let outcome = if supplied == Supplied::default() {
            Outcome::PUBLISHED
        } else {
            Outcome::Supplied(Box::new(supplied))
        };
        let found = before.map(|page| &page.record);
        Page {
            record: PageRecord {
                found_on: found.and_then(|found| found.found_on.clone()),
                outcome: Some(outcome),
                ..PageRecord::new(
                    Reason::NotReached,
                    found.map_or(DEPTH, |found| found.depth),
                    found.map_or(Via::Earlier, |found| found.via),
                )
            },
            crawl: before.and_then(|page| page.crawl),
            first_seen: before.map_or(self.now, |page| page.first_seen),
            last_seen: self.now,
            dates: Some(LedgerEntry {
                // No hash has this version: nothing can be compared with it.
                hash_version: 0,
                source: lastmod.is_some().then_some(DateSource::Imported),
                lastmod,
                ..LedgerEntry::default()
            }),
        }
    }

    /// Makes the listed rows that are not in the set unlisted ones.
    fn leave_out_others(&mut self) -> Result<(), StoreError> {
        if self.imported.unreadable > 0 {
            return Ok(());
        }
        let mut from = None;
        loop {
            let mut others = Vec::new();
            let mut next = None;
            let (seen, now) = (&self.seen, self.now);
            self.store
                .each(from.as_ref(), Shown::Outline, &mut |rows| {
                    if others.len() == BATCH {
                        next = Some(rows.key.clone());
                        return Ok(ControlFlow::Break(()));
                    }
                    if rows.is_listed()?
                        && !seen.contains(&rows.key.fingerprint())
                        && let Some(mut page) = rows.page()?
                    {
                        page.record.reason = Reason::NotInSet;
                        page.last_seen = now;
                        others.push((rows.key.clone(), page));
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
            for (key, page) in others {
                self.imported.removed += 1;
                if let Some(written) = self.site.written_key(&key) {
                    self.note_change(SetChange::Removed, &written);
                }
                self.push(key, page, Some(UrlChange::Removed))?;
            }
            self.write()?;
            from = next;
            if from.is_none() {
                return Ok(());
            }
        }
    }

    fn note_change(&mut self, change: SetChange, written: &UrlKey) {
        let changes = &mut self.imported.changes;
        changes.add(change, written.as_str(), SetChanges::MAX_NAMED);
    }

    fn push(
        &mut self,
        key: UrlKey,
        page: Page,
        change: Option<UrlChange>,
    ) -> Result<(), StoreError> {
        let written = self.site.written_key(&key).filter(|_| self.notifies);
        self.changes.extend(written.zip(change));
        self.rows.push(Effect::Page(Box::new(PageRow {
            key,
            page,
            links: PageLinks::Own,
            promotion: None,
        })));
        if self.rows.len() < BATCH {
            return Ok(());
        }
        self.write()
    }

    /// Commits the entries so far.
    fn write(&mut self) -> Result<(), StoreError> {
        let mut batch = std::mem::take(&mut self.rows);
        if self.notifies {
            batch.push(Effect::Outbox(OutboxStep::Add {
                changes: std::mem::take(&mut self.changes),
                since: self.now,
            }));
        }
        commit(self.store, &batch)
    }
}
