//! Names of a site: the other spellings of its origin, with http or https and with `www.` or without, under which the same site
//! answers. A URL that uses one of them is that of the site.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{Origin, UrlKey};

/// The spellings of the origin of a site that are its names.
#[derive(Debug, Clone)]
pub struct SiteNames {
    site: Origin,
    names: Vec<Origin>,
    /// How many URLs used each of them.
    uses: Arc<[AtomicU64]>,
}

impl PartialEq for SiteNames {
    fn eq(&self, other: &Self) -> bool {
        self.site == other.site && self.names == other.names
    }
}

impl Eq for SiteNames {}

impl SiteNames {
    /// `names` are names of `site`.
    pub fn new(site: &Origin, mut names: Vec<Origin>) -> Self {
        names.sort_unstable();
        names.retain(|name| name != site);
        let uses = names.iter().map(|_| AtomicU64::new(0)).collect();
        Self {
            site: site.clone(),
            names,
            uses,
        }
    }

    /// The names, in order.
    pub fn names(&self) -> &[Origin] {
        &self.names
    }

    /// The names that URLs used, and how many did.
    pub fn uses(&self) -> impl Iterator<Item = (&Origin, u64)> {
        let counts = self.uses.iter().map(|uses| uses.load(Ordering::Relaxed));
        self.names.iter().zip(counts).filter(|(_, uses)| *uses > 0)
    }

    /// Returns whether URLs of the origin of `url` need no other spelling.
    pub(super) fn keeps(&self, url: &url::Url) -> bool {
        url.scheme() == &*self.site.scheme
            && url.host_str() == Some(&self.site.host)
            && url.port_or_known_default() == Some(self.site.port)
    }

    /// The URL of the site that `key` means. One that would be too long with the origin of the site stays.
    pub(super) fn key_of_site(&self, key: UrlKey) -> UrlKey {
        let Some(at) = self.names.iter().position(|name| key.is_on(name)) else {
            return key;
        };
        self.uses[at].fetch_add(1, Ordering::Relaxed);
        key.at(&self.site).unwrap_or(key)
    }
}

/// The names, each after a space.
impl fmt::Display for SiteNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.names.iter().try_for_each(|name| write!(f, " {name}"))
    }
}

impl Origin {
    /// The other spellings of the origin: http and https, with `www.` and without. None at other ports than the default ones, and
    /// for an address; a name without a dot has no `www.`.
    pub fn spellings(&self) -> Vec<Self> {
        let is_default = matches!((&*self.scheme, self.port), ("http", 80) | ("https", 443));
        if !is_default || is_address(&self.host) {
            return Vec::new();
        }
        let twin = match self.host.strip_prefix("www.") {
            Some(bare) => Some(bare.to_owned()),
            None => self
                .host
                .contains('.')
                .then(|| format!("www.{}", self.host)),
        };
        let hosts = [Some(self.host.to_string()), twin];
        let mut spellings = Vec::new();
        for (scheme, port) in [("https", 443), ("http", 80)] {
            for host in hosts.iter().flatten() {
                let spelling = Self {
                    scheme: scheme.into(),
                    host: host.as_str().into(),
                    port,
                };
                spellings.extend(Some(spelling).filter(|spelling| spelling != self));
            }
        }
        spellings
    }
}

/// Returns whether a host is an IPv4 address, or an IPv6 address in brackets.
fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url_key::Identity;

    fn key(url: &str) -> UrlKey {
        UrlKey::from_normalised(url).unwrap()
    }

    #[test]
    fn spellings_differ_in_scheme_and_www() {
        #[track_caller]
        fn check(origin: &str, expected: &[&str]) {
            let spellings = key(&format!("{origin}/")).origin().spellings();
            let spellings: Vec<String> = spellings.iter().map(ToString::to_string).collect();
            assert_eq!(spellings, expected);
        }
        let [secure, plain] = ["https://example.com", "http://example.com"];
        let [secure_www, plain_www] = ["https://www.example.com", "http://www.example.com"];
        check(secure, &[secure_www, plain, plain_www]);
        check(plain_www, &[secure_www, secure, plain]);
        check("http://localhost", &["https://localhost"]);
        for other in [
            "http://example.com:8080",
            "http://127.0.0.1",
            "https://[::1]",
            "http://127.0.0.1:8080",
        ] {
            check(other, &[]);
        }
    }

    #[test]
    fn named_urls_are_those_of_the_site() {
        let site = key("https://www.example.com/").origin();
        let names =
            ["http://www.example.com/", "https://example.com/"].map(|name| key(name).origin());
        let names = SiteNames::new(&site, names.to_vec());
        let identity = Identity {
            names: Some(names.clone()),
            ..Identity::default()
        };
        let check = |url: &str, expected: &str| {
            assert_eq!(identity.parse(url).unwrap().as_str(), expected);
        };
        check(
            "http://www.example.com:80/a?b",
            "https://www.example.com/a?b",
        );
        check("https://example.com", "https://www.example.com/");
        for other in [
            "http://example.com/",
            "https://example.com:8443/",
            "https://example.org/",
        ] {
            check(other, other);
        }
        let uses: Vec<u64> = names.uses().map(|(_, uses)| uses).collect();
        assert_eq!(uses, [1, 1]);
        assert_eq!(
            names.to_string(),
            " http://www.example.com https://example.com"
        );
    }
}
