//! What receives the answer to the request for a page: its parser, and beside it, while the answer may be a
//! feed, what keeps it. So a feed that a page links to like any other URL is asked for once, whether or not
//! another page names it as its feed, and in whatever order.

use sitemap_core::{
    Limits,
    read::{Kind, Problem, Reader},
};

use crate::{
    engine::download::{Document, Spool},
    fetch::{BodySink, BodyWish, Fetched, ResponseHead},
    page::{BodyEnd, PageFacts},
    parse::PageParser,
    url_key::UrlKey,
};

/// Bytes in which the root element of a feed begins, whatever comments stand before it.
const SNIFF_BYTES: usize = 4 * 1024;

/// The types that feeds are sent as.
const FEED_TYPES: [&str; 5] = [
    "application/rss+xml",
    "application/atom+xml",
    "application/rdf+xml",
    "application/xml",
    "text/xml",
];

/// See the module.
pub(super) struct PageSink {
    parser: PageParser,
    /// The parser does not want more.
    is_refused: bool,
    /// Feeds are wanted.
    wants_feed: bool,
    feed: Option<MaybeFeed>,
}

/// An answer that may be a feed.
struct MaybeFeed {
    start: Vec<u8>,
    is_feed: bool,
    body: Spool,
}

impl PageSink {
    pub(super) fn new(parser: PageParser, wants_feed: bool) -> Self {
        Self {
            parser,
            is_refused: false,
            wants_feed,
            feed: None,
        }
    }

    /// What the page says, and the feed that it is, if it is one.
    pub(super) fn finish(
        self,
        url: &UrlKey,
        fetched: &Fetched,
    ) -> (PageFacts, Option<Box<Document>>) {
        let feed = self
            .feed
            .filter(|feed| feed.is_feed || is_feed(&feed.start));
        let feed = feed.map(|feed| Box::new(Document::of_page(url, fetched, feed.body)));
        let facts = if self.is_refused {
            // The rest was read for the feed only.
            let end = BodyEnd::Skipped;
            self.parser.finish(&Fetched {
                end,
                ..fetched.clone()
            })
        } else {
            self.parser.finish(fetched)
        };
        (facts, feed)
    }

    fn ask_parser(&mut self, ask: impl FnOnce(&mut PageParser) -> BodyWish) -> BodyWish {
        if !self.is_refused {
            self.is_refused = ask(&mut self.parser) == BodyWish::Stop;
        }
        if self.is_refused && self.feed.is_none() {
            BodyWish::Stop
        } else {
            BodyWish::Read
        }
    }
}

impl BodySink for PageSink {
    fn head(&mut self, head: &ResponseHead) -> BodyWish {
        if self.wants_feed && head.status == 200 && may_be_feed(head) {
            self.feed = Some(MaybeFeed {
                start: Vec::new(),
                is_feed: false,
                body: Spool::new(),
            });
        }
        self.ask_parser(|parser| parser.head(head))
    }

    fn chunk(&mut self, bytes: &[u8]) -> BodyWish {
        self.feed = self.feed.take().and_then(|feed| feed.with(bytes));
        self.ask_parser(|parser| parser.chunk(bytes))
    }
}

impl MaybeFeed {
    /// The same with more of the body; `None` when it is no feed, or cannot be kept.
    fn with(mut self, bytes: &[u8]) -> Option<Self> {
        if !self.is_feed {
            let missing = SNIFF_BYTES - self.start.len();
            self.start.extend(bytes.iter().take(missing));
            if self.start.len() == SNIFF_BYTES {
                if !is_feed(&self.start) {
                    return None;
                }
                (self.is_feed, self.start) = (true, Vec::new());
            }
        }
        (self.body.chunk(bytes) == BodyWish::Read).then_some(self)
    }
}

fn may_be_feed(head: &ResponseHead) -> bool {
    let declared = head.headers.text("content-type").unwrap_or_default();
    let declared = declared.split(';').next().unwrap_or_default().trim();
    FEED_TYPES
        .iter()
        .any(|known| known.eq_ignore_ascii_case(declared))
}

/// The namespaces of RSS in RDF: 1.0, and 0.90.
const RDF_FEED_NAMESPACES: [&[u8]; 3] = [
    b"http://purl.org/rss/1.0/",
    b"http://my.netscape.com/rdf/simple/0.9/",
    b"http://channel.netscape.com/rdf/simple/0.9/",
];

/// Whether a body that begins like this is an RSS or Atom feed. Much else is written in RDF: that is a feed only
/// if it has a channel, or an item, of RSS.
fn is_feed(start: &[u8]) -> bool {
    let mut reader = Reader::new(start, Limits::default());
    reader.next();
    let is_rdf = || {
        let mut findings = reader.findings().iter();
        findings.any(|finding| finding.problem == Problem::Rss10)
    };
    reader.kind().is_some_and(Kind::is_feed) && (!is_rdf() || has_rss(start))
}

fn has_rss(start: &[u8]) -> bool {
    // In UTF-16, every other byte of this is zero.
    let text: Vec<u8> = start.iter().copied().filter(|byte| *byte != 0).collect();
    let has = |wanted: &[u8]| text.windows(wanted.len()).any(|found| found == wanted);
    let is_element = |name: &[u8]| {
        let named = text
            .windows(name.len() + 1)
            .zip(text.iter().skip(name.len() + 1));
        let mut named = named.filter(|(found, _)| found.ends_with(name));
        named.any(|(found, behind)| {
            matches!(found[0], b'<' | b':') && (behind.is_ascii_whitespace() || *behind == b'>')
        })
    };
    RDF_FEED_NAMESPACES.into_iter().any(has)
        && [&b"channel"[..], b"item"].into_iter().any(is_element)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_rss_in_it_is_a_feed() {
        fn check(body: &str, expected: bool) {
            assert_eq!(is_feed(body.as_bytes()), expected, "{body}");
            let wide: Vec<u8> = body.encode_utf16().flat_map(u16::to_le_bytes).collect();
            assert_eq!(is_feed(&wide), expected, "in UTF-16: {body}");
        }
        let rdf = |namespace: &str, content: &str| {
            format!(
                "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"{namespace}\">{content}</rdf:RDF>"
            )
        };
        let rss = "http://purl.org/rss/1.0/";
        check("<rss version=\"2.0\"><channel/></rss>", true);
        check("<feed xmlns=\"http://www.w3.org/2005/Atom\"></feed>", true);
        check(
            &rdf(rss, "<channel rdf:about=\"/\"><link>/</link></channel>"),
            true,
        );
        check(&rdf(rss, "<item><link>/</link></item>"), true);
        check(
            &rdf(
                "http://my.netscape.com/rdf/simple/0.9/",
                "<channel>x</channel>",
            ),
            true,
        );
        check(&rdf(rss, "<Person>x</Person>"), false);
        check(
            &rdf(
                "http://xmlns.com/foaf/0.1/",
                "<Person><channel>x</channel></Person>",
            ),
            false,
        );
        check("<urlset></urlset>", false);
        check("<html></html>", false);
    }
}
