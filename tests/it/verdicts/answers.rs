//! Verdicts by status, redirect, type and body.

use std::time::Duration;

use crawler::page::Reason;

use super::row::{Row, file, found, link, listed, page, plain, row, target, typed};
use crate::support::{gzip, site::Response};

/// Pages stay far below it; the start page with its links is the longest.
pub(super) const MAX_BODY_BYTES: usize = 65_536;

pub(super) fn by_status() -> Vec<Row> {
    let mut rows: Vec<Row> = [404, 410]
        .map(|status| {
            row(
                &format!("/gone/{status}"),
                Reason::Gone,
                Response::status(status),
            )
        })
        .into();
    // An error page has no facts.
    let error_page = Response {
        status: 404,
        ..page("", &link("/on-an-error-page"))
    };
    rows.push(row("/gone/with-links", Reason::Gone, error_page));
    rows.extend(
        [400, 401, 402, 403, 405, 406, 408, 418, 451, 499].map(|status| {
            row(
                &format!("/refused/{status}"),
                Reason::ClientError,
                Response::status(status),
            )
        }),
    );
    rows.push(row(
        "/refused/cookie",
        Reason::NeedsCookie,
        Response::status(403).with("Set-Cookie", "a=1"),
    ));
    let with_status = |status| Response { status, ..plain() };
    rows.extend([201, 202, 203, 206].map(|status| {
        row(
            &format!("/other-success/{status}"),
            Reason::OtherSuccess,
            with_status(status),
        )
    }));
    let empty = |status| Response {
        status,
        ..Response::html("")
    };
    rows.extend([200, 204, 205].map(|status| {
        row(
            &format!("/no-content/empty-{status}"),
            Reason::Empty,
            empty(status),
        )
    }));
    rows
}

pub(super) fn by_redirect(elsewhere: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for status in [300, 301, 302, 303, 307, 308] {
        let landing = format!("/landed/{status}");
        let moved = Response::redirect(status, &landing);
        rows.push(row(&format!("/moved/{status}"), Reason::Redirected, moved));
        rows.push(target(&landing));
    }
    let absolute = Response::redirect(301, "{origin}/landed/absolute");
    rows.push(row("/moved/absolute", Reason::Redirected, absolute));
    rows.push(target("/landed/absolute"));
    let out = Reason::RedirectedOutOfScope;
    rows.push(row(
        "/moved/to-another-host",
        out,
        Response::redirect(301, "https://other.example/"),
    ));
    rows.push(row(
        "/moved/to-another-port",
        out,
        Response::redirect(302, elsewhere),
    ));
    // Neither a redirect nor a link is followed to a URL that robots.txt disallows.
    rows.push(row(
        "/moved/to-private",
        Reason::Redirected,
        Response::redirect(301, "/private/moved"),
    ));
    rows.push(found("/private/moved", Reason::RobotsDisallowed, plain()));

    let around = Reason::RedirectLoop;
    rows.push(row(
        "/loop/self",
        around,
        Response::redirect(302, "/loop/self"),
    ));
    rows.push(row("/loop/a", around, Response::redirect(302, "/loop/b")));
    rows.push(found("/loop/b", around, Response::redirect(302, "/loop/a")));
    rows.push(row(
        "/loop/into",
        around,
        Response::redirect(302, "/loop/a"),
    ));

    rows.push(row(
        "/hops/0",
        Reason::TooManyRedirects,
        Response::redirect(301, "/hops/1"),
    ));
    for hop in 1..=10 {
        let next = Response::redirect(301, &format!("/hops/{}", hop + 1));
        rows.push(found(&format!("/hops/{hop}"), Reason::Redirected, next));
    }
    // Ten hops are followed.
    rows.push(row(
        "/ten/0",
        Reason::Redirected,
        Response::redirect(301, "/ten/1"),
    ));
    for hop in 1..10 {
        let next = Response::redirect(301, &format!("/ten/{}", hop + 1));
        rows.push(found(&format!("/ten/{hop}"), Reason::Redirected, next));
    }
    rows.push(target("/ten/10"));

    let bad = Reason::BadRedirect;
    rows.push(row("/moved/nowhere", bad, Response::status(302)));
    rows.push(row(
        "/moved/by-mail",
        bad,
        Response::redirect(302, "mailto:us@example.com"),
    ));
    rows.push(row(
        "/moved/use-proxy",
        bad,
        Response::redirect(305, "/never/proxy"),
    ));
    rows.push(row(
        "/moved/306",
        bad,
        Response::redirect(306, "/never/306"),
    ));
    rows
}

pub(super) fn by_refresh() -> Vec<Row> {
    let refresh = |content: &str, body: &str| {
        page(
            &format!("<meta http-equiv=\"refresh\" content=\"{content}\">"),
            body,
        )
    };
    vec![
        row(
            "/refresh/at-once",
            Reason::RefreshRedirect,
            refresh(
                "0; url=/refreshed/at-once",
                &link("/never/on-a-refresh-page"),
            ),
        ),
        target("/refreshed/at-once"),
        row(
            "/refresh/by-header",
            Reason::RefreshRedirect,
            plain().with("Refresh", "0; url=/refreshed/by-header"),
        ),
        target("/refreshed/by-header"),
        // Readers with scripts stay on this page.
        listed(
            "/refresh/in-noscript",
            page(
                "<noscript><meta http-equiv=\"refresh\" content=\"0;URL='/refreshed/in-noscript'\"></noscript>",
                "",
            ),
        ),
        target("/refreshed/in-noscript"),
        listed(
            "/refresh/later",
            refresh("5; url=/refreshed/later", &link("/refreshed/linked")),
        ),
        target("/refreshed/later"),
        target("/refreshed/linked"),
        listed("/refresh/itself", refresh("0; url=/refresh/itself", "")),
        listed("/refresh/reload", refresh("30", "")),
    ]
}

pub(super) fn by_type() -> Vec<Row> {
    let pdf = "application/pdf";
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    let mut rows = vec![
        listed("/files/document.pdf", file(pdf)),
        listed("/files/document.docx", file(word)),
        listed("/files/book", file("application/epub+zip")),
        row(
            "/files/noindex.pdf",
            Reason::Noindex,
            file(pdf).with("X-Robots-Tag", "noindex"),
        ),
        row(
            "/files/copy.pdf",
            Reason::CanonicalElsewhere,
            file(pdf).with("Link", "</files/original>; rel=\"canonical\""),
        ),
        target("/files/original"),
        row("/files/empty.pdf", Reason::Empty, typed(pdf, Vec::new())),
        listed("/files/xhtml", typed("application/xhtml+xml", xhtml())),
        target("/files/in-xhtml"),
        // HTML that is served under no type, or under one that servers use when they do not know.
        listed("/files/untyped", untyped(plain().body)),
        listed("/files/as-text", typed("text/plain", plain().body)),
        listed(
            "/files/as-octets",
            typed(
                "application/octet-stream",
                b"<!-- a page -->\n<html><p>x".to_vec(),
            ),
        ),
        listed("/files/untyped-xhtml", untyped(xhtml())),
        row(
            "/files/nosniff",
            Reason::NotAPage,
            typed("text/plain", plain().body).with("X-Content-Type-Options", "nosniff"),
        ),
        listed("/files/deep", page("", &"<div>".repeat(5_000))),
    ];
    let others = [
        "image/png",
        "image/svg+xml",
        "text/css",
        "text/javascript",
        "font/woff2",
        "application/zip",
        "application/json",
        "application/rss+xml",
        "application/xml",
        "text/plain",
        "application/octet-stream",
        "video/mp4",
    ];
    rows.extend(others.into_iter().enumerate().map(|(index, content_type)| {
        row(
            &format!("/files/other-{index}"),
            Reason::NotAPage,
            file(content_type),
        )
    }));
    rows.extend(sources());
    rows
}

/// Files of a repository from a server that does not know their endings: parts of them look like HTML.
fn sources() -> Vec<Row> {
    let files = [
        (
            "README.md",
            "<h1 align=center>A project</h1>\n\n<p>Text</p>\n",
        ),
        ("licence.md", "<!-- header -->\n# Licence\n"),
        ("fix.patch", "<div>From 1234 Mon Sep 17 00:00:00 2001\n"),
        (
            "list.hbs",
            "<div class=entry>{{#each posts}}<html>{{/each}}</div>",
        ),
        (
            "feed.xsl",
            "<?xml version=\"1.0\"?>\n<xsl:stylesheet xmlns=\"http://www.w3.org/1999/xhtml\"><html></html></xsl:stylesheet>",
        ),
        ("notes.txt", "<a href=/never/in-a-text>x</a>"),
        ("partial.tpl", "<header><title>x</title></header>"),
    ];
    let types = ["application/octet-stream", "text/plain", ""];
    let rows = files.iter().flat_map(|(name, body)| {
        types.iter().enumerate().map(move |(index, content_type)| {
            let body = body.as_bytes().to_vec();
            let answer = if content_type.is_empty() {
                untyped(body)
            } else {
                typed(content_type, body)
            };
            row(
                &format!("/sources/{index}/{name}"),
                Reason::NotAPage,
                answer,
            )
        })
    });
    rows.collect()
}

fn untyped(body: Vec<u8>) -> Response {
    Response {
        headers: Vec::new(),
        body,
        ..plain()
    }
}

fn xhtml() -> Vec<u8> {
    b"<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title/><script src=\"x.js\"/></head>\
      <body><a href=\"/files/in-xhtml\">a link</a></body></html>"
        .to_vec()
}

pub(super) fn by_body() -> Vec<Row> {
    let mut announced = page("", &link("/never/in-announced-large"));
    announced.body.resize(MAX_BODY_BYTES + 1, b' ');
    let mut streamed = page("", &link("/in/large"));
    streamed.body.resize(MAX_BODY_BYTES / 2, b' ');
    let streamed = streamed.repeated(3, Duration::ZERO);
    let mut largest = plain();
    largest.body.resize(MAX_BODY_BYTES, b' ');
    let coded =
        |coding: &str, body: Vec<u8>| Response { body, ..plain() }.with("Content-Encoding", coding);
    vec![
        // A body that is announced as too large is not read at all.
        row("/body/too-large", Reason::TooLarge, announced),
        row("/body/streamed-too-large", Reason::TooLarge, streamed),
        target("/in/large"),
        listed("/body/just-right", largest),
        listed("/body/gzip", coded("gzip", gzip(&plain().body))),
        row(
            "/body/gzip-too-large",
            Reason::TooLarge,
            coded("gzip", gzip(&vec![b'a'; 1_000_000])),
        ),
    ]
}

/// Bodies with another coding than their header states.
pub(super) fn by_coding() -> Vec<Row> {
    let coded =
        |coding: &str, body: Vec<u8>| Response { body, ..plain() }.with("Content-Encoding", coding);
    vec![
        row(
            "/body/gzip-in-name-only",
            Reason::Undecodable,
            coded("gzip", plain().body),
        ),
        // A name that is no coding leaves the body as it is.
        listed("/body/unknown-coding", coded("x-own", plain().body)),
        row(
            "/body/broken-gzip",
            Reason::Undecodable,
            coded("gzip", b"\x1f\x8bgarbage, garbage".to_vec()),
        ),
        row(
            "/body/broken-brotli",
            Reason::Undecodable,
            coded("br", vec![0xff; 100]),
        ),
    ]
}

pub(super) fn by_spelling() -> Vec<Row> {
    let percents = format!("/spelling/{}", "%".repeat(1_500));
    vec![
        // A `%` that begins no escape is requested as it is. A sitemap must write it as `%25`, so these
        // two are one URL there.
        listed("/spelling/a%25zz", plain()),
        row("/spelling/a%zz", Reason::DuplicateSpelling, plain()),
        Row {
            written: Some("/spelling/b%25zz".to_owned()),
            ..listed("/spelling/b%zz", plain())
        },
        row(&percents, Reason::Unwritable, plain()),
    ]
}
