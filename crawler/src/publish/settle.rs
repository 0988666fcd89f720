//! The replacement of the published set, and how the state follows it: manifest and page rows change after the files have
//! their names. A publish that is interrupted between the two is settled later, by its note in the state ([`Pending`]).

use std::path::PathBuf;

use super::{
    Judged, MANIFEST_COPY, PublishError, PublishRequest, Published, PublishedSet, commit, disk,
    folder::{self, Folder, canonical},
    generations::{self, Generation},
    import::{self, Imported, own_files},
    install,
    manifest::Manifest,
    pending::{Pending, PendingKind},
    permissions::Rights,
    previous, problem,
    promote::Promoting,
    set::ReadySet,
    unnotified,
};
use crate::{
    config::PublishConfig,
    crawl_state,
    export::Export,
    page::CrawlId,
    store::{Effect, MetaValue, Store},
};

/// The result of settling an interrupted publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// No publish was interrupted.
    Nothing,
    /// All its files were in place: manifest and page rows follow its set now.
    Completed,
    /// Some of its files were not in place: manifest and page rows are still those of the set before it.
    GivenUp,
}

/// A set that is about to replace the published one.
pub(super) struct Replacement<'a> {
    pub(super) set: ReadySet,
    /// The rules by which the view is promoted; `None`: the page rows follow the files.
    pub(super) export: Option<&'a Export>,
    /// The archived sets before it, where it is one of them.
    pub(super) earlier: Option<Vec<Generation>>,
    /// The crawl that it is of.
    pub(super) crawl: CrawlId,
    /// Values of the state that go with it.
    pub(super) values: Vec<MetaValue>,
    /// Nothing was published before.
    pub(super) is_first: bool,
}

/// Settles an interrupted publish, if there is one: when all its files are in place, manifest and page rows follow; otherwise
/// the files that are in place are noted as ours, and the set before it counts. Every session calls this first. The view is judged by the rules of `request`; the time and the rows that count are those of the interrupted
/// publish. A set that was made by other rules is read back from its files.
///
/// # Errors
/// The store failed, or the output cannot be written.
pub fn settle_pending(
    store: &mut Store,
    request: &PublishRequest<'_>,
) -> Result<Settled, PublishError> {
    let Some(pending) = Pending::read(store)?.filter(|_| !request.dry_run) else {
        return Ok(Settled::Nothing);
    };
    let output = PathBuf::from(&pending.manifest.output);
    if !request.config.force {
        disk::check_mount(store, &output)?;
    }
    let rights = Rights::like(&output.join(MANIFEST_COPY));
    let site = request.site.written().name();
    let folder = Folder::at(&output, rights);
    if !pending.is_in_place(&folder) {
        let published = &pending.manifest.output;
        let mut manifest = previous::recorded(store, &site)?
            .filter(|manifest| manifest.output == *published)
            .or_else(|| previous::copied(&site, &output))
            .unwrap_or_else(|| Manifest::new(&site, published, pending.at));
        manifest.output.clone_from(published);
        manifest
            .dropped
            .extend(pending.in_place(&folder, &manifest));
        let values = vec![manifest.value(), Pending::none()];
        store.commit(&Effect::values(values))?;
        return Ok(Settled::GivenUp);
    }
    // What an interrupted publish left behind is removed.
    let folder = Folder::open(&output, rights)?;
    let config = PublishConfig {
        output,
        ..request.config.clone()
    };
    let request = PublishRequest {
        config: &config,
        mode: pending.mode,
        is_drained: pending.is_drained,
        now: pending.at,
        ..request.clone()
    };
    let judged = if pending.kind == PendingKind::Crawl && pending.rules == rules_of(&request) {
        let previous = previous::recorded(store, &site)?;
        let previous = previous.unwrap_or_else(|| Manifest::new(&site, "", pending.at));
        Some(Judged::new(store, &request, &previous, None)?.0)
    } else {
        None
    };
    let export = judged.as_ref().map(|judged| &judged.export);
    if let Some(failed) = follow(store, &request, &folder, &pending, export)?.failed {
        tracing::warn!(target: "publish", "{failed}");
    }
    folder.clear_temporary()?;
    Ok(Settled::Completed)
}

/// Replaces the published set.
pub(super) fn replace(
    store: &mut Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    replacement: Replacement<'_>,
) -> Result<Published, PublishError> {
    let Replacement {
        set,
        export,
        earlier,
        crawl,
        values,
        is_first,
    } = replacement;
    let backups = install::make_way(request, folder, &set)?;
    let published = PublishedSet::of(request, &set.published);
    let (archived, failed) =
        generations::archive(store, request, folder, &set, &published, crawl, earlier)?;
    let mut problems: Vec<String> = failed.into_iter().collect();
    let mut manifest = set.manifest.clone();
    manifest.output = canonical(&request.config.output);
    let mut pending = Pending {
        kind: match export {
            Some(_) => PendingKind::Crawl,
            None => PendingKind::Import,
        },
        at: request.now,
        manifest,
        is_first,
        is_drained: request.is_drained,
        mode: request.mode,
        rules: rules_of(request),
        values,
    };
    pending.values.extend(archived);
    let mount = disk::mount(&request.config.output);
    pending.values.extend([published.value(), mount]);
    let unnotified = unnotified::value_for(&set.previous.manifest, &set.manifest);
    pending.values.extend(unnotified);
    pending.values.extend(own_files(store, &set.manifest)?);
    if request.config.remembers {
        commit(store, &[Effect::Value(pending.value())])?;
    }
    problems.extend(install::install(folder, &set.changes())?);
    // From here on the set is visible, whatever fails.
    problems.extend(install::give_rights(folder, &set.manifest));
    problems.extend(install::remove_dropped(request, folder, &set));
    let mut changes = None;
    if pending.is_in_place(folder) {
        match follow(store, request, folder, &pending, export) {
            Ok(followed) => {
                problems.extend(followed.failed);
                changes = followed.imported.map(|imported| imported.changes);
            }
            Err(error) => problems.extend(problem(Err(error))),
        }
        problems.extend(problem(generations::sweep(store, request)));
    }
    let mut published = set.published;
    published.notes.extend(backups);
    published.problems = problems;
    published.changes = published.changes.or(changes);
    Ok(published)
}

/// The result of making the state follow the files.
#[derive(Default)]
struct Followed {
    /// Reason why the copy of the manifest could not be written.
    failed: Option<String>,
    /// Counts of reading the files back.
    imported: Option<Imported>,
}

/// Makes the state follow the files, which are all in place: the view is promoted by the rules of `export`, or the files are
/// read back into the page rows.
fn follow(
    store: &mut Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    pending: &Pending,
    export: Option<&Export>,
) -> Result<Followed, PublishError> {
    let copy = pending.manifest.copy_text();
    let path = folder.path(MANIFEST_COPY);
    let known = folder::read_text(&path, previous::MAX_MANIFEST_BYTES);
    let copied = if known.as_ref() == Some(&copy) {
        Ok(())
    } else {
        folder.write(MANIFEST_COPY, copy.as_bytes(), pending.at)
    };
    let mut followed = Followed {
        failed: problem(copied),
        imported: None,
    };
    if !request.config.remembers {
        return Ok(followed);
    }
    let mut values = pending.values.clone();
    values.push(pending.manifest.value());
    commit(store, &Effect::values(values))?;
    if let Some(export) = export {
        let promoting = Promoting {
            judge: request.judge,
            export,
            mode: pending.mode,
            crawl: crawl_state::number(store)?,
            at: pending.at,
            is_drained: pending.is_drained,
        };
        promoting.promote(store, pending)?;
    } else {
        let notifies = !pending.is_first;
        let read = import::read_back(store, request.site, &pending.manifest, pending.at, notifies)?;
        followed.imported = Some(read);
    }
    Ok(followed)
}

/// The fingerprint of the rules that decide which URLs are listed, and with which dates.
fn rules_of(request: &PublishRequest<'_>) -> u64 {
    let PublishConfig {
        lastmod,
        extensions,
        ..
    } = request.config;
    let text = format!("{} {lastmod:?} {extensions:?}", request.judge.fingerprint());
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}
