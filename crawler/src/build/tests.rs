//! Inputs into a store in memory; what the program makes of it is tested through the program.

use std::io::Cursor;

use super::*;
use crate::{
    config::ScopeWidth, page::PageRecord, runs, site::settle, store::memory::MemoryStore,
    url_key::Identity,
};

const NOW: &str = "2026-03-02T04:00:11Z";

/// Loads one list, and stops when `is_stopped` says so.
fn load_list(
    list: &str,
    config: &Config,
    is_stopped: &dyn Fn() -> bool,
) -> (MemoryStore, Result<Loaded, BuildError>, Vec<String>) {
    let base = Identity::default().parse("https://example.com/").unwrap();
    let site = settle(&base, &[], ScopeWidth::Directory).unwrap();
    let now = NOW.parse().unwrap();
    let mut store = MemoryStore::default();
    let run = runs::open(&mut store, "", now, now).unwrap().number;
    let request = LoadRequest {
        site: &site,
        config,
        run,
        now,
        is_stopped,
    };
    let source = Source::Open {
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

fn page(store: &MemoryStore, path: &str) -> Option<PageRecord> {
    let key = UrlKey::from_normalised(&format!("https://example.com{path}")).unwrap();
    store.page(&key).unwrap()
}

#[test]
fn a_build_that_is_stopped_leaves_nothing_behind() {
    let list = "/a\n/b\n".repeat(10_000);
    let (store, loaded, _) = load_list(&list, &Config::default(), &|| true);
    assert!(matches!(loaded, Err(BuildError::Stopped)), "{loaded:?}");
    assert_eq!(page(&store, "/a"), None);
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
        let Some(Outcome::Given(given)) = page(&store, "/a").unwrap().outcome else {
            panic!("{feed}");
        };
        let lastmod = given.lastmod.unwrap();
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
fn a_value_that_a_sitemap_lost_is_told() {
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
