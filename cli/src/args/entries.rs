//! Options of every command that writes a set: its files, their content, and dry runs.

use serde::Serialize;

/// Options of writing a set.
#[derive(Debug, Default, Serialize, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(super) struct EntryArgs {
    /// Write each file into the root of the output, or into the directory that it lists [default: root]
    #[arg(
        long,
        value_name = "root|in-place",
        help_heading = "Output",
        hide_short_help = true
    )]
    layout: Option<String>,

    /// Write an index always, or only if one file is not enough [default: always]
    #[arg(
        long,
        value_name = "always|auto",
        help_heading = "Output",
        hide_short_help = true
    )]
    index: Option<String>,

    /// Formats: xml, txt (URLs alone), rss and atom (feeds of recent changes) [default: xml]
    #[arg(
        long,
        value_name = "xml,txt,rss,atom",
        help_heading = "Output",
        hide_short_help = true
    )]
    format: Vec<String>,

    /// Do not compress the sitemap files
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    no_gzip: bool,

    /// List matching pages in a sitemap with this name, e.g. '/shop/**=shop' (repeatable)
    ///
    /// If several globs match a page, the first one counts.
    #[arg(
        long,
        value_name = "GLOB=NAME",
        help_heading = "Output",
        hide_short_help = true
    )]
    section: Vec<String>,

    /// Write this changefreq for matching pages, e.g. '/news/*=daily' (repeatable)
    ///
    /// If several globs match a page, the first one counts.
    #[arg(
        long,
        value_name = "GLOB=V",
        help_heading = "Output",
        hide_short_help = true
    )]
    changefreq: Vec<String>,

    /// Write this priority for matching pages, e.g. '/shop/*=0.8' (repeatable)
    ///
    /// If several globs match a page, the first one counts.
    #[arg(
        long,
        value_name = "GLOB=V",
        help_heading = "Output",
        hide_short_help = true
    )]
    priority: Vec<String>,

    /// Add elements for: images, hreflang, news, video
    ///
    /// arpent reads images, versions in other languages, news articles and videos from the pages. Comma-separated or repeated.
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    with: Vec<String>,

    /// Write xsi:schemaLocation into each file, for validators that need it
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    schema_location: bool,

    /// Permissions of the published files, e.g. 0640 [default: by the umask]
    #[arg(
        long,
        value_name = "OCTAL",
        help_heading = "Output",
        hide_short_help = true
    )]
    file_mode: Option<String>,

    /// Group of the published files, by name or number [default: the group of the process]
    #[arg(
        long,
        value_name = "GROUP",
        help_heading = "Output",
        hide_short_help = true
    )]
    file_group: Option<String>,

    /// Publish even if the guard refuses, and replace files of other programs after a backup
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    force: bool,

    /// Plan the sitemaps, but write no files
    #[arg(short = 'n', long, help_heading = "Output")]
    dry_run: bool,
}
