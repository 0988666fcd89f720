//! Which files of a folder are sitemaps, which index lists which, and where the folder is served if
//! nobody said: where its index says that its files are.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

use sitemap_core::{
    Limits, Loc,
    read::{Item, Kind, ReadError, Reader},
};

use super::places::Base;
use crate::exit_code::Misuse;

/// The most files that may have the name of a sitemap: two full indexes.
const MAX_FILES: usize = 100_000;

/// How deep folders may stand in each other.
const MAX_DEPTH: usize = 64;

/// How many sitemaps of an index are tried to find out where the folder is served.
const MAX_TRIES: usize = 1_000;

/// Names that sitemaps and feeds have.
const ENDINGS: [&str; 5] = [".xml", ".txt", ".rss", ".atom", ".gz"];

/// The sitemaps of a folder.
#[derive(Debug)]
pub(super) struct Folder {
    base: Option<Base>,
    /// In the order in which they are checked: an index stands before what it lists.
    documents: Vec<PathBuf>,
    /// The index that lists a file.
    parents: BTreeMap<PathBuf, PathBuf>,
}

impl Folder {
    /// Looks for sitemaps in a folder, which is served at `base` if that is known.
    pub(super) fn read(path: &Path, base: Option<Base>) -> anyhow::Result<Self> {
        let mut names = Vec::new();
        collect(path, Path::new(""), 0, &mut names)?;
        names.sort_unstable();
        let mut indexes = Vec::new();
        let mut others = Vec::new();
        for name in names {
            match sniff_file(&path.join(&name)) {
                Some(Kind::Index) => indexes.push(name),
                Some(_) => others.push(name),
                // It cannot be read as one, but is meant to be one.
                None if is_called_sitemap(&name) => others.push(name),
                None => {}
            }
        }
        let base = match base {
            Some(base) => Some(base),
            None => indexes.iter().find_map(|index| guess_base(path, index)),
        };
        let mut parents = BTreeMap::new();
        if let Some(base) = &base {
            for index in &indexes {
                for child in children(&path.join(index)) {
                    if let Some(child) = base.relative(&child)
                        && child != *index
                        && path.join(&child).is_file()
                    {
                        parents.entry(child).or_insert_with(|| index.clone());
                    }
                }
            }
        }
        let indexes: BTreeSet<PathBuf> = indexes.into_iter().collect();
        let mut documents = from_the_top(&indexes, &parents);
        let rest: BTreeSet<PathBuf> = others
            .into_iter()
            .chain(parents.keys().cloned())
            .filter(|name| !indexes.contains(name))
            .collect();
        documents.extend(rest);
        Ok(Self {
            base,
            documents,
            parents,
        })
    }

    /// Where the folder is served, if that is known or the indexes say it.
    pub(super) fn base(&self) -> Option<&Base> {
        self.base.as_ref()
    }

    /// The sitemaps, relative to the folder, in the order in which they are to be checked.
    pub(super) fn documents(&self) -> &[PathBuf] {
        &self.documents
    }

    /// The index that lists a file.
    pub(super) fn parent(&self, relative: &Path) -> Option<&PathBuf> {
        self.parents.get(relative)
    }
}

/// Collects the files below a folder that have the name of a sitemap.
fn collect(
    root: &Path,
    relative: &Path,
    depth: usize,
    names: &mut Vec<PathBuf>,
) -> anyhow::Result<()> {
    let folder = root.join(relative);
    let unreadable = |error| {
        Misuse(format!(
            "cannot read the folder {}: {error}",
            folder.display()
        ))
    };
    for entry in fs::read_dir(&folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let file_name = entry.file_name();
        let Some(name) = file_name.to_str() else {
            continue;
        };
        // What begins with a dot is not served: the manifest and the grace files of arpent.
        if name.starts_with('.') {
            continue;
        }
        let relative = relative.join(name);
        // A link to a folder could lead round in circles; a link to a file is a file.
        let is_folder = entry.file_type().map_err(unreadable)?.is_dir();
        if is_folder && depth < MAX_DEPTH {
            collect(root, &relative, depth + 1, names)?;
        } else if has_ending(name) && root.join(&relative).is_file() {
            if names.len() >= MAX_FILES {
                return Err(Misuse(format!(
                    "more than {MAX_FILES} files in {} could be sitemaps, expected the folder of one set",
                    root.display()
                ))
                .into());
            }
            names.push(relative);
        }
    }
    Ok(())
}

/// Whether a name is one that sitemaps and feeds have.
pub(super) fn has_ending(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name != "robots.txt" && ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn is_called_sitemap(relative: &Path) -> bool {
    let name = relative.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.to_ascii_lowercase().starts_with("sitemap"))
}

/// What a document is by its beginning, if it is a sitemap or a feed; a text is one when it begins with a URL.
pub(super) fn sniff(input: impl BufRead) -> Option<Kind> {
    let mut reader = Reader::new(input, Limits::PROTOCOL);
    loop {
        match reader.next() {
            Some(Err(ReadError::Entry(_))) if reader.kind().is_some_and(Kind::is_xml) => {}
            Some(Err(_)) if !reader.kind().is_some_and(Kind::is_xml) => return None,
            Some(_) | None => return reader.kind(),
        }
    }
}

/// The same for a file.
fn sniff_file(file: &Path) -> Option<Kind> {
    sniff(BufReader::new(File::open(file).ok()?))
}

/// The sitemaps that an index lists, as far as it can be read.
fn children(index: &Path) -> impl Iterator<Item = Loc> {
    let file = File::open(index).ok();
    let reader = file.map(|file| Reader::new(BufReader::new(file), Limits::PROTOCOL));
    reader.into_iter().flatten().filter_map(|item| match item {
        Ok(Item::Sitemap(entry)) => Some(entry.loc),
        Ok(Item::Url(_)) | Err(_) => None,
    })
}

/// Where a folder is served by what an index in it says: one of the sitemaps it lists is there.
fn guess_base(root: &Path, index: &Path) -> Option<Base> {
    children(&root.join(index))
        .take(MAX_TRIES)
        .find_map(|child| {
            let child = without_query(child);
            let file = file_at_end(root, &child)?;
            Base::of_file(&child, &file)
        })
}

/// The file of a folder that a sitemap may be which an index lists, when nobody knows where the folder is served: the longest end of
/// the path that is a file, so that the fewest folders are guessed.
pub(super) fn file_at_end(root: &Path, child: &Loc) -> Option<PathBuf> {
    let origin = Base::directory(&Loc::parse(child.origin()).ok()?).ok()?;
    let relative = origin.relative(child)?;
    let mut rest = relative.components();
    while rest.clone().next().is_some() {
        let candidate = rest.as_path();
        if root.join(candidate).is_file() {
            return Some(candidate.to_owned());
        }
        rest.next();
    }
    None
}

/// A URL without its query, which says nothing to a server of files.
fn without_query(loc: Loc) -> Loc {
    let path = loc.as_str().split('?').next().unwrap_or_default();
    Loc::parse(path).unwrap_or(loc)
}

/// Indexes in such an order that one stands before those it lists, as far as that is possible.
fn from_the_top(indexes: &BTreeSet<PathBuf>, parents: &BTreeMap<PathBuf, PathBuf>) -> Vec<PathBuf> {
    let mut below: BTreeMap<&Path, Vec<&PathBuf>> = BTreeMap::new();
    for index in indexes {
        if let Some(parent) = parents.get(index) {
            below.entry(parent).or_default().push(index);
        }
    }
    let mut ordered = Vec::new();
    let mut seen = BTreeSet::new();
    let tops = indexes.iter().filter(|index| !parents.contains_key(*index));
    // Those that only list each other come last, in the order of their names.
    let mut waiting: VecDeque<&PathBuf> = tops.chain(indexes).collect();
    while let Some(index) = waiting.pop_front() {
        if seen.insert(index) {
            ordered.push(index.clone());
            for next in below.get(index.as_path()).into_iter().flatten().rev() {
                waiting.push_front(next);
            }
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn index(children: &[&str]) -> String {
        let entries = children
            .iter()
            .map(|child| format!("<sitemap><loc>{child}</loc></sitemap>"))
            .collect::<Vec<_>>()
            .concat();
        format!(
            "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</sitemapindex>"
        )
    }

    const URLSET: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://h/</loc></url></urlset>";

    #[test]
    fn sitemaps_are_found_and_the_base_is_what_the_index_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        write(
            path,
            "zz.xml",
            &index(&["https://h/x/a/part.xml", "https://h/x/aa.xml"]),
        );
        write(path, "aa.xml", &index(&["https://h/x/gone.xml"]));
        write(path, "a/part.xml", URLSET);
        write(path, "lonely.xml", URLSET);
        write(path, "page.xml", "<html/>");
        write(path, "sitemap-broken.xml", "<");
        write(path, "notes.txt", "no sitemap");
        write(path, "robots.txt", "User-agent: *");
        write(path, ".arpent-manifest.xml", URLSET);
        let read = Folder::read(path, None).unwrap();
        assert_eq!(read.base().unwrap().loc().as_str(), "https://h/x/");
        let documents: Vec<_> = read
            .documents()
            .iter()
            .map(|name| name.to_str().unwrap())
            .collect();
        assert_eq!(
            documents,
            [
                "zz.xml",
                "aa.xml",
                "a/part.xml",
                "lonely.xml",
                "sitemap-broken.xml"
            ]
        );
        assert_eq!(
            read.parent(Path::new("aa.xml")).unwrap(),
            Path::new("zz.xml")
        );
    }

    #[test]
    fn a_query_does_not_hide_where_a_folder_is_served() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let children = ["https://h/x/list.php?p=1", "https://h/x/a.xml?v=2"];
        write(path, "sitemap.xml", &index(&children));
        write(path, "a.xml", URLSET);
        let read = Folder::read(path, None).unwrap();
        assert_eq!(read.base().unwrap().loc().as_str(), "https://h/x/");
    }

    #[test]
    fn indexes_that_list_each_other_are_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        write(path, "a.xml", &index(&["https://h/b.xml"]));
        write(path, "b.xml", &index(&["https://h/a.xml"]));
        let read = Folder::read(path, None).unwrap();
        assert_eq!(read.documents().len(), 2);
    }
}
