//! The files of published sets, for readers: those of a folder with a manifest, those of the published set of a state, and
//! those of the sets that are kept for a rollback.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{
    MANIFEST, MANIFEST_COPY, PublishError,
    files::FileKind,
    folder::{hash_file, read_text},
    generations::restorable,
    manifest::Manifest,
    overview::is_overview,
    previous::MAX_MANIFEST_BYTES,
};
use crate::store::{Store, StoreError};

/// A published set that can be compared, and restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetainedSet {
    /// When it was published.
    pub published: Timestamp,
    /// URLs.
    pub listed: u64,
}

/// The published set of a state, then those before it that can be restored, the newest first.
///
/// # Errors
/// The store cannot be read.
pub fn retained_sets(store: &Store) -> Result<Vec<RetainedSet>, StoreError> {
    let published: Option<Manifest> = store.read_json(MANIFEST)?;
    let earlier = restorable(store)?.into_iter().rev();
    let manifests = published.into_iter().chain(earlier.map(|set| set.manifest));
    Ok(manifests
        .map(|manifest| RetainedSet {
            published: manifest.published,
            listed: manifest.listed,
        })
        .collect())
}

/// A file of a published set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetainedFile {
    /// Path relative to the output.
    pub name: String,
    /// The file, or its copy.
    pub path: PathBuf,
    /// SHA-256 of the file as it was published, hex.
    sha256: String,
}

impl RetainedFile {
    /// Returns whether the file is as it was published.
    pub fn is_intact(&self) -> bool {
        hash_file(&self.path).is_ok_and(|found| found == self.sha256)
    }
}

/// The files of the set of a state `back` publishes before the published one, which is 0. `copies`: the folder with the copies
/// of earlier sets.
///
/// # Errors
/// The store cannot be read; [`PublishError::Settings`]: there is no such set.
pub fn retained_files(
    store: &Store,
    copies: &Path,
    back: usize,
) -> Result<Vec<RetainedFile>, PublishError> {
    if back == 0 {
        let manifest: Manifest = store.read_json(MANIFEST)?.ok_or_else(|| {
            PublishError::Settings("the state knows of no published set".to_owned())
        })?;
        return Ok(files_of(&manifest, Path::new(&manifest.output)));
    }
    let sets = restorable(store)?;
    let place = sets.len().checked_sub(back);
    let Some(set) = place.and_then(|place| sets.get(place)) else {
        return Err(PublishError::Settings(format!(
            "there is no set {back} publishes ago; the archive has {}, and 0 is the published set",
            sets.len()
        )));
    };
    // An index is not copied, and lists no page; the files for people list those of the others.
    let files = set.manifest.files.iter().zip(set.kinds());
    let files = files.filter(|(_, kind)| ![FileKind::Index, FileKind::Overview].contains(kind));
    Ok(files
        .map(|(file, _)| RetainedFile {
            name: file.name.clone(),
            path: copies.join(&file.file_sha256),
            sha256: file.file_sha256.clone(),
        })
        .collect())
}

/// The files of the published set in a folder, by its manifest; `None` without a manifest of arpent.
pub fn published_files(folder: &Path) -> Option<Vec<RetainedFile>> {
    let text = read_text(&folder.join(MANIFEST_COPY), MAX_MANIFEST_BYTES)?;
    let manifest: Manifest = serde_json::from_str(&text).ok()?;
    manifest.is_sound().then(|| files_of(&manifest, folder))
}

fn files_of(manifest: &Manifest, folder: &Path) -> Vec<RetainedFile> {
    let files = manifest.files.iter();
    let files = files.filter(|file| !is_overview(&file.name));
    let files = files.map(|file| RetainedFile {
        name: file.name.clone(),
        path: folder.join(&file.name),
        sha256: file.file_sha256.clone(),
    });
    files.collect()
}
