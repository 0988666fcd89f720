//! Extensions from a JSON object, in the forms that people write: one value or a list, texts or
//! numbers. An element that cannot be used is left out with its reason; the others stay.

use std::fmt;

use serde_json::{Map, Value};
use sitemap_core::{
    LastMod, Loc,
    extension::{
        Alternate, Extensions, Hreflang, Image, Media, News, NewsLanguage, OwnElement,
        OwnNamespace, Platforms, Rating, Relationship, Restriction, Text, Uploader, Video,
        VideoDuration,
    },
};

/// Something in an object of extensions that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct GivenExtensionsError {
    /// Which part of the object, e.g. `videos[0].duration`.
    pub path: String,
    /// What is wrong with it, and what was expected.
    pub problem: String,
}

/// Makes a [`Loc`] of a URL as it is written, absolute or relative.
type Resolve<'a> = dyn Fn(&str) -> Result<Loc, String> + 'a;

/// What one part of the object comes to.
type Read<T> = Result<T, GivenExtensionsError>;

/// Reads the extensions of an object: its keys `images`, `videos`, `news`, `alternates` and `own`. A list
/// may be a single value. Other keys are not looked at.
///
/// What cannot be used is left out and said: an image, a version, an element as a whole; of a film and of
/// an article the value, or the whole when it cannot do without.
///
/// ```
/// use crawler::page::extensions_from_json;
/// use sitemap_core::Loc;
///
/// let object = serde_json::json!({"images": ["https://example.com/a.jpg", "b.jpg"]});
/// let resolve = |text: &str| Loc::parse(text).map_err(|error| error.to_string());
/// let (extensions, errors) = extensions_from_json(object.as_object().unwrap(), &resolve);
/// assert_eq!(extensions.images().len(), 1);
/// assert_eq!(errors[0].path, "images[1]");
/// ```
pub fn extensions_from_json(
    object: &Map<String, Value>,
    resolve: &Resolve<'_>,
) -> (Extensions, Vec<GivenExtensionsError>) {
    let mut reading = Reading {
        resolve,
        extensions: Extensions::default(),
        errors: Vec::new(),
    };
    reading.each(object, "images", Reading::image);
    reading.each(object, "videos", Reading::video);
    reading.each(object, "alternates", Reading::alternate);
    reading.each(object, "own", Reading::own);
    reading.each(object, "news", Reading::news);
    (reading.extensions, reading.errors)
}

struct Reading<'a> {
    resolve: &'a Resolve<'a>,
    extensions: Extensions,
    errors: Vec<GivenExtensionsError>,
}

/// A value and where it stands.
#[derive(Clone, Copy)]
struct Part<'a> {
    value: &'a Value,
    path: &'a str,
}

impl<'a> Part<'a> {
    fn error(&self, problem: impl fmt::Display) -> GivenExtensionsError {
        GivenExtensionsError {
            path: self.path.to_owned(),
            problem: problem.to_string(),
        }
    }

    fn object(&self, expected: &str) -> Read<&'a Map<String, Value>> {
        self.value
            .as_object()
            .ok_or_else(|| self.error(format!("expected {expected}")))
    }

    /// Text, or a number as text.
    fn text(&self) -> Read<String> {
        match self.value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                Err(self.error("expected text"))
            }
        }
    }

    /// Parses its text.
    fn parse<T, E: fmt::Display>(&self, parse: impl FnOnce(&str) -> Result<T, E>) -> Read<T> {
        parse(self.text()?.trim()).map_err(|error| self.error(error))
    }
}

/// Text, or a number as text.
fn plain_text(part: &Part<'_>) -> Read<String> {
    part.text()
}

/// `true`, `false`, or the words that the schema has.
fn flag(part: &Part<'_>) -> Read<bool> {
    match part.value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(word) => match word.trim().to_ascii_lowercase().as_str() {
            "yes" | "true" | "1" => Ok(true),
            "no" | "false" | "0" => Ok(false),
            _ => Err(part.error("expected yes or no")),
        },
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(part.error("expected yes or no"))
        }
    }
}

/// The members of an object that is read.
#[derive(Clone, Copy)]
struct Members<'a> {
    object: &'a Map<String, Value>,
    path: &'a str,
}

impl<'a> Members<'a> {
    /// What `read` makes of a member, if it is there and says anything.
    fn optional<T>(&self, name: &str, read: impl FnOnce(&Part<'_>) -> Read<T>) -> Read<Option<T>> {
        let value = self.object.get(name).filter(|value| says_something(value));
        let Some(value) = value else {
            return Ok(None);
        };
        let path = format!("{}.{name}", self.path);
        read(&Part { value, path: &path }).map(Some)
    }

    /// Reads a member that must be there.
    fn required<T>(&self, name: &str, read: impl FnOnce(&Part<'_>) -> Read<T>) -> Read<T> {
        self.optional(name, read)?
            .ok_or_else(|| GivenExtensionsError {
                path: self.path.to_owned(),
                problem: format!("there is no {name}"),
            })
    }

    fn has(&self, name: &str) -> bool {
        self.object.get(name).is_some_and(says_something)
    }

    fn of(part: &Part<'a>, expected: &str) -> Read<Self> {
        Ok(Self {
            object: part.object(expected)?,
            path: part.path,
        })
    }
}

/// Whether a value is neither null nor empty text.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    }
}

impl Reading<'_> {
    /// Reads each value of a list, which may be a single value.
    fn each(
        &mut self,
        object: &Map<String, Value>,
        name: &str,
        read: impl Fn(&mut Self, &Part<'_>) -> Read<()>,
    ) {
        let Some(value) = object.get(name) else {
            return;
        };
        let (values, is_list) = match value {
            Value::Array(values) => (values.as_slice(), true),
            single => (std::slice::from_ref(single), false),
        };
        for (number, value) in values
            .iter()
            .enumerate()
            .filter(|(_, value)| says_something(value))
        {
            let path = if is_list {
                format!("{name}[{number}]")
            } else {
                name.to_owned()
            };
            let read = read(self, &Part { value, path: &path });
            self.errors.extend(read.err());
        }
    }

    /// Reads a value that can be done without.
    fn value<T>(&mut self, read: Read<Option<T>>) -> Option<T> {
        read.unwrap_or_else(|error| {
            self.errors.push(error);
            None
        })
    }

    /// A URL. A number is none, although it could be a relative one.
    fn loc(&self, part: &Part<'_>) -> Read<Loc> {
        if part.value.is_number() {
            return Err(part.error(format!("expected a URL, found {}", part.value)));
        }
        part.parse(|text| (self.resolve)(text))
    }

    fn text<const MAX: usize>(&mut self, part: &Part<'_>) -> Read<Text<MAX>> {
        let text: Text<MAX> = part.parse(Text::new)?;
        if text.replaced() > 0 {
            self.errors.push(part.error(format!(
                "{} characters that XML does not have are replaced",
                text.replaced()
            )));
        }
        Ok(text)
    }

    fn image(&mut self, part: &Part<'_>) -> Read<()> {
        let loc = match part.value {
            Value::Object(object) => Members {
                object,
                path: part.path,
            }
            .required("loc", |part| self.loc(part))?,
            _ => self.loc(part)?,
        };
        self.extensions
            .add_image(Image::new(loc))
            .map_err(|error| part.error(error))
    }

    fn alternate(&mut self, part: &Part<'_>) -> Read<()> {
        let members = Members::of(part, "an object with hreflang and href")?;
        let hreflang = members.required("hreflang", |part| part.parse(Hreflang::parse))?;
        let href = members.required("href", |part| self.loc(part))?;
        self.extensions
            .add_alternate(Alternate::new(hreflang, href))
            .map_err(|error| part.error(error))
    }

    fn news(&mut self, part: &Part<'_>) -> Read<()> {
        let members = Members::of(
            part,
            "an object with name, language, publication_date and title",
        )?;
        // As elements are nested, or flat as columns are.
        let publication = members.object.get("publication").and_then(Value::as_object);
        let publication = Members {
            object: publication.unwrap_or(members.object),
            path: part.path,
        };
        let name = publication.required("name", |part| self.text(part))?;
        let language = publication.required("language", |part| part.parse(NewsLanguage::parse))?;
        let date = members.required("publication_date", |part| part.parse(LastMod::parse))?;
        let title = members.required("title", |part| self.text(part))?;
        self.extensions
            .set_news(News::new(name, language, date, title))
            .map_err(|error| part.error(error))
    }

    fn video(&mut self, part: &Part<'_>) -> Read<()> {
        let members = Members::of(
            part,
            "an object with thumbnail_loc, title, description, and content_loc or player_loc",
        )?;
        let thumbnail = members.required("thumbnail_loc", |part| self.loc(part))?;
        let title = members.required("title", |part| self.text(part))?;
        let description = members.required("description", |part| self.text(part))?;
        let content = members.optional("content_loc", |part| self.loc(part))?;
        let player = members.optional("player_loc", |part| self.loc(part))?;
        let media = Media::of(content, player)
            .ok_or_else(|| part.error("there is neither content_loc nor player_loc"))?;
        let mut video = Video::new(thumbnail, title, description, media);
        video.duration =
            self.value(members.optional("duration", |part| part.parse(VideoDuration::parse)));
        video.expiration_date =
            self.value(members.optional("expiration_date", |part| part.parse(LastMod::parse)));
        video.rating = self.value(members.optional("rating", |part| part.parse(Rating::parse)));
        video.view_count =
            self.value(members.optional("view_count", |part| part.parse(str::parse::<u64>)));
        video.publication_date =
            self.value(members.optional("publication_date", |part| part.parse(LastMod::parse)));
        video.family_friendly = self.value(members.optional("family_friendly", flag));
        video.requires_subscription = self.value(members.optional("requires_subscription", flag));
        video.live = self.value(members.optional("live", flag));
        let restriction = members.optional("restriction", |part| {
            let (relationship, countries) = self.relation(part, "countries")?;
            Restriction::parse(relationship, &countries).map_err(|error| part.error(error))
        });
        video.restriction = self.value(restriction);
        let platform = members.optional("platform", |part| {
            let (relationship, platforms) = self.relation(part, "platforms")?;
            Platforms::parse(relationship, &platforms).map_err(|error| part.error(error))
        });
        video.platform = self.value(platform);
        let uploader = members.optional("uploader", |part| self.uploader(part));
        video.uploader = self.value(uploader);
        self.tags(&members, &mut video);
        self.extensions
            .add_video(video)
            .map_err(|error| part.error(error))
    }

    fn uploader(&mut self, part: &Part<'_>) -> Read<Uploader> {
        if !part.value.is_object() {
            let name = self.text(part)?;
            return Ok(Uploader { name, info: None });
        }
        let members = Members::of(part, "a name, or an object with name and info")?;
        let name = members.required("name", |part| self.text(part))?;
        let info = members.optional("info", |part| self.loc(part))?;
        Ok(Uploader { name, info })
    }

    fn tags(&mut self, members: &Members<'_>, video: &mut Video) {
        let name = if members.has("tags") { "tags" } else { "tag" };
        let Some(value) = members.object.get(name) else {
            return;
        };
        let tags = match value {
            Value::Array(tags) => tags.as_slice(),
            single => std::slice::from_ref(single),
        };
        let tags = tags.iter().enumerate();
        for (number, value) in tags.filter(|(_, value)| says_something(value)) {
            let path = format!("{}.{name}[{number}]", members.path);
            let part = Part { value, path: &path };
            let added = self
                .text(&part)
                .and_then(|tag| video.add_tag(tag).map_err(|error| part.error(error)));
            self.errors.extend(added.err());
        }
    }

    /// `{"relationship": "allow", "<names>": "a b"}`; a list of names is taken too.
    fn relation(&mut self, part: &Part<'_>, names: &str) -> Read<(Relationship, String)> {
        let members = Members::of(part, &format!("an object with relationship and {names}"))?;
        let relationship = members.required("relationship", |part| {
            part.parse(|text| Relationship::parse(text).ok_or("expected allow or deny"))
        })?;
        let text = members.optional(names, |part| match part.value {
            Value::Array(values) => Ok(self.names(values, part.path)),
            _ => part.text(),
        })?;
        Ok((relationship, text.unwrap_or_default()))
    }

    /// The names of a list, with a blank between them.
    fn names(&mut self, values: &[Value], path: &str) -> String {
        let mut names = Vec::new();
        let values = values.iter().enumerate();
        for (number, value) in values.filter(|(_, value)| says_something(value)) {
            match value {
                Value::String(name) => names.push(name.trim()),
                other => self.errors.push(GivenExtensionsError {
                    path: format!("{path}[{number}]"),
                    problem: format!("expected text, found {other}"),
                }),
            }
        }
        names.join(" ")
    }

    fn own(&mut self, part: &Part<'_>) -> Read<()> {
        let members = Members::of(part, "an object with prefix, namespace and name")?;
        let prefix = members.required("prefix", plain_text)?;
        let address = members.required("namespace", plain_text)?;
        let mut namespace =
            OwnNamespace::new(&prefix, &address).map_err(|error| part.error(error))?;
        if let Some(schema) = members.optional("schema", |part| self.loc(part))? {
            namespace = namespace.with_schema(schema);
        }
        let name = members.required("name", plain_text)?;
        let mut element = OwnElement::new(&namespace, &name).map_err(|error| part.error(error))?;
        if let Some(text) = members.optional("text", |part| self.text(part))? {
            element = element.with_text(text);
        }
        let attributes = members.object.get("attributes").and_then(Value::as_object);
        for (name, value) in attributes.into_iter().flatten() {
            let value = self.text(&Part {
                value,
                path: part.path,
            })?;
            element = element
                .with_attribute(name, value)
                .map_err(|error| part.error(error))?;
        }
        self.extensions
            .add_own(element)
            .map_err(|error| part.error(error))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::page::Given;

    fn read(object: &Value) -> (Extensions, Vec<String>) {
        let resolve = |text: &str| {
            let absolute = if text.contains("://") {
                text.to_owned()
            } else {
                format!("https://example.com/{text}")
            };
            Loc::parse(&absolute).map_err(|error| error.to_string())
        };
        let (extensions, errors) = extensions_from_json(object.as_object().unwrap(), &resolve);
        (extensions, errors.iter().map(ToString::to_string).collect())
    }

    fn everything() -> Value {
        json!({
            "images": ["a.jpg", {"loc": "https://cdn.example/b.jpg"}],
            "alternates": [
                {"hreflang": "de", "href": "de/"},
                {"hreflang": "x-default", "href": "https://example.com/"},
            ],
            "videos": [{
                "thumbnail_loc": "t.jpg",
                "title": "A \"title\" & more",
                "description": "<b>words</b>",
                "content_loc": "v.mp4",
                "player_loc": "player?v=1",
                "duration": 600,
                "expiration_date": "2030-01-02",
                "rating": 4.2,
                "view_count": "12345",
                "publication_date": "2026-01-02T03:04:05+00:00",
                "family_friendly": "yes",
                "restriction": {"relationship": "allow", "countries": ["IE", "GB"]},
                "requires_subscription": false,
                "uploader": {"name": "Someone", "info": "https://example.com/someone"},
                "platform": {"relationship": "deny", "platforms": "tv web"},
                "live": "no",
                "tags": ["one", "two"],
            }],
            "news": {
                "publication": {"name": "The Example", "language": "en"},
                "publication_date": "2026-03-01",
                "title": "Something",
            },
            "own": [{
                "prefix": "shop", "namespace": "https://example.com/ns/shop", "name": "price",
                "attributes": {"currency": "EUR"}, "text": "12.50",
            }],
        })
    }

    #[test]
    fn every_extension_is_read_and_comes_back_from_its_text() {
        let (extensions, errors) = read(&everything());
        assert_eq!(errors, [""; 0]);
        assert_eq!(extensions.images().len(), 2);
        assert_eq!(extensions.alternates().len(), 2);
        let video = &extensions.videos()[0];
        assert_eq!(video.duration.map(VideoDuration::seconds), Some(600));
        assert_eq!(video.rating.map(Rating::tenths), Some(42));
        assert_eq!(video.family_friendly, Some(true));
        assert_eq!(video.live, Some(false));
        assert_eq!(video.tags().len(), 2);
        assert!(
            video.restriction.is_some() && video.platform.is_some() && video.uploader.is_some()
        );
        assert_eq!(extensions.news().unwrap().title.as_str(), "Something");
        assert_eq!(extensions.own_elements()[0].name(), "price");
        let given = Given {
            extensions,
            ..Given::default()
        };
        let text = given.texts()[3].clone().unwrap();
        let (again, errors) = read(&serde_json::from_str(&text).unwrap());
        assert_eq!(errors, [""; 0]);
        assert_eq!(again, given.extensions);
    }

    #[test]
    fn a_single_value_is_a_list_of_one_and_nothing_is_nothing() {
        let (extensions, errors) = read(&json!({"images": "a.jpg", "videos": null, "news": ""}));
        assert_eq!((extensions.images().len(), errors.len()), (1, 0));
        assert_eq!(read(&json!({"images": []})).0, Extensions::default());
    }

    fn check_error(object: &Value, expected: &str) {
        let (_, errors) = read(object);
        assert_eq!(errors, [expected], "{object}");
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        check_error(
            &json!({"images": [{"url": "a"}]}),
            "images[0]: there is no loc",
        );
        check_error(&json!({"images": [true]}), "images[0]: expected text");
        check_error(
            &json!({"alternates": {"hreflang": "en-UK", "href": "/"}}),
            "alternates.hreflang: UK is no country of ISO 3166-1, expected GB",
        );
        check_error(
            &json!({"news": {"name": "x", "language": "en", "title": "y"}}),
            "news: there is no publication_date",
        );
        check_error(
            &json!({"videos": [{"thumbnail_loc": "t", "title": "t", "description": "d"}]}),
            "videos[0]: there is neither content_loc nor player_loc",
        );
    }

    #[test]
    fn a_bad_value_of_a_film_costs_that_value() {
        let film = json!({"videos": [{
            "thumbnail_loc": "t", "title": "t", "description": "d", "content_loc": "c",
            "duration": 0, "rating": "5.5", "live": "perhaps",
        }]});
        let (extensions, errors) = read(&film);
        assert_eq!(extensions.videos().len(), 1);
        let paths: Vec<&str> = errors
            .iter()
            .filter_map(|error| error.split(':').next())
            .collect();
        assert_eq!(
            paths,
            ["videos[0].duration", "videos[0].rating", "videos[0].live"]
        );
    }
}
