//! From the start of the process to its exit code: reads the outside world once (arguments,
//! environment), runs the job, reports what went wrong.

mod audit;
mod build;
mod catalogue;
mod check;
mod crawl;
mod daemon;
mod dependencies;
mod diff;
mod findings;
mod forget;
mod generate;
mod init;
mod names;
mod notify;
#[cfg(feature = "page")]
mod page;
mod pause;
mod publish;
mod report;
mod requesting;
mod runtime;
mod status;
mod why;

use crawler::summary::Summary;

use crate::{
    args::{ColorChoice, Command},
    exit_code::ExitCode,
    failure::Failure,
    output::Output,
    print::print_view,
    settings::{Environment, Settings, with_scheme},
};

/// The program was built without the page.
const PAGE_IS_MISSING: &str = "this program was built without page; use a package of arpent, or build arpent with --features page";

/// The whole program.
pub(crate) fn run() -> ExitCode {
    let environment = environment();
    let args = crate::args::parse();
    let color = args
        .as_ref()
        .map_or_else(|_| ColorChoice::Auto, |args| args.color);
    let output = Output::new(&environment, color);
    let args = match args {
        Ok(args) => args,
        Err(mut error) => {
            let instead = crate::args::take_tip(&mut error);
            output.usage(&error);
            if let Some(instead) = instead {
                output.info(&format!("arpent crawl has {instead}"));
            }
            if let Some(url) = std::env::args_os()
                .nth(1)
                .and_then(|first| url_for_a_job(first.to_str()?))
            {
                output.info(&format!("to crawl a site: arpent crawl {url}"));
            }
            return if error.use_stderr() {
                ExitCode::Usage
            } else {
                ExitCode::Success
            };
        }
    };
    let result = match args.command {
        Command::Init(args) => init::run(&args, &environment, &output),
        Command::Crawl(args) => crawl::run(&args, &environment, &output),
        Command::Build(args) => build::run(&args, &environment, &output),
        Command::Check(args) => check::run(&args, &environment, &output),
        Command::Audit(args) => audit::run(&args, &environment, &output),
        Command::Diff(args) => diff::run(&args, &environment, &output),
        Command::Notify(args) => notify::run(&args, &environment, &output),
        Command::Daemon(args) => daemon::run(&args, &environment, &output),
        #[cfg(feature = "page")]
        Command::Page(args) => page::run(&args, &environment, &output),
        #[cfg(not(feature = "page"))]
        Command::Page(_) => Err(Failure::from(crate::failure::Misuse(
            PAGE_IS_MISSING.to_owned(),
        ))),
        Command::Pause(args) => pause::pause(&args, &environment, &output),
        Command::Resume(args) => pause::resume(&args, &environment, &output),
        Command::Catalogue(args) => catalogue::run(&args, &environment, &output),
        Command::Status(args) => status::run(&args, &environment, &output),
        Command::Report(args) => report::run(&args, &environment, &output),
        Command::Why(args) => why::run(&args, &environment, &output),
        Command::Publish(args) => publish::run(&args, &environment, &output),
        Command::Forget(args) => forget::run(&args, &environment, &output),
        Command::Generate(args) => generate::run(&args, &output),
    };
    let code = result.unwrap_or_else(|failure| {
        report_error(&failure, &output);
        failure.code()
    });
    match output.take_lost_data() {
        Some(error) => {
            output.error(&format!("failed to print to stdout: {error}"));
            code.worse(ExitCode::Partial)
        }
        None => code,
    }
}

/// The URL that was typed in place of a command, if it looks like a URL.
fn url_for_a_job(first: &str) -> Option<String> {
    let url = with_scheme(first);
    let is_url = url.starts_with("http://") || url.starts_with("https://");
    is_url.then(|| url.into_owned())
}

/// Reports a failure: the error and its causes on one line, problems of the settings on a line each.
fn report_error(failure: &Failure, output: &Output) {
    output.messenger().failure(failure);
}

/// How the summaries of sessions are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SummaryForm {
    Text,
    Json,
    /// Only errors are printed.
    None,
}

impl SummaryForm {
    /// The form by the settings; what a text has is not printed as a message before.
    fn of(settings: &Settings, output: &Output) -> Self {
        match (settings.json, settings.quiet) {
            (true, _) => Self::Json,
            (false, true) => Self::None,
            (false, false) => {
                output.expect_summary();
                Self::Text
            }
        }
    }

    /// Prints the summary at the end.
    fn print(self, summary: &Summary, output: &Output) {
        match self {
            Self::Json => output.data_json(&summary.json()),
            Self::Text => print_view(&summary.view(), output),
            Self::None => {}
        }
    }
}

/// The variables whose names are text; a value that is not is read with replacement characters.
fn environment() -> Environment {
    let variables = std::env::vars_os();
    variables
        .filter_map(|(name, value)| {
            Some((
                name.into_string().ok()?,
                value.to_string_lossy().into_owned(),
            ))
        })
        .collect()
}
