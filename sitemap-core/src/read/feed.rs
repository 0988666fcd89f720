//! [`Feed`]: the elements of an RSS or Atom feed (R45 to R47).
//!
//! Of a feed only two things of each entry count: the address it links to and the date of its last change. Everything else in it,
//! in any namespace, is skipped with its content. One bad entry never costs the others.

use quick_xml::name::{Namespace, ResolveResult};
use url::Url;

use super::{
    Item, Kind, Position, Problem, ReadError,
    date::{self, FeedDate},
    draft::{Draft, ElementText, read_lastmod},
    extension::Origins,
    progress::{Progress, quoted},
    stack::{FeedField, Meaning},
    start_tag::StartTag,
};
use crate::{LastMod, LastModError, Loc, LocError};

/// The namespaces of Atom 1.0 (RFC 4287 section 2) and Atom 0.3.
const ATOM_NAMESPACES: [&str; 2] = ["http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#"];

/// The namespaces of RSS 1.0 and 0.90; 0.91 to 2.0 have none.
const RSS_NAMESPACES: [&str; 3] = [
    "http://purl.org/rss/1.0/",
    "http://my.netscape.com/rdf/simple/0.9/",
    "http://channel.netscape.com/rdf/simple/0.9/",
];

/// The namespace of `dc:date`, the only date of RSS 1.0.
const DUBLIN_CORE_NAMESPACE: &str = "http://purl.org/dc/elements/1.1/";

/// The full name of the relation that an Atom link has if it names none (RFC 4287 section 4.2.7.2).
const ALTERNATE: &str = "http://www.iana.org/assignments/relation/alternate";

/// The rank of `<pubDate>` among the dates of an item.
const PUB_DATE_RANK: u8 = 9;

/// Vocabulary of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vocabulary {
    Feed,
    DublinCore,
    Other,
}

/// A link that an entry has, the one with the highest rank so far.
#[derive(Debug)]
struct Link {
    rank: u8,
    text: String,
    base: Option<Url>,
    position: Position,
}

/// A feed, and the current entry of it.
#[derive(Debug, Default)]
pub(super) struct Feed {
    /// URL of the file, if known.
    pub(super) location: Option<Loc>,
    kind: Option<Kind>,
    /// It is Atom 1.0; the dates of 0.3 may be as short as those of sitemaps.
    is_atom_1: bool,
    link: Option<Link>,
    /// Reason why a link with a higher rank than any before cannot be used.
    lost_link: Option<(Problem, Position)>,
    /// The best date so far, and its rank.
    date: Option<(u8, LastMod)>,
}

impl Feed {
    fn is_atom(&self) -> bool {
        self.kind == Some(Kind::Atom)
    }

    /// The root element of a feed begins. Returns the base of relative links in it.
    pub(super) fn open_root(
        &mut self,
        kind: Kind,
        tag: StartTag<'_>,
        origins: &mut Origins,
        progress: &mut Progress,
    ) -> Option<Url> {
        let namespace = origins.root.as_deref();
        if tag.name().eq_ignore_ascii_case("RDF") {
            progress.note(Problem::Rss10);
            // What else than RSS describes something in RDF has its custom namespace.
            origins.root = None;
        } else if kind == Kind::Atom {
            if !namespace.is_some_and(|namespace| ATOM_NAMESPACES.contains(&namespace)) {
                let found = namespace.map(quoted);
                progress.note(Problem::AtomNamespace { found });
            }
        } else {
            note_rss_version(tag, progress);
        }
        let location = self.location.take();
        let place = location.as_ref();
        let place = place.and_then(|place| Url::parse(place.as_str()).ok());
        *self = Self {
            location,
            kind: Some(kind),
            is_atom_1: kind == Kind::Atom && origins.root.as_deref() == Some(ATOM_NAMESPACES[0]),
            ..Self::default()
        };
        base_of(tag, place.as_ref(), progress)
    }

    /// An element begins in an element with this meaning, where `outer` is the base of relative links. Returns its own meaning, and
    /// the base in it.
    pub(super) fn open(
        &mut self,
        parent: Meaning,
        outer: Option<&Url>,
        tag: StartTag<'_>,
        origins: &Origins,
        progress: &mut Progress,
    ) -> Result<(Meaning, Option<Url>), ReadError> {
        let vocabulary = self.vocabulary(tag, origins, progress);
        let name = match vocabulary {
            Vocabulary::Feed => tag.name_in(self.kind.unwrap_or(Kind::Rss), progress),
            Vocabulary::DublinCore => tag.name(),
            Vocabulary::Other => {
                progress.extension_elements += 1;
                return Ok((Meaning::Skipped, None));
            }
        };
        let entry = if self.is_atom() { "entry" } else { "item" };
        let meaning = match parent {
            Meaning::Item => {
                let base = base_of(tag, outer, progress);
                return Ok(self.open_field(name, vocabulary, tag, base, progress));
            }
            Meaning::Feed | Meaning::Channel if vocabulary == Vocabulary::Feed && name == entry => {
                progress.count_entry()?;
                self.link = None;
                self.lost_link = None;
                self.date = None;
                Meaning::Item
            }
            Meaning::Feed if name == "channel" && !self.is_atom() => Meaning::Channel,
            // Other elements of the feed itself, and what is in a value.
            _ => return Ok((Meaning::Skipped, None)),
        };
        Ok((meaning, base_of(tag, outer, progress)))
    }

    /// An element of an entry.
    fn open_field(
        &mut self,
        name: &str,
        vocabulary: Vocabulary,
        tag: StartTag<'_>,
        base: Option<Url>,
        progress: &mut Progress,
    ) -> (Meaning, Option<Url>) {
        let field = match (name, vocabulary, self.is_atom()) {
            ("date", Vocabulary::DublinCore, _) => FeedField::Date(PUB_DATE_RANK - 1),
            (_, Vocabulary::DublinCore | Vocabulary::Other, _) => {
                return (Meaning::Skipped, None);
            }
            ("link", Vocabulary::Feed, true) => {
                self.atom_link(tag, base, progress);
                return (Meaning::Skipped, None);
            }
            ("updated", Vocabulary::Feed, true) => FeedField::Date(5),
            ("modified", Vocabulary::Feed, true) => FeedField::Date(4),
            ("issued", Vocabulary::Feed, true) => FeedField::Date(3),
            ("published", Vocabulary::Feed, true) => FeedField::Date(2),
            ("created", Vocabulary::Feed, true) => FeedField::Date(1),
            ("link", Vocabulary::Feed, false) => FeedField::Link,
            ("guid", Vocabulary::Feed, false)
                if value_of(tag, "isPermaLink", progress)
                    .is_none_or(|value| !value.trim().eq_ignore_ascii_case("false")) =>
            {
                FeedField::Guid
            }
            (name, Vocabulary::Feed, false) if name.eq_ignore_ascii_case("pubDate") => {
                FeedField::PubDate
            }
            (_, Vocabulary::Feed, _) => return (Meaning::Skipped, None),
        };
        (Meaning::Field(field), base)
    }

    /// The `<link>` of an Atom entry (RFC 4287 section 4.2.7).
    fn atom_link(&mut self, tag: StartTag<'_>, base: Option<Url>, progress: &mut Progress) {
        let relation = value_of(tag, "rel", progress);
        let media_type = value_of(tag, "type", progress);
        let is_page = media_type.is_none_or(|media_type| {
            let media_type = media_type.trim().to_ascii_lowercase();
            media_type.starts_with("text/html") || media_type.starts_with("application/xhtml+xml")
        });
        let rank = match relation.as_deref().map(str::trim) {
            None => 3,
            Some(relation)
                if relation.eq_ignore_ascii_case("alternate") || relation == ALTERNATE =>
            {
                if is_page { 2 } else { 1 }
            }
            // The feed itself, a file that is played, a page about something else.
            Some(_) => return,
        };
        if let Some(text) = value_of(tag, "href", progress) {
            self.offer_link(Link {
                rank,
                text,
                base,
                position: progress.position,
            });
        }
    }

    fn offer_link(&mut self, link: Link) {
        let best = self.link.as_ref();
        if best.is_none_or(|best| link.rank > best.rank) {
            self.link = Some(link);
        }
    }

    /// An element whose text counts ends; relative links in it have this base.
    pub(super) fn close_field(
        &mut self,
        field: FeedField,
        text: &ElementText,
        base: Option<Url>,
        progress: &mut Progress,
    ) {
        let position = text.position();
        let (name, rank) = match field {
            FeedField::Link => ("link", 2),
            FeedField::Guid => ("guid", 1),
            FeedField::PubDate => ("pubDate", PUB_DATE_RANK),
            FeedField::Date(rank) => ("date", rank),
        };
        let best = self.date.as_ref().map_or(0, |(rank, _)| *rank);
        match (field, text.value(name)) {
            (FeedField::Link | FeedField::Guid, Ok("")) | (FeedField::Guid, Err(_)) => {}
            // An identifier need not be an address, with any attribute.
            (FeedField::Guid, Ok(text)) if !is_web_address(text) => {}
            (FeedField::Link | FeedField::Guid, Ok(text)) => self.offer_link(Link {
                rank,
                text: text.to_owned(),
                base,
                position,
            }),
            (FeedField::Link, Err(problem)) => {
                self.lost_link.get_or_insert((problem, position));
            }
            (FeedField::PubDate | FeedField::Date(_), _) if rank <= best => {}
            (FeedField::PubDate | FeedField::Date(_), Err(problem)) => {
                progress.note_at(problem, position);
            }
            (FeedField::PubDate | FeedField::Date(_), Ok(text)) => {
                let mut problems = Vec::new();
                let lastmod = if field == FeedField::PubDate {
                    read_pub_date(text, &mut problems)
                } else {
                    read_feed_date(text, &mut problems)
                };
                if field != FeedField::PubDate && self.is_atom_1 {
                    judge_atom_date(text, &mut problems);
                }
                progress.note_all(problems, position);
                self.date = lastmod.map(|date| (rank, date)).or(self.date.take());
            }
        }
    }

    /// Returns whether the current entry has a link.
    pub(super) fn has_link(&self) -> bool {
        self.link.is_some()
    }

    /// The current entry ends.
    pub(super) fn close_item(
        &mut self,
        draft: &mut Draft,
        progress: &mut Progress,
    ) -> Result<Item, ReadError> {
        match (self.link.take(), self.lost_link.take()) {
            (Some(Link { rank: 1, .. }) | None, Some((problem, position))) => {
                draft.lose(problem, position);
            }
            (Some(link), _) => self.set_link(&link, draft, progress),
            (None, None) => {}
        }
        if let Some((_, lastmod)) = self.date.take() {
            draft.set_lastmod(lastmod);
        }
        draft.finish().map(Item::Url).map_err(|lost| match lost {
            (Problem::NoLoc, position) => progress.lost(Problem::NoLink, position),
            (problem, position) => progress.lost(problem, position),
        })
    }

    /// Makes a link absolute and takes it for the address of the entry.
    fn set_link(&self, link: &Link, draft: &mut Draft, progress: &mut Progress) {
        let text = link.text.trim();
        let base = link.base.as_ref().filter(|_| is_relative(text));
        let resolved = base.and_then(|base| base.join(text).ok().map(String::from));
        if let Some(resolved) = &resolved {
            let resolved = quoted(resolved);
            progress.note_at(Problem::RelativeLink { resolved }, link.position);
        }
        if !self.is_atom() && link.rank == 1 {
            progress.note_at(Problem::GuidAsLink, link.position);
        }
        if text.is_empty() && resolved.is_none() {
            return draft.lose(Problem::Loc(LocError::Empty), link.position);
        }
        let value = resolved.as_deref().unwrap_or(text);
        progress.note_all(draft.set_loc(value, link.position), link.position);
    }

    /// Vocabulary of an element, by its namespace.
    fn vocabulary(
        &self,
        tag: StartTag<'_>,
        origins: &Origins,
        progress: &mut Progress,
    ) -> Vocabulary {
        let own = if self.is_atom() {
            &ATOM_NAMESPACES[..]
        } else {
            &RSS_NAMESPACES[..]
        };
        match tag.namespace() {
            ResolveResult::Unbound => Vocabulary::Feed,
            ResolveResult::Bound(Namespace(DUBLIN_CORE_NAMESPACE)) => Vocabulary::DublinCore,
            ResolveResult::Bound(Namespace(found))
                if own.contains(&found) || origins.is_of_root(found) =>
            {
                Vocabulary::Feed
            }
            ResolveResult::Bound(_) => Vocabulary::Other,
            ResolveResult::Unknown(prefix) => {
                progress.undeclared_prefix(&prefix);
                if prefix == "dc" {
                    Vocabulary::DublinCore
                } else {
                    Vocabulary::Other
                }
            }
        }
    }
}

/// Reports a version of an `<rss>` element that the protocol does not know; it knows 2.0 (R45).
fn note_rss_version(tag: StartTag<'_>, progress: &mut Progress) {
    let version = value_of(tag, "version", progress);
    let version = version.as_deref().map(str::trim);
    if !version.is_some_and(|version| version.starts_with("2.")) {
        let found = version.map(quoted);
        progress.note(Problem::RssVersion { found });
    }
}

/// Base of relative links in an element: its `xml:base`, which may be relative to that of the elements around it
/// (<https://www.w3.org/TR/xmlbase/>).
fn base_of(tag: StartTag<'_>, outer: Option<&Url>, progress: &mut Progress) -> Option<Url> {
    let stated = value_of(tag, "xml:base", progress);
    let stated = stated.and_then(|base| match outer {
        Some(outer) => outer.join(base.trim()).ok(),
        None => Url::parse(base.trim()).ok(),
    });
    stated.or_else(|| outer.cloned())
}

/// The value of an attribute, by its name as it is in the file.
fn value_of(tag: StartTag<'_>, name: &'static str, progress: &mut Progress) -> Option<String> {
    let mut problems = Vec::new();
    let value = tag.value_of(name, &mut problems);
    progress.note_all(problems, progress.position);
    value
}

fn is_relative(text: &str) -> bool {
    Url::parse(text).err() == Some(url::ParseError::RelativeUrlWithoutBase)
}

fn is_web_address(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

/// Reports a date that can be read but that Atom 1.0 does not allow: it has to have a time, with seconds, `T` and a zone, all in
/// upper case (RFC 4287 section 3.3).
fn judge_atom_date(text: &str, problems: &mut Vec<Problem>) {
    // Here another rule covers the precision that the schema of sitemaps asks for.
    problems.retain(|problem| !matches!(problem, Problem::LastMod(LastModError::Precision)));
    let is_date_time = LastMod::parse(text).is_ok_and(|date| date.as_str().contains('T'));
    if problems.is_empty() && !is_date_time {
        problems.push(Problem::AtomDateForm);
    }
}

/// Reads a date in W3C form, or nearly so: Atom asks for upper case and a zone as sitemaps do (RFC 4287 section 3.3).
fn read_feed_date(text: &str, problems: &mut Vec<Problem>) -> Option<LastMod> {
    let upper_case = text.to_ascii_uppercase();
    // `2024-05-17 09:30:00Z` is common, and RFC 3339 section 5.6 allows it.
    read_lastmod(&upper_case.replacen(' ', "T", 1), problems)
}

/// Reads a `<pubDate>`: by RFC 822, nearly so, or in the form of Atom, which many write into RSS.
fn read_pub_date(text: &str, problems: &mut Vec<Problem>) -> Option<LastMod> {
    let (lastmod, problem) = match date::parse(text) {
        FeedDate::Rfc822(lastmod) => return Some(lastmod),
        FeedDate::Near(lastmod) => (Some(lastmod), Problem::PubDateNear),
        FeedDate::Unreadable => match read_feed_date(text, &mut Vec::new()) {
            None => (None, Problem::PubDate),
            lastmod => (lastmod, Problem::PubDateForm),
        },
    };
    problems.push(problem);
    lastmod
}
