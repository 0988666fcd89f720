//! From the URL that was typed to the site that is crawled: robots.txt first, then the start URL and
//! its redirects, each hop under the rules of its own origin and under its host's clocks. A page that earlier runs know is
//! asked whether it changed (`known`).

mod known;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use tokio_util::sync::CancellationToken;

pub(super) use self::known::{Confirmation, Known, Peek, Standing, last_answer, standing};
use super::{
    CrawlError,
    door::{Answered, Door, Refused, Robots},
    honesty::Doubt,
    judge::Judge,
    read_as, rough_duration,
    run::{
        page_sink::{Found, PageSink, Wanted},
        recrawl::{FetchedFacts, is_answer_to, is_server_error, says_all},
    },
    signal,
};
use crate::{
    config::Config,
    fetch::Validators,
    page::PageFacts,
    parse::{PageParser, PageReader},
    robots::{self, Rules},
    scope::Scope,
    site::{self, Site},
    url_key::{Origin, UrlKey},
    verdict::MAX_HOPS,
};

/// One answer on the way from the typed URL to the site.
pub(super) struct Hop {
    pub(super) url: UrlKey,
    pub(super) facts: PageFacts,
    /// What it is when it is, or may be, no page.
    pub(super) found: Option<Found>,
    pub(super) attempts: u32,
    pub(super) manner: Manner,
    /// What stands by its answer, a 304 that is believed.
    pub(super) standing: Option<Standing>,
}

/// How a page was asked for before the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Manner {
    /// As a whole.
    Whole,
    /// Whether it changed, and that was answered.
    Conditionally(Validators),
    /// As a whole, because the server had no answer to that.
    InVain(Doubt),
}

/// What the start URL told.
pub(super) struct Started {
    pub(super) site: Site,
    /// Every answer, the start page itself last.
    pub(super) hops: Vec<Hop>,
    /// The rules of the site's origin.
    pub(super) robots: Rules,
    /// Whether that is what its robots.txt says; otherwise it cannot be read, and that is ignored.
    pub(super) is_robots_read: bool,
    /// Bytes that came over the wire.
    pub(super) bytes_in: u64,
    /// What the user should know, each a sentence.
    pub(super) notices: Vec<String>,
}

impl Started {
    /// The start page's "not modified", which means nothing until the store is asked.
    pub(super) fn confirmation(&self) -> Option<Confirmation> {
        let last = self.hops.last().filter(|hop| hop.facts.status == 304)?;
        match &last.manner {
            Manner::Conditionally(validators) => Some(Confirmation {
                url: last.url.clone(),
                validators: validators.clone(),
                answer: last.facts.clone(),
            }),
            Manner::Whole | Manner::InVain(_) => None,
        }
    }
}

/// What the way from the start URL to the site is found with.
pub(super) struct Guide<'a> {
    pub(super) door: &'a Door,
    pub(super) reader: &'a Arc<PageReader>,
    pub(super) config: &'a Config,
    pub(super) stop: &'a CancellationToken,
    /// `None`: every page is asked for as a whole.
    pub(super) peek: Option<&'a Peek>,
}

/// Finds out which site `typed` is.
pub(super) async fn start(guide: &Guide<'_>, typed: &UrlKey) -> Result<Started, CrawlError> {
    let Guide {
        door, config, stop, ..
    } = *guide;
    let width = config.scope.width;
    let mut notices = Vec::new();
    let mut targets: Vec<UrlKey> = Vec::new();
    let mut rules: HashMap<Origin, Rules> = HashMap::new();
    let mut unread: HashSet<Origin> = HashSet::new();
    let mut hops: Vec<Hop> = Vec::new();
    let mut bytes_in = 0;
    let mut url = typed.clone();
    loop {
        let origin = url.origin();
        let so_far = stand_in(site::settle_so_far(typed, &targets, width), config)?;
        let door = &door.standing_in(so_far.stand_in.clone());
        if !rules.contains_key(&origin) {
            let robots = match read_robots(door, &origin, stop).await {
                Err(CrawlError::Robots { message, .. }) if config.ignore.robots => {
                    notices.push(format!("{message}; that is ignored"));
                    unread.insert(origin.clone());
                    Rules::allow_all()
                }
                read => read?,
            };
            rules.insert(origin.clone(), robots);
        }
        if let Some(robots) = rules.get(&origin)
            && !config.ignore.robots
            && !robots.allows(url.path_and_query())
        {
            // A staging copy that forbids everything is what that is for.
            let advice = config.written_as.as_ref().map_or(
                "nothing may be crawled from there",
                |_| "--ignore robots crawls a staging copy of your own all the same",
            );
            return Err(problem(format!(
                "{url} is disallowed by {origin}/robots.txt for user agent \"{}\"; {advice}",
                door.agent
            )));
        }
        let known = match rules.get(&origin) {
            Some(robots) => guide.known(&so_far, robots, &url).await,
            None => None,
        };
        let (hop, wire_bytes) = guide.ask(door, &url, known).await?;
        bytes_in += wire_bytes;
        let (status, location) = (hop.facts.status, hop.facts.location.clone());
        let is_confirmed = matches!(&hop.manner, Manner::Conditionally(_)) && status == 304;
        hops.push(hop);
        match (status, location) {
            (200, _) => break,
            (304, _) if is_confirmed => break,
            (300..=303 | 307 | 308, Some(target)) => {
                if hops.len() > MAX_HOPS || hops.iter().any(|hop| hop.url == target) {
                    return Err(loops(typed, config));
                }
                check_target(typed, &url, &target, door)?;
                targets.push(target.clone());
                url = target;
            }
            (300..=303 | 307 | 308, None) => {
                return Err(problem(format!(
                    "{url} answered {status} without a usable Location"
                )));
            }
            (status, _) => {
                return Err(problem(format!(
                    "{url} answered {status}; a crawl needs a start page that answers 200"
                )));
            }
        }
    }
    let site = site::settle(typed, &targets, width).map_err(|error| problem(error.to_string()))?;
    let site = stand_in(site, config)?;
    let robots = rules.remove(&site.origin).unwrap_or_else(Rules::allow_all);
    let is_robots_read = !unread.contains(&site.origin);
    Ok(Started {
        site,
        hops,
        robots,
        is_robots_read,
        bytes_in,
        notices,
    })
}

impl Guide<'_> {
    /// What earlier runs know of `url`, should it be the start page of `site`.
    async fn known(&self, site: &Site, robots: &Rules, url: &UrlKey) -> Option<Known> {
        let peek = self.peek?;
        // Settings that do not fit the site are told of when it is known to be the one.
        let scope = Scope::new(site, &self.config.scope).ok()?;
        let read_as = read_as(self.config, site);
        let clock = Arc::clone(&self.door.clock);
        let judge = Judge::new(self.config, scope, robots.clone(), read_as, clock);
        peek.known(site, judge, url).await
    }

    /// Asks for a page on the way through `door`, first whether it is what is `known` of it; how often that
    /// fails, it is asked for as a whole before it is given up. The bytes that came over the wire are counted.
    async fn ask(
        &self,
        door: &Door,
        url: &UrlKey,
        known: Option<Known>,
    ) -> Result<(Hop, u64), CrawlError> {
        let sink = || {
            let parser = PageParser::new(url, &door.identity, self.reader);
            PageSink::new(parser, wanted_of_start(self.config))
        };
        let refused = |refused| refused_start(door, url, refused);
        let Some(Known { facts, validators }) = known else {
            let asked = door.ask(url, self.stop, sink).await;
            return hop_of(door, url, asked.map_err(refused)?, Manner::Whole);
        };
        let asked = door.ask_once_with(url, &validators, self.stop, sink).await;
        let asked = asked.map_err(refused)?;
        let tries = asked.tries;
        let is_passing = signal::is_passing(&asked.result);
        let (result, found) = finish(url, asked);
        let mut wasted_bytes = 0;
        if let Ok((fetched, answer)) = &result {
            let is_open = match answer.status {
                304 => !says_all(answer, &facts),
                // Without the page there is no crawl, so that the question alone must not be what makes it go.
                status => matches!(status, 404 | 410),
            };
            if !is_passing && !is_open && is_answer_to(&validators, url, &result) {
                let hop = Hop {
                    url: url.clone(),
                    facts: PageFacts::clone(answer),
                    found,
                    attempts: tries,
                    manner: Manner::Conditionally(validators),
                    standing: None,
                };
                return Ok((hop, fetched.wire_bytes));
            }
            wasted_bytes = fetched.wire_bytes;
        }
        tracing::debug!(target: "engine", %url, "no answer to a conditional request");
        let asked = door.ask_after(tries, is_passing, url, self.stop, sink);
        let asked = asked.await.map_err(refused)?;
        let manner = match &result {
            failed if is_server_error(failed) => Manner::InVain(Doubt::Failed { answers: 0 }),
            // Nobody knows why it failed.
            _ if is_passing => Manner::Whole,
            Ok(_) | Err(_) => Manner::InVain(Doubt::Refused),
        };
        let (hop, bytes) = hop_of(door, url, asked, manner)?;
        Ok((hop, bytes + wasted_bytes))
    }
}

/// An answer as far as it could be read, and what it is when it is, or may be, no page.
type Read = (FetchedFacts, Option<Found>);

fn finish(url: &UrlKey, answered: Answered<PageSink>) -> Read {
    let Answered {
        result, receiver, ..
    } = answered;
    match result {
        Ok(fetched) => {
            let (facts, found) = receiver.finish(url, &fetched);
            (Ok((fetched, Box::new(facts))), found)
        }
        Err(error) => (Err(error), None),
    }
}

fn hop_of(
    door: &Door,
    url: &UrlKey,
    answered: Answered<PageSink>,
    manner: Manner,
) -> Result<(Hop, u64), CrawlError> {
    if let Some(closed) = door.obey_long_wait(url.host(), answered.signal) {
        return Err(problem(format!("{url} {}", door.closed_text(closed))));
    }
    let attempts = answered.tries;
    let (result, found) = finish(url, answered);
    let (fetched, facts) = result.map_err(|error| CrawlError::Start {
        message: format!("{url} cannot be fetched: {error}"),
        source: None,
    })?;
    let hop = Hop {
        url: url.clone(),
        facts: *facts,
        found,
        attempts,
        manner,
        standing: None,
    };
    Ok((hop, fetched.wire_bytes))
}

/// What of the answers on the way is kept when it is no page.
fn wanted_of_start(config: &Config) -> Wanted {
    if config.discover.sitemaps || config.discover.feeds {
        Wanted::Lists
    } else {
        Wanted::Nothing
    }
}

/// Stops before a host is contacted that is none of the site's.
fn check_target(
    typed: &UrlKey,
    url: &UrlKey,
    target: &UrlKey,
    door: &Door,
) -> Result<(), CrawlError> {
    site::check_hop(typed, target).map_err(|error| problem(error.to_string()))?;
    match &door.identity.stand_in {
        Some(stand_in) if stand_in.spares(&target.origin()) => Err(problem(format!(
            "{url} redirects to {target}: the crawled site stands for {}, where nothing is asked",
            stand_in.original_directory()
        ))),
        Some(_) | None => Ok(()),
    }
}

fn loops(typed: &UrlKey, config: &Config) -> CrawlError {
    let hint = match &config.written_as {
        Some(original) => format!("; redirects to {original} count as redirects to itself"),
        None => String::new(),
    };
    problem(format!(
        "{typed} redirects in a loop, or more than {MAX_HOPS} times{hint}"
    ))
}

/// The site as the settings want it written.
fn stand_in(site: Site, config: &Config) -> Result<Site, CrawlError> {
    match &config.written_as {
        Some(original) => site
            .standing_for(original)
            .map_err(|error| CrawlError::Settings(format!("as: {error}"))),
        None => Ok(site),
    }
}

async fn read_robots(
    door: &Door,
    origin: &Origin,
    stop: &CancellationToken,
) -> Result<Rules, CrawlError> {
    match door.robots(origin, stop).await {
        Robots::Rules(rules) => Ok(rules),
        Robots::Unreachable(why) | Robots::Forbidden(why) => Err(CrawlError::Robots {
            message: format!(
                "robots.txt of {origin} cannot be read, so nothing may be fetched there (RFC 9309): {why}"
            ),
            source: None,
        }),
        Robots::Refused(Refused::Stopping) => Err(CrawlError::Stopped),
        Robots::Refused(Refused::Closed(closed)) => Err(CrawlError::Robots {
            message: format!("{origin} {}", door.closed_text(closed)),
            source: None,
        }),
        Robots::TooSlow(delay) => Err(CrawlError::Robots {
            message: too_slow(origin, delay),
            source: None,
        }),
    }
}

fn refused_start(door: &Door, url: &UrlKey, refused: Refused) -> CrawlError {
    match refused {
        Refused::Stopping => CrawlError::Stopped,
        Refused::Closed(closed) => problem(format!(
            "{url} cannot be fetched: the host {}",
            door.closed_text(closed)
        )),
    }
}

/// What a `Crawl-delay` beyond [`robots::MAX_CRAWL_DELAY`] means.
pub(super) fn too_slow(origin: &Origin, delay: Duration) -> String {
    format!(
        "robots.txt of {origin} asks for one request every {} (Crawl-delay: {}); a crawl waits {} at most between two \
         requests, so nothing is fetched there until robots.txt says less",
        rough_duration(delay),
        delay.as_secs(),
        rough_duration(robots::MAX_CRAWL_DELAY)
    )
}

fn problem(message: String) -> CrawlError {
    CrawlError::Start {
        message,
        source: None,
    }
}
