//! Which files of a folder are sitemaps, which index lists which, and which of those that are listed are missing.

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

use super::{
    bases::{Bases, Mount},
    mounts::Mounts,
    places::Base,
};
use crate::exit_code::Misuse;

/// The most files that may have the name of a sitemap: two full indexes.
const MAX_FILES: usize = 100_000;

/// How deep folders may stand in each other.
const MAX_DEPTH: usize = 64;

/// The most sitemaps of all indexes that are looked for: as many as the validator remembers.
const MAX_LISTED: usize = 1_000_000;

/// How many entries say where a file stands that nothing lists; so many are read at once.
const MAX_SAMPLED: usize = 100;

/// Names that sitemaps and feeds have.
const ENDINGS: [&str; 5] = [".xml", ".txt", ".rss", ".atom", ".gz"];

/// The sitemaps of a folder.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    bases: Bases,
    /// In the order in which they are checked: an index stands before what it lists.
    documents: Vec<PathBuf>,
    /// The index that lists a file.
    parents: BTreeMap<PathBuf, PathBuf>,
    /// Indexes that list nothing that is in the folder, so that nobody knows where they are served.
    alone: BTreeSet<PathBuf>,
}

impl Folder {
    /// Looks for sitemaps in a folder, which is served at `base` if that is known.
    pub(super) fn read(path: &Path, base: Option<Base>) -> anyhow::Result<Self> {
        let mut names = Vec::new();
        collect(path, Path::new(""), 0, &mut names)?;
        names.sort_unstable();
        let mut indexes: BTreeMap<PathBuf, Vec<Loc>> = BTreeMap::new();
        let mut room = MAX_LISTED;
        let mut others = Vec::new();
        for name in names {
            match sniff_file(&path.join(&name)) {
                Some(Kind::Index) => {
                    let children: Vec<Loc> = children(&path.join(&name)).take(room).collect();
                    room -= children.len();
                    indexes.insert(name, children);
                }
                Some(_) => others.push(name),
                // It cannot be read as one, but is meant to be one.
                None if is_called_sitemap(&name) => others.push(name),
                None => {}
            }
        }
        let mut bases = match base {
            Some(base) => Bases::said(base),
            None => Bases::Guessed(Mounts::guess(path, &indexes)),
        };
        let mut parents = BTreeMap::new();
        let mut alone = BTreeSet::new();
        for (index, children) in &indexes {
            let mut is_alone = !bases.knows(index);
            for child in children {
                if let Some(child) = bases.take(path, index, child) {
                    is_alone = false;
                    parents.entry(child).or_insert_with(|| index.clone());
                }
            }
            if is_alone {
                alone.insert(index.clone());
            }
        }
        let indexes: BTreeSet<PathBuf> = indexes.into_keys().collect();
        let mut documents = from_the_top(&indexes, &parents);
        let rest: BTreeSet<PathBuf> = others
            .into_iter()
            .chain(parents.keys().cloned())
            .filter(|name| !indexes.contains(name))
            .collect();
        documents.extend(rest);
        Ok(Self {
            path: path.to_owned(),
            bases,
            documents,
            parents,
            alone,
        })
    }

    /// Where the folder and those in it are served, as far as that is known or the indexes say it.
    pub(super) fn mounts(&self) -> &[Mount] {
        self.bases.mounts()
    }

    /// A robots.txt names a sitemap: if that is a file of the folder which no index lists, it stands there.
    pub(super) fn take_named(&mut self, sitemap: &Loc) {
        self.bases.take_named(&self.path, sitemap);
    }

    /// The sitemaps, relative to the folder, in the order in which they are to be checked.
    pub(super) fn documents(&self) -> &[PathBuf] {
        &self.documents
    }

    /// Where a file is served.
    pub(super) fn place(&self, relative: &Path) -> Option<Loc> {
        self.bases
            .place(relative, || first_entries(&self.path.join(relative)))
    }

    /// The index that lists a file.
    pub(super) fn parent(&self, relative: &Path) -> Option<&PathBuf> {
        self.parents.get(relative)
    }

    /// Why a sitemap that an index lists cannot be read; `None` when it is there, or cannot be looked for.
    pub(super) fn missing(&self, index: &Path, child: &Loc) -> Option<String> {
        // What a program answers is no file.
        if child.path_and_query().contains('?') {
            return None;
        }
        if !self.alone.contains(index) {
            // What stands elsewhere cannot be looked for here.
            let file = self.bases.file(&self.path, index, child)?;
            let is_there = self.path.join(&file).is_file();
            return (!is_there).then(|| format!("there is no file {}", file.display()));
        }
        let path = child.path().trim_start_matches('/');
        let folder = self.path.display();
        (has_ending(path) && !self.path.join(path).is_file()).then(|| {
            format!(
                "there is no file {path} in {folder}, nor anything else that the index lists; --at URL says where it is served"
            )
        })
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

fn sniff_file(file: &Path) -> Option<Kind> {
    sniff(BufReader::new(File::open(file).ok()?))
}

/// The first entries of a file, as far as they can be read.
fn first_entries(file: &Path) -> Vec<Loc> {
    let Ok(file) = File::open(file) else {
        return Vec::new();
    };
    let entries = Reader::new(BufReader::new(file), Limits::PROTOCOL).take(MAX_SAMPLED);
    let entries = entries.filter_map(|item| match item {
        Ok(Item::Url(entry)) => Some(entry.loc),
        Ok(Item::Sitemap(entry)) => Some(entry.loc),
        Err(_) => None,
    });
    entries.collect()
}

/// The sitemaps that an index lists, as far as it can be read.
fn children(index: &Path) -> impl Iterator<Item = Loc> + use<> {
    let file = File::open(index).ok();
    let reader = file.map(|file| Reader::new(BufReader::new(file), Limits::PROTOCOL));
    reader.into_iter().flatten().filter_map(|item| match item {
        Ok(Item::Sitemap(entry)) => Some(entry.loc),
        Ok(Item::Url(_)) | Err(_) => None,
    })
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

    fn places(folder: &Folder) -> Vec<(&str, &str)> {
        let mounts = folder.mounts().iter();
        mounts
            .map(|mount| (mount.below.to_str().unwrap(), mount.base.loc().as_str()))
            .collect()
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
        assert_eq!(places(&read), [("", "https://h/x/")]);
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
        assert_eq!(places(&read), [("", "https://h/x/")]);
    }

    #[test]
    fn folder_is_served_where_most_of_its_parts_are_found() {
        let check = |indexes: &[(&str, &[&str])], files: &[&str], expected: &[(&str, &str)]| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path();
            for (name, children) in indexes {
                write(path, name, &index(children));
            }
            for file in files {
                write(path, file, URLSET);
            }
            let read = Folder::read(path, None).unwrap();
            assert_eq!(places(&read), expected, "{indexes:?}, {files:?}");
        };
        // An index is no part of itself.
        let parts: &[&str] = &["https://h/en/sitemap.xml", "https://h/de/sitemap.xml"];
        check(&[("sitemap.xml", parts)], &[], &[]);
        let root = [("", "https://h/")];
        check(&[("sitemap.xml", parts)], &["de/sitemap.xml"], &root);
        let itself: &[&str] = &["https://h/sitemap.xml?page=1", "https://h/sitemap.xml"];
        check(&[("sitemap.xml", itself)], &[], &root);
        let portal: &[&str] = &["https://a/sitemap.xml", "https://b/sitemap.xml"];
        check(&[("sitemap.xml", portal)], &[], &[]);
        // A file of the same name is not taken for one that is missing.
        let parts: &[&str] = &[
            "https://h/en/p.xml",
            "https://h/de/p.xml",
            "https://h/p.xml",
        ];
        check(&[("i.xml", parts)], &["p.xml", "de/p.xml"], &root);
        check(&[("i.xml", parts)], &["p.xml"], &root);
        // Sets in folders of their own, whatever stands above them.
        let sets: &[(&str, &[&str])] = &[
            ("out/a/sitemap.xml", &["https://a/p.xml"]),
            ("out/b/sitemap.xml", &["https://b/docs/p.xml"]),
        ];
        let both = [("out/a", "https://a/"), ("out/b", "https://b/docs/")];
        check(sets, &["out/a/p.xml", "out/b/p.xml"], &both);
        check(sets, &["out/a/p.xml", "out/b/p.xml", "p.xml"], &both);
        check(sets, &["out/b/p.xml"], &both[1..]);
        // What the folder above says counts below it.
        let below: &[(&str, &[&str])] = &[
            ("i.xml", &["https://h/p.xml"]),
            ("news/i.xml", &["https://h/other/n.xml"]),
        ];
        check(below, &["p.xml", "news/n.xml"], &root);
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
