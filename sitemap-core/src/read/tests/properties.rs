//! Properties of every file: it is read as it was written, and reading comes to an end.

use proptest::prelude::*;

use super::{checked, gzip, loc, reading, urlset};
use crate::{
    ChangeFreq, IndexEntry, IndexWriter, LastMod, Limits, Loc, Priority, Push, SchemaLocation,
    UrlEntry, UrlSetOptions, UrlSetWriter,
    extension::tests::arbitrary,
    read::{Expectation, Item, Kind, Order, Reader, check},
};

fn any_entry() -> impl Strategy<Value = UrlEntry> {
    let lastmod = prop::sample::select(vec![
        "2024-02-29",
        "2024-05-17T09:30:00.45+02:00",
        "0001-01-01T00:00:00Z",
    ]);
    let changefreq = prop::sample::select(&ChangeFreq::ALL[..]);
    let fields = (
        any::<String>(),
        prop::option::of(lastmod),
        prop::option::of(changefreq),
        prop::option::of(0..=10_u8),
    );
    fields.prop_filter_map(
        "a URL that is too long",
        |(path, lastmod, changefreq, tenths)| {
            let mut entry =
                UrlEntry::new(Loc::parse(&format!("http://host/{}", path.trim())).ok()?);
            entry.lastmod = lastmod.map(|text| LastMod::parse(text).unwrap());
            entry.changefreq = changefreq;
            entry.priority = tenths.map(|tenths| Priority::from_tenths(tenths).unwrap());
            Some(entry)
        },
    )
}

proptest! {
    #[test]
    fn written_file_is_read_and_passes_the_check(mut entries in prop::collection::vec(any_entry(), 1..20), compress: bool) {
        entries.sort_by(|first, second| first.loc.cmp(&second.loc));
        entries.dedup_by(|first, second| first.loc == second.loc);
        let mut writer = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
        for entry in &entries {
            prop_assert_eq!(writer.push(entry).unwrap(), Push::Written);
        }
        let (file, written) = writer.finish().unwrap();
        let file = if compress { gzip(&file) } else { file };
        let mut reader = Reader::new(&file[..], Limits::default());
        let read: Vec<Item> = reader.by_ref().map(Result::unwrap).collect();
        prop_assert_eq!(read, entries.into_iter().map(Item::Url).collect::<Vec<_>>());
        let place = loc("http://host/sitemap.xml");
        let mut expectation = Expectation::new(Kind::UrlSet, &place);
        expectation.entries = Some(written.entries);
        expectation.order = Order::Ascending;
        prop_assert_eq!(check(&file[..], &expectation).unwrap(), written);
    }

    #[test]
    fn extensions_are_read_as_they_were_written(entries in prop::collection::vec(arbitrary::any_entry(), 1..5), located: bool) {
        let namespaces = arbitrary::all_namespaces();
        let schema_location = if located { SchemaLocation::Written } else { SchemaLocation::Omitted };
        let options = UrlSetOptions::default().with_namespaces(namespaces.clone()).with_schema_location(schema_location);
        let mut writer = UrlSetWriter::with_options(Vec::new(), options).unwrap();
        let mut locs = Vec::new();
        for (number, mut entry) in entries.into_iter().enumerate() {
            entry.loc = loc(&format!("https://www.example.com/page{number}"));
            prop_assert_eq!(writer.push(&entry).unwrap(), Push::Written);
            locs.push(entry);
        }
        let (file, written) = writer.finish().unwrap();
        let mut reader = Reader::new(&file[..], Limits::default()).with_custom_namespaces(namespaces.custom());
        let read: Vec<Item> = reader.by_ref().map(Result::unwrap).collect();
        prop_assert_eq!(reader.findings(), &[]);
        prop_assert_eq!(read, locs.into_iter().map(Item::Url).collect::<Vec<_>>());
        let place = loc("https://www.example.com/sitemap.xml");
        let mut expectation = Expectation::new(Kind::UrlSet, &place);
        expectation.custom_namespaces = namespaces.custom();
        prop_assert_eq!(check(&file[..], &expectation).unwrap(), written);
    }

    #[test]
    fn index_is_read_as_it_was_written(names in prop::collection::btree_set("[a-z&']{1,8}", 1..20)) {
        let mut writer = IndexWriter::new(Vec::new(), Limits::default()).unwrap();
        let lastmod = LastMod::parse("2026-03-02T04:00:11Z").unwrap();
        let mut entries = Vec::new();
        for name in &names {
            let entry = IndexEntry::new(loc(&format!("http://host/{name}"))).with_lastmod(lastmod.clone());
            prop_assert_eq!(writer.push(&entry).unwrap(), Push::Written);
            entries.push(Item::Sitemap(entry));
        }
        let (file, written) = writer.finish().unwrap();
        let read: Vec<Item> = Reader::new(&file[..], Limits::default()).map(Result::unwrap).collect();
        prop_assert_eq!(read, entries);
        prop_assert_eq!(checked(&file, Kind::Index).unwrap(), written);
    }

    #[test]
    fn any_bytes_come_to_an_end(
        bytes in any::<Vec<u8>>(),
        markup in "(<|>|/|!|--|\\[|\\]|\\?|&|;|url|loc|urlset|lastmod|\"|=| |a|DOCTYPE|CDATA|xmlns){0,40}",
    ) {
        let files = [
            gzip(&bytes),
            urlset(&markup).into_bytes(),
            urlset(&format!("<url><loc>{markup}</loc></url>")).into_bytes(),
            markup.into_bytes(),
            bytes,
        ];
        for file in files {
            let _ = reading(&file);
            let _ = checked(&file, Kind::UrlSet);
        }
    }
}
