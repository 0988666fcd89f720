//! Finds the rule that decides about a path. Exact for the grammar of RFC 9309 section 2.2.3, and cheap for any file. A rule
//! costs time linear in pattern and path, and only rules whose beginning up to the first wildcard matches are tried.
//!
//! Patterns and paths are compared in one form: an escape of an unreserved character is decoded, other escapes have upper-case
//! digits, and characters forbidden in a URL are escaped (RFC 9309 section 2.2.2).

use std::{cmp::Reverse, collections::HashMap, sync::Arc};

use memchr::memmem;

/// Represents `*` in a compiled pattern. No compared text holds it: control characters are escaped.
const WILDCARD: u8 = 0;

/// The one path that no rule can forbid.
const ROBOTS_PATH: &[u8] = b"/robots.txt";

/// Kind of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleKind {
    Allow,
    Disallow,
}

/// One `Allow` or `Disallow` line.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    kind: RuleKind,
    line: usize,
    /// As in the file.
    text: Arc<str>,
    /// In the compared form, with [`WILDCARD`] for each `*`, without a final `$`.
    pattern: Box<[u8]>,
    /// The match must end with the path.
    is_anchored: bool,
    /// Octets of the pattern in the compared form, wildcards and `$` included: the longest rule wins.
    length: usize,
    /// Finds the longest piece behind a wildcard: where it is missing, no other piece is looked for.
    longest_piece: Option<Arc<memmem::Finder<'static>>>,
}

impl Rule {
    /// The rules of one line: none when the pattern can match nothing (it is empty, or begins with
    /// neither `/` nor `*`), and two when it escapes a special character. `%2A` and `%24` represent the
    /// plain character in a URL as well
    /// ([RFC 9309 section 2.2.3](https://www.rfc-editor.org/rfc/rfc9309#section-2.2.3)).
    pub(super) fn compile(kind: RuleKind, line: usize, text: &str) -> impl Iterator<Item = Self> {
        let (body, is_anchored) = match text.strip_suffix('$') {
            Some(body) => (body, true),
            None => (text, false),
        };
        let escaped: Vec<u8> = match body.as_bytes().first() {
            Some(b'/' | b'*') => comparable(body.as_bytes()),
            Some(_) | None => Vec::new(),
        };
        let length = escaped.len() + usize::from(is_anchored);
        let escaped: Vec<u8> = escaped
            .into_iter()
            .map(|byte| if byte == b'*' { WILDCARD } else { byte })
            .collect();
        let verbatim = with_verbatim_specials(&escaped);
        let text: Arc<str> = text.into();
        [
            Some(escaped).filter(|pattern| !pattern.is_empty()),
            verbatim,
        ]
        .into_iter()
        .flatten()
        .map(move |mut pattern| {
            // Several wildcards in a row match what one does.
            pattern.dedup_by(|next, before| *next == WILDCARD && *before == WILDCARD);
            Self {
                kind,
                line,
                text: Arc::clone(&text),
                longest_piece: longest_piece(&pattern),
                pattern: pattern.into(),
                is_anchored,
                length,
            }
        })
    }

    pub(super) fn is_allow(&self) -> bool {
        self.kind == RuleKind::Allow
    }

    pub(super) fn line(&self) -> usize {
        self.line
    }

    pub(super) fn pattern(&self) -> &str {
        &self.text
    }

    /// The part before the first wildcard.
    fn head(&self) -> &[u8] {
        self.pattern
            .split(|&byte| byte == WILDCARD)
            .next()
            .unwrap_or_default()
    }

    /// Returns whether the rule matches a path that begins with its head. Taking the leftmost place for each piece between
    /// wildcards leaves the most text for the next one, so no place is tried twice.
    fn matches_after_head(&self, path: &[u8]) -> bool {
        let mut pieces = self.pattern.split(|&byte| byte == WILDCARD);
        let head_length = pieces.next().map_or(0, <[u8]>::len);
        let mut rest = path.get(head_length..).unwrap_or_default();
        let Some(last) = pieces.next_back() else {
            return !self.is_anchored || rest.is_empty();
        };
        if let Some(longest) = &self.longest_piece
            && longest.find(rest).is_none()
        {
            return false;
        }
        for piece in pieces {
            let Some(at) = find(rest, piece) else {
                return false;
            };
            rest = rest.get(at + piece.len()..).unwrap_or_default();
        }
        if self.is_anchored {
            rest.ends_with(last)
        } else {
            find(rest, last).is_some()
        }
    }
}

/// The longest piece of a pattern behind a wildcard, if it is long enough to be worth it.
fn longest_piece(pattern: &[u8]) -> Option<Arc<memmem::Finder<'static>>> {
    let pieces = pattern.split(|&byte| byte == WILDCARD).skip(1);
    let longest = pieces.max_by_key(|piece| piece.len());
    let longest = longest.filter(|piece| piece.len() > 1)?;
    Some(Arc::new(memmem::Finder::new(longest).into_owned()))
}

/// The first place of `piece` in `text`. Most pieces of hostile rules are one byte, for which a searcher is not worth it.
fn find(text: &[u8], piece: &[u8]) -> Option<usize> {
    match piece {
        [] => Some(0),
        [byte] => memchr::memchr(*byte, text),
        piece => memmem::find(text, piece),
    }
}

/// All rules for one agent, ordered so that the first one that matches decides.
#[derive(Debug, Clone, Default)]
pub(super) struct Matcher {
    /// Longest first, allowing ones before forbidding ones.
    rules: Vec<Rule>,
    /// Positions of the rules with each head, in ascending order.
    by_head: HashMap<Box<[u8]>, Vec<usize>>,
    /// The lengths of the heads, longest first.
    head_lengths: Vec<usize>,
}

impl Matcher {
    /// The lines that the rules came from, in the order of the file: number, whether it allows, and its pattern.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, bool, &str)> {
        let rules = self.rules.iter();
        let mut lines: Vec<_> = rules
            .map(|rule| (rule.line, rule.is_allow(), rule.pattern()))
            .collect();
        lines.sort_unstable();
        // One line may make two rules.
        lines.dedup();
        lines.into_iter()
    }

    pub(super) fn new(mut rules: Vec<Rule>) -> Self {
        rules.sort_by_key(|rule| (Reverse(rule.length), !rule.is_allow(), rule.line));
        let mut by_head: HashMap<Box<[u8]>, Vec<usize>> = HashMap::new();
        for (position, rule) in rules.iter().enumerate() {
            by_head
                .entry(rule.head().into())
                .or_default()
                .push(position);
        }
        let mut head_lengths: Vec<usize> = by_head.keys().map(|head| head.len()).collect();
        head_lengths.sort_unstable_by_key(|&length| Reverse(length));
        head_lengths.dedup();
        Self {
            rules,
            by_head,
            head_lengths,
        }
    }

    /// The rule that decides about `path_and_query`; `None` when no rule matches, and for
    /// `/robots.txt` itself.
    pub(super) fn deciding_rule(&self, path_and_query: &str) -> Option<&Rule> {
        let path = comparable_path(path_and_query);
        if path == ROBOTS_PATH {
            return None;
        }
        let mut best = self.rules.len();
        for &length in &self.head_lengths {
            let Some(positions) = path.get(..length).and_then(|head| self.by_head.get(head)) else {
                continue;
            };
            let found = positions
                .iter()
                .take_while(|&&position| position < best)
                .find(|&&position| {
                    self.rules
                        .get(position)
                        .is_some_and(|rule| rule.matches_after_head(&path))
                });
            best = found.copied().unwrap_or(best);
        }
        self.rules.get(best)
    }
}

/// The compared form of a path with query: it begins with `/`, and has no fragment.
fn comparable_path(path_and_query: &str) -> Vec<u8> {
    let path = path_and_query.split('#').next().unwrap_or_default();
    let mut compared = comparable(path.as_bytes());
    if compared.first() != Some(&b'/') {
        compared.insert(0, b'/');
    }
    compared
}

/// The compared form of a path or pattern.
fn comparable(text: &[u8]) -> Vec<u8> {
    let mut compared = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, escaped_byte(after)) {
            (b'%', Some(decoded)) => {
                rest = after.split_at(2).1;
                if is_unreserved(decoded) {
                    compared.push(decoded);
                } else {
                    push_escape(decoded, |encoded| compared.push(encoded));
                }
            }
            _ if may_stand_in_url(byte) => compared.push(byte),
            _ => push_escape(byte, |encoded| compared.push(encoded)),
        }
    }
    compared
}

/// The byte that two hexadecimal digits after a `%` represent.
fn escaped_byte(after_percent: &[u8]) -> Option<u8> {
    let &[high, low, ..] = after_percent else {
        return None;
    };
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|value| u8::try_from(value).ok())
    };
    Some(digit(high)? << 4 | digit(low)?)
}

/// Hands out `%XX` for `byte`, with upper-case digits.
pub(super) fn push_escape(byte: u8, mut push: impl FnMut(u8)) {
    let digit = |value: u8| {
        if value < 10 {
            b'0' + value
        } else {
            b'A' + value - 10
        }
    };
    for encoded in [b'%', digit(byte >> 4), digit(byte & 0xF)] {
        push(encoded);
    }
}

/// RFC 3986 section 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// RFC 3986: a character that is neither reserved, unreserved nor `%` is always escaped in a URL.
fn may_stand_in_url(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(
            byte,
            b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}'
        )
}

/// `pattern` with plain `*` and `$` for their escapes; `None` when it has none.
fn with_verbatim_specials(pattern: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some((&byte, after)) = rest.split_first() {
        let (next, after) = match rest {
            [b'%', b'2', b'A', after @ ..] => (b'*', after),
            [b'%', b'2', b'4', after @ ..] => (b'$', after),
            _ => (byte, after),
        };
        plain.push(next);
        rest = after;
    }
    (plain.len() < pattern.len()).then_some(plain)
}
