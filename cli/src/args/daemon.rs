//! Arguments of `arpent daemon`.

use serde::Serialize;

use super::state::StateArgs;

/// Arguments of `arpent daemon`.
#[derive(Debug, Clone, Default, Serialize, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct DaemonArgs {
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) state: StateArgs,

    /// Answer Prometheus and health checks at this address, such as 127.0.0.1:9464
    #[arg(long, value_name = "ADDR")]
    metrics: Option<String>,

    /// Crawl the sites of the catalogue at this URL, together with other daemons
    #[arg(long, value_name = "URL")]
    catalogue: Option<String>,

    /// URL of the bucket for the states of the sites of a catalogue
    #[arg(long, value_name = "URL")]
    storage: Option<String>,

    /// Time after which another daemon takes over the sites of one that does not answer [default: 60s]
    #[arg(long, value_name = "T", hide_short_help = true)]
    lease_time: Option<String>,

    /// Time between two copies of the state of a site of a catalogue [default: 5m]
    #[arg(long, value_name = "T", hide_short_help = true)]
    checkpoint_interval: Option<String>,

    /// Format of the log on stderr [default: text]
    #[arg(long, value_name = "json|text")]
    log_format: Option<String>,

    /// Print only errors on stderr
    #[arg(short, long)]
    quiet: bool,

    /// Print more on stderr; -vv and -vvv print still more
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

/// Shown above the options by `--help`.
pub(super) const DAEMON_HELP: &str = "\
Crawl sites by their schedules, until a signal comes

The daemon crawls each site of the settings that has a schedule, as arpent crawl does. It crawls several sites at a time, and never \
two on one host. Hooks are called as after a crawl.

  - After missed crawls the daemon starts one crawl.
  - If a crawl is due while the one before it runs, it is skipped.

The log is on stderr, with a line at the end of each crawl. --log-format json prints one object per line.

SIGHUP makes the daemon read the settings again; if they are wrong, it keeps the current settings. SIGTERM and SIGINT stop it; after \
the next start it continues the crawls that it interrupted. The daemon notifies systemd of its state (sd_notify). arpent status \
shows the sites. With --metrics the daemon has /metrics in the OpenMetrics format, /healthz and /readyz.

With --catalogue the daemon crawls the sites of a catalogue, which arpent catalogue fills, and not those of the settings. Daemons on \
other machines share the work. --storage names the bucket for the states, the same for all of them.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent daemon
  arpent daemon -c /etc/arpent/arpent.toml --log-format json
  arpent daemon --catalogue postgres://arpent@db.example.com/arpent --storage s3://arpent-states";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  2    wrong usage or settings, or no site has a schedule
  4    the catalogue cannot be reached
  6    busy: another daemon uses the state
  70   internal error
  130  stopped by SIGINT (143: SIGTERM)";
