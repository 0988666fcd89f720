//! The display of a session: its progress, sentences to be read at once, and notes for its end.

use std::{collections::VecDeque, time::Duration};

use tokio::{sync::watch, time::Instant};

use super::{Notice, Progress, Resumed};
use crate::{notes::Note, page::Reason, url_key::UrlKey};

/// The screen gets news at most this often.
const INTERVAL: Duration = Duration::from_millis(100);

/// URLs that were given up and are shown.
const MAX_FAILURES: usize = 2;

/// The live view, and the notes for the end.
pub(super) struct Display {
    progress: watch::Sender<Progress>,
    shown_at: Option<Instant>,
    /// The counts at the beginning, when the crawl was begun before.
    resumed: Option<Resumed>,
    expected: Option<u64>,
    failures: VecDeque<(&'static str, UrlKey)>,
    notices: Vec<Notice>,
    notes: Vec<Note>,
}

impl Display {
    /// Shows in `progress`.
    pub(super) fn new(
        progress: watch::Sender<Progress>,
        resumed: Option<Resumed>,
        expected: Option<u64>,
    ) -> Self {
        Self {
            progress,
            shown_at: None,
            resumed,
            expected,
            failures: VecDeque::new(),
            notices: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Takes a URL that was given up.
    pub(super) fn fail(&mut self, reason: Reason, url: &UrlKey) {
        self.failures.truncate(MAX_FAILURES - 1);
        self.failures.push_front((reason.code(), url.clone()));
    }

    /// Adds what is to be read at once, and again at the end.
    pub(super) fn report(&mut self, notes: impl IntoIterator<Item = Note>) {
        for note in notes {
            self.show_notice(note.text.clone(), true);
            self.notes.push(note);
        }
    }

    /// Adds a sentence to be read at once.
    pub(super) fn mention(&mut self, notice: String) {
        self.show_notice(notice, false);
    }

    /// Adds a sentence to be read at once, which the summary may have as well.
    pub(super) fn show_notice(&mut self, text: String, is_in_summary: bool) {
        tracing::debug!(target: "crawl", "{text}");
        self.notices.push(Notice {
            text,
            is_in_summary,
        });
    }

    /// Returns whether it is time for the next [`Display::show`].
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.shown_at.is_none_or(|at| now >= at + INTERVAL)
    }

    /// Shows `progress`, with what is known here.
    pub(super) fn show(&mut self, now: Instant, progress: Progress) {
        self.shown_at = Some(now);
        self.progress.send_replace(Progress {
            resumed: self.resumed,
            expected: self.expected,
            failures: self.failures.iter().cloned().collect(),
            notices: self.notices.clone(),
            ..progress
        });
    }

    /// The notes for the end.
    pub(super) fn into_notes(self) -> Vec<Note> {
        self.notes
    }
}
