//! What a state that begins with nothing is told of the set that stands, because the state that published
//! it is damaged or lost: what can be read of the old state, and the dates in the published files. It only
//! reads the output.
//!
//! What the contents were then is not known from the files. So a date that is read back stays until a change
//! of its page is seen, whatever the page states; the first crawl makes the ledger whole again. Which URLs are published
//! is remembered too: the guard asks what became of them.

use std::{
    fs::{self, File},
    io::BufReader,
    path::Path,
};

use jiff::Timestamp;
use sitemap_core::{
    Limits, UrlEntry,
    read::{Item, Kind, Reader},
};

use super::{
    LEDGER_BATCH, MANIFEST, carry_journal, carry_ledger, carry_values, folder::hash_file, previous,
    recall_own_files,
};
use crate::{
    page::DateSource,
    site::Site,
    store::{
        Commit, LedgerEntry, Store, StoreError, StoreErrorKind,
        outbox::{Difference, Listing, OutboxStep, Tell},
    },
    url_key::UrlKey,
};

/// What was read back from the published files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recalled {
    /// Files of the set that stand as they were published.
    pub files: u64,
    /// Pages whose `lastmod` was not known any more.
    pub dates: u64,
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
    recall_own_files(new, site, output)?;
    read_back(new, site, output)
}

/// Tells a state that knows of no published set what stands in the folder `output`, if that is one of this
/// site: which files are ours, and the `lastmod` of each page of which the ledger knows nothing.
///
/// # Errors
/// The store failed. A file that cannot be read, or is not as it was published, is left out.
pub fn recall(store: &mut dyn Store, site: &Site, output: &Path) -> Result<Recalled, StoreError> {
    recall_own_files(store, site, output)?;
    if store.value(MANIFEST)?.is_some() {
        return Ok(Recalled::default());
    }
    read_back(store, site, output)
}

fn read_back(store: &mut dyn Store, site: &Site, output: &Path) -> Result<Recalled, StoreError> {
    let mut recalled = Recalled::default();
    let knows_set = !store.published(None, 1)?.is_empty();
    let contents = previous::own_contents(output, &site.written().name());
    for (name, hashes) in contents.unwrap_or_default() {
        let path = output.join(&name);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file());
        if !is_file || !hash_file(&path).is_ok_and(|hash| hashes.contains(&hash)) {
            continue;
        }
        let Ok(file) = File::open(&path) else {
            continue;
        };
        recalled.files += 1;
        // It was checked when it was published, and is the same.
        let mut reader = Reader::new(BufReader::new(file), Limits::PROTOCOL);
        let mut batch = Vec::with_capacity(LEDGER_BATCH);
        let mut listed = Vec::with_capacity(LEDGER_BATCH);
        while let Some(item) = reader.next() {
            // A feed states dates in another form.
            let is_urlset = reader.kind() == Some(Kind::UrlSet);
            let (Ok(Item::Url(entry)), true) = (item, is_urlset) else {
                break;
            };
            if !knows_set {
                listed.extend(listing(&entry));
            }
            if listed.len() == LEDGER_BATCH {
                remember(store, OutboxStep::Stage(std::mem::take(&mut listed)))?;
            }
            let Some((key, entry)) = dated(site, entry) else {
                continue;
            };
            if store.ledger(&key)?.is_none() {
                recalled.dates += 1;
                batch.push((key, entry));
            }
            if batch.len() == LEDGER_BATCH {
                store.set_ledger(&batch)?;
                batch.clear();
            }
        }
        store.set_ledger(&batch)?;
        remember(store, OutboxStep::Stage(listed))?;
    }
    let take = OutboxStep::Take {
        since: Timestamp::UNIX_EPOCH,
        tell: Tell::Nobody,
    };
    remember(store, take)?;
    Ok(recalled)
}

fn remember(store: &mut dyn Store, step: OutboxStep) -> Result<(), StoreError> {
    store.commit(&Commit {
        outbox: vec![step],
        ..Commit::default()
    })
}

/// That a page stands in a published file.
fn listing(entry: &UrlEntry) -> Option<Difference> {
    Some(Difference {
        key: UrlKey::from_normalised(entry.loc.as_str()).ok()?,
        change: None,
        listing: Some(Listing {
            lastmod: entry.lastmod.as_ref().map(ToString::to_string),
            content: None,
        }),
    })
}

/// What the ledger remembers of a page that stands in a published file with a date.
fn dated(site: &Site, entry: UrlEntry) -> Option<(UrlKey, LedgerEntry)> {
    let lastmod = entry.lastmod?.to_string();
    let written = UrlKey::from_normalised(entry.loc.as_str()).ok()?;
    let known = LedgerEntry {
        // No hash has this version: nothing can be compared with it.
        hash_version: 0,
        lastmod: Some(lastmod),
        source: Some(DateSource::History),
        ..LedgerEntry::default()
    };
    Some((site.crawled_key(&written)?, known))
}
