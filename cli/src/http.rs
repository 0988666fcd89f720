//! Answers requests by HTTP/1.1. Limits on size, time and number keep a client from occupying the program.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};
#[cfg(feature = "page")]
use {
    axum::{Extension, Router},
    hyper::server::conn::http1,
    hyper_util::{
        rt::{TokioIo, TokioTimer},
        service::TowerToHyperService,
    },
};

use crate::failure::{self, Misuse};

/// Limits on the connections of a listener.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// At the same time. Others wait until one of them has ended.
    pub(crate) connections: usize,
    /// For each, with all of its requests.
    pub(crate) time: Duration,
}

/// The limits of a page.
#[cfg(feature = "page")]
const OF_PAGE: Limits = Limits {
    connections: 64,
    time: Duration::from_secs(60),
};

/// Time for the head of a request.
#[cfg(feature = "page")]
const HEAD_TIME: Duration = Duration::from_secs(5);

/// Bytes of the head of a request, and of what was read beyond it.
#[cfg(feature = "page")]
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// Pause after a connection that could not be accepted: the process may have too many open files.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Who sent a request.
#[cfg(feature = "page")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client(pub(crate) SocketAddr);

/// Listens at `address` for `what`, which the option `option` sets.
///
/// # Errors
/// The address cannot be used.
pub(crate) async fn listen(
    address: SocketAddr,
    what: &str,
    option: &str,
) -> failure::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let message = format!(
            "failed to listen on {address} for {what}: {error}; expected a free port of an address of this machine ({option})"
        );
        Misuse(message).into()
    })
}

/// Answers connections by `answer` until it is dropped.
pub(crate) async fn accept<F: Future<Output: Send + 'static> + Send + 'static>(
    listener: TcpListener,
    limits: Limits,
    answer: impl Fn(TcpStream, SocketAddr) -> F,
) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= limits.connections {
            connections.join_next().await;
        }
        match listener.accept().await {
            Ok((stream, client)) => {
                connections.spawn(timeout(limits.time, answer(stream, client)));
            }
            Err(error) => {
                tracing::debug!(target: "http", "a connection failed: {error}");
                sleep(AFTER_FAILURE).await;
            }
        }
    }
}

/// Answers requests by `router` until it is dropped.
#[cfg(feature = "page")]
pub(crate) async fn serve(listener: TcpListener, router: Router) {
    let answer = |stream, client| respond(stream, router.clone().layer(Extension(Client(client))));
    accept(listener, OF_PAGE, answer).await;
}

/// Answers the requests of a connection. Errors are the client's: it has gone.
#[cfg(feature = "page")]
async fn respond(stream: TcpStream, router: Router) {
    let service = TowerToHyperService::new(router);
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(MAX_HEAD_BYTES);
    let ended = server.serve_connection(TokioIo::new(stream), service).await;
    if let Err(error) = ended {
        tracing::debug!(target: "http", "a connection ended: {error}");
    }
}
