//! From the bytes of a robots.txt to the rules for one product token: cleans the bytes, lets the
//! `robotstxt` crate split lines into keys and values, and sorts these into groups.

use std::{collections::HashSet, time::Duration};

use robotstxt::RobotsParseHandler;

use super::{
    Rules,
    body::is_line_end,
    matcher::{Matcher, Rule, RuleKind},
};

/// Names of the one directive outside RFC 9309 that is obeyed, in lower case.
const CRAWL_DELAY_KEYS: [&str; 3] = ["crawl-delay", "crawldelay", "crawl delay"];

/// Reads the rules for `agent`, a product token with or without a version after a `/`.
pub(super) fn rules(body: &[u8], agent: &str) -> Rules {
    let token = agent.split('/').next().unwrap_or_default();
    let mut collector = GroupCollector::new(token);
    robotstxt::parse_robotstxt(&clean(body), &mut collector);
    collector.into_rules()
}

/// The leading letters, `-` and `_` of `text`: all that a product token may hold.
pub(super) fn leading_token(text: &str) -> &str {
    let end = text.find(|character: char| !matches!(character, 'a'..='z' | 'A'..='Z' | '-' | '_'));
    text.split_at(end.unwrap_or(text.len())).0
}

/// The body as ASCII, line by line as it was, so that the parser's line numbers are those of the file.
///
/// A byte order mark is dropped, whole or in part. A byte outside ASCII becomes its `%XX`, escapes get
/// upper-case digits. Blanks around a line are dropped. NUL ends the text of a line, as in Google's
/// parser. None of the parser's weak spots (code points for bytes, slices inside characters) is left.
fn clean(body: &[u8]) -> String {
    let mut text = String::with_capacity(body.len());
    for line in without_byte_order_mark(body).split_inclusive(|&byte| is_line_end(byte)) {
        let content = line.trim_ascii();
        let content = content.split(|&byte| byte == 0).next().unwrap_or_default();
        push_encoded(&mut text, content);
        if let Some(&last) = line.last().filter(|&&byte| is_line_end(byte)) {
            if content.is_empty() && line.len() > 1 {
                // An empty line would merge with a CR before it.
                text.push(' ');
            }
            text.push(char::from(last));
        }
    }
    text
}

/// As Google's parser does: as many of the three bytes as there are, in order.
fn without_byte_order_mark(body: &[u8]) -> &[u8] {
    let marks = b"\xEF\xBB\xBF"
        .iter()
        .zip(body)
        .take_while(|(mark, byte)| mark == byte)
        .count();
    body.get(marks..).unwrap_or_default()
}

fn push_encoded(text: &mut String, bytes: &[u8]) {
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'%', &[high, low, ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                text.extend([
                    '%',
                    high.to_ascii_uppercase().into(),
                    low.to_ascii_uppercase().into(),
                ]);
                rest = after.split_at(2).1;
            }
            (0x80.., _) => super::matcher::push_escape(byte, |encoded| text.push(encoded.into())),
            _ => text.push(byte.into()),
        }
    }
}

/// Sorts directives into groups: those that name our token, and those for all agents.
struct GroupCollector<'a> {
    agent: &'a str,
    /// The group that is being read.
    group: Group,
    /// A group names our token, be it without rules: the groups for all agents do not count then.
    is_named: bool,
    named: GroupDirectives,
    everyone: GroupDirectives,
    sitemaps: Vec<String>,
    seen_sitemaps: HashSet<String>,
}

/// Whom the group is for.
#[derive(Default)]
struct Group {
    is_named: bool,
    is_everyone: bool,
    /// A rule has come: the next user-agent line begins a new group.
    has_rules: bool,
}

/// Directives of groups.
#[derive(Default)]
struct GroupDirectives {
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
}

impl<'a> GroupCollector<'a> {
    fn new(agent: &'a str) -> Self {
        Self {
            agent,
            group: Group::default(),
            is_named: false,
            named: GroupDirectives::default(),
            everyone: GroupDirectives::default(),
            sitemaps: Vec::new(),
            seen_sitemaps: HashSet::new(),
        }
    }

    fn into_rules(self) -> Rules {
        let GroupDirectives { rules, crawl_delay } = if self.is_named {
            self.named
        } else {
            self.everyone
        };
        Rules {
            matcher: Matcher::new(rules),
            crawl_delay,
            sitemaps: self.sitemaps,
            refusal: None,
            agent: self.is_named.then(|| self.agent.into()),
        }
    }

    /// The directives that the current group adds to: none when it is for others, or before the first
    /// user-agent line.
    fn targets(&mut self) -> impl Iterator<Item = &mut GroupDirectives> {
        let named = self.group.is_named.then_some(&mut self.named);
        let everyone = self.group.is_everyone.then_some(&mut self.everyone);
        named.into_iter().chain(everyone)
    }

    fn rule(&mut self, kind: RuleKind, line: u32, pattern: &str) {
        self.group.has_rules = true;
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        for directives in self.targets() {
            directives.rules.extend(Rule::compile(kind, line, pattern));
        }
    }
}

impl RobotsParseHandler for GroupCollector<'_> {
    fn handle_robots_start(&mut self) {}

    fn handle_robots_end(&mut self) {}

    fn handle_user_agent(&mut self, _line: u32, value: &str) {
        if self.group.has_rules {
            self.group = Group::default();
        }
        let mut characters = value.chars();
        if characters.next() == Some('*')
            && characters
                .next()
                .is_none_or(|next| next.is_ascii_whitespace())
        {
            self.group.is_everyone = true;
        } else if !self.agent.is_empty() && leading_token(value).eq_ignore_ascii_case(self.agent) {
            self.group.is_named = true;
            self.is_named = true;
        }
    }

    fn handle_allow(&mut self, line: u32, value: &str) {
        self.rule(RuleKind::Allow, line, value);
    }

    fn handle_disallow(&mut self, line: u32, value: &str) {
        self.rule(RuleKind::Disallow, line, value);
    }

    fn handle_sitemap(&mut self, _line: u32, value: &str) {
        if !value.is_empty() && self.seen_sitemaps.insert(value.to_owned()) {
            self.sitemaps.push(value.to_owned());
        }
    }

    fn handle_unknown_action(&mut self, _line: u32, action: &str, value: &str) {
        if !CRAWL_DELAY_KEYS
            .iter()
            .any(|key| action.eq_ignore_ascii_case(key))
        {
            return;
        }
        let delay = leading_seconds(value);
        for directives in self.targets() {
            directives.crawl_delay = directives.crawl_delay.max(delay);
        }
    }
}

/// The decimal number of seconds that `value` begins with; the rest (`s`, `<BR>`) is ignored.
fn leading_seconds(value: &str) -> Option<Duration> {
    let is_number = |character: char| character.is_ascii_digit() || matches!(character, '.' | ',');
    let end = value
        .find(|character| !is_number(character))
        .unwrap_or(value.len());
    let number = value
        .split_at(end)
        .0
        .trim_end_matches(['.', ','])
        .replace(',', ".");
    // A second point ends the number: `1.5.2` is 1.5.
    let end = number
        .match_indices('.')
        .nth(1)
        .map_or(number.len(), |(second, _)| second);
    let seconds: f64 = number.split_at(end).0.parse().ok()?;
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}
