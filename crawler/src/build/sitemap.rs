//! Sitemaps as an input, through the lenient reader of the protocol: every entry that it can use is taken.

use std::{
    collections::VecDeque,
    io::{self, BufRead},
};

use sitemap_core::{
    Limits,
    read::{Item, Problem, ReadError, ReadFinding, Reader, Severity},
};

use super::{
    BuildError,
    draft::Draft,
    rows::{EntryRows, InputRow},
};

/// A list may be longer than a sitemap; what bounds it is the disk.
const LIMITS: Limits = Limits {
    entries: 1 << 40,
    bytes: 1 << 50,
};

/// The entries of a sitemap.
pub(super) struct SitemapRows<R: BufRead> {
    reader: Reader<R>,
    /// Read, but not asked for yet: at most [`MAX_FINDINGS`](sitemap_core::read::MAX_FINDINGS) and one.
    waiting: VecDeque<InputRow>,
    has_trailing_bytes: bool,
}

impl<R: BufRead> SitemapRows<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            reader: Reader::new(input, LIMITS),
            waiting: VecDeque::new(),
            has_trailing_bytes: false,
        }
    }

    /// The item of the reader.
    fn row(
        &self,
        item: Result<Item, ReadError>,
        findings: Vec<ReadFinding>,
        name: &str,
    ) -> Result<InputRow, BuildError> {
        let line = self.reader.entry_position().line;
        match item {
            Ok(Item::Url(entry)) => {
                let mut draft = Draft::from(entry);
                for finding in findings {
                    let is_here = finding.position.line >= line;
                    let said = finding.problem.to_string();
                    if is_here && finding.costs_value() {
                        draft.problems.push(said);
                    } else if is_here && finding.severity() == Severity::Error
                        || finding.problem == Problem::ChangeFreqCase
                    {
                        draft.corrections.push(said);
                    }
                }
                Ok(InputRow {
                    line,
                    said: Ok(draft),
                })
            }
            Ok(Item::Sitemap(entry)) => Ok(InputRow {
                line,
                said: Err(format!(
                    "{} is a sitemap that an index names, expected a page; give the sitemaps of the index instead",
                    entry.loc
                )),
            }),
            Err(ReadError::Entry(finding)) => Ok(InputRow {
                line: finding.position.line,
                said: Err(finding.problem.to_string()),
            }),
            // It is a sitemap, or the beginning of one, and there is more of it that cannot be read.
            Err(ReadError::File(finding))
                if finding.problem == Problem::Truncated || self.reader.kind().is_some() =>
            {
                Err(BuildError::Broken {
                    name: name.to_owned(),
                    line: finding.position.line,
                    source: io::Error::other(finding.problem),
                })
            }
            Err(ReadError::File(finding)) => Err(BuildError::Format {
                name: name.to_owned(),
                line: finding.position.line,
                problem: finding.problem.to_string(),
            }),
            Err(ReadError::Io(source)) => Err(self.broken(name, source)),
            // The reader may learn to fail in new ways; none of them is a line.
            Err(error) => Err(self.broken(name, io::Error::other(error))),
        }
    }

    fn broken(&self, name: &str, source: io::Error) -> BuildError {
        BuildError::Broken {
            name: name.to_owned(),
            line: self.reader.entry_position().line,
            source,
        }
    }
}

/// Returns whether a URL is left out because it is where no entry is read.
fn is_lost_entry(problem: &Problem) -> bool {
    matches!(
        problem,
        Problem::LostEntry { .. } | Problem::LocOutsideEntry
    )
}

impl<R: BufRead + Send> EntryRows for SitemapRows<R> {
    fn next(&mut self, name: &str) -> Result<Option<InputRow>, BuildError> {
        if self.waiting.is_empty() {
            let item = self.reader.next();
            let (lost, findings): (Vec<_>, Vec<_>) = self
                .reader
                .take_findings()
                .into_iter()
                .partition(|finding| is_lost_entry(&finding.problem));
            self.has_trailing_bytes |= findings
                .iter()
                .any(|finding| finding.problem == Problem::TrailingBytes);
            let mut rows: Vec<InputRow> = lost
                .into_iter()
                .map(|finding| InputRow {
                    line: finding.position.line,
                    said: Err(finding.problem.to_string()),
                })
                .collect();
            if let Some(item) = item {
                rows.push(self.row(item, findings, name)?);
            }
            rows.sort_by_key(|row| row.line);
            self.waiting = rows.into();
        }
        Ok(self.waiting.pop_front())
    }

    fn bytes(&self) -> u64 {
        self.reader.bytes()
    }

    fn has_trailing_bytes(&self) -> bool {
        self.has_trailing_bytes
    }
}
