//! Which files the new set has, and what is in each: hashes first, writes only what changed, and
//! checks every written file with our own reader before anybody else can see it.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Write},
    num::NonZeroUsize,
    ops::{ControlFlow, Range},
};

use jiff::{Timestamp, ToSpan as _};
use sha2::{Digest as _, Sha256};
use sitemap_core::{
    IndexEntry, LastMod, Limits, Loc,
    partition::{KeyRange, Plan, Suffix},
    read,
    write::{FileSummary, GzipWriter, IndexWriter, Push, UrlSetWriter, WriteError},
};

use super::{
    BuiltFile, PublishError, PublishRequest,
    folder::{Folder, Temporary, failed},
    go_on,
    manifest::{FileRecord, hex},
    previous::Previous,
};
use crate::{
    config::{IndexMode, Layout},
    export::Export,
    page::{PageRecord, State},
    store::Store,
    url_key::UrlKey,
};

/// Everything needed to build the files of one publish.
pub(super) struct Files<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) export: &'a Export,
    pub(super) request: &'a PublishRequest<'a>,
    pub(super) plan: &'a Plan,
    pub(super) previous: &'a Previous,
}

/// One file of the new set, before its content is known.
#[derive(Debug, Clone)]
pub(super) struct PlannedFile {
    /// Path relative to the output.
    pub(super) name: String,
    /// Where it will be served.
    pub(super) url: String,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    /// The listed URLs of these key ranges.
    UrlSet {
        ranges: Vec<KeyRange>,
        is_only: bool,
    },
    /// These parts, as numbers in the plan.
    Index(Range<usize>),
}

impl PlannedFile {
    /// Whether robots.txt has to name it: an index, or the only urlset.
    pub(super) fn is_entrance(&self) -> bool {
        match &self.content {
            Content::UrlSet { is_only, .. } => *is_only,
            Content::Index(_) => true,
        }
    }

    /// Whether the name, which is ours, says gzip.
    fn is_gzipped(&self) -> bool {
        self.name.ends_with(Suffix::XmlGz.as_str())
    }
}

/// Whether a file of this name is an index or the only urlset: `sitemap.xml`, `sitemap-2.xml`, ...
pub(super) fn is_entrance_name(name: &str) -> bool {
    let number = name
        .strip_prefix("sitemap")
        .and_then(|rest| rest.strip_suffix(".xml"));
    number.is_some_and(|number| {
        number.is_empty()
            || number
                .strip_prefix('-')
                .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

impl Files<'_> {
    /// Builds every file: parts first (the index states when they changed), but indexes lead the list.
    pub(super) fn build(
        &self,
        mut folder: Option<&mut Folder>,
    ) -> Result<Vec<BuiltFile>, PublishError> {
        let Some(parts) = self.planned_parts()? else {
            let only = self.only_urlset()?;
            return Ok(vec![self.build_file(only, &[], folder)?]);
        };
        let mut built = Vec::with_capacity(parts.len() + 1);
        for part in parts {
            built.push(self.build_file(part, &[], folder.as_deref_mut())?);
        }
        let mut all = Vec::with_capacity(built.len() + 1);
        for index in self.planned_indexes()? {
            all.push(self.build_file(index, &built, folder.as_deref_mut())?);
        }
        all.extend(built);
        Ok(all)
    }

    /// The URL of the output's root, ending in `/`.
    fn root_url(&self) -> String {
        let site = self.request.site;
        let default = || format!("{}{}", site.origin, site.directory);
        self.request
            .config
            .public_url
            .clone()
            .unwrap_or_else(default)
    }

    /// The scope's directory as seen from the output's root: not empty only when the output is served
    /// from above the scope and files stand in place.
    fn base_below_root(&self) -> Result<(String, String), PublishError> {
        let site = self.request.site;
        let root = Loc::parse(&self.root_url()).map_err(|error| {
            PublishError::Settings(format!("public_url {}: {error}", self.root_url()))
        })?;
        let own = Loc::parse(&format!("{}{}", site.origin, site.directory)).map_err(|error| {
            PublishError::Settings(format!("the directory {}: {error}", site.directory))
        })?;
        if own.origin() != root.origin() {
            return Ok((String::new(), String::new()));
        }
        let Some(below) = own.as_str().strip_prefix(root.directory()) else {
            return Err(PublishError::Settings(format!(
                "public_url {} does not cover {}{}: a sitemap may list only what is in its own directory or below \
                 (sitemaps.org, sitemap file location)",
                self.root_url(),
                site.origin,
                site.directory
            )));
        };
        match self.request.config.layout {
            Layout::Root => Ok((String::new(), String::new())),
            Layout::InPlace => {
                let folder = percent_decode(below).ok_or_else(|| {
                    PublishError::Settings(format!(
                        "the directory {} cannot be a folder of the output",
                        site.directory
                    ))
                })?;
                Ok((folder, below.to_owned()))
            }
        }
    }

    /// The parts of the plan; `None` when the whole site goes into one urlset.
    fn planned_parts(&self) -> Result<Option<Vec<PlannedFile>>, PublishError> {
        let config = self.request.config;
        let entries: u64 = self
            .plan
            .parts()
            .iter()
            .map(sitemap_core::partition::Part::entries)
            .sum();
        let bytes: u64 = self
            .plan
            .parts()
            .iter()
            .map(sitemap_core::partition::Part::bytes)
            .sum();
        match config.index {
            IndexMode::Auto if entries <= config.file_entries && bytes <= config.file_bytes => {
                return Ok(None);
            }
            IndexMode::Auto | IndexMode::Always => {}
        }
        let suffix = if config.gzip {
            Suffix::XmlGz
        } else {
            Suffix::Xml
        };
        let (folder, below) = self.base_below_root()?;
        let root = self.root_url();
        let is_root_part = |path: &str| !path.contains('/');
        let planned = self.plan.parts().iter().map(|part| {
            let (path, url_path) = (part.path(suffix), part.url_path(suffix));
            // The base's own files stand beside the index.
            let (folder, below) = if is_root_part(&path) && part.id().directory == self.plan.base()
            {
                ("", "")
            } else {
                (folder.as_str(), below.as_str())
            };
            PlannedFile {
                name: format!("{folder}{path}"),
                url: format!("{root}{below}{url_path}"),
                content: Content::UrlSet {
                    ranges: part.ranges().to_vec(),
                    is_only: false,
                },
            }
        });
        Ok(Some(planned.collect()))
    }

    fn only_urlset(&self) -> Result<PlannedFile, PublishError> {
        self.base_below_root()?;
        let base = self.plan.base();
        // The first text after everything that begins with the base: its last byte is a slash.
        let end = format!("{}0", base.trim_end_matches('/'));
        Ok(PlannedFile {
            name: "sitemap.xml".to_owned(),
            url: format!("{}sitemap.xml", self.root_url()),
            content: Content::UrlSet {
                ranges: vec![KeyRange {
                    start: base.to_owned(),
                    end,
                }],
                is_only: true,
            },
        })
    }

    fn planned_indexes(&self) -> Result<Vec<PlannedFile>, PublishError> {
        let most = usize::try_from(self.request.config.index_entries)
            .ok()
            .and_then(NonZeroUsize::new);
        let most = most.ok_or_else(|| {
            PublishError::Settings("index_entries: expected at least 1".to_owned())
        })?;
        let root = self.root_url();
        let indexes = self
            .plan
            .indexes(most)
            .into_iter()
            .map(|index| PlannedFile {
                url: format!("{root}{}", index.name),
                name: index.name,
                content: Content::Index(index.parts),
            });
        Ok(indexes.collect())
    }

    /// Builds one file: finds out whether it changed, and writes a checked temporary when it did.
    fn build_file(
        &self,
        planned: PlannedFile,
        parts: &[BuiltFile],
        folder: Option<&mut Folder>,
    ) -> Result<BuiltFile, PublishError> {
        go_on(self.request)?;
        let name = planned.name.clone();
        self.refuse_page_at(&planned.url)?;
        if let Some(path) = folder.as_ref().and_then(|folder| folder.astray(&name)) {
            return Err(PublishError::Astray(path));
        }
        let known = self.previous.file(&name);
        let on_disk = match &folder {
            Some(folder) => folder.hash(&name)?,
            None => known.map(|known| known.file_sha256.clone()),
        };
        let stands = known.filter(|known| on_disk.as_ref() == Some(&known.file_sha256));
        if stands.is_some() || folder.is_none() {
            let (sha256, summary) = self.write(&planned, parts, io::sink())?;
            if let Some(known) = stands.filter(|known| known.sha256 == sha256) {
                return Ok(BuiltFile {
                    planned,
                    record: known.clone(),
                    changed: false,
                    temporary: None,
                });
            }
            if folder.is_none() {
                let record = FileRecord {
                    name,
                    sha256,
                    file_sha256: String::new(),
                    entries: summary.entries,
                    bytes: summary.bytes,
                    lastmod: self.changed_at(known),
                };
                return Ok(BuiltFile {
                    planned,
                    record,
                    changed: true,
                    temporary: None,
                });
            }
        }
        let folder = folder.expect("without a folder the function returned above");
        let changed_at = self.changed_at(known);
        let (record, temporary) = self.write_temporary(&planned, parts, folder, changed_at)?;
        if on_disk.as_ref() == Some(&temporary.file_sha256) {
            // Written by a publish that did not come to its end, or put there by a copy: it stands.
            let lastmod = known
                .map(|known| known.lastmod)
                .max(folder.modified(&name))
                .unwrap_or(changed_at);
            if lastmod <= changed_at {
                let record = FileRecord { lastmod, ..record };
                return Ok(BuiltFile {
                    planned,
                    record,
                    changed: false,
                    temporary: None,
                });
            }
        }
        Ok(BuiltFile {
            planned,
            record,
            changed: true,
            temporary: Some(temporary),
        })
    }

    /// A file must not stand where the site has a page that is listed.
    fn refuse_page_at(&self, url: &str) -> Result<(), PublishError> {
        let Ok(key) = UrlKey::from_normalised(url) else {
            return Ok(());
        };
        let page = self.store.page(&key)?;
        let is_listed = |page: &PageRecord| {
            page.run == self.request.run && page.reason.state() == State::Listed
        };
        if page.as_ref().is_some_and(is_listed) {
            return Err(PublishError::Settings(format!(
                "{url} is a page of the site, so no sitemap can stand there; leave the page out or use the other layout"
            )));
        }
        Ok(())
    }

    /// The time of a change now: whole seconds, and later than the recorded one, so that whoever
    /// fetches by the index's `lastmod` sees the change.
    fn changed_at(&self, known: Option<&FileRecord>) -> Timestamp {
        let now = Timestamp::from_second(self.request.now.as_second()).unwrap_or(self.request.now);
        known.map_or(now, |known| now.max(known.lastmod + 1.second()))
    }

    fn write_temporary(
        &self,
        planned: &PlannedFile,
        parts: &[BuiltFile],
        folder: &mut Folder,
        changed_at: Timestamp,
    ) -> Result<(FileRecord, Temporary), PublishError> {
        let (path, file) = folder.create_temporary()?;
        let buffered = BufWriter::new(&file);
        let (sha256, summary) = if planned.is_gzipped() {
            let mut gzip = GzipWriter::new(buffered);
            let written = self.write(planned, parts, &mut gzip)?;
            let buffered = gzip.finish().map_err(failed("write", &path))?;
            buffered
                .into_inner()
                .map_err(|error| failed("write", &path)(error.into_error()))?;
            written
        } else {
            let mut buffered = buffered;
            let written = self.write(planned, parts, &mut buffered)?;
            buffered.flush().map_err(failed("write", &path))?;
            written
        };
        let temporary = Folder::finish_temporary(path, &file, changed_at)?;
        self.check(planned, &temporary, &summary)?;
        let record = FileRecord {
            name: planned.name.clone(),
            sha256,
            file_sha256: temporary.file_sha256.clone(),
            entries: summary.entries,
            bytes: summary.bytes,
            lastmod: changed_at,
        };
        Ok((record, temporary))
    }

    /// Writes the content of a file; its SHA-256 and its counts.
    fn write(
        &self,
        planned: &PlannedFile,
        parts: &[BuiltFile],
        out: impl Write,
    ) -> Result<(String, FileSummary), PublishError> {
        let out = Hashing {
            out,
            hash: Sha256::new(),
        };
        let (out, summary) = match &planned.content {
            Content::UrlSet { ranges, .. } => self.write_urlset(planned, ranges, out)?,
            Content::Index(range) => {
                let parts = parts.get(range.clone()).unwrap_or_default();
                write_index(planned, parts, out)?
            }
        };
        Ok((hex(out.hash), summary))
    }

    fn write_urlset<W: Write>(
        &self,
        planned: &PlannedFile,
        ranges: &[KeyRange],
        out: W,
    ) -> Result<(W, FileSummary), PublishError> {
        let failed = |error| write_failed(planned, error);
        let mut writer = UrlSetWriter::new(out, Limits::PROTOCOL).map_err(failed)?;
        for range in ranges {
            let from = format!("{}{}", self.request.site.origin, range.start);
            let Ok(from) = UrlKey::from_normalised(&from) else {
                continue;
            };
            self.export
                .visit::<PublishError>(self.store, Some(&from), &mut |key, entry| {
                    if !range.contains(key.path_and_query()) {
                        return Ok(ControlFlow::Break(()));
                    }
                    match writer.push(&entry).map_err(failed)? {
                        Push::Written => Ok(ControlFlow::Continue(())),
                        Push::Full => Err(over_limit(planned)),
                    }
                })?;
        }
        writer.finish().map_err(failed)
    }

    /// Reads a written file back: well-formed, counted, within its limits and its location.
    fn check(
        &self,
        planned: &PlannedFile,
        temporary: &Temporary,
        summary: &FileSummary,
    ) -> Result<(), PublishError> {
        let problem = |problem: String| PublishError::Check {
            name: planned.name.clone(),
            problem,
        };
        let loc = |text: &str| Loc::parse(text).map_err(|error| problem(error.to_string()));
        let site = self.request.site;
        let mut location = loc(&planned.url)?;
        let own = loc(&format!("{}{}", site.origin, site.directory))?;
        let kind = match planned.content {
            Content::UrlSet { .. } => read::Kind::UrlSet,
            Content::Index(_) => read::Kind::Index,
        };
        if kind == read::Kind::UrlSet && own.origin() != location.origin() {
            // A set that is served from another host is proven by the crawled host's robots.txt; what
            // it lists must be of the crawled directory all the same.
            location = own;
        }
        let mut expectation = read::Expectation::new(kind, &location);
        expectation.entries = Some(summary.entries);
        let file = File::open(&temporary.path).map_err(failed("read", &temporary.path))?;
        let found = read::check(BufReader::new(file), &expectation)
            .map_err(|error| problem(error.to_string()))?;
        if found == *summary {
            Ok(())
        } else {
            Err(problem(format!("expected {summary:?}, read {found:?}")))
        }
    }
}

fn write_index<W: Write>(
    planned: &PlannedFile,
    parts: &[BuiltFile],
    out: W,
) -> Result<(W, FileSummary), PublishError> {
    let failed = |error| write_failed(planned, error);
    let mut writer = IndexWriter::new(out, Limits::PROTOCOL).map_err(failed)?;
    for part in parts {
        let loc = Loc::parse(&part.planned.url).map_err(|error| PublishError::Check {
            name: planned.name.clone(),
            problem: error.to_string(),
        })?;
        let entry = IndexEntry::new(loc).with_lastmod(LastMod::from_timestamp(part.record.lastmod));
        match writer.push(&entry).map_err(failed)? {
            Push::Written => {}
            Push::Full => return Err(over_limit(planned)),
        }
    }
    writer.finish().map_err(failed)
}

fn write_failed(planned: &PlannedFile, error: WriteError) -> PublishError {
    match error {
        WriteError::Io(source) => PublishError::Io {
            action: "write",
            path: planned.name.clone().into(),
            source,
        },
        error => PublishError::Check {
            name: planned.name.clone(),
            problem: error.to_string(),
        },
    }
}

fn over_limit(planned: &PlannedFile) -> PublishError {
    PublishError::Check {
        name: planned.name.clone(),
        problem: "the plan puts more into it than the protocol allows".to_owned(),
    }
}

/// A path with its escapes decoded; `None` when a segment cannot be a folder.
fn percent_decode(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let escape = after.split_at_checked(2).filter(|_| first == b'%');
        match escape.and_then(|(digits, tail)| {
            let value = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            Some((value, tail))
        }) {
            Some((b'/' | b'\\', _)) => return None,
            Some((value, tail)) => {
                bytes.push(value);
                rest = tail;
            }
            None => bytes.push(first),
        }
    }
    let decoded = String::from_utf8(bytes).ok()?;
    let is_folder = |segment: &str| !matches!(segment, "" | "." | "..") && segment.len() <= 255;
    let is_clean = !decoded.contains(char::is_control);
    (is_clean && decoded.split_terminator('/').all(is_folder)).then_some(decoded)
}

/// Hashes what passes through.
struct Hashing<W> {
    out: W,
    hash: Sha256,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(bytes.split_at(written).0);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
