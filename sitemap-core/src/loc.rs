//! [`Loc`]: a checked absolute http(s) URL, and the location rule (which pages a sitemap at a place may list).
//!
//! A `Loc` that exists can be written: its constructor is the only place that checks and encodes. It never carries a fragment,
//! user-info or a raw character that RFC 3986 forbids. It does not look anything up, follow anything or decide what a page *is*:
//! existing escapes stay as the page links them, so `%FC` on an ISO-8859-1 server is still `%FC` (R23).

mod syntax;

use std::{borrow::Cow, fmt};

use crate::limits::MAX_LOC_CHARACTERS;

use syntax::{
    Comparable, QUERY, UrlParts, clean_path_start, has_needless_escape, push_authority,
    push_encoded, push_normalised, push_path, split,
};
pub(crate) use syntax::{Rawness, has_ascii_host, rawness};

/// An absolute `http` or `https` URL in the form in which it is written into a sitemap.
///
/// - The scheme and the host are lower case, the host is an A-label (`xn--`) or an address, a default port is left out.
/// - The path begins with `/` and has no dot segments; characters that RFC 3986 forbids raw in path and query are percent-encoded
///   as UTF-8.
/// - Existing escapes keep their bytes and their case; a `%` that begins no escape is `%25`.
/// - It is ASCII and at most [`MAX_LOC_CHARACTERS`] long.
///
/// Values order by their bytes, which is the order in which entries are in a file.
///
/// ```
/// use sitemap_core::Loc;
///
/// let loc = Loc::parse("HTTP://www.Example.com:80/ümlat?q=a b")?;
/// assert_eq!(loc.as_str(), "http://www.example.com/%C3%BCmlat?q=a%20b");
/// # Ok::<(), sitemap_core::LocError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loc {
    text: Box<str>,
    /// Start of the path in `text`; a function of `text`, so it never decides a comparison.
    path_start: usize,
}

/// Reason why a text is not a [`Loc`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocError {
    /// The text is empty.
    #[error("URL is empty")]
    Empty,
    /// White space is before or after the URL (R12).
    #[error("URL has white space around it, trim it first")]
    Padded,
    /// The URL does not begin with `http://` or `https://` (R9).
    #[error("URL is not absolute, expected http:// or https:// and a host")]
    NotAbsolute,
    /// The host is missing, or is neither a domain name nor an address.
    #[error("URL has no valid host")]
    Host,
    /// The port is not a number from 0 to 65,535.
    #[error("URL has no valid port, expected a number from 0 to 65535")]
    Port,
    /// The URL carries a user name or a password, which must not be published.
    #[error("URL carries a user name or password")]
    UserInfo,
    /// The URL is longer than [`MAX_LOC_CHARACTERS`] after percent-encoding (R11).
    #[error(
        "URL has {characters} characters after percent-encoding, expected at most {MAX_LOC_CHARACTERS}"
    )]
    TooLong {
        /// Characters after percent-encoding.
        characters: usize,
    },
}

impl Loc {
    /// Checks and encodes an absolute URL. A fragment is left out, because it never reaches a server.
    ///
    /// # Errors
    /// [`LocError`] when the text is empty or padded with white space, is not an absolute `http` or `https` URL, has no valid
    /// host or port, carries user-info, or is too long after encoding. Sources: R9, R11, R12, R24, RFC 3986 section 3.
    pub fn parse(text: &str) -> Result<Self, LocError> {
        if let Some(path_start) = clean_path_start(text) {
            return Ok(Self {
                text: text.into(),
                path_start,
            });
        }
        let UrlParts {
            https,
            authority,
            path,
            query,
        } = split(text)?;
        let mut encoded = String::with_capacity(text.len() + 16);
        encoded.push_str(if https { "https://" } else { "http://" });
        push_authority(&mut encoded, authority, https)?;
        let path_start = encoded.len();
        push_path(&mut encoded, path);
        if let Some(query) = query {
            encoded.push('?');
            push_encoded(&mut encoded, query, QUERY);
        }
        if encoded.len() > MAX_LOC_CHARACTERS {
            return Err(LocError::TooLong {
                characters: encoded.len(),
            });
        }
        Ok(Self {
            text: encoded.into_boxed_str(),
            path_start,
        })
    }

    /// The whole URL, percent-encoded, before entity escaping.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Scheme, host and port if it is not the scheme's default: `https://example.com:8443`.
    pub fn origin(&self) -> &str {
        &self.text[..self.path_start]
    }

    /// The host without the port: `example.com`, `192.0.2.1` or `[2001:db8::1]`.
    pub fn host(&self) -> &str {
        let origin = self.origin();
        let authority = origin
            .split_once("://")
            .map_or(origin, |(_, authority)| authority);
        match authority.rsplit_once(':') {
            // A colon within brackets belongs to the address.
            Some((host, port)) if !port.ends_with(']') => host,
            Some(_) | None => authority,
        }
    }

    /// The path and, with its `?`, the query: `/catalog/show?item=23`.
    pub fn path_and_query(&self) -> &str {
        &self.text[self.path_start..]
    }

    /// The path without the query; it begins with `/`.
    pub fn path(&self) -> &str {
        let rest = self.path_and_query();
        &rest[..rest.find('?').unwrap_or(rest.len())]
    }

    /// The URL up to and including the last `/` of its path, which a sitemap at this place covers.
    pub fn directory(&self) -> &str {
        let path = self.path();
        let in_path = path.rfind('/').map_or(0, |slash| slash + 1);
        &self.text[..self.path_start + in_path]
    }

    /// The form in which URLs are compared (R26): the escapes of unreserved characters decoded, the others in upper case
    /// (RFC 3986 section 6.2.2). Two values with the same form are the same URL for every server that keeps to RFC 3986.
    ///
    /// ```
    /// use sitemap_core::Loc;
    ///
    /// let loc = Loc::parse("https://example.com/%61%fc")?;
    /// assert_eq!(loc.as_str(), "https://example.com/%61%fc");
    /// assert_eq!(loc.normalised(), "https://example.com/a%FC");
    /// # Ok::<(), sitemap_core::LocError>(())
    /// ```
    pub fn normalised(&self) -> Cow<'_, str> {
        if !self.text.contains('%') {
            return Cow::Borrowed(&self.text);
        }
        let mut normalised = String::with_capacity(self.text.len());
        normalised.push_str(self.origin());
        push_normalised(&mut normalised, self.path_and_query());
        Cow::Owned(normalised)
    }

    /// Returns whether both are the same URL, that is, have the same [normal form](Self::normalised).
    pub fn is_equivalent(&self, other: &Self) -> bool {
        self == other || self.normalised() == other.normalised()
    }

    /// Returns whether a character is escaped that needs no escape.
    pub(crate) fn has_needless_escapes(&self) -> bool {
        has_needless_escape(self.path_and_query())
    }

    /// The location rule: whether a sitemap at this URL may list `page` (R58 to R60, R64).
    ///
    /// A sitemap may when both have the same scheme, host and port, and the path of the page begins with the directory of the sitemap.
    /// Paths are compared with the escapes of unreserved characters decoded and the others in upper case (RFC 3986 section
    /// 6.2.2), so `%63atalog` is `catalog` and `%2F` is not a separator. Query and fragment do not count. The same rule decides
    /// which sitemaps an index may list. Source: <https://www.sitemaps.org/protocol.html#location>.
    ///
    /// ```
    /// use sitemap_core::Loc;
    ///
    /// let sitemap = Loc::parse("https://example.com/catalog/sitemap.xml")?;
    /// assert!(sitemap.may_list(&Loc::parse("https://example.com/catalog/show?item=23")?));
    /// assert!(!sitemap.may_list(&Loc::parse("https://example.com/image/show")?));
    /// # Ok::<(), sitemap_core::LocError>(())
    /// ```
    pub fn may_list(&self, page: &Self) -> bool {
        if self.origin() != page.origin() {
            return false;
        }
        let directory = &self.directory()[self.path_start..];
        if page.path().starts_with(directory) {
            return true;
        }
        let mut page_bytes = Comparable::new(page.path());
        Comparable::new(directory).all(|byte| page_bytes.next() == Some(byte))
    }
}

impl fmt::Display for Loc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Debug for Loc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Loc({})", self.text)
    }
}

impl AsRef<str> for Loc {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests;
