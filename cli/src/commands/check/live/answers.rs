//! What is told of live sitemaps and pages: by what they answered, or by why they did not. Nothing is asked for
//! here but what everybody may know of a URL that is disallowed.

use crawler::{
    engine::download::{Document, DownloadError},
    page::{self, BodyEnd, Canonical},
    politeness::Closed,
    url_key::UrlKey,
};
use sitemap_core::{
    Loc,
    validate::{Answer, AnswerEnd, Child, DocumentId, Facts, PageFacts, Report, Unavailable},
};
use tokio::time::Instant;

use super::{
    super::{Check, Source, network::MAX_FETCHED_BYTES, tell::Served, watch::Watching},
    Listed, MAX_DOCUMENTS, Stopped, Walk, Wanted, Whence,
};
use crate::{exit_code::ExitCode, human, live::whole_seconds};

impl Walk<'_, '_> {
    /// Reads a document and tells what is wrong with it; `None` when it cannot be read.
    pub(super) fn judge(
        &mut self,
        wanted: &Wanted,
        document: &mut Document,
        place: &Loc,
    ) -> Result<Option<Report>, Stopped> {
        let content_type = document.headers.text("content-type").map(str::to_owned);
        let end = document.end.clone();
        let mut answer = answer_of(document, content_type.as_deref(), &end);
        answer.listed_lastmod = wanted.child().and_then(|child| child.lastmod.as_ref());
        let source = Source {
            name: wanted.loc().as_str(),
            place: Some(place),
            requested: (place != wanted.loc()).then_some(wanted.loc()),
            modified: document.last_modified,
            listed_by: wanted.index(),
            answer: Some(answer),
            served: served(wanted, Some(document)),
        };
        let (progress, shutdown) = (self.live.progress.clone(), self.live.shutdown.clone());
        let outcome = document.body().and_then(|body| {
            let body = Watching::new(body, &progress, &shutdown);
            self.check.document(body, &source)
        });
        let report = match outcome {
            Ok(report) => report,
            Err(_) if self.live.is_stopping() => return Err(Stopped),
            Err(error) => {
                self.check.fail(wanted.loc().as_str(), &error);
                return Ok(None);
            }
        };
        let mut figures = progress.figures();
        figures.entries += report.entries;
        figures.errors += report.counts.errors;
        figures.warnings += report.counts.warnings;
        Ok(Some(report))
    }

    /// Tells that there is no answer.
    pub(super) fn failed(&mut self, wanted: &Wanted, error: &DownloadError) -> Result<(), Stopped> {
        let is_itself = |url: &UrlKey| url.as_str() == wanted.loc().as_str();
        let (why, is_silence) = match error {
            DownloadError::Disallowed(url) if !self.is_disallowed_to_all(url)? => {
                // Search engines may read it, and have other names.
                self.not_asked(
                    wanted,
                    &format!("robots.txt disallows {url} to this program, but not to everybody"),
                    "allow it to arpent in robots.txt, or give the check another name (--user-agent)",
                );
                return Ok(());
            }
            DownloadError::Disallowed(url) if is_itself(url) => {
                self.unavailable(wanted, &Unavailable::Disallowed, None);
                return Ok(());
            }
            DownloadError::Closed { .. } => {
                self.not_asked(
                    wanted,
                    &reason(error),
                    "check again when its host takes requests",
                );
                return Ok(());
            }
            DownloadError::Disallowed(_) => (format!("redirected, {error}"), false),
            DownloadError::Redirects { url, problem } if is_itself(url) => (problem.clone(), false),
            DownloadError::NoAnswer { url, message, .. } if is_itself(url) => {
                (message.clone(), true)
            }
            DownloadError::RobotsUnreachable { .. } | DownloadError::NoAnswer { .. } => {
                (error.to_string(), true)
            }
            _ => (error.to_string(), false),
        };
        if matches!(wanted.whence, Whence::Typed(_)) && is_silence {
            self.check.worst = self.check.worst.worse(ExitCode::NotCrawled);
        }
        let why = match error {
            DownloadError::RobotsUnreachable { .. } => Unavailable::RobotsUnreachable(&why),
            _ => Unavailable::Because(&why),
        };
        self.unavailable(wanted, &why, None);
        Ok(())
    }

    /// Tells that nobody asked: what is not asked for has no faults, but is not checked either.
    fn not_asked(&mut self, wanted: &Wanted, why: &str, help: &str) {
        self.check.worst = self.check.worst.worse(ExitCode::NotCrawled);
        self.unavailable(wanted, &Unavailable::NotAsked { why, help }, None);
    }

    pub(super) fn unavailable(
        &mut self,
        wanted: &Wanted,
        why: &Unavailable<'_>,
        document: Option<&Document>,
    ) {
        let mut facts = Facts::new(wanted.loc().as_str());
        facts.place = Some(wanted.loc());
        facts.listed_by = wanted.index();
        let Check {
            validator, teller, ..
        } = &mut *self.check;
        teller.begin(wanted.loc().as_str(), served(wanted, document));
        validator.unavailable(&facts, wanted.child(), why, &mut |finding| {
            teller.finding(&finding);
        });
        let mut figures = self.live.progress.figures();
        match why {
            Unavailable::NotAsked { .. } | Unavailable::Elsewhere(_) => figures.warnings += 1,
            _ => figures.errors += 1,
        }
    }

    /// Tells once of an index that the check reads no more of its sitemaps.
    pub(super) fn not_followed(&mut self, index: DocumentId, first: &Child, left_out: u64) {
        self.check.worst = self.check.worst.worse(ExitCode::NotCrawled);
        let Check {
            validator, teller, ..
        } = &mut *self.check;
        validator.not_followed(index, first, left_out, MAX_DOCUMENTS, &mut |finding| {
            teller.finding(&finding);
        });
        self.live.progress.figures().warnings += 1;
    }

    /// Tells which sitemaps nobody looks for, because too many indexes lead to them.
    pub(super) fn not_looked_for(&mut self, index: DocumentId, children: &[Child], indexes: u32) {
        for child in children {
            if !self.live.queue.has_visited(&child.loc) {
                let why = format!("it is listed {indexes} indexes deep, where nobody looks");
                let Check {
                    validator, teller, ..
                } = &mut *self.check;
                validator.missing(index, child, &why, &mut |finding| {
                    teller.finding(&finding);
                });
            }
        }
    }

    /// Tells what is wrong with a page by its answer.
    pub(super) fn tell_page(
        &mut self,
        listed: &Listed,
        answer: Result<page::PageFacts, DownloadError>,
    ) {
        let mut facts = facts_of(answer);
        facts.lastmod.clone_from(&listed.lastmod);
        self.check.pages += 1;
        self.live.progress.figures().pages += 1;
        let Check {
            validator, teller, ..
        } = &mut *self.check;
        let position = Some(listed.position);
        validator.page(
            listed.document,
            &listed.loc,
            position,
            &facts,
            &mut |finding| teller.finding(&finding),
        );
    }
}

/// How a server gave a document.
fn answer_of<'a>(
    document: &Document,
    content_type: Option<&'a str>,
    end: &'a BodyEnd,
) -> Answer<'a> {
    let mut answer = Answer::default();
    answer.content_type = content_type;
    answer.had_coding = document
        .headers
        .text("content-encoding")
        .is_some_and(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"));
    answer.is_coding_missing = answer.had_coding
        && document.redirects == 0
        && *end == BodyEnd::Complete
        && document.body_bytes > 0
        && document.wire_bytes == document.body_bytes;
    answer.end = match end {
        BodyEnd::Complete | BodyEnd::Skipped => AnswerEnd::Complete,
        BodyEnd::CutShort => AnswerEnd::CutShort,
        BodyEnd::TooLarge => AnswerEnd::TooLarge {
            limit: MAX_FETCHED_BYTES,
        },
        BodyEnd::Undecodable(coding) => AnswerEnd::Undecodable { coding },
    };
    answer
}

/// What a page says of itself, and what its server does.
fn facts_of(answer: Result<page::PageFacts, DownloadError>) -> PageFacts {
    let mut facts = PageFacts::default();
    match answer {
        Err(DownloadError::NoAnswer { message, .. }) => facts.no_answer = Some(message),
        Err(error) => facts.no_answer = Some(error.to_string()),
        Ok(page) => {
            let is_redirect = (300..400).contains(&page.status);
            facts.redirects_to = page
                .location
                .filter(|_| is_redirect)
                .map(|target| target.to_string());
            let is_fine = page.status == 200 || facts.redirects_to.is_some();
            facts.status = (!is_fine).then_some(page.status);
            facts.is_noindex = page.status == 200 && page.directives.noindex;
            facts.canonical_elsewhere = match page.canonical {
                Canonical::Other(target) if page.status == 200 => Some(target.to_string()),
                Canonical::Other(_)
                | Canonical::Absent
                | Canonical::Itself
                | Canonical::Conflicting => None,
            };
            facts.last_modified = page.last_modified.filter(|_| page.status == 200);
        }
    }
    facts
}

/// Why there is no answer, for people.
pub(super) fn reason(error: &DownloadError) -> String {
    match error {
        DownloadError::Closed { host, closed } => match closed {
            Closed::RetryAfter(until) => format!(
                "{host} asks to wait another {} (Retry-After), longer than max_retry_after allows",
                human::duration(whole_seconds(
                    until.saturating_duration_since(Instant::now())
                ))
            ),
            Closed::Down => format!("{host} failed too often and gets no further request"),
        },
        error => error.to_string(),
    }
}

/// What is told of the answer besides what is in it.
fn served(wanted: &Wanted, document: Option<&Document>) -> Served {
    Served {
        url: Some(wanted.loc().to_string()),
        final_url: document.map(|document| document.url.to_string()),
        status: document.map(|document| document.status),
    }
}
