//! Arguments of `arpent crawl`.

use super::options::SettingOptions;
use crate::settings::options::{CRAWL, Typed};

/// Arguments of `arpent crawl`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = MORE_HELP)]
pub(crate) struct CrawlArgs {
    /// Sites to crawl: the directory of each URL, and everything below it
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<CRAWL>,
}

impl CrawlArgs {
    /// What was typed.
    pub(crate) fn typed(&self) -> Typed {
        self.settings.0.with_all("urls", &self.urls)
    }
}

/// Shown above the options by `--help`.
pub(super) const CRAWL_HELP: &str = "\
Crawl each site and publish its sitemaps

A site is the directory of its URL and everything below it. A URL without a scheme means https. arpent obeys robots.txt, \
limits the rate of its requests, and publishes the sitemaps when the crawl ends. Ctrl-C stops the crawl; the same command \
continues it.

Most options are also settings (--max-pages is max_pages) in the settings file and variables (ARPENT_MAX_PAGES). An option \
replaces the variable, the variable replaces the file. arpent generate settings prints all of them.

Without --config, arpent reads the first of these files that exists:
  - arpent.toml in the current folder
  - arpent/arpent.toml in the user's configuration folder
  - /etc/arpent/arpent.toml";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent crawl https://www.example.com/
  arpent crawl https://www.example.com/docs/ -o public/maps --max-pages 5000
  arpent crawl example.com -x '/private/*' --with images
  arpent crawl https://www.example.com/ --rate 2 --contact ops@example.com";

/// Shown below the examples by `--help`; [`crate::exit_code`] has the details.
const MORE_HELP: &str = "\
Globs:
  A glob that begins with http:// or https:// is compared with the whole URL.
  Any other glob is compared with path and query. The whole text has to match.
  * matches any characters (slashes too), ? one character, [?] a question mark.
  [a-z] matches one of these characters, {a,b} one of these texts.
    /private/*      everything below /private/
    *.pdf           every URL that ends with .pdf
    *[?]*           every URL with a query
  If several rules match, the first of these decides: exclude, follow-only, list-only, include.

Times have a unit: 500ms, 2s, 1m, 24h. A number without a unit is seconds.
arpent reads a password from the variable ARPENT_BASIC_AUTH (user:password) or the setting basic_auth.

Exit codes:
  0    published, or nothing changed
  2    wrong usage or settings
  3    published, but partial: some URLs failed or were not reached
  4    refused to publish, the published sitemaps stay
  5    the site could not be crawled
  6    busy: another session uses the state or the output
  70   internal error
  130  stopped by SIGINT (143: SIGTERM); the same command continues the crawl";
