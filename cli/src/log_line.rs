//! The lines of the log: each has its time and its site; as JSON it is one object per line.

use crawler::clock::{Clock as _, SystemClock};
use serde::Serialize;
use serde_json::{Map, Value};
use tracing::{Level, Span};

use crate::untrusted::shorten;

/// Longest message, in characters: enough for a long URL and its text.
pub(crate) const MAX_MESSAGE: usize = 4_000;

/// Target of lines of the program.
const OWN_TARGET: &str = "arpent";

/// The field of a span with its site.
pub(crate) const SITE: &str = "site";

/// One line.
#[derive(Debug, Serialize)]
struct Line<'l> {
    /// Time of the machine, UTC, with milliseconds.
    time: String,
    level: String,
    /// The module of the line.
    target: &'l str,
    /// Name of the site, when the line is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<&'l str>,
    message: &'l str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    fields: &'l Map<String, Value>,
}

/// A line of the program.
pub(crate) fn own_line(
    level: Level,
    site: Option<&str>,
    message: &str,
    fields: &Map<String, Value>,
) -> String {
    line(level, OWN_TARGET, site, message, fields)
}

/// A line of the module `target`.
pub(crate) fn line(
    level: Level,
    target: &str,
    site: Option<&str>,
    message: &str,
    fields: &Map<String, Value>,
) -> String {
    let line = Line {
        time: format!("{:.3}", SystemClock.now()),
        level: level.as_str().to_ascii_lowercase(),
        target,
        site,
        message: &shorten(message, MAX_MESSAGE),
        fields,
    };
    // Neither its keys nor its values are of a kind that JSON does not have.
    serde_json::to_string(&line).unwrap_or_default()
}

/// The time of a line of text: of the machine, UTC, whole seconds.
pub(crate) fn time_now() -> String {
    format!("{:.0}", SystemClock.now())
}

/// The span of the site `name`: events of modules in it are logged with that name.
pub(crate) fn site_span(name: &str) -> Span {
    // At this level, because a span that the filter leaves out names no site.
    tracing::error_span!(target: OWN_TARGET, "site", site = name)
}
