//! [`Document`]: what the events of the XML parser mean in a sitemap.
//!
//! It keeps its [`Place`] in the document: before the root, in it, in an entry, in the text of an element. Whatever stands where
//! nothing belongs is skipped with all it contains. It never sees the input; `draft` judges the values of an entry.

use quick_xml::{
    escape::resolve_xml_entity,
    events::{BytesCData, BytesDecl, BytesRef, BytesStart, BytesText},
    name::{Namespace, NamespaceResolver, ResolveResult},
};

use super::{
    Finding, Item, Kind, MAX_DEPTH, MAX_FINDINGS, Position, Problem, ReadError,
    draft::{Draft, Tag, Text},
};
use crate::{IndexEntry, limits::NAMESPACE};

/// How much of a name or message goes into a finding.
const MAX_QUOTED_CHARACTERS: usize = 100;

/// How many attributes of an element are looked at; the root elements in use have less than ten.
const MAX_ATTRIBUTES: usize = 64;

/// The namespace of `xsi:schemaLocation` (R69).
const XSI_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Where in the document the parser is, apart from what is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Before the root element.
    Prolog,
    /// In the root element, between entries.
    Root,
    /// In an entry, between its elements.
    Entry,
    /// In an element of an entry.
    Value(Tag),
    /// Behind the root element.
    Epilog,
    /// At the end.
    Done,
}

/// A document while it is read.
#[derive(Debug)]
pub(super) struct Document {
    max_entries: u64,
    pub(super) place: Place,
    /// How many elements deep the parser is in something that is skipped; 0 if it is not.
    skipped_depth: usize,
    pub(super) kind: Option<Kind>,
    /// The namespace of the root element, whose elements count as ours even when it is a wrong one.
    namespace: Option<String>,
    draft: Draft,
    text: Text,
    /// Entries begun, with those left out.
    pub(super) entries: u64,
    pub(super) extension_elements: u64,
    /// Where the current token begins.
    pub(super) token_position: Position,
    pub(super) findings: Vec<Finding>,
    pub(super) findings_not_kept: u64,
}

impl Document {
    pub(super) fn new(max_entries: u64) -> Self {
        Self {
            max_entries,
            place: Place::Prolog,
            skipped_depth: 0,
            kind: None,
            namespace: None,
            draft: Draft::new(Position::START),
            text: Text::new(),
            entries: 0,
            extension_elements: 0,
            token_position: Position::START,
            findings: Vec::new(),
            findings_not_kept: 0,
        }
    }

    /// Where the latest entry begins.
    pub(super) fn entry_position(&self) -> Position {
        self.draft.position()
    }

    fn finding(&self, problem: Problem, position: Position) -> Finding {
        Finding {
            problem,
            position,
            kind: self.kind,
        }
    }

    fn note_at(&mut self, problem: Problem, position: Position) {
        if self.findings.len() < MAX_FINDINGS {
            let finding = self.finding(problem, position);
            self.findings.push(finding);
        } else {
            self.findings_not_kept += 1;
        }
    }

    pub(super) fn note(&mut self, problem: Problem) {
        self.note_at(problem, self.token_position);
    }

    /// The reading ends here because of `problem`.
    pub(super) fn fatal(&self, problem: Problem) -> ReadError {
        ReadError::File(self.finding(problem, self.token_position))
    }

    pub(super) fn declaration(&mut self, declaration: &BytesDecl<'_>) {
        if self.token_position.offset > 0 {
            self.note(Problem::LateDeclaration);
        }
        if declaration.version().is_ok_and(|version| version != "1.0") {
            self.note(Problem::IllFormed {
                what: "XML version is not 1.0",
            });
        }
        if let Some(Ok(encoding)) = declaration.encoding()
            && !encoding.eq_ignore_ascii_case("UTF-8")
        {
            self.note(Problem::DeclaredEncoding {
                declared: quoted(&encoding),
            });
        }
    }

    pub(super) fn comment(&mut self, comment: &BytesText<'_>) {
        if comment.contains("--") || comment.ends_with('-') {
            self.note(Problem::IllFormed {
                what: "comment contains --",
            });
        }
    }

    /// A start tag.
    pub(super) fn open(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<(), ReadError> {
        if self.skipped_depth > 0 {
            return self.skip();
        }
        match self.place {
            Place::Prolog => self.open_root(start, namespaces),
            Place::Root => self.open_entry(start, namespaces),
            Place::Entry => self.open_value(start, namespaces),
            Place::Value(_) => {
                self.note(Problem::UnknownElement {
                    name: local_name(start),
                });
                self.skip()
            }
            Place::Epilog | Place::Done => Err(self.fatal(Problem::AfterRoot)),
        }
    }

    /// Leaves out the element that just began.
    fn skip(&mut self) -> Result<(), ReadError> {
        self.skipped_depth += 1;
        if self.skipped_depth >= MAX_DEPTH {
            return Err(self.fatal(Problem::TooDeep));
        }
        Ok(())
    }

    fn open_root(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<(), ReadError> {
        self.kind = Some(match start.local_name().into_inner() {
            "urlset" => Kind::UrlSet,
            "sitemapindex" => Kind::Index,
            _ => {
                return Err(self.fatal(Problem::Root {
                    name: local_name(start),
                }));
            }
        });
        self.namespace = match namespaces.resolve_element(start.name()).0 {
            ResolveResult::Bound(Namespace(namespace)) => Some(namespace.to_owned()),
            ResolveResult::Unbound | ResolveResult::Unknown(_) => None,
        };
        if self.namespace.as_deref() != Some(NAMESPACE) {
            let found = self.namespace.as_deref().map(quoted);
            self.note(Problem::Namespace { found });
        }
        self.attributes(start, namespaces);
        self.place = Place::Root;
        Ok(())
    }

    fn open_entry(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<(), ReadError> {
        if self.is_extension(start, namespaces) {
            return self.skip();
        }
        match (start.local_name().into_inner(), self.kind) {
            ("url", Some(Kind::UrlSet)) | ("sitemap", Some(Kind::Index)) => {}
            ("url", Some(Kind::Index)) => return self.wrong_entry("url"),
            ("sitemap", Some(Kind::UrlSet)) => return self.wrong_entry("sitemap"),
            _ => {
                self.note(Problem::UnknownElement {
                    name: local_name(start),
                });
                return self.skip();
            }
        }
        self.attributes(start, namespaces);
        self.count_entry()?;
        self.draft = Draft::new(self.token_position);
        self.place = Place::Entry;
        Ok(())
    }

    /// An entry of the other kind of file: left out, and counted as an entry.
    fn wrong_entry(&mut self, name: &'static str) -> Result<(), ReadError> {
        self.count_entry()?;
        self.skip()?;
        Err(ReadError::Entry(
            self.finding(Problem::WrongEntry { name }, self.token_position),
        ))
    }

    fn count_entry(&mut self) -> Result<(), ReadError> {
        if self.entries >= self.max_entries {
            return Err(self.fatal(Problem::TooManyEntries {
                limit: self.max_entries,
            }));
        }
        self.entries += 1;
        Ok(())
    }

    fn open_value(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<(), ReadError> {
        if self.is_extension(start, namespaces) {
            self.draft.has_extension = true;
            return self.skip();
        }
        let Some(tag) = Tag::of(start.local_name().into_inner()) else {
            self.note(Problem::UnknownElement {
                name: local_name(start),
            });
            return self.skip();
        };
        if self.kind == Some(Kind::Index) && matches!(tag, Tag::ChangeFreq | Tag::Priority) {
            self.note(Problem::NotInIndex { name: tag.name() });
            return self.skip();
        }
        if self.draft.is_out_of_order(tag) {
            self.note(Problem::Order { name: tag.name() });
        }
        if self.draft.repeats(tag) {
            match tag {
                Tag::Loc => self.draft.lose(Problem::ManyLocs, self.token_position),
                Tag::LastMod | Tag::ChangeFreq | Tag::Priority => {
                    self.note(Problem::Repeated { name: tag.name() });
                }
            }
            return self.skip();
        }
        self.attributes(start, namespaces);
        self.text.begin(self.token_position);
        self.place = Place::Value(tag);
        Ok(())
    }

    /// An end tag. The parser has checked that it belongs to the last open start tag.
    pub(super) fn close(&mut self) -> Result<Option<Item>, ReadError> {
        if self.skipped_depth > 0 {
            self.skipped_depth -= 1;
            return Ok(None);
        }
        match self.place {
            Place::Value(tag) => {
                self.set_value(tag);
                Ok(None)
            }
            Place::Entry => self.finish_entry().map(Some),
            Place::Root => {
                self.place = Place::Epilog;
                if self.entries == 0 {
                    self.note(Problem::NoEntries);
                }
                Ok(None)
            }
            Place::Prolog | Place::Epilog | Place::Done => Ok(None),
        }
    }

    fn set_value(&mut self, tag: Tag) {
        self.place = Place::Entry;
        for problem in self.draft.set(tag, &self.text) {
            self.note_at(problem, self.text.position());
        }
    }

    fn finish_entry(&mut self) -> Result<Item, ReadError> {
        self.place = Place::Root;
        match (self.draft.finish(), self.kind) {
            (Ok(entry), Some(Kind::Index)) => {
                let mut sitemap = IndexEntry::new(entry.loc);
                sitemap.lastmod = entry.lastmod;
                Ok(Item::Sitemap(sitemap))
            }
            (Ok(entry), Some(Kind::UrlSet) | None) => Ok(Item::Url(entry)),
            (Err((problem, position)), _) => Err(ReadError::Entry(self.finding(problem, position))),
        }
    }

    /// Text between tags and references, as it stands in the file.
    pub(super) fn characters(&mut self, text: &BytesText<'_>) -> Result<(), ReadError> {
        // The parser gives an ampersand that begins no reference as text of its own.
        if text.starts_with('&') {
            self.note(Problem::BareAmpersand);
        }
        if text.contains("]]>") {
            self.note(Problem::IllFormed {
                what: "text contains ]]>",
            });
        }
        self.text_of_document(&text.xml10_content())
    }

    pub(super) fn character_data(&mut self, text: &BytesCData<'_>) -> Result<(), ReadError> {
        self.text_of_document(&text.xml10_content())
    }

    fn text_of_document(&mut self, text: &str) -> Result<(), ReadError> {
        if text.contains(['\u{FFFE}', '\u{FFFF}']) {
            self.note(Problem::ForbiddenCharacter);
        }
        if self.skipped_depth > 0 {
            return Ok(());
        }
        let is_blank = text.bytes().all(is_white_space);
        match self.place {
            Place::Value(_) => self.text.push(text),
            Place::Root | Place::Entry if !is_blank => self.note(Problem::StrayText),
            Place::Prolog if !is_blank => return Err(self.fatal(Problem::NotXml)),
            Place::Epilog if !is_blank => return Err(self.fatal(Problem::AfterRoot)),
            Place::Root | Place::Entry | Place::Prolog | Place::Epilog | Place::Done => {}
        }
        Ok(())
    }

    /// A reference such as `&amp;` or `&#38;`.
    pub(super) fn reference(&mut self, reference: &BytesRef<'_>) -> Result<(), ReadError> {
        let name: &str = reference;
        if reference.is_char_ref() {
            let Ok(Some(character)) = reference.resolve_char_ref() else {
                self.note(Problem::IllFormed {
                    what: "character reference names no character",
                });
                return self.text_of_document("\u{FFFD}");
            };
            if !is_xml_character(character) {
                self.note(Problem::ForbiddenCharacter);
            }
            return self.text_of_document(character.encode_utf8(&mut [0; 4]));
        }
        if let Some(text) = resolve_xml_entity(name) {
            return self.text_of_document(text);
        }
        if !is_name(name) {
            // `?a=1&b=2;c=3` looks like a reference, but is an ampersand that was not escaped.
            self.note(Problem::BareAmpersand);
            self.text_of_document("&")?;
            self.text_of_document(name)?;
            return self.text_of_document(";");
        }
        match self.place {
            Place::Value(_) if self.skipped_depth == 0 => {
                self.text.set_undefined_entity(quoted(name));
            }
            Place::Value(_)
            | Place::Prolog
            | Place::Root
            | Place::Entry
            | Place::Epilog
            | Place::Done => {
                self.note(Problem::UndefinedEntity { name: quoted(name) });
            }
        }
        Ok(())
    }

    /// The input ends, between tags or `inside_tag`. Of an entry that was cut short, what is surely whole is yielded first; the
    /// error follows when this is called again.
    pub(super) fn end_of_file(&mut self, inside_tag: bool) -> Result<Option<Item>, ReadError> {
        match self.place {
            Place::Epilog | Place::Done => {
                self.place = Place::Done;
                return Ok(None);
            }
            Place::Prolog => return Err(self.fatal(Problem::Blank)),
            // A tag began behind the text, so the text is whole.
            Place::Value(tag) if inside_tag => self.set_value(tag),
            Place::Value(_) | Place::Entry | Place::Root => {}
        }
        match self.place {
            Place::Value(_) | Place::Entry if self.draft.is_usable() => {
                self.finish_entry().map(Some)
            }
            Place::Value(_)
            | Place::Entry
            | Place::Root
            | Place::Prolog
            | Place::Epilog
            | Place::Done => Err(self.fatal(Problem::Truncated)),
        }
    }

    /// Looks at the attributes of an element of ours, which may have none but declarations and `xsi:`.
    fn attributes(&mut self, start: &BytesStart<'_>, namespaces: &NamespaceResolver) {
        if start.attributes_raw().is_empty() {
            return;
        }
        for attribute in start.attributes().take(MAX_ATTRIBUTES) {
            let Ok(attribute) = attribute else {
                self.note(Problem::IllFormed {
                    what: "attribute without quotes, without value, or given twice",
                });
                return;
            };
            let is_known = attribute.key.as_namespace_binding().is_some()
                || matches!(
                    namespaces.resolve_attribute(attribute.key).0,
                    ResolveResult::Bound(Namespace(XSI_NAMESPACE))
                );
            if !is_known {
                self.note(Problem::UnknownAttribute {
                    name: quoted(attribute.key.into_inner()),
                });
            }
        }
    }

    /// Whether an element is of another namespace than the sitemap's, or than what the root element has in its place. It is
    /// counted, and noted where it is the first.
    fn is_extension(&mut self, start: &BytesStart<'_>, namespaces: &NamespaceResolver) -> bool {
        let undeclared_prefix = match namespaces.resolve_element(start.name()).0 {
            ResolveResult::Bound(Namespace(found))
                if found == NAMESPACE || self.namespace.as_deref() == Some(found) =>
            {
                return false;
            }
            ResolveResult::Unbound if self.namespace.is_none() => return false,
            ResolveResult::Bound(_) | ResolveResult::Unbound => None,
            ResolveResult::Unknown(prefix) => Some(prefix),
        };
        if let Some(prefix) = undeclared_prefix {
            self.note(Problem::UndeclaredPrefix {
                prefix: quoted(&prefix),
            });
        }
        if self.extension_elements == 0 {
            self.note(Problem::Extension {
                name: local_name(start),
            });
        }
        self.extension_elements += 1;
        true
    }
}

/// As much of a text from the file as goes into a finding.
pub(super) fn quoted(text: &str) -> String {
    text.chars().take(MAX_QUOTED_CHARACTERS).collect()
}

fn local_name(start: &BytesStart<'_>) -> String {
    quoted(start.local_name().into_inner())
}

/// White space of XML 1.0 section 2.3.
fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Whether XML 1.0 section 2.2 allows a character.
fn is_xml_character(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..)
}

/// Whether a text has the form of a name (XML 1.0 section 2.3), near enough to tell `nbsp` from `b=2`.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && text.chars().all(|character| {
            character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | ':')
        })
}
