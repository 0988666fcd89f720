//! Text of a [`Document`]: characters between tags, CDATA sections and references, in any element.

use quick_xml::{
    escape::{resolve_html5_entity, resolve_xml_entity},
    events::{BytesCData, BytesRef, BytesText},
};

use super::{Document, Place, quoted};
use crate::{
    extension::is_xml_character,
    read::{
        Problem, ReadError,
        syntax::{is_name, is_white_space},
    },
};

impl Document {
    /// Bytes of the token mean nothing in the encoding of the file.
    pub(in crate::read) fn malformed_bytes(&mut self) {
        let is_in_value = self.is_in_value();
        if is_in_value && self.skipped_depth == 0 {
            // It is reported when the value is left out.
            self.text.set_malformed();
        } else {
            self.note(Problem::NotUtf8);
        }
    }

    /// Text between tags and references, as in the file.
    pub(in crate::read) fn characters(&mut self, text: &BytesText<'_>) -> Result<(), ReadError> {
        // The parser gives an ampersand that begins no reference as text of its own.
        if text.starts_with('&') {
            self.note(Problem::BareAmpersand);
        }
        if self.is_in_value()
            && self.skipped_depth == 0
            && !self.has_raw_character
            && let Some(character) = text.chars().find(|character| "\"'>".contains(*character))
        {
            self.has_raw_character = true;
            self.note(Problem::RawCharacter { character });
        }
        if text.contains("]]>") {
            self.note(Problem::IllFormed {
                what: "text contains ]]>",
            });
        }
        self.text_of_document(&text.xml10_content())
    }

    pub(in crate::read) fn character_data(
        &mut self,
        text: &BytesCData<'_>,
    ) -> Result<(), ReadError> {
        self.note_if_outside();
        let content = text.xml10_content();
        // White space between elements is ignored, but a blank section is text to common validators.
        if content.bytes().all(is_white_space) && self.is_between_elements() {
            self.note(Problem::StrayText);
            return Ok(());
        }
        self.text_of_document(&content)
    }

    /// Returns whether the parser is in an element of the protocol or of an extension that has elements or nothing.
    fn is_between_elements(&self) -> bool {
        match self.skipped_depth {
            0 => match self.place {
                Place::Root | Place::Entry => true,
                Place::Extension => !self.extended.is_in_value(),
                Place::Prolog | Place::Value(_) | Place::Feed | Place::Epilog | Place::Done => {
                    false
                }
            },
            1 => self.extended.is_in_link(),
            _ => false,
        }
    }

    /// Text outside of the root element, where none is allowed. If it is not blank, it also ends the reading.
    pub(in crate::read) fn note_if_outside(&mut self) {
        if matches!(self.place, Place::Prolog | Place::Epilog) {
            self.note(Problem::IllFormed {
                what: "text outside of the root element",
            });
        }
    }

    fn text_of_document(&mut self, text: &str) -> Result<(), ReadError> {
        if self.skipped_depth > 1 || (self.skipped_depth > 0 && !self.extended.is_in_link()) {
            return Ok(());
        }
        if self.skipped_depth > 0 {
            // A link has no content at all.
            if !text.is_empty() {
                self.note(Problem::StrayText);
            }
            return Ok(());
        }
        let is_blank = text.bytes().all(is_white_space);
        match self.place {
            Place::Value(_) => self.text.push(text),
            Place::Extension if self.extended.is_in_value() => self.text.push(text),
            Place::Feed => self.text_in_feed(text),
            Place::Root | Place::Extension if !is_blank => self.note(Problem::StrayText),
            Place::Entry if !is_blank => {
                if self.stray.is_blank() {
                    self.stray.begin(self.token_position);
                    self.note(Problem::StrayText);
                }
                self.stray.push(text);
            }
            // There is one of them before a declaration that is late, or between two roots.
            Place::Prolog | Place::Epilog if text.trim_matches('\u{FEFF}').trim().is_empty() => {
                if !is_blank {
                    self.note_if_outside();
                }
            }
            Place::Prolog => return Err(self.fatal(Problem::NotXml)),
            Place::Epilog => return Err(self.fatal(Problem::AfterRoot)),
            Place::Root | Place::Entry | Place::Extension | Place::Done => {}
        }
        Ok(())
    }

    /// A reference such as `&amp;` or `&#38;`.
    pub(in crate::read) fn reference(&mut self, reference: &BytesRef<'_>) -> Result<(), ReadError> {
        let name: &str = reference;
        self.note_if_outside();
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
        if let Some(text) = resolve_html5_entity(name) {
            self.note(Problem::HtmlEntity { name: quoted(name) });
            return self.text_of_document(text);
        }
        match self.place {
            Place::Value(_) if self.skipped_depth == 0 => {
                self.text.set_undefined_entity(quoted(name));
            }
            Place::Extension if self.skipped_depth == 0 && self.extended.is_in_value() => {
                self.text.set_undefined_entity(quoted(name));
            }
            Place::Feed if self.skipped_depth == 0 && self.feed.is_in_value() => {
                self.text.set_undefined_entity(quoted(name));
            }
            Place::Value(_)
            | Place::Extension
            | Place::Feed
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
}
