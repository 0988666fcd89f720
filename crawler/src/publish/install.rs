//! The moment of change, the same for every set, new or restored: what is not ours is kept, the new files get their
//! names, what was dropped long ago goes, and what is now there is remembered. It builds nothing.

use super::{
    Journal, MANIFEST, MANIFEST_COPY, PublishError, PublishRequest, Published, RUN, Standing, disk,
    files::Role,
    folder::Folder,
    generations, go_on,
    guard::Remembered,
    journal,
    manifest::{Dropped, Manifest},
    own_files,
    previous::{self, INTENT, Previous, intent_text},
    problem,
    set::{Change, Origin, ReadySet},
    untold,
};
use crate::{
    notes::Note,
    page::RunId,
    store::{Commit, Store, outbox::OutboxStep},
};

/// Puts the set in the place of the one that stands.
pub(super) fn replace(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    set: ReadySet,
) -> Result<Published, PublishError> {
    let changes = set.changes();
    go_on(request)?;
    let backups = make_way(request, folder, &set, &changes)?;
    let installed = install(folder, &changes);
    if installed.is_err() {
        for backup in &backups {
            tracing::warn!(target: "publish", "{}", backup.text);
        }
    }
    let mut problems = installed?;
    // From here on readers see the set, whatever fails.
    let mut journal = Journal::default();
    let mut notes = set.published.notes.clone();
    notes.extend(backups);
    if problems.is_empty() {
        problems.extend(give_rights(folder, &set.manifest));
        let manifest = remove_dropped(request, folder, set.manifest.clone(), &mut problems);
        match remember_set(store, request, folder, &set, &manifest) {
            Ok(remembered) => {
                journal = remembered.journal;
                notes.extend(remembered.notes);
                problems.extend(remembered.problems);
            }
            Err(error) => problems.extend(problem(Err(error))),
        }
        if let Origin::Run(export) = &set.origin
            && request.config.remembers
        {
            let remembered = export.remember(store).map_err(PublishError::Store);
            problems.extend(problem(remembered));
        }
    }
    Ok(Published {
        journal,
        notes,
        problems,
        ..set.published
    })
}

/// What became of a set that is remembered.
struct SetRemembered {
    journal: Journal,
    notes: Vec<Note>,
    problems: Vec<String>,
}

/// Stages what the set changes, keeps a copy of it, and records it. What fails of the copies does no more than to be
/// told: the set stands.
fn remember_set(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    set: &ReadySet,
    manifest: &Manifest,
) -> Result<SetRemembered, PublishError> {
    // A store that is thrown away is told of neither the URLs nor their dates.
    let journal = match &set.origin {
        _ if !request.config.remembers => Journal::default(),
        Origin::Run(export) => journal::stage(store, request, export)?,
        Origin::Kept(_) => generations::stage(store, request, folder, &set.built)?,
    };
    let standing = Standing::of(request, &set.published);
    let kept = generations::keep(store, request, folder, set, manifest, &standing)?;
    let new = Record {
        manifest,
        standing: &standing,
        remembered: &set.remembered,
        generations: kept.values,
        steps: [kept.before, kept.behind],
        run: match set.origin {
            Origin::Run(_) => Some(request.run),
            Origin::Kept(_) => None,
        },
    };
    record(store, request, folder, &set.previous, new)?;
    let mut problems: Vec<String> = kept.problem.into_iter().collect();
    problems.extend(problem(generations::sweep(store, request)));
    Ok(SetRemembered {
        journal,
        notes: kept.note.into_iter().collect(),
        problems,
    })
}

/// Which of `names` have to be kept before they are replaced, because they are not as arpent left them.
///
/// # Errors
/// [`PublishError::Foreign`]: one is a file of others, and nothing is forced; [`PublishError::Astray`].
pub(super) fn in_the_way<'n>(
    request: &PublishRequest<'_>,
    folder: &Folder,
    previous: &Previous,
    names: impl Iterator<Item = &'n str>,
) -> Result<Vec<&'n str>, PublishError> {
    let mut kept = Vec::new();
    for name in names {
        if let Some(path) = folder.astray(name) {
            return Err(PublishError::Astray(path));
        }
        match previous.standing(name, folder)? {
            previous::Standing::Ours => {}
            previous::Standing::Foreign if !request.config.force => {
                return Err(PublishError::Foreign(folder.path(name)));
            }
            previous::Standing::Foreign | previous::Standing::Altered => kept.push(name),
        }
    }
    Ok(kept)
}

/// Makes sure that nothing that is not ours is lost where a file is about to appear, and notes what is
/// about to appear as ours. Says what was kept.
fn make_way(
    request: &PublishRequest<'_>,
    folder: &Folder,
    set: &ReadySet,
    changes: &[Change<'_>],
) -> Result<Vec<Note>, PublishError> {
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    let names = changes.iter().map(|change| change.record.name.as_str());
    let kept = in_the_way(request, folder, &set.previous, names)?;
    let mut backups = Vec::with_capacity(kept.len());
    for name in kept {
        let backup = folder.back_up(name, request.now)?;
        let path = folder.path(name);
        let note = Note::file_backed_up(&path.display(), &backup.display());
        backups.push(note.naming(&path.display()));
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

/// Gives the files that did not change the rights that the settings ask for now. What fails first says it for all.
fn give_rights(folder: &Folder, manifest: &Manifest) -> Option<String> {
    let mut names = manifest.files.iter().map(|file| file.name.as_str());
    let copy = Some(MANIFEST_COPY).filter(|name| folder.exists(name));
    let given = names
        .try_for_each(|name| folder.give_rights(name))
        .and_then(|()| copy.map_or(Ok(()), |name| folder.give_rights(name)));
    problem(given)
}

/// What is to be remembered of a set that now stands.
struct Record<'a> {
    manifest: &'a Manifest,
    standing: &'a Standing,
    remembered: &'a Remembered,
    /// The values that list the sets that are kept.
    generations: Vec<(String, Option<String>)>,
    /// What the store does for them before, and behind, the changes of the set.
    steps: [Vec<OutboxStep>; 2],
    /// The run whose set it is; `None`: an earlier one's.
    run: Option<RunId>,
}

/// Stores the manifest in the state, and its copy in the output when it changed.
fn record(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    previous: &Previous,
    new: Record<'_>,
) -> Result<(), PublishError> {
    let copy = new.manifest.copy_text();
    if request.config.remembers {
        let untold = untold::value_for(&previous.manifest, new.manifest);
        remember(store, request, new, untold)?;
    }
    if !previous.copy_says(&copy) {
        folder.write(MANIFEST_COPY, copy.as_bytes(), request.now)?;
    }
    folder.remove(INTENT)
}

/// The state's part of [`record`]; from here on what was staged counts.
fn remember(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    new: Record<'_>,
    untold: Option<(String, Option<String>)>,
) -> Result<(), PublishError> {
    let Record {
        manifest,
        standing,
        remembered,
        generations,
        steps: [before, behind],
        run,
    } = new;
    let mut values = vec![(MANIFEST.to_owned(), Some(manifest.to_text()))];
    values.extend(own_files(store, manifest)?);
    values.extend([
        standing.value(),
        remembered.value(),
        disk::mount(&request.config.output),
    ]);
    values.extend(generations);
    values.extend(untold);
    values.extend(run.map(|run| (RUN.to_owned(), Some(run.to_string()))));
    let (take, adopted) = journal::take(store, request.now)?;
    values.push(adopted);
    store.commit(&Commit {
        // What a run decided counts once its set is published; of a set from before it says nothing.
        run: run.unwrap_or_default(),
        values,
        outbox: [before, vec![take], behind].concat(),
        ..Commit::default()
    })?;
    Ok(())
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
