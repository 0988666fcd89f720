//! What is said to a program and what it says, neither of which is ever waited for: a program, or one that it has started
//! and left behind, may leave its pipes full, or open, for ever. Dropped, our ends of them are closed.

use std::{
    io::{self, PipeReader},
    process::ChildStdin,
};

/// Bytes of what a program says that are kept: the last ones.
pub(super) const MAX_SAID_BYTES: usize = 4 * 1024;

/// Bytes that are read at once: what a pipe of Linux holds.
const READ_BYTES: usize = 64 * 1024;

/// Adds `bytes`, and keeps only the end.
fn keep_end(tail: &mut Vec<u8>, bytes: &[u8]) {
    tail.extend_from_slice(bytes);
    let excess = tail.len().saturating_sub(MAX_SAID_BYTES);
    tail.drain(..excess);
}

/// The pipes of a program.
#[cfg(unix)]
pub(super) struct Talk<'a> {
    /// `None` when all is said, or nobody listens.
    stdin: Option<ChildStdin>,
    unsaid: &'a [u8],
    /// `None` when nobody can say anything any more.
    pipe: Option<PipeReader>,
    buffer: Vec<u8>,
    tail: Vec<u8>,
}

#[cfg(unix)]
impl<'a> Talk<'a> {
    /// Will say `text` to `stdin`, and listen to `pipe`.
    ///
    /// # Errors
    /// The system cannot keep them from being waited for.
    pub(super) fn new(
        stdin: Option<ChildStdin>,
        text: &'a str,
        pipe: PipeReader,
    ) -> io::Result<Self> {
        if let Some(stdin) = &stdin {
            crate::machine::never_wait_for(stdin)?;
        }
        crate::machine::never_wait_for(&pipe)?;
        Ok(Self {
            stdin,
            unsaid: text.as_bytes(),
            pipe: Some(pipe),
            buffer: vec![0; READ_BYTES],
            tail: Vec::new(),
        })
    }

    /// Says and hears as much as there is; whether that was anything.
    pub(super) fn go_on(&mut self) -> bool {
        let has_said = self.say();
        self.hear() || has_said
    }

    fn say(&mut self) -> bool {
        use io::Write as _;

        let Some(stdin) = &mut self.stdin else {
            return false;
        };
        let said = match stdin.write(self.unsaid) {
            Ok(said) => said,
            Err(error) if is_for_later(&error) => return false,
            // It need not read.
            Err(_) => 0,
        };
        self.unsaid = self.unsaid.get(said..).unwrap_or_default();
        if said == 0 || self.unsaid.is_empty() {
            self.stdin = None;
        }
        true
    }

    fn hear(&mut self) -> bool {
        use io::Read as _;

        let Some(pipe) = &mut self.pipe else {
            return false;
        };
        match pipe.read(&mut self.buffer) {
            Ok(0) => self.pipe = None,
            Ok(read) => keep_end(&mut self.tail, &self.buffer[..read]),
            Err(error) if is_for_later(&error) => return false,
            Err(_) => self.pipe = None,
        }
        true
    }

    /// Whether nobody can say anything any more.
    pub(super) fn is_over(&self) -> bool {
        self.pipe.is_none()
    }

    /// The end of what was said.
    pub(super) fn into_said(self) -> String {
        String::from_utf8_lossy(&self.tail).into_owned()
    }
}

#[cfg(unix)]
fn is_for_later(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// The pipes of a program, which only threads can wait for here.
#[cfg(not(unix))]
pub(super) struct Talk<'a> {
    said: std::sync::mpsc::Receiver<Vec<u8>>,
    text: std::marker::PhantomData<&'a str>,
    is_over: bool,
    tail: Vec<u8>,
}

/// Threads at pipes that somebody left open, at most; then no further program is listened to.
#[cfg(not(unix))]
const MAX_THREADS: usize = 64;

#[cfg(not(unix))]
static THREADS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

#[cfg(not(unix))]
impl<'a> Talk<'a> {
    /// Will say `text` to `stdin`, and listen to `pipe`.
    ///
    /// # Errors
    /// Too many programs have left their pipes open.
    pub(super) fn new(
        stdin: Option<ChildStdin>,
        text: &'a str,
        mut pipe: PipeReader,
    ) -> io::Result<Self> {
        use std::{
            io::{Read as _, Write as _},
            sync::{atomic::Ordering, mpsc},
            thread,
        };

        fn begin(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
            if THREADS.fetch_add(1, Ordering::SeqCst) >= MAX_THREADS {
                THREADS.fetch_sub(1, Ordering::SeqCst);
                return Err(io::Error::other(
                    "too many programs that hooks have started hold the pipes of these",
                ));
            }
            thread::spawn(move || {
                work();
                THREADS.fetch_sub(1, Ordering::SeqCst);
            });
            Ok(())
        }

        if let Some(mut stdin) = stdin {
            let text = text.to_owned();
            begin(move || drop(stdin.write_all(text.as_bytes())))?;
        }
        let (sender, said) = mpsc::sync_channel(1);
        begin(move || {
            let mut buffer = vec![0; READ_BYTES];
            while let Ok(read) = pipe.read(&mut buffer)
                && read > 0
                && sender.send(buffer[..read].to_vec()).is_ok()
            {}
        })?;
        Ok(Self {
            said,
            text: std::marker::PhantomData,
            is_over: false,
            tail: Vec::new(),
        })
    }

    /// Hears as much as there is; whether that was anything.
    pub(super) fn go_on(&mut self) -> bool {
        match self.said.try_recv() {
            Ok(bytes) => {
                keep_end(&mut self.tail, &bytes);
                true
            }
            Err(std::sync::mpsc::TryRecvError::Empty) => false,
            Err(std::sync::mpsc::TryRecvError::Disconnected) => {
                self.is_over = true;
                false
            }
        }
    }

    /// Whether nobody can say anything any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The end of what was said.
    pub(super) fn into_said(self) -> String {
        String::from_utf8_lossy(&self.tail).into_owned()
    }
}
