//! Robots directives of metas and headers, as Google Search Central ("robots meta tag") describes them: the sum of the negative
//! rules, for `robots` and the bots of the settings. Rules that do not bear on listing, following or images are skipped.

use crate::page::Directives;

use super::dates::parse_rule_date;

/// Adds up the directives of one page.
#[derive(Debug, Default)]
pub(super) struct DirectiveSum {
    /// The sum so far.
    pub(super) directives: Directives,
    /// An `unavailable_after` could not be read.
    pub(super) bad_date: bool,
}

impl DirectiveSum {
    /// Adds the content of a robots meta whose name has been found to concern us.
    pub(super) fn add_list(&mut self, content: &str) {
        for piece in Pieces::new(content) {
            self.add_rules(piece.text, piece.date);
        }
    }

    /// Adds one line of `X-Robots-Tag: [bot:] rule, rule`; `names` are the bots whose rules are obeyed, in lower case.
    ///
    /// A name holds for the rest of its line, and never for another line.
    pub(super) fn add_header_line(&mut self, line: &str, names: &[String]) {
        let is_ours =
            |name: &str| name == "*" || names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let mut applies = true;
        for piece in Pieces::new(line) {
            let mut text = piece.text;
            if let Some((name, rest)) = split_bot_name(text) {
                applies = is_ours(name);
                text = rest;
            }
            if applies {
                self.add_rules(text, piece.date);
            }
        }
    }

    /// Adds the directives of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        self.directives.noindex |= other.directives.noindex;
        self.directives.nofollow |= other.directives.nofollow;
        self.directives.noimageindex |= other.directives.noimageindex;
        if let Some(date) = other.directives.unavailable_after {
            self.add_date(date);
        }
        self.bad_date |= other.bad_date;
    }

    /// Rules that only spaces separate are taken one by one: a missing comma must not list a page.
    fn add_rules(&mut self, rules: &str, date: Option<&str>) {
        for word in rules.split_ascii_whitespace() {
            if word.eq_ignore_ascii_case("noindex") {
                self.directives.noindex = true;
            } else if word.eq_ignore_ascii_case("nofollow") {
                self.directives.nofollow = true;
            } else if word.eq_ignore_ascii_case("noimageindex") {
                self.directives.noimageindex = true;
            } else if word.eq_ignore_ascii_case("none") {
                self.directives.noindex = true;
                self.directives.nofollow = true;
            } else if word.eq_ignore_ascii_case(UNAVAILABLE_AFTER) {
                match date.and_then(parse_rule_date) {
                    Some(date) => self.add_date(date),
                    None => self.bad_date = true,
                }
            } else if is_rule(word)
                && VALUED_RULES
                    .iter()
                    .any(|rule| starts_ignoring_case(word, rule))
            {
                // What follows is a value, and `none` is one of those of max-image-preview.
                return;
            }
        }
    }

    fn add_date(&mut self, date: jiff::Timestamp) {
        let earliest = &mut self.directives.unavailable_after;
        *earliest = Some(earliest.map_or(date, |known| known.min(date)));
    }
}

const UNAVAILABLE_AFTER: &str = "unavailable_after";

/// Rules with a value; the word before their colon is not a bot.
const VALUED_RULES: [&str; 4] = [
    UNAVAILABLE_AFTER,
    "max-snippet",
    "max-image-preview",
    "max-video-preview",
];

/// Rules without a value.
const PLAIN_RULES: [&str; 12] = [
    "noindex",
    "nofollow",
    "none",
    "all",
    "index",
    "follow",
    "noarchive",
    "nocache",
    "nosnippet",
    "noimageindex",
    "notranslate",
    "indexifembedded",
];

/// Returns whether a piece of a list begins with a known rule.
fn is_rule(text: &str) -> bool {
    let end = text.find(|character: char| character == ':' || character.is_ascii_whitespace());
    let name = &text[..end.unwrap_or(text.len())];
    VALUED_RULES
        .iter()
        .chain(&PLAIN_RULES)
        .any(|rule| rule.eq_ignore_ascii_case(name))
}

/// `bot: rules`: the bot and the rest.
fn split_bot_name(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let name = name.trim_ascii_end();
    let is_name =
        !name.is_empty() && !name.contains(|character: char| character.is_ascii_whitespace());
    (is_name && !is_rule(name)).then(|| (name, rest.trim_ascii_start()))
}

/// A rule of a list, with the state that dates need: a date may have commas, so it ends where the next known rule begins.
#[derive(Debug)]
struct Piece<'a> {
    /// The piece, trimmed; of `unavailable_after` only the part before its value.
    text: &'a str,
    /// The value of `unavailable_after`.
    date: Option<&'a str>,
}

/// Splits a list of rules at commas and semicolons.
#[derive(Debug)]
struct Pieces<'a> {
    rest: Option<&'a str>,
}

impl<'a> Pieces<'a> {
    fn new(list: &'a str) -> Self {
        Self { rest: Some(list) }
    }

    /// End of the value of a date: before the next piece that is a rule.
    fn end_of_date(list: &str) -> usize {
        let mut from = 0;
        while let Some(separator) = list[from..].find([',', ';']) {
            let next = from + separator + 1;
            let end = list[next..]
                .find([',', ';'])
                .map_or(list.len(), |length| next + length);
            if is_rule(list[next..end].trim_ascii()) {
                return from + separator;
            }
            from = next;
        }
        list.len()
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let list = self.rest?;
        let mut end = list.find([',', ';']).unwrap_or(list.len());
        let mut text = &list[..end];
        let mut date = None;
        if let Some(at) = find_ignoring_case(text, UNAVAILABLE_AFTER) {
            let value_at = at + UNAVAILABLE_AFTER.len();
            let value = list[value_at..].trim_ascii_start();
            if let Some(value) = value.strip_prefix(':') {
                let value_at = list.len() - value.len();
                end = value_at + Self::end_of_date(value);
                date = Some(list[value_at..end].trim_ascii());
            }
            text = &list[..value_at];
        }
        self.rest = list.get(end + 1..);
        Some(Piece {
            text: text.trim_ascii(),
            date,
        })
    }
}

fn starts_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn find_ignoring_case(text: &str, needle: &str) -> Option<usize> {
    text.as_bytes()
        .windows(needle.len())
        .position(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `N` noindex, `F` nofollow, `I` noimageindex, `D` a date, `!` an unreadable date.
    fn flags(sum: &DirectiveSum) -> String {
        [
            (sum.directives.noindex, 'N'),
            (sum.directives.nofollow, 'F'),
            (sum.directives.noimageindex, 'I'),
            (sum.directives.unavailable_after.is_some(), 'D'),
            (sum.bad_date, '!'),
        ]
        .into_iter()
        .filter_map(|(set, flag)| set.then_some(flag))
        .collect()
    }

    fn check_list(content: &str, expected: &str) {
        let mut sum = DirectiveSum::default();
        sum.add_list(content);
        assert_eq!(flags(&sum), expected, "{content}");
    }

    #[test]
    fn negative_rules_add_up() {
        check_list("", "");
        check_list("all", "");
        check_list("index, follow", "");
        check_list("NoIndex", "N");
        check_list("nofollow", "F");
        check_list("none", "NF");
        check_list("noindex,nofollow", "NF");
        check_list("noindex nofollow", "NF");
        check_list(" , noindex ;nofollow", "NF");
        check_list("noarchive, nosnippet, notranslate, max-snippet:-1", "");
        check_list("noarchive, NoImageIndex, max-snippet:-1", "I");
        check_list("max-image-preview: none", "");
        check_list("noindex max-image-preview:none", "N");
        check_list("max-image-preview:none, nofollow", "F");
        check_list("xnoindex, noindexx", "");
    }

    #[test]
    fn unavailable_after_may_hold_commas() {
        check_list("unavailable_after: 25 Jun 2010 15:00:00 PST", "D");
        check_list("unavailable_after: Friday, 25-Jun-10 15:00:00 GMT", "D");
        check_list(
            "unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, nofollow",
            "FD",
        );
        check_list("noindex, Unavailable_After : 2010-06-25, nofollow", "NFD");
        check_list("unavailable_after: soon", "!");
        check_list("unavailable_after", "!");
        check_list("unavailable_after: soon, noindex", "N!");
    }

    #[test]
    fn the_earliest_date_counts() {
        let mut sum = DirectiveSum::default();
        sum.add_list("unavailable_after: 2012-01-01");
        sum.add_list("unavailable_after: 2011-01-01, unavailable_after: 2013-01-01");
        let date = sum
            .directives
            .unavailable_after
            .map(|date| date.to_string());
        assert_eq!(date.as_deref(), Some("2011-01-01T00:00:00Z"));
    }

    fn check_header(line: &str, expected: &str) {
        let mut sum = DirectiveSum::default();
        sum.add_header_line(line, &["robots".to_owned(), "googlebot".to_owned()]);
        assert_eq!(flags(&sum), expected, "{line}");
    }

    #[test]
    fn header_names_its_bot_before_a_colon() {
        let check = check_header;
        check("noindex", "N");
        check("noindex, nofollow", "NF");
        check("googlebot: noindex, nofollow", "NF");
        check("GoogleBot : noindex", "N");
        check("otherbot: noindex, nofollow", "");
        check("otherbot: noindex, googlebot: nofollow", "F");
        check("googlebot: nofollow, otherbot: noindex", "F");
        check("*: noindex", "N");
        check("unavailable_after: 25 Jun 2010 15:00:00 PST", "D");
        check(
            "googlebot: unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT",
            "D",
        );
        check("otherbot: unavailable_after: 2010-06-25, noindex", "");
        check("max-snippet: 20, noindex", "N");
        check("unknown, noindex", "N");
        check("", "");
        check(":", "");
        check(":noindex", "");
    }
}
