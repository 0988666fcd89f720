//! The display of a crawl: the newest progress as lines of text, for a terminal of any width or for a log. It formats and
//! estimates; it neither prints nor reads a clock.

use std::{collections::VecDeque, time::Duration};

use crawler::{politeness::HostState, repeats::WatchedPlace, site_run::Progress};

use crate::human;

/// Seconds over which the speed is averaged: long enough to be calm at one page every few seconds.
const SPEED_WINDOW: Duration = Duration::from_secs(30);

/// Time between two samples of the speed.
const SAMPLE_GAP: Duration = Duration::from_millis(500);

/// Columns of the bar.
const BAR_WIDTH: u64 = 30;

/// Time after which the speed is shown, and the time left.
const SPEED_START: Duration = Duration::from_secs(10);

/// Pages per second over the last half minute, and whether the queue grew.
#[derive(Debug, Default)]
pub(crate) struct Speed {
    /// At most the window divided by the gap, and one.
    samples: VecDeque<Sample>,
}

/// The figures at one time.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// Since the start.
    elapsed: Duration,
    /// Pages done.
    pages: u64,
    /// URLs that wait.
    queued: u64,
}

impl Speed {
    /// Takes the figures at `elapsed` since the start: pages that are done, and URLs that wait.
    pub(crate) fn note(&mut self, elapsed: Duration, pages: u64, queued: u64) {
        let last = self.samples.back();
        if last.is_some_and(|last| elapsed < last.elapsed + SAMPLE_GAP) {
            return;
        }
        self.samples.push_back(Sample {
            elapsed,
            pages,
            queued,
        });
        let is_old = |first: &Sample| first.elapsed + SPEED_WINDOW < elapsed;
        while self.samples.front().is_some_and(is_old) {
            self.samples.pop_front();
        }
    }

    /// Whether more URLs wait than half a minute ago.
    pub(crate) fn is_queue_growing(&self) -> bool {
        let ends = self.samples.front().zip(self.samples.back());
        ends.is_some_and(|(first, last)| last.queued > first.queued)
    }

    /// `None` in the first seconds, which say little about the rest of a crawl.
    pub(crate) fn per_second(&self) -> Option<f64> {
        let (first, last) = (self.samples.front()?, self.samples.back()?);
        let since = last.elapsed.checked_sub(first.elapsed)?;
        let seconds = since.as_secs_f64();
        if since < SPEED_START {
            return None;
        }
        let pages = last.pages.checked_sub(first.pages)?;
        #[expect(
            clippy::cast_precision_loss,
            reason = "pages within half a minute are far below 2^53"
        )]
        (seconds > 0.0).then(|| pages as f64 / seconds)
    }
}

/// A place that a person should look at.
fn text_of_place(place: &WatchedPlace) -> String {
    match place {
        WatchedPlace::Growing(place) => format!(
            "growing {}: pages that say nothing new led to {} (cut after {})",
            place.name,
            human::count(place.led_to, "URL"),
            human::number(place.limit),
        ),
        WatchedPlace::Crowded(place) => format!(
            "crowded {}: {} of the last 5,000 URLs; -x '{}' skips all there",
            place.name,
            human::number(place.urls),
            place.exclude,
        ),
    }
}

/// Evaluation of the figures of [`Progress`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProgressView<'a> {
    /// The newest progress.
    pub(crate) progress: &'a Progress,
    /// Pages per second lately, when known.
    pub(crate) per_second: Option<f64>,
    /// More URLs wait than half a minute ago, so that the time left is at least what they take.
    pub(crate) is_queue_growing: bool,
    /// The `delay` setting, to distinguish it from the wish of the host.
    pub(crate) delay: Option<Duration>,
}

impl ProgressView<'_> {
    /// The lines of the live view, each at most `width` characters: the site, a bar when the number of pages is about known, the
    /// figures, the state of the host when it is worth reporting, a place that may go on without end, the page in work, and the last failures.
    pub(crate) fn lines(&self, width: usize) -> Vec<String> {
        let mut lines = Vec::with_capacity(6);
        if let Some(site) = &self.progress.site {
            lines.push(fit(&format!("{}{}", site.origin, site.directory), width));
        }
        lines.extend(self.bar().map(|bar| fit(&format!("  {bar}"), width)));
        lines.push(self.figures(width));
        lines.extend(self.host().map(|host| fit(&format!("  {host}"), width)));
        let watched = self.progress.watched.as_ref();
        lines.extend(watched.map(|place| fit(&format!("  {}", text_of_place(place)), width)));
        let in_work = self.progress.in_work.as_ref();
        lines.extend(in_work.map(|url| fit(&format!("  now     {url}"), width)));
        let failures = self.progress.failures.iter();
        lines.extend(failures.map(|(code, url)| fit(&format!("  failed  {url} ({code})"), width)));
        lines
    }

    /// The share of the pages that is done, of a site that was crawled before.
    fn bar(&self) -> Option<String> {
        let (percent, all) = self.share()?;
        let filled = usize::try_from(self.progress.fetched * BAR_WIDTH / all).unwrap_or_default();
        let empty = usize::try_from(BAR_WIDTH)
            .unwrap_or_default()
            .saturating_sub(filled);
        Some(format!(
            "[{}{}] {percent} % of about {}",
            "#".repeat(filled),
            "-".repeat(empty),
            human::count(all, "page")
        ))
    }

    /// The pages that are done, in per cent of those that are expected, and the number of these; `None`: of a site that was not crawled
    /// before.
    pub(crate) fn share(&self) -> Option<(u64, u64)> {
        let Progress {
            fetched, queued, ..
        } = *self.progress;
        let expected = self.progress.expected.filter(|pages| *pages > 0)?;
        let all = expected.max(fetched + queued);
        Some((fetched * 100 / all, all))
    }

    /// The progress on one line, for a log.
    pub(crate) fn log_line(&self) -> String {
        let words = self.words();
        match &self.progress.site {
            Some(site) => format!("{}{}: {words}", site.origin, site.directory),
            None => words,
        }
    }

    /// The progress in words, on one line.
    pub(crate) fn words(&self) -> String {
        let mut line = self.figures(usize::MAX).trim_start().to_owned();
        if let Some(host) = self.host() {
            line.push_str("; ");
            line.push_str(&host);
        }
        if let Some(place) = &self.progress.watched {
            line.push_str("; ");
            line.push_str(&text_of_place(place));
        }
        line
    }

    /// The figures that fit into `width`, the important ones first.
    fn figures(&self, width: usize) -> String {
        let progress = self.progress;
        if progress.site.is_none() {
            return fit("  waiting for robots.txt and the start page", width);
        }
        let left = self.time_left();
        let figures = [
            Some(format!("{} done", human::count(progress.fetched, "page"))),
            Some(format!("{} queued", human::number(progress.queued))),
            (progress.failed > 0).then(|| format!("{} failed", human::number(progress.failed))),
            self.per_second
                .map(|speed| format!("{} pages/s", human::speed(speed))),
            left.map(|left| {
                let word = if self.is_queue_growing {
                    "at least"
                } else {
                    "about"
                };
                format!("{word} {} left", human::duration(whole_seconds(left)))
            }),
            (progress.bytes_in > 0).then(|| human::bytes(progress.bytes_in)),
        ];
        let mut figures: Vec<String> = figures.into_iter().flatten().collect();
        // The last ones give way.
        loop {
            let line = format!("  {}", figures.join(", "));
            if figures.len() == 1 || line.chars().count() <= width {
                return fit(&line, width);
            }
            figures.pop();
        }
    }

    /// State of the host, when it is worth reporting.
    fn host(&self) -> Option<String> {
        words_of_host(
            self.progress.host,
            self.delay,
            self.progress.trouble.as_deref(),
        )
    }

    /// Queued URLs at the speed of late, or at the pace that the pauses in force allow, whichever is slower.
    fn time_left(&self) -> Option<Duration> {
        // What comes after a pause is not known.
        if matches!(
            self.progress.host,
            HostState::Pausing(_) | HostState::RetryAfter(_)
        ) {
            return None;
        }
        let queued = u32::try_from(self.progress.queued)
            .ok()
            .filter(|queued| *queued > 0)?;
        let observed = self
            .per_second
            .filter(|speed| *speed > 0.0)
            .map(|speed| 1.0 / speed);
        let observed = observed.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        // Without a page in the last half minute only the pauses show the state; without pauses it is unknown.
        let per_page = observed.max(self.progress.pace)?;
        per_page.checked_mul(queued)
    }
}

/// State of a host, when it is worth reporting; `own_delay` is the `delay` setting, `trouble` the last failure.
pub(crate) fn words_of_host(
    state: HostState,
    own_delay: Option<Duration>,
    trouble: Option<&str>,
) -> Option<String> {
    let wait = |left| human::duration(whole_seconds(left));
    let because = |otherwise| trouble.unwrap_or(otherwise);
    match state {
        HostState::Open => None,
        HostState::RetryAfter(left) => Some(match trouble {
            Some(trouble) => format!("waiting {} (Retry-After): {trouble}", wait(left)),
            None => format!("waiting {}: Retry-After", wait(left)),
        }),
        HostState::Delay(delay) => {
            let whose = if own_delay.is_some_and(|own| own >= delay) {
                "delay setting"
            } else {
                "Crawl-delay"
            };
            Some(format!(
                "one request every {}: {whose}",
                human::duration(delay)
            ))
        }
        HostState::SlowedDown(divisor) => Some(format!(
            "slowed down to 1/{divisor}: {}",
            because("answers take twice as long")
        )),
        HostState::Pausing(left) => Some(format!(
            "pausing {}: {}",
            wait(left),
            because("the host failed too often")
        )),
        HostState::Closed => Some("no further request to this host in this session".to_owned()),
    }
}

/// Rounded up: the rest is never zero.
pub(crate) fn whole_seconds(left: Duration) -> Duration {
    Duration::from_millis(999)
        .checked_add(left)
        .map_or(left, |up| Duration::from_secs(up.as_secs().max(1)))
}

/// The beginning of a line.
pub(crate) fn fit(line: &str, width: usize) -> String {
    crate::untrusted::shorten(line, width).into_owned()
}

#[cfg(test)]
mod tests {
    use crawler::{repeats::CrowdedPlace, site::Site, url_key::UrlKey};

    use super::*;

    fn progress() -> Progress {
        let start = UrlKey::from_normalised("https://www.example.com/docs/").unwrap();
        Progress {
            site: Some(Site {
                origin: start.origin(),
                directory: "/docs/".to_owned(),
                start,
                stand_in: None,
            }),
            fetched: 1_234,
            queued: 5_678,
            known: 7_000,
            failed: 3,
            bytes_in: 12_900_000,
            ..Progress::default()
        }
    }

    fn view(progress: &Progress) -> ProgressView<'_> {
        ProgressView {
            progress,
            per_second: Some(9.8),
            is_queue_growing: false,
            delay: None,
        }
    }

    #[test]
    fn the_last_figures_give_way_on_narrow_lines() {
        fn check(width: usize, title: &str, figures: &str) {
            let lines = view(&progress()).lines(width);
            assert_eq!(lines, [title, figures], "{width}");
        }
        let all =
            "  1,234 pages done, 5,678 queued, 3 failed, 9.8 pages/s, about 9 min left, 12.3 MiB";
        for (width, end) in [
            (100, " MiB"),
            (80, " left"),
            (60, " pages/s"),
            (45, " failed"),
            (35, " queued"),
        ] {
            let (figures, _) = all.split_once(end).unwrap();
            let figures = format!("{figures}{end}");
            check(width, "https://www.example.com/docs/", &figures);
        }
        check(20, "https://www.examp...", "  1,234 pages done");
        check(10, "https:/...", "  1,234...");
        check(0, "", "");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let mut progress = progress();
        progress.host = HostState::Pausing(Duration::from_secs(600));
        for width in 0..200 {
            for line in view(&progress).lines(width) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn the_state_of_the_host_is_reported() {
        fn check(host: HostState, delay: Option<u64>, expected: &str) {
            let failed = matches!(host, HostState::SlowedDown(_) | HostState::Pausing(_));
            let progress = Progress {
                host,
                trouble: failed.then(|| "503 at https://h/x".to_owned()),
                ..Progress::default()
            };
            let view = ProgressView {
                progress: &progress,
                per_second: None,
                is_queue_growing: false,
                delay: delay.map(Duration::from_secs),
            };
            let lines = view.lines(80);
            let line = lines.get(1).map_or("", |line| line.trim_start());
            assert_eq!(line, expected);
        }
        let wait = |milliseconds| HostState::RetryAfter(Duration::from_millis(milliseconds));
        let every = |milliseconds| HostState::Delay(Duration::from_millis(milliseconds));
        check(HostState::Open, None, "");
        check(wait(12_000), None, "waiting 12 s: Retry-After");
        check(wait(1_001), None, "waiting 2 s: Retry-After");
        check(wait(3), None, "waiting 1 s: Retry-After");
        let by_robots = "one request every 5 s: Crawl-delay";
        check(every(5_000), None, by_robots);
        check(every(5_000), Some(2), by_robots);
        let by_setting = "one request every 5 s: delay setting";
        check(every(5_000), Some(5), by_setting);
        let by_setting = "one request every 500 ms: delay setting";
        check(every(500), Some(1), by_setting);
        let slowed_down = "slowed down to 1/4: 503 at https://h/x";
        check(HostState::SlowedDown(4), None, slowed_down);
        let pausing = "pausing 1 min: 503 at https://h/x";
        let minute = Duration::from_secs(60);
        check(HostState::Pausing(minute), None, pausing);
        let closed = "no further request to this host in this session";
        check(HostState::Closed, None, closed);
    }

    #[test]
    fn log_line_has_all_figures() {
        let mut progress = progress();
        progress.host = HostState::SlowedDown(2);
        assert_eq!(
            view(&progress).log_line(),
            "https://www.example.com/docs/: 1,234 pages done, 5,678 queued, 3 failed, 9.8 pages/s, \
             about 9 min left, 12.3 MiB; slowed down to 1/2: answers take twice as long"
        );
        assert_eq!(
            ProgressView {
                progress: &Progress::default(),
                per_second: None,
                is_queue_growing: false,
                delay: None
            }
            .log_line(),
            "waiting for robots.txt and the start page"
        );
    }

    #[test]
    fn time_left_follows_speed_or_pace() {
        fn check(queued: u64, per_second: Option<f64>, pace: Option<u64>, expected: Option<u64>) {
            let progress = Progress {
                queued,
                pace: pace.map(Duration::from_secs),
                ..Progress::default()
            };
            let view = ProgressView {
                progress: &progress,
                per_second,
                is_queue_growing: false,
                delay: None,
            };
            assert_eq!(view.time_left(), expected.map(Duration::from_secs));
        }
        check(100, Some(10.0), None, Some(10));
        check(100, Some(10.0), Some(5), Some(500));
        check(100, Some(0.1), Some(5), Some(1_000));
        check(100, None, Some(5), Some(500));
        check(100, Some(0.0), Some(5), Some(500));
        check(100, Some(0.0), None, None);
        check(100, None, None, None);
        check(0, Some(10.0), None, None);
        check(u64::MAX, Some(10.0), None, None);
    }

    #[test]
    fn speed_is_of_the_last_half_minute() {
        let mut speed = Speed::default();
        assert_eq!(speed.per_second(), None);
        speed.note(Duration::ZERO, 0, 1);
        assert_eq!(speed.per_second(), None);
        speed.note(Duration::from_millis(100), 50, 1);
        assert_eq!(speed.per_second(), None, "samples too close are not taken");
        speed.note(Duration::from_secs(10), 100, 2);
        assert!(speed.is_queue_growing());
        assert_eq!(speed.per_second(), Some(10.0));
        for second in 11..=100 {
            speed.note(Duration::from_secs(second), 100 + (second - 10) * 2, 2);
        }
        assert_eq!(speed.per_second(), Some(2.0));
        assert!(!speed.is_queue_growing());
        assert!(speed.samples.len() <= 61, "{}", speed.samples.len());
    }

    #[test]
    fn recrawl_shows_a_bar_and_current_page() {
        let url = |path: &str| {
            UrlKey::from_normalised(&format!("https://www.example.com/docs/{path}")).unwrap()
        };
        let progress = Progress {
            expected: Some(1_200),
            fetched: 500,
            queued: 1_000,
            failed: 1,
            bytes_in: 0,
            watched: Some(WatchedPlace::Crowded(CrowdedPlace {
                name: "/shop?".to_owned(),
                urls: 3_000,
                exclude: "/shop\\?*".to_owned(),
            })),
            in_work: Some(url("now")),
            failures: vec![("server-error", url("broken"))],
            ..progress()
        };
        let view = ProgressView {
            is_queue_growing: true,
            ..view(&progress)
        };
        assert_eq!(
            view.lines(90),
            [
                "https://www.example.com/docs/",
                "  [##########--------------------] 33 % of about 1,500 pages",
                "  500 pages done, 1,000 queued, 1 failed, 9.8 pages/s, at least 1 min 43 s left",
                "  crowded /shop?: 3,000 of the last 5,000 URLs; -x '/shop\\?*' skips all there",
                "  now     https://www.example.com/docs/now",
                "  failed  https://www.example.com/docs/broken (server-error)",
            ]
        );
    }
}
