//! Extensions as a JSON object: what `read` reads. The names are those of the elements.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sitemap_core::{
    Loc,
    extension::{CustomElement, Element, Extensions, Text, Value as ElementValue, ValueKind},
};

use super::read::text_member;

/// The text for extensions and fields; `None` when there is nothing that is ever written.
pub(super) fn json(extensions: &Extensions, fields: &BTreeMap<String, String>) -> Option<String> {
    if extensions.is_empty() && fields.is_empty() {
        return None;
    }
    let mut object = Map::new();
    let mut list = |name: &str, values: Vec<Value>| {
        if !values.is_empty() {
            object.insert(name.to_owned(), Value::Array(values));
        }
    };
    let alternates = extensions.alternates().iter().map(|alternate| {
        json!({"hreflang": alternate.hreflang.as_str(), "href": alternate.href.as_str()})
    });
    list("alternates", alternates.collect());
    let images = extensions.images().iter();
    list(
        "images",
        images
            .filter_map(|image| image.get("loc"))
            .map(Value::from)
            .collect(),
    );
    list("videos", extensions.videos().iter().map(element).collect());
    list(
        "custom",
        extensions.custom_elements().iter().map(custom).collect(),
    );
    if let Some(article) = extensions.news() {
        object.insert("news".to_owned(), element(article));
    }
    if !fields.is_empty() {
        object.insert("fields".to_owned(), json!(fields));
    }
    (!object.is_empty()).then(|| Value::Object(object).to_string())
}

/// The values of a video or an article by the names of their elements; several of one are in a list.
fn element(element: &Element) -> Value {
    let mut object = Map::new();
    for value in element.values() {
        let name = value.row.local_name();
        if value.row.most == 1 {
            object.insert(name.to_owned(), json_of(value));
        } else if let Value::Array(values) = object
            .entry(format!("{name}s"))
            .or_insert_with(|| json!([]))
        {
            values.push(json_of(value));
        }
    }
    Value::Object(object)
}

fn json_of(value: &ElementValue) -> Value {
    let text = match value.row.kind {
        ValueKind::YesNo => Value::from(&*value.text == "yes"),
        ValueKind::Count | ValueKind::Seconds => {
            value.text.parse::<u64>().map_or(Value::Null, Value::from)
        }
        ValueKind::Retired
        | ValueKind::Url
        | ValueKind::Text(_)
        | ValueKind::Date
        | ValueKind::Rating
        | ValueKind::Language
        | ValueKind::Countries
        | ValueKind::Platforms
        | ValueKind::Relationship => Value::from(&*value.text),
    };
    match (value.row.attribute(), &value.attribute) {
        (Some(known), attribute) => {
            json!({text_member(value.row): text, known.name: attribute.as_deref()})
        }
        (None, _) => text,
    }
}

fn custom(element: &CustomElement) -> Value {
    let attributes: Map<String, Value> = element
        .attributes()
        .map(|(name, value)| (name.to_owned(), value.as_str().into()))
        .collect();
    json!({
        "prefix": element.namespace().prefix(),
        "namespace": element.namespace().address(),
        "schema": element.namespace().schema().map(Loc::as_str),
        "name": element.name(),
        "attributes": attributes,
        "text": element.text().map(Text::as_str),
    })
}
