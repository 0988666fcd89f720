//! The parts of a site that go on without end: what may be missing is said first.

use crawler::page::ClosedPattern;
use serde::Serialize;

use crate::human;

/// A place that was cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct CutPlace {
    name: String,
    asked: u64,
    left_out: u64,
    not_asked: u64,
    example: String,
    exclude: Option<String>,
}

impl CutPlace {
    pub(super) fn of(place: &ClosedPattern) -> Self {
        Self {
            name: place.name.clone(),
            asked: place.asked,
            left_out: place.left_out,
            not_asked: place.not_asked,
            example: place.example.to_string(),
            exclude: place.exclude.clone(),
        }
    }

    /// The line for people.
    pub(super) fn text(&self) -> String {
        format!(
            "  {} may be missing: {} goes on without end",
            human::count(self.left_out + self.not_asked, "page"),
            self.name
        )
    }
}
