//! Cookies of the site's host, in memory, for the time of one crawl: taken from answers and sent back to that host. They are
//! never stored, and never sent to other hosts.
//!
//! Requests carry none by default, because search engines keep none: a page is judged as it is without them. They are sent on
//! the way from the start URL to the start page, as a browser sends them, and with every request when the start page answers
//! only with those of that way; see [`CookieUse`].

use std::sync::{Mutex, MutexGuard, PoisonError};

use cookie_store::{Cookie, CookieStore};
use url::Url;

use crate::{
    config::{CookieUse, FetchConfig},
    fetch::Headers,
    url_key::{Origin, UrlKey},
};

/// Cookies that are kept, and bytes of each: what RFC 6265 section 6.1 asks every client to have room for, of one domain.
const MAX_COOKIES: usize = 50;
const MAX_COOKIE_BYTES: usize = 4_096;

/// Bytes of the header `Cookie` at most: common servers refuse heads of more than 8 KiB. The oldest cookies are left out.
const MAX_HEADER_BYTES: usize = 4_096;

/// The cookies of one crawl.
#[derive(Debug)]
pub(crate) struct Cookies {
    /// The host of the start URL without `www.`: a start URL may redirect to the host with it, or without it.
    host: Box<str>,
    /// A jar for the whole crawl.
    is_session: bool,
    kept: Mutex<Jar>,
}

#[derive(Debug, Default)]
struct Jar {
    store: CookieStore,
    /// The oldest first.
    by_age: Vec<Place>,
    /// Where they are sent to with every request; `None`: nowhere.
    needed_by: Option<Origin>,
}

/// Domain, path and name of a cookie.
type Place = (String, String, String);

impl Cookies {
    /// No cookies yet; `None` when the settings want none, or name a header `Cookie`, which counts then.
    pub(crate) fn new(config: &FetchConfig) -> Option<Self> {
        let is_session = match config.cookie_use() {
            CookieUse::Never => return None,
            CookieUse::Start => false,
            CookieUse::Session => true,
        };
        Some(Self {
            host: without_www(&config.start_host).into(),
            is_session,
            kept: Mutex::default(),
        })
    }

    /// Returns whether one jar is kept for the whole crawl.
    pub(crate) fn are_of_session(&self) -> bool {
        self.is_session
    }

    /// The header `Cookie` of a request; `None` without a cookie for it. `is_start`: the request is on the way to the start
    /// page.
    pub(crate) fn header(&self, url: &UrlKey, is_start: bool) -> Option<String> {
        let kept = self.kept();
        let is_sent = if self.is_session || is_start {
            self.is_of_site(url)
        } else {
            kept.needed_by
                .as_ref()
                .is_some_and(|origin| url.is_on(origin))
        };
        if !is_sent || kept.by_age.is_empty() {
            return None;
        }
        let url = url.to_url();
        let matching = kept.store.matches(&url);
        let mut matching: Vec<(usize, String)> = matching
            .into_iter()
            .map(|cookie| {
                let place = place_of(cookie);
                let age = kept.by_age.iter().position(|known| *known == place);
                let pair = format!("{}={}", cookie.name(), cookie.value());
                (age.unwrap_or_default(), pair)
            })
            .collect();
        matching.sort_unstable();
        let mut bytes = 0;
        let newest = matching.iter().rev().take_while(|(_, pair)| {
            bytes += pair.len() + "; ".len();
            bytes <= MAX_HEADER_BYTES
        });
        let first = matching.len() - newest.count();
        let pairs: Vec<String> = matching.drain(first..).map(|(_, pair)| pair).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// Takes the cookies of an answer of `url`. Those that are too long, and new ones beyond the bound, are ignored.
    pub(crate) fn take_cookies(&self, url: &UrlKey, headers: &Headers, is_start: bool) {
        if !(self.is_session || is_start) || !self.is_of_site(url) {
            return;
        }
        let url = url.to_url();
        for line in headers.all("set-cookie") {
            if line.len() > MAX_COOKIE_BYTES {
                continue;
            }
            let text = String::from_utf8_lossy(line);
            let Ok(cookie) = Cookie::parse(&*text, &url) else {
                continue;
            };
            self.kept().keep(cookie.into_owned(), &url);
        }
    }

    /// Forgets all cookies: the server refuses a request because of them, or the way to the start page begins again.
    pub(crate) fn forget(&self) {
        *self.kept() = Jar::default();
    }

    /// The way to the start page has ended: its cookies go with every request to `origin`, or, without one, nowhere.
    pub(crate) fn end_start(&self, origin: Option<&Origin>) {
        if self.is_session {
            return;
        }
        match origin {
            Some(origin) => self.kept().needed_by = Some(origin.clone()),
            None => self.forget(),
        }
    }

    fn is_of_site(&self, url: &UrlKey) -> bool {
        without_www(url.host_str()) == &*self.host
    }

    fn kept(&self) -> MutexGuard<'_, Jar> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Jar {
    fn keep(&mut self, cookie: Cookie<'static>, url: &Url) {
        if self.by_age.len() >= MAX_COOKIES {
            self.forget_expired();
        }
        let place = place_of(&cookie);
        let known = self.by_age.iter().position(|known| *known == place);
        if known.is_none() && self.by_age.len() >= MAX_COOKIES {
            return;
        }
        // What the server may not set is not kept.
        if self.store.insert(cookie, url).is_ok() {
            if let Some(known) = known {
                self.by_age.remove(known);
            }
            self.by_age.push(place);
        }
    }

    /// Removes cookies whose time is over.
    fn forget_expired(&mut self) {
        let expired = self.store.iter_any().filter(|cookie| cookie.is_expired());
        let expired: Vec<Place> = expired.map(place_of).collect();
        for (domain, path, name) in &expired {
            self.store.remove(domain, path, name);
        }
        self.by_age.retain(|place| !expired.contains(place));
    }
}

fn place_of(cookie: &Cookie<'_>) -> Place {
    let domain = cookie.domain.as_cow().unwrap_or_default().into_owned();
    (domain, String::from(&cookie.path), cookie.name().to_owned())
}

fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;

    fn cookies(wanted: CookieUse) -> Cookies {
        let config = FetchConfig {
            start_host: "h.example".to_owned(),
            cookies: wanted,
            ..FetchConfig::default()
        };
        Cookies::new(&config).unwrap()
    }

    fn url(text: &str) -> UrlKey {
        UrlKey::from_normalised(text).unwrap()
    }

    fn lines(lines: &[&str]) -> Headers {
        lines.iter().map(|line| ("set-cookie", *line)).collect()
    }

    /// The cookies that are sent to `to` after an answer of `from` with these lines; sorted.
    fn sent(from: &str, lines: &[&str], to: &str) -> String {
        let cookies = cookies(CookieUse::Session);
        cookies.take_cookies(&url(from), &self::lines(lines), false);
        let header = cookies.header(&url(to), false).unwrap_or_default();
        let mut pairs: Vec<&str> = header.split("; ").collect();
        pairs.sort_unstable();
        pairs.join("; ")
    }

    #[test]
    fn cookies_go_back_to_the_site_only() {
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
    fn the_header_has_the_newest_cookies_that_fit() {
        let site = "https://h.example/";
        let long = |name: &str| format!("{name}={}", "x".repeat(1_500));
        let [a, b, c] = ["a", "b", "c"].map(long);
        let header = sent(site, &[&a, &b, &c, &a], site);
        let names: Vec<&str> = header.split("; ").map(|pair| &pair[..1]).collect();
        assert_eq!(names, ["a", "c"]);
        assert!(header.len() <= MAX_HEADER_BYTES);
    }

    #[test]
    fn only_the_start_page_gets_cookies_by_default() {
        let cookies = cookies(CookieUse::Start);
        let (site, page) = (url("https://h.example/"), url("https://h.example/a"));
        let sent = |url: &UrlKey, is_start| cookies.header(url, is_start).unwrap_or_default();
        cookies.take_cookies(&page, &lines(&["page=1"]), false);
        cookies.take_cookies(&site, &lines(&["start=1"]), true);
        assert_eq!(
            (sent(&page, true), sent(&page, false)),
            ("start=1".to_owned(), String::new())
        );
        cookies.end_start(Some(&site.origin()));
        cookies.take_cookies(&page, &lines(&["start=2", "page=1"]), false);
        assert_eq!(sent(&page, false), "start=1");
        for other in [
            "http://h.example/",
            "https://www.h.example/",
            "https://h.example:8443/",
        ] {
            assert_eq!(sent(&url(other), false), "", "{other}");
        }
        cookies.end_start(None);
        assert_eq!(sent(&page, true), "");
    }

    #[test]
    fn the_settings_may_want_none() {
        let check = |config: &FetchConfig, expected| {
            assert_eq!(Cookies::new(config).is_some(), expected);
        };
        let default = FetchConfig::default();
        check(&default, true);
        let off = FetchConfig {
            cookies: CookieUse::Never,
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
