//! Which elements each extension has, in the order of its schema.

use crate::extension::{Extension, MAX_VIDEO_TAGS};

/// An element of an extension.
#[derive(Debug)]
pub(super) struct Row {
    /// Its name with the usual prefix.
    pub(super) name: &'static str,
    /// Whether search engines read it.
    pub(super) need: Need,
    /// How often it may stand in its parent.
    pub(super) most: usize,
    /// Its attributes.
    pub(super) attributes: &'static [&'static str],
    /// Its elements; it has these or a text.
    pub(super) rows: &'static [Row],
}

/// Whether search engines read an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// They do.
    Current,
    /// They dropped it, or never did.
    Retired,
}

impl Row {
    const fn current(name: &'static str) -> Self {
        Self {
            name,
            need: Need::Current,
            most: 1,
            attributes: &[],
            rows: &[],
        }
    }

    const fn retired(name: &'static str) -> Self {
        Self {
            need: Need::Retired,
            ..Self::current(name)
        }
    }

    const fn most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    const fn attributes(mut self, attributes: &'static [&'static str]) -> Self {
        self.attributes = attributes;
        self
    }

    const fn rows(mut self, rows: &'static [Self]) -> Self {
        self.rows = rows;
        self
    }

    pub(super) fn local_name(&self) -> &'static str {
        self.name
            .split_once(':')
            .map_or(self.name, |(_, name)| name)
    }
}

/// The elements in the one element of an extension that stands in an entry.
pub(super) fn rows_of(extension: Extension) -> &'static [Row] {
    match extension {
        Extension::Alternate => &[],
        Extension::Image => IMAGE,
        Extension::Video => VIDEO,
        Extension::News => NEWS,
    }
}

const IMAGE: &[Row] = &[
    Row::current("image:loc"),
    Row::retired("image:caption"),
    Row::retired("image:geo_location"),
    Row::retired("image:title"),
    Row::retired("image:license"),
];

const VIDEO: &[Row] = &[
    Row::current("video:thumbnail_loc"),
    Row::current("video:title"),
    Row::current("video:description"),
    Row::current("video:content_loc"),
    Row::current("video:player_loc").attributes(&["allow_embed", "autoplay"]),
    Row::current("video:duration"),
    Row::current("video:expiration_date"),
    Row::current("video:rating"),
    Row::retired("video:content_segment_loc")
        .most(MAX_VIDEO_TAGS)
        .attributes(&["duration"]),
    Row::current("video:view_count"),
    Row::current("video:publication_date"),
    Row::current("video:tag").most(MAX_VIDEO_TAGS),
    Row::retired("video:category"),
    Row::current("video:family_friendly"),
    Row::current("video:restriction").attributes(&["relationship"]),
    Row::retired("video:gallery_loc").attributes(&["title"]),
    Row::retired("video:price")
        .most(MAX_VIDEO_TAGS)
        .attributes(&["currency", "type", "resolution"]),
    Row::current("video:requires_subscription"),
    Row::current("video:uploader").attributes(&["info"]),
    Row::retired("video:tvshow").rows(TV_SHOW),
    Row::current("video:platform").attributes(&["relationship"]),
    Row::current("video:live"),
    Row::retired("video:id")
        .most(MAX_VIDEO_TAGS)
        .attributes(&["type"]),
];

const TV_SHOW: &[Row] = &[
    Row::current("video:show_title"),
    Row::current("video:video_type"),
    Row::current("video:episode_title"),
    Row::current("video:season_number"),
    Row::current("video:episode_number"),
    Row::current("video:premier_date"),
];

const NEWS: &[Row] = &[
    Row::current("news:publication").rows(PUBLICATION),
    Row::retired("news:access"),
    Row::retired("news:genres"),
    Row::current("news:publication_date"),
    Row::current("news:title"),
    // Older than the schema, which has no place for it; documents had it here.
    Row::retired("news:geo_locations"),
    Row::retired("news:keywords"),
    Row::retired("news:stock_tickers"),
];

const PUBLICATION: &[Row] = &[Row::current("news:name"), Row::current("news:language")];
