//! From the URL that was typed to the site that is crawled: robots.txt first, then the start URL and
//! its redirects, each hop under the rules of its own origin and under its host's clocks.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use tokio_util::sync::CancellationToken;

use super::{
    CrawlError,
    door::{Answered, Door, Refused, Robots},
    run::page_sink::{Found, PageSink, Wanted},
};
use crate::{
    config::Config,
    page::PageFacts,
    parse::{PageParser, PageReader},
    politeness::Closed,
    robots::Rules,
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

/// Finds out which site `typed` is.
pub(super) async fn start(
    door: &Door,
    reader: &Arc<PageReader>,
    typed: &UrlKey,
    config: &Config,
    stop: &CancellationToken,
) -> Result<Started, CrawlError> {
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
        let door = &door.standing_in(so_far.stand_in);
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
        let sink = || {
            let parser = PageParser::new(&url, &door.identity, reader);
            PageSink::new(parser, wanted_of_start(config))
        };
        let Answered {
            result,
            receiver: sink,
            tries,
        } = door
            .ask(&url, stop, sink)
            .await
            .map_err(|refused| refused_start(&url, refused))?;
        let fetched = result.map_err(|error| CrawlError::Start {
            message: format!("{url} cannot be fetched: {error}"),
            source: None,
        })?;
        bytes_in += fetched.wire_bytes;
        let (facts, found) = sink.finish(&url, &fetched);
        let status = facts.status;
        let location = facts.location.clone();
        hops.push(Hop {
            url: url.clone(),
            facts,
            found,
            attempts: tries,
        });
        match (status, location) {
            (200, _) => break,
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
            message: format!("{origin} {}", closed_text(closed)),
            source: None,
        }),
    }
}

fn refused_start(url: &UrlKey, refused: Refused) -> CrawlError {
    match refused {
        Refused::Stopping => CrawlError::Stopped,
        Refused::Closed(closed) => problem(format!(
            "{url} cannot be fetched: the host {}",
            closed_text(closed)
        )),
    }
}

fn closed_text(closed: Closed) -> &'static str {
    match closed {
        Closed::RetryAfter(_) => {
            "asks not to be contacted for longer than max_retry_after (Retry-After); start again later"
        }
        Closed::Down => "does not answer",
    }
}

fn problem(message: String) -> CrawlError {
    CrawlError::Start {
        message,
        source: None,
    }
}
