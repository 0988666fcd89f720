//! Sitemaps with names of their own, of sites that are crawled.

use std::{collections::BTreeMap, fs};

use crate::support::{
    program::{Bench, Ran},
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
    "--sections",
    "/shop/old/*=archive",
    "--sections",
    "/shop/**=shop",
];

#[test]
fn pages_stand_in_the_sitemap_of_the_first_glob_that_fits_or_of_their_directory() {
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
    // A further run changes nothing.
    let before = bench.published();
    bench.crawl(&site.url("/"), &SECTIONS).expect_code(0);
    assert_eq!(bench.published().differences(&before), [] as [String; 0]);
    // The other formats have the same files; what nobody asks for any more leaves.
    let config = bench.settings("grace = \"0s\"\nformat = [\"xml\", \"txt\"]\nno_gzip = true\n");
    let options = ["--config", &config, "--sections", "*.pdf=papers"];
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
fn in_place_a_section_stands_in_the_directory_that_its_globs_share() {
    let (site, bench) = (site(), Bench::new());
    let options = [
        "--layout",
        "in-place",
        "--sections",
        "/shop/old/*=archive",
        "--sections",
        "/shop/*=goods",
        "--sections",
        "/blog/*.pdf=papers",
        "--sections",
        "/about=papers",
    ];
    bench.crawl(&site.url("/"), &options).expect_code(0);
    check(
        &bench,
        &[
            ("shop/old/sitemap-archive.xml.gz", &["shop/old/3"]),
            ("shop/sitemap-goods.xml.gz", &["shop/1", "shop/2"]),
            ("sitemap-papers.xml.gz", &["about", "blog/paper.pdf"]),
            ("sitemap-root.xml.gz", &["", "blog/1"]),
        ],
    );
}

#[test]
fn each_site_has_sections_of_its_own() {
    let (one, two, bench) = (site(), site(), Bench::new());
    let table = |site: &Site, host: &str, lines: &str| {
        format!(
            "[[site]]\nurl = \"http://{host}:{}/\"\n{lines}\n",
            site.port()
        )
    };
    let file = format!(
        "sections = [\"/blog/*=news-of-old\"]\nresolve = [\"one.test:{}:127.0.0.1\", \"two.test:{}:127.0.0.1\"]\n{}{}",
        one.port(),
        two.port(),
        table(
            &one,
            "one.test",
            "output = \"one\"\nsections = [\"/shop/*=shop\"]"
        ),
        table(&two, "two.test", "output = \"two\""),
    );
    let config = bench.settings(&file);
    let mut command = bench.program();
    command.args([
        "crawl",
        "--config",
        &config,
        "--rate",
        "unlimited",
        "--state",
        "state",
    ]);
    Ran::of(command).expect_code(0);
    let names = |folder: &str| -> Vec<String> {
        let published = Published::read(&bench.path().join(folder));
        published.parts().into_keys().map(str::to_owned).collect()
    };
    assert_eq!(names("one"), ["sitemap-root.xml.gz", "sitemap-shop.xml.gz"]);
    let other = ["sitemap-news-of-old.xml.gz", "sitemap-root.xml.gz"];
    assert_eq!(names("two"), other);
}

#[test]
fn a_copy_of_a_site_has_the_sections_of_the_original() {
    let (site, bench) = (site(), Bench::new());
    let options = [
        "--as",
        "https://www.example.com/new/",
        "--layout",
        "in-place",
        "--sections",
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

#[test]
fn what_stands_where_a_section_belongs_is_not_replaced() {
    let (site, bench) = (site(), Bench::new());
    fs::create_dir_all(bench.output()).expect("a folder");
    let path = bench.output().join("sitemap-shop.xml.gz");
    fs::write(&path, "by hand").expect("a file");
    let ran = bench.crawl(&site.url("/"), &SECTIONS).expect_code(4);
    assert!(
        ran.stderr
            .contains("sitemap-shop.xml.gz is not a file of arpent"),
        "{}",
        ran.stderr
    );
    assert_eq!(fs::read(&path).expect("it stands"), b"by hand");
}

#[test]
fn names_that_can_be_no_file_and_globs_that_match_nothing_are_refused() {
    let bench = Bench::new();
    let check = |value: &str, expected: &str| {
        let ran = bench
            .crawl("http://127.0.0.1:9/", &["--sections", value])
            .expect_code(2);
        assert!(ran.stderr.contains(expected), "{value}: {}", ran.stderr);
    };
    for value in [
        "/shop/*",
        "=shop",
        "/a=",
        "/a=Shop",
        "/a=a/b",
        "/a=../x",
        "/a=news",
        "/a=news-2",
        "/a=root",
        "/a=2",
        "/a=caf\u{e9}",
    ] {
        check(
            value,
            "--sections: expected GLOB=NAME with a name of up to 40 letters a to z",
        );
    }
    check("shop/*=shop", "\"shop/*\" can never match");
    let many: Vec<String> = (0..=100)
        .map(|number| format!("\"/{number}=s{number}\""))
        .collect();
    let config = bench.settings(&format!("sections = [{}]", many.join(",")));
    let ran = bench
        .crawl("http://127.0.0.1:9/", &["--config", &config])
        .expect_code(2);
    let expected = "sections: expected at most 100 names, found 101";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
}
