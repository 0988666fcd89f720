//! The note of a publish that is about to rename files: it is in the state from before the first rename until the set is
//! promoted, and has all that is needed to go on when the process ends in between.

use std::collections::HashSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    folder::Folder,
    manifest::{Dropped, FileRecord, Manifest},
};
use crate::{
    store::{MetaValue, Store, StoreError, json_value},
    verdict::Mode,
};

/// Name of the state's value with [`Pending`].
const PENDING: &str = crate::store::names::PUBLISH_PENDING;

/// The data that makes the page rows follow the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PendingKind {
    /// The view of a crawl is promoted.
    Crawl,
    /// The files are read back.
    Import,
}

/// A publish that is about to rename files, or has renamed them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pending {
    pub(super) kind: PendingKind,
    /// The time of the publish.
    pub(super) at: Timestamp,
    /// The manifest of the new set, with its folder.
    pub(super) manifest: Manifest,
    /// Nothing was published before.
    pub(super) is_first: bool,
    /// The crawl has no URL left.
    pub(super) is_drained: bool,
    /// The rows that count.
    pub(super) mode: Mode,
    /// Fingerprint of the rules that the files were made by.
    pub(super) rules: u64,
    /// Other values of the state that go with the set.
    pub(super) values: Vec<MetaValue>,
}

impl Pending {
    /// The note in the state; `None` where there is none, or where it cannot be read.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn read(store: &Store) -> Result<Option<Self>, StoreError> {
        let pending: Option<Self> = store.read_json(PENDING)?;
        Ok(pending.filter(|pending| pending.manifest.is_sound()))
    }

    /// The note as a value of the state.
    pub(super) fn value(&self) -> MetaValue {
        json_value(PENDING, self)
    }

    /// The value that removes the note.
    pub(super) fn none() -> MetaValue {
        (PENDING.to_owned(), None)
    }

    /// Returns whether all files have their names.
    pub(super) fn is_in_place(&self, folder: &Folder) -> bool {
        let mut files = self.manifest.files.iter();
        files.all(|file| has_its_name(file, folder))
    }

    /// The files that have their names already and are not those of the set that stays, `published`: they are ours, and no
    /// index of ours names them.
    pub(super) fn in_place(&self, folder: &Folder, published: &Manifest) -> Vec<Dropped> {
        let known: HashSet<_> = published.contents().collect();
        let files = self.manifest.files.iter();
        let files = files
            .filter(|file| !known.contains(&(&*file.name, &*file.file_sha256)))
            .filter(|file| has_its_name(file, folder));
        files.map(|file| file.dropped(self.at)).collect()
    }
}

/// Returns whether the file is in the output as it was made.
fn has_its_name(file: &FileRecord, folder: &Folder) -> bool {
    let hash = folder.hash(&file.name).ok().flatten();
    hash.as_ref() == Some(&file.file_sha256)
}
