//! Options of every command that runs for a while: what it tells on the way and at its end.

use super::{Typed, typed, typed_verbosity};

/// What is told.
#[derive(Debug, Default, clap::Args)]
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

impl TellingArgs {
    /// The settings that were typed, by setting name.
    pub(super) fn typed(&self) -> Typed {
        let own = typed(
            [],
            [("summary", &self.summary), ("log", &self.log)],
            [("quiet", self.quiet)],
        );
        [own, typed_verbosity(self.verbose)].concat()
    }
}
