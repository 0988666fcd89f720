//! Arguments of `arpent generate`.

use std::path::PathBuf;

/// Arguments of `arpent generate`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct GenerateArgs {
    /// The kind of file to generate.
    #[command(subcommand)]
    pub(crate) what: Generated,
}

/// Files for the system that are made from the command line itself.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Generated {
    /// Print the man page of arpent; with DIR, write one man page for each command into it
    Man {
        /// Folder of the man pages; it is created
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// Print the completion script of a shell
    Completions {
        /// Shell that completes the command line
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
}

/// Shown below the options.
const EXIT_CODES: &str = "\
Exit codes:
  0    generated
  2    wrong usage, or the folder cannot be created
  4    a man page cannot be written";
