//! Counts of key prefixes, from keys in ascending order, without keeping the keys.
//!
//! Owns a compressed character trie in which only large prefixes have children: a prefix that is not over half a file is never
//! divided, so the characters after it do not matter. While keys arrive, the branching points of the last key are open. A point
//! closes when a key leaves it, and drops its children unless it is large. Nodes sit in one list and refer to each other by
//! index, so that no depth of nesting can exhaust the stack.

use super::thresholds::{Count, Thresholds};

/// Builds [`Prefixes`].
#[derive(Debug)]
pub(super) struct PrefixCounter {
    thresholds: Thresholds,
    nodes: Vec<Node>,
    /// The branching points of the last key, ascending by depth. The first is the base, which never closes before the end.
    open: Vec<OpenBranch>,
    /// The last key; it has no parent before the next one shows where they part.
    last: Option<Closed>,
}

/// The counts of all prefixes that can matter to the division.
#[derive(Debug)]
pub(super) struct Prefixes {
    nodes: Vec<Node>,
    root: usize,
}

/// A place in the trie: the prefix that ends after `offset` bytes of the node's label.
#[derive(Clone, Copy, Debug)]
pub(super) struct TriePosition {
    node: usize,
    offset: usize,
}

/// A prefix one byte longer than another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) byte: u8,
    /// All keys that begin with it.
    pub(super) count: Count,
    /// Position of its children; `None` when it is too small to be divided.
    pub(super) position: Option<TriePosition>,
}

/// The base, or a branching point with more than half a file below it.
#[derive(Debug)]
struct Node {
    /// The bytes that lead here after the first one, which the parent has.
    label: Box<[u8]>,
    count: Count,
    children: Box<[Branch]>,
}

#[derive(Debug)]
struct Branch {
    byte: u8,
    count: Count,
    node: Option<usize>,
}

/// A branching point of the last key.
#[derive(Debug)]
struct OpenBranch {
    /// Length of the prefix that ends here.
    depth: usize,
    /// The key that is this prefix and no more.
    exact: Count,
    children: Vec<Branch>,
}

/// A key, or a branching point to which no more keys come.
#[derive(Debug)]
struct Closed {
    depth: usize,
    count: Count,
    node: Option<usize>,
}

impl PrefixCounter {
    /// `base_bytes`: length of the prefix that all keys share.
    pub(super) fn new(base_bytes: usize, thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            nodes: Vec::new(),
            open: vec![OpenBranch::at(base_bytes)],
            last: None,
        }
    }

    /// Counts a key of `key_bytes` bytes, of which it shares the first `shared` with `previous`, the key before it.
    pub(super) fn push(&mut self, previous: &[u8], shared: usize, key_bytes: usize, count: Count) {
        self.place_key(previous, shared);
        self.last = Some(Closed {
            depth: key_bytes,
            count,
            node: None,
        });
    }

    /// `last`: the last key; `base_bytes` as at the start.
    pub(super) fn finish(mut self, last: &[u8], base_bytes: usize) -> Prefixes {
        self.place_key(last, base_bytes);
        let base = self
            .open
            .pop()
            .unwrap_or_else(|| OpenBranch::at(base_bytes));
        let count = base.count();
        let root = self.keep(base, count);
        Prefixes {
            nodes: self.nodes,
            root,
        }
    }

    /// Number of counts that are kept.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        let closed = self.nodes.iter().map(|node| 1 + node.children.len());
        let open = self.open.iter().map(|point| 1 + point.children.len());
        closed.chain(open).sum()
    }

    /// Gives the last key its place: closes the branching points below `shared` bytes and opens one there if there is none.
    fn place_key(&mut self, previous: &[u8], shared: usize) {
        let Some(mut closed) = self.last.take() else {
            return;
        };
        while let Some(mut point) = self.open.pop_if(|point| point.depth > shared) {
            self.attach(&mut point, &closed, previous);
            closed = self.close(point);
        }
        let mut point = self
            .open
            .pop_if(|point| point.depth == shared)
            .unwrap_or_else(|| OpenBranch::at(shared));
        if closed.depth == shared {
            point.exact = closed.count;
        } else {
            self.attach(&mut point, &closed, previous);
        }
        self.open.push(point);
    }

    fn attach(&mut self, point: &mut OpenBranch, closed: &Closed, previous: &[u8]) {
        if let Some(node) = closed.node {
            self.nodes[node].label = previous[point.depth + 1..closed.depth].into();
        }
        point.children.push(Branch {
            byte: previous[point.depth],
            count: closed.count,
            node: closed.node,
        });
    }

    fn close(&mut self, point: OpenBranch) -> Closed {
        let count = point.count();
        let depth = point.depth;
        let node = self
            .thresholds
            .is_over_half(count)
            .then(|| self.keep(point, count));
        Closed { depth, count, node }
    }

    fn keep(&mut self, mut point: OpenBranch, count: Count) -> usize {
        let exact = point.exact;
        point
            .children
            .retain(|child| !self.thresholds.is_negligible(child.count, exact));
        self.nodes.push(Node {
            label: Box::default(),
            count,
            children: point.children.into_boxed_slice(),
        });
        self.nodes.len() - 1
    }
}

impl OpenBranch {
    fn at(depth: usize) -> Self {
        Self {
            depth,
            exact: Count::default(),
            children: Vec::new(),
        }
    }

    fn count(&self) -> Count {
        self.children
            .iter()
            .fold(self.exact, |sum, child| sum.plus(child.count))
    }
}

impl Prefixes {
    /// All keys.
    pub(super) fn total(&self) -> Count {
        self.nodes[self.root].count
    }

    /// The place of a prefix; `below_base` is the text after the base. `None` when it is too small to be divided.
    pub(super) fn find(&self, below_base: &str) -> Option<TriePosition> {
        let mut position = TriePosition {
            node: self.root,
            offset: 0,
        };
        for byte in below_base.bytes() {
            position = self
                .next(position)
                .find(|next| next.byte == byte)?
                .position?;
        }
        Some(position)
    }

    /// The prefixes that are one byte longer, without those that are too small to matter.
    pub(super) fn next(&self, at: TriePosition) -> impl Iterator<Item = Next> {
        let node = &self.nodes[at.node];
        let in_label = node.label.get(at.offset).map(|byte| Next {
            byte: *byte,
            count: node.count,
            position: Some(TriePosition {
                node: at.node,
                offset: at.offset + 1,
            }),
        });
        let children = if in_label.is_none() {
            &node.children[..]
        } else {
            &[]
        };
        in_label
            .into_iter()
            .chain(children.iter().map(|child| Next {
                byte: child.byte,
                count: child.count,
                position: child.node.map(|node| TriePosition { node, offset: 0 }),
            }))
    }
}
