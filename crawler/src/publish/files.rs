//! The files of the new set, their names, and the index that names each of them.
//!
//! | format | files |
//! | --- | --- |
//! | XML | one urlset per part of the plan, e.g. `sitemap.blog.xml.gz` |
//! | text | the same parts as URLs alone, e.g. `sitemap.blog.txt.gz` |
//! | RSS, Atom | one feed of recent changes each: `sitemap-recent.rss`, `sitemap-recent.atom` |
//! | HTML, llms | all pages with titles, for people: see `overview`; no index names them |
//!
//! The index names the XML parts, or the text parts when there is no XML: naming the same URLs twice
//! would be of no use. It names the feeds too (sitemaps.org protocol, rule R40).

use std::{num::NonZeroUsize, ops::Range};

use serde::{Deserialize, Serialize};
use sitemap_core::{
    limits::{MAX_BYTES, MAX_FRAME_BYTES},
    partition::{KeyRange, Suffix, numbered_name},
};

use super::{
    PublishError, PublishRequest,
    census::Census,
    overview::{LLMS, OverviewForm},
    place::{Address, Place},
};
use crate::config::{Format, IndexMode, PublishConfig};

/// Begins the names of feeds.
const FEED_STEM: &str = "sitemap-recent";

/// The first page for visitors.
const HTML: &str = "sitemap.html";

/// The feeds with the ends of their names.
const FEEDS: [(Format, &str, Feed); 2] = [
    (Format::Rss, ".rss", Feed::Rss),
    (Format::Atom, ".atom", Feed::Atom),
];

/// A file of the new set, before its content is known.
#[derive(Debug, Clone)]
pub(super) struct PlannedFile {
    /// Path relative to the output, and URL.
    pub(super) address: Address,
    /// The content.
    pub(super) content: FileEntries,
    /// How readers find it.
    pub(super) role: Role,
}

/// The content of a file.
#[derive(Debug, Clone)]
pub(super) enum FileEntries {
    /// The data of the view.
    OfView(ViewEntries),
    /// The files, as places in [`PlannedSet::files`].
    Index(Vec<usize>),
}

/// The entries of a file that is not an index.
#[derive(Debug, Clone)]
pub(super) enum ViewEntries {
    /// Listed URLs with all their values.
    UrlSet(UrlShare),
    /// The articles among listed URLs, as news.
    News(UrlShare),
    /// Listed URLs alone.
    Text(UrlShare),
    /// Recent changes.
    Feed(Feed),
    /// Listed URLs with titles, for people.
    Overview(Overview),
}

/// The kind of [`FileEntries`], whatever the name of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FileKind {
    /// Listed URLs with all their values.
    UrlSet,
    /// The articles among listed URLs, as news.
    News,
    /// Listed URLs alone.
    Text,
    /// Recent changes.
    Feed,
    /// Listed URLs with titles, for people.
    Overview,
    /// Other files.
    Index,
}

/// A file with pages for people.
#[derive(Debug, Clone)]
pub(super) struct Overview {
    pub(super) share: UrlShare,
    pub(super) form: OverviewForm,
}

/// The listed URLs of a file.
#[derive(Debug, Clone)]
pub(super) struct UrlShare {
    /// The range of their keys.
    pub(super) ranges: Vec<KeyRange>,
    /// The section of the keys.
    pub(super) of: SectionsOf,
}

/// The sections of a [`UrlShare`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionsOf {
    /// All sections, and URLs of none.
    Every,
    /// The section with this number, or none.
    Only(Option<usize>),
}

/// The format of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feed {
    /// RSS 2.0.
    Rss,
    /// Atom 1.0.
    Atom,
}

/// How readers find a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Through an index; text parts beside XML parts through no file.
    Part,
    /// Through a line of robots.txt, beside that of the index.
    Beside,
    /// Through a line of robots.txt: an index, or the only file. It becomes visible after all others.
    Entrance,
}

/// All files of the new set.
#[derive(Debug)]
pub(super) struct PlannedSet {
    /// Everything but the indexes: parts in the order of the plan, then the feeds.
    pub(super) files: Vec<PlannedFile>,
    /// The indexes; none when one file is enough.
    pub(super) indexes: Vec<PlannedFile>,
}

impl FileEntries {
    pub(super) fn kind(&self) -> FileKind {
        match self {
            Self::OfView(ViewEntries::UrlSet(_)) => FileKind::UrlSet,
            Self::OfView(ViewEntries::News(_)) => FileKind::News,
            Self::OfView(ViewEntries::Text(_)) => FileKind::Text,
            Self::OfView(ViewEntries::Feed(_)) => FileKind::Feed,
            Self::OfView(ViewEntries::Overview(_)) => FileKind::Overview,
            Self::Index(_) => FileKind::Index,
        }
    }
}

impl UrlShare {
    /// All URLs from `start` up to `end`.
    fn of_all(start: &str, end: String) -> Self {
        Self {
            ranges: vec![KeyRange {
                start: start.to_owned(),
                end,
            }],
            of: SectionsOf::Every,
        }
    }
}

impl Role {
    /// Returns whether robots.txt has to name the file.
    pub(super) fn is_for_robots_txt(self) -> bool {
        match self {
            Self::Beside | Self::Entrance => true,
            Self::Part => false,
        }
    }
}

impl PlannedSet {
    /// Plans the files for what was counted.
    ///
    /// # Errors
    /// Settings that cannot be satisfied: where the output is served, or formats that cannot be the only ones.
    pub(super) fn new(request: &PublishRequest<'_>, census: &Census) -> Result<Self, PublishError> {
        let config = request.config;
        let place = Place::of(request)?;
        let forms: Vec<Form> = [Form::Xml, Form::Text]
            .into_iter()
            .filter(|form| config.formats.contains(&form.format()))
            .collect();
        let Some(&main) = forms.first() else {
            return Err(PublishError::Settings(
                "format: expected \"xml\" or \"txt\" among the formats: a feed lists recent changes only (sitemaps.org, \
                 other sitemap formats)"
                    .to_owned(),
            ));
        };
        let is_one_file = match config.index {
            IndexMode::Auto => {
                let has_sections = census
                    .plan
                    .parts()
                    .iter()
                    .any(|part| part.section().is_some());
                fits_one_file(config, census.listed, census.bytes)
                    && census.news.is_empty()
                    && !has_sections
            }
            IndexMode::Always => false,
        };
        let feeds = feeds(request, census, &place, is_one_file);
        if is_one_file {
            let mut files: Vec<_> = forms
                .iter()
                .map(|form| only(&place, census, *form, main, &config.index_name))
                .collect();
            files.extend(feeds);
            files.extend(overviews(config, census, &place));
            return Ok(Self {
                files,
                indexes: Vec::new(),
            });
        }
        let plan = &census.plan;
        let mut files = Vec::with_capacity(plan.parts().len() * forms.len() + feeds.len());
        // Places of the files that the index names.
        let mut named = Vec::with_capacity(plan.parts().len());
        for part in plan.parts() {
            named.push(files.len());
            files.extend(forms.iter().map(|form| PlannedFile {
                address: place.of_part(part, plan.base(), form.suffix(config.gzip)),
                content: form.content(UrlShare {
                    ranges: part.ranges().to_vec(),
                    of: SectionsOf::Only(part.section()),
                }),
                role: Role::Part,
            }));
        }
        let first_other = files.len();
        if forms.contains(&Form::Xml) {
            files.extend(news(&place, census, Form::Xml.suffix(config.gzip)));
        }
        files.extend(feeds);
        let members = index_members(request, census, &named, first_other..files.len())?;
        files.extend(overviews(config, census, &place));
        let indexes = members
            .into_iter()
            .enumerate()
            .map(|(number, members)| PlannedFile {
                address: place.in_root(&numbered_name(&config.index_name, number)),
                content: FileEntries::Index(members),
                role: Role::Entrance,
            });
        Ok(Self {
            indexes: indexes.collect(),
            files,
        })
    }
}

/// The names that the root of the output has in every set of these settings, whatever is listed.
pub(super) fn certain_names(config: &PublishConfig) -> Vec<String> {
    let has_index = config.index == IndexMode::Always || config.formats.contains(&Format::Xml);
    let feeds = FEEDS
        .iter()
        .filter(|(format, _, _)| config.formats.contains(format));
    let feeds = feeds.map(|(_, suffix, _)| format!("{FEED_STEM}{suffix}"));
    let overviews = [(Format::Html, HTML), (Format::Llms, LLMS)];
    let overviews = overviews
        .iter()
        .filter(|(format, _)| config.formats.contains(format));
    has_index
        .then(|| config.index_name.clone())
        .into_iter()
        .chain(feeds)
        .chain(overviews.map(|(_, name)| (*name).to_owned()))
        .collect()
}

/// Returns whether one file has room for all entries, its head and its end.
fn fits_one_file(config: &PublishConfig, entries: u64, bytes: u64) -> bool {
    let room = MAX_BYTES - MAX_FRAME_BYTES;
    entries <= config.file_entries && bytes <= config.file_bytes.min(room)
}

/// The files of news: `sitemap-news.xml.gz`, `sitemap-news-2.xml.gz`, ... No part has such a name: after
/// `sitemap` a part has a dot, or `-root`. Google reads at most 1,000 articles in each.
fn news<'a>(
    place: &'a Place,
    census: &'a Census,
    suffix: Suffix,
) -> impl Iterator<Item = PlannedFile> + 'a {
    let shares = shares_from(&census.news, census).enumerate();
    shares.map(move |(place_of_file, share)| {
        let number = number_in_name(place_of_file);
        PlannedFile {
            address: place.in_root(&format!("sitemap-news{number}{}", suffix.as_str())),
            content: FileEntries::OfView(ViewEntries::News(share)),
            role: Role::Part,
        }
    })
}

/// The shares of files that begin with these keys, the last of them up to the end of the site.
fn shares_from<'a>(
    starts: &'a [String],
    census: &'a Census,
) -> impl Iterator<Item = UrlShare> + 'a {
    let ends = starts.iter().skip(1).cloned().chain([end_of(census)]);
    let ranges = starts.iter().zip(ends);
    ranges.map(|(start, end)| UrlShare::of_all(start, end))
}

/// The number in the name of a file of several: the first has none, the second `-2`.
fn number_in_name(place: usize) -> String {
    match place {
        0 => String::new(),
        place => format!("-{}", place + 1),
    }
}

/// The first text after everything that begins with the base: its last byte is a slash.
fn end_of(census: &Census) -> String {
    format!("{}0", census.plan.base().trim_end_matches('/'))
}

/// How the URLs of a part are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Xml,
    Text,
}

impl Form {
    fn format(self) -> Format {
        match self {
            Self::Xml => Format::Xml,
            Self::Text => Format::Text,
        }
    }

    fn suffix(self, gzip: bool) -> Suffix {
        match (self, gzip) {
            (Self::Xml, true) => Suffix::XmlGz,
            (Self::Xml, false) => Suffix::Xml,
            (Self::Text, true) => Suffix::TxtGz,
            (Self::Text, false) => Suffix::Txt,
        }
    }

    fn content(self, share: UrlShare) -> FileEntries {
        FileEntries::OfView(match self {
            Self::Xml => ViewEntries::UrlSet(share),
            Self::Text => ViewEntries::Text(share),
        })
    }
}

/// The whole site as one file, which robots.txt names, so it is plain.
fn only(place: &Place, census: &Census, form: Form, main: Form, index_name: &str) -> PlannedFile {
    let name = match (form, index_name.strip_suffix(".xml")) {
        (Form::Text, Some(stem)) => format!("{stem}{}", form.suffix(false).as_str()),
        (Form::Text | Form::Xml, _) => index_name.to_owned(),
    };
    let everything = UrlShare::of_all(census.plan.base(), end_of(census));
    PlannedFile {
        address: place.in_root(&name),
        content: form.content(everything),
        role: if form == main {
            Role::Entrance
        } else {
            Role::Part
        },
    }
}

/// The feeds that the settings ask for. They are in the root, where they may list every URL, and are not compressed: feed
/// readers negotiate compression with the server.
fn feeds(
    request: &PublishRequest<'_>,
    census: &Census,
    place: &Place,
    is_one_file: bool,
) -> Vec<PlannedFile> {
    let wanted = FEEDS.into_iter().filter(|(format, _, _)| {
        request.config.formats.contains(format) && !census.recent.is_empty()
    });
    wanted
        .map(|(_, suffix, feed)| PlannedFile {
            address: place.in_root(&format!("{FEED_STEM}{suffix}")),
            content: FileEntries::OfView(ViewEntries::Feed(feed)),
            role: if is_one_file {
                Role::Beside
            } else {
                Role::Part
            },
        })
        .collect()
}

/// The files for people that the settings ask for, in the root of the output: `sitemap.html`, `sitemap-2.html`, ..., and `llms.txt`.
fn overviews(config: &PublishConfig, census: &Census, place: &Place) -> Vec<PlannedFile> {
    let shares: Vec<UrlShare> = shares_from(&census.overviews, census).collect();
    let names: Vec<String> = (0..shares.len())
        .map(|place| format!("sitemap{}.html", number_in_name(place)))
        .collect();
    let planned = |name: &str, share: &UrlShare, form| PlannedFile {
        address: place.in_root(name),
        content: FileEntries::OfView(ViewEntries::Overview(Overview {
            share: share.clone(),
            form,
        })),
        role: Role::Part,
    };
    let mut files = Vec::new();
    if config.formats.contains(&Format::Html) {
        let all = names.iter().zip(&shares).enumerate();
        files.extend(all.map(|(number, (name, share))| {
            let names = names.clone();
            planned(name, share, OverviewForm::Html { number, names })
        }));
    }
    let has_llms = config.formats.contains(&Format::Llms);
    let first = shares.first().filter(|_| has_llms);
    files.extend(first.map(|share| {
        let sitemap = place.in_root(&config.index_name).url;
        planned(LLMS, share, OverviewForm::Llms { sitemap })
    }));
    files
}

/// The files that each index names: the parts as the plan divides them, news and feeds in the last index that has room.
fn index_members(
    request: &PublishRequest<'_>,
    census: &Census,
    named: &[usize],
    others: Range<usize>,
) -> Result<Vec<Vec<usize>>, PublishError> {
    let most = usize::try_from(request.config.index_entries)
        .ok()
        .and_then(NonZeroUsize::new)
        .ok_or_else(|| PublishError::Settings("index_entries: expected at least 1".to_owned()))?;
    let divided = census.plan.indexes(most);
    let mut indexes: Vec<Vec<usize>> = divided
        .into_iter()
        .map(|index| named.get(index.parts).unwrap_or_default().to_vec())
        .collect();
    for other in others {
        match indexes.last_mut() {
            Some(last) if last.len() < most.get() => last.push(other),
            Some(_) | None => indexes.push(vec![other]),
        }
    }
    Ok(indexes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_has_room_for_head_and_end() {
        let check = |file_bytes: u64, entries: u64, bytes: u64, expected: bool| {
            let config = PublishConfig {
                file_bytes,
                ..PublishConfig::default()
            };
            let fits = fits_one_file(&config, entries, bytes);
            assert_eq!(fits, expected, "{file_bytes} {entries} {bytes}");
        };
        check(10_000_000, 10_000, 10_000_000, true);
        check(10_000_000, 10_001, 1, false);
        check(10_000_000, 1, 10_000_001, false);
        check(MAX_BYTES, 1, MAX_BYTES - MAX_FRAME_BYTES, true);
        check(MAX_BYTES, 1, MAX_BYTES - MAX_FRAME_BYTES + 1, false);
    }
}
