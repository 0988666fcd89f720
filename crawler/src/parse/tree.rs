//! A page as a tree, for its rules, within bounds. A small page can make a tree builder allocate gigabytes or compute for hours:
//! by deep nesting, formatting elements that are never closed, or thousands of attributes on one tag.

use html5ever::{
    driver::{self, ParseOpts},
    tendril::{StrTendril, TendrilSink as _},
};
use scraper::{Html, HtmlTreeSink};

/// Nodes of a tree: about 100 MB.
const MAX_NODES: usize = 500_000;

/// Open elements, as browsers limit them.
const MAX_DEPTH: usize = 512;

/// Bytes that are read at once.
const MAX_PIECE_BYTES: usize = 4 * 1_024;

/// The tree of `html`; `None` when it grows too large, or `has_time` no longer.
pub(super) fn build(html: &str, has_time: impl Fn() -> bool) -> Option<Html> {
    let sink = HtmlTreeSink::new(Html::new_document());
    let mut parser = driver::parse_document(sink, ParseOpts::default());
    let mut rest = html;
    while !rest.is_empty() {
        let (piece, others) = rest.split_at(end_of_piece(rest));
        rest = others;
        parser.process(StrTendril::from_slice(piece));
        let page = parser.tokenizer.sink.sink.0.borrow();
        let mut nodes = page.tree.nodes();
        let is_large = nodes.len() > MAX_NODES;
        // The newest node is in what is open.
        let newest = nodes.next_back();
        let is_deep = newest.is_some_and(|node| node.ancestors().nth(MAX_DEPTH).is_some());
        if is_large || is_deep || !has_time() {
            return None;
        }
    }
    Some(parser.finish())
}

/// End of the piece of text that is read at once. A piece has at most one tag: each can copy all formatting elements that are
/// open.
fn end_of_piece(text: &str) -> usize {
    let next_tag = memchr::memchr(b'<', text.as_bytes().get(1..).unwrap_or_default());
    let end = next_tag.map_or(text.len(), |at| at + 1);
    let mut end = end.min(MAX_PIECE_BYTES);
    while !text.is_char_boundary(end) {
        end += 1;
    }
    end
}
