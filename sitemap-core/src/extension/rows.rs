//! The table of the elements of each extension, in the order of its schema. It drives the reading and writing of XML and JSON,
//! the names of columns in lists, and the checks.

use std::hash::{Hash, Hasher};

use super::{Extension, MAX_TEXT_CHARACTERS, ValueKind};

/// The most tags a video may have, by the schema.
pub const MAX_VIDEO_TAGS: usize = 32;

/// An element of an extension.
#[derive(Debug)]
pub struct Row {
    /// The name with the usual prefix.
    pub name: &'static str,
    /// Type of its text.
    pub kind: ValueKind,
    /// True when there has to be one.
    pub(crate) need: Need,
    /// Largest number in its parent.
    pub most: usize,
    /// The attributes.
    pub(crate) attributes: &'static [AttributeRow],
    /// The elements; it has these or a text.
    pub(crate) rows: &'static [Row],
}

/// An attribute of an element of an extension.
#[derive(Debug)]
pub struct AttributeRow {
    /// The name with the prefix.
    pub name: &'static str,
    /// Type of its value.
    pub kind: ValueKind,
    /// True when the element is unusable without it.
    pub is_required: bool,
}

/// Presence that an element requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
}

impl AttributeRow {
    /// An attribute that search engines ignore.
    const fn retired(name: &'static str) -> Self {
        Self {
            name,
            kind: ValueKind::Retired,
            is_required: false,
        }
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Row {}

impl Hash for Row {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Row {
    const fn optional(name: &'static str, kind: ValueKind) -> Self {
        Self {
            name,
            kind,
            need: Need::Optional,
            most: 1,
            attributes: &[],
            rows: &[],
        }
    }

    const fn required(name: &'static str, kind: ValueKind) -> Self {
        Self::optional(name, kind).needed()
    }

    /// An element that search engines dropped, or never read.
    const fn retired(name: &'static str) -> Self {
        Self::optional(name, ValueKind::Retired)
    }

    const fn parent(name: &'static str, rows: &'static [Self]) -> Self {
        Self {
            rows,
            ..Self::optional(name, ValueKind::Text(0))
        }
    }

    const fn needed(mut self) -> Self {
        self.need = Need::Required;
        self
    }

    const fn most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    const fn attributes(mut self, attributes: &'static [AttributeRow]) -> Self {
        self.attributes = attributes;
        self
    }

    /// The name without the prefix.
    pub fn local_name(&self) -> &'static str {
        self.name
            .split_once(':')
            .map_or(self.name, |(_, name)| name)
    }

    /// The attribute that is read, if there is one.
    pub fn attribute(&self) -> Option<&'static AttributeRow> {
        let mut attributes = self.attributes.iter();
        attributes.find(|attribute| attribute.kind != ValueKind::Retired)
    }

    /// The elements with a text: those in it, or itself.
    pub(crate) fn leaves(&self) -> &[Self] {
        if self.rows.is_empty() {
            std::slice::from_ref(self)
        } else {
            self.rows
        }
    }
}

/// The one element of an extension that is in an entry.
pub(crate) fn element_of(extension: Extension) -> &'static Row {
    match extension {
        Extension::Alternate => &LINK,
        Extension::Image => &IMAGE,
        Extension::Video => &VIDEO,
        Extension::News => &NEWS,
    }
}

static IMAGE: Row = Row::parent(
    "image:image",
    &[
        Row::required("image:loc", ValueKind::Url),
        Row::retired("image:caption"),
        Row::retired("image:geo_location"),
        Row::retired("image:title"),
        Row::retired("image:license"),
    ],
);

static VIDEO: Row = Row::parent(
    "video:video",
    &[
        Row::required("video:thumbnail_loc", ValueKind::Url),
        Row::required("video:title", ValueKind::Text(100)),
        Row::required("video:description", ValueKind::Text(2_048)),
        Row::optional("video:content_loc", ValueKind::Url),
        Row::optional("video:player_loc", ValueKind::Url).attributes(&[
            AttributeRow::retired("allow_embed"),
            AttributeRow::retired("autoplay"),
        ]),
        Row::optional("video:duration", ValueKind::Seconds),
        Row::optional("video:expiration_date", ValueKind::Date),
        Row::optional("video:rating", ValueKind::Rating),
        Row::retired("video:content_segment_loc")
            .most(MAX_VIDEO_TAGS)
            .attributes(&[AttributeRow::retired("duration")]),
        Row::optional("video:view_count", ValueKind::Count),
        Row::optional("video:publication_date", ValueKind::Date),
        Row::optional("video:tag", ValueKind::Text(MAX_TEXT_CHARACTERS)).most(MAX_VIDEO_TAGS),
        Row::retired("video:category"),
        Row::optional("video:family_friendly", ValueKind::YesNo),
        Row::optional("video:restriction", ValueKind::Countries).attributes(RELATIONSHIP),
        Row::retired("video:gallery_loc").attributes(&[AttributeRow::retired("title")]),
        Row::retired("video:price")
            .most(MAX_VIDEO_TAGS)
            .attributes(&[
                AttributeRow::retired("currency"),
                AttributeRow::retired("type"),
                AttributeRow::retired("resolution"),
            ]),
        Row::optional("video:requires_subscription", ValueKind::YesNo),
        Row::optional("video:uploader", ValueKind::Text(255)).attributes(&[AttributeRow {
            name: "info",
            kind: ValueKind::Url,
            is_required: false,
        }]),
        Row {
            kind: ValueKind::Retired,
            ..Row::parent("video:tvshow", TV_SHOW)
        },
        Row::optional("video:platform", ValueKind::Platforms).attributes(RELATIONSHIP),
        Row::optional("video:live", ValueKind::YesNo),
        Row::retired("video:id")
            .most(MAX_VIDEO_TAGS)
            .attributes(&[AttributeRow {
                is_required: true,
                ..AttributeRow::retired("type")
            }]),
    ],
);

const RELATIONSHIP: &[AttributeRow] = &[AttributeRow {
    name: "relationship",
    kind: ValueKind::Relationship,
    is_required: true,
}];

const TV_SHOW: &[Row] = &[
    Row::retired("video:show_title").needed(),
    Row::retired("video:video_type").needed(),
    Row::retired("video:episode_title"),
    Row::retired("video:season_number"),
    Row::retired("video:episode_number"),
    Row::retired("video:premier_date"),
];

static NEWS: Row = Row::parent(
    "news:news",
    &[
        Row::parent("news:publication", PUBLICATION),
        Row::retired("news:access"),
        Row::retired("news:genres"),
        Row::required("news:publication_date", ValueKind::Date),
        Row::required("news:title", ValueKind::Text(MAX_TEXT_CHARACTERS)),
        // Older than the schema, which has no place for it; documents had it here.
        Row::retired("news:geo_locations"),
        Row::retired("news:keywords"),
        Row::retired("news:stock_tickers"),
    ],
);

const PUBLICATION: &[Row] = &[
    Row::required("news:name", ValueKind::Text(MAX_TEXT_CHARACTERS)),
    Row::required("news:language", ValueKind::Language),
];

/// A link with the attributes of the schema of XHTML; the first three are used.
static LINK: Row = Row::optional("xhtml:link", ValueKind::Retired).attributes(&[
    AttributeRow::retired("rel"),
    AttributeRow::retired("hreflang"),
    AttributeRow::retired("href"),
    AttributeRow::retired("media"),
    AttributeRow::retired("type"),
    AttributeRow::retired("title"),
    AttributeRow::retired("charset"),
    AttributeRow::retired("rev"),
    AttributeRow::retired("id"),
    AttributeRow::retired("class"),
    AttributeRow::retired("style"),
    AttributeRow::retired("lang"),
    AttributeRow::retired("dir"),
    AttributeRow::retired("xml:lang"),
    AttributeRow::retired("onclick"),
    AttributeRow::retired("ondblclick"),
    AttributeRow::retired("onmousedown"),
    AttributeRow::retired("onmouseup"),
    AttributeRow::retired("onmouseover"),
    AttributeRow::retired("onmousemove"),
    AttributeRow::retired("onmouseout"),
    AttributeRow::retired("onkeypress"),
    AttributeRow::retired("onkeydown"),
    AttributeRow::retired("onkeyup"),
]);
