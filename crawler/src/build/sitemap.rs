//! Sitemaps of others as an input, through the reader of the protocol: what it forgives is taken.

use std::io::{self, BufRead};

use sitemap_core::{
    Limits,
    read::{Item, Problem, ReadError, Reader, Severity},
};

use super::{BuildError, draft::Draft, input::Row};

/// A list may be longer than a sitemap; what bounds it is the disk.
const LIMITS: Limits = Limits {
    entries: 1 << 40,
    bytes: 1 << 50,
};

/// The entries of a sitemap.
pub(super) struct SitemapRows<R: BufRead> {
    reader: Reader<R>,
    has_trailing_bytes: bool,
}

impl<R: BufRead> SitemapRows<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            reader: Reader::new(input, LIMITS),
            has_trailing_bytes: false,
        }
    }

    /// Bytes that were read.
    pub(super) fn bytes(&self) -> u64 {
        self.reader.bytes()
    }

    /// Whether it was compressed and has other bytes behind its end, which are left out.
    pub(super) fn has_trailing_bytes(&self) -> bool {
        self.has_trailing_bytes
    }

    pub(super) fn next(&mut self, name: &str) -> Result<Option<Row>, BuildError> {
        let item = self.reader.next();
        let findings = self.reader.take_findings();
        self.has_trailing_bytes |= findings
            .iter()
            .any(|finding| finding.problem == Problem::TrailingBytes);
        let Some(item) = item else {
            return Ok(None);
        };
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
                Ok(Some(Row {
                    line,
                    said: Ok(draft),
                }))
            }
            Ok(Item::Sitemap(entry)) => Ok(Some(Row {
                line,
                said: Err(format!(
                    "{} is a sitemap that an index names, expected a page; give the sitemaps of the index instead",
                    entry.loc
                )),
            })),
            Err(ReadError::Entry(finding)) => Ok(Some(Row {
                line: finding.position.line,
                said: Err(finding.problem.to_string()),
            })),
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
