//! Fetching a set from a bucket and sending one to it, in an order that readers never see a gap in.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path},
};

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{
    SendFence, StorageError,
    bucket::Bucket,
    record::{Record, Sent, replace_file},
    record_file,
};
use crate::{config::MANIFEST_FILE, machine::hex};

/// How often a set is sent again of which an object is not as it was sent.
const MAX_ROUNDS: usize = 3;

/// The part of a manifest that this module reads.
#[derive(Debug, Deserialize)]
struct SentManifest {
    /// The indexes, then the parts.
    files: Vec<SentFile>,
}

#[derive(Debug, Deserialize)]
struct SentFile {
    name: String,
    file_sha256: String,
    lastmod: Timestamp,
}

impl SentManifest {
    fn read(text: &[u8]) -> Result<Self, serde_json::Error> {
        let mut manifest: Self = serde_json::from_slice(text)?;
        manifest.files.retain(|file| is_inside(&file.name));
        Ok(manifest)
    }
}

impl Bucket {
    /// See [`super::Storage::fetch`]. A file that is missing or differs is left out: a sender was killed between parts and manifest,
    /// and whoever reads the set back judges what it has.
    pub(super) async fn fetch(
        &self,
        folder: &Path,
        fence: Option<&dyn SendFence>,
    ) -> Result<(), StorageError> {
        loop {
            let fetched = self.fetch_once(folder, fence.is_some()).await;
            match fetched {
                Err(error) if tries_again(fence, &error).await => {}
                fetched => return fetched,
            }
        }
    }

    /// With a fence, the record is the truth: a set that it does not have was sent by a machine that lost its right before it
    /// could note that, and is replaced by the next one.
    async fn fetch_once(&self, folder: &Path, has_fence: bool) -> Result<(), StorageError> {
        // A bucket that does not exist fails here, before the crawl.
        let listed = self.list(|name| name == MANIFEST_FILE).await?;
        let has_record = has_fence && record_file(folder).is_file();
        let mut record = Record::read(folder, &self.url);
        if listed.is_empty() {
            return if has_fence {
                record.write(folder)
            } else {
                Ok(())
            };
        }
        let foreign = || StorageError::Foreign {
            url: self.url_of(MANIFEST_FILE),
        };
        let found = self.head(MANIFEST_FILE).await?.ok_or_else(foreign)?;
        if !found.is_ours {
            return Err(foreign());
        }
        let known = record.objects.get(MANIFEST_FILE);
        let is_known = known.is_some_and(|known| known.sha256 == found.sent.sha256);
        if is_known && folder.join(MANIFEST_FILE).is_file() {
            return Ok(());
        }
        if has_record && !is_known {
            return Ok(());
        }
        let (text, sent) = self.get(MANIFEST_FILE).await?.ok_or_else(foreign)?;
        let manifest = SentManifest::read(&text).map_err(|_| foreign())?;
        for file in manifest.files {
            let Some((content, sent)) = self.get(&file.name).await? else {
                continue;
            };
            if sent.sha256 != file.file_sha256 {
                continue;
            }
            let path = folder.join(&file.name);
            replace_file(&path, &content)?;
            // The time of a file is the time of its last change; a wrong one does no harm.
            if let Ok(handle) = fs::File::open(&path) {
                let _ = handle.set_modified(file.lastmod.into());
            }
            record.insert_fetched(file.name, sent);
        }
        replace_file(&folder.join(MANIFEST_FILE), &text)?;
        record.insert_fetched(MANIFEST_FILE.to_owned(), sent);
        record.write(folder)
    }

    /// See [`super::Storage::send`].
    pub(super) async fn send(
        &self,
        folder: &Path,
        force: bool,
        now: Timestamp,
        fence: Option<&dyn SendFence>,
    ) -> Result<(), StorageError> {
        let mut sending = Sending {
            bucket: self,
            folder,
            force,
            now,
            fence,
            record: Record::read(folder, &self.url),
        };
        let mut rounds = 0;
        loop {
            let round = sending.round().await;
            sending.record.write(folder)?;
            rounds += 1;
            let disturbed = match round {
                Ok(None) => return Ok(()),
                Ok(Some(name)) => self.changed(&name),
                Err(error) if tries_again(fence, &error).await => {
                    rounds = 0;
                    continue;
                }
                // Another machine had the right to send until now.
                Err(error @ StorageError::Changed { .. }) if fence.is_some() => error,
                Err(error) => return Err(error),
            };
            if rounds == MAX_ROUNDS {
                return Err(disturbed);
            }
        }
    }

    fn changed(&self, name: &str) -> StorageError {
        StorageError::Changed {
            url: self.url_of(name),
        }
    }
}

/// Returns whether a request that failed is tried again, after a wait.
async fn tries_again(fence: Option<&dyn SendFence>, error: &StorageError) -> bool {
    match fence {
        Some(fence) if matches!(error, StorageError::Failed { .. }) => {
            fence.tries_again(error).await
        }
        Some(_) | None => false,
    }
}

/// A set on its way to a bucket.
struct Sending<'a> {
    bucket: &'a Bucket,
    folder: &'a Path,
    force: bool,
    now: Timestamp,
    fence: Option<&'a dyn SendFence>,
    record: Record,
}

impl Sending<'_> {
    /// Sends what the bucket does not have. Returns the name of an object that is not as it was sent, if there is one.
    async fn round(&mut self) -> Result<Option<String>, StorageError> {
        let names = files_of(self.folder)?;
        let listed = self.list(&names).await?;
        let known = self.record.objects.get(MANIFEST_FILE);
        let is_other = listed
            .get(MANIFEST_FILE)
            .is_some_and(|etag| known.is_some_and(|known| !known.is(etag)));
        if is_other && self.fence.is_none() && !self.is_sent(MANIFEST_FILE).await? {
            return Err(self.bucket.changed(MANIFEST_FILE));
        }
        if self.fence.is_some() {
            self.note_strays().await?;
        }
        for name in &names {
            let etag = listed.get(name).map(String::as_str);
            self.send_file(name, etag).await?;
        }
        self.remove_due(&names).await?;
        let listed = self.list(&names).await?;
        let is_wrong = |name: &&String| {
            let etag = listed.get(*name).map(String::as_str).unwrap_or_default();
            let sent = self.record.objects.get(*name);
            !sent.is_some_and(|sent| sent.is(etag) || sent.etag.is_none())
        };
        Ok(names.iter().find(is_wrong).cloned())
    }

    /// Asks the fence before a change of the bucket.
    async fn confirm(&self, name: &str) -> Result<(), StorageError> {
        let Some(fence) = self.fence else {
            return Ok(());
        };
        fence
            .confirm()
            .await
            .map_err(|reason| StorageError::Closed {
                url: self.bucket.url_of(name),
                reason,
            })
    }

    /// Notes sitemaps of the site that no set names: another machine sent them, and lost its right before it sent their index.
    async fn note_strays(&mut self) -> Result<(), StorageError> {
        let is_stray = |name: &str| {
            let is_sitemap = matches!(name.rsplit('.').next(), Some("xml" | "gz"));
            is_sitemap && !self.record.objects.contains_key(name)
        };
        let strays = self.bucket.list(is_stray).await?;
        for name in strays.into_keys() {
            let found = self.bucket.head(&name).await?;
            if let Some(found) = found.filter(|found| found.is_ours) {
                self.record.objects.insert(name, found.sent);
            }
        }
        Ok(())
    }

    /// The `ETag` of each object that is sent, or was.
    async fn list(&self, names: &[String]) -> Result<BTreeMap<String, String>, StorageError> {
        let is_ours = |name: &str| {
            self.record.objects.contains_key(name) || names.iter().any(|known| known == name)
        };
        self.bucket.list(is_ours).await
    }

    /// Returns whether the object has the content of the file: it was sent, and the record of it was lost.
    async fn is_sent(&self, name: &str) -> Result<bool, StorageError> {
        let sha256 = hex(Sha256::new_with_prefix(read(self.folder, name)?));
        let found = self.bucket.head(name).await?;
        Ok(found.is_some_and(|found| found.is_ours && found.sent.sha256 == sha256))
    }

    /// Sends one file, unless the bucket has it. `etag`: that of the object, if there is one.
    async fn send_file(&mut self, name: &str, etag: Option<&str>) -> Result<(), StorageError> {
        let content = read(self.folder, name)?;
        let sha256 = hex(Sha256::new_with_prefix(&content));
        let form = self.bucket.form(name);
        let known = self.record.objects.get(name).cloned();
        let known = known.filter(|known| etag.is_some_and(|etag| known.is(etag)));
        let before = match (known, etag) {
            (Some(known), _) if known.sha256 == sha256 && known.form == form => {
                self.note(name, known);
                return Ok(());
            }
            (Some(known), _) => Some(known),
            (None, None) => None,
            (None, Some(_)) => match self.bucket.head(name).await? {
                None => None,
                Some(found) if found.is_ours && found.sent.sha256 == sha256 => {
                    self.note(name, Sent { form, ..found.sent });
                    return Ok(());
                }
                Some(found) if found.is_ours => Some(found.sent),
                Some(found) if self.force => {
                    let time = self.now.strftime("%Y%m%dT%H%M%SZ");
                    let copy = format!("{name}.bak-{time}");
                    self.confirm(name).await?;
                    self.bucket.copy(name, &copy).await?;
                    Some(found.sent)
                }
                Some(_) => {
                    return Err(StorageError::Foreign {
                        url: self.bucket.url_of(name),
                    });
                }
            },
        };
        self.confirm(name).await?;
        let sent = match self
            .bucket
            .put(
                name,
                content,
                &sha256,
                before.as_ref(),
                self.fence.is_some(),
            )
            .await?
        {
            Some(sent) => sent,
            // An answer may have been lost, and the retry refused.
            None => match self.bucket.head(name).await? {
                Some(found) if found.is_ours && found.sent.sha256 == sha256 => found.sent,
                _ => return Err(self.bucket.changed(name)),
            },
        };
        self.note(name, Sent { form, ..sent });
        Ok(())
    }

    /// Notes an object of the set.
    fn note(&mut self, name: &str, sent: Sent) {
        let unnamed_since = None;
        let sent = Sent {
            unnamed_since,
            ..sent
        };
        self.record.objects.insert(name.to_owned(), sent);
    }

    /// Removes the objects that left the set longer ago than the grace, and that nobody changed since.
    async fn remove_due(&mut self, names: &[String]) -> Result<(), StorageError> {
        let grace = SignedDuration::try_from(self.bucket.grace).unwrap_or(SignedDuration::MAX);
        let mut due = Vec::new();
        for (name, sent) in &mut self.record.objects {
            if !names.contains(name) {
                let since = *sent.unnamed_since.get_or_insert(self.now);
                if self.now.duration_since(since) >= grace {
                    due.push((name.clone(), sent.clone()));
                }
            }
        }
        for (name, sent) in due {
            let found = self.bucket.head(&name).await?;
            let found = found.and_then(|found| found.sent.etag);
            if found.is_some_and(|etag| sent.is(&etag)) {
                self.confirm(&name).await?;
                self.bucket.remove(&name).await?;
            }
            self.record.objects.remove(&name);
        }
        Ok(())
    }
}

/// The names of the files that belong into the bucket, in the order in which they are sent: parts, then indexes, then other files
/// beside the set, then the manifest. A file that the index does not name any more is not sent.
fn files_of(folder: &Path) -> Result<Vec<String>, StorageError> {
    let manifest = SentManifest::read(&read(folder, MANIFEST_FILE)?);
    let manifest = manifest.map_err(|error| StorageError::Io {
        action: "read",
        path: folder.join(MANIFEST_FILE),
        source: error.into(),
    })?;
    let names = manifest.files.into_iter().map(|file| file.name);
    let mut names: Vec<String> = names.collect();
    names.reverse();
    names.extend(key_files(folder));
    names.push(MANIFEST_FILE.to_owned());
    Ok(names)
}

/// The key files of `IndexNow` in the folder: the content of each is its name.
fn key_files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_key = |name: &String| {
        name.strip_suffix(".txt").is_some_and(|key| {
            let content = fs::read_to_string(folder.join(name));
            content.is_ok_and(|content| content == key)
        })
    };
    names.filter(is_key).collect()
}

/// Returns whether a name from a manifest is one inside the folder.
fn is_inside(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, StorageError> {
    let path = folder.join(name);
    fs::read(&path).map_err(|source| StorageError::Io {
        action: "read",
        path,
        source,
    })
}
