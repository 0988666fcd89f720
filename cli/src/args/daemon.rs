//! Arguments of `arpent daemon`.

use super::options::SettingOptions;
use crate::settings::options::DAEMON;

/// Arguments of `arpent daemon`.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct DaemonArgs {
    #[command(flatten)]
    pub(crate) settings: SettingOptions<DAEMON>,
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
  arpent daemon --catalogue postgres://db.lan/arpent --storage s3://states";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  2    wrong usage or settings, or no site has a schedule
  4    the catalogue cannot be reached
  6    busy: another daemon uses the state
  70   internal error
  130  stopped by SIGINT (143: SIGTERM)";
