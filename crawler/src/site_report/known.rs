//! All known URLs in 12 bytes each: the reason of each, and how many pages link to it.

use crate::page::Reason;

/// Bits of a fingerprint that hold the number of the reason instead; there are fewer reasons than values.
const REASON_BITS: u32 = 6;

/// The known URLs by their fingerprints.
#[derive(Debug, Default)]
pub(super) struct KnownReasons {
    /// The upper bits of each fingerprint, and the number of its reason; in order once [`Self::sort`] was called.
    keys: Vec<u64>,
    /// Pages that link to each of them.
    linked: Vec<u32>,
}

impl KnownReasons {
    /// Adds a URL.
    pub(super) fn add(&mut self, fingerprint: u64, reason: Reason) {
        let number = Reason::ALL.iter().position(|known| *known == reason);
        let number = number.and_then(|number| u64::try_from(number).ok());
        self.keys
            .push(fingerprint >> REASON_BITS << REASON_BITS | number.unwrap_or_default());
    }

    /// All of them were added.
    pub(super) fn sort(&mut self) {
        self.keys.sort_unstable();
        self.linked = vec![0; self.keys.len()];
    }

    /// The reason of a URL; `None`: it is not known.
    pub(super) fn reason(&self, fingerprint: u64) -> Option<Reason> {
        let number = self.keys[self.place(fingerprint)?] & ((1 << REASON_BITS) - 1);
        Reason::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// A page links to a URL; returns its reason, if it is known.
    pub(super) fn link(&mut self, fingerprint: u64) -> Option<Reason> {
        let place = self.place(fingerprint)?;
        self.linked[place] = self.linked[place].saturating_add(1);
        self.reason(fingerprint)
    }

    /// Number of pages that link to a URL.
    pub(super) fn linked_from(&self, fingerprint: u64) -> u32 {
        self.place(fingerprint)
            .map_or(0, |place| self.linked[place])
    }

    fn place(&self, fingerprint: u64) -> Option<usize> {
        let upper = fingerprint >> REASON_BITS;
        let place = self.keys.partition_point(|key| key >> REASON_BITS < upper);
        let is_same = |key: &u64| key >> REASON_BITS == upper;
        self.keys.get(place).is_some_and(is_same).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_url_has_its_reason_and_its_links() {
        assert!(Reason::ALL.len() <= 1 << REASON_BITS);
        let mut known = KnownReasons::default();
        let print = |number: usize| (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for (number, reason) in Reason::ALL.iter().enumerate() {
            known.add(print(number + 1), *reason);
        }
        known.sort();
        for (number, reason) in Reason::ALL.iter().enumerate() {
            let print = print(number + 1);
            assert_eq!(known.reason(print), Some(*reason));
            assert_eq!(known.linked_from(print), 0);
            assert_eq!(known.link(print), Some(*reason));
            assert_eq!(known.linked_from(print), 1);
        }
        assert_eq!(known.reason(print(9_999)), None);
        assert_eq!(known.link(print(9_999)), None);
    }
}
