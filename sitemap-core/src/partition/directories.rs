//! Counts of directories, from keys in ascending order, without keeping the keys.
//!
//! Owns which directories may get a file of their own at all: those with enough keys (or half of that, when they had a file), in a
//! parent that will be divided. Only they are remembered; the rest is forgotten as soon as a key leaves it.

use super::{
    Layout, Placement, name,
    thresholds::{Count, Thresholds},
};

/// Builds [`Directories`].
#[derive(Debug)]
pub(super) struct DirectoryCounter {
    thresholds: Thresholds,
    placement: Placement,
    /// The directories of the last key; the first is the base.
    open: Vec<Open>,
    kept: Vec<(Box<str>, Count)>,
    /// First-level directories with at least the threshold that is not raised.
    sections: u64,
    was_raised: bool,
}

/// The directories that may get a file of their own, ascending; all that lies below the base.
#[derive(Debug)]
pub(super) struct Directories {
    pub(super) counts: Vec<(Box<str>, Count)>,
    /// Is the threshold of first-level directories raised?
    pub(super) raised: bool,
}

#[derive(Debug)]
struct Open {
    /// Length of the directory, with the slash at its end.
    depth: usize,
    count: Count,
    /// Number of directories that were kept when this one opened: those from here on lie below it.
    kept_before: usize,
}

impl DirectoryCounter {
    /// `base_bytes`: length of the base directory.
    pub(super) fn new(
        base_bytes: usize,
        thresholds: Thresholds,
        placement: Placement,
        was_raised: bool,
    ) -> Self {
        let base = Open {
            depth: base_bytes,
            count: Count::default(),
            kept_before: 0,
        };
        Self {
            thresholds,
            placement,
            open: vec![base],
            kept: Vec::new(),
            sections: 0,
            was_raised,
        }
    }

    /// Counts a key that has its first `shared` bytes in common with `previous`, the key before it.
    pub(super) fn push(
        &mut self,
        layout: &Layout,
        previous: &str,
        shared: usize,
        key: &str,
        count: Count,
    ) {
        while let Some(directory) = self.open.pop_if(|directory| directory.depth > shared) {
            self.close(layout, previous, &directory);
        }
        // A slash in the query ends no directory.
        let path = key.split('?').next().unwrap_or_default();
        let from = self.open.last().map_or(0, |directory| directory.depth);
        for (at, _) in path.get(from..).unwrap_or_default().match_indices('/') {
            self.open.push(Open {
                depth: from + at + 1,
                count: Count::default(),
                kept_before: self.kept.len(),
            });
        }
        if let Some(directory) = self.open.last_mut() {
            directory.count = directory.count.plus(count);
        }
    }

    /// `last`: the last key; `base_bytes` as at the start.
    pub(super) fn finish(mut self, layout: &Layout, last: &str, base_bytes: usize) -> Directories {
        while let Some(directory) = self.open.pop_if(|directory| directory.depth > base_bytes) {
            self.close(layout, last, &directory);
        }
        let raised = Thresholds::is_raised(self.sections, self.was_raised);
        self.kept.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Directories {
            counts: self.kept,
            raised,
        }
    }

    /// Number of counts that are kept.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.open.len() + self.kept.len()
    }

    fn close(&mut self, layout: &Layout, previous: &str, directory: &Open) {
        let Some(parent) = self.open.last_mut() else {
            return;
        };
        parent.count = parent.count.plus(directory.count);
        let segment = &previous[parent.depth..directory.depth - 1];
        let is_first_level = self.open.len() == 1;

        let surely_raised = Thresholds::is_raised(self.sections, false);
        let threshold = if is_first_level {
            self.thresholds.section(surely_raised)
        } else {
            self.thresholds.subsection
        };
        let path = &previous[..directory.depth];
        let is_candidate = self
            .thresholds
            .is_section(path, directory.count, threshold, layout)
            && may_hold_file(self.placement, segment);
        if !is_candidate || !self.thresholds.is_over_half(directory.count) {
            self.kept.truncate(directory.kept_before);
        }
        if is_candidate {
            self.kept.push((path.into(), directory.count));
        }
        if is_first_level
            && directory.count.entries >= self.thresholds.section
            && may_hold_file(self.placement, segment)
        {
            self.sections += 1;
            if !surely_raised && Thresholds::is_raised(self.sections, false) {
                self.forget_small_sections(layout);
            }
        }
    }

    /// From now on the threshold of first-level directories is certainly the raised one.
    fn forget_small_sections(&mut self, layout: &Layout) {
        let threshold = self.thresholds.section(true);
        let base_bytes = self.open.first().map_or(0, |base| base.depth);
        self.kept.retain(|(path, count)| {
            let is_first_level = !path[base_bytes..path.len() - 1].contains('/');
            !is_first_level || self.thresholds.is_section(path, *count, threshold, layout)
        });
    }
}

/// Returns whether a file may be in the folder of this path segment.
fn may_hold_file(placement: Placement, segment: &str) -> bool {
    match placement {
        Placement::Root => true,
        Placement::InPlace => name::folder_key(segment).is_some(),
    }
}
