//! The grammar of `<meta http-equiv=refresh>` and of the `Refresh` header: the "shared declarative
//! refresh steps" of the HTML standard. It resolves nothing.

/// A refresh as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawRefresh {
    /// Delay in whole seconds.
    pub(super) delay_seconds: u32,
    /// The target; `None` reloads the page.
    pub(super) target: Option<String>,
}

/// Reads the content of a refresh; `None` when the standard ignores it.
pub(super) fn parse_refresh(content: &str) -> Option<RawRefresh> {
    let text = skip_space(content);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 && !text.starts_with('.') {
        return None;
    }
    let delay_seconds = match &text[..digits] {
        "" => 0,
        // Only too large a number fails here.
        digits => digits.parse().unwrap_or(u32::MAX),
    };
    let text = text[digits..]
        .trim_start_matches(|character: char| character == '.' || character.is_ascii_digit());
    let Some(first) = text.chars().next() else {
        return Some(RawRefresh {
            delay_seconds,
            target: None,
        });
    };
    if !matches!(first, ';' | ',') && !first.is_ascii_whitespace() {
        return None;
    }
    let text = skip_space(text);
    let text = skip_space(text.strip_prefix([';', ',']).unwrap_or(text));
    let target = (!text.is_empty()).then(|| unquote(skip_url_keyword(text)).to_owned());
    Some(RawRefresh {
        delay_seconds,
        target,
    })
}

/// The text after `url =`; without a whole keyword the text is the target itself.
fn skip_url_keyword(text: &str) -> &str {
    let has_keyword = text
        .get(..3)
        .is_some_and(|word| word.eq_ignore_ascii_case("url"));
    if !has_keyword {
        return text;
    }
    skip_space(&text[3..])
        .strip_prefix('=')
        .map_or(text, skip_space)
}

/// The text up to its closing quote, when it begins with one.
fn unquote(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return quoted.split(quote).next().unwrap_or(quoted);
        }
    }
    text
}

fn skip_space(text: &str) -> &str {
    text.trim_ascii_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refresh_follows_the_html_standard() {
        let check = |content: &str, expected: Option<(u32, Option<&str>)>| {
            let found = parse_refresh(content);
            let found = found
                .as_ref()
                .map(|found| (found.delay_seconds, found.target.as_deref()));
            assert_eq!(found, expected, "{content:?}");
        };
        check("", None);
        check("url=/x", None);
        check("5", Some((5, None)));
        check(" 5 ", Some((5, None)));
        check("5;", Some((5, None)));
        check("0;url=/x", Some((0, Some("/x"))));
        check("0; URL = '/x' y", Some((0, Some("/x"))));
        check("0, url=\"/x", Some((0, Some("/x"))));
        check("0 url=/x", Some((0, Some("/x"))));
        check("0;/x", Some((0, Some("/x"))));
        check("0;'/x'", Some((0, Some("/x"))));
        check("0; unicorn", Some((0, Some("unicorn"))));
        check("0; url", Some((0, Some("url"))));
        check("0; urls=/x", Some((0, Some("urls=/x"))));
        check("0;url=", Some((0, Some(""))));
        check(".5;url=/x", Some((0, Some("/x"))));
        check("1.9;url=/x", Some((1, Some("/x"))));
        check("5x;url=/x", None);
        check("-1;url=/x", None);
        check("99999999999;url=/x", Some((u32::MAX, Some("/x"))));
        check("0;url=/é", Some((0, Some("/é"))));
        check("0;éé", Some((0, Some("éé"))));
    }
}
