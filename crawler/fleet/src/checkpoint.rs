//! Checkpoints: the state of a site in the storage of the fleet, from which any worker goes on. A checkpoint is a folder of files
//! under a name that is used once; the catalogue names the one that counts. A worker removes a checkpoint only when the catalogue
//! names another one.

use std::{
    fs::{self, File},
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use crawler::{
    driver::{SessionSettings, names_file_in},
    failure::{self, Context as _, Failure, blocking},
    machine::private,
    site::Site,
    storage::{StateStorage, StorageError, record_file},
    store::{Store, restore_snapshot},
};
use tokio::time::Instant;

use super::leases::SessionLease;
use crate::catalogue::{CatalogueError, SiteId};

/// Ending of a packed state.
const PACKED: &str = ".zst";

/// Why a checkpoint is not stored, noted or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The catalogue does not take it.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The storage of the fleet failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// This machine failed.
    #[error("{0}")]
    Here(Failure),
}

impl CheckpointError {
    /// Returns whether the next try may succeed: the catalogue or the storage did not answer.
    pub(super) fn is_worth_retrying(&self) -> bool {
        matches!(
            self,
            Self::Catalogue(CatalogueError::Connect { .. } | CatalogueError::Statement(_))
                | Self::Storage(StorageError::State { .. })
        )
    }
}

impl From<Failure> for CheckpointError {
    fn from(failure: Failure) -> Self {
        Self::Here(failure)
    }
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Self {
        match error {
            CheckpointError::Catalogue(error) => error.into(),
            CheckpointError::Storage(error) => error.into(),
            CheckpointError::Here(failure) => failure,
        }
    }
}

/// The checkpoints of one site under one lease.
pub(super) struct Checkpoints {
    states: Arc<StateStorage>,
    site: SiteId,
    epoch: i64,
    /// The folder in which the session works.
    folder: PathBuf,
    /// Checkpoints of this session.
    count: u32,
    /// The one that the catalogue names.
    current: Option<String>,
}

impl Checkpoints {
    /// Checkpoints of a session in `folder` that begins with the checkpoint `current`.
    pub(super) fn new(
        states: &Arc<StateStorage>,
        lease: &SessionLease,
        site: SiteId,
        folder: &Path,
        current: Option<String>,
    ) -> Self {
        Self {
            states: Arc::clone(states),
            site,
            epoch: lease.row.epoch,
            folder: folder.to_owned(),
            count: 0,
            current,
        }
    }

    /// The site.
    pub(super) fn site(&self) -> SiteId {
        self.site
    }

    /// Fills the empty folder of the session from the checkpoint that counts. Returns false if the storage does not have it.
    pub(super) async fn restore(&self) -> Result<bool, CheckpointError> {
        match &self.current {
            Some(current) => restore_checkpoint(&self.states, current, &self.folder).await,
            None => Ok(true),
        }
    }

    /// Stores what the session has of `site` now. Returns the name of the checkpoint, which the catalogue does not know yet, and how
    /// long it took; `None`: there is nothing to keep yet.
    pub(super) async fn store(
        &mut self,
        settings: &SessionSettings,
        site: &Site,
    ) -> Result<Option<(String, Duration)>, CheckpointError> {
        let began = Instant::now();
        let state = settings.state_of(site);
        let packed = self.folder.join("checkpoint");
        let (from, to) = (state.clone(), packed.clone());
        let is_packed = blocking(move || {
            let Some(store) = Store::open_to_read(&from)? else {
                return Ok(false);
            };
            let mut file =
                File::create(&to).context(format!("failed to write {}", to.display()))?;
            store.write_snapshot(&mut file)?;
            failure::Result::Ok(true)
        });
        let is_packed = is_packed.await?;
        // The messages that people got. A site that never answered has no state, but has these.
        let last = settings.last_session_of(site);
        if !is_packed && !last.exists() {
            return Ok(None);
        }
        self.count += 1;
        let name = format!("{}/{}-{}", self.site, self.epoch, self.count);
        if is_packed {
            let state = relative(&state, &self.folder)? + PACKED;
            self.states.put(&format!("{name}/{state}"), &packed).await?;
        }
        let sent = settings.staged_of(&site.written().name());
        for file in [names_file_in(&settings.state), last, record_file(&sent)] {
            let inner = relative(&file, &self.folder)?;
            match self.states.put(&format!("{name}/{inner}"), &file).await {
                Err(StorageError::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotFound => {}
                stored => stored?,
            }
        }
        Ok(Some((name, began.elapsed())))
    }

    /// The catalogue names `name` from now on: the checkpoint before it is removed. One that cannot be removed is removed with the end
    /// of a later session.
    pub(super) async fn noted(&mut self, name: String) {
        if let Some(before) = self.current.replace(name) {
            let _ = self.remove(&before).await;
        }
    }

    /// Removes all checkpoints of the site but the one that counts and those of later leases. Those of a worker that lost its lease
    /// are among them.
    pub(super) async fn sweep(&self) -> Result<(), StorageError> {
        let folder = self.site.to_string();
        let mut names = self.states.list(&folder).await?;
        names.retain(|name| epoch_of(name, &folder).is_none_or(|epoch| epoch <= self.epoch));
        let is_current = |name: &str| {
            let current = self.current.as_deref();
            current.is_some_and(|current| {
                name.strip_prefix(current)
                    .is_some_and(|rest| rest.starts_with('/'))
            })
        };
        for name in names.iter().filter(|name| !is_current(name)) {
            self.states.remove(name).await?;
        }
        Ok(())
    }

    async fn remove(&self, checkpoint: &str) -> Result<(), StorageError> {
        for name in self.states.list(checkpoint).await? {
            self.states.remove(&name).await?;
        }
        Ok(())
    }
}

/// Fills the empty `folder` from `checkpoint`. Returns false if the storage does not have it.
///
/// # Errors
/// The storage does not answer, or the folder cannot be written.
pub async fn restore_checkpoint(
    states: &StateStorage,
    checkpoint: &str,
    folder: &Path,
) -> Result<bool, CheckpointError> {
    let names = states.list(checkpoint).await?;
    let is_there = !names.is_empty();
    for name in names {
        let Some(inner) = name.strip_prefix(checkpoint).and_then(inside) else {
            continue;
        };
        let path = folder.join(inner);
        if let Some(parent) = path.parent() {
            private::create_folder(parent).map_err(Failure::from)?;
        }
        states.get(&name, &path).await?;
        let unpacked = path.with_extension("");
        if path
            .extension()
            .is_some_and(|ending| ending == PACKED.trim_start_matches('.'))
        {
            blocking(move || {
                restore_snapshot(File::open(&path)?, &unpacked)?;
                failure::Result::Ok(fs::remove_file(&path)?)
            })
            .await?;
        }
    }
    Ok(is_there)
}

/// The path of a file of a checkpoint inside the folder of a session.
fn inside(name: &str) -> Option<&Path> {
    let path = Path::new(name.strip_prefix('/')?);
    let mut parts = path.components();
    parts
        .all(|part| matches!(part, Component::Normal(_)))
        .then_some(path)
}

/// The path of `file` inside `folder` as a part of a name.
fn relative(file: &Path, folder: &Path) -> failure::Result<String> {
    let inner = file.strip_prefix(folder).ok().and_then(Path::to_str);
    inner
        .map(str::to_owned)
        .context("a file of the session is in another folder, or its name is not UTF-8")
}

/// The lease under which a file of a checkpoint was stored.
fn epoch_of(name: &str, folder: &str) -> Option<i64> {
    let checkpoint = name.strip_prefix(folder)?.strip_prefix('/')?;
    checkpoint.split('-').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_checkpoints_are_read_back() {
        assert_eq!(epoch_of("7/12-3/a.db.zst", "7"), Some(12));
        assert_eq!(epoch_of("71/12-3/a.db.zst", "7"), None);
        assert_eq!(epoch_of("7/other", "7"), None);
        assert_eq!(inside("/a/b.xml"), Some(Path::new("a/b.xml")));
        assert_eq!(inside("/../a"), None);
        assert_eq!(inside("a"), None);
    }
}
