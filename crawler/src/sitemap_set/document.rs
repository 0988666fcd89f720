//! One document of a set: its entries go into the table.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use sitemap_core::{
    Loc,
    read::{Item, Kind, Reader},
    validate::READING_LIMITS,
};

use super::{MAX_ENTRIES, SetEntry, SetError, SetReading};
use crate::{check::Watched, store::with_causes};

/// The role of a document in its set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentRole {
    /// The document that was named: a feed counts.
    Whole,
    /// One of several. A feed is passed over, because it repeats recent entries of the others.
    Part,
}

/// A document before it is read.
pub(super) struct SetDocument<'d> {
    /// The path or URL.
    pub(super) name: String,
    pub(super) place: Option<&'d Loc>,
    pub(super) role: DocumentRole,
    pub(super) input: io::Result<Box<dyn BufRead + 'd>>,
}

impl SetDocument<'_> {
    /// The document in a file.
    pub(super) fn file(path: &Path, role: DocumentRole) -> Self {
        let open = || -> io::Result<Box<dyn BufRead>> {
            // A folder can be opened like a file.
            if path.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            Ok(Box::new(BufReader::new(File::open(path)?)))
        };
        Self {
            name: path.display().to_string(),
            place: None,
            role,
            input: open(),
        }
    }
}

impl SetReading<'_, '_> {
    /// Reads a document; returns its kind. The entries of an index are not read.
    pub(super) fn document(&mut self, document: SetDocument<'_>) -> Result<Option<Kind>, SetError> {
        let name = document.name;
        let input = document
            .input
            .map_err(|error| self.unreadable(format!("{name}: {error}")))?;
        let shutdown = self.network.shutdown.clone();
        let input = Watched {
            input,
            progress: self.progress,
            shutdown: &shutdown,
        };
        let mut reader = Reader::new(input, READING_LIMITS);
        if let Some(place) = document.place {
            reader = reader.at(place);
        }
        let before = self.entries;
        loop {
            let item = reader.next();
            let kind = reader.kind();
            let skips_feeds = document.role == DocumentRole::Part && !self.takes_listed_feeds;
            let is_left_out =
                kind == Some(Kind::Index) || skips_feeds && kind.is_some_and(Kind::is_feed);
            match item {
                _ if shutdown.is_stopping() => return Err(SetError::Stopped),
                Some(Err(error)) if error.is_fatal() || kind.is_none() => {
                    return Err(self.unreadable(format!("{name}: {}", with_causes(&error))));
                }
                _ if is_left_out => return Ok(kind),
                Some(Ok(Item::Url(entry))) => {
                    (self.take)(SetEntry {
                        document: &name,
                        kind: kind.unwrap_or(Kind::UrlSet),
                        entry: &entry,
                    })?;
                    self.entries += 1;
                }
                Some(Ok(Item::Sitemap(_))) => {}
                Some(Err(_)) => self.outline.left_out += 1,
                None => break,
            }
            if self.entries > MAX_ENTRIES {
                return Err(self.unreadable(format!("it has more than {MAX_ENTRIES} entries")));
            }
        }
        let kind = reader.kind();
        if kind.is_some() {
            self.outline.sitemaps += 1;
            let mut figures = self.progress.figures();
            figures.documents += 1;
            figures.entries += self.entries - before;
        }
        Ok(kind)
    }
}
