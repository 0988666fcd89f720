//! The records of a list of lines: [`Lines`] put together as `--seeds` and the reader of sitemaps do.

use std::{
    collections::VecDeque,
    io::{self, BufRead},
};

use sitemap_core::read::{Columns, Part, Record, Records, Refusal};

use super::lines::{LineError, Lines};

/// What is known of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineNote {
    /// From 1.
    pub(super) number: u64,
    /// Why it cannot be read.
    pub(super) error: Option<LineError>,
}

/// The records of a list.
pub(super) struct RecordLines<R> {
    lines: Lines<R>,
    records: Records<LineNote>,
    /// Those that are looked at early, to find out what the list is: one, and the lines before that which cannot be read.
    first: VecDeque<Record<LineNote>>,
    is_at_end: bool,
}

impl<R: BufRead> RecordLines<R> {
    pub(super) fn new(lines: Lines<R>, records: Records<LineNote>) -> Self {
        Self {
            lines,
            records,
            first: VecDeque::new(),
            is_at_end: false,
        }
    }

    /// Finds out what the list is, if nobody knows where its URLs are: why.
    pub(super) fn begin(&mut self) -> io::Result<Option<Refusal<LineNote>>> {
        while let Some(next) = self.pull()? {
            match next {
                Err(refusal) => return Ok(Some(refusal)),
                // What stands in front of all says nothing of it.
                Ok(record) if !self.records.is_decided() => {
                    if line_error(&record).is_some() {
                        self.first.push_back(record);
                    }
                }
                Ok(first) => {
                    self.first.push_back(first);
                    break;
                }
            }
        }
        Ok(None)
    }

    /// The next record.
    pub(super) fn next(&mut self) -> io::Result<Option<Record<LineNote>>> {
        if let Some(first) = self.first.pop_front() {
            return Ok(Some(first));
        }
        // It is refused at the beginning only.
        Ok(self.pull()?.and_then(Result::ok))
    }

    fn pull(&mut self) -> io::Result<Option<Result<Record<LineNote>, Refusal<LineNote>>>> {
        loop {
            let next = self.records.next();
            if next.is_some() || self.is_at_end {
                return Ok(next);
            }
            let number = self.lines.number() + 1;
            let note = |error| LineNote { number, error };
            match self.lines.next()? {
                Some(Ok(line)) => self.records.push(line, note(None)),
                Some(Err(error)) => {
                    // Where its fields end can be seen all the same.
                    let line = self.lines.lossy();
                    self.records.push(&line, note(Some(error)));
                }
                None => {
                    self.is_at_end = true;
                    self.records.end();
                }
            }
        }
    }

    /// Where the URLs stand, once the list has begun.
    pub(super) fn columns(&self) -> Columns {
        self.records.columns()
    }

    /// The lines themselves.
    pub(super) fn lines(&self) -> &Lines<R> {
        &self.lines
    }
}

/// Why a record cannot be read. Only its URL has to be in the encoding of the list.
pub(super) fn line_error(record: &Record<LineNote>) -> Option<LineError> {
    let has_url = || match record.part() {
        Part::Entry => record
            .url()
            .is_ok_and(|url| !url.contains(char::REPLACEMENT_CHARACTER)),
        Part::Note => false,
        Part::Blank | Part::Comment | Part::Separator | Part::Ruler | Part::Header => true,
    };
    let error = record.places().find_map(|line| line.error);
    error.filter(|error| *error != LineError::NoText || !has_url())
}
