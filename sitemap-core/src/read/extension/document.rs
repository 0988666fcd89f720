//! Handling of the events of the XML parser in the extensions of an entry: the second half of [`Document`].

use std::borrow::Cow;

use quick_xml::{
    events::BytesStart,
    name::{Namespace, NamespaceResolver, PrefixDeclaration, ResolveResult},
};

use super::{
    Collected, Fields, Once, Opened, Position, Problem, Reported,
    attribute::{attribute_value, read_attributes},
    namespace::{ElementOrigin, Spelling, beginning_of, of_namespace, of_prefix},
    values::{read_alternate, read_custom},
};
use crate::{
    Loc,
    extension::{CustomNamespace, Extension, Extensions, element_of},
    limits::NAMESPACE,
    read::{
        Kind, ReadError,
        document::{Document, MAX_ATTRIBUTES, Place, local_name, quoted},
    },
};

/// Extensions while the document is read.
#[derive(Debug, Default)]
pub(in crate::read) struct Extended {
    /// The namespaces whose elements the caller asked for.
    custom_namespaces: Vec<CustomNamespace>,
    /// The open element of an extension.
    fields: Option<Fields>,
    /// The open element of a custom namespace.
    own: Option<CustomElementDraft>,
    /// The extensions of the entry so far.
    collected: Collected,
    reported: Reported,
    /// The parser is in a link, which has nothing inside and is skipped.
    in_link: bool,
}

/// An element of a custom namespace while it comes in.
#[derive(Debug)]
struct CustomElementDraft {
    namespace: CustomNamespace,
    name: String,
    attributes: Vec<(String, String)>,
    position: Position,
}

impl Extended {
    pub(in crate::read) fn set_custom_namespaces(&mut self, namespaces: &[CustomNamespace]) {
        self.custom_namespaces = namespaces.to_vec();
    }

    /// Returns whether this is the first time that the name of an element is met in another case.
    pub(in crate::read) fn is_new_name_case(&mut self, name: &'static str) -> bool {
        self.reported.is_new(Once::NameCase, name)
    }

    /// Returns whether the skipped element is a link to another version of the page.
    pub(in crate::read) fn is_in_link(&self) -> bool {
        self.in_link
    }

    /// Ends the skipped element.
    pub(in crate::read) fn end_link(&mut self) {
        self.in_link = false;
    }

    /// An entry begins.
    pub(in crate::read) fn begin_entry(&mut self) {
        self.collected = Collected::default();
    }

    /// Returns whether the parser is in the text of an element.
    pub(in crate::read) fn is_in_value(&self) -> bool {
        self.own.is_some() || self.fields.as_ref().is_some_and(Fields::is_in_field)
    }
}

impl Document {
    fn is_new(&mut self, what: Once, name: &str) -> bool {
        self.extended.reported.is_new(what, name)
    }

    /// Reports a problem; of retired elements only the first of its kind.
    fn report(&mut self, problem: Problem, position: Position) {
        if let Problem::Retired { name } = problem
            && !self.is_new(Once::Retired, name)
        {
            return;
        }
        self.note_at(problem, position);
    }

    fn note_all(&mut self, problems: Vec<(Problem, Position)>) {
        for (problem, position) in problems {
            self.report(problem, position);
        }
    }

    /// Reports the problems of the element that just began.
    fn note_here(&mut self, problems: Vec<Problem>) {
        for problem in problems {
            self.report(problem, self.token_position);
        }
    }

    /// An element of an entry that is not the protocol's.
    pub(in crate::read) fn open_extension(
        &mut self,
        origin: ElementOrigin,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<(), ReadError> {
        match origin {
            _ if self.root_kind != Some(Kind::UrlSet) => self.skip_foreign(&origin, start),
            ElementOrigin::Extension(Extension::Alternate) => self.link(start, namespaces),
            ElementOrigin::Extension(extension) => {
                let name = start.local_name().into_inner();
                let Some(fields) = Fields::begin(extension, name, self.token_position) else {
                    self.note(Problem::UnknownPart {
                        name: quoted(name),
                        parent: "url",
                    });
                    return self.skip();
                };
                let mut problems = Vec::new();
                read_attributes(start, namespaces, element_of(extension), &mut problems);
                self.note_here(problems);
                self.extended.fields = Some(fields);
                self.place = Place::Extension;
                Ok(())
            }
            ElementOrigin::Custom(namespace) => {
                self.open_custom(namespace, start);
                Ok(())
            }
            ElementOrigin::Protocol | ElementOrigin::Retired(_) | ElementOrigin::Unknown => {
                self.skip_foreign(&origin, start)
            }
        }
    }

    /// A link to another version of the page: all of it is in its attributes.
    fn link(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<(), ReadError> {
        let name = start.local_name().into_inner();
        if name != "link" {
            self.note(Problem::UnknownPart {
                name: quoted(name),
                parent: "url",
            });
            return self.skip();
        }
        let mut problems = Vec::new();
        let row = element_of(Extension::Alternate);
        let attributes = read_attributes(start, namespaces, row, &mut problems);
        let alternate = read_alternate(attributes, &mut problems);
        self.note_here(problems);
        if let Some(alternate) = alternate {
            let bytes = alternate.href.as_str().len();
            let mut problems = Vec::new();
            let position = self.token_position;
            self.extended
                .collected
                .add_with(bytes, position, &mut problems, |extensions| {
                    extensions.add_alternate(alternate)
                });
            self.note_all(problems);
        }
        self.extended.in_link = true;
        self.skip()
    }

    /// An element in a link, which has none.
    pub(in crate::read) fn note_in_link(&mut self, start: &BytesStart<'_>) {
        self.note(Problem::UnknownPart {
            name: local_name(start),
            parent: "xhtml:link",
        });
    }

    fn open_custom(&mut self, namespace: CustomNamespace, start: &BytesStart<'_>) {
        let mut attributes = Vec::new();
        let mut problems = Vec::new();
        for attribute in start.attributes().take(MAX_ATTRIBUTES) {
            let Ok(attribute) = attribute else { break };
            if attribute.key.as_namespace_binding().is_none()
                && let Some(value) = attribute_value(&attribute.value, "attribute", &mut problems)
            {
                attributes.push((quoted(attribute.key.into_inner()), value));
            }
        }
        self.note_here(problems);
        self.extended.own = Some(CustomElementDraft {
            namespace,
            name: start.local_name().into_inner().to_owned(),
            attributes,
            position: self.token_position,
        });
        self.text.begin(self.token_position);
        self.place = Place::Extension;
    }

    /// An element in an element of an extension or of a custom namespace.
    pub(in crate::read) fn open_in_extension(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<(), ReadError> {
        if self.extended.is_in_value() {
            self.note(Problem::UnknownElement {
                name: local_name(start),
            });
            return self.skip();
        }
        self.open_part(start, namespaces)
    }

    /// The open element ends.
    pub(in crate::read) fn close_in_extension(&mut self) {
        if self.extended.own.is_some() {
            self.close_custom();
        } else if self.extended.is_in_value() {
            self.close_part();
        } else {
            self.close_extension();
        }
    }

    fn open_part(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<(), ReadError> {
        let origin = self.origin(start, namespaces);
        let Some(fields) = &mut self.extended.fields else {
            return self.skip();
        };
        if !matches!(&origin, ElementOrigin::Extension(extension) if *extension == fields.extension)
        {
            let problem = Problem::UnknownPart {
                name: local_name(start),
                parent: fields.name(),
            };
            self.note(problem);
            return self.skip();
        }
        let mut problems = Vec::new();
        let position = self.token_position;
        let opened = fields.open(
            start.local_name().into_inner(),
            position,
            |row, problems| read_attributes(start, namespaces, row, problems),
            &mut problems,
        );
        self.note_here(problems);
        match opened {
            Opened::Field => {
                self.text.begin(position);
                Ok(())
            }
            Opened::Container => Ok(()),
            Opened::Skipped => self.skip(),
        }
    }

    /// An element in an extension ends, or the extension does.
    fn close_extension(&mut self) {
        let Some(mut fields) = self.extended.fields.take() else {
            return;
        };
        if fields.close_container() {
            self.extended.fields = Some(fields);
            return;
        }
        let mut problems = Vec::new();
        self.extended.collected.add(&fields, &mut problems);
        self.note_all(problems);
        self.place = Place::Entry;
    }

    fn close_part(&mut self) {
        let mut problems = Vec::new();
        if let Some(fields) = &mut self.extended.fields {
            fields.close_field(&self.text, &mut problems);
        }
        for problem in problems {
            self.note_at(problem, self.text.position());
        }
    }

    fn close_custom(&mut self) {
        self.place = Place::Entry;
        let Some(own) = self.extended.own.take() else {
            return;
        };
        let mut problems = Vec::new();
        let text = match self.text.usable("custom element") {
            Ok(text) => Some(text),
            Err(problem) => {
                problems.push(problem);
                None
            }
        };
        let of_attributes = own
            .attributes
            .iter()
            .map(|(name, value)| name.len() + value.len());
        let bytes = own.name.len() + of_attributes.sum::<usize>() + text.map_or(0, str::len);
        let element = read_custom(
            &own.namespace,
            &own.name,
            own.attributes,
            text,
            &mut problems,
        );
        let mut problems: Vec<(Problem, Position)> = problems
            .into_iter()
            .map(|problem| (problem, own.position))
            .collect();
        if let Some(element) = element {
            self.extended
                .collected
                .add_with(bytes, own.position, &mut problems, |extensions| {
                    extensions.add_custom(element)
                });
        }
        self.note_all(problems);
    }

    /// Takes the extensions of the entry of `page`.
    pub(in crate::read) fn take_extensions(&mut self, page: &Loc) -> Extensions {
        let collected = std::mem::take(&mut self.extended.collected);
        // An element that the end of the file cut short is not in it.
        self.extended.fields = None;
        self.extended.own = None;
        let mut problems = Vec::new();
        if collected.has_news() && self.extended.reported.has_too_many_news() {
            let problem = Problem::TooManyNews;
            problems.push((problem, self.draft.position()));
        }
        let extensions = collected.finish(page, &mut problems);
        self.note_all(problems);
        extensions
    }

    /// The vocabulary of an element: by its namespace or, where none is declared, by its prefix. The namespace of the root, a
    /// misspelled one and none at all count as that of the protocol: some libraries write `<url xmlns="">`.
    pub(in crate::read) fn origin(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> ElementOrigin {
        self.look_for_declarations(start);
        match namespaces.resolve_element(start.name()).0 {
            ResolveResult::Bound(Namespace(found))
                if found == NAMESPACE || self.namespace.as_deref() == Some(beginning_of(found)) =>
            {
                ElementOrigin::Protocol
            }
            ResolveResult::Unbound => {
                if self.namespace.is_some() {
                    self.other_namespace(None);
                }
                ElementOrigin::Protocol
            }
            ResolveResult::Bound(Namespace(found)) => {
                let found = namespace_of_declaration(beginning_of(found));
                let (origin, spelling) = of_namespace(&found, &self.extended.custom_namespaces);
                match (&origin, spelling) {
                    (ElementOrigin::Protocol, _) => self.other_namespace(Some(&found)),
                    (ElementOrigin::Extension(extension), Spelling::Wrong)
                        if self.is_new(Once::Spelling, extension.prefix()) =>
                    {
                        self.note(Problem::ExtensionNamespace {
                            found: quoted(&found),
                            extension: *extension,
                        });
                    }
                    (
                        ElementOrigin::Extension(_)
                        | ElementOrigin::Custom(_)
                        | ElementOrigin::Retired(_)
                        | ElementOrigin::Unknown,
                        _,
                    ) => {}
                }
                origin
            }
            ResolveResult::Unknown(prefix) => {
                self.undeclared_prefix(&prefix);
                if self.root_prefix.as_deref() == Some(&*prefix) {
                    return ElementOrigin::Protocol;
                }
                of_prefix(&prefix)
            }
        }
    }

    /// Reports an undeclared prefix of an element or of an attribute; once for each.
    pub(in crate::read) fn undeclared_prefix(&mut self, prefix: &str) {
        if self.is_new(Once::UndeclaredPrefix, prefix) {
            self.note(Problem::UndeclaredPrefix {
                prefix: quoted(prefix),
            });
        }
    }

    /// An element of the protocol is in another namespace than the root element; that is reported once.
    fn other_namespace(&mut self, found: Option<&str>) {
        if self.is_new(Once::OtherNamespace, "") {
            let found = found.map(quoted);
            self.note(Problem::Namespace { found });
        }
    }

    /// Reports when an element below the root declares a namespace that is not that of the root.
    fn look_for_declarations(&mut self, start: &BytesStart<'_>) {
        if !start.attributes_raw().contains("xmlns") {
            return;
        }
        let root = self.namespace.as_deref();
        let mut attributes = start.attributes().take(MAX_ATTRIBUTES).flatten();
        let declares = attributes.any(|attribute| match attribute.key.as_namespace_binding() {
            Some(PrefixDeclaration::Named(_)) => true,
            Some(PrefixDeclaration::Default) => root != Some(&*attribute.value),
            None => false,
        });
        if declares && self.is_new(Once::DeclaredBelowRoot, "") {
            self.note(Problem::DeclaredBelowRoot);
        }
    }

    /// Leaves out an element that is not the protocol's and is in the root element.
    pub(in crate::read) fn skip_outside_of_entry(
        &mut self,
        origin: &ElementOrigin,
        start: &BytesStart<'_>,
    ) -> Result<(), ReadError> {
        if let ElementOrigin::Extension(_) = origin
            && self.root_kind == Some(Kind::UrlSet)
        {
            let name = quoted(start.name().into_inner());
            self.note(Problem::OutsideEntry { name });
            return self.skip();
        }
        self.skip_foreign(origin, start)
    }

    /// Leaves out an element that is not the protocol's. It is counted, and noted where it is the first of its kind.
    pub(in crate::read) fn skip_foreign(
        &mut self,
        origin: &ElementOrigin,
        start: &BytesStart<'_>,
    ) -> Result<(), ReadError> {
        if let ElementOrigin::Retired(extension) = origin {
            self.note_here(vec![Problem::Retired {
                name: extension.prefix,
            }]);
        } else if self.is_new(Once::UnknownExtension, "") {
            let name = local_name(start);
            self.note(if self.root_kind == Some(Kind::Index) {
                Problem::ExtensionInIndex { name }
            } else {
                Problem::Extension { name }
            });
        }
        self.extension_elements += 1;
        self.skip()
    }
}

/// A namespace as it is meant; the parser gives it as it is declared, with its references.
fn namespace_of_declaration(declared: &str) -> Cow<'_, str> {
    if declared.contains('&') {
        let value = attribute_value(declared, "xmlns", &mut Vec::new());
        return value.map_or(Cow::Borrowed(declared), Cow::Owned);
    }
    Cow::Borrowed(declared)
}
