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

/// A step of `inflate`: bytes written, and whether the stream has ended.
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

/// Container of a deflated body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    /// gzip: any number of members, whose contents are joined (RFC 1952 2.2). Other bytes after the last member are ignored. A
    /// body that does not begin with a member is corrupt: headers that do not match the body may be wrong in other ways too.
    Gzip,
    /// zlib as in the standard of `deflate`, or none when there is no zlib header.
    Zlib,
}

/// A deflated body.
pub(super) struct Inflate {
    container: Container,
    stage: InflateStage,
    /// Streams that have begun.
    members: u32,
}

enum InflateStage {
    Before,
    /// The first byte of a header was seen.
    Half(u8),
    Inside(Box<Decompress>),
    /// After the last stream.
    Trailing,
}

impl Inflate {
    pub(super) fn new(container: Container) -> Self {
        Self {
            container,
            stage: InflateStage::Before,
            members: 0,
        }
    }

    pub(super) fn step(&mut self, input: &mut &[u8], output: &mut [u8]) -> Result<usize, Corrupt> {
        loop {
            match &mut self.stage {
                InflateStage::Before => {
                    let Some((&byte, rest)) = input.split_first() else {
                        return Ok(0);
                    };
                    *input = rest;
                    self.stage = InflateStage::Half(byte);
                }
                &mut InflateStage::Half(first) => {
                    let Some(&second) = input.first() else {
                        return Ok(0);
                    };
                    self.stage = self.begin(first, second)?;
                }
                InflateStage::Inside(stream) => {
                    let (written, ended) = inflate(stream, input, output)?;
                    if ended {
                        self.stage = match self.container {
                            Container::Gzip => InflateStage::Before,
                            Container::Zlib => InflateStage::Trailing,
                        };
                    }
                    if written > 0 || (!ended && input.is_empty()) {
                        return Ok(written);
                    }
                }
                InflateStage::Trailing => {
                    *input = &[];
                    return Ok(0);
                }
            }
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        match &self.stage {
            InflateStage::Before | InflateStage::Trailing => true,
            // One lone byte after a member is trailing garbage, before the first it is a cut.
            InflateStage::Half(_) => self.members > 0,
            InflateStage::Inside(_) => false,
        }
    }

    /// Begins a stream by the first bytes of its header, of which the first is gone from the input.
    fn begin(&mut self, first: u8, second: u8) -> Result<InflateStage, Corrupt> {
        let mut stream = match self.container {
            Container::Gzip if [first, second] == GZIP_MAGIC => Decompress::new_gzip(WINDOW_BITS),
            Container::Gzip if self.members > 0 => return Ok(InflateStage::Trailing),
            Container::Gzip => return Err(Corrupt),
            Container::Zlib => Decompress::new(is_zlib_header(first, second)),
        };
        self.members += 1;
        if self.members > MAX_MEMBERS {
            return Err(Corrupt);
        }
        // No first byte of a header or of a deflate block yields output.
        inflate(&mut stream, &mut &[first][..], &mut [0])?;
        Ok(InflateStage::Inside(Box::new(stream)))
    }
}

/// RFC 1950 2.2: method 8, window at most 32 KiB, no preset dictionary, and a check modulo 31.
fn is_zlib_header(first: u8, second: u8) -> bool {
    first & 0x0f == 8
        && first >> 4 <= 7
        && second & 0x20 == 0
        && u16::from_be_bytes([first, second]).is_multiple_of(31)
}
