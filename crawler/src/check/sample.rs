//! The choice of listed pages that are requested: some that are spread evenly over the whole list, whose length is known only at
//! its end. The same list gives the same pages.

/// The most pages that can be chosen by number; twice as many are remembered while the list is read.
pub const MAX_SAMPLED_PAGES: usize = 100_000;

/// Keeps every first, then every second, every fourth ... item, so that it never has more than twice the wanted number.
#[derive(Debug)]
pub(super) struct Sample<T> {
    wanted: usize,
    kept: Vec<T>,
    seen: u64,
    stride: u64,
}

impl<T> Sample<T> {
    /// A sample of at most `wanted`, and at most [`MAX_SAMPLED_PAGES`].
    pub(super) fn new(wanted: usize) -> Self {
        Self {
            wanted: wanted.min(MAX_SAMPLED_PAGES),
            kept: Vec::new(),
            seen: 0,
            stride: 1,
        }
    }

    /// Offers the next of the list.
    pub(super) fn offer(&mut self, next: impl FnOnce() -> T) {
        if self.wanted > 0 && self.kept.len() >= 2 * self.wanted {
            let mut is_kept = false;
            self.kept.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.stride *= 2;
        }
        if self.wanted > 0 && self.seen.is_multiple_of(self.stride) {
            self.kept.push(next());
        }
        self.seen += 1;
    }

    /// The chosen ones, in their order.
    pub(super) fn choose(self) -> impl Iterator<Item = T> {
        let Self { wanted, kept, .. } = self;
        let count = kept.len().max(wanted).max(1);
        // Of `count` places those where the line from 0 to `wanted` reaches the next whole number.
        let reached = move |place: usize| (place * wanted).div_ceil(count);
        let numbered = kept.into_iter().enumerate();
        numbered
            .filter(move |(place, _)| reached(*place) < reached(place + 1))
            .map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(wanted: usize, count: u64) -> Vec<u64> {
        let mut sample = Sample::new(wanted);
        for number in 0..count {
            sample.offer(|| number);
            assert!(sample.kept.len() <= 2 * wanted);
        }
        sample.choose().collect()
    }

    #[test]
    fn pages_are_spread_over_the_whole_list() {
        assert_eq!(chosen(0, 100), [0_u64; 0]);
        assert_eq!(chosen(3, 2), [0, 1]);
        assert_eq!(chosen(1, 1_000_000), [0]);
        for (wanted, count) in [(2, 3), (3, 7), (10, 99), (10, 100_000), (7, 12_345)] {
            let chosen = chosen(wanted, count);
            assert_eq!(chosen.len(), wanted, "{wanted} of {count}");
            let fair = count / wanted as u64;
            for pair in chosen.windows(2) {
                let gap = pair[1] - pair[0];
                assert!(gap >= 1 && gap <= 2 * fair + 2, "{chosen:?} of {count}");
            }
            assert!(
                chosen[0] == 0 && count - chosen[wanted - 1] <= 2 * fair + 2,
                "{chosen:?}"
            );
        }
    }
}
