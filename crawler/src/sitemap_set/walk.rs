//! The walk over a set: a document, and all that the indexes among them list, in files or at URLs. What is fetched is fetched under the
//! clocks and the robots.txt of its host.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

use sitemap_core::{
    Loc,
    read::{Item, Kind, Reader},
    validate::READING_LIMITS,
};

use super::{MAX_ENTRIES, SetEntry, SetError, SetReading};
use crate::{
    check::{MAX_FETCHED_BYTES, MAX_INDEXES, Stopped, Watched, listed_by},
    client::{DownloadedDocument, Downloader},
    page::BodyEnd,
    store::with_causes,
};

/// The most documents of one set: two full indexes.
const MAX_DOCUMENTS: usize = 100_000;

/// The role of a document in its set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentRole {
    /// The document that was named: a feed counts.
    Whole,
    /// One of several. A feed is passed over, because it repeats recent entries of the others.
    Part,
}

/// Place of a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum DocumentPlace {
    File(PathBuf),
    Url(Loc),
}

/// A document that waits.
struct WaitingDocument {
    place: DocumentPlace,
    role: DocumentRole,
    /// Indexes that lead to it.
    indexes: u32,
}

impl SetReading<'_, '_> {
    /// Reads documents, and all that the indexes among them list. The permissions of the first URL hold for all.
    pub(super) fn walk(
        &mut self,
        places: Vec<DocumentPlace>,
        role: DocumentRole,
    ) -> Result<(), SetError> {
        let mut downloader: Option<Downloader> = None;
        let mut seen: HashSet<DocumentPlace> = HashSet::new();
        let mut waiting = Vec::new();
        // The last one is taken first.
        let mut add = |waiting: &mut Vec<_>, places: Vec<DocumentPlace>, role, indexes| {
            let new = places
                .into_iter()
                .filter(|place| seen.insert(place.clone()));
            let new: Vec<DocumentPlace> = new.collect();
            waiting.extend(new.into_iter().rev().map(|place| WaitingDocument {
                place,
                role,
                indexes,
            }));
            seen.len() <= MAX_DOCUMENTS
        };
        add(&mut waiting, places, role, 0);
        while let Some(next) = waiting.pop() {
            self.progress.figures().queued = waiting.len() as u64;
            let WaitingDocument {
                place,
                role,
                indexes,
            } = next;
            let (name, listed) = match place {
                DocumentPlace::File(file) => {
                    let name = file.display().to_string();
                    if self.file(&file, role)?.is_none() {
                        continue;
                    }
                    let listed = listed_by(&file).map_err(|reason| self.unreadable(reason))?;
                    let listed = listed.into_iter().map(DocumentPlace::File);
                    (name, listed.collect())
                }
                DocumentPlace::Url(loc) => {
                    let mut answer = self.fetch(&mut downloader, &loc)?;
                    let name = loc.to_string();
                    let body = answer.body();
                    let body = body.map_err(|error| self.unreadable(format!("{name}: {error}")))?;
                    let Some(listed) = self.document(&name, Some(&loc), role, body)? else {
                        continue;
                    };
                    let listed = listed.into_iter().map(DocumentPlace::Url);
                    (name, listed.collect())
                }
            };
            if indexes >= MAX_INDEXES {
                let reason = format!("more indexes lead to {name} than are followed");
                return Err(self.unreadable(reason));
            }
            if !add(&mut waiting, listed, DocumentRole::Part, indexes + 1) {
                return Err(self.too_many_documents());
            }
        }
        Ok(())
    }

    fn too_many_documents(&self) -> SetError {
        self.unreadable(format!("it has more than {MAX_DOCUMENTS} documents"))
    }

    /// Reads the document in a file, as [`Self::document`] does.
    pub(super) fn file(
        &mut self,
        path: &Path,
        role: DocumentRole,
    ) -> Result<Option<Vec<Loc>>, SetError> {
        let name = path.display().to_string();
        // A folder can be opened like a file.
        let file = if path.is_dir() {
            Err(io::ErrorKind::IsADirectory.into())
        } else {
            File::open(path)
        };
        let file = file.map_err(|error| self.unreadable(format!("{name}: {error}")))?;
        self.document(&name, None, role, BufReader::new(file))
    }

    /// Reads a document, whose entries are handed on. Returns what an index lists; `None`: it is no index.
    fn document(
        &mut self,
        name: &str,
        place: Option<&Loc>,
        role: DocumentRole,
        input: impl BufRead,
    ) -> Result<Option<Vec<Loc>>, SetError> {
        let shutdown = self.network.shutdown.clone();
        let input = Watched {
            input,
            progress: self.progress,
            shutdown: &shutdown,
        };
        let mut reader = Reader::new(input, READING_LIMITS);
        if let Some(place) = place {
            reader = reader.at(place);
        }
        let skips_feeds = role == DocumentRole::Part && !self.takes_listed_feeds;
        let before = self.entries;
        let mut listed = Vec::new();
        loop {
            let item = reader.next();
            let kind = reader.kind();
            let is_index = kind == Some(Kind::Index);
            match item {
                _ if shutdown.is_stopping() => return Err(SetError::Stopped),
                Some(Err(error)) if error.is_fatal() || kind.is_none() || is_index => {
                    return Err(self.unreadable(format!("{name}: {}", with_causes(&error))));
                }
                _ if skips_feeds && kind.is_some_and(Kind::is_feed) => return Ok(None),
                Some(Ok(Item::Url(entry))) => {
                    (self.take)(SetEntry {
                        document: name,
                        kind: kind.unwrap_or(Kind::UrlSet),
                        entry: &entry,
                    })?;
                    self.entries += 1;
                }
                Some(Ok(Item::Sitemap(entry))) => listed.push(entry.loc),
                Some(Err(_)) => self.outline.left_out += 1,
                None => break,
            }
            if listed.len() > MAX_DOCUMENTS {
                return Err(self.too_many_documents());
            }
            if self.entries > MAX_ENTRIES {
                return Err(self.unreadable(format!("it has more than {MAX_ENTRIES} entries")));
            }
        }
        match reader.kind() {
            Some(Kind::Index) => return Ok(Some(listed)),
            Some(_) => {
                self.outline.sitemaps += 1;
                let mut figures = self.progress.figures();
                figures.documents += 1;
                figures.entries += self.entries - before;
            }
            None => {}
        }
        Ok(None)
    }

    /// The complete answer of a URL with status 200.
    fn fetch(
        &mut self,
        downloader: &mut Option<Downloader>,
        loc: &Loc,
    ) -> Result<DownloadedDocument, SetError> {
        let url = self.network.identity.parse(loc.as_str());
        let url = url.map_err(|error| self.unreadable(format!("{loc}: {error}")))?;
        let downloader = if let Some(downloader) = downloader {
            downloader
        } else {
            let new = (self.network.connect)(&url.origin())?;
            downloader.insert(new.with_max_bytes(MAX_FETCHED_BYTES))
        };
        self.progress.turn_to(loc);
        let shutdown = self.network.shutdown.clone();
        let answer = self.network.wait(downloader.download(&url, &shutdown));
        let answer = answer.map_err(|Stopped| SetError::Stopped)?;
        let answer = answer.map_err(|error| self.unreadable(error.to_string()))?;
        let problem = match &answer.end {
            _ if answer.status != 200 => format!("answered {}", answer.status),
            BodyEnd::Complete | BodyEnd::Skipped => return Ok(answer),
            BodyEnd::CutShort => "was cut short".to_owned(),
            BodyEnd::TooLarge => format!("has more than {MAX_FETCHED_BYTES} bytes"),
            BodyEnd::Undecodable(coding) => format!("cannot be decoded ({coding})"),
        };
        Err(self.unreadable(format!("{loc} {problem}")))
    }
}
