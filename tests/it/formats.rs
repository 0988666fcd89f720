//! The form of the published set: values for entries, custom namespaces, schema locations, and the
//! formats besides XML. Every XML file that is read here is also checked by `xmllint`.

use std::fs;

use crate::support::{
    has_program,
    program::{Bench, Ran, run_tool},
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
        "/shop/1" => article("Shoes & socks"),
        "/shop/2" => article("Hats <new>"),
        "/shop/odd" => article("Nothing"),
        "/blog/1" => Response::html("<title>Blog</title>"),
        _ => Response::status(404),
    })
}

fn article(title: &str) -> Response {
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    Response::html(format!("<title>{title}</title>")).with("Last-Modified", CHANGED)
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
fn values_of_globs_are_written() {
    let (site, bench) = (site(), Bench::new());
    let config = bench.settings(&format!(
        r#"
        [[namespace]]
        prefix = "shop"
        uri = "{SHOP}"
        schema = "{SHOP}.xsd"
        [[namespace.element]]
        name = "title"
        pages = "/shop/*"
        value = "shoes & socks"
        [[namespace.element]]
        name = "source"
        pages = "/"
        value = "crawl"
        "#
    ));
    let mut options = vec!["--config", &*config, "--changefreq", "/shop/*=daily"];
    options.extend(["--priority", "/shop/2=0.3", "--priority", "/shop/*=0.8"]);
    options.extend(["--priority", "/=1.0"]);
    bench.crawl(&site.url("/"), &options).expect_code(0);
    let daily = "<lastmod>2026-02-02T10:00:00Z</lastmod><changefreq>daily</changefreq>";
    let kind = "<shop:title>shoes &amp; socks</shop:title>";
    let published = bench.published();
    assert_eq!(
        entries(&published),
        [
            " <priority>1.0</priority><shop:source>crawl</shop:source>".to_owned(),
            "blog/1 ".to_owned(),
            format!("shop/1 {daily}<priority>0.8</priority>{kind}"),
            format!("shop/2 {daily}<priority>0.3</priority>{kind}"),
            format!("shop/odd {daily}<priority>0.8</priority>{kind}"),
        ]
    );
    let root = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:shop=\"{SHOP}\">"
    );
    assert_eq!(root_of(&published.files["sitemap-root.xml.gz"].xml), root);

    // A second crawl changes nothing.
    let second = bench.crawl(&site.url("/"), &options).expect_code(0);
    assert_eq!(second.summary()["outcome"], "unchanged");
    assert_eq!(bench.published().differences(&published), [""; 0]);

    options.push("--schema-location");
    bench.crawl(&site.url("/"), &options).expect_code(0);
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

#[test]
fn text_and_feeds_are_published_with_xml() {
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
    let read = |name: &str| fs::read_to_string(bench.output().join(name)).expect("a feed");
    let rss = read("sitemap-recent.rss");
    let item = format!(
        "<item><title>Hats &lt;new&gt;</title><link>{url}</link><guid isPermaLink=\"true\">{url}</guid>\
         <pubDate>{CHANGED}</pubDate></item>\n",
        url = site.url("/shop/2")
    );
    assert!(rss.contains(&item), "{rss}");
    let atom = read("sitemap-recent.atom");
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

#[test]
fn pages_for_people_are_written_beside_the_sitemaps() {
    let (site, bench) = (site(), Bench::new());
    bench
        .crawl(&site.url("/"), &["--format", "xml,html,llms"])
        .expect_code(0);
    let out = bench.output();
    let html = fs::read_to_string(out.join("sitemap.html")).expect("a page for visitors");
    let shop = format!(
        "<h2>/shop/</h2>\n<ul>\n<li><a href=\"{}\">Shoes &amp; socks</a></li>\n<li><a href=\"{}\">Hats &lt;new&gt;</a></li>\n",
        site.url("/shop/1"),
        site.url("/shop/2")
    );
    assert!(html.contains(&shop), "{html}");
    let llms = fs::read_to_string(out.join("llms.txt")).expect("a page for models");
    let line = format!("- [Hats \\<new\\>]({})\n", site.url("/shop/2"));
    assert!(llms.contains(&line), "{llms}");
    let index = fs::read_to_string(out.join("sitemap.xml")).expect("an index");
    assert!(
        !index.contains("html") && !index.contains("llms"),
        "{index}"
    );
    // Readers of sets leave them out, and they are files of the set like all others.
    let folder = out.display().to_string();
    let run = |arguments: &[&str]| {
        let mut command = bench.program();
        command.args(arguments);
        Ran::of(command).expect_code(0)
    };
    run(&["check", &folder]);
    let same = run(&["diff", &folder, &folder]);
    assert!(same.stdout.contains("5 unchanged"), "{}", same.stdout);
    let again = bench
        .crawl(&site.url("/"), &["--format", "xml,html,llms"])
        .expect_code(0);
    assert!(
        !again.stdout.contains("\"changed\":true"),
        "{}",
        again.stdout
    );
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert!(out.join("llms.txt").exists(), "it stays for a day");
}
