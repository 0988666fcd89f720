//! Tests of the input before the markup: encodings, compression, sizes, and inputs that fail.

use std::io::{self, BufReader};

use super::{check_reading, checked, columns, gzip, latin1, list, urlset, utf16};
use crate::{
    Limits,
    limits::{MAX_BYTES, NAMESPACE},
    read::{Kind, MAX_GZIP_MEMBERS, ReadError, Reader},
};

#[test]
fn declaration_and_encoding_are_looked_at() {
    let file = urlset("<url><loc>http://host/</loc></url>");
    for row in [
        "<?xml => \u{FEFF}<?xml => Note R2",
        "<?xml => \n<?xml => Warning R1",
        "<?xml => <!-- x --><?xml => Warning R1",
        "UTF-8 => utf-8",
        "UTF-8 => ISO-8859-1 => Error R2",
        "1.0 => 1.1 => Error R1",
        "<urlset => <!DOCTYPE urlset [<!ENTITY a 'b'>]><urlset => Error R1",
        "<url> => <!-- a -- b --><url> => Error R1",
        "0.9\"> => 0.9\" a=1> => Error R1",
    ] {
        let [from, to, findings] = columns(row);
        check_reading(
            file.replace(from, to),
            &["http://host/|||"],
            &list(findings),
        );
    }
}

#[test]
fn encoding_is_reported_under_its_declared_name() {
    let check = |text: Vec<u8>, expected: &str| {
        let mut reader = Reader::new(&text[..], Limits::default());
        while reader.next().is_some() {}
        let messages = reader.findings().iter();
        let messages: Vec<String> = messages
            .map(|finding| finding.problem.to_string())
            // A name with white space around it is not a name in XML; this is reported too.
            .filter(|message| !message.contains("XML declaration is not like"))
            .collect();
        assert_eq!(
            messages,
            [format!("encoding is {expected}, expected UTF-8")]
        );
    };
    let file =
        |encoding: &str| urlset("<url><loc>http://host/a</loc></url>").replace("UTF-8", encoding);
    check(
        file("ISO-8859-1").into(),
        "ISO-8859-1 (read as windows-1252)",
    );
    check(file(" latin1 ").into(), "latin1 (read as windows-1252)");
    check(file("Windows-1252").into(), "windows-1252");
    check(file("iso-8859-2").into(), "ISO-8859-2");
    check(utf16(&file("UTF-8"), u16::to_le_bytes), "UTF-16LE");
}

#[test]
fn malformed_bytes_cost_their_value() {
    let file = |before: &str, loc: &str, lastmod: &str| {
        let text = urlset(&format!(
            "{before}<url><loc>http://host/{loc}</loc><lastmod>2024-05-17{lastmod}</lastmod></url><url><loc>http://host/b</loc></url>"
        ));
        // It cannot be in a `String`.
        let mut bytes = text.into_bytes();
        bytes
            .iter_mut()
            .filter(|byte| **byte == b'~')
            .for_each(|byte| *byte = 0xfc);
        bytes
    };
    let rest = "http://host/b|||";
    check_reading(file("", "~", ""), &["- R2", rest], &[]);
    check_reading(file("", "", "~"), &["http://host/|||", rest], &["Error R2"]);
    check_reading(
        file("<!-- ~ -->", "", ""),
        &["http://host/|2024-05-17||", rest],
        &["Error R2"],
    );
    check_reading(
        file("<x:y xmlns:x=\"a\">~</x:y>", "", ""),
        &["http://host/|2024-05-17||", rest],
        &["Note R70", "Note R71", "Error R2"],
    );
}

#[test]
fn positions_count_bytes_of_utf_8() {
    let text = "\u{FEFF}<?xml version=\"1.0\"?>\r\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\r<url><loc>http://host/ü😀</loc></url>\n<url><loc>/a</loc></url></urlset>";
    let offset = text.find("<loc>/a").unwrap();
    let check = |bytes: &[u8]| {
        let mut reader = Reader::new(bytes, Limits::default());
        let error = reader.find_map(Result::err).unwrap();
        let ReadError::Entry(finding) = error else {
            panic!("{error}")
        };
        assert_eq!(
            (finding.position.line, finding.position.offset),
            (4, offset as u64)
        );
        assert!(reader.next().is_none());
        assert_eq!(reader.bytes(), text.len() as u64);
    };
    check(text.as_bytes());
    check(&utf16(text, u16::to_be_bytes));
}

#[test]
fn compression_is_known_by_the_first_bytes() {
    let file = urlset("<url><loc>http://host/</loc></url>");
    let entry = &["http://host/|||"][..];
    let compressed = gzip(file.as_bytes());
    check_reading(&compressed, entry, &[]);
    check_reading(gzip(&compressed), entry, &["Warning R29"]);
    check_reading(gzip(&gzip(&compressed)), &["! R29"], &["Warning R29"]);
    let (first, second) = file.as_bytes().split_at(50);
    check_reading([gzip(first), gzip(b""), gzip(second)].concat(), entry, &[]);
    let followed = [&compressed[..], b"garbage"].concat();
    check_reading(followed, entry, &["Warning R29"]);
    check_reading([&compressed[..], &[0; 512]].concat(), entry, &[]);
    check_reading([&compressed[..60], b"garbage"].concat(), &["! R29"], &[]);
    check_reading(
        &compressed[..compressed.len() - 9],
        &["http://host/|||", "! R29"],
        &[],
    );
    check_reading(&compressed[..20], &["! R29"], &[]);
    check_reading(b"PK\x03\x04rest", &["! R29"], &[]);
}

#[test]
fn compression_that_comes_to_nothing_has_an_end() {
    // Stored blocks without content (RFC 1951 section 3.2.4), in a member that decompresses to ever more of them.
    let mut endless = gzip(b"")[..10].to_vec();
    endless.extend(b"\x00\x00\x00\xff\xff".repeat(1_000_000));
    let limits = Limits {
        entries: 1,
        bytes: 100_000,
    };
    let file = gzip(&endless);
    let error = Reader::new(&file[..], limits).next().unwrap().unwrap_err();
    assert!(
        error.to_string().contains("more than 100000 bytes"),
        "{error}"
    );
}

#[test]
fn limits_hold_to_the_last_entry_and_byte() {
    let entries = |count: usize| urlset(&"<url><loc>http://host/</loc></url>\n".repeat(count));
    let count = |file: &[u8]| Reader::new(file, Limits::default()).flatten().count();
    let last = |file: &[u8]| {
        let item = Reader::new(file, Limits::default()).last().unwrap();
        item.map_err(|error| error.to_string())
    };
    let (allowed, too_many) = (entries(50_000), entries(50_001));
    assert_eq!(count(allowed.as_bytes()), 50_000);
    assert!(last(allowed.as_bytes()).is_ok());
    assert_eq!(count(too_many.as_bytes()), 50_000);
    let error = last(too_many.as_bytes()).unwrap_err();
    assert!(
        error.ends_with("file has more than 50000 entries (R27)"),
        "{error}"
    );

    // Comments fill the file up to the limit, in pieces that are no longer than a token may be.
    let max_bytes = usize::try_from(MAX_BYTES).unwrap();
    let filler = format!("<!--{}-->", " ".repeat(200_000));
    let mut full = format!("<urlset xmlns=\"{NAMESPACE}\"><url><loc>http://host/</loc></url>");
    while full.len() + filler.len() + 20 < max_bytes {
        full.push_str(&filler);
    }
    full.push_str(&" ".repeat(max_bytes - full.len() - "</urlset>".len()));
    full.push_str("</urlset>");
    assert_eq!(
        checked(full.as_bytes(), Kind::UrlSet).unwrap().bytes,
        52_428_800
    );
    assert_eq!(
        checked(&gzip(full.as_bytes()), Kind::UrlSet).unwrap().bytes,
        52_428_800
    );
    full.push('\n');
    for file in [full.as_bytes(), &gzip(full.as_bytes())] {
        let error = checked(file, Kind::UrlSet).unwrap_err().to_string();
        assert!(
            error.ends_with("file has more than 52428800 bytes uncompressed (R28)"),
            "{error}"
        );
    }
}

struct Failing;

impl io::Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::new(io::ErrorKind::ConnectionReset, "reset"))
    }
}

#[test]
fn failing_input_is_no_fault_of_the_file() {
    let check = |start: &[u8], entries: usize| {
        let input = BufReader::with_capacity(16, io::Read::chain(start, Failing));
        let mut reader = Reader::new(input, Limits::default());
        for _ in 0..entries {
            assert!(reader.next().unwrap().is_ok());
        }
        let error = reader.next().unwrap().unwrap_err();
        assert!(
            matches!(&error, ReadError::Io(error) if error.kind() == io::ErrorKind::ConnectionReset),
            "{error:?}"
        );
        assert!(error.is_fatal() && reader.next().is_none());
    };
    check(b"<urlset>", 0);
    check(b"", 0);
    check(&gzip(b"<urlset>")[..15], 0);
    // After the first half of a line end, of a character, and of a compressed file.
    check(b"http://host/a\r", 1);
    let long = format!("http://host/{}", "a".repeat(1_500));
    check(format!("{long}\r").as_bytes(), 1);
    check(&[long.as_bytes(), b"\xe2"].concat(), 0);
    let file = urlset("<url><loc>http://host/</loc></url>");
    check(&gzip(file.as_bytes()), 1);
}

#[test]
fn compressed_entries_before_the_limit_are_read() {
    let file = urlset(&"<url><loc>http://host/</loc></url>\n".repeat(1_000));
    let limits = Limits {
        bytes: 5_000,
        ..Limits::default()
    };
    let read = |file: &[u8]| {
        let mut reader = Reader::new(file, limits);
        let count = reader.by_ref().take_while(Result::is_ok).count();
        assert!(reader.next().is_none());
        count
    };
    let plain = read(file.as_bytes());
    assert!((130..150).contains(&plain), "{plain}");
    assert_eq!(read(&gzip(file.as_bytes())), plain);
    assert_eq!(read(&gzip(&gzip(file.as_bytes()))), plain);
}

#[test]
fn long_tag_is_read() {
    let tag = format!("<url note=\"{}\">", "x".repeat(200_000));
    let file = urlset("<url><loc>http://host/</loc></url>").replace("<url>", &tag);
    check_reading(file, &["http://host/|||"], &["Warning R6"]);
}

#[test]
fn gzip_members_are_read_up_to_a_bound() {
    let file = urlset("<url><loc>http://host/</loc></url>");
    let members = |count: usize| [gzip(file.as_bytes()), gzip(b"").repeat(count - 1)].concat();
    let most = usize::try_from(MAX_GZIP_MEMBERS).unwrap();
    check_reading(members(most), &["http://host/|||"], &[]);
    check_reading(members(most + 1), &["http://host/|||", "! R29"], &[]);
}

#[test]
fn long_file_in_another_encoding_is_read() {
    let entries = "<url><loc>http://host/\u{e9}</loc></url>\n".repeat(100);
    let expected = ["http://host/%C3%A9|||"; 100];
    let mut reported = ["Warning R23"; 101];
    reported[0] = "Error R2";
    let file = |encoding: &str| urlset(&entries).replace("UTF-8", encoding);
    check_reading(latin1(&file("ISO-8859-1")), &expected, &reported);
    let wide = utf16(&file("UTF-16"), u16::to_be_bytes);
    check_reading(wide, &expected, &reported);
}
