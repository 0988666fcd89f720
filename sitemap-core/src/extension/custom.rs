//! Custom namespaces (R70, R71): [`CustomNamespace`], declared in the root of a file, and [`CustomElement`], in its entries.

use std::sync::Arc;

use super::{Extension, Text};
use crate::{Loc, limits::NAMESPACE, write::XSI_NAMESPACE};

/// The most bytes a prefix, or the name of an element or an attribute, may have. No rule bounds them, memory does.
pub const MAX_NAME_BYTES: usize = 100;

/// The most bytes the address of a namespace may have.
pub const MAX_NAMESPACE_BYTES: usize = 255;

/// The most attributes a custom element may have. No rule bounds them, memory does.
pub const MAX_CUSTOM_ATTRIBUTES: usize = 16;

/// Namespaces with a fixed meaning: those of XML itself, and of the attributes of schemas.
const RESERVED_NAMESPACES: [&str; 3] = [
    "http://www.w3.org/XML/1998/namespace",
    "http://www.w3.org/2000/xmlns/",
    XSI_NAMESPACE,
];

/// A namespace that is not the protocol's: its address and the prefix that represents it in a file.
///
/// Cheap to clone. Source: <https://www.sitemaps.org/protocol.html#extending>.
///
/// ```
/// use sitemap_core::extension::{CustomElement, CustomNamespace, Text};
///
/// let shop = CustomNamespace::new("shop", "https://example.com/schemas/shop")?;
/// let price = CustomElement::new(&shop, "price")?
///     .with_attribute("currency", Text::new("EUR")?)?
///     .with_text(Text::new("12.50")?);
/// assert_eq!(price.name(), "price");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CustomNamespace(Arc<NamespaceParts>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct NamespaceParts {
    prefix: Box<str>,
    address: Box<str>,
    schema: Option<Loc>,
}

/// An element of a custom namespace in an entry: `<shop:price currency="EUR">12.50</shop:price>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CustomElement {
    namespace: CustomNamespace,
    name: Box<str>,
    attributes: Vec<(Box<str>, Text)>,
    text: Option<Text>,
}

/// Reason why there is no such [`CustomNamespace`] or [`CustomElement`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CustomElementError {
    /// A name is not an `NCName` (Namespaces in XML 1.0, section 3), or too long for us.
    #[error(
        "{name:?} is not an XML name, expected at most {MAX_NAME_BYTES} bytes: a letter or _, then letters, digits, - . _"
    )]
    Name {
        /// The beginning of it.
        name: Box<str>,
    },
    /// A name begins with `xml`, which XML reserves (XML 1.0, section 2.3).
    #[error("{name} begins with xml, which is reserved")]
    ReservedName {
        /// The name.
        name: Box<str>,
    },
    /// A prefix is that of a known extension.
    #[error("prefix {prefix} is that of {namespace}, choose another one")]
    KnownPrefix {
        /// The prefix.
        prefix: Box<str>,
        /// The namespace it represents.
        namespace: &'static str,
    },
    /// The address of a namespace is not an absolute URI (RFC 3986, section 4.3), or too long for us.
    #[error(
        "namespace {address:?} is not an absolute URI of at most {MAX_NAMESPACE_BYTES} ASCII characters without &"
    )]
    Address {
        /// The beginning of it.
        address: Box<str>,
    },
    /// The namespace has elements with a fixed meaning.
    #[error("namespace {address} is reserved")]
    KnownAddress {
        /// The address.
        address: Box<str>,
    },
    /// An attribute is repeated.
    #[error("attribute {name} is there already")]
    SameAttribute {
        /// The name.
        name: Box<str>,
    },
    /// There are too many attributes.
    #[error("more than {MAX_CUSTOM_ATTRIBUTES} attributes")]
    TooManyAttributes,
}

impl CustomNamespace {
    /// A namespace by its prefix and its address.
    ///
    /// # Errors
    /// [`CustomElementError`] when the prefix is not a name or is taken, or when the address is not an absolute URI, or is reserved.
    pub fn new(prefix: &str, address: &str) -> Result<Self, CustomElementError> {
        check_name(prefix)?;
        if let Some(known) = Extension::ALL
            .into_iter()
            .find(|known| known.prefix() == prefix)
        {
            return Err(CustomElementError::KnownPrefix {
                prefix: prefix.into(),
                namespace: known.namespace(),
            });
        }
        if prefix == "xsi" {
            return Err(CustomElementError::KnownPrefix {
                prefix: prefix.into(),
                namespace: XSI_NAMESPACE,
            });
        }
        if !is_absolute_uri(address) || address.len() > MAX_NAMESPACE_BYTES {
            return Err(CustomElementError::Address {
                address: beginning(address),
            });
        }
        let is_known = address == NAMESPACE
            || RESERVED_NAMESPACES.contains(&address)
            || Extension::ALL
                .into_iter()
                .any(|known| known.namespace() == address);
        if is_known {
            return Err(CustomElementError::KnownAddress {
                address: address.into(),
            });
        }
        Ok(Self(Arc::new(NamespaceParts {
            prefix: prefix.into(),
            address: address.into(),
            schema: None,
        })))
    }

    /// The same namespace with the address of its schema, for `xsi:schemaLocation` (R69).
    #[must_use]
    pub fn with_schema(self, schema: Loc) -> Self {
        Self(Arc::new(NamespaceParts {
            schema: Some(schema),
            ..Arc::unwrap_or_clone(self.0)
        }))
    }

    /// The prefix in a file.
    pub fn prefix(&self) -> &str {
        &self.0.prefix
    }

    /// The address, which identifies it.
    pub fn address(&self) -> &str {
        &self.0.address
    }

    /// Address of its schema, if known.
    pub fn schema(&self) -> Option<&Loc> {
        self.0.schema.as_ref()
    }
}

impl CustomElement {
    /// An element without text and attributes.
    ///
    /// # Errors
    /// [`CustomElementError`] when `name` is not a name.
    pub fn new(namespace: &CustomNamespace, name: &str) -> Result<Self, CustomElementError> {
        check_name(name)?;
        Ok(Self {
            namespace: namespace.clone(),
            name: name.into(),
            attributes: Vec::new(),
            text: None,
        })
    }

    /// The same element with this text.
    #[must_use]
    pub fn with_text(mut self, text: Text) -> Self {
        self.text = Some(text);
        self
    }

    /// The same element with another attribute. The attribute is in no namespace, as is usual. They are in the order of
    /// their names.
    ///
    /// # Errors
    /// [`CustomElementError`] when `name` is not a name or is there already, or when there are [`MAX_CUSTOM_ATTRIBUTES`].
    pub fn with_attribute(mut self, name: &str, value: Text) -> Result<Self, CustomElementError> {
        check_name(name)?;
        let place = self
            .attributes
            .binary_search_by(|(other, _)| (**other).cmp(name));
        match place {
            Ok(_) => Err(CustomElementError::SameAttribute { name: name.into() }),
            Err(_) if self.attributes.len() >= MAX_CUSTOM_ATTRIBUTES => {
                Err(CustomElementError::TooManyAttributes)
            }
            Err(place) => {
                self.attributes.insert(place, (name.into(), value));
                Ok(self)
            }
        }
    }

    /// The namespace it is of.
    pub fn namespace(&self) -> &CustomNamespace {
        &self.namespace
    }

    /// The name without prefix.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The attributes and their values, in the order of their names.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &Text)> {
        self.attributes.iter().map(|(name, value)| (&**name, value))
    }

    /// The text.
    pub fn text(&self) -> Option<&Text> {
        self.text.as_ref()
    }
}

/// As much of a text as goes into a message.
fn beginning(text: &str) -> Box<str> {
    text.chars().take(MAX_NAME_BYTES).collect()
}

/// Names are `NCName`s: XML names without a colon.
fn check_name(name: &str) -> Result<(), CustomElementError> {
    let mut characters = name.chars();
    let is_name = characters.next().is_some_and(is_name_start)
        && characters.all(is_name_character)
        && name.len() <= MAX_NAME_BYTES;
    if !is_name {
        return Err(CustomElementError::Name {
            name: beginning(name),
        });
    }
    if name
        .get(..3)
        .is_some_and(|start| start.eq_ignore_ascii_case("xml"))
    {
        return Err(CustomElementError::ReservedName { name: name.into() });
    }
    Ok(())
}

/// `NameStartChar` of XML 1.0 section 2.3 without the colon.
pub(crate) fn is_name_start(character: char) -> bool {
    matches!(character, 'A'..='Z' | '_' | 'a'..='z'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
        | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
        | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// `NameChar` of XML 1.0 section 2.3 without the colon.
pub(crate) fn is_name_character(character: char) -> bool {
    is_name_start(character)
        || matches!(character, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// A scheme, a colon and at least one character after it, all allowed by RFC 3986, except the ampersand: in a declaration, widely
/// used parsers such as libxml2 misread `&amp;`.
fn is_absolute_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && !rest.is_empty()
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"&<>\"{}|\\^`".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "https://example.com/schemas/shop";

    #[test]
    fn namespace_is_a_prefix_and_an_absolute_uri() {
        let check = |prefix: &str, address: &str, expected: &str| {
            let error = CustomNamespace::new(prefix, address).unwrap_err();
            let error = error.to_string();
            assert!(error.starts_with(expected), "{prefix} {address}: {error}");
        };
        for (prefix, address) in [("s", ADDRESS), ("é-1.b", "urn:x:y"), ("_", "tag:a,2026:b")] {
            let namespace = CustomNamespace::new(prefix, address).unwrap();
            assert_eq!((namespace.prefix(), namespace.address()), (prefix, address));
        }
        for prefix in ["", "1a", "-a", "a:b", "a b", "a/b", &"a".repeat(101)] {
            let expected = format!("{:?} is not an XML name", beginning(prefix));
            check(prefix, ADDRESS, &expected);
        }
        for prefix in ["xml", "xmlns", "XmLabc"] {
            check(prefix, ADDRESS, &format!("{prefix} begins with xml"));
        }
        for prefix in ["image", "video", "news", "xhtml", "xsi"] {
            let expected = format!("prefix {prefix} is that of http://www.");
            check(prefix, ADDRESS, &expected);
        }
        let addresses =
            "|shop|/shop|a b:c|http:|1:x|http://h/ü|http://h/<|http://h/?a&b|http://h/ ";
        for address in addresses.split('|') {
            let expected = format!("namespace {address:?} is not an absolute URI");
            check("s", address, &expected);
        }
        let long = format!("http://h/{}", "a".repeat(247));
        check("s", &long, "namespace \"http://h/aaa");
        for known in [
            NAMESPACE,
            Extension::Image.namespace(),
            "http://www.w3.org/1999/xhtml",
            "http://www.w3.org/2000/xmlns/",
        ] {
            check("s", known, &format!("namespace {known} is reserved"));
        }
    }

    #[test]
    fn attributes_are_in_the_order_of_their_names() {
        let shop = CustomNamespace::new("shop", ADDRESS).unwrap();
        let value = |text: &str| Text::new(text).unwrap();
        let element = CustomElement::new(&shop, "price").unwrap();
        let element = element.with_attribute("unit", value("kg")).unwrap();
        let element = element.with_attribute("currency", value("EUR")).unwrap();
        let names: Vec<&str> = element.attributes().map(|(name, _)| name).collect();
        assert_eq!(names, ["currency", "unit"]);
        let twice = element.clone().with_attribute("unit", value("g"));
        let error = twice.unwrap_err().to_string();
        assert_eq!(error, "attribute unit is there already");
        assert!(element.clone().with_attribute("xmlns", value("x")).is_err());
        assert!(element.with_attribute("a:b", value("x")).is_err());
        assert!(CustomElement::new(&shop, "shop:price").is_err());

        let mut full = CustomElement::new(&shop, "full").unwrap();
        for number in 0..16 {
            full = full
                .with_attribute(&format!("a{number}"), value("x"))
                .unwrap();
        }
        assert_eq!(
            full.with_attribute("b", value("x")),
            Err(CustomElementError::TooManyAttributes)
        );
    }
}
