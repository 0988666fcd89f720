//! What is in each file: its content is hashed first, only what changed is written, and every written
//! file is checked with our own reader before anybody else can see it.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Write},
    ops::ControlFlow,
};

use jiff::{Timestamp, ToSpan as _};
use sha2::{Digest as _, Sha256};
use sitemap_core::{
    IndexEntry, LastMod, Limits, Loc, UrlEntry,
    extension::{Extension, Namespaces},
    read::{self, CheckError, Item, Position, ReadError, Reader},
    write::{
        AtomWriter, FeedInfo, FileSummary, GzipWriter, IndexWriter, Push, RssWriter,
        SchemaLocation, TextWriter, UrlSetOptions, UrlSetWriter, WriteError,
    },
};

use super::{
    PublishError, PublishRequest,
    census::{Census, declare},
    files::{Content, Feed, Of, PlannedFile, PlannedSet, Share},
    folder::{Folder, Temporary, failed},
    go_on,
    manifest::{FileRecord, hex},
    previous::Previous,
    sections::Sections,
};
use crate::{
    export::{Export, VisitListed, is_clock_set},
    page::{PageRecord, State},
    store::Store,
    url_key::UrlKey,
};

/// Everything needed to build the files of one publish.
pub(super) struct Builder<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) export: &'a Export,
    pub(super) request: &'a PublishRequest<'a>,
    pub(super) census: &'a Census,
    pub(super) sections: &'a Sections,
    pub(super) previous: &'a Previous,
}

/// One file of the new set: what it is, and its temporary when it has to be written.
#[derive(Debug)]
pub(super) struct BuiltFile {
    pub(super) planned: PlannedFile,
    pub(super) record: FileRecord,
    pub(super) changed: bool,
    pub(super) temporary: Option<Temporary>,
}

impl Builder<'_> {
    /// Builds every file: parts first (the index states when they changed), but indexes lead the list.
    pub(super) fn build(
        &self,
        planned: PlannedSet,
        mut folder: Option<&mut Folder>,
    ) -> Result<Vec<BuiltFile>, PublishError> {
        let mut built = Vec::with_capacity(planned.files.len() + planned.indexes.len());
        for file in planned.files {
            built.push(self.build_file(file, &[], folder.as_deref_mut())?);
        }
        let mut all = Vec::with_capacity(built.capacity());
        for index in planned.indexes {
            all.push(self.build_file(index, &built, folder.as_deref_mut())?);
        }
        all.extend(built);
        Ok(all)
    }

    /// Builds one file: finds out whether it changed, and writes a checked temporary when it did.
    fn build_file(
        &self,
        planned: PlannedFile,
        parts: &[BuiltFile],
        folder: Option<&mut Folder>,
    ) -> Result<BuiltFile, PublishError> {
        go_on(self.request)?;
        let name = planned.address.name.clone();
        self.refuse_page_at(&planned.address.url)?;
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
        let written = UrlKey::from_normalised(url).ok();
        let Some(key) = written.and_then(|url| self.request.site.crawled_key(&url)) else {
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
            name: planned.address.name.clone(),
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
            Content::UrlSet(share) => self.write_urlset(planned, share, out)?,
            Content::News(share) => self.write_news(planned, share, out)?,
            Content::Text(share) => self.write_text(planned, share, out)?,
            Content::Feed(feed) => self.write_feed(planned, *feed, out)?,
            Content::Index(members) => self.write_index(planned, members, parts, out)?,
        };
        Ok((hex(out.hash), summary))
    }

    fn write_urlset<W: Write>(
        &self,
        planned: &PlannedFile,
        share: &Share,
        out: W,
    ) -> Result<(W, FileSummary), PublishError> {
        let failed = |error| write_failed(planned, error);
        let options = UrlSetOptions::new(Limits::PROTOCOL)
            .with_namespaces(self.namespaces(share)?)
            .with_schema_location(self.schema_location());
        let mut writer = UrlSetWriter::with_options(out, options).map_err(failed)?;
        self.visit(
            share,
            &mut |listed| match writer.push(&listed.entry).map_err(failed)? {
                Push::Written => Ok(ControlFlow::Continue(())),
                Push::Full => Err(over_limit(planned)),
            },
        )?;
        writer.finish().map_err(failed)
    }

    fn write_news<W: Write>(
        &self,
        planned: &PlannedFile,
        share: &Share,
        out: W,
    ) -> Result<(W, FileSummary), PublishError> {
        let failed = |error| write_failed(planned, error);
        let options = UrlSetOptions::new(Limits::PROTOCOL)
            .with_namespaces(Namespaces::default().with(Extension::News))
            .with_schema_location(self.schema_location());
        let mut writer = UrlSetWriter::with_options(out, options).map_err(failed)?;
        self.visit(share, &mut |listed| {
            let Some(entry) = listed.news_entry() else {
                return Ok(ControlFlow::Continue(()));
            };
            match writer.push(&entry).map_err(failed)? {
                Push::Written => Ok(ControlFlow::Continue(())),
                Push::Full => Err(over_limit(planned)),
            }
        })?;
        writer.finish().map_err(failed)
    }

    fn write_index<W: Write>(
        &self,
        planned: &PlannedFile,
        members: &[usize],
        parts: &[BuiltFile],
        out: W,
    ) -> Result<(W, FileSummary), PublishError> {
        let failed = |error| write_failed(planned, error);
        let mut writer =
            IndexWriter::with_schema_location(out, Limits::PROTOCOL, self.schema_location())
                .map_err(failed)?;
        for part in members.iter().filter_map(|member| parts.get(*member)) {
            let loc =
                Loc::parse(&part.planned.address.url).map_err(|error| PublishError::Check {
                    name: planned.address.name.clone(),
                    problem: error.to_string(),
                })?;
            let mut entry = IndexEntry::new(loc);
            // A file that was written before the clock was set has a time that says nothing.
            if is_clock_set(part.record.lastmod) {
                entry = entry.with_lastmod(LastMod::from_timestamp(part.record.lastmod));
            }
            match writer.push(&entry).map_err(failed)? {
                Push::Written => {}
                Push::Full => return Err(over_limit(planned)),
            }
        }
        writer.finish().map_err(failed)
    }

    fn write_text<W: Write>(
        &self,
        planned: &PlannedFile,
        share: &Share,
        out: W,
    ) -> Result<(W, FileSummary), PublishError> {
        let failed = |error| write_failed(planned, error);
        let mut writer = TextWriter::new(out, Limits::PROTOCOL).map_err(failed)?;
        self.visit(
            share,
            &mut |listed| match writer.push(&listed.entry).map_err(failed)? {
                Push::Written => Ok(ControlFlow::Continue(())),
                Push::Full => Err(over_limit(planned)),
            },
        )?;
        writer.finish().map_err(failed)
    }

    fn write_feed<W: Write>(
        &self,
        planned: &PlannedFile,
        feed: Feed,
        out: W,
    ) -> Result<(W, FileSummary), PublishError> {
        let info = self.feed_info(planned)?;
        let limits = Limits::PROTOCOL;
        let written = match feed {
            Feed::Rss => RssWriter::new(out, limits, &info).and_then(|mut writer| {
                self.push_recent(|entry, title| writer.push(entry, title))?;
                writer.finish()
            }),
            Feed::Atom => AtomWriter::new(out, limits, &info).and_then(|mut writer| {
                self.push_recent(|entry, title| writer.push(entry, title))?;
                writer.finish()
            }),
        };
        written.map_err(|error| write_failed(planned, error))
    }

    /// Gives a feed the recent changes, newest first, as far as it has room for them.
    fn push_recent(
        &self,
        mut push: impl FnMut(&UrlEntry, Option<&str>) -> Result<Push, WriteError>,
    ) -> Result<(), WriteError> {
        for page in self.census.recent.newest_first() {
            match push(&page.entry, page.title.as_deref())? {
                Push::Written => {}
                // Of recent changes so many are enough.
                Push::Full => break,
            }
        }
        Ok(())
    }

    /// What a feed says of itself: nothing that changes while its entries do not.
    fn feed_info(&self, planned: &PlannedFile) -> Result<FeedInfo, PublishError> {
        let home = self.request.site.written().url();
        let loc = |text: &str| {
            Loc::parse(text)
                .map_err(|error| PublishError::Settings(format!("the feed of {text}: {error}")))
        };
        let newest = self.census.recent.newest().unwrap_or(self.request.now);
        Ok(FeedInfo::new(
            &format!("Recent changes of {home}"),
            loc(&home)?,
            loc(&planned.address.url)?,
            newest,
        ))
    }

    /// What these entries need to have declared, and nothing else (R70). Only where the
    /// site has extensions at all they are looked at before they are written, and no further than to
    /// the entry that shows the last of them.
    fn namespaces(&self, share: &Share) -> Result<Namespaces, PublishError> {
        let mut namespaces = Namespaces::default();
        if self.census.namespaces.is_empty() {
            return Ok(namespaces);
        }
        self.visit(share, &mut |listed| {
            declare(&mut namespaces, &listed.entry)?;
            Ok(if namespaces == self.census.namespaces {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        Ok(namespaces)
    }

    fn schema_location(&self) -> SchemaLocation {
        if self.request.config.schema_location {
            SchemaLocation::Written
        } else {
            SchemaLocation::Omitted
        }
    }

    /// Visits the listed pages of a share until `visit` has seen enough.
    fn visit(
        &self,
        share: &Share,
        visit: &mut VisitListed<'_, PublishError>,
    ) -> Result<(), PublishError> {
        let mut has_enough = false;
        let origin = self.request.site.written().origin;
        for range in &share.ranges {
            let from = UrlKey::from_normalised(&format!("{origin}{}", range.start)).ok();
            let Some(from) = from.and_then(|from| self.request.site.crawled_key(&from)) else {
                continue;
            };
            self.export
                .visit::<PublishError>(self.store, Some(&from), &mut |listed| {
                    if !range.contains(listed.written.path_and_query()) {
                        return Ok(ControlFlow::Break(()));
                    }
                    if let Of::Only(section) = share.of
                        && self.sections.of(listed.key) != section
                    {
                        return Ok(ControlFlow::Continue(()));
                    }
                    let next = visit(listed)?;
                    has_enough = next.is_break();
                    Ok(next)
                })?;
            if has_enough {
                break;
            }
        }
        Ok(())
    }

    /// Reads a written file back: well-formed, counted, within its limits and its location.
    fn check(
        &self,
        planned: &PlannedFile,
        temporary: &Temporary,
        summary: &FileSummary,
    ) -> Result<(), PublishError> {
        let problem = |problem: String| PublishError::Check {
            name: planned.address.name.clone(),
            problem,
        };
        let loc = |text: &str| Loc::parse(text).map_err(|error| problem(error.to_string()));
        let mut location = loc(&planned.address.url)?;
        let own = loc(&self.request.site.written().url())?;
        let kind = match planned.content {
            Content::UrlSet(_) | Content::News(_) => read::Kind::UrlSet,
            Content::Text(_) => read::Kind::Text,
            Content::Feed(Feed::Rss) => read::Kind::Rss,
            Content::Feed(Feed::Atom) => read::Kind::Atom,
            Content::Index(_) => read::Kind::Index,
        };
        if kind != read::Kind::Index && own.origin() != location.origin() {
            // A set that is served from another host is proven by the crawled host's robots.txt; what
            // it lists must be of the crawled directory all the same.
            location = own;
        }
        let mut expectation = read::Expectation::new(kind, &location);
        expectation.entries = Some(summary.entries);
        expectation.own_namespaces = self.census.namespaces.own();
        let file = File::open(&temporary.path).map_err(failed("read", &temporary.path))?;
        let found = read::check(BufReader::new(file), &expectation).map_err(|error| {
            let place = match &error {
                CheckError::Finding(finding) => File::open(&temporary.path)
                    .ok()
                    .and_then(|file| entry_at(BufReader::new(file), finding.position)),
                // The others name the URL, or are about the file as a whole.
                _ => None,
            };
            problem(match place {
                Some(place) => format!("{error}, {place}"),
                None => error.to_string(),
            })
        })?;
        if found == *summary {
            Ok(())
        } else {
            Err(problem(format!("expected {summary:?}, read {found:?}")))
        }
    }
}

fn write_failed(planned: &PlannedFile, error: WriteError) -> PublishError {
    match error {
        WriteError::Io(source) => PublishError::Io {
            action: "write",
            path: planned.address.name.clone().into(),
            source,
        },
        error => PublishError::Check {
            name: planned.address.name.clone(),
            problem: error.to_string(),
        },
    }
}

/// Which entry stands at this place of a file: that of a URL, or one behind it when its own cannot be read.
pub(super) fn entry_at(file: impl BufRead, position: Position) -> Option<String> {
    let mut reader = Reader::new(file, Limits::PROTOCOL);
    let mut before = None;
    while let Some(item) = reader.next() {
        match item {
            Ok(Item::Url(UrlEntry { loc, .. }) | Item::Sitemap(IndexEntry { loc, .. })) => {
                if reader.entry_position() > position {
                    break;
                }
                before = Some(format!("in the entry of {loc}"));
            }
            Err(error) => {
                let is_it =
                    matches!(&error, ReadError::Entry(finding) if finding.position >= position);
                if is_it || error.is_fatal() {
                    return before.map(|place| place.replacen("in", "behind", 1));
                }
            }
        }
    }
    before
}

fn over_limit(planned: &PlannedFile) -> PublishError {
    PublishError::Check {
        name: planned.address.name.clone(),
        problem: "the plan puts more into it than the protocol allows".to_owned(),
    }
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
