//! Messages of work that goes on for long, to whoever shows them.

use std::{fmt, sync::Arc};

use serde_json::{Map, Value};
use tracing::Span;

use crate::{failure::Failure, outcome::SessionOutcome};

/// Kind of a message; text begins with the word, a log has it as its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// News.
    Plain,
    /// A message that the user should not miss.
    Warning,
    /// A failure.
    Error,
    /// A warning that the summary of the session has as well.
    Note,
    /// A failure that the summary of the session has as well.
    Refusal,
}

/// Shows messages.
pub trait MessageSink: Send + Sync {
    /// Shows a message, which is about the site named `site`, if there is one; a log has `fields` beside it.
    fn message(
        &self,
        kind: MessageKind,
        site: Option<&str>,
        line: &str,
        fields: &Map<String, Value>,
    );

    /// The span for log lines of modules that are about the site `name`.
    fn span(&self, name: &str) -> Span;
}

/// Sends messages to a [`MessageSink`]. Clones share it.
#[derive(Clone)]
pub struct Messenger {
    sink: Arc<dyn MessageSink>,
    /// Messages are about this site.
    site: Option<Arc<str>>,
}

impl fmt::Debug for Messenger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Messenger").field(&self.site).finish()
    }
}

impl Messenger {
    /// Messages that are about no site.
    pub fn new(sink: Arc<dyn MessageSink>) -> Self {
        Self { sink, site: None }
    }

    /// Messages about the site `name`.
    #[must_use]
    pub fn of_site(&self, name: &str) -> Self {
        Self {
            sink: Arc::clone(&self.sink),
            site: Some(name.into()),
        }
    }

    /// The span of the site `name`: log lines of modules in it have its name.
    pub fn span_of_site(&self, name: &str) -> Span {
        self.sink.span(name)
    }

    /// Sends news.
    pub fn info(&self, line: &str) {
        self.print(MessageKind::Plain, line, &Map::new());
    }

    /// Sends a message that the user should not miss.
    pub fn warn(&self, line: &str) {
        self.print(MessageKind::Warning, line, &Map::new());
    }

    /// Sends an error.
    pub fn error(&self, line: &str) {
        self.print(MessageKind::Error, line, &Map::new());
    }

    /// Sends a note that the summary of the session has as well.
    pub fn note(&self, line: &str) {
        self.print(MessageKind::Note, line, &Map::new());
    }

    /// Sends a failure: the error and its causes on one line, problems of the settings on a line each.
    pub fn failure(&self, failure: &Failure) {
        let kind = match failure.outcome() {
            SessionOutcome::Refused => MessageKind::Refusal,
            _ => MessageKind::Error,
        };
        for message in failure.messages() {
            self.print(kind, &message, &Map::new());
        }
    }

    /// Sends a message, with `fields` for a log.
    pub fn print(&self, kind: MessageKind, line: &str, fields: &Map<String, Value>) {
        self.sink.message(kind, self.site.as_deref(), line, fields);
    }
}
