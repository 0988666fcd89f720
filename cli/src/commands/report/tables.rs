//! A report as CSV: one file for each kind of row.

use std::{fs, io, path::Path};

use crawler::site_report::{ReportOutline, ReportRow};

use super::RowSink;
use crate::print::CsvFile;

/// The files of a report, in the order of [`TABLES`].
pub(super) struct CsvFolder(Vec<CsvFile>);

/// The files and their columns, which are fields of the rows.
const TABLES: [(&str, &str); 5] = [
    (
        "urls.csv",
        "url,state,reason,section,depth,via,found_on,linked_from,is_orphan,status,error,content_type,bytes,duration_ms,title,\
         fetched_at,attempts,noindex,canonical,redirects_to,duplicate_of,pattern,languages,lastmod,lastmod_source,first_seen",
    ),
    ("links.csv", "target,reason,is_redirect,page,text"),
    ("conflicts.csv", "kind,url,target,target_reason,language"),
    (
        "patterns.csv",
        "name,kind,requested,left_out,not_requested,example,exclude",
    ),
    (
        "sessions.csv",
        "began,ended,outcome,exit_code,crawl,known,listed,excluded,failed,queued,robots_disallowed,fetched,not_modified,\
         bytes_in,requests,slowdowns,retry_afters,waited_ms,interval_ms",
    ),
];

impl CsvFolder {
    /// Begins the files in `folder`, which is made.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", folder.display()))
        })?;
        let tables = TABLES.iter();
        let files = tables.map(|(name, columns)| CsvFile::create(&folder.join(name), columns));
        files.collect::<io::Result<_>>().map(Self)
    }
}

impl RowSink for CsvFolder {
    fn row(&mut self, row: &ReportRow) -> io::Result<()> {
        let table = match row {
            ReportRow::Report(_) => return Ok(()),
            ReportRow::Url(_) => 0,
            ReportRow::Link(_) => 1,
            ReportRow::Conflict(_) => 2,
            ReportRow::Pattern(_) => 3,
            ReportRow::Session(_) => 4,
        };
        self.0[table].row(row)
    }

    fn finish(self: Box<Self>, _: &ReportOutline) -> io::Result<()> {
        self.0.into_iter().try_for_each(CsvFile::finish)
    }
}
