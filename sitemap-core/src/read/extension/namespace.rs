//! Decides the vocabulary of an element ([`Origins`]): by its namespace, by a wrong spelling of it, or by its prefix.

use std::borrow::Cow;

use quick_xml::name::{Namespace, PrefixDeclaration, ResolveResult};

use crate::{
    extension::{CustomNamespace, Extension},
    limits::NAMESPACE,
    read::{
        Problem,
        progress::{Once, Progress, quoted},
        start_tag::{StartTag, attribute_value},
    },
};

/// Vocabulary of an element.
#[derive(Clone, Debug)]
pub(in crate::read) enum ElementOrigin {
    /// The protocol itself.
    Protocol,
    /// An extension that search engines read.
    Extension(Extension),
    /// A namespace that the caller asked for.
    Custom(CustomNamespace),
    /// An extension that search engines read once.
    Retired(RetiredExtension),
    /// Anything else.
    Unknown,
}

/// An extension that search engines read once.
#[derive(Clone, Copy, Debug)]
pub(in crate::read) struct RetiredExtension {
    /// The prefix that was usual, as it is named in findings.
    pub(in crate::read) prefix: &'static str,
}

/// Spelling of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    Right,
    Wrong,
}

/// The extensions of before, by prefix and by their namespaces without scheme, `www.` and version.
const RETIRED: [(&str, &str); 4] = [
    ("mobile", "google.com/schemas/sitemap-mobile"),
    ("pagemap", "google.com/schemas/sitemap-pagemap"),
    ("geo", "google.com/geo/schemas/sitemap"),
    ("codesearch", "google.com/codesearch/schemas/sitemap"),
];

/// Common misspellings of the namespaces of extensions, without scheme, `www.` and version: other hosts, and for XHTML the
/// addresses of its schema. Seen in published sitemaps, and in the lists of other readers.
const SPELLINGS: [(&str, Extension); 9] = [
    ("google.com/schemas/sitemap-image", Extension::Image),
    ("google.com/schemas/sitemap-video", Extension::Video),
    ("google.com/schemas/sitemap-news", Extension::News),
    ("sitemaps.org/schemas/sitemap-image", Extension::Image),
    ("sitemaps.org/schemas/sitemap-video", Extension::Video),
    ("sitemaps.org/schemas/sitemap-news", Extension::News),
    ("w3.org/1999/xhtml", Extension::Alternate),
    ("w3.org/tr/xhtml11", Extension::Alternate),
    ("w3.org/2002/08/xhtml", Extension::Alternate),
];

/// Common misspellings of the namespace of the protocol, in the same way: with `https`, or with a slash or a file name after it.
/// The second is that of before 2006.
const PROTOCOL_SPELLINGS: [&str; 2] =
    ["sitemaps.org/schemas/sitemap", "google.com/schemas/sitemap"];

/// The vocabularies of a file.
#[derive(Debug, Default)]
pub(in crate::read) struct Origins {
    /// The namespaces whose elements the caller asked for.
    pub(in crate::read) custom: Vec<CustomNamespace>,
    /// The namespace of the root element, whose elements count as the protocol's or the feed's even when it is a wrong one.
    pub(in crate::read) root: Option<String>,
    /// The prefix of the root element, if nothing declares it; elements with it count as the protocol's.
    root_prefix: Option<String>,
}

impl Origins {
    /// A root element begins.
    pub(in crate::read) fn open_root(&mut self, tag: StartTag<'_>) {
        (self.root, self.root_prefix) = match tag.namespace() {
            ResolveResult::Bound(Namespace(namespace)) => {
                (Some(beginning_of(namespace).to_owned()), None)
            }
            ResolveResult::Unbound => (None, None),
            ResolveResult::Unknown(prefix) => (None, Some(prefix)),
        };
    }

    /// Returns whether this is the namespace of the root element.
    pub(in crate::read) fn is_of_root(&self, namespace: &str) -> bool {
        self.root.as_deref() == Some(beginning_of(namespace))
    }

    /// Returns whether an element is the protocol's, by its namespace alone.
    pub(in crate::read) fn is_of_protocol(&self, tag: StartTag<'_>) -> bool {
        match tag.namespace() {
            ResolveResult::Bound(Namespace(found)) => found == NAMESPACE || self.is_of_root(found),
            ResolveResult::Unbound => true,
            ResolveResult::Unknown(prefix) => self.root_prefix.as_deref() == Some(&*prefix),
        }
    }

    /// The vocabulary of an element: by its namespace or, where none is declared, by its prefix. The namespace of the root, a
    /// misspelled one and none at all count as that of the protocol: some libraries write `<url xmlns="">`.
    pub(in crate::read) fn origin(
        &self,
        tag: StartTag<'_>,
        progress: &mut Progress,
    ) -> ElementOrigin {
        self.look_for_declarations(tag, progress);
        let found = match tag.namespace() {
            ResolveResult::Bound(Namespace(found))
                if found == NAMESPACE || self.is_of_root(found) =>
            {
                return ElementOrigin::Protocol;
            }
            ResolveResult::Bound(Namespace(found)) => meant(beginning_of(found)),
            ResolveResult::Unbound => {
                if self.root.is_some() {
                    other_namespace(None, progress);
                }
                return ElementOrigin::Protocol;
            }
            ResolveResult::Unknown(prefix) => {
                progress.undeclared_prefix(&prefix);
                if self.root_prefix.as_deref() == Some(&*prefix) {
                    return ElementOrigin::Protocol;
                }
                return of_prefix(&prefix);
            }
        };
        let (origin, spelling) = of_namespace(&found, &self.custom);
        match (&origin, spelling) {
            (ElementOrigin::Protocol, _) => other_namespace(Some(&found), progress),
            (ElementOrigin::Extension(extension), Spelling::Wrong)
                if progress.is_new(Once::Spelling, extension.prefix()) =>
            {
                progress.note(Problem::ExtensionNamespace {
                    found: quoted(&found),
                    extension: *extension,
                });
            }
            (
                ElementOrigin::Extension(_)
                | ElementOrigin::Custom(_)
                | ElementOrigin::Retired(_)
                | ElementOrigin::Unknown,
                _,
            ) => {}
        }
        origin
    }

    /// Reports when an element below the root declares a namespace that is not that of the root.
    fn look_for_declarations(&self, tag: StartTag<'_>, progress: &mut Progress) {
        if !tag.start.attributes_raw().contains("xmlns") {
            return;
        }
        let root = self.root.as_deref();
        let declares =
            tag.attributes()
                .any(|attribute| match attribute.key.as_namespace_binding() {
                    Some(PrefixDeclaration::Named(_)) => true,
                    Some(PrefixDeclaration::Default) => root != Some(&*attribute.value),
                    None => false,
                });
        if declares && progress.is_new(Once::DeclaredBelowRoot, "") {
            progress.note(Problem::DeclaredBelowRoot);
        }
    }
}

/// An element of the protocol is in another namespace than the root element; that is reported once.
fn other_namespace(found: Option<&str>, progress: &mut Progress) {
    if progress.is_new(Once::OtherNamespace, "") {
        let found = found.map(quoted);
        progress.note(Problem::Namespace { found });
    }
}

/// A namespace as it is meant; the parser gives it as it is declared, with its references.
fn meant(declared: &str) -> Cow<'_, str> {
    if declared.contains('&') {
        let value = attribute_value(declared, "xmlns", &mut Vec::new());
        return value.map_or(Cow::Borrowed(declared), Cow::Owned);
    }
    Cow::Borrowed(declared)
}

/// Length of a namespace that is compared. The longest one in use has less than 100 bytes, and every element is compared with it.
const MAX_NAMESPACE_BYTES: usize = 1_024;

/// The part of a namespace that distinguishes it from others.
pub(in crate::read) fn beginning_of(namespace: &str) -> &str {
    let most = namespace.len().min(MAX_NAMESPACE_BYTES);
    // The end may lie in a character.
    (0..=most)
        .rev()
        .find_map(|end| namespace.get(..end))
        .unwrap_or_default()
}

/// Vocabulary of a namespace that is not exactly that of the protocol.
fn of_namespace(namespace: &str, own: &[CustomNamespace]) -> (ElementOrigin, Spelling) {
    let right = Extension::ALL
        .into_iter()
        .find(|extension| extension.namespace() == namespace);
    if let Some(extension) = right {
        return (ElementOrigin::Extension(extension), Spelling::Right);
    }
    if let Some(own) = own.iter().find(|own| own.address() == namespace) {
        return (ElementOrigin::Custom(own.clone()), Spelling::Right);
    }
    let stem = stem(namespace);
    let is_of = |known: &str| {
        stem.strip_prefix(known)
            .is_some_and(|version| version.is_empty() || version.starts_with('/'))
    };
    if let Some((_, extension)) = SPELLINGS.into_iter().find(|(known, _)| is_of(known)) {
        return (ElementOrigin::Extension(extension), Spelling::Wrong);
    }
    if PROTOCOL_SPELLINGS.into_iter().any(is_of) {
        return (ElementOrigin::Protocol, Spelling::Wrong);
    }
    let retired = RETIRED.into_iter().find(|(_, known)| is_of(known));
    (
        retired.map_or(ElementOrigin::Unknown, |(prefix, _)| {
            ElementOrigin::Retired(RetiredExtension { prefix })
        }),
        Spelling::Right,
    )
}

/// Usual vocabulary of an undeclared prefix.
fn of_prefix(prefix: &str) -> ElementOrigin {
    let known = Extension::ALL
        .into_iter()
        .find(|extension| extension.prefix() == prefix);
    if let Some(extension) = known {
        return ElementOrigin::Extension(extension);
    }
    let retired = RETIRED.into_iter().find(|(known, _)| *known == prefix);
    retired.map_or(ElementOrigin::Unknown, |(prefix, _)| {
        ElementOrigin::Retired(RetiredExtension { prefix })
    })
}

/// A namespace without its scheme and `www.`, in lower case.
fn stem(namespace: &str) -> String {
    let lower = namespace.trim().to_ascii_lowercase();
    let host = lower
        .strip_prefix("http://")
        .or_else(|| lower.strip_prefix("https://"))
        .unwrap_or(&lower);
    host.strip_prefix("www.").unwrap_or(host).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_namespace_is_compared_by_its_beginning() {
        assert_eq!(beginning_of("http://example.com/"), "http://example.com/");
        let long = format!("a{}", "é".repeat(100_000));
        assert_eq!(beginning_of(&long).len(), MAX_NAMESPACE_BYTES - 1);
    }

    #[test]
    fn namespaces_are_known_in_their_usual_spellings() {
        let check = |namespace: &str, expected: &str| {
            let found = match of_namespace(namespace, &[]) {
                (ElementOrigin::Extension(extension), spelling) => {
                    format!("{extension:?} {spelling:?}")
                }
                (ElementOrigin::Retired(retired), _) => retired.prefix.to_owned(),
                (ElementOrigin::Protocol, spelling) => format!("Protocol {spelling:?}"),
                (other, _) => format!("{other:?}"),
            };
            assert_eq!(found, expected, "{namespace}");
        };
        for row in [
            "http://www.google.com/schemas/sitemap-image/1.1 => Image Right",
            "https://www.google.com/schemas/sitemap-image/1.1 => Image Wrong",
            "http://www.google.com/schemas/sitemap-image/1.1/ => Image Wrong",
            "http://google.com/schemas/sitemap-video/1.0 => Video Wrong",
            "http://www.sitemaps.org/schemas/sitemap-image/1.1 => Image Wrong",
            "http://www.google.com/schemas/sitemap-news/0.9 => News Right",
            "http://www.google.com/schemas/sitemap-news => News Wrong",
            "http://www.w3.org/1999/xhtml => Alternate Right",
            "https://www.w3.org/1999/xhtml/ => Alternate Wrong",
            "http://www.w3.org/TR/xhtml11/xhtml11_schema.html => Alternate Wrong",
            "http://www.google.com/schemas/sitemap-mobile/1.0 => mobile",
            "http://www.google.com/geo/schemas/sitemap/1.0 => geo",
            "http://www.google.com/schemas/sitemap-images/1.1 => Unknown",
            "http://example.com/schemas/sitemap-image/1.1 => Unknown",
            "https://www.sitemaps.org/schemas/sitemap/0.9 => Protocol Wrong",
            "http://sitemaps.org/schemas/sitemap/0.9/ => Protocol Wrong",
            "http://www.google.com/schemas/sitemap/0.84 => Protocol Wrong",
            "http://www.sitemaps.org/schemas/sitemaps/0.9 => Unknown",
            " => Unknown",
        ] {
            let (namespace, expected) = row.split_once(" => ").unwrap();
            check(namespace, expected);
        }
    }
}
