//! The command line: its names, help and shape, nothing else. Values stay text here; [`crate::settings`] reads and checks them
//! once, for flags, variables and files alike.
//!
//! Each command has a file for its own options; those that are settings come from the table of settings
//! ([`options`]).

mod audit;
mod build;
mod catalogue;
mod check;
mod crawl;
mod daemon;
mod diff;
mod forget;
mod generate;
mod init;
mod notify;
mod page;
mod pause;
mod publish;
mod report;
mod status;
mod why;

mod findings;
mod options;

use std::fmt::Write as _;

use clap::{
    CommandFactory as _, FromArgMatches as _, Parser, Subcommand,
    error::{ContextKind, ContextValue},
};

pub(crate) use self::audit::AuditArgs;
pub(crate) use self::build::BuildArgs;
pub(crate) use self::catalogue::CatalogueArgs;
#[cfg(feature = "catalogue")]
pub(crate) use self::catalogue::{AddArgs, CatalogueAction, StateWord};
pub(crate) use self::check::CheckArgs;
pub(crate) use self::crawl::CrawlArgs;
pub(crate) use self::daemon::DaemonArgs;
pub(crate) use self::diff::DiffArgs;
pub(crate) use self::findings::FindingArgs;
pub(crate) use self::forget::ForgetArgs;
pub(crate) use self::generate::{GenerateArgs, Generated, JsonResult};
pub(crate) use self::init::{InitArgs, Scheduler, Server};
pub(crate) use self::notify::NotifyArgs;
pub(crate) use self::page::PageArgs;
pub(crate) use self::pause::{PauseArgs, ResumeArgs};
pub(crate) use self::publish::PublishArgs;
pub(crate) use self::report::ReportArgs;
pub(crate) use self::status::StatusArgs;
pub(crate) use self::why::WhyArgs;

/// Crawls a website politely and publishes its XML sitemaps.
#[derive(Debug, Parser)]
#[command(
    name = "arpent",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// Use colours on terminals, always or never
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "auto|always|never",
        hide_default_value = true,
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(crate) color: ColorChoice,

    /// The job to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When the output has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, or with `CLICOLOR_FORCE`, and not with `NO_COLOR` (no-color.org).
    #[default]
    Auto,
    /// Also in a file or a pipe.
    Always,
    /// Nowhere.
    Never,
}

/// The jobs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Look at a site and write settings to crawl it
    #[command(long_about = init::INIT_HELP)]
    Init(Box<InitArgs>),
    /// Crawl each site and publish its sitemaps
    #[command(long_about = crawl::CRAWL_HELP)]
    Crawl(Box<CrawlArgs>),
    /// Publish sitemaps from lists of URLs or from folders of HTML files
    #[command(long_about = build::BUILD_HELP)]
    Build(Box<BuildArgs>),
    /// Check sitemaps, indexes, feeds and URL lists: files, folders or URLs
    #[command(long_about = check::CHECK_HELP)]
    Check(Box<CheckArgs>),
    /// Compare a crawl with the site's sitemaps, feeds and access logs
    #[command(long_about = audit::AUDIT_HELP)]
    Audit(Box<AuditArgs>),
    /// Compare two sets of sitemaps
    #[command(long_about = diff::DIFF_HELP)]
    Diff(Box<DiffArgs>),
    /// Notify search engines of changes (IndexNow, ping), and look for the lines of robots.txt
    #[command(long_about = notify::NOTIFY_HELP)]
    Notify(Box<NotifyArgs>),
    /// Crawl sites by their schedules, until a signal comes
    #[command(long_about = daemon::DAEMON_HELP)]
    Daemon(Box<DaemonArgs>),
    /// Show all sites in a browser
    #[command(long_about = page::PAGE_HELP)]
    Page(Box<PageArgs>),
    /// Leave sites alone until arpent resume
    #[command(long_about = pause::PAUSE_HELP)]
    Pause(Box<PauseArgs>),
    /// Resume sites that are paused
    #[command(long_about = pause::RESUME_HELP)]
    Resume(Box<ResumeArgs>),
    /// Manage the sites that several daemons share
    #[command(long_about = catalogue::CATALOGUE_HELP)]
    Catalogue(CatalogueArgs),
    /// Show how the last crawl of each site ended, and when the next begins
    #[command(long_about = status::STATUS_HELP)]
    Status(Box<StatusArgs>),
    /// Report what a crawl found: reasons, broken links, closed patterns
    #[command(long_about = report::REPORT_HELP)]
    Report(Box<ReportArgs>),
    /// Show why a URL is listed or not
    #[command(long_about = why::WHY_HELP)]
    Why(Box<WhyArgs>),
    /// Publish the last crawl again, or restore earlier sitemaps
    #[command(long_about = publish::PUBLISH_HELP)]
    Publish(Box<PublishArgs>),
    /// Remove the stored data of a site
    #[command(long_about = forget::FORGET_HELP)]
    Forget(Box<ForgetArgs>),
    /// Generate the settings file, man pages, shell completions or JSON schemas
    Generate(GenerateArgs),
}

/// Shown below the options of `arpent --help`.
const EXAMPLES: &str = "\
Examples:
  arpent crawl https://www.example.com/
  arpent init https://www.example.com/
  arpent why https://www.example.com/about

More about a command: arpent crawl -h, arpent crawl --help";

/// The commands by what they are for, as `arpent --help` lists them.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Publish sitemaps",
        &["init", "crawl", "build", "publish", "notify"],
    ),
    ("Look at a crawl", &["status", "report", "why"]),
    ("Check sitemaps", &["check", "audit", "diff"]),
    (
        "Administer",
        &[
            "daemon",
            "page",
            "pause",
            "resume",
            "catalogue",
            "forget",
            "generate",
        ],
    ),
];

/// Options of other programs, and what to use instead.
const TIPS: [(&str, &str); 12] = [
    (
        "--auth",
        "ARPENT_BASIC_AUTH=USER:PASSWORD in the environment",
    ),
    (
        "--basic-auth",
        "ARPENT_BASIC_AUTH=USER:PASSWORD in the environment",
    ),
    (
        "--user",
        "ARPENT_BASIC_AUTH=USER:PASSWORD in the environment",
    ),
    (
        "--bearer-token",
        "ARPENT_BEARER_TOKEN=TOKEN in the environment",
    ),
    ("--cookie", "-H 'Cookie: NAME=VALUE'"),
    ("--depth", "--max-depth N"),
    ("--level", "--max-depth N"),
    ("--limit", "--max-pages N"),
    (
        "--insecure",
        "--ca-file FILE, with the certificate of the server",
    ),
    (
        "--no-check-certificate",
        "--ca-file FILE, with the certificate of the server",
    ),
    ("--threads", "--concurrency N"),
    ("--wait", "--delay T"),
];

/// What to use instead of an option that only other programs have; the error gets no other tip then.
pub(crate) fn take_tip(error: &mut clap::Error) -> Option<&'static str> {
    let ContextValue::String(typed) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    let (_, instead) = TIPS.iter().find(|(option, _)| option == typed)?;
    for tip in [ContextKind::SuggestedArg, ContextKind::Suggested] {
        error.remove(tip);
    }
    Some(instead)
}

/// Reads the command line.
///
/// # Errors
/// The command line is wrong, or asks for help or the version.
pub(crate) fn parse() -> Result<Args, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Args::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// The command line with its help: commands in groups, and the short help of `crawl` alone has options of requests.
pub(crate) fn command() -> clap::Command {
    let command = Args::command().mut_subcommands(|command| {
        let help = [command.get_after_help(), command.get_after_long_help()];
        let help: Vec<String> = help
            .into_iter()
            .flatten()
            .map(ToString::to_string)
            .collect();
        let is_crawl = command.get_name() == "crawl";
        command
            .after_long_help(help.join("\n\n"))
            .mut_args(|option| {
                let is_of_requests = option.get_help_heading() == Some("Requests");
                let is_hidden = option.is_hide_short_help_set() || is_of_requests && !is_crawl;
                option.hide_short_help(is_hidden)
            })
    });
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        _ = write!(template, "\n{title}:\n");
        for name in names {
            let about = command
                .find_subcommand(name)
                .and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            _ = writeln!(template, "  {name:<10}{about}");
        }
    }
    template += "\nOptions:\n{options}{after-help}";
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group() {
        let command = command();
        let mut listed: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).collect();
        listed.sort_unstable();
        let mut names: Vec<_> = command
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        names.sort_unstable();
        assert!(listed.into_iter().eq(&names));
    }

    #[test]
    fn the_help_has_no_marks_of_comments() {
        let mut command = command();
        for command in command.get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            assert!(!help.contains(" ///"), "{help}");
        }
    }

    #[test]
    fn examples_of_the_help_are_command_lines() {
        let command = command();
        let mut count = 0;
        for command in std::iter::once(&command).chain(command.get_subcommands()) {
            let help = command.get_after_help().unwrap().to_string();
            for line in help.lines().filter(|line| line.starts_with("  ")) {
                let words = line.split_whitespace().map(|word| word.trim_matches('\''));
                Args::try_parse_from(words).unwrap();
                assert!(
                    line.len() <= 78,
                    "breaks on a terminal of 80 columns: {line}"
                );
                count += 1;
            }
        }
        assert!(count > 25, "{count}");
    }
}
