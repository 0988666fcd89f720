//! Answers requests by HTTP/1.1. Limits on size, time and number keep a client from occupying the program.

use std::{net::SocketAddr, time::Duration};

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::failure::{self, Misuse};

/// Time for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(5);

/// Time for a connection with all of its requests.
const MAX_TIME: Duration = Duration::from_secs(60);

/// Bytes of the head of a request, and of what was read beyond it.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// Connections at the same time. Others wait until one of them has ended.
const MAX_CONNECTIONS: usize = 64;

/// Pause after a connection that could not be accepted: the process may have too many open files.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Who sent a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client(pub(crate) SocketAddr);

/// Listens at `address`, which the option `option` sets.
///
/// # Errors
/// The address cannot be used.
pub(crate) async fn listen(address: SocketAddr, option: &str) -> failure::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let message = format!(
            "failed to listen on {address}: {error}; expected a free port of an address of this machine ({option})"
        );
        Misuse(message).into()
    })
}

/// Answers requests by `router` until it is dropped.
pub(crate) async fn serve(listener: TcpListener, router: Router) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= MAX_CONNECTIONS {
            connections.join_next().await;
        }
        match listener.accept().await {
            Ok((stream, client)) => {
                let router = router.clone().layer(Extension(Client(client)));
                connections.spawn(timeout(MAX_TIME, answer(stream, router)));
            }
            Err(error) => {
                tracing::debug!(target: "http", "a connection failed: {error}");
                sleep(AFTER_FAILURE).await;
            }
        }
    }
}

/// Answers the requests of a connection. Errors are the client's: it has gone.
async fn answer(stream: TcpStream, router: Router) {
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
