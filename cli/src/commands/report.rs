//! `arpent report`: finds the state of a site, and writes what [`crawler::site_report`] shows of it: as text, JSON, NDJSON, CSV, or a page for
//! browsers.

mod page;
mod tables;

use std::{
    fmt::Display,
    io::{self, Write as _},
};

use crawler::{
    site_report::{ReportError, ReportOutline, ReportRow, each_row},
    store::Store,
};

use self::{page::HtmlPage, tables::CsvFolder};
use super::{crawl::load, names::covering, status};
use crate::{
    args::ReportArgs,
    exit_code::ExitCode,
    failure::{self, Context as _, Failure, Misuse},
    output::Output,
    print::print_result,
    settings::{CrawlSettings, Environment, Purpose, with_scheme},
    whole_file::WholeFile,
};

/// Destination of the rows of a report.
trait RowSink {
    /// Takes the next row.
    fn row(&mut self, row: &ReportRow) -> io::Result<()>;

    /// All rows were taken, with this outline: what was written takes the place of what was there.
    fn finish(self: Box<Self>, outline: &ReportOutline) -> io::Result<()>;
}

/// Runs the command.
///
/// # Errors
/// The settings make no sense, no state is that of the site, or it cannot be read; or a file cannot be written.
pub(super) fn run(
    args: &ReportArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let settings = load(Purpose::Look, args.settings.0.clone(), environment)?;
    let site = match &args.site {
        Some(site) => site.clone(),
        None => only_site(&settings)?,
    };
    let url = settings
        .shared
        .session
        .config
        .identity
        .parse(&with_scheme(&site));
    let url = url.map_err(|error| Misuse(format!("{site}: {error}")))?;
    let (_, (site, path)) = covering(&settings, &url)?;
    let store = Store::open_to_read(&path)?.context("the state is gone")?;
    let mut sinks = sinks_of(args, output)?;
    let is_printed = sinks.is_empty() || args.json;
    let mut outline = ReportOutline::default();
    each_row(&store, &site, &mut |row| {
        outline.add(&row);
        sinks.iter_mut().try_for_each(|sink| sink.row(&row))
    })
    .map_err(|error| match error {
        ReportError::Store(error) => Failure::from(error),
        ReportError::Refused(error) => unwritable(error),
    })?;
    for sink in sinks {
        sink.finish(&outline).map_err(unwritable)?;
    }
    if is_printed {
        let url = site.url();
        let json = outline.document(&url);
        print_result(args.json, &json, || outline.view(&url), output)?;
    }
    Ok(ExitCode::Success)
}

/// The start URL of the only site of the settings file, or else of the folder of states.
///
/// # Errors
/// There are several, or none.
fn only_site(settings: &CrawlSettings) -> failure::Result<String> {
    if let [site] = &*settings.sites {
        return Ok(site.start.to_string());
    }
    let crawled = if settings.sites.is_empty() {
        status::crawled_sites(&settings.shared.session.state)?
    } else {
        Vec::new()
    };
    let [site] = &*crawled else {
        let count = settings.sites.len().max(crawled.len());
        let folder = settings.shared.session.state.display();
        let message = format!(
            "there are {count} sites in {folder}; expected the URL of one of them; arpent status lists them"
        );
        return Err(Misuse(message).into());
    };
    Ok(site.clone())
}

fn unwritable(error: impl Display) -> Failure {
    Misuse(format!("failed to write the report: {error}")).into()
}

fn sinks_of(args: &ReportArgs, output: &Output) -> failure::Result<Vec<Box<dyn RowSink>>> {
    let mut sinks: Vec<Box<dyn RowSink>> = Vec::new();
    if let Some(path) = &args.ndjson {
        if path.as_os_str() == "-" {
            sinks.push(Box::new(StandardOutput(output.clone())));
        } else {
            sinks.push(Box::new(NdjsonFile(
                WholeFile::create(path).map_err(unwritable)?,
            )));
        }
    }
    if let Some(folder) = &args.csv {
        sinks.push(Box::new(CsvFolder::create(folder).map_err(unwritable)?));
    }
    if let Some(path) = &args.html {
        sinks.push(Box::new(HtmlPage::create(path).map_err(unwritable)?));
    }
    Ok(sinks)
}

/// One JSON object per line, in a file.
struct NdjsonFile(WholeFile);

impl RowSink for NdjsonFile {
    fn row(&mut self, row: &ReportRow) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, row)?;
        self.0.write_all(b"\n")
    }

    fn finish(self: Box<Self>, _: &ReportOutline) -> io::Result<()> {
        self.0.finish()
    }
}

/// One JSON object per line, on standard output.
struct StandardOutput(Output);

impl RowSink for StandardOutput {
    fn row(&mut self, row: &ReportRow) -> io::Result<()> {
        self.0.data_json(&serde_json::to_string(row)?);
        Ok(())
    }

    fn finish(self: Box<Self>, _: &ReportOutline) -> io::Result<()> {
        Ok(())
    }
}
