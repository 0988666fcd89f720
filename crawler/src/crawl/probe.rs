//! The site's page for URLs that do not exist: three URLs that cannot exist are asked for, once a crawl. What their answers share, with
//! 200 as with 404, is that page.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    client::gate::Gate,
    fetch::{BodySink, BodyWish, ResponseHead},
    page::{CrawlId, PageText},
    parse::{PageParser, PageReader},
    repeats::Repeats,
    store::{MetaValue, json_value, names::CRAWL_NOT_FOUND},
    url_key::UrlKey,
    verdict::Judge,
};

/// The findings of a crawl, as the state has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Probed {
    crawl: CrawlId,
    /// The texts of the answers, when all have one.
    pages: Option<[PageText; 3]>,
    /// The answers are 200.
    pub(super) are_found: bool,
}

/// The answer to a URL that cannot exist.
#[derive(Debug)]
pub(super) struct NotFound {
    text: PageText,
    /// The answer is 200.
    is_found: bool,
}

/// How far the probe is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Probe {
    /// The probe is to be sent.
    Wanted([UrlKey; 3]),
    /// The probe is out.
    Out,
    /// The probe is over, or not wanted.
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
    pub(super) fn new(crawl: CrawlId, answers: Option<[NotFound; 3]>) -> Self {
        let are_found = |answers: &[NotFound; 3]| answers.iter().all(|answer| answer.is_found);
        Self {
            crawl,
            are_found: answers.as_ref().is_some_and(are_found),
            pages: answers.map(|answers| answers.map(|answer| answer.text)),
        }
    }

    /// Shows the texts to `repeats`.
    pub(super) fn show(self, repeats: &mut Repeats) {
        if let Some(pages) = self.pages {
            repeats.take_not_found(pages, self.are_found);
        }
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

/// Asks for the URLs; their answers, when all have a text.
pub(super) async fn request_probe(
    gate: Gate,
    reader: Arc<PageReader>,
    urls: [UrlKey; 3],
    stop: CancellationToken,
) -> Option<[NotFound; 3]> {
    let [first, second, third] = urls;
    let first = answer_of(&gate, &reader, &first, &stop).await?;
    let second = answer_of(&gate, &reader, &second, &stop).await?;
    let third = answer_of(&gate, &reader, &third, &stop).await?;
    Some([first, second, third])
}

/// The answer of a URL, when it is 200, 404 or 410.
async fn answer_of(
    gate: &Gate,
    reader: &Arc<PageReader>,
    url: &UrlKey,
    stop: &CancellationToken,
) -> Option<NotFound> {
    let sink = || AsPage(PageParser::new(url, &gate.identity, reader));
    let asked = gate.request(url, stop, sink).await.ok()?;
    let mut fetched = asked.result.ok()?;
    let status = std::mem::replace(&mut fetched.head.status, 200);
    let facts = asked.receiver.0.finish(&fetched);
    let text = facts.text.filter(|_| matches!(status, 200 | 404 | 410))?;
    let is_found = status == 200;
    Some(NotFound {
        text: *text,
        is_found,
    })
}

/// Reads the body of an answer as that of a page, whatever its status.
pub(super) struct AsPage(pub(super) PageParser);

impl BodySink for AsPage {
    fn head(&mut self, head: &ResponseHead) -> BodyWish {
        let head = ResponseHead {
            status: 200,
            headers: head.headers.clone(),
        };
        self.0.head(&head)
    }

    fn chunk(&mut self, bytes: &[u8]) -> BodyWish {
        self.0.chunk(bytes)
    }
}
