//! What was typed after `arpent build`.

use std::path::PathBuf;

use super::typed;
use crate::settings::value::Value;

/// What was typed after `arpent build`.
#[derive(Debug, Default, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct BuildArgs {
    /// Lists of URLs, sitemaps, or folders of HTML files; - is standard input
    #[arg(value_name = "FILE|DIR|-")]
    inputs: Vec<String>,

    /// The directory of the site that the sitemaps are for: it lists only what is in it
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// Read settings from this TOML file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// The format of the lists [default: found out from their first bytes]
    #[arg(long, value_name = "text|csv|ndjson|sitemap", help_heading = "Input")]
    input_format: Option<String>,

    /// Publish nothing when a line or a value cannot be used [default: it is left out, exit code 3]
    #[arg(long, help_heading = "Input")]
    strict: bool,

    /// What the times of files say: when a page changed, if plausible; or nothing [default: mtime]
    #[arg(long, value_name = "mtime|none", help_heading = "Input")]
    lastmod: Option<String>,

    /// List only URLs that match (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    include: Vec<String>,

    /// Do not list URLs that match (repeatable)
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    exclude: Vec<String>,

    /// Where the sitemaps are written [default: sitemaps/SITE]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    output: Option<String>,

    /// Where what is known of folders of HTML is kept, and of lists when this is given
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    state: Option<String>,

    /// The URL of the directory where the output will be served [default: the base URL]
    #[arg(long, value_name = "URL", help_heading = "Output")]
    public_url: Option<String>,

    /// Every file in the root of the output, or each inside the directory it lists [default: root]
    #[arg(long, value_name = "root|in-place", help_heading = "Output")]
    layout: Option<String>,

    /// Write an index always, or only when one file is not enough [default: always]
    #[arg(long, value_name = "always|auto", help_heading = "Output")]
    index: Option<String>,

    /// The formats: xml, txt (URLs alone), rss and atom (feeds of recent changes) [default: xml]
    #[arg(long, value_name = "xml,txt,rss,atom", help_heading = "Output")]
    format: Vec<String>,

    /// Do not compress the sitemap files
    #[arg(long, help_heading = "Output")]
    no_gzip: bool,

    /// How often matching pages change, e.g. '/news/*=daily' (repeatable, the first that fits counts)
    #[arg(long, value_name = "GLOB=V", help_heading = "Output")]
    changefreq: Vec<String>,

    /// How important matching pages are within the site, e.g. '/shop/*=0.8' (repeatable, the first that fits counts)
    #[arg(long, value_name = "GLOB=V", help_heading = "Output")]
    priority: Vec<String>,

    /// Say in the entries what the pages of a folder say of their images, and of their versions in other languages
    #[arg(long, value_name = "images,hreflang", help_heading = "Output")]
    extensions: Vec<String>,

    /// Say in each file where its schemas are, for validators that ask for it
    #[arg(long, help_heading = "Output")]
    schema_location: bool,

    /// Publish even if the guard refuses, and replace files that are not arpent's (after a backup)
    #[arg(long, help_heading = "Output")]
    force: bool,

    /// Read and plan, but write no sitemaps
    #[arg(long, help_heading = "Output")]
    dry_run: bool,

    /// What to print on stdout at the end [default: text]
    #[arg(long, value_name = "json|text", help_heading = "Run")]
    summary: Option<String>,

    /// Say nothing on stderr but errors
    #[arg(long, help_heading = "Run")]
    quiet: bool,

    /// Say more on stderr; twice and three times for even more
    #[arg(short, long, action = clap::ArgAction::Count, help_heading = "Run")]
    verbose: u8,
}

/// Shown above the options by `--help`.
pub(super) const BUILD_HELP: &str = "\
Publish the sitemaps of a site from lists and folders, without a request

A list has one URL per line; or it is a table (CSV, with a header line that names url, lastmod, \
changefreq, priority), or JSON objects with these keys, one per line; or an existing sitemap. Gzip is \
undone. Relative URLs are relative to the base URL. Of several entries for one URL the one with the \
newest lastmod counts, then the one that says more.

A folder is read like a site: its HTML files are judged by what they say (noindex, canonical, refresh), \
index.html is its folder's page, and a robots.txt in it is obeyed.

Every option is also a setting of the same name (--base-url is base_url) in the settings file, and a \
variable ARPENT_<NAME>. Options win over variables, variables over the file.";

/// Shown below the options; [`crate::exit_code`] says the same at length.
const EXIT_CODES: &str = "\
Exit codes:
  0    published, or nothing changed
  2    wrong usage or settings, an input that cannot be opened, or --strict and a faulty input
  3    published, but a line or a value of an input, or a file of a folder, could not be used
  4    refused to publish, the old sitemaps stand
  6    busy: another run holds the state or the output
  70   internal error
  130  stopped by SIGINT (143: SIGTERM)";

impl BuildArgs {
    /// The settings that were typed, by setting name, in the order of the options above.
    pub(crate) fn typed(&self) -> Vec<(&'static str, Value)> {
        typed(
            [
                ("inputs", &self.inputs),
                ("include", &self.include),
                ("exclude", &self.exclude),
                ("format", &self.format),
                ("changefreq", &self.changefreq),
                ("priority", &self.priority),
                ("extensions", &self.extensions),
            ],
            [
                ("base_url", &self.base_url),
                ("input_format", &self.input_format),
                ("lastmod", &self.lastmod),
                ("output", &self.output),
                ("state", &self.state),
                ("public_url", &self.public_url),
                ("layout", &self.layout),
                ("index", &self.index),
                ("summary", &self.summary),
            ],
            [
                ("strict", self.strict),
                ("no_gzip", self.no_gzip),
                ("schema_location", self.schema_location),
                ("force", self.force),
                ("dry_run", self.dry_run),
                ("quiet", self.quiet),
            ],
            self.verbose,
        )
    }
}
