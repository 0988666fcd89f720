//! Differences between two published sets: [`Comparison`] reads both into a temporary file, [`SetDiff`] has the counts and the
//! first URLs, in all and by first-level directory. Nothing is judged or printed here.
//!
//! ```text
//! folder, index, sitemap -> files -\
//! set kept for a rollback -> files --> EntryPairs -> SetDiff
//! URL -> live (robots.txt, clocks) -/
//! ```

mod count;
mod document;
mod live;

use std::{collections::VecDeque, path::PathBuf};

use serde::Serialize;
use sitemap_core::read::Kind;

use self::document::{DocumentRole, SetDocument};
use crate::{
    check::{CheckProgress, MAX_INDEXES, Network, listed_by, sitemaps_in},
    fetch::FetchError,
    publish::{RetainedFile, published_files},
    store::{EntryPairs, SetSide, StoreError},
    url_key::UrlKey,
};

pub use self::count::{SectionDiff, SetDiff};

/// The most entries of one set: 10 million URLs of 100 bytes take about 2 GB of the temporary file.
pub const MAX_ENTRIES: u64 = 10_000_000;

/// The most documents of one set: two full indexes.
const MAX_DOCUMENTS: usize = 100_000;

/// Place of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetPlace {
    /// A sitemap, an index with its sitemaps beside it or below, or a folder: with a manifest its files, else what its only
    /// index lists, else all its sitemaps.
    Path(PathBuf),
    /// A sitemap, or an index with all that it lists.
    Url(UrlKey),
    /// The files of a set of a state.
    Files(Vec<RetainedFile>),
}

/// Outline of a set that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SetOutline {
    /// Its name, as it was typed.
    pub set: String,
    /// Documents with entries.
    pub sitemaps: u64,
    /// Different URLs.
    pub urls: u64,
    /// Entries that cannot be read.
    pub left_out: u64,
}

/// Reason why two sets cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// A document of a set cannot be read, or there is no such set.
    #[error("the set {set} cannot be read: {reason}")]
    Unreadable {
        /// Name of the set.
        set: String,
        /// The document, and what is wrong with it.
        reason: String,
    },
    /// A setting of the network cannot be used.
    #[error("the way to the network cannot be used")]
    Network(#[from] FetchError),
    /// The temporary file failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The work was stopped.
    #[error("stopped before both sets were read")]
    Stopped,
}

/// Two sets while they are read. Its methods block: they are for a thread that may.
#[expect(missing_debug_implementations, reason = "the network holds a function")]
pub struct Comparison<'n> {
    pairs: EntryPairs,
    network: Network<'n>,
    progress: CheckProgress,
    outlines: [SetOutline; 2],
}

impl<'n> Comparison<'n> {
    /// Nothing is read yet.
    ///
    /// # Errors
    /// There is no room for the temporary file.
    pub fn new(network: Network<'n>, progress: CheckProgress) -> Result<Self, DiffError> {
        Ok(Self {
            pairs: EntryPairs::new()?,
            network,
            progress,
            outlines: Default::default(),
        })
    }

    /// Reads a set, whose name in messages is `name`.
    ///
    /// # Errors
    /// See [`DiffError`].
    pub fn read(&mut self, side: SetSide, name: &str, place: &SetPlace) -> Result<(), DiffError> {
        let outline = match side {
            SetSide::First => &mut self.outlines[0],
            SetSide::Second => &mut self.outlines[1],
        };
        name.clone_into(&mut outline.set);
        let mut set = SetReading {
            pairs: &mut self.pairs,
            side,
            network: &mut self.network,
            progress: &self.progress,
            outline,
            entries: 0,
        };
        match place {
            SetPlace::Path(path) => set.path(path)?,
            SetPlace::Url(url) => set.url(url)?,
            SetPlace::Files(files) => set.published(files)?,
        }
        if set.outline.sitemaps == 0 {
            return Err(set.unreadable("it holds no sitemap".to_owned()));
        }
        Ok(())
    }

    /// Compares the two sets.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn finish(self) -> Result<SetDiff, DiffError> {
        Ok(SetDiff::of(&self.pairs, self.outlines)?)
    }
}

/// A set while it is read.
struct SetReading<'r, 'n> {
    pairs: &'r mut EntryPairs,
    side: SetSide,
    network: &'r mut Network<'n>,
    progress: &'r CheckProgress,
    outline: &'r mut SetOutline,
    /// Entries so far, repeated ones among them.
    entries: u64,
}

impl SetReading<'_, '_> {
    fn unreadable(&self, reason: String) -> DiffError {
        DiffError::Unreadable {
            set: self.outline.set.clone(),
            reason,
        }
    }

    /// Reads a folder, or a file with all that it lists.
    fn path(&mut self, path: &std::path::Path) -> Result<(), DiffError> {
        if !path.is_dir() {
            return self.files(vec![path.to_owned()], DocumentRole::Whole);
        }
        if let Some(files) = published_files(path) {
            return self.published(&files);
        }
        let files = sitemaps_in(path).map_err(|reason| self.unreadable(reason))?;
        self.files(files, DocumentRole::Part)
    }

    /// Reads files with all that indexes among them list.
    fn files(&mut self, files: Vec<PathBuf>, role: DocumentRole) -> Result<(), DiffError> {
        let mut queue: VecDeque<_> = files.into_iter().map(|file| (file, role, 0)).collect();
        let mut queued = queue.len();
        while let Some((file, role, indexes)) = queue.pop_front() {
            let document = SetDocument::file(&file, role);
            let read = self.document(document)?;
            if read != Some(Kind::Index) {
                continue;
            }
            if indexes >= MAX_INDEXES {
                let reason = format!("{} is an index too deep", file.display());
                return Err(self.unreadable(reason));
            }
            let listed = listed_by(&file).map_err(|reason| self.unreadable(reason))?;
            queued += listed.len();
            if queued > MAX_DOCUMENTS {
                return Err(self.unreadable(too_many_documents()));
            }
            queue.extend(
                listed
                    .into_iter()
                    .map(|file| (file, DocumentRole::Part, indexes + 1)),
            );
        }
        Ok(())
    }

    /// Reads the files of a published set. Its indexes list the other ones.
    fn published(&mut self, files: &[RetainedFile]) -> Result<(), DiffError> {
        for file in files {
            if !file.is_intact() {
                let reason = format!("{} is missing or not as it was published", file.name);
                return Err(self.unreadable(reason));
            }
            self.document(SetDocument::file(&file.path, DocumentRole::Part))?;
        }
        Ok(())
    }
}

fn too_many_documents() -> String {
    format!("it has more than {MAX_DOCUMENTS} documents")
}
