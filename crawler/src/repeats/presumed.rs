//! Parameters that are known by name and form to be without effect: session ids, and those of analytics. They are left out of URLs from the
//! start, and a sample of the URLs is asked for as they are written: where the page is another one, or the URL without them answers no
//! page, they are content on that path.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::places;
use crate::url_key::{Identity, UrlKey};

/// URLs of each name that are asked for as they are written, the first of the site.
const FIRST: u32 = 10;

/// Of the others one in so many, by a hash of the URL.
const SAMPLE: u64 = 50;

/// URLs of each name that are recorded as they are written: a session id that is new on each view makes them without end.
const MAX_RECORDED: u32 = 20_000;

/// URLs of one path that are asked for as they are written because the short ones answer no page, if none of them does better.
const MAX_VAIN: u8 = 10;

/// Paths that are distinguished at most.
const MAX_PATHS: usize = 100_000;

/// The data on these parameters.
#[derive(Debug, Default)]
pub(super) struct Presumed {
    /// Leaves them out; `None`: the user chose what is left out.
    identity: Option<Arc<Identity>>,
    recorded: BTreeMap<String, u32>,
    /// URLs of each name that were asked for as they are written.
    asked: BTreeMap<String, u32>,
    /// Paths and names where they are content.
    content: HashSet<u64>,
    /// Paths with URLs that were asked for in vain.
    vain: HashMap<u64, u8>,
}

impl Presumed {
    /// What these settings leave out, if they are the defaults.
    pub(super) fn of(identity: &Arc<Identity>) -> Self {
        let is_default = identity.drops_defaults();
        Self {
            identity: is_default.then(|| Arc::clone(identity)),
            ..Self::default()
        }
    }

    /// The URL without these parameters; `None`: it has none of them.
    pub(super) fn short_form(&self, url: &UrlKey) -> Option<UrlKey> {
        let has_sign = url.path_and_query().contains(['?', ';', '(']);
        let identity = self.identity.as_ref().filter(|_| has_sign)?;
        let short = identity.parse(url.as_str()).ok()?;
        (short != *url).then_some(short)
    }

    /// Takes a URL that has them, which a link leads to; returns whether it is recorded.
    pub(super) fn find(&mut self, url: &UrlKey, short: &UrlKey) -> bool {
        if self.content.contains(&key_of(url, short)) {
            return true;
        }
        let count = self.recorded.entry(name_of(url, short)).or_default();
        *count = count.saturating_add(1);
        *count <= MAX_RECORDED
    }

    /// Returns whether a URL is asked for as it is written. `is_page`: without them it is a page; `None`: that is not known yet.
    pub(super) fn is_asked(&self, url: &UrlKey, short: &UrlKey, is_page: Option<bool>) -> bool {
        let is_in_vain = || {
            let vain = self.vain.get(&path_of(url));
            vain.is_some_and(|vain| *vain >= MAX_VAIN)
        };
        let is_first = || {
            let asked = self.asked.get(&name_of(url, short));
            asked.is_none_or(|asked| *asked < FIRST)
        };
        self.content.contains(&key_of(url, short))
            || url.fingerprint().is_multiple_of(SAMPLE)
            || is_page == Some(false) && !is_in_vain()
            || is_first()
    }

    /// Takes the answer to a URL that was asked for as it is written: it can be listed, and is another page than the one without them,
    /// or that is none. Returns how many URLs, which may be pages then, were not recorded.
    pub(super) fn take(
        &mut self,
        url: &UrlKey,
        short: &UrlKey,
        (is_listed, is_content): (bool, bool),
    ) -> u32 {
        let name = name_of(url, short);
        let asked = self.asked.entry(name.clone()).or_default();
        *asked = asked.saturating_add(1);
        if is_listed && is_content && self.content.len() < MAX_PATHS {
            self.content.insert(key_of(url, short));
            let recorded = self.recorded.get_mut(&name);
            return recorded.map_or(0, |count| {
                let more = count.saturating_sub(MAX_RECORDED);
                *count -= more;
                more
            });
        } else if !is_listed && self.vain.len() < MAX_PATHS {
            let vain = self.vain.entry(path_of(url)).or_default();
            *vain = vain.saturating_add(1);
        }
        0
    }
}

/// The first name that `short` has not, of the query or else of the path: `/a;name=` or `/(name(`.
pub(super) fn name_of(url: &UrlKey, short: &UrlKey) -> String {
    let left = places::parameters(short);
    let names = places::parameters(url).into_iter();
    let mut names = names.filter(|name| !left.contains(name));
    let in_path = || {
        // Other signs of the path are in both.
        let (path, rest) = (url.path(), short.path());
        let both = path.bytes().zip(rest.bytes()).take_while(|(a, b)| a == b);
        let name = path.get(both.count()..)?.trim_start_matches([';', '(']);
        name.split(['=', '(']).next()
    };
    let name = names.next().or_else(in_path).unwrap_or_default();
    name.to_ascii_lowercase()
}

fn path_of(url: &UrlKey) -> u64 {
    let path = url.path().split(';').next().unwrap_or_default();
    xxh3_64_with_seed(path.as_bytes(), 0)
}

fn key_of(url: &UrlKey, short: &UrlKey) -> u64 {
    xxh3_64_with_seed(name_of(url, short).as_bytes(), path_of(url))
}
