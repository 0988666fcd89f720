//! What is told of images and language versions, where they were asked for.

use std::collections::BTreeMap;

use crawler::export::{ExtensionCounts, KindCounts};
use serde::Serialize;

use super::reasons::add_reasons;
use crate::human;

/// The part of the line of JSON; there is none when nothing was asked for.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct ExtensionLines {
    #[serde(skip_serializing_if = "Option::is_none")]
    images: Option<KindLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hreflang: Option<KindLine>,
    #[serde(skip)]
    counts: ExtensionCounts,
}

#[derive(Debug, Clone, Serialize)]
struct KindLine {
    /// Pages whose entry has any.
    pages: u64,
    /// Elements in entries.
    written: u64,
    /// By reason.
    left_out: BTreeMap<&'static str, u64>,
    /// Pages with more than are taken.
    pages_cut: u64,
    /// Listed pages that were read before they were asked for.
    pages_not_read: u64,
}

impl From<&KindCounts> for KindLine {
    fn from(counts: &KindCounts) -> Self {
        let left_out = counts.left_out.iter();
        Self {
            pages: counts.pages,
            written: counts.written,
            left_out: left_out
                .map(|(reason, count)| (reason.code(), *count))
                .collect(),
            pages_cut: counts.pages_cut,
            pages_not_read: counts.pages_not_read,
        }
    }
}

impl ExtensionLines {
    pub(super) fn new(counts: &ExtensionCounts) -> Self {
        Self {
            images: counts.images.as_ref().map(KindLine::from),
            hreflang: counts.hreflang.as_ref().map(KindLine::from),
            counts: counts.clone(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.images.is_none() && self.hreflang.is_none()
    }

    /// Adds what is worth telling people.
    pub(super) fn add_to(&self, lines: &mut Vec<String>) {
        let kinds = [
            (&self.counts.images, "image"),
            (&self.counts.hreflang, "language link"),
        ];
        for (counts, thing) in kinds {
            if let Some(counts) = counts {
                add_kind(lines, counts, thing);
            }
        }
    }
}

fn add_kind(lines: &mut Vec<String>, counts: &KindCounts, thing: &str) {
    lines.push(format!(
        "  {} in the entries of {}",
        human::count(counts.written, thing),
        human::count(counts.pages, "page")
    ));
    let things = match counts.left_out.values().sum() {
        1_u64 => thing.to_owned(),
        _ => format!("{thing}s"),
    };
    let left_out = counts.left_out.iter();
    add_reasons(
        lines,
        &format!("{things} left out"),
        left_out
            .map(|(reason, count)| (*count, reason.code(), reason.text()))
            .collect(),
    );
    if counts.pages_cut > 0 {
        lines.push(format!(
            "  {} with more {thing}s than are taken",
            human::count(counts.pages_cut, "page")
        ));
    }
    if counts.pages_not_read > 0 {
        lines.push(format!(
            "  {} read before {thing}s were asked for: the next crawl takes them",
            human::count(counts.pages_not_read, "page")
        ));
    }
}
