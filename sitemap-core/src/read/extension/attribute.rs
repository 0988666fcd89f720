//! Attributes of extensions: their values with references resolved, as far as they can be.

use quick_xml::{
    escape::{resolve_html5_entity, resolve_xml_entity},
    events::BytesStart,
    name::NamespaceResolver,
};

use super::{Attributes, Problem};
use crate::{
    extension::Row,
    read::{
        MAX_VALUE_BYTES,
        document::{own_attributes, quoted},
        syntax::{is_name, referenced},
    },
};

/// Largest length of a reference: the longest name of an entity in HTML has 31 characters.
const MAX_REFERENCE_BYTES: usize = 34;

/// Reads the attributes of an element by its schema: the values of those that are known. Others are reported; reading ends at a
/// broken one, which was reported.
pub(super) fn read_attributes(
    start: &BytesStart<'_>,
    namespaces: &NamespaceResolver,
    row: &'static Row,
    problems: &mut Vec<Problem>,
) -> Attributes {
    let mut values = Vec::new();
    for attribute in own_attributes(start, namespaces) {
        let name = attribute.key.into_inner();
        let Some(known) = row.attributes.iter().find(|known| known.name == name) else {
            problems.push(Problem::UnknownPartAttribute {
                name: quoted(name),
                element: row.name,
            });
            continue;
        };
        if let Some(value) = attribute_value(&attribute.value, known.name, problems) {
            values.push((known.name, value));
        }
    }
    values
}

/// An attribute's value with its references resolved and its white space made spaces. `None` if it is too long, which is
/// reported, or has an undefined reference. Problems of references were reported with the tag.
pub(in crate::read) fn attribute_value(
    raw: &str,
    name: &'static str,
    problems: &mut Vec<Problem>,
) -> Option<String> {
    if raw.len() > MAX_VALUE_BYTES {
        problems.push(Problem::ValueTooLong { name });
        return None;
    }
    let mut value = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(ampersand) = rest.find('&') {
        push_spaced(&mut value, &rest[..ampersand]);
        rest = &rest[ampersand + 1..];
        if let Some((reference, after)) = reference_of(rest) {
            push_reference(&mut value, reference)?;
            rest = after;
        } else {
            value.push('&');
        }
    }
    push_spaced(&mut value, rest);
    Some(value)
}

/// The name between `&` and `;`, if it is meant as a reference, and the text after it.
fn reference_of(text: &str) -> Option<(&str, &str)> {
    let mut bytes = text.bytes().take(MAX_REFERENCE_BYTES);
    let end = bytes.position(|byte| byte == b';')?;
    let (reference, after) = (&text[..end], &text[end + 1..]);
    (reference.starts_with('#') || is_name(reference)).then_some((reference, after))
}

fn push_reference(value: &mut String, reference: &str) -> Option<()> {
    if let Some(number) = reference.strip_prefix('#') {
        value.push(referenced(number).unwrap_or(char::REPLACEMENT_CHARACTER));
    } else {
        value.push_str(resolve_xml_entity(reference).or_else(|| resolve_html5_entity(reference))?);
    }
    Some(())
}

/// XML 1.0 section 3.3.3: white space that is not written as a reference is a space.
fn push_spaced(value: &mut String, text: &str) {
    value.extend(text.chars().map(|character| match character {
        '\t' | '\n' | '\r' => ' ',
        other => other,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_with_a_meaning_are_resolved() {
        let check = |raw: &str, expected: Option<&str>, findings: usize| {
            let mut problems = Vec::new();
            let value = attribute_value(raw, "href", &mut problems);
            let found = (value.as_deref(), problems.len());
            assert_eq!(found, (expected, findings), "{raw}");
        };
        check("", Some(""), 0);
        check("a\tb\r\nc", Some("a b  c"), 0);
        check("?a=1&amp;b=2&#38;c&#x26;d", Some("?a=1&b=2&c&d"), 0);
        check("?a=1&b=2&c", Some("?a=1&b=2&c"), 0);
        check("?a=1&b=2;c=3", Some("?a=1&b=2;c=3"), 0);
        check("a&nbsp;b", Some("a\u{a0}b"), 0);
        check("a&nothing;b", None, 0);
        check("a&#0;b", Some("a\0b"), 0);
        let replaced = Some("a\u{FFFD}\u{FFFD}\u{FFFD}");
        check("a&#xD800;&#99999999999;&#;", replaced, 0);
        check("&", Some("&"), 0);
        let longest = "a".repeat(MAX_VALUE_BYTES);
        check(&longest, Some(longest.as_str()), 0);
        check(&"a".repeat(MAX_VALUE_BYTES + 1), None, 1);
    }
}
