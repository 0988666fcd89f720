//! Images and versions in other languages, from the pages of a site into its sitemaps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::support::{
    program::Bench,
    published::Published,
    site::{Response, Site},
    state::{assert_adds_up, reasons, records},
};

/// The alternates of the three start pages; `/fr/` does not name `/`.
const HEAD: &str = "\
<link rel=alternate hreflang=en href=/><link rel=alternate hreflang=de href=/de/>\
<link rel=alternate hreflang=x-default href=/>";

/// The pages, each with its head and its body.
const PAGES: [(&str, &str, &str); 7] = [
    (
        "/",
        "<link rel=alternate hreflang=fr href=/fr/><link rel=alternate hreflang=es href=/es/>\
         <link rel=alternate hreflang=en-UK href=/uk/><link rel=alternate hreflang=it href='https://it.example/'>",
        "<img src=/logo.png><img src='/logo.png#small'>\
         <img src='https://cdn.example/a,b.jpg?w=640&amp;h=480' srcset='https://cdn.example/large.jpg 2x'>\
         <img srcset='small.jpg 320w, large,1.jpg 1280w, medium.jpg 640w'>\
         <picture><source srcset='p.avif 1x, p2.avif 2x' type=image/avif><source srcset=p.webp><img alt=x></picture>\
         <img src='data:image/gif;base64,R0lGODlhAQABAAAAACw=' data-src=/script-only.png>\
         <img class=lazy data-src=/lazy.png><noscript><img src=/lazy.png></noscript>\
         <noscript><img height=1 width=1 src='https://statistics.example/pixel.gif'></noscript>\
         <img src=/private/secret.png><template><img src=/template.png></template>",
    ),
    ("/de/", "", "<base href=/bilder/><img src='äpfel.png'>"),
    (
        "/fr/",
        "<link rel=alternate hreflang=fr href=/fr/>",
        "<img src=un.png>",
    ),
    ("/uk/", "<link rel=alternate hreflang=en href=/>", ""),
    (
        "/secret",
        "<meta name=robots content=noimageindex>",
        "<img src=1.png><img src=2.png>",
    ),
    // Not in the sitemap, so no entry names this version.
    (
        "/es/",
        "<meta name=robots content=noindex>",
        "<img src=uno.png>",
    ),
    ("/plain", "", "<p>Nothing."),
];

/// The entries of [`PAGES`]: images, then languages. `~` means the origin.
const EXPECTED: [(&str, &[&str], &[&str]); 8] = [
    (
        "~/",
        &[
            "~/logo.png",
            "https://cdn.example/a,b.jpg?w=640&h=480",
            "~/large,1.jpg",
            "~/p2.avif",
            "~/lazy.png",
        ],
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
    ("~/plain", &[], &[]),
    ("~/secret", &[], &[]),
    ("~/uk/", &[], &[]),
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
fn entries_have_the_images_and_versions_of_the_pages() {
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
            "written": 7,
            "left_out": {"noimageindex": 2, "robots-disallowed": 1},
            "pages_cut": 0,
            "pages_not_read": 0,
        },
        "hreflang": {
            "pages": 4,
            "written": 10,
            // fr from /, en from /uk/; es; it; en-UK.
            "left_out": {"invalid-code": 1, "no-return-link": 2, "not-listed": 1, "other-host": 1},
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

#[test]
fn each_extension_is_an_option_of_its_own() {
    let site = site();
    let check = |options: &[&str], images: bool, hreflang: bool| {
        let bench = Bench::new();
        let ran = bench.crawl(&site.url("/"), options).expect_code(0);
        let published = bench.published();
        let mut expected = table();
        for (own_images, own_links) in expected.values_mut() {
            if !images {
                own_images.clear();
            }
            if !hreflang {
                own_links.clear();
            }
        }
        assert_eq!(extensions(&published, &site), expected, "{options:?}");
        let part = published.parts().into_values().next().expect("a part");
        assert_eq!(part.xml.contains("xmlns:image="), images, "{options:?}");
        assert_eq!(part.xml.contains("xmlns:xhtml="), hreflang, "{options:?}");
        let summary = ran.summary();
        assert_eq!(summary.get("extensions").is_some(), images || hreflang);
        for (path, record) in records(&bench) {
            if let Some(facts) = record.facts().filter(|facts| facts.status == 200) {
                assert_eq!(
                    (facts.images.is_some(), facts.alternates.is_some()),
                    (images, hreflang),
                    "{path}"
                );
            }
        }
    };
    check(&[], false, false);
    check(&["--with", "images"], true, false);
    check(&["--with", "hreflang"], false, true);
    check(&["--with", "hreflang", "--with", "images"], true, true);
}
