//! br, on `brotli-decompressor`.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use super::Corrupt;

type State = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

/// A br body: one stream. Windows are at most 16 MiB (RFC 7932 9.1); the "large window" extension, with up to 1 GiB, is not part
/// of the coding and is refused.
pub(super) struct Brotli {
    state: Box<State>,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
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
            stage: Stage::Before,
        }
    }

    pub(super) fn step(&mut self, input: &mut &[u8], output: &mut [u8]) -> Result<usize, Corrupt> {
        match self.stage {
            Stage::Before if input.is_empty() => return Ok(0),
            Stage::Before | Stage::Inside => self.stage = Stage::Inside,
            Stage::Trailing => {
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
            BrotliResult::ResultSuccess => self.stage = Stage::Trailing,
            // It wants more input only when none is left, and more output space only after it wrote.
            BrotliResult::NeedsMoreInput if !input.is_empty() => return Err(Corrupt),
            BrotliResult::NeedsMoreOutput if written == 0 => return Err(Corrupt),
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultFailure => return Err(Corrupt),
        }
        if self.stage == Stage::Trailing && written == 0 {
            *input = &[];
        }
        Ok(written)
    }

    pub(super) fn is_complete(&self) -> bool {
        match self.stage {
            Stage::Before | Stage::Trailing => true,
            Stage::Inside => false,
        }
    }
}
