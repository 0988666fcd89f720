//! URL identity: turns text into keys. Equal keys are the same page; the key is what is requested, judged and listed. Normalising
//! twice changes nothing. It never touches the network.
//!
//! [`Identity`] holds the rules and makes keys; the `url` crate parses (WHATWG URL). Forms that it distinguishes although they
//! are equal by RFC 3986 section 6.2.2 are unified here.

mod actions;
mod fingerprint;
mod identity;
mod names;
mod normal_form;
pub(crate) mod percent;
mod resolver;
mod spellings;
mod stand_in;
/// The first-level directory of a path without a query; `/` for one in the root.
pub(crate) fn first_directory(path: &str) -> &str {
    let end = path.match_indices('/').nth(1);
    end.and_then(|(slash, _)| path.get(..=slash)).unwrap_or("/")
}

#[cfg(test)]
mod tests;

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    net::Ipv4Addr,
    sync::Arc,
};

pub use self::identity::{
    Identity, MAX_REFERENCE_BYTES, Normalize, SESSION_PARAMETERS, TRACKING_PARAMETERS,
};
pub use self::names::SiteNames;
pub use self::stand_in::{PublishAs, StandInError};
pub(crate) use self::{
    actions::is_action,
    fingerprint::{FingerprintHasher, short},
    identity::{has_foreign_scheme, has_presumed_parameters},
    normal_form::{escape_of, key_spelling, other_escapes},
    resolver::ReferenceResolver,
    spellings::{bare_path, is_alike},
};

/// Longest URL that is followed or listed, in bytes: the sitemap protocol requires fewer than 2,048 characters.
pub const MAX_URL_BYTES: usize = 2_047;

/// Bytes of the mark at the end of a key that represents a URL which is too long: `#`, and a hash.
const CUT_MARK_BYTES: usize = 17;

/// Bytes of such a URL that its key has.
const CUT_BYTES: usize = MAX_URL_BYTES - CUT_MARK_BYTES;

/// Reason why a text is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlKeyError {
    /// The text does not parse as a URL, or relative text has no base.
    #[error("not a URL")]
    Syntax,
    /// The scheme is not http or https.
    #[error("not an http or https URL")]
    Scheme,
    /// Over [`MAX_URL_BYTES`] after normalisation, or over [`MAX_REFERENCE_BYTES`] before.
    #[error("URL longer than 2,047 bytes")]
    TooLong,
}

/// Scheme, host and port, to which a robots.txt, a credential and a sitemap set are bound.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// `http` or `https`.
    pub scheme: Arc<str>,
    /// Lower-case host name (A-labels), IPv4 address, or IPv6 address in brackets.
    pub host: Arc<str>,
    /// Port, the scheme's default filled in.
    pub port: u16,
}

/// The unit of politeness: one set of clocks for each. By host name, for all ports.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostKey(Arc<str>);

/// A normalised absolute http(s) URL without fragment and user-info.
///
/// Ordered by scheme, host, port, then path and query as bytes: the order sitemaps are written in.
/// Within one origin that is the order of the text itself.
#[derive(Clone)]
pub struct UrlKey {
    text: Arc<str>,
    /// End of the host in `text`; a `:` with the port may follow.
    host_end: u16,
    /// Start of the path in `text`.
    path_at: u16,
}

impl UrlKey {
    /// Takes text that [`Identity`] made earlier, e.g. from a store: checks that it is a URL in the shape of a key, not that the
    /// current identity rules would make it.
    ///
    /// # Errors
    /// The text is not an absolute http(s) URL with a path, holds a fragment, user-info or a character
    /// that no serialised URL holds, or is too long.
    pub fn from_normalised(text: &str) -> Result<Self, UrlKeyError> {
        if text.len() > MAX_URL_BYTES {
            return Err(UrlKeyError::TooLong);
        }
        let authority_at = match text {
            _ if text.starts_with("http://") => "http://".len(),
            _ if text.starts_with("https://") => "https://".len(),
            _ => return Err(UrlKeyError::Scheme),
        };
        let (url, mark) = text.split_once('#').unwrap_or((text, ""));
        let is_cut = text.len() == url.len() + CUT_MARK_BYTES && url.len() >= CUT_BYTES;
        let is_written = |byte: u8| byte.is_ascii_graphic() && byte != b'#';
        if text.len() > url.len() && !is_cut || !url.bytes().chain(mark.bytes()).all(is_written) {
            return Err(UrlKeyError::Syntax);
        }
        let after_scheme = text.split_at(authority_at).1;
        let authority = after_scheme.split_once('/').ok_or(UrlKeyError::Syntax)?.0;
        let path_at = authority_at + authority.len();
        let default_port = if authority_at == "http://".len() {
            "80"
        } else {
            "443"
        };
        if !is_plain(authority, default_port) {
            let root = text.split_at(path_at + 1).0;
            if authority.contains('@')
                || !url::Url::parse(root).is_ok_and(|url| url.as_str() == root)
            {
                return Err(UrlKeyError::Syntax);
            }
        }
        Self::from_parts(text, authority_at + host_bytes(authority), path_at)
    }

    /// The key of a URL that is too long for one: its beginning, `#`, and a hash of it. `None`: it is not absolute, or not too long.
    fn cut(text: &str) -> Option<Self> {
        let begin = text.get(..CUT_BYTES)?;
        let hash = Self::fingerprint_of(text);
        Self::from_normalised(&format!("{begin}#{hash:016x}")).ok()
    }

    /// Returns whether it represents a URL that is too long: it can be neither requested nor listed.
    pub fn is_cut(&self) -> bool {
        self.text.len() == CUT_BYTES + CUT_MARK_BYTES && self.text.as_bytes()[CUT_BYTES] == b'#'
    }

    /// The whole URL.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        self.text.split_at(self.scheme_end()).0
    }

    /// The host as text, as in [`Origin::host`].
    pub fn host_str(&self) -> &str {
        self.text
            .split_at(self.host_end.into())
            .0
            .split_at(self.host_at())
            .1
    }

    /// The port, the scheme's default filled in.
    pub fn port(&self) -> u16 {
        let written = self
            .text
            .split_at(self.path_at.into())
            .0
            .split_at(self.host_end.into())
            .1;
        match written
            .strip_prefix(':')
            .and_then(|digits| digits.parse().ok())
        {
            Some(port) => port,
            None if self.scheme() == "https" => 443,
            None => 80,
        }
    }

    /// Path and query, beginning with `/`, the part that robots.txt patterns, scopes and globs match.
    pub fn path_and_query(&self) -> &str {
        self.text.split_at(self.path_at.into()).1
    }

    /// The path alone.
    pub fn path(&self) -> &str {
        let whole = self.path_and_query();
        whole.split_once('?').map_or(whole, |(path, _)| path)
    }

    /// The path of its first-level directory; that of a URL in the root is `/`.
    pub fn first_directory(&self) -> &str {
        first_directory(self.path())
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> Origin {
        Origin {
            scheme: self.scheme().into(),
            host: self.host_str().into(),
            port: self.port(),
        }
    }

    /// The URL of the same path and query at another origin; `None` when it would be too long.
    pub fn at(&self, origin: &Origin) -> Option<Self> {
        Self::from_normalised(&format!("{origin}{}", self.path_and_query())).ok()
    }

    /// Returns whether this URL is on `origin`; the same as comparing [`UrlKey::origin`], without building one.
    pub fn is_on(&self, origin: &Origin) -> bool {
        self.host_str() == &*origin.host
            && self.port() == origin.port
            && self.scheme() == &*origin.scheme
    }

    /// The host whose clocks govern requests to this URL.
    pub fn host(&self) -> HostKey {
        HostKey(self.host_str().into())
    }

    /// As a parsed URL, e.g. as the base of references.
    ///
    /// # Panics
    /// Never: a key is a valid URL by construction.
    pub fn to_url(&self) -> url::Url {
        url::Url::parse(&self.text).expect("a key was made from a parsed URL")
    }

    /// 64-bit fingerprint (XXH3) of the whole URL, for the seen filter.
    pub fn fingerprint(&self) -> u64 {
        Self::fingerprint_of(&self.text)
    }

    /// [`UrlKey::fingerprint`] of the key whose text is `text`.
    pub fn fingerprint_of(text: &str) -> u64 {
        xxhash_rust::xxh3::xxh3_64(text.as_bytes())
    }

    /// The directory of this URL: it up to the last slash of its path.
    #[must_use]
    pub fn to_directory(&self) -> Self {
        let path = self.path();
        let end = path.rfind('/').map_or(path.len(), |slash| slash + 1);
        let directory_end = usize::from(self.path_at) + end;
        Self {
            text: self.text.split_at(directory_end).0.into(),
            host_end: self.host_end,
            path_at: self.path_at,
        }
    }

    fn from_parts(text: &str, host_end: usize, path_at: usize) -> Result<Self, UrlKeyError> {
        if text.len() > MAX_URL_BYTES {
            return Err(UrlKeyError::TooLong);
        }
        let position = |at| u16::try_from(at).map_err(|_| UrlKeyError::TooLong);
        Ok(Self {
            text: text.into(),
            host_end: position(host_end)?,
            path_at: position(path_at)?,
        })
    }

    fn scheme_end(&self) -> usize {
        if self.text.starts_with("https") {
            "https".len()
        } else {
            "http".len()
        }
    }

    fn host_at(&self) -> usize {
        self.scheme_end() + "://".len()
    }

    fn order(&self) -> (&str, &str, u16, &str) {
        (
            self.scheme(),
            self.host_str(),
            self.port(),
            self.path_and_query(),
        )
    }
}

/// Returns whether every URL parser takes `authority` as it is: a plain host name or an IPv4 address, and no port or one other
/// than `default_port`.
fn is_plain(authority: &str, default_port: &str) -> bool {
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let is_plain_port = |port: &str| {
        let is_canonical = port.bytes().all(|byte| byte.is_ascii_digit()) && !port.starts_with('0');
        is_canonical && port != default_port && port.parse::<u16>().is_ok()
    };
    (is_plain_name(host) || host.parse::<Ipv4Addr>().is_ok()) && port.is_none_or(is_plain_port)
}

/// Returns whether `host` is a name of lower-case labels without punycode. A label must not begin with a digit: a number at the
/// end would make it an IPv4 address.
fn is_plain_name(host: &str) -> bool {
    let plain_label = |label: &str| {
        label
            .bytes()
            .next()
            .is_some_and(|first| first.is_ascii_lowercase())
            && !label.starts_with("xn--")
            && label
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    };
    host.split('.').all(plain_label)
}

/// The bytes of `authority` before its port.
fn host_bytes(authority: &str) -> usize {
    let after_brackets = authority.rfind(']').unwrap_or(0);
    authority
        .split_at(after_brackets)
        .1
        .find(':')
        .map_or(authority.len(), |colon| after_brackets + colon)
}

impl serde::Serialize for HostKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl HostKey {
    /// The key of a host name.
    pub fn new(host: &str) -> Self {
        Self(host.to_ascii_lowercase().into())
    }

    /// The host name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)?;
        match (&*self.scheme, self.port) {
            ("http", 80) | ("https", 443) => Ok(()),
            (_, port) => write!(f, ":{port}"),
        }
    }
}

impl fmt::Display for UrlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for UrlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.text, f)
    }
}

impl PartialEq for UrlKey {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for UrlKey {}

impl Hash for UrlKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Ord for UrlKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for UrlKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
