//! Lists of URLs that the user gives: plain text with one absolute URL per line, or any sitemap or feed
//! file, compressed or not. A list is a file, or was copied from standard input into one without a name,
//! so that it can be checked before the first request and read again for each site.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read, Seek as _},
    ops::ControlFlow,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use super::read::{Batch, Reading, read};
use crate::url_key::{Identity, UrlKeyError};

/// The most bytes of a list, compressed or not: some ten million URLs.
pub const MAX_LIST_BYTES: u64 = 1 << 30;

/// Longest line of a list of text: more than any URL that can be listed.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// Lines that go into one batch.
const BATCH_LINES: usize = 1_000;

/// A list that can be read, again and again.
#[derive(Debug, Clone)]
pub struct SeedList {
    name: Arc<str>,
    /// One reader at a time: the position is that of the file.
    file: Arc<Mutex<File>>,
}

/// Why a list cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeedListError {
    /// It cannot be read.
    #[error("failed to read the URL list {name}")]
    Io {
        /// Which list.
        name: String,
        /// The system's words.
        #[source]
        source: io::Error,
    },
    /// A line is no absolute http(s) URL.
    #[error("line {line} of the URL list {name} is no absolute http:// or https:// URL: {text:?}")]
    Line {
        /// Which list.
        name: String,
        /// Counted from 1.
        line: u64,
        /// Its beginning.
        text: String,
        /// What is wrong with it.
        #[source]
        source: UrlKeyError,
    },
    /// A line that has no end.
    #[error(
        "line {line} of the URL list {name} is longer than {MAX_LINE_BYTES} bytes, expected a URL"
    )]
    LongLine {
        /// Which list.
        name: String,
        /// Counted from 1.
        line: u64,
    },
    /// A line that is not UTF-8.
    #[error("line {line} of the URL list {name} is not UTF-8 text")]
    NotText {
        /// Which list.
        name: String,
        /// Counted from 1.
        line: u64,
    },
    /// A file in XML, or compressed, that is no sitemap, index or feed.
    #[error("the URL list {name} is neither lines of URLs nor a sitemap or feed: {problem}")]
    NotAList {
        /// Which list.
        name: String,
        /// What the reader says.
        problem: String,
    },
    /// More than is read.
    #[error("the URL list {name} is larger than {MAX_LIST_BYTES} bytes")]
    TooLarge {
        /// Which list.
        name: String,
    },
}

impl SeedList {
    /// The file at `path`.
    ///
    /// # Errors
    /// It cannot be opened, or is no regular file and cannot be copied; it is too large.
    pub fn open(path: &Path) -> Result<Self, SeedListError> {
        let name = path.display().to_string();
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        match opened {
            // A pipe can be read once only.
            Ok((metadata, file)) if !metadata.is_file() => Self::copy(&name, file),
            Ok((metadata, _)) if metadata.len() > MAX_LIST_BYTES => {
                Err(SeedListError::TooLarge { name })
            }
            Ok((_, file)) => Ok(Self::of(&name, file)),
            Err(source) => Err(SeedListError::Io { name, source }),
        }
    }

    /// What `input` gives, copied into a temporary file without a name; `name` is for people.
    ///
    /// # Errors
    /// It cannot be read or copied; it is larger than [`MAX_LIST_BYTES`].
    pub fn copy(name: &str, input: impl Read) -> Result<Self, SeedListError> {
        let copied = tempfile::tempfile().and_then(|mut file| {
            let bytes = io::copy(&mut input.take(MAX_LIST_BYTES + 1), &mut file)?;
            Ok((file, bytes))
        });
        match copied {
            Ok((_, bytes)) if bytes > MAX_LIST_BYTES => Err(SeedListError::TooLarge {
                name: name.to_owned(),
            }),
            Ok((file, _)) => Ok(Self::of(name, file)),
            Err(source) => Err(SeedListError::Io {
                name: name.to_owned(),
                source,
            }),
        }
    }

    fn of(name: &str, file: File) -> Self {
        Self {
            name: name.into(),
            file: Arc::new(Mutex::new(file)),
        }
    }

    /// Its name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads all of it and finds what is wrong. Lines of text are read strictly: a list that was written
    /// by hand should hold what its writer thinks.
    ///
    /// # Errors
    /// See [`SeedListError`].
    pub fn check(&self) -> Result<(), SeedListError> {
        let mut take = |_| ControlFlow::Continue(());
        let reading = self.visit(&Identity::default(), &mut take)?;
        match reading.problem {
            Some((_, problem)) => Err(SeedListError::NotAList {
                name: self.name.to_string(),
                problem,
            }),
            None => Ok(()),
        }
    }

    /// Hands its entries to `take` in batches. What [`SeedList::check`] refuses ends the reading.
    pub fn read(
        &self,
        identity: &Identity,
        take: &mut dyn FnMut(Batch) -> ControlFlow<()>,
    ) -> Reading {
        self.visit(identity, take).unwrap_or_else(|error| {
            Reading::failed(&io::Error::new(io::ErrorKind::InvalidData, error))
        })
    }

    fn visit(
        &self,
        identity: &Identity,
        take: &mut dyn FnMut(Batch) -> ControlFlow<()>,
    ) -> Result<Reading, SeedListError> {
        let io = |source| SeedListError::Io {
            name: self.name.to_string(),
            source,
        };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.rewind().map_err(io)?;
        let mut input = BufReader::new(&*file);
        if is_document(input.fill_buf().map_err(io)?) {
            return Ok(read(input, MAX_LIST_BYTES, None, identity, take));
        }
        self.visit_lines(input, identity, take)
    }

    fn visit_lines(
        &self,
        mut input: BufReader<&File>,
        identity: &Identity,
        take: &mut dyn FnMut(Batch) -> ControlFlow<()>,
    ) -> Result<Reading, SeedListError> {
        let name = || self.name.to_string();
        let mut reading = Reading::default();
        let mut batch = Batch::default();
        let mut bytes = Vec::new();
        let mut line = 0;
        loop {
            bytes.clear();
            let limit = MAX_LINE_BYTES as u64 + 1;
            let mut limited = input.by_ref().take(limit);
            let read = limited.read_until(b'\n', &mut bytes);
            let read = read.map_err(|source| SeedListError::Io {
                name: name(),
                source,
            })?;
            line += 1;
            if read == 0 {
                break;
            }
            if read > MAX_LINE_BYTES {
                return Err(SeedListError::LongLine { name: name(), line });
            }
            let text = std::str::from_utf8(&bytes)
                .map_err(|_| SeedListError::NotText { name: name(), line })?;
            let text = text.trim_start_matches('\u{feff}').trim();
            if text.is_empty() {
                continue;
            }
            let key = identity.parse(text).map_err(|source| SeedListError::Line {
                name: name(),
                line,
                text: text.chars().take(100).collect(),
                source,
            })?;
            reading.entries += 1;
            batch.pages.push(key);
            if batch.pages.len() >= BATCH_LINES && take(std::mem::take(&mut batch)).is_break() {
                return Ok(reading);
            }
        }
        if !batch.pages.is_empty() && take(batch).is_break() {
            return Ok(reading);
        }
        Ok(reading)
    }
}

/// Whether the first bytes are those of something for the reader of sitemaps: XML in any encoding, or gzip.
fn is_document(start: &[u8]) -> bool {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    start.starts_with(&[0x1f, 0x8b])
        || start.starts_with(&[0xff, 0xfe])
        || start.starts_with(&[0xfe, 0xff])
        || matches!(first, Some(b'<' | 0))
}
