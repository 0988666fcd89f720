//! Arguments of `arpent pause` and `arpent resume`.

use super::options::SettingOptions;
use crate::settings::options::PAUSE;

/// Arguments of `arpent pause`.
#[derive(Debug, clap::Args)]
#[command(after_help = PAUSE_EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct PauseArgs {
    /// URLs of crawled sites, or their names in the settings file
    #[arg(value_name = "SITE", required = true)]
    pub(crate) sites: Vec<String>,

    /// Resume at this time, or after it: 2026-12-24, 2026-12-24T08:00, 3d
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,

    /// Why, for arpent status
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<PAUSE>,
}

/// Arguments of `arpent resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = RESUME_EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct ResumeArgs {
    /// URLs of crawled sites, or their names in the settings file
    #[arg(value_name = "SITE", required_unless_present = "set_aside")]
    pub(crate) sites: Vec<String>,

    /// Resume all sites of a catalogue that are set aside
    #[arg(long, conflicts_with = "sites")]
    pub(crate) set_aside: bool,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<PAUSE>,
}

/// Shown above the options by `--help`.
pub(super) const PAUSE_HELP: &str = "\
Leave sites alone until arpent resume

arpent daemon does not crawl, publish or look at a paused site. A session that is under way sends no further request, ends \
within a minute, and its progress stays. arpent crawl leaves the site out, unless its URL is typed.

The sites are those of the settings file of the daemon. With a catalogue, they are those of the catalogue, by their names, and all \
workers of the fleet obey.";

/// Shown above the options by `--help`.
pub(super) const RESUME_HELP: &str = "\
Resume sites that are paused

A crawl that was due meanwhile begins within a minute, and one that was stopped goes on. In a catalogue, arpent resume also resumes sites that are \
set aside.";

/// Shown below the options.
const PAUSE_EXAMPLES: &str = "\
Examples:
  arpent pause shop --until 2026-12-24 --reason \"another server\"";

/// Shown below the options.
const RESUME_EXAMPLES: &str = "\
Examples:
  arpent resume shop -c arpent.toml";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    done
  2    wrong usage or settings, or no such site
  4    the pauses cannot be written, or the catalogue cannot be reached";
