//! The receiver of the answer to the request for a page: its parser, and beside it, while the answer may be a sitemap
//! or a feed, the detector that keeps it. A document is not a page, whatever type it is sent as; and a
//! feed that a page links to like any other URL is requested once, whether or not another page names it as its feed,
//! and in whatever order.

use std::{borrow::Cow, io::Read as _};

use sitemap_core::{
    Limits,
    read::{Kind, Problem, Reader, Unpacked},
};

use super::challenge;
use super::download::{DownloadedDocument, Spool};
use crate::{
    fetch::{BodySink, BodyWish, Fetched, ResponseHead},
    page::{BodyEnd, BodyKind, PageFacts},
    parse::PageParser,
    url_key::UrlKey,
};

/// Bytes in which the root element of a document begins, whatever comments are before it.
const SNIFF_BYTES: usize = 4 * 1024;

/// Bytes of a page that is kept to be rendered.
const MAX_KEPT_BYTES: usize = 4 << 20;

/// The types that feeds are sent as.
const FEED_TYPES: [&str; 5] = [
    "application/rss+xml",
    "application/atom+xml",
    "application/rdf+xml",
    "application/xml",
    "text/xml",
];

/// The other types that sitemaps and lists are sent as, and the type that a server sends for unknown files; the last is
/// no type at all.
const LIST_TYPES: [&str; 7] = [
    "application/gzip",
    "application/x-gzip",
    "application/octet-stream",
    "text/plain",
    "text/csv",
    "text/tab-separated-values",
    "",
];

/// The data that is kept of an answer that is not a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedBody {
    /// Nothing; that it is not a page is all that matters.
    Nothing,
    /// A feed.
    Feeds,
    /// A feed, a sitemap, or what may be a list of URLs by its type: something named it as one, or who typed the start URL may mean one.
    Documents,
}

/// An answer that is, or may be, no page.
#[derive(Debug)]
pub(crate) struct Found {
    /// The kind by its first bytes; `None`: its type allows a list.
    pub(crate) kind: Option<Kind>,
    /// The answer, when it is wanted and could be kept.
    pub(crate) document: Option<Box<DownloadedDocument>>,
}

/// See the module.
pub(crate) struct PageSink {
    parser: PageParser,
    /// The parser does not want more, or is not given more.
    is_refused: bool,
    wanted: WantedBody,
    look: Detection,
    /// The page as it came, when it is wanted.
    kept: Option<Vec<u8>>,
}

/// The data on the answer.
enum Detection {
    /// The body is not a document.
    Over,
    /// The first bytes, which leave the kind open.
    Begun { start: Vec<u8>, sent_as: SentAs },
    /// An error page that may be a challenge, as far as it is known.
    ErrorPage(Vec<u8>),
    /// The page is a challenge.
    Challenge,
    /// The document is of this kind, and is kept if that is wanted.
    Found {
        kind: Option<Kind>,
        body: Option<Spool>,
    },
}

/// The kind of an answer by its media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SentAs {
    /// XML, so that what is in front of the root element is read over.
    Xml,
    /// Something that may be a list.
    List,
    /// A page, or nothing: only what begins like a document is one.
    Page,
}

impl PageSink {
    pub(crate) fn new(parser: PageParser, wanted: WantedBody) -> Self {
        Self {
            parser,
            is_refused: false,
            wanted,
            look: Detection::Over,
            kept: None,
        }
    }

    /// Keeps the bytes of a page too, up to [`MAX_KEPT_BYTES`].
    pub(crate) fn keeping_body(self) -> Self {
        Self {
            kept: Some(Vec::new()),
            ..self
        }
    }

    /// The bytes that were kept.
    pub(crate) fn take_body(&mut self) -> Option<Vec<u8>> {
        self.kept.take().filter(|kept| !kept.is_empty())
    }

    /// The facts of the page, and the document that it is instead, or may be.
    pub(crate) fn finish(mut self, url: &UrlKey, fetched: &Fetched) -> (PageFacts, Option<Found>) {
        self.decide(true);
        let is_challenge = match &self.look {
            Detection::Challenge => true,
            Detection::ErrorPage(body) => challenge::is_in_body(body),
            Detection::Over | Detection::Begun { .. } | Detection::Found { .. } => false,
        };
        let found = match self.look {
            Detection::Found { kind, body } => Some(Found {
                kind,
                document: body
                    .map(|body| Box::new(DownloadedDocument::of_page(url, fetched, body))),
            }),
            Detection::Over
            | Detection::Begun { .. }
            | Detection::ErrorPage(_)
            | Detection::Challenge => None,
        };
        let mut facts = if self.is_refused {
            // The rest was read for the document only.
            let end = BodyEnd::Skipped;
            self.parser.finish(&Fetched {
                end,
                ..fetched.clone()
            })
        } else {
            self.parser.finish(fetched)
        };
        let is_document = found.as_ref().is_some_and(|found| found.kind.is_some());
        if is_document && facts.kind == BodyKind::Page {
            facts.kind = BodyKind::Other;
        }
        facts.warnings.challenge = is_challenge;
        (facts, found)
    }

    /// Determines the kind by the first bytes, if they suffice.
    fn decide(&mut self, is_whole: bool) {
        let Detection::Begun { start, sent_as } = &self.look else {
            return;
        };
        let is_enough = is_whole || start.len() >= SNIFF_BYTES;
        let kind = match kind_of(start, *sent_as, is_enough) {
            KindGuess::Nothing => return,
            KindGuess::NoDocument => None,
            KindGuess::Document(kind) => Some(kind),
        };
        self.look = match kind {
            None if *sent_as != SentAs::List => Detection::Over,
            kind => {
                // A document is not parsed as a page.
                self.is_refused |= kind.is_some();
                let mut body = Spool::new();
                let is_kept = self.wanted.takes(kind) && body.chunk(start) == BodyWish::Read;
                Detection::Found {
                    kind,
                    body: is_kept.then_some(body),
                }
            }
        };
    }

    /// Returns whether more is wanted when the parser has what it wants.
    fn wants_more(&self) -> bool {
        matches!(
            &self.look,
            Detection::Begun { .. }
                | Detection::ErrorPage(_)
                | Detection::Found { body: Some(_), .. }
        )
    }

    fn ask_parser(&mut self, ask: impl FnOnce(&mut PageParser) -> BodyWish) -> BodyWish {
        if !self.is_refused {
            self.is_refused = ask(&mut self.parser) == BodyWish::Stop;
        }
        if self.is_refused && !self.wants_more() {
            BodyWish::Stop
        } else {
            BodyWish::Read
        }
    }
}

impl BodySink for PageSink {
    fn head(&mut self, head: &ResponseHead) -> BodyWish {
        let wish = self.ask_parser(|parser| parser.head(head));
        if challenge::may_be(head.status) {
            self.look = if challenge::is_in_head(head) {
                Detection::Challenge
            } else {
                Detection::ErrorPage(Vec::new())
            };
            return match self.look {
                Detection::ErrorPage(_) => BodyWish::Read,
                _ => wish,
            };
        }
        let is_page = wish == BodyWish::Read;
        let sent_as = sent_as(head).filter(|sent_as| match sent_as {
            SentAs::Xml => true,
            SentAs::List => self.wanted == WantedBody::Documents,
            SentAs::Page => false,
        });
        let sent_as = sent_as.or(is_page.then_some(SentAs::Page));
        match sent_as.filter(|_| head.status == 200) {
            Some(sent_as) => {
                let start = Vec::new();
                self.look = Detection::Begun { start, sent_as };
                BodyWish::Read
            }
            None => wish,
        }
    }

    fn chunk(&mut self, bytes: &[u8]) -> BodyWish {
        self.kept = self.kept.take().and_then(|mut kept| {
            let has_room = !self.is_refused && kept.len() + bytes.len() <= MAX_KEPT_BYTES;
            has_room.then(|| {
                kept.extend_from_slice(bytes);
                kept
            })
        });
        match &mut self.look {
            Detection::Over | Detection::Challenge => {}
            Detection::ErrorPage(body) => {
                body.extend_from_slice(bytes);
                if body.len() >= challenge::MAX_BYTES {
                    self.look = if challenge::is_in_body(body) {
                        Detection::Challenge
                    } else {
                        Detection::Over
                    };
                }
            }
            Detection::Begun { start, .. } => {
                start.extend_from_slice(bytes);
                self.decide(false);
            }
            Detection::Found { body, .. } => {
                *body = body
                    .take()
                    .and_then(|mut kept| (kept.chunk(bytes) == BodyWish::Read).then_some(kept));
            }
        }
        self.ask_parser(|parser| parser.chunk(bytes))
    }
}

impl WantedBody {
    fn takes(self, kind: Option<Kind>) -> bool {
        match self {
            Self::Nothing => false,
            Self::Feeds => kind.is_some_and(Kind::is_feed),
            Self::Documents => true,
        }
    }
}

fn sent_as(head: &ResponseHead) -> Option<SentAs> {
    let declared = head.headers.text("content-type").unwrap_or_default();
    let declared = declared.split(';').next().unwrap_or_default().trim();
    let is_one = |types: &[&str]| {
        types
            .iter()
            .any(|known| known.eq_ignore_ascii_case(declared))
    };
    if is_one(&FEED_TYPES) {
        Some(SentAs::Xml)
    } else {
        is_one(&LIST_TYPES).then_some(SentAs::List)
    }
}

/// The kind of a body by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KindGuess {
    /// Nothing yet: more of it has to be known.
    Nothing,
    /// The body is not a document.
    NoDocument,
    /// The document is of this kind.
    Document(Kind),
}

/// The kind of a body that begins like this.
fn kind_of(start: &[u8], sent_as: SentAs, is_enough: bool) -> KindGuess {
    if sent_as == SentAs::Page {
        let Some(text) = plain(start, is_enough) else {
            return KindGuess::Nothing;
        };
        match root_of(&text) {
            Root::Unknown if !is_enough => return KindGuess::Nothing,
            Root::Unknown | Root::None => return KindGuess::NoDocument,
            Root::Element => {}
        }
    }
    // Only an element after the root distinguishes some of them.
    if !is_enough {
        return KindGuess::Nothing;
    }
    match document_kind(start) {
        Some(kind) if kind.is_xml() || sent_as == SentAs::List => KindGuess::Document(kind),
        Some(_) | None => KindGuess::NoDocument,
    }
}

/// The first bytes as ASCII, as far as they can be; `None` when more has to be known.
fn plain(start: &[u8], is_enough: bool) -> Option<Cow<'_, [u8]>> {
    if start.len() < 4 && !is_enough {
        return None;
    }
    let is_packed = start.starts_with(&[0x1f, 0x8b]);
    let is_wide = |start: &[u8]| start.iter().take(4).any(|byte| *byte == 0);
    if !is_packed && !is_wide(start) {
        return Some(Cow::Borrowed(start));
    }
    if !is_enough {
        return None;
    }
    let mut text = Vec::new();
    // It ends where the bytes do, which is not a fault.
    let _cut_off = Unpacked::new(start)
        .take(SNIFF_BYTES as u64)
        .read_to_end(&mut text);
    if is_wide(&text) {
        text.retain(|byte| *byte != 0);
    }
    Some(Cow::Owned(text))
}

/// The beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    /// More has to be known.
    Unknown,
    /// Nothing that begins a document.
    None,
    /// An element that is the root of sitemaps or feeds.
    Element,
}

/// Looks for the root element after what may be in front of it, as browsers do with feeds that are sent as pages
/// ([WHATWG MIME Sniffing](https://mimesniff.spec.whatwg.org/#sniffing-a-mislabeled-feed)). Text in front of it, and a
/// document type of HTML, make a page of it.
fn root_of(text: &[u8]) -> Root {
    const NAMES: [&[u8]; 5] = [b"rss", b"feed", b"rdf", b"urlset", b"sitemapindex"];
    let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
    let mark = marks.into_iter().find_map(|mark| text.strip_prefix(mark));
    let mut text = mark.unwrap_or(text);
    loop {
        text = text.trim_ascii_start();
        let Some(rest) = text.strip_prefix(b"<") else {
            return if text.is_empty() {
                Root::Unknown
            } else {
                Root::None
            };
        };
        let end: &[u8] = match rest {
            [b'?', ..] => b"?>",
            [b'!', b'-', b'-', ..] => b"-->",
            [b'!', ..] if has_subset(rest) => b"]>",
            [b'!', ..] => b">",
            _ => {
                let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
                let Some(end) = rest.iter().position(is_end) else {
                    return Root::Unknown;
                };
                let name = rest[..end].rsplit(|byte| *byte == b':').next();
                let is_known = |name: &[u8]| NAMES.iter().any(|n| n.eq_ignore_ascii_case(name));
                return if name.is_some_and(is_known) {
                    Root::Element
                } else {
                    Root::None
                };
            }
        };
        let Some(at) = memchr::memmem::find(rest, end) else {
            return Root::Unknown;
        };
        let (passed, behind) = rest.split_at(at + end.len());
        if is_html_doctype(passed) {
            return Root::None;
        }
        text = behind;
    }
}

/// Returns whether a declaration has others in it.
fn has_subset(declaration: &[u8]) -> bool {
    let first = declaration.iter().find(|byte| matches!(byte, b'[' | b'>'));
    first == Some(&b'[')
}

fn is_html_doctype(declaration: &[u8]) -> bool {
    let mut words = declaration
        .split(|byte| byte.is_ascii_whitespace() || *byte == b'>')
        .filter(|word| !word.is_empty());
    let mut is_next = |word: &[u8]| {
        words
            .next()
            .is_some_and(|next| next.eq_ignore_ascii_case(word))
    };
    is_next(b"!doctype") && is_next(b"html")
}

/// The namespaces of RSS in RDF: 1.0, and 0.90.
const RDF_FEED_NAMESPACES: [&[u8]; 3] = [
    b"http://purl.org/rss/1.0/",
    b"http://my.netscape.com/rdf/simple/0.9/",
    b"http://channel.netscape.com/rdf/simple/0.9/",
];

/// The document that begins like this. Much else than RSS is written in RDF: that is a feed only if it has a channel,
/// or an item, of RSS.
fn document_kind(start: &[u8]) -> Option<Kind> {
    let mut reader = Reader::new(start, Limits::default());
    reader.next();
    let is_rdf = || {
        let mut findings = reader.findings().iter();
        findings.any(|finding| finding.problem == Problem::Rss10)
    };
    reader
        .kind()
        .filter(|kind| !kind.is_feed() || !is_rdf() || has_rss(start))
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

    fn is_feed(start: &[u8]) -> bool {
        document_kind(start).is_some_and(Kind::is_feed)
    }

    #[test]
    fn a_document_is_known_by_its_beginning() {
        fn check(body: &str, expected: Option<Kind>) {
            let expected = expected.map_or(KindGuess::NoDocument, KindGuess::Document);
            let found = kind_of(body.as_bytes(), SentAs::Page, true);
            assert_eq!(found, expected, "{body}");
            // In whatever pieces it arrives, the early result is the final one.
            for end in 0..body.len() {
                let early = kind_of(&body.as_bytes()[..end], SentAs::Page, false);
                assert!(
                    early == KindGuess::Nothing || early == found,
                    "{body}, {end} bytes"
                );
            }
            let wide: Vec<u8> = body.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let wide = kind_of(&wide, SentAs::Page, true);
            assert_eq!(wide, expected, "in UTF-16: {body}");
        }
        let rss = "<rss version='2.0'><channel></channel></rss>";
        check(rss, Some(Kind::Rss));
        check(
            &format!("<?xml version='1.0'?>\n<!-- <a> -->\n{rss}"),
            Some(Kind::Rss),
        );
        check(
            &format!("<!DOCTYPE rss [ <!ENTITY a 'b'> ]>{rss}"),
            Some(Kind::Rss),
        );
        check("<urlset></urlset>", Some(Kind::UrlSet));
        check(
            "<s:sitemapindex xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'/>",
            Some(Kind::Index),
        );
        check(
            "<feed xmlns='http://www.w3.org/2005/Atom'></feed>",
            Some(Kind::Atom),
        );
        check(&format!("<!doctype html>{rss}"), None);
        check(
            &format!("<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01//EN'>\n{rss}"),
            None,
        );
        check(&format!("Our feed: {rss}"), None);
        check(&format!("<p>{rss}"), None);
        check(&format!("<html><body>{rss}</body></html>"), None);
        check(&format!("<!-- {rss} --><p>x"), None);
        check("<feedback-form></feedback-form>", None);
        check("https://example.com/a\n", None);
        check("", None);
        check("<", None);
    }

    #[test]
    fn only_rdf_with_rss_is_a_feed() {
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
    }
}
