//! News articles and videos, from the pages of a site into its sitemaps.

use jiff::{Timestamp, ToSpan as _};
use serde_json::{Value, json};

use crate::support::{
    program::Bench,
    published::Published,
    site::{Response, Site},
};

const EXTENSIONS: [&str; 2] = ["--with", "news,video"];

fn json_ld(data: &Value) -> String {
    format!("<script type=\"application/ld+json\">{data}</script>")
}

fn article(headline: &str, published: Timestamp) -> Value {
    json!({
        "@context": "https://schema.org", "@type": "NewsArticle", "headline": headline,
        "datePublished": published.to_string(), "publisher": {"@type": "Organization", "name": "The Times"},
    })
}

/// A site that answers 304 to conditional requests.
fn site() -> Site {
    let now = Timestamp::now();
    let pages = [
        ("/", String::new()),
        ("/new", json_ld(&article("New & good", now - 1.hour()))),
        ("/old", json_ld(&article("Old", now - 72.hours()))),
        (
            "/video",
            json_ld(&json!({
                "@type": "VideoObject", "name": "A clip", "description": "What it is about",
                "thumbnailUrl": ["/t.jpg"], "contentUrl": "v.mp4?a=1&b=2", "duration": "PT1M33S",
            })),
        ),
    ];
    Site::start(move |request| {
        if request.headers.contains_key("if-none-match") {
            return Response::status(304);
        }
        let page = pages.iter().find(|(path, _)| *path == request.target);
        let Some((path, head)) = page else {
            return Response::status(404);
        };
        let links: String = pages
            .iter()
            .flat_map(|(path, _)| ["<a href=", path, ">x</a>"])
            .collect();
        let html = format!(
            "<html lang=en-GB><head><title>{path}</title>{head}</head><h1>{path}</h1>{links}"
        );
        Response::html(html).with("ETag", "\"1\"")
    })
}

/// The XML of the file with the news; empty without one.
fn news(published: &Published) -> String {
    let file = published.files.get("sitemap-news.xml.gz");
    file.map(|file| file.xml.clone()).unwrap_or_default()
}

/// Returns whether the set has a file with news.
fn has_news(summary: &Value) -> bool {
    let files = summary["files"].as_array().expect("files");
    files
        .iter()
        .any(|file| file["name"] == "sitemap-news.xml.gz")
}

#[test]
fn articles_and_videos_of_pages_are_listed() {
    let bench = Bench::new();
    let site = site();
    let crawl = |ahead: &str| {
        let ran = bench.crawl_ahead(ahead, &site.url("/"), &EXTENSIONS);
        ran.expect_code(0).summary()
    };
    let kind = |written: u64, left_out: Value| {
        json!({
            "pages": written, "written": written, "left_out": left_out, "pages_cut": 0, "pages_not_read": 0,
        })
    };
    let first = crawl("0m");
    assert_eq!(
        first["extensions"],
        json!({
            "news": kind(1, json!({"too-old": 1})),
            "video": kind(1, json!({})),
        })
    );
    let published = bench.published();
    let found = news(&published);
    for text in [
        "<news:name>The Times</news:name>",
        "<news:language>en</news:language>",
        "<news:title>New &amp; good</news:title>",
        &format!("<loc>{}</loc>", site.url("/new")),
    ] {
        assert!(found.contains(text), "{text}: {found}");
    }
    assert_eq!(found.matches("<url>").count(), 1);
    let parts = published.parts();
    let xml: String = parts.values().map(|file| file.xml.as_str()).collect();
    let clip = format!(
        "<video:content_loc>{}</video:content_loc>",
        site.url("/v.mp4?a=1&amp;b=2")
    );
    for text in [&*clip, "<video:duration>93</video:duration>"] {
        assert!(xml.contains(text), "{text}: {xml}");
    }
    assert_eq!(xml.matches("<video:video>").count(), 1);
    // The statements of the pages are stored, so that a 304 is enough.
    let again = crawl("1h");
    assert_ne!(again["not_modified"], 0);
    assert_eq!(again["extensions"], first["extensions"]);
    assert_eq!(news(&bench.published()), found);
    // After two days the article is not news any more.
    let later = crawl("50h");
    let expected = kind(0, json!({"too-old": 2}));
    assert_eq!(later["extensions"]["news"], expected);
    assert_eq!((has_news(&first), has_news(&later)), (true, false));
}
