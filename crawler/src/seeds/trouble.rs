//! The defects of the entries of a document, by rule of the protocol: counts, and an example each. The number of
//! defects has no bound, so only the first [`MAX_TROUBLED_RULES`] rules are counted separately.

use serde::{Deserialize, Serialize};
use sitemap_core::read::{ReadFinding, Severity};

/// Rules of one document that are kept apart; there are 80 in all, and a file breaks a handful.
pub const MAX_TROUBLED_RULES: usize = 32;

/// Longest example that is kept; a longer one ends in an ellipsis.
pub const MAX_EXAMPLE_CHARACTERS: usize = 300;

/// In the place of a rule: an entry or a line that is not a URL which could be asked for.
pub const UNUSABLE: &str = "unusable-url";

/// Something that is wrong with entries of one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryTrouble {
    /// The rule (`R13`), or [`UNUSABLE`].
    pub rule: String,
    /// How often.
    pub count: u64,
    /// The first of them: its place in the document, and what is wrong there.
    pub example: String,
}

/// The same of all rules, in the order in which they were met.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryTroubles(Vec<EntryTrouble>);

impl EntryTroubles {
    /// Counts a finding. What is only worth knowing ([`Severity::Note`]) is not a trouble.
    pub fn add_finding(&mut self, finding: &ReadFinding) {
        match finding.severity() {
            Severity::Note => {}
            Severity::Warning | Severity::Error => {
                self.add(&finding.rule().to_string(), || finding.to_string());
            }
        }
    }

    /// Counts something under `rule`; `example` is asked for the first time only.
    pub fn add(&mut self, rule: &str, example: impl FnOnce() -> String) {
        if let Some(known) = self.0.iter_mut().find(|known| known.rule == rule) {
            known.count += 1;
        } else if self.0.len() < MAX_TROUBLED_RULES {
            self.0.push(EntryTrouble {
                rule: rule.to_owned(),
                count: 1,
                example: shortened(&example()),
            });
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &EntryTrouble> {
        self.0.iter()
    }

    /// The one that was met first.
    pub fn first(&self) -> Option<&EntryTrouble> {
        self.0.first()
    }

    /// Returns whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A rule over all documents of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RuleTally {
    /// Entries that break it.
    pub count: u64,
    /// Documents with such an entry.
    pub documents: u64,
    /// The document of the example.
    pub document: String,
    /// The first of them.
    pub example: String,
}

impl RuleTally {
    /// Adds what one document has.
    pub(super) fn add(&mut self, document: &str, trouble: &EntryTrouble) {
        if self.documents == 0 {
            document.clone_into(&mut self.document);
            self.example.clone_from(&trouble.example);
        }
        self.count += trouble.count;
        self.documents += 1;
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_EXAMPLE_CHARACTERS) {
        Some((end, _)) => format!("{}\u{2026}", text.split_at(end).0),
        None => text.to_owned(),
    }
}
