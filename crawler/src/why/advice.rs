//! Advice for each reason of a URL, one line each.

use crate::page::Reason;

/// The advice for the reason of a known URL; `None`: the URL is listed.
pub(super) fn of_reason(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::Listed | Reason::ListOnly | Reason::Given => return None,
        Reason::Queued => {
            "let the crawl come to its end: start it again, or raise max_pages and max_time"
        }
        Reason::KeptGoneOnce => {
            "let the page answer 200 if it is to stay; a second 404, at least an hour after the first, removes it"
        }
        Reason::KeptUnreachable => {
            "find out why the page cannot be fetched; it stays listed for the time of keep_failing"
        }
        Reason::KeptNotReached => {
            "nothing to do if the crawl ended at a limit: the next crawl requests the page"
        }
        Reason::RobotsDisallowed => {
            "allow the URL in robots.txt to have it listed; arpent does not fetch or list a URL that robots.txt disallows"
        }
        Reason::NetworkError | Reason::ServerError => {
            "let the server answer 200, and crawl again; a lower --rate or --concurrency helps a server that is too busy"
        }
        Reason::Gone => "if the page is gone, remove the links to it; otherwise let it answer 200",
        Reason::ClientError => {
            "let the page answer 200 to everybody to have it listed; search engines cannot read a page that needs a login"
        }
        Reason::Redirected | Reason::RefreshRedirect => {
            "nothing to do: the target is judged as a URL of its own; links can name the target directly"
        }
        Reason::RedirectedOutOfScope => {
            "crawl the site that it redirects to, or widen the scope with --scope origin"
        }
        Reason::RedirectLoop | Reason::TooManyRedirects | Reason::BadRedirect => {
            "correct the redirect on the server"
        }
        Reason::Empty | Reason::OtherSuccess => "let the page answer 200 with its content",
        Reason::Noindex => {
            "remove noindex from the robots meta element or the header X-Robots-Tag, if search engines are to show the page"
        }
        Reason::NoindexAndCanonical => {
            "remove noindex, and let the canonical link name the page itself, if search engines are to show the page"
        }
        Reason::UnavailableAfter => {
            "remove unavailable_after, or set a later date, if search engines are to show the page"
        }
        Reason::CanonicalElsewhere => {
            "nothing to do if search engines are to show the canonical URL; otherwise let the canonical link name the page itself"
        }
        Reason::CanonicalForeign => {
            "let the canonical link name a URL of this site, or crawl the site that it names"
        }
        Reason::CanonicalBroken | Reason::CanonicalLoop => {
            "let the canonical link name a page that answers 200 and is its own canonical URL"
        }
        Reason::NotAPage => {
            "name the media type in the setting document_types to have documents of this type listed"
        }
        Reason::SeedDocument => {
            "nothing to do: the URLs that the feed names are judged as URLs of their own"
        }
        Reason::TooLarge => "make the page smaller, or raise max_body_bytes",
        Reason::CutShort | Reason::Undecodable => {
            "let the server send the whole body, in the coding and length of its headers"
        }
        Reason::Unparsable => {
            "make the page smaller or less deeply nested, or raise max_parse_time"
        }
        Reason::ExcludedByRule => "change the include and exclude rules",
        Reason::FollowOnly => "remove the follow_only rule that matches",
        Reason::DuplicateSpelling => "link to one spelling of the URL only",
        Reason::Unwritable => "shorten the URL: a sitemap takes 2,048 characters",
        Reason::EntryRefused => {
            "read the log of the publish: it names the rule of the protocol that the entry breaks"
        }
        Reason::PatternClosed | Reason::NothingNew => {
            "nothing to do if the place has no pages of its own; otherwise name the URL in a sitemap or in a list (--seeds), or set close_patterns = false to request and list everything"
        }
        Reason::NotFoundPage => {
            "let the server answer 404 for URLs that do not exist; if this is a real page, give it text of its own"
        }
        Reason::DuplicateOf => {
            "nothing to do: the other URL is listed; a canonical link decides which of the two"
        }
        Reason::PageRule => "change the page rule whose selector matches",
        Reason::NotInSet => {
            "nothing to do: the next crawl requests the URL if a page or a sitemap names it"
        }
        Reason::TooDeep => {
            "raise max_depth, or link to the URL from a page nearer to the start URL"
        }
        Reason::InternalError => "report the error with the log of the crawl",
    })
}

/// The advice for a URL that no crawl found.
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
