//! Images and language versions of an entry, from the facts of its page; and counts of those that are left out, by reason.

#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet},
};

use sitemap_core::{
    Loc, UrlEntry,
    extension::{Alternate, Element},
};

use super::{View, written};
use crate::{
    config::Extensions,
    page::{PageFacts, PageRecord},
    robots::Rules,
    store::StoreError,
    url_key::{StandIn, UrlKey},
};

/// Bytes that the images of one entry take in a file at most. With as many versions in other languages as a page
/// may have, an entry then stays below [`sitemap_core::extension::MAX_ENTRY_BYTES`].
const MAX_IMAGE_BYTES: usize = 3 * 1_024 * 1_024;

/// Bytes around the address of an image in a file.
const IMAGE_TAGS_BYTES: usize = 64;

macro_rules! left_out {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// Why an image or a version in another language is left out of an entry. The codes are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum LeftOut { $($(#[$doc])* $name,)* }

        impl LeftOut {
            /// Every reason.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable code, as in `left_out: {"no-return-link": 3}`.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// One line for people.
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

left_out! {
    /// The page, or its headers, says `noimageindex`.
    Noimageindex = "noimageindex", "their page says noimageindex";
    /// The site's own robots.txt disallows the image.
    RobotsDisallowed = "robots-disallowed", "disallowed by robots.txt";
    /// The address cannot be written, or the entry would become too large.
    Unwritable = "unwritable", "too long to be written";
    /// On the crawled host, outside of the directory whose URLs are written as another site.
    NotWritten = "not-written", "on the crawled host, outside of what is written as another site";
    /// `hreflang` is neither a language nor `x-default`.
    InvalidCode = "invalid-code", "hreflang is no language";
    /// The page has two targets for one code, or the version calls itself something else.
    ConflictingCode = "conflicting-code", "the pages disagree about the language";
    /// On another host, scheme or port, where nothing is known.
    OtherHost = "other-host", "on another host, where the link back cannot be seen";
    /// Not a page that the crawl knows.
    NotCrawled = "not-crawled", "not crawled";
    /// Known, but not in the sitemap.
    NotListed = "not-listed", "not in the sitemap";
    /// The version does not name the page.
    NoReturnLink = "no-return-link", "without a link back";
}

/// Counts of one kind of extension.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
}

impl KindCounts {
    fn merge(&mut self, other: &Self) {
        let Self {
            pages,
            written,
            left_out,
            pages_cut,
            pages_not_read,
        } = other;
        self.pages += pages;
        self.written += written;
        for (reason, count) in left_out {
            *self.left_out.entry(*reason).or_default() += count;
        }
        self.pages_cut += pages_cut;
        self.pages_not_read += pages_not_read;
    }

    pub(super) fn leave_out(&mut self, reason: LeftOut, count: u64) {
        if count > 0 {
            *self.left_out.entry(reason).or_default() += count;
        }
    }

    fn wrote(&mut self, count: usize) {
        self.pages += u64::from(count > 0);
        self.written += count as u64;
    }
}

/// Counts of the extensions that the settings ask for; `None` for other kinds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtensionCounts {
    /// Images.
    pub images: Option<KindCounts>,
    /// Versions in other languages.
    pub hreflang: Option<KindCounts>,
}

impl ExtensionCounts {
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        let Self { images, hreflang } = other;
        for (sum, other) in [(&mut self.images, images), (&mut self.hreflang, hreflang)] {
            if let Some(other) = other {
                sum.get_or_insert_default().merge(other);
            }
        }
    }
}

/// The extensions that the settings ask for, with the rules of robots.txt.
#[derive(Debug, Default)]
pub(super) struct PageExtensions {
    wanted: Extensions,
    /// `None`: not known, so that nothing is disallowed.
    robots: Option<Rules>,
    /// The site that URLs are written as.
    stand_in: Option<StandIn>,
}

impl PageExtensions {
    pub(super) fn new(
        wanted: Extensions,
        robots: Option<Rules>,
        stand_in: Option<StandIn>,
    ) -> Self {
        Self {
            wanted,
            robots,
            stand_in,
        }
    }

    /// Adds the extensions of a listed page to its entry.
    ///
    /// # Errors
    /// The store failed.
    pub(super) fn add(
        &self,
        view: &View<'_>,
        key: &UrlKey,
        record: &PageRecord,
        entry: &mut UrlEntry,
    ) -> Result<ExtensionCounts, StoreError> {
        let mut found = ExtensionCounts::default();
        // A page that is listed without having been fetched has no facts.
        let Some(facts) = record.facts() else {
            return Ok(found);
        };
        if self.wanted.images {
            let counts = found.images.insert(KindCounts::default());
            self.add_images(key, facts, entry, counts);
        }
        if self.wanted.hreflang {
            let counts = found.hreflang.insert(KindCounts::default());
            counts.pages_cut = u64::from(facts.warnings.alternates_cut);
            match &facts.alternates {
                Some(versions) => {
                    let cluster = super::hreflang::verified(view, key, versions, counts)?;
                    for (code, target) in cluster {
                        let Some(loc) = self.loc(target) else {
                            continue;
                        };
                        // Each language is there once, and there are fewer than an entry may have.
                        let added = entry.extensions.add_alternate(Alternate::new(code, loc));
                        debug_assert_eq!(added, Ok(()));
                    }
                }
                None => counts.pages_not_read = 1,
            }
            counts.wrote(entry.extensions.alternates().len());
        }
        Ok(found)
    }

    fn add_images(
        &self,
        key: &UrlKey,
        facts: &PageFacts,
        entry: &mut UrlEntry,
        counts: &mut KindCounts,
    ) {
        counts.pages_cut = u64::from(facts.warnings.images_cut);
        let Some(images) = &facts.images else {
            counts.pages_not_read = 1;
            return;
        };
        if facts.directives.noimageindex {
            counts.leave_out(LeftOut::Noimageindex, images.len() as u64);
            return;
        }
        let origin = key.origin();
        let mut bytes = 0;
        // A staging page may name one image by both of its addresses.
        let mut named = HashSet::new();
        for image in images {
            let image = &*self.crawled(image);
            if self.stand_in.is_some() && !named.insert(image.clone()) {
                continue;
            }
            if image.is_on(&origin) && !self.allows(image) {
                counts.leave_out(LeftOut::RobotsDisallowed, 1);
                continue;
            }
            let Some(written) = written(self.stand_in.as_ref(), image) else {
                counts.leave_out(LeftOut::NotWritten, 1);
                continue;
            };
            let loc = Loc::parse(written.as_str()).ok();
            // Not a picture: `src="."`, which a script was to fill in.
            if loc
                .as_ref()
                .is_some_and(|loc| loc.is_equivalent(&entry.loc))
            {
                continue;
            }
            let written = loc.and_then(|loc| {
                bytes += written_bytes(&loc);
                let image = Element::image(&loc);
                (bytes <= MAX_IMAGE_BYTES).then(|| entry.extensions.add(image).ok())?
            });
            if written.is_none() {
                counts.leave_out(LeftOut::Unwritable, 1);
            }
        }
        counts.wrote(entry.extensions.images().len());
    }

    /// The address of an image on the crawled host, when the page names it on the site that URLs are written as.
    fn crawled<'a>(&self, image: &'a UrlKey) -> Cow<'a, UrlKey> {
        let crawled = self.stand_in.as_ref();
        let crawled = crawled.and_then(|stand_in| stand_in.crawled_of(image));
        crawled.map_or(Cow::Borrowed(image), Cow::Owned)
    }

    /// `url` as it is written; `None` when it cannot be.
    fn loc(&self, url: &UrlKey) -> Option<Loc> {
        Loc::parse(written(self.stand_in.as_ref(), url)?.as_str()).ok()
    }

    fn allows(&self, url: &UrlKey) -> bool {
        let rules = self.robots.as_ref();
        rules.is_none_or(|rules| rules.allows(url.path_and_query()))
    }
}

/// Bytes of the element of an image in a file, at most.
fn written_bytes(loc: &Loc) -> usize {
    // The longest escapes are those of `&` and `'`.
    let escaped = loc
        .as_str()
        .bytes()
        .filter(|byte| matches!(byte, b'&' | b'\''))
        .count();
    loc.as_str().len() + escaped * ("&apos;".len() - 1) + IMAGE_TAGS_BYTES
}
