//! The content of each file: it is hashed first, written only when it changed, and checked with our own reader before the
//! file becomes visible.

use std::io::Write;

use sitemap_core::{
    LastMod, Limits, Loc, UrlEntry,
    extension::{Extension, Namespaces},
    read::Kind,
    write::{
        AtomWriter, FeedInfo, FileSummary, Push, RssWriter, TextWriter, UrlSetOptions,
        UrlSetWriter, WriteError,
    },
};

use super::{
    PublishError, PublishRequest,
    census::Census,
    entries::{WrittenEntries, WrittenEntry},
    file::{self, BuiltFile, Checking, ContentSummary, FileContent, Hashing, pushed, write_failed},
    files::{
        Feed, FileEntries, Overview, PlannedFile, PlannedSet, SectionsOf, UrlShare, ViewEntries,
    },
    folder::Folder,
    index::{self, Index},
    overview::OverviewPages,
    place::Address,
    previous::Previous,
};
use crate::{export::MergedView, page::State, url_key::UrlKey};

/// Everything needed to build the files of one publish.
pub(super) struct Builder<'a> {
    pub(super) view: &'a MergedView<'a>,
    pub(super) request: &'a PublishRequest<'a>,
    pub(super) census: &'a Census,
    pub(super) entries: &'a WrittenEntries,
    pub(super) previous: &'a Previous,
}

/// The content of a file that is not an index.
struct Generated<'a> {
    builder: &'a Builder<'a>,
    planned: &'a PlannedFile,
    entries: &'a ViewEntries,
}

impl Builder<'_> {
    /// Builds every file: parts first (the index states when they changed), but indexes lead the list.
    pub(super) fn build(
        &self,
        planned: PlannedSet,
        folder: Option<&mut Folder>,
    ) -> Result<Vec<BuiltFile>, PublishError> {
        let custom = self.census.namespaces.custom();
        Checking::during(custom, |checking| self.build_set(planned, folder, checking))
    }

    fn build_set(
        &self,
        planned: PlannedSet,
        mut folder: Option<&mut Folder>,
        checking: &Checking,
    ) -> Result<Vec<BuiltFile>, PublishError> {
        let mut built = Vec::with_capacity(planned.files.len() + planned.indexes.len());
        for file in planned.files {
            built.push(self.build_file(file, &[], folder.as_deref_mut(), checking)?);
        }
        let mut all = Vec::with_capacity(built.capacity());
        for index in planned.indexes {
            all.push(self.build_file(index, &built, folder.as_deref_mut(), checking)?);
        }
        all.extend(built);
        Ok(all)
    }

    /// Builds one file; `parts` are those that an index may name.
    fn build_file(
        &self,
        planned: PlannedFile,
        parts: &[BuiltFile],
        folder: Option<&mut Folder>,
        checking: &Checking,
    ) -> Result<BuiltFile, PublishError> {
        let name = planned.address.name.as_str();
        self.refuse_page_at(&planned.address.url)?;
        let mut members = Vec::new();
        let build = |content: &dyn FileContent, folder| {
            file::make(self.request, self.previous, name, content, folder, checking)
        };
        let made = match &planned.content {
            FileEntries::OfView(entries) => {
                let generated = Generated {
                    builder: self,
                    planned: &planned,
                    entries,
                };
                build(&generated, folder)
            }
            FileEntries::Index(places) => {
                let named: Option<Vec<&BuiltFile>> =
                    places.iter().map(|place| parts.get(*place)).collect();
                let named = named.ok_or_else(|| PublishError::Check {
                    name: name.to_owned(),
                    problem: "the plan puts a file into it that does not belong to the set"
                        .to_owned(),
                })?;
                members.extend(named.iter().map(|member| member.address.name.clone()));
                let index = Index {
                    address: &planned.address,
                    members: named,
                    schema_location: index::schema_location(self.request),
                };
                build(&index, folder)
            }
        }?;
        Ok(BuiltFile {
            kind: planned.content.kind(),
            role: planned.role,
            address: planned.address,
            members,
            made,
        })
    }

    /// Refuses a file whose URL is that of a listed page.
    fn refuse_page_at(&self, url: &str) -> Result<(), PublishError> {
        let written = UrlKey::from_normalised(url).ok();
        let Some(key) = written.and_then(|url| self.request.site.crawled_key(&url)) else {
            return Ok(());
        };
        let page = self.view.of(&key)?;
        if page.is_some_and(|page| page.record.reason.state() == State::Listed) {
            return Err(PublishError::Settings(format!(
                "{url} is a page of the site, so a sitemap cannot have this URL; leave the page out or use the other layout"
            )));
        }
        Ok(())
    }

    /// Writes the entries of a share as a urlset: each by the line that `line_of` names, unless that is empty.
    fn write_urlset<W: Write>(
        &self,
        planned: &PlannedFile,
        share: &UrlShare,
        namespaces: Namespaces,
        out: W,
        line_of: impl Fn(WrittenEntry<'_>) -> &[u8],
    ) -> Result<(W, FileSummary), PublishError> {
        let name = &planned.address.name;
        let failed = |error| write_failed(name, error);
        let options = UrlSetOptions::new(Limits::PROTOCOL)
            .with_namespaces(namespaces)
            .with_schema_location(index::schema_location(self.request));
        let mut writer = UrlSetWriter::with_options(out, options).map_err(failed)?;
        let mut lastmod: Option<LastMod> = None;
        self.each_written(share, &mut |entry| {
            let line = line_of(entry);
            if line.is_empty() {
                return Ok(());
            }
            if lastmod.as_ref().map_or("", LastMod::as_str) != entry.lastmod {
                lastmod = LastMod::parse(entry.lastmod).ok();
            }
            pushed(name, writer.push_line(line, lastmod.as_ref()))
        })?;
        writer.finish().map_err(failed)
    }

    fn write_text<W: Write>(
        &self,
        planned: &PlannedFile,
        share: &UrlShare,
        out: W,
    ) -> Result<(W, FileSummary), PublishError> {
        let name = &planned.address.name;
        let failed = |error| write_failed(name, error);
        let mut writer = TextWriter::new(out, Limits::PROTOCOL).map_err(failed)?;
        let origin = &self.request.site.written().origin;
        self.each_written(share, &mut |entry| {
            let url = format!("{origin}{}", entry.key);
            let loc = Loc::parse(&url).map_err(|error| PublishError::Check {
                name: name.clone(),
                problem: format!("{url}: {error}"),
            })?;
            pushed(name, writer.push(&UrlEntry::new(loc)))
        })?;
        writer.finish().map_err(failed)
    }

    /// Shows the entries of a share.
    fn each_written(
        &self,
        share: &UrlShare,
        show: &mut dyn FnMut(WrittenEntry<'_>) -> Result<(), PublishError>,
    ) -> Result<(), PublishError> {
        let mut show = |entry: WrittenEntry<'_>| match share.of {
            SectionsOf::Only(section) if entry.section != section => Ok(()),
            SectionsOf::Only(_) | SectionsOf::Every => show(entry),
        };
        let mut ranges = share.ranges.iter();
        ranges.try_for_each(|range| self.entries.each(range, &mut show))
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
        written.map_err(|error| write_failed(&planned.address.name, error))
    }

    fn write_overview<W: Write>(
        &self,
        planned: &PlannedFile,
        overview: &Overview,
        out: W,
    ) -> Result<(W, FileSummary), PublishError> {
        let mut pages = OverviewPages::default();
        self.each_written(&overview.share, &mut |entry| {
            pages.add(entry);
            Ok(())
        })?;
        let site = self.request.site.written();
        let written = overview
            .form
            .write(&pages, &site.origin.to_string(), &site.url(), out);
        written.map_err(|error| write_failed(&planned.address.name, error.into()))
    }

    /// Gives a feed the recent changes, newest first, as far as it has room for them.
    fn push_recent(
        &self,
        mut push: impl FnMut(&UrlEntry, Option<&str>) -> Result<Push, WriteError>,
    ) -> Result<(), WriteError> {
        for page in self.census.recent.newest_first() {
            match push(&page.entry, page.title.as_deref())? {
                Push::Written => {}
                Push::Full => break,
            }
        }
        Ok(())
    }

    /// The head of a feed: it changes only with the entries.
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

    /// The namespaces that the entries of a share need, and no others (R70).
    fn namespaces(&self, share: &UrlShare) -> Result<Namespaces, PublishError> {
        let mut namespaces = Namespaces::default();
        if !self.census.namespaces.is_empty() {
            self.each_written(share, &mut |entry| {
                let merged = namespaces.merge(entry.namespaces);
                merged.map_err(|error| PublishError::Settings(error.to_string()))
            })?;
        }
        Ok(namespaces)
    }
}

impl Generated<'_> {
    /// Writes the entries; their SHA-256 and their counts.
    fn write_entries(&self, out: impl Write) -> Result<ContentSummary, PublishError> {
        let (builder, planned) = (self.builder, self.planned);
        let out = Hashing::new(out);
        let (out, summary) = match self.entries {
            ViewEntries::UrlSet(share) => {
                let namespaces = builder.namespaces(share)?;
                builder.write_urlset(planned, share, namespaces, out, |entry| entry.line)?
            }
            ViewEntries::News(share) => {
                let namespaces = Namespaces::default().with(Extension::News);
                builder.write_urlset(planned, share, namespaces, out, |entry| entry.news)?
            }
            ViewEntries::Text(share) => builder.write_text(planned, share, out)?,
            ViewEntries::Feed(feed) => builder.write_feed(planned, *feed, out)?,
            ViewEntries::Overview(overview) => builder.write_overview(planned, overview, out)?,
        };
        Ok((out.finish(), summary))
    }
}

impl FileContent for Generated<'_> {
    fn write(&self, out: &mut dyn Write) -> Result<ContentSummary, PublishError> {
        self.write_entries(out)
    }

    fn expected(&self) -> Result<Option<(Kind, Loc)>, PublishError> {
        let Address { name, url } = &self.planned.address;
        let mut location = index::location(name, url)?;
        let own = index::location(name, &self.builder.request.site.written().url())?;
        if own.origin() != location.origin() {
            // A set that is served from another host is proven by the crawled host's robots.txt; what
            // it lists must be of the crawled directory all the same.
            location = own;
        }
        let kind = match self.entries {
            ViewEntries::UrlSet(_) | ViewEntries::News(_) => Kind::UrlSet,
            ViewEntries::Text(_) => Kind::Text,
            ViewEntries::Feed(Feed::Rss) => Kind::Rss,
            ViewEntries::Feed(Feed::Atom) => Kind::Atom,
            ViewEntries::Overview(_) => return Ok(None),
        };
        Ok(Some((kind, location)))
    }
}
