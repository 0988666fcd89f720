//! Which published sets can be gone back behind: the words of the store for it.
//!
//! ```text
//! publish:  ForgetBefore -> KeepBefore -> Take, in the commit of the manifest
//! rollback: Take -> StepBack
//! ```

use crate::page::RunId;

/// Number of a published set that can be restored: later ones have larger numbers, from 1 on.
pub type SetNumber = u64;

/// Larger than the number of any set.
pub const EVERY_SET: SetNumber = u64::MAX >> 1;

/// A change of what is kept of the time before the published sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoStep {
    /// The set with this number is about to be taken, and can be restored or taken back later: what is known until
    /// now, of what it makes another, is kept. Stands before its [`OutboxStep::Take`](super::outbox::OutboxStep::Take) in
    /// the same commit, and what [`Store::set_ledger`](super::Store::set_ledger) changes from then on belongs to it.
    KeepBefore(SetNumber),
    /// Nobody goes back behind the set with this number any more: what was kept of before it, and before those with
    /// smaller ones, is forgotten.
    ForgetBefore(SetNumber),
    /// The sets behind this one are as if they had been refused: the ledger and what is remembered of the published
    /// set are what they were before them, as far as that was kept, and what their runs decided counts no more once
    /// another run begins. URLs that were not in the published set, or are not, stay as they are in it. What the ledger
    /// knew by those sets is still known for pages that turn out to say what they said then
    /// ([`Store::visit_pages_with_ledger`](super::Store::visit_pages_with_ledger)).
    StepBack {
        /// The set that stands.
        to: SetNumber,
        /// The last run that it was published from; 0: none of this store, `None`: that is not known.
        run: Option<RunId>,
    },
    /// Nothing of this store was ever published, and its run was refused, or the set that stands is that of another store:
    /// what is found, except what was listed before the first run, is forgotten when another run begins. Changes nothing in
    /// a store of which something was published.
    Disown,
    /// Another store published the set that stands: what runs found and decided, and what is remembered of the published
    /// set and of those before it, is forgotten, as if nothing had ever been found. The ledger, the values, the kept
    /// documents and what waits to be told stay.
    ForgetRuns,
}
