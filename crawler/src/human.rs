//! Quantities as people read them: `1,234`, `12.3 MiB`, `3 h 20 min`; and text of a site within a page. Pure; the way back is in the
//! settings' units.

use std::time::Duration;

use jiff::Timestamp;

/// A text as HTML, also within quotes.
pub fn html(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

/// A whole number with a comma between groups of three digits.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number with its noun: `1 file`, `2 files`.
pub fn count(amount: u64, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        number(amount),
        if amount == 1 { "" } else { "s" }
    )
}

/// Bytes in powers of 1,024 with three digits that matter.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1_024 {
        return format!("{bytes} B");
    }
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut amount = bytes as f64 / 1_024.0;
    let mut unit = 0;
    // From here on three digits would round up to the next unit.
    while amount >= 1_023.5 && unit + 1 < UNITS.len() {
        amount /= 1_024.0;
        unit += 1;
    }
    let decimals = usize::from(amount < 99.95);
    format!("{amount:.decimals$} {}", UNITS[unit])
}

/// A duration to two units at most, coarser the longer it is.
pub fn duration(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    if milliseconds < 1_000 {
        return format!("{milliseconds} ms");
    }
    let seconds = duration.as_secs();
    if seconds < 10 && duration.subsec_millis() >= 100 {
        return format!("{seconds}.{} s", duration.subsec_millis() / 100);
    }
    let (unit, larger, smaller) = match seconds {
        0..60 => return format!("{seconds} s"),
        // An estimate of nine minutes needs no seconds, a wait of one does.
        60..300 => (60, "min", "s"),
        300..3_600 => return format!("{} min", seconds / 60),
        3_600..86_400 => (3_600, "h", "min"),
        _ => (86_400, "d", "h"),
    };
    let below = match unit {
        60 => 1,
        3_600 => 60,
        _ => 3_600,
    };
    match (seconds % unit) / below {
        0 => format!("{} {larger}", seconds / unit),
        rest => format!("{} {larger} {rest} {smaller}", seconds / unit),
    }
}

/// Pages per second: two digits that matter.
pub fn speed(per_second: f64) -> String {
    match per_second {
        fast if fast >= 9.95 => format!("{fast:.0}"),
        slow if slow >= 0.095 || slow == 0.0 => format!("{slow:.1}"),
        slower => format!("{slower:.2}"),
    }
}

/// A time to the minute, in UTC.
pub fn minute(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%MZ").to_string()
}

/// The distance of a time from `now` in words: `3 h ago`, `in 3 h`, or `now` for less than a second.
pub fn relative(time: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(time).unsigned_abs().as_secs();
    if seconds == 0 {
        return "now".to_owned();
    }
    let distance = duration(Duration::from_secs(seconds));
    if time <= now {
        format!("{distance} ago")
    } else {
        format!("in {distance}")
    }
}

/// The words of a line on lines of at most `width` characters, unless one word is longer. Further lines are indented two columns
/// more than the first.
pub fn wrapped(line: &str, width: usize) -> Vec<String> {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let mut lines = Vec::new();
    let mut current = " ".repeat(indent);
    let mut is_empty = true;
    for word in text.split(' ') {
        let is_full = current.chars().count() + 1 + word.chars().count() > width;
        if !is_empty && is_full {
            let next = " ".repeat(indent + 2);
            lines.push(std::mem::replace(&mut current, next));
        } else if !is_empty {
            current.push(' ');
        }
        current.push_str(word);
        is_empty = false;
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        fn check(value: u64, expected: &str) {
            assert_eq!(number(value), expected);
        }
        check(0, "0");
        check(999, "999");
        check(1_000, "1,000");
        check(12_345, "12,345");
        check(1_234_567, "1,234,567");
        check(u64::MAX, "18,446,744,073,709,551,615");
        assert_eq!(count(1, "file"), "1 file");
        assert_eq!(count(0, "file"), "0 files");
        assert_eq!(count(1_000, "file"), "1,000 files");
    }

    #[test]
    fn bytes_have_three_digits() {
        fn check(value: u64, expected: &str) {
            assert_eq!(bytes(value), expected);
        }
        check(0, "0 B");
        check(1_023, "1023 B");
        check(1_024, "1.0 KiB");
        check(102_399, "100 KiB");
        check(1_048_575, "1.0 MiB");
        check(12_900_000, "12.3 MiB");
        check(1 << 30, "1.0 GiB");
        check(u64::MAX, "16777216 TiB");
    }

    #[test]
    fn durations_are_rough_when_they_are_long() {
        fn check(milliseconds: u64, expected: &str) {
            assert_eq!(duration(Duration::from_millis(milliseconds)), expected);
        }
        check(0, "0 ms");
        check(999, "999 ms");
        check(1_000, "1 s");
        check(1_550, "1.5 s");
        check(9_999, "9.9 s");
        check(12_900, "12 s");
        check(60_000, "1 min");
        check(90_000, "1 min 30 s");
        check(570_000, "9 min");
        check(3_600_000, "1 h");
        check(12_000_000, "3 h 20 min");
        check(90_000_000, "1 d 1 h");
    }

    #[test]
    fn speeds_have_two_digits() {
        fn check(value: f64, expected: &str) {
            assert_eq!(speed(value), expected);
        }
        check(0.0, "0.0");
        check(0.05, "0.05");
        check(0.2, "0.2");
        check(9.84, "9.8");
        check(9.96, "10");
        check(123.4, "123");
    }

    #[test]
    fn long_lines_are_wrapped_at_words() {
        assert_eq!(wrapped("  one two three", 9), ["  one two", "    three"]);
        assert_eq!(wrapped("  one", 3), ["  one"]);
        assert_eq!(wrapped("a  b", 80), ["a  b"]);
        assert_eq!(wrapped("", 80), [""]);
    }

    #[test]
    fn distances_are_whole_seconds() {
        fn check(time: &str, expected: &str) {
            let at = |text: &str| text.parse().unwrap();
            let now = at("2026-06-02T12:00:00Z");
            assert_eq!(relative(at(time), now), expected, "{time}");
        }
        check("2026-06-02T12:00:00.958Z", "now");
        check("2026-06-02T11:59:59.042Z", "now");
        check("2026-06-02T12:00:00Z", "now");
        check("2026-06-02T12:00:01.9Z", "in 1 s");
        check("2026-06-02T11:59:57.5Z", "2 s ago");
        check("2026-06-02T12:05:00Z", "in 5 min");
    }
}
