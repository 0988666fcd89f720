//! Content codings of a body: gzip, deflate, br, zstd.
//!
//! Decodes piece by piece into one buffer of fixed size, so a small body that unfolds into a huge one costs no memory; the caller
//! counts the pieces and stops. It never guesses an undeclared coding, and a name that is no coding leaves the bytes as they are, as in
//! browsers (WHATWG Fetch, "handle content codings"). A real coding that is not undone here makes the body undecodable.
//!
//! Sits between the wire bytes of [`super::http`] and the [`super::BodySink`].

mod brotli;
mod inflate;
mod zstd;

use std::cmp::min;

use self::inflate::{Container, Inflate};
use super::Headers;

/// Largest piece handed on at once; also the memory a decoder's output takes.
pub(super) const PIECE_BYTES: usize = 64 * 1024;

/// Most codings of one body: a server that compresses what was compressed before sends two.
const MAX_CODINGS: usize = 2;

/// Codings of the IANA registry that are not undone here: none of them is for pages.
const OTHER_CODINGS: [&str; 7] = [
    "aes128gcm",
    "compress",
    "dcb",
    "dcz",
    "exi",
    "pack200-gzip",
    "x-compress",
];

/// Longest text of an unusable `Content-Encoding` that is kept for the report.
const MAX_NAME_CHARS: usize = 64;

/// A content coding that can be undone. Names are those of the IANA registry, RFC 9110 8.4.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    /// None.
    Identity,
    /// `gzip`, `x-gzip` (RFC 1952).
    Gzip,
    /// `deflate`: zlib (RFC 1950), or bare deflate (RFC 1951) as some servers send.
    Deflate,
    /// `br` (RFC 7932).
    Brotli,
    /// `zstd` (RFC 8878, with the window limit of RFC 9659).
    Zstd,
}

impl Coding {
    /// The codings of an answer in the order in which they were applied, read from all its `Content-Encoding` lines without regard to
    /// case. Other names (`none`, `utf-8`, a media type) are mistakes of a server, and no codings.
    ///
    /// # Errors
    /// More than [`MAX_CODINGS`], or one that is not undone here: the text has the names.
    pub(super) fn of(headers: &Headers) -> Result<Vec<Self>, String> {
        let lines = headers.all("content-encoding").map(String::from_utf8_lossy);
        let text = lines.collect::<Vec<_>>().join(",").to_ascii_lowercase();
        let names = text.split(',').map(str::trim_ascii);
        let is_coding = |name: &&str| Self::named(name).is_some() || OTHER_CODINGS.contains(name);
        let names: Vec<&str> = names.filter(is_coding).collect();
        let codings: Option<Vec<Self>> = names.iter().map(|name| Self::named(name)).collect();
        codings
            .filter(|codings| codings.len() <= MAX_CODINGS)
            .ok_or_else(|| names.join(", ").chars().take(MAX_NAME_CHARS).collect())
    }

    fn named(name: &str) -> Option<Self> {
        match name {
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "deflate" => Some(Self::Deflate),
            "br" => Some(Self::Brotli),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The registered name.
    fn as_str(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

/// The coded bytes break the rules of their coding; the data decoded before is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Corrupt;

/// Undoes one coding of one body.
///
/// Feed it with [`Decoder::next`] until that returns nothing, then give it the next wire bytes; after
/// the last ones ask [`Decoder::is_complete`].
pub(super) struct Decoder {
    coding: Coding,
    engine: Decompressor,
    buffer: Box<[u8]>,
}

enum Decompressor {
    Identity,
    Inflate(Inflate),
    Brotli(brotli::Brotli),
    Zstd(zstd::Zstd),
}

impl Decoder {
    /// A decoder for a new body.
    ///
    /// # Errors
    /// The decoder of the coding cannot be set up; the text names the coding.
    pub(super) fn new(coding: Coding) -> Result<Self, String> {
        let engine = match coding {
            Coding::Identity => Decompressor::Identity,
            Coding::Gzip => Decompressor::Inflate(Inflate::new(Container::Gzip)),
            Coding::Deflate => Decompressor::Inflate(Inflate::new(Container::Zlib)),
            Coding::Brotli => Decompressor::Brotli(brotli::Brotli::new()),
            Coding::Zstd => {
                Decompressor::Zstd(zstd::Zstd::new().ok_or_else(|| coding.as_str().to_owned())?)
            }
        };
        let buffer_bytes = if coding == Coding::Identity {
            0
        } else {
            PIECE_BYTES
        };
        Ok(Self {
            coding,
            engine,
            buffer: vec![0; buffer_bytes].into(),
        })
    }

    /// The next decoded piece, at most [`PIECE_BYTES`] long. Removes the used part of `input`; an empty piece means that `input`
    /// is used up.
    ///
    /// # Errors
    /// The coded bytes are broken; the text names the coding.
    pub(super) fn next<'a, 'b: 'a>(&'a mut self, input: &mut &'b [u8]) -> Result<&'a [u8], String> {
        let outcome = match &mut self.engine {
            Decompressor::Identity => {
                let (piece, rest) = input.split_at(min(input.len(), PIECE_BYTES));
                *input = rest;
                return Ok(piece);
            }
            Decompressor::Inflate(engine) => engine.step(input, &mut self.buffer),
            Decompressor::Brotli(engine) => engine.step(input, &mut self.buffer),
            Decompressor::Zstd(engine) => engine.step(input, &mut self.buffer),
        };
        match outcome {
            Ok(written) => Ok(self.buffer.split_at(written).0),
            Err(Corrupt) => Err(self.coding.as_str().to_owned()),
        }
    }

    /// Returns whether it undoes gzip.
    pub(super) fn is_of_gzip(&self) -> bool {
        self.coding == Coding::Gzip
    }

    /// Returns whether the coded stream may end here. A body without a single byte is complete in every coding.
    pub(super) fn is_complete(&self) -> bool {
        match &self.engine {
            Decompressor::Identity => true,
            Decompressor::Inflate(engine) => engine.is_complete(),
            Decompressor::Brotli(engine) => engine.is_complete(),
            Decompressor::Zstd(engine) => engine.is_complete(),
        }
    }
}

#[cfg(test)]
mod tests;
