//! Videos of a page: the `VideoObject` nodes of its structured data, or without one the video of its Open Graph tags.

use serde_json::Value;
use sitemap_core::extension::Extension;

use super::{
    json_ld::{Node, first_text, types},
    open_graph::OpenGraph,
    stated_element::{ElementDraft, ResolveReference},
};
use crate::page::StatedElement;

/// Videos of one page that are taken. With the longest values an entry then has less than 2 MiB of them, so that it stays
/// below [`sitemap_core::extension::MAX_ENTRY_BYTES`] with its images and language versions.
pub(super) const MAX_VIDEOS: usize = 50;

/// Depth to which nodes are looked for, and nodes that are looked at.
const MAX_DEPTH: usize = 8;
const MAX_NODES: usize = 1_000;

/// Properties whose nodes are of the page. A list (`itemListElement`, `hasPart`) has those of other pages.
const OWN_NODES: [&str; 4] = ["@graph", "mainEntity", "mainEntityOfPage", "video"];

/// The videos of a page, each once.
#[derive(Debug, Default)]
pub(super) struct VideoList {
    pub(super) videos: Vec<StatedElement>,
    /// There were more than [`MAX_VIDEOS`].
    pub(super) cut: bool,
}

impl VideoList {
    /// Reads the videos of a page.
    pub(super) fn read(
        blocks: &[Value],
        tags: &OpenGraph,
        title: Option<&str>,
        resolve: &ResolveReference<'_>,
    ) -> Self {
        let mut list = Self::default();
        let mut nodes_left = MAX_NODES;
        for block in blocks {
            list.visit(block, resolve, 0, &mut nodes_left);
        }
        if list.videos.is_empty() {
            list.videos.extend(of_tags(tags, title, resolve));
        }
        list
    }

    fn visit(
        &mut self,
        value: &Value,
        resolve: &ResolveReference<'_>,
        depth: usize,
        nodes_left: &mut usize,
    ) {
        if depth > MAX_DEPTH || *nodes_left == 0 {
            return;
        }
        *nodes_left -= 1;
        match value {
            Value::Array(values) => {
                for value in values {
                    self.visit(value, resolve, depth + 1, nodes_left);
                }
            }
            Value::Object(node) => {
                if types(node).any(|name| name == "VideoObject") {
                    self.add(of_node(node, resolve));
                }
                for name in OWN_NODES {
                    if let Some(value) = node.get(name) {
                        self.visit(value, resolve, depth + 1, nodes_left);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn add(&mut self, video: StatedElement) {
        if video.is_empty() || self.videos.contains(&video) {
            return;
        }
        if self.videos.len() < MAX_VIDEOS {
            self.videos.push(video);
        } else {
            self.cut = true;
        }
    }
}

/// The video of a node. A reference to a node elsewhere has no values.
fn of_node(node: &Node, resolve: &ResolveReference<'_>) -> StatedElement {
    let mut video = ElementDraft::new(Extension::Video);
    let text = |name: &str| node.get(name).and_then(first_text);
    let thumbnail = node.get("thumbnailUrl").or_else(|| node.get("thumbnail"));
    video.url("thumbnail_loc", thumbnail.and_then(first_address), resolve);
    video.text("title", text("name").as_deref());
    video.text("description", text("description").as_deref());
    video.url("content_loc", text("contentUrl").as_deref(), resolve);
    video.url("player_loc", text("embedUrl").as_deref(), resolve);
    video.duration("duration", text("duration").as_deref());
    video.date("publication_date", text("uploadDate").as_deref());
    video.date("expiration_date", text("expires").as_deref());
    video.finish()
}

/// The video of Open Graph tags, if there is one.
fn of_tags(
    tags: &OpenGraph,
    title: Option<&str>,
    resolve: &ResolveReference<'_>,
) -> Option<StatedElement> {
    let (file, player) = (tags.file(), tags.player());
    file.or(player)?;
    let mut video = ElementDraft::new(Extension::Video);
    video.url("thumbnail_loc", tags.image.as_deref(), resolve);
    video.text("title", tags.title.as_deref().or(title));
    video.text("description", tags.description.as_deref());
    video.url("content_loc", file, resolve);
    video.url("player_loc", player, resolve);
    video.duration("duration", tags.duration.as_deref());
    video.date("publication_date", tags.release_date.as_deref());
    Some(video.finish())
}

/// The address of an image: itself, that of its node, or the first of several.
fn first_address(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Object(node) => ["contentUrl", "url"]
            .iter()
            .find_map(|name| node.get(*name)?.as_str()),
        Value::Array(values) => values.first().and_then(|first| match first {
            Value::Array(_) => None,
            first => first_address(first),
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::url_key::UrlKey;

    fn read(blocks: &[Value], metas: &[(&str, &str)]) -> VideoList {
        let mut tags = OpenGraph::default();
        for (name, content) in metas {
            tags.meta(name, content);
        }
        let resolve = |reference: &str| {
            let url = format!("https://h.example/{}", reference.trim_start_matches('/'));
            UrlKey::from_normalised(&url).ok()
        };
        VideoList::read(blocks, &tags, Some("the page"), &resolve)
    }

    fn element(values: &[(&str, &str)]) -> StatedElement {
        let values = values.iter();
        values
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn nodes_of_the_page_are_videos() {
        let video = json!({
            "@type": "VideoObject", "name": "A", "description": "B", "thumbnailUrl": ["/t.jpg", "/u.jpg"],
            "contentUrl": "/v.mp4", "embedUrl": "/p", "duration": "PT1M", "uploadDate": "2026-01-02T03:04:05Z",
        });
        let expected = element(&[
            ("content_loc", "https://h.example/v.mp4"),
            ("description", "B"),
            ("duration", "60"),
            ("player_loc", "https://h.example/p"),
            ("publication_date", "2026-01-02T03:04:05Z"),
            ("thumbnail_loc", "https://h.example/t.jpg"),
            ("title", "A"),
        ]);
        for block in [
            video.clone(),
            json!([video, video]),
            json!({"@graph": [{"@type": "WebPage"}, video]}),
            json!({"@type": "Article", "video": video}),
            json!({"@type": "WebPage", "mainEntity": {"@type": "Article", "video": [video]}}),
        ] {
            let videos = read(&[block], &[]).videos;
            assert_eq!(videos, std::slice::from_ref(&expected));
        }
        for block in [
            json!({"@type": "ItemList", "itemListElement": [video]}),
            json!({"@type": "CollectionPage", "hasPart": [video]}),
            json!({"@type": "Article", "video": {"@type": "VideoObject", "@id": "#v"}}),
            json!({"@type": "Movie", "name": "A"}),
        ] {
            assert_eq!(read(&[block], &[]).videos, []);
        }
    }

    #[test]
    fn tags_are_a_video_where_no_node_is() {
        let tags = [
            ("og:video:secure_url", "/p"),
            ("og:description", "B"),
            ("og:image", "/t.jpg"),
        ];
        let expected = element(&[
            ("description", "B"),
            ("player_loc", "https://h.example/p"),
            ("thumbnail_loc", "https://h.example/t.jpg"),
            ("title", "the page"),
        ]);
        assert_eq!(read(&[], &tags).videos, [expected]);
        let node = json!({"@type": "VideoObject", "name": "A"});
        assert_eq!(read(&[node], &tags).videos, [element(&[("title", "A")])]);
        assert_eq!(read(&[], &tags[1..]).videos, []);
    }

    #[test]
    fn the_number_of_videos_is_bounded() {
        let videos = (0..=MAX_VIDEOS)
            .map(|number| json!({"@type": "VideoObject", "name": number.to_string()}));
        let list = read(&[Value::Array(videos.collect())], &[]);
        assert_eq!((list.videos.len(), list.cut), (MAX_VIDEOS, true));
    }
}
