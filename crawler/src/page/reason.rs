//! The states a known URL can be in, and the reasons for them.

use super::words::words;

words! {
    /// The four states a known URL can be in. A summary adds them up to the number of known URLs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum State {
        /// Known and not yet decided: waiting, or being fetched (a crash needs no repair).
        Queued = "queued",
        /// In the sitemap.
        Listed = "listed",
        /// Decided: not in the sitemap, and why.
        Excluded = "excluded",
        /// Could not be fetched after all tries (network, 5xx, 429), or could not be read.
        Failed = "failed",
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
    KeptGoneOnce = "kept-gone-once", Listed, "still in the sitemap after one 404: a second one at least an hour later removes it";
    /// Was listed before and could not be fetched, which is not evidence that it is gone; listed with the data of its last good answer.
    KeptUnreachable = "kept-unreachable", Listed, "still in the sitemap with the data of its last good answer: could not be fetched this time";
    /// Was listed before and is still waiting, because the session ended at a limit, or redirects to a URL that is; listed with
    /// the data of its last good answer.
    KeptNotReached = "kept-not-reached", Listed, "still in the sitemap with the data of its last good answer: not requested this time";
    /// Disallowed by robots.txt (RFC 9309 section 2.2.2).
    RobotsDisallowed = "robots-disallowed", Excluded, "disallowed by robots.txt";
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
    /// 204, 205, an unasked 304, or 200 with an empty body.
    Empty = "empty", Excluded, "answered without content";
    /// 201, 202, 203, 206 and every other 2xx that may have content.
    OtherSuccess = "other-success", Excluded, "answered with a success status other than 200, such as 201, 202, 203 or 206";
    /// A meta refresh of 0 seconds to another URL.
    RefreshRedirect = "refresh-redirect", Excluded, "a meta refresh sends readers to another URL at once";
    /// `noindex` or `none`, in a meta element or a header.
    Noindex = "noindex", Excluded, "has noindex";
    /// `noindex` or `none`, and a canonical link to another URL.
    NoindexAndCanonical = "noindex-and-canonical", Excluded, "has noindex and names another canonical URL";
    /// `unavailable_after` is past.
    UnavailableAfter = "unavailable-after", Excluded, "its unavailable_after date is past";
    /// One canonical link, to another URL in scope.
    CanonicalElsewhere = "canonical-elsewhere", Excluded, "names another URL as canonical";
    /// One canonical link, out of the scope.
    CanonicalForeign = "canonical-foreign", Excluded, "names a canonical URL outside this site's scope";
    /// The canonical URL is not a page that can be listed.
    CanonicalBroken = "canonical-broken", Excluded, "names a canonical URL that cannot be listed";
    /// The canonical links lead back to the page.
    CanonicalLoop = "canonical-loop", Excluded, "its canonical URLs form a loop";
    /// Images, style sheets, scripts, fonts, archives, feeds, sitemaps, data.
    NotAPage = "not-a-page", Excluded, "not a page or a listed kind of document";
    /// A feed that something links to: it was read for the URLs that it names, and is not a known URL.
    SeedDocument = "seed-document", Excluded, "read as a feed, not counted as a page";
    /// The decoded body is over the cap.
    TooLarge = "too-large", Excluded, "larger than the size limit";
    /// The body ended before its announced end.
    CutShort = "cut-short", Excluded, "the answer was cut short";
    /// The body's content coding is unknown, stacked or broken, or the body is not coded at all.
    Undecodable = "undecodable", Failed, "its body does not match its Content-Encoding";
    /// Parsing was cut off before the end of the page: the content of the rest is not known.
    Unparsable = "unparsable", Failed, "not judged: parsing was cut off at max_parse_time, or at the memory of the parser";
    /// An `exclude` rule, or no `include` rule matches.
    ExcludedByRule = "excluded-by-rule", Excluded, "left out by an include or exclude rule";
    /// A `follow-only` rule.
    FollowOnly = "follow-only", Excluded, "fetched for its links only";
    /// Two URLs that differ only in characters which a sitemap must write percent-encoded: the other one is listed.
    DuplicateSpelling = "duplicate-spelling", Excluded, "listed under another spelling of the same URL";
    /// Its URL is too long, as it is, or once it is percent-encoded as a sitemap must have it. A URL of more than 2,047 bytes is not
    /// requested, and recorded by its beginning and a hash.
    Unwritable = "unwritable-url", Excluded, "its URL is too long for a sitemap (2,047 bytes)";
    /// Its entry would break a rule of the protocol.
    EntryRefused = "entry-refused", Excluded, "its entry would break a rule of the sitemap protocol";
    /// In a place that was cut, and far from new text: it was not requested.
    PatternClosed = "pattern-closed", Excluded, "not requested: its part of the site goes on without end and has nothing new";
    /// In a place that was cut, and most of its text is at simpler URLs.
    NothingNew = "nothing-new", Excluded, "in a part of the site that goes on without end, and repeats the text of simpler URLs";
    /// The page with which the site answers URLs that do not exist.
    NotFoundPage = "not-found-page", Excluded, "is the page that the site sends for URLs that do not exist";
    /// Another spelling of its path has the same text, or it has a parameter that only makes copies.
    DuplicateOf = "duplicate-of", Excluded, "is the same page as another URL of the same path";
    /// A page rule's selector matched.
    PageRule = "page-rule", Excluded, "left out by a page rule";
    /// It was published, and is not in the set that was restored or read back; no crawl has found it since.
    NotInSet = "not-in-set", Excluded, "not in the set that was restored or read back, and not found by a crawl since";
    /// Deeper than `max_depth`.
    TooDeep = "too-deep", Excluded, "more hops from the start URL than max_depth";
    /// The task that handled the page panicked; the crawl goes on.
    InternalError = "internal-error", Failed, "an internal error in arpent: please report it";
}

impl Reason {
    /// Whether something is wrong with the page, its links or its server: a person should look at some of these URLs.
    pub fn is_fault(self) -> bool {
        self.state() == State::Failed
            || matches!(
                self,
                Self::KeptGoneOnce
                    | Self::KeptUnreachable
                    | Self::Gone
                    | Self::ClientError
                    | Self::RedirectLoop
                    | Self::TooManyRedirects
                    | Self::BadRedirect
                    | Self::Empty
                    | Self::CanonicalBroken
                    | Self::CanonicalLoop
                    | Self::TooLarge
                    | Self::CutShort
                    | Self::Unwritable
                    | Self::EntryRefused
            )
    }

    /// The reason that [`Reason::code`] calls `code`.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|reason| reason.code() == code)
    }
}
