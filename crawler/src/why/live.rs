//! The current answer of a URL: it is requested as in a crawl, with its redirects, and judged by the same rules. Blocks while it
//! waits for answers; a URL that a crawl would not request is not requested.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    Question, RobotsLine, UrlExplanation, UrlRows, WhyError, directives, robots_line, target_of,
};
use crate::{
    check::{Network, Stopped},
    client::DownloadError,
    crawl_state,
    fetch::Headers,
    human,
    page::{Canonical, ContentHash, Mark, Outcome, PageFacts, PageRecord, Reason, with_code},
    url_key::UrlKey,
    verdict::{Judge, MAX_HOPS},
};

/// Headers that decide, or that explain what was decided.
const HEADERS: [&str; 8] = [
    "content-type",
    "etag",
    "last-modified",
    "link",
    "location",
    "refresh",
    "retry-after",
    "x-robots-tag",
];

/// The longest value of a header that is shown, in characters.
const MAX_VALUE: usize = 500;

/// The current answer of a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiveStory {
    /// The requests: the URL, then its redirects.
    pub hops: Vec<LiveHop>,
    /// The reason why the last URL of the chain was not requested.
    pub not_requested: Option<String>,
    /// The rule of robots.txt as it is now; `None`: it was not read.
    pub robots: Option<RobotsLine>,
    /// The state that a crawl would give the URL now.
    pub state: &'static str,
    /// The code of its reason.
    pub reason: &'static str,
    /// Why, in one sentence.
    pub why: String,
    /// The content of the page is another than at the last answer that counts; `None`: one of the two is not known.
    pub is_content_changed: Option<bool>,
    /// How the verdict differs from that of the state.
    pub differs: Option<String>,
}

/// A request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LiveHop {
    /// The URL.
    pub url: String,
    /// HTTP status; `None`: no answer came.
    pub status: Option<u16>,
    /// Why there was no answer.
    pub error: Option<String>,
    /// The headers that decide, by their names in lower case; several values of one are joined by a comma.
    pub headers: BTreeMap<&'static str, String>,
    /// Title of the page.
    pub title: Option<String>,
    /// The directives for robots in the page and its headers.
    pub directives: Vec<&'static str>,
    /// The canonical URL of the page, where that is another one.
    pub canonical: Option<String>,
    /// The code of the reason by this answer alone.
    pub reason: &'static str,
}

/// The answers so far.
struct LiveAnswers {
    hops: Vec<LiveHop>,
    /// The verdict on the first URL.
    reason: Option<Reason>,
    content: Option<ContentHash>,
    not_requested: Option<String>,
}

impl Question<'_> {
    /// Asks for the URL of an explanation, and adds what it answers.
    ///
    /// # Errors
    /// The state cannot be read, a setting cannot be used, or the work was stopped.
    pub fn request_live(
        &self,
        url: &UrlKey,
        network: &mut Network<'_>,
        explanation: &mut UrlExplanation,
    ) -> Result<(), WhyError> {
        let rows = UrlRows::read(self.store, url)?;
        let record = rows.record();
        let known = crawl_state::rules_at_rest(self.store)?;
        let judge = known.judge(self.config, self.site, self.clock)?;
        let downloader = (network.connect)(&self.site.origin)?.with_identity(&self.config.identity);
        let downloader = if self.config.ignore.robots {
            downloader.ignoring_robots_of(&self.site.origin)
        } else {
            downloader
        };
        let shutdown = network.shutdown.clone();
        let rules = network.wait(downloader.robots(&self.site.origin, &shutdown));
        let rules = rules.map_err(|Stopped| WhyError::Stopped)?;
        let mut asked = LiveAnswers {
            hops: Vec::new(),
            reason: None,
            content: None,
            not_requested: None,
        };
        let mut robots = None;
        match rules {
            Err(error) => {
                asked.not_requested = Some(error.to_string());
            }
            Ok(rules) => {
                robots = Some(robots_line(Some(&rules), url));
                let judge = judge.with_robots((*rules).clone());
                let mut ask = |url: &UrlKey| {
                    let answer = downloader.page_with_headers(url, &network.reader, &shutdown);
                    network.wait(answer)
                };
                asked.follow(url, &judge, &mut ask)?;
            }
        }
        explanation.live = Some(asked.story(robots, record));
        Ok(())
    }
}

/// The answer to a request.
type LiveAnswer = Result<Result<(PageFacts, Headers), DownloadError>, Stopped>;

impl LiveAnswers {
    /// Asks for a URL, and for where it leads.
    fn follow(
        &mut self,
        url: &UrlKey,
        judge: &Judge,
        ask: &mut dyn FnMut(&UrlKey) -> LiveAnswer,
    ) -> Result<(), WhyError> {
        let mut next = Some(url.clone());
        let mut sets_cookie = false;
        while let Some(url) = next.take() {
            let before = judge.before_fetch(&url, 0);
            if before != Some(Reason::Queued) {
                let why = before.map_or("this URL is outside of the crawl", Reason::text);
                self.not_requested = Some(format!("{url}: {why}"));
                self.reason = self.reason.or(before).or(Some(Reason::ExcludedByRule));
                break;
            }
            let mut hop = LiveHop {
                url: url.to_string(),
                ..LiveHop::default()
            };
            let (reason, facts) = match ask(&url).map_err(|Stopped| WhyError::Stopped)? {
                Ok((facts, headers)) => {
                    hop.add_answer(&facts, &headers);
                    let outcome = Outcome::Answered(Box::new(facts));
                    let reason = judge.after_fetch(&url, &outcome).reason;
                    let Outcome::Answered(facts) = outcome else {
                        break;
                    };
                    (reason, Some(facts))
                }
                Err(error) => {
                    hop.error = Some(error.to_string());
                    (reason_of(&error), None)
                }
            };
            hop.reason = reason.code();
            self.hops.push(hop);
            self.reason = self.reason.or(Some(reason));
            if self.hops.len() == 1 {
                self.content = facts.as_ref().and_then(|facts| facts.content_hash);
            }
            sets_cookie |= (facts.as_ref()).is_some_and(|facts| facts.warnings.sets_cookie);
            let target = facts.as_deref().and_then(target_of);
            let Some(target) = target else { break };
            if self.hops.iter().any(|hop| hop.url == target.as_str()) {
                self.reason = Some(if sets_cookie {
                    Reason::NeedsCookie
                } else {
                    Reason::RedirectLoop
                });
            } else if self.hops.len() > MAX_HOPS {
                self.reason = Some(Reason::TooManyRedirects);
            } else {
                next = Some(target.clone());
            }
        }
        Ok(())
    }

    fn story(self, robots: Option<RobotsLine>, record: Option<&PageRecord>) -> LiveStory {
        let reason = self.reason.unwrap_or(Reason::Queued);
        let known = record.and_then(PageRecord::facts);
        let known = known.and_then(|facts| facts.content_hash);
        LiveStory {
            hops: self.hops,
            not_requested: self.not_requested,
            robots,
            state: reason.state().as_str(),
            reason: reason.code(),
            why: reason.text().to_owned(),
            is_content_changed: known.zip(self.content).map(|(then, now)| then != now),
            differs: self.reason.and_then(|now| difference(record, now)),
        }
    }
}

impl LiveHop {
    fn add_answer(&mut self, facts: &PageFacts, headers: &Headers) {
        self.status = Some(facts.status);
        for name in HEADERS {
            let values = headers.all(name).map(String::from_utf8_lossy);
            let values: Vec<_> = values.collect();
            if !values.is_empty() {
                let value = values.join(", ").chars().take(MAX_VALUE).collect();
                self.headers.insert(name, value);
            }
        }
        self.title.clone_from(&facts.title);
        self.directives = directives(facts);
        self.canonical = match &facts.canonical {
            Canonical::Other(other) => Some(other.to_string()),
            Canonical::Absent | Canonical::Itself | Canonical::Conflicting => None,
        };
    }
}

/// The reason of a URL that has no answer.
fn reason_of(error: &DownloadError) -> Reason {
    match error {
        DownloadError::Disallowed(_) => Reason::RobotsDisallowed,
        DownloadError::Redirects { .. } => Reason::BadRedirect,
        DownloadError::RobotsUnreachable { .. }
        | DownloadError::Forbidden { .. }
        | DownloadError::TooManyHosts { .. }
        | DownloadError::NoAnswer { .. }
        | DownloadError::Closed { .. }
        | DownloadError::Settings(_)
        | DownloadError::Stopped
        | DownloadError::Spool(_) => Reason::NetworkError,
    }
}

/// How a verdict by answers alone differs from that of the state.
fn difference(record: Option<&PageRecord>, now: Reason) -> Option<String> {
    let found = match now {
        Reason::Listed => now.code().to_owned(),
        _ => with_code(now.text(), now.code()),
    };
    let Some(record) = record else {
        return Some(format!(
            "no crawl found this URL; a crawl that requests it finds {found}"
        ));
    };
    let then = record.reason;
    // Other pages may make something else of the reason by this answer alone.
    let is_open = matches!(now, Reason::Listed | Reason::CanonicalElsewhere);
    if then == now || then.has(Mark::NeedsOtherPages) && is_open {
        return None;
    }
    let since = record
        .fetched_at
        .map(|time| format!(" of {}", human::minute(time)));
    let since = since.unwrap_or_default();
    Some(format!(
        "the state has the answer{since}, {}; by this answer alone it is {found}",
        then.code()
    ))
}
