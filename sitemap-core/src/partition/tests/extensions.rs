//! Entries of very different sizes: the plan counts as many bytes as the writer writes.

use std::{collections::BTreeMap, io};

use super::super::{Layout, Placement, Thresholds};
use super::{Keys, contents, plan};
use crate::{
    Loc, Push, SchemaLocation, UrlEntry, UrlSetOptions, UrlSetWriter,
    extension::{Alternate, Element, Hreflang, arbitrary},
    limits::MAX_BYTES,
};

/// An entry with `images` images, each of the longest address that there is.
fn entry(key: &str, images: usize) -> UrlEntry {
    let loc = |text: &str| Loc::parse(text).unwrap();
    let mut entry = UrlEntry::new(loc(&format!("https://example.com{key}")));
    // Every character of the query takes six bytes in a file.
    let picture = loc(&format!("https://cdn.example/?{}", "'".repeat(2_000)));
    for _ in 0..images {
        entry.extensions.add(Element::image(&picture)).unwrap();
    }
    for language in ["de", "en", "x-default"] {
        let hreflang = Hreflang::parse(language).unwrap();
        entry
            .extensions
            .add_alternate(Alternate::new(hreflang, entry.loc.clone()))
            .unwrap();
    }
    entry
}

#[test]
fn planned_files_with_heavy_entries_are_never_full() {
    // From nothing to 3 MB each, so that a file of the largest size holds some dozens of them.
    let entries: BTreeMap<String, UrlEntry> = (0..60)
        .map(|number| {
            let key = format!("/p/{number:03}");
            let entry = entry(&key, (number * 37) % 250);
            (key, entry)
        })
        .collect();
    let lengths: Keys = entries
        .iter()
        .map(|(key, entry)| (key.clone(), entry.written_len()))
        .collect();
    let thresholds = Thresholds {
        file_bytes: MAX_BYTES,
        ..Thresholds::default()
    };
    let plan = plan(&lengths, thresholds, Placement::Root, &Layout::default());
    let files = contents(&plan, &lengths);
    assert!(files.len() > 1);
    let mut listed = 0;
    for keys in files.values() {
        let options = UrlSetOptions::default()
            .with_namespaces(arbitrary::all_namespaces())
            .with_schema_location(SchemaLocation::Written);
        let mut writer = UrlSetWriter::with_options(io::sink(), options).unwrap();
        for (key, _) in keys {
            assert_eq!(writer.push(&entries[key]).unwrap(), Push::Written, "{key}");
            listed += 1;
        }
        assert!(writer.finish().unwrap().1.bytes <= MAX_BYTES);
    }
    assert_eq!(listed, entries.len());
}
