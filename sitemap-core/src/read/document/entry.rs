//! Entries of a urlset or an index: start tags, elements and yielded values.

use quick_xml::{events::BytesStart, name::NamespaceResolver};

use super::{Document, Place, entry_name};
use crate::{
    IndexEntry, Loc,
    read::{
        Item, Kind, Problem, ReadError,
        draft::{Draft, Tag},
        extension::Origin,
        names,
    },
};

impl Document {
    pub(super) fn open_entry(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<(), ReadError> {
        match self.origin(start, namespaces) {
            Origin::Protocol => {}
            foreign => return self.skip_outside_of_entry(&foreign, start),
        }
        match (self.name_of(start), self.root_kind) {
            ("url", Some(Kind::UrlSet)) | ("sitemap", Some(Kind::Index)) => {}
            ("url", Some(Kind::Index)) => return self.wrong_entry("url"),
            ("sitemap", Some(Kind::UrlSet)) => return self.wrong_entry("sitemap"),
            (name, kind) => {
                let problem = if name == Tag::Loc.name() {
                    Problem::LocOutsideEntry
                } else {
                    self.unexpected(start, names::of_root(kind.unwrap_or(Kind::UrlSet)))
                };
                self.note(problem);
                return self.skip();
            }
        }
        self.attributes(start, namespaces);
        self.count_entry()?;
        self.draft = Draft::new(self.token_position);
        self.extended.begin_entry();
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

    pub(in crate::read) fn count_entry(&mut self) -> Result<(), ReadError> {
        if self.entries >= self.max_entries {
            return Err(self.fatal(Problem::TooManyEntries {
                limit: self.max_entries,
            }));
        }
        self.entries += 1;
        Ok(())
    }

    pub(super) fn open_value(
        &mut self,
        start: &BytesStart<'_>,
        namespaces: &NamespaceResolver,
    ) -> Result<Option<Item>, ReadError> {
        match self.origin(start, namespaces) {
            Origin::Protocol => {}
            foreign => {
                self.draft.has_extension = true;
                return self
                    .open_extension(foreign, start, namespaces)
                    .map(|()| None);
            }
        }
        let name = self.name_of(start);
        let Some(tag) = Tag::of(name) else {
            let kind = self.root_kind.unwrap_or(Kind::UrlSet);
            self.note(self.unexpected(start, entry_name(kind)));
            // The end tag of the entry before is missing, or there is one start tag too many.
            if self.root_kind.is_some_and(|kind| entry_name(kind) == name) {
                self.outer_entries += 1;
                if self.draft.has(Tag::Loc) {
                    self.count_entry()?;
                    return self.split_entry();
                }
                return Ok(None);
            }
            return self.skip().map(|()| None);
        };
        if self.root_kind == Some(Kind::Index) && matches!(tag, Tag::ChangeFreq | Tag::Priority) {
            self.note(Problem::NotInIndex { name: tag.name() });
            return self.skip().map(|()| None);
        }
        let mut outcome = Ok(None);
        if tag == Tag::Loc && self.draft.has(tag) {
            self.note(Problem::ManyLocs);
            self.count_entry()?;
            outcome = self.split_entry();
        }
        if self.draft.is_out_of_order(tag) {
            self.note(Problem::Order { name: tag.name() });
        }
        if self.draft.repeats(tag) {
            self.note(Problem::Repeated { name: tag.name() });
            return self.skip().map(|()| None);
        }
        self.attributes(start, namespaces);
        self.text.begin(self.token_position);
        self.place = Place::Value(tag);
        outcome
    }

    /// Ends the entry where the next one begins inside of it.
    fn split_entry(&mut self) -> Result<Option<Item>, ReadError> {
        let outcome = self.finish_entry();
        self.place = Place::Entry;
        let next = Draft::new(self.token_position);
        self.split = Some(std::mem::replace(&mut self.draft, next));
        outcome.map(Some)
    }

    pub(super) fn set_value(&mut self, tag: Tag) {
        self.place = Place::Entry;
        for problem in self.draft.set(tag, &self.text) {
            self.note_at(problem, self.text.position());
        }
    }

    /// `<sitemap>http://...</sitemap>`: the text of an entry without `<loc>` is taken for it if it is an address.
    fn take_stray_loc(&mut self) {
        let position = self.stray.position();
        let text = self.stray.usable("loc").map(|text| text.trim().to_owned());
        self.stray.begin(position);
        let Ok(text) = text else { return };
        if self.draft.has(Tag::Loc) || Loc::parse(&text).is_err() {
            return;
        }
        let mut problems = vec![Problem::LocMissing];
        self.draft.set_loc(&text, position, &mut problems);
        for problem in problems {
            self.note_at(problem, position);
        }
    }

    pub(super) fn finish_entry(&mut self) -> Result<Item, ReadError> {
        self.place = Place::Root;
        self.take_stray_loc();
        let vague_lastmod = self.draft.vague_lastmod().map(|date| date.span.1);
        match (self.draft.finish(), self.root_kind) {
            (Ok(entry), Some(Kind::Index)) => {
                let mut sitemap = IndexEntry::new(entry.loc);
                sitemap.lastmod = entry.lastmod;
                sitemap.vague_lastmod = vague_lastmod;
                Ok(Item::Sitemap(sitemap))
            }
            (Ok(mut entry), Some(Kind::UrlSet | Kind::Text | Kind::Rss | Kind::Atom) | None) => {
                entry.extensions = self.take_extensions(&entry.loc);
                Ok(Item::Url(entry))
            }
            (Err((problem, position)), _) => Err(ReadError::Entry(self.finding(problem, position))),
        }
    }
}
