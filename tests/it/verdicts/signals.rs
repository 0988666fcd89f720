//! Verdicts by the statements of pages and headers: directives, canonical URLs, links.

use crawler::page::Reason;

use super::row::{Row, canonical, found, link, listed, page, plain, robots_meta, row, target};
use crate::support::site::Response;

fn header(value: &str) -> Response {
    plain().with("X-Robots-Tag", value)
}

pub(super) fn by_noindex() -> Vec<Row> {
    let named = |name: &str, content: &str| {
        page(&format!("<meta name=\"{name}\" content=\"{content}\">"), "")
    };
    vec![
        row(
            "/noindex/meta",
            Reason::Noindex,
            robots_meta("noindex", &link("/behind/noindex")),
        ),
        target("/behind/noindex"),
        row(
            "/noindex/none",
            Reason::Noindex,
            robots_meta("none", &link("/never/behind-none")),
        ),
        row(
            "/noindex/nofollow",
            Reason::Noindex,
            robots_meta(
                "NOINDEX , nofollow",
                &link("/never/behind-noindex-nofollow"),
            ),
        ),
        row(
            "/noindex/googlebot",
            Reason::Noindex,
            named("Googlebot", "noindex"),
        ),
        listed("/noindex/another-bot", named("otherbot", "noindex")),
        row(
            "/noindex/in-body",
            Reason::Noindex,
            page("", "<meta name=\"robots\" content=\"noindex\">"),
        ),
        row("/noindex/header", Reason::Noindex, header("noindex")),
        row(
            "/noindex/header-bot",
            Reason::Noindex,
            header("googlebot: none"),
        ),
        listed("/noindex/header-another-bot", header("otherbot: noindex")),
        row(
            "/noindex/second-header",
            Reason::Noindex,
            header("noarchive").with("X-Robots-Tag", "max-snippet: 5, noindex"),
        ),
        row(
            "/noindex/sum",
            Reason::Noindex,
            robots_meta("index, follow", "").with("X-Robots-Tag", "noindex"),
        ),
        listed(
            "/noindex/harmless",
            robots_meta("index, follow, noarchive, nosnippet", ""),
        ),
        row(
            "/noindex/and-canonical",
            Reason::NoindexAndCanonical,
            page(
                "<meta name=robots content=noindex><link rel=canonical href=\"/behind/canonical-of-noindex\">",
                "",
            ),
        ),
        target("/behind/canonical-of-noindex"),
    ]
}

pub(super) fn by_other_directives() -> Vec<Row> {
    vec![
        row(
            "/until/past",
            Reason::UnavailableAfter,
            robots_meta(
                "unavailable_after: 2020-05-06",
                &link("/behind/unavailable"),
            ),
        ),
        target("/behind/unavailable"),
        row(
            "/until/past-header",
            Reason::UnavailableAfter,
            header("unavailable_after: 25 Jun 2010 15:00:00 PST"),
        ),
        listed(
            "/until/future",
            robots_meta("unavailable_after: 2999-01-01", ""),
        ),
        listed(
            "/until/unreadable",
            robots_meta("unavailable_after: soon", ""),
        ),
        listed(
            "/nofollow/meta",
            robots_meta("nofollow", &link("/never/behind-nofollow")),
        ),
        listed(
            "/nofollow/header",
            page("", &link("/never/behind-nofollow-header")).with("X-Robots-Tag", "nofollow"),
        ),
        listed(
            "/nofollow/links",
            page(
                "",
                "<a rel=nofollow href=/never/nofollow>1</a> <a rel=ugc href=/never/ugc>2</a>
                 <a rel=\"external,sponsored\" href=/never/sponsored>3</a>
                 <a rel=\"NoFollow noopener\" href=/never/nofollow-too>4</a>
                 <a rel=nofollow href=/behind/found-elsewhere>5</a>",
            ),
        ),
        listed(
            "/nofollow/not-here",
            page("", &link("/behind/found-elsewhere")),
        ),
        target("/behind/found-elsewhere"),
    ]
}

fn canonical_header(target: &str) -> Response {
    plain().with("Link", &format!("<{target}>; rel=\"canonical\""))
}

/// Pages whose canonical link names the page itself, or is not usable.
pub(super) fn by_own_canonical() -> Vec<Row> {
    let two = |one: &str, other: &str| {
        page(
            &format!("<link rel=canonical href=\"{one}\"><link rel=canonical href=\"{other}\">"),
            "",
        )
    };
    vec![
        listed("/canonical/none", plain()),
        listed("/canonical/itself", canonical("/canonical/itself")),
        listed(
            "/canonical/itself-absolute",
            canonical("{origin}/canonical/itself-absolute"),
        ),
        listed(
            "/canonical/itself-header",
            canonical_header("/canonical/itself-header"),
        ),
        listed(
            "/canonical/itself-fragment",
            canonical("/canonical/itself-fragment#top"),
        ),
        listed(
            "/canonical/itself-tracked",
            canonical("./itself-tracked?utm_source=feed"),
        ),
        listed(
            "/canonical/itself-%C3%A9",
            canonical("/canonical/../canonical/itself-%c3%a9?"),
        ),
        listed("/canonical/two", two("/canonical/two", "/good/conflict")),
        target("/good/conflict"),
        listed(
            "/canonical/two-places",
            canonical("/canonical/two-places")
                .with("Link", "</good/conflict-header>; rel=canonical"),
        ),
        target("/good/conflict-header"),
        listed(
            "/canonical/twice-the-same",
            two(
                "/canonical/twice-the-same",
                "{origin}/canonical/twice-the-same#a",
            ),
        ),
        listed("/canonical/empty", canonical("")),
        listed("/canonical/file", canonical("file:///srv/www/index.html")),
        listed("/canonical/mail", canonical("mailto:us@example.com")),
        listed("/canonical/unreadable", canonical("http://[")),
        listed(
            "/canonical/in-body",
            page("", "<link rel=canonical href=\"https://other.example/\">"),
        ),
        listed(
            "/canonical/for-a-language",
            page(
                "<link rel=canonical hreflang=de href=\"https://other.example/\">",
                "",
            ),
        ),
    ]
}

pub(super) fn by_other_canonical(elsewhere: &str) -> Vec<Row> {
    let away = Reason::CanonicalElsewhere;
    let foreign = Reason::CanonicalForeign;
    vec![
        row("/canonical/away", away, canonical("/good/canonical")),
        target("/good/canonical"),
        row(
            "/canonical/away-header",
            away,
            canonical_header("/good/canonical-header"),
        ),
        target("/good/canonical-header"),
        row(
            "/canonical/away-base",
            away,
            page(
                "<base href=\"/good/\"><link href=\"canonical-base\" rel=\"CANONICAL\">",
                "",
            ),
        ),
        target("/good/canonical-base"),
        row(
            "/canonical/another-host",
            foreign,
            canonical("https://other.example/a"),
        ),
        row("/canonical/another-port", foreign, canonical(elsewhere)),
        row(
            "/canonical/another-scheme",
            foreign,
            canonical("https://127.0.0.1/canonical/another-scheme"),
        ),
    ]
}

/// Pages whose canonical URL cannot be listed itself, at once or after several steps.
pub(super) fn by_canonical_chain() -> Vec<Row> {
    let away = Reason::CanonicalElsewhere;
    let broken = Reason::CanonicalBroken;
    vec![
        row("/canonical/to-gone", broken, canonical("/broken/gone")),
        found("/broken/gone", Reason::Gone, Response::status(404)),
        row(
            "/canonical/to-redirect",
            broken,
            canonical("/broken/redirect"),
        ),
        found(
            "/broken/redirect",
            Reason::Redirected,
            Response::redirect(301, "/good/redirect"),
        ),
        target("/good/redirect"),
        row(
            "/canonical/to-private",
            broken,
            canonical("/private/canonical"),
        ),
        found("/private/canonical", Reason::RobotsDisallowed, plain()),
        row(
            "/canonical/to-noindex",
            broken,
            canonical("/broken/noindex"),
        ),
        found(
            "/broken/noindex",
            Reason::Noindex,
            robots_meta("noindex", ""),
        ),
        row("/canonical/chain-a", away, canonical("/canonical/chain-b")),
        found("/canonical/chain-b", away, canonical("/canonical/chain-c")),
        found(
            "/canonical/chain-c",
            Reason::Listed,
            canonical("/canonical/chain-c"),
        ),
        // The links lead back by redirects, or name what was not requested under another spelling.
        listed("/canonical/back/", canonical("/canonical/back")),
        found(
            "/canonical/back",
            Reason::Redirected,
            Response::redirect(301, "/canonical/hop"),
        ),
        found(
            "/canonical/hop",
            Reason::Redirected,
            Response::redirect(302, "/canonical/back/"),
        ),
        listed(
            "/canonical/spelled",
            canonical("/private/../canonical/Spelled.html"),
        ),
        found(
            "/canonical/Spelled.html",
            Reason::Redirected,
            Response::redirect(308, "/canonical/spelled"),
        ),
        row(
            "/canonical/loop-a",
            Reason::CanonicalLoop,
            canonical("/canonical/loop-b"),
        ),
        found(
            "/canonical/loop-b",
            Reason::CanonicalLoop,
            canonical("/canonical/loop-a"),
        ),
    ]
}

pub(super) fn by_links() -> Vec<Row> {
    vec![
        listed("/list", page("<link rel=next href=\"/list?page=2\">", "")),
        found(
            "/list?page=2",
            Reason::Listed,
            page(
                "<link rel=canonical href=\"/list?page=2\"><link rel=prev href=\"/list\">",
                &link("/list?page=3&amp;order=up"),
            ),
        ),
        found(
            "/list?page=3&order=up",
            Reason::Listed,
            page("", "<p>The rest.</p>"),
        ),
        listed(
            "/language/en",
            page("<link rel=alternate hreflang=de href=\"/language/de\">", ""),
        ),
        found(
            "/language/de",
            Reason::Listed,
            plain().with("Link", "</language/fr>; rel=alternate; hreflang=fr"),
        ),
        target("/language/fr"),
        listed("/amp/page", page("<link rel=amphtml href=\"/amp/amp\">", "")),
        found("/amp/amp", Reason::CanonicalElsewhere, canonical("/amp/page")),
        listed(
            "/media/page",
            page(
                "<link rel=alternate media=\"only screen and (max-width: 640px)\" href=\"/media/mobile\">",
                "",
            ),
        ),
        found("/media/mobile", Reason::CanonicalElsewhere, canonical("/media/page")),
        listed(
            "/frames/set",
            Response::html("<html><head><title>Frames</title></head><frameset><frame src=\"/frames/frame\"></frameset></html>"),
        ),
        target("/frames/frame"),
        listed(
            "/frames/inline",
            page("", "<iframe src=\"/frames/iframe\"></iframe><map><area href=\"/frames/area\"></map>"),
        ),
        target("/frames/iframe"),
        target("/frames/area"),
        listed("/frames/noscript", page("", "<noscript><a href=\"/frames/no-script\">1</a></noscript>")),
        target("/frames/no-script"),
        listed(
            "/frames/svg",
            page("", "<svg><a xlink:href=\"/frames/in-svg\"><text>1</text></a></svg>"),
        ),
        target("/frames/in-svg"),
        listed(
            "/frames/no-links",
            page(
                "<link rel=stylesheet href=\"/never/style.css\"><link rel=icon href=\"/never/icon\">",
                "<template><a href=\"/never/template\">1</a></template><!-- <a href=\"/never/comment\">2</a> -->
                 <script>\"<a href='/never/script'>\"</script><form action=\"/never/form\"></form>
                 <div data-href=\"/never/data\" onclick=\"location='/never/click'\"></div>
                 <textarea><a href=\"/never/textarea\">3</a></textarea><img src=\"/never/image.png\">",
            ),
        ),
        row("/private/page", Reason::RobotsDisallowed, plain()),
        // Two pages with the same bytes are counted in the report, and both are listed.
        listed("/same/1", page("", "<p>The very same words.</p>")),
        listed("/same/2", page("", "<p>The very same words.</p>")),
        listed("/soft-404", Response::html("<title>Page not found</title><p>Sorry.</p>")),
    ]
}
