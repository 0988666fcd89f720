//! The places of a URL: its directory, or the path that its query is of, and the directories above. Runs of digits count as one, because
//! each day of a calendar would be a directory of its own.

use xxhash_rust::xxh3::xxh3_64;

use crate::url_key::UrlKey;

/// Directories of a URL that count, from the root down: the deepest path of 124,886 pages of documentation has 14 segments, and a
/// trap of any depth is found in the sixth directory too.
const LEVELS: usize = 6;

/// Parameters of a URL that are looked at.
const MAX_PARAMETERS: usize = 16;

/// The names of the places of `url`, the narrowest first: `/shop?` or `/news/`, for the pages of one path with a query, or right in
/// one directory; then `/news/*`, for all below a directory; at last `/*`, for the site.
pub(super) fn names(url: &UrlKey) -> Vec<String> {
    let masked = masked(url.path());
    let slashes = masked.match_indices('/').map(|(at, _)| at).take(LEVELS + 1);
    let slashes: Vec<usize> = slashes.collect();
    let above = slashes.iter().rev();
    let above = above.map(|at| format!("{}*", &masked[..=*at]));
    std::iter::once(own_of(&masked, url)).chain(above).collect()
}

/// The name of the narrowest place of `url`.
pub(super) fn own(url: &UrlKey) -> String {
    own_of(&masked(url.path()), url)
}

fn own_of(masked: &str, url: &UrlKey) -> String {
    match query(url) {
        Some(_) => format!("{masked}?"),
        None => masked[..=masked.rfind('/').unwrap_or_default()].to_owned(),
    }
}

/// The hash of the name of a place.
pub(super) fn hash(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
}

/// The names of its parameters, each once. A query without `=` is a parameter without a name.
pub(super) fn parameters(url: &UrlKey) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for parameter in query(url).into_iter().flat_map(|query| query.split('&')) {
        let name = parameter.split_once('=').map_or("", |(name, _)| name);
        if names.len() < MAX_PARAMETERS && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// How many parameters a URL has.
pub(super) fn count_parameters(url: &UrlKey) -> usize {
    query(url).map_or(0, |query| query.split('&').count())
}

/// The value of the parameter `name`, the first of them; empty: it has none.
pub(super) fn value_of<'a>(url: &'a UrlKey, name: &str) -> &'a str {
    let mut parameters = query(url).into_iter().flat_map(|query| query.split('&'));
    let value = parameters.find_map(|parameter| match parameter.split_once('=') {
        Some((other, value)) => (other == name).then_some(value),
        None => name.is_empty().then_some(parameter),
    });
    value.unwrap_or_default()
}

/// The URL without the parameters that are `left_out`; `None`: it has none of them.
pub(super) fn without(url: &UrlKey, left_out: impl Fn(&str) -> bool) -> Option<UrlKey> {
    let (before, query) = url.as_str().split_once('?')?;
    let mut text = before.to_owned();
    let mut is_shorter = false;
    let mut separator = '?';
    for parameter in query.split('&') {
        let name = parameter.split_once('=').map_or("", |(name, _)| name);
        if left_out(name) {
            is_shorter = true;
            continue;
        }
        text.push(separator);
        text.push_str(parameter);
        separator = '&';
    }
    is_shorter
        .then(|| UrlKey::from_normalised(&text).ok())
        .flatten()
}

/// A glob for the setting `exclude` that matches the URLs of the place `name`; `None`: it is the site.
pub(super) fn exclude_of(name: &str) -> Option<String> {
    if name == "/*" {
        return None;
    }
    let (path, end) = match name.strip_suffix('?') {
        Some(path) => (path, "\\?*"),
        None => (name.trim_end_matches('*'), "*"),
    };
    let mut glob = String::new();
    for character in path.chars() {
        match character {
            // A run of digits.
            '0' => glob.push_str("[0-9]*"),
            // A sign that means something in a glob represents any one sign.
            '*' | '?' | '[' | ']' | '{' | '}' | '\\' => glob.push('?'),
            other => glob.push(other),
        }
    }
    glob.push_str(end);
    Some(glob)
}

fn query(url: &UrlKey) -> Option<&str> {
    url.path_and_query().split_once('?').map(|(_, query)| query)
}

/// The path with each run of digits as one.
fn masked(path: &str) -> String {
    let mut masked = String::with_capacity(path.len());
    for character in path.chars() {
        if !character.is_ascii_digit() {
            masked.push(character);
        } else if !masked.ends_with('0') {
            masked.push('0');
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_go_from_the_directory_to_the_site() {
        fn check(path: &str, expected: &[&str]) {
            let url = UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap();
            assert_eq!(names(&url), expected, "{path}");
        }
        check("/", &["/", "/*"]);
        check("/a", &["/", "/*"]);
        check("/shop?id=1", &["/shop?", "/*"]);
        check(
            "/2026/11/27/",
            &["/0/0/0/", "/0/0/0/*", "/0/0/*", "/0/*", "/*"],
        );
        check("/a1b22/c.html?x", &["/a0b0/c.html?", "/a0b0/*", "/*"]);
        let deep = format!("/{}x", "a/".repeat(20));
        let url = UrlKey::from_normalised(&format!("https://h.example{deep}")).unwrap();
        assert_eq!(names(&url).len(), 8);
    }

    #[test]
    fn parameters_are_left_out_by_their_names() {
        fn check(path: &str, name: &str, expected: Option<&str>) {
            let shorter = without(&key(path), |other| other == name);
            assert_eq!(shorter, expected.map(key), "{path} without {name}");
        }
        check("/a?x=1&y=2", "x", Some("/a?y=2"));
        check("/a?x=1", "x", Some("/a"));
        check("/a?x=1&y=2&x=3", "x", Some("/a?y=2"));
        check("/a?x", "", Some("/a"));
        check("/a?x=1", "y", None);
        check("/a", "", None);
    }

    #[test]
    fn the_exclude_of_a_place_matches_its_urls() {
        fn check(name: &str, matching: &[&str], others: &[&str]) {
            let glob = exclude_of(name).unwrap();
            let pattern = crate::pattern::Pattern::parse(&glob).unwrap();
            let does_match = |path: &&&str| pattern.matches(&key(path));
            assert_eq!(
                matching.iter().find(|path| !does_match(path)),
                None,
                "{glob}"
            );
            assert_eq!(others.iter().find(does_match), None, "{glob}");
        }
        check("/agenda?", &["/agenda?month=1"], &["/agenda", "/agenda/x"]);
        check(
            "/guide/",
            &["/guide/", "/guide/a"],
            &["/guide", "/a/guide/"],
        );
        check("/guide/*", &["/guide/a/b?c"], &["/guides/"]);
        check(
            "/cal/0/0/",
            &["/cal/2026/11/", "/cal/1/2/x"],
            &["/cal/a/b/", "/cal/2026"],
        );
        assert_eq!(exclude_of("/*"), None);
    }

    fn key(path: &str) -> UrlKey {
        UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap()
    }
}
