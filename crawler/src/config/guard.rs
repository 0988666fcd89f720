//! When the published set is kept in spite of a new one.

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

    /// This share, and `other` of what is left.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let left = u64::from(Self::ALL.0.saturating_sub(self.0));
        let more = left * u64::from(other.0) / u64::from(Self::ALL.0);
        Self::millionths(
            self.0
                .saturating_add(u32::try_from(more).unwrap_or(u32::MAX)),
        )
    }

    /// In percent, rounded.
    pub fn percent(self) -> u32 {
        self.0.saturating_add(5_000) / 10_000
    }
}

/// When the published set is kept in spite of a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardConfig {
    /// The least share of the published set that a new one lists, unless fewer than 20 URLs are missing. Pages that
    /// answer 404 for the first time are listed all the same, but count as missing here. Default 0.8.
    pub min_listed_share: Share,
    /// The largest share of the known URLs that cannot be fetched. What fails stays listed for a while anyhow
    /// ([`RemovalConfig::keep_failing`](super::RemovalConfig::keep_failing)), so less would only hold back the news of the others; of a site that
    /// mostly fails even what answers says little. Default 0.5.
    pub max_error_share: Share,
    /// The largest share of the pages of the published set that answered and are one page now: by what they say, by
    /// title and heading, by a form that asks for a password, or by where they redirect to. Fewer than five do not
    /// count, unless they are all but the start page; a third of it has to be new. Default 0.3.
    pub max_alike_share: Share,
    /// How many times as many URLs a new set lists at most, unless it is not 1,000 more. `None`: as many as there
    /// are. Default 5.
    pub max_growth: Option<u32>,
}

impl GuardConfig {
    /// Nothing speaks against a set.
    pub const OFF: Self = Self {
        min_listed_share: Share::NONE,
        max_error_share: Share::ALL,
        max_alike_share: Share::ALL,
        max_growth: None,
    };
}

impl Default for GuardConfig {
    fn default() -> Self {
        Self {
            min_listed_share: Share::millionths(800_000),
            max_error_share: Share::millionths(500_000),
            max_alike_share: Share::millionths(300_000),
            max_growth: Some(5),
        }
    }
}
