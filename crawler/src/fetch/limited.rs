//! A bound on the number of requests, whoever sends them and for whatever reason: robots.txt, redirects and further tries count.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use super::{BodySink, BoxFuture, Fetch, FetchError, FetchErrorKind, Fetched, Request};

/// Requests that may still be sent; clones share the count.
#[derive(Debug, Clone)]
pub struct RequestLimit {
    most: u32,
    sent: Arc<AtomicU32>,
}

impl RequestLimit {
    /// At most `most` requests.
    pub fn new(most: u32) -> Self {
        Self {
            most,
            sent: Arc::default(),
        }
    }

    /// Requests that were sent.
    pub fn sent(&self) -> u32 {
        self.sent.load(Ordering::SeqCst).min(self.most)
    }

    /// Returns whether no further request is sent.
    pub fn is_reached(&self) -> bool {
        self.sent() == self.most
    }

    /// Counts a request; `false`: it may not be sent.
    fn take(&self) -> bool {
        self.sent.fetch_add(1, Ordering::SeqCst) < self.most
    }
}

/// Sends requests while the limit allows.
pub(crate) struct LimitedFetch {
    pub(crate) fetch: Arc<dyn Fetch>,
    pub(crate) limit: RequestLimit,
}

impl Fetch for LimitedFetch {
    fn fetch<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut (dyn BodySink + Send),
    ) -> BoxFuture<'a, Result<Fetched, FetchError>> {
        if self.limit.take() {
            return self.fetch.fetch(request, sink);
        }
        let message = format!(
            "not requested: the limit of {} requests is reached",
            self.limit.most
        );
        Box::pin(std::future::ready(Err(FetchError::new(
            FetchErrorKind::Forbidden,
            message,
        ))))
    }

    fn network(&self) -> Option<&'static str> {
        self.fetch.network()
    }
}
