//! The end of a document: read, failed, absent or ours, and the reports on it.

use super::{Active, DocumentEnd, Documents};
use crate::{
    client::{DownloadError, MAX_DOCUMENT_BYTES},
    notes::Note,
    page::BodyEnd,
    politeness::Closed,
    seeds::{
        Document, DocumentKind, DocumentReading, DocumentState, MAX_FEEDS, Outside, SeedProblem,
    },
    url_key::{HostKey, UrlKey},
    verdict::Judge,
};

/// Documents with something wrong that are reported one by one while the session goes on.
const MAX_WARNINGS: usize = 20;

/// The consequence of the end of a document.
#[derive(Default)]
pub(in crate::crawl) struct AfterDocument {
    /// Bytes that came over the wire.
    pub(in crate::crawl) wire_bytes: u64,
    /// The host of the site gets no further request.
    pub(in crate::crawl) closed: Option<Closed>,
}

impl Documents {
    /// The work on the document that is being read has ended.
    pub(in crate::crawl) fn take_end(&mut self, end: DocumentEnd, judge: &Judge) -> AfterDocument {
        let mut after = AfterDocument::default();
        let Some(Active { number, .. }) = self.reading.active.take() else {
            return after;
        };
        self.reading.owes_page = true;
        match end {
            DocumentEnd::Read {
                reading,
                end,
                url,
                wire_bytes,
            } => {
                after.wire_bytes = wire_bytes;
                self.bytes_read = self.bytes_read.saturating_add(reading.bytes);
                let is_document = !reading
                    .problem
                    .as_ref()
                    .is_some_and(|(problem, _)| problem.denies_document());
                if let Some(url) = url.filter(|_| is_document) {
                    self.known.insert(&url);
                }
                self.finish(number, reading, &end);
                self.report_outside(number, judge);
                let document = &self.all[number];
                for trouble in document.troubles.iter() {
                    let (name, count, example) = (&document.name, trouble.count, &trouble.example);
                    tracing::info!(target: "crawl", "{name}: {count} times {}, the first: {example}", trouble.rule);
                }
            }
            DocumentEnd::Own { wire_bytes } => {
                after.wire_bytes = wire_bytes;
                self.end_document(number, DocumentState::Own);
            }
            DocumentEnd::Status { status, wire_bytes } => {
                after.wire_bytes = wire_bytes;
                let problem = match status {
                    404 | 410 => SeedProblem::Gone,
                    429 | 500..=599 => SeedProblem::ServerError,
                    _ => SeedProblem::BadStatus,
                };
                self.fail(number, problem, &format!("status {status}"));
            }
            // The site itself: nothing more of it in this session, and the document stays waiting.
            DocumentEnd::Error(DownloadError::Closed { host, closed })
                if host == HostKey::new(&self.origin.host) =>
            {
                self.wait_again(number);
                after.closed = Some(closed);
            }
            DocumentEnd::Error(DownloadError::Stopped) => self.wait_again(number),
            DocumentEnd::Error(error) => {
                let (problem, detail) = self.problem_of(number, &error);
                self.fail(number, problem, &detail);
            }
            DocumentEnd::Internal(error) => self.fail(number, SeedProblem::Io, &error),
        }
        after
    }

    fn finish(&mut self, number: usize, reading: DocumentReading, end: &BodyEnd) {
        let document = &mut self.all[number];
        (document.entries, document.findings) = (reading.entries, reading.findings);
        document.troubles = reading.troubles;
        let cut = match end {
            BodyEnd::Complete | BodyEnd::Skipped => None,
            BodyEnd::TooLarge => Some((
                SeedProblem::TooLarge,
                format!("expected at most {MAX_DOCUMENT_BYTES} bytes"),
            )),
            BodyEnd::CutShort => Some((SeedProblem::CutShort, String::new())),
            BodyEnd::Undecodable(coding) => Some((SeedProblem::Undecodable, coding.clone())),
        };
        // An answer that is not a document is none, however much of it arrived.
        let (is_none, problem) = match reading.problem {
            Some(text) if text.0.denies_document() => (Some(text), None),
            text => (None, text),
        };
        if let Some((problem, detail)) = is_none.or(cut).or(problem) {
            return self.fail(number, problem, &detail);
        }
        self.end_document(number, DocumentState::Read);
    }

    /// The defect of the document `number`, which there is no answer for.
    fn problem_of(&self, number: usize, error: &DownloadError) -> (SeedProblem, String) {
        let problem = match error {
            DownloadError::Disallowed(_) => SeedProblem::RobotsDisallowed,
            DownloadError::RobotsUnreachable { .. } => SeedProblem::RobotsUnreachable,
            DownloadError::Forbidden { .. } => SeedProblem::Forbidden,
            DownloadError::TooManyHosts { .. } => SeedProblem::TooMany,
            DownloadError::Redirects { .. } => SeedProblem::BadRedirect,
            DownloadError::NoAnswer { .. } | DownloadError::Settings(_) => {
                SeedProblem::NetworkError
            }
            DownloadError::Closed { .. } | DownloadError::Stopped => SeedProblem::HostClosed,
            DownloadError::Spool(_) => SeedProblem::Io,
        };
        let detail = match error {
            DownloadError::Spool(cause) => format!("{error}: {cause}"),
            // The problem has this text already.
            DownloadError::Disallowed(url) if self.number_of(url) == Some(number) => String::new(),
            _ => error.to_string(),
        };
        (problem, detail)
    }

    pub(super) fn fail(&mut self, number: usize, problem: SeedProblem, detail: &str) {
        let document = &mut self.all[number];
        *document = document.clone().with_problem(problem, detail);
        // Nothing names it; a page that is sent for every missing URL is not a document.
        let is_unasked = document.kind == DocumentKind::WellKnown && problem.is_absence();
        let state = if is_unasked || self.is_to_come(number, problem) {
            DocumentState::Absent
        } else {
            DocumentState::Failed
        };
        self.end_document(number, state);
    }

    /// Counts a URL of the document `number` that is outside of what is crawled.
    pub(in crate::crawl) fn count_outside(&mut self, number: usize, url: &UrlKey) {
        let outside = &mut self.all[number].outside;
        if let Some(outside) = outside {
            outside.count += 1;
        } else {
            let example = url.as_str().to_owned();
            *outside = Some(Outside { count: 1, example });
        }
    }

    /// Logs what a document that was read names outside of what is crawled.
    fn report_outside(&mut self, number: usize, judge: &Judge) {
        let document = &self.all[number];
        let Some(Outside { count, example }) = &document.outside else {
            return;
        };
        let Document { name, entries, .. } = document;
        let (place, origin) = (judge.place(), &self.origin);
        let is_near = UrlKey::from_normalised(example).is_ok_and(|url| url.is_on(origin));
        let advice = if is_near {
            format!("--scope origin takes the whole of {origin}")
        } else {
            "each site is crawled by itself".to_owned()
        };
        let text = format!(
            "{name}: {count} of {entries} URLs are outside of {place} and not taken, e.g. {example}; {advice}"
        );
        // A warning where that is all that it names, or the user gave it. A sitemap of the whole site names more than the
        // directory that is crawled.
        if document.kind == DocumentKind::List || count >= entries {
            self.warn(text);
        } else {
            tracing::info!(target: "crawl", "{text}");
        }
    }

    fn warn(&mut self, text: String) {
        self.sentences.count += 1;
        if self.sentences.count <= MAX_WARNINGS {
            self.sentences.to_show.push(text);
        }
    }

    /// Notes the first thing that is wrong with a document.
    pub(super) fn note_trouble(&mut self, number: usize, problem: SeedProblem, detail: &str) {
        let document = &mut self.all[number];
        if document.problem.is_none() {
            *document = document.clone().with_problem(problem, detail);
        }
    }

    /// Nothing more will be done with a document in this crawl.
    fn end_document(&mut self, number: usize, state: DocumentState) {
        let document = &mut self.all[number];
        document.state = state;
        tracing::debug!(target: "crawl", name = %document.name, ?state, entries = document.entries, "document");
        self.put(number);
        if state != DocumentState::Absent {
            self.warn_of(number);
        }
    }

    pub(super) fn warn_of(&mut self, number: usize) {
        let document = &self.all[number];
        let Some(trouble) = document.trouble() else {
            return;
        };
        let text = format!("{} {trouble}", document.name);
        self.warn(text);
    }

    /// The notes at the end.
    pub(in crate::crawl) fn conclude(&self) -> Vec<Note> {
        let left_out = self.feeds.left_out.len();
        let excluded = self.excluded.len();
        let feeds = (left_out > 0)
            .then(|| Note::feeds_left_out(&left_out, &MAX_FEEDS).counting(left_out as u64));
        let sitemaps =
            (excluded > 0).then(|| Note::sitemaps_excluded(&excluded).counting(excluded as u64));
        feeds.into_iter().chain(sitemaps).collect()
    }
}
