//! Percent-encoding of text that becomes a part of a URL (RFC 3986 section 2.1).

/// Bytes that represent themselves everywhere, besides letters and digits (RFC 3986 section 2.3).
const UNRESERVED: &[u8] = b"-._~";

/// Bytes that mean nothing in a segment of a path (RFC 3986 section 3.3).
const PLAIN_IN_SEGMENT: &[u8] = b"!$&'()*+,;=:@";

/// `text` as the name of a file in a path.
pub(crate) fn segment(text: &[u8]) -> String {
    encoded(text, PLAIN_IN_SEGMENT)
}

/// `text` as a value in a query.
pub(crate) fn query_value(text: &str) -> String {
    encoded(text.as_bytes(), &[])
}

fn encoded(text: &[u8], plain: &[u8]) -> String {
    let is_plain = |byte: &u8| {
        byte.is_ascii_alphanumeric() || UNRESERVED.contains(byte) || plain.contains(byte)
    };
    let letters = text.iter().map(|byte| {
        if is_plain(byte) {
            char::from(*byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_characters_are_encoded() {
        fn check(text: &str, in_segment: &str, in_query: &str) {
            assert_eq!(segment(text.as_bytes()), in_segment);
            assert_eq!(query_value(text), in_query);
        }
        check("about.html", "about.html", "about.html");
        check("a b&c", "a%20b&c", "a%20b%26c");
        check("100%", "100%25", "100%25");
        check("a?b#c\\/", "a%3Fb%23c%5C%2F", "a%3Fb%23c%5C%2F");
        check("é:", "%C3%A9:", "%C3%A9%3A");
    }
}
