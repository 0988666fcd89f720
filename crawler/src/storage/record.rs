//! The record of what was sent: a file in the folder of the set.

use std::{collections::BTreeMap, fs, io, io::Write as _, path::Path};

use jiff::Timestamp;
use object_store::UpdateVersion;
use serde::{Deserialize, Serialize};

use super::StorageError;

/// Name of the file.
pub(super) const NAME: &str = ".arpent-sent.json";

/// What a bucket has of a set, as far as it was sent from this folder.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    /// URL of the bucket: a record of another one counts as none.
    pub(super) url: String,
    /// By name, relative to the prefix.
    pub(super) objects: BTreeMap<String, Sent>,
}

/// An object as it was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sent {
    /// SHA-256 of the content, hex.
    pub(super) sha256: String,
    /// Headers and ACL as they were sent.
    #[serde(default)]
    pub(super) form: String,
    /// `ETag` of the answer.
    pub(super) etag: Option<String>,
    /// Version of the answer, where the storage has versions.
    pub(super) version: Option<String>,
    /// Since when no index in the bucket names it.
    pub(super) unnamed_since: Option<Timestamp>,
}

impl Sent {
    /// The condition "still the object that was sent".
    pub(super) fn update(&self) -> UpdateVersion {
        UpdateVersion {
            e_tag: self.etag.clone(),
            version: self.version.clone(),
        }
    }

    /// Returns whether a listed object with this `ETag` is the one that was sent. Some storages put the `ETag` in quotes in one
    /// place only.
    pub(super) fn is(&self, listed: &str) -> bool {
        let etag = self.etag.as_deref().unwrap_or_default();
        !etag.is_empty() && etag.trim_matches('"') == listed.trim_matches('"')
    }
}

impl Record {
    /// The record of sending `folder` to `url`; an empty one if there is none, or it is damaged.
    pub(super) fn read(folder: &Path, url: &str) -> Self {
        let text = fs::read_to_string(folder.join(NAME)).unwrap_or_default();
        let record: Option<Self> = serde_json::from_str(&text).ok();
        record
            .filter(|record| record.url == url)
            .unwrap_or_else(|| Self {
                url: url.to_owned(),
                ..Self::default()
            })
    }

    /// Notes an object that was fetched. An object that was not changed since it was sent has the headers of that time.
    pub(super) fn insert_fetched(&mut self, name: String, fetched: Sent) {
        let etag = fetched.etag.as_deref().unwrap_or_default();
        let known = self.objects.get(&name).filter(|known| known.is(etag));
        let form = known.map_or_else(|| fetched.form.clone(), |known| known.form.clone());
        self.objects.insert(name, Sent { form, ..fetched });
    }

    /// Writes it in one step.
    pub(super) fn write(&self, folder: &Path) -> Result<(), StorageError> {
        let text = serde_json::to_string(self).unwrap_or_default();
        replace_file(&folder.join(NAME), text.as_bytes())
    }
}

/// Writes a file in one step: readers see the old content or the new one.
pub(super) fn replace_file(path: &Path, content: &[u8]) -> Result<(), StorageError> {
    let failed = |source: io::Error| StorageError::Io {
        action: "write",
        path: path.to_owned(),
        source,
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(content).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
