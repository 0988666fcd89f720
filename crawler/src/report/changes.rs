//! Differences between two published sets: the number of URLs of each kind, and the first of them.

use serde::Serialize;

/// A difference of one URL between two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetChange {
    /// Only the newer set lists the URL.
    Added,
    /// Only the older set lists the URL.
    Removed,
    /// Both sets list the URL with another `lastmod`, or only one of them states one.
    LastmodMoved,
}

/// The URLs with one kind of difference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ChangedUrls {
    /// All of them.
    pub count: u64,
    /// The first of them, at most as many as the caller wants.
    pub first: Vec<String>,
}

impl ChangedUrls {
    fn add(&mut self, url: &str, most: usize) {
        self.count += 1;
        if self.first.len() < most {
            self.first.push(url.to_owned());
        }
    }
}

/// The URLs that differ, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SetChanges {
    /// See [`SetChange::Added`].
    pub added: ChangedUrls,
    /// See [`SetChange::Removed`].
    pub removed: ChangedUrls,
    /// See [`SetChange::LastmodMoved`].
    pub lastmod_moved: ChangedUrls,
}

impl SetChanges {
    /// URLs of one kind that are named in a report on one publish, and in the sums of a comparison.
    pub const MAX_NAMED: usize = 10;

    /// Counts a URL, and names it unless `most` of its kind are named already.
    pub fn add(&mut self, change: SetChange, url: &str, most: usize) {
        let urls = match change {
            SetChange::Added => &mut self.added,
            SetChange::Removed => &mut self.removed,
            SetChange::LastmodMoved => &mut self.lastmod_moved,
        };
        urls.add(url, most);
    }

    /// Returns whether no URL differs.
    pub fn is_empty(&self) -> bool {
        self.added.count + self.removed.count + self.lastmod_moved.count == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_the_first_are_named() {
        let mut changes = SetChanges::default();
        assert!(changes.is_empty());
        for url in ["/a", "/b", "/c"] {
            changes.add(SetChange::Removed, url, 2);
        }
        assert_eq!((changes.removed.count, changes.added.count), (3, 0));
        assert_eq!(changes.removed.first, ["/a", "/b"]);
        assert!(!changes.is_empty());
    }
}
