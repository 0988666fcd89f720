//! Quantities as people write them: durations (`500ms`, `1m 30s`, `24h`) and sizes (`15 MiB`). Pure and total; ranges of settings
//! are checked elsewhere.

use std::time::Duration;

/// Longest duration that can be written: 3,650 days. Beyond it, adding to an instant could overflow.
pub(crate) const MAX_DURATION: Duration = Duration::from_secs(3_650 * 24 * 60 * 60);

/// Form of a duration, for messages.
pub(crate) const DURATION_FORM: &str = r#"a duration such as "500ms", "2s", "1m" or "24h""#;

/// Form of a size, for messages.
pub(crate) const SIZE_FORM: &str = r#"a size such as "500 kB" or "15 MiB""#;

/// Reads a duration: one or more numbers with a unit (`ms`, `s`, `m` or `min`, `h`, `d`), spaces allowed between them. A number
/// alone is seconds, as in robots.txt's `Crawl-delay`. `None`: the text is not a duration, or longer than [`MAX_DURATION`].
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim_ascii();
    if let Some(seconds) = decimal(rest) {
        return seconds_within_bounds(seconds);
    }
    if rest.is_empty() {
        return None;
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let (number, tail) = split_where(rest, |byte| !(byte.is_ascii_digit() || byte == b'.'));
        let (unit, tail) = split_where(tail.trim_ascii_start(), |byte| !byte.is_ascii_alphabetic());
        let unit = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        seconds += decimal(number)? * unit;
        rest = tail.trim_ascii_start();
    }
    seconds_within_bounds(seconds)
}

/// Reads a size in bytes: a number with `B`, `kB`, `MB`, `GB` (powers of 1,000), `KiB`, `MiB` or
/// `GiB` (powers of 1,024), in any case. A number alone is bytes. Fractions of a byte are dropped.
pub(crate) fn size(text: &str) -> Option<u64> {
    let text = text.trim_ascii();
    let (number, unit) = split_where(text, |byte| !(byte.is_ascii_digit() || byte == b'.'));
    let unit = match unit.trim_ascii_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1_u64,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return None,
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(unit);
    }
    #[expect(clippy::cast_precision_loss, reason = "units are below 2^53")]
    let bytes = decimal(number)? * unit as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative by decimal(), below 2^53 by the condition"
    )]
    (bytes < 9_007_199_254_740_992.0).then_some(bytes as u64)
}

/// A plain decimal number: digits, at most one point, a digit on each side of it.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn seconds_within_bounds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| *duration <= MAX_DURATION)
}

/// Splits before the first byte for which `ends` returns true; such a byte must be ASCII or begin a character.
fn split_where(text: &str, ends: impl Fn(u8) -> bool) -> (&str, &str) {
    text.split_at(text.bytes().position(ends).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_carry_their_unit() {
        fn check(text: &str, milliseconds: u64) {
            assert_eq!(
                duration(text),
                Some(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
        check("500ms", 500);
        check("2s", 2_000);
        check("1m", 60_000);
        check("1min", 60_000);
        check("24h", 86_400_000);
        check("2d", 172_800_000);
        check("0", 0);
        check("0s", 0);
        check("5", 5_000);
        check("0.5", 500);
        check("1.5s", 1_500);
        check("1m30s", 90_000);
        check("1h 30m", 5_400_000);
        check(" 1 h  30 m ", 5_400_000);
        check("3650d", 315_360_000_000);
    }

    #[test]
    fn text_that_is_not_a_duration_is_refused() {
        fn check(text: &str) {
            assert_eq!(duration(text), None, "{text}");
        }
        check("");
        check(" ");
        check("s");
        check("fast");
        check("-1s");
        check("+1s");
        check("1 2");
        check("1s2");
        check(".5s");
        check("5.s");
        check("1.2.3s");
        check("1e3s");
        check("1S");
        check("1y");
        check("1µs");
        check("é");
        check("inf");
        check("NaN");
        check("3651d");
        check("99999999999999999999999999h");
    }

    #[test]
    fn sizes_carry_their_unit() {
        fn check(text: &str, bytes: u64) {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        check("0", 0);
        check("1000", 1_000);
        check("1 B", 1);
        check("2kB", 2_000);
        check("2 KB", 2_000);
        check("15 MiB", 15 * 1024 * 1024);
        check("15mib", 15 * 1024 * 1024);
        check("1.5 MiB", 1_572_864);
        check("10 MB", 10_000_000);
        check("1 GB", 1_000_000_000);
        check("1 GiB", 1_073_741_824);
        check(" 7 KiB ", 7_168);
        check("18446744073709551615", u64::MAX);
    }

    #[test]
    fn text_that_is_not_a_size_is_refused() {
        fn check(text: &str) {
            assert_eq!(size(text), None, "{text}");
        }
        check("");
        check("MiB");
        check("15 M");
        check("15 TiB");
        check("-1");
        check("1 2");
        check("1.2.3 kB");
        check("é");
        check("18446744073709551616");
        check("18446744073709551615 GiB");
        check("99999999999.5 GiB");
    }
}
