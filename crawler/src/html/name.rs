//! Names of elements as numbers, so that comparing two costs nothing.

use std::fmt;

/// The name of an element in lower case. Two names of more than 16 bytes are equal, and no element of HTML, SVG or `MathML`
/// that matters here has one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name(u128);

impl Name {
    /// No name.
    pub(crate) const NONE: Self = Self(0);

    /// All names of more than 16 bytes.
    const LONG: Self = Self(u128::MAX);

    /// The name with this spelling, in any case.
    pub(crate) const fn new(name: &[u8]) -> Self {
        if name.len() > 16 {
            return Self::LONG;
        }
        let mut number = 0;
        let mut at = name.len();
        while at > 0 {
            at -= 1;
            number = number << 8 | name[at].to_ascii_lowercase() as u128;
        }
        Self(number)
    }

    /// Number of bytes.
    pub(super) const fn len(self) -> usize {
        16 - (self.0.leading_zeros() / 8) as usize
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0.to_le_bytes();
        f.write_str(&String::from_utf8_lossy(&bytes[..self.len()]))
    }
}
