//! Options of every command that runs for a while: what it tells on the way and at its end.

use serde::Serialize;

/// What is told.
#[derive(Debug, Default, Serialize, clap::Args)]
pub(super) struct TellingArgs {
    /// What to print on stdout at the end [default: text]
    #[arg(long, value_name = "json|text", help_heading = "Run")]
    summary: Option<String>,

    /// Say nothing on stderr but errors
    #[arg(long, help_heading = "Run")]
    quiet: bool,

    /// Say more on stderr; twice and three times for even more
    #[arg(short, long, action = clap::ArgAction::Count, help_heading = "Run")]
    verbose: u8,

    /// What stderr looks like [default: text]
    #[arg(long, value_name = "json|text", help_heading = "Run")]
    log: Option<String>,
}
