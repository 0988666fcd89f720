//! Faults for tests: makes one of the steps fail by which a publish changes its folder. The steps are
//! counted for each thread on its own.

use std::{cell::Cell, io};

/// How a step fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// This step fails, the next ones do not.
    Once,
    /// This step and all after it fail, as on a full disk.
    Always,
    /// The publish ends here, as if its process were killed.
    Kill,
}

thread_local! {
    static PLAN: Cell<Option<(u32, Fault)>> = const { Cell::new(None) };
}

/// After `steps` steps the next one fails.
pub(super) fn after(steps: u32, fault: Fault) {
    PLAN.set(Some((steps, fault)));
}

/// Ends the faults; whether a step failed.
pub(super) fn end() -> bool {
    PLAN.take().is_none_or(|(left, _)| left == 0)
}

/// A step is about to be done.
pub(super) fn pass() -> io::Result<()> {
    let Some((left, fault)) = PLAN.get() else {
        return Ok(());
    };
    if left > 0 {
        PLAN.set(Some((left - 1, fault)));
        return Ok(());
    }
    match fault {
        Fault::Once => PLAN.set(None),
        Fault::Always => {}
        Fault::Kill => std::panic::panic_any(Fault::Kill),
    }
    Err(io::Error::from(io::ErrorKind::StorageFull))
}
