//! What a state that begins with nothing is told of the set that stands, because the state that published
//! it is damaged or lost: what can be read of the old state, and the dates in the published files. It only
//! reads the output. A state that is older than the set begins with nothing too: what its runs decided is not what stands,
//! and of what its ledger knows only that counts which the files say as well.
//!
//! What the contents were then is not known from the files. So a date that is read back stays until a change
//! of its page is seen, whatever the page states; the first crawl makes the ledger whole again. Which URLs are published
//! is remembered too: the guard asks what became of them, and to the first run they are pages that were listed before, which
//! it asks for and which leave on evidence only. They are of run 0, which no run is.

use std::{fs, io::BufReader, path::Path};

use jiff::Timestamp;
use sitemap_core::{
    Limits, UrlEntry,
    read::{Item, Kind, Reader},
};

use super::{
    LEDGER_BATCH, MANIFEST, RUN, carry_journal, carry_ledger, carry_values, folder::hash_file,
    previous, recall_own_files, survey,
};
use crate::{
    machine::open_regular,
    page::{DateSource, Reason, Via},
    runs,
    site::Site,
    store::{
        Commit, Discovery, LedgerEntry, Store, StoreError, StoreErrorKind,
        outbox::{Difference, Listing, OutboxStep, Tell},
        undo::UndoStep,
    },
    url_key::UrlKey,
};

/// How many hops away from the start pages count as whose place on the site nobody knows: as what a sitemap names does.
const DEPTH: u32 = 1;

/// What was read back from the published files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recalled {
    /// Files of the set that stand as they were published.
    pub files: u64,
    /// Pages that they list, as often as they do.
    pub pages: u64,
    /// Pages whose `lastmod` was not known any more, or was another one.
    pub dates: u64,
    /// The state was that of an older set, and what its runs found is forgotten.
    pub was_outdated: bool,
}

/// Fills the new state of a site, in the place of a damaged one, of which `old` is what can still be read:
/// what [`super::carry_over`] takes over, each part as far as it is whole, and what [`recall`] finds.
///
/// # Errors
/// The new store failed, or the old one in another way than by its damage.
pub fn salvage(
    old: Option<&dyn Store>,
    new: &mut dyn Store,
    site: &Site,
    output: &Path,
) -> Result<Recalled, StoreError> {
    if let Some(old) = old {
        for carry in [carry_values, carry_journal, carry_ledger] {
            match carry(old, new) {
                Err(error) if error.kind() == StoreErrorKind::Corrupt => {
                    tracing::debug!(target: "publish", "a part of the damaged state is lost: {error}");
                }
                carried => carried?,
            }
        }
    }
    let was_outdated = forget_outdated(new, site, output)?;
    recall_own_files(new, site, output)?;
    let dates = if was_outdated {
        Dates::OfFiles
    } else {
        Dates::OfLedger
    };
    let recalled = Reading::new(new, site, Pages::Known, dates)?.read(output)?;
    Ok(Recalled {
        was_outdated,
        ..recalled
    })
}

/// Tells a state that knows of no published set, or of an older one, what stands in the folder `output`, if that is one of
/// this site: which files are ours, which pages they list, and the `lastmod` of each page. What the ledger knows of a page
/// stays where it says the same.
///
/// # Errors
/// The store failed. A file that cannot be read, or is not as it was published, is left out.
pub fn recall(store: &mut dyn Store, site: &Site, output: &Path) -> Result<Recalled, StoreError> {
    recall_as(store, site, output, Pages::Known)
}

/// Reads the published set back for a state that is begun anew because everything is to be forgotten: the pages are published, and no run
/// knows of them.
///
/// # Errors
/// As [`recall`].
pub fn recall_dates(
    store: &mut dyn Store,
    site: &Site,
    output: &Path,
) -> Result<Recalled, StoreError> {
    recall_as(store, site, output, Pages::Forgotten)
}

fn recall_as(
    store: &mut dyn Store,
    site: &Site,
    output: &Path,
    pages: Pages,
) -> Result<Recalled, StoreError> {
    let was_outdated = forget_outdated(store, site, output)?;
    recall_own_files(store, site, output)?;
    if store.value(MANIFEST)?.is_some() {
        return Ok(Recalled::default());
    }
    // Whoever was ended in the midst of this knows no more whether the state was outdated.
    let recalled = Reading::new(store, site, pages, Dates::OfFiles)?.read(output)?;
    Ok(Recalled {
        was_outdated,
        ..recalled
    })
}

/// Makes a state that is older than the set in `output` one that knows of no set; whether it was.
fn forget_outdated(store: &mut dyn Store, site: &Site, output: &Path) -> Result<bool, StoreError> {
    let is_outdated = previous::is_outdated(store, &site.written().name(), output)?;
    if is_outdated {
        let forgotten = [MANIFEST, RUN, survey::REMEMBERED];
        let mut values: Vec<_> = forgotten.map(|name| (name.to_owned(), None)).into();
        values.push(runs::finished());
        store.commit(&Commit {
            values,
            outbox: vec![OutboxStep::Undo(UndoStep::ForgetRuns)],
            ..Commit::default()
        })?;
    }
    Ok(is_outdated)
}

/// What the pages of the set are to the next run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pages {
    /// They were listed before.
    Known,
    /// Nothing.
    Forgotten,
}

/// Which date a page has, when the ledger knows of another one than the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dates {
    /// That of the files, which is the newer one.
    OfFiles,
    /// That of the ledger, which says what it is of.
    OfLedger,
}

/// How a set is read back.
struct Reading<'a> {
    store: &'a mut dyn Store,
    site: &'a Site,
    pages: Pages,
    dates: Dates,
    /// Which URLs are published is known already.
    knows_set: bool,
    recalled: Recalled,
    found: Vec<Discovery>,
    listed: Vec<Difference>,
    dated: Vec<(UrlKey, LedgerEntry)>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    /// Its entries are known.
    Entries,
    /// It is a list without dates, which the sitemaps say better.
    List,
    /// It has nothing that the others do not have: an index, or a feed.
    Nothing,
    /// It is not there, or not as it was published.
    Unreadable,
}

impl<'a> Reading<'a> {
    fn new(
        store: &'a mut dyn Store,
        site: &'a Site,
        pages: Pages,
        dates: Dates,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            knows_set: !store.published(None, 1)?.is_empty(),
            store,
            site,
            pages,
            dates,
            recalled: Recalled::default(),
            found: Vec::new(),
            listed: Vec::new(),
            dated: Vec::new(),
        })
    }

    /// Reads all files of the set in the folder `output`.
    fn read(mut self, output: &Path) -> Result<Recalled, StoreError> {
        let contents = previous::own_contents(output, &self.site.written().name());
        let mut lists = Vec::new();
        let (mut has_sitemaps, mut is_whole) = (false, true);
        for (name, hashes) in contents.unwrap_or_default() {
            let path = output.join(&name);
            match self.read_file(&path, &hashes, Kind::UrlSet)? {
                Read::Entries => has_sitemaps = true,
                Read::List => lists.push((path, hashes)),
                Read::Nothing => {}
                Read::Unreadable => is_whole = false,
            }
        }
        for (path, hashes) in lists.iter().filter(|_| !has_sitemaps) {
            self.read_file(path, hashes, Kind::Text)?;
        }
        self.store_batch()?;
        self.settle(is_whole, output)?;
        Ok(self.recalled)
    }

    /// Reads the file `path`, which may have one of these `hashes`, if it is of this kind.
    fn read_file(
        &mut self,
        path: &Path,
        hashes: &[String],
        wanted: Kind,
    ) -> Result<Read, StoreError> {
        let is_file = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
        if !is_file || !hash_file(path).is_ok_and(|hash| hashes.contains(&hash)) {
            return Ok(Read::Unreadable);
        }
        let Ok(file) = open_regular(path) else {
            return Ok(Read::Unreadable);
        };
        // A list is read a second time.
        self.recalled.files += u64::from(wanted == Kind::UrlSet);
        // It was checked when it was published, and is the same.
        let mut reader = Reader::new(BufReader::new(file), Limits::PROTOCOL);
        while let Some(item) = reader.next() {
            let Ok(item) = item else {
                return Ok(Read::Unreadable);
            };
            // A feed states dates in another form.
            let kind = reader.kind();
            let (Item::Url(entry), true) = (item, kind == Some(wanted)) else {
                break;
            };
            self.take(entry, wanted)?;
        }
        Ok(match reader.kind() {
            Some(kind) if kind == wanted => Read::Entries,
            Some(Kind::Text) => Read::List,
            Some(_) | None => Read::Nothing,
        })
    }

    /// Takes the entry of a page from a file of this kind.
    fn take(&mut self, entry: UrlEntry, kind: Kind) -> Result<(), StoreError> {
        let Ok(written) = UrlKey::from_normalised(entry.loc.as_str()) else {
            return Ok(());
        };
        self.recalled.pages += 1;
        let lastmod = entry.lastmod.map(|lastmod| lastmod.to_string());
        if let Some(key) = self.site.crawled_key(&written) {
            if self.pages == Pages::Known && self.store.page(&key)?.is_none() {
                self.found.push(published(key.clone()));
            }
            let known = self.store.ledger(&key)?;
            let known_date = known.as_ref().map(|known| known.lastmod.as_ref());
            // A list says nothing of dates.
            let is_another = match (known_date, self.dates) {
                (None, _) => lastmod.is_some(),
                (Some(known), Dates::OfFiles) => kind == Kind::UrlSet && known != lastmod.as_ref(),
                (Some(_), Dates::OfLedger) => false,
            };
            if is_another {
                self.recalled.dates += u64::from(lastmod.is_some());
                self.dated.push((key, dated(lastmod.clone())));
            }
        }
        if !self.knows_set {
            self.listed.push(listing(written, lastmod));
        }
        let batches = [self.found.len(), self.listed.len(), self.dated.len()];
        if batches.into_iter().any(|entries| entries >= LEDGER_BATCH) {
            self.store_batch()?;
        }
        Ok(())
    }

    /// Stores what was taken so far.
    fn store_batch(&mut self) -> Result<(), StoreError> {
        self.store.set_ledger(&self.dated)?;
        self.dated.clear();
        let listed = std::mem::take(&mut self.listed);
        self.store.commit(&Commit {
            discovered: std::mem::take(&mut self.found),
            outbox: vec![OutboxStep::Stage(listed)],
            ..Commit::default()
        })
    }

    /// From now on it is what is known of the set that stands.
    fn settle(&mut self, is_whole: bool, output: &Path) -> Result<(), StoreError> {
        let mut commit = Commit {
            outbox: vec![OutboxStep::Take {
                since: Timestamp::UNIX_EPOCH,
                tell: Tell::Nobody,
            }],
            ..Commit::default()
        };
        if self.pages == Pages::Known && self.recalled.pages > 0 {
            // What runs decide counts from their first publish on.
            commit.outbox.push(OutboxStep::Undo(UndoStep::Disown));
            let run = (RUN.to_owned(), Some("0".to_owned()));
            commit.values.extend(Some(run).filter(|_| is_whole));
        }
        if survey::recall(self.store)?.is_none() {
            let remembered = previous::remembered(output, &self.site.written().name());
            commit.values.extend(remembered.map(|last| last.value()));
        }
        self.store.commit(&commit)
    }
}

/// A page that was listed before the first run.
fn published(key: UrlKey) -> Discovery {
    Discovery {
        key,
        sequence: 0,
        depth: DEPTH,
        hops: 0,
        via: Via::Earlier,
        found_on: None,
        reason: Reason::KeptNotReached,
    }
}

/// That a page stands in a published file.
fn listing(written: UrlKey, lastmod: Option<String>) -> Difference {
    Difference {
        key: written,
        change: None,
        listing: Some(Listing {
            lastmod,
            content: None,
        }),
    }
}

/// What the ledger remembers of a page that stands in a published file with this date, or without one.
fn dated(lastmod: Option<String>) -> LedgerEntry {
    LedgerEntry {
        // No hash has this version: nothing can be compared with it.
        hash_version: 0,
        source: lastmod.is_some().then_some(DateSource::History),
        lastmod,
        ..LedgerEntry::default()
    }
}
