//! `Retry-After` across starts: which hosts asked not to be contacted before when. A start must know
//! it before its first request, when it does not yet know which site, and so which store, it is about.
//!
//! One small text file for all sites: `host<TAB>time` per line. It holds wall time; a value from a
//! clock that was wrong is bounded by [`MAX_HOLD`]. Where it cannot be read nobody knows who may be asked, so nobody
//! is: that is an error, and never "no holds".

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;

use crate::url_key::HostKey;

/// Longest hold that is believed.
pub const MAX_HOLD: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Hosts remembered at most; the ones that end first are forgotten first.
const MAX_HOSTS: usize = 1_000;

/// Bytes of the file that are read at most: far more than [`MAX_HOSTS`] lines of the longest name (253 bytes) and a time.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Why nobody knows which hosts asked to wait.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HoldsError {
    /// The file is there and cannot be read.
    #[error("cannot read {}, which says which hosts asked to wait (Retry-After)", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file does not say what it should.
    #[error(
        "{}:{line}: expected a host, a tab and the time before which it asked not to be contacted; remove the line, \
         or the file, if none of your sites asked to wait (Retry-After)",
        path.display()
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
}

/// The file of remembered holds, or nothing that lasts.
#[derive(Debug, Clone, Default)]
pub struct Holds {
    path: Option<PathBuf>,
}

impl Holds {
    /// Remembers in `path`; its folder is created when something has to be remembered.
    pub fn in_file(path: &Path) -> Self {
        Self {
            path: Some(path.to_owned()),
        }
    }

    /// The holds that have not ended at `now`; none, where there is no file.
    ///
    /// # Errors
    /// The file cannot be read, or says something else.
    pub fn load(&self, now: Timestamp) -> Result<Vec<(HostKey, Timestamp)>, HoldsError> {
        let Some(path) = &self.path else {
            return Ok(Vec::new());
        };
        let text = read(path).map_err(|source| HoldsError::Read {
            path: path.clone(),
            source,
        })?;
        let latest = now.checked_add(MAX_HOLD).unwrap_or(Timestamp::MAX);
        let mut holds = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let (host, until) = hold_of(line).ok_or_else(|| HoldsError::Line {
                path: path.clone(),
                line: number + 1,
            })?;
            if until > now {
                holds.push((host, until.min(latest)));
            }
        }
        Ok(holds)
    }

    /// Remembers that `host` must not be contacted before `until`; a later hold is never shortened.
    ///
    /// # Errors
    /// The file cannot be read, which leaves it as it is, or not be written.
    pub fn remember(&self, host: &HostKey, until: Timestamp, now: Timestamp) -> io::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        if let Some(folder) = path.parent() {
            create_private(folder)?;
        }
        // Several programs may use one file; the kernel releases the lock.
        let lock = File::create(path.with_extension("lock"))?;
        lock.lock()?;
        let mut holds = self.load(now).map_err(io::Error::other)?;
        match holds.iter_mut().find(|(known, _)| known == host) {
            Some((_, known)) => *known = (*known).max(until),
            None => holds.push((host.clone(), until)),
        }
        holds.sort_by_key(|&(_, until)| std::cmp::Reverse(until));
        holds.truncate(MAX_HOSTS);
        let mut text = String::new();
        for (host, until) in &holds {
            writeln!(text, "{host}\t{until}").map_err(io::Error::other)?;
        }
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        let mut file = File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        // A file that a loss of power empties would be read as "no holds".
        file.sync_all()?;
        fs::rename(&temporary, path)
    }
}

/// The text of the file; none, where it is missing.
fn read(path: &Path) -> io::Result<String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    let read = file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
    if read as u64 > MAX_FILE_BYTES {
        let message = format!("it is longer than {MAX_FILE_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(text)
}

/// The host and the time of a line.
fn hold_of(line: &str) -> Option<(HostKey, Timestamp)> {
    let (host, until) = line.split_once('\t')?;
    let until = until.parse().ok()?;
    (!host.is_empty()).then(|| (HostKey::new(host), until))
}

/// Creates a folder that only its owner may read.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn holds_last_until_their_end_and_are_never_shortened() {
        let folder = tempfile::tempdir().unwrap();
        let holds = Holds::in_file(&folder.path().join("holds"));
        let now = time("2026-03-01T12:00:00Z");
        let host = HostKey::new("h.example");
        holds
            .remember(&host, time("2026-03-01T13:00:00Z"), now)
            .unwrap();
        holds
            .remember(&host, time("2026-03-01T12:30:00Z"), now)
            .unwrap();
        let until = time("2026-03-01T13:00:00Z");
        assert_eq!(holds.load(now).unwrap(), [(host, until)]);
        assert_eq!(holds.load(until).unwrap(), []);
    }

    #[test]
    fn a_hold_beyond_belief_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("holds");
        fs::write(&path, "h.example\t2999-01-01T00:00:00Z\n").unwrap();
        let now = time("2026-03-01T12:00:00Z");
        assert_eq!(
            Holds::in_file(&path).load(now).unwrap(),
            [(HostKey::new("h.example"), time("2026-03-31T12:00:00Z"))]
        );
    }

    #[test]
    fn without_a_file_nothing_is_remembered() {
        let now = time("2026-03-01T12:00:00Z");
        Holds::default()
            .remember(&HostKey::new("h.example"), now, now)
            .unwrap();
        assert_eq!(Holds::default().load(now).unwrap(), []);
    }

    #[test]
    fn what_cannot_be_read_is_no_permission_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("holds");
        let holds = Holds::in_file(&path);
        let now = time("2026-03-01T12:00:00Z");
        assert_eq!(holds.load(now).unwrap(), [], "there is no file yet");
        let check = |content: &[u8], line: Option<usize>| {
            fs::write(&path, content).unwrap();
            let error = holds.load(now).unwrap_err();
            let found = match &error {
                HoldsError::Line { line, .. } => Some(*line),
                HoldsError::Read { .. } => None,
            };
            assert_eq!(found, line, "{error}");
            assert!(error.to_string().contains("holds"), "{error}");
            holds
                .remember(&HostKey::new("h.example"), now, now)
                .unwrap_err();
            assert_eq!(fs::read(&path).unwrap(), content);
        };
        check(b"nonsense\n", Some(1));
        check(b"h.example\t2026-03-01T13:00:00Z\nx\tsoon\n", Some(2));
        check(b"\t2026-03-01T13:00:00Z\n", Some(1));
        check(&[0; 20], Some(1));
        check(&[0xff, 0xfe], None);
        check(&vec![b'\n'; 2 * 1024 * 1024], None);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        holds.load(now).unwrap_err();
    }
}
