//! Options of the output of every long command, on the way and at its end.

use serde::Serialize;

/// Options of the output.
#[derive(Debug, Default, Serialize, clap::Args)]
pub(super) struct ReportingArgs {
    /// Print the summary as JSON, one line for each site
    #[arg(long, help_heading = "Run")]
    json: bool,

    /// Print only errors on stderr
    #[arg(short, long, help_heading = "Run")]
    quiet: bool,

    /// Print more on stderr; -vv and -vvv print still more
    #[arg(short, long, action = clap::ArgAction::Count, help_heading = "Run")]
    verbose: u8,

    /// Format of the log on stderr [default: text]
    #[arg(
        long,
        value_name = "json|text",
        help_heading = "Run",
        hide_short_help = true
    )]
    log_format: Option<String>,
}
