//! Entries that cannot be written: left out one by one before any file is written. The check of the written
//! files remains as a second test.

use sitemap_core::{
    Loc, UrlEntry,
    extension::{Element, Extensions},
    read::{CheckError, Expectation, Kind, check},
};

use super::*;
use crate::{
    export::{ExtensionCounts, Listed, OmittedPart},
    page::State,
    publish::{entry_check::Trial, file::entry_at},
};

fn pages(paths: &[&str]) -> BTreeMap<String, u64> {
    let paths = paths.iter().enumerate();
    paths
        .map(|(version, path)| ((*path).to_owned(), version as u64))
        .collect()
}

fn excluded(bench: &Bench) -> Vec<String> {
    let mut excluded = Vec::new();
    for (key, page, _) in bench.store.rows_from(None) {
        let reason = page.map(|page| page.record.reason);
        if reason.is_some_and(|reason| reason.state() == State::Excluded) {
            assert_eq!(reason, Some(Reason::EntryRefused));
            excluded.push(key.path_and_query().to_owned());
        }
    }
    excluded
}

#[test]
fn refused_entry_does_not_cost_the_others() {
    let mut bench = Bench::wide("/shop/");
    // Nothing that a crawl finds; what matters is that one record does not stop the set.
    let published = bench.edition(0, &pages(&["/elsewhere", "/shop/a", "/shop/b"]));
    assert_eq!(published.listed, 2);
    assert_eq!(excluded(&bench), ["/elsewhere"]);
    let [told] = &published.notes[..] else {
        panic!("{:?}", published.notes);
    };
    let told = &told.text;
    assert!(told.contains("https://shop.example/elsewhere"), "{told}");
    assert!(told.contains("(R58)"), "{told}");
    // It is judged again each time, and reported again.
    let again = bench.publish().unwrap();
    assert_eq!(again.notes, published.notes);
    assert_eq!(changed(&again), [""; 0]);
}

#[test]
fn a_bad_extension_costs_no_page() {
    let image = format!("https://shop.example/?{}", "&".repeat(2_000));
    let image = Element::image(&Loc::parse(&image).unwrap());
    let mut extensions = Extensions::default();
    for _ in 0..1_000 {
        extensions.add(image.clone()).unwrap();
    }
    let mut entry = UrlEntry::new(Loc::parse("https://shop.example/a").unwrap());
    entry.extensions = extensions;
    let mut trial = Trial::new(Loc::parse("https://shop.example/").unwrap());
    let listed = Listed {
        key: key("/a"),
        written: key("/a"),
        entry,
        title: None,
        source: None,
        extensions: ExtensionCounts::default(),
        news: None,
    };
    let mut tried = trial.add(listed, ()).unwrap();
    tried.extend(trial.finish().unwrap());
    let [(without, why)] = &tried[0].without[..] else {
        panic!("{tried:?}");
    };
    assert_eq!(*without, OmittedPart::Unwritable);
    assert!(
        why.starts_with("extensions of https://shop.example/a: "),
        "{why}"
    );
}

#[test]
fn only_refused_entries_is_nothing_to_list() {
    let mut bench = Bench::wide("/shop/");
    bench.crawl(&pages(&["/x", "/y"]));
    assert!(matches!(bench.publish(), Err(PublishError::Empty)));
}

#[test]
fn refused_entries_are_reported_up_to_a_bound() {
    let mut bench = Bench::wide("/shop/");
    let mut paths: Vec<String> = (0..2_345).map(|number| format!("/x/{number}")).collect();
    paths.push("/shop/".to_owned());
    let published = bench.edition(0, &paths.into_iter().map(|path| (path, 1)).collect());
    assert_eq!(published.listed, 1);
    assert_eq!(excluded(&bench).len(), 2_345);
    assert_eq!(published.notes.len(), 11);
    assert!(published.notes[10].text.ends_with(": 2335"));
}

#[test]
fn the_net_names_the_entry() {
    fn place(file: &str) -> String {
        let at = Loc::parse("https://site.example/sitemap.xml").unwrap();
        let error = check(file.as_bytes(), &Expectation::new(Kind::UrlSet, &at)).unwrap_err();
        let CheckError::Finding(finding) = error else {
            panic!("{error}");
        };
        entry_at(file.as_bytes(), finding.position).unwrap()
    }
    let file = |second: &str| {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
             <url><loc>https://site.example/a</loc></url>\n{second}\n<url><loc>https://site.example/c</loc></url>\n</urlset>\n"
        )
    };
    assert_eq!(
        place(&file(
            "<url><loc>https://site.example/b</loc><priority>2</priority></url>"
        )),
        "in the entry of https://site.example/b"
    );
    assert_eq!(
        place(&file("<url><loc>b</loc></url>")),
        "behind the entry of https://site.example/a"
    );
}
