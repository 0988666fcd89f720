//! Answers of servers in the terms of the validator. Pure.

use jiff::SignedDuration;
use sitemap_core::validate::{Answer, AnswerEnd, PageFacts};
use tokio::time::Instant;

use super::MAX_FETCHED_BYTES;
use crate::{
    client::{DownloadError, DownloadedDocument},
    page::{self, BodyEnd, Canonical},
    politeness::Closed,
};

/// The `Content-Type` header of an answer.
pub(super) fn content_type_of(document: &DownloadedDocument) -> Option<String> {
    document.headers.text("content-type").map(str::to_owned)
}

/// The answer of a server with a document.
pub(super) fn answer_of<'a>(
    document: &DownloadedDocument,
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

/// Facts of a page and of its answer.
pub(super) fn facts_of(answer: Result<page::PageFacts, DownloadError>) -> PageFacts {
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

/// Reason why there is no answer, for messages.
pub(super) fn reason(error: &DownloadError) -> String {
    match error {
        DownloadError::Closed { host, closed } => match closed {
            Closed::RetryAfter(until) => {
                let left = until.saturating_duration_since(Instant::now());
                let left = SignedDuration::try_from(left).unwrap_or(SignedDuration::MAX);
                format!(
                    "{host} asks to wait another {:#} (Retry-After), longer than max_retry_after allows",
                    SignedDuration::from_secs(left.as_secs() + 1)
                )
            }
            Closed::Down => format!("{host} failed too often and gets no further request"),
        },
        error => error.to_string(),
    }
}
