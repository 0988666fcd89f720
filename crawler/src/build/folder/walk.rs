//! The files of a folder, each with the URL and the answer that a web server would give it.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::addresses;
use crate::{
    build::{BuildError, LoadRequest, PROGRESS_STEP, address::is_index_name, media_type},
    fetch::{Headers, ResponseHead},
    url_key::{UrlKey, percent},
};

/// Folders inside each other: deeper paths are longer than a URL may be.
const MAX_DEPTH: usize = 1_024;

/// Names in one folder, which are sorted in memory.
const MAX_NAMES: usize = 1_000_000;

/// Files and folders of a site: as many as 100 indexes of full sitemaps can name would be, and a stop for
/// links that lead from folder to folder in ever new ways.
const MAX_FILES: u64 = 10_000_000;

/// Folders of parts and of other people's packages, from which no site publishes pages.
const SOURCE_FOLDERS: [&str; 3] = ["_includes", "_layouts", "node_modules"];

/// Files at the root that servers answer with instead of pages; so is the index of the folder `404`.
const ERROR_PAGES: [&str; 3] = ["404.html", "500.html", "50x.html"];

/// Endings of the files of a published set, in all its formats.
const SITEMAP_ENDINGS: [&str; 6] = [".xml", ".xml.gz", ".txt", ".txt.gz", ".rss", ".atom"];

/// A file that may be a page.
pub(super) struct FolderFile<'a> {
    pub(super) path: &'a Path,
    /// `None`: the name cannot be in a URL of this site.
    pub(super) url: Option<UrlKey>,
    /// The folder that it is found in, and its name there.
    pub(super) folder: &'a Path,
    pub(super) name: &'a OsStr,
    /// Directly in the folder that was given.
    pub(super) is_at_root: bool,
    /// The page that a server answers with instead of another one: one of [`ERROR_PAGES`], or `404/index.html`.
    is_error_page: bool,
    pub(super) bytes: u64,
    pub(super) modified: Option<SystemTime>,
}

impl FolderFile<'_> {
    /// The media type of the file. Google's verification file, `google` with 16 hexadecimal digits, is one line of text.
    fn media_type(&self) -> &'static str {
        let name = self.name.to_string_lossy();
        let code = name.strip_prefix("google");
        let code = code.and_then(|name| name.strip_suffix(".html"));
        let is_code = |code: &str| code.len() == 16 && code.bytes().all(|c| c.is_ascii_hexdigit());
        if self.is_at_root && code.is_some_and(is_code) {
            return "text/plain";
        }
        media_type::of_name(&name)
    }

    pub(super) fn is_page(&self) -> bool {
        matches!(self.media_type(), "text/html" | "application/xhtml+xml")
    }

    /// The answer of a web server.
    pub(super) fn head(&self, with_date: bool) -> ResponseHead {
        let mut headers = Headers::default();
        headers.push("content-type", self.media_type().as_bytes());
        headers.push("content-length", self.bytes.to_string().as_bytes());
        if let Some(modified) = self.modified.filter(|_| with_date) {
            headers.push(
                "last-modified",
                httpdate::fmt_http_date(modified).as_bytes(),
            );
        }
        ResponseHead {
            status: if self.is_error_page { 404 } else { 200 },
            headers,
        }
    }
}

/// A walk through a folder, in the order of the names.
pub(super) struct Walk<'a> {
    root: PathBuf,
    request: &'a LoadRequest<'a>,
    /// Links that are not followed.
    pub(super) links_out: u64,
    /// Folders that were left out, because a site publishes no pages from them.
    pub(super) source_folders: u64,
    /// Names that were come to, those of folders too.
    names: u64,
}

/// A folder on the way from the root to where the walk is.
struct Level {
    /// Without links.
    folder: PathBuf,
    /// The name in URLs, ends in a slash.
    url: String,
    /// The names, the next one last.
    names: Vec<OsString>,
    /// The name that represents the folder.
    index: Option<OsString>,
}

/// The action for each file.
type EachFile<'a> = dyn FnMut(&FolderFile<'_>) -> Result<(), BuildError> + 'a;

impl<'a> Walk<'a> {
    pub(super) fn new(root: &Path, request: &'a LoadRequest<'a>) -> Result<Self, BuildError> {
        let canonical = fs::canonicalize(root);
        Ok(Self {
            root: canonical.map_err(|error| BuildError::open(root, error))?,
            request,
            links_out: 0,
            source_folders: 0,
            names: 0,
        })
    }

    /// Visits every file.
    pub(super) fn each(&mut self, visit: &mut EachFile<'_>) -> Result<(), BuildError> {
        let site = self.request.site;
        let url = format!("{}{}", site.origin, site.directory);
        let mut levels = vec![open(self.root.clone(), url)?];
        while let Some(level) = levels.last_mut() {
            let Some(name) = level.names.pop() else {
                levels.pop();
                continue;
            };
            let path = level.folder.join(&name);
            self.count()?;
            let Some((path, metadata)) = self.resolve(path)? else {
                continue;
            };
            if metadata.is_dir() {
                if SOURCE_FOLDERS.iter().any(|folder| name == *folder) {
                    self.source_folders += 1;
                    continue;
                }
                let is_circle = levels.iter().any(|level| level.folder == path);
                if is_circle || path == self.output() {
                    self.links_out += u64::from(is_circle);
                    continue;
                }
                if levels.len() >= MAX_DEPTH {
                    return Err(too_much(
                        &path,
                        format!("is more than {MAX_DEPTH} folders deep"),
                    ));
                }
                let above = levels.last().map_or("", |level| &level.url);
                let url = format!("{above}{}/", percent::segment(name.as_encoded_bytes()));
                levels.push(open(path, url)?);
            } else if metadata.is_file() {
                let is_error_page = is_error_page(&levels, &name);
                let is_at_root = levels.len() == 1;
                if let Some(level) = levels.last()
                    && !is_no_page(&name, is_at_root)
                {
                    visit(&FolderFile {
                        path: &path,
                        url: self.url_of(level, &name),
                        folder: &level.folder,
                        name: &name,
                        is_at_root,
                        is_error_page,
                        bytes: metadata.len(),
                        modified: metadata.modified().ok(),
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Counts a name on the way, and gives up when there are too many or somebody asks for it.
    fn count(&mut self) -> Result<(), BuildError> {
        self.names += 1;
        if self.names > MAX_FILES {
            return Err(too_much(
                &self.root,
                format!("holds more than {MAX_FILES} files and folders"),
            ));
        }
        if self.names.is_multiple_of(PROGRESS_STEP) && (self.request.is_stopped)() {
            return Err(BuildError::Stopped);
        }
        Ok(())
    }

    fn url_of(&self, level: &Level, name: &OsStr) -> Option<UrlKey> {
        if level.index.as_deref() == Some(name) {
            self.request.config.identity.parse(&level.url).ok()
        } else {
            addresses(self.request).of_file(&level.folder, &level.url, name)
        }
    }

    /// The file that a name leads to, when that is inside the folder and can be seen.
    fn resolve(&mut self, path: PathBuf) -> Result<Option<(PathBuf, Metadata)>, BuildError> {
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            // Removed since the folder was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(BuildError::open(&path, error)),
        };
        if !metadata.is_symlink() {
            return Ok(Some((path, metadata)));
        }
        let target = fs::canonicalize(&path);
        match target {
            Ok(target) if target.starts_with(&self.root) => {
                let metadata = fs::metadata(&target);
                let metadata = metadata.map_err(|error| BuildError::open(&target, error))?;
                Ok(Some((target, metadata)))
            }
            // Out of the folder, or to nothing.
            Ok(_) | Err(_) => {
                self.links_out += 1;
                Ok(None)
            }
        }
    }

    /// The folder that the set is written to: what is in it comes from us.
    fn output(&self) -> PathBuf {
        fs::canonicalize(&self.request.config.publish.output).unwrap_or_default()
    }
}

/// The names of a folder in order.
fn open(folder: PathBuf, url: String) -> Result<Level, BuildError> {
    let failed = |error| BuildError::open(&folder, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if names.len() == MAX_NAMES {
            return Err(too_much(
                &folder,
                format!("holds more than {MAX_NAMES} names"),
            ));
        }
        names.push(name);
    }
    names.sort_unstable_by(|one, other| other.cmp(one));
    let mut indexes: Vec<_> = names.iter().filter(|name| is_index_name(name)).collect();
    // `index.html` goes before `index.htm`.
    indexes.sort_unstable_by_key(|name| (std::cmp::Reverse(name.len()), *name));
    let index = indexes.first().map(|name| (*name).clone());
    Ok(Level {
        folder,
        url,
        names,
        index,
    })
}

fn too_much(path: &Path, problem: String) -> BuildError {
    BuildError::TooMuch {
        path: path.to_owned(),
        problem,
    }
}

/// Returns whether a file is the page that a server answers with instead of another one. Other numbers may be names of pages.
fn is_error_page(levels: &[Level], name: &OsStr) -> bool {
    match levels {
        [_] => ERROR_PAGES
            .iter()
            .any(|page| name.eq_ignore_ascii_case(page)),
        [_, level] => level.url.ends_with("/404/") && level.index.as_deref() == Some(name),
        _ => false,
    }
}

/// robots.txt and sitemaps, which are counted nowhere.
fn is_no_page(name: &OsStr, is_at_root: bool) -> bool {
    let name = name.to_string_lossy();
    // What publishing keeps of a file that it replaces.
    let kept_of = name.split_once(".bak-").map_or(&*name, |(of, _)| of);
    let is_sitemap = kept_of.starts_with("sitemap")
        && SITEMAP_ENDINGS
            .iter()
            .any(|ending| kept_of.ends_with(ending));
    is_sitemap || (is_at_root && name == "robots.txt")
}
