//! A comparison as people read it.

use super::{SectionDiff, SetDiff};
use crate::{human, report::SetChanges, sitemap_set::SetOutline, view::View};

impl SetDiff {
    /// The two sets, the sums, and the first URLs of each directory that differs.
    pub fn view(&self) -> View {
        let mut view = View::new(counts(&self.changes, self.unchanged));
        let section = view.section("sets", "");
        section.fact("A", Some(outline(&self.a)));
        section.fact("B", Some(outline(&self.b)));
        let section = view.section("directories", "By directory");
        let differing = self.sections.iter();
        for directory in differing.filter(|directory| !directory.changes.is_empty()) {
            let counts = counts(&directory.changes, directory.unchanged);
            let row = section.line(format!("{}: {counts}", directory.section));
            row.below = directory.lines();
        }
        if self.sections_cut {
            let count = human::number(self.sections.len() as u64);
            section.line(format!(
                "only the first {count} directories are compared one by one; the sums have all"
            ));
        }
        view
    }
}

impl SectionDiff {
    fn lines(&self) -> Vec<String> {
        let SetChanges {
            added,
            removed,
            lastmod_moved,
        } = &self.changes;
        let mut lines = Vec::new();
        for (mark, urls) in [('+', added), ('-', removed), ('~', lastmod_moved)] {
            lines.extend(urls.first.iter().map(|url| format!("{mark} {url}")));
            let more = urls.count - urls.first.len() as u64;
            if more > 0 {
                lines.push(format!("{mark} and {} more", human::number(more)));
            }
        }
        lines
    }
}

fn outline(set: &SetOutline) -> String {
    let left_out = match set.left_out {
        0 => String::new(),
        1 => ", 1 entry that cannot be read".to_owned(),
        count => format!(", {} entries that cannot be read", human::number(count)),
    };
    let (urls, sitemaps) = (
        human::count(set.urls, "URL"),
        human::count(set.sitemaps, "sitemap"),
    );
    format!("{}: {urls} in {sitemaps}{left_out}", set.set)
}

fn counts(changes: &SetChanges, unchanged: u64) -> String {
    format!(
        "{} added, {} removed, {} with another lastmod, {} unchanged",
        human::number(changes.added.count),
        human::number(changes.removed.count),
        human::number(changes.lastmod_moved.count),
        human::number(unchanged),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::SetChange;

    #[test]
    fn view_has_sums_directories_and_first_urls() {
        let set = |name: &str, left_out| SetOutline {
            set: name.to_owned(),
            sitemaps: 1,
            urls: 1_200,
            left_out,
        };
        let mut changes = SetChanges::default();
        for number in 0..3 {
            changes.add(SetChange::Added, &format!("https://h/a/{number}"), 2);
        }
        changes.add(SetChange::LastmodMoved, "https://h/a/x", 2);
        let section = |name: &str, changes| SectionDiff {
            section: name.to_owned(),
            changes,
            unchanged: 7,
        };
        let diff = SetDiff {
            version: 1,
            a: set("old", 2),
            b: set("new", 0),
            changes: changes.clone(),
            unchanged: 14,
            sections: vec![
                section("https://h/", SetChanges::default()),
                section("https://h/a/", changes),
            ],
            sections_cut: true,
        };
        let view = diff.view();
        assert_eq!(
            view.title,
            "3 added, 0 removed, 1 with another lastmod, 14 unchanged"
        );
        let [sets, directories] = &view.sections[..] else {
            panic!("{view:?}");
        };
        let texts = sets.rows.iter().map(|row| row.cells[1].text());
        assert_eq!(
            texts.collect::<Vec<_>>(),
            [
                "old: 1,200 URLs in 1 sitemap, 2 entries that cannot be read",
                "new: 1,200 URLs in 1 sitemap",
            ]
        );
        let [differs, cut] = &directories.rows[..] else {
            panic!("{directories:?}");
        };
        assert_eq!(
            differs.cells[0].text(),
            "https://h/a/: 3 added, 0 removed, 1 with another lastmod, 7 unchanged"
        );
        let below = [
            "+ https://h/a/0",
            "+ https://h/a/1",
            "+ and 1 more",
            "~ https://h/a/x",
        ];
        assert_eq!(differs.below, below);
        assert!(cut.cells[0].text().contains("first 2 directories"));
    }
}
