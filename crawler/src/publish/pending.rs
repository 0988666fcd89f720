//! The note of a publish that is about to rename files: it is in the state from before the first rename until the set is
//! promoted, and has all that is needed to go on when the process ends in between.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    commit,
    folder::Folder,
    manifest::{Dropped, is_name},
};
use crate::{
    store::{Commit, MetaValue, Store, StoreError},
    verdict::Mode,
};

/// Name of the state's value with [`Pending`].
const PENDING: &str = crate::store::names::PUBLISH_PENDING;

/// What makes the page rows follow the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// The view of a crawl is promoted.
    Crawl,
    /// The files are read back.
    Import,
}

/// One file that is about to have its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Due {
    name: String,
    file_sha256: String,
}

/// A publish that is about to rename files, or has renamed them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pending {
    pub(super) kind: Kind,
    /// The time of the publish.
    pub(super) at: Timestamp,
    /// The folder, as an absolute path without links.
    pub(super) output: String,
    /// Nothing was published before.
    pub(super) is_first: bool,
    /// The crawl has no URL left.
    pub(super) is_drained: bool,
    /// Which rows count.
    pub(super) mode: Mode,
    /// Fingerprint of the rules that the files were made by.
    pub(super) rules: u64,
    /// Every file of the set.
    pub(super) files: Vec<Due>,
    /// The copy of the manifest for the output.
    pub(super) copy: String,
    /// Values of the state that go with the set.
    pub(super) values: Vec<MetaValue>,
}

impl Pending {
    /// The same with the files of a set, by name and SHA-256.
    pub(super) fn with_files<'a>(self, files: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let files = files.map(|(name, file_sha256)| Due {
            name: name.to_owned(),
            file_sha256: file_sha256.to_owned(),
        });
        Self {
            files: files.collect(),
            ..self
        }
    }

    /// The note of this publish, without files.
    pub(super) fn of(kind: Kind, at: Timestamp, output: String, mode: Mode) -> Self {
        Self {
            kind,
            at,
            output,
            mode,
            is_first: false,
            is_drained: false,
            rules: 0,
            files: Vec::new(),
            copy: String::new(),
            values: Vec::new(),
        }
    }

    /// The note in the state; `None` where there is none, or where it cannot be read.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn read(store: &Store) -> Result<Option<Self>, StoreError> {
        let text = store.value(PENDING)?;
        let pending = text.and_then(|text| serde_json::from_str::<Self>(&text).ok());
        Ok(pending.filter(|pending| pending.files.iter().all(|file| is_name(&file.name))))
    }

    /// Writes it to the state.
    ///
    /// # Errors
    /// The store failed.
    pub(super) fn write(&self, store: &mut Store) -> Result<(), StoreError> {
        let text = serde_json::to_string(self).expect("strings, numbers and times are always JSON");
        let values = vec![(PENDING.to_owned(), Some(text))];
        commit(
            store,
            &Commit {
                values,
                ..Commit::default()
            },
        )
    }

    /// The value that removes the note.
    pub(super) fn none() -> MetaValue {
        (PENDING.to_owned(), None)
    }

    /// The names of its files.
    pub(super) fn names(self) -> impl Iterator<Item = String> {
        self.files.into_iter().map(|file| file.name)
    }

    /// Whether all files have their names.
    pub(super) fn is_in_place(&self, folder: &Folder) -> bool {
        self.files.iter().all(|file| file.stands(folder))
    }

    /// The files that have their names already: they are ours, and no index of ours names them.
    pub(super) fn in_place(&self, folder: &Folder) -> Vec<Dropped> {
        let files = self.files.iter().filter(|file| file.stands(folder));
        let files = files.map(|file| Dropped {
            name: file.name.clone(),
            file_sha256: file.file_sha256.clone(),
            since: self.at,
        });
        files.collect()
    }
}

impl Due {
    fn stands(&self, folder: &Folder) -> bool {
        let hash = folder.hash(&self.name).ok().flatten();
        hash.as_ref() == Some(&self.file_sha256)
    }
}
