//! Text before the declaration, names in another case, and undeclared prefixes.

use std::io::BufReader;

use super::{check_reading, gzip, index, urlset};
use crate::{
    Limits,
    read::{Item, Kind, Reader},
};

/// The findings of a file that is handed over in pieces, with their places, and the number of its entries.
fn findings(file: &[u8], piece_bytes: usize) -> (Vec<String>, usize) {
    let input = BufReader::with_capacity(piece_bytes, file);
    let mut reader = Reader::new(input, Limits::default());
    let entries = reader.by_ref().flatten().count();
    let findings = reader.findings().iter().map(ToString::to_string);
    (findings.collect(), entries)
}

#[test]
fn text_before_the_declaration_is_skipped_and_reported() {
    let page = urlset("<url><loc>http://host/a</loc></url>");
    let warning = "Warning: Undefined variable $x in /srv/map.php on line 3\r\n\n<br />\n";
    let file = format!("{warning}{page}");
    let reported = format!(
        "line 4, byte {}: something is before the XML declaration, expected it at the beginning of the file (R1)",
        warning.len()
    );
    for piece_bytes in [1, 7, 8 * 1024] {
        let expected = (vec![reported.clone()], 1);
        assert_eq!(findings(file.as_bytes(), piece_bytes), expected);
        assert_eq!(findings(&gzip(file.as_bytes()), piece_bytes), expected);
    }
    let sitemaps = index("<sitemap><loc>http://host/s.xml</loc></sitemap>");
    check_reading(
        format!("<b>Notice</b>: x\n{sitemaps}"),
        &["http://host/s.xml|"],
        &["Error R1"],
    );
    check_reading(
        format!("\u{feff}x{page}"),
        &["http://host/a|||"],
        &["Note R2", "Error R1"],
    );
    let feed = "x<?xml version='1.0'?><rss version='2.0'><channel><item><link>http://host/a</link></item></channel></rss>";
    check_reading(feed, &["http://host/a|||"], &["Error R1"]);
}

#[test]
fn text_before_the_declaration_is_skipped_in_utf16_as_in_utf8() {
    let page = urlset("\n<url><loc>http://host/a</loc></url>");
    let read = |file: &[u8]| {
        let mut reader = Reader::new(file, Limits::default());
        let read = reader.next().is_some_and(|item| item.is_ok());
        let lines: Vec<_> = reader
            .findings()
            .iter()
            .map(|it| it.position.line)
            .collect();
        (read, reader.entry_position(), lines)
    };
    let last = 8 * 1024 - "é😀\r\n".len() - page.find("xmlns").unwrap();
    for length in [0, 1000, last, last + 1] {
        let file = format!("\u{feff}é😀\r\n{}{page}", "x".repeat(length));
        let (is_read, position, _) = read(file.as_bytes());
        assert_eq!(is_read, length <= last, "{length}");
        for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let units =
                |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(to_bytes).collect() };
            let (is_read_too, position_too, lines) = read(&units(&file));
            assert_eq!(is_read_too, is_read, "{length}");
            if is_read {
                assert_eq!(position_too, position);
                // The mark, the encoding, and the text before the declaration.
                assert_eq!(lines, [1, 1, 2]);
            }
        }
    }
}

#[test]
fn two_files_in_one_may_be_of_two_kinds() {
    let sitemaps = index("<sitemap><loc>http://host/s.xml</loc></sitemap>");
    let feed = "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='http://host/a'/></entry></feed>";
    let file = format!("{sitemaps}\n{feed}");
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    assert!(matches!(reader.next(), Some(Ok(Item::Sitemap(_)))));
    assert!(matches!(reader.next(), Some(Ok(Item::Url(_)))));
    assert!(reader.next().is_none());
    assert_eq!(reader.kind(), Some(Kind::Index));
}

#[test]
fn places_after_skipped_text_are_those_of_the_file() {
    let page = urlset("\n<url><loc>http://host/a</loc><lastmod>x</lastmod></url>");
    let file = format!("one\ntwo\n{page}");
    let mut reader = Reader::new(file.as_bytes(), Limits::default()).keeping_text();
    assert!(reader.next().unwrap().is_ok());
    assert_eq!(reader.entry_position().line, 5);
    let offset = file.find("<url>").unwrap() as u64;
    assert_eq!(reader.entry_position().offset, offset);
    let positions: Vec<_> = reader.findings().iter().map(|it| it.position).collect();
    assert_eq!(positions[0].offset, 8);
    assert_eq!(positions[1].line, 5);
    let excerpt = reader.excerpt(positions[0]).unwrap();
    assert!(excerpt.text.starts_with("<?xml"), "{excerpt:?}");
    let excerpt = reader.excerpt(positions[1]).unwrap();
    assert!(excerpt.text.starts_with("<url><loc>"), "{excerpt:?}");
    assert!(reader.next().is_none());
    assert_eq!(reader.bytes(), file.len() as u64);
}

#[test]
fn declared_encoding_after_skipped_text_counts() {
    let page = urlset("<url><loc>http://host/\u{e9}</loc></url>").replace("UTF-8", "ISO-8859-1");
    let latin: Vec<u8> = page
        .chars()
        .map(|character| u8::try_from(character).unwrap())
        .collect();
    check_reading(
        [b"Deprecated: x\n", &latin[..]].concat(),
        &["http://host/%C3%A9|||"],
        &["Error R2", "Error R1", "Warning R23"],
    );
}

#[test]
fn text_is_skipped_up_to_a_bound_and_only_before_a_sitemap() {
    let page = urlset("<url><loc>http://host/a</loc></url>");
    let far = format!("{}{page}", "x".repeat(8 * 1024));
    check_reading(far, &["! R1"], &[]);
    let near = format!("{}{page}", "x".repeat(7 * 1024));
    check_reading(near, &["http://host/a|||"], &["Error R1"]);
    // A page, a text and a list of URLs stay unchanged.
    check_reading(format!("<html><body>{page}"), &["! R4"], &[]);
    check_reading("see <?xml version='1.0'?><svg/>", &["! R1"], &[]);
    let list = format!("http://host/b\n{page}");
    let mut reader = Reader::new(list.as_bytes(), Limits::default());
    assert!(reader.next().unwrap().is_ok());
    assert_eq!(reader.kind(), Some(Kind::Text));
}

#[test]
fn elements_in_another_case_are_read_and_each_is_reported_once() {
    check_reading(
        "<URLSET xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
         <URL><LOC>http://host/a</LOC><LastMod>2024-05-17</LastMod><ChangeFreq>daily</ChangeFreq><Priority>0.5</Priority></URL>\
         <URL><LOC>http://host/b</LOC></URL><url><loc>http://host/c</loc></url></URLSET>",
        &[
            "http://host/a|2024-05-17|daily|0.5",
            "http://host/b|||",
            "http://host/c|||",
        ],
        &[
            "Error R4", "Error R6", "Error R6", "Error R6", "Error R6", "Error R6",
        ],
    );
    check_reading(
        index("<Sitemap><Loc>http://host/a</Loc></Sitemap>"),
        &["http://host/a|"],
        &["Error R36", "Error R36"],
    );
    check_reading(
        "<Rss version='2.0'><Channel><Item><Link>http://host/a</Link><PUBDATE>Mon, 02 Mar 2026 04:00:11 GMT</PUBDATE></Item></Channel></Rss>",
        &["http://host/a|2026-03-02T04:00:11Z||"],
        &["Error R4", "Error R45", "Error R45", "Error R45"],
    );
    check_reading(
        "<Feed xmlns='http://www.w3.org/2005/Atom'><Entry><Link href='http://host/a'/><Updated>2026-03-02T04:00:11Z</Updated></Entry></Feed>",
        &["http://host/a|2026-03-02T04:00:11Z||"],
        &["Error R4", "Error R45", "Error R45", "Error R45"],
    );
}

#[test]
fn end_tag_has_the_case_of_its_start_tag() {
    check_reading(
        urlset("<url><loc>http://host/a</LOC></url>"),
        &["http://host/a|||"],
        &["Error R1", "Error R1"],
    );
}

#[test]
fn prefix_without_declaration_is_reported_wherever_it_is() {
    let page = |content: &str| urlset(&format!("<url><loc>http://host/a</loc>{content}</url>"));
    let check = |file: String, count: usize| {
        let reported: Vec<_> = findings(file.as_bytes(), 8 * 1024).0;
        let prefixes = reported
            .iter()
            .filter(|reported| reported.ends_with("is not declared (R70)"));
        assert_eq!(prefixes.count(), count, "{file}: {reported:?}");
    };
    let image = "xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'";
    check(page(""), 0);
    check(page("<a:b/>"), 1);
    check(page("<a:b/><a:c/><d:e/>"), 2);
    check(
        page(&format!(
            "<image:image {image} a:b='c'><image:loc>http://host/i</image:loc></image:image>"
        )),
        1,
    );
    check(
        page(&format!(
            "<image:image {image}><image:loc a:b='c'>http://host/i</image:loc></image:image>"
        )),
        1,
    );
    // What is skipped is still no XML with namespaces.
    check(page("<x xmlns='http://x/'><y a:b='c'/></x>"), 1);
    check(page("<x xmlns='http://x/'><a:y/><a:y/></x>"), 1);
    check(page("<x xmlns='http://x/' xml:lang='en' b='a:c'/>"), 0);
    let feed = |content: &str| {
        format!("<rss><channel><item><link>http://host/a</link>{content}</item></channel></rss>")
    };
    check(feed("<title>x</title>"), 0);
    check(feed("<title a:b='c'>x</title><a:d/>"), 1);
    check(feed("<media:content/><media:content/>"), 1);
    check(feed("<description><p xlink:href='x'/></description>"), 1);
    check("<rss a:b='c'><channel/></rss>".to_owned(), 1);
}
