//! Extensions while they are read: which one an element is of ([`ElementOrigin`]), and one of their elements in the making ([`Fields`]).
//!
//! The table of elements lists those of each extension; `values` turns their texts into data. Texts come in as in `document`. A
//! value that cannot be used is left out, with the element that requires it, but never the entry.

mod document;

mod attribute;
mod namespace;
mod values;

pub(super) use attribute::attribute_value;
pub(super) use document::Extended;
pub(super) use namespace::{ElementOrigin, beginning_of};

use super::{Position, Problem, draft::ElementText};
use crate::{
    Loc,
    extension::{
        Extension, ExtensionError, Extensions, MAX_ENTRY_BYTES, MAX_NEWS_PER_FILE, Row, ValueKind,
        ValueProblem, element_of,
    },
};

/// The values of the attributes of an element that are known.
type Attributes = Vec<(&'static str, String)>;

/// Memory of an element besides its texts, in round numbers.
const ELEMENT_BYTES: u64 = 64;

/// An element of an extension that has elements itself, such as a video, while they come in.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) extension: Extension,
    /// The start.
    position: Position,
    /// The element in it that is open and has elements itself, such as a publication.
    container: Option<&'static Row>,
    /// Containers that have come.
    containers: Vec<&'static str>,
    /// The element in it that is open and has a text.
    field: Option<Field>,
    /// Progress of the elements in the order of the schema, in the element itself and in the open container.
    latest: [usize; 2],
    read: Vec<Field>,
}

/// An element with a text.
#[derive(Debug)]
struct Field {
    row: &'static Row,
    /// `None` when it cannot be used, which was reported.
    text: Option<String>,
    attributes: Attributes,
    position: Position,
}

impl Field {
    /// The value of an attribute.
    fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        let found = attributes.find(|(other, _)| *other == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Handling of an element that begins in an element of an extension.
pub(super) enum Opened {
    /// The text is read.
    Field,
    /// The elements are read.
    Container,
    /// The element is left out.
    Skipped,
}

impl Fields {
    /// Begins with `image:image`, `video:video` or `news:news`; any other element, and one of a kind that has no elements, is none.
    pub(super) fn begin(extension: Extension, name: &str, position: Position) -> Option<Self> {
        let is_one = match extension {
            Extension::Alternate => false,
            Extension::Image | Extension::Video | Extension::News => name == extension.prefix(),
        };
        is_one.then(|| Self {
            extension,
            position,
            container: None,
            containers: Vec::new(),
            field: None,
            latest: [0; 2],
            read: Vec::new(),
        })
    }

    /// The element with a prefix as it is named in findings.
    pub(super) fn name(&self) -> &'static str {
        self.open_row().name
    }

    /// The element that others can begin in.
    fn open_row(&self) -> &'static Row {
        self.container.unwrap_or_else(|| element_of(self.extension))
    }

    /// An element of the same extension begins. Its attributes are looked up with `attributes`.
    fn open(
        &mut self,
        name: &str,
        position: Position,
        attributes: impl FnOnce(&'static Row, &mut Vec<Problem>) -> Attributes,
        problems: &mut Vec<Problem>,
    ) -> Opened {
        let Some((place, row)) = self
            .open_row()
            .rows
            .iter()
            .enumerate()
            .find(|(_, row)| row.local_name() == name)
        else {
            problems.push(Problem::UnknownPart {
                name: super::document::quoted(name),
                parent: self.name(),
            });
            return Opened::Skipped;
        };
        let is_in_retired = self.open_row().kind == ValueKind::Retired;
        let latest = &mut self.latest[usize::from(self.container.is_some())];
        if place < *latest {
            problems.push(Problem::PartOrder { name: row.name });
        }
        *latest = place.max(*latest);
        if row.kind == ValueKind::Retired && !is_in_retired {
            problems.push(Problem::Retired { name: row.name });
        }
        if !row.rows.is_empty() {
            if self.containers.contains(&row.name) {
                problems.push(Problem::RepeatedPart { name: row.name });
                return Opened::Skipped;
            }
            // It allows none, so all are reported.
            attributes(row, problems);
            self.containers.push(row.name);
            self.container = Some(row);
            self.latest[1] = 0;
            return Opened::Container;
        }
        let count = self
            .read
            .iter()
            .filter(|field| field.row.name == row.name)
            .count();
        if count >= row.most {
            problems.push(if row.most == 1 {
                Problem::RepeatedPart { name: row.name }
            } else {
                Problem::TooManyParts {
                    name: row.name,
                    limit: row.most,
                }
            });
            return Opened::Skipped;
        }
        self.field = Some(Field {
            row,
            text: None,
            attributes: attributes(row, problems),
            position,
        });
        Opened::Field
    }

    /// The open element with a text ends.
    pub(super) fn close_field(&mut self, text: &ElementText, problems: &mut Vec<Problem>) {
        let Some(mut field) = self.field.take() else {
            return;
        };
        match text.usable(field.row.name) {
            Ok(text) => field.text = Some(text.to_owned()),
            Err(problem) => problems.push(problem),
        }
        self.read.push(field);
    }

    /// Returns whether an element with a text is open.
    fn is_in_field(&self) -> bool {
        self.field.is_some()
    }

    /// The open element with elements ends, if there is one; otherwise this one does.
    pub(super) fn close_container(&mut self) -> bool {
        self.container.take().is_some()
    }

    /// The size in memory.
    fn bytes(&self) -> u64 {
        let of_field = |field: &Field| {
            let attributes = field.attributes.iter().map(|(_, value)| value.len());
            (field.text.as_deref().map_or(0, str::len) + attributes.sum::<usize>()) as u64
                + ELEMENT_BYTES
        };
        ELEMENT_BYTES + self.read.iter().map(of_field).sum::<u64>()
    }
}

/// The extensions of one entry while they come in.
#[derive(Debug, Default)]
pub(super) struct Collected {
    extensions: Extensions,
    /// Start of each video.
    videos: Vec<Position>,
    bytes: u64,
    /// Something was left out for its size; that is reported once.
    is_full: bool,
}

impl Collected {
    /// Takes an element of an extension in that has ended.
    pub(super) fn add(&mut self, fields: &Fields, problems: &mut Vec<(Problem, Position)>) {
        let position = fields.position;
        if !self.has_room(fields.bytes(), position, problems) {
            return;
        }
        let Some(element) = values::read_element(fields, problems) else {
            return;
        };
        let is_video = element.extension() == Extension::Video;
        let added = self.extensions.add(element);
        if is_video && added.is_ok() {
            self.videos.push(position);
        }
        note_refused(added, position, problems);
    }

    /// Takes in an element with only attributes and a text, with its size in memory.
    pub(super) fn add_with(
        &mut self,
        bytes: usize,
        position: Position,
        problems: &mut Vec<(Problem, Position)>,
        add: impl FnOnce(&mut Extensions) -> Result<(), ExtensionError>,
    ) {
        if self.has_room(bytes as u64 + ELEMENT_BYTES, position, problems) {
            note_refused(add(&mut self.extensions), position, problems);
        }
    }

    fn has_room(
        &mut self,
        bytes: u64,
        position: Position,
        problems: &mut Vec<(Problem, Position)>,
    ) -> bool {
        let is_over = self.is_full || self.bytes + bytes > MAX_ENTRY_BYTES;
        if is_over && !self.is_full {
            self.is_full = true;
            problems.push((Problem::ExtensionsTooLarge, position));
        }
        if !is_over {
            self.bytes += bytes;
        }
        !is_over
    }

    /// Returns whether there is an article.
    pub(super) fn has_news(&self) -> bool {
        self.extensions.has(Extension::News)
    }

    /// All of them, without parts that contradict the address of their page.
    pub(super) fn finish(self, page: &Loc, problems: &mut Vec<(Problem, Position)>) -> Extensions {
        let Self {
            mut extensions,
            videos,
            ..
        } = self;
        for (index, error) in extensions.remove_contradictions(page) {
            let position = videos.get(index).copied().unwrap_or(Position::START);
            problems.push((Problem::RefusedPart(error), position));
        }
        extensions
    }
}

fn note_refused(
    added: Result<(), ExtensionError>,
    position: Position,
    problems: &mut Vec<(Problem, Position)>,
) {
    let Err(error) = added else { return };
    problems.push((Problem::RefusedPart(error), position));
}

/// Something that is reported once in a file, or once for each name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Once {
    Retired,
    NameCase,
    UndeclaredPrefix,
    Spelling,
    DeclaredBelowRoot,
    OtherNamespace,
    UnknownExtension,
}

/// State of the extensions of a file across its entries: problems that are reported once, and counts.
#[derive(Debug, Default)]
pub(super) struct Reported {
    seen: Vec<(Once, String)>,
    news: u64,
}

/// Number of things that are remembered, so that each is reported once. Only undeclared prefixes can be more.
const MAX_SEEN: usize = 128;

impl Reported {
    /// Returns whether this is the first time that this is met.
    pub(super) fn is_new(&mut self, what: Once, name: &str) -> bool {
        let mut seen = self.seen.iter();
        let is_new = !seen.any(|(other, known)| *other == what && known == name);
        if is_new && self.seen.len() < MAX_SEEN {
            self.seen.push((what, name.to_owned()));
        }
        is_new
    }

    /// Counts an article, and returns whether it is the first above the limit.
    pub(super) fn has_too_many_news(&mut self) -> bool {
        self.news += 1;
        self.news == MAX_NEWS_PER_FILE + 1
    }
}
