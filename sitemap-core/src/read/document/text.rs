//! Text of a [`Document`]: characters between tags, CDATA sections and references, in any element.

use quick_xml::{
    escape::resolve_xml_entity,
    events::{BytesCData, BytesRef, BytesText},
};

use super::{Document, Meaning, Once, Problem, ReadError, quoted};
use crate::{
    extension::is_xml_character,
    read::syntax::{html_entity, is_name, is_white_space},
};

impl Document {
    /// Returns whether the next text is the value of an element of a sitemap.
    fn is_in_value(&self) -> bool {
        self.stack.meaning().is_some_and(Meaning::is_value)
    }

    /// Bytes of the token mean nothing in the encoding of the file.
    pub(in crate::read) fn malformed_bytes(&mut self) {
        if self.is_in_value() {
            // It is reported when the value is left out.
            self.text.set_malformed();
        } else {
            self.progress.note(Problem::NotUtf8);
        }
    }

    /// Text between tags and references, as in the file.
    pub(in crate::read) fn characters(&mut self, text: &BytesText<'_>) -> Result<(), ReadError> {
        // The parser gives an ampersand that begins no reference as text of its own.
        if text.starts_with('&') {
            self.progress.note(Problem::BareAmpersand);
        }
        if self.is_in_value()
            && let Some(character) = text.chars().find(|character| "\"'>".contains(*character))
            && self.progress.is_new(Once::RawCharacter, "")
        {
            self.progress.note(Problem::RawCharacter { character });
        }
        if text.contains("]]>") {
            self.progress.note_ill_formed("text contains ]]>");
        }
        self.text_of_document(&text.xml10_content())
    }

    pub(in crate::read) fn character_data(
        &mut self,
        text: &BytesCData<'_>,
    ) -> Result<(), ReadError> {
        self.note_if_outside();
        let content = text.xml10_content();
        let meaning = self.stack.meaning();
        // White space between elements is ignored, but a blank section is text to common validators.
        if content.bytes().all(is_white_space) && meaning.is_some_and(Meaning::has_elements_only) {
            self.progress.note(Problem::StrayText);
            return Ok(());
        }
        self.text_of_document(&content)
    }

    /// Text outside of the root element, where none is allowed. If it is not blank, it also ends the reading.
    pub(in crate::read) fn note_if_outside(&mut self) {
        if self.stack.meaning().is_none() {
            self.progress
                .note_ill_formed("text outside of the root element");
        }
    }

    fn text_of_document(&mut self, text: &str) -> Result<(), ReadError> {
        let is_blank = text.bytes().all(is_white_space);
        match self.stack.meaning() {
            Some(meaning) if meaning.is_value() => self.text.push(text),
            Some(Meaning::Field(_)) => self.text.push(text),
            // A link has no content at all.
            Some(Meaning::Link) if !text.is_empty() => self.progress.note(Problem::StrayText),
            Some(Meaning::Entries | Meaning::Parts(_)) if !is_blank => {
                self.progress.note(Problem::StrayText);
            }
            Some(Meaning::Entry) if !is_blank => {
                if self.stray.is_blank() {
                    self.stray.begin(self.progress.position);
                    self.progress.note(Problem::StrayText);
                }
                self.stray.push(text);
            }
            Some(
                Meaning::Entries
                | Meaning::Entry
                | Meaning::Parts(_)
                | Meaning::Link
                | Meaning::Feed
                | Meaning::Channel
                | Meaning::Item
                | Meaning::LostEntry(_)
                | Meaning::Skipped
                | Meaning::Value(_)
                | Meaning::InLoc
                | Meaning::Part
                | Meaning::Custom,
            ) => {}
            // There is one of them before a declaration that is late, or between two roots.
            None if text.trim_matches('\u{FEFF}').trim().is_empty() => {
                if !is_blank {
                    self.note_if_outside();
                }
            }
            None if self.is_after_root() => {
                return Err(self.progress.fatal(Problem::AfterRoot));
            }
            None => return Err(self.progress.fatal(Problem::NotXml)),
        }
        Ok(())
    }

    /// A reference such as `&amp;` or `&#38;`.
    pub(in crate::read) fn reference(&mut self, reference: &BytesRef<'_>) -> Result<(), ReadError> {
        let name: &str = reference;
        self.note_if_outside();
        if reference.is_char_ref() {
            let Ok(Some(character)) = reference.resolve_char_ref() else {
                self.progress
                    .note_ill_formed("character reference names no character");
                return self.text_of_document("\u{FFFD}");
            };
            if !is_xml_character(character) {
                self.progress.note(Problem::ForbiddenCharacter);
            }
            return self.text_of_document(character.encode_utf8(&mut [0; 4]));
        }
        if let Some(text) = resolve_xml_entity(name) {
            return self.text_of_document(text);
        }
        if !is_name(name) {
            // `?a=1&b=2;c=3` looks like a reference, but is an ampersand that was not escaped.
            self.progress.note(Problem::BareAmpersand);
            self.text_of_document("&")?;
            self.text_of_document(name)?;
            return self.text_of_document(";");
        }
        let name = quoted(name);
        if let Some(text) = html_entity(reference) {
            self.progress.note(Problem::HtmlEntity { name });
            return self.text_of_document(text);
        }
        if self.is_in_value() || matches!(self.stack.meaning(), Some(Meaning::Field(_))) {
            self.text.set_undefined_entity(name);
        } else {
            self.progress.note(Problem::UndefinedEntity { name });
        }
        Ok(())
    }
}
