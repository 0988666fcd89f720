//! Extensions as a JSON object: what `read` reads. The names are those of the elements.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sitemap_core::{
    Loc,
    extension::{Extensions, News, OwnElement, Platform, Text, Video},
};

/// The text for extensions and own fields; `None` when there is nothing that is ever written.
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
        images.map(|image| image.loc.as_str().into()).collect(),
    );
    list("videos", extensions.videos().iter().map(video).collect());
    list("own", extensions.own_elements().iter().map(own).collect());
    if let Some(article) = extensions.news() {
        object.insert("news".to_owned(), news(article));
    }
    if !fields.is_empty() {
        object.insert("fields".to_owned(), json!(fields));
    }
    (!object.is_empty()).then(|| Value::Object(object).to_string())
}

fn news(news: &News) -> Value {
    json!({
        "name": news.name.as_str(),
        "language": news.language.as_str(),
        "publication_date": news.publication_date.as_str(),
        "title": news.title.as_str(),
    })
}

fn video(video: &Video) -> Value {
    let mut object = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(name.to_owned(), value);
        }
    };
    put("thumbnail_loc", Some(video.thumbnail_loc.as_str().into()));
    put("title", Some(video.title.as_str().into()));
    put("description", Some(video.description.as_str().into()));
    put(
        "content_loc",
        video.media.content().map(|loc| loc.as_str().into()),
    );
    put(
        "player_loc",
        video.media.player().map(|loc| loc.as_str().into()),
    );
    put(
        "duration",
        video.duration.map(|duration| duration.seconds().into()),
    );
    put(
        "expiration_date",
        video
            .expiration_date
            .as_ref()
            .map(|date| date.as_str().into()),
    );
    put(
        "rating",
        video.rating.map(|rating| rating.to_string().into()),
    );
    put("view_count", video.view_count.map(Value::from));
    put(
        "publication_date",
        video
            .publication_date
            .as_ref()
            .map(|date| date.as_str().into()),
    );
    let tags = video.tags().iter().map(|tag| tag.as_str().into());
    put(
        "tags",
        (!video.tags().is_empty()).then(|| Value::Array(tags.collect())),
    );
    put("family_friendly", video.family_friendly.map(Value::from));
    put(
        "restriction",
        video.restriction.as_ref().map(|restriction| {
            let countries: Vec<_> = restriction.countries().map(|one| one.to_string()).collect();
            json!({
                "relationship": restriction.relationship().as_str(),
                "countries": countries.join(" "),
            })
        }),
    );
    put(
        "requires_subscription",
        video.requires_subscription.map(Value::from),
    );
    put(
        "uploader",
        video.uploader.as_ref().map(|uploader| {
            json!({
                "name": uploader.name.as_str(),
                "info": uploader.info.as_ref().map(Loc::as_str),
            })
        }),
    );
    put(
        "platform",
        video.platform.as_ref().map(|platforms| {
            let names: Vec<_> = platforms.platforms().map(Platform::as_str).collect();
            json!({
                "relationship": platforms.relationship().as_str(),
                "platforms": names.join(" "),
            })
        }),
    );
    put("live", video.live.map(Value::from));
    Value::Object(object)
}

fn own(element: &OwnElement) -> Value {
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
