//! A server of raw bytes, on threads of its own.

use std::{
    io::{ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// A listening server. Its threads end when the test does.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

/// An accepted connection.
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    /// 0 for the first connection of the server.
    pub(super) number: usize,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server that runs `script` for each connection, and closes it after.
    pub(super) fn start(script: impl Fn(&mut Connection) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let script = Arc::new(script);
        let (counter, log) = (Arc::clone(&connections), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let number = counter.fetch_add(1, Ordering::SeqCst);
                let mut connection = Connection {
                    stream: stream.unwrap(),
                    number,
                    requests: Arc::clone(&log),
                };
                let script = Arc::clone(&script);
                thread::spawn(move || script(&mut connection));
            }
        });
        Self {
            address,
            connections,
            requests,
        }
    }

    /// A server that answers every request on every connection with `answer`.
    pub(super) fn always(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |connection| {
            while connection.request().is_some() {
                connection.send(&answer);
            }
        })
    }

    /// A server that answers the first request of each connection with `answer` and closes.
    pub(super) fn once(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |connection| {
            connection.request();
            connection.send(&answer);
        })
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Connections accepted so far.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Heads of the requests so far, in lower case.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Connection {
    /// Reads the head of the next request; `None` when the client closed instead.
    pub(super) fn request(&mut self) -> Option<String> {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            match self.stream.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ => return None,
            }
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        self.requests.lock().unwrap().push(head.clone());
        Some(head)
    }

    /// Writes `bytes`; returns whether the client is still there.
    pub(super) fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    /// Keeps the connection open until the client closes it.
    pub(super) fn hold(&mut self) {
        while matches!(self.stream.read(&mut [0; 1024]), Ok(count) if count > 0) {}
    }

    /// Waits for `time` or until the client closes; returns whether it is still there.
    pub(super) fn pause(&mut self, time: Duration) -> bool {
        self.stream.set_read_timeout(Some(time)).unwrap();
        let outcome = self.stream.read(&mut [0; 1024]);
        self.stream.set_read_timeout(None).unwrap();
        matches!(outcome, Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
    }

    /// Ends our direction; the client sees the end of the stream.
    pub(super) fn finish(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }
}
