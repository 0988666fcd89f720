//! The candidates of a `srcset` (HTML standard section 4.8.4.3.9, "parsing a srcset attribute"), and which
//! of them stands for the image. URLs may hold commas, so nothing is simply split.

/// The candidate that shows the most of the image: the widest, or without any width the densest; the
/// first of equals. Only those that `is_usable` are looked at.
pub(super) fn largest(srcset: &str, is_usable: impl Fn(&str) -> bool) -> Option<&str> {
    let mut best: Option<Candidate<'_>> = None;
    for candidate in candidates(srcset) {
        let is_larger = best
            .as_ref()
            .is_none_or(|best| candidate.size.is_larger_than(&best.size));
        if is_larger && is_usable(candidate.url) {
            best = Some(candidate);
        }
    }
    best.map(|candidate| candidate.url)
}

/// One image of a `srcset`.
#[derive(Debug, PartialEq)]
struct Candidate<'a> {
    url: &'a str,
    size: Size,
}

/// What the descriptors of a candidate say.
#[derive(Debug, Default, PartialEq)]
struct Size {
    /// `w`, in pixels.
    width: Option<f64>,
    /// `x`, in pixels of the image per pixel of the page.
    density: Option<f64>,
    /// `h`, which is read for the future and means nothing today.
    height: Option<f64>,
    /// They contradict each other, or one cannot be read.
    is_wrong: bool,
}

impl Size {
    fn is_larger_than(&self, other: &Self) -> bool {
        match (self.width, other.width) {
            (Some(own), Some(other)) => own > other,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => self.density.unwrap_or(1.0) > other.density.unwrap_or(1.0),
        }
    }

    /// Takes one descriptor in.
    fn describe(&mut self, descriptor: &str) {
        let mut characters = descriptor.chars();
        let unit = characters.next_back();
        let number = characters.as_str();
        let (value, is_alone) = match unit {
            Some('w') => (
                positive_integer(number),
                self.width.is_none() && self.density.is_none(),
            ),
            Some('h') => (
                positive_integer(number),
                self.height.is_none() && self.density.is_none(),
            ),
            Some('x') => (
                floating_point(number).filter(|density| *density >= 0.0),
                *self == Self::default(),
            ),
            Some(_) | None => (None, false),
        };
        let slot = match unit {
            Some('w') => &mut self.width,
            Some('h') => &mut self.height,
            Some(_) | None => &mut self.density,
        };
        match value {
            Some(value) if is_alone => *slot = Some(value),
            Some(_) | None => self.is_wrong = true,
        }
    }

    fn is_valid(&self) -> bool {
        !self.is_wrong && (self.height.is_none() || self.width.is_some())
    }
}

/// A valid non-negative integer (HTML standard section 2.3.4.2) other than 0.
fn positive_integer(text: &str) -> Option<f64> {
    let is_integer = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value: f64 = text.parse().ok().filter(|_| is_integer)?;
    (value > 0.0).then_some(value)
}

/// A valid floating-point number (HTML standard section 2.3.4.3), which has fewer forms than Rust's.
fn floating_point(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_mantissa = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole.is_empty() || is_digits(whole)) && is_digits(fraction),
        None => is_digits(mantissa),
    };
    let is_exponent = exponent
        .is_none_or(|exponent| is_digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)));
    text.parse()
        .ok()
        .filter(|value: &f64| is_mantissa && is_exponent && value.is_finite())
}

/// The valid candidates in their order.
fn candidates(srcset: &str) -> impl Iterator<Item = Candidate<'_>> {
    let mut rest = srcset;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches(|character| is_space(character) || character == ',');
            let end = rest.find(is_space).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if word.is_empty() {
                return None;
            }
            let mut size = Size::default();
            let url = word.trim_end_matches(',');
            rest = if url.len() == word.len() {
                describe(after, &mut size)
            } else {
                after
            };
            if size.is_valid() {
                return Some(Candidate { url, size });
            }
        }
    })
}

/// Takes the descriptors at the beginning of `text` in; returns what follows their comma. Between parentheses
/// a comma and a space are part of a descriptor.
fn describe<'a>(text: &'a str, size: &mut Size) -> &'a str {
    let mut start = None;
    let mut in_parentheses = false;
    for (position, character) in text.char_indices() {
        let ends_descriptor = !in_parentheses && (is_space(character) || character == ',');
        if !ends_descriptor {
            start.get_or_insert(position);
            in_parentheses = match character {
                '(' => true,
                ')' => false,
                _ => in_parentheses,
            };
            continue;
        }
        if let Some(start) = start.take() {
            size.describe(&text[start..position]);
        }
        if character == ',' {
            return &text[position + 1..];
        }
    }
    if let Some(start) = start {
        size.describe(&text[start..]);
    }
    ""
}

/// ASCII whitespace, as the HTML standard has it.
fn is_space(character: char) -> bool {
    character.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Checks the URLs of the valid candidates.
    fn check(srcset: &str, expected: &[&str]) {
        let found: Vec<_> = candidates(srcset).map(|candidate| candidate.url).collect();
        assert_eq!(found, expected, "{srcset:?}");
    }

    #[test]
    fn candidates_are_separated_by_commas_that_belong_to_no_url() {
        check("", &[]);
        check(" \t\n\r\u{c}", &[]);
        check(",", &[]);
        check(",, ,", &[]);
        check("a", &["a"]);
        check(" a ", &["a"]);
        check(",a", &["a"]);
        check(" , ,,a", &["a"]);
        check("a,", &["a"]);
        check("a,,,", &["a"]);
        check("a, b", &["a", "b"]);
        check("a ,b", &["a", "b"]);
        check("a,b", &["a,b"]);
        check("a,b 2x, c", &["a,b", "c"]);
        check("a 1x,b 2x", &["a", "b"]);
        check("a 1x , b 2x ,", &["a", "b"]);
        check(
            "/w=640,h=2/a.jpg 640w, /w=750,h=2/a.jpg 750w",
            &["/w=640,h=2/a.jpg", "/w=750,h=2/a.jpg"],
        );
        check(
            "data:image/png;base64,AAAA 1x, b 2x",
            &["data:image/png;base64,AAAA", "b"],
        );
        // Other spaces are part of the URL.
        check("\u{b}a", &["\u{b}a"]);
        check("a\u{a0}1x", &["a\u{a0}1x"]);
    }

    #[test]
    fn parentheses_keep_descriptors_together() {
        check("a (1x, b 1x), c", &["c"]);
        check("a ((1x, b 1x), c", &["c"]);
        check("a (, b", &[]);
        check("a, b (", &["a"]);
        check("a [1x, b 1x], c", &["c"]);
        check("a 1x (x)y, b", &["b"]);
    }

    #[test]
    fn candidates_with_wrong_descriptors_are_left_out() {
        let valid = [
            "1x", "0x", "-0x", "1.5x", ".5x", "1e0x", "1E1x", "1e+1x", "1e-1x", "1w", "007w",
            "1w 1h", "1h 1w",
        ];
        for descriptors in valid {
            check(&format!("a {descriptors}"), &["a"]);
        }
        let wrong = [
            "x",
            "w",
            "h",
            "foo",
            "1",
            "1px",
            "-1x",
            "+1x",
            "1.x",
            "1e1.5x",
            "1ex",
            "Infinityx",
            "infx",
            "NaNx",
            "1e999x",
            "1X",
            "0w",
            "-1w",
            "+1w",
            "1.0w",
            "1e0w",
            "1W",
            "1h",
            "0h 1w",
            "1x 1x",
            "1x 1w",
            "1w 1x",
            "1w 1w",
            "1h 1h 1w",
            "1h 1x",
            "1x 1h",
            "1w 1h 1x",
            "1w foo",
            "1\u{1}w",
        ];
        for descriptors in wrong {
            check(&format!("a {descriptors}"), &[]);
            check(&format!("a {descriptors}, b"), &["b"]);
        }
    }

    #[test]
    fn the_largest_candidate_stands_for_the_image() {
        let check = |srcset: &str, expected: Option<&str>| {
            let found = largest(srcset, |url| !url.starts_with("data:"));
            assert_eq!(found, expected, "{srcset:?}");
        };
        check("", None);
        check("a", Some("a"));
        check("a 1x, b 2x, c 1.5x", Some("b"));
        check("a, b 0.5x", Some("a"));
        check("a 2x, b 2x", Some("a"));
        check("a 640w, b 1280w, c 320w", Some("b"));
        check("a 9x, b 320w", Some("b"));
        check("a 320w, b 9x", Some("a"));
        check("a 640w, data:,x 1280w", Some("a"));
        check("data:,x", None);
    }

    proptest! {
        #[test]
        fn whatever_is_written_each_candidate_is_a_piece_of_it(srcset in "[ab,() 1wxh.]{0,60}") {
            let mut from = 0;
            for candidate in candidates(&srcset) {
                let found = srcset[from..].find(candidate.url);
                prop_assert!(found.is_some(), "{candidate:?}");
                from += found.unwrap_or_default() + candidate.url.len();
                prop_assert!(!candidate.url.starts_with(',') && !candidate.url.ends_with(','));
            }
        }
    }
}
