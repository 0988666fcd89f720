//! Which listed pages are asked for: all, or some that are spread evenly over the whole list, whose length
//! is known only at its end. The same list gives the same pages.

use crate::exit_code::Misuse;

/// The most pages that can be chosen by number; twice as many are kept while the list is read.
const MAX_CHOSEN: usize = 100_000;

/// How many pages are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// So many; none by default.
    Some(usize),
    /// Every one.
    All,
}

impl Wish {
    /// Reads the value of `--pages`.
    pub(super) fn read(typed: Option<&str>) -> Result<Self, Misuse> {
        match typed {
            None => Ok(Self::Some(0)),
            Some("all") => Ok(Self::All),
            Some(typed) => match typed.parse() {
                Ok(number) if number <= MAX_CHOSEN => Ok(Self::Some(number)),
                Ok(_) | Err(_) => Err(Misuse(format!(
                    "--pages: expected a number up to {MAX_CHOSEN}, or all, found {typed:?}"
                ))),
            },
        }
    }
}

/// Keeps every first, then every second, every fourth ... of what it is given, so that it never keeps
/// more than twice what is wanted.
#[derive(Debug)]
pub(super) struct Sample<T> {
    wanted: usize,
    kept: Vec<T>,
    seen: u64,
    stride: u64,
}

impl<T> Sample<T> {
    /// A sample of `wanted` at most.
    pub(super) fn new(wanted: usize) -> Self {
        Self {
            wanted,
            kept: Vec::new(),
            seen: 0,
            stride: 1,
        }
    }

    /// Offers the next of the list.
    pub(super) fn offer(&mut self, next: impl FnOnce() -> T) {
        let position = self.seen;
        self.seen += 1;
        if self.wanted == 0 || !position.is_multiple_of(self.stride) {
            return;
        }
        if self.kept.len() >= 2 * self.wanted {
            let mut is_kept = false;
            self.kept.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.stride *= 2;
            if !position.is_multiple_of(self.stride) {
                return;
            }
        }
        self.kept.push(next());
    }

    /// The chosen ones, in their order.
    pub(super) fn choose(self) -> Vec<T> {
        let Self { wanted, kept, .. } = self;
        let count = kept.len();
        if count <= wanted {
            return kept;
        }
        // Of `count` places those where the line from 0 to `wanted` reaches the next whole number.
        let is_chosen = |place: usize| {
            (place * wanted).div_ceil(count) < ((place + 1) * wanted).div_ceil(count)
        };
        kept.into_iter()
            .enumerate()
            .filter(|(place, _)| is_chosen(*place))
            .map(|(_, item)| item)
            .collect()
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
        sample.choose()
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

    #[test]
    fn a_wish_is_a_number_or_all() {
        assert_eq!(Wish::read(None).unwrap(), Wish::Some(0));
        assert_eq!(Wish::read(Some("12")).unwrap(), Wish::Some(12));
        assert_eq!(Wish::read(Some("all")).unwrap(), Wish::All);
        for wrong in ["", "-1", "many", "100001", "1.5"] {
            assert!(Wish::read(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
