//! URLs that were not asked for because of what pages said. They stay in the queue of the store until nothing else is left, and are
//! looked at again: what a shorter way, another page or a larger set brought back is asked for, and the rest is decided at last. So
//! the end does not depend on the order of the answers.

/// Looks at all of them at most. Each asks for one URL at least; a site that brings back URLs for ever would never end.
const MAX_LOOKS: u32 = 20;

/// The URLs of the current pass over the queue.
#[derive(Debug, Default)]
pub(super) struct HeldUrls {
    count: u64,
    /// A page was asked for in this pass.
    has_asked: bool,
    looks: u32,
    turn: Turn,
}

/// A pass over the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Turn {
    /// URLs come as they are found.
    #[default]
    First,
    /// URLs that are held are looked at again.
    Look,
    /// URLs that are still held are decided.
    Last,
}

impl HeldUrls {
    /// Takes a URL that is not asked for now; returns whether it is held, and not decided.
    pub(super) fn hold(&mut self) -> bool {
        let is_held = self.turn != Turn::Last;
        self.count += u64::from(is_held);
        is_held
    }

    /// Takes note that a page is asked for.
    pub(super) fn note_request(&mut self) {
        self.has_asked = true;
    }

    /// Returns whether all pages were read that a decision may need.
    pub(super) fn is_end(&self) -> bool {
        self.turn != Turn::First
    }

    /// Returns whether none is held.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Nothing else is left: the next pass begins.
    pub(super) fn begin_pass(&mut self) {
        let has_asked = std::mem::take(&mut self.has_asked);
        self.turn = match self.turn {
            Turn::First => Turn::Look,
            Turn::Look if has_asked && self.looks < MAX_LOOKS => Turn::Look,
            Turn::Look | Turn::Last => Turn::Last,
        };
        self.looks += 1;
        self.count = 0;
    }
}
