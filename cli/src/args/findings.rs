//! Options of every command that reports findings: their format, and which of them count.

use std::path::PathBuf;

use sitemap_core::validate::DEFAULT_REPEATS;

/// Options of findings. None is a setting.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct FindingArgs {
    /// Output format
    #[arg(long, value_name = "text|json|sarif|github", default_value = "text", value_parser = ["text", "json", "sarif", "github"])]
    pub(crate) format: String,

    /// What makes the command fail, with exit code 1: errors, or warnings too
    #[arg(long, value_name = "error|warning", default_value = "error", value_parser = ["error", "warning"])]
    pub(crate) fail_on: String,

    /// The findings of an earlier run (--format json), which are neither printed nor counted
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Number of findings of one kind that are shown (per file, where they are about files); more are counted
    #[arg(long, value_name = "N", default_value_t = DEFAULT_REPEATS)]
    pub(crate) repeats: u64,
}
