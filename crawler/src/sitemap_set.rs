//! The entries of a set of sitemaps: a folder, a file with all that it lists, the files of a published set, or a URL with all that it
//! lists. [`SetReading`] hands each entry on and keeps none. Nothing is judged or written here.
//!
//! ```text
//! folder, index, sitemap; URL -> walk -\
//! set for a rollback -> its files ------> SetReading -> SetEntry
//! ```

mod walk;

use std::path::{Path, PathBuf};

use serde::Serialize;
use sitemap_core::{Loc, UrlEntry, read::Kind};

use self::walk::{DocumentPlace, DocumentRole};
use crate::{
    check::{CheckProgress, Network, sitemaps_in},
    client::ConnectError,
    outcome::SessionOutcome,
    publish::{RetainedFile, published_files},
    store::StoreError,
    url_key::UrlKey,
};

/// The most entries of one set: 10 million URLs of 100 bytes take about 2 GB of the temporary file.
pub const MAX_ENTRIES: u64 = 10_000_000;

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
    /// The name, as it was typed.
    pub set: String,
    /// Documents with entries.
    pub sitemaps: u64,
    /// Different URLs.
    pub urls: u64,
    /// Entries that cannot be read.
    pub left_out: u64,
}

/// Reason why a set cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
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
    Network(#[from] ConnectError),
    /// The temporary file failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The work was stopped.
    #[error("stopped before all was read")]
    Stopped,
}

impl SetError {
    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        match self {
            Self::Unreadable { .. } => SessionOutcome::Unreachable,
            Self::Network(error) => error.outcome(),
            Self::Store(error) => error.outcome(),
            Self::Stopped => SessionOutcome::Interrupted,
        }
    }
}

/// An entry of a set.
#[derive(Debug, Clone, Copy)]
pub struct SetEntry<'a> {
    /// Path or URL of the document that it is in.
    pub document: &'a str,
    /// Kind of the document.
    pub kind: Kind,
    /// The entry.
    pub entry: &'a UrlEntry,
}

/// Takes the entries of a set.
pub type TakeEntry<'a> = dyn FnMut(SetEntry<'_>) -> Result<(), StoreError> + 'a;

/// A set while it is read. Its methods block: they are for a thread that may.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct SetReading<'r, 'n> {
    network: &'r mut Network<'n>,
    progress: &'r CheckProgress,
    take: &'r mut TakeEntry<'r>,
    /// A feed that an index lists is read too.
    takes_listed_feeds: bool,
    outline: SetOutline,
    /// Entries so far, repeated ones among them.
    entries: u64,
}

impl<'r, 'n> SetReading<'r, 'n> {
    /// Nothing is read yet. A feed that an index lists, or that is in a folder, is passed over.
    pub fn new(
        network: &'r mut Network<'n>,
        progress: &'r CheckProgress,
        take: &'r mut TakeEntry<'r>,
    ) -> Self {
        Self {
            network,
            progress,
            take,
            takes_listed_feeds: false,
            outline: SetOutline::default(),
            entries: 0,
        }
    }

    /// The same, with the feeds that indexes list.
    #[must_use]
    pub fn with_listed_feeds(mut self) -> Self {
        self.takes_listed_feeds = true;
        self
    }

    /// Reads a set, whose name in messages is `name`.
    ///
    /// # Errors
    /// See [`SetError`].
    pub fn read(mut self, name: &str, place: &SetPlace) -> Result<SetOutline, SetError> {
        name.clone_into(&mut self.outline.set);
        match place {
            SetPlace::Path(path) => self.path(path)?,
            SetPlace::Url(url) => self.url(url)?,
            SetPlace::Files(files) => self.published(files)?,
        }
        if self.outline.sitemaps == 0 {
            return Err(self.unreadable("it has no sitemap".to_owned()));
        }
        Ok(self.outline)
    }

    fn unreadable(&self, reason: String) -> SetError {
        SetError::Unreadable {
            set: self.outline.set.clone(),
            reason,
        }
    }

    /// Reads a folder, or a file with all that it lists.
    fn path(&mut self, path: &Path) -> Result<(), SetError> {
        if !path.is_dir() {
            let file = DocumentPlace::File(path.to_owned());
            return self.walk(vec![file], DocumentRole::Whole);
        }
        if let Some(files) = published_files(path) {
            return self.published(&files);
        }
        let files = sitemaps_in(path).map_err(|reason| self.unreadable(reason))?;
        let files = files.into_iter().map(DocumentPlace::File);
        self.walk(files.collect(), DocumentRole::Part)
    }

    /// Reads what is at a URL, and all that it lists.
    fn url(&mut self, url: &UrlKey) -> Result<(), SetError> {
        let loc = Loc::parse(url.as_str()).map_err(|error| self.unreadable(error.to_string()))?;
        self.walk(vec![DocumentPlace::Url(loc)], DocumentRole::Whole)
    }

    /// Reads the files of a published set. Its indexes list the other ones.
    fn published(&mut self, files: &[RetainedFile]) -> Result<(), SetError> {
        for file in files {
            if !file.is_intact() {
                let reason = format!("{} is missing or not as it was published", file.name);
                return Err(self.unreadable(reason));
            }
            self.file(&file.path, DocumentRole::Part)?;
        }
        Ok(())
    }
}
