//! Attributes: those allowed on any element, and those of the elements of the protocol, which define none.

use quick_xml::{
    events::{BytesStart, attributes::Attribute},
    name::{Namespace, NamespaceResolver, ResolveResult},
};

use super::{Document, MAX_ATTRIBUTES, quoted};
use crate::{
    read::{Problem, schema_location},
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

    /// Reports the attributes of an element of the protocol, which defines none.
    pub(super) fn attributes(&mut self, start: &BytesStart<'_>, namespaces: &NamespaceResolver) {
        for attribute in own_attributes(start, namespaces) {
            let name = quoted(attribute.key.into_inner());
            self.note(Problem::UnknownAttribute { name });
        }
    }
}

/// The attributes of an element that its own schema has to allow. Left out are declarations of namespaces, attributes allowed on
/// every element, and those with an undeclared prefix, which is reported elsewhere. They end at a broken one, which was reported.
pub(in crate::read) fn own_attributes<'a>(
    start: &'a BytesStart<'_>,
    namespaces: &'a NamespaceResolver,
) -> impl Iterator<Item = Attribute<'a>> {
    let attributes = start.attributes().take(MAX_ATTRIBUTES);
    attributes
        .map_while(Result::ok)
        .filter(|attribute| is_own(attribute, namespaces))
}

/// Returns whether it may not are on any element, as `xsi:schemaLocation` and `xsi:noNamespaceSchemaLocation` may (XML Schema
/// part 1 section 2.6).
fn is_own(attribute: &Attribute<'_>, namespaces: &NamespaceResolver) -> bool {
    if attribute.key.as_namespace_binding().is_some() {
        return false;
    }
    match namespaces.resolve_attribute(attribute.key) {
        (ResolveResult::Unknown(_), _) => false,
        (ResolveResult::Bound(Namespace(XSI_NAMESPACE)), name) => !matches!(
            name.into_inner(),
            "schemaLocation" | "noNamespaceSchemaLocation"
        ),
        (ResolveResult::Bound(_) | ResolveResult::Unbound, _) => true,
    }
}
