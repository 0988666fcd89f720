//! A set is made of what the state of a site knows, or an earlier one is restored, and others are notified of it as after a crawl.
//! Nothing is asked of the site but what that needs.

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    crawler::{Crawler, SiteResult, summary_of},
    names::find_state,
    published::{print_published, report_opened, set_output},
    settings::SiteSettings,
};
use crate::{
    crawl_state,
    failure::{self, Context as _, Misuse, blocking},
    outcome::{ExitCode, SessionOutcome},
    publish::is_published,
    site_run::{Held, Stored, StoredRequest},
    summary::{RobotsFile, Summary},
};

/// Publishes one site, or restores the set of `back` publishes ago, and notifies others of it. A dry run notifies nobody.
pub async fn publish_site(
    crawler: &Crawler,
    site: &Arc<SiteSettings>,
    back: Option<u32>,
) -> SiteResult {
    let mut summary = summary_of(site);
    let (started, began) = (crawler.clock.now(), Instant::now());
    let (given, worker, of) = (summary.clone(), crawler.clone(), Arc::clone(site));
    let work = blocking(move || {
        let mut summary = given;
        let published = publish(&worker, &of, back, &mut summary);
        failure::Result::Ok((published, summary))
    });
    let is_dry = site.settings.dry_run;
    let result = match work.await {
        Ok((published, known)) => {
            summary = known;
            published
        }
        Err(error) => Err(error),
    };
    let result = match result {
        Ok((code, held)) => {
            // The output is locked until others are notified.
            let Held {
                store,
                output: _output,
            } = held;
            if !is_dry {
                crawler.notify_of(site, store, &mut summary).await;
            }
            Ok(code)
        }
        Err(error) => Err(error),
    };
    let mut end = crawler.ended(result, &mut summary, began);
    if let Some(error) = end.error.take() {
        crawler.output.failure(&error);
    }
    let run = SiteResult {
        summary,
        code: end.code,
        error: None,
    };
    // A mistyped command changes nothing about the last session.
    end.is_beside |= run.summary.outcome == SessionOutcome::Settings;
    // Of a site that was never crawled there is nothing to note beside.
    if !is_dry && run.summary.surroundings.state.is_some() {
        crawler.report_end(site, &run, started, end).await;
    }
    run
}

/// The command, for one site; the set is published, and its state and output are locked. `back`: which set is restored; `None`:
/// a new one is made.
fn publish(
    crawler: &Crawler,
    configured: &Arc<SiteSettings>,
    back: Option<u32>,
    summary: &mut Summary,
) -> failure::Result<(ExitCode, Held)> {
    let settings = &configured.settings;
    let (site, path) = find_state(settings, &configured.start)?;
    summary.surroundings.state = Some(path.clone());
    summary.set_site(&site);
    settings.check_site(&site)?;
    let places = settings.places_of(&site)?;
    let config = places.config(&settings.config);
    summary.surroundings.has_old_set = is_published(&places.output);
    set_output(summary, settings.place_of(&site.written().name()));
    crawler
        .places
        .reserve(configured, &site, [&path, &places.output])?;
    let output = (!settings.dry_run)
        .then(|| places.lock_output(&config))
        .transpose()?;
    let request = StoredRequest {
        site: &site,
        config: &config,
        state: places.state.as_deref(),
        dry_run: settings.dry_run,
        clock: &crawler.clock,
        is_stopped: &|| crawler.stop.shutdown.is_stopping(),
        send_fence: None,
    };
    let (store, opened) = request.open(None)?;
    report_opened(&opened, &site.url(), &crawler.output);
    let stored = match back {
        Some(back) => Stored::Generation(usize::try_from(back).unwrap_or(usize::MAX)),
        None if crawl_state::number(&store)? == 0 && opened.imported.is_none() => {
            let message = "the state has no crawl; run arpent crawl first";
            return Err(Misuse(message.to_owned()).into());
        }
        None => Stored::Crawl,
    };
    let ended = request.run(store, stored);
    if back.is_none() && !opened.knows_robots && !config.ignore.robots {
        crawler.output.warn(
                "the state has no robots.txt, so disallowed URLs may be listed; arpent crawl reads robots.txt",
            );
    }
    summary.surroundings.is_restored = back.is_some();
    let robots = RobotsFile::unread(&site);
    let (code, held) = print_published(summary, ended, &robots, &crawler.output)?;
    let store = held.context("a session without a state")?.store;
    Ok((code, Held { store, output }))
}
