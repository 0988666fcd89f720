//! One file of a set on its way to its name: whether it changed, and the checked temporary that takes its place when
//! it did. A [`FileContent`] gives the content of a file of a new set, of a copy of an archived file, or of an index. It makes
//! nothing visible.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Write},
    panic,
    path::{Path, PathBuf},
    sync::mpsc::{self, SyncSender},
    thread,
};

use jiff::{Timestamp, ToSpan as _};
use sha2::{Digest as _, Sha256};
use sitemap_core::{
    IndexEntry, Limits, Loc, UrlEntry,
    extension::CustomNamespace,
    partition::Suffix,
    read::{self, CheckError, Expectation, Item, Kind, Position, ReadError, Reader},
    write::{FileSummary, GzipWriter, Push, WriteError},
};

use super::{
    PublishError, PublishRequest,
    files::{FileKind, Role},
    folder::{Folder, Temporary, failed},
    go_on,
    manifest::{FileRecord, UNKNOWN},
    place::Address,
    previous::Previous,
};
use crate::machine::{hex, open_regular};

/// A file of a set: what it is, and its temporary when it has to be written.
#[derive(Debug)]
pub(super) struct BuiltFile {
    pub(super) address: Address,
    pub(super) role: Role,
    pub(super) kind: FileKind,
    /// Names of the files that an index names.
    pub(super) members: Vec<String>,
    pub(super) made: BuildResult,
}

/// Result of building a file.
#[derive(Debug)]
pub(super) struct BuildResult {
    pub(super) record: FileRecord,
    /// The file differs from the published file.
    pub(super) changed: bool,
    pub(super) temporary: Option<Temporary>,
}

/// A content before compression: its SHA-256, hex, and its counts.
pub(super) type ContentSummary = (String, FileSummary);

/// The content of a file.
pub(super) trait FileContent {
    /// Writes it, before compression.
    fn write(&self, out: &mut dyn Write) -> Result<ContentSummary, PublishError>;

    /// What its reader has to find: the kind of the file, and the URL that decides which URLs it may list; `None`: it has no reader.
    fn expected(&self) -> Result<Option<(Kind, Loc)>, PublishError>;
}

/// Reads written files back on a thread of its own, while others are written.
pub(super) struct Checking {
    files: SyncSender<WrittenFile>,
}

/// A file to read back.
struct WrittenFile {
    name: String,
    path: PathBuf,
    expected: (Kind, Loc),
    summary: FileSummary,
}

impl Checking {
    /// The result of `build`, all of whose files were read back: they may become visible. Their entries may use `custom` namespaces.
    pub(super) fn during<T>(
        custom: &[CustomNamespace],
        build: impl FnOnce(&Self) -> Result<T, PublishError>,
    ) -> Result<T, PublishError> {
        let (files, written) = mpsc::sync_channel(1);
        thread::scope(|scope| {
            let checks = scope.spawn(move || {
                let mut written = written.into_iter();
                written.try_for_each(|file: WrittenFile| file.check(custom))
            });
            let outcome = build(&Self { files });
            let checked = checks.join();
            checked.unwrap_or_else(|cause| panic::resume_unwind(cause))?;
            outcome
        })
    }
}

/// Writes the file `name` to a temporary when its content changed, and has it checked; without a folder nothing is written.
pub(super) fn make(
    request: &PublishRequest<'_>,
    previous: &Previous,
    name: &str,
    content: &dyn FileContent,
    folder: Option<&mut Folder>,
    checking: &Checking,
) -> Result<BuildResult, PublishError> {
    go_on(request)?;
    let known = previous.file(name);
    let changed_at = changed_at(request, known);
    let record = |(sha256, summary): ContentSummary, file_sha256: &str| FileRecord {
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
    let Some(folder) = folder else {
        let weighed = content.write(&mut io::sink())?;
        let same = known.filter(|known| known.sha256 == weighed.0);
        return Ok(match same {
            Some(known) => BuildResult::unchanged(known.clone()),
            None => BuildResult::new(record(weighed, ""), None),
        });
    };
    if let Some(path) = folder.astray(name) {
        return Err(PublishError::NotAFolder(path));
    }
    let on_disk = folder.hash(name)?;
    let mut buffer = Buffer::default();
    let weighed = content.write(&mut buffer)?;
    let intact = known.filter(|known| on_disk.as_ref() == Some(&known.file_sha256));
    if let Some(known) = intact.filter(|known| known.sha256 == weighed.0) {
        return Ok(BuildResult::unchanged(known.clone()));
    }
    let (path, file) = folder.create_temporary()?;
    write_to(name, &path, &file, |out| match &buffer.bytes {
        Some(bytes) => out.write_all(bytes).map_err(failed("write", &path)),
        None => content.write(out).map(drop),
    })?;
    let temporary = Folder::finish_temporary(path, &file, changed_at)?;
    let written = content.expected()?.map(|expected| WrittenFile {
        name: name.to_owned(),
        path: temporary.path.clone(),
        expected,
        summary: weighed.1.clone(),
    });
    if written.is_some_and(|written| checking.files.send(written).is_err()) {
        // Nothing is read after a fault, which takes the place of this one.
        return Err(PublishError::Check {
            name: name.to_owned(),
            problem: "another file was refused".to_owned(),
        });
    }
    let record = record(weighed, &temporary.file_sha256);
    Ok(
        match stands_as(previous, folder, record, on_disk.as_deref(), changed_at) {
            Ok(record) => BuildResult::unchanged(record),
            Err(record) => BuildResult::new(record, Some(temporary)),
        },
    )
}

/// The record of a file that an interrupted publish, or a copy of the output, put there already; otherwise `record` as an
/// error.
pub(super) fn stands_as(
    previous: &Previous,
    folder: &Folder,
    record: FileRecord,
    on_disk: Option<&str>,
    changed_at: Timestamp,
) -> Result<FileRecord, FileRecord> {
    if on_disk != Some(record.file_sha256.as_str()) {
        return Err(record);
    }
    let known = previous.file(&record.name);
    let lastmod = known
        .map(|known| known.lastmod)
        .max(folder.modified(&record.name))
        .unwrap_or(changed_at);
    if lastmod <= changed_at {
        Ok(FileRecord { lastmod, ..record })
    } else {
        Err(record)
    }
}

impl BuildResult {
    pub(super) fn new(record: FileRecord, temporary: Option<Temporary>) -> Self {
        Self {
            record,
            changed: true,
            temporary,
        }
    }

    pub(super) fn unchanged(record: FileRecord) -> Self {
        Self {
            record,
            changed: false,
            temporary: None,
        }
    }
}

/// The time of a change now: whole seconds, and later than the recorded one, so that readers
/// who fetch by the index's `lastmod` notice the change.
pub(super) fn changed_at(request: &PublishRequest<'_>, known: Option<&FileRecord>) -> Timestamp {
    let now = Timestamp::from_second(request.now.as_second()).unwrap_or(request.now);
    known.map_or(now, |known| now.max(known.lastmod + 1.second()))
}

/// Returns whether a name of ours ends in `.gz`.
fn is_gzipped(name: &str) -> bool {
    let suffixes = [Suffix::XmlGz, Suffix::TxtGz];
    suffixes
        .iter()
        .any(|suffix| name.ends_with(suffix.as_str()))
}

/// Lets `write` write to the new file at `path`, compressed if its final name `name` ends in `.gz`.
fn write_to(
    name: &str,
    path: &Path,
    file: &File,
    write: impl FnOnce(&mut dyn Write) -> Result<(), PublishError>,
) -> Result<(), PublishError> {
    let mut buffered = BufWriter::new(file);
    if is_gzipped(name) {
        let mut gzip = GzipWriter::new(buffered);
        write(&mut gzip)?;
        buffered = gzip.finish().map_err(failed("write", path))?;
    } else {
        write(&mut buffered)?;
    }
    buffered.flush().map_err(failed("write", path))
}

/// The bytes of a file before compression, in memory up to [`Buffer::MAX_BYTES`]: a file that did not change is neither
/// compressed nor written.
struct Buffer {
    /// `None`: there are more.
    bytes: Option<Vec<u8>>,
}

impl Buffer {
    /// A file aims at 10,000 entries, which take about 1 MB; a larger file is generated twice when it changed.
    const MAX_BYTES: usize = 8 * 1024 * 1024;
}

impl Default for Buffer {
    fn default() -> Self {
        Self {
            bytes: Some(Vec::new()),
        }
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let has_room = |held: &Vec<u8>| held.len() + bytes.len() <= Self::MAX_BYTES;
        self.bytes = self.bytes.take().filter(has_room);
        if let Some(held) = &mut self.bytes {
            held.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WrittenFile {
    /// Reads it: well-formed, counted, within its limits and its location.
    fn check(self, custom: &[CustomNamespace]) -> Result<(), PublishError> {
        let Self {
            name,
            path,
            expected: (kind, location),
            summary,
        } = self;
        let mut expectation = Expectation::new(kind, &location);
        expectation.entries = Some(summary.entries);
        expectation.custom_namespaces = custom;
        let file = open_regular(&path).map_err(failed("read", &path))?;
        let problem = match read::check(BufReader::new(file), &expectation) {
            Ok(found) if found == summary => return Ok(()),
            Ok(found) => format!("expected {summary:?}, read {found:?}"),
            Err(error) => {
                let place = match &error {
                    CheckError::Finding(finding) => open_regular(&path)
                        .ok()
                        .and_then(|file| entry_at(BufReader::new(file), finding.position)),
                    // The others name the URL, or are about the file as a whole.
                    _ => None,
                };
                match place {
                    Some(place) => format!("{error}, {place}"),
                    None => error.to_string(),
                }
            }
        };
        Err(PublishError::Check { name, problem })
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

/// The result of adding an entry to the file `name`, which has room by the plan.
pub(super) fn pushed(name: &str, push: Result<Push, WriteError>) -> Result<(), PublishError> {
    match push.map_err(|error| write_failed(name, error))? {
        Push::Written => Ok(()),
        Push::Full => Err(PublishError::Check {
            name: name.to_owned(),
            problem: "the plan puts more into it than the protocol allows".to_owned(),
        }),
    }
}

/// Hashes the bytes that pass through.
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

    /// SHA-256 of the bytes so far, hex.
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

/// The entry at this place of a file, in words: that of a URL, or the one after a URL when its own cannot be read.
pub(super) fn entry_at(file: impl BufRead, position: Position) -> Option<String> {
    let mut reader = Reader::new(file, Limits::PROTOCOL);
    let mut before = None;
    while let Some(item) = reader.next() {
        match item {
            Ok(Item::Url(UrlEntry { loc, .. }) | Item::Sitemap(IndexEntry { loc, .. })) => {
                if reader.entry_position() > position {
                    break;
                }
                before = Some(format!("in the entry of {loc}"));
            }
            Err(error) => {
                let is_it =
                    matches!(&error, ReadError::Entry(finding) if finding.position >= position);
                if is_it || error.is_fatal() {
                    return before.map(|place| place.replacen("in", "behind", 1));
                }
            }
        }
    }
    before
}
