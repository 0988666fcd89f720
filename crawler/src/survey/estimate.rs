//! How large a site is and how long a crawl takes, from what the survey saw. Pure.

use std::time::Duration;

use serde::Serialize;

use super::SitemapAnswer;
use crate::config::{PolitenessConfig, Rate};

/// What a number of URLs comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizeBasis {
    /// The site's sitemaps, all read.
    Sitemaps,
    /// Some of the site's sitemaps; the others are assumed to be as long.
    SomeSitemaps,
    /// Links and sitemaps that were seen: there are at least so many.
    Seen,
}

/// An estimate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SiteSize {
    /// URLs of the site.
    pub urls: u64,
    /// What the number comes from.
    pub basis: SizeBasis,
    /// Time of a crawl of them, in seconds.
    pub seconds: u64,
}

impl SiteSize {
    /// The size of a site with these sitemaps, of which `unread` more were not read, and with `seen` distinct URLs in links, when
    /// one URL takes `pace`.
    pub(super) fn new(sitemaps: &[SitemapAnswer], unread: u64, seen: u64, pace: Duration) -> Self {
        let listed: u64 = sitemaps.iter().map(|sitemap| sitemap.urls).sum();
        let with_urls = sitemaps.iter().filter(|sitemap| sitemap.urls > 0).count();
        let average = listed.checked_div(with_urls as u64).unwrap_or_default();
        let urls = listed + unread * average;
        let (urls, basis) = if seen > urls || urls == 0 {
            // The start page is one.
            (seen.max(1), SizeBasis::Seen)
        } else if unread > 0 {
            (urls, SizeBasis::SomeSitemaps)
        } else {
            (urls, SizeBasis::Sitemaps)
        };
        let milliseconds = u128::from(urls) * pace.as_millis();
        let seconds = u64::try_from(milliseconds.div_ceil(1_000)).unwrap_or(u64::MAX);
        Self {
            urls,
            basis,
            seconds,
        }
    }
}

/// Time from one request to the next at a host that takes `answer` for each: one at a time with a delay, otherwise so many at once
/// and so many a second as the settings allow.
pub(super) fn pace(
    config: &PolitenessConfig,
    crawl_delay: Option<Duration>,
    answer: Duration,
) -> Duration {
    let delay = config.delay.max(crawl_delay).unwrap_or_default();
    if !delay.is_zero() {
        return delay + answer;
    }
    let spacing = match config.rate {
        Rate::PerSecond(rate) => Duration::try_from_secs_f64(rate.recip()).unwrap_or_default(),
        Rate::Unlimited => Duration::ZERO,
    };
    spacing.max(answer / config.concurrency.get())
}

/// The median; `None` of nothing.
pub(super) fn median(times: &mut [Duration]) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// At most `most` of `all`, spread evenly.
pub(super) fn evenly<T>(all: &[T], most: usize) -> impl Iterator<Item = &T> {
    all.iter().step_by(all.len().div_ceil(most).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_delay_or_the_rate_makes_the_pace() {
        #[track_caller]
        fn check(own: Option<u64>, theirs: Option<u64>, answer: u64, expected: u64) {
            let config = PolitenessConfig {
                delay: own.map(Duration::from_millis),
                ..PolitenessConfig::default()
            };
            let theirs = theirs.map(Duration::from_millis);
            let found = pace(&config, theirs, Duration::from_millis(answer));
            assert_eq!(found.as_millis(), u128::from(expected));
        }
        check(None, None, 50, 100);
        check(None, None, 2_000, 500);
        check(Some(1_000), None, 200, 1_200);
        check(Some(1_000), Some(5_000), 200, 5_200);
        check(None, Some(0), 50, 100);
    }

    #[test]
    fn sitemaps_say_the_size_unless_links_show_more() {
        #[track_caller]
        fn check(listed: &[u64], unread: u64, seen: u64, expected: (u64, SizeBasis, u64)) {
            let sitemaps = listed.iter().map(|urls| SitemapAnswer {
                urls: *urls,
                ..SitemapAnswer::default()
            });
            let sitemaps: Vec<_> = sitemaps.collect();
            let size = SiteSize::new(&sitemaps, unread, seen, Duration::from_millis(100));
            assert_eq!((size.urls, size.basis, size.seconds), expected);
        }
        check(&[500], 0, 20, (500, SizeBasis::Sitemaps, 50));
        check(&[300, 0, 200], 2, 20, (1_000, SizeBasis::SomeSitemaps, 100));
        check(&[5], 0, 20, (20, SizeBasis::Seen, 2));
        check(&[], 0, 0, (1, SizeBasis::Seen, 1));
    }

    #[test]
    fn a_sample_is_spread_evenly() {
        let all: Vec<u32> = (0..25).collect();
        let some: Vec<_> = evenly(&all, 12).copied().collect();
        assert_eq!(some, [0, 3, 6, 9, 12, 15, 18, 21, 24]);
        assert_eq!(evenly(&all[..3], 12).count(), 3);
        assert_eq!(evenly::<u32>(&[], 12).count(), 0);
    }
}
