//! The items of the readers of lists.

use super::{BuildError, draft::Draft};

/// An entry of a list.
#[derive(Debug)]
pub(super) struct InputRow {
    /// The line of its beginning, from 1.
    pub(super) line: u64,
    /// The entry, or the reason why it cannot be used.
    pub(super) said: Result<Draft, String>,
}

/// The rows of a list in one format.
pub(super) trait EntryRows: Send {
    /// The next entry of the list, which is called `name`.
    fn next(&mut self, name: &str) -> Result<Option<InputRow>, BuildError>;

    /// Bytes that were read, after decompression.
    fn bytes(&self) -> u64;

    /// Returns whether it was compressed and has other bytes after its end, which are left out.
    fn has_trailing_bytes(&self) -> bool;

    /// How many rows were left out, because they are stated to be of no page.
    fn left_out(&self) -> u64 {
        0
    }

    /// Names of columns and keys that mean nothing here.
    fn unused_columns(&self) -> &[String] {
        &[]
    }
}
