//! The form of the published set: values for entries, custom namespaces, schema locations, and the
//! formats besides XML. Every XML file that is read here is also checked by `xmllint`.

use std::{
    fs,
    io::{BufReader, Read as _},
};

use flate2::read::GzDecoder;
use sitemap_core::partition::Suffix;

use crate::support::{
    has_program,
    program::{Bench, run_tool},
    published::Published,
    site::{Response, Site},
    xmllint::SHOP,
};

/// The time at which the pages of the shop changed; the pages of the site have no date.
const CHANGED: &str = "Mon, 02 Feb 2026 10:00:00 GMT";

/// A shop with two articles, and a blog.
fn site() -> Site {
    Site::start(|request| match request.target.as_str() {
        "/" => Response::linking(["/shop/1", "/shop/2", "/shop/odd", "/blog/1"]),
        "/shop/1" => article(
            "Shoes & socks",
            "<b class=price content='12.50'>12,50 €</b>",
        ),
        "/shop/2" => article(
            "Hats <new>",
            "<b class=price content='7'>seven</b><b class=price content='8'>8</b>",
        ),
        "/shop/odd" => article("Nothing", "<b class=price content=' '> </b>"),
        "/blog/1" => Response::html("<title>Blog</title><b class=price content='1'>1</b>"),
        _ => Response::status(404),
    })
}

fn article(title: &str, rest: &str) -> Response {
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    Response::html(format!("<title>{title}</title>{rest}")).with("Last-Modified", CHANGED)
}

/// The lines of the entries of the only part.
fn entries(published: &Published) -> Vec<String> {
    let parts = published.parts();
    assert_eq!(parts.len(), 1, "{:?}", parts.keys());
    parts
        .values()
        .flat_map(|part| part.xml.lines())
        .filter_map(|line| {
            let entry = line.strip_prefix("<url><loc>http://")?;
            let (_, path) = entry.split_once('/')?;
            Some(path.strip_suffix("</url>")?.replace("</loc>", " "))
        })
        .collect()
}

fn root_of(xml: &str) -> &str {
    xml.lines().nth(1).expect("a root element")
}

#[test]
fn the_first_glob_that_matches_gives_changefreq_and_priority() {
    let (site, bench) = (site(), Bench::new());
    let options = [
        "--changefreq",
        "/shop/*=daily",
        "--priority",
        "/shop/2=0.3",
        "--priority",
        "/shop/*=0.8",
        "--priority",
        "/=1.0",
    ];
    bench.crawl(&site.url("/"), &options).expect_code(0);
    let lastmod = "<lastmod>2026-02-02T10:00:00Z</lastmod>";
    let daily = "<changefreq>daily</changefreq>";
    assert_eq!(
        entries(&bench.published()),
        [
            " <priority>1.0</priority>".to_owned(),
            "blog/1 ".to_owned(),
            format!("shop/1 {lastmod}{daily}<priority>0.8</priority>"),
            format!("shop/2 {lastmod}{daily}<priority>0.3</priority>"),
            format!("shop/odd {lastmod}{daily}<priority>0.8</priority>"),
        ]
    );
}

#[test]
fn one_priority_for_every_page_is_reported() {
    let (site, bench) = (site(), Bench::new());
    let printed = |options: &[&str]| bench.crawl(&site.url("/"), options).expect_code(0).stderr;
    let one = printed(&["--priority", "*=0.7"]);
    assert!(one.contains("every page has the priority 0.7"), "{one}");
    let restless = printed(&["--changefreq", "/=always", "--changefreq", "*=hourly"]);
    assert!(
        restless.contains("every page has the changefreq always or hourly"),
        "{restless}"
    );
    let several = printed(&["--priority", "/shop/*=0.7"]);
    assert!(!several.contains("every page"), "{several}");
}

#[test]
fn custom_elements_are_constants_and_what_selectors_find() {
    let (site, bench) = (site(), Bench::new());
    let config = bench.settings(&format!(
        r#"
        [[namespace]]
        prefix = "shop"
        uri = "{SHOP}"
        schema = "{SHOP}.xsd"
        [[namespace.element]]
        name = "price"
        pages = "/shop/*"
        selector = "b.price"
        attribute = "content"
        [[namespace.element]]
        name = "title"
        pages = "/shop/*"
        selector = "title"
        [[namespace.element]]
        name = "source"
        pages = "/"
        value = "crawl"
        "#
    ));
    let options = ["--config", &config];
    bench.crawl(&site.url("/"), &options).expect_code(0);
    let lastmod = "<lastmod>2026-02-02T10:00:00Z</lastmod>";
    let published = bench.published();
    assert_eq!(
        entries(&published),
        [
            " <shop:source>crawl</shop:source>".to_owned(),
            "blog/1 ".to_owned(),
            format!(
                "shop/1 {lastmod}<shop:price>12.50</shop:price><shop:title>Shoes &amp; socks</shop:title>"
            ),
            format!(
                "shop/2 {lastmod}<shop:price>7</shop:price><shop:title>Hats &lt;new&gt;</shop:title>"
            ),
            format!("shop/odd {lastmod}<shop:title>Nothing</shop:title>"),
        ]
    );
    let root = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:shop=\"{SHOP}\">"
    );
    assert_eq!(root_of(&published.files["sitemap-root.xml.gz"].xml), root);

    // The selected value is stored with the page: a second crawl changes nothing.
    let second = bench.crawl(&site.url("/"), &options).expect_code(0);
    assert_eq!(second.summary()["outcome"], "unchanged");
    assert_eq!(bench.published().differences(&published), [""; 0]);

    let with_schema = ["--config", &config, "--schema-location"];
    bench.crawl(&site.url("/"), &with_schema).expect_code(0);
    let published = bench.published();
    let root = root_of(&published.files["sitemap-root.xml.gz"].xml);
    assert!(
        root.contains(&format!(" {SHOP} {SHOP}.xsd\">")) && root.contains(" xsi:schemaLocation=\""),
        "{root}"
    );
    let index = root_of(&published.files["sitemap.xml"].xml);
    assert!(
        index.contains("/siteindex.xsd\">") && !index.contains(SHOP),
        "{index}"
    );
}

/// The text of a published file, decompressed.
fn text_of(bench: &Bench, name: &str) -> String {
    let file = fs::File::open(bench.output().join(name)).expect("a published file");
    let mut text = String::new();
    let read = if name.ends_with(Suffix::TxtGz.as_str()) {
        GzDecoder::new(file).read_to_string(&mut text)
    } else {
        BufReader::new(file).read_to_string(&mut text)
    };
    read.expect("UTF-8");
    text
}

#[test]
fn text_and_feeds_are_beside_the_xml_files() {
    let (site, bench) = (site(), Bench::new());
    let options = ["--format", "xml,txt", "--format", "rss,atom"];
    let ran = bench.crawl(&site.url("/"), &options).expect_code(0);
    let summary = ran.summary();
    let files: Vec<_> = summary["files"]
        .as_array()
        .expect("a list of files")
        .iter()
        .map(|file| format!("{} {}", file["name"], file["entries"]).replace('"', ""))
        .collect();
    assert_eq!(
        files,
        [
            "sitemap.xml 3",
            "sitemap-root.xml.gz 5",
            "sitemap-root.txt.gz 5",
            "sitemap-recent.rss 3",
            "sitemap-recent.atom 3",
        ]
    );
    let text = text_of(&bench, "sitemap-root.txt.gz");
    let paths = ["/", "/blog/1", "/shop/1", "/shop/2", "/shop/odd"];
    assert_eq!(text, paths.map(|path| site.url(path) + "\n").concat());

    let named: Vec<String> = bench.published().files["sitemap.xml"]
        .entries
        .iter()
        .map(|(loc, _)| loc.replace(&site.origin(), ""))
        .collect();
    assert_eq!(
        named,
        [
            "/sitemap-root.xml.gz",
            "/sitemap-recent.rss",
            "/sitemap-recent.atom"
        ]
    );

    let rss = text_of(&bench, "sitemap-recent.rss");
    let item = format!(
        "<item><title>Hats &lt;new&gt;</title><link>{url}</link><guid isPermaLink=\"true\">{url}</guid>\
         <pubDate>{CHANGED}</pubDate></item>\n",
        url = site.url("/shop/2")
    );
    assert!(rss.contains(&item), "{rss}");
    let atom = text_of(&bench, "sitemap-recent.atom");
    let entry = format!(
        "<entry><title>Shoes &amp; socks</title><link href=\"{url}\"/><id>{url}</id>\
         <updated>2026-02-02T10:00:00Z</updated></entry>\n",
        url = site.url("/shop/1")
    );
    assert!(atom.contains(&entry), "{atom}");
    if has_program("xmllint") {
        for feed in ["sitemap-recent.rss", "sitemap-recent.atom"] {
            let file = bench.output().join(feed);
            run_tool(
                "xmllint",
                ["--nonet".as_ref(), "--noout".as_ref(), file.as_path()],
            );
        }
    }

    // A second crawl rewrites nothing, and only the entries of the index are new without the other formats.
    let second = bench.crawl(&site.url("/"), &options).expect_code(0);
    assert_eq!(second.summary()["outcome"], "unchanged");
    let xml_alone = bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert_eq!(xml_alone.summary()["files"][0]["changed"], true);
    assert_eq!(xml_alone.summary()["files"][1]["changed"], false);
}
