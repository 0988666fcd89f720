//! `arpent init`: looks at a site or at the state of its crawl ([`crawler::survey`]), asks what only its owner knows ([`questions`]), writes the files for a
//! crawl ([`files`]), and reports ([`report`]).

mod files;
mod questions;
mod report;

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
};

use crawler::{
    check::CheckProgress,
    config::ScopeWidth,
    driver::site_of_start,
    site::settle_so_far,
    store::Store,
    survey::{look, of_crawl},
    url_key::UrlKey,
};

use self::{files::Plan, questions::Answers};
use super::{
    crawl::{begin_log, read_settings_file},
    dependencies,
    requesting::{RequestContext, with_network},
    runtime::{self, Threads},
};
use crawler::failure::Panicked;

use crate::{
    args::InitArgs,
    exit_code::ExitCode,
    failure::{self, Context as _, Misuse},
    output::Output,
    print::print_view,
    settings::{Environment, Settings},
    signal::Signals,
};

/// Runs the command.
///
/// # Errors
/// The settings cannot be used, a file exists or cannot be written, or the site cannot be crawled.
pub(super) fn run(
    args: &InitArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let mut settings = Settings::load_check(
        args.settings.0.clone(),
        vec![args.url.clone()],
        environment,
        read_settings_file,
    )?;
    begin_log(&settings, output);
    let typed = settings.session.urls.pop().context("no URL")?;
    let config = settings.session.config.clone();
    let folder = absolute(args.output.as_deref().unwrap_or(Path::new(".")))?;
    if folder.is_file() {
        let folder = folder.display();
        return Err(Misuse(format!(
            "--output: {folder} is a file; expected a folder, which may be a new one"
        ))
        .into());
    }
    let known_names = [files::SETTINGS, files::server(args.server).0];
    files::refuse_existing(args, &folder, &known_names)?;
    let named = site_of_start(&settings.session, &typed)?;
    let state = settings.session.state_of(&named.site);
    let survey = if state.is_file() {
        let store = Store::open_to_read(&state)?.context("the state is gone")?;
        of_crawl(&store, &named.site, &typed)?
    } else {
        let (clock, progress) = (dependencies::clock(environment), CheckProgress::default());
        let context = RequestContext::new(
            config.clone(),
            clock,
            &settings.session.state,
            progress.clone(),
        );
        let of_survey = config.clone();
        let looked = with_network(context, output, move |network| {
            let downloader = (network.connect)(&typed.origin())?;
            Ok(look(&typed, &of_survey, &downloader, &network, &progress)?)
        });
        match looked? {
            Ok(survey) => survey,
            Err(stopped) => return Ok(stopped),
        }
    };
    if !args.json {
        print_view(&survey.view(), output);
    }
    let start = UrlKey::from_normalised(&survey.start)?;
    let name = settle_so_far(&start, &[], ScopeWidth::Directory).name();
    let mut answers = Answers {
        public_url: start.to_directory(),
        contact: contact_of(&config.fetch.user_agent).to_owned(),
        // Where arpent crawl in this folder writes without settings.
        output: folder.join("sitemaps").join(name),
        time: jiff::civil::time(2, 30, 0, 0),
        start,
    };
    if !args.yes && io::stdin().is_terminal() && io::stderr().is_terminal() {
        answers = match ask_user(answers, output)? {
            Ok(answers) => answers,
            Err(stopped) => return Ok(stopped),
        };
    }
    let is_state_typed = args.settings.0.has("state");
    let plan = Plan {
        args,
        folder: &folder,
        survey: &survey,
        state: is_state_typed.then_some(&*settings.session.state),
        answers: &answers,
        config: &config,
        environment,
    };
    let written = plan.write()?;
    if args.json {
        output.data_json(&report::json(&plan, &written)?);
    } else {
        report::steps(&plan, &written, output);
    }
    Ok(ExitCode::Success)
}

/// The contact in a User-Agent of arpent; empty: none.
fn contact_of(user_agent: &str) -> &str {
    let contact = user_agent.split_once(" (+");
    let contact = contact.and_then(|(_, contact)| contact.strip_suffix(')'));
    contact.unwrap_or_default()
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

/// Asks the user; `Err` when a signal stopped that.
fn ask_user(defaults: Answers, output: &Output) -> failure::Result<Result<Answers, ExitCode>> {
    runtime::run(Threads::One, async {
        let mut signals = Signals::listen().context("failed to listen to signals")?;
        let output = output.clone();
        let asking = tokio::task::spawn_blocking(move || {
            questions::ask_all(&defaults, &mut io::stdin().lock(), &output)
        });
        tokio::select! {
            answers = asking => answers.map_err(Panicked::from_join)?.map(Ok),
            // Lost is the answer to the question: its thread waits for a line until the process ends.
            signal = signals.next() => Ok(Err(signal.into())),
        }
    })
}
