//! All notifications of the settings, in a fixed order: the engine of `IndexNow`, engines that take the request of the protocol.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;

use super::{
    Caller, GoogleReport, PingTemplate, Submission, Submitted, ping, service_url, shown_url, submit,
};
use crate::{
    config::HookEvent,
    human,
    publish::{PublishedSet, Unnotified, note_unnotified, unnotified},
    served::ServedReport,
    store::{Store, StoreError},
};

/// How a receiver is notified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Channel {
    /// An engine of `IndexNow` gets URLs.
    #[serde(rename = "indexnow")]
    IndexNow,
    /// An engine gets the URL of an index.
    Ping,
}

/// A receiver that was notified, or was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notified {
    /// How.
    pub channel: Channel,
    /// An origin, or a file; never a URL with a key in it.
    pub to: String,
    /// URLs that were received, or written.
    pub sent: u64,
    /// URLs that wait for the next time.
    pub waiting: u64,
    /// The failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The result of all notifications.
#[derive(Debug, Default)]
pub struct Notifications {
    /// The receivers.
    pub notified: Vec<Notified>,
    /// The result for the URLs for the engine of `IndexNow`; its problems are among those of all.
    pub submitted: Submitted,
    /// The engines that a dry run would ask to read each sitemap.
    pub would_ping: u64,
    /// The failures, each a fragment. It is tried again the next time.
    pub problems: Vec<String>,
    /// What somebody should look at: nothing failed.
    pub warnings: Vec<String>,
    /// The hooks were not called for the set yet.
    pub awaits_hooks: bool,
    /// What is served of the set; `None`: nobody looked.
    pub served: Option<ServedReport>,
    /// What Google has read of the set; `None`: nobody asked, or it did not answer.
    pub google: Option<GoogleReport>,
    /// Nobody was notified, because the set is not served.
    pub is_held: bool,
}

impl Notifications {
    /// Lines for the user besides the receivers; `set` was published.
    pub fn notices(&self, set: &PublishedSet) -> Vec<String> {
        let Notifications {
            submitted,
            would_ping,
            ..
        } = self;
        let Submitted {
            unchecked,
            resting,
            would_send,
            shown,
            notices,
            ..
        } = submitted;
        let mut lines = notices.clone();
        if self.is_held {
            lines.push(format!(
                "nobody is notified of {} before it is served; arpent notify --now notifies all the same",
                set.sitemaps.first().map_or(&*set.site, |sitemap| sitemap)
            ));
        }
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
                "{urls} sent less than ten minutes ago; a notification after that time sends them again"
            ));
        }
        if *would_ping > 0 {
            let engines = human::count(*would_ping, "engine");
            let sitemaps = set.sitemaps.iter();
            lines.extend(
                sitemaps.map(|sitemap| format!("{engines} would get a request to read {sitemap}")),
            );
        }
        lines
    }
}

/// Notifies everybody of the published set. `has_changed`: its files are not those of before; otherwise only those engines are
/// asked to read it that were not when it changed.
///
/// # Errors
/// The store failed. Whatever else fails is among the problems.
pub fn notify(
    store: &mut Store,
    submission: &Submission<'_>,
    has_changed: bool,
    clock: &dyn Fn() -> Timestamp,
    call: &mut Caller<'_>,
) -> Result<Notifications, StoreError> {
    let Submission {
        config,
        dry_run,
        is_held,
        ..
    } = *submission;
    let mut notifications = Notifications {
        is_held: is_held && (config.indexnow || !config.ping.is_empty()),
        ..Notifications::default()
    };
    if config.indexnow && !is_held {
        notifications.submitted = submit(store, submission, clock, call)?;
        notifications.take_submitted(&config.indexnow_endpoint);
    }
    let unnotified = unnotified(store)?;
    let engines = match &unnotified {
        _ if has_changed => None,
        Some(unnotified) => unnotified.engines.clone(),
        None => Some(BTreeSet::new()),
    };
    let unanswered = if is_held {
        unnotified.as_ref().and_then(|them| them.engines.clone())
    } else {
        Some(notifications.ping(submission, engines.as_ref(), call))
    };
    if let Some(unnotified) = unnotified.filter(|_| !dry_run) {
        let has_listeners =
            config.has_hooks() && config.hook_events.contains(&HookEvent::Published);
        notifications.awaits_hooks = unnotified.hooks && has_listeners;
        let unnotified = Unnotified {
            engines: unanswered,
            hooks: notifications.awaits_hooks,
        };
        note_unnotified(store, &unnotified)?;
    }
    Ok(notifications)
}

impl Notifications {
    fn take_submitted(&mut self, endpoint: &str) {
        let Submitted {
            sent,
            waiting,
            problems,
            ..
        } = &self.submitted;
        if *sent == 0 && problems.is_empty() {
            return;
        }
        self.notified.push(Notified {
            channel: Channel::IndexNow,
            to: service_url(endpoint).map_or_else(String::new, |url| shown_url(&url)),
            sent: *sent,
            waiting: *waiting,
            problem: Some(problems.join("; ")).filter(|text| !text.is_empty()),
        });
        let problems = problems.iter();
        self.problems
            .extend(problems.map(|problem| format!("IndexNow: {problem}")));
    }

    /// Asks the engines of the settings, or those of them with the origins `engines`, to read the set; returns those that
    /// another try may reach.
    fn ping(
        &mut self,
        submission: &Submission<'_>,
        engines: Option<&BTreeSet<String>>,
        call: &mut Caller<'_>,
    ) -> BTreeSet<String> {
        let templates = submission.config.ping.iter();
        let templates: Vec<PingTemplate> = templates
            .filter_map(|text| PingTemplate::parse(text.reveal()).ok())
            .filter(|template| engines.is_none_or(|engines| engines.contains(&template.engine())))
            .collect();
        let mut unanswered = BTreeSet::new();
        if submission.dry_run {
            self.would_ping = templates.len() as u64;
            return unanswered;
        }
        for pinged in ping(&templates, &submission.standing.sitemaps, call) {
            if !pinged.is_final {
                unanswered.insert(pinged.engine.clone());
            }
            let sent = u64::from(pinged.problem.is_none());
            let problem = pinged.problem;
            let problem = problem.map(|problem| format!("{} {problem}", pinged.engine));
            self.add(Channel::Ping, pinged.engine, sent, problem);
        }
        unanswered
    }

    fn add(&mut self, channel: Channel, to: String, sent: u64, problem: Option<String>) {
        self.problems.extend(problem.clone());
        self.notified.push(Notified {
            channel,
            to,
            sent,
            waiting: 0,
            problem,
        });
    }
}
