//! [`Extensions`]: elements of an entry besides the four of the protocol.
//!
//! ```text
//! Row, Kind, Text, Hreflang -> Element, Alternate, CustomElement -> Extensions -> UrlEntry
//!                                                            -> Namespaces -> the root of a file
//! ```
//!
//! The values are checked, so every value can be written: both the schemas and the documentation of search engines accept it.
//! Elements that search engines dropped are checked and left out. This module neither reads nor writes XML, and has no clock.

mod alternate;
mod custom;
mod element;
mod namespaces;

mod kind;
mod rows;

mod codes;
mod text;

pub use alternate::{Alternate, Hreflang, HreflangError};
pub use custom::{
    CustomElement, CustomElementError, CustomNamespace, MAX_CUSTOM_ATTRIBUTES, MAX_NAME_BYTES,
    MAX_NAMESPACE_BYTES,
};
pub(crate) use custom::{is_name_character, is_name_start};
pub(crate) use element::NO_MEDIA;
pub use element::{Element, Value};
pub use kind::{ValueKind, ValueProblem};
pub use namespaces::{Namespaces, NamespacesError};
pub use rows::{AttributeRow, MAX_VIDEO_TAGS, Row};
pub(crate) use rows::{Need, element_of};
pub(crate) use text::is_xml_character;
pub use text::{MAX_TEXT_CHARACTERS, Text, TextError};

use std::fmt;

use jiff::Timestamp;

use crate::Loc;

/// The most images an entry may have.
///
/// Source: <https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps>, "up to 1,000 `<image:image>` tags".
pub const MAX_IMAGES: usize = 1_000;

/// The most versions of a page an entry may have. There are fewer languages and countries in use; no rule bounds them, memory does.
pub const MAX_ALTERNATES: usize = 1_000;

/// The most videos an entry may have. No rule bounds them, memory does.
pub const MAX_VIDEOS: usize = 1_000;

/// The most elements of custom namespaces an entry may have. No rule bounds them, memory does.
pub const MAX_CUSTOM_ELEMENTS: usize = 1_000;

/// The most articles a file may have.
///
/// Source: <https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap>, "up to 1,000 `<news:news>` tags".
pub const MAX_NEWS_PER_FILE: u64 = 1_000;

/// The most bytes one entry may have with all its extensions. It bounds the memory of a reader.
pub const MAX_ENTRY_BYTES: u64 = 8 * 1_024 * 1_024;

/// The extensions that search engines read, in the order in which an entry has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extension {
    /// Versions of a page for other languages: [`Alternate`].
    Alternate,
    /// Pictures.
    Image,
    /// Videos.
    Video,
    /// Articles.
    News,
}

/// Elements of an entry besides the four of the protocol; none by default.
///
/// An empty list takes the space of one pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Extensions(Option<Box<Content>>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Content {
    /// In the order of their languages, each of them once.
    alternates: Vec<Alternate>,
    images: Vec<Element>,
    videos: Vec<Element>,
    news: Option<Element>,
    custom: Vec<CustomElement>,
}

/// An extension of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExtensionRef<'a> {
    Alternate(&'a Alternate),
    Element(&'a Element),
    Custom(&'a CustomElement),
}

impl fmt::Display for ExtensionRef<'_> {
    /// The kind, and the value that distinguishes it from others.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alternate(alternate) => write!(formatter, "version {}", alternate.hreflang),
            Self::Element(element) => {
                let prefix = element.extension().prefix();
                let name = element.get("title").or(element.get("loc"));
                write!(formatter, "{prefix} \"{}\"", name.unwrap_or_default())
            }
            Self::Custom(own) => write!(formatter, "{}:{}", own.namespace().prefix(), own.name()),
        }
    }
}

/// Errors of the extensions of an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtensionError {
    /// There are too many elements of a kind.
    #[error("more than {limit} <{what}>")]
    TooMany {
        /// The element.
        what: &'static str,
        /// Largest number in an entry, or in a video.
        limit: usize,
    },
    /// Two versions are for the same readers.
    #[error("hreflang {hreflang} is there already, for {href}")]
    SameHreflang {
        /// For whom.
        hreflang: Hreflang,
        /// The version that was there first.
        href: Loc,
    },
    /// There are two articles.
    #[error("more than one <news:news>")]
    SecondNews,
    /// An element lacks a required part.
    #[error("{what} is missing")]
    Missing {
        /// The required part.
        what: &'static str,
    },
    /// The address of a video is that of the page that shows it.
    #[error("<{element}> of \"{title}\" is the page itself")]
    MediaIsPage {
        /// The element.
        element: &'static str,
        /// The title of the video.
        title: Box<str>,
    },
    /// The page about an uploader is in another domain.
    #[error("uploader info {info} is elsewhere, expected a URL in the domain of {host}")]
    UploaderElsewhere {
        /// The page about the uploader.
        info: Loc,
        /// The host of the page with the video.
        host: Box<str>,
    },
    /// The entry is larger than a reader needs to take.
    #[error("entry has {bytes} bytes, expected at most {MAX_ENTRY_BYTES}")]
    TooLarge {
        /// The bytes in a file.
        bytes: u64,
    },
    /// An element makes the entry larger than a reader needs to take.
    #[error("{item} makes the entry larger than {MAX_ENTRY_BYTES} bytes")]
    NoRoom {
        /// The element, with the value that distinguishes it from others.
        item: Box<str>,
    },
    /// An element is of a namespace that the file does not declare.
    #[error("prefix {prefix} is not declared by the file")]
    Undeclared {
        /// The prefix.
        prefix: Box<str>,
    },
}

impl Extension {
    /// All of them, in the order in which an entry has them.
    pub const ALL: [Self; 4] = [Self::Alternate, Self::Image, Self::Video, Self::News];

    /// The XML namespace, exactly this string.
    pub fn namespace(self) -> &'static str {
        match self {
            Self::Alternate => "http://www.w3.org/1999/xhtml",
            Self::Image => "http://www.google.com/schemas/sitemap-image/1.1",
            Self::Video => "http://www.google.com/schemas/sitemap-video/1.1",
            Self::News => "http://www.google.com/schemas/sitemap-news/0.9",
        }
    }

    /// The prefix that represents the namespace in files.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Alternate => "xhtml",
            Self::Image => "image",
            Self::Video => "video",
            Self::News => "news",
        }
    }

    /// Address of the schema, for `xsi:schemaLocation` (R69).
    pub fn schema(self) -> &'static str {
        match self {
            Self::Alternate => "http://www.w3.org/2002/08/xhtml/xhtml1-strict.xsd",
            Self::Image => "http://www.google.com/schemas/sitemap-image/1.1/sitemap-image.xsd",
            Self::Video => "http://www.google.com/schemas/sitemap-video/1.1/sitemap-video.xsd",
            Self::News => "http://www.google.com/schemas/sitemap-news/0.9/sitemap-news.xsd",
        }
    }
}

impl Extensions {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns whether there is something of this kind.
    pub fn has(&self, extension: Extension) -> bool {
        match extension {
            Extension::Alternate => !self.alternates().is_empty(),
            Extension::Image => !self.images().is_empty(),
            Extension::Video => !self.videos().is_empty(),
            Extension::News => self.news().is_some(),
        }
    }

    /// The versions for other languages, in the order of their [`Hreflang`].
    pub fn alternates(&self) -> &[Alternate] {
        self.0.as_ref().map_or(&[], |content| &content.alternates)
    }

    /// The images, in the order in which they were added.
    pub fn images(&self) -> &[Element] {
        self.0.as_ref().map_or(&[], |content| &content.images)
    }

    /// The videos, in the order in which they were added.
    pub fn videos(&self) -> &[Element] {
        self.0.as_ref().map_or(&[], |content| &content.videos)
    }

    /// The article.
    pub fn news(&self) -> Option<&Element> {
        self.0.as_ref()?.news.as_ref()
    }

    /// The elements of custom namespaces, in the order in which they were added.
    pub fn custom_elements(&self) -> &[CustomElement] {
        self.0.as_ref().map_or(&[], |content| &content.custom)
    }

    /// Adds a version for another language, at its place in their order.
    ///
    /// # Errors
    /// [`ExtensionError::SameHreflang`] when there is one for the same readers, [`ExtensionError::TooMany`] when there are
    /// [`MAX_ALTERNATES`].
    pub fn add_alternate(&mut self, alternate: Alternate) -> Result<(), ExtensionError> {
        let alternates = self.alternates();
        match alternates.binary_search_by(|other| other.hreflang.cmp(&alternate.hreflang)) {
            Ok(place) => Err(ExtensionError::SameHreflang {
                href: alternates[place].href.clone(),
                hreflang: alternate.hreflang,
            }),
            Err(place) => {
                check_room(alternates.len(), "xhtml:link", MAX_ALTERNATES)?;
                self.content().alternates.insert(place, alternate);
                Ok(())
            }
        }
    }

    /// Adds an image, a video or the article.
    ///
    /// # Errors
    /// [`ExtensionError::Missing`] when it lacks a required part, [`ExtensionError::TooMany`] when there are [`MAX_IMAGES`] or
    /// [`MAX_VIDEOS`], [`ExtensionError::SecondNews`] when there is an article.
    pub fn add(&mut self, element: Element) -> Result<(), ExtensionError> {
        if let Some(what) = element.missing().next() {
            return Err(ExtensionError::Missing { what });
        }
        match element.extension() {
            Extension::Alternate => {}
            Extension::Image => {
                check_room(self.images().len(), "image:image", MAX_IMAGES)?;
                self.content().images.push(element);
            }
            Extension::Video => {
                check_room(self.videos().len(), "video:video", MAX_VIDEOS)?;
                self.content().videos.push(element);
            }
            Extension::News if self.news().is_some() => return Err(ExtensionError::SecondNews),
            Extension::News => self.content().news = Some(element),
        }
        Ok(())
    }

    /// Takes the article away.
    pub fn take_news(&mut self) -> Option<Element> {
        self.take_news_if(|_| true)
    }

    /// Takes the article away if it is not news any more at `now`; see [`Element::is_recent`].
    pub fn take_old_news(&mut self, now: Timestamp) -> Option<Element> {
        self.take_news_if(|news| !news.is_recent(now))
    }

    fn take_news_if(&mut self, is_taken: impl FnOnce(&Element) -> bool) -> Option<Element> {
        let content = self.0.as_mut()?;
        let taken = content.news.take_if(|news| is_taken(news));
        self.forget_if_empty();
        taken
    }

    /// Adds an element of a custom namespace.
    ///
    /// # Errors
    /// [`ExtensionError::TooMany`] when there are [`MAX_CUSTOM_ELEMENTS`].
    pub fn add_custom(&mut self, element: CustomElement) -> Result<(), ExtensionError> {
        check_room(
            self.custom_elements().len(),
            "element of a custom namespace",
            MAX_CUSTOM_ELEMENTS,
        )?;
        self.content().custom.push(element);
        Ok(())
    }

    /// Keeps the elements of custom namespaces for which `is_kept` returns true.
    pub fn retain_custom(&mut self, is_kept: impl FnMut(&CustomElement) -> bool) {
        if let Some(content) = &mut self.0 {
            content.custom.retain(is_kept);
            self.forget_if_empty();
        }
    }

    /// Checks them against the address of their page; a file refuses such an entry.
    ///
    /// # Errors
    /// [`ExtensionError::MediaIsPage`] and [`ExtensionError::UploaderElsewhere`].
    pub fn check(&self, page: &Loc) -> Result<(), ExtensionError> {
        self.videos().iter().try_for_each(|video| {
            video.check(page)?;
            video.check_thumbnail(page)
        })
    }

    /// Removes the parts that contradict the address of their page, as [`check`](Self::check) finds them, and returns the videos
    /// they belonged to. A required part takes its video with it. A thumbnail that is the page stays; the strict reading reports
    /// it.
    pub(crate) fn remove_contradictions(&mut self, page: &Loc) -> Vec<(usize, ExtensionError)> {
        let mut removed = Vec::new();
        let Some(content) = &mut self.0 else {
            return removed;
        };
        let mut index = 0;
        content.videos.retain_mut(|video| {
            let is_left = video.remove_contradictions(page, |error| removed.push((index, error)));
            index += 1;
            is_left
        });
        self.forget_if_empty();
        removed
    }

    /// All elements, in the order in which a file has them.
    pub(crate) fn items(&self) -> impl Iterator<Item = ExtensionRef<'_>> {
        let alternates = self.alternates().iter().map(ExtensionRef::Alternate);
        let elements = self.images().iter().chain(self.videos()).chain(self.news());
        let elements = elements.map(ExtensionRef::Element);
        let own = self.custom_elements().iter().map(ExtensionRef::Custom);
        alternates.chain(elements).chain(own)
    }

    /// Keeps the elements for which `is_kept` returns true; it is called in the same order.
    pub(crate) fn retain_items(&mut self, mut is_kept: impl FnMut(ExtensionRef<'_>) -> bool) {
        let Some(content) = &mut self.0 else { return };
        content
            .alternates
            .retain(|alternate| is_kept(ExtensionRef::Alternate(alternate)));
        content
            .images
            .retain(|it| is_kept(ExtensionRef::Element(it)));
        content
            .videos
            .retain(|it| is_kept(ExtensionRef::Element(it)));
        content
            .news
            .take_if(|it| !is_kept(ExtensionRef::Element(it)));
        content
            .custom
            .retain(|own| is_kept(ExtensionRef::Custom(own)));
        self.forget_if_empty();
    }

    fn forget_if_empty(&mut self) {
        if self
            .0
            .as_ref()
            .is_some_and(|content| **content == Content::default())
        {
            self.0 = None;
        }
    }

    fn content(&mut self) -> &mut Content {
        self.0.get_or_insert_default()
    }
}

fn check_room(count: usize, what: &'static str, limit: usize) -> Result<(), ExtensionError> {
    if count < limit {
        Ok(())
    } else {
        Err(ExtensionError::TooMany { what, limit })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    pub(crate) mod arbitrary;

    use super::*;
    use crate::UrlEntry;

    fn loc(text: &str) -> Loc {
        Loc::parse(text).unwrap()
    }

    fn alternate(hreflang: &str, href: &str) -> Alternate {
        Alternate::new(Hreflang::parse(hreflang).unwrap(), loc(href))
    }

    fn news(date: &str) -> Element {
        let fields = ["name", "language", "publication_date", "title"];
        let values = fields.into_iter().zip(["x", "en", date, "x"]);
        Element::of(Extension::News, values).unwrap()
    }

    #[test]
    fn absent_value_takes_a_pointer() {
        assert_eq!(size_of::<Extensions>(), size_of::<usize>());
        assert!(UrlEntry::new(loc("http://h/")).extensions.is_empty());
    }

    #[test]
    fn alternates_are_in_the_order_of_languages() {
        let mut extensions = Extensions::default();
        for hreflang in ["x-default", "en-GB", "de", "en"] {
            let alternate = alternate(hreflang, &format!("http://h/{hreflang}"));
            extensions.add_alternate(alternate).unwrap();
        }
        let alternates = extensions.alternates().iter();
        let order: Vec<&str> = alternates.map(|one| one.hreflang.as_str()).collect();
        assert_eq!(order, ["de", "en", "en-GB", "x-default"]);
        let second = alternate("EN-gb", "http://h/2");
        let error = extensions.add_alternate(second).unwrap_err().to_string();
        let expected = "hreflang en-GB is there already, for http://h/en-GB";
        assert_eq!(error, expected);
        assert_eq!(extensions.alternates().len(), 4);
    }

    #[test]
    fn entry_has_1_000_images_at_most() {
        let mut extensions = Extensions::default();
        let image = Element::image(&loc("http://h/a.jpg"));
        for _ in 0..1_000 {
            extensions.add(image.clone()).unwrap();
        }
        let error = extensions.add(image).unwrap_err();
        assert_eq!(error.to_string(), "more than 1000 <image:image>");
    }

    #[test]
    fn old_news_go_and_leave_nothing() {
        let mut extensions = Extensions::default();
        extensions.add(news("2026-03-01T00:00:00Z")).unwrap();
        assert_eq!(
            extensions.add(news("2026-03-01")),
            Err(ExtensionError::SecondNews)
        );
        let [early, later] = ["2026-03-02T00:00:00Z", "2026-03-04T00:00:00Z"];
        let later = later.parse().unwrap();
        assert_eq!(extensions.take_old_news(early.parse().unwrap()), None);
        assert!(extensions.has(Extension::News));
        let old = Some(news("2026-03-01T00:00:00Z"));
        assert_eq!(extensions.take_old_news(later), old);
        assert_eq!(extensions, Extensions::default());
        assert_eq!(extensions.take_old_news(later), None);
        extensions.add(news("2026-03-09")).unwrap();
        assert_eq!(extensions.take_news(), Some(news("2026-03-09")));
        assert_eq!(extensions, Extensions::default());
    }
}
