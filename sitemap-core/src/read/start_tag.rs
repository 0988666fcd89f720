//! [`StartTag`]: the name and the attributes of an element that begins, with their namespaces.

use quick_xml::{
    escape::resolve_xml_entity,
    events::{BytesStart, attributes::Attribute},
    name::{Namespace, NamespaceResolver, ResolveResult},
};

use super::{
    Kind, MAX_VALUE_BYTES, Problem, names,
    progress::{Once, Progress, quoted},
    syntax::{html_entity, is_name, referenced},
};
use crate::{extension::Row, write::XSI_NAMESPACE};

/// Number of attributes of an element that are looked at; the root elements in use have less than ten.
const MAX_ATTRIBUTES: usize = 64;

/// Largest length of a reference: the longest name of an entity in HTML has 31 characters.
const MAX_REFERENCE_BYTES: usize = 34;

/// The values of the attributes of an element that are known.
pub(super) type Attributes = Vec<(&'static str, String)>;

/// A start tag, and the namespaces that are declared there.
#[derive(Clone, Copy)]
pub(super) struct StartTag<'a> {
    pub(super) start: &'a BytesStart<'a>,
    pub(super) namespaces: &'a NamespaceResolver,
}

impl<'a> StartTag<'a> {
    /// The name without its prefix.
    pub(super) fn name(&self) -> &'a str {
        self.start.local_name().into_inner()
    }

    /// The name without its prefix, as it goes into a finding.
    pub(super) fn quoted_name(&self) -> String {
        quoted(self.name())
    }

    pub(super) fn namespace(&self) -> ResolveResult<'a> {
        self.namespaces.resolve_element(self.start.name()).0
    }

    /// The name without prefix of an element of the protocol or of a feed, in its right case; another case is reported.
    pub(super) fn name_in(&self, kind: Kind, progress: &mut Progress) -> &'a str {
        let name = self.name();
        let Some(expected) = names::meant_by(name, kind) else {
            return name;
        };
        self.note_case(expected, progress);
        expected
    }

    /// Reports a name in another case than expected, once for each name.
    pub(super) fn note_case(&self, expected: &'static str, progress: &mut Progress) {
        if self.name() != expected && progress.is_new(Once::NameCase, expected) {
            progress.note(Problem::NameCase {
                found: self.quoted_name(),
                expected,
            });
        }
    }

    /// The attributes that can be read.
    pub(super) fn attributes(&self) -> impl Iterator<Item = Attribute<'a>> + use<'a> {
        self.start.attributes().take(MAX_ATTRIBUTES).flatten()
    }

    /// The attributes with a prefix that no declaration binds: their prefixes.
    pub(super) fn undeclared_prefixes(&self) -> Vec<String> {
        if !self.start.attributes_raw().contains(':') {
            return Vec::new();
        }
        let attributes = self.attributes();
        let names = attributes.filter(|attribute| attribute.key.as_namespace_binding().is_none());
        names
            .filter_map(
                |attribute| match self.namespaces.resolve_attribute(attribute.key).0 {
                    ResolveResult::Unknown(prefix) => Some(prefix),
                    ResolveResult::Bound(_) | ResolveResult::Unbound => None,
                },
            )
            .collect()
    }

    /// The value of `xsi:schemaLocation` (R69).
    pub(super) fn schema_location(&self) -> Option<Attribute<'a>> {
        self.attributes().find(|attribute| {
            let (namespace, name) = self.namespaces.resolve_attribute(attribute.key);
            name.into_inner() == "schemaLocation"
                && matches!(namespace, ResolveResult::Bound(Namespace(XSI_NAMESPACE)))
        })
    }

    /// The attributes but for declarations of namespaces. They end at a broken one, which was reported.
    pub(super) fn plain_attributes(&self) -> impl Iterator<Item = Attribute<'a>> + use<'a> {
        let attributes = self.start.attributes().take(MAX_ATTRIBUTES);
        attributes
            .map_while(Result::ok)
            .filter(|attribute| attribute.key.as_namespace_binding().is_none())
    }

    /// The attributes that the schema of the element has to allow: plain ones without those allowed on every element, and without
    /// those with an undeclared prefix, which is reported elsewhere.
    pub(super) fn own_attributes(&self) -> impl Iterator<Item = Attribute<'a>> + use<'a> {
        let namespaces = self.namespaces;
        self.plain_attributes()
            .filter(move |attribute| is_own(attribute, namespaces))
    }

    /// Reads the attributes by the schema of the element: the values of those that are known. Others are reported.
    pub(super) fn known_attributes(
        &self,
        row: &'static Row,
        problems: &mut Vec<Problem>,
    ) -> Attributes {
        let mut values = Vec::new();
        for attribute in self.own_attributes() {
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

    /// The value of an attribute, by its name as it is in the file.
    pub(super) fn value_of(
        &self,
        name: &'static str,
        problems: &mut Vec<Problem>,
    ) -> Option<String> {
        let mut attributes = self.start.attributes();
        let attributes = attributes.with_checks(false);
        let mut attributes = attributes.take(MAX_ATTRIBUTES).flatten();
        let found = attributes.find(|attribute| attribute.key.into_inner() == name)?;
        attribute_value(&found.value, name, problems)
    }
}

/// Returns whether it may not be on any element, as `xsi:schemaLocation` and `xsi:noNamespaceSchemaLocation` may (XML Schema part
/// 1 section 2.6).
fn is_own(attribute: &Attribute<'_>, namespaces: &NamespaceResolver) -> bool {
    match namespaces.resolve_attribute(attribute.key) {
        (ResolveResult::Unknown(_), _) => false,
        (ResolveResult::Bound(Namespace(XSI_NAMESPACE)), name) => !matches!(
            name.into_inner(),
            "schemaLocation" | "noNamespaceSchemaLocation"
        ),
        (ResolveResult::Bound(_) | ResolveResult::Unbound, _) => true,
    }
}

/// An attribute's value with its references resolved and its white space made spaces. `None` if it is too long, which is
/// reported, or has an undefined reference. Problems of references were reported with the tag.
pub(super) fn attribute_value(
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
        value.push_str(resolve_xml_entity(reference).or_else(|| html_entity(reference))?);
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
