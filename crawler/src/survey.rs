//! A first look at a site, for who sets up a crawl of it: where the start URL leads, and what robots.txt has for arpent. Either the
//! state of an earlier crawl is read, or what every crawl asks first is asked: robots.txt, the start URL, its redirects. It blocks
//! while it waits for answers. Nothing is stored and nothing is decided.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    check::{CheckProgress, Network, Stopped},
    client::{Downloader, StartError, start_page},
    config::Config,
    crawl_state::rules_at_rest,
    human,
    notes::{Note, script_advice},
    page::PageFacts,
    robots::Rules,
    site::Site,
    store::{Store, StoreError},
    url_key::UrlKey,
    view::View,
};

/// Rules of robots.txt that are shown.
const MAX_RULES: usize = 20;

/// The first facts about a site.
#[derive(Debug, Clone, Serialize)]
pub struct Survey {
    /// The URL that a crawl begins with.
    pub start: String,
    /// The directory that is crawled from there.
    pub site: String,
    /// The start URL and its redirects, the start page last; none when the state of a crawl was read.
    pub hops: Vec<UrlAnswer>,
    /// The robots.txt of the site.
    pub robots: SurveyedRobots,
    /// Links of the start page to pages of the site; `None`: the state of a crawl was read.
    pub links: Option<usize>,
    /// The last crawl whose end the state has.
    pub crawl: Option<LastCrawl>,
    /// Notes for the user.
    pub notes: Vec<Note>,
}

/// The answer of a URL.
#[derive(Debug, Clone, Default, Serialize)]
pub struct UrlAnswer {
    /// The URL.
    pub url: String,
    /// HTTP status.
    pub status: u16,
    /// The target of a redirect.
    pub redirects_to: Option<String>,
}

/// The rules of robots.txt for arpent.
#[derive(Debug, Clone, Serialize)]
pub struct SurveyedRobots {
    /// The URL of the file.
    pub url: String,
    /// The status of the answer; 200 when there is a file. `None`: the state of a crawl was read.
    pub status: Option<u16>,
    /// The group that counts and its first rules, as lines.
    pub rules: Vec<String>,
    /// `Crawl-delay` in seconds.
    pub crawl_delay_s: Option<f64>,
    /// The URLs of its `Sitemap` lines; `None`: the state of a crawl was read, which does not have them.
    pub sitemaps: Option<Vec<String>>,
}

/// A crawl of the site.
#[derive(Debug, Clone, Serialize)]
pub struct LastCrawl {
    /// The end of its last session.
    pub ended: Timestamp,
    /// Known URLs.
    pub known: u64,
    /// Listed URLs.
    pub listed: u64,
}

impl Survey {
    /// The facts, the name of each before it.
    pub fn view(&self) -> View {
        let mut view = View::default();
        let section = view.section("site", "");
        section.fact("site", Some(&*self.site));
        for answer in &self.hops {
            let UrlAnswer { url, status, .. } = answer;
            let target = answer.redirects_to.as_ref();
            let target =
                target.map_or_else(String::new, |target| format!(", redirects to {target}"));
            section.fact("start", Some(format!("{url} answers {status}{target}")));
        }
        let robots = &self.robots;
        let status = robots.status;
        let status = status.map_or_else(String::new, |status| format!(" answers {status}"));
        section.fact("robots.txt", Some(format!("{}{status}", robots.url)));
        let delay = robots.crawl_delay_s;
        let delay = delay.map(|delay| format!("Crawl-delay: {delay}"));
        let sitemaps = robots.sitemaps.iter().flatten();
        let sitemaps = sitemaps.map(|sitemap| format!("Sitemap: {sitemap}"));
        for line in robots.rules.iter().cloned().chain(delay).chain(sitemaps) {
            section.fact("", Some(format!("  {line}")));
        }
        let links = self.links.map(|links| human::count(links as u64, "link"));
        let links = links.map(|links| format!("{links} to pages of the site"));
        section.fact("start page", links);
        let crawl = self.crawl.as_ref().map(|crawl| {
            let urls = human::count(crawl.known, "known URL");
            let listed = human::number(crawl.listed);
            format!(
                "{listed} of {urls} listed, {}",
                crawl.ended.strftime("%Y-%m-%d")
            )
        });
        section.fact("last crawl", crawl);
        for note in &self.notes {
            section.fact("note", Some(&*note.text));
        }
        view
    }
}

/// What the state of a crawl of `site` has; `typed` is the start URL.
///
/// # Errors
/// The store failed, or holds a value that cannot be read.
pub fn of_crawl(store: &Store, site: &Site, typed: &UrlKey) -> Result<Survey, StoreError> {
    let robots = rules_at_rest(store)?.robots;
    let crawls = store.sessions()?.into_iter().rev();
    let mut crawls = crawls.filter_map(|session| {
        Some(LastCrawl {
            ended: session.ended?,
            known: session.known?,
            listed: session.listed?,
        })
    });
    let robots = robots_of(site, &robots.unwrap_or_else(Rules::allow_all));
    Ok(Survey {
        start: start_of(site, typed),
        site: site.url(),
        hops: Vec::new(),
        robots: SurveyedRobots {
            status: None,
            sitemaps: None,
            ..robots
        },
        links: None,
        crawl: crawls.next(),
        notes: Vec::new(),
    })
}

/// Looks at the site of the URL `typed`, as a crawl by `config` would begin with it.
///
/// # Errors
/// A crawl could not begin there, for the reason that a crawl would give; or the work was stopped.
pub fn look(
    typed: &UrlKey,
    config: &Config,
    downloader: &Downloader,
    network: &Network<'_>,
    progress: &CheckProgress,
) -> Result<Survey, StartError> {
    if let Ok(loc) = sitemap_core::Loc::parse(typed.as_str()) {
        progress.turn_to(&loc);
    }
    let started = start_page(
        downloader,
        typed,
        config,
        &network.reader,
        &network.shutdown,
    );
    let started = network.wait_for(started);
    let started = started.map_err(|Stopped| StartError::Stopped)??;
    let (site, hops, mut notes) = (started.site, started.hops, started.notes);
    let page = hops.last().map(|(_, facts)| facts.clone());
    let page = page.unwrap_or_default();
    let robots = &started.robots;
    let is_page = |target: &UrlKey| site.contains(target) && robots.allows(target.path_and_query());
    let links = page.links.iter().filter(|link| is_page(&link.target));
    let url = &site.start;
    let found = [
        (!typed.is_on(&site.origin)).then(|| Note::start_redirected(&typed.origin(), &site.origin)),
        (page.warnings.password_field).then(|| Note::start_asks_for_password(url)),
        (page.warnings.script_shell).then(|| Note::start_is_shell(url, &script_advice(false))),
        (page.directives.noindex).then(|| Note::start_noindex(url)),
    ];
    notes.extend(found.into_iter().flatten().map(|note| note.naming(url)));
    Ok(Survey {
        start: start_of(&site, typed),
        site: site.url(),
        robots: robots_of(&site, robots),
        links: Some(links.count()),
        hops: hops.iter().map(answer_of).collect(),
        crawl: None,
        notes,
    })
}

/// The URL of settings: a redirect from /docs to /docs/ makes that directory the site.
fn start_of(site: &Site, typed: &UrlKey) -> String {
    if typed.to_directory().path() == site.directory {
        format!("{}{}", site.origin, typed.path_and_query())
    } else {
        site.url()
    }
}

fn answer_of((url, facts): &(UrlKey, PageFacts)) -> UrlAnswer {
    UrlAnswer {
        url: url.to_string(),
        status: facts.status,
        redirects_to: facts.location.as_ref().map(ToString::to_string),
    }
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
        status: Some(robots.refusal().unwrap_or(200)),
        rules: rules.take(MAX_RULES).map(str::to_owned).collect(),
        crawl_delay_s: robots.crawl_delay().as_ref().map(Duration::as_secs_f64),
        sitemaps: Some(sitemaps.iter().flatten().map(ToString::to_string).collect()),
    }
}
