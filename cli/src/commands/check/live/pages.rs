//! The pages that live sitemaps list, where they are asked for at all (`--pages`): which of them, each once, and none of a host that takes
//! no requests. What is told of their answers is in [`super::answers`].

use crawler::engine::download::DownloadError;
use sitemap_core::{
    Loc,
    read::{Item, Reader},
    validate::{DocumentId, READING_LIMITS},
};

use super::{
    super::{Check, sample::Sample},
    Document, Listed, Live, Stopped, Walk, Wish,
    answers::reason,
};
use crate::exit_code::ExitCode;

/// The most pages that are remembered so as not to be asked for twice.
const MAX_ASKED_PAGES: usize = 1_000_000;

impl Check<'_> {
    /// Asks for the pages that were chosen from all lists.
    pub(in crate::commands::check) fn pages(&mut self, live: &mut Live) -> Result<(), Stopped> {
        let sample = std::mem::replace(&mut live.sample, Sample::new(0));
        for listed in sample.choose() {
            let asker = listed.asker.clone();
            let mut walk = Walk {
                check: self,
                live,
                asker,
            };
            walk.page(&listed)?;
        }
        Ok(())
    }
}

impl Walk<'_, '_> {
    /// Asks for the pages of a list, or remembers some of them.
    pub(super) fn choose_pages(
        &mut self,
        document: &mut Document,
        place: &Loc,
        id: DocumentId,
    ) -> Result<(), Stopped> {
        if self.live.wish == Wish::Some(0) {
            return Ok(());
        }
        let Ok(body) = document.body() else {
            return Ok(());
        };
        let mut reader = Reader::new(body, READING_LIMITS).at(place);
        while let Some(item) = reader.next() {
            if self.live.is_stopping() {
                return Err(Stopped);
            }
            let Ok(Item::Url(entry)) = item else { continue };
            if !self.may_ask(&entry.loc) {
                continue;
            }
            let listed = || Listed {
                document: id,
                position: reader.loc_position(),
                loc: entry.loc,
                lastmod: entry.lastmod,
                asker: self.asker.clone(),
            };
            match self.live.wish {
                Wish::Some(_) => self.live.sample.offer(listed),
                Wish::All => {
                    let listed = listed();
                    self.page(&listed)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a page may be asked for: robots.txt of its origin is known and allows it.
    fn may_ask(&self, loc: &Loc) -> bool {
        let rules = self.check.rules.get(loc.origin());
        rules.is_some_and(|rules| rules.allows(loc.path_and_query()))
    }

    /// Asks for a page and tells what is wrong with it.
    fn page(&mut self, listed: &Listed) -> Result<(), Stopped> {
        let Some(key) = self.live.key_of(&listed.loc) else {
            return Ok(());
        };
        let is_asked = self.live.asked.contains(&key.fingerprint());
        if is_asked || self.live.closed.contains(listed.loc.host()) {
            return Ok(());
        }
        if self.live.asked.len() < MAX_ASKED_PAGES {
            self.live.asked.insert(key.fingerprint());
        }
        self.live.progress.turn_to(&listed.loc);
        let answer = match self.asker.page(&key) {
            Err(DownloadError::Stopped) => return Err(Stopped),
            // It may be read by others, and was meant for them.
            Err(DownloadError::Disallowed(_)) => return Ok(()),
            Err(error @ DownloadError::Closed { .. }) => {
                self.live.closed.insert(listed.loc.host().to_owned());
                self.check.worst = self.check.worst.worse(ExitCode::NotCrawled);
                self.check.output.warn(&format!(
                    "{}; its other pages are not checked",
                    reason(&error)
                ));
                return Ok(());
            }
            answer => answer,
        };
        self.tell_page(listed, answer);
        Ok(())
    }
}
