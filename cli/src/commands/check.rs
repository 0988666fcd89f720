//! `arpent check`: reads the arguments, prints the findings ([`printer`]), and maps them to an exit code. What is read, and what is
//! wrong with it, is decided by [`crawler::check`].

mod printer;
mod served;

use std::{io, path::Path};

use crawler::{
    check::{
        Check, CheckOutcome, CheckProgress, Live, MAX_SAMPLED_PAGES, Options, Pages, read_robots,
    },
    client::DownloadError,
};
use sitemap_core::{Loc, read::Rule, validate::RuleText};

use self::printer::Printer;
use super::{
    crawl::{begin_log, read_settings_file},
    dependencies,
    requesting::{RequestContext, with_network},
};
use crate::{
    args::CheckArgs,
    exit_code::ExitCode,
    failure::{self, Context as _, Failure, Misuse},
    output::{Output, Tone},
    settings::{Environment, Settings},
};

/// Runs the command.
pub(crate) fn run(
    args: &CheckArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    if let Some(rule) = &args.explain {
        return explain(rule, output);
    }
    if args.settings.0.has("quiet") {
        output.be_quiet();
    }
    let inputs = args.paths.iter().filter(|path| is_input(path));
    if inputs.count() > 1 {
        return Err(misuse("standard input (-) can be read only once"));
    }
    let urls: Vec<String> = args.paths.iter().filter_map(|path| url_of(path)).collect();
    if args.served {
        return served::run(args, &urls, environment, output);
    }
    let options = options(args, dependencies::clock(environment).now())?;
    let pages = pages(args.pages.as_deref())?;
    if !urls.is_empty() {
        return live(args, urls, options, pages, environment, output);
    }
    if args.pages.is_some() {
        return Err(misuse(
            "--pages: arpent requests only pages of sitemaps that are given as URLs; expected the URL of a sitemap or a site",
        ));
    }
    let mut printer = Printer::new(args, output)?;
    let emit = &mut |event: crawler::check::CheckEvent<'_>| printer.event(&event);
    let mut check = Check::new(&options, emit);
    for path in &args.paths {
        check_path(&mut check, path);
    }
    let outcome = check.finish();
    Ok(printer.finish(&outcome))
}

fn misuse(message: impl Into<String>) -> Failure {
    Misuse(message.into()).into()
}

fn is_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Checks what was typed as a file or a folder.
fn check_path(check: &mut Check<'_>, path: &Path) {
    if is_input(path) {
        check.input(io::stdin().lock());
    } else {
        check.path(path);
    }
}

/// The URL that was typed in the place of a path.
pub(super) fn url_of(path: &Path) -> Option<String> {
    let typed = path.to_str()?;
    let scheme = typed.split_once("://")?.0;
    ["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
        .then(|| typed.to_owned())
}

/// Options of a check from the arguments.
fn options(args: &CheckArgs, now: jiff::Timestamp) -> failure::Result<Options> {
    let at = args.base_url.as_deref().map(|typed| {
        Loc::parse(typed).map_err(|error| misuse(format!("--base-url: {error}, found {typed:?}")))
    });
    let at = at.transpose()?;
    let files = args
        .paths
        .iter()
        .filter(|path| url_of(path).is_none() && !path.is_dir());
    if let Some(at) = &at
        && !at.path().ends_with('/')
        && files.count() > 1
    {
        return Err(misuse(format!(
            "--base-url: several files need the URL of a folder, with a / at its end, found {at}"
        )));
    }
    let robots = args.robots.iter().map(|typed| robots(typed));
    Ok(Options {
        now,
        max_repeats: args.findings.repeats,
        is_whole: matches!(&args.paths[..], [path] if path.is_dir()),
        at,
        robots: robots.collect::<Result<_, _>>()?,
        progress: CheckProgress::default(),
    })
}

/// The value of `--robots`: the URL of an origin, and the contents of its robots.txt.
fn robots(typed: &str) -> failure::Result<(Loc, Vec<u8>)> {
    let expected = || {
        misuse(format!(
            "--robots: expected https://HOST=FILE, found {typed:?}"
        ))
    };
    let (origin, file) = typed.split_once('=').ok_or_else(expected)?;
    let origin = Loc::parse(origin).map_err(|_| expected())?;
    let body = read_robots(Path::new(file))
        .map_err(|error| misuse(format!("--robots: cannot read {file}: {error}")))?;
    Ok((origin, body))
}

/// The value of `--pages`.
fn pages(typed: Option<&str>) -> failure::Result<Pages> {
    match typed {
        None => Ok(Pages::Some(0)),
        Some("all") => Ok(Pages::All),
        Some(typed) => match typed.parse() {
            Ok(number) if number <= MAX_SAMPLED_PAGES => Ok(Pages::Some(number)),
            Ok(_) | Err(_) => Err(misuse(format!(
                "--pages: expected a number up to {MAX_SAMPLED_PAGES}, or all, found {typed:?}"
            ))),
        },
    }
}

/// Runs a check that has URLs among its arguments.
fn live(
    args: &CheckArgs,
    urls: Vec<String>,
    options: Options,
    pages: Pages,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let settings = Settings::load_check(
        args.settings.0.clone(),
        urls,
        environment,
        read_settings_file,
    )?;
    begin_log(&settings, output);
    let (config, clock) = (
        settings.session.config.clone(),
        dependencies::clock(environment),
    );
    let progress = options.progress.clone();
    let context = RequestContext::new(config, clock, &settings.session.state, progress);
    let (args, of_work) = (args.clone(), output.clone());
    let checked = with_network(context, output, move |network| {
        let mut printer = Printer::new(&args, &of_work)?;
        let shutdown = network.shutdown.clone();
        let emit = &mut |event: crawler::check::CheckEvent<'_>| printer.event(&event);
        let mut live = Live::new(Check::new(&options, emit), network, pages);
        let mut code = ExitCode::Success;
        for path in &args.paths {
            if shutdown.is_stopping() {
                break;
            }
            let Some(typed) = url_of(path) else {
                check_path(live.files(), path);
                continue;
            };
            let start = settings
                .session
                .config
                .identity
                .parse(&typed)
                .context("the URL cannot be used")?;
            if let Err(error) = live.url(&start) {
                let error = Failure::from(error);
                of_work.error(&error.in_full());
                code = code.worse(error.code());
            }
        }
        let outcome = live.finish();
        match code.worse(printer.finish(&outcome)) {
            ExitCode::Interrupted => Err(DownloadError::Stopped.into()),
            code => Ok(code),
        }
    });
    Ok(checked?.unwrap_or_else(|stopped| stopped))
}

/// The exit code of a check, which `fails` by its findings.
fn code_of(outcome: &CheckOutcome, fails: bool) -> ExitCode {
    let codes = [
        (outcome.is_stopped, ExitCode::Interrupted),
        (outcome.has_unreadable, ExitCode::Usage),
        (outcome.has_unanswered, ExitCode::NotCrawled),
        (fails, ExitCode::Invalid),
    ];
    let codes = codes.into_iter().filter(|(is_so, _)| *is_so);
    codes.fold(ExitCode::Success, |worst, (_, code)| worst.worse(code))
}

/// Prints a rule as `RULES.md` has it.
fn explain(typed: &str, output: &Output) -> failure::Result<ExitCode> {
    let number = typed.strip_prefix(['R', 'r']).unwrap_or(typed).parse();
    let text = number.ok().and_then(|number| RuleText::of(Rule(number)));
    let Some(text) = text else {
        return Err(misuse(format!(
            "--explain: expected a rule from R1 to R80, found {typed:?}"
        )));
    };
    let rule = text.rule.to_string();
    output.data_painted(&[
        (Tone::Strong, &rule),
        (Tone::Plain, ": "),
        (Tone::Plain, &text.title),
    ]);
    output.data("");
    text.section.lines().for_each(|line| output.data(line));
    Ok(ExitCode::Success)
}
