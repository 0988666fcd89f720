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
}
