//! The files of a set, their names and their places.

use super::*;

#[test]
fn public_url_above_the_scope_keeps_directories() {
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
fn public_url_outside_the_scope_is_refused() {
    let mut bench = Bench::new("/docs/");
    bench.config.public_url = Some("https://shop.example/blog/".into());
    bench.crawl(&BTreeMap::from([("/docs/a".into(), 1)]));
    let error = bench.publish().unwrap_err();
    assert!(matches!(error, PublishError::Settings(_)), "{error}");
}

#[test]
fn sitemap_never_replaces_a_page() {
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
