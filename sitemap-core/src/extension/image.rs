//! [`Image`]: a picture on a page, `<image:image>`.

use super::Text;
use crate::Loc;

/// A picture that a page shows. Its address may be on another host.
///
/// Source: <https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps>.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Image {
    /// Where the picture is.
    pub loc: Loc,
    /// What was read of elements that search engines dropped on 2022-08-06; never written.
    pub retired: Option<Box<RetiredImage>>,
}

/// The elements of an image that search engines no longer read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RetiredImage {
    /// What the picture shows.
    pub caption: Option<Text>,
    /// Where it was made, as people say it.
    pub geo_location: Option<Text>,
    /// Its title.
    pub title: Option<Text>,
    /// Where its licence is.
    pub license: Option<Loc>,
}

impl Image {
    /// The picture at `loc`.
    pub fn new(loc: Loc) -> Self {
        Self { loc, retired: None }
    }
}
