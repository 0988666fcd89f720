//! Attributes: those allowed on any element, and those of the elements of the protocol, which define none.

use std::borrow::Cow;

use quick_xml::{
    events::{BytesStart, attributes::Attribute},
    name::{Namespace, NamespaceResolver, QName, ResolveResult},
};

use super::{Document, MAX_ATTRIBUTES, quoted};
use crate::{
    limits::NAMESPACE,
    read::{Kind, Problem, extension::attribute_value, schema_location},
    write::XSI_NAMESPACE,
};

impl Document {
    /// Looks at `xsi:schemaLocation` of the root element (R69).
    pub(super) fn schema_location(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) {
        let Some(kind) = self.kind else { return };
        let attributes = start.attributes().take(MAX_ATTRIBUTES);
        let value = attributes.flatten().find_map(|attribute| {
            let (namespace, name) = namespaces.resolve_attribute(attribute.key);
            let is_it = name.into_inner() == "schemaLocation"
                && matches!(namespace, ResolveResult::Bound(Namespace(XSI_NAMESPACE)));
            is_it.then_some(attribute.value)
        });
        if let Some(Err(error)) = value.map(|value| schema_location::check(&value, kind)) {
            self.note(Problem::SchemaLocation(error));
        }
    }

    /// Looks at the attributes of an element of the protocol.
    pub(super) fn attributes(&mut self, start: &BytesStart<'_>, namespaces: &NamespaceResolver) {
        let own = self.type_of(start.local_name().into_inner());
        for attribute in own_attributes(start, namespaces) {
            let names_own = attribute.named_type.is_some_and(|named| {
                named.namespace == NAMESPACE && own == Some(named.name.as_str())
            });
            if !names_own {
                let name = quoted(attribute.name);
                self.note(Problem::UnknownAttribute { name });
            }
        }
    }

    /// The name of the type that the schema of the file gives an element; root elements have one without a name.
    fn type_of(&self, name: &str) -> Option<&'static str> {
        Some(match (self.root_kind?, name) {
            (Kind::UrlSet, "url") => "tUrl",
            (Kind::UrlSet, "loc") => "tLoc",
            (Kind::UrlSet, "lastmod") => "tLastmod",
            (Kind::UrlSet, "changefreq") => "tChangeFreq",
            (Kind::UrlSet, "priority") => "tPriority",
            (Kind::Index, "sitemap") => "tSitemap",
            (Kind::Index, "loc") => "tLocSitemap",
            (Kind::Index, "lastmod") => "tLastmodSitemap",
            _ => return None,
        })
    }
}

/// An attribute that the schema of its element has to allow.
pub(in crate::read) struct OwnAttribute<'a> {
    /// As it stands there, with its prefix.
    pub(in crate::read) name: &'a str,
    /// As it stands there, with its references.
    pub(in crate::read) value: Cow<'a, str>,
    /// The type it names if it is `xsi:type`. It may stand on an element of that type, or of a type it restricts (XML Schema part
    /// 1 section 2.6.1).
    pub(in crate::read) named_type: Option<NamedType<'a>>,
}

/// The type that `xsi:type` names.
pub(in crate::read) struct NamedType<'a> {
    pub(in crate::read) namespace: &'a str,
    /// Without a prefix.
    pub(in crate::read) name: String,
}

/// The attributes of an element that its own schema has to allow. Left out are declarations of namespaces, attributes allowed on
/// every element, and those with an undeclared prefix, which is reported elsewhere. They end at a broken one, which was reported.
pub(in crate::read) fn own_attributes<'a>(
    start: &'a BytesStart<'_>,
    namespaces: &'a NamespaceResolver,
) -> impl Iterator<Item = OwnAttribute<'a>> {
    let attributes = start.attributes().take(MAX_ATTRIBUTES);
    attributes
        .map_while(Result::ok)
        .filter_map(|attribute| own_attribute(attribute, namespaces))
}

/// Nothing for one that may stand on any element, which `schemaLocation` and `noNamespaceSchemaLocation` are by XML Schema part 1
/// section 2.6. `nil` is not: no element of the schemas is nillable.
fn own_attribute<'a>(
    attribute: Attribute<'a>,
    namespaces: &'a NamespaceResolver,
) -> Option<OwnAttribute<'a>> {
    if attribute.key.as_namespace_binding().is_some() {
        return None;
    }
    let named_type = match namespaces.resolve_attribute(attribute.key) {
        (ResolveResult::Unknown(_), _) => return None,
        (ResolveResult::Bound(Namespace(XSI_NAMESPACE)), name) => match name.into_inner() {
            "schemaLocation" | "noNamespaceSchemaLocation" => return None,
            "type" => named_type(&attribute.value, namespaces),
            _ => None,
        },
        (ResolveResult::Bound(_) | ResolveResult::Unbound, _) => None,
    };
    Some(OwnAttribute {
        name: attribute.key.into_inner(),
        value: attribute.value,
        named_type,
    })
}

/// Nothing if the name cannot be read or has no namespace.
fn named_type<'a>(value: &str, namespaces: &'a NamespaceResolver) -> Option<NamedType<'a>> {
    let value = attribute_value(value, "type", &mut Vec::new())?;
    let (namespace, name) = namespaces.resolve_element(QName(&value));
    match namespace {
        ResolveResult::Bound(Namespace(namespace)) => Some(NamedType {
            namespace,
            name: name.into_inner().to_owned(),
        }),
        ResolveResult::Unbound | ResolveResult::Unknown(_) => None,
    }
}
