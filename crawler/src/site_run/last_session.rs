//! The last session of a site, as a small file beside its state: it can be read while another session locks the state.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::messages::MessageLogs;
use crate::{
    machine::json_file, notify::GoogleReport, outcome::SessionOutcome, served::ServedReport,
};

/// Largest file that is read, in bytes: a summary names the files of a set, some hundred bytes each.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Sessions whose ends a record has, with its own.
const MAX_RECENT: usize = 30;

/// How an earlier session of a site ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSession {
    /// Its end.
    pub ended: Timestamp,
    /// Its outcome: the word, which another version of arpent may not know.
    pub outcome: String,
}

impl PastSession {
    /// Returns whether its set was as it should be.
    pub fn is_good(&self) -> bool {
        let known = SessionOutcome::ALL.into_iter();
        known
            .filter(|outcome| outcome.is_good())
            .any(|outcome| outcome.as_str() == self.outcome)
    }
}

/// The end of a session. Fields may be added; unknown fields are skipped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastSession {
    /// Name of the site.
    pub name: String,
    /// The URL that its crawl starts from.
    pub start: String,
    /// Begin of the session.
    pub started: Timestamp,
    /// End of the session.
    pub ended: Timestamp,
    /// The code that `arpent crawl` of this site alone would have ended with.
    pub exit_code: u8,
    /// The error that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Sessions in a row up to this one that were refused or failed; 0 after one that ended with a set that is as it should be.
    #[serde(default)]
    pub failed_in_a_row: u32,
    /// End of the last good session: its set was published, unchanged or partial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_good: Option<Timestamp>,
    /// URLs of the published set, as of the last good session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<u64>,
    /// The file of its state, once the site was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The folder of its set, once the site was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The ends of the last sessions with this one, the oldest first, at most 30.
    #[serde(default)]
    pub recent: Vec<PastSession>,
    /// The messages on the site that people got.
    #[serde(default, skip_serializing_if = "MessageLogs::is_empty")]
    pub messages: MessageLogs,
    /// The document of `--json`.
    pub summary: serde_json::Value,
}

/// The record of a session that ends, and its place.
#[derive(Debug)]
pub struct SessionRecord {
    /// The session. Its end, its last good session and its failures in a row are filled in when it is written.
    pub session: LastSession,
    /// The file, beside the state of the site.
    pub path: PathBuf,
    /// The file of the site as its start URL was typed: until the first session came to the site, nobody knew which site it is.
    pub first: PathBuf,
    /// The start URL led to this site before. If not, the record of a session with another start URL is not replaced.
    pub is_known: bool,
}

impl SessionRecord {
    /// Writes that the session ended at `now` with `outcome`. Returns false where the record of another site is in the place.
    pub(super) fn write(self, outcome: SessionOutcome, now: Timestamp) -> io::Result<bool> {
        let Self {
            mut session,
            path,
            first,
            is_known,
        } = self;
        // A file that cannot be read has no earlier session.
        let read = |path: &Path| LastSession::read(path).ok().flatten();
        let before = read(&path);
        let is_of_another = |before: &LastSession| before.start != session.start;
        if !is_known && before.as_ref().is_some_and(is_of_another) {
            return Ok(false);
        }
        // The first session that came to the site goes on where those before it ended.
        let of_first = || read(&first).filter(|it| it.start == session.start);
        if let Some(before) = before.clone().or_else(of_first) {
            session.messages = before.messages;
            session.recent = before.recent;
        }
        let surplus = (session.recent.len() + 1).saturating_sub(MAX_RECENT);
        session.recent.drain(..surplus);
        session.recent.push(PastSession {
            ended: now,
            outcome: outcome.as_str().to_owned(),
        });
        session.ended = now;
        session.last_good = outcome.is_good().then_some(now);
        session.listed = session.summary["listed"].as_u64();
        // A session that published nothing did not look at what became of the set.
        for name in ["served", "google"] {
            let old = before.as_ref().and_then(|before| before.summary.get(name));
            if let Some(old) = old.filter(|_| !outcome.is_good()) {
                session.summary[name] = old.clone();
            }
        }
        let has_failed = !outcome.is_good() && outcome != SessionOutcome::Interrupted;
        session.follow(before, has_failed);
        json_file::write(&path, &session)?;
        if first != path
            && let Some(before) = read(&first)
            && before.start == session.start
            && before.state.is_none()
        {
            fs::remove_file(&first)?;
        }
        Ok(true)
    }
}

impl LastSession {
    /// Takes over the facts about earlier sessions from the record `before`. `has_failed`: this one was refused or failed, so that it is
    /// neither a good one nor one that a signal ended.
    fn follow(&mut self, before: Option<Self>, has_failed: bool) {
        if self.last_good.is_some() {
            return;
        }
        self.failed_in_a_row = before.as_ref().map_or(0, |before| before.failed_in_a_row);
        self.failed_in_a_row += u32::from(has_failed);
        self.last_good = before.as_ref().and_then(|before| before.last_good);
        self.listed = before.and_then(|before| before.listed);
    }

    /// Content of `path`; `None` when no session has ended yet.
    ///
    /// # Errors
    /// The file cannot be read, or was not written by arpent.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        json_file::read(path, MAX_BYTES)
    }

    /// The file of a site with this state.
    pub fn beside(state: &Path) -> PathBuf {
        state.with_extension("last.json")
    }

    /// Notes what is served of the set of the site with this state, and what Google has read of it; the rest of the last session stays.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn note_served(
        state: &Path,
        served: &ServedReport,
        google: Option<&GoogleReport>,
    ) -> io::Result<()> {
        let path = Self::beside(state);
        let Some(mut last) = Self::read(&path)? else {
            return Ok(());
        };
        last.summary["served"] = serde_json::to_value(served)?;
        if let Some(google) = google {
            last.summary["google"] = serde_json::to_value(google)?;
        }
        json_file::write(&path, &last)
    }

    /// Notes the messages that people got, in the record `path` as it is now.
    ///
    /// # Errors
    /// As [`LastSession::note_served`].
    pub(super) fn note_messages(path: &Path, messages: MessageLogs) -> io::Result<()> {
        match Self::read(path)? {
            Some(last) if last.messages != messages => {
                json_file::write(path, &Self { messages, ..last })
            }
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(message: Option<&str>) -> LastSession {
        LastSession {
            name: "docs".to_owned(),
            start: "https://example.com/docs/".to_owned(),
            started: Timestamp::UNIX_EPOCH,
            ended: Timestamp::UNIX_EPOCH,
            exit_code: 5,
            message: message.map(str::to_owned),
            failed_in_a_row: 1,
            last_good: None,
            listed: None,
            state: None,
            output: None,
            recent: Vec::new(),
            messages: MessageLogs::new(),
            summary: serde_json::json!({"known": 3}),
        }
    }

    #[test]
    fn written_record_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/site.last.json");
        assert_eq!(LastSession::read(&path).unwrap(), None);
        for message in [None, Some("the site is down")] {
            json_file::write(&path, &run(message)).unwrap();
            assert_eq!(LastSession::read(&path).unwrap(), Some(run(message)));
        }
        let names: Vec<_> = fs::read_dir(path.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["site.last.json"], "nothing else is left");
        fs::write(&path, "{}").unwrap();
        assert!(LastSession::read(&path).is_err(), "a file of others");
    }

    #[test]
    fn failed_sessions_in_a_row_are_counted() {
        let mut before = None;
        for (has_failed, is_good, expected) in [
            (true, false, 1),
            (true, false, 2),
            // Ended by a signal.
            (false, false, 2),
            (true, false, 3),
            (false, true, 0),
            (true, false, 1),
        ] {
            let mut next = LastSession {
                failed_in_a_row: 0,
                last_good: is_good.then_some(Timestamp::UNIX_EPOCH),
                ..run(None)
            };
            next.follow(before.take(), has_failed);
            assert_eq!(next.failed_in_a_row, expected);
            before = Some(next);
        }
        assert_eq!(
            before.and_then(|last| last.last_good),
            Some(Timestamp::UNIX_EPOCH)
        );
    }
}
