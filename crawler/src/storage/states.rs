//! The states of a fleet in object storage: small folders of files that a worker stores and the next one goes on with. What is in
//! a file, and which folder counts, is decided elsewhere.

use std::{
    fmt, fs,
    io::{self, Read as _},
    path::Path,
    sync::Arc,
};

use futures_util::TryStreamExt as _;
use object_store::{
    Error, ObjectStore, ObjectStoreExt as _, PutPayload, WriteMultipart, path::Path as Key,
    prefix::PrefixStore,
};
use tokio::task::spawn_blocking;

use super::{StorageError, bucket::open_plain};

/// Size of the parts of a large file, in bytes; a smaller file is sent in one request. S3 takes 10,000 parts.
const PART: usize = 16 * 1024 * 1024;

/// Parts of one file that are sent at a time.
const PARTS_AT_A_TIME: usize = 2;

/// A prefix of a bucket that has states. Nobody but the workers of a fleet reads and writes there.
pub struct StateStorage {
    store: Arc<dyn ObjectStore>,
    url: String,
}

impl fmt::Debug for StateStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StateStorage").field(&self.url).finish()
    }
}

impl StateStorage {
    /// The storage at `url`, such as `s3://BUCKET/PREFIX`. Sends no request; keys come from the environment.
    ///
    /// # Errors
    /// [`StorageError::Settings`].
    pub fn open(url: &str) -> Result<Self, StorageError> {
        let (store, prefix) = open_plain(url)?;
        Ok(Self {
            store: Arc::new(PrefixStore::new(store, prefix)),
            url: url.trim_end_matches('/').to_owned(),
        })
    }

    /// The names of the files in `folder` and below it, relative to the storage.
    ///
    /// # Errors
    /// [`StorageError::State`].
    pub async fn list(&self, folder: &str) -> Result<Vec<String>, StorageError> {
        let objects = self.store.list(Some(&self.key(folder)?));
        let names = objects.map_ok(|object| object.location.to_string());
        let names = names.try_collect().await;
        names.map_err(|error| self.failed("list", folder, &error))
    }

    /// Stores an empty file `name`: the storage can be worked with. It is removed where that is allowed.
    ///
    /// # Errors
    /// [`StorageError::State`].
    pub async fn probe(&self, name: &str) -> Result<(), StorageError> {
        let sent = self.store.put(&self.key(name)?, PutPayload::new()).await;
        sent.map_err(|error| self.failed("store", name, &error))?;
        // Old files may stay; not everybody may remove.
        let _ = self.remove(name).await;
        Ok(())
    }

    /// Stores the file `from` under `name`.
    ///
    /// # Errors
    /// [`StorageError::Io`] of the file, [`StorageError::State`].
    pub async fn put(&self, name: &str, from: &Path) -> Result<(), StorageError> {
        let key = self.key(name)?;
        let file = fs::File::open(from).map_err(|source| unread(from, source))?;
        let (file, part) = next_part(file, from).await?;
        if part.len() < PART {
            let sent = self.store.put(&key, PutPayload::from(part)).await;
            return sent
                .map(drop)
                .map_err(|error| self.failed("store", name, &error));
        }
        let upload = self.store.put_multipart(&key).await;
        let upload = upload.map_err(|error| self.failed("store", name, &error))?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART);
        let sent = self.send_parts(&mut upload, name, file, part, from).await;
        let ended = match sent {
            Ok(()) => upload.finish().await.map(drop),
            Err(error) => {
                // Parts that stay are paid for.
                let _ = upload.abort().await;
                return Err(error);
            }
        };
        ended.map_err(|error| self.failed("store", name, &error))
    }

    async fn send_parts(
        &self,
        upload: &mut WriteMultipart,
        name: &str,
        mut file: fs::File,
        mut part: Vec<u8>,
        from: &Path,
    ) -> Result<(), StorageError> {
        while !part.is_empty() {
            let room = upload.wait_for_capacity(PARTS_AT_A_TIME).await;
            room.map_err(|error| self.failed("store", name, &error))?;
            upload.put(part.into());
            (file, part) = next_part(file, from).await?;
        }
        Ok(())
    }

    /// Writes the file `name` to `to`, which does not exist.
    ///
    /// # Errors
    /// [`StorageError::Io`] of the file, [`StorageError::State`].
    pub async fn get(&self, name: &str, to: &Path) -> Result<(), StorageError> {
        use std::io::Write as _;
        let unwritten = |source| StorageError::Io {
            action: "write",
            path: to.to_owned(),
            source,
        };
        let failed = |error: Error| self.failed("fetch", name, &error);
        let found = self.store.get(&self.key(name)?).await.map_err(failed)?;
        let mut file = fs::File::create_new(to).map_err(unwritten)?;
        let mut content = found.into_stream();
        while let Some(part) = content.try_next().await.map_err(failed)? {
            file.write_all(&part).map_err(unwritten)?;
        }
        Ok(())
    }

    /// Removes the file `name`, if it exists.
    ///
    /// # Errors
    /// [`StorageError::State`].
    pub async fn remove(&self, name: &str) -> Result<(), StorageError> {
        match self.store.delete(&self.key(name)?).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed("remove", name, &error)),
        }
    }

    /// The key of a name, without escapes.
    fn key(&self, name: &str) -> Result<Key, StorageError> {
        Key::parse(name).map_err(|error| self.failed("name", name, &error.into()))
    }

    fn failed(&self, action: &'static str, name: &str, source: &Error) -> StorageError {
        StorageError::State {
            action,
            url: format!("{}/{name}", self.url),
            is_refused: matches!(
                source,
                Error::PermissionDenied { .. } | Error::Unauthenticated { .. }
            ),
            // Its text has those of its causes.
            source: source.to_string().into(),
        }
    }
}

/// The next part of a file, which is shorter at its end.
async fn next_part(mut file: fs::File, path: &Path) -> Result<(fs::File, Vec<u8>), StorageError> {
    let reading = spawn_blocking(move || {
        let mut part = Vec::new();
        let read = (&mut file).take(PART as u64).read_to_end(&mut part);
        read.map(|_| (file, part))
    });
    let read = reading.await.unwrap_or_else(|error| Err(error.into()));
    read.map_err(|source| unread(path, source))
}

fn unread(path: &Path, source: io::Error) -> StorageError {
    StorageError::Io {
        action: "read",
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;

    #[tokio::test]
    async fn files_come_back_in_any_number_of_parts() {
        let folder = tempfile::tempdir().unwrap();
        let storage = StateStorage {
            store: Arc::new(InMemory::new()),
            url: "s3://states".to_owned(),
        };
        for size in [0, 5, PART, 2 * PART + 1] {
            let content: Vec<u8> = (0..=250).cycle().take(size).collect();
            let (from, to) = (folder.path().join("from"), folder.path().join("to"));
            fs::write(&from, &content).unwrap();
            storage.put("1/7-1/a~b.db.zst", &from).await.unwrap();
            storage.get("1/7-1/a~b.db.zst", &to).await.unwrap();
            assert!(fs::read(&to).unwrap() == content, "{size}");
            fs::remove_file(&to).unwrap();
        }
        assert_eq!(storage.list("1").await.unwrap(), ["1/7-1/a~b.db.zst"]);
        assert!(storage.list("2").await.unwrap().is_empty());
        storage.remove("1/7-1/a~b.db.zst").await.unwrap();
        storage.remove("1/7-1/a~b.db.zst").await.unwrap();
        assert!(storage.list("1").await.unwrap().is_empty());
    }
}
