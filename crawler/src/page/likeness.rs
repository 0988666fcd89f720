//! By what pages are told to be alike, in eight bytes: small enough to stand in every record, and to be counted over a
//! site of any size. Chance makes two of many pages agree in one of its parts, but not a good part of them.

/// What a page looks like in outline; equal parts mean that pages are alike in that.
///
/// Words of the page's own URL and title, words with digits, addresses and tokens count nowhere but in
/// [`Likeness::opening`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Likeness {
    /// Hash of the words of its `h1` elements, or without any of the first words of its main text; 0: it has none.
    pub opening: u16,
    /// The opening is that of `h1` elements.
    pub has_heading: bool,
    /// Hash of all words of the main text that count, in their order, and of its images; 0: there are none.
    pub words: u16,
    /// The smallest hashes of these words (10 bits of each): of pages that have a share `c` of their words in common
    /// each agrees with a probability of `c`.
    pub minima: [u16; Self::MINIMA],
    /// It says next to nothing: its main text has fewer than [`Likeness::FEW_WORDS`] words that count.
    pub is_short: bool,
}

impl Likeness {
    /// Number of [`Likeness::minima`]. With 3, pages that have 9 of 10 words in common agree in all of them in 7 of 10
    /// cases, and pages that share half of them, as those of a shop do, in 1 of 8.
    pub const MINIMA: usize = 3;

    /// Fewer words are next to nothing: the labels of a form, a sentence.
    pub const FEW_WORDS: u32 = 15;

    const MINIMUM_BITS: u32 = 10;
    const MINIMUM_MASK: u16 = (1 << Self::MINIMUM_BITS) - 1;

    /// The value that stands for it in [`PageFacts::likeness`](super::PageFacts::likeness).
    pub fn pack(self) -> u64 {
        let mut bits = u64::from(self.opening);
        bits = bits << 16 | u64::from(self.words);
        for minimum in self.minima {
            bits = bits << Self::MINIMUM_BITS | u64::from(minimum & Self::MINIMUM_MASK);
        }
        bits << 2 | u64::from(self.has_heading) << 1 | u64::from(self.is_short)
    }

    /// The reverse of [`Likeness::pack`].
    pub fn unpack(bits: u64) -> Self {
        let part = |from: u32, mask: u16| {
            u16::try_from(bits >> from & u64::from(mask)).unwrap_or_default()
        };
        let minimum = |place: u32| part(2 + place * Self::MINIMUM_BITS, Self::MINIMUM_MASK);
        Self {
            opening: part(48, u16::MAX),
            has_heading: bits & 2 != 0,
            words: part(32, u16::MAX),
            minima: [minimum(2), minimum(1), minimum(0)],
            is_short: bits & 1 != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        for likeness in [
            Likeness {
                opening: 0xbeef,
                has_heading: true,
                words: 1,
                minima: [1_023, 0, 512],
                is_short: false,
            },
            Likeness {
                opening: 0,
                has_heading: false,
                words: u16::MAX,
                minima: [0, 1, 2],
                is_short: true,
            },
        ] {
            assert_eq!(Likeness::unpack(likeness.pack()), likeness);
        }
        for bits in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
            assert_eq!(Likeness::unpack(bits).pack(), bits);
        }
    }
}
