//! The installation of a set, new or restored: files that are not ours are backed up, the new files get their names, files
//! that were dropped long ago are removed. It builds nothing.

use super::{
    MANIFEST_COPY, PublishError, PublishRequest,
    files::Role,
    folder::Folder,
    go_on,
    manifest::Manifest,
    previous::{Ownership, Previous},
    problem,
    set::{FileChange, ReadySet},
};
use crate::notes::Note;

/// Backs up the files of others that are about to be replaced. Returns notes on the backups.
pub(super) fn make_way(
    request: &PublishRequest<'_>,
    folder: &Folder,
    set: &ReadySet,
) -> Result<Vec<Note>, PublishError> {
    go_on(request)?;
    let changes = set.changes();
    let names = changes.iter().map(|change| change.record.name.as_str());
    let others = in_the_way(request, folder, &set.previous, names)?;
    let mut backups = Vec::with_capacity(others.len());
    for name in others {
        let backup = folder.back_up(name, request.now)?;
        let path = folder.path(name);
        let note = Note::file_backed_up(&path.display(), &backup.display());
        tracing::info!(target: "publish", "{}", note.text);
        backups.push(note.naming(&path.display()));
    }
    Ok(backups)
}

/// The `names` that have to be backed up before they are replaced, because they are not as arpent left them.
///
/// # Errors
/// [`PublishError::Foreign`]: one is a file of others, and `force` is off; [`PublishError::NotAFolder`].
pub(super) fn in_the_way<'n>(
    request: &PublishRequest<'_>,
    folder: &Folder,
    previous: &Previous,
    names: impl Iterator<Item = &'n str>,
) -> Result<Vec<&'n str>, PublishError> {
    let mut others = Vec::new();
    for name in names {
        if let Some(path) = folder.astray(name) {
            return Err(PublishError::NotAFolder(path));
        }
        match previous.ownership(name, folder)? {
            Ownership::Ours => {}
            Ownership::Foreign if !request.config.force => {
                return Err(PublishError::Foreign(folder.path(name)));
            }
            Ownership::Foreign | Ownership::Altered => others.push(name),
        }
    }
    Ok(others)
}

/// Parts first, then the indexes. The first index is the commit point: a failure after it is
/// reported as a problem of the published set, not as an error.
pub(super) fn install(
    folder: &Folder,
    changes: &[FileChange<'_>],
) -> Result<Vec<String>, PublishError> {
    let (entrances, parts): (Vec<_>, Vec<_>) = changes
        .iter()
        .partition(|change| change.role == Role::Entrance);
    let install = |change: &FileChange<'_>| folder.install(change.temporary, &change.record.name);
    let sync = |changes: &[&FileChange<'_>]| {
        folder.sync_folders(changes.iter().map(|change| change.record.name.as_str()))
    };
    for part in &parts {
        install(part)?;
    }
    sync(&parts)?;
    let Some((first, others)) = entrances.split_first() else {
        return Ok(Vec::new());
    };
    install(first)?;
    let installed = others.iter().map(|entrance| install(entrance));
    let mut problems: Vec<String> = installed.filter_map(problem).collect();
    problems.extend(problem(sync(&entrances)));
    Ok(problems)
}

/// Gives the files that did not change the rights of the current settings. Returns the first failure.
pub(super) fn give_rights(folder: &Folder, manifest: &Manifest) -> Option<String> {
    let mut names = manifest.files.iter().map(|file| file.name.as_str());
    let copy = Some(MANIFEST_COPY).filter(|name| folder.exists(name));
    let given = names
        .try_for_each(|name| folder.give_rights(name))
        .and_then(|()| copy.map_or(Ok(()), |name| folder.give_rights(name)));
    problem(given)
}

/// Removes the files that left the index longer ago than the grace, unless somebody changed them. The new index is in place:
/// no reader is sent to them. Returns what failed.
pub(super) fn remove_dropped(
    request: &PublishRequest<'_>,
    folder: &Folder,
    set: &ReadySet,
) -> Vec<String> {
    let dropped = set.manifest.dropped.iter();
    let due = dropped.filter(|dropped| dropped.is_due(request));
    let removed = due.map(|dropped| {
        if folder.hash(&dropped.name)?.as_ref() == Some(&dropped.file_sha256) {
            folder.remove(&dropped.name)?;
            folder.remove_empty_folders(&dropped.name);
        }
        Ok(())
    });
    removed.filter_map(problem).collect()
}
