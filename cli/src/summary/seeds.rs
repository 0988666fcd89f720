//! What became of the sitemaps, feeds and lists that a crawl took URLs from.

use std::cmp::Reverse;

use crawler::{
    seeds::{RuleTally, Tally},
    url_key::UrlKey,
};
use serde::Serialize;

use crate::human;

/// Sitemaps, feeds and lists with a problem that are named in the text.
const MAX_SEEDS_SHOWN: usize = 10;

/// Rules that their entries break which are named in the text; the JSON names all.
const MAX_RULES_SHOWN: usize = 10;

/// Their part of the line of JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct SeedLine {
    /// Read to the end.
    read: u64,
    /// Of these, those that were not fetched again, because their index states no change.
    kept: u64,
    /// Published by arpent itself, so they were not read.
    own: u64,
    /// Not read yet.
    waiting: u64,
    /// Not read, or only in part, or read in spite of an error.
    troubled: u64,
    /// The first of these.
    troubles: Vec<SeedTrouble>,
    /// What is wrong with their entries, by rule, the most frequent first.
    entries: Vec<EntryLine>,
    /// Those that name URLs outside of what is crawled, which are not taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outside: Vec<OutsideLine>,
}

/// One of them that names URLs outside of what is crawled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct OutsideLine {
    /// URL or file.
    name: String,
    /// How many URLs.
    count: u64,
    /// Of how many.
    entries: u64,
    /// The first of them.
    example: String,
}

/// One rule that entries of sitemaps, feeds and lists break.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct EntryLine {
    /// Number of the rule (`R13`), or the code of what is no rule of the protocol.
    rule: String,
    #[serde(flatten)]
    tally: RuleTally,
}

/// One of them that something is wrong with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct SeedTrouble {
    /// URL or file.
    name: String,
    /// Code of the problem.
    problem: &'static str,
    detail: Option<String>,
    named_by: Option<String>,
}

impl From<&Tally> for SeedLine {
    fn from(tally: &Tally) -> Self {
        let troubles = tally.troubles.iter().filter_map(|document| {
            Some(SeedTrouble {
                name: document.name.clone(),
                problem: document.problem?.code(),
                detail: document.detail.clone(),
                named_by: document.named_by.clone(),
            })
        });
        let outside = tally.outside_in.iter().filter_map(|document| {
            let outside = document.outside.clone()?;
            Some(OutsideLine {
                name: document.name.clone(),
                count: outside.count,
                entries: document.entries,
                example: outside.example,
            })
        });
        let mut entries: Vec<EntryLine> = tally
            .entries
            .iter()
            .map(|(rule, tally)| EntryLine {
                rule: rule.clone(),
                tally: tally.clone(),
            })
            .collect();
        entries.sort_by_key(|line| Reverse(line.tally.count));
        Self {
            read: tally.read,
            kept: tally.kept,
            own: tally.own,
            waiting: tally.waiting,
            troubled: tally.troubled,
            troubles: troubles.collect(),
            entries,
            outside: outside.collect(),
        }
    }
}

impl SeedLine {
    /// Adds their part of the text for `site`, of which `tally` has the documents.
    pub(super) fn add_to(&self, tally: &Tally, site: &str, lines: &mut Vec<String>) {
        if self.kept > 0 {
            lines.push(format!(
                "  {} not fetched again: the index states no change",
                human::count(self.kept, "sitemap")
            ));
        }
        if self.own > 0 {
            lines.push(format!(
                "  {} of arpent's own on the site: no evidence, not read",
                human::count(self.own, "sitemap")
            ));
        }
        if self.waiting > 0 {
            lines.push(format!(
                "  {} of the sitemaps and feeds not read yet",
                human::number(self.waiting)
            ));
        }
        self.add_outside_to(tally.outside, site, lines);
        self.add_entries_to(lines);
        if self.troubled == 0 {
            return;
        }
        lines.push(format!(
            "  {} with a problem:",
            match self.troubled {
                1 => "1 sitemap, feed or list".to_owned(),
                many => format!("{} sitemaps, feeds and lists", human::number(many)),
            }
        ));
        let shown = tally.troubles.iter().take(MAX_SEEDS_SHOWN);
        let before = lines.len();
        lines.extend(shown.filter_map(|document| {
            let trouble = document.trouble()?;
            let named_by = document.named_by.as_deref();
            let named_by = named_by.map_or_else(String::new, |by| format!(", named by {by}"));
            Some(format!("    {} {trouble}{named_by}", document.name))
        }));
        let more = self.troubled.saturating_sub((lines.len() - before) as u64);
        if more > 0 {
            lines.push(format!("    and {} more", human::number(more)));
        }
    }

    /// Which of them name URLs outside of what is crawled, `total` in all.
    fn add_outside_to(&self, total: u64, site: &str, lines: &mut Vec<String>) {
        if total == 0 {
            return;
        }
        let is_near = |line: &OutsideLine| {
            let keys = [site, &line.example].map(UrlKey::from_normalised);
            matches!(keys, [Ok(site), Ok(example)] if example.is_on(&site.origin()))
        };
        let advice = if self.outside.iter().any(is_near) {
            " (--scope origin takes those on its host)"
        } else {
            ""
        };
        lines.push(format!(
            "  {} of sitemaps, feeds and lists outside the site, not taken{advice}:",
            human::count(total, "URL")
        ));
        for line in self.outside.iter().take(MAX_SEEDS_SHOWN) {
            lines.push(format!(
                "    {} of {} in {}, e.g. {}",
                human::number(line.count),
                human::number(line.entries),
                line.name,
                line.example
            ));
        }
        if let Some(more) = self.outside.len().checked_sub(MAX_SEEDS_SHOWN + 1) {
            let more = more as u64 + 1;
            lines.push(format!("    and in {} more", human::number(more)));
        }
    }

    /// What is wrong with the entries of sitemaps, feeds and lists: a line for each rule, with an example.
    fn add_entries_to(&self, lines: &mut Vec<String>) {
        let rules = &self.entries;
        let total: u64 = rules.iter().map(|line| line.tally.count).sum();
        if total == 0 {
            return;
        }
        lines.push(format!(
            "  {} wrong in entries of sitemaps, feeds and lists, which were used as far as they can be:",
            match total {
                1 => "1 thing".to_owned(),
                many => format!("{} things", human::number(many)),
            }
        ));
        for EntryLine { rule, tally } in rules.iter().take(MAX_RULES_SHOWN) {
            let files = match tally.documents {
                1 => String::new(),
                many => format!(" in {} files", human::number(many)),
            };
            lines.push(format!(
                "    {} {rule}{files}, e.g. {}, {}",
                human::number(tally.count),
                tally.document,
                tally.example
            ));
        }
        let more = rules.len().saturating_sub(MAX_RULES_SHOWN) as u64;
        if more > 0 {
            lines.push(format!("    and {}", human::count(more, "more rule")));
        }
    }
}
