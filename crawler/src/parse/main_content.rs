//! The main content of a page: the hash that shows whether the page changed.
//!
//! It covers the text of the main part, its images and links as sets, the title, and the structured data. The main part is
//! `main`, or without one the only `article`, if it has a large part of the text; else the body. Left out are navigation,
//! footers, asides, page headers, advertising, scripts, templates and fallbacks for readers without scripts. Attributes count
//! only on links and images, so tokens of forms and build numbers of assets never count. Dates and counts in the text are blanks
//! ([`text`]).
//!
//! Markup can be wrong: content is in a `div` that is called a sidebar, or after a `nav` without an end tag. When little of a
//! page is left, the parts around it count too, so that no change is missed.
//!
//! Memory has hashes, text that was not read yet, up to 4 KiB of each region, and one number for each link and image. Elements are recognised by their tags alone; in
//! broken markup the same bytes still give the same hash.

mod blocks;
mod buffer;
mod filter;
mod parts;
mod stream;
mod text;
mod words;

use std::borrow::Cow;

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

pub(super) use self::parts::{Part, is_comment, part_of};
use self::{blocks::TextBlocks, parts::OpenParts, text::TextHashes};
use super::element::Element;
use crate::{
    html::Text,
    page::{ContentHash, PageText},
    url_key::UrlKey,
};

/// A place that text is in, as a bit: the body, the main part by name, or an article.
pub(super) type Regions = u8;

const BODY: Regions = 1;
const ARTICLE: Regions = 1 << 1;
const MAIN: Regions = 1 << 2;
/// Marks text that is left out of the others.
const AROUND: Regions = 1 << 3;

/// Marks text in [`AROUND`] that is left out only because of the name of a class.
const NAMED: Regions = 1 << 4;

/// In the order of their bits; what is hashed are those without [`NAMED`].
const REGIONS: [Regions; 5] = [BODY, ARTICLE, MAIN, AROUND, NAMED];

/// Images that are taken of a page; as many as an entry may have and some.
const MAX_IMAGES: usize = 2_000;

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

/// Words of the main content below which a page without images, frames and links there is nobody's copy: "No entries" of two lists is
/// no evidence that they are one page.
const MIN_OWN_WORDS: u64 = 20;

/// Gathers the hash while the page goes by.
#[derive(Debug)]
pub(super) struct MainContent {
    text: TextHashes,
    open: OpenParts,
    images: Vec<(u64, Regions)>,
    has_frames: bool,
}

impl MainContent {
    /// Nothing yet of the page at `url`, whose text is read as blocks or not.
    pub(super) fn of_page(url: &UrlKey, reads_blocks: bool) -> Self {
        let blocks = if reads_blocks {
            TextBlocks::of_page(url)
        } else {
            TextBlocks::without_blocks()
        };
        Self {
            text: TextHashes::with_blocks(blocks),
            open: OpenParts::default(),
            images: Vec::new(),
            has_frames: false,
        }
    }

    /// A tag that divides text goes by.
    #[inline]
    pub(super) fn divide(&mut self) {
        self.text.divide();
    }

    /// Takes a frame by its reference.
    pub(super) fn frame(&mut self, reference: &str) {
        let name = asset_name(reference);
        self.has_frames = true;
        self.text.image(xxh3_64(name.as_bytes()));
    }

    /// Takes the start tag of an element that can be a part of the page, and its part.
    pub(super) fn start(&mut self, element: Element, part: Option<Part>) {
        self.open.start(element, part);
        self.text.set_regions(self.open.regions());
    }

    /// Takes the end tag of such an element.
    pub(super) fn end(&mut self, element: Element) {
        self.open.end(element);
        self.text.set_regions(self.open.regions());
    }

    /// The parts that are open.
    pub(super) fn open(&self) -> &OpenParts {
        &self.open
    }

    /// Takes a piece of a text node as it is written.
    #[inline]
    pub(super) fn text(&mut self, text: Text<'_>) {
        self.text.add(text);
    }

    /// The text node has ended.
    #[inline]
    pub(super) fn end_text(&mut self) {
        self.text.end_word();
    }

    /// Takes an image by its reference, and its alternative text.
    pub(super) fn image(&mut self, reference: &str, alternative: Option<&str>) {
        if self.images.len() < MAX_IMAGES {
            let name = asset_name(reference);
            let regions = self.open.regions();
            let name = xxh3_64(name.as_bytes());
            self.images.push((name, regions));
            self.text.image(name);
        }
        if let Some(text) = alternative {
            self.text.add(Text::alone(text.as_bytes()));
            self.text.end_word();
        }
    }

    /// The hash of a page with these links (hashes, and their regions), title and structured data; and its text.
    pub(super) fn finish(
        mut self,
        links: &[(u64, Regions)],
        title: Option<&str>,
        data: u64,
    ) -> (ContentHash, PageText) {
        self.text.finish();
        let main = self.main_region(links);
        let taken = if self.is_hollow(main) {
            main | AROUND
        } else {
            main
        };
        let mut hash = Xxh3Default::new();
        // Never NAMED: its text is in AROUND.
        for region in REGIONS {
            if taken & region != 0 {
                hash.update(&self.text.hash(region).to_le_bytes());
            }
        }
        let mut addresses = 0;
        for set in [links, &self.images] {
            let mut members: Vec<u64> = set
                .iter()
                .filter(|(_, regions)| regions & taken != 0)
                .map(|(member, _)| *member)
                .collect();
            members.sort_unstable();
            members.dedup();
            addresses += members.len();
            self.text.blocks().addresses(&members);
            hash.update(&(members.len() as u64).to_le_bytes());
            for member in members {
                hash.update(&member.to_le_bytes());
            }
        }
        let regions = REGIONS.iter().filter(|region| taken & **region != 0);
        let words: u64 = regions.map(|region| self.text.words(*region)).sum();
        self.text.begin_again();
        self.text
            .add(Text::alone(title.unwrap_or_default().as_bytes()));
        self.text.finish();
        hash.update(&self.text.hash(BODY).to_le_bytes());
        hash.update(&data.to_le_bytes());
        let mut text = self.text.into_blocks().finish();
        if words < MIN_OWN_WORDS && addresses == 0 && !self.has_frames {
            text.whole = 0;
        }
        (ContentHash(hash.digest128()), text)
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
        } else if self.open.articles() == 1 && has_any(ARTICLE) && has_share(ARTICLE, ARTICLE_SHARE)
        {
            ARTICLE
        } else {
            BODY
        }
    }

    /// Size of a region in words.
    fn size(&self, region: Regions) -> u64 {
        let images = self.images.iter();
        let images = images.filter(|(_, it)| it & region != 0).count() as u64;
        self.text.words(region) + images * WORDS_OF_IMAGE
    }

    /// Returns whether the page would be left with nothing, or next to nothing, for no good reason.
    fn is_hollow(&self, main: Regions) -> bool {
        let size = self.size(main);
        let doubtful = if self.open.is_left_open() {
            self.size(AROUND)
        } else {
            self.text.words(NAMED)
        };
        size == 0 || size < HOLLOW && doubtful >= MIN_DOUBTFUL.max(size * HOLLOW_SHARE)
    }
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
