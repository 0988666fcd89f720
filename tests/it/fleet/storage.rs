//! Object storage of the tests: its buckets, a proxy before it that logs and fails on demand, and a reader of the public bucket.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::cloud::{Moto, read_set, request};

/// The bucket of the published sets, which everybody reads, and the one of the states.
pub(super) const SETS: &str = "sets";
pub(super) const STATES: &str = "states";

/// Time between two looks of the reader.
const PAUSE: Duration = Duration::from_millis(50);

/// The keys of a bucket that begin with `prefix`.
pub(super) fn list(moto: &Moto, bucket: &str, prefix: &str) -> Vec<String> {
    let path = format!("/{bucket}?list-type=2&prefix={prefix}");
    let (status, listing) = request(moto.port, "GET", &path).expect("an answer");
    let listing = String::from_utf8(listing).expect("a listing is text");
    assert_eq!(status, 200, "{listing}");
    assert!(
        listing.contains("<IsTruncated>false"),
        "{prefix} has more keys than a listing"
    );
    let keys = listing.split("<Key>").skip(1);
    keys.map(|rest| rest.split("</Key>").next().unwrap_or_default().to_owned())
        .collect()
}

/// The content of a public object.
pub(super) fn get(moto: &Moto, bucket: &str, key: &str) -> Vec<u8> {
    let answer = request(moto.port, "GET", &format!("/{bucket}/{key}"));
    let (status, content) = answer.expect("an answer");
    assert_eq!(status, 200, "GET {bucket}/{key}");
    content
}

/// A request for a change, as the proxy saw it.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// `PUT` or `DELETE`.
    pub(super) method: String,
    /// Bucket and key.
    pub(super) key: String,
    pub(super) status: u16,
}

/// A proxy that sends each request on, or answers 500 while it is broken.
pub(super) struct Proxy {
    pub(super) port: u16,
    shared: Arc<ProxyShared>,
}

struct ProxyShared {
    to: u16,
    is_broken: AtomicBool,
    is_over: AtomicBool,
    changes: Mutex<Vec<Change>>,
}

impl Proxy {
    pub(super) fn before(moto: &Moto) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it has an address").port();
        let shared = Arc::new(ProxyShared {
            to: moto.port,
            is_broken: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            changes: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&accepting);
                thread::spawn(move || pass_on(&shared, stream));
            }
        });
        Self { port, shared }
    }

    /// Answers 500 to everything from now on, or no longer.
    pub(super) fn break_down(&self, is_broken: bool) {
        self.shared.is_broken.store(is_broken, Ordering::SeqCst);
    }

    pub(super) fn changes(&self) -> MutexGuard<'_, Vec<Change>> {
        let changes = self.shared.changes.lock();
        changes.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

/// Serves one connection, which has one request: both sides close it after the answer.
fn pass_on(shared: &ProxyShared, stream: TcpStream) -> Option<()> {
    let mut client = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if client.by_ref().take(65_536).read_line(&mut line).ok()? == 0 {
            return None;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim_end().is_empty() {
            break;
        }
        if !lower.starts_with("connection:") {
            head += &line;
        }
    }
    head += "Connection: close\r\n\r\n";
    let mut body = vec![0; length];
    client.read_exact(&mut body).ok()?;
    let mut answer = Vec::new();
    if shared.is_broken.load(Ordering::SeqCst) {
        let error = "<Error><Code>InternalError</Code></Error>";
        answer = format!(
            "HTTP/1.1 500 Broken\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{error}",
            error.len()
        )
        .into_bytes();
    } else {
        let mut server = TcpStream::connect(("127.0.0.1", shared.to)).ok()?;
        server.write_all(head.as_bytes()).ok()?;
        server.write_all(&body).ok()?;
        server.read_to_end(&mut answer).ok()?;
    }
    let mut words = head.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    if matches!(method.as_str(), "PUT" | "DELETE") {
        let status = String::from_utf8_lossy(answer.get(9..12)?).parse().ok()?;
        let mut changes = shared
            .changes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        changes.push(Change {
            method,
            key: target.trim_start_matches('/').to_owned(),
            status,
        });
    }
    client.get_mut().write_all(&answer).ok()
}

/// A reader that looks at the sets of some sites again and again.
pub(super) struct Reader {
    is_over: Arc<AtomicBool>,
    reads: JoinHandle<BTreeSet<String>>,
}

impl Reader {
    /// Begins to read the sets of these sites.
    pub(super) fn watch(moto: &Moto, names: Vec<String>) -> Self {
        let (port, is_over) = (moto.port, Arc::new(AtomicBool::new(false)));
        let over = Arc::clone(&is_over);
        let reads = thread::spawn(move || {
            let mut found = BTreeSet::new();
            while !over.load(Ordering::SeqCst) {
                for name in &names {
                    if read_set(port, &format!("/{SETS}/{name}")) {
                        found.insert(name.clone());
                    }
                }
                thread::sleep(PAUSE);
            }
            found
        });
        Self { is_over, reads }
    }

    /// Ends; returns the sites that had a set. Fails if an index named an object that did not exist.
    pub(super) fn finish(self) -> BTreeSet<String> {
        self.is_over.store(true, Ordering::SeqCst);
        self.reads.join().expect("an index named a missing object")
    }
}
