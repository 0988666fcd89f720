//! `Retry-After` across starts: which hosts asked not to be contacted before when. A start must know
//! it before its first request, when it does not yet know which site, and so which store, it is about.
//!
//! One small text file for all sites: `host<TAB>time` per line; the host `*` is every host. It holds wall time; a value
//! from a clock that was wrong is bounded by [`MAX_HOLD`]. A file that is damaged is set aside: what can be read of it stays in force,
//! and since nobody knows what else it said, every host is left alone for a while. Where it cannot be read at all
//! nobody is asked: that is an error, and never "no holds".

use std::{
    ffi::OsString,
    fmt::Write as _,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;

use crate::url_key::HostKey;

/// The longest that a host is left alone at its own wish, counted from when it said so.
pub const MAX_HOLD: Duration = Duration::from_secs(24 * 60 * 60);

/// Hosts remembered at most; the ones that end first are forgotten first.
const MAX_HOSTS: usize = 1_000;

/// Bytes of the file that are read at most: far more than [`MAX_HOSTS`] lines of the longest name (253 bytes) and a time.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Stands for every host, in the place of a name.
const EVERYBODY: &str = "*";

/// Damaged files that are set aside within one second.
const MAX_SAME_NAME: u32 = 100;

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
    /// The file is damaged and cannot be set aside.
    #[error(
        "{} is damaged ({what}), and cannot be set aside; it says which hosts asked to wait (Retry-After), so remove it \
         only if none of your sites did",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
        /// Why it stays where it is.
        source: io::Error,
    },
}

/// Who asked not to be contacted, as far as it is remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    /// Hosts, each with the time before which it must not be contacted.
    pub hosts: Vec<(HostKey, Timestamp)>,
    /// The time before which no host at all may be contacted.
    pub everybody: Option<Timestamp>,
    /// That the file was damaged, and what became of it, as a sentence.
    pub damage: Option<String>,
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

    /// The holds that have not ended at `now`; none, where there is no file. A file that is damaged is set aside, as
    /// `<name>.corrupt-<time>`; what can be read of it stays in force, and every host is held for `pause`.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged and cannot be set aside.
    pub fn load(&self, now: Timestamp, pause: Duration) -> Result<Held, HoldsError> {
        let Some(path) = &self.path else {
            return Ok(Held::default());
        };
        match Content::of(path, now)? {
            Content::Sound(holds) => Ok(Held::of(holds)),
            Content::Damaged { .. } => mend(path, now, pause),
        }
    }

    /// Remembers that `host` must not be contacted before `until`; a later hold is never shortened. In a file that is damaged
    /// it stands in front, where it is read however long that is: whoever loads it next knows for how long nobody is to be
    /// asked.
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
        let _lock = lock(path)?;
        let content = Content::of(path, now).map_err(io::Error::other)?;
        let mut holds = match content {
            Content::Sound(holds) => holds,
            Content::Damaged { .. } => return put_in_front(path, &format!("{host}\t{until}\n")),
        };
        match holds.iter_mut().find(|(known, _)| known == host) {
            Some((_, known)) => *known = (*known).max(until),
            None => holds.push((host.clone(), until)),
        }
        write(path, holds)
    }
}

impl Held {
    fn of(holds: Vec<(HostKey, Timestamp)>) -> Self {
        let (everybody, hosts): (Vec<_>, Vec<_>) = holds
            .into_iter()
            .partition(|(host, _)| host.as_str() == EVERYBODY);
        Self {
            hosts,
            everybody: everybody.into_iter().map(|(_, until)| until).max(),
            damage: None,
        }
    }
}

/// What the file says.
enum Content {
    /// Holds that have not ended.
    Sound(Vec<(HostKey, Timestamp)>),
    /// Something else too.
    Damaged {
        /// The holds among it that have not ended.
        readable: Vec<(HostKey, Timestamp)>,
        /// What is wrong, as a fragment.
        what: String,
    },
}

impl Content {
    fn of(path: &Path, now: Timestamp) -> Result<Self, HoldsError> {
        let bytes = read(path).map_err(|source| HoldsError::Read {
            path: path.to_owned(),
            source,
        })?;
        let latest = now.checked_add(MAX_HOLD).unwrap_or(Timestamp::MAX);
        let mut holds = Vec::new();
        let mut what = (bytes.len() as u64 > MAX_FILE_BYTES)
            .then(|| format!("it is longer than {MAX_FILE_BYTES} bytes"));
        // A name that is not UTF-8 is none of a host.
        let text = String::from_utf8_lossy(&bytes);
        for (number, line) in text.lines().enumerate() {
            match hold_of(line) {
                Some((host, until)) if until > now => holds.push((host, until.min(latest))),
                Some(_) => {}
                None => {
                    what.get_or_insert_with(|| {
                        let number = number + 1;
                        format!("line {number} is not a host, a tab and a time")
                    });
                }
            }
        }
        Ok(match what {
            None => Self::Sound(holds),
            Some(what) => Self::Damaged {
                readable: holds,
                what,
            },
        })
    }
}

/// Sets the damaged file `path` aside and writes one in its place that holds what can be read of it, and every host for
/// `pause`. At every instant there is a file that says no less.
fn mend(path: &Path, now: Timestamp, pause: Duration) -> Result<Held, HoldsError> {
    let failed = |what: &str, source| HoldsError::Damaged {
        path: path.to_owned(),
        what: what.to_owned(),
        source,
    };
    let _lock = lock(path).map_err(|error| failed("it cannot be locked", error))?;
    let (mut holds, what) = match Content::of(path, now)? {
        // Another program was faster.
        Content::Sound(holds) => return Ok(Held::of(holds)),
        Content::Damaged { readable, what } => (readable, what),
    };
    let until = now.checked_add(pause).unwrap_or(Timestamp::MAX);
    holds.push((HostKey::new(EVERYBODY), until));
    let aside = copy_aside(path, now).map_err(|error| failed(&what, error))?;
    write(path, holds.clone()).map_err(|error| failed(&what, error))?;
    let damage = format!(
        "{}, which says which hosts asked to wait (Retry-After), is damaged ({what}); it is kept as {}. What can be read \
         of it is obeyed, and no host is asked for {pause:?}, because others may have asked to wait too",
        path.display(),
        aside.display()
    );
    Ok(Held {
        damage: Some(damage),
        ..Held::of(holds)
    })
}

/// Gives the file `path` a second name that says that it is damaged, and says which; it is never one that is taken.
fn copy_aside(path: &Path, now: Timestamp) -> io::Result<PathBuf> {
    let stamp = now.strftime("%Y%m%dT%H%M%SZ");
    for number in 1..=MAX_SAME_NAME {
        let mut name: OsString = path.as_os_str().to_owned();
        name.push(format!(".corrupt-{stamp}"));
        if number > 1 {
            name.push(format!(".{number}"));
        }
        let aside = PathBuf::from(name);
        if aside.try_exists()? {
            continue;
        }
        // Not every file system has a second name for a file.
        return fs::hard_link(path, &aside)
            .or_else(|_| fs::copy(path, &aside).map(drop))
            .map(|()| aside);
    }
    let message = "there are too many damaged files of this name";
    Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
}

/// Several programs may use one file; the kernel releases the lock.
fn lock(path: &Path) -> io::Result<File> {
    let lock = File::create(path.with_extension("lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Puts a file with these holds in the place of `path`.
fn write(path: &Path, mut holds: Vec<(HostKey, Timestamp)>) -> io::Result<()> {
    holds.sort_by_key(|&(_, until)| std::cmp::Reverse(until));
    // The shortest is the one that is for everybody, and must not be forgotten.
    holds.sort_by_key(|(host, _)| host.as_str() != EVERYBODY);
    holds.truncate(MAX_HOSTS);
    let mut text = String::new();
    for (host, until) in &holds {
        writeln!(text, "{}\t{until}", host.as_str()).map_err(io::Error::other)?;
    }
    replace(path, text.as_bytes())
}

/// Puts `line` in front of what is in the file `path`.
fn put_in_front(path: &Path, line: &str) -> io::Result<()> {
    replace(path, line.as_bytes().chain(File::open(path)?))
}

/// Puts a file with this content in the place of `path`.
fn replace(path: &Path, mut content: impl io::Read) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file = File::create(&temporary)?;
    io::copy(&mut content, &mut file)?;
    // A file that a loss of power empties would be read as "no holds".
    file.sync_all()?;
    fs::rename(&temporary, path)
}

/// What is in the file, one byte more than it may have at most; nothing, where it is missing.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The host and the time of a line.
fn hold_of(line: &str) -> Option<(HostKey, Timestamp)> {
    let (host, until) = line.split_once('\t')?;
    let until = until.parse().ok()?;
    let is_name = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic());
    is_name.then(|| (HostKey::new(host), until))
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

    const PAUSE: Duration = Duration::from_secs(60);

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn noon() -> Timestamp {
        time("2026-03-01T12:00:00Z")
    }

    fn hosts_of(holds: &Holds, now: Timestamp) -> Vec<(HostKey, Timestamp)> {
        let held = holds.load(now, PAUSE).unwrap();
        assert_eq!((held.everybody, held.damage), (None, None));
        held.hosts
    }

    #[test]
    fn holds_last_until_their_end_and_are_never_shortened() {
        let folder = tempfile::tempdir().unwrap();
        let holds = Holds::in_file(&folder.path().join("holds"));
        let now = noon();
        let host = HostKey::new("h.example");
        holds
            .remember(&host, time("2026-03-01T13:00:00Z"), now)
            .unwrap();
        holds
            .remember(&host, time("2026-03-01T12:30:00Z"), now)
            .unwrap();
        let until = time("2026-03-01T13:00:00Z");
        assert_eq!(hosts_of(&holds, now), [(host, until)]);
        assert_eq!(hosts_of(&holds, until), []);
    }

    #[test]
    fn a_hold_beyond_belief_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("holds");
        fs::write(&path, "h.example\t2999-01-01T00:00:00Z\n").unwrap();
        assert_eq!(
            hosts_of(&Holds::in_file(&path), noon()),
            [(HostKey::new("h.example"), time("2026-03-02T12:00:00Z"))]
        );
    }

    #[test]
    fn without_a_file_nothing_is_remembered() {
        let now = noon();
        Holds::default()
            .remember(&HostKey::new("h.example"), now, now)
            .unwrap();
        assert_eq!(Holds::default().load(now, PAUSE).unwrap(), Held::default());
    }

    #[test]
    fn a_damaged_file_is_set_aside_and_holds_everybody_for_a_while() {
        let other = (HostKey::new("h.example"), time("2026-03-01T13:00:00Z"));
        let check = |content: &[u8], readable: &[(HostKey, Timestamp)], what: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("retry-after");
            let holds = Holds::in_file(&path);
            fs::write(&path, content).unwrap();
            let until = noon() + jiff::SignedDuration::try_from(PAUSE).unwrap();
            let held = holds.load(noon(), PAUSE).unwrap();
            assert_eq!(held.hosts, readable, "{what}");
            assert_eq!(held.everybody, Some(until), "{what}");
            let damage = held.damage.unwrap();
            assert!(damage.contains(what), "{damage}");
            let aside = folder.path().join("retry-after.corrupt-20260301T120000Z");
            assert!(damage.contains(aside.to_str().unwrap()), "{damage}");
            assert_eq!(fs::read(&aside).unwrap(), content);
            // Whoever starts meanwhile knows it too, and that the damage was told.
            let again = holds.load(noon(), PAUSE).unwrap();
            assert_eq!((again.everybody, again.damage), (Some(until), None));
            // What comes in does not put an end to it.
            let host = HostKey::new("late.example");
            holds
                .remember(&host, time("2026-03-01T14:00:00Z"), noon())
                .unwrap();
            let again = holds.load(noon(), PAUSE).unwrap();
            assert_eq!(
                (again.everybody, again.hosts.len()),
                (Some(until), readable.len() + 1)
            );
            // After it everything is as ever.
            let later = holds.load(until, PAUSE).unwrap();
            assert_eq!(
                (later.everybody, later.hosts.len()),
                (None, readable.len() + 1)
            );
            // A second one in the same second has a name of its own.
            fs::write(&path, content).unwrap();
            holds.load(noon(), PAUSE).unwrap();
            assert_eq!(
                fs::read(folder.path().join("retry-after.corrupt-20260301T120000Z.2")).unwrap(),
                content
            );
        };
        check(b"nonsense\n", &[], "line 1");
        check(
            b"h.example\t2026-03-01T13:00:00Z\nx\tsoon\n",
            std::slice::from_ref(&other),
            "line 2",
        );
        check(
            b"x\tso\nh.example\t2026-03-01T13:00:00Z\n",
            std::slice::from_ref(&other),
            "line 1",
        );
        check(b"\t2026-03-01T13:00:00Z\n", &[], "line 1");
        check(&[0; 20], &[], "line 1");
        check(&[0xff, 0xfe], &[], "line 1");
        check(b"h\xff.example\t2026-03-01T13:00:00Z\n", &[], "line 1");
        // A line that was cut off.
        check(
            b"h.example\t2026-03-01T13:00:00Z\ng.exam",
            std::slice::from_ref(&other),
            "line 2",
        );
        let mut long = b"h.example\t2026-03-01T13:00:00Z\n".to_vec();
        long.resize(2 * 1024 * 1024, b'x');
        check(&long, &[other], "longer than");
    }

    #[test]
    fn a_hold_for_everybody_is_not_crowded_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("holds");
        let lines: Vec<String> = (0..2 * MAX_HOSTS)
            .map(|number| format!("h{number}.example\t2026-03-02T12:00:00Z\n"))
            .collect();
        fs::write(&path, lines.concat() + "x").unwrap();
        let holds = Holds::in_file(&path);
        holds.load(noon(), PAUSE).unwrap();
        let held = holds.load(noon(), PAUSE).unwrap();
        assert!(held.everybody.is_some());
        assert_eq!(held.hosts.len(), MAX_HOSTS - 1);
    }

    #[test]
    fn what_cannot_be_read_is_no_permission_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("holds");
        let holds = Holds::in_file(&path);
        assert_eq!(hosts_of(&holds, noon()), [], "there is no file yet");
        fs::create_dir(&path).unwrap();
        let error = holds.load(noon(), PAUSE).unwrap_err();
        assert!(error.to_string().contains("holds"), "{error}");
        holds
            .remember(&HostKey::new("h.example"), noon(), noon())
            .unwrap_err();
        assert!(path.is_dir());
    }

    #[test]
    fn a_damaged_file_loses_no_hold_that_is_added() {
        let long = "x".repeat(60) + "\n";
        let long = long.repeat(2 * usize::try_from(MAX_FILE_BYTES).unwrap() / long.len());
        for content in ["nonsense, cut sho", &long] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("holds");
            fs::write(&path, content).unwrap();
            let [host, other] = ["h.example", "g.example"].map(HostKey::new);
            let until = noon() + jiff::SignedDuration::from_hours(3);
            let holds = Holds::in_file(&path);
            holds.remember(&host, until, noon()).unwrap();
            holds.remember(&other, until, noon()).unwrap();
            // Who loads it is told of the damage, and of the holds.
            let held = holds.load(noon(), Duration::from_secs(60)).unwrap();
            assert!(held.damage.is_some() && held.everybody.is_some());
            assert_eq!(held.hosts, [(other, until), (host, until)]);
            let aside = fs::read_dir(folder.path()).unwrap();
            let aside = aside.map(|entry| entry.unwrap().path());
            let mut aside = aside.filter(|path| path.to_string_lossy().contains(".corrupt-"));
            let kept = fs::read_to_string(aside.next().unwrap()).unwrap();
            assert!(kept.ends_with(content), "nothing of it is lost");
        }
    }
}
