//! [`Skip`]: the rest of a token that is too long to be held.
//!
//! No meaningful token is as long as [`MAX_TOKEN_BYTES`](super::MAX_TOKEN_BYTES), but a feed may contain whole pages, with images
//! in their text. The rest of such a text is read over byte by byte, and the parser gets a short end in its place, with the same
//! fault if there was one. A tag is not skipped in this way, because everything depends on its attributes.

/// Kind of a token that can be skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Text between tags, up to the next tag or reference.
    Text,
    /// Text that begins with `&` and has no end.
    Reference,
    CharacterData,
    Comment,
    Instruction,
}

/// Length of the beginning of a token that decides its kind.
pub(super) const HEAD_BYTES: usize = b"<![CDATA[".len();

/// Looks for the end of a token.
#[derive(Debug)]
pub(super) struct Skip {
    kind: Kind,
    /// Number of bytes of the closing mark that were just seen, without its last one.
    matched: usize,
    /// Something was in it that may not be in it: `]]>` in a text, `--` in a comment.
    has_fault: bool,
}

impl Skip {
    /// Goes on after the beginning of a token, by its first bytes and the two last ones that were read; `None` if it is none that
    /// can be skipped.
    pub(super) fn of(head: &[u8], tail: [u8; 2]) -> Option<Self> {
        let kind = match head {
            [b'<', b'!', b'[', b'C', b'D', b'A', b'T', b'A', b'[', ..] => Kind::CharacterData,
            [b'<', b'!', b'-', b'-', ..] => Kind::Comment,
            [b'<', b'?', ..] => Kind::Instruction,
            [b'<', ..] => return None,
            [b'&', ..] => Kind::Reference,
            _ => Kind::Text,
        };
        let mut skip = Self {
            kind,
            matched: 0,
            has_fault: false,
        };
        skip.feed(&tail);
        // What was read is looked at by the parser.
        skip.has_fault = false;
        Some(skip)
    }

    /// Number of these bytes that are still of the token, and whether it ends after them: with the last byte of its mark, or at
    /// the end of a text.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> (usize, bool) {
        for (place, byte) in bytes.iter().enumerate() {
            if self.ends_at(*byte) {
                return (place, true);
            }
        }
        (bytes.len(), false)
    }

    fn ends_at(&mut self, byte: u8) -> bool {
        let (mark, is_end) = match self.kind {
            Kind::Text => (b']', matches!(byte, b'<' | b'&')),
            Kind::Reference => (b']', matches!(byte, b'<' | b'&' | b';')),
            Kind::CharacterData => (b']', byte == b'>' && self.matched == 2),
            Kind::Comment => (b'-', byte == b'>' && self.matched == 2),
            Kind::Instruction => (b'?', byte == b'>' && self.matched > 0),
        };
        if is_end {
            return true;
        }
        self.has_fault |= self.matched == 2
            && match self.kind {
                Kind::Text => byte == b'>',
                Kind::Comment => true,
                Kind::Reference | Kind::CharacterData | Kind::Instruction => false,
            };
        self.matched = if byte == mark {
            2.min(self.matched + 1)
        } else {
            0
        };
        false
    }

    /// Replacement of the skipped bytes for the parser, before the byte at which the token ends.
    pub(super) fn stand_in(&self) -> &'static [u8] {
        match (self.kind, self.has_fault) {
            (Kind::Text | Kind::Reference, false) | (Kind::Reference, true) => b"",
            (Kind::Text, true) => b" ]]>",
            (Kind::CharacterData, _) => b" ]]",
            (Kind::Comment, false) => b" --",
            (Kind::Comment, true) => b" -- --",
            (Kind::Instruction, _) => b" ?",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_is_found_however_the_bytes_come() {
        let check =
            |head: &str, tail: [u8; 2], rest: &str, length: Option<usize>, stand_in: &str| {
                for size in 1..=rest.len() {
                    let mut skip = Skip::of(head.as_bytes(), tail).unwrap();
                    let mut skipped = 0;
                    let is_ended = rest.as_bytes().chunks(size).any(|bytes| {
                        let (length, is_ended) = skip.feed(bytes);
                        skipped += length;
                        is_ended
                    });
                    assert_eq!(is_ended.then_some(skipped), length, "{head} {rest}");
                    assert_eq!(skip.stand_in(), stand_in.as_bytes(), "{head} {rest}");
                }
            };
        let none = *b"xx";
        check("text", none, "a]]b>c<d>", Some(6), "");
        check("text", none, "a]]]>c&", Some(6), " ]]>");
        check("text", *b"]]", ">&", Some(1), " ]]>");
        check("text", none, "no end", None, "");
        check("&amp", none, "a;", Some(1), "");
        check("<![CDATA[", none, "a]>]]x>]]]>b", Some(10), " ]]");
        check("<![CDATA[", *b"]]", ">b", Some(0), " ]]");
        check("<![CDATA[", *b"x]", "]>b", Some(1), " ]]");
        check("<!--", none, "->a-->b", Some(5), " --");
        check("<!--", none, "a--b-->c", Some(6), " -- --");
        check("<!--", none, "a--->c", Some(4), " -- --");
        check("<?a", none, ">?>c", Some(2), " ?");
        assert!(Skip::of(b"<a b='", none).is_none());
        assert!(Skip::of(b"<!DOCTYPE", none).is_none());
    }
}
