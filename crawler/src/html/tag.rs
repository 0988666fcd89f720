//! A tag: the search for its end, its name and its attributes.

#[cfg(any(test, feature = "testing"))]
use super::text::ends_name;
use wide::u8x16;

use super::{MAX_TAG_BYTES, name::Name, scan::find_near};

/// Attributes of a tag that are kept; the pages of the large sites have up to 60.
pub(super) const MAX_ATTRIBUTES: usize = 256;

/// A start or end tag.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tag<'t> {
    /// From its `<`.
    bytes: &'t [u8],
    name: Name,
    attributes: &'t [AttributePlace],
    is_self_closing: bool,
}

/// The places of an attribute in its tag.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AttributePlace {
    name_from: usize,
    name_to: usize,
    value_from: usize,
    value_to: usize,
}

/// The search for the end of a tag (HTML standard sections 13.2.5.8 and 13.2.5.32 to 13.2.5.40). It goes on where the last
/// piece ended.
#[derive(Debug, Default)]
pub(super) struct TagScan {
    state: TagState,
    /// Bytes of the tag that are read.
    at: usize,
    name_to: usize,
    is_end: bool,
    is_self_closing: bool,
    /// The attribute that is being read.
    open: AttributePlace,
    attributes: Vec<AttributePlace>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TagState {
    #[default]
    Name,
    BeforeAttribute,
    AttributeName,
    AfterAttributeName,
    BeforeValue,
    /// In a value between quotation marks like this.
    Quoted(u8),
    Unquoted,
    AfterQuoted,
    /// After a `/`.
    Slash,
}

impl<'t> Tag<'t> {
    /// The name.
    pub(crate) fn name(&self) -> Name {
        self.name
    }

    /// The name as written.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn name_as_written(&self) -> &'t [u8] {
        let begin = if self.bytes.starts_with(b"</") { 2 } else { 1 };
        let name = &self.bytes[begin..];
        let end = name.iter().position(|byte| ends_name(*byte));
        &name[..end.unwrap_or(name.len())]
    }

    /// Returns whether it ends with `/>`.
    pub(crate) fn is_self_closing(&self) -> bool {
        self.is_self_closing
    }

    /// Number of bytes, from `<` to `>`; of a tag that is not kept whole, those that are kept.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether it has any attribute.
    pub(crate) fn has_attributes(&self) -> bool {
        !self.attributes.is_empty()
    }

    /// The value of the first attribute with this name in lower case, as written.
    pub(crate) fn attribute(&self, name: &str) -> Option<&'t [u8]> {
        let mut attributes = self.all_attributes();
        let found = attributes.find(|(other, _)| other.eq_ignore_ascii_case(name.as_bytes()));
        found.map(|(_, value)| value)
    }

    /// Names and values as written, in their order; of those with one name only the first counts.
    pub(super) fn all_attributes(&self) -> impl Iterator<Item = (&'t [u8], &'t [u8])> + use<'t> {
        let bytes = self.bytes;
        let places = self.attributes.iter();
        places.map(|at| {
            (
                &bytes[at.name_from..at.name_to],
                &bytes[at.value_from..at.value_to],
            )
        })
    }
}

impl TagScan {
    /// Begins with a tag whose first letter is known to come next.
    #[inline]
    pub(super) fn begin(&mut self, is_end: bool) {
        self.state = TagState::Name;
        self.at = 1 + usize::from(is_end);
        self.name_to = 0;
        self.is_end = is_end;
        self.is_self_closing = false;
        self.attributes.clear();
    }

    /// Returns whether the tag is an end tag.
    pub(super) fn is_end(&self) -> bool {
        self.is_end
    }

    /// Reads a tag that is written as most are, from its `<`: it has come whole, and no space is around a `=` or after a
    /// name without one. Returns its length; `None` leaves it to [`Self::scan`].
    #[inline]
    pub(super) fn plain(&mut self, tag: &[u8]) -> Option<usize> {
        let length = self.read_plain(tag);
        if length.is_none() {
            self.begin(self.is_end);
        }
        length
    }

    fn read_plain(&mut self, tag: &[u8]) -> Option<usize> {
        let mut at = self.at + name_bytes(tag.get(self.at..)?);
        self.name_to = at;
        loop {
            match tag.get(at..)? {
                [b'>', ..] => break,
                [b'/', b'>', ..] => {
                    self.is_self_closing = true;
                    at += 1;
                    break;
                }
                [b'/' | b'=', ..] => return None,
                [byte, ..] if is_space(*byte) => {
                    at += 1;
                    continue;
                }
                _ => {}
            }
            let mut attribute = AttributePlace {
                name_from: at,
                ..AttributePlace::default()
            };
            at += name_bytes(&tag[at..]);
            attribute.name_to = at;
            match tag.get(at..)? {
                [b'=', mark @ (b'"' | b'\''), value @ ..] => {
                    attribute.value_from = at + 2;
                    attribute.value_to = at + 2 + find_near(*mark, value)?;
                    at = attribute.value_to + 1;
                }
                [b'=', first, ..] if !is_space(*first) && *first != b'>' => {
                    attribute.value_from = at + 1;
                    at += 1;
                    let mut value = tag[at..].iter();
                    at += value.position(|byte| is_space(*byte) || *byte == b'>')?;
                    attribute.value_to = at;
                }
                [b'>', ..] => {}
                _ => return None,
            }
            if self.attributes.len() == MAX_ATTRIBUTES {
                return None;
            }
            self.attributes.push(attribute);
        }
        self.at = at + 1;
        (self.at <= MAX_TAG_BYTES).then_some(self.at)
    }

    /// The tag that has been read: so many bytes of the input, from its `<` on; of a long tag, the first.
    #[inline]
    pub(super) fn tag<'t>(&'t self, input: &'t [u8], length: usize) -> Tag<'t> {
        let name_from = 1 + usize::from(self.is_end);
        Tag {
            bytes: &input[..length],
            name: Name::of_first(&input[name_from..], self.name_to - name_from),
            attributes: &self.attributes,
            is_self_closing: self.is_self_closing,
        }
    }

    /// Looks for the end in all bytes of the tag that have come, from its `<`; returns its length.
    pub(super) fn scan(&mut self, tag: &[u8]) -> Option<usize> {
        let read = self.at;
        self.go_on(&tag[read..]).map(|length| read + length)
    }

    /// Looks for the end in the bytes after those that were read; returns the length of the end.
    pub(super) fn go_on(&mut self, input: &[u8]) -> Option<usize> {
        let begin = self.at;
        let mut at = 0;
        while let Some(&byte) = input.get(at) {
            let is_space = is_space(byte);
            let place = begin + at;
            at += 1;
            self.state = match self.state {
                TagState::Name => {
                    if !(is_space || matches!(byte, b'/' | b'>')) {
                        at += name_bytes(&input[at..]);
                        continue;
                    }
                    self.name_to = place.min(MAX_TAG_BYTES);
                    match byte {
                        b'>' => return Some(self.end(begin, at)),
                        b'/' => TagState::Slash,
                        _ => TagState::BeforeAttribute,
                    }
                }
                TagState::BeforeAttribute | TagState::Slash | TagState::AfterQuoted => match byte {
                    _ if is_space => TagState::BeforeAttribute,
                    b'>' => {
                        self.is_self_closing = self.state == TagState::Slash;
                        return Some(self.end(begin, at));
                    }
                    b'/' => TagState::Slash,
                    _ => self.open_attribute(place),
                },
                TagState::AttributeName => match byte {
                    _ if is_space => self.end_of_name(place, TagState::AfterAttributeName),
                    b'=' => self.end_of_name(place, TagState::BeforeValue),
                    b'/' | b'>' => {
                        let next = self.end_of_name(place, TagState::Slash);
                        self.close_attribute();
                        if byte == b'>' {
                            return Some(self.end(begin, at));
                        }
                        next
                    }
                    _ => {
                        at += name_bytes(&input[at..]);
                        continue;
                    }
                },
                TagState::AfterAttributeName => match byte {
                    _ if is_space => continue,
                    b'=' => TagState::BeforeValue,
                    _ => {
                        self.close_attribute();
                        match byte {
                            b'/' => TagState::Slash,
                            b'>' => return Some(self.end(begin, at)),
                            _ => self.open_attribute(place),
                        }
                    }
                },
                TagState::BeforeValue => match byte {
                    _ if is_space => continue,
                    b'>' => {
                        self.close_attribute();
                        return Some(self.end(begin, at));
                    }
                    b'"' | b'\'' => {
                        self.open.value_from = place + 1;
                        TagState::Quoted(byte)
                    }
                    _ => {
                        self.open.value_from = place;
                        TagState::Unquoted
                    }
                },
                TagState::Quoted(mark) => {
                    let rest = &input[at - 1..];
                    let Some(length) = memchr::memchr(mark, rest) else {
                        break;
                    };
                    at += length;
                    self.open.value_to = place + length;
                    self.close_attribute();
                    TagState::AfterQuoted
                }
                TagState::Unquoted => {
                    if !is_space && byte != b'>' {
                        continue;
                    }
                    self.open.value_to = place;
                    self.close_attribute();
                    if byte == b'>' {
                        return Some(self.end(begin, at));
                    }
                    TagState::BeforeAttribute
                }
            };
        }
        self.at = begin + input.len();
        None
    }

    fn end(&mut self, begin: usize, length: usize) -> usize {
        self.at = begin + length;
        length
    }

    fn open_attribute(&mut self, place: usize) -> TagState {
        self.open = AttributePlace {
            name_from: place,
            ..AttributePlace::default()
        };
        TagState::AttributeName
    }

    fn end_of_name(&mut self, place: usize, next: TagState) -> TagState {
        self.open.name_to = place;
        next
    }

    /// Keeps the attribute, unless it ends beyond the bytes that are kept.
    fn close_attribute(&mut self) {
        let end = self.open.name_to.max(self.open.value_to);
        if end <= MAX_TAG_BYTES && self.attributes.len() < MAX_ATTRIBUTES {
            self.attributes.push(self.open);
        }
    }
}

/// Class of a space.
const IS_SPACE: u8 = 1;

/// Class of a byte that may end a name.
const ENDS_NAME: u8 = 1 << 1;

/// Classes of each byte.
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        classes[byte as usize] = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0c => IS_SPACE | ENDS_NAME,
            b'/' | b'>' | b'=' => ENDS_NAME,
            _ => 0,
        };
        if byte == u8::MAX {
            return classes;
        }
        byte += 1;
    }
}

#[inline]
fn is_space(byte: u8) -> bool {
    CLASSES[usize::from(byte)] & IS_SPACE != 0
}

/// Number of bytes before one that may end a name.
#[inline]
fn name_bytes(input: &[u8]) -> usize {
    if let Some(bytes) = input.first_chunk() {
        let bytes = u8x16::new(*bytes);
        let is = |byte: u8| bytes.simd_eq(u8x16::splat(byte));
        let spaces = bytes.max(u8x16::splat(b' ')).simd_eq(u8x16::splat(b' '));
        let ends = (spaces | is(b'/') | is(b'>') | is(b'=')).to_bitmask();
        let end = ends.trailing_zeros() as usize;
        let is_end = |byte: &u8| CLASSES[usize::from(*byte)] & ENDS_NAME != 0;
        // A control character is not the end of a name.
        if input[..16].get(end).is_some_and(is_end) {
            return end;
        }
    }
    let mut bytes = input.iter();
    let end = bytes.position(|byte| CLASSES[usize::from(*byte)] & ENDS_NAME != 0);
    end.unwrap_or(input.len())
}
