//! The manifest of a published set: every file with its hashes, its counts and the time at which it changed; the layout; and
//! the files that were dropped and are still in the output. By the manifest the index states as `lastmod` the time at which the
//! *file* changed, and our files are distinguished from those of others.
//!
//! The manifest is in the state; the output has a copy for people, and in case the state is lost.

use std::path::{Component, Path};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::MANIFEST;
use crate::{machine::hex, store::MetaValue};

/// Version of the format.
const VERSION: u32 = 1;

/// Hexadecimal digits of the id of a set.
const ID_DIGITS: usize = 16;

/// The manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    version: u32,
    /// Name of the site the set is of.
    pub(super) site: String,
    /// The folder of the output, as an absolute path without links; empty in the copy, which the whole web can read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) output: String,
    /// When it was published.
    pub(super) published: Timestamp,
    /// Listed URLs.
    pub(super) listed: u64,
    /// The id of the set: a state with another id reads the set back.
    pub(super) set_id: String,
    /// The layout, for hysteresis, in its text form.
    pub(super) layout: String,
    /// The indexes, or the only urlset, then the parts.
    pub(super) files: Vec<FileRecord>,
    /// Files that left the index and are still in the output.
    pub(super) dropped: Vec<Dropped>,
}

/// A published file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRecord {
    /// Path relative to the output.
    pub(super) name: String,
    /// SHA-256 of the uncompressed content, hex.
    pub(super) sha256: String,
    /// SHA-256 of the file, hex; of a file without compression the same.
    pub(super) file_sha256: String,
    /// Entries.
    pub(super) entries: u64,
    /// Uncompressed bytes.
    pub(super) bytes: u64,
    /// When the file changed last, whole seconds; also its modification time, unless it is [`UNKNOWN`].
    pub(super) lastmod: Timestamp,
}

/// The time of a file that was written when the clock was wrong. No index states it.
pub(super) const UNKNOWN: Timestamp = Timestamp::UNIX_EPOCH;

/// A file that is no longer named by an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dropped {
    /// Path relative to the output.
    pub(super) name: String,
    /// SHA-256 of the file as published, hex: a file with another content is not removed.
    pub(super) file_sha256: String,
    /// When it left the index.
    pub(super) since: Timestamp,
}

impl FileRecord {
    /// The record of the file when it has left the index.
    pub(super) fn dropped(&self, since: Timestamp) -> Dropped {
        Dropped {
            name: self.name.clone(),
            file_sha256: self.file_sha256.clone(),
            since,
        }
    }
}

impl Manifest {
    /// A manifest without files.
    pub(super) fn new(site: &str, output: &str, published: Timestamp) -> Self {
        Self {
            version: VERSION,
            site: site.to_owned(),
            output: output.to_owned(),
            published,
            listed: 0,
            set_id: String::new(),
            layout: String::new(),
            files: Vec::new(),
            dropped: Vec::new(),
        }
    }

    /// Gives the set its id, by its files and the time of its publish.
    pub(super) fn identify(&mut self) {
        let mut hash = Sha256::new();
        hash.update(format!("{} {}\n", self.site, self.published));
        for file in &self.files {
            hash.update(format!("{} {}\n", file.name, file.file_sha256));
        }
        self.set_id = hex(hash);
        self.set_id.truncate(ID_DIGITS);
    }

    /// The same without the times that are still to come, which no file can have: the clock was ahead when they
    /// were noted. The files stay, and get a time with their next change.
    pub(super) fn without_future(
        mut self,
        now: Timestamp,
        is_to_come: impl Fn(Timestamp) -> bool,
    ) -> Self {
        for file in &mut self.files {
            if is_to_come(file.lastmod) {
                file.lastmod = UNKNOWN;
            }
        }
        for dropped in &mut self.dropped {
            if is_to_come(dropped.since) {
                dropped.since = now;
            }
        }
        self
    }

    /// Reads the text form; `None` when it has another version or site, or names a file that no output can have.
    pub(super) fn read(text: &str, site: &str) -> Option<Self> {
        let manifest: Self = serde_json::from_str(text).ok()?;
        (manifest.site == site && manifest.is_sound()).then_some(manifest)
    }

    /// Returns whether it has this version, and names only files that an output can have.
    pub(super) fn is_sound(&self) -> bool {
        self.version == VERSION && self.contents().all(|(name, _)| is_name(name))
    }

    /// The text form: JSON, one item per line, ends in a line end.
    pub(super) fn to_text(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("strings, numbers and times are always JSON");
        text.push('\n');
        text
    }

    /// The manifest as a value of the state.
    pub(super) fn value(&self) -> MetaValue {
        (MANIFEST.to_owned(), Some(self.to_text()))
    }

    /// The text of the copy in the output.
    pub(super) fn copy_text(&self) -> String {
        let copy = Self {
            output: String::new(),
            ..self.clone()
        };
        copy.to_text()
    }

    /// SHA-256 of every content of ours, packed and unpacked.
    pub(super) fn hashes(&self) -> impl Iterator<Item = &str> {
        let files = self.files.iter();
        let files = files.flat_map(|file| [file.sha256.as_str(), file.file_sha256.as_str()]);
        files.chain(
            self.dropped
                .iter()
                .map(|dropped| dropped.file_sha256.as_str()),
        )
    }

    /// Every file of ours, with the SHA-256 of its content as we left it.
    pub(super) fn contents(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self
            .files
            .iter()
            .map(|file| (file.name.as_str(), file.file_sha256.as_str()));
        let dropped = self
            .dropped
            .iter()
            .map(|dropped| (dropped.name.as_str(), dropped.file_sha256.as_str()));
        files.chain(dropped)
    }
}

/// Returns whether `name` can be a file inside the output: others may have written the text, and
/// no file outside of the output may be touched.
pub(super) fn is_name(name: &str) -> bool {
    let mut segments = Path::new(name).components();
    !name.is_empty() && segments.all(|segment| matches!(segment, Component::Normal(_)))
}
