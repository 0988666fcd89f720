//! The receivers of notifications, for people.

use crawler::notify::{Channel, Notified};

use crate::human;

/// What a receiver got, without what failed, which is reported as a warning.
pub(crate) fn text(notified: &Notified) -> String {
    let Notified {
        channel,
        to,
        sent,
        waiting,
        ..
    } = notified;
    let urls = human::count(*sent, "URL");
    let rest = match waiting {
        0 => String::new(),
        waiting => format!(", {} wait", human::number(*waiting)),
    };
    match channel {
        Channel::IndexNow => format!("{urls} sent to {to} (IndexNow){rest}"),
        Channel::Ping if *sent == 0 => format!("not received by {to} (ping)"),
        Channel::Ping => {
            format!("received by {to} (ping); an answer is no promise to read the sitemap")
        }
    }
}
