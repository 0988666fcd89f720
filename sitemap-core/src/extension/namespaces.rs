//! [`Namespaces`]: the extensions of a file, which its root declares (R70).

use super::{CustomNamespace, Extension, Extensions};
use crate::{limits::MAX_FRAME_BYTES, write};

/// The namespaces that the root of a file declares besides the protocol's.
///
/// ```
/// use sitemap_core::{Loc, UrlEntry, extension::{Element, Extension, Namespaces}};
///
/// let mut entry = UrlEntry::new(Loc::parse("https://example.com/")?);
/// entry.extensions.add(Element::image(&Loc::parse("https://example.com/a.jpg")?))?;
/// let mut namespaces = Namespaces::default();
/// namespaces.add(&entry.extensions)?;
/// assert_eq!(namespaces, Namespaces::default().with(Extension::Image));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespaces {
    known: [bool; Extension::ALL.len()],
    /// In the order of their prefixes.
    custom: Vec<CustomNamespace>,
}

/// Reason why a file cannot declare a namespace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NamespacesError {
    /// Another namespace has the prefix.
    #[error("prefix {prefix} is bound to {taken} and cannot be bound to {address}")]
    Prefix {
        /// The prefix.
        prefix: Box<str>,
        /// The address it represents.
        taken: Box<str>,
        /// The address that it should be bound to.
        address: Box<str>,
    },
    /// The namespace has another prefix, or another schema, already.
    #[error("namespace {address} is declared differently as {prefix}")]
    Address {
        /// The namespace.
        address: Box<str>,
        /// The prefix.
        prefix: Box<str>,
    },
    /// The root element would be so long that the partition would be wrong about the size of files.
    #[error("declaring {address} makes a root element of more than {MAX_FRAME_BYTES} bytes")]
    TooLong {
        /// The namespace.
        address: Box<str>,
    },
}

impl Namespaces {
    /// The same namespaces and that of a known extension.
    #[must_use]
    pub fn with(mut self, extension: Extension) -> Self {
        self.known[extension as usize] = true;
        self
    }

    /// Declares a custom namespace, if it is not declared yet.
    ///
    /// # Errors
    /// [`NamespacesError`] when its prefix or its address is declared differently, or when the root element would be too long.
    pub fn add_custom(&mut self, namespace: &CustomNamespace) -> Result<(), NamespacesError> {
        if self.custom.contains(namespace) {
            return Ok(());
        }
        if let Some(other) = self
            .custom
            .iter()
            .find(|other| other.prefix() == namespace.prefix())
            && other.address() != namespace.address()
        {
            return Err(NamespacesError::Prefix {
                prefix: namespace.prefix().into(),
                taken: other.address().into(),
                address: namespace.address().into(),
            });
        }
        if let Some(other) = self
            .custom
            .iter()
            .find(|other| other.address() == namespace.address())
        {
            return Err(NamespacesError::Address {
                address: namespace.address().into(),
                prefix: other.prefix().into(),
            });
        }
        let place = self
            .custom
            .partition_point(|other| other.prefix() < namespace.prefix());
        self.custom.insert(place, namespace.clone());
        // The extensions that may still come count from the beginning.
        let full = Self {
            known: [true; Extension::ALL.len()],
            custom: self.custom.clone(),
        };
        if write::urlset_frame_len(&full, write::SchemaLocation::Written) > MAX_FRAME_BYTES {
            self.custom.remove(place);
            return Err(NamespacesError::TooLong {
                address: namespace.address().into(),
            });
        }
        Ok(())
    }

    /// Declares the namespaces that an entry needs.
    ///
    /// # Errors
    /// The errors of [`add_custom`](Self::add_custom).
    pub fn add(&mut self, extensions: &Extensions) -> Result<(), NamespacesError> {
        if extensions.is_empty() {
            return Ok(());
        }
        for extension in Extension::ALL {
            self.known[extension as usize] |= extensions.has(extension);
        }
        extensions
            .custom_elements()
            .iter()
            .try_for_each(|element| self.add_custom(element.namespace()))
    }

    /// Declares all namespaces of `other`.
    ///
    /// # Errors
    /// The errors of [`add_custom`](Self::add_custom).
    pub fn merge(&mut self, other: &Self) -> Result<(), NamespacesError> {
        for extension in other.known() {
            self.known[extension as usize] = true;
        }
        other
            .custom
            .iter()
            .try_for_each(|namespace| self.add_custom(namespace))
    }

    /// Returns whether only the namespace of the protocol is declared.
    pub fn is_empty(&self) -> bool {
        self.known().next().is_none() && self.custom.is_empty()
    }

    /// The known extensions that are declared, in the order in which an entry has them.
    pub fn known(&self) -> impl Iterator<Item = Extension> + '_ {
        Extension::ALL
            .into_iter()
            .filter(|extension| self.known[*extension as usize])
    }

    /// The custom namespaces that are declared, in the order of their prefixes.
    pub fn custom(&self) -> &[CustomNamespace] {
        &self.custom
    }

    /// The first prefix that an entry uses although it is not declared here.
    pub(crate) fn missing<'a>(&self, extensions: &'a Extensions) -> Option<&'a str> {
        if extensions.is_empty() {
            return None;
        }
        let known = Extension::ALL
            .into_iter()
            .find(|extension| extensions.has(*extension) && !self.known[*extension as usize]);
        if let Some(extension) = known {
            return Some(extension.prefix());
        }
        let mut own = extensions
            .custom_elements()
            .iter()
            .map(super::CustomElement::namespace);
        own.find(|namespace| !self.custom.contains(namespace))
            .map(CustomNamespace::prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loc;

    fn own(prefix: &str, address: &str) -> CustomNamespace {
        CustomNamespace::new(prefix, address).unwrap()
    }

    #[test]
    fn prefix_and_address_are_unique() {
        let mut namespaces = Namespaces::default();
        assert!(namespaces.is_empty());
        namespaces.add_custom(&own("b", "urn:b")).unwrap();
        namespaces.add_custom(&own("a", "urn:a")).unwrap();
        namespaces.add_custom(&own("b", "urn:b")).unwrap();
        assert_eq!(namespaces.custom(), [own("a", "urn:a"), own("b", "urn:b")]);
        let mut refused = |own: &CustomNamespace, expected: &str| {
            let error = namespaces.add_custom(own).unwrap_err().to_string();
            assert_eq!(error, expected);
        };
        let bound = "prefix a is bound to urn:a and cannot be bound to urn:c";
        refused(&own("a", "urn:c"), bound);
        let differently = "namespace urn:a is declared differently as a";
        refused(&own("c", "urn:a"), differently);
        let schema = Loc::parse("http://h/a.xsd").unwrap();
        let located = own("a", "urn:a").with_schema(schema);
        assert!(namespaces.add_custom(&located).is_err());
        assert_eq!(namespaces.custom().len(), 2);
    }

    #[test]
    fn root_element_has_a_largest_length() {
        let mut namespaces = Namespaces::default();
        let mut declared = 0;
        let error = loop {
            let address = format!("urn:{declared:0240}");
            match namespaces.add_custom(&own(&format!("p{declared}"), &address)) {
                Ok(()) => declared += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, NamespacesError::TooLong { .. }), "{error}");
        assert_eq!(namespaces.custom().len(), declared);
        assert!(declared >= 5, "{declared}");
    }
}
