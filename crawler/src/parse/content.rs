//! Type of a body: reads `Content-Type` by the WHATWG MIME Sniffing and Fetch standards, and recognises HTML by its first bytes
//! when the type is unknown. It never looks past those bytes.

use encoding_rs::Encoding;

use crate::fetch::Headers;

/// Number of bytes of a resource that are looked at, from WHATWG MIME Sniffing section 5.
pub(super) const SNIFF_BYTES: usize = 1_445;

/// The two syntaxes a page can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    /// HTML syntax.
    Html,
    /// XML syntax: self-closing tags and CDATA sections are valid.
    Xhtml,
}

/// Handling of a body, by its type alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A page: parse it.
    Page(Markup),
    /// The type is missing or generic: look at the first bytes.
    Unknown,
    /// XML, which is a page if its root element is `html`.
    Xml,
    /// Listed by its type, not parsed.
    Document,
    /// Anything else.
    Other,
}

/// The parts of a MIME type that a crawler uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MediaType {
    /// `type/subtype` in lower case.
    pub(super) essence: String,
    /// Value of the first `charset` parameter.
    pub(super) charset: Option<String>,
}

/// The type that a head declares: the last readable one, as in "extract a MIME type" of the
/// WHATWG Fetch standard.
pub(super) fn declared_type(headers: &Headers) -> Option<MediaType> {
    let mut declared: Option<MediaType> = None;
    for line in headers.all("content-type") {
        // Header bytes are code points ("isomorphic decode").
        let line: String = line.iter().map(|&byte| char::from(byte)).collect();
        for value in split_at_commas(&line) {
            let Some(mut next) = parse_media_type(value) else {
                continue;
            };
            if next.essence == "*/*" {
                continue;
            }
            // A type that is repeated without a charset keeps the charset it had.
            if let Some(previous) = declared.filter(|previous| previous.essence == next.essence) {
                next.charset = next.charset.or(previous.charset);
            }
            declared = Some(next);
        }
    }
    declared
}

/// Handling of a body of this type.
pub(super) fn classify(media_type: Option<&MediaType>, document_types: &[String]) -> Class {
    let Some(media_type) = media_type else {
        return Class::Unknown;
    };
    match &*media_type.essence {
        "text/html" => Class::Page(Markup::Html),
        "application/xhtml+xml" => Class::Page(Markup::Xhtml),
        // An explicit wish of the settings goes before sniffing.
        essence if document_types.iter().any(|known| known == essence) => Class::Document,
        "text/xml" | "application/xml" => Class::Xml,
        "text/plain" | "application/octet-stream" | "unknown/unknown" | "application/unknown" => {
            Class::Unknown
        }
        _ => Class::Other,
    }
}

/// Recognises a page by the first [`SNIFF_BYTES`] of its body: declared HTML, and XML whose root element is `html`.
pub(super) fn sniff(prefix: &[u8]) -> Option<Markup> {
    let text = without_bom(&prefix[..prefix.len().min(SNIFF_BYTES)]);
    let text = text.trim_ascii_start();
    if text.starts_with(b"<?xml") {
        return (root_element(text)? == b"html").then_some(Markup::Xhtml);
    }
    let text = without_comments(text)?;
    let is_html = [&b"<!doctype html"[..], b"<html", b"<head"]
        .into_iter()
        .any(|tag| begins_with_tag(text, tag));
    is_html.then_some(Markup::Html)
}

/// Recognises a page in XML by the first [`SNIFF_BYTES`] of its body: its root element is `html`.
pub(super) fn sniff_xml(prefix: &[u8]) -> Option<Markup> {
    let text = without_bom(&prefix[..prefix.len().min(SNIFF_BYTES)]);
    (root_element(&text)? == b"html").then_some(Markup::Xhtml)
}

/// Returns whether `text` begins with this tag, and not with a longer name.
fn begins_with_tag(text: &[u8], tag: &[u8]) -> bool {
    let Some((start, rest)) = text.split_at_checked(tag.len()) else {
        return false;
    };
    let ends_name = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
    start.eq_ignore_ascii_case(tag) && rest.first().is_some_and(ends_name)
}

/// The text after white space and comments; `None` when a comment does not end.
fn without_comments(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        text = text.trim_ascii_start();
        let Some(comment) = text.strip_prefix(b"<!--") else {
            return Some(text);
        };
        text = after(comment, b"-->")?;
    }
}

/// The name of the root element of an XML document, with its prefix.
fn root_element(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        text = without_comments(text)?;
        let rest = text.strip_prefix(b"<")?;
        text = match rest.first()? {
            b'?' => after(rest, b"?>")?,
            b'!' => {
                let end = rest.iter().position(|byte| matches!(byte, b'[' | b'>'))?;
                let (passed, inner) = rest.split_at(end + 1);
                if passed.ends_with(b"[") {
                    after(after(inner, b"]")?, b">")?
                } else {
                    inner
                }
            }
            _ => {
                let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
                return Some(rest.split_at(rest.iter().position(is_end)?).0);
            }
        };
    }
}

/// The text after the first `end` in `text`.
fn after<'t>(text: &'t [u8], end: &[u8]) -> Option<&'t [u8]> {
    let found = memchr::memmem::find(text, end)?;
    text.get(found + end.len()..)
}

/// The text after a byte order mark; UTF-16 becomes UTF-8.
fn without_bom(prefix: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    match Encoding::for_bom(prefix) {
        None => prefix.into(),
        Some((encoding, length)) if encoding == encoding_rs::UTF_8 => (&prefix[length..]).into(),
        Some((encoding, length)) => {
            let (text, _) = encoding.decode_without_bom_handling(&prefix[length..]);
            text.into_owned().into_bytes().into()
        }
    }
}

/// Splits a header value at commas outside quoted strings.
fn split_at_commas(value: &str) -> impl Iterator<Item = &str> {
    let mut in_quotes = false;
    let mut escaped = false;
    value.split(move |character| {
        if escaped {
            escaped = false;
            return false;
        }
        match character {
            '\\' if in_quotes => escaped = true,
            '"' => in_quotes = !in_quotes,
            ',' => return !in_quotes,
            _ => {}
        }
        false
    })
}

/// "Parse a MIME type" of WHATWG MIME Sniffing section 4.4, keeping only the charset of the parameters.
fn parse_media_type(text: &str) -> Option<MediaType> {
    let text = text.trim_matches(is_http_whitespace);
    let (kind, rest) = text.split_once('/')?;
    let (subtype, mut rest) = match rest.split_once(';') {
        Some((subtype, parameters)) => (subtype, Some(parameters)),
        None => (rest, None),
    };
    let subtype = subtype.trim_end_matches(is_http_whitespace);
    if !is_token(kind) || !is_token(subtype) {
        return None;
    }
    let mut charset = None;
    while let Some(parameters) = rest {
        let parameters = parameters.trim_start_matches(is_http_whitespace);
        let end = parameters.find([';', '=']).unwrap_or(parameters.len());
        let (name, after_name) = parameters.split_at(end);
        let Some(value) = after_name.strip_prefix('=') else {
            rest = after_name.strip_prefix(';');
            continue;
        };
        let (value, after_value) = read_parameter_value(value);
        rest = after_value;
        let is_valid = |value: &String| {
            value
                .chars()
                .all(|character| matches!(character, '\t' | ' '..='~' | '\u{80}'..='\u{ff}'))
        };
        if charset.is_none() && name.eq_ignore_ascii_case("charset") {
            charset = value.filter(is_valid);
        }
    }
    Some(MediaType {
        essence: format!("{kind}/{subtype}").to_ascii_lowercase(),
        charset,
    })
}

/// A parameter's value, quoted or not, and the text after its `;`.
fn read_parameter_value(text: &str) -> (Option<String>, Option<&str>) {
    let after = |rest: &str| rest.find(';').map(|semicolon| semicolon + 1);
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = match text.split_once(';') {
            Some((value, rest)) => (value, Some(rest)),
            None => (text, None),
        };
        let value = value.trim_end_matches(is_http_whitespace);
        return ((!value.is_empty()).then(|| value.to_owned()), rest);
    };
    let (value, rest) = read_quoted(quoted);
    (Some(value), after(rest).map(|start| &rest[start..]))
}

/// The content of a quoted string whose opening quote has been read, and the text after its closing quote.
pub(super) fn read_quoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.push(characters.next().map_or('\\', |(_, escaped)| escaped)),
            _ => value.push(character),
        }
    }
    (value, "")
}

fn is_http_whitespace(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' ')
}

/// Returns whether `text` is a token of RFC 9110 section 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|character| {
            character.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(character)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::tests::check_rows;

    #[test]
    fn the_last_readable_content_type_counts() {
        let rows = [
            "text/plain | text/html => text/html",
            "text/html;charset=gbk | text/html => text/html gbk",
            "text/html;charset=gbk | text/plain => text/plain",
            "text/html, */* => text/html",
            "text/html;x=\",text/plain\" => text/html",
            "text/html | nonsense => text/html",
        ];
        check_rows(&rows, |lines| {
            let lines = lines.split(" | ").map(|line| ("Content-Type", line));
            let found = declared_type(&lines.collect()).unwrap();
            let charset = found.charset.map(|charset| format!(" {charset}"));
            found.essence + &charset.unwrap_or_default()
        });
    }

    #[test]
    fn types_are_sorted_into_classes() {
        let check = |essence: &str, expected: Class| {
            let media_type = MediaType {
                essence: essence.to_owned(),
                charset: None,
            };
            let documents = ["application/pdf".to_owned(), "text/plain".to_owned()];
            assert_eq!(
                classify(Some(&media_type), &documents),
                expected,
                "{essence}"
            );
        };
        check("text/html", Class::Page(Markup::Html));
        check("application/xhtml+xml", Class::Page(Markup::Xhtml));
        check("application/pdf", Class::Document);
        check("text/plain", Class::Document);
        check("application/octet-stream", Class::Unknown);
        check("application/xml", Class::Xml);
        check("text/xml", Class::Xml);
        check("application/rss+xml", Class::Other);
        check("image/png", Class::Other);
        assert_eq!(classify(None, &[]), Class::Unknown);
    }

    #[test]
    fn xml_is_a_page_by_its_root_element() {
        let page = [
            "<html xmlns='http://www.w3.org/1999/xhtml'>",
            "<?xml version='1.0'?>\n<?xml-stylesheet href='a'?><!-- <rss> --><html>",
            "<?xml version='1.0'?><!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' 'a'><html>",
            "<?xml version='1.0'?><!DOCTYPE html [ <!ENTITY a '>'> ] ><html/>",
        ];
        let other = [
            "<urlset>",
            "<htmlx>",
            "<svg>",
            "text",
            "",
            "<!-- <html> -->",
            "<?xml version='1.0'?><rss>",
            "<?xml version='1.0'?><!-- <html> -->",
            "<?xml version='1.0'?><html",
            "<?xml version='1.0'?><xsl:stylesheet xmlns='http://www.w3.org/1999/xhtml'><xsl:template match='/'><html>",
            "<?xml version='1.0'?><svg xmlns:h='http://www.w3.org/1999/xhtml'><h:html>",
        ];
        for body in page.iter().chain(&other) {
            let expected = page.contains(body).then_some(Markup::Xhtml);
            assert_eq!(sniff_xml(body.as_bytes()), expected, "{body}");
            if body.starts_with("<?xml") {
                assert_eq!(sniff(body.as_bytes()), expected, "{body}");
            }
            let marked = format!("\u{feff}{body}");
            let wide: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
            assert_eq!(sniff_xml(&wide), expected, "in UTF-16: {body}");
        }
    }

    fn check_sniff(body: &[u8], expected: Option<Markup>) {
        assert_eq!(sniff(body), expected, "{}", body.escape_ascii());
    }

    #[test]
    fn only_declared_html_is_html() {
        check_sniff(b"", None);
        check_sniff(b"hello", None);
        check_sniff(b"<!DOCTYPE html>", Some(Markup::Html));
        check_sniff(b"\xef\xbb\xbf\r\n\t <!doctype HTML >", Some(Markup::Html));
        check_sniff(b"<HTML lang=en>", Some(Markup::Html));
        check_sniff(b"<html\n>", Some(Markup::Html));
        check_sniff(b"<head><title>", Some(Markup::Html));
        check_sniff(b"<!-- a -->\n<!-- > b --> <html>", Some(Markup::Html));
        check_sniff(b"\xff\xfe<\0h\0t\0m\0l\0>\0", Some(Markup::Html));
        check_sniff(b"%PDF-1.4 <html>", None);
        // Sources, templates and texts that begin like HTML.
        check_sniff(b"<header>", None);
        check_sniff(b"<html5>", None);
        check_sniff(b"<!doctype htmlx>", None);
        check_sniff(b"<!-- a", None);
        check_sniff(b"<!-- a --># A readme", None);
        check_sniff(b"<p align=center>\n# A readme", None);
        check_sniff(b"<h1 align=\"center\">A readme</h1>", None);
        check_sniff(b"<div class=entry>{{title}}</div>", None);
        check_sniff(b"{{!< default}}\n<html>", None);
        check_sniff(b"<script>alert(1)</script>", None);
        check_sniff(b"<?php echo 1 ?><html>", None);
    }
}
