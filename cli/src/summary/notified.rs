//! Who was told of the set, in the line of JSON and for people.

use serde::Serialize;

use crate::human;

/// How somebody is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Channel {
    /// An engine of `IndexNow` gets URLs.
    #[serde(rename = "indexnow")]
    IndexNow,
    /// An engine gets the URL of an index.
    Ping,
    /// A robots.txt file gets lines.
    RobotsFile,
}

/// One who was told, or was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Notified {
    /// How.
    pub(crate) channel: Channel,
    /// Whom: an origin, or a file. Never a URL with a key in it.
    pub(crate) to: String,
    /// URLs that were received, or written.
    pub(crate) told: u64,
    /// URLs that wait for the next time.
    pub(crate) waiting: u64,
    /// What failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

impl Notified {
    /// Nothing was told yet.
    pub(crate) fn new(channel: Channel, to: String) -> Self {
        Self {
            channel,
            to,
            told: 0,
            waiting: 0,
            problem: None,
        }
    }

    /// For people, without what failed, which is told as a warning.
    pub(crate) fn text(&self) -> String {
        let Self { to, waiting, .. } = self;
        let told = human::count(self.told, "URL");
        let rest = match waiting {
            0 => String::new(),
            waiting => format!(", {} wait", human::number(*waiting)),
        };
        match self.channel {
            Channel::IndexNow => format!("{told} told to {to} (IndexNow){rest}"),
            Channel::Ping if self.told == 0 => format!("not received by {to} (ping)"),
            Channel::Ping => format!("received by {to} (ping), which says nothing of the sitemap"),
            Channel::RobotsFile => {
                let lines = human::count(self.told, "line");
                format!("{lines} added to {to}")
            }
        }
    }
}
