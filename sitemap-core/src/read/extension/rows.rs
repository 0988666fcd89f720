//! Which elements each extension has, in the order of its schema.

use super::{form::Form, schema_type::SchemaType};
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
    /// What its text may be by its schema alone.
    pub(super) form: Form,
    /// The type that its schema gives it.
    pub(super) schema_type: SchemaType,
    /// Its attributes.
    pub(super) attributes: &'static [AttributeRow],
    /// Its elements; it has these or a text.
    pub(super) rows: &'static [Row],
}

/// An attribute of an element of an extension.
#[derive(Debug)]
pub(in crate::read) struct AttributeRow {
    /// Its name with the prefix.
    pub(super) name: &'static str,
    /// What its value may be by its schema alone.
    pub(super) form: Form,
}

impl AttributeRow {
    pub(super) const fn new(name: &'static str, form: Form) -> Self {
        Self { name, form }
    }
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
            form: Form::ANY,
            schema_type: SchemaType::Unnamed,
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

/// The one element of an extension that stands in an entry.
pub(super) fn element_of(extension: Extension) -> &'static Row {
    match extension {
        Extension::Alternate => &LINK,
        Extension::Image => &IMAGE,
        Extension::Video => &VIDEO,
        Extension::News => &NEWS,
    }
}

static IMAGE: Row = Row::current("image:image").rows(&[
    Row::current("image:loc").of_type(SchemaType::Uri),
    Row::retired("image:caption").of_type(SchemaType::String),
    Row::retired("image:geo_location").of_type(SchemaType::String),
    Row::retired("image:title").of_type(SchemaType::String),
    Row::retired("image:license")
        .of_type(SchemaType::Uri)
        .form(Form::URI),
]);

static VIDEO: Row = Row::current("video:video").rows(&[
    Row::current("video:thumbnail_loc").of_type(SchemaType::Uri),
    Row::current("video:title"),
    Row::current("video:description"),
    Row::current("video:content_loc").of_type(SchemaType::Uri),
    Row::current("video:player_loc").attributes(&[
        AttributeRow::new("allow_embed", Form::YES_NO),
        AttributeRow::new("autoplay", Form::ANY),
    ]),
    Row::current("video:duration"),
    Row::current("video:expiration_date"),
    Row::current("video:rating"),
    Row::retired("video:content_segment_loc")
        .most(MAX_VIDEO_TAGS)
        .form(Form::URI)
        .attributes(&[AttributeRow::new("duration", Form::SECONDS)]),
    Row::current("video:view_count").of_type(SchemaType::Count),
    Row::current("video:publication_date"),
    Row::current("video:tag")
        .of_type(SchemaType::String)
        .most(MAX_VIDEO_TAGS),
    Row::retired("video:category").form(Form::CATEGORY),
    Row::current("video:family_friendly").of_type(SchemaType::YesNo),
    Row::current("video:restriction")
        .form(Form::COUNTRIES)
        .attributes(RELATIONSHIP),
    Row::retired("video:gallery_loc")
        .form(Form::URI)
        .attributes(&[AttributeRow::new("title", Form::ANY)]),
    Row::retired("video:price")
        .most(MAX_VIDEO_TAGS)
        .attributes(&[
            AttributeRow::new("currency", Form::CURRENCY),
            AttributeRow::new("type", Form::PRICE_TYPE),
            AttributeRow::new("resolution", Form::RESOLUTION),
        ]),
    Row::current("video:requires_subscription").of_type(SchemaType::YesNo),
    Row::current("video:uploader").attributes(&[AttributeRow::new("info", Form::ANY)]),
    Row::retired("video:tvshow").rows(TV_SHOW),
    Row::current("video:platform")
        .form(Form::PLATFORMS)
        .attributes(RELATIONSHIP),
    Row::current("video:live").of_type(SchemaType::YesNo),
    Row::retired("video:id")
        .most(MAX_VIDEO_TAGS)
        .attributes(&[AttributeRow::new("type", Form::ID_TYPE)]),
]);

/// What is wrong with it is told where it is read.
const RELATIONSHIP: &[AttributeRow] = &[AttributeRow::new("relationship", Form::ANY)];

const TV_SHOW: &[Row] = &[
    Row::current("video:show_title").of_type(SchemaType::String),
    Row::current("video:video_type").form(Form::VIDEO_TYPE),
    Row::current("video:episode_title").of_type(SchemaType::String),
    Row::current("video:season_number").form(Form::POSITIVE),
    Row::current("video:episode_number").form(Form::POSITIVE),
    Row::current("video:premier_date").form(Form::DATE),
];

static NEWS: Row = Row::current("news:news").rows(&[
    Row::current("news:publication").rows(PUBLICATION),
    Row::retired("news:access").form(Form::ACCESS),
    Row::retired("news:genres").form(Form::GENRES),
    Row::current("news:publication_date"),
    Row::current("news:title").of_type(SchemaType::String),
    // Older than the schema, which has no place for it; documents had it here.
    Row::retired("news:geo_locations"),
    Row::retired("news:keywords").of_type(SchemaType::String),
    Row::retired("news:stock_tickers").form(Form::TICKERS),
]);

const PUBLICATION: &[Row] = &[
    Row::current("news:name").of_type(SchemaType::String),
    Row::current("news:language"),
];

/// A link with the attributes that the schema of XHTML gives it; the first three are used.
static LINK: Row = Row::current("xhtml:link").attributes(&[
    AttributeRow::new("rel", Form::NAMES),
    AttributeRow::new("hreflang", Form::ANY),
    AttributeRow::new("href", Form::ANY),
    AttributeRow::new("media", Form::MEDIA),
    AttributeRow::new("type", Form::ANY),
    AttributeRow::new("title", Form::ANY),
    AttributeRow::new("charset", Form::ANY),
    AttributeRow::new("rev", Form::NAMES),
    AttributeRow::new("id", Form::ID),
    AttributeRow::new("class", Form::NAMES),
    AttributeRow::new("style", Form::ANY),
    AttributeRow::new("lang", Form::LANGUAGE),
    AttributeRow::new("dir", Form::DIRECTION),
    AttributeRow::new("xml:lang", Form::XML_LANGUAGE),
    AttributeRow::new("onclick", Form::ANY),
    AttributeRow::new("ondblclick", Form::ANY),
    AttributeRow::new("onmousedown", Form::ANY),
    AttributeRow::new("onmouseup", Form::ANY),
    AttributeRow::new("onmouseover", Form::ANY),
    AttributeRow::new("onmousemove", Form::ANY),
    AttributeRow::new("onmouseout", Form::ANY),
    AttributeRow::new("onkeypress", Form::ANY),
    AttributeRow::new("onkeydown", Form::ANY),
    AttributeRow::new("onkeyup", Form::ANY),
]);
