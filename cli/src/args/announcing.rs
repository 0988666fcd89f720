//! Options of the commands that notify others of a published set.

use serde::Serialize;

/// Options of notifications.
#[derive(Debug, Default, Serialize, clap::Args)]
pub(super) struct AnnouncingArgs {
    /// Notify an engine of IndexNow of changed URLs
    #[arg(long, help_heading = "Notify", hide_short_help = true)]
    indexnow: bool,

    /// After a change, request this URL, with that of the sitemap in the place of {sitemap} (repeatable)
    #[arg(
        long,
        value_name = "URL",
        help_heading = "Notify",
        hide_short_help = true
    )]
    ping: Vec<String>,

    /// Write the Sitemap lines that it lacks into this robots.txt file
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Notify",
        hide_short_help = true
    )]
    robots_file: Option<String>,

    /// Run this command line after a session; it gets the summary as JSON on its standard input
    #[arg(
        long,
        value_name = "COMMAND",
        help_heading = "Notify",
        hide_short_help = true
    )]
    hook_shell: Option<String>,
}
