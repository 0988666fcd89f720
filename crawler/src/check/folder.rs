//! Folders: which of their files are sitemaps, where these are served, and which that an index lists are missing.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

use sitemap_core::{
    Limits, Loc,
    read::{Item, Kind, ReadError, Reader},
    validate::{DocumentId, READING_LIMITS},
};

use super::{
    AGENT, Check, CheckEvent, MAX_DOCUMENTS,
    place::{Base, has_ending},
    queue::Queue,
    read_robots,
};
use crate::robots::Rules;

/// Largest depth of folders.
const MAX_DEPTH: usize = 64;

/// Number of sitemaps of an index that decide where it is served; in sets that real sites publish the first few agree.
const MAX_CONSULTED: usize = 1_000;

/// The files of a folder that are sitemaps; paths are relative to the folder.
#[derive(Debug)]
struct SitemapFolder {
    path: PathBuf,
    indexes: Vec<PathBuf>,
    others: Vec<PathBuf>,
}

/// A folder that is served at a base; its path is relative to the one that is checked.
#[derive(Debug)]
struct Mount {
    below: PathBuf,
    base: Base,
}

/// A file of the folder that waits to be checked, and the index that led to it.
type ListedFile = (PathBuf, Option<DocumentId>);

impl Check<'_> {
    /// Checks all sitemaps in a folder: indexes, then the sitemaps they list, then the others.
    pub(super) fn folder(&mut self, path: &Path) -> Result<(), String> {
        let at = self.at.as_ref().map(Base::of_folder).transpose()?;
        let folder = SitemapFolder::read(path)?;
        let mount = match at {
            Some(base) => Some(Mount {
                below: PathBuf::new(),
                base,
            }),
            None => self.mount_of(&folder),
        };
        if let Some(mount) = &mount {
            self.take_robots_of(&path.join(&mount.below), &mount.base);
        }
        let mut queue = Queue::new(MAX_DOCUMENTS);
        for files in [folder.indexes, folder.others] {
            for file in files {
                // The number of files is at most the size of the queue.
                queue.push(&file.clone(), (file, None));
            }
            while let Some(wanted) = queue.pop() {
                self.file_of_folder(path, wanted, mount.as_ref(), &mut queue);
            }
        }
        Ok(())
    }

    /// The URL of a folder when none was passed. Reports the file that decided.
    fn mount_of(&mut self, folder: &SitemapFolder) -> Option<Mount> {
        let found = folder.mount();
        let count = folder.indexes.len();
        if let Some((Mount { below, base }, source)) = &found {
            // Joining nothing adds a slash.
            let served: PathBuf = folder.path.join(below).components().collect();
            self.reports.emit(CheckEvent::Info(format!(
                "{} is taken to be served at {}, by its {source}; --base-url URL overrides this",
                served.display(),
                base.loc()
            )));
        } else if count > 1 {
            self.reports.emit(CheckEvent::Info(format!(
                "{} has {count} indexes and no robots.txt that names sitemaps of one host, so each file is checked alone; --base-url \
                 URL names the place where the folder is served",
                folder.path.display()
            )));
        }
        found.map(|(mount, _)| mount)
    }

    /// Takes in the robots.txt of a folder that is the root of a host, unless that of the host is known.
    fn take_robots_of(&mut self, folder: &Path, base: &Base) {
        let file = folder.join("robots.txt");
        if !base.is_root() || self.robots.contains_key(base.loc().origin()) || !file.is_file() {
            return;
        }
        match read_robots(&file) {
            Ok(body) => self.take_robots(base.loc(), &body),
            Err(error) => self.unreadable(&file.to_string_lossy(), &error),
        }
    }

    /// Checks one file, and puts the files that it lists into the queue.
    fn file_of_folder(
        &mut self,
        root: &Path,
        (file, listed_by): ListedFile,
        mount: Option<&Mount>,
        queue: &mut Queue<ListedFile>,
    ) {
        let place = mount.and_then(|mount| mount.place(&file));
        let Some(read) = self.file(&root.join(&file), place.as_ref(), listed_by) else {
            return;
        };
        for child in &read.children {
            let Some(file) = mount.and_then(|mount| mount.file_of(&child.loc)) else {
                continue;
            };
            if root.join(&file).is_file() {
                queue.push(&file.clone(), (file, Some(read.document)));
            } else if !child.loc.path_and_query().contains('?') {
                let why = format!("the file {} does not exist", file.display());
                self.missing(read.document, child, &why);
            }
        }
    }
}

impl SitemapFolder {
    /// Looks for sitemaps in a folder.
    fn read(path: &Path) -> Result<Self, String> {
        let mut names = Vec::new();
        collect(path, Path::new(""), 0, &mut names)?;
        names.sort_unstable();
        let (mut indexes, mut others) = (Vec::new(), Vec::new());
        for name in names {
            match sniff_file(&path.join(&name)) {
                Some(Kind::Index) => indexes.push(name),
                Some(_) => others.push(name),
                // It cannot be read as a sitemap, but is meant to be one.
                None if is_called_sitemap(&name) => others.push(name),
                None => {}
            }
        }
        if indexes.is_empty() && others.is_empty() {
            return Err(format!("no sitemap found in {}", path.display()));
        }
        Ok(Self {
            path: path.to_owned(),
            indexes,
            others,
        })
    }

    /// The place of the folder by its only index, or else by its robots.txt, and the name of that file.
    fn mount(&self) -> Option<(Mount, &'static str)> {
        let by_index = self.mount_by_index().map(|mount| (mount, "index"));
        by_index.or_else(|| Some((self.mount_by_robots()?, "robots.txt")))
    }

    /// The folder of the only index is served where most of its sitemaps are files below it: at the lowest common directory or
    /// above, and of equally good ones at the highest.
    fn mount_by_index(&self) -> Option<Mount> {
        let [index] = &*self.indexes else {
            return None;
        };
        let children = children(&self.path.join(index)).filter_map(Result::ok);
        let mut children: Vec<Loc> = children.take(MAX_CONSULTED).collect();
        let origin = children.first()?.origin().to_owned();
        children.retain(|child| child.origin() == origin);
        let below = index.parent()?;
        let mut common = children.first()?.directory();
        while !children
            .iter()
            .all(|child| child.as_str().starts_with(common))
        {
            common = &common[..=common.trim_end_matches('/').rfind('/')?];
        }
        let is_there = |base: &Base, child: &Loc| {
            let file = base.relative(&without_query(child));
            file.map(|file| below.join(file))
                .is_some_and(|file| file != *index && self.path.join(file).is_file())
        };
        // The last of equal ones is taken, which is the highest.
        let bases = common[origin.len()..].rmatch_indices('/');
        let bases =
            bases.filter_map(|(slash, _)| Base::beginning(&common[..=origin.len() + slash]));
        let base = bases.max_by_key(|base| {
            let files = children.iter().filter(|child| is_there(base, child));
            files.count()
        })?;
        Some(Mount {
            below: below.to_owned(),
            base,
        })
    }

    /// The files that its only index lists.
    fn listed(&self) -> Result<Vec<PathBuf>, String> {
        let [index] = &*self.indexes else {
            return Ok(Vec::new());
        };
        let path = self.path.join(index);
        let mount = self.mount_by_index();
        let files = children(&path).map(|child| {
            let child = child.map_err(|error| format!("{}: {error}", path.display()))?;
            let file = mount.as_ref().and_then(|mount| mount.file_of(&child));
            let file = file.map(|file| self.path.join(file));
            file.filter(|file| file.is_file()).ok_or_else(|| {
                format!(
                    "{} lists {child}, which is not a file in its folder or below",
                    path.display()
                )
            })
        });
        files.collect()
    }

    /// The folder is the root of the host of which all `Sitemap:` lines of its robots.txt are.
    fn mount_by_robots(&self) -> Option<Mount> {
        let rules = Rules::parse(&read_robots(&self.path.join("robots.txt")).ok()?, AGENT);
        let lines = rules.sitemaps().iter();
        let named: Vec<Loc> = lines
            .filter_map(|line| Loc::parse(line.trim()).ok())
            .collect();
        let origin = named.first()?.origin();
        let is_of_one_host = named.iter().all(|sitemap| sitemap.origin() == origin);
        is_of_one_host.then_some(Mount {
            below: PathBuf::new(),
            base: Base::beginning(&format!("{origin}/"))?,
        })
    }
}

impl Mount {
    /// The URL of a file.
    fn place(&self, file: &Path) -> Option<Loc> {
        self.base.place(file.strip_prefix(&self.below).ok()?)
    }

    /// The file that a listed sitemap is, whether it exists or not; `None` for a sitemap elsewhere, and for the answer of a
    /// program.
    fn file_of(&self, child: &Loc) -> Option<PathBuf> {
        let file = self.base.relative(&without_query(child))?;
        has_ending(child.path()).then(|| self.below.join(file))
    }
}

/// Collects the files below a folder that have the name of a sitemap.
fn collect(
    root: &Path,
    relative: &Path,
    depth: usize,
    names: &mut Vec<PathBuf>,
) -> Result<(), String> {
    let folder = root.join(relative);
    let unreadable = |error| format!("cannot read the folder {}: {error}", folder.display());
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
            if names.len() >= MAX_DOCUMENTS {
                return Err(format!(
                    "more than {MAX_DOCUMENTS} files in {} could be sitemaps, expected the folder of one set",
                    root.display()
                ));
            }
            names.push(relative);
        }
    }
    Ok(())
}

fn is_called_sitemap(relative: &Path) -> bool {
    let name = relative.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.to_ascii_lowercase().starts_with("sitemap"))
}

/// The kind of a document by its beginning, if it is a sitemap or a feed; a text is one when it begins with a URL.
pub(crate) fn sniff(input: impl BufRead) -> Option<Kind> {
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

/// The sitemaps of the set in a folder: those that its only index lists, or else all but indexes.
///
/// # Errors
/// The folder cannot be read, holds no sitemap, or lacks one that the index lists.
pub(crate) fn sitemaps_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = SitemapFolder::read(folder)?;
    if folder.indexes.len() == 1 {
        return folder.listed();
    }
    let files = folder.others.iter().map(|file| folder.path.join(file));
    Ok(files.collect())
}

/// The files that the index `file` lists.
///
/// # Errors
/// One of them is not in the folder of the index, or below it.
pub(crate) fn listed_by(file: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = SitemapFolder {
        path: file.parent().map(Path::to_owned).unwrap_or_default(),
        indexes: file.file_name().map(PathBuf::from).into_iter().collect(),
        others: Vec::new(),
    };
    folder.listed()
}

/// The sitemaps that an index lists.
fn children(index: &Path) -> impl Iterator<Item = Result<Loc, ReadError>> + use<> {
    let file = File::open(index).ok();
    let reader = file.map(|file| Reader::new(BufReader::new(file), READING_LIMITS));
    reader.into_iter().flatten().filter_map(|item| match item {
        Ok(Item::Sitemap(entry)) => Some(Ok(entry.loc)),
        Ok(Item::Url(_)) => None,
        Err(error) => Some(Err(error)),
    })
}

/// A URL without its query, which a server of files ignores.
fn without_query(loc: &Loc) -> Loc {
    let path = loc.as_str().split('?').next().unwrap_or_default();
    Loc::parse(path).unwrap_or_else(|_| loc.clone())
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

    /// The mount of a folder with these files: its path, its URL, and the file that decided.
    fn mount(
        indexes: &[(&str, &[&str])],
        files: &[&str],
        robots: &str,
    ) -> Option<(String, String, &'static str)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for (name, children) in indexes {
            write(path, name, &index(children));
        }
        for file in files {
            write(path, file, URLSET);
        }
        write(path, "robots.txt", robots);
        let (mount, source) = SitemapFolder::read(path).unwrap().mount()?;
        let below = mount.below.to_str().unwrap().to_owned();
        Some((below, mount.base.loc().to_string(), source))
    }

    const URLSET: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://h/</loc></url></urlset>";

    #[test]
    fn sitemaps_are_found_by_their_names_and_beginnings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        write(path, "zz.xml", &index(&["https://h/x/a/part.xml"]));
        write(path, "a/part.xml", URLSET);
        write(path, "page.xml", "<html/>");
        write(path, "sitemap-broken.xml", "<");
        write(path, "notes.txt", "no sitemap");
        write(path, "robots.txt", "User-agent: *");
        write(path, ".arpent-manifest.xml", URLSET);
        let read = SitemapFolder::read(path).unwrap();
        assert_eq!(read.indexes, [Path::new("zz.xml")]);
        let others = ["a/part.xml", "sitemap-broken.xml"].map(Path::new);
        assert_eq!(read.others, others);
    }

    #[test]
    fn only_index_decides_the_place_of_the_folder() {
        let check = |children: &[&str], files: &[&str], expected: &str| {
            let mount = mount(&[("i.xml", children)], files, "");
            let (_, place, source) = mount.unwrap();
            assert_eq!(
                (&*place, source),
                (expected, "index"),
                "{children:?}, {files:?}"
            );
        };
        check(&["https://h/x/a.xml"], &["a.xml"], "https://h/x/");
        check(&["https://h/x/a.xml?v=2"], &["a.xml"], "https://h/x/");
        check(&["https://h/x/a.xml"], &["x/a.xml", "a.xml"], "https://h/");
        check(&["https://h/x/a.xml"], &["b.xml"], "https://h/");
        // An index is not a part of itself.
        check(&["https://h/x/i.xml"], &[], "https://h/");
        // A file of the same name is not taken for one that is missing.
        let parts = ["https://h/en/p.xml", "https://h/de/p.xml"];
        check(&parts, &["p.xml"], "https://h/");
        let hosts = ["https://h/x/a.xml", "https://g/b.xml"];
        check(&hosts, &["a.xml"], "https://h/x/");
        let below = mount(&[("out/i.xml", &["https://h/a.xml"])], &["out/a.xml"], "");
        let expected = ("out".to_owned(), "https://h/".to_owned(), "index");
        assert_eq!(below.unwrap(), expected);
    }

    #[test]
    fn robots_txt_decides_without_a_single_index() {
        let two: [(&str, &[&str]); 2] = [
            ("i.xml", &["https://h/a.xml"]),
            ("j.xml", &["https://h/b.xml"]),
        ];
        let check = |robots: &str, expected: Option<&str>| {
            // An empty index decides nothing.
            for indexes in [&two[..], &[], &[("i.xml", &[])]] {
                let mount = mount(indexes, &["a.xml"], robots);
                let found = mount.as_ref().map(|(_, place, source)| (&**place, *source));
                let expected = expected.map(|place| (place, "robots.txt"));
                assert_eq!(found, expected, "{robots}");
            }
        };
        check("", None);
        check("User-agent: *\n", None);
        check("Sitemap: https://g/x/a.xml\n", Some("https://g/"));
        check("Sitemap: https://g/a.xml\nSitemap: https://h/a.xml\n", None);
    }
}
