//! Images, language versions, videos and the article of an entry, from the facts of its page; and counts of those that are left
//! out, by reason.

mod stated;

#[cfg(test)]
mod tests;

use std::{borrow::Cow, collections::HashSet};

use jiff::Timestamp;
use sitemap_core::{
    Loc, UrlEntry,
    extension::{Alternate, Element},
};

use super::{
    MergedView,
    counts::{ExtensionCounts, KindCounts, LeftOut},
    hreflang, written,
};
use crate::{
    config::Extensions,
    page::{PageFacts, PageRecord},
    robots::Rules,
    store::StoreError,
    url_key::{PublishAs, UrlKey},
};

/// Bytes that the images of one entry take in a file at most. With as many versions in other languages as a page
/// may have, an entry then stays below [`sitemap_core::extension::MAX_ENTRY_BYTES`].
const MAX_IMAGE_BYTES: usize = 3 * 1_024 * 1_024;

/// Bytes around the address of an image in a file.
const IMAGE_TAGS_BYTES: usize = 64;

/// The extensions that the settings ask for, with the rules of robots.txt.
#[derive(Debug, Default)]
pub(super) struct PageExtensions {
    wanted: Extensions,
    /// `None`: not known, so that nothing is disallowed.
    robots: Option<Rules>,
    /// The site that URLs are written as.
    stand_in: Option<PublishAs>,
    /// The time by which an article is news.
    now: Timestamp,
}

impl PageExtensions {
    pub(super) fn new(
        wanted: Extensions,
        robots: Option<Rules>,
        stand_in: Option<PublishAs>,
        now: Timestamp,
    ) -> Self {
        Self {
            wanted,
            robots,
            stand_in,
            now,
        }
    }

    /// Adds the extensions of a listed page to its entry.
    ///
    /// # Errors
    /// The store failed.
    pub(super) fn add(
        &self,
        view: &MergedView<'_>,
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
                    let cluster = hreflang::verified(view, key, versions, counts)?;
                    for (code, target) in cluster {
                        let Some(loc) = self.loc(&target) else {
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
        if self.wanted.video {
            let counts = found.video.insert(KindCounts::default());
            self.add_videos(key, facts, entry, counts);
        }
        if self.wanted.news {
            let counts = found.news.insert(KindCounts::default());
            self.add_news(facts, entry, counts);
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
