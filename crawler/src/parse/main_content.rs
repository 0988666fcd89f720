//! The main content of a page: the hash that shows whether the page changed.
//!
//! It covers the text of the main part, its images and links as sets, the title, and the structured data. The main part is
//! `main`, or without one the only `article`, if it has a large part of the text; else the body. Left out are navigation,
//! footers, asides, page headers, advertising, scripts, templates and fallbacks for readers without scripts. Attributes count
//! only on links and images, so tokens of forms and build numbers of assets never count. Dates and counts in the text are blanks
//! ([`mask`]).
//!
//! Markup can be wrong: content stands in a `div` that is called a sidebar, or after a `nav` without an end tag. When little of a
//! page is left, the parts around it count too: a change too many is better than a missed one.
//!
//! Memory has only hashes, and one number for each link and image. Elements are recognised by their tags alone; in
//! broken markup the same bytes still give the same hash.

mod mask;
mod words;

use std::{borrow::Cow, fmt};

use lol_html::send::Element;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use self::mask::{Mask, TakeWord};
use crate::page::ContentHash;

/// A place that text stands in, as a bit: the body, the main part by name, or an article.
pub(super) type Regions = u8;

const BODY: Regions = 1;
const ARTICLE: Regions = 1 << 1;
const MAIN: Regions = 1 << 2;
/// Marks text that is left out of the others.
const AROUND: Regions = 1 << 3;
const REGIONS: [Regions; 4] = [BODY, ARTICLE, MAIN, AROUND];

/// Marks text in [`AROUND`] that is left out only because of the name of a class.
const NAMED: Regions = 1 << 4;

/// Elements that matter and are open in each other; deeper ones are taken for ordinary ones.
const MAX_OPEN: usize = 64;

/// Images that are taken of a page; as many as an entry may have and some.
const MAX_IMAGES: usize = 2_000;

/// Bytes of words that are hashed at once.
const BATCH_BYTES: usize = 1_024;

/// An article is the main part when it has at least one of so many words of the body.
const ARTICLE_SHARE: u64 = 4;

/// The same for `main`, which is explicit; a skip link or a heading alone does not make it the main part.
const MAIN_SHARE: u64 = 4;

/// With as many words as a paragraph it needs a smaller share: menus may be long ...
const PARAGRAPH: u64 = 25;

/// ... which is this.
const LONG_MAIN_SHARE: u64 = 16;

/// Number of words that an image counts as.
const WORDS_OF_IMAGE: u64 = 10;

/// A page that is left with fewer words is hollow when [`HOLLOW_SHARE`] times as many, and at least
/// [`MIN_DOUBTFUL`], are left out for no good reason.
const HOLLOW: u64 = 8;

/// See [`HOLLOW`].
const HOLLOW_SHARE: u64 = 10;

/// See [`HOLLOW`].
const MIN_DOUBTFUL: u64 = 20;

/// Classes of elements that hold advertising, or content chosen for each reader. Whole names only.
const FOREIGN_CLASSES: [&str; 33] = [
    "ad",
    "ad-banner",
    "ad-block",
    "ad-box",
    "ad-container",
    "ad-slot",
    "ad-unit",
    "ad-wrapper",
    "ads",
    "adsbygoogle",
    "advert",
    "advertisement",
    "advertising",
    "adverts",
    "banner-ad",
    "breadcrumb",
    "breadcrumbs",
    "cookie-banner",
    "cookie-consent",
    "cookie-notice",
    "google-ad",
    "recommendations",
    "recommended",
    "related",
    "related-articles",
    "related-content",
    "related-links",
    "related-posts",
    "share-buttons",
    "sidebar",
    "social-share",
    "sponsored",
    "sponsored-content",
];

/// Classes of asides that are part of the text: notes in documentation.
const NOTE_CLASSES: [&str; 12] = [
    "admonition",
    "callout",
    "caution",
    "danger",
    "hint",
    "important",
    "info",
    "note",
    "starlight-aside",
    "tip",
    "warning",
    "pullquote",
];

/// Landmarks (WAI-ARIA 1.2 section 5.3.4) and live regions that are not the main part.
const FOREIGN_ROLES: [&str; 10] = [
    "navigation",
    "banner",
    "contentinfo",
    "complementary",
    "search",
    "dialog",
    "alertdialog",
    "timer",
    "marquee",
    "log",
];

/// An open element that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Main,
    Article,
    Section,
    /// Left out.
    Foreign,
    /// Left out; its dates are not dates of the page.
    Aside,
    /// The same, but only because of the name of its class.
    Named,
    /// About something else than the page: its text counts, its dates do not.
    Item,
}

/// The end tag that ends an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    /// Its own.
    Own,
    /// The end tag of an element around it.
    OfParent,
}

/// Gathers the hash while the page goes by.
#[derive(Debug, Default)]
pub(super) struct MainContent {
    mask: Mask,
    hashes: RegionHashes,
    open: Vec<Part>,
    /// Articles that are not in another one.
    articles: u32,
    /// An element that is left out was not closed, so its end is unknown.
    is_left_open: bool,
}

#[derive(Debug, Default)]
struct RegionHashes {
    regions: [RegionHash; REGIONS.len()],
    batch: String,
    batch_words: u64,
    batch_regions: Regions,
    /// Words in [`NAMED`].
    named_words: u64,
    images: Vec<(u64, Regions)>,
}

#[derive(Default)]
struct RegionHash {
    text: Xxh3Default,
    words: u64,
}

impl fmt::Debug for RegionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegionHash")
            .field("words", &self.words)
            .finish_non_exhaustive()
    }
}

impl TakeWord for RegionHashes {
    fn word(&mut self, word: &str, regions: Regions) {
        if regions != self.batch_regions || self.batch.len() >= BATCH_BYTES {
            self.end_batch();
            self.batch_regions = regions;
        }
        self.batch.push_str(word);
        self.batch.push(' ');
        self.batch_words += 1;
    }
}

impl RegionHashes {
    fn end_batch(&mut self) {
        for (hash, region) in self.regions.iter_mut().zip(REGIONS) {
            if self.batch_regions & region != 0 {
                hash.text.update(self.batch.as_bytes());
                hash.words += self.batch_words;
            }
        }
        if self.batch_regions & NAMED != 0 {
            self.named_words += self.batch_words;
        }
        self.batch.clear();
        self.batch_words = 0;
    }
}

impl MainContent {
    /// What part the element is; `None` for most.
    pub(super) fn part_of(&self, name: &str, element: &Element<'_, '_>) -> Option<Part> {
        match name {
            "main" => return Some(Part::Main),
            "nav" | "footer" | "dialog" => return Some(Part::Foreign),
            "header" if !self.is_in_sections() => return Some(Part::Foreign),
            "aside" => {
                let is_note = element
                    .get_attribute("class")
                    .is_some_and(|classes| has_class(&classes, &NOTE_CLASSES));
                return (!is_note).then_some(Part::Aside);
            }
            "article" | "section" | "div" | "ul" | "ol" | "header" | "form" | "ins" => {}
            _ => return None,
        }
        if element.attributes().is_empty() {
            return plain_part(name);
        }
        if let Some(role) = element.get_attribute("role") {
            let role = role.trim();
            if role.eq_ignore_ascii_case("main") {
                return Some(Part::Main);
            }
            if FOREIGN_ROLES
                .iter()
                .any(|known| known.eq_ignore_ascii_case(role))
            {
                return Some(Part::Foreign);
            }
        }
        let is_foreign = element
            .get_attribute("class")
            .is_some_and(|classes| has_class(&classes, &FOREIGN_CLASSES));
        if is_foreign {
            return Some(Part::Named);
        }
        plain_part(name)
    }

    /// An element that is a `part` begins; false when it is too deep to be followed to its end.
    pub(super) fn open(&mut self, part: Part) -> bool {
        if self.open.len() >= MAX_OPEN {
            return false;
        }
        let regions = self.regions();
        if part == Part::Article && regions & (AROUND | ARTICLE) == 0 {
            self.articles = self.articles.saturating_add(1);
        }
        self.open.push(part);
        true
    }

    /// The last one of those that [`MainContent::open`] took ends, by the end tag `by` of an element.
    pub(super) fn close(&mut self, by: Closing) {
        let part = self.open.pop();
        self.is_left_open |= by == Closing::OfParent && part.is_some_and(Part::is_left_out);
    }

    /// Regions of the next text.
    pub(super) fn regions(&self) -> Regions {
        let mut regions = BODY;
        let mut left_out = 0;
        for part in &self.open {
            match part {
                // It cannot be in an element that is left out: that one was not closed.
                Part::Main => {
                    regions |= MAIN;
                    left_out = 0;
                }
                Part::Article => regions |= ARTICLE,
                // A name does not change the reason of an element that is left out already.
                Part::Named if left_out == 0 => left_out = AROUND | NAMED,
                Part::Foreign | Part::Aside => left_out = AROUND,
                Part::Named | Part::Section | Part::Item => {}
            }
        }
        if left_out == 0 { regions } else { left_out }
    }

    /// Returns whether the text here may have the date of the page.
    pub(super) fn may_be_dated(&self) -> bool {
        !self
            .open
            .iter()
            .any(|part| matches!(part, Part::Aside | Part::Named | Part::Item))
    }

    fn is_in_sections(&self) -> bool {
        self.open
            .iter()
            .any(|part| matches!(part, Part::Main | Part::Article | Part::Section))
    }

    /// Takes a piece of a text node as it is written.
    pub(super) fn text(&mut self, text: &str, ends_node: bool) {
        let regions = self.regions();
        self.mask.add(text, ends_node, regions, &mut self.hashes);
    }

    /// Takes an image by its reference, and its alternative text.
    pub(super) fn image(&mut self, reference: &str, alternative: Option<&str>) {
        let regions = self.regions();
        if self.hashes.images.len() < MAX_IMAGES {
            let name = asset_name(reference);
            self.hashes.images.push((xxh3_64(name.as_bytes()), regions));
        }
        if let Some(text) = alternative {
            self.mask.add(text, true, regions, &mut self.hashes);
        }
    }

    /// The hash of a page with these links (hashes, and where they stand), title and structured data.
    pub(super) fn finish(
        mut self,
        links: &[(u64, Regions)],
        title: Option<&str>,
        data: u64,
    ) -> ContentHash {
        self.mask.finish(&mut self.hashes);
        self.hashes.end_batch();
        let main = self.main_region(links);
        let taken = if self.is_hollow(main) {
            main | AROUND
        } else {
            main
        };
        let RegionHashes {
            regions, images, ..
        } = self.hashes;
        let mut hash = Xxh3Default::new();
        for (of_region, region) in regions.iter().zip(REGIONS) {
            if taken & region != 0 {
                hash.update(&of_region.text.digest128().to_le_bytes());
            }
        }
        for set in [links, &images] {
            let mut members: Vec<u64> = set
                .iter()
                .filter(|(_, regions)| regions & taken != 0)
                .map(|(member, _)| *member)
                .collect();
            members.sort_unstable();
            members.dedup();
            hash.update(&(members.len() as u64).to_le_bytes());
            for member in members {
                hash.update(&member.to_le_bytes());
            }
        }
        let mut mask = Mask::default();
        let mut of_title = RegionHashes::default();
        mask.add(title.unwrap_or_default(), true, BODY, &mut of_title);
        mask.finish(&mut of_title);
        of_title.end_batch();
        hash.update(&of_title.regions[0].text.digest().to_le_bytes());
        hash.update(&data.to_le_bytes());
        ContentHash(hash.digest128())
    }

    fn main_region(&self, links: &[(u64, Regions)]) -> Regions {
        let has = |set: &[(u64, Regions)], region| set.iter().any(|(_, it)| it & region != 0);
        let has_any = |region| self.size(region) > 0 || has(links, region);
        let has_share = |region, share| self.size(region) * share >= self.size(BODY);
        let main_share = if self.size(MAIN) < PARAGRAPH {
            MAIN_SHARE
        } else {
            LONG_MAIN_SHARE
        };
        if has_any(MAIN) && has_share(MAIN, main_share) {
            MAIN
        } else if self.articles == 1 && has_any(ARTICLE) && has_share(ARTICLE, ARTICLE_SHARE) {
            ARTICLE
        } else {
            BODY
        }
    }

    /// Size of a region in words.
    fn size(&self, region: Regions) -> u64 {
        let of_region = self.hashes.regions.iter().zip(REGIONS);
        let words = of_region
            .filter(|(_, it)| *it == region)
            .map(|(hash, _)| hash.words)
            .sum::<u64>();
        let images = self.hashes.images.iter();
        let images = images.filter(|(_, it)| it & region != 0).count() as u64;
        words + images * WORDS_OF_IMAGE
    }

    /// Returns whether the page would be left with nothing, or next to nothing, for no good reason.
    fn is_hollow(&self, main: Regions) -> bool {
        let size = self.size(main);
        let doubtful = if self.is_left_open || self.open.iter().any(|part| part.is_left_out()) {
            self.size(AROUND)
        } else {
            self.hashes.named_words
        };
        size == 0 || size < HOLLOW && doubtful >= MIN_DOUBTFUL.max(size * HOLLOW_SHARE)
    }
}

impl Part {
    fn is_left_out(self) -> bool {
        match self {
            Self::Foreign | Self::Aside | Self::Named => true,
            Self::Main | Self::Article | Self::Section | Self::Item => false,
        }
    }
}

fn plain_part(name: &str) -> Option<Part> {
    match name {
        "article" => Some(Part::Article),
        "section" => Some(Part::Section),
        _ => None,
    }
}

fn has_class(classes: &str, known: &[&str]) -> bool {
    classes
        .split_ascii_whitespace()
        .any(|class| known.iter().any(|known| known.eq_ignore_ascii_case(class)))
}

/// The hash of a link's target, without parameters that only identify readers or times of requests.
pub(super) fn link_hash(target: &str) -> u64 {
    if target.contains('?') {
        xxh3_64(without_volatile_parameters(target).as_bytes())
    } else {
        xxh3_64(target.as_bytes())
    }
}

/// A reference without parameters that do not identify its target.
fn without_volatile_parameters(reference: &str) -> String {
    let (path, query) = reference.split_once('?').unwrap_or((reference, ""));
    let mut name = path.to_owned();
    add_parameters(&mut name, query, is_token);
    name
}

fn add_parameters(name: &mut String, query: &str, is_left_out: fn(&str, &str) -> bool) {
    let mut separator = '?';
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if !is_left_out(key, value) {
            name.push(separator);
            name.push_str(parameter);
            separator = '&';
        }
    }
}

/// Returns whether a parameter is a token, a signature, a session or a tag for statistics: nothing that makes another page.
fn is_token(name: &str, value: &str) -> bool {
    const ALWAYS: [&str; 14] = [
        "_",
        "_token",
        "_wpnonce",
        "authenticity_token",
        "csrf",
        "csrf_token",
        "csrfmiddlewaretoken",
        "hmac",
        "jsessionid",
        "key-pair-id",
        "nonce",
        "phpsessid",
        "signature",
        "xsrf",
    ];
    // Others use these names for lists: only a long value is a token.
    const IF_LONG: [&str; 12] = [
        "auth",
        "hash",
        "key",
        "policy",
        "s",
        "session",
        "session_id",
        "sessionid",
        "sid",
        "sig",
        "token",
        "xid",
    ];
    let is_one_of = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let starts = |prefix: &str| {
        name.get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    is_one_of(&ALWAYS)
        || value.len() >= 16 && is_one_of(&IF_LONG)
        || starts("utm_")
        || starts("x-amz-")
        || starts("x-goog-")
}

/// The same of an image, or a version of it for caches.
fn is_token_or_version(name: &str, value: &str) -> bool {
    const NAMES: [&str; 22] = [
        "build",
        "cachebust",
        "cachebuster",
        "cb",
        "dc",
        "exp",
        "expires",
        "hash",
        "lb",
        "nocache",
        "rand",
        "random",
        "rev",
        "rnd",
        "sig",
        "t",
        "time",
        "timestamp",
        "ts",
        "v",
        "ver",
        "version",
    ];
    is_token(name, value) || NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The name of an image that a text of structured data names; other texts as they are.
pub(super) fn data_name(text: &str) -> Cow<'_, str> {
    const IMAGES: [&str; 7] = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg"];
    if !text.starts_with("http://") && !text.starts_with("https://") {
        return Cow::Borrowed(text);
    }
    let path = text.split(['?', '#']).next().unwrap_or(text);
    let path = path.to_ascii_lowercase();
    if IMAGES.iter().any(|extension| path.ends_with(extension)) {
        Cow::Owned(asset_name(text))
    } else {
        Cow::Owned(without_volatile_parameters(text))
    }
}

/// Name of an image, a sound or a video, independent of its server: its path without the host, which may be one of several.
/// Fingerprints that a build adds to a name, and volatile parameters, are left out.
fn asset_name(reference: &str) -> String {
    let reference = reference.trim();
    let reference = reference.split('#').next().unwrap_or(reference);
    let (path, query) = reference.split_once('?').unwrap_or((reference, ""));
    let path = match path.split_once("//") {
        Some((scheme, rest)) if scheme.is_empty() || scheme.ends_with(':') => {
            rest.find('/').map_or("", |slash| &rest[slash..])
        }
        Some(_) | None => path,
    };
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let mut name = String::with_capacity(path.len());
    let mut is_built = false;
    for segment in folder.split('/').filter(|segment| !segment.is_empty()) {
        let is_version = segment
            .trim_start_matches(|character: char| character.is_ascii_alphabetic())
            .trim_start_matches(['-', '_'])
            .parse::<u64>()
            .is_ok_and(|number| number > 100_000_000);
        if is_built && (is_version || is_fingerprint(segment)) {
            name.push('*');
        } else {
            name.push_str(segment);
        }
        name.push('/');
        is_built |= [
            "static", "assets", "build", "builds", "dist", "_next", "bundles", "cache",
        ]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(segment));
    }
    let (stem, extension) = file.rsplit_once('.').unwrap_or((file, ""));
    let separators = ['-', '.', '_'];
    let has_name = stem
        .split(separators)
        .any(|token| token.len() > 1 && !is_fingerprint(token));
    for token in stem.split(separators) {
        if has_name && is_fingerprint(token) {
            name.push('*');
        } else {
            name.push_str(token);
        }
        name.push('-');
    }
    name.push_str(extension);
    add_parameters(&mut name, query, is_token_or_version);
    name
}

/// Returns whether a part of a name looks like the fingerprint of a build: hexadecimal digits of at least four bytes, or
/// characters that no word has in this mixture.
fn is_fingerprint(token: &str) -> bool {
    let bytes = token.as_bytes();
    let has = |test: fn(&u8) -> bool| bytes.iter().any(test);
    let is_hex = bytes.iter().all(u8::is_ascii_hexdigit);
    let has_digit = has(u8::is_ascii_digit);
    match bytes.len() {
        8.. if is_hex => has_digit && has(u8::is_ascii_alphabetic),
        8..=12 => {
            has_digit
                && has(u8::is_ascii_lowercase)
                && has(u8::is_ascii_uppercase)
                && bytes.iter().all(u8::is_ascii_alphanumeric)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
