//! The sets that can be restored, the oldest first, as a value of the state: of each its manifest, and what
//! has to be known of each file to publish it again. The last of the list is the published set. It touches no file.

use serde::{Deserialize, Serialize};

use crate::{
    page::CrawlId,
    publish::{
        PublishedSet,
        files::{FileKind, Role},
        manifest::Manifest,
        previous,
        set::ReadySet,
    },
    store::{MetaValue, Store, StoreError, json_value},
};

/// Sets that can be restored beside the published one; the set that was published when the newest crawl began is one more.
const MAX_ARCHIVED: usize = 3;

/// Name of the state's value with the list.
const SETS: &str = crate::store::names::PUBLISH_GENERATIONS;

/// A published set.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::publish) struct Generation {
    pub(in crate::publish) manifest: Manifest,
    pub(super) set: PublishedSet,
    /// The data on its files that the manifest does not have, in their order.
    pub(super) files: Vec<Archived>,
    /// The crawl that it was published by; 0: not a crawl of this state.
    pub(in crate::publish) crawl: CrawlId,
}

/// The data that publishing a file again needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Archived {
    pub(super) url: String,
    /// The file becomes visible after all others.
    is_entrance: bool,
    pub(super) kind: FileKind,
    /// Names of the files that an index names.
    pub(super) members: Vec<String>,
}

impl Generation {
    /// The record of a set that is about to be installed.
    pub(super) fn of(set: &ReadySet, published: &PublishedSet, crawl: CrawlId) -> Self {
        let files = set.built.iter().map(|file| Archived {
            url: file.address.url.clone(),
            is_entrance: file.role == Role::Entrance,
            kind: file.kind,
            members: file.members.clone(),
        });
        Self {
            files: files.collect(),
            manifest: set.manifest.clone(),
            set: published.clone(),
            crawl,
        }
    }

    /// Returns whether the files have the same content. Indexes may differ: they also state when files were written.
    pub(super) fn has_files_of(&self, manifest: &Manifest) -> bool {
        let ours = self.manifest.files.iter().zip(&self.files);
        self.manifest.files.len() == manifest.files.len()
            && ours.zip(&manifest.files).all(|((our, archived), other)| {
                let is_index = archived.kind == FileKind::Index;
                our.name == other.name && (is_index || our.file_sha256 == other.file_sha256)
            })
    }

    /// The kinds of its files, in their order.
    pub(in crate::publish) fn kinds(&self) -> impl Iterator<Item = FileKind> {
        self.files.iter().map(|archived| archived.kind)
    }

    /// How readers find the file.
    pub(super) fn role_of(&self, archived: &Archived) -> Role {
        if archived.is_entrance {
            Role::Entrance
        } else if self.set.sitemaps.contains(&archived.url) {
            Role::Beside
        } else {
            Role::Part
        }
    }

    /// Returns whether a file of ours can have this record.
    fn is_sound(&self) -> bool {
        self.manifest.is_sound() && self.files.len() == self.manifest.files.len()
    }
}

/// Reads the list. A list that cannot be read counts as empty: the next publish begins a new one.
///
/// # Errors
/// The store cannot be read.
pub(super) fn read(store: &Store) -> Result<Vec<Generation>, StoreError> {
    let sets: Vec<Generation> = store.read_json(SETS)?.unwrap_or_default();
    let is_sound = sets.iter().all(Generation::is_sound);
    Ok(if is_sound { sets } else { Vec::new() })
}

/// The value with this list.
pub(super) fn value(sets: &[Generation]) -> MetaValue {
    json_value(SETS, &sets)
}

/// Leaves the last [`MAX_ARCHIVED`] sets, and the last set that another crawl than `crawl` published.
pub(super) fn forget_old(sets: &mut Vec<Generation>, crawl: CrawlId) {
    let surplus = sets.len().saturating_sub(MAX_ARCHIVED);
    let began_with = sets.iter().rposition(|set| set.crawl != crawl);
    let mut place = 0;
    sets.retain(|_| {
        place += 1;
        place > surplus || Some(place - 1) == began_with
    });
}

/// The sets that can be restored, the oldest first: all but the published one, which is not in the list when `build` or
/// another state published it.
///
/// # Errors
/// The store cannot be read.
pub(in crate::publish) fn restorable(store: &Store) -> Result<Vec<Generation>, StoreError> {
    let mut sets = read(store)?;
    if let Some(last) = sets.last() {
        let published = previous::recorded(store, &last.manifest.site)?;
        if published.is_none_or(|published| published.set_id == last.manifest.set_id) {
            sets.pop();
        }
    }
    Ok(sets)
}
