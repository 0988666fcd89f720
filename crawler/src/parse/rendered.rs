//! A page as a browser shows it: read as every other page is.

use std::sync::Arc;

use super::{
    PageParser, PageReader,
    charset::{Charset, encoding_of_label},
};
use crate::{
    fetch::{BodySink as _, BodyWish, Fetched},
    page::{BodyEnd, PageFacts},
    url_key::{Identity, UrlKey},
};

/// Bytes that are parsed at once.
const PIECE_BYTES: usize = 64 * 1_024;

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
    let mut wish = parser.head(&answered.head);
    for piece in html.chunks(PIECE_BYTES) {
        if wish == BodyWish::Read {
            wish = parser.chunk(piece);
        }
    }
    parser.finish(&answered)
}

/// The length of the text of a page of this type in characters, without tags, scripts, styles and white space: close enough to compare
/// a page with itself. It reads no page as browsers do, so that the reader of all pages is compiled for one use.
pub(crate) fn text_length(page: &[u8], content_type: &str) -> usize {
    let label = content_type.split_once("charset=").map(|(_, label)| label);
    let label = label.and_then(|label| label.split(';').next());
    let declared = label.and_then(|label| encoding_of_label(label.trim_matches(['"', ' '])));
    let charset = Charset::determine(page, declared);
    let (text, ..) = charset.encoding.decode(page);
    let text = text.to_ascii_lowercase();
    let (mut rest, mut count) = (&*text, 0);
    while let Some((before, tag)) = rest.split_once('<') {
        count += ink(before);
        let unseen = UNSEEN.iter().find(|name| tag.starts_with(**name));
        let end = unseen.map_or(Some(0), |name| tag.find(&format!("</{name}")));
        let Some(end) = end else {
            return count;
        };
        let tag = &tag[end..];
        rest = tag.split_once('>').map_or("", |(_, rest)| rest);
    }
    count + ink(rest)
}

/// Elements whose text is not shown.
const UNSEEN: [&str; 4] = ["script", "style", "title", "noscript"];

/// Characters that are not white space.
fn ink(text: &str) -> usize {
    text.chars().filter(|character| *character > ' ').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_that_is_shown_counts() {
        let length = |page: &[u8], label: &str| text_length(page, &format!("text/html{label}"));
        assert_eq!(length(b"", ""), 0);
        let page = b"<title>no</title><p>a b</p><SCRIPT>x < y</script><style>p{}</style>c";
        assert_eq!(length(page, ""), 3);
        assert_eq!(length(b"a<style>b", ""), 1);
        assert_eq!(
            length("<p>\u{43c}\u{438}\u{440}".as_bytes(), "; charset=utf-8"),
            3
        );
        assert_eq!(length(b"<p>\xec\xe8\xf0", "; charset=windows-1251"), 3);
    }
}
