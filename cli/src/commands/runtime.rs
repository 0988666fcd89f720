//! The runtime that the work of a command runs on.

use std::future::Future;

use tokio::runtime::Builder;

use crate::failure::{self, Context as _};

/// How many threads of a runtime wait for the network.
#[derive(Debug, Clone, Copy)]
pub(super) enum Threads {
    /// One: the work is done by threads that may block.
    One,
    /// One for each core of the machine.
    OfCores,
}

/// Runs `work` to its end. Tasks that it started are not waited for: a name lookup, or a read of an input that does not
/// come.
///
/// # Errors
/// The system has no threads for it; the work failed.
pub(super) fn run<T>(
    threads: Threads,
    work: impl Future<Output = failure::Result<T>>,
) -> failure::Result<T> {
    let mut builder = Builder::new_multi_thread();
    match threads {
        Threads::One => {
            builder.worker_threads(1);
        }
        Threads::OfCores => {}
    }
    let runtime = builder
        .enable_all()
        .build()
        .context("failed to start the runtime")?;
    let ended = runtime.block_on(work);
    runtime.shutdown_background();
    ended
}
