//! Writing a set: its partition, and the XML of its files.

use divan::{Bencher, black_box, counter::ItemsCount};
use sitemap_core::{
    GzipWriter, LastMod, Limits, Loc, UrlEntry, UrlSetWriter,
    partition::{Counter, Layout, Placement, Plan, Thresholds},
};

fn main() {
    divan::main();
}

/// URLs of a file.
const ENTRIES: usize = 10_000;

fn entries() -> Vec<UrlEntry> {
    let lastmod = LastMod::parse("2026-03-02T04:00:11Z").expect("a date");
    let entry = |number| {
        let url = format!("https://example.com/shop/parcels/{number}?page=1&sort=up");
        UrlEntry::new(Loc::parse(&url).expect("a URL")).with_lastmod(lastmod.clone())
    };
    (0..ENTRIES).map(entry).collect()
}

fn write<W: std::io::Write>(out: W, entries: &[UrlEntry]) -> W {
    let mut writer = UrlSetWriter::new(out, Limits::default()).expect("room");
    for entry in entries {
        let _ = writer.push(entry).expect("room");
    }
    writer.finish().expect("room").0
}

#[divan::bench]
fn xml(bencher: Bencher<'_, '_>) {
    let entries = entries();
    bencher
        .counter(ItemsCount::new(ENTRIES))
        .bench(|| write(Vec::new(), &entries));
}

#[divan::bench]
fn xml_gz(bencher: Bencher<'_, '_>) {
    let entries = entries();
    bencher
        .counter(ItemsCount::new(ENTRIES))
        .bench(|| write(GzipWriter::new(Vec::new()), &entries).finish());
}

#[divan::bench(args = [10_000, 1_000_000])]
fn partition(bencher: Bencher<'_, '_>, urls: usize) {
    let key = |number| format!("/{:04}/{:07}.html", number / 500, number);
    let keys: Vec<String> = (0..urls).map(key).collect();
    bencher
        .counter(ItemsCount::new(urls))
        .bench(|| plan(black_box(&keys)));
}

fn plan(keys: &[String]) -> Plan {
    let thresholds = Thresholds::default();
    let counter = Counter::new("/", thresholds, Placement::Root, &Layout::default());
    let mut counter = counter.expect("default settings");
    for key in keys {
        counter.push(key, 120).expect("keys in order");
    }
    counter.finish()
}
