//! The moment of change: what is not ours is kept, the new files get their names, what was dropped long
//! ago goes, and what is now there is remembered.

use super::{
    Journal, MANIFEST, MANIFEST_COPY, PublishError, PublishRequest, Published, Standing,
    files::Role,
    folder::Folder,
    go_on, journal,
    manifest::{Dropped, Manifest},
    own_files,
    previous::{self, INTENT, Previous, intent_text},
    problem,
    set::{Change, NewSet},
};
use crate::store::{Commit, Store};

/// Puts the new set in the place of the old one.
pub(super) fn replace(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    folder: &mut Folder,
) -> Result<Published, PublishError> {
    let set = NewSet::build(store, request, Some(folder))?;
    let changes = set.changes();
    go_on(request)?;
    let backups = make_way(request, folder, &set, &changes)?;
    let installed = install(folder, &changes);
    if installed.is_err() {
        for backup in &backups {
            tracing::warn!(target: "publish", "{backup}");
        }
    }
    let mut problems = installed?;
    // From here on readers see the new set, whatever fails.
    let mut journal = Journal::default();
    if problems.is_empty() {
        let manifest = remove_dropped(request, folder, set.manifest, &mut problems);
        let recorded = journal::stage(store, request, &set.export).and_then(|found| {
            let standing = Standing::of(request, &set.published);
            record(
                store,
                request,
                folder,
                &set.previous,
                (&manifest, &standing),
            )?;
            Ok(found)
        });
        match recorded {
            Ok(found) => journal = found,
            Err(error) => problems.extend(problem(Err(error))),
        }
        let remembered = set.export.remember(store).map_err(PublishError::Store);
        problems.extend(problem(remembered));
    }
    let notices = set.published.notices.into_iter().chain(backups).collect();
    Ok(Published {
        journal,
        notices,
        problems,
        ..set.published
    })
}

/// Makes sure that nothing that is not ours is lost where a file is about to appear, and notes what is
/// about to appear as ours. Says what was kept.
fn make_way(
    request: &PublishRequest<'_>,
    folder: &Folder,
    set: &NewSet,
    changes: &[Change<'_>],
) -> Result<Vec<String>, PublishError> {
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    let mut kept = Vec::new();
    for Change { record, .. } in changes {
        match set.previous.standing(&record.name, folder)? {
            previous::Standing::Ours => {}
            previous::Standing::Foreign if !request.config.force => {
                return Err(PublishError::Foreign(folder.path(&record.name)));
            }
            previous::Standing::Foreign | previous::Standing::Altered => kept.push(&record.name),
        }
    }
    let mut backups = Vec::with_capacity(kept.len());
    for name in kept {
        let backup = folder.back_up(name, request.now)?;
        backups.push(format!(
            "{} was not as arpent left it; what it was is kept as {}",
            folder.path(name).display(),
            backup.display()
        ));
    }
    let new = changes.iter().map(|change| {
        (
            change.record.name.as_str(),
            change.record.file_sha256.as_str(),
        )
    });
    let old = set
        .intended
        .iter()
        .map(|(name, hash)| (name.as_str(), hash.as_str()));
    folder.write(INTENT, intent_text(old.chain(new)).as_bytes(), request.now)?;
    Ok(backups)
}

/// Parts first, then the indexes. The first index is the commit point: what fails behind it is no
/// error but a problem of the set that now stands.
fn install(folder: &Folder, changes: &[Change<'_>]) -> Result<Vec<String>, PublishError> {
    let (entrances, parts): (Vec<_>, Vec<_>) = changes
        .iter()
        .partition(|change| change.role == Role::Entrance);
    let install = |change: &Change<'_>| folder.install(change.temporary, &change.record.name);
    let sync = |changes: &[&Change<'_>]| {
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

/// Stores the manifest in the state, and its copy in the output when it changed.
fn record(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    previous: &Previous,
    (manifest, standing): (&Manifest, &Standing),
) -> Result<(), PublishError> {
    let text = manifest.to_text();
    let mut values = vec![(MANIFEST.to_owned(), Some(text.clone()))];
    values.extend(own_files(store, manifest)?);
    values.push(standing.value());
    let (outbox, adopted) = journal::take(store, request.now)?;
    values.push(adopted);
    store.commit(&Commit {
        run: request.run,
        values,
        outbox: vec![outbox],
        ..Commit::default()
    })?;
    if !previous.copy_says(&text) {
        folder.write(MANIFEST_COPY, text.as_bytes(), request.now)?;
    }
    folder.remove(INTENT)
}

/// Removes files that left the index longer ago than the grace, unless somebody changed them; the
/// manifest then knows them no more.
fn remove_dropped(
    request: &PublishRequest<'_>,
    folder: &Folder,
    mut manifest: Manifest,
    problems: &mut Vec<String>,
) -> Manifest {
    let grace =
        jiff::SignedDuration::try_from(request.config.grace).unwrap_or(jiff::SignedDuration::MAX);
    let remove = |dropped: &Dropped| {
        if folder.hash(&dropped.name)?.as_ref() == Some(&dropped.file_sha256) {
            folder.remove(&dropped.name)?;
            folder.remove_empty_folders(&dropped.name);
        }
        Ok(())
    };
    manifest.dropped.retain(|dropped| {
        let is_due = request.now.duration_since(dropped.since) >= grace;
        let problem = if is_due {
            problem(remove(dropped))
        } else {
            None
        };
        let stays = !is_due || problem.is_some();
        problems.extend(problem);
        stays
    });
    manifest
}
