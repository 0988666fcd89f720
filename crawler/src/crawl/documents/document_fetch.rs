//! The work on one document apart from the loop: it is downloaded, or at hand, and it is read
//! where blocking is allowed. What the bytes name goes to the loop in batches; nothing is decided here.

use std::{io::BufRead, ops::ControlFlow, sync::Arc};

use jiff::Timestamp;
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    client::{DownloadError, DownloadedDocument, Downloader, Shutdown},
    fetch::Headers,
    page::BodyEnd,
    seeds::{self, Batch, DocumentReading, MAX_UNPACKED_BYTES, OwnFiles, SeedList, SeedProblem},
    url_key::{Identity, UrlKey},
};

/// The work on a document at a URL.
pub(super) struct DocumentFetch {
    /// The place.
    pub(super) url: UrlKey,
    /// The document itself, when it was asked for as a page.
    pub(super) at_hand: Option<Box<DownloadedDocument>>,
    /// The last change that its index states.
    pub(super) lastmod: Option<String>,
    pub(super) downloader: Downloader,
    /// The files that arpent published itself.
    pub(super) own: Arc<OwnFiles>,
    pub(super) identity: Arc<Identity>,
    pub(super) sender: mpsc::Sender<Batch>,
    pub(super) shutdown: Shutdown,
}

/// How the work on a document ended.
pub(in crate::crawl) enum DocumentEnd {
    /// The document was read, as far as it could be.
    Read {
        reading: DocumentReading,
        end: BodyEnd,
        /// The URL at which it was found in the end.
        url: Option<UrlKey>,
        wire_bytes: u64,
    },
    /// The document is one of our own.
    Own { wire_bytes: u64 },
    /// Another status than 200.
    Status { status: u16, wire_bytes: u64 },
    /// There was no answer.
    Error(DownloadError),
    /// A bug of ours.
    Internal(String),
}

impl DocumentEnd {
    /// The answer to the last request for the document: `Err` is the failure of its host. `None` when nothing was requested.
    pub(in crate::crawl) fn answer(&self) -> Option<Result<(), String>> {
        match self {
            Self::Read { url, .. } => url.as_ref().map(|_| Ok(())),
            Self::Status { status, .. } if matches!(status, 429 | 500..=599) => {
                Some(Err(status.to_string()))
            }
            Self::Own { .. } | Self::Status { .. } => Some(Ok(())),
            Self::Error(DownloadError::NoAnswer { message, .. }) => Some(Err(message.clone())),
            Self::Error(_) | Self::Internal(_) => None,
        }
    }

    /// The document was at hand, and read to its end.
    fn of_whole(reading: DocumentReading) -> Self {
        Self::Read {
            reading,
            end: BodyEnd::Complete,
            url: None,
            wire_bytes: 0,
        }
    }
}

impl DocumentFetch {
    /// Asks for the document, a second time when only that shows whether it is broken: an answer that does
    /// not state its length ends like one that broke off, but does not end twice at the same byte.
    pub(super) async fn run(mut self) -> DocumentEnd {
        let mut earlier: Option<Broken> = None;
        loop {
            let document = match self.at_hand.take() {
                Some(document) => *document,
                None => match self.downloader.download(&self.url, &self.shutdown).await {
                    Ok(document) => document,
                    Err(error) => return DocumentEnd::Error(error),
                },
            };
            let before = earlier.as_ref().map_or(0, |broken| broken.wire_bytes);
            let wire_bytes = before + document.wire_bytes;
            let status = document.status;
            if status != 200 {
                return DocumentEnd::Status { status, wire_bytes };
            }
            let is_complete = document.end == BodyEnd::Complete;
            if is_complete && self.own.contains(&document.sha256) {
                return DocumentEnd::Own { wire_bytes };
            }
            let may_be_cut = is_complete && !states_its_length(&document.headers);
            let (end, url, sha256) = (
                document.end.clone(),
                document.url.clone(),
                document.sha256.clone(),
            );
            let mut reading = match self.read(document).await {
                Ok(read) => read,
                Err(end) => return end,
            };
            if may_be_cut && let Some((problem, _)) = &mut reading.problem {
                let is_broken = matches!(problem, SeedProblem::Truncated | SeedProblem::Damaged);
                match &earlier {
                    None if is_broken => {
                        earlier = Some(Broken { sha256, wire_bytes });
                        continue;
                    }
                    Some(broken) if is_broken && broken.sha256 != sha256 => {
                        *problem = SeedProblem::CutShort;
                    }
                    Some(_) | None => {}
                }
            }
            return DocumentEnd::Read {
                reading,
                end,
                url: Some(url),
                wire_bytes,
            };
        }
    }

    /// Reads what was fetched.
    async fn read(&self, document: DownloadedDocument) -> Result<DocumentReading, DocumentEnd> {
        let file = document
            .last_modified
            .or_else(|| self.lastmod.as_deref().and_then(file_date));
        let reader = self.reader(document.url.clone(), file);
        let read = blocking(move || Ok(reader.read(document.into_body()?)));
        match read.await {
            Ok(Ok(reading)) => Ok(reading),
            Ok(Err(error)) => Err(DocumentEnd::Error(DownloadError::Spool(error))),
            Err(error) => Err(DocumentEnd::Internal(error)),
        }
    }

    /// Reads what is at `place`.
    fn reader(&self, place: UrlKey, file: Option<Timestamp>) -> NamedUrlReader {
        NamedUrlReader {
            place,
            file,
            identity: Arc::clone(&self.identity),
            sender: self.sender.clone(),
        }
    }
}

/// An answer that ended before its document did.
struct Broken {
    sha256: String,
    /// Bytes of it on the wire.
    wire_bytes: u64,
}

/// Returns whether an answer cannot end early without being noticed: it states its length, or its chunks have a last
/// one. Otherwise its end is the end of the connection (RFC 9112 section 6.3), or of an HTTP/2 stream, which
/// servers also end when what makes the document fails.
fn states_its_length(headers: &Headers) -> bool {
    let is_chunked = |value: &[u8]| {
        let last = value
            .rsplit(|byte| *byte == b',')
            .next()
            .unwrap_or_default();
        last.trim_ascii().eq_ignore_ascii_case(b"chunked")
    };
    headers.all("content-length").next().is_some()
        || headers
            .all("transfer-encoding")
            .last()
            .is_some_and(is_chunked)
}

/// Reads bytes and hands over what they name.
struct NamedUrlReader {
    place: UrlKey,
    /// When the file was changed.
    file: Option<Timestamp>,
    identity: Arc<Identity>,
    sender: mpsc::Sender<Batch>,
}

impl NamedUrlReader {
    fn read(&self, body: impl BufRead) -> DocumentReading {
        seeds::read(
            body,
            MAX_UNPACKED_BYTES,
            Some(&self.place),
            &self.identity,
            &mut |mut batch| {
                if let Some(file) = self.file {
                    batch.mark_dates_of(file);
                }
                hand_over(&self.sender, batch)
            },
        )
    }
}

/// The last change of a file that an index states, if that is an instant.
fn file_date(lastmod: &str) -> Option<Timestamp> {
    lastmod.parse().ok()
}

/// Runs `work` where blocking is allowed; `Err` is a bug of ours.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let mut tasks = JoinSet::new();
    tasks.spawn_blocking(work);
    match tasks.join_next().await {
        Some(done) => done.map_err(|error| error.to_string()),
        None => Err("the reader is gone".to_owned()),
    }
}

/// Reads a list of the user.
pub(super) async fn read_list(
    list: SeedList,
    identity: Arc<Identity>,
    sender: mpsc::Sender<Batch>,
) -> DocumentEnd {
    let read = move || list.read(&identity, &mut |batch| hand_over(&sender, batch));
    match blocking(read).await {
        Ok(reading) => DocumentEnd::of_whole(reading),
        Err(error) => DocumentEnd::Internal(error),
    }
}

/// Waits until the loop has room; it is over when the loop is.
fn hand_over(sender: &mpsc::Sender<Batch>, batch: Batch) -> ControlFlow<()> {
    match sender.blocking_send(batch) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}
