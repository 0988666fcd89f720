//! The result of the first scan: the parts, their names, the keys they hold, and the indexes that name them.
//!
//! Owns the way back from a key to its part: the part with the longest prefix the key begins with. So the keys of a part are the
//! interval of its own prefix without the intervals of the parts right below it, and a second scan can write file after file.

use std::{num::NonZeroUsize, ops::Range};

use super::{
    Layout, PartId, Placement, SectionName, Suffix,
    name::{self, FileNames, Name, Naming},
    thresholds::Count,
};

/// The files of a set and the keys of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    base: String,
    /// Ascending by scope, which is tree order: first those of the keys that are in no section, then those of each section.
    parts: Vec<Part>,
    /// Number of parts without a section.
    without_section: usize,
    layout: Layout,
}

/// The result of one tree: that of the site, or that of a section.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) section: Option<SectionName>,
    /// The directory at its top.
    pub(super) base: String,
    pub(super) parts: Vec<(PartId, Count)>,
    pub(super) raised: bool,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    id: PartId,
    /// Number of the section that its keys are in.
    section: Option<usize>,
    scope: String,
    name: Name,
    count: Count,
    ranges: Vec<KeyRange>,
    /// The part right above in the same tree: the longest other scope that this one begins with.
    above: Option<usize>,
}

/// The keys from `start` up to, but without, `end`, compared as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The first key that may be in it.
    pub start: String,
    /// The first key after it.
    pub end: String,
}

/// An index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPart {
    /// File name in the base directory: `sitemap.xml`, then `sitemap-2.xml` and so on.
    pub name: String,
    /// The range of [`Plan::parts`] that it names; at least one.
    pub parts: Range<usize>,
}

impl Plan {
    /// The plan of a site with this base: its tree, and those of its sections. Parts that were in `previous` keep their names.
    pub(super) fn new(
        base: &str,
        placement: Placement,
        site: Tree,
        sections: Vec<Tree>,
        previous: &Layout,
    ) -> Self {
        let (mut parts, mut layout) = parts_of(site, base, placement, previous);
        let without_section = parts.len();
        for (name, gone) in previous.sections() {
            if !sections
                .iter()
                .any(|tree| tree.section.as_ref() == Some(name))
            {
                let gone = gone.next(Vec::new(), false, gone.hashed().clone());
                layout = layout.with_section(name.clone(), gone);
            }
        }
        for (number, tree) in sections.into_iter().enumerate() {
            let Some(name) = tree.section.clone() else {
                continue;
            };
            let none = Layout::default();
            let previous = previous.section(&name).unwrap_or(&none);
            let (mut own, next) = parts_of(tree, base, placement, previous);
            for part in &mut own {
                part.section = Some(number);
                part.above = part.above.map(|above| above + parts.len());
            }
            layout = layout.with_section(name, next);
            parts.extend(own);
        }
        Self {
            base: base.to_owned(),
            parts,
            without_section,
            layout,
        }
    }

    /// The parts in tree order: ascending by the text their keys begin with; those of each section after those of the site, in
    /// the order of the sections. Every part has keys.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The base directory, which has the indexes; `/` at both ends.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The part that holds a key which is in no section: every such key that was counted has one.
    pub fn part_of(&self, key: &str) -> Option<&Part> {
        let after =
            self.parts[..self.without_section].partition_point(|part| part.scope.as_str() <= key);
        let mut at = after.checked_sub(1);
        // Between a key and the scope it belongs to there are only scopes inside of that one.
        while let Some(part) = at.map(|at| &self.parts[at]) {
            if key.starts_with(&part.scope) {
                return Some(part);
            }
            at = part.above;
        }
        None
    }

    /// The previous layout of the next publish, once the plan is published.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The indexes in tree order, each naming at most `max_entries` parts; none when there is no part.
    ///
    /// A first-level directory or a section whose parts fit into one index is not divided between two.
    pub fn indexes(&self, max_entries: NonZeroUsize) -> Vec<IndexPart> {
        let max_entries = max_entries.get();
        let mut cuts: Vec<Range<usize>> = Vec::new();
        let mut from = 0;
        while from < self.parts.len() {
            let group = self.group_of(&self.parts[from]);
            let same = self.parts[from..]
                .iter()
                .take_while(|part| group.is_some() && self.group_of(part) == group);
            let to = from + same.count().max(1);
            match cuts.last_mut() {
                Some(last) if to - last.start <= max_entries => last.end = to,
                Some(_) | None => {
                    let starts = (from..to).step_by(max_entries);
                    cuts.extend(starts.map(|start| start..to.min(start + max_entries)));
                }
            }
            from = to;
        }
        let name = |(number, parts)| IndexPart {
            name: name::index_name(number),
            parts,
        };
        cuts.into_iter().enumerate().map(name).collect()
    }

    /// The section a part is of, or else its first-level directory; `None` for a part of the base itself.
    fn group_of<'a>(&self, part: &'a Part) -> Option<(Option<usize>, &'a str)> {
        if part.section.is_some() {
            return Some((part.section, ""));
        }
        let first = part.id.directory[self.base.len()..].split('/').next();
        let first = first.filter(|_| part.id.directory != self.base);
        first.map(|first| (None, first))
    }
}

impl Part {
    /// The identity.
    pub fn id(&self) -> &PartId {
        &self.id
    }

    /// The number of the section whose keys it holds; `None` when it holds keys that are in no section.
    pub fn section(&self) -> Option<usize> {
        self.section
    }

    /// Number of its keys.
    pub fn entries(&self) -> u64 {
        self.count.entries
    }

    /// Bytes of its entries, uncompressed, without the frame around them.
    pub fn bytes(&self) -> u64 {
        self.count.bytes
    }

    /// The text all its keys begin with.
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// The file, relative to the folder of the base directory, with `/` between folders: `sitemap.blog.xml.gz`, or
    /// `blog/sitemap.xml.gz` in place. Folders are percent-decoded.
    pub fn path(&self, suffix: Suffix) -> String {
        format!("{}{}{}", self.name.folder, self.name.stem, suffix.as_str())
    }

    /// The name of the file as text to be appended to the URL of the base directory. It is not a relative reference to be resolved: its first
    /// segment may hold a colon.
    pub fn url_path(&self, suffix: Suffix) -> String {
        format!(
            "{}{}{}",
            self.name.url_folder,
            self.name.stem,
            suffix.as_str()
        )
    }

    /// The keys it holds: ascending intervals that do not touch. No key of another part of its section (or of the site) lies in
    /// them.
    pub fn ranges(&self) -> &[KeyRange] {
        &self.ranges
    }
}

impl KeyRange {
    /// Returns whether the range holds this key.
    pub fn contains(&self, key: &str) -> bool {
        *self.start <= *key && *key < *self.end
    }
}

/// The parts of a tree in tree order, and its next layout. `base` is that of the site.
fn parts_of(
    tree: Tree,
    base: &str,
    placement: Placement,
    previous: &Layout,
) -> (Vec<Part>, Layout) {
    let naming = Naming {
        base,
        home: &tree.base,
        section: tree.section.as_ref(),
        placement,
    };
    let hashed = previous.hashed().clone();
    let mut names = FileNames::new(naming, previous.published(), hashed);
    let ids = tree.parts.iter().map(|(id, _)| id.clone()).collect();
    let mut counts = tree.parts;
    counts.sort_by_cached_key(|(id, _)| id.scope());
    let parts = counts.into_iter().map(|(id, count)| Part {
        scope: id.scope(),
        name: names.give(&id),
        id,
        section: None,
        count,
        ranges: Vec::new(),
        above: None,
    });
    let mut parts: Vec<Part> = parts.collect();
    set_ranges(&mut parts);
    (parts, previous.next(ids, tree.raised, names.hashed))
}

/// Sets the intervals of parts in ascending order, each without those of the parts below it.
fn set_ranges(parts: &mut [Part]) {
    // The parts around the current one, each with the key up to which its interval is given away.
    let mut around: Vec<(usize, String)> = Vec::new();
    for at in 0..parts.len() {
        let scope = parts[at].scope.clone();
        while let Some((above, from)) =
            around.pop_if(|(above, _)| !scope.starts_with(&parts[*above].scope))
        {
            let end = end_of(&parts[above].scope);
            push_range(&mut parts[above].ranges, from, end);
        }
        if let Some((above, from)) = around.last_mut() {
            let start = std::mem::replace(from, end_of(&scope));
            push_range(&mut parts[*above].ranges, start, scope.clone());
            parts[at].above = Some(*above);
        }
        around.push((at, scope));
    }
    for (above, from) in around {
        let end = end_of(&parts[above].scope);
        push_range(&mut parts[above].ranges, from, end);
    }
}

fn push_range(ranges: &mut Vec<KeyRange>, start: String, end: String) {
    if start < end {
        ranges.push(KeyRange { start, end });
    }
}

/// The first text after all that begin with `scope`. Its last byte is printable ASCII, so the next one is ASCII too.
fn end_of(scope: &str) -> String {
    let mut end = scope.to_owned();
    if let Some(last) = end.pop() {
        end.push(char::from_u32(u32::from(last) + 1).unwrap_or(char::MAX));
    }
    end
}
