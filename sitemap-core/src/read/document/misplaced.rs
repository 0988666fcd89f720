//! Elements in the wrong place: their problems, and the entries that are lost with them.

use quick_xml::{
    events::BytesStart,
    name::{Namespace, NamespaceResolver, ResolveResult},
};

use super::{Document, Place, entry_name, local_name};
use crate::{
    limits::NAMESPACE,
    read::{Kind, Position, Problem, draft::Tag, extension::beginning_of, names},
};

/// An entry in something that is skipped.
#[derive(Clone, Copy, Debug)]
pub(super) struct SkippedEntry {
    name: &'static str,
    /// Number of skipped elements around it.
    depth: usize,
    position: Position,
}

impl Document {
    /// Reports an entry in a skipped element, or in an element of an extension: it is lost.
    ///
    /// In the root element the meaning is clear. In an entry an extension may have an element of this name without its prefix, so
    /// there an entry needs a `<loc>`.
    pub(super) fn look_for_lost_entry(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) {
        let Some(kind) = self.root_kind else { return };
        let Some(name) = names::meant_by(start.local_name().into_inner(), kind) else {
            return;
        };
        if !self.is_of_protocol(start, namespaces) {
            return;
        }
        let depth = self.skipped_depth;
        if name == entry_name(kind) {
            let position = self.token_position;
            if self.place == Place::Root {
                self.note_at(Problem::LostEntry { name }, position);
            } else {
                self.skipped_entry = Some(SkippedEntry {
                    name,
                    depth,
                    position,
                });
            }
        } else if name == Tag::Loc.name()
            && let Some(SkippedEntry { name, position, .. }) =
                self.skipped_entry.take_if(|entry| entry.depth + 1 == depth)
        {
            self.note_at(Problem::LostEntry { name }, position);
        }
    }

    /// An element that was skipped ended.
    pub(super) fn leave_skipped(&mut self) {
        let depth = self.skipped_depth;
        self.skipped_entry.take_if(|entry| entry.depth >= depth);
    }

    /// Returns whether an element is the protocol's, by its namespace alone.
    pub(super) fn is_of_protocol(
        &self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> bool {
        match namespaces.resolve_element(start.name()).0 {
            ResolveResult::Bound(Namespace(found)) => {
                found == NAMESPACE || self.namespace.as_deref() == Some(beginning_of(found))
            }
            ResolveResult::Unbound => true,
            ResolveResult::Unknown(prefix) => self.root_prefix.as_deref() == Some(&*prefix),
        }
    }

    /// Problem of an element in a `parent` that does not allow it.
    pub(super) fn unexpected(&self, start: &BytesStart<'_>, parent: &'static str) -> Problem {
        let name = start.local_name().into_inner();
        let kind = self.root_kind.unwrap_or(Kind::UrlSet);
        let root = || names::root(name).map(|(root, _)| root);
        match names::meant_by(name, kind).or_else(root) {
            Some(name) => Problem::Misplaced { name, parent },
            None => Problem::UnknownElement {
                name: local_name(start),
            },
        }
    }
}
