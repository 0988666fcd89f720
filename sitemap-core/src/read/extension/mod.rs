//! Extensions while they are read: which vocabulary an element is of ([`ElementOrigin`]), and the elements of an entry in the making
//! ([`Parts`]).
//!
//! The table of elements lists those of each extension; `values` turns their texts into data. A value that cannot be used is left
//! out, with the element that requires it, but never the entry.

mod namespace;
mod values;

pub(super) use namespace::{ElementOrigin, Origins};

use self::values::{read_alternate, read_custom, read_element};
use super::{
    Position, Problem,
    draft::ElementText,
    progress::{Progress, quoted},
    stack::Meaning,
    start_tag::{Attributes, StartTag, attribute_value},
};
use crate::{
    Loc,
    extension::{
        CustomNamespace, Extension, ExtensionError, Extensions, MAX_ENTRY_BYTES, MAX_NEWS_PER_FILE,
        Row, ValueKind, ValueProblem, element_of,
    },
};

/// Memory of an element besides its texts, in round numbers.
const ELEMENT_BYTES: u64 = 64;

/// The extensions of an entry while they come in.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The open element of an extension.
    fields: Option<Fields>,
    /// The open element of a custom namespace.
    custom: Option<CustomElementDraft>,
    extensions: Extensions,
    /// Start of each video.
    videos: Vec<Position>,
    bytes: u64,
    /// Something was left out for its size; that is reported once.
    is_full: bool,
    /// The articles in the file so far.
    news: u64,
}

/// An element of an extension that has elements itself, such as a video, while they come in.
#[derive(Debug)]
struct Fields {
    extension: Extension,
    /// The start.
    position: Position,
    /// Elements in it that have elements themselves, such as a publication.
    containers: Vec<&'static str>,
    read: Vec<Field>,
}

/// An element with a text.
#[derive(Debug)]
struct Field {
    row: &'static Row,
    /// `None` when it cannot be used, which was reported, and before its end.
    text: Option<String>,
    attributes: Attributes,
    position: Position,
}

/// An element of a custom namespace while it comes in.
#[derive(Debug)]
struct CustomElementDraft {
    namespace: CustomNamespace,
    name: String,
    attributes: Vec<(String, String)>,
    position: Position,
}

impl Field {
    /// The value of an attribute.
    fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        let found = attributes.find(|(other, _)| *other == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The size in memory.
    fn bytes(&self) -> u64 {
        let attributes = self.attributes.iter().map(|(_, value)| value.len());
        let texts = self.text.as_deref().map_or(0, str::len) + attributes.sum::<usize>();
        texts as u64 + ELEMENT_BYTES
    }
}

impl Parts {
    /// An element of an extension begins in an entry.
    pub(super) fn open(
        &mut self,
        extension: Extension,
        tag: StartTag<'_>,
        progress: &mut Progress,
    ) -> Meaning {
        let row = element_of(extension);
        if tag.name() != row.local_name() {
            progress.note(Problem::UnknownPart {
                name: tag.quoted_name(),
                parent: "url",
            });
            return Meaning::Skipped;
        }
        let mut problems = Vec::new();
        let attributes = tag.known_attributes(row, &mut problems);
        if extension != Extension::Alternate {
            progress.note_all(problems, progress.position);
            self.fields = Some(Fields {
                extension,
                position: progress.position,
                containers: Vec::new(),
                read: Vec::new(),
            });
            return Meaning::Parts(row);
        }
        let alternate = read_alternate(attributes, &mut problems);
        progress.note_all(problems, progress.position);
        if let Some(alternate) = alternate {
            let bytes = alternate.href.as_str().len() as u64 + ELEMENT_BYTES;
            if self.has_room(bytes, progress.position, progress) {
                let added = self.extensions.add_alternate(alternate);
                note_refused(added, progress.position, progress);
            }
        }
        Meaning::Link
    }

    /// An element begins in one of an extension, the one of `parent`, whose latest element in the order of the schema is `latest`.
    pub(super) fn open_part(
        &mut self,
        parent: &'static Row,
        latest: &mut usize,
        origin: &ElementOrigin,
        tag: StartTag<'_>,
        progress: &mut Progress,
    ) -> Meaning {
        let Some(fields) = &mut self.fields else {
            return Meaning::Skipped;
        };
        let is_its = matches!(origin, ElementOrigin::Extension(of) if *of == fields.extension);
        let mut rows = parent.rows.iter().enumerate();
        let found = rows.find(|(_, row)| is_its && row.local_name() == tag.name());
        let Some((place, row)) = found else {
            progress.note(Problem::UnknownPart {
                name: tag.quoted_name(),
                parent: parent.name,
            });
            return Meaning::Skipped;
        };
        if place < *latest {
            progress.note(Problem::PartOrder { name: row.name });
        }
        *latest = place.max(*latest);
        if row.kind == ValueKind::Retired && parent.kind != ValueKind::Retired {
            progress.note(Problem::Retired { name: row.name });
        }
        let is_container = !row.rows.is_empty();
        let count = if is_container {
            usize::from(fields.containers.contains(&row.name))
        } else {
            let read = fields.read.iter();
            read.filter(|field| field.row.name == row.name).count()
        };
        if count >= row.most {
            progress.note(if row.most == 1 {
                Problem::RepeatedPart { name: row.name }
            } else {
                Problem::TooManyParts {
                    name: row.name,
                    limit: row.most,
                }
            });
            return Meaning::Skipped;
        }
        let mut problems = Vec::new();
        let attributes = tag.known_attributes(row, &mut problems);
        progress.note_all(problems, progress.position);
        if is_container {
            fields.containers.push(row.name);
            return Meaning::Parts(row);
        }
        fields.read.push(Field {
            row,
            text: None,
            attributes,
            position: progress.position,
        });
        Meaning::Part
    }

    /// An element of a custom namespace begins in an entry.
    pub(super) fn open_custom(
        &mut self,
        namespace: CustomNamespace,
        tag: StartTag<'_>,
        progress: &mut Progress,
    ) -> Meaning {
        let mut attributes = Vec::new();
        let mut problems = Vec::new();
        for attribute in tag.plain_attributes() {
            if let Some(value) = attribute_value(&attribute.value, "attribute", &mut problems) {
                attributes.push((quoted(attribute.key.into_inner()), value));
            }
        }
        progress.note_all(problems, progress.position);
        self.custom = Some(CustomElementDraft {
            namespace,
            name: tag.name().to_owned(),
            attributes,
            position: progress.position,
        });
        Meaning::Custom
    }

    /// The element with a text ends that began last.
    pub(super) fn close_part(&mut self, text: &ElementText, progress: &mut Progress) {
        let read = self.fields.as_mut().map(|fields| &mut fields.read);
        let Some(field) = read.and_then(|read| read.last_mut()) else {
            return;
        };
        match text.usable(field.row.name) {
            Ok(text) => field.text = Some(text.to_owned()),
            Err(problem) => progress.note_at(problem, text.position()),
        }
    }

    /// The element of `row` ends, which has elements: one of an extension, or one inside of it.
    pub(super) fn close(&mut self, row: &'static Row, progress: &mut Progress) {
        let is_whole = |fields: &mut Fields| element_of(fields.extension) == row;
        let Some(fields) = self.fields.take_if(is_whole) else {
            return;
        };
        let bytes = ELEMENT_BYTES + fields.read.iter().map(Field::bytes).sum::<u64>();
        if !self.has_room(bytes, fields.position, progress) {
            return;
        }
        let Some(element) = read_element(&fields, progress) else {
            return;
        };
        let added = self.extensions.add(element);
        if fields.extension == Extension::Video && added.is_ok() {
            self.videos.push(fields.position);
        }
        note_refused(added, fields.position, progress);
    }

    /// The element of a custom namespace ends.
    pub(super) fn close_custom(&mut self, text: &ElementText, progress: &mut Progress) {
        let Some(custom) = self.custom.take() else {
            return;
        };
        let text = text
            .usable("custom element")
            .map_err(|problem| progress.note_at(problem, custom.position))
            .ok();
        let attributes = custom.attributes.iter();
        let attributes = attributes.map(|(name, value)| name.len() + value.len());
        let bytes = custom.name.len() + attributes.sum::<usize>() + text.map_or(0, str::len);
        let mut problems = Vec::new();
        let element = read_custom(
            &custom.namespace,
            &custom.name,
            custom.attributes,
            text,
            &mut problems,
        );
        progress.note_all(problems, custom.position);
        if let Some(element) = element
            && self.has_room(bytes as u64 + ELEMENT_BYTES, custom.position, progress)
        {
            let added = self.extensions.add_custom(element);
            note_refused(added, custom.position, progress);
        }
    }

    fn has_room(&mut self, bytes: u64, position: Position, progress: &mut Progress) -> bool {
        let is_over = self.is_full || self.bytes + bytes > MAX_ENTRY_BYTES;
        if is_over && !self.is_full {
            self.is_full = true;
            progress.note_at(Problem::ExtensionsTooLarge, position);
        }
        if !is_over {
            self.bytes += bytes;
        }
        !is_over
    }

    /// Takes all of them for an entry that begins at `entry` and is about `page`, without parts that contradict its address. An
    /// element that the end of the file cut short is not in it.
    pub(super) fn take(
        &mut self,
        page: &Loc,
        entry: Position,
        progress: &mut Progress,
    ) -> Extensions {
        let Self {
            mut extensions,
            videos,
            mut news,
            ..
        } = std::mem::take(self);
        if extensions.has(Extension::News) {
            news += 1;
            if news == MAX_NEWS_PER_FILE + 1 {
                progress.note_at(Problem::TooManyNews, entry);
            }
        }
        self.news = news;
        for (index, error) in extensions.remove_contradictions(page) {
            let position = videos.get(index).copied().unwrap_or(Position::START);
            progress.note_at(Problem::RefusedPart(error), position);
        }
        extensions
    }

    /// Forgets those of an entry that is left out.
    pub(super) fn clear(&mut self) {
        *self = Self {
            news: self.news,
            ..Self::default()
        };
    }
}

fn note_refused(added: Result<(), ExtensionError>, position: Position, progress: &mut Progress) {
    if let Err(error) = added {
        progress.note_at(Problem::RefusedPart(error), position);
    }
}
