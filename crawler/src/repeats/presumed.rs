//! Parameters that are known by name and form to be without effect: session ids, and those of analytics. They are left out of URLs from the
//! start, and a sample of the URLs is asked for as they are written: where the page is another one to the letter, and the page without
//! them, asked for twice, is the same both times, or where the URL without them answers no page, they are content on that path.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::places;
use crate::url_key::{Identity, UrlKey};

/// URLs of each name that are asked for as they are written, the first of the site.
const FIRST: u32 = 10;

/// One URL in so many is requested as it is written, by a hash of the URL.
const SAMPLE: u64 = 50;

/// Links of one page that differ in its value alone, of which so many are asked for as they are written.
const FIRST_OF_PAGE: u32 = 3;

/// Pages that are asked for a second time for one path and name, as long as they differ from themselves.
const MAX_SECONDS: usize = 3;

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
    /// A sample is asked for and compared, and not only what has no page without them.
    is_sampled: bool,
    recorded: BTreeMap<String, u32>,
    /// URLs of each name that were asked for as they are written.
    asked: BTreeMap<String, u32>,
    /// Links of the page whose links are being taken.
    siblings: Siblings,
    /// Fingerprints of links of one page that differ in a value alone: the first of each such group.
    first: HashSet<u64>,
    /// Paths and names where they are content.
    content: HashSet<u64>,
    /// Paths with URLs that were asked for in vain.
    vain: HashMap<u64, u8>,
    differences: Differences,
}

/// Links of one page, by the short form that they share.
#[derive(Debug, Default)]
struct Siblings {
    /// The fingerprint of the page.
    page: Option<u64>,
    /// How many links have the short form of this fingerprint, and the first of them.
    by_short: HashMap<u64, (u32, u64)>,
}

/// Pages that are not the page without these parameters, to the letter.
#[derive(Debug, Default)]
struct Differences {
    /// Hashes of the texts of pages that were read before the page without them, by its fingerprint.
    early: HashMap<u64, Vec<(ParameterPath, u64)>>,
    /// Paths and names for which such pages were, or are to be, asked for a second time.
    compared: HashMap<u64, SecondRequests>,
    /// Parameters whose page without them is requested, or waits for it, by the fingerprint of that page.
    asking: HashMap<u64, Vec<ParameterPath>>,
    /// Pages that are to be asked for.
    wanted: Vec<UrlKey>,
}

/// The second requests for a path and a name: any of the pages without it may be the one that does not differ from itself.
#[derive(Debug, Default)]
struct SecondRequests {
    /// Fingerprints of the pages.
    begun: Vec<u64>,
    is_asking: bool,
    /// URLs that are requested when the one before differs from itself.
    others: Vec<UrlKey>,
}

/// A path and a name.
#[derive(Debug, Clone)]
struct ParameterPath {
    key: u64,
    name: String,
}

impl ParameterPath {
    fn of(url: &UrlKey, short: &UrlKey) -> Self {
        let name = name_of(url, short);
        let key = xxh3_64_with_seed(name.as_bytes(), path_of(url));
        Self { key, name }
    }
}

impl Presumed {
    /// What these settings leave out, if they are the defaults.
    pub(super) fn of(identity: &Arc<Identity>, is_sampled: bool) -> Self {
        let is_default = identity.drops_defaults();
        Self {
            identity: is_default.then(|| Arc::clone(identity)),
            is_sampled,
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

    /// Takes a URL that has them, which a link of the page with the fingerprint `page` leads to; returns whether it is recorded.
    pub(super) fn find(&mut self, url: &UrlKey, short: &UrlKey, page: Option<u64>) -> bool {
        let place = ParameterPath::of(url, short);
        if self.content.contains(&place.key) {
            return true;
        }
        let count = self.recorded.entry(place.name).or_default();
        *count = count.saturating_add(1);
        if *count > MAX_RECORDED {
            return false;
        }
        let siblings = &mut self.siblings;
        if siblings.page != page {
            siblings.page = page;
            siblings.by_short.clear();
        }
        let own = url.fingerprint();
        let entry = siblings.by_short.entry(short.fingerprint());
        let (count, first) = entry.or_insert((0, own));
        *count += 1;
        if (2..=FIRST_OF_PAGE).contains(count) && page.is_some() {
            self.first.extend([*first, own]);
        }
        true
    }

    /// Returns whether a URL is asked for as it is written. `is_page`: without them it is a page; `None`: that is not known yet.
    pub(super) fn is_asked(&self, url: &UrlKey, short: &UrlKey, is_page: Option<bool>) -> bool {
        let is_in_vain = || {
            let vain = self.vain.get(&path_of(url));
            vain.is_some_and(|vain| *vain >= MAX_VAIN)
        };
        let place = ParameterPath::of(url, short);
        let fingerprint = url.fingerprint();
        let is_of_sample = || {
            let asked = self.asked.get(&place.name);
            fingerprint.is_multiple_of(SAMPLE)
                || self.first.contains(&fingerprint)
                || asked.is_none_or(|asked| *asked < FIRST)
        };
        self.content.contains(&place.key)
            || is_page == Some(false) && !is_in_vain()
            || self.is_sampled && is_of_sample()
    }

    /// Returns whether they are content in `url`.
    pub(super) fn are_content(&self, url: &UrlKey, short: &UrlKey) -> bool {
        self.content.contains(&ParameterPath::of(url, short).key)
    }

    /// Takes the answer to a URL that was asked for as it is written: it can be listed, and the one without them is known to be no
    /// page. Returns how many URLs, which may be pages then, were not recorded.
    pub(super) fn record_answer(
        &mut self,
        url: &UrlKey,
        short: &UrlKey,
        is_listed: bool,
        is_content: bool,
    ) -> u32 {
        let place = ParameterPath::of(url, short);
        let asked = self.asked.entry(place.name.clone()).or_default();
        *asked = asked.saturating_add(1);
        if is_listed && is_content {
            return self.find_content(&place);
        } else if !is_listed && self.vain.len() < MAX_PATHS {
            let vain = self.vain.entry(path_of(url)).or_default();
            *vain = vain.saturating_add(1);
        }
        0
    }

    /// Compares a page that can be listed and has the text `whole` with the page without them, when that was read and has the text
    /// `of_short`.
    pub(super) fn compare(
        &mut self,
        url: &UrlKey,
        short: &UrlKey,
        whole: u64,
        of_short: Option<u64>,
    ) {
        let place = ParameterPath::of(url, short);
        if whole == 0 || !self.is_sampled || self.content.contains(&place.key) {
            return;
        }
        match of_short {
            Some(other) if other == whole => {}
            Some(_) => self.differences.want(short, place),
            None if self.differences.early.len() < MAX_PATHS => {
                let early = self.differences.early.entry(short.fingerprint());
                early.or_default().push((place, whole));
            }
            None => {}
        }
    }

    /// Compares the pages that were read before the page without them, which is `short` and has the text `whole`.
    pub(super) fn compare_early(&mut self, short: &UrlKey, whole: u64) {
        let early = self.differences.early.remove(&short.fingerprint());
        for (place, other) in early.into_iter().flatten() {
            if other != whole {
                self.differences.want(short, place);
            }
        }
    }

    /// A page without them that is to be asked for a second time.
    pub(super) fn next_wanted(&mut self) -> Option<UrlKey> {
        self.differences.wanted.pop()
    }

    /// Takes the end of a second request for `short`; `differs`: the answer was another one than the first. Returns how many URLs, which
    /// may be pages, were not recorded.
    pub(super) fn take_second(&mut self, short: &UrlKey, differs: bool) -> u32 {
        let asking = self.differences.asking.remove(&short.fingerprint());
        let places = asking.into_iter().flatten();
        places
            .map(|place| {
                if differs {
                    self.differences.want_other(place);
                    0
                } else {
                    self.find_content(&place)
                }
            })
            .sum()
    }

    /// See [`super::Repeats::end_find_written`].
    pub(super) fn end_find(&mut self) {
        let counts = self.recorded.values_mut();
        counts.for_each(|count| *count = (*count).min(MAX_RECORDED));
    }

    /// Notes that the parameters at `place` are content; returns how many URLs were not recorded.
    fn find_content(&mut self, place: &ParameterPath) -> u32 {
        if self.content.len() >= MAX_PATHS || !self.content.insert(place.key) {
            return 0;
        }
        let recorded = self.recorded.get_mut(&place.name);
        recorded.map_or(0, |count| {
            let more = count.saturating_sub(MAX_RECORDED);
            *count -= more;
            more
        })
    }
}

impl Differences {
    /// Lets `short` be asked for a second time, for a place where no such page was the same twice.
    fn want(&mut self, short: &UrlKey, place: ParameterPath) {
        if self.compared.len() >= MAX_PATHS && !self.compared.contains_key(&place.key) {
            return;
        }
        let compared = self.compared.entry(place.key).or_default();
        let fingerprint = short.fingerprint();
        if compared.begun.len() >= MAX_SECONDS || compared.begun.contains(&fingerprint) {
            return;
        }
        compared.begun.push(fingerprint);
        if compared.is_asking {
            compared.others.push(short.clone());
        } else {
            compared.is_asking = true;
            self.ask_for_whole_url(short, place);
        }
    }

    fn ask_for_whole_url(&mut self, short: &UrlKey, place: ParameterPath) {
        let asking = self.asking.entry(short.fingerprint()).or_default();
        if asking.is_empty() {
            self.wanted.push(short.clone());
        }
        asking.push(place);
    }

    /// A page of the place differed from itself: another one is asked for, if there is one.
    fn want_other(&mut self, place: ParameterPath) {
        let Some(compared) = self.compared.get_mut(&place.key) else {
            return;
        };
        let other = compared.others.pop();
        compared.is_asking = other.is_some();
        if let Some(short) = other {
            self.ask_for_whole_url(&short, place);
        }
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
