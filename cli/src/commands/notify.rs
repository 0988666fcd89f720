//! Notifies others of what was published: after a crawl, or by hand as `arpent notify`. Who is notified of what is decided by
//! [`crawler::notify`]; here are the words.

mod by_hand;

use std::sync::Arc;

use crawler::{
    client::Shutdown,
    clock::Clock,
    notify::{Notifications, Submitted},
    politeness::SharedPoliteness,
    publish::PublishedSet,
    site_run::{Notifier, NotifierConfig},
};

pub(super) use self::by_hand::run;
use super::dependencies;
use crate::{human, settings::Settings};

/// Notifies others of the site of `settings`. Needs a running runtime.
pub(super) fn notifier_of(
    settings: &Settings,
    politeness: SharedPoliteness,
    clock: Arc<dyn Clock>,
    shutdown: Shutdown,
) -> Notifier {
    let config = NotifierConfig {
        config: settings.config.clone(),
        starts: settings.urls.clone(),
        withheld: settings.withheld.clone(),
    };
    let retry_after = dependencies::retry_after(&settings.state);
    Notifier::new(config, retry_after, politeness, clock, shutdown)
}

/// Lines for the user besides the notifications themselves.
pub(super) fn notices(notifications: &Notifications, standing: &PublishedSet) -> Vec<String> {
    let Notifications {
        submitted,
        would_ping,
        ..
    } = notifications;
    let Submitted {
        unchecked,
        resting,
        would_send,
        shown,
        notices,
        ..
    } = submitted;
    let mut lines = notices.clone();
    if *would_send > 0 {
        let urls = human::count(*would_send, "URL");
        lines.push(format!("IndexNow would be notified of {urls}"));
        lines.extend(shown.iter().map(|line| format!("  {line}")));
        let more = would_send - shown.len() as u64;
        if more > 0 {
            lines.push(format!("  and {} more", human::number(more)));
        }
    }
    if *unchecked > 0 {
        let urls = human::count(*unchecked, "URL");
        lines.push(format!(
            "the engine accepted {urls} and has still to check the key (202)"
        ));
    }
    if *resting > 0 {
        let urls = human::count(*resting, "URL");
        lines.push(format!(
            "{urls} sent less than ten minutes ago; the next notification sends them again"
        ));
    }
    if *would_ping > 0 {
        let engines = human::count(*would_ping, "engine");
        let sitemaps = standing.sitemaps.iter();
        lines.extend(
            sitemaps.map(|sitemap| format!("{engines} would get a request to read {sitemap}")),
        );
    }
    lines
}
