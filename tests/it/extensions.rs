//! Images and versions in other languages, from the pages of a site into its sitemaps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::support::{
    program::Bench,
    published::Published,
    site::{Response, Site},
    state::{assert_adds_up, reasons},
};

/// The alternates of the start pages; `/fr/` does not name `/`.
const HEAD: &str = "\
<link rel=alternate hreflang=en href=/><link rel=alternate hreflang=de href=/de/>\
<link rel=alternate hreflang=x-default href=/>";

/// The pages, each with its head and its body.
const PAGES: [(&str, &str, &str); 4] = [
    (
        "/",
        "<link rel=alternate hreflang=fr href=/fr/>",
        "<img src=/logo.png><img src='https://cdn.example/a,b.jpg?w=640&amp;h=480'>\
         <img src=/private/secret.png>",
    ),
    ("/de/", "", "<base href=/bilder/><img src='äpfel.png'>"),
    (
        "/fr/",
        "<link rel=alternate hreflang=fr href=/fr/>",
        "<img src=un.png>",
    ),
    (
        "/secret",
        "<meta name=robots content=noimageindex>",
        "<img src=1.png><img src=2.png>",
    ),
];

/// The entries of [`PAGES`]: images, then languages. `~` means the origin.
const EXPECTED: [(&str, &[&str], &[&str]); 6] = [
    (
        "~/",
        &["~/logo.png", "https://cdn.example/a,b.jpg?w=640&h=480"],
        &["de ~/de/", "en ~/", "x-default ~/"],
    ),
    ("~/a.pdf", &[], &["de ~/b.pdf", "en ~/a.pdf"]),
    ("~/b.pdf", &[], &["de ~/b.pdf", "en ~/a.pdf"]),
    (
        "~/de/",
        &["~/bilder/%C3%A4pfel.png"],
        &["de ~/de/", "en ~/", "x-default ~/"],
    ),
    ("~/fr/", &["~/fr/un.png"], &[]),
    ("~/secret", &[], &[]),
];

fn site() -> Site {
    Site::start(|request| {
        let target = request.target.as_str();
        let document = || Response {
            headers: vec![("Content-Type".to_owned(), "application/pdf".to_owned())],
            ..Response::html("%PDF-1.4")
        };
        let versions =
            "</a.pdf>; rel=alternate; hreflang=en, </b.pdf>; rel=\"alternate\"; hreflang=\"de\"";
        match target {
            "/robots.txt" => Response::text("User-agent: *\nDisallow: /private/\n"),
            "/a.pdf" | "/b.pdf" => document().with("Link", versions),
            _ => {
                let Some((_, head, body)) = PAGES.iter().find(|(path, ..)| *path == target) else {
                    return Response::status(404);
                };
                let common = if matches!(target, "/" | "/de/") {
                    HEAD
                } else {
                    ""
                };
                let links: String = PAGES
                    .iter()
                    .flat_map(|(path, ..)| ["<a href=", path, ">x</a>"])
                    .collect();
                Response::html(format!(
                    "<!doctype html><title>A page</title>{common}{head}<h1>A page</h1>{body}{links}<a href=/a.pdf>x</a><a href=/b.pdf>x</a>"
                ))
            }
        }
    })
}

/// The extensions of an entry: images in their order, languages with their targets.
type Extensions = (Vec<String>, Vec<String>);

/// The extensions of all entries by URL; the origin is written `~`.
fn extensions(published: &Published, site: &Site) -> BTreeMap<String, Extensions> {
    let parts = published.parts();
    let lines = parts.values().flat_map(|file| file.xml.lines());
    let clean = |text: &str| text.replace("&amp;", "&").replace(&site.origin(), "~");
    let between = |line: &str, start: &str, end: &str| -> Vec<String> {
        let rest = line.split(start).skip(1);
        rest.map(|rest| clean(rest.split_once(end).expect("it ends").0))
            .collect()
    };
    lines
        .filter(|line| line.starts_with("<url>"))
        .map(|line| {
            let versions = between(line, "<xhtml:link rel=\"alternate\" ", "/>");
            let versions = versions.iter().map(|link| {
                let link = link.replace("hreflang=\"", "").replace("href=\"", "");
                link.replace('"', "")
            });
            (
                between(line, "<loc>", "</loc>").remove(0),
                (
                    between(line, "<image:loc>", "</image:loc>"),
                    versions.collect(),
                ),
            )
        })
        .collect()
}

fn table() -> BTreeMap<String, Extensions> {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    EXPECTED
        .iter()
        .map(|(loc, images, links)| ((*loc).to_owned(), (owned(images), owned(links))))
        .collect()
}

const OPTIONS: [&str; 2] = ["--with", "images,hreflang"];

#[test]
fn entries_have_images_and_versions_of_pages() {
    let site = site();
    let bench = Bench::new();
    let ran = bench.crawl(&site.url("/"), &OPTIONS).expect_code(0);
    let summary = ran.summary();
    assert_adds_up(&summary);
    let published = bench.published();
    assert_eq!(extensions(&published, &site), table());
    let expected = json!({
        "images": {
            "pages": 3,
            "written": 4,
            "left_out": {"noimageindex": 2, "robots-disallowed": 1},
            "pages_cut": 0,
            "pages_not_read": 0,
        },
        "hreflang": {
            "pages": 4,
            "written": 10,
            // fr from /.
            "left_out": {"no-return-link": 1},
            "pages_cut": 0,
            "pages_not_read": 0,
        },
    });
    assert_eq!(summary["extensions"], expected, "{summary}");
    // Images are named, and never requested.
    let asked: BTreeSet<String> = site.pages().into_iter().collect();
    let known: BTreeSet<String> = reasons(&bench).into_keys().collect();
    assert_eq!(asked, known);
    assert!(
        asked.iter().all(|path| !path.contains(['j', 'g'])),
        "{asked:?}"
    );

    // The same site again: every file stays as it is.
    bench.crawl(&site.url("/"), &OPTIONS).expect_code(0);
    assert_eq!(
        bench.published().differences(&published),
        Vec::<String>::new()
    );
}
