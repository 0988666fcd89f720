//! Arguments of `arpent init`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::options::SettingOptions;
use crate::settings::options::INIT;

/// Arguments of `arpent init`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct InitArgs {
    /// The site: the URL where its crawl begins
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    /// Write the files into this folder [default: the current one]
    #[arg(short = 'o', long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,

    /// Write the configuration of this web server
    #[arg(long, value_enum, default_value_t = Server::Nginx)]
    pub(crate) server: Server,

    /// Write a daily schedule: a timer of systemd, or a line of a crontab
    #[arg(long, value_enum, default_value_t = Scheduler::Systemd)]
    pub(crate) schedule: Scheduler,

    /// Ask nothing: take the defaults. So does a program whose standard input or error is no terminal
    #[arg(short = 'y', long)]
    pub(crate) yes: bool,

    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,

    /// Print one JSON object: what the site answered, and the files that were written
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<INIT>,
}

/// A web server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Server {
    /// nginx.
    Nginx,
    /// Apache httpd.
    Apache,
}

/// What starts the crawls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheduler {
    /// A timer of systemd.
    Systemd,
    /// A crontab.
    Cron,
}

/// Shown above the options by `--help`.
pub(super) const INIT_HELP: &str = "\
Look at a site and write settings to crawl it: arpent.toml, a part of the web server's configuration, a schedule

If the site was crawled before, arpent reads the state of the crawl. Otherwise it asks what every crawl asks first: robots.txt, and \
the start URL with its redirects. It reports logins, cookies, start pages that only scripts fill, and refusals.

On a terminal arpent asks for the start URL, a contact, the folder of the sitemaps, the URL where they are served, and the time of \
the daily crawl. A file that exists is never replaced without --force.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent init https://www.example.com/
  arpent init https://www.example.com/ --server apache --schedule cron";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    the files are written
  2    wrong usage or settings
  4    a file exists, or cannot be written
  5    the site cannot be crawled: it does not answer, redirects elsewhere, or robots.txt disallows it
  130  stopped by SIGINT (143: SIGTERM)";
