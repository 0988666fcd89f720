//! The sets that were published last, and the way back to one of them.
//!
//! | file | owns |
//! | --- | --- |
//! | `list` | which sets are kept, as the state says: it changes in the commit that records a publish |
//! | `copies` | the copies of their files beside the state, named by what is in them |
//! | `restore` | building a kept set again, for the way that every set goes |
//!
//! It puts nothing in place and records nothing by itself: that is done by [`super::install`], for all sets.

mod copies;
mod list;
mod restore;

pub(super) use self::{
    list::{Generation, carried},
    restore::stage,
};
pub use self::{
    list::{KEPT_SETS, KeptSet, kept_sets},
    restore::roll_back,
};

use std::collections::HashSet;

use self::{
    copies::Copies,
    list::{List, Made, set_aside, value},
};
use super::{
    PublishError, PublishRequest, RUN, Standing,
    files::FileKind,
    folder::Folder,
    manifest::Manifest,
    problem,
    set::{Origin, ReadySet},
};
use crate::{
    export,
    notes::Note,
    runs,
    store::{Store, outbox::OutboxStep, undo::UndoStep},
};

/// What is to be recorded of the sets that are kept, and told.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    /// Values of the state.
    pub(super) values: Vec<(String, Option<String>)>,
    /// What the store does before what the set changes is taken, ...
    pub(super) before: Vec<OutboxStep>,
    /// ... and behind that.
    pub(super) behind: Vec<OutboxStep>,
    /// What the user should know.
    pub(super) note: Option<Note>,
    /// Why the set that stands is none of those that are kept.
    pub(super) problem: Option<String>,
}

/// Copies what is new of the set that now stands, and returns what lists it, for the commit that records it. A set
/// whose files cannot be copied is not listed; that is a problem, and no failure.
///
/// # Errors
/// The store cannot be read.
pub(super) fn keep(
    store: &dyn Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    set: &ReadySet,
    manifest: &Manifest,
    standing: &Standing,
) -> Result<Keeping, PublishError> {
    let Some(path) = &request.config.generations else {
        return Ok(Keeping::default());
    };
    let mut keeping = Keeping::default();
    let mut made = match &set.origin {
        Origin::Kept(sets) => sets.last().and_then(|set| set.made.clone()),
        Origin::Run(_) => Some(Made::now(store, request.run)?),
    };
    let mut sets = match &set.origin {
        Origin::Kept(sets) => {
            keeping.step_back(made.as_ref());
            sets.clone()
        }
        Origin::Run(_) => match list::read(store)? {
            List::Sets(sets) => sets,
            List::Unreadable { text, reason } => {
                let Some(aside) = set_aside(store, text)? else {
                    keeping.problem = Some(format!(
                        "failed to keep a copy of the set: the list of those that are kept cannot be read ({reason}), \
                         and too many like it are set aside already"
                    ));
                    return Ok(keeping);
                };
                keeping.note = Some(Note::generations_set_aside(&reason, &aside.0));
                keeping.values.push(aside);
                Vec::new()
            }
        },
    };
    let copied = Copies::open(path).and_then(|copies| {
        // An index is written anew when its set is restored.
        let files = set.built.iter().zip(&manifest.files);
        let files = files.filter(|(file, _)| file.kind != FileKind::Index);
        for (_, record) in files {
            copies.take(&folder.path(&record.name), &record.file_sha256)?;
        }
        copies.sync()
    });
    keeping.problem = problem(copied);
    if keeping.problem.is_none() {
        let same = sets.pop_if(|last| last.has_files_of(manifest));
        if let (Some(same), Some(made)) = (same, &mut made)
            && same.number() > 0
        {
            // What was known before it is kept already.
            made.number = same.number();
        }
        sets.push(Generation::of(set, manifest, standing, made.clone()));
        let surplus = sets.len().saturating_sub(KEPT_SETS);
        sets.drain(..surplus);
    }
    keeping.values.push(value(&sets));
    if let (Origin::Run(_), Some(made)) = (&set.origin, &made) {
        let oldest = sets.first().map_or(made.number, Generation::number);
        keeping
            .before
            .push(OutboxStep::Undo(UndoStep::ForgetBefore(oldest)));
        keeping
            .before
            .push(OutboxStep::Undo(UndoStep::KeepBefore(made.number)));
        keeping.values.push(made.value());
    }
    Ok(keeping)
}

impl Keeping {
    /// The runs behind the set that is restored, of which this is known, are as if they had been refused: the next
    /// crawl begins anew, and knows of the site what was known with the set.
    fn step_back(&mut self, made: Option<&Made>) {
        self.behind.push(OutboxStep::Undo(UndoStep::StepBack {
            to: made.map_or(0, |made| made.number),
            run: made.map(|made| made.run),
        }));
        self.values.push(runs::finished());
        if let Some(made) = made {
            let run = Some(made.run).filter(|run| *run > 0);
            let run = run.map(|run| run.to_string());
            self.values.push((RUN.to_owned(), run));
            self.values
                .push(export::distrusted_value(made.distrusted.clone()));
        }
    }
}

/// Removes the copies that no listed set has any more, nor one whose list was set aside. Of what arpent did not put
/// there nothing is touched.
///
/// # Errors
/// The store, or the folder, cannot be read, or a copy not be removed.
pub(super) fn sweep(store: &dyn Store, request: &PublishRequest<'_>) -> Result<(), PublishError> {
    let path = request.config.generations.as_ref();
    let Some(path) = path.filter(|path| path.is_dir()) else {
        return Ok(());
    };
    let List::Sets(sets) = list::read(store)? else {
        return Ok(());
    };
    let files = sets.iter().flat_map(|set| &set.manifest.files);
    let named: HashSet<&str> = files.map(|file| file.file_sha256.as_str()).collect();
    let aside = list::aside(store)?;
    Copies::open(path)?
        .sweep(|hash| named.contains(hash) || aside.iter().any(|list| list.contains(hash)))
}
