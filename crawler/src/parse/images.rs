//! Images of a page: one reference for each `img`, collected as text while the page streams by and resolved at its end.
//!
//! An image is listed once, however many files it has. Its URL is its `src`, which every reader can use, or without a usable one
//! the largest candidate of its `srcset`, or of the first `source` of its `picture`. Images that only a script would load
//! (`data-src` and similar) are left out; lazily loaded images are in a `noscript`, which is read. Counting pixels in it are left
//! out. Backgrounds, icons, posters, drawings and buttons do not count as images of the page.

use std::{collections::HashSet, sync::Arc};

use encoding_rs::Encoding;
use url::Url;

use crate::url_key::{Identity, UrlKey, has_foreign_scheme};

use super::{links::trim_reference, srcset};

/// Images of one page that are taken: an entry may have no more (Google Search Central, "Image sitemaps").
pub(super) const MAX_IMAGES: usize = 1_000;

/// Attributes of an `img`.
#[derive(Debug, Default)]
pub(super) struct RawImage {
    pub(super) src: Option<String>,
    pub(super) srcset: Option<String>,
    pub(super) width: Option<String>,
    pub(super) height: Option<String>,
}

/// The images of a page in document order, each text once.
#[derive(Debug, Default)]
pub(super) struct RawImages {
    references: Vec<Arc<str>>,
    known: HashSet<Arc<str>>,
    picture: Picture,
    /// There were more than [`MAX_IMAGES`].
    pub(super) cut: bool,
}

/// The `picture` that is open.
#[derive(Debug, Default)]
enum Picture {
    #[default]
    None,
    /// With the largest candidate of its first `source` that has one.
    Open(Option<String>),
}

impl RawImages {
    /// A `picture` begins.
    pub(super) fn open_picture(&mut self) {
        self.picture = Picture::Open(None);
    }

    /// The element ends.
    pub(super) fn close_picture(&mut self) {
        self.picture = Picture::None;
    }

    /// Returns whether the `srcset` of a `source` here is of an image that has none yet.
    pub(super) fn wants_source(&self) -> bool {
        matches!(self.picture, Picture::Open(None))
    }

    /// Takes the `srcset` of a `source`.
    pub(super) fn add_source(&mut self, srcset: &str) {
        if self.wants_source() {
            self.picture = Picture::Open(srcset::largest(srcset, is_usable).map(str::to_owned));
        }
    }

    /// Takes an `img`.
    pub(super) fn add(&mut self, image: &RawImage) {
        let of_picture = match &mut self.picture {
            Picture::None => None,
            Picture::Open(source) => source.take(),
        };
        if is_invisible(image) {
            return;
        }
        let source = image.src.as_deref().filter(|source| is_usable(source));
        let candidates = image.srcset.as_deref();
        let source = source
            .or_else(|| candidates.and_then(|srcset| srcset::largest(srcset, is_usable)))
            .or(of_picture.as_deref());
        let Some(reference) = source.map(without_fragment) else {
            return;
        };
        if self.known.contains(reference) {
            return;
        }
        if self.references.len() == MAX_IMAGES {
            self.cut = true;
            return;
        }
        let reference: Arc<str> = reference.into();
        self.known.insert(Arc::clone(&reference));
        self.references.push(reference);
    }

    /// Resolves everything: each URL once, at its first place.
    pub(super) fn resolve(self, base: &Url, encoding: &'static Encoding) -> Vec<UrlKey> {
        // What makes two addresses the same page is a matter of pages: an image stays at its own.
        let identity = Identity {
            drop_parameters: Vec::new(),
            drop_sessions: Vec::new(),
            ..Identity::default()
        };
        let mut known = HashSet::new();
        self.references
            .iter()
            .filter_map(|reference| identity.resolve(base, reference, encoding).ok())
            .filter(|image| known.insert(image.clone()))
            .collect()
    }
}

/// Returns whether a reference can lead to an image: not empty, not the page itself, not the image's own data.
fn is_usable(reference: &str) -> bool {
    let reference = without_fragment(reference);
    !reference.is_empty() && !has_foreign_scheme(reference)
}

fn without_fragment(reference: &str) -> &str {
    let reference = trim_reference(reference);
    reference.split('#').next().unwrap_or(reference)
}

/// Returns whether an image is not a picture but a counter: one pixel or none.
fn is_invisible(image: &RawImage) -> bool {
    let is_tiny = |length: &Option<String>| length.as_deref().is_some_and(is_pixel_at_most);
    is_tiny(&image.width) && is_tiny(&image.height)
}

/// Returns whether a length (HTML standard section 2.3.4.4) is one pixel at most.
fn is_pixel_at_most(length: &str) -> bool {
    let length = length.trim_ascii_start();
    let digits = length.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = length.split_at(digits);
    matches!(number.trim_start_matches('0'), "" | "1")
        && digits > 0
        && !unit.starts_with(['.', '%'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_not_images() {
        let check = |width: &str, height: &str, expected: bool| {
            let image = RawImage {
                width: Some(width.to_owned()),
                height: Some(height.to_owned()),
                ..RawImage::default()
            };
            assert_eq!(is_invisible(&image), expected, "{image:?}");
        };
        check("", "", false);
        check("1", "1", true);
        check(" 01px", "0", true);
        check("1", "10", false);
        check("1%", "1%", false);
        check("1.5", "1", false);
        check("auto", "auto", false);
    }
}
