//! The content of each file: it is hashed first, written only when it changed, and checked with our own reader before the
//! file becomes visible.

use std::{io::Write, ops::ControlFlow};

use sitemap_core::{
    LastMod, Limits, Loc, UrlEntry,
    extension::{Extension, Namespaces},
    read,
    write::{
        AtomWriter, FeedInfo, FileSummary, Push, RssWriter, TextWriter, UrlSetOptions,
        UrlSetWriter, WriteError,
    },
};

use super::{
    PublishError, PublishRequest,
    census::Census,
    entries::{WrittenEntries, WrittenEntry},
    file::{
        self, BuiltFile, ContentSummary, FileContent, Hashing, check_written, over_limit,
        write_failed,
    },
    files::{Feed, FileEntries, PlannedFile, PlannedSet, SectionsOf, UrlShare, ViewEntries},
    folder::{Folder, Temporary},
    index::{self, Index},
    place::Address,
    previous::Previous,
    sections::Sections,
};
use crate::{
    export::{Export, MergedView, VisitListed},
    page::State,
    url_key::UrlKey,
};

/// Everything needed to build the files of one publish.
pub(super) struct Builder<'a> {
    pub(super) view: &'a MergedView<'a>,
    pub(super) export: &'a Export,
    pub(super) request: &'a PublishRequest<'a>,
    pub(super) census: &'a Census,
    pub(super) entries: &'a WrittenEntries,
    pub(super) sections: &'a Sections,
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

    /// Builds one file; `parts` are those that an index may name.
    fn build_file(
        &self,
        planned: PlannedFile,
        parts: &[BuiltFile],
        folder: Option<&mut Folder>,
    ) -> Result<BuiltFile, PublishError> {
        let name = planned.address.name.as_str();
        self.refuse_page_at(&planned.address.url)?;
        let mut members = Vec::new();
        let build = |content: &dyn FileContent, folder| {
            file::make(self.request, self.previous, name, content, folder)
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

    /// Writes the entries of a share.
    fn write_urlset<W: Write>(
        &self,
        planned: &PlannedFile,
        share: &UrlShare,
        out: W,
    ) -> Result<(W, FileSummary), PublishError> {
        let failed = |error| write_failed(&planned.address.name, error);
        let mut writer = self.open_urlset(planned, self.namespaces(share)?, out)?;
        let mut lastmod: Option<LastMod> = None;
        self.each_written(share, &mut |entry| {
            if lastmod.as_ref().map_or("", LastMod::as_str) != entry.lastmod {
                lastmod = LastMod::parse(entry.lastmod).ok();
            }
            match writer
                .push_line(entry.line, lastmod.as_ref())
                .map_err(failed)?
            {
                Push::Written => Ok(()),
                Push::Full => Err(over_limit(&planned.address.name)),
            }
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

    /// Writes the articles of a share.
    fn write_news<W: Write>(
        &self,
        planned: &PlannedFile,
        share: &UrlShare,
        out: W,
    ) -> Result<(W, FileSummary), PublishError> {
        let failed = |error| write_failed(&planned.address.name, error);
        let namespaces = Namespaces::default().with(Extension::News);
        let mut writer = self.open_urlset(planned, namespaces, out)?;
        self.visit(share, &mut |listed| {
            let Some(entry) = listed.news_entry() else {
                return Ok(ControlFlow::Continue(()));
            };
            match writer.push(&entry).map_err(failed)? {
                Push::Written => Ok(ControlFlow::Continue(())),
                Push::Full => Err(over_limit(&planned.address.name)),
            }
        })?;
        writer.finish().map_err(failed)
    }

    fn open_urlset<W: Write>(
        &self,
        planned: &PlannedFile,
        namespaces: Namespaces,
        out: W,
    ) -> Result<UrlSetWriter<W>, PublishError> {
        let options = UrlSetOptions::new(Limits::PROTOCOL)
            .with_namespaces(namespaces)
            .with_schema_location(index::schema_location(self.request));
        UrlSetWriter::with_options(out, options)
            .map_err(|error| write_failed(&planned.address.name, error))
    }

    fn write_text<W: Write>(
        &self,
        planned: &PlannedFile,
        share: &UrlShare,
        out: W,
    ) -> Result<(W, FileSummary), PublishError> {
        let failed = |error| write_failed(&planned.address.name, error);
        let mut writer = TextWriter::new(out, Limits::PROTOCOL).map_err(failed)?;
        self.visit(
            share,
            &mut |listed| match writer.push(&listed.entry).map_err(failed)? {
                Push::Written => Ok(ControlFlow::Continue(())),
                Push::Full => Err(over_limit(&planned.address.name)),
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
        written.map_err(|error| write_failed(&planned.address.name, error))
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

    /// Visits the listed pages of a share until `visit` has seen enough.
    fn visit(
        &self,
        share: &UrlShare,
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
                .visit::<PublishError>(self.view, Some(&from), &mut |listed| {
                    if !range.contains(listed.written.path_and_query()) {
                        return Ok(ControlFlow::Break(()));
                    }
                    if let SectionsOf::Only(section) = share.of
                        && self.sections.of(&listed.key) != section
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
}

impl Generated<'_> {
    /// Writes the entries; their SHA-256 and their counts.
    fn write_entries(&self, out: impl Write) -> Result<ContentSummary, PublishError> {
        let (builder, planned) = (self.builder, self.planned);
        let out = Hashing::new(out);
        let (out, summary) = match self.entries {
            ViewEntries::UrlSet(share) => builder.write_urlset(planned, share, out)?,
            ViewEntries::News(share) => builder.write_news(planned, share, out)?,
            ViewEntries::Text(share) => builder.write_text(planned, share, out)?,
            ViewEntries::Feed(feed) => builder.write_feed(planned, *feed, out)?,
        };
        Ok((out.finish(), summary))
    }
}

impl FileContent for Generated<'_> {
    fn write(&self, out: &mut dyn Write) -> Result<ContentSummary, PublishError> {
        self.write_entries(out)
    }

    fn check(&self, temporary: &Temporary, summary: &FileSummary) -> Result<(), PublishError> {
        let Address { name, url } = &self.planned.address;
        let mut location = index::location(name, url)?;
        let own = index::location(name, &self.builder.request.site.written().url())?;
        if own.origin() != location.origin() {
            // A set that is served from another host is proven by the crawled host's robots.txt; what
            // it lists must be of the crawled directory all the same.
            location = own;
        }
        let kind = match self.entries {
            ViewEntries::UrlSet(_) | ViewEntries::News(_) => read::Kind::UrlSet,
            ViewEntries::Text(_) => read::Kind::Text,
            ViewEntries::Feed(Feed::Rss) => read::Kind::Rss,
            ViewEntries::Feed(Feed::Atom) => read::Kind::Atom,
        };
        let mut expectation = read::Expectation::new(kind, &location);
        expectation.entries = Some(summary.entries);
        expectation.custom_namespaces = self.builder.census.namespaces.custom();
        check_written(name, &expectation, temporary, summary)
    }
}
