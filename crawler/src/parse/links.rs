//! Resolves references to their targets: they are collected as text while the page streams by, and resolved at its end, because a
//! `<base>` may come after the first links.

use std::{
    cell::LazyCell,
    collections::{HashMap, hash_map::Entry},
    hash::BuildHasherDefault,
    ops::Range,
};

use encoding_rs::Encoding;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    html::{TextKind, TextModel, decode},
    page::{Canonical, Link, LinkTexts, Via},
    url_key::{
        FingerprintHasher, Identity, ReferenceResolver, UrlKey, UrlKeyError, bare_path,
        has_foreign_scheme,
    },
};

use super::main_content::{Regions, link_hash};

/// Different canonical links of one page that are kept: two make it conflicting already.
const MAX_CANONICALS: usize = 16;

/// Bytes of the text of an anchor that are read: enough for [`LinkTexts::MAX_BYTES`] in character references and among spaces.
const MAX_RAW_TEXT_BYTES: usize = 512;

/// Links of a page for which there is room at first, with so many bytes each.
const USUAL_LINKS: usize = 64;
const USUAL_LINK_BYTES: usize = 32;

/// Returns whether a `rel` value holds `relation` (in lower case); tokens are separated by spaces or commas, as Google reads
/// them.
pub(super) fn rel_contains(rel: &str, relation: &str) -> bool {
    rel.split(|character: char| character.is_ascii_whitespace() || character == ',')
        .any(|token| token.eq_ignore_ascii_case(relation))
}

/// Returns whether a `rel` value forbids following the link (Google Search Central, "Qualify your outbound links").
pub(super) fn is_nofollow(rel: &str) -> bool {
    ["nofollow", "ugc", "sponsored"]
        .iter()
        .any(|relation| rel_contains(rel, relation))
}

/// A reference as it is written, decoded and without its fragment.
#[derive(Debug)]
struct RawLink {
    /// The place in the text of all of them.
    text: Range<usize>,
    via: Via,
    nofollow: bool,
    /// The place in the content of the page.
    regions: Regions,
}

/// The references of a page in document order, each text once.
#[derive(Debug)]
pub(super) struct RawLinks {
    max_links: usize,
    max_bytes: usize,
    links: Vec<RawLink>,
    /// All references, one after the other.
    text: String,
    /// Places in `links`, by the hash of the reference.
    known: HashMap<u64, usize, BuildHasherDefault<FingerprintHasher>>,
    /// Links beyond the limits.
    left_out: u64,
    /// A link leads to a route of an application.
    has_hash_routes: bool,
    /// Texts of anchors, by the places in `links`.
    texts: LinkTexts,
    open: OpenText,
}

/// The text of the anchor that is open.
#[derive(Debug, Default)]
struct OpenText {
    /// The place of its link; `None`: no text is wanted.
    link: Option<usize>,
    /// The first [`MAX_RAW_TEXT_BYTES`], as they are written.
    raw: Vec<u8>,
    /// The alternative text of the first image in it that has one.
    alternative: String,
}

/// Returns whether a fragment with its `#` is the name of a route: `#/about` or `#!/about`, but not the `#/` and `#!` of buttons.
fn is_route(fragment: &str) -> bool {
    let route = fragment.strip_prefix('#').unwrap_or_default();
    let route = route.strip_prefix('!').unwrap_or(route);
    route.len() > 1 && route.starts_with('/')
}

/// The result for a reference.
#[derive(Debug, Default)]
struct PlacedReference {
    /// The place among the links, if there was room for it.
    link: Option<usize>,
    /// The link can lead to another page.
    leads_somewhere: bool,
}

/// Facts of the links of a page that are known once they are resolved.
#[derive(Debug)]
pub(super) struct Resolved {
    /// The links of the page's content, as hashes with the regions that they are in.
    pub(super) in_content: Vec<(u64, Regions)>,
    /// Links beyond the limits.
    pub(super) left_out: u64,
}

impl OpenText {
    fn add(&mut self, text: &[u8]) {
        let room = MAX_RAW_TEXT_BYTES - self.raw.len();
        self.raw.extend_from_slice(&text[..text.len().min(room)]);
    }

    /// The text, without a character that was cut.
    fn whole(&self) -> &[u8] {
        let cut = std::str::from_utf8(&self.raw).err();
        let cut = cut.filter(|cut| cut.error_len().is_none());
        &self.raw[..cut.map_or(self.raw.len(), |cut| cut.valid_up_to())]
    }
}

impl RawLinks {
    /// An empty list of at most `max_links` with `max_bytes` together, as they are written and as absolute URLs.
    pub(super) fn new(max_links: usize, max_bytes: usize) -> Self {
        Self {
            max_links,
            max_bytes,
            links: Vec::with_capacity(USUAL_LINKS),
            text: String::with_capacity(USUAL_LINKS * USUAL_LINK_BYTES),
            known: HashMap::with_capacity_and_hasher(USUAL_LINKS, BuildHasherDefault::default()),
            left_out: 0,
            has_hash_routes: false,
            texts: LinkTexts::default(),
            open: OpenText::default(),
        }
    }

    /// Adds a reference; false when it cannot lead to another page. Such that cannot lead to any page
    /// are left out here already, so that they do not count towards the limit.
    pub(super) fn add(&mut self, reference: &str, via: Via, nofollow: bool) -> bool {
        self.place(reference, via, nofollow, 0).leads_somewhere
    }

    /// Adds the reference of an anchor in these regions of the page's content, as [`RawLinks::add`] does. What
    /// [`RawLinks::take_text`] takes from now on is its text, until [`RawLinks::end_text`].
    pub(super) fn add_anchor(&mut self, reference: &str, nofollow: bool, regions: Regions) -> bool {
        self.end_text();
        let placed = self.place(reference, Via::Link, nofollow, regions);
        let has_no_text = |link: &usize| self.texts.get(*link).is_empty();
        self.open.link = placed.link.filter(has_no_text);
        placed.leads_somewhere
    }

    /// Takes a piece of text as it is written.
    #[inline]
    pub(super) fn take_text(&mut self, text: &[u8]) {
        if self.open.link.is_some() {
            self.open.add(text);
        }
    }

    /// Takes the alternative text of an image, or of an area.
    pub(super) fn take_alternative(&mut self, text: &str) {
        if self.open.link.is_some() && self.open.alternative.is_empty() {
            self.open.alternative.push_str(text);
        }
    }

    /// The anchor has ended, if one was open.
    pub(super) fn end_text(&mut self) {
        let Some(link) = self.open.link.take() else {
            return;
        };
        let raw = self.open.whole();
        match std::str::from_utf8(raw) {
            Ok(text) if !raw.contains(&b'&') => self.texts.set(link, text),
            Ok(_) | Err(_) => {
                let text = decode(raw, TextKind::Model(TextModel::Data));
                self.texts.set(link, &text);
            }
        }
        if self.texts.get(link).is_empty() {
            self.texts.set(link, &self.open.alternative);
        }
        self.open.raw.clear();
        self.open.alternative.clear();
    }

    /// Returns whether a link leads to a route of an application on the site, as `#/about`.
    pub(super) fn has_hash_routes(&self) -> bool {
        self.has_hash_routes
    }

    /// Adds a reference.
    fn place(
        &mut self,
        reference: &str,
        via: Via,
        nofollow: bool,
        regions: Regions,
    ) -> PlacedReference {
        let reference = trim_reference(reference);
        let fragment = memchr::memchr(b'#', reference.as_bytes());
        let (reference, fragment) = reference.split_at(fragment.unwrap_or(reference.len()));
        if has_foreign_scheme(reference) {
            return PlacedReference::default();
        }
        self.has_hash_routes |= is_route(fragment) && !reference.contains("//");
        let hash = xxh3_64(reference.as_bytes());
        let known = self.known.get(&hash).copied();
        let is_same = |place: &usize| self.text[self.links[*place].text.clone()] == *reference;
        let place = known.filter(is_same);
        let place = if let Some(place) = place {
            let known = &mut self.links[place];
            known.nofollow &= nofollow;
            known.regions |= regions;
            Some(place)
        } else if self.links.len() < self.max_links
            && self.text.len() + reference.len() <= self.max_bytes
        {
            let begin = self.text.len();
            self.text.push_str(reference);
            self.known.insert(hash, self.links.len());
            self.links.push(RawLink {
                text: begin..self.text.len(),
                via,
                nofollow,
                regions,
            });
            Some(self.links.len() - 1)
        } else {
            self.left_out += 1;
            None
        };
        PlacedReference {
            link: place,
            leads_somewhere: !reference.is_empty(),
        }
    }

    /// Resolves everything on the page at `page` into `links`; also as it is written, where the identity leaves parameters out by default.
    pub(super) fn resolve(
        mut self,
        page: &UrlKey,
        base: &Url,
        identity: &Identity,
        encoding: &'static Encoding,
        links: &mut LinkList,
    ) -> Resolved {
        self.end_text();
        // What is resolved is not held twice.
        drop(self.known);
        let mut resolver = ReferenceResolver::new(identity, base, encoding);
        // What is dropped by default may be content, which the crawl finds out.
        let as_written = LazyCell::new(|| identity.as_written());
        links.known.reserve(self.links.len());
        links.links.reserve(self.links.len());
        let own = bare_path(page);
        let mut in_content = Vec::with_capacity(self.links.len());
        let (mut bytes, mut left_out) = (0, self.left_out);
        for (number, raw) in self.links.into_iter().enumerate() {
            let reference = &self.text[raw.text.clone()];
            let target = match resolver.resolve(reference) {
                Err(UrlKeyError::TooLong) => resolver.cut(reference),
                target => target.ok(),
            };
            if let Some(target) = target {
                if raw.regions != 0 && !is_spelling(&target, &own) {
                    in_content.push((link_hash(target.as_str()), raw.regions));
                }
                if bytes + target.as_str().len() > self.max_bytes {
                    left_out += 1;
                    continue;
                }
                let may_drop = memchr::memchr3(b'?', b';', b'(', reference.as_bytes()).is_some()
                    && identity.drops_defaults();
                let written = may_drop.then(|| as_written.resolve(base, reference, encoding));
                let written = written.and_then(Result::ok);
                let written = written.filter(|written| *written != target);
                for target in [Some(target), written].into_iter().flatten() {
                    bytes += target.as_str().len();
                    let link = Link {
                        target,
                        via: raw.via,
                        nofollow: raw.nofollow,
                    };
                    links.add_with_text(link, (&self.texts, number));
                }
            }
        }
        Resolved {
            in_content,
            left_out,
        }
    }
}

/// Returns whether a link without a query leads to the page of this bare path: its spellings have other links to themselves.
fn is_spelling(target: &UrlKey, own: &str) -> bool {
    let Some((begin, rest)) = target.as_str().split_at_checked(own.len()) else {
        return false;
    };
    // Below the root a spelling goes on with a slash, a parameter or an ending.
    begin.eq_ignore_ascii_case(own)
        && (own.ends_with('/') || rest.is_empty() || rest.starts_with(['/', ';', '.']))
        && !rest.contains('?')
        && bare_path(target) == own
}

/// Resolved links, each target once, at its first place; one occurrence that may be followed is enough to follow it.
#[derive(Debug, Default)]
pub(super) struct LinkList {
    pub(super) links: Vec<Link>,
    pub(super) texts: LinkTexts,
    /// Places in `links`, by the fingerprint of the target.
    known: HashMap<u64, usize, BuildHasherDefault<FingerprintHasher>>,
}

impl LinkList {
    /// Adds a link, or lets a known one be followed.
    pub(super) fn add(&mut self, link: Link) {
        self.place(link);
    }

    /// The same of a link that has this text; the first of its texts counts.
    fn add_with_text(&mut self, link: Link, text: (&LinkTexts, usize)) {
        let place = self.place(link);
        if self.texts.get(place).is_empty() {
            self.texts.copy_text(place, text);
        }
    }

    /// Adds a link, and returns its place.
    fn place(&mut self, link: Link) -> usize {
        match self.known.entry(link.target.fingerprint()) {
            Entry::Occupied(known) => {
                let place = *known.get();
                self.links[place].nofollow &= link.nofollow;
                place
            }
            Entry::Vacant(free) => {
                free.insert(self.links.len());
                self.links.push(link);
                self.links.len() - 1
            }
        }
    }
}

/// The canonical links of a page, from its head and its headers.
#[derive(Debug, Default)]
pub(super) struct Canonicals {
    targets: Vec<UrlKey>,
    /// One was empty, unparsable or not http(s).
    pub(super) has_bad: bool,
    /// One has another scheme, or another host, than the site, and means it by another name.
    pub(super) has_other_scheme: bool,
    pub(super) has_other_host: bool,
}

impl Canonicals {
    /// Adds one canonical link.
    pub(super) fn add(
        &mut self,
        base: &Url,
        reference: &str,
        identity: &Identity,
        encoding: &'static Encoding,
    ) {
        let reference = trim_reference(reference);
        if reference.is_empty() {
            self.has_bad = true;
            return;
        }
        let target = identity.resolve(base, reference, encoding);
        if let (Ok(target), Some(names)) = (&target, &identity.names)
            && let Ok(written) = base.join(reference)
            && let Ok(written) = Identity::default().parse(written.as_str())
            && names.names().contains(&written.origin())
        {
            self.has_other_scheme |= written.scheme() != target.scheme();
            self.has_other_host |= written.host_str() != target.host_str();
        }
        match target {
            Ok(target)
                if self.targets.contains(&target) || self.targets.len() >= MAX_CANONICALS => {}
            Ok(target) => self.targets.push(target),
            Err(_) => self.has_bad = true,
        }
    }

    /// The result of all canonical links.
    pub(super) fn judge(&self, own: &UrlKey) -> Canonical {
        match &*self.targets {
            [] => Canonical::Absent,
            [target] if target == own => Canonical::Itself,
            [target] => Canonical::Other(target.clone()),
            [_, _, ..] => Canonical::Conflicting,
        }
    }

    /// The targets, as things that were discovered.
    pub(super) fn targets(&self) -> impl Iterator<Item = &UrlKey> {
        self.targets.iter()
    }
}

/// The base URL of a document: its first `<base href>`, resolved against its own URL. A base that is not http(s) is ignored.
pub(super) fn base_url(own: Url, base: Option<&str>) -> Url {
    let joined = base.and_then(|base| own.join(trim_reference(base)).ok());
    joined
        .filter(|base| matches!(base.scheme(), "http" | "https") && base.has_host())
        .unwrap_or(own)
}

/// Leading and trailing control characters and spaces are not part of a URL (WHATWG URL section 4.4).
pub(super) fn trim_reference(reference: &str) -> &str {
    let is_outer = |byte: Option<&u8>| byte.is_some_and(|byte| *byte <= b' ');
    let bytes = reference.as_bytes();
    if is_outer(bytes.first()) || is_outer(bytes.last()) {
        reference.trim_matches(|character| character <= ' ')
    } else {
        reference
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::UTF_8;

    use super::*;
    use crate::parse::tests::check_rows;

    #[test]
    fn references_become_keys_in_document_order() {
        let page = UrlKey::from_normalised("https://example.com/a/b?q").unwrap();
        let identity = Identity::default();
        // Those with `!` in front are not to be followed, unless another one is.
        let rows = [
            "c | / => https://example.com/a/c, https://example.com/",
            " => https://example.com/a/b?q",
            "#x | #y => https://example.com/a/b?q",
            " \n/x\t => https://example.com/x",
            "//other.example/x => https://other.example/x",
            "http:/x => http://x/",
            "a:b/c | mailto:x | JavaScript:x | java\nscript:x =>",
            "./a:b => https://example.com/a/a:b",
            "http:// | https://[x =>",
            ":x => https://example.com/a/:x",
            "!x | x => https://example.com/a/x",
            "x | !x => https://example.com/a/x",
            "!x | /a/x#y => https://example.com/a/x",
            "!x | !x => !https://example.com/a/x",
        ];
        check_rows(&rows, |references| {
            let mut raw = RawLinks::new(100, 10_000);
            for written in references.split(" | ") {
                let reference = written.trim_start_matches('!');
                raw.add(reference, Via::Link, written.starts_with('!'));
            }
            let mut links = LinkList::default();
            raw.resolve(&page, &page.to_url(), &identity, UTF_8, &mut links);
            let shown = links.links.iter().map(|link| {
                let mark = if link.nofollow { "!" } else { "" };
                format!("{mark}{}", link.target.as_str())
            });
            shown.collect::<Vec<_>>().join(", ")
        });
    }

    #[test]
    fn bytes_of_all_links_are_bounded() {
        let check = |base: &str, references: &[&str], taken: usize, left_out: u64| {
            let mut raw = RawLinks::new(100, 60);
            for reference in references {
                raw.add(reference, Via::Link, false);
            }
            let page = UrlKey::from_normalised(base).unwrap();
            let (base, identity) = (page.to_url(), Identity::default());
            let mut links = LinkList::default();
            let resolved = raw.resolve(&page, &base, &identity, UTF_8, &mut links);
            let found = (links.links.len(), resolved.left_out);
            assert_eq!(found, (taken, left_out), "{base} {references:?}");
        };
        let long = "https://h.example/0123456789abcdef";
        check("https://h.example/", &["/a", "/b", "/c"], 3, 0);
        check("https://h.example/", &[long, &long.replace('0', "x")], 1, 1);
        // Short references below a long base are long URLs.
        let base = format!("https://h.example/{}/", "d".repeat(30));
        check(&base, &["a", "b", "c"], 1, 2);
    }

    #[test]
    fn relations_are_separated_by_spaces_or_commas() {
        assert!(is_nofollow("noopener NOFOLLOW"));
        assert!(is_nofollow("external,ugc"));
        assert!(is_nofollow("sponsored"));
        assert!(!is_nofollow("nofollows"));
        assert!(!is_nofollow(""));
    }

    #[test]
    fn base_is_resolved_and_checked() {
        let check = |base: Option<&str>, expected: &str| {
            let own = Url::parse("https://example.com/a/b").unwrap();
            assert_eq!(base_url(own, base).as_str(), expected, "{base:?}");
        };
        check(None, "https://example.com/a/b");
        check(Some("/x/"), "https://example.com/x/");
        check(Some(" //other.example/ "), "https://other.example/");
        check(Some("data:text/plain,x"), "https://example.com/a/b");
        check(Some("javascript:x"), "https://example.com/a/b");
        check(Some("https://[x"), "https://example.com/a/b");
    }
}
