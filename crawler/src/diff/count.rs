//! The counts of a comparison. Pure.

use std::collections::BTreeMap;

use serde::Serialize;

use super::SetSide;
use crate::{
    report::{SetChange, SetChanges},
    sitemap_set::SetOutline,
    store::{SpooledValues, StoreError, UrlSpool},
};

/// Version of the JSON of a [`SetDiff`].
const VERSION: u32 = 1;

/// URLs of one kind that are named in a section.
const MAX_NAMED_IN_SECTION: usize = 3;

/// Sections that are counted, the first in the order of URLs. With more directories the threshold of a directory's own file is
/// 1,000 URLs too (`min_section`).
const MAX_SECTIONS: usize = 1_000;

/// Differences between two sets: a line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetDiff {
    /// Version of the format.
    pub version: u32,
    /// The first set.
    pub a: SetOutline,
    /// The second set.
    pub b: SetOutline,
    /// The URLs that differ.
    #[serde(flatten)]
    pub changes: SetChanges,
    /// URLs with the same `lastmod`, or none, in both sets.
    pub unchanged: u64,
    /// The same by first-level directory, in the order of URLs.
    pub sections: Vec<SectionDiff>,
    /// There are further directories, which are in the sums only.
    pub sections_cut: bool,
}

/// Differences below one first-level directory. What is in no directory belongs to the root.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SectionDiff {
    /// URL of the directory.
    pub section: String,
    /// The URLs that differ.
    #[serde(flatten)]
    pub changes: SetChanges,
    /// URLs with the same `lastmod`, or none, in both sets.
    pub unchanged: u64,
}

impl SetDiff {
    /// Compares the entries of two sets.
    ///
    /// # Errors
    /// The sets cannot be read.
    pub(super) fn of(entries: &UrlSpool, [a, b]: [SetOutline; 2]) -> Result<Self, StoreError> {
        let mut diff = Self {
            version: VERSION,
            a,
            b,
            changes: SetChanges::default(),
            unchanged: 0,
            sections: Vec::new(),
            sections_cut: false,
        };
        let mut sections = BTreeMap::new();
        entries.each(&mut |url, values| {
            diff.add(&mut sections, url, values);
            Ok(())
        })?;
        diff.sections = sections.into_values().collect();
        Ok(diff)
    }

    /// Adds a URL with the `lastmod` of its entry in each set that has it, empty where the entry has none.
    fn add(
        &mut self,
        sections: &mut BTreeMap<String, SectionDiff>,
        url: &str,
        values: &SpooledValues,
    ) {
        let [first, second] = [SetSide::First, SetSide::Second].map(|side| values.text(side as u8));
        self.a.urls += u64::from(first.is_some());
        self.b.urls += u64::from(second.is_some());
        let change = change_of(first, second);
        let name = section_of(url);
        if !sections.contains_key(name) {
            if sections.len() < MAX_SECTIONS {
                let section = SectionDiff {
                    section: name.to_owned(),
                    ..SectionDiff::default()
                };
                sections.insert(name.to_owned(), section);
            } else {
                self.sections_cut = true;
            }
        }
        let section = sections.get_mut(name);
        match change {
            None => {
                self.unchanged += 1;
                if let Some(section) = section {
                    section.unchanged += 1;
                }
            }
            Some(change) => {
                self.changes.add(change, url, SetChanges::MAX_NAMED);
                if let Some(section) = section {
                    section.changes.add(change, url, MAX_NAMED_IN_SECTION);
                }
            }
        }
    }
}

fn change_of(first: Option<&str>, second: Option<&str>) -> Option<SetChange> {
    match (first, second) {
        (None, _) => Some(SetChange::Added),
        (Some(_), None) => Some(SetChange::Removed),
        (Some(before), Some(now)) => (before != now).then_some(SetChange::LastmodMoved),
    }
}

/// The URL of the first-level directory of a URL, or of the root of its host.
fn section_of(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let host = path.find("://").map_or(0, |scheme| scheme + 3);
    let Some(root) = path[host..].find('/').map(|slash| host + slash) else {
        return path;
    };
    let directory = path[root + 1..].find('/');
    let end = directory.map_or(root, |slash| root + 1 + slash);
    &path[..=end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_the_first_directory() {
        let check = |url: &str, expected: &str| assert_eq!(section_of(url), expected, "{url}");
        check("https://h/", "https://h/");
        check("https://h/a.html", "https://h/");
        check("https://h/?q=/a/b", "https://h/");
        check("https://h/blog", "https://h/");
        check("https://h/blog/", "https://h/blog/");
        check("https://h/blog/2026/a", "https://h/blog/");
        check("https://h/blog/?a=/b/", "https://h/blog/");
        check("https://h", "https://h");
    }

    #[test]
    fn sets_are_compared_in_all_and_by_section() {
        let mut entries = UrlSpool::new().unwrap();
        let mut add = |side, path: &str, lastmod: Option<&str>| {
            let url = format!("https://h{path}");
            let lastmod = lastmod.unwrap_or_default();
            entries.add_text(&url, side as u8, lastmod).unwrap();
        };
        for number in 0..5 {
            add(SetSide::First, &format!("/a/{number}"), None);
            add(SetSide::Second, &format!("/b/{number}"), None);
        }
        for side in [SetSide::First, SetSide::Second] {
            add(side, "/", Some("2026-01-01"));
        }
        add(SetSide::First, "/x", None);
        add(SetSide::Second, "/x", Some("2026-01-01"));
        let diff = SetDiff::of(&entries, Default::default()).unwrap();
        assert_eq!((diff.a.urls, diff.b.urls, diff.unchanged), (7, 7, 1));
        let SetChanges {
            added,
            removed,
            lastmod_moved,
        } = &diff.changes;
        assert_eq!((added.count, removed.count), (5, 5));
        assert_eq!(added.first.len(), 5);
        assert_eq!(lastmod_moved.first, ["https://h/x"]);
        let sections = diff.sections.iter();
        let sections: Vec<_> = sections
            .map(|section| {
                let named = section.changes.removed.first.len();
                (section.section.as_str(), section.unchanged, named)
            })
            .collect();
        let expected = [
            ("https://h/", 1, 0),
            ("https://h/a/", 0, 3),
            ("https://h/b/", 0, 0),
        ];
        assert_eq!(sections, expected);
        assert!(!diff.sections_cut);
    }

    #[test]
    fn only_the_first_sections_are_counted() {
        let mut entries = UrlSpool::new().unwrap();
        for number in 0..=MAX_SECTIONS {
            let url = format!("https://h/{number:04}/");
            entries.add_text(&url, SetSide::First as u8, "").unwrap();
        }
        let diff = SetDiff::of(&entries, Default::default()).unwrap();
        assert_eq!(diff.sections.len(), MAX_SECTIONS);
        assert!(diff.sections_cut);
        assert_eq!(diff.changes.removed.count, 1_001);
    }
}
