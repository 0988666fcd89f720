//! What stands in the output before a publish, and which of it is ours: what the last publish
//! recorded, and what one that did not come to its end was about to put there. It only reads; who
//! writes decides by [`Previous::standing`] what has to be kept.
//!
//! A name alone says little: people write files called `sitemap.xml` by hand. A file is ours when its
//! content is one that we put under its name.
//!
//! The state and the output have a manifest each. That of the output is the newer one when the state was brought back
//! from a copy, or when another state published to the same output ([`is_outdated`]).

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    path::Path,
};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    MANIFEST, MANIFEST_COPY, PublishError, PublishRequest,
    folder::{Folder, canonical, hash_file, read_text},
    guard::Remembered,
    manifest::{Dropped, FileRecord, Manifest, is_name},
};
use crate::{
    runs,
    seeds::OwnFiles,
    store::{Store, StoreError},
};

/// Note of the contents that a publish is about to put under their names: they are ours, even if it
/// does not come to its end. It stands in the output, so that it is lost and moved together with the
/// files that it is about.
pub(super) const INTENT: &str = ".arpent-intent.json";

/// Longest manifest (and note) that is read back from the output.
pub(super) const MAX_MANIFEST_BYTES: u64 = 64 * 1024 * 1024;

/// Of several changes within a second each gets a later one ([`super::file`]): so many seconds may they be ahead.
const NUDGES: SignedDuration = SignedDuration::from_secs(60);

/// SHA-256 of a file, hex, by its name.
pub(super) type Contents = BTreeMap<String, String>;

/// The set that a publish replaces.
#[derive(Debug)]
pub(super) struct Previous {
    /// What the last publish left; of nothing when there was none.
    pub(super) manifest: Manifest,
    /// Places in the manifest's list of files, by name.
    places: HashMap<String, usize>,
    /// Every content known to be ours, by name.
    ours: HashMap<String, Vec<String>>,
    /// What a publish that did not come to its end was about to put there.
    intended: Vec<Intended>,
    /// The manifest's copy in the output as it is.
    copy: Option<String>,
    /// Whether this machine's clock and the host's agree: without that no file has a new time in an index.
    pub(super) clocks_agree: bool,
}

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing, or what we put there.
    Ours,
    /// Something else where once a file of ours was.
    Altered,
    /// Something that has nothing to do with us.
    Foreign,
}

/// One content of [`INTENT`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Intended {
    name: String,
    file_sha256: String,
}

impl Previous {
    /// Reads what is known. The state's manifest counts only for the output that it is about; the copy
    /// counts wherever it stands, as it moves with the folder. Times that are still to come are none.
    ///
    /// # Errors
    /// [`PublishError::Outdated`]: the set that stands is none of this state, unless that is replaced with force; the
    /// state or the output cannot be read.
    pub(super) fn read(
        store: &dyn Store,
        request: &PublishRequest<'_>,
    ) -> Result<Self, PublishError> {
        let root = &request.config.output;
        let (site, output) = (request.site.written().name(), canonical(root));
        let copy = read_text(&root.join(MANIFEST_COPY), MAX_MANIFEST_BYTES);
        let copied = copy.as_deref().and_then(|text| Manifest::read(text, &site));
        let recorded = store.value(MANIFEST)?;
        let recorded = recorded.and_then(|text| Manifest::read(&text, &site));
        let is_outdated = match (&recorded, &copied) {
            (Some(recorded), Some(copied)) => has_newer(store, recorded, copied, root)?,
            (Some(_) | None, _) => false,
        };
        if is_outdated && !request.config.force {
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
        let intended = read_intended(root);
        for Intended { name, file_sha256 } in &intended {
            ours.entry(name.clone())
                .or_default()
                .push(file_sha256.clone());
        }
        let (first, second) = if is_outdated {
            (copied, recorded)
        } else {
            (recorded, copied)
        };
        let mut manifest = first
            .or(second)
            .unwrap_or_else(|| Manifest::new(&site, &output, request.now));
        let clocks_agree = runs::clocks_apart(store)?.is_none();
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
            intended,
            copy,
            clocks_agree,
        })
    }

    /// The record of the file `name`.
    pub(super) fn file(&self, name: &str) -> Option<&FileRecord> {
        self.manifest.files.get(*self.places.get(name)?)
    }

    /// Whether the manifest's copy in the output says exactly this.
    pub(super) fn copy_says(&self, text: &str) -> bool {
        self.copy.as_deref() == Some(text)
    }

    /// What stands under `name`, and may have been put there by anybody.
    pub(super) fn standing(&self, name: &str, folder: &Folder) -> Result<Standing, PublishError> {
        if !folder.exists(name) {
            return Ok(Standing::Ours);
        }
        let Some(ours) = self.ours.get(name) else {
            return Ok(Standing::Foreign);
        };
        let is_ours = folder.hash(name)?.is_some_and(|hash| ours.contains(&hash));
        Ok(if is_ours {
            Standing::Ours
        } else {
            Standing::Altered
        })
    }

    /// What of the noted contents stands now.
    pub(super) fn intended(&self, folder: &Folder) -> Result<Contents, PublishError> {
        let mut standing = Contents::new();
        for Intended { name, file_sha256 } in &self.intended {
            if folder.hash(name)?.as_ref() == Some(file_sha256) {
                standing.insert(name.clone(), file_sha256.clone());
            }
        }
        Ok(standing)
    }

    /// Every file that is ours and stands, or stood, without being one of the new set. `intended` are
    /// those noted by a publish that did not come to its end: what they replaced is gone.
    pub(super) fn dropped(
        &self,
        intended: &Contents,
        is_named: impl Fn(&str) -> bool,
        now: Timestamp,
    ) -> Vec<Dropped> {
        let files = self.manifest.files.iter().map(|file| Dropped {
            name: file.name.clone(),
            file_sha256: file.file_sha256.clone(),
            since: now,
        });
        let dropped = self.manifest.dropped.iter().cloned().chain(files);
        let mut dropped: BTreeMap<String, Dropped> = dropped
            .map(|dropped| (dropped.name.clone(), dropped))
            .collect();
        for (name, hash) in intended {
            let noted = Dropped {
                name: name.clone(),
                file_sha256: hash.clone(),
                since: now,
            };
            dropped.insert(name.clone(), noted);
        }
        dropped.retain(|name, _| !is_named(name));
        dropped.into_values().collect()
    }
}

/// Whether the set of `site` that stands in the output `root` is newer than the one that the state knows to stand.
///
/// # Errors
/// The store cannot be read.
pub(super) fn is_outdated(store: &dyn Store, site: &str, root: &Path) -> Result<bool, StoreError> {
    let read = |text: Option<String>| text.and_then(|text| Manifest::read(&text, site));
    let Some(recorded) = read(store.value(MANIFEST)?) else {
        return Ok(false);
    };
    let copied = read(read_text(&root.join(MANIFEST_COPY), MAX_MANIFEST_BYTES));
    copied.map_or(Ok(false), |copied| {
        has_newer(store, &recorded, &copied, root)
    })
}

/// Whether `copied` in the output `root` is of a newer set than `recorded` in the state. A publish writes the copy last, so
/// that one which did not come to its end never leaves it the newer one; a loss of power may, and then the set is read back. A set that this state put into one of several
/// outputs is known by its files.
fn has_newer(
    store: &dyn Store,
    recorded: &Manifest,
    copied: &Manifest,
    root: &Path,
) -> Result<bool, StoreError> {
    if copied.published <= recorded.published {
        return Ok(false);
    }
    let known: HashSet<(&str, &str)> = recorded.contents().collect();
    let own = if recorded.output == canonical(root) {
        OwnFiles::default()
    } else {
        OwnFiles::load(store)?
    };
    let is_unknown =
        |(name, hash): &(&str, &str)| !known.contains(&(*name, *hash)) && !own.contains(hash);
    let stands = |(name, hash): (&str, &str)| {
        let path = root.join(name);
        fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file())
            && hash_file(&path).is_ok_and(|found| found == *hash)
    };
    let files = copied.files.iter();
    let files = files.map(|file| (file.name.as_str(), file.file_sha256.as_str()));
    Ok(files.filter(is_unknown).any(stands))
}

/// What the note in the output `root` says, if there is one.
fn read_intended(root: &Path) -> Vec<Intended> {
    read_text(&root.join(INTENT), MAX_MANIFEST_BYTES)
        .and_then(|text| serde_json::from_str::<Vec<Intended>>(&text).ok())
        .filter(|intended| intended.iter().all(|file| is_name(&file.name)))
        .unwrap_or_default()
}

/// The names of the files in the output `root` that are ours, as far as the state, if there is one, and the output know.
///
/// # Errors
/// The store cannot be read.
pub(super) fn own_names(
    store: Option<&dyn Store>,
    site: &str,
    root: &Path,
) -> Result<HashSet<String>, StoreError> {
    let recorded = store.map(|store| store.value(MANIFEST)).transpose()?;
    let recorded = recorded.flatten();
    let recorded = recorded.and_then(|text| Manifest::read(&text, site));
    let recorded = recorded.filter(|manifest| manifest.output == canonical(root));
    let copy = read_text(&root.join(MANIFEST_COPY), MAX_MANIFEST_BYTES);
    let copied = copy.and_then(|text| Manifest::read(&text, site));
    let manifests = [&recorded, &copied].into_iter().flatten();
    let names = manifests.flat_map(Manifest::contents);
    let intended = read_intended(root).into_iter().map(|file| file.name);
    Ok(names
        .map(|(name, _)| name.to_owned())
        .chain(intended)
        .collect())
}

/// The files of the set of `site` that the output `root` itself knows to be ours, by name, with every content that
/// each may have; `None` when there is no set of the site.
pub(super) fn own_contents(root: &Path, site: &str) -> Option<BTreeMap<String, Vec<String>>> {
    let copy = read_text(&root.join(MANIFEST_COPY), MAX_MANIFEST_BYTES);
    let manifest = copy.and_then(|text| Manifest::read(&text, site))?;
    let mut contents: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let files = manifest.files.into_iter();
    let files = files.map(|file| (file.name, file.file_sha256));
    let intended = read_intended(root).into_iter();
    let intended = intended.map(|file| (file.name, file.file_sha256));
    for (name, hash) in files.chain(intended) {
        contents.entry(name).or_default().push(hash);
    }
    Some(contents)
}

/// How the site was when the set in the output `root` was published, if that is one of `site`. Its runs are none of the state's.
pub(super) fn remembered(root: &Path, site: &str) -> Option<Remembered> {
    let copy = read_text(&root.join(MANIFEST_COPY), MAX_MANIFEST_BYTES);
    let remembered = copy.and_then(|text| Manifest::read(&text, site)?.remembered)?;
    Some(Remembered {
        only_run: 0,
        ..remembered
    })
}

/// The text of [`INTENT`] for these contents, of which a name may have several.
pub(super) fn intent_text<'a>(contents: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let intended: Vec<Intended> = contents
        .map(|(name, file_sha256)| Intended {
            name: name.to_owned(),
            file_sha256: file_sha256.to_owned(),
        })
        .collect();
    serde_json::to_string(&intended).expect("strings are always JSON")
}
