//! Misplaced text before an XML declaration: the warnings of a program, the lines of a log.

use std::str;

use super::{list_words::has_web_scheme, names};

/// Number of declarations that are looked at; the first one is it, unless the text before it mentions another.
const MAX_DECLARATIONS: usize = 16;

/// Number of the first bytes of a file to skip so that it begins with the XML declaration of a sitemap or a feed. It is 0 if the
/// file begins with such markup, or is something else, such as a web page or a list of URLs.
///
/// A declaration counts only together with the root element of a sitemap after it, so that no text is taken for one because it
/// mentions a declaration. Both have to be in `head`, the only part of the file that is looked at.
pub(super) fn garbage_bytes(head: &[u8]) -> usize {
    let root = root_name(head);
    let is_other = |name: &str| names::root(name).is_some() || names::is_html_root(name);
    if is_html_doctype(head) || root.is_some_and(is_other) {
        return 0;
    }
    let declarations = head
        .windows(DECLARATION.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == DECLARATION)
        .map(|(position, _)| position);
    for position in declarations.take(MAX_DECLARATIONS) {
        let (before, document) = head.split_at(position);
        if is_blank(before) || has_url(before) {
            return 0;
        }
        let is_declaration = document[DECLARATION.len()..]
            .first()
            .is_some_and(u8::is_ascii_whitespace);
        if is_declaration && root_name(document).is_some_and(|name| names::root(name).is_some()) {
            return position;
        }
    }
    0
}

const DECLARATION: &[u8] = b"<?xml";

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns whether the text is blank, with byte order marks of concatenated files.
fn is_blank(text: &[u8]) -> bool {
    let mut rest = text.trim_ascii_start();
    while let Some(after) = rest.strip_prefix(BYTE_ORDER_MARK) {
        rest = after.trim_ascii_start();
    }
    rest.is_empty()
}

/// Returns whether a line begins with a URL, so that the file is a list of URLs.
fn has_url(text: &[u8]) -> bool {
    text.split(|&byte| byte == b'\n' || byte == b'\r')
        .any(|line| {
            let start = line.trim_ascii_start();
            let start = &start[..start.len().min(8)];
            str::from_utf8(start).is_ok_and(has_web_scheme)
        })
}

fn is_html_doctype(head: &[u8]) -> bool {
    let expected = b"<!doctype html";
    let start = head.trim_ascii_start().get(..expected.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(expected))
}

/// The name without prefix of the first element, if only a declaration, comments and the like are before it.
fn root_name(head: &[u8]) -> Option<&str> {
    let mut rest = head.trim_ascii_start();
    loop {
        let end: &[u8] = match rest {
            [b'<', b'?', ..] => b"?>",
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'!', ..] => b">",
            _ => break,
        };
        let position = rest.windows(end.len()).position(|bytes| bytes == end)?;
        rest = rest[position + end.len()..].trim_ascii_start();
    }
    let tag = rest.strip_prefix(b"<")?;
    let end = tag
        .iter()
        .position(|&byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))?;
    let name = str::from_utf8(&tag[..end]).ok()?;
    Some(name.rsplit(':').next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "<?xml version=\"1.0\"?>\n<!-- x --><s:urlset xmlns:s=\"y\">";

    #[test]
    fn declaration_of_a_sitemap_is_found_after_anything() {
        let check = |garbage: &str| {
            let file = format!("{garbage}{DOCUMENT}");
            assert_eq!(garbage_bytes(file.as_bytes()), garbage.len(), "{garbage}");
        };
        check("x");
        check("Notice: Undefined index in /srv/map.php on line 3\n\n");
        check("<br />\n<b>Warning</b>: Undefined variable in <b>/srv/map.php</b><br />\n");
        check("} ?>\r\n");
        check("it says <?xml, and <?xml version='1.0'?>: no element; then\n");
        check("see http://host/a\n");
    }

    #[test]
    fn other_texts_are_what_they_are() {
        let check = |file: &str| assert_eq!(garbage_bytes(file.as_bytes()), 0, "{file}");
        check(DOCUMENT);
        check("");
        check(&format!("\n\u{feff} {DOCUMENT}"));
        check(&format!("<!-- x -->\n{DOCUMENT}"));
        check(&format!("<urlset></urlset>{DOCUMENT}"));
        check(&format!("http://host/a\n{DOCUMENT}"));
        check(&format!("x\n HTTPS://host/a\n{DOCUMENT}"));
        check(&format!("<!doctype HTML><h1>x</h1>{DOCUMENT}"));
        check(&format!("<html><body>{DOCUMENT}"));
        check("text with <?xml version='1.0'?> in it");
        check("text with <?xml version='1.0'?><svg> in it");
        check("text with <?xml-stylesheet href='x'?><urlset> in it");
        check("text with <?xml version='1.0'?><urlset");
        check("x<?xml");
    }
}
