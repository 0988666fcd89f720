//! One file of a set on its way to its name: whether it changed, and the checked temporary that takes its place when
//! it did. What is in it says a [`FileContent`]; the same way is gone by a file of a new set, by a copy of a kept one,
//! and by every index. It makes nothing visible.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Write},
    path::Path,
};

use jiff::{Timestamp, ToSpan as _};
use sha2::{Digest as _, Sha256};
use sitemap_core::{
    partition::Suffix,
    read::{self, CheckError, Expectation},
    write::{FileSummary, GzipWriter, WriteError},
};

use super::{
    PublishError, PublishRequest,
    content::entry_at,
    files::{FileKind, Role},
    folder::{Folder, Temporary, failed},
    go_on,
    manifest::{FileRecord, UNKNOWN},
    place::Address,
    previous::Previous,
};
use crate::{machine::open_regular, store::hex};

/// One file of a set: what it is, and its temporary when it has to be written.
#[derive(Debug)]
pub(super) struct BuiltFile {
    pub(super) address: Address,
    pub(super) role: Role,
    pub(super) kind: FileKind,
    /// Of an index: the names of the files that it names.
    pub(super) members: Vec<String>,
    pub(super) made: Made,
}

/// What became of a file.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) record: FileRecord,
    /// It is not as it stands.
    pub(super) changed: bool,
    pub(super) temporary: Option<Temporary>,
}

/// A content before compression: its SHA-256, hex, and its counts.
pub(super) type Weighed = (String, FileSummary);

/// What is in a file.
pub(super) trait FileContent {
    /// Finds out what it is without writing it.
    fn weigh(&self) -> Result<Weighed, PublishError>;

    /// Writes it to the new file at `path`, as it will stand.
    fn write(&self, path: &Path, file: &File) -> Result<Weighed, PublishError>;

    /// Whether what was written may become visible.
    fn check(&self, temporary: &Temporary, summary: &FileSummary) -> Result<(), PublishError>;
}

/// Finds out whether the file `name` changes, and writes a checked temporary when it does; without a folder nothing is
/// written.
pub(super) fn make(
    request: &PublishRequest<'_>,
    previous: &Previous,
    name: &str,
    content: &dyn FileContent,
    folder: Option<&mut Folder>,
) -> Result<Made, PublishError> {
    go_on(request)?;
    if let Some(path) = folder.as_ref().and_then(|folder| folder.astray(name)) {
        return Err(PublishError::Astray(path));
    }
    let known = previous.file(name);
    let on_disk = match &folder {
        Some(folder) => folder.hash(name)?,
        None => known.map(|known| known.file_sha256.clone()),
    };
    let changed_at = changed_at(request, known);
    let record = |(sha256, summary): Weighed, file_sha256: &str| FileRecord {
        name: name.to_owned(),
        sha256,
        file_sha256: file_sha256.to_owned(),
        entries: summary.entries,
        bytes: summary.bytes,
        lastmod: if previous.clocks_agree {
            changed_at
        } else {
            UNKNOWN
        },
    };
    let stands = known.filter(|known| on_disk.as_ref() == Some(&known.file_sha256));
    if stands.is_some() || folder.is_none() {
        let weighed = content.weigh()?;
        if let Some(known) = stands.filter(|known| known.sha256 == weighed.0) {
            return Ok(Made::standing(known.clone()));
        }
        if folder.is_none() {
            return Ok(Made {
                record: record(weighed, ""),
                changed: true,
                temporary: None,
            });
        }
    }
    let folder = folder.expect("without a folder the function returned above");
    let (path, file) = folder.create_temporary()?;
    let weighed = content.write(&path, &file)?;
    let temporary = Folder::finish_temporary(path, &file, changed_at)?;
    content.check(&temporary, &weighed.1)?;
    let record = record(weighed, &temporary.file_sha256);
    if on_disk.as_ref() == Some(&temporary.file_sha256) {
        // Written by a publish that did not come to its end, or put there by a copy: it stands.
        let lastmod = known
            .map(|known| known.lastmod)
            .max(folder.modified(name))
            .unwrap_or(changed_at);
        if lastmod <= changed_at {
            return Ok(Made::standing(FileRecord { lastmod, ..record }));
        }
    }
    Ok(Made {
        record,
        changed: true,
        temporary: Some(temporary),
    })
}

impl Made {
    fn standing(record: FileRecord) -> Self {
        Self {
            record,
            changed: false,
            temporary: None,
        }
    }
}

/// The time of a change now: whole seconds, and later than the recorded one, so that whoever
/// fetches by the index's `lastmod` sees the change.
fn changed_at(request: &PublishRequest<'_>, known: Option<&FileRecord>) -> Timestamp {
    let now = Timestamp::from_second(request.now.as_second()).unwrap_or(request.now);
    known.map_or(now, |known| now.max(known.lastmod + 1.second()))
}

/// Whether the name, which is ours, says gzip.
fn is_gzipped(name: &str) -> bool {
    let suffixes = [Suffix::XmlGz, Suffix::TxtGz];
    suffixes
        .iter()
        .any(|suffix| name.ends_with(suffix.as_str()))
}

/// Lets `write` write to the new file at `path`, compressed if its final name `name` says so.
pub(super) fn write_to(
    name: &str,
    path: &Path,
    file: &File,
    write: impl FnOnce(&mut dyn Write) -> Result<Weighed, PublishError>,
) -> Result<Weighed, PublishError> {
    let mut buffered = BufWriter::new(file);
    if is_gzipped(name) {
        let mut gzip = GzipWriter::new(buffered);
        let written = write(&mut gzip)?;
        let buffered = gzip.finish().map_err(failed("write", path))?;
        buffered
            .into_inner()
            .map_err(|error| failed("write", path)(error.into_error()))?;
        Ok(written)
    } else {
        let written = write(&mut buffered)?;
        buffered.flush().map_err(failed("write", path))?;
        Ok(written)
    }
}

/// Reads the written file `name` back: well-formed, counted, within its limits and its location.
pub(super) fn check_written(
    name: &str,
    expectation: &Expectation<'_>,
    temporary: &Temporary,
    summary: &FileSummary,
) -> Result<(), PublishError> {
    let problem = |problem: String| PublishError::Check {
        name: name.to_owned(),
        problem,
    };
    let file = open_regular(&temporary.path).map_err(failed("read", &temporary.path))?;
    let found = read::check(BufReader::new(file), expectation).map_err(|error| {
        let place = match &error {
            CheckError::Finding(finding) => open_regular(&temporary.path)
                .ok()
                .and_then(|file| entry_at(BufReader::new(file), finding.position)),
            // The others name the URL, or are about the file as a whole.
            _ => None,
        };
        problem(match place {
            Some(place) => format!("{error}, {place}"),
            None => error.to_string(),
        })
    })?;
    if found == *summary {
        Ok(())
    } else {
        Err(problem(format!("expected {summary:?}, read {found:?}")))
    }
}

/// Why the file `name` could not be written.
pub(super) fn write_failed(name: &str, error: WriteError) -> PublishError {
    match error {
        WriteError::Io(source) => PublishError::Io {
            action: "write",
            path: name.into(),
            source,
        },
        error => PublishError::Check {
            name: name.to_owned(),
            problem: error.to_string(),
        },
    }
}

/// The file `name` has no room for what it is to hold.
pub(super) fn over_limit(name: &str) -> PublishError {
    PublishError::Check {
        name: name.to_owned(),
        problem: "the plan puts more into it than the protocol allows".to_owned(),
    }
}

/// Hashes what passes through.
pub(super) struct Hashing<W> {
    out: W,
    hash: Sha256,
}

impl<W> Hashing<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            hash: Sha256::new(),
        }
    }

    /// SHA-256 of what passed, hex.
    pub(super) fn finish(self) -> String {
        hex(self.hash)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(bytes.split_at(written).0);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
