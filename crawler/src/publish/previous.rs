//! The files in the output before a publish, and which of them are ours by the manifest. It only reads; [`Previous::ownership`]
//! shows what has to be backed up before it is replaced.
//!
//! A name is not enough: people write files called `sitemap.xml` by hand. A file is ours when its content is one that we
//! published under its name.
//!
//! The state and the output have a manifest each. They differ when the state was restored from a copy, or when another state
//! published to the same output ([`unknown_set`]).

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use jiff::SignedDuration;

use super::{
    MANIFEST, MANIFEST_COPY, PublishError, PublishRequest,
    folder::{Folder, canonical, read_text},
    manifest::{FileRecord, Manifest},
    pending::Pending,
};
use crate::{
    crawl_state,
    seeds::OwnFiles,
    store::{Store, StoreError},
};

/// Longest manifest that is read back from the output.
pub(super) const MAX_MANIFEST_BYTES: u64 = 64 * 1024 * 1024;

/// Each of several changes within a second gets a later second ([`super::file`]): the most that a time may be ahead.
const NUDGES: SignedDuration = SignedDuration::from_secs(60);

/// The set that a publish replaces.
#[derive(Debug)]
pub(super) struct Previous {
    /// The manifest of the last publish; without files when there was none.
    pub(super) manifest: Manifest,
    /// Places in the manifest's list of files, by name.
    places: HashMap<String, usize>,
    /// Every content known to be ours, by name.
    ours: HashMap<String, Vec<String>>,
    /// `true` if this machine's clock and the host's agree: without that no file has a new time in an index.
    pub(super) clocks_agree: bool,
}

/// The owner of a file with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ownership {
    /// There is none, or it is as we published it.
    Ours,
    /// The file replaces, or is a changed version of, a file of ours.
    Altered,
    /// We never had a file of this name.
    Foreign,
}

impl Previous {
    /// Reads both manifests. That of the state counts only for its output; the copy counts in every folder, as it moves with
    /// the folder. Times in the future are dropped.
    ///
    /// # Errors
    /// [`PublishError::Outdated`]: another state published the set in the output, and `force` is off; the state or the output
    /// cannot be read.
    pub(super) fn read(store: &Store, request: &PublishRequest<'_>) -> Result<Self, PublishError> {
        let root = &request.config.output;
        let (site, output) = (request.site.written().name(), canonical(root));
        let (copied, recorded) = (copied(&site, root), recorded(store, &site)?);
        if !request.config.force && unknown_set(store, &site, root)?.is_some() {
            let output = root.clone();
            return Err(PublishError::Outdated { output });
        }
        let recorded = recorded.filter(|manifest| manifest.output == output);
        let mut ours: HashMap<String, Vec<String>> = HashMap::new();
        for (name, hash) in [&recorded, &copied]
            .into_iter()
            .flatten()
            .flat_map(Manifest::contents)
        {
            ours.entry(name.to_owned())
                .or_default()
                .push(hash.to_owned());
        }
        let mut manifest = recorded
            .or(copied)
            .unwrap_or_else(|| Manifest::new(&site, &output, request.now));
        let clocks_agree = crawl_state::clocks_apart(store)?.is_none();
        if clocks_agree {
            let latest = request.now.checked_add(NUDGES).unwrap_or(request.now);
            manifest = manifest.without_future(request.now, |time| time > latest);
        }
        manifest.output = output;
        let names = manifest.files.iter().map(|file| file.name.clone());
        Ok(Self {
            places: names.zip(0..).collect(),
            manifest,
            ours,
            clocks_agree,
        })
    }

    /// The record of the file `name`.
    pub(super) fn file(&self, name: &str) -> Option<&FileRecord> {
        self.manifest.files.get(*self.places.get(name)?)
    }

    /// The owner of the file `name`, which anybody may have put there.
    pub(super) fn ownership(&self, name: &str, folder: &Folder) -> Result<Ownership, PublishError> {
        if !folder.exists(name) {
            return Ok(Ownership::Ours);
        }
        let Some(ours) = self.ours.get(name) else {
            return Ok(Ownership::Foreign);
        };
        let is_ours = folder.hash(name)?.is_some_and(|hash| ours.contains(&hash));
        Ok(if is_ours {
            Ownership::Ours
        } else {
            Ownership::Altered
        })
    }
}

/// The manifest that the state has of `site`.
pub(super) fn recorded(store: &Store, site: &str) -> Result<Option<Manifest>, StoreError> {
    let text = store.value(MANIFEST)?;
    Ok(text.and_then(|text| Manifest::read(&text, site)))
}

/// The manifest in the output `root`, if it is that of a set of `site`.
pub(super) fn copied(site: &str, root: &Path) -> Option<Manifest> {
    let copy = read_text(&root.join(MANIFEST_COPY), MAX_MANIFEST_BYTES);
    copy.and_then(|text| Manifest::read(&text, site))
}

/// The manifest of the set of `site` in the output `root`, if that is one which the state neither published nor read back, and
/// that is newer than what the state knows.
///
/// # Errors
/// The store cannot be read.
pub(super) fn unknown_set(
    store: &Store,
    site: &str,
    root: &Path,
) -> Result<Option<Manifest>, StoreError> {
    let Some(copied) = copied(site, root) else {
        return Ok(None);
    };
    let own = OwnFiles::load(store)?;
    let is_own = |recorded: Manifest| {
        let mut files = copied.files.iter();
        recorded.set_id == copied.set_id
            || recorded.published > copied.published
            || files.all(|file| own.contains(&file.file_sha256))
    };
    let is_known = recorded(store, site)?.is_some_and(is_own);
    Ok(Some(copied).filter(|_| !is_known))
}

/// The names of the files in the output `root` that are ours, as far as the state, if there is one, and the output know.
///
/// # Errors
/// The store cannot be read.
pub(super) fn own_names(
    store: Option<&Store>,
    site: &str,
    root: &Path,
) -> Result<HashSet<String>, StoreError> {
    let mut names = HashSet::new();
    let mut manifests: Vec<Manifest> = copied(site, root).into_iter().collect();
    if let Some(store) = store {
        let recorded = recorded(store, site)?;
        manifests.extend(recorded.filter(|manifest| manifest.output == canonical(root)));
        let pending = Pending::read(store)?;
        let files = pending
            .into_iter()
            .flat_map(|pending| pending.manifest.files);
        names.extend(files.map(|file| file.name));
    }
    let contents = manifests.iter().flat_map(Manifest::contents);
    names.extend(contents.map(|(name, _)| name.to_owned()));
    Ok(names)
}
