//! Notifications of a published set. It reads the outbox of the store, writes a key file when the settings ask for it, and runs
//! the programs of hooks until they end or their time is over. It calls services only through a function that it is given, which
//! waits for permits and answers. So it blocks its caller, and starts no tasks.
//!
//! ```text
//! publish -> outbox -> IndexNow: key -> its file in the output -> GET: it is served -> POST, 10,000 URLs each
//!                      -> 200 or 202: notified; anything else: the URLs stay in the outbox
//! publish -> sitemap URLs -> a request for each index (ping)
//! session -> summary -> hooks: a program, a URL
//! session -> what is new -> messages to people
//! ```
//!
//! Nothing that fails here takes a published set back. Keys, and URLs that may hold them, are in no message.

mod command;
mod engines;
mod google;
mod indexnow;
mod key;
mod mail;
mod message;
mod notifications;
mod ping;
mod webhook;

#[cfg(test)]
mod tests;

use crate::{
    client::{Call, CallAnswer, CallError},
    store::with_causes,
};

pub use self::{
    command::{CommandError, HookRun, run_command},
    engines::{ENGINES, Engine},
    google::{
        GoogleReport, GoogleResult, GoogleSitemap, TokenSource, last_google_report,
        report_to_google,
    },
    indexnow::{MAX_URLS_PER_REQUEST, Submission, Submitted, start_notifying, submit, submit_all},
    key::{Key, KeyError},
    message::{Message, Recipient, RecipientError},
    notifications::{Channel, Notifications, Notified, notify},
    ping::{PingTemplate, PingTemplateError, Pinged, ping},
    webhook::{call_webhook, service_url, shown_url},
};

/// Calls a service and waits for its answer.
pub type Caller<'a> = dyn FnMut(&Call) -> Result<CallAnswer, CallError> + 'a;

/// Why a call of what is shown as `shown` got no answer; named once.
fn unanswered(shown: &str, error: &CallError) -> String {
    let why = with_causes(error);
    if why.contains(shown) {
        return why;
    }
    format!("{shown}: {why}")
}
