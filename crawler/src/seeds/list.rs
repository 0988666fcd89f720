//! Lists of URLs that the user gives: plain text with one absolute URL per line, or any sitemap or feed
//! file, compressed or not. A list is a file, or was copied from standard input into one without a name,
//! so that it can be checked before the first request and read again for each site. A line that is
//! not a URL is left out; the other lines are used.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek as _},
    ops::ControlFlow,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use encoding_rs::{Encoding, UTF_8};
use encoding_rs_io::DecodeReaderBytesBuilder;
use sitemap_core::read::{
    ListError, ListProblem, MAX_GZIP_LAYERS, RowError, Start, Unpacked, UrlList,
};

use super::{
    SeedProblem,
    read::{Batch, DocumentReading, read},
};
use crate::{
    outcome::SessionOutcome,
    url_key::{Identity, UrlKey, UrlKeyError},
};

/// The most bytes of a list, compressed or not: some ten million URLs.
pub const MAX_LIST_BYTES: u64 = 1 << 30;

/// Lines of a list with a defect that are reported one by one; the others are counted.
pub const MAX_BAD_LINES_REPORTED: usize = 20;

/// Bytes of a list that are looked at to determine its kind; more bytes add nothing.
const HEAD_BYTES: u64 = 8 * 1024;

/// The first bytes of every gzip file (RFC 1952 section 2.3.1).
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// Characters of a bad line that are shown.
const MAX_CHARACTERS_REPORTED: usize = 100;

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
    /// The list cannot be read.
    #[error("failed to read the URL list {name}")]
    Io {
        /// The list.
        name: String,
        /// The system's words.
        #[source]
        source: io::Error,
    },
    /// The list has lines, none of which is a URL.
    #[error("no line of the URL list {name} is a URL; the first of {lines}: {first}")]
    NoUrl {
        /// The list.
        name: String,
        /// Lines that are not empty.
        lines: u64,
        /// The first of them.
        first: BadLine,
    },
    /// The header line does not show where the URLs are.
    #[error("{name}:{line}: {problem}")]
    Refused {
        /// The list.
        name: String,
        /// The line that shows it, from 1.
        line: u64,
        /// The text, and the expected form.
        problem: ListProblem,
    },
    /// A file in XML, or compressed, that is not a sitemap, index or feed.
    #[error("the URL list {name} is neither lines of URLs nor a sitemap or feed: {problem}")]
    NotAList {
        /// The list.
        name: String,
        /// The message of the reader.
        problem: String,
    },
    /// A sitemap or feed that cannot be read to its end.
    #[error("the URL list {name} cannot be read to its end: {problem}")]
    Broken {
        /// The list.
        name: String,
        /// The message of the reader.
        problem: String,
    },
    /// More than is read.
    #[error("the URL list {name} is larger than {MAX_LIST_BYTES} bytes")]
    TooLarge {
        /// The list.
        name: String,
    },
}

impl SeedListError {
    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        SessionOutcome::Settings
    }
}

/// A line of a list that is left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{list}:{line}: {problem}")]
pub struct BadLine {
    /// The list.
    pub list: String,
    /// Counted from 1.
    pub line: u64,
    /// The defect.
    pub problem: LineProblem,
}

/// The defect of a line of a list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// The line is not an absolute http(s) URL.
    #[error("expected an absolute http:// or https:// URL, found {text:?} ({reason})")]
    NoUrl {
        /// The beginning.
        text: String,
        /// The defect.
        reason: UrlKeyError,
    },
    /// The line cannot be read, or has no URL where one should be.
    #[error(transparent)]
    Row(#[from] RowError),
}

/// The result of a first look at a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListCheck {
    /// Entries that can be used.
    pub entries: u64,
    /// Lines that are left out.
    pub bad_lines: u64,
    /// The first [`MAX_BAD_LINES_REPORTED`] of them.
    pub told: Vec<BadLine>,
}

impl SeedList {
    /// The file at `path`.
    ///
    /// # Errors
    /// The list cannot be opened, or is not a regular file and cannot be copied; it is too large.
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

    /// The bytes of `input`, copied into a temporary file without a name; `name` is for people.
    ///
    /// # Errors
    /// The list cannot be read or copied; it is larger than [`MAX_LIST_BYTES`].
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

    /// The name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads all of it and finds what is wrong. A line of text that is not an absolute URL is left out and reported:
    /// in a list of thousands it is a slip, which must not cost the others. A list in which no line is a URL is
    /// no list.
    ///
    /// # Errors
    /// See [`SeedListError`].
    pub fn check(&self) -> Result<ListCheck, SeedListError> {
        let mut check = ListCheck::default();
        let mut note = |bad: BadLine| {
            check.bad_lines += 1;
            if check.told.len() < MAX_BAD_LINES_REPORTED {
                check.told.push(bad);
            }
        };
        let mut take = |_| ControlFlow::Continue(());
        let reading = self.visit(&Identity::default(), &mut take, &mut note)?;
        check.entries = reading.entries;
        match (check.told.first(), reading.problem) {
            (Some(first), _) if check.entries == 0 => Err(SeedListError::NoUrl {
                name: self.name.to_string(),
                lines: check.bad_lines,
                first: first.clone(),
            }),
            (_, Some((SeedProblem::TooLarge, _))) => Err(self.too_large()),
            (_, Some((kind, problem))) => {
                let name = self.name.to_string();
                Err(if kind.denies_document() {
                    SeedListError::NotAList { name, problem }
                } else {
                    SeedListError::Broken { name, problem }
                })
            }
            (_, None) => Ok(check),
        }
    }

    /// Hands its entries to `take` in batches. Lines that [`SeedList::check`] reports are left out.
    pub fn read(
        &self,
        identity: &Identity,
        take: &mut dyn FnMut(Batch) -> ControlFlow<()>,
    ) -> DocumentReading {
        self.visit(identity, take, &mut |_| {})
            .unwrap_or_else(|error| {
                DocumentReading::failed(&io::Error::new(io::ErrorKind::InvalidData, error))
            })
    }

    fn visit(
        &self,
        identity: &Identity,
        take: &mut dyn FnMut(Batch) -> ControlFlow<()>,
        note: &mut dyn FnMut(BadLine),
    ) -> Result<DocumentReading, SeedListError> {
        let io = |source| SeedListError::Io {
            name: self.name.to_string(),
            source,
        };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.rewind().map_err(io)?;
        let mut head = Vec::new();
        // One that cannot be unpacked fails again below, with words of its own.
        let _unpacked = Unpacked::new(BufReader::new(&*file))
            .take(HEAD_BYTES)
            .read_to_end(&mut head);
        file.rewind().map_err(io)?;
        let input = BufReader::new(&*file);
        if head.starts_with(GZIP_MAGIC) {
            return Err(SeedListError::NotAList {
                name: self.name.to_string(),
                problem: format!("it is compressed more than {MAX_GZIP_LAYERS} times"),
            });
        }
        match Start::of(&head) {
            Some(Start {
                is_markup: false,
                encoding,
                ..
            }) => {
                let encoding = encoding.and_then(|name| Encoding::for_label(name.as_bytes()));
                let text = Unpacked::new(input).take(MAX_LIST_BYTES + 1);
                match encoding.filter(|encoding| *encoding != UTF_8) {
                    None => self.visit_lines(text, identity, take, note),
                    Some(encoding) => {
                        let text = decoded(text, encoding);
                        self.visit_lines(text, identity, take, note)
                    }
                }
            }
            // What nobody reads it refuses with words of its own.
            Some(_) | None => Ok(read(input, MAX_LIST_BYTES, None, identity, take)),
        }
    }

    fn too_large(&self) -> SeedListError {
        SeedListError::TooLarge {
            name: self.name.to_string(),
        }
    }

    fn visit_lines(
        &self,
        input: impl BufRead,
        identity: &Identity,
        take: &mut dyn FnMut(Batch) -> ControlFlow<()>,
        note: &mut dyn FnMut(BadLine),
    ) -> Result<DocumentReading, SeedListError> {
        let failed = |error| match error {
            ListError::Refused { line, problem } => SeedListError::Refused {
                name: self.name.to_string(),
                line,
                problem,
            },
            ListError::Io(source) => SeedListError::Io {
                name: self.name.to_string(),
                source,
            },
        };
        let mut reading = DocumentReading::default();
        let mut batch = Batch::default();
        let mut list = UrlList::open(input, None).map_err(failed)?;
        while let Some(row) = list.next().map_err(failed)? {
            let line = row.line;
            match row
                .url
                .map_err(LineProblem::Row)
                .and_then(|url| key_of(&url, identity))
            {
                Ok(key) => {
                    reading.entries += 1;
                    batch.pages.push(key);
                }
                Err(problem) => {
                    reading.note_unusable(|| format!("line {line}: {problem}"));
                    let list = self.name.to_string();
                    note(BadLine {
                        list,
                        line,
                        problem,
                    });
                }
            }
            if batch.pages.len() >= BATCH_LINES && take(std::mem::take(&mut batch)).is_break() {
                return Ok(reading);
            }
        }
        if list.lines().bytes() > MAX_LIST_BYTES {
            return Err(self.too_large());
        }
        if let Some(first) = reading.troubles.first().filter(|_| reading.entries == 0) {
            // Its lines were changed since they were checked.
            reading.problem = Some((SeedProblem::NotASitemap, first.example.clone()));
        }
        reading.note_left_out(list.left_out());
        if list.lines().has_trailing_bytes() {
            reading.note_trailing_bytes();
        }
        if !batch.pages.is_empty() && take(batch).is_break() {
            return Ok(reading);
        }
        Ok(reading)
    }
}

fn key_of(url: &str, identity: &Identity) -> Result<UrlKey, LineProblem> {
    identity.parse(url).map_err(|reason| LineProblem::NoUrl {
        text: url.chars().take(MAX_CHARACTERS_REPORTED).collect(),
        reason,
    })
}

/// The text of a list in UTF-8. Documents of XML are left to their reader.
pub(crate) fn decoded(input: impl Read, encoding: &'static Encoding) -> impl BufRead {
    let mut decoder = DecodeReaderBytesBuilder::new();
    BufReader::new(decoder.encoding(Some(encoding)).build(input))
}
