//! The text of a page, as far as pages are compared by it: hashes, never the text itself.

/// Blocks of a page by which it is compared at most; of a longer page those whose hashes end with as many zero bits as are needed.
pub const MAX_BLOCKS: usize = 64;

/// Bytes of a stored block: its hash, that of its numbers, and its weight.
const BLOCK_BYTES: usize = 7;

/// A block of text: what is between two tags that divide text, up to the end of a sentence; the text of a link; the address
/// of an image. Digits count as one sign, so that the numbers in a text make no difference.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct TextBlock {
    /// Hash of its words.
    pub hash: u32,
    /// Hash of its words with digits; 0: it has none. Of blocks that differ in digits only, the sum of theirs.
    pub numbers: u16,
    /// The length, a unit for every four bytes of its words; 1 to 255.
    pub weight: u8,
}

/// The text of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PageText {
    /// Hash of all words with their digits, the title, the addresses of images, frames and media, whatever part of the page they are in,
    /// and of the links of the main content. 0: there is too little of its own, so that it is nobody's copy.
    pub whole: u64,
    /// The same, but for times and for words of 16 and more letters and digits mixed: an error page, or a form to log in, has others
    /// on each view.
    pub alike: u64,
    /// The blocks, each once, ordered by their hashes; empty where they were not read with the row of the page.
    pub blocks: Vec<TextBlock>,
}

impl PageText {
    /// Takes the blocks of a page: each once, and at most [`MAX_BLOCKS`], chosen by their hashes.
    #[must_use]
    pub fn with_blocks(mut self, mut blocks: Vec<TextBlock>) -> Self {
        sample(&mut blocks, 0);
        self.blocks = blocks;
        self
    }
}

impl TextBlock {
    /// Blocks of one page as they are stored.
    pub fn pack(blocks: &[Self]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(blocks.len() * BLOCK_BYTES);
        for block in blocks {
            bytes.extend_from_slice(&block.hash.to_le_bytes());
            bytes.extend_from_slice(&block.numbers.to_le_bytes());
            bytes.push(block.weight);
        }
        bytes
    }

    /// The blocks that were packed.
    pub fn unpack(bytes: &[u8]) -> Vec<Self> {
        let (blocks, _) = bytes.as_chunks::<BLOCK_BYTES>();
        let block = |bytes: &[u8; BLOCK_BYTES]| {
            let (hash, rest) = bytes.split_first_chunk().unwrap_or((&[0; 4], &[]));
            let (numbers, rest) = rest.split_first_chunk().unwrap_or((&[0; 2], &[]));
            Self {
                hash: u32::from_le_bytes(*hash),
                numbers: u16::from_le_bytes(*numbers),
                weight: rest.first().copied().unwrap_or_default(),
            }
        };
        blocks.iter().map(block).collect()
    }
}

/// Leaves each block once, ordered by the hashes, and at most [`MAX_BLOCKS`]: those whose hashes have no bit of a mask, which grows. Returns
/// the mask.
pub(crate) fn sample(blocks: &mut Vec<TextBlock>, mask: u32) -> u32 {
    blocks.sort_unstable();
    blocks.dedup_by(|again, first| {
        let is_again = again.hash == first.hash;
        if is_again {
            first.numbers = first.numbers.wrapping_add(again.numbers);
        }
        is_again
    });
    let mut mask = mask;
    while blocks.len() > MAX_BLOCKS {
        mask = mask << 1 | 1;
        blocks.retain(|block| block.hash & mask == 0);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_pages_are_stored_by_a_sample() {
        let text = |count: u32| {
            let block = |number: u32| TextBlock {
                hash: number.wrapping_mul(0x9e37_79b9),
                numbers: 0x1234,
                weight: 3,
            };
            PageText::default().with_blocks((0..count).map(block).collect())
        };
        let stored = |text: &PageText| TextBlock::unpack(&TextBlock::pack(&text.blocks));
        let short = text(50);
        assert_eq!((stored(&short), short.blocks.len()), (short.blocks, 50));
        let long = stored(&text(500));
        assert!((20..=MAX_BLOCKS).contains(&long.len()));
        assert!(long.iter().all(|block| text(500).blocks.contains(block)));
    }
}
