//! The published set as notifications need it: its folder and its URLs; and files that belong to it without being sitemaps,
//! such as the key file of `IndexNow`.

use std::{collections::HashSet, path::Path};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{
    MANIFEST, MANIFEST_COPY, PublishError, PublishRequest, Published,
    folder::{Folder, canonical},
    generations::restorable,
    manifest::{Manifest, UNKNOWN, is_name},
    permissions::Rights,
};
use crate::{
    machine::hex,
    store::{MetaValue, Store, StoreError, StoreErrorKind, json_value},
};

/// Name of the state's value with the [`PublishedSet`].
const PUBLISHED_SET: &str = crate::store::names::PUBLISH_STANDING;

/// The set that was published last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedSet {
    /// URL of the directory of the site, as published.
    pub site: String,
    /// The folder with the set, an absolute path.
    pub output: String,
    /// URL of the object storage that the folder is sent to; `None`: readers get the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// URL of the directory where the folder is served.
    pub directory: String,
    /// URLs of the indexes, or of the only sitemap: one `Sitemap:` line each.
    pub sitemaps: Vec<String>,
}

impl PublishedSet {
    pub(super) fn of(request: &PublishRequest<'_>, published: &Published) -> Self {
        let first = published.files.first();
        let directory = first.and_then(|file| file.url.strip_suffix(file.name.as_str()));
        let site = request.site.written().url();
        Self {
            directory: directory.unwrap_or(&site).to_owned(),
            output: canonical(&request.config.output),
            storage: request.config.storage.clone(),
            sitemaps: published.sitemap_urls.clone(),
            site,
        }
    }

    pub(super) fn value(&self) -> MetaValue {
        json_value(PUBLISHED_SET, self)
    }
}

/// The published set; `None` before the first publish.
///
/// # Errors
/// The store failed, or holds a value that cannot be read.
pub fn published_set(store: &Store) -> Result<Option<PublishedSet>, StoreError> {
    let Some(text) = store.value(PUBLISHED_SET)? else {
        return Ok(None);
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        let message = format!("the state's value {PUBLISHED_SET} cannot be read");
        StoreError::new(StoreErrorKind::Corrupt, message).with_source(error)
    })
}

/// The contents of the published set.
#[derive(Debug, Clone)]
pub struct PublishedContents {
    /// The id of the set.
    pub set_id: String,
    /// When it was published.
    pub published: Timestamp,
    /// Number of URLs.
    pub listed: u64,
    /// The files: the indexes, or the only sitemap, then the parts.
    pub files: Vec<PublishedContent>,
    /// SHA-256 of the contents of the last sets before, hex.
    pub earlier: HashSet<String>,
}

/// The content of a file of the published set.
#[derive(Debug, Clone)]
pub struct PublishedContent {
    /// The URL that serves it.
    pub url: String,
    /// SHA-256 of the content before compression, hex.
    pub sha256: String,
    /// SHA-256 of the file, hex.
    pub file_sha256: String,
    /// When it changed; `None`: it was written when the clock was wrong.
    pub changed: Option<Timestamp>,
}

/// The contents of the published `set`; `None`: the state does not know its files.
///
/// # Errors
/// The store cannot be read.
pub fn published_contents(
    store: &Store,
    set: &PublishedSet,
) -> Result<Option<PublishedContents>, StoreError> {
    let manifest: Option<Manifest> = store.read_json(MANIFEST)?;
    let (Some(manifest), Ok(directory)) = (manifest, Url::parse(&set.directory)) else {
        return Ok(None);
    };
    let sets = restorable(store)?;
    let earlier = sets.iter().flat_map(|set| &set.manifest.files);
    let files = manifest.files.iter().map(|file| PublishedContent {
        url: url_below(&directory, &file.name),
        sha256: file.sha256.clone(),
        file_sha256: file.file_sha256.clone(),
        changed: Some(file.lastmod).filter(|time| *time != UNKNOWN),
    });
    Ok(Some(PublishedContents {
        files: files.collect(),
        earlier: earlier.map(|file| file.sha256.clone()).collect(),
        published: manifest.published,
        listed: manifest.listed,
        set_id: manifest.set_id,
    }))
}

/// The URL of the file `name` below `directory`; folders of names are percent-decoded.
fn url_below(directory: &Url, name: &str) -> String {
    let mut url = directory.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(name.split('/'));
    }
    url.into()
}

/// The result of [`place_file`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// The file was written.
    New,
    /// The file was there already, with this content.
    Unchanged,
}

/// Puts the file `name` with `content` into the folder `output` of a published set, in one step. A
/// file with another content is never replaced.
///
/// # Errors
/// - [`PublishError::Foreign`]: there is something else under this name.
/// - [`PublishError::Settings`]: a file in the folder cannot have this name.
/// - [`PublishError::Io`]: the folder cannot be written now.
pub fn place_file(
    output: &Path,
    name: &str,
    content: &[u8],
    now: Timestamp,
) -> Result<Placed, PublishError> {
    if !is_name(name) || name.contains('/') {
        return Err(PublishError::Settings(
            "the name of the key's file cannot be one in the output".to_owned(),
        ));
    }
    // It gets the rights of the files that are there already.
    let folder = Folder::open(output, Rights::like(&output.join(MANIFEST_COPY)))?;
    let placed = if !folder.exists(name) {
        folder.write(name, content, now).map(|()| Placed::New)
    } else if holds(&folder, name, content) {
        Ok(Placed::Unchanged)
    } else {
        Err(PublishError::Foreign(folder.path(name)))
    };
    let cleared = folder.clear_temporary();
    let placed = placed?;
    cleared.map(|()| placed)
}

/// Removes the file `name` that [`place_file`] put into the folder `output`, if it still has `content`.
///
/// # Errors
/// The folder cannot be written now.
pub fn take_back(output: &Path, name: &str, content: &[u8]) -> Result<(), PublishError> {
    if !is_name(name) || !output.is_dir() {
        return Ok(());
    }
    let folder = Folder::open(output, Rights::default())?;
    if holds(&folder, name, content) {
        folder.remove(name)?;
    }
    Ok(())
}

/// Returns whether the regular file `name` has exactly this content.
fn holds(folder: &Folder, name: &str, content: &[u8]) -> bool {
    use sha2::{Digest as _, Sha256};
    let found = folder.hash(name).ok().flatten();
    found.is_some_and(|found| found == hex(Sha256::new_with_prefix(content)))
}
