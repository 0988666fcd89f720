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

/// An action: the word in its URL, the text of its button, its command with SITE for the URL, and what it will do.
#[derive(Debug)]
pub(super) struct SiteAction {
    pub(super) kind: ActionKind,
    pub(super) word: &'static str,
    pub(super) title: &'static str,
    command: &'static str,
    pub(super) effect: &'static str,
}

macro_rules! actions {
    ($($kind:ident $word:literal $title:literal $command:literal: $effect:literal;)*) => {
        /// What can be done with a site.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum ActionKind { $($kind),* }

        /// The actions in the order of their buttons.
        pub(super) static ACTIONS: &[SiteAction] = &[$(SiteAction {
            kind: ActionKind::$kind,
            word: $word,
            title: $title,
            command: $command,
            effect: $effect,
        }),*];
    };
}

actions! {
    Crawl "crawl" "Crawl now" "crawl SITE": "The site is crawled now, under all limits of its settings, and its set is published unless the guard objects.";
    Stop "stop" "Stop and keep" "pause SITE --until 2min": "The session of the daemon that is under way sends no further request and ends within a minute. Its progress stays: the next session goes on. The site is paused for two minutes.";
    Pause "pause" "Pause" "pause SITE": "The site is not crawled and not published until that time. A session under way ends within a minute, and its progress stays.";
    Resume "resume" "Resume" "resume SITE": "The site is crawled by its schedule again. A crawl that was due meanwhile begins.";
    PublishOnce "publish" "Publish once" "publish SITE --force": "The set of the last crawl is published in spite of the guard, this once. The guard judges the next crawl as before.";
    RollBack "rollback" "Roll back" "publish SITE --rollback": "The earlier set is restored byte for byte; the one that it replaces is not kept. The next crawl publishes again, unless the site is paused.";
    CheckServed "check" "Check served" "check SITE --served": "The published set is read back from where it is served. Nothing is changed.";
}

impl SiteAction {
    pub(super) fn of(word: &str) -> Option<&'static Self> {
        ACTIONS.iter().find(|action| action.word == word)
    }

    /// Returns whether it can be done with a site that is in this state. `has_daemon`: one runs with the states.
    pub(super) fn is_possible(&self, site: &SiteStatus, has_daemon: bool) -> bool {
        let is_running = site.running_since.is_some();
        match self.kind {
            // It would end a longer pause, and only a daemon obeys it.
            ActionKind::Stop => has_daemon && is_running && site.paused.is_none(),
            ActionKind::Pause => site.paused.is_none(),
            ActionKind::Resume => site.paused.is_some(),
            ActionKind::Crawl => !is_running,
            ActionKind::PublishOnce => site.is_refused() && !is_running,
            ActionKind::RollBack => site.has_ended() && !is_running,
            ActionKind::CheckServed => site.has_ended(),
        }
    }

    /// The arguments of the command for the site that begins at `start`. `value`: the time of a pause, or publishes since a set; empty:
    /// none was given.
    pub(super) fn arguments(&self, start: &str, value: &str) -> Vec<String> {
        let words = self.command.split(' ');
        let mut words: Vec<String> = words.map(|word| word.replace("SITE", start)).collect();
        match self.kind {
            ActionKind::Pause if !value.is_empty() => words.push(format!("--until={value}")),
            ActionKind::RollBack if !value.is_empty() => {
                words.pop();
                words.push(format!("--rollback={value}"));
            }
            _ => {}
        }
        words
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

    /// Returns whether a command for a site runs.
    pub(super) fn is_running(&self, name: &str) -> bool {
        let all = lock(&self.done);
        all.iter()
            .any(|done| done.site == name && done.end.is_none())
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
