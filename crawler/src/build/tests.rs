//! Inputs into a store in memory. Tests through the program check the published set.

mod readers;

use std::io::Cursor;

use super::*;
use crate::{
    config::ScopeWidth,
    crawl_state,
    page::{PageRecord, Supplied},
    site::site_of_redirects,
    store::Store,
    url_key::Identity,
};

const NOW: &str = "2026-03-02T04:00:11Z";

/// Loads one list of a site at `example.com`, and stops when `is_stopped` returns `true`.
fn load_list(
    list: &str,
    config: &Config,
    is_stopped: &dyn Fn() -> bool,
) -> (Store, Result<Loaded, BuildError>, Vec<String>) {
    load_list_of(&example_site(), list.as_bytes(), config, is_stopped)
}

/// The same for any site.
fn load_list_of(
    site: &Site,
    list: &[u8],
    config: &Config,
    is_stopped: &dyn Fn() -> bool,
) -> (Store, Result<Loaded, BuildError>, Vec<String>) {
    let now = NOW.parse().unwrap();
    let mut store = Store::in_memory().unwrap();
    crawl_state::open(&mut store, "", now, true).unwrap();
    let request = LoadRequest {
        site,
        config,
        now,
        is_stopped,
    };
    let source = BuildSource::Open {
        name: "list".to_owned(),
        bytes: Box::new(Cursor::new(list.to_owned())),
    };
    let mut told = Vec::new();
    let loaded = load(&mut store, vec![source], &request, &mut |news| match news {
        News::Remark(remark) => told.push(remark.to_string()),
        News::Progress(_) => {}
    });
    (store, loaded, told)
}

fn page(store: &Store, path: &str) -> Option<PageRecord> {
    let key = UrlKey::from_normalised(&format!("https://example.com{path}")).unwrap();
    store.visit(&key).map(|visit| visit.record)
}

/// The values of a page that a list has.
fn supplied_of(store: &Store, path: &str) -> Supplied {
    match page(store, path).unwrap().outcome {
        Some(Outcome::Supplied(supplied)) => *supplied,
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn stopped_build_stores_nothing() {
    let list = "/a\n/b\n".repeat(10_000);
    let (store, loaded, _) = load_list(&list, &Config::default(), &|| true);
    assert!(matches!(loaded, Err(BuildError::Stopped)), "{loaded:?}");
    assert_eq!(page(&store, "/a"), None);
}

#[test]
fn second_namespace_of_a_prefix_is_reported() {
    let own = |page: &str, prefix: &str, namespace: &str| {
        format!(
            "{{\"loc\":\"{page}\",\"custom\":{{\"prefix\":\"{prefix}\",\"namespace\":\"{namespace}\",\
             \"name\":\"price\",\"text\":\"5\"}}}}\n"
        )
    };
    let list = own("/a", "shop", "urn:one")
        + &own("/b", "shop", "urn:two")
        + &own("/c", "other", "urn:one")
        + &own("/d", "shop", "urn:one")
        + &own("/e", "set", "urn:three");
    let mut config = Config::default();
    config.publish.entries.namespaces = vec![Namespace {
        prefix: "set".to_owned(),
        uri: "urn:of-the-settings".to_owned(),
        schema: None,
        elements: Vec::new(),
    }];
    let (store, loaded, told) = load_list(&list, &config, &|| false);
    assert_eq!(loaded.unwrap().values_left_out, 3);
    assert_eq!(
        told,
        [
            "list:2: value left out: shop:price: prefix shop is bound to urn:one and cannot be bound to urn:two",
            "list:3: value left out: other:price: namespace urn:one is declared differently as shop",
            "list:5: value left out: set:price: prefix set is bound to urn:of-the-settings and cannot be bound to urn:three",
        ]
    );
    for (path, expected) in [("/a", 1), ("/b", 0), ("/c", 0), ("/d", 1), ("/e", 0)] {
        let supplied = supplied_of(&store, path);
        assert_eq!(
            supplied.extensions.custom_elements().len(),
            expected,
            "{path}"
        );
    }
}

/// Checks a list: the lines and the values that are left out, and the beginning of each report.
#[track_caller]
fn check_left_out(list: &str, lines: u64, values: u64, expected: &[&str]) -> Store {
    let (store, loaded, reports) = load_list(list, &Config::default(), &|| false);
    let loaded = loaded.unwrap();
    assert_eq!(
        (loaded.left_out, loaded.values_left_out),
        (lines, values),
        "{list}: {reports:?}"
    );
    assert_eq!(reports.len(), expected.len(), "{list}: {reports:?}");
    for (report, expected) in reports.iter().zip(expected) {
        assert!(report.starts_with(expected), "{expected}: {report}");
    }
    store
}

#[test]
fn unusable_lines_and_values_are_reported() {
    let store = check_left_out(
        "url,lastmod,priority\n/good,2026-01-02,0.5\nnot a url,,\nmailto:me@example.com,,\n,,\n\
         /a,yesterday,0.5\n/b,2999-01-01,\n/c,,7\n/d,,0.5,extra\n",
        3,
        3,
        &[
            "list:3: left out: white space inside a URL, expected one URL",
            "list:4: left out: not an http or https URL: \"mailto:me@example.com\"",
            "list:6: value left out: lastmod \"yesterday\": not a W3C date-time",
            "list:7: value left out: lastmod 2999-01-01 is in the future",
            "list:8: value left out: priority \"7\": not a priority",
            "list:9: left out: 4 fields, expected 3 as in the header line",
        ],
    );
    let supplied = supplied_of(&store, "/a");
    assert_eq!(supplied.lastmod, None);
    assert!(supplied.priority.is_some());
    // A date may be a day ahead of the clock, and not before the web.
    check_left_out(
        "url,lastmod\n/today,2026-03-02\n/soon,2026-03-03T04:00:00Z\n/later,2026-03-04\n",
        0,
        1,
        &["list:4: value left out: lastmod 2026-03-04 is in the future"],
    );
    let store = check_left_out(
        "url,lastmod\n/a,0001-01-01T00:00:00Z\n/b,1970-01-01\n/c,1989-12-31\n/d,1990-01-01\n",
        0,
        3,
        &[
            "list:2: value left out: lastmod",
            "list:3: value left out: lastmod 1970-01-01 is older than the web",
            "list:4: value left out: lastmod 1989-12-31 is older than the web",
        ],
    );
    for (path, expected) in [("/a", None), ("/c", None), ("/d", Some("1990-01-01"))] {
        let supplied = supplied_of(&store, path);
        let lastmod = supplied.lastmod.as_ref().map(LastMod::as_str);
        assert_eq!(lastmod, expected, "{path}");
    }
    let store = check_left_out(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
         <url><loc>https://example.com/a</loc><lastmod>yesterday</lastmod></url>\n\
         <url><loc>https://example.com/b</loc><lastmod>2026-01-02</lastmod></url>\n</urlset>",
        0,
        1,
        &["list:2: value left out: "],
    );
    assert!(page(&store, "/a").is_some() && page(&store, "/b").is_some());
}

#[test]
fn target_without_path_is_no_page() {
    let store = check_left_out(
        "#top\nexample.com/a\nWWW.Example.com/b\nexample.com.html\n//example.com/b\n/#top\n",
        2,
        0,
        &[
            "list:2: left out: a URL without its scheme, expected https://...: \"example.com/a\"",
            "list:3: left out: a URL without its scheme, expected https://...: \"WWW.Example.com/b\"",
        ],
    );
    for path in ["/example.com.html", "/b", "/"] {
        assert!(page(&store, path).is_some(), "{path}");
    }
    check_left_out(
        "{\"loc\":\"#top\"}",
        1,
        0,
        &["list:1: left out: only a fragment, expected the URL of a page: \"#top\""],
    );
    // The sitemaps of an index are no pages.
    let store = check_left_out(
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
         <sitemap><loc>https://example.com/part.xml</loc></sitemap>\n</sitemapindex>",
        1,
        0,
        &[
            "list:2: left out: https://example.com/part.xml is a sitemap that an index names, expected a page; \
             give the sitemaps of the index instead",
        ],
    );
    assert_eq!(page(&store, "/part.xml"), None);
}

#[test]
fn feeds_are_lists_too() {
    let rss = "<rss version=\"2.0\"><channel><title>t</title><link>https://example.com/</link><description>d</description>\
               <item><link>https://example.com/a</link><pubDate>Fri, 02 Jan 2026 03:04:05 GMT</pubDate></item>\
               </channel></rss>";
    let atom = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><id>x</id><title>t</title><updated>2026-01-02T03:04:05Z</updated>\
                <entry><id>y</id><title>u</title><updated>2026-01-02T03:04:05Z</updated><link href=\"https://example.com/a\"/></entry></feed>";
    for feed in [rss, atom] {
        let (store, loaded, told) = load_list(feed, &Config::default(), &|| false);
        assert_eq!(loaded.unwrap().entries, 1, "{feed}: {told:?}");
        let supplied = supplied_of(&store, "/a");
        let lastmod = supplied.lastmod.unwrap();
        assert_eq!(
            lastmod.latest_instant(),
            "2026-01-02T03:04:05Z".parse().unwrap()
        );
    }
}

/// Packs bytes as gzip does.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

fn example_site() -> Site {
    let base = Identity::default().parse("https://example.com/").unwrap();
    site_of_redirects(&base, &[], ScopeWidth::Directory).unwrap()
}

const SITEMAP: &str = "<?xml version=\"1.0\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
    <url><loc>https://example.com/a</loc></url>\n<url><loc>https://example.com/b</loc></url>\n</urlset>";

#[test]
fn bytes_after_a_compressed_list_are_reported() {
    let table = "loc,lastmod\n/a,2026-01-02\n/b,";
    let lines = "{\"loc\":\"/a\"}\n{\"loc\":\"/b\"}";
    let wide: Vec<u8> = "/a\n/b".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let lists = [
        b"/a\n/b\n",
        table.as_bytes(),
        lines.as_bytes(),
        &wide,
        SITEMAP.as_bytes(),
    ];
    for list in lists {
        for behind in [&b"\n"[..], b"junk /c\n", b"\0\0x"] {
            let name = format!("{} and {behind:?}", list.escape_ascii());
            let list = [&packed(list)[..], behind].concat();
            let (store, loaded, told) =
                load_list_of(&example_site(), &list, &Config::default(), &|| false);
            let loaded = loaded.unwrap();
            assert_eq!(
                (loaded.entries, loaded.left_out),
                (2, 0),
                "{name}: {told:?}"
            );
            let [note] = &loaded.notes[..] else {
                panic!("{name}: {:?}", loaded.notes);
            };
            assert!(
                note.text.starts_with("list: bytes that are not compressed"),
                "{note:?}"
            );
            assert!(page(&store, "/a").is_some() && page(&store, "/b").is_some());
        }
    }
}

#[test]
fn truncated_and_foreign_lists_are_reported() {
    let is_broken = |list: &[u8]| {
        let (_, loaded, _) = load_list_of(&example_site(), list, &Config::default(), &|| false);
        match loaded.unwrap_err() {
            BuildError::Broken { .. } => true,
            BuildError::Format { .. } => false,
            other => panic!("{other}"),
        }
    };
    let cut = &SITEMAP.as_bytes()[..SITEMAP.len() - 30];
    assert!(is_broken(cut));
    assert!(is_broken(&packed(cut)));
    let whole = packed(SITEMAP.as_bytes());
    assert!(is_broken(&whole[..whole.len() - 9]));
    assert!(is_broken(
        &[&packed(b"/a\n")[..], &packed(b"/b\n")[..9]].concat()
    ));
    assert!(!is_broken(b"<!doctype html><title>x</title>"));
    assert!(!is_broken(b"PK\x03\x04 and so on"));
}

#[test]
fn corrected_value_is_reported() {
    let rows = [
        "{\"loc\":\"/a\",\"changefreq\":\"Daily\"}\n",
        "url,changefreq\n/a,DAILY\n",
    ];
    for list in rows {
        let (store, loaded, told) = load_list(list, &Config::default(), &|| false);
        assert!(!loaded.unwrap().has_faults());
        let [told] = &told[..] else {
            panic!("{told:?}");
        };
        assert!(told.contains(": value corrected: changefreq "), "{told}");
        assert!(
            told.ends_with("is read as daily, expected lower case (R16)"),
            "{told}"
        );
        let supplied = supplied_of(&store, "/a");
        assert_eq!(
            supplied.changefreq.map(sitemap_core::ChangeFreq::as_str),
            Some("daily")
        );
    }
}
