//! Options of the commands that notify others of a published set.

use serde::Serialize;

/// Options of notifications.
#[derive(Debug, Default, Serialize, clap::Args)]
pub(super) struct AnnouncingArgs {
    /// Notify search engines of changed URLs by IndexNow
    #[arg(long, help_heading = "Notify", hide_short_help = true)]
    indexnow: bool,

    /// Request this URL after a change, with the URL of the sitemap in place of {sitemap} (repeatable)
    #[arg(
        long,
        value_name = "URL",
        help_heading = "Notify",
        hide_short_help = true
    )]
    ping: Vec<String>,

    /// Add the missing Sitemap lines to this robots.txt file
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Notify",
        hide_short_help = true
    )]
    robots_file: Option<String>,

    /// Run this command line after a session; its standard input is the summary as JSON
    #[arg(
        long,
        value_name = "COMMAND",
        help_heading = "Notify",
        hide_short_help = true
    )]
    hook_shell: Option<String>,
}
