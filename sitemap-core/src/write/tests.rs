//! Bytes, limits and escapes of what is written.

use proptest::prelude::*;

use super::*;
use crate::{
    ChangeFreq, IndexEntry, Priority, UrlEntry,
    limits::{MAX_BYTES, MAX_ENTRIES, NAMESPACE},
};

fn entry(url: &str) -> UrlEntry {
    UrlEntry::new(Loc::parse(url).unwrap())
}

/// An entry that takes exactly `len` bytes in a file.
fn entry_of(len: u64) -> UrlEntry {
    let shortest = entry("http://h/").written_len();
    let padding = usize::try_from(len - shortest).unwrap();
    let entry = entry(&format!("http://h/{}", "a".repeat(padding)));
    assert_eq!(entry.written_len(), len);
    entry
}

/// Bytes of a urlset without entries.
fn frame_len() -> u64 {
    let entry = entry("http://h/");
    urlset_of(&entry).len() as u64 - entry.written_len()
}

#[test]
fn urlset_has_one_entry_per_line_and_elements_in_the_order_of_the_schema() {
    let mut full = entry("https://www.example.com/%C3%BCmlat?q=name&r='x'");
    full.lastmod = Some(LastMod::parse("2024-05-17").unwrap());
    full.changefreq = Some(ChangeFreq::Weekly);
    full.priority = Some(Priority::from_tenths(8).unwrap());
    let mut writer = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
    assert_eq!(
        writer.push(&entry("https://www.example.com/")).unwrap(),
        Push::Written
    );
    assert_eq!(writer.push(&full).unwrap(), Push::Written);
    let (bytes, summary) = writer.finish().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(
        text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
         <url><loc>https://www.example.com/</loc></url>\n\
         <url><loc>https://www.example.com/%C3%BCmlat?q=name&amp;r=&apos;x&apos;</loc><lastmod>2024-05-17</lastmod>\
         <changefreq>weekly</changefreq><priority>0.8</priority></url>\n\
         </urlset>\n"
    );
    assert_eq!((summary.entries, summary.bytes), (2, text.len() as u64));
    assert_eq!(summary.newest_lastmod, full.lastmod);
}

#[test]
fn index_has_one_file_per_line() {
    let mut writer = IndexWriter::new(Vec::new(), Limits::default()).unwrap();
    let plain = IndexEntry::new(Loc::parse("https://example.com/a.xml?b&c").unwrap());
    let dated = IndexEntry::new(Loc::parse("https://example.com/d.xml.gz").unwrap())
        .with_lastmod(LastMod::parse("2026-03-02T04:00:11Z").unwrap());
    assert_eq!(writer.push(&plain).unwrap(), Push::Written);
    assert_eq!(writer.push(&dated).unwrap(), Push::Written);
    let (bytes, summary) = writer.finish().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(
        text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
         <sitemap><loc>https://example.com/a.xml?b&amp;c</loc></sitemap>\n\
         <sitemap><loc>https://example.com/d.xml.gz</loc><lastmod>2026-03-02T04:00:11Z</lastmod></sitemap>\n\
         </sitemapindex>\n"
    );
    let entries_len = plain.written_len() + dated.written_len();
    assert_eq!((summary.entries, summary.bytes), (2, text.len() as u64));
    assert_eq!(
        text.lines()
            .skip(2)
            .take(2)
            .map(|line| line.len() as u64 + 1)
            .sum::<u64>(),
        entries_len
    );
}

/// The file that holds nothing but this entry, as lines.
fn urlset_of(entry: &UrlEntry) -> String {
    let mut writer = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
    assert_eq!(writer.push(entry).unwrap(), Push::Written);
    String::from_utf8(writer.finish().unwrap().0).unwrap()
}

/// The index that holds nothing but this entry, as lines.
fn index_of(entry: &IndexEntry) -> String {
    let mut writer = IndexWriter::new(Vec::new(), Limits::default()).unwrap();
    assert_eq!(writer.push(entry).unwrap(), Push::Written);
    String::from_utf8(writer.finish().unwrap().0).unwrap()
}

#[test]
fn both_kinds_are_in_the_namespace_of_the_protocol() {
    let urlset = urlset_of(&entry("http://h/"));
    assert_eq!(
        urlset.lines().nth(1),
        Some(&*format!("<urlset xmlns=\"{NAMESPACE}\">"))
    );
    let index = index_of(&IndexEntry::new(Loc::parse("http://h/").unwrap()));
    assert_eq!(
        index.lines().nth(1),
        Some(&*format!("<sitemapindex xmlns=\"{NAMESPACE}\">"))
    );
}

#[test]
fn file_takes_50_000_entries_and_not_one_more() {
    let entry = entry("http://h/");
    for limits in [
        Limits::default(),
        Limits {
            entries: MAX_ENTRIES + 1,
            bytes: u64::MAX,
        },
    ] {
        let mut writer = UrlSetWriter::new(io::sink(), limits).unwrap();
        for _ in 0..50_000 {
            assert_eq!(writer.push(&entry).unwrap(), Push::Written);
        }
        assert_eq!(writer.push(&entry).unwrap(), Push::Full);
        assert_eq!(writer.push(&entry).unwrap(), Push::Full);
        let (_, summary) = writer.finish().unwrap();
        assert_eq!(summary.entries, 50_000);
        assert_eq!(summary.bytes, frame_len() + 50_000 * entry.written_len());
    }
    let mut writer = IndexWriter::new(io::sink(), Limits::default()).unwrap();
    let sitemap = IndexEntry::new(entry.loc);
    for _ in 0..50_000 {
        assert_eq!(writer.push(&sitemap).unwrap(), Push::Written);
    }
    assert_eq!(writer.push(&sitemap).unwrap(), Push::Full);
}

#[test]
fn file_takes_52_428_800_bytes_with_its_frame_and_not_one_more() {
    // 49,999 entries of 1,000 bytes leave room for 2,000 bytes and more in the last ones.
    let large = entry_of(2_000);
    for (missing, expected) in [(0, Push::Written), (1, Push::Full)] {
        let mut writer = UrlSetWriter::new(io::sink(), Limits::default()).unwrap();
        let mut left = MAX_BYTES - frame_len();
        while left >= 4_000 {
            assert_eq!(writer.push(&large).unwrap(), Push::Written);
            left -= 2_000;
        }
        assert_eq!(writer.push(&entry_of(1_999)).unwrap(), Push::Written);
        left -= 1_999;
        assert_eq!(writer.push(&entry_of(left + missing)).unwrap(), expected);
        let (_, summary) = writer.finish().unwrap();
        let written = if expected == Push::Written { left } else { 0 };
        assert_eq!(summary.bytes, 52_428_800 - left + written);
    }
}

#[test]
fn byte_limit_is_counted_with_both_ends_of_the_file() {
    let entry = entry("http://h/?a&b");
    let two = frame_len() + 2 * entry.written_len();
    let check = |bytes: u64, expected: Push| {
        let limits = Limits { entries: 10, bytes };
        let mut writer = UrlSetWriter::new(Vec::new(), limits).unwrap();
        assert_eq!(writer.push(&entry).unwrap(), Push::Written);
        assert_eq!(writer.push(&entry).unwrap(), expected, "{bytes} bytes");
        let (file, summary) = writer.finish().unwrap();
        assert_eq!(summary.bytes, file.len() as u64);
        assert!(summary.bytes <= bytes);
        assert!(file.ends_with(b"</urlset>\n"));
    };
    check(two, Push::Written);
    check(two - 1, Push::Full);
    check(two + 1, Push::Written);
}

#[test]
fn entry_that_fits_into_no_file_is_an_error() {
    let entry = entry("http://h/long");
    let one = frame_len() + entry.written_len();
    let limits = Limits {
        entries: 10,
        bytes: one - 1,
    };
    let mut writer = UrlSetWriter::new(Vec::new(), limits).unwrap();
    let error = writer.push(&entry).unwrap_err();
    assert!(
        matches!(&error, WriteError::EntryTooLarge { bytes, limit, .. } if *bytes == one && *limit == one - 1)
    );
    assert_eq!(
        error.to_string(),
        format!(
            "entry for http://h/long makes a file of {one} bytes, expected at most {}",
            one - 1
        )
    );
    assert!(matches!(writer.finish(), Err(WriteError::Empty)));
}

#[test]
fn limits_without_room_for_an_entry_are_refused() {
    let check = |entries, bytes| {
        let limits = Limits { entries, bytes };
        let result = UrlSetWriter::new(Vec::new(), limits);
        assert!(
            matches!(result, Err(WriteError::LimitsTooSmall { .. })),
            "{limits:?}"
        );
    };
    check(0, MAX_BYTES);
    check(1, 0);
    check(1, frame_len());
}

#[test]
fn empty_file_is_an_error() {
    let urlset = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
    assert!(matches!(urlset.finish(), Err(WriteError::Empty)));
    let index = IndexWriter::new(Vec::new(), Limits::default()).unwrap();
    assert!(matches!(index.finish(), Err(WriteError::Empty)));
}

#[test]
fn newest_lastmod_is_the_latest_instant_not_the_last_entry() {
    let check = |dates: &[&str], expected: Option<&str>| {
        let mut writer = UrlSetWriter::new(io::sink(), Limits::default()).unwrap();
        assert_eq!(
            writer.push(&entry("http://h/undated")).unwrap(),
            Push::Written
        );
        for date in dates {
            let entry = entry("http://h/").with_lastmod(LastMod::parse(date).unwrap());
            assert_eq!(writer.push(&entry).unwrap(), Push::Written);
        }
        let newest = writer.finish().unwrap().1.newest_lastmod;
        assert_eq!(newest.as_ref().map(LastMod::as_str), expected);
    };
    check(&[], None);
    check(&["2024-05-17", "2024-05-16"], Some("2024-05-17"));
    check(&["2024-05-17T23:00:00Z", "2024-05-17"], Some("2024-05-17"));
    check(
        &["2024-05-17T23:30:00+02:00", "2024-05-17T22:00:00Z"],
        Some("2024-05-17T22:00:00Z"),
    );
}

#[test]
fn failing_output_is_reported() {
    let mut room = [0_u8; 150];
    let mut writer = UrlSetWriter::new(&mut room[..], Limits::default()).unwrap();
    let error = writer
        .push(&entry("http://h/long-enough-for-the-end"))
        .unwrap_err();
    assert!(matches!(error, WriteError::Io(error) if error.kind() == io::ErrorKind::WriteZero));
}

#[test]
fn gzip_depends_on_the_content_alone() {
    let content: Vec<u8> = (0..200_000_u32)
        .flat_map(|number| format!("{number},").into_bytes())
        .collect();
    let compressed_in = |piece: usize, flush: bool| {
        let mut writer = GzipWriter::new(Vec::new());
        for bytes in content.chunks(piece) {
            writer.write_all(bytes).unwrap();
            if flush {
                writer.flush().unwrap();
            }
        }
        writer.finish().unwrap()
    };
    let compressed = compressed_in(content.len(), false);
    // Magic, deflate, no flags, no time, no extra flags, operating system unknown: RFC 1952 section 2.3.
    assert_eq!(compressed[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
    assert!(compressed.len() < content.len() / 2);
    assert!(compressed_in(1_000, false) == compressed);
    assert!(compressed_in(77, true) == compressed);
    assert!(compressed_in(100_000, true) == compressed);
    let mut decompressed = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(&compressed[..]);
    io::Read::read_to_end(&mut decoder, &mut decompressed).unwrap();
    assert!(decompressed == content);
}

fn any_entry() -> impl Strategy<Value = UrlEntry> {
    let url = (
        "(https?)://[a-z]{1,9}\\.example(:[1-9][0-9]{0,3})?",
        any::<String>(),
    );
    let lastmod = (-60_000_000_000_i64..250_000_000_000)
        .prop_map(|second| LastMod::from_timestamp(jiff::Timestamp::from_second(second).unwrap()));
    let changefreq = prop::sample::select(&ChangeFreq::ALL[..]);
    let priority = (0..=10_u8).prop_map(|tenths| Priority::from_tenths(tenths).unwrap());
    (
        url,
        prop::option::of(lastmod),
        prop::option::of(changefreq),
        prop::option::of(priority),
    )
        .prop_filter_map(
            "a URL that is too long",
            |((origin, path), lastmod, changefreq, priority)| {
                let mut entry =
                    UrlEntry::new(Loc::parse(&format!("{origin}/{}", path.trim())).ok()?);
                entry.lastmod = lastmod;
                entry.changefreq = changefreq;
                entry.priority = priority;
                Some(entry)
            },
        )
}

proptest! {
    #[test]
    fn written_len_is_what_is_written(entry in any_entry()) {
        let third_line_len = |file: &str| file.split_inclusive('\n').nth(2).map(|line| line.len() as u64);
        prop_assert_eq!(Some(entry.written_len()), third_line_len(&urlset_of(&entry)));
        let sitemap = IndexEntry { loc: entry.loc, lastmod: entry.lastmod };
        prop_assert_eq!(Some(sitemap.written_len()), third_line_len(&index_of(&sitemap)));
    }

    #[test]
    fn no_file_exceeds_its_limits_and_none_is_left_needlessly_empty(
        entries in prop::collection::vec(any_entry(), 1..40),
        max_entries in 1..20_u64,
        // The opening and closing lines alone take 110 bytes.
        max_bytes in 111..2_000_u64,
    ) {
        let limits = Limits { entries: max_entries, bytes: max_bytes };
        let mut writer = UrlSetWriter::new(Vec::new(), limits).unwrap();
        let mut lengths = 0;
        for entry in &entries {
            match writer.push(entry) {
                Ok(Push::Written) => lengths += entry.written_len(),
                Ok(Push::Full) => {
                    let (file, summary) = writer.finish().unwrap();
                    prop_assert_eq!(summary.bytes, file.len() as u64);
                    prop_assert_eq!(summary.bytes, frame_len() + lengths);
                    prop_assert!(summary.entries <= max_entries && summary.bytes <= max_bytes);
                    prop_assert!(summary.entries == max_entries || summary.bytes + entry.written_len() > max_bytes);
                    return Ok(());
                }
                Err(WriteError::EntryTooLarge { bytes, .. }) => {
                    prop_assert_eq!(bytes, frame_len() + entry.written_len());
                    prop_assert!(bytes > max_bytes && lengths == 0);
                    return Ok(());
                }
                Err(error) => return Err(TestCaseError::fail(error.to_string())),
            }
        }
        let (file, summary) = writer.finish().unwrap();
        prop_assert_eq!(summary.bytes, file.len() as u64);
        prop_assert!(summary.entries <= max_entries && summary.bytes <= max_bytes);
    }

    #[test]
    fn only_characters_of_xml_come_out(entries in prop::collection::vec(any_entry(), 1..10)) {
        let mut writer = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
        for entry in &entries {
            prop_assert_eq!(writer.push(entry).unwrap(), Push::Written);
        }
        let (file, _) = writer.finish().unwrap();
        prop_assert!(file.iter().all(|byte| matches!(byte, b'\n' | b' '..=b'~')));
    }
}
