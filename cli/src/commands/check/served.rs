//! `arpent check --served`: compares what is served with the published sets of sites. What is compared is decided by
//! [`crawler::served`].

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use crawler::{
    driver::{SessionSettings, find_state, notifier_of},
    politeness::Politeness,
    publish::published_set,
    served::LookError,
    site_run::Notifier,
    store::Store,
    url_key::UrlKey,
};
use serde_json::json;

use super::misuse;
use crate::{
    args::CheckArgs,
    commands::{
        crawl::{begin_log, read_settings_file},
        dependencies, report_error,
        requesting::until_stopped,
    },
    exit_code::ExitCode,
    failure,
    output::Output,
    print::print_result,
    settings::{Environment, Settings},
};

/// Runs the command for the sites at `urls`.
///
/// # Errors
/// The settings make no sense, or the program cannot start; what fails for a site is reported and only changes the exit code.
pub(super) fn run(
    args: &CheckArgs,
    urls: Vec<String>,
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
    let typed = args.settings.0.clone();
    let settings = Settings::load_check(typed, urls, environment, read_settings_file)?;
    begin_log(&settings, output);
    let clock = dependencies::clock(environment);
    let (session, of_work) = (settings.session, output.clone());
    until_stopped(output, move |shutdown| {
        let politeness = Politeness::new(&session.config.politeness);
        let politeness = Arc::new(Mutex::new(politeness));
        let mut notifier = notifier_of(&session, politeness, clock, shutdown);
        let mut worst = ExitCode::Success;
        for url in &session.urls {
            let code = look(&session, url, is_json, &mut notifier, &of_work);
            worst = worst.worse(code.unwrap_or_else(|error| {
                let code = error.code();
                report_error(&error.context(url.to_string()), &of_work);
                code
            }));
        }
        notifier.write_waits();
        worst
    })
}

/// Looks at what is served of one site.
fn look(
    settings: &SessionSettings,
    url: &UrlKey,
    is_json: bool,
    notifier: &mut Notifier,
    output: &Output,
) -> failure::Result<ExitCode> {
    let (_, path) = find_state(settings, url)?;
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
