//! Documents that wait to be checked: each once, and no more of them than one check reads. Of the documents it has seen the queue
//! keeps fingerprints of 64 bits; two URLs out of 200,000 share one once in a thousand million checks.

use std::{
    collections::{HashSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher as _},
};

/// Documents in the order in which they came.
#[derive(Debug)]
pub(super) struct Queue<T> {
    most: usize,
    /// Documents that were put in, those that were taken out among them.
    pushed: usize,
    waiting: VecDeque<T>,
    /// Fingerprints of all documents that were put in, and of where their redirects ended: at most two for each.
    seen: HashSet<u64>,
}

impl<T> Queue<T> {
    /// A queue through which at most `most` documents ever go.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            pushed: 0,
            waiting: VecDeque::new(),
            seen: HashSet::new(),
        }
    }

    /// Puts a document in, unless it was seen before; returns it when the queue is full.
    pub(super) fn push(&mut self, place: &impl Hash, document: T) -> Option<T> {
        if self.has_seen(place) {
            return None;
        }
        if self.pushed >= self.most {
            return Some(document);
        }
        self.see(place);
        self.pushed += 1;
        self.waiting.push_back(document);
        None
    }

    /// Takes out the next document.
    pub(super) fn pop(&mut self) -> Option<T> {
        self.waiting.pop_front()
    }

    /// Documents that wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Remembers a place to which a redirect led; `false` if it was seen before.
    pub(super) fn see(&mut self, place: &impl Hash) -> bool {
        self.seen.insert(fingerprint(place))
    }

    /// Returns whether a document was put in, or a redirect led to it.
    pub(super) fn has_seen(&self, place: &impl Hash) -> bool {
        self.seen.contains(&fingerprint(place))
    }
}

fn fingerprint(place: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_waits_once_up_to_a_bound() {
        let mut queue = Queue::new(3);
        assert_eq!(queue.push(&1, 1), None);
        assert_eq!(queue.push(&1, 1), None);
        assert_eq!((queue.pop(), queue.pop()), (Some(1), None));
        assert_eq!(queue.push(&1, 1), None);
        // A redirect does not count, and its target is not put in again.
        assert!(queue.see(&2) && !queue.see(&2));
        assert_eq!(queue.push(&2, 2), None);
        assert_eq!(queue.len(), 0);
        assert_eq!((queue.push(&3, 3), queue.push(&4, 4)), (None, None));
        assert_eq!((queue.push(&5, 5), queue.push(&4, 4)), (Some(5), None));
        assert!(queue.has_seen(&4) && !queue.has_seen(&5));
        assert_eq!((queue.pop(), queue.pop()), (Some(3), Some(4)));
        assert_eq!(queue.push(&5, 5), Some(5));
    }
}
