//! zstd, on `zstd`.

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation as _, OutBuffer};

use super::Corrupt;

/// Windows of at most 8 MiB (2^23), the limit of RFC 9659 for this content coding.
const WINDOW_LOG_MAX: u32 = 23;

/// A zstd body: any number of frames.
pub(super) struct Zstd {
    decoder: Decoder<'static>,
    /// The last step ended at the end of a frame, or there was none.
    between_frames: bool,
    /// The last step filled its output, so more may be waiting.
    may_hold_output: bool,
}

impl Zstd {
    /// `None` when memory for the decoder is missing.
    pub(super) fn new() -> Option<Self> {
        let mut decoder = Decoder::new().ok()?;
        decoder
            .set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))
            .ok()?;
        Some(Self {
            decoder,
            between_frames: true,
            may_hold_output: false,
        })
    }

    pub(super) fn step(&mut self, input: &mut &[u8], output: &mut [u8]) -> Result<usize, Corrupt> {
        while !input.is_empty() || self.may_hold_output {
            let room = output.len();
            let mut source = InBuffer::around(input);
            let mut target = OutBuffer::around(&mut *output);
            let hint = self
                .decoder
                .run(&mut source, &mut target)
                .map_err(|_| Corrupt)?;
            let (read, written) = (source.pos(), target.pos());
            *input = input.split_at(read).1;
            self.between_frames = hint == 0;
            self.may_hold_output = written == room && hint != 0;
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.between_frames
    }
}
