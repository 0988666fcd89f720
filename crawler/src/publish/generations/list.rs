//! Which sets can be restored, the oldest first, as a value of the state: of each its manifest, and what
//! has to be known of each file to publish it again. The last of the list is the published set. It touches no file.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    page::RunId,
    publish::{
        Standing,
        files::{FileKind, Role},
        manifest::Manifest,
        set::ReadySet,
    },
    store::{MetaValue, Store, StoreError},
};

/// Sets that can be restored beside the published one; the set that was published when the newest crawl began is one more.
pub const KEPT_SETS: usize = 3;

/// Name of the state's value with the list.
const SETS: &str = crate::store::names::PUBLISH_GENERATIONS;

/// One published set.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::publish) struct Generation {
    pub(super) manifest: Manifest,
    pub(super) standing: Standing,
    /// What the manifest does not have of its files, in their order.
    pub(super) files: Vec<Archived>,
    /// The crawl that it was published by; 0: not a crawl of this state.
    pub(super) crawl: RunId,
}

/// What has to be known of a file to publish it again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Archived {
    pub(super) url: String,
    /// It becomes visible after all others.
    is_entrance: bool,
    pub(super) kind: FileKind,
    /// Of an index: the names of the files that it names.
    pub(super) members: Vec<String>,
}

/// A set that was published and can be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSet {
    /// When it was published.
    pub published: Timestamp,
    /// URLs in it.
    pub listed: u64,
}

impl Generation {
    /// The record of a set that is about to be installed.
    pub(super) fn of(set: &ReadySet, standing: &Standing, crawl: RunId) -> Self {
        let files = set.built.iter().map(|file| Archived {
            url: file.address.url.clone(),
            is_entrance: file.role == Role::Entrance,
            kind: file.kind,
            members: file.members.clone(),
        });
        Self {
            files: files.collect(),
            manifest: set.manifest.clone(),
            standing: standing.clone(),
            crawl,
        }
    }

    /// Whether the files have the same content. Indexes may differ: they also state when files were written.
    pub(super) fn has_files_of(&self, manifest: &Manifest) -> bool {
        let ours = self.manifest.files.iter().zip(&self.files);
        self.manifest.files.len() == manifest.files.len()
            && ours.zip(&manifest.files).all(|((our, archived), other)| {
                let is_index = archived.kind == FileKind::Index;
                our.name == other.name && (is_index || our.file_sha256 == other.file_sha256)
            })
    }

    /// How readers find the file.
    pub(super) fn role_of(&self, archived: &Archived) -> Role {
        if archived.is_entrance {
            Role::Entrance
        } else if self.standing.sitemaps.contains(&archived.url) {
            Role::Beside
        } else {
            Role::Part
        }
    }

    /// Whether a file of ours can have this record.
    fn is_sound(&self) -> bool {
        self.manifest.is_sound() && self.files.len() == self.manifest.files.len()
    }
}

/// Reads the list. A list that cannot be read counts as empty: the next publish begins a new one.
///
/// # Errors
/// The store cannot be read.
pub(super) fn read(store: &Store) -> Result<Vec<Generation>, StoreError> {
    let text = store.value(SETS)?.unwrap_or_default();
    let sets: Vec<Generation> = serde_json::from_str(&text).unwrap_or_default();
    let is_sound = sets.iter().all(Generation::is_sound);
    Ok(if is_sound { sets } else { Vec::new() })
}

/// The value with this list.
pub(super) fn value(sets: &[Generation]) -> MetaValue {
    let text = serde_json::to_string(sets).expect("strings, numbers and times are always JSON");
    (SETS.to_owned(), Some(text))
}

/// Leaves the last [`KEPT_SETS`] sets, and the last set that another crawl than `crawl` published.
pub(super) fn forget_old(sets: &mut Vec<Generation>, crawl: RunId) {
    let surplus = sets.len().saturating_sub(KEPT_SETS);
    let began_with = sets.iter().rposition(|set| set.crawl != crawl);
    let mut place = 0;
    sets.retain(|_| {
        place += 1;
        place > surplus || Some(place - 1) == began_with
    });
}

/// The sets that can be restored, the oldest first: all but the published one.
///
/// # Errors
/// The store cannot be read.
pub(super) fn restorable(store: &Store) -> Result<Vec<Generation>, StoreError> {
    let mut sets = read(store)?;
    sets.pop();
    Ok(sets)
}

/// The sets that can be restored, the newest first.
///
/// # Errors
/// The store cannot be read.
pub fn kept_sets(store: &Store) -> Result<Vec<KeptSet>, StoreError> {
    let sets = restorable(store)?;
    let sets = sets.iter().rev().map(|set| KeptSet {
        published: set.manifest.published,
        listed: set.manifest.listed,
    });
    Ok(sets.collect())
}
