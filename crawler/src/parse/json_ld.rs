//! Structured data of a page (JSON-LD): the dates of change and publication, and a hash of the rest. Blocks are stored as text
//! while the page goes by and read at its end. Size, depth and number are bounded, and an unreadable block is ignored.

use serde_json::{Map, Value};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::main_content::data_name;

/// Text of all blocks of one page that is kept; a block that passes it is left out. Large shops have some 50 KB.
const MAX_BYTES: usize = 256 * 1_024;

/// Blocks of one page.
const MAX_BLOCKS: usize = 32;

/// Depth to which nodes are looked for and hashed; the reader itself stops at 128.
const MAX_DEPTH: usize = 32;

/// Nodes of one page that are looked at.
const MAX_NODES: usize = 10_000;

/// Types with the same content on every page of a site, as header and footer have in text.
const SITE_TYPES: [&str; 7] = [
    "BreadcrumbList",
    "Organization",
    "SearchAction",
    "SiteNavigationElement",
    "WPFooter",
    "WPHeader",
    "WebSite",
];

/// Returns whether schema.org's `name` is a kind of page: `WebPage`, `Article` or one of their subtypes (schema.org 28).
pub(super) fn is_page_type(name: &str) -> bool {
    let is_kind = |kind: &&str| name.ends_with(*kind);
    ["Page", "Article", "Gallery"].iter().any(is_kind)
        || matches!(
            name,
            "APIReference"
                | "BlogPosting"
                | "DiscussionForumPosting"
                | "LiveBlogPosting"
                | "RealEstateListing"
                | "Report"
                | "SocialMediaPosting"
        )
}

/// A node of structured data.
pub(super) type Node = Map<String, Value>;

/// The blocks of a page as they are written.
#[derive(Debug, Default)]
pub(super) struct JsonLdBlocks {
    blocks: Vec<Vec<u8>>,
    bytes: usize,
    /// The block that is being read is left out.
    is_skipping: bool,
    is_open: bool,
}

impl JsonLdBlocks {
    /// Adds a piece of a block.
    pub(super) fn add(&mut self, text: &[u8]) {
        if !self.is_open {
            self.is_open = true;
            self.is_skipping = self.blocks.len() >= MAX_BLOCKS;
            if !self.is_skipping {
                self.blocks.push(Vec::new());
            }
        }
        if !self.is_skipping && self.bytes + text.len() > MAX_BYTES {
            self.is_skipping = true;
            let left_out = self.blocks.pop().unwrap_or_default();
            self.bytes -= left_out.len();
        }
        if !self.is_skipping
            && let Some(block) = self.blocks.last_mut()
        {
            block.extend_from_slice(text);
            self.bytes += text.len();
        }
    }

    /// The block has ended.
    pub(super) fn end(&mut self) {
        self.is_open = false;
    }

    /// The values of the blocks.
    pub(super) fn read(&self) -> Vec<Value> {
        self.blocks
            .iter()
            .filter_map(|block| read_block(&String::from_utf8_lossy(block)))
            .collect()
    }
}

/// Reads a block as forgivingly as search engines do: around it may be marks of comments, in its strings line ends.
fn read_block(text: &str) -> Option<Value> {
    let mut text = text.trim();
    for mark in ["<!--", "//<![CDATA[", "/*<![CDATA[*/", "<![CDATA["] {
        text = text.strip_prefix(mark).unwrap_or(text).trim_start();
    }
    for mark in ["-->", "//]]>", "/*]]>*/", "]]>", "//", ";"] {
        text = text.strip_suffix(mark).unwrap_or(text).trim_end();
    }
    serde_json::from_str(text).ok().or_else(|| {
        let clean = text.replace(|character: char| character.is_control(), " ");
        serde_json::from_str(&clean).ok()
    })
}

/// The dates that structured data state for a page, as written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct EntityDates {
    pub(super) modified: Vec<String>,
    pub(super) published: Vec<String>,
}

/// The dates of the page's main entity among `blocks`. `is_page` decides whether a reference, as written, is the page itself.
/// See [`main_nodes`], of pages and articles.
pub(super) fn entity_dates(blocks: &[Value], is_page: &dyn Fn(&str) -> bool) -> EntityDates {
    let is_dated =
        |node: &Node| node.contains_key("dateModified") || node.contains_key("datePublished");
    let is_of_page = |node: &Node| types(node).any(is_page_type);
    let mut dates = EntityDates::default();
    for node in main_nodes(blocks, is_page, is_dated, is_of_page) {
        let text = |name: &str| node.get(name).and_then(first_text);
        dates.modified.extend(text("dateModified"));
        dates.published.extend(text("datePublished"));
    }
    dates
}

/// The nodes of the page's main entity among `blocks`, of those that are wanted. Nodes that name the page count; without one,
/// the only node that `is_page_kind` and does not name another page.
pub(super) fn main_nodes<'a>(
    blocks: &'a [Value],
    is_page: &dyn Fn(&str) -> bool,
    is_wanted: fn(&Node) -> bool,
    is_page_kind: fn(&Node) -> bool,
) -> Vec<&'a Node> {
    let mut search = Search {
        is_page,
        is_wanted,
        is_page_kind,
        named: Vec::new(),
        unnamed: Vec::new(),
        nodes_left: MAX_NODES,
    };
    for block in blocks {
        search.visit(block, 0);
    }
    match (&*search.named, &*search.unnamed) {
        ([], [only]) => vec![only],
        ([], _) => Vec::new(),
        _ => search.named,
    }
}

struct Search<'a, 'p> {
    is_page: &'p dyn Fn(&str) -> bool,
    is_wanted: fn(&Node) -> bool,
    is_page_kind: fn(&Node) -> bool,
    named: Vec<&'a Node>,
    unnamed: Vec<&'a Node>,
    nodes_left: usize,
}

impl<'a> Search<'a, '_> {
    fn visit(&mut self, value: &'a Value, depth: usize) {
        if depth > MAX_DEPTH || self.nodes_left == 0 {
            return;
        }
        self.nodes_left -= 1;
        match value {
            Value::Array(values) => {
                for value in values {
                    self.visit(value, depth + 1);
                }
            }
            Value::Object(node) => {
                self.judge(node);
                for name in ["@graph", "mainEntity", "mainEntityOfPage"] {
                    if let Some(value) = node.get(name) {
                        self.visit(value, depth + 1);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn judge(&mut self, node: &'a Node) {
        if !(self.is_wanted)(node) {
            return;
        }
        let references: Vec<&str> = ["mainEntityOfPage", "url", "@id"]
            .iter()
            .filter_map(|name| node.get(*name))
            .flat_map(references)
            .filter(|reference| !is_opaque(reference))
            .collect();
        if references.iter().any(|reference| (self.is_page)(reference)) {
            self.named.push(node);
        } else if references.is_empty() && (self.is_page_kind)(node) {
            self.unnamed.push(node);
        }
    }
}

/// A name for a node that is not a URL of a page: a blank node, another scheme, or a bare fragment.
fn is_opaque(reference: &str) -> bool {
    reference.is_empty()
        || reference.starts_with("_:")
        || reference.starts_with("urn:")
        || reference.starts_with('#') && reference.contains('/')
}

/// The names of the types of a node, without those of their vocabularies.
pub(super) fn types(node: &Node) -> impl Iterator<Item = &str> {
    let value = node.get("@type");
    let list = value
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let names = value.into_iter().chain(list).filter_map(Value::as_str);
    names.map(|name| name.rsplit(['/', '#', ':']).next().unwrap_or(name))
}

/// The references in a value: itself, or the `@id` and `url` of the node that it is.
fn references(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text.trim()],
        Value::Object(node) => ["@id", "url"]
            .iter()
            .filter_map(|name| node.get(*name)?.as_str())
            .map(str::trim)
            .collect(),
        Value::Array(values) => values
            .iter()
            .take(8)
            .filter_map(Value::as_str)
            .map(str::trim)
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// A text, the text of a typed value, or the first of several.
pub(super) fn first_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(node) => node.get("@value")?.as_str().map(str::to_owned),
        Value::Array(values) => values.first()?.as_str().map(str::to_owned),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// A hash of the content of `blocks`, independent of their order, without dates, counts of readers, and parts that are the same
/// on every page of the site.
pub(super) fn content_hash(blocks: &[Value]) -> u64 {
    let mut hashes: Vec<u64> = Vec::new();
    for block in blocks {
        collect(block, &mut hashes);
    }
    hashes.sort_unstable();
    hashes.dedup();
    let mut hash = Xxh3Default::new();
    for one in hashes {
        hash.update(&one.to_le_bytes());
    }
    hash.digest()
}

/// Hashes the nodes of a block one by one: the order in graphs and lists is ignored.
fn collect(value: &Value, hashes: &mut Vec<u64>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, hashes)),
        Value::Object(node) => {
            if let Some(graph) = node.get("@graph") {
                collect(graph, hashes);
            } else if !types(node).any(|name| SITE_TYPES.contains(&name)) {
                hashes.push(node_hash(value, 0));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn node_hash(value: &Value, depth: usize) -> u64 {
    if depth > MAX_DEPTH {
        return 0;
    }
    let mut hash = Xxh3Default::new();
    match value {
        Value::Object(node) => {
            // A map is in the order of its names.
            for (name, value) in node {
                if !is_moving(name) {
                    hash.update(name.as_bytes());
                    hash.update(&node_hash(value, depth + 1).to_le_bytes());
                }
            }
        }
        Value::Array(values) => {
            for value in values {
                hash.update(&node_hash(value, depth + 1).to_le_bytes());
            }
        }
        Value::String(text) => hash.update(data_name(text).as_bytes()),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            return xxh3_64(value.to_string().as_bytes());
        }
    }
    hash.digest()
}

/// Returns whether a property moves without a change of the page: dates, and counts of readers.
fn is_moving(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.starts_with("date")
        || lower.ends_with("date")
        || lower.ends_with("time")
            && !matches!(
                &*lower,
                "preptime" | "cooktime" | "totaltime" | "performtime"
            )
        || matches!(
            &*lower,
            "lastreviewed"
                | "expires"
                | "validfrom"
                | "validthrough"
                | "pricevaliduntil"
                | "copyrightyear"
                | "interactionstatistic"
                | "interactioncount"
                | "userinteractioncount"
                | "commentcount"
                | "nonce"
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::tests::check_rows;

    fn blocks(texts: &[&str]) -> Vec<Value> {
        let mut blocks = JsonLdBlocks::default();
        for text in texts {
            blocks.add(text.as_bytes());
            blocks.end();
        }
        blocks.read()
    }

    #[test]
    fn the_dates_of_the_pages_own_node_count() {
        // Blocks are divided by ` & `.
        let rows = [
            " => [] []",
            "nonsense & [] & 3 & { => [] []",
            r#"{"@type":"Article","dateModified":"M","datePublished":"P"} => ["M"] ["P"]"#,
            r#"<!-- {"@type":["Thing","schema:NewsArticle"],"dateModified":{"@value":"M"}} --> => ["M"] []"#,
            "{\"@type\":\"WebPage\",\"name\":\"a\nb\",\"dateModified\":\"M\"} => [\"M\"] []",
            // Another page, or things on a page.
            r#"{"@type":"Article","url":"https://h.example/b","dateModified":"M"} => [] []"#,
            r#"{"@type":"Event","dateModified":"M"} => [] []"#,
            r#"{"@type":"Article","dateModified":"M"} & {"@type":"Article","dateModified":"N"} => [] []"#,
            r#"{"@type":"CollectionPage","hasPart":[{"@type":"Article","dateModified":"M"}]} => [] []"#,
            // The graph that many blogs have.
            r#"{"@graph":[
                {"@type":"Article","@id":"https://h.example/a#article","dateModified":"M","datePublished":"P"},
                {"@type":"WebPage","@id":"https://h.example/a","url":"https://h.example/a","dateModified":"N"},
                {"@type":"Article","@id":"https://h.example/b#article","dateModified":"X"}]} => ["M", "N"] ["P"]"#,
            r#"{"@type":"Recipe","mainEntityOfPage":{"@id":"https://h.example/a"},"dateModified":"M"} => ["M"] []"#,
            r#"{"@type":"WebPage","mainEntity":{"@type":"Article","url":"https://h.example/a","dateModified":"M"}} => ["M"] []"#,
        ];
        let is_page = |reference: &str| {
            reference.is_empty()
                || reference.split('#').next() == Some("https://h.example/a")
                || reference == "#this"
        };
        check_rows(&rows, |texts| {
            let texts: Vec<&str> = texts.split(" & ").collect();
            let found = entity_dates(&blocks(&texts), &is_page);
            format!("{:?} {:?}", found.modified, found.published)
        });
    }

    #[test]
    fn size_depth_and_number_are_bounded() {
        let mut kept = JsonLdBlocks::default();
        kept.add(b"[");
        kept.add(" ".repeat(MAX_BYTES).as_bytes());
        kept.add(b"]");
        kept.end();
        assert_eq!(kept.blocks.len(), 0);
        for _ in 0..2 * MAX_BLOCKS {
            kept.add(b"{}");
            kept.end();
        }
        assert_eq!(kept.blocks.len(), MAX_BLOCKS);
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(blocks(&[&deep]).len(), 0);
        let nested = format!("{}{{}}{}", r#"{"a":"#.repeat(100), "}".repeat(100));
        content_hash(&blocks(&[&nested]));
    }

    #[test]
    fn dates_and_order_do_not_change_the_hash() {
        let hash = |texts: &[&str]| content_hash(&blocks(texts));
        let base =
            hash(&[r#"{"@type":"Product","name":"a","offers":{"price":"5"},"dateModified":"1"}"#]);
        for same in [
            r#"{"@type":"Product","offers":{"price":"5","priceValidUntil":"x"},"name":"a"}"#,
            r#"{"@type":"Product","name":"a","offers":{"price":"5"},"interactionStatistic":{"x":3}}"#,
            r#"[{"@type":"Organization","name":"x"},{"@type":"Product","name":"a","offers":{"price":"5"}}]"#,
        ] {
            assert_eq!(hash(&[same]), base, "{same}");
        }
        for other in [
            r#"{"@type":"Product","name":"a","offers":{"price":"6"}}"#,
            r#"{"@type":"Product","name":"b","offers":{"price":"5"}}"#,
        ] {
            assert_ne!(hash(&[other]), base, "{other}");
        }
        assert_eq!(
            hash(&[r#"{"a":1}"#, r#"{"b":2}"#]),
            hash(&[r#"[{"b":2},{"a":1}]"#])
        );
        assert_eq!(
            hash(&[r#"{"image":"https://h/a.png?v=1&w=2"}"#]),
            hash(&[r#"{"image":"https://h/a.png?v=2&w=2"}"#])
        );
    }
}
