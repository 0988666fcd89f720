//! Arguments of `arpent daemon`.

use std::path::PathBuf;

use serde::Serialize;

/// Arguments of `arpent daemon`.
#[derive(Debug, Clone, Default, Serialize, clap::Args)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct DaemonArgs {
    /// Read settings from this TOML file: the sites, and the schedule of each
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    /// Folder of the states [default: arpent/ in the platform's state directory]
    #[arg(long, value_name = "DIR")]
    state: Option<String>,

    /// Format of the messages on stderr [default: text]
    #[arg(long, value_name = "json|text")]
    log_format: Option<String>,

    /// Print only errors on stderr
    #[arg(short, long)]
    quiet: bool,

    /// Print more on stderr; twice and three times for even more
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

/// Shown above the options by `--help`.
pub(super) const DAEMON_HELP: &str = "\
Crawl sites by their schedules, until a signal comes

Each site of the settings that has a schedule is crawled by it, as arpent crawl would: several at a time, never two on \
one host. A missed crawl is made up once; a crawl that would begin during the one before it is skipped. \
The log is on stderr, with a line for the end of each crawl (--log-format json: an object per line); hooks are \
called as after a crawl.

SIGHUP reads the settings again; if they are wrong, the current ones stay. SIGTERM and SIGINT stop: crawls that are under \
way go on where they stopped when the daemon starts again. systemd is notified of the state (sd_notify). \
arpent status shows the sites.";

/// Shown below the options.
const EXIT_CODES: &str = "\
Exit codes:
  2    wrong usage or settings, or no site has a schedule
  6    busy: another daemon holds the state
  70   internal error
  130  stopped by SIGINT (143: SIGTERM)";
