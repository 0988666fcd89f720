//! Who hears of how the work on a site ended: engines, hooks, and the file of its last run. Whatever fails here is a
//! warning, because how the work ended stays.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crawler::{
    config::HookEvent,
    publish::{hooks_know, standing},
    site_run::Outcome,
    store::Store,
};
use jiff::Timestamp;

use super::super::last::LastRun;
use super::{Crawler, End, SiteRun};
use crate::{
    commands::{
        names::{Named, site_of},
        notify::Teller,
        seams,
    },
    exit_code::ExitCode,
    panicked::Panicked,
    settings::SiteSettings,
    summary::Summary,
};

impl Crawler {
    /// Calls the hooks, and notes how the run ended.
    pub(in crate::commands) async fn tell_of_end(
        &self,
        site: &Arc<SiteSettings>,
        run: &SiteRun,
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

    /// Who tells others of `site`.
    fn teller(&self, site: &SiteSettings) -> Teller {
        Teller::new(
            &site.settings,
            Arc::clone(&self.politeness),
            Arc::clone(&self.clock),
            self.stop.shutdown.clone(),
        )
    }

    /// Tells whom the settings name of the set that stands. Whatever fails is a warning: the set stands.
    pub(in crate::commands) async fn tell_of(
        &self,
        site: &SiteSettings,
        mut store: Store,
        summary: &mut Summary,
    ) {
        let has_changed = summary.has_changed();
        let mut teller = self.teller(site);
        let work = tokio::task::spawn_blocking(move || {
            let Some(standing) = standing(&store)? else {
                return Ok(None);
            };
            let told = teller.tell(&mut store, &standing, has_changed, false);
            teller.settle();
            told.map(Some)
        });
        let told: anyhow::Result<_> = match work.await {
            Ok(told) => told.map_err(anyhow::Error::from),
            Err(error) => Err(Panicked::from_join(error).into()),
        };
        let output = &self.output;
        match told {
            Ok(Some(told)) => {
                for notice in &told.notices {
                    output.say(notice);
                }
                for problem in &told.problems {
                    output.warn(&format!("{}: {problem}", summary.site));
                }
                summary.notified = told.notified;
                summary.awaits_hooks = told.awaits_hooks;
            }
            Ok(None) => {}
            Err(error) => output.warn(&format!(
                "{}: nobody was told of it: {error:#}",
                summary.site
            )),
        }
    }

    /// Calls the hooks of the settings when the run ended by something that they are for. One that fails is
    /// a warning: how the run ended stays. Those that wait to hear of a published set are called again with the next
    /// run when one fails, or the program ends before they did.
    async fn call_hooks(&self, site: &SiteSettings, code: ExitCode, summary: &Summary) {
        let notify = &site.settings.config.notify;
        let event = summary
            .hook_event()
            .filter(|event| notify.hook_events.contains(event));
        let Some(event) = event.filter(|_| notify.has_hooks() && !site.settings.dry_run) else {
            return;
        };
        let summary_json = summary.json().unwrap_or_else(|error| {
            // A hook that hears little is better than silence.
            self.output.warn(&format!(
                "{}: the hooks are called without the summary, which cannot be written as JSON: {error:#}",
                summary.site
            ));
            "{}".to_owned()
        });
        let folder = summary.output.as_deref().map(Path::display);
        let variables = [
            ("ARPENT_SITE", summary.site.clone()),
            ("ARPENT_OUTCOME", summary.outcome.as_str().to_owned()),
            ("ARPENT_EXIT_CODE", (code as i32).to_string()),
            (
                "ARPENT_SITEMAPS_DIR",
                folder.map(|folder| folder.to_string()).unwrap_or_default(),
            ),
        ];
        let mut teller = self.teller(site);
        let work = tokio::task::spawn_blocking(move || {
            let problems = teller.call_hooks(event, &variables, &summary_json);
            teller.settle();
            problems
        });
        let problems = match work.await {
            Ok(problems) => problems,
            Err(error) => vec![Panicked::from_join(error).to_string()],
        };
        if problems.is_empty() && event == HookEvent::Published {
            self.note_called(summary).await;
        }
        for problem in problems {
            self.output.warn(&format!("{}: {problem}", summary.site));
        }
    }

    /// Notes in the state that the hooks know of the set that stands. Where that fails they hear of it twice.
    async fn note_called(&self, summary: &Summary) {
        let Some(state) = summary.state.clone().filter(|_| summary.awaits_hooks) else {
            return;
        };
        let work = tokio::task::spawn_blocking(move || {
            let mut store = seams::state(&state)?;
            hooks_know(&mut store)
        });
        let noted: anyhow::Result<()> = match work.await {
            Ok(noted) => noted.map_err(anyhow::Error::from),
            Err(error) => Err(Panicked::from_join(error).into()),
        };
        if let Err(error) = noted {
            self.output.warn(&format!(
                "{}: the hooks will be called again, because the state does not take that they were: {error:#}",
                summary.site
            ));
        }
    }

    /// Notes how a run ended, beside the state of its site: the one that it came to, otherwise the one that its start URL
    /// led to last. A start URL that never led to a site takes no place of a run from elsewhere. That a run cannot be
    /// noted is told; it is over all the same.
    async fn note(
        &self,
        site: &Arc<SiteSettings>,
        run: &SiteRun,
        started: Timestamp,
        message: Option<String>,
    ) {
        let settings = &site.settings;
        let as_typed = Named::as_typed(settings, &site.start);
        let first = settings.last_run_of(&as_typed.site);
        let (path, is_known) = if let Some(state) = &run.summary.state {
            (state.with_extension("last.json"), true)
        } else {
            // Commands that cannot do without the names report that they cannot be read.
            let named = site_of(settings, &site.start).unwrap_or(as_typed);
            (settings.last_run_of(&named.site), named.is_known)
        };
        let ended = self.clock.now();
        let text = |path: &Option<PathBuf>| Some(path.as_ref()?.display().to_string());
        let mut last = LastRun {
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
            summary: serde_json::to_value(&run.summary).unwrap_or_else(|error| {
                self.output.warn(&format!(
                    "{}: the summary of the run cannot be noted as JSON: {error}",
                    run.summary.site
                ));
                serde_json::Value::Null
            }),
        };
        let (to, outcome) = (path.clone(), run.summary.outcome);
        let has_failed = !outcome.is_good() && outcome != Outcome::Interrupted;
        let written = tokio::task::spawn_blocking(move || {
            // A file that cannot be read says nothing of an earlier run.
            let read = |path: &Path| LastRun::read(path).ok().flatten();
            let before = read(&to);
            if !is_known
                && before
                    .as_ref()
                    .is_some_and(|before| before.start != last.start)
            {
                return Ok(());
            }
            last.follow(before, has_failed);
            last.write(&to)?;
            // Until now nobody knew which site it is.
            if first != to
                && let Some(before) = read(&first)
                && before.start == last.start
                && before.state.is_none()
            {
                fs::remove_file(&first)?;
            }
            io::Result::Ok(())
        });
        let problem = match written.await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(error) => Panicked::from_join(error).to_string(),
        };
        self.output.warn(&format!(
            "{}: how the run ended could not be noted in {}: {problem}",
            run.summary.site,
            path.display()
        ));
    }
}
