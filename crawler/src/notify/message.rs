//! Messages to people. The text is a [`View`]; each service has a form of its own.

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::{Caller, mail, service_url, shown_url, webhook::send};
use crate::{
    client::Call,
    config::{MessageConfig, Secret},
    fetch::CallMethod,
    url_key::UrlKey,
    view::View,
};

/// Longest subject of a mail, in characters; the text has the whole line.
const MAX_SUBJECT_CHARS: usize = 100;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its first line, and what follows.
    pub view: View,
    /// Something went wrong.
    pub is_bad: bool,
}

/// Somebody who gets messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    address: ServiceAddress,
    /// Names the recipient in what is stored, without what it is made of.
    id: String,
    token: Option<Secret>,
}

/// A service, and the place there. Matrix: client-server API 1.11, "Sending events to a room"; ntfy: "Publish as JSON"; Teams:
/// "Create incoming webhooks with Workflows"; Slack: "Sending messages using incoming webhooks", a form that others take as well.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ServiceAddress {
    Ntfy { server: UrlKey, topic: String },
    Slack(UrlKey),
    Teams(UrlKey),
    Matrix { server: UrlKey, room: String },
    Mail(mail::Mail),
}

/// Why nobody can be reached by the settings. No message repeats them: they may hold a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecipientError {
    /// No service is named.
    #[error(
        "expected to = \"ntfy:URL\", \"slack:URL\", \"teams:URL\", \"matrix:URL\" or \"mailto:ADDRESS\""
    )]
    NoService,
    /// The address is none of the service.
    #[error("expected {0}")]
    NoAddress(&'static str),
    /// Matrix needs a token.
    #[error(
        "expected token = the access token of the account that writes, beside to = \"matrix:...\""
    )]
    NoToken,
    /// Mail needs a server.
    #[error("expected server = \"smtps://USER:PASSWORD@HOST\", beside to = \"mailto:...\"")]
    NoServer,
    /// The program has no mail.
    #[error(
        "this program was built without mail; use another service, or build arpent with --features mail"
    )]
    NoMail,
}

impl Recipient {
    /// Reads the settings of a recipient.
    ///
    /// # Errors
    /// See [`RecipientError`].
    pub fn of(config: &MessageConfig) -> Result<Self, RecipientError> {
        let to = config.to.reveal();
        let (service, rest) = to.split_once(':').ok_or(RecipientError::NoService)?;
        let url = |expected| service_url(rest).ok_or(RecipientError::NoAddress(expected));
        let address = match service {
            "ntfy" => {
                const EXPECTED: &str = "the URL of a topic, such as \"ntfy:https://ntfy.sh/TOPIC\"";
                let (server, topic) = split_last(&url(EXPECTED)?, EXPECTED)?;
                ServiceAddress::Ntfy { server, topic }
            }
            "slack" => ServiceAddress::Slack(url("the URL of a webhook after slack:")?),
            "teams" => ServiceAddress::Teams(url("the URL of a webhook after teams:")?),
            "matrix" => {
                const EXPECTED: &str = "the server and the id of a room, such as \"matrix:https://matrix.org/!ROOM:matrix.org\"";
                let (server, room) = split_last(&url(EXPECTED)?, EXPECTED)?;
                if config.token.is_none() {
                    return Err(RecipientError::NoToken);
                }
                ServiceAddress::Matrix { server, room }
            }
            "mailto" => ServiceAddress::Mail(mail::Mail::of(rest, config)?),
            _ => return Err(RecipientError::NoService),
        };
        Ok(Self {
            address,
            id: format!("{:016x}", xxh3_64(to.as_bytes())),
            token: config.token.clone(),
        })
    }

    /// The name of the recipient in what is stored.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The recipient in messages, without a secret.
    pub fn shown(&self) -> String {
        let (name, url) = match &self.address {
            ServiceAddress::Ntfy { server, .. } => ("ntfy", server),
            ServiceAddress::Slack(url) => ("slack", url),
            ServiceAddress::Teams(url) => ("teams", url),
            ServiceAddress::Matrix { server, .. } => ("matrix", server),
            ServiceAddress::Mail(mail) => return mail.shown(),
        };
        format!("{name} {}", shown_url(url))
    }

    /// Sends a message; `key` is another one for each. Returns why it did not get there, as a fragment without a secret.
    ///
    /// # Errors
    /// The service did not take it after all tries.
    pub fn send(&self, message: &Message, key: &str, call: &mut Caller<'_>) -> Result<(), String> {
        let text = text_of(&message.view);
        let posted = |url: &UrlKey, json: &Value| Call {
            bearer: self.token.clone(),
            ..Call::post(url.clone(), &self.shown(), &json.to_string())
        };
        let request = match &self.address {
            ServiceAddress::Ntfy { server, topic } => {
                let (priority, tag) = if message.is_bad {
                    (4, "warning")
                } else {
                    (3, "white_check_mark")
                };
                let json = json!({
                    "topic": topic,
                    "title": "arpent",
                    "message": text,
                    "priority": priority,
                    "tags": [tag],
                });
                posted(server, &json)
            }
            ServiceAddress::Slack(url) => {
                let text = text.replace('&', "&amp;");
                let text = text.replace('<', "&lt;").replace('>', "&gt;");
                posted(url, &json!({ "text": text }))
            }
            ServiceAddress::Teams(url) => posted(url, &teams_card(&text)),
            ServiceAddress::Matrix { server, room } => {
                let path = format!("_matrix/client/v3/rooms/{room}/send/m.room.message/{key}");
                let url = service_url(&format!("{}{path}", server.as_str()));
                let json = json!({ "msgtype": "m.text", "body": text });
                let url = url.as_ref().unwrap_or(server);
                Call {
                    method: CallMethod::Put,
                    ..posted(url, &json)
                }
            }
            ServiceAddress::Mail(mail) => {
                let first = text.lines().next().unwrap_or_default();
                let mut subject: String = first.chars().take(MAX_SUBJECT_CHARS).collect();
                if subject.len() < first.len() {
                    subject.push_str("...");
                }
                return mail.send(&subject, &text, key);
            }
        };
        send(&request, call)
    }
}

/// The URL of the directory, and the name of what is in it.
fn split_last(url: &UrlKey, expected: &'static str) -> Result<(UrlKey, String), RecipientError> {
    let text = url.as_str();
    let last = text.rsplit_once('/').filter(|(_, name)| !name.is_empty());
    let split = last.and_then(|(rest, name)| {
        let directory = service_url(&format!("{rest}/"))?;
        Some((directory, name.to_owned()))
    });
    split.ok_or(RecipientError::NoAddress(expected))
}

/// A view as plain text: its first line, and a line for each row.
fn text_of(view: &View) -> String {
    let rows = view.sections.iter().flat_map(|section| &section.rows);
    let lines = rows.flat_map(|row| {
        let cells: Vec<_> = row.cells.iter().map(|cell| cell.text()).collect();
        [cells.join(": ")].into_iter().chain(row.below.clone())
    });
    let lines = [view.title.clone()].into_iter().chain(lines);
    // What a site wrote is on one line.
    let lines: Vec<_> = lines
        .map(|line| line.replace(char::is_control, " "))
        .collect();
    lines.join("\n")
}

/// A card with one block of text.
fn teams_card(text: &str) -> Value {
    let block = json!({ "type": "TextBlock", "text": text.replace('\n', "\n\n"), "wrap": true });
    json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "content": {
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "type": "AdaptiveCard",
                "version": "1.4",
                "body": [block],
            },
        }],
    })
}
