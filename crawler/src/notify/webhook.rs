//! URLs of services, and the hook that is one.

use super::{Caller, unanswered};
use crate::{
    client::Call,
    config::{HookEvent, Secret},
    url_key::{Identity, UrlKey},
};

/// The http or https URL of a service, of which nothing is dropped; `None` when the text is none.
pub fn service_url(text: &str) -> Option<UrlKey> {
    Identity::default().verbatim().parse(text).ok()
}

/// The name of the URL of a service in messages: its origin, because what follows may be a key.
pub fn shown_url(url: &UrlKey) -> String {
    let rest = if url.path_and_query() == "/" {
        ""
    } else {
        "..."
    };
    format!("{}/{rest}", url.origin())
}

/// Sends `summary`, an object of JSON, to a URL: `{"event":"published","summary":{...}}`. Another try
/// follows a failure that may pass, as often as the settings have it; any 2xx is fine.
///
/// # Errors
/// Why it did not get there, as a fragment that does not hold the URL.
pub fn call_webhook(
    url: &Secret,
    event: HookEvent,
    summary: &str,
    call: &mut Caller<'_>,
) -> Result<(), String> {
    let url = service_url(url.reveal()).ok_or("is not an http or https URL")?;
    let json = format!(r#"{{"event":"{}","summary":{summary}}}"#, event.as_str());
    let shown = shown_url(&url);
    send(&Call::post(url, &shown, &json), call)
}

/// Sends something to a service that confirms it by any 2xx.
pub(super) fn send(message: &Call, call: &mut Caller<'_>) -> Result<(), String> {
    match call(message) {
        Ok(answer) if (200..300).contains(&answer.status) => Ok(()),
        Ok(answer) => Err(format!("{} answered {}", message.shown, answer.status)),
        Err(error) => Err(unanswered(&message.shown, &error)),
    }
}
