//! Findings that need a server: answers of pages and of servers (R10, R15, R72).

use std::collections::HashMap;

use serde_json::Value;

use super::{Found, HEAD, SITEMAP, breaks, command, keeps};
use crate::support::{
    program::Ran,
    site::{Response, Site},
};

/// A site with this sitemap at `/sitemap.xml`, in which `{}` is its own origin, and these pages.
fn site(lines: Option<&str>, pages: &[(&str, Response)]) -> Site {
    let sitemap =
        lines.map(|lines| format!("{HEAD}<urlset xmlns=\"{SITEMAP}\">\n{lines}\n</urlset>\n"));
    let pages: HashMap<String, Response> = pages
        .iter()
        .map(|(path, response)| ((*path).to_owned(), response.clone()))
        .collect();
    Site::start(move |request| {
        if let (Some(sitemap), "/sitemap.xml") = (&sitemap, request.target.as_str()) {
            let mut response = Response::html("");
            response.headers.clear();
            let origin = format!("http://{}", request.headers["host"]);
            response.body = sitemap.replace("{}", &origin).into_bytes();
            return response.with("Content-Type", "application/xml");
        }
        let page = pages.get(&request.target).cloned();
        page.unwrap_or_else(|| Response::status(404))
    })
}

/// Findings there, with all pages requested.
fn check(site: &Site) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--pages", "all", "--rate", "unlimited"].map(str::to_owned);
    let mut command = command(folder.path(), &site.url("/sitemap.xml"), &arguments);
    command
        .env("HOME", folder.path())
        .env("ARPENT_MAX_TRIES", "1");
    let ran = Ran::of(command);
    let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
    Found {
        code: ran.code.unwrap(),
        findings: printed["findings"].as_array().unwrap().clone(),
    }
}

pub(super) fn pages() {
    let one = "<url><loc>{}/a</loc></url>";
    let good = check(&site(Some(one), &[("/a", Response::linking(["/"]))]));
    let answers = [
        (Response::redirect(301, "/b"), "error"),
        (Response::status(404), "error"),
        (Response::dropped(), "warning"),
    ];
    for (answer, severity) in answers {
        let found = check(&site(Some(one), &[("/a", answer)]));
        breaks("R10", severity, Some(3), &found);
        keeps("R10", &good);
    }
    // The date of the page from the server is later than that in the sitemap.
    let dated = "<url><loc>{}/a</loc><lastmod>2024-05-17</lastmod></url>";
    let modified = |date: &str| {
        let page = Response::linking(["/"]).with("Last-Modified", date);
        check(&site(Some(dated), &[("/a", page)]))
    };
    let later = modified("Sun, 19 May 2024 10:00:00 GMT");
    breaks("R15", "note", Some(3), &later);
    keeps("R15", &modified("Fri, 17 May 2024 10:00:00 GMT"));
}

pub(super) fn sitemaps_that_cannot_be_fetched() {
    let one = "<url><loc>{}/a</loc></url>";
    let page = [("/a", Response::linking(["/"]))];
    breaks("R72", "error", None, &check(&site(None, &page)));
    keeps("R72", &check(&site(Some(one), &page)));
}
