//! Bytes, limits and escapes of written files.

mod formats;

use proptest::prelude::*;

use super::*;
use crate::{
    ChangeFreq, IndexEntry, Priority, UrlEntry,
    extension::{
        Alternate, CustomElement, CustomNamespace, Element, Extension, Extensions, Hreflang,
        Namespaces, Text, tests::arbitrary,
    },
    limits::{MAX_BYTES, MAX_ENTRIES, MAX_FRAME_BYTES},
};

fn entry(url: &str) -> UrlEntry {
    UrlEntry::new(Loc::parse(url).unwrap())
}

/// Bytes of a urlset without entries.
fn frame_len() -> u64 {
    let entry = entry("http://h/");
    urlset_of(&entry).len() as u64 - entry.written_len()
}

#[test]
fn urlset_has_one_entry_per_line() {
    let mut full = entry("https://www.example.com/%C3%BCmlat?q=name&r='x'");
    full.lastmod = Some(LastMod::parse("2024-05-17").unwrap());
    full.changefreq = Some(ChangeFreq::Weekly);
    full.priority = Some(Priority::from_tenths(8).unwrap());
    let mut writer = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
    let short = entry("https://www.example.com/");
    assert_eq!(writer.push(&short).unwrap(), Push::Written);
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
    assert_eq!((summary.entries, summary.bytes), (2, text.len() as u64));
}

fn text(text: &str) -> Text {
    Text::new(text).unwrap()
}

fn any_loc(url: &str) -> Loc {
    Loc::parse(url).unwrap()
}

/// A video with all it needs.
fn video(content: &str) -> Element {
    let values = [
        ("thumbnail_loc", "http://cdn/t.jpg"),
        ("title", "T & t"),
        ("description", "D"),
        ("content_loc", content),
    ];
    Element::of(Extension::Video, values).unwrap()
}

fn news() -> Element {
    let values = [
        ("name", "N"),
        ("language", "zh-cn"),
        ("publication_date", "2024-05-17"),
        ("title", "\"T\""),
    ];
    Element::of(Extension::News, values).unwrap()
}

fn own(prefix: &str) -> CustomElement {
    let namespace = CustomNamespace::new(prefix, &format!("urn:example:{prefix}?a='b'")).unwrap();
    let element = CustomElement::new(&namespace, "price").unwrap();
    element.with_attribute("currency", text("E&R")).unwrap()
}

/// An entry with one extension of each kind.
fn extended() -> UrlEntry {
    let mut entry = entry("https://www.example.com/");
    let extensions = &mut entry.extensions;
    extensions
        .add_custom(own("shop").with_text(text("1'0")))
        .unwrap();
    extensions.add(news()).unwrap();
    extensions.add(video("http://cdn/v.mp4")).unwrap();
    extensions
        .add(Element::image(&any_loc("http://cdn/?a&b")))
        .unwrap();
    let hreflang = Hreflang::parse("en").unwrap();
    let alternate = Alternate::new(hreflang, any_loc("https://www.example.com/?a&b"));
    extensions.add_alternate(alternate).unwrap();
    entry
}

#[test]
fn extensions_follow_in_the_order_of_their_schemas() {
    let mut entry = extended();
    entry.priority = Some(Priority::DEFAULT);
    let mut options = UrlSetOptions::default().with_schema_location(SchemaLocation::Written);
    options.namespaces.add(&entry.extensions).unwrap();
    let mut writer = UrlSetWriter::with_options(Vec::new(), options).unwrap();
    assert_eq!(writer.push(&entry).unwrap(), Push::Written);
    assert_eq!(
        String::from_utf8(writer.finish().unwrap().0).unwrap(),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\" \
         xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" xmlns:video=\"http://www.google.com/schemas/sitemap-video/1.1\" \
         xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\" xmlns:shop=\"urn:example:shop?a=&apos;b&apos;\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"http://www.sitemaps.org/schemas/sitemap/0.9 http://www.sitemaps.org/schemas/sitemap/0.9/sitemap.xsd \
         http://www.w3.org/1999/xhtml http://www.w3.org/2002/08/xhtml/xhtml1-strict.xsd \
         http://www.google.com/schemas/sitemap-image/1.1 http://www.google.com/schemas/sitemap-image/1.1/sitemap-image.xsd \
         http://www.google.com/schemas/sitemap-video/1.1 http://www.google.com/schemas/sitemap-video/1.1/sitemap-video.xsd \
         http://www.google.com/schemas/sitemap-news/0.9 http://www.google.com/schemas/sitemap-news/0.9/sitemap-news.xsd\">\n\
         <url><loc>https://www.example.com/</loc><priority>0.5</priority>\
         <xhtml:link rel=\"alternate\" hreflang=\"en\" href=\"https://www.example.com/?a&amp;b\"/>\
         <image:image><image:loc>http://cdn/?a&amp;b</image:loc></image:image>\
         <video:video><video:thumbnail_loc>http://cdn/t.jpg</video:thumbnail_loc><video:title>T &amp; t</video:title>\
         <video:description>D</video:description><video:content_loc>http://cdn/v.mp4</video:content_loc></video:video>\
         <news:news><news:publication><news:name>N</news:name><news:language>zh-cn</news:language></news:publication>\
         <news:publication_date>2024-05-17</news:publication_date><news:title>&quot;T&quot;</news:title></news:news>\
         <shop:price currency=\"E&amp;R\">1&apos;0</shop:price></url>\n\
         </urlset>\n"
    );
}

#[test]
fn index_names_its_schema_on_request() {
    let entry = IndexEntry::new(any_loc("http://h/a.xml"));
    let (limits, schema_location) = (Limits::default(), SchemaLocation::Written);
    let mut writer =
        IndexWriter::with_schema_location(Vec::new(), limits, schema_location).unwrap();
    assert_eq!(writer.push(&entry).unwrap(), Push::Written);
    let index = String::from_utf8(writer.finish().unwrap().0).unwrap();
    let pair = "xsi:schemaLocation=\"http://www.sitemaps.org/schemas/sitemap/0.9 http://www.sitemaps.org/schemas/sitemap/0.9/siteindex.xsd\">\n";
    assert!(index.contains(pair), "{index}");
}

#[test]
fn refused_entry_leaves_the_file_as_it_was() {
    let full = extended();
    let mut namespaces = Namespaces::default();
    namespaces.add(&full.extensions).unwrap();
    let options = UrlSetOptions::default().with_namespaces(namespaces);
    let mut writer = UrlSetWriter::with_options(Vec::new(), options).unwrap();
    let mut refuse = |fill: &dyn Fn(&mut Extensions), expected: &str| {
        let mut entry = entry("http://h/page");
        fill(&mut entry.extensions);
        let error = writer.push(&entry).unwrap_err();
        assert!(matches!(&error, WriteError::Extension { loc, .. } if *loc == entry.loc));
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(source, expected);
    };
    refuse(
        &|extensions| extensions.add_custom(own("other")).unwrap(),
        "prefix other is not declared by the file",
    );
    refuse(
        &|extensions| extensions.add(video("http://h/page")).unwrap(),
        "<video:content_loc> of \"T & t\" is the page itself",
    );
    refuse(
        &|extensions| {
            let mut video = video("http://cdn/v.mp4");
            for _ in 0..32 {
                video.set("tag", &"'".repeat(2_048), None).unwrap();
            }
            for _ in 0..30 {
                extensions.add(video.clone()).unwrap();
            }
        },
        "entry has 11825106 bytes, expected at most 8388608",
    );
    assert_eq!(writer.push(&full).unwrap(), Push::Written);
    let (file, summary) = writer.finish().unwrap();
    assert_eq!((summary.entries, summary.bytes), (1, file.len() as u64));
}

#[test]
fn file_takes_1_000_articles_at_most() {
    let options =
        UrlSetOptions::default().with_namespaces(Namespaces::default().with(Extension::News));
    let mut writer = UrlSetWriter::with_options(io::sink(), options).unwrap();
    let mut article = entry("http://h/a");
    article.extensions.add(news()).unwrap();
    for _ in 0..1_000 {
        assert_eq!(writer.push(&article).unwrap(), Push::Written);
    }
    assert_eq!(writer.push(&article).unwrap(), Push::Full);
    assert_eq!(writer.push(&entry("http://h/page")).unwrap(), Push::Written);
    assert_eq!(writer.finish().unwrap().1.entries, 1_001);
}

/// The file with only this entry, as lines.
fn urlset_of(entry: &UrlEntry) -> String {
    let mut writer = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
    assert_eq!(writer.push(entry).unwrap(), Push::Written);
    String::from_utf8(writer.finish().unwrap().0).unwrap()
}

/// The index with only this entry, as lines.
fn index_of(entry: &IndexEntry) -> String {
    let mut writer = IndexWriter::new(Vec::new(), Limits::default()).unwrap();
    assert_eq!(writer.push(entry).unwrap(), Push::Written);
    String::from_utf8(writer.finish().unwrap().0).unwrap()
}

#[test]
fn file_takes_50_000_entries_at_most() {
    let entry = entry("http://h/");
    let (entries, bytes) = (MAX_ENTRIES + 1, u64::MAX);
    for limits in [Limits::default(), Limits { entries, bytes }] {
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
fn entry_too_large_for_any_file_is_refused() {
    let entry = entry("http://h/long");
    let one = frame_len() + entry.written_len();
    let (entries, bytes) = (10, one - 1);
    let mut writer = UrlSetWriter::new(Vec::new(), Limits { entries, bytes }).unwrap();
    let error = writer.push(&entry).unwrap_err();
    assert!(
        matches!(error, WriteError::EntryTooLarge { bytes, limit, .. } if (bytes, limit) == (one, one - 1))
    );
    assert_eq!(
        error.to_string(),
        format!("entry for http://h/long makes a file of {one} bytes, expected at most {bytes}")
    );
    assert!(matches!(writer.finish(), Err(WriteError::Empty)));
    let index = IndexWriter::new(Vec::new(), Limits::default()).unwrap();
    assert!(matches!(index.finish(), Err(WriteError::Empty)));
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
fn newest_lastmod_is_the_latest_instant() {
    let check = |dates: &[&str], expected: Option<&str>| {
        let mut writer = UrlSetWriter::new(io::sink(), Limits::default()).unwrap();
        let undated = entry("http://h/undated");
        assert_eq!(writer.push(&undated).unwrap(), Push::Written);
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
    fn written_len_counts_extensions_too(entry in arbitrary::any_entry(), located: bool) {
        let mut options = UrlSetOptions::default();
        options.namespaces.add(&entry.extensions).unwrap();
        if located {
            options.schema_location = SchemaLocation::Written;
        }
        let frame_len = urlset_frame_len(&options.namespaces, options.schema_location);
        prop_assert!(frame_len <= MAX_FRAME_BYTES);
        let mut writer = UrlSetWriter::with_options(Vec::new(), options.clone()).unwrap();
        prop_assert_eq!(writer.push(&entry).unwrap(), Push::Written);
        let (file, summary) = writer.finish().unwrap();
        prop_assert_eq!(summary.bytes, file.len() as u64);
        prop_assert_eq!(summary.bytes, frame_len + entry.written_len());
        // To the byte: there is space for the entry in the file, or there is not.
        options.limits.bytes = summary.bytes;
        let mut writer = UrlSetWriter::with_options(Vec::new(), options.clone()).unwrap();
        prop_assert_eq!(writer.push(&entry).unwrap(), Push::Written);
        options.limits.bytes = summary.bytes - 1;
        let mut writer = UrlSetWriter::with_options(Vec::new(), options).unwrap();
        let is_too_large = matches!(writer.push(&entry), Err(WriteError::EntryTooLarge { .. }));
        prop_assert!(is_too_large);
    }

    #[test]
    fn written_len_is_what_is_written(entry in any_entry()) {
        let third_line_len = |file: &str| file.split_inclusive('\n').nth(2).map(|line| line.len() as u64);
        prop_assert_eq!(Some(entry.written_len()), third_line_len(&urlset_of(&entry)));
        let mut sitemap = IndexEntry::new(entry.loc);
        sitemap.lastmod = entry.lastmod;
        prop_assert_eq!(Some(sitemap.written_len()), third_line_len(&index_of(&sitemap)));
    }

    #[test]
    fn no_file_exceeds_or_wastes_its_limits(
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
}
