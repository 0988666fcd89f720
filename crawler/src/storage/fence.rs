//! The fence of a bucket that several machines could write to: one of them has the right to it for a time.

use std::{fmt, pin::Pin};

use super::StorageError;

/// An answer that may take a while.
pub type FenceFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The right of this machine to change a bucket, which ends when another machine takes over.
pub trait SendFence: fmt::Debug + Send + Sync {
    /// Asked before each object is sent or removed.
    ///
    /// # Errors
    /// Why this machine may not change the bucket any more.
    fn confirm(&self) -> FenceFuture<'_, Result<(), String>>;

    /// Asked when a request failed by `problem` after its retries: waits, and returns whether it is tried again.
    fn tries_again<'a>(&'a self, problem: &'a StorageError) -> FenceFuture<'a, bool>;
}
