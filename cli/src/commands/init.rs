//! `arpent init`: looks at a site ([`crawler::survey`]), asks what only its owner knows ([`questions`]), writes the files for a
//! crawl ([`files`]), and reports ([`report`]).

mod files;
mod questions;
mod report;
mod server;

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use crawler::{
    check::CheckProgress, config::ScopeWidth, site::settle_so_far, survey::survey, url_key::UrlKey,
};

use self::{files::Files, questions::Answers};
use super::{
    crawl::{begin_log, read_settings_file},
    dependencies,
    requesting::{Means, with_network},
    runtime::{self, Threads},
};
use crate::{
    args::InitArgs,
    exit_code::{ExitCode, Misuse, Unwritable},
    output::Output,
    panicked::Panicked,
    settings::{Environment, Settings},
    supervisor::Supervisor,
};

/// Runs the command.
///
/// # Errors
/// The settings cannot be used, a file exists or cannot be written, or the site cannot be crawled.
pub(super) fn run(
    args: &InitArgs,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let mut settings = Settings::load_check(
        (args.config.as_deref(), args),
        vec![args.url.clone()],
        environment,
        read_settings_file,
    )?;
    begin_log(&settings, output);
    let typed = settings.urls.pop().context("no URL")?;
    // Who looks at a site asks once.
    settings.config.limits.max_tries = 1;
    let folder = absolute(args.output.as_deref().unwrap_or(Path::new(".")))?;
    let names = files::names(args);
    if !args.force {
        refuse_existing(&folder, &names)?;
    }
    let means = Means {
        config: settings.config.clone(),
        clock: dependencies::clock(environment),
        retry_after: dependencies::retry_after(&settings.state),
        progress: CheckProgress::default(),
    };
    let (config, progress) = (means.config.clone(), means.progress.clone());
    let looked = with_network(means, output, move |network| {
        let downloader = (network.connect)(&typed.origin())?;
        Ok(survey(&typed, &config, &downloader, &network, &progress)?)
    });
    let survey = match looked? {
        (Err(_), Some(stopped)) => return Ok(stopped),
        (survey, _) => survey?,
    };
    let start = UrlKey::from_normalised(&survey.start)?;
    let site = UrlKey::from_normalised(&survey.site)?;
    let name = settle_so_far(&site, &[], ScopeWidth::Directory).name();
    let defaults = Answers {
        public_url: site.to_string(),
        contact: contact_of(&settings.config.fetch.user_agent),
        // Where arpent crawl in this folder writes without settings.
        output: folder.join("sitemaps").join(name),
        time: (2, 30),
        start,
    };
    let asks = !args.yes && io::stdin().is_terminal() && io::stderr().is_terminal();
    let answers = if asks {
        for line in report::summary(&survey) {
            output.info(&line);
        }
        match ask(defaults, output)? {
            Ok(answers) => answers,
            Err(stopped) => return Ok(stopped),
        }
    } else {
        defaults
    };
    let files = Files {
        folder: &folder,
        survey: &survey,
        answers: &answers,
        config: &settings.config,
        environment,
    };
    let written = files.write(args)?;
    if args.json {
        let json = report::json(&survey, &answers, &written)?;
        output.data_json(&json);
    } else {
        let found = if asks {
            Vec::new()
        } else {
            report::summary(&survey)
        };
        for line in found
            .into_iter()
            .chain(report::steps(&survey, &answers, &written))
        {
            output.data(&line);
        }
    }
    Ok(ExitCode::Success)
}

/// The contact in a User-Agent of arpent; empty: none.
fn contact_of(user_agent: &str) -> String {
    let contact = user_agent
        .split_once(" (+")
        .and_then(|(_, contact)| contact.strip_suffix(')'));
    contact.unwrap_or_default().to_owned()
}

/// An absolute path that can be written in the files of web servers, of systemd and of cron.
fn absolute(path: &Path) -> Result<PathBuf, Misuse> {
    let failed = |problem: &str| Misuse(format!("{}: {problem}", path.display()));
    let absolute = std::path::absolute(path).map_err(|error| failed(&error.to_string()))?;
    let acts = |c: char| "\"'$%\\".contains(c) || c.is_control();
    if cfg!(unix) && absolute.to_str().is_none_or(|text| text.contains(acts)) {
        return Err(failed(
            "expected a folder without quotes, $, % or \\ in its path",
        ));
    }
    // Without `.` at its end.
    Ok(absolute.components().collect())
}

/// Refuses to go on where a file would be replaced, before the site gets a request.
fn refuse_existing(folder: &Path, names: &[&str]) -> Result<(), Unwritable> {
    let mut paths = names.iter().map(|name| folder.join(name));
    match paths.find(|path| path.symlink_metadata().is_ok()) {
        Some(path) => Err(Unwritable(format!(
            "{} exists and is not replaced; --force replaces it, -o DIR writes into another folder",
            path.display()
        ))),
        None => Ok(()),
    }
}

/// Asks the user; `Err` when that was stopped.
fn ask(defaults: Answers, output: &Output) -> anyhow::Result<Result<Answers, ExitCode>> {
    runtime::run(Threads::One, async {
        let mut supervisor = Supervisor::new(output)?.of_work_without_requests();
        let shutdown = supervisor.stop().shutdown.clone();
        let dialogue = output.clone();
        let asking = tokio::task::spawn_blocking(move || {
            questions::ask(defaults, &mut io::stdin().lock(), &dialogue)
        });
        let work = async {
            tokio::select! {
                answers = asking => Some(answers),
                // Lost is the answer to the question: its thread waits for a line until the process ends.
                () = shutdown.stopped() => None,
            }
        };
        let answers = supervisor.run(work, None).await?;
        match (answers, supervisor.stop().asked_by()) {
            (Some(answers), _) => answers.map_err(Panicked::from_join)?.map(Ok),
            (None, Some(signal)) => Ok(Err(signal.into())),
            (None, None) => Ok(Err(ExitCode::Interrupted)),
        }
    })
}
