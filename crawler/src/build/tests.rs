//! Inputs into a store in memory. Tests through the program check the published set.

mod readers;

use std::io::Cursor;

use super::*;
use crate::{
    config::ScopeWidth, crawl_state, page::PageRecord, site::site_of_redirects, store::Store,
    url_key::Identity,
};

const NOW: &str = "2026-03-02T04:00:11Z";

/// Loads one list of a site at `example.com`, and stops when `is_stopped` returns `true`.
fn load_list(
    list: &str,
    config: &Config,
    is_stopped: &dyn Fn() -> bool,
) -> (Store, Result<Loaded, BuildError>, Vec<String>) {
    let base = Identity::default().parse("https://example.com/").unwrap();
    let site = site_of_redirects(&base, &[], ScopeWidth::Directory).unwrap();
    load_list_of(&site, list.as_bytes(), config, is_stopped)
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
    store.visit(&key).unwrap().map(|visit| visit.record)
}

#[test]
fn a_build_that_is_stopped_leaves_nothing_behind() {
    let list = "/a\n/b\n".repeat(10_000);
    let (store, loaded, _) = load_list(&list, &Config::default(), &|| true);
    assert!(matches!(loaded, Err(BuildError::Stopped)), "{loaded:?}");
    assert_eq!(page(&store, "/a"), None);
}

#[test]
fn a_prefix_means_one_namespace_and_the_other_is_reported_by_its_line() {
    let own = |page: &str, prefix: &str, namespace: &str| {
        format!(
            "{{\"loc\":\"{page}\",\"own\":{{\"prefix\":\"{prefix}\",\"namespace\":\"{namespace}\",\
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
        let Some(Outcome::Supplied(supplied)) = page(&store, path).unwrap().outcome else {
            panic!("{path}");
        };
        assert_eq!(
            supplied.extensions.custom_elements().len(),
            expected,
            "{path}"
        );
    }
}

#[test]
fn target_without_path_is_no_page() {
    let list = "#top\nexample.com/a\nWWW.Example.com/b\nexample.com.html\n//example.com/b\n/#top\n";
    let (store, loaded, told) = load_list(list, &Config::default(), &|| false);
    assert_eq!(loaded.unwrap().left_out, 2);
    assert_eq!(
        told,
        [
            "list:2: left out: a URL without its scheme, expected https://...: \"example.com/a\"",
            "list:3: left out: a URL without its scheme, expected https://...: \"WWW.Example.com/b\"",
        ]
    );
    for path in ["/example.com.html", "/b", "/"] {
        assert!(page(&store, path).is_some(), "{path}");
    }
    let (_, _, told) = load_list("{\"loc\":\"#top\"}", &Config::default(), &|| false);
    assert_eq!(
        told,
        ["list:1: left out: only a fragment, expected the URL of a page: \"#top\""]
    );
}

#[test]
fn hosts_and_paths_are_distinguished_however_they_are_written() {
    let base = Identity::default()
        .parse("https://b\u{fc}cher.example/")
        .unwrap();
    let site = site_of_redirects(&base, &[], ScopeWidth::Directory).unwrap();
    assert_eq!(site.origin.to_string(), "https://xn--bcher-kva.example");
    let list = "HTTPS://B\u{dc}CHER.example:443/\u{e9}\nhttps://xn--bcher-kva.example/%c3%a9\n/%C3%A9\n                /a%2Fb\n/%7Ec\n/~c\n";
    let (store, loaded, told) = load_list_of(&site, list.as_bytes(), &Config::default(), &|| false);
    assert_eq!(told, [""; 0]);
    assert_eq!(loaded.unwrap().repeated, 3);
    for path in ["/%C3%A9", "/a%2Fb", "/~c"] {
        let key = UrlKey::from_normalised(&format!("{}{path}", site.origin)).unwrap();
        assert!(store.visit(&key).unwrap().is_some(), "{path}");
    }
}

#[test]
fn a_list_in_utf_16_is_read_like_any_other() {
    let site = site_of_redirects(
        &Identity::default().parse("https://example.com/").unwrap(),
        &[],
        ScopeWidth::Directory,
    )
    .unwrap();
    let lists = [
        "/\u{e9}\r\n/b\r\n",
        "url\tpriority\r\n/\u{e9}\t0.5\r\n/b\t\r\n",
        "{\"loc\":\"/\u{e9}\"}\n{\"loc\":\"/b\"}\n",
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://example.com/\u{e9}</loc></url>\
         <url><loc>https://example.com/b</loc></url></urlset>",
    ];
    for list in lists {
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let marked = format!("\u{feff}{list}");
            let list: Vec<u8> = marked.encode_utf16().flat_map(bytes).collect();
            let (store, loaded, told) = load_list_of(&site, &list, &Config::default(), &|| false);
            assert_eq!(loaded.unwrap().entries, 2, "{marked}: {told:?}");
            assert!(
                page(&store, "/%C3%A9").is_some() && page(&store, "/b").is_some(),
                "{marked}"
            );
        }
    }
    let utf_32 = b"\xff\xfe\0\0/\0\0\0";
    let (_, loaded, _) = load_list_of(&site, utf_32, &Config::default(), &|| false);
    assert_eq!(
        loaded.unwrap_err().to_string(),
        "list:1: this is UTF-32, expected UTF-8 or UTF-16"
    );
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
        let Some(Outcome::Supplied(supplied)) = page(&store, "/a").unwrap().outcome else {
            panic!("{feed}");
        };
        let lastmod = supplied.lastmod.unwrap();
        assert_eq!(
            lastmod.latest_instant(),
            "2026-01-02T03:04:05Z".parse().unwrap()
        );
    }
}

#[test]
fn an_index_names_no_pages() {
    let index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
                 <sitemap><loc>https://example.com/part.xml</loc></sitemap>\n</sitemapindex>";
    let (store, loaded, told) = load_list(index, &Config::default(), &|| false);
    assert_eq!(loaded.unwrap().left_out, 1);
    assert_eq!(page(&store, "/part.xml"), None);
    assert_eq!(
        told,
        [
            "list:2: left out: https://example.com/part.xml is a sitemap that an index names, expected a page; \
             give the sitemaps of the index instead"
        ]
    );
}

#[test]
fn a_value_that_a_sitemap_lost_is_reported() {
    let sitemap = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
                   <url><loc>https://example.com/a</loc><lastmod>yesterday</lastmod></url>\n\
                   <url><loc>https://example.com/b</loc><lastmod>2026-01-02</lastmod></url>\n</urlset>";
    let (store, loaded, told) = load_list(sitemap, &Config::default(), &|| false);
    let loaded = loaded.unwrap();
    assert_eq!(
        (loaded.entries, loaded.left_out, loaded.values_left_out),
        (2, 0, 1)
    );
    assert!(told[0].starts_with("list:2: value left out: "), "{told:?}");
    assert!(page(&store, "/a").is_some() && page(&store, "/b").is_some());
}

#[test]
fn dates_may_be_a_day_ahead_and_no_more() {
    let list = "url,lastmod\n/today,2026-03-02\n/soon,2026-03-03T04:00:00Z\n/later,2026-03-04\n";
    let (_, loaded, told) = load_list(list, &Config::default(), &|| false);
    assert_eq!(loaded.unwrap().values_left_out, 1);
    assert!(
        told[0].starts_with("list:4: value left out: lastmod 2026-03-04 is in the future"),
        "{told:?}"
    );
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
fn lists_are_read_whatever_is_around_them() {
    let narrow = "https://example.com/a\nhttps://example.com/b\n";
    let wide = |bytes: fn(u16) -> [u8; 2]| narrow.encode_utf16().flat_map(bytes).collect();
    let warned = format!("Warning: undefined index in map.php on line 3\n{SITEMAP}");
    let cases: [(&str, Vec<u8>); 7] = [
        (
            "padded",
            [packed(narrow.as_bytes()), vec![0; 1_000]].concat(),
        ),
        (
            "padded XML",
            [packed(SITEMAP.as_bytes()), vec![0; 1_000]].concat(),
        ),
        ("twice", packed(&packed(narrow.as_bytes()))),
        ("behind a warning", warned.clone().into_bytes()),
        ("behind a warning, packed", packed(warned.as_bytes())),
        ("UTF-16LE", wide(u16::to_le_bytes)),
        ("UTF-16BE", wide(u16::to_be_bytes)),
    ];
    for (name, list) in cases {
        let (store, loaded, told) =
            load_list_of(&example_site(), &list, &Config::default(), &|| false);
        assert_eq!(loaded.unwrap().entries, 2, "{name}: {told:?}");
        assert_eq!(told, [""; 0], "{name}");
        assert!(
            page(&store, "/a").is_some() && page(&store, "/b").is_some(),
            "{name}"
        );
    }
}

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
fn dates_before_the_web_are_left_out() {
    let list =
        "url,lastmod\n/a,0001-01-01T00:00:00Z\n/b,1970-01-01\n/c,1989-12-31\n/d,1990-01-01\n";
    let (store, loaded, told) = load_list(list, &Config::default(), &|| false);
    assert_eq!(loaded.unwrap().values_left_out, 3);
    assert!(
        told[1].starts_with("list:3: value left out: lastmod 1970-01-01 is older than the web"),
        "{told:?}"
    );
    for (path, expected) in [("/a", None), ("/c", None), ("/d", Some("1990-01-01"))] {
        let Some(Outcome::Supplied(supplied)) = page(&store, path).unwrap().outcome else {
            panic!("{path}");
        };
        assert_eq!(
            supplied.lastmod.as_ref().map(LastMod::as_str),
            expected,
            "{path}"
        );
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
fn a_value_that_is_read_otherwise_than_it_is_written_is_reported() {
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
        let Some(Outcome::Supplied(supplied)) = page(&store, "/a").unwrap().outcome else {
            panic!("{list}");
        };
        assert_eq!(
            supplied.changefreq.map(sitemap_core::ChangeFreq::as_str),
            Some("daily")
        );
    }
}
