//! br, on `brotli-decompressor`.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use super::Corrupt;

type BrotliDecoder = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

/// A br body: one stream. Windows are at most 16 MiB (RFC 7932 9.1); the "large window" extension, with up to 1 GiB, is not part
/// of the coding and is refused.
pub(super) struct Brotli {
    state: Box<BrotliDecoder>,
    stage: BrotliStage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BrotliStage {
    Before,
    Inside,
    Trailing,
}

impl Brotli {
    pub(super) fn new() -> Self {
        let allocator = StandardAlloc::default;
        let state = Box::new(BrotliState::new_strict(
            allocator(),
            allocator(),
            allocator(),
        ));
        Self {
            state,
            stage: BrotliStage::Before,
        }
    }

    pub(super) fn step(&mut self, input: &mut &[u8], output: &mut [u8]) -> Result<usize, Corrupt> {
        match self.stage {
            BrotliStage::Before if input.is_empty() => return Ok(0),
            BrotliStage::Before | BrotliStage::Inside => self.stage = BrotliStage::Inside,
            BrotliStage::Trailing => {
                *input = &[];
                return Ok(0);
            }
        }
        let (mut unread, mut read) = (input.len(), 0);
        let (mut free, mut written) = (output.len(), 0);
        let result = BrotliDecompressStream(
            &mut unread,
            &mut read,
            input,
            &mut free,
            &mut written,
            output,
            &mut 0,
            &mut self.state,
        );
        *input = input.split_at(read).1;
        match result {
            BrotliResult::ResultSuccess => self.stage = BrotliStage::Trailing,
            // It wants more input only when none is left, and more output space only after it wrote.
            BrotliResult::NeedsMoreInput if !input.is_empty() => return Err(Corrupt),
            BrotliResult::NeedsMoreOutput if written == 0 => return Err(Corrupt),
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultFailure => return Err(Corrupt),
        }
        if self.stage == BrotliStage::Trailing && written == 0 {
            *input = &[];
        }
        Ok(written)
    }

    pub(super) fn is_complete(&self) -> bool {
        match self.stage {
            BrotliStage::Before | BrotliStage::Trailing => true,
            BrotliStage::Inside => false,
        }
    }
}
