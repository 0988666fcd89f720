//! A first look at a site with few requests, for who sets up a crawl of it: where the start URL leads, what robots.txt and the
//! sitemaps say, how a sample of pages answers, and how large the site is. It blocks while it waits for answers.
//!
//! ```text
//! start URL, redirects -> other spellings of the site -> its sitemaps -> a sample of pages -> size and time
//! ```
//!
//! Requests go the way of a crawl: under robots.txt and the clocks of each host. Nothing is stored and nothing is decided.

mod sitemaps;
mod spellings;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde::Serialize;

pub use self::{sitemaps::SitemapAnswer, spellings::UrlAnswer};
use crate::{
    check::{CheckProgress, Network, Stopped},
    client::{DownloadError, Downloader, StartError, start_page},
    config::{Config, PolitenessConfig, Rate},
    fetch::RequestLimit,
    notes::Note,
    page::PageFacts,
    robots::Rules,
    site::Site,
    url_key::UrlKey,
};

/// Requests of a survey at most, robots.txt and redirects included.
pub const MAX_REQUESTS: u32 = 50;

/// Pages of the sample at most, the start page not counted.
const MAX_PAGES: usize = 12;

/// Pages of the sample without an answer or with status 403 or 429, after which no further page is requested.
const MAX_REFUSALS: u32 = 3;

/// URLs of links and sitemaps that are remembered: two full sitemaps.
const MAX_SEEN: usize = 100_000;

/// Rules of robots.txt that are shown.
const MAX_RULES: usize = 20;

/// The answers of a site.
#[derive(Debug, Clone, Serialize)]
pub struct Survey {
    /// The URL that a crawl begins with.
    pub start: String,
    /// The directory that is crawled from there.
    pub site: String,
    /// The start URL and its redirects, the start page last.
    pub hops: Vec<UrlAnswer>,
    /// Further spellings of the site: http and https, with www. and without.
    pub spellings: Vec<UrlAnswer>,
    /// The robots.txt of the site.
    pub robots: SurveyedRobots,
    /// The site's own sitemaps.
    pub sitemaps: Vec<SitemapAnswer>,
    /// Links of the start page to pages of the site.
    pub links: usize,
    /// The answers of the sample of pages.
    pub sample: PageSample,
    /// Estimated number of URLs of the site. Without a sitemap that lists URLs there are at least so many.
    pub urls: u64,
    /// Estimated time of a crawl in seconds.
    pub seconds: u64,
    /// Requests that were sent.
    pub requests: u32,
    /// Notes for the user.
    pub notes: Vec<Note>,
}

/// The rules of robots.txt for arpent.
#[derive(Debug, Clone, Serialize)]
pub struct SurveyedRobots {
    /// Its URL.
    pub url: String,
    /// The status of the answer; 200 when there is a file.
    pub status: u16,
    /// The group that counts and its first rules, as lines.
    pub rules: Vec<String>,
    /// `Crawl-delay` in seconds.
    pub crawl_delay_s: Option<f64>,
    /// The URLs of its `Sitemap` lines.
    pub sitemaps: Vec<String>,
}

/// Answers of a sample of pages, the start page included.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PageSample {
    /// Pages by their status.
    pub statuses: BTreeMap<u16, u32>,
    /// Pages without an answer.
    pub unanswered: u32,
    /// Median time of an answer.
    #[serde(skip)]
    pub median_answer: Duration,
}

impl PageSample {
    /// Pages that answered `status`.
    fn count(&self, status: u16) -> u32 {
        self.statuses.get(&status).copied().unwrap_or_default()
    }

    /// Pages that were requested.
    pub fn pages(&self) -> u32 {
        self.statuses.values().sum::<u32>() + self.unanswered
    }
}

/// Looks at the site of the URL `typed`, as a crawl by `config` would begin with it.
///
/// # Errors
/// A crawl could not begin there, for the reason that a crawl would give; or the work was stopped.
pub fn survey(
    typed: &UrlKey,
    config: &Config,
    downloader: &Downloader,
    network: &Network<'_>,
    progress: &CheckProgress,
) -> Result<Survey, StartError> {
    let limit = RequestLimit::new(MAX_REQUESTS);
    let downloader = downloader.clone().with_request_limit(&limit);
    turn_to(progress, typed);
    let shutdown = &network.shutdown;
    let started = start_page(&downloader, typed, config, &network.reader, shutdown);
    let started = network.wait_for(started)??;
    let (site, hops, mut notes) = (started.site, started.hops, started.notes);
    let robots = robots_of(&site, &started.robots);
    let mut surveyor = Surveyor {
        config,
        downloader,
        network,
        progress,
        limit,
        seen: BTreeSet::from([site.start.clone()]),
        site: &site,
        robots: started.robots,
    };
    let spellings = surveyor.spellings(&hops)?;
    let (sitemaps, unread) = surveyor.sitemaps(&robots.sitemaps)?;
    let start = hops.last().map(|(_, facts)| facts.clone());
    let start = start.unwrap_or_default();
    let links = surveyor.take_links(&start);
    let sample = surveyor.sample(&start)?;

    let twins = spellings.iter().filter(|answer| answer.status == Some(200));
    notes.extend(twins.map(|twin| Note::answers_twice(&twin.url, &site.url()).naming(&twin.url)));
    let moved = !typed.is_on(&site.origin);
    let (url, agent) = (&site.start, &config.fetch.user_agent);
    let (pages, forbidden, throttled) = (sample.pages(), sample.count(403), sample.count(429));
    let found = [
        moved.then(|| Note::start_redirected(&typed.origin(), &site.origin)),
        (start.warnings.password_field).then(|| Note::start_asks_for_password(url)),
        (start.warnings.script_shell).then(|| Note::start_is_shell(url)),
        (start.directives.noindex).then(|| Note::start_noindex(url)),
        (forbidden > 0).then(|| Note::forbidden(&forbidden, &pages, agent)),
        (throttled > 0).then(|| Note::throttled(&throttled, &pages)),
    ];
    notes.extend(found.into_iter().flatten().map(|note| note.naming(url)));

    let delay = surveyor.robots.crawl_delay();
    let pace = pace(&config.politeness, delay, sample.median_answer);
    let listed: Vec<u64> = sitemaps.iter().map(|sitemap| sitemap.urls).collect();
    let urls = estimate(&listed, unread, surveyor.seen.len() as u64);
    let time = pace.saturating_mul(u32::try_from(urls).unwrap_or(u32::MAX));
    // A redirect from /docs to /docs/ makes that directory the site.
    let start = if typed.to_directory().path() == site.directory {
        format!("{}{}", site.origin, typed.path_and_query())
    } else {
        site.url()
    };
    Ok(Survey {
        start,
        site: site.url(),
        hops: hops
            .iter()
            .map(|(url, facts)| UrlAnswer::new(url, Ok(facts)))
            .collect(),
        spellings,
        robots,
        sitemaps,
        links,
        sample,
        urls,
        seconds: time.saturating_add(Duration::from_millis(999)).as_secs(),
        requests: surveyor.limit.sent(),
        notes,
    })
}

fn robots_of(site: &Site, robots: &Rules) -> SurveyedRobots {
    let rules = match robots.refusal() {
        Some(_) => String::new(),
        None => robots.to_text(),
    };
    let rules = rules.lines().filter(|line| !line.is_empty());
    let url = format!("{}/robots.txt", site.origin);
    let place = UrlKey::from_normalised(&url).map(|url| url.to_url());
    let sitemaps = place.map(|place| robots.sitemap_urls(&place));
    SurveyedRobots {
        url,
        status: robots.refusal().unwrap_or(200),
        rules: rules.take(MAX_RULES).map(str::to_owned).collect(),
        crawl_delay_s: robots.crawl_delay().map(|delay| delay.as_secs_f64()),
        sitemaps: sitemaps.iter().flatten().map(ToString::to_string).collect(),
    }
}

/// A survey under way.
struct Surveyor<'s, 'n> {
    config: &'s Config,
    downloader: Downloader,
    network: &'s Network<'n>,
    progress: &'s CheckProgress,
    limit: RequestLimit,
    site: &'s Site,
    robots: Rules,
    /// URLs of the site in links and sitemaps that robots.txt allows.
    seen: BTreeSet<UrlKey>,
}

impl Surveyor<'_, '_> {
    /// Requests a page; a redirect is not followed.
    fn page(&self, url: &UrlKey) -> Result<Result<PageFacts, DownloadError>, StartError> {
        turn_to(self.progress, url);
        let shutdown = &self.network.shutdown;
        let answer = self.downloader.page(url, &self.network.reader, shutdown);
        let answer = self.network.wait(answer)?;
        self.progress.figures().pages += 1;
        Ok(answer)
    }

    /// Remembers a URL that a crawl would request. Returns whether the URL is in the site.
    fn see(&mut self, url: &UrlKey) -> bool {
        let is_inside = self.site.contains(url);
        let is_new = is_inside && self.seen.len() < MAX_SEEN;
        if is_new && self.robots.allows(url.path_and_query()) {
            self.seen.insert(url.clone());
        }
        is_inside
    }

    /// Remembers the links of a page; returns how many lead to pages of the site.
    fn take_links(&mut self, facts: &PageFacts) -> usize {
        let links = facts.links.iter();
        links.filter(|link| self.see(&link.target)).count()
    }

    /// Requests pages that the start page links to or that sitemaps list, spread evenly.
    fn sample(&mut self, start: &PageFacts) -> Result<PageSample, StartError> {
        let mut sample = PageSample::default();
        sample.statuses.insert(start.status, 1);
        let mut times = Vec::from_iter(start.duration);
        let known = self.seen.iter().filter(|url| **url != self.site.start);
        let step = self.seen.len().div_ceil(MAX_PAGES);
        let chosen: Vec<UrlKey> = known.step_by(step).cloned().collect();
        for url in chosen {
            let refusals = sample.unanswered + sample.count(403) + sample.count(429);
            if self.limit.is_reached() || refusals >= MAX_REFUSALS {
                break;
            }
            let Ok(facts) = self.page(&url)? else {
                sample.unanswered += 1;
                continue;
            };
            *sample.statuses.entry(facts.status).or_default() += 1;
            times.extend(facts.duration);
            self.take_links(&facts);
        }
        times.sort_unstable();
        sample.median_answer = times.get(times.len() / 2).copied().unwrap_or_default();
        Ok(sample)
    }
}

/// Shows that `url` is requested.
fn turn_to(progress: &CheckProgress, url: &UrlKey) {
    if let Ok(loc) = sitemap_core::Loc::parse(url.as_str()) {
        progress.turn_to(&loc);
    }
}

impl From<Stopped> for StartError {
    fn from(Stopped: Stopped) -> Self {
        Self::Stopped
    }
}

/// URLs of a site with sitemaps of `listed` URLs, of which indexes have none, and `unread` more of their average length. There are
/// at least `seen`.
fn estimate(listed: &[u64], unread: u64, seen: u64) -> u64 {
    let sitemaps = listed.iter().filter(|urls| **urls > 0).count() as u64;
    let listed: u64 = listed.iter().sum();
    let average = listed.checked_div(sitemaps).unwrap_or_default();
    seen.max(listed + unread * average)
}

/// Time from one request to the next at a host that takes `answer` for each: one at a time with a delay, otherwise so many at once
/// and so many a second as the settings allow.
fn pace(config: &PolitenessConfig, crawl_delay: Option<Duration>, answer: Duration) -> Duration {
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
    fn unread_sitemaps_count_with_the_average() {
        assert_eq!(estimate(&[500], 0, 20), 500);
        assert_eq!(estimate(&[300, 0, 200], 2, 20), 1_000);
        assert_eq!(estimate(&[5], 0, 20), 20);
        assert_eq!(estimate(&[], 0, 1), 1);
    }
}
