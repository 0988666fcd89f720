//! The extensions of an entry in XML: after the elements of the protocol, in one fixed order, each with its elements in the order of
//! its schema (R71).
//!
//! Elements that search engines dropped is left out.

use std::io::{self, Write};

use super::xml::{element_with, parent, written_len};
use crate::extension::{
    Alternate, CustomElement, Element, ExtensionRef, Extensions, Value, element_of,
};

/// Writes them all.
pub(super) fn write_extensions<W: Write>(out: &mut W, extensions: &Extensions) -> io::Result<()> {
    let mut items = extensions.items();
    items.try_for_each(|item| write_item(out, item))
}

fn write_item<W: Write>(out: &mut W, item: ExtensionRef<'_>) -> io::Result<()> {
    match item {
        ExtensionRef::Alternate(alternate) => write_alternate(out, alternate),
        ExtensionRef::Element(element) => write_element(out, element),
        ExtensionRef::Custom(own) => write_custom(out, own),
    }
}

/// The bytes of one element.
pub(super) fn item_len(item: ExtensionRef<'_>) -> u64 {
    written_len(|out| write_item(out, item))
}

fn write_alternate(out: &mut impl Write, alternate: &Alternate) -> io::Result<()> {
    let attributes = [
        ("rel", "alternate"),
        ("hreflang", alternate.hreflang.as_str()),
        ("href", alternate.href.as_str()),
    ];
    element_with(out, "xhtml:link", attributes, None)
}

fn write_element<W: Write>(out: &mut W, element: &Element) -> io::Result<()> {
    let row = element_of(element.extension());
    parent(out, row.name, |out| {
        for row in row.rows {
            let mut values = element
                .values()
                .iter()
                .filter(|value| row.leaves().contains(value.row))
                .peekable();
            if row.rows.is_empty() || values.peek().is_none() {
                values.try_for_each(|value| write_value(out, value))?;
            } else {
                parent(out, row.name, |out| {
                    values.try_for_each(|value| write_value(out, value))
                })?;
            }
        }
        Ok(())
    })
}

fn write_value(out: &mut impl Write, value: &Value) -> io::Result<()> {
    let attribute = value.row.attribute().zip(value.attribute.as_deref());
    let attribute = attribute.map(|(attribute, text)| (attribute.name, text));
    element_with(out, value.row.name, attribute, Some(&*value.text))
}

fn write_custom(out: &mut impl Write, own: &CustomElement) -> io::Result<()> {
    let name = format!("{}:{}", own.namespace().prefix(), own.name());
    let attributes = own.attributes().map(|(name, value)| (name, value.as_str()));
    element_with(out, &name, attributes, own.text().map(AsRef::as_ref))
}
