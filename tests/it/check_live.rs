//! `arpent check` of sitemaps where they are served.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod findings;
mod requests;

use std::{
    collections::HashMap,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::Value;

use crate::support::{
    gzip,
    program::{self, Ran, Running},
    site::{Response, Site},
};

/// Settings of a check: a folder for its state, and no retries of failures.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program::arpent(self.0.path());
        command.env("ARPENT_MAX_TRIES", "1");
        command.arg("check").args(arguments);
        command
    }

    /// Checks as fast as the server can.
    fn check(&self, arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        command.args(["--rate", "unlimited"]);
        Ran::of(command)
    }

    /// The same with JSON.
    #[track_caller]
    fn json(&self, code: i32, arguments: &[&str]) -> Value {
        let mut command = self.command(arguments);
        command.args(["--rate", "unlimited", "--format", "json"]);
        let ran = Ran::of(command).expect_code(code);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
    }
}

fn xml(body: impl Into<Vec<u8>>) -> Response {
    let mut response = Response::html("");
    response.headers.clear();
    response.body = body.into();
    response.with("Content-Type", "application/xml")
}

fn urlset<T: AsRef<str>>(urls: impl IntoIterator<Item = T>) -> String {
    let entry = |url: T| format!("<url><loc>{}</loc></url>\n", url.as_ref());
    let entries: String = urls.into_iter().map(entry).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</urlset>\n"
    )
}

fn index<T: AsRef<str>>(urls: impl IntoIterator<Item = T>) -> String {
    let entry = |url: T| format!("<sitemap><loc>{}</loc></sitemap>\n", url.as_ref());
    let entries: String = urls.into_iter().map(entry).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</sitemapindex>\n"
    )
}

/// A compressed file with this text, in which the site writes its own origin before.
fn compressed(text: impl Into<Vec<u8>>) -> Response {
    let mut response = xml(text);
    response.headers.clear();
    response.with("Content-Type", "application/gzip")
}

/// A site of fixed answers; `{}` in a body or a `Location` means its own origin. Everything else is 404.
fn site<'a>(answers: impl IntoIterator<Item = (&'a str, Response)>) -> Site {
    let answers: HashMap<String, Response> = answers
        .into_iter()
        .map(|(path, response)| (path.to_owned(), response))
        .collect();
    Site::start(move |request| {
        let Some(response) = answers.get(&request.target) else {
            return Response::status(404);
        };
        let mut response = response.clone();
        let origin = format!("http://{}", request.headers["host"]);
        let text = String::from_utf8(response.body).unwrap();
        response.body = text.replace("{}", &origin).into_bytes();
        for (name, value) in &mut response.headers {
            *value = value.replace("{}", &origin);
            if (name.as_str(), value.as_str()) == ("Content-Type", "application/gzip") {
                response.body = gzip(&response.body);
            }
        }
        response
    })
}

/// The findings as `severity rule file-path:line`, in order; a file is named by its path.
fn findings(json: &Value) -> Vec<String> {
    let path = |url: &str| {
        let (_, rest) = url.split_once("://").unwrap_or(("", url));
        rest.find('/').map_or("", |slash| &rest[slash..]).to_owned()
    };
    json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            let file = finding["file"].as_str().map(path).unwrap_or_default();
            let line = finding["line"]
                .as_u64()
                .map(|line| format!(":{line}"))
                .unwrap_or_default();
            let [severity, rule] = ["severity", "rule"].map(|key| finding[key].as_str().unwrap());
            format!("{severity} {rule} {file}{line}")
        })
        .collect()
}

/// Fails when this was not found. Other findings may be there.
#[track_caller]
fn has(json: &Value, expected: &str) {
    let found = findings(json);
    assert!(
        found.iter().any(|finding| finding == expected),
        "{expected}: {found:#?}"
    );
}

/// The message of the first finding for a rule.
#[track_caller]
fn message<'a>(json: &'a Value, rule: &str) -> &'a str {
    let found = json["findings"].as_array().unwrap();
    let found = found.iter().find(|finding| finding["rule"] == rule);
    found.unwrap_or_else(|| panic!("no {rule}: {json:#}"))["message"]
        .as_str()
        .unwrap()
}

/// The documents by their path: kind, entries, status.
fn files(json: &Value) -> Vec<(String, Value, Value, Value)> {
    let file = |file: &Value| {
        let url = file["url"].as_str().unwrap();
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let [kind, entries, status] = ["kind", "entries", "status"].map(|key| file[key].clone());
        (format!("/{path}"), kind, entries, status)
    };
    json["files"].as_array().unwrap().iter().map(file).collect()
}

fn targets(site: &Site) -> Vec<String> {
    site.log().into_iter().map(|seen| seen.target).collect()
}

/// A site whose robots.txt has this line, once it is switched on.
fn proving(line: impl Fn() -> String + Send + Sync + 'static) -> (Site, Arc<AtomicBool>) {
    let is_there = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&is_there);
    let site = Site::start(move |request| match request.target.as_str() {
        "/robots.txt" if switch.load(Ordering::SeqCst) => Response::text(line()),
        "/robots.txt" => Response::text("User-agent: *\nDisallow:\n"),
        _ => Response::linking(["/"]),
    });
    (site, is_there)
}
