//! `arpent check --served`: compares what is served with the published sets of sites. What is compared is decided by
//! [`crawler::served`].

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use crawler::{
    driver::{find_state, notifier_of},
    politeness::Politeness,
    publish::published_set,
    served::LookError,
    site_run::Notifier,
    store::Store,
};
use serde_json::json;

use super::misuse;
use crate::{
    args::CheckArgs,
    commands::{
        crawl::{begin_log, load},
        dependencies, report_error,
        requesting::until_stopped,
    },
    exit_code::ExitCode,
    failure,
    output::Output,
    print::print_result,
    settings::{CrawlSettings, Environment, Purpose, SiteSettings},
};

/// Runs the command for the sites at `urls`.
///
/// # Errors
/// The settings make no sense, or the program cannot start; what fails for a site is reported and only changes the exit code.
pub(super) fn run(
    args: &CheckArgs,
    urls: &[String],
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    if urls.len() != args.paths.len() {
        return Err(misuse("--served: expected URLs of sites"));
    }
    let is_json = args.findings.json || args.findings.format == "json";
    if !is_json && args.findings.format != "text" {
        return Err(misuse("--served: expected --format text or json"));
    }
    let typed = args.settings.0.with_all("urls", urls);
    let CrawlSettings { sites, shared, .. } = load(Purpose::Notify, typed, environment)?;
    begin_log(&shared, output);
    let clock = dependencies::clock(environment);
    let of_work = output.clone();
    until_stopped(output, move |shutdown| {
        let politeness = Politeness::new(&shared.session.config.politeness);
        let politeness = Arc::new(Mutex::new(politeness));
        let mut worst = ExitCode::Success;
        for site in sites {
            let (politeness, clock) = (Arc::clone(&politeness), Arc::clone(&clock));
            let mut notifier = notifier_of(&site.settings, politeness, clock, shutdown.clone());
            let code = look(&site, is_json, &mut notifier, &of_work);
            worst = worst.worse(code.unwrap_or_else(|error| {
                let code = error.code();
                report_error(&error.context(site.start.to_string()), &of_work);
                code
            }));
            notifier.write_waits();
        }
        worst
    })
}

/// Looks at what is served of one site.
fn look(
    site: &SiteSettings,
    is_json: bool,
    notifier: &mut Notifier,
    output: &Output,
) -> failure::Result<ExitCode> {
    let (_, path) = find_state(&site.settings, &site.start)?;
    let store = Store::open_to_read(&path)?;
    let published = match &store {
        Some(store) => published_set(store)?.map(|set| (store, set)),
        None => None,
    };
    let (store, set) = published
        .ok_or_else(|| misuse("the state has no published set; arpent crawl publishes a set"))?;
    let report = match notifier.look(store, &set, Duration::ZERO) {
        Ok(report) => report,
        Err(LookError::Store(error)) => return Err(error.into()),
        Err(LookError::Request(error)) => return Err(error.into()),
        Err(error) => return Err(misuse(error.to_string())),
    };
    let document = json!({ "version": 1, "site": set.site, "served": report });
    print_result(is_json, &document, || report.view(&set.site), output)?;
    Ok(if report.is_served() {
        ExitCode::Success
    } else {
        ExitCode::Invalid
    })
}
