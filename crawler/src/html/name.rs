//! Names of elements as numbers, so that comparing two costs nothing.

use std::fmt;

/// The name of an element in lower case. Two names of more than 16 bytes are equal, and no element of HTML, SVG or `MathML`
/// that matters here has one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name(u128);

/// Each byte is one.
const EACH: u64 = 0x0101_0101_0101_0101;

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

    /// The name that the first `length` bytes of a text are, as [`Self::new`] has it, but faster.
    #[inline]
    pub(super) fn of_first(text: &[u8], length: usize) -> Self {
        let Some(bytes) = text
            .first_chunk::<8>()
            .filter(|_| (1..=8).contains(&length))
        else {
            return Self::new(&text[..length]);
        };
        let word = u64::from_le_bytes(*bytes) & u64::MAX >> (64 - 8 * length);
        // The highest bit of each byte: set if the byte without it is at least `A`, or more than `Z`.
        let low = word & (0x7f * EACH);
        let from_a = low + (0x80 - u64::from(b'A')) * EACH;
        let above_z = low + (0x7f - u64::from(b'Z')) * EACH;
        let is_capital = (from_a ^ above_z) & !word & (0x80 * EACH);
        Self((word | is_capital >> 2).into())
    }

    /// A hash of the first eight bytes, another one for each odd `seed`.
    #[inline]
    pub(crate) const fn hash(self, seed: u64) -> u8 {
        let bytes = self.0.to_le_bytes();
        let Some(first) = bytes.first_chunk() else {
            return 0;
        };
        u64::from_le_bytes(*first).wrapping_mul(seed).to_le_bytes()[7]
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
