//! [`Feed`]: handling of the events of the XML parser in an RSS or Atom feed (R45 to R47).
//!
//! Of a feed only two things of each entry count: the address it links to and the date of its last change. Everything else in it,
//! in any namespace, is skipped with its content. The rest is as in [`Document`]: one bad entry never costs the others.

use quick_xml::{
    events::BytesStart,
    name::{Namespace, NamespaceResolver, ResolveResult},
};
use url::Url;

use super::{
    Item, Position, Problem, ReadError,
    date::{self, FeedDate},
    document::{Document, MAX_ATTRIBUTES, Place, quoted},
    draft::{Draft, read_lastmod},
    extension::{attribute_value, beginning_of},
};
use crate::{LastMod, LastModError, LocError};

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

/// Place of the parser in a feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Level {
    #[default]
    Root,
    /// In the `<channel>` of RSS.
    Channel,
    /// In an `<item>` or `<entry>`.
    Entry,
    /// In an element of an entry whose text counts.
    Value(FeedField),
}

/// An element of an entry whose text counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FeedField {
    /// The `<link>` of RSS.
    Link,
    /// The `<guid>` of RSS.
    Guid,
    /// The `<pubDate>` of RSS.
    PubDate,
    /// A date in W3C form, with its rank.
    Date(u8),
}

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

/// State of the feed and of the current entry.
#[derive(Debug, Default)]
pub(super) struct Feed {
    is_atom: bool,
    /// The namespace of the root element, whose elements count as the feed's even when it is a wrong one.
    namespace: Option<String>,
    level: Level,
    /// True when a `<channel>` is open.
    has_channel: bool,
    /// Bases of relative links in the root element, the channel, the entry and the value.
    bases: [Option<Url>; 4],
    link: Option<Link>,
    /// Reason why a link with a higher rank than any before cannot be used.
    lost_link: Option<(Problem, Position)>,
    /// The rank of the date that was taken, 0 if there is none.
    date_rank: u8,
}

impl Feed {
    pub(super) fn is_in_value(&self) -> bool {
        matches!(self.level, Level::Value(_))
    }

    /// Returns whether it is Atom 1.0; the dates of 0.3 may be as short as those of sitemaps.
    fn is_atom_1(&self) -> bool {
        self.is_atom && self.namespace.as_deref() == Some(ATOM_NAMESPACES[0])
    }

    /// Sets the base of a level and of all within.
    fn set_base(&mut self, level: usize, base: Option<Url>) {
        self.bases[level..].fill(base);
    }
}

impl Document {
    /// The root element of a feed.
    pub(super) fn open_feed(&mut self, start: &BytesStart<'_>, namespace: Option<String>) {
        let is_rdf = start.local_name().into_inner().eq_ignore_ascii_case("RDF");
        let is_atom = start.local_name().into_inner().eq_ignore_ascii_case("feed");
        if is_rdf {
            self.note(Problem::Rss10);
        } else if !is_atom {
            self.rss_version(start);
        }
        if is_atom && !namespace.as_deref().is_some_and(is_atom_namespace) {
            let found = namespace.as_deref().map(quoted);
            self.note(Problem::AtomNamespace { found });
        }
        self.feed = Feed {
            is_atom,
            // What else than RSS describes something in RDF has its custom namespace.
            namespace: namespace.filter(|_| !is_rdf),
            ..Feed::default()
        };
        let place = self.location.as_ref();
        let place = place.and_then(|place| Url::parse(place.as_str()).ok());
        let base = self.base_of(start, place.as_ref());
        self.feed.set_base(0, base);
    }

    /// The version that an `<rss>` element has to state, of which the protocol knows 2.0 (R45).
    fn rss_version(&mut self, start: &BytesStart<'_>) {
        let version = self.attribute(start, "version");
        let version = version.as_deref().map(str::trim);
        if !version.is_some_and(|version| version.starts_with("2.")) {
            let found = version.map(quoted);
            self.note(Problem::RssVersion { found });
        }
    }

    pub(super) fn open_in_feed(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<(), ReadError> {
        let vocabulary = self.vocabulary(start, namespaces);
        if vocabulary == Vocabulary::Other {
            self.extension_elements += 1;
            return self.skip();
        }
        let name = match vocabulary {
            Vocabulary::Feed => self.name_of(start),
            Vocabulary::DublinCore | Vocabulary::Other => start.local_name().into_inner(),
        };
        let is_entry = vocabulary == Vocabulary::Feed
            && name == if self.feed.is_atom { "entry" } else { "item" };
        match self.feed.level {
            Level::Root | Level::Channel if is_entry => {
                self.count_entry()?;
                self.draft = Draft::new(self.token_position);
                self.feed.link = None;
                self.feed.lost_link = None;
                self.feed.date_rank = 0;
                let outer = usize::from(self.feed.level == Level::Channel);
                let outer = self.feed.bases[outer].clone();
                let base = self.base_of(start, outer.as_ref());
                self.feed.set_base(2, base);
                self.feed.level = Level::Entry;
                Ok(())
            }
            Level::Root if name == "channel" && !self.feed.is_atom => {
                let outer = self.feed.bases[0].clone();
                let base = self.base_of(start, outer.as_ref());
                self.feed.set_base(1, base);
                self.feed.has_channel = true;
                self.feed.level = Level::Channel;
                Ok(())
            }
            Level::Entry => self.open_feed_field(start, name, vocabulary),
            Level::Root | Level::Channel | Level::Value(_) => self.skip(),
        }
    }

    /// An element of an entry.
    fn open_feed_field(
        &mut self,
        start: &BytesStart<'_>,
        name: &str,
        vocabulary: Vocabulary,
    ) -> Result<(), ReadError> {
        let outer = self.feed.bases[2].clone();
        let base = self.base_of(start, outer.as_ref());
        let field = match (name, vocabulary) {
            ("date", Vocabulary::DublinCore) => FeedField::Date(PUB_DATE_RANK - 1),
            ("link", Vocabulary::Feed) if self.feed.is_atom => {
                self.atom_link(start, base);
                return self.skip();
            }
            (_, Vocabulary::Feed) if self.feed.is_atom => match name {
                "updated" => FeedField::Date(5),
                "modified" => FeedField::Date(4),
                "issued" => FeedField::Date(3),
                "published" => FeedField::Date(2),
                "created" => FeedField::Date(1),
                _ => return self.skip(),
            },
            ("link", Vocabulary::Feed) => FeedField::Link,
            ("guid", Vocabulary::Feed) => {
                let is_permalink = self.attribute(start, "isPermaLink");
                if is_permalink.is_some_and(|value| value.trim().eq_ignore_ascii_case("false")) {
                    return self.skip();
                }
                FeedField::Guid
            }
            (_, Vocabulary::Feed) if name.eq_ignore_ascii_case("pubDate") => FeedField::PubDate,
            (_, Vocabulary::Feed | Vocabulary::DublinCore | Vocabulary::Other) => {
                return self.skip();
            }
        };
        self.feed.bases[3] = base;
        self.text.begin(self.token_position);
        self.feed.level = Level::Value(field);
        Ok(())
    }

    /// The `<link>` of an Atom entry (RFC 4287 section 4.2.7).
    fn atom_link(&mut self, start: &BytesStart<'_>, base: Option<Url>) {
        let relation = self.attribute(start, "rel");
        let media_type = self.attribute(start, "type");
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
        if let Some(text) = self.attribute(start, "href") {
            self.offer_link(Link {
                rank,
                text,
                base,
                position: self.token_position,
            });
        }
    }

    fn offer_link(&mut self, link: Link) {
        if self
            .feed
            .link
            .as_ref()
            .is_none_or(|best| link.rank > best.rank)
        {
            self.feed.link = Some(link);
        }
    }

    pub(super) fn text_in_feed(&mut self, text: &str) {
        if self.feed.is_in_value() {
            self.text.push(text);
        }
    }

    pub(super) fn close_in_feed(&mut self) -> Result<Option<Item>, ReadError> {
        match self.feed.level {
            Level::Value(field) => {
                self.feed.level = Level::Entry;
                self.set_field(field);
                Ok(None)
            }
            Level::Entry => self.finish_feed_entry().map(Some),
            Level::Channel => {
                self.feed.has_channel = false;
                self.feed.level = Level::Root;
                Ok(None)
            }
            Level::Root => {
                self.place = Place::Epilog;
                Ok(None)
            }
        }
    }

    /// Takes the text of an element in.
    fn set_field(&mut self, field: FeedField) {
        let position = self.text.position();
        let (name, rank) = match field {
            FeedField::Link => ("link", 2),
            FeedField::Guid => ("guid", 1),
            FeedField::PubDate => ("pubDate", PUB_DATE_RANK),
            FeedField::Date(rank) => ("date", rank),
        };
        let value = self.text.usable(name).map(|text| text.trim().to_owned());
        match (field, value) {
            (FeedField::Link | FeedField::Guid, Ok(text)) if text.is_empty() => {}
            // An identifier need not be an address, with any attribute.
            (FeedField::Guid, Ok(text)) if !is_web_address(&text) => {}
            (FeedField::Link | FeedField::Guid, Ok(text)) => {
                let base = self.feed.bases[3].take();
                self.offer_link(Link {
                    rank,
                    text,
                    base,
                    position,
                });
            }
            (FeedField::Link, Err(problem)) => {
                self.feed.lost_link.get_or_insert((problem, position));
            }
            (FeedField::Guid, Err(_)) => {}
            (FeedField::PubDate | FeedField::Date(_), _) if rank <= self.feed.date_rank => {}
            (FeedField::PubDate | FeedField::Date(_), Err(problem)) => {
                self.note_at(problem, position);
            }
            (FeedField::PubDate, Ok(text)) => self.set_pub_date(&text, position),
            (FeedField::Date(_), Ok(text)) => {
                let mut problems = Vec::new();
                let lastmod = read_feed_date(&text, &mut problems);
                if self.feed.is_atom_1() {
                    judge_atom_date(&text, &mut problems);
                }
                for problem in problems {
                    self.note_at(problem, position);
                }
                self.set_date(lastmod, rank);
            }
        }
    }

    fn set_pub_date(&mut self, text: &str, position: Position) {
        let lastmod = match date::parse(text) {
            FeedDate::Rfc822(lastmod) => Some(lastmod),
            FeedDate::Near(lastmod) => {
                self.note_at(Problem::PubDateNear, position);
                Some(lastmod)
            }
            FeedDate::Unreadable => {
                // Many write the date of Atom into RSS.
                let lastmod = read_feed_date(text, &mut Vec::new());
                self.note_at(
                    if lastmod.is_some() {
                        Problem::PubDateForm
                    } else {
                        Problem::PubDate
                    },
                    position,
                );
                lastmod
            }
        };
        self.set_date(lastmod, PUB_DATE_RANK);
    }

    fn set_date(&mut self, lastmod: Option<LastMod>, rank: u8) {
        if let Some(lastmod) = lastmod {
            self.draft.set_lastmod(lastmod);
            self.feed.date_rank = rank;
        }
    }

    fn finish_feed_entry(&mut self) -> Result<Item, ReadError> {
        self.feed.level = if self.feed.has_channel {
            Level::Channel
        } else {
            Level::Root
        };
        let link = self.feed.link.take();
        let lost = self.feed.lost_link.take();
        match (link, lost) {
            (Some(Link { rank: 1, .. }) | None, Some((problem, position))) => {
                self.draft.lose(problem, position);
            }
            (Some(link), _) => self.set_link(&link),
            (None, None) => {}
        }
        match self.draft.finish() {
            Ok(entry) => Ok(Item::Url(entry)),
            Err((Problem::NoLoc, position)) => {
                Err(ReadError::Entry(self.finding(Problem::NoLink, position)))
            }
            Err((problem, position)) => Err(ReadError::Entry(self.finding(problem, position))),
        }
    }

    /// Makes a link absolute and takes it for the address of the entry.
    fn set_link(&mut self, link: &Link) {
        let text = link.text.trim();
        let resolved = match &link.base {
            Some(base) if is_relative(text) => base.join(text).ok().map(String::from),
            Some(_) | None => None,
        };
        if let Some(resolved) = &resolved {
            self.note_at(
                Problem::RelativeLink {
                    resolved: quoted(resolved),
                },
                link.position,
            );
        }
        if !self.feed.is_atom && link.rank == 1 {
            self.note_at(Problem::GuidAsLink, link.position);
        }
        if text.is_empty() && resolved.is_none() {
            return self
                .draft
                .lose(Problem::Loc(LocError::Empty), link.position);
        }
        let mut problems = Vec::new();
        let value = resolved.as_deref().unwrap_or(text);
        self.draft.set_loc(value, link.position, &mut problems);
        for problem in problems {
            self.note_at(problem, link.position);
        }
    }

    /// [`rescue`](Self::rescue) in a feed.
    pub(super) fn rescue_in_feed(&mut self, inside_tag: bool) -> Option<Result<Item, ReadError>> {
        if let Level::Value(field) = self.feed.level
            && inside_tag
            && self.is_reading()
        {
            self.feed.level = Level::Entry;
            self.set_field(field);
        }
        let is_in_entry = matches!(self.feed.level, Level::Entry | Level::Value(_));
        (is_in_entry && self.feed.link.is_some()).then(|| self.finish_feed_entry())
    }

    /// Base of relative links in an element: its `xml:base`, which may be relative to that of the elements around it
    /// (<https://www.w3.org/TR/xmlbase/>).
    fn base_of(&mut self, start: &BytesStart<'_>, outer: Option<&Url>) -> Option<Url> {
        let stated = self.attribute(start, "xml:base");
        let stated = stated.and_then(|base| match outer {
            Some(outer) => outer.join(base.trim()).ok(),
            None => Url::parse(base.trim()).ok(),
        });
        stated.or_else(|| outer.cloned())
    }

    /// The value of an attribute, by its name as it is in the file.
    fn attribute(&mut self, start: &BytesStart<'_>, name: &'static str) -> Option<String> {
        let found = start
            .attributes()
            .with_checks(false)
            .take(MAX_ATTRIBUTES)
            .flatten()
            .find(|attribute| attribute.key.into_inner() == name)?;
        let mut problems = Vec::new();
        let value = attribute_value(&found.value, name, &mut problems);
        for problem in problems {
            self.note(problem);
        }
        value
    }

    /// Vocabulary of an element, by its namespace.
    fn vocabulary(&mut self, start: &BytesStart<'_>, namespaces: &NamespaceResolver) -> Vocabulary {
        let own = if self.feed.is_atom {
            &ATOM_NAMESPACES[..]
        } else {
            &RSS_NAMESPACES[..]
        };
        let undeclared = match namespaces.resolve_element(start.name()).0 {
            ResolveResult::Unbound => return Vocabulary::Feed,
            ResolveResult::Bound(Namespace(DUBLIN_CORE_NAMESPACE)) => {
                return Vocabulary::DublinCore;
            }
            ResolveResult::Bound(Namespace(found)) => {
                let is_own = own.contains(&found)
                    || self.feed.namespace.as_deref() == Some(beginning_of(found));
                return if is_own {
                    Vocabulary::Feed
                } else {
                    Vocabulary::Other
                };
            }
            ResolveResult::Unknown(prefix) => prefix,
        };
        self.undeclared_prefix(&undeclared);
        if undeclared == "dc" {
            Vocabulary::DublinCore
        } else {
            Vocabulary::Other
        }
    }
}

fn is_atom_namespace(namespace: &str) -> bool {
    ATOM_NAMESPACES.contains(&namespace)
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
