//! Extensions from a JSON object, in the forms that people write: one value or a list, texts or
//! numbers. An element that cannot be used is left out with its reason; the others stay.

use std::fmt;

use serde_json::{Map, Value};
use sitemap_core::{
    Loc,
    extension::{
        Alternate, CustomElement, CustomNamespace, Element, Extension, Extensions, Hreflang,
        MAX_TEXT_CHARACTERS, Row, Text, ValueKind,
    },
};

/// Something in an object of extensions that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct InputExtensionsError {
    /// Place in the object, e.g. `videos[0].duration`.
    pub path: String,
    /// The defect, and the expected form.
    pub problem: String,
}

/// Makes a [`Loc`] of a URL as it is written, absolute or relative.
type ResolveUrl<'a> = dyn Fn(&str) -> Result<Loc, String> + 'a;

/// The value of one part of the object.
type Read<T> = Result<T, InputExtensionsError>;

/// Reads the extensions of an object: its keys `images`, `videos`, `news`, `alternates` and `custom`. A list
/// may be a single value. Other keys are not looked at.
///
/// A value that cannot be used is left out and reported: an image, a version, an element as a whole; of a video and of
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
    resolve: &ResolveUrl<'_>,
) -> (Extensions, Vec<InputExtensionsError>) {
    let mut reading = ExtensionsReader {
        resolve,
        extensions: Extensions::default(),
        errors: Vec::new(),
    };
    reading.each(object, "images", |reading, part| {
        reading.element(Extension::Image, part)
    });
    reading.each(object, "videos", |reading, part| {
        reading.element(Extension::Video, part)
    });
    reading.each(object, "alternates", ExtensionsReader::alternate);
    reading.each(object, "custom", ExtensionsReader::custom);
    reading.each(object, "news", |reading, part| {
        reading.element(Extension::News, part)
    });
    (reading.extensions, reading.errors)
}

struct ExtensionsReader<'a> {
    resolve: &'a ResolveUrl<'a>,
    extensions: Extensions,
    errors: Vec<InputExtensionsError>,
}

/// A value and its place.
#[derive(Clone, Copy)]
struct JsonPart<'a> {
    value: &'a Value,
    path: &'a str,
}

impl<'a> JsonPart<'a> {
    fn error(&self, problem: impl fmt::Display) -> InputExtensionsError {
        InputExtensionsError {
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
fn plain_text(part: &JsonPart<'_>) -> Read<String> {
    part.text()
}

/// The name of the text of an element beside its attribute.
pub(super) fn text_member(row: &Row) -> &'static str {
    match row.kind {
        ValueKind::Countries => "countries",
        ValueKind::Platforms => "platforms",
        ValueKind::Retired
        | ValueKind::Url
        | ValueKind::Text(_)
        | ValueKind::Date
        | ValueKind::Seconds
        | ValueKind::Rating
        | ValueKind::Count
        | ValueKind::YesNo
        | ValueKind::Language
        | ValueKind::Relationship => "name",
    }
}

/// The members of an object that is read.
#[derive(Clone, Copy)]
struct Members<'a> {
    object: &'a Map<String, Value>,
    path: &'a str,
}

impl<'a> Members<'a> {
    /// The result of `read` for a member, if it is there and not empty.
    fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&JsonPart<'_>) -> Read<T>,
    ) -> Read<Option<T>> {
        let value = self.object.get(name).filter(|value| has_content(value));
        let Some(value) = value else {
            return Ok(None);
        };
        let path = format!("{}.{name}", self.path);
        read(&JsonPart { value, path: &path }).map(Some)
    }

    /// Reads a member that must be there.
    fn required<T>(&self, name: &str, read: impl FnOnce(&JsonPart<'_>) -> Read<T>) -> Read<T> {
        self.optional(name, read)?
            .ok_or_else(|| InputExtensionsError {
                path: self.path.to_owned(),
                problem: format!("{name} is missing"),
            })
    }

    /// A member by its name, also of the `publication` that an article may have as in XML.
    fn named(&self, name: &str) -> Option<&'a Value> {
        let publication = || self.object.get("publication")?.get(name);
        let value = self.object.get(name).or_else(publication);
        value.filter(|value| has_content(value))
    }

    /// The member for an element, and its name: `tag` or `tags` where there may be several.
    fn of_row(&self, row: &Row) -> Option<(String, &'a Value)> {
        let name = row.local_name().to_owned();
        let several = format!("{name}s");
        match self.named(&several).filter(|_| row.most > 1) {
            Some(values) => Some((several, values)),
            None => Some((self.named(&name)?, name)).map(|(value, name)| (name, value)),
        }
    }

    fn of(part: &JsonPart<'a>, expected: &str) -> Read<Self> {
        Ok(Self {
            object: part.object(expected)?,
            path: part.path,
        })
    }
}

/// Returns whether a value is neither null nor empty text.
fn has_content(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    }
}

impl ExtensionsReader<'_> {
    /// Reads each value of a list, which may be a single value.
    fn each(
        &mut self,
        object: &Map<String, Value>,
        name: &str,
        read: impl Fn(&mut Self, &JsonPart<'_>) -> Read<()>,
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
            .filter(|(_, value)| has_content(value))
        {
            let path = if is_list {
                format!("{name}[{number}]")
            } else {
                name.to_owned()
            };
            let read = read(self, &JsonPart { value, path: &path });
            self.errors.extend(read.err());
        }
    }

    /// A URL. A number is none, although it could be a relative one.
    fn loc(&self, part: &JsonPart<'_>) -> Read<Loc> {
        if part.value.is_number() {
            return Err(part.error(format!("expected a URL, found {}", part.value)));
        }
        part.parse(|text| (self.resolve)(text))
    }

    fn text(&mut self, part: &JsonPart<'_>, limit: usize) -> Read<Text> {
        let text = part.parse(|text| Text::with_limit(text, limit))?;
        if text.replaced() > 0 {
            self.errors.push(part.error(format!(
                "{} characters that XML does not have are replaced",
                text.replaced()
            )));
        }
        Ok(text)
    }

    /// An image, a video or an article, by the names of their elements.
    fn element(&mut self, extension: Extension, part: &JsonPart<'_>) -> Read<()> {
        let expected = match extension {
            Extension::Image | Extension::Alternate => "text",
            Extension::Video => {
                "an object with thumbnail_loc, title, description, and content_loc or player_loc"
            }
            Extension::News => "an object with name, language, publication_date and title",
        };
        let mut element = Element::new(extension);
        if extension == Extension::Image && !part.value.is_object() {
            element = Element::image(&self.loc(part)?);
        } else {
            let members = Members::of(part, expected)?;
            for row in Element::rows(extension) {
                self.values(row, &members, &mut element);
            }
            let names = element
                .missing()
                .map(|name| name.split_once(':').unwrap_or_default().1);
            let is_there = |name: &str| members.named(name).is_some();
            for name in names {
                if name == "content_loc and no video:player_loc" {
                    if !is_there("content_loc") && !is_there("player_loc") {
                        return Err(part.error("there is neither content_loc nor player_loc"));
                    }
                } else if !is_there(name) {
                    return Err(part.error(format!("{name} is missing")));
                }
            }
            // The missing part is there and cannot be used, which was reported.
            if element.missing().next().is_some() {
                return Ok(());
            }
        }
        self.extensions
            .add(element)
            .map_err(|error| part.error(error))
    }

    /// The values of one element, which may be several in a list.
    fn values(&mut self, row: &'static Row, members: &Members<'_>, element: &mut Element) {
        let Some((name, value)) = members.of_row(row) else {
            return;
        };
        let values = match value {
            Value::Array(values) if row.most > 1 => values.as_slice(),
            single => std::slice::from_ref(single),
        };
        for (number, value) in values.iter().enumerate() {
            if !has_content(value) {
                continue;
            }
            let path = match row.most {
                1 => format!("{}.{name}", members.path),
                _ => format!("{}.{name}[{number}]", members.path),
            };
            let part = JsonPart { value, path: &path };
            let read = self.value(row, &part).and_then(|(text, attribute)| {
                if element.all(row.local_name()).count() >= row.most {
                    return Err(part.error(format!("more than {} <{}>", row.most, row.name)));
                }
                element
                    .set(row.local_name(), &text, attribute.as_deref())
                    .map_err(|error| part.error(error))
            });
            self.errors.extend(read.err());
        }
    }

    /// A value, and that of its attribute.
    fn value(&mut self, row: &Row, part: &JsonPart<'_>) -> Read<(Box<str>, Option<Box<str>>)> {
        match row.attribute() {
            Some(known) if known.is_required || part.value.is_object() => {
                let member = text_member(row);
                let members =
                    Members::of(part, &format!("an object with {} and {member}", known.name))?;
                let attribute =
                    members.optional(known.name, |part| self.parse(known.kind, part))?;
                if attribute.is_none() && known.is_required {
                    return Err(part.error(format!("{} is missing", known.name)));
                }
                let text = members.required(member, |part| match part.value {
                    Value::Array(values) => {
                        let names = self.names(values, part.path);
                        row.kind.parse(&names).map_err(|error| part.error(error))
                    }
                    Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::String(_)
                    | Value::Object(_) => self.parse(row.kind, part),
                })?;
                Ok((text, attribute))
            }
            Some(_) | None => Ok((self.parse(row.kind, part)?, None)),
        }
    }

    /// A value of this kind, in the forms that people write.
    fn parse(&mut self, kind: ValueKind, part: &JsonPart<'_>) -> Read<Box<str>> {
        match (kind, part.value) {
            (ValueKind::Url, _) => Ok(self.loc(part)?.as_str().into()),
            (ValueKind::Text(limit), _) => Ok(self.text(part, limit)?.as_str().into()),
            (ValueKind::YesNo, Value::Bool(flag)) => Ok(if *flag { "yes" } else { "no" }.into()),
            (ValueKind::YesNo, Value::String(word)) => {
                match word.trim().to_ascii_lowercase().as_str() {
                    "yes" | "true" | "1" => Ok("yes".into()),
                    "no" | "false" | "0" => Ok("no".into()),
                    _ => Err(part.error("expected yes or no")),
                }
            }
            (kind, _) => part.parse(|text| kind.parse(text)),
        }
    }

    fn alternate(&mut self, part: &JsonPart<'_>) -> Read<()> {
        let members = Members::of(part, "an object with hreflang and href")?;
        let hreflang = members.required("hreflang", |part| part.parse(Hreflang::parse))?;
        let href = members.required("href", |part| self.loc(part))?;
        self.extensions
            .add_alternate(Alternate::new(hreflang, href))
            .map_err(|error| part.error(error))
    }

    /// The names of a list, with a blank between them.
    fn names(&mut self, values: &[Value], path: &str) -> String {
        let mut names = Vec::new();
        let values = values.iter().enumerate();
        for (number, value) in values.filter(|(_, value)| has_content(value)) {
            match value {
                Value::String(name) => names.push(name.trim()),
                other => self.errors.push(InputExtensionsError {
                    path: format!("{path}[{number}]"),
                    problem: format!("expected text, found {other}"),
                }),
            }
        }
        names.join(" ")
    }

    fn custom(&mut self, part: &JsonPart<'_>) -> Read<()> {
        let members = Members::of(part, "an object with prefix, namespace and name")?;
        let prefix = members.required("prefix", plain_text)?;
        let address = members.required("namespace", plain_text)?;
        let mut namespace =
            CustomNamespace::new(&prefix, &address).map_err(|error| part.error(error))?;
        if let Some(schema) = members.optional("schema", |part| self.loc(part))? {
            namespace = namespace.with_schema(schema);
        }
        let name = members.required("name", plain_text)?;
        let mut element =
            CustomElement::new(&namespace, &name).map_err(|error| part.error(error))?;
        if let Some(text) = members.optional("text", |part| self.text(part, MAX_TEXT_CHARACTERS))? {
            element = element.with_text(text);
        }
        let attributes = members.object.get("attributes").and_then(Value::as_object);
        for (name, value) in attributes.into_iter().flatten() {
            let part = &JsonPart {
                value,
                path: part.path,
            };
            let value = self.text(part, MAX_TEXT_CHARACTERS)?;
            element = element
                .with_attribute(name, value)
                .map_err(|error| part.error(error))?;
        }
        self.extensions
            .add_custom(element)
            .map_err(|error| part.error(error))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::page::Supplied;

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
            "custom": [{
                "prefix": "shop", "namespace": "https://example.com/ns/shop", "name": "price",
                "attributes": {"currency": "EUR"}, "text": "12.50",
            }],
        })
    }

    #[test]
    fn every_extension_comes_back_from_its_text() {
        let (extensions, errors) = read(&everything());
        assert_eq!(errors, [""; 0]);
        assert_eq!(extensions.images().len(), 2);
        assert_eq!(extensions.alternates().len(), 2);
        let video = &extensions.videos()[0];
        for (name, text) in [
            ("duration", "600"),
            ("rating", "4.2"),
            ("family_friendly", "yes"),
            ("live", "no"),
            ("restriction", "GB IE"),
            ("platform", "web tv"),
            ("uploader", "Someone"),
        ] {
            assert_eq!(video.get(name), Some(text));
        }
        assert_eq!(video.all("tag").count(), 2);
        let news = extensions.news().unwrap();
        assert_eq!(news.get("title"), Some("Something"));
        assert_eq!(extensions.custom_elements()[0].name(), "price");
        let supplied = Supplied {
            extensions,
            ..Supplied::default()
        };
        let text = supplied.texts()[3].clone().unwrap();
        let (again, errors) = read(&serde_json::from_str(&text).unwrap());
        assert_eq!(errors, [""; 0]);
        assert_eq!(again, supplied.extensions);
    }

    #[test]
    fn a_single_value_is_a_list_of_one() {
        let (extensions, errors) = read(&json!({"images": "a.jpg", "videos": null, "news": ""}));
        assert_eq!((extensions.images().len(), errors.len()), (1, 0));
        assert_eq!(read(&json!({"images": []})).0, Extensions::default());
    }

    fn check_error(object: &Value, expected: &str) {
        let (_, errors) = read(object);
        assert_eq!(errors, [expected], "{object}");
    }

    #[test]
    fn unusable_input_is_named() {
        let of_other = json!({"images": [{"url": "a"}]});
        check_error(&of_other, "images[0]: loc is missing");
        check_error(&json!({"images": [true]}), "images[0]: expected text");
        check_error(
            &json!({"alternates": {"hreflang": "en-UK", "href": "/"}}),
            "alternates.hreflang: UK is not a country of ISO 3166-1, expected GB",
        );
        check_error(
            &json!({"news": {"name": "x", "language": "en", "title": "y"}}),
            "news: publication_date is missing",
        );
        check_error(
            &json!({"videos": [{"thumbnail_loc": "t", "title": "t", "description": "d"}]}),
            "videos[0]: there is neither content_loc nor player_loc",
        );
    }

    #[test]
    fn a_bad_video_value_costs_that_value() {
        let videos = json!({"videos": [{
            "thumbnail_loc": "t", "title": "t", "description": "d", "content_loc": "c",
            "duration": 0, "rating": "5.5", "live": "perhaps",
        }]});
        let (extensions, errors) = read(&videos);
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
