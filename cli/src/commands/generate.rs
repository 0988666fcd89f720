//! `arpent generate`: man pages and completions, made from the command line as [`crate::args`] defines it. Nothing is read.

use std::{fs, io, path::Path};

use clap::CommandFactory as _;
use crawler::store::StoreError;

use crate::{
    args::{Args, GenerateArgs, Generated},
    exit_code::ExitCode,
    output::Output,
};

/// Runs `arpent generate`.
///
/// # Errors
/// A man page cannot be written.
pub(super) fn run(args: &GenerateArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    match &args.what {
        Generated::Man { folder: None } => clap_mangen::Man::new(described()).render(&mut text)?,
        Generated::Man {
            folder: Some(folder),
        } => write_man_pages(folder)
            .map_err(|error| StoreError::of_io("failed to write the man pages", error))?,
        Generated::Completions { shell } => {
            clap_complete::generate(*shell, &mut Args::command(), "arpent", &mut text);
        }
    }
    for line in String::from_utf8_lossy(&text).lines() {
        output.data(line);
    }
    Ok(ExitCode::Success)
}

fn write_man_pages(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(described(), folder)
}

/// The command line without `arpent help`, which has no man page.
fn described() -> clap::Command {
    Args::command().disable_help_subcommand(true)
}
