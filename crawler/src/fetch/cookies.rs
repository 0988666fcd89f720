//! Cookies of the site's host: taken from its answers and sent back to it, in memory, for the time of one crawl. They are never
//! stored, and never sent to other hosts.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cookie_store::{Cookie, CookieStore};
use url::Url;

use super::Headers;
use crate::config::FetchConfig;

/// Cookies that are kept, and bytes of each: what RFC 6265 section 6.1 asks every client to have room for, of one domain.
const MAX_COOKIES: usize = 50;
const MAX_COOKIE_BYTES: usize = 4_096;

/// The cookies of one crawl.
#[derive(Debug)]
pub(super) struct Cookies {
    /// The host of the start URL without `www.`: a start URL may redirect to the host with it, or without it.
    host: Box<str>,
    kept: Mutex<CookieStore>,
}

impl Cookies {
    /// No cookies yet; `None` when the settings want none, or name a header `Cookie`, which counts then.
    pub(super) fn new(config: &FetchConfig) -> Option<Self> {
        config.keeps_cookies().then(|| Self {
            host: without_www(&config.start_host).into(),
            kept: Mutex::default(),
        })
    }

    /// The header `Cookie` of a request; `None` without a cookie for it.
    pub(super) fn header(&self, url: &Url) -> Option<String> {
        if !self.is_of_site(url) {
            return None;
        }
        let kept = self.kept();
        let pairs = kept.get_request_values(url);
        let pairs: Vec<String> = pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// Takes the cookies of an answer of `url`. Those that are too long, and new ones beyond the bound, are ignored.
    pub(super) fn take(&self, url: &Url, headers: &Headers) {
        if !self.is_of_site(url) {
            return;
        }
        for line in headers.all("set-cookie") {
            if line.len() > MAX_COOKIE_BYTES {
                continue;
            }
            let text = String::from_utf8_lossy(line);
            let Ok(cookie) = Cookie::parse(&*text, url) else {
                continue;
            };
            self.keep(cookie.into_owned(), url);
        }
    }

    fn keep(&self, cookie: Cookie<'static>, url: &Url) {
        let mut kept = self.kept();
        if kept.iter_any().count() >= MAX_COOKIES {
            forget_expired(&mut kept);
        }
        let domain = cookie.domain.as_cow().unwrap_or_default();
        let is_known = kept.contains_any(&domain, &cookie.path, cookie.name());
        if is_known || kept.iter_any().count() < MAX_COOKIES {
            // What the server may not set is not kept.
            drop(kept.insert(cookie, url));
        }
    }

    fn is_of_site(&self, url: &Url) -> bool {
        url.host_str()
            .is_some_and(|host| without_www(host) == &*self.host)
    }

    fn kept(&self) -> MutexGuard<'_, CookieStore> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

/// Removes cookies whose time is over.
fn forget_expired(kept: &mut CookieStore) {
    let expired = kept.iter_any().filter(|cookie| cookie.is_expired());
    let place = |cookie: &Cookie<'static>| {
        let domain = cookie.domain.as_cow().unwrap_or_default().into_owned();
        (domain, String::from(&cookie.path), cookie.name().to_owned())
    };
    let expired: Vec<_> = expired.map(place).collect();
    for (domain, path, name) in expired {
        kept.remove(&domain, &path, &name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;

    fn cookies() -> Cookies {
        let config = FetchConfig {
            start_host: "h.example".to_owned(),
            ..FetchConfig::default()
        };
        Cookies::new(&config).unwrap()
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    /// The cookies that are sent to `to` after an answer of `from` with these lines; sorted.
    fn sent(from: &str, lines: &[&str], to: &str) -> String {
        let cookies = cookies();
        let lines = lines.iter().map(|line| ("set-cookie", *line));
        cookies.take(&url(from), &lines.collect());
        let header = cookies.header(&url(to)).unwrap_or_default();
        let mut pairs: Vec<&str> = header.split("; ").collect();
        pairs.sort_unstable();
        pairs.join("; ")
    }

    #[test]
    fn cookies_go_back_to_the_host_of_the_site_only() {
        let check = |from: &str, line: &str, to: &str, expected: &str| {
            assert_eq!(sent(from, &[line], to), expected, "{from} {line} {to}");
        };
        let (site, page) = ("https://h.example/", "https://h.example/a/b");
        check(site, "a=1", page, "a=1");
        check(site, "a=1; HttpOnly; SameSite=Lax", page, "a=1");
        check(site, "a=1; Path=/a", page, "a=1");
        check(site, "a=1; Path=/b", page, "");
        check(site, "a=1; Secure", "http://h.example/", "");
        check(site, "a=1; Max-Age=0", page, "");
        check(site, "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", page, "");
        check(site, "nonsense", page, "");
        // With www. and without it, as far as the server asks for it.
        let www = "https://www.h.example/";
        check(site, "a=1", www, "");
        check(site, "a=1; Domain=h.example", www, "a=1");
        check(www, "a=1; Domain=h.example", page, "a=1");
        for other in ["https://i.example/", "https://cdn.h.example/"] {
            check(site, "a=1; Domain=h.example", other, "");
            check(other, "a=1; Domain=h.example", page, "");
            check(other, "a=1", other, "");
        }
    }

    #[test]
    fn a_later_cookie_replaces_one_of_its_name() {
        let site = "https://h.example/";
        let lines = ["a=1", "b=2", "a=3"];
        assert_eq!(sent(site, &lines, site), "a=3; b=2");
        let lines = ["a=1", "b=2", "a=; Max-Age=0"];
        assert_eq!(sent(site, &lines, site), "b=2");
    }

    #[test]
    fn number_and_length_are_bounded() {
        let site = "https://h.example/";
        let long = format!("a={}", "x".repeat(MAX_COOKIE_BYTES));
        assert_eq!(sent(site, &[&long], site), "");
        let lines: Vec<String> = (0..=MAX_COOKIES)
            .map(|number| format!("c{number}=1"))
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let count = |header: &str| header.split("; ").count();
        assert_eq!(count(&sent(site, &lines, site)), MAX_COOKIES);
        // Those whose time is over make room, and known ones change.
        let more = [&lines[..], &["c0=; Max-Age=0", "new=1", "c1=2"]].concat();
        let header = sent(site, &more, site);
        assert_eq!(count(&header), MAX_COOKIES);
        assert!(
            header.contains("new=1") && header.contains("c1=2"),
            "{header}"
        );
    }

    #[test]
    fn the_settings_may_want_none() {
        let check = |config: &FetchConfig, expected| {
            assert_eq!(Cookies::new(config).is_some(), expected);
        };
        let default = FetchConfig::default();
        check(&default, true);
        let off = FetchConfig {
            cookies: false,
            ..default.clone()
        };
        check(&off, false);
        let own = FetchConfig {
            headers: vec![("cookie".to_owned(), Secret::new("a=b"))],
            ..default
        };
        check(&own, false);
    }
}
