//! Readers of the settings of notifications. A part of a URL that may be secret is never repeated in a message.

use std::{collections::BTreeSet, time::Duration};

use crawler::{
    config::{HookEvent, INDEXNOW_ENDPOINT, Secret},
    notify::{PingTemplate, service_url},
};

use super::{
    has_user_info,
    value::{Read, Value, Wrong, duration, list, optional_text, text, words},
};

/// Shortest time between two looks at a set that is served.
const MIN_INTERVAL: Duration = Duration::from_secs(60);

/// The URL of an engine; empty means the default.
pub(crate) fn endpoint(value: &Value) -> Read<String> {
    const EXPECTED: &str = "the http or https URL of an engine";
    let Some(text) = optional_text(value, EXPECTED)? else {
        return Ok(INDEXNOW_ENDPOINT.to_owned());
    };
    match service_url(&text) {
        Some(_) if !has_user_info(&text) => Ok(text),
        Some(_) | None => Err(Wrong::found(EXPECTED, value)),
    }
}

/// Time between two looks at a set that is served.
pub(crate) fn interval(value: &Value) -> Read<Duration> {
    match duration(value)? {
        interval if interval < MIN_INTERVAL => Err(Wrong::found("at least 1min", value)),
        interval => Ok(interval),
    }
}

/// A command line for `sh`, or a program with its arguments.
pub(crate) fn hook_command(value: &Value) -> Read<Vec<String>> {
    const EXPECTED: &str = "a command line, or a list of a program and its arguments";
    if let Value::List(_) = value {
        return list(value, |item| text(item, EXPECTED).map(str::to_owned));
    }
    let line = optional_text(value, EXPECTED)?;
    let command = line.map(|line| ["sh".to_owned(), "-c".to_owned(), line]);
    Ok(command.map_or_else(Vec::new, Vec::from))
}

/// The URL of an engine with a place for that of the sitemap.
pub(crate) fn ping(value: &Value) -> Read<Secret> {
    let Value::Text(text) = value else {
        return Err(Wrong::new("expected a URL with {sitemap} in it"));
    };
    match PingTemplate::parse(text) {
        Ok(_) => Ok(Secret::new(text)),
        Err(error) => Err(Wrong::new(error.to_string())),
    }
}

/// The URL of a webhook.
pub(crate) fn hook_url(value: &Value) -> Read<Secret> {
    const EXPECTED: &str = "expected an http or https URL without user name";
    let Ok(found) = text(value, EXPECTED) else {
        return Err(Wrong::new(EXPECTED));
    };
    match service_url(found) {
        Some(_) if !has_user_info(found) => Ok(Secret::new(found)),
        Some(_) | None => Err(Wrong::new(EXPECTED)),
    }
}

/// Events for which hooks are called.
pub(crate) fn hook_events(value: &Value) -> Read<BTreeSet<HookEvent>> {
    let known = HookEvent::ALL.map(|event| (event.as_str(), event));
    Ok(words(value, &known)?.into_iter().collect())
}
