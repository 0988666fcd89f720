//! The health of the storage of the states, as a worker sees it. A worker whose storage refuses it, or does not answer for five
//! minutes, gives its hosts back and claims none, so that others work on them, until the storage takes an object again.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crawler::storage::{StateStorage, StorageError};
use tokio::time::{Instant, timeout};

/// Time between two requests that look whether the storage answers.
pub(super) const LOOK: Duration = Duration::from_secs(30);

/// Time in which it has to.
const ANSWER: Duration = Duration::from_secs(20);

/// Time without an answer after which a worker works on nothing.
const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct StorageHealth(Mutex<Option<Trouble>>);

/// The storage does not answer well.
#[derive(Debug, Clone, Copy)]
struct Trouble {
    since: Instant,
    /// The storage answered 401 or 403.
    is_refused: bool,
}

impl StorageHealth {
    fn trouble(&self) -> MutexGuard<'_, Option<Trouble>> {
        // It is set in one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a failure of the storage.
    pub(super) fn fail(&self, error: Option<&StorageError>) {
        let is_refused = error.is_some_and(StorageError::is_refusal);
        let mut trouble = self.trouble();
        let known = trouble.get_or_insert(Trouble {
            since: Instant::now(),
            is_refused,
        });
        known.is_refused |= is_refused;
    }

    /// Returns whether the storage can be worked with.
    pub(super) fn is_ready(&self) -> bool {
        let trouble = *self.trouble();
        trouble
            .is_none_or(|Trouble { since, is_refused }| !is_refused && since.elapsed() < PATIENCE)
    }

    /// Looks whether the storage answers: after a failure it has to take an object.
    pub(super) async fn look(&self, states: &StateStorage, name: &str) {
        let has_failed = self.trouble().is_some();
        let asked = async {
            if has_failed {
                states.probe(name).await
            } else {
                states.list(name).await.map(drop)
            }
        };
        match timeout(ANSWER, asked).await {
            Ok(Ok(())) => *self.trouble() = None,
            Ok(Err(error)) => self.fail(Some(&error)),
            Err(_) => self.fail(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    fn failure(is_refused: bool) -> StorageError {
        StorageError::State {
            action: "store",
            url: "s3://states/1".to_owned(),
            is_refused,
            source: "it failed".into(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_and_long_waits_end_readiness() {
        let health = StorageHealth::default();
        assert!(health.is_ready());
        health.fail(Some(&failure(false)));
        health.fail(None);
        sleep(PATIENCE / 2).await;
        assert!(health.is_ready());
        sleep(PATIENCE / 2).await;
        assert!(!health.is_ready());
        *health.trouble() = None;
        assert!(health.is_ready());
        health.fail(Some(&failure(true)));
        assert!(!health.is_ready());
    }
}
