//! From the order of the file to the order of keys. The file compares whole URLs byte by byte, keys
//! compare scheme, host and port first; the two differ only between origins (`https://a.com.au/`
//! is before `https://a.com/` in the file). The URLs of one origin are together in both, so
//! the origins are looked up and walked in the order of keys. A site has one, so this costs nothing.

use std::ops::Range;

use rusqlite::Connection;

use super::values::Columns;
use crate::url_key::UrlKey;

/// Scheme, host and port as they are in the URL.
pub(super) fn origin(key: &UrlKey) -> &str {
    let whole = key.as_str();
    whole.strip_suffix(key.path_and_query()).unwrap_or(whole)
}

/// A range of URLs for each origin of pages and visits, from `from` on, in the order of keys.
pub(super) fn of_origins(
    connection: &Connection,
    from: Option<&UrlKey>,
) -> rusqlite::Result<Vec<Range<String>>> {
    let mut next = connection.prepare_cached(
        "SELECT min(url) FROM (
           SELECT min(url) AS url FROM page WHERE url >= ?1 UNION ALL SELECT min(url) FROM visit WHERE url >= ?1
         )",
    )?;
    let mut firsts = Vec::new();
    let mut after = String::new();
    while let Some(first) =
        next.query_row([&after], |row| Columns::new(row).get::<Option<UrlKey>>())?
    {
        after = end_of_origin(&first);
        firsts.push(first);
    }
    firsts.sort_unstable();
    Ok(firsts
        .iter()
        .filter_map(|first| range(first, from))
        .collect())
}

/// The URLs of the origin whose first key is `first` comes from `from` on.
fn range(first: &UrlKey, from: Option<&UrlKey>) -> Option<Range<String>> {
    let start = match from {
        Some(from) if origin(from) == origin(first) => first.max(from),
        Some(from) if first < from => return None,
        Some(_) | None => first,
    };
    Some(start.as_str().to_owned()..end_of_origin(first))
}

/// The first text after all URLs of the origin of `key`: `0` follows `/` in ASCII, and every path
/// begins with `/`.
fn end_of_origin(key: &UrlKey) -> String {
    [origin(key), "0"].concat()
}
