//! The end of the work on a site: notifies engines and hooks, and writes the file of the last session. A failure here is a
//! warning and does not change the outcome of the session.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crawler::{
    site_run::{HookedEnd, LastSession, Notifier},
    store::Store,
};
use jiff::Timestamp;

use super::{Crawler, End, SiteResult};
use crate::{
    commands::{
        names::{Named, site_of},
        notify::{notices, notifier_of},
    },
    exit_code::ExitCode,
    failure::{self, Failure},
    panicked::blocking,
    settings::SiteSettings,
    summary::Summary,
};

impl Crawler {
    /// Calls the hooks, and notes how the session ended.
    pub(in crate::commands) async fn report_end(
        &self,
        site: &Arc<SiteSettings>,
        run: &SiteResult,
        started: Timestamp,
        end: End,
    ) {
        self.call_hooks(site, run.code, &run.summary).await;
        let state = run.summary.state.as_deref();
        let is_of_another = state.is_some_and(|state| self.places.is_of_another(site, state));
        if !site.settings.dry_run && !end.is_beside && !is_of_another {
            self.note(site, run, started, end.message).await;
        }
    }

    /// Who notifies others of `site`.
    fn notifier(&self, site: &SiteSettings) -> Notifier {
        notifier_of(
            &site.settings,
            Arc::clone(&self.politeness),
            Arc::clone(&self.clock),
            self.stop.shutdown.clone(),
        )
    }

    /// Sends the notifications of the settings about the published set. A failure is a warning: the set stays.
    pub(in crate::commands) async fn notify_of(
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
                for notice in &notices(&done, &set) {
                    output.info(notice);
                }
                for problem in &done.problems {
                    output.warn(&format!("{}: {problem}", summary.site));
                }
                summary.notified = done.notified;
                summary.awaits_hooks = done.awaits_hooks;
            }
            Ok(None) => {}
            Err(error) => output.warn(&format!(
                "{}: no notification was sent: {error:#}",
                summary.site
            )),
        }
    }

    /// Calls the hooks of the settings when the session ended with one of their events. One that fails is
    /// a warning: the outcome of the session stays. Hooks that were not called for a published set are called again with the next
    /// session when one fails, or the program ends before they did.
    async fn call_hooks(&self, site: &SiteSettings, code: ExitCode, summary: &Summary) {
        let mut notifier = self.notifier(site);
        let has_news = summary.has_changed() || summary.awaits_hooks;
        let event = notifier.hook_event(summary.outcome, has_news);
        let Some(event) = event.filter(|_| !site.settings.dry_run) else {
            return;
        };
        let folder = summary.output.as_deref().map(Path::display);
        let folder = folder.map(|folder| folder.to_string());
        let end = HookedEnd {
            event,
            variables: vec![
                ("ARPENT_SITE", summary.site.clone()),
                ("ARPENT_OUTCOME", summary.outcome.as_str().to_owned()),
                ("ARPENT_EXIT_CODE", (code as i32).to_string()),
                ("ARPENT_SITEMAPS_DIR", folder.unwrap_or_default()),
            ],
            summary: summary.json(),
            awaited_in: summary.state.clone().filter(|_| summary.awaits_hooks),
        };
        let called = blocking(move || failure::Result::Ok(notifier.end_session(&end))).await;
        let (problems, noted) = match called {
            Ok(called) => (called.problems, called.noted),
            Err(failure) => (vec![failure.to_string()], Ok(())),
        };
        if let Err(error) = noted {
            self.output.warn(&format!(
                "{}: the next session calls the hooks again, because the state could not be written: {:#}",
                summary.site,
                Failure::from(error)
            ));
        }
        for problem in problems {
            self.output.warn(&format!("{}: {problem}", summary.site));
        }
    }

    /// Notes how a session ended, beside the state of its site: the one that it came to, otherwise the one that its start URL
    /// led to last. A start URL that never led to a site does not replace the session of another one. A note that cannot be
    /// written is reported, and the session is over.
    async fn note(
        &self,
        site: &Arc<SiteSettings>,
        run: &SiteResult,
        started: Timestamp,
        message: Option<String>,
    ) {
        let settings = &site.settings;
        let as_typed = Named::as_typed(settings, &site.start);
        let first = settings.last_session_of(&as_typed.site);
        let (path, is_known) = if let Some(state) = &run.summary.state {
            (state.with_extension("last.json"), true)
        } else {
            // Commands that cannot do without the names report that they cannot be read.
            let named = site_of(settings, &site.start).unwrap_or(as_typed);
            (settings.last_session_of(&named.site), named.is_known)
        };
        let ended = self.clock.now();
        let text = |path: &Option<PathBuf>| Some(path.as_ref()?.display().to_string());
        let last = LastSession {
            name: site.name.clone(),
            start: site.start.to_string(),
            started,
            ended,
            exit_code: run.code as u8,
            message,
            failed_in_a_row: 0,
            last_good: run.summary.outcome.is_good().then_some(ended),
            state: text(&run.summary.state),
            output: text(&run.summary.output),
            summary: serde_json::to_value(&run.summary).unwrap_or_default(),
        };
        let (to, outcome) = (path.clone(), run.summary.outcome);
        let written = blocking(move || last.note(outcome, (&to, &first), is_known));
        if let Err(error) = written.await {
            self.output.warn(&format!(
                "{}: the result of the session could not be written to {}: {error}",
                run.summary.site,
                path.display()
            ));
        }
    }
}
