//! A first look at a site with few requests, for who sets up a crawl of it: where the start URL leads, what robots.txt and the
//! sitemaps say, how a sample of pages answers, and how large the site is. It blocks while it waits for answers.
//!
//! ```text
//! start URL, redirects -> other spellings of the site -> its sitemaps -> a sample of pages -> size and time
//! ```
//!
//! Requests go the way of a crawl: under robots.txt and the clocks of each host. Nothing is stored and nothing is decided.

mod estimate;
mod sitemaps;
mod spellings;

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use serde::Serialize;

pub use self::{
    estimate::{SiteSize, SizeBasis},
    sitemaps::SitemapAnswer,
    spellings::UrlAnswer,
};
use self::{
    estimate::{evenly, median, pace},
    sitemaps::ListedUrls,
};
use crate::{
    check::{CheckProgress, Network, Stopped},
    config::Config,
    crawl::{
        CrawlError, StartPage,
        download::{DownloadError, Downloader},
        start_page,
    },
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

/// Answers 403 and 429 of the sample after which no further page is asked for.
const MAX_REFUSALS: u32 = 3;

/// Distinct URLs that are held to count links; more count as at least so many.
const MAX_SEEN: usize = 100_000;

/// Rules of robots.txt that are shown.
const MAX_RULES: usize = 20;

/// What a site answers.
#[derive(Debug, Clone, Serialize)]
pub struct Survey {
    /// The URL that a crawl begins with.
    pub start: String,
    /// The directory that is crawled from there.
    pub site: String,
    /// The start URL and its redirects, the start page last.
    pub hops: Vec<UrlAnswer>,
    /// Other spellings of the site: http and https, with www. and without.
    pub spellings: Vec<UrlAnswer>,
    /// The robots.txt of the site.
    pub robots: SurveyedRobots,
    /// The site's own sitemaps.
    pub sitemaps: Vec<SitemapAnswer>,
    /// What is particular about the start page.
    pub start_page: StartFacts,
    /// The answers of the sample of pages.
    pub sample: PageSample,
    /// How large the site is, and how long a crawl takes.
    pub size: SiteSize,
    /// Requests that were sent.
    pub requests: u32,
    /// What the user should know.
    pub notes: Vec<Note>,
}

/// The rules of robots.txt for arpent.
#[derive(Debug, Clone, Serialize)]
pub struct SurveyedRobots {
    /// Its URL.
    pub url: String,
    /// The status of the answer; 200 when there is a file.
    pub status: u16,
    /// The group that counts: `arpent`, or `*`.
    pub group: String,
    /// The first rules of the group, as lines.
    pub rules: Vec<String>,
    /// `Crawl-delay` in seconds.
    pub crawl_delay_s: Option<f64>,
    /// The URLs of its `Sitemap` lines.
    pub sitemaps: Vec<String>,
}

/// What is particular about the start page.
#[derive(Debug, Clone, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent flags, each shown by itself"
)]
pub struct StartFacts {
    /// Links to pages of the site.
    pub links: u64,
    /// It has no links and hardly any text, but scripts.
    pub is_script_shell: bool,
    /// It has a password field.
    pub has_password_field: bool,
    /// It set a cookie, redirected to itself, and answered when the cookie was sent back.
    pub is_cookie_gate: bool,
    /// It has noindex.
    pub is_noindex: bool,
}

/// Answers of a sample of pages, the start page included.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PageSample {
    /// Pages by their status.
    pub statuses: BTreeMap<u16, u32>,
    /// Pages without an answer.
    pub unanswered: u32,
    /// Median time of an answer in milliseconds.
    pub median_answer_ms: Option<u64>,
    #[serde(skip)]
    times: Vec<Duration>,
}

impl PageSample {
    fn add(&mut self, facts: &PageFacts) {
        *self.statuses.entry(facts.status).or_default() += 1;
        self.times.extend(facts.duration);
    }

    /// Pages that answered `status`.
    pub fn count(&self, status: u16) -> u32 {
        self.statuses.get(&status).copied().unwrap_or_default()
    }

    /// Pages that were asked for.
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
) -> Result<Survey, CrawlError> {
    let limit = RequestLimit::new(MAX_REQUESTS);
    let downloader = downloader.clone().with_request_limit(&limit);
    let shutdown = network.shutdown.clone();
    turn_to(progress, typed);
    let started = start_page(&downloader, typed, config, &network.reader, &shutdown);
    let StartPage {
        site,
        hops,
        robots,
        is_cookie_gate,
        notes,
    } = network
        .wait_for(started)
        .map_err(|Stopped| CrawlError::Stopped)??;
    let mut surveyor = Surveyor {
        config,
        downloader,
        network,
        progress,
        limit,
        site,
        robots,
        seen: HashSet::new(),
        notes,
    };
    surveyor.look(typed, &hops, is_cookie_gate)
}

/// A survey under way.
struct Surveyor<'s, 'n> {
    config: &'s Config,
    downloader: Downloader,
    network: &'s Network<'n>,
    progress: &'s CheckProgress,
    limit: RequestLimit,
    site: Site,
    robots: Rules,
    /// URLs of the site that links or sitemaps name.
    seen: HashSet<UrlKey>,
    notes: Vec<Note>,
}

impl Surveyor<'_, '_> {
    fn look(
        &mut self,
        typed: &UrlKey,
        hops: &[(UrlKey, PageFacts)],
        is_cookie_gate: bool,
    ) -> Result<Survey, CrawlError> {
        let start =
            UrlKey::from_normalised(&format!("{}{}", self.site.origin, typed.path_and_query()));
        let start = start.unwrap_or_else(|_| self.site.start.clone());
        if start.origin() != typed.origin() {
            self.notes
                .push(Note::start_redirected(typed, &self.site.origin).naming(typed));
        }
        let spellings = self.spellings(hops)?;
        let robots = self.robots_answer();
        let mut listed = self.sitemaps(&robots)?;
        let mut sample = PageSample::default();
        let facts = hops.last().map(|(_, facts)| facts);
        let links = facts
            .map(|facts| self.take_links(facts))
            .unwrap_or_default();
        let start_page = StartFacts {
            links,
            is_script_shell: facts.is_some_and(|facts| facts.warnings.script_shell),
            has_password_field: facts.is_some_and(|facts| facts.warnings.password_field),
            is_cookie_gate,
            is_noindex: facts.is_some_and(|facts| facts.directives.noindex),
        };
        if let Some(facts) = facts {
            sample.add(facts);
        }
        self.sample(&mut sample, &mut listed)?;
        self.note(&start_page, &sample);
        let answer = median(&mut sample.times);
        sample.median_answer_ms =
            answer.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        let pace = pace(
            &self.config.politeness,
            self.robots.crawl_delay(),
            answer.unwrap_or_default(),
        );
        let seen = self.seen.len() as u64;
        let size = SiteSize::new(&listed.answers, listed.unread, seen, pace);
        Ok(Survey {
            start: start.to_string(),
            site: self.site.url(),
            hops: hops
                .iter()
                .map(|(url, facts)| UrlAnswer::new(url, Ok(facts)))
                .collect(),
            spellings,
            robots,
            sitemaps: listed.answers,
            start_page,
            sample,
            size,
            requests: self.limit.sent(),
            notes: std::mem::take(&mut self.notes),
        })
    }

    /// Asks for a page; a redirect is not followed.
    fn page(&self, url: &UrlKey) -> Result<Result<PageFacts, DownloadError>, CrawlError> {
        turn_to(self.progress, url);
        let shutdown = &self.network.shutdown;
        let answer = self.downloader.page(url, &self.network.reader, shutdown);
        let answer = self.network.wait(answer);
        self.progress.figures().pages += 1;
        answer.map_err(|Stopped| CrawlError::Stopped)
    }

    fn robots_answer(&self) -> SurveyedRobots {
        let rules = self.robots.to_text();
        let rules = rules.lines().skip(1).filter(|line| !line.is_empty());
        let url = format!("{}/robots.txt", self.site.origin);
        let place = UrlKey::from_normalised(&url).map(|url| url.to_url());
        let sitemaps = place.map(|place| self.robots.sitemap_urls(&place));
        let sitemaps = sitemaps.unwrap_or_default();
        SurveyedRobots {
            url,
            status: self.robots.refusal().unwrap_or(200),
            group: self.robots.group().to_owned(),
            rules: rules.take(MAX_RULES).map(str::to_owned).collect(),
            crawl_delay_s: self.robots.crawl_delay().map(|delay| delay.as_secs_f64()),
            sitemaps: sitemaps.iter().map(ToString::to_string).collect(),
        }
    }

    /// Takes the links of a page that lead to pages of the site; returns how many they are.
    fn take_links(&mut self, facts: &PageFacts) -> u64 {
        let links = facts.links.iter().map(|link| &link.target);
        let links = links.filter(|target| self.site.contains(target));
        let links: Vec<_> = links.cloned().collect();
        for link in &links {
            self.see(link);
        }
        links.len() as u64
    }

    fn see(&mut self, url: &UrlKey) {
        if self.seen.len() < MAX_SEEN {
            self.seen.insert(url.clone());
        }
    }

    /// Asks for pages that the start page links to or that sitemaps list.
    fn sample(
        &mut self,
        sample: &mut PageSample,
        listed: &mut ListedUrls,
    ) -> Result<(), CrawlError> {
        let mut known: Vec<UrlKey> = self.seen.iter().cloned().collect();
        known.append(&mut listed.some);
        known.sort_unstable();
        known.dedup();
        known.retain(|url| *url != self.site.start && self.robots.allows(url.path_and_query()));
        for url in evenly(&known, MAX_PAGES) {
            if self.limit.is_reached() || sample.count(403) + sample.count(429) >= MAX_REFUSALS {
                break;
            }
            match self.page(url)? {
                Ok(facts) => {
                    sample.add(&facts);
                    self.take_links(&facts);
                }
                Err(error) => {
                    sample.unanswered += 1;
                    if matches!(error, DownloadError::Closed { .. }) {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Notes on the start page and on the sample.
    fn note(&mut self, start: &StartFacts, sample: &PageSample) {
        let url = &self.site.start;
        let agent = &self.config.fetch.user_agent;
        let (pages, forbidden, throttled) = (sample.pages(), sample.count(403), sample.count(429));
        let notes = [
            start.is_cookie_gate.then(|| Note::start_sets_cookie(url)),
            (start.has_password_field).then(|| Note::start_asks_for_password(url)),
            start.is_script_shell.then(|| Note::start_is_shell(url)),
            start.is_noindex.then(|| Note::start_noindex(url)),
            (forbidden > 0).then(|| Note::forbidden(&forbidden, &pages, agent)),
            (throttled > 0).then(|| Note::throttled(&throttled, &pages)),
        ];
        let notes = notes.into_iter().flatten();
        self.notes.extend(notes.map(|note| note.naming(url)));
    }
}

/// Shows that `url` is asked for.
fn turn_to(progress: &CheckProgress, url: &UrlKey) {
    if let Ok(loc) = sitemap_core::Loc::parse(url.as_str()) {
        progress.turn_to(&loc);
    }
}
