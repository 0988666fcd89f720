//! Arguments of `arpent build`.

use super::options::SettingOptions;
use crate::settings::options::{BUILD, Typed};

/// Arguments of `arpent build`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct BuildArgs {
    /// Lists of URLs, sitemaps or folders of HTML files; - is standard input
    #[arg(value_name = "FILE|DIR|-")]
    inputs: Vec<String>,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<BUILD>,
}

impl BuildArgs {
    /// What was typed.
    pub(crate) fn typed(&self) -> Typed {
        self.settings.0.with_all("inputs", &self.inputs)
    }
}

/// Shown above the options by `--help`.
pub(super) const BUILD_HELP: &str = "\
Publish the sitemaps of a site from lists and folders, without a request

A list is one of these, plain or gzipped:
  - text with one URL per line
  - CSV with a header line that names url, lastmod, changefreq and priority
  - JSON objects with these keys, one per line
  - a sitemap

Relative URLs are relative to the base URL. If several entries have the same URL, arpent uses the entry with the newest lastmod, \
then the entry with more metadata.

A folder is read like a site. arpent reads noindex, canonical links and refreshes in the HTML files, and obeys a robots.txt in the \
folder. index.html is the page of its folder. If the host serves about.html as /about, write canonical links into the pages or use \
--html-suffix drop.

Most options are also settings (--base-url is base_url) and variables (ARPENT_BASE_URL). An option replaces the variable, the \
variable replaces the settings file.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent build --base-url https://www.example.com/ urls.txt
  arpent build --base-url https://www.example.com/docs/ public/";

/// Shown below the examples by `--help`; [`crate::exit_code`] has the details.
const EXIT_CODES: &str = "\
Exit codes:
  0    published, or nothing changed
  2    wrong usage or settings, an input cannot be opened, or an input is faulty (with --strict)
  3    published, but a line, a value or a file of an input could not be used
  4    refused to publish, the published sitemaps stay
  6    busy: another session uses the state or the output
  70   internal error
  130  stopped by SIGINT (143: SIGTERM)";
