//! Data of the texts of an extension's elements, by the table of them.
//!
//! White space around a value that is not free text is left out with a finding; free texts are trimmed anyway.

use super::{Field, Fields, Problem, ValueProblem};
use crate::{
    LastMod, LastModError,
    extension::{
        Alternate, AttributeRow, CustomElement, CustomNamespace, Element, Extension, Hreflang,
        NO_MEDIA, Need, Row, Text, Value, ValueKind, element_of,
    },
    read::{draft::read_loc, progress::Progress},
};

/// An image, a video or an article; `None` if it lacks a required part.
pub(super) fn read_element(fields: &Fields, progress: &mut Progress) -> Option<Element> {
    let row = element_of(fields.extension);
    let has = |name: &str| fields.read.iter().any(|field| field.row.name == name);
    let mut missing = |what, element, position| {
        progress.note_at(Problem::MissingPart { what, element }, position);
    };
    for part in row.rows {
        let is_there = part.kind != ValueKind::Retired || fields.containers.contains(&part.name);
        for leaf in part.leaves().iter().filter(|_| is_there) {
            if leaf.need == Need::Required && !has(leaf.name) {
                let parent = if part.kind == ValueKind::Retired {
                    part
                } else {
                    row
                };
                missing(leaf.name, parent.name, fields.position);
            }
        }
    }
    let has_media = has("video:content_loc") || has("video:player_loc");
    if fields.extension == Extension::Video && !has_media {
        missing(NO_MEDIA, row.name, fields.position);
    }
    let mut element = Element::new(fields.extension);
    for field in &fields.read {
        let mut found = Vec::new();
        if let Some(value) = read_value(field, &mut found) {
            element.add(value);
        }
        progress.note_all(found, field.position);
    }
    let is_whole = element.missing().next().is_none();
    is_whole.then_some(element)
}

/// The value of one element; `None` if it cannot be used, or is retired.
fn read_value(field: &Field, problems: &mut Vec<Problem>) -> Option<Value> {
    let Field { row, .. } = field;
    let mut attribute = None;
    for known in row.attributes {
        let text = field.attribute(known.name);
        match (text, known) {
            (None, known) if known.is_required => {
                problems.push(Problem::MissingPart {
                    what: known.name,
                    element: row.name,
                });
                return None;
            }
            (
                Some(_),
                AttributeRow {
                    kind: ValueKind::Retired,
                    ..
                },
            ) if row.kind != ValueKind::Retired => {
                let name = retired_attribute(row, known);
                problems.push(Problem::Retired { name });
            }
            (None, _)
            | (
                Some(_),
                AttributeRow {
                    kind: ValueKind::Retired,
                    ..
                },
            ) => {}
            (Some(text), known) => {
                attribute = parse(known.kind, known.name, text, problems);
                if attribute.is_none() && known.is_required {
                    return None;
                }
            }
        }
    }
    if row.kind == ValueKind::Retired {
        return None;
    }
    let text = parse(row.kind, row.name, field.text.as_deref()?, problems)?;
    Some(Value {
        row,
        text,
        attribute,
    })
}

/// The stored form of a value of this kind. Smaller deviations are reported.
fn parse(
    kind: ValueKind,
    name: &'static str,
    text: &str,
    problems: &mut Vec<Problem>,
) -> Option<Box<str>> {
    if let ValueKind::Text(_) = kind {
        let parsed = kind.parse(text);
        return parsed
            .map_err(|error| problems.push(bad_value(name, error)))
            .ok();
    }
    scalar(name, text, problems, |text, problems| match kind {
        ValueKind::Url => {
            let loc = read_loc(text, problems)?;
            Ok(loc.as_str().into())
        }
        ValueKind::Date if LastMod::parse(text) == Err(LastModError::ZoneMissing) => {
            let date = kind.parse(&format!("{text}Z"));
            let date = date.map_err(|_| LastModError::ZoneMissing)?;
            problems.push(Problem::PartZoneAssumed { name });
            Ok(date)
        }
        kind => kind.parse(text),
    })
}

/// Name of a retired attribute for messages.
fn retired_attribute(row: &Row, attribute: &AttributeRow) -> &'static str {
    match (row.name, attribute.name) {
        ("video:player_loc", "autoplay") => "video:player_loc autoplay",
        (_, _) => "video:player_loc allow_embed",
    }
}

/// A version of a page from the attributes of its link; `None` if it is not such a link or is incomplete.
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
        problems.push(Problem::Retired {
            name: "xhtml:link media",
        });
        return None;
    }
    let mut needed = |what: &'static str, value: Option<String>| {
        if value.is_none() {
            let element = "xhtml:link";
            problems.push(Problem::MissingPart { what, element });
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

/// An element of a custom namespace; invalid parts are left out.
pub(in crate::read) fn read_custom(
    namespace: &CustomNamespace,
    name: &str,
    attributes: Vec<(String, String)>,
    text: Option<&str>,
    problems: &mut Vec<Problem>,
) -> Option<CustomElement> {
    const NAME: &str = "custom element";
    let mut element = match CustomElement::new(namespace, name) {
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

/// A value without the white space around it.
fn scalar<T, E: Into<ValueProblem>>(
    name: &'static str,
    text: &str,
    problems: &mut Vec<Problem>,
    parse: impl FnOnce(&str, &mut Vec<Problem>) -> Result<T, E>,
) -> Option<T> {
    let value = text.trim();
    if value.len() < text.len() && !value.is_empty() {
        problems.push(Problem::PartPadded { name });
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
    Problem::PartValue { name, problem }
}
