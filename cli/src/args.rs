//! The command line: its names, help and shape, nothing else. Values stay text here; [`crate::settings`] reads and checks them
//! once, for flags, variables and files alike.
//!
//! An option that is a setting has the setting's name, by which [`crate::settings::typed`] finds it.
//!
//! Each command has a file for its options. Options that several commands have are in a group, which is part of their structs
//! (`#[command(flatten)]`).

mod audit;
mod build;
mod check;
mod crawl;
mod daemon;
mod diff;
mod forget;
mod generate;
mod init;
mod notify;
mod publish;
mod report;
mod status;
mod why;

// What several commands have in common.
mod announcing;
mod entries;
mod findings;
mod place;
mod reporting;
mod requests;
mod state;

use clap::{Parser, Subcommand};

pub(crate) use self::audit::AuditArgs;
pub(crate) use self::build::BuildArgs;
pub(crate) use self::check::CheckArgs;
pub(crate) use self::crawl::CrawlArgs;
pub(crate) use self::daemon::DaemonArgs;
pub(crate) use self::diff::DiffArgs;
pub(crate) use self::findings::FindingArgs;
pub(crate) use self::forget::ForgetArgs;
pub(crate) use self::generate::{GenerateArgs, Generated};
pub(crate) use self::init::{InitArgs, Scheduler, Server};
pub(crate) use self::notify::NotifyArgs;
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
    max_term_width = 100
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
    /// Publish sitemaps from lists of URLs or folders of HTML, without a request
    #[command(long_about = build::BUILD_HELP)]
    Build(Box<BuildArgs>),
    /// Check sitemaps, indexes, feeds and URL lists: files, folders or URLs
    #[command(long_about = check::CHECK_HELP)]
    Check(Box<CheckArgs>),
    /// Compare the crawl of a site with its sitemaps, feeds and access logs
    #[command(long_about = audit::AUDIT_HELP)]
    Audit(Box<AuditArgs>),
    /// Compare two published sets: folders, sitemaps, URLs or archived sets
    #[command(long_about = diff::DIFF_HELP)]
    Diff(Box<DiffArgs>),
    /// Notify search engines of the published set: IndexNow, robots.txt, ping
    #[command(long_about = notify::NOTIFY_HELP)]
    Notify(Box<NotifyArgs>),
    /// Crawl sites by their schedules, until a signal comes
    #[command(long_about = daemon::DAEMON_HELP)]
    Daemon(Box<DaemonArgs>),
    /// Show how the last session of each site ended, and when the next one begins
    #[command(long_about = status::STATUS_HELP)]
    Status(Box<StatusArgs>),
    /// Report what the crawls of a site found: reasons, broken links, copies, closed patterns
    #[command(long_about = report::REPORT_HELP)]
    Report(Box<ReportArgs>),
    /// Show why a URL is listed or not: how it was found, what it answered, which rule decided
    #[command(long_about = why::WHY_HELP)]
    Why(Box<WhyArgs>),
    /// Publish the result of the last crawl again, or restore earlier sitemaps
    #[command(long_about = publish::PUBLISH_HELP)]
    Publish(Box<PublishArgs>),
    /// Remove all data of a site: its state, its names and its line in status
    #[command(long_about = forget::FORGET_HELP)]
    Forget(Box<ForgetArgs>),
    /// Generate man pages, or the completions of a shell
    Generate(GenerateArgs),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::settings::{table::SETTINGS, typed};

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    /// All commands, each with those of its options that are its own and no settings.
    const COMMANDS: [(&str, &[&str]); 14] = [
        (
            "init",
            &[
                "url", "output", "server", "schedule", "yes", "force", "json", "config",
            ],
        ),
        ("crawl", &["config"]),
        ("build", &["config"]),
        (
            "check",
            &[
                "paths", "base_url", "robots", "format", "json", "fail_on", "baseline", "repeats",
                "explain", "pages", "config",
            ],
        ),
        (
            "audit",
            &[
                "site", "sitemap", "log", "format", "json", "fail_on", "baseline", "repeats",
                "config",
            ],
        ),
        ("diff", &["first", "second", "json", "config"]),
        ("notify", &["list", "submit_all", "json", "config"]),
        ("daemon", &["config"]),
        ("status", &["config", "json", "max_age"]),
        (
            "report",
            &["site", "html", "csv", "ndjson", "json", "schema", "config"],
        ),
        ("why", &["url", "site", "live", "json", "config"]),
        ("publish", &["rollback", "config"]),
        ("forget", &["json", "config"]),
        ("generate", &[]),
    ];

    #[test]
    fn every_command_is_looked_at() {
        let command = Args::command();
        let commands: BTreeSet<_> = command
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        assert_eq!(commands, COMMANDS.map(|(name, _)| name).into());
        for (name, own) in COMMANDS {
            let command = command.find_subcommand(name).unwrap();
            let options: BTreeSet<_> = command
                .get_arguments()
                .map(|option| option.get_id().as_str())
                .collect();
            for option in own {
                assert!(options.contains(option), "{name} has no --{option}");
            }
        }
    }

    #[test]
    fn every_option_is_a_setting_of_the_same_name() {
        let command = Args::command();
        let names: BTreeSet<_> = SETTINGS.iter().map(|setting| setting.name).collect();
        for (name, own) in COMMANDS {
            let command = command.find_subcommand(name).unwrap();
            for option in command
                .get_arguments()
                .map(|option| option.get_id().as_str())
            {
                assert!(
                    own.contains(&option) || names.contains(option),
                    "{name}: --{option} is not a setting"
                );
            }
        }
    }

    #[test]
    fn every_typed_option_arrives_under_its_name() {
        let command = Args::command();
        for (command_name, own) in COMMANDS {
            let command = command.find_subcommand(command_name).unwrap();
            for option in command.get_arguments() {
                let name = option.get_id().as_str();
                if own.contains(&name) {
                    continue;
                }
                let mut line = vec!["arpent".to_owned(), command_name.to_owned()];
                match option.get_action() {
                    _ if option.is_positional() => line.push("x".to_owned()),
                    clap::ArgAction::Set | clap::ArgAction::Append => {
                        line.extend([format!("--{}", name.replace('_', "-")), "x".to_owned()]);
                    }
                    _ => line.push(format!("--{}", name.replace('_', "-"))),
                }
                // These do not start without.
                match command_name {
                    "check" => line.push("file".to_owned()),
                    "init" | "why" | "report" | "audit" => line.push("url".to_owned()),
                    "diff" => line.extend(["a", "b"].map(str::to_owned)),
                    "forget" if !option.is_positional() => line.push("site".to_owned()),
                    _ => {}
                }
                let typed = match Args::try_parse_from(line).unwrap().command {
                    Command::Init(args) => typed(&args),
                    Command::Crawl(args) => typed(&args),
                    Command::Build(args) => typed(&args),
                    Command::Check(args) => typed(&args),
                    Command::Audit(args) => typed(&args),
                    Command::Diff(args) => typed(&args),
                    Command::Report(args) => typed(&args),
                    Command::Why(args) => typed(&args),
                    Command::Notify(args) => typed(&args),
                    Command::Daemon(args) => typed(&args),
                    Command::Status(args) => typed(&args),
                    Command::Publish(args) => typed(&args),
                    Command::Forget(args) => typed(&args),
                    Command::Generate(args) => panic!("{args:?} has no settings"),
                };
                let names = typed.into_iter().map(|(name, _)| name);
                let names: Vec<_> = names.filter(|own| *own == name || *own != "urls").collect();
                assert_eq!(names, [name], "{command_name}");
            }
        }
    }
}
