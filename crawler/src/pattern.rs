//! The globs of the settings that choose URLs: `include` and `exclude`, the pages of a rule, the entries that get a value. All of
//! them are read and compared with a URL in the same way.

use globset::{GlobBuilder, GlobMatcher};

use crate::url_key::{UrlKey, escape_of, key_spelling};

/// A glob on URLs; see [`crate::config::ScopeConfig`] for its syntax.
///
/// ```
/// use crawler::{pattern::Pattern, url_key::UrlKey};
///
/// let blog = Pattern::parse("/blog/*")?;
/// assert!(blog.matches(&UrlKey::from_normalised("https://example.com/blog/2024/x?y").unwrap()));
/// assert!(!blog.matches(&UrlKey::from_normalised("https://example.com/news/blog/x").unwrap()));
/// assert!(Pattern::parse("blog/*").is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pattern {
    /// As written in the settings.
    text: String,
    /// The path of a directory, in the spelling of keys, that every URL lies in which can match.
    directory: String,
    matcher: GlobMatcher,
    /// Compared with the whole URL, not with path and query.
    sees_origin: bool,
}

impl Pattern {
    /// Reads a glob.
    ///
    /// # Errors
    /// The defect, as a fragment that follows the glob: it is none, or could never match a URL.
    pub fn parse(pattern: &str) -> Result<Self, String> {
        let sees_origin = pattern.starts_with("http://") || pattern.starts_with("https://");
        if !sees_origin && !pattern.starts_with(['/', '*', '?', '[', '{']) {
            return Err(
                "can never match: a glob begins with `/`, `*`, `http://` or `https://`, and is no regular expression".to_owned(),
            );
        }
        let spelled = as_keys_are_written(pattern, sees_origin)?;
        let matcher = GlobBuilder::new(&spelled)
            .literal_separator(false)
            .backslash_escape(true)
            .empty_alternates(true)
            .build()
            .map_err(|error| format!("is not a glob: {}", error.kind()))?
            .compile_matcher();
        Ok(Self {
            text: pattern.to_owned(),
            directory: literal_directory(&spelled, sees_origin),
            matcher,
            sees_origin,
        })
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The deepest directory that is known to hold the path of every URL that matches; `/` at both ends.
    ///
    /// ```
    /// use crawler::pattern::Pattern;
    ///
    /// assert_eq!(Pattern::parse("/blog/2024-*")?.directory(), "/blog/");
    /// assert_eq!(Pattern::parse("*.pdf")?.directory(), "/");
    /// # Ok::<(), String>(())
    /// ```
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// Returns whether the whole URL, or its path and query, match.
    pub fn matches(&self, key: &UrlKey) -> bool {
        self.matcher.is_match(if self.sees_origin {
            key.as_str()
        } else {
            key.path_and_query()
        })
    }
}

/// The text before the first sign of a glob, up to its last slash, without scheme and host.
fn literal_directory(spelled: &str, sees_origin: bool) -> String {
    let literal = spelled.split(['*', '?', '[', '{', '\\']).next();
    let literal = literal.unwrap_or_default();
    let slashes: Vec<usize> = literal.match_indices('/').map(|(at, _)| at).collect();
    // After `https://` and the host.
    let first = slashes.get(if sees_origin { 2 } else { 0 });
    match (first, slashes.last()) {
        (Some(&first), Some(&last)) => literal[first..=last].to_owned(),
        _ => "/".to_owned(),
    }
}

/// The pattern in the spelling of keys; scheme and host in lower case when it has them.
fn as_keys_are_written(pattern: &str, sees_origin: bool) -> Result<String, String> {
    if let Some(character) = foreign_class_member(pattern) {
        let shown = character.escape_default();
        return Err(format!(
            "holds `{shown}` inside `[...]`, which URLs hold only percent-encoded"
        ));
    }
    let spelled = key_spelling(&with_forbidden_escaped(pattern));
    let path_at = spelled
        .match_indices('/')
        .nth(2)
        .map_or(spelled.len(), |(index, _)| index);
    let (origin, path) = spelled.split_at(if sees_origin { path_at } else { 0 });
    Ok(format!("{}{path}", origin.to_ascii_lowercase()))
}

/// Percent-encodes characters that keys have only in this form, where they represent themselves: outside `[...]`, and not as
/// signs of a glob (`\\[` represents itself, `[` does not).
fn with_forbidden_escaped(pattern: &str) -> String {
    let mut output = String::with_capacity(pattern.len());
    let mut is_in_class = false;
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        let stands_for_itself = match character {
            '\\' => characters.next_if(|next| matches!(next, '[' | ']' | '{' | '}' | '\\')),
            '"' | '<' | '>' | '^' | '`' | '|' => Some(character),
            _ => None,
        };
        is_in_class = match character {
            '[' => true,
            ']' => false,
            _ => is_in_class,
        };
        match stands_for_itself {
            Some(literal) if !is_in_class => {
                output.extend(escape_of(literal));
            }
            Some(literal) if literal != character => output.extend([character, literal]),
            Some(_) | None => output.push(character),
        }
    }
    output
}

/// A character in one of the `[...]` of a glob that no URL holds: as an escape it would be three
/// members.
fn foreign_class_member(pattern: &str) -> Option<char> {
    let mut is_in_class = false;
    let mut is_escaped = false;
    pattern.chars().find(|character| {
        match character {
            _ if is_escaped => {}
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            _ => {}
        }
        is_escaped = *character == '\\' && !is_escaped;
        is_in_class && !character.is_ascii_graphic()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_lie_in_the_directory_of_the_glob() {
        let check = |glob: &str, expected: &str| {
            let pattern = Pattern::parse(glob).unwrap();
            assert_eq!(pattern.directory(), expected, "{glob}");
        };
        check("/", "/");
        check("/shop/**", "/shop/");
        check("/shop/a", "/shop/");
        check("/shop", "/");
        check("/shop/a?b/c", "/shop/");
        check("/shop{/a,}/*", "/");
        check("/shop/[ab]/x", "/shop/");
        check("/a\\[b/c/*", "/a%5Bb/c/");
        check("**/x/*", "/");
        check("?shop/x", "/");
        check("/caf\u{e9}/*", "/caf%C3%A9/");
        check("https://example.com/shop/*", "/shop/");
        check("https://*/shop/*", "/");
        check("https://example.com", "/");
    }
}
