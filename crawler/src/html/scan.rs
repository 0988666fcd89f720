//! Constructs that are not tags: the kind of construct that begins at a `<`, and the end of a comment.

use wide::u8x16;

use super::TokenSink;

/// The construct that a `<` in ordinary text begins (HTML standard sections 13.2.5.6, 13.2.5.7 and 13.2.5.42). Numbers are bytes that are
/// done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Construct {
    /// The bytes that decide have not come yet.
    Unknown,
    /// The `<` is text.
    Text,
    Tag {
        is_end: bool,
    },
    Comment(usize),
    /// A comment that ends with the next `>`.
    Bogus(usize),
    Doctype(usize),
    Cdata(usize),
    /// `</>` is dropped.
    Nothing(usize),
}

/// Decides what the `<` at the beginning of `input` begins. With `is_end` no more bytes follow.
#[inline]
pub(super) fn markup(input: &[u8], allows_cdata: bool, is_end: bool) -> Construct {
    let missing = if is_end {
        Construct::Text
    } else {
        Construct::Unknown
    };
    match input.get(1) {
        None => missing,
        Some(byte) if byte.is_ascii_alphabetic() => Construct::Tag { is_end: false },
        Some(b'/') => match input.get(2) {
            None => missing,
            Some(byte) if byte.is_ascii_alphabetic() => Construct::Tag { is_end: true },
            Some(b'>') => Construct::Nothing(3),
            Some(_) => Construct::Bogus(2),
        },
        Some(b'?') => Construct::Bogus(1),
        Some(b'!') => declaration(&input[2..], allows_cdata, is_end),
        Some(_) => Construct::Text,
    }
}

/// Decides what `<!` begins, from the bytes after it.
fn declaration(rest: &[u8], allows_cdata: bool, is_end: bool) -> Construct {
    let kinds: [(&[u8], Construct); 3] = [
        (b"--", Construct::Comment(4)),
        (b"doctype", Construct::Doctype(9)),
        (
            b"[CDATA[",
            if allows_cdata {
                Construct::Cdata(9)
            } else {
                Construct::Bogus(2)
            },
        ),
    ];
    for (word, kind) in kinds {
        let length = word.len().min(rest.len());
        let is_like = if word[0] == b'[' {
            rest[..length] == word[..length]
        } else {
            rest[..length].eq_ignore_ascii_case(&word[..length])
        };
        if is_like && length == word.len() {
            return kind;
        }
        if is_like && !is_end {
            return Construct::Unknown;
        }
    }
    Construct::Bogus(2)
}

/// The search for the end of a comment (HTML standard sections 13.2.5.43 to 13.2.5.52).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum CommentScan {
    /// After `<!--`.
    #[default]
    Start,
    /// After `<!---`.
    StartDash,
    Body,
    /// After `-`.
    Dash,
    /// After `--`.
    Dashes,
    /// After `--!`.
    Bang,
}

impl CommentScan {
    /// Reads a piece; returns where the comment ends, after its `>`.
    pub(super) fn read(&mut self, input: &[u8], sink: &mut impl TokenSink) -> Option<usize> {
        // Bytes of earlier pieces that are the beginning of the end, or content.
        let mut carried = self.held();
        let mut at = 0;
        while let Some(byte) = input.get(at) {
            let next = match (*self, byte) {
                (Self::Start | Self::StartDash | Self::Dashes | Self::Bang, b'>') => {
                    sink.comment(&input[..at - (self.held().len() - carried.len())], true);
                    return Some(at + 1);
                }
                (Self::Start, b'-') => Self::StartDash,
                (Self::Body | Self::Bang, b'-') => Self::Dash,
                (Self::StartDash | Self::Dash | Self::Dashes, b'-') => Self::Dashes,
                (Self::Dashes, b'!') => Self::Bang,
                _ => Self::Body,
            };
            let released = self.held().len() + 1 - next.held().len();
            let (content, others) = carried.split_at(released.min(carried.len()));
            if !content.is_empty() {
                sink.comment(content, false);
            }
            carried = others;
            *self = next;
            at += 1;
            if next == Self::Body {
                at += memchr::memchr(b'-', &input[at..]).unwrap_or(input.len() - at);
            }
        }
        sink.comment(
            &input[..input.len() - (self.held().len() - carried.len())],
            false,
        );
        None
    }

    /// The bytes that belong to the end of the comment, if this is its end.
    fn held(self) -> &'static [u8] {
        match self {
            Self::Start | Self::Body => b"",
            Self::StartDash | Self::Dash => b"-",
            Self::Dashes => b"--",
            Self::Bang => b"--!",
        }
    }
}

/// The place of a byte, which is near in most cases.
#[inline]
pub(super) fn find_near(byte: u8, bytes: &[u8]) -> Option<usize> {
    let Some(first) = bytes.first_chunk() else {
        return bytes.iter().position(|other| *other == byte);
    };
    let found = u8x16::new(*first).simd_eq(u8x16::splat(byte)).to_bitmask();
    if found == 0 {
        return memchr::memchr(byte, &bytes[16..]).map(|place| 16 + place);
    }
    Some(found.trailing_zeros() as usize)
}
