//! [`Reader`]: the entries of a file, one by one, and the findings beside them.
//!
//! It decides by the first character whether the file is markup or text, drives the XML parser over the bounded input and hands each
//! event to [`Document`], or the input itself to [`TextFile`].

use std::{
    collections::HashMap,
    fmt,
    io::{self, BufRead},
    str,
    sync::Arc,
};

use quick_xml::{
    Error as XmlError, Reader as XmlReader,
    errors::IllFormedError,
    events::{BytesStart, Event},
    name::{Namespace, NamespaceResolver, ResolveResult},
};

use super::{
    Excerpt, Item, Kind, Position, Problem, ReadError, ReadFinding,
    document::Document,
    halt::Halt,
    input::Input,
    progress::quoted,
    start_tag::StartTag,
    syntax::{self, is_white_space},
    text::TextFile,
};
use crate::{Limits, Loc, extension::CustomNamespace};

/// Reads the entries of a sitemap of any kind: urlset, index, list of URLs, RSS or Atom feed, compressed or not, in any encoding.
///
/// The bytes decide the kind of file: gzip by its first two, markup by a `<` as the first character that is not blank, the kind of
/// markup by its root element. Names and media types are ignored.
///
/// Reading is lenient: an unusable entry is a [`ReadError::Entry`], and the next ones follow. Problems of usable entries are in
/// [`findings`](Self::findings). Only a [fatal](ReadError::is_fatal) error ends the reading early; the entries before it count.
///
/// ```
/// use sitemap_core::{Limits, read::{Item, Reader}};
///
/// let file = br#"<?xml version="1.0" encoding="UTF-8"?>
/// <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
/// <url><loc>https://example.com/?a=1&amp;b=2</loc><lastmod>yesterday</lastmod></url>
/// </urlset>"#;
/// let mut reader = Reader::new(&file[..], Limits::default());
/// let Some(Item::Url(entry)) = reader.next().transpose()? else { panic!("a page") };
/// assert_eq!(entry.loc.as_str(), "https://example.com/?a=1&b=2");
/// assert_eq!(entry.lastmod, None);
/// assert_eq!(reader.findings()[0].rule().to_string(), "R13");
/// assert!(reader.next().is_none());
/// # Ok::<(), sitemap_core::read::ReadError>(())
/// ```
pub struct Reader<R: BufRead> {
    /// The parser; the input in it is read directly as long as the file is not known to be markup.
    xml: XmlReader<Input<R>>,
    syntax: Syntax,
    namespaces: NamespaceResolver,
    /// Number of open elements to close before the next token is read.
    closing: usize,
    /// The memory for one token, used again for each.
    token: Vec<u8>,
    document: Document,
    /// The failure that ends the reading after the last entry, which is returned first.
    failure: Option<ReadError>,
}

/// Result of inspecting the first bytes of a file as [`Reader`] does: after warnings of a program, in UTF-16 without a byte order
/// mark, after blank lines.
///
/// It is for those who take other lists as well and have to know whether a file is for a [`Reader`].
///
/// ```
/// use sitemap_core::read::Start;
///
/// let sitemap = b"Warning: undefined index\n<?xml version='1.0'?><urlset/>";
/// assert!(Start::of(sitemap).is_some_and(|start| start.is_markup));
/// let list: Vec<u8> = "https://example.com/".encode_utf16().flat_map(u16::to_be_bytes).collect();
/// assert_eq!(Start::of(&list).and_then(|start| start.encoding), Some("UTF-16BE"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Start {
    /// Markup of any kind begins here.
    pub is_markup: bool,
    /// The [name](https://encoding.spec.whatwg.org/#names-and-labels) of the encoding, if it is not UTF-8.
    pub encoding: Option<&'static str>,
}

impl Start {
    /// Inspects the first bytes of a file, decompressed, up to 8 KiB. `None`: it is in UTF-32, which is not supported, or is a
    /// zip archive.
    pub fn of(head: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(head, Limits::default());
        let (first, _) = reader.skip_blanks().ok()?;
        Some(Self {
            is_markup: first == Some('<'),
            encoding: reader.xml.get_ref().encoding().encoding,
        })
    }
}

/// Syntax of the file.
enum Syntax {
    /// Nothing was read yet.
    Unknown,
    Markup,
    Text(Box<TextFile>),
}

impl<R: BufRead> Reader<R> {
    /// A reader that stops after so many entries and decompressed bytes, with [`ReadError::File`]. Nothing is read yet.
    ///
    /// Limits above those of the protocol are for files that break them and shall be read nevertheless.
    pub fn new(input: R, limits: Limits) -> Self {
        Self {
            xml: parser(Input::new(input, limits.bytes)),
            syntax: Syntax::Unknown,
            namespaces: NamespaceResolver::default(),
            closing: 0,
            token: Vec::new(),
            document: Document::new(limits.entries),
            failure: None,
        }
    }

    /// The same reader for a file that is at `location`: relative links of a feed are resolved against it.
    ///
    /// Without it only those can be resolved that are below an absolute `xml:base`; the other entries are left out.
    ///
    /// ```
    /// use sitemap_core::{Limits, Loc, read::{Item, Reader}};
    ///
    /// let feed = b"<rss version='2.0'><channel><item><link>/news/1</link></item></channel></rss>";
    /// let place = Loc::parse("https://example.com/feed.xml")?;
    /// let mut reader = Reader::new(&feed[..], Limits::default()).at(&place);
    /// let Some(Item::Url(entry)) = reader.next().transpose()? else { panic!("a page") };
    /// assert_eq!(entry.loc.as_str(), "https://example.com/news/1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn at(mut self, location: &Loc) -> Self {
        self.document.feed.location = Some(location.clone());
        self
    }

    /// The same reader, which keeps the end of what it has read for [`excerpt`](Self::excerpt): about 128 KiB.
    #[must_use]
    pub fn keeping_text(mut self) -> Self {
        self.xml.get_mut().keep_text();
        self
    }

    /// The line around a place, for people to see; `None` when it is no longer in memory, or when the reader does not
    /// [keep](Self::keeping_text) what it reads.
    pub fn excerpt(&mut self, position: Position) -> Option<Excerpt> {
        self.xml.get_mut().excerpt(position)
    }

    /// The position up to which the file was read.
    pub fn read_position(&self) -> Position {
        self.xml.get_ref().position()
    }

    /// The same reader that also yields the elements of these namespaces, as
    /// [`custom_elements`](crate::extension::Extensions::custom_elements), instead of skipping them.
    #[must_use]
    pub fn with_custom_namespaces(mut self, namespaces: &[CustomNamespace]) -> Self {
        self.document.origins.custom = namespaces.to_vec();
        self
    }

    /// Kind of the file, by its first root element; known once the first entry was read.
    pub fn kind(&self) -> Option<Kind> {
        self.document.progress.kind
    }

    /// Start of the entry that was yielded last.
    pub fn entry_position(&self) -> Position {
        self.document.entry_position()
    }

    /// Start of its URL: the tag, or the line.
    pub fn loc_position(&self) -> Position {
        self.document.loc_position()
    }

    /// Start of its date; start of the entry if it has none, or in a feed.
    pub fn lastmod_position(&self) -> Position {
        self.document.lastmod_position()
    }

    /// The entries met so far, with those that were left out.
    pub fn entries(&self) -> u64 {
        self.document.progress.entries
    }

    /// Number of elements of unknown and of retired namespaces that were skipped so far. Only the first of its kind is a finding;
    /// in a feed, where they are usual, they are not reported.
    pub fn extension_elements(&self) -> u64 {
        self.document.progress.extension_elements
    }

    /// The bytes read so far, after decompression and in UTF-8; at the end, the size of the file.
    pub fn bytes(&self) -> u64 {
        self.xml.get_ref().position().offset
    }

    /// Problems so far that did not end the reading, in the order of the file; at most [`MAX_FINDINGS`](super::MAX_FINDINGS).
    pub fn findings(&self) -> &[ReadFinding] {
        &self.document.progress.findings
    }

    /// Hands the findings over and frees their space.
    pub fn take_findings(&mut self) -> Vec<ReadFinding> {
        std::mem::take(&mut self.document.progress.findings)
    }

    /// Number of findings above the limit.
    pub fn findings_not_kept(&self) -> u64 {
        self.document.progress.findings_not_kept
    }

    /// The next entry; `None` in its place as soon as the list of findings is full, so that no finding is lost.
    pub(crate) fn next_or_findings(
        &mut self,
        max_findings: usize,
    ) -> Option<Result<Option<Item>, ReadError>> {
        while !self.document.progress.is_done {
            match self.step() {
                Ok(None) if self.document.progress.findings.len() < max_findings => {}
                Ok(item) => return Some(Ok(item)),
                Err(error) => {
                    if error.is_fatal() {
                        self.document.progress.is_done = true;
                    }
                    return Some(Err(error));
                }
            }
        }
        None
    }

    /// Reads one token or one line.
    fn step(&mut self) -> Result<Option<Item>, ReadError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        match self.syntax {
            Syntax::Unknown => self.begin().map(|()| None),
            Syntax::Markup if self.closing > 0 => self.close(),
            Syntax::Markup => self.read_token(),
            Syntax::Text(_) => self.read_line(),
        }
    }

    /// Decides the syntax of the file.
    fn begin(&mut self) -> Result<(), ReadError> {
        let first = self.skip_blanks();
        let input = self.xml.get_mut();
        let found = input.encoding();
        let start = Position {
            line: Position::START.line + found.garbage_lines,
            offset: found.skipped_bytes(),
        };
        let encoding = found.encoding;
        let declared = found.declared.clone();
        let has_garbage = found.garbage_bytes > 0;
        let mut notes = Vec::new();
        if found.has_byte_order_mark {
            notes.push((Problem::ByteOrderMark, Position::START));
        }
        if let Some(found) = encoding {
            let declared = declared.map(|name| quoted(&name));
            notes.push((Problem::Encoding { declared, found }, Position::START));
        }
        if input.is_compressed_twice() {
            notes.push((Problem::NestedGzip, Position::START));
        }
        if has_garbage {
            notes.push((Problem::BeforeDeclaration, start));
        }
        if let Ok((Some(first), _)) = first
            && first != '<'
        {
            let text = TextFile::new(notes, start, input.position());
            self.syntax = Syntax::Text(Box::new(text));
            return Ok(());
        }
        self.document.begin(start, input.position(), encoding);
        for (problem, position) in notes {
            self.document.progress.note_at(problem, position);
        }
        match first {
            Ok((Some(_), is_white_space_of_xml)) => {
                if !is_white_space_of_xml {
                    self.document.note_if_outside();
                }
                self.syntax = Syntax::Markup;
                Ok(())
            }
            Ok((None, _)) => Err(self.document.progress.fatal(Problem::Blank)),
            Err(error) => Err(self.input_failure(&Arc::new(error))),
        }
    }

    /// Goes to the first character that is not blank, and returns it and whether only white space of XML is before it.
    fn skip_blanks(&mut self) -> io::Result<(Option<char>, bool)> {
        let input = self.xml.get_mut();
        let mut are_of_xml = true;
        loop {
            input.begin_token();
            let available = match input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            // There are whole characters in it.
            let text = str::from_utf8(available).unwrap_or_default();
            if text.is_empty() {
                return Ok((None, are_of_xml));
            }
            let rest = text.trim_start_matches(|first: char| {
                first.is_whitespace() || first == ZERO_WIDTH_NO_BREAK_SPACE
            });
            let (first, blank_bytes) = (rest.chars().next(), text.len() - rest.len());
            are_of_xml &= text[..blank_bytes].bytes().all(is_white_space);
            input.consume(blank_bytes);
            if first.is_some() {
                return Ok((first, are_of_xml));
            }
        }
    }

    fn read_line(&mut self) -> Result<Option<Item>, ReadError> {
        let Syntax::Text(lines) = &mut self.syntax else {
            return Ok(None);
        };
        if !lines.is_ready() {
            lines.read(self.xml.get_mut(), &mut self.document.progress);
        }
        match lines.take_failure(&mut self.document.progress) {
            None => lines.next_item(&mut self.document.progress, &mut self.document.draft),
            Some(error) => Err(self.input_failure(&Arc::new(error))),
        }
    }

    fn read_token(&mut self) -> Result<Option<Item>, ReadError> {
        let mut token = std::mem::take(&mut self.token);
        token.clear();
        self.xml.get_mut().begin_token();
        self.document.progress.position = self.xml.get_ref().position();
        let outcome = match self.xml.read_event_into(&mut token) {
            Ok(event) => self.accept(event),
            Err(error) => self.failure(&error),
        };
        self.token = token;
        outcome
    }

    fn accept(&mut self, event: Event<'_>) -> Result<Option<Item>, ReadError> {
        let document = &mut self.document;
        if let Some(position) = self.xml.get_mut().take_forbidden_character() {
            document
                .progress
                .note_at(Problem::ForbiddenCharacter, position);
        }
        if self.xml.get_mut().take_malformed() {
            document.malformed_bytes();
        }
        match event {
            Event::Start(start) => return self.open(&start),
            Event::End(end) => {
                self.closing = document.stack.closed_by(end.name().into_inner());
                match self.closing {
                    0 => {
                        let what = "end tag of an element that is not open";
                        document.progress.note_ill_formed(what);
                    }
                    1 => {}
                    _ => {
                        let what = "end tag of another element than the last one that was opened";
                        document.progress.note_ill_formed(what);
                        self.begin_parser_again();
                    }
                }
            }
            Event::Empty(start) => {
                self.closing = 1;
                return self.open(&start);
            }
            Event::Text(text) => document.characters(&text)?,
            Event::CData(text) => document.character_data(&text)?,
            Event::GeneralRef(reference) => document.reference(&reference)?,
            Event::Decl(declaration) => document.declaration(&declaration),
            Event::DocType(doctype) => document.doctype(&doctype),
            Event::Comment(comment) => document.comment(&comment),
            Event::PI(instruction) => document.instruction(&instruction),
            Event::Eof => return document.end_of_file(false),
        }
        Ok(None)
    }

    fn open(&mut self, start: &BytesStart<'_>) -> Result<Option<Item>, ReadError> {
        let document = &mut self.document;
        let has_twins = if start.contains('<') {
            document.broken_tag();
            false
        } else {
            let tag: &str = start;
            syntax::start_tag(tag, |at, problem| {
                document.progress.note_inside("<", tag, at, problem);
            })
        };
        let name = start.name().into_inner();
        let position = document.progress.position;
        if !document.stack.open(name, start.len(), position) {
            return Err(document.progress.fatal(Problem::TooDeep));
        }
        // The scope begins even with a faulty declaration.
        if self.namespaces.push(start).is_err() {
            let what = "namespace declaration that XML forbids, or too many of them";
            document.progress.note_ill_formed(what);
        }
        if has_twins && has_same_attributes(start, &self.namespaces) {
            let what = "attribute is given twice, with two prefixes of one namespace";
            document.progress.note_ill_formed(what);
        }
        document.open(start, &self.namespaces)
    }

    /// Exchanges the parser for a new one, which has no elements open. The old one cannot close elements by the end tag of
    /// another one, and would store their names to the end of the file.
    fn begin_parser_again(&mut self) {
        let old = std::mem::replace(&mut self.xml, parser(Input::empty()));
        self.xml = parser(old.into_inner());
    }

    /// Closes the innermost open element.
    fn close(&mut self) -> Result<Option<Item>, ReadError> {
        self.closing -= 1;
        self.namespaces.pop();
        self.document.close()
    }

    /// Result of an error of the parser.
    fn failure(&mut self, error: &XmlError) -> Result<Option<Item>, ReadError> {
        let problem = match error {
            XmlError::Io(error) => {
                // The gzip program ignores such bytes, so the document before them is good if it is whole.
                if Halt::of(error) == Some(&Halt::TrailingBytes) && self.document.is_after_root() {
                    self.document.progress.note(Problem::TrailingBytes);
                    self.document.progress.is_done = true;
                    return Ok(None);
                }
                let failure = self.input_failure(error);
                // As at any other end that comes too early.
                if matches!(Halt::of(error), Some(Halt::Gzip(_)))
                    && let Some(outcome) = self.document.rescue(false)
                {
                    self.failure = Some(failure);
                    return outcome.map(Some);
                }
                return Err(failure);
            }
            XmlError::IllFormed(IllFormedError::MissingDoctypeName) => {
                self.document.progress.note(Problem::Doctype);
                return Ok(None);
            }
            // The parser found no end of a tag, a comment or the like.
            XmlError::Syntax(_) if self.xml.get_mut().fill_buf().is_ok_and(<[u8]>::is_empty) => {
                return self.document.end_of_file(true);
            }
            other => Problem::NotWellFormed {
                detail: quoted(&other.to_string()),
            },
        };
        Err(self.document.progress.fatal(problem))
    }

    /// Result of an error of the input.
    fn input_failure(&self, error: &Arc<io::Error>) -> ReadError {
        let problem = match Halt::of(error) {
            None => {
                return ReadError::Io(io::Error::new(error.kind(), Arc::clone(error)));
            }
            Some(Halt::TrailingBytes) => Problem::TrailingBytes,
            Some(Halt::Zip) => Problem::Zip,
            Some(Halt::Utf32) => Problem::Utf32,
            Some(Halt::Gzip(detail)) => Problem::Gzip {
                detail: quoted(detail),
            },
            Some(Halt::TooManyMembers) => Problem::TooManyMembers,
            Some(Halt::TooManyBytes) => Problem::TooManyBytes {
                limit: self.xml.get_ref().max_bytes(),
            },
            Some(Halt::TokenTooLong) => Problem::TokenTooLong,
        };
        self.document.progress.fatal(problem)
    }
}

/// Returns whether two attributes have one name in one namespace, by different prefixes (Namespaces in XML 1.0 section 6.3).
fn has_same_attributes(start: &BytesStart<'_>, namespaces: &NamespaceResolver) -> bool {
    let mut names = HashMap::new();
    let mut attributes = StartTag { start, namespaces }.attributes();
    attributes.any(|attribute| {
        let name = attribute.key.into_inner();
        match namespaces.resolve_attribute(attribute.key) {
            (ResolveResult::Bound(Namespace(namespace)), local)
                if attribute.key.as_namespace_binding().is_none() =>
            {
                let known = names.insert((namespace, local.into_inner()), name);
                // The very same name was reported.
                known.is_some_and(|known| known != name)
            }
            (ResolveResult::Bound(_) | ResolveResult::Unbound | ResolveResult::Unknown(_), _) => {
                false
            }
        }
    })
}

/// U+FEFF, which is a byte order mark at the very beginning and nothing elsewhere.
const ZERO_WIDTH_NO_BREAK_SPACE: char = '\u{FEFF}';

/// A parser that leaves it to [`Stack`](super::stack::Stack) to compare end tags.
fn parser<R: BufRead>(input: Input<R>) -> XmlReader<Input<R>> {
    let mut xml = XmlReader::from_reader(input);
    let config = xml.config_mut();
    config.allow_dangling_amp = true;
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    xml
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Item, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_or_findings(usize::MAX)? {
                Ok(Some(item)) => return Some(Ok(item)),
                Ok(None) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl<R: BufRead> fmt::Debug for Reader<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Reader")
            .field("document", &self.document)
            .finish_non_exhaustive()
    }
}
