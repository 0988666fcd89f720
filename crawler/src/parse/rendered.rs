//! A page as a browser shows it: read as every other page is.

use std::sync::Arc;

use super::{PageParser, PageReader};
use crate::{
    fetch::{BodySink as _, BodyWish, Fetched},
    html::{Following, Namespaces, Tag, Text, TextKind, TextModel, TokenSink, Tokenizer},
    page::{BodyEnd, PageFacts},
    url_key::{Identity, UrlKey},
};

/// The facts of the page at `url` that was `answered`, and is shown as this `html` in UTF-8.
pub(crate) fn read_rendered(
    url: &UrlKey,
    answered: &Fetched,
    html: &[u8],
    identity: &Arc<Identity>,
    reader: &Arc<PageReader>,
) -> PageFacts {
    let mut answered = answered.clone();
    answered.end = BodyEnd::Complete;
    let headers = answered.head.headers;
    answered.head.headers = headers.with("content-type", "text/html; charset=utf-8");
    let mut parser = PageParser::new(url, identity, reader);
    if parser.head(&answered.head) == BodyWish::Read {
        // It takes what it wants.
        let _ = parser.chunk(html);
    }
    parser.finish(&answered)
}

/// The length of the text of a page in bytes, without tags, scripts, styles and white space.
pub(crate) fn text_length(html: &[u8]) -> usize {
    let mut tokenizer = Tokenizer::new(TextLength::default());
    tokenizer.write(html);
    tokenizer.finish().bytes
}

#[derive(Default)]
struct TextLength {
    namespaces: Namespaces,
    bytes: usize,
}

impl TokenSink for TextLength {
    fn start_tag(&mut self, tag: &Tag<'_>) -> Following {
        self.namespaces.start_tag(tag).1
    }

    fn end_tag(&mut self, tag: &Tag<'_>) -> Following {
        self.namespaces.end_tag(tag)
    }

    fn text(&mut self, text: Text<'_>, kind: TextKind) {
        if kind == TextKind::Model(TextModel::Data) {
            let ink = text.bytes().iter().filter(|byte| **byte > b' ');
            self.bytes += ink.count();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_that_is_shown_counts() {
        assert_eq!(text_length(b""), 0);
        let page = b"<title>no</title><p>a b</p><script>x < y</script><style>p{}</style>c";
        assert_eq!(text_length(page), 3);
    }
}
