//! Spellings of one path: what servers often answer with one page.

use super::{UrlKey, normal_form::is_index_page};

/// The page that spellings of one path name, as an origin and a path: in small letters, without query, path parameters, empty segments,
/// names of index pages, `.html` at the end, and `page/1`.
pub(crate) fn bare_path(url: &UrlKey) -> String {
    let path = url.path().to_ascii_lowercase();
    let segments = path.split('/').filter_map(|segment| {
        let bare = segment.split(';').next().unwrap_or_default();
        let bare = bare.strip_suffix(".html").unwrap_or(bare);
        let is_part = !bare.is_empty() && bare != "index" && !is_index_page(bare);
        is_part.then_some(bare)
    });
    let mut segments: Vec<&str> = segments.collect();
    if let [.., "page", "1"] = segments[..] {
        segments.truncate(segments.len() - 2);
    }
    format!("{}/{}", url.origin(), segments.join("/"))
}

/// Returns whether two URLs differ by their last slash, the name of an index page, `.html` or case alone, if at all.
pub(crate) fn is_alike(one: &UrlKey, other: &UrlKey) -> bool {
    let query = |url: &UrlKey| url.path_and_query()[url.path().len()..].to_owned();
    one.origin() == other.origin()
        && query(one) == query(other)
        && without_ending(one.path()) == without_ending(other.path())
}

/// A path in small letters, without the slash, the name of an index page, or the `.html` at its end.
fn without_ending(path: &str) -> String {
    let path = path.to_ascii_lowercase();
    let (directory, file) = path.rsplit_once('/').unwrap_or(("", &path));
    let bare = file.strip_suffix(".html").unwrap_or(file);
    let bare =
        Some(bare).filter(|bare| !bare.is_empty() && *bare != "index" && !is_index_page(file));
    match bare {
        Some(bare) => format!("{directory}/{bare}"),
        None => directory.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_path_are_one_page() {
        fn check(path: &str, expected: &str) {
            let url = UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap();
            let expected = format!("https://h.example{expected}");
            assert_eq!(bare_path(&url), expected, "{path}");
        }
        check("/", "/");
        check("/index.html", "/");
        check("/A/b/", "/a/b");
        check("/a//b?x=1", "/a/b");
        check("/a/b.html;jsessionid=1", "/a/b");
        check("/index.php/a/b", "/a/b");
        check("/a/page/1/", "/a");
        check("/a/page/2/", "/a/page/2");
        check("/a/default.aspx", "/a");
    }

    #[test]
    fn alike_urls_differ_in_case_or_path_end() {
        fn check(one: &str, other: &str, expected: bool) {
            let url = |path| UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap();
            assert_eq!(is_alike(&url(one), &url(other)), expected, "{one} {other}");
            assert_eq!(is_alike(&url(other), &url(one)), expected, "{other} {one}");
        }
        check("/a", "/a/", true);
        check("/a/", "/a/index.html", true);
        check("/a/", "/a/Default.aspx", true);
        check("/a/", "/a/index", true);
        check("/a", "/a.html", true);
        check("/About", "/about", true);
        check("/", "/index.php", true);
        check("/a?x=1", "/a/?x=1", true);
        check("/a?x=1", "/a", false);
        check("/a?x=1", "/a?x=2", false);
        check("/a", "/b", false);
        check("/a/b", "/a", false);
        check("/a//", "/a", false);
        check("/a.htm", "/a", false);
        check("/a;v=1", "/a", false);
    }
}
