//! [`Reader`]: the entries of a file, one by one, and the findings beside them.
//!
//! It drives the XML parser over the bounded input and hands each event to [`Document`].

use std::{
    fmt,
    io::{self, BufRead},
    sync::Arc,
};

use quick_xml::{Error as XmlError, NsReader, events::Event};

use super::{
    Finding, Item, Kind, Position, Problem, ReadError,
    document::{Document, Place, quoted},
    input::{Halt, Metered, Source},
};
use crate::Limits;

/// Reads the entries of a sitemap or an index, whichever it is, compressed or not.
///
/// It forgives what can be forgiven: an entry that cannot be used comes as [`ReadError::Entry`] and the next ones follow; what was
/// wrong with an entry that can be used stands in [`findings`](Self::findings). Only a [fatal](ReadError::is_fatal) error ends the
/// reading early, and the entries before it stand.
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
    xml: NsReader<Metered<Source<Source<R>>>>,
    /// The memory for one token, used again for each.
    token: Vec<u8>,
    document: Document,
}

impl<R: BufRead> Reader<R> {
    /// A reader that stops after so many entries and decompressed bytes, with [`ReadError::File`]. Nothing is read yet.
    ///
    /// Limits above those of the protocol are for files that break them and shall be read nevertheless.
    pub fn new(input: R, limits: Limits) -> Self {
        let input = Metered::new(
            Source::new(Source::new(input, limits.bytes), limits.bytes),
            limits.bytes,
        );
        let mut xml = NsReader::from_reader(input);
        let config = xml.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        Self {
            xml,
            token: Vec::new(),
            document: Document::new(limits.entries),
        }
    }

    /// What the file is; known once the first entry was read.
    pub fn kind(&self) -> Option<Kind> {
        self.document.kind
    }

    /// Where the entry that was yielded last begins.
    pub fn entry_position(&self) -> Position {
        self.document.entry_position()
    }

    /// The entries met so far, with those that were left out.
    pub fn entries(&self) -> u64 {
        self.document.entries
    }

    /// The elements of other namespaces in entries that were skipped so far; only the first one is a finding.
    pub fn extension_elements(&self) -> u64 {
        self.document.extension_elements
    }

    /// The bytes read so far, after decompression; at the end, the size of the file.
    pub fn bytes(&self) -> u64 {
        self.xml.get_ref().position().offset
    }

    /// What was wrong so far with what was read nevertheless, in the order of the file; at most [`MAX_FINDINGS`](super::MAX_FINDINGS).
    pub fn findings(&self) -> &[Finding] {
        &self.document.findings
    }

    /// Hands the findings over and makes room for new ones.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.document.findings)
    }

    /// How many findings there was no room for.
    pub fn findings_not_kept(&self) -> u64 {
        self.document.findings_not_kept
    }

    /// Reads one token.
    fn step(&mut self) -> Result<Option<Item>, ReadError> {
        let mut token = std::mem::take(&mut self.token);
        token.clear();
        self.xml.get_mut().begin_token();
        self.document.token_position = self.xml.get_ref().position();
        let outcome = match self.xml.read_event_into(&mut token) {
            Ok(event) => self.accept(event),
            Err(error) => self.failure(&error),
        };
        self.token = token;
        if self.document.token_position.offset == 0 {
            self.look_at_input();
        }
        outcome
    }

    fn accept(&mut self, event: Event<'_>) -> Result<Option<Item>, ReadError> {
        let document = &mut self.document;
        if self.xml.get_mut().take_forbidden_byte() {
            document.note(Problem::ForbiddenCharacter);
        }
        match event {
            Event::Start(start) => document.open(&start, self.xml.resolver())?,
            Event::End(_) => return document.close(),
            Event::Empty(start) => {
                document.open(&start, self.xml.resolver())?;
                return document.close();
            }
            Event::Text(text) => document.characters(&text)?,
            Event::CData(text) => document.character_data(&text)?,
            Event::GeneralRef(reference) => document.reference(&reference)?,
            Event::Decl(declaration) => document.declaration(&declaration),
            Event::DocType(_) => document.note(Problem::Doctype),
            Event::Comment(comment) => document.comment(&comment),
            Event::PI(_) => {}
            Event::Eof => return document.end_of_file(false),
        }
        Ok(None)
    }

    /// What an error of the parser, or of the input below it, means.
    fn failure(&mut self, error: &XmlError) -> Result<Option<Item>, ReadError> {
        let problem = match error {
            XmlError::Io(error) => match Halt::of(error) {
                None => {
                    return Err(ReadError::Io(io::Error::new(
                        error.kind(),
                        Arc::clone(error),
                    )));
                }
                // The gzip program ignores such bytes, so the document before them is good if it is whole.
                Some(Halt::TrailingBytes) if self.document.place == Place::Epilog => {
                    self.document.note(Problem::TrailingBytes);
                    self.document.place = Place::Done;
                    return Ok(None);
                }
                Some(Halt::TrailingBytes) => Problem::TrailingBytes,
                Some(Halt::Zip) => Problem::Zip,
                Some(Halt::Utf16) => Problem::NotUtf8,
                Some(Halt::Gzip(detail)) => Problem::Gzip {
                    detail: quoted(detail),
                },
                Some(Halt::TooManyMembers) => Problem::TooManyMembers,
                Some(Halt::TooManyBytes) => Problem::TooManyBytes {
                    limit: self.xml.get_ref().max_bytes(),
                },
                Some(Halt::TokenTooLong) => Problem::TokenTooLong,
            },
            XmlError::Encoding(_) => Problem::NotUtf8,
            // The parser found no end of a tag, a comment or the like.
            XmlError::Syntax(_) if self.xml.get_mut().fill_buf().is_ok_and(<[u8]>::is_empty) => {
                return self.document.end_of_file(true);
            }
            other => Problem::NotWellFormed {
                detail: quoted(&other.to_string()),
            },
        };
        Err(self.document.fatal(problem))
    }

    /// What only shows once the first bytes were read.
    fn look_at_input(&mut self) {
        let input = self.xml.get_ref();
        let (has_byte_order_mark, is_compressed_twice) =
            (input.has_byte_order_mark(), input.input().is_gzip());
        if has_byte_order_mark {
            self.document.note(Problem::ByteOrderMark);
        }
        if is_compressed_twice {
            self.document.note(Problem::NestedGzip);
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Item, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.document.place != Place::Done {
            match self.step() {
                Ok(None) => {}
                Ok(Some(item)) => return Some(Ok(item)),
                Err(error) => {
                    if error.is_fatal() {
                        self.document.place = Place::Done;
                    }
                    return Some(Err(error));
                }
            }
        }
        None
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
