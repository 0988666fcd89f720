//! Counts of the images, language versions, news and videos of entries: written, and left out by reason.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

macro_rules! left_out {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// Why an image, a version in another language, an article or a video is left out of an entry. The codes are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum LeftOut { $($(#[$doc])* $name,)* }

        impl LeftOut {
            /// Every reason.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable code, as in `left_out: {"no-return-link": 3}`.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// A line for people.
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

left_out! {
    /// The page, or a header, has `noimageindex`.
    Noimageindex = "noimageindex", "their page has noimageindex";
    /// The site's own robots.txt disallows the image, or a file of the video.
    RobotsDisallowed = "robots-disallowed", "disallowed by robots.txt";
    /// The address cannot be written, or the entry would become too large.
    Unwritable = "unwritable", "too long to be written";
    /// On the crawled host, outside of the directory whose URLs are written as another site.
    NotWritten = "not-written", "on the crawled host, outside of the directory that publish_as replaces";
    /// `hreflang` is neither a language nor `x-default`.
    InvalidCode = "invalid-code", "hreflang is not a language";
    /// The page has two targets for one code, or the version calls itself something else.
    ConflictingCode = "conflicting-code", "the pages disagree about the language";
    /// On another host, scheme or port, where nothing is known.
    OtherHost = "other-host", "on another host, where the link back cannot be checked";
    /// Not a page that the crawl knows.
    NotCrawled = "not-crawled", "not crawled";
    /// Known, but not in the sitemap.
    NotListed = "not-listed", "not in the sitemap";
    /// The article or video lacks a value that a sitemap must have, or has one that none may have.
    Unusable = "unusable", "without a value that a sitemap must have, or with one that it may not have";
    /// The article is older than two days.
    TooOld = "too-old", "published more than two days ago";
    /// The article is dated after the publish.
    Future = "future", "dated in the future";
    /// The version does not name the page.
    NoReturnLink = "no-return-link", "without a link back";
}

/// Counts of one kind of extension.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct KindCounts {
    /// Pages whose entry has any.
    pub pages: u64,
    /// Elements in entries.
    pub written: u64,
    /// Elements that were found and left out, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// Pages that have more of them than are taken.
    pub pages_cut: u64,
    /// Listed pages that were read before the settings asked for them.
    pub pages_not_read: u64,
    /// When the passing of time changes the set next: an article is news no longer, or its date has come.
    #[serde(skip)]
    pub changes_at: Option<Timestamp>,
}

impl KindCounts {
    fn merge(&mut self, other: &Self) {
        let Self {
            pages,
            written,
            left_out,
            pages_cut,
            pages_not_read,
            changes_at,
        } = other;
        self.pages += pages;
        self.written += written;
        for (reason, count) in left_out {
            *self.left_out.entry(*reason).or_default() += count;
        }
        self.pages_cut += pages_cut;
        self.pages_not_read += pages_not_read;
        self.change_at(*changes_at);
    }

    /// Takes a time at which the set will be another one.
    pub(super) fn change_at(&mut self, time: Option<Timestamp>) {
        let times = self.changes_at.into_iter().chain(time);
        self.changes_at = times.min();
    }

    pub(super) fn leave_out(&mut self, reason: LeftOut, count: u64) {
        if count > 0 {
            *self.left_out.entry(reason).or_default() += count;
        }
    }

    pub(super) fn wrote(&mut self, count: usize) {
        self.pages += u64::from(count > 0);
        self.written += count as u64;
    }
}

/// Counts of the extensions that the settings ask for; `None` for other kinds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ExtensionCounts {
    /// Images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<KindCounts>,
    /// Versions in other languages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hreflang: Option<KindCounts>,
    /// News articles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub news: Option<KindCounts>,
    /// Videos.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<KindCounts>,
}

impl ExtensionCounts {
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        let Self {
            images,
            hreflang,
            news,
            video,
        } = other;
        for (sum, other) in [
            (&mut self.images, images),
            (&mut self.hreflang, hreflang),
            (&mut self.news, news),
            (&mut self.video, video),
        ] {
            if let Some(other) = other {
                sum.get_or_insert_default().merge(other);
            }
        }
    }
}
