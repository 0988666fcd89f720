//! What to do about the reason of a URL, one line each.

use crate::page::Reason;

/// What to do about the reason of a known URL; `None`: nothing, it is listed.
pub(super) fn of_reason(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::Listed | Reason::ListOnly | Reason::Given => return None,
        Reason::Queued => {
            "let the crawl come to its end: start it again, or raise max_pages and max_time"
        }
        Reason::KeptGoneOnce => {
            "if the page is to stay, let it answer 200 again; another 404 an hour later or more takes it out"
        }
        Reason::KeptUnreachable => {
            "find out why the server does not answer; the page stays listed for the time of keep_failing"
        }
        Reason::KeptNotReached => {
            "nothing, when the crawl ended at a limit: the next one asks for it"
        }
        Reason::RobotsDisallowed => {
            "to list it, allow it in robots.txt; a page that robots.txt disallows is not fetched and does not belong into a sitemap"
        }
        Reason::NetworkError | Reason::ServerError => {
            "let the server answer 200, and crawl again; a lower --rate or --concurrency helps a server that is too busy"
        }
        Reason::Gone => "if the page is gone, remove the links to it; otherwise let it answer 200",
        Reason::ClientError => {
            "a page behind a login or a firewall is not for search engines; to list it, let it answer 200 to everybody"
        }
        Reason::Redirected | Reason::RefreshRedirect => {
            "nothing: the target is judged for itself; link to the target directly"
        }
        Reason::RedirectedOutOfScope => {
            "crawl the site that it redirects to, or widen the scope with --scope origin"
        }
        Reason::RedirectLoop | Reason::TooManyRedirects | Reason::BadRedirect => {
            "mend the redirect on the server"
        }
        Reason::Empty | Reason::OtherSuccess => "let the page answer 200 with its content",
        Reason::Noindex => {
            "remove noindex from the robots meta element or the header X-Robots-Tag, if the page is to be found"
        }
        Reason::NoindexAndCanonical => {
            "remove noindex, and let the canonical link name the page itself, if the page is to be found"
        }
        Reason::UnavailableAfter => {
            "remove unavailable_after, or set a later date, if the page is to be found"
        }
        Reason::CanonicalElsewhere => {
            "nothing, if the canonical URL is the page to be found; otherwise let the canonical link name the page itself"
        }
        Reason::CanonicalForeign => {
            "let the canonical link name a URL of this site, or crawl the site that it names"
        }
        Reason::CanonicalBroken | Reason::CanonicalLoop => {
            "let the canonical link name a page that answers 200 and is its own canonical URL"
        }
        Reason::NotAPage => "to list documents of this type, name it in the setting document_types",
        Reason::SeedDocument => "nothing: the URLs that it names are judged for themselves",
        Reason::TooLarge => "make the page smaller, or raise max_body_bytes",
        Reason::CutShort | Reason::Undecodable => {
            "let the server send the whole body as its headers announce it"
        }
        Reason::Unparsable => {
            "make the page smaller or less deeply nested, or raise max_parse_time"
        }
        Reason::ExcludedByRule => "change the include and exclude rules",
        Reason::FollowOnly => "remove the follow_only rule that matches",
        Reason::DuplicateSpelling => "link to one spelling of the URL only",
        Reason::Unwritable => "shorten the URL: a sitemap takes 2,048 characters",
        Reason::EntryRefused => {
            "the log of the publish names the rule of the protocol that its entry breaks"
        }
        Reason::PatternClosed | Reason::NothingNew => {
            "nothing, if the pages of the pattern repeat others; otherwise name the URL in a sitemap or in a list (--seeds), or set close_patterns = false"
        }
        Reason::NotFoundPage => {
            "let the server answer 404 for what does not exist; if this is a page, give it text of its own"
        }
        Reason::Nested => "mend the relative links that lead to ever longer URLs",
        Reason::DuplicateOf => {
            "nothing: the other URL is listed; a canonical link decides which one"
        }
        Reason::PageRule => "change the page rule whose selector matches",
        Reason::NotInSet => "nothing: the next crawl asks for it when something leads there",
        Reason::TooDeep => "raise max_depth, or link to it from a page nearer to the start",
        Reason::InternalError => "report it with the log of the crawl",
    })
}

/// What to do about a URL that no crawl met.
pub(super) fn of_unknown(judgement: &str, reason: Option<Reason>) -> &'static str {
    match (judgement, reason) {
        ("outside", _) => {
            "crawl it by itself with arpent crawl and this URL, or the whole host with --scope origin"
        }
        (_, Some(reason)) => of_reason(reason).unwrap_or("link to it from a listed page"),
        _ => {
            "link to it from a listed page, or name it in a sitemap of the site or in a list (--seeds FILE)"
        }
    }
}
