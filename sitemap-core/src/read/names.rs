//! The names of elements that are read, in any case.

use super::Kind;

/// The names of root elements, and the kind of file of each.
const ROOTS: [(&str, Kind); 5] = [
    ("urlset", Kind::UrlSet),
    ("sitemapindex", Kind::Index),
    ("rss", Kind::Rss),
    ("RDF", Kind::Rss),
    ("feed", Kind::Atom),
];

/// The names in a urlset and an index.
const NAMES: [&str; 6] = ["url", "loc", "lastmod", "changefreq", "priority", "sitemap"];

/// The names in a feed, without `pubDate`, which is read in any case and never reported: other cases are too common.
const FEED_NAMES: [&str; 10] = [
    "channel",
    "item",
    "entry",
    "link",
    "guid",
    "updated",
    "published",
    "modified",
    "issued",
    "created",
];

/// The root element for a name, in any case, and the kind of the file.
pub(super) fn root(name: &str) -> Option<(&'static str, Kind)> {
    let mut roots = ROOTS.into_iter();
    roots.find(|(root, _)| root.eq_ignore_ascii_case(name))
}

/// The name of the root element of a kind of file; text has none.
pub(super) fn of_root(kind: Kind) -> &'static str {
    let root = ROOTS.iter().find(|(_, of)| *of == kind);
    root.map_or("", |(root, _)| root)
}

/// The element that an entry is in a kind of file; feeds and text have others.
pub(super) fn of_entry(kind: Kind) -> &'static str {
    match kind {
        Kind::UrlSet => "url",
        Kind::Index => "sitemap",
        Kind::Text | Kind::Rss | Kind::Atom => "",
    }
}

/// Returns whether a web page may begin with this element; the tags of `html` and `head` may be left out.
pub(super) fn is_html_root(name: &str) -> bool {
    [
        "html", "head", "body", "title", "meta", "link", "script", "style", "div", "p",
    ]
    .iter()
    .any(|root| root.eq_ignore_ascii_case(name))
}

/// Returns whether this is the name of a root element as it should be written.
pub(crate) fn is_root_name(name: &str) -> bool {
    ROOTS.iter().any(|(root, _)| *root == name)
}

/// The element below a root of this kind that is meant by a name, in any case.
pub(super) fn meant_by(name: &str, kind: Kind) -> Option<&'static str> {
    let names = if kind.is_feed() {
        &FEED_NAMES[..]
    } else {
        &NAMES[..]
    };
    let mut names = names.iter().copied();
    names.find(|meant| meant.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_in_another_case_is_known() {
        assert_eq!(meant_by("URL", Kind::UrlSet), Some("url"));
        assert_eq!(meant_by("Loc", Kind::Index), Some("loc"));
        assert_eq!(meant_by("loc", Kind::Index), Some("loc"));
        assert_eq!(meant_by("ITEM", Kind::Rss), Some("item"));
        assert_eq!(meant_by("Item", Kind::UrlSet), None);
        assert_eq!(meant_by("URL", Kind::Atom), None);
        assert_eq!(meant_by("urls", Kind::UrlSet), None);
        assert_eq!(root("SiteMapIndex"), Some(("sitemapindex", Kind::Index)));
        assert_eq!(root("rdf"), Some(("RDF", Kind::Rss)));
        assert_eq!(root("url"), None);
        assert_eq!(of_root(Kind::Index), "sitemapindex");
        assert_eq!(of_root(Kind::Rss), "rss");
        assert_eq!(of_root(Kind::Text), "");
        assert!(is_root_name("feed"));
        assert!(!is_root_name("FEED") && !is_root_name("url"));
    }
}
