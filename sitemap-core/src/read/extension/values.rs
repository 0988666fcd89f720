//! Typed data of the texts of an extension's elements.
//!
//! White space around a value that is no free text is left out with a finding; free texts are trimmed anyway.

use super::{ExtensionProblem, Field, Fields, Position, Problem, ValueProblem, rows::element_of};
use crate::{
    LastMod, LastModError, Loc,
    extension::{
        Alternate, Hreflang, Image, Media, News, NewsLanguage, OwnElement, OwnNamespace, Platforms,
        Price, Rating, Relationship, Restriction, RetiredImage, RetiredNews, RetiredVideo, Text,
        TvShow, Uploader, Video, VideoDuration, VideoId, parse_count,
    },
    read::draft::read_loc,
};

/// What was wrong, and where.
type Problems = Vec<(Problem, Position)>;

pub(super) fn read_image(fields: Fields, problems: &mut Problems) -> Option<Image> {
    let mut values = Values::new(fields, problems);
    values.require("image:loc");
    let loc = values.loc("image:loc");
    let retired = RetiredImage {
        caption: values.retired_text("image:caption"),
        geo_location: values.retired_text("image:geo_location"),
        title: values.retired_text("image:title"),
        license: values.retired_loc("image:license"),
    };
    let mut image = Image::new(loc?);
    image.retired = boxed(retired);
    Some(image)
}

pub(super) fn read_news(fields: Fields, problems: &mut Problems) -> Option<News> {
    let mut values = Values::new(fields, problems);
    for name in [
        "news:name",
        "news:language",
        "news:publication_date",
        "news:title",
    ] {
        values.require(name);
    }
    let name = values.text("news:name");
    let language = values.scalar("news:language", NewsLanguage::parse);
    let date = values.date("news:publication_date");
    let title = values.text("news:title");
    let retired = RetiredNews {
        access: values.retired_text("news:access"),
        genres: values.retired_text("news:genres"),
        keywords: values.retired_text("news:keywords"),
        stock_tickers: values.retired_text("news:stock_tickers"),
        geo_locations: values.retired_text("news:geo_locations"),
    };
    let mut news = News::new(name?, language?, date?, title?);
    news.retired = boxed(retired);
    Some(news)
}

pub(super) fn read_video(fields: Fields, problems: &mut Problems) -> Option<Video> {
    let mut values = Values::new(fields, problems);
    for name in ["video:thumbnail_loc", "video:title", "video:description"] {
        values.require(name);
    }
    if !values.has("video:content_loc") && !values.has("video:player_loc") {
        values.missing("video:content_loc and no video:player_loc");
    }
    let thumbnail_loc = values.loc("video:thumbnail_loc");
    let title = values.text("video:title");
    let description = values.text("video:description");
    let content = values.loc("video:content_loc");
    let mut retired = read_retired_video(&mut values);
    let player = values.take("video:player_loc").and_then(|field| {
        retired.allow_embed = attribute(&field, "allow_embed");
        retired.autoplay = attribute(&field, "autoplay");
        let names = ["video:player_loc allow_embed", "video:player_loc autoplay"];
        for (name, value) in names
            .into_iter()
            .zip([&retired.allow_embed, &retired.autoplay])
        {
            if value.is_some() {
                let problem = Problem::OfExtension(ExtensionProblem::Retired { name });
                values.problems.push((problem, field.position));
            }
        }
        values.loc_of(&field)
    });
    let duration = values.scalar("video:duration", VideoDuration::parse);
    let expiration_date = values.date("video:expiration_date");
    let rating = values.scalar("video:rating", Rating::parse);
    let view_count = values.scalar("video:view_count", read_count);
    let publication_date = values.date("video:publication_date");
    let tags = values.take_all("video:tag");
    let tags: Vec<Text> = tags
        .iter()
        .filter_map(|field| values.text_of(field))
        .collect();
    let family_friendly = values.scalar("video:family_friendly", yes_or_no);
    let restriction = values
        .related("video:restriction")
        .and_then(|(relationship, field)| {
            values.scalar_of(&field, |text| Restriction::parse(relationship, text))
        });
    let requires_subscription = values.scalar("video:requires_subscription", yes_or_no);
    let uploader = values.take("video:uploader").and_then(|field| {
        let info = values.attribute_loc(&field, "info");
        let name = values.text_of(&field)?;
        Some(Uploader { name, info })
    });
    let platform = values
        .related("video:platform")
        .and_then(|(relationship, field)| {
            values.scalar_of(&field, |text| Platforms::parse(relationship, text))
        });
    let live = values.scalar("video:live", yes_or_no);

    // Only now, so that everything that is wrong has been told.
    let mut video = Video::new(
        thumbnail_loc?,
        title?,
        description?,
        Media::of(content, player)?,
    );
    video.duration = duration;
    video.expiration_date = expiration_date;
    video.rating = rating;
    video.view_count = view_count;
    video.publication_date = publication_date;
    for tag in tags {
        // There is room, or the element would not have been taken.
        let _ = video.add_tag(tag);
    }
    video.family_friendly = family_friendly;
    video.restriction = restriction;
    video.requires_subscription = requires_subscription;
    video.uploader = uploader;
    video.platform = platform;
    video.live = live;
    video.retired = boxed(retired);
    Some(video)
}

fn read_retired_video(values: &mut Values<'_>) -> RetiredVideo {
    let gallery = values.take("video:gallery_loc");
    values.require_in_retired();
    let show = TvShow {
        show_title: values.retired_text("video:show_title"),
        video_type: values.retired_text("video:video_type"),
        episode_title: values.retired_text("video:episode_title"),
        season_number: values.retired_text("video:season_number"),
        episode_number: values.retired_text("video:episode_number"),
        premier_date: values.retired_text("video:premier_date"),
    };
    RetiredVideo {
        content_segment_locs: values
            .take_all("video:content_segment_loc")
            .iter()
            .filter_map(|field| Loc::parse(field.text.as_deref()?.trim()).ok())
            .collect(),
        category: values.retired_text("video:category"),
        gallery_loc: gallery
            .as_ref()
            .and_then(|field| Loc::parse(field.text.as_deref()?.trim()).ok()),
        gallery_title: gallery.and_then(|field| attribute(&field, "title")),
        prices: values
            .take_all("video:price")
            .iter()
            .map(|field| Price {
                amount: field.text.as_deref().and_then(|text| Text::new(text).ok()),
                currency: attribute(field, "currency"),
                kind: attribute(field, "type"),
                resolution: attribute(field, "resolution"),
            })
            .collect(),
        tv_show: (show != TvShow::default()).then_some(show),
        ids: values
            .take_all("video:id")
            .iter()
            .filter_map(|field| {
                Some(VideoId {
                    kind: attribute(field, "type"),
                    id: Text::new(field.text.as_deref()?).ok()?,
                })
            })
            .collect(),
        ..RetiredVideo::default()
    }
}

/// A version of a page from the attributes of its link; nothing if it is no such link or lacks something.
pub(in crate::read) fn read_alternate(
    attributes: Vec<(&'static str, String)>,
    problems: &mut Vec<Problem>,
) -> Option<Alternate> {
    let mut attributes = attributes;
    let mut take = |name: &str| {
        let place = attributes.iter().position(|(other, _)| *other == name)?;
        Some(attributes.swap_remove(place).1)
    };
    let (rel, hreflang, href) = (take("rel"), take("hreflang"), take("href"));
    if hreflang.is_none() && take("media").is_some() {
        // A version for other screens, once a way to name mobile pages.
        problems.push(Problem::OfExtension(ExtensionProblem::Retired {
            name: "xhtml:link media",
        }));
        return None;
    }
    let mut needed = |what: &'static str, value: Option<String>| {
        if value.is_none() {
            let element = "xhtml:link";
            problems.push(Problem::OfExtension(ExtensionProblem::Missing {
                what,
                element,
            }));
        }
        value
    };
    let rel = needed("rel", rel);
    let hreflang = needed("hreflang", hreflang);
    let href = needed("href", href);
    let (rel, hreflang, href) = (rel?, hreflang?, href?);
    // Link types are separated by white space and in any case (HTML 4.01, section 6.12).
    let is_alternate = rel
        .split_ascii_whitespace()
        .any(|kind| kind.eq_ignore_ascii_case("alternate"));
    if !is_alternate {
        problems.push(bad_value("rel", ValueProblem::Rel));
        return None;
    }
    let hreflang = scalar("hreflang", &hreflang, problems, |text, _| {
        Hreflang::parse(text)
    });
    let href = scalar("href", &href, problems, read_loc);
    Some(Alternate::new(hreflang?, href?))
}

/// An element of an own namespace; what it cannot have is left out.
pub(in crate::read) fn read_own(
    namespace: &OwnNamespace,
    name: &str,
    attributes: Vec<(String, String)>,
    text: Option<&str>,
    problems: &mut Vec<Problem>,
) -> Option<OwnElement> {
    const NAME: &str = "own element";
    let mut element = match OwnElement::new(namespace, name) {
        Ok(element) => element,
        Err(error) => {
            problems.push(bad_value(NAME, error.into()));
            return None;
        }
    };
    for (name, value) in attributes {
        let problem = match Text::new(&value) {
            Ok(value) => match element.clone().with_attribute(&name, value) {
                Ok(with) => {
                    element = with;
                    continue;
                }
                Err(error) => error.into(),
            },
            Err(error) => ValueProblem::from(error),
        };
        problems.push(bad_value(NAME, problem));
    }
    match text.filter(|text| !text.trim().is_empty()).map(Text::new) {
        None => Some(element),
        Some(Ok(text)) => Some(element.with_text(text)),
        Some(Err(error)) => {
            problems.push(bad_value(NAME, error.into()));
            Some(element)
        }
    }
}

/// The values of an element's elements, each taken once.
struct Values<'a> {
    element: &'static str,
    position: Position,
    /// The elements with elements that came.
    containers: Vec<&'static str>,
    fields: Vec<Field>,
    problems: &'a mut Problems,
}

impl<'a> Values<'a> {
    fn new(fields: Fields, problems: &'a mut Problems) -> Self {
        Self {
            element: element_of(fields.extension).name,
            position: fields.position,
            containers: fields.containers,
            fields: fields.read,
            problems,
        }
    }

    fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.row.name == name)
    }

    /// Tells if an element is missing.
    fn require(&mut self, name: &'static str) {
        if !self.has(name) {
            self.missing(name);
        }
    }

    /// Tells what only the schema misses, in elements that nobody reads any more.
    fn require_in_retired(&mut self) {
        if self.containers.contains(&"video:tvshow") {
            for what in ["video:show_title", "video:video_type"] {
                if !self.has(what) {
                    self.missing_in("video:tvshow", what, self.position);
                }
            }
        }
        let is_untyped =
            |field: &&Field| field.row.name == "video:id" && value_of(field, "type").is_none();
        if let Some(id) = self.fields.iter().find(is_untyped) {
            self.missing_in("video:id", "type", id.position);
        }
    }

    fn missing_in(&mut self, element: &'static str, what: &'static str, position: Position) {
        let problem = Problem::OfExtension(ExtensionProblem::Missing { what, element });
        self.problems.push((problem, position));
    }

    fn missing(&mut self, what: &'static str) {
        self.missing_in(self.element, what, self.position);
    }

    fn take(&mut self, name: &str) -> Option<Field> {
        let place = self
            .fields
            .iter()
            .position(|field| field.row.name == name)?;
        Some(self.fields.remove(place))
    }

    fn take_all(&mut self, name: &str) -> Vec<Field> {
        let is_one = |field: &mut Field| field.row.name == name;
        self.fields.extract_if(.., is_one).collect()
    }

    fn loc(&mut self, name: &str) -> Option<Loc> {
        self.take(name).and_then(|field| self.loc_of(&field))
    }

    fn loc_of(&mut self, field: &Field) -> Option<Loc> {
        self.judge(field, field.row.name, field.text.as_deref()?, read_loc)
    }

    fn attribute_loc(&mut self, field: &Field, name: &'static str) -> Option<Loc> {
        self.judge(field, name, value_of(field, name)?, read_loc)
    }

    fn text<const MAX: usize>(&mut self, name: &str) -> Option<Text<MAX>> {
        self.take(name).and_then(|field| self.text_of(&field))
    }

    fn text_of<const MAX: usize>(&mut self, field: &Field) -> Option<Text<MAX>> {
        match Text::new(field.text.as_deref()?) {
            Ok(text) => Some(text),
            Err(error) => {
                self.problems
                    .push((bad_value(field.row.name, error.into()), field.position));
                None
            }
        }
    }

    fn date(&mut self, name: &str) -> Option<LastMod> {
        let field = self.take(name)?;
        let text = field.text.as_deref()?;
        self.judge(
            &field,
            field.row.name,
            text,
            |text, problems| match LastMod::parse(text) {
                Err(LastModError::ZoneMissing) => {
                    let date = LastMod::parse(&format!("{text}Z"))
                        .map_err(|_| LastModError::ZoneMissing)?;
                    problems.push(Problem::OfExtension(ExtensionProblem::ZoneAssumed {
                        name: field.row.name,
                    }));
                    Ok(date)
                }
                other => other,
            },
        )
    }

    fn scalar<T, E: Into<ValueProblem>>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let field = self.take(name)?;
        self.scalar_of(&field, parse)
    }

    fn scalar_of<T, E: Into<ValueProblem>>(
        &mut self,
        field: &Field,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let text = field.text.as_deref()?;
        self.judge(field, field.row.name, text, |text, _| parse(text))
    }

    /// An element whose attribute says whether its list is of what is allowed or of what is not.
    fn related(&mut self, name: &str) -> Option<(Relationship, Field)> {
        const ATTRIBUTE: &str = "relationship";
        let field = self.take(name)?;
        let Some(value) = value_of(&field, ATTRIBUTE) else {
            let problem = Problem::OfExtension(ExtensionProblem::Missing {
                what: ATTRIBUTE,
                element: field.row.name,
            });
            self.problems.push((problem, field.position));
            return None;
        };
        let relationship = self.judge(&field, ATTRIBUTE, value, |text, _| {
            Relationship::parse(text).ok_or(ValueProblem::Relationship)
        })?;
        Some((relationship, field))
    }

    fn judge<T, E: Into<ValueProblem>>(
        &mut self,
        field: &Field,
        name: &'static str,
        text: &str,
        parse: impl FnOnce(&str, &mut Vec<Problem>) -> Result<T, E>,
    ) -> Option<T> {
        let mut problems = Vec::new();
        let value = scalar(name, text, &mut problems, parse);
        let with_position = problems
            .into_iter()
            .map(|problem| (problem, field.position));
        self.problems.extend(with_position);
        value
    }

    /// A text that nobody reads any more; nothing is said about it.
    fn retired_text<const MAX: usize>(&mut self, name: &str) -> Option<Text<MAX>> {
        Text::new(self.take(name)?.text.as_deref()?).ok()
    }

    fn retired_loc(&mut self, name: &str) -> Option<Loc> {
        Loc::parse(self.take(name)?.text.as_deref()?.trim()).ok()
    }
}

/// A value without the white space around it.
fn scalar<T, E: Into<ValueProblem>>(
    name: &'static str,
    text: &str,
    problems: &mut Vec<Problem>,
    parse: impl FnOnce(&str, &mut Vec<Problem>) -> Result<T, E>,
) -> Option<T> {
    let value = text.trim();
    if value.len() < text.len() && !value.is_empty() {
        problems.push(Problem::OfExtension(ExtensionProblem::Padded { name }));
    }
    match parse(value, problems) {
        Ok(value) => Some(value),
        Err(error) => {
            problems.push(bad_value(name, error.into()));
            None
        }
    }
}

fn bad_value(name: &'static str, problem: ValueProblem) -> Problem {
    Problem::OfExtension(ExtensionProblem::Value { name, problem })
}

fn value_of<'a>(field: &'a Field, name: &str) -> Option<&'a str> {
    let mut attributes = field.attributes.values.iter();
    attributes
        .find(|(other, _)| *other == name)
        .map(|(_, value)| value.as_str())
}

/// An attribute as a text that nobody reads any more.
fn attribute(field: &Field, name: &str) -> Option<Text> {
    Text::new(value_of(field, name)?).ok()
}

/// A `nonNegativeInteger` of the schema, which may have a sign and any number of digits.
fn read_count(text: &str) -> Result<u64, ValueProblem> {
    let is_zero = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit == b'0');
    if text.strip_prefix('-').is_some_and(is_zero) {
        return Ok(0);
    }
    let digits = text.strip_prefix('+').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match parse_count(digits) {
        Some(count) => Ok(count),
        None if is_number => Err(ValueProblem::LargeCount),
        None => Err(ValueProblem::Count),
    }
}

/// The schema knows three spellings of each.
fn yes_or_no(text: &str) -> Result<bool, ValueProblem> {
    match text {
        "yes" | "Yes" | "YES" => Ok(true),
        "no" | "No" | "NO" => Ok(false),
        _ => Err(ValueProblem::YesNo),
    }
}

/// Nothing for a value that holds nothing.
fn boxed<T: Default + PartialEq>(value: T) -> Option<Box<T>> {
    (value != T::default()).then(|| Box::new(value))
}
