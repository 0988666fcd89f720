//! Sites that are served, crawled or written elsewhere: sets on another host and what proves them,
//! staging copies, and what one's own site says and is not listened to.

mod ignored;
mod newcomers;
mod staging;

use std::{collections::BTreeMap, fs};

use serde_json::{Value, json};

use crate::support::{
    program::{Bench, Ran},
    published::Published,
    site::{Request, Response, Site},
    state::{assert_adds_up, excluded, file, number, records},
};

/// Where central sets of these tests are said to be served; nothing is ever asked of it.
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

/// Listed paths, the URL of the site's directory taken away.
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
fn each_of_several_sites_has_a_set_of_its_own_on_the_central_host() {
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

#[test]
fn host_and_site_have_places_in_the_public_url() {
    // Two names of one server are two hosts.
    let site = small_site("");
    let localhost = format!("http://localhost:{}/", site.port());
    let bench = Bench::new();
    let options = [
        localhost.as_str(),
        "--public-url",
        "https://maps.example.net/{host}/all",
    ];
    let ran = bench.crawl(&site.url("/"), &options).expect_code(0);
    let mut lines: Vec<_> = ran
        .summaries()
        .iter()
        .map(|summary| {
            (
                summary["robots_txt"][0]["url"].clone(),
                summary["robots_txt"][0]["line"].clone(),
            )
        })
        .collect();
    // They are crawled side by side, and told of as they end.
    lines.sort_by_key(|(url, _)| url.to_string());
    assert_eq!(
        lines,
        [
            (
                json!(site.url("/robots.txt")),
                json!(format!("Sitemap: {MAPS}127.0.0.1/all/sitemap.xml"))
            ),
            (
                json!(format!("{localhost}robots.txt")),
                json!(format!("Sitemap: {MAPS}localhost/all/sitemap.xml"))
            ),
        ]
    );
    let set = Published::read(
        &bench
            .output()
            .join(format!("http_localhost_{}", site.port())),
    );
    assert_eq!(listed(&set, &localhost), ["", "a", "docs/b"]);
    assert_eq!(
        index_of(&set),
        [format!("{MAPS}localhost/all/sitemap-root.xml.gz")]
    );

    let options = [
        &site.url("/docs/")[..],
        "--public-url",
        "https://maps.example.net/{host}/all",
    ];
    let ran = bench.crawl(&site.url("/"), &options).expect_code(2);
    assert!(
        ran.stderr
            .contains("several sites are on the host 127.0.0.1"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_line_in_robots_txt_is_asked_for_until_it_is_there() {
    let line = format!("Sitemap: {MAPS}sitemap.xml");
    let check = |robots: &str, present: bool| {
        let site = small_site(robots);
        let ran = Bench::new()
            .crawl(&site.url("/"), &["--public-url", MAPS])
            .expect_code(0);
        let expected = json!([{"url": site.url("/robots.txt"), "line": line, "required": true, "present": present}]);
        assert_eq!(ran.summary()["robots_txt"], expected, "{robots}");
        let ran =
            crawl_for_people(&Bench::new(), &site.url("/"), &["--public-url", MAPS]).expect_code(0);
        let title = if present {
            "has the line:"
        } else {
            "needs this line, or engines do not accept sitemaps that stand elsewhere:"
        };
        let told = format!("  {} {title}\n    {line}\n", site.url("/robots.txt"));
        assert!(ran.stdout.contains(&told), "{}", ran.stdout);
    };
    check("", false);
    check("Sitemap: https://maps.example.net/other.xml\n", false);
    check("Sitemap: http://maps.example.net/sitemap.xml\n", false);
    check(
        &format!("User-agent: other\nDisallow: /\nsitemap:  {MAPS}sitemap.xml\n"),
        true,
    );
    check("Sitemap: https://MAPS.example.net:443/sitemap.xml\n", true);
}

#[test]
fn another_port_or_scheme_of_the_same_host_is_another_origin() {
    let site = small_site("");
    for public_url in ["http://127.0.0.1:1/", "https://127.0.0.1/maps/"] {
        let bench = Bench::new();
        let ran = bench
            .crawl(&site.url("/"), &["--public-url", public_url])
            .expect_code(0);
        let robots = &ran.summary()["robots_txt"][0];
        assert_eq!(robots["required"], json!(true));
        assert_eq!(
            robots["line"],
            json!(format!("Sitemap: {public_url}sitemap.xml"))
        );
        assert_eq!(
            listed(&bench.published(), &site.url("/")),
            ["", "a", "docs/b"]
        );
    }
    // The set of the site's own origin needs no proof.
    let ran = Bench::new().crawl(&site.url("/docs/b"), &["--public-url", &site.url("/")]);
    assert_eq!(
        ran.expect_code(0).summary()["robots_txt"][0]["required"],
        json!(false)
    );
}

#[test]
fn in_place_files_of_a_central_set_stand_in_folders_below_it() {
    let pages: Vec<String> = (0..120).map(|number| format!("/docs/{number}")).collect();
    let site = Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        _ => Response::linking(&pages),
    });
    let bench = Bench::new();
    let options = [
        "--layout",
        "in-place",
        "--public-url",
        "https://maps.example.net/one",
    ];
    bench.crawl(&site.url("/"), &options).expect_code(0);
    let set = bench.published();
    assert_eq!(
        index_of(&set),
        [
            "https://maps.example.net/one/sitemap-root.xml.gz",
            "https://maps.example.net/one/docs/sitemap.xml.gz"
        ]
    );
    assert_eq!(set.files["docs/sitemap.xml.gz"].entries.len(), 120);
    assert_eq!(listed(&set, &site.url("/")).len(), 121);
}
