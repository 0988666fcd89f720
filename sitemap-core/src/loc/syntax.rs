//! The syntax of URLs: cutting them at their separators, encoding forbidden characters, comparing paths.

use std::net::Ipv4Addr;

use url::Host;

use super::LocError;
use crate::limits::MAX_LOC_CHARACTERS;

/// May be raw in a path (RFC 3986 section 3.3: `pchar` and the separator).
const PATH: u8 = 1;
/// May be raw in a query (RFC 3986 section 3.4).
pub(super) const QUERY: u8 = 2;
/// Unreserved: escaping it changes nothing (RFC 3986 section 2.3).
const UNRESERVED: u8 = 4;
/// May be in a host name that needs no further look: lower case letters, digits, `-`, `_`.
const PLAIN_LABEL: u8 = 8;

/// Uses of each byte, as a set of the bits above. `%` is in none: whether it may stay depends on what follows.
const BYTE_CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => PATH | QUERY | UNRESERVED | PLAIN_LABEL,
            b'A'..=b'Z' | b'.' | b'~' => PATH | QUERY | UNRESERVED,
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b':'
            | b'@' | b'/' => PATH | QUERY,
            b'?' => QUERY,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

pub(super) fn is(byte: u8, class: u8) -> bool {
    BYTE_CLASSES[usize::from(byte)] & class != 0
}

/// The value of the escape `%XX` that begins at `position`, if one does.
fn escape_at(bytes: &[u8], position: usize) -> Option<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    match bytes.get(position..position + 3)? {
        [b'%', high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
        _ => None,
    }
}

/// Start of the path in a text that is a [`Loc`] as it is; such a text is taken over unchanged.
///
/// `None` means "look closer", not "wrong". Most URLs of a crawl were normalised before and take this way.
pub(super) fn clean_path_start(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (host_start, default_port) = if text.starts_with("https://") {
        (8, "443")
    } else if text.starts_with("http://") {
        (7, "80")
    } else {
        return None;
    };
    if bytes.len() > MAX_LOC_CHARACTERS {
        return None;
    }
    let path_start = host_start + bytes[host_start..].iter().position(|byte| *byte == b'/')?;
    let authority = &text[host_start..path_start];
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let plain_port = port.is_none_or(|port| {
        port != default_port
            && !port.starts_with('0')
            && port
                .parse::<u16>()
                .is_ok_and(|number| number.to_string() == port)
    });
    let is_final = is_plain_host(host) || host.parse::<Ipv4Addr>().is_ok();
    if !plain_port || !is_final {
        return None;
    }
    let mut class = PATH;
    let mut position = path_start;
    while position < bytes.len() {
        let byte = bytes[position];
        if is(byte, class) {
            // A segment that begins with a dot, raw or escaped, may be a dot segment.
            let begins_with_dot = byte == b'/'
                && class == PATH
                && matches!(bytes.get(position + 1), Some(b'.' | b'%'));
            if begins_with_dot && may_be_dot_segment(&bytes[position + 1..]) {
                return None;
            }
            position += 1;
        } else if byte == b'%' {
            escape_at(bytes, position)?;
            position += 3;
        } else if byte == b'?' && class == PATH {
            class = QUERY;
            position += 1;
        } else {
            return None;
        }
    }
    Some(path_start)
}

/// Returns whether the path after a `/` begins with a raw or escaped dot.
fn may_be_dot_segment(rest: &[u8]) -> bool {
    rest.first() == Some(&b'.') || escape_at(rest, 0) == Some(b'.')
}

/// Returns whether a host is a domain name certainly in its final form: no A-label to check, no address, no empty label.
fn is_plain_host(host: &str) -> bool {
    let mut last_begins_with_letter = false;
    for label in host.split('.') {
        let plain = !label.is_empty()
            && !label.starts_with("xn--")
            && label.bytes().all(|byte| is(byte, PLAIN_LABEL));
        if !plain {
            return false;
        }
        last_begins_with_letter = label.as_bytes()[0].is_ascii_lowercase();
    }
    last_begins_with_letter
}

/// Raw characters in path and query of a URL as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rawness {
    /// Nothing that should be encoded, apart from brackets, which many servers and clients take as they are.
    None,
    /// Characters beyond ASCII, as an IRI (RFC 3987) may have them.
    NotAscii,
    /// Characters of ASCII that RFC 3986 forbids, or a `%` that begins no escape.
    Forbidden,
}

/// Classifies an absolute URL by the characters that have to be encoded.
pub(crate) fn rawness(text: &str) -> Rawness {
    let Ok(parts) = split(text) else {
        return Rawness::None;
    };
    let mut rawness = Rawness::None;
    for part in [parts.path, parts.query.unwrap_or_default()] {
        for (position, &byte) in part.as_bytes().iter().enumerate() {
            let stands_for_itself = is(byte, QUERY) || matches!(byte, b'[' | b']');
            if stands_for_itself || escape_at(part.as_bytes(), position).is_some() {
                continue;
            }
            if byte.is_ascii() {
                return Rawness::Forbidden;
            }
            rawness = Rawness::NotAscii;
        }
    }
    rawness
}

/// Returns whether the host of an absolute URL is written in ASCII.
pub(crate) fn has_ascii_host(text: &str) -> bool {
    split(text).is_ok_and(|parts| parts.authority.is_ascii())
}

/// An absolute URL cut at its separators, nothing checked yet but the scheme.
pub(super) struct UrlParts<'a> {
    pub(super) https: bool,
    pub(super) authority: &'a str,
    pub(super) path: &'a str,
    pub(super) query: Option<&'a str>,
}

pub(super) fn split(text: &str) -> Result<UrlParts<'_>, LocError> {
    if text.is_empty() {
        return Err(LocError::Empty);
    }
    if text.trim_ascii().len() < text.len() {
        return Err(LocError::Padded);
    }
    let (scheme, rest) = text.split_once("://").ok_or(LocError::NotAbsolute)?;
    let https = scheme.eq_ignore_ascii_case("https");
    if !https && !scheme.eq_ignore_ascii_case("http") {
        return Err(LocError::NotAbsolute);
    }
    let rest = &rest[..rest.find('#').unwrap_or(rest.len())];
    let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path_and_query) = rest.split_at(authority_end);
    let (path, query) = match path_and_query.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path_and_query, None),
    };
    Ok(UrlParts {
        https,
        authority,
        path,
        query,
    })
}

/// Appends the host in its final form and the port unless it is the scheme's default.
pub(super) fn push_authority(
    out: &mut String,
    authority: &str,
    https: bool,
) -> Result<(), LocError> {
    if authority.contains('@') {
        return Err(LocError::UserInfo);
    }
    // A host name has at most 253 characters; the bound only keeps absurd input away from the IDNA tables.
    if authority.len() > MAX_LOC_CHARACTERS {
        return Err(LocError::Host);
    }
    // The colons of an IPv6 address are in brackets.
    let after_bracket = authority.rfind(']').map_or(0, |bracket| bracket + 1);
    let (host, port) = match authority[after_bracket..].find(':') {
        Some(colon) => (
            &authority[..after_bracket + colon],
            &authority[after_bracket + colon + 1..],
        ),
        None => (authority, ""),
    };
    match Host::parse(host).map_err(|_| LocError::Host)? {
        Host::Domain(domain) if !is_registered_name(&domain) => return Err(LocError::Host),
        host => out.push_str(&host.to_string()),
    }
    if port.is_empty() {
        return Ok(());
    }
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(LocError::Port);
    }
    let number: u16 = port.parse().map_err(|_| LocError::Port)?;
    if number != if https { 443 } else { 80 } {
        out.push(':');
        out.push_str(&number.to_string());
    }
    Ok(())
}

/// Returns whether every character may be raw in a host (RFC 3986 section 3.2.2; browsers allow a few more, such as `"` and
/// `{`). No label but that of the root may be empty (RFC 1034 section 3.1): no name server has such a name.
fn is_registered_name(domain: &str) -> bool {
    let labels = domain.strip_suffix('.').unwrap_or(domain);
    labels.split('.').all(|label| !label.is_empty())
        && domain.bytes().all(|byte| {
            is(byte, UNRESERVED)
                || matches!(
                    byte,
                    b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'='
                )
        })
}

/// Appends an encoded path without dot segments (RFC 3986 section 5.2.4; `%2e` is a dot for every client, WHATWG URL 4.1).
pub(super) fn push_path(out: &mut String, path: &str) {
    let path_start = out.len();
    let path = path.strip_prefix('/').unwrap_or(path);
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        let dots = dots_of(segment);
        match dots {
            Some(1) => {}
            Some(_) => out.truncate(
                out[path_start..]
                    .rfind('/')
                    .map_or(path_start, |slash| path_start + slash),
            ),
            None => {
                out.push('/');
                push_encoded(out, segment, PATH);
            }
        }
        // A dot segment at the end leaves the directory itself.
        if dots.is_some() && segments.peek().is_none() {
            out.push('/');
        }
    }
}

/// One or two if the segment is a dot segment, each dot raw or escaped.
fn dots_of(segment: &str) -> Option<usize> {
    let mut rest = segment.as_bytes();
    let mut dots = 0;
    while !rest.is_empty() {
        rest = match rest {
            [b'.', rest @ ..] | [b'%', b'2', b'e' | b'E', rest @ ..] => rest,
            _ => return None,
        };
        dots += 1;
    }
    matches!(dots, 1 | 2).then_some(dots)
}

/// Appends `text` with every byte that is not of `class` percent-encoded, and existing escapes as they are.
pub(super) fn push_encoded(out: &mut String, text: &str, class: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let bytes = text.as_bytes();
    for (position, &byte) in bytes.iter().enumerate() {
        if is(byte, class) || (byte == b'%' && escape_at(bytes, position).is_some()) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
}

/// Appends an encoded path or query with the escapes of unreserved characters decoded and the others in upper case.
pub(super) fn push_normalised(out: &mut String, text: &str) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in Comparable::new(text) {
        match byte {
            ComparableByte::Raw(byte) => out.push(char::from(byte)),
            ComparableByte::Escaped(byte) => {
                out.push('%');
                out.push(char::from(DIGITS[usize::from(byte >> 4)]));
                out.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
        }
    }
}

/// Returns whether an encoded path or query has the escape of an unreserved character.
pub(super) fn has_needless_escape(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.match_indices('%')
        .any(|(position, _)| escape_at(bytes, position).is_some_and(|byte| is(byte, UNRESERVED)))
}

/// The bytes of a path in the form in which two paths are compared, one by one and without allocation.
///
/// An escape that stays an escape is one item, so that it can never be taken for raw characters.
pub(super) struct Comparable<'a> {
    rest: &'a [u8],
}

#[derive(PartialEq, Eq)]
pub(super) enum ComparableByte {
    Raw(u8),
    Escaped(u8),
}

impl<'a> Comparable<'a> {
    pub(super) fn new(path: &'a str) -> Self {
        Self {
            rest: path.as_bytes(),
        }
    }
}

impl Iterator for Comparable<'_> {
    type Item = ComparableByte;

    fn next(&mut self) -> Option<ComparableByte> {
        if let Some(value) = escape_at(self.rest, 0) {
            self.rest = &self.rest[3..];
            return Some(if is(value, UNRESERVED) {
                ComparableByte::Raw(value)
            } else {
                ComparableByte::Escaped(value)
            });
        }
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(ComparableByte::Raw(byte))
    }
}
