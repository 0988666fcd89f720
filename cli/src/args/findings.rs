//! Options of every command that reports findings: their format, and which of them count.

use std::path::PathBuf;

use sitemap_core::validate::DEFAULT_REPEATS;

/// Options of findings. None is a setting.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct FindingArgs {
    /// Output format
    #[arg(long, value_name = "text|json|sarif|github", default_value = "text", hide_possible_values = true, value_parser = ["text", "json", "sarif", "github"])]
    pub(crate) format: String,

    /// Print one JSON object, as --format json does
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,

    /// Exit with 1 at errors, or also at warnings
    #[arg(long, value_name = "error|warning", default_value = "error", hide_possible_values = true, value_parser = ["error", "warning"])]
    pub(crate) fail_on: String,

    /// Leave out the findings that are in this file, written by --json
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Print N findings of one kind per file, and count the others
    #[arg(long, value_name = "N", default_value_t = DEFAULT_REPEATS, hide_short_help = true)]
    pub(crate) repeats: u64,
}
