//! The header line `xsi:schemaLocation` (R69): whether its pair for the namespace of the protocol names the schema of the file's kind.

use super::Kind;
use crate::limits::NAMESPACE;

/// Defects of an `xsi:schemaLocation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaLocationError {
    /// A namespace without an address after it.
    #[error("schemaLocation is not made of pairs of a namespace and the address of its schema")]
    NotPairs,
    /// There are pairs, but none for the namespace of the protocol.
    #[error("schemaLocation names no schema for {NAMESPACE}")]
    Missing,
    /// The schema is not the one for this kind of file.
    #[error("schemaLocation names another schema than {expected}, the one for this kind of file")]
    WrongKind {
        /// The name of the right one.
        expected: &'static str,
    },
}

/// Checks the value of the attribute in a file of this kind.
pub(super) fn check(value: &str, kind: Kind) -> Result<(), SchemaLocationError> {
    let Some(expected) = schema_name(kind) else {
        return Ok(());
    };
    let mut words = value.split_ascii_whitespace();
    let mut found = None;
    while let Some(namespace) = words.next() {
        let address = words.next().ok_or(SchemaLocationError::NotPairs)?;
        if namespace == NAMESPACE {
            found.get_or_insert(address);
        }
    }
    let name = found.ok_or(SchemaLocationError::Missing)?;
    match name.rsplit('/').next() {
        Some(name) if name.eq_ignore_ascii_case(expected) => Ok(()),
        Some(_) | None => Err(SchemaLocationError::WrongKind { expected }),
    }
}

/// The file name of the official schema; feeds and text have none.
fn schema_name(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::UrlSet => Some("sitemap.xsd"),
        Kind::Index => Some("siteindex.xsd"),
        Kind::Text | Kind::Rss | Kind::Atom => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pair_has_to_match_the_kind() {
        let wrong = |expected| Err(SchemaLocationError::WrongKind { expected });
        let urlset = format!("{NAMESPACE} http://www.sitemaps.org/schemas/sitemap/0.9/sitemap.xsd");
        let index =
            format!("{NAMESPACE}\n  http://www.sitemaps.org/schemas/sitemap/0.9/siteindex.xsd");
        assert_eq!(check(&urlset, Kind::UrlSet), Ok(()));
        assert_eq!(check(&index, Kind::Index), Ok(()));
        assert_eq!(check(&urlset, Kind::Index), wrong("siteindex.xsd"));
        assert_eq!(check(&index, Kind::UrlSet), wrong("sitemap.xsd"));
        assert_eq!(
            check(NAMESPACE, Kind::UrlSet),
            Err(SchemaLocationError::NotPairs)
        );
        assert_eq!(
            check("http://a http://b/sitemap.xsd", Kind::UrlSet),
            Err(SchemaLocationError::Missing)
        );
        assert_eq!(check("", Kind::UrlSet), Err(SchemaLocationError::Missing));
        let both = format!("http://a http://b/x.xsd {urlset}");
        assert_eq!(check(&both, Kind::UrlSet), Ok(()));
    }
}
