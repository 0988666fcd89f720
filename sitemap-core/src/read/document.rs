//! [`Document`]: what the tags of a sitemap mean.
//!
//! The [`Stack`] has the meaning of each open element; a start tag gets its meaning by that of the element it is in, and an end tag
//! takes the values in. Misplaced elements are left out with their content. It never sees the input; `draft` judges the values of an
//! entry, `extension` and `feed` read the elements of other vocabularies.

mod text;

use quick_xml::{
    events::{BytesDecl, BytesPI, BytesStart, BytesText},
    name::{NamespaceResolver, ResolveResult},
};
use url::Url;

use super::{
    Item, Kind, Position, Problem, ReadError,
    draft::{Draft, ElementText, Tag},
    extension::{ElementOrigin, Origins, Parts},
    feed::Feed,
    names,
    progress::{Once, Progress, quoted},
    schema_location,
    stack::{FeedField, Meaning, Stack},
    start_tag::StartTag,
    syntax,
};
use crate::{IndexEntry, Loc, extension::Row, limits::NAMESPACE};

/// A document while it is read.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) progress: Progress,
    pub(super) stack: Stack,
    pub(super) origins: Origins,
    /// The encoding that the file is decoded from, if it is not UTF-8; this was reported.
    encoding: Option<&'static str>,
    /// The first byte after the byte order mark.
    start: Position,
    /// The document type is that of a web page.
    is_html: bool,
    /// The kind of the root element that is open.
    root_kind: Kind,
    pub(super) draft: Draft,
    /// The entry that was yielded when the next one began inside of it.
    split: Option<Draft>,
    /// Text of the entry that is in none of its elements.
    stray: ElementText,
    /// Text of the open value.
    text: ElementText,
    parts: Parts,
    pub(super) feed: Feed,
}

impl Document {
    pub(super) fn new(max_entries: u64) -> Self {
        Self {
            progress: Progress::new(max_entries),
            stack: Stack::default(),
            origins: Origins::default(),
            encoding: None,
            start: Position::START,
            is_html: false,
            root_kind: Kind::UrlSet,
            draft: Draft::new(Position::START),
            split: None,
            stray: ElementText::new(),
            text: ElementText::new(),
            parts: Parts::default(),
            feed: Feed::default(),
        }
    }

    /// The file begins at `start`, after its byte order mark, and with something that is not blank at `position`.
    pub(super) fn begin(
        &mut self,
        start: Position,
        position: Position,
        encoding: Option<&'static str>,
    ) {
        self.start = start;
        self.progress.position = position;
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

    /// Returns whether the root element has ended.
    pub(super) fn is_after_root(&self) -> bool {
        self.progress.kind.is_some() && self.stack.meaning().is_none()
    }

    pub(super) fn declaration(&mut self, declaration: &BytesDecl<'_>) {
        if let Some(at) = syntax::declaration(declaration) {
            let problem = Problem::IllFormed {
                what: "XML declaration is not like <?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            };
            self.progress.note_inside("<?", declaration, at, problem);
        }
        if self.progress.position.offset > self.start.offset {
            self.progress.note(Problem::LateDeclaration);
        }
        if declaration.version().is_ok_and(|version| version != "1.0") {
            self.progress.note_ill_formed("XML version is not 1.0");
        }
        if let Some(Ok(encoding)) = declaration.encoding()
            && !encoding.eq_ignore_ascii_case("UTF-8")
            && self.encoding.is_none()
        {
            self.progress.note(Problem::DeclaredEncoding {
                declared: quoted(&encoding),
            });
        }
    }

    pub(super) fn doctype(&mut self, doctype: &BytesText<'_>) {
        let name = doctype
            .split(|character: char| character.is_ascii_whitespace() || character == '[')
            .next();
        self.is_html |= name.is_some_and(|name| name.eq_ignore_ascii_case("html"));
        self.progress.note(Problem::Doctype);
    }

    pub(super) fn instruction(&mut self, instruction: &BytesPI<'_>) {
        if !syntax::is_instruction(instruction) {
            self.progress
                .note_ill_formed("processing instruction with a name that XML does not allow");
        }
    }

    pub(super) fn comment(&mut self, comment: &BytesText<'_>) {
        if comment.contains("--") || comment.ends_with('-') {
            self.progress.note_ill_formed("comment contains --");
        }
    }

    /// A start tag contains `<`: mostly a raw one in a text, which has swallowed the rest.
    pub(super) fn broken_tag(&mut self) {
        let problem = Problem::IllFormed {
            what: "tag contains <",
        };
        if let Some(Meaning::Value(Tag::Loc) | Meaning::InLoc) = self.stack.meaning() {
            self.draft.lose(problem.clone(), self.progress.position);
        }
        self.progress.note(problem);
    }

    /// A start tag, whose element is on the stack.
    pub(super) fn open(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<Option<Item>, ReadError> {
        self.split = None;
        let tag = StartTag { start, namespaces };
        let parent = self.stack.parent().map(|parent| parent.meaning);
        self.look_for_prefixes(parent, tag);
        let mut item = Ok(None);
        let mut meaning = match parent {
            None => self.open_root(tag)?,
            Some(Meaning::Entries) => self.open_entry(tag)?,
            Some(Meaning::Entry) => self.open_in_entry(tag, &mut item)?,
            Some(Meaning::Value(of)) => self.open_in_value(of, tag),
            Some(Meaning::InLoc) => self.open_in_value(Tag::Loc, tag),
            Some(Meaning::Parts(row)) => self.open_part(row, tag),
            Some(Meaning::Part | Meaning::Custom) => {
                let name = tag.quoted_name();
                self.progress.note(Problem::UnknownElement { name });
                Meaning::Skipped
            }
            Some(Meaning::Link) => {
                self.progress.note(Problem::UnknownPart {
                    name: tag.quoted_name(),
                    parent: "xhtml:link",
                });
                Meaning::Skipped
            }
            Some(
                parent @ (Meaning::Feed | Meaning::Channel | Meaning::Item | Meaning::Field(_)),
            ) => self.open_in_feed(parent, tag)?,
            Some(Meaning::Skipped | Meaning::LostEntry(_)) => Meaning::Skipped,
        };
        if meaning == Meaning::Skipped && parent.is_some_and(Meaning::hides_entries) {
            meaning = self.left_out(tag);
        }
        self.stack.set(meaning);
        match meaning {
            Meaning::Item => self.draft = Draft::new(self.progress.position),
            Meaning::Value(_) | Meaning::Part | Meaning::Custom | Meaning::Field(_) => {
                self.text.begin(self.progress.position);
            }
            Meaning::Entries
            | Meaning::Entry
            | Meaning::InLoc
            | Meaning::Parts(_)
            | Meaning::Link
            | Meaning::Feed
            | Meaning::Channel
            | Meaning::LostEntry(_)
            | Meaning::Skipped => {}
        }
        item
    }

    /// Reports prefixes that no declaration binds: of any attribute, and of an element that is skipped or is in a value.
    /// Prefixes of other elements are reported where the namespaces of the elements are decided.
    fn look_for_prefixes(&mut self, parent: Option<Meaning>, tag: StartTag<'_>) {
        if parent.is_some_and(|parent| parent.is_value() || parent.is_left_out())
            && let ResolveResult::Unknown(prefix) = tag.namespace()
        {
            self.progress.undeclared_prefix(&prefix);
        }
        for prefix in tag.undeclared_prefixes() {
            self.progress.undeclared_prefix(&prefix);
        }
    }

    /// Meaning of an element that is left out, in something that is left out or is of an extension: with an entry in it, the
    /// entry is lost, which is reported.
    ///
    /// In the root element the meaning is clear. In an entry an extension may have an element of this name without its prefix, so
    /// there an entry needs a `<loc>`.
    fn left_out(&mut self, tag: StartTag<'_>) -> Meaning {
        let meant = names::meant_by(tag.name(), self.root_kind);
        let Some(name) = meant.filter(|_| self.origins.is_of_protocol(tag)) else {
            return Meaning::Skipped;
        };
        if name == names::of_entry(self.root_kind) {
            if self.stack.read_meaning() != Some(Meaning::Entries) {
                return Meaning::LostEntry(name);
            }
            self.progress.note(Problem::LostEntry { name });
        } else if name == Tag::Loc.name()
            && let Some(parent) = self.stack.parent()
            && let Meaning::LostEntry(name) = parent.meaning
        {
            parent.meaning = Meaning::Skipped;
            let position = parent.position;
            self.progress.note_at(Problem::LostEntry { name }, position);
        }
        Meaning::Skipped
    }

    fn open_root(&mut self, tag: StartTag<'_>) -> Result<Meaning, ReadError> {
        let found = names::root(tag.name());
        if self.progress.kind.is_some() {
            if found.is_none() {
                return Err(self.progress.fatal(Problem::AfterRoot));
            }
            // Somebody put two files into one.
            self.progress.note(Problem::AfterRoot);
        }
        let Some((root_name, kind)) = found else {
            let name = tag.quoted_name();
            let is_html = self.is_html || names::is_html_root(&name);
            return Err(self.progress.fatal(if is_html {
                Problem::Html
            } else {
                Problem::Root { name }
            }));
        };
        let first_kind = *self.progress.kind.get_or_insert(kind);
        self.root_kind = kind;
        tag.note_case(root_name, &mut self.progress);
        self.origins.open_root(tag);
        if kind.is_feed() {
            let progress = &mut self.progress;
            let base = self.feed.open_root(kind, tag, &mut self.origins, progress);
            self.stack.set_base(base);
            return Ok(Meaning::Feed);
        }
        if !self.origins.is_of_root(NAMESPACE) {
            let found = self.origins.root.as_deref().map(quoted);
            self.progress.note(Problem::Namespace { found });
        }
        self.note_attributes(tag);
        if let Some(location) = tag.schema_location()
            && let Err(error) = schema_location::check(&location.value, first_kind)
        {
            self.progress.note(Problem::SchemaLocation(error));
        }
        Ok(Meaning::Entries)
    }

    /// Reports the attributes of an element of the protocol, which defines none.
    fn note_attributes(&mut self, tag: StartTag<'_>) {
        for attribute in tag.own_attributes() {
            let name = quoted(attribute.key.into_inner());
            self.progress.note(Problem::UnknownAttribute { name });
        }
    }

    /// Problem of an element of the protocol in a `parent` that does not allow it.
    fn unexpected(&self, tag: StartTag<'_>, parent: &'static str) -> Problem {
        let root = || names::root(tag.name()).map(|(root, _)| root);
        match names::meant_by(tag.name(), self.root_kind).or_else(root) {
            Some(name) => Problem::Misplaced { name, parent },
            None => Problem::UnknownElement {
                name: tag.quoted_name(),
            },
        }
    }

    /// An element between entries.
    fn open_entry(&mut self, tag: StartTag<'_>) -> Result<Meaning, ReadError> {
        match self.origins.origin(tag, &mut self.progress) {
            ElementOrigin::Protocol => {}
            ElementOrigin::Extension(_) if self.root_kind == Kind::UrlSet => {
                let name = quoted(tag.start.name().into_inner());
                self.progress.note(Problem::OutsideEntry { name });
                return Ok(Meaning::Skipped);
            }
            origin => return Ok(self.skip_foreign(&origin, tag)),
        }
        match (
            tag.name_in(self.root_kind, &mut self.progress),
            self.root_kind,
        ) {
            ("url", Kind::UrlSet) | ("sitemap", Kind::Index) => {}
            // An entry of the other kind of file counts as an entry.
            (name @ ("url" | "sitemap"), _) => {
                let name = if name == "url" { "url" } else { "sitemap" };
                self.progress.count_entry()?;
                let problem = Problem::WrongEntry { name };
                return Err(self.progress.lost(problem, self.progress.position));
            }
            (name, kind) => {
                self.progress.note(if name == Tag::Loc.name() {
                    Problem::LocOutsideEntry
                } else {
                    self.unexpected(tag, names::of_root(kind))
                });
                return Ok(Meaning::Skipped);
            }
        }
        self.note_attributes(tag);
        self.progress.count_entry()?;
        self.draft = Draft::new(self.progress.position);
        self.parts.clear();
        Ok(Meaning::Entry)
    }

    /// Leaves out an element that is not the protocol's. It is counted, and noted where it is the first of its kind.
    fn skip_foreign(&mut self, origin: &ElementOrigin, tag: StartTag<'_>) -> Meaning {
        if let ElementOrigin::Retired(extension) = origin {
            let name = extension.prefix;
            self.progress.note(Problem::Retired { name });
        } else if self.progress.is_new(Once::UnknownExtension, "") {
            let name = tag.quoted_name();
            self.progress.note(if self.root_kind == Kind::Index {
                Problem::ExtensionInIndex { name }
            } else {
                Problem::Extension { name }
            });
        }
        self.progress.extension_elements += 1;
        Meaning::Skipped
    }

    /// An element of an entry. When it belongs to the next entry, this one becomes the `item`.
    fn open_in_entry(
        &mut self,
        tag: StartTag<'_>,
        item: &mut Result<Option<Item>, ReadError>,
    ) -> Result<Meaning, ReadError> {
        let origin = self.origins.origin(tag, &mut self.progress);
        self.draft.has_extension |= !matches!(origin, ElementOrigin::Protocol);
        match origin {
            ElementOrigin::Protocol => {}
            ElementOrigin::Extension(extension) if self.root_kind == Kind::UrlSet => {
                return Ok(self.parts.open(extension, tag, &mut self.progress));
            }
            ElementOrigin::Custom(namespace) if self.root_kind == Kind::UrlSet => {
                let progress = &mut self.progress;
                return Ok(self.parts.open_custom(namespace, tag, progress));
            }
            origin => return Ok(self.skip_foreign(&origin, tag)),
        }
        let name = tag.name_in(self.root_kind, &mut self.progress);
        let entry_name = names::of_entry(self.root_kind);
        let Some(element) = Tag::of(name) else {
            self.progress.note(self.unexpected(tag, entry_name));
            if name != entry_name {
                return Ok(Meaning::Skipped);
            }
            // The end tag of the entry before is missing, or there is one start tag too many.
            if let Some(parent) = self.stack.parent() {
                parent.meaning = Meaning::Entries;
            }
            if self.draft.has(Tag::Loc) {
                self.progress.count_entry()?;
                *item = self.split_entry();
            }
            return Ok(Meaning::Entry);
        };
        let name = element.name();
        if self.root_kind == Kind::Index && matches!(element, Tag::ChangeFreq | Tag::Priority) {
            self.progress.note(Problem::NotInIndex { name });
            return Ok(Meaning::Skipped);
        }
        if element == Tag::Loc && self.draft.has(element) {
            self.progress.note(Problem::ManyLocs);
            self.progress.count_entry()?;
            *item = self.split_entry();
        }
        if self.draft.is_out_of_order(element) {
            self.progress.note(Problem::Order { name });
        }
        if self.draft.repeats(element) {
            self.progress.note(Problem::Repeated { name });
            return Ok(Meaning::Skipped);
        }
        self.note_attributes(tag);
        Ok(Meaning::Value(element))
    }

    /// An element in an element of an entry.
    fn open_in_value(&mut self, of: Tag, tag: StartTag<'_>) -> Meaning {
        self.progress.note(if self.origins.is_of_protocol(tag) {
            self.unexpected(tag, of.name())
        } else {
            Problem::UnknownElement {
                name: tag.quoted_name(),
            }
        });
        // `<loc><url>http://...</url></loc>`: its meaning is clear.
        if of == Tag::Loc && self.text.is_blank() {
            return Meaning::InLoc;
        }
        Meaning::Skipped
    }

    /// An element in one of an extension, the one of `parent`.
    fn open_part(&mut self, parent: &'static Row, tag: StartTag<'_>) -> Meaning {
        let origin = self.origins.origin(tag, &mut self.progress);
        let Some(element) = self.stack.parent() else {
            return Meaning::Skipped;
        };
        let (latest, progress) = (&mut element.latest, &mut self.progress);
        self.parts.open_part(parent, latest, &origin, tag, progress)
    }

    fn open_in_feed(&mut self, parent: Meaning, tag: StartTag<'_>) -> Result<Meaning, ReadError> {
        let outer = self.stack.parent();
        let outer = outer.and_then(|outer| outer.base.as_deref());
        let progress = &mut self.progress;
        let opened = self.feed.open(parent, outer, tag, &self.origins, progress);
        let (meaning, base) = opened?;
        self.stack.set_base(base);
        Ok(meaning)
    }

    /// An end tag of the innermost element.
    pub(super) fn close(&mut self) -> Result<Option<Item>, ReadError> {
        self.split = None;
        let Some(closed) = self.stack.pop() else {
            return Ok(None);
        };
        match closed.meaning {
            Meaning::Value(tag) => self.set_value(tag),
            Meaning::Entry => return self.finish_entry().map(Some),
            Meaning::Item => return self.finish_item().map(Some),
            Meaning::Field(field) => self.close_field(field, closed.base),
            Meaning::Parts(row) => self.parts.close(row, &mut self.progress),
            Meaning::Part => self.parts.close_part(&self.text, &mut self.progress),
            Meaning::Custom => self.parts.close_custom(&self.text, &mut self.progress),
            Meaning::Entries if self.is_after_root() && self.progress.entries == 0 => {
                self.progress.note(Problem::NoEntries);
            }
            Meaning::Entries
            | Meaning::InLoc
            | Meaning::Link
            | Meaning::Feed
            | Meaning::Channel
            | Meaning::LostEntry(_)
            | Meaning::Skipped => {}
        }
        Ok(None)
    }

    /// Ends the entry where the next one begins inside of it.
    fn split_entry(&mut self) -> Result<Option<Item>, ReadError> {
        let outcome = self.finish_entry();
        let next = Draft::new(self.progress.position);
        self.split = Some(std::mem::replace(&mut self.draft, next));
        outcome.map(Some)
    }

    fn set_value(&mut self, tag: Tag) {
        let problems = self.draft.set(tag, &self.text);
        self.progress.note_all(problems, self.text.position());
    }

    /// `<sitemap>http://...</sitemap>`: the text of an entry without `<loc>` is taken for it if it is an address.
    fn take_stray_loc(&mut self) {
        let position = self.stray.position();
        let text = self.stray.value("loc").map(str::to_owned);
        self.stray.begin(position);
        let Ok(text) = text else { return };
        if self.draft.has(Tag::Loc) || Loc::parse(&text).is_err() {
            return;
        }
        self.progress.note_at(Problem::LocMissing, position);
        let problems = self.draft.set_loc(&text, position);
        self.progress.note_all(problems, position);
    }

    fn finish_entry(&mut self) -> Result<Item, ReadError> {
        self.take_stray_loc();
        let begun = self.draft.position();
        match self.draft.finish() {
            Ok(entry) if self.root_kind == Kind::Index => {
                let mut sitemap = IndexEntry::new(entry.loc);
                sitemap.lastmod = entry.lastmod;
                Ok(Item::Sitemap(sitemap))
            }
            Ok(mut entry) => {
                entry.extensions = self.parts.take(&entry.loc, begun, &mut self.progress);
                Ok(Item::Url(entry))
            }
            Err((problem, position)) => {
                // What another entry begins inside of this one is not to get them.
                self.parts.clear();
                Err(self.progress.lost(problem, position))
            }
        }
    }

    fn finish_item(&mut self) -> Result<Item, ReadError> {
        self.feed.close_item(&mut self.draft, &mut self.progress)
    }

    /// The input ends, between tags or `inside_tag`. The complete part of an entry that was cut short is yielded first; the error
    /// follows when this is called again.
    pub(super) fn end_of_file(&mut self, inside_tag: bool) -> Result<Option<Item>, ReadError> {
        if self.progress.kind.is_none() {
            return Err(self.progress.fatal(Problem::Blank));
        }
        if self.is_after_root() {
            if inside_tag {
                self.progress.note_ill_formed(
                    "tag, comment or instruction after the root element has no end",
                );
            }
            self.progress.is_done = true;
            return Ok(None);
        }
        match self.rescue(inside_tag) {
            Some(outcome) => outcome.map(Some),
            None => Err(self.progress.fatal(Problem::Truncated)),
        }
    }

    /// Takes in the open value, whose text is whole.
    fn close_value(&mut self) {
        if let Some(Meaning::Value(tag)) = self.stack.read_meaning() {
            self.set_value(tag);
        } else if let Some(Meaning::InLoc) = self.stack.read_meaning() {
            self.set_value(Tag::Loc);
        } else if let Some(Meaning::Field(field)) = self.stack.meaning() {
            let base = self.stack.pop().and_then(|element| element.base);
            self.close_field(field, base);
        }
    }

    fn close_field(&mut self, field: FeedField, base: Option<Box<Url>>) {
        let (base, progress) = (base.map(|base| *base), &mut self.progress);
        self.feed.close_field(field, &self.text, base, progress);
    }

    /// The complete part of an entry that the end of the readable input cuts short, between tags or `inside_tag`, if it makes an
    /// entry. No part of an extension is known to be complete.
    pub(super) fn rescue(&mut self, inside_tag: bool) -> Option<Result<Item, ReadError>> {
        self.split = None;
        // A tag began after the text, so the text is whole.
        if inside_tag {
            self.close_value();
        }
        let rescued = if self.stack.has(Meaning::Item) {
            self.feed.has_link().then(|| self.finish_item())
        } else {
            let is_usable = self.stack.has(Meaning::Entry) && self.draft.is_usable();
            is_usable.then(|| self.finish_entry())
        };
        self.stack.skip_all();
        rescued
    }
}
