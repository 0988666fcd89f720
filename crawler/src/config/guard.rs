//! Settings of the guard: when the published set is not replaced by a new one.

use serde::{Deserialize, Serialize};

/// A part of a whole, from 0 to 1, in millionths.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Share(u32);

impl Share {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// All of it.
    pub const ALL: Self = Self(1_000_000);

    /// So many millionths, all of it at most.
    pub const fn millionths(millionths: u32) -> Self {
        if millionths > Self::ALL.0 {
            Self::ALL
        } else {
            Self(millionths)
        }
    }

    /// `part` of `whole`, rounded down; of nothing it is nothing.
    pub fn of(part: u64, whole: u64) -> Self {
        let millionths = u128::from(part) * u128::from(Self::ALL.0);
        let share = millionths.checked_div(u128::from(whole));
        Self::millionths(u32::try_from(share.unwrap_or_default()).unwrap_or(u32::MAX))
    }

    /// In percent, rounded.
    pub fn percent(self) -> u32 {
        self.0.saturating_add(5_000) / 10_000
    }
}

/// The bounds of the guard's objections, beside `start-page`, which has no setting: the start URL always has to answer. A
/// set that is outside of a bound does not replace the published one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardConfig {
    /// `fewer-urls`: the least share of the published URLs that a new set lists, unless fewer than 20 are missing and more
    /// than half are left. What the rules of the settings remove is not counted as missing. 0: any. Default 0.8.
    pub min_listed_share: Share,
    /// `failing`: the largest share of the URLs asked for in the crawl that fail (network, 5xx, 401, 403), from 20 failed
    /// URLs on. 1: any. Default 0.5.
    pub max_error_share: Share,
    /// `alike`: the largest share of the published pages that answered and now have one main text, one redirect target,
    /// or one title and a password field, from five pages on. 1: any. Default 0.3.
    pub max_alike_share: Share,
    /// `many-more-urls`: how many times as many URLs as a complete crawl published a new set lists at most, unless it is
    /// not 1,000 more. `None`: any number. Default 5.
    pub max_growth: Option<u32>,
    /// The share of the listed and failed URLs that may fail in a crawl that counts as whole. 0: none. Default 0.
    pub partial_above: Share,
}

impl GuardConfig {
    /// No bounds.
    pub const OFF: Self = Self {
        min_listed_share: Share::NONE,
        max_error_share: Share::ALL,
        max_alike_share: Share::ALL,
        max_growth: None,
        partial_above: Share::NONE,
    };
}

impl Default for GuardConfig {
    fn default() -> Self {
        Self {
            min_listed_share: Share::millionths(800_000),
            max_error_share: Share::millionths(500_000),
            max_alike_share: Share::millionths(300_000),
            max_growth: Some(5),
            partial_above: Share::NONE,
        }
    }
}
