//! gzip and deflate, on `flate2`.

use flate2::{Decompress, FlushDecompress, Status};

use super::Corrupt;

/// First two bytes of a gzip member (RFC 1952 2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Most members of one gzip body. Real ones have one, block-wise compressors one for each 64 KiB; each costs a new inflate state,
/// so a body of empty members only is cut off here.
const MAX_MEMBERS: u32 = 4_096;

/// A window of 32 KiB, the largest of RFC 1951.
const WINDOW_BITS: u8 = 15;

/// One step of `inflate`: bytes written, and whether the stream has ended.
fn inflate(
    inflate: &mut Decompress,
    input: &mut &[u8],
    output: &mut [u8],
) -> Result<(usize, bool), Corrupt> {
    let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
    let status = inflate
        .decompress(input, output, FlushDecompress::None)
        .map_err(|_| Corrupt)?;
    let read = usize::try_from(inflate.total_in() - before_in).map_err(|_| Corrupt)?;
    let written = usize::try_from(inflate.total_out() - before_out).map_err(|_| Corrupt)?;
    *input = input.split_at(read).1;
    match status {
        Status::StreamEnd => Ok((written, true)),
        Status::Ok | Status::BufError if read == 0 && written == 0 && !input.is_empty() => {
            Err(Corrupt)
        }
        Status::Ok | Status::BufError => Ok((written, false)),
    }
}

/// A gzip body: any number of members, whose contents are joined (RFC 1952 2.2). Other bytes after the last member are ignored. A
/// body that does not begin with a member is corrupt: headers that do not match the body may be wrong in other ways too.
#[derive(Default)]
pub(super) struct Gzip {
    stage: GzipStage,
    members: u32,
}

#[derive(Default)]
enum GzipStage {
    /// Before the first byte of a member.
    #[default]
    Before,
    /// The first byte of the magic number was seen.
    HalfMagic,
    Inside(Box<Decompress>),
    /// After the last member.
    Trailing,
}

impl Gzip {
    pub(super) fn step(&mut self, input: &mut &[u8], output: &mut [u8]) -> Result<usize, Corrupt> {
        loop {
            match &mut self.stage {
                GzipStage::Before => match input.split_first() {
                    None => return Ok(0),
                    Some((&byte, rest)) if byte == GZIP_MAGIC[0] => {
                        *input = rest;
                        self.stage = GzipStage::HalfMagic;
                    }
                    Some(_) => self.stage = self.no_member()?,
                },
                GzipStage::HalfMagic => match input.first() {
                    None => return Ok(0),
                    Some(&byte) if byte == GZIP_MAGIC[1] => self.begin_member()?,
                    Some(_) => self.stage = self.no_member()?,
                },
                GzipStage::Inside(member) => {
                    let (written, ended) = inflate(member, input, output)?;
                    if ended {
                        self.stage = GzipStage::Before;
                    }
                    if written > 0 || (!ended && input.is_empty()) {
                        return Ok(written);
                    }
                }
                GzipStage::Trailing => {
                    *input = &[];
                    return Ok(0);
                }
            }
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        match &self.stage {
            GzipStage::Before | GzipStage::Trailing => true,
            // One lone byte after a member is trailing garbage, before the first it is a cut.
            GzipStage::HalfMagic => self.members > 0,
            GzipStage::Inside(_) => false,
        }
    }

    fn no_member(&self) -> Result<GzipStage, Corrupt> {
        if self.members == 0 {
            Err(Corrupt)
        } else {
            Ok(GzipStage::Trailing)
        }
    }

    /// The first byte of the magic number is gone from the input: hand it to the new state.
    fn begin_member(&mut self) -> Result<(), Corrupt> {
        self.members += 1;
        if self.members > MAX_MEMBERS {
            return Err(Corrupt);
        }
        let mut member = Decompress::new_gzip(WINDOW_BITS);
        inflate(&mut member, &mut &GZIP_MAGIC[..1], &mut [0])?;
        self.stage = GzipStage::Inside(Box::new(member));
        Ok(())
    }
}

/// A deflate body: zlib as in the standard, or bare deflate when there is no zlib header.
#[derive(Default)]
pub(super) struct Deflate {
    stage: DeflateStage,
}

#[derive(Default)]
enum DeflateStage {
    #[default]
    Before,
    /// The first byte, which may be that of a zlib header.
    HalfHeader(u8),
    Inside(Box<Decompress>),
    Trailing,
}

impl Deflate {
    pub(super) fn step(&mut self, input: &mut &[u8], output: &mut [u8]) -> Result<usize, Corrupt> {
        loop {
            match &mut self.stage {
                DeflateStage::Before => {
                    let Some((&byte, rest)) = input.split_first() else {
                        return Ok(0);
                    };
                    *input = rest;
                    self.stage = DeflateStage::HalfHeader(byte);
                }
                &mut DeflateStage::HalfHeader(first) => {
                    let Some(&second) = input.first() else {
                        return Ok(0);
                    };
                    let mut stream = Decompress::new(is_zlib_header(first, second));
                    // Neither a zlib header's first byte nor the first byte of a deflate block yields output.
                    inflate(&mut stream, &mut &[first][..], &mut [0])?;
                    self.stage = DeflateStage::Inside(Box::new(stream));
                }
                DeflateStage::Inside(stream) => {
                    let (written, ended) = inflate(stream, input, output)?;
                    if ended {
                        self.stage = DeflateStage::Trailing;
                    }
                    if written > 0 || (!ended && input.is_empty()) {
                        return Ok(written);
                    }
                }
                DeflateStage::Trailing => {
                    *input = &[];
                    return Ok(0);
                }
            }
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        match &self.stage {
            DeflateStage::Before | DeflateStage::Trailing => true,
            DeflateStage::HalfHeader(_) | DeflateStage::Inside(_) => false,
        }
    }
}

/// RFC 1950 2.2: method 8, window at most 32 KiB, no preset dictionary, and a check modulo 31.
fn is_zlib_header(first: u8, second: u8) -> bool {
    first & 0x0f == 8
        && first >> 4 <= 7
        && second & 0x20 == 0
        && u16::from_be_bytes([first, second]).is_multiple_of(31)
}
