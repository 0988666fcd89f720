//! Calls of services that the user named (an engine that is notified of changes, a hook on the web), and
//! requests for the key file that proves the site to an engine. They wait for permits like all requests, but
//! do not obey robots.txt, which is for crawlers that follow links.

use std::sync::Arc;

use super::{
    download::{ConnectError, Downloader},
    gate::Refused,
    shutdown::Shutdown,
    signal,
};
use crate::{
    config::Secret,
    fetch::{
        BodySink, BodyWish, CallMethod, CallOptions, FetchError, FetchErrorKind, Fetched, Request,
        ResponseHead,
    },
    page::BodyEnd,
    politeness::Closed,
    url_key::{HostKey, UrlKey},
};

/// Bytes of an answer that are read. Engines answer with a line; Search Console lists 1,000 properties.
const MAX_ANSWER_BYTES: u64 = 512 * 1024;

/// The URL that is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The URL; it may hold a key.
    pub url: UrlKey,
    /// The name of the URL in messages and logs.
    pub shown: Arc<str>,
    /// The method. Default GET.
    pub method: CallMethod,
    /// A body of JSON to send. Default none.
    pub json: Option<Arc<str>>,
    /// The token of `Authorization: Bearer`. Default none.
    pub bearer: Option<Secret>,
    /// After which answers there is another try, as many as the settings allow.
    pub retry: Retry,
}

/// After which answers a [`Call`] is tried again. A failure of the network that may pass always is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// After statuses that may pass: 408, 429, 5xx.
    Passing,
    /// After every answer but 200, 404 and 410 (sitemaps.org protocol: a request that was not answered
    /// by 200 is to be sent again).
    UnlessReceived,
}

/// The last answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallAnswer {
    /// HTTP status.
    pub status: u16,
    /// The first bytes of the body, at most 512 KiB.
    pub body: Vec<u8>,
    /// `true` if that is all of it.
    pub is_whole: bool,
    /// Tries made.
    pub tries: u32,
}

/// Why there is no answer. No message holds the URL.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No answer after all tries.
    #[error("{message}")]
    NoAnswer {
        /// The kind of failure.
        kind: FetchErrorKind,
        /// The event.
        message: String,
    },
    /// The host gets no further request now: it asked to wait for longer than `max_retry_after`, or is down.
    #[error("{host} gets no further request now: {}", reason_of(*closed))]
    Closed {
        /// The host.
        host: HostKey,
        /// Why.
        closed: Closed,
    },
    /// A network setting cannot be used.
    #[error("the network settings cannot be used")]
    Settings(#[source] ConnectError),
    /// The work is stopping. A request that was on its way may have arrived.
    #[error("stopped before there was an answer")]
    Stopped,
}

fn reason_of(closed: Closed) -> &'static str {
    match closed {
        Closed::RetryAfter(_) => "it asked to wait (Retry-After)",
        Closed::Down => "it failed too often",
    }
}

impl Call {
    /// A GET of `url`, which is shown as `shown`.
    pub fn get(url: UrlKey, shown: &str, retry: Retry) -> Self {
        Self {
            url,
            shown: Arc::from(shown),
            method: CallMethod::Get,
            json: None,
            bearer: None,
            retry,
        }
    }

    /// A POST of `json` to `url`, which is shown as `shown`; it is tried again after what may pass.
    pub fn post(url: UrlKey, shown: &str, json: &str) -> Self {
        Self {
            method: CallMethod::Post,
            json: Some(Arc::from(json)),
            ..Self::get(url, shown, Retry::Passing)
        }
    }
}

impl Downloader {
    /// Calls a service. Of the answer's body at most 512 KiB are read; a redirect is an answer, and not
    /// followed.
    ///
    /// # Errors
    /// See [`CallError`]. An answer of any status is none.
    pub async fn call(&self, call: &Call, shutdown: &Shutdown) -> Result<CallAnswer, CallError> {
        let host = call.url.host();
        self.begin_calls(&host);
        let request = Request {
            call: Some(CallOptions {
                shown: Arc::clone(&call.shown),
                method: call.method,
                json: call.json.clone(),
                bearer: call.bearer.clone(),
            }),
            ..Request::get(&call.url, MAX_ANSWER_BYTES)
        };
        // A body that breaks off does not change the meaning of its status.
        let is_final = |asked: &Result<Fetched, FetchError>| match (asked, call.retry) {
            (Ok(fetched), Retry::UnlessReceived) => matches!(fetched.head.status, 200 | 404 | 410),
            (Ok(fetched), Retry::Passing) => {
                let status = fetched.head.status;
                !(signal::is_passing_status(status) || (500..600).contains(&status))
            }
            (Err(error), _) => !error.kind().is_passing(),
        };
        let asked = self
            .gate
            .ask_until(&request, &shutdown.stop, Beginning::default, is_final)
            .await;
        let answered = asked.map_err(|refused| match refused {
            Refused::Closed(closed) => CallError::Closed {
                host: host.clone(),
                closed,
            },
            Refused::Stopping => CallError::Stopped,
        })?;
        // A service is one host's only page: its wish is the host's.
        if let Some(closed) = self.gate.obey_long_wait(host.clone(), answered.signal) {
            return Err(CallError::Closed { host, closed });
        }
        let fetched = answered.result.map_err(|error| CallError::NoAnswer {
            kind: error.kind(),
            message: error.to_string(),
        })?;
        Ok(CallAnswer {
            status: fetched.head.status,
            body: answered.receiver.0,
            is_whole: fetched.end == BodyEnd::Complete,
            tries: answered.tries,
        })
    }

    /// Trouble of an earlier session with `host` is forgotten, that of these calls is not.
    fn begin_calls(&self, host: &HostKey) {
        let mut called = self
            .called
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if called.insert(host.clone()) {
            self.gate.clocks().forget_trouble(host);
        }
    }
}

/// The beginning of a body, as much as arrives.
#[derive(Debug, Default)]
struct Beginning(Vec<u8>);

impl BodySink for Beginning {
    fn head(&mut self, _: &ResponseHead) -> BodyWish {
        BodyWish::Read
    }

    fn chunk(&mut self, bytes: &[u8]) -> BodyWish {
        self.0.extend_from_slice(bytes);
        BodyWish::Read
    }
}
