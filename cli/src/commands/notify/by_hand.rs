//! `arpent notify`: the same as after a crawl, from what the state of a site knows, and what a person does
//! with it: the pages to submit at, the lines of robots.txt.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex},
};

use anyhow::Context as _;
use crawler::{
    notify::{ENGINES, missing_lines, submit_all},
    page::State,
    politeness::Politeness,
    publish::{Standing, standing},
    store::{Store, StoreError},
    url_key::UrlKey,
};

use super::Teller;
use crate::{
    args::NotifyArgs,
    attend::Attendant,
    commands::{
        crawl::{begin_telling, read_settings_file},
        names::find_state,
        runtime::{self, Threads},
        seams, tell,
    },
    exit_code::{ExitCode, Misuse},
    human,
    output::Output,
    panicked::Panicked,
    settings::{CrawlSettings, Environment, Purpose, SiteSettings, typed},
};

/// Runs `arpent notify`.
///
/// # Errors
/// The settings make no sense, or the program cannot start; what fails for a site is told and only changes
/// the exit code.
pub(in crate::commands) fn run(
    args: &NotifyArgs,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let CrawlSettings { sites, shared, .. } = CrawlSettings::load(
        Purpose::Notify,
        (args.config.as_deref(), typed(args)),
        environment,
        read_settings_file,
    )?;
    begin_telling(&shared, output);
    let tells_engine = |site: &Arc<SiteSettings>| site.settings.config.notify.indexnow;
    if args.submit_all && !sites.iter().any(tells_engine) {
        return Err(Misuse(
            "--submit-all: expected --indexnow too, or indexnow = true in the table [notify] of the settings file"
                .to_owned(),
        )
        .into());
    }
    let clock = seams::clock(environment);
    runtime::run(Threads::One, async {
        let mut attendant = Attendant::new(output).context("failed to listen to signals")?;
        let politeness = Arc::new(Mutex::new(Politeness::new(&shared.config.politeness)));
        let shutdown = attendant.stop().shutdown.clone();
        let (list, submit_all, output) = (args.list, args.submit_all, output.clone());
        let work = tokio::task::spawn_blocking(move || {
            let mut worst = ExitCode::Success;
            for site in sites {
                let by_hand = ByHand {
                    list,
                    dry_run: site.settings.dry_run,
                    submit_all: submit_all && tells_engine(&site),
                    teller: Teller::new(
                        &site.settings,
                        Arc::clone(&politeness),
                        Arc::clone(&clock),
                        shutdown.clone(),
                    ),
                    output: output.clone(),
                };
                worst = worst.worse(by_hand.tell(&site.start));
            }
            worst
        });
        let joined = attendant.during(work, None).await?;
        let code = joined.map_err(Panicked::from_join)?;
        Ok(match attendant.stop().asked_by() {
            Some(signal) => signal.into(),
            None => code,
        })
    })
}

/// The command, for one site.
struct ByHand {
    list: bool,
    dry_run: bool,
    submit_all: bool,
    teller: Teller,
    output: Output,
}

impl ByHand {
    fn tell(mut self, url: &UrlKey) -> ExitCode {
        let code = self.tell_site(url).unwrap_or_else(|error| {
            let code = ExitCode::of_error(&error);
            tell(&error.context(url.to_string()), &self.output);
            code
        });
        self.teller.settle();
        code
    }

    fn tell_site(&mut self, url: &UrlKey) -> anyhow::Result<ExitCode> {
        let (mut site, path) = find_state(&self.teller.settings, url)?;
        if let Some(original) = &self.teller.settings.config.written_as {
            let written = site.standing_for(original);
            site = written.map_err(|error| Misuse(format!("as: {error}")))?;
        }
        let mut store = seams::state(&path)?;
        let standing = standing(&store)?.ok_or_else(|| {
            Misuse("its state knows of no published set; arpent crawl publishes one".to_owned())
        })?;
        self.output.data(&format!("{}:", standing.site));
        if self.list {
            self.say_where(&standing);
            return Ok(ExitCode::Success);
        }
        let mut is_told = self.say_robots(&standing);
        if self.submit_all && self.dry_run {
            let urls = human::count(count_published(&store)?, "URL");
            let line = format!("  all {urls} of the set would be told, and what waits:");
            self.output.data(&line);
        } else if self.submit_all {
            submit_all(&mut store, &site, self.teller.clock.now())?;
        }
        let told = self
            .teller
            .tell(&mut store, &standing, true, self.dry_run)?;
        for line in told.lines() {
            self.output.data(&format!("  {line}"));
        }
        if !self.teller.settings.config.notify.indexnow {
            let waiting = store.outbox_len()?;
            self.output.data(&format!(
                "  {} noted as changed; --indexnow tells an engine",
                human::count(waiting, "URL")
            ));
        }
        for problem in &told.problems {
            is_told = false;
            self.output.warn(problem);
        }
        Ok(if is_told {
            ExitCode::Success
        } else {
            ExitCode::Partial
        })
    }

    /// Where the sitemaps are submitted by hand.
    fn say_where(&self, standing: &Standing) {
        for engine in ENGINES {
            self.output.data(&format!("  {}", engine.name));
            self.output.data(&format!("    open:  {}", engine.page));
            for sitemap in &standing.sitemaps {
                self.output.data(&format!("    paste: {sitemap}"));
            }
            let indexnow = if engine.takes_indexnow {
                "; hears of changed URLs by IndexNow"
            } else {
                ""
            };
            self.output.data(&format!("    {}{indexnow}", engine.note));
        }
        self.output.data("  all of them, in robots.txt:");
        for sitemap in &standing.sitemaps {
            self.output.data(&format!("    Sitemap: {sitemap}"));
        }
    }

    /// The lines that robots.txt should have, and whether it has them; whether that could be found out.
    fn say_robots(&mut self, standing: &Standing) -> bool {
        let found = if self.dry_run {
            Ok(None)
        } else {
            self.teller.named_in_robots(standing).map(Some)
        };
        let origin = UrlKey::from_normalised(&standing.site)
            .map_or_else(|_| standing.site.clone(), |site| site.origin().to_string());
        let missing: Option<Vec<&str>> = match &found {
            Ok(Some(named)) => Some(missing_lines(named.as_bytes(), &standing.sitemaps)),
            Ok(None) | Err(_) => None,
        };
        for sitemap in &standing.sitemaps {
            let state = match &missing {
                Some(missing) if missing.contains(&sitemap.as_str()) => "lacks",
                Some(_) => "has",
                None => "should have",
            };
            self.output
                .data(&format!("  {origin}/robots.txt {state} the line:"));
            self.output.data(&format!("    Sitemap: {sitemap}"));
        }
        if let Err(error) = found {
            let error = anyhow::Error::from(error);
            self.output
                .warn(&format!("whether it has them is not known: {error:#}"));
            return false;
        }
        true
    }
}

/// URLs of the published set.
fn count_published(store: &Store) -> Result<u64, StoreError> {
    let mut count = 0;
    store.each(None, &mut |_, page, _| {
        let is_listed = page.is_some_and(|page| page.record.reason.state() == State::Listed);
        count += u64::from(is_listed);
        ControlFlow::Continue(())
    })?;
    Ok(count)
}
