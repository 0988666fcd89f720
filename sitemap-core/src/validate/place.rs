//! The place of a document, and the URLs it may list there (R37, R58 to R67).

use std::collections::{BTreeMap, HashSet};

use super::{Problem, ProofLine, fingerprint::fingerprint_of};
use crate::Loc;

/// The most `Sitemap:` lines of robots.txt files that are remembered; a robots.txt of 500 KiB, the size that consumers read,
/// holds about 25,000.
pub const MAX_PROOFS: usize = 50_000;

/// Sitemaps in the robots.txt files of hosts, for each origin (R65, R67).
#[derive(Debug, Default)]
pub(super) struct Proofs {
    /// By origin, the sitemaps that it names, each with the robots.txt that does.
    by_origin: BTreeMap<String, BTreeMap<Loc, Loc>>,
    count: usize,
}

impl Proofs {
    /// The robots.txt at `robots` names `sitemap`.
    pub(super) fn add(&mut self, robots: &Loc, sitemap: Loc) {
        if self.count < MAX_PROOFS {
            self.count += 1;
            let proofs = self
                .by_origin
                .entry(robots.origin().to_owned())
                .or_default();
            proofs.entry(sitemap).or_insert_with(|| robots.clone());
        }
    }

    /// The robots.txt of `origin` that names one of `route`: a document, or an index that leads to it.
    fn find(&self, origin: &str, route: &[Loc]) -> Option<&Loc> {
        let proofs = self.by_origin.get(origin)?;
        route.iter().find_map(|sitemap| proofs.get(sitemap))
    }

    /// Returns whether the robots.txt of another origin names one of `route`.
    pub(super) fn are_for_others(&self, route: &[Loc]) -> bool {
        let own = route.first().map(Loc::origin);
        self.by_origin
            .iter()
            .filter(|(origin, _)| Some(origin.as_str()) != own)
            .any(|(_, proofs)| route.iter().any(|sitemap| proofs.contains_key(sitemap)))
    }

    /// The robots.txt of an origin and fingerprints of the sitemaps it names; `None` when it names none or was not read.
    pub(super) fn named_by(&self, origin: &str) -> Option<(&Loc, HashSet<u64>)> {
        let proofs = self.by_origin.get(origin)?;
        let robots = proofs.values().next()?;
        Some((robots, proofs.keys().map(fingerprint_of).collect()))
    }

    /// Every sitemap that a robots.txt names, with the first that does.
    pub(super) fn sitemaps(&self) -> BTreeMap<Loc, Loc> {
        let mut sitemaps = BTreeMap::new();
        for (sitemap, robots) in self.by_origin.values().flatten() {
            sitemaps
                .entry(sitemap.clone())
                .or_insert_with(|| robots.clone());
        }
        sitemaps
    }
}

/// The site whose URLs a document lists.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Claim {
    /// URLs of its own origin.
    Own,
    /// URLs of another origin, which points to it.
    Of(String),
}

/// The URLs that a document may list, from its place or, without one, from its entries.
#[derive(Debug)]
pub(super) struct AllowedUrls {
    /// The place of the document, first, and those of the indexes that lead to it.
    route: Vec<Loc>,
    claim: Option<Claim>,
    /// Of a document whose place is not known: the smallest directory that covers its entries so far.
    common: Option<Common>,
    has_reported_www: bool,
    /// Something of another origin is listed.
    lists_others: bool,
}

/// The directory that some URLs have in common.
#[derive(Debug)]
struct Common {
    origin: String,
    path: String,
}

impl AllowedUrls {
    /// `route` is the place of the document and those of the indexes that lead to it; empty when the place is not known.
    pub(super) fn new(route: Vec<Loc>) -> Self {
        Self {
            route,
            claim: None,
            common: None,
            has_reported_www: false,
            lists_others: false,
        }
    }

    /// Returns whether the document serves other hosts: it lists only another origin.
    pub(super) fn is_for_others(&self) -> bool {
        self.lists_others && self.claim != Some(Claim::Own)
    }

    /// Returns whether anything is listed that may be.
    pub(super) fn has_claim(&self) -> bool {
        self.claim.is_some()
    }

    /// The lowest directory in which the document may be, if its place is not known.
    pub(super) fn common_directory(&self) -> Option<String> {
        let common = self.common.as_ref()?;
        Some(format!("{}{}", common.origin, common.path))
    }

    /// Problems of a listed page, and notes on it.
    pub(super) fn judge_page(&mut self, page: &Loc, proofs: &Proofs) -> Vec<Problem> {
        let Some(place) = self.route.first() else {
            return self.judge_among(page);
        };
        if place.origin() == page.origin() {
            if let Some(Claim::Of(first)) = &self.claim {
                return vec![Problem::SecondHost {
                    first: first.clone(),
                }];
            }
            self.claim = Some(Claim::Own);
            if place.may_list(page) {
                return Vec::new();
            }
            return vec![Problem::OutOfScope {
                directory: place.directory().to_owned(),
                covering: covering(place, page),
            }];
        }
        self.lists_others = true;
        let robots = proofs.find(page.origin(), &self.route);
        match (&self.claim, robots) {
            (Some(Claim::Of(first)), _) if first == page.origin() => Vec::new(),
            (None, Some(robots)) => {
                let origin = page.origin().to_owned();
                self.claim = Some(Claim::Of(origin.clone()));
                vec![Problem::Proven {
                    origin,
                    robots: robots.clone(),
                }]
            }
            (Some(Claim::Own), Some(_)) => vec![Problem::SecondHost {
                first: place.origin().to_owned(),
            }],
            (Some(Claim::Of(first)), Some(_)) => vec![Problem::SecondHost {
                first: first.clone(),
            }],
            (_, None) => {
                let expected = place.origin().to_owned();
                self.other_origin(expected, page)
            }
        }
    }

    /// Problems of a sitemap in the list of an index.
    pub(super) fn judge_sitemap(&mut self, sitemap: &Loc, proofs: &Proofs) -> Vec<Problem> {
        let Some(place) = self.route.first() else {
            let problems = self.judge_among(sitemap);
            let expected = |problem: Problem| match problem {
                Problem::Scheme { expected, missing }
                | Problem::Host { expected, missing }
                | Problem::Port { expected, missing } => {
                    Some(Problem::ChildElsewhere { expected, missing })
                }
                _ => None,
            };
            return problems.into_iter().filter_map(expected).collect();
        };
        if place.origin() == sitemap.origin() {
            self.claim.get_or_insert(Claim::Own);
            if place.may_list(sitemap) {
                return Vec::new();
            }
            return vec![Problem::ChildAbove {
                directory: place.directory().to_owned(),
            }];
        }
        self.lists_others = true;
        // Its host may point to the index, or to the sitemap itself.
        let mut route = self.route.clone();
        route.push(sitemap.clone());
        match proofs.find(sitemap.origin(), &route) {
            Some(robots) => vec![Problem::Proven {
                origin: sitemap.origin().to_owned(),
                robots: robots.clone(),
            }],
            None => vec![Problem::ChildElsewhere {
                expected: place.origin().to_owned(),
                missing: self.missing_proof(sitemap),
            }],
        }
    }

    /// Compares with the first entry: all have to be of one origin, at any place.
    fn judge_among(&mut self, page: &Loc) -> Vec<Problem> {
        let directory = &page.directory()[page.origin().len()..];
        let Some(common) = &mut self.common else {
            self.common = Some(Common {
                origin: page.origin().to_owned(),
                path: directory.to_owned(),
            });
            return Vec::new();
        };
        if common.origin != page.origin() {
            let expected = common.origin.clone();
            return self.other_origin(expected, page);
        }
        let length = common_directory(&common.path, directory).len();
        common.path.truncate(length);
        Vec::new()
    }

    fn other_origin(&mut self, expected: String, page: &Loc) -> Vec<Problem> {
        let (wanted, found) = (OriginParts::new(&expected), OriginParts::new(page.origin()));
        if wanted.host != found.host {
            let bare = |origin: &OriginParts<'_>| {
                let host = origin.host.strip_prefix("www.").unwrap_or(origin.host);
                format!("{}://{host}{}", origin.scheme, origin.port)
            };
            let is_www = bare(&wanted) == bare(&found);
            let note = (is_www && !self.has_reported_www).then(|| Problem::OnlyWww {
                expected: expected.clone(),
                found: page.origin().to_owned(),
            });
            self.has_reported_www |= is_www;
            let missing = self.missing_proof(page);
            return [Problem::Host { expected, missing }]
                .into_iter()
                .chain(note)
                .collect();
        }
        let missing = self.missing_proof(page);
        vec![if wanted.scheme == found.scheme {
            Problem::Port { expected, missing }
        } else {
            Problem::Scheme { expected, missing }
        }]
    }

    /// The line that would prove that this document may list its URLs (R65); `None` when its place is not known.
    fn missing_proof(&self, listed: &Loc) -> Option<ProofLine> {
        Some(ProofLine {
            robots: format!("{}/robots.txt", listed.origin()),
            sitemap: self.route.last()?.clone(),
        })
    }
}

/// An origin in its parts; a default port is never written (D4).
struct OriginParts<'a> {
    scheme: &'a str,
    host: &'a str,
    /// With its colon; empty if there is none.
    port: &'a str,
}

impl<'a> OriginParts<'a> {
    fn new(origin: &'a str) -> Self {
        let (scheme, authority) = origin.split_once("://").unwrap_or(("", origin));
        // The colons of an IPv6 address are in brackets.
        let after_bracket = authority.rfind(']').map_or(0, |bracket| bracket + 1);
        let host_end = authority[after_bracket..]
            .find(':')
            .map_or(authority.len(), |colon| after_bracket + colon);
        let (host, port) = authority.split_at(host_end);
        Self { scheme, host, port }
    }
}

/// The lowest directory that covers a sitemap's own and a page of the same origin.
fn covering(sitemap: &Loc, page: &Loc) -> String {
    let origin = sitemap.origin();
    let paths = [sitemap, page].map(|loc| &loc.directory()[origin.len()..]);
    format!("{origin}{}", common_directory(paths[0], paths[1]))
}

/// The common beginning of two paths up to and including its last `/`. Both begin and end with one.
fn common_directory<'a>(one: &'a str, other: &str) -> &'a str {
    let same = one
        .bytes()
        .zip(other.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    let end = one.as_bytes()[..same]
        .iter()
        .rposition(|&byte| byte == b'/')
        .map_or(0, |slash| slash + 1);
    &one[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loc(url: &str) -> Loc {
        Loc::parse(url).unwrap()
    }

    #[test]
    fn covering_directory_is_the_lowest_common_one() {
        let check =
            |sitemap, page, expected| assert_eq!(covering(&loc(sitemap), &loc(page)), expected);
        check(
            "http://h/catalog/sitemap.xml",
            "http://h/catalogue/x",
            "http://h/",
        );
        check("http://h/a/b/sitemap.xml", "http://h/a/c/x", "http://h/a/");
        check("http://h/a/b/sitemap.xml", "http://h/a", "http://h/");
    }

    #[test]
    fn origins_differ_in_one_way() {
        let check = |page: &str, expected: u8| {
            let mut territory = AllowedUrls::new(vec![loc("http://h:100/sitemap.xml")]);
            let problems = territory.judge_page(&loc(page), &Proofs::default());
            assert_eq!(problems[0].rule().0, expected, "{page}");
        };
        check("https://h:100/x", 59);
        check("http://h/x", 64);
        check("http://g:100/x", 60);
        check("https://[::1]:100/x", 60);
    }

    #[test]
    fn only_www_means_nothing_else() {
        let check = |page: &str, expected: &[u8]| {
            let mut territory = AllowedUrls::new(vec![loc("https://www.h:8443/sitemap.xml")]);
            let problems = territory.judge_page(&loc(page), &Proofs::default());
            let notes = problems
                .iter()
                .filter(|problem| matches!(problem, Problem::OnlyWww { .. }));
            let rules: Vec<u8> = notes.map(|problem| problem.rule().0).collect();
            assert_eq!(rules, expected, "{page}");
        };
        check("https://h:8443/x", &[60]);
        check("http://h:8443/x", &[]);
        check("https://h/x", &[]);
        check("https://m.h:8443/x", &[]);
    }

    #[test]
    fn www_is_reported_once() {
        let mut territory = AllowedUrls::new(vec![loc("https://www.h/sitemap.xml")]);
        let mut count = |page| territory.judge_page(&loc(page), &Proofs::default()).len();
        assert_eq!((count("https://h/x"), count("https://h/y")), (2, 1));
        assert_eq!((count("https://g/x"), count("https://h/z")), (1, 1));
        assert_eq!(territory.common_directory(), None);
        let mut unknown = AllowedUrls::new(Vec::new());
        assert_eq!(unknown.common_directory(), None);
        unknown.judge_page(&loc("https://h/a/b/c"), &Proofs::default());
        assert_eq!(unknown.common_directory().unwrap(), "https://h/a/b/");
    }

    #[test]
    fn proofs_have_an_end() {
        let robots = loc("https://h.ex/robots.txt");
        let sitemap = |number: usize| loc(&format!("https://maps.ex/{number}.xml"));
        let mut proofs = Proofs::default();
        for number in 0..=MAX_PROOFS {
            proofs.add(&robots, sitemap(number));
        }
        let find = |number| proofs.find("https://h.ex", &[sitemap(number)]);
        assert_eq!(find(MAX_PROOFS - 1), Some(&robots));
        assert_eq!(find(MAX_PROOFS), None);
        assert_eq!(proofs.sitemaps().len(), MAX_PROOFS);
    }

    #[test]
    fn one_host_is_proven_by_its_robots() {
        let place = loc("https://maps.example/host1/sitemap.xml");
        let index = loc("https://maps.example/index.xml");
        let mut proofs = Proofs::default();
        proofs.add(&loc("https://host1.example/robots.txt"), index.clone());
        proofs.add(&loc("https://host2.example/robots.txt"), place.clone());
        let mut territory = AllowedUrls::new(vec![place.clone(), index]);
        let mut rules = |page| -> Vec<u8> {
            let problems = territory.judge_page(&loc(page), &proofs);
            problems.iter().map(|problem| problem.rule().0).collect()
        };
        assert_eq!(rules("https://host1.example/any/where"), [67]);
        assert_eq!(rules("https://host1.example/"), [0_u8; 0]);
        assert_eq!(rules("http://host1.example/"), [60]);
        assert_eq!(rules("https://host2.example/"), [66]);
        assert_eq!(rules("https://maps.example/host1/x"), [66]);
        assert_eq!(rules("https://host3.example/"), [60]);
    }
}
