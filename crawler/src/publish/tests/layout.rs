//! The files of a set, their names and their places.

use super::*;

#[test]
fn small_sites_may_do_without_an_index() {
    let mut bench = Bench::new("/");
    bench.config.index = IndexMode::Auto;
    bench.crawl(&shop());
    let published = bench.publish().unwrap();
    assert_eq!(published.files.len(), 1);
    assert_eq!(published.sitemap_urls, ["https://shop.example/sitemap.xml"]);
    let xml = bench.read("sitemap.xml");
    assert_eq!(xml.matches("<loc>").count(), 273);
    assert!(xml.contains("<urlset"));
}

#[test]
fn parts_stand_in_the_directories_they_list() {
    let mut bench = Bench::new("/");
    bench.config.layout = Layout::InPlace;
    bench.crawl(&shop());
    let published = bench.publish().unwrap();
    let names: Vec<&str> = published
        .files
        .iter()
        .map(|file| file.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "sitemap.xml",
            "sitemap-root.xml.gz",
            "blog/sitemap.xml.gz",
            "docs/sitemap.xml.gz"
        ]
    );
    assert_eq!(
        published.files[2].url,
        "https://shop.example/blog/sitemap.xml.gz"
    );
}

#[test]
fn an_output_served_from_above_the_scope_keeps_files_in_their_place() {
    let mut bench = Bench::new("/docs/");
    bench.config.layout = Layout::InPlace;
    bench.config.public_url = Some("https://shop.example/".into());
    bench.crawl(
        &(0..150)
            .map(|number| (format!("/docs/api%20v1/{number}"), 1))
            .collect(),
    );
    let published = bench.publish().unwrap();
    assert_eq!(published.files[1].name, "docs/api v1/sitemap.xml.gz");
    assert_eq!(
        published.files[1].url,
        "https://shop.example/docs/api%20v1/sitemap.xml.gz"
    );
}

#[test]
fn a_public_url_that_does_not_cover_the_scope_is_refused() {
    let mut bench = Bench::new("/docs/");
    bench.config.public_url = Some("https://shop.example/blog/".into());
    bench.crawl(&BTreeMap::from([("/docs/a".into(), 1)]));
    let error = bench.publish().unwrap_err();
    assert!(matches!(error, PublishError::Settings(_)), "{error}");
}

#[test]
fn more_files_than_an_index_may_name_give_several_indexes() {
    let mut bench = Bench::new("/");
    bench.config.index_entries = 2;
    bench.crawl(&shop());
    let published = bench.publish().unwrap();
    assert_eq!(
        published.sitemap_urls,
        [
            "https://shop.example/sitemap.xml",
            "https://shop.example/sitemap-2.xml"
        ]
    );
    let named: usize = ["sitemap.xml", "sitemap-2.xml"]
        .map(|name| bench.read(name).matches("<loc>").count())
        .iter()
        .sum();
    assert_eq!(named, 3);
}

#[test]
fn a_sitemap_does_not_take_the_place_of_a_page() {
    let mut bench = Bench::new("/");
    let mut pages = shop();
    pages.insert("/sitemap.xml".into(), 1);
    bench.crawl(&pages);
    let error = bench.publish().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("https://shop.example/sitemap.xml"),
        "{error}"
    );
    assert_eq!(bench.files().len(), 0);
}
