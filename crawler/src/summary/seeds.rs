//! What became of the sitemaps, feeds and lists that a crawl took URLs from.

use std::cmp::Reverse;

use serde::Serialize;

use crate::{
    human,
    seeds::{RuleTally, Tally},
    url_key::UrlKey,
    view::Section,
};

/// Sitemaps, feeds and lists with a problem that are named in the text.
const MAX_SEEDS_SHOWN: usize = 10;

/// Rules that their entries break which are named in the text; the JSON names all.
const MAX_RULES_SHOWN: usize = 10;

/// The part of the JSON about sitemaps, feeds and lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct SeedLine {
    /// Read to the end.
    read: u64,
    /// Published by arpent itself, so they were not read.
    published_by_arpent: u64,
    /// Not read yet.
    waiting: u64,
    /// Not read, or only in part, or read in spite of an error.
    with_problems: u64,
    /// The first documents with problems.
    problems: Vec<SeedProblemLine>,
    /// What is wrong with their entries, by rule, the most frequent first.
    entries: Vec<EntryLine>,
    /// Documents that name URLs outside of what is crawled, which are not taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outside: Vec<OutsideLine>,
}

/// A document that names URLs outside of what is crawled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct OutsideLine {
    /// URL or file.
    name: String,
    /// Number of the URLs outside.
    count: u64,
    /// URLs in the document.
    entries: u64,
    /// The first URL outside.
    example: String,
}

/// A rule that entries of sitemaps, feeds and lists break.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct EntryLine {
    /// Number of the rule (`R13`), or the code of what is no rule of the protocol.
    rule: String,
    #[serde(flatten)]
    tally: RuleTally,
}

/// A document with a problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct SeedProblemLine {
    /// URL or file.
    name: String,
    /// Code of the problem.
    problem: &'static str,
    detail: Option<String>,
    named_by: Option<String>,
}

impl From<&Tally> for SeedLine {
    fn from(tally: &Tally) -> Self {
        let problems = tally.problems.iter().filter_map(|document| {
            Some(SeedProblemLine {
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
            published_by_arpent: tally.published_by_arpent,
            waiting: tally.waiting,
            with_problems: tally.with_problems,
            problems: problems.collect(),
            entries,
            outside: outside.collect(),
        }
    }
}

impl SeedLine {
    /// Adds the lines for `site`, of which `tally` has the documents.
    pub(super) fn add_to(&self, tally: &Tally, site: &str, section: &mut Section) {
        let sitemaps = |count| human::count(count, "sitemap");
        if self.published_by_arpent > 0 {
            let count = sitemaps(self.published_by_arpent);
            section.line(format!(
                "{count} of arpent's own on the site: no evidence, not read"
            ));
        }
        if self.waiting > 0 {
            let count = human::number(self.waiting);
            section.line(format!("{count} of the sitemaps and feeds not read yet"));
        }
        self.add_outside_to(tally.outside, site, section);
        self.add_entries_to(section);
        if self.with_problems == 0 {
            return;
        }
        let shown = tally.problems.iter().take(MAX_SEEDS_SHOWN);
        let lines = shown.filter_map(|document| {
            let trouble = document.trouble()?;
            let named_by = document.named_by.as_deref();
            let named_by = named_by.map_or_else(String::new, |by| format!(", named by {by}"));
            Some(format!("{} {trouble}{named_by}", document.name))
        });
        let count = match self.with_problems {
            1 => "1 sitemap, feed or list".to_owned(),
            many => format!("{} sitemaps, feeds and lists", human::number(many)),
        };
        let row = section.line(format!("{count} with a problem:"));
        row.below(lines, self.with_problems);
    }

    /// Documents that name URLs outside of what is crawled, `total` in all.
    fn add_outside_to(&self, total: u64, site: &str, section: &mut Section) {
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
        let lines = self.outside.iter().take(MAX_SEEDS_SHOWN).map(|line| {
            format!(
                "{} of {} in {}, e.g. {}",
                human::number(line.count),
                human::number(line.entries),
                line.name,
                line.example
            )
        });
        let urls = human::count(total, "URL");
        let row = section.line(format!(
            "{urls} of sitemaps, feeds and lists outside the site, not taken{advice}:"
        ));
        row.below(lines, self.outside.len() as u64);
    }

    /// What is wrong with the entries of sitemaps, feeds and lists: a line for each rule, with an example.
    fn add_entries_to(&self, section: &mut Section) {
        let rules = &self.entries;
        let total: u64 = rules.iter().map(|line| line.tally.count).sum();
        if total == 0 {
            return;
        }
        let lines = rules
            .iter()
            .take(MAX_RULES_SHOWN)
            .map(|EntryLine { rule, tally }| {
                let files = match tally.documents {
                    1 => String::new(),
                    many => format!(" in {} files", human::number(many)),
                };
                format!(
                    "{} {rule}{files}, e.g. {}, {}",
                    human::number(tally.count),
                    tally.document,
                    tally.example
                )
            });
        let things = human::count(total, "thing");
        let row = section.line(format!(
            "{things} wrong in entries of sitemaps, feeds and lists; what can be used of them was used:"
        ));
        row.below(lines, rules.len() as u64);
    }
}
