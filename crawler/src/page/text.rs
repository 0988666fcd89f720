//! The text of a page, as far as pages are compared by it: hashes, never the text itself.

/// Blocks of a page that are stored at most; of a longer page those whose hashes end with the most zero bits that are needed.
pub const MAX_STORED_BLOCKS: usize = 256;

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
    /// The blocks, each once, ordered by their hashes.
    pub blocks: Vec<TextBlock>,
}

impl PageText {
    /// Takes the blocks of a page: each once, and at most `limit`, chosen by their hashes.
    #[must_use]
    pub fn with_blocks(mut self, mut blocks: Vec<TextBlock>, limit: usize) -> Self {
        merge(&mut blocks);
        let mut mask = 0;
        while blocks.len() > limit {
            mask = mask << 1 | 1;
            blocks.retain(|block| block.hash & mask == 0);
        }
        self.blocks = blocks;
        self
    }
}

impl TextBlock {
    /// Blocks of one page as they are stored: at most [`MAX_STORED_BLOCKS`].
    pub fn pack(blocks: &[Self]) -> Vec<u8> {
        let sample = PageText::default().with_blocks(blocks.to_vec(), MAX_STORED_BLOCKS);
        let mut bytes = Vec::with_capacity(sample.blocks.len() * BLOCK_BYTES);
        for block in &sample.blocks {
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

/// Leaves each block once, ordered by the hashes.
pub(crate) fn merge(blocks: &mut Vec<TextBlock>) {
    blocks.sort_unstable();
    blocks.dedup_by(|again, first| {
        let is_again = again.hash == first.hash;
        if is_again {
            first.numbers = first.numbers.wrapping_add(again.numbers);
        }
        is_again
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_pages_are_stored_by_a_sample() {
        let blocks = |count: u32| {
            let block = |number: u32| TextBlock {
                hash: number.wrapping_mul(0x9e37_79b9),
                numbers: 0x1234,
                weight: 3,
            };
            (0..count).map(block).collect::<Vec<_>>()
        };
        let text = PageText::default().with_blocks(blocks(50), 1_000);
        assert_eq!(
            TextBlock::unpack(&TextBlock::pack(&text.blocks)),
            text.blocks
        );
        let long = PageText::default().with_blocks(blocks(500), 1_000);
        let stored = TextBlock::unpack(&TextBlock::pack(&long.blocks));
        assert!((20..=MAX_STORED_BLOCKS).contains(&stored.len()));
        assert!(stored.iter().all(|block| long.blocks.contains(block)));
    }
}
