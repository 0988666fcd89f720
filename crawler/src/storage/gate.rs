//! Questions of a sender before it changes a bucket that other machines may have taken over.

use std::{fmt, pin::Pin};

use super::StorageError;

/// An answer that may take a while.
pub type GateFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a sender asks when several machines could send the set of a site: one of them has the right to it for a time.
pub trait SendGate: fmt::Debug + Send + Sync {
    /// Asked before each object is sent or removed.
    ///
    /// # Errors
    /// Why this machine may not change the bucket any more.
    fn confirm(&self) -> GateFuture<'_, Result<(), String>>;

    /// Asked when a request failed by `problem` after its retries: waits, and returns whether it is tried again.
    fn tries_again<'a>(&'a self, problem: &'a StorageError) -> GateFuture<'a, bool>;
}
