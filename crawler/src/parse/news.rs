//! The news article that a page is, by its structured data: `NewsArticle` or one of its subtypes (schema.org 28:
//! `AnalysisNewsArticle`, `OpinionNewsArticle`, `ReportageNewsArticle` ...).

use serde_json::Value;
use sitemap_core::extension::Extension;

use super::{
    json_ld::{Node, first_text, main_nodes, types},
    stated_element::ElementDraft,
};
use crate::page::StatedElement;

/// The name of the bot of news, whose directives decide about articles only.
pub(super) const BOT: &str = "googlebot-news";

/// Values of a page that an article need not repeat.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PageValues<'a> {
    /// The name of the site.
    pub(super) site_name: Option<&'a str>,
    /// The language of the page.
    pub(super) language: Option<&'a str>,
}

/// The article that the page is, if it is one. `is_page` decides whether a reference, as written, is the page itself.
pub(super) fn article(
    blocks: &[Value],
    is_page: &dyn Fn(&str) -> bool,
    page: PageValues<'_>,
) -> Option<StatedElement> {
    let node = main_nodes(blocks, is_page, is_news, is_news)
        .into_iter()
        .next()?;
    let text = |name: &str| node.get(name).and_then(first_text);
    let publisher = node
        .get("publisher")
        .and_then(|value| name_of(value, blocks));
    let language = text("inLanguage");
    let mut article = ElementDraft::new(Extension::News);
    article.text("name", publisher.as_deref().or(page.site_name));
    article.language("language", language.as_deref().or(page.language));
    article.date("publication_date", text("datePublished").as_deref());
    let title = text("headline").or_else(|| text("name"));
    article.text("title", title.as_deref());
    Some(article.finish())
}

fn is_news(node: &Node) -> bool {
    types(node).any(|name| name.ends_with("NewsArticle"))
}

/// The name of an organisation: a text, that of its node, or that of the node that it refers to.
fn name_of(value: &Value, blocks: &[Value]) -> Option<String> {
    let value = match value {
        Value::Array(values) => values.first()?,
        value => value,
    };
    let Value::Object(node) = value else {
        return first_text(value);
    };
    let name = node.get("name").and_then(first_text);
    name.or_else(|| {
        let id = node.get("@id")?.as_str()?;
        let is_it = |other: &&Value| other.get("@id").and_then(Value::as_str) == Some(id);
        let mut nodes = blocks.iter().flat_map(nodes_of).filter(is_it);
        nodes.find_map(|node| first_text(node.get("name")?))
    })
}

/// The nodes of a block: itself, those of its list, or those of its graph.
fn nodes_of(block: &Value) -> &[Value] {
    let list = block.as_array();
    let graph = || block.get("@graph").and_then(Value::as_array);
    list.or_else(graph)
        .map_or(std::slice::from_ref(block), Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(blocks: &[Value]) -> Option<Vec<(String, String)>> {
        let is_page = |reference: &str| reference == "/a";
        let page = PageValues {
            site_name: Some("The Site"),
            language: Some("de-AT"),
        };
        Some(article(blocks, &is_page, page)?.into_iter().collect())
    }

    fn values(name: &str, language: &str, title: &str) -> Vec<(String, String)> {
        let values = [
            ("language", language),
            ("name", name),
            ("publication_date", "2026-01-02"),
            ("title", title),
        ];
        let values = values.map(|(name, text)| (name.to_owned(), text.to_owned()));
        values.to_vec()
    }

    #[test]
    fn the_article_that_the_page_is_counts() {
        let article = |kind: &str| {
            json!({
                "@type": kind, "headline": "T", "datePublished": "2026-01-02", "inLanguage": "en-US",
                "publisher": {"@type": "Organization", "name": "The Times"},
            })
        };
        for kind in ["NewsArticle", "schema:ReportageNewsArticle"] {
            assert_eq!(read(&[article(kind)]), Some(values("The Times", "en", "T")));
        }
        assert_eq!(read(&[article("BlogPosting")]), None);
        assert_eq!(read(&[]), None);
        // A list of articles is none of them, but for the one that names the page.
        let list = json!([article("NewsArticle"), article("NewsArticle")]);
        assert_eq!(read(std::slice::from_ref(&list)), None);
        let own = json!({"@type": "NewsArticle", "url": "/a", "name": "U", "datePublished": "2026-01-02"});
        assert_eq!(read(&[list, own]), Some(values("The Site", "de", "U")));
        let other = json!({"@type": "NewsArticle", "url": "/b", "headline": "T"});
        assert_eq!(read(&[other]), None);
    }

    #[test]
    fn a_publisher_may_be_another_node() {
        let graph = json!({"@graph": [
            {"@type": "NewsArticle", "headline": "T", "datePublished": "2026-01-02", "publisher": {"@id": "#o"}},
            {"@type": "Organization", "@id": "#o", "name": "The Times"},
        ]});
        assert_eq!(read(&[graph]), Some(values("The Times", "de", "T")));
    }
}
