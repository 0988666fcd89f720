//! Facts of the response head alone: dates, validator, redirect target, robots directives, links.
//! It never looks at the body.

use crate::{
    fetch::{Headers, ResponseHead},
    url_key::{Identity, UrlKey},
};

use super::{content::read_quoted, directives::DirectiveSum, links::rel_contains};

/// Longest `ETag` that is kept, in bytes; a longer one could not be sent back sensibly.
const MAX_ETAG_BYTES: usize = 1_024;

/// Links taken from `Link` headers; the head is bounded already, this bounds the facts.
const MAX_HEADER_LINKS: usize = 1_000;

/// The validator, as sent.
pub(super) fn etag(headers: &Headers) -> Option<String> {
    let etag = headers.text("etag")?;
    (!etag.is_empty() && etag.len() <= MAX_ETAG_BYTES).then(|| etag.to_owned())
}

/// The announced length is 0: no body will follow.
pub(super) fn announces_empty_body(headers: &Headers) -> bool {
    headers.text("content-length") == Some("0")
}

/// `X-Content-Type-Options: nosniff`, as the [Fetch standard](https://fetch.spec.whatwg.org/#x-content-type-options-header)
/// reads it: the first value counts.
pub(super) fn forbids_sniffing(headers: &Headers) -> bool {
    let mut values = headers
        .text("x-content-type-options")
        .unwrap_or_default()
        .split(',');
    values
        .next()
        .is_some_and(|value| value.trim().eq_ignore_ascii_case("nosniff"))
}

/// Target of a redirect, relative to the requested URL.
pub(super) fn location(head: &ResponseHead, url: &UrlKey, identity: &Identity) -> Option<UrlKey> {
    if !matches!(head.status, 300..=303 | 305..=399) {
        return None;
    }
    let location = header_text(head.headers.all("location").next()?);
    if location.is_empty() {
        return None;
    }
    identity
        .resolve(&url.to_url(), &location, encoding_rs::UTF_8)
        .ok()
}

/// A header value as text. Bytes that are not UTF-8 stay, percent-encoded.
pub(super) fn header_text(value: &[u8]) -> String {
    let value = value.trim_ascii();
    std::str::from_utf8(value).map_or_else(
        |_| {
            value
                .iter()
                .map(|&byte| match byte {
                    0..=0x7f => char::from(byte).to_string(),
                    _ => format!("%{byte:02X}"),
                })
                .collect()
        },
        str::to_owned,
    )
}

/// The directives of `X-Robots-Tag`, each line by itself.
pub(super) fn directives(headers: &Headers, robots_names: &[String]) -> DirectiveSum {
    let mut sum = DirectiveSum::default();
    for line in headers.all("x-robots-tag") {
        sum.add_header_line(&String::from_utf8_lossy(line), robots_names);
    }
    sum
}

/// A link of a `Link` header (RFC 8288).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct HeaderLink {
    /// Target as it is written.
    pub(super) target: String,
    /// Relation types, separated by spaces.
    pub(super) rel: String,
    /// The languages that it states; the parameter may be repeated (RFC 8288 section 3.4.1).
    pub(super) hreflang: Vec<String>,
    /// The link states a medium.
    pub(super) has_media: bool,
    /// Media type of the target.
    pub(super) media_type: Option<String>,
}

impl HeaderLink {
    /// Returns whether `rel` holds `relation`, given in lower case.
    pub(super) fn is(&self, relation: &str) -> bool {
        rel_contains(&self.rel, relation)
    }
}

/// The links of all `Link` headers, in order. Links with an `anchor` are about another resource and are left out.
pub(super) fn links(headers: &Headers) -> Vec<HeaderLink> {
    let mut links = Vec::new();
    for line in headers.all("link") {
        let text = header_text(line);
        let mut rest = &*text;
        while let Some(start) = rest.find('<') {
            let Some((target, parameters)) = rest[start + 1..].split_once('>') else {
                break;
            };
            let (link, after) = read_parameters(target, parameters);
            rest = after;
            if links.len() < MAX_HEADER_LINKS {
                links.extend(link);
            }
        }
    }
    links
}

/// The parameters of one link, and the text after its comma.
fn read_parameters<'a>(target: &str, text: &'a str) -> (Option<HeaderLink>, &'a str) {
    let mut link = HeaderLink {
        target: target.trim().to_owned(),
        ..HeaderLink::default()
    };
    let mut has_anchor = false;
    let mut has_rel = false;
    let mut rest = text.trim_ascii_start();
    while let Some(parameter) = rest.strip_prefix(';') {
        let parameter = parameter.trim_ascii_start();
        let end = parameter.find(['=', ';', ',']).unwrap_or(parameter.len());
        let (name, after_name) = parameter.split_at(end);
        let (value, after_value) = match after_name.strip_prefix('=') {
            Some(value) => read_value(value.trim_ascii_start()),
            None => (String::new(), after_name),
        };
        rest = after_value.trim_ascii_start();
        match &*name.trim_ascii_end().to_ascii_lowercase() {
            // The first one counts (RFC 8288 section 3.3).
            "rel" if !has_rel => {
                has_rel = true;
                link.rel = value;
            }
            "anchor" => has_anchor = true,
            "hreflang" => link.hreflang.push(value),
            "media" => link.has_media = true,
            "type" => link.media_type = Some(value),
            _ => {}
        }
    }
    (Some(link).filter(|_| has_rel && !has_anchor), rest)
}

fn read_value(text: &str) -> (String, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        return read_quoted(quoted);
    }
    let (value, rest) = text.split_at(text.find([';', ',']).unwrap_or(text.len()));
    (value.trim_ascii_end().to_owned(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::tests::check_rows;

    #[test]
    fn link_header_is_read_by_rfc_8288() {
        let rows = [
            " =>",
            "</a>; rel=canonical => /a (canonical)",
            "</a>;rel=\"next prev\" => /a (next prev)",
            "</a> ; title=\"x, <y>; \\\"z\" ; Rel = next => /a (next)",
            "</a>; rel=next, </b>; rel=prev => /a (next), /b (prev)",
            "</a,b>; rel=next,</c>;rel=prev => /a,b (next), /c (prev)",
            "</a>; rel=next; rel=prev => /a (next)",
            "</a>; rel=next; anchor=\"#x\" =>",
            "</a> =>",
            "</a>; rel => /a ()",
            "</a; rel=next =>",
            "nonsense, </b>; rel=prev => /b (prev)",
            "</a>; rel=\"next => /a (next)",
            "</a>; rel=prev, <>; rel=next => /a (prev),  (next)",
        ];
        check_rows(&rows, |line| {
            let found = links(&Headers::from_iter([("Link", line)]));
            let shown = found
                .iter()
                .map(|link| format!("{} ({})", link.target, link.rel));
            shown.collect::<Vec<_>>().join(", ")
        });
    }

    #[test]
    fn attributes_of_header_links_are_seen() {
        let headers = Headers::from_iter([(
            "Link",
            "</a>; rel=alternate; hreflang=de; hreflang=\"de-AT\"; type=\"text/html\"; media=print",
        )]);
        let expected = HeaderLink {
            target: "/a".to_owned(),
            rel: "alternate".to_owned(),
            hreflang: vec!["de".to_owned(), "de-AT".to_owned()],
            has_media: true,
            media_type: Some("text/html".to_owned()),
        };
        assert_eq!(links(&headers), [expected]);
    }

    #[test]
    fn location_is_resolved_for_redirects_only() {
        let identity = Identity::default();
        let url = identity.parse("https://example.com/a/b").unwrap();
        let cases: [(u16, &[u8], &str); 10] = [
            (301, b"c", "https://example.com/a/c"),
            (308, b"//other.example/", "https://other.example/"),
            (302, b"/\xc3\xa9", "https://example.com/%C3%A9"),
            (302, b"/\xe9", "https://example.com/%E9"),
            (302, b"", ""),
            (302, b"mailto:x@example.com", ""),
            (302, b"http://", ""),
            (200, b"/c", ""),
            (201, b"/c", ""),
            (304, b"/c", ""),
        ];
        for (status, value, expected) in cases {
            let mut headers = Headers::default();
            headers.push("Location", value);
            let found = location(&ResponseHead { status, headers }, &url, &identity);
            let found = found.as_ref().map_or("", UrlKey::as_str);
            assert_eq!(found, expected, "{status} {}", value.escape_ascii());
        }
    }

    #[test]
    fn unusable_validators_are_dropped() {
        let check = |value: &str, expected: Option<&str>| {
            assert_eq!(
                etag(&Headers::from_iter([("ETag", value)])).as_deref(),
                expected
            );
        };
        check(" W/\"x\" ", Some("W/\"x\""));
        check("", None);
        check(&"x".repeat(1_025), None);
    }
}
