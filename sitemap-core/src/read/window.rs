//! [`Window`]: the end of what was read, so that a finding can show the text it is about.

use super::Position;

/// Bytes before the point of reading that can be shown at least. A value has 8 KiB, so the element of a finding is always
/// included; only the beginning of an enormous entry may be missing.
const KEPT_BYTES: usize = 64 * 1024;

/// Number of characters of a line that are before the place that is shown, and from it on.
const SHOWN_BEFORE: usize = 40;
const SHOWN_AFTER: usize = 100;

/// A line of a file, or the part of it around a place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Excerpt {
    /// The text; what is before or after it in the same line is left out. Bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Number of characters of `text` before the place.
    pub marker: usize,
    /// The place in its line, in bytes, from 1.
    pub column: u64,
}

/// The last bytes of the text that went by.
#[derive(Debug, Default)]
pub(super) struct Window {
    bytes: Vec<u8>,
    /// Offset of the first one.
    start: u64,
    /// Offset of the line that the first byte belongs to.
    line_start: u64,
}

impl Window {
    /// Takes over the next bytes of the text, which are at `offset`, and forgets old ones.
    pub(super) fn push(&mut self, bytes: &[u8], offset: u64) {
        if self.bytes.is_empty() {
            self.start = offset;
            self.line_start = offset;
        }
        self.bytes.extend_from_slice(bytes);
        // Twice as much is kept, so that forgetting costs one move per byte.
        if self.bytes.len() > 2 * KEPT_BYTES {
            let forgotten = self.bytes.len() - KEPT_BYTES;
            if let Some(line_end) = self.bytes[..forgotten]
                .iter()
                .rposition(|&byte| byte == b'\n')
            {
                self.line_start = self.start + line_end as u64 + 1;
            }
            self.bytes.drain(..forgotten);
            self.start += forgotten as u64;
        }
    }

    /// The line around a place, if it has not been forgotten. `ahead` is what comes after the window.
    pub(super) fn excerpt(&self, position: Position, ahead: &[u8]) -> Option<Excerpt> {
        let Position { offset, .. } = position;
        let place = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        if place > self.bytes.len() {
            return None;
        }
        let before = &self.bytes[..place];
        let (line, column) = match before.iter().rposition(|&byte| byte == b'\n') {
            Some(line_end) => (&before[line_end + 1..], (place - line_end) as u64),
            None => (before, offset - self.line_start + 1),
        };
        // A line can be as long as the window, and a file of one line has a finding in each of its entries.
        let before = String::from_utf8_lossy(last_characters(line));
        let skipped = before.chars().count().saturating_sub(SHOWN_BEFORE);
        let before: String = before.chars().skip(skipped).collect();
        let before = before.trim_start();
        let after: Vec<u8> = self.bytes[place..]
            .iter()
            .chain(ahead)
            .copied()
            .take_while(|&byte| byte != b'\n' && byte != b'\r')
            // A character has at most four bytes; one more may be cut in two.
            .take(4 * SHOWN_AFTER + 4)
            .collect();
        let after = String::from_utf8_lossy(&after);
        let after: String = after.chars().take(SHOWN_AFTER).collect();
        Some(Excerpt {
            marker: before.chars().count(),
            text: before.to_owned() + after.trim_end(),
            column,
        })
    }
}

/// The end of a line, with all characters of it that can be shown: one has at most four bytes, and where the first is cut in two,
/// enough whole ones follow.
fn last_characters(line: &[u8]) -> &[u8] {
    &line[line.len().saturating_sub(4 * SHOWN_BEFORE)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: usize) -> Position {
        Position {
            line: 1,
            offset: offset as u64,
        }
    }

    #[test]
    fn line_around_a_place_is_shown() {
        let mut window = Window::default();
        window.push("first\n  <loc>ü</loc>\nthird".as_bytes(), 0);
        let check = |offset, text: &str, marker, column| {
            let excerpt = window.excerpt(at(offset), b"").unwrap();
            assert_eq!(
                (excerpt.text.as_str(), excerpt.marker, excerpt.column),
                (text, marker, column)
            );
        };
        check(0, "first", 0, 1);
        check(8, "<loc>ü</loc>", 0, 3);
        check(15, "<loc>ü</loc>", 6, 10);
        check(23, "third", 1, 2);
        assert_eq!(window.excerpt(at(99), b""), None);
        assert_eq!(
            window.excerpt(at(27), b" and more\nfourth").unwrap().text,
            "third and more"
        );
    }

    #[test]
    fn endless_line_is_cut_at_right_columns() {
        let mut window = Window::default();
        window.push(b"head\n", 0);
        for number in 0..100_000 {
            window.push(b"abcdefghij", 5 + 10 * number);
        }
        let excerpt = window.excerpt(at(999_995), b"").unwrap();
        assert_eq!(excerpt.column, 999_991);
        assert_eq!(excerpt.marker, SHOWN_BEFORE);
        assert!(excerpt.text[excerpt.marker..].starts_with("abcdefghij"));
        assert_eq!(window.excerpt(at(10), b""), None);
        assert!(window.bytes.len() <= 2 * KEPT_BYTES);
    }

    #[test]
    fn characters_before_a_place_are_whole() {
        let check = |character: &str, shown: &str| {
            for shift in 0..4 {
                let mut window = Window::default();
                let line = "a".repeat(shift) + &character.repeat(1_000) + "b";
                window.push(line.as_bytes(), 0);
                let excerpt = window.excerpt(at(line.len() - 1), b"").unwrap();
                assert_eq!(excerpt.text, shown.repeat(SHOWN_BEFORE) + "b");
                assert_eq!(excerpt.marker, SHOWN_BEFORE);
            }
        };
        check("x", "x");
        check("ü", "ü");
        check("漢", "漢");
        check("😀", "😀");
        // Borders that lie in a character.
        for shift in 1..4 {
            let mut window = Window::default();
            let line = "😀".repeat(1_000) + &"x".repeat(shift) + "b";
            window.push(line.as_bytes(), 0);
            let excerpt = window.excerpt(at(line.len() - 1), b"").unwrap();
            let shown = "😀".repeat(SHOWN_BEFORE - shift) + &"x".repeat(shift) + "b";
            assert_eq!((excerpt.text, excerpt.marker), (shown, SHOWN_BEFORE));
        }
    }

    #[test]
    fn recently_read_text_is_kept() {
        let mut window = Window::default();
        window.push(b"here\n", 0);
        for number in 0..60 {
            window.push(&[b'x'; 1_000], 5 + 1_000 * number);
        }
        assert_eq!(window.excerpt(at(1), b"").unwrap().text, "here");
    }

    #[test]
    fn characters_after_a_place_are_whole() {
        for character in ["x", "ü", "漢", "😀"] {
            let mut window = Window::default();
            window.push(b"<", 0);
            let ahead = character.repeat(1_000);
            let excerpt = window.excerpt(at(0), ahead.as_bytes()).unwrap();
            let shown = character.repeat(SHOWN_AFTER - 1);
            assert_eq!(excerpt.text, format!("<{shown}"));
        }
    }
}
