//! `Retry-After` across sessions: the hosts that asked for no request before a time. A session needs these times
//! before its first request, when its site and its store are not known yet.
//!
//! One small text file for all sites: `host<TAB>time` per line; the host `*` is every host. It holds wall time; a value
//! from a clock that was wrong is bounded by [`MAX_RETRY_AFTER`]. A damaged file is renamed: the waits that can be read stay in force,
//! and since the other waits in it are lost, every host is left alone for a while. A file that cannot be read at all
//! is an error, and nothing is requested.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;

use crate::{
    machine::{open_regular, private},
    outcome::SessionOutcome,
    url_key::HostKey,
};

/// The longest that a host is left alone at its own wish, counted from the answer.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Hosts remembered at most; the ones that end first are forgotten first.
const MAX_HOSTS: usize = 1_000;

/// Bytes of the file that are read at most: far more than [`MAX_HOSTS`] lines of the longest name (253 bytes) and a time.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Represents every host, in the place of a name.
const EVERYBODY: &str = "*";

/// Damaged files that are set aside within one second.
const MAX_SAME_NAME: u32 = 100;

/// Why it is not known which hosts asked to wait.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RetryAfterError {
    /// The file is there and cannot be read.
    #[error("cannot read {}, the file of Retry-After waits", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is damaged and cannot be set aside.
    #[error(
        "{} is damaged ({what}), and cannot be renamed; it has the Retry-After waits of hosts, so remove it \
         only if none of your sites sent one",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The defect.
        what: String,
        /// Why it stays where it is.
        source: io::Error,
    },
}

impl RetryAfterError {
    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        // As with a state that cannot be read: no request is sent, the published set stays.
        SessionOutcome::Refused
    }
}

/// The hosts that asked not to be contacted, as far as the file knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waits {
    /// Hosts, each with the time before which it must not be contacted.
    pub hosts: Vec<(HostKey, Timestamp)>,
    /// The time before which no host at all may be contacted.
    pub everybody: Option<Timestamp>,
    /// The damage of the file, and what became of it, as a sentence.
    pub damage: Option<String>,
}

/// The file of remembered waits, or nothing that lasts.
#[derive(Debug, Clone, Default)]
pub struct RetryAfterFile {
    path: Option<PathBuf>,
}

impl RetryAfterFile {
    /// Remembers in `path`; its folder is created when something has to be remembered.
    pub fn in_file(path: &Path) -> Self {
        Self {
            path: Some(path.to_owned()),
        }
    }

    /// Remembers beside the states in `folder`; an empty path: only for this start of the program.
    pub fn of_states(folder: &Path) -> Self {
        if folder.as_os_str().is_empty() {
            Self::default()
        } else {
            Self::in_file(&folder.join("retry-after"))
        }
    }

    /// The waits that have not ended at `now`; none, where there is no file. A file that is damaged is set aside, as
    /// `<name>.corrupt-<time>`; what can be read of it stays in force, and every host waits for `pause`.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged and cannot be set aside.
    pub fn load(&self, now: Timestamp, pause: Duration) -> Result<Waits, RetryAfterError> {
        let Some(path) = &self.path else {
            return Ok(Waits::default());
        };
        let content = WaitsOnDisk::of(path, now)?;
        let Some(problem) = content.problem else {
            return Ok(Waits::of(content.waits));
        };
        let aside = mend(path, now, pause).map_err(|source| RetryAfterError::Damaged {
            path: path.clone(),
            what: problem.clone(),
            source,
        })?;
        let waits = Waits::of(WaitsOnDisk::of(path, now)?.waits);
        // `None`: another program was faster.
        let damage = aside.map(|aside| {
            format!(
                "{}, the file of Retry-After waits, is damaged ({problem}) and renamed to {}. The waits that can \
                 be read are obeyed, and no host gets a request for {pause:?}, because waits of other hosts may be lost",
                path.display(),
                aside.display()
            )
        });
        Ok(Waits { damage, ..waits })
    }

    /// Remembers that `host` must not be contacted before `until`; a later time is never shortened. In a damaged file the line
    /// is put in front, where it is read however long the file is, until the file is loaded next.
    ///
    /// # Errors
    /// The file cannot be read, which leaves it as it is, or not be written.
    pub fn remember(&self, host: &HostKey, until: Timestamp, now: Timestamp) -> io::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        if let Some(folder) = path.parent() {
            private::create_folder(folder)?;
        }
        let _lock = lock(path)?;
        let WaitsOnDisk { mut waits, problem } =
            WaitsOnDisk::of(path, now).map_err(io::Error::other)?;
        if problem.is_some() {
            let line = format!("{host}\t{until}\n");
            return private::replace(path, line.as_bytes().chain(open_regular(path)?));
        }
        match waits.iter_mut().find(|(known, _)| known == host) {
            Some((_, known)) => *known = (*known).max(until),
            None => waits.push((host.clone(), until)),
        }
        write(path, waits)
    }
}

impl Waits {
    fn of(waits: Vec<(HostKey, Timestamp)>) -> Self {
        let (everybody, hosts): (Vec<_>, Vec<_>) = waits
            .into_iter()
            .partition(|(host, _)| host.as_str() == EVERYBODY);
        Self {
            hosts,
            everybody: everybody.into_iter().map(|(_, until)| until).max(),
            damage: None,
        }
    }
}

/// The content of the file.
struct WaitsOnDisk {
    /// Waits that have not ended.
    waits: Vec<(HostKey, Timestamp)>,
    /// The defect of the file, as a fragment.
    problem: Option<String>,
}

impl WaitsOnDisk {
    /// Reads at most [`MAX_FILE_BYTES`]; nothing, where the file is missing.
    fn of(path: &Path, now: Timestamp) -> Result<Self, RetryAfterError> {
        let mut bytes = Vec::new();
        let read = open_regular(path)
            .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
        match read {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(RetryAfterError::Read {
                    path: path.to_owned(),
                    source,
                });
            }
            Ok(_) | Err(_) => {}
        }
        let latest = now.checked_add(MAX_RETRY_AFTER).unwrap_or(Timestamp::MAX);
        let mut waits = Vec::new();
        let mut problem = (bytes.len() as u64 > MAX_FILE_BYTES)
            .then(|| format!("it is longer than {MAX_FILE_BYTES} bytes"));
        // A name that is not UTF-8 is none of a host.
        let text = String::from_utf8_lossy(&bytes);
        for (number, line) in text.lines().enumerate() {
            match wait_of(line) {
                Some((host, until)) if until > now => waits.push((host, until.min(latest))),
                Some(_) => {}
                None => {
                    problem.get_or_insert_with(|| {
                        format!("line {} is not a host, a tab and a time", number + 1)
                    });
                }
            }
        }
        Ok(Self { waits, problem })
    }
}

/// Sets the damaged file `path` aside and writes one in its place that has what can be read of it, and every host for
/// `pause`; returns where the damaged one is, if nobody else did so. At every instant there is a file with all waits.
fn mend(path: &Path, now: Timestamp, pause: Duration) -> io::Result<Option<PathBuf>> {
    let _lock = lock(path)?;
    let WaitsOnDisk { mut waits, problem } =
        WaitsOnDisk::of(path, now).map_err(io::Error::other)?;
    if problem.is_none() {
        return Ok(None);
    }
    let until = now.checked_add(pause).unwrap_or(Timestamp::MAX);
    waits.push((HostKey::new(EVERYBODY), until));
    let aside = copy_aside(path, now)?;
    write(path, waits)?;
    Ok(Some(aside))
}

/// Gives the file `path` a second name that marks it as damaged, and returns it; it is never one that is taken.
fn copy_aside(path: &Path, now: Timestamp) -> io::Result<PathBuf> {
    let stamp = now.strftime(".corrupt-%Y%m%dT%H%M%SZ");
    let mut names = (1..=MAX_SAME_NAME).map(|number| match number {
        1 => private::with_suffix(path, &stamp.to_string()),
        number => private::with_suffix(path, &format!("{stamp}.{number}")),
    });
    let aside = names.find(|aside| fs::symlink_metadata(aside).is_err());
    let aside = aside.ok_or_else(|| {
        let message = "there are too many damaged files of this name";
        io::Error::new(io::ErrorKind::AlreadyExists, message)
    })?;
    // Not every file system has a second name for a file.
    fs::hard_link(path, &aside).or_else(|_| fs::copy(path, &aside).map(drop))?;
    Ok(aside)
}

/// Several programs may use one file; the kernel releases the lock.
fn lock(path: &Path) -> io::Result<File> {
    let lock = private::open(&path.with_extension("lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Puts a file with these waits in the place of `path`.
fn write(path: &Path, mut waits: Vec<(HostKey, Timestamp)>) -> io::Result<()> {
    // The shortest is the one that is for everybody, and must not be forgotten.
    waits.sort_by_key(|(host, until)| (host.as_str() != EVERYBODY, std::cmp::Reverse(*until)));
    waits.truncate(MAX_HOSTS);
    let lines = waits
        .iter()
        .map(|(host, until)| format!("{host}\t{until}\n"));
    private::replace(path, lines.collect::<String>().as_bytes())
}

/// The host and the time of a line.
fn wait_of(line: &str) -> Option<(HostKey, Timestamp)> {
    let (host, until) = line.split_once('\t')?;
    let until = until.parse().ok()?;
    let is_name = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic());
    is_name.then(|| (HostKey::new(host), until))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(60);

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn noon() -> Timestamp {
        time("2026-03-01T12:00:00Z")
    }

    /// An empty folder, and the path of a file in it.
    fn folder_with_path() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("retry-after");
        (folder, path)
    }

    fn hosts_of(file: &RetryAfterFile, now: Timestamp) -> Vec<(HostKey, Timestamp)> {
        let waits = file.load(now, PAUSE).unwrap();
        assert_eq!((waits.everybody, waits.damage), (None, None));
        waits.hosts
    }

    #[test]
    fn waits_are_never_shortened() {
        let (_folder, path) = folder_with_path();
        let file = RetryAfterFile::in_file(&path);
        let now = noon();
        let host = HostKey::new("h.example");
        file.remember(&host, time("2026-03-01T13:00:00Z"), now)
            .unwrap();
        file.remember(&host, time("2026-03-01T12:30:00Z"), now)
            .unwrap();
        let until = time("2026-03-01T13:00:00Z");
        assert_eq!(hosts_of(&file, now), [(host, until)]);
        assert_eq!(hosts_of(&file, until), []);
    }

    #[test]
    fn a_wait_beyond_belief_is_bounded() {
        let (_folder, path) = folder_with_path();
        fs::write(&path, "h.example\t2999-01-01T00:00:00Z\n").unwrap();
        assert_eq!(
            hosts_of(&RetryAfterFile::in_file(&path), noon()),
            [(HostKey::new("h.example"), time("2026-03-02T12:00:00Z"))]
        );
    }

    #[test]
    fn without_a_file_nothing_is_remembered() {
        let now = noon();
        RetryAfterFile::default()
            .remember(&HostKey::new("h.example"), now, now)
            .unwrap();
        assert_eq!(
            RetryAfterFile::default().load(now, PAUSE).unwrap(),
            Waits::default()
        );
    }

    #[test]
    fn everybody_waits_after_a_damaged_file() {
        let other = [(HostKey::new("h.example"), time("2026-03-01T13:00:00Z"))];
        let check = |content: &[u8], readable: &[(HostKey, Timestamp)], what: &str| {
            let (folder, path) = folder_with_path();
            let file = RetryAfterFile::in_file(&path);
            fs::write(&path, content).unwrap();
            let until = noon() + jiff::SignedDuration::try_from(PAUSE).unwrap();
            let waits = file.load(noon(), PAUSE).unwrap();
            assert_eq!(waits.hosts, readable, "{what}");
            assert_eq!(waits.everybody, Some(until), "{what}");
            let damage = waits.damage.unwrap();
            assert!(damage.contains(what), "{damage}");
            let aside = folder.path().join("retry-after.corrupt-20260301T120000Z");
            assert!(damage.contains(aside.to_str().unwrap()), "{damage}");
            assert_eq!(fs::read(&aside).unwrap(), content);
            // Whoever starts meanwhile knows it too, and that the damage was reported.
            let again = file.load(noon(), PAUSE).unwrap();
            assert_eq!((again.everybody, again.damage), (Some(until), None));
            // What comes in does not put an end to it.
            let host = HostKey::new("late.example");
            file.remember(&host, time("2026-03-01T14:00:00Z"), noon())
                .unwrap();
            let again = file.load(noon(), PAUSE).unwrap();
            assert_eq!(
                (again.everybody, again.hosts.len()),
                (Some(until), readable.len() + 1)
            );
            // After it everything is as ever.
            let later = file.load(until, PAUSE).unwrap();
            assert_eq!(
                (later.everybody, later.hosts.len()),
                (None, readable.len() + 1)
            );
            // A second one in the same second has a name of its own.
            fs::write(&path, content).unwrap();
            file.load(noon(), PAUSE).unwrap();
            assert_eq!(
                fs::read(folder.path().join("retry-after.corrupt-20260301T120000Z.2")).unwrap(),
                content
            );
        };
        check(b"nonsense\n", &[], "line 1");
        let readable = "h.example\t2026-03-01T13:00:00Z\n";
        let check_with = |content: &str, what: &str| {
            let content = content.replace("READABLE\n", readable);
            check(content.as_bytes(), &other, what);
        };
        check_with("READABLE\nx\tsoon\n", "line 2");
        check_with("x\tso\nREADABLE\n", "line 1");
        // A line that was cut off.
        check_with("READABLE\ng.exam", "line 2");
        check_with(&format!("READABLE\n{}", "x".repeat(2 << 20)), "longer than");
        check(b"\t2026-03-01T13:00:00Z\n", &[], "line 1");
        check(&[0; 20], &[], "line 1");
        check(&[0xff, 0xfe], &[], "line 1");
        check(b"h\xff.example\t2026-03-01T13:00:00Z\n", &[], "line 1");
    }

    #[test]
    fn a_wait_for_everybody_is_not_crowded_out() {
        let (_folder, path) = folder_with_path();
        let lines: Vec<String> = (0..2 * MAX_HOSTS)
            .map(|number| format!("h{number}.example\t2026-03-02T12:00:00Z\n"))
            .collect();
        fs::write(&path, lines.concat() + "x").unwrap();
        let file = RetryAfterFile::in_file(&path);
        file.load(noon(), PAUSE).unwrap();
        let waits = file.load(noon(), PAUSE).unwrap();
        assert!(waits.everybody.is_some());
        assert_eq!(waits.hosts.len(), MAX_HOSTS - 1);
    }

    #[test]
    fn unreadable_file_is_no_permission() {
        let (_folder, path) = folder_with_path();
        let file = RetryAfterFile::in_file(&path);
        assert_eq!(hosts_of(&file, noon()), [], "there is no file yet");
        fs::create_dir(&path).unwrap();
        let error = file.load(noon(), PAUSE).unwrap_err();
        assert!(error.to_string().contains("retry-after"), "{error}");
        file.remember(&HostKey::new("h.example"), noon(), noon())
            .unwrap_err();
        assert!(path.is_dir());
    }

    #[test]
    fn a_damaged_file_loses_no_added_wait() {
        let long = "x".repeat(60) + "\n";
        let long = long.repeat(2 * usize::try_from(MAX_FILE_BYTES).unwrap() / long.len());
        for content in ["nonsense, cut sho", &long] {
            let (folder, path) = folder_with_path();
            fs::write(&path, content).unwrap();
            let [host, other] = ["h.example", "g.example"].map(HostKey::new);
            let until = noon() + jiff::SignedDuration::from_hours(3);
            let file = RetryAfterFile::in_file(&path);
            file.remember(&host, until, noon()).unwrap();
            file.remember(&other, until, noon()).unwrap();
            // Who loads it gets a report of the damage, and of the waits.
            let waits = file.load(noon(), Duration::from_secs(60)).unwrap();
            assert!(waits.damage.is_some() && waits.everybody.is_some());
            assert_eq!(waits.hosts, [(other, until), (host, until)]);
            let aside = fs::read_dir(folder.path()).unwrap();
            let aside = aside.map(|entry| entry.unwrap().path());
            let mut aside = aside.filter(|path| path.to_string_lossy().contains(".corrupt-"));
            let kept = fs::read_to_string(aside.next().unwrap()).unwrap();
            assert!(kept.ends_with(content), "nothing of it is lost");
        }
    }
}
