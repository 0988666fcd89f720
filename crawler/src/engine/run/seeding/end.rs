//! How a document ends: read, failed, absent or ours; what becomes of its copy, and what is told of it.

use super::{Keep, Run, SeedEnd, url_of};
use crate::{
    engine::download::{DownloadError, MAX_DOCUMENT_BYTES},
    notes::Note,
    page::BodyEnd,
    seeds::{Document, DocumentKind, DocumentState, MAX_FEEDS, Outside, Reading, SeedProblem},
    store::CachedSitemap,
    url_key::UrlKey,
};

/// Documents with something wrong that are told of one by one while the run goes on.
const MAX_WARNINGS: usize = 20;

impl Run<'_> {
    /// The work on the document that is being read has ended.
    pub(in crate::engine::run) fn take_seed(&mut self, end: SeedEnd) {
        let Some(mut active) = self.seeding.reading.active.take() else {
            return;
        };
        let number = active.number;
        self.seeding.reading.owes_page = true;
        // What the reader had handed over before it ended; the channel bounds it.
        while let Ok(batch) = active.batches.try_recv() {
            self.seeding.reading.active = Some(active);
            self.take_batch(batch);
            let Some(same) = self.seeding.reading.active.take() else {
                return;
            };
            active = same;
        }
        match end {
            SeedEnd::Read {
                reading,
                end,
                url,
                wire_bytes,
                keep,
            } => {
                self.counts.bytes_in += wire_bytes;
                let is_document = !reading
                    .problem
                    .as_ref()
                    .is_some_and(|(problem, _)| problem.denies_document());
                if let Some(url) = url.filter(|_| is_document) {
                    self.seeding.known.insert(&url);
                }
                self.finish_seed(number, reading, &end, keep);
            }
            SeedEnd::Own { wire_bytes } => {
                self.counts.bytes_in += wire_bytes;
                self.settle_seed(number, DocumentState::Own);
            }
            SeedEnd::Status { status, wire_bytes } => {
                self.counts.bytes_in += wire_bytes;
                let problem = match status {
                    404 | 410 => SeedProblem::Gone,
                    429 | 500..=599 => SeedProblem::ServerError,
                    _ => SeedProblem::BadStatus,
                };
                self.fail(number, problem, &format!("status {status}"));
            }
            SeedEnd::Error(error) => self.take_seed_error(number, &error),
            SeedEnd::Internal(error) => self.fail(number, SeedProblem::Io, &error),
        }
    }

    fn finish_seed(&mut self, number: usize, reading: Reading, end: &BodyEnd, keep: Keep) {
        let document = &mut self.seeding.documents[number];
        (document.entries, document.findings) = (reading.entries, reading.findings);
        document.troubles = reading.troubles;
        document.is_kept = matches!(keep, Keep::Same);
        let cut = match end {
            BodyEnd::Complete | BodyEnd::Skipped => None,
            BodyEnd::TooLarge => Some((
                SeedProblem::TooLarge,
                format!("expected at most {MAX_DOCUMENT_BYTES} bytes"),
            )),
            BodyEnd::CutShort => Some((SeedProblem::CutShort, String::new())),
            BodyEnd::Undecodable(coding) => Some((SeedProblem::Undecodable, coding.clone())),
        };
        // What is no document is none, however much of it arrived.
        let (is_none, problem) = match reading.problem {
            Some(told) if told.0.denies_document() => (Some(told), None),
            told => (None, told),
        };
        if let Some((problem, detail)) = is_none.or(cut).or(problem) {
            self.fail(number, problem, &detail);
        } else {
            match keep {
                Keep::Same => {}
                Keep::Copy(copy) => self.keep(number, copy),
                Keep::Nothing => self.drop_copy(number),
            }
            self.settle_seed(number, DocumentState::Read);
        }
        self.tell_outside(number);
        let document = &self.seeding.documents[number];
        for trouble in document.troubles.iter() {
            let (name, count, example) = (&document.name, trouble.count, &trouble.example);
            tracing::info!(target: "engine", "{name}: {count} times {}, the first: {example}", trouble.rule);
        }
    }

    fn take_seed_error(&mut self, number: usize, error: &DownloadError) {
        let problem = match error {
            DownloadError::Disallowed(_) => SeedProblem::RobotsDisallowed,
            DownloadError::RobotsUnreachable { .. } => SeedProblem::RobotsUnreachable,
            DownloadError::Forbidden { .. } => SeedProblem::Forbidden,
            DownloadError::TooManyHosts { .. } => SeedProblem::TooMany,
            DownloadError::Redirects { .. } => SeedProblem::BadRedirect,
            DownloadError::NoAnswer { .. } | DownloadError::Settings(_) => {
                SeedProblem::NetworkError
            }
            DownloadError::Closed { host, closed } if *host == self.context.host => {
                // The site itself: nothing more of it in this run, and the document stays waiting.
                self.seeding.waiting.push_front(number);
                self.close(*closed);
                return;
            }
            DownloadError::Closed { .. } => SeedProblem::HostClosed,
            DownloadError::Stopped => {
                self.seeding.waiting.push_front(number);
                return;
            }
            DownloadError::Spool(_) => SeedProblem::Io,
        };
        let detail = match error {
            DownloadError::Spool(cause) => format!("{error}: {cause}"),
            // That is what the problem says.
            DownloadError::Disallowed(url) if self.seeding.number_of(url) == Some(number) => {
                String::new()
            }
            _ => error.to_string(),
        };
        self.fail(number, problem, &detail);
    }

    pub(super) fn fail(&mut self, number: usize, problem: SeedProblem, detail: &str) {
        let document = &mut self.seeding.documents[number];
        *document = document.clone().with_problem(problem, detail);
        // Nobody said that there is one; a page that stands for everything that is missing is none.
        let is_unasked = document.kind == DocumentKind::WellKnown && problem.is_absence();
        let is_to_come = self.seeding.is_to_come(number, problem);
        let state = if is_unasked || is_to_come {
            DocumentState::Absent
        } else {
            DocumentState::Failed
        };
        self.settle_seed(number, state);
        if problem.may_be_page() {
            self.hand_to_pages(number);
        }
    }

    /// Counts a URL of the document `number` that is outside of what is crawled.
    pub(super) fn count_outside(&mut self, number: usize, url: &UrlKey) {
        let outside = &mut self.seeding.documents[number].outside;
        if let Some(outside) = outside {
            outside.count += 1;
        } else {
            let example = url.as_str().to_owned();
            *outside = Some(Outside { count: 1, example });
        }
    }

    /// Tells what a document names outside of what is crawled: at once where that is all that it names, or the user
    /// gave it. A sitemap of the whole site names more than the directory that is crawled.
    fn tell_outside(&mut self, number: usize) {
        let document = &self.seeding.documents[number];
        let Some(Outside { count, example }) = &document.outside else {
            return;
        };
        let Document { name, entries, .. } = document;
        let place = self.rules.judge().place();
        let origin = &self.context.site.origin;
        let is_near = UrlKey::from_normalised(example).is_ok_and(|url| url.is_on(origin));
        let advice = if is_near {
            format!("--scope origin takes the whole of {origin}")
        } else {
            "each site is crawled by itself".to_owned()
        };
        let told = format!(
            "{name}: {count} of {entries} URLs are outside of {place} and not taken, e.g. {example}; {advice}"
        );
        if document.kind == DocumentKind::List || count >= entries {
            self.warn(&told);
        } else {
            tracing::info!(target: "engine", "{told}");
        }
    }

    fn warn(&mut self, told: &str) {
        self.seeding.warnings += 1;
        if self.seeding.warnings <= MAX_WARNINGS {
            tracing::warn!(target: "engine", "{told}");
        }
    }

    /// Notes the first thing that is wrong with a document.
    pub(super) fn note_trouble(&mut self, number: usize, problem: SeedProblem, detail: &str) {
        let document = &mut self.seeding.documents[number];
        if document.problem.is_none() {
            *document = document.clone().with_problem(problem, detail);
        }
    }

    /// Keeps a copy of a document that was read, if there is room for it.
    fn keep(&mut self, number: usize, copy: CachedSitemap) {
        let Some(url) = url_of(&self.seeding.documents[number]) else {
            return;
        };
        if self.seeding.cached.add(&url, &copy) {
            self.commits.copy(url, Some(copy));
        } else {
            self.drop_copy(number);
        }
    }

    /// Drops the copy of a document that is not what it was.
    pub(super) fn drop_copy(&mut self, number: usize) {
        if let Some(url) = url_of(&self.seeding.documents[number])
            && self.seeding.cached.remove(&url)
        {
            self.commits.copy(url, None);
        }
    }

    /// Drops the copies of documents that the site does not have any more; to be called when everything is read
    /// that names documents.
    fn retire_copies(&mut self) {
        let documents = &self.seeding.documents;
        let is_missing =
            |document: &Document| document.problem.is_some_and(SeedProblem::is_passing);
        let all_told = !documents.iter().any(is_missing);
        let (known, now) = (&self.seeding.known, self.context.door.clock.now());
        let retired = self
            .seeding
            .cached
            .retire(now, all_told, |url| known.contains(url));
        for url in retired {
            self.commits.copy(url, None);
        }
    }

    /// Nothing more will be done with a document in this run.
    pub(super) fn settle_seed(&mut self, number: usize, state: DocumentState) {
        if state != DocumentState::Read {
            self.seeding.documents[number].is_kept = false;
            self.drop_copy(number);
        }
        let count = self.seeding.documents.len();
        let document = &mut self.seeding.documents[number];
        document.state = state;
        tracing::debug!(target: "engine", name = %document.name, ?state, entries = document.entries, "document");
        self.commits.put(number, document, count);
        if state != DocumentState::Absent {
            self.warn_of(number);
        }
        if self.seeding.is_idle() {
            self.retire_copies();
        }
    }

    pub(super) fn warn_of(&mut self, number: usize) {
        let document = &self.seeding.documents[number];
        let Some(trouble) = document.trouble() else {
            return;
        };
        let told = format!("{} {trouble}", document.name);
        self.warn(&told);
    }

    /// What is to be said at the end.
    pub(in crate::engine::run) fn conclude_seeding(&mut self) {
        let left_out = self.seeding.feeds.left_out.len();
        if left_out > 0 {
            let note = Note::feeds_left_out(&left_out, &MAX_FEEDS);
            self.say(note.counting(left_out as u64));
        }
        let excluded = self.seeding.excluded.len();
        if excluded > 0 {
            self.say(Note::sitemaps_excluded(&excluded).counting(excluded as u64));
        }
    }
}
