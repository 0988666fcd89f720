//! The product of a crawl: what is known of one URL, and the one state it is in.
//!
//! Facts and judgement are kept apart: [`PageFacts`] is what an answer said, [`crate::verdict`]
//! decides from it, and the decision is stored beside the facts only so that people can read it.
//! Changed settings judge the stored facts again.

mod given;

use std::collections::BTreeMap;

use jiff::Timestamp;

pub use self::given::{Given, GivenExtensionsError, extensions_from_json};
use crate::url_key::UrlKey;

/// The number of a run of one site; the first run is 1. Every stored fact carries its run.
pub type RunId = u64;

/// The four states a known URL can be in. A summary adds them up to the number of known URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// Known and not yet decided: waiting, or being fetched (a crash needs no repair).
    Queued,
    /// In the sitemap.
    Listed,
    /// Decided: not in the sitemap, and why.
    Excluded,
    /// Could not be fetched after all tries (network, 5xx, 429).
    Failed,
}

impl State {
    /// The word for this state in the store and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Listed => "listed",
            Self::Excluded => "excluded",
            Self::Failed => "failed",
        }
    }

    /// The state that [`State::as_str`] calls `word`.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Queued, Self::Listed, Self::Excluded, Self::Failed]
            .into_iter()
            .find(|state| state.as_str() == word)
    }
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $state:ident, $text:literal;)*) => {
        /// Why a URL is in its state. The codes are stable: reports, the state and scripts use them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason { $($(#[$doc])* $name,)* }

        impl Reason {
            /// Every reason, in the order of the decision table.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable code, as in `excluded: {"noindex": 3}`.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// The state that this reason leads to.
            pub fn state(self) -> State {
                match self { $(Self::$name => State::$state,)* }
            }

            /// One line for people.
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

reasons! {
    /// Not decided yet.
    Queued = "queued", Queued, "waiting to be fetched";
    /// Answered 200, indexable, its own canonical, in scope.
    Listed = "listed", Listed, "in the sitemap";
    /// Listed without being fetched, by a `list-only` rule of the user.
    ListOnly = "list-only", Listed, "in the sitemap by a list-only rule, not fetched";
    /// Listed without being fetched, because an input of the user's names it.
    Given = "given", Listed, "in the sitemap because an input names it, not fetched";
    /// Was listed before and answered 404 for the first time: a second 404 at least an hour later takes it out.
    KeptGoneOnce = "kept-gone-once", Listed, "still in the sitemap: one 404 is no proof that it is gone";
    /// Was listed before and could not be fetched, which proves nothing; listed as its last good answer had it.
    KeptUnreachable = "kept-unreachable", Listed, "still in the sitemap, as its last good answer had it: could not be fetched this time";
    /// Was listed before and is still waiting, because the run ended at a limit; listed as its last good answer had it.
    KeptNotReached = "kept-not-reached", Listed, "still in the sitemap, as its last good answer had it: not reached this time";
    /// Disallowed by robots.txt (RFC 9309 section 2.2.2).
    RobotsDisallowed = "robots-disallowed", Excluded, "disallowed by robots.txt";
    /// robots.txt could not be read, so nothing may be fetched (RFC 9309 section 2.3.1.4).
    RobotsUnreachable = "robots-unreachable", Failed, "robots.txt could not be read";
    /// No answer after all tries.
    NetworkError = "network-error", Failed, "could not be fetched: network error or time-out";
    /// 5xx or 429 after all tries.
    ServerError = "server-error", Failed, "the server answered 5xx or 429";
    /// 404 or 410.
    Gone = "gone", Excluded, "answered 404 or 410";
    /// 401, 403, 451 and other 4xx.
    ClientError = "client-error", Excluded, "answered 401, 403, 451 or another 4xx";
    /// 3xx into the scope; the target is judged for itself.
    Redirected = "redirected", Excluded, "redirects to another URL";
    /// 3xx out of the scope.
    RedirectedOutOfScope = "redirected-out-of-scope", Excluded, "redirects out of the crawl's scope";
    /// The chain comes back to itself.
    RedirectLoop = "redirect-loop", Excluded, "redirects in a loop";
    /// More than ten hops.
    TooManyRedirects = "too-many-redirects", Excluded, "redirects more than 10 times";
    /// A 3xx without a usable `Location`.
    BadRedirect = "bad-redirect", Excluded, "redirects without a usable target";
    /// 204, 205, 206 unasked, another odd 2xx, or 200 with an empty body.
    Empty = "empty", Excluded, "answered without content";
    /// A meta refresh of 0 seconds to another URL.
    RefreshRedirect = "refresh-redirect", Excluded, "a meta refresh sends readers to another URL at once";
    /// `noindex` or `none`, in a meta element or a header.
    Noindex = "noindex", Excluded, "says noindex";
    /// The same, and a canonical link to another URL.
    NoindexAndCanonical = "noindex-and-canonical", Excluded, "says noindex and names another canonical URL";
    /// `unavailable_after` is past.
    UnavailableAfter = "unavailable-after", Excluded, "its unavailable_after date is past";
    /// One canonical link, to another URL in scope.
    CanonicalElsewhere = "canonical-elsewhere", Excluded, "names another URL as canonical";
    /// One canonical link, out of the scope.
    CanonicalForeign = "canonical-foreign", Excluded, "names a canonical URL outside this site's scope";
    /// The canonical URL is no page that can be listed.
    CanonicalBroken = "canonical-broken", Excluded, "names a canonical URL that cannot be listed";
    /// The canonical links lead back to the page.
    CanonicalLoop = "canonical-loop", Excluded, "its canonical URLs form a loop";
    /// Images, style sheets, scripts, fonts, archives, feeds, sitemaps, data.
    NotAPage = "not-a-page", Excluded, "not a page or a listed kind of document";
    /// A feed that something links to: it was read for what it names, and is no known URL.
    SeedDocument = "seed-document", Excluded, "read as a feed, not counted as a page";
    /// The decoded body is over the cap.
    TooLarge = "too-large", Excluded, "larger than the size limit";
    /// The body ended before its announced end.
    CutShort = "cut-short", Excluded, "the answer was cut short";
    /// The body's content coding is unknown, stacked or broken.
    Undecodable = "undecodable", Excluded, "its content coding cannot be decoded";
    /// The parser gave up when not even the head could be read.
    Unparsable = "unparsable", Excluded, "the HTML could not be read within its limits";
    /// An `exclude` rule, or no `include` rule matches.
    ExcludedByRule = "excluded-by-rule", Excluded, "left out by an include or exclude rule";
    /// A `follow-only` rule.
    FollowOnly = "follow-only", Excluded, "fetched for its links only";
    /// Two URLs that differ only in characters which a sitemap must write percent-encoded: the other one is listed.
    DuplicateSpelling = "duplicate-spelling", Excluded, "listed under another spelling of the same URL";
    /// Its URL is too long once it is percent-encoded as a sitemap must have it.
    Unwritable = "unwritable-url", Excluded, "its URL cannot be written in a sitemap";
    /// What would be written of it breaks a rule of the protocol.
    EntryRefused = "entry-refused", Excluded, "its entry would break a rule of the sitemap protocol";
    /// A page rule's selector matched.
    PageRule = "page-rule", Excluded, "left out by a page rule";
    /// Deeper than `max_depth`.
    TooDeep = "too-deep", Excluded, "more hops away than max_depth";
    /// The task that handled the page panicked; the run goes on.
    InternalError = "internal-error", Failed, "an internal error in arpent: please report it";
}

impl Reason {
    /// The reason that [`Reason::code`] calls `code`.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|reason| reason.code() == code)
    }
}

/// How a URL was found first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// The start URL itself.
    Start,
    /// A link on a page (a, area, iframe, frame, link next/prev, `Link` header).
    Link,
    /// The target of a redirect.
    Redirect,
    /// The target of a meta refresh.
    Refresh,
    /// The target of a canonical link.
    Canonical,
    /// An alternate version (hreflang, amphtml).
    Alternate,
    /// An input of the user's that names URLs.
    Input,
    /// A file in the folder that the site is made of.
    File,
    /// An entry of a sitemap.
    Sitemap,
    /// An entry of a feed.
    Feed,
    /// An entry of a list that the user gave.
    List,
    /// It was listed by an earlier run, and nothing of this one led to it.
    Earlier,
}

impl Via {
    /// The word for this in the store and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Link => "link",
            Self::Redirect => "redirect",
            Self::Refresh => "refresh",
            Self::Canonical => "canonical",
            Self::Alternate => "alternate",
            Self::Input => "input",
            Self::File => "file",
            Self::Sitemap => "sitemap",
            Self::Feed => "feed",
            Self::List => "list",
            Self::Earlier => "earlier",
        }
    }

    /// Whether a document named it, and not a page: without a link to it, it is an orphan.
    pub fn is_seed(self) -> bool {
        match self {
            Self::Sitemap | Self::Feed | Self::List => true,
            Self::Start
            | Self::Link
            | Self::Redirect
            | Self::Refresh
            | Self::Canonical
            | Self::Alternate
            | Self::Input
            | Self::File
            | Self::Earlier => false,
        }
    }

    /// The value that [`Via::as_str`] calls `word`.
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Self::Start,
            Self::Link,
            Self::Redirect,
            Self::Refresh,
            Self::Canonical,
            Self::Alternate,
            Self::Input,
            Self::File,
            Self::Sitemap,
            Self::Feed,
            Self::List,
            Self::Earlier,
        ]
        .into_iter()
        .find(|via| via.as_str() == word)
    }
}

/// A 128-bit hash (XXH3) of what a page says, with the version of the algorithm that made it: a new
/// version must not count as a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash(pub u128);

impl ContentHash {
    /// Version of what is hashed. 1: the decoded body, byte for byte. 2: the text of the main part without what
    /// moves by itself, its links and images, the title, and structured data without dates. 3: the same, with a
    /// better idea of which part is the main one.
    pub const VERSION: u32 = 3;

    /// The version that hashed the decoded body, as [`PageFacts::body_hash`] is.
    pub const OF_BODY: u32 = 1;

    /// Stands for what is known of a document whose body is never read: see [`PageFacts::document_tag`].
    pub const OF_DOCUMENT: u32 = 1_000;
}

/// Dates that a page states of itself, in W3C format and as precise as they are stated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatedDates {
    /// `dateModified` of the page's main entity in structured data (JSON-LD).
    pub json_ld: Option<String>,
    /// The best of its metas and microdata (`article:modified_time` and its like).
    pub meta: Option<String>,
    /// A `time` element that is called the date of an update.
    pub time_element: Option<String>,
    /// The earliest date of publication: it was not changed before.
    pub published: Option<String>,
}

/// Robots directives that matter for listing and following, summed over metas and headers for
/// `robots` and the bots of the settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Directives {
    /// `noindex` or `none` was said.
    pub noindex: bool,
    /// `nofollow` or `none` was said.
    pub nofollow: bool,
    /// The earliest `unavailable_after`.
    pub unavailable_after: Option<Timestamp>,
    /// `noimageindex` was said: the images of the page are not for search engines.
    pub noimageindex: bool,
}

/// What the page says of its canonical URL, after normalisation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Canonical {
    /// No canonical link, or one that is empty, unparsable or not http(s).
    #[default]
    Absent,
    /// The page itself.
    Itself,
    /// Another URL, in scope or not.
    Other(UrlKey),
    /// Two different ones: treated as absent, and reported.
    Conflicting,
}

/// A meta refresh (or `Refresh` in markup) with its resolved target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refresh {
    /// Delay in whole seconds; 0 counts as a permanent redirect.
    pub delay_seconds: u32,
    /// Where it leads; the page itself means a reload.
    pub target: UrlKey,
}

/// What kind of thing the body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BodyKind {
    /// HTML or XHTML: parsed.
    Page,
    /// A document of a listed type (PDF and the like): listed, not parsed.
    Document,
    /// Anything else.
    #[default]
    Other,
}

/// How the body ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BodyEnd {
    /// All of it was read.
    Complete,
    /// Nobody wanted it (by its status or type); it was not read.
    #[default]
    Skipped,
    /// The decoded body passed the cap.
    TooLarge,
    /// The connection ended, or the coded stream broke off, before the announced end.
    CutShort,
    /// The content coding is unknown, stacked or broken; the text names it.
    Undecodable(String),
}

/// One link taken from a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where it leads, normalised.
    pub target: UrlKey,
    /// What kind of link.
    pub via: Via,
    /// `rel` holds nofollow, ugc or sponsored.
    pub nofollow: bool,
}

/// A version of a page in another language, or for another region, as the page names it (`hreflang`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LanguageVersion {
    /// The code as it is written: whether it is one is judged later. Trimmed, in lower case, without
    /// control characters, at most [`LanguageVersion::MAX_CODE_BYTES`] long.
    pub hreflang: String,
    /// Where the version is, normalised; often the page itself.
    pub target: UrlKey,
}

impl LanguageVersion {
    /// Longest code that is kept: the 35 bytes that RFC 5646 section 4.4.1 asks everybody to have room for, and some,
    /// so that a longer one is not taken for a code.
    pub const MAX_CODE_BYTES: usize = 48;

    /// A version; the code is cleaned as [`LanguageVersion::hreflang`] says.
    pub fn new(hreflang: &str, target: UrlKey) -> Self {
        let mut code = String::new();
        for character in hreflang.trim().chars() {
            if code.len() + character.len_utf8() > Self::MAX_CODE_BYTES {
                break;
            }
            if !character.is_control() {
                code.push(character.to_ascii_lowercase());
            }
        }
        Self {
            hreflang: code,
            target,
        }
    }
}

/// Everything an answer said, and nothing that was decided from it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageFacts {
    /// HTTP status.
    pub status: u16,
    /// Essence of `Content-Type` in lower case, if any.
    pub content_type: Option<String>,
    /// What the body is, by type and sniffing.
    pub kind: BodyKind,
    /// How the body ended.
    pub end: BodyEnd,
    /// Decoded bytes read.
    pub body_bytes: u64,
    /// Hash of what the page says, when it was read to its end; `None` for what is no page.
    pub content_hash: Option<ContentHash>,
    /// XXH3 (128 bits) of the decoded body, when it was read to its end.
    pub body_hash: Option<u128>,
    /// Fingerprint that pages share whose main text differs in few words, those of their own URLs aside; 0: it has
    /// no text. Where [`PageFacts::content_hash`] is known, unless an earlier version read the page.
    pub likeness: Option<u64>,
    /// What the page states of its dates.
    pub dates: StatedDates,
    /// `Last-Modified`, when readable.
    pub last_modified: Option<Timestamp>,
    /// The server's clock (`Date`) with this answer.
    pub date: Option<Timestamp>,
    /// `ETag`, as sent.
    pub etag: Option<String>,
    /// Robots directives.
    pub directives: Directives,
    /// Some of them came with a header, which an answer 304 need not repeat.
    pub robots_by_header: bool,
    /// The canonical link.
    pub canonical: Canonical,
    /// Meta refresh.
    pub refresh: Option<Refresh>,
    /// `Location` of a 3xx, resolved and normalised; `None` when missing or unusable.
    pub location: Option<UrlKey>,
    /// Date found by a page rule's selector, W3C format, checked.
    pub selected_lastmod: Option<String>,
    /// Values for own elements: what page rules selected, by prefix and name of the element, or fields
    /// of the input that the entry was made from, by their name. Each as a sitemap can hold it.
    pub selected_values: BTreeMap<String, String>,
    /// A page rule's exclude selector matched.
    pub excluded_by_page_rule: bool,
    /// Links in document order, deduplicated.
    pub links: Vec<Link>,
    /// Images of the page in document order, each once; `None` when nobody asked for them.
    pub images: Option<Vec<UrlKey>>,
    /// What the page and its headers say of its versions in other languages, ordered by code and target,
    /// each once; `None` when nobody asked for them.
    pub alternates: Option<Vec<LanguageVersion>>,
    /// Feeds of the site that the page names, as far as they may be followed.
    pub feeds: Vec<UrlKey>,
    /// Things worth a warning.
    pub warnings: Warnings,
    /// Text of the first `title`, trimmed, at most 200 characters.
    pub title: Option<String>,
    /// Fingerprint of everything that decides what is read from the same bytes; 0: not known. Facts that
    /// were read in another way than today's are not asked to be confirmed.
    pub read_as: u64,
}

impl PageFacts {
    /// Hash of the `ETag` of a document that is no page. The same one says that the document is the same; another one
    /// says little, because servers make it of times and of places on disks too. 0: it has none. `None`: it is a page,
    /// or nothing that is listed.
    pub fn document_tag(&self) -> Option<u128> {
        let hash = |etag: &String| xxhash_rust::xxh3::xxh3_128(etag.as_bytes());
        (self.kind == BodyKind::Document).then(|| self.etag.as_ref().map_or(0, hash))
    }

    /// These facts after an answer 304 confirmed them: what of its head replaces the stored one does
    /// (RFC 9110 section 15.4.5, RFC 9111 section 3.2), everything else stays: the `ETag` too, because another one
    /// would be that of a state which nobody has seen (RFC 9111 section 4.3.4). Directives of its headers come on
    /// top, and so does a canonical link where none was known.
    #[must_use]
    pub fn confirmed_by(mut self, answer: &Self) -> Self {
        if self.canonical == Canonical::Absent {
            self.canonical.clone_from(&answer.canonical);
        }
        self.last_modified = answer.last_modified.or(self.last_modified);
        self.date = answer.date.or(self.date);
        let (own, new) = (&mut self.directives, answer.directives);
        own.noindex |= new.noindex;
        own.nofollow |= new.nofollow;
        own.noimageindex |= new.noimageindex;
        let ends = [own.unavailable_after, new.unavailable_after];
        own.unavailable_after = ends.into_iter().flatten().min();
        self.robots_by_header |= answer.robots_by_header;
        self
    }
}

/// Warnings about one page. They never change the verdict by themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent flags, each counted in the report"
)]
pub struct Warnings {
    /// More links than the limit; the rest was not taken.
    pub links_cut: bool,
    /// No links, little text, scripts: probably rendered by JavaScript.
    pub script_shell: bool,
    /// Looks like an error page although it answered 200.
    pub soft_404: bool,
    /// The canonical link is empty, unparsable or not http(s).
    pub bad_canonical: bool,
    /// Several canonical links that differ: none counts.
    pub conflicting_canonicals: bool,
    /// HTML under a missing or wrong content type, recognised by sniffing.
    pub sniffed: bool,
    /// The parser gave up after the head; facts behind that point are missing.
    pub parse_cut: bool,
    /// A page rule could not be evaluated because the page is not tame enough for a tree.
    pub page_rule_skipped: bool,
    /// An `unavailable_after` value could not be read.
    pub bad_unavailable_after: bool,
    /// More images than an entry may have; the rest was not taken.
    pub images_cut: bool,
    /// More versions in other languages than the limit; the rest was not taken.
    pub alternates_cut: bool,
    /// A value for an own element is too long for a sitemap, and left out.
    pub long_selected_value: bool,
    /// It asks for a password.
    pub password_field: bool,
}

impl Warnings {
    /// Each flag with its stable code.
    pub fn codes(self) -> impl Iterator<Item = &'static str> {
        [
            (self.links_cut, "links-cut"),
            (self.script_shell, "script-shell"),
            (self.soft_404, "soft-404"),
            (self.bad_canonical, "bad-canonical"),
            (self.conflicting_canonicals, "conflicting-canonicals"),
            (self.sniffed, "sniffed-html"),
            (self.parse_cut, "parse-cut"),
            (self.page_rule_skipped, "page-rule-skipped"),
            (self.bad_unavailable_after, "bad-unavailable-after"),
            (self.images_cut, "images-cut"),
            (self.alternates_cut, "alternates-cut"),
            (self.long_selected_value, "long-selected-value"),
            (self.password_field, "password-field"),
        ]
        .into_iter()
        .filter_map(|(set, code)| set.then_some(code))
    }

    /// The flags behind a list of codes; unknown codes are ignored.
    pub fn from_codes<'a>(codes: impl Iterator<Item = &'a str>) -> Self {
        let mut warnings = Self::default();
        for code in codes {
            match code {
                "links-cut" => warnings.links_cut = true,
                "script-shell" => warnings.script_shell = true,
                "soft-404" => warnings.soft_404 = true,
                "bad-canonical" => warnings.bad_canonical = true,
                "conflicting-canonicals" => warnings.conflicting_canonicals = true,
                "sniffed-html" => warnings.sniffed = true,
                "parse-cut" => warnings.parse_cut = true,
                "page-rule-skipped" => warnings.page_rule_skipped = true,
                "bad-unavailable-after" => warnings.bad_unavailable_after = true,
                "images-cut" => warnings.images_cut = true,
                "alternates-cut" => warnings.alternates_cut = true,
                "long-selected-value" => warnings.long_selected_value = true,
                "password-field" => warnings.password_field = true,
                _ => {}
            }
        }
        warnings
    }
}

/// Whose answer the facts of a record are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Basis {
    /// That of the last attempt.
    #[default]
    Own,
    /// An earlier one that the last attempt confirmed: it was answered 304.
    Confirmed,
    /// The last good one, because what became of the last attempt is no evidence that the page is gone.
    Kept(Kept),
}

/// Why a page is judged by its last good answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What the page would be by the last attempt alone; [`Reason::Queued`] when there was none in this run.
    pub reason: Reason,
    /// When the first attempt since the last good answer failed; 1970 when none did.
    pub since: Timestamp,
    /// When it answered 404 first since then.
    pub gone_since: Option<Timestamp>,
    /// What happened, for people: `status 503`, `connection refused`.
    pub error: String,
}

impl Kept {
    /// The reason for which the page stays listed.
    pub fn listed_as(&self) -> Reason {
        if self.reason == Reason::Gone {
            Reason::KeptGoneOnce
        } else if self.reason == Reason::Queued {
            Reason::KeptNotReached
        } else {
            Reason::KeptUnreachable
        }
    }
}

/// The `lastmod` that a sitemap of the site states for a URL.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SitemapDate {
    /// The value as it stands there.
    pub lastmod: String,
    /// It is the date of the sitemap file itself, which says more of the file than of the page.
    pub is_of_file: bool,
}

/// Where the `lastmod` of an entry came from. The words are stable: summaries, the state and scripts use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DateSource {
    /// A page rule's selector.
    Rule,
    /// Two crawls, between which the content changed.
    History,
    /// Structured data of the page.
    JsonLd,
    /// A meta or microdata of the page.
    Meta,
    /// A sitemap of the site.
    Sitemap,
    /// The header `Last-Modified`.
    Header,
    /// A `time` element of the page.
    TimeElement,
    /// An input of the user's.
    Input,
}

impl DateSource {
    /// Every source, in the order in which they are believed.
    pub const ALL: [Self; 8] = [
        Self::Rule,
        Self::History,
        Self::JsonLd,
        Self::Meta,
        Self::Sitemap,
        Self::Header,
        Self::TimeElement,
        Self::Input,
    ];

    /// The word for this source.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::History => "history",
            Self::JsonLd => "json-ld",
            Self::Meta => "meta",
            Self::Sitemap => "sitemap",
            Self::Header => "header",
            Self::TimeElement => "time-element",
            Self::Input => "input",
        }
    }

    /// The source that [`DateSource::as_str`] calls `word`.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == word)
    }
}

/// How the last attempt at a URL ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// There was none: the verdict came without a request (rules, depth, robots.txt).
    NotFetched(Reason),
    /// No answer after all tries; the text says what happened.
    NoAnswer {
        /// For people, e.g. `connection refused`.
        error: String,
    },
    /// An answer.
    Answered(Box<PageFacts>),
    /// There was none, and none is needed: an input of the user's says what a sitemap has to say.
    Given(Box<Given>),
}

/// The stored record of one known URL in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRecord {
    /// The run that this record belongs to.
    pub run: RunId,
    /// Why the URL is in its state; [`Reason::state`] is the state.
    pub reason: Reason,
    /// Fewest known hops from the start URL (0).
    pub depth: u32,
    /// How it was found first.
    pub via: Via,
    /// On which page, or in which sitemap or feed, it was found first.
    pub found_on: Option<UrlKey>,
    /// Tries made, first included.
    pub attempts: u32,
    /// When the last attempt ended.
    pub fetched_at: Option<Timestamp>,
    /// What a sitemap of the site says of its last change, in W3C format; not one that arpent published. A store
    /// keeps what it was told in this run ([`crate::store::Commit::dated`]).
    pub sitemap_lastmod: Option<SitemapDate>,
    /// How it ended; `None` while queued. The links of the facts are kept apart
    /// ([`crate::store::Store::links`]) and are empty here.
    pub outcome: Option<Outcome>,
    /// Whose answer the outcome is; anything but [`Basis::Own`] only with [`Outcome::Answered`].
    pub basis: Basis,
}

impl PageRecord {
    /// The same as it counts while its URL waits and is listed all the same ([`Reason::KeptNotReached`]): by its
    /// `earlier` answer.
    #[must_use]
    pub fn listed_by(
        mut self,
        earlier: Option<&PageFacts>,
        failing_since: Option<Timestamp>,
        gone_since: Option<Timestamp>,
    ) -> Self {
        if let (Reason::KeptNotReached, None, Some(facts)) = (self.reason, &self.outcome, earlier) {
            self.outcome = Some(Outcome::Answered(Box::new(facts.clone())));
            self.basis = Basis::Kept(Kept {
                reason: Reason::Queued,
                since: failing_since.unwrap_or(Timestamp::UNIX_EPOCH),
                gone_since,
                error: String::new(),
            });
        }
        self
    }

    /// The facts of the answer, if there was one.
    pub fn facts(&self) -> Option<&PageFacts> {
        match &self.outcome {
            Some(Outcome::Answered(facts)) => Some(facts),
            Some(Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Given(_)) | None => {
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_304_replaces_what_its_head_says_and_nothing_else() {
        let time = |day: u32| Some(format!("2026-02-{day:02}T00:00:00Z").parse().unwrap());
        let stored = PageFacts {
            status: 200,
            content_hash: Some(ContentHash(7)),
            last_modified: time(1),
            date: time(2),
            etag: Some("\"1\"".to_owned()),
            title: Some("a page".to_owned()),
            ..PageFacts::default()
        };
        let bare = PageFacts {
            status: 304,
            ..PageFacts::default()
        };
        assert_eq!(stored.clone().confirmed_by(&bare), stored);
        let telling = PageFacts {
            last_modified: time(3),
            date: time(4),
            etag: Some("\"2\"".to_owned()),
            canonical: Canonical::Itself,
            directives: Directives {
                noindex: true,
                unavailable_after: time(5),
                ..Directives::default()
            },
            robots_by_header: true,
            ..bare
        };
        let expected = PageFacts {
            last_modified: time(3),
            date: time(4),
            canonical: Canonical::Itself,
            directives: telling.directives,
            robots_by_header: true,
            ..stored.clone()
        };
        assert_eq!(stored.confirmed_by(&telling), expected);
    }
}
