//! The extensions of an entry in XML: after the elements of the protocol, in one fixed order, each with its elements in the order of
//! its schema (R71).
//!
//! What search engines dropped is left out.

use std::io::{self, Write};

use super::xml::{Counter, element, element_with, parent};
use crate::extension::{Alternate, Extensions, Image, Item, News, OwnElement, Platform, Video};

/// Writes them all.
pub(super) fn write_extensions<W: Write>(out: &mut W, extensions: &Extensions) -> io::Result<()> {
    let mut items = extensions.items();
    items.try_for_each(|item| write_item(out, item))
}

fn write_item<W: Write>(out: &mut W, item: Item<'_>) -> io::Result<()> {
    match item {
        Item::Alternate(alternate) => write_alternate(out, alternate),
        Item::Image(image) => write_image(out, image),
        Item::Video(video) => parent(out, "video:video", |out| write_video(out, video)),
        Item::News(news) => parent(out, "news:news", |out| write_news(out, news)),
        Item::Own(own) => write_own(out, own),
    }
}

/// The bytes that [`write_extensions`] writes.
pub(super) fn extensions_len(extensions: &Extensions) -> u64 {
    extensions.items().map(item_len).sum()
}

/// The bytes of one element.
pub(super) fn item_len(item: Item<'_>) -> u64 {
    let mut counter = Counter::default();
    write_item(&mut counter, item).expect("a counter takes everything");
    counter.0
}

fn write_alternate(out: &mut impl Write, alternate: &Alternate) -> io::Result<()> {
    let attributes = [
        ("rel", "alternate"),
        ("hreflang", alternate.hreflang.as_str()),
        ("href", alternate.href.as_str()),
    ];
    element_with(out, "xhtml:link", attributes, None)
}

fn write_image(out: &mut impl Write, image: &Image) -> io::Result<()> {
    parent(out, "image:image", |out| {
        element(out, "image:loc", image.loc.as_str())
    })
}

fn write_video(out: &mut impl Write, video: &Video) -> io::Result<()> {
    element(out, "video:thumbnail_loc", video.thumbnail_loc.as_str())?;
    element(out, "video:title", video.title.as_str())?;
    element(out, "video:description", video.description.as_str())?;
    if let Some(content) = video.media.content() {
        element(out, "video:content_loc", content.as_str())?;
    }
    if let Some(player) = video.media.player() {
        element(out, "video:player_loc", player.as_str())?;
    }
    if let Some(duration) = video.duration {
        element(out, "video:duration", &duration.seconds().to_string())?;
    }
    if let Some(date) = &video.expiration_date {
        element(out, "video:expiration_date", date.as_str())?;
    }
    if let Some(rating) = video.rating {
        element(out, "video:rating", &rating.to_string())?;
    }
    if let Some(count) = video.view_count {
        element(out, "video:view_count", &count.to_string())?;
    }
    if let Some(date) = &video.publication_date {
        element(out, "video:publication_date", date.as_str())?;
    }
    for tag in video.tags() {
        element(out, "video:tag", tag.as_str())?;
    }
    if let Some(answer) = video.family_friendly {
        element(out, "video:family_friendly", yes_or_no(answer))?;
    }
    if let Some(restriction) = &video.restriction {
        let countries: Vec<String> = restriction
            .countries()
            .map(|country| country.to_string())
            .collect();
        let attributes = [("relationship", restriction.relationship().as_str())];
        element_with(
            out,
            "video:restriction",
            attributes,
            Some(&countries.join(" ")),
        )?;
    }
    if let Some(answer) = video.requires_subscription {
        element(out, "video:requires_subscription", yes_or_no(answer))?;
    }
    if let Some(uploader) = &video.uploader {
        let info = uploader.info.as_ref().map(|info| ("info", info.as_str()));
        element_with(out, "video:uploader", info, Some(uploader.name.as_str()))?;
    }
    if let Some(platform) = &video.platform {
        let platforms: Vec<&str> = platform.platforms().map(Platform::as_str).collect();
        let attributes = [("relationship", platform.relationship().as_str())];
        element_with(
            out,
            "video:platform",
            attributes,
            Some(&platforms.join(" ")),
        )?;
    }
    if let Some(answer) = video.live {
        element(out, "video:live", yes_or_no(answer))?;
    }
    Ok(())
}

fn yes_or_no(answer: bool) -> &'static str {
    if answer { "yes" } else { "no" }
}

fn write_news(out: &mut impl Write, news: &News) -> io::Result<()> {
    parent(out, "news:publication", |out| {
        element(out, "news:name", news.name.as_str())?;
        element(out, "news:language", news.language.as_str())
    })?;
    element(out, "news:publication_date", news.publication_date.as_str())?;
    element(out, "news:title", news.title.as_str())
}

fn write_own(out: &mut impl Write, own: &OwnElement) -> io::Result<()> {
    let name = format!("{}:{}", own.namespace().prefix(), own.name());
    let attributes = own.attributes().map(|(name, value)| (name, value.as_str()));
    element_with(out, &name, attributes, own.text().map(AsRef::as_ref))
}
