//! The pages that live sitemaps list, on request: a choice of them, each once, and none of a host that takes no requests.

use sitemap_core::{
    LastMod, Loc,
    read::{Item, Position, Reader},
    validate::{DocumentId, READING_LIMITS},
};

use super::{
    super::{Check, sample::Sample},
    Live, Pages, Stopped,
    answers::{facts_of, reason},
};
use crate::client::{DownloadError, DownloadedDocument};

/// The most pages that are remembered so as not to be requested twice.
const MAX_ASKED_PAGES: usize = 1_000_000;

/// A page in a list.
pub(super) struct ListedPage {
    document: DocumentId,
    loc: Loc,
    position: Position,
    lastmod: Option<LastMod>,
    downloader: usize,
}

impl Live<'_, '_> {
    /// Asks for the pages that were chosen from all lists.
    pub(super) fn chosen_pages(&mut self) -> Result<(), Stopped> {
        let sample = std::mem::replace(&mut self.sample, Sample::new(0));
        for listed in sample.choose() {
            self.page(&listed)?;
        }
        Ok(())
    }

    /// Asks for the pages of a list, or remembers some of them.
    pub(super) fn choose_pages(
        &mut self,
        document: &mut DownloadedDocument,
        place: &Loc,
        id: DocumentId,
    ) -> Result<(), Stopped> {
        if self.pages == Pages::Some(0) {
            return Ok(());
        }
        let Ok(body) = document.body() else {
            return Ok(());
        };
        let mut reader = Reader::new(body, READING_LIMITS).at(place);
        while let Some(item) = reader.next() {
            if self.network.shutdown.is_stopping() {
                return Err(Stopped);
            }
            let Ok(Item::Url(entry)) = item else { continue };
            // A page may be requested when robots.txt of its origin is known and allows it.
            let rules = self.check.rules_for(&entry.loc);
            if !rules.is_some_and(|rules| rules.allows(entry.loc.path_and_query())) {
                continue;
            }
            let listed = || ListedPage {
                document: id,
                position: reader.loc_position(),
                loc: entry.loc,
                lastmod: entry.lastmod,
                downloader: self.current,
            };
            match self.pages {
                Pages::Some(_) => self.sample.offer(listed),
                Pages::All => {
                    let listed = listed();
                    self.page(&listed)?;
                }
            }
        }
        Ok(())
    }

    /// Requests a page and reports its problems.
    fn page(&mut self, listed: &ListedPage) -> Result<(), Stopped> {
        let Ok(key) = self.network.identity.parse(listed.loc.as_str()) else {
            return Ok(());
        };
        let is_asked = self.asked.contains(&key.fingerprint());
        if is_asked || self.closed.contains(listed.loc.host()) {
            return Ok(());
        }
        if self.asked.len() < MAX_ASKED_PAGES {
            self.asked.insert(key.fingerprint());
        }
        self.check.reports.progress.turn_to(&listed.loc);
        self.current = listed.downloader;
        let (reader, shutdown) = (&self.network.reader, &self.network.shutdown);
        let answer = match self
            .network
            .wait(self.downloader().page(&key, reader, shutdown))?
        {
            // It may be read by others, and was meant for them.
            Err(DownloadError::Disallowed(_)) => return Ok(()),
            Err(error @ DownloadError::Closed { .. }) => {
                self.closed.insert(listed.loc.host().to_owned());
                self.unanswered();
                self.warn(format!(
                    "{}; its other pages are not checked",
                    reason(&error)
                ));
                return Ok(());
            }
            answer => answer,
        };
        let mut facts = facts_of(answer);
        facts.lastmod.clone_from(&listed.lastmod);
        let Check {
            validator, reports, ..
        } = &mut self.check;
        reports.outcome.pages += 1;
        reports.progress.figures().pages += 1;
        let position = Some(listed.position);
        let sink = &mut |finding| reports.finding(finding);
        validator.page(listed.document, &listed.loc, position, &facts, sink);
        Ok(())
    }
}
