//! Entries that cannot be written: left out one by one before any file is written. The check of the written
//! files remains as a second test.

use sitemap_core::{
    Loc, UrlEntry,
    extension::{Element, Extension, Extensions},
    read::{CheckError, Expectation, Kind, check},
};

use super::*;
use crate::{
    export::{ExtensionCounts, Listed, OmittedPart},
    page::{State, Supplied},
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

/// For example one that was stored before its rule was known.
#[test]
fn a_bad_extension_costs_no_other_one() {
    let mut bench = Bench::new("/");
    bench.crawl(&pages(&["/a", "/b"]));
    let url = |path: &str| Loc::parse(&format!("https://shop.example{path}")).unwrap();
    let mut extensions = Extensions::default();
    extensions.add(Element::image(&url("/a.jpg"))).unwrap();
    for (name, thumbnail) in [("good", "/a.jpg"), ("bad", "/a")] {
        let (thumbnail, content) = (url(thumbnail), url("/a.mp4"));
        let values = [
            ("thumbnail_loc", thumbnail.as_str()),
            ("title", name),
            ("description", name),
            ("content_loc", content.as_str()),
        ];
        let video = Element::of(Extension::Video, values).unwrap();
        extensions.add(video).unwrap();
    }
    let record = PageRecord {
        outcome: Some(Outcome::Supplied(Box::new(Supplied {
            extensions,
            ..Supplied::default()
        }))),
        ..bench.store.visit(&key("/a")).unwrap().record
    };
    commit(&mut bench.store, |commit| {
        commit.finished = vec![finished(&queued_at(1, key("/a")), record)];
    });
    bench.config.gzip = false;
    let published = bench.publish().unwrap();
    assert_eq!(published.listed, 2);
    assert_eq!(
        published
            .notes
            .iter()
            .map(|note| &*note.text)
            .collect::<Vec<_>>(),
        [
            "left out, because a sitemap may not contain it: extensions of https://shop.example/a: \
             <video:thumbnail_loc> of \"bad\" is the page itself"
        ]
    );
    let files = bench.files().into_values();
    let file: String = files
        .map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    assert!(
        file.contains("<image:loc>https://shop.example/a.jpg<"),
        "{file}"
    );
    assert!(file.contains("<video:title>good<"), "{file}");
    assert!(!file.contains("<video:title>bad<"), "{file}");
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
