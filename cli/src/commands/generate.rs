//! `arpent generate`: man pages and completions, made from the command line as [`crate::args`] defines it, the settings file
//! with the defaults, and the JSON Schemas of the results. Nothing is read.

#[cfg(test)]
mod tests;

use std::{fs, io, path::Path};

use crawler::store::StoreError;

use crate::{
    args::{self, GenerateArgs, Generated, JsonResult},
    exit_code::ExitCode,
    failure,
    output::Output,
    settings::default_file,
};

/// Runs `arpent generate`.
///
/// # Errors
/// A man page cannot be written.
pub(super) fn run(arguments: &GenerateArgs, output: &Output) -> failure::Result<ExitCode> {
    let mut text = Vec::new();
    match &arguments.what {
        Generated::Man { folder: None } => clap_mangen::Man::new(described()).render(&mut text)?,
        Generated::Man {
            folder: Some(folder),
        } => write_man_pages(folder)
            .map_err(|error| StoreError::of_io("failed to write the man pages", error))?,
        Generated::Completions { shell } => {
            clap_complete::generate(*shell, &mut args::command(), "arpent", &mut text);
        }
        Generated::Settings => text.extend_from_slice(default_file().as_bytes()),
        Generated::Schema { of } => text.extend_from_slice(schema_of(*of).as_bytes()),
    }
    for line in String::from_utf8_lossy(&text).lines() {
        output.data(line);
    }
    Ok(ExitCode::Success)
}

/// The JSON Schema of a result.
const fn schema_of(result: JsonResult) -> &'static str {
    match result {
        JsonResult::Crawl | JsonResult::Build | JsonResult::Publish => {
            include_str!("../schema/summary.schema.json")
        }
        JsonResult::Check => include_str!("../schema/check.schema.json"),
        JsonResult::Served => include_str!("../schema/served.schema.json"),
        JsonResult::Audit => include_str!("../schema/audit.schema.json"),
        JsonResult::Diff => include_str!("../schema/diff.schema.json"),
        JsonResult::Init => include_str!("../schema/init.schema.json"),
        JsonResult::Status => include_str!("../schema/status.schema.json"),
        JsonResult::Report => include_str!("../schema/report.schema.json"),
        JsonResult::ReportRows => include_str!("../schema/report-rows.schema.json"),
        JsonResult::Why => include_str!("../schema/why.schema.json"),
        JsonResult::Notify => include_str!("../schema/notify.schema.json"),
        JsonResult::Forget => include_str!("../schema/forget.schema.json"),
        JsonResult::CatalogueList => include_str!("../schema/catalogue-list.schema.json"),
        JsonResult::CatalogueShow => include_str!("../schema/catalogue-show.schema.json"),
        JsonResult::Fleet => include_str!("../schema/fleet.schema.json"),
    }
}

fn write_man_pages(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(described(), folder)
}

/// The command line without `arpent help`, which has no man page; with the texts of all options.
fn described() -> clap::Command {
    let mut command = args::command().disable_help_subcommand(true);
    command.build();
    shown(command)
}

/// Shows the options that a short help leaves out: a man page has no other text for them.
fn shown(command: clap::Command) -> clap::Command {
    command
        .mut_args(|argument| argument.hide_short_help(false))
        .mut_subcommands(shown)
}
