//! The rules of the scope tree: from counts to parts.
//!
//! Decides the parts. It has counts only, neither keys nor names, and its own list of work, so that the depth of a tree is not a
//! depth of calls.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    Layout, PartId, Placement,
    directories::Directories,
    name,
    prefixes::{Prefixes, TriePosition},
    thresholds::{Count, Thresholds},
};

/// Root of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Top {
    /// The site: the directories right below its base get files of their own, also where one file were enough for all.
    Site,
    /// A section: one file, until it is too much for one.
    Section,
}

/// Everything the decision rests on.
#[derive(Debug)]
pub(super) struct Division<'a> {
    pub(super) base: &'a str,
    pub(super) top: Top,
    pub(super) thresholds: Thresholds,
    pub(super) placement: Placement,
    pub(super) previous: &'a Layout,
    pub(super) directories: &'a Directories,
    pub(super) prefixes: &'a Prefixes,
}

/// The keys of one directory that begin with one prefix, but for those in directories with files of their own. It is, or might
/// become, a part.
#[derive(Debug)]
struct Shard {
    /// The directory and the prefix.
    scope: String,
    count: Count,
    position: Option<TriePosition>,
    /// The children of the directory that begin with the scope.
    children: (usize, usize),
}

/// The directories right below another that have files of their own, ascending.
#[derive(Debug)]
struct Children<'a> {
    paths: Vec<&'a str>,
    /// The sum of all before each, and of all.
    sums: Vec<Count>,
}

impl<'a> Division<'a> {
    /// The parts and their counts, in no order; every part has keys.
    pub(super) fn run(&self) -> Vec<(PartId, Count)> {
        let mut parts = Vec::new();
        let mut nodes = vec![(self.base, self.prefixes.total())];
        while let Some((directory, count)) = nodes.pop() {
            let stays_divided =
                || self.thresholds.is_over_half(count) && self.previous.was_divided(directory);
            let may_be_whole = directory != self.base || self.top == Top::Section;
            if may_be_whole && !self.thresholds.is_over(count) && !stays_divided() {
                parts.extend((count.entries > 0).then(|| (whole(directory), count)));
                continue;
            }
            let found = self.children(directory);
            let children = Children::new(&found);
            self.divide(directory, count, &children, &mut parts);
            nodes.extend(found);
        }
        parts
    }

    /// The directories right below this one that get files of their own.
    fn children(&self, directory: &str) -> Vec<(&'a str, Count)> {
        let threshold = if directory == self.base {
            self.thresholds.section(self.directories.raised)
        } else {
            self.thresholds.subsection
        };
        let all = &self.directories.counts;
        let below = all.partition_point(|(path, _)| &**path <= directory);
        let mut found = Vec::new();
        let descendants = all[below..].iter();
        for (path, count) in descendants.take_while(|(path, _)| path.starts_with(directory)) {
            let segment = &path[directory.len()..path.len() - 1];
            if !segment.contains('/')
                && self
                    .thresholds
                    .is_section(path, *count, threshold, self.previous)
            {
                found.push((&**path, *count));
            }
        }
        match self.placement {
            Placement::Root => found,
            Placement::InPlace => self.without_collisions(directory, found),
        }
    }

    /// Of directories whose folders are the same where upper and lower case are, one gets a file: the one that had one, else the
    /// first.
    fn without_collisions(
        &self,
        parent: &str,
        mut found: Vec<(&'a str, Count)>,
    ) -> Vec<(&'a str, Count)> {
        let key = |path: &str| name::folder_key(&path[parent.len()..path.len() - 1]);
        let mut winners: BTreeMap<Option<String>, &str> = BTreeMap::new();
        for (path, _) in &found {
            let winner = winners.entry(key(path)).or_insert(path);
            if !self.previous.has_directory(winner) && self.previous.has_directory(path) {
                *winner = path;
            }
        }
        found.retain(|(path, _)| winners.get(&key(path)) == Some(path));
        found
    }

    /// Divides the keys that stay in a directory by characters until each piece has room in a file.
    fn divide(
        &self,
        directory: &str,
        count: Count,
        children: &Children<'_>,
        parts: &mut Vec<(PartId, Count)>,
    ) {
        let all = (0, children.paths.len());
        let mut shards = vec![Shard {
            scope: directory.to_owned(),
            count: count.minus(children.sum(all)),
            position: self.prefixes.find(&directory[self.base.len()..]),
            children: all,
        }];
        while let Some(shard) = shards.pop() {
            let left = match shard.position {
                Some(position) if self.is_divided(directory, &shard) => {
                    self.divide_once(directory, &shard, position, children, &mut shards)
                }
                Some(_) | None => shard.count,
            };
            if left.entries > 0 {
                let prefix = &shard.scope[directory.len()..];
                let id = PartId {
                    directory: directory.to_owned(),
                    prefix: (!prefix.is_empty()).then(|| prefix.to_owned()),
                };
                parts.push((id, left));
            }
        }
    }

    fn is_divided(&self, directory: &str, shard: &Shard) -> bool {
        let had_shards = || {
            self.previous
                .has_shard_below(directory, &shard.scope[directory.len()..])
        };
        self.thresholds.is_over(shard.count)
            || (self.thresholds.is_over_half(shard.count) && had_shards())
    }

    /// Takes from a shard the groups by next byte that get files of their own; returns what is left.
    fn divide_once(
        &self,
        directory: &str,
        shard: &Shard,
        position: TriePosition,
        children: &Children<'_>,
        shards: &mut Vec<Shard>,
    ) -> Count {
        let groups = self.prefixes.next(position).map(|next| {
            let mut scope = shard.scope.clone();
            scope.push(char::from(next.byte));
            let below = children.range(shard.children, &scope);
            Shard {
                scope,
                count: next.count.minus(children.sum(below)),
                position: next.position,
                children: below,
            }
        });
        let mut groups: Vec<Shard> = groups.filter(|group| group.count.entries > 0).collect();
        let mut left = shard.count;

        // The sort is stable: equal ones stay in order.
        groups.sort_by_key(|group| Reverse(group.count.entries));
        let (taken, mut waiting): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| {
            let had_file = || {
                self.previous
                    .has_shard_from(directory, &group.scope[directory.len()..])
            };
            let is_taken = self.thresholds.is_large_prefix(group.count, had_file)
                || self.thresholds.has_too_many(left);
            if is_taken {
                left = left.minus(group.count);
            }
            is_taken
        });
        shards.extend(taken);

        // Few entries with many bytes: the largest in bytes first, until the rest is small enough.
        waiting.sort_by(|one, other| {
            (other.count.bytes, &one.scope).cmp(&(one.count.bytes, &other.scope))
        });
        for group in waiting {
            if !self.thresholds.is_over(left) {
                break;
            }
            left = left.minus(group.count);
            shards.push(group);
        }
        left
    }
}

impl<'a> Children<'a> {
    fn new(found: &[(&'a str, Count)]) -> Self {
        let mut sums = vec![Count::default()];
        let mut sum = Count::default();
        for (_, count) in found {
            sum = sum.plus(*count);
            sums.push(sum);
        }
        Self {
            paths: found.iter().map(|(path, _)| *path).collect(),
            sums,
        }
    }

    /// The range in `within` that begins with `scope`.
    fn range(&self, within: (usize, usize), scope: &str) -> (usize, usize) {
        let paths = &self.paths[within.0..within.1];
        let from = paths.partition_point(|path| *path < scope);
        let count = paths[from..].partition_point(|path| path.starts_with(scope));
        (within.0 + from, within.0 + from + count)
    }

    fn sum(&self, (from, to): (usize, usize)) -> Count {
        self.sums[to].minus(self.sums[from])
    }
}

fn whole(directory: &str) -> PartId {
    PartId {
        directory: directory.to_owned(),
        prefix: None,
    }
}
