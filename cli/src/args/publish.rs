//! Arguments of `arpent publish`.

use super::options::SettingOptions;
use crate::settings::options::{PUBLISH, Typed};

/// Arguments of `arpent publish`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct PublishArgs {
    /// URLs of crawled sites
    #[arg(value_name = "SITE")]
    urls: Vec<String>,

    /// Restore the sitemaps before the last publish, or N publishes ago
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) rollback: Option<u32>,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<PUBLISH>,
}

impl PublishArgs {
    /// What was typed.
    pub(crate) fn typed(&self) -> Typed {
        self.settings.0.with_all("urls", &self.urls)
    }
}

/// Shown above the options by `--help`.
pub(super) const PUBLISH_HELP: &str = "\
Publish the result of the last crawl again, without crawling

arpent judges the stored pages by the current settings and the last robots.txt, and publishes them as after a crawl. A change of \
the settings that needs new requests has no effect until the next crawl. --force publishes a set that the guard refused.

--rollback restores an earlier set byte for byte. arpent archives the last three published sets beside the state. A rollback \
deletes what the last crawls decided; unchanged pages keep their lastmod. The next crawl finds the changes of the site again.

Hooks and engines are notified as after a crawl. After a rollback, IndexNow is notified of the URLs that it adds \
or removes. A dry run changes nothing and sends no notification.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent publish https://www.example.com/
  arpent publish https://www.example.com/ --force
  arpent publish https://www.example.com/ --rollback";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    published, or nothing changed
  2    wrong usage or settings, or there is nothing to publish or restore
  3    published, but partial: some URLs failed or were not reached
  4    refused to publish, the published sitemaps stay
  6    busy: a session uses the state or the output
  70   internal error
  130  stopped by SIGINT (143: SIGTERM)";
