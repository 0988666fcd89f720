//! Where the files of a folder are served: where somebody said, or at the [`Mounts`] that its indexes tell of.

use std::path::{Path, PathBuf};

use sitemap_core::Loc;

use super::{mounts::Mounts, places::Base};

/// A folder that is served at a base. Its path, and those of its indexes, are relative to the folder that is checked.
#[derive(Debug)]
pub(super) struct Mount {
    pub(super) below: PathBuf,
    pub(super) base: Base,
    /// The indexes that stand on it, the one first that says where it is served.
    pub(super) indexes: Vec<PathBuf>,
}

impl Mount {
    pub(super) fn new(below: PathBuf, base: Base) -> Self {
        Self {
            below,
            base,
            indexes: Vec::new(),
        }
    }

    /// Where a file of the folder is served.
    pub(super) fn place(&self, file: &Path) -> Option<Loc> {
        self.base.place(file.strip_prefix(&self.below).ok()?)
    }

    /// The file that is served at a URL, whether it exists or not; `None` for a URL elsewhere.
    pub(super) fn file(&self, loc: &Loc) -> Option<PathBuf> {
        Some(self.below.join(self.base.relative(loc)?))
    }
}

/// How it is known where the files of a folder are served.
#[derive(Debug)]
pub(super) enum Bases {
    /// Somebody said it of the whole folder.
    Said(Mount),
    /// The indexes in the folder say it.
    Guessed(Mounts),
}

impl Bases {
    /// The whole folder is served at one place.
    pub(super) fn said(base: Base) -> Self {
        Self::Said(Mount::new(PathBuf::new(), base))
    }

    /// What the folder is known to be served at, as a whole or in parts.
    pub(super) fn mounts(&self) -> &[Mount] {
        match self {
            Self::Said(mount) => std::slice::from_ref(mount),
            Self::Guessed(mounts) => mounts.all(),
        }
    }

    /// Whether it is known where an index is served.
    pub(super) fn knows(&self, index: &Path) -> bool {
        match self {
            Self::Said(_) => true,
            Self::Guessed(mounts) => mounts.of_file(index).is_some(),
        }
    }

    /// Where a file is served. Of one that nothing lists it is decided by its first `entries`.
    pub(super) fn place(&self, file: &Path, entries: impl FnOnce() -> Vec<Loc>) -> Option<Loc> {
        match self {
            Self::Said(mount) => mount.place(file),
            Self::Guessed(mounts) => {
                let mount = mounts
                    .of_file(file)
                    .or_else(|| mounts.of_entries(file, &entries()));
                mount?.place(file)
            }
        }
    }

    /// The file that a sitemap is which `index` lists, whether it exists or not; `None` for what stands elsewhere.
    pub(super) fn file(&self, root: &Path, index: &Path, child: &Loc) -> Option<PathBuf> {
        let child = without_query(child);
        match self {
            Self::Said(mount) => mount.file(&child),
            Self::Guessed(mounts) => mounts.file(root, Some(index), &child),
        }
    }

    /// Takes a file in where `index` lists it, if it is there; returns the file. What lists it first counts.
    pub(super) fn take(&mut self, root: &Path, index: &Path, child: &Loc) -> Option<PathBuf> {
        let child = without_query(child);
        match self {
            Self::Said(mount) => mount
                .file(&child)
                .filter(|file| file != index && root.join(file).is_file()),
            Self::Guessed(mounts) => mounts.take(root, Some(index), &child),
        }
    }

    /// Takes a file in where a robots.txt names it, unless an index lists it.
    pub(super) fn take_named(&mut self, root: &Path, sitemap: &Loc) {
        match self {
            Self::Said(_) => {}
            Self::Guessed(mounts) => {
                mounts.take(root, None, &without_query(sitemap));
            }
        }
    }
}

/// A URL without its query, which says nothing to a server of files.
pub(super) fn without_query(loc: &Loc) -> Loc {
    let path = loc.as_str().split('?').next().unwrap_or_default();
    Loc::parse(path).unwrap_or_else(|_| loc.clone())
}
