//! Each coding, whole, cut, broken and byte by byte.

use std::io::Write as _;

use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};
use proptest::prelude::*;

use super::{Coding, Decoder, PIECE_BYTES};
use crate::fetch::Headers;

const TEXT: &[u8] = b"hello, hello, hello world";

/// [`TEXT`] in br, from the reference encoder; the last has the "large window" extension.
const BROTLI: &str = "1b1800f88dd44ef9c3505465680dc2c2f6a61689a7123861d50201";
const BROTLI_EMPTY: &str = "3b";
const BROTLI_LARGE_WINDOW: &str = "115e6000e037523be50f435195a135080bdb9b5a249e4ac009562d10";

/// 64 MiB of zeros.
const BROTLI_BOMB: &str = "cfffff7f002400e2b14072effff9ffff0f8004401c1680eefd3fffffff01900088c302d0bdffcfffff7f001200715800baf7ff";

fn unhex(text: &str) -> Vec<u8> {
    let digit = |index: usize| text.get(index..index + 2).unwrap();
    (0..text.len())
        .step_by(2)
        .map(|index| u8::from_str_radix(digit(index), 16).unwrap())
        .collect()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zlib(text: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn bare_deflate(text: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 3).unwrap()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    Cut,
    Corrupt,
}

/// Decodes `wire`, given in parts of `step` bytes.
fn decode(coding: Coding, wire: &[u8], step: usize) -> (Vec<u8>, End) {
    let mut decoder = Decoder::new(coding).unwrap();
    let mut text = Vec::new();
    for mut input in wire.chunks(step) {
        loop {
            match decoder.next(&mut input) {
                Ok([]) => break,
                Ok(piece) => {
                    assert!(piece.len() <= PIECE_BYTES);
                    text.extend_from_slice(piece);
                }
                Err(name) => {
                    assert_eq!(name, coding.as_str());
                    return (text, End::Corrupt);
                }
            }
        }
        assert!(
            input.is_empty(),
            "an empty piece means that the input is used up"
        );
    }
    let end = if decoder.is_complete() {
        End::Complete
    } else {
        End::Cut
    };
    (text, end)
}

fn check(coding: Coding, wire: &[u8], expected: &[u8], end: End) {
    for step in [1, 2, 3, 7, usize::MAX] {
        assert_eq!(
            decode(coding, wire, step),
            (expected.to_vec(), end),
            "{coding:?} by {step}: {wire:x?}"
        );
    }
}

fn check_end(coding: Coding, wire: &[u8], end: End) {
    for step in [1, usize::MAX] {
        assert_eq!(
            decode(coding, wire, step).1,
            end,
            "{coding:?} by {step}: {wire:x?}"
        );
    }
}

/// Every true prefix of `wire` is cut, and yields a prefix of `text`.
fn check_prefixes(coding: Coding, wire: &[u8], text: &[u8]) {
    for length in 1..wire.len() {
        let (decoded, end) = decode(coding, wire.split_at(length).0, usize::MAX);
        assert_eq!(
            end,
            End::Cut,
            "{coding:?} cut at {length} of {}",
            wire.len()
        );
        assert!(text.starts_with(&decoded));
    }
}

#[test]
fn codings_are_read_from_all_lines_without_case() {
    let check = |lines: &[&str], expected: Result<&[Coding], &str>| {
        let headers: Headers = lines
            .iter()
            .map(|line| ("Content-Encoding", *line))
            .collect();
        assert_eq!(
            Coding::of(&headers),
            expected.map(<[_]>::to_vec).map_err(str::to_owned),
            "{lines:?}"
        );
    };
    let gzip = &[Coding::Gzip];
    check(&[], Ok(&[]));
    check(&[""], Ok(&[]));
    check(&["identity"], Ok(&[]));
    check(&["Identity , identity"], Ok(&[]));
    check(&["gzip"], Ok(gzip));
    check(&[" GZIP "], Ok(gzip));
    check(&["x-gzip"], Ok(gzip));
    check(&["deflate"], Ok(&[Coding::Deflate]));
    check(&["Br"], Ok(&[Coding::Brotli]));
    check(&["zstd"], Ok(&[Coding::Zstd]));
    check(&["identity", "gzip,"], Ok(gzip));
    check(&["gzip, gzip"], Ok(&[Coding::Gzip; 2]));
    check(&["gzip", "x-gzip"], Ok(&[Coding::Gzip; 2]));
    check(
        &["gzip", "identity, BR"],
        Ok(&[Coding::Gzip, Coding::Brotli]),
    );
    check(&["gzip, br, gzip"], Err("gzip, br, gzip"));
    check(&["compress"], Err("compress"));
    check(&["x-compress"], Err("x-compress"));
    check(&["DCB, gzip"], Err("dcb, gzip"));
    // No codings.
    for name in [
        "none",
        "utf-8",
        "UTF-8",
        "text/html",
        "8bit",
        "gzip;q=1",
        "caf\u{e9}",
    ] {
        check(&[name], Ok(&[]));
        check(&[name, "gzip"], Ok(gzip));
    }
}

#[test]
fn body_without_bytes_is_complete_in_every_coding() {
    for coding in [
        Coding::Identity,
        Coding::Gzip,
        Coding::Deflate,
        Coding::Brotli,
        Coding::Zstd,
    ] {
        check(coding, b"", b"", End::Complete);
    }
}

#[test]
fn identity_is_handed_on_in_pieces() {
    check(Coding::Identity, TEXT, TEXT, End::Complete);
    let large = vec![7; 3 * PIECE_BYTES + 1];
    assert_eq!(
        decode(Coding::Identity, &large, usize::MAX),
        (large, End::Complete)
    );
}

#[test]
fn gzip_members_are_joined() {
    let (one, empty) = (gzip(TEXT), gzip(b""));
    check(Coding::Gzip, &one, TEXT, End::Complete);
    check(Coding::Gzip, &empty, b"", End::Complete);
    let joined = [&*one, &empty, &one].concat();
    check(Coding::Gzip, &joined, &TEXT.repeat(2), End::Complete);
    check_prefixes(Coding::Gzip, &one, TEXT);
    let twice = [&*one, &one].concat();
    check_end(Coding::Gzip, twice.split_at(one.len() + 2).0, End::Cut);
    check_end(Coding::Gzip, twice.split_at(twice.len() - 1).0, End::Cut);
}

#[test]
fn gzip_header_may_hold_a_name() {
    let mut named = vec![0x1f, 0x8b, 8, 0b1_1000, 0, 0, 0, 0, 0, 3];
    named.extend_from_slice(b"page.html\0a comment\0");
    named.extend_from_slice(gzip(TEXT).split_at(10).1);
    check(Coding::Gzip, &named, TEXT, End::Complete);
}

#[test]
fn bytes_after_the_last_member_are_ignored() {
    let zeros = [0_u8; 100];
    for garbage in [&zeros[..], b"\r\n", b"\x1f", b"\x1f\x1f\x8b"] {
        let wire = [gzip(TEXT).as_slice(), garbage].concat();
        check(Coding::Gzip, &wire, TEXT, End::Complete);
    }
    for (coding, wire) in [
        (Coding::Deflate, zlib(TEXT)),
        (Coding::Brotli, unhex(BROTLI)),
    ] {
        let wire = [wire.as_slice(), b"garbage"].concat();
        check(coding, &wire, TEXT, End::Complete);
    }
}

#[test]
fn broken_gzip_is_corrupt() {
    let wire = gzip(TEXT);
    for index in [2, 10, wire.len() - 8, wire.len() - 1] {
        let mut broken = wire.clone();
        broken[index] ^= 0xff;
        check_end(Coding::Gzip, &broken, End::Corrupt);
    }
    for text in [TEXT, b"\x1fx", b"\x1f\x8bgarbage garbage"] {
        check_end(Coding::Gzip, text, End::Corrupt);
    }
    check(Coding::Gzip, b"\x1f", b"", End::Cut);
}

#[test]
fn countless_empty_members_are_refused() {
    check_end(Coding::Gzip, &gzip(b"").repeat(4_096), End::Complete);
    check_end(Coding::Gzip, &gzip(b"").repeat(4_097), End::Corrupt);
}

#[test]
fn deflate_is_zlib_or_bare() {
    check(Coding::Deflate, &zlib(TEXT), TEXT, End::Complete);
    check(Coding::Deflate, &zlib(b""), b"", End::Complete);
    check(Coding::Deflate, &bare_deflate(TEXT), TEXT, End::Complete);
    check(Coding::Deflate, &bare_deflate(b""), b"", End::Complete);
    check_prefixes(Coding::Deflate, &zlib(TEXT), TEXT);
    check_prefixes(Coding::Deflate, &bare_deflate(TEXT), TEXT);
    // A stored block: the header of bare deflate that resembles zlib's most.
    let stored = b"\x01\x05\x00\xfa\xffhello";
    check(Coding::Deflate, stored, b"hello", End::Complete);
    let mut broken = zlib(TEXT);
    let length = broken.len();
    broken[length - 1] ^= 0xff;
    check_end(Coding::Deflate, &broken, End::Corrupt);
    check_end(Coding::Deflate, b"\x07\x07garbage", End::Corrupt);
}

#[test]
fn brotli_is_one_stream() {
    let wire = unhex(BROTLI);
    check(Coding::Brotli, &wire, TEXT, End::Complete);
    check(Coding::Brotli, &unhex(BROTLI_EMPTY), b"", End::Complete);
    check_prefixes(Coding::Brotli, &wire, TEXT);
    check_end(Coding::Brotli, &unhex(BROTLI_LARGE_WINDOW), End::Corrupt);
    let plain = b"<html>plain text that is no brotli stream</html>";
    check_end(Coding::Brotli, plain, End::Corrupt);
}

#[test]
fn zstd_frames_are_joined() {
    let wire = zstd(TEXT);
    check(Coding::Zstd, &wire, TEXT, End::Complete);
    check(Coding::Zstd, &zstd(b""), b"", End::Complete);
    let joined = [&*wire, &zstd(b""), &wire].concat();
    check(Coding::Zstd, &joined, &TEXT.repeat(2), End::Complete);
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let skipped = [&skippable[..], &wire].concat();
    check(Coding::Zstd, &skipped, TEXT, End::Complete);
    check_prefixes(Coding::Zstd, &wire, TEXT);
    check_end(Coding::Zstd, b"<html>plain</html>", End::Corrupt);
    check_end(Coding::Zstd, &[&*wire, b"garbage"].concat(), End::Corrupt);
}

#[test]
fn zstd_window_is_at_most_8_mib() {
    let with_window = |log: u32| {
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(log).unwrap();
        encoder.include_contentsize(false).unwrap();
        encoder.write_all(TEXT).unwrap();
        encoder.finish().unwrap()
    };
    check(Coding::Zstd, &with_window(23), TEXT, End::Complete);
    check_end(Coding::Zstd, &with_window(24), End::Corrupt);
    check_end(Coding::Zstd, &with_window(27), End::Corrupt);
}

/// However much a body unfolds into, one piece of it is in memory at a time.
#[test]
fn bombs_unfold_in_pieces() {
    let zeros = vec![0; 64 << 20];
    let check = |coding: Coding, wire: &[u8]| {
        let mut decoder = Decoder::new(coding).unwrap();
        let (mut input, mut length) = (wire, 0);
        loop {
            let piece = decoder.next(&mut input).unwrap();
            assert!(piece.len() <= PIECE_BYTES && piece.iter().all(|&byte| byte == 0));
            if piece.is_empty() {
                break;
            }
            length += piece.len();
        }
        assert_eq!(length, zeros.len(), "{coding:?}");
        assert!(decoder.is_complete());
        assert!(wire.len() < 70_000);
    };
    check(Coding::Gzip, &gzip(&zeros));
    check(Coding::Deflate, &zlib(&zeros));
    check(Coding::Brotli, &unhex(BROTLI_BOMB));
    check(Coding::Zstd, &zstd(&zeros));
}

fn any_coding() -> impl Strategy<Value = Coding> {
    prop_oneof![
        Just(Coding::Gzip),
        Just(Coding::Deflate),
        Just(Coding::Brotli),
        Just(Coding::Zstd)
    ]
}

proptest! {
    #[test]
    fn any_bytes_end_somehow(coding in any_coding(), wire in prop::collection::vec(any::<u8>(), 0..300), step in 1..50usize) {
        let (_, _) = decode(coding, &wire, step);
    }

    #[test]
    fn text_survives(text in prop::collection::vec(any::<u8>(), 0..3_000), step in 1..500usize) {
        for (coding, wire) in [
            (Coding::Gzip, gzip(&text)),
            (Coding::Deflate, zlib(&text)),
            (Coding::Zstd, zstd(&text)),
        ] {
            prop_assert_eq!(decode(coding, &wire, step), (text.clone(), End::Complete));
        }
    }

    #[test]
    fn flipped_bits_never_pass_for_the_whole_text(index in 0..1_000usize, bit in 0..8u32) {
        let mut wire = gzip(TEXT);
        let index = 10 + index % (wire.len() - 10);
        wire[index] ^= 1 << bit;
        let (decoded, end) = decode(Coding::Gzip, &wire, usize::MAX);
        prop_assert!(end != End::Complete || decoded == TEXT, "bit {} of byte {}", bit, index);
    }
}
