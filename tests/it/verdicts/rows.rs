//! The rows of the tables: one for each way to a verdict. The single rules are rows of the tests of `parse` and of
//! `verdict/tests/table.rs`.

use std::time::Duration;

use crawler::page::Reason::{
    self, BadRedirect, Blocked, CanonicalBroken, CanonicalElsewhere, CanonicalForeign,
    CanonicalLoop, ClientError, CutShort, DuplicateSpelling, Empty, ExcludedByRule, FollowOnly,
    Gone, ListOnly, Listed, NeedsCookie, NetworkError, Noindex, NoindexAndCanonical, NotAPage,
    OtherSuccess, PageRule, RedirectLoop, Redirected, RedirectedOutOfScope, RefreshRedirect,
    RobotsDisallowed, ServerError, TooDeep, TooLarge, TooManyRedirects, UnavailableAfter,
    Undecodable, Unwritable,
};

use crate::support::{gzip, site::Response};

/// Pages stay far below it; the start page with its links is the longest.
pub(super) const MAX_BODY_BYTES: usize = 65_536;

/// One URL of a table.
pub(super) struct Row {
    pub(super) path: String,
    pub(super) reason: Reason,
    pub(super) answer: Response,
    /// The start page links to it; otherwise it can only be found through another page.
    pub(super) is_linked: bool,
    /// Its spelling in a sitemap, when that is another one.
    pub(super) written: Option<String>,
}

/// A page that the start page links to.
pub(super) fn row(path: &str, reason: Reason, answer: Response) -> Row {
    Row {
        path: path.to_owned(),
        reason,
        answer,
        is_linked: true,
        written: None,
    }
}

/// A page that only another page of the table leads to.
fn found(path: &str, reason: Reason, answer: Response) -> Row {
    Row {
        is_linked: false,
        ..row(path, reason, answer)
    }
}

pub(super) fn listed(path: &str, answer: Response) -> Row {
    row(path, Listed, answer)
}

/// A plain page that only another page of the table leads to, and that is listed.
fn target(path: &str) -> Row {
    found(path, Listed, plain())
}

/// A page with this in its head and its body. `{origin}` means the site.
pub(super) fn page(head: &str, body: &str) -> Response {
    Response::html(format!(
        "<!doctype html>\n<html><head><title>A page</title>{head}</head>\n<body><h1>A page</h1><p>Some text.</p>{body}</body></html>\n"
    ))
}

pub(super) fn plain() -> Response {
    page("", "")
}

fn canonical(target: &str) -> Response {
    page(&format!("<link rel=canonical href=\"{target}\">"), "")
}

fn link(target: &str) -> String {
    format!("<a href=\"{target}\">a link</a>")
}

fn file(content_type: &str) -> Response {
    typed(content_type, b"\x89some bytes, not for people".to_vec())
}

fn typed(content_type: &str, body: Vec<u8>) -> Response {
    Response {
        headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
        body,
        ..plain()
    }
}

fn coded(coding: &str, body: Vec<u8>) -> Response {
    Response { body, ..plain() }.with("Content-Encoding", coding)
}

fn redirect(target: &str) -> Response {
    Response::redirect(301, target)
}

/// Pages that can be read whole.
pub(super) fn pages(elsewhere: &str) -> Vec<Row> {
    [
        by_status(),
        by_redirect(elsewhere),
        by_refresh(),
        by_directives(),
        by_canonical(elsewhere),
        by_canonical_chain(),
        by_links(),
        by_type(),
        by_body(),
        by_spelling(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn by_status() -> Vec<Row> {
    let answers = [
        (404, Gone),
        (410, Gone),
        (400, ClientError),
        (401, ClientError),
        (403, ClientError),
        (451, ClientError),
        (204, Empty),
        (201, OtherSuccess),
        (206, OtherSuccess),
    ];
    let mut rows: Vec<Row> = answers
        .map(|(status, reason)| {
            // The body of such an answer has no facts.
            let answer = Response {
                status,
                ..page("", &link("/never/on-an-error-page"))
            };
            row(&format!("/status/{status}"), reason, answer)
        })
        .into();
    let with_cookie = Response::status(403).with("Set-Cookie", "a=1");
    rows.push(row("/status/cookie", NeedsCookie, with_cookie));
    rows.push(row("/status/no-body", Empty, Response::html("")));
    rows
}

fn by_redirect(elsewhere: &str) -> Vec<Row> {
    let by_proxy = Response::redirect(305, "/never/proxy");
    let mut rows = vec![
        row("/moved/a", Redirected, redirect("{origin}/landed/a")),
        target("/landed/a"),
        row("/moved/x", RedirectedOutOfScope, redirect("http://x.test")),
        row("/moved/port", RedirectedOutOfScope, redirect(elsewhere)),
        // Neither a redirect nor a link is followed to a URL that robots.txt disallows.
        row("/moved/private", Redirected, redirect("/private/moved")),
        found("/private/moved", RobotsDisallowed, plain()),
        row("/loop/self", RedirectLoop, redirect("/loop/self")),
        row("/loop/a", RedirectLoop, redirect("/loop/b")),
        found("/loop/b", RedirectLoop, redirect("/loop/a")),
        row("/loop/into", RedirectLoop, redirect("/loop/a")),
        row("/moved/nowhere", BadRedirect, Response::status(302)),
        row("/moved/mail", BadRedirect, redirect("mailto:us@x.test")),
        row("/moved/proxy", BadRedirect, by_proxy),
    ];
    for status in [300, 302, 303, 307, 308] {
        let landing = format!("/landed/{status}");
        let moved = Response::redirect(status, &landing);
        rows.push(row(&format!("/moved/{status}"), Redirected, moved));
        rows.push(target(&landing));
    }
    // Ten hops are followed.
    for (chain, hops, first) in [("ten", 10, Redirected), ("eleven", 11, TooManyRedirects)] {
        let path = |hop: usize| format!("/{chain}/{hop}");
        rows.push(row(&path(0), first, redirect(&path(1))));
        for hop in 1..hops {
            rows.push(found(&path(hop), Redirected, redirect(&path(hop + 1))));
        }
    }
    rows.push(target("/ten/10"));
    rows
}

fn by_refresh() -> Vec<Row> {
    let refresh = |content: &str, target: &str| {
        let head = format!("<meta http-equiv=refresh content=\"{content}\">");
        page(&head, &link(target))
    };
    let at_once = refresh("0; url=/refreshed/at-once", "/never/on-a-refresh-page");
    let by_header = plain().with("Refresh", "0; url=/refreshed/by-header");
    let later = refresh("5; url=/refreshed/later", "/refreshed/linked");
    vec![
        row("/refresh/at-once", RefreshRedirect, at_once),
        target("/refreshed/at-once"),
        row("/refresh/by-header", RefreshRedirect, by_header),
        target("/refreshed/by-header"),
        listed("/refresh/later", later),
        target("/refreshed/later"),
        target("/refreshed/linked"),
    ]
}

fn by_directives() -> Vec<Row> {
    let meta = |content: &str, target: &str| {
        let head = format!("<meta name=robots content=\"{content}\">");
        page(&head, &link(target))
    };
    let header = |value: &str, body: &str| page("", body).with("X-Robots-Tag", value);
    let past = meta("unavailable_after: 2020-05-06", "/in/unavailable");
    let future = meta("unavailable_after: 2999-01-01", "/in/noindex");
    let by_links = "<a rel=nofollow href=/never/nofollow>1</a> <a rel=ugc href=/never/ugc>2</a>
                    <a rel=\"external,sponsored\" href=/never/sponsored>3</a>
                    <a rel=nofollow href=/in/found-elsewhere>4</a>";
    vec![
        row("/noindex/meta", Noindex, meta("noindex", "/in/noindex")),
        target("/in/noindex"),
        row("/noindex/none", Noindex, meta("none", "/never/in-none")),
        row("/noindex/header", Noindex, header("noindex", "")),
        listed("/noindex/another-bot", header("otherbot: noindex", "")),
        row("/until/past", UnavailableAfter, past),
        target("/in/unavailable"),
        listed("/until/future", future),
        listed("/nofollow/meta", meta("nofollow", "/never/in-nofollow")),
        listed("/nofollow/header", header("nofollow", &link("/never/x"))),
        listed("/nofollow/links", page("", by_links)),
        listed("/nofollow/not-here", page("", &link("/in/found-elsewhere"))),
        target("/in/found-elsewhere"),
    ]
}

fn by_canonical(elsewhere: &str) -> Vec<Row> {
    let header = |to: &str| plain().with("Link", &format!("<{to}>; rel=\"canonical\""));
    let own = canonical("./itself?utm_source=feed#top");
    let two = "<link rel=canonical href=/canonical/two><link rel=canonical href=/good/two>";
    let in_body = "<link rel=canonical href=\"https://x.test/\">";
    let noindex = "<meta name=robots content=noindex><link rel=canonical href=/good/noindex>";
    vec![
        listed("/canonical/itself", own),
        listed("/canonical/two", page(two, "")),
        target("/good/two"),
        listed("/canonical/unreadable", canonical("http://[")),
        listed("/canonical/in-body", page("", in_body)),
        row("/canonical/a", CanonicalElsewhere, canonical("/good/a")),
        target("/good/a"),
        row("/canonical/header", CanonicalElsewhere, header("/good/b")),
        target("/good/b"),
        row("/canonical/x", CanonicalForeign, canonical("http://x.test")),
        row("/canonical/port", CanonicalForeign, canonical(elsewhere)),
        row("/canonical/noindex", NoindexAndCanonical, page(noindex, "")),
        target("/good/noindex"),
    ]
}

/// Pages whose canonical URL cannot be listed itself, at once or after several steps.
fn by_canonical_chain() -> Vec<Row> {
    let broken = |path: &str, to: &str| row(path, CanonicalBroken, canonical(to));
    vec![
        broken("/canonical/to-gone", "/broken/gone"),
        found("/broken/gone", Gone, Response::status(404)),
        broken("/canonical/to-redirect", "/broken/redirect"),
        found("/broken/redirect", Redirected, redirect("/good/redirect")),
        target("/good/redirect"),
        broken("/canonical/to-private", "/private/canonical"),
        found("/private/canonical", RobotsDisallowed, plain()),
        row("/chain/a", CanonicalElsewhere, canonical("/chain/b")),
        found("/chain/b", CanonicalElsewhere, canonical("/chain/c")),
        found("/chain/c", Listed, canonical("/chain/c")),
        // The link leads back by redirects.
        listed("/canonical/back/", canonical("/canonical/back")),
        found("/canonical/back", Redirected, redirect("/canonical/hop")),
        found("/canonical/hop", Redirected, redirect("/canonical/back/")),
        row("/around/a", CanonicalLoop, canonical("/around/b")),
        found("/around/b", CanonicalLoop, canonical("/around/a")),
    ]
}

fn by_links() -> Vec<Row> {
    let second = page("", &link("/list?page=3&amp;order=up"));
    let third = page("", "<p>The rest.</p>");
    let german = plain().with("Link", "</language/fr>; rel=alternate; hreflang=fr");
    let english = page("<link rel=alternate hreflang=de href=/language/de>", "");
    let frames = "<iframe src=/frames/iframe></iframe><map><area href=/frames/area></map>\
                  <noscript><a href=/frames/no-script>1</a></noscript>";
    let same = || page("", "<p>The very same words.</p>");
    let soft_404 = Response::html("<title>Page not found</title><p>Sorry.</p>");
    vec![
        listed("/list", page("<link rel=next href=\"/list?page=2\">", "")),
        found("/list?page=2", Listed, second),
        found("/list?page=3&order=up", Listed, third),
        listed("/language/en", english),
        found("/language/de", Listed, german),
        target("/language/fr"),
        listed("/amp/page", page("<link rel=amphtml href=/amp/amp>", "")),
        found("/amp/amp", CanonicalElsewhere, canonical("/amp/page")),
        listed("/frames/page", page("", frames)),
        target("/frames/iframe"),
        target("/frames/area"),
        target("/frames/no-script"),
        row("/private/page", RobotsDisallowed, plain()),
        // Two pages with the same bytes are counted in the report, and both are listed.
        listed("/same/1", same()),
        listed("/same/2", same()),
        listed("/soft-404", soft_404),
    ]
}

fn by_type() -> Vec<Row> {
    let pdf = || file("application/pdf");
    let noindex = pdf().with("X-Robots-Tag", "noindex");
    let copy = pdf().with("Link", "</files/original>; rel=\"canonical\"");
    let xhtml = "<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title/></head>\
                 <body><a href=\"/files/in-xhtml\">a link</a></body></html>";
    let xhtml = typed("application/xhtml+xml", xhtml.into());
    let text = || typed("text/plain", plain().body);
    let nosniff = text().with("X-Content-Type-Options", "nosniff");
    let empty = typed("application/pdf", Vec::new());
    let mut rows = vec![
        listed("/files/document.pdf", pdf()),
        row("/files/noindex.pdf", Noindex, noindex),
        row("/files/copy.pdf", CanonicalElsewhere, copy),
        target("/files/original"),
        row("/files/empty.pdf", Empty, empty),
        listed("/files/xhtml", xhtml),
        target("/files/in-xhtml"),
        // HTML under a type that servers use when they do not know.
        listed("/files/as-text", text()),
        row("/files/nosniff", NotAPage, nosniff),
        listed("/files/deep", page("", &"<div>".repeat(5_000))),
    ];
    for content_type in ["image/png", "text/css", "application/json", "text/plain"] {
        let path = format!("/others/{content_type}");
        rows.push(row(&path, NotAPage, file(content_type)));
    }
    rows
}

fn by_body() -> Vec<Row> {
    let mut announced = page("", &link("/never/in-announced-large"));
    announced.body.resize(MAX_BODY_BYTES + 1, b' ');
    let mut streamed = page("", &link("/in/large"));
    streamed.body.resize(MAX_BODY_BYTES / 2, b' ');
    let streamed = streamed.repeated(3, Duration::ZERO);
    let mut largest = plain();
    largest.body.resize(MAX_BODY_BYTES, b' ');
    let bomb = coded("gzip", gzip(&vec![b'a'; 1_000_000]));
    vec![
        // A body that is announced as too large is not read at all.
        row("/body/too-large", TooLarge, announced),
        row("/body/streamed-too-large", TooLarge, streamed),
        target("/in/large"),
        listed("/body/just-right", largest),
        listed("/body/gzip", coded("gzip", gzip(&plain().body))),
        row("/body/gzip-too-large", TooLarge, bomb),
    ]
}

fn by_spelling() -> Vec<Row> {
    let percents = format!("/spelling/{}", "%".repeat(1_500));
    vec![
        // A `%` that begins no escape is requested as it is. A sitemap must write it as `%25`, so these
        // two are one URL there.
        listed("/spelling/a%25zz", plain()),
        row("/spelling/a%zz", DuplicateSpelling, plain()),
        Row {
            written: Some("/spelling/b%25zz".to_owned()),
            ..listed("/spelling/b%zz", plain())
        },
        row(&percents, Unwritable, plain()),
    ]
}

/// Pages that cannot be read whole: the crawl is partial.
pub(super) fn failures() -> Vec<Row> {
    let cut = Response {
        announced: Some(10_000),
        ..page("", &link("/in/cut-short"))
    };
    let by_header = Response::status(403).with("cf-mitigated", "challenge");
    let by_body = Response {
        status: 403,
        ..Response::html("<title>Just a moment...</title>")
    };
    let broken_gzip = coded("gzip", b"\x1f\x8bgarbage, garbage".to_vec());
    vec![
        listed("/fine", plain()),
        row("/failing/dropped", NetworkError, Response::dropped()),
        row("/failing/cut-short", CutShort, cut),
        target("/in/cut-short"),
        row("/to-500", CanonicalBroken, canonical("/failing/500")),
        row("/failing/429", ServerError, Response::status(429)),
        row("/failing/500", ServerError, Response::status(500)),
        row("/failing/599", ServerError, Response::status(599)),
        row("/blocked/header", Blocked, by_header),
        row("/blocked/body", Blocked, by_body),
        row("/body/no-gzip", Undecodable, coded("gzip", plain().body)),
        row("/body/broken-gzip", Undecodable, broken_gzip),
        row("/body/brotli", Undecodable, coded("br", vec![0xff; 100])),
        // A name that is no coding leaves the body as it is.
        listed("/body/unknown-coding", coded("x-own", plain().body)),
    ]
}

/// Pages that match rules of the user.
pub(super) fn ruled() -> Vec<Row> {
    let sold_out = || page("", "<p class=sold-out>Sold out</p>");
    vec![
        listed("/shop/shoes", page("", "<p class=price>20</p>")),
        row("/shop/hats", PageRule, sold_out()),
        listed("/about", sold_out()),
        row("/cart", ExcludedByRule, plain()),
        row("/tags/red", FollowOnly, page("", &link("/tagged"))),
        target("/tagged"),
        row("/tags/gone", Gone, Response::status(404)),
        row("/media/clip.mp4", ListOnly, file("video/mp4")),
        row("/private/cart", RobotsDisallowed, plain()),
        listed("/depth/1", page("", &link("/depth/2"))),
        found("/depth/2", Listed, page("", &link("/depth/3"))),
        found("/depth/3", TooDeep, plain()),
    ]
}
