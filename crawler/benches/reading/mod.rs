//! Made-up pages, and the way from their bytes to facts.

mod pages;

use std::sync::Arc;

use crawler::{
    config::ParseConfig,
    fetch::{BodySink as _, BodyWish, Fetched, ResponseHead},
    page::{BodyEnd, PageFacts},
    parse::{PageParser, PageReader},
    url_key::Identity,
};

pub(crate) use self::pages::{GENERATORS, page};

/// Bytes of a chunk, as they come from the network.
pub(crate) const CHUNK_BYTES: usize = 16 * 1_024;

/// What reads pages.
pub(crate) struct Reader {
    reader: Arc<PageReader>,
    identity: Arc<Identity>,
}

impl Reader {
    /// With the default settings.
    pub(crate) fn new() -> Self {
        Self {
            reader: Arc::new(PageReader::new(&ParseConfig::default()).expect("default settings")),
            identity: Arc::default(),
        }
    }

    /// The facts of a page.
    pub(crate) fn facts(&self, page: &[u8]) -> PageFacts {
        let url = self.identity.parse("https://example.com/docs/parcels.html");
        let mut parser = PageParser::new(&url.expect("a URL"), &self.identity, &self.reader);
        let headers = [("Content-Type", "text/html")].into_iter().collect();
        let head = ResponseHead {
            status: 200,
            headers,
        };
        let mut wish = parser.head(&head);
        for chunk in page.chunks(CHUNK_BYTES) {
            assert_eq!(wish, BodyWish::Read);
            wish = parser.chunk(chunk);
        }
        parser.finish(&Fetched {
            head,
            end: BodyEnd::Complete,
            wire_bytes: page.len() as u64,
        })
    }
}
