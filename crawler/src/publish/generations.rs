//! The sets that were published last, and the restoration of one of them.
//!
//! | file | owns |
//! | --- | --- |
//! | `list` | the list of the sets, in the state: it changes in the commit that records a publish |
//! | `copies` | the copies of their files beside the state, named by their hashes |
//! | `restore` | building an archived set again, to be installed like a new set |
//!
//! The files of a set are copied before another set replaces it.

mod copies;
mod list;
mod restore;

use std::collections::HashSet;

use self::{
    copies::Copies,
    list::{read, value},
};
use super::{
    PublishError, PublishRequest, PublishedSet, files::FileKind, folder::Folder, problem,
    set::ReadySet,
};
use crate::{
    page::CrawlId,
    store::{MetaValue, Store},
};

pub(super) use self::{
    list::{Generation, restorable},
    restore::Restored,
};

/// Archives the published set, which `set` is to replace. Returns the value with the new list of sets, and what failed. A
/// set whose files cannot be copied leaves the list. `earlier` replaces the list of the state.
///
/// # Errors
/// The store cannot be read.
pub(super) fn archive(
    store: &Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    set: &ReadySet,
    published: &PublishedSet,
    crawl: CrawlId,
    earlier: Option<Vec<Generation>>,
) -> Result<(Vec<MetaValue>, Option<String>), PublishError> {
    let Some(path) = &request.config.generations else {
        return Ok((Vec::new(), None));
    };
    let mut failed = None;
    let mut sets = if let Some(earlier) = earlier {
        earlier
    } else {
        let mut sets = read(store)?;
        let last = sets.pop();
        let known = &set.previous.manifest.set_id;
        if let Some(last) = last
            && last.manifest.set_id == *known
            && !last.has_files_of(&set.manifest)
            // Of a set that somebody removed nothing can be restored.
            && last.manifest.files.iter().all(|file| folder.exists(&file.name))
        {
            let copied = Copies::open(path).and_then(|copies| {
                // An index is written again when its set is restored.
                let files = last.files.iter().zip(&last.manifest.files);
                for (_, record) in files.filter(|(file, _)| file.kind != FileKind::Index) {
                    copies.copy_file(&folder.path(&record.name), &record.file_sha256)?;
                }
                copies.sync()
            });
            failed = problem(copied);
            sets.extend(Some(last).filter(|_| failed.is_none()));
        }
        sets
    };
    list::forget_old(&mut sets, crawl);
    sets.push(Generation::of(set, published, crawl));
    Ok((vec![value(&sets)], failed))
}

/// Removes the copies that no listed set has any more. Files that arpent did not put there stay.
///
/// # Errors
/// The store, or the folder, cannot be read, or a copy not be removed.
pub(super) fn sweep(store: &Store, request: &PublishRequest<'_>) -> Result<(), PublishError> {
    let path = request.config.generations.as_ref();
    let Some(path) = path.filter(|path| path.is_dir()) else {
        return Ok(());
    };
    let sets = read(store)?;
    let files = sets.iter().flat_map(|set| &set.manifest.files);
    let named: HashSet<&str> = files.map(|file| file.file_sha256.as_str()).collect();
    Copies::open(path)?.sweep(|hash| named.contains(hash))
}
