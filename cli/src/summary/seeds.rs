//! What became of the sitemaps, feeds and lists that a crawl took URLs from.

use crawler::seeds::Tally;
use serde::Serialize;

use crate::human;

/// Sitemaps, feeds and lists with a problem that are named in the text.
const MAX_SEEDS_SHOWN: usize = 10;

/// Their part of the line of JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct SeedLine {
    /// Read to the end.
    read: u64,
    /// Of these, those that were not fetched again, because their index says that they did not change.
    kept: u64,
    /// Published by arpent itself, so they were not read.
    own: u64,
    /// Not read yet.
    waiting: u64,
    /// Not, or not wholly, read, or with something wrong that was forgiven.
    troubled: u64,
    /// The first of these.
    troubles: Vec<SeedTrouble>,
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
        Self {
            read: tally.read,
            kept: tally.kept,
            own: tally.own,
            waiting: tally.waiting,
            troubled: tally.troubled,
            troubles: troubles.collect(),
        }
    }
}

impl SeedLine {
    /// Adds their part of the text, of which `tally` has the documents.
    pub(super) fn add_to(&self, tally: &Tally, lines: &mut Vec<String>) {
        if self.kept > 0 {
            lines.push(format!(
                "  {} not fetched again: the index says that nothing changed",
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
}
