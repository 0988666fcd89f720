//! Options of the commands that tell others of a set that they published.

use serde::Serialize;

/// Who is told.
#[derive(Debug, Default, Serialize, clap::Args)]
pub(super) struct AnnouncingArgs {
    /// When something changed, tell an engine of IndexNow which URLs
    #[arg(long, help_heading = "Notify")]
    indexnow: bool,

    /// When something changed, ask for this URL, with the sitemap's in the place of {sitemap} (repeatable)
    #[arg(long, value_name = "URL", help_heading = "Notify")]
    ping: Vec<String>,

    /// Write the Sitemap lines that it lacks into this robots.txt file
    #[arg(long, value_name = "FILE", help_heading = "Notify")]
    robots_file: Option<String>,

    /// Run this command line after a run; it gets the summary as JSON on its standard input
    #[arg(long, value_name = "COMMAND", help_heading = "Notify")]
    hook_shell: Option<String>,
}
