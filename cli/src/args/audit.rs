//! Arguments of `arpent audit`.

use std::path::PathBuf;

use serde::Serialize;

use super::{findings::FindingArgs, requests::RequestArgs};

/// Arguments of `arpent audit`.
#[derive(Debug, Clone, Default, Serialize, clap::Args)]
#[command(after_long_help = EXIT_CODES)]
pub(crate) struct AuditArgs {
    /// URL of a crawled site, or of a page of it
    #[arg(value_name = "URL")]
    #[serde(skip)]
    pub(crate) site: String,

    /// A sitemap, an index with all that it lists, a feed or a folder, in place of the sitemaps and feeds that the site names;
    /// with files alone nothing is requested (repeatable)
    #[arg(long, value_name = "URL|FILE|DIR")]
    #[serde(skip)]
    pub(crate) sitemap: Vec<PathBuf>,

    /// An access log of the web server, plain or gzipped: combined log format or JSON lines; - for standard input (repeatable)
    #[arg(long, value_name = "FILE|-")]
    #[serde(skip)]
    pub(crate) log: Vec<PathBuf>,

    #[command(flatten)]
    #[serde(skip)]
    pub(crate) findings: FindingArgs,

    /// Read settings from this TOML file
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    /// Folder of the states [default: arpent/ in the platform's state directory]
    #[arg(long, value_name = "DIR")]
    state: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    requests: RequestArgs,

    /// Print only errors on stderr
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Shown above the options by `--help`.
pub(super) const AUDIT_HELP: &str = "\
Compare the crawl of a site with its own sitemaps, its feeds and the access logs of its server

The crawl is read from its state; a session may go on meanwhile. The sitemaps are those that robots.txt of the site names, or \
/sitemap.xml, the feeds those that the last crawl read or the start page names. They are requested now, as politely as \
arpent check does. A sitemap that arpent published is read like any other: what it lists and a later crawl found dead is a finding.

Listed URLs that are dead, redirect, say noindex, name another canonical URL or are disallowed are errors in a sitemap and \
warnings in a feed. URLs that only the crawl or only a sitemap, feed or log knows are warnings. Of a log the requests with GET or HEAD count \
that were answered 200, 404 or 410, were not sent by arpent, and do not end like a file that is no page (.css, .png). \
cli/guide/audit.md lists all findings.";

/// Shown below the options.
const EXIT_CODES: &str = "\
Exit codes:
  0    no errors (with --fail-on warning no warnings either)
  1    errors were found, or with --fail-on warning also warnings
  2    wrong usage or settings, a log cannot be read, or there is no state of the site
  4    the state or the temporary file cannot be used
  5    a sitemap or a feed of the site could not be read; what was read was compared
  130  stopped by SIGINT (143: SIGTERM)
Of several, 130 goes before 2, 2 before 5, and 5 before 1.";
