//! Arguments of `arpent audit`.

use std::path::PathBuf;

use super::{findings::FindingArgs, options::SettingOptions};
use crate::settings::options::AUDIT;

/// Arguments of `arpent audit`.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct AuditArgs {
    /// URL of a crawled site, or of a page of it
    #[arg(value_name = "SITE")]
    pub(crate) site: String,

    /// Sitemap, index, feed or folder to read in place of those that the site names (repeatable)
    ///
    /// arpent also reads the sitemaps that an index lists. If only files and folders are given, arpent sends no request.
    #[arg(long, value_name = "URL|FILE|DIR")]
    pub(crate) sitemap: Vec<PathBuf>,

    /// Access log of the web server; - is standard input (repeatable)
    ///
    /// The log is in combined log format or in JSON lines, plain or gzipped.
    #[arg(long, value_name = "FILE|-")]
    pub(crate) log: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,

    #[command(flatten)]
    pub(crate) settings: SettingOptions<AUDIT>,
}

/// Shown above the options by `--help`.
pub(super) const AUDIT_HELP: &str = "\
Compare the crawl of a site with its own sitemaps, its feeds and the access logs of its server

arpent reads the crawl from the state. A session of the site may run at the same time.

arpent requests these documents, with the pace of arpent check:
  - the sitemaps that robots.txt of the site names, or /sitemap.xml
  - the feeds that the last crawl read, or that the start page names
A sitemap that arpent published is read like any other.

Findings:
  - A listed URL is dead, redirects, has noindex, names another canonical URL, or is disallowed: an error in a sitemap, a warning in \
a feed.
  - Only the crawl, or only a sitemap, feed or log, has the URL: a warning.

A request in a log counts when its method is GET or HEAD, its status is 200, 404 or 410, and arpent did not send it. Requests for \
files that are not pages (.css, .png) do not count. cli/guide/audit.md lists all findings.";

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent audit https://www.example.com/
  arpent audit https://www.example.com/ --log access.log --log access.log.1.gz";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    no errors (with --fail-on warning no warnings either)
  1    errors were found, or with --fail-on warning also warnings
  2    wrong usage or settings, a log cannot be read, or there is no state of the site
  4    the state or the temporary file cannot be used
  5    a sitemap or a feed of the site could not be read; what was read was compared
  130  stopped by SIGINT (143: SIGTERM)
If several apply, the exit code is the first of 130, 2, 5, 1.";
