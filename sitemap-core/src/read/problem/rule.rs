//! [`Rule`], [`Severity`] and [`Source`]: the rule that a problem breaks, its weight and its origin.

use std::fmt;

use crate::read::Kind;

/// A rule of the protocol by its number, as listed in `RULES.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule(pub u8);

impl Rule {
    /// The same rule for this kind of file, where it has another number.
    pub(crate) fn for_kind(self, kind: Option<Kind>) -> Self {
        match kind {
            Some(Kind::Index) => rule_in_index(self),
            Some(Kind::Text) => rule_in_text(self),
            Some(Kind::Rss | Kind::Atom) => rule_in_feed(self),
            Some(Kind::UrlSet) | None => self,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "R{}", self.0)
    }
}

/// Weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Allowed, but worth knowing.
    Note,
    /// The text of the protocol and its schemas disagree, or consumers may stumble.
    Warning,
    /// Against the protocol.
    Error,
}

/// Origin of a problem where the text of the protocol and its schemas disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A rule of the text: of sitemaps.org, of a document it refers to, or of the owner of an extension. The schema may have the
    /// same rule.
    Rule,
    /// Only the schema refuses it (R68); the text is silent or allows it.
    Schema,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Rule => "rule",
            Self::Schema => "schema",
        })
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// The number of the same rule for an index.
fn rule_in_index(rule: Rule) -> Rule {
    Rule(match rule.0 {
        2 => 38,
        3 => 39,
        4 | 5 => 35,
        6..=8 => 36,
        13 => 42,
        27 => 32,
        28 | 29 => 33,
        other => other,
    })
}

/// The number of the same rule for a text file.
fn rule_in_text(rule: Rule) -> Rule {
    Rule(match rule.0 {
        2 => 53,
        1 | 7 | 9 => 51,
        12 | 21 => 54,
        27 | 28 => 52,
        29 => 56,
        58 => 57,
        other => other,
    })
}

/// The number of the same rule for a feed.
fn rule_in_feed(rule: Rule) -> Rule {
    Rule(match rule.0 {
        6 => 45,
        7 | 9 | 12 => 46,
        13 => 47,
        58 => 49,
        other => other,
    })
}
