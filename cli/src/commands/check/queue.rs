//! What waits to be checked: every document once, and no more of them than one check reads. Of what it has seen it
//! keeps fingerprints of 64 bits; two URLs out of 200,000 have the same one once in a thousand million checks.

use std::{
    collections::{HashSet, VecDeque},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use sitemap_core::Loc;

/// What became of something that was to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Pushed<T> {
    /// It waits.
    Waits,
    /// It was checked before, or waits already.
    Known,
    /// As many were checked or wait as may be: it is left out.
    NoRoom(T),
}

/// What waits, first come, first served.
#[derive(Debug)]
pub(super) struct Queue<T> {
    most: usize,
    /// How many were taken out.
    taken: usize,
    waiting: VecDeque<(u64, T)>,
    /// Fingerprints of what waits.
    awaited: HashSet<u64>,
    /// Fingerprints of where documents were asked for, and of where they were found: at most two of each.
    visited: HashSet<u64>,
}

impl<T> Queue<T> {
    /// A queue through which at most so many will ever go.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            taken: 0,
            waiting: VecDeque::new(),
            awaited: HashSet::new(),
            visited: HashSet::new(),
        }
    }

    /// Lets something wait for its turn, unless it had one or has no chance of one.
    pub(super) fn push(&mut self, loc: &Loc, wanted: T) -> Pushed<T> {
        let fingerprint = fingerprint(loc);
        if self.visited.contains(&fingerprint) || self.awaited.contains(&fingerprint) {
            return Pushed::Known;
        }
        if self.taken + self.waiting.len() >= self.most {
            return Pushed::NoRoom(wanted);
        }
        self.awaited.insert(fingerprint);
        self.waiting.push_back((fingerprint, wanted));
        Pushed::Waits
    }

    /// Takes out what is next; what a redirect led to meanwhile has been checked.
    pub(super) fn pop(&mut self) -> Option<T> {
        while let Some((fingerprint, wanted)) = self.waiting.pop_front() {
            self.awaited.remove(&fingerprint);
            if self.visited.insert(fingerprint) {
                self.taken += 1;
                return Some(wanted);
            }
        }
        None
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// A redirect led to a document here; `false` if it was checked before.
    pub(super) fn visit(&mut self, loc: &Loc) -> bool {
        self.visited.insert(fingerprint(loc))
    }

    /// Whether what is here waits for its turn.
    pub(super) fn awaits(&self, loc: &Loc) -> bool {
        self.awaited.contains(&fingerprint(loc))
    }

    /// Whether what is here was checked.
    pub(super) fn has_visited(&self, loc: &Loc) -> bool {
        self.visited.contains(&fingerprint(loc))
    }
}

fn fingerprint(loc: &Loc) -> u64 {
    let mut hasher = DefaultHasher::new();
    loc.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loc(number: usize) -> Loc {
        Loc::parse(&format!("https://h.example/{number}.xml")).unwrap()
    }

    fn push(queue: &mut Queue<usize>, number: usize) -> Pushed<usize> {
        queue.push(&loc(number), number)
    }

    #[test]
    fn each_waits_once_and_is_taken_once() {
        let mut queue = Queue::new(10);
        assert_eq!(push(&mut queue, 1), Pushed::Waits);
        assert_eq!(push(&mut queue, 1), Pushed::Known);
        assert_eq!(push(&mut queue, 2), Pushed::Waits);
        assert_eq!(queue.pop(), Some(1));
        assert_eq!(push(&mut queue, 1), Pushed::Known);
        assert_eq!(push(&mut queue, 2), Pushed::Known);
        assert!(queue.awaits(&loc(2)) && !queue.awaits(&loc(1)));
        // A redirect led to the second.
        assert!(queue.visit(&loc(2)));
        assert!(!queue.visit(&loc(2)));
        assert!(queue.has_visited(&loc(2)) && !queue.has_visited(&loc(3)));
        assert_eq!(queue.pop(), None);
        assert_eq!((queue.len(), queue.awaited.len()), (0, 0));
    }

    #[test]
    fn what_waits_and_what_was_taken_have_one_bound() {
        let mut queue = Queue::new(3);
        for number in 0..2 {
            assert_eq!(push(&mut queue, number), Pushed::Waits);
        }
        assert_eq!(queue.pop(), Some(0));
        assert_eq!(push(&mut queue, 2), Pushed::Waits);
        // One was taken, two wait; what is known needs no room.
        for number in 3..1_000 {
            assert_eq!(push(&mut queue, number), Pushed::NoRoom(number));
        }
        assert_eq!(push(&mut queue, 1), Pushed::Known);
        assert_eq!((queue.len(), queue.awaited.len()), (2, 2));
        // Where redirects end takes no room from others.
        assert!(queue.visit(&loc(9)));
        assert_eq!(
            (queue.pop(), queue.pop(), queue.pop()),
            (Some(1), Some(2), None)
        );
        assert_eq!(push(&mut queue, 5), Pushed::NoRoom(5));
    }
}
