//! No input makes the reader panic, hang or take much memory.

use std::io::{self, BufRead, Read};

use proptest::prelude::*;

use super::{gzip, index, urlset, utf16};
use crate::{
    Limits,
    read::{MAX_FINDINGS, Reader},
};

/// A document of each kind, and pieces that have a meaning somewhere.
fn documents() -> Vec<String> {
    vec![
        urlset(
            "<url><loc>http://host/?a&amp;b</loc><lastmod>2024-05-17</lastmod><changefreq>daily</changefreq><priority>0.5</priority></url>\
             <url><loc><![CDATA[http://host/]]></loc></url><!-- x -->",
        ),
        index("<sitemap><loc>http://host/s.xml</loc><lastmod>2024-05-17T09:30:00Z</lastmod></sitemap>"),
        "<rss version=\"2.0\"><channel><link>http://host/</link><item><link>http://host/a</link><guid isPermaLink=\"false\">1</guid>\
         <pubDate>Mon, 02 Mar 2026 04:00:11 GMT</pubDate></item></channel></rss>"
            .to_owned(),
        "<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:base=\"http://host/\"><entry><link rel=\"alternate\" href=\"a?b&amp;c\"/>\
         <updated>2026-03-02T04:00:11Z</updated></entry></feed>"
            .to_owned(),
        "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"http://purl.org/rss/1.0/\"><item><link>http://host/</link></item></rdf:RDF>"
            .to_owned(),
        "url,lastmod\r\nhttp://host/a\n\n# x\rhttp://host/b,2024-05-17,daily\n\"http://host/c\"\t1\nfooter".to_owned(),
        "<?xml version=\"1.0\" encoding=\"Shift_JIS\"?><urlset><url><loc>http://host/&eacute;</loc></url></urlset>".to_owned(),
    ]
}

/// An input that remembers how much was read of it at a time.
struct Watched<'a> {
    bytes: &'a [u8],
    reads: u64,
}

impl Read for Watched<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        self.bytes.read(out)
    }
}

impl BufRead for Watched<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reads += 1;
        // So much the more borders to stumble over.
        Ok(&self.bytes[..self.bytes.len().min(7)])
    }

    fn consume(&mut self, length: usize) {
        self.bytes = &self.bytes[length..];
    }
}

/// Reads to the end; the work must be in proportion to the bytes.
fn exhaust(file: &[u8]) -> Result<(), TestCaseError> {
    let limits = Limits {
        entries: 1_000,
        bytes: 1 << 20,
    };
    let mut input = Watched {
        bytes: file,
        reads: 0,
    };
    let mut reader = Reader::new(io::BufReader::with_capacity(64, &mut input), limits);
    let items = reader.by_ref().count();
    prop_assert!(items <= 2_000, "{items} items");
    prop_assert!(reader.findings().len() <= MAX_FINDINGS);
    prop_assert!(reader.next().is_none());
    prop_assert!(
        input.reads <= file.len() as u64 + 16,
        "{} reads",
        input.reads
    );

    let mut input = Watched {
        bytes: file,
        reads: 0,
    };
    let pieces = Reader::new(&mut input, limits).count();
    prop_assert_eq!(items, pieces, "the size of the pieces must not matter");
    Ok(())
}

proptest! {
    #[test]
    fn mutated_documents_come_to_an_end(
        document in prop::sample::select(documents()),
        mutations in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..6_u8, any::<u8>()), 0..8),
        form in 0..4_u8,
    ) {
        let mut file = if form == 1 { utf16(&document, u16::to_le_bytes) } else { document.into_bytes() };
        for (at, to, what, byte) in mutations {
            if file.is_empty() {
                break;
            }
            let (at, to) = (at.index(file.len()), to.index(file.len()));
            let (start, end) = (at.min(to), at.max(to));
            match what {
                0 => file[at] = byte,
                1 => file.truncate(at),
                2 => file.insert(at, byte),
                3 => drop(file.drain(start..end)),
                4 => {
                    let piece = file[start..end].to_vec();
                    file.splice(start..start, piece);
                }
                _ => file.swap(start, end),
            }
        }
        let file = match form {
            2 => gzip(&file),
            3 => gzip(&gzip(&file)),
            _ => file,
        };
        exhaust(&file)?;
    }

    #[test]
    fn made_up_markup_comes_to_an_end(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "<urlset>", "</urlset>", "<url>", "</url>", "<loc>", "</loc>", "<sitemapindex>", "<sitemap>", "</sitemap>",
                "<rss>", "<channel>", "<item>", "</item>", "<link>", "</link>", "<guid>", "</guid>", "<pubDate>", "<feed>", "<entry>",
                "</entry>", "<link href='", "'/>", "<updated>", "</updated>", "<rdf:RDF>", "<?xml", "encoding=\"utf-16\"", "?>", "<!--",
                "-->", "<![CDATA[", "]]>", "<!DOCTYPE html", "[<!ENTITY a '&a;&a;'>]", ">", "&a;", "&amp;", "&", ";", "&#x110000;", "&#0;",
                "http://host/", "2024-05-17", " ", "\n", "\r", "\t", "<", "\"", "'", "=", "xmlns:x='y'", "x:", "\u{FEFF}", "é", "\0",
            ]),
            0..60,
        ),
        as_text: bool,
    ) {
        let mut file = pieces.concat();
        if as_text {
            file.insert_str(0, "http://host/\n");
        }
        exhaust(file.as_bytes())?;
        exhaust(&utf16(&file, u16::to_le_bytes))?;
    }
}

#[test]
fn unclosed_elements_end_with_their_entry() {
    let entry = format!(
        "<url>{}<loc>http://host/</loc></url>",
        "<aaaaaaaa>".repeat(400)
    );
    let file = urlset(&entry.repeat(50));
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    assert_eq!(reader.by_ref().flatten().count(), 0);
    assert_eq!(reader.entries(), 50);
}

#[test]
fn entities_of_the_document_are_never_expanded() {
    let bomb = "<?xml version=\"1.0\"?><!DOCTYPE urlset [<!ENTITY a \"http://host/aaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">\
                <!ENTITY x SYSTEM \"file:///etc/passwd\">]><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
                <url><loc>&b;</loc></url><url><loc>http://host/&x;</loc></url><url><loc>http://host/</loc></url></urlset>";
    super::check_reading(bomb, &["- R22", "- R22", "http://host/|||"], &["Error R1"]);
}
