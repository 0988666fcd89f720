//! The site's page for URLs that do not exist: two URLs that cannot exist are asked for, once a crawl. When both answer as pages
//! do, the site has no other answer for such URLs, and a third one shows which parts of them differ by chance.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use xxhash_rust::xxh3::xxh3_64;

use super::gate::Gate;
use crate::{
    page::{CrawlId, PageText},
    parse::{PageParser, PageReader},
    store::{MetaValue, json_value, names::CRAWL_NOT_FOUND},
    url_key::UrlKey,
    verdict::Judge,
};

/// The findings of a crawl, as the state has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Probed {
    crawl: CrawlId,
    /// The texts of both pages, when both answered as pages do.
    pub(super) pages: Option<NotFoundPages>,
}

/// The texts of answers to URLs that cannot exist.
pub(super) type NotFoundPages = [PageText; 3];

/// How far the probe is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Probe {
    /// It is to be sent.
    Wanted([UrlKey; 3]),
    /// It is out.
    Out,
    /// It is over, or not wanted.
    Over,
}

impl Probe {
    /// A probe of the site whose start URL is `start`, if its rules allow the URLs.
    pub(super) fn new(start: &UrlKey, judge: &Judge) -> Self {
        let place = judge.place();
        let name = format!("{:016x}", xxh3_64(start.as_str().as_bytes()));
        let url = |path: String| UrlKey::from_normalised(&format!("{place}{path}")).ok();
        let urls = [
            url(format!("arpent-probe-{name}")),
            url(format!("arpent-{name}/probe.html")),
            url(format!("arpent-{name}-probe/")),
        ];
        match urls {
            [Some(first), Some(second), Some(third)]
                if [&first, &second, &third]
                    .into_iter()
                    .all(|url| judge.may_be_asked(url)) =>
            {
                Self::Wanted([first, second, third])
            }
            _ => Self::Over,
        }
    }

    /// The URLs to ask for now, once.
    pub(super) fn begin(&mut self) -> Option<[UrlKey; 3]> {
        match std::mem::replace(self, Self::Over) {
            Self::Wanted(urls) => {
                *self = Self::Out;
                Some(urls)
            }
            other => {
                *self = other;
                None
            }
        }
    }

    /// Returns whether pages wait for it.
    pub(super) fn is_awaited(&self) -> bool {
        *self == Self::Out
    }

    /// Takes its end.
    pub(super) fn end(&mut self) {
        *self = Self::Over;
    }
}

impl Probed {
    /// The findings of the crawl `crawl`.
    pub(super) fn new(crawl: CrawlId, pages: Option<NotFoundPages>) -> Self {
        Self { crawl, pages }
    }

    /// Returns whether it belongs to the crawl `crawl`.
    pub(super) fn is_of(&self, crawl: CrawlId) -> bool {
        self.crawl == crawl
    }

    /// The value that notes it.
    pub(super) fn value(&self) -> MetaValue {
        json_value(CRAWL_NOT_FOUND, self)
    }
}

/// Asks for the URLs; their texts, when all answer as pages do.
pub(super) async fn ask(
    gate: Gate,
    reader: Arc<PageReader>,
    urls: [UrlKey; 3],
    stop: CancellationToken,
) -> Option<NotFoundPages> {
    let [first, second, third] = urls;
    let first = text_of(&gate, &reader, &first, &stop).await?;
    let second = text_of(&gate, &reader, &second, &stop).await?;
    let third = text_of(&gate, &reader, &third, &stop).await?;
    Some([first, second, third])
}

/// The text of a page that answers 200.
async fn text_of(
    gate: &Gate,
    reader: &Arc<PageReader>,
    url: &UrlKey,
    stop: &CancellationToken,
) -> Option<PageText> {
    let sink = || PageParser::new(url, &gate.identity, reader);
    let asked = gate.ask(url, stop, sink).await.ok()?;
    let fetched = asked.result.ok()?;
    let facts = asked.receiver.finish(&fetched);
    facts.text.filter(|_| facts.status == 200).map(|text| *text)
}
