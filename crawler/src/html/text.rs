//! A piece of text; and raw text: where the element ends whose content is text, and which bytes of a piece are whole.

use super::{TextModel, name::Name};

/// Bytes of a character reference at the end of a piece that wait for the next. The longest named one has 33 bytes.
const MAX_REFERENCE_BYTES: usize = 64;

/// A piece of text, and what comes after it as far as that is known: it can be looked at without a care for its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'t> {
    input: &'t [u8],
    length: usize,
}

impl<'t> Text<'t> {
    /// The first bytes of an input.
    pub(super) fn first(input: &'t [u8], length: usize) -> Self {
        Self { input, length }
    }

    /// A text that nothing is known to follow.
    pub(crate) fn alone(text: &'t [u8]) -> Self {
        Self::first(text, text.len())
    }

    /// The text.
    #[inline]
    pub(crate) fn bytes(&self) -> &'t [u8] {
        &self.input[..self.length]
    }

    /// Sixteen bytes from a place in it on, perhaps with others after its end.
    #[inline]
    pub(crate) fn sixteen(&self, from: usize) -> [u8; 16] {
        let rest = &self.input[from..];
        rest.first_chunk().copied().unwrap_or_else(|| {
            let mut bytes = [0; 16];
            bytes[..rest.len()].copy_from_slice(rest);
            bytes
        })
    }
}

/// The state after a piece of raw text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterText {
    /// More of it.
    Text,
    /// The end tag.
    EndTag,
}

/// The search for the end of raw text (HTML standard sections 13.2.5.9 to 13.2.5.31).
#[derive(Debug, Clone, Copy)]
pub(super) struct RawTextEnd {
    /// The element that it ends with.
    element: Name,
    script: Script,
}

/// Part of a script. In a comment a `<script>` hides the next `</script>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    /// Outside of comments.
    Plain,
    /// In a comment, after so many dashes, at most two.
    Comment { dashes: u8 },
    /// In a script in a comment.
    Hidden { dashes: u8 },
}

/// The result of a look at the beginning of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begins {
    Yes,
    No,
    /// The bytes that decide have not come yet.
    Unknown,
}

impl RawTextEnd {
    /// The content of an element of this name.
    pub(super) fn new(element: Name) -> Self {
        Self {
            element,
            script: Script::Plain,
        }
    }

    /// Returns how many bytes are text, and what follows them. With `is_end` no more bytes follow.
    pub(super) fn read(
        &mut self,
        input: &[u8],
        model: TextModel,
        is_end: bool,
    ) -> (usize, AfterText) {
        let whole_bytes = if is_end {
            input.len()
        } else {
            whole(input, model == TextModel::Rcdata)
        };
        match model {
            TextModel::Script => self.script(input, whole_bytes, is_end),
            TextModel::Plaintext => (whole_bytes, AfterText::Text),
            TextModel::Data | TextModel::Rcdata | TextModel::Rawtext => {
                for at in memchr::memchr_iter(b'<', input) {
                    match self.ends_at(&input[at..], is_end) {
                        Begins::Yes => return (at, AfterText::EndTag),
                        Begins::Unknown => return (at, AfterText::Text),
                        Begins::No => {}
                    }
                }
                (whole_bytes, AfterText::Text)
            }
        }
    }

    fn script(&mut self, input: &[u8], whole_bytes: usize, is_end: bool) -> (usize, AfterText) {
        let mut at = 0;
        while let Some(byte) = input.get(at) {
            let rest = &input[at..];
            match (&mut self.script, byte) {
                (Script::Plain, b'<') => {
                    match self.ends_at(rest, is_end) {
                        Begins::Yes => return (at, AfterText::EndTag),
                        Begins::Unknown => return (at, AfterText::Text),
                        Begins::No => {}
                    }
                    match begins(rest, b"<!--", is_end) {
                        Begins::Yes => {
                            self.script = Script::Comment { dashes: 2 };
                            at += 4;
                        }
                        Begins::Unknown => return (at, AfterText::Text),
                        Begins::No => at += 1,
                    }
                }
                (Script::Plain, _) => {
                    at += memchr::memchr(b'<', rest).unwrap_or(rest.len());
                }
                (Script::Comment { dashes } | Script::Hidden { dashes }, b'-') => {
                    *dashes = 2.min(*dashes + 1);
                    at += 1;
                }
                (Script::Comment { dashes: 2 } | Script::Hidden { dashes: 2 }, b'>') => {
                    self.script = Script::Plain;
                    at += 1;
                }
                (Script::Comment { .. }, b'<') => {
                    match self.ends_at(rest, is_end) {
                        Begins::Yes => return (at, AfterText::EndTag),
                        Begins::Unknown => return (at, AfterText::Text),
                        Begins::No => {}
                    }
                    match begins_tag(rest, b"<script", is_end) {
                        Begins::Yes => {
                            self.script = Script::Hidden { dashes: 0 };
                            at += b"<script>".len();
                        }
                        Begins::Unknown => return (at, AfterText::Text),
                        Begins::No => {
                            self.script = Script::Comment { dashes: 0 };
                            at += 1;
                        }
                    }
                }
                (Script::Hidden { .. }, b'<') => match begins_tag(rest, b"</script", is_end) {
                    Begins::Yes => {
                        self.script = Script::Comment { dashes: 0 };
                        at += b"</script>".len();
                    }
                    Begins::Unknown => return (at, AfterText::Text),
                    Begins::No => {
                        self.script = Script::Hidden { dashes: 0 };
                        at += 1;
                    }
                },
                (Script::Comment { dashes } | Script::Hidden { dashes }, _) => {
                    *dashes = 0;
                    at += memchr::memchr2(b'<', b'-', rest).unwrap_or(rest.len());
                }
            }
        }
        (whole_bytes, AfterText::Text)
    }

    /// Returns whether the end tag of the element is at the beginning.
    fn ends_at(&self, input: &[u8], is_end: bool) -> Begins {
        let name_bytes = self.element.len();
        let Some(after) = input.get(2 + name_bytes) else {
            let is_like = input.get(1).is_none_or(|byte| *byte == b'/');
            return if is_end || !is_like || name_bytes == 0 {
                Begins::No
            } else {
                Begins::Unknown
            };
        };
        let is_it = name_bytes > 0
            && input[1] == b'/'
            && ends_name(*after)
            && Name::new(&input[2..2 + name_bytes]) == self.element;
        if is_it { Begins::Yes } else { Begins::No }
    }
}

/// Returns whether the bytes begin with this.
fn begins(input: &[u8], word: &[u8], is_end: bool) -> Begins {
    let length = word.len().min(input.len());
    if !input[..length].eq_ignore_ascii_case(&word[..length]) {
        Begins::No
    } else if length == word.len() {
        Begins::Yes
    } else if is_end {
        Begins::No
    } else {
        Begins::Unknown
    }
}

/// Returns whether the bytes begin with this tag, its name ended by a space, `/` or `>`.
fn begins_tag(input: &[u8], word: &[u8], is_end: bool) -> Begins {
    match (begins(input, word, is_end), input.get(word.len())) {
        (Begins::Yes, None) if is_end => Begins::No,
        (Begins::Yes, None) => Begins::Unknown,
        (Begins::Yes, Some(after)) if !ends_name(*after) => Begins::No,
        (other, _) => other,
    }
}

/// Returns whether a byte ends the name of a tag.
pub(super) fn ends_name(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c | b'/' | b'>')
}

/// Number of bytes of text without a character of UTF-8, a line end, or (on request) a character reference at the end that the
/// next piece may go on with.
pub(super) fn whole(text: &[u8], with_references: bool) -> usize {
    let mut end = text.len();
    // At most three bytes of a character can be there without its last.
    let first = text
        .iter()
        .rev()
        .take(4)
        .position(|byte| byte & 0xc0 != 0x80);
    if let Some(back) = first {
        let begin = end - 1 - back;
        let length = match text[begin] {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        if begin + length > end {
            end = begin;
        }
    }
    if text[..end].last() == Some(&b'\r') {
        end -= 1;
    }
    if with_references {
        let from = end.saturating_sub(MAX_REFERENCE_BYTES);
        let last = memchr::memrchr(b'&', &text[from..end]).map(|at| from + at);
        if let Some(at) = last
            && text[at + 1..end]
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'#')
        {
            end = at;
        }
    }
    end
}
