//! Attributes: what may stand on any element, and those of the elements of the protocol, which have none of their own.

use quick_xml::{
    events::{BytesStart, attributes::Attribute},
    name::{Namespace, NamespaceResolver, QName, ResolveResult},
};

use super::{Document, MAX_ATTRIBUTES, quoted};
use crate::{
    limits::NAMESPACE,
    read::{Kind, Problem, schema_location},
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
        let schema_type = self.type_of(start.local_name().into_inner());
        for attribute in own_attributes(start, namespaces, schema_type) {
            self.note(Problem::UnknownAttribute {
                name: quoted(attribute.key.into_inner()),
            });
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

/// The attributes of an element that its own schema has to allow: neither declarations of namespaces, nor what may stand on any
/// element, nor those with a prefix that nothing declares, which is told elsewhere. At a broken one, which was told, they end.
///
/// `schema_type` is the name of the element's type in the schema of the protocol, if it has one.
pub(in crate::read) fn own_attributes<'a>(
    start: &'a BytesStart<'_>,
    namespaces: &'a NamespaceResolver,
    schema_type: Option<&'static str>,
) -> impl Iterator<Item = Attribute<'a>> {
    let attributes = start.attributes().take(MAX_ATTRIBUTES);
    attributes
        .map_while(Result::ok)
        .filter(move |attribute| !is_allowed_anywhere(attribute, namespaces, schema_type))
}

/// XML Schema part 1 section 2.6: `schemaLocation` and `noNamespaceSchemaLocation` may stand on any element, `type` if it names the
/// type that the element has or one made of it, of which there are none here. `nil` may not: no element of the schemas is nillable.
fn is_allowed_anywhere(
    attribute: &Attribute<'_>,
    namespaces: &NamespaceResolver,
    schema_type: Option<&str>,
) -> bool {
    if attribute.key.as_namespace_binding().is_some() {
        return true;
    }
    match namespaces.resolve_attribute(attribute.key) {
        (ResolveResult::Bound(Namespace(XSI_NAMESPACE)), name) => match name.into_inner() {
            "schemaLocation" | "noNamespaceSchemaLocation" => true,
            "type" => schema_type.is_some_and(|schema_type| {
                let (namespace, name) = namespaces.resolve_element(QName(&attribute.value));
                let is_ours = matches!(namespace, ResolveResult::Bound(Namespace(NAMESPACE)));
                is_ours && name.into_inner() == schema_type
            }),
            _ => false,
        },
        (ResolveResult::Unknown(_), _) => true,
        (ResolveResult::Bound(_) | ResolveResult::Unbound, _) => false,
    }
}
