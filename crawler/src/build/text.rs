//! Plain text: one URL per line. Blank lines and lines that begin with `#` are the writer's own.

use std::io::{self, BufRead};

use sitemap_core::read::{Part, Record, RowError};

use super::{
    draft::Draft,
    input::Row,
    quoted,
    records::{LineNote, RecordLines, line_error},
};

/// The rows of a plain list.
pub(super) struct TextRows<R> {
    pub(super) records: RecordLines<R>,
    /// Whether each line is one URL because the user says so.
    pub(super) is_asked_for: bool,
    /// Whether lines have more in them than their URLs.
    pub(super) has_more: bool,
}

impl<R: BufRead> TextRows<R> {
    pub(super) fn next(&mut self) -> io::Result<Option<Row>> {
        while let Some(record) = self.records.next()? {
            let line = record.place().number;
            if let Some(error) = line_error(&record) {
                let said = Err(error.to_string());
                return Ok(Some(Row { line, said }));
            }
            let said = match record.part() {
                Part::Blank | Part::Comment | Part::Separator | Part::Ruler | Part::Header => {
                    continue;
                }
                Part::Note => Err(format!(
                    "no URL in front of absolute ones, expected one: {}",
                    quoted(record.text().trim())
                )),
                Part::Entry => self.loc(&record).map(|loc| Draft {
                    loc,
                    ..Draft::default()
                }),
            };
            return Ok(Some(Row { line, said }));
        }
        Ok(None)
    }

    fn loc(&mut self, record: &Record<LineNote>) -> Result<String, String> {
        let line = record.text().trim();
        if self.is_asked_for {
            if line.contains(char::is_control) {
                return Err(RowError::ControlCharacter.to_string());
            }
            return Ok(line.to_owned());
        }
        let url = record
            .url()
            .map_err(|error| format!("{error}: {}", quoted(line)))?;
        self.has_more |= *url != *line.trim_matches(['"', '\'']).trim();
        Ok(url.into_owned())
    }
}

/// Whether a trimmed line says nothing.
pub(super) fn is_silent(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}
