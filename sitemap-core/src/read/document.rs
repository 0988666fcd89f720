//! [`Document`]: handling of the events of the XML parser in a sitemap.
//!
//! It keeps its [`Place`] in the document: before the root, in it, in an entry, in the text of an element. Misplaced elements are
//! skipped with their content. It never sees the input; `draft` judges the values of an entry, `extension` reads the others.

mod attribute;
mod entry;
mod misplaced;
mod text;

pub(super) use self::attribute::own_attributes;
use self::misplaced::SkippedEntry;

use quick_xml::{
    events::{BytesDecl, BytesPI, BytesStart, BytesText},
    name::{Namespace, NamespaceResolver, ResolveResult},
};

use super::{
    Item, Kind, MAX_DEPTH, MAX_FINDINGS, Position, Problem, ReadError, ReadFinding,
    draft::{Draft, ElementText, Tag},
    extension::{Extended, beginning_of},
    feed::Feed,
    input::line_ends,
    names, syntax,
};
use crate::{Loc, limits::NAMESPACE};

/// Characters of a name or message in a finding.
const MAX_QUOTED_CHARACTERS: usize = 100;

/// Number of attributes of an element that are looked at; the root elements in use have less than ten.
pub(super) const MAX_ATTRIBUTES: usize = 64;

/// Place of the parser in the document, apart from skipped parts.
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
    /// In an element of an extension; where in it, [`Extended`] knows.
    Extension,
    /// In the root element of a feed; where in it, [`Feed`] knows.
    Feed,
    /// After the root element.
    Epilog,
    /// At the end.
    Done,
}

/// A document while it is read.
#[derive(Debug)]
pub(super) struct Document {
    max_entries: u64,
    /// URL of the file, if known.
    pub(super) location: Option<Loc>,
    /// The encoding that the file is decoded from, if it is not UTF-8; this was reported.
    encoding: Option<&'static str>,
    /// The first byte after the byte order mark.
    start: Position,
    pub(super) place: Place,
    /// Depth of elements of the parser in a skipped element; 0 outside of one.
    skipped_depth: usize,
    /// The open entry in a skipped element.
    skipped_entry: Option<SkippedEntry>,
    /// Depth of elements in a `<loc>` whose text counts as that of the `<loc>`.
    wrapped_depth: usize,
    /// The kind of the first root element.
    pub(super) kind: Option<Kind>,
    /// The kind of the root element that is open.
    pub(super) root_kind: Option<Kind>,
    /// The document type is that of a web page.
    is_html: bool,
    /// The namespace of the root element, whose elements count as ours even when it is a wrong one.
    pub(super) namespace: Option<String>,
    /// The prefix of the root element, if nothing declares it; elements with it count as ours.
    pub(super) root_prefix: Option<String>,
    pub(super) draft: Draft,
    /// The entry that was yielded when the next one began inside of it.
    split: Option<Draft>,
    /// Number of open entries around the current one.
    outer_entries: usize,
    /// Text of the entry that is in none of its elements.
    stray: ElementText,
    pub(super) text: ElementText,
    pub(super) extended: Extended,
    pub(super) feed: Feed,
    /// A character that the protocol requires escaped is raw in a value; that is reported once.
    has_raw_character: bool,
    /// Entries begun, with those left out.
    pub(super) entries: u64,
    pub(super) extension_elements: u64,
    /// Start of the current token.
    pub(super) token_position: Position,
    pub(super) findings: Vec<ReadFinding>,
    pub(super) findings_not_kept: u64,
}

impl Document {
    pub(super) fn new(max_entries: u64) -> Self {
        Self {
            max_entries,
            location: None,
            encoding: None,
            start: Position::START,
            place: Place::Prolog,
            skipped_depth: 0,
            skipped_entry: None,
            wrapped_depth: 0,
            kind: None,
            root_kind: None,
            is_html: false,
            namespace: None,
            root_prefix: None,
            draft: Draft::new(Position::START),
            split: None,
            outer_entries: 0,
            stray: ElementText::new(),
            text: ElementText::new(),
            extended: Extended::default(),
            feed: Feed::default(),
            has_raw_character: false,
            entries: 0,
            extension_elements: 0,
            token_position: Position::START,
            findings: Vec::new(),
            findings_not_kept: 0,
        }
    }

    pub(super) fn set_location(&mut self, location: &Loc) {
        self.location = Some(location.clone());
    }

    /// The file begins at `start`, after its byte order mark, and with something that is not blank at `position`.
    pub(super) fn begin(
        &mut self,
        start: Position,
        position: Position,
        encoding: Option<&'static str>,
    ) {
        self.start = start;
        self.token_position = position;
        self.encoding = encoding;
    }

    /// The latest entry that was yielded.
    fn yielded(&self) -> &Draft {
        self.split.as_ref().unwrap_or(&self.draft)
    }

    /// Start of the latest entry.
    pub(super) fn entry_position(&self) -> Position {
        self.yielded().position()
    }

    /// Start of the URL of the latest entry, or else of the entry.
    pub(super) fn loc_position(&self) -> Position {
        self.yielded().loc_position.unwrap_or(self.entry_position())
    }

    /// Start of the date of the latest entry, or else of the entry.
    pub(super) fn lastmod_position(&self) -> Position {
        self.yielded()
            .lastmod_position
            .unwrap_or(self.entry_position())
    }

    pub(super) fn finding(&self, problem: Problem, position: Position) -> ReadFinding {
        ReadFinding {
            problem,
            position,
            kind: self.kind,
        }
    }

    pub(super) fn note_at(&mut self, problem: Problem, position: Position) {
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

    /// Returns whether the parser is not in something that is skipped.
    pub(super) fn is_reading(&self) -> bool {
        self.skipped_depth == 0
    }

    /// The reading ends here because of `problem`.
    pub(super) fn fatal(&self, problem: Problem) -> ReadError {
        ReadError::File(self.finding(problem, self.token_position))
    }

    /// Notes a fault inside the token, which begins with `mark` and goes on with `inside`, so many bytes after the mark.
    pub(super) fn note_inside(&mut self, mark: &str, inside: &str, at: usize, problem: Problem) {
        let Position { line, offset } = self.token_position;
        let before = &inside[..at];
        let position = Position {
            line: line + line_ends(before.as_bytes(), &mut false),
            offset: offset + (mark.len() + at) as u64,
        };
        self.note_at(problem, position);
    }

    pub(super) fn declaration(&mut self, declaration: &BytesDecl<'_>) {
        if let Some(at) = syntax::declaration(declaration) {
            let problem = Problem::IllFormed {
                what: "XML declaration is not like <?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            };
            self.note_inside("<?", declaration, at, problem);
        }
        if self.token_position.offset > self.start.offset {
            self.note(Problem::LateDeclaration);
        }
        if declaration.version().is_ok_and(|version| version != "1.0") {
            self.note(Problem::IllFormed {
                what: "XML version is not 1.0",
            });
        }
        if let Some(Ok(encoding)) = declaration.encoding()
            && !encoding.eq_ignore_ascii_case("UTF-8")
            && self.encoding.is_none()
        {
            self.note(Problem::DeclaredEncoding {
                declared: quoted(&encoding),
            });
        }
    }

    pub(super) fn doctype(&mut self, doctype: &BytesText<'_>) {
        let name = doctype
            .split(|character: char| character.is_ascii_whitespace() || character == '[')
            .next();
        self.is_html |= name.is_some_and(|name| name.eq_ignore_ascii_case("html"));
        self.note(Problem::Doctype);
    }

    pub(super) fn instruction(&mut self, instruction: &BytesPI<'_>) {
        if !syntax::is_instruction(instruction) {
            self.note(Problem::IllFormed {
                what: "processing instruction with a name that XML does not allow",
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

    /// A start tag contains `<`: mostly a raw one in a text, which has swallowed the rest.
    pub(super) fn broken_tag(&mut self) {
        let problem = Problem::IllFormed {
            what: "tag contains <",
        };
        if self.place == Place::Value(Tag::Loc) && self.is_reading() {
            self.draft.lose(problem.clone(), self.token_position);
        }
        self.note(problem);
    }

    /// A start tag.
    pub(super) fn open(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<Option<Item>, ReadError> {
        self.split = None;
        self.look_for_prefixes(start, namespaces);
        if self.skipped_depth > 0 || self.place == Place::Extension {
            self.look_for_lost_entry(start, namespaces);
        }
        if self.skipped_depth > 0 {
            if self.skipped_depth == 1 && self.extended.is_in_link() {
                self.note_in_link(start);
            }
            return self.skip().map(|()| None);
        }
        if self.place == Place::Entry {
            return self.open_value(start, namespaces);
        }
        self.open_outside_of_entry(start, namespaces).map(|()| None)
    }

    /// Returns whether the next text belongs to a value.
    fn is_in_value(&self) -> bool {
        match self.place {
            Place::Value(_) => true,
            Place::Extension => self.extended.is_in_value(),
            Place::Prolog
            | Place::Root
            | Place::Entry
            | Place::Feed
            | Place::Epilog
            | Place::Done => false,
        }
    }

    /// Reports prefixes that no declaration binds: of any attribute, and of an element that is skipped or is in a value.
    /// Prefixes of other elements are reported where the namespaces of the elements are decided.
    fn look_for_prefixes(&mut self, start: &BytesStart<'_>, namespaces: &NamespaceResolver) {
        if (self.is_in_value() || !self.is_reading())
            && let ResolveResult::Unknown(prefix) = namespaces.resolve_element(start.name()).0
        {
            self.undeclared_prefix(&prefix);
        }
        if !start.attributes_raw().contains(':') {
            return;
        }
        let attributes = start.attributes();
        for attribute in attributes.take(MAX_ATTRIBUTES).flatten() {
            if attribute.key.as_namespace_binding().is_none()
                && let ResolveResult::Unknown(prefix) =
                    namespaces.resolve_attribute(attribute.key).0
            {
                self.undeclared_prefix(&prefix);
            }
        }
    }

    /// The name without prefix of an element of the protocol or of a feed, in its right case; another case is reported.
    pub(super) fn name_of<'a>(&mut self, start: &'a BytesStart<'_>) -> &'a str {
        let name = start.local_name().into_inner();
        let kind = self.root_kind.unwrap_or(Kind::UrlSet);
        let Some(expected) = names::meant_by(name, kind) else {
            return name;
        };
        self.name_case(start, expected);
        expected
    }

    /// Reports a name in another case than expected, once for each name.
    fn name_case(&mut self, start: &BytesStart<'_>, expected: &'static str) {
        let found = start.local_name().into_inner();
        if found != expected && self.extended.is_new_name_case(expected) {
            self.note(Problem::NameCase {
                found: quoted(found),
                expected,
            });
        }
    }

    fn open_outside_of_entry(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<(), ReadError> {
        match self.place {
            Place::Prolog => self.open_root(start, namespaces),
            Place::Root => self.open_entry(start, namespaces),
            Place::Value(tag) => {
                let problem = if self.is_of_protocol(start, namespaces) {
                    self.unexpected(start, tag.name())
                } else {
                    Problem::UnknownElement {
                        name: local_name(start),
                    }
                };
                self.note(problem);
                // `<loc><url>http://...</url></loc>`: its meaning is clear.
                if tag == Tag::Loc && self.text.is_blank() {
                    self.wrapped_depth += 1;
                    return Ok(());
                }
                self.skip()
            }
            Place::Extension => self.open_in_extension(start, namespaces),
            Place::Feed => self.open_in_feed(start, namespaces),
            // Somebody put two files into one.
            Place::Epilog if names::root(start.local_name().into_inner()).is_some() => {
                self.note(Problem::AfterRoot);
                self.open_root(start, namespaces)
            }
            Place::Entry | Place::Epilog | Place::Done => Err(self.fatal(Problem::AfterRoot)),
        }
    }

    /// Leaves out the element that just began.
    pub(super) fn skip(&mut self) -> Result<(), ReadError> {
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
        let Some((root_name, kind)) = names::root(start.local_name().into_inner()) else {
            let name = local_name(start);
            let is_html = self.is_html || is_html_root(&name);
            return Err(self.fatal(if is_html {
                Problem::Html
            } else {
                Problem::Root { name }
            }));
        };
        self.kind.get_or_insert(kind);
        self.root_kind = Some(kind);
        self.name_case(start, root_name);
        let (namespace, root_prefix) = match namespaces.resolve_element(start.name()).0 {
            ResolveResult::Bound(Namespace(namespace)) => {
                (Some(beginning_of(namespace).to_owned()), None)
            }
            ResolveResult::Unbound => (None, None),
            ResolveResult::Unknown(prefix) => (None, Some(prefix)),
        };
        self.root_prefix = root_prefix;
        if matches!(kind, Kind::Rss | Kind::Atom) {
            self.place = Place::Feed;
            self.open_feed(start, namespace);
            return Ok(());
        }
        self.namespace = namespace;
        if self.namespace.as_deref() != Some(NAMESPACE) {
            let found = self.namespace.as_deref().map(quoted);
            self.note(Problem::Namespace { found });
        }
        self.attributes(start, namespaces);
        self.schema_location(start, namespaces);
        self.place = Place::Root;
        Ok(())
    }

    /// An end tag. The parser has checked that it belongs to the last open start tag.
    pub(super) fn close(&mut self) -> Result<Option<Item>, ReadError> {
        self.split = None;
        if self.skipped_depth > 0 {
            self.skipped_depth -= 1;
            self.leave_skipped();
            if self.skipped_depth == 0 {
                self.extended.end_link();
            }
            return Ok(None);
        }
        match self.place {
            Place::Value(_) if self.wrapped_depth > 0 => {
                self.wrapped_depth -= 1;
                Ok(None)
            }
            Place::Value(tag) => {
                self.set_value(tag);
                Ok(None)
            }
            Place::Entry => self.finish_entry().map(Some),
            Place::Extension => {
                self.close_in_extension();
                Ok(None)
            }
            Place::Feed => self.close_in_feed(),
            Place::Root if self.outer_entries > 0 => {
                self.outer_entries -= 1;
                Ok(None)
            }
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

    /// The input ends, between tags or `inside_tag`. The complete part of an entry that was cut short is yielded first; the error
    /// follows when this is called again.
    pub(super) fn end_of_file(&mut self, inside_tag: bool) -> Result<Option<Item>, ReadError> {
        match self.place {
            Place::Epilog | Place::Done => {
                if inside_tag {
                    self.note(Problem::IllFormed {
                        what: "tag, comment or instruction after the root element has no end",
                    });
                }
                self.place = Place::Done;
                Ok(None)
            }
            Place::Prolog => Err(self.fatal(Problem::Blank)),
            Place::Root | Place::Entry | Place::Value(_) | Place::Extension | Place::Feed => {
                match self.rescue(inside_tag) {
                    Some(outcome) => outcome.map(Some),
                    None => Err(self.fatal(Problem::Truncated)),
                }
            }
        }
    }

    /// The complete part of an entry that the end of the readable input cuts short, between tags or `inside_tag`, if it makes an
    /// entry.
    pub(super) fn rescue(&mut self, inside_tag: bool) -> Option<Result<Item, ReadError>> {
        self.split = None;
        match self.place {
            // A tag began after the text, so the text is whole.
            Place::Value(tag) if inside_tag => self.set_value(tag),
            Place::Feed => return self.rescue_in_feed(inside_tag),
            // No part of an extension is known to be complete.
            Place::Value(_) | Place::Extension | Place::Entry => {}
            Place::Prolog | Place::Root | Place::Epilog | Place::Done => return None,
        }
        self.draft.is_usable().then(|| self.finish_entry())
    }
}

/// The element that an entry is in a kind of file; feeds and text have others.
fn entry_name(kind: Kind) -> &'static str {
    match kind {
        Kind::UrlSet => "url",
        Kind::Index => "sitemap",
        Kind::Text | Kind::Rss | Kind::Atom => "",
    }
}

/// Returns whether a web page may begin with this element; the tags of `html` and `head` may be left out.
pub(super) fn is_html_root(name: &str) -> bool {
    [
        "html", "head", "body", "title", "meta", "link", "script", "style", "div", "p",
    ]
    .iter()
    .any(|root| root.eq_ignore_ascii_case(name))
}

/// As much of a text from the file as goes into a finding.
pub(super) fn quoted(text: &str) -> String {
    let end = text.char_indices().nth(MAX_QUOTED_CHARACTERS);
    text[..end.map_or(text.len(), |(end, _)| end)].to_owned()
}

pub(super) fn local_name(start: &BytesStart<'_>) -> String {
    quoted(start.local_name().into_inner())
}
