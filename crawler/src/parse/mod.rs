//! Reading of an answer: bytes, headers and URL become [`crate::page::PageFacts`]. Pure and total: a bad page never fails, it has
//! fewer facts. It never fetches and never judges.
//!
//! ```text
//! head   -> content: is the body wanted?     headers: dates, directives, links
//! chunks -> content: is it HTML at all?      charset: bytes to UTF-8
//!        -> xhtml (XML syntax only)          html: tags to findings, nothing held
//! end    -> links: findings to keys          page_rules: only pages that a rule is meant for
//! ```

mod alternates;
mod charset;
mod content;
mod dates;
mod directives;
mod element;
mod facts;
mod headers;
mod html;
mod images;
mod json_ld;
mod links;
mod main_content;
mod news;
mod open_graph;
mod page_rules;
mod refresh;
mod rendered;
mod srcset;
mod stated;
mod stated_element;
mod text;
mod tree;
mod videos;
mod xhtml;

#[cfg(test)]
mod tests;

pub(crate) use self::rendered::{read_rendered, text_length};

use std::{fmt, sync::Arc, time::Duration};

use encoding_rs::Encoding;
use xxhash_rust::xxh3::Xxh3Default;

use crate::{
    clock::{self, CpuClock},
    config::{Extensions, ParseConfig},
    fetch::{BodySink, BodyWish, Fetched, ResponseHead},
    page::{BodyEnd, BodyKind, PageFacts},
    url_key::{Identity, UrlKey},
};

use self::{
    charset::{Charset, GUESS_BYTES, Utf8Stream, encoding_of_label},
    content::{Class, Markup, SNIFF_BYTES},
    facts::{PageContext, ParsedPage},
    html::HtmlPass,
    page_rules::PageRules,
    xhtml::XhtmlFilter,
};

/// First bytes of a page, whose CPU time is not measured: measuring costs a system call for each piece.
const UNMEASURED_BYTES: u64 = 64 * 1_024;

/// The sink of a page request: parses the body while it streams.
///
/// ```
/// use std::sync::Arc;
///
/// use crawler::{
///     config::ParseConfig,
///     fetch::{BodySink, BodyWish, Fetched, ResponseHead},
///     page::BodyEnd,
///     parse::{PageParser, PageReader},
///     url_key::Identity,
/// };
///
/// let identity = Arc::new(Identity::default());
/// let reader = Arc::new(PageReader::new(&ParseConfig::default())?);
/// let url = identity.parse("https://example.com/docs/")?;
///
/// let mut parser = PageParser::new(&url, &identity, &reader);
/// let headers = [("Content-Type", "text/html")].into_iter().collect();
/// let head = ResponseHead { status: 200, headers };
/// assert_eq!(parser.head(&head), BodyWish::Read);
/// assert_eq!(parser.chunk(b"<a href='intro"), BodyWish::Read);
/// assert_eq!(parser.chunk(b"'>Introduction</a>"), BodyWish::Read);
///
/// let facts = parser.finish(&Fetched { head, end: BodyEnd::Complete, wire_bytes: 32 });
/// assert_eq!(facts.links[0].target.as_str(), "https://example.com/docs/intro");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PageParser {
    url: UrlKey,
    identity: Arc<Identity>,
    reader: Arc<PageReader>,
    stage: Stage,
    kind: BodyKind,
    is_sniffed: bool,
    /// The body, or the rest of it, was not wanted.
    is_refused: bool,
    hash: Xxh3Default,
    body_bytes: u64,
    /// CPU time spent in the tokenizer after the first [`UNMEASURED_BYTES`], on whichever threads the chunks were parsed.
    parse_time: Duration,
}

/// Handling of the next chunk.
enum Stage {
    /// The body is not wanted.
    Unwanted,
    /// The first bytes are kept until it is known how to read them.
    Prefix(Prefix),
    /// The body is parsed.
    Page(Box<PageBody>),
}

/// The first bytes of a body, and their type by the head.
#[derive(Default)]
struct Prefix {
    bytes: Vec<u8>,
    /// `None`: the first bytes decide.
    markup: Option<Markup>,
    /// The type is that of XML.
    is_xml: bool,
    /// By its `Content-Type`.
    encoding: Option<&'static Encoding>,
}

/// A page that is being parsed.
struct PageBody {
    encoding: &'static Encoding,
    text: Utf8Stream,
    filter: Option<XhtmlFilter>,
    pass: HtmlPass,
    /// The text of the page, where it has rules. The request bounds it.
    kept: Option<Vec<u8>>,
}

/// The compiled settings of this module, shared by all pages of a crawl.
#[derive(Debug)]
pub struct PageReader {
    /// Lower case.
    robots_names: Vec<String>,
    /// Lower case.
    document_types: Vec<String>,
    max_links: usize,
    max_link_bytes: usize,
    max_parse_time: Duration,
    cpu_clock: CpuClock,
    rules: PageRules,
    extensions: Extensions,
    /// The text of pages is read as blocks.
    reads_blocks: bool,
}

/// A setting of this module that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{setting}: {problem}")]
pub struct ParseConfigError {
    /// The setting.
    pub setting: String,
    /// The problem and the expected value.
    pub problem: String,
}

impl PageReader {
    /// Compiles `config`.
    ///
    /// # Errors
    /// A selector or a glob cannot be read.
    pub fn new(config: &ParseConfig) -> Result<Self, ParseConfigError> {
        let lower = |words: &[String]| {
            words
                .iter()
                .map(|word| word.trim().to_ascii_lowercase())
                .collect()
        };
        Ok(Self {
            robots_names: lower(&config.robots_names),
            document_types: lower(&config.document_types),
            max_links: config.max_links,
            max_link_bytes: config.max_link_bytes,
            max_parse_time: config.max_parse_time,
            cpu_clock: clock::thread_cpu_time,
            rules: PageRules::new(&config.page_rules)?,
            extensions: Extensions::default(),
            reads_blocks: true,
        })
    }

    /// Makes it collect the facts for `extensions` too.
    #[must_use]
    pub fn with_extensions(self, extensions: Extensions) -> Self {
        Self { extensions, ..self }
    }

    /// Makes it read the blocks of the text of pages, by which pages are compared, or not. Default: it does.
    #[must_use]
    pub fn reading_blocks(self, reads_blocks: bool) -> Self {
        Self {
            reads_blocks,
            ..self
        }
    }

    /// Returns whether directives for a bot of this name are obeyed. Google takes `robot` for `robots`.
    fn obeys(&self, name: &str) -> bool {
        let name = if name.eq_ignore_ascii_case("robot") {
            "robots"
        } else {
            name
        };
        self.robots_names
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    }
}

impl PageParser {
    /// A parser for the answer to a request for `url`.
    pub fn new(url: &UrlKey, identity: &Arc<Identity>, rules: &Arc<PageReader>) -> Self {
        Self {
            url: url.clone(),
            identity: Arc::clone(identity),
            reader: Arc::clone(rules),
            stage: Stage::Unwanted,
            kind: BodyKind::Other,
            is_sniffed: false,
            is_refused: false,
            hash: Xxh3Default::new(),
            body_bytes: 0,
            parse_time: Duration::ZERO,
        }
    }

    /// The facts, once the body has ended.
    pub fn finish(mut self, fetched: &Fetched) -> PageFacts {
        self.end_of_prefix(true);
        let is_complete = fetched.end == BodyEnd::Complete && !self.is_refused;
        let mut facts = PageFacts {
            kind: self.kind,
            end: fetched.end.clone(),
            // How much of a body came before it was refused is an accident of the network.
            body_bytes: if self.is_refused { 0 } else { self.body_bytes },
            body_hash: is_complete.then(|| self.hash.digest128()),
            ..PageFacts::default()
        };
        facts.warnings.sniffed = self.is_sniffed;
        let site = PageContext {
            url: &self.url,
            identity: &self.identity,
            reader: &self.reader,
        };
        let page = match self.stage {
            Stage::Unwanted | Stage::Prefix(_) => None,
            Stage::Page(page) => Some(page.finish()),
        };
        facts::fill(&mut facts, &site, &fetched.head, page);
        if !is_complete {
            // The rest of an incomplete page may have changed.
            facts.content_hash = None;
            facts.text = None;
        }
        facts
    }

    /// Takes the bytes of the prefix, as far as they are missing; returns the others.
    fn take_prefix<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let mut rest = bytes;
        while let Stage::Prefix(prefix) = &mut self.stage {
            let missing = prefix.wanted_bytes() - prefix.bytes.len();
            let (taken, others) = rest.split_at(missing.min(rest.len()));
            prefix.bytes.extend_from_slice(taken);
            rest = others;
            if taken.len() < missing {
                break;
            }
            self.end_of_prefix(false);
        }
        rest
    }

    /// Goes as far as the first bytes allow: decides the type of the body, and begins to parse it.
    fn end_of_prefix(&mut self, is_whole_body: bool) {
        let Stage::Prefix(prefix) = &mut self.stage else {
            return;
        };
        let sniff = if prefix.is_xml {
            content::sniff_xml
        } else {
            content::sniff
        };
        let Some(markup) = prefix.markup.or_else(|| sniff(&prefix.bytes)) else {
            self.stage = Stage::Unwanted;
            return;
        };
        self.kind = BodyKind::Page;
        self.is_sniffed |= prefix.markup.is_none();
        prefix.markup = Some(markup);
        if prefix.wanted_bytes() > prefix.bytes.len() && !is_whole_body {
            return;
        }
        let prefix = std::mem::take(prefix);
        let charset = Charset::determine(&prefix.bytes, prefix.encoding);
        let has_rules = self.reader.rules.concern(&self.url);
        self.stage = Stage::Page(Box::new(PageBody {
            encoding: charset.encoding,
            text: Utf8Stream::new(charset),
            filter: (markup == Markup::Xhtml).then(XhtmlFilter::default),
            pass: HtmlPass::new(&self.reader, &self.url),
            kept: has_rules.then(Vec::new),
        }));
        self.parse(&prefix.bytes);
    }

    /// Parses a piece of the page, unless the page has used up its time. A page whose last piece uses it up was read to its end.
    fn parse(&mut self, bytes: &[u8]) {
        let Stage::Page(page) = &mut self.stage else {
            return;
        };
        if bytes.is_empty() || page.pass.is_stopped() {
            return;
        }
        if self.body_bytes <= UNMEASURED_BYTES {
            page.write(bytes, false);
            return;
        }
        if self.parse_time > self.reader.max_parse_time {
            page.pass.stop();
            return;
        }
        let start = (self.reader.cpu_clock)();
        page.write(bytes, false);
        let used = (self.reader.cpu_clock)().saturating_sub(start);
        self.parse_time = self.parse_time.saturating_add(used);
    }

    fn refuse(&mut self) -> BodyWish {
        self.is_refused = true;
        BodyWish::Stop
    }
}

impl BodySink for PageParser {
    fn head(&mut self, head: &ResponseHead) -> BodyWish {
        if head.status != 200 {
            // Of a redirect or an error only the head counts.
            return self.refuse();
        }
        let media_type = content::declared_type(&head.headers);
        let class = content::classify(media_type.as_ref(), &self.reader.document_types);
        let markup = match class {
            Class::Page(markup) => Some(markup),
            // The server forbids guessing.
            Class::Unknown if headers::forbids_sniffing(&head.headers) => return self.refuse(),
            Class::Unknown | Class::Xml => None,
            Class::Document => {
                self.kind = BodyKind::Document;
                // Nothing to save by refusing nothing: an empty body then shows as one.
                return if headers::announces_empty_body(&head.headers) {
                    BodyWish::Read
                } else {
                    self.refuse()
                };
            }
            Class::Other => return self.refuse(),
        };
        if markup.is_some() {
            self.kind = BodyKind::Page;
        }
        let label = media_type.and_then(|media_type| media_type.charset);
        self.stage = Stage::Prefix(Prefix {
            bytes: Vec::new(),
            markup,
            is_xml: class == Class::Xml,
            encoding: label.as_deref().and_then(encoding_of_label),
        });
        BodyWish::Read
    }

    fn chunk(&mut self, bytes: &[u8]) -> BodyWish {
        self.body_bytes += bytes.len() as u64;
        self.hash.update(bytes);
        let rest = self.take_prefix(bytes);
        match self.stage {
            Stage::Unwanted => self.refuse(),
            Stage::Prefix(_) => BodyWish::Read,
            Stage::Page(_) => {
                self.parse(rest);
                BodyWish::Read
            }
        }
    }
}

impl Prefix {
    /// Number of bytes that are needed to know how to read the body.
    fn wanted_bytes(&self) -> usize {
        match (self.encoding, self.markup) {
            // First find out whether it is a page at all: other bodies are not read further.
            (_, None) | (Some(_), Some(_)) => SNIFF_BYTES,
            (None, Some(_)) => GUESS_BYTES,
        }
    }
}

impl PageBody {
    fn write(&mut self, bytes: &[u8], is_last: bool) {
        let text = self.text.decode(bytes, is_last);
        let text = match &mut self.filter {
            Some(filter) => filter.filter(text, is_last),
            None => text,
        };
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(text);
        }
        self.pass.write(text);
    }

    fn finish(mut self) -> ParsedPage {
        self.write(&[], true);
        ParsedPage {
            findings: self.pass.finish(),
            encoding: self.encoding,
            kept: self.kept,
        }
    }
}

impl fmt::Debug for PageParser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageParser")
            .field("url", &self.url)
            .field("kind", &self.kind)
            .field("body_bytes", &self.body_bytes)
            .finish_non_exhaustive()
    }
}
