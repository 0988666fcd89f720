//! Images, videos, versions, news and custom elements from lists.

use super::*;
use crate::support::xmllint::SHOP;

/// A date of today, in W3C form: an article of this date is news.
fn today() -> String {
    let now = std::time::SystemTime::now();
    let now = httpdate::fmt_http_date(now);
    let fields: Vec<&str> = now.split(' ').collect();
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = months
        .iter()
        .position(|month| *month == fields[2])
        .expect("a month");
    format!("{}-{:02}-{}", fields[3], month + 1, fields[1])
}

fn article(title: &str, date: &str) -> Value {
    json!({
        "publication": {"name": "The Example", "language": "en"},
        "publication_date": date,
        "title": title,
    })
}

fn ndjson(rows: &[Value]) -> String {
    let lines: Vec<String> = rows.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn extensions_of_objects_and_columns_are_written() {
    let builds = Builds::new();
    let list = ndjson(&[
        json!({"loc": "/plain"}),
        json!({
            "loc": "/all",
            "images": ["a.jpg", {"loc": "https://cdn.example/b.jpg?x=1&y=2"}],
            "alternates": [{"hreflang": "de", "href": "/de/all"}, {"hreflang": "en", "href": "/all"}],
            "videos": [{
                "thumbnail_loc": "/t.jpg", "title": "A <clip>", "description": "words",
                "content_loc": "/v.mp4", "duration": 600, "live": false,
            }],
        }),
    ]);
    let objects = builds.file("list.ndjson", list);
    let columns = builds.file(
        "list.csv",
        "url;image;image;hreflang:de;video_title;video_description;video_thumbnail_loc;video_player_loc;video_tags\n\
         /a;/1.jpg|/2.jpg;/3.jpg;/de/a;A clip;\"words; and\nmore\";/t.jpg;/player;one|two\n",
    );
    builds.build(&[&objects, &columns]).expect_code(0);
    let lines = builds.lines();
    assert_eq!(lines["/plain"], "");
    for part in [
        "<image:image><image:loc>https://www.example.com/a.jpg</image:loc></image:image>",
        "<image:loc>https://cdn.example/b.jpg?x=1&amp;y=2</image:loc>",
        "hreflang=\"de\" href=\"https://www.example.com/de/all\"",
        "<video:title>A &lt;clip&gt;</video:title>",
        "<video:duration>600</video:duration>",
        "<video:live>no</video:live>",
    ] {
        assert!(lines["/all"].contains(part), "{part}\n{}", lines["/all"]);
    }
    let line = &lines["/a"];
    for (part, count) in [
        ("<image:image>", 3),
        ("<video:tag>", 2),
        ("<video:description>words; and more</video:description>", 1),
        ("hreflang=\"de\"", 1),
    ] {
        assert_eq!(line.matches(part).count(), count, "{part}\n{line}");
    }
    let xml = &builds.published().files["sitemap-root.xml.gz"].xml;
    for prefix in ["image", "video", "xhtml"] {
        assert!(xml.contains(&format!("xmlns:{prefix}=")), "{xml}");
    }
    assert!(!xml.contains("xmlns:news="), "{xml}");
}

#[test]
fn a_faulty_extension_costs_no_page() {
    let builds = Builds::new();
    let list = ndjson(&[
        json!({"loc": "/a", "images": ["http://", "/ok.jpg"], "alternates": [{"hreflang": "en-UK", "href": "/"}]}),
        json!({"loc": "/b", "videos": [{
            "thumbnail_loc": "t", "title": "t", "description": "d", "content_loc": "/b",
        }]}),
        json!({"loc": "/c", "news": article("Soon", "2999-01-01")}),
    ]);
    let file = builds.file("list.ndjson", list);
    let ran = builds.build(&[&file]).expect_code(3);
    assert_eq!(ran.summary()["input"]["values_left_out"], 4);
    for words in [
        "list.ndjson:1: value left out: images[0]: ",
        "list.ndjson:1: value left out: alternates[0].hreflang: UK is not a country",
        "list.ndjson:2: value left out: <video:content_loc> of \"t\" is the page itself",
        "list.ndjson:3: value left out: news.publication_date 2999-01-01 is in the future",
    ] {
        assert!(ran.stderr.contains(words), "{words}\n{}", ran.stderr);
    }
    let lines = builds.lines();
    assert_eq!(lines["/a"].matches("<image:image>").count(), 1);
    assert_eq!((lines["/b"].as_str(), lines["/c"].as_str()), ("", ""));
    assert_eq!(builds.published().files["sitemap.xml"].entries.len(), 1);
}

#[test]
fn news_of_two_days_has_separate_files() {
    let builds = Builds::new();
    let today = today();
    let mut rows = vec![
        json!({"loc": "/old", "news": article("Old", "2020-01-01")}),
        json!({"loc": "/page", "lastmod": "2026-01-02"}),
    ];
    for number in 0..1_001 {
        rows.push(
            json!({"loc": format!("/news/{number:04}"), "news": article("New & fresh", &today)}),
        );
    }
    let file = builds.file("list.ndjson", ndjson(&rows));
    builds.build(&[&file]).expect_code(0);
    let published = builds.published();
    let locations = &published.files["sitemap.xml"].entries;
    let names: Vec<String> = locations
        .iter()
        .map(|(loc, _)| loc.replace(BASE, ""))
        .collect();
    assert_eq!(
        names,
        [
            "sitemap-root.xml.gz",
            "sitemap.news.xml.gz",
            "sitemap-news.xml.gz",
            "sitemap-news-2.xml.gz"
        ]
    );
    let (first, second) = (
        &published.files["sitemap-news.xml.gz"],
        &published.files["sitemap-news-2.xml.gz"],
    );
    assert_eq!((first.entries.len(), second.entries.len()), (1_000, 1));
    assert_eq!(second.entries[0].0, format!("{BASE}news/1000"));
    assert!(
        second
            .xml
            .contains("<news:title>New &amp; fresh</news:title>"),
        "{}",
        second.xml
    );
    for part in ["sitemap-root.xml.gz", "sitemap.news.xml.gz"] {
        assert!(!published.files[part].xml.contains("news:"), "{part}");
    }
    // Every page of news is listed like any other.
    assert_eq!(published.files["sitemap.news.xml.gz"].entries.len(), 1_001);
    // In place: an old article leaves the file, and the file the index.
    let file = builds.file("list.ndjson", ndjson(&rows[..3]));
    builds.build(&[&file, "--force"]).expect_code(0);
    let smaller = builds.published();
    assert_eq!(smaller.files["sitemap-news.xml.gz"].entries.len(), 1);
    assert_eq!(smaller.files["sitemap.xml"].entries.len(), 2);
    let file = builds.file("list.ndjson", ndjson(&rows[..2]));
    builds.build(&[&file, "--force"]).expect_code(0);
    assert_eq!(builds.published().files["sitemap.xml"].entries.len(), 1);
}

#[test]
fn fields_of_lists_become_custom_elements() {
    let builds = Builds::new();
    let config = builds.file(
        "config.toml",
        format!(
            "[[namespace]]\nprefix = \"shop\"\nuri = \"{SHOP}\"\nschema = \"{SHOP}.xsd\"\n\
             [[namespace.element]]\nname = \"price\"\nfield = \"costs\"\n\
             [[namespace.element]]\nname = \"title\"\nfield = \"called\"\n"
        ),
    );
    let csv = builds.file("list.csv", "url,costs,called\n/a,12.50,this & that\n/b,,\n");
    let json = builds.file(
        "list.ndjson",
        ndjson(&[json!({"loc": "/c", "costs": 7, "called": null, "images": ["/c.png"]})]),
    );
    let options = ["--config", &config, "--schema-location", &csv, &json];
    builds.build(&options).expect_code(0);
    // Published files that are read are also checked by xmllint, with the schema of this namespace.
    let lines = builds.lines();
    assert_eq!(
        lines["/a"],
        "<shop:price>12.50</shop:price><shop:title>this &amp; that</shop:title>"
    );
    assert_eq!(lines["/b"], "");
    assert_eq!(
        lines["/c"],
        format!(
            "<image:image><image:loc>{BASE}c.png</image:loc></image:image><shop:price>7</shop:price>"
        )
    );
    let xml = &builds.published().files["sitemap-root.xml.gz"].xml;
    assert!(
        xml.contains(&format!("xmlns:shop=\"{SHOP}\""))
            && xml.contains(&format!(" {SHOP} {SHOP}.xsd")),
        "{xml}"
    );
    let again = builds.build(&options).expect_code(0);
    assert_eq!(again.summary()["outcome"], "unchanged");
}
