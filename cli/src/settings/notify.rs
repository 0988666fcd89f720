//! Readers of the settings of notifications. A part of a URL that may be secret is never repeated in a message.

use std::{collections::BTreeSet, time::Duration};

use crawler::{
    config::{GoogleConfig, HookEvent, INDEXNOW_ENDPOINT, MessageConfig, Secret},
    notify::{PingTemplate, Recipient, service_url},
};

use super::{
    has_user_info,
    problem::nearest,
    value::{Read, Value, Wrong, duration, list, optional_text, switch, text, words},
};

/// The keys of a table `[[notify.message]]`.
pub(super) const MESSAGE_KEYS: [&str; 5] = ["to", "token", "server", "from", "digest"];

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

/// The account of Google: a table, or the file of its key alone.
pub(crate) fn google(value: &Value) -> Read<Option<GoogleConfig>> {
    const KEYS: [&str; 3] = ["key_file", "max_age", "endpoint"];
    let mut config = GoogleConfig::default();
    let file = [("key_file".to_owned(), value.clone())];
    let entries = match value {
        Value::Text(text) if text.is_empty() => return Ok(None),
        Value::Table(entries) => entries.as_slice(),
        Value::Text(_) | Value::Bare(_) | Value::List(_) => &file,
    };
    for (key, value) in entries {
        match key.as_str() {
            "key_file" => config.key_file = text(value, "the path of a key file")?.into(),
            "max_age" => config.max_age = duration(value)?,
            "endpoint" => {
                let found = text(value, "the URL of the API")?;
                if service_url(found).is_none() {
                    return Err(Wrong::found("the URL of the API", value));
                }
                found.clone_into(&mut config.endpoint);
            }
            _ => return Err(unknown_key(key, KEYS)),
        }
    }
    if config.key_file.as_os_str().is_empty() {
        return Err(Wrong::new(
            "expected key_file = the JSON file with the key of a service account",
        ));
    }
    if cfg!(not(feature = "google")) {
        return Err(Wrong::new(
            "this program was built without google; remove the setting, use a package of arpent, or build arpent with --features google",
        ));
    }
    Ok(Some(config))
}

/// A key that a table has not.
fn unknown_key<const N: usize>(key: &str, keys: [&str; N]) -> Wrong {
    let meant = nearest(key, keys);
    let meant = meant.map_or_else(String::new, |key| format!("; did you mean {key}?"));
    Wrong::new(format!("{key}: no such key{meant}"))
}

/// Somebody who gets messages: a table, or the address alone.
pub(crate) fn message(value: &Value) -> Read<MessageConfig> {
    let mut config = MessageConfig {
        to: Secret::new(""),
        token: None,
        server: None,
        from: None,
        digest: false,
    };
    let address = [("to".to_owned(), value.clone())];
    let entries = match value {
        Value::Table(entries) => entries.as_slice(),
        Value::Text(_) | Value::Bare(_) | Value::List(_) => &address,
    };
    for (key, value) in entries {
        let secret = || match text(value, "text") {
            Ok(text) => Ok(Secret::new(text)),
            // The text itself may be a key.
            Err(_) => Err(Wrong::new(format!("expected {key} = text"))),
        };
        match key.as_str() {
            "to" => config.to = secret()?,
            "token" => config.token = Some(secret()?),
            "server" => config.server = Some(secret()?),
            "from" => config.from = optional_text(value, "an address")?,
            "digest" => config.digest = switch(value)?,
            _ => return Err(unknown_key(key, MESSAGE_KEYS)),
        }
    }
    match Recipient::of(&config) {
        Ok(_) => Ok(config),
        Err(error) => Err(Wrong::new(error.to_string())),
    }
}
