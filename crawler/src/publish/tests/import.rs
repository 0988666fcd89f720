//! Sets that the state does not know are read back.

use super::*;

fn import(bench: &mut Bench) -> Imported {
    assert!(needs_import(&bench.store, &bench.site, &bench.config.output).unwrap());
    let output = bench.config.output.clone();
    let imported = import_set(&mut bench.store, &bench.site, &output, bench.now).unwrap();
    assert!(!needs_import(&bench.store, &bench.site, &output).unwrap());
    imported
}

#[test]
fn lost_state_imports_pages_and_dates() {
    let mut bench = Bench::published();
    let before = bench.files();
    bench.store = Store::in_memory().unwrap();
    bench.crawl(&shop());
    assert!(matches!(
        bench.publish(),
        Err(PublishError::Outdated { .. })
    ));
    let imported = import(&mut bench);
    assert_eq!(
        (imported.pages, imported.changed, imported.files),
        (273, 273, 4)
    );
    let listed = bench.listed();
    assert_eq!(listed.len(), 273);
    let page = &listed["/blog/7"];
    assert_eq!(page.record.reason, Reason::NotReached);
    assert_eq!(
        page.dates.as_ref().unwrap().source,
        Some(DateSource::Imported)
    );
    // Nothing was found out since.
    assert_eq!(changed(&bench.publish().unwrap()), [""; 0]);
    assert_eq!(bench.files(), before);
    let published = bench.edition(1, &shop());
    assert_eq!(changed(&published), [""; 0]);
    assert_eq!(published.journal.news(), 0);
}

#[test]
fn older_state_follows_the_published_set() {
    let mut bench = Bench::published();
    let mut pages = shop();
    pages.remove("/about");
    pages.insert("/new".to_owned(), 1);
    pages.insert("/blog/7".to_owned(), 2);
    // Another state publishes to the same output.
    let older = std::mem::replace(&mut bench.store, Store::in_memory().unwrap());
    bench.wait(1);
    import(&mut bench);
    bench.edition(0, &pages);
    bench.store = older;
    let imported = import(&mut bench);
    assert_eq!((imported.changed, imported.removed), (2, 1));
    let listed = bench.listed();
    assert!(listed.keys().eq(pages.keys()));
    assert!(listed["/blog/8"].record.facts().is_some(), "they agree");
    assert!(listed["/blog/7"].record.facts().is_none());
    let gone = bench.store.page(&key("/about")).unwrap();
    assert_eq!(gone.record.reason, Reason::NotInSet);
}

#[test]
fn damaged_file_of_a_set_unlists_nothing() {
    let mut bench = Bench::published();
    let known = std::mem::replace(&mut bench.store, Store::in_memory().unwrap());
    import(&mut bench);
    bench.edition(1, &[("/".to_owned(), 1), ("/other".to_owned(), 1)].into());
    bench.store = known;
    fs::write(bench.config.output.join("sitemap-root.xml.gz"), "damaged").unwrap();
    let imported = import(&mut bench);
    assert_eq!((imported.unreadable, imported.removed), (1, 0));
    assert_eq!(bench.listed().len(), 273);
}
