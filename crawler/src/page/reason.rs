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

/// The evidence of an attempt about whether a listed page is to stay listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// No: the page or the owner of the site states so; or the reason is no answer of the page.
    Sure,
    /// No, if a later attempt confirms that: a 404, or another document, may come from a program in trouble.
    IfConfirmed,
    /// Nothing. A server or a program that fails is not evidence, a redirect to nowhere is not made on purpose, and a 4xx other than
    /// 404, 410 and 451 may be an access rule that was set by mistake.
    Nothing,
}

/// The defect of a URL that a sitemap or a feed of the site lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListingFault {
    /// The page does not exist.
    Dead,
    /// The URL does does not answer 200 with its content.
    Failing,
    /// The URL redirects.
    Redirect,
    /// The page has noindex.
    Noindex,
    /// The page names another canonical URL.
    Canonical,
    /// robots.txt disallows it.
    Robots,
    /// The URL is left out for another reason.
    LeftOut,
}

/// What else a reason means; see [`Reason::has`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Something is wrong with the page, its links or its server. Failed URLs need no mark.
    Fault,
    /// A link to the URL is broken.
    Broken,
    /// The URL redirects to another page, so a link to it may name that page.
    Redirect,
    /// The page stays listed without a new answer.
    Retained,
    /// A rule of the user leaves the URL out.
    UserRule,
    /// The attempt only shows trouble of the host.
    HostTrouble,
    /// Other pages decide: an answer of the page alone does not show it.
    NeedsOtherPages,
    /// The URL is in a place that was cut.
    CutPlace,
    /// The target of its `Location` decides about the URL.
    ByLocation,
    /// The target of its meta refresh does.
    ByRefresh,
    /// The target of its canonical link does.
    ByCanonical,
}

/// A row for each reason: its name, code and state, what an attempt with it proves about a listed page, the defect where a
/// sitemap or a feed lists the URL, its marks, the text and the advice for people; an empty one: nothing has to be done.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $state:ident, $evidence:ident, $fault:tt, [$($mark:ident)*],
        $text:literal, $advice:expr;)*) => {
        /// Why a URL is in its state. The codes are stable: reports, the state and scripts use them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason { $($(#[$doc])* $name,)* }

        impl Reason {
            /// Every reason, in the order of the decision table.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            const fn row(self) -> &'static ReasonRow {
                match self {
                    $(Self::$name => &ReasonRow {
                        code: $code,
                        state: State::$state,
                        evidence: Evidence::$evidence,
                        listing_fault: listing_fault!($fault),
                        marks: &[$(Mark::$mark,)*],
                        text: $text,
                        advice: $advice,
                    },)*
                }
            }
        }
    };
}

macro_rules! listing_fault {
    (-) => {
        None
    };
    ($fault:ident) => {
        Some(ListingFault::$fault)
    };
}

struct ReasonRow {
    code: &'static str,
    state: State,
    evidence: Evidence,
    listing_fault: Option<ListingFault>,
    marks: &'static [Mark],
    text: &'static str,
    advice: &'static str,
}

// Advice for several reasons.
const SERVER_ANSWERS: &str = "let the server answer 200, and crawl again; a lower --rate or --concurrency helps a server that is too busy";
const TARGET_IS_JUDGED: &str =
    "nothing to do: the target is judged as a URL of its own; links can name the target directly";
const CORRECT_REDIRECT: &str = "correct the redirect on the server";
const ANSWER_CONTENT: &str = "let the page answer 200 with its content";
const NAME_A_CANONICAL: &str =
    "let the canonical link name a page that answers 200 and is its own canonical URL";
const SEND_WHOLE_BODY: &str =
    "let the server send the whole body, in the coding and length of its headers";
const NAME_THE_URL: &str = "nothing to do if the place has no pages of its own; otherwise name the URL in a sitemap or in a list (--seeds), or set close_patterns = false to request and list everything";

reasons! {
    /// Not decided yet.
    Queued = "queued", Queued, Sure, -, [],
        "waiting in the queue",
        "let the crawl come to its end: start it again, or raise max_pages and max_time";
    /// Answered 200, indexable, its own canonical, in scope.
    Listed = "listed", Listed, Sure, -, [],
        "in the sitemap",
        "";
    /// Listed without being fetched, by a `list-only` rule of the user.
    ListOnly = "list-only", Listed, Sure, -, [],
        "listed by a list_only rule, not fetched",
        "";
    /// Listed without being fetched, because an input of the user's names it.
    FromInput = "from-input", Listed, Sure, -, [],
        "named by an input, not fetched",
        "";
    /// Was listed before and answered 404 for the first time: a second 404 at least an hour later takes it out.
    GoneOnce = "gone-once", Listed, Sure, Dead, [Fault Broken Retained],
        "one 404, still listed: a second one after an hour or more removes it",
        "let the page answer 200 if it is to stay; a second 404, at least an hour after the first, removes it";
    /// Was listed before and could not be fetched, which is not evidence that it is gone; listed with the data of its last good answer.
    Unreachable = "unreachable", Listed, Sure, Failing, [Fault Broken Retained],
        "no usable answer this time, still listed with the data of the last good one",
        "find out why the page has no usable answer; it stays listed for the time of keep_failing";
    /// Was listed before and is still waiting, because the session ended at a limit, or redirects to a URL that is; listed with
    /// the data of its last good answer.
    NotReached = "not-reached", Listed, Sure, -, [Retained NeedsOtherPages],
        "not requested yet, or restored by a rollback",
        "nothing to do: the next crawl requests the page";
    /// Disallowed by robots.txt (RFC 9309 section 2.2.2).
    RobotsDisallowed = "robots-disallowed", Excluded, Sure, Robots, [],
        "blocked by robots.txt",
        "allow the URL in robots.txt to have it listed; arpent does not fetch or list a URL that robots.txt disallows";
    /// No answer after all tries.
    NetworkError = "network-error", Failed, Nothing, Failing, [Broken HostTrouble],
        "network error, time-out, or not requested after others failed",
        SERVER_ANSWERS;
    /// 5xx or 429 after all tries.
    ServerError = "server-error", Failed, Nothing, Failing, [Broken HostTrouble],
        "server error, 5xx or 429",
        SERVER_ANSWERS;
    /// 403, 429 or 503 with the signs of a challenge.
    Blocked = "blocked", Failed, Nothing, Failing, [Broken HostTrouble],
        "challenge of a protection against programs",
        "allow the User-Agent of arpent, or the address of this machine, in the protection (CDN, firewall); a lower --rate may help";
    /// 404 or 410.
    Gone = "gone", Excluded, IfConfirmed, Dead, [Fault Broken],
        "not found, 404 or 410",
        "if the page is gone, remove what names it; otherwise let it answer 200";
    /// 401, 403, 451 and other 4xx.
    ClientError = "client-error", Excluded, Nothing, Failing, [Fault Broken],
        "refused, 401, 403, 451 or another 4xx",
        "let the page answer 200 to everybody to have it listed; search engines cannot read a page that needs a login";
    /// 3xx into the scope; the target is judged for itself.
    Redirected = "redirected", Excluded, Sure, Redirect, [Redirect ByLocation],
        "page with redirect to another URL",
        TARGET_IS_JUDGED;
    /// 3xx out of the scope.
    RedirectedOutOfScope = "redirected-out-of-scope", Excluded, Sure, Redirect, [Redirect],
        "redirect out of the scope",
        "crawl the site that it redirects to, or widen the scope with --scope origin";
    /// The chain comes back to itself.
    RedirectLoop = "redirect-loop", Excluded, Nothing, Redirect, [Fault Broken ByLocation],
        "redirect loop",
        CORRECT_REDIRECT;
    /// The URL redirects in a loop, or answers 400 or 403, and sets a cookie.
    NeedsCookie = "needs-cookie", Excluded, Nothing, Failing, [Fault Broken ByLocation],
        "redirect loop, 400 or 403 with a cookie",
        "let the server answer without cookies, as search engines send none; cookies = \"session\" keeps those of a crawl, and --header \"Cookie: name=value\" sends a session";
    /// More than ten hops.
    TooManyRedirects = "too-many-redirects", Excluded, Sure, Redirect, [Fault Broken ByLocation],
        "more than 10 redirects",
        CORRECT_REDIRECT;
    /// A 3xx without a usable `Location`.
    BadRedirect = "bad-redirect", Excluded, Nothing, Redirect, [Fault Broken],
        "redirect without a usable target",
        CORRECT_REDIRECT;
    /// 204, 205, an unasked 304, or 200 with an empty body.
    Empty = "empty", Excluded, Nothing, Failing, [Fault],
        "answer without content",
        ANSWER_CONTENT;
    /// 201, 202, 203, 206 and every other 2xx that may have content.
    OtherSuccess = "other-success", Excluded, Nothing, Failing, [],
        "success status other than 200, such as 201, 202, 203 or 206",
        ANSWER_CONTENT;
    /// A meta refresh of 0 seconds to another URL.
    RefreshRedirect = "refresh-redirect", Excluded, Sure, Redirect, [Redirect ByRefresh],
        "meta refresh to another URL",
        TARGET_IS_JUDGED;
    /// `noindex` or `none`, in a meta element or a header.
    Noindex = "noindex", Excluded, Sure, Noindex, [],
        "noindex",
        "remove noindex from the robots meta element or the header X-Robots-Tag, if search engines are to show the page";
    /// `noindex` or `none`, and a canonical link to another URL.
    NoindexAndCanonical = "noindex-and-canonical", Excluded, Sure, Noindex, [],
        "noindex, canonical is another URL",
        "remove noindex, and let the canonical link name the page itself, if search engines are to show the page";
    /// `unavailable_after` is past.
    UnavailableAfter = "unavailable-after", Excluded, Sure, Noindex, [],
        "unavailable_after has passed",
        "remove unavailable_after, or set a later date, if search engines are to show the page";
    /// A canonical link, to another URL in scope.
    CanonicalElsewhere = "canonical-elsewhere", Excluded, Sure, Canonical, [ByCanonical],
        "alternate, canonical is another URL",
        "nothing to do if search engines are to show the canonical URL; otherwise let the canonical link name the page itself";
    /// A canonical link, out of the scope.
    CanonicalForeign = "canonical-foreign", Excluded, Sure, Canonical, [],
        "canonical is outside of the scope",
        "let the canonical link name a URL of this site, or crawl the site that it names";
    /// The canonical URL is not a page that can be listed.
    CanonicalBroken = "canonical-broken", Excluded, Sure, Canonical, [Fault NeedsOtherPages ByCanonical],
        "canonical cannot be listed",
        NAME_A_CANONICAL;
    /// The canonical links lead back to the page.
    CanonicalLoop = "canonical-loop", Excluded, Sure, Canonical, [Fault NeedsOtherPages ByCanonical],
        "canonical loop",
        NAME_A_CANONICAL;
    /// Images, style sheets, scripts, fonts, archives, feeds, sitemaps, data.
    NotAPage = "not-a-page", Excluded, IfConfirmed, LeftOut, [],
        "not HTML or a listed type",
        "name the media type in the setting document_types to have documents of this type listed";
    /// A sitemap or feed that something links to: it was read for the URLs that it names.
    SeedDocument = "seed-document", Excluded, Sure, -, [],
        "sitemap or feed, not a page",
        "nothing to do: the URLs that it names are judged as URLs of their own";
    /// The decoded body is over the cap.
    TooLarge = "too-large", Excluded, Nothing, LeftOut, [Fault],
        "larger than the size limit",
        "make the page smaller, or raise max_body_bytes";
    /// The body ended before its announced end.
    CutShort = "cut-short", Excluded, Nothing, Failing, [Fault HostTrouble],
        "answer cut short",
        SEND_WHOLE_BODY;
    /// The body's content coding is unknown, stacked or broken, or the body is not coded at all.
    Undecodable = "undecodable", Failed, Nothing, Failing, [],
        "body does not match its Content-Encoding",
        SEND_WHOLE_BODY;
    /// Parsing was cut off before the end of the page: the content of the rest is not known.
    Unparsable = "unparsable", Failed, Nothing, LeftOut, [],
        "parsing cut off after 5 s of CPU time, or at the memory of the parser",
        "make the page smaller or less deeply nested";
    /// An `exclude` rule, or no `include` rule matches.
    ExcludedByRule = "excluded-by-rule", Excluded, Sure, -, [UserRule],
        "include or exclude rule",
        "change the include and exclude rules";
    /// A link that changes something on the server, such as one that logs out: it is not followed with a session of the user.
    ActionLink = "action-link", Excluded, Sure, -, [NeedsOtherPages],
        "action link such as log out or delete, not requested with a session",
        "name the URL in a sitemap or in a list (--seeds) if it is a page, or set follow_actions = true to follow all such links";
    /// A `follow-only` rule.
    FollowOnly = "follow-only", Excluded, Sure, -, [UserRule],
        "left out by follow_only or include, fetched for its links",
        "remove the follow_only rule that matches; with include rules, let one match the URL";
    /// Two URLs that differ only in characters which a sitemap must write percent-encoded: the other one is listed.
    DuplicateSpelling = "duplicate-spelling", Excluded, Sure, LeftOut, [NeedsOtherPages],
        "another spelling of a listed URL",
        "link to one spelling of the URL only";
    /// The URL is too long, as it is, or once it is percent-encoded as a sitemap must have it. A URL of more than 2,047 bytes is not
    /// requested, and recorded by its beginning and a hash.
    Unwritable = "unwritable-url", Excluded, Sure, LeftOut, [Fault NeedsOtherPages],
        "URL longer than 2,047 bytes",
        "shorten the URL: a sitemap takes at most 2,047 bytes";
    /// The entry would break a rule of the protocol.
    EntryRefused = "entry-refused", Excluded, Sure, LeftOut, [Fault NeedsOtherPages],
        "entry would break a rule of the sitemap protocol",
        "read the log of the publish: it names the rule of the protocol that the entry breaks";
    /// In a place that was cut, and far from new text: it was not requested.
    PatternClosed = "pattern-closed", Excluded, Sure, LeftOut, [NeedsOtherPages CutPlace],
        "in a part of the site without end, not requested",
        NAME_THE_URL;
    /// In a place that was cut, and most of its text is at simpler URLs.
    NothingNew = "nothing-new", Excluded, Sure, LeftOut, [NeedsOtherPages CutPlace],
        "in a part of the site without end, repeats simpler URLs",
        NAME_THE_URL;
    /// The page with which the site answers URLs that do not exist.
    NotFoundPage = "not-found-page", Excluded, Sure, Dead, [Broken NeedsOtherPages],
        "soft 404: page that the site sends for URLs that do not exist",
        "let the server answer 404 for URLs that do not exist; if this is a real page, give it text of its own";
    /// Another spelling of its path has the same text, or it has a parameter that only makes copies.
    DuplicateOf = "duplicate-of", Excluded, Sure, LeftOut, [NeedsOtherPages],
        "duplicate: same content as another URL of its path",
        "nothing to do while the other URL is listed; a canonical link decides which of the two";
    /// A page rule's selector matched.
    PageRule = "page-rule", Excluded, Sure, -, [UserRule],
        "page rule",
        "change the page rule whose selector matches";
    /// The URL was published, and is not in the set that was restored or read back; no crawl has found it since.
    NotInSet = "not-in-set", Excluded, Sure, -, [NeedsOtherPages],
        "in another set of the site, not in this one",
        "nothing to do: the next crawl requests the URL if a page or a sitemap names it";
    /// Deeper than `max_depth`.
    TooDeep = "too-deep", Excluded, Sure, -, [NeedsOtherPages],
        "more hops from the start URL than max_depth",
        "raise max_depth, or link to the URL from a page nearer to the start URL";
    /// The task that handled the page panicked; the crawl goes on.
    InternalError = "internal-error", Failed, Nothing, -, [],
        "internal error of arpent: please report it",
        "report the error with the log of the crawl";
}

/// A label with its code; a code that is its own label is there once.
pub fn with_code(text: &str, code: &str) -> String {
    if text == code {
        code.to_owned()
    } else {
        format!("{text} ({code})")
    }
}

impl Reason {
    /// The stable code, as in `excluded: {"noindex": 3}`.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// The state that this reason leads to.
    pub fn state(self) -> State {
        self.row().state
    }

    /// The label for people: a noun, as after a count of URLs.
    pub fn text(self) -> &'static str {
        self.row().text
    }

    /// What to do, in one line; `None`: the URL is listed as it should be.
    pub fn advice(self) -> Option<&'static str> {
        Some(self.row().advice).filter(|advice| !advice.is_empty())
    }

    /// What an attempt that came to this proves about a listed page. A 410 and a 451 are sure by themselves.
    pub fn evidence(self) -> Evidence {
        self.row().evidence
    }

    /// The defect when a sitemap or a feed lists the URL; `None`: it is listed, left out by rules of the user, or not decided.
    pub fn listing_fault(self) -> Option<ListingFault> {
        self.row().listing_fault
    }

    /// Returns whether the reason has this mark.
    pub fn has(self, mark: Mark) -> bool {
        self.row().marks.contains(&mark)
    }

    /// Whether something is wrong with the page, its links or its server: a person should look at some of these URLs.
    pub fn is_fault(self) -> bool {
        self.state() == State::Failed || self.has(Mark::Fault)
    }

    /// The reason that [`Reason::code`] calls `code`.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|reason| reason.code() == code)
    }
}
