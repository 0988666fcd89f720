//! Copies of sitemaps that are stored for later crawls.

use super::*;

fn sitemap(lastmod: &str, body: &[u8]) -> CachedSitemap {
    CachedSitemap {
        lastmod: lastmod.to_owned(),
        read_at: time("2026-03-01T12:00:00.5Z"),
        sha256: format!("{:064x}", body.len()),
        body: body.to_vec(),
    }
}

fn notes(store: &Store) -> BTreeMap<UrlKey, CachedNote> {
    let mut notes = BTreeMap::new();
    store
        .each_sitemap(&mut |key, note| assert_eq!(notes.insert(key.clone(), note), None))
        .unwrap();
    notes
}

#[test]
fn a_copy_comes_back_until_it_is_dropped() {
    let mut store = Store::in_memory().unwrap();
    let [a, b] = [url("/a.xml"), url("/b.xml")];
    let put = |store: &mut Store, sitemaps: &[(&UrlKey, Option<&CachedSitemap>)]| {
        let sitemaps = sitemaps.iter();
        let sitemaps = sitemaps.map(|(key, sitemap)| ((*key).clone(), sitemap.cloned()));
        commit(store, |commit| commit.sitemaps = sitemaps.collect());
    };
    assert_eq!(store.sitemap(&a).unwrap(), None);
    let (first, empty) = (sitemap("2026-02-28", b"\0\xff packed"), sitemap("", b""));
    put(&mut store, &[(&a, Some(&first)), (&b, Some(&empty))]);
    assert_eq!(store.sitemap(&a).unwrap().as_ref(), Some(&first));
    assert_eq!(store.sitemap(&b).unwrap().as_ref(), Some(&empty));
    let expected = [(a.clone(), first.note()), (b.clone(), empty.note())];
    assert_eq!(notes(&store), expected.into());
    let second = sitemap("2026-03-01T10:00:00Z", &vec![7; 100_000]);
    put(&mut store, &[(&a, Some(&second)), (&b, None)]);
    commit(&mut store, |commit| commit.clears_visits = true);
    assert_eq!(store.sitemap(&a).unwrap(), Some(second));
    assert_eq!(store.sitemap(&b).unwrap(), None);
    assert_eq!(notes(&store)[&a].bytes, 100_000);
    put(&mut store, &[(&a, None), (&b, None)]);
    assert_eq!(notes(&store), BTreeMap::new());
}
