//! The layout of a published set, which the next publish starts from: its parts, and earlier parts, whose names stay theirs.
//!
//! Owns the identity of a part and its text form. It decides nothing; it has the parts that existed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

use super::SectionName;

/// First word of the text form, followed by its version.
const HEADER: &str = "layout 1";

/// Ends the first line when the threshold of first-level directories was raised.
const RAISED: &str = " raised";

/// Begins the line before the parts of a section; its name follows.
const SECTION: &str = "section ";

/// Begins the line of a part that an earlier publish had.
const FORMER: char = '-';

/// Begins the line of a part whose name ends in a hash, because another scope has the readable name.
const HASHED: char = '#';

/// The most earlier parts that a tree remembers, as many as the files of an index; the names of others may be given again.
const MAX_FORMER: usize = 50_000;

/// The keys of a part: those that begin with `directory` followed by `prefix`, without those of the parts below it.
///
/// Ordered by directory, then prefix; a directory's own part comes before its shards.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId {
    /// A directory, `/` at both ends.
    pub directory: String,
    /// The characters of the keys after the directory, at least one character, when the directory is divided by characters. It is
    /// a share of the directory, not a scope: it may end inside a word, a `%XX` or the query.
    pub prefix: Option<String>,
}

impl PartId {
    /// The text every key of the part begins with.
    pub fn scope(&self) -> String {
        let mut scope = self.directory.clone();
        scope.push_str(self.prefix.as_deref().unwrap_or_default());
        scope
    }
}

/// The parts of the last publish, and the earlier ones whose names are theirs. The default is the empty layout: no history.
///
/// The text form ([`fmt::Display`], [`FromStr`]) is a line `layout 1` or `layout 1 raised`, then a line for each part: the
/// directory and, after a tab, the prefix of a shard. Before them is `-` for a part that only an earlier publish had, and `#`
/// for a part whose name ends in a hash. Each section follows as a line `section` with its name, perhaps ` raised`, and its parts
/// in the same way. Equal layouts have equal texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Ascending, none twice.
    parts: Vec<PartId>,
    raised: bool,
    /// Parts of earlier publishes, at most [`MAX_FORMER`]; none of them in `parts`.
    former: BTreeSet<PartId>,
    /// The ones of both whose name ends in a hash, because another scope has the readable name.
    hashed: BTreeSet<PartId>,
    /// Of the sections that had a part; they have no sections themselves.
    sections: BTreeMap<SectionName, Layout>,
}

/// Reason why a text is not a [`Layout`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The first line is not one that this version writes.
    #[error("line 1 of the layout is {found:?}: expected `{HEADER}` or `{HEADER}{RAISED}`")]
    Header {
        /// The line.
        found: String,
    },
    /// A line is not a part.
    #[error(
        "line {line} of the layout is {found:?}: expected a directory with `/` at both ends and perhaps a tab and a prefix, in printable ASCII, or a section"
    )]
    Part {
        /// The number, from 1.
        line: usize,
        /// The line.
        found: String,
    },
}

impl Layout {
    /// A layout of these parts, in any order. `raised`: the threshold of first-level directories was raised because there were
    /// more than 1,000 of them.
    pub fn new(parts: impl IntoIterator<Item = PartId>, raised: bool) -> Self {
        let parts: BTreeSet<PartId> = parts.into_iter().collect();
        Self {
            parts: parts.into_iter().collect(),
            raised,
            ..Self::default()
        }
    }

    /// The layout after this one, of a tree that has these parts now. The parts that it had become earlier ones.
    pub(super) fn next(
        &self,
        parts: Vec<PartId>,
        raised: bool,
        mut hashed: BTreeSet<PartId>,
    ) -> Self {
        let mut next = Self::new(parts, raised);
        let is_former = |id: &&PartId| next.parts.binary_search(id).is_err();
        let former = self.published().filter(is_former).take(MAX_FORMER);
        next.former = former.cloned().collect();
        hashed.retain(|id| next.former.contains(id) || next.parts.binary_search(id).is_ok());
        Self { hashed, ..next }
    }

    /// The parts of the last publish and of earlier ones.
    pub(super) fn published(&self) -> impl Iterator<Item = &PartId> {
        self.parts.iter().chain(&self.former)
    }

    /// The published parts whose name ends in a hash, because another scope has the readable name.
    pub(super) fn hashed(&self) -> &BTreeSet<PartId> {
        &self.hashed
    }

    /// The layouts of the sections that had a part.
    pub(super) fn sections(&self) -> &BTreeMap<SectionName, Self> {
        &self.sections
    }

    /// Adds the layout of a section; one that never had parts is none.
    #[must_use]
    pub fn with_section(mut self, name: SectionName, layout: Self) -> Self {
        if layout.published().next().is_some() {
            let sections = BTreeMap::new();
            self.sections.insert(name, Self { sections, ..layout });
        }
        self
    }

    /// The layout of a section that had a part.
    pub fn section(&self, name: &SectionName) -> Option<&Self> {
        self.sections.get(name)
    }

    /// The parts of keys that are in no section, ascending.
    pub fn parts(&self) -> &[PartId] {
        &self.parts
    }

    /// Was the threshold of first-level directories raised?
    pub fn is_raised(&self) -> bool {
        self.raised
    }

    /// Was there no part at all?
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.sections.is_empty()
    }

    /// Writes its own parts below a line.
    fn write(&self, formatter: &mut fmt::Formatter<'_>, line: &dyn fmt::Display) -> fmt::Result {
        writeln!(formatter, "{line}{}", if self.raised { RAISED } else { "" })?;
        for id in self.published() {
            if self.former.contains(id) {
                write!(formatter, "{FORMER}")?;
            }
            if self.hashed.contains(id) {
                write!(formatter, "{HASHED}")?;
            }
            match &id.prefix {
                Some(prefix) => writeln!(formatter, "{}\t{prefix}", id.directory)?,
                None => writeln!(formatter, "{}", id.directory)?,
            }
        }
        Ok(())
    }

    /// Takes in a line of its text form; `false` for a text that is none.
    fn read(&mut self, line: &str) -> bool {
        let (is_former, line) = strip_mark(line, FORMER);
        let (is_hashed, line) = strip_mark(line, HASHED);
        let Some(id) = parse_part(line) else {
            return false;
        };
        if is_hashed {
            self.hashed.insert(id.clone());
        }
        if is_former {
            self.former.insert(id);
        } else {
            self.parts.push(id);
        }
        true
    }

    /// Puts parts in order that were read in any order.
    fn sorted(mut self) -> Self {
        self.parts.sort_unstable();
        self.parts.dedup();
        let parts = &self.parts;
        self.former.retain(|id| parts.binary_search(id).is_err());
        self
    }

    /// Did the directory have a part, whole or a shard?
    pub(super) fn has_directory(&self, directory: &str) -> bool {
        let from = self
            .parts
            .partition_point(|part| part.directory.as_str() < directory);
        self.parts
            .get(from)
            .is_some_and(|part| part.directory == directory)
    }

    /// Was the directory divided, by directories below it or by characters?
    pub(super) fn was_divided(&self, directory: &str) -> bool {
        let after = self
            .parts
            .partition_point(|part| part.directory.as_str() <= directory);
        let below = self
            .parts
            .get(after)
            .is_some_and(|part| part.directory.starts_with(directory));
        // A shard sorts after its directory's own part.
        let last = after.checked_sub(1).map(|last| &self.parts[last]);
        below || last.is_some_and(|part| part.directory == directory && part.prefix.is_some())
    }

    /// Returns whether the directory had a shard whose prefix begins with `prefix`.
    pub(super) fn has_shard_from(&self, directory: &str, prefix: &str) -> bool {
        self.shard_at(directory, |shard| shard < prefix)
            .is_some_and(|shard| shard.starts_with(prefix))
    }

    /// Returns whether the directory had a shard whose prefix begins with `prefix` and is longer.
    pub(super) fn has_shard_below(&self, directory: &str, prefix: &str) -> bool {
        self.shard_at(directory, |shard| shard <= prefix)
            .is_some_and(|shard| shard.starts_with(prefix))
    }

    /// The first shard of the directory that is not `before`.
    fn shard_at(&self, directory: &str, before: impl Fn(&str) -> bool) -> Option<&str> {
        let at = self.parts.partition_point(|part| {
            let own = part.prefix.as_deref().is_none_or(&before);
            part.directory.as_str() < directory || (part.directory == directory && own)
        });
        let part = self
            .parts
            .get(at)
            .filter(|part| part.directory == directory)?;
        part.prefix.as_deref()
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(formatter, &HEADER)?;
        for (name, layout) in &self.sections {
            layout.write(formatter, &format_args!("{SECTION}{name}"))?;
        }
        Ok(())
    }
}

impl FromStr for Layout {
    type Err = LayoutError;

    fn from_str(text: &str) -> Result<Self, LayoutError> {
        let mut lines = text.lines();
        let header = lines.next().unwrap_or_default();
        let raised = match header.strip_prefix(HEADER) {
            Some("") => false,
            Some(RAISED) => true,
            Some(_) | None => {
                return Err(LayoutError::Header {
                    found: header.to_owned(),
                });
            }
        };
        // The site's own parts, then those of each section.
        let tree = |raised| Self {
            raised,
            ..Self::default()
        };
        let mut site = tree(raised);
        let mut sections: Vec<(SectionName, Self)> = Vec::new();
        for (index, line) in lines.enumerate() {
            if let Some((name, raised)) = parse_section(line) {
                sections.push((name, tree(raised)));
                continue;
            }
            let current = sections
                .last_mut()
                .map_or(&mut site, |(_, section)| section);
            if !current.read(line) {
                return Err(LayoutError::Part {
                    line: index + 2,
                    found: line.to_owned(),
                });
            }
        }
        let sections = sections.into_iter();
        Ok(sections.fold(site.sorted(), |layout, (name, section)| {
            layout.with_section(name, section.sorted())
        }))
    }
}

/// Returns whether the line begins with the mark, and the rest of the line.
fn strip_mark(line: &str, mark: char) -> (bool, &str) {
    line.strip_prefix(mark)
        .map_or((false, line), |rest| (true, rest))
}

fn parse_section(line: &str) -> Option<(SectionName, bool)> {
    let name = line.strip_prefix(SECTION)?;
    let (name, raised) = match name.strip_suffix(RAISED) {
        Some(name) => (name, true),
        None => (name, false),
    };
    Some((name.parse().ok()?, raised))
}

fn parse_part(line: &str) -> Option<PartId> {
    let (directory, prefix) = match line.split_once('\t') {
        Some((directory, prefix)) => (directory, Some(prefix)),
        None => (line, None),
    };
    let good_prefix = prefix.is_none_or(|prefix| !prefix.is_empty() && is_printable(prefix));
    (is_directory(directory) && good_prefix).then(|| PartId {
        directory: directory.to_owned(),
        prefix: prefix.map(str::to_owned),
    })
}

/// Is the text a directory: printable ASCII without a query, `/` at both ends?
pub(super) fn is_directory(text: &str) -> bool {
    text.starts_with('/') && text.ends_with('/') && is_printable(text) && !text.contains(['?', '#'])
}

/// Has the text only characters a normalised URL is written in?
pub(super) fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(parts: &[(&str, Option<&str>)]) -> Layout {
        let ids = parts.iter().map(|(directory, prefix)| PartId {
            directory: (*directory).to_owned(),
            prefix: prefix.map(str::to_owned),
        });
        Layout::new(ids, false)
    }

    #[test]
    fn text_round_trips() {
        let check = |layout: Layout, expected: &str| {
            assert_eq!(layout.to_string(), expected);
            assert_eq!(expected.parse(), Ok(layout));
        };
        check(Layout::default(), "layout 1\n");
        check(Layout::new([], true), "layout 1 raised\n");
        check(
            layout(&[
                ("/p/", Some("10")),
                ("/", Some("?a=/b#c")),
                ("/p/", None),
                ("/", None),
                ("//", None),
            ]),
            "layout 1\n/\n/\t?a=/b#c\n//\n/p/\n/p/\t10\n",
        );
        let name = |name: &str| name.parse::<SectionName>().unwrap();
        let shop = layout(&[("/shop/", None), ("/shop/", Some("1"))]);
        check(
            layout(&[("/", None)])
                .with_section(name("shop"), shop)
                .with_section(name("none"), layout(&[]))
                .with_section(
                    name("blog"),
                    Layout::new(layout(&[("/b/", None)]).parts, true),
                ),
            "layout 1\n/\nsection blog raised\n/b/\nsection shop\n/shop/\n/shop/\t1\n",
        );
    }

    #[test]
    fn parts_are_sorted_and_each_is_there_once() {
        let text = "layout 1\r\n/b/\n/a/\n/b/";
        assert_eq!(text.parse(), Ok(layout(&[("/a/", None), ("/b/", None)])));
    }

    #[test]
    fn text_that_is_not_a_layout_is_refused() {
        let check = |text: &str, expected: &str| {
            assert_eq!(text.parse::<Layout>().unwrap_err().to_string(), expected);
        };
        let header = "expected `layout 1` or `layout 1 raised`";
        check("", &format!("line 1 of the layout is \"\": {header}"));
        check(
            "layout 2\n/\n",
            &format!("line 1 of the layout is \"layout 2\": {header}"),
        );
        let part = "expected a directory with `/` at both ends and perhaps a tab and a prefix, in printable ASCII, or a section";
        let lines = "|/a|a/|/a/\t|/a/\tb\tc|/a b/|/a?/|/\té|section|section |section Shop|section news|section shop  raised";
        for line in lines.split('|') {
            check(
                &format!("layout 1\n/\n{line}\n"),
                &format!("line 3 of the layout is {line:?}: {part}"),
            );
        }
    }

    #[test]
    fn parts_below_a_directory_divide_it() {
        let check = |parts: &[(&str, Option<&str>)], directory: &str, expected: bool| {
            assert_eq!(
                layout(parts).was_divided(directory),
                expected,
                "{parts:?} {directory}"
            );
        };
        check(&[], "/a/", false);
        check(&[("/a/", None)], "/a/", false);
        check(&[("/a/", None), ("/a/", Some("x"))], "/a/", true);
        check(&[("/a/", Some("x"))], "/a/", true);
        check(&[("/a/b/", None)], "/a/", true);
        check(&[("/a/", None), ("/a/b/", None)], "/a/", true);
        check(&[("/a/", None), ("/ab/", None)], "/a/", false);
        check(&[("/a/b/", None)], "/a/c/", false);
        check(&[("/", Some("x"))], "/a/", false);
    }

    #[test]
    fn shards_are_found_by_how_they_begin() {
        let had = layout(&[
            ("/a/", None),
            ("/a/", Some("xy")),
            ("/a/", Some("xyz")),
            ("/b/", Some("c")),
        ]);
        let check = |prefix: &str, from: bool, below: bool| {
            assert_eq!(had.has_shard_from("/a/", prefix), from, "{prefix}");
            assert_eq!(had.has_shard_below("/a/", prefix), below, "{prefix}");
        };
        check("", true, true);
        check("x", true, true);
        check("xy", true, true);
        check("xyz", true, false);
        check("xyza", false, false);
        check("c", false, false);
        check("xz", false, false);
        assert!(!had.has_shard_from("/", ""));
        assert!(had.has_directory("/b/"));
        assert!(!had.has_directory("/"));
    }
}
