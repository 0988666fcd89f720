//! The rules of the scope tree in their simplest form, on sets of keys, without regard to speed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::super::{Layout, PartId, Placement, Thresholds, name};
use super::Keys;

type Group<'a> = Vec<(&'a str, u64)>;

pub(super) struct Model<'a> {
    pub(super) base: &'a str,
    pub(super) thresholds: Thresholds,
    pub(super) placement: Placement,
    pub(super) previous: &'a Layout,
}

/// Every part with its keys, and whether the threshold of first-level directories is raised.
pub(super) type Parts<'a> = (BTreeMap<PartId, Group<'a>>, bool);

impl Model<'_> {
    pub(super) fn partition<'k>(&self, keys: &'k Keys) -> Parts<'k> {
        let mut out = BTreeMap::new();
        let all: Group<'_> = keys
            .iter()
            .map(|(key, bytes)| (key.as_str(), *bytes))
            .collect();
        let raised = self.is_raised(&all);
        self.node(self.base.to_owned(), &all, raised, &mut out);
        (out, raised)
    }

    fn is_raised(&self, all: &[(&str, u64)]) -> bool {
        let (groups, _) = self.group_by_directory(self.base, all);
        let mut big = groups
            .into_values()
            .filter(|keys| keys.len() as u64 >= self.thresholds.section);
        let limit = if self.previous.is_raised() {
            500
        } else {
            1_000
        };
        big.nth(limit).is_some()
    }

    /// The keys by child directory that may have a file, and the rest.
    fn group_by_directory<'k>(
        &self,
        directory: &str,
        keys: &[(&'k str, u64)],
    ) -> (BTreeMap<String, Group<'k>>, Group<'k>) {
        let mut groups: BTreeMap<String, Group<'k>> = BTreeMap::new();
        let mut rest = Vec::new();
        for (key, bytes) in keys {
            let path = key[directory.len()..].split('?').next().unwrap();
            match path.split_once('/') {
                Some((segment, _))
                    if self.placement == Placement::Root || name::folder_key(segment).is_some() =>
                {
                    groups
                        .entry(format!("{directory}{segment}/"))
                        .or_default()
                        .push((key, *bytes));
                }
                _ => rest.push((*key, *bytes)),
            }
        }
        (groups, rest)
    }

    fn node<'k>(
        &self,
        directory: String,
        keys: &[(&'k str, u64)],
        raised: bool,
        out: &mut BTreeMap<PartId, Group<'k>>,
    ) {
        let was_divided = self.previous.parts().iter().any(|part| {
            (part.directory != directory && part.directory.starts_with(&directory))
                || (part.directory == directory && part.prefix.is_some())
        });
        if directory != self.base && !self.over(keys, 1) && !(was_divided && self.over(keys, 2)) {
            out.insert(
                PartId {
                    directory,
                    prefix: None,
                },
                keys.to_vec(),
            );
            return;
        }
        let (mut groups, mut rest) = self.group_by_directory(&directory, keys);
        let need = match (directory == self.base, raised) {
            (true, false) => self.thresholds.section,
            (true, true) => self.thresholds.section.max(1_000),
            (false, _) => self.thresholds.subsection,
        };
        let had_file = |child: &str| {
            self.previous
                .parts()
                .iter()
                .any(|part| part.directory == child)
        };
        let mut children: BTreeSet<String> = groups
            .iter()
            .filter(|(child, keys)| {
                let entries = keys.len() as u64;
                let heavy = keys.iter().map(|(_, bytes)| *bytes).sum::<u64>()
                    > self.thresholds.file_bytes / 2;
                let was_divided = self
                    .previous
                    .parts()
                    .iter()
                    .any(|part| part.directory.starts_with(child.as_str()));
                entries >= need
                    || ((had_file(child) || (heavy && was_divided)) && entries >= need / 2)
            })
            .map(|(child, _)| child.clone())
            .collect();
        if self.placement == Placement::InPlace {
            let folder = |child: &str| name::folder_key(&child[directory.len()..child.len() - 1]);
            let candidates = children.clone();
            children.retain(|child| {
                let mut same = candidates
                    .iter()
                    .filter(|other| folder(other) == folder(child));
                let first = same.clone().next();
                same.find(|other| had_file(other)).or(first) == Some(child)
            });
        }
        for child in children {
            let keys = groups.remove(&child).unwrap();
            self.node(child, &keys, raised, out);
        }
        rest.extend(groups.into_values().flatten());
        rest.sort_unstable();
        self.shards(&directory, "", rest, out);
    }

    fn shards<'k>(
        &self,
        directory: &str,
        prefix: &str,
        keys: Group<'k>,
        out: &mut BTreeMap<PartId, Group<'k>>,
    ) {
        let previous = || {
            let parts = self
                .previous
                .parts()
                .iter()
                .filter(|part| part.directory == directory);
            parts.filter_map(|part| part.prefix.as_deref())
        };
        let id = PartId {
            directory: directory.to_owned(),
            prefix: (!prefix.is_empty()).then(|| prefix.to_owned()),
        };
        let old = previous().any(|shard| shard.starts_with(prefix) && shard != prefix);
        let is_divided = self.over(&keys, 1) || (old && self.over(&keys, 2));
        if !is_divided {
            if !keys.is_empty() {
                out.insert(id, keys);
            }
            return;
        }
        let mut groups: BTreeMap<String, Group<'k>> = BTreeMap::new();
        let mut rest = Vec::new();
        for (key, bytes) in &keys {
            match key[directory.len() + prefix.len()..].chars().next() {
                Some(next) => groups
                    .entry(format!("{prefix}{next}"))
                    .or_default()
                    .push((key, *bytes)),
                None => rest.push((*key, *bytes)),
            }
        }
        let size = |keys: &Group<'_>| keys.iter().map(|(_, bytes)| *bytes).sum::<u64>();
        let mut left = keys;
        let mut take = |group: &str, left: &mut Group<'k>, keys: Group<'k>| {
            left.retain(|(key, _)| !key[directory.len()..].starts_with(group));
            self.shards(directory, group, keys, out);
        };
        let mut by_entries: Vec<_> = groups.into_iter().collect();
        by_entries.sort_by_key(|(group, keys)| (Reverse(keys.len()), group.clone()));
        let mut waiting = Vec::new();
        for (group, keys) in by_entries {
            let entries = keys.len() as u64;
            let minimum = self.thresholds.subsection;
            let kept = previous().any(|shard| shard.starts_with(&group));
            let heavy = self.thresholds.file_bytes * minimum / self.thresholds.file_entries;
            let is_taken = entries >= minimum
                || (kept && (entries >= minimum / 2 || size(&keys) >= heavy / 2))
                || left.len() as u64 > self.thresholds.file_entries;
            if is_taken {
                take(&group, &mut left, keys);
            } else {
                waiting.push((group, keys));
            }
        }
        waiting.sort_by_key(|(group, keys)| (Reverse(size(keys)), group.clone()));
        for (group, keys) in waiting {
            if self.over(&left, 1) {
                take(&group, &mut left, keys);
            }
        }
        if !left.is_empty() {
            out.insert(id, left);
        }
    }

    /// More than one `share`th of what a file aims at, and not a single key?
    fn over(&self, keys: &[(&str, u64)], share: u64) -> bool {
        let bytes: u64 = keys.iter().map(|(_, bytes)| *bytes).sum();
        let is_over = keys.len() as u64 > self.thresholds.file_entries / share
            || bytes > self.thresholds.file_bytes / share;
        is_over && keys.len() > 1
    }
}
