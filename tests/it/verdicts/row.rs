//! One URL of a table, and the pages that tables are made of.

use crawler::page::Reason;

use crate::support::site::Response;

/// One URL of a table.
pub(super) struct Row {
    pub(super) path: String,
    pub(super) reason: Reason,
    pub(super) answer: Response,
    /// The start page links to it; otherwise it can only be found through another page.
    pub(super) is_linked: bool,
    /// How a sitemap writes it, when that is another way.
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
pub(super) fn found(path: &str, reason: Reason, answer: Response) -> Row {
    Row {
        is_linked: false,
        ..row(path, reason, answer)
    }
}

pub(super) fn listed(path: &str, answer: Response) -> Row {
    row(path, Reason::Listed, answer)
}

/// A plain page that only another page of the table leads to, and that is listed.
pub(super) fn target(path: &str) -> Row {
    found(path, Reason::Listed, plain())
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

pub(super) fn robots_meta(content: &str, body: &str) -> Response {
    page(
        &format!("<meta name=\"robots\" content=\"{content}\">"),
        body,
    )
}

pub(super) fn canonical(target: &str) -> Response {
    page(&format!("<link rel=\"canonical\" href=\"{target}\">"), "")
}

pub(super) fn link(target: &str) -> String {
    format!("<a href=\"{target}\">a link</a>")
}

pub(super) fn file(content_type: &str) -> Response {
    typed(content_type, b"\x89some bytes, not for people".to_vec())
}

pub(super) fn typed(content_type: &str, body: Vec<u8>) -> Response {
    Response {
        headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
        body,
        ..Response::html("")
    }
}
