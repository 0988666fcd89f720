//! What people start from the page: commands of this program, which run as if they were typed.

use std::{
    collections::VecDeque,
    process::Stdio,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use jiff::Timestamp;
use tokio::{process::Command, task::JoinSet};

use crawler::site_run::SiteStatus;

use crate::settings::{Typed, value::Value};

/// Commands that are remembered.
const MAX_DONE: usize = 100;

/// Characters of what a command printed that are shown.
const MAX_OUTPUT: usize = 4_000;

/// Something that can be done with a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SiteAction {
    Crawl,
    Stop,
    Pause,
    Resume,
    PublishOnce,
    RollBack,
    CheckServed,
}

impl SiteAction {
    pub(super) const ALL: [Self; 7] = [
        Self::Crawl,
        Self::Stop,
        Self::Pause,
        Self::Resume,
        Self::PublishOnce,
        Self::RollBack,
        Self::CheckServed,
    ];

    /// The word in its URL.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Crawl => "crawl",
            Self::Stop => "stop",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::PublishOnce => "publish",
            Self::RollBack => "rollback",
            Self::CheckServed => "check",
        }
    }

    pub(super) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.word() == word)
    }

    /// The text of its button.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Crawl => "Crawl now",
            Self::Stop => "Stop and keep",
            Self::Pause => "Pause",
            Self::Resume => "Resume",
            Self::PublishOnce => "Publish once",
            Self::RollBack => "Roll back",
            Self::CheckServed => "Check served",
        }
    }

    /// What it will do.
    pub(super) fn effect(self) -> &'static str {
        match self {
            Self::Crawl => {
                "The site is crawled now, under all limits of its settings, and its set is published unless the guard objects."
            }
            Self::Stop => {
                "The session of the daemon that is under way sends no further request and ends within a minute. Its progress stays: the next \
                 session goes on. The site is paused for two minutes."
            }
            Self::Pause => {
                "The site is not crawled and not published until that time. A session under way ends within a minute, and its progress stays."
            }
            Self::Resume => {
                "The site is crawled by its schedule again. A crawl that was due meanwhile begins."
            }
            Self::PublishOnce => {
                "The set of the last crawl is published in spite of the guard, this once. The guard judges the next crawl as before."
            }
            Self::RollBack => {
                "The set before the last publish is restored. The next crawl publishes again, unless the site is paused."
            }
            Self::CheckServed => {
                "The published set is read back from where it is served. Nothing is changed."
            }
        }
    }

    /// Returns whether it can be done with a site that is in this state.
    pub(super) fn is_possible(self, site: &SiteStatus) -> bool {
        match self {
            // It would end a longer pause.
            Self::Stop => site.running_since.is_some() && site.paused.is_none(),
            Self::Resume => site.paused.is_some(),
            _ => site.start.is_some(),
        }
    }

    /// What its form asks for, and how that is typed.
    pub(super) fn question(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Pause => Some((
                "Until (a day such as 2099-01-31, or a time from now such as 12h; empty: until it is resumed)",
                "--until",
            )),
            Self::RollBack => Some(("Which set (1: the one before this)", "--rollback")),
            _ => None,
        }
    }

    /// The arguments of the command for the site that begins at `start`. `value`: the answer to the question; empty: none.
    pub(super) fn arguments(self, start: &str, value: &str) -> Vec<String> {
        let answer = self.question().filter(|_| !value.is_empty());
        let answer = answer.map(|(_, option)| format!("{option}={value}"));
        let arguments: &[&str] = match self {
            Self::Crawl => &["crawl", start],
            Self::Stop => &["pause", start, "--until", "2min"],
            Self::Pause => &["pause", start],
            Self::Resume => &["resume", start],
            Self::PublishOnce => &["publish", start, "--force"],
            Self::RollBack if answer.is_some() => &["publish", start],
            Self::RollBack => &["publish", start, "--rollback"],
            Self::CheckServed => &["check", start, "--served"],
        };
        let arguments = arguments.iter().map(|&argument| argument.to_owned());
        arguments.chain(answer).collect()
    }
}

/// A command that was started.
#[derive(Debug, Clone)]
pub(super) struct Done {
    pub(super) site: String,
    pub(super) line: String,
    pub(super) began: Timestamp,
    /// The exit code and the end of what it printed; `None`: it runs.
    pub(super) end: Option<(Option<i32>, String)>,
}

/// The commands that were started. They are ended with this value.
#[derive(Default)]
pub(super) struct Actions {
    /// Counts begins and ends.
    changes: Arc<AtomicU64>,
    done: Arc<Mutex<VecDeque<Done>>>,
    running: Mutex<JoinSet<()>>,
}

impl Actions {
    /// Starts a command of this program for a site.
    pub(super) fn start(&self, site: &str, arguments: &[String], typed: &Typed, now: Timestamp) {
        let done = Done {
            site: site.to_owned(),
            line: format!("arpent {}", arguments.join(" ")),
            began: now,
            end: None,
        };
        let mut all = lock(&self.done);
        all.push_front(done);
        all.truncate(MAX_DONE);
        drop(all);
        self.changes.fetch_add(1, Ordering::Relaxed);
        let changes = Arc::clone(&self.changes);
        let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "arpent".into()));
        command.args(arguments);
        // What was typed for the page and is about the place of the sites.
        if let Some(config) = &typed.config {
            command.arg("--config").arg(config);
        }
        let state = typed.values.iter().find(|(name, _)| *name == "state");
        if let Some((_, Value::Text(state))) = state {
            command.arg("--state").arg(state);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let (all, line) = (
            Arc::clone(&self.done),
            format!("arpent {}", arguments.join(" ")),
        );
        let run = async move {
            let end = match command.output().await {
                Ok(output) => {
                    let text = [output.stderr, output.stdout].concat();
                    (output.status.code(), tail(&String::from_utf8_lossy(&text)))
                }
                Err(error) => (None, error.to_string()),
            };
            let mut all = lock(&all);
            let own = |done: &&mut Done| done.began == now && done.line == line;
            if let Some(done) = all.iter_mut().find(own) {
                done.end = Some(end);
            }
            drop(all);
            changes.fetch_add(1, Ordering::Relaxed);
        };
        let mut running = lock(&self.running);
        while running.try_join_next().is_some() {}
        running.spawn(run);
    }

    /// Begins and ends of commands so far.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// The commands for a site, the newest first.
    pub(super) fn of_site(&self, name: &str) -> Vec<Done> {
        let all = lock(&self.done);
        all.iter()
            .filter(|done| done.site == name)
            .cloned()
            .collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is one step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The last [`MAX_OUTPUT`] characters.
fn tail(text: &str) -> String {
    let skip = text.chars().count().saturating_sub(MAX_OUTPUT);
    text.chars().skip(skip).collect()
}
