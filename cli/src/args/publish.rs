//! What was typed after `arpent publish`.

use std::path::PathBuf;

use super::{Typed, entries::EntryArgs, telling::TellingArgs, typed};

/// What was typed after `arpent publish`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct PublishArgs {
    /// Sites that were crawled, as they were given to arpent crawl
    #[arg(value_name = "URL")]
    urls: Vec<String>,

    /// Restore the sitemaps that stood before the last publish, or N publishes ago
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) rollback: Option<u32>,

    /// Read settings from this TOML file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Where the sitemaps are written [default: sitemaps/SITE]; with several sites, DIR/SITE each
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    output: Option<String>,

    /// Where the state of the crawl is [default: arpent/ in the platform's state directory]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    state: Option<String>,

    /// The URL of the directory where the output will be served [default: the scope's directory]
    #[arg(long, value_name = "URL", help_heading = "Output")]
    public_url: Option<String>,

    /// Write the site as what is at this URL
    #[arg(id = "as", long = "as", value_name = "URL", help_heading = "Output")]
    written_as: Option<String>,

    #[command(flatten)]
    entries: EntryArgs,

    /// List only URLs that match (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Scope")]
    include: Vec<String>,

    /// Do not list URLs that match (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Scope")]
    exclude: Vec<String>,

    /// For your own site only: ignore its noindex or canonical links (comma-separated, repeatable)
    #[arg(long, value_name = "noindex,canonical", help_heading = "Scope")]
    ignore: Vec<String>,

    #[command(flatten)]
    telling: TellingArgs,
}

/// Shown above the options by `--help`.
pub(super) const PUBLISH_HELP: &str = "\
Publish again what the last crawl found, without a request

What is known of the pages is judged under the settings of now, and published as after a crawl. What would have to be \
fetched for that stays as it is. With --force a set is published that the guard refused.

The last three published sets are kept beside the state; --rollback restores the one before the last.";

/// Shown below the options.
const EXIT_CODES: &str = "\
Exit codes:
  0    published, or nothing changed
  2    wrong usage or settings, or there is nothing to publish or restore
  3    published, but partial: some URLs failed or were not reached
  4    refused to publish, the old sitemaps stand
  6    busy: a run holds the state or the output
  70   internal error";

impl PublishArgs {
    /// The settings that were typed, by setting name.
    pub(crate) fn typed(&self) -> Typed {
        let own = typed(
            [
                ("urls", &self.urls),
                ("include", &self.include),
                ("exclude", &self.exclude),
                ("ignore", &self.ignore),
            ],
            [
                ("output", &self.output),
                ("state", &self.state),
                ("public_url", &self.public_url),
                ("as", &self.written_as),
            ],
            [],
        );
        [own, self.entries.typed(), self.telling.typed()].concat()
    }
}
