//! Arguments of `arpent generate`.

use std::path::PathBuf;

/// Arguments of `arpent generate`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXIT_CODES)]
pub(crate) struct GenerateArgs {
    /// The kind of file to generate.
    #[command(subcommand)]
    pub(crate) what: Generated,
}

/// Files that describe arpent to other programs.
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
    /// Print a settings file with every setting, its documentation and its default
    Settings,
    /// Print the JSON Schema of what a command prints with --json
    Schema {
        /// The command; report-rows: the lines of report --ndjson; fleet: status --catalogue
        #[arg(value_name = "COMMAND")]
        of: JsonResult,
    },
}

/// Results as JSON: of each command with `--json`, and the rows of `report --ndjson`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum JsonResult {
    Crawl,
    Build,
    Publish,
    Check,
    Served,
    Audit,
    Diff,
    Init,
    Status,
    Report,
    ReportRows,
    Why,
    Notify,
    Forget,
    CatalogueList,
    CatalogueShow,
    Fleet,
}

/// Shown below the options.
const EXAMPLES: &str = "\
Examples:
  arpent generate man /usr/local/share/man/man1
  arpent generate completions bash
  arpent generate settings
  arpent generate schema crawl";

/// Shown below the examples by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    generated
  2    wrong usage, or the folder cannot be created
  4    a man page cannot be written";
