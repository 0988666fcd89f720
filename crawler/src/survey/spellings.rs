//! Other URLs under which the same site is often reached: with `www.` and without, over http and over https.

use serde::Serialize;

use super::Surveyor;
use crate::{
    client::{DownloadError, StartError},
    page::PageFacts,
    site::Site,
    url_key::{Identity, Origin, UrlKey},
};

/// The answer of a URL.
#[derive(Debug, Clone, Default, Serialize)]
pub struct UrlAnswer {
    /// The URL.
    pub url: String,
    /// HTTP status; `None`: no answer came.
    pub status: Option<u16>,
    /// The target of a redirect.
    pub redirects_to: Option<String>,
    /// The reason why no answer came, or why it could not be read.
    pub error: Option<String>,
}

impl UrlAnswer {
    pub(super) fn new(url: &UrlKey, answer: Result<&PageFacts, &DownloadError>) -> Self {
        let location = answer.ok().and_then(|facts| facts.location.as_ref());
        Self {
            url: url.to_string(),
            status: answer.ok().map(|facts| facts.status),
            redirects_to: location.map(ToString::to_string),
            error: answer.err().map(ToString::to_string),
        }
    }
}

impl Surveyor<'_, '_> {
    /// Requests the spellings that are not among the redirects of the start URL.
    pub(super) fn spellings(
        &self,
        hops: &[(UrlKey, PageFacts)],
    ) -> Result<Vec<UrlAnswer>, StartError> {
        let spellings = spellings_of(self.site).into_iter();
        spellings
            .filter(|url| hops.iter().all(|(hop, _)| hop != url))
            .map(|url| Ok(UrlAnswer::new(&url, self.page(&url)?.as_ref())))
            .collect()
    }
}

/// The other spellings. Another scheme is tried at its default port only. A name without a dot has no `www.`, and that of an
/// address is not a URL.
fn spellings_of(site: &Site) -> Vec<UrlKey> {
    let Origin { scheme, host, port } = &site.origin;
    let (schemes, port) = match (&**scheme, port) {
        ("http", 80) | ("https", 443) => (vec!["https", "http"], String::new()),
        (scheme, port) => (vec![scheme], format!(":{port}")),
    };
    let with_www = || host.contains('.').then(|| format!("www.{host}"));
    let twin = host.strip_prefix("www.").map(str::to_owned);
    let hosts = [Some(host.to_string()), twin.or_else(with_www)];
    let mut spellings = Vec::new();
    for scheme in schemes {
        for host in hosts.iter().flatten() {
            let url = format!("{scheme}://{host}{port}{}", site.directory);
            let url = Identity::default().parse(&url).ok();
            spellings.extend(url.filter(|url| !url.is_on(&site.origin)));
        }
    }
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::ScopeWidth, site::settle_so_far};

    #[test]
    fn spellings_differ_in_scheme_and_www() {
        #[track_caller]
        fn check(start: &str, expected: &[&str]) {
            let start = UrlKey::from_normalised(start).unwrap();
            let site = settle_so_far(&start, &[], ScopeWidth::Directory);
            let spellings = spellings_of(&site);
            let spellings: Vec<_> = spellings.iter().map(UrlKey::as_str).collect();
            assert_eq!(spellings, expected);
        }
        let [secure, plain] = ["https://example.com/docs/", "http://example.com/docs/"];
        let [secure_www, plain_www] = [
            "https://www.example.com/docs/",
            "http://www.example.com/docs/",
        ];
        check(
            "https://example.com/docs/a",
            &[secure_www, plain, plain_www],
        );
        check(plain_www, &[secure_www, secure, plain]);
        check(
            "http://example.com:8080/",
            &["http://www.example.com:8080/"],
        );
        check("http://127.0.0.1:8080/", &[]);
        check("https://[::1]/", &["http://[::1]/"]);
        check("http://localhost/", &["https://localhost/"]);
    }
}
