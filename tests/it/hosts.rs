//! Sites that are served, crawled or written elsewhere: sets on another host and their proofs,
//! staging copies, and directives of a site that `--ignore` disregards.

mod ignored;
mod newcomers;
mod staging;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{
    program::{Bench, Ran},
    published::Published,
    site::{Request, Response, Site},
    state::{assert_adds_up, excluded, file, number, records},
};

/// The public URL of central sets in these tests; no request goes there.
const MAPS: &str = "https://maps.example.net/";

/// A page with this `head` and links to `targets`.
fn page(head: &str, targets: &[&str]) -> Response {
    let link = |target: &&str| format!("<a href=\"{target}\">x</a>");
    let links = targets.iter().map(link).collect::<Vec<_>>().concat();
    Response::html(format!(
        "<!doctype html><html><head><title>A page</title>{head}</head><body>{links}</body></html>"
    ))
}

/// Three pages and this robots.txt.
fn small_site(robots: impl Into<String>) -> Site {
    let robots = robots.into();
    Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(robots.clone()),
        "/" => Response::linking(["/a", "/docs/b"]),
        _ => Response::linking(["/"]),
    })
}

/// The URLs that the index of a set names.
fn index_of(set: &Published) -> Vec<&str> {
    let index = &set.files["sitemap.xml"];
    assert!(index.is_index);
    index.entries.iter().map(|(loc, _)| loc.as_str()).collect()
}

/// Listed paths, relative to the directory of the site.
#[track_caller]
fn listed(set: &Published, directory: &str) -> Vec<String> {
    let below = |url: String| match url.strip_prefix(directory) {
        Some(below) => below.to_owned(),
        None => panic!("{url} is not below {directory}"),
    };
    set.urls().into_iter().map(below).collect()
}

/// Runs `arpent` with these arguments in the folder of `bench`.
fn arpent<'a>(bench: &Bench, arguments: impl IntoIterator<Item = &'a str>) -> Ran {
    let mut command = bench.program();
    command.args(arguments);
    Ran::of(command)
}

fn bench_without_rate() -> Bench {
    Bench::with_options(["--rate", "unlimited"])
}

/// Crawls with a summary for people.
fn crawl_for_people(bench: &Bench, url: &str, options: &[&str]) -> Ran {
    let (output, state) = (bench.output(), bench.state());
    let folders = [("--output", &output), ("--state", &state)].map(|(option, folder)| {
        [
            option,
            folder.to_str().expect("the folder has a plain name"),
        ]
    });
    let own = ["crawl", url, "--rate", "unlimited"];
    arpent(
        bench,
        own.into_iter()
            .chain(folders.concat())
            .chain(options.iter().copied()),
    )
}

#[test]
fn sites_have_own_sets_on_a_central_host() {
    let one = small_site("");
    let two = small_site("User-agent: *\nDisallow: /a\n");
    let bench = Bench::new();
    let ran = bench
        .crawl(
            &one.url("/"),
            &[
                &two.url("/docs/b"),
                &one.url("/docs/"),
                "--public-url",
                MAPS,
            ],
        )
        .expect_code(0);
    let summaries = ran.summaries();
    let check = |summary: &Value, site: &Site, directory: &str, name: &str, paths: &[&str]| {
        let url = site.url(directory);
        assert_eq!(summary["site"], json!(url));
        let set = Published::read(&bench.output().join(name));
        assert_eq!(listed(&set, &url), paths, "entries are on the crawled host");
        assert_eq!(
            index_of(&set),
            [format!("{MAPS}{name}/sitemap-root.xml.gz")]
        );
        assert_eq!(
            summary["robots_txt"],
            json!([{
                "url": site.url("/robots.txt"),
                "line": format!("Sitemap: {MAPS}{name}/sitemap.xml"),
                "required": true,
                "present": false,
            }])
        );
    };
    let name = |site: &Site, rest: &str| format!("http_127.0.0.1_{}{rest}", site.port());
    check(
        &summaries[0],
        &one,
        "/",
        &name(&one, ""),
        &["", "a", "docs/b"],
    );
    check(&summaries[1], &two, "/docs/", &name(&two, "_docs"), &["b"]);
    check(&summaries[2], &one, "/docs/", &name(&one, "_docs"), &[""]);
}
