//! Fetching a set from a bucket and sending one to it, in an order that readers never see a gap in.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{
    StorageError,
    bucket::{Bucket, Expected, Put},
    record::{Record, Sent, replace_file},
};
use crate::{config::MANIFEST_FILE, store::hex};

/// How often a set is sent again of which an object is not as it was sent.
const MAX_ROUNDS: usize = 3;

/// What this module reads of a manifest.
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

/// What one round of sending found.
enum Round {
    /// Every object is as it was sent.
    Complete,
    /// Some were changed meanwhile.
    Disturbed(String),
}

impl Bucket {
    /// See [`super::Storage::fetch`].
    pub(super) async fn fetch(&self, folder: &Path) -> Result<(), StorageError> {
        let mut record = Record::read(folder, &self.url);
        let Some((manifest, tag)) = self.get(MANIFEST_FILE).await? else {
            return Ok(());
        };
        let sha256 = hex(Sha256::new_with_prefix(&manifest));
        let is_known = record
            .objects
            .get(MANIFEST_FILE)
            .is_some_and(|sent| sent.sha256 == sha256);
        if is_known && folder.join(MANIFEST_FILE).is_file() {
            return Ok(());
        }
        let Ok(read) = serde_json::from_slice::<SentManifest>(&manifest) else {
            return Err(StorageError::Foreign {
                url: self.url_of(MANIFEST_FILE),
            });
        };
        for file in read.files.iter().filter(|file| is_inside(&file.name)) {
            let changed = || StorageError::Changed {
                url: self.url_of(&file.name),
            };
            let (content, tag) = self.get(&file.name).await?.ok_or_else(changed)?;
            if hex(Sha256::new_with_prefix(&content)) != file.file_sha256 {
                return Err(changed());
            }
            let path = folder.join(&file.name);
            replace_file(&path, &content)?;
            // The time of a file is the time of its last change; a wrong one does no harm.
            if let Ok(handle) = fs::File::open(&path) {
                let _ = handle.set_modified(file.lastmod.into());
            }
            let sha256 = file.file_sha256.clone();
            record
                .objects
                .insert(file.name.clone(), Sent { sha256, ..tag });
        }
        replace_file(&folder.join(MANIFEST_FILE), &manifest)?;
        record
            .objects
            .insert(MANIFEST_FILE.to_owned(), Sent { sha256, ..tag });
        record.write(folder)
    }

    /// See [`super::Storage::send`].
    pub(super) async fn send(
        &self,
        folder: &Path,
        force: bool,
        now: Timestamp,
    ) -> Result<(), StorageError> {
        let mut record = Record::read(folder, &self.url);
        let mut disturbed = String::new();
        for _ in 0..MAX_ROUNDS {
            let round = self.send_once(folder, &mut record, (force, now)).await;
            record.write(folder)?;
            match round? {
                Round::Complete => return Ok(()),
                Round::Disturbed(name) => disturbed = name,
            }
        }
        Err(StorageError::Changed {
            url: self.url_of(&disturbed),
        })
    }

    async fn send_once(
        &self,
        folder: &Path,
        record: &mut Record,
        (force, now): (bool, Timestamp),
    ) -> Result<Round, StorageError> {
        let names = files_of(folder)?;
        let listed = self.list().await?;
        let known = record.objects.get(MANIFEST_FILE);
        let is_other = |etag: &String| known.is_some_and(|known| !known.is(etag));
        if listed.get(MANIFEST_FILE).is_some_and(is_other)
            && !self.is_in_the_bucket(folder, MANIFEST_FILE).await?
        {
            return Err(StorageError::Changed {
                url: self.url_of(MANIFEST_FILE),
            });
        }
        for name in &names {
            let in_bucket = listed.get(name).map(String::as_str);
            self.send_file((folder, name), record, in_bucket, force, now)
                .await?;
        }
        self.remove_due(&names, &listed, record, now).await?;
        let listed = self.list().await?;
        let mut sent = names.iter();
        let wrong = sent.find(|name| {
            let etag = listed.get(*name).map(String::as_str).unwrap_or_default();
            !record
                .objects
                .get(*name)
                .is_some_and(|sent| sent.is(etag) || sent.etag.is_none())
        });
        Ok(wrong.map_or(Round::Complete, |name| Round::Disturbed(name.clone())))
    }

    /// Returns whether the object `name` has the content of the file: it was sent, and the record of it was lost.
    async fn is_in_the_bucket(&self, folder: &Path, name: &str) -> Result<bool, StorageError> {
        let content = read(folder, name)?;
        let found = self.head(name).await?;
        let sha256 = hex(Sha256::new_with_prefix(&content));
        Ok(found.is_some_and(|found| found.is_ours && found.sent.sha256 == sha256))
    }

    /// Sends one file, unless the bucket has it. `in_bucket`: the `ETag` of the object, if there is one.
    async fn send_file(
        &self,
        (folder, name): (&Path, &str),
        record: &mut Record,
        in_bucket: Option<&str>,
        force: bool,
        now: Timestamp,
    ) -> Result<(), StorageError> {
        let content = read(folder, name)?;
        let sha256 = hex(Sha256::new_with_prefix(&content));
        let known = record.objects.get(name).cloned();
        let known = known.filter(|known| in_bucket.is_some_and(|etag| known.is(etag)));
        let expected = match (known, in_bucket) {
            (Some(known), _) if known.sha256 == sha256 => {
                record.objects.insert(
                    name.to_owned(),
                    Sent {
                        unnamed_since: None,
                        ..known
                    },
                );
                return Ok(());
            }
            (Some(known), _) => Expected::Object(known),
            (None, None) => Expected::Nothing,
            (None, Some(_)) => match self.head(name).await? {
                None => Expected::Nothing,
                Some(found) if found.is_ours && found.sent.sha256 == sha256 => {
                    record.objects.insert(name.to_owned(), found.sent);
                    return Ok(());
                }
                Some(found) if found.is_ours => Expected::Object(found.sent),
                Some(found) if force => {
                    let time = now.strftime("%Y%m%dT%H%M%SZ");
                    self.copy(name, &format!("{name}.bak-{time}")).await?;
                    Expected::Object(found.sent)
                }
                Some(_) => {
                    return Err(StorageError::Foreign {
                        url: self.url_of(name),
                    });
                }
            },
        };
        let sent = match self.put((name, content), &sha256, &expected).await? {
            Put::Done(sent) => sent,
            // An answer may have been lost, and the retry refused.
            Put::Refused => match self.head(name).await? {
                Some(found) if found.is_ours && found.sent.sha256 == sha256 => found.sent,
                _ => {
                    return Err(StorageError::Changed {
                        url: self.url_of(name),
                    });
                }
            },
        };
        record.objects.insert(name.to_owned(), sent);
        Ok(())
    }

    /// Removes the objects that left the set longer ago than the grace.
    async fn remove_due(
        &self,
        names: &[String],
        listed: &BTreeMap<String, String>,
        record: &mut Record,
        now: Timestamp,
    ) -> Result<(), StorageError> {
        let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let grace = SignedDuration::try_from(self.grace).unwrap_or(SignedDuration::MAX);
        let mut due = Vec::new();
        for (name, sent) in &mut record.objects {
            if names.contains(name.as_str()) {
                continue;
            }
            let since = *sent.unnamed_since.get_or_insert(now);
            if now.duration_since(since) >= grace {
                let etag = listed.get(name).map(String::as_str);
                // One that somebody else changed is not ours any more.
                due.push((name.clone(), etag.is_some_and(|etag| sent.is(etag))));
            }
        }
        for (name, is_ours) in due {
            if is_ours {
                self.remove(&name).await?;
            }
            record.objects.remove(&name);
        }
        Ok(())
    }
}

/// The names of the files that belong into the bucket, in the order in which they are sent: parts, then indexes, then other files
/// beside the set, then the manifest. A file that the index does not name any more is not sent.
fn files_of(folder: &Path) -> Result<Vec<String>, StorageError> {
    let manifest = read(folder, MANIFEST_FILE)?;
    let manifest: SentManifest =
        serde_json::from_slice(&manifest).map_err(|error| StorageError::Io {
            action: "read",
            path: folder.join(MANIFEST_FILE),
            source: error.into(),
        })?;
    let names = manifest.files.into_iter().map(|file| file.name);
    let mut names: Vec<String> = names.filter(|name| is_inside(name)).collect();
    names.reverse();
    names.extend(key_files(folder));
    names.push(MANIFEST_FILE.to_owned());
    Ok(names)
}

/// The key files of `IndexNow` in the folder.
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
    use std::path::Component;
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
