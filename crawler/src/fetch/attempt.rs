//! One attempt at one request: the addresses it may connect to, and when it had a connection.
//!
//! The HTTP client calls its resolver and its connector in the task of the request that needs a connection. Their arguments and
//! results travel through a task-local. So the connection uses exactly the addresses that were checked for this request, even if
//! the name server has others by then.

use std::{
    net::IpAddr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::Instant;
use tower_layer::Layer;
use tower_service::Service;

use super::BoxFuture;

tokio::task_local! {
    static CURRENT: Arc<Attempt>;
}

/// See the module.
#[derive(Debug)]
pub(super) struct Attempt {
    started: Instant,
    /// The host to connect to: that of the URL, or the proxy.
    name: Box<str>,
    addresses: Vec<IpAddr>,
    is_connecting: AtomicBool,
    connected: OnceLock<Instant>,
}

impl Attempt {
    /// An attempt that starts now; `addresses` were checked.
    pub(super) fn new(name: &str, addresses: Vec<IpAddr>) -> Self {
        Self {
            started: Instant::now(),
            name: name.into(),
            addresses,
            is_connecting: AtomicBool::new(false),
            connected: OnceLock::new(),
        }
    }

    /// An attempt that needs no addresses: the host of the URL, or of the proxy, is one.
    pub(super) fn without_names() -> Self {
        Self::new("", Vec::new())
    }

    /// The host to connect to.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Runs `future` as the work of this attempt.
    pub(super) async fn run<F: Future>(self: Arc<Self>, future: F) -> F::Output {
        CURRENT.scope(self, future).await
    }

    /// The addresses that the current attempt may use for `name`; `None` outside of an attempt, and for an unchecked name.
    pub(super) fn checked_addresses(name: &str) -> Option<Vec<IpAddr>> {
        let of_current =
            |attempt: &Arc<Self>| (*attempt.name == *name).then(|| attempt.addresses.clone());
        CURRENT.try_with(of_current).ok().flatten()
    }

    /// Deadline of the head: `head_timeout` after the request could be sent. While the connection is being opened that instant is
    /// unknown, but at most `connect_timeout` away.
    pub(super) fn head_deadline(
        &self,
        connect_timeout: Duration,
        head_timeout: Duration,
    ) -> Instant {
        let sent = match self.connected.get() {
            Some(&connected) => connected,
            None if self.is_connecting.load(Ordering::Relaxed) => self.started + connect_timeout,
            None => self.started,
        };
        sent + head_timeout
    }
}

/// Wraps the connector, to record the connection in the current attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct WatchLayer;

/// See [`WatchLayer`].
#[derive(Debug, Clone)]
pub(super) struct Watch<S>(S);

impl<S> Layer<S> for WatchLayer {
    type Service = Watch<S>;

    fn layer(&self, connector: S) -> Self::Service {
        Watch(connector)
    }
}

impl<S, R> Service<R> for Watch<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, target: R) -> Self::Future {
        // Outside of an attempt it is not needed.
        let _ = CURRENT.try_with(|attempt| attempt.is_connecting.store(true, Ordering::Relaxed));
        let connecting = self.0.call(target);
        Box::pin(async move {
            let connection = connecting.await?;
            // When a connection of the pool came free first, the client finishes this one in a task
            // of its own, and the attempt must not take it for its own.
            let _ = CURRENT.try_with(|attempt| attempt.connected.set(Instant::now()));
            Ok(connection)
        })
    }
}
