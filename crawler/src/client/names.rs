//! Which other spellings of the origin of a site are its names. Each spelling is asked for its robots.txt, for the path of the
//! start page, and for an address that cannot exist, at most. It is a name when one of the two redirects to the same path of
//! the site, when its start page is that of the site to the letter, or when the site asks for https in its place.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{
    gate::{Gate, Robots, Unread, location},
    page_sink::{PageSink, WantedBody},
    signal,
    start::{Guide, Hop},
};
use crate::{
    fetch::ResponseHead,
    page::PageFacts,
    parse::{PageParser, PageReader},
    robots::Rules,
    site::Site,
    url_key::{Identity, Origin, SiteNames, UrlKey},
};

/// The spellings of a site that answered, and whether they are its names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownNames(BTreeMap<String, bool>);

impl KnownNames {
    /// The names of the site.
    pub(crate) fn of(&self, origin: &Origin) -> SiteNames {
        let spellings = origin.spellings().into_iter();
        let names = spellings.filter(|spelling| self.is_name(spelling) == Some(true));
        SiteNames::new(origin, names.collect())
    }

    fn is_name(&self, spelling: &Origin) -> Option<bool> {
        self.0.get(&spelling.to_string()).copied()
    }
}

/// The answer of a spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SpellingAnswer {
    /// The answer redirects to the same path there.
    LeadsTo(Origin),
    /// The answer is the site.
    Same,
    /// The answer is something else.
    Other,
}

/// Asks the spellings of `site`, whose start page is the last of `hops`, as far as they are not known, or all again. A failure
/// changes nothing.
pub(crate) async fn request_spellings(
    guide: &Guide<'_>,
    site: &Site,
    hops: &[Hop],
    known: &KnownNames,
    all: bool,
) -> KnownNames {
    let spellings = site.origin.spellings();
    let mut answers: BTreeMap<Origin, SpellingAnswer> = BTreeMap::new();
    for hop in hops {
        let origin = hop.url.origin();
        if let Some(target) = &hop.facts.location
            && spellings.contains(&origin)
            && let Some(answer) = leads_to(&hop.url, target, site)
        {
            answers.insert(origin, answer);
        }
    }
    let mut questions = Vec::new();
    if let Some(start) = hops.last() {
        for spelling in &spellings {
            let is_upgraded = spelling.host == site.origin.host && &*spelling.scheme == "http";
            if is_upgraded && start.asks_for_https {
                answers.insert(spelling.clone(), SpellingAnswer::Same);
            } else if !answers.contains_key(spelling) && (known.is_name(spelling).is_none() || all)
            {
                questions.push(SpellingQuestion::new(guide, site, start, spelling));
            }
        }
    }
    // There are three at most, on two hosts.
    let mut questions = questions.into_iter();
    let mut next = || answer_of(questions.next());
    let (one, two, three) = tokio::join!(next(), next(), next());
    answers.extend([one, two, three].into_iter().flatten());
    let is_name = |spelling: &Origin| {
        let mut at = spelling;
        for _ in 0..=spellings.len() {
            match answers.get(at) {
                _ if *at == site.origin => return Some(true),
                Some(SpellingAnswer::LeadsTo(target)) => at = target,
                Some(answer) => return Some(*answer == SpellingAnswer::Same),
                None => return known.is_name(at),
            }
        }
        Some(false)
    };
    let names = spellings.iter();
    let names = names.filter_map(|spelling| Some((spelling.to_string(), is_name(spelling)?)));
    KnownNames(names.collect())
}

/// Asks one spelling; no answer: it failed.
async fn answer_of(question: Option<SpellingQuestion>) -> Option<(Origin, SpellingAnswer)> {
    let question = question?;
    let spelling = question.spelling.clone();
    let answer = question.answer().await;
    tracing::debug!(target: "crawl", %spelling, ?answer, "asked a spelling of the site");
    Some((spelling, answer?))
}

/// The answer that a redirect is, when it leads to the same path of the site or of another spelling of it.
fn leads_to(url: &UrlKey, target: &UrlKey, site: &Site) -> Option<SpellingAnswer> {
    let origin = target.origin();
    let is_of_site = origin == site.origin || site.origin.spellings().contains(&origin);
    let is_there = is_of_site && !url.is_on(&origin);
    (is_there && url.path_and_query() == target.path_and_query())
        .then_some(SpellingAnswer::LeadsTo(origin))
}

/// What one spelling is asked.
struct SpellingQuestion {
    gate: Gate,
    /// With which the start page of the spelling is read.
    identity: Arc<Identity>,
    reader: Arc<PageReader>,
    /// The start page of the site, read as that of this spelling is.
    start_page: PageFacts,
    site: Site,
    spelling: Origin,
    ignores_robots: bool,
    stop: CancellationToken,
}

impl SpellingQuestion {
    fn new(guide: &Guide<'_>, site: &Site, start: &Hop, spelling: &Origin) -> Self {
        let gate = guide.gate.standing_in(site.stand_in.clone());
        let identity = Identity {
            names: Some(SiteNames::new(&site.origin, vec![spelling.clone()])),
            ..Identity::clone(&gate.identity)
        };
        Self {
            start_page: start.facts_by(guide, &identity),
            identity: identity.into(),
            reader: Arc::clone(guide.reader),
            gate: gate.aside(),
            site: site.clone(),
            spelling: spelling.clone(),
            ignores_robots: guide.config.ignore.robots,
            stop: guide.stop.clone(),
        }
    }

    /// The answer of the spelling; none: it failed.
    async fn answer(self) -> Option<SpellingAnswer> {
        let Self {
            gate,
            identity,
            reader,
            start_page,
            site,
            spelling,
            ignores_robots,
            stop,
        } = self;
        let rules = match gate.robots(&spelling, &stop).await {
            Robots::Rules(rules) => rules,
            _ if ignores_robots => Rules::allow_all(),
            _ => return None,
        };
        let may_ask = |url: &UrlKey| ignores_robots || rules.allows(url.path_and_query());
        let mut answer = None;
        let url = site.start.at(&spelling).filter(may_ask);
        if let Some(url) = url {
            let parser = || PageParser::new(&site.start, &identity, &reader);
            let sink = || PageSink::new(parser(), WantedBody::Nothing);
            let answered = gate.request(&url, &stop, sink).await.ok()?;
            let fetched = answered.result.ok()?;
            if is_trouble(fetched.head.status) {
                return None;
            }
            if let Some(redirect) = redirect(&url, &fetched.head, &site) {
                return Some(redirect);
            }
            let facts = answered.receiver.finish(&site.start, &fetched).0;
            if is_same(&facts, &start_page) {
                return Some(SpellingAnswer::Same);
            }
            answer = Some(SpellingAnswer::Other);
        }
        // No page has such a name.
        let nowhere = format!(
            "{spelling}/{:016x}",
            UrlKey::fingerprint_of(&spelling.to_string())
        );
        let nowhere = UrlKey::from_normalised(&nowhere).ok().filter(may_ask);
        if let Some(url) = nowhere {
            let answered = gate.request(&url, &stop, || Unread).await.ok()?;
            let fetched = answered.result.ok()?;
            if is_trouble(fetched.head.status) {
                return answer;
            }
            answer = redirect(&url, &fetched.head, &site).or(Some(SpellingAnswer::Other));
        }
        answer
    }
}

/// Returns whether a status is no answer: the server is in trouble.
fn is_trouble(status: u16) -> bool {
    status >= 500 || signal::is_passing_status(status)
}

/// The answer that a redirect of a spelling is.
fn redirect(url: &UrlKey, head: &ResponseHead, site: &Site) -> Option<SpellingAnswer> {
    if !matches!(head.status, 300..=303 | 307 | 308) {
        return None;
    }
    let target = location(&Identity::default().as_written(), url, head)?;
    leads_to(url, &target, site)
}

/// Returns whether two pages are the same to the letter.
fn is_same(one: &PageFacts, other: &PageFacts) -> bool {
    let is_page = one.status == 200 && other.status == 200 && one.content_hash.is_some();
    is_page
        && one.content_hash == other.content_hash
        && one.title == other.title
        && one.links == other.links
}
