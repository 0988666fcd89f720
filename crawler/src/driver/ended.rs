//! The end of the work on a site: notifies engines and hooks, and writes the file of the last session. A failure here is a
//! warning and does not change the outcome of the session.

use std::{path::PathBuf, sync::Arc};

use jiff::Timestamp;

use super::{
    crawler::{Crawler, EndedWork, SiteResult},
    names::{Named, site_of_start},
    settings::{SessionSettings, SiteSettings},
};
use crate::{
    client::Shutdown,
    clock::Clock,
    failure::{self, blocking},
    politeness::SharedPoliteness,
    retry_after::RetryAfterFile,
    site_run::{EndOfSession, LastSession, MessageLogs, Notifier, NotifierConfig, SessionRecord},
    store::Store,
    summary::Summary,
};

/// Notifies others of the site of `settings`. Needs a running runtime.
pub fn notifier_of(
    settings: &SessionSettings,
    politeness: SharedPoliteness,
    clock: Arc<dyn Clock>,
    shutdown: Shutdown,
) -> Notifier {
    let config = NotifierConfig {
        config: settings.config.clone(),
        starts: settings.urls.clone(),
        withheld: settings.withheld.clone(),
    };
    let retry_after = RetryAfterFile::of_states(&settings.state);
    Notifier::new(config, retry_after, politeness, clock, shutdown)
}

impl Crawler {
    /// Calls the hooks, and records how the session ended. A failure is a warning: the outcome of the session stays.
    pub(super) async fn report_end(
        &self,
        site: &Arc<SiteSettings>,
        run: &SiteResult,
        started: Timestamp,
        end: EndedWork,
    ) {
        if site.settings.dry_run {
            return;
        }
        let summary = &run.summary;
        let state = summary.surroundings.state.as_deref();
        let is_of_another = state.is_some_and(|state| self.places.is_of_another(site, state));
        let has_record = !end.is_beside && !is_of_another;
        let text = |path: &Option<PathBuf>| Some(path.as_ref()?.display().to_string());
        let end = EndOfSession {
            outcome: summary.outcome,
            has_news: summary.has_changed() || summary.surroundings.awaits_hooks,
            variables: vec![
                ("ARPENT_SITE", summary.site.clone()),
                ("ARPENT_OUTCOME", summary.outcome.as_str().to_owned()),
                ("ARPENT_EXIT_CODE", (run.code as i32).to_string()),
                (
                    "ARPENT_SITEMAPS_DIR",
                    text(&summary.surroundings.output).unwrap_or_default(),
                ),
            ],
            summary: summary.json(),
            awaited_in: summary
                .surroundings
                .state
                .clone()
                .filter(|_| summary.surroundings.awaits_hooks),
            record: has_record.then(|| record_of(site, run, started, end.message)),
        };
        let mut notifier = self.notifier(site);
        let ended = blocking(move || failure::Result::Ok(notifier.end_session(end))).await;
        for problem in ended.unwrap_or_else(|failure| vec![failure.to_string()]) {
            self.output.warn(&format!("{}: {problem}", summary.site));
        }
    }

    /// Who notifies others of `site`.
    pub(super) fn notifier(&self, site: &SiteSettings) -> Notifier {
        notifier_of(
            &site.settings,
            Arc::clone(&self.politeness),
            Arc::clone(&self.clock),
            self.stop.shutdown.clone(),
        )
    }

    /// Sends the notifications of the settings about the published set. A failure is a warning: the set stays.
    pub(super) async fn notify_of(
        &self,
        site: &SiteSettings,
        mut store: Store,
        summary: &mut Summary,
    ) {
        let has_changed = summary.has_changed();
        let mut notifier = self.notifier(site);
        let done = blocking(move || notifier.notify_of_published(&mut store, has_changed)).await;
        let output = &self.output;
        match done {
            Ok(Some((set, done))) => {
                for notice in &done.notices(&set) {
                    output.info(notice);
                }
                for problem in done.problems.iter().chain(&done.warnings) {
                    output.warn(&format!("{}: {problem}", summary.site));
                }
                summary.notified = done.notified;
                summary.set_served(done.served);
                summary.set_google(done.google);
                summary.surroundings.awaits_hooks = done.awaits_hooks;
            }
            Ok(None) => {}
            Err(error) => output.warn(&format!(
                "{}: no notification was sent: {error:#}",
                summary.site
            )),
        }
    }
}

/// The record of how a session ended, beside the state of its site: the one that it came to, otherwise the one that its start URL
/// led to last.
fn record_of(
    site: &SiteSettings,
    run: &SiteResult,
    started: Timestamp,
    message: Option<String>,
) -> SessionRecord {
    let (settings, summary) = (&site.settings, &run.summary);
    let as_typed = Named::as_typed(settings, &site.start);
    let first = settings.last_session_of(&as_typed.site);
    let (path, is_known) = if let Some(state) = &summary.surroundings.state {
        (LastSession::beside(state), true)
    } else {
        // Commands that cannot do without the names report that they cannot be read.
        let named = site_of_start(settings, &site.start).unwrap_or(as_typed);
        (settings.last_session_of(&named.site), named.is_known)
    };
    let text = |path: &Option<PathBuf>| Some(path.as_ref()?.display().to_string());
    SessionRecord {
        session: LastSession {
            name: site.name.clone(),
            start: site.start.to_string(),
            started,
            ended: started,
            exit_code: run.code as u8,
            message,
            failed_in_a_row: 0,
            last_good: None,
            listed: None,
            state: text(&summary.surroundings.state),
            output: text(&summary.surroundings.output),
            recent: Vec::new(),
            messages: MessageLogs::new(),
            summary: serde_json::to_value(summary).unwrap_or_default(),
        },
        path,
        first,
        is_known,
    }
}
