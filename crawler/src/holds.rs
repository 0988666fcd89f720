//! `Retry-After` across starts: which hosts asked not to be contacted before when. A start must know
//! it before its first request, when it does not yet know which site, and so which store, it is about.
//!
//! One small text file for all sites: `host<TAB>time` per line. It holds wall time; a value from a
//! clock that was wrong is bounded by [`MAX_HOLD`].

use std::{
    fmt::Write as _,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;

use crate::url_key::HostKey;

/// Longest hold that is believed.
pub const MAX_HOLD: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Hosts remembered at most; the ones that end first are forgotten first.
const MAX_HOSTS: usize = 1_000;

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

    /// The holds that have not ended at `now`. An unreadable line, or file, is no hold.
    pub fn load(&self, now: Timestamp) -> Vec<(HostKey, Timestamp)> {
        let Some(path) = &self.path else {
            return Vec::new();
        };
        let text = fs::read_to_string(path).unwrap_or_default();
        let latest = now.checked_add(MAX_HOLD).unwrap_or(Timestamp::MAX);
        text.lines()
            .filter_map(|line| line.split_once('\t'))
            .filter_map(|(host, until)| {
                Some((HostKey::new(host), until.parse::<Timestamp>().ok()?))
            })
            .filter(|&(_, until)| until > now)
            .map(|(host, until)| (host, until.min(latest)))
            .collect()
    }

    /// Remembers that `host` must not be contacted before `until`; a later hold is never shortened.
    ///
    /// # Errors
    /// The file cannot be written.
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
        let mut holds = self.load(now);
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
        fs::write(&temporary, text)?;
        fs::rename(&temporary, path)
    }
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
        assert_eq!(holds.load(now), [(host, time("2026-03-01T13:00:00Z"))]);
        assert_eq!(holds.load(time("2026-03-01T13:00:00Z")), []);
    }

    #[test]
    fn a_hold_beyond_belief_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("holds");
        fs::write(
            &path,
            "h.example\t2999-01-01T00:00:00Z\nnonsense\nx\tsoon\n",
        )
        .unwrap();
        let now = time("2026-03-01T12:00:00Z");
        assert_eq!(
            Holds::in_file(&path).load(now),
            [(HostKey::new("h.example"), time("2026-03-31T12:00:00Z"))]
        );
    }

    #[test]
    fn without_a_file_nothing_is_remembered() {
        let now = time("2026-03-01T12:00:00Z");
        Holds::default()
            .remember(&HostKey::new("h.example"), now, now)
            .unwrap();
        assert_eq!(Holds::default().load(now), []);
    }
}
