//! The readers of `sitemap-core`: any bytes, the same bytes in other wrappings, and the strict reading.

use std::{
    fmt::Write as _,
    io::{BufReader, Write as _},
    iter,
};

use flate2::{Compression, write::GzEncoder};
use sitemap_core::{
    IndexWriter, Limits, Loc, Push, UrlSetOptions, UrlSetWriter,
    extension::CustomNamespace,
    read::{Item, MAX_FINDINGS, Position, Reader, Severity},
    validate::{Facts, Options, RuleText, Validator},
};

use super::parts;

/// The bytes that an input may be unpacked to. It is little, for the sake of the speed, and no other
/// code runs with more.
const LIMITS: Limits = Limits {
    entries: 50_000,
    bytes: 4 * 1024 * 1024,
};

/// More than a reader looks at before it gives out the first byte: only behind that does it see the pieces.
const FAR_BYTES: usize = 17 * 1024;

/// How many documents one validator sees.
const MAX_DOCUMENTS: usize = 8;

/// What a reader said.
#[derive(Debug, Default, PartialEq)]
struct Said {
    items: Vec<(Position, Item)>,
    /// Entries that were left out, and what ended the reading.
    errors: Vec<String>,
    findings: Vec<String>,
    bytes: u64,
}

impl Said {
    /// Without what is about the wrapping.
    fn items(&self) -> Vec<&Item> {
        self.items.iter().map(|(_, item)| item).collect()
    }
}

fn custom_namespaces() -> Vec<CustomNamespace> {
    let shop = CustomNamespace::new("shop", "https://example.com/schemas/shop");
    vec![shop.expect("a good namespace")]
}

fn place(text: &str) -> Loc {
    Loc::parse(text).expect("a good place")
}

/// Reads a document in pieces of so many bytes, and looks at all that can be asked.
fn read(bytes: &[u8], piece_bytes: usize) -> Said {
    let input = BufReader::with_capacity(piece_bytes, bytes);
    let own = custom_namespaces();
    let mut reader = Reader::new(input, LIMITS)
        .at(&place("https://example.com/dir/feed.xml"))
        .with_custom_namespaces(&own)
        .keeping_text();
    let mut said = Said::default();
    let mut last = None;
    while let Some(item) = reader.next() {
        match item {
            Ok(item) => {
                let position = reader.entry_position();
                assert!(
                    last.is_none_or(|last| last < position),
                    "{position} is not behind {last:?}"
                );
                last = Some(position);
                assert!(position.offset <= reader.bytes());
                let _ = reader.excerpt(position);
                assert!(reader.loc_position().line >= position.line);
                assert!(reader.lastmod_position().line >= position.line);
                said.items.push((position, item));
            }
            Err(error) => {
                let is_fatal = error.is_fatal();
                said.errors.push(error.to_string());
                if is_fatal {
                    assert!(reader.next().is_none(), "{error} and then more");
                }
            }
        }
        assert!(reader.findings().len() <= MAX_FINDINGS);
        if reader.findings().len() == MAX_FINDINGS {
            take(&mut reader, &mut said);
        }
    }
    take(&mut reader, &mut said);
    assert!(said.items.len() as u64 <= reader.entries());
    assert!(reader.bytes() <= LIMITS.bytes);
    assert!(reader.kind().is_some() || said.items.is_empty());
    said.bytes = reader.bytes();
    said
}

fn take(reader: &mut Reader<BufReader<&[u8]>>, said: &mut Said) {
    for finding in reader.take_findings() {
        assert!(finding.position.offset <= reader.bytes());
        if let Some(excerpt) = reader.excerpt(finding.position) {
            assert!(excerpt.marker <= excerpt.text.chars().count());
        }
        let mut words = finding.to_string();
        let _ = write!(words, " {} {}", finding.rule(), finding.severity());
        said.findings.push(words);
    }
}

/// Any bytes: where they are cut into pieces makes no difference, and what was read can be written.
pub(super) fn sitemap(input: &[u8]) -> u64 {
    let whole = read(input, 8 * 1024);
    let in_pieces = read(input, 1);
    assert_eq!(whole, in_pieces, "the size of the pieces matters");
    write_again(&whole);
    whole.bytes + in_pieces.bytes
}

/// What was read is in a form that can be written, and comes to the same bytes when that is read.
fn write_again(said: &Said) {
    // Two files in one may be of two kinds.
    let is_page = |item: &&Item| matches!(item, Item::Url(_));
    let (pages, sitemaps): (Vec<&Item>, _) = said.items().into_iter().partition(is_page);
    for (file, count) in [pages, sitemaps].iter().filter_map(|items| write(items)) {
        let text = || String::from_utf8_lossy(&file).into_owned();
        let own = custom_namespaces();
        let mut reader = Reader::new(&file[..], Limits::default()).with_custom_namespaces(&own);
        let again: Result<Vec<Item>, _> = reader.by_ref().collect();
        let again = again.unwrap_or_else(|error| panic!("{error} in what was written: {}", text()));
        let error = reader
            .findings()
            .iter()
            .find(|finding| finding.severity() == Severity::Error);
        assert!(error.is_none(), "{error:?} in what was written: {}", text());
        assert_eq!(again.len(), count, "{}", text());
        let again: Vec<&Item> = again.iter().collect();
        let again = write(&again).map(|(file, _)| String::from_utf8_lossy(&file).into_owned());
        assert_eq!(again, Some(text()));
    }
}

/// The file of these entries and their number, if there is one that can be written. All are pages, or all
/// are sitemaps.
fn write(items: &[&Item]) -> Option<(Vec<u8>, usize)> {
    let (mut pages, mut sitemaps) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            // What contradicts itself is read and told, and refused by the writer.
            Item::Url(entry) if entry.extensions.check(&entry.loc).is_ok() => pages.push(entry),
            Item::Url(_) => {}
            Item::Sitemap(entry) => sitemaps.push(entry),
        }
    }
    assert!(pages.is_empty() || sitemaps.is_empty(), "one kind of file");
    let mut count = 0;
    if sitemaps.is_empty() {
        let mut options = UrlSetOptions::default();
        for entry in &pages {
            let added = options.namespaces.add(&entry.extensions);
            added.expect("only namespaces that were asked for");
        }
        let mut writer = UrlSetWriter::with_options(Vec::new(), options).expect("room");
        for entry in pages {
            let push = writer.push(entry).expect("an entry that was read");
            count += usize::from(push == Push::Written);
        }
        (count > 0).then(|| (writer.finish().expect("memory takes all").0, count))
    } else {
        let mut writer = IndexWriter::new(Vec::new(), Limits::default()).expect("room");
        for entry in sitemaps {
            let push = writer.push(entry).expect("an entry that was read");
            count += usize::from(push == Push::Written);
        }
        (count > 0).then(|| (writer.finish().expect("memory takes all").0, count))
    }
}

/// A document whose part behind the first tag or declaration begins far behind it.
fn far(document: &[u8]) -> Vec<u8> {
    let end = document.iter().position(|&byte| byte == b'>');
    let (first, rest) = document.split_at(end.map_or(0, |end| end + 1));
    [first, &vec![b' '; FAR_BYTES], rest].concat()
}

/// Where a document is cut into pieces makes no difference.
fn same_in_pieces(document: &[u8]) -> u64 {
    let (whole, in_pieces) = (read(document, 8 * 1024), read(document, 3));
    assert_eq!(whole, in_pieces, "the size of the pieces matters");
    whole.bytes + in_pieces.bytes
}

/// Text in UTF-16 says the same as in UTF-8; any bytes are read as they are.
pub(super) fn encoding(input: &[u8]) -> u64 {
    let Ok(text) = std::str::from_utf8(input) else {
        return sitemap(input) + same_in_pieces(&far(input));
    };
    // Behind a byte order mark for UTF-16, a zero makes it one for UTF-32.
    let text = text.trim_start_matches(['\0', '\u{feff}']);
    let utf8 = read(format!("\u{feff}{text}").as_bytes(), 8 * 1024);
    let mut bytes = utf8.bytes;
    if bytes < LIMITS.bytes / 4 {
        let far_text = String::from_utf8(far(text.as_bytes())).expect("cut behind ASCII");
        for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let utf16 = |text: &str| -> Vec<u8> {
                let units = iter::once(0xfeff).chain(text.encode_utf16());
                units.flat_map(to_bytes).collect()
            };
            let file = utf16(text);
            bytes += same_in_pieces(&utf16(&far_text));
            for piece_bytes in [8 * 1024, 3] {
                let utf16 = read(&file, piece_bytes);
                assert_eq!(utf16.items(), utf8.items());
                assert_eq!(utf16.errors.len(), utf8.errors.len());
                bytes += utf16.bytes;
            }
        }
    }
    bytes
}

/// Compressed, once or twice, in one or several members, it says the same; damaged, it does no harm. The
/// first byte says how, the second where the damage is; without compression it is read as it is.
pub(super) fn gzip(input: &[u8]) -> u64 {
    let [how, place, payload @ ..] = input else {
        return 0;
    };
    let (layers, members, is_damaged, has_trailer) =
        (how & 3, 1 + (how >> 2 & 7), how & 32 != 0, how & 64 != 0);
    let mut file = payload.to_vec();
    for _ in 0..layers {
        file = compress(&file, usize::from(members));
    }
    let is_whole = !is_damaged && !has_trailer;
    if is_damaged && !file.is_empty() {
        let at = usize::from(*place) * file.len() / 256;
        file[at] ^= 1 << (how >> 5);
    }
    if has_trailer {
        file.extend_from_slice(b"trailer");
    }
    let unpacked = read(&file, 8 * 1024);
    let in_pieces = read(&file, 5);
    assert_eq!(unpacked, in_pieces, "the size of the pieces matters");
    let is_document = !payload.starts_with(b"\x1f\x8b") && !payload.starts_with(b"PK\x03\x04");
    let mut bytes = unpacked.bytes + in_pieces.bytes;
    if is_whole && is_document && payload.len() > 4 {
        if layers <= 2 {
            let plain = read(payload, 8 * 1024);
            assert_eq!(unpacked.items, plain.items);
            assert_eq!(unpacked.errors, plain.errors);
            bytes += plain.bytes;
        } else {
            assert_eq!((unpacked.items.len(), unpacked.errors.len()), (0, 1));
        }
    }
    bytes
}

fn compress(bytes: &[u8], members: usize) -> Vec<u8> {
    let member_bytes = bytes.len().div_ceil(members).max(1);
    let mut file = Vec::new();
    for member in bytes.chunks(member_bytes) {
        let mut encoder = GzEncoder::new(&mut file, Compression::fast());
        encoder.write_all(member).expect("memory takes all");
        encoder.finish().expect("memory takes all");
    }
    file
}

/// The lines of a robots.txt, and documents: the first one leads to the others.
pub(super) fn validate(input: &[u8]) -> u64 {
    let mut documents = parts(input, MAX_DOCUMENTS + 1);
    let now = "2026-03-01T00:00:00Z".parse().expect("a good time");
    let mut options = Options::new(now);
    options.limits = LIMITS;
    options.is_whole = true;
    let mut validator = Validator::new(options);
    let (mut told, mut more, mut bytes) = (0, 0, 0);
    let mut sink = |finding: sitemap_core::validate::Finding| {
        told += 1;
        assert!(
            RuleText::of(finding.rule).is_some(),
            "{} is not listed",
            finding.rule
        );
        assert!(!finding.message.is_empty(), "{finding:?}");
        assert!(!finding.help.is_empty(), "{finding:?}");
        if let Some(excerpt) = finding.excerpt {
            assert!(excerpt.marker <= excerpt.text.chars().count());
        }
    };
    let robots = String::from_utf8_lossy(documents.next().unwrap_or_default());
    validator.robots(
        &place("https://example.com/robots.txt"),
        robots.lines(),
        &mut sink,
    );
    let places = ["https://example.com/", "https://example.com/dir/"]
        .map(|directory| place(&format!("{directory}sitemap.xml")));
    let requested = place("https://www.example.com/sitemap.xml");
    let is_blocked = |loc: &Loc| loc.as_str().contains("private");
    let mut first = None;
    for (number, document) in documents.enumerate() {
        let name = format!("{number}.xml");
        let mut facts = Facts::new(&name);
        facts.place = places.get(number % 3);
        facts.requested = (number % 4 == 3).then_some(&requested);
        facts.modified = (number % 2 == 1).then_some(now);
        facts.listed_by = first;
        facts.is_blocked = Some(&is_blocked);
        let report = validator
            .check(document, &facts, &mut sink)
            .expect("memory does not fail");
        bytes += report.bytes;
        more += report
            .repeated
            .iter()
            .map(|repeated| repeated.more)
            .sum::<u64>();
        if first.is_none() {
            for child in report.children.iter().take(10) {
                validator.missing(report.document, child, "404", &mut sink);
            }
        }
        first.get_or_insert(report.document);
    }
    let summary = validator.finish(&mut sink);
    more += summary
        .repeated
        .iter()
        .map(|repeated| repeated.more)
        .sum::<u64>();
    let counts = summary.counts;
    assert_eq!(
        counts.errors + counts.warnings + counts.notes,
        told + more,
        "every finding is told or counted"
    );
    bytes + input.len() as u64
}
