//! Memory that URLs and facts take, as the bounds of a crawl count it. Pure.

use crate::{page::PageFacts, url_key::UrlKey};

/// Memory that a URL takes besides its text, or an effect that has none.
pub(super) const EFFECT_BYTES: usize = 128;

/// Memory that these URLs take.
pub(super) fn bytes_of<'a>(urls: impl IntoIterator<Item = &'a UrlKey>) -> usize {
    let bytes = |url: &UrlKey| EFFECT_BYTES + url.as_str().len();
    urls.into_iter().map(bytes).sum()
}

/// Memory that the facts of a page take, but for short texts.
pub(super) fn bytes_of_facts(facts: &PageFacts) -> usize {
    let alternates = facts.alternates.iter().flatten();
    let elements = facts.videos.iter().chain(&facts.news).flatten();
    let texts = elements
        .flatten()
        .map(|(name, text)| name.len() + text.len());
    size_of::<PageFacts>()
        + facts
            .text
            .as_ref()
            .map_or(0, |text| size_of_val(&text.blocks[..]))
        + bytes_of(facts.links.iter().map(|link| &link.target))
        + facts.link_texts.bytes()
        + bytes_of(facts.images.iter().flatten())
        + bytes_of(&facts.feeds)
        + texts.sum::<usize>()
        + bytes_of(alternates.map(|version| &version.target))
}
