//! The table of the elements of each extension, in the order of its schema. It drives the reading and writing of XML and JSON,
//! the names of columns in lists, and the checks.

use std::hash::{Hash, Hasher};

use super::{Extension, Kind, MAX_TEXT_CHARACTERS, form::Form, schema_type::SchemaType};

/// The most tags a video may have, by the schema.
pub const MAX_VIDEO_TAGS: usize = 32;

/// An element of an extension.
#[derive(Debug)]
pub struct Row {
    /// Its name with the usual prefix.
    pub name: &'static str,
    /// Type of its text.
    pub kind: Kind,
    /// True when there has to be one.
    pub(crate) need: Need,
    /// Largest number in its parent.
    pub most: usize,
    /// Form of its text by its schema alone.
    pub(crate) form: Form,
    /// Its type by its schema.
    pub(crate) schema_type: SchemaType,
    /// Its attributes.
    pub(crate) attributes: &'static [AttributeRow],
    /// Its elements; it has these or a text.
    pub(crate) rows: &'static [Row],
}

/// An attribute of an element of an extension.
#[derive(Debug)]
pub struct AttributeRow {
    /// Its name with the prefix.
    pub name: &'static str,
    /// Type of its value.
    pub kind: Kind,
    /// True when the element is unusable without it.
    pub is_required: bool,
    /// Form of its value by its schema alone.
    pub(crate) form: Form,
}

/// Presence that an element requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
}

impl AttributeRow {
    /// An attribute that search engines ignore.
    const fn retired(name: &'static str, form: Form) -> Self {
        Self {
            name,
            kind: Kind::Retired,
            is_required: false,
            form,
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
    const fn optional(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            need: Need::Optional,
            most: 1,
            form: Form::ANY,
            schema_type: SchemaType::Unnamed,
            attributes: &[],
            rows: &[],
        }
    }

    const fn required(name: &'static str, kind: Kind) -> Self {
        Self::optional(name, kind).needed()
    }

    /// An element that search engines dropped, or never read.
    const fn retired(name: &'static str) -> Self {
        Self::optional(name, Kind::Retired)
    }

    const fn parent(name: &'static str, rows: &'static [Self]) -> Self {
        Self {
            rows,
            ..Self::optional(name, Kind::Text(0))
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

    const fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    const fn of_type(mut self, schema_type: SchemaType) -> Self {
        self.schema_type = schema_type;
        self
    }

    const fn attributes(mut self, attributes: &'static [AttributeRow]) -> Self {
        self.attributes = attributes;
        self
    }

    /// Its name without the prefix.
    pub fn local_name(&self) -> &'static str {
        self.name
            .split_once(':')
            .map_or(self.name, |(_, name)| name)
    }

    /// Its attribute that is read, if there is one.
    pub fn attribute(&self) -> Option<&'static AttributeRow> {
        let mut attributes = self.attributes.iter();
        attributes.find(|attribute| attribute.kind != Kind::Retired)
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

/// The one element of an extension that stands in an entry.
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
        Row::required("image:loc", Kind::Url).of_type(SchemaType::Uri),
        Row::retired("image:caption").of_type(SchemaType::String),
        Row::retired("image:geo_location").of_type(SchemaType::String),
        Row::retired("image:title").of_type(SchemaType::String),
        Row::retired("image:license")
            .of_type(SchemaType::Uri)
            .form(Form::URI),
    ],
);

static VIDEO: Row = Row::parent(
    "video:video",
    &[
        Row::required("video:thumbnail_loc", Kind::Url).of_type(SchemaType::Uri),
        Row::required("video:title", Kind::Text(100)),
        Row::required("video:description", Kind::Text(2_048)),
        Row::optional("video:content_loc", Kind::Url).of_type(SchemaType::Uri),
        Row::optional("video:player_loc", Kind::Url).attributes(&[
            AttributeRow::retired("allow_embed", Form::YES_NO),
            AttributeRow::retired("autoplay", Form::ANY),
        ]),
        Row::optional("video:duration", Kind::Seconds),
        Row::optional("video:expiration_date", Kind::Date),
        Row::optional("video:rating", Kind::Rating),
        Row::retired("video:content_segment_loc")
            .most(MAX_VIDEO_TAGS)
            .form(Form::URI)
            .attributes(&[AttributeRow::retired("duration", Form::SECONDS)]),
        Row::optional("video:view_count", Kind::Count).of_type(SchemaType::Count),
        Row::optional("video:publication_date", Kind::Date),
        Row::optional("video:tag", Kind::Text(MAX_TEXT_CHARACTERS))
            .of_type(SchemaType::String)
            .most(MAX_VIDEO_TAGS),
        Row::retired("video:category").form(Form::CATEGORY),
        Row::optional("video:family_friendly", Kind::YesNo).of_type(SchemaType::YesNo),
        Row::optional("video:restriction", Kind::Countries)
            .form(Form::COUNTRIES)
            .attributes(RELATIONSHIP),
        Row::retired("video:gallery_loc")
            .form(Form::URI)
            .attributes(&[AttributeRow::retired("title", Form::ANY)]),
        Row::retired("video:price")
            .most(MAX_VIDEO_TAGS)
            .attributes(&[
                AttributeRow::retired("currency", Form::CURRENCY),
                AttributeRow::retired("type", Form::PRICE_TYPE),
                AttributeRow::retired("resolution", Form::RESOLUTION),
            ]),
        Row::optional("video:requires_subscription", Kind::YesNo).of_type(SchemaType::YesNo),
        Row::optional("video:uploader", Kind::Text(255)).attributes(&[AttributeRow {
            name: "info",
            kind: Kind::Url,
            is_required: false,
            form: Form::ANY,
        }]),
        Row {
            kind: Kind::Retired,
            ..Row::parent("video:tvshow", TV_SHOW)
        },
        Row::optional("video:platform", Kind::Platforms)
            .form(Form::PLATFORMS)
            .attributes(RELATIONSHIP),
        Row::optional("video:live", Kind::YesNo).of_type(SchemaType::YesNo),
        Row::retired("video:id")
            .most(MAX_VIDEO_TAGS)
            .attributes(&[AttributeRow {
                is_required: true,
                ..AttributeRow::retired("type", Form::ID_TYPE)
            }]),
    ],
);

const RELATIONSHIP: &[AttributeRow] = &[AttributeRow {
    name: "relationship",
    kind: Kind::Relationship,
    is_required: true,
    form: Form::ANY,
}];

const TV_SHOW: &[Row] = &[
    Row::retired("video:show_title")
        .of_type(SchemaType::String)
        .needed(),
    Row::retired("video:video_type")
        .form(Form::VIDEO_TYPE)
        .needed(),
    Row::retired("video:episode_title").of_type(SchemaType::String),
    Row::retired("video:season_number").form(Form::POSITIVE),
    Row::retired("video:episode_number").form(Form::POSITIVE),
    Row::retired("video:premier_date").form(Form::DATE),
];

static NEWS: Row = Row::parent(
    "news:news",
    &[
        Row::parent("news:publication", PUBLICATION),
        Row::retired("news:access").form(Form::ACCESS),
        Row::retired("news:genres").form(Form::GENRES),
        Row::required("news:publication_date", Kind::Date),
        Row::required("news:title", Kind::Text(MAX_TEXT_CHARACTERS)).of_type(SchemaType::String),
        // Older than the schema, which has no place for it; documents had it here.
        Row::retired("news:geo_locations"),
        Row::retired("news:keywords").of_type(SchemaType::String),
        Row::retired("news:stock_tickers").form(Form::TICKERS),
    ],
);

const PUBLICATION: &[Row] = &[
    Row::required("news:name", Kind::Text(MAX_TEXT_CHARACTERS)).of_type(SchemaType::String),
    Row::required("news:language", Kind::Language),
];

/// A link with the attributes of the schema of XHTML; the first three are used.
static LINK: Row = Row::optional("xhtml:link", Kind::Retired).attributes(&[
    AttributeRow::retired("rel", Form::NAMES),
    AttributeRow::retired("hreflang", Form::ANY),
    AttributeRow::retired("href", Form::ANY),
    AttributeRow::retired("media", Form::MEDIA),
    AttributeRow::retired("type", Form::ANY),
    AttributeRow::retired("title", Form::ANY),
    AttributeRow::retired("charset", Form::ANY),
    AttributeRow::retired("rev", Form::NAMES),
    AttributeRow::retired("id", Form::ID),
    AttributeRow::retired("class", Form::NAMES),
    AttributeRow::retired("style", Form::ANY),
    AttributeRow::retired("lang", Form::LANGUAGE),
    AttributeRow::retired("dir", Form::DIRECTION),
    AttributeRow::retired("xml:lang", Form::XML_LANGUAGE),
    AttributeRow::retired("onclick", Form::ANY),
    AttributeRow::retired("ondblclick", Form::ANY),
    AttributeRow::retired("onmousedown", Form::ANY),
    AttributeRow::retired("onmouseup", Form::ANY),
    AttributeRow::retired("onmouseover", Form::ANY),
    AttributeRow::retired("onmousemove", Form::ANY),
    AttributeRow::retired("onmouseout", Form::ANY),
    AttributeRow::retired("onkeypress", Form::ANY),
    AttributeRow::retired("onkeydown", Form::ANY),
    AttributeRow::retired("onkeyup", Form::ANY),
]);
