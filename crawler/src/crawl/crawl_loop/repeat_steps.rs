//! The steps of the loop for what pages repeat: which URLs are not asked for, marks of pages before they are judged, and the probe
//! for the site's page for URLs that do not exist. And those for pages that are rendered.

use tokio::time::Instant;

use super::{CrawlLoop, Ending, Event};
use crate::{
    crawl::{
        answers::Work,
        known::FoundUrl,
        probe::{self, NotFound, Probed},
        rendering::{self, HeldAnswer, RenderEnd, Unrendered},
        repetition::Repetition,
        requests::PageDone,
        second_look::{self, SecondAnswer, SecondLook},
    },
    frontier::Lease,
    notes::Note,
    page::{PageFacts, Reason, Repeat, Via},
    render::RenderError,
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
        self.spawn(probe::request_probe(gate, reader, urls, stop), Event::Probe);
    }

    /// Takes the end of the probe.
    pub(super) fn take_probe(&mut self, answers: Option<[NotFound; 3]>) {
        self.repetition.probe.end();
        let probed = Probed::new(self.context.open.number, answers);
        self.commits.set(probed.value());
        if probed.are_found {
            self.hints.always_finds();
        }
        probed.show(&mut self.repetition.repeats);
    }

    /// Asks for a page a second time, if there is one for which that is wanted.
    pub(super) fn dispatch_second(&mut self) {
        if self.end.ending.is_some() || self.trouble.is_asking() {
            return;
        }
        let is_left = !self.frontier_is_drained()
            || !self.rest.unvisited.is_over()
            || !self.rest.rendering.is_over()
            || !self.repetition.held.is_empty();
        let is_late = Instant::now() >= self.end.deadline;
        let Repetition {
            repeats, seconds, ..
        } = &mut self.repetition;
        if is_late {
            seconds.drop_changed();
        }
        let Some(look) = seconds.next(|| repeats.next_second(), is_left) else {
            return;
        };
        let (gate, reader) = (self.context.gate.clone(), self.context.reader.clone());
        let stop = self.context.shutdown.stop.clone();
        self.spawn(
            second_look::request_again(gate, reader, look, stop),
            Event::Second,
        );
    }

    /// Takes the answer to a second request.
    pub(super) fn take_second(&mut self, answer: &SecondAnswer) {
        self.end.counts.bytes_in += answer.wire_bytes;
        let Repetition {
            repeats, seconds, ..
        } = &mut self.repetition;
        match (seconds.end(), answer.hashes) {
            (Some(SecondLook::Short(url)), hashes) => {
                let missing = repeats.take_second(&url, hashes.map(|(text, _)| text));
                self.known.leave_out(missing.into());
            }
            (Some(SecondLook::Changed(url, first)), Some((_, second))) => {
                let value = seconds.take_changed(&url, first, second);
                self.commits.set(value);
            }
            (Some(SecondLook::Changed(..)) | None, _) => {}
        }
    }

    /// The decision on a URL, judging by the pages before it.
    pub(super) fn passage(&self, lease: &Lease) -> Passage {
        let url = lease.url();
        let is_sure = self.known.is_published(url)
            || lease.earlier_tries() > 0
            || self.known.is_declared(url)
            || *url == self.context.site.start;
        if is_sure {
            return Passage::Open;
        }
        if self.rules.judge().avoids(url) {
            return Passage::Action;
        }
        let Repetition { repeats, held, .. } = &self.repetition;
        repeats.passage(url, lease.distance(), held.is_end())
    }

    /// Leaves a URL in the queue that is not requested because of the pages before it, or decides it when nothing can bring it back.
    pub(super) fn hold(&mut self, lease: Lease, passage: &Passage) {
        if let Passage::CopyOf(shorter) = passage {
            let found_on = lease.url().clone();
            let found = FoundUrl {
                found_on: Some(&found_on),
                distance: lease.distance(),
                ..FoundUrl::new(shorter, Via::Link, lease.depth())
            };
            self.discover(found);
        }
        if self.repetition.held.hold() {
            self.frontier.finish(lease);
            return;
        }
        let reason = match passage {
            Passage::CopyOf(_) => Reason::DuplicateOf,
            Passage::Action => Reason::ActionLink,
            Passage::Open | Passage::Cut => Reason::PatternClosed,
        };
        self.decide_unfetched(lease, reason);
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
        let is_sure = is_start || work.was_listed || self.known.is_declared(&work.url);
        facts.repeat = if is_sure {
            None
        } else {
            self.repetition.repeats.mark(text)
        };
        if work.depth == 1 && facts.repeat != Some(Repeat::NotFound) {
            self.repetition.repeats.take_reference(text);
        }
    }

    /// An answer waits for the browser before it is decided.
    pub(super) fn hold_for_browser(&mut self, lease: Lease, is_conditional: bool, done: PageDone) {
        self.rest.rendering.hold(HeldAnswer {
            lease,
            is_conditional,
            done,
        });
    }

    /// Hands answers to the browser while it has room.
    pub(super) fn dispatch_render(&mut self) {
        if self.end.is_stop() {
            return;
        }
        if self.end.ending.is_some() {
            self.leave_held();
        } else if self.frontier_is_drained()
            && let Some((renderer, scripts)) = self.rest.rendering.begin_check()
        {
            self.spawn(renderer.check(scripts), Event::Scripts);
        }
        while let Some((renderer, answer)) = self.rest.rendering.next() {
            let identity = self.context.gate.identity.clone();
            let reader = self.context.reader.clone();
            let work = async move {
                Box::new(rendering::render(renderer, answer, identity, reader).await)
            };
            self.spawn(work, Event::Rendered);
        }
    }

    /// Takes a page as it is shown.
    pub(super) fn take_rendered(&mut self, end: RenderEnd) {
        self.rest.rendering.ended();
        let RenderEnd { mut answer, result } = end;
        match result {
            Ok(rendered) => {
                self.rest
                    .rendering
                    .note_shown(answer.lease.url(), &rendered);
                if let Ok((_, facts)) = &mut answer.done.result {
                    let judge = self.rules.judge();
                    let before = std::mem::take(&mut **facts);
                    let (merged, has_more) = rendered.merge(before, |url| judge.is_inside(url));
                    **facts = merged;
                    self.rest.rendering.learn(answer.lease.url(), has_more);
                }
                self.take_shown(answer);
            }
            Err(RenderError::Browser(why)) => {
                if self.rest.rendering.lose() {
                    self.report([Note::browser_ended(&why)]);
                }
                self.leave_unshown(answer.lease);
                self.leave_held();
                self.end.ending.get_or_insert(Ending::Deferred);
            }
            Err(error) => {
                tracing::debug!(target: "crawl", url = %answer.lease.url(), "not rendered: {error}");
                self.rest.rendering.note_failure();
                if let Ok((_, facts)) = &mut answer.done.result {
                    facts.warnings.render_failed = true;
                }
                self.take_shown(answer);
            }
        }
    }

    /// The answers that wait for the browser are left: the session ends.
    fn leave_held(&mut self) {
        for answer in self.rest.rendering.take_held() {
            self.leave_unshown(answer.lease);
        }
    }

    fn take_shown(&mut self, answer: HeldAnswer) {
        let facts = answer.done.facts();
        let is_rendered = facts.is_some_and(|facts| facts.warnings.rendered);
        self.rest
            .rendering
            .end_again(answer.lease.url(), is_rendered);
        self.take_answer(answer.lease, answer.is_conditional, answer.done);
    }

    /// There is no browser for an answer: its page is asked for again by the next session, unless it was decided before.
    pub(super) fn leave_unshown(&mut self, lease: Lease) {
        if self.rest.rendering.end_unrendered(lease.url()) {
            self.keep_decision(lease);
        } else {
            self.frontier.finish(lease);
        }
    }

    /// The answer to a second request for a page changes nothing.
    pub(super) fn keep_decision(&mut self, lease: Lease) {
        self.known.decide(lease.url(), false);
        self.frontier.finish(lease);
    }

    /// Asks once more for pages that are to be rendered.
    pub(super) fn take_unrendered(&mut self, portion: Unrendered) {
        for url in self.rest.rendering.take_portion(portion) {
            self.known.wait_again();
            self.frontier.offer_again(url, Instant::now());
        }
    }
}
