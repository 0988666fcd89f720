//! Text before the declaration, names in another case, and undeclared prefixes.

use std::io::BufReader;

use super::{check_reading, check_row, gzip, index, latin1, problems, urlset, utf16};
use crate::{Limits, read::Reader};

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
fn utf16_text_before_the_declaration_is_skipped() {
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
            let (is_read_too, position_too, lines) = read(&utf16(&file, to_bytes));
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
fn positions_count_skipped_text() {
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
    check_reading(
        [b"Deprecated: x\n", &latin1(&page)[..]].concat(),
        &["http://host/%C3%A9|||"],
        &["Error R2", "Error R1", "Warning R23"],
    );
}

#[test]
fn elements_in_another_case_are_read() {
    for row in [
        "<URLSET xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
         <URL><LOC>http://host/a</LOC><LastMod>2024-05-17</LastMod><ChangeFreq>daily</ChangeFreq><Priority>0.5</Priority></URL>\
         <URL><LOC>http://host/b</LOC></URL><url><loc>http://host/c</loc></url></URLSET> \
         => http://host/a|2024-05-17|daily|0.5, http://host/b|||, http://host/c||| \
         => Error R4, Error R6, Error R6, Error R6, Error R6, Error R6",
        "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><Sitemap><Loc>http://host/a</Loc></Sitemap></sitemapindex> \
         => http://host/a| => Error R36, Error R36",
        "<Rss version='2.0'><Channel><Item><Link>http://host/a</Link><PUBDATE>Mon, 02 Mar 2026 04:00:11 GMT</PUBDATE></Item></Channel></Rss> \
         => http://host/a|2026-03-02T04:00:11Z|| => Error R4, Error R45, Error R45, Error R45",
        "<Feed xmlns='http://www.w3.org/2005/Atom'><Entry><Link href='http://host/a'/><Updated>2026-03-02T04:00:11Z</Updated></Entry></Feed> \
         => http://host/a|2026-03-02T04:00:11Z|| => Error R4, Error R45, Error R45, Error R45",
    ] {
        check_row(row, str::to_owned);
    }
}

#[test]
fn prefix_without_declaration_is_reported_wherever_it_is() {
    let check = |content: &str, count: usize, file: &str| {
        let found = problems(&file.replace('~', content));
        let prefixes = found.iter().filter(|it| it.ends_with("is not declared"));
        assert_eq!(prefixes.count(), count, "{content}: {found:?}");
    };
    let page = urlset(
        "<url><loc>http://host/a</loc><image:image xmlns:image='http://www.google.com/schemas/sitemap-image/1.1' ^>\
         <image:loc ^>http://host/i</image:loc></image:image>~</url>",
    );
    let page = |image: &str, loc: &str| page.replacen('^', image, 1).replace('^', loc);
    check("", 1, &page("a:b='c'", ""));
    check("", 1, &page("", "a:b='c'"));
    for (content, count) in [
        ("", 0),
        ("<a:b/>", 1),
        ("<a:b/><a:c/><d:e/>", 2),
        // What is skipped is still no XML with namespaces.
        ("<x xmlns='http://x/'><y a:b='c'/></x>", 1),
        ("<x xmlns='http://x/'><a:y/><a:y/></x>", 1),
        ("<x xmlns='http://x/' xml:lang='en' b='a:c'/>", 0),
    ] {
        check(content, count, &page("", ""));
    }
    let feed = "<rss><channel><item><link>http://host/a</link>~</item></channel></rss>";
    for (content, count) in [
        ("<title>x</title>", 0),
        ("<title a:b='c'>x</title><a:d/>", 1),
        ("<media:content/><media:content/>", 1),
        ("<description><p xlink:href='x'/></description>", 1),
    ] {
        check(content, count, feed);
    }
    check("", 1, "<rss a:b='c'><channel/></rss>");
}
