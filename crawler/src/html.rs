//! The tokenizer of HTML: bytes in pieces become tags and text (HTML standard section 13.2.5). It borrows from the piece it is
//! given, copies a tag only where a piece ends inside it, and allocates nothing per tag. It does not interpret tags.
//!
//! ```text
//! piece -> Tokenizer: data, raw text, tags, comments -> TokenSink
//!                     ^ TextModel, CDATA yes or no   <- its answer to a tag (Namespaces)
//! ```
//!
//! The input is UTF-8, or bytes of an encoding that uses ASCII bytes for ASCII only. Nothing is decoded here: names are as
//! written, and values and text have their character references; [`decode`](references::decode) and
//! [`decode_attribute`](references::decode_attribute) replace these where a value is kept.
//!
//! Memory is bounded: of a tag the first [`MAX_TAG_BYTES`] bytes are kept, of an end that a piece cut off a few bytes.

mod name;
mod namespaces;
mod references;
mod scan;
mod tag;
#[cfg(any(test, feature = "testing"))]
mod testing;
mod text;

#[cfg(test)]
mod tests;

#[cfg(any(test, feature = "testing"))]
pub use self::testing::{assert_tokens_of_html5ever, count_tags};
pub(crate) use self::{
    name::Name,
    namespaces::{ElementNamespace, Namespaces},
    references::{decode, decode_attribute},
    tag::Tag,
    text::Text,
};

use self::{
    scan::{CommentScan, Construct},
    tag::TagScan,
    text::RawTextEnd,
};

/// Bytes of a tag that are kept; attributes beyond them are not seen. Longer tags hold images as `data:` URLs.
pub(crate) const MAX_TAG_BYTES: usize = 256 * 1_024;

/// How text up to the next tag is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextModel {
    /// Tags are tags.
    Data,
    /// Character references, and no tag but the end of the element: `title`, `textarea`.
    Rcdata,
    /// No tag but the end of the element: `style`, `iframe`.
    Rawtext,
    /// As [`Self::Rawtext`], but a script inside a comment hides an end tag.
    Script,
    /// The rest of the page is text.
    Plaintext,
}

/// The kind of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// By the model of the element.
    Model(TextModel),
    /// The text of a CDATA section.
    Cdata,
}

/// The effect of a tag on the text after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Following {
    /// How it is read.
    pub(crate) model: TextModel,
    /// `<![CDATA[` begins a section: the current element is not one of HTML.
    pub(crate) allows_cdata: bool,
}

impl Following {
    /// Ordinary content of HTML.
    pub(crate) const DATA: Self = Self {
        model: TextModel::Data,
        allows_cdata: false,
    };
}

/// Takes the tokens of a page.
pub(crate) trait TokenSink {
    /// Takes a start tag.
    fn start_tag(&mut self, tag: &Tag<'_>) -> Following;

    /// Takes an end tag.
    fn end_tag(&mut self, tag: &Tag<'_>) -> Following;

    /// Takes a piece of text, never empty. A character reference or a character of UTF-8 is never in two pieces.
    fn text(&mut self, text: Text<'_>, kind: TextKind);

    /// Takes a piece of a comment; `is_last` marks its end.
    fn comment(&mut self, _piece: &[u8], _is_last: bool) {}

    /// Takes a DOCTYPE, of which nothing is read.
    fn doctype(&mut self) {}
}

/// The streaming tokenizer.
#[derive(Debug)]
pub(crate) struct Tokenizer<S> {
    sink: S,
    state: TokenState,
    /// How the text of the current element is read.
    following: Following,
    /// The end of raw text.
    raw: RawTextEnd,
    tag: TagScan,
    comment: CommentScan,
    /// Bytes of the last piece that are not a token yet; of a long tag, its first bytes.
    rest: Vec<u8>,
    /// Bytes that were looked at, again and again where a piece ended before a token did.
    #[cfg(test)]
    work: usize,
}

/// The construct that the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenState {
    /// Text, or the beginning of markup.
    Text,
    /// A tag, from its `<`.
    Tag,
    /// The rest of a tag of which no more is kept.
    LongTag,
    Comment,
    /// Construct that ends with the next `>`.
    Bogus,
    Doctype,
    Cdata,
}

impl<S: TokenSink> Tokenizer<S> {
    /// A tokenizer at the beginning of a page.
    pub(crate) fn new(sink: S) -> Self {
        Self {
            sink,
            state: TokenState::Text,
            following: Following::DATA,
            raw: RawTextEnd::new(Name::NONE),
            tag: TagScan::default(),
            comment: CommentScan::default(),
            rest: Vec::new(),
            #[cfg(test)]
            work: 0,
        }
    }

    /// Takes the next piece of the page.
    pub(crate) fn write(&mut self, piece: &[u8]) {
        let mut piece = piece;
        if self.state == TokenState::LongTag {
            let Some(end) = self.tag.go_on(piece) else {
                return;
            };
            piece = &piece[end..];
            let kept = std::mem::take(&mut self.rest);
            self.end_tag(&kept, kept.len());
        }
        if self.rest.is_empty() {
            let read = self.read(piece, false);
            self.rest.extend_from_slice(&piece[read..]);
        } else {
            let mut input = std::mem::take(&mut self.rest);
            input.extend_from_slice(piece);
            let read = self.read(&input, false);
            input.drain(..read);
            self.rest = input;
        }
        if self.state == TokenState::Tag && self.rest.len() > MAX_TAG_BYTES {
            self.state = TokenState::LongTag;
            self.rest.truncate(MAX_TAG_BYTES);
        }
    }

    /// Ends the page, and returns what took the tokens.
    pub(crate) fn finish(mut self) -> S {
        if self.state != TokenState::LongTag {
            let rest = std::mem::take(&mut self.rest);
            self.read(&rest, true);
        }
        match self.state {
            TokenState::Comment | TokenState::Bogus => self.sink.comment(b"", true),
            TokenState::Doctype => self.sink.doctype(),
            // A tag without an end is dropped.
            TokenState::Text | TokenState::Tag | TokenState::LongTag | TokenState::Cdata => {}
        }
        self.sink
    }

    /// Reads tokens; returns how many bytes are done with. With `is_end` no more bytes follow.
    fn read(&mut self, input: &[u8], is_end: bool) -> usize {
        #[cfg(test)]
        {
            self.work += input.len();
        }
        let mut at = 0;
        while at < input.len() {
            let state = self.state;
            let rest = &input[at..];
            let read = match state {
                TokenState::Text => self.text(rest, is_end),
                TokenState::Tag | TokenState::LongTag => self.tag(rest),
                TokenState::Comment => self.comment(rest),
                TokenState::Bogus => self.bogus(rest),
                TokenState::Doctype => self.doctype(rest),
                TokenState::Cdata => self.cdata(rest, is_end),
            };
            at += read;
            if read == 0 && self.state == state {
                // More bytes are needed.
                break;
            }
        }
        at
    }

    fn text(&mut self, input: &[u8], is_end: bool) -> usize {
        let model = self.following.model;
        if model == TextModel::Data {
            return self.data(input, is_end);
        }
        let (text_bytes, next) = self.raw.read(input, model, is_end);
        self.put_text(input, text_bytes, TextKind::Model(model));
        if next == text::AfterText::EndTag {
            self.state = TokenState::Tag;
            self.tag.begin(true);
        }
        text_bytes
    }

    /// Reads ordinary content: text and tags, up to other markup or an element with raw text.
    fn data(&mut self, input: &[u8], is_end: bool) -> usize {
        let mut at = 0;
        while at < input.len() && self.following.model == TextModel::Data {
            let rest = &input[at..];
            let mut from = 0;
            if rest[0] == b'<' {
                let (state, bytes) = match scan::markup(rest, self.following.allows_cdata, is_end) {
                    Construct::Tag { is_end } => {
                        self.tag.begin(is_end);
                        if let Some(length) = self.tag.plain(rest) {
                            self.end_tag(rest, length);
                            at += length;
                            continue;
                        }
                        (TokenState::Tag, 0)
                    }
                    Construct::Text => {
                        from = 1;
                        (TokenState::Text, 0)
                    }
                    Construct::Unknown => return at,
                    Construct::Nothing(bytes) => (TokenState::Text, bytes),
                    Construct::Comment(bytes) => {
                        self.comment = CommentScan::default();
                        (TokenState::Comment, bytes)
                    }
                    Construct::Bogus(bytes) => (TokenState::Bogus, bytes),
                    Construct::Doctype(bytes) => (TokenState::Doctype, bytes),
                    Construct::Cdata(bytes) => (TokenState::Cdata, bytes),
                };
                if (state, bytes) != (TokenState::Text, 0) {
                    self.state = state;
                    return at + bytes;
                }
            }
            let markup = scan::find_near(b'<', &rest[from..]).map(|length| from + length);
            let end = match markup {
                Some(end) => end,
                None if is_end => rest.len(),
                None => text::whole(rest, true),
            };
            self.put_text(rest, end, TextKind::Model(TextModel::Data));
            at += end;
            if markup.is_none() {
                break;
            }
        }
        at
    }

    fn cdata(&mut self, input: &[u8], is_end: bool) -> usize {
        let end = memchr::memmem::find(input, b"]]>");
        let text_bytes = match end {
            Some(end) => end,
            None if is_end => input.len(),
            None => {
                let brackets = input.iter().rev().take(2).take_while(|byte| **byte == b']');
                let without = input.len() - brackets.count();
                text::whole(&input[..without], false)
            }
        };
        self.put_text(input, text_bytes, TextKind::Cdata);
        if end.is_none() {
            return text_bytes;
        }
        self.state = TokenState::Text;
        text_bytes + b"]]>".len()
    }

    #[inline]
    fn put_text(&mut self, input: &[u8], length: usize, kind: TextKind) {
        if length > 0 {
            self.sink.text(Text::first(input, length), kind);
        }
    }

    fn tag(&mut self, input: &[u8]) -> usize {
        let Some(end) = self.tag.scan(input) else {
            return 0;
        };
        self.end_tag(input, end);
        end
    }

    /// Hands on a tag that is complete: the first bytes of a piece.
    fn end_tag(&mut self, input: &[u8], length: usize) {
        let tag = self.tag.tag(input, length);
        self.following = if self.tag.is_end() {
            self.sink.end_tag(&tag)
        } else {
            self.sink.start_tag(&tag)
        };
        if self.following.model != TextModel::Data {
            self.raw = RawTextEnd::new(tag.name());
        }
        self.state = TokenState::Text;
    }

    fn comment(&mut self, input: &[u8]) -> usize {
        let Some(end) = self.comment.read(input, &mut self.sink) else {
            return input.len();
        };
        self.state = TokenState::Text;
        end
    }

    fn bogus(&mut self, input: &[u8]) -> usize {
        let Some(end) = memchr::memchr(b'>', input) else {
            self.sink.comment(input, false);
            return input.len();
        };
        self.sink.comment(&input[..end], true);
        self.state = TokenState::Text;
        end + 1
    }

    /// A `>` ends a DOCTYPE wherever it is, in quotation marks too.
    fn doctype(&mut self, input: &[u8]) -> usize {
        let Some(end) = memchr::memchr(b'>', input) else {
            return input.len();
        };
        self.sink.doctype();
        self.state = TokenState::Text;
        end + 1
    }
}
