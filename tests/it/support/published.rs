//! Reads published files with flate2 and a plain search for tags, not with the reader of arpent.
//! `xmllint` also checks every file that is read.

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use flate2::read::GzDecoder;

use super::xmllint::assert_valid;

/// A published folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Every sitemap file by its path relative to the folder.
    pub files: BTreeMap<String, SitemapFile>,
}

/// One sitemap file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitemapFile {
    /// The bytes of the file.
    pub raw: Vec<u8>,
    /// XML of the file.
    pub xml: String,
    /// `loc` and `lastmod` of each entry, in order, entities decoded.
    pub entries: Vec<(String, Option<String>)>,
    /// Modification time.
    pub modified: SystemTime,
    /// Whether its root is an index.
    pub is_index: bool,
}

impl Published {
    /// Reads every `.xml` and `.xml.gz` below `folder`; a folder that does not exist is empty.
    pub fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        collect(folder, folder, &mut files);
        Self { files }
    }

    /// All listed URLs with their dates, sorted; fails when a URL is listed twice.
    #[track_caller]
    pub fn entries(&self) -> BTreeMap<String, Option<String>> {
        let mut all = BTreeMap::new();
        for (name, file) in self.files.iter().filter(|(_, file)| !file.is_index) {
            for (loc, lastmod) in &file.entries {
                assert!(
                    all.insert(loc.clone(), lastmod.clone()).is_none(),
                    "{loc} stands twice, also in {name}"
                );
            }
        }
        all
    }

    /// The same by path and query: without the origin of the site.
    pub fn dates(&self, origin: &str) -> BTreeMap<String, Option<String>> {
        let entries = self.entries().into_iter();
        entries
            .map(|(url, lastmod)| (url.replace(origin, ""), lastmod))
            .collect()
    }

    /// All listed URLs, sorted.
    pub fn urls(&self) -> Vec<String> {
        self.entries().into_keys().collect()
    }

    /// The parts without the indexes.
    pub fn parts(&self) -> BTreeMap<&str, &SitemapFile> {
        self.files
            .iter()
            .filter(|(_, file)| !file.is_index)
            .map(|(name, file)| (name.as_str(), file))
            .collect()
    }

    /// Names of the files whose bytes or modification times differ.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut names: Vec<String> = self
            .files
            .keys()
            .chain(other.files.keys())
            .cloned()
            .collect();
        names.sort();
        names.dedup();
        names.retain(|name| match (self.files.get(name), other.files.get(name)) {
            (Some(one), Some(two)) => one.raw != two.raw || one.modified != two.modified,
            (Some(_) | None, _) => true,
        });
        names
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, SitemapFile>) {
    let Ok(listing) = fs::read_dir(folder) else {
        return;
    };
    for entry in listing.flatten() {
        let path: PathBuf = entry.path();
        let name = path
            .strip_prefix(root)
            .expect("below the root")
            .to_string_lossy()
            .into_owned();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, files);
        } else if [".xml", ".xml.gz"].iter().any(|end| name.ends_with(end)) {
            files.insert(name, read_file(&path));
        }
    }
}

fn read_file(path: &Path) -> SitemapFile {
    let raw = fs::read(path).expect("a published file can be read");
    let mut xml = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        GzDecoder::new(raw.as_slice())
            .read_to_string(&mut xml)
            .expect("gzip with UTF-8 inside");
    } else {
        xml = String::from_utf8(raw.clone()).expect("UTF-8");
    }
    let modified = fs::metadata(path)
        .and_then(|metadata| metadata.modified())
        .expect("a modification time");
    let is_index = xml.contains("<sitemapindex");
    assert_valid(&path.display().to_string(), &xml, is_index);
    let element = if is_index { "sitemap>" } else { "url>" };
    let entries = xml
        .split(&format!("<{element}"))
        .skip(1)
        .map(|entry| {
            (
                text_of(entry, "loc").expect("each entry has a loc"),
                text_of(entry, "lastmod"),
            )
        })
        .collect();
    SitemapFile {
        raw,
        xml,
        entries,
        modified,
        is_index,
    }
}

fn text_of(entry: &str, element: &str) -> Option<String> {
    let (_, rest) = entry.split_once(&format!("<{element}>"))?;
    let (text, _) = rest.split_once(&format!("</{element}>"))?;
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    Some(
        entities
            .iter()
            .fold(text.to_owned(), |text, (entity, character)| {
                text.replace(entity, character)
            }),
    )
}
