//! Makes text that others wrote (URLs, answers of servers, file names) safe for a terminal: nothing in it
//! can move the cursor, forge a line or change the reading direction. Pure.

use std::borrow::Cow;

/// `text` without a character that does anything but be seen: each becomes text
/// such as `\u{1b}`.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    escape_as(text, |letter| letter.escape_unicode().to_string())
}

/// Escapes such characters in a line of JSON, which stays the same JSON: such characters occur only in strings.
pub(crate) fn escape_json(json: &str) -> Cow<'_, str> {
    escape_as(json, |letter| format!("\\u{:04x}", u32::from(letter)))
}

fn escape_as(text: &str, escaped: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let letters = text.chars().map(|letter| {
        if acts(letter) {
            escaped(letter)
        } else {
            letter.to_string()
        }
    });
    Cow::Owned(letters.collect())
}

/// The beginning of `text`, at most `most` characters, with `...` when something is missing.
pub(crate) fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    if text.chars().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(most.saturating_sub(3)).collect();
    Cow::Owned(kept + &"..."[..most.min(3)])
}

/// Returns true if a terminal does something for this character: controls (C0, DEL, C1), line and paragraph
/// separators, and the bidirectional controls (Unicode Standard Annex 9, section 2).
fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        fn check(text: &str, expected: &str) {
            assert_eq!(escape(text), expected);
        }
        check("https://example.com/a?b=c", "https://example.com/a?b=c");
        check("Grüße, 世界", "Grüße, 世界");
        check("\x1b[31mred", "\\u{1b}[31mred");
        check("a\r\nerror: forged", "a\\u{d}\\u{a}error: forged");
        check("bell\x07 del\x7f", "bell\\u{7} del\\u{7f}");
        check("\u{9b}31m", "\\u{9b}31m");
        check("gpj.\u{202e}exe", "gpj.\\u{202e}exe");
        check("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}");
        check("line\u{2028}separator", "line\\u{2028}separator");
    }

    #[test]
    fn escaped_json_means_the_same() {
        let text = "a\u{202e}b\u{9b}c\u{2028}";
        let json = serde_json::to_string(text).unwrap();
        let escaped = escape_json(&json);
        assert!(!escaped.chars().any(acts), "{escaped}");
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }

    #[test]
    fn long_text_is_cut() {
        fn check(text: &str, most: usize, expected: &str) {
            assert_eq!(shorten(text, most), expected);
        }
        check("abcdef", 6, "abcdef");
        check("abcdefg", 6, "abc...");
        check("äöüäöüä", 6, "äöü...");
        check("abcdef", 2, "..");
        check("", 0, "");
        check("a", 0, "");
    }
}
