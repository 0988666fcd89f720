//! The log of the modules of the library: each event of `tracing` becomes a line. [`Output`] writes it.

use std::fmt::{self, Write as _};

use crawler::failure::words_of;
use serde_json::{Map, Value};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span::{Attributes, Id},
};
use tracing_subscriber::{
    filter::Targets,
    layer::{Context, Layer, SubscriberExt as _},
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

use crate::{
    log_line::{MAX_MESSAGE, SITE, line},
    output::Output,
    untrusted::shorten,
};

/// Sends the log to stderr, from `level` on, and panics with it as errors. Other
/// libraries log only at the last level, because of their many lines.
pub(crate) fn begin(output: &Output, level: LevelFilter) {
    const BELOW: [&str; 8] = [
        "h2",
        "hyper",
        "mio",
        "object_store",
        "reqwest",
        "rustls",
        "tokio",
        "tower",
    ];
    // The pool of connections to a catalogue repeats what its errors say, and so do the libraries that get tokens of Google and that talk
    // to a browser.
    const REPEATING: [&str; 3] = ["chromiumoxide", "deadpool", "gcp_auth"];
    let below = if level == LevelFilter::TRACE {
        level
    } else {
        level.min(LevelFilter::WARN)
    };
    let of_repeating = if level == LevelFilter::TRACE {
        level
    } else {
        LevelFilter::OFF
    };
    let filter = Targets::new()
        .with_default(level)
        .with_targets(BELOW.map(|name| (name, below)))
        .with_targets(REPEATING.map(|name| (name, of_repeating)));
    let style = if output.is_json_log() {
        LogStyle::Json
    } else if level <= LevelFilter::WARN {
        LogStyle::Messages
    } else {
        LogStyle::Verbose
    };
    let lines = ModuleLog::new(output, style).with_filter(filter);
    // Only a second call could fail, and then the first one holds.
    let _ = tracing_subscriber::registry().with(lines).try_init();
    let output = output.clone();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic
            .location()
            .map(|place| format!(" at {place}"))
            .unwrap_or_default();
        let words = words_of(panic.payload());
        output.error(&format!("internal error{place}: {words}; please report it"));
    }));
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
    /// The message, followed by its fields.
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

    fn record_field(&mut self, field: &Field, value: Value) {
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
        self.record_field(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.record_field(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record_field(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.record_field(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_field(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_field(field, format!("{value:?}").into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_line::own_line;

    #[test]
    fn log_line_is_one_json_object() {
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
