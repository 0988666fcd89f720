//! Panics: a panic ends the work on one site instead of the program, and keeps its message.

use std::{
    any::Any,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
};

use tokio::task::{JoinError, spawn_blocking};

use super::{Failure, Result as Done};
use crate::outcome::SessionOutcome;

/// Work that ended by a panic: a bug. The panic itself, with its message, was reported when it happened.
#[derive(Debug, thiserror::Error)]
#[error("ended by an internal error, which is in the log")]
pub struct Panicked {
    /// The panic's own words.
    pub message: String,
}

impl Panicked {
    /// With the panic's own words.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    /// From a task that did not come to its end.
    pub fn from_join(error: JoinError) -> Self {
        match error.try_into_panic() {
            Ok(payload) => Self::from_payload(&*payload),
            Err(error) => Self::new(error.to_string()),
        }
    }

    /// From what `catch_unwind` and joined tasks hand back.
    pub fn from_payload(payload: &(dyn Any + Send)) -> Self {
        Self::new(words_of(payload))
    }
}

impl From<Panicked> for Failure {
    fn from(error: Panicked) -> Self {
        Self::new(SessionOutcome::Internal, error)
    }
}

/// Message of a panic.
pub fn words_of(payload: &dyn Any) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}

/// Runs `work` on a thread that may block; what it logs is of the same site.
///
/// # Errors
/// It failed, or panicked.
pub async fn blocking<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Done<T>
where
    T: Send + 'static,
    E: Into<Failure> + Send + 'static,
{
    let span = tracing::Span::current();
    let ended = spawn_blocking(move || span.in_scope(work)).await;
    ended.map_err(Panicked::from_join)?.map_err(Into::into)
}

/// Runs `work` so that a panic in it ends the work, not the program.
///
/// # Errors
/// It panicked.
pub async fn caught<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut work = pin!(work);
    // After a panic the work is ready, so it is never polled again.
    poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(payload) => Poll::Ready(Err(Panicked::from_payload(&*payload))),
        },
    )
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_ends_the_work_only() {
        let ended = caught(async {
            tokio::task::yield_now().await;
            panic!("no way {}", 1);
        });
        let ended: Result<(), Panicked> = ended.await;
        assert_eq!(ended.unwrap_err().message, "no way 1");
        assert_eq!(caught(async { 7 }).await.unwrap(), 7);
    }
}
