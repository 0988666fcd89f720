//! Reading of a compressed file that is damaged or cut short.

use std::io::{BufReader, Read};

use flate2::bufread::GzDecoder;

use super::{gzip, index, reading, urlset};
use crate::{
    Limits,
    read::{ReadError, Reader},
};

/// A hundred entries that do not compress to nothing.
fn document() -> String {
    let entry = |number: u32| {
        let noise = number.wrapping_mul(2_654_435_761);
        format!("<url><loc>http://host/{noise:x}/{number}</loc></url>")
    };
    urlset(&(0..100).map(entry).collect::<String>())
}

/// The URLs and errors that come out of a file that is handed over in pieces, and the findings.
fn in_pieces(file: &[u8], piece_bytes: usize) -> (Vec<String>, Vec<String>) {
    let mut reader = Reader::new(
        BufReader::with_capacity(piece_bytes, file),
        Limits::default(),
    );
    let items = reader.by_ref().map(|item| match item {
        Ok(item) => format!("{item:?}"),
        Err(error) => error.to_string(),
    });
    let items = items.collect();
    let findings = reader.findings().iter();
    (items, findings.map(ToString::to_string).collect())
}

/// The entries in the output of a decompressor, one byte at a time until it fails, without the last one, which may have been cut
/// short.
fn decodable(file: &[u8]) -> Vec<String> {
    let mut decoder = GzDecoder::new(file);
    let mut text = Vec::new();
    let mut byte = [0];
    while decoder.read(&mut byte).is_ok_and(|length| length > 0) {
        text.extend(byte);
    }
    let (mut items, _) = in_pieces(&text, 8 * 1024);
    items.truncate(items.len().saturating_sub(2));
    items
}

#[test]
fn damage_costs_nothing_before_it() {
    let file = gzip(document().as_bytes());
    let mut damaged_files = 0;
    for position in (10..file.len()).step_by(7) {
        let mut file = file.clone();
        file[position] ^= 1 << (position % 8);
        let whole = in_pieces(&file, 8 * 1024);
        for piece_bytes in [1, 2, 5, 24, 1_000] {
            assert_eq!(in_pieces(&file, piece_bytes), whole, "byte {position}");
        }
        let is_reported = |error: &String| error.contains("gzip stream is damaged");
        if whole.0.last().is_some_and(is_reported) {
            damaged_files += 1;
            assert!(whole.0.starts_with(&decodable(&file)), "byte {position}");
        }
    }
    assert!(damaged_files > 50, "{damaged_files}");
}

/// The block of deflate with fixed codes (RFC 1951 section 3.2.6) that has this text, and after it a distance that no block may
/// have.
fn block_that_goes_wrong(text: &str) -> Vec<u8> {
    let (mut bytes, mut used_bits) = (Vec::new(), 0);
    let mut push = |code: u32, length: u32| {
        for bit in (0..length).rev() {
            if used_bits % 8 == 0 {
                bytes.push(0);
            }
            let last = bytes.last_mut().unwrap();
            *last |= u8::from(code >> bit & 1 == 1) << (used_bits % 8);
            used_bits += 1;
        }
    };
    // The last block, with fixed codes; numbers have their lowest bit first.
    push(1, 1);
    push(0b10, 2);
    for byte in text.bytes() {
        assert!(byte < 144);
        push(0b0011_0000 + u32::from(byte), 8);
    }
    push(0b000_0001, 7);
    push(0b11110, 5);
    bytes.extend([0; 16]);
    bytes
}

#[test]
fn damage_in_a_block_leaves_all_before_it() {
    let text = document();
    let head = &gzip(b"")[..10];
    let file = [head, &block_that_goes_wrong(&text)].concat();
    let (items, findings) = reading(&file);
    assert_eq!(items.len(), 101);
    assert_eq!(items[100], "! R29");
    assert_eq!(findings, [] as [&str; 0]);
    // All of the text came out, to the last byte.
    let mut reader = Reader::new(&file[..], Limits::default());
    let _ = reader.by_ref().count();
    assert_eq!(reader.bytes(), text.len() as u64);
}

#[test]
fn checksum_that_does_not_match_costs_no_entry() {
    for from_end in [1, 8] {
        let mut file = gzip(document().as_bytes());
        let position = file.len() - from_end;
        file[position] ^= 1;
        let (items, _) = in_pieces(&file, 8 * 1024);
        assert_eq!(items.len(), 101);
        assert!(
            items[100].contains("gzip stream is damaged"),
            "{}",
            items[100]
        );
    }
}

#[test]
fn whole_part_of_a_damaged_entry_is_read() {
    let check = |text: &str, expected: &[&str]| {
        // Stored as it is, after the head of a gzip file and of a block that is one byte longer.
        let length = u16::try_from(text.len() + 1).unwrap();
        let mut file = gzip(b"")[..10].to_vec();
        file.push(1);
        file.extend(length.to_le_bytes());
        file.extend((!length).to_le_bytes());
        file.extend(text.as_bytes());
        assert_eq!(reading(&file).0, expected, "{text}");
    };
    let cut = |whole: String, at: &str| whole[..whole.find(at).unwrap()].to_owned();
    let page = urlset("<url><loc>http://host/a</loc><lastmod>2024-05-17</lastmod></url>");
    let (plain, dated) = ("http://host/a|||", "http://host/a|2024-05-17||");
    check(&cut(page.clone(), "</lastmod"), &[plain, "! R29"]);
    check(&cut(page.clone(), "</url>"), &[dated, "! R29"]);
    // The URL might go on.
    check(&cut(page, "</loc"), &["! R29"]);
    let sitemap = index("<sitemap><loc>http://host/a</loc></sitemap>");
    check(&cut(sitemap, "</sitemap>"), &["http://host/a|", "! R33"]);
    let feed = "<rss><channel><item><link>http://host/a</link><title>";
    check(feed, &[plain, "! R29"]);
    check("http://host/a\nhttp://host/b", &[plain, "! R56"]);
}

#[test]
fn damage_shows_once_and_ends_the_reading() {
    let file = gzip(document().as_bytes());
    for length in [10, 11, 200, file.len() - 9, file.len() - 1] {
        let mut reader = Reader::new(&file[..length], Limits::default());
        let errors: Vec<ReadError> = reader.by_ref().filter_map(Result::err).collect();
        assert_eq!(errors.len(), 1, "{length} bytes: {errors:?}");
        assert!(errors[0].is_fatal());
        assert!(reader.next().is_none());
    }
}
