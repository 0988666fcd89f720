//! Options of the output of every long command, on the way and at its end.

use serde::Serialize;

/// Options of the output.
#[derive(Debug, Default, Serialize, clap::Args)]
pub(super) struct ReportingArgs {
    /// Format of the summary on stdout at the end [default: text]
    #[arg(long, value_name = "json|text", help_heading = "Run")]
    summary: Option<String>,

    /// Print only errors on stderr
    #[arg(long, help_heading = "Run")]
    quiet: bool,

    /// Print more on stderr; twice and three times for even more
    #[arg(short, long, action = clap::ArgAction::Count, help_heading = "Run")]
    verbose: u8,

    /// Format of stderr [default: text]
    #[arg(long, value_name = "json|text", help_heading = "Run")]
    log: Option<String>,
}
