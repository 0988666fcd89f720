//! The log: each line, of the program or of a module of the library by an event of `tracing`, has its time and its site. As JSON
//! it is one object per line. It makes the lines; [`Output`] writes them.

use std::fmt::{self, Write as _};

use crawler::clock::{Clock as _, SystemClock};
use serde::Serialize;
use serde_json::{Map, Value};
use tracing::{
    Event, Level, Span, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id},
};
use tracing_subscriber::{
    layer::{Context, Layer},
    registry::LookupSpan,
};

use crate::{
    output::{MAX_MESSAGE, Output},
    untrusted::shorten,
};

/// Target of lines of the program.
const OWN_TARGET: &str = "arpent";

/// The field of a span with its site.
const SITE: &str = "site";

/// One line.
#[derive(Debug, Serialize)]
struct Line<'l> {
    /// Of the machine, UTC, with milliseconds.
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

fn line(
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

/// Form of the events of modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogStyle {
    /// One object each.
    Json,
    /// Messages like any other, as `warning: ...`.
    Messages,
    /// With level and module: a log was requested.
    Verbose,
}

/// Formats the events of modules as lines.
#[derive(Debug)]
pub(crate) struct ModuleLog {
    output: Output,
    style: LogStyle,
}

impl ModuleLog {
    /// Lines that go to `output`.
    pub(crate) fn new(output: &Output, style: LogStyle) -> Self {
        Self {
            output: output.clone(),
            style,
        }
    }
}

/// Site of a span.
#[derive(Debug, Clone)]
struct SiteName(String);

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for ModuleLog {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut words = Words::default();
        attributes.record(&mut words);
        let name = words.fields.get(SITE).and_then(Value::as_str);
        if let (Some(name), Some(span)) = (name, context.span(id)) {
            span.extensions_mut().replace(SiteName(name.to_owned()));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut words = Words::default();
        event.record(&mut words);
        let mut spans = context.event_scope(event).into_iter().flatten();
        let site = spans.find_map(|span| span.extensions().get::<SiteName>().cloned());
        let site = site.as_ref().map(|SiteName(name)| name.as_str());
        let (level, target) = (*event.metadata().level(), event.metadata().target());
        if self.style == LogStyle::Json {
            let line = line(level, target, site, &words.message, &words.fields);
            self.output.log_line(&line);
            return;
        }
        let output = match site {
            Some(name) => self.output.of_site(name),
            None => self.output.clone(),
        };
        let text = words.text();
        match level {
            _ if self.style == LogStyle::Verbose => {
                output.log_text(&format!("{level:>5} {target}: {text}"));
            }
            Level::ERROR => output.error(&text),
            Level::WARN => output.warn(&text),
            _ => output.info(&text),
        }
    }
}

/// Text of an event.
#[derive(Debug, Default)]
struct Words {
    message: String,
    fields: Map<String, Value>,
}

impl Words {
    /// Its message, followed by its fields.
    fn text(&self) -> String {
        let mut text = self.message.clone();
        for (name, value) in &self.fields {
            // Writing to a text does not fail.
            let _ = match value {
                Value::String(value) => write!(text, " {name}={value}"),
                value => write!(text, " {name}={value}"),
            };
        }
        text
    }

    fn take(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(message)) => self.message = message,
            (name, Value::String(text)) => {
                let text = shorten(&text, MAX_MESSAGE).into_owned();
                self.fields.insert(name.to_owned(), Value::String(text));
            }
            (name, value) => {
                self.fields.insert(name.to_owned(), value);
            }
        }
    }
}

impl Visit for Words {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.take(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.take(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.take(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.take(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.take(field, format!("{value:?}").into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_object_with_what_is_known() {
        fn check(
            site: Option<&str>,
            message: &str,
            fields: &[(&str, Value)],
            expected: &[(&str, Value)],
        ) {
            let fields = fields
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect();
            let line = own_line(Level::WARN, site, message, &fields);
            let mut found: Map<String, Value> = serde_json::from_str(&line).unwrap();
            let time = found.remove("time").unwrap();
            let time = time.as_str().unwrap();
            assert!(time.parse::<jiff::Timestamp>().is_ok(), "{time}");
            assert_eq!(time.len(), "2026-01-01T00:00:00.000Z".len());
            let expected: Map<String, Value> = expected
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect();
            assert_eq!(found, expected);
        }
        let own = [("level", "warn".into()), ("target", "arpent".into())];
        let with = |more: &[(&'static str, Value)]| [&own[..], more].concat();
        check(None, "a\nb", &[], &with(&[("message", "a\nb".into())]));
        check(
            Some("shop"),
            "ended",
            &[("code", 3.into())],
            &with(&[
                ("message", "ended".into()),
                ("site", "shop".into()),
                ("fields", serde_json::json!({"code": 3})),
            ]),
        );
    }
}
