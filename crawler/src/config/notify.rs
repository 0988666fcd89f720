//! Settings for notifications of a published set.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use super::Secret;

/// The endpoint for changed URLs, unless the settings name another: it passes them on to all
/// that take part (<https://www.indexnow.org/faq>).
pub const INDEXNOW_ENDPOINT: &str = "https://api.indexnow.org/indexnow";

/// The events that a hook is called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookEvent {
    /// A new set is published.
    Published,
    /// A set was not published; the old one stays published.
    Refused,
    /// The site could not be crawled, or the work on it ended by a failure.
    Failed,
}

impl HookEvent {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Published, Self::Refused, Self::Failed];

    /// The word for it: in settings, in `ARPENT_EVENT`, in what a webhook gets.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// Somebody who gets messages when a site begins to fail, and when it is good again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageConfig {
    /// `ntfy:URL`, `slack:URL`, `teams:URL`, `matrix:URL` or `mailto:ADDRESS`. It may hold a key.
    pub to: Secret,
    /// The access token of ntfy or Matrix. Default none.
    pub token: Option<Secret>,
    /// The mail server: `smtps://USER:PASSWORD@HOST`. Default none.
    pub server: Option<Secret>,
    /// The address that mail comes from. Default that of the receiver.
    pub from: Option<String>,
    /// A summary once a week too. Default no.
    pub digest: bool,
}

/// The API of Google Search Console.
pub const GOOGLE_ENDPOINT: &str = "https://www.googleapis.com/webmasters/v3";

/// The account of Google Search Console that submits the set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoogleConfig {
    /// The JSON file with the key of a service account.
    pub key_file: PathBuf,
    /// A set that Google has not read for so long is reported. Default 14 days.
    pub max_age: Duration,
    /// The API. Default [`GOOGLE_ENDPOINT`].
    pub endpoint: String,
}

impl Default for GoogleConfig {
    fn default() -> Self {
        Self {
            key_file: PathBuf::new(),
            max_age: Duration::from_secs(14 * 24 * 60 * 60),
            endpoint: GOOGLE_ENDPOINT.to_owned(),
        }
    }
}

/// Receivers of notifications of a published set. Default: none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifyConfig {
    /// The set is read back where it is served before engines are notified. Default yes.
    pub check_served: bool,
    /// How often a set that is served is read back. Default a day.
    pub check_served_interval: Duration,
    /// Changed URLs are sent to an engine of `IndexNow`. Default no.
    pub indexnow: bool,
    /// The endpoint. Default [`INDEXNOW_ENDPOINT`].
    pub indexnow_endpoint: String,
    /// The file that holds the key. Default: a key is made and kept in the state.
    pub indexnow_key_file: Option<PathBuf>,
    /// URLs to ask for when something was published, with `{sitemap}` in the place of the encoded URL of each
    /// index. They may hold keys. Default none: the large engines take no such requests any more.
    pub ping: Vec<Secret>,
    /// A program with its arguments that is called after a session. Default none.
    pub hook_command: Vec<String>,
    /// URLs that get a POST with JSON after a session. They may hold keys. Default none.
    pub hook_url: Vec<Secret>,
    /// The events that hooks are called for. Default everything.
    pub hook_events: BTreeSet<HookEvent>,
    /// The account of Google Search Console. Default none.
    pub google: Option<GoogleConfig>,
    /// Who gets messages. Default nobody.
    pub messages: Vec<MessageConfig>,
}

impl NotifyConfig {
    /// Returns whether anything is called after a session.
    pub fn has_hooks(&self) -> bool {
        !self.hook_command.is_empty() || !self.hook_url.is_empty()
    }
}

impl Default for NotifyConfig {
    fn default() -> Self {
        Self {
            check_served: true,
            check_served_interval: Duration::from_secs(24 * 60 * 60),
            indexnow: false,
            indexnow_endpoint: INDEXNOW_ENDPOINT.to_owned(),
            indexnow_key_file: None,
            ping: Vec::new(),
            hook_command: Vec::new(),
            hook_url: Vec::new(),
            hook_events: HookEvent::ALL.into(),
            google: None,
            messages: Vec::new(),
        }
    }
}
