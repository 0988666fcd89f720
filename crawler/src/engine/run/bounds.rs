//! The bounds of what a crawl records: known URLs, bytes of the state, links of one page. What is beyond them is counted
//! and left out. A published URL, and one that waits already, never leaves because of a bound; neither does the target of
//! a redirect from a published URL.

use super::Run;
use crate::{notes::Note, page::PageFacts, runs::NOT_RECORDED, url_key::UrlKey};

/// Memory that a URL takes besides its text, or an effect that has none.
pub(super) const EFFECT_BYTES: usize = 128;

/// Memory that these URLs take.
pub(super) fn bytes_of<'a>(urls: impl IntoIterator<Item = &'a UrlKey>) -> usize {
    let bytes = |url: &UrlKey| EFFECT_BYTES + url.as_str().len();
    urls.into_iter().map(bytes).sum()
}

/// Memory that the facts of a page take.
pub(super) fn bytes_of_facts(facts: &PageFacts) -> usize {
    let alternates = facts.alternates.iter().flatten();
    EFFECT_BYTES
        + bytes_of(facts.links.iter().map(|link| &link.target))
        + bytes_of(facts.images.iter().flatten())
        + bytes_of(&facts.feeds)
        + bytes_of(alternates.map(|version| &version.target))
}

/// What the bounds of a crawl are held against.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// Memory that each answer in flight is expected to take: as much as the largest of the last ones.
    pub(super) of_answer: usize,
    /// Links that were not recorded in this crawl.
    pub(super) not_recorded: u64,
    /// How many of them the state, or the next commit, knows.
    noted: u64,
    /// A note named the bound that is reached.
    is_said: bool,
}

impl Bounds {
    /// Begins with what the state knows.
    pub(super) fn new(not_recorded: u64) -> Self {
        Self {
            not_recorded,
            noted: not_recorded,
            ..Self::default()
        }
    }

    /// A page of so many bytes was answered.
    pub(super) fn answered(&mut self, bytes: usize) {
        self.of_answer = bytes.max(self.of_answer - self.of_answer / 8);
    }
}

impl Run<'_> {
    /// Memory of all that is not in the state yet.
    fn waiting_bytes(&self) -> usize {
        self.commits.held_bytes()
            + self.revalidation.held_bytes()
            + self.requests.out.len() * self.bounds.of_answer
    }

    /// Whether what another page says can be held in memory.
    pub(super) fn has_room(&self) -> bool {
        self.waiting_bytes() < self.context.config.limits.max_pending_bytes
    }

    /// Whether the state takes no further links and URLs.
    pub(super) fn is_state_full(&self) -> bool {
        self.commits.state_bytes() >= self.context.config.limits.max_state_bytes
    }

    /// Whether a URL that was just found is not recorded, because a bound is reached; counts it.
    pub(super) fn leaves_out(&mut self) -> bool {
        let setting = if self.known.len() >= self.context.config.limits.max_known_urls {
            "max_known_urls"
        } else if self.is_state_full() {
            "max_state_bytes"
        } else {
            return false;
        };
        self.bounds.not_recorded += 1;
        if !std::mem::replace(&mut self.bounds.is_said, true) {
            self.say(Note::bound_reached(&setting).naming(&setting));
        }
        true
    }

    /// Makes the count part of the next commit when it changed.
    pub(super) fn note_not_recorded(&mut self) {
        let count = self.bounds.not_recorded;
        if std::mem::replace(&mut self.bounds.noted, count) != count {
            let value = (NOT_RECORDED.to_owned(), Some(count.to_string()));
            self.commits.set(value);
        }
    }
}
