//! Options of the commands that read the states of crawls: settings file and folder of the states.

use std::path::PathBuf;

use serde::Serialize;

/// Options of reading states.
#[derive(Debug, Clone, Default, Serialize, clap::Args)]
pub(crate) struct StateArgs {
    /// Read settings from this TOML file
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    /// Folder of the states [default: arpent/ in the platform's state directory]
    #[arg(long, value_name = "DIR")]
    state: Option<String>,
}
