//! Why the guard kept the published set, for scripts.

use crawler::publish::{Objection, Refusal};
use serde::Serialize;

/// The result of the guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct GuardLine {
    /// What speaks against the new set, each a stable word.
    objections: Vec<&'static str>,
    /// URLs in the published set.
    published: u64,
    /// URLs that would have been listed.
    would_list: u64,
}

impl From<&Refusal> for GuardLine {
    fn from(refusal: &Refusal) -> Self {
        Self {
            objections: refusal.objections.iter().map(Objection::code).collect(),
            published: refusal.before,
            would_list: refusal.now,
        }
    }
}
