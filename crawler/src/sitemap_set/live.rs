//! The set at a URL: a sitemap, or an index with all that it lists, fetched under the clocks and the robots.txt of each host.

use std::collections::HashSet;

use sitemap_core::{
    Loc,
    read::{Item, Kind, Reader},
    validate::READING_LIMITS,
};

use super::{
    MAX_DOCUMENTS, SetError, SetReading,
    document::{DocumentRole, SetDocument},
    too_many_documents,
};
use crate::{
    check::{MAX_FETCHED_BYTES, MAX_INDEXES, Stopped},
    client::{DownloadedDocument, Downloader},
    page::BodyEnd,
    url_key::UrlKey,
};

/// A document that waits.
struct WaitingDocument {
    loc: Loc,
    /// Indexes that lead to it.
    indexes: u32,
}

impl SetReading<'_, '_> {
    /// Reads the set at a URL.
    pub(super) fn url(&mut self, start: &UrlKey) -> Result<(), SetError> {
        let downloader = (self.network.connect)(&start.origin())?;
        let downloader = downloader.with_max_bytes(MAX_FETCHED_BYTES);
        let loc = Loc::parse(start.as_str()).map_err(|error| self.unreadable(error.to_string()))?;
        let mut waiting = vec![WaitingDocument { loc, indexes: 0 }];
        let mut seen: HashSet<Loc> = HashSet::new();
        while let Some(next) = waiting.pop() {
            self.progress.figures().queued = waiting.len() as u64;
            let mut answer = self.fetch(&downloader, &next.loc)?;
            let kind = self.answer(&next, &mut answer)?;
            if kind != Some(Kind::Index) {
                continue;
            }
            if next.indexes >= MAX_INDEXES {
                return Err(self.unreadable(format!(
                    "more indexes lead to {} than are followed",
                    next.loc
                )));
            }
            let mut listed = self.listed(&next.loc, &mut answer)?;
            listed.retain(|loc| seen.insert(loc.clone()));
            if seen.len() > MAX_DOCUMENTS {
                return Err(self.unreadable(too_many_documents()));
            }
            // The last one is taken first.
            let indexes = next.indexes + 1;
            let listed = listed.into_iter().rev();
            waiting.extend(listed.map(|loc| WaitingDocument { loc, indexes }));
        }
        Ok(())
    }

    /// The complete answer of a URL with status 200.
    fn fetch(
        &mut self,
        downloader: &Downloader,
        loc: &Loc,
    ) -> Result<DownloadedDocument, SetError> {
        let url = self.network.identity.parse(loc.as_str());
        let url = url.map_err(|error| self.unreadable(format!("{loc}: {error}")))?;
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

    /// Takes the entries of an answer; returns the kind of the document.
    fn answer(
        &mut self,
        waiting: &WaitingDocument,
        answer: &mut DownloadedDocument,
    ) -> Result<Option<Kind>, SetError> {
        let role = if waiting.indexes == 0 {
            DocumentRole::Whole
        } else {
            DocumentRole::Part
        };
        let input = answer.body();
        self.document(SetDocument {
            name: waiting.loc.to_string(),
            place: Some(&waiting.loc),
            role,
            input: input.map(|input| Box::new(input) as Box<_>),
        })
    }

    /// The sitemaps that an index lists.
    fn listed(&self, index: &Loc, answer: &mut DownloadedDocument) -> Result<Vec<Loc>, SetError> {
        let unreadable = |reason: String| self.unreadable(format!("{index}: {reason}"));
        let input = answer
            .body()
            .map_err(|error| unreadable(error.to_string()))?;
        let mut listed = Vec::new();
        for item in Reader::new(input, READING_LIMITS) {
            match item {
                Ok(Item::Sitemap(entry)) => listed.push(entry.loc),
                Ok(Item::Url(_)) => {}
                Err(error) => return Err(unreadable(error.to_string())),
            }
            if listed.len() > MAX_DOCUMENTS {
                return Err(unreadable(too_many_documents()));
            }
        }
        Ok(listed)
    }
}
