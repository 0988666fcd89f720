//! Challenges in a row: a protection against programs answers in the place of the site, or of a part of it. The start page is asked for:
//! when it is answered, the first-level directories of those pages are given up; when it is a challenge too, the crawl waits and asks
//! once more.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::{
    client::{
        challenge,
        gate::{Gate, Refused},
    },
    fetch::{BodySink, BodyWish, Request, ResponseHead},
    politeness::Closed,
    url_key::{HostKey, UrlKey},
};

/// Challenges in a row after which the start page is asked for.
const IN_ROW: usize = 10;

/// Time for which the crawl waits when that is one too.
const WAIT: Duration = Duration::from_secs(30 * 60);

/// The pages that answered with a challenge, since the last one that did not.
#[derive(Debug, Default)]
pub(super) struct Challenges {
    in_row: Vec<UrlKey>,
    /// The crawl waits for the start page once in a session.
    has_waited: bool,
}

/// The answer of the start page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartAnswer {
    /// A page: a part of the site answers with challenges.
    Page,
    /// A page, after the wait.
    PageLater,
    /// A challenge, also after the wait.
    Challenge,
    /// The request failed in another way.
    Failure,
    /// The host gets no further request.
    Closed(Closed),
    /// The session is stopping.
    Stopped,
}

impl Challenges {
    /// Takes a challenge in the place of a page; returns whether there are too many in a row.
    pub(super) fn add(&mut self, url: &UrlKey) -> bool {
        // Another try of a page is no other page.
        if self.in_row.len() < IN_ROW && !self.in_row.contains(url) {
            self.in_row.push(url.clone());
        }
        self.in_row.len() >= IN_ROW
    }

    /// A page was answered well, or the start page was asked for: the pages of the row, which ends.
    pub(super) fn end_row(&mut self) -> Vec<UrlKey> {
        std::mem::take(&mut self.in_row)
    }

    /// The crawl has waited for the start page.
    pub(super) fn wait(&mut self) {
        self.has_waited = true;
    }

    /// Returns whether it may do so; it does once.
    pub(super) fn may_wait(&self) -> bool {
        !self.has_waited
    }

    /// Returns whether the last answer was a challenge.
    pub(super) fn is_row(&self) -> bool {
        !self.in_row.is_empty()
    }
}

/// Asks for the start page, and, if it `may_wait`, once more after the wait when it is a challenge.
pub(super) async fn ask_start_page(
    gate: Gate,
    start: UrlKey,
    host: HostKey,
    may_wait: bool,
    stop: CancellationToken,
) -> StartAnswer {
    match is_challenge(&gate, &start, &host, &stop).await {
        Ok(false) => return StartAnswer::Page,
        Ok(true) if !may_wait => return StartAnswer::Challenge,
        Ok(true) => {}
        Err(answer) => return answer,
    }
    tokio::select! {
        () = stop.cancelled() => return StartAnswer::Stopped,
        () = tokio::time::sleep(WAIT) => {}
    }
    match is_challenge(&gate, &start, &host, &stop).await {
        Ok(false) => StartAnswer::PageLater,
        Ok(true) => StartAnswer::Challenge,
        Err(answer) => answer,
    }
}

/// Whether the answer of the start page is a challenge; an error when it is none, and no page either.
async fn is_challenge(
    gate: &Gate,
    start: &UrlKey,
    host: &HostKey,
    stop: &CancellationToken,
) -> Result<bool, StartAnswer> {
    gate.reopen(host).await;
    let request = Request::get(start, gate.max_body_bytes);
    let asked = gate.ask_until(&request, stop, Look::default, |_| true);
    let answered = asked.await.map_err(|refused| match refused {
        Refused::Closed(closed) => StartAnswer::Closed(closed),
        Refused::Stopping => StartAnswer::Stopped,
    })?;
    let is_failure = answered.signal.is_failure();
    let fetched = answered.result.map_err(|_| StartAnswer::Failure)?;
    let is_challenge = answered.receiver.is_challenge();
    if is_challenge || fetched.head.status < 400 && !is_failure {
        Ok(is_challenge)
    } else {
        Err(StartAnswer::Failure)
    }
}

/// The begin of an answer, as far as it may be a challenge.
#[derive(Debug, Default)]
struct Look {
    is_in_head: bool,
    body: Vec<u8>,
}

impl Look {
    fn is_challenge(&self) -> bool {
        self.is_in_head || challenge::is_in_body(&self.body)
    }
}

impl BodySink for Look {
    fn head(&mut self, head: &ResponseHead) -> BodyWish {
        let may_be = challenge::may_be(head.status);
        self.is_in_head = may_be && challenge::is_in_head(head);
        if may_be && !self.is_in_head {
            BodyWish::Read
        } else {
            BodyWish::Stop
        }
    }

    fn chunk(&mut self, bytes: &[u8]) -> BodyWish {
        self.body.extend_from_slice(bytes);
        if self.body.len() < challenge::MAX_BYTES {
            BodyWish::Read
        } else {
            BodyWish::Stop
        }
    }
}
