//! Attributes of extensions: their values with references resolved, as far as they can be.

use quick_xml::{
    escape::{resolve_html5_entity, resolve_xml_entity},
    events::BytesStart,
};

use super::{ExtensionProblem, Problem};
use crate::{
    extension::is_xml_character,
    read::{
        MAX_VALUE_BYTES,
        document::{BROKEN_ATTRIBUTE, MAX_ATTRIBUTES, is_name, quoted},
    },
};

/// How long a reference can be: the longest name of an entity in HTML has 31 characters.
const MAX_REFERENCE_BYTES: usize = 34;

/// The values of the attributes that `known` names. Others are told, and so is a broken one, at which reading them ends.
pub(in crate::read) fn read_attributes(
    start: &BytesStart<'_>,
    element: &'static str,
    known: &[&'static str],
    problems: &mut Vec<Problem>,
) -> Vec<(&'static str, String)> {
    let mut values = Vec::new();
    if start.attributes_raw().is_empty() {
        return values;
    }
    for attribute in start.attributes().take(MAX_ATTRIBUTES) {
        let Ok(attribute) = attribute else {
            problems.push(Problem::IllFormed {
                what: BROKEN_ATTRIBUTE,
            });
            break;
        };
        if attribute.key.as_namespace_binding().is_some() {
            continue;
        }
        let name = attribute.key.into_inner();
        let Some(known) = known.iter().find(|known| **known == name) else {
            // An attribute with a prefix belongs to somebody else.
            if !name.contains(':') {
                problems.push(Problem::OfExtension(ExtensionProblem::UnknownAttribute {
                    name: quoted(name),
                    element,
                }));
            }
            continue;
        };
        if let Some(value) = attribute_value(&attribute.value, known, problems) {
            values.push((*known, value));
        }
    }
    values
}

/// An attribute's value with its references resolved and its white space made spaces; nothing if it is too long, or if it has a
/// reference that means nothing.
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
        if let Some((reference, behind)) = reference_of(rest) {
            push_reference(&mut value, reference, problems)?;
            rest = behind;
        } else {
            problems.push(Problem::BareAmpersand);
            value.push('&');
        }
    }
    push_spaced(&mut value, rest);
    Some(value)
}

/// What stands between `&` and `;`, if it is meant as a reference, and what stands behind it.
fn reference_of(text: &str) -> Option<(&str, &str)> {
    let mut bytes = text.bytes().take(MAX_REFERENCE_BYTES);
    let end = bytes.position(|byte| byte == b';')?;
    let (reference, behind) = (&text[..end], &text[end + 1..]);
    (reference.starts_with('#') || is_name(reference)).then_some((reference, behind))
}

fn push_reference(value: &mut String, reference: &str, problems: &mut Vec<Problem>) -> Option<()> {
    let Some(number) = reference.strip_prefix('#') else {
        let text = resolve_xml_entity(reference).or_else(|| {
            let text = resolve_html5_entity(reference)?;
            problems.push(Problem::HtmlEntity {
                name: quoted(reference),
            });
            Some(text)
        });
        let Some(text) = text else {
            problems.push(Problem::UndefinedEntity {
                name: quoted(reference),
            });
            return None;
        };
        value.push_str(text);
        return Some(());
    };
    let code = match number.strip_prefix('x') {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    if let Some(character) = code.ok().and_then(char::from_u32) {
        if !is_xml_character(character) {
            problems.push(Problem::ForbiddenCharacter);
        }
        value.push(character);
    } else {
        problems.push(Problem::IllFormed {
            what: "character reference names no character",
        });
        value.push(char::REPLACEMENT_CHARACTER);
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
    fn references_are_resolved_as_far_as_they_mean_something() {
        let check = |raw: &str, expected: Option<&str>, said: usize| {
            let mut problems = Vec::new();
            let value = attribute_value(raw, "href", &mut problems);
            assert_eq!(
                (value.as_deref(), problems.len()),
                (expected, said),
                "{raw}"
            );
        };
        check("", Some(""), 0);
        check("a\tb\r\nc", Some("a b  c"), 0);
        check("?a=1&amp;b=2&#38;c&#x26;d", Some("?a=1&b=2&c&d"), 0);
        check("?a=1&b=2&c", Some("?a=1&b=2&c"), 2);
        check("?a=1&b=2;c=3", Some("?a=1&b=2;c=3"), 1);
        check("a&nbsp;b", Some("a\u{a0}b"), 1);
        check("a&nothing;b", None, 1);
        check("a&#0;b", Some("a\0b"), 1);
        check(
            "a&#xD800;&#99999999999;&#;",
            Some("a\u{FFFD}\u{FFFD}\u{FFFD}"),
            3,
        );
        check("&", Some("&"), 1);
        check(
            &"a".repeat(MAX_VALUE_BYTES),
            Some(&*"a".repeat(MAX_VALUE_BYTES)),
            0,
        );
        check(&"a".repeat(MAX_VALUE_BYTES + 1), None, 1);
    }
}
