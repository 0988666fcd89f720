//! Other URLs under which the same site is often reached: with `www.` and without, over http and over https.

use std::net::IpAddr;

use serde::Serialize;

use super::Surveyor;
use crate::{
    crawl::{CrawlError, download::DownloadError},
    notes::Note,
    page::PageFacts,
    site::Site,
    url_key::{Origin, UrlKey},
};

/// What a URL answers.
#[derive(Debug, Clone, Serialize)]
pub struct UrlAnswer {
    /// The URL.
    pub url: String,
    /// HTTP status; `None`: no answer came.
    pub status: Option<u16>,
    /// Where it redirects.
    pub redirects_to: Option<String>,
    /// Why there was no answer.
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
    /// Asks for the spellings that the way to the site did not show.
    pub(super) fn spellings(
        &mut self,
        hops: &[(UrlKey, PageFacts)],
    ) -> Result<Vec<UrlAnswer>, CrawlError> {
        let mut spellings = Vec::new();
        for url in spellings_of(&self.site) {
            let known = hops.iter().find(|(hop, _)| *hop == url);
            let answer = match known {
                Some((_, facts)) => Ok(facts.clone()),
                None => self.page(&url)?,
            };
            if answer.as_ref().is_ok_and(|facts| facts.status == 200) {
                let note = Note::answers_twice(&url, &self.site.url());
                self.notes.push(note.naming(&url));
            }
            spellings.push(UrlAnswer::new(&url, answer.as_ref()));
        }
        Ok(spellings)
    }
}

/// The other spellings. Another scheme is tried at its default port only; an address or a name without a dot has no `www.`.
fn spellings_of(site: &Site) -> Vec<UrlKey> {
    let Origin { scheme, host, port } = &site.origin;
    let has_default_port = matches!((&**scheme, port), ("http", 80) | ("https", 443));
    let (schemes, port) = if has_default_port {
        (vec!["https", "http"], String::new())
    } else {
        (vec![&**scheme], format!(":{port}"))
    };
    let is_name = host.contains('.') && !host.starts_with('[') && host.parse::<IpAddr>().is_err();
    let twin = host
        .strip_prefix("www.")
        .map_or_else(|| format!("www.{host}"), str::to_owned);
    let hosts = [Some((**host).to_owned()), is_name.then_some(twin)];
    let pairs = schemes
        .iter()
        .flat_map(|scheme| hosts.iter().flatten().map(move |host| (scheme, host)));
    let urls = pairs.map(|(scheme, host)| format!("{scheme}://{host}{port}{}", site.directory));
    let urls = urls.filter_map(|url| UrlKey::from_normalised(&url).ok());
    urls.filter(|url| !url.is_on(&site.origin)).collect()
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
        check(
            "https://example.com/docs/a",
            &[
                "https://www.example.com/docs/",
                "http://example.com/docs/",
                "http://www.example.com/docs/",
            ],
        );
        check(
            "http://www.example.com/",
            &[
                "https://www.example.com/",
                "https://example.com/",
                "http://example.com/",
            ],
        );
        check(
            "http://example.com:8080/",
            &["http://www.example.com:8080/"],
        );
        check("http://127.0.0.1:8080/", &[]);
        check("https://[::1]/", &["http://[::1]/"]);
        check("http://localhost/", &["https://localhost/"]);
    }
}
