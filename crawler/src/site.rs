//! The site of a crawl: one origin and one directory of it. State, files and locks of a crawl are named after it.
//!
//! The start URL decides it, together with the redirects it answers with ([`site_of_redirects`]). Nothing here touches the network: the
//! caller follows the redirects, and this module judges them.

#[cfg(test)]
mod tests;

use sha2::{Digest, Sha256};

use crate::{
    config::ScopeWidth,
    url_key::{Origin, PublishAs, StandInError, UrlKey},
};

/// Longest [`Site::name`], in bytes: with `.db` and temporary endings it stays below the 255 bytes
/// that file systems allow.
const MAX_NAME_BYTES: usize = 150;

/// Length to which a longer name is cut, in front of its hash.
const CUT_NAME_BYTES: usize = 120;

/// An origin and the directory that is crawled. Its state is named after it, its set of sitemaps after
/// [`Site::written`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Scheme, host and port: the only origin whose URLs can be listed.
    pub origin: Origin,
    /// Path of the scope's directory, normalised, with a slash at both ends; `/` is the whole origin.
    pub directory: String,
    /// Start of the crawl: the start URL after the redirects that decided the site.
    pub start: UrlKey,
    /// The site that the directory represents in all output; `None`: itself.
    pub stand_in: Option<PublishAs>,
}

/// Reason why a start URL does not decide a site. Each message has advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartProblem {
    /// A redirect leads to a host that is neither the same nor its `www.` twin.
    #[error(
        "{typed} redirects to another host: {landed}; start the crawl there if that is the site you mean"
    )]
    OtherHost {
        /// The start URL as typed.
        typed: UrlKey,
        /// The first hop on the other host.
        landed: UrlKey,
    },
    /// The redirects end on http although the start was https.
    #[error(
        "{typed} redirects from https to {landed}; start the crawl there if the site has no https"
    )]
    Downgrade {
        /// The start URL as typed.
        typed: UrlKey,
        /// End of the redirects.
        landed: UrlKey,
    },
    /// The redirects end on another port of the same scheme.
    #[error(
        "{typed} redirects to another port: {landed}; start the crawl there if that is the site you mean"
    )]
    OtherPort {
        /// The start URL as typed.
        typed: UrlKey,
        /// End of the redirects.
        landed: UrlKey,
    },
    /// The redirects end outside the directory of the start URL.
    #[error(
        "{typed} redirects out of its own directory to {landed}; start the crawl there, or widen the scope to the whole origin"
    )]
    LeavesScope {
        /// The start URL as typed.
        typed: UrlKey,
        /// End of the redirects.
        landed: UrlKey,
    },
}

impl Site {
    /// The URL of the directory.
    pub fn url(&self) -> String {
        format!("{}{}", self.origin, self.directory)
    }

    /// The same site, crawled in the place of the directory of `original`.
    ///
    /// # Errors
    /// `original` is the site itself, or inside of it.
    pub fn standing_for(self, original: &UrlKey) -> Result<Self, StandInError> {
        let directory = UrlKey::from_normalised(&self.url());
        let directory = directory.unwrap_or_else(|_| self.start.to_directory());
        Ok(Self {
            stand_in: Some(PublishAs::new(&directory, original)?),
            ..self
        })
    }

    /// The public site: the one that this one represents, or itself.
    #[must_use]
    pub fn written(&self) -> Self {
        let Some(stand_in) = &self.stand_in else {
            return self.clone();
        };
        let directory = stand_in.original_directory();
        Self {
            origin: directory.origin(),
            directory: directory.path().to_owned(),
            start: stand_in
                .original(&self.start)
                .unwrap_or_else(|_| directory.clone()),
            stand_in: None,
        }
    }

    /// The URL that `key` is written as; `None` when it would be too long for one.
    pub fn written_key(&self, key: &UrlKey) -> Option<UrlKey> {
        match &self.stand_in {
            Some(stand_in) => stand_in.original(key).ok(),
            None => Some(key.clone()),
        }
    }

    /// The key of a URL written as `written`; `None` for a URL outside of the site.
    pub fn crawled_key(&self, written: &UrlKey) -> Option<UrlKey> {
        match &self.stand_in {
            Some(stand_in) => stand_in.crawled_of(written),
            None => Some(written.clone()),
        }
    }

    /// The name of the site in file and folder names: scheme, host, port when it is not the scheme's
    /// default, and directory when it is not `/`, joined by `_`, e.g. `https_www.example.com_docs`.
    ///
    /// `a-z`, `0-9`, `-` and `.` stay, and `_` in the directory; `+` joins the segments of the directory. Every other byte becomes
    /// `=` and two hexadecimal digits: capitals too, because some disks do not distinguish upper and lower case. A `%C3` of the
    /// directory becomes `=c3`. At most 150 bytes: a longer name is cut and ends in a hash of the whole. Different sites have
    /// different names.
    pub fn name(&self) -> String {
        let Origin { scheme, host, port } = &self.origin;
        let mut name = format!("{scheme}_");
        push_encoded(&mut name, host, None);
        let scope = self
            .directory
            .strip_prefix('/')
            .and_then(|path| path.strip_suffix('/'));
        // After a host, a number that begins the scope would read as a port.
        let needs_port = scope.is_some_and(|scope| {
            let rest = scope.trim_start_matches(|first: char| first.is_ascii_digit());
            rest.len() < scope.len() && (rest.is_empty() || rest.starts_with('_'))
        });
        if needs_port || !matches!((&**scheme, port), ("http", 80) | ("https", 443)) {
            name.push('_');
            name.push_str(&port.to_string());
        }
        if let Some(scope) = scope {
            name.push('_');
            push_encoded(&mut name, scope, Some('+'));
        }
        if name.len() > MAX_NAME_BYTES {
            let hash = Sha256::digest(&name);
            name.truncate(CUT_NAME_BYTES);
            name.push_str("=x");
            hash.iter()
                .take(8)
                .for_each(|byte| push_hexadecimal(&mut name, *byte));
        }
        name
    }

    /// Returns whether `key` is on the site's origin and in its directory.
    pub fn contains(&self, key: &UrlKey) -> bool {
        key.is_on(&self.origin) && key.path().starts_with(&self.directory)
    }
}

/// The site that a start URL means: `hops` are the targets of its redirects in order, the last one
/// being the URL that answered; none when the start URL itself answered.
///
/// Redirects may change http to https (the port may change with it) and add or drop `www.`: where they end is
/// the site. The directory is that of the start URL as typed; a start URL that redirects to itself plus
/// a slash means that directory.
///
/// # Errors
/// The redirects lead to another host or port, from https to http, or out of the directory.
pub fn site_of_redirects(
    typed: &UrlKey,
    hops: &[UrlKey],
    width: ScopeWidth,
) -> Result<Site, StartProblem> {
    let landed = hops.last().unwrap_or(typed);
    let both = || (typed.clone(), landed.clone());
    hops.iter().try_for_each(|hop| check_hop(typed, hop))?;
    if typed.scheme() == landed.scheme() {
        if typed.port() != landed.port() {
            let (typed, landed) = both();
            return Err(StartProblem::OtherPort { typed, landed });
        }
    } else if landed.scheme() == "http" {
        let (typed, landed) = both();
        return Err(StartProblem::Downgrade { typed, landed });
    }
    let site = settle_so_far(typed, hops, width);
    if site.contains(landed) {
        Ok(site)
    } else {
        let (typed, landed) = both();
        Err(StartProblem::LeavesScope { typed, landed })
    }
}

/// Result of [`site_of_redirects`] when the redirects end here, without checking them.
pub fn settle_so_far(typed: &UrlKey, hops: &[UrlKey], width: ScopeWidth) -> Site {
    let landed = hops.last().unwrap_or(typed);
    let directory = match width {
        ScopeWidth::Origin => "/",
        ScopeWidth::Directory => hops
            .iter()
            .map(UrlKey::path)
            .find(|path| {
                path.strip_suffix('/') == Some(typed.path()) && !typed.path().ends_with('/')
            })
            .unwrap_or_else(|| directory_of(typed.path())),
    };
    Site {
        origin: landed.origin(),
        directory: directory.to_owned(),
        start: landed.clone(),
        stand_in: None,
    }
}

/// Returns whether a redirect of the start URL may be requested. [`site_of_redirects`] accepts no other host anywhere in the chain, so a hop
/// can be checked before its request.
///
/// # Errors
/// The hop is on a host that is neither the start URL's nor its `www.` twin.
pub fn check_hop(typed: &UrlKey, hop: &UrlKey) -> Result<(), StartProblem> {
    let (one, other) = (typed.host_str(), hop.host_str());
    if one == other
        || one.strip_prefix("www.") == Some(other)
        || other.strip_prefix("www.") == Some(one)
    {
        Ok(())
    } else {
        Err(StartProblem::OtherHost {
            typed: typed.clone(),
            landed: hop.clone(),
        })
    }
}

/// The path up to and including its last slash.
fn directory_of(path: &str) -> &str {
    path.rfind('/')
        .map_or(path, |slash| path.split_at(slash + 1).0)
}

/// Adds a host, or a directory whose segments `join` joins.
fn push_encoded(name: &mut String, text: &str, join: Option<char>) {
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, join) {
            (b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.', _) | (b'_', Some(_)) => {
                name.push((*first).into());
            }
            (b'/', Some(join)) => name.push(join),
            _ => {
                let escaped = (*first == b'%').then(|| escaped_byte(after)).flatten();
                rest = if escaped.is_some() {
                    &after[2..]
                } else {
                    after
                };
                name.push('=');
                push_hexadecimal(name, escaped.unwrap_or(*first));
            }
        }
    }
}

/// The byte that two digits in upper case, as a normal form has them, represent, unless URLs have its character itself.
fn escaped_byte(digits: &[u8]) -> Option<u8> {
    let digits = str::from_utf8(digits.get(..2)?).ok()?;
    let is_normal = |digit: u8| matches!(digit, b'0'..=b'9' | b'A'..=b'F');
    let digits = Some(digits).filter(|digits| digits.bytes().all(is_normal))?;
    let byte = u8::from_str_radix(digits, 16).ok()?;
    (!byte.is_ascii_graphic()).then_some(byte)
}

fn push_hexadecimal(name: &mut String, byte: u8) {
    name.extend(
        [byte >> 4, byte & 15]
            .into_iter()
            .filter_map(|digit| char::from_digit(digit.into(), 16)),
    );
}
