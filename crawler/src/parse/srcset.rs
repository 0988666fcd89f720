//! The candidates of a `srcset` (HTML standard section 4.8.4.3.9, "parsing a srcset attribute"), and the choice of one for the
//! image. URLs may have commas, so the text is not simply split.

/// The candidate that shows the most of the image: the widest, or without any width the densest; the
/// first of equals. Only those that `is_usable` are looked at.
pub(super) fn largest(srcset: &str, is_usable: impl Fn(&str) -> bool) -> Option<&str> {
    let mut best: Option<(&str, CandidateSize)> = None;
    for (url, size) in candidates(srcset) {
        if best.as_ref().is_none_or(|(_, best)| size > *best) && is_usable(url) {
            best = Some((url, size));
        }
    }
    best.map(|(url, _)| url)
}

/// Size by the descriptor of a candidate.
#[derive(Debug, PartialEq, PartialOrd)]
enum CandidateSize {
    /// `x`, in pixels of the image per pixel of the page.
    Density(f64),
    /// `w`, in pixels.
    Width(f64),
}

impl CandidateSize {
    /// The size that `descriptors` state, 1x without any; `None` when they cannot be read.
    fn read(descriptors: &str) -> Option<Self> {
        // `h` is for the future and means nothing today.
        let mut descriptors = descriptors
            .split_ascii_whitespace()
            .filter(|descriptor| !descriptor.ends_with('h'));
        let Some(descriptor) = descriptors.next() else {
            return Some(Self::Density(1.0));
        };
        let size = match descriptor.split_at_checked(descriptor.len() - 1)? {
            (number, "w") => Self::Width(number.parse().ok()?),
            (number, "x") => Self::Density(number.parse().ok()?),
            _ => return None,
        };
        descriptors.next().is_none().then_some(size)
    }
}

/// The valid candidates in their order.
fn candidates(srcset: &str) -> impl Iterator<Item = (&str, CandidateSize)> {
    let is_space = |character: char| character.is_ascii_whitespace();
    let mut rest = srcset;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches(|character| is_space(character) || character == ',');
            let end = rest.find(is_space).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if word.is_empty() {
                return None;
            }
            let url = word.trim_end_matches(',');
            let descriptors;
            (descriptors, rest) = if url.len() == word.len() {
                after.split_once(',').unwrap_or((after, ""))
            } else {
                ("", after)
            };
            if let Some(size) = CandidateSize::read(descriptors) {
                return Some((url, size));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the URLs of the valid candidates.
    fn check(srcset: &str, expected: &[&str]) {
        let found: Vec<_> = candidates(srcset).map(|(url, _)| url).collect();
        assert_eq!(found, expected, "{srcset:?}");
    }

    #[test]
    fn candidates_are_separated_by_commas_outside_urls() {
        check("", &[]);
        check(",, ,", &[]);
        check(" , ,,a", &["a"]);
        check("a,,,", &["a"]);
        check("a, b", &["a", "b"]);
        check("a ,b", &["a", "b"]);
        check("a,b 2x, c", &["a,b", "c"]);
        check("a 1x,b 2x", &["a", "b"]);
        check(
            "/w=640,h=2/a.jpg 640w, /w=750,h=2/a.jpg 750w",
            &["/w=640,h=2/a.jpg", "/w=750,h=2/a.jpg"],
        );
        check(
            "data:image/png;base64,AAAA 1x, b 2x",
            &["data:image/png;base64,AAAA", "b"],
        );
    }

    #[test]
    fn candidates_with_wrong_descriptors_are_left_out() {
        for descriptors in ["1x", ".5x", "1e1x", "1w", "1w 1h", "1h 1w"] {
            check(&format!("a {descriptors}"), &["a"]);
        }
        for descriptors in ["x", "w", "foo", "1px", "1X", "1x 1w", "1w foo", "é"] {
            check(&format!("a {descriptors}, b"), &["b"]);
        }
    }

    #[test]
    fn the_largest_candidate_means_the_image() {
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
}
