//! The steps of the loop for what pages repeat: which URLs are not asked for, marks of pages before they are judged, and the probe
//! for the site's page for URLs that do not exist.

use super::{CrawlLoop, Event};
use crate::{
    crawl::{
        answers::Work,
        known::FoundUrl,
        probe::{self, NotFoundPages, Probed},
    },
    frontier::Lease,
    page::{PageFacts, Reason, Repeat, Via},
    repeats::Passage,
};

impl CrawlLoop<'_> {
    /// Asks for URLs that cannot exist, before the first page.
    pub(super) fn dispatch_probe(&mut self) {
        if self.end.ending.is_some() {
            return;
        }
        let Some(urls) = self.repetition.probe.begin() else {
            return;
        };
        let (gate, reader) = (self.context.gate.clone(), self.context.reader.clone());
        let stop = self.context.shutdown.stop.clone();
        self.spawn(probe::ask(gate, reader, urls, stop), Event::Probe);
    }

    /// Takes the end of the probe.
    pub(super) fn take_probe(&mut self, pages: Option<NotFoundPages>) {
        self.repetition.probe.end();
        let probed = Probed::new(self.context.open.number, pages);
        self.commits.set(probed.value());
        if let Some(pages) = probed.pages {
            self.hints.always_finds();
            self.repetition.repeats.take_not_found(pages);
        }
    }

    /// Returns whether a URL may be requested, judging by the pages before it.
    pub(super) fn passes(&mut self, lease: &Lease) -> bool {
        let url = lease.url();
        let was_listed = lease.earlier().is_some_and(|earlier| earlier.was_listed);
        was_listed
            || lease.earlier_tries() > 0
            || self.known.is_named(url)
            || *url == self.context.site.start
            || self.repetition.repeats.passage(url) == Passage::Open
    }

    /// Ends the work on a URL that is not requested because of the pages before it.
    pub(super) fn end_repeating(&mut self, lease: Lease) {
        match self.repetition.repeats.passage(lease.url()) {
            Passage::Open | Passage::Closed => {
                self.decide_unfetched(lease, Reason::PatternClosed);
            }
            Passage::CopyOf(shorter) => {
                let found_on = lease.url().clone();
                let found = FoundUrl {
                    found_on: Some(&found_on),
                    ..FoundUrl::new(&shorter, Via::Link, lease.depth())
                };
                self.discover_page(found);
                self.decide_unfetched(lease, Reason::DuplicateOf);
            }
        }
    }

    /// Marks what a page repeats by itself, before it is judged.
    pub(super) fn mark(&mut self, work: &Work, facts: &mut PageFacts) {
        let Some(text) = &facts.text else {
            return;
        };
        let is_start = work.url == self.context.site.start;
        if is_start {
            self.repetition.repeats.take_start(text);
        }
        facts.repeat = if is_start {
            None
        } else {
            self.repetition.repeats.mark(&work.url, text)
        };
        if work.depth == 1 && facts.repeat != Some(Repeat::NotFound) {
            self.repetition.repeats.take_reference(text);
        }
    }
}
