//! Sitemaps with names of their own, of sites that are crawled.

use std::{collections::BTreeMap, fs};

use crate::support::{
    program::Bench,
    published::Published,
    site::{Response, Site},
};

const PAGES: [&str; 6] = [
    "/about",
    "/blog/1",
    "/blog/paper.pdf",
    "/shop/1",
    "/shop/2",
    "/shop/old/3",
];

fn site() -> Site {
    Site::start(|request| match request.target.as_str() {
        "/" => Response::linking(PAGES),
        "/robots.txt" => Response::text(""),
        path if PAGES.contains(&path) => Response::html(format!("<title>{path}</title>")),
        _ => Response::status(404),
    })
}

/// The paths in each file.
fn paths(published: &Published) -> BTreeMap<String, Vec<String>> {
    let path = |url: &String| url.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
    let parts = published.parts().into_iter();
    parts
        .map(|(name, part)| {
            let urls = part.entries.iter().map(|(url, _)| path(url));
            (name.to_owned(), urls.collect())
        })
        .collect()
}

#[track_caller]
fn check(bench: &Bench, expected: &[(&str, &[&str])]) {
    let expected = expected.iter().map(|(name, urls)| {
        let urls = urls.iter().map(|url| (*url).to_owned());
        ((*name).to_owned(), urls.collect())
    });
    assert_eq!(paths(&bench.published()), expected.collect());
}

const SECTIONS: [&str; 4] = [
    "--section",
    "/shop/old/*=archive",
    "--section",
    "/shop/**=shop",
];

#[test]
fn first_section_whose_glob_matches_takes_the_page() {
    let (site, bench) = (site(), Bench::new());
    bench.crawl(&site.url("/"), &SECTIONS).expect_code(0);
    let root: &[&str] = &["", "about", "blog/1", "blog/paper.pdf"];
    check(
        &bench,
        &[
            ("sitemap-archive.xml.gz", &["shop/old/3"]),
            ("sitemap-root.xml.gz", root),
            ("sitemap-shop.xml.gz", &["shop/1", "shop/2"]),
        ],
    );
    let index: Vec<String> = bench.published().files["sitemap.xml"]
        .entries
        .iter()
        .map(|(url, _)| url.replace(&site.url("/"), ""))
        .collect();
    let expected = [
        "sitemap-root.xml.gz",
        "sitemap-archive.xml.gz",
        "sitemap-shop.xml.gz",
    ];
    assert_eq!(index, expected);
    // A further crawl changes nothing.
    let before = bench.published();
    bench.crawl(&site.url("/"), &SECTIONS).expect_code(0);
    assert_eq!(bench.published().differences(&before), [] as [String; 0]);
    // The other formats have the same files; files of formats that are switched off leave.
    let config = bench.settings(
        "testing.grace = \"0s\"\noutput.format = [\"xml\", \"txt\"]\noutput.no_gzip = true\n",
    );
    let options = ["--config", &config, "--section", "*.pdf=papers"];
    bench.crawl(&site.url("/"), &options).expect_code(0);
    check(
        &bench,
        &[
            ("sitemap-papers.xml", &["blog/paper.pdf"]),
            (
                "sitemap-root.xml",
                &["", "about", "blog/1", "shop/1", "shop/2", "shop/old/3"],
            ),
        ],
    );
    let text = fs::read_to_string(bench.output().join("sitemap-papers.txt"));
    assert_eq!(text.expect("it is there"), site.url("/blog/paper.pdf\n"));
}

#[test]
fn copy_in_place_has_sections() {
    let (site, bench) = (site(), Bench::new());
    let options = [
        "--publish-as",
        "https://www.example.com/new/",
        "--layout",
        "in-place",
        "--section",
        "/shop/*=shop",
    ];
    bench.crawl(&site.url("/"), &options).expect_code(0);
    let published = bench.published();
    let shop = &published.files["shop/sitemap-shop.xml.gz"].entries;
    let urls: Vec<&str> = shop.iter().map(|(url, _)| url.as_str()).collect();
    let expected =
        ["1", "2", "old/3"].map(|page| format!("https://www.example.com/new/shop/{page}"));
    assert_eq!(urls, expected);
}
